//! tiotest with two boxes, and tiobench, which tabulates results by number of threads.
//!
//! A megabyte is 1,048,576 bytes here.

use plimsoll_language::label;

use super::{Phase, longest};
use crate::builder::Builder;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::reading::{Doubt, ReadingEvidence, ReadingScope, Setting};
use crate::refusal::{InputFault, Refusal};
use crate::text::{self, MIB};

/// tiotest and tiobench.
pub(crate) const FORM: Form = Form::lines("tiotest", "tiotest or tiobench", resembles, |_| Box::new(Tio::default()));

fn resembles(head: &Head<'_>) -> Resemblance {
    let bench = head.has("Identifier") && head.has("Thr") && head.has("(CPU%)");
    let named = bench || head.has("Tiotest results for");
    let rate = head.has("| Rate") || bench && head.has("Rate ");
    Resemblance::is(3, named && rate).or_near(2, named, "column Rate")
}

#[derive(Default)]
struct Tio {
    threads: Option<f64>,
    /// Rows of the first box, whose latencies come in the second.
    waiting: Vec<ReadingEvidence>,
    /// The heading of a table of tiobench.
    phase: Option<Phase>,
}

const PHASES: [Phase; 8] = [
    Phase { name: "Random Write", reads: 0.0, sequential: false },
    Phase { name: "Random Read", reads: 1.0, sequential: false },
    Phase { name: "Random Writes", reads: 0.0, sequential: false },
    Phase { name: "Random Reads", reads: 1.0, sequential: false },
    Phase { name: "Sequential Writes", reads: 0.0, sequential: true },
    Phase { name: "Sequential Reads", reads: 1.0, sequential: true },
    Phase { name: "Write", reads: 0.0, sequential: true },
    Phase { name: "Read", reads: 1.0, sequential: true },
];

/// The phase named by a cell, with or without the size of its files.
fn phase_of(cell: &str) -> Option<Phase> {
    let name = cell.split(|letter: char| letter.is_ascii_digit()).next().unwrap_or_default().trim();
    PHASES.into_iter().find(|phase| phase.name == name)
}

fn setting(phase: Phase, threads: Option<f64>, block_bytes: Option<f64>) -> Setting {
    // Each thread waits for its own operation.
    Setting { reads: Some(phase.reads), sequential: Some(phase.sequential), block_bytes, depth: threads, threads }
}

impl LineFormat for Tio {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        let text = line.trim();
        if let Some(rest) = text.strip_prefix("Tiotest results for") {
            self.flush(out);
            self.threads = text::parse_number(rest);
        } else if text.starts_with('|') {
            self.boxed(text, number, out);
        } else if let Some(phase) = phase_of(text).filter(|phase| phase.name == text) {
            self.phase = Some(phase);
        } else if let Some(phase) = self.phase {
            Self::row(phase, text, number, out);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.flush(out);
        out.require_results(InputFault::Incomplete { lacks: label!("row with a rate") })
    }
}

impl Tio {
    /// Reads a row of a box: the first has a rate, the second latencies. Wide numbers break the columns, so cells are
    /// separated by bars.
    fn boxed(&mut self, text: &str, number: u64, out: &mut Builder) {
        let cells: Vec<&str> = text.trim_matches('|').split('|').map(str::trim).collect();
        let Some(phase) = phase_of(cells[0]) else { return };
        let cell = |index: usize| cells.get(index).copied().unwrap_or_default();
        let origin = out.origin(number, "", phase.name);
        if cell(2).contains("MB/s") {
            let Some(rate) = text::parse_number(cell(2)) else {
                return out.caution(Some(origin), Doubt::NotANumber { value: label!("the rate") });
            };
            self.waiting.push(ReadingEvidence {
                setting: setting(phase, self.threads, None),
                bytes_s: Some(rate * MIB),
                lasted_s: text::parse_seconds(cell(1), 1.0).filter(|seconds| *seconds > 0.0),
                ..ReadingEvidence::new(out.scope(ReadingScope::default()), phase.name, origin)
            });
            if self.waiting.len() > PHASES.len() {
                self.flush(out);
            }
        } else if let Some(evidence) = self.waiting.iter_mut().rev().find(|evidence| evidence.test == phase.name) {
            evidence.mean_s = text::parse_seconds(cell(1), 1e-3);
            evidence.quantiles = longest(text::parse_seconds(cell(2), 1e-3));
        }
    }

    /// `2.6.18-8  4000  4096  1  60.46 4.962%  0.063  301.65  0.00000  0.00000  1218`: the name may have blanks.
    fn row(phase: Phase, text: &str, number: u64, out: &mut Builder) {
        let cells: Vec<&str> = text.split_whitespace().collect();
        let Some(percent) = cells.iter().position(|cell| cell.ends_with('%')).filter(|at| *at >= 4) else { return };
        // A share below ten per cent may be separated from its bracket.
        let before = if cells[percent - 1].ends_with('(') { percent - 1 } else { percent };
        let back = |steps: usize| before.checked_sub(steps).and_then(|at| text::parse_number(cells[at]));
        let origin = out.origin(number, phase.name, cells[0]);
        let (Some(rate), Some(threads), Some(block)) = (back(1), back(2), back(3)) else {
            return out.caution(Some(origin), Doubt::lacking("a row", "rate, threads and block size"));
        };
        let milliseconds = |at: usize| cells.get(percent + at).and_then(|cell| text::parse_seconds(cell, 1e-3));
        let scope = out.scope(ReadingScope::default());
        out.evidence(ReadingEvidence {
            setting: setting(phase, Some(threads), Some(block)),
            iops: Some(rate * MIB / block).filter(|iops| iops.is_finite()),
            bytes_s: Some(rate * MIB),
            mean_s: milliseconds(1),
            quantiles: longest(milliseconds(2)),
            ..ReadingEvidence::new(scope, phase.name, origin)
        });
    }

    fn flush(&mut self, out: &mut Builder) {
        for evidence in self.waiting.drain(..) {
            out.evidence(evidence);
        }
    }
}

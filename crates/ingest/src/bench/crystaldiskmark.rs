//! CrystalDiskMark from 2 to 9, and `KDiskMark` with the same format: a line for each test.
//!
//! A score is the best of several runs. Scores are held back until the drive, which is named below them.

use plimsoll_language::label;

use super::{MAX_RESULTS, part, too_many};
use crate::builder::Builder;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::reading::{Doubt, Fate, ReadingEvidence, Setting};
use crate::refusal::{InputFault, Refusal};
use crate::text;
use crate::text::table::spaced;

/// CrystalDiskMark and `KDiskMark`.
pub(crate) const FORM: Form =
    Form::lines("crystaldiskmark", "CrystalDiskMark or KDiskMark", resembles, |_| Box::new(Marks::default()));

fn resembles(head: &Head<'_>) -> Resemblance {
    let named = head.has_any(&["CrystalDiskMark ", "KDiskMark ("]);
    let scores = head.has(" MB/s") && head.has_any(&["Sequential", "SEQ ", "Random", "RND "]);
    let old = head.has("Sequential Read :") && head.has("Random Read 4KB");
    Resemblance::is(3, named && scores)
        .or(2, !named && scores && (old || head.has("(Q=") && head.has("[Read]")))
        .or_near(2, named, "line with a score in MB/s")
}

#[derive(Default)]
struct Marks {
    /// Share of reads of the current heading; none before the first and below unknown ones.
    reads: Option<f64>,
    /// Tests without a scope.
    waiting: Vec<ReadingEvidence>,
    drive: String,
    is_best: bool,
}

impl LineFormat for Marks {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        let text = line.trim();
        if let Some(at) = text.find("CrystalDiskMark ").or_else(|| text.find("KDiskMark (")) {
            self.flush(out);
            self.is_best = text[at..].starts_with('C');
            self.reads = None;
            let version = text[at..].split_whitespace().nth(1).unwrap_or_default();
            out.version(version.trim_matches(|letter: char| !letter.is_ascii_alphanumeric()));
        } else if text.starts_with('[') {
            self.reads = share_of_reads(text);
        } else if let Some((name, score)) = text.split_once(':') {
            if score.contains("MB/s") && is_test(name) {
                self.score(name.trim(), score, number, out);
                if self.waiting.len() > MAX_RESULTS {
                    return Err(too_many(number, out));
                }
            } else if name.trim_end() == "Test" {
                self.drive = drive(score);
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.flush(out);
        out.require_results(InputFault::Unfinished { lacks: label!("test with a score") })
    }
}

impl Marks {
    fn score(&mut self, name: &str, score: &str, number: u64, out: &mut Builder) {
        let origin = out.origin(number, "", name);
        let Some(megabytes) = text::parse_number(score) else {
            return out.caution(Some(origin), Doubt::NotANumber { value: label!("the rate") });
        };
        // Tests that were not run have a score of zero.
        if megabytes <= 0.0 {
            return out.part(name, Fate::Empty);
        }
        let setting = Setting { reads: share_of_reads(name).or(self.reads), ..parse_setting(name) };
        let printed = score.split_once('[').and_then(|(_, rest)| text::parse_number(rest));
        let bytes_s = megabytes * 1e6;
        self.waiting.push(ReadingEvidence {
            iops: printed.or(setting.block_bytes.map(|bytes| bytes_s / bytes)),
            bytes_s: Some(bytes_s),
            mean_s: score.split_once('<').and_then(|(_, rest)| text::parse_number(rest)).map(|micros| micros * 1e-6),
            setting,
            ..ReadingEvidence::new(0, spaced(name), origin)
        });
    }

    /// Emits the tests above, whose drive is now known.
    fn flush(&mut self, out: &mut Builder) {
        if self.waiting.is_empty() {
            return;
        }
        let scope = part(out, &std::mem::take(&mut self.drive));
        if self.is_best {
            out.caution(None, Doubt::BestOfRuns);
        }
        for evidence in self.waiting.drain(..) {
            out.evidence(ReadingEvidence { scope, ..evidence });
        }
    }
}

fn is_test(name: &str) -> bool {
    let name = name.trim_start();
    ["Sequential", "SEQ", "Random", "RND"].iter().any(|start| name.starts_with(start))
}

/// From a heading or a name: `[Read]`, `Random Write 4KB`, `[Mix] Read 70%/Write 30%`, `[Mix] 70/30`.
fn share_of_reads(text: &str) -> Option<f64> {
    let lower = text.to_ascii_lowercase();
    if lower.contains("mix") {
        let digits = text.find(|letter: char| letter.is_ascii_digit())?;
        return text::parse_number(&text[digits..]).filter(|percent| *percent <= 100.0).map(|percent| percent / 100.0);
    }
    match (lower.contains("read"), lower.contains("write")) {
        (true, false) => Some(1.0),
        (false, true) => Some(0.0),
        _ => None,
    }
}

/// Parameters from the name of a test.
fn parse_setting(name: &str) -> Setting {
    let (test, rest) = name.split_once('(').unwrap_or((name, ""));
    let queues = text::number_after(rest, "QD=").or_else(|| text::number_after(rest, "Q="));
    let threads = text::number_after(rest, "T=");
    let size = test.find(|letter: char| letter.is_ascii_digit());
    Setting {
        reads: None,
        sequential: Some(name.starts_with('S')),
        block_bytes: size.and_then(|at| text::size(&test[at..])).filter(|bytes| *bytes > 0.0),
        depth: queues.map(|queues| queues * threads.unwrap_or(1.0)),
        threads,
    }
}

/// `C:` from `1 GiB (x5) [C: 96% (894/932GiB)]`.
fn drive(test: &str) -> String {
    let inside = test.split_once('[').map_or("", |(_, rest)| rest);
    match inside.split_once(':') {
        Some((letter, _)) if letter.len() == 1 => format!("{letter}:"),
        _ => String::new(),
    }
}

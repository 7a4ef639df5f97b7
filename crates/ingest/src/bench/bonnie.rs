//! Bonnie++: comma-separated from 1.03 to 2.00, and the tables of all versions.
//!
//! Single-byte tests measure system calls, and file creation measures a file system: both are dropped. `+++++` is
//! printed for times below half a second: the value is absent, with a caution.

use plimsoll_language::label;

use super::{Phase, longest};
use crate::builder::Builder;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::reading::{Doubt, Fate, ReadingEvidence, ReadingScope, Setting};
use crate::refusal::{InputFault, Refusal};
use crate::text;

pub(crate) const FORM: Form = Form::lines("bonnie", "Bonnie++", resembles, |_| Box::new(Bonnie::default()));

fn resembles(head: &Head<'_>) -> Resemblance {
    let titles = head.has("Sequential Output") && head.has("--Seeks--");
    let near = titles || head.has("onnie") && head.has("%CP");
    Resemblance::is(2, head.text().lines().take(1_000).any(|line| Csv::of(line).is_some()))
        .or(3, titles && head.has("/sec %CP"))
        .or_near(2, near, "line of columns `K/sec %CP`")
}

/// The phases in the order of the columns.
const PHASES: [Phase; 6] = [
    Phase { name: "per-character output", reads: 0.0, sequential: true },
    Phase { name: "block output", reads: 0.0, sequential: true },
    // A piece is read, changed and written back.
    Phase { name: "rewrite", reads: 0.5, sequential: true },
    Phase { name: "per-character input", reads: 1.0, sequential: true },
    Phase { name: "block input", reads: 1.0, sequential: true },
    // Each tenth piece is written back.
    Phase { name: "seeks", reads: 10.0 / 11.0, sequential: false },
];

/// A run in any format. Missing cells are empty.
#[derive(Default)]
struct BonnieRun {
    machine: String,
    concurrency: Option<f64>,
    chunk_bytes: Option<f64>,
    /// Rates as printed, in the order of the phases.
    rates: [String; 6],
    /// The maximum latency of each.
    latencies: [String; 6],
    line: u64,
}

/// Layout of a comma-separated line.
struct Csv<'a> {
    cells: Vec<&'a str>,
    /// From 1.9 on, versions precede the machine.
    has_versions: bool,
    /// Index of the first rate: from format 1.98 on, seeks and their processes precede it.
    first: usize,
}

impl<'a> Csv<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let cells: Vec<&str> = line.trim().split(',').collect();
        let is_version =
            |cell: &str| cell.len() >= 3 && text::parse_number(cell).is_some_and(|n| (1.0..10.0).contains(&n));
        let is_size = |cell: &str| {
            let size = cell.split(':').next().unwrap_or_default();
            size.ends_with(['M', 'G', 'T', 'k']) && text::parse_number(size).is_some()
        };
        let is_rate = |cell: &str| cell.is_empty() || cell.starts_with('+') || text::parse_number(cell).is_some();
        let has_versions = cells.len() >= 44 && is_version(cells[0]) && is_version(cells[1]) && is_size(cells[5]);
        let is_old = (14..=27).contains(&cells.len()) && is_size(cells[1]);
        let names_seeks = has_versions && text::parse_number(cells[0]).is_some_and(|format| format >= 1.98);
        let first = match (has_versions, names_seeks) {
            (true, true) => 9,
            (true, false) => 7,
            (false, _) => 2,
        };
        let fits = (has_versions || is_old) && cells[first..first + 12].iter().all(|cell| is_rate(cell));
        fits.then_some(Self { cells, has_versions, first })
    }

    fn run(&self, line: u64) -> BonnieRun {
        let cell = |index: usize| self.cells.get(index).map_or(String::new(), |cell| (*cell).to_owned());
        let size = cell(if self.has_versions { 5 } else { 1 });
        BonnieRun {
            machine: cell(if self.has_versions { 2 } else { 0 }),
            concurrency: if self.has_versions { text::parse_number(&cell(3)) } else { None },
            chunk_bytes: chunk(&size).or_else(|| if self.has_versions { text::size(&cell(6)) } else { None }),
            rates: std::array::from_fn(|phase| cell(self.first + 2 * phase)),
            latencies: std::array::from_fn(|phase| {
                if self.has_versions { cell(self.first + 29 + phase) } else { String::new() }
            }),
            line,
        }
    }
}

/// Bytes of a piece, from a size that includes them: `8G:64k`.
fn chunk(size: &str) -> Option<f64> {
    text::size(size.split_once(':')?.1)
}

#[derive(Default)]
struct Bonnie {
    /// Set after the line of units; true if it has a column of machines.
    below: Option<bool>,
    concurrency: Option<f64>,
    /// The last row, whose latencies may follow.
    run: Option<BonnieRun>,
    runs: u64,
    broken: bool,
}

impl LineFormat for Bonnie {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        let text = line.trim();
        if let Some(rest) = text.strip_prefix("Version") {
            let version = rest.split_whitespace().next().unwrap_or_default();
            out.version(version);
            self.below = None;
        } else if let Some(rest) = text.strip_prefix("Concurrency") {
            self.concurrency = text::parse_number(rest);
        } else if text.contains("/sec %CP") {
            // The second table is about files: its units have no K.
            self.below = (text.contains("K/sec") || text.contains("Size")).then(|| text.starts_with("Machine"));
        } else if let (Some(rest), Some(run)) = (text.strip_prefix("Latency"), &mut self.run) {
            let cells: Vec<&str> = rest.split_whitespace().collect();
            place(&mut run.latencies, &cells);
            self.flush(out);
            self.below = None;
        } else if let Some(csv) = Csv::of(line) {
            self.flush(out);
            if csv.has_versions {
                out.version(csv.cells[1]);
            }
            self.run = Some(csv.run(number));
            self.flush(out);
        } else if let Some(has_machine) = self.below {
            self.row(text, has_machine, number, out);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.flush(out);
        out.require(self.runs > 0, InputFault::Incomplete { lacks: label!("row") })?;
        if self.broken {
            out.part("rows", Fate::Broken);
        }
        out.caution(None, Doubt::SmallFiles);
        Ok(())
    }
}

/// Cells of six phases; a quick run leaves the single-byte cells blank.
fn place(phases: &mut [String; 6], cells: &[&str]) -> bool {
    let order: &[usize] = match cells.len() {
        6 => &[0, 1, 2, 3, 4, 5],
        4 => &[1, 2, 4, 5],
        _ => return false,
    };
    for (phase, cell) in order.iter().zip(cells) {
        (*cell).clone_into(&mut phases[*phase]);
    }
    true
}

impl Bonnie {
    /// `uNAS  4G 19202  60 24433  20 19861  13 43262  97 140359  51 515.3   2`
    fn row(&mut self, text: &str, has_machine: bool, number: u64, out: &mut Builder) {
        let cells: Vec<&str> = text.split_whitespace().collect();
        let numbers = if cells.len() > 12 { 12 } else { 8 };
        let Some(names) = cells.len().checked_sub(numbers).filter(|names| *names >= 1) else { return };
        self.flush(out);
        let rates: Vec<&str> = cells[names..].iter().step_by(2).copied().collect();
        let size = cells[names - 1];
        let mut run = BonnieRun {
            machine: if has_machine { cells[..names - 1].join(" ") } else { String::new() },
            concurrency: self.concurrency,
            chunk_bytes: chunk(size),
            line: number,
            ..BonnieRun::default()
        };
        let is_rate = |cell: &&str| cell.starts_with('+') || text::parse_number(cell).is_some();
        if place(&mut run.rates, &rates) && rates.iter().all(is_rate) && text::size(size).is_some() {
            self.run = Some(run);
        } else if text::parse_number(size).is_some() {
            self.broken = true;
            let origin = out.origin(number, "", cells[0]);
            out.caution(Some(origin), Doubt::AmbiguousColumns);
        }
    }

    fn flush(&mut self, out: &mut Builder) {
        let Some(run) = self.run.take() else { return };
        self.runs += 1;
        let scope = out.scope(ReadingScope { host: run.machine.clone(), ..ReadingScope::default() });
        for (index, phase) in PHASES.iter().enumerate() {
            let printed = run.rates[index].as_str();
            if index == 0 || index == 3 {
                if !printed.is_empty() {
                    out.part(format!("{}: measures system calls", phase.name), Fate::Ignored);
                }
                continue;
            }
            let origin = out.origin(run.line, "", phase.name);
            if printed.starts_with('+') {
                out.caution(Some(origin), Doubt::ShortPhase { phase: phase.name });
                out.part(phase.name, Fate::Empty);
                continue;
            }
            let Some(rate) = parse_rate(printed, index == 5) else { continue };
            let (reads, sequential) = (Some(phase.reads), Some(phase.sequential));
            let (block_bytes, threads) = (run.chunk_bytes, run.concurrency);
            out.evidence(ReadingEvidence {
                setting: Setting { reads, sequential, block_bytes, depth: None, threads },
                iops: if index == 5 { Some(rate) } else { None },
                bytes_s: if index == 5 { None } else { Some(rate) },
                quantiles: longest(text::parse_seconds(&run.latencies[index], 1.0)),
                ..ReadingEvidence::new(scope, phase.name, origin)
            });
        }
        out.part("creating and deleting files", Fate::Ignored);
    }
}

/// Bytes per second, from KiB or a cell with a unit (`1.4g`); seeks per second unchanged.
fn parse_rate(cell: &str, is_seeks: bool) -> Option<f64> {
    let value = text::parse_number(cell)?;
    let scale = match (cell.bytes().last()?.to_ascii_lowercase(), is_seeks) {
        (b'0'..=b'9', true) => 1.0,
        (b'k', true) => 1e3,
        (b'm', true) => 1e6,
        (b'0'..=b'9' | b'k', false) => 1024.0,
        (b'm', false) => 1024.0 * 1024.0,
        (b'g', false) => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    Some(value * scale)
}

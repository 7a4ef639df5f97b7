//! Curves as separated values: a row for each load, with its depth or rate, operations a second and latency.
//!
//! The first row names the columns, in any order and case. A name may be followed by its unit, `latency_us` or
//! `mean (ms)`:
//!
//! - the load: `depth`, `iodepth`, `qd` or `queue depth`, in flight; or `rate` or `offered`, arrivals a second;
//! - the rate: `iops`;
//! - the latency: `latency`, `lat`, `mean` or `avg`, and `p50`, `p99`, `p999`: in `ns`, `us`, `ms` or `s`. Without a unit,
//!   depth over rate determines it (Little's law);
//! - optional: `block` or `bs` (`4KiB`, or bytes), `reads` (percent, or a share up to 1), `seconds` (length of the run).

use plimsoll_language::label;
use plimsoll_record::Finding;
use plimsoll_units::Bytes;

use crate::builder::Builder;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::reading::{Doubt, Fate, Offering, Origin, ReadingEvidence, ReadingScope, Setting};
use crate::refusal::{InputFault, Refusal};
use crate::text::{self, table::cells};

/// Curves of a load.
pub(crate) const FORM: Form =
    Form::lines("curve-table", "table of a curve", resembles, |_| Box::new(CurveTable::default()));

/// Marks: as many as the required columns have words.
const MARKS: u8 = 5;
/// Maximum ratio between a latency and depth over rate.
const MAX_OFF: f64 = 1.5;

fn resembles(head: &Head<'_>) -> Resemblance {
    let Some(names) = head.text().lines().find(|line| is_content(line)).filter(|line| !has_time(line)) else {
        return Resemblance::None;
    };
    let Some(columns) = CurveColumns::of(names) else { return Resemblance::None };
    let loads = columns.has(&Meaning::Depth) || columns.has(&Meaning::Rate);
    let has_rate = columns.has(&Meaning::Iops);
    Resemblance::is(MARKS, loads && has_rate)
}

/// True for the names of a table of samples over time.
fn has_time(names: &str) -> bool {
    let is_time = |name: &str| {
        let name = name.trim().trim_matches('"').to_ascii_lowercase();
        matches!(name.as_str(), "time" | "date" | "datetime")
            || name.starts_with("timestamp")
            || name.starts_with("time ")
    };
    names.split([',', ';', '\t']).any(is_time)
}

/// False for empty lines and comments.
fn is_content(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with('#')
}

/// Content of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Meaning {
    Depth,
    Rate,
    Iops,
    Mean,
    Quantile(f64),
    Block,
    Reads,
    Seconds,
    Unused,
}

#[derive(Debug)]
struct CurveColumns {
    separator: char,
    /// Meaning and unit of each column; the unit in seconds, if stated.
    columns: Vec<(Meaning, Option<f64>)>,
}

impl CurveColumns {
    fn of(line: &str) -> Option<Self> {
        let separator = [',', ';', '\t'].into_iter().max_by_key(|mark| line.matches(*mark).count())?;
        if !line.contains(separator) {
            return None;
        }
        Some(Self { separator, columns: cells(line, separator).map(|name| column(&name)).collect() })
    }

    fn has(&self, meaning: &Meaning) -> bool {
        self.columns.iter().any(|(other, _)| other == meaning)
    }
}

/// The meaning of a column by the words of its name, and its unit.
fn column(name: &str) -> (Meaning, Option<f64>) {
    let words: Vec<String> = name
        .split(|letter: char| !letter.is_alphanumeric() && letter != '\u{b5}' && letter != '.')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let unit = words.iter().skip(1).rev().find_map(|word| text::time_unit(word));
    let has = |options: &[&str]| words.iter().any(|word| options.contains(&word.as_str()));
    let meaning = match () {
        () if has(&["depth", "iodepth", "qd", "queuedepth"]) => Meaning::Depth,
        () if has(&["rate", "offered"]) => Meaning::Rate,
        () if has(&["iops"]) => Meaning::Iops,
        () if has(&["p50", "median"]) => Meaning::Quantile(0.5),
        () if has(&["p90"]) => Meaning::Quantile(0.9),
        () if has(&["p95"]) => Meaning::Quantile(0.95),
        () if has(&["p99"]) => Meaning::Quantile(0.99),
        () if has(&["p999", "p99.9"]) => Meaning::Quantile(0.999),
        () if has(&["latency", "lat", "mean", "avg"]) => Meaning::Mean,
        () if has(&["block", "bs", "blocksize"]) => Meaning::Block,
        () if has(&["reads", "read", "rwmixread"]) => Meaning::Reads,
        () if has(&["seconds", "runtime", "duration"]) => Meaning::Seconds,
        () => Meaning::Unused,
    };
    (meaning, unit)
}

/// A row whose times may still need a unit.
struct CurveRow {
    line: u64,
    depth: Option<f64>,
    rate: Option<f64>,
    iops: f64,
    /// Value and unit.
    mean: Option<(f64, Option<f64>)>,
    quantiles: Vec<(f64, f64, Option<f64>)>,
    block_bytes: Option<f64>,
    reads: Option<f64>,
    lasted_s: Option<f64>,
}

#[derive(Default)]
struct CurveTable {
    columns: Option<CurveColumns>,
    rows: Vec<CurveRow>,
}

impl LineFormat for CurveTable {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if !is_content(line) {
            return Ok(());
        }
        let Some(columns) = &self.columns else {
            self.columns = CurveColumns::of(line);
            return Ok(());
        };
        if self.rows.len() >= super::MAX_RESULTS {
            return Err(super::too_many(number, out));
        }
        match parse_row(columns, line, number) {
            Some(row) => self.rows.push(row),
            None => out.caution(Some(Origin::line(number)), Doubt::lacking("a row", "a load or rate")),
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        let guessed = self.guess_unit();
        let needs_unit = self.rows.iter().any(|row| row.mean.is_some_and(|(_, unit)| unit.is_none()));
        if needs_unit && guessed.is_none() {
            out.caution(None, Doubt::LatencyUnitMissing);
        } else if let Some((unit, _)) = guessed.filter(|_| needs_unit) {
            out.caution(None, Doubt::LatencyUnitDerived { unit });
        }
        let scope = out.scope(ReadingScope::default());
        let count = self.rows.len() as u32;
        for row in std::mem::take(&mut self.rows) {
            emit(&row, guessed.map(|(_, unit)| unit), scope, out);
        }
        out.require_results(InputFault::Incomplete { lacks: label!("row with a load and a rate") })?;
        out.part("loads", Fate::Read(count));
        Ok(())
    }
}

impl CurveTable {
    /// The unit with which latencies are depth over rate, for most rows of closed loads.
    fn guess_unit(&self) -> Option<(&'static str, f64)> {
        let units = [("seconds", 1.0), ("milliseconds", 1e-3), ("microseconds", 1e-6), ("nanoseconds", 1e-9)];
        let off = |row: &CurveRow, unit: f64| {
            let (mean, _) = row.mean?;
            let ratio = mean * unit * row.iops / row.depth?;
            Some(ratio < MAX_OFF && ratio > 1.0 / MAX_OFF)
        };
        units.into_iter().find(|(_, unit)| {
            let rows: Vec<bool> = self.rows.iter().filter_map(|row| off(row, *unit)).collect();
            2 * rows.iter().filter(|fits| **fits).count() > rows.len()
        })
    }
}

fn parse_row(columns: &CurveColumns, line: &str, number: u64) -> Option<CurveRow> {
    let mut row = CurveRow {
        line: number,
        depth: None,
        rate: None,
        iops: 0.0,
        mean: None,
        quantiles: Vec::new(),
        block_bytes: None,
        reads: None,
        lasted_s: None,
    };
    for (cell, (meaning, unit)) in cells(line, columns.separator).zip(&columns.columns) {
        let cell = cell.trim();
        // A time may have its own unit: `120us`.
        let time = || text::timed(cell, f64::NAN).and_then(|(value, own)| Some((text::parse_decimal(value)?, own)));
        let with_unit = || time().map(|(value, own)| (value, if own.is_nan() { *unit } else { Some(own) }));
        match meaning {
            Meaning::Depth => row.depth = text::parse_count(cell).filter(|depth| *depth >= 1.0),
            Meaning::Rate => row.rate = text::parse_count(cell).filter(|rate| *rate > 0.0),
            Meaning::Iops => row.iops = text::parse_count(cell).unwrap_or(0.0),
            Meaning::Mean => row.mean = with_unit().filter(|(value, _)| *value > 0.0),
            Meaning::Quantile(quantile) => {
                row.quantiles
                    .extend(with_unit().filter(|(value, _)| *value > 0.0).map(|(v, unit)| (*quantile, v, unit)));
            }
            Meaning::Block => row.block_bytes = text::size(cell).filter(|bytes| *bytes > 0.0),
            Meaning::Reads => {
                let share = text::parse_decimal(cell.trim_end_matches('%'));
                row.reads = share.map(|share| if share > 1.0 || cell.ends_with('%') { share / 100.0 } else { share });
            }
            Meaning::Seconds => row.lasted_s = text::parse_decimal(cell).filter(|seconds| *seconds > 0.0),
            Meaning::Unused => {}
        }
    }
    (row.iops > 0.0 && (row.depth.is_some() || row.rate.is_some())).then_some(row)
}

fn emit(row: &CurveRow, guessed: Option<f64>, scope: u32, out: &mut Builder) {
    let seconds = |value: f64, unit: Option<f64>| unit.or(guessed).map(|unit| value * unit);
    let block = row.block_bytes.map(|bytes| format!("{}, ", Bytes::new(bytes as u64))).unwrap_or_default();
    let test = match (row.depth, row.rate) {
        (Some(depth), _) => format!("{block}depth {depth:.0}"),
        (None, rate) => format!("{block}{:.0} offered", rate.unwrap_or(0.0)),
    };
    let origin = out.origin(row.line, "", "");
    let mean_s = row.mean.and_then(|(value, unit)| seconds(value, unit));
    let mut findings = Vec::new();
    if let Some((depth, mean_s)) = row.depth.zip(mean_s).filter(|(depth, mean_s)| row.iops * mean_s > MAX_OFF * depth) {
        let (allowed, iops) = (depth / mean_s, row.iops);
        findings.push(Finding::RateAboveDepth { achieved: iops, allowed });
        out.caution(Some(origin.clone()), Doubt::ImpossibleRate { depth, mean_ms: mean_s * 1e3, allowed, iops });
    }
    let mut quantiles: Vec<(f64, f64)> =
        row.quantiles.iter().filter_map(|(quantile, value, unit)| Some((*quantile, seconds(*value, *unit)?))).collect();
    quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    out.evidence(ReadingEvidence {
        setting: Setting { reads: row.reads, block_bytes: row.block_bytes, depth: row.depth, ..Setting::default() },
        iops: Some(row.iops),
        bytes_s: row.block_bytes.map(|bytes| bytes * row.iops),
        mean_s,
        quantiles,
        lasted_s: row.lasted_s,
        findings,
        offering: Offering { rate: row.rate.filter(|_| row.depth.is_none()), ..Offering::default() },
        ..ReadingEvidence::new(scope, test, origin)
    });
}

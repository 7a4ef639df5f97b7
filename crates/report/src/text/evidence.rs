//! What benchmarks got of their storage, and what a cache before it would keep from it: beside demand, never part of it.

use plimsoll_ingest::{Evidence, MissCurve, Reading};
use plimsoll_units::Bytes;

use super::TextStyle;
use super::grid::{self, Cells, Heading};
use super::paint::Line;
use crate::number;
use crate::words::clean;

const COLUMNS: [Heading; 7] = [
    Heading { name: "test", unit: "", cells: Cells::Words, expendable: 0 },
    Heading { name: "size", unit: "KiB", cells: Cells::Figures, expendable: 2 },
    Heading { name: "depth", unit: "", cells: Cells::Figures, expendable: 3 },
    Heading { name: "rate", unit: "IOPS", cells: Cells::Figures, expendable: 0 },
    Heading { name: "bytes", unit: "MB/s", cells: Cells::Figures, expendable: 0 },
    Heading { name: "mean", unit: "ms", cells: Cells::Figures, expendable: 0 },
    Heading { name: "p99", unit: "ms", cells: Cells::Figures, expendable: 1 },
];

/// Rows of a table; of more, the note says how many.
const MOST: usize = 60;

/// Results of one input; nothing where it has none.
pub(super) fn evidence(reading: &Reading, style: &TextStyle) -> Vec<Vec<Line>> {
    let whole: Vec<&Evidence> = reading.evidence.iter().filter(|one| one.at_s.is_none()).collect();
    let moments = reading.evidence.len() - whole.len();
    if reading.evidence.is_empty() {
        return Vec::new();
    }
    let mut notes = vec![format!("Measured by {}: what storage gave, not what is asked of it.", reading.kind)];
    if whole.len() > MOST {
        notes.push(format!("The first {MOST} of {}: --json has all of them.", whole.len()));
    }
    if moments > 0 {
        notes.push(format!("{} values over time are in --json.", number::whole(moments as f64)));
    }
    if whole.iter().any(|one| one.transactions_s.is_some()) {
        notes.push("Rates marked tx are transactions a second, and their times those of transactions.".to_owned());
    }
    let rows: Vec<Vec<String>> = whole.iter().take(MOST).map(|one| row(one)).collect();
    grid::parts(&COLUMNS, &rows, &notes, style)
}

fn row(one: &Evidence) -> Vec<String> {
    let shown = |value: Option<f64>, scale: f64| value.map_or("–".to_owned(), |value| number::three(value / scale));
    let p99 = one.quantiles.iter().find(|(quantile, _)| (quantile - 0.99).abs() < 1e-9).map(|(_, seconds)| *seconds);
    let rate = match (one.iops, one.transactions_s) {
        (None, Some(transactions)) => format!("{} tx", number::three(transactions)),
        (iops, _) => shown(iops, 1.0),
    };
    vec![
        clean(&one.test),
        shown(one.setting.block_bytes, 1_024.0),
        shown(one.setting.depth, 1.0),
        rate,
        shown(one.bytes_s, 1e6),
        shown(one.mean_s, 1e-3),
        shown(p99, 1e-3),
    ]
}

/// What caches of some sizes would leave for the storage.
pub(super) fn curve(curve: &MissCurve, style: &TextStyle) -> Vec<Line> {
    let bytes = |value: f64| Bytes::new(value as u64).to_string();
    let mut facts = vec![
        ("working set", format!("{} touched by {} reads", bytes(curve.working_set_bytes), number::whole(curve.reads))),
        ("followed", format!("{} % of the pages", number::three(100.0 * curve.sampled))),
    ];
    let steps = [0.1, 0.25, 0.5, 1.0].into_iter().filter_map(|share: f64| {
        let size = share * curve.working_set_bytes;
        Some(format!("{} with {}", number::three(100.0 * curve.ratio(size)?), bytes(size)))
    });
    let steps: Vec<String> = steps.collect();
    if !steps.is_empty() {
        facts.push(("misses", format!("% of the reads: {}", steps.join(", "))));
    }
    grid::facts("A cache in front of it", &facts, style)
}

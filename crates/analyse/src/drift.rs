//! Drift test: compares the first third of a run with its last.
//!
//! A change counts if it is significant (by ranks of batches, robust against outliers), large enough, and not
//! contradicted by the middle third. The 99th percentile is tested as well, because caches and garbage collection
//! affect it first.

use plimsoll_record::{Finding, Steadiness};

use crate::batch::{self, ReducedSlice, Sums};
use crate::ranks;

/// Batches per third: as many as the series provides, within these bounds.
const MIN_BATCHES: usize = 5;
const MAX_BATCHES: usize = 8;
/// Critical value in standard errors of the rank sum: 2 % false alarms per measure.
const CLEAR: f64 = 2.33;
/// Minimum mean number of operations in a batch for tests of rate and mean.
const MIN_OPERATIONS: f64 = 10.0;
/// Minimum mean number of operations in a batch for tests of the 99th percentile.
const MIN_OPERATIONS_FOR_P99: f64 = 300.0;

struct Tested {
    name: &'static str,
    of: fn(&[ReducedSlice]) -> f64,
    /// Smallest relevant relative change.
    matters: f64,
    least_operations: f64,
}

const MEASURES: [Tested; 3] = [
    Tested { name: "IOPS", of: |pieces| Sums::of(pieces).iops(), matters: 0.08, least_operations: MIN_OPERATIONS },
    Tested { name: "mean", of: mean_ns, matters: 0.10, least_operations: MIN_OPERATIONS },
    Tested { name: "p99", of: p99_ns, matters: 0.20, least_operations: MIN_OPERATIONS_FOR_P99 },
];

fn mean_ns(pieces: &[ReducedSlice]) -> f64 {
    Sums::of(pieces).mean_ns()
}

fn p99_ns(pieces: &[ReducedSlice]) -> f64 {
    batch::responses(pieces).quantile(0.99).map_or(0.0, |span| span.as_nanos() as f64)
}

/// Tests the pieces after the warm-up. The first drifting measure becomes a finding; unknown with fewer than 15 pieces
/// or 150 operations.
pub(crate) fn judge(pieces: &[ReducedSlice], findings: &mut Vec<Finding>) -> Steadiness {
    let operations = Sums::of(pieces).operations;
    let mut steadiness = Steadiness::Unknown;
    for tested in &MEASURES {
        let enough = (operations / tested.least_operations / 3.0) as usize;
        let third = MAX_BATCHES.min(pieces.len() / 3).min(enough);
        if third < MIN_BATCHES {
            continue;
        }
        steadiness = Steadiness::Steady;
        let thirds = Thirds::of(pieces, third, tested.of);
        if let Some(drift) = thirds.drift(tested.matters) {
            findings.push(Finding::NoSteadyState { measure: tested.name.into(), drift });
            return Steadiness::Drifting;
        }
    }
    steadiness
}

/// True if response times grew throughout: the mean of the last third is at least `times` that of the first.
pub(crate) fn response_grows(pieces: &[ReducedSlice], times: f64) -> bool {
    let third = MAX_BATCHES.min(pieces.len() / 3);
    if third == 0 {
        return false;
    }
    let Thirds { first, middle, last, apart } = Thirds::of(pieces, third, mean_ns);
    first < middle && middle < last && last >= times * first && (third < MIN_BATCHES || apart >= CLEAR)
}

/// A measure over each third of a series, and the rank distance between the batches of the last and first third.
struct Thirds {
    first: f64,
    middle: f64,
    last: f64,
    apart: f64,
}

impl Thirds {
    /// Evaluates thirds with `third` batches each.
    fn of(pieces: &[ReducedSlice], third: usize, of: fn(&[ReducedSlice]) -> f64) -> Self {
        let n = pieces.len();
        let values: Vec<f64> = batch::cuts(n, 3 * third).map(|range| of(&pieces[range])).collect();
        let part_value = |part: usize| of(&pieces[part * n / 3..(part + 1) * n / 3]);
        let apart = ranks::signed(&values[..third], &values[2 * third..]);
        Self { first: part_value(0), middle: part_value(1), last: part_value(2), apart }
    }

    /// Relative change from the first third to the last, if significant.
    fn drift(&self, matters: f64) -> Option<f64> {
        let Self { first, middle, last, apart } = *self;
        let change = last - first;
        // The middle may deviate by a quarter of the change beyond either end.
        let between = (middle - first) / change > -0.25 && (last - middle) / change > -0.25;
        let clear = apart * change.signum() >= CLEAR;
        (first > 0.0 && (change / first).abs() > matters && between && clear).then(|| change / first)
    }
}

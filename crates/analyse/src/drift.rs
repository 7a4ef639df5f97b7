//! Whether a run was still changing when it ended: its first third against its last.
//!
//! A change counts when it is clear (by ranks of batches, so that one wild slice cannot make it), when it matters, and
//! when the middle third does not contradict it. The 99th percentile is tested too: caches and clean-up show there first.

use plimsoll_record::{Finding, Steadiness};

use crate::batch::{self, Piece, Sums};
use crate::ranks;

/// Batches in a third: as many as the series has, between these.
const LEAST_BATCHES: usize = 5;
const MOST_BATCHES: usize = 8;
/// Standard errors of the rank sum that are clear: 2 % of noise for each measure.
const CLEAR: f64 = 2.33;
/// Operations in a batch, on average, for its rate and mean to say something.
const LEAST_OPERATIONS: f64 = 10.0;
/// Operations in a batch, on average, for its 99th percentile to say something.
const LEAST_FOR_P99: f64 = 300.0;

struct Tested {
    name: &'static str,
    of: fn(&[Piece]) -> f64,
    /// Relative change that matters.
    matters: f64,
    least_operations: f64,
}

const MEASURES: [Tested; 3] = [
    Tested { name: "IOPS", of: |pieces| Sums::of(pieces).iops(), matters: 0.08, least_operations: LEAST_OPERATIONS },
    Tested { name: "mean", of: mean_ns, matters: 0.10, least_operations: LEAST_OPERATIONS },
    Tested { name: "p99", of: p99_ns, matters: 0.20, least_operations: LEAST_FOR_P99 },
];

fn mean_ns(pieces: &[Piece]) -> f64 {
    Sums::of(pieces).mean_ns()
}

fn p99_ns(pieces: &[Piece]) -> f64 {
    batch::responses(pieces).quantile(0.99).map_or(0.0, |span| span.as_nanos() as f64)
}

/// Tests the pieces after the warm-up. The first measure that drifts becomes a finding; unknown with fewer than 15
/// pieces or 150 operations.
pub(crate) fn judge(pieces: &[Piece], findings: &mut Vec<Finding>) -> Steadiness {
    let operations = Sums::of(pieces).operations;
    let mut steadiness = Steadiness::Unknown;
    for tested in &MEASURES {
        let enough = (operations / tested.least_operations / 3.0) as usize;
        let third = MOST_BATCHES.min(pieces.len() / 3).min(enough);
        if third < LEAST_BATCHES {
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

/// True when response times grew all along: the last third's mean is `times` that of the first or more.
pub(crate) fn response_grows(pieces: &[Piece], times: f64) -> bool {
    let third = MOST_BATCHES.min(pieces.len() / 3);
    if third == 0 {
        return false;
    }
    let Thirds { first, middle, last, apart } = Thirds::of(pieces, third, mean_ns);
    first < middle && middle < last && last >= times * first && (third < LEAST_BATCHES || apart >= CLEAR)
}

/// A measure over each third of a series, and how far the batches of the last are above those of the first.
struct Thirds {
    first: f64,
    middle: f64,
    last: f64,
    apart: f64,
}

impl Thirds {
    /// With `third` batches in each.
    fn of(pieces: &[Piece], third: usize, of: fn(&[Piece]) -> f64) -> Self {
        let n = pieces.len();
        let values: Vec<f64> = batch::cuts(n, 3 * third).map(|range| of(&pieces[range])).collect();
        let whole = |part: usize| of(&pieces[part * n / 3..(part + 1) * n / 3]);
        let apart = ranks::signed(&values[..third], &values[2 * third..]);
        Self { first: whole(0), middle: whole(1), last: whole(2), apart }
    }

    /// The change from the first third to the last, relative to the first, when it is real.
    fn drift(&self, matters: f64) -> Option<f64> {
        let Self { first, middle, last, apart } = *self;
        let change = last - first;
        // The middle may stray a quarter of the change beyond either end.
        let between = (middle - first) / change > -0.25 && (last - middle) / change > -0.25;
        let clear = apart * change.signum() >= CLEAR;
        (first > 0.0 && (change / first).abs() > matters && between && clear).then(|| change / first)
    }
}

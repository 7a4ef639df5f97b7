//! Detection of a lasting drop of the rate, as after the exhaustion of a burst allowance or write cache.
//!
//! The best single step is found by least squares; it counts if it is deep, the rate does not recover, and a step
//! describes the series better than a straight line (which would be drift).

use plimsoll_record::Finding;
use plimsoll_units::Instant;

use crate::batch::{self, ReducedSlice, Sums, median};

const BATCHES: usize = 60;
const MIN_BATCHES: usize = 12;
/// Minimum mean number of operations in a batch.
const MIN_OPERATIONS: f64 = 20.0;
/// Maximum share of the rate after a drop.
const LEFT: f64 = 0.85;
/// Maximum ratio of the squared residuals of the step to those of the line.
const BETTER_THAN_LINE: f64 = 0.6;
/// Minimum share of the batches before and after the step.
const BEFORE: f64 = 0.05;
const AFTER: f64 = 0.2;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Drop {
    /// First piece after the drop.
    pub(crate) at: usize,
    seconds: f64,
    before: f64,
    after: f64,
}

impl Drop {
    /// `start` is the time of the first searched piece.
    pub(crate) fn finding(&self, start: Instant) -> Finding {
        let at_seconds = self.seconds + start.as_nanos() as f64 / 1e9;
        Finding::RateDropped { at_seconds, before: self.before, after: self.after }
    }
}

pub(crate) fn find(pieces: &[ReducedSlice]) -> Option<Drop> {
    let enough = (Sums::of(pieces).operations / MIN_OPERATIONS) as usize;
    let count = BATCHES.min(enough).min(pieces.len());
    if count < MIN_BATCHES {
        return None;
    }
    let values: Vec<_> = batch::gathered(pieces, count).iter().map(Sums::iops).collect();
    let split = best_split(&values)?;
    let (before, after) = (median(&values[..split]), median(&values[split..]));
    let halfway = f64::midpoint(before, after);
    let back = values[split..].iter().filter(|value| **value > halfway).count() as f64;
    let early = values[..split].iter().filter(|value| **value < halfway).count() as f64;
    let lasts = back <= 0.05 * (count - split) as f64 && early <= 0.1 * split as f64;
    let step = squares(&values[..split]) + squares(&values[split..]);
    if after > LEFT * before || !lasts || step > BETTER_THAN_LINE * squares_about_line(&values) {
        return None;
    }
    let at = end_of_the_first(pieces, split * pieces.len() / count, pieces.len().div_ceil(count), halfway);
    let (before, after) = (Sums::of(&pieces[..at]), Sums::of(&pieces[at..]));
    Some(Drop { at, seconds: before.seconds, before: before.iops(), after: after.iops() })
}

/// The first piece of the time after the drop: a batch may be longer than the drop takes.
fn end_of_the_first(pieces: &[ReducedSlice], at: usize, batch: usize, halfway: f64) -> usize {
    let near = &pieces[at..(at + batch + 1).min(pieces.len())];
    let above = near.iter().rposition(|piece| piece.sums.iops() > halfway);
    at + above.map_or(0, |last| last + 1)
}

fn best_split(values: &[f64]) -> Option<usize> {
    let n = values.len();
    let first = ((BEFORE * n as f64) as usize).max(3);
    let last = n - ((AFTER * n as f64) as usize).max(4);
    let left = |at: &usize| squares(&values[..*at]) + squares(&values[*at..]);
    (first..=last).min_by(|a, b| left(a).total_cmp(&left(b)))
}

fn squares(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

fn squares_about_line(values: &[f64]) -> f64 {
    let centre = (values.len() as f64 - 1.0) / 2.0;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let moment = |i: usize| i as f64 - centre;
    let (mut products, mut spread) = (0.0, 0.0);
    for (i, value) in values.iter().enumerate() {
        products += moment(i) * (value - mean);
        spread += moment(i).powi(2);
    }
    squares(values) - products * products / spread
}

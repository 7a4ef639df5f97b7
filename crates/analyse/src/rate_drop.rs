//! A lasting step down in the rate, as a burst allowance or a write cache makes when it runs out.
//!
//! The best single step is found by least squares; it counts when it is deep, when the rate never comes back, and when
//! a step describes the series better than a straight line does (a line is drift, not a drop).

use plimsoll_record::Finding;
use plimsoll_units::Instant;

use crate::batch::{self, Piece, Sums, median};

const BATCHES: usize = 60;
const LEAST_BATCHES: usize = 12;
/// Operations in a batch, on average, below which batches are joined further.
const LEAST_OPERATIONS: f64 = 20.0;
/// A drop leaves at most this share of the rate.
const LEFT: f64 = 0.85;
/// Squares left by the step over squares left by the line, at most.
const BETTER_THAN_LINE: f64 = 0.6;
/// Share of the batches that must lie before and after the step.
const BEFORE: f64 = 0.05;
const AFTER: f64 = 0.2;

/// A step down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drop {
    /// The first piece after it.
    pub(crate) at: usize,
    seconds: f64,
    before: f64,
    after: f64,
}

impl Drop {
    /// `start` is the moment at which the searched pieces begin.
    pub(crate) fn finding(&self, start: Instant) -> Finding {
        let at_seconds = self.seconds + start.as_nanos() as f64 / 1e9;
        Finding::RateDropped { at_seconds, before: self.before, after: self.after }
    }
}

pub(crate) fn find(pieces: &[Piece]) -> Option<Drop> {
    let enough = (Sums::of(pieces).operations / LEAST_OPERATIONS) as usize;
    let count = BATCHES.min(enough).min(pieces.len());
    if count < LEAST_BATCHES {
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
    let at = split * pieces.len() / count;
    let (before, after) = (Sums::of(&pieces[..at]), Sums::of(&pieces[at..]));
    Some(Drop { at, seconds: before.seconds, before: before.iops(), after: after.iops() })
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

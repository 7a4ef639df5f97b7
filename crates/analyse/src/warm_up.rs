//! End of the warm-up of a run, by MSER on batches of time.
//!
//! MSER trims where the standard error of the rest is minimal (White 1997). On single, autocorrelated response times it
//! increases the bias; on batches of time it finds trends. Two guards prevent trimming of noise: outliers relative to
//! the later half are clamped, so that a stall does not look like a trend; and trimming requires that the removed part
//! differs significantly from the rest, and that the rest has levelled off.

use crate::batch::{self, ReducedSlice, Sums, median};
use crate::ranks;

/// Number of batches for the search.
const BATCHES: usize = 50;
/// Minimum number of batches for a trend.
const MIN_BATCHES: usize = 10;
/// Minimum mean number of operations in a batch.
const MIN_OPERATIONS: f64 = 20.0;
/// Minimum relative difference between the removed part and the rest.
const MIN_DIFFERENCE: f64 = 0.03;

/// Number of pieces in the warm-up, at most 40 % of them. If the optimum, searched up to 50 %, is beyond that, the
/// warm-up has no end and nothing is trimmed; the drift test reports it.
pub(crate) fn pieces_to_cut(pieces: &[ReducedSlice]) -> usize {
    let enough = (Sums::of(pieces).operations / MIN_OPERATIONS) as usize;
    let count = BATCHES.min(enough).min(pieces.len());
    if count < MIN_BATCHES {
        return 0;
    }
    let batches = batch::gathered(pieces, count);
    let iops: Vec<_> = batches.iter().map(Sums::iops).collect();
    let mean: Vec<_> = batches.iter().map(Sums::mean_ns).collect();
    let cut = batches_to_cut(&iops).max(batches_to_cut(&mean));
    cut * pieces.len() / count
}

fn batches_to_cut(values: &[f64]) -> usize {
    let clamped = clamp_outliers(values);
    let least = |d: &usize| standard_error_squared(&clamped[*d..]);
    let cut = (0..=values.len() / 2).min_by(|a, b| least(a).total_cmp(&least(b))).unwrap_or(0);
    let (gone, retained) = values.split_at(cut);
    let differs = (median(gone) / median(retained) - 1.0).abs() > MIN_DIFFERENCE;
    let early = cut * 5 <= values.len() * 2;
    if cut > 0 && early && differs && ranks::apart(gone, retained) > 2.0 && levels_off(gone, retained) {
        cut
    } else {
        0
    }
}

/// True if the rest changes at less than a quarter of the pace between removed part and rest. On a straight ramp MSER
/// trims anywhere, but that is drift.
fn levels_off(gone: &[f64], retained: &[f64]) -> bool {
    let (early, late) = retained.split_at(retained.len() / 2);
    // Centres of the two parts are half of both lengths apart.
    let before = (median(retained) - median(gone)) / (gone.len() + retained.len()) as f64;
    let after = (median(late) - median(early)) / retained.len() as f64;
    after / before < 0.25
}

fn standard_error_squared(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n * n)
}

/// Clamps values to five deviations around the median of the later half; a deviation is at least 2 % of the median, so
/// that small trends of quiet storage remain distinguishable from stalls.
fn clamp_outliers(values: &[f64]) -> Vec<f64> {
    let late = &values[values.len() / 2..];
    let middle = median(late);
    let distances: Vec<_> = late.iter().map(|value| (value - middle).abs()).collect();
    let reach = 5.0 * (1.4826 * median(&distances)).max(middle.abs() / 50.0);
    values.iter().map(|value| value.clamp(middle - reach, middle + reach)).collect()
}

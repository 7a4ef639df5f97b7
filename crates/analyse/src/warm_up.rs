//! Where the warm-up of a run ends, by MSER on batches of time.
//!
//! MSER cuts where the standard error of the rest is least (White 1997). On single, autocorrelated response times it
//! makes the bias worse; on batches of time it finds trends. Two guards keep it from cutting what is only noise: values
//! far from the later half's median are pulled in, so that one stall does not look like a trend, and a cut counts only if
//! what it removes differs clearly from what it keeps, and what it keeps has levelled off.

use crate::batch::{self, Piece, Sums, median};
use crate::ranks;

/// Batches that the search works on.
const BATCHES: usize = 50;
/// Fewer batches than this show no trend.
const LEAST_BATCHES: usize = 10;
/// Operations in a batch, on average, below which batches are joined further.
const LEAST_OPERATIONS: f64 = 20.0;
/// Relative difference between the part cut and the part kept below which there is nothing to cut.
const LEAST_DIFFERENCE: f64 = 0.03;

/// How many pieces at the start belong to the warm-up: at most two fifths of them. Where the search, which goes up to
/// one half, ends beyond that, it found no end of the warm-up, and nothing is cut: the drift test will say so.
pub(crate) fn pieces_to_cut(pieces: &[Piece]) -> usize {
    let enough = (Sums::of(pieces).operations / LEAST_OPERATIONS) as usize;
    let count = BATCHES.min(enough).min(pieces.len());
    if count < LEAST_BATCHES {
        return 0;
    }
    let batches = batch::gathered(pieces, count);
    let iops: Vec<_> = batches.iter().map(Sums::iops).collect();
    let mean: Vec<_> = batches.iter().map(Sums::mean_ns).collect();
    let cut = batches_to_cut(&iops).max(batches_to_cut(&mean));
    cut * pieces.len() / count
}

fn batches_to_cut(values: &[f64]) -> usize {
    let tamed = tamed(values);
    let least = |d: &usize| standard_error_squared(&tamed[*d..]);
    let cut = (0..=values.len() / 2).min_by(|a, b| least(a).total_cmp(&least(b))).unwrap_or(0);
    let (gone, kept) = values.split_at(cut);
    let differs = (median(gone) / median(kept) - 1.0).abs() > LEAST_DIFFERENCE;
    let early = cut * 5 <= values.len() * 2;
    if cut > 0 && early && differs && ranks::apart(gone, kept) > 2.0 && levels_off(gone, kept) { cut } else { 0 }
}

/// True when what is kept changes at less than a quarter of the pace at which it came away from what was cut. On a straight
/// ramp MSER cuts anywhere; that is drift, and no warm-up.
fn levels_off(gone: &[f64], kept: &[f64]) -> bool {
    let (early, late) = kept.split_at(kept.len() / 2);
    // Middles of the two parts lie half of both lengths apart.
    let before = (median(kept) - median(gone)) / (gone.len() + kept.len()) as f64;
    let after = (median(late) - median(early)) / kept.len() as f64;
    after / before < 0.25
}

fn standard_error_squared(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n * n)
}

/// The values with those pulled in that are more than five deviations from the median of the later half; at least a
/// twentieth of the median counts as a deviation, so that quiet storage keeps its small trends apart from its stalls.
fn tamed(values: &[f64]) -> Vec<f64> {
    let late = &values[values.len() / 2..];
    let middle = median(late);
    let distances: Vec<_> = late.iter().map(|value| (value - middle).abs()).collect();
    let reach = 5.0 * (1.4826 * median(&distances)).max(middle.abs() / 50.0);
    values.iter().map(|value| value.clamp(middle - reach, middle + reach)).collect()
}

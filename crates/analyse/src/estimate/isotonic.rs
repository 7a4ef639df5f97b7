//! Medians of slots, made monotone in the load, and their zero crossing.
//!
//! L1 isotonic regression by pooling adjacent violators (Barlow et al. 1972; Robertson & Waltman 1968 for medians).

use super::SlotEstimate;
use crate::batch::median;

/// A range of loads with the same value.
pub(super) struct PooledBlock {
    /// Lowest load.
    pub(super) first: f64,
    /// Highest load.
    pub(super) last: f64,
    values: Vec<f64>,
    pub(super) median: f64,
}

impl PooledBlock {
    fn of(first: f64, last: f64, values: Vec<f64>) -> Self {
        let median = median(&values);
        Self { first, last, values, median }
    }
}

/// Zero crossing of the isotonic medians, as the logarithm of the load: infinite if they stay at or below zero,
/// negative infinity if they start above.
pub(crate) fn crossing(points: &[SlotEstimate]) -> f64 {
    let blocks = pool_blocks(points);
    let Some(up) = blocks.iter().position(|block| block.median > 0.0) else { return f64::INFINITY };
    let Some(below) = up.checked_sub(1) else { return f64::NEG_INFINITY };
    let (a, b) = (&blocks[below], &blocks[up]);
    a.last + (b.first - a.last) * -a.median / (b.median - a.median)
}

/// Ranges of loads with ascending medians.
pub(super) fn pool_blocks(points: &[SlotEstimate]) -> Vec<PooledBlock> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x));
    let mut blocks: Vec<PooledBlock> = Vec::new();
    for load in sorted.chunk_by(SlotEstimate::is_at_load_of) {
        blocks.push(PooledBlock::of(load[0].x, load[0].x, load.iter().map(|point| point.z).collect()));
        while let [.., left, right] = &blocks[..]
            && left.median >= right.median
        {
            let (right, left) = (blocks.pop().expect("two are there"), blocks.pop().expect("two are there"));
            let values = [left.values, right.values].concat();
            blocks.push(PooledBlock::of(left.first, right.last, values));
        }
    }
    blocks
}

/// Slope of the medians over the logarithm of the load around `x`, at least 1: within 0.25 to each side, or farther
/// until each side has two slots. 5 without enough slots.
pub(crate) fn slope(points: &[SlotEstimate], x: f64) -> f64 {
    for within in [0.25, 0.4, 0.7, 2.0] {
        let below: Vec<&SlotEstimate> = points.iter().filter(|point| x - within <= point.x && point.x < x).collect();
        let above: Vec<&SlotEstimate> = points.iter().filter(|point| x < point.x && point.x <= x + within).collect();
        if below.len() > 1 && above.len() > 1 {
            let middle = |side: &[&SlotEstimate]| median(&side.iter().map(|point| point.z).collect::<Vec<_>>());
            let centre = |side: &[&SlotEstimate]| side.iter().map(|point| point.x).sum::<f64>() / side.len() as f64;
            return ((middle(&above) - middle(&below)) / (centre(&above) - centre(&below))).max(1.0);
        }
    }
    5.0
}

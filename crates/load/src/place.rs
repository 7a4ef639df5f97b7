//! Where operations go: regions of the target and the patterns of access to them.

use fastrand::Rng;
use plimsoll_units::Bytes;
use serde::{Deserialize, Serialize};

/// A contiguous part of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Region {
    /// First byte.
    pub start: u64,
    /// Number of bytes.
    pub length: Bytes,
}

impl Region {
    /// The first `length` bytes of a target.
    pub const fn first(length: Bytes) -> Self {
        Self { start: 0, length }
    }
}

/// How the blocks of a region are visited.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// One after the other, from the start again at the end.
    Sequential,
    /// Every block equally likely, independent of the last.
    Uniform,
    /// Block popularity falls as `1 / rank^theta`; popular blocks lie scattered over the region.
    Zipf {
        /// Skew: 0 is uniform, 0.99 is common for key-value loads; at least 0, below 10.
        theta: f64,
    },
    /// A share of the operations goes to the first part of the region, the rest to the remainder.
    HotSpot {
        /// Share of the operations that go to the hot part, 0 to 1.
        operations: f64,
        /// Share of the region that is hot, 0 to 1.
        space: f64,
    },
    /// As somebody once visited them: a replay. No stream can be drawn of it.
    Recorded,
}

/// Draws block numbers in `0..blocks` by a pattern.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    draw: Draw,
    rng: Rng,
}

#[derive(Clone, Debug)]
enum Draw {
    Sequential { next: u64 },
    Uniform,
    Zipf(Zipf),
    HotSpot { operations: f64, space: f64 },
}

impl Places {
    /// `first`: the block at which a sequential pattern starts. `None` for what cannot be drawn.
    pub(crate) fn new(pattern: Pattern, blocks: u64, first: u64, seed: u64) -> Option<Self> {
        let draw = match pattern {
            Pattern::Sequential => Draw::Sequential { next: first },
            Pattern::Uniform => Draw::Uniform,
            Pattern::Zipf { theta } => Draw::Zipf(Zipf::new(blocks, theta)),
            Pattern::HotSpot { operations, space } => Draw::HotSpot { operations, space },
            Pattern::Recorded => return None,
        };
        Some(Self { draw, rng: Rng::with_seed(seed) })
    }

    /// The first block of an operation that covers `span` blocks of `blocks`; `span` is at least 1, at most `blocks`.
    #[inline]
    pub(crate) fn next(&mut self, blocks: u64, span: u64) -> u64 {
        let starts = blocks - span + 1;
        match &mut self.draw {
            Draw::Uniform => self.rng.u64(0..starts),
            Draw::Sequential { next } => {
                let block = if *next < starts { *next } else { 0 };
                *next = block + span;
                block
            }
            Draw::Zipf(zipf) => zipf.next(&mut self.rng).min(starts - 1),
            Draw::HotSpot { operations, space } => {
                let hot = ((starts as f64 * *space) as u64).clamp(1, starts);
                if hot == starts || self.rng.f64() < *operations {
                    self.rng.u64(0..hot)
                } else {
                    self.rng.u64(hot..starts)
                }
            }
        }
    }
}

/// Ranks by rejection-inversion (W. Hörmann, G. Derflinger, "Rejection-inversion to generate variates from monotone
/// discrete distributions", 1996), then scattered over the region by a fixed affine permutation.
#[derive(Clone, Debug)]
struct Zipf {
    blocks: u64,
    theta: f64,
    h_first: f64,
    h_last: f64,
    squeeze: f64,
    multiplier: u64,
}

impl Zipf {
    fn new(blocks: u64, theta: f64) -> Self {
        let mut zipf = Self { blocks, theta, h_first: 0.0, h_last: 0.0, squeeze: 0.0, multiplier: scatter(blocks) };
        zipf.h_first = zipf.h(1.5) - 1.0;
        zipf.h_last = zipf.h(blocks as f64 + 0.5);
        zipf.squeeze = 2.0 - zipf.h_inverse(zipf.h(2.5) - libm::pow(2.0, -theta));
        zipf
    }

    fn next(&self, rng: &mut Rng) -> u64 {
        loop {
            let u = self.h_last + rng.f64() * (self.h_first - self.h_last);
            let x = self.h_inverse(u);
            let rank = libm::round(x).clamp(1.0, self.blocks as f64);
            if rank - x <= self.squeeze || u >= self.h(rank + 0.5) - libm::pow(rank, -self.theta) {
                return self.permute(rank as u64 - 1);
            }
        }
    }

    /// The integral of `x^-theta`, with the constant that makes it exact near `theta = 1`.
    fn h(&self, x: f64) -> f64 {
        let log = libm::log(x);
        let q = (1.0 - self.theta) * log;
        log * if libm::fabs(q) > 1e-8 { libm::expm1(q) / q } else { 1.0 + q / 2.0 }
    }

    fn h_inverse(&self, y: f64) -> f64 {
        let t = (y * (1.0 - self.theta)).max(-1.0);
        libm::exp(y * if libm::fabs(t) > 1e-8 { libm::log1p(t) / t } else { 1.0 - t / 2.0 })
    }

    fn permute(&self, rank: u64) -> u64 {
        (rank as u128 * self.multiplier as u128 % self.blocks as u128) as u64
    }
}

/// A multiplier near `blocks / golden ratio` that shares no factor with `blocks`: neighbouring ranks land far apart,
/// and no two on the same block.
fn scatter(blocks: u64) -> u64 {
    const fn gcd(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { gcd(b, a % b) }
    }
    let mut multiplier = ((blocks as f64 * 0.618_033_988_749_895) as u64).max(1);
    while gcd(multiplier, blocks) != 1 {
        multiplier += 1;
    }
    multiplier
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::{collections::BTreeMap, vec::Vec};

    fn counts(pattern: Pattern, blocks: u64, draws: u64) -> BTreeMap<u64, u64> {
        let mut places = Places::new(pattern, blocks, 0, 7).unwrap();
        let mut seen = BTreeMap::new();
        for _ in 0..draws {
            *seen.entry(places.next(blocks, 1)).or_insert(0) += 1;
        }
        seen
    }

    #[test]
    fn zipf_ranks_follow_the_law() {
        for theta in [0.0, 0.5, 0.99, 1.0, 1.2] {
            let (blocks, draws) = (1_000_u64, 400_000_u64);
            let mut by_rank: Vec<u64> = counts(Pattern::Zipf { theta }, blocks, draws).into_values().collect();
            by_rank.sort_unstable_by(|a, b| b.cmp(a));
            let weight: f64 = (1..=blocks).map(|k| libm::pow(k as f64, -theta)).sum();
            let top_ten: u64 = by_rank.iter().take(10).sum();
            let expected: f64 = (1..=10).map(|k| libm::pow(f64::from(k), -theta)).sum::<f64>() / weight;
            let share = top_ten as f64 / draws as f64;
            // Sorting by count favours lucky blocks where all are alike: theta 0 has that bias, so it is loose.
            let tolerance = if theta < 0.1 { 0.003 } else { 0.01 };
            assert!(libm::fabs(share - expected) < tolerance, "theta {theta}: {share} against {expected}");
        }
    }

    #[test]
    fn popular_blocks_are_not_neighbours() {
        let seen = counts(Pattern::Zipf { theta: 1.0 }, 10_000, 100_000);
        let mut popular: Vec<_> = seen.into_iter().collect();
        popular.sort_unstable_by_key(|&(_, n)| core::cmp::Reverse(n));
        let (first, second) = (popular[0].0, popular[1].0);
        assert!(first.abs_diff(second) > 100, "{first} and {second}");
    }

    #[test]
    fn hot_spot_takes_its_share() {
        let seen = counts(Pattern::HotSpot { operations: 0.9, space: 0.1 }, 1_000, 100_000);
        let hot: u64 = seen.range(..100).map(|(_, n)| n).sum();
        assert!((89_000..91_000).contains(&hot), "{hot}");
    }

    #[test]
    fn sequential_wraps_and_never_leaves_the_region() {
        let mut places = Places::new(Pattern::Sequential, 10, 8, 0).unwrap();
        let visited: Vec<u64> = (0..5).map(|_| places.next(10, 3)).collect();
        assert_eq!(visited, [0, 3, 6, 0, 3]);
    }
}

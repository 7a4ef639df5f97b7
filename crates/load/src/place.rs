//! Addresses of operations: regions of the target and access patterns.

mod shuffle;
mod zipf;

use fastrand::Rng;
use plimsoll_units::Bytes;
use serde::{Deserialize, Serialize};

use shuffle::Shuffle;
use zipf::Zipf;

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

/// Access pattern of the blocks of a region.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Ascending, wrapping around at the end.
    Sequential,
    /// All blocks equally likely and independent.
    Uniform,
    /// Block popularity falls as `1 / rank^theta`; popular blocks are scattered over the region.
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
    /// Every block once in random order, then again in another order.
    Shuffled,
    /// Descending, wrapping around at the start.
    Backward,
    /// In steps of a fixed number of blocks; beyond the end, from the first unvisited block.
    Stride {
        /// Step in blocks, at least 1.
        blocks: u64,
    },
    /// Always the first block.
    Same,
    /// Pareto distribution: for a share `h` of the blocks, a share `1 - h` of the operations.
    Pareto {
        /// Above 0, below 0.5 for a skew: 0.2 is the 80/20 rule.
        h: f64,
    },
    /// Normal distribution around the middle of the region.
    Normal {
        /// Standard deviation as a share of the region, above 0.
        deviation: f64,
    },
    /// Addresses of a recording: a replay. Cannot be generated.
    Recorded,
}

/// Draws block numbers in `0..blocks` according to a pattern.
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
    Shuffled(Shuffle),
    Backward { next: u64 },
    Stride { next: u64, blocks: u64, turn: u64 },
    Same,
    Pareto { power: f64 },
    Normal { deviation: f64 },
}

impl Places {
    /// `first`: first block of a sequential pattern. `None` for patterns that cannot be generated.
    pub(crate) fn new(pattern: Pattern, blocks: u64, first: u64, seed: u64) -> Option<Self> {
        let draw = match pattern {
            Pattern::Sequential => Draw::Sequential { next: first },
            Pattern::Uniform => Draw::Uniform,
            Pattern::Zipf { theta } => Draw::Zipf(Zipf::new(blocks, theta)),
            Pattern::HotSpot { operations, space } => Draw::HotSpot { operations, space },
            Pattern::Shuffled => Draw::Shuffled(Shuffle::new(blocks, seed)),
            Pattern::Backward => Draw::Backward { next: blocks },
            Pattern::Stride { blocks } => Draw::Stride { next: 0, blocks: blocks.max(1), turn: 0 },
            Pattern::Same => Draw::Same,
            // A share x of the blocks receives x^(log(1 - h) / log h) of the operations.
            Pattern::Pareto { h } => Draw::Pareto { power: libm::log(h) / libm::log(1.0 - h) },
            Pattern::Normal { deviation } => Draw::Normal { deviation },
            Pattern::Recorded => return None,
        };
        Some(Self { draw, rng: Rng::with_seed(seed) })
    }

    /// First block of an operation that covers `span` of `blocks` blocks; `span` is 1 to `blocks`.
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
            Draw::Shuffled(shuffle) => shuffle.next().min(starts - 1),
            Draw::Backward { next } => {
                let block = next.checked_sub(span).unwrap_or(starts - 1);
                *next = block;
                block
            }
            Draw::Stride { next, blocks: stride, turn } => {
                if *next >= starts {
                    *turn = (*turn + 1) % (*stride).min(starts);
                    *next = *turn;
                }
                let block = *next;
                *next = block + *stride;
                block
            }
            Draw::Same => 0,
            Draw::Pareto { power } => ((starts as f64 * libm::pow(self.rng.f64(), *power)) as u64).min(starts - 1),
            Draw::Normal { deviation } => normal(&mut self.rng, starts, *deviation),
        }
    }
}

/// A block around the middle of `starts`, by the polar method (G. Marsaglia, T. A. Bray, "A convenient method for
/// generating normal variables", 1964), rejecting addresses outside of the region.
fn normal(rng: &mut Rng, starts: u64, deviation: f64) -> u64 {
    loop {
        let (x, y) = (2.0 * rng.f64() - 1.0, 2.0 * rng.f64() - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            let standard = x * libm::sqrt(-2.0 * libm::log(square) / square);
            let place = 0.5 + standard * deviation;
            if (0.0..1.0).contains(&place) {
                return ((starts as f64 * place) as u64).min(starts - 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::{collections::BTreeMap, vec::Vec};

    fn counts(pattern: Pattern, blocks: u64, draws: u64) -> BTreeMap<u64, u64> {
        let mut places = Places::new(pattern, blocks, 0, 7).unwrap();
        let mut observed = BTreeMap::new();
        for _ in 0..draws {
            *observed.entry(places.next(blocks, 1)).or_insert(0) += 1;
        }
        observed
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
            // Sorting by count is biased if all blocks are equally popular (theta 0), so that tolerance is loose.
            let tolerance = if theta < 0.1 { 0.003 } else { 0.01 };
            assert!(libm::fabs(share - expected) < tolerance, "theta {theta}: {share} against {expected}");
        }
    }

    #[test]
    fn popular_blocks_are_not_neighbours() {
        let observed = counts(Pattern::Zipf { theta: 1.0 }, 10_000, 100_000);
        let mut popular: Vec<_> = observed.into_iter().collect();
        popular.sort_unstable_by_key(|&(_, n)| core::cmp::Reverse(n));
        let (first, second) = (popular[0].0, popular[1].0);
        assert!(first.abs_diff(second) > 100, "{first} and {second}");
    }

    #[test]
    fn hot_spot_takes_its_share() {
        let observed = counts(Pattern::HotSpot { operations: 0.9, space: 0.1 }, 1_000, 100_000);
        let hot: u64 = observed.range(..100).map(|(_, n)| n).sum();
        assert!((89_000..91_000).contains(&hot), "{hot}");
    }

    #[test]
    fn sequential_wraps_and_never_leaves_the_region() {
        let mut places = Places::new(Pattern::Sequential, 10, 8, 0).unwrap();
        let visited: Vec<u64> = (0..5).map(|_| places.next(10, 3)).collect();
        assert_eq!(visited, [0, 3, 6, 0, 3]);
    }

    #[test]
    fn shuffled_visits_every_block_once_in_changing_order() {
        for blocks in [1, 2, 3, 7, 64, 1_000] {
            let mut places = Places::new(Pattern::Shuffled, blocks, 0, 7).unwrap();
            let mut round = || (0..blocks).map(|_| places.next(blocks, 1)).collect::<Vec<_>>();
            let (first, second) = (round(), round());
            for order in [&first, &second] {
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..blocks).collect::<Vec<_>>(), "{blocks}");
            }
            assert!(blocks < 64 || first != second, "{blocks}");
        }
    }

    #[test]
    fn backward_and_stride_visit_every_block() {
        let visited = |pattern, blocks: u64| {
            let mut places = Places::new(pattern, blocks, 0, 0).unwrap();
            (0..=blocks).map(|_| places.next(blocks, 1)).collect::<Vec<_>>()
        };
        assert_eq!(visited(Pattern::Backward, 4), [3, 2, 1, 0, 3]);
        assert_eq!(visited(Pattern::Stride { blocks: 3 }, 7), [0, 3, 6, 1, 4, 2, 5, 0]);
        assert_eq!(visited(Pattern::Same, 3), [0, 0, 0, 0]);
    }

    #[test]
    fn pareto_follows_the_80_20_rule() {
        let observed = counts(Pattern::Pareto { h: 0.2 }, 1_000, 100_000);
        let first: u64 = observed.range(..200).map(|(_, n)| n).sum();
        assert!((79_000..81_000).contains(&first), "{first}");
    }

    #[test]
    fn normal_places_have_the_deviation() {
        let observed = counts(Pattern::Normal { deviation: 0.1 }, 1_000, 100_000);
        let within: u64 = observed.range(400..600).map(|(_, n)| n).sum();
        assert!((67_300..69_300).contains(&within), "{within}");
    }
}

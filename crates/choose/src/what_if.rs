//! What-if analyses: other levels, more memory, growth, separation of hot and cold parts. Each uses the same sizing as
//! the present choice.

mod cache;
mod growth;
mod levels;
mod memory;
mod parts;
mod tiers;

pub use cache::{CacheSize, CacheWhatIf, EstimateSource, cache, with_reads_left};
pub use growth::{HORIZON_MONTHS, Later, Outgrown, OutgrownBy, growth};
pub use levels::{LevelsOfChoice, Tuning, replay_levels};
pub use memory::{MemoryFirst, memory_first};
pub use parts::{keep_parts, parts};
pub use tiers::{NoTiers, TierSplit, Tiers, tiers};

use crate::elapsed::JobTimes;

/// What-if analyses of a sizing.
#[derive(Clone, Debug, Default)]
pub struct WhatIfs {
    /// Memory that saves as much as faster storage, for less; evaluated without a request.
    pub memory: Option<MemoryFirst>,
    /// Elapsed times of jobs.
    pub jobs: Option<JobTimes>,
    /// Levels of the best choices that have any.
    pub levels: Option<Vec<LevelsOfChoice>>,
    /// Other sizes of the cache.
    pub cache: Option<CacheWhatIf>,
    /// Lifetime of the first choice under growth.
    pub growth: Option<Outgrown>,
    /// Hot parts on faster storage, the rest on cheaper storage.
    pub tiers: Option<Tiers>,
}

//! What would be if: other levels, more memory, growth, hot and cold parts apart. Each is worked out by the same sizing
//! that made the present choice.
//!
//! Knows no form of report, no product and no layout.

mod cache;
mod growth;
mod levels;
mod parts;
mod tiers;

pub use cache::{CacheSize, CacheWhatIf, SaidBy, cache};
pub use growth::{HORIZON_MONTHS, Later, NoLonger, Outgrown, growth};
pub use levels::{LevelsOfChoice, Tuning, levels};
pub use parts::{keep_parts, parts};
pub use tiers::{NoTiers, Split, Tiers, tiers};

/// What was asked of a sizing beside the sizing itself.
#[derive(Clone, Debug, Default)]
pub struct WhatIfs {
    /// Levels of the best choices that have any.
    pub levels: Option<Vec<LevelsOfChoice>>,
    /// Another size of the cache.
    pub cache: Option<CacheWhatIf>,
    /// How long the first choice lasts.
    pub growth: Option<Outgrown>,
    /// Hot parts on one storage, the rest on another.
    pub tiers: Option<Tiers>,
}

//! Cost and delays of the levels of each choice: fixed, autotuned, or by the hour.

use plimsoll_catalogue::{Catalogue, Offer, PriceTerms};
use plimsoll_ingest::DatabaseDemand;

use crate::hours::{LevelReplay, Levels, compare, demand_over_time};
use crate::sizing::Sizing;

/// Range of the provider's autotuning; `None` for the lowest or highest level on offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// The level to which it returns.
    pub default: Option<u32>,
    /// The highest level.
    pub max: Option<u32>,
}

#[derive(Clone, Debug)]
pub struct LevelsOfChoice {
    /// The choice at its sized level.
    pub offer: Offer,
    /// The option that sets the level.
    pub option: String,
    /// Replays of fixed levels, lowest first; then of autotuning, if the provider has it; then of an hourly schedule,
    /// if windows have times and are short enough.
    pub replays: Vec<LevelReplay>,
}

/// Maximum number of choices, the cheapest of those with levels.
const MAX_CHOICES: usize = 3;

/// Replays the measured demand, without growth and hidden peaks, at the levels of the best choices that have any.
pub fn replay_levels(
    catalogue: &Catalogue,
    terms: &PriceTerms,
    sizing: &Sizing,
    subject: &DatabaseDemand,
    tuning: Tuning,
) -> Vec<LevelsOfChoice> {
    let demand = demand_over_time(subject);
    if demand.iter().all(Option::is_none) {
        return Vec::new();
    }
    let of = |offer: &Offer| {
        let levels = Levels::of(catalogue, &offer.config, terms).ok().filter(|levels| levels.levels.len() > 1)?;
        let (lowest, highest) = (levels.levels.first()?.level, levels.levels.last()?.level);
        let default = tuning.default.unwrap_or(lowest).clamp(lowest, highest);
        let max = tuning.max.unwrap_or(highest).clamp(default, highest);
        let policy = levels.follow_load().then(|| levels.policy(default, max));
        let replays = compare(&levels, &subject.slots, &demand, policy);
        Some(LevelsOfChoice { offer: offer.clone(), option: levels.option, replays })
    };
    sizing.choices.iter().filter_map(|choice| of(&choice.offer)).take(MAX_CHOICES).collect()
}

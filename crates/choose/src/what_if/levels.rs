//! What the level of each choice would cost and whom it would hold up: fixed, by the load, or by the hour.

use plimsoll_catalogue::{Catalogue, Offer, Terms};
use plimsoll_ingest::Subject;

use crate::hours::{LevelReplay, Levels, asked_over_time, compare};
use crate::sizing::Sizing;

/// Between which levels the provider's own rule moves; what is none is the lowest or the highest that is on offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// The level that it goes back to.
    pub default: Option<u32>,
    /// The level that it never passes.
    pub most: Option<u32>,
}

/// A choice at all of its levels.
#[derive(Clone, Debug)]
pub struct LevelsOfChoice {
    /// The choice, at the level that it was sized to.
    pub offer: Offer,
    /// The option that is its level.
    pub option: String,
    /// What came of each rule: fixed levels, lowest first; then the provider's own, where it has one; then an hourly
    /// timetable, where windows are short enough and say when they were.
    pub replays: Vec<LevelReplay>,
}

/// So many choices are looked at, the cheapest of those that have levels.
const MOST: usize = 3;

/// What the demand, as it was measured, would have cost and waited at the levels of the best choices that have any.
/// Nothing is added for growth and for peaks inside of windows.
pub fn levels(
    catalogue: &Catalogue,
    terms: &Terms,
    sizing: &Sizing,
    subject: &Subject,
    tuning: Tuning,
) -> Vec<LevelsOfChoice> {
    let asked = asked_over_time(subject);
    if asked.iter().all(Option::is_none) {
        return Vec::new();
    }
    let of = |offer: &Offer| {
        let levels = Levels::of(catalogue, &offer.config, terms).ok().filter(|levels| levels.levels.len() > 1)?;
        let (lowest, highest) = (levels.levels.first()?.level, levels.levels.last()?.level);
        let default = tuning.default.unwrap_or(lowest).clamp(lowest, highest);
        let most = tuning.most.unwrap_or(highest).clamp(default, highest);
        let policy = levels.follow_load().then(|| levels.policy(default, most));
        let replays = compare(&levels, &subject.slots, &asked, policy);
        Some(LevelsOfChoice { offer: offer.clone(), option: levels.option, replays })
    };
    sizing.choices.iter().filter_map(|choice| of(&choice.offer)).take(MOST).collect()
}

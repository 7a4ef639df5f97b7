//! Tiering: hot parts on faster storage and cold parts on cheaper storage, where parts are devices, files or
//! tablespaces.
//!
//! Parts of several layers, such as files and their tablespaces, would be counted twice, so they are an error.

use plimsoll_catalogue::{Catalogue, Money, Price, PriceTerms};
use plimsoll_ingest::{DatabaseDemand, Demand, Reading};
use plimsoll_units::Bytes;

use super::parts::{counted_parts, keep_parts};
use crate::sizing::{Choice, Design, Search, SizingRequirements, derive_requirements, size};

/// A division into hot and cold parts.
#[derive(Clone, Debug)]
pub struct TierSplit {
    pub hot_parts: Vec<String>,
    /// Their design point, and the cheapest suitable choice.
    pub hot: (SizingRequirements, Choice),
    /// The same for the cold parts.
    pub cold: (SizingRequirements, Choice),
    /// Total monthly price; none if either has no price.
    pub sum: Option<Money>,
}

/// Evaluated divisions into hot and cold parts.
#[derive(Clone, Debug)]
pub struct Tiers {
    /// Number of parts. Their sizes are unknown: the capacity is divided evenly.
    pub parts: usize,
    /// Suitable divisions, the cheapest first, unpriced ones last.
    pub splits: Vec<TierSplit>,
}

/// The reason why tiers cannot be evaluated.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTiers {
    /// Fewer than two parts have operations.
    #[error("the inputs do not separate operations of several devices, files or tablespaces: provide inputs that do")]
    OnePart,
    /// The sum of the parts exceeds the total.
    #[error(
        "the inputs have parts of several layers, such as files and tablespaces, that would be counted twice: provide \
         inputs with one layer"
    )]
    Layers,
}

/// Minimum shares of the operations for the hot parts.
const SHARES: [f64; 3] = [0.5, 0.8, 0.95];
/// Ratio of the parts' sum to the total above which they overlap.
const OVERLAP: f64 = 1.1;

/// Evaluates hot parts and cold parts on separate storage.
pub fn tiers(
    catalogue: &Catalogue,
    terms: &PriceTerms,
    search: &Search,
    readings: &[&Reading],
    (subject, design): (&DatabaseDemand, &Design),
) -> Result<Tiers, NoTiers> {
    let mut ranked = rank_parts(readings, subject, design);
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    let all: f64 = ranked.iter().map(|(_, iops)| iops).sum();
    if ranked.len() < 2 {
        return Err(NoTiers::OnePart);
    }
    if derive_requirements(subject, design).is_ok_and(|total| all > total.mean_iops * OVERLAP) {
        return Err(NoTiers::Layers);
    }
    let mut counts: Vec<usize> = SHARES.iter().map(|share| reaching(&ranked, share * all)).collect();
    counts.dedup();
    let names: Vec<&str> = ranked.iter().map(|(name, _)| name.as_str()).collect();
    let chosen = |names: &[&str]| {
        let of = select_demand(readings, subject, names)?;
        let share = names.len() as f64 / ranked.len() as f64;
        let capacity = Bytes::new((design.capacity.get() as f64 * share).ceil() as u64);
        let required = derive_requirements(&of, &Design { capacity, ..design.clone() }).ok()?;
        let choice = size(catalogue, &required, terms, search).choices.into_iter().next()?;
        Some((required, choice))
    };
    let split = |count: usize| {
        let (hot, cold) = (chosen(&names[..count])?, chosen(&names[count..])?);
        let monthly = |choice: &Choice| choice.price.as_ref().and_then(Price::total);
        let sum = monthly(&hot.1).zip(monthly(&cold.1)).and_then(|(hot, cold)| hot.plus(cold));
        Some(TierSplit { hot_parts: names[..count].iter().map(ToString::to_string).collect(), hot, cold, sum })
    };
    let mut splits: Vec<TierSplit> = counts.into_iter().filter_map(split).collect();
    splits.sort_by_key(|split| split.sum.map_or(i128::MAX, |sum| sum.millionths));
    Ok(Tiers { parts: ranked.len(), splits })
}

/// Parts with operations of this subject, and their mean operations per second.
fn rank_parts(readings: &[&Reading], subject: &DatabaseDemand, design: &Design) -> Vec<(String, f64)> {
    let names = counted_parts(readings).into_iter();
    let mean =
        |name: &str| Some(derive_requirements(&select_demand(readings, subject, &[name])?, design).ok()?.mean_iops);
    names.filter_map(|name| Some((name.to_owned(), mean(name)?))).collect()
}

/// The demand of some parts of a subject.
fn select_demand(readings: &[&Reading], subject: &DatabaseDemand, names: &[&str]) -> Option<DatabaseDemand> {
    let retained: Vec<Reading> = readings
        .iter()
        .map(|reading| {
            let mut reading = (*reading).clone();
            keep_parts(&mut reading, |part| names.contains(&part));
            reading
        })
        .collect();
    let retained: Vec<&Reading> = retained.iter().collect();
    Demand::of(&retained).subjects.into_iter().find(|own| own.name == subject.name)
}

/// Number of leading parts that reach a sum; the last part always stays cold.
fn reaching(ranked: &[(String, f64)], enough: f64) -> usize {
    let mut sum = 0.0;
    let before = ranked.iter().take_while(|(_, iops)| {
        sum += iops;
        sum < enough
    });
    (before.count() + 1).min(ranked.len() - 1)
}

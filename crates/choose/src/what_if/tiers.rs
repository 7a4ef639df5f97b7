//! Hot parts on one storage and cold ones on another: devices, files or tablespaces, by what is asked of each.
//!
//! Where parts are of several layers, such as files and the tablespaces that they make up, they would be counted twice:
//! then nothing is said.

use plimsoll_catalogue::{Catalogue, Money, Terms};
use plimsoll_ingest::{Demand, Reading, Subject};
use plimsoll_units::Bytes;

use super::parts::{counted_parts, keep_parts};
use crate::sizing::{Choice, Design, Search, Wanted, size, wanted};

/// One way to part hot from cold.
#[derive(Clone, Debug)]
pub struct Split {
    /// The parts on the fast storage, the most operations first.
    pub hot_parts: Vec<String>,
    /// What is asked of them, and the cheapest that carries it.
    pub hot: (Wanted, Choice),
    /// The same of the rest.
    pub cold: (Wanted, Choice),
    /// Both in a month; none when either has no price.
    pub sum: Option<Money>,
}

/// Ways to part hot from cold.
#[derive(Clone, Debug)]
pub struct Tiers {
    /// How many parts there are. Bytes of each are not known: the capacity is shared evenly.
    pub parts: usize,
    /// What was tried and is carried, the cheapest first, those without a price last.
    pub splits: Vec<Split>,
}

/// Why nothing can be parted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTiers {
    /// Fewer than two parts have operations.
    #[error("the inputs do not tell operations of several devices, files or tablespaces apart: give some that do")]
    OnePart,
    /// Parts ask more together than the whole does.
    #[error(
        "the inputs have parts of several layers, such as files and tablespaces, that would be counted twice: give \
         inputs with one layer"
    )]
    Layers,
}

/// Shares of the operations that the hot parts take, at least.
const SHARES: [f64; 3] = [0.5, 0.8, 0.95];
/// Parts may ask so many times what the whole does before they are taken to overlap.
const OVERLAP: f64 = 1.1;

/// What hot parts on one storage and the rest on another would cost.
pub fn tiers(
    catalogue: &Catalogue,
    terms: &Terms,
    search: &Search,
    readings: &[&Reading],
    (subject, design): (&Subject, &Design),
) -> Result<Tiers, NoTiers> {
    let mut ranked = ranked(readings, subject, design);
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    let all: f64 = ranked.iter().map(|(_, iops)| iops).sum();
    if ranked.len() < 2 {
        return Err(NoTiers::OnePart);
    }
    if wanted(subject, design).is_ok_and(|whole| all > whole.mean_iops * OVERLAP) {
        return Err(NoTiers::Layers);
    }
    let mut counts: Vec<usize> = SHARES.iter().map(|share| reaching(&ranked, share * all)).collect();
    counts.dedup();
    let names: Vec<&str> = ranked.iter().map(|(name, _)| name.as_str()).collect();
    let carried = |names: &[&str]| {
        let of = of(readings, subject, names)?;
        let share = names.len() as f64 / ranked.len() as f64;
        let capacity = Bytes::new((design.capacity.get() as f64 * share).ceil() as u64);
        let wanted = wanted(&of, &Design { capacity, ..design.clone() }).ok()?;
        let choice = size(catalogue, &wanted, terms, search).choices.into_iter().next()?;
        Some((wanted, choice))
    };
    let split = |count: usize| {
        let (hot, cold) = (carried(&names[..count])?, carried(&names[count..])?);
        let monthly = |choice: &Choice| choice.price.as_ref().map(|price| price.monthly);
        let sum = monthly(&hot.1).zip(monthly(&cold.1)).and_then(|(hot, cold)| hot.plus(cold));
        Some(Split { hot_parts: names[..count].iter().map(ToString::to_string).collect(), hot, cold, sum })
    };
    let mut splits: Vec<Split> = counts.into_iter().filter_map(split).collect();
    splits.sort_by_key(|split| split.sum.map_or(i128::MAX, |sum| sum.millionths));
    Ok(Tiers { parts: ranked.len(), splits })
}

/// Parts with operations of this subject, and their operations a second in the mean.
fn ranked(readings: &[&Reading], subject: &Subject, design: &Design) -> Vec<(String, f64)> {
    let names = counted_parts(readings).into_iter();
    let mean = |name: &str| Some(wanted(&of(readings, subject, &[name])?, design).ok()?.mean_iops);
    names.filter_map(|name| Some((name.to_owned(), mean(name)?))).collect()
}

/// What some parts of a subject ask.
fn of(readings: &[&Reading], subject: &Subject, names: &[&str]) -> Option<Subject> {
    let kept: Vec<Reading> = readings
        .iter()
        .map(|reading| {
            let mut reading = (*reading).clone();
            keep_parts(&mut reading, |part| names.contains(&part));
            reading
        })
        .collect();
    let kept: Vec<&Reading> = kept.iter().collect();
    Demand::of(&kept).subjects.into_iter().find(|one| one.name == subject.name)
}

/// How many of the first reach a sum; the last stays cold.
fn reaching(ranked: &[(String, f64)], enough: f64) -> usize {
    let mut sum = 0.0;
    let before = ranked.iter().take_while(|(_, iops)| {
        sum += iops;
        sum < enough
    });
    (before.count() + 1).min(ranked.len() - 1)
}

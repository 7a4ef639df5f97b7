//! Memory before storage: a larger cache on a larger machine, if it saves as much waiting as faster storage for less
//! money.

use plimsoll_catalogue::{Catalogue, Money, PriceTerms};
use plimsoll_ingest::{Account, Class, MissCurve};
use plimsoll_units::Bytes;

use super::cache::{CacheStep, EstimateSource, list_steps, with_reads};
use crate::sizing::{Choice, Search, Sizing, SizingRequirements, size};

/// A larger cache, with the storage and the machine that it needs.
#[derive(Clone, Debug)]
pub struct MemoryFirst {
    /// Source of the estimate of the remaining reads.
    pub by: EstimateSource,
    /// Size of the cache in bytes.
    pub bytes: f64,
    /// Additional bytes.
    pub more_bytes: f64,
    /// Remaining reads relative to the present.
    pub reads: f64,
    /// Saved share of the database's time, in addition to that of the cheapest choice; `None` if unknown.
    pub saved: Option<f64>,
    /// Storage for the remaining load, on a machine with the memory.
    pub choice: Choice,
    /// Monthly price of storage and machine.
    pub total: Money,
    /// The same for the cheapest choice with the present cache.
    pub present: Money,
    /// Whether the cache costs nothing, as the machine of the cheapest choice has the memory.
    pub is_paid: bool,
    /// Waiting sessions with the cheapest choice, and with the larger cache.
    pub waiting: [f64; 2],
    /// The cheapest configuration of the same provider that leaves as few sessions waiting with the present cache, and
    /// its monthly price; `None` if none does.
    pub storage: Option<(Choice, Money)>,
}

/// Maximum remaining share of the waiting sessions.
const LEFT: f64 = 0.75;
/// Minimum saved share of the database's time by memory that is paid already.
const WORTH_SETTING: f64 = 0.01;
/// Share of a machine's memory that a cache can use.
const MEMORY_SHARE: f64 = 0.8;
/// Minimum saved share of the database's time, and minimum number of saved waiting sessions if that is unknown.
const NOTABLE: f64 = 0.05;
const SESSIONS: f64 = 0.25;
/// Maximum ratio to the present price if no storage saves as much.
const AFFORDABLE: f64 = 1.5;

/// The smallest larger cache that is worth more than faster storage; else the largest that fits in the memory of the
/// cheapest choice and saves time. `None` if there is none, or if the machine or the storage has no price.
pub fn memory_first(
    catalogue: &Catalogue,
    terms: &PriceTerms,
    search: &Search,
    sizing: &Sizing,
    misses: Option<&MissCurve>,
) -> Option<MemoryFirst> {
    let account = sizing.required.account.as_deref();
    let first = find_cheapest(sizing)?;
    let machine = first.machine.as_ref()?;
    let present = first.total()?;
    let shape = machine.offer.machine_shape()?.memory?;
    let required = sizing.required.compute.memory.unwrap_or(shape);
    // Below the least of a machine for a database a larger cache needs no larger machine.
    let needed = sizing.required.memory_of_database().unwrap_or(required);
    let waiting = first.waiting(&sizing.required.points[0])?;
    let instances = sizing.required.platform.cluster.as_ref().map_or(1, |cluster| cluster.covered as usize);
    let (by, steps) = list_steps(account, misses).or_else(|| all_data(sizing, account))?;
    let search = Search { products: vec![first.offer.product().name().to_owned()], ..search.clone() };
    let larger = |(bytes, more_bytes, reads): CacheStep| {
        let saved = estimate_saved_share(&sizing.required, first, reads);
        if saved.is_some_and(|saved| saved < NOTABLE) {
            return None;
        }
        let mut target = with_reads(&sizing.required, by, reads);
        target.compute.memory = Some(required.max(Bytes::new(needed.get() + (more_bytes / instances as f64) as u64)));
        let choice = find_cheapest(&size(catalogue, &target, terms, &search))?.clone();
        let total = choice.total()?;
        // A given machine is chosen even if it has less memory.
        choice.machine.as_ref()?.offer.machine_shape().filter(|shape| target.compute.fits(None, shape.memory))?;
        let left = choice.waiting(&target.points[0])?;
        let storage = alternative(sizing, first, left);
        let found = MemoryFirst {
            by,
            bytes,
            more_bytes,
            reads,
            saved,
            choice,
            total,
            present,
            is_paid: total == present,
            waiting: [waiting, left],
            storage,
        };
        found.is_worth_it().then_some(found)
    };
    let paid = |&(bytes, more_bytes, reads): &CacheStep| {
        let with_cache = needed.get() as f64 + more_bytes / instances as f64 / MEMORY_SHARE;
        let saved = estimate_saved_share(&sizing.required, first, reads).filter(|saved| *saved >= WORTH_SETTING)?;
        let left = first.waiting(&with_reads(&sizing.required, by, reads).points[0])?;
        (with_cache <= shape.get() as f64).then(|| MemoryFirst {
            by,
            bytes,
            more_bytes,
            reads,
            saved: Some(saved),
            choice: first.clone(),
            total: present,
            present,
            is_paid: true,
            waiting: [waiting, left],
            storage: None,
        })
    };
    let larger_steps: Vec<CacheStep> = steps.into_iter().filter(|(_, more_bytes, _)| *more_bytes > 0.0).collect();
    larger_steps.iter().copied().find_map(larger).or_else(|| larger_steps.iter().rev().find_map(paid))
}

/// The cheapest choice with a price; the best of those that are slower than today, if there is no other.
fn find_cheapest(sizing: &Sizing) -> Option<&Choice> {
    let priced = sizing.choices.iter().find(|choice| choice.total().is_some());
    priced.or_else(|| sizing.best_slower().filter(|choice| choice.total().is_some()))
}

impl MemoryFirst {
    fn is_worth_it(&self) -> bool {
        let [before, after] = self.waiting;
        let is_notable = self.saved.map_or(before - after >= SESSIONS, |saved| saved >= NOTABLE);
        let is_cheaper = match &self.storage {
            Some((_, price)) => self.total.millionths < price.millionths,
            None => self.total.millionths as f64 <= self.present.millionths as f64 * AFFORDABLE,
        };
        after <= before * LEFT && is_notable && is_cheaper
    }
}

/// A cache of all data, for inputs without an estimate.
fn all_data(sizing: &Sizing, account: Option<&Account>) -> Option<(EstimateSource, Vec<CacheStep>)> {
    let capacity = sizing.required.capacity.get() as f64 * (1.0 - sizing.required.free);
    let stated = account.and_then(|account| account.stored_bytes).unwrap_or(0.0);
    let stored = capacity.max(stated);
    let cached = account.and_then(|account| account.cache_bytes).unwrap_or(0.0);
    (stored > cached).then(|| (EstimateSource::AllData, vec![(stored, stored - cached, 0.0)]))
}

/// Share of the database's time in the reads that the larger cache saves, on the storage of a choice.
fn estimate_saved_share(required: &SizingRequirements, choice: &Choice, reads: f64) -> Option<f64> {
    let effect = required.effect(&choice.usual)?;
    let cached: Vec<f64> = effect
        .parts
        .iter()
        .filter(|part| matches!(part.class, Class::RandomRead | Class::Read))
        .map(|part| part.after_s)
        .collect();
    let saved_s = cached.iter().sum::<f64>() * (1.0 - reads);
    (!cached.is_empty()).then_some(saved_s / effect.before_s)
}

/// The cheapest configuration of the provider with at most these waiting sessions.
fn alternative(sizing: &Sizing, first: &Choice, waiting: f64) -> Option<(Choice, Money)> {
    let point = &sizing.required.points[0];
    let is_own = |choice: &&Choice| {
        choice.offer.product().name().split('/').next() == first.offer.product().name().split('/').next()
    };
    let own = sizing.providers.iter().flat_map(|provider| &provider.choices).filter(is_own);
    let mut enough = own.filter(|choice| choice.waiting(point).is_some_and(|own| own <= waiting));
    let choice = enough.next()?;
    Some((choice.clone(), choice.total()?))
}

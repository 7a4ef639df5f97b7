//! Limits of configurations as integers of the replay.

use std::collections::HashMap;

use anyhow::{Result, bail, ensure};
use plimsoll_catalogue::{Access, Catalogue, Ceiling, Kinds, Offer, PriceTerms};
use plimsoll_fleet_engine::{Counts, LevelLimits, MAX_CREDIT_LIMITS, ReplayLimit, Rules};

/// Limits of an offer of a single volume and of its machine, if it has one, for operations at random addresses.
pub fn limits_of(offer: &Offer) -> Result<Vec<ReplayLimit>> {
    let name = offer.short();
    ensure!(offer.config.wraps.is_empty(), "{name} has several volumes: state the configuration of each volume");
    let mut limits = Vec::new();
    for ceiling in offer.ceilings.iter().filter(|ceiling| ceiling.access != Access::Sequential) {
        ensure!(!ceiling.added, "{name} has a limit on the time of operations, which a replay does not have");
        limits.extend(integer_limits(ceiling));
    }
    if limits.iter().any(|limit| limit.rate_milli <= 0) {
        bail!("{name} has a limit of zero");
    }
    let with_credits = limits.iter().filter(|limit| limit.credits_milli.is_some()).count();
    ensure!(
        with_credits <= MAX_CREDIT_LIMITS,
        "{name} has {with_credits} limits with credits, a replay has at most {MAX_CREDIT_LIMITS}"
    );
    Ok(limits)
}

fn integer_limits(ceiling: &Ceiling) -> impl Iterator<Item = ReplayLimit> {
    let milli = |value: f64| (value * 1_000.0).round() as i64;
    let kinds = match ceiling.kinds {
        Kinds::All => plimsoll_fleet_engine::Kinds::All,
        Kinds::Read => plimsoll_fleet_engine::Kinds::Read,
        Kinds::Write => plimsoll_fleet_engine::Kinds::Write,
    };
    let unit_bytes = ceiling.unit.map_or(0, |unit| unit.get() as i64);
    let limit = |counts, rate: Option<f64>, credits: Option<f64>| {
        Some(ReplayLimit { kinds, counts, rate_milli: milli(rate?), credits_milli: credits.map(milli) })
    };
    let operations = limit(Counts::Operations { unit_bytes }, ceiling.iops, ceiling.credits);
    operations.into_iter().chain(limit(Counts::Bytes, ceiling.bytes_per_second, ceiling.credit_bytes))
}

/// Rules in the making: equal configurations share their limits.
#[derive(Debug, Default)]
pub struct RulesBuilder {
    rules: Rules,
    sets: HashMap<LevelLimits, u32>,
}

impl RulesBuilder {
    /// Adds the limits of the next volume; none if they are empty.
    pub fn add(&mut self, limits: LevelLimits) {
        let set = self.set_of(limits);
        self.rules.of_volume.push(set);
    }

    /// Replaces the limits of a volume.
    pub fn replace(&mut self, volume: u32, limits: LevelLimits) {
        let set = self.set_of(limits);
        if let Some(present) = self.rules.of_volume.get_mut(volume as usize) {
            *present = set;
        }
    }

    /// Number of a set of limits in [`Rules::of_volume`].
    fn set_of(&mut self, limits: LevelLimits) -> u32 {
        if limits.levels.iter().all(Vec::is_empty) {
            return 0;
        }
        let next = self.rules.sets.len() as u32 + 1;
        *self.sets.entry(limits).or_insert_with_key(|limits| {
            self.rules.sets.push(limits.clone());
            next
        })
    }

    /// The rules so far.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The rules.
    pub fn finish(self) -> Rules {
        self.rules
    }
}

/// Offers in memory, of several kilobytes each.
const MAX_OFFERS: usize = 1_000;

/// Offers by configuration and region.
pub struct Offers<'a> {
    catalogue: &'a Catalogue,
    found: HashMap<(String, String), Result<Offer, String>>,
}

impl<'a> Offers<'a> {
    /// Of a catalogue.
    pub fn new(catalogue: &'a Catalogue) -> Self {
        Self { catalogue, found: HashMap::new() }
    }

    /// The offer of a configuration, or the reason why there is none.
    pub fn get(&mut self, config: &str, terms: &PriceTerms) -> Result<&Offer, String> {
        let key = (config.to_owned(), terms.region.clone().unwrap_or_default());
        let find = || {
            let config = config.parse().map_err(|error: plimsoll_catalogue::ConfigError| error.to_string())?;
            self.catalogue.offer(&config, terms).map_err(|refusal| refusal.to_string())
        };
        if self.found.len() >= MAX_OFFERS {
            self.found.clear();
        }
        self.found.entry(key).or_insert_with(find).as_ref().map_err(String::clone)
    }
}

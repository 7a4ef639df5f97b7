//! Limits of configurations as integers of the replay.

use std::collections::HashMap;

use anyhow::{Result, bail, ensure};
use plimsoll_catalogue::{Access, Catalogue, Ceiling, Kinds, Offer, PriceTerms};
use plimsoll_fleet_engine::{Counts, LevelLimits, MAX_CREDIT_LIMITS, ReplayLimit};

use crate::terms::TermOptions;
use crate::volumes::FleetVolume;

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

/// Limits of a replay; none for offers without them.
pub fn limits_or_none(offer: Option<&Offer>) -> LevelLimits {
    offer.and_then(|offer| limits_of(offer).ok()).map_or_else(LevelLimits::default, LevelLimits::fixed)
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

    /// Today's offer of a volume, or the reason why there is none.
    pub fn of_volume(&mut self, volume: &FleetVolume, terms: &TermOptions) -> Result<Result<&Offer, String>> {
        if volume.config.is_empty() {
            return Ok(Err("the inventory has no configuration: add it to volumes.csv".to_owned()));
        }
        Ok(self.get(&volume.config, &terms.price_terms(&volume.region)?))
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

//! Comparison of every product with the design point: the smallest sufficient configurations are priced, simulated and
//! ranked.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_catalogue::{Catalogue, Config, ConfigRefusal, Price, PriceTerms, Product};

use super::assess::{Assessed, Assessor};
use super::attempt::{Attempt, Found};
use super::candidates::{Candidate, find_candidates};
use super::frontier::{by_rank, frontier, of_providers};
use super::machines::Fleet;
use super::pool::map;
use super::search::{Search, provider};
use super::{Choice, Exclusion, Rejection, RejectionReason, Sizing, SizingRequirements};
use crate::climb::NoConfiguration;
use crate::matching::price_of;

/// Headroom factors tried if the objective is missed: higher ceilings have shorter queues.
const ROOMIER: [f64; 3] = [1.0, 1.15, 1.4];
/// Maximum number of higher rates, each twice the previous, while a ceiling binds.
const DOUBLINGS: i32 = 12;

/// Finds the cheapest suitable configuration of every product.
pub fn size(catalogue: &Catalogue, required: &SizingRequirements, terms: &PriceTerms, search: &Search) -> Sizing {
    let mut assessor = Assessor::new(catalogue, terms, required);
    let of_cluster = search.without_machine(catalogue);
    let search = if required.instances() > 1 {
        // Each instance has a machine of its own.
        assessor.machine = search.machine.as_ref();
        &of_cluster
    } else {
        search
    };
    assessor.given = Some(search);
    assessor.trials = Arc::clone(&search.trials);
    let products: Vec<&Product> = catalogue.products().filter(|product| search.has(product)).collect();
    let mut found = Found::default();
    for of_product in map(&*search.pool, &products, |product| best_of(&assessor, search, product)) {
        found.merge(of_product);
    }
    let Found { mut choices, mut nearly, mut slower, mut rejected, levels } = found;
    for ranked in [&mut choices, &mut nearly, &mut slower] {
        ranked.sort_by(by_rank);
    }
    rejected.sort_by(|a, b| b.reason.share().total_cmp(&a.reason.share()));
    Sizing {
        required: required.clone(),
        choices,
        providers: of_providers(&levels, &required.points[0]),
        frontier: frontier(levels.met, &required.points[0]),
        nearly,
        slower,
        layouts: Vec::new(),
        rejected,
        fewer_processors: None,
        more_processors: None,
        wider: None,
        less_headroom: None,
        uncapped: None,
        constant_load: None,
        without_scans: None,
        hits: None,
        present: None,
        evaluated: assessor.requirements.evaluated(),
    }
}

/// The lowest monthly price of configurations with sufficient limits and their machine, in units of the currency, whatever their
/// response times; `None` if none has a price.
pub(super) fn lowest_total(
    catalogue: &Catalogue,
    terms: &PriceTerms,
    required: &SizingRequirements,
    search: &Search,
) -> Option<f64> {
    let assessor = Assessor::new(catalogue, terms, required);
    let products = catalogue.products().filter(|product| search.has(product));
    let found = products.filter_map(|product| find_candidates(&assessor, search, product, &[1.0]).ok());
    let total = |candidate: Candidate| {
        let machine = match Fleet::of(&assessor, &candidate.offer) {
            Some(fleet) => fleet.cheapest(&assessor, &candidate.offer).ok()?.monthly?.as_f64(),
            None => 0.0,
        };
        candidate.price.as_ref()?.total().map(|storage| storage.as_f64() + machine)
    };
    found.flatten().filter_map(total).reduce(f64::min)
}

/// The cheapest configuration of a product, and the cheapest of each of its levels.
fn best_of(assessor: &Assessor<'_>, search: &Search, product: &Product) -> Found {
    if let Some(exclusion) = search.excludes(product, &assessor.required.platform) {
        let reason = RejectionReason::Excluded(exclusion);
        return Found::rejected(Rejection { name: product.name().to_owned(), reason });
    }
    match find_candidates(assessor, search, product, &ROOMIER) {
        Ok(found) => tried(Attempt::new(assessor), search, product, found).finish(product),
        Err(rejection) => Found::rejected(rejection),
    }
}

/// Tries the candidates of a product, and roomier ones while a ceiling binds and none meets the objectives.
fn tried<'a>(mut attempt: Attempt<'a>, search: &Search, product: &Product, found: Vec<Candidate>) -> Attempt<'a> {
    attempt.try_all(found);
    let assessor = attempt.assessor;
    // Powers of two: the same rates for all demands, so that a lower demand does not miss those of a higher one.
    let rate = assessor.required.points[0].iops() * assessor.required.room();
    let start = (ROOMIER[ROOMIER.len() - 1] * rate).log2().floor() as i32;
    for power in 1..=DOUBLINGS {
        if !attempt.may_improve() {
            break;
        }
        let Ok(found) = find_candidates(assessor, search, product, &[f64::from(start + power).exp2() / rate]) else {
            break;
        };
        attempt.try_all(found);
    }
    attempt.refine(|over| find_candidates(assessor, search, product, &[over]).unwrap_or_default());
    attempt
}

/// The choice of each provider with the cheapest storage below a monthly price, which `below` returns for each
/// provider; `None` excludes the provider. Candidates that are not cheaper than the best one so far are not simulated.
pub(super) fn cheapest_of_each(
    assessor: &Assessor<'_>,
    search: &Search,
    below: impl Fn(&str) -> Option<f64>,
) -> BTreeMap<String, Choice> {
    // A managed database keeps all of its data on its own volumes.
    let is_allowed = |product: &&Product| {
        product.managed().is_none() && search.excludes(product, &assessor.required.platform).is_none()
    };
    let mut by_provider: BTreeMap<&str, Vec<&Product>> = BTreeMap::new();
    for product in assessor.catalogue.products().filter(|product| search.has(product)).filter(is_allowed) {
        by_provider.entry(provider(product.name())).or_default().push(product);
    }
    let limited: Vec<(&str, Vec<&Product>, f64)> = by_provider
        .into_iter()
        .filter_map(|(provider, products)| Some((provider, products, below(provider)?)))
        .collect();
    let best = map(&*search.pool, &limited, |(provider, products, below)| {
        Some(((*provider).to_owned(), cheapest_of(assessor, search, products, *below)?))
    });
    best.into_iter().flatten().collect()
}

/// The choice with the cheapest storage among products, below a monthly price.
fn cheapest_of(assessor: &Assessor<'_>, search: &Search, products: &[&Product], below: f64) -> Option<Choice> {
    let mut found: Vec<(&Product, Vec<Candidate>)> = Vec::new();
    for product in products {
        let Ok(mut candidates) = find_candidates(assessor, search, product, &ROOMIER) else { continue };
        candidates
            .retain(|candidate| candidate.price.as_ref().is_some_and(Price::is_complete) && candidate.cost < below);
        if !candidates.is_empty() {
            found.push((product, candidates));
        }
    }
    found.sort_by(|a, b| a.1[0].cost.total_cmp(&b.1[0].cost));
    let rank = |choice: &Choice| (choice.has_unverified_price(), storage_price(choice).unwrap_or(f64::INFINITY));
    let mut best: Option<Choice> = None;
    for (product, candidates) in found {
        let limit = best.as_ref().filter(|existing| !existing.has_unverified_price()).and_then(storage_price);
        let below = limit.unwrap_or(below);
        if candidates[0].cost >= below {
            continue;
        }
        let attempt = tried(Attempt::for_cheapest(assessor, below), search, product, candidates);
        let Some(choice) = attempt.cheapest() else { continue };
        if best.as_ref().is_none_or(|existing| rank(choice) < rank(existing)) {
            best = Some(choice.clone());
        }
    }
    best
}

/// Monthly price of the storage in units of the currency.
pub(super) fn storage_price(choice: &Choice) -> Option<f64> {
    Some(choice.price.as_ref()?.total()?.as_f64())
}

/// Assesses a given configuration, whether it meets the objectives or not.
pub fn judge(
    catalogue: &Catalogue,
    config: &Config,
    required: &SizingRequirements,
    terms: &PriceTerms,
) -> Result<Choice, Rejection> {
    let assessor = Assessor::new(catalogue, terms, required);
    let rejected = |reason| Rejection { name: config.to_string(), reason };
    let refused =
        |refusal: ConfigRefusal| rejected(RejectionReason::NoConfiguration(NoConfiguration::Refused(refusal.into())));
    let offer = catalogue.offer(config, terms).map_err(refused)?;
    if offer.capacity < required.capacity {
        let exclusion = Exclusion::Capacity(offer.capacity, required.capacity);
        return Err(rejected(RejectionReason::Excluded(exclusion)));
    }
    if let Some(tight) = assessor.requirements.tightest(&offer).filter(|tight| !tight.allows(required.room())) {
        return Err(Rejection {
            name: offer.short().to_string(),
            reason: RejectionReason::Ceiling(assessor.limit(&offer, &tight)),
        });
    }
    let price = price_of(&offer, terms);
    let mut choice = match assessor.assess(&offer, price) {
        Assessed::Meets(choice) | Assessed::Misses { choice, .. } => *choice,
        Assessed::Fails(rejection) => return Err(rejection),
    };
    let fleet = Fleet::of(&assessor, &choice.offer);
    choice.machine = fleet.and_then(|fleet| fleet.cheapest(&assessor, &choice.offer).ok());
    Ok(choice)
}

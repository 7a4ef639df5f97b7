//! Comparison of every product with the design point: the smallest sufficient configurations are priced, simulated and
//! ranked.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use plimsoll_catalogue::{Catalogue, Config, Offer, Part, Price, PriceTerms, Product, ProductKind};
use thiserror::Error;

use super::assess::{Assessed, Assessor, Attempt};
use super::frontier::{frontier, of_providers};
use super::machines::Fleet;
use super::product_facts::is_shareable;
use super::{Choice, Rejection, RejectionReason, Sizing, Wanted};
use crate::climb::{ClimbResult, Goal, of_width};
use crate::matching::price_of;

/// Tried widths of stripes.
const WIDTHS: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// Default maximum width of stripes.
const DEFAULT_WIDTH: u32 = 4;
/// Headroom factors tried if the objective is missed: higher ceilings have shorter queues.
const ROOMIER: [f64; 3] = [1.0, 1.15, 1.4];
/// Further factors, each relative to the previous headroom, while a ceiling binds.
const ROOMIEST: [f64; 4] = [2.0; 4];
/// Seconds of a month in billing by operations.
const MONTH: f64 = 730.0 * 3600.0;

/// Scope of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// Names of products; empty for all ranked products.
    pub products: Vec<String>,
    /// The machine for the volumes; restricts the search to its provider.
    pub machine: Option<Part>,
    /// Maximum width of stripes; 1 for no stripes.
    pub widest: u32,
}

impl Default for Search {
    /// All ranked products, striped over at most 4 volumes.
    fn default() -> Self {
        Self { products: Vec::new(), machine: None, widest: DEFAULT_WIDTH }
    }
}

/// A name that is neither a provider nor a product.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the catalogue has no provider or product {name:?}: its providers are {}{}", known.join(", "), suggestion(nearest))]
pub struct UnknownProvider {
    /// The name.
    pub name: String,
    /// Similar names.
    pub nearest: Vec<String>,
    /// The known providers.
    pub known: Vec<String>,
}

fn suggestion(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; did you mean {}?", plimsoll_catalogue::one_of(nearest)) }
}

/// The part of a product name before the slash.
pub(super) fn provider(name: &str) -> &str {
    name.split_once('/').map_or(name, |(provider, _)| provider)
}

impl Search {
    /// Searches the given providers, with all their ranked products, and products. All ranked products if `names` is
    /// empty.
    pub fn among(catalogue: &Catalogue, names: &[String]) -> Result<Self, UnknownProvider> {
        let ranked = || catalogue.products().filter(|product| is_storage(product) && product.ranked());
        let mut products = Vec::new();
        for name in names {
            let lower = name.to_lowercase();
            let of_provider: Vec<String> = ranked()
                .filter(|product| provider(product.name()) == lower)
                .map(|product| product.name().into())
                .collect();
            if !of_provider.is_empty() {
                products.extend(of_provider);
                continue;
            }
            match catalogue.find(name) {
                Ok(product) if is_storage(product) => products.push(product.name().into()),
                _ => return Err(unknown(catalogue, name)),
            }
        }
        products.sort();
        products.dedup();
        Ok(Self { products, ..Self::default() })
    }

    /// The same products without the machine.
    pub(super) fn without_machine(&self, catalogue: &Catalogue) -> Self {
        if self.machine.is_none() {
            return self.clone();
        }
        let products = catalogue.products().filter(|product| self.has(product)).map(|product| product.name().into());
        Self { products: products.collect(), machine: None, ..*self }
    }

    fn has(&self, product: &Product) -> bool {
        let named = || self.products.iter().any(|name| name == product.name());
        let attachable = |machine: &Part| {
            product.kind() == ProductKind::Volume
                && provider(product.name()) == provider(&machine.product.to_lowercase())
        };
        is_storage(product)
            && (if self.products.is_empty() { product.ranked() } else { named() })
            && self.machine.as_ref().is_none_or(attachable)
    }
}

fn is_storage(product: &Product) -> bool {
    product.kind() != ProductKind::Machine
}

fn unknown(catalogue: &Catalogue, name: &str) -> UnknownProvider {
    let ranked = || catalogue.products().filter(|product| is_storage(product) && product.ranked());
    let mut known: Vec<String> = ranked().map(|product| provider(product.name()).to_owned()).collect();
    known.sort();
    known.dedup();
    let names = known.iter().map(String::as_str).chain(ranked().map(Product::name));
    UnknownProvider { name: name.to_owned(), nearest: plimsoll_catalogue::nearest(name, names), known: known.clone() }
}

/// Finds the cheapest suitable configuration of every product.
pub fn size(catalogue: &Catalogue, wanted: &Wanted, terms: &PriceTerms, search: &Search) -> Sizing {
    let assessor = Assessor::new(catalogue, terms, wanted);
    let mut sizing = Sizing {
        wanted: wanted.clone(),
        choices: Vec::new(),
        frontier: Vec::new(),
        providers: Vec::new(),
        nearly: Vec::new(),
        slower: Vec::new(),
        layouts: Vec::new(),
        rejected: Vec::new(),
        evaluated: 0,
    };
    for product in catalogue.products().filter(|product| search.has(product)) {
        best_of(&assessor, search, product, &mut sizing);
    }
    let levels = std::mem::take(&mut sizing.frontier);
    sizing.providers = of_providers(&levels, &sizing.slower, &wanted.points[0]);
    sizing.frontier = frontier(levels, &wanted.points[0]);
    for ranked in [&mut sizing.choices, &mut sizing.nearly, &mut sizing.slower] {
        ranked.sort_by(by_cost);
    }
    sizing.rejected.sort_by(|a, b| b.reason.share().total_cmp(&a.reason.share()));
    sizing.evaluated = assessor.requirements.evaluated();
    sizing
}

/// Adds the cheapest configuration of a product to the choices, the near misses or the rejections, and the cheapest of
/// each level to the frontier.
fn best_of(assessor: &Assessor<'_>, search: &Search, product: &Product, sizing: &mut Sizing) {
    if assessor.wanted.platform.cluster.is_some() && !is_shareable(product) {
        let reason = "only a single machine can write to it, while RAC shares volumes among instances";
        return sizing
            .rejected
            .push(Rejection { name: product.name().to_owned(), reason: RejectionReason::Refused(reason.to_owned()) });
    }
    let mut attempt = Attempt::new(assessor);
    match cheapest(assessor, search, product, &ROOMIER) {
        Ok(candidates) => attempt.try_all(candidates),
        Err(rejection) => return sizing.rejected.push(rejection),
    }
    let mut roomier = ROOMIEST.into_iter();
    while let (Some(over), Some(times)) = (attempt.held_at(), roomier.next()) {
        let Ok(candidates) = cheapest(assessor, search, product, &[over * times]) else { break };
        attempt.try_all(candidates);
    }
    attempt.finish(product, sizing);
}

pub(super) fn by_cost(a: &Choice, b: &Choice) -> Ordering {
    a.cost().total_cmp(&b.cost())
}

/// Assesses a given configuration, whether it meets the objectives or not.
pub fn judge(catalogue: &Catalogue, config: &Config, wanted: &Wanted, terms: &PriceTerms) -> Result<Choice, Rejection> {
    let assessor = Assessor::new(catalogue, terms, wanted);
    let refused = |reason: String| Rejection { name: config.to_string(), reason: RejectionReason::Refused(reason) };
    let offer = catalogue.offer(config, terms).map_err(|refusal| refused(refusal.to_string()))?;
    if offer.capacity < wanted.capacity {
        return Err(refused(format!("it holds {} of {}", offer.capacity, wanted.capacity)));
    }
    if let Some(tight) = assessor.requirements.tightest(&offer).filter(|tight| !tight.allows(wanted.room())) {
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

/// An offer with sufficient ceilings.
pub(super) struct Candidate {
    pub(super) offer: Offer,
    pub(super) price: Option<Price>,
    /// Index of the product's level, such as a tier, for which it was found.
    pub(super) level: usize,
    /// Sort key; unpriced offers come last, by size.
    cost: f64,
}

/// The cheapest sufficient offers of a product for each headroom and level, by price.
fn cheapest(
    assessor: &Assessor<'_>,
    search: &Search,
    product: &Product,
    rooms: &[f64],
) -> Result<Vec<Candidate>, Rejection> {
    let Assessor { catalogue, terms, wanted, requirements, .. } = assessor;
    let rooms: Vec<f64> = rooms.iter().map(|room| room * wanted.room()).collect();
    let goal = Goal {
        catalogue,
        terms,
        requirements,
        capacity: wanted.capacity,
        rooms: &rooms,
        machine: search.machine.as_ref(),
        monthly_operations: Some(wanted.mean_iops * MONTH),
    };
    let widest = if product.kind() == ProductKind::Server { 1 } else { search.widest.max(1) };
    let (mut all, mut reason) = (ClimbResult::default(), None);
    for members in WIDTHS.into_iter().filter(|members| *members <= widest) {
        match of_width(&goal, product, members) {
            Ok(found) => {
                all.offers.extend(found.offers);
                let nearer = |tight: f64| all.nearest.as_ref().is_none_or(|(nearest, _)| tight > nearest.over);
                if found.nearest.as_ref().is_some_and(|(tight, _)| nearer(tight.over)) {
                    all.nearest = found.nearest;
                }
            }
            Err(refused) => reason = reason.or(Some(refused)),
        }
    }
    let mut cheapest: BTreeMap<(usize, usize), Candidate> = BTreeMap::new();
    for (number, offer) in all.offers {
        let price = price_of(&offer, terms);
        let cost = price.as_ref().map_or_else(|| 1e18 + offer.capacity.get() as f64, |price| price.monthly.as_f64());
        if cheapest.get(&number).is_none_or(|best| cost < best.cost) {
            cheapest.insert(number, Candidate { offer, price, level: number.1, cost });
        }
    }
    if cheapest.is_empty() {
        let refused = || Rejection {
            name: product.name().to_owned(),
            reason: RejectionReason::Refused(reason.unwrap_or_else(|| "it has no valid configuration".into())),
        };
        return Err(all.nearest.map_or_else(refused, |(tight, offer)| Rejection {
            name: offer.short().to_string(),
            reason: RejectionReason::Ceiling(assessor.limit(&offer, &tight)),
        }));
    }
    let mut seen = BTreeSet::new();
    let mut candidates: Vec<Candidate> = cheapest.into_values().collect();
    candidates.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    candidates.retain(|candidate| seen.insert(candidate.offer.config.to_string()));
    Ok(candidates)
}

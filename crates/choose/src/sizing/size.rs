//! Every product against what is wanted: the least configurations that suffice, priced, offered the load, ranked.

use std::cmp::Ordering::{self, Equal};
use std::collections::{BTreeMap, BTreeSet};

use plimsoll_catalogue::{Catalogue, Config, Offer, Part, Price, Product, ProductKind, Terms};
use thiserror::Error;

use super::assess::{Assessed, Assessor, Attempt};
use super::machines::Fleet;
use super::product_facts::is_shareable;
use super::{Choice, Rejection, Sizing, Wanted, Why};
use crate::climb::{Found, Goal, of_width};
use crate::matching::price_of;

/// Widths of stripes: one volume, and several as one.
const WIDTHS: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// Wider stripes are looked at only when somebody asks for them.
const WIDEST: u32 = 4;
/// Where the objective is missed, ceilings so many times as high are tried: queues before them get shorter.
const ROOMIER: [f64; 3] = [1.0, 1.15, 1.4];
/// And then twice as high as before, as long as a ceiling is what holds it.
const ROOMIEST: [f64; 4] = [2.0; 4];
/// What is on the frontier lets sessions wait at most so many times as long as what is cheaper.
const FASTER: f64 = 0.95;
/// Seconds of a month, as vendors count operations of it.
const MONTH: f64 = 730.0 * 3600.0;

/// Where to look.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// Names of products; empty for all that are ranked.
    pub products: Vec<String>,
    /// The machine that volumes are attached to. Only its provider's volumes are looked at then.
    pub machine: Option<Part>,
    /// So many volumes may be one stripe, at most; 1 for no stripes.
    pub widest: u32,
}

impl Default for Search {
    /// All that is ranked, striped over 4 volumes at most.
    fn default() -> Self {
        Self { products: Vec::new(), machine: None, widest: WIDEST }
    }
}

/// A name that is neither a provider nor a product.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the catalogue has no provider or product {name:?}: its providers are {}{}", known.join(", "), meant(nearest))]
pub struct UnknownProvider {
    /// The name.
    pub name: String,
    /// Names that are near to it.
    pub nearest: Vec<String>,
    /// The providers.
    pub known: Vec<String>,
}

fn meant(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; did you mean {}?", plimsoll_catalogue::one_of(nearest)) }
}

/// The word before the slash.
pub(super) fn provider(name: &str) -> &str {
    name.split_once('/').map_or(name, |(provider, _)| provider)
}

impl Search {
    /// Looks at what these names mean: providers, with all their ranked products, or products. All of them without any.
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

/// Finds what carries `wanted`: of every product the cheapest configuration that does.
pub fn size(catalogue: &Catalogue, wanted: &Wanted, terms: &Terms, search: &Search) -> Sizing {
    let assessor = Assessor::new(catalogue, terms, wanted);
    let mut sizing = Sizing {
        wanted: wanted.clone(),
        choices: Vec::new(),
        frontier: Vec::new(),
        nearly: Vec::new(),
        slower: Vec::new(),
        layouts: Vec::new(),
        rejected: Vec::new(),
        looked_at: 0,
    };
    for product in catalogue.products().filter(|product| search.has(product)) {
        best_of(&assessor, search, product, &mut sizing);
    }
    keep_frontier(&mut sizing.frontier, wanted);
    for ranked in [&mut sizing.choices, &mut sizing.nearly, &mut sizing.slower] {
        ranked.sort_by(by_cost);
    }
    sizing.rejected.sort_by(|a, b| b.why.share().total_cmp(&a.why.share()));
    sizing.looked_at = assessor.asked.looked_at();
    sizing
}

/// Adds the cheapest configuration of a product to the choices, those that miss an objective, or the rejections, and the
/// cheapest of each level to the frontier's list.
fn best_of(assessor: &Assessor<'_>, search: &Search, product: &Product, sizing: &mut Sizing) {
    if assessor.wanted.platform.cluster.is_some() && is_shareable(product) == Some(false) {
        let why = "one machine at a time can write it, and RAC shares its volumes among instances";
        return sizing.rejected.push(Rejection { name: product.name().to_owned(), why: Why::Refused(why.to_owned()) });
    }
    let mut attempt = Attempt::new(assessor);
    match least(assessor, search, product, &ROOMIER) {
        Ok(candidates) => attempt.tries(candidates),
        Err(rejection) => return sizing.rejected.push(rejection),
    }
    let mut roomier = ROOMIEST.into_iter();
    while let (Some(over), Some(times)) = (attempt.held_at(), roomier.next()) {
        let Ok(candidates) = least(assessor, search, product, &[over * times]) else { break };
        attempt.tries(candidates);
    }
    attempt.finish(product, sizing);
}

/// Leaves those with a price that let sessions wait less, by a twentieth, than all that are cheaper.
fn keep_frontier(choices: &mut Vec<Choice>, wanted: &Wanted) {
    let waiting = |choice: &Choice| choice.waiting(&wanted.points[0]);
    choices.retain(|choice| choice.price.is_some() && waiting(choice).is_some());
    choices.sort_by(|a, b| by_cost(a, b).then_with(|| waiting(a).partial_cmp(&waiting(b)).unwrap_or(Equal)));
    let mut least = f64::INFINITY;
    choices.retain(|choice| {
        let better = waiting(choice).filter(|waiting| *waiting < least * FASTER);
        least = better.unwrap_or(least);
        better.is_some()
    });
}

pub(super) fn by_cost(a: &Choice, b: &Choice) -> Ordering {
    a.cost().total_cmp(&b.cost())
}

/// Holds one configuration against what is wanted, whether it meets the objective or not.
pub fn judge(catalogue: &Catalogue, config: &Config, wanted: &Wanted, terms: &Terms) -> Result<Choice, Rejection> {
    let assessor = Assessor::new(catalogue, terms, wanted);
    let refused = |why: String| Rejection { name: config.to_string(), why: Why::Refused(why) };
    let offer = catalogue.offer(config, terms).map_err(|refusal| refused(refusal.to_string()))?;
    if offer.capacity < wanted.capacity {
        return Err(refused(format!("it holds {} of {}", offer.capacity, wanted.capacity)));
    }
    if let Some(tight) = assessor.asked.tightest(&offer).filter(|tight| !tight.allows(wanted.room())) {
        return Err(Rejection { name: offer.short().to_string(), why: Why::Ceiling(assessor.limit(&offer, &tight)) });
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

/// An offer whose ceilings suffice.
pub(super) struct Candidate {
    pub(super) offer: Offer,
    pub(super) price: Option<Price>,
    /// Number of the product's level, such as a tier, that it was looked for with.
    pub(super) level: usize,
    /// For ordering: what has no price comes last, the smaller first.
    cost: f64,
}

/// The cheapest offers of a product that suffice, one for each room and level, the cheapest first.
fn least(
    assessor: &Assessor<'_>,
    search: &Search,
    product: &Product,
    rooms: &[f64],
) -> Result<Vec<Candidate>, Rejection> {
    let Assessor { catalogue, terms, wanted, asked, .. } = assessor;
    let rooms: Vec<f64> = rooms.iter().map(|room| room * wanted.room()).collect();
    let goal = Goal {
        catalogue,
        terms,
        asked,
        capacity: wanted.capacity,
        rooms: &rooms,
        machine: search.machine.as_ref(),
        monthly_operations: Some(wanted.mean_iops * MONTH),
    };
    let widest = if product.kind() == ProductKind::Server { 1 } else { search.widest.max(1) };
    let (mut all, mut why) = (Found::default(), None);
    for members in WIDTHS.into_iter().filter(|members| *members <= widest) {
        match of_width(&goal, product, members) {
            Ok(found) => {
                all.offers.extend(found.offers);
                let nearer = |tight: f64| all.nearest.as_ref().is_none_or(|(nearest, _)| tight > nearest.over);
                if found.nearest.as_ref().is_some_and(|(tight, _)| nearer(tight.over)) {
                    all.nearest = found.nearest;
                }
            }
            Err(refused) => why = why.or(Some(refused)),
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
            why: Why::Refused(why.unwrap_or_else(|| "no configuration of it can be had".into())),
        };
        return Err(all.nearest.map_or_else(refused, |(tight, offer)| Rejection {
            name: offer.short().to_string(),
            why: Why::Ceiling(assessor.limit(&offer, &tight)),
        }));
    }
    let mut seen = BTreeSet::new();
    let mut candidates: Vec<Candidate> = cheapest.into_values().collect();
    candidates.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    candidates.retain(|candidate| seen.insert(candidate.offer.config.to_string()));
    Ok(candidates)
}

//! Configurations of a product with sufficient ceilings: the cheapest of each level and headroom, as a single
//! volume and as a stripe.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_catalogue::{Chosen, Offer, OptionValue, Price, Product, ProductKind};

use super::assess::{Assessor, SECTOR};
use super::search::Search;
use super::{Exclusion, Rejection, RejectionReason};
use crate::candidate::{FEW, OptionValues};
use crate::climb::{ClimbResult, Goal, of_width};
use crate::matching::price_of;

/// Tried widths of stripes.
const WIDTHS: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// Added to prices without a part: they come after all complete ones.
const PARTIAL_COST: f64 = 1e15;
/// The same for unpriced offers.
const UNKNOWN_COST: f64 = 1e18;
/// Seconds of a month in billing by operations.
const MONTH: f64 = 730.0 * 3600.0;

/// Configurations among which the cheapest is chosen. A single volume competes with single volumes only: a stripe is
/// often cheaper, but it is slower for operations that it splits, more is lost with it, and it must be administered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Group {
    /// Index of the product's level, such as a tier.
    level: usize,
    is_striped: bool,
}

/// An offer with sufficient ceilings.
pub(super) struct Candidate {
    pub(super) offer: Offer,
    pub(super) price: Option<Price>,
    /// The group of which it is the cheapest at a headroom.
    pub(super) group: Group,
    /// Monthly price in units of the currency; a higher number without the price of a part, and a still higher one that
    /// grows with the size for unpriced offers.
    pub(super) cost: f64,
}

impl Candidate {
    pub(super) fn new(offer: Offer, group: Group, assessor: &Assessor<'_>) -> Self {
        let price = price_of(&offer, assessor.terms);
        let cost = match &price {
            Some(price) if price.is_complete() => price.monthly.as_f64(),
            Some(price) => PARTIAL_COST + price.monthly.as_f64(),
            None => UNKNOWN_COST + offer.capacity.get() as f64,
        };
        Self { offer, price, group, cost }
    }
}

/// True for the lowest value of a level with several values, such as the VPUs of a volume.
fn is_lowest_level(offer: &Offer) -> bool {
    let raises = |option: &Chosen| offer.ceilings.iter().any(|ceiling| ceiling.lift.contains(&option.name));
    let values = |option: &Chosen| Some(OptionValues::all(option)).filter(|values| (2..=FEW).contains(&values.count()));
    let levels = offer.options.iter().filter(|option| &*option.name != "size" && raises(option));
    let mut levels = levels.filter_map(|option| Some((option, values(option)?)));
    let present = |option: &Chosen| match option.value.as_ref()? {
        OptionValue::Number(value) => Some(format!("{value}")),
        OptionValue::Text(word) => Some(word.to_string()),
    };
    levels.any(|(option, values)| present(option).is_some_and(|present| present == values.value(1)))
}

/// True unless the instance class of a managed database is known to have less than the load needs.
fn fits(assessor: &Assessor<'_>, offer: &Offer) -> bool {
    let shape = offer.machine_shape();
    shape.is_none_or(|shape| assessor.required.compute.fits(shape.vcpus, shape.memory))
}

/// The reason why an offer with sufficient ceilings is no candidate.
fn find_exclusion(assessor: &Assessor<'_>, search: &Search, offer: &Offer) -> Option<Exclusion> {
    let product = offer.product();
    if offer.ceilings.is_empty() {
        return Some(Exclusion::NoLimits);
    }
    if product.managed().is_some() && !fits(assessor, offer) {
        return Some(Exclusion::InstanceClass);
    }
    // The rate without a stall is an estimate, and the lowest level has no room for an error.
    if assessor.required.censored.is_some() && is_lowest_level(offer) {
        return Some(Exclusion::LowestLevel);
    }
    let is_fixed = !search.settings(product).is_empty();
    let worse = offer.worse_latency().filter(|_| assessor.needs_latency && !is_fixed);
    worse.map(|statement| Exclusion::WorseLatency(statement.text.to_string()))
}

/// The cheapest sufficient offers of a product for each headroom and group, by price; the nearest miss if there is none.
pub(super) fn find_candidates(
    assessor: &Assessor<'_>,
    search: &Search,
    product: &Product,
    rooms: &[f64],
) -> Result<Vec<Candidate>, Rejection> {
    let rooms: Vec<f64> = rooms.iter().map(|room| room * assessor.required.room()).collect();
    let needs_512 = assessor.required.platform.needs_512_byte_sectors() == Some(true);
    let sector = needs_512.then(|| (SECTOR.to_owned(), "512".to_owned()));
    let settings: Vec<(String, String)> = search.settings(product).iter().cloned().chain(sector).collect();
    let goal = Goal {
        catalogue: assessor.catalogue,
        terms: assessor.terms,
        requirements: &assessor.requirements,
        capacity: assessor.required.capacity,
        rooms: &rooms,
        machine: search.machine.as_ref(),
        monthly_operations: Some(assessor.required.mean_iops * MONTH),
        settings: &settings,
    };
    // A stripe over arrays would be several of them, and a managed database has its volumes.
    let is_undivided = matches!(product.kind(), ProductKind::Server | ProductKind::Array | ProductKind::Managed);
    let widest = if is_undivided { 1 } else { search.widest.max(1) };
    let (mut found, mut reason) = (ClimbResult::default(), None);
    for members in WIDTHS.into_iter().filter(|members| *members <= widest) {
        match of_width(&goal, product, members) {
            Ok(of_width) => found.merge(of_width),
            Err(refused) => reason = reason.or(Some(RejectionReason::NoConfiguration(refused))),
        }
    }
    let mut cheapest: BTreeMap<(usize, Group), Candidate> = BTreeMap::new();
    for ((room, level), offer) in found.offers {
        if let Some(excluded) = find_exclusion(assessor, search, &offer) {
            reason = Some(RejectionReason::Excluded(excluded));
            continue;
        }
        let group = Group { level, is_striped: !offer.config.wraps.is_empty() };
        let candidate = Candidate::new(offer, group, assessor);
        if cheapest.get(&(room, group)).is_none_or(|best| candidate.cost < best.cost) {
            cheapest.insert((room, group), candidate);
        }
    }
    if cheapest.is_empty() {
        let refused = || Rejection {
            name: product.name().to_owned(),
            reason: reason.unwrap_or(RejectionReason::Excluded(Exclusion::Invalid)),
        };
        return Err(found.nearest.map_or_else(refused, |(tight, offer)| Rejection {
            name: offer.short().to_string(),
            reason: RejectionReason::Ceiling(assessor.limit(&offer, &tight)),
        }));
    }
    let mut observed = BTreeSet::new();
    let mut candidates: Vec<Candidate> = cheapest.into_values().collect();
    candidates.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    candidates.retain(|candidate| observed.insert(candidate.offer.config.to_string()));
    Ok(candidates)
}

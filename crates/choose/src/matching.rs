//! Products that sustain a load within its objective, the cheapest first.
//!
//! Each product is raised option by option until its ceilings suffice; the cheapest results are then simulated under
//! the load.

use std::collections::BTreeMap;

use plimsoll_catalogue::{Bound, Catalogue, NoModel, Offer, Price, PriceTerms, ProductKind};
use plimsoll_load::StreamSpec;
use plimsoll_model::analytic::capacity;
use plimsoll_record::Measure;
use plimsoll_units::{Bytes, Span};

use crate::climb::{Goal, NoConfiguration, ROOM, list_offers};
use crate::need::{Need, workload_of};
use crate::requirements::Requirements;
use crate::trial::{Figures, trial};

/// Operations of each trial; the 99th percentile then has 200 samples above it.
const OPERATIONS: u64 = 20_000;
/// Operations of a pilot trial, which excludes clear misses.
const FIRST_LOOK: u64 = 1_500;
const BY_FAR: u64 = 2;
const HALF: f64 = 0.5;
/// Seconds of a month: the load is taken to go on.
const MONTH: f64 = 730.0 * 3600.0;
/// Maximum trials per product.
const MAX_TRIALS: u32 = 3;

/// A configuration that sustains the load.
#[derive(Clone, Debug)]
pub struct SuitableOffer {
    pub offer: Offer,
    /// The exact monthly price in the requested currency; `None` if the catalogue has none.
    pub price: Option<Price>,
    /// Name of the tightest ceiling, and the rate of these operations that it allows per second.
    pub binds: Option<(String, f64)>,
    /// Simulated results.
    pub figures: Figures,
    /// The objective's measure.
    pub reached: Span,
}

/// The reason why a product does not sustain a load.
#[derive(Clone, Debug, PartialEq)]
pub enum Unsuitable {
    /// It has no sufficient configuration.
    NoConfiguration(NoConfiguration),
    NoModel(NoModel),
    /// The load does not fit on it.
    Capacity,
    /// No operation in the objective's scope was completed.
    NoneInScope,
    /// Its model does not sustain the load.
    Sustains {
        /// Modelled operations per second.
        iops: f64,
        /// Required operations per second.
        required: f64,
    },
    /// Its simulation completes less than the load.
    Completes {
        /// Simulated operations per second.
        iops: f64,
        /// Required operations per second.
        required: f64,
    },
    /// Its simulation misses the objective.
    Latency {
        /// The objective's measure.
        measure: Measure,
        /// Its simulated value.
        reached: Span,
        /// The stage that binds.
        bound_by: String,
    },
}

/// A product that does not sustain the load.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejected {
    /// The product, or its nearest configuration.
    pub name: String,
    pub reason: Unsuitable,
}

/// Products by their suitability for a load.
#[derive(Clone, Debug, Default)]
pub struct Matches {
    /// Suitable offers: by price; those without a price, or with a part of it only, come last.
    pub suitable: Vec<SuitableOffer>,
    /// Priced offers with sufficient ceilings whose simulated latency misses the objective; by price.
    pub nearly: Vec<SuitableOffer>,
    /// Unsuitable products.
    pub rejected: Vec<Rejected>,
}

/// Finds up to `max` products that sustain the need, each in its cheapest configuration.
pub fn matching(catalogue: &Catalogue, need: &Need, terms: &PriceTerms, max: usize) -> Matches {
    let mut matches = Matches::default();
    let mut candidates = Vec::new();
    let requirements = Requirements::of([vec![(need.ask(), need.iops)]]);
    let (capacity, rooms) = (need.capacity, &ROOM);
    let goal = Goal {
        catalogue,
        terms,
        requirements: &requirements,
        capacity,
        rooms,
        machine: None,
        monthly_operations: Some(need.iops * MONTH),
        settings: &[],
    };
    for product in catalogue.products().filter(|product| product.ranked() && product.kind() != ProductKind::Machine) {
        match list_offers(&goal, product) {
            Ok(offers) => {
                candidates.extend(offers.into_iter().map(|offer| Candidate::new(product.name(), offer, terms)));
            }
            Err(reason) => {
                let reason = Unsuitable::NoConfiguration(reason);
                matches.rejected.push(Rejected { name: product.name().into(), reason });
            }
        }
    }
    candidates.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    let mut attempts: BTreeMap<String, Attempt> = BTreeMap::new();
    for candidate in candidates {
        if matches.suitable.len() == max {
            break;
        }
        let attempt = attempts.entry(candidate.product.clone()).or_default();
        if attempt.closed || attempt.trials == MAX_TRIALS {
            continue;
        }
        attempt.trials += 1;
        match candidate.evaluate(need) {
            Ok(suitable) => {
                *attempt = Attempt { closed: true, ..Attempt::default() };
                matches.suitable.push(suitable);
            }
            Err(refused) => {
                // Larger sizes do not help if no limit binds.
                attempt.closed = refused.by_latency;
                attempt.nearly = attempt.nearly.take().or(refused.nearly);
                attempt.rejected.get_or_insert(refused.rejected);
            }
        }
    }
    for attempt in attempts.into_values() {
        matches.nearly.extend(attempt.nearly.map(|nearly| *nearly));
        matches.rejected.extend(attempt.rejected);
    }
    let monthly = |suitable: &SuitableOffer| {
        let total = suitable.price.as_ref().and_then(Price::total);
        total.map_or(i128::MAX, |total| total.millionths)
    };
    matches.nearly.sort_by_key(monthly);
    matches.nearly.truncate(max);
    matches
}

/// Trials of a product so far.
#[derive(Default)]
struct Attempt {
    trials: u32,
    /// No more trials are needed.
    closed: bool,
    nearly: Option<Box<SuitableOffer>>,
    rejected: Option<Rejected>,
}

/// Sort key of an offer without the price of a part.
const PARTIAL_COST: f64 = 1e18;

/// An offer with sufficient ceilings.
struct Candidate {
    product: String,
    offer: Offer,
    price: Option<Price>,
    /// Sort key; offers without the price of a part come last, before unpriced ones.
    cost: f64,
}

impl Candidate {
    fn new(product: &str, offer: Offer, terms: &PriceTerms) -> Self {
        let price = price_of(&offer, terms);
        let cost = match &price {
            Some(price) if price.is_complete() => price.monthly.as_f64(),
            Some(_) => PARTIAL_COST,
            None => f64::MAX,
        };
        Self { product: product.into(), offer, price, cost }
    }

    fn evaluate(&self, need: &Need) -> Result<SuitableOffer, RejectedCandidate> {
        let rejected = |reason: Unsuitable| RejectedCandidate {
            rejected: Rejected { name: self.offer.short().to_string(), reason },
            by_latency: false,
            nearly: None,
        };
        let model = self.offer.model().map_err(|error| rejected(Unsuitable::NoModel(error)))?;
        let streams = within(&need.streams, self.offer.capacity);
        // A trial is too short to fill a write buffer: the stages behind it have to suffice, too.
        let lasting = capacity(&model, &workload_of(&streams[0])).iops;
        if lasting < need.iops {
            return Err(rejected(Unsuitable::Sustains { iops: lasting, required: need.iops }));
        }
        let mut figures = trial(&model, &streams, FIRST_LOOK, 1);
        let near = |figures: &Figures| {
            figures.iops > need.iops * HALF
                && figures.measured_by(&need.objective).is_some_and(|reached| reached <= need.objective.limit * BY_FAR)
        };
        if figures.as_ref().is_some_and(near) {
            figures = trial(&model, &streams, OPERATIONS, 1);
        }
        let figures = figures.ok_or_else(|| rejected(Unsuitable::Capacity))?;
        let reached = figures.measured_by(&need.objective);
        let reached = reached.ok_or_else(|| rejected(Unsuitable::NoneInScope))?;
        if figures.overloaded {
            return Err(rejected(Unsuitable::Completes { iops: figures.iops, required: need.iops }));
        }
        let standing = self.offer.standing(&need.ask());
        let name = |bound: &Bound| (self.offer.ceilings[bound.ceiling].name.to_string(), bound.iops);
        let binds = standing.binding().map(name);
        let roomy = binds.as_ref().is_none_or(|(_, iops)| *iops >= need.iops * ROOM[1]);
        let suitable = SuitableOffer { offer: self.offer.clone(), price: self.price.clone(), binds, figures, reached };
        if reached <= need.objective.limit {
            return Ok(suitable);
        }
        let bound_by = suitable.figures.bound_by.first().map(|(name, _)| name.clone()).unwrap_or_default();
        let by_latency = roomy && self.offer.ceilings.iter().all(|ceiling| *ceiling.name != *bound_by);
        let reason = Unsuitable::Latency { measure: need.objective.measure, reached, bound_by };
        let nearly = suitable.price.is_some().then(|| Box::new(suitable));
        Err(RejectedCandidate { by_latency, nearly, ..rejected(reason) })
    }
}

/// A candidate that does not sustain the load.
struct RejectedCandidate {
    rejected: Rejected,
    /// No limit binds: the product is too slow in any size.
    by_latency: bool,
    /// Set if it has a price and misses only the latency objective.
    nearly: Option<Box<SuitableOffer>>,
}

/// The streams, fitted to a product that is smaller than their address ranges.
pub(crate) fn within(streams: &[StreamSpec], capacity: Bytes) -> Vec<StreamSpec> {
    let mut streams = streams.to_vec();
    for stream in &mut streams {
        if capacity > Bytes::ZERO && stream.region.start + stream.region.length.get() > capacity.get() {
            stream.region.start = 0;
            stream.region.length = stream.region.length.min(capacity);
        }
    }
    streams
}

/// The price in the terms' currency; the first complete one in the order of the product's lists if several regions have
/// one, so that further regions leave a ranking as it is.
pub(crate) fn price_of(offer: &Offer, terms: &PriceTerms) -> Option<Price> {
    let fits = |price: &Price| {
        terms.currency.is_none_or(|currency| currency == price.monthly.currency) && terms.takes(price.region.as_deref())
    };
    let prices = offer.prices().into_iter().filter(fits);
    prices.min_by_key(|price| !price.is_complete())
}

//! Which products carry a load at its objective, the cheapest first.
//!
//! Each product is raised, option by option, until no ceiling is below what is needed; the cheapest of what is left are
//! offered the load itself, in virtual time.

use std::collections::BTreeMap;

use plimsoll_catalogue::{Bound, Catalogue, Offer, Price, ProductKind, Terms};
use plimsoll_load::StreamSpec;
use plimsoll_model::analytic::capacity;
use plimsoll_units::{Bytes, Span};

use crate::asked::Asked;
use crate::climb::{Goal, ROOM, offers};
use crate::need::{Need, workload_of};
use crate::trial::{Figures, trial};

/// Operations of each trial: the 99th percentile then stands on 200 of them.
const OPERATIONS: u64 = 20_000;
/// Operations of a first look: what misses the objective by far is not tried longer.
const FIRST_LOOK: u64 = 1_500;
const BY_FAR: u64 = 2;
const HALF: f64 = 0.5;
/// No product has more of its offers tried than this.
const MOST_TRIALS: u32 = 3;

/// A configuration that carries the load.
#[derive(Clone, Debug)]
pub struct Carries {
    /// The offer.
    pub offer: Offer,
    /// The price for a month in the wanted currency, exact; `None` when the catalogue has none.
    pub price: Option<Price>,
    /// The lowest ceiling's name, and how many of the asked operations it allows in a second.
    pub binds: Option<(String, f64)>,
    /// What the trial showed, simulated.
    pub figures: Figures,
    /// The objective's measure of it.
    pub reached: Span,
}

/// A product that does not, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The product, or the configuration that came nearest.
    pub name: String,
    /// Why.
    pub why: String,
}

/// Which products carry a load.
#[derive(Clone, Debug, Default)]
pub struct Matches {
    /// Those with a price, the cheapest first, then those without.
    pub carries: Vec<Carries>,
    /// Those with a price whose ceilings suffice and whose latency, as simulated, misses the objective; the cheapest
    /// first.
    pub nearly: Vec<Carries>,
    /// Those that do not.
    pub rejected: Vec<Rejected>,
}

/// Finds up to `most` products that carry what is needed, each in its cheapest configuration.
pub fn matching(catalogue: &Catalogue, need: &Need, terms: &Terms, most: usize) -> Matches {
    let mut matches = Matches::default();
    let mut candidates = Vec::new();
    let asked = Asked::of([vec![(need.ask(), need.iops)]]);
    let (capacity, rooms) = (need.capacity, &ROOM);
    let goal = Goal { catalogue, terms, asked: &asked, capacity, rooms, machine: None, monthly_operations: None };
    for product in catalogue.products().filter(|product| product.ranked() && product.kind() != ProductKind::Machine) {
        match offers(&goal, product) {
            Ok(offers) => {
                candidates.extend(offers.into_iter().map(|offer| Candidate::new(product.name(), offer, terms)));
            }
            Err(why) => matches.rejected.push(Rejected { name: product.name().into(), why }),
        }
    }
    candidates.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    let mut attempts: BTreeMap<String, Attempt> = BTreeMap::new();
    for candidate in candidates {
        if matches.carries.len() == most {
            break;
        }
        let attempt = attempts.entry(candidate.product.clone()).or_default();
        if attempt.closed || attempt.trials == MOST_TRIALS {
            continue;
        }
        attempt.trials += 1;
        match candidate.carries(need) {
            Ok(carries) => {
                *attempt = Attempt { closed: true, ..Attempt::default() };
                matches.carries.push(carries);
            }
            Err(refused) => {
                // More of what does not bind makes nothing faster.
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
    let monthly = |carries: &Carries| carries.price.as_ref().map_or(i128::MAX, |price| price.monthly.millionths);
    matches.nearly.sort_by_key(monthly);
    matches.nearly.truncate(most);
    matches
}

/// What became of a product's offers so far.
#[derive(Default)]
struct Attempt {
    trials: u32,
    /// Nothing more of it needs to be tried.
    closed: bool,
    nearly: Option<Box<Carries>>,
    rejected: Option<Rejected>,
}

/// An offer whose ceilings suffice.
struct Candidate {
    product: String,
    offer: Offer,
    price: Option<Price>,
    /// For ordering: what has no price comes last.
    cost: f64,
}

impl Candidate {
    fn new(product: &str, offer: Offer, terms: &Terms) -> Self {
        let price = price_of(&offer, terms);
        let cost = price.as_ref().map_or(f64::MAX, |price| price.monthly.as_f64());
        Self { product: product.into(), offer, price, cost }
    }

    fn carries(&self, need: &Need) -> Result<Carries, Refused> {
        let rejected = |why: String| Refused {
            rejected: Rejected { name: self.offer.short().to_string(), why },
            by_latency: false,
            nearly: None,
        };
        let model = self.offer.model().map_err(|why| rejected(why.to_string()))?;
        let streams = within(&need.streams, self.offer.capacity);
        // A trial is too short to fill a write buffer: what lies behind it has to suffice, too.
        let lasting = capacity(&model, &workload_of(&streams[0])).iops;
        if lasting < need.iops {
            return Err(rejected(format!("it sustains {lasting:.0} of {:.0} IOPS (modelled)", need.iops)));
        }
        let mut figures = trial(&model, &streams, FIRST_LOOK, 1);
        let near = |figures: &Figures| {
            figures.iops > need.iops * HALF
                && figures.measured_by(&need.objective).is_some_and(|reached| reached <= need.objective.limit * BY_FAR)
        };
        if figures.as_ref().is_some_and(near) {
            figures = trial(&model, &streams, OPERATIONS, 1);
        }
        let figures = figures.ok_or_else(|| rejected("the load does not fit on it".into()))?;
        let reached = figures.measured_by(&need.objective);
        let reached = reached.ok_or_else(|| rejected("it answered nothing that the objective is about".into()))?;
        if figures.overloaded {
            return Err(rejected(format!("it answers {:.0} of {:.0} IOPS (simulated)", figures.iops, need.iops)));
        }
        let standing = self.offer.standing(&need.ask());
        let name = |bound: &Bound| (self.offer.ceilings[bound.ceiling].name.to_string(), bound.iops);
        let binds = standing.binding().map(name);
        let roomy = binds.as_ref().is_none_or(|(_, iops)| *iops >= need.iops * ROOM[1]);
        let carries = Carries { offer: self.offer.clone(), price: self.price.clone(), binds, figures, reached };
        if reached <= need.objective.limit {
            return Ok(carries);
        }
        let holds = carries.figures.bound_by.first().map(|(name, _)| name.as_str()).unwrap_or_default();
        let why = format!("{} is {reached} at this load (simulated), held by {holds}", need.objective.measure);
        let by_latency = roomy && self.offer.ceilings.iter().all(|ceiling| *ceiling.name != *holds);
        let nearly = carries.price.is_some().then(|| Box::new(carries));
        Err(Refused { by_latency, nearly, ..rejected(why) })
    }
}

/// Why a candidate does not carry the load.
struct Refused {
    rejected: Rejected,
    /// No limit held it: the product is too slow in any size.
    by_latency: bool,
    /// It has a price, and only its latency is too long.
    nearly: Option<Box<Carries>>,
}

/// The streams on a product that is smaller than what they addressed.
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

/// The price in the terms' currency: where several regions have one, the lowest.
pub(crate) fn price_of(offer: &Offer, terms: &Terms) -> Option<Price> {
    let fits = |price: &Price| {
        terms.currency.is_none_or(|currency| currency == price.monthly.currency)
            && terms.region.as_deref().is_none_or(|region| price.region.as_deref().is_none_or(|own| own == region))
    };
    let prices = || offer.prices().into_iter().filter(fits).min_by_key(|price| price.monthly.millionths);
    offer.price().ok().filter(fits).or_else(prices)
}

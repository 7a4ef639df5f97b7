//! One offer whose ceilings suffice: what binds it, how it answers, and what is doubtful about it.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_catalogue::{Catalogue, Ceiling, Offer, Price, Product, Terms};
use plimsoll_ingest::Class;
use plimsoll_model::ChainSpec;
use plimsoll_model::analytic::{Offered, Workload, solve};
use plimsoll_record::{Counter, Measure};
use plimsoll_units::{Bytes, Span};

use super::backlog::Replay;
use super::size::Candidate;
use super::{
    Backlog, Busiest, Choice, ClassLatency, ClassLoad, Limit, Point, Rejection, Risk, RiskSort, Sizing, Slower, Wanted,
    Why,
};
use crate::asked::{Asked, Tight};
use crate::matching::within;
use crate::trial::{Together, together};

/// Operations of each trial, all classes together.
const OPERATIONS: u64 = 20_000;
/// A trial that seems to be overloaded is done again, so many times as long: a burst near its end looks the same.
const LONGER: u64 = 8;
/// A class needs so many answers before its 99th percentile says anything.
const FOR_P99: u64 = 200;
/// A ceiling that holds this share of the operations and more lengthens the tail.
const HELD: f64 = 0.005;
/// Ceilings up to this many times the one that binds are worth a doubt.
const NEAR: f64 = 2.0;

/// What offers are held against.
pub(super) struct Assessor<'a> {
    pub(super) catalogue: &'a Catalogue,
    pub(super) terms: &'a Terms,
    pub(super) wanted: &'a Wanted,
    pub(super) asked: &'a Asked,
}

/// What became of an offer.
pub(super) enum Assessed {
    /// It meets the objective, or there is none.
    Meets(Box<Choice>),
    /// It carries the load, and misses the objective, or is slower than the storage of today.
    Misses {
        choice: Box<Choice>,
        /// No limit held it: more of what can be bought makes nothing faster.
        by_latency: bool,
    },
    /// It does not carry the load.
    Fails(Rejection),
}

/// What became of a product's candidates so far.
#[derive(Default)]
pub(super) struct Attempt {
    /// What came nearest to the objective.
    nearly: Option<Box<Choice>>,
    rejected: Option<Rejection>,
    /// What the last candidate that missed the objective by a ceiling has above the design point.
    held_at: Option<f64>,
    /// Levels that are too slow whatever is bought with them.
    slow_levels: BTreeSet<usize>,
}

impl Attempt {
    /// Tries candidates, the cheapest first, until one meets the objective. Levels that are too slow by themselves are
    /// tried once.
    pub(super) fn tries(&mut self, assessor: &Assessor<'_>, candidates: Vec<Candidate>) -> Option<Choice> {
        for candidate in candidates {
            if self.slow_levels.contains(&candidate.level) {
                continue;
            }
            self.held_at = None;
            match assessor.assess(&candidate.offer, candidate.price) {
                Assessed::Meets(choice) => return Some(*choice),
                Assessed::Misses { choice, by_latency } => {
                    self.held_at = choice.binds.as_ref().map(|limit| limit.over).filter(|_| !by_latency);
                    if by_latency {
                        self.slow_levels.insert(candidate.level);
                    }
                    let nearness = |choice: &Choice| (choice.reached, choice.slowdown());
                    if self.nearly.as_ref().is_none_or(|nearest| nearness(&choice) < nearness(nearest)) {
                        self.nearly = Some(choice);
                    }
                }
                Assessed::Fails(rejection) => self.rejected = self.rejected.take().or(Some(rejection)),
            }
        }
        None
    }

    /// The cheapest of each other level that meets the objective.
    pub(super) fn other_levels(
        &self,
        assessor: &Assessor<'_>,
        candidates: Vec<Candidate>,
        cheapest: &Choice,
    ) -> Vec<Choice> {
        let mut levels = self.slow_levels.clone();
        let mut found = Vec::new();
        for candidate in candidates {
            if candidate.offer.config == cheapest.offer.config {
                levels.insert(candidate.level);
            }
            if levels.contains(&candidate.level) {
                continue;
            }
            if let Assessed::Meets(choice) = assessor.assess(&candidate.offer, candidate.price) {
                levels.insert(candidate.level);
                found.push(*choice);
            }
        }
        found
    }

    /// What higher ceilings may help: what the last candidate has above the design point.
    pub(super) const fn held_at(&self) -> Option<f64> {
        self.held_at
    }

    /// Puts what did not meet the objective where it belongs.
    pub(super) fn give_up(self, product: &Product, sizing: &mut Sizing) {
        let nothing = || Rejection { name: product.name().into(), why: Why::Refused("it has no configuration".into()) };
        match self.nearly {
            Some(choice) if choice.meets(&sizing.wanted) => sizing.slower.push(*choice),
            Some(choice) => sizing.nearly.push(*choice),
            None => sizing.rejected.push(self.rejected.unwrap_or_else(nothing)),
        }
    }
}

impl Assessor<'_> {
    /// The whole series through the limits of an offer, the tightest in each window; `None` without a series, or limits.
    fn backlog(&self, offer: &Offer) -> Option<Backlog> {
        let Wanted { series, points, allowance, .. } = self.wanted;
        let mut replay = Replay::new(allowance);
        for window in series {
            // Limits are above the design points, so a window that one of them covers passes.
            let passes = replay.is_idle() && points.iter().any(|point| point.covers(&window.classes));
            let utilisation = if passes || window.classes.is_empty() {
                0.0
            } else {
                let asks = window.classes.iter().map(|class| (class.ask(), class.iops)).collect();
                1.0 / Asked::of([asks]).tightest(offer)?.over
            };
            replay.window(window.seconds, utilisation, Busiest::ALL.map(|of| window.rate(of)));
        }
        (!series.is_empty()).then(|| replay.finish())
    }

    /// Offers it the expected load, at the point that its ceilings are nearest to.
    pub(super) fn assess(&self, offer: &Offer, price: Option<Price>) -> Assessed {
        let beside = self.asked.beside(offer);
        let binds = beside.first().copied();
        let point = &self.wanted.points[binds.map_or(0, |tight| tight.mix)];
        let other = |tight: &&Tight| binds.is_some_and(|first| tight.bound.ceiling != first.bound.ceiling);
        let mut choice = Choice {
            offer: offer.clone(),
            binds: binds.map(|tight| self.limit(offer, &tight)),
            next: beside.iter().find(other).map(|tight| self.limit(offer, tight)),
            latency: Vec::new(),
            backlog: self.backlog(offer),
            slower: Vec::new(),
            reached: None,
            peak: offer.standing_of(&point.asks()).peak,
            machines: None,
            risks: risks(offer, price.as_ref(), &beside),
            price,
        };
        let fails = |why: Why| Assessed::Fails(Rejection { name: offer.short().to_string(), why });
        if let Some(backlog) = choice.backlog.filter(|backlog| !backlog.is_within(&self.wanted.allowance)) {
            return fails(Why::Waits(backlog));
        }
        let model = match offer.model() {
            Ok(model) => model,
            Err(why) if self.wanted.objective.is_some() => return fails(Why::Refused(why.to_string())),
            Err(why) => {
                choice.risks.push(Risk { sort: RiskSort::Latency, text: why.to_string(), cite: None });
                return Assessed::Meets(Box::new(choice));
            }
        };
        // A trial is too short to fill a write buffer: what lies behind it has to suffice, too.
        let (over, held_by) = lasting(&model, point, self.wanted.capacity);
        if over < 1.0 {
            return fails(Why::Sustains { iops: over * point.iops(), wanted: point.iops(), held_by });
        }
        let streams = within(&point.streams(self.wanted.capacity), offer.capacity);
        let mut done = together(&model, &streams, OPERATIONS, 1);
        if done.as_ref().is_some_and(|done| done.overloaded) {
            done = together(&model, &streams, OPERATIONS * LONGER, 1);
        }
        let Some(done) = done else { return fails(Why::Refused("the load does not fit on it".into())) };
        let held_by = done.bound_by.first().map(|(name, _)| name.clone()).unwrap_or_default();
        if done.overloaded {
            return fails(Why::Sustains { iops: done.iops, wanted: point.iops(), held_by });
        }
        choice.latency = latencies(point, &done);
        choice.slower = slower(&self.wanted.today, &choice.latency);
        self.judged(choice, &done)
    }

    fn judged(&self, mut choice: Choice, done: &Together) -> Assessed {
        if let Some(objective) = self.wanted.objective {
            let bins = done.tally.response_where(|counter: &Counter| objective.over.covers(counter.kind));
            choice.reached = match objective.measure {
                Measure::Mean => bins.mean(),
                Measure::Quantile(quantile) => bins.quantile(quantile),
            };
        }
        if choice.meets(self.wanted) && (choice.slower.is_empty() || self.wanted.may_be_slower) {
            return Assessed::Meets(Box::new(choice));
        }
        let is_ceiling = |name: &str| choice.offer.ceilings.iter().any(|ceiling| *ceiling.name == *name);
        let by_latency = !done.bound_by.iter().any(|(name, share)| *share >= HELD && is_ceiling(name));
        Assessed::Misses { choice: Box::new(choice), by_latency }
    }

    /// A ceiling over the design point.
    pub(super) fn limit(&self, offer: &Offer, tight: &Tight) -> Limit {
        Limit {
            name: Arc::clone(&offer.ceilings[tight.bound.ceiling].name),
            counts: tight.bound.counts,
            point: self.wanted.points[tight.mix].of,
            iops: tight.bound.iops,
            bytes_per_second: tight.bound.bytes_per_second,
            over: tight.over / self.wanted.room(),
        }
    }
}

/// A class is slower if its response time is at least this many times that of today.
const SLOWER: f64 = 1.2;

/// Classes that are slower than today. A class that was not simulated is compared with the total that contains it.
fn slower(today: &[(Class, Span)], latency: &[ClassLatency]) -> Vec<Slower> {
    let simulated = |class: Class| latency.iter().find(|one| one.class == class).map(|one| one.mean);
    let whole = |class: Class| match class {
        Class::RandomRead | Class::SequentialRead | Class::TempRead => Some(Class::Read),
        Class::DataWrite | Class::RedoWrite | Class::TempWrite => Some(Class::Write),
        _ => None,
    };
    let compared = |(class, today): &(Class, Span)| {
        let then = simulated(*class).or_else(|| simulated(whole(*class)?)).or_else(|| simulated(Class::All))?;
        Some(Slower { class: *class, today: *today, then })
    };
    today.iter().filter_map(compared).filter(|one| one.times() >= SLOWER).collect()
}

fn latencies(point: &Point, done: &Together) -> Vec<ClassLatency> {
    let numbered = point.classes.iter().enumerate();
    numbered
        .filter_map(|(stream, load)| {
            let bins = done.tally.only(|counter| usize::from(counter.stream) == stream).response();
            let p99 = || bins.quantile(0.99);
            let enough = bins.count >= FOR_P99;
            Some(ClassLatency { class: load.class, mean: bins.mean()?, p99: enough.then(p99).flatten() })
        })
        .collect()
}

/// How many times the point a model carries in the long run, and the stage that bounds it: every class alone by the
/// analytic solution, their loads of each stage added up.
fn lasting(model: &ChainSpec, point: &Point, space: Bytes) -> (f64, String) {
    let names = model.names();
    let mut loads = vec![0.0; names.len()];
    for class in &point.classes {
        let alone = solve(model, &workload(class, space), Offered::Open { iops: class.iops });
        // At its bound a stage says no more than that it is there.
        let over = if alone.mean_ns.is_finite() { 1.0 } else { class.iops / alone.iops };
        for (load, stage) in loads.iter_mut().zip(&alone.stages) {
            *load += stage.utilisation * over;
        }
    }
    let fullest = loads.iter().zip(names).max_by(|a, b| a.0.total_cmp(b.0));
    fullest.map_or_else(|| (f64::MAX, String::new()), |(load, name)| (1.0 / load.max(1e-12), name))
}

/// What a class asks, for the analytic solution.
fn workload(load: &ClassLoad, space: Bytes) -> Workload {
    let stream = load.stream(space);
    Workload {
        reads: load.reads,
        durable: if load.durable { 1.0 } else { 0.0 },
        flushes: 0.0,
        length: stream.mix.sizes.largest(),
        sequential: if load.sequential { 1.0 } else { 0.0 },
        space: stream.region.length,
    }
}

/// What is doubtful: of the ceilings that bind or nearly do, of the model, of the price; and what the offer needs.
fn risks(offer: &Offer, price: Option<&Price>, beside: &[Tight]) -> Vec<Risk> {
    let mut risks = Vec::new();
    let least = beside.first().map_or(0.0, |tight| tight.over);
    let mut near: Vec<usize> =
        beside.iter().filter(|tight| tight.over <= least * NEAR).map(|tight| tight.bound.ceiling).collect();
    near.dedup();
    for ceiling in near.into_iter().map(|index| &offer.ceilings[index]) {
        let doubt = ceiling.cite.status.doubt();
        risks.extend(doubt.map(|doubt| Risk {
            sort: RiskSort::Ceiling,
            text: format!("\"{}\" {doubt}", ceiling.name),
            cite: Some(Arc::clone(&ceiling.cite)),
        }));
    }
    // Doubts of ceilings come first, and those that are near were told already.
    let of_ceilings = offer.ceilings.iter().filter(|ceiling| is_doubtful(ceiling)).count();
    let of_model = offer.doubts().into_iter().skip(of_ceilings);
    risks.extend(of_model.map(|doubt| Risk { sort: RiskSort::Latency, text: doubt.text, cite: doubt.cite }));
    risks.extend(price.into_iter().flat_map(of_price));
    let needs = offer.needs().into_iter();
    risks.extend(needs.map(|text| Risk { sort: RiskSort::Needs, text: text.to_string(), cite: None }));
    risks
}

fn is_doubtful(ceiling: &Ceiling) -> bool {
    ceiling.cite.status.doubt().is_some()
}

fn of_price(price: &Price) -> Vec<Risk> {
    let about = |text: String, cite| Risk { sort: RiskSort::Price, text, cite };
    let mut risks: Vec<Risk> = price.doubts().into_iter().map(|doubt| about(doubt.text, doubt.cite)).collect();
    risks.extend(price.without.iter().map(|what| about(format!("its price is without {what}"), None)));
    risks
}

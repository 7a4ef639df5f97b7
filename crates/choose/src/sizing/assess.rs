//! Assessment of an offer with sufficient ceilings: binding limits, latency and uncertainties.

use std::sync::Arc;

use plimsoll_catalogue::{Catalogue, Ceiling, Offer, OptionValue, Part, Price, PriceTerms, RacSupport};
use plimsoll_ingest::Class;
use plimsoll_model::ChainSpec;
use plimsoll_model::analytic::{Offered, Workload, solve};
use plimsoll_units::{Bytes, Span};

use super::objective::class_for;
use super::product_facts::{members, yearly_loss};
use super::search::Search;
use super::series::DemandSeries;
use super::{
    Choice, ClassLatency, ClassLoad, DesignLimit, DesignPoint, Exclusion, Rejection, RejectionReason, Risk, RiskDetail,
    RiskKind, SizingRequirements, Slower,
};
use crate::matching::within;
use crate::requirements::{Requirements, TightBound};
use crate::trial::{OpenTrial, OpenTrials};

/// Operations of a trial, all classes together, of a trial with large operations, and of a trial for means only.
const OPERATIONS: u64 = 10_000;
const OPERATIONS_MIN: u64 = 5_000;
const OPERATIONS_FOR_MEANS: u64 = 4_000;
/// Blocks of 64 KiB of a trial: models divide larger operations, which therefore take longer to simulate.
const BLOCKS: f64 = 15_000.0;
const BLOCK: f64 = 65_536.0;
/// A trial that appears overloaded is repeated with these multiples of the operations until it does not: a burst near
/// its end looks the same, unless less than this share of the operations completes.
const LONGER: [u64; 2] = [3, 8];
const HOPELESS: f64 = 0.8;
/// Minimum answers of a class for its 99th percentile.
const FOR_P99: u64 = 200;
/// Operations of a short trial at the mean load, minimum answers of a class for its mean, and standard errors of that
/// mean by which a response time is beyond doubt.
const OPERATIONS_OF_SAMPLE: u64 = 1_000;
const FOR_MEAN: u64 = 30;
const ERRORS: f64 = 5.0;
/// Minimum share of operations bound by a ceiling that lengthens the tail.
const HELD: f64 = 0.005;
/// Uncertainties of ceilings are reported up to this multiple of the binding one.
const NEAR: f64 = 2.0;

/// The option of the logical sector size.
pub(super) const SECTOR: &str = "sector";

/// Inputs of assessments.
pub(super) struct Assessor<'a> {
    pub(super) catalogue: &'a Catalogue,
    pub(super) terms: &'a PriceTerms,
    pub(super) required: &'a SizingRequirements,
    /// The machine of each instance of a cluster, if given.
    pub(super) machine: Option<&'a Part>,
    /// Given options of products, which keep their values.
    pub(super) given: Option<&'a Search>,
    pub(super) requirements: Requirements,
    /// As [`Wanted::needs_latency`]; for a part of a layout, of the whole.
    pub(super) needs_latency: bool,
    series: DemandSeries,
    pub(super) trials: Arc<OpenTrials>,
}

/// The result for an offer.
#[derive(Clone)]
pub(super) enum Assessed {
    /// It meets the objectives, and is not slower than today if that is required.
    Meets(Box<Choice>),
    /// It sustains the load, but misses an objective or is slower than today.
    Misses {
        choice: Box<Choice>,
        /// No limit binds: raising options does not help.
        by_latency: bool,
    },
    /// It does not sustain the load.
    Fails(Rejection),
}

impl<'a> Assessor<'a> {
    pub(super) fn new(catalogue: &'a Catalogue, terms: &'a PriceTerms, required: &'a SizingRequirements) -> Self {
        let requirements = Requirements::of(required.points.iter().map(DesignPoint::asks));
        Self {
            catalogue,
            terms,
            required,
            machine: None,
            given: None,
            requirements,
            needs_latency: required.needs_latency(),
            series: DemandSeries::of(&required.series),
            trials: Arc::default(),
        }
    }

    /// An offer without simulated response times, and the point nearest to its ceilings.
    fn describe(&self, offer: &Offer, price: Option<Price>) -> (Choice, &DesignPoint) {
        let bounds = self.requirements.bounds(offer);
        let binds = bounds.first().copied();
        let point = &self.required.points[binds.map_or(0, |tight| tight.mix)];
        let other = |tight: &&TightBound| binds.is_some_and(|first| tight.bound.ceiling != first.bound.ceiling);
        let mut choice = Choice {
            offer: offer.clone(),
            binds: binds.map(|tight| self.limit(offer, &tight)),
            next: bounds.iter().find(other).map(|tight| self.limit(offer, tight)),
            latency: Vec::new(),
            usual: Vec::new(),
            backlog: self.series.backlog(offer, &self.required.allowance),
            slower: Vec::new(),
            effect: None,
            reached: Vec::new(),
            peak: offer.standing_of(&point.asks()).peak,
            machine: None,
            yearly_loss: yearly_loss(offer),
            risks: find_risks(offer, price.as_ref(), &bounds),
            price,
        };
        choice.risks.extend(platform_risks(self.required, offer));
        (choice, point)
    }

    /// Offers a load to a model for a number of operations.
    fn simulate(
        &self,
        (model, choice): (&ChainSpec, &Choice),
        point: &DesignPoint,
        operations: u64,
    ) -> Option<Arc<OpenTrial>> {
        let frequent = raise_rate(point, choice.binds.as_ref());
        let streams = within(&frequent.streams(self.required.capacity), choice.offer.capacity);
        self.trials.run(model, streams, operations)
    }

    /// The miss of an offer that a short trial at the mean load shows to be slower than today's storage beyond the errors
    /// of the sample; `None` if that needs a trial of full length.
    pub(super) fn find_slower(&self, offer: &Offer, price: Option<Price>) -> Option<Assessed> {
        if self.required.may_be_slower || self.required.today.is_empty() {
            return None;
        }
        let (mut choice, point) = self.describe(offer, price);
        let usual = self.required.usual.as_ref().unwrap_or(point);
        let done = self.simulate((&offer.model().ok()?, &choice), usual, OPERATIONS_OF_SAMPLE)?;
        let is_slower = |latency: &[ClassLatency]| {
            let classes = slower(&self.required.today, usual, latency);
            self.required.exceeds_tolerance(self.required.effect(latency).as_ref(), &classes)
        };
        if done.overloaded || !is_slower(&lowest_latencies(usual, &done)) {
            return None;
        }
        choice.usual = latencies(usual, &done);
        choice.slower = slower(&self.required.today, usual, &choice.usual);
        choice.effect = self.required.effect(&choice.usual);
        // Ceilings that do not bind at the mean load do not lengthen its response times.
        let by_latency = !is_bound_by_ceiling(offer, &done);
        Some(Assessed::Misses { choice: Box::new(choice), by_latency })
    }

    /// Simulates the expected load at the point nearest to the ceilings.
    pub(super) fn assess(&self, offer: &Offer, price: Option<Price>) -> Assessed {
        let (mut choice, point) = self.describe(offer, price);
        let fails = |reason: RejectionReason| Assessed::Fails(Rejection { name: offer.short().to_string(), reason });
        if let Some(backlog) = choice.backlog.filter(|backlog| !backlog.is_within(&self.required.allowance)) {
            return fails(RejectionReason::Waits(backlog));
        }
        let model = match offer.model() {
            Ok(model) => model,
            Err(error) if !self.required.objectives.is_empty() => {
                return fails(RejectionReason::NoModel(error));
            }
            Err(error) => {
                let detail = RiskDetail::Statement(error.to_string());
                choice.risks.push(Risk { kind: RiskKind::Latency, detail, cite: None });
                return Assessed::Meets(Box::new(choice));
            }
        };
        // A trial is too short to fill a write buffer: the stages behind it have to suffice, too.
        let (over, held_by) = lasting(&model, point, self.required.capacity);
        if over < 1.0 {
            return fails(RejectionReason::Sustains { iops: over * point.iops(), required: point.iops(), held_by });
        }
        let simulate = |point: &DesignPoint, operations| self.simulate((&model, &choice), point, operations);
        let mut done = simulate(point, operations(point));
        for times in LONGER {
            if done.as_ref().is_some_and(|done| done.overloaded && done.achieved >= HOPELESS) {
                done = simulate(point, operations(point) * times);
            }
        }
        let Some(done) = done else { return fails(RejectionReason::Excluded(Exclusion::Unfit)) };
        let held_by = done.bound_by.first().map(|(name, _)| name.clone()).unwrap_or_default();
        if done.overloaded {
            return fails(RejectionReason::Sustains { iops: done.iops, required: point.iops(), held_by });
        }
        let latency = latencies(point, &done);
        choice.usual = match &self.required.usual {
            Some(usual) => simulate(usual, OPERATIONS_FOR_MEANS).map_or_else(Vec::new, |done| latencies(usual, &done)),
            None => latency.clone(),
        };
        choice.latency = latency;
        self.judged(choice, point, &done)
    }

    /// Compares simulated response times with those of today and with the objectives.
    fn judged(&self, mut choice: Choice, point: &DesignPoint, done: &OpenTrial) -> Assessed {
        let usual = self.required.usual.as_ref().unwrap_or(point);
        choice.slower = slower(&self.required.today, usual, &choice.usual);
        choice.effect = self.required.effect(&choice.usual);
        let objectives = self.required.objectives.iter().chain(&self.required.peak_bounds);
        choice.reached = objectives.filter_map(|objective| objective.reached(point, done)).collect();
        let is_slower = || self.required.exceeds_tolerance(choice.effect.as_ref(), &choice.slower);
        if choice.meets() && (self.required.may_be_slower || !is_slower()) {
            return Assessed::Meets(Box::new(choice));
        }
        let by_latency = !is_bound_by_ceiling(&choice.offer, done);
        Assessed::Misses { choice: Box::new(choice), by_latency }
    }

    /// A ceiling in relation to the design point.
    pub(super) fn limit(&self, offer: &Offer, tight: &TightBound) -> DesignLimit {
        DesignLimit {
            name: Arc::clone(&offer.ceilings[tight.bound.ceiling].name),
            counts: tight.bound.counts,
            point: self.required.points[tight.mix].of,
            declared: offer.declared_rate(&tight.bound),
            iops: tight.bound.iops,
            bytes_per_second: tight.bound.bytes_per_second,
            over: tight.over / self.required.room(),
        }
    }
}

/// Operations of a trial at a point, so that the simulated work is bounded.
fn operations(point: &DesignPoint) -> u64 {
    let blocks: f64 = point.classes.iter().map(|load| load.iops * (load.size() / BLOCK).max(1.0)).sum();
    ((BLOCKS / (blocks / point.iops())) as u64).clamp(OPERATIONS_MIN, OPERATIONS)
}

/// A rarely used point at a higher rate, far below the tightest limit: response times are the same, and the simulated
/// time is shorter.
fn raise_rate(point: &DesignPoint, binds: Option<&DesignLimit>) -> DesignPoint {
    /// Minimum operations per second, and maximum share of the tightest limit.
    const LEAST_IOPS: f64 = 1.0;
    const IDLE: f64 = 0.01;
    let times = (LEAST_IOPS / point.iops()).min(binds.map_or(f64::MAX, |limit| limit.over * IDLE)).max(1.0);
    let scaled = |load: &ClassLoad| ClassLoad {
        iops: load.iops * times,
        bytes_per_second: load.bytes_per_second * times,
        ..*load
    };
    DesignPoint { classes: point.classes.iter().map(scaled).collect(), ..point.clone() }
}

/// Minimum ratio to today's response time of a slower class.
const SLOWER: f64 = 1.2;
/// Minimum share of the operations of a class that decides.
const DECISIVE: f64 = 0.01;

/// Classes that are slower than today. A class without simulated operations is compared through the total that contains
/// it. Classes with a negligible share of the operations do not count, except log writes.
fn slower(today: &[(Class, Span)], point: &DesignPoint, latency: &[ClassLatency]) -> Vec<Slower> {
    let compared = |(class, today): &(Class, Span)| {
        let simulated = class_for(&point.classes, *class)?;
        let is_decisive =
            |load: &&ClassLoad| load.class == simulated && (load.durable || load.iops >= DECISIVE * point.iops());
        point.classes.iter().find(is_decisive)?;
        let then = latency.iter().find(|latency| latency.class == simulated)?.mean;
        Some(Slower { class: *class, today: *today, then })
    };
    today.iter().filter_map(compared).filter(|slower| slower.times() >= SLOWER).collect()
}

/// True if a ceiling delays enough operations to lengthen the tail.
fn is_bound_by_ceiling(offer: &Offer, done: &OpenTrial) -> bool {
    let is_ceiling = |name: &str| offer.ceilings.iter().any(|ceiling| *ceiling.name == *name);
    done.bound_by.iter().any(|(name, share)| *share >= HELD && is_ceiling(name))
}

fn latencies(point: &DesignPoint, done: &OpenTrial) -> Vec<ClassLatency> {
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

/// Mean response times, each reduced by the error of a sample.
fn lowest_latencies(point: &DesignPoint, done: &OpenTrial) -> Vec<ClassLatency> {
    let lowest = |(stream, load): (usize, &ClassLoad)| {
        let bins = done.tally.only(|counter| usize::from(counter.stream) == stream).response();
        let mean_ns = bins.mean()?.as_nanos() as f64;
        let square = |(span, count): (Span, u64)| count as f64 * (span.as_nanos() as f64 - mean_ns).powi(2);
        let variance = bins.upper_bounds().map(square).sum::<f64>() / bins.count as f64;
        let error_ns = if bins.count < FOR_MEAN { mean_ns } else { ERRORS * (variance / bins.count as f64).sqrt() };
        let mean = Span::from_nanos((mean_ns - error_ns).max(0.0) as u64);
        Some(ClassLatency { class: load.class, mean, p99: None })
    };
    point.classes.iter().enumerate().filter_map(lowest).collect()
}

/// Multiple of the point that a model sustains in the long run, and the binding stage: analytic solutions of the
/// classes, with their utilisations added up.
fn lasting(model: &ChainSpec, point: &DesignPoint, space: Bytes) -> (f64, String) {
    let names = model.names();
    let mut loads = vec![0.0; names.len()];
    for class in &point.classes {
        let alone = solve(model, &workload(class, space), Offered::Open { iops: class.iops });
        // At saturation the utilisation is only 1.
        let over = if alone.mean_ns.is_finite() { 1.0 } else { class.iops / alone.iops };
        for (load, stage) in loads.iter_mut().zip(&alone.stages) {
            *load += stage.utilisation * over;
        }
    }
    let fullest = loads.iter().zip(names).max_by(|a, b| a.0.total_cmp(b.0));
    fullest.map_or_else(|| (f64::MAX, String::new()), |(load, name)| (1.0 / load.max(1e-12), name))
}

/// A class as input of the analytic solution.
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

/// Uncertainties of the binding and nearly binding ceilings, of the model and of the price, and requirements of the
/// offer.
fn find_risks(offer: &Offer, price: Option<&Price>, bounds: &[TightBound]) -> Vec<Risk> {
    let mut risks = Vec::new();
    let least = bounds.first().map_or(0.0, |tight| tight.over);
    let mut near: Vec<usize> =
        bounds.iter().filter(|tight| tight.over <= least * NEAR).map(|tight| tight.bound.ceiling).collect();
    near.dedup();
    for ceiling in near.into_iter().map(|index| &offer.ceilings[index]) {
        let doubt = ceiling.cite.status.doubt();
        risks.extend(doubt.map(|doubt| Risk {
            kind: RiskKind::Ceiling,
            detail: RiskDetail::Ceiling(Arc::clone(&ceiling.name), doubt),
            cite: Some(Arc::clone(&ceiling.cite)),
        }));
    }
    // Doubts about ceilings come first in the list; the relevant ones have been added above.
    let of_ceilings = offer.ceilings.iter().filter(|ceiling| is_doubtful(ceiling)).count();
    let of_model = offer.doubts().into_iter().skip(of_ceilings);
    let about = |kind, text: String, cite| Risk { kind, detail: RiskDetail::Statement(text), cite };
    risks.extend(of_model.map(|doubt| about(RiskKind::Latency, doubt.text, doubt.cite)));
    risks.extend(price.into_iter().flat_map(of_price));
    let worse = offer.worse_latency();
    risks.extend(worse.map(|statement| about(RiskKind::Latency, statement.text.to_string(), Some(statement.cite))));
    risks.extend(offer.needs().into_iter().map(|text| about(RiskKind::Needs, text.to_string(), None)));
    let count = members(offer);
    let stripe = Risk { kind: RiskKind::Safety, detail: RiskDetail::Stripe(count), cite: None };
    risks.extend((count > 1).then_some(stripe));
    risks
}

/// Uncertainties of a volume for the platform of the database: the support of clusters, sector sizes.
fn platform_risks(required: &SizingRequirements, offer: &Offer) -> Vec<Risk> {
    let rac = required.platform.cluster.as_ref().and_then(|_| offer.product().rac());
    let risk = |rac: &RacSupport| {
        let cite = Some(Arc::clone(&rac.cite));
        Risk { kind: RiskKind::Safety, detail: RiskDetail::Statement(rac.text.to_string()), cite }
    };
    rac.map(risk)
        .into_iter()
        .chain(sector_risk(required, offer))
        .chain(engine_risk(&required.platform, offer))
        .collect()
}

/// A managed database, where the input does not show the engine.
fn engine_risk(platform: &super::Platform, offer: &Offer) -> Option<Risk> {
    let managed = offer.product().managed().filter(|_| platform.oracle_release.is_none())?;
    Some(Risk { kind: RiskKind::Needs, detail: RiskDetail::UnknownEngine(managed.engine_titles()), cite: None })
}

/// A volume whose sectors are larger than an Oracle Database of unknown release may accept.
fn sector_risk(required: &SizingRequirements, offer: &Offer) -> Option<Risk> {
    let sector = offer.options.iter().find(|chosen| *chosen.name == *SECTOR)?;
    let is_native = match &sector.value {
        Some(OptionValue::Text(word)) => **word != *"512",
        Some(OptionValue::Number(bytes)) => *bytes > 512.0,
        None => false,
    };
    let is_open = is_native && required.platform.needs_512_byte_sectors().is_none();
    is_open.then_some(Risk { kind: RiskKind::Needs, detail: RiskDetail::LargeSectors, cite: None })
}

fn is_doubtful(ceiling: &Ceiling) -> bool {
    ceiling.cite.status.doubt().is_some()
}

fn of_price(price: &Price) -> Vec<Risk> {
    let about = |detail, cite| Risk { kind: RiskKind::Price, detail, cite };
    let doubts = price.doubts().into_iter().map(|doubt| about(RiskDetail::Statement(doubt.text), doubt.cite));
    let without = price.without.iter().map(|part| about(RiskDetail::PriceWithout(part.clone()), None));
    doubts.chain(without).collect()
}

#[cfg(test)]
mod tests {
    use plimsoll_catalogue::{Catalogue, Date, PriceTerms};

    use super::*;
    use crate::matching::price_of;
    use crate::sizing::{Busiest, ClassLoad, DesignPoint};

    /// The sample decides far from today's response time, and a trial of full length agrees with it.
    #[test]
    fn a_sample_rejects_offers_far_slower_than_today() {
        let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: "USD".parse().ok(), region: None };
        let catalogue = Catalogue::built_in();
        let (class, iops) = (Class::RandomRead, 3_000.0);
        let load =
            ClassLoad { class, iops, bytes_per_second: iops * 8192.0, reads: 1.0, sequential: false, durable: false };
        let point = DesignPoint { of: Busiest::Operations, windows: 1, classes: vec![load] };
        let offer = catalogue.offer(&"aws/gp3:500GiB,iops=6000".parse().expect("notation"), &terms).expect("on offer");
        let price = || price_of(&offer, &terms);
        let check = |today_us: u64| {
            let mut required = SizingRequirements::of(vec![point.clone()], Bytes::gib(500));
            required.today = vec![(class, Span::from_micros(today_us))];
            let assessor = Assessor::new(&catalogue, &terms, &required);
            let is_rejected = assessor.find_slower(&offer, price()).is_some();
            let misses = matches!(assessor.assess(&offer, price()), Assessed::Misses { .. });
            assert!(misses || !is_rejected, "{today_us} us");
            let may_be_slower = SizingRequirements { may_be_slower: true, ..required.clone() };
            let assessor = Assessor::new(&catalogue, &terms, &may_be_slower);
            assert!(assessor.find_slower(&offer, price()).is_none());
            is_rejected
        };
        // The volume answers in a millisecond; from 1.2 times today's response time on it is slower.
        assert!(check(300) && check(600));
        for today_us in (800..900).step_by(10) {
            check(today_us);
        }
        assert!(!check(1_000) && !check(2_000));
    }
}

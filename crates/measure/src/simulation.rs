//! Simulations: the loads of measurements on models, in virtual time.

use plimsoll_analyse::{default_objective, judge, share_objective};
use plimsoll_catalogue::{Ask, CreditModels, Offer, is_about_size_sharing};
use plimsoll_choose::ask_of;
use plimsoll_language::{Language, label, say};
use plimsoll_load::{Pace, StreamSpec};
use plimsoll_model::ChainSpec;
use plimsoll_record::{
    Conditions, Counter, CreditLevel, Curve, EndReason, Finding, Objective, ObjectiveOrigin, Run, Source, Subject,
};
use plimsoll_units::{Bytes, Span};

use crate::backend::Virtual;
use crate::checks::check_saturation;
use crate::curve::CurveHead;
use crate::error::MeasureError;
use crate::invalid::InvalidRequest;
use crate::monitor::{Monitor, Unattended};
use crate::options::{EffortLevel, LoadOptions, ReplayOptions, SweepOptions};
use crate::plan::{Grid, MeasurePlan, TargetKind};
use crate::replay::Replaying;
use crate::request::RunContext;
use crate::sweep::{self, SweepResult};

/// Number of operations and depth for estimating the rate of a model.
const PILOT: u64 = 30_000;
const PILOT_DEPTH: u32 = 32;
/// Ratio to the lasting limit above which a rate is a burst.
const BURST_MARGIN: f64 = 1.05;

/// Address space of stages, which have no capacity.
pub const STAGES_SPACE: Bytes = Bytes::gib(64);

/// A model to simulate or emulate: a product of the catalogue, or stages.
#[derive(Clone, Debug)]
pub struct NamedModel {
    /// The configuration in its short form, or the stages.
    pub name: String,
    pub model: ChainSpec,
    /// The product; none for stages.
    pub offer: Option<Offer>,
}

impl NamedModel {
    /// The kind of subject in results.
    pub const fn kind(&self) -> &'static str {
        if self.offer.is_some() { "product" } else { "model" }
    }

    /// Bytes that can be addressed.
    pub fn size(&self) -> Bytes {
        self.offer.as_ref().map_or(STAGES_SPACE, |offer| offer.capacity)
    }

    /// The model at both ends of its burst credits; `None` without credits.
    fn credit_models(&self) -> Option<CreditModels> {
        match &self.offer {
            Some(offer) => offer.credit_models(&self.model),
            None => CreditModels::of_stages(&self.model),
        }
    }

    /// Level of the credits in a run that begins with full credits and spends them; `None` without credits.
    pub fn credits(&self) -> Option<CreditLevel> {
        self.credit_models().map(|_| CreditLevel::Spent)
    }

    /// Doubts about the figures of any load on the model, which begins idle.
    pub fn doubts(&self) -> Vec<Finding> {
        let full_credits = self.credits().map(|_| Finding::FullCredits { product: self.name.clone() });
        full_credits.into_iter().chain(self.offer.iter().flat_map(list_doubts)).collect()
    }
}

/// A model with its burst credits at a level.
#[derive(Clone, Copy, Debug)]
struct ModelVariant<'a> {
    chain: &'a ChainSpec,
    credits: Option<CreditLevel>,
    /// Objective of a load without its own.
    objective: Option<Objective>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SimulationRequest {
    pub load: LoadOptions,
    /// Duration and points.
    pub sweep: SweepOptions,
    /// A recorded load in place of a generated one.
    pub replay: Option<ReplayOptions>,
    /// Size of the address space; by default that of the model.
    pub size: Option<Bytes>,
}

/// Simulates the load on each model, until the user ends it: curves with their verdicts at a common objective.
///
/// A load line of a product with burst credits is without them, whatever the duration; a finding has that with credits.
/// A recorded load, and named loads of a given duration, begin with full credits and spend them.
///
/// # Errors
/// The request is invalid for one of the models, or a simulation failed.
pub fn simulate(
    models: &[NamedModel],
    request: &SimulationRequest,
    context: &RunContext<'_>,
    monitor: &mut dyn Monitor,
) -> Result<Vec<Curve>, MeasureError> {
    if request.sweep.threads != 1 {
        return Err(InvalidRequest::SimulationThreads.into());
    }
    let load = ModelLoad::new(request)?;
    models.iter().try_for_each(|model| load.check(model, request.size))?;
    let mut curves = Vec::new();
    let mut on_credits = Vec::new();
    for model in models {
        let size = request.size.unwrap_or(model.size());
        let pinned = model.credit_models().filter(|_| !load.has_own_duration());
        let (chain, credits) = match &pinned {
            Some(pinned) => (&pinned.used_up, Some(CreditLevel::UsedUp)),
            None => (&model.model, model.credits()),
        };
        let variant = ModelVariant { chain, credits, objective: None };
        let lasting = load.simulate(model, variant, size, context, monitor)?;
        let full = pinned.as_ref().and_then(|pinned| pinned.full.as_ref());
        if let Some(chain) = full.filter(|_| lasting.ended == EndReason::Complete) {
            let objective = lasting.load_line.map(|line| line.objective());
            let variant = ModelVariant { chain, credits: Some(CreditLevel::Full), objective };
            on_credits.push((curves.len(), load.simulate(model, variant, size, context, monitor)?));
        }
        curves.push(lasting);
        if monitor.is_interrupted() {
            break;
        }
    }
    let (places, bursts): (Vec<usize>, Vec<Curve>) = on_credits.into_iter().unzip();
    let count = curves.len();
    curves.extend(bursts);
    share_objective(&mut curves);
    let bursts = curves.split_off(count);
    for (place, burst) in places.into_iter().zip(&bursts) {
        let found = compare_credits(models[place].offer.as_ref(), &curves[place], burst);
        // First, as it completes the verdict.
        curves[place].findings.splice(0..0, found);
        if burst.ended != EndReason::Complete {
            curves[place].ended = burst.ended;
        }
    }
    Ok(curves)
}

/// The load line of a model while its burst credits last, if these raise it; without a line, the highest rates are
/// compared. The catalogue has the number of credits.
fn compare_credits(offer: Option<&Offer>, lasting: &Curve, burst: &Curve) -> Option<Finding> {
    let value = |curve: &Curve| curve.load_line.and_then(|line| line.iops()).map(|iops| iops.value);
    let (lasting, line) = match value(burst) {
        Some(line) => (value(lasting), line),
        None => (find_max_iops(&lasting.runs), find_max_iops(&burst.runs)?),
    };
    let is_raised = lasting.is_none_or(|lasting| line > lasting * BURST_MARGIN);
    let seconds = |offer: &Offer| offer.standing_of(&weigh_streams(burst, line)).credits_last_s(line);
    is_raised.then(|| Finding::LineOnCredits { burst: line, seconds: offer.and_then(seconds), lasting })
}

fn find_max_iops(runs: &[Run]) -> Option<f64> {
    runs.iter().map(|run| run.figures.iops.value).max_by(f64::total_cmp)
}

/// The operations of each stream with their weights in the run nearest to a rate.
fn weigh_streams(curve: &Curve, iops: f64) -> Vec<(Ask, f64)> {
    let distance = |run: &&Run| (run.figures.iops.value - iops).abs();
    let nearest = curve.runs.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let operations = |stream: usize| -> u64 {
        let counters = nearest.iter().flat_map(|run| &run.total.0);
        counters.filter(|counter| usize::from(counter.stream) == stream).map(Counter::operations).sum()
    };
    let streams = curve.conditions.streams.iter().enumerate();
    streams.map(|(index, stream)| (ask_of(stream), operations(index).max(1) as f64)).collect()
}

enum ModelLoad {
    Generated {
        plan: Box<MeasurePlan>,
        /// The plan of the lowest effort, which chooses the objective; none if one is given, or the effort is the lowest.
        quick: Option<Box<MeasurePlan>>,
    },
    Recorded(Box<Replaying>),
}

impl ModelLoad {
    fn new(request: &SimulationRequest) -> Result<Self, MeasureError> {
        let SimulationRequest { load, sweep, replay, .. } = request;
        if let Some(replay) = replay {
            return Ok(Self::Recorded(Replaying::new(replay, load, sweep, TargetKind::Model)?.into()));
        }
        let plan = |sweep: &SweepOptions| MeasurePlan::new(load, sweep, TargetKind::Model).map(Box::new);
        let quick = SweepOptions { effort: EffortLevel::Quick, ..sweep.clone() };
        let is_chosen = sweep.objective.is_none() && quick != *sweep;
        Ok(Self::Generated { plan: plan(sweep)?, quick: is_chosen.then(|| plan(&quick)).transpose()? })
    }

    /// True if the time of the load is part of it: it depends on neither the effort nor the precision.
    fn has_own_duration(&self) -> bool {
        match self {
            Self::Recorded(_) => true,
            Self::Generated { plan, .. } => plan.effort.operations.is_none() && plan.sweep.is_named(),
        }
    }

    /// Fails if the size or a recording extends beyond a product, before any simulation.
    fn check(&self, model: &NamedModel, size: Option<Bytes>) -> Result<(), MeasureError> {
        let (is_product, capacity, name) = (model.offer.is_some(), model.size(), &model.name);
        if let Some(size) = size.filter(|size| is_product && *size > capacity) {
            return Err(InvalidRequest::Capacity { size, name: name.clone(), capacity }.into());
        }
        let Self::Recorded(replaying) = self else { return Ok(()) };
        let recording = replaying.recording();
        match size {
            Some(size) => recording.fit("--size", size, label!("use a larger --size")),
            None if is_product => {
                recording.fit(&say!("the size of {name}"), capacity, label!("use a larger product, or --size"))
            }
            None => Ok(()),
        }
    }

    /// Runs the load on a model; returns the result and the conditions.
    fn run(
        &self,
        variant: ModelVariant<'_>,
        size: Bytes,
        monitor: &mut dyn Monitor,
    ) -> Result<(SweepResult, Conditions), MeasureError> {
        match self {
            Self::Recorded(replaying) => {
                let mut backend = Virtual::new(variant.chain, 0);
                Ok((replaying.run(&mut backend, monitor), replaying.conditions(true)))
            }
            Self::Generated { plan, .. } => run_plan(plan, variant, size, monitor),
        }
    }

    /// The default objective if the load of this effort has chosen another than that of the lowest effort: a product has
    /// the same at any effort.
    fn choose_objective(
        &self,
        result: &SweepResult,
        variant: ModelVariant<'_>,
        size: Bytes,
    ) -> Result<Option<(Objective, Span)>, MeasureError> {
        let Self::Generated { quick: Some(plan), .. } = self else { return Ok(None) };
        if variant.objective.is_some() || self.has_own_duration() {
            return Ok(None);
        }
        let (pilot, _) = run_plan(plan, variant, size, &mut Unattended)?;
        let chosen = default_objective(&result.slots, &result.runs).map(|(objective, _)| objective);
        Ok(default_objective(&pilot.slots, &pilot.runs).filter(|(objective, _)| chosen != Some(*objective)))
    }

    fn simulate(
        &self,
        model: &NamedModel,
        variant: ModelVariant<'_>,
        size: Bytes,
        context: &RunContext<'_>,
        monitor: &mut dyn Monitor,
    ) -> Result<Curve, MeasureError> {
        let NamedModel { name, offer, .. } = model;
        let mut findings = offer.as_ref().map(list_doubts).unwrap_or_default();
        let (mut result, conditions) = self.run(variant, size, monitor)?;
        let chosen = if monitor.is_interrupted() { None } else { self.choose_objective(&result, variant, size)? };
        let objective = chosen.map(|(objective, _)| objective).or(variant.objective);
        if chosen.is_some() {
            (result, _) = self.run(ModelVariant { objective, ..variant }, size, monitor)?;
        }
        if let Some(fault) = result.fault.take() {
            return Err(fault.into());
        }
        if let Self::Recorded(replaying) = self {
            findings.extend(replaying.findings());
        }
        let max_iops = find_max_iops(&result.runs).unwrap_or_default();
        if variant.credits == Some(CreditLevel::Spent) {
            let burst = offer.as_ref().and_then(|offer| check_burst(offer, &conditions, max_iops));
            findings.insert(0, burst.unwrap_or_else(|| Finding::FullCredits { product: name.clone() }));
        }
        findings.extend(offer.as_ref().and_then(|offer| check_extrapolation(offer, &conditions, &result.runs)));
        findings.extend(offer.as_ref().and_then(|offer| check_size_sharing(offer, &conditions)));
        let head = CurveHead {
            started: None,
            source: Source::Simulated { model: variant.chain.to_string(), credits: variant.credits },
            subject: Subject { name: name.clone(), kind: model.kind().into(), size, device: None },
            host: None,
            conditions,
            findings,
        };
        let wall = result.spent;
        let mut curve = head.build(result, wall, context);
        let findings = check_saturation(&curve);
        curve.findings.extend(findings);
        judge(&mut curve, objective);
        if let Some((basis, (_, light_p99))) = curve.basis.as_mut().zip(chosen) {
            basis.origin = ObjectiveOrigin::Chosen { light_p99 };
        }
        Ok(curve)
    }
}

/// Runs a generated load on a model; returns the result and the conditions.
fn run_plan(
    plan: &MeasurePlan,
    ModelVariant { chain: model, objective, .. }: ModelVariant<'_>,
    size: Bytes,
    monitor: &mut dyn Monitor,
) -> Result<(SweepResult, Conditions), MeasureError> {
    let streams = plan.place(size, Grid::Any)?;
    let mut timed = plan_virtual_time(plan, model, &streams);
    timed.sweep.objective = timed.sweep.objective.or(objective);
    let mut backend = Virtual::new(model, timed.seed);
    let result = sweep::run_sweep(&timed, &streams, &model.names(), &mut backend, monitor);
    Ok((result, plan.conditions(streams, 1, true)))
}

/// The plan with durations that follow from the required operations.
fn plan_virtual_time(plan: &MeasurePlan, model: &ChainSpec, streams: &[StreamSpec]) -> MeasurePlan {
    let mut loaded = streams.to_vec();
    loaded[0].pace = Pace::Closed { depth: PILOT_DEPTH };
    let pilot = plimsoll_choose::trial(model, &loaded, PILOT, plan.seed);
    plan.in_virtual_time(pilot.map(|figures| figures.iops).filter(|iops| *iops > 0.0))
}

/// The burst, if a run of a single stream exceeded the lasting limit of the product.
fn check_burst(offer: &Offer, conditions: &Conditions, max_iops: f64) -> Option<Finding> {
    let [stream] = &conditions.streams[..] else { return None };
    let standing = offer.standing(&ask_of(stream));
    let (lasting, peak) = (standing.binding()?.iops, standing.peak?);
    let is_burst = max_iops > lasting * BURST_MARGIN && peak.bound.iops > lasting * BURST_MARGIN;
    is_burst.then_some(Finding::BurstCredits { burst: peak.bound.iops, seconds: peak.seconds, lasting })
}

/// The quantities of a load for which a fitted model was not fitted.
fn check_extrapolation(offer: &Offer, conditions: &Conditions, runs: &[Run]) -> Option<Finding> {
    let fit = offer.model_fit()?;
    let in_flight: Vec<f64> = runs.iter().map(|run| run.figures.in_flight).collect();
    let mut outside = conditions.streams.iter().filter_map(|stream| fit.outside(&ask_of(stream), &in_flight));
    Language::English.scope(|| outside.next()).map(|what| Finding::ModelDoubted { what })
}

/// The doubt about operations of several sizes, of a stream or of several ones.
fn check_size_sharing(offer: &Offer, conditions: &Conditions) -> Option<Finding> {
    let mut sizes = conditions.streams.iter().flat_map(|stream| stream.mix.sizes.sizes()).map(|(size, _)| *size);
    let first = sizes.next()?;
    let what = offer.size_sharing_doubt().filter(|_| sizes.any(|size| size != first))?;
    Some(Finding::ModelDoubted { what })
}

/// Findings about the product's model: its doubts, and the number of unverified limits. In English, as they belong to the
/// run.
fn list_doubts(offer: &Offer) -> Vec<Finding> {
    let (model, latency, all) =
        Language::English.scope(|| (offer.product().model_view(), offer.latency_doubt(), offer.doubts()));
    let doubts: Vec<String> = latency.into_iter().chain(model.into_iter().flat_map(|model| model.doubts)).collect();
    let others = all.into_iter().filter(|doubt| !doubts.contains(&doubt.text)).count();
    let unverified = (others > 0).then(|| Finding::FiguresUnverified {
        count: u32::try_from(others).unwrap_or(u32::MAX),
        product: offer.config.volume.product.clone(),
    });
    let model_doubts = doubts.into_iter().filter(|doubt| !is_about_size_sharing(doubt));
    model_doubts.map(|what| Finding::ModelDoubted { what }).chain(unverified).collect()
}

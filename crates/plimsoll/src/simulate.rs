//! `plimsoll simulate`: the same loads and reports for products or models, in virtual time.

use plimsoll_analyse::judge;
use plimsoll_catalogue::{Ask, Offer, Price};
use plimsoll_load::{Pace, Pattern, StreamSpec};
use plimsoll_measure::checks::check_saturation;
use plimsoll_measure::{Grid, MeasurePlan, Replaying, SweepResult, TargetKind, Virtual, sweep};
use plimsoll_model::ChainSpec;
use plimsoll_record::{Conditions, Curve, FORMAT, Finding, Run, Source, Subject};
use plimsoll_units::Bytes;

use crate::args::Simulate;
use crate::cli_error::CliError;
use crate::console::Console;
use crate::offers::{NamedModel, Offers};
use crate::output::{Outputs, finish_all};

/// Number of operations and depth for estimating the rate of a model.
const PILOT: u64 = 30_000;
const PILOT_DEPTH: u32 = 32;
/// Ratio to the lasting limit above which a rate is a burst.
const BURST_MARGIN: f64 = 1.05;

/// Simulates the models in sequence.
pub fn run(args: &Simulate) -> Result<(), CliError> {
    if args.sweep.threads != 1 {
        return Err(CliError::usage("a simulation has a single loop: omit --threads"));
    }
    let work = ModelLoad::new(args)?;
    let outputs = Outputs::new(&args.output)?;
    outputs.fit(args.models.len())?;
    let mut offers = Offers::new(&args.terms)?;
    let products: Result<Vec<NamedModel>, CliError> =
        args.models.iter().map(|text| NamedModel::read(text, || Ok(&mut offers))).collect();
    let products = products?;
    for product in &products {
        work.check(product, args.size)?;
    }
    let price = |product: &NamedModel| product.offer.as_ref().and_then(|offer| offers.price_of(offer));
    let prices: Vec<Option<Price>> = products.iter().map(price).collect();
    let mut console = Console::new(args.output.quiet).map_err(|error| CliError::Failed(error.into()))?;
    let mut curves = Vec::new();
    for product in products {
        curves.push(product.curve(&work, args.size, &mut console)?);
        if console.interrupted() {
            break;
        }
    }
    finish_all(curves, &prices, &outputs)
}

/// Simulates the only model of the arguments, and judges its curve.
pub fn single(args: &Simulate, console: &mut Console) -> Result<Curve, CliError> {
    let work = ModelLoad::new(args)?;
    let mut offers = Offers::new(&args.terms)?;
    let [text] = &args.models[..] else { return Err(CliError::usage("name a single model")) };
    let product = NamedModel::read(text, || Ok(&mut offers))?;
    work.check(&product, args.size)?;
    let mut curve = product.curve(&work, args.size, console)?;
    judge(&mut curve, None);
    Ok(curve)
}

/// The load of each model.
enum ModelLoad {
    /// A generated load.
    Generated(Box<MeasurePlan>),
    /// A recorded load.
    Recorded(Box<Replaying>),
}

impl ModelLoad {
    fn new(args: &Simulate) -> Result<Self, CliError> {
        let (load, sweep) = (args.load.options(), args.sweep.options());
        Ok(match args.replay.options() {
            Some(replay) => Self::Recorded(Replaying::new(&replay, &load, &sweep, TargetKind::Model)?.into()),
            None => Self::Generated(MeasurePlan::new(&load, &sweep, TargetKind::Model)?.into()),
        })
    }

    /// Fails if the size or a recording extends beyond a product, before any simulation.
    fn check(&self, product: &NamedModel, size: Option<Bytes>) -> Result<(), CliError> {
        if let Some(size) = size.filter(|size| product.offer.is_some() && *size > product.size()) {
            return Err(CliError::usage(format!(
                "--size {size}: {} holds {}: use a larger product, or a smaller --size",
                product.name,
                product.size()
            )));
        }
        let Self::Recorded(replaying) = self else { return Ok(()) };
        let recording = replaying.recording();
        match size {
            Some(size) => Ok(recording.fit("--size", size, "use a larger --size")?),
            None if product.offer.is_some() => {
                let limit = format!("the size of {}", product.name);
                Ok(recording.fit(&limit, product.size(), "use a larger product, or --size")?)
            }
            None => Ok(()),
        }
    }

    /// Runs the load on a model; returns the result and the conditions.
    fn run(
        &self,
        model: &ChainSpec,
        size: Bytes,
        console: &mut Console,
    ) -> Result<(SweepResult, Conditions), CliError> {
        let plan = match self {
            Self::Recorded(replaying) => {
                let mut backend = Virtual::new(model, 0);
                return Ok((replaying.run(&mut backend, console), replaying.conditions(true)));
            }
            Self::Generated(plan) => plan,
        };
        let streams = plan.place(size, Grid::Any)?;
        let plan = &in_virtual_time(plan, model, &streams);
        let mut backend = Virtual::new(model, plan.seed);
        let result = sweep::run(plan, &streams, &model.names(), &mut backend, console);
        Ok((result, plan.conditions(streams, 1, true)))
    }
}

impl NamedModel {
    fn curve(self, work: &ModelLoad, size: Option<Bytes>, console: &mut Console) -> Result<Curve, CliError> {
        let size = size.unwrap_or(self.size());
        let mut findings = self.offer.as_ref().map(doubts).unwrap_or_default();
        let (result, conditions) = work.run(&self.model, size, console)?;
        if let Some(fault) = result.fault {
            return Err(CliError::Failed(anyhow::Error::new(fault)));
        }
        if let ModelLoad::Recorded(replaying) = work {
            findings.extend(replaying.findings());
        }
        let most = result.runs.iter().map(|run| run.figures.iops.value).fold(0.0, f64::max);
        findings.extend(self.offer.as_ref().and_then(|offer| burst(offer, &conditions, most)));
        findings.extend(self.offer.as_ref().and_then(|offer| extrapolation(offer, &conditions, &result.runs)));
        let mut curve = Curve {
            format: FORMAT.into(),
            made_by: crate::MADE_BY.into(),
            started: None,
            wall: result.spent,
            command: std::env::args().collect(),
            ended: result.ended,
            source: Source::Simulated { model: self.model.to_string() },
            subject: Subject { kind: self.kind().into(), name: self.name, size, device: None },
            host: None,
            conditions,
            runs: result.runs,
            knee: None,
            load_line: None,
            closed_line: None,
            basis: None,
            slots: result.slots,
            findings,
        };
        let findings = check_saturation(&curve);
        curve.findings.extend(findings);
        Ok(curve)
    }
}

/// The plan with durations that follow from the required operations.
fn in_virtual_time(plan: &MeasurePlan, model: &ChainSpec, streams: &[StreamSpec]) -> MeasurePlan {
    let mut loaded = streams.to_vec();
    loaded[0].pace = Pace::Closed { depth: PILOT_DEPTH };
    let pilot = plimsoll_choose::trial(model, &loaded, PILOT, plan.seed);
    plan.in_virtual_time(pilot.map(|figures| figures.iops).filter(|iops| *iops > 0.0))
}

/// The burst, if a run of a single stream exceeded the lasting limit of the product.
fn burst(offer: &Offer, conditions: &Conditions, most: f64) -> Option<Finding> {
    let [stream] = &conditions.streams[..] else { return None };
    let (block, reads) = (stream.mix.sizes.largest(), stream.mix.reads);
    let standing = offer.standing(&Ask { block, reads, sequential: stream.pattern == Pattern::Sequential });
    let (lasting, peak) = (standing.binding()?.iops, standing.peak?);
    let is_burst = most > lasting * BURST_MARGIN && peak.bound.iops > lasting * BURST_MARGIN;
    is_burst.then_some(Finding::BurstCredits { burst: peak.bound.iops, seconds: peak.seconds, lasting })
}

/// The quantities of a load for which a fitted model was not fitted.
fn extrapolation(offer: &Offer, conditions: &Conditions, runs: &[Run]) -> Option<Finding> {
    let fit = offer.model_fit()?;
    let in_flight: Vec<f64> = runs.iter().map(|run| run.figures.in_flight).collect();
    let mut outside =
        conditions.streams.iter().filter_map(|stream| fit.outside(&plimsoll_choose::ask_of(stream), &in_flight));
    outside.next().map(|what| Finding::ModelDoubted { what })
}

/// Findings about the product's model: its doubts, and the number of unverified limits.
fn doubts(offer: &Offer) -> Vec<Finding> {
    let mut found = offer.product().model_view().map(|model| model.doubts).unwrap_or_default();
    let others = offer.doubts().into_iter().filter(|doubt| !found.contains(&doubt.text)).count();
    if others > 0 {
        let product = &offer.config.volume.product;
        found.push(format!("{others} of its figures are unverified (plimsoll catalogue show {product})"));
    }
    found.into_iter().map(|what| Finding::ModelDoubted { what }).collect()
}

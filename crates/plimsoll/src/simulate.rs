//! `plimsoll simulate`: the same load, course and report against products or models in virtual time.

use plimsoll_catalogue::Offer;
use plimsoll_load::{Pace, StreamSpec};
use plimsoll_model::ChainSpec;
use plimsoll_record::{Conditions, Curve, FORMAT, Finding, Source, Subject};
use plimsoll_units::Bytes;

use crate::args::Simulate;
use crate::console::Console;
use crate::course::{Travelled, follow};
use crate::offers::{NamedModel, Offers};
use crate::output::{Outputs, finish_all};
use crate::plan::{Grid, Plan};
use crate::replay::{Replaying, Venue};
use crate::stand::Virtual;
use crate::trouble::Trouble;

/// Operations that tell how fast a model is, and in how deep a queue.
const PILOT: u64 = 30_000;
const PILOT_DEPTH: u32 = 32;

/// Simulates the models, one after the other.
pub fn run(args: &Simulate) -> Result<(), Trouble> {
    if args.course.threads != 1 {
        return Err(Trouble::usage("a simulation has one loop, and virtual time: leave out --threads"));
    }
    let work = Work::new(args)?;
    let outputs = Outputs::new(&args.output)?;
    outputs.fit(args.models.len())?;
    let mut offers = Offers::new(&args.terms)?;
    let products: Result<Vec<NamedModel>, Trouble> =
        args.models.iter().map(|text| NamedModel::read(text, || Ok(&mut offers))).collect();
    let products = products?;
    for product in &products {
        work.check(product, args.size)?;
    }
    let mut console = Console::new(args.output.quiet).map_err(|error| Trouble::Failed(error.into()))?;
    let mut curves = Vec::new();
    for product in products {
        curves.push(product.curve(&work, args.size, &mut console)?);
        if console.interrupted() {
            break;
        }
    }
    finish_all(curves, &outputs)
}

/// What is asked of each model.
enum Work {
    /// Loads that are generated as the course needs them.
    Generated(Box<Plan>),
    /// A recorded one.
    Recorded(Box<Replaying>),
}

impl Work {
    fn new(args: &Simulate) -> Result<Self, Trouble> {
        match &args.replay.replay {
            Some(path) => {
                let replaying = Replaying::new(path, &args.replay, &args.load, &args.course, Venue::Model)?;
                Ok(Self::Recorded(replaying.into()))
            }
            None => Ok(Self::Generated(Plan::new(&args.load, &args.course)?.into())),
        }
    }

    /// Refuses a recording that reaches beyond a product, before anything is simulated.
    fn check(&self, product: &NamedModel, size: Option<Bytes>) -> Result<(), Trouble> {
        let Self::Recorded(replaying) = self else { return Ok(()) };
        let fit = |name, size| replaying.recording().fit(name, size, "give one of that size, or --size");
        match size {
            Some(size) => fit("--size", size),
            None if product.offer.is_some() => fit(&product.name, product.size()),
            None => Ok(()),
        }
    }

    /// What becomes of it on a model, and under which conditions.
    fn follow(
        &self,
        model: &ChainSpec,
        size: Bytes,
        console: &mut Console,
    ) -> Result<(Travelled, Conditions), Trouble> {
        let plan = match self {
            Self::Recorded(replaying) => {
                let mut stand = Virtual::new(model, 0);
                return Ok((replaying.follow(&mut stand, console), replaying.conditions(true)));
            }
            Self::Generated(plan) => plan,
        };
        let streams = plan.place(size, Grid::Any)?;
        let plan = &in_virtual_time(plan, model, &streams);
        let mut stand = Virtual::new(model, plan.seed);
        let travelled = follow(plan, &streams, &model.names(), &mut stand, console);
        let conditions = Conditions {
            streams,
            threads: 1,
            direct: true,
            compressible: plan.compressible,
            seed: plan.seed,
            objective: plan.objective(),
            trace: None,
        };
        Ok((travelled, conditions))
    }
}

impl NamedModel {
    fn curve(self, work: &Work, size: Option<Bytes>, console: &mut Console) -> Result<Curve, Trouble> {
        let size = size.unwrap_or(self.size());
        let mut findings = self.offer.as_ref().map(doubts).unwrap_or_default();
        let (travelled, conditions) = work.follow(&self.model, size, console)?;
        if let Some(fault) = travelled.fault {
            return Err(Trouble::Failed(anyhow::Error::new(fault)));
        }
        if let Work::Recorded(replaying) = work {
            findings.extend(replaying.findings());
        }
        Ok(Curve {
            format: FORMAT.into(),
            made_by: crate::MADE_BY.into(),
            started: None,
            wall: travelled.spent,
            command: std::env::args().collect(),
            ended: travelled.ended,
            source: Source::Simulated { model: self.model.to_string() },
            subject: Subject { kind: self.kind().into(), name: self.name, size, device: None },
            host: None,
            conditions,
            runs: travelled.runs,
            knee: None,
            load_line: None,
            basis: None,
            slots: travelled.slots,
            findings,
        })
    }
}

/// The plan with points as long as their operations need: time costs nothing here, operations do.
fn in_virtual_time(plan: &Plan, model: &ChainSpec, streams: &[StreamSpec]) -> Plan {
    let mut loaded = streams.to_vec();
    loaded[0].pace = Pace::Closed { depth: PILOT_DEPTH };
    let pilot = plimsoll_choose::trial(model, &loaded, PILOT, plan.seed);
    plan.in_virtual_time(pilot.map(|figures| figures.iops).filter(|iops| *iops > 0.0))
}

/// What the product's curve stands on, in few findings: the model's own doubts, and how many limits were not read.
fn doubts(offer: &Offer) -> Vec<Finding> {
    let mut found = offer.product().model_view().map(|model| model.doubts).unwrap_or_default();
    let others = offer.doubts().into_iter().filter(|doubt| !found.contains(&doubt.text)).count();
    if others > 0 {
        let product = &offer.config.volume.product;
        found.push(format!(
            "{others} of its figures were inferred or recalled, not read (plimsoll catalogue show {product})"
        ));
    }
    found.into_iter().map(|what| Finding::ModelDoubted { what }).collect()
}

//! `plimsoll simulate`: the same load, course and report against a model in virtual time.

use plimsoll_record::{Conditions, Curve, FORMAT, Source, Subject};
use plimsoll_units::Bytes;

use crate::args::Simulate;
use crate::console::Console;
use crate::course::follow;
use crate::output::{Outputs, finish};
use crate::plan::Plan;
use crate::stand::Virtual;
use crate::trouble::Trouble;

/// Simulates the model.
pub fn run(args: &Simulate) -> Result<(), Trouble> {
    if args.course.threads != 1 {
        return Err(Trouble::usage("a simulation has one loop, and virtual time: leave out --threads"));
    }
    let plan = Plan::new(&args.load, &args.course)?;
    let outputs = Outputs::new(&args.output)?;
    let model = plimsoll_model::parse(&args.model).map_err(|error| Trouble::usage(error.to_string()))?;
    let streams = plan.place(args.size, Bytes::new(1))?;
    let stages: Vec<String> = model.stages().iter().map(ToString::to_string).collect();
    let name = model.to_string();
    let mut console = Console::new(args.output.quiet).map_err(|error| Trouble::Failed(error.into()))?;
    let travelled = follow(&plan, &streams, &stages, &mut Virtual { model }, &mut console);
    if let Some(fault) = travelled.fault {
        return Err(Trouble::Failed(anyhow::Error::new(fault)));
    }
    let curve = Curve {
        format: FORMAT.into(),
        made_by: crate::MADE_BY.into(),
        started: None,
        wall: travelled.spent,
        command: std::env::args().collect(),
        ended: travelled.ended,
        source: Source::Simulated { model: name.clone() },
        subject: Subject { name, kind: "model".into(), size: args.size, device: None },
        host: None,
        conditions: Conditions {
            streams,
            threads: 1,
            direct: true,
            compressible: plan.compressible,
            seed: plan.seed,
            objective: plan.objective(),
        },
        runs: travelled.runs,
        knee: None,
        load_line: None,
        findings: Vec::new(),
    };
    finish(curve, &outputs)
}

//! `plimsoll measure`: measures the curve of a path or export.

mod against;

use std::path::PathBuf;

use plimsoll_catalogue::{Catalogue, Like};
use plimsoll_choose::Gate;
use plimsoll_language::say;
use plimsoll_measure::{MeasurementRequest, RunContext, RunLabel};
use plimsoll_record::Curve;
use plimsoll_report::run_metrics;

use crate::args::MeasureCommand;
use crate::cli_error::CliError;
use crate::console::Console;
use crate::otlp::send_metrics;
use crate::output::{Outputs, check_end, print_run_file};
use crate::volumes::home::find_volume;
use crate::{gates, matching, store};
use plimsoll_service::OtlpEndpoint;

/// Measures the path or export.
pub fn run(args: &MeasureCommand) -> Result<(), CliError> {
    if let Some(path) = args.against.as_ref().or((!args.ab.is_empty()).then_some(&args.path)) {
        return against::run(args, path);
    }
    let (curve, saved, exported) = gates::guard(&args.gates, || {
        let outputs = Outputs::of_measurement(args)?;
        outputs.check_overwrite(&args.path)?;
        let mut console = Console::new(args.output.quiet)?;
        let curve = measure(args.request(), std::env::args().collect(), &mut console)?;
        let saved = keep_and_write(&curve, args.label.as_ref(), &outputs)?;
        let export = |endpoint: &OtlpEndpoint| send_metrics(endpoint, &run_metrics(&curve), jiff::Timestamp::now());
        let exported = args.otlp.as_ref().map_or(Ok(()), export);
        check_end(curve.ended)?;
        Ok((curve, saved, exported))
    })?;
    gates::decide(&args.gates, &[(curve.subject.name.clone(), curve)], Gate::judge_curve)?;
    saved.and(exported.map_err(CliError::Failed))
}

/// Keeps a run, and prints and writes its page. The inner error is that of keeping it.
pub fn keep_and_write(
    curve: &Curve,
    label: Option<&RunLabel>,
    outputs: &Outputs,
) -> Result<Result<(), CliError>, CliError> {
    let stored = outputs.keep(|| store::runs().keep(curve, label));
    outputs.write_curves(std::slice::from_ref(curve))?;
    outputs.print_detail(|| matching::summarise(curve))?;
    Ok(print_run_file(stored, outputs))
}

/// Measures the target of a request, and keeps the run. Returns its file.
pub fn measure_and_keep(
    request: MeasurementRequest,
    command: Vec<String>,
    console: &mut Console,
) -> Result<PathBuf, CliError> {
    Ok(store::runs().keep(&measure(request, command, console)?, None)?)
}

fn measure(request: MeasurementRequest, command: Vec<String>, console: &mut Console) -> Result<Curve, CliError> {
    check_path(&request)?;
    Ok(plimsoll_measure::measure(request, &run_context(command), console)?)
}

pub fn run_context(command: Vec<String>) -> RunContext<'static> {
    RunContext {
        made_by: crate::PROGRAM,
        command,
        earlier_objective: &|subject, streams| store::runs().chosen_objective(subject, streams),
        find_volume: &find_volume,
    }
}

/// Fails with the command for a model or product in place of a path.
fn check_path(request: &MeasurementRequest) -> Result<(), CliError> {
    let is_model = |text: &str| match text.parse::<Like>() {
        Ok(Like::Stages(_)) => true,
        Ok(Like::Config(config)) => Catalogue::built_in().find(&config.volume.product).is_ok(),
        Err(_) => false,
    };
    let is_missing = request.hosts.is_empty() && !request.path.exists();
    match request.path.to_str().filter(|text| is_missing && is_model(text)) {
        Some(text) => Err(CliError::usage(say!(
            "{text}: a model, not a path: run plimsoll simulate '{text}', or use a directory, file or block device"
        ))),
        None => Ok(()),
    }
}

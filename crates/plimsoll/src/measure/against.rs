//! `plimsoll measure PATH --against PATH_B`, or `--ab COMMAND_A COMMAND_B`: two targets, or two settings of a target,
//! measured in alternating passes and compared.

use std::path::Path;

use plimsoll_analyse::Comparison;
use plimsoll_language::{label, say};
use plimsoll_measure::{
    EffortLevel, InterleavedCurves, MeasurementRequest, compare_interleaved, measure_interleaved, name_run,
    run_in_shell,
};
use plimsoll_record::Curve;
use plimsoll_units::Span;

use super::{check_path, run_context};
use crate::args::MeasureCommand;
use crate::cli_error::CliError;
use crate::console::Console;
use crate::gates;
use crate::output::{Outputs, check_end};
use crate::store;

/// Measures both sides, keeps both runs, and shows the comparison.
pub(super) fn run(args: &MeasureCommand, path: &Path) -> Result<(), CliError> {
    let Compared { name, curves, comparison, saved } = gates::guard(&args.gates, || measure_both(args, path))?;
    gates::decide(&args.gates, &[(name, curves)], |gate, [a, b]| {
        gate.judge_change(&comparison, [a, b].map(std::slice::from_ref))
    })?;
    saved
}

/// Runs of both sides, with their comparison.
struct Compared {
    name: String,
    curves: [Curve; 2],
    comparison: Comparison,
    /// Whether both runs were kept.
    saved: Result<(), CliError>,
}

fn measure_both(args: &MeasureCommand, path: &Path) -> Result<Compared, CliError> {
    let outputs = Outputs::of_measurement(args)?;
    outputs.check_overwrite(&args.path)?;
    outputs.check_overwrite(path)?;
    let mut request = args.request();
    if request.sweep.effort == EffortLevel::Quick {
        request.sweep.effort = EffortLevel::Within(QUICK_DURATION);
    }
    let requests = [request.clone(), MeasurementRequest { path: path.to_owned(), ..request }];
    requests.iter().try_for_each(check_path)?;
    check_target(path)?;
    let mut console = Console::new(args.output.quiet)?;
    let before_pass = |side: usize| args.ab.get(side).map_or(Ok(()), |command| run_in_shell(command));
    let context = run_context(std::env::args().collect());
    finish(measure_interleaved(requests, &before_pass, &context, &mut console)?, args, &outputs)
}

/// Fails with the commands for a kept run in place of a target.
fn check_target(path: &Path) -> Result<(), CliError> {
    let may_be_run = !path.exists() || path.extension().is_some_and(|extension| extension == "json");
    let named = may_be_run.then(|| store::runs().load_named(path).ok()).flatten();
    named.map_or(Ok(()), |(name, _)| {
        Err(CliError::usage(say!(
            "--against {}: a run, not a target: measure without --against, then plimsoll compare {name} last",
            path.display()
        )))
    })
}

/// Duration of a quick measurement of both sides: the passes of a slow one are too few in less.
const QUICK_DURATION: Span = Span::from_secs(20);

/// Keeps both runs, and prints and writes the comparison.
fn finish(measured: InterleavedCurves, args: &MeasureCommand, outputs: &Outputs) -> Result<Compared, CliError> {
    let InterleavedCurves { curves, fault } = measured;
    let sides = [0, 1].map(|side| keep_side(&curves[side], args.ab.get(side), outputs));
    let [(name_a, saved_a), (name_b, saved_b)] = sides;
    let (names, saved) = ([name_a, name_b], saved_a.and(saved_b));
    if let Some(fault) = fault {
        let end = if saved.is_ok() { label!(" (the runs until then were kept)") } else { "" };
        return Err(CliError::Failed(anyhow::anyhow!("{fault}{end}")));
    }
    let ends = [curves[0].ended, curves[1].ended];
    ends.into_iter().try_for_each(check_end)?;
    let comparison = compare_interleaved(&curves)?;
    outputs.write_comparison(names.each_ref().map(std::slice::from_ref), &comparison, &curves)?;
    Ok(Compared { name: names.join(" and "), curves, comparison, saved })
}

/// Keeps the run of a side. Returns its name, with the side's command, and whether it was kept.
fn keep_side(curve: &Curve, command: Option<&String>, outputs: &Outputs) -> (String, Result<(), CliError>) {
    let (name, saved) = match outputs.keep(|| store::runs().keep(curve, None)) {
        Some(Ok(path)) => (name_run(&path), Ok(())),
        Some(Err(error)) => (curve.subject.name.clone(), Err(outputs.report_unsaved(error))),
        None => (curve.subject.name.clone(), Ok(())),
    };
    (command.map_or(name.clone(), |command| format!("{name} after {command}")), saved)
}

//! `plimsoll report`, `runs` and `presets`.

use std::path::PathBuf;

use plimsoll_analyse::{SeriesFigure, different_load, share_objective};
use plimsoll_language::{label, say};
use plimsoll_measure::{BUILT_IN, LAST, Preset, StoredRun, load_run_file};
use plimsoll_record::Curve;
use plimsoll_report::pages::{self, CompletedChange, KeptRun, PresetEntry, RunHistory};
use plimsoll_report::presets_json;

use crate::args::{FormArgs, HistoryArgs, Report, RunsArgs, RunsCommand, translate_text};
use crate::cli_error::CliError;
use crate::output::{Forms, Outputs};
use crate::store;

/// `plimsoll report`
pub fn report(args: &Report) -> Result<(), CliError> {
    let outputs = Outputs::new(&args.output)?;
    let last = [LAST.into()];
    let names = if args.runs.is_empty() { &last[..] } else { &args.runs };
    let (mut curves, mut suites) = (Vec::new(), Vec::new());
    for name in names {
        for run in store::runs().load_any(name)? {
            match run {
                StoredRun::Curve(curve) => curves.push(*curve),
                StoredRun::Suite(suite) => suites.push(*suite),
            }
        }
    }
    if !suites.is_empty() {
        if !curves.is_empty() {
            return Err(CliError::usage(label!("suites and curves cannot be in the same report: use one kind")));
        }
        outputs.check_run_count(suites.len())?;
        return outputs.write_suites(&suites);
    }
    outputs.check_run_count(curves.len())?;
    if curves.len() > 1 && curves.iter().all(|curve| curve.conditions.objective.is_none()) {
        share_objective(&mut curves);
    }
    outputs.write_curves(&curves)
}

/// `plimsoll runs`
pub fn manage_runs(args: &RunsArgs) -> Result<(), CliError> {
    let (runs, forms) = (store::runs(), Forms::new(&args.forms)?);
    let removed = match &args.command {
        None => return list_runs(&forms),
        Some(RunsCommand::Label { run, label }) => {
            let path = runs.relabel(run, label)?;
            return forms.write_changes(&[CompletedChange::RunLabelled(path.display().to_string())]);
        }
        Some(RunsCommand::Delete { runs: names }) => runs.remove(names)?,
        Some(RunsCommand::Prune { keep }) => runs.prune(*keep)?,
    };
    forms.write_changes(&removed.into_iter().map(CompletedChange::RunDeleted).collect::<Vec<_>>())
}

fn list_runs(forms: &Forms) -> Result<(), CliError> {
    let describe = |path: &PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match load_run_file(path) {
            Ok(StoredRun::Curve(curve)) => KeptRun::of_curve(name, &curve),
            Ok(StoredRun::Suite(suite)) => KeptRun::of_suite(name, &suite),
            Err(_) => KeptRun { name, result: label!("no load line").to_owned(), iops: None, objective: None },
        }
    };
    let runs: Vec<KeptRun> = store::runs().list().iter().map(describe).collect();
    forms.write(&pages::runs(&runs), || plimsoll_report::runs_json(&runs))
}

/// `plimsoll history`
pub fn history(args: &HistoryArgs) -> Result<(), CliError> {
    let forms = Forms::new(&args.forms)?;
    let runs = match args.runs.as_slice() {
        [] => store::runs().series(&store::runs().load_generated(None)?),
        [name] => store::runs().series(&store::runs().load_generated(Some(name))?),
        names => load_series(names)?,
    };
    let curves: Vec<&Curve> = runs.iter().map(|(_, curve)| curve).collect();
    let Some((newest, figure)) = curves.last().copied().zip(SeriesFigure::of_series(&curves)) else {
        return Err(CliError::usage(label!(
            "the newest run has no load line: use a longer --duration, --objective, or loads with --rate"
        )));
    };
    let series = RunHistory::new(&newest.subject.name, figure, &runs);
    let page = pages::history(&series, plimsoll_report::words::source_word(&newest.source));
    forms.write(&page, || plimsoll_report::history_json(&series))
}

/// Runs of the same load in the order of their start.
fn load_series(names: &[PathBuf]) -> Result<Vec<(String, Curve)>, CliError> {
    let mut runs = names.iter().map(|name| store::runs().load_named(name)).collect::<Result<Vec<_>, _>>()?;
    let first = runs[0].1.clone();
    if let Some((name, what)) = runs.iter().find_map(|(name, run)| Some((name, different_load(&first, run)?))) {
        return Err(CliError::usage(say!("{name}: its load differs from that of {} ({what})", runs[0].0)));
    }
    runs.sort_by(|a, b| a.1.started.cmp(&b.1.started));
    Ok(runs)
}

/// `plimsoll presets`
pub fn presets(name: Option<&str>, forms: &FormArgs) -> Result<(), CliError> {
    let forms = Forms::new(forms)?;
    let entry = |&(name, file): &(&'static str, &'static str)| {
        Ok(PresetEntry { name, about: translate_text(&Preset::find(name)?.about).to_owned(), file })
    };
    let all: Vec<PresetEntry> = BUILT_IN.iter().map(entry).collect::<Result<_, CliError>>()?;
    let Some(name) = name else { return forms.write(&pages::presets(&all), || presets_json(&all)) };
    let found = all.iter().find(|preset| preset.name == name).ok_or_else(|| {
        CliError::usage(say!("{name:?} is not a preset: use one of {}", BUILT_IN.map(|(name, _)| name).join(", ")))
    })?;
    forms.write(&pages::preset(found), || presets_json(std::slice::from_ref(found)))
}

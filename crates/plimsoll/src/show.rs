//! `plimsoll report`, `runs` and `presets`.

use std::path::PathBuf;

use plimsoll_analyse::share_objective;
use plimsoll_measure::{BUILT_IN, Kept, LAST, Preset, load_found};
use plimsoll_report::pages::{self, KeptRun};

use crate::args::{FormArgs, Report, RunsArgs, RunsCommand};
use crate::cli_error::CliError;
use crate::output::{Forms, Outputs, print};
use crate::store;

/// `plimsoll report`
pub fn report(args: &Report) -> Result<(), CliError> {
    let outputs = Outputs::new(&args.output)?;
    let last = [LAST.into()];
    let names = if args.runs.is_empty() { &last[..] } else { &args.runs };
    let (mut curves, mut suites) = (Vec::new(), Vec::new());
    for name in names {
        for kept in store::runs().load_any(name)? {
            match kept {
                Kept::Curve(curve) => curves.push(*curve),
                Kept::Suite(suite) => suites.push(*suite),
            }
        }
    }
    if !suites.is_empty() {
        if !curves.is_empty() {
            return Err(CliError::usage("suites and curves cannot be in the same report: use one kind"));
        }
        outputs.fit(suites.len())?;
        return outputs.write_suites(&suites);
    }
    outputs.fit(curves.len())?;
    if curves.len() > 1 && curves.iter().all(|curve| curve.conditions.objective.is_none()) {
        share_objective(&mut curves);
    }
    outputs.write_curves(&curves)
}

/// `plimsoll runs`
pub fn manage_runs(args: &RunsArgs) -> Result<(), CliError> {
    let runs = store::runs();
    let removed = match &args.command {
        None => return list_runs(&args.forms),
        Some(RunsCommand::Label { run, label }) => {
            let path = runs.relabel(run, label)?;
            return print(format!("Kept as {}\n", path.display()).as_bytes());
        }
        Some(RunsCommand::Delete { runs: names }) => runs.remove(names)?,
        Some(RunsCommand::Prune { keep }) => {
            let all = runs.list();
            runs.remove(&all[..all.len().saturating_sub(*keep)])?
        }
    };
    print(removed.iter().map(|name| format!("Removed {name}\n")).collect::<Vec<_>>().concat().as_bytes())
}

fn list_runs(args: &FormArgs) -> Result<(), CliError> {
    let forms = Forms::new(args)?;
    let of = |path: &PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match load_found(path) {
            Ok(Kept::Curve(curve)) => KeptRun::of_curve(name, &curve),
            Ok(Kept::Suite(suite)) => KeptRun::of_suite(name, &suite),
            Err(_) => KeptRun { name, result: "no load line".to_owned(), iops: None, objective: None },
        }
    };
    let runs: Vec<KeptRun> = store::runs().list().iter().map(of).collect();
    forms.write(&pages::runs(&runs), || plimsoll_report::runs_json(&runs))
}

/// `plimsoll presets`
pub fn presets(name: Option<&str>) -> Result<(), CliError> {
    let Some(name) = name else {
        let mut listing = String::new();
        for (name, _) in BUILT_IN {
            listing += &format!("{name:10}{}\n", Preset::find(name)?.about);
        }
        return print(listing.as_bytes());
    };
    let names = BUILT_IN.map(|(known, _)| known).join(", ");
    let found = BUILT_IN.iter().find(|(known, _)| *known == name);
    let (_, text) = found.ok_or_else(|| CliError::usage(format!("{name:?} is not a preset: use one of {names}")))?;
    print(text.as_bytes())
}

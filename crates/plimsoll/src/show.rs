//! The commands that measure nothing: `report`, `runs`, `presets`.

use std::path::PathBuf;

use plimsoll_report::pages::{self, KeptRun};

use crate::args::{FormArgs, Report};
use crate::output::{Forms, Outputs, print, share_an_objective};
use crate::preset::{BUILT_IN, Preset};
use crate::store::{self, Kept};
use crate::trouble::Trouble;

/// `plimsoll report`
pub fn report(args: &Report) -> Result<(), Trouble> {
    let outputs = Outputs::new(&args.output)?;
    let last = [store::LAST.into()];
    let names = if args.runs.is_empty() { &last[..] } else { &args.runs };
    let (mut curves, mut suites) = (Vec::new(), Vec::new());
    for name in names {
        match store::load_any(name)? {
            Kept::Curve(curve) => curves.push(*curve),
            Kept::Suite(suite) => suites.push(*suite),
        }
    }
    if !suites.is_empty() {
        if !curves.is_empty() {
            return Err(Trouble::usage("suites and curves do not go into one report: name one kind"));
        }
        outputs.fit(suites.len())?;
        return outputs.write_suites(&suites);
    }
    outputs.fit(curves.len())?;
    if curves.len() > 1 && curves.iter().all(|curve| curve.conditions.objective.is_none()) {
        share_an_objective(&mut curves);
    }
    outputs.write_curves(&curves)
}

/// `plimsoll runs`
pub fn runs(args: &FormArgs) -> Result<(), Trouble> {
    let forms = Forms::new(args)?;
    let of = |path: &PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match store::load_any(path) {
            Ok(Kept::Curve(curve)) => KeptRun::of_curve(name, &curve),
            Ok(Kept::Suite(suite)) => KeptRun::of_suite(name, &suite),
            Err(_) => KeptRun { name, result: "no load line".to_owned(), iops: None, objective: None },
        }
    };
    let runs: Vec<KeptRun> = store::kept().iter().map(of).collect();
    forms.write(&pages::runs(&runs), || plimsoll_report::runs_json(&runs))
}

/// `plimsoll presets`
pub fn presets(name: Option<&str>) -> Result<(), Trouble> {
    let Some(name) = name else {
        let mut listing = String::new();
        for (name, _) in BUILT_IN {
            listing += &format!("{name:10}{}\n", Preset::find(name)?.about);
        }
        return print(listing.as_bytes());
    };
    let names = BUILT_IN.map(|(known, _)| known).join(", ");
    let found = BUILT_IN.iter().find(|(known, _)| *known == name);
    let (_, text) = found.ok_or_else(|| Trouble::usage(format!("{name:?} is no preset: write one of {names}")))?;
    print(text.as_bytes())
}

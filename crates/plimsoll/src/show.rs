//! The commands that measure nothing: `report`, `runs`, `presets`.

use crate::args::Report;
use crate::output::{Outputs, print, share_an_objective};
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
        suites.iter().try_for_each(|suite| outputs.show_suite(suite))?;
        return outputs.write_suites(&suites);
    }
    outputs.fit(curves.len())?;
    if curves.len() > 1 && curves.iter().all(|curve| curve.conditions.objective.is_none()) {
        share_an_objective(&mut curves);
    }
    for curve in &curves {
        outputs.show(curve)?;
    }
    if curves.iter().all(|curve| curve.conditions.trace.is_some()) {
        outputs.print(&plimsoll_report::replays(&curves, outputs.style()))?;
    }
    outputs.write(&curves)
}

/// `plimsoll runs`
pub fn runs() -> Result<(), Trouble> {
    let mut listing = String::new();
    for path in store::kept() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let line = match store::load_any(&path) {
            Ok(Kept::Curve(curve)) => match plimsoll_report::words::ended(curve.ended) {
                Some(ended) => Some(ended.to_owned()),
                None => curve.load_line.map(|line| plimsoll_report::words::load_line(&line)),
            },
            Ok(Kept::Suite(suite)) => match plimsoll_report::words::ended(suite.ended) {
                Some(ended) => Some(ended.to_owned()),
                None => Some(format!("{}, {} steps", suite.follows, suite.steps.len())),
            },
            Err(_) => None,
        };
        listing += &format!("{name}  {}\n", line.unwrap_or_else(|| "no load line".into()));
    }
    if listing.is_empty() {
        listing = "no run was kept yet: start with `plimsoll measure .`\n".into();
    }
    print(listing.as_bytes())
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

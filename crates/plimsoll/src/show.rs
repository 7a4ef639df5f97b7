//! The commands that measure nothing: `report`, `compare`, `runs`, `presets`.

use plimsoll_analyse::compare;

use crate::args::{Compare, Report};
use crate::output::{Outputs, print, share_an_objective};
use crate::preset::{BUILT_IN, Preset};
use crate::store::{self, Kept};
use crate::trouble::Trouble;

/// `plimsoll report`
pub fn report(args: &Report) -> Result<(), Trouble> {
    let outputs = Outputs::new(&args.output)?;
    let last;
    let names = if args.runs.is_empty() {
        last = store::kept().pop().map(|path| vec![path]);
        last.as_deref().ok_or_else(|| Trouble::usage("no run was kept yet: start with `plimsoll measure .`"))?
    } else {
        &args.runs[..]
    };
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

/// `plimsoll compare`
pub fn comparison(args: &Compare) -> Result<(), Trouble> {
    let outputs = Outputs::new(&args.output)?;
    outputs.fit(2)?;
    let (before, after) = (store::load(&args.before)?, store::load(&args.after)?);
    let comparison = compare(&before, &after);
    let names = [&args.before, &args.after].map(|path| path.display().to_string());
    let names = [names[0].as_str(), names[1].as_str()];
    outputs.print(&plimsoll_report::comparison(names, &comparison, outputs.style()))?;
    outputs.write(&[before, after])
}

/// `plimsoll runs`
pub fn runs() -> Result<(), Trouble> {
    let mut listing = String::new();
    for path in store::kept() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let line = match store::load_any(&path) {
            Ok(Kept::Curve(curve)) => curve.load_line.map(|line| plimsoll_report::words::load_line(&line)),
            Ok(Kept::Suite(suite)) => Some(format!("{}, {} steps", suite.follows, suite.steps.len())),
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

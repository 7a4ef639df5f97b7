//! `plimsoll compare`: verdict on kept runs of two sides, and its exit code.

use std::path::Path;

use plimsoll_analyse::{Comparison, LineHistory, Verdict, compare_sides};
use plimsoll_measure::stem;
use plimsoll_record::Curve;
use plimsoll_report::Page;

use crate::args::Compare;
use crate::cli_error::CliError;
use crate::gates;
use crate::output::{Outputs, sheets};
use crate::store;

/// Exit codes of `--exit-code`.
const WORSE: u8 = 1;
const CANNOT_SAY: u8 = 3;

/// A side of a comparison: runs with their names.
#[derive(Debug, Default)]
pub struct Side {
    /// Paths as given, or names of kept runs.
    pub names: Vec<String>,
    /// The runs, in the order of the names.
    pub curves: Vec<Curve>,
}

impl Side {
    /// True for a measurement of this side. A simulation, which has no start, may be compared with itself.
    fn has(&self, name: &str, curve: &Curve) -> bool {
        let mut runs = self.names.iter().zip(&self.curves);
        curve.started.is_some() && runs.any(|(own, figures)| own == name && figures == curve)
    }
}

/// Compares the given runs.
pub fn run(args: &Compare) -> Result<(), CliError> {
    let outputs = Outputs::new(&args.output)?;
    let (before, after) = match (&args.runs[..], &args.after[..]) {
        ([before, after], []) => (std::slice::from_ref(before), std::slice::from_ref(after)),
        (_, []) => {
            return Err(CliError::usage(
                "give two runs, or at least three per side, separated by --: plimsoll compare A1 A2 A3 -- B1 B2 B3",
            ));
        }
        sides => sides,
    };
    let load = |names: &[std::path::PathBuf]| -> Result<Side, CliError> {
        if let Some(twice) = names.iter().enumerate().find_map(|(at, name)| names[..at].contains(name).then_some(name))
        {
            return Err(CliError::usage(format!("{}: named twice on one side: name each run once", twice.display())));
        }
        let (names, curves) = names.iter().map(|name| store::runs().load_named(name)).collect::<Result<_, _>>()?;
        Ok(Side { names, curves })
    };
    let sides = [load(before)?, load(after)?];
    let mut on_both = sides[1].names.iter().zip(&sides[1].curves);
    if let Some((name, _)) = on_both.find(|(name, curve)| sides[0].has(name, curve)) {
        return Err(CliError::usage(format!("{name} is on both sides: compare it with another run, such as last~1")));
    }
    let comparison = compare_sides(&sides[0].curves, &sides[1].curves, history(&sides));
    let last = sides.each_ref().map(|side| side.curves.last().cloned());
    show(sides, &comparison, &outputs)?;
    if let [Some(a), Some(b)] = &last {
        let named = [(format!("{} and {}", a.subject.name, b.subject.name), [a, b])];
        gates::decide(&args.gates, &named, |gate, curves| gate.judge_change(&comparison, *curves))?;
    }
    if args.exit_code { exit_code(&comparison.verdict) } else { Ok(()) }
}

/// The page of the comparison of two runs.
pub fn page(before: &Path, after: &Path) -> Result<Page, CliError> {
    let side = |path: &Path| -> Result<Side, CliError> {
        let curve = store::runs().load(path)?;
        Ok(Side { names: vec![stem(path)], curves: vec![curve] })
    };
    let sides = [side(before)?, side(after)?];
    let comparison = compare_sides(&sides[0].curves, &sides[1].curves, history(&sides));
    let [before, after] = sides;
    let curves = [before.curves, after.curves].concat();
    Ok(plimsoll_report::pages::comparison([&before.names, &after.names], &comparison, &sheets(&curves)))
}

/// Prints and writes a comparison.
pub fn show(sides: [Side; 2], comparison: &Comparison, outputs: &Outputs) -> Result<(), CliError> {
    let [before, after] = sides;
    let curves = [before.curves, after.curves].concat();
    outputs.write_comparison([&before.names, &after.names], comparison, &curves)
}

/// The larger scatter of earlier runs of both subjects.
fn history([before, after]: &[Side; 2]) -> Option<LineHistory> {
    let objective = before.curves.first()?.load_line?.objective();
    let compared: Vec<&Curve> = before.curves.iter().chain(&after.curves).collect();
    let of = |side: &Side| store::runs().history(&side.curves[0], objective, &compared);
    let both = [of(before), of(after)];
    both.into_iter().flatten().max_by(|a, b| a.deviation.total_cmp(&b.deviation))
}

fn exit_code(verdict: &Verdict) -> Result<(), CliError> {
    match verdict {
        Verdict::Better | Verdict::NoRealChange => Ok(()),
        Verdict::Worse | Verdict::Mixed => Err(CliError::Ended(WORSE)),
        Verdict::NotComparable(_) => Err(CliError::Ended(CANNOT_SAY)),
    }
}

//! `plimsoll compare`: kept runs of two sides, the verdict on them, and the exit code that states it.

use plimsoll_analyse::{Comparison, History, Verdict, compare_sides};
use plimsoll_record::Curve;
use serde::Serialize;

use crate::args::Compare;
use crate::output::Outputs;
use crate::store;
use crate::trouble::Trouble;

/// Format of comparisons as JSON.
const FORMAT: &str = "plimsoll.comparison/1";
/// Exit codes of `--exit-code`.
const WORSE: u8 = 1;
const CANNOT_SAY: u8 = 3;

/// One side of a comparison: runs with their names.
#[derive(Debug, Default)]
pub struct Side {
    /// Paths as given, or names of kept runs.
    pub names: Vec<String>,
    /// The runs, in the order of the names.
    pub curves: Vec<Curve>,
}

/// A comparison with the names of its runs, as it is written.
#[derive(Serialize)]
struct Written<'a> {
    format: &'static str,
    first: &'a [String],
    second: &'a [String],
    #[serde(flatten)]
    comparison: &'a Comparison,
}

/// Compares the runs that were named.
pub fn run(args: &Compare) -> Result<(), Trouble> {
    let outputs = Outputs::new(&args.output)?;
    let (before, after) = match (&args.runs[..], &args.after[..]) {
        ([before, after], []) => (std::slice::from_ref(before), std::slice::from_ref(after)),
        (_, []) => {
            return Err(Trouble::usage(
                "name two runs, or at least three on each side with -- between the sides: plimsoll compare A1 A2 A3 -- B1 B2 B3",
            ));
        }
        sides => sides,
    };
    let load = |names: &[std::path::PathBuf]| -> Result<Side, Trouble> {
        let (names, curves) = names.iter().map(|name| store::load_named(name)).collect::<Result<_, _>>()?;
        Ok(Side { names, curves })
    };
    let sides = [load(before)?, load(after)?];
    let comparison = compare_sides(&sides[0].curves, &sides[1].curves, history(&sides));
    show(sides, &comparison, &outputs)?;
    if args.exit_code { exit_code(&comparison.verdict) } else { Ok(()) }
}

/// Prints and writes a comparison.
pub fn show(sides: [Side; 2], comparison: &Comparison, outputs: &Outputs) -> Result<(), Trouble> {
    let [before, after] = sides;
    let written = Written { format: FORMAT, first: &before.names, second: &after.names, comparison };
    let mut json = serde_json::to_vec(&written).map_err(|error| Trouble::Failed(error.into()))?;
    json.push(b'\n');
    let curves = [before.curves, after.curves].concat();
    outputs.write_comparison([&before.names, &after.names], comparison, &curves, json)
}

/// The larger scatter between earlier runs of the subjects of both sides.
fn history([before, after]: &[Side; 2]) -> Option<History> {
    let objective = before.curves[0].load_line?.objective();
    let compared: Vec<&Curve> = before.curves.iter().chain(&after.curves).collect();
    let of = |side: &Side| store::history(&side.curves[0], objective, &compared);
    let both = [of(before), of(after)];
    both.into_iter().flatten().max_by(|a, b| a.deviation.total_cmp(&b.deviation))
}

fn exit_code(verdict: &Verdict) -> Result<(), Trouble> {
    match verdict {
        Verdict::Better | Verdict::NoRealChange => Ok(()),
        Verdict::Worse | Verdict::Mixed => Err(Trouble::Ended(WORSE)),
        Verdict::NotComparable(_) => Err(Trouble::Ended(CANNOT_SAY)),
    }
}

//! `plimsoll compare`: verdict on kept runs of two sides, and its exit code.

use plimsoll_analyse::Verdict;
use plimsoll_language::{label, say};
use plimsoll_measure::ComparedRuns;

use crate::args::Compare;
use crate::cli_error::CliError;
use crate::gates;
use crate::output::Outputs;
use crate::store;

/// Exit codes of `--exit-code`.
const WORSE: u8 = 1;
const UNDETERMINED: u8 = 3;

/// Compares the given runs.
pub fn run(args: &Compare) -> Result<(), CliError> {
    let ComparedRuns { sides, comparison } = gates::guard(&args.gates, || compare(args))?;
    let sides = sides.each_ref().map(|side| &side.curves[..]);
    if let [[a, ..], [b, ..]] = sides {
        let named = [(format!("{} and {}", a.subject.name, b.subject.name), sides)];
        gates::decide(&args.gates, &named, |gate, sides| gate.judge_change(&comparison, *sides))?;
    }
    if args.exit_code { exit_code(&comparison.verdict) } else { Ok(()) }
}

fn compare(args: &Compare) -> Result<ComparedRuns, CliError> {
    let outputs = Outputs::new(&args.output)?;
    if let Some(option) = args.after.iter().find(|name| name.to_string_lossy().starts_with("--")) {
        return Err(CliError::usage(say!(
            "{}: after -- each word is a run: write options before it: plimsoll compare A1 A2 A3 --fail-if CONDITION -- B1 B2 B3",
            option.display()
        )));
    }
    let (before, after) = match (&args.runs[..], &args.after[..]) {
        ([before, after], []) => (std::slice::from_ref(before), std::slice::from_ref(after)),
        (_, []) => {
            return Err(CliError::usage(label!(
                "give two runs, or at least three per side, separated by --: plimsoll compare A1 A2 A3 -- B1 B2 B3"
            )));
        }
        sides => sides,
    };
    let compared = store::runs().compare(before, after)?;
    outputs.write_comparison(compared.names(), &compared.comparison, &compared.curves())?;
    Ok(compared)
}

fn exit_code(verdict: &Verdict) -> Result<(), CliError> {
    match verdict {
        Verdict::Better | Verdict::NoRealChange => Ok(()),
        Verdict::Worse | Verdict::Mixed => Err(CliError::Ended(WORSE)),
        Verdict::NotComparable(_) => Err(CliError::Ended(UNDETERMINED)),
    }
}

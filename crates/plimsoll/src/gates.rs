//! `--fail-if`: conditions on a result, and the exit code that they give.

use std::io::Write;

use plimsoll_choose::{Gate, GateOutcome};
use plimsoll_report::words::gate_outcome;
use plimsoll_report::{JudgedGate, Shortfall, count_outcomes, junit, junit_of_error};

use crate::args::GateArgs;
use crate::cli_error::CliError;
use crate::output::put;

const FAILED: u8 = 1;
const UNKNOWN: u8 = 3;

/// Executes the work before the conditions. If it fails, each condition is an error in the XML of `JUnit`.
pub fn guard<T>(gates: &GateArgs, work: impl FnOnce() -> Result<T, CliError>) -> Result<T, CliError> {
    let Some(path) = &gates.junit else { return work() };
    work().inspect_err(|error| {
        // The error of the work is the one to report.
        let _ = put(path, junit_of_error(&gates.fail_if, &error.to_string()).as_bytes());
    })
}

/// Prints the outcome of each condition on each result, given with its name, on standard error, and writes them as XML
/// of `JUnit`. Fails with the exit code of the gravest.
pub fn decide<T>(
    gates: &GateArgs,
    results: &[(String, T)],
    judge: impl Fn(&Gate, &T) -> GateOutcome,
) -> Result<(), CliError> {
    decide_with_shortfall(gates, results, judge, None)
}

/// The same with a shortfall of the result, which counts like a condition.
pub fn decide_with_shortfall<T>(
    gates: &GateArgs,
    results: &[(String, T)],
    judge: impl Fn(&Gate, &T) -> GateOutcome,
    shortfall: Option<&Shortfall>,
) -> Result<(), CliError> {
    let mut judged = Vec::new();
    for (subject, result) in results {
        let of_result = |gate| JudgedGate { subject: subject.clone(), gate, outcome: judge(gate, result) };
        judged.extend(gates.fail_if.iter().map(of_result));
    }
    if let Some(path) = &gates.junit {
        // Not the exit code of a failed condition.
        put(path, junit(&judged, shortfall).as_bytes()).map_err(|error| CliError::usage(error.to_string()))?;
    }
    for JudgedGate { gate, outcome, .. } in &judged {
        // The exit code has the result if standard error is closed.
        let _ = writeln!(std::io::stderr(), "plimsoll: {}", gate_outcome(gate, outcome));
    }
    if let Some(Shortfall { reason, .. }) = shortfall {
        let _ = writeln!(std::io::stderr(), "plimsoll: {reason}");
    }
    match count_outcomes(&judged, shortfall) {
        [0, 0] => Ok(()),
        [0, _] => Err(CliError::Ended(UNKNOWN)),
        _ => Err(CliError::Ended(FAILED)),
    }
}

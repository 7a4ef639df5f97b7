//! `--fail-if`: conditions on a result, and the exit code that they give.

use std::io::Write;

use plimsoll_choose::{Gate, GateOutcome};
use plimsoll_report::words::gate_outcome;
use plimsoll_report::{JudgedGate, junit, junit_of_failure};

use crate::args::GateArgs;
use crate::cli_error::CliError;
use crate::output::put;

const FAILED: u8 = 1;
const UNKNOWN: u8 = 3;

/// Executes the work before the conditions. If it fails, so does each condition in the XML of `JUnit`.
pub fn guard<T>(gates: &GateArgs, work: impl FnOnce() -> Result<T, CliError>) -> Result<T, CliError> {
    let Some(path) = &gates.junit else { return work() };
    work().inspect_err(|error| {
        // The error of the work is the one to report.
        let _ = put(path, junit_of_failure(&gates.fail_if, &error.to_string()).as_bytes());
    })
}

/// Prints the outcome of each condition on each result, given with its name, on standard error, and writes them as XML
/// of `JUnit`. Fails with the exit code of the gravest.
pub fn decide<T>(
    gates: &GateArgs,
    results: &[(String, T)],
    judge: impl Fn(&Gate, &T) -> GateOutcome,
) -> Result<(), CliError> {
    let mut judged = Vec::new();
    for (subject, result) in results {
        let of_result = |gate| JudgedGate { subject: subject.clone(), gate, outcome: judge(gate, result) };
        judged.extend(gates.fail_if.iter().map(of_result));
    }
    if let Some(path) = &gates.junit {
        // Not the exit code of a failed condition.
        put(path, junit(&judged).as_bytes()).map_err(|error| CliError::usage(error.to_string()))?;
    }
    for JudgedGate { gate, outcome, .. } in &judged {
        // The exit code has the result if standard error is closed.
        let _ = writeln!(std::io::stderr(), "plimsoll: {}", gate_outcome(gate, outcome));
    }
    let is_any = |is: fn(&GateOutcome) -> bool| judged.iter().any(|one| is(&one.outcome));
    match () {
        () if is_any(|outcome| matches!(outcome, GateOutcome::Failed(_))) => Err(CliError::Ended(FAILED)),
        () if is_any(|outcome| matches!(outcome, GateOutcome::Unknown(_))) => Err(CliError::Ended(UNKNOWN)),
        () => Ok(()),
    }
}

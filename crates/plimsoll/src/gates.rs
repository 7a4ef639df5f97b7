//! `--fail-if`: conditions on a result, and the exit code that they give.

use std::io::Write;

use plimsoll_analyse::{Gate, GateOutcome};
use plimsoll_report::words::gate_outcome;

use crate::args::GateArgs;
use crate::cli_error::CliError;

const FAILED: u8 = 1;
const UNKNOWN: u8 = 3;

/// Prints the outcome of each condition on each result on standard error. Fails with the exit code of the gravest.
pub fn decide<T>(gates: &GateArgs, results: &[T], judge: impl Fn(&Gate, &T) -> GateOutcome) -> Result<(), CliError> {
    let of_result = |result| gates.fail_if.iter().map(|gate| (gate, judge(gate, result))).collect::<Vec<_>>();
    let outcomes: Vec<(&Gate, GateOutcome)> = results.iter().flat_map(of_result).collect();
    for (gate, outcome) in &outcomes {
        // The exit code has the result if standard error is closed.
        let _ = writeln!(std::io::stderr(), "plimsoll: {}", gate_outcome(gate, outcome));
    }
    let is_any = |is: fn(&GateOutcome) -> bool| outcomes.iter().any(|(_, outcome)| is(outcome));
    match () {
        () if is_any(|outcome| matches!(outcome, GateOutcome::Failed(_))) => Err(CliError::Ended(FAILED)),
        () if is_any(|outcome| matches!(outcome, GateOutcome::Unknown(_))) => Err(CliError::Ended(UNKNOWN)),
        () => Ok(()),
    }
}

//! Outcomes of conditions on a result.

use plimsoll_analyse::{Gate, GateFigure, GateOutcome};
use plimsoll_record::Estimate;

use crate::number;

/// `failed, line < 20k: 18,300 IOPS (17,000 to 19,700)`.
pub fn gate_outcome(gate: &Gate, outcome: &GateOutcome) -> String {
    match outcome {
        GateOutcome::Passed(figure) => format!("passed, not {gate}: {}", format_figure(gate, figure)),
        GateOutcome::Failed(figure) => format!("failed, {gate}: {}", format_figure(gate, figure)),
        GateOutcome::Unknown(reason) => format!("undetermined, {gate}: {reason}"),
    }
}

/// A figure in its unit, with its 95 % interval.
fn format_figure(gate: &Gate, figure: &Estimate) -> String {
    let (format, unit): (fn(f64) -> String, &str) = match gate.figure() {
        figure if gate.is_change() || figure == GateFigure::DatabaseTime => {
            (|share| format!("{:+.1} %", share * 100.0), "")
        }
        GateFigure::Line | GateFigure::Knee | GateFigure::Maximum => (number::three, " IOPS"),
        GateFigure::Latency(..) => (number::time, ""),
        GateFigure::Price | GateFigure::DatabaseTime => (number::exact, " a month"),
    };
    match figure.interval {
        Some((low, high)) if high.is_infinite() => format!("{}{unit} or more", format(low)),
        Some((low, high)) => format!("{}{unit} ({} to {})", format(figure.value), format(low), format(high)),
        None if matches!(gate.figure(), GateFigure::Price | GateFigure::DatabaseTime) => {
            format!("{}{unit}", format(figure.value))
        }
        None => format!("{}{unit}, without an interval", format(figure.value)),
    }
}

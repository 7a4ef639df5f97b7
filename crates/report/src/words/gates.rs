//! Outcomes of conditions on a result.

use plimsoll_choose::{Gate, GateFigure, GateGap, GateOutcome, JudgedFigure};
use plimsoll_language::{label, say};

use crate::number;

/// `failed, line < 20k: 18,300 IOPS (17,000 to 19,700)`.
pub fn gate_outcome(gate: &Gate, outcome: &GateOutcome) -> String {
    match outcome {
        GateOutcome::Passed(figure) => say!("passed, not {gate}: {}", format_figure(gate, figure)),
        GateOutcome::Failed(figure) => say!("failed, {gate}: {}", format_figure(gate, figure)),
        GateOutcome::Unknown(gap) => say!("undetermined, {gate}: {}", format_gap(gap)),
    }
}

fn format_gap(gap: &GateGap) -> String {
    match gap {
        GateGap::Scatter => label!("its 95 % interval contains the threshold: measure longer").into(),
        GateGap::LowerBound => label!(
            "the figure is a lower bound, as the highest load was carried: offer higher loads, with --rate or --max-depth, or set \
             a shorter --objective"
        )
        .into(),
        GateGap::NoFigure => label!("the result does not have this figure").into(),
        GateGap::NoPrice => label!("the configuration or a part of it has no price for these terms: --price states your own").into(),
        GateGap::SingleRun => label!("a change needs two runs: use plimsoll compare").into(),
        GateGap::FewRuns => label!("several runs are judged by their scatter: give at least two of each side").into(),
        GateGap::LateGenerator => {
            label!("the generator was late at this load, so the times are partly its own: measure on a quieter host")
                .into()
        }
        GateGap::NoLine => label!("the run has no load line").into(),
        GateGap::NoKnee => label!("the run has no knee: offer several loads up to saturation, such as without --rate").into(),
        GateGap::NoLoads(rate) => {
            say!("no open loads were measured on both sides of {rate:.0} IOPS: measure with --rate {rate:.0}")
        }
        GateGap::NoConfiguration => label!("no configuration carries the demand").into(),
        GateGap::OtherCurrency(currency) => {
            say!("the price is in {currency}: write a limit in {currency}, or set --currency to that of the limit")
        }
    }
}

/// A figure in its unit, with its 95 % interval.
fn format_figure(gate: &Gate, figure: &JudgedFigure) -> String {
    let JudgedFigure { estimate, currency } = figure;
    let price_unit = currency.as_ref().map_or(label!(" a month").to_owned(), |currency| say!(" {currency} a month"));
    let (format, unit): (fn(f64) -> String, &str) = match gate.figure() {
        figure if gate.is_change() || figure == GateFigure::DatabaseTime => (|share| number::signed(share, 1), ""),
        GateFigure::Line | GateFigure::Knee | GateFigure::Maximum => (number::three, " IOPS"),
        GateFigure::Latency(..) => (number::time, ""),
        GateFigure::Price | GateFigure::DatabaseTime => (number::exact, &price_unit),
    };
    match estimate.interval {
        Some((low, high)) if high.is_infinite() => say!("{}{unit} or more", format(low)),
        Some((low, high)) => say!("{}{unit} ({} to {})", format(estimate.value), format(low), format(high)),
        None if matches!(gate.figure(), GateFigure::Price | GateFigure::DatabaseTime) => {
            format!("{}{unit}", format(estimate.value))
        }
        None => say!("{}{unit}, without an interval", format(estimate.value)),
    }
}

//! The answer on the first screen.

use std::fmt::Write;

use plimsoll_catalogue::{Currency, Money};

use super::decide::Action;
use super::optimizer::OptimizerComparison;
use super::summary::Summary;

/// Rows of the list of savings.
const ROWS: usize = 5;

fn format_money(summary: &Summary, micros: i64) -> String {
    match summary.currency.parse::<Currency>() {
        Ok(currency) => Money { millionths: i128::from(micros), currency }.to_string(),
        Err(_) => micros.to_string(),
    }
}

/// Cost and saving in a sentence.
pub fn verdict(summary: &Summary) -> String {
    let Summary { volumes, priced, .. } = summary;
    let cost = summary.cost_micros();
    let saving = summary.saving(Action::Lower) + summary.saving(Action::Idle);
    let of = if priced < volumes { format!(" of {volumes}") } else { String::new() };
    format!(
        "{priced}{of} volumes cost {} a month; cheaper configurations that carry the same load save {} ({:.0} %).",
        format_money(summary, cost),
        format_money(summary, saving),
        if cost > 0 { saving as f64 * 100.0 / cost as f64 } else { 0.0 }
    )
}

/// The answer, at most 24 lines.
pub fn first_screen(summary: &Summary) -> String {
    let money = |micros: i64| format_money(summary, micros);
    let saved = |action: Action| summary.saving(action);
    let count = |action: Action| summary.count(action);
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    line(verdict(summary));
    line(format!("{} points were read, and proposals were checked by a replay of them.", summary.points));
    line(String::new());
    line(format!("  lower    {:>7}  save {}", count(Action::Lower), money(saved(Action::Lower))));
    line(format!(
        "  raise    {:>7}  limits delay operations; removing them costs {}",
        count(Action::Raise),
        money(-saved(Action::Raise))
    ));
    line(format!("  fits     {:>7}", count(Action::Fits)));
    line(format!("  idle     {:>7}  without any operation; save {}", count(Action::Idle), money(saved(Action::Idle))));
    line(format!("  unknown  {:>7}  without a configuration, a price or a load", count(Action::Unknown)));
    let savings = &summary.savings;
    if savings.count > 0 {
        line(format!("\nLargest savings a month, of {}:", savings.count));
        for answer in savings.answers.iter().take(ROWS) {
            let new = answer.new_config.as_deref().unwrap_or_default();
            let (volume, need_iops) = (&answer.volume, answer.need_iops);
            line(format!(
                "  {:>12}  {}  {} -> {new} (need {need_iops} IOPS)",
                money(answer.saving_micros),
                volume.id,
                volume.config
            ));
        }
    }
    let throttled = &summary.throttled;
    if throttled.count > 0 {
        line(format!("\nMost throttled, of {}:", throttled.count));
        for answer in throttled.answers.iter().take(3) {
            let share = answer.throttled_permille as f64 / 10.0;
            line(format!("  {share:>10.1} %  {}  {}", answer.volume.id, answer.volume.config));
        }
    }
    if let Some(comparison) = &summary.comparison {
        line(comparison_sentence(comparison));
    }
    for caution in summary.cautions().into_iter().take(2) {
        line(caution);
    }
    let _ = write!(
        out,
        "\nAll answers: {0}/verdicts.csv; page: {0}/rightsize.html; commands: {0}/commands.sh",
        summary.out.display()
    );
    out
}

/// Agreement with Compute Optimizer.
pub fn comparison_sentence(comparison: &OptimizerComparison) -> String {
    format!(
        "Compute Optimizer: {} volumes compared, {} agree; reasons of the others are in compute-optimizer.csv; {} have no \
         points here.",
        comparison.compared, comparison.agreed, comparison.without_points
    )
}

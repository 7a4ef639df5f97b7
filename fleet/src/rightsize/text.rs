//! The answer on the first screen.

use std::fmt::Write;

use plimsoll_catalogue::{Currency, Money};

use super::decide::{Action, Risk};
use super::optimizer::OptimizerComparison;
use super::{Answer, Rightsized};

/// Rows of each list.
const ROWS: usize = 5;

fn format_money(rightsized: &Rightsized, micros: i64) -> String {
    match rightsized.currency.parse::<Currency>() {
        Ok(currency) => Money { millionths: i128::from(micros), currency }.to_string(),
        Err(_) => micros.to_string(),
    }
}

fn saving_of(answers: &[Answer], action: Action) -> i64 {
    answers.iter().filter(|answer| answer.action == action).map(|answer| answer.saving_micros).sum()
}

/// Cost and saving in a sentence.
pub fn verdict(rightsized: &Rightsized) -> String {
    let answers = &rightsized.answers;
    let cost: i64 = answers.iter().filter_map(|answer| answer.cost_micros).sum();
    let saving = saving_of(answers, Action::Lower) + saving_of(answers, Action::Idle);
    let priced = answers.iter().filter(|answer| answer.cost_micros.is_some()).count();
    let of = if priced < answers.len() { format!(" of {}", answers.len()) } else { String::new() };
    format!(
        "{priced}{of} volumes cost {} a month; cheaper configurations that carry the same load save {} ({:.0} %).",
        format_money(rightsized, cost),
        format_money(rightsized, saving),
        if cost > 0 { saving as f64 * 100.0 / cost as f64 } else { 0.0 }
    )
}

/// Volumes that save, the largest saving first.
pub fn largest_savings(answers: &[Answer]) -> Vec<&Answer> {
    let mut found: Vec<&Answer> =
        answers.iter().filter(|answer| answer.saving_micros > 0 && !answer.throttled).collect();
    found.sort_by_key(|answer| (-answer.saving_micros, answer.volume.volume));
    found
}

/// Volumes whose limits delay operations, the longest share of the time first.
pub fn most_throttled(answers: &[Answer]) -> Vec<&Answer> {
    let mut found: Vec<&Answer> = answers.iter().filter(|answer| answer.throttled).collect();
    found.sort_by_key(|answer| (-answer.throttled_permille, answer.volume.volume));
    found
}

/// The answer, at most 24 lines.
pub fn first_screen(rightsized: &Rightsized) -> String {
    let answers = &rightsized.answers;
    let money = |micros: i64| format_money(rightsized, micros);
    let saved = |action: Action| saving_of(answers, action);
    let count = |action: Action| answers.iter().filter(|answer| answer.action == action).count();
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    line(verdict(rightsized));
    line(format!("{} points were read, and proposals were checked by a replay of them.", rightsized.points));
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
    let by_saving = largest_savings(answers);
    if !by_saving.is_empty() {
        line(format!("\nLargest savings a month, of {}:", by_saving.len()));
        for answer in by_saving.iter().take(ROWS) {
            let new = answer.new_config.as_deref().unwrap_or_default();
            let Answer { volume, need_iops, .. } = answer;
            line(format!(
                "  {:>12}  {}  {} -> {new} (need {need_iops} IOPS)",
                money(answer.saving_micros),
                volume.id,
                volume.config
            ));
        }
    }
    let throttled = most_throttled(answers);
    if !throttled.is_empty() {
        line(format!("\nMost throttled, of {}:", throttled.len()));
        for answer in throttled.iter().take(3) {
            let share = answer.throttled_permille as f64 / 10.0;
            line(format!("  {share:>10.1} %  {}  {}", answer.volume.id, answer.volume.config));
        }
    }
    if let Some(comparison) = &rightsized.comparison {
        line(comparison_sentence(comparison));
    }
    for caution in cautions(rightsized).into_iter().take(2) {
        line(caution);
    }
    let _ = write!(
        out,
        "\nAll answers: {0}/verdicts.csv; page: {0}/rightsize.html; commands: {0}/commands.sh",
        rightsized.out.display()
    );
    out
}

/// Agreement with Compute Optimizer.
pub fn comparison_sentence(comparison: &OptimizerComparison) -> String {
    format!(
        "Compute Optimizer: {} volumes compared, {} agree; reasons of the others are in compute-optimizer.csv; {} have no \
         points here.",
        comparison.rows.len(),
        comparison.agreed(),
        comparison.without_points
    )
}

/// True for risks of a kind.
type RiskTest = fn(&Risk) -> bool;

/// Reasons to doubt many answers.
pub fn cautions(rightsized: &Rightsized) -> Vec<String> {
    let Rightsized { answers, without_points, .. } = rightsized;
    let count = |is: RiskTest| answers.iter().filter(|answer| answer.risks.iter().any(is)).count();
    let kinds: [(RiskTest, &str); 7] = [
        (
            |risk| matches!(risk, Risk::LoadUnknown),
            "have no point with both reads and writes: ingest the missing metric",
        ),
        (
            |risk| matches!(risk, Risk::NotReplayed { .. }),
            "have limits that a replay does not have: delays are unknown",
        ),
        (|risk| matches!(risk, Risk::Gaps { .. }), "have times whose operations are unknown: peaks may be missing"),
        (|risk| matches!(risk, Risk::FewDays { .. }), "have less than 14 days of points: monthly peaks may be missing"),
        (|risk| matches!(risk, Risk::UnverifiedPrice), "have a price that was not verified"),
        (|risk| matches!(risk, Risk::ThroughputUnknown), "have no bytes in their points: their throughput stays"),
        (|risk| matches!(risk, Risk::ReplayDelays { .. }), "stay, because the replay of a cheaper one had delays"),
    ];
    let counted = kinds.into_iter().map(|(is, text)| (count(is), text)).filter(|(count, _)| *count > 0);
    let absent = Some((without_points.len(), "have no points, and are in none of these figures"));
    let counted = absent.filter(|(count, _)| *count > 0).into_iter().chain(counted);
    counted.map(|(count, text)| format!("note: {count} volumes {text}")).collect()
}

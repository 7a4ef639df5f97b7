//! The answer on the first screen.

use std::fmt::Write;

use plimsoll_catalogue::{Currency, Money};

use super::decide::{Action, Risk};
use super::{Answer, Rightsized};

/// Rows of each list.
const ROWS: usize = 5;

/// The answer, at most 24 lines.
pub fn first_screen(rightsized: &Rightsized) -> String {
    let answers = &rightsized.answers;
    let currency: Result<Currency, _> = rightsized.currency.parse();
    let money = |micros: i64| match currency {
        Ok(currency) => Money { millionths: i128::from(micros), currency }.to_string(),
        Err(_) => micros.to_string(),
    };
    let cost: i64 = answers.iter().filter_map(|answer| answer.cost_micros).sum();
    let saved = |action: Action| -> i64 {
        answers.iter().filter(|answer| answer.action == action).map(|answer| answer.saving_micros).sum()
    };
    let (of_lower, of_idle) = (saved(Action::Lower), saved(Action::Idle));
    let saving = of_lower + of_idle;
    let count = |action: Action| answers.iter().filter(|answer| answer.action == action).count();
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    line(format!(
        "{} volumes cost {} a month; cheaper configurations that carry the same load save {} ({:.0} %).",
        answers.len(),
        money(cost),
        money(saving),
        if cost > 0 { saving as f64 * 100.0 / cost as f64 } else { 0.0 }
    ));
    line(format!("{} points were read, and each proposal was checked by a replay of them.", rightsized.points));
    line(String::new());
    line(format!("  lower    {:>7}  save {}", count(Action::Lower), money(of_lower)));
    line(format!(
        "  raise    {:>7}  limits delay operations; removing them costs {}",
        count(Action::Raise),
        money(-saved(Action::Raise))
    ));
    line(format!("  fits     {:>7}", count(Action::Fits)));
    line(format!("  idle     {:>7}  without any operation; save {}", count(Action::Idle), money(of_idle)));
    line(format!("  unknown  {:>7}  without a configuration or price", count(Action::Unknown)));
    let mut by_saving: Vec<&Answer> =
        answers.iter().filter(|answer| answer.saving_micros > 0 && !answer.throttled).collect();
    by_saving.sort_by_key(|answer| (-answer.saving_micros, answer.volume.volume));
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
    let mut throttled: Vec<&Answer> = answers.iter().filter(|answer| answer.throttled).collect();
    throttled.sort_by_key(|answer| (-answer.throttled_permille, answer.volume.volume));
    if !throttled.is_empty() {
        line(format!("\nMost throttled, of {}:", throttled.len()));
        for answer in throttled.iter().take(3) {
            let share = answer.throttled_permille as f64 / 10.0;
            line(format!("  {share:>10.1} %  {}  {}", answer.volume.id, answer.volume.config));
        }
    }
    for caution in cautions(answers).into_iter().take(2) {
        line(caution);
    }
    let _ = write!(out, "\nAll answers: {0}/verdicts.csv; commands: {0}/commands.sh", rightsized.out.display());
    out
}

/// True for risks of a kind.
type RiskTest = fn(&Risk) -> bool;

/// Reasons to doubt many answers.
fn cautions(answers: &[Answer]) -> Vec<String> {
    let count = |is: RiskTest| answers.iter().filter(|answer| answer.risks.iter().any(is)).count();
    let kinds: [(RiskTest, &str); 4] = [
        (|risk| matches!(risk, Risk::FewDays { .. }), "have less than 14 days of points: monthly peaks may be missing"),
        (|risk| matches!(risk, Risk::UnverifiedPrice), "have a price that was not verified"),
        (|risk| matches!(risk, Risk::ThroughputUnknown), "have no bytes in their points: their throughput stays"),
        (|risk| matches!(risk, Risk::ReplayDelays { .. }), "stay, because the replay of a cheaper one had delays"),
    ];
    let counted = kinds.into_iter().map(|(is, text)| (count(is), text)).filter(|(count, _)| *count > 0);
    counted.map(|(count, text)| format!("note: {count} volumes {text}")).collect()
}

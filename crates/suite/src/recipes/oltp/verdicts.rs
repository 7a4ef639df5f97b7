//! Verdicts on short transactions: supported rate, binding limit, and consistency of the data.

use plimsoll_database::System;
use plimsoll_load::Pace;
use plimsoll_record::Knee;
use plimsoll_units::Span;

use super::{Oltp, OltpPoint, Script};
use crate::ground::Facts;
use crate::recipe::{CompletedStep, Recipe};
use crate::recipes::evidence::bound;
use crate::recipes::load_line::keeping;

/// Maximum share of the host's processors for this program, above which it is part of the measured load.
const MAX_CLIENT_SHARE: f64 = 0.1;

/// The point with the highest throughput; of equal points the first, which has the lightest closed load.
pub(super) fn maximum<'a, 'b>(points: &'a [OltpPoint<'b>]) -> Option<&'a OltpPoint<'b>> {
    points.iter().rev().max_by(|a, b| a.run.figures.iops.value.total_cmp(&b.run.figures.iops.value))
}

pub(super) fn verdicts(oltp: &Oltp, done: &[CompletedStep], facts: &Facts) -> Vec<String> {
    let measured = Oltp::measured(done);
    let mut sentences = Vec::new();
    if let Some(best) = maximum(&measured) {
        let judged = oltp.database_result(done, facts);
        sentences.push(format!(
            "The most was {:.0} transactions a second, at {}.",
            best.run.figures.iops.value,
            load(best.step.pace)
        ));
        sentences.extend(judged.knee.as_ref().map(knee));
        sentences
            .extend(judged.load_line.as_ref().map(|line| format!("Load line: {}.", keeping(line, "transactions"))));
        sentences.push(format!("Binding limit at the maximum: {}.", bound(best.observed)));
        sentences.extend(client(best, facts));
    }
    sentences.extend(agreement(oltp, done));
    if oltp.options.script == Script::NewOrder {
        sentences.push(format!(
            "This is TPC-C-like, not TPC-C: {} new orders were rolled back intentionally (about 1 % of them), \
             customers are found only by number, and there are no deliveries.",
            oltp.ledger.undone()
        ));
    }
    sentences
}

fn load(pace: Pace) -> String {
    match pace {
        Pace::Closed { depth: 1 } => "1 client".into(),
        Pace::Closed { depth } => format!("{depth} clients"),
        Pace::Open { rate, .. } => format!("{:.0} arrivals a second", rate.as_f64()),
    }
}

fn knee(knee: &Knee) -> String {
    let mean = Span::from_secs_f64(knee.mean_ns / 1e9);
    format!("The knee is at {}: {:.0} transactions a second, {mean} each on average.", load(knee.offered), knee.iops)
}

/// Share of the host's processors used by this program. For `SQLite` this includes the database.
fn client(best: &OltpPoint<'_>, facts: &Facts) -> Option<String> {
    if facts.database.as_ref().is_some_and(|(system, _)| *system == System::Sqlite) {
        return None;
    }
    let (host, cpu) = best.observed.storage.host.zip(best.observed.client)?;
    let all = host.total().as_secs_f64();
    let share = cpu.total().as_secs_f64() / all.max(1e-9);
    let caution = if share > MAX_CLIENT_SHARE {
        ": caution, this is a part of the measured load; give the host more processors, or leave out --statements"
    } else {
        ""
    };
    Some(format!("The clients took {:.1} % of the host's processors{caution}.", 100.0 * share))
}

fn agreement(oltp: &Oltp, done: &[CompletedStep]) -> Vec<String> {
    let loaded = oltp.load_errors(done);
    if !loaded.is_empty() {
        return vec![format!("The tables were not loaded as they have to be: {}.", loaded.join("; "))];
    }
    let what = match oltp.options.script {
        Script::NewOrder => "numbers of orders, their lines, the money, and the committed transactions",
        Script::SelectOnly => "balances and the empty history",
        _ => "balances, the history, and the committed transactions",
    };
    vec![match oltp.inconsistencies(done) {
        None => format!("Consistency was not checked, because the run ended early: {what}."),
        Some(inconsistencies) if inconsistencies.is_empty() => format!("Consistent: {what}."),
        Some(inconsistencies) => format!("INCONSISTENT DATA: {}.", inconsistencies.join("; ")),
    }]
}

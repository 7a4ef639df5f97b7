//! Verdicts of a ladder: maximum throughput, its knee, the binding limit, and equality of results.

use plimsoll_analyse::closed;
use plimsoll_record::DelayAndQueue;
use plimsoll_units::Bytes;

use super::print::rate;
use super::published::STATION_S;
use super::{Ladder, Rung};
use crate::ground::Facts;
use crate::recipes::evidence::bound;

/// Maximum relative error of a fit.
const POOR: f64 = 0.2;

pub(super) fn verdicts(ladder: &Ladder, rungs: &[Rung<'_>], facts: &Facts) -> Vec<String> {
    let Some(last) = rungs.last() else { return Vec::new() };
    let fitted = ladder.fitted(rungs);
    let mut sentences = match &fitted {
        Some(fitted) => station(fitted, last),
        None if rungs.len() > 1 => vec![no_station(&rungs[0], last)],
        None => Vec::new(),
    };
    sentences.push(format!("Binding limit at {}: {}.", sessions(last.sessions), bound(last.observed)));
    sentences.extend(ended_early(ladder, last));
    sentences.extend(fetched(ladder, last));
    sentences.extend(fits_in_memory(ladder, facts));
    sentences.push(rows(ladder, rungs));
    if ladder.options.beside_article {
        sentences.extend(fitted.as_ref().map(article));
    }
    sentences
}

fn station(fitted: &DelayAndQueue, last: &Rung<'_>) -> Vec<String> {
    if fitted.error > POOR {
        return vec![format!(
            "One delay and one queue do not describe this ladder: their best fit is off by up to {:.0} %.",
            100.0 * fitted.error
        )];
    }
    let (demand, delay) = (fitted.demand.as_secs_f64(), fitted.delay.as_secs_f64());
    let from = closed::saturation(fitted);
    let observed = if f64::from(last.sessions) < from { ", which this ladder did not reach" } else { "" };
    let waiting = (last.mean().as_secs_f64() - demand - delay).max(0.0) / last.mean().as_secs_f64().max(1e-9);
    vec![
        format!(
            "The most is {} executions a minute, from {from:.1} sessions on{observed}: each needs {} of the station that binds and {} \
             of everything else (fitted, at most {:.1} % off).",
            rate(60.0 / demand.max(1e-9)),
            fitted.demand,
            fitted.delay,
            100.0 * fitted.error,
        ),
        format!(
            "Alone, an execution spends {:.0} % of its time at that station; at {} it waits in its queue for {:.0} %.",
            100.0 * demand / (demand + delay).max(1e-9),
            sessions(last.sessions),
            100.0 * waiting,
        ),
    ]
}

/// Throughput grew linearly, or not like that of a single queue.
fn no_station(first: &Rung<'_>, last: &Rung<'_>) -> String {
    format!(
        "No station was found that sessions queue for: {} brought {:.1} times as many executions as {}. Climb further: \
         --concurrency up to {} or more.",
        sessions(last.sessions),
        last.rate() / first.rate(),
        sessions(first.sessions),
        4 * last.sessions,
    )
}

fn ended_early(ladder: &Ladder, last: &Rung<'_>) -> Option<String> {
    let planned = ladder.planned(last).filter(|planned| last.all.count < *planned)?;
    Some(format!(
        "The rung of {} ended early, after {} of {planned} executions: it is in the table, and in no fit.",
        sessions(last.sessions),
        last.all.count
    ))
}

/// Share of the built-in table read from storage per scan.
fn fetched(ladder: &Ladder, last: &Rung<'_>) -> Option<String> {
    let size = ladder.options.table_size()?;
    let fetched = Bytes::new(last.observed.counted.fetched_bytes?.checked_div(last.counted)?);
    Some(format!("Of the table's {size}, each scan at {} fetched {fetched} from storage.", sessions(last.sessions)))
}

fn fits_in_memory(ladder: &Ladder, facts: &Facts) -> Option<String> {
    let size = ladder.options.table_size()?;
    let (_, about) = facts.database.as_ref()?;
    let page_cache = if about.direct == Some(true) { None } else { about.memory.or_else(|| facts.memory()) };
    let (what, holds) = match (about.cache, page_cache) {
        (Some(cache), _) if cache >= size => ("the database's cache", cache),
        (_, Some(memory)) if memory >= size => ("memory for the page cache", memory),
        _ => return None,
    };
    Some(format!(
        "The table of {size} fits into {what} of {holds}: scans may have been served from memory; give a larger \
         --table, or limit --memory."
    ))
}

fn rows(ladder: &Ladder, rungs: &[Rung<'_>]) -> String {
    let differing: Vec<String> = rungs
        .iter()
        .zip(&ladder.result_checks)
        .filter(|(_, result_check)| result_check.differing() > 0)
        .map(|(rung, result_check)| {
            format!("{} of {} at {}", result_check.differing(), rung.all.count, sessions(rung.sessions))
        })
        .collect();
    if differing.is_empty() {
        let all: u64 = rungs.iter().map(|rung| rung.all.count).sum();
        return format!("All {all} executions brought the same rows.");
    }
    format!(
        "Executions with other rows than the first: {}. If the result of the statement should not change, this is an \
         error.",
        differing.join(", ")
    )
}

fn article(fitted: &DelayAndQueue) -> String {
    let (demand, delay) = STATION_S;
    let of = |demand: f64, delay: f64| 100.0 * demand / (demand + delay).max(1e-9);
    format!(
        "The article's ladder is that of a station with {:.0} % of an execution, so that it took {:.1} sessions to fill it; this one \
         has {:.0} % and takes {:.1}.",
        of(demand, delay),
        (demand + delay) / demand,
        of(fitted.demand.as_secs_f64(), fitted.delay.as_secs_f64()),
        closed::saturation(fitted),
    )
}

fn sessions(count: u32) -> String {
    if count == 1 { "1 session".into() } else { format!("{count} sessions") }
}

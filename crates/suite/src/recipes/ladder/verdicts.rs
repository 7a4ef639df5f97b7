//! Verdicts of a ladder: maximum throughput, its knee, the binding limit, and equality of results.

use plimsoll_load::Pace;
use plimsoll_record::{DelayAndQueue, LadderVerdict, OtherRows, Verdict};
use plimsoll_units::{Bytes, Span};

use super::published::STATION_S;
use super::{Ladder, Rung};
use crate::ground::Facts;
use crate::recipes::evidence::binding_limit;

/// Maximum relative error of a fit.
const POOR: f64 = 0.2;

pub(super) fn verdicts(ladder: &Ladder, rungs: &[Rung<'_>], facts: &Facts) -> Vec<Verdict> {
    let Some(last) = rungs.last() else { return Vec::new() };
    let fitted = ladder.fitted(rungs);
    let station = match fitted {
        Some(fitted) if fitted.error > POOR => Some(LadderVerdict::PoorFit { error_share: fitted.error }),
        Some(fitted) => Some(LadderVerdict::Station { fitted, sessions: last.sessions, mean: last.mean() }),
        None if rungs.len() > 1 => Some(no_station(&rungs[0], last)),
        None => None,
    };
    let mut found: Vec<Verdict> = station.into_iter().map(Verdict::from).collect();
    found.push(binding_limit(Pace::Closed { depth: last.sessions }, last.observed).into());
    let of_article = || {
        let (demand, delay) = STATION_S;
        let (demand, delay) = (Span::from_secs_f64(demand), Span::from_secs_f64(delay));
        Some(LadderVerdict::PublishedStation {
            fitted: fitted?,
            published: DelayAndQueue { demand, delay, error: 0.0 },
        })
    };
    let others = [
        ended_early(ladder, last),
        fetched(ladder, last),
        fits_in_memory(ladder, facts),
        Some(rows(ladder, rungs)),
        if ladder.options.beside_article { of_article() } else { None },
    ];
    found.extend(others.into_iter().flatten().map(Verdict::from));
    found
}

/// Throughput grew linearly, or not like that of a single queue.
fn no_station(first: &Rung<'_>, last: &Rung<'_>) -> LadderVerdict {
    let ratio = last.rate() / first.rate().max(1e-9);
    LadderVerdict::NoStation { sessions: last.sessions, ratio, first_sessions: first.sessions }
}

fn ended_early(ladder: &Ladder, last: &Rung<'_>) -> Option<LadderVerdict> {
    let planned = ladder.planned(last).filter(|planned| last.all.count < *planned)?;
    Some(LadderVerdict::EndedEarly { sessions: last.sessions, done: last.all.count, planned })
}

/// Share of the built-in table read from storage per scan.
fn fetched(ladder: &Ladder, last: &Rung<'_>) -> Option<LadderVerdict> {
    let table_bytes = ladder.options.table_size()?;
    let fetched_bytes = Bytes::new(last.observed.counted.fetched_bytes?.checked_div(last.counted)?);
    Some(LadderVerdict::Fetched { table_bytes, sessions: last.sessions, fetched_bytes })
}

fn fits_in_memory(ladder: &Ladder, facts: &Facts) -> Option<LadderVerdict> {
    let table_bytes = ladder.options.table_size()?;
    let (_, about) = facts.database.as_ref()?;
    let memory = if about.direct == Some(true) { None } else { about.memory.or_else(|| facts.memory()) };
    let caches = [(about.cache, false), (memory, true)];
    let mut holding = caches.into_iter().filter_map(|(cache, page_cache)| Some((cache?, page_cache)));
    let (cache_bytes, page_cache) = holding.find(|(cache, _)| *cache >= table_bytes)?;
    Some(LadderVerdict::TableInCache { table_bytes, cache_bytes, page_cache })
}

fn rows(ladder: &Ladder, rungs: &[Rung<'_>]) -> LadderVerdict {
    let checked = rungs.iter().zip(&ladder.result_checks).filter(|(_, check)| check.differing() > 0);
    let rungs_differing: Vec<OtherRows> = checked
        .map(|(rung, check)| OtherRows {
            differing: check.differing(),
            executions: rung.all.count,
            sessions: rung.sessions,
        })
        .collect();
    if rungs_differing.is_empty() {
        return LadderVerdict::EqualRows { executions: rungs.iter().map(|rung| rung.all.count).sum() };
    }
    LadderVerdict::DifferentRows { rungs: rungs_differing }
}

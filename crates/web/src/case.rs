//! Figures of a case of uploaded reports, and the searches made for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use plimsoll_choose::sizing::Sizing;
use plimsoll_choose::what_if::WhatIfs;
use plimsoll_ingest::{Demand, Outcome};
use serde::{Deserialize, Serialize};

use crate::threads::SearchProgress;

/// Interval in which a search tries to begin while another is in progress.
const TURN_POLL: Duration = Duration::from_millis(5);

/// Figures of a case.
#[derive(Debug)]
pub struct ParsedCase {
    /// Result of each file.
    pub outcomes: Vec<Outcome>,
    /// Demand of all files.
    pub demand: Demand,
    /// Products that led the last ranking: a slider searches among these.
    leaders: Mutex<Vec<String>>,
    /// The last report, with its conditions.
    report: Mutex<LastReport>,
    /// Held by the search in progress, and by the report in progress.
    turns: [Mutex<()>; 2],
    /// Progress of the last search.
    progress: Mutex<SearchProgress>,
}

type LastReport = Option<(SizeRequest, Arc<SearchResult>)>;

/// Requirements of a sizing request.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SizeRequest {
    /// Bytes to store today, as text; those of the reports if it is empty.
    pub capacity: String,
    /// Name of the database or host, if there are several.
    pub subject: String,
    /// Growth in percent a year.
    pub growth: f64,
    /// Months for which the storage has to suffice.
    pub months: u32,
    /// Headroom in percent.
    pub headroom: f64,
    /// Objective in milliseconds at the 99th percentile of reads; 0 for none.
    pub p99_ms: f64,
    /// Reads that remain with a larger cache, as a share of today's.
    pub reads_left: f64,
    /// Providers or products; all when empty.
    pub providers: Vec<String>,
    /// Choices may be slower than today's storage.
    pub may_be_slower: bool,
    pub extent: SearchExtent,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchExtent {
    /// Products that led the last ranking: fast enough for a slider.
    Leaders,
    /// All products.
    #[default]
    Ranking,
    /// All products, layouts, sizes of the cache, and the report.
    Report,
}

impl Default for SizeRequest {
    fn default() -> Self {
        Self {
            capacity: String::new(),
            subject: String::new(),
            growth: 0.0,
            months: 0,
            headroom: 20.0,
            p99_ms: 0.0,
            reads_left: 1.0,
            providers: Vec::new(),
            may_be_slower: false,
            extent: SearchExtent::default(),
        }
    }
}

#[derive(Debug)]
pub struct SearchResult {
    /// Configurations that carry the load.
    pub sizing: Sizing,
    /// Results of what-ifs.
    pub what_ifs: WhatIfs,
}

impl ParsedCase {
    /// Figures of these results.
    pub fn of(outcomes: Vec<Outcome>) -> Self {
        let readings: Vec<_> = outcomes.iter().filter_map(Outcome::reading).collect();
        let demand = Demand::of(&readings);
        Self {
            demand,
            outcomes,
            leaders: Mutex::default(),
            report: Mutex::default(),
            turns: Default::default(),
            progress: Mutex::default(),
        }
    }

    /// Progress of the last search; replaced when a search begins.
    pub fn progress(&self) -> MutexGuard<'_, SearchProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Products that led the last ranking.
    pub fn leaders(&self) -> MutexGuard<'_, Vec<String>> {
        self.leaders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last report.
    pub fn report(&self) -> MutexGuard<'_, LastReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the search of the same kind in progress, so that superseded ones do not pile up. `None` when cancelled.
    pub fn turn(&self, extent: SearchExtent, cancelled: &AtomicBool) -> Option<MutexGuard<'_, ()>> {
        let turn = &self.turns[usize::from(extent == SearchExtent::Report)];
        while !cancelled.load(Ordering::Relaxed) {
            match turn.try_lock() {
                Ok(guard) => return Some(guard),
                Err(TryLockError::Poisoned(guard)) => return Some(guard.into_inner()),
                Err(TryLockError::WouldBlock) => std::thread::sleep(TURN_POLL),
            }
        }
        None
    }

    /// Reasons for files that could not be used.
    pub fn refusals(&self) -> Vec<String> {
        let refusal = |outcome: &Outcome| match outcome {
            Outcome::Refused { name, refusal } => Some(format!("{name}: {refusal}")),
            Outcome::Read(_) => None,
        };
        self.outcomes.iter().filter_map(refusal).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn superseded_search_does_not_wait_for_its_turn() {
        let parsed = ParsedCase::of(Vec::new());
        let (active, superseded) = (AtomicBool::new(false), AtomicBool::new(true));
        let first = parsed.turn(SearchExtent::Leaders, &active).unwrap();
        assert!(parsed.turn(SearchExtent::Ranking, &superseded).is_none());
        assert!(parsed.turn(SearchExtent::Report, &active).is_some(), "a report does not delay a slider");
        drop(first);
        assert!(parsed.turn(SearchExtent::Ranking, &active).is_some());
    }
}

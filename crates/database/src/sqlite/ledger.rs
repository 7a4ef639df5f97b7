//! Time accounting of SQLite's sessions: without a server, each session measures itself.

use plimsoll_record::Spent;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use plimsoll_units::Span;

use super::stopwatch::Lap;

/// Time and work of all sessions of a database since it was opened.
#[derive(Debug, Default)]
pub(super) struct WalLedger {
    processor: AtomicU64,
    read: AtomicU64,
    write: AtomicU64,
    commit: AtomicU64,
    lock: AtomicU64,
    internal: AtomicU64,
    commits: AtomicU64,
    log: Mutex<LogLength>,
}

#[derive(Debug, Default)]
struct LogLength {
    end: u64,
    written: u64,
}

impl WalLedger {
    /// Adds a lap: its processor time, and its waiting time under `waiting`.
    pub(super) fn add(&self, lap: Lap, waiting: Spent) {
        self.processor.fetch_add(lap.processor_ns, Relaxed);
        let account = match waiting {
            Spent::Writing => &self.write,
            Spent::Committing => &self.commit,
            Spent::Locked => &self.lock,
            // Sessions of a process contend for a few locks inside SQLite.
            Spent::Reading if lap.nothing_fetched => &self.internal,
            _ => &self.read,
        };
        account.fetch_add(lap.waiting_ns, Relaxed);
    }

    /// Counts a commit.
    pub(super) fn committed(&self) {
        self.commits.fetch_add(1, Relaxed);
    }

    /// Length of the log after a commit, in pages.
    ///
    /// Two sessions may report in reverse order; a restarted log is far shorter.
    pub(super) fn log_is(&self, pages: u64) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if pages > log.end {
            log.written += pages - log.end;
            log.end = pages;
        } else if pages < log.end / 2 {
            log.written += pages;
            log.end = pages;
        }
    }

    pub(super) fn log_pages(&self) -> u64 {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).written
    }

    /// Committed transactions with changes.
    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Relaxed)
    }

    /// Time of an activity.
    pub(super) fn spent(&self, activity: Spent) -> Span {
        let account = match activity {
            Spent::Processor => &self.processor,
            Spent::Reading => &self.read,
            Spent::Writing => &self.write,
            Spent::Committing => &self.commit,
            Spent::Locked => &self.lock,
            Spent::Internal => &self.internal,
            _ => return Span::from_nanos(0),
        };
        Span::from_nanos(account.load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_pages_are_counted_across_restarts() {
        let ledger = WalLedger::default();
        for (pages, written) in [(3, 3), (10, 10), (8, 10), (1000, 1000), (2, 1002), (5, 1005)] {
            ledger.log_is(pages);
            assert_eq!(ledger.log_pages(), written, "after {pages}");
        }
    }

    #[test]
    fn lap_is_split_into_processor_and_wait() {
        let ledger = WalLedger::default();
        ledger.add(Lap { processor_ns: 2, waiting_ns: 3, nothing_fetched: true }, Spent::Committing);
        ledger.add(Lap { processor_ns: 5, waiting_ns: 7, ..Lap::default() }, Spent::Locked);
        ledger.add(Lap { waiting_ns: 11, ..Lap::default() }, Spent::Reading);
        ledger.add(Lap { waiting_ns: 13, nothing_fetched: true, ..Lap::default() }, Spent::Reading);
        let spent = |activity| ledger.spent(activity).as_nanos();
        let all = [Spent::Processor, Spent::Committing, Spent::Locked, Spent::Reading, Spent::Internal].map(spent);
        assert_eq!(all, [7, 3, 7, 11, 13]);
    }
}

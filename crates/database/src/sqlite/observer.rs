//! Observer of SQLite's sessions: their time accounts, and Linux's I/O counters of this process.
//!
//! SQLite exposes cache statistics only through an unsafe interface, so that hits are unknown. Its requests to the
//! operating system are derived from the bytes read and written by this process, in blocks.

use std::sync::Arc;

use plimsoll_record::{DatabaseAbout, DatabaseCounters, Spent};
use plimsoll_units::Span;

use super::ledger::WalLedger;
use super::stopwatch::{figure, reports_run_queue};
use crate::failure::Failure;
use crate::target::Observer;

/// Bytes of a frame header in the log.
const FRAME_HEAD: u64 = 24;

pub(super) struct SqliteObserver {
    ledger: Arc<WalLedger>,
    block: u64,
    logged: bool,
    durable: bool,
}

/// I/O counters of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ProcessIo {
    read: u64,
    written: u64,
    fetched: u64,
}

impl SqliteObserver {
    pub(super) fn new(about: &DatabaseAbout, ledger: Arc<WalLedger>) -> Self {
        let logged = about.settings.iter().any(|(name, value)| name == "journal_mode" && value == "wal");
        Self { ledger, block: about.block.get().max(1), logged, durable: about.durable == Some(true) }
    }
}

impl Observer for SqliteObserver {
    fn counters(&mut self) -> Result<DatabaseCounters, Failure> {
        let io = std::fs::read_to_string("/proc/self/io").ok().and_then(|text| process_io(&text));
        let log = self.logged.then(|| self.ledger.log_pages() * (self.block + FRAME_HEAD));
        let flushes = self.logged && self.durable;
        Ok(DatabaseCounters {
            reads: io.map(|io| io.read / self.block),
            read_time: Some(self.ledger.spent(Spent::Reading)),
            // Writes to other journals are indistinguishable from data.
            writes: io.zip(log).map(|(io, log)| io.written.saturating_sub(log) / self.block),
            log_bytes: log,
            log_flushes: flushes.then(|| self.ledger.commits()),
            log_flush_time: flushes.then(|| self.ledger.spent(Spent::Committing)),
            commits: Some(self.ledger.commits()),
            lock_time: Some(self.ledger.spent(Spent::Locked)),
            fetched_bytes: io.map(|io| io.fetched),
            ..DatabaseCounters::default()
        })
    }

    fn activity(&mut self, _: &[u64]) -> Result<Vec<Spent>, Failure> {
        Ok(Vec::new())
    }

    fn spent(&mut self) -> Option<Vec<(Spent, Span)>> {
        // Absent if waiting for a processor cannot be separated from waiting for storage.
        reports_run_queue().then(|| {
            use Spent::{Committing, Internal, Locked, Processor, Reading, Writing};
            [Processor, Reading, Writing, Committing, Locked, Internal]
                .map(|spent| (spent, self.ledger.spent(spent)))
                .to_vec()
        })
    }
}

/// Lines of `/proc/self/io`.
fn process_io(text: &str) -> Option<ProcessIo> {
    let figure = |name| figure(text, name);
    Some(ProcessIo { read: figure("rchar:")?, written: figure("wchar:")?, fetched: figure("read_bytes:")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_io_is_parsed() {
        let text = "rchar: 12\nwchar: 34\nsyscr: 1\nsyscw: 2\nread_bytes: 4096\nwrite_bytes: 0\n";
        assert_eq!(process_io(text), Some(ProcessIo { read: 12, written: 34, fetched: 4096 }));
        assert_eq!(process_io("rchar: x"), None);
    }
}

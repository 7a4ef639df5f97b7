//! Start, repetition and end of a worker's job in relation to other workers.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_load::Repeat;
use plimsoll_units::{Kind, Op, Span};

/// `EILSEQ`: the error of a read whose checked contents are wrong.
const MISMATCH: i32 = rustix::io::Errno::ILSEQ.raw_os_error();

/// An event that happens once. Copies are the same signal.
#[derive(Clone, Debug, Default)]
pub struct Signal(Arc<AtomicBool>);

impl Signal {
    /// Sets the signal.
    pub fn give(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is set.
    pub fn is_given(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Operations whose failures do not end the worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToleratedErrors {
    pub reads: bool,
    pub writes: bool,
    /// Reads with wrong contents.
    pub mismatches: bool,
    /// Error numbers that are always tolerated: of reads, of writes, of mismatches.
    pub ignored: [Vec<i32>; 3],
}

impl ToleratedErrors {
    /// Whether the worker goes on after this failure.
    pub fn holds(&self, op: &Op, errno: i32) -> bool {
        let (kind, endured) = match op.kind {
            Kind::Read if errno == MISMATCH => (2, self.mismatches),
            Kind::Read => (0, self.reads),
            _ => (1, self.writes),
        };
        endured || self.ignored[kind].contains(&errno)
    }
}

/// The start, repetition and end of a worker's job.
#[derive(Clone, Debug)]
pub struct Conduct {
    /// Number of repetitions.
    pub repeat: Repeat,
    /// Files whose pages are dropped from the page cache between rounds and before written data are read back.
    pub forgets: Vec<PathBuf>,
    /// Failures that do not end it; none for all.
    pub endures: Option<ToleratedErrors>,
    /// Its resource usage is counted from this time after its beginning.
    pub counts_from: Span,
    /// Processor time that it spends at the start of each pause between operations; not in virtual time.
    pub spins: Span,
    /// Processors that it may run on; empty for all.
    pub processors: Vec<u32>,
    /// Signals to wait for before the start.
    pub after: Vec<Signal>,
    /// Signal that ends it.
    pub stop: Signal,
    /// Signals set at its end.
    pub when_ended: Vec<Signal>,
    /// Signals set if a failed operation ended it.
    pub when_failed: Vec<Signal>,
}

impl Default for Conduct {
    /// Once, immediately, regardless of failures.
    fn default() -> Self {
        Self {
            repeat: Repeat::ONCE,
            forgets: Vec::new(),
            endures: None,
            counts_from: Span::ZERO,
            spins: Span::ZERO,
            processors: Vec::new(),
            after: Vec::new(),
            stop: Signal::default(),
            when_ended: Vec::new(),
            when_failed: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerated_failures_do_not_end_worker() {
        let check = |endured: &ToleratedErrors, kind, errno, expected| {
            let op = Op { offset: 0, length: 512, kind, stream: 0 };
            assert_eq!(endured.holds(&op, errno), expected, "{kind:?}, {errno}");
        };
        let none = ToleratedErrors::default();
        check(&none, Kind::Read, 5, false);
        let reads = ToleratedErrors { reads: true, ignored: [vec![], vec![28], vec![]], ..none.clone() };
        check(&reads, Kind::Read, 5, true);
        check(&reads, Kind::Read, MISMATCH, false);
        check(&reads, Kind::Write, 5, false);
        check(&reads, Kind::Write, 28, true);
        check(&ToleratedErrors { mismatches: true, ..none }, Kind::Read, MISMATCH, true);
    }
}

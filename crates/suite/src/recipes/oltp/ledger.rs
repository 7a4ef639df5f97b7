//! What transactions know to have committed, beside what the database says, and how one is made of several statements.
//!
//! Knows nothing about tables.

use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_database::{Failure, Kind, Session};

/// Transactions by kind, and what became of them, over all points.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    made: [AtomicU64; KINDS],
    unsure: AtomicU64,
    undone: AtomicU64,
}

/// Kinds of transactions that any script has at most.
const KINDS: usize = 3;

impl Ledger {
    /// One of this kind was committed, or undone as it had to be, or failed.
    pub(super) fn note(&self, kind: u8, outcome: Result<Ended, &Failure>) {
        match outcome {
            Ok(Ended::Committed) => self.made[usize::from(kind).min(KINDS - 1)].fetch_add(1, Ordering::Relaxed),
            Ok(Ended::Undone) => self.undone.fetch_add(1, Ordering::Relaxed),
            // It was undone for another's sake.
            Err(failure) if failure.kind == Kind::Conflict => 0,
            // Whether the commit was before or after that is not known.
            Err(_) => self.unsure.fetch_add(1, Ordering::Relaxed),
        };
    }

    /// Committed transactions of a kind.
    pub(super) fn made(&self, kind: u8) -> u64 {
        self.made[usize::from(kind).min(KINDS - 1)].load(Ordering::Relaxed)
    }

    /// Transactions of which it is not known whether they were committed.
    pub(super) fn unsure(&self) -> u64 {
        self.unsure.load(Ordering::Relaxed)
    }

    /// Transactions that were undone on purpose.
    pub(super) fn undone(&self) -> u64 {
        self.undone.load(Ordering::Relaxed)
    }
}

/// How a transaction ended that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// It is durable, as far as the server is set so.
    Committed,
    /// It was undone on purpose.
    Undone,
}

/// Makes a transaction of what `work` asks for. What fails is undone.
pub(super) fn transact(
    session: &mut dyn Session,
    work: impl FnOnce(&mut dyn Session) -> Result<Ended, Failure>,
) -> Result<Ended, Failure> {
    session.begin()?;
    let outcome = work(session).and_then(|ended| match ended {
        Ended::Committed => session.commit().map(|()| ended),
        Ended::Undone => session.rollback().map(|()| ended),
    });
    if outcome.is_err() {
        // A session that was lost cannot be asked for it; the failure says so already.
        let _ = session.rollback();
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_been_committed_is_told_apart() {
        let ledger = Ledger::default();
        ledger.note(0, Ok(Ended::Committed));
        ledger.note(2, Ok(Ended::Committed));
        ledger.note(0, Ok(Ended::Undone));
        ledger.note(0, Err(&Failure::new(Kind::Conflict, "deadlock")));
        ledger.note(0, Err(&Failure::new(Kind::Lost, "gone")));
        assert_eq!((ledger.made(0), ledger.made(1), ledger.made(2)), (1, 0, 1));
        assert_eq!((ledger.unsure(), ledger.undone()), (1, 1));
    }
}

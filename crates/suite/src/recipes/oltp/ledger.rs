//! The client's count of committed transactions, for comparison with the database, and execution of multi-statement
//! transactions.

use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_database::{Failure, FailureKind, Session};

/// Numbers of transactions of all points, by kind and outcome.
#[derive(Debug, Default)]
pub(super) struct OltpLedger {
    committed: [AtomicU64; KINDS],
    unsure: AtomicU64,
    undone: AtomicU64,
}

/// Maximum number of kinds of a script.
const KINDS: usize = 3;

impl OltpLedger {
    /// Counts a transaction.
    pub(super) fn note(&self, kind: u8, outcome: Result<TransactionEnd, &Failure>) {
        match outcome {
            Ok(TransactionEnd::Committed) => {
                self.committed[usize::from(kind).min(KINDS - 1)].fetch_add(1, Ordering::Relaxed)
            }
            Ok(TransactionEnd::Undone) => self.undone.fetch_add(1, Ordering::Relaxed),
            // Rolled back by the server after a conflict.
            Err(failure) if failure.kind == FailureKind::Conflict => 0,
            // Unknown whether it was committed.
            Err(_) => self.unsure.fetch_add(1, Ordering::Relaxed),
        };
    }

    /// Committed transactions of a kind.
    pub(super) fn committed(&self, kind: u8) -> u64 {
        self.committed[usize::from(kind).min(KINDS - 1)].load(Ordering::Relaxed)
    }

    /// Transactions whose outcome is unknown.
    pub(super) fn unsure(&self) -> u64 {
        self.unsure.load(Ordering::Relaxed)
    }

    /// Transactions rolled back intentionally.
    pub(super) fn undone(&self) -> u64 {
        self.undone.load(Ordering::Relaxed)
    }
}

/// Outcome of a transaction that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransactionEnd {
    Committed,
    /// Rolled back intentionally.
    Undone,
}

/// Executes `work` as a transaction, which is rolled back if it fails.
pub(super) fn transact(
    session: &mut dyn Session,
    work: impl FnOnce(&mut dyn Session) -> Result<TransactionEnd, Failure>,
) -> Result<TransactionEnd, Failure> {
    session.begin()?;
    let outcome = work(session).and_then(|ended| match ended {
        TransactionEnd::Committed => session.commit().map(|()| ended),
        TransactionEnd::Undone => session.rollback().map(|()| ended),
    });
    if outcome.is_err() {
        // Fails, too, in a lost session; the first failure is reported.
        let _ = session.rollback();
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_outcomes_are_counted_separately() {
        let ledger = OltpLedger::default();
        ledger.note(0, Ok(TransactionEnd::Committed));
        ledger.note(2, Ok(TransactionEnd::Committed));
        ledger.note(0, Ok(TransactionEnd::Undone));
        ledger.note(0, Err(&Failure::new(FailureKind::Conflict, "deadlock")));
        ledger.note(0, Err(&Failure::new(FailureKind::Lost, "gone")));
        assert_eq!((ledger.committed(0), ledger.committed(1), ledger.committed(2)), (1, 0, 1));
        assert_eq!((ledger.unsure(), ledger.undone()), (1, 1));
    }
}

//! What sessions of a step have in common: how they are opened, ended early, and how a failure is told.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use plimsoll_database::{Cancel, Database, Failure, Kind, Session};
use plimsoll_drive::{Fault, Onward};
use plimsoll_record::Slice;

/// What ends the statements of a step's sessions from outside.
#[derive(Default)]
pub(super) struct Cancels(Mutex<BTreeMap<u32, Box<dyn Cancel>>>);

impl Cancels {
    /// Session `number` of the step, in place of one that it had before: its statements can be ended.
    pub fn session(&self, database: &dyn Database, number: u32) -> Result<Box<dyn Session>, Failure> {
        let session = database.session()?;
        self.each().insert(number, session.cancel());
        Ok(session)
    }

    /// Ends what all sessions are at.
    pub fn all(&self) {
        self.each().values().for_each(|cancel| cancel.cancel());
    }

    fn each(&self) -> MutexGuard<'_, BTreeMap<u32, Box<dyn Cancel>>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Asks the user's observer, and ends what sessions are at once it has enough.
    pub fn ask(&self, observe: &mut dyn FnMut(&[Slice]) -> Onward, series: &[Slice], stopped: &mut bool) -> Onward {
        let onward = observe(series);
        if onward.is_break() && !std::mem::replace(stopped, true) {
            self.all();
        }
        onward
    }
}

/// A failure of a database as the fault that ends a step.
pub(super) fn fault(attempt: impl Into<String>, failure: Failure) -> Fault {
    Fault { attempt: attempt.into(), source: std::io::Error::other(failure) }
}

/// The number that a transaction's failure is counted by; none where it ends the step.
pub(super) const fn counted(kind: Kind) -> Option<i32> {
    match kind {
        Kind::Conflict => Some(rustix::io::Errno::DEADLK.raw_os_error()),
        Kind::Cancelled => Some(rustix::io::Errno::CANCELED.raw_os_error()),
        _ => None,
    }
}

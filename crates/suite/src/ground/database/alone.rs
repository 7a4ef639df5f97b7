//! A session as a target of its own: what is submitted is done at once, by the thread that submits it.

use plimsoll_database::Session;
use plimsoll_drive::{Completion, Fault, Target};
use plimsoll_load::Outcome;
use plimsoll_units::{Instant, Op, Slot};

use super::calls::{counted, fault};
use super::crowd::Shared;
use crate::sql::Taker;

/// One session, for a depth of 1.
pub(super) struct Alone<'a> {
    shared: &'a Shared<'a>,
    session: Box<dyn Session>,
    taker: Box<dyn Taker>,
    done: Option<Completion>,
}

impl<'a> Alone<'a> {
    pub fn new(shared: &'a Shared<'a>, session: Box<dyn Session>, taker: Box<dyn Taker>) -> Self {
        Self { shared, session, taker, done: None }
    }
}

/// Makes the transaction that an operation stands for.
///
/// # Errors
/// It failed by something that the next one would fail by, too.
pub(super) fn take(
    shared: &Shared<'_>,
    session: &mut dyn Session,
    taker: &mut dyn Taker,
    op: &Op,
) -> Result<Outcome, Fault> {
    match taker.take(session, op.stream, op.offset) {
        Ok(digest) => {
            if let Some(digest) = digest {
                shared.digests.compare(op.stream, digest);
            }
            Ok(Outcome::Done)
        }
        Err(failure) => match counted(failure.kind) {
            Some(number) => Ok(Outcome::Failed(number)),
            None => Err(fault(format!("a transaction of kind {}", shared.kind(op.stream)), failure)),
        },
    }
}

impl Target for Alone<'_> {
    fn now(&mut self) -> Instant {
        self.shared.clock.now()
    }

    fn submit(&mut self, batch: &[(Slot, Op)]) -> Result<(), Fault> {
        for (slot, op) in batch {
            let outcome = take(self.shared, &mut *self.session, &mut *self.taker, op)?;
            self.done = Some(Completion { slot: *slot, at: self.shared.clock.now(), outcome, bound_by: None });
        }
        Ok(())
    }

    fn wait(&mut self, until: Instant, completions: &mut Vec<Completion>) -> Result<Instant, Fault> {
        if let Some(done) = self.done.take() {
            completions.push(done);
            return Ok(done.at);
        }
        let left = until.since(self.shared.clock.now());
        std::thread::sleep(std::time::Duration::from_nanos(left.as_nanos()));
        Ok(self.shared.clock.now())
    }
}

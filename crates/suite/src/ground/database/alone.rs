//! A session as a target of its own: what is submitted is done at once, by the thread that submits it.

use plimsoll_database::Session;
use plimsoll_drive::{Completion, Fault, Target};
use plimsoll_load::Outcome;
use plimsoll_units::{Instant, Op, Slot, Span};

use super::calls::{counted, fault};
use super::crowd::Shared;
use crate::sql::Taker;

/// One session, for a depth of 1.
pub(super) struct Alone<'a> {
    shared: &'a Shared<'a>,
    session: Box<dyn Session>,
    taker: Box<dyn Taker>,
    done: Option<Completion>,
    settling: Settling,
}

/// Lets a session tell the server now and then what it did: some servers count it only when it has been told.
#[derive(Default)]
pub(super) struct Settling(Instant);

impl Settling {
    const PERIOD: Span = Span::from_millis(250);

    /// Does so when it is due at `now`.
    pub fn look(&mut self, now: Instant, session: &mut dyn Session) {
        if now >= self.0 + Self::PERIOD {
            self.0 = now;
            // A session that fails here fails at its next transaction, which tells why.
            let _ = session.settle();
        }
    }
}

impl<'a> Alone<'a> {
    pub fn new(shared: &'a Shared<'a>, session: Box<dyn Session>, taker: Box<dyn Taker>) -> Self {
        Self { shared, session, taker, done: None, settling: Settling::default() }
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
            self.settling.look(done.at, &mut *self.session);
            return Ok(self.shared.clock.now());
        }
        let left = until.since(self.shared.clock.now());
        std::thread::sleep(std::time::Duration::from_nanos(left.as_nanos()));
        Ok(self.shared.clock.now())
    }
}

//! A loop inside the server: the session calls it for a moment, again and again, and counts the units of work that it tells.
//!
//! The load is made by the server itself, so nothing of it passes the one loop of `drive`: this only collects.

use plimsoll_database::Session;
use plimsoll_drive::Fault;
use plimsoll_record::{Counting, Slice};
use plimsoll_units::{Instant, Kind, Op, Span};

use super::alone::Settling;
use super::calls::{counted, fault};
use super::crowd::{Mine, Shared};
use crate::crew::Tie;
use crate::sql::ServerLoop;

/// How long a call works: short enough to be watched, long enough for the client to cost nothing beside it.
const BURST: Span = Span::from_millis(250);

/// Calls it until the crew ends or the session's turns are over.
pub(super) fn run(
    shared: &Shared<'_>,
    server: &dyn ServerLoop,
    number: u32,
    session: Box<dyn Session>,
    tie: &mut Tie<'_>,
) -> Mine {
    let mut calls = Calls {
        shared,
        session,
        counting: Counting::new(),
        series: Vec::new(),
        begin: shared.clock.now(),
        slice: Span::ZERO,
        length: shared.slice(),
        settling: Settling::default(),
    };
    let mut random = fastrand::Rng::with_seed(shared.seed(number));
    let mut left = shared.step.turns.unwrap_or(u64::MAX);
    let mut failed = None;
    while left > 0 && !tie.is_stopped() {
        left -= 1;
        if let Err(fault) = calls.call(&server.call(number, random.u64(..), BURST), server) {
            failed = Some(fault);
            break;
        }
        if tie.observe(&calls.series).is_break() {
            break;
        }
    }
    let end = shared.clock.now().since(calls.begin);
    calls.close_until(end);
    let rest = end - calls.slice;
    calls.close(rest);
    let _ = tie.observe(&calls.series);
    (calls.series, failed)
}

struct Calls<'a> {
    shared: &'a Shared<'a>,
    session: Box<dyn Session>,
    counting: Counting,
    series: Vec<Slice>,
    /// When the first call began.
    begin: Instant,
    /// Where the present slice begins, from there.
    slice: Span,
    length: Span,
    settling: Settling,
}

impl Calls<'_> {
    fn call(&mut self, sql: &str, server: &dyn ServerLoop) -> Result<(), Fault> {
        let begin = self.shared.clock.now().since(self.begin);
        let rows = match self.session.rows(sql) {
            Ok(rows) => rows,
            Err(failure) => {
                let Some(number) = counted(failure.kind) else {
                    return Err(fault("calling the loop in the server", failure));
                };
                self.counting.failed(&self.op(0), number);
                // The server has not undone it by itself in every system.
                let _ = self.session.rollback();
                return Ok(());
            }
        };
        let end = self.shared.clock.now().since(self.begin);
        let units = server.units(&rows).ok_or_else(|| {
            let source =
                std::io::Error::new(std::io::ErrorKind::InvalidData, "its answer is not what it was made to give");
            Fault { attempt: "calling the loop in the server".into(), source }
        })?;
        for unit in units {
            // The server's clock may run a little ahead of what the client saw.
            let done = (begin + unit.began + unit.took).min(end);
            self.close_until(done);
            let op = self.op(unit.kind);
            self.counting.done(&op, unit.took, unit.took);
        }
        self.close_until(end);
        self.settling.look(Instant::ZERO + end, &mut *self.session);
        Ok(())
    }

    fn op(&self, kind: u8) -> Op {
        let writes = self.shared.step.kinds.get(usize::from(kind)).is_some_and(|kind| kind.writes);
        Op { offset: 0, length: 0, kind: if writes { Kind::Write } else { Kind::Read }, stream: kind }
    }

    /// Closes all slices that ended by then.
    fn close_until(&mut self, moment: Span) {
        while moment >= self.slice + self.length {
            self.close(self.length);
        }
    }

    fn close(&mut self, span: Span) {
        self.series.push(Slice { start: Instant::ZERO + self.slice, span, tally: self.counting.take() });
        self.slice += span;
    }
}

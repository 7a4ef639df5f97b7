//! Sessions that take from one queue: an arrival is made by whichever session is free.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use plimsoll_drive::{Completion, Fault, Observe, Rules, Target, drive};
use plimsoll_units::{Instant, Op, Slot};

use super::alone::{Settling, take};
use super::crowd::Shared;
use super::picked::Picked;
use crate::crew::unstarted;
use crate::sql::{CrowdSeen, CrowdWork};

/// All sessions as one target: slot N is session N.
struct Pool<'a> {
    shared: &'a Shared<'a>,
    sessions: Vec<Sender<(Slot, Op)>>,
    done: Receiver<Result<Completion, Fault>>,
}

/// Runs an open load; the fault that ended it early beside what was seen until then.
pub(super) fn run(shared: &Shared<'_>, watch: Observe<'_>) -> (CrowdSeen, Option<Fault>) {
    let CrowdWork::Transactions(transactions) = &shared.step.work else {
        let source = std::io::Error::new(std::io::ErrorKind::Unsupported, "a loop in the server has no arrivals");
        return (CrowdSeen::default(), Some(Fault { attempt: "offering an open load".into(), source }));
    };
    std::thread::scope(|scope| {
        let (send, done) = channel();
        let mut sessions = Vec::new();
        for number in 0..shared.step.sessions {
            let (give, asked) = channel();
            let send = send.clone();
            let session = move || serve(shared, number, &asked, &send);
            let started = std::thread::Builder::new().name(format!("session {number}")).spawn_scoped(scope, session);
            if let Err(source) = started {
                // Those that wait for this one end.
                shared.connected.close();
                return (CrowdSeen::default(), Some(unstarted(shared.step.sessions as usize, source)));
            }
            sessions.push(give);
        }
        drop(send);
        let mut pool = Pool { shared, sessions, done };
        if let Err(fault) = pool.await_sessions() {
            return (CrowdSeen::default(), Some(fault));
        }
        let start = shared.clock.now();
        let mut load = Picked::open(&**transactions, shared.step, start, shared.seed(0));
        let rules = Rules::new(shared.step.sessions, shared.slice());
        let (seen, fault) = match drive(&mut pool, &mut load, &rules, watch) {
            Ok(seen) => (seen, None),
            Err(torn) => (torn.until, Some(torn.fault)),
        };
        if fault.is_some() {
            shared.cancels.all();
        }
        let seen =
            CrowdSeen { series: seen.series, unserved: seen.unserved, lateness: seen.lateness, ..CrowdSeen::default() };
        (seen, fault)
    })
}

/// One session: makes what it is given until nothing more will come.
fn serve(shared: &Shared<'_>, number: u32, asked: &Receiver<(Slot, Op)>, done: &Sender<Result<Completion, Fault>>) {
    let nothing =
        Completion { slot: Slot(number), at: Instant::ZERO, outcome: plimsoll_load::Outcome::Done, bound_by: None };
    let mut desk = match shared.connect(number) {
        Ok(desk) => desk,
        Err(fault) => return drop(done.send(Err(fault))),
    };
    let Some(mut taker) = desk.taker.take() else { return };
    // It is connected.
    let _ = done.send(Ok(nothing));
    let mut settling = Settling::default();
    while let Ok((slot, op)) = asked.recv() {
        let outcome = take(shared, &mut *desk.session, &mut *taker, &op);
        let at = shared.clock.now();
        let failed = outcome.is_err();
        let completion = outcome.map(|outcome| Completion { slot, at, outcome, bound_by: None });
        if done.send(completion).is_err() || failed {
            return;
        }
        settling.look(at, &mut *desk.session);
    }
}

impl Pool<'_> {
    /// Waits for each session's first word.
    fn await_sessions(&self) -> Result<(), Fault> {
        for _ in 0..self.sessions.len() {
            match self.done.recv() {
                Ok(word) => drop(word?),
                Err(_) => return Err(gone()),
            }
        }
        Ok(())
    }
}

impl Target for Pool<'_> {
    fn now(&mut self) -> Instant {
        self.shared.clock.now()
    }

    fn submit(&mut self, batch: &[(Slot, Op)]) -> Result<(), Fault> {
        for asked in batch {
            // A session that is gone has said why, which the next wait tells.
            let _ = self.sessions[asked.0.index()].send(*asked);
        }
        Ok(())
    }

    fn wait(&mut self, until: Instant, completions: &mut Vec<Completion>) -> Result<Instant, Fault> {
        let left = until.since(self.shared.clock.now()).as_nanos();
        match self.done.recv_timeout(Duration::from_nanos(left.min(3_600_000_000_000))) {
            Ok(done) => completions.push(done?),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(gone()),
        }
        while let Ok(done) = self.done.try_recv() {
            completions.push(done?);
        }
        Ok(self.shared.clock.now())
    }
}

fn gone() -> Fault {
    let source = std::io::Error::new(std::io::ErrorKind::NotConnected, "all sessions have ended");
    Fault { attempt: "waiting for sessions".into(), source }
}

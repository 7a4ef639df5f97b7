//! Concurrent sessions: each repeats transactions (closed load), takes arrivals from a common queue (open load), or
//! calls a loop inside the server.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use plimsoll_analyse::{Settle, settle, tight_enough};
use plimsoll_database::{Cancel, Database, Failure, FailureKind, Session};
use plimsoll_device::{Clock, sharpen_timers};
use plimsoll_drive::{Completion, Fault, Observe, Onward, PartialRun, Rules, Target, drive};
use plimsoll_load::{Due, Load, OpOutcome, Pace, Pacer, StreamPhase};
use plimsoll_record::{Counting, Slice, Steadiness};
use plimsoll_units::{Instant, Kind, Op, Slot, Span, splitmix64};

use crate::session_run::by_part;
use crate::sql::{ServerLoop, SessionWork, SessionsResult, SessionsStep, TransactionRunner, Transactions};
use crate::workers::{StartBarrier, WorkerHandle, merge, together, unstarted};

/// Digests of results that must be equal for all transactions of a kind.
#[derive(Default)]
pub(super) struct Digests {
    first: Mutex<HashMap<u8, u64>>,
    differing: AtomicU64,
}

impl Digests {
    /// Compares a digest with the first of its kind.
    pub fn compare(&self, kind: u8, digest: u64) {
        let mut first = self.first.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if *first.entry(kind).or_insert(digest) != digest {
            self.differing.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// State shared by the sessions of a step.
pub(super) struct SessionGroup<'a> {
    pub database: &'a dyn Database,
    pub step: &'a SessionsStep,
    pub cancels: Cancellations,
    pub digests: Digests,
    pub clock: Clock,
    /// Opens when all sessions are connected or have failed.
    pub connected: StartBarrier,
    /// Server-side numbers of the connected sessions.
    numbers: Mutex<Vec<u64>>,
    /// Start of the first session, in nanoseconds of the clock.
    began: AtomicU64,
}

/// A session with its prepared transactions.
pub(super) struct OpenSession {
    pub session: Box<dyn Session>,
    pub runner: Option<Box<dyn TransactionRunner>>,
}

/// Series of a session, and the fault that ended it early.
pub(super) type SessionResult = (Vec<Slice>, Option<Fault>);

impl<'a> SessionGroup<'a> {
    pub fn new(database: &'a dyn Database, step: &'a SessionsStep, clock: Clock) -> Self {
        Self {
            database,
            step,
            cancels: Cancellations::default(),
            digests: Digests::default(),
            clock,
            connected: StartBarrier::new(step.sessions as usize),
            numbers: Mutex::default(),
            began: AtomicU64::new(u64::MAX),
        }
    }

    /// Waits until all sessions are connected or have failed. Returns their server-side numbers if all have a number.
    pub fn await_all(&self) -> Vec<u64> {
        self.connected.watch();
        let numbers = self.numbers.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        if numbers.len() == self.step.sessions as usize { numbers } else { Vec::new() }
    }

    /// Start of the first session; now if none has started.
    pub fn began(&self) -> Instant {
        match self.began.load(Ordering::Relaxed) {
            u64::MAX => self.clock.now(),
            nanos => Instant::ZERO + Span::from_nanos(nanos),
        }
    }

    /// Connects session `number`, and waits for the others.
    pub fn connect(&self, number: u32) -> Result<OpenSession, Fault> {
        sharpen_timers();
        let open = self.open(number);
        if let Ok(opened) = &open
            && let Some(number) = opened.session.number()
        {
            self.numbers.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(number);
        }
        self.connected.wait();
        let now = self.clock.now().since(Instant::ZERO).as_nanos();
        self.began.fetch_min(now, Ordering::Relaxed);
        open.map_err(|failure| {
            convert_failure(format!("opening session {} of {}", number + 1, self.step.sessions), failure)
        })
    }

    fn open(&self, number: u32) -> Result<OpenSession, Failure> {
        let mut session = self.cancels.session(self.database, number)?;
        let runner = match &self.step.work {
            SessionWork::InServer(_) => None,
            SessionWork::Transactions(transactions) => Some(transactions.open(&mut *session, number)?),
        };
        Ok(OpenSession { session, runner })
    }

    pub fn kind(&self, kind: u8) -> &str {
        self.step.kinds.get(usize::from(kind)).map_or("?", |kind| &kind.name)
    }

    pub fn slice(&self) -> Span {
        (self.step.least / 40)
            .clamp(Span::from_millis(50), Span::from_millis(500))
            .max((self.step.warm_up + self.step.max) / 1200)
    }

    /// Seed of a session's random streams.
    pub fn seed(&self, number: u32) -> u64 {
        self.step.seed ^ (u64::from(number) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

/// Runs all sessions. Returns the result so far with the fault that ended them early. The monitor samples the counters.
pub(super) fn run(group: &SessionGroup<'_>, observe: Observe<'_>) -> (SessionsResult, Option<Fault>) {
    let step = group.step;
    let mut stopped = false;
    let mut ends = StopRule { step, next_check: 0 };
    let mut watch = |series: &[Slice]| {
        let onward = group.cancels.ask(observe, series, &mut stopped);
        if onward.is_break() { onward } else { ends.look(series) }
    };
    let (mut observed, fault) = match step.pace {
        Pace::Open { .. } => run_open(group, &mut watch),
        Pace::Closed { .. } => side_by_side(group, &mut watch),
    };
    // Releases sessions that wait for sessions that were never started.
    group.connected.close();
    observed.differing = group.digests.differing.load(Ordering::Relaxed);
    (observed, fault.filter(|_| !stopped))
}

fn side_by_side(group: &SessionGroup<'_>, watch: Observe<'_>) -> (SessionsResult, Option<Fault>) {
    let members = (0..group.step.sessions).map(|number| {
        move |handle: &mut WorkerHandle<'_>| {
            let (series, fault) = match group.connect(number) {
                Err(fault) => (Vec::new(), Some(fault)),
                Ok(open) => round(group, number, open, handle),
            };
            if fault.is_some() {
                handle.stop();
            }
            Ok::<SessionResult, Fault>((series, fault))
        }
    });
    let mut observed = SessionsResult::default();
    let mut failed = None;
    let all = match together(members.collect(), watch) {
        Ok(all) => all,
        Err(fault) => return (observed, Some(fault)),
    };
    for mine in all {
        let (series, fault) = mine.unwrap_or_else(|fault| (Vec::new(), Some(fault)));
        merge(&mut observed.series, series);
        failed = failed.or(fault);
    }
    (observed, failed)
}

/// Runs a session of a closed load until its turns are over or the group ends.
fn round(group: &SessionGroup<'_>, number: u32, open: OpenSession, handle: &mut WorkerHandle<'_>) -> SessionResult {
    match (&group.step.work, open.runner) {
        (SessionWork::Transactions(transactions), Some(runner)) => {
            let mut load = TransactionLoad::closed(&**transactions, group.step, group.seed(number));
            let mut target = SessionTarget::new(group, open.session, runner);
            let rules = Rules::new(1, group.slice());
            let driven = drive(&mut target, &mut load, &rules, &mut |series| handle.observe(series));
            let (observed, fault) = PartialRun::split(driven);
            (observed.series, fault)
        }
        (SessionWork::InServer(server), _) => run_in_server(group, &**server, number, open.session, handle),
        (SessionWork::Transactions(_), None) => (Vec::new(), None),
    }
}

/// Ends a step at its maximum time, or at the required precision.
struct StopRule<'a> {
    step: &'a SessionsStep,
    /// Number of slices at the next check of the precision.
    next_check: usize,
}

impl StopRule<'_> {
    fn look(&mut self, series: &[Slice]) -> Onward {
        let step = self.step;
        let elapsed = series.last().map_or(Span::ZERO, |last| (last.start + last.span).since(Instant::ZERO));
        if step.turns.is_some() {
            return ControlFlow::Continue(());
        }
        if elapsed >= step.warm_up + step.max {
            return ControlFlow::Break(());
        }
        if elapsed < step.warm_up + step.least || series.len() < self.next_check {
            return ControlFlow::Continue(());
        }
        // Exponential schedule: analysing a long series at every slice would take longer than the slice.
        self.next_check = series.len() + (series.len() / 20).max(5);
        let options = Settle {
            least_warm_up: step.warm_up,
            offered_span: Span::MAX,
            objective: step.objective,
            offered: step.pace,
            unserved: 0,
        };
        let figures = settle(&by_part(step, series, false), &options).figures;
        let is_precise = figures.steadiness == Steadiness::Steady && tight_enough(&figures, &step.precision);
        if is_precise || figures.steadiness == Steadiness::Overloaded {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Cancels statements of a step's sessions from another thread.
#[derive(Default)]
pub(super) struct Cancellations(Mutex<BTreeMap<u32, Box<dyn Cancel>>>);

impl Cancellations {
    /// Opens session `number` of the step, replaces an earlier session of that number, and keeps its handle.
    pub fn session(&self, database: &dyn Database, number: u32) -> Result<Box<dyn Session>, Failure> {
        let session = database.session()?;
        self.each().insert(number, session.cancel());
        Ok(session)
    }

    /// Cancels the current statements of all sessions.
    pub fn all(&self) {
        self.each().values().for_each(|cancel| cancel.cancel());
    }

    fn each(&self) -> MutexGuard<'_, BTreeMap<u32, Box<dyn Cancel>>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Calls the observer, and cancels all statements if it stops the step.
    pub fn ask(&self, observe: &mut dyn FnMut(&[Slice]) -> Onward, series: &[Slice], stopped: &mut bool) -> Onward {
        let onward = observe(series);
        if onward.is_break() && !std::mem::replace(stopped, true) {
            self.all();
        }
        onward
    }
}

/// Converts a failure of a database to a fault that ends a step.
pub(super) fn convert_failure(attempt: impl Into<String>, failure: Failure) -> Fault {
    Fault { attempt: attempt.into(), source: std::io::Error::other(failure) }
}

/// `errno` under which a failed transaction is counted; `None` if the failure ends the step.
const fn counted(kind: FailureKind) -> Option<i32> {
    match kind {
        FailureKind::Conflict => Some(rustix::io::Errno::DEADLK.raw_os_error()),
        FailureKind::Cancelled => Some(rustix::io::Errno::CANCELED.raw_os_error()),
        _ => None,
    }
}

/// A session as a target of depth 1: the submitting thread executes each operation.
struct SessionTarget<'a> {
    group: &'a SessionGroup<'a>,
    session: Box<dyn Session>,
    runner: Box<dyn TransactionRunner>,
    done: Option<Completion>,
    flush: ActivityFlush,
}

/// Periodically makes a session report its statistics: some servers count them only then.
#[derive(Default)]
struct ActivityFlush(Instant);

impl ActivityFlush {
    const PERIOD: Span = Span::from_millis(250);

    /// Reports if due at `now`.
    pub fn look(&mut self, now: Instant, session: &mut dyn Session) {
        if now >= self.0 + Self::PERIOD {
            self.0 = now;
            // If this fails, the next transaction fails, too, and reports the reason.
            let _ = session.report_statistics();
        }
    }
}

impl<'a> SessionTarget<'a> {
    pub fn new(group: &'a SessionGroup<'a>, session: Box<dyn Session>, runner: Box<dyn TransactionRunner>) -> Self {
        Self { group, session, runner, done: None, flush: ActivityFlush::default() }
    }
}

/// Executes the transaction of an operation.
///
/// # Errors
/// A failure that would recur in the next transaction.
fn execute(
    group: &SessionGroup<'_>,
    session: &mut dyn Session,
    runner: &mut dyn TransactionRunner,
    op: &Op,
) -> Result<OpOutcome, Fault> {
    match runner.run(session, op.stream, op.offset) {
        Ok(digest) => {
            if let Some(digest) = digest {
                group.digests.compare(op.stream, digest);
            }
            Ok(OpOutcome::Done)
        }
        Err(failure) => match counted(failure.kind) {
            Some(number) => Ok(OpOutcome::Failed(number)),
            None => Err(convert_failure(format!("a transaction of kind {}", group.kind(op.stream)), failure)),
        },
    }
}

impl Target for SessionTarget<'_> {
    fn now(&mut self) -> Instant {
        self.group.clock.now()
    }

    fn submit(&mut self, batch: &[(Slot, Op)]) -> Result<(), Fault> {
        for (slot, op) in batch {
            let outcome = execute(self.group, &mut *self.session, &mut *self.runner, op)?;
            self.done = Some(Completion { slot: *slot, at: self.group.clock.now(), outcome, bound_by: None });
        }
        Ok(())
    }

    fn wait(&mut self, until: Instant, completions: &mut Vec<Completion>) -> Result<Instant, Fault> {
        if let Some(done) = self.done.take() {
            completions.push(done);
            self.flush.look(done.at, &mut *self.session);
            return Ok(self.group.clock.now());
        }
        let left = until.since(self.group.clock.now());
        std::thread::sleep(Duration::from_nanos(left.as_nanos()));
        Ok(self.group.clock.now())
    }
}

/// Transactions as a load. The stream of an operation is its kind; the offset is a random number.
struct TransactionLoad<'a> {
    pacer: Pacer,
    step: &'a SessionsStep,
    transactions: &'a dyn Transactions,
    random: fastrand::Rng,
    taken: u64,
}

impl<'a> TransactionLoad<'a> {
    /// Transactions of a session in a closed load.
    pub fn closed(transactions: &'a dyn Transactions, step: &'a SessionsStep, seed: u64) -> Self {
        let operations = step.turns.unwrap_or(u64::MAX);
        let phase = StreamPhase { operations, ..StreamPhase::unbounded(Instant::ZERO) };
        Self::new(transactions, step, Pace::Closed { depth: 1 }, phase, seed)
    }

    /// Arrivals of all sessions in an open load, from `start` until the end of the step.
    pub fn open(transactions: &'a dyn Transactions, step: &'a SessionsStep, start: Instant, seed: u64) -> Self {
        let phase = StreamPhase { end: start + step.warm_up + step.max, ..StreamPhase::unbounded(start) };
        Self::new(transactions, step, step.pace, phase, seed)
    }

    fn new(
        transactions: &'a dyn Transactions,
        step: &'a SessionsStep,
        pace: Pace,
        phase: StreamPhase,
        seed: u64,
    ) -> Self {
        // Arrivals must be independent of the kinds.
        let pacer = Pacer::new(pace, phase, splitmix64(seed ^ 3)).expect("suites have no recorded arrivals");
        Self { pacer, step, transactions, random: fastrand::Rng::with_seed(seed), taken: 0 }
    }
}

impl Load for TransactionLoad<'_> {
    fn due(&self) -> Due {
        self.pacer.due()
    }

    fn take(&mut self, now: Instant) -> Op {
        self.pacer.issue(now);
        let stream = self.transactions.pick_at(self.taken, self.random.u64(..));
        self.taken += 1;
        let writes = self.step.kinds.get(usize::from(stream)).is_some_and(|kind| kind.writes);
        let kind = if writes { Kind::Write } else { Kind::Read };
        Op { offset: self.random.u64(..), length: 0, kind, stream }
    }

    fn completed(&mut self, now: Instant, _: &Op, _: OpOutcome) {
        self.pacer.complete(now);
    }
}

/// All sessions as a target: slot N is session N.
struct SessionPool<'a> {
    group: &'a SessionGroup<'a>,
    sessions: Vec<Sender<(Slot, Op)>>,
    done: Receiver<Result<Completion, Fault>>,
}

/// Runs an open load. Returns the result so far with the fault that ended it early.
fn run_open(group: &SessionGroup<'_>, watch: Observe<'_>) -> (SessionsResult, Option<Fault>) {
    let SessionWork::Transactions(transactions) = &group.step.work else {
        let source = std::io::Error::new(std::io::ErrorKind::Unsupported, "a loop in the server has no arrivals");
        return (SessionsResult::default(), Some(Fault { attempt: "offering an open load".into(), source }));
    };
    std::thread::scope(|scope| {
        let (send, done) = channel();
        let mut sessions = Vec::new();
        for number in 0..group.step.sessions {
            let (give, operations) = channel();
            let send = send.clone();
            let session = move || serve(group, number, &operations, &send);
            let started = std::thread::Builder::new().name(format!("session {number}")).spawn_scoped(scope, session);
            if let Err(source) = started {
                // Releases the sessions that wait for this session.
                group.connected.close();
                return (SessionsResult::default(), Some(unstarted(group.step.sessions as usize, source)));
            }
            sessions.push(give);
        }
        drop(send);
        let mut pool = SessionPool { group, sessions, done };
        if let Err(fault) = pool.await_sessions() {
            return (SessionsResult::default(), Some(fault));
        }
        let start = group.clock.now();
        let mut load = TransactionLoad::open(&**transactions, group.step, start, group.seed(0));
        let rules = Rules::new(group.step.sessions, group.slice());
        let (observed, fault) = PartialRun::split(drive(&mut pool, &mut load, &rules, watch));
        if fault.is_some() {
            group.cancels.all();
        }
        let observed = SessionsResult {
            series: observed.series,
            unserved: observed.unserved,
            lateness: observed.lateness,
            ..SessionsResult::default()
        };
        (observed, fault)
    })
}

/// Executes the operations of a session until its channel closes.
fn serve(
    group: &SessionGroup<'_>,
    number: u32,
    operations: &Receiver<(Slot, Op)>,
    done: &Sender<Result<Completion, Fault>>,
) {
    let nothing = Completion { slot: Slot(number), at: Instant::ZERO, outcome: OpOutcome::Done, bound_by: None };
    let mut open = match group.connect(number) {
        Ok(open) => open,
        Err(fault) => return drop(done.send(Err(fault))),
    };
    let Some(mut runner) = open.runner.take() else { return };
    // Reports the connection.
    let _ = done.send(Ok(nothing));
    let mut flush = ActivityFlush::default();
    while let Ok((slot, op)) = operations.recv() {
        let outcome = execute(group, &mut *open.session, &mut *runner, &op);
        let at = group.clock.now();
        let failed = outcome.is_err();
        let completion = outcome.map(|outcome| Completion { slot, at, outcome, bound_by: None });
        if done.send(completion).is_err() || failed {
            return;
        }
        flush.look(at, &mut *open.session);
    }
}

impl SessionPool<'_> {
    /// Waits for the first message of each session.
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

impl Target for SessionPool<'_> {
    fn now(&mut self) -> Instant {
        self.group.clock.now()
    }

    fn submit(&mut self, batch: &[(Slot, Op)]) -> Result<(), Fault> {
        for operation in batch {
            // A session that has ended has sent its fault, which the next `wait` returns.
            let _ = self.sessions[operation.0.index()].send(*operation);
        }
        Ok(())
    }

    fn wait(&mut self, until: Instant, completions: &mut Vec<Completion>) -> Result<Instant, Fault> {
        let left = until.since(self.group.clock.now()).as_nanos();
        match self.done.recv_timeout(Duration::from_nanos(left.min(3_600_000_000_000))) {
            Ok(done) => completions.push(done?),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(gone()),
        }
        while let Ok(done) = self.done.try_recv() {
            completions.push(done?);
        }
        Ok(self.group.clock.now())
    }
}

fn gone() -> Fault {
    let source = std::io::Error::new(std::io::ErrorKind::NotConnected, "all sessions have ended");
    Fault { attempt: "waiting for sessions".into(), source }
}

/// Length of a call: short enough for progress, long enough for a negligible cost of the client.
const BURST: Span = Span::from_millis(250);

/// Calls the loop until the group ends or the session's turns are over. The server generates the load, so that the loop
/// of `drive` is not involved.
fn run_in_server(
    group: &SessionGroup<'_>,
    server: &dyn ServerLoop,
    number: u32,
    session: Box<dyn Session>,
    handle: &mut WorkerHandle<'_>,
) -> SessionResult {
    let mut calls = ServerLoopCalls {
        group,
        session,
        counting: Counting::new(),
        series: Vec::new(),
        begin: group.clock.now(),
        slice: Span::ZERO,
        length: group.slice(),
        flush: ActivityFlush::default(),
    };
    let mut random = fastrand::Rng::with_seed(group.seed(number));
    let mut left = group.step.turns.unwrap_or(u64::MAX);
    let mut failed = None;
    while left > 0 && !handle.is_stopped() {
        left -= 1;
        if let Err(fault) = calls.call(&server.call(number, random.u64(..), BURST), server) {
            failed = Some(fault);
            break;
        }
        if handle.observe(&calls.series).is_break() {
            break;
        }
    }
    let end = group.clock.now().since(calls.begin);
    calls.close_until(end);
    let rest = end - calls.slice;
    calls.close(rest);
    let _ = handle.observe(&calls.series);
    (calls.series, failed)
}

struct ServerLoopCalls<'a> {
    group: &'a SessionGroup<'a>,
    session: Box<dyn Session>,
    counting: Counting,
    series: Vec<Slice>,
    /// Start of the first call.
    begin: Instant,
    /// Start of the present slice, from `begin`.
    slice: Span,
    length: Span,
    flush: ActivityFlush,
}

impl ServerLoopCalls<'_> {
    fn call(&mut self, sql: &str, server: &dyn ServerLoop) -> Result<(), Fault> {
        let begin = self.group.clock.now().since(self.begin);
        let rows = match self.session.rows(sql) {
            Ok(rows) => rows,
            Err(failure) => {
                let Some(number) = counted(failure.kind) else {
                    return Err(convert_failure("calling the loop in the server", failure));
                };
                self.counting.failed(&self.op(0), number);
                // Not every system rolls back automatically.
                let _ = self.session.rollback();
                return Ok(());
            }
        };
        let end = self.group.clock.now().since(self.begin);
        let units = server.units(&rows).ok_or_else(|| {
            let source = std::io::Error::new(std::io::ErrorKind::InvalidData, "unexpected result of the server loop");
            Fault { attempt: "calling the loop in the server".into(), source }
        })?;
        for unit in units {
            // The server's clock may be slightly ahead of the client's.
            let done = (begin + unit.began + unit.took).min(end);
            self.close_until(done);
            let op = self.op(unit.kind);
            self.counting.done(&op, unit.took, unit.took);
        }
        self.close_until(end);
        self.flush.look(Instant::ZERO + end, &mut *self.session);
        Ok(())
    }

    fn op(&self, kind: u8) -> Op {
        let writes = self.group.step.kinds.get(usize::from(kind)).is_some_and(|kind| kind.writes);
        Op { offset: 0, length: 0, kind: if writes { Kind::Write } else { Kind::Read }, stream: kind }
    }

    /// Closes all slices that end by `moment`.
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

//! Sessions side by side: each goes round on its own (closed), takes from one queue of arrivals (open), or calls a loop of the
//! server's.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use plimsoll_analyse::{Settle, settle, tight_enough};
use plimsoll_database::{Database, Failure, Session};
use plimsoll_device::{Clock, sharpen_timers};
use plimsoll_drive::{Fault, Observe, Onward, Rules, drive};
use plimsoll_load::Pace;
use plimsoll_record::{Slice, Steadiness};
use plimsoll_units::{Instant, Span};

use super::calls::{Cancels, fault};
use super::picked::Picked;
use super::{alone, in_server, pool};
use crate::crew::{StartBarrier, Tie, merge, together};
use crate::recipe::by_part;
use crate::sql::{CrowdSeen, CrowdStep, CrowdWork, Taker};

/// What came back of transactions that have to bring the same each time.
#[derive(Default)]
pub(super) struct Digests {
    first: Mutex<HashMap<u8, u64>>,
    differing: AtomicU64,
}

impl Digests {
    /// Compares with what the first of that kind brought.
    pub fn compare(&self, kind: u8, digest: u64) {
        let mut first = self.first.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if *first.entry(kind).or_insert(digest) != digest {
            self.differing.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// What the sessions of a step share.
pub(super) struct Shared<'a> {
    pub database: &'a dyn Database,
    pub step: &'a CrowdStep,
    pub cancels: Cancels,
    pub digests: Digests,
    pub clock: Clock,
    /// All are connected, or have failed.
    pub connected: StartBarrier,
    /// The server's numbers of the sessions that are connected.
    numbers: Mutex<Vec<u64>>,
    /// When the first one began, in nanoseconds of the clock.
    began: AtomicU64,
}

/// What a session works with.
pub(super) struct Desk {
    pub session: Box<dyn Session>,
    pub taker: Option<Box<dyn Taker>>,
}

/// What one session saw: its series, and what ended it before the others.
pub(super) type Mine = (Vec<Slice>, Option<Fault>);

impl<'a> Shared<'a> {
    pub fn new(database: &'a dyn Database, step: &'a CrowdStep, clock: Clock) -> Self {
        Self {
            database,
            step,
            cancels: Cancels::default(),
            digests: Digests::default(),
            clock,
            connected: StartBarrier::new(step.sessions as usize),
            numbers: Mutex::default(),
            began: AtomicU64::new(u64::MAX),
        }
    }

    /// Waits until all sessions are connected or none will be any more. Their numbers, if all have one.
    pub fn await_all(&self) -> Vec<u64> {
        self.connected.watch();
        let numbers = self.numbers.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        if numbers.len() == self.step.sessions as usize { numbers } else { Vec::new() }
    }

    /// When the first session began; now where none has.
    pub fn began(&self) -> Instant {
        match self.began.load(Ordering::Relaxed) {
            u64::MAX => self.clock.now(),
            nanos => Instant::ZERO + Span::from_nanos(nanos),
        }
    }

    /// Connects session `number`, and waits for the others.
    pub fn connect(&self, number: u32) -> Result<Desk, Fault> {
        sharpen_timers();
        let desk = self.desk(number);
        if let Ok(known) = &desk
            && let Some(number) = known.session.number()
        {
            self.numbers.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(number);
        }
        self.connected.wait();
        let now = self.clock.now().since(Instant::ZERO).as_nanos();
        self.began.fetch_min(now, Ordering::Relaxed);
        desk.map_err(|failure| fault(format!("opening session {} of {}", number + 1, self.step.sessions), failure))
    }

    fn desk(&self, number: u32) -> Result<Desk, Failure> {
        let mut session = self.cancels.session(self.database, number)?;
        let taker = match &self.step.work {
            CrowdWork::InServer(_) => None,
            CrowdWork::Transactions(transactions) => Some(transactions.open(&mut *session, number)?),
        };
        Ok(Desk { session, taker })
    }

    /// What a kind is called.
    pub fn kind(&self, kind: u8) -> &str {
        self.step.kinds.get(usize::from(kind)).map_or("?", |kind| &kind.name)
    }

    /// Length of a slice of the series.
    pub fn slice(&self) -> Span {
        (self.step.least / 40)
            .clamp(Span::from_millis(50), Span::from_millis(500))
            .max((self.step.warm_up + self.step.most) / 1200)
    }

    /// What a session's random streams begin with.
    pub fn seed(&self, number: u32) -> u64 {
        self.step.seed ^ (u64::from(number) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

/// Runs them all; the fault that ended them early beside what was seen until then. Counters are for whoever looks on.
pub(super) fn run(shared: &Shared<'_>, observe: Observe<'_>) -> (CrowdSeen, Option<Fault>) {
    let step = shared.step;
    let mut stopped = false;
    let mut ends = Ends { step, next_check: 0 };
    let mut watch = |series: &[Slice]| {
        let onward = shared.cancels.ask(observe, series, &mut stopped);
        if onward.is_break() { onward } else { ends.look(series) }
    };
    let (mut seen, fault) = match step.pace {
        Pace::Open { .. } => pool::run(shared, &mut watch),
        Pace::Closed { .. } => side_by_side(shared, &mut watch),
    };
    // Who still waits for sessions that were never started waits no more.
    shared.connected.close();
    seen.differing = shared.digests.differing.load(Ordering::Relaxed);
    (seen, fault.filter(|_| !stopped))
}

fn side_by_side(shared: &Shared<'_>, watch: Observe<'_>) -> (CrowdSeen, Option<Fault>) {
    let members = (0..shared.step.sessions).map(|number| {
        move |tie: &mut Tie<'_>| {
            let (series, fault) = match shared.connect(number) {
                Err(fault) => (Vec::new(), Some(fault)),
                Ok(desk) => round(shared, number, desk, tie),
            };
            if fault.is_some() {
                tie.stop();
            }
            Ok::<Mine, Fault>((series, fault))
        }
    });
    let mut seen = CrowdSeen::default();
    let mut failed = None;
    let all = match together(members.collect(), watch) {
        Ok(all) => all,
        Err(fault) => return (seen, Some(fault)),
    };
    for mine in all {
        let (series, fault) = mine.unwrap_or_else(|fault| (Vec::new(), Some(fault)));
        merge(&mut seen.series, series);
        failed = failed.or(fault);
    }
    (seen, failed)
}

/// One session of a closed load until its turns are over or the crew ends.
fn round(shared: &Shared<'_>, number: u32, desk: Desk, tie: &mut Tie<'_>) -> Mine {
    match (&shared.step.work, desk.taker) {
        (CrowdWork::Transactions(transactions), Some(taker)) => {
            let mut load = Picked::closed(&**transactions, shared.step, shared.seed(number));
            let mut target = alone::Alone::new(shared, desk.session, taker);
            let driven =
                drive(&mut target, &mut load, &Rules::new(1, shared.slice()), &mut |series| tie.observe(series));
            match driven {
                Ok(seen) => (seen.series, None),
                Err(torn) => (torn.until.series, Some(torn.fault)),
            }
        }
        (CrowdWork::InServer(server), _) => in_server::run(shared, &**server, number, desk.session, tie),
        (CrowdWork::Transactions(_), None) => (Vec::new(), None),
    }
}

/// What ends a step: its time, or that enough is known.
struct Ends<'a> {
    step: &'a CrowdStep,
    /// Number of slices at which it is asked again whether enough is known.
    next_check: usize,
}

impl Ends<'_> {
    fn look(&mut self, series: &[Slice]) -> Onward {
        let step = self.step;
        let elapsed = series.last().map_or(Span::ZERO, |last| (last.start + last.span).since(Instant::ZERO));
        if step.turns.is_some() {
            return ControlFlow::Continue(());
        }
        if elapsed >= step.warm_up + step.most {
            return ControlFlow::Break(());
        }
        if elapsed < step.warm_up + step.least || series.len() < self.next_check {
            return ControlFlow::Continue(());
        }
        // Asked a twentieth later each time: analysing a long series at every slice would take longer than the slice.
        self.next_check = series.len() + (series.len() / 20).max(5);
        let options = Settle {
            least_warm_up: step.warm_up,
            offered_span: Span::MAX,
            objective: step.objective,
            offered: step.pace,
            unserved: 0,
        };
        let figures = settle(&by_part(step, series, false), &options).figures;
        let known = figures.steadiness == Steadiness::Steady && tight_enough(&figures, &step.precision);
        if known || figures.steadiness == Steadiness::Overloaded {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

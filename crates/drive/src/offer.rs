//! The one loop: takes operations from a load when they are due, gives them to a target, and counts what comes back.
//!
//! Response time runs from the intended moment, service time from the submission. While an open load's operations
//! wait for a slot, or for a stalled target, their response time runs: queueing that a user would feel is counted.
//!
//! Only what the loop itself did to them is not: when it slept until an arrival was due and woke too late, the arrivals
//! that it slept through are intended when it woke. How late that was is counted on its own.

use std::ops::ControlFlow;

use plimsoll_load::{Due, Load, Outcome};
use plimsoll_record::{Bins, Counting, Recorder, Slice};
use plimsoll_units::{Instant, Kind, Op, Slot, Span};

use crate::{Completion, Fault, Target, Torn};

/// What bounds the loop.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Operations in flight at most: the number of slots, at least 1. A closed load needs its depth.
    pub depth: u32,
    /// The length of a slice of the series, above zero.
    pub slice: Span,
    /// How long what is in flight is waited for after the run was broken off. A device that never answers must not
    /// keep what was measured from being kept.
    pub patience: Span,
}

impl Rules {
    /// Observers are asked at least this often, however long a slice is.
    const TICK: Span = Span::from_millis(250);

    /// Slices of `slice`, and ten seconds of patience.
    pub const fn new(depth: u32, slice: Span) -> Self {
        Self { depth, slice, patience: Span::from_secs(10) }
    }
}

/// Whether the run goes on.
pub type Onward = ControlFlow<()>;

/// Called at the end of each slice, and several times a second, with the series so far. `Break` ends the run: nothing more is issued, and what is
/// in flight is waited for.
pub type Observe<'a> = &'a mut dyn FnMut(&[Slice]) -> Onward;

/// What the loop saw.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The run in slices of time; the last one is shorter.
    pub series: Vec<Slice>,
    /// Operations that had arrived and were not issued, or not answered in time, when the run was broken off. Their wait
    /// until then is in the response times of the last slice.
    pub unserved: u64,
    /// Operations by the stage that held them, where a model said.
    pub bound_by: Vec<u64>,
    /// How far the loop overslept the moment of each operation of an open load; zero for those that came due while it
    /// was awake.
    pub lateness: Bins,
}

#[derive(Clone, Copy)]
struct Flight {
    op: Op,
    intended: Instant,
    submitted: Instant,
}

struct Offering<'a> {
    target: &'a mut dyn Target,
    slice: Span,
    patience: Span,
    /// When the observer is asked next.
    tick: Instant,
    /// When what is in flight is given up.
    give_up: Instant,
    /// Operations were submitted since the last wait.
    issued: bool,
    flights: Vec<Flight>,
    free: Vec<Slot>,
    batch: Vec<(Slot, Op)>,
    counting: Counting,
    start: Instant,
    slice_start: Instant,
    lateness: Recorder,
    /// The loop slept until this moment and woke later: it overslept what came due from here on.
    overslept: Instant,
    seen: Seen,
}

/// Offers `load` to `target` until the load is over or `observe` breaks it off, and everything in flight is back.
///
/// # Errors
/// The target's fault, with the operations that were answered before it.
pub fn drive<L: Load + ?Sized>(
    target: &mut dyn Target,
    load: &mut L,
    rules: &Rules,
    observe: Observe<'_>,
) -> Result<Seen, Box<Torn<Seen>>> {
    let start = target.now();
    let nothing = Op { offset: 0, length: 0, kind: Kind::Read, stream: 0 };
    let mut offering = Offering {
        target,
        slice: rules.slice,
        patience: rules.patience,
        tick: start + Rules::TICK.min(rules.slice),
        give_up: Instant::NEVER,
        issued: false,
        flights: vec![Flight { op: nothing, intended: start, submitted: start }; rules.depth as usize],
        free: (0..rules.depth).rev().map(Slot).collect(),
        batch: Vec::with_capacity(rules.depth as usize),
        counting: Counting::new(),
        start,
        slice_start: start,
        lateness: Recorder::new(),
        overslept: Instant::NEVER,
        seen: Seen::default(),
    };
    let ran = offering.run(load, observe);
    if ran.is_err() {
        let now = offering.target.now();
        offering.close(now.since(offering.slice_start));
    }
    let lateness = offering.lateness.take();
    let seen = Seen { lateness, ..offering.seen };
    match ran {
        Ok(()) => Ok(seen),
        Err(fault) => Err(Box::new(Torn { fault, until: seen })),
    }
}

impl Offering<'_> {
    fn run<L: Load + ?Sized>(&mut self, load: &mut L, observe: Observe<'_>) -> Result<(), Fault> {
        let mut now = self.start;
        let mut onward = Onward::Continue(());
        let mut completions = Vec::with_capacity(self.flights.len());
        loop {
            let slice_end = self.slice_start + self.slice;
            let due = if onward.is_continue() { self.issue(load, now)? } else { Due::Over };
            if due == Due::Over && self.free.len() == self.flights.len() {
                break;
            }
            // Broken off, the run has one slice more: all that comes back.
            let ask_at = if onward.is_continue() { slice_end.min(self.tick) } else { self.tick };
            now = self.wait(due, now, ask_at, &mut completions)?;
            let asked = now >= ask_at;
            if asked {
                onward = self.turn(now, load, observe, onward);
            }
            for completion in completions.drain(..) {
                self.complete(load, completion);
            }
            if now >= self.give_up {
                self.give_up_flights(now);
                break;
            }
            if asked {
                // Closing a slice took a while, which is not the target's: the next operations start after it.
                now = self.target.now();
            }
        }
        self.close(now.since(self.slice_start));
        Ok(())
    }

    /// Submits what is due at `now` and has a slot. Returns when the load wants to be asked again.
    #[inline]
    fn issue<L: Load + ?Sized>(&mut self, load: &mut L, now: Instant) -> Result<Due, Fault> {
        let due = loop {
            let due = load.due();
            let planned = match due {
                Due::Now => now,
                Due::At(moment) if moment <= now => moment,
                _ => break due,
            };
            // Without a free slot only a completion helps, however overdue the load is.
            let Some(slot) = self.free.pop() else { break Due::Blocked };
            let intended = if planned >= self.overslept { now } else { planned };
            if due != Due::Now {
                self.lateness.record(intended.since(planned));
            }
            let op = load.take(now);
            self.flights[slot.index()] = Flight { op, intended, submitted: now };
            self.batch.push((slot, op));
        };
        self.issued = !self.batch.is_empty();
        if self.issued {
            self.target.submit(&self.batch)?;
            self.batch.clear();
        }
        Ok(due)
    }

    /// Waits for a completion, for what is due next, or for the end of the slice.
    #[inline]
    fn wait(
        &mut self,
        due: Due,
        now: Instant,
        asked_at: Instant,
        completions: &mut Vec<Completion>,
    ) -> Result<Instant, Fault> {
        self.overslept = Instant::NEVER;
        let Due::At(moment) = due else { return self.target.wait(asked_at, completions) };
        if self.issued {
            // Handed over first, without sleeping: what becomes due while the target takes operations in, or serves
            // them at once, was kept waiting by the target.
            return self.target.wait(now, completions);
        }
        let sleeps = moment > self.target.now();
        let woken = self.target.wait(moment.min(asked_at), completions)?;
        if sleeps {
            self.overslept = moment;
        }
        Ok(woken)
    }

    #[inline]
    fn complete<L: Load + ?Sized>(&mut self, load: &mut L, completion: Completion) {
        let flight = &self.flights[completion.slot.index()];
        match completion.outcome {
            Outcome::Done => {
                let response = completion.at.since(flight.intended);
                let service = completion.at.since(flight.submitted);
                self.counting.done(&flight.op, response, service);
            }
            Outcome::Failed(errno) => self.counting.failed(&flight.op, errno),
        }
        load.completed(completion.at, &flight.op, completion.outcome);
        self.free.push(completion.slot);
        if let Some(stage) = completion.bound_by {
            let index = usize::from(stage.0);
            if index >= self.seen.bound_by.len() {
                self.seen.bound_by.resize(index + 1, 0);
            }
            self.seen.bound_by[index] += 1;
        }
    }

    /// Closes all slices that ended by `now`, and asks whether to go on.
    #[cold]
    fn turn<L: Load + ?Sized>(&mut self, now: Instant, load: &mut L, observe: Observe<'_>, onward: Onward) -> Onward {
        while onward.is_continue() && now >= self.slice_start + self.slice {
            self.close(self.slice);
        }
        self.tick = now + Rules::TICK.min(self.slice);
        if onward.is_break() || observe(&self.seen.series).is_continue() {
            return onward;
        }
        self.abandon(load, now);
        self.give_up = now + self.patience;
        Onward::Break(())
    }

    /// Counts what is still in flight with the time that it has waited.
    #[cold]
    fn give_up_flights(&mut self, now: Instant) {
        for (index, flight) in self.flights.iter().enumerate() {
            if !self.free.contains(&Slot(index as u32)) {
                self.counting.unserved(&flight.op, now.since(flight.intended));
                self.seen.unserved += 1;
            }
        }
    }

    /// Ends the slice that began at `slice_start` after `span`.
    fn close(&mut self, span: Span) {
        let tally = self.counting.take();
        if span.is_zero() && tally.0.is_empty() {
            return;
        }
        let start = Instant::ZERO + self.slice_start.since(self.start);
        self.seen.series.push(Slice { start, span, tally });
        self.slice_start += span;
    }

    /// Counts the operations that have arrived and will not be issued with the time that they have waited.
    fn abandon<L: Load + ?Sized>(&mut self, load: &mut L, now: Instant) {
        loop {
            match load.due() {
                Due::At(intended) if intended <= now => {
                    let op = load.take(now);
                    self.counting.unserved(&op, now.since(intended));
                    self.seen.unserved += 1;
                }
                // A closed stream beside it would have gone on; it is taken up to its depth and counts for nothing.
                Due::Now => {
                    load.take(now);
                }
                Due::At(_) | Due::Blocked | Due::Over => return,
            }
        }
    }
}

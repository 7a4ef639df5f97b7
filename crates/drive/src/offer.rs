//! The loop: takes due operations from a load, submits them to a target, and counts completions.
//!
//! Response time runs from the intended time, service time from the submission. Response time includes the wait for a
//! free slot or a stalled target, because a user would feel that queueing.
//!
//! Delays caused by the loop are excluded: if it sleeps until an arrival is due and wakes too late, the arrivals in
//! between are intended at the wake-up. The oversleep is counted separately as lateness.

use std::ops::ControlFlow;

use plimsoll_load::{Due, Load, OpOutcome, Streams};
use plimsoll_record::{Bins, Counting, Recorder, Slice};
use plimsoll_units::{Instant, Op, Slot, Span};

use crate::binding::{self, BindingStages};
use crate::{Completion, Fault, Partial, PartialRun, Target};

/// Limits of the loop.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Maximum operations in flight: the number of slots, at least 1. A closed load needs its depth.
    pub depth: u32,
    /// The length of a slice of the series, above zero.
    pub slice: Span,
    /// Time to wait for operations in flight after the run was stopped, so that a device that never answers cannot
    /// prevent the results from being recorded.
    pub drain_timeout: Span,
    /// Number of completions that a blocked load waits for, at least 1: fewer only if fewer operations are in flight.
    pub reap_min: usize,
    /// Maximum number of completions that the load takes before it issues again, at least 1.
    pub reap_max: usize,
}

impl Rules {
    /// Longest interval between two calls of the observer, whatever the slice length.
    const TICK: Span = Span::from_millis(250);

    /// Slices of `slice`, 10 s for operations in flight after a stop, and any number of completions at a time.
    pub const fn new(depth: u32, slice: Span) -> Self {
        Self { depth, slice, drain_timeout: Span::from_secs(10), reap_min: 1, reap_max: usize::MAX }
    }
}

/// Whether the run continues.
pub type Onward = ControlFlow<()>;

/// Called at the end of each slice, and several times a second, with the series so far. `Break` ends the run: no more
/// operations are issued, and those in flight are awaited.
pub type Observe<'a> = &'a mut dyn FnMut(&[Slice]) -> Onward;

/// Results of a run of the loop.
#[derive(Clone, Debug, Default)]
pub struct LoopResult {
    /// Time slices; the last one may be shorter.
    pub series: Vec<Slice>,
    /// Operations that arrived but were not issued, or not completed in time, when the run was stopped. Their wait
    /// until then is part of the response times of the last slice.
    pub unserved: u64,
    /// Operations by the stage that delayed them most, if the target is a model.
    pub bound_by: BindingStages,
    /// Oversleep of the loop per operation of an open load; zero for operations that became due while it was awake.
    pub lateness: Bins,
}

#[derive(Clone, Copy)]
struct OfferFlight {
    op: Op,
    intended: Instant,
    submitted: Instant,
}

struct Loop<'a> {
    target: &'a mut dyn Target,
    slice: Span,
    drain_timeout: Span,
    reap_min: usize,
    reap_max: usize,
    /// Time of the next call of the observer.
    tick: Instant,
    /// Time at which operations in flight are abandoned.
    abandon_at: Instant,
    /// Operations were submitted since the last wait.
    issued: bool,
    /// Maximum operations in flight.
    depth: u32,
    /// The slots used so far, and those of them that are free.
    flights: Vec<OfferFlight>,
    free: Vec<Slot>,
    batch: Vec<(Slot, Op)>,
    counting: Counting,
    /// Operations of the slice by binding stage.
    bound: Vec<u64>,
    start: Instant,
    slice_start: Instant,
    lateness: Recorder,
    /// Planned wake-up time of the last sleep that ended late: arrivals from this time on were overslept.
    overslept: Instant,
    result: LoopResult,
}

/// [`drive`] for streams, without a virtual call for each operation of the load.
///
/// # Errors
/// As [`drive`].
pub fn drive_streams(
    target: &mut dyn Target,
    load: &mut Streams,
    rules: &Rules,
    observe: Observe<'_>,
) -> Partial<LoopResult> {
    drive_any(target, load, rules, observe)
}

/// Submits `load` to `target` until the load ends or `observe` stops it, and all operations in flight have completed.
///
/// Not generic, as [`drive_streams`]: both are compiled with the optimisations of this crate, whatever those of the caller.
///
/// # Errors
/// The target's fault, with the results up to it.
pub fn drive(target: &mut dyn Target, load: &mut dyn Load, rules: &Rules, observe: Observe<'_>) -> Partial<LoopResult> {
    drive_any(target, load, rules, observe)
}

fn drive_any<L: Load + ?Sized>(
    target: &mut dyn Target,
    load: &mut L,
    rules: &Rules,
    observe: Observe<'_>,
) -> Partial<LoopResult> {
    let start = target.now();
    let mut run = Loop {
        target,
        slice: rules.slice,
        drain_timeout: rules.drain_timeout,
        reap_min: rules.reap_min,
        reap_max: rules.reap_max.max(1),
        tick: start + Rules::TICK.min(rules.slice),
        abandon_at: Instant::NEVER,
        issued: false,
        depth: rules.depth,
        flights: Vec::with_capacity(rules.depth as usize),
        free: Vec::with_capacity(rules.depth as usize),
        batch: Vec::with_capacity(rules.depth as usize),
        counting: Counting::new(),
        bound: Vec::new(),
        start,
        slice_start: start,
        lateness: Recorder::new(),
        overslept: Instant::NEVER,
        result: LoopResult::default(),
    };
    let ran = run.run(load, observe);
    if ran.is_err() {
        let now = run.target.now();
        run.close(now.since(run.slice_start));
    }
    let lateness = run.lateness.take();
    let result = LoopResult { lateness, ..run.result };
    PartialRun::join(result, ran.err())
}

impl Loop<'_> {
    fn run<L: Load + ?Sized>(&mut self, load: &mut L, observe: Observe<'_>) -> Result<(), Fault> {
        let mut now = self.start;
        let mut onward = Onward::Continue(());
        let mut completions = Vec::with_capacity(self.depth as usize);
        loop {
            let slice_end = self.slice_start + self.slice;
            let due = if onward.is_continue() { self.issue(load, now)? } else { Due::Over };
            if due == Due::Over && self.free.len() == self.flights.len() {
                break;
            }
            // After a stop the run has a single last slice, with all remaining completions.
            let observe_at = if onward.is_continue() { slice_end.min(self.tick) } else { self.tick };
            if self.reaps(load, due, &completions) {
                now = self.target.now();
                self.overslept = Instant::NEVER;
            } else {
                now = self.wait(due, now, observe_at, &mut completions)?;
            }
            let observes = now >= observe_at;
            if observes {
                onward = self.observe(now, load, observe, onward);
            }
            if self.reaps(load, due, &completions) {
                self.reap(load, &mut completions);
            }
            if now >= self.abandon_at {
                self.abandon_flights(now);
                break;
            }
            if observes {
                // Closing a slice takes time that is not the target's: the next operations start after it.
                now = self.target.now();
            }
        }
        self.close(now.since(self.slice_start));
        Ok(())
    }

    /// True if the load takes completions, or some of them.
    #[inline]
    fn reaps<L: Load + ?Sized>(&self, load: &L, due: Due, completions: &[Completion]) -> bool {
        if completions.is_empty() {
            return false;
        }
        if let Some(kind) = load.awaited() {
            return completions.iter().any(|completion| self.flights[completion.slot.index()].op.kind == kind);
        }
        let in_flight = self.flights.len() - self.free.len();
        due != Due::Blocked || completions.len() >= self.reap_min.min(in_flight)
    }

    /// Passes completions to the load.
    #[inline]
    fn reap<L: Load + ?Sized>(&mut self, load: &mut L, completions: &mut Vec<Completion>) {
        let Some(kind) = load.awaited() else {
            let reaped = completions.len().min(self.reap_max);
            for completion in completions.drain(..reaped) {
                self.complete(load, completion);
            }
            return;
        };
        let is_awaited = |completion: &Completion| self.flights[completion.slot.index()].op.kind == kind;
        if let Some(index) = completions.iter().position(is_awaited) {
            let completion = completions.remove(index);
            self.complete(load, completion);
        }
    }

    /// Submits due operations while slots are free. Returns when the load is due next.
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
            let unused = Slot(self.flights.len() as u32);
            let Some(slot) = self.free.pop().or((unused.0 < self.depth).then_some(unused)) else { break Due::Blocked };
            let intended = if planned >= self.overslept { now } else { planned };
            if due != Due::Now {
                self.lateness.record(intended.since(planned));
            }
            let op = load.take(now);
            let flight = OfferFlight { op, intended, submitted: now };
            if slot == unused {
                self.flights.push(flight);
            } else {
                self.flights[slot.index()] = flight;
            }
            self.batch.push((slot, op));
        };
        self.issued = !self.batch.is_empty();
        if self.issued {
            self.target.submit(&self.batch)?;
            self.batch.clear();
        }
        Ok(due)
    }

    /// Waits for a completion, the next arrival, or the end of the slice.
    #[inline]
    fn wait(
        &mut self,
        due: Due,
        now: Instant,
        observe_at: Instant,
        completions: &mut Vec<Completion>,
    ) -> Result<Instant, Fault> {
        self.overslept = Instant::NEVER;
        let Due::At(moment) = due else { return self.target.wait(observe_at, completions) };
        if self.issued {
            // Submit first, without sleeping: operations that become due while the target accepts or serves this batch
            // were delayed by the target.
            return self.target.wait(now, completions);
        }
        let sleeps = moment > self.target.now();
        let woken = self.target.wait(moment.min(observe_at), completions)?;
        if sleeps {
            self.overslept = moment;
        }
        Ok(woken)
    }

    #[inline]
    fn complete<L: Load + ?Sized>(&mut self, load: &mut L, completion: Completion) {
        let flight = &self.flights[completion.slot.index()];
        match completion.outcome {
            OpOutcome::Done => {
                let response = completion.at.since(flight.intended);
                let service = completion.at.since(flight.submitted);
                self.counting.done(&flight.op, response, service);
            }
            OpOutcome::Failed(errno) => self.counting.failed(&flight.op, errno),
        }
        load.completed(completion.at, &flight.op, completion.outcome);
        self.free.push(completion.slot);
        if let Some(stage) = completion.bound_by {
            binding::count(&mut self.bound, stage);
        }
    }

    /// Closes all slices that ended by `now`, and calls the observer.
    #[cold]
    fn observe<L: Load + ?Sized>(
        &mut self,
        now: Instant,
        load: &mut L,
        observe: Observe<'_>,
        onward: Onward,
    ) -> Onward {
        while onward.is_continue() && now >= self.slice_start + self.slice {
            self.close(self.slice);
        }
        self.tick = now + Rules::TICK.min(self.slice);
        if onward.is_break() || observe(&self.result.series).is_continue() {
            return onward;
        }
        self.abandon(load, now);
        self.abandon_at = now + self.drain_timeout;
        Onward::Break(())
    }

    /// Counts operations still in flight with their wait so far.
    #[cold]
    fn abandon_flights(&mut self, now: Instant) {
        for (index, flight) in self.flights.iter().enumerate() {
            if !self.free.contains(&Slot(index as u32)) {
                self.counting.unserved(&flight.op, now.since(flight.intended));
                self.result.unserved += 1;
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
        self.result.bound_by.push(start, std::mem::take(&mut self.bound));
        self.result.series.push(Slice { start, span, tally });
        self.slice_start += span;
    }

    /// Counts operations that have arrived but will not be issued, with their wait so far.
    fn abandon<L: Load + ?Sized>(&mut self, load: &mut L, now: Instant) {
        loop {
            match load.due() {
                Due::At(intended) if intended <= now => {
                    let op = load.take(now);
                    self.counting.unserved(&op, now.since(intended));
                    self.result.unserved += 1;
                }
                // A closed stream of the same load would have continued: up to its depth, its operations are discarded.
                Due::Now => {
                    load.take(now);
                }
                Due::At(_) | Due::Blocked | Due::Over => return,
            }
        }
    }
}

//! Jobs: the load of a worker (thread or process) of a classic benchmark, with its own files.
//!
//! A [`crate::Stream`] imitates a database and has no end. A job ends after a number of bytes, operations or seconds;
//! it visits several files, pauses between operations, and can write back the blocks that it read.

mod lane;
mod pause;
mod spec;

use alloc::vec::Vec;

use fastrand::Rng;
use plimsoll_units::{Instant, Kind, Op, Span, splitmix64};

use crate::arrival::Clockwork;
use crate::{Due, Load, OpOutcome};

use lane::Lane;
use pause::{Pause, Pauses};
pub use spec::{
    CountedOps, FlushOrder, JobSpec, LaneSpec, RateUnit, RateWait, Sizes, ThinkPause, Turns, Until, WorkerOps,
};

/// The state of a [`JobSpec`] as a load.
#[derive(Clone, Debug)]
pub struct Job {
    spec: JobSpec,
    index: u8,
    reads: Lane,
    writes: Lane,
    clocks: [Option<Clockwork>; 2],
    rng: Rng,
    start: Instant,
    now: Instant,
    /// Completion of the last operation.
    ended: Instant,
    in_flight: u32,
    /// Whether the queue was full and has not yet drained to the refill level.
    is_full: bool,
    /// Whether a flush is in flight that no operation may overtake.
    flushes: bool,
    issued: IssuedCounts,
    /// The next operation, drawn in advance because its due time depends on its kind.
    next: NextOp,
    /// Completed reads or trims whose addresses remain to be written, in order.
    back: Vec<Op>,
    pauses: Pauses,
}

#[derive(Clone, Copy, Debug, Default)]
struct IssuedCounts {
    bytes: u64,
    operations: u64,
    /// Reads or trims that count towards the next write-back.
    before_back: u64,
    writes_since_flush: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextOp {
    Read,
    Write,
    Trim,
    /// The oldest of `back`.
    Back,
    Flush,
}

impl Job {
    /// `None` if a file cannot hold the largest operation, there are no files, or a pattern or rate cannot be
    /// generated. `index` marks its operations.
    pub fn new(spec: JobSpec, index: u8, start: Instant) -> Option<Self> {
        let purpose = |n: u64| splitmix64(spec.seed ^ n);
        let unused = spec.files.is_empty() || spec.depth == 0;
        // An unused lane may be larger than the files.
        let lane = |lane: &LaneSpec, used: bool, n| {
            if used { Lane::new(lane, &spec.files, spec.turns, purpose(n)) } else { Some(Lane::idle()) }
        };
        let clock = |lane: &LaneSpec, n| match lane.rate {
            None => Some(None),
            Some((rate, arrival)) => Clockwork::new(start, rate, arrival, purpose(n)).map(Some),
        };
        let mut job = Self {
            index,
            reads: lane(&spec.reads, spec.reads(), 1)?,
            // The same seed as for reads, so that data can be read back in the order in which they were written.
            writes: lane(&spec.writes, spec.writes(), 1)?,
            clocks: [clock(&spec.reads, 3)?, clock(&spec.writes, 4)?],
            rng: Rng::with_seed(purpose(5)),
            start,
            // No operation is due before the start.
            now: Instant::ZERO,
            ended: start,
            in_flight: 0,
            is_full: false,
            flushes: false,
            issued: IssuedCounts::default(),
            next: NextOp::Read,
            back: Vec::new(),
            pauses: Pauses::new(start),
            spec,
        };
        job.next = job.draw();
        (!unused).then_some(job)
    }

    /// Continues the schedule of the preceding round, so that rounds together keep the rate and the pauses.
    pub(crate) fn continue_pace(&mut self, previous: &Self) {
        self.clocks.clone_from(&previous.clocks);
        self.pauses = previous.pauses;
    }

    /// End of the last pause by [`ThinkPause`]; the start if there was none.
    pub(crate) const fn rests_until(&self) -> Instant {
        self.pauses.rests_until
    }

    /// Completion of the last operation; the start if there is none.
    pub const fn ended(&self) -> Instant {
        self.ended
    }

    /// Whether the queue is empty.
    pub const fn is_idle(&self) -> bool {
        self.in_flight == 0
    }

    fn draw(&mut self) -> NextOp {
        if self.spec.flush_every > 0 && self.issued.writes_since_flush >= self.spec.flush_every {
            return NextOp::Flush;
        }
        let reads = match self.spec.work {
            WorkerOps::WriteBack { .. } | WorkerOps::TrimWrites if !self.back.is_empty() => return NextOp::Back,
            WorkerOps::Trims | WorkerOps::TrimWrites => return NextOp::Trim,
            WorkerOps::Reads | WorkerOps::WriteBack { .. } => true,
            WorkerOps::Writes => false,
            WorkerOps::Mixed { reads } => reads >= 1.0 || (reads > 0.0 && self.rng.f64() < reads),
        };
        if reads { NextOp::Read } else { NextOp::Write }
    }

    fn is_over(&self) -> bool {
        let Until { bytes, operations, .. } = self.spec.until;
        // Pending write-backs are completed.
        let owed = !self.back.is_empty();
        let all = self.issued.bytes >= bytes || self.issued.operations >= operations;
        (all && !owed) || self.is_after(self.now)
    }

    /// Whether the next operation is due after the end.
    fn is_late(&self) -> bool {
        self.is_after(self.next_at())
    }

    /// Due time of the next operation by rate and pauses; in the past for an operation that waited.
    fn next_at(&self) -> Instant {
        let Pauses { rests_until, wakes_at, .. } = self.pauses;
        let due = self.clock().map_or(rests_until, |clock| clock.next().max(rests_until));
        if wakes_at > self.now { due.max(wakes_at) } else { due }
    }

    /// Whether the time is over at `moment` and is due to be checked.
    fn is_after(&self, moment: Instant) -> bool {
        let Until { span, looks, .. } = self.spec.until;
        span < Span::MAX && moment >= self.start + span && (looks <= 1 || self.issued.operations.is_multiple_of(looks))
    }

    /// Due time after the last operation: of pending write-backs, then of the last flush.
    fn due_at_end(&self) -> Due {
        let may_owe =
            self.in_flight > 0 && matches!(self.spec.work, WorkerOps::WriteBack { .. } | WorkerOps::TrimWrites);
        match self.spec.flush_at_end && self.issued.writes_since_flush > 0 {
            true if self.in_flight == 0 => Due::Now,
            true => Due::Blocked,
            false if may_owe => Due::Blocked,
            false => Due::Over,
        }
    }

    fn clock(&self) -> Option<&Clockwork> {
        match self.paced() {
            NextOp::Read => self.clocks[0].as_ref(),
            NextOp::Write | NextOp::Trim => self.clocks[1].as_ref(),
            NextOp::Back | NextOp::Flush => None,
        }
    }

    /// The next operation. In a mix, the other direction replaces a drawn one that is ahead of its rate, so that each
    /// direction keeps its own rate; if both are ahead, the earlier one is next (`rate_ddir` of fio's `io_u.c`).
    fn paced(&self) -> NextOp {
        let (own, other, instead) = match self.next {
            NextOp::Read => (&self.clocks[0], &self.clocks[1], NextOp::Write),
            NextOp::Write => (&self.clocks[1], &self.clocks[0], NextOp::Read),
            NextOp::Trim | NextOp::Back | NextOp::Flush => return self.next,
        };
        let Some(own) = own else { return self.next };
        let is_mixed = matches!(self.spec.work, WorkerOps::Mixed { reads } if reads > 0.0 && reads < 1.0);
        let is_ahead = own.next() > self.now;
        let is_later = || other.as_ref().is_none_or(|other| other.next() < own.next());
        if is_mixed && is_ahead && is_later() { instead } else { self.next }
    }
}

impl Load for Job {
    #[inline]
    fn due(&self) -> Due {
        if self.is_over() {
            return self.due_at_end();
        }
        let is_alone = self.next == NextOp::Flush && self.spec.flush_order == FlushOrder::Alone;
        if self.is_full || self.flushes || self.pauses.is_pending() || (is_alone && self.in_flight > 0) {
            return Due::Blocked;
        }
        if self.is_late() {
            return self.due_at_end();
        }
        match self.next_at() {
            rested if rested <= self.now && self.clock().is_none() => Due::Now,
            moment => Due::At(moment),
        }
    }

    #[inline]
    fn awaited(&self) -> Option<Kind> {
        (self.flushes && self.spec.flush_order == FlushOrder::Blocking).then_some(Kind::Flush)
    }

    #[inline]
    fn take(&mut self, now: Instant) -> Op {
        self.next = self.paced();
        self.now = now;
        // After the end only the last flush is due.
        if self.spec.flush_at_end && (self.is_over() || self.is_late()) {
            self.next = NextOp::Flush;
        }
        self.in_flight += 1;
        self.is_full |= self.in_flight >= self.spec.depth;
        self.flushes |= self.next == NextOp::Flush && self.spec.flush_order != FlushOrder::Queued;
        let mut op = match self.next {
            NextOp::Read => self.reads.next(Kind::Read, self.index),
            NextOp::Write => {
                let kind = if self.spec.durable { Kind::DurableWrite } else { Kind::Write };
                self.writes.next(kind, self.index)
            }
            NextOp::Trim => self.writes.next(Kind::Trim, self.index),
            NextOp::Back => {
                let kind = if self.spec.durable { Kind::DurableWrite } else { Kind::Write };
                Op { kind, ..self.back.remove(0) }
            }
            NextOp::Flush => Op { offset: self.writes.last(), length: 0, kind: Kind::Flush, stream: self.index },
        };
        self.cut(&mut op);
        let (lane, clock) = match self.next {
            NextOp::Read => (&self.spec.reads, &mut self.clocks[0]),
            NextOp::Write | NextOp::Trim => (&self.spec.writes, &mut self.clocks[1]),
            NextOp::Back | NextOp::Flush => (&self.spec.writes, &mut None),
        };
        if let Some(clock) = clock {
            clock.advance(lane.rate_unit.of(&op));
        }
        self.count(&op);
        self.next = self.draw();
        self.continue_issuing(now, op.kind);
        op
    }

    #[inline]
    fn completed(&mut self, now: Instant, op: &Op, outcome: OpOutcome) {
        self.now = now;
        self.ended = now;
        self.in_flight -= 1;
        self.is_full &= self.in_flight > self.spec.refill.min(self.spec.depth - 1);
        self.flushes &= op.kind != Kind::Flush;
        let every = match (self.spec.work, op.kind) {
            (WorkerOps::WriteBack { every }, Kind::Read) => every.max(1),
            (WorkerOps::TrimWrites, Kind::Trim) => 1,
            _ => 0,
        };
        if every > 0 && outcome == OpOutcome::Done {
            self.issued.before_back += 1;
            if self.issued.before_back.is_multiple_of(u64::from(every)) {
                self.back.push(*op);
                if self.next != NextOp::Flush {
                    self.next = NextOp::Back;
                }
            }
        }
        self.pauses.completed(now, op.kind, self.in_flight);
        if let Some(kind) = self.pauses.unchecked {
            self.continue_issuing(now, kind);
        }
    }
}

impl Job {
    /// Checks for pauses when the job could issue its next operation: at once after an operation of `kind` was issued,
    /// or when the queue has drained.
    #[inline]
    fn continue_issuing(&mut self, now: Instant, kind: Kind) {
        if self.is_full || self.flushes {
            self.pauses.unchecked = Some(kind);
            return;
        }
        self.pauses.unchecked = None;
        if let Some(think) = &self.spec.think
            && kind != Kind::Flush
        {
            self.pauses.think(now, think, self.in_flight);
        }
        if self.spec.rate_wait == RateWait::Drained
            && self.in_flight > 0
            && !self.pauses.is_pending()
            && let Some(left) = self.clock().map(|clock| clock.next().since(now)).filter(|left| !left.is_zero())
        {
            self.pauses.pend(Pause::Rate(left));
        }
    }

    /// Cuts the last operation to the remaining bytes.
    #[inline]
    fn cut(&self, op: &mut Op) {
        let left = self.spec.until.bytes.saturating_sub(self.issued.bytes);
        if u64::from(op.length) > left && self.next != NextOp::Back {
            let lane = if self.next == NextOp::Read { &self.spec.reads } else { &self.spec.writes };
            if left >= u64::from(lane.sizes.smallest()) {
                op.length = left as u32;
            }
        }
    }

    fn count(&mut self, op: &Op) {
        match op.kind {
            Kind::Flush => {
                self.issued.writes_since_flush = 0;
                return;
            }
            Kind::Write | Kind::DurableWrite => self.issued.writes_since_flush += 1,
            Kind::Read | Kind::Trim => {}
        }
        self.pauses.issued();
        // A read and its write-back count as a single operation.
        if self.next != NextOp::Back {
            self.issued.bytes += u64::from(op.length);
            self.issued.operations += 1;
        }
    }
}

//! The load of one worker of a classic benchmark: one thread or process that goes through its files in its own way.
//!
//! A [`crate::Stream`] is what a database asks for, without an end. A job has one: so many bytes, operations or seconds;
//! it visits several files, thinks between operations, reads what it then writes back.

mod lane;
mod spec;

use alloc::vec::Vec;

use fastrand::Rng;
use plimsoll_units::{Instant, Kind, Op, Span};

use crate::arrival::Clockwork;
use crate::stream::mixed;
use crate::{Due, Load, Outcome};

use lane::Lane;
pub use spec::{JobSpec, LaneSpec, Sizes, Turns, Until, Work};

/// A job that can be offered: the state behind a [`JobSpec`].
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
    /// When something came back last.
    ended: Instant,
    in_flight: u32,
    /// The queue was full and comes down.
    drains: bool,
    asked: Asked,
    /// What comes next, drawn ahead: whether it is due depends on what it is.
    next: Next,
    /// Reads that are to be written back, with their lengths; taken in their order.
    back: Vec<Op>,
    /// It thinks until then.
    rests_until: Instant,
}

#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    bytes: u64,
    operations: u64,
    reads: u64,
    writes_since_flush: u32,
    since_thought: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Read,
    Write,
    /// The oldest of `back`.
    Back,
    Flush,
}

impl Job {
    /// `None` when a file cannot hold the largest operation, there is no file, or a pattern or rate cannot be drawn.
    /// `index` marks its operations.
    pub fn new(spec: JobSpec, index: u8, start: Instant) -> Option<Self> {
        let purpose = |n: u64| mixed(spec.seed ^ n);
        let unused = spec.files.is_empty() || spec.depth == 0;
        // A lane that is never used need not fit.
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
            // The same numbers as for reading: what was written in an order can be read back in it.
            writes: lane(&spec.writes, spec.writes(), 1)?,
            clocks: [clock(&spec.reads, 3)?, clock(&spec.writes, 4)?],
            rng: Rng::with_seed(purpose(5)),
            start,
            // Before the start nothing is due at once.
            now: Instant::ZERO,
            ended: start,
            in_flight: 0,
            drains: false,
            asked: Asked::default(),
            next: Next::Read,
            back: Vec::new(),
            rests_until: start,
            spec,
        };
        job.next = job.draw();
        (!unused).then_some(job)
    }

    /// When the last operation came back; the beginning where none has.
    pub const fn ended(&self) -> Instant {
        self.ended
    }

    /// Nothing is in flight.
    pub const fn is_idle(&self) -> bool {
        self.in_flight == 0
    }

    fn draw(&mut self) -> Next {
        if self.spec.flush_every > 0 && self.asked.writes_since_flush >= self.spec.flush_every {
            return Next::Flush;
        }
        let reads = match self.spec.work {
            Work::WriteBack { .. } if !self.back.is_empty() => return Next::Back,
            Work::Reads | Work::WriteBack { .. } => true,
            Work::Writes => false,
            Work::Mixed { reads } => reads >= 1.0 || (reads > 0.0 && self.rng.f64() < reads),
        };
        if reads { Next::Read } else { Next::Write }
    }

    fn is_over(&self) -> bool {
        let Until { bytes, operations, .. } = self.spec.until;
        // What was read to be written back is written back, and what was written is flushed.
        let owed = matches!(self.next, Next::Back | Next::Flush);
        let all = self.asked.bytes >= bytes || self.asked.operations >= operations;
        (all && !owed) || self.is_after(self.now)
    }

    /// What comes next would come after the end.
    fn is_late(&self) -> bool {
        let next = self.clock().map_or(self.rests_until, |clock| clock.next().max(self.rests_until));
        self.is_after(next)
    }

    /// The time is over at `moment`, and is looked at.
    fn is_after(&self, moment: Instant) -> bool {
        let Until { span, looks, .. } = self.spec.until;
        span < Span::MAX && moment >= self.start + span && (looks <= 1 || self.asked.operations.is_multiple_of(looks))
    }

    /// What is due when nothing more is asked for: the last flush, and before it what may be owed to reads in flight.
    fn due_at_end(&self) -> Due {
        let may_owe = self.in_flight > 0 && matches!(self.spec.work, Work::WriteBack { .. });
        match self.spec.flush_at_end && self.asked.writes_since_flush > 0 {
            true if self.in_flight == 0 => Due::Now,
            true => Due::Blocked,
            false if may_owe => Due::Blocked,
            false => Due::Over,
        }
    }

    const fn clock(&self) -> Option<&Clockwork> {
        match self.next {
            Next::Read => self.clocks[0].as_ref(),
            Next::Write => self.clocks[1].as_ref(),
            Next::Back | Next::Flush => None,
        }
    }
}

impl Load for Job {
    #[inline]
    fn due(&self) -> Due {
        if self.is_over() {
            return self.due_at_end();
        }
        let is_full = self.in_flight >= self.spec.depth || self.drains;
        if is_full || (self.next == Next::Flush && self.in_flight > 0) {
            return Due::Blocked;
        }
        if self.is_late() {
            return self.due_at_end();
        }
        match self.clock().map_or(self.rests_until, |clock| clock.next().max(self.rests_until)) {
            rested if rested <= self.now && self.clock().is_none() => Due::Now,
            moment => Due::At(moment),
        }
    }

    #[inline]
    fn take(&mut self, now: Instant) -> Op {
        self.now = now;
        // Beyond the end only the last flush is due.
        if self.spec.flush_at_end && (self.is_over() || self.is_late()) {
            self.next = Next::Flush;
        }
        self.in_flight += 1;
        self.drains |= self.in_flight >= self.spec.depth && self.spec.refill < self.spec.depth;
        let mut op = match self.next {
            Next::Read => self.reads.next(Kind::Read, self.index),
            Next::Write => {
                let kind = if self.spec.durable { Kind::DurableWrite } else { Kind::Write };
                self.writes.next(kind, self.index)
            }
            Next::Back => {
                let kind = if self.spec.durable { Kind::DurableWrite } else { Kind::Write };
                Op { kind, ..self.back.remove(0) }
            }
            Next::Flush => Op { offset: self.writes.last(), length: 0, kind: Kind::Flush, stream: self.index },
        };
        match self.next {
            Next::Read => self.clocks[0].iter_mut().for_each(Clockwork::advance),
            Next::Write => self.clocks[1].iter_mut().for_each(Clockwork::advance),
            Next::Back | Next::Flush => {}
        }
        self.cut(&mut op);
        self.count(&op);
        self.next = self.draw();
        op
    }

    #[inline]
    fn completed(&mut self, now: Instant, op: &Op, outcome: Outcome) {
        self.now = now;
        self.ended = now;
        self.in_flight -= 1;
        self.drains &= self.in_flight > self.spec.refill;
        if let Work::WriteBack { every } = self.spec.work
            && op.kind == Kind::Read
            && outcome == Outcome::Done
        {
            self.asked.reads += 1;
            if self.asked.reads.is_multiple_of(u64::from(every.max(1))) {
                self.back.push(*op);
                self.next = Next::Back;
            }
        }
        if let Some((every, span)) = self.spec.think
            && self.asked.since_thought >= every
            && self.in_flight == 0
        {
            self.asked.since_thought = 0;
            self.rests_until = now + span;
        }
    }
}

impl Job {
    /// Cuts the last operation to the bytes that are left.
    #[inline]
    fn cut(&self, op: &mut Op) {
        let left = self.spec.until.bytes.saturating_sub(self.asked.bytes);
        if u64::from(op.length) > left && self.next != Next::Back {
            let lane = if self.next == Next::Read { &self.spec.reads } else { &self.spec.writes };
            if left >= u64::from(lane.sizes.smallest()) {
                op.length = left as u32;
            }
        }
    }

    fn count(&mut self, op: &Op) {
        match op.kind {
            Kind::Flush => {
                self.asked.writes_since_flush = 0;
                return;
            }
            Kind::Write | Kind::DurableWrite => self.asked.writes_since_flush += 1,
            Kind::Read => {}
        }
        self.asked.since_thought += 1;
        // A block that is read and written back is one piece of work.
        if self.next != Next::Back {
            self.asked.bytes += u64::from(op.length);
            self.asked.operations += 1;
        }
    }
}

//! The load of one worker of a classic benchmark: one thread or process that goes through its files in its own way.
//!
//! A [`crate::Stream`] is what a database asks for, without an end. A job has one: so many bytes, operations or seconds;
//! it visits several files, thinks between operations, reads what it then writes back.

mod lane;

use alloc::vec::Vec;

use fastrand::Rng;
use plimsoll_units::{Instant, Iops, Kind, Op, Span};
use serde::{Deserialize, Serialize};

use crate::arrival::Clockwork;
use crate::place::{Pattern, Region};
use crate::stream::mixed;
use crate::{Arrival, Due, Load, Outcome};

use lane::Lane;

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// It reads.
    Reads,
    /// It writes.
    Writes,
    /// Both.
    Mixed {
        /// Share of reads, 0 to 1.
        reads: f64,
    },
    /// It reads, and writes back where it read.
    WriteBack {
        /// Each so many reads; 1 for each.
        every: u32,
    },
}

/// Sizes of operations. Never empty, no size is zero.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Sizes {
    /// Bytes with their weights.
    Split(Vec<(u32, u32)>),
    /// Each multiple of `step` from `least` to `most` is equally likely.
    Range {
        /// Bytes, at least 1.
        least: u32,
        /// Bytes, at least `least`.
        most: u32,
        /// Bytes, at least 1.
        step: u32,
    },
}

impl Sizes {
    /// One size for every operation.
    pub fn one(bytes: u32) -> Self {
        Self::Split(alloc::vec![(bytes, 1)])
    }

    /// The largest, in bytes.
    pub fn largest(&self) -> u32 {
        match self {
            Self::Split(sizes) => sizes.iter().map(|&(size, _)| size).max().unwrap_or(0),
            Self::Range { most, .. } => *most,
        }
    }

    /// The smallest, in bytes.
    pub fn smallest(&self) -> u32 {
        match self {
            Self::Split(sizes) => sizes.iter().map(|&(size, _)| size).min().unwrap_or(0),
            Self::Range { least, .. } => *least,
        }
    }
}

/// In which order a worker turns to its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Turns {
    /// One after the other, so many operations each.
    RoundRobin(u32),
    /// Any, so many operations each.
    Random(u32),
    /// The next one when all of a file was visited.
    Sequential,
}

/// How a worker visits its files in one direction, reading or writing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaneSpec {
    /// Sizes of the operations.
    pub sizes: Sizes,
    /// Which block of a file comes next. Blocks are of `align` bytes.
    pub pattern: Pattern,
    /// Operations begin at multiples of this, in bytes, at least 1. [`Pattern::Sequential`] follows on without it.
    pub align: u32,
    /// [`Pattern::Sequential`]: bytes left out after each operation; below zero it goes back.
    pub gap: i64,
    /// Other patterns: so many operations follow each other before the next place is drawn, at least 1.
    pub hold: u32,
    /// Share of operations that go to a random place, whatever the pattern says, 0 to 1.
    pub random: f64,
    /// Patterns other than [`Pattern::Sequential`]: share of operations that follow the last one, 0 to 1.
    #[serde(default, skip_serializing_if = "LaneSpec::is_none")]
    pub follows: f64,
    /// Parts of each file with their shares of the operations, as `(operations, space)`, each 0 to 1; empty for none.
    /// Places within a part are drawn by the pattern.
    pub zones: Vec<(f64, f64)>,
    /// Operations per second at most; an open load up to the depth.
    pub rate: Option<(Iops, Arrival)>,
}

impl LaneSpec {
    /// Operations of `bytes` by `pattern`, aligned to themselves, as fast as possible.
    pub fn new(bytes: u32, pattern: Pattern) -> Self {
        let sizes = Sizes::one(bytes);
        Self { sizes, pattern, align: bytes, gap: 0, hold: 1, random: 0.0, follows: 0.0, zones: Vec::new(), rate: None }
    }

    // The form is serde's.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn is_none(share: &f64) -> bool {
        *share <= 0.0
    }
}

/// When a job is over: at whichever comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Until {
    /// So many bytes were asked for. Of sizes that differ, the last one is cut to what is left, unless that is less than the
    /// smallest.
    pub bytes: u64,
    /// So many operations were asked for, flushes not counted.
    pub operations: u64,
    /// So much time has passed, in nanoseconds.
    #[serde(rename = "span_ns")]
    pub span: Span,
    /// The time is looked at only after each so many operations: they are always whole passes or batches. At least 1.
    #[serde(default = "Until::each_one", skip_serializing_if = "Until::is_each_one")]
    pub looks: u64,
}

impl Until {
    /// Never.
    pub const ENDLESS: Self = Self { bytes: u64::MAX, operations: u64::MAX, span: Span::MAX, looks: 1 };

    const fn each_one() -> u64 {
        1
    }

    // The form is serde's.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    const fn is_each_one(looks: &u64) -> bool {
        *looks == 1
    }

    /// After so many bytes.
    pub const fn bytes(bytes: u64) -> Self {
        Self { bytes, ..Self::ENDLESS }
    }

    /// After so many operations.
    pub const fn operations(operations: u64) -> Self {
        Self { operations, ..Self::ENDLESS }
    }

    /// After so much time.
    pub const fn span(span: Span) -> Self {
        Self { span, ..Self::ENDLESS }
    }

    /// The same, with the time looked at only after each so many operations.
    pub const fn looked_at_each(self, operations: u64) -> Self {
        Self { looks: operations, ..self }
    }
}

/// What one worker asks for, as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobSpec {
    /// What it does.
    pub work: Work,
    /// How it reads.
    pub reads: LaneSpec,
    /// How it writes.
    pub writes: LaneSpec,
    /// Its files, as stretches of the target. Never empty.
    pub files: Vec<Region>,
    /// In which order it turns to them.
    pub turns: Turns,
    /// Operations in flight at most, at least 1.
    pub depth: u32,
    /// Once all of the depth is in flight, nothing more is asked for before at most so many are; the depth or more for a
    /// queue that is kept full.
    #[serde(default = "JobSpec::at_once", skip_serializing_if = "JobSpec::is_at_once")]
    pub refill: u32,
    /// Each write answers only when durable (`O_DSYNC`).
    pub durable: bool,
    /// The file is flushed after so many writes to any of them; 0 for never. Nothing else is in flight meanwhile.
    pub flush_every: u32,
    /// The last written file is flushed when all else is done, as part of the job.
    pub flush_at_end: bool,
    /// After so many operations it waits for so long; none for a worker that never thinks.
    pub think: Option<(u32, Span)>,
    /// When it is over.
    pub until: Until,
    /// What determines its random numbers.
    pub seed: u64,
}

impl JobSpec {
    /// A job of one file, one operation at a time, both directions alike, never flushed.
    pub fn new(work: Work, lane: LaneSpec, file: Region, until: Until) -> Self {
        Self {
            work,
            reads: lane.clone(),
            writes: lane,
            files: alloc::vec![file],
            turns: Turns::RoundRobin(1),
            depth: 1,
            refill: Self::at_once(),
            durable: false,
            flush_every: 0,
            flush_at_end: false,
            think: None,
            until,
            seed: 1,
        }
    }

    const fn at_once() -> u32 {
        u32::MAX
    }

    // The form is serde's.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    const fn is_at_once(refill: &u32) -> bool {
        *refill == u32::MAX
    }

    /// The largest operation, in bytes.
    pub fn largest(&self) -> u32 {
        let reads = if self.reads() { self.reads.sizes.largest() } else { 0 };
        let writes = if self.writes() { self.writes.sizes.largest() } else { 0 };
        reads.max(writes)
    }

    /// True when some of its operations change the storage.
    pub fn writes(&self) -> bool {
        !matches!(self.work, Work::Reads) && self.work != Work::Mixed { reads: 1.0 }
    }

    /// True when some of its operations read.
    pub fn reads(&self) -> bool {
        !matches!(self.work, Work::Writes) && self.work != Work::Mixed { reads: 0.0 }
    }
}

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

//! What one worker asks for, as data.

use alloc::vec::Vec;

use plimsoll_units::{Iops, Op, Span};
use serde::{Deserialize, Serialize};

use crate::Arrival;
use crate::place::{Pattern, Region};

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
    /// It discards, by the lane of writes.
    Trims,
    /// It discards by the lane of writes, and writes what it discarded. Bytes and operations count once for both.
    TrimWrites,
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
    /// The operations of a hold go to one place instead of following each other.
    #[serde(default, skip_serializing_if = "LaneSpec::is_off")]
    pub holds_place: bool,
    /// Share of operations that go to a random place, whatever the pattern says, 0 to 1.
    pub random: f64,
    /// Patterns other than [`Pattern::Sequential`]: share of operations that follow the last one, 0 to 1.
    #[serde(default, skip_serializing_if = "LaneSpec::is_none")]
    pub follows: f64,
    /// Parts of each file with their shares of the operations, as `(operations, space)`, each 0 to 1; empty for none.
    /// Places within a part are drawn by the pattern.
    pub zones: Vec<(f64, f64)>,
    /// Units of `rate_unit` per second at most; an open load up to the depth.
    pub rate: Option<(Iops, Arrival)>,
    /// What the rate counts.
    #[serde(default, skip_serializing_if = "RateUnit::is_operations")]
    pub rate_unit: RateUnit,
}

/// What a rate counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RateUnit {
    /// Operations.
    #[default]
    Operations,
    /// Bytes: the next operation is due when the rate allows the bytes of all operations before it.
    Bytes,
}

impl RateUnit {
    /// Units that an operation counts.
    pub(super) const fn of(self, op: &Op) -> u64 {
        match self {
            Self::Operations => 1,
            Self::Bytes => op.length as u64,
        }
    }

    // The form is serde's.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn is_operations(&self) -> bool {
        *self == Self::Operations
    }
}

impl LaneSpec {
    /// Operations of `bytes` by `pattern`, aligned to themselves, as fast as possible.
    pub fn new(bytes: u32, pattern: Pattern) -> Self {
        let sizes = Sizes::one(bytes);
        Self {
            sizes,
            pattern,
            align: bytes,
            gap: 0,
            hold: 1,
            holds_place: false,
            random: 0.0,
            follows: 0.0,
            zones: Vec::new(),
            rate: None,
            rate_unit: RateUnit::Operations,
        }
    }

    // The form is serde's.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    const fn is_off(switch: &bool) -> bool {
        !*switch
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
    /// The file is flushed after so many writes to any of them, before the next operation; 0 for never. Nothing else is in
    /// flight meanwhile, and nothing is flushed behind the last operation.
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

    /// The largest operation that moves data, in bytes.
    pub fn largest(&self) -> u32 {
        let reads = if self.reads() { self.reads.sizes.largest() } else { 0 };
        // A trim needs no buffer.
        let writes = if self.writes() && self.work != Work::Trims { self.writes.sizes.largest() } else { 0 };
        reads.max(writes)
    }

    /// True when some of its operations change the storage.
    pub fn writes(&self) -> bool {
        !matches!(self.work, Work::Reads) && self.work != Work::Mixed { reads: 1.0 }
    }

    /// True when some of its operations read.
    pub fn reads(&self) -> bool {
        !matches!(self.work, Work::Writes | Work::Trims | Work::TrimWrites) && self.work != Work::Mixed { reads: 0.0 }
    }
}

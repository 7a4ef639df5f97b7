//! Specification of the job of a worker.

use alloc::vec::Vec;

use plimsoll_units::{Iops, Op, Span};
use serde::{Deserialize, Serialize};

use crate::Arrival;
use crate::place::{Pattern, Region};

/// Operations of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WorkerOps {
    /// Reads.
    Reads,
    /// Writes.
    Writes,
    /// Both.
    Mixed {
        /// Share of reads, 0 to 1.
        reads: f64,
    },
    /// Reads, and writes back to the same addresses.
    WriteBack {
        /// Reads per write; 1 for a write after each read.
        every: u32,
    },
    /// Trims, by the lane of writes.
    Trims,
    /// Trims by the lane of writes, each followed by a write to the same address. Bytes and operations count once for
    /// both.
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
        #[serde(rename = "most")]
        max: u32,
        /// Bytes, at least 1.
        step: u32,
    },
}

impl Sizes {
    /// The same size for every operation.
    pub fn one(bytes: u32) -> Self {
        Self::Split(alloc::vec![(bytes, 1)])
    }

    /// Largest size in bytes.
    pub fn largest(&self) -> u32 {
        match self {
            Self::Split(sizes) => sizes.iter().map(|&(size, _)| size).max().unwrap_or(0),
            Self::Range { max, .. } => *max,
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

/// Order in which a worker visits files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Turns {
    /// In turn, with this number of operations each.
    RoundRobin(u32),
    /// At random, with this number of operations each.
    Random(u32),
    /// The next file when the previous one is completely visited.
    Sequential,
}

/// Addresses, sizes and rate of a worker in one direction, reading or writing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaneSpec {
    /// Sizes of the operations.
    pub sizes: Sizes,
    /// Access pattern, in blocks of `align` bytes.
    pub pattern: Pattern,
    /// Alignment of operations in bytes, at least 1. Not used by [`Pattern::Sequential`].
    pub align: u32,
    /// [`Pattern::Sequential`]: bytes skipped after each operation; negative to go back.
    pub gap: i64,
    /// Other patterns: number of consecutive operations before the next place is drawn, at least 1.
    pub hold: u32,
    /// Whether the operations of a hold repeat the same address instead of following each other.
    #[serde(default, skip_serializing_if = "LaneSpec::is_off")]
    pub holds_place: bool,
    /// Share of operations at a random address regardless of the pattern, 0 to 1.
    pub random: f64,
    /// Patterns other than [`Pattern::Sequential`]: share of operations that follow the previous one, 0 to 1.
    #[serde(default, skip_serializing_if = "LaneSpec::is_none")]
    pub follows: f64,
    /// Parts of each file with their shares of the operations, as `(operations, space)`, each 0 to 1; empty for none.
    /// Addresses within a part are drawn by the pattern.
    pub zones: Vec<(f64, f64)>,
    /// Maximum rate in units of `rate_unit` per second: an open load up to the depth.
    pub rate: Option<(Iops, Arrival)>,
    /// Unit of the rate.
    #[serde(default, skip_serializing_if = "RateUnit::is_operations")]
    pub rate_unit: RateUnit,
}

/// Unit of a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RateUnit {
    /// Operations.
    #[default]
    Operations,
    /// Bytes: an operation is due when the rate allows the bytes of all previous operations.
    Bytes,
}

impl RateUnit {
    /// Units consumed by an operation.
    pub(super) const fn of(self, op: &Op) -> u64 {
        match self {
            Self::Operations => 1,
            Self::Bytes => op.length as u64,
        }
    }

    // Signature required by serde.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn is_operations(&self) -> bool {
        *self == Self::Operations
    }
}

impl LaneSpec {
    /// Operations of `bytes` by `pattern`, aligned to their size, without a rate.
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

    // Signature required by serde.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    const fn is_off(switch: &bool) -> bool {
        !*switch
    }

    // Signature required by serde.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn is_none(share: &f64) -> bool {
        *share <= 0.0
    }
}

/// End of a job: the first of these conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Until {
    /// Number of requested bytes. The last operation is truncated to the remaining bytes, unless these are less than
    /// the smallest size.
    pub bytes: u64,
    /// Number of requested operations, without flushes.
    pub operations: u64,
    /// Elapsed time, in nanoseconds.
    #[serde(rename = "span_ns")]
    pub span: Span,
    /// Number of operations between checks of the time, for whole passes or batches. At least 1.
    #[serde(default = "Until::each_one", skip_serializing_if = "Until::is_each_one")]
    pub looks: u64,
}

impl Until {
    /// Never.
    pub const ENDLESS: Self = Self { bytes: u64::MAX, operations: u64::MAX, span: Span::MAX, looks: 1 };

    const fn each_one() -> u64 {
        1
    }

    // Signature required by serde.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    const fn is_each_one(looks: &u64) -> bool {
        *looks == 1
    }

    /// After a number of bytes.
    pub const fn bytes(bytes: u64) -> Self {
        Self { bytes, ..Self::ENDLESS }
    }

    /// After a number of operations.
    pub const fn operations(operations: u64) -> Self {
        Self { operations, ..Self::ENDLESS }
    }

    /// After a time.
    pub const fn span(span: Span) -> Self {
        Self { span, ..Self::ENDLESS }
    }

    /// Checks the time only after each `operations` operations.
    pub const fn looked_at_each(self, operations: u64) -> Self {
        Self { looks: operations, ..self }
    }
}

/// Order of a flush and the operations around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FlushOrder {
    /// The queue is empty before the flush and during it.
    #[default]
    Alone,
    /// Operations in flight continue, but none is issued and none is taken back during the flush: a system call of the
    /// job's thread.
    Blocking,
    /// An operation like any other.
    Queued,
}

impl FlushOrder {
    // Signature required by serde.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn is_alone(&self) -> bool {
        *self == Self::Alone
    }
}

/// Waiting of a job that is ahead of its rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RateWait {
    /// Until the next operation is due: an open load up to the depth.
    #[default]
    Open,
    /// Until all operations in flight are completed, and then for the time that was left before. Operations that became
    /// due meanwhile follow at once (`rate_ddir` of fio's `io_u.c`).
    Drained,
}

impl RateWait {
    // Signature required by serde.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn is_open(&self) -> bool {
        *self == Self::Open
    }
}

/// Pauses of a job. A job that is due to pause issues no operation, waits for those in flight, and then pauses
/// (`handle_thinktime` of fio's `backend.c`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThinkPause {
    /// Length of a pause.
    #[serde(rename = "pause_ns")]
    pub pause: Span,
    /// Number of operations between pauses; none if only the time counts. Operations that complete while the job waits
    /// for its pause count towards the next.
    pub every: Option<u64>,
    /// Operations that are counted.
    pub counted: CountedOps,
    /// Time from the end of a pause to the next.
    #[serde(rename = "interval_ns")]
    pub interval: Option<Span>,
}

/// Operations that count towards a pause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CountedOps {
    /// Completed operations.
    #[default]
    Completed,
    /// Issued operations.
    Issued,
}

impl ThinkPause {
    /// A pause after each `every` completed operations.
    pub const fn after(every: u64, pause: Span) -> Self {
        Self { pause, every: Some(every), counted: CountedOps::Completed, interval: None }
    }
}

/// Specification of the job of a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobSpec {
    /// Its operations.
    pub work: WorkerOps,
    /// Lane of reads.
    pub reads: LaneSpec,
    /// Lane of writes.
    pub writes: LaneSpec,
    /// Its files as regions of the target. Never empty.
    pub files: Vec<Region>,
    /// Order of the files.
    pub turns: Turns,
    /// Queue depth, at least 1.
    pub depth: u32,
    /// After the queue was full, no operation is issued until at most this number is in flight; at least the depth to
    /// keep the queue full.
    #[serde(default = "JobSpec::at_once", skip_serializing_if = "JobSpec::is_at_once")]
    pub refill: u32,
    /// Durable writes (`O_DSYNC`).
    pub durable: bool,
    /// Number of writes, to any file, before the file is flushed; 0 for never. There is no flush after the last
    /// operation.
    pub flush_every: u32,
    /// Order of these flushes and the operations around them.
    #[serde(default, skip_serializing_if = "FlushOrder::is_alone")]
    pub flush_order: FlushOrder,
    /// Whether the last written file is flushed at the end, as part of the job.
    pub flush_at_end: bool,
    /// Pauses between operations.
    pub think: Option<ThinkPause>,
    /// Waiting of a job that is ahead of its rate.
    #[serde(default, skip_serializing_if = "RateWait::is_open")]
    pub rate_wait: RateWait,
    /// Its end.
    pub until: Until,
    /// Seed of its random numbers.
    pub seed: u64,
}

impl JobSpec {
    /// A job on a single file with a queue depth of 1, equal lanes for both directions, and no flushes.
    pub fn new(work: WorkerOps, lane: LaneSpec, file: Region, until: Until) -> Self {
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
            flush_order: FlushOrder::Alone,
            flush_at_end: false,
            think: None,
            rate_wait: RateWait::Open,
            until,
            seed: 1,
        }
    }

    const fn at_once() -> u32 {
        u32::MAX
    }

    // Signature required by serde.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    const fn is_at_once(refill: &u32) -> bool {
        *refill == u32::MAX
    }

    /// Largest operation that transfers data, in bytes.
    pub fn largest(&self) -> u32 {
        let reads = if self.reads() { self.reads.sizes.largest() } else { 0 };
        // A trim needs no buffer.
        let writes = if self.writes() && self.work != WorkerOps::Trims { self.writes.sizes.largest() } else { 0 };
        reads.max(writes)
    }

    /// Whether it contains writes or trims.
    pub fn writes(&self) -> bool {
        !matches!(self.work, WorkerOps::Reads) && self.work != WorkerOps::Mixed { reads: 1.0 }
    }

    /// Whether it contains reads.
    pub fn reads(&self) -> bool {
        !matches!(self.work, WorkerOps::Writes | WorkerOps::Trims | WorkerOps::TrimWrites)
            && self.work != WorkerOps::Mixed { reads: 0.0 }
    }
}

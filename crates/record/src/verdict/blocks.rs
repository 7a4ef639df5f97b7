//! Verdicts of suites on blocks and files.

use plimsoll_units::{Bytes, Span};
use serde::{Deserialize, Serialize};

/// A verdict of `dd`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum DdVerdict {
    /// The model has a write-back cache, which absorbed a part of the copy.
    WriteBackCache {
        /// Size of the cache.
        cache_bytes: Bytes,
        /// Maximum size of unwritten data when the copy ended.
        unwritten_bytes: Bytes,
        /// Rate of the copy.
        bytes_per_second: f64,
    },
    /// The target has no page cache: a buffered copy has the rate of the storage.
    NoPageCache,
    /// A buffered copy left data in memory.
    BufferedCopy {
        /// Size of the copy.
        size_bytes: Bytes,
        /// Rate until the copy ended.
        bytes_per_second: f64,
        /// Dirty memory of the host when the copy ended; null if unknown.
        dirty_bytes: Option<Bytes>,
        /// Time of the flush after the copy, in nanoseconds.
        #[serde(rename = "flush_ns")]
        flush: Span,
        /// Rate of copy and flush.
        flushed_bytes_per_second: f64,
    },
    /// Each block was made durable before the next.
    DurableBlocks {
        /// The kind of copy, such as `dsync`.
        copy: String,
        /// Blocks per second.
        per_second: f64,
        /// Median time of a block, in nanoseconds.
        #[serde(rename = "median_ns")]
        median: Span,
        /// 99th percentile, in nanoseconds.
        #[serde(rename = "p99_ns")]
        p99: Span,
    },
    /// The page cache may hold all data that were read.
    ReadFromPageCache {
        /// Rate of the read.
        bytes_per_second: f64,
        /// Size of the data.
        size_bytes: Bytes,
        /// Memory of the host.
        memory_bytes: Bytes,
    },
    /// Zeroes were written faster than random data in every round.
    ZeroesFaster {
        /// Rate of zeroes divided by that of random data, at least.
        ratio: f64,
    },
    /// Zeroes were not written faster than random data.
    ZeroesNotFaster,
}

/// A verdict of `bonnie`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum BonnieVerdict {
    /// Phases whose figures Bonnie++ does not print.
    ShortPhases {
        /// The phases.
        phases: Vec<ShortPhase>,
    },
    /// Cost of system calls that move a single byte.
    ByteCalls {
        /// Name of the step.
        step: String,
        /// The system call, such as `write`.
        call: String,
        /// Rate.
        kib_per_second: f64,
        /// Calls per second.
        calls_per_second: f64,
        /// Kernel time of a call in nanoseconds; null if unknown.
        kernel_ns: Option<u64>,
    },
    /// Random reads by concurrent processes, each tenth followed by a write.
    Seeks {
        /// Seeks per second.
        per_second: f64,
        /// Number of processes.
        seekers: u32,
    },
    /// The single-byte phases were skipped, because the target is accessed without system calls.
    BytePhasesSkipped,
    /// Direct I/O also in phases in which Bonnie++ does not use it.
    DirectPhases,
    /// The file is less than twice the memory.
    BelowTwiceMemory {
        /// Size of the file.
        size_bytes: Bytes,
        /// Memory of the host.
        memory_bytes: Bytes,
    },
    /// Rates of small files are files per second.
    SmallFileRates,
    /// There is no processor time in virtual time.
    NoProcessorTime,
}

/// A phase that was shorter than half a second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShortPhase {
    /// Name of the step.
    pub step: String,
    /// Rate in `unit`.
    pub rate: f64,
    /// `KiB/s`, `seeks/s` or `files/s`.
    pub unit: String,
    /// Duration in nanoseconds.
    #[serde(rename = "span_ns")]
    pub span: Span,
}

/// A verdict of `tiobench`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum TiobenchVerdict {
    /// Order of the rows of `tiotest`.
    RowOrder,
    /// Random operations of a thread.
    RandomOperations {
        /// Operations of all threads together.
        total: u64,
        /// `(operations, threads)` for each number of threads.
        per_thread: Vec<(u64, u32)>,
    },
    /// Rate of random reads by threads with a single operation each.
    RandomReadRate {
        /// Name of the step.
        step: String,
        /// Operations per second.
        per_second: f64,
        /// Size of an operation.
        block_bytes: Bytes,
        /// Number of threads.
        threads: u32,
        /// Mean time of an operation, in nanoseconds.
        #[serde(rename = "mean_ns")]
        mean: Span,
        /// Expected share of each file that was read.
        touched_share: f64,
    },
    /// The final flush is included in the rate, but in no latency.
    FinalFlush {
        /// Name of the step.
        step: String,
        /// Longest flush, in nanoseconds.
        #[serde(rename = "max_ns")]
        max: Span,
        /// Its share of the duration.
        share: f64,
    },
    /// The target stores no data, or nothing was read.
    NothingCompared,
}

/// A verdict of `crystaldiskmark`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum CrystalDiskMarkVerdict {
    /// Each test was run once.
    SingleRun,
    /// Runs of the same test had equal rates.
    EqualRuns {
        /// Number of runs of each test.
        runs: u64,
    },
    /// The test with the largest excess of the best run over the mean.
    RunSpread {
        /// Name of the test.
        test: String,
        /// Number of its runs.
        runs: u64,
        /// Best rate divided by the mean, minus 1.
        above_mean_share: f64,
        /// Lowest rate.
        min_bytes_per_second: f64,
        /// Highest rate.
        max_bytes_per_second: f64,
    },
    /// Scores are the best runs.
    BestScores,
    /// Scores are the means of the runs.
    MeanScores,
    /// Version 3 flushes once after each run of writes.
    FlushedRuns,
    /// Version 8 does not flush.
    UnflushedRuns,
    /// The cache of the device may hold the file.
    DeviceCacheUnknown {
        /// Size of the file.
        size_bytes: Bytes,
    },
    /// Unwritten parts of a device were possibly read.
    UnwrittenReads,
}

/// A verdict of `snia`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum SniaVerdict {
    /// Too few rounds for a steady state.
    TooFewRounds {
        /// Name of the test.
        test: String,
        /// Number of rounds.
        rounds: u64,
    },
    /// Analysis of the last rounds.
    SteadyState {
        /// Name of the test.
        test: String,
        /// Number of rounds.
        rounds: u64,
        /// Whether they were steady.
        reached: bool,
        /// First and last analysed round, from 1.
        window: (u64, u64),
        /// The tracked load.
        load: String,
        /// Unit of the figures: `IOPS`, `MB/s` or `ms`.
        unit: String,
        /// Mean of the tracked figure.
        mean: f64,
        /// Its 95 % interval.
        interval: (f64, f64),
        /// Maximum minus minimum, relative to the mean.
        range_share: f64,
        /// Allowed range.
        max_range_share: f64,
        /// Change along the linear fit, relative to the mean.
        excursion_share: f64,
        /// Allowed change.
        max_excursion_share: f64,
    },
    /// Write saturation with a single round.
    SingleRound {
        /// Name of the test.
        test: String,
    },
    /// Rates of a write saturation.
    WriteSaturation {
        /// Name of the test.
        test: String,
        /// Operations per second in the first round.
        first_iops: f64,
        /// Operations per second in the last round.
        last_iops: f64,
        /// Lowest and highest operations per second in the second half.
        second_half_iops: (f64, f64),
        /// Size of the written data.
        written_bytes: Bytes,
    },
    /// The device was not purged.
    NotPurged,
    /// Files were tested, not a device.
    FilesTested,
    /// Only a part of the device was written.
    PartWritten {
        /// Size of the part.
        size_bytes: Bytes,
    },
    /// Preconditioning other than required.
    Preconditioning {
        /// Number of times the size was written; two are required.
        passes: u32,
    },
    /// Rounds with loads of less than a minute.
    ShortLoads {
        /// Duration of a load in nanoseconds.
        #[serde(rename = "span_ns")]
        span: Span,
    },
    /// Block sizes that direct I/O does not support were left out.
    SizesLeftOut {
        /// The required multiple.
        grid_bytes: Bytes,
    },
}

/// A verdict of `verify`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum VerifyVerdict {
    /// Compared blocks are intact, but the check is incomplete.
    PartIntact {
        /// Number of compared blocks.
        blocks: u64,
    },
    /// Operations failed.
    FailedOperations {
        /// Number of blocks with wrong data.
        wrong: u64,
        /// Number of failed operations.
        failed: u64,
        /// Maximum size of an operation.
        size_bytes: Bytes,
    },
    /// Blocks were not read.
    UnreadBlocks {
        /// Number of unread blocks.
        unread: u64,
        /// Number of all blocks.
        blocks: u64,
    },
    /// Data were read while the storage had power.
    PoweredRead,
    /// The last written versions are unknown: any version of a block is accepted.
    VersionsUnknown,
}

/// A verdict of `walfsync`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum WalVerdict {
    /// Commit rates on a target without a page cache.
    CommitsWithoutPageCache {
        /// Commits per second with a write and a flush.
        flushed_per_second: f64,
        /// The fastest method.
        method: String,
        /// Commits per second with it.
        per_second: f64,
    },
    /// `wal_sync_method`: no method is faster than the default by 5 %.
    DefaultSyncMethod {
        /// Commits per second.
        per_second: f64,
    },
    /// `wal_sync_method`: the fastest.
    SyncMethod {
        /// The method.
        method: String,
        /// Commits per second.
        per_second: f64,
        /// Commits per second of the default.
        default_per_second: f64,
    },
    /// Commits and doublewrites of `InnoDB`.
    InnodbCommits {
        /// Commits per second.
        per_second: f64,
        /// 99th percentile of a commit, in nanoseconds.
        #[serde(rename = "p99_ns")]
        p99: Span,
        /// Pages per second.
        pages_per_second: f64,
        /// Pages per second with doublewrite.
        doublewrites_per_second: f64,
    },
    /// Redo writes of Oracle.
    RedoWrites {
        /// The smallest write.
        smallest: String,
        /// Its median time, in nanoseconds.
        #[serde(rename = "median_ns")]
        median: Span,
        /// Its 99th percentile, in nanoseconds.
        #[serde(rename = "p99_ns")]
        p99: Span,
        /// The write with the highest rate.
        fastest: String,
        /// Its rate.
        bytes_per_second: f64,
    },
    /// `fdatasync` of etcd.
    EtcdFsync {
        /// 99th percentile, in nanoseconds.
        #[serde(rename = "p99_ns")]
        p99: Span,
        /// Limit of etcd, in nanoseconds.
        #[serde(rename = "limit_ns")]
        limit: Span,
    },
    /// Flushed writes are about as fast as others.
    FlushWithoutEffect {
        /// Flushed writes per second.
        flushed_per_second: f64,
        /// Writes per second without a flush.
        plain_per_second: f64,
    },
    /// The time of a flush is possible for the medium.
    FlushPlausible {
        /// Median time, in nanoseconds.
        #[serde(rename = "median_ns")]
        median: Span,
        /// Whether the medium is a rotating disk.
        rotates: bool,
        /// Write cache of the device, as named by the kernel; null if unknown.
        write_cache: Option<String>,
    },
    /// Flushes through the descriptor of the write and through another.
    OtherDescriptor {
        /// Operations per second through the descriptor of the write.
        own_per_second: f64,
        /// Operations per second through another descriptor.
        other_per_second: f64,
        /// Whether the times show that the flush through another descriptor has no effect.
        ineffective: bool,
    },
    /// A case that is impossible on this target.
    CaseUnavailable {
        /// The case.
        case: String,
        /// The missing feature.
        missing: MissingFeature,
    },
}

/// A feature of the target that a case of `walfsync` needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MissingFeature {
    /// A call of another operating system.
    SystemCall,
    /// Files, which are opened again.
    Files,
    /// Direct I/O in smaller blocks.
    SmallBlocks,
    /// A page cache.
    PageCache,
}

/// A verdict of `articles`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum ArticleVerdict {
    /// The published column with the nearest figures.
    NearestColumn {
        /// Title of the column.
        column: String,
        /// Lowest and highest ratio of a measured to a published figure.
        ratios: (f64, f64),
    },
    /// Rate that `dd` of the article's host would print.
    HostRate {
        /// Rate of the storage.
        bytes_per_second: f64,
        /// Data left in memory when `dd` ended.
        left_bytes: Bytes,
        /// Rate that would be printed.
        printed_bytes_per_second: f64,
    },
    /// The article's host had a page cache, this target has none.
    PageCacheMissing,
    /// The figures of the article are pictures.
    CurvesArePictures,
}

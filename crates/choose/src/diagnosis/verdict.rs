//! Conclusions of a diagnosis, each with its numbers. Texts are made by the report.
//!
//! Shares are of the database's time, 0 to 1.

use std::sync::Arc;

use plimsoll_catalogue::Counts;
use plimsoll_ingest::{Cap, Class, Measure, WaitCause};

use super::busy::BusyHours;
use super::censored::Censored;
use super::history::{Changed, Unusual};
use super::host::{FreeDevices, HostEvidence, HostLimit};
use super::response::CountedEvent;
use super::split::TimePart;

#[derive(Clone, Debug, PartialEq)]
pub enum DiagnosisVerdict {
    /// Sessions wait for storage in more than half of the time.
    Storage {
        /// Share of all storage.
        share: f64,
        part: TimePart,
        part_share: f64,
        /// Saving of storage ten times as fast.
        saved: f64,
    },
    /// Storage is one of several waits.
    StorageInPart {
        /// Share of all storage.
        share: f64,
        part: TimePart,
        part_share: f64,
        /// Saving of storage ten times as fast.
        saved: f64,
        /// The largest part other than storage, whose share may be smaller.
        main: TimePart,
        main_share: f64,
        /// Share of waits for background writers that fall behind.
        behind: f64,
    },
    /// Log writes are so slow that waits for locks and other instances, which are held until commit, may depend on
    /// them.
    LogBehindLocks {
        /// Seconds of a log write.
        write_s: f64,
        /// Share of all storage.
        share: f64,
        /// Share of the waits that may depend on commits: locks, other instances, the rest of the commits.
        sustained: f64,
        locks: f64,
    },
    /// Operations of a volume did not complete at all, by the provider's metric.
    ProviderStall(Cap),
    /// The measured rates are below the demand.
    Censored(Censored),
    /// Storage is not the main wait of sessions.
    NotStorage {
        /// Share of all storage.
        share: f64,
        /// Saving of storage with zero latency: the upper bound for any storage.
        at_most: f64,
        /// Busy share of the hosts' processors, if known.
        host_busy: Option<f64>,
        /// The largest part other than storage.
        main: TimePart,
        main_share: f64,
    },
    /// Storage has a share of the time, and most of the rest is in no counter.
    StorageAtLeast {
        /// Counted share of storage.
        share: f64,
        /// Saving of storage with zero latency: the upper bound for any storage, as far as it is counted.
        at_most: f64,
        /// Share in no counter.
        unaccounted: f64,
        /// True if the hosts' processors are free, so that sessions do not queue for them.
        are_processors_free: bool,
    },
    /// The busiest hours differ from the mean, which the answer is about.
    BusyHours(BusyHours),
    /// Tables are in Hybrid Columnar Compression, which only storage of Oracle supports.
    ColumnarCompression {
        /// Share of the bytes read that are compression units, 0 to 1, if known.
        share: Option<f64>,
        /// Their bytes per second; 0 if unknown.
        bytes: f64,
        /// Units decompressed per second.
        units: f64,
        /// Ratio of the bytes of rows to their stored bytes, if known.
        ratio: Option<f64>,
    },
    /// The inputs do not contain the time of sessions.
    NoSessionTimes {
        /// True if an input contains latencies of operations.
        has_latency: bool,
        /// Share of processors in the database's time, if that is known without its waits.
        on_processor: Option<f64>,
        /// The load of the host, which does not determine its limit.
        host: Option<HostEvidence>,
    },
    /// The load of a host's processors and devices determines its limit, without the time of sessions.
    Host { limit: HostLimit, evidence: HostEvidence },
    /// No device is full in any window: the storage is not at its limit, although the time of sessions is unknown.
    DevicesFree(FreeDevices),
    /// The processors are in I/O wait for longer than the operations in flight on the devices explain.
    IoWaitWithoutIo {
        /// Share of the processors' time that they are idle with I/O in flight, 0 to 1.
        io_wait: f64,
        processors: f64,
        /// Operations in flight over all devices.
        in_flight: f64,
    },
    /// The busiest device is busy for a larger share of the time than operations are in flight on average.
    BusyWithoutIo {
        /// The share, 0 to 1.
        busy: f64,
        /// Operations in flight over all devices.
        in_flight: f64,
    },
    /// The database is almost idle.
    Quiet {
        /// Mean active sessions.
        active: f64,
    },
    /// The database's time is below the resolution of the inputs: shares of it are unknown.
    BelowResolution {
        /// Upper bound of the mean active sessions.
        active_max: f64,
    },
    /// Sessions waited longer than they were active: some of these times are wrong, and shares of them are unknown.
    WaitsExceedTime {
        /// Seconds of all waits of sessions.
        waited_s: f64,
        /// Seconds of sessions on processors, if known.
        processor_s: Option<f64>,
        /// Seconds of sessions, working or waiting.
        database_s: f64,
    },
    /// The hosts' processors are nearly saturated.
    ProcessorsFull {
        /// Busy share, 0 to 1.
        busy: f64,
        /// Mean number of processes that wait for a processor, if known.
        waiting: Option<f64>,
        /// Number of processors, if known.
        processors: Option<f64>,
    },
    /// A part of the database's time is in no counter: sessions queue for a processor.
    ProcessorQueue {
        share: f64,
        /// Busy share of the processors, if known.
        busy: Option<f64>,
        /// Its seconds, and those that processes of the hosts waited for a processor, if known.
        queue_s: Option<[f64; 2]>,
        /// Bytes that a host paged in and out, if it pages.
        paged_bytes: Option<[f64; 2]>,
    },
    /// The hosts page for virtual memory.
    HostPages {
        /// Bytes that a host paged in and out.
        paged_bytes: [f64; 2],
        /// Seconds of the windows.
        seconds: f64,
    },
    /// A part of the database's time is in no counter, and queueing for processors does not explain it.
    Unaccounted { share: f64 },
    /// The hosts' processors are idle with I/O in flight for a notable share of the time.
    HostIoWait {
        /// The share, 0 to 1.
        share: f64,
        /// Its seconds, summed over all processors.
        idle_s: f64,
        /// Seconds that sessions, and background processes, waited for their own reads and writes. Each processor that is
        /// idle with I/O in flight has at least one waiting process.
        waited_s: [f64; 2],
    },
    /// A large part of the time is spent on hard parses, including their waits.
    HardParses {
        share: f64,
        /// Hard parses per second, if known.
        a_second: Option<f64>,
    },
    /// Commits take much longer than log writes.
    CommitsElsewhere {
        /// Seconds of a commit.
        sync_s: f64,
        /// Seconds of a log write.
        write_s: f64,
        /// Seconds that a commit waits for the log at most, with the write in progress, if slow writes explain the commits.
        behind_write_s: Option<f64>,
        /// Share of the waits outside of the writes.
        share: f64,
        /// Commits per second, if known.
        a_second: Option<f64>,
    },
    /// Commits wait for log writes.
    CommitsForLog {
        /// Seconds of a commit.
        sync_s: f64,
        /// Seconds of a log write.
        write_s: f64,
        share: f64,
    },
    /// Sessions wait for background writers that fall behind.
    WritersBehind {
        /// The longest of these waits.
        event: Arc<str>,
        /// Share of all of them.
        share: f64,
    },
    /// Sessions wait for switches of the log file.
    LogSwitches {
        /// The longest of these waits.
        event: Arc<str>,
        /// Share of all of them.
        share: f64,
        /// Switches per hour and the mean bytes between them, if known.
        switches: Option<(f64, f64)>,
    },
    /// A large part other than storage.
    Elsewhere {
        part: TimePart,
        share: f64,
        /// Its longest event, if any.
        event: Option<Arc<str>>,
    },
    /// Operations are slow with few in flight: the storage is slow, not overloaded.
    Slow {
        class: Class,
        /// The events of the rate.
        counted: CountedEvent,
        /// Mean latency, seconds.
        latency_s: f64,
        /// Their rate per second.
        iops: f64,
        /// Mean bytes of an operation or wait, if known.
        bytes: Option<f64>,
        in_flight: f64,
    },
    /// Operations of a class are slow, although sessions seldom wait for them.
    SlowClass {
        class: Class,
        /// The events of the rate.
        counted: CountedEvent,
        /// Mean latency, seconds.
        latency_s: f64,
        /// Their rate per second.
        iops: f64,
        /// Mean bytes of an operation or wait, if known.
        bytes: Option<f64>,
        /// Share of the database's time that sessions wait for it; for temp files for reads and writes together. None
        /// if no input contains waits.
        share: Option<f64>,
    },
    /// Latency grows with the rate: the storage is at its limit.
    AtItsLimit {
        class: Class,
        /// Mean latency in quiet windows, seconds.
        quiet_s: f64,
        /// Mean latency in the busiest windows, seconds.
        loaded_s: f64,
        /// Rate from which latency doubles, if visible.
        knee_iops: Option<f64>,
        highest_iops: f64,
    },
    /// Operations are slow, and there are too few windows to separate slow storage from load.
    SlowOrLoaded {
        class: Class,
        /// The events of the rate.
        counted: CountedEvent,
        /// Mean latency, seconds.
        latency_s: f64,
        /// Their rate per second.
        iops: f64,
        /// Mean bytes of an operation or wait, if known.
        bytes: Option<f64>,
        in_flight: f64,
    },
    /// Sessions wait long for large operations whose time is that of their transfer.
    Transfer {
        class: Class,
        /// The events of the rate.
        counted: CountedEvent,
        /// Mean latency, seconds.
        latency_s: f64,
        /// Their rate per second.
        iops: f64,
        /// Mean bytes of an operation or wait.
        bytes: f64,
    },
    /// Sessions wait long for fast operations: there are many of them.
    Many {
        class: Class,
        /// The events of the rate.
        counted: CountedEvent,
        /// Mean latency, seconds.
        latency_s: f64,
        /// Their rate per second.
        iops: f64,
    },
    /// Operations are fast.
    Quick {
        class: Class,
        /// The events of the rate.
        counted: CountedEvent,
        /// Mean latency, seconds.
        latency_s: f64,
        /// Their rate per second.
        iops: f64,
    },
    /// The 99th percentile of a wait is far above its mean.
    Tail {
        event: Arc<str>,
        cause: WaitCause,
        /// Mean seconds.
        mean_s: f64,
        /// Bounds of the 99th percentile, seconds; the upper one is infinite if it is in the last bucket.
        p99_s: [f64; 2],
    },
    /// The mean of an event is far beyond its medium, and its class does not show it.
    SlowEvent {
        event: Arc<str>,
        cause: WaitCause,
        /// Mean seconds.
        mean_s: f64,
        /// Waits per second.
        a_second: f64,
        /// Mean seconds of all waits of the class, if known.
        class_s: Option<f64>,
        /// Share of the database's time.
        share: f64,
    },
    /// A disk with several paths uses one of them at a time.
    IdlePaths {
        /// Its name, such as `mpatha`.
        name: String,
        paths: usize,
        /// Operations that a path has in flight at most, if known.
        queue_depth: Option<u32>,
        /// Seconds of an operation in quiet windows, if known.
        latency_s: Option<f64>,
    },
    /// Operations are pending in windows in which none is completed.
    Stalled {
        class: Class,
        /// Pending operations, at most.
        pending: f64,
        /// Windows without a completed operation.
        windows: usize,
        /// Number of all windows.
        of: usize,
    },
    /// A rate is pinned at a value in many windows, while others are lower.
    Pinned {
        class: Class,
        /// Operations or bytes.
        measure: Measure,
        /// The value per second.
        value: f64,
        windows: usize,
        /// Number of all windows.
        of: usize,
    },
    /// A ceiling of the configuration is reached.
    AtCeiling {
        name: Arc<str>,
        counts: Counts,
        /// Allowed rate per second.
        allows: f64,
        /// Demand in the busiest window, per second.
        demand: f64,
        /// Windows with at least 95 % use.
        near: usize,
        /// Number of all windows.
        windows: usize,
    },
    /// No ceiling of the configuration is reached in the means of windows.
    BelowCeilings {
        /// The most used ceiling.
        name: Arc<str>,
        /// Its use in the busiest window, 0 to 1.
        highest: f64,
        /// Seconds of the longest window, which may hide peaks.
        longest_s: f64,
    },
    /// A larger buffer cache would save time.
    CacheHelps {
        /// The size relative to the present size.
        factor: f64,
        /// Its size in bytes.
        bytes: f64,
        /// Saved share of reads, 0 to 1.
        reads: f64,
        /// Saved share of the database's time.
        saved: f64,
    },
    /// A larger buffer cache would save little.
    CacheDoesNot {
        /// The size relative to the present size.
        factor: f64,
        /// Saved share of the database's time.
        saved: f64,
    },
    /// A single statement causes most of the reads or writes.
    OneStatement {
        /// Its identifier in the database.
        statement: Arc<str>,
        /// Reads or writes.
        class: Class,
        /// Its share of them, 0 to 1.
        share: f64,
    },
    /// Several parts of the same kind, statements or segments, cause most of the reads.
    ReadsBy {
        /// Their names, each with its share of the reads, 0 to 1; the largest first.
        parts: Vec<(Arc<str>, f64)>,
    },
    /// A single statement takes most of the time of all statements.
    SlowStatement {
        /// Its identifier in the database.
        statement: Arc<str>,
        /// Its share, 0 to 1.
        share: f64,
        /// Mean seconds of an execution.
        mean_s: f64,
        /// Rows examined per execution, if known.
        rows: Option<f64>,
    },
    /// A single file has most of the operations.
    OneFile {
        /// Its name or number.
        file: Arc<str>,
        /// Its share, 0 to 1.
        share: f64,
    },
    /// Autovacuum causes a large part of the operations.
    Autovacuum {
        /// Its share, 0 to 1.
        share: f64,
    },
    /// Sessions write pages that background processes should have written.
    SessionsWrite {
        /// Their share of all writes, 0 to 1.
        share: f64,
    },
    /// Most checkpoints are requested before their scheduled time.
    CheckpointsRequested {
        requested: f64,
        /// Scheduled checkpoints.
        timed: f64,
        /// Mean seconds between checkpoints.
        every_s: Option<f64>,
    },
    /// Sessions wait for room in a buffer.
    BufferWaits {
        /// One of the constants of [`plimsoll_ingest::WindowCount`].
        name: &'static str,
        /// Waits per second.
        a_second: f64,
    },
    /// A window in which a quantity is far above its median.
    Unusual {
        /// The number of unusual windows.
        windows: usize,
        /// The most unusual of them.
        farthest: Unusual,
    },
    /// The later period differs from the earlier one.
    Changed {
        /// Active sessions in the earlier period.
        before: f64,
        /// Active sessions in the later one.
        after: f64,
        /// The wait or work that changed most.
        main: Option<Changed>,
    },
    /// The windows are so long that their means hide peaks.
    LongWindows {
        /// Seconds of the longest window.
        longest_s: f64,
    },
    /// Rates, latencies and queues of the input are inconsistent.
    Unequal {
        /// Operations in flight according to the input.
        reported: f64,
        /// Operations in flight derived from rates and latencies (Little 1961).
        derived: f64,
    },
}

impl DiagnosisVerdict {
    /// Stable identifier for programs: lower case, with hyphens.
    pub const fn id(&self) -> &'static str {
        match self {
            Self::Storage { .. } => "storage",
            Self::StorageInPart { .. } => "storage-in-part",
            Self::LogBehindLocks { .. } => "log-behind-locks",
            Self::ProviderStall(_) => "provider-stall",
            Self::Censored(_) => "censored",
            Self::NotStorage { .. } => "not-storage",
            Self::StorageAtLeast { .. } => "storage-at-least",
            Self::BusyHours(_) => "busy-hours",
            Self::ColumnarCompression { .. } => "columnar-compression",
            Self::NoSessionTimes { .. } => "untold",
            Self::Host { limit: HostLimit::Processors, .. } => "host-processors",
            Self::Host { limit: HostLimit::Storage, .. } => "host-storage",
            Self::Host { limit: HostLimit::FastStorage, .. } => "host-fast-storage",
            Self::Host { limit: HostLimit::Neither, .. } => "host-neither",
            Self::DevicesFree(_) => "devices-free",
            Self::IoWaitWithoutIo { .. } => "io-wait-without-io",
            Self::BusyWithoutIo { .. } => "busy-without-io",
            Self::Quiet { .. } => "quiet",
            Self::BelowResolution { .. } => "below-resolution",
            Self::WaitsExceedTime { .. } => "waits-exceed-time",
            Self::ProcessorsFull { .. } => "processors-full",
            Self::ProcessorQueue { .. } => "processor-queue",
            Self::HostPages { .. } => "host-pages",
            Self::Unaccounted { .. } => "unsaid",
            Self::HostIoWait { .. } => "host-io-wait",
            Self::HardParses { .. } => "hard-parses",
            Self::CommitsElsewhere { .. } => "commits-elsewhere",
            Self::CommitsForLog { .. } => "commits-for-log",
            Self::WritersBehind { .. } => "writers-behind",
            Self::LogSwitches { .. } => "log-switches",
            Self::Elsewhere { .. } => "elsewhere",
            Self::Slow { .. } => "slow",
            Self::SlowClass { .. } => "slow-class",
            Self::AtItsLimit { .. } => "at-its-limit",
            Self::SlowOrLoaded { .. } => "slow-or-loaded",
            Self::Transfer { .. } => "transfer",
            Self::Many { .. } => "many",
            Self::Quick { .. } => "quick",
            Self::Tail { .. } => "tail",
            Self::SlowEvent { .. } => "slow-event",
            Self::IdlePaths { .. } => "idle-paths",
            Self::Stalled { .. } => "stalled",
            Self::Pinned { .. } => "pinned",
            Self::AtCeiling { .. } => "at-ceiling",
            Self::BelowCeilings { .. } => "below-ceilings",
            Self::CacheHelps { .. } => "cache-helps",
            Self::CacheDoesNot { .. } => "cache-does-not",
            Self::OneStatement { class: Class::Write, .. } => "one-statement-writes",
            Self::OneStatement { .. } => "one-statement-reads",
            Self::ReadsBy { .. } => "reads-by",
            Self::SlowStatement { .. } => "slow-statement",
            Self::OneFile { .. } => "one-file",
            Self::Autovacuum { .. } => "autovacuum",
            Self::SessionsWrite { .. } => "sessions-write",
            Self::CheckpointsRequested { .. } => "checkpoints-requested",
            Self::BufferWaits { .. } => "buffer-waits",
            Self::Unusual { .. } => "unusual",
            Self::Changed { .. } => "changed",
            Self::LongWindows { .. } => "long-windows",
            Self::Unequal { .. } => "unequal",
        }
    }
}

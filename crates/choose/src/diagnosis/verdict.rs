//! What follows from a diagnosis: one finding each, with its numbers. The words are the report's.
//!
//! Shares are of the database's time, 0 to 1.

use std::sync::Arc;

use plimsoll_catalogue::Counts;
use plimsoll_ingest::{Class, Measure, Waited};

use super::history::{Changed, Unusual};
use super::split::Part;

/// A finding.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Storage is what sessions wait for.
    Storage {
        /// Share of all storage.
        share: f64,
        /// The longest part of it.
        part: Part,
        /// Its share.
        part_share: f64,
        /// What storage ten times as fast would save.
        saved: f64,
    },
    /// Storage is one of several things that sessions wait for.
    StorageInPart {
        /// Share of all storage.
        share: f64,
        /// What storage ten times as fast would save.
        saved: f64,
        /// The longest part of all.
        main: Part,
        /// Its share.
        main_share: f64,
    },
    /// Writes of the log are so slow that waits for locks and for other instances may hang on them: both are held until
    /// a commit is written.
    LogBehindLocks {
        /// Seconds of a write of the log.
        write_s: f64,
        /// Share of all storage.
        share: f64,
        /// Share of the waits that may hang on commits: locks, other instances, the rest of the commits.
        held: f64,
        /// Share of the locks.
        locks: f64,
    },
    /// Storage is not what sessions wait for.
    NotStorage {
        /// Share of all storage.
        share: f64,
        /// What storage that answers at once would save: no storage saves more.
        at_most: f64,
        /// Share of the hosts' processors that is busy, where it is said.
        host_busy: Option<f64>,
        /// The longest part of all.
        main: Part,
        /// Its share.
        main_share: f64,
    },
    /// Storage is some of what sessions wait for, and most of the rest is in no counter.
    StorageAtLeast {
        /// Share of all storage that is counted.
        share: f64,
        /// Share that is in no counter.
        unsaid: f64,
    },
    /// No input says how sessions spent their time.
    Untold {
        /// True where an input says how long operations take.
        says_latency: bool,
    },
    /// Hardly any session is active at a time.
    Quiet {
        /// Active sessions, in the mean.
        active: f64,
    },
    /// The hosts' processors are in use nearly all the time.
    ProcessorsFull {
        /// Share that is busy, 0 to 1.
        busy: f64,
        /// Processors, where they are said.
        processors: Option<f64>,
    },
    /// Part of the database's time is in no counter: sessions queue for a processor.
    ProcessorQueue {
        /// Its share.
        share: f64,
        /// Share of the processors that is busy, where it is said.
        busy: Option<f64>,
    },
    /// Part of the database's time is in no counter, and no queue for processors explains it.
    Unsaid {
        /// Its share.
        share: f64,
    },
    /// Commits take much longer than the writes of the log.
    CommitsElsewhere {
        /// Seconds of a commit.
        sync_s: f64,
        /// Seconds of a write of the log.
        write_s: f64,
        /// Share of the waits beside the writes.
        share: f64,
        /// Commits a second, where they are said.
        a_second: Option<f64>,
    },
    /// Commits wait for the writes of the log.
    CommitsForLog {
        /// Seconds of a commit.
        sync_s: f64,
        /// Seconds of a write of the log.
        write_s: f64,
        /// Share of the writes.
        share: f64,
    },
    /// Sessions wait because what is written behind them falls back.
    WritersBehind {
        /// The longest of these waits.
        event: Arc<str>,
        /// Share of all of them.
        share: f64,
    },
    /// Something else than storage that takes a large part.
    Elsewhere {
        /// What.
        part: Part,
        /// Its share.
        share: f64,
        /// Its longest event, where it has one.
        event: Option<Arc<str>>,
    },
    /// Operations take long though few are in flight: the storage is slow, and not overloaded.
    Slow {
        /// Of this class.
        class: Class,
        /// Seconds of one.
        latency_s: f64,
        /// Operations a second.
        iops: f64,
        /// Operations in flight.
        in_flight: f64,
    },
    /// Operations take longer, the more are asked: the storage is at its limit.
    AtItsLimit {
        /// Of this class.
        class: Class,
        /// Seconds of one in quiet windows.
        quiet_s: f64,
        /// Seconds of one in the busiest windows.
        loaded_s: f64,
        /// The rate from which they take twice as long, where the windows show it.
        knee_iops: Option<f64>,
        /// The highest rate.
        highest_iops: f64,
    },
    /// Operations take long, and too few windows say whether that is the storage or the load on it.
    SlowOrLoaded {
        /// Of this class.
        class: Class,
        /// Seconds of one.
        latency_s: f64,
        /// Operations a second.
        iops: f64,
        /// Operations in flight.
        in_flight: f64,
    },
    /// Sessions wait long for operations that are answered quickly: there are many of them.
    Many {
        /// Of this class.
        class: Class,
        /// Seconds of one.
        latency_s: f64,
        /// Operations a second.
        iops: f64,
    },
    /// Operations are answered quickly, as far as the input says.
    Quick {
        /// Of this class.
        class: Class,
        /// Seconds of one.
        latency_s: f64,
        /// Operations a second.
        iops: f64,
    },
    /// One in a hundred waits is far longer than the mean.
    Tail {
        /// The event.
        event: Arc<str>,
        /// What it stands for.
        waited: Waited,
        /// Seconds of one, in the mean.
        mean_s: f64,
        /// Seconds within which 99 of 100 end; none when the longest bucket has them.
        within_s: Option<f64>,
    },
    /// A rate stays at one value in many windows, though others are lower.
    Pinned {
        /// Whose.
        class: Class,
        /// Operations or bytes.
        measure: Measure,
        /// The value, a second.
        value: f64,
        /// Windows at it.
        windows: usize,
        /// Of so many.
        of: usize,
    },
    /// A ceiling of the configuration is reached.
    AtCeiling {
        /// Its name.
        name: Arc<str>,
        /// What it counts.
        counts: Counts,
        /// What it allows, a second.
        allows: f64,
        /// What is asked in the busiest window, a second.
        asked: f64,
        /// Windows at or above 95 % of it.
        near: usize,
        /// Of so many.
        windows: usize,
    },
    /// No ceiling of the configuration is reached, in the means of the windows.
    BelowCeilings {
        /// The ceiling with the highest use.
        name: Arc<str>,
        /// That use in the busiest window, 0 to 1.
        highest: f64,
        /// Seconds of the longest window: peaks may be higher.
        longest_s: f64,
    },
    /// A larger buffer cache would save time.
    CacheHelps {
        /// Its size over the present one.
        factor: f64,
        /// Its size in bytes.
        bytes: f64,
        /// The share of reads that it saves, 0 to 1.
        reads: f64,
        /// The share of the database's time.
        saved: f64,
    },
    /// A larger buffer cache would save little.
    CacheDoesNot {
        /// Its size over the present one.
        factor: f64,
        /// The share of the database's time that it saves.
        saved: f64,
    },
    /// One statement makes most of the reads or writes.
    OneStatement {
        /// The database's number of it.
        statement: Arc<str>,
        /// Reads or writes.
        class: Class,
        /// Its share of them, 0 to 1.
        share: f64,
    },
    /// One statement takes most of the time of all statements.
    SlowStatement {
        /// The database's number of it.
        statement: Arc<str>,
        /// Its share, 0 to 1.
        share: f64,
        /// Seconds of an execution, in the mean.
        mean_s: f64,
        /// Rows that an execution looks at, where an input states them.
        rows: Option<f64>,
    },
    /// One file has most of the operations.
    OneFile {
        /// Its name or number.
        file: Arc<str>,
        /// Its share, 0 to 1.
        share: f64,
    },
    /// Autovacuum makes a large part of the operations.
    Autovacuum {
        /// Its share, 0 to 1.
        share: f64,
    },
    /// Sessions write pages that background processes should have written.
    SessionsWrite {
        /// Their share of all writes, 0 to 1.
        share: f64,
    },
    /// Most checkpoints come before their time.
    CheckpointsRequested {
        /// Checkpoints that came early.
        requested: f64,
        /// Checkpoints in time.
        timed: f64,
        /// Seconds between two of them, in the mean.
        every_s: Option<f64>,
    },
    /// Sessions wait for room in a buffer.
    BufferWaits {
        /// One of the constants of [`plimsoll_ingest::Tally`].
        name: &'static str,
        /// Waits a second.
        a_second: f64,
    },
    /// A window in which a quantity is far above its median.
    Unusual {
        /// The number of unusual windows.
        windows: usize,
        /// The farthest of them.
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
    /// The windows are so long that peaks are hidden in their means.
    LongWindows {
        /// Seconds of the longest.
        longest_s: f64,
    },
    /// Rates, latencies and queues of the input do not fit each other.
    Unequal {
        /// Operations in flight, as the input says.
        said: f64,
        /// The same, as rates and latencies give it (Little 1961).
        follows: f64,
    },
}

impl Verdict {
    /// For programs: lower case, with hyphens; it never changes.
    pub const fn id(&self) -> &'static str {
        match self {
            Self::Storage { .. } => "storage",
            Self::StorageInPart { .. } => "storage-in-part",
            Self::LogBehindLocks { .. } => "log-behind-locks",
            Self::NotStorage { .. } => "not-storage",
            Self::StorageAtLeast { .. } => "storage-at-least",
            Self::Untold { .. } => "untold",
            Self::Quiet { .. } => "quiet",
            Self::ProcessorsFull { .. } => "processors-full",
            Self::ProcessorQueue { .. } => "processor-queue",
            Self::Unsaid { .. } => "unsaid",
            Self::CommitsElsewhere { .. } => "commits-elsewhere",
            Self::CommitsForLog { .. } => "commits-for-log",
            Self::WritersBehind { .. } => "writers-behind",
            Self::Elsewhere { .. } => "elsewhere",
            Self::Slow { .. } => "slow",
            Self::AtItsLimit { .. } => "at-its-limit",
            Self::SlowOrLoaded { .. } => "slow-or-loaded",
            Self::Many { .. } => "many",
            Self::Quick { .. } => "quick",
            Self::Tail { .. } => "tail",
            Self::Pinned { .. } => "pinned",
            Self::AtCeiling { .. } => "at-ceiling",
            Self::BelowCeilings { .. } => "below-ceilings",
            Self::CacheHelps { .. } => "cache-helps",
            Self::CacheDoesNot { .. } => "cache-does-not",
            Self::OneStatement { class: Class::Write, .. } => "one-statement-writes",
            Self::OneStatement { .. } => "one-statement-reads",
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

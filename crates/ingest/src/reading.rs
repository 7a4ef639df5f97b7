//! The result of an input: figures with their scopes, windows and places.

mod contradiction;
mod doubt;
mod scope;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use jiff::civil::DateTime;
use plimsoll_language::{label, say};
use plimsoll_record::Finding;
use plimsoll_units::Span;

pub(crate) use self::contradiction::do_waits_exceed;
pub use self::doubt::Doubt;
pub use self::scope::ReadingScope;

use crate::distribution::ValueDistribution;

/// The content of an input, and its unread parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The caller's name of the input.
    pub name: String,
    /// The recognised format.
    pub kind: FormatName,
    /// The version of the program that wrote it, if known.
    pub version: Option<String>,
    /// The release of Oracle Database that it is about, if known.
    pub oracle_release: Option<String>,
    /// The operating system and processors of its host in the words of Oracle Database, if known.
    pub platform: Option<String>,
    /// The subjects of its figures.
    pub scopes: Vec<ReadingScope>,
    /// The windows of its figures, in the order of the input.
    pub windows: Vec<ReadingWindow>,
    /// Windows that replace several neighbouring ones of a long input, by index.
    pub joined: BTreeMap<u32, JoinedWindow>,
    /// Its figures, in the order of the input.
    pub figures: Vec<Figure>,
    /// Distributions of the means over the windows of the input before joining; empty if no windows were joined.
    pub distributions: Vec<ReadingDistribution>,
    /// Results of benchmarks, which never count as demand.
    pub evidence: Vec<ReadingEvidence>,
    /// Counters that need a later snapshot of the same scope, possibly of another input.
    pub snapshots: Vec<Snapshot>,
    /// The caller's interval, if the ages of snapshots count from the first one of the input.
    pub interval: Option<Span>,
    /// Time of databases, by window.
    pub times: Vec<DatabaseTime>,
    /// Processor time of hosts, by window.
    pub hosts: Vec<HostTime>,
    /// Waits of sessions, by event.
    pub waits: Vec<Wait>,
    /// Periods inside windows, with the active sessions by the database's own analysis.
    pub analyses: Vec<AnalysedPeriod>,
    /// Counts that are neither operations of storage nor waits.
    pub tallies: Vec<WindowCount>,
    /// Memory and processors of the databases.
    pub databases: Vec<Database>,
    /// Memory and processors of single instances: in use, and those of their hosts.
    pub resources: Vec<ResourceFigure>,
    /// The database's own estimates for other sizes of its buffer cache.
    pub advice: Vec<CacheAdvice>,
    /// Miss ratios by cache size, from the operations themselves.
    pub curves: Vec<MissCurve>,
    /// Limits of volumes and machines, and the times at which they were reached.
    pub caps: Vec<CapEvidence>,
    /// Latencies of single operations of volumes.
    pub latencies: Vec<LatencyHistogram>,
    /// Disks that the hosts reach over several paths.
    pub multipaths: Vec<Multipath>,
    /// Indices into [`Reading::scopes`] of scopes whose operations other scopes also count: totals exclude them.
    pub beneath: BTreeSet<u32>,
    /// True if parts divide the work of the whole, such as statements and files; devices may be layered.
    pub is_divided: bool,
    /// The time zone assumed for times without an offset; none if all times have one.
    pub assumed_zone: Option<String>,
    /// Its sections, read or not.
    pub parts: Vec<InputPart>,
    /// Reasons to doubt its figures.
    pub cautions: Vec<Caution>,
}

/// Japanese names of formats and of their marks, by the English ones.
static JAPANESE: &[(&str, &str)] = plimsoll_language::translations!("names/ja.po");

/// The name of a format or of a part of one in the language of the reader.
pub(crate) fn translate(name: &str) -> &str {
    plimsoll_language::translate(JAPANESE, name)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FormatName {
    /// Stable identifier for programs: lower case, with hyphens.
    pub id: &'static str,
    pub name: &'static str,
}

impl fmt::Display for FormatName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(translate(self.name))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputPart {
    pub name: String,
    pub fate: Fate,
}

/// The outcome of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Number of values read.
    Read(u32),
    /// Present but empty.
    Empty,
    /// Absent, although its kind usually has it.
    Missing,
    /// Present but not read completely: a caution gives the reason.
    Broken,
    /// Present but not about storage.
    Ignored,
}

/// A doubt about an input, with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Caution {
    /// Its place; none for the whole input.
    pub origin: Option<Origin>,
    pub doubt: Doubt,
}

/// Time of a database's sessions in a window.
#[derive(Clone, Debug, PartialEq)]
pub struct DatabaseTime {
    /// An index into [`Reading::scopes`].
    pub scope: u32,
    /// An index into [`Reading::windows`].
    pub window: u32,
    /// Seconds of sessions, working or waiting.
    pub database_s: f64,
    /// Seconds by which `database_s` may be off, as the input rounds it; 0 if it is exact.
    pub rounding_s: f64,
    /// Seconds of these on a processor.
    pub processor_s: Option<f64>,
    pub processors: Option<u32>,
    /// Transactions committed.
    pub commits: Option<f64>,
    pub counters: TimeCounters,
    /// Its place in the input.
    pub origin: Origin,
}

/// Counters of Oracle Database that explain its time, over a window, where known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeCounters {
    /// Statements that were parsed without a cursor to share (`parse count (hard)`).
    pub hard_parses: Option<f64>,
    /// Seconds of sessions in these (`hard parse elapsed time`), including their waits.
    pub hard_parse_s: Option<f64>,
    /// Requests of reads of all kinds (`physical read total IO requests`).
    pub read_requests: Option<f64>,
    /// Those answered by flash or memory of storage cells (`physical read requests optimized`).
    pub flash_reads: Option<f64>,
    /// Switches of the log file (`log switches (derived)`).
    pub log_switches: Option<f64>,
    /// Bytes of the log (`redo size`).
    pub log_bytes: Option<f64>,
    /// Bytes of scans that the cells of Exadata read, or skip by a storage index, and do not return: those eligible for
    /// predicate offload less those returned by smart scans.
    pub filtered_bytes: Option<f64>,
    /// The statement that read the most bytes from storage.
    pub top_reader: Option<Arc<TopReader>>,
    /// Waits of sessions that are idle by their name, but not by their class in the input: names and seconds.
    pub idle_waits: Vec<(Arc<str>, f64)>,
    /// Work on Hybrid Columnar Compression, if there was any.
    pub columnar: Option<ColumnarCompression>,
}

/// Work on tables in Hybrid Columnar Compression, which only storage of Oracle supports: Exadata, ZFS and FS1. On other
/// storage these tables are larger by the ratio of the compression.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ColumnarCompression {
    /// Compression units decompressed for scans, by the cells and by the database.
    pub units: f64,
    /// Bytes of these units as stored.
    pub stored_bytes: f64,
    /// Bytes of the columns of them that scans needed, decompressed: a lower bound of the rows' bytes.
    pub expanded_bytes: f64,
    /// Bytes of loaded rows, before compression.
    pub loaded_bytes: f64,
    /// Bytes of the same after compression.
    pub loaded_stored_bytes: f64,
}

impl ColumnarCompression {
    /// Ratio of the bytes of rows to their stored bytes, if the input determines it: that of loads.
    pub fn ratio(&self) -> Option<f64> {
        /// Fewer bytes are not representative.
        const MIN_BYTES: f64 = 1e9;
        let is_determined = self.loaded_stored_bytes > 0.0 && self.loaded_bytes >= MIN_BYTES;
        is_determined.then(|| self.loaded_bytes / self.loaded_stored_bytes)
    }
}

/// A statement with its reads in a window.
#[derive(Clone, Debug, PartialEq)]
pub struct TopReader {
    /// Its identifier in the database (`SQL_ID`).
    pub statement: String,
    /// The program that ran it, as it registered; may be empty.
    pub module: String,
    /// Bytes that it read.
    pub bytes: f64,
}

impl TimeCounters {
    /// Adds another window or instance; a counter that either lacks is unknown, and the statement with more bytes stays.
    pub(crate) fn add(&mut self, other: &Self) {
        let sum = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a + b);
        self.hard_parses = sum(self.hard_parses, other.hard_parses);
        self.hard_parse_s = sum(self.hard_parse_s, other.hard_parse_s);
        self.read_requests = sum(self.read_requests, other.read_requests);
        self.flash_reads = sum(self.flash_reads, other.flash_reads);
        self.log_switches = sum(self.log_switches, other.log_switches);
        self.log_bytes = sum(self.log_bytes, other.log_bytes);
        self.filtered_bytes = sum(self.filtered_bytes, other.filtered_bytes);
        self.idle_waits.extend(other.idle_waits.iter().cloned());
        let readers = [self.top_reader.take(), other.top_reader.clone()].into_iter().flatten();
        self.top_reader = readers.max_by(|a, b| a.bytes.total_cmp(&b.bytes));
        self.columnar = match (self.columnar, other.columnar) {
            (Some(a), Some(b)) => Some(ColumnarCompression {
                units: a.units + b.units,
                stored_bytes: a.stored_bytes + b.stored_bytes,
                expanded_bytes: a.expanded_bytes + b.expanded_bytes,
                loaded_bytes: a.loaded_bytes + b.loaded_bytes,
                loaded_stored_bytes: a.loaded_stored_bytes + b.loaded_stored_bytes,
            }),
            (a, b) => a.or(b),
        };
    }
}

/// A period inside a window with its mean active sessions, by the database's own analysis (ADDM of Oracle Database).
#[derive(Clone, Debug, PartialEq)]
pub struct AnalysedPeriod {
    /// An index into [`Reading::scopes`].
    pub scope: u32,
    /// An index into [`Reading::windows`].
    pub window: u32,
    pub begin: DateTime,
    pub length: Span,
    pub active_sessions: f64,
    /// Share of these that wait for I/O of sessions, 0 to 1, if it is among the findings.
    pub user_io: Option<f64>,
    /// The finding with most of these, and its share, which may exceed 1.
    pub finding: Option<(Arc<str>, f64)>,
    /// Its place in the input.
    pub origin: Origin,
}

/// Processor time of a host in a window.
#[derive(Clone, Debug, PartialEq)]
pub struct HostTime {
    /// An index into [`Reading::scopes`].
    pub scope: u32,
    /// An index into [`Reading::windows`].
    pub window: u32,
    /// Busy seconds, summed over all processors.
    pub busy_s: f64,
    /// Idle seconds, summed over all processors, including those of waiting for storage.
    pub idle_s: f64,
    /// Idle seconds with I/O in flight, summed over all processors; part of `idle_s`.
    pub io_wait_s: Option<f64>,
    /// Seconds that runnable processes waited for a processor, summed over all processes.
    pub queue_s: Option<f64>,
    /// Bytes paged in, and out, for virtual memory. Some systems, such as AIX, also count pages of files.
    pub paged_bytes: Option<[f64; 2]>,
    /// Its place in the input.
    pub origin: Origin,
}

/// Memory and processors of a database and its host, where known.
#[derive(Clone, Debug, PartialEq)]
pub struct Database {
    /// An index into [`Reading::scopes`].
    pub scope: u32,
    /// An index into [`Reading::windows`].
    pub window: u32,
    /// Bytes of a block or page.
    pub block_bytes: Option<f64>,
    /// Bytes of the buffer cache.
    pub cache_bytes: Option<f64>,
    /// Logical processors of the host.
    pub processors: Option<f64>,
    pub cores: Option<f64>,
    /// Bytes of the host's memory.
    pub memory_bytes: Option<f64>,
    /// Bytes of the database's files.
    pub stored_bytes: Option<f64>,
    /// Its place in the input.
    pub origin: Origin,
}

/// Memory or processors of an instance, with their place.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceFigure {
    /// An index into [`Reading::scopes`].
    pub scope: u32,
    /// An index into [`Reading::windows`].
    pub window: u32,
    /// The instance, in reports of several; empty for that of the scope.
    pub instance: String,
    /// The quantity, with its unit.
    pub resource: Resource,
    /// Its value; the highest in the window, except for means.
    pub value: f64,
    /// Its place in the input.
    pub origin: Origin,
}

/// Resources that determine the size of a database's machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    /// Mean number of processors on which the instance ran, with its background processes where known.
    Processors,
    /// The same in the highest minute of the window.
    PeakProcessors,
    /// Processors that the database's resource manager lets the instance use.
    ProcessorLimit,
    /// Bytes of the instance's shared memory: SGA, buffer pool.
    SharedMemory,
    /// Bytes of the shared buffers of a server that relies on the page cache of its host as well.
    SharedBuffers,
    /// Bytes of the memory of the instance's processes: PGA.
    ProcessMemory,
    /// Bytes per second of scans that the cells of Exadata filter for the instance, on average.
    FilteredBytes,
    /// Share of a cluster's operations that its busiest instance carries, 0 to 1, in inputs without those of each instance.
    BusiestOperations,
    /// The same of the bytes.
    BusiestBytes,
    /// Instances of the database, whether the input covers them or not.
    Instances,
    /// Mean number of processors of the host on which any program ran, in its busiest hour.
    UsedProcessors,
    /// Busy share of the host's processors, 0 to 1, in its busiest hour; their number is unknown.
    BusyShare,
    HostProcessors,
    /// Cores of the host, each with one or more processors.
    HostCores,
    /// Bytes of memory of the host.
    HostMemory,
    /// Bytes of capacity of a persistent volume claim of Kubernetes; its instance is `NAMESPACE/CLAIM`.
    ClaimCapacity,
}

/// Waits of a database's sessions for an event in a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// An index into [`Reading::scopes`].
    pub scope: u32,
    /// An index into [`Reading::windows`].
    pub window: u32,
    /// The database's name of the event.
    pub event: String,
    /// Its meaning: by its name, or for unknown names by the class in the input.
    pub cause: WaitCause,
    /// True for sessions of users, false for background processes.
    pub foreground: bool,
    /// Number of waits.
    pub count: f64,
    /// Seconds of all waits together.
    pub total_s: f64,
    /// Durations of waits: upper bounds in seconds, ascending, the last infinite, with shares (0 to 1); empty if unknown.
    pub histogram: Vec<(f64, f64)>,
    /// Its place in the input.
    pub origin: Origin,
}

/// The meaning of a wait event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaitCause {
    /// An operation of storage: the wait lasts for the operation, or for several that were requested together.
    Storage(Class),
    /// A wait that ends when operations of this class are done: free buffers, room in the log buffer.
    Behind(Class),
    /// A switch of the log file: the log files are too small or too few, or archiving is behind.
    LogSwitch,
    /// A commit: the write of the log and everything around it.
    Commit,
    Processor,
    /// A lock of another transaction.
    Lock,
    /// A structure in memory used by another session.
    Concurrency,
    /// Blocks and locks of other instances of a cluster.
    Cluster,
    /// Communication with clients, other databases or a standby.
    Network,
    /// Idle waits, which are not part of the database's time.
    Idle,
    /// Unknown and other events.
    Other,
}

impl WaitCause {
    /// The common name of merged short waits, which [`WaitCause::of`] also maps back.
    pub const fn rest(self) -> &'static str {
        match self {
            Self::Storage(_) | Self::Behind(_) | Self::Other | Self::Commit | Self::Idle => "other waits",
            Self::LogSwitch => "other waits for log switches",
            Self::Processor => "other waits for a processor",
            Self::Lock => "other locks",
            Self::Concurrency => "other waits for memory structures",
            Self::Cluster => "other waits for the cluster",
            Self::Network => "other waits for the network",
        }
    }

    /// The class of operations that determines the wait; none if faster storage does not shorten it.
    pub const fn class(self) -> Option<Class> {
        match self {
            Self::Storage(class) | Self::Behind(class) => Some(class),
            Self::Commit => Some(Class::RedoWrite),
            _ => None,
        }
    }
}

/// A count in a window other than operations of storage and waits.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowCount {
    /// An index into [`Reading::scopes`].
    pub scope: u32,
    /// An index into [`Reading::windows`].
    pub window: u32,
    /// The counted quantity: one of the constants of this type.
    pub name: &'static str,
    /// Its value or its seconds.
    pub value: f64,
    /// Its place in the input.
    pub origin: Origin,
}

impl WindowCount {
    /// Requests of reads of a statement or segment, where its operations are not figures.
    pub const READ_REQUESTS: &'static str = "read requests";
    /// Bytes that these read.
    pub const READ_BYTES: &'static str = "bytes read";
    /// Executions of a statement.
    pub const CALLS: &'static str = "calls";
    /// Seconds of executions of a statement.
    pub const EXECUTION_S: &'static str = "execution seconds";
    /// Rows examined by executions of a statement.
    pub const ROWS_EXAMINED: &'static str = "rows examined";
    pub const CHECKPOINTS_TIMED: &'static str = "timed checkpoints";
    /// Checkpoints requested early, because of the amount of log or by command.
    pub const CHECKPOINTS_REQUESTED: &'static str = "requested checkpoints";
    /// Reads, writes and extends of autovacuum.
    pub const AUTOVACUUM: &'static str = "operations of autovacuum";
    /// Writes of single pages by sessions instead of background processes.
    pub const SESSION_WRITES: &'static str = "writes of sessions";
    /// Waits of sessions for room in the log buffer.
    pub const LOG_BUFFER_WAITS: &'static str = "waits for the log buffer";
    /// Waits of sessions for a free page in the buffer pool.
    pub const FREE_PAGE_WAITS: &'static str = "waits for free pages";
}

/// Counters of a scope at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// An index into [`Reading::scopes`].
    pub scope: u32,
    /// Its time, by its own clock.
    pub at: Option<DateTime>,
    pub age: Option<Span>,
    pub counts: Vec<Count>,
    /// Its place in the input.
    pub origin: Origin,
}

impl Snapshot {
    /// A copy with the counters moved out.
    pub(crate) fn take_counts(&mut self) -> Self {
        let counts = std::mem::take(&mut self.counts);
        Self { counts, origin: self.origin.clone(), ..*self }
    }

    /// The value of a counter; snapshots of a format usually have the same order.
    pub(crate) fn value(&self, counted: &Counted, index: usize) -> Option<f64> {
        let same = self.counts.get(index).filter(|count| count.counted == *counted);
        same.or_else(|| self.counts.iter().find(|count| count.counted == *counted)).map(|count| count.value)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Count {
    pub counted: Counted,
    pub value: f64,
    /// The value at which it wraps to zero, if any.
    pub wraps_at: Option<f64>,
    /// Its place in the input.
    pub origin: Origin,
}

/// The quantity of a counter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counted {
    Operations(Class),
    /// Bytes of a class.
    Bytes(Class),
    /// Seconds of operations of a class, each counted separately.
    OperationSeconds(Class),
    /// Seconds weighted by the operations in flight.
    QueueSeconds(Class),
    /// Seconds with operations in flight.
    BusySeconds(Class),
    /// Seconds of sessions, working or waiting.
    DatabaseSeconds,
    /// Seconds of sessions on a processor.
    ProcessorSeconds,
    /// Committed transactions.
    Commits,
    /// Waits of sessions for an event.
    Waits(String),
    /// Seconds of sessions waiting for an event.
    WaitSeconds(String),
    /// Other counts: see [`WindowCount`].
    Tally(&'static str),
    /// Seconds in which the demand exceeded a limit of storage, with the provider's name of the counter.
    ExceededSeconds(CapLimit, &'static str),
    /// Operations of a class with a latency in a bin.
    Latencies(Class, LatencyBin),
}

impl Counted {
    /// True for seconds of operations or devices, which kernels occasionally decrease.
    pub(crate) fn is_time(&self) -> bool {
        matches!(self, Self::OperationSeconds(_) | Self::QueueSeconds(_) | Self::BusySeconds(_))
    }
}

/// A database's estimate of its reads with another size of its buffer cache.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheAdvice {
    /// An index into [`Reading::scopes`].
    pub scope: u32,
    /// An index into [`Reading::windows`].
    pub window: u32,
    /// The cache; `D` is the default one.
    pub pool: String,
    /// Bytes of the cache.
    pub size_bytes: f64,
    /// The ratio of this size to the present one.
    pub size_factor: f64,
    /// The ratio of physical reads to those at the present size.
    pub read_factor: f64,
    /// Physical reads in the window.
    pub reads: f64,
    /// Its place in the input.
    pub origin: Origin,
}

/// The miss ratio of a cache in front of the storage by its size: least recently used pages, including written ones. It
/// follows from the operations themselves, while [`CacheAdvice`] is a database's estimate.
#[derive(Clone, Debug, PartialEq)]
pub struct MissCurve {
    /// An index into [`Reading::scopes`].
    pub scope: u32,
    /// An index into [`Reading::windows`].
    pub window: u32,
    /// Reads of pages, or of objects.
    pub reads: f64,
    /// Distinct bytes read or written.
    pub working_set_bytes: f64,
    /// Share of sampled pages, 0 to 1: below 1 the curve is an estimate.
    pub sampled: f64,
    /// Bytes of a cache, ascending from 0, with its miss ratio (0 to 1, never rising). Beyond the last size the ratio
    /// is constant: those pages are read once. Empty without reads.
    pub points: Vec<(f64, f64)>,
    /// Its place in the input.
    pub origin: Origin,
}

impl MissCurve {
    /// The miss ratio of a cache of `cache_bytes`; none without reads.
    pub fn ratio(&self, cache_bytes: f64) -> Option<f64> {
        self.points.iter().rev().find(|(bytes, _)| *bytes <= cache_bytes).map(|(_, ratio)| *ratio)
    }
}

/// A provider's metric of a limit: operations beyond it are delayed, so that the rate is not the demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapEvidence {
    /// An index into [`Reading::scopes`].
    pub scope: u32,
    /// Its name in the input.
    pub metric: String,
    pub limit: CapLimit,
    /// Begins of the windows in which the limit was reached, where known: the first [`CapEvidence::MAX_REACHED`].
    pub reached: Vec<DateTime>,
    /// Number of windows in which it was reached.
    pub points: usize,
    /// Number of all windows of the metric.
    pub of: usize,
    /// Length of each window, if they are equally long.
    pub each: Option<Span>,
    /// Time above the limit, and all time of the metric, where the provider counts time.
    pub time: Option<[Span; 2]>,
    /// The place of its first value.
    pub origin: Origin,
}

impl CapEvidence {
    /// Maximum begins of a metric.
    pub const MAX_REACHED: usize = 1 << 20;
}

/// A limit of storage as its provider reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CapLimit {
    /// The service that measures it, such as `EBS`.
    pub provider: &'static str,
    pub owner: CapOwner,
    /// The limited quantity.
    pub kind: CapKind,
    /// The way in which the limit is reported.
    pub basis: CapBasis,
}

/// The owner of a limit. A faster volume does not raise the limit of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CapOwner {
    Volume,
    /// The machine (instance) that the volume is attached to.
    Machine,
    /// Not stated by the metric.
    Unknown,
}

/// The quantity that a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CapKind {
    Operations,
    /// Bytes.
    Bytes,
    /// Not stated by the metric.
    Either,
}

/// The way in which a provider reports a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CapBasis {
    /// Time, checks or operations above the limit.
    Exceeded,
    /// Share of the limit in use.
    Share,
    /// Burst credits are used up: the limit is that without burst.
    Credits,
    /// Operations did not complete at all: a fault of the storage, not a limit.
    Stalled,
}

/// A range of latencies in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LatencyBin {
    pub lower_us: u64,
    pub upper_us: u64,
}

/// Latencies of single operations over all windows of an input.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyHistogram {
    /// An index into [`Reading::scopes`].
    pub scope: u32,
    /// The purpose of the operations.
    pub class: Class,
    /// Operations in each bin.
    pub bins: BTreeMap<LatencyBin, f64>,
}

impl LatencyHistogram {
    /// Bounds in seconds of the latency that a share of the operations does not exceed; none without operations.
    pub fn quantile_s(bins: &BTreeMap<LatencyBin, f64>, share: f64) -> Option<[f64; 2]> {
        let all: f64 = bins.values().sum();
        let mut passed = 0.0;
        let reached = bins.iter().find(|(_, count)| {
            passed += **count;
            **count > 0.0 && passed >= share * all * (1.0 - 1e-12)
        });
        reached.map(|(bin, _)| [bin.lower_us, bin.upper_us].map(|micros| micros as f64 / 1e6))
    }
}

/// A disk over several paths, of which the paths of a single group are in use at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multipath {
    /// An index into [`Reading::scopes`]: its host.
    pub scope: u32,
    /// Its name, such as `mpatha`.
    pub name: String,
    /// Number of paths in each group, in the order of their use.
    pub groups: Vec<u32>,
    /// Operations that a path has in flight at most, if known.
    pub queue_depth: Option<u32>,
}

/// A figure's averaging window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadingWindow {
    /// Its begin in the report's own time; reports seldom name their time zone.
    pub begin: Option<DateTime>,
    /// Its length, which hides shorter peaks.
    pub length: Span,
}

/// The parts of a window that joins several windows of the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JoinedWindow {
    /// Length of the longest of them.
    pub longest: Span,
    /// Their number.
    pub count: u32,
}

/// The relation of a figure to its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Statistic {
    /// The mean over the window.
    Mean,
    /// The maximum of shorter windows inside it; maxima of several volumes do not add up.
    Maximum,
}

/// The purpose of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Single blocks of data files, by index.
    RandomRead,
    /// Multi-block reads: scans, direct reads.
    SequentialRead,
    /// Reads of unknown kind.
    Read,
    /// Data files, in the background: checkpoints, database writers.
    DataWrite,
    /// The log that commits wait for: redo, WAL.
    RedoWrite,
    /// Reads of sorts and hashes that exceed memory.
    TempRead,
    /// Writes of sorts and hashes that exceed memory.
    TempWrite,
    /// Copies of logs.
    Archive,
    /// Reads of backups and copies, where they are counted apart from those of the database.
    BackupRead,
    Backup,
    /// Control files, and everything without another class.
    Other,
    /// Writes of unknown kind.
    Write,
    /// Large writes apart from those of the database writers, the log and sorts: archived logs, backups, direct loads.
    BulkWrite,
    /// Commands that make data durable (flush).
    Flush,
    /// Discarded space (discard, trim).
    Discard,
    All,
}

impl Class {
    /// Every class in display order.
    pub const ALL: [Self; 16] = [
        Self::All,
        Self::Read,
        Self::RandomRead,
        Self::SequentialRead,
        Self::TempRead,
        Self::BackupRead,
        Self::Write,
        Self::DataWrite,
        Self::RedoWrite,
        Self::TempWrite,
        Self::BulkWrite,
        Self::Archive,
        Self::Backup,
        Self::Other,
        Self::Flush,
        Self::Discard,
    ];

    /// The class in a sentence, in the language of the reader.
    pub fn label(self) -> &'static str {
        match self {
            Self::RandomRead => label!("random reads"),
            Self::SequentialRead => label!("sequential reads"),
            Self::Read => label!("reads"),
            Self::DataWrite => label!("data writes"),
            Self::RedoWrite => label!("redo"),
            Self::TempRead => label!("temp reads"),
            Self::TempWrite => label!("temp writes"),
            Self::BulkWrite => label!("bulk writes"),
            Self::Archive => label!("archive"),
            Self::BackupRead => label!("backup reads"),
            Self::Backup => label!("backup"),
            Self::Other => label!("other"),
            Self::Write => label!("writes"),
            Self::Flush => label!("flushes"),
            Self::Discard => label!("discards"),
            Self::All => label!("all"),
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::RandomRead => "random reads",
            Self::SequentialRead => "sequential reads",
            Self::Read => "reads",
            Self::DataWrite => "data writes",
            Self::RedoWrite => "redo",
            Self::TempRead => "temp reads",
            Self::TempWrite => "temp writes",
            Self::BulkWrite => "bulk writes",
            Self::Archive => "archive",
            Self::BackupRead => "backup reads",
            Self::Backup => "backup",
            Self::Other => "other",
            Self::Write => "writes",
            Self::Flush => "flushes",
            Self::Discard => "discards",
            Self::All => "all",
        }
    }
}

/// The quantity of a figure, with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// Operations a second.
    Iops,
    /// Bytes a second.
    Throughput,
    /// Mean bytes of an operation.
    Size,
    /// Mean seconds from request to answer.
    Latency,
    /// Mean operations in flight.
    Depth,
    /// Share of the window with operations in flight, 0 to 1. Not a measure of saturation on parallel devices.
    Busy,
}

/// The place of a figure in its input.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// The line, from 1; 0 if the input has no lines.
    pub line: u64,
    /// The table or section, if any.
    pub table: Option<Arc<str>>,
    /// Row and column, counter or path; empty for the whole line or table.
    pub field: Arc<str>,
}

impl Origin {
    pub fn line(line: u64) -> Self {
        Self { line, ..Self::default() }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut gap = "";
        if self.line > 0 {
            f.write_str(&say!("line {}", self.line))?;
            gap = label!(", ");
        }
        if let Some(table) = &self.table {
            write!(f, "{gap}{table}")?;
            gap = ": ";
        }
        if self.field.is_empty() { Ok(()) } else { write!(f, "{gap}{}", self.field) }
    }
}

/// A number with its meaning and place.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// An index into [`Reading::scopes`].
    pub scope: u32,
    /// An index into [`Reading::windows`].
    pub window: u32,
    /// The purpose of the operations.
    pub class: Class,
    pub measure: Measure,
    /// Mean or maximum.
    pub statistic: Statistic,
    /// The value in the measure's unit.
    pub value: f64,
    /// Its place in the input.
    pub origin: Origin,
}

/// The distribution of a class and measure over the windows of some scopes, added up within each window.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadingDistribution {
    /// Indices into [`Reading::scopes`].
    pub scopes: BTreeSet<u32>,
    /// The purpose of the operations.
    pub class: Class,
    pub measure: Measure,
    /// Its means of windows over time.
    pub distribution: ValueDistribution,
}

/// The result of a load. Values that the input lacks are absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadingEvidence {
    /// An index into [`Reading::scopes`].
    pub scope: u32,
    /// The program's name of the test.
    pub test: String,
    /// The parameters of the load.
    pub setting: Setting,
    /// Operations a second.
    pub iops: Option<f64>,
    /// Bytes a second.
    pub bytes_s: Option<f64>,
    /// Transactions per second of database benchmarks, which do not describe the storage.
    pub transactions_s: Option<f64>,
    /// Mean latency in seconds; of transactions, if these are counted.
    pub mean_s: Option<f64>,
    /// Latencies in seconds by quantile, 0 to 1, ascending.
    pub quantiles: Vec<(f64, f64)>,
    /// Its length in seconds.
    pub lasted_s: Option<f64>,
    /// Seconds from the begin of the test to that of this interval; none for a whole test.
    pub at_s: Option<f64>,
    /// How the program offered the load.
    pub offering: Offering,
    /// Doubts about the result that follow from its own output.
    pub findings: Vec<Finding>,
    /// It is a part of another result of the input: a direction of a job, or a job of a group.
    pub is_part: bool,
    /// Its place in the input.
    pub origin: Origin,
}

impl ReadingEvidence {
    /// The name of the test in the language of the reader.
    pub fn label(&self) -> String {
        match self.test.rsplit_once(", its ") {
            Some((of, direction)) => say!("{of}, its {}", translate(direction)),
            None => translate(&self.test).to_owned(),
        }
    }

    /// A result without values.
    pub fn new(scope: u32, test: impl Into<String>, origin: Origin) -> Self {
        Self { scope, test: test.into(), origin, ..Self::default() }
    }
}

/// How a benchmark offered its load, as far as its output states it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Offering {
    /// Its I/O engine, such as `libaio`.
    pub engine: Option<String>,
    /// Direct I/O; otherwise through the page cache.
    pub direct: Option<bool>,
    /// Operations a second that it offered by the clock; none for a closed load.
    pub rate: Option<f64>,
    /// Bytes of the accessed range.
    pub space_bytes: Option<f64>,
    /// Writes complete when durable.
    pub durable: bool,
    /// Writes before a flush; none without flushes.
    pub flush_every: Option<u32>,
}

/// The parameters of a benchmark's load.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setting {
    /// Share of reads, 0 to 1.
    pub reads: Option<f64>,
    /// True for consecutive addresses, false for random ones.
    pub sequential: Option<bool>,
    /// Bytes of an operation.
    pub block_bytes: Option<f64>,
    /// Operations in flight, of all threads together.
    pub depth: Option<f64>,
    /// Threads, processes or sessions.
    pub threads: Option<f64>,
}

//! Observations of a database: its configuration, its counters, and the time of its transactions.

use std::fmt;

use plimsoll_units::{Bytes, Span};
use serde::{Deserialize, Serialize};

use crate::figures::{Knee, LoadLine};
use crate::run::{CpuTime, Run};
use crate::stored;
use crate::tally::Tally;

/// Description of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DatabaseAbout {
    /// Product, such as `PostgreSQL` or `MariaDB`.
    pub system: String,
    /// Version.
    pub version: String,
    /// Block size of the data files in bytes.
    pub block: Bytes,
    /// Size of the database's buffer cache in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Bytes>,
    /// Data files bypass the host's page cache; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct: Option<bool>,
    /// Memory limit in bytes of the server including the page cache of its files; absent if unlimited or unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// Commits are durable before they are acknowledged; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durable: Option<bool>,
    /// Data directory, if on this host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Created for the run, and removed afterwards.
    #[serde(default, rename = "made")]
    pub created: bool,
    /// Settings relevant for storage, as `(name, value)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<(String, String)>,
}

/// Counters of a database, since its start or over an interval. Unknown counters are absent, never zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DatabaseCounters {
    /// Blocks found in the buffer cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hits: Option<u64>,
    /// Blocks requested from the operating system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<u64>,
    /// Total time of these reads over all sessions, in nanoseconds.
    #[serde(rename = "read_time_ns", skip_serializing_if = "Option::is_none")]
    pub read_time: Option<Span>,
    /// Blocks written by any process of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<u64>,
    /// Bytes written to the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_bytes: Option<u64>,
    /// Flushes of the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_flushes: Option<u64>,
    /// Total time of log flushes, in nanoseconds.
    #[serde(rename = "log_flush_time_ns", skip_serializing_if = "Option::is_none")]
    pub log_flush_time: Option<Span>,
    /// Committed transactions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commits: Option<u64>,
    /// Time that sessions waited for locks, in nanoseconds.
    #[serde(rename = "lock_time_ns", skip_serializing_if = "Option::is_none")]
    pub lock_time: Option<Span>,
    /// Bytes that the server's processes read from storage, without cache hits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetched_bytes: Option<u64>,
    /// Processor time of the server's processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuTime>,
}

impl DatabaseCounters {
    /// Difference to an earlier reading; counters that decreased (after a restart) are absent.
    pub fn since(&self, before: &Self) -> Self {
        let count = |now: Option<u64>, then: Option<u64>| now?.checked_sub(then?);
        let time = |now: Option<Span>, then: Option<Span>| {
            Some(Span::from_nanos(now?.as_nanos().checked_sub(then?.as_nanos())?))
        };
        let cpu = |now: CpuTime, then: CpuTime| {
            Some(CpuTime {
                user: time(Some(now.user), Some(then.user))?,
                system: time(Some(now.system), Some(then.system))?,
            })
        };
        Self {
            hits: count(self.hits, before.hits),
            reads: count(self.reads, before.reads),
            read_time: time(self.read_time, before.read_time),
            writes: count(self.writes, before.writes),
            log_bytes: count(self.log_bytes, before.log_bytes),
            log_flushes: count(self.log_flushes, before.log_flushes),
            log_flush_time: time(self.log_flush_time, before.log_flush_time),
            commits: count(self.commits, before.commits),
            lock_time: time(self.lock_time, before.lock_time),
            fetched_bytes: count(self.fetched_bytes, before.fetched_bytes),
            cpu: self.cpu.zip(before.cpu).and_then(|(now, then)| cpu(now, then)),
        }
    }

    /// Extrapolation to `share` times the interval.
    pub fn scaled(&self, share: f64) -> Self {
        let count = |value: Option<u64>| value.map(|value| (value as f64 * share).round() as u64);
        let time = |value: Option<Span>| value.map(|value| Span::from_secs_f64(value.as_secs_f64() * share));
        let cpu = |cpu: CpuTime| Some(CpuTime { user: time(Some(cpu.user))?, system: time(Some(cpu.system))? });
        Self {
            hits: count(self.hits),
            reads: count(self.reads),
            read_time: time(self.read_time),
            writes: count(self.writes),
            log_bytes: count(self.log_bytes),
            log_flushes: count(self.log_flushes),
            log_flush_time: time(self.log_flush_time),
            commits: count(self.commits),
            lock_time: time(self.lock_time),
            fetched_bytes: count(self.fetched_bytes),
            cpu: self.cpu.and_then(cpu),
        }
    }

    /// Mean time of a read, as measured by the database.
    pub fn read_latency(&self) -> Option<Span> {
        Some(Span::from_nanos(self.read_time?.as_nanos().checked_div(self.reads?)?))
    }

    /// Mean time of a log flush.
    pub fn log_flush_latency(&self) -> Option<Span> {
        Some(Span::from_nanos(self.log_flush_time?.as_nanos().checked_div(self.log_flushes?)?))
    }
}

/// Counters of a block device, since it appeared or over an interval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiskCounters {
    /// Device name, such as `nvme0n1`.
    pub device: String,
    /// Completed reads.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Total time of all reads, in nanoseconds.
    #[serde(rename = "read_time_ns")]
    pub read_time: Span,
    /// Completed writes.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Total time of all writes, in nanoseconds.
    #[serde(rename = "write_time_ns")]
    pub write_time: Span,
    /// Completed flushes.
    pub flushes: u64,
    /// Total time of all flushes, in nanoseconds.
    #[serde(rename = "flush_time_ns")]
    pub flush_time: Span,
    /// Time with at least one operation in flight, in nanoseconds.
    #[serde(rename = "busy_ns")]
    pub busy: Span,
}

impl DiskCounters {
    /// Difference to an earlier reading. `None` for different devices, or if the device was replaced or reset.
    pub fn since(&self, before: &Self) -> Option<Self> {
        if self.device != before.device {
            return None;
        }
        Some(Self {
            device: self.device.clone(),
            reads: self.reads.checked_sub(before.reads)?,
            read_bytes: self.read_bytes.checked_sub(before.read_bytes)?,
            read_time: wrapped(self.read_time, before.read_time),
            writes: self.writes.checked_sub(before.writes)?,
            written_bytes: self.written_bytes.checked_sub(before.written_bytes)?,
            write_time: wrapped(self.write_time, before.write_time),
            flushes: self.flushes.checked_sub(before.flushes)?,
            flush_time: wrapped(self.flush_time, before.flush_time),
            busy: wrapped(self.busy, before.busy),
        })
    }

    /// Mean response time of a read.
    pub fn read_latency(&self) -> Option<Span> {
        mean(self.read_time, self.reads)
    }

    /// Mean response time of a write.
    pub fn write_latency(&self) -> Option<Span> {
        mean(self.write_time, self.writes)
    }

    /// Mean response time of a flush.
    pub fn flush_latency(&self) -> Option<Span> {
        mean(self.flush_time, self.flushes)
    }
}

fn mean(time: Span, count: u64) -> Option<Span> {
    Some(Span::from_nanos(time.as_nanos().checked_div(count)?))
}

/// Difference of Linux's 32-bit millisecond counters, which wrap after 50 days.
fn wrapped(now: Span, then: Span) -> Span {
    const ROUND: Span = Span::from_millis(1 << 32);
    if now >= then { now - then } else { now + ROUND - then }
}

/// Processor time of a host, summed over all processors, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostTime {
    /// Busy, in any process.
    #[serde(rename = "busy_ns")]
    pub busy: Span,
    /// Idle with I/O outstanding.
    #[serde(rename = "waiting_ns")]
    pub waiting: Span,
    /// Idle.
    #[serde(rename = "idle_ns")]
    pub idle: Span,
    /// Stolen by the hypervisor.
    #[serde(rename = "stolen_ns")]
    pub stolen: Span,
}

impl HostTime {
    /// Sum of all states.
    pub fn total(&self) -> Span {
        self.busy + self.waiting + self.idle + self.stolen
    }

    /// Difference to an earlier reading. The kernel's iowait may decrease; the difference is zero then.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            busy: self.busy - before.busy,
            waiting: self.waiting - before.waiting,
            idle: self.idle - before.idle,
            stolen: self.stolen - before.stolen,
        }
    }
}

/// Activity of the storage during a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StorageSide {
    /// Counters of the device of the data files; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskCounters>,
    /// Processor time of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostTime>,
    /// On an emulated volume, the binding limits of its replies, as `[name, share of operations]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound_by: Vec<(String, f64)>,
}

impl StorageSide {
    /// Share of blocks (of `block` bytes) read by the database that were served by the page cache, 0 to 1. Uses the
    /// bytes read by its own processes if known, otherwise those of the device.
    pub fn page_cache_share(&self, counted: &DatabaseCounters, block: Bytes) -> Option<f64> {
        let requested = counted.reads?.saturating_mul(block.get());
        let fetched = counted.fetched_bytes.or_else(|| Some(self.disk.as_ref()?.read_bytes))?;
        (requested > 0).then(|| (1.0 - fetched as f64 / requested as f64).clamp(0.0, 1.0))
    }

    /// Extrapolation to `share` times the interval.
    pub fn scaled(&self, share: f64) -> Self {
        let time = |span: Span| Span::from_secs_f64(span.as_secs_f64() * share);
        let count = |count: u64| (count as f64 * share).round() as u64;
        let disk = |disk: &DiskCounters| DiskCounters {
            device: disk.device.clone(),
            reads: count(disk.reads),
            read_bytes: count(disk.read_bytes),
            read_time: time(disk.read_time),
            writes: count(disk.writes),
            written_bytes: count(disk.written_bytes),
            write_time: time(disk.write_time),
            flushes: count(disk.flushes),
            flush_time: time(disk.flush_time),
            busy: time(disk.busy),
        };
        let host = |host: HostTime| HostTime {
            busy: time(host.busy),
            waiting: time(host.waiting),
            idle: time(host.idle),
            stolen: time(host.stolen),
        };
        Self { disk: self.disk.as_ref().map(disk), host: self.host.map(host), bound_by: self.bound_by.clone() }
    }
}

/// State of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Spent {
    /// Running on a processor, or waiting for a processor.
    Processor,
    /// Waiting for reads of data blocks.
    Reading,
    /// Waiting for writes of data blocks.
    Writing,
    /// Waiting for the log at commit.
    Committing,
    /// Waiting for locks.
    Locked,
    /// Waiting inside the server: latches, blocks being read by other sessions.
    Internal,
    /// Waiting for the client.
    Client,
    /// Other.
    Other,
}

impl Spent {
    /// All states, in order of declaration.
    pub const ALL: [Self; 8] = [
        Self::Processor,
        Self::Reading,
        Self::Writing,
        Self::Committing,
        Self::Locked,
        Self::Internal,
        Self::Client,
        Self::Other,
    ];
}

/// Distribution of the time of sessions over states.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionTimes {
    /// Shares of the time of all sessions; their sum is 1.
    pub shares: Vec<(Spent, f64)>,
    /// Method, such as `1,200 looks at 8 sessions`.
    pub method: String,
}

/// The resource that limits concurrent sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum SessionLimit {
    /// A description in a file of an earlier version.
    Text {
        /// The description.
        text: String,
    },
    /// Locks that other transactions hold.
    Locks,
    /// All processors of the host.
    HostProcessors,
    /// A stage of the emulated volume.
    Stage {
        /// Its name.
        stage: String,
    },
    /// A device that was never idle.
    Device {
        /// Its name.
        device: String,
    },
    /// Flushes of the log.
    Commits,
    /// Reads: each session waits for one.
    Reads,
    /// Work of each session on a single processor.
    SessionProcessor,
    /// Latches inside the server.
    Latches,
    /// The client.
    Client,
}

impl From<String> for SessionLimit {
    fn from(text: String) -> Self {
        Self::Text { text }
    }
}

impl fmt::Display for SessionLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { text: name } | Self::Stage { stage: name } => f.write_str(name),
            Self::Device { device } => write!(f, "{device}, which was never idle"),
            Self::Locks => f.write_str("locks that other transactions hold"),
            Self::HostProcessors => f.write_str("processors of the host"),
            Self::Commits => f.write_str("commits: flushes of the log"),
            Self::Reads => f.write_str("reads, as many at once as there are sessions"),
            Self::SessionProcessor => f.write_str("work on processors, a session at a time"),
            Self::Latches => f.write_str("latches inside the server"),
            Self::Client => f.write_str("the client"),
        }
    }
}

/// Concurrent sessions: a load, its results, and the activity of database and storage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionRun {
    /// Number of connected sessions.
    pub sessions: u32,
    /// Kind of each stream of the run, in order.
    pub kinds: Vec<String>,
    /// Transactions, or units of work, as a run; response times as observed by a session.
    pub run: Run,
    /// Separately timed parts of these transactions during the measured time, such as commits of updates.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub parts: Tally,
    /// Counters of the database over the measured time.
    pub counted: DatabaseCounters,
    /// Activity of the storage over the measured time.
    pub storage: StorageSide,
    /// Distribution of session time over the measured time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<SessionTimes>,
    /// Processor time of this program over the measured time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<CpuTime>,
    /// The binding limit, if known.
    #[serde(default, deserialize_with = "stored::read_optional", skip_serializing_if = "Option::is_none")]
    pub limit: Option<SessionLimit>,
    /// Changes during the run, as `[nanoseconds from the start of its series, description]`, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<(Span, String)>,
}

fn is_nothing(tally: &Tally) -> bool {
    tally.0.is_empty()
}

/// A delay and a queue: the model of a closed load on a single station.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DelayAndQueue {
    /// Service demand of a transaction at the binding station, in nanoseconds.
    #[serde(rename = "demand_ns")]
    pub demand: Span,
    /// Time of a transaction outside of that station, in nanoseconds.
    #[serde(rename = "delay_ns")]
    pub delay: Span,
    /// Largest relative error of the predicted throughput over the fitted points.
    pub error: f64,
}

/// Results of a database suite besides its steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DatabaseSide {
    /// Description of the database.
    pub about: DatabaseAbout,
    /// Load in sessions beyond which latency grows faster than the transaction rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee: Option<Knee>,
    /// Highest transaction rate within the objective.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_line: Option<LoadLine>,
    /// Fitted model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitted: Option<DelayAndQueue>,
    /// File of snapshots for `plimsoll diagnose` and `plimsoll size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshots: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(reads: u64, read_ms: u64, flushes: u64) -> DiskCounters {
        DiskCounters {
            device: "vda".into(),
            reads,
            read_bytes: reads * 8192,
            read_time: Span::from_millis(read_ms),
            flushes,
            flush_time: Span::from_millis(flushes * 2),
            ..DiskCounters::default()
        }
    }

    #[test]
    fn difference_of_disk_counters() {
        let did = disk(110, 250, 7).since(&disk(100, 200, 3)).unwrap();
        assert_eq!(did, disk(10, 50, 4));
        assert_eq!((did.read_latency(), did.flush_latency()), (Some(Span::from_millis(5)), Some(Span::from_millis(2))));
        assert_eq!(did.write_latency(), None);
    }

    #[test]
    fn replaced_or_reset_disk_has_no_difference() {
        assert_eq!(disk(5, 250, 7).since(&disk(100, 200, 3)), None);
        let other = DiskCounters { device: "loop3".into(), ..disk(110, 250, 7) };
        assert_eq!(other.since(&disk(100, 200, 3)), None);
    }

    #[test]
    fn wrapped_times_are_continued() {
        let did = disk(110, 40, 3).since(&disk(100, (1 << 32) - 10, 3)).unwrap();
        assert_eq!(did.read_time, Span::from_millis(50));
    }

    #[test]
    fn host_time_never_decreases() {
        let at = |busy, waiting| HostTime {
            busy: Span::from_secs(busy),
            waiting: Span::from_secs(waiting),
            ..HostTime::default()
        };
        assert_eq!(at(9, 3).since(&at(4, 5)), at(5, 0));
    }
}

//! What was seen of a database: what it is, what it counted, and where its transactions' time went.

use plimsoll_units::{Bytes, Span};
use serde::{Deserialize, Serialize};

use crate::figures::{Knee, LoadLine};
use crate::run::{CpuTime, Run};
use crate::tally::Tally;

/// What a database is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DatabaseAbout {
    /// The system, such as `PostgreSQL` or `MariaDB`.
    pub system: String,
    /// Its version.
    pub version: String,
    /// Bytes of a block of its data files.
    pub block: Bytes,
    /// Bytes of its own cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Bytes>,
    /// Its data files pass the host's page cache by; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct: Option<bool>,
    /// Memory that it and the page cache for its files may take together; absent for no limit, or where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// Commits reach the storage before they are answered; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durable: Option<bool>,
    /// Where its data are, when that is on this host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Made for the run, and removed after it.
    #[serde(default)]
    pub made: bool,
    /// Settings that matter for its storage, as `(name, value)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<(String, String)>,
}

/// What a database counted: since it started, or over a time. What is not known is absent, never zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DatabaseCounters {
    /// Blocks of data that it found in its own cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hits: Option<u64>,
    /// Blocks of data that it asked the operating system for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<u64>,
    /// Time that this took, of all sessions, in nanoseconds.
    #[serde(rename = "read_time_ns", skip_serializing_if = "Option::is_none")]
    pub read_time: Option<Span>,
    /// Blocks of data that it wrote, by whichever of its processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<u64>,
    /// Bytes of its log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_bytes: Option<u64>,
    /// Flushes of its log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_flushes: Option<u64>,
    /// Time that these took, in nanoseconds.
    #[serde(rename = "log_flush_time_ns", skip_serializing_if = "Option::is_none")]
    pub log_flush_time: Option<Span>,
    /// Transactions that it committed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commits: Option<u64>,
    /// Time that sessions waited for locks of others, in nanoseconds.
    #[serde(rename = "lock_time_ns", skip_serializing_if = "Option::is_none")]
    pub lock_time: Option<Span>,
    /// Bytes that its processes fetched from storage, past every cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetched_bytes: Option<u64>,
    /// Processor time of its processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuTime>,
}

impl DatabaseCounters {
    /// What was counted between two looks; what went backwards, as after a restart, is absent.
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

    /// What would have been counted in `share` times the time.
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

    /// Mean time of a read as the database sees it.
    pub fn read_latency(&self) -> Option<Span> {
        Some(Span::from_nanos(self.read_time?.as_nanos().checked_div(self.reads?)?))
    }

    /// Mean time of a flush of the log.
    pub fn log_flush_latency(&self) -> Option<Span> {
        Some(Span::from_nanos(self.log_flush_time?.as_nanos().checked_div(self.log_flushes?)?))
    }
}

/// What a block device counted: since it appeared, or over a time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiskCounters {
    /// Its name, such as `nvme0n1`.
    pub device: String,
    /// Reads that it completed.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Time of all reads together, in nanoseconds.
    #[serde(rename = "read_time_ns")]
    pub read_time: Span,
    /// Writes that it completed.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Time of all writes together, in nanoseconds.
    #[serde(rename = "write_time_ns")]
    pub write_time: Span,
    /// Flushes that it completed.
    pub flushes: u64,
    /// Time of all flushes together, in nanoseconds.
    #[serde(rename = "flush_time_ns")]
    pub flush_time: Span,
    /// Time in which something was in flight, in nanoseconds.
    #[serde(rename = "busy_ns")]
    pub busy: Span,
}

impl DiskCounters {
    /// What was counted between two looks at one device. None when it is another one, or was replaced or reset meanwhile.
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

/// Linux keeps these times as milliseconds of 32 bits, which begin anew after 50 days of them.
fn wrapped(now: Span, then: Span) -> Span {
    const ROUND: Span = Span::from_millis(1 << 32);
    if now >= then { now - then } else { now + ROUND - then }
}

/// Processor time of a whole host, in nanoseconds of all its processors together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostTime {
    /// At work, for whomever.
    #[serde(rename = "busy_ns")]
    pub busy: Span,
    /// Idle while somebody waited for storage.
    #[serde(rename = "waiting_ns")]
    pub waiting: Span,
    /// Idle.
    #[serde(rename = "idle_ns")]
    pub idle: Span,
    /// Taken by the hypervisor.
    #[serde(rename = "stolen_ns")]
    pub stolen: Span,
}

impl HostTime {
    /// All of it, of all processors together.
    pub fn whole(&self) -> Span {
        self.busy + self.waiting + self.idle + self.stolen
    }

    /// What passed between two looks. Waiting may go backwards in the kernel's books: it is zero then.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            busy: self.busy - before.busy,
            waiting: self.waiting - before.waiting,
            idle: self.idle - before.idle,
            stolen: self.stolen - before.stolen,
        }
    }
}

/// What the storage showed over the time of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StorageSide {
    /// The device below the data files, over the time; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskCounters>,
    /// The host's processors, over the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostTime>,
    /// On an emulated volume, the limits that held its answers, as `[name, share of operations]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound_by: Vec<(String, f64)>,
}

impl StorageSide {
    /// Share of the blocks of so many bytes that a database asked the operating system for and that did not come from storage,
    /// 0 to 1. What its own processes fetched is known, or what the device read for whomever.
    pub fn page_cache_share(&self, counted: &DatabaseCounters, block: Bytes) -> Option<f64> {
        let asked = counted.reads?.saturating_mul(block.get());
        let fetched = counted.fetched_bytes.or_else(|| Some(self.disk.as_ref()?.read_bytes))?;
        (asked > 0).then(|| (1.0 - fetched as f64 / asked as f64).clamp(0.0, 1.0))
    }

    /// What would have been counted in `share` times the time.
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

/// Where sessions spent their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Spent {
    /// At work on a processor, or waiting for one.
    Processor,
    /// Waiting for blocks of data to be read.
    Reading,
    /// Waiting for blocks of data to be written.
    Writing,
    /// Waiting for the log: commits.
    Committing,
    /// Waiting for locks of others.
    Locked,
    /// Waiting inside the server: latches, blocks that others were reading.
    Internal,
    /// Waiting for the client.
    Client,
    /// Something else.
    Other,
}

impl Spent {
    /// All of them, in their order.
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

/// How the time of sessions divides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Split {
    /// Shares of all sessions' time, adding up to 1.
    pub shares: Vec<(Spent, f64)>,
    /// How it is known, such as `1,200 looks at 8 sessions`.
    pub method: String,
}

/// Sessions side by side: one load, what was seen of it, and what happened below.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionRun {
    /// Sessions that were connected.
    pub sessions: u32,
    /// What the streams of the run are, in their order.
    pub kinds: Vec<String>,
    /// Transactions, or units of work, as one run: response times are those that a session saw.
    pub run: Run,
    /// What was timed by itself inside of these in the measured time, such as the commits of updates.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub parts: Tally,
    /// What the database counted over the measured time of the run.
    pub counted: DatabaseCounters,
    /// What the storage showed over it.
    pub storage: StorageSide,
    /// Where the time of sessions went in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
    /// Processor time of this program over it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<CpuTime>,
    /// The limit that held it, in a few words, as far as it can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// What was changed while it ran, as `[nanoseconds from the beginning of its series, what]`, in the order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<(Span, String)>,
}

fn is_nothing(tally: &Tally) -> bool {
    tally.0.is_empty()
}

/// A delay and one queue: what a closed load of so many sessions gets from a station with this demand.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DelayAndQueue {
    /// What one transaction needs of the station that binds, in nanoseconds.
    #[serde(rename = "demand_ns")]
    pub demand: Span,
    /// What it needs of everything that does not queue, in nanoseconds.
    #[serde(rename = "delay_ns")]
    pub delay: Span,
    /// The largest error of the predicted throughput over the points that it was fitted to, as a share.
    pub error: f64,
}

/// What a suite on a database has beside its steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DatabaseSide {
    /// What the database is.
    pub about: DatabaseAbout,
    /// Where more sessions stop paying, by transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee: Option<Knee>,
    /// How many transactions a second may be asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_line: Option<LoadLine>,
    /// The fitted delay and queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitted: Option<DelayAndQueue>,
    /// The file of snapshots that `plimsoll diagnose` and `plimsoll size` read.
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
    fn two_looks_at_a_disk_give_what_it_did() {
        let did = disk(110, 250, 7).since(&disk(100, 200, 3)).unwrap();
        assert_eq!(did, disk(10, 50, 4));
        assert_eq!((did.read_latency(), did.flush_latency()), (Some(Span::from_millis(5)), Some(Span::from_millis(2))));
        assert_eq!(did.write_latency(), None);
    }

    #[test]
    fn a_disk_that_was_replaced_or_reset_did_nothing_that_is_known() {
        assert_eq!(disk(5, 250, 7).since(&disk(100, 200, 3)), None);
        let other = DiskCounters { device: "loop3".into(), ..disk(110, 250, 7) };
        assert_eq!(other.since(&disk(100, 200, 3)), None);
    }

    #[test]
    fn times_that_begin_anew_are_followed() {
        let did = disk(110, 40, 3).since(&disk(100, (1 << 32) - 10, 3)).unwrap();
        assert_eq!(did.read_time, Span::from_millis(50));
    }

    #[test]
    fn time_of_a_host_never_goes_backwards() {
        let at = |busy, waiting| HostTime {
            busy: Span::from_secs(busy),
            waiting: Span::from_secs(waiting),
            ..HostTime::default()
        };
        assert_eq!(at(9, 3).since(&at(4, 5)), at(5, 0));
    }
}

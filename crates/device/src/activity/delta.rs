//! Difference of two counter snapshots, with units.

use plimsoll_record::CpuTime;
use plimsoll_units::{Bytes, Span};

use super::Activity;
use super::counters::{DiskLine, Process, Processors};

/// Bytes of a sector in `/proc/diskstats`, independent of the device's block size.
pub(super) const SECTOR_BYTES: u64 = 512;

/// Activity between two snapshots. `None` for unknown counters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ActivityDelta {
    /// Time between them.
    pub elapsed: Span,
    /// Disk activity of all processes; `None` if the disk was replaced or its counters were reset.
    pub disk: Option<DiskDelta>,
    /// Busy share of all processors' time, 0 to 1; excludes stolen time.
    pub busy: Option<f64>,
    /// Share of all processors' time that was idle with I/O outstanding, 0 to 1.
    pub waiting: Option<f64>,
    /// Share of all processors' time that the hypervisor gave to other guests, 0 to 1.
    pub stolen: Option<f64>,
    /// Bytes transferred by this process.
    pub process: Option<ProcessDelta>,
    /// Processor time of this process.
    pub own_cpu: CpuTime,
    /// Clock source before and after, if it changed.
    pub clock_changed: Option<(String, String)>,
    /// Processor frequencies before and after.
    pub frequency: Option<Frequency>,
}

/// Difference of a disk's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DiskDelta {
    /// Reads that completed, after merging.
    pub reads: u64,
    /// Writes that completed, after merging.
    pub writes: u64,
    /// Discards that completed (since Linux 4.18).
    pub discards: Option<u64>,
    /// Flushes that completed (since Linux 5.5).
    pub flushes: Option<u64>,
    /// Bytes read.
    pub read: Bytes,
    /// Bytes written.
    pub written: Bytes,
    /// Share of the time in which at least one operation was in flight, 0 to 1.
    pub busy: f64,
    /// Mean number of operations in flight.
    pub in_flight: f64,
    /// Merged reads and merged writes.
    pub merges: [u64; 2],
    /// Total time of all reads and of all writes.
    pub spent: [Span; 2],
}

/// Bytes transferred by this process. `io_uring` may not count in the system call bytes: compare with the load's own
/// count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessDelta {
    /// Bytes returned by read system calls, from cache or storage.
    pub syscall_read: Bytes,
    /// Bytes accepted by write system calls.
    pub syscall_written: Bytes,
    /// Bytes that the storage layer fetched for this process.
    pub storage_read: Bytes,
    /// Bytes that this process caused to be written to storage, immediately or later.
    pub storage_written: Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frequency {
    /// Mean of all processors at the earlier moment, in kHz.
    pub before_khz: u64,
    /// Mean of all processors at the later moment, in kHz.
    pub after_khz: u64,
    /// Smaller over larger frequency of the processor that changed most, 0 to 1. Idle processors change frequency
    /// freely: compare snapshots under load.
    pub ratio: f64,
}

impl Activity {
    /// Activity since `earlier`.
    pub fn since(&self, earlier: &Self) -> ActivityDelta {
        let elapsed = self.taken.saturating_duration_since(earlier.taken);
        let elapsed = Span::from_nanos(elapsed.as_nanos() as u64);
        let processors = self.processors.zip(earlier.processors);
        let share = |of: fn(&Processors) -> u64| processors.and_then(|(now, then)| compute_share(&now, &then, of));
        ActivityDelta {
            elapsed,
            disk: self.disk.zip(earlier.disk).and_then(|(now, then)| subtract_disk(&now, &then, elapsed)),
            busy: share(|ticks| ticks.busy),
            waiting: share(|ticks| ticks.waiting),
            stolen: share(|ticks| ticks.stolen),
            process: self.process.zip(earlier.process).map(|(now, then)| process(&now, &then)),
            own_cpu: self.own_cpu - earlier.own_cpu,
            clock_changed: earlier.clock.clone().zip(self.clock.clone()).filter(|(before, after)| before != after),
            frequency: frequency(&earlier.frequencies_khz, &self.frequencies_khz),
        }
    }
}

impl ActivityDelta {
    /// Share of the bytes requested by this process that the page cache served, 0 to 1; `None` without reads
    /// or counters. A network filesystem that does not count its reads looks like a cache.
    pub fn cached_share(&self, requested: Bytes) -> Option<f64> {
        let fetched = self.process?.storage_read.get() as f64;
        (requested > Bytes::ZERO).then(|| (1.0 - fetched / requested.get() as f64).clamp(0.0, 1.0))
    }

    /// Disk IOPS beyond `own` operations of this process; zero if the disk counted fewer because of merges and caches.
    pub fn others_iops(&self, own: u64) -> Option<f64> {
        let disk = self.disk?;
        let others = (disk.reads + disk.writes).saturating_sub(own);
        (!self.elapsed.is_zero()).then(|| others as f64 / self.elapsed.as_secs_f64())
    }
}

fn subtract_disk(now: &DiskLine, then: &DiskLine, elapsed: Span) -> Option<DiskDelta> {
    let optional = |now: Option<u64>, then: Option<u64>| now.zip(then).and_then(|(now, then)| now.checked_sub(then));
    let sectors = |count: u64| Bytes::new(count.saturating_mul(SECTOR_BYTES));
    let elapsed_ms = elapsed.as_millis_f64();
    let per_elapsed = |ms: u64| if elapsed_ms > 0.0 { ms as f64 / elapsed_ms } else { 0.0 };
    Some(DiskDelta {
        reads: now.reads.checked_sub(then.reads)?,
        writes: now.writes.checked_sub(then.writes)?,
        discards: optional(now.discards, then.discards),
        flushes: optional(now.flushes, then.flushes),
        read: sectors(now.sectors_read.checked_sub(then.sectors_read)?),
        written: sectors(now.sectors_written.checked_sub(then.sectors_written)?),
        busy: per_elapsed(millis(now.busy_ms, then.busy_ms)).min(1.0),
        in_flight: per_elapsed(millis(now.weighted_ms, then.weighted_ms)),
        merges: each(|of| now.merges[of].saturating_sub(then.merges[of])),
        spent: each(|of| Span::from_millis(millis(now.spent_ms[of], then.spent_ms[of]))),
    })
}

/// Evaluates `of` for reads (0) and writes (1).
fn each<T>(of: impl Fn(usize) -> T) -> [T; 2] {
    [of(0), of(1)]
}

/// Difference of a 32-bit millisecond counter of the kernel, which wraps after 50 days.
const fn millis(now: u64, then: u64) -> u64 {
    if now >= then { now - then } else { (now as u32).wrapping_sub(then as u32) as u64 }
}

pub(super) fn compute_share(now: &Processors, then: &Processors, of: fn(&Processors) -> u64) -> Option<f64> {
    let total = now.total().saturating_sub(then.total());
    // iowait may decrease (proc(5)).
    let part = of(now).saturating_sub(of(then));
    (total > 0).then(|| (part as f64 / total as f64).min(1.0))
}

fn process(now: &Process, then: &Process) -> ProcessDelta {
    let bytes = |now: u64, then: u64| Bytes::new(now.saturating_sub(then));
    ProcessDelta {
        syscall_read: bytes(now.syscall_read, then.syscall_read),
        syscall_written: bytes(now.syscall_written, then.syscall_written),
        storage_read: bytes(now.storage_read, then.storage_read),
        storage_written: bytes(now.storage_written, then.storage_written),
    }
}

fn frequency(before: &[u64], after: &[u64]) -> Option<Frequency> {
    let mean = |all: &[u64]| all.iter().sum::<u64>().checked_div(all.len() as u64);
    let ratios = before.iter().zip(after).map(|(b, a)| *b.min(a) as f64 / (*b.max(a)).max(1) as f64);
    let ratio = ratios.fold(1.0, f64::min);
    Some(Frequency { before_khz: mean(before)?, after_khz: mean(after)?, ratio })
}

//! What became of jobs, as plain figures. Knows nothing of how they are printed, and measures nothing.

use plimsoll_record::Bins;
use plimsoll_units::Span;

use super::latency::Latency;
use super::number::Units;

/// All that one report tells: at the end of a run, or while it goes on (`--status-interval`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// What stands in the place of fio's version; see [`version`](super::version).
    pub version: String,
    /// When the report was made, in milliseconds since 1970.
    pub made_unix_ms: u64,
    /// The same moment in local time, as `ctime` writes it: `Sat Nov 21 19:12:56 2026`.
    pub made: String,
    /// Options of the `[global]` section as they were written, in their order.
    pub global_options: Vec<(String, String)>,
    /// Jobs, or groups of jobs, in the order of the job file. Jobs of one group stand together.
    pub jobs: Vec<JobReport>,
    /// What the disks below the files did.
    pub disks: Vec<DiskUse>,
    /// How idle the processors were, where `--idle-prof` asked for it.
    pub idleness: Option<Idleness>,
}

/// What became of one job, or of several that are reported as one (`group_reporting`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobReport {
    /// Name of the job, of the first of several.
    pub name: String,
    /// Number of its group.
    pub group: u32,
    /// Jobs that are in these figures, at least 1.
    pub members: u32,
    /// Process or thread, of the first of several.
    pub pid: u32,
    /// Why the job ended early.
    pub failure: Option<Failure>,
    /// When it began, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// Seconds to its end; 0 when it has ended.
    pub eta_s: u64,
    /// Seconds since the run began, begun ones counted.
    pub elapsed_s: u64,
    /// Options of the job as they were written, in their order.
    pub options: Vec<(String, String)>,
    /// `description` of the job.
    pub description: Option<String>,
    /// Reads.
    pub read: Lane,
    /// Writes.
    pub write: Lane,
    /// Trims.
    pub trim: Lane,
    /// Whether the three are told as one.
    pub unified: Unified,
    /// Times that flushes took; their number is its count.
    pub sync: Latency,
    /// How long the job ran, in milliseconds; the sum of several.
    pub runtime_ms: u64,
    /// Processor time in user mode.
    pub user: Span,
    /// Processor time in the kernel.
    pub system: Span,
    /// Context switches.
    pub switches: u64,
    /// Page faults that waited for a disk.
    pub major_faults: u64,
    /// Page faults that did not.
    pub minor_faults: u64,
    /// How many operations were in flight, handed over and taken back together.
    pub depths: Depths,
    /// Completion latencies counted by fio's limits; worked out of the bins where it is absent.
    pub latency_counts: Option<LatencyCounts>,
    /// Which percentiles are told.
    pub percentiles: Percentiles,
    /// What `latency_target` asked for and found.
    pub target: Target,
    /// Errors of a job that goes on in spite of them (`continue_on_error`), even where there were none.
    pub errors: Option<Errors>,
    /// What `steadystate` found.
    pub steady: Option<SteadyState>,
    /// The units of `kb_base` and `unit_base`, and `significant_figures`.
    pub units: Units,
}

/// One direction of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lane {
    /// Bytes moved.
    pub bytes: u64,
    /// Operations.
    pub operations: u64,
    /// Operations that moved less than asked.
    pub short: u64,
    /// Operations that were dropped.
    pub dropped: u64,
    /// The time that the figures cover, in milliseconds; 0 where nothing was done.
    pub runtime_ms: u64,
    /// Time to hand an operation over (slat).
    pub submission: Latency,
    /// Time from there to its completion (clat).
    pub completion: Latency,
    /// Both together (lat).
    pub total: Latency,
    /// Samples of bandwidth, in KiB (1,024 bytes) a second.
    pub bandwidth: Samples,
    /// Samples of operations a second.
    pub rate: Samples,
}

/// What was seen at regular moments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Samples {
    /// The least.
    pub least: u64,
    /// The most.
    pub most: u64,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, as of a sample.
    pub deviation: f64,
    /// Number of samples.
    pub count: u64,
}

/// `unified_rw_reporting`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unified {
    /// Each direction for itself.
    #[default]
    Apart,
    /// All directions as one.
    Mixed,
    /// Each for itself, and all as one.
    Both,
}

/// Why a job ended early.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// The error's number.
    pub errno: i32,
    /// What failed, in fio's manner: `file:/data/f, func=io_u error, error=Input/output error`.
    pub text: String,
}

/// Counts by how many operations there were at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depths {
    /// Operations that began while so many were in flight: 1, from 2, 4, 8, 16, 32, 64.
    pub level: [u64; 7],
    /// Calls that handed over so many: 0, up to 4, 8, 16, 32, 64, and more.
    pub submitted: [u64; 7],
    /// Calls that took back so many, by the same limits.
    pub completed: [u64; 7],
}

/// Completion latencies counted by limits: each at the least limit that is above it, in whole nanoseconds, microseconds or
/// milliseconds. 10.5 us counts at 20, and 9.9 us at 10.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatencyCounts {
    /// Below one microsecond: 2, 4, 10, 20, 50, 100, 250, 500, 750, 1000 ns.
    pub ns: [u64; 10],
    /// Below one millisecond: the same limits in microseconds.
    pub us: [u64; 10],
    /// From one millisecond: the same limits in milliseconds, 2000, and 2000 or more.
    pub ms: [u64; 12],
}

/// Which percentiles are told, and of what.
#[derive(Clone, Debug, PartialEq)]
pub struct Percentiles {
    /// Percents above 0 and up to 100, ascending; 20 of them have a place in terse lines.
    pub list: Vec<f64>,
    /// Of submission latencies (`slat_percentiles`).
    pub submission: bool,
    /// Of completion latencies (`clat_percentiles`).
    pub completion: bool,
    /// Of total latencies (`lat_percentiles`).
    pub total: bool,
}

impl Default for Percentiles {
    /// fio's own list, of completion latencies.
    fn default() -> Self {
        let list =
            vec![1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];
        Self { list, submission: false, completion: true, total: false }
    }
}

/// `latency_target` and what belongs to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// The latency that was to be held, in nanoseconds; 0 where none was.
    pub latency_ns: u64,
    /// The time over which it was looked at, in microseconds.
    pub window_us: u64,
    /// The percent of operations that were to hold it.
    pub percentile: f64,
    /// The depth that was reached, or simply used.
    pub depth: u32,
}

impl Default for Target {
    fn default() -> Self {
        Self { latency_ns: 0, window_us: 0, percentile: 100.0, depth: 1 }
    }
}

/// Errors that a job went on after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Errors {
    /// Their number.
    pub total: u64,
    /// Number of the first.
    pub first: i32,
    /// The system's words for the first: `Input/output error`.
    pub text: String,
}

/// What `steadystate` found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SteadyState {
    /// What was looked at: `iops`, `bw`, `lat`, `iops_slope` or `bw_slope`.
    pub measure: String,
    /// The limit, in percent or in the measure's unit (bytes a second, nanoseconds).
    pub limit: f64,
    /// True when limit and criterion are percents.
    pub in_percent: bool,
    /// The time over which it had to be steady, in seconds.
    pub duration_s: u64,
    /// True when it was.
    pub attained: bool,
    /// What was found, compared with the limit.
    pub criterion: f64,
    /// The largest deviation from the mean, in the measure's unit.
    pub deviation: f64,
    /// The slope, in the measure's unit a second.
    pub slope: f64,
    /// Bytes a second in each second looked at.
    pub bytes_s: Vec<u64>,
    /// Operations a second in each.
    pub iops: Vec<u64>,
    /// Mean latencies in nanoseconds in each; empty where they were not looked at.
    pub latency_ns: Vec<u64>,
}

/// What a disk did during the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiskUse {
    /// Its name: `sda`.
    pub name: String,
    /// What it did itself.
    pub own: DiskCounts,
    /// What the disks below it did, on average; of devices that are made of others.
    pub below: Option<DiskCounts>,
}

/// Counts of one disk; pairs are of reads and of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DiskCounts {
    /// Operations.
    pub operations: [u64; 2],
    /// Sectors of 512 bytes.
    pub sectors: [u64; 2],
    /// Operations that were merged with others.
    pub merges: [u64; 2],
    /// Time that operations took, in milliseconds.
    pub ticks_ms: [u64; 2],
    /// The same with the time of all in flight added up, in milliseconds.
    pub queue_ms: u64,
    /// The percent of time in which something was in flight.
    pub busy_percent: f64,
}

/// How idle processors were.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Idleness {
    /// All of them, in percent.
    pub system_percent: f64,
    /// Each of them, in percent; empty where only the system was asked for.
    pub each_percent: Vec<f64>,
    /// Mean time of one unit of the work that measured it, in microseconds.
    pub unit_mean_us: f64,
    /// Its standard deviation, in microseconds.
    pub unit_deviation_us: f64,
}

impl JobReport {
    /// A job of that name that did nothing, with fio's defaults.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), members: 1, ..Self::default() }
    }

    /// Reads, writes and trims.
    pub fn lanes(&self) -> [&Lane; 3] {
        [&self.read, &self.write, &self.trim]
    }

    /// Operations of all three.
    pub(super) fn operations(&self) -> u64 {
        self.lanes().iter().map(|lane| lane.operations).sum()
    }

    /// Completion latencies by fio's limits: as counted, or else worked out of the bins, to their width.
    pub(super) fn counts(&self) -> LatencyCounts {
        self.latency_counts.unwrap_or_else(|| {
            let mut counts = LatencyCounts::default();
            for lane in self.lanes() {
                counts.add(&lane.completion.bins);
            }
            counts
        })
    }
}

impl LatencyCounts {
    /// The limits, in nanoseconds, microseconds and, with two more, milliseconds.
    pub(super) const LIMITS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

    /// Counts latencies, each taken as the middle of its bin.
    pub fn add(&mut self, bins: &Bins) {
        let lowest = bins.bins.iter().map(|(lowest, _)| *lowest);
        for (lowest, (highest, count)) in lowest.zip(bins.upper_bounds()) {
            self.count(u64::midpoint(lowest, highest.as_nanos()), count);
        }
    }

    /// Counts `count` latencies of `latency_ns`.
    pub fn count(&mut self, latency_ns: u64, count: u64) {
        let place = |whole: u64| Self::LIMITS.partition_point(|limit| *limit <= whole);
        match latency_ns {
            0..1_000 => self.ns[place(latency_ns)] += count,
            1_000..1_000_000 => self.us[place(latency_ns / 1_000)] += count,
            1_000_000..1_000_000_000 => self.ms[place(latency_ns / 1_000_000)] += count,
            1_000_000_000..2_000_000_000 => self.ms[10] += count,
            _ => self.ms[11] += count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LatencyCounts;

    #[test]
    fn latencies_are_counted_at_the_limit_that_holds_them() {
        fn check(latency_ns: u64, expected: (usize, usize)) {
            let mut counts = LatencyCounts::default();
            counts.count(latency_ns, 1);
            let all: [&[u64]; 3] = [&counts.ns, &counts.us, &counts.ms];
            let place = |counts: &&[u64]| counts.iter().position(|count| *count == 1);
            let found = all.iter().enumerate().find_map(|(unit, counts)| Some((unit, place(counts)?)));
            assert_eq!(found, Some(expected), "{latency_ns}");
        }
        for (latency_ns, expected) in [(0, (0, 0)), (1, (0, 0)), (2, (0, 1)), (3, (0, 1)), (4, (0, 2)), (9, (0, 2))] {
            check(latency_ns, expected);
        }
        for (latency_ns, expected) in [(10, (0, 3)), (249, (0, 6)), (250, (0, 7)), (999, (0, 9)), (1_000, (1, 0))] {
            check(latency_ns, expected);
        }
        for (latency_ns, expected) in [(1_999, (1, 0)), (2_000, (1, 1)), (10_526, (1, 3)), (999_999, (1, 9))] {
            check(latency_ns, expected);
        }
        for (latency_ns, expected) in
            [(1_000_000, (2, 0)), (999_999_999, (2, 9)), (1 << 30, (2, 10)), (1 << 31, (2, 11))]
        {
            check(latency_ns, expected);
        }
    }
}

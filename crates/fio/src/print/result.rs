//! Results of jobs as plain figures.

use plimsoll_record::Bins;
use plimsoll_units::Span;

use super::latency::LatencyHistogram;
use super::number::Units;

/// A report, at the end of a run or during it (`--status-interval`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioReport {
    /// Replacement of fio's version; see [`version`](super::version).
    pub version: String,
    /// Time of the report, in milliseconds since 1970.
    pub made_unix_ms: u64,
    /// The same in local time, in the format of `ctime`: `Sat Nov 21 19:12:56 2026`.
    pub created: String,
    /// Options of the `[global]` section as written, in order.
    pub global_options: Vec<(String, String)>,
    /// Jobs or groups of jobs, in the order of the job file; jobs of a group are adjacent.
    pub jobs: Vec<JobReport>,
    /// Utilisation of the disks below the files.
    pub disks: Vec<DiskUse>,
    /// Idleness of the processors, with `--idle-prof`.
    pub idleness: Option<Idleness>,
}

/// Result of a job, or of several aggregated jobs (`group_reporting`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobReport {
    /// Name of the (first) job.
    pub name: String,
    pub group: u32,
    /// Number of jobs in these figures, at least 1.
    pub members: u32,
    /// Process or thread of the (first) job.
    pub pid: u32,
    /// The reason of an early end.
    pub failure: Option<Failure>,
    /// Start, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// Remaining seconds; 0 after its end.
    pub eta_s: u64,
    /// Seconds since the start of the run, rounded up.
    pub elapsed_s: u64,
    /// Options of the job as written, in order.
    pub options: Vec<(String, String)>,
    /// `description` of the job.
    pub description: Option<String>,
    pub read: DirectionResult,
    pub write: DirectionResult,
    pub trim: DirectionResult,
    /// Reporting of the directions.
    pub unified: Unified,
    /// Times of the flushes.
    pub sync: LatencyHistogram,
    /// Runtime in milliseconds, summed over aggregated jobs.
    pub runtime_ms: u64,
    /// Processor time in user mode.
    pub user: Span,
    /// Processor time in the kernel.
    pub system: Span,
    pub switches: u64,
    pub major_faults: u64,
    pub minor_faults: u64,
    /// Distribution of queue depths and batch sizes.
    pub depths: Depths,
    /// Completion latencies by fio's limits; derived from the bins if absent.
    pub latency_counts: Option<LatencyCounts>,
    pub percentiles: Percentiles,
    /// Request and result of `latency_target`.
    pub target: LatencyTarget,
    /// Errors of a job with `continue_on_error`, present even if there were none.
    pub errors: Option<Errors>,
    /// Result of `steadystate`.
    pub steady: Option<SteadyState>,
    /// The units of `kb_base` and `unit_base`, and `significant_figures`.
    pub units: Units,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectionResult {
    /// Bytes moved.
    pub bytes: u64,
    pub operations: u64,
    /// Operations with short transfers.
    pub short: u64,
    /// Operations that were dropped.
    pub dropped: u64,
    /// Time covered by the figures, in milliseconds; 0 without operations.
    pub runtime_ms: u64,
    /// Submission latency (slat).
    pub submission: LatencyHistogram,
    /// Completion latency (clat).
    pub completion: LatencyHistogram,
    /// Total latency (lat).
    pub total: LatencyHistogram,
    /// Bandwidth samples in KiB/s (1,024 bytes).
    pub bandwidth: SampleStatistics,
    /// IOPS samples.
    pub rate: SampleStatistics,
}

/// Statistics of samples at regular intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SampleStatistics {
    pub least: u64,
    pub max: u64,
    pub mean: f64,
    /// Sample standard deviation.
    pub deviation: f64,
    /// Number of samples.
    pub count: u64,
}

/// `unified_rw_reporting`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unified {
    /// Each direction separately.
    #[default]
    Apart,
    /// All directions combined.
    Mixed,
    Both,
}

/// The reason of the early end of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// The `errno`.
    pub errno: i32,
    /// Description in fio's format: `file:/data/f, func=io_u error, error=Input/output error`.
    pub text: String,
}

/// Distribution of queue depths and batch sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depths {
    /// Operations by queue depth at submission: 1, from 2, 4, 8, 16, 32, 64.
    pub level: [u64; 7],
    /// Submissions by batch size: 0, up to 4, 8, 16, 32, 64, and more.
    pub submitted: [u64; 7],
    /// Completions by batch size, with the same limits.
    pub completed: [u64; 7],
}

/// Completion latencies by upper limit: the smallest limit above the latency, truncated to whole nanoseconds,
/// microseconds or milliseconds. 10.5 us counts at 20, and 9.9 us at 10.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatencyCounts {
    /// Below one microsecond: 2, 4, 10, 20, 50, 100, 250, 500, 750, 1000 ns.
    pub ns: [u64; 10],
    /// Below one millisecond: the same limits in microseconds.
    pub us: [u64; 10],
    /// From one millisecond: the same limits in milliseconds, 2000, and 2000 or more.
    pub ms: [u64; 12],
}

/// The reported percentiles and latencies.
#[derive(Clone, Debug, PartialEq)]
pub struct Percentiles {
    /// Percentages above 0 and up to 100, ascending; terse lines have room for 20.
    pub list: Vec<f64>,
    /// Of submission latencies (`slat_percentiles`).
    pub submission: bool,
    /// Of completion latencies (`clat_percentiles`).
    pub completion: bool,
    /// Of total latencies (`lat_percentiles`).
    pub total: bool,
}

impl Default for Percentiles {
    /// fio's default list, of completion latencies.
    fn default() -> Self {
        let list =
            vec![1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];
        Self { list, submission: false, completion: true, total: false }
    }
}

/// `latency_target` and related options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyTarget {
    /// Target latency in nanoseconds; 0 for none.
    pub latency_ns: u64,
    /// Window in microseconds.
    pub window_us: u64,
    /// Required percentage of operations within the target.
    pub percentile: f64,
    /// Queue depth that was reached, or used without a target.
    pub depth: u32,
}

impl Default for LatencyTarget {
    fn default() -> Self {
        Self { latency_ns: 0, window_us: 0, percentile: 100.0, depth: 1 }
    }
}

/// Errors after which a job continued.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Errors {
    /// Their number.
    pub total: u64,
    /// Number of the first.
    pub first: i32,
    /// Message of the first: `Input/output error`.
    pub text: String,
}

/// Result of `steadystate`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SteadyState {
    /// Criterion: `iops`, `bw`, `lat`, `iops_slope` or `bw_slope`.
    pub measure: String,
    /// Limit, in percent or in the unit of the measure (bytes per second, nanoseconds).
    pub limit: f64,
    /// Whether limit and criterion are percentages.
    pub in_percent: bool,
    /// Required steady time, in seconds.
    pub duration_s: u64,
    /// Whether it was reached.
    pub attained: bool,
    /// Value compared with the limit.
    pub criterion: f64,
    /// Largest deviation from the mean, in the unit of the measure.
    pub deviation: f64,
    /// Slope, in the unit of the measure per second.
    pub slope: f64,
    /// Bytes per second in each second of the window.
    pub bytes_s: Vec<u64>,
    /// Operations per second in each second.
    pub iops: Vec<u64>,
    /// Mean latencies in nanoseconds in each second; empty if not checked.
    pub latency_ns: Vec<u64>,
}

/// Utilisation of a disk during the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiskUse {
    /// Name: `sda`.
    pub name: String,
    pub own: DiskCounts,
    /// Averages of the underlying disks; none for a plain device.
    pub below: Option<DiskCounts>,
}

/// Counters of a disk; pairs are reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DiskCounts {
    pub operations: [u64; 2],
    /// Sectors of 512 bytes.
    pub sectors: [u64; 2],
    pub merges: [u64; 2],
    /// Total time of operations, in milliseconds.
    pub ticks_ms: [u64; 2],
    /// Weighted time in the queue, in milliseconds.
    pub queue_ms: u64,
    /// Percentage of time with operations in flight.
    pub busy_percent: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Idleness {
    /// All processors, in percent.
    pub system_percent: f64,
    /// Each processor, in percent; empty if only the system was requested.
    pub each_percent: Vec<f64>,
    /// Mean time of a unit of the calibration work, in microseconds.
    pub unit_mean_us: f64,
    /// Its standard deviation, in microseconds.
    pub unit_deviation_us: f64,
}

impl JobReport {
    /// A job without operations, with fio's defaults.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), members: 1, ..Self::default() }
    }

    /// Reads, writes and trims.
    pub fn lanes(&self) -> [&DirectionResult; 3] {
        [&self.read, &self.write, &self.trim]
    }

    /// Operations of all directions.
    pub(super) fn operations(&self) -> u64 {
        self.lanes().iter().map(|lane| lane.operations).sum()
    }

    /// Completion latencies by fio's limits: as counted, or derived from the bins to their width.
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
    /// The limits in each unit; milliseconds have two more.
    pub(super) const LIMITS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

    /// Counts latencies at the middles of their bins.
    pub fn add(&mut self, bins: &Bins) {
        let lowest = bins.bins.iter().map(|(lowest, _)| *lowest);
        for (lowest, (highest, count)) in lowest.zip(bins.upper_bounds()) {
            self.count(u64::midpoint(lowest, highest.as_nanos()), count);
        }
    }

    /// Counts `count` latencies of `latency_ns`.
    pub fn count(&mut self, latency_ns: u64, count: u64) {
        let place = |latency: u64| Self::LIMITS.partition_point(|limit| *limit <= latency);
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
    fn latencies_are_counted_by_upper_limit() {
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

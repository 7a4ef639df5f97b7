//! Sums over the jobs of a group: `Run status group`, and the base of percentages.

use super::number::Units;
use super::result::{DirectionResult, JobReport, SampleStatistics, Unified};

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct GroupSum {
    pub(super) number: u32,
    pub(super) units: Units,
    /// Reads, writes, trims, and the mixed figures of jobs reported so.
    pub(super) lanes: [LaneSum; 4],
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LaneSum {
    pub(super) bytes: u64,
    /// Slowest and fastest job in bytes per second.
    pub(super) bytes_s: (u64, u64),
    /// Shortest and longest runtime of a job in milliseconds.
    pub(super) runtime_ms: (u64, u64),
}

/// Index of the mixed figures.
pub(super) const MIXED: usize = 3;

impl LaneSum {
    fn add(&mut self, lane: &DirectionResult) {
        if lane.runtime_ms == 0 {
            return;
        }
        let (bytes_s, ms) = (lane.bytes_s(), lane.runtime_ms);
        if self.runtime_ms.1 == 0 {
            (self.bytes_s, self.runtime_ms) = ((bytes_s, bytes_s), (ms, ms));
        }
        self.bytes += lane.bytes;
        self.bytes_s = (self.bytes_s.0.min(bytes_s), self.bytes_s.1.max(bytes_s));
        self.runtime_ms = (self.runtime_ms.0.min(ms), self.runtime_ms.1.max(ms));
    }

    /// Rate of all jobs: bytes per second of the longest runtime.
    pub(super) fn all_bytes_s(&self) -> u64 {
        rate(self.bytes, self.runtime_ms.1)
    }

    /// Percentage of a job's samples in the sum, at most 100. fio truncates the mean first.
    pub(super) fn percent(&self, samples: &SampleStatistics) -> f64 {
        share(samples.mean.trunc(), self.all_bytes_s() as f64 / 1_024.0)
    }

    /// The same for terse lines, which use whole KiB.
    pub(super) fn percent_of_whole(&self, samples: &SampleStatistics) -> f64 {
        share(samples.mean, (self.all_bytes_s() / 1_024) as f64)
    }
}

/// Percentage, at most 100; 100 if the base is below 1 KiB/s.
fn share(part_kib_s: f64, all_kib_s: f64) -> f64 {
    if all_kib_s < 1.0 { 100.0 } else { (part_kib_s * 100.0 / all_kib_s).min(100.0) }
}

/// Units per second; 0 for a zero interval.
pub(super) fn rate(units: u64, ms: u64) -> u64 {
    if ms == 0 { 0 } else { u64::try_from(u128::from(units) * 1_000 / u128::from(ms)).unwrap_or(u64::MAX) }
}

/// Reported directions of a job: index in [`GroupSum::lanes`], and figures.
pub(super) fn reported_lanes(job: &JobReport) -> Vec<(usize, DirectionResult)> {
    let apart = job.lanes().into_iter().cloned().enumerate();
    match job.unified {
        Unified::Apart => apart.collect(),
        Unified::Mixed => vec![(MIXED, job.mixed())],
        Unified::Both => apart.chain([(MIXED, job.mixed())]).collect(),
    }
}

/// Sums of all groups, in order of their first jobs.
pub(super) fn sum_groups(jobs: &[JobReport]) -> Vec<GroupSum> {
    let mut sums: Vec<GroupSum> = Vec::new();
    for job in jobs {
        let place = sums.iter().position(|sum| sum.number == job.group).unwrap_or_else(|| {
            sums.push(GroupSum { number: job.group, units: job.units, ..GroupSum::default() });
            sums.len() - 1
        });
        for (kind, lane) in reported_lanes(job) {
            sums[place].lanes[kind].add(&lane);
        }
    }
    sums
}

/// Sums of a job's group.
pub(super) fn sum_of<'a>(sums: &'a [GroupSum], job: &JobReport) -> &'a GroupSum {
    sums.iter().find(|sum| sum.number == job.group).expect("the sums were made of these jobs")
}

impl DirectionResult {
    /// Bytes per second.
    pub(super) fn bytes_s(&self) -> u64 {
        rate(self.bytes, self.runtime_ms)
    }

    /// Operations per second, truncated.
    pub(super) fn whole_iops(&self) -> u64 {
        rate(self.operations, self.runtime_ms)
    }

    /// Operations per second.
    pub(super) fn iops(&self) -> f64 {
        if self.runtime_ms == 0 { 0.0 } else { self.operations as f64 * 1_000.0 / self.runtime_ms as f64 }
    }
}

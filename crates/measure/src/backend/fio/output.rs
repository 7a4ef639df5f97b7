//! Conversion of fio's JSON: cumulative bins at a time, and differences between two times.
//!
//! fio's bins are 1/64 of an octave wide, and `json+` names each by its middle. All counts of a bin are added to
//! plimsoll's bin at that value, which is half as wide: percentiles are within 0.8 % of fio's plus 0.8 % of the bin.
//! Sums are exact, from fio's mean and count. Reports during a run are read without a lock, so related counts may
//! differ by a few operations; the last report is exact, and the slices add up to it.

use std::collections::BTreeMap;

use plimsoll_record::{Bins, Counter, CpuTime, Tally};
use plimsoll_units::{Kind, Span};
use serde::Deserialize;

/// A JSON document of fio or its client.
#[derive(Debug, Deserialize)]
pub(super) struct Document {
    #[serde(default)]
    jobs: Vec<JobCounts>,
    #[serde(default)]
    client_stats: Vec<JobCounts>,
}

/// Report of a job. A client adds a summary with a name that is not that of a job.
#[derive(Debug, Deserialize)]
struct JobCounts {
    jobname: String,
    /// Milliseconds.
    #[serde(default)]
    job_runtime: u64,
    /// Percentage of the runtime.
    #[serde(default)]
    usr_cpu: f64,
    #[serde(default)]
    sys_cpu: f64,
    read: FioDirection,
    write: FioDirection,
    sync: Option<FioDirection>,
    #[serde(default)]
    total_err: u64,
    #[serde(default)]
    first_error: i32,
}

#[derive(Debug, Default, Deserialize)]
struct FioDirection {
    #[serde(default)]
    io_bytes: u64,
    #[serde(default)]
    total_ios: u64,
    #[serde(default)]
    lat_ns: FioLatency,
}

#[derive(Debug, Default, Deserialize)]
struct FioLatency {
    #[serde(rename = "N", default)]
    count: u64,
    /// Nanoseconds.
    #[serde(default)]
    mean: f64,
    /// Counts by middles of bins in nanoseconds.
    #[serde(default)]
    bins: BTreeMap<u64, u64>,
}

/// Cumulative counts at a time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FioTotals {
    counts: BTreeMap<(u8, Kind), FioCount>,
    /// Runtime of the jobs.
    pub(super) runtime: Span,
    /// Processor time of fio.
    pub(super) cpu: CpuTime,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct FioCount {
    bytes: u64,
    timed: u64,
    sum_ns: f64,
    bins: BTreeMap<u64, u64>,
    errors: BTreeMap<i32, u64>,
}

impl Document {
    /// Cumulative counts. `durable` is the durability of the writes of each stream.
    pub(super) fn totals(&self, durable: &[bool]) -> FioTotals {
        let mut all = FioTotals::default();
        for job in self.jobs.iter().chain(&self.client_stats) {
            let Some((stream, is_durable)) = parse_stream(&job.jobname, durable) else { continue };
            let write = if is_durable { Kind::DurableWrite } else { Kind::Write };
            all.add(stream, Kind::Read, &job.read);
            all.add(stream, write, &job.write);
            if let Some(sync) = &job.sync {
                all.add(stream, Kind::Flush, sync);
            }
            if job.total_err > 0 {
                // The kind of failed operations is unknown; the more frequent kind is assumed.
                let kind = if job.write.total_ios > job.read.total_ios { write } else { Kind::Read };
                let errors = &mut all.counts.entry((stream, kind)).or_default().errors;
                *errors.entry(job.first_error).or_default() += job.total_err;
            }
            all.runtime = all.runtime.max(Span::from_millis(job.job_runtime));
            let share = |percent: f64| Span::from_secs_f64(job.job_runtime as f64 / 1e3 * (percent / 100.0).max(0.0));
            all.cpu.user += share(job.usr_cpu);
            all.cpu.system += share(job.sys_cpu);
        }
        all
    }

    /// Number of completed operations.
    pub(super) fn completed_operations(&self) -> u64 {
        let jobs =
            self.jobs.iter().chain(&self.client_stats).filter(|job| parse_stream(&job.jobname, &[false]).is_some());
        jobs.map(|job| job.read.total_ios + job.write.total_ios).sum()
    }
}

/// The stream of a job named `STREAM.PART`, and whether its writes are durable.
fn parse_stream(name: &str, durable: &[bool]) -> Option<(u8, bool)> {
    let stream: u8 = name.split_once('.')?.0.parse().ok()?;
    Some((stream, *durable.get(usize::from(stream))?))
}

impl FioTotals {
    fn add(&mut self, stream: u8, kind: Kind, direction: &FioDirection) {
        let latency = &direction.lat_ns;
        if latency.count == 0 && latency.bins.is_empty() {
            return;
        }
        let count = self.counts.entry((stream, kind)).or_default();
        count.bytes += direction.io_bytes;
        count.timed += latency.count;
        count.sum_ns += latency.mean * latency.count as f64;
        for (middle, number) in &latency.bins {
            *count.bins.entry(*middle).or_default() += number;
        }
    }

    /// Counts since `before`, an earlier report of the same load.
    pub(super) fn since(&self, before: &Self) -> Tally {
        let none = FioCount::default();
        let counters = self.counts.iter().filter_map(|(key, count)| {
            let (stream, kind) = *key;
            count.since(before.counts.get(key).unwrap_or(&none), stream, kind)
        });
        Tally(counters.collect())
    }
}

impl FioCount {
    /// `None` without operations.
    fn since(&self, before: &Self, stream: u8, kind: Kind) -> Option<Counter> {
        let more = |middle: u64, number: u64| number.saturating_sub(before.bins.get(&middle).copied().unwrap_or(0));
        let bins: Vec<(Span, u64)> = self
            .bins
            .iter()
            .map(|(&middle, &number)| (Span::from_nanos(middle), more(middle, number)))
            .filter(|(_, number)| *number > 0)
            .collect();
        let errors: Vec<(i32, u64)> = self
            .errors
            .iter()
            .map(|(&errno, &number)| (errno, number.saturating_sub(before.errors.get(&errno).copied().unwrap_or(0))))
            .filter(|(_, number)| *number > 0)
            .collect();
        let number: u64 = bins.iter().map(|(_, number)| number).sum();
        let bytes = self.bytes.saturating_sub(before.bytes);
        if number == 0 && errors.is_empty() && bytes == 0 {
            return None;
        }
        let timed = self.timed.saturating_sub(before.timed);
        let sum_ns = if timed > 0 && self.sum_ns > before.sum_ns {
            (self.sum_ns - before.sum_ns) / timed as f64 * number as f64
        } else {
            bins.iter().map(|(span, number)| span.as_nanos() as f64 * *number as f64).sum()
        };
        let response = Bins::counted(bins, sum_ns.round() as u64);
        Some(Counter { stream, kind, bytes, errors, response, service: None })
    }
}

#[cfg(test)]
mod tests;

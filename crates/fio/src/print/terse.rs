//! Terse lines: a line per job, fields separated by semicolons, in KiB and microseconds.

use super::group::{self, GroupSum, LaneSum, MIXED};
use super::latency::LatencyHistogram;
use super::result::{DirectionResult, FioReport, JobReport};
use super::shares;

/// Version of terse lines, which determines their fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TerseVersion {
    /// With trims, without fio's version and disks; the description is on a separate line.
    V2,
    /// The default: reads and writes.
    #[default]
    V3,
    V4,
    /// With IOPS samples.
    V5,
}

impl TerseVersion {
    /// Version of a number.
    pub fn of(number: u32) -> Option<Self> {
        Some(match number {
            2 => Self::V2,
            3 => Self::V3,
            4 => Self::V4,
            5 => Self::V5,
            _ => return None,
        })
    }

    fn number(self) -> u32 {
        match self {
            Self::V2 => 2,
            Self::V3 => 3,
            Self::V4 => 4,
            Self::V5 => 5,
        }
    }
}

/// The report as a line per job.
pub fn terse(report: &FioReport, version: TerseVersion) -> String {
    let sums = group::sum_groups(&report.jobs);
    report.jobs.iter().map(|job| line(report, job, group::sum_of(&sums, job), version) + "\n").collect()
}

/// Number of fields for percentiles.
const PERCENTILES: usize = 20;

fn line(report: &FioReport, job: &JobReport, sum: &GroupSum, version: TerseVersion) -> String {
    let mut fields = vec![version.number().to_string()];
    if version > TerseVersion::V2 {
        fields.push(report.version.clone());
    }
    let errno = job.failure.as_ref().map_or(0, |failure| failure.errno);
    fields.extend([job.name.clone(), job.group.to_string(), errno.to_string()]);
    for (kind, lane) in group::reported_lanes(job) {
        let trims = 2;
        if kind != trims || version != TerseVersion::V3 {
            // Mixed figures are in the fields of reads.
            debug_assert!(kind <= MIXED, "there are no other directions");
            lane_fields(job, &lane, &sum.lanes[kind], version, &mut fields);
        }
    }
    count_fields(job, &mut fields);
    if version > TerseVersion::V2 {
        disk_fields(report, &mut fields);
    }
    if let Some(errors) = &job.errors {
        fields.extend([errors.total.to_string(), errors.first.to_string()]);
    }
    match &job.description {
        Some(description) if version == TerseVersion::V2 => fields.join(";") + "\n;" + description,
        Some(description) => fields.join(";") + ";" + description,
        None => fields.join(";"),
    }
}

fn lane_fields(
    job: &JobReport,
    lane: &DirectionResult,
    sum: &LaneSum,
    version: TerseVersion,
    fields: &mut Vec<String>,
) {
    fields.extend(
        [lane.bytes / 1_024, lane.bytes_s() / 1_024, lane.whole_iops(), lane.runtime_ms].map(|n| n.to_string()),
    );
    latency_fields(&lane.submission, fields);
    latency_fields(&lane.completion, fields);
    let reported = &job.percentiles;
    let of = match (reported.total, reported.completion) {
        (true, _) => Some(&lane.total),
        (false, true) => Some(&lane.completion),
        (false, false) => None,
    };
    percentile_fields(of, &reported.list, fields);
    latency_fields(&lane.total, fields);
    let (bandwidth, rate) = (&lane.bandwidth, &lane.rate);
    let percent = if bandwidth.count > 0 { sum.percent_of_whole(bandwidth) } else { 0.0 };
    fields.extend([bandwidth.least.to_string(), bandwidth.max.to_string(), format!("{percent:.6}%")]);
    fields.extend([bandwidth.mean, bandwidth.deviation].map(|kib_s| format!("{kib_s:.6}")));
    if version == TerseVersion::V5 {
        fields.extend([bandwidth.count, rate.least, rate.max].map(|n| n.to_string()));
        fields.extend([rate.mean, rate.deviation].map(|iops| format!("{iops:.6}")));
        fields.push(rate.count.to_string());
    }
}

fn latency_fields(latency: &LatencyHistogram, fields: &mut Vec<String>) {
    let found = latency.moments();
    fields.extend([found.min_ns, found.max_ns].map(|ns| (ns / 1_000).to_string()));
    fields.extend([found.mean_ns, found.deviation_ns].map(|ns| format!("{:.6}", ns / 1e3)));
}

/// Percentiles in their 20 fields. Percentages are also named for directions without operations.
fn percentile_fields(latency: Option<&LatencyHistogram>, list: &[f64], fields: &mut Vec<String>) {
    let named = if latency.is_some() { list } else { &[] };
    let found = latency.map(|latency| latency.percentiles(list)).unwrap_or_default();
    for place in 0..PERCENTILES {
        let ns = found.get(place).copied().unwrap_or(0);
        fields.push(match named.get(place) {
            Some(percent) => format!("{percent:.6}%={}", ns / 1_000),
            None => "0%=0".to_owned(),
        });
    }
}

fn count_fields(job: &JobReport, fields: &mut Vec<String>) {
    let (user, system) = shares::of_processor(job);
    fields.extend([user, system].map(|percent| format!("{percent:.6}%")));
    fields.extend([job.switches, job.major_faults, job.minor_faults].map(|count| count.to_string()));
    fields.extend(shares::of_depths(job)[0].map(|percent| format!("{percent:.1}%")));
    let mut latencies = shares::of_latencies(job);
    // Latencies below a microsecond have no fields; they count in the first field of microseconds.
    latencies.us[0] += latencies.ns.iter().sum::<f64>();
    fields.extend(latencies.us.iter().chain(&latencies.ms).map(|percent| format!("{percent:.2}%")));
}

fn disk_fields(report: &FioReport, fields: &mut Vec<String>) {
    for disk in &report.disks {
        let own = &disk.own;
        fields.push(disk.name.clone());
        let counts = [own.operations, own.merges, own.ticks_ms].concat();
        fields.extend(counts.into_iter().chain([own.queue_ms]).map(|count| count.to_string()));
        fields.push(format!("{:.2}%", own.busy_percent));
    }
}

//! fio's JSON, and JSON+ with all buckets of latencies.

pub(super) mod writer;

use super::buckets::nonempty_buckets;
use super::group::{self, GroupSum, LaneSum, MIXED};
use super::latency::LatencyHistogram;
use super::result::{DirectionResult, DiskCounts, DiskUse, FioReport, Idleness, JobReport, Unified};
use super::{shares, steady};
use writer::Writer;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    Percentiles,
    /// Percentiles and all buckets (`json+`).
    Buckets,
}

/// The report as a JSON document.
pub fn json(report: &FioReport, detail: Detail) -> String {
    let sums = group::sum_groups(&report.jobs);
    Writer::document(|out| {
        out.text("fio version", &report.version);
        out.integer("timestamp", report.made_unix_ms / 1_000);
        out.integer("timestamp_ms", report.made_unix_ms);
        out.text("time", &report.created);
        if !report.global_options.is_empty() {
            out.texts("global options", &report.global_options);
        }
        out.objects("jobs", &report.jobs, |out, job| job_object(job, group::sum_of(&sums, job), detail, out));
        if !report.disks.is_empty() {
            out.objects("disk_util", &report.disks, |out, disk| disk_object(disk, out));
        }
        if let Some(idleness) = &report.idleness {
            idleness_object(idleness, out);
        }
    })
}

fn job_object(job: &JobReport, sum: &GroupSum, detail: Detail, out: &mut Writer) {
    out.text("jobname", &job.name);
    out.integer("groupid", u64::from(job.group));
    out.integer("job_start", job.started_unix_ms);
    out.integer("error", job.failure.as_ref().map_or(0, |failure| u64::from(failure.errno.unsigned_abs())));
    out.integer("eta", job.eta_s);
    out.integer("elapsed", job.elapsed_s);
    if !job.options.is_empty() {
        out.texts("job options", &job.options);
    }
    let lanes = group::reported_lanes(job);
    for (kind, lane) in lanes.iter().filter(|(kind, _)| *kind != MIXED) {
        lane_object(["read", "write", "trim"][*kind], (job, lane), &sum.lanes[*kind], detail, out);
    }
    if job.unified != Unified::Mixed {
        out.object("sync", |out| {
            out.integer("total_ios", job.sync.count());
            latency_object("lat_ns", &job.sync, Some(&job.percentiles.list), detail, out);
        });
    }
    if let Some((_, lane)) = lanes.iter().find(|(kind, _)| *kind == MIXED) {
        lane_object("mixed", (job, lane), &sum.lanes[MIXED], detail, out);
    }
    counts(job, out);
    write_target(job, out);
    if let Some(description) = &job.description {
        out.text("desc", description);
    }
    if let Some(found) = &job.steady {
        steady::json(found, out);
    }
}

fn lane_object(
    name: &str,
    (job, lane): (&JobReport, &DirectionResult),
    sum: &LaneSum,
    detail: Detail,
    out: &mut Writer,
) {
    let reported = &job.percentiles;
    let list = |is_reported: bool| is_reported.then_some(reported.list.as_slice());
    let percent = if lane.bandwidth.count > 0 { sum.percent(&lane.bandwidth) } else { 0.0 };
    out.object(name, |out| {
        out.integer("io_bytes", lane.bytes);
        out.integer("io_kbytes", lane.bytes / 1_024);
        out.integer("bw_bytes", lane.bytes_s());
        out.integer("bw", lane.bytes_s() / 1_024);
        out.real("iops", lane.iops());
        out.integer("runtime", lane.runtime_ms);
        out.integer("total_ios", lane.operations);
        out.integer("short_ios", lane.short);
        out.integer("drop_ios", lane.dropped);
        latency_object("slat_ns", &lane.submission, list(reported.submission), detail, out);
        latency_object("clat_ns", &lane.completion, list(reported.completion), detail, out);
        latency_object("lat_ns", &lane.total, list(reported.total), detail, out);
        out.integer("bw_min", lane.bandwidth.least);
        out.integer("bw_max", lane.bandwidth.max);
        out.real("bw_agg", percent);
        out.real("bw_mean", lane.bandwidth.mean);
        out.real("bw_dev", lane.bandwidth.deviation);
        out.integer("bw_samples", lane.bandwidth.count);
        out.integer("iops_min", lane.rate.least);
        out.integer("iops_max", lane.rate.max);
        out.real("iops_mean", lane.rate.mean);
        out.real("iops_stddev", lane.rate.deviation);
        out.integer("iops_samples", lane.rate.count);
    });
}

/// A kind of latency; with a list of percentages also its percentiles and buckets.
fn latency_object(name: &str, latency: &LatencyHistogram, list: Option<&[f64]>, detail: Detail, out: &mut Writer) {
    let found = latency.moments();
    out.object(name, |out| {
        out.integer("min", found.min_ns);
        out.integer("max", found.max_ns);
        out.real("mean", found.mean_ns);
        out.real("stddev", found.deviation_ns);
        out.integer("N", latency.count());
        let Some(list) = list.filter(|_| !latency.bins.bins.is_empty()) else { return };
        out.object("percentile", |out| {
            for (percent, ns) in list.iter().zip(latency.percentiles(list)) {
                out.integer(&format!("{percent:.6}"), ns);
            }
        });
        if detail == Detail::Buckets {
            out.object("bins", |out| {
                for (ns, count) in nonempty_buckets(&latency.bins) {
                    out.integer(&ns.to_string(), count);
                }
            });
        }
    });
}

fn counts(job: &JobReport, out: &mut Writer) {
    let (user, system) = shares::of_processor(job);
    out.integer("job_runtime", job.runtime_ms);
    out.real("usr_cpu", user);
    out.real("sys_cpu", system);
    out.integer("ctx", job.switches);
    out.integer("majf", job.major_faults);
    out.integer("minf", job.minor_faults);
    let mut object = |name: &str, labels: &[&str], shares: &[f64]| {
        out.object(name, |out| labels.iter().zip(shares).for_each(|(label, share)| out.real(label, *share)));
    };
    let [level, submitted, completed] = shares::of_depths(job);
    object("iodepth_level", &shares::LEVELS, &level);
    object("iodepth_submit", &shares::BATCHES, &submitted);
    object("iodepth_complete", &shares::BATCHES, &completed);
    let latencies = shares::of_latencies(job);
    object("latency_ns", &shares::LIMITS, &latencies.ns);
    object("latency_us", &shares::LIMITS, &latencies.us);
    object("latency_ms", &shares::LIMITS, &latencies.ms);
    if let Some(errors) = &job.errors {
        out.integer("total_err", errors.total);
        out.integer("first_error", u64::from(errors.first.unsigned_abs()));
    }
}

fn write_target(job: &JobReport, out: &mut Writer) {
    let target = &job.target;
    out.integer("latency_depth", u64::from(target.depth));
    // The unit is part of the name since 3.41; the old names remain.
    out.integer("latency_target", target.latency_ns);
    out.integer("latency_target_ns", target.latency_ns);
    out.real("latency_percentile", target.percentile);
    out.integer("latency_window", target.window_us);
    out.integer("latency_window_us", target.window_us);
}

fn disk_object(disk: &DiskUse, out: &mut Writer) {
    out.text("name", &disk.name);
    disk_counts(&disk.own, ("", "write_merges"), out);
    if let Some(below) = &disk.below {
        disk_counts(below, ("aggr_", "write_merge"), out);
    }
}

fn disk_counts(counts: &DiskCounts, (of, write_merges): (&str, &str), out: &mut Writer) {
    let mut counter = |name: &str, number| out.integer(&format!("{of}{name}"), number);
    counter("read_ios", counts.operations[0]);
    counter("write_ios", counts.operations[1]);
    counter("read_sectors", counts.sectors[0]);
    counter("write_sectors", counts.sectors[1]);
    counter("read_merges", counts.merges[0]);
    counter(write_merges, counts.merges[1]);
    counter("read_ticks", counts.ticks_ms[0]);
    counter("write_ticks", counts.ticks_ms[1]);
    counter("in_queue", counts.queue_ms);
    out.real(&format!("{of}util"), counts.busy_percent);
}

fn idleness_object(idleness: &Idleness, out: &mut Writer) {
    out.object("cpu_idleness", |out| {
        out.real("system", idleness.system_percent);
        for (processor, percent) in idleness.each_percent.iter().enumerate() {
            out.real(&format!("cpu-{processor}"), *percent);
        }
        out.real("unit_mean", idleness.unit_mean_us);
        out.real("unit_stddev", idleness.unit_deviation_us);
    });
}

//! A report parsed from fio's JSON, to print the same figures again.

use std::collections::BTreeSet;

use plimsoll_fio::print::{
    Depths, DirectionResult, DiskCounts, DiskUse, FioReport, JobReport, Kilo, LatencyCounts, LatencyHistogram,
    LatencyTarget, Moments, Percentiles, RateUnit, SampleStatistics, Unified, Units,
};
use plimsoll_record::Bins;
use plimsoll_units::Span;
use serde_json::Value;

pub fn report(document: &Value) -> FioReport {
    FioReport {
        version: text(document, "fio version"),
        made_unix_ms: integer(document, "timestamp_ms"),
        created: text(document, "time").trim_end().to_owned(),
        global_options: read_options(document, "global options"),
        jobs: read_list(document, "jobs").map(job).collect(),
        disks: read_list(document, "disk_util").map(disk).collect(),
        idleness: None,
    }
}

/// All key paths in a document, without numbers of lists and bins.
pub fn paths(document: &Value) -> BTreeSet<String> {
    fn walk(value: &Value, path: &str, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    let is_bin = path.ends_with("/bins");
                    walk(value, &format!("{path}/{}", if is_bin { "bin" } else { key }), found);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, path, found)),
            _ => {
                found.insert(path.to_owned());
            }
        }
    }
    let mut found = BTreeSet::new();
    walk(document, "", &mut found);
    found
}

fn integer(of: &Value, key: &str) -> u64 {
    of.get(key).and_then(|value| value.as_u64().or_else(|| value.as_f64().map(|real| real as u64))).unwrap_or(0)
}

fn real(of: &Value, key: &str) -> f64 {
    of.get(key).and_then(Value::as_f64).unwrap_or(0.0)
}

fn text(of: &Value, key: &str) -> String {
    of.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn read_list<'a>(of: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    of.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn read_options(of: &Value, key: &str) -> Vec<(String, String)> {
    let object = of.get(key).and_then(Value::as_object).into_iter().flatten();
    object.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned())).collect()
}

fn job(entry: &Value) -> JobReport {
    let lane = |key: &str| entry.get(key).map(read_lane).unwrap_or_default();
    // A mixed job is equivalent to a job with only reads.
    let is_mixed = entry.get("mixed").is_some() && entry.get("read").is_none();
    let read = lane(if is_mixed { "mixed" } else { "read" });
    let (write, trim) = (lane("write"), lane("trim"));
    let operations = read.operations + write.operations + trim.operations;
    let processor =
        |key: &str| Span::from_nanos((real(entry, key) * integer(entry, "job_runtime") as f64 * 1e4).round() as u64);
    JobReport {
        group: integer(entry, "groupid") as u32,
        started_unix_ms: integer(entry, "job_start"),
        eta_s: integer(entry, "eta"),
        elapsed_s: integer(entry, "elapsed"),
        options: read_options(entry, "job options"),
        description: entry.get("desc").and_then(Value::as_str).map(str::to_owned),
        percentiles: percentiles(entry),
        units: units(entry),
        unified: match (entry.get("mixed"), is_mixed) {
            (None, _) => Unified::Apart,
            (_, true) => Unified::Mixed,
            (_, false) => Unified::Both,
        },
        sync: entry.get("sync").and_then(|sync| sync.get("lat_ns")).map(read_latency).unwrap_or_default(),
        runtime_ms: integer(entry, "job_runtime"),
        user: processor("usr_cpu"),
        system: processor("sys_cpu"),
        switches: integer(entry, "ctx"),
        major_faults: integer(entry, "majf"),
        minor_faults: integer(entry, "minf"),
        depths: Depths {
            level: read_counts(entry, "iodepth_level", ["1", "2", "4", "8", "16", "32", ">=64"], Some(operations)),
            submitted: read_counts(entry, "iodepth_submit", ["0", "4", "8", "16", "32", "64", ">=64"], None),
            completed: read_counts(entry, "iodepth_complete", ["0", "4", "8", "16", "32", "64", ">=64"], None),
        },
        latency_counts: Some(latency_counts(entry, operations)),
        target: LatencyTarget {
            latency_ns: integer(entry, "latency_target"),
            window_us: integer(entry, "latency_window"),
            percentile: real(entry, "latency_percentile"),
            depth: integer(entry, "latency_depth") as u32,
        },
        read,
        write,
        trim,
        ..JobReport::new(&text(entry, "jobname"))
    }
}

/// Units are determined only by options.
fn units(entry: &Value) -> Units {
    let options = entry.get("job options");
    let option = |key: &str| options.and_then(|options| options.get(key)).and_then(Value::as_str);
    Units {
        kilo: if option("kb_base") == Some("1000") { Kilo::Decimal } else { Kilo::Binary },
        unit: if option("unit_base") == Some("1") { RateUnit::Bits } else { RateUnit::Bytes },
        figures: option("significant_figures").map_or(4, |figures| figures.parse().unwrap()),
    }
}

fn read_lane(of: &Value) -> DirectionResult {
    let samples = |name: &str, deviation: &str| SampleStatistics {
        least: integer(of, &format!("{name}_min")),
        max: integer(of, &format!("{name}_max")),
        mean: real(of, &format!("{name}_mean")),
        deviation: real(of, &format!("{name}_{deviation}")),
        count: integer(of, &format!("{name}_samples")),
    };
    let latency = |key: &str| of.get(key).map(read_latency).unwrap_or_default();
    DirectionResult {
        bytes: integer(of, "io_bytes"),
        operations: integer(of, "total_ios"),
        short: integer(of, "short_ios"),
        dropped: integer(of, "drop_ios"),
        runtime_ms: integer(of, "runtime"),
        submission: latency("slat_ns"),
        completion: latency("clat_ns"),
        total: latency("lat_ns"),
        bandwidth: samples("bw", "dev"),
        rate: samples("iops", "stddev"),
    }
}

fn read_latency(of: &Value) -> LatencyHistogram {
    let bins = of.get("bins").and_then(Value::as_object).into_iter().flatten();
    let mut bins: Vec<(u64, u64)> =
        bins.map(|(ns, count)| (lowest(ns.parse().unwrap()), count.as_u64().unwrap())).collect();
    bins.sort_unstable();
    let (count, mean_ns) = (integer(of, "N"), real(of, "mean"));
    let (min_ns, max_ns) = (integer(of, "min"), integer(of, "max"));
    LatencyHistogram {
        bins: Bins { count, sum_ns: (mean_ns * count as f64) as u64, min_ns, max_ns, bins },
        exact: Some(Moments { min_ns, max_ns, mean_ns, deviation_ns: real(of, "stddev") }),
    }
}

/// Lowest value of a latency's bin.
fn lowest(ns: u64) -> u64 {
    let mut recorder = plimsoll_record::Recorder::new();
    recorder.record(Span::from_nanos(ns));
    recorder.take().bins[0].0
}

fn percentiles(entry: &Value) -> Percentiles {
    let of = |key: &str| -> Vec<f64> {
        let mut lanes =
            ["read", "write", "trim", "mixed"].iter().filter_map(|lane| entry.get(lane)?.get(key)?.get("percentile"));
        let first = lanes.find_map(Value::as_object).into_iter().flatten();
        let mut list: Vec<f64> = first.map(|(percent, _)| percent.parse().unwrap()).collect();
        list.sort_by(f64::total_cmp);
        list
    };
    let (submission, completion, total) = (of("slat_ns"), of("clat_ns"), of("lat_ns"));
    let list = [&completion, &total, &submission].into_iter().find(|list| !list.is_empty()).cloned();
    Percentiles {
        submission: !submission.is_empty(),
        completion: !completion.is_empty(),
        total: !total.is_empty(),
        list: list.unwrap_or_else(|| Percentiles::default().list),
    }
}

/// Counts with the reported percentages. The smallest reported percentage, 0.1 %, may stand for less: without the
/// total, such counts get the remainder.
fn read_counts(entry: &Value, key: &str, names: [&str; 7], all: Option<u64>) -> [u64; 7] {
    const SCALE: f64 = 1e8;
    let shares = names.map(|name| entry.get(key).map_or(0.0, |shares| real(shares, name)));
    if let Some(all) = all {
        return shares.map(|share| counted(share, 0.1, all));
    }
    let is_least = |share: f64| (share - 0.1).abs() < 1e-9;
    let stated: f64 = shares.iter().filter(|share| !is_least(**share)).sum();
    let left = (100.0 - stated) / shares.iter().filter(|share| is_least(**share)).count().max(1) as f64;
    shares.map(|share| ((if is_least(share) { left } else { share }) * SCALE).round() as u64)
}

/// Count of a percentage; at most that if it is the smallest reported percentage.
fn counted(share: f64, least: f64, all: u64) -> u64 {
    let count = share / 100.0 * all as f64;
    match share {
        0.0 => 0,
        share if (share - least).abs() < 1e-9 => (count as u64).max(1),
        _ => count.round() as u64,
    }
}

fn latency_counts(entry: &Value, operations: u64) -> LatencyCounts {
    const NAMES: [&str; 12] = ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"];
    let count = |unit: &str, place: usize| {
        let share = entry.get(unit).map_or(0.0, |shares| real(shares, NAMES[place]));
        counted(share, 0.01, operations)
    };
    LatencyCounts {
        ns: std::array::from_fn(|place| count("latency_ns", place)),
        us: std::array::from_fn(|place| count("latency_us", place)),
        ms: std::array::from_fn(|place| count("latency_ms", place)),
    }
}

fn disk(entry: &Value) -> DiskUse {
    let counts = |of: &str, merge: &str| {
        let pair =
            |what: &str| [integer(entry, &format!("{of}read_{what}")), integer(entry, &format!("{of}write_{what}"))];
        DiskCounts {
            operations: pair("ios"),
            sectors: pair("sectors"),
            merges: [integer(entry, &format!("{of}read_merges")), integer(entry, &format!("{of}{merge}"))],
            ticks_ms: pair("ticks"),
            queue_ms: integer(entry, &format!("{of}in_queue")),
            busy_percent: real(entry, &format!("{of}util")),
        }
    };
    DiskUse {
        name: text(entry, "name"),
        own: counts("", "write_merges"),
        below: entry.get("aggr_util").map(|_| counts("aggr_", "write_merge")),
    }
}

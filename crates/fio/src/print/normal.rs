//! Normal output: the human-readable report.

use super::group::{self, GroupSum, LaneSum, MIXED};
use super::latency::LatencyHistogram;
use super::number::{Kilo, Units, abbreviated, digits};
use super::result::{
    DirectionResult, DiskCounts, DiskUse, FioReport, Idleness, JobReport, LatencyTarget, SampleStatistics, Unified,
};
use super::{shares, steady};

/// Names of directions, by their index in the sums of a group.
const NAMES: [&str; 4] = ["read", "write", "trim", "mixed"];

/// The report as printed by fio at the end of a run or of a status interval. Begins with an empty line.
pub fn normal(report: &FioReport) -> String {
    let sums = group::sum_groups(&report.jobs);
    let mut text = String::from("\n");
    for job in &report.jobs {
        job_text(job, group::sum_of(&sums, job), &report.created, &mut text);
    }
    for sum in &sums {
        group_text(sum, &mut text);
    }
    if !report.disks.is_empty() {
        text.push_str("\nDisk stats (read/write):\n");
        report.disks.iter().for_each(|disk| disk_text(disk, &mut text));
    }
    if let Some(idleness) = &report.idleness {
        idleness_text(idleness, &mut text);
    }
    text
}

fn job_text(job: &JobReport, sum: &GroupSum, created: &str, text: &mut String) {
    let failure = job.failure.as_ref();
    let errno = failure.map_or(0, |failure| failure.errno);
    let what = failure.map_or(String::new(), |failure| format!(" ({})", failure.text));
    text.push_str(&format!(
        "{}: (groupid={}, jobs={}): err={errno:2}{what}: pid={}: {created}\n",
        job.name, job.group, job.members, job.pid
    ));
    if let Some(description) = &job.description {
        text.push_str(&format!("  Description  : [{description}]\n"));
    }
    for (kind, lane) in group::reported_lanes(job).iter().filter(|(_, lane)| lane.runtime_ms > 0) {
        lane_text(job, (NAMES[*kind], lane), &sum.lanes[*kind], text);
    }
    let counts = shares::of_latencies(job);
    limits_text("nsec", &counts.ns, text);
    limits_text("usec", &counts.us, text);
    limits_text("msec", &counts.ms, text);
    if job.sync.count() > 0 {
        text.push_str("  fsync/fdatasync/sync_file_range/syncfs:\n");
        latency_text("sync", &job.sync, text);
        percentiles_text("sync", &job.sync, &job.percentiles.list, text);
    }
    counts_text(job, text);
    if let Some(steady) = &job.steady {
        text.push_str(&steady::line(steady, job.units));
    }
}

fn lane_text(job: &JobReport, (name, lane): (&str, &DirectionResult), sum: &LaneSum, text: &mut String) {
    let (units, bytes_s) = (job.units, lane.bytes_s());
    text.push_str(&format!(
        "  {name}: IOPS={}, BW={} ({})({}/{}msec)\n",
        units.count(lane.whole_iops()),
        units.rate(bytes_s),
        units.rate_other(bytes_s),
        units.bytes(lane.bytes),
        lane.runtime_ms
    ));
    let reported = &job.percentiles;
    let kinds = [
        ("slat", &lane.submission, reported.submission),
        ("clat", &lane.completion, reported.completion),
        (" lat", &lane.total, reported.total),
    ];
    for (name, latency, _) in kinds {
        latency_text(name, latency, text);
    }
    for (name, latency, _) in kinds.into_iter().filter(|kind| kind.2) {
        percentiles_text(name.trim_start(), latency, &reported.list, text);
    }
    if lane.bandwidth.count > 0 {
        bandwidth_text(units, &lane.bandwidth, sum, text);
    }
    let rate = &lane.rate;
    if rate.count > 0 {
        text.push_str(&format!(
            "   iops        : min={:5}, max={:5}, avg={:5.2}, stdev={:5.2}, samples={}\n",
            rate.least, rate.max, rate.mean, rate.deviation, rate.count
        ));
    }
}

/// Bandwidth samples, in the smaller unit that fits, or in the next unit.
fn bandwidth_text(units: Units, kib_s: &SampleStatistics, sum: &LaneSum, text: &mut String) {
    let percent = sum.percent(kib_s);
    let to_kilo = 1_024.0 / units.kilo.step() as f64;
    let large = kib_s.mean * to_kilo > (units.kilo.step() * units.kilo.step()) as f64;
    let (scale, steps) = if large { (to_kilo / units.kilo.step() as f64, 2) } else { (to_kilo, 1) };
    let scaled = |kib_s: u64| (kib_s as f64 * scale) as u64;
    text.push_str(&format!(
        "   bw ({:>5}/s): min={:5}, max={:5}, per={percent:3.2}%, avg={:5.2}, stdev={:5.2}, samples={}\n",
        format!("{}B", units.kilo.prefix(steps)),
        scaled(kib_s.least),
        scaled(kib_s.max),
        kib_s.mean * scale,
        kib_s.deviation * scale,
        kib_s.count
    ));
}

/// A line of extremes, mean and deviation, in the largest unit that keeps precision.
fn latency_text(name: &str, latency: &LatencyHistogram, text: &mut String) {
    if latency.count() == 0 {
        return;
    }
    let found = latency.moments();
    let (mut unit, mut divisor) = ("nsec", 1);
    for (larger, next) in [("usec", 1_000), ("msec", 1_000_000)] {
        let tells = found.min_ns / divisor > 2_000 && found.max_ns / divisor > 99_999;
        if unit == "msec" || !tells || found.deviation_ns / divisor as f64 <= 1_000.0 {
            break;
        }
        (unit, divisor) = (larger, next);
    }
    let short = |ns: u64| abbreviated(ns / divisor, 6, Kilo::Decimal);
    text.push_str(&format!(
        "    {name} ({unit}): min={}, max={}, avg={:5.2}, stdev={:5.2}\n",
        short(found.min_ns),
        short(found.max_ns),
        found.mean_ns / divisor as f64,
        found.deviation_ns / divisor as f64
    ));
}

/// Width of the text between two bars.
const WIDTH: usize = 73;

fn percentiles_text(name: &str, latency: &LatencyHistogram, list: &[f64], text: &mut String) {
    let found = latency.percentiles(list);
    let (Some(least), Some(max)) = (found.first().copied(), found.last().copied()) else { return };
    let (unit, divisor) = match (least, max) {
        (2_000_001.., 100_000_000..) => ("msec", 1_000_000),
        (2_001.., 100_000..) => ("usec", 1_000),
        _ => ("nsec", 1),
    };
    let places = decimals(list);
    let width = digits(max.div_ceil(divisor)).max(5);
    let percent_width = if places == 0 { 3 } else { places + 3 };
    let each = (WIDTH / (width + 10 + places)).max(1);
    text.push_str(&format!("    {name} percentiles ({unit}):\n"));
    let all: Vec<(f64, u64)> = list.iter().copied().zip(found).collect();
    let rows: Vec<String> = all
        .chunks(each)
        .map(|row| {
            let cell = |(percent, ns): &(f64, u64)| {
                format!("{percent:percent_width$.places$}th=[{:width$}]", ns.div_ceil(divisor))
            };
            "     | ".to_owned() + &row.iter().map(cell).collect::<Vec<_>>().join(", ")
        })
        .collect();
    text.push_str(&(rows.join(",\n") + "\n"));
}

/// Number of decimals required by the percentages of a list.
fn decimals(list: &[f64]) -> usize {
    let of = |percent: &f64| {
        let all = format!("{percent:.9}");
        all.trim_end_matches('0').split_once('.').map_or(0, |(_, decimals)| decimals.len())
    };
    list.iter().map(of).max().unwrap_or(0)
}

/// Non-zero percentages of latencies, five per line.
fn limits_text(unit: &str, shares: &[f64], text: &mut String) {
    let some: Vec<String> = (shares::LIMITS.iter().zip(shares))
        .filter(|(_, share)| **share > 0.0)
        .map(|(limit, share)| format!("{limit}={share:3.2}%"))
        .collect();
    for line in some.chunks(5) {
        text.push_str(&format!("  lat ({unit})   : {}\n", line.join(", ")));
    }
}

/// Processor, depths, operations, errors, and latency target.
fn counts_text(job: &JobReport, text: &mut String) {
    let (user, system) = shares::of_processor(job);
    text.push_str(&format!(
        "  cpu          : usr={user:3.2}%, sys={system:3.2}%, ctx={}, majf={}, minf={}\n",
        job.switches, job.major_faults, job.minor_faults
    ));
    let [level, submitted, completed] = shares::of_depths(job);
    depths_text("  IO depths    ", &shares::LEVELS, &level, text);
    depths_text("     submit    ", &shares::BATCHES, &submitted, text);
    depths_text("     complete  ", &shares::BATCHES, &completed, text);
    let all = |count: fn(&DirectionResult) -> u64| {
        let counts = job.lanes().map(count);
        match job.unified {
            Unified::Mixed => [counts.iter().sum(), 0, 0],
            Unified::Apart | Unified::Both => counts,
        }
    };
    let [[r, w, t], short, dropped] = [all(|lane| lane.operations), all(|lane| lane.short), all(|lane| lane.dropped)];
    text.push_str(&format!(
        "     issued rwts: total={r},{w},{t},{} short={},{},{},0 dropped={},{},{},0\n",
        job.sync.count(),
        short[0],
        short[1],
        short[2],
        dropped[0],
        dropped[1],
        dropped[2]
    ));
    if let Some(errors) = &job.errors {
        text.push_str(&format!(
            "     errors    : total={}, first_error={}/<{}>\n",
            errors.total, errors.first, errors.text
        ));
    }
    let LatencyTarget { latency_ns, window_us, percentile, depth } = job.target;
    text.push_str(&format!(
        "     latency   : target={}, window={}, percentile={percentile:3.2}%, depth={depth}\n",
        duration(latency_ns),
        duration(window_us.saturating_mul(1_000))
    ));
}

fn depths_text(label: &str, names: &[&str; 7], shares: &[f64; 7], text: &mut String) {
    let each: Vec<String> = names.iter().zip(shares).map(|(name, share)| format!("{name}={share:3.1}%")).collect();
    text.push_str(&format!("{label}: {}\n", each.join(", ")));
}

/// A span below 2,000 of a unit: `200.00us`.
fn duration(ns: u64) -> String {
    let units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6)];
    let fitting = units.into_iter().find(|(_, length)| (ns as f64) < 2_000.0 * length);
    let (unit, length) = fitting.unwrap_or(("s", 1e9));
    format!("{:.2}{unit}", ns as f64 / length)
}

fn group_text(sum: &GroupSum, text: &mut String) {
    text.push_str(&format!("\nRun status group {} (all jobs):\n", sum.number));
    let units = sum.units;
    for (kind, lane) in sum.lanes.iter().enumerate().filter(|(_, lane)| lane.runtime_ms.1 > 0) {
        let (all, (slowest, fastest)) = (lane.all_bytes_s(), lane.bytes_s);
        let name = if kind == MIXED { "MIXED".to_owned() } else { NAMES[kind].to_uppercase() };
        text.push_str(&format!(
            "{name:>7}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={}-{}msec\n",
            units.rate(all),
            units.rate_other(all),
            units.rate(slowest),
            units.rate(fastest),
            units.rate_other(slowest),
            units.rate_other(fastest),
            units.bytes(lane.bytes),
            units.bytes_other(lane.bytes),
            lane.runtime_ms.0,
            lane.runtime_ms.1
        ));
    }
}

fn disk_text(disk: &DiskUse, text: &mut String) {
    // Lines of combined disks are above those of their components, and indented further.
    let indent = if disk.below.is_some() { "    " } else { "  " };
    text.push_str(&format!("{indent}{}: {}", disk.name, disk_counts(&disk.own, ("", "sectors"))));
    if let Some(below) = &disk.below {
        text.push_str(&format!(", {}", disk_counts(below, ("aggr", "aggsectors"))));
    }
    text.push('\n');
}

fn disk_counts(counts: &DiskCounts, (of, sectors_name): (&str, &str)) -> String {
    let DiskCounts { operations, sectors, merges, ticks_ms, queue_ms, busy_percent } = counts;
    format!(
        "{of}ios={}/{}, {sectors_name}={}/{}, {of}merge={}/{}, {of}ticks={}/{}, {of}in_queue={queue_ms}, \
         {of}util={busy_percent:3.2}%",
        operations[0], operations[1], sectors[0], sectors[1], merges[0], merges[1], ticks_ms[0], ticks_ms[1]
    )
}

fn idleness_text(idleness: &Idleness, text: &mut String) {
    text.push_str(&format!("\nCPU idleness:\n  system: {:3.2}%\n", idleness.system_percent));
    if !idleness.each_percent.is_empty() {
        let each: Vec<String> = idleness.each_percent.iter().map(|percent| format!("{percent:3.2}%")).collect();
        text.push_str(&format!("  percpu: {}\n", each.join(", ")));
    }
    text.push_str(&format!(
        "  unit work: mean={:3.2}us, stddev={:3.2}\n",
        idleness.unit_mean_us, idleness.unit_deviation_us
    ));
}

#[cfg(test)]
mod tests {
    use super::{decimals, duration};

    #[test]
    fn durations_are_below_two_thousand() {
        for (ns, expected) in [
            (0, "0.00ns"),
            (1_000, "1000.00ns"),
            (1_001_000, "1001.00us"),
            (1_999_000, "1999.00us"),
            (2_000_000, "2.00ms"),
            (99_999_000, "100.00ms"),
            (1_999_000_000, "1999.00ms"),
            (61_000_000_000, "61.00s"),
        ] {
            assert_eq!(duration(ns), expected);
        }
    }

    #[test]
    fn percentages_have_required_decimals() {
        for (list, expected) in [(vec![1.0, 99.99], 2), (vec![50.0, 99.9], 1), (vec![50.0], 0), (vec![99.9999], 4)] {
            assert_eq!(decimals(&list), expected, "{list:?}");
        }
    }
}

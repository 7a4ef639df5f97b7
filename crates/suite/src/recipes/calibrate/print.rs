//! The layouts of Orion and of `CALIBRATE_IO`, and what their maxima hide.
//!
//! A megabyte is 1,048,576 bytes here, as it is there.

use plimsoll_record::Bins;
use plimsoll_units::{Bytes, Span};

use super::points::Point;
use super::{CalibrateOptions, LargeOrder, Outstanding, Run};
use crate::ground::{Facts, Nature};

fn micros(span: Span) -> f64 {
    span.as_nanos() as f64 / 1e3
}

/// The point with most small operations a second, of those that `wanted` accepts.
fn most_iops(points: &[Point], wanted: impl Fn(&Point) -> bool) -> Option<&Point> {
    most(points, |point| point.iops, |point| point.load.small > 0 && wanted(point))
}

fn most_mbps(points: &[Point]) -> Option<&Point> {
    most(points, |point| point.bytes_s, |point| point.load.large > 0)
}

/// The point with the highest rate; of several that are as high, to a thousandth, the one with the least outstanding.
fn most(points: &[Point], rate: impl Fn(&Point) -> f64, wanted: impl Fn(&Point) -> bool) -> Option<&Point> {
    let highest = points.iter().filter(|point| wanted(point)).map(&rate).reduce(f64::max)?;
    let as_high = points.iter().filter(|point| wanted(point) && rate(point) >= highest * 0.999);
    as_high.min_by_key(|point| point.load.small + point.load.large)
}

/// The load that keeps the limit with most operations; where none keeps it, the one with the least latency.
fn chosen(points: &[Point], limit: Span) -> Option<&Point> {
    most_iops(points, |point| point.latency() <= limit)
        .or_else(|| points.iter().filter(|point| point.load.small > 0).min_by_key(|point| point.latency()))
}

/// The three numbers of `CALIBRATE_IO`: whole ones, as there.
pub(super) fn limit(points: &[Point], options: &CalibrateOptions) -> String {
    let mut text = String::new();
    if let Some(point) = chosen(points, options.max_latency) {
        text += &format!("max_iops = {:.0}\n", point.iops);
        text += &format!("actual_latency = {:.0}\n", point.latency().as_millis_f64());
    }
    if let Some(point) = most_mbps(points) {
        text += &format!("max_mbps = {:.0}\n", point.mbps());
    }
    text
}

/// Orion's summary.
pub(super) fn summary(options: &CalibrateOptions, size: Bytes, points: &[Point], facts: &Facts) -> String {
    let order = match options.order {
        LargeOrder::Random => "Large Random IOs",
        LargeOrder::Sequential => "Large Sequential Streams",
    };
    let loads = options.run.loads(options.disks);
    let mut text = format!(
        "Orion layout, printed by plimsoll\n\nCommandline:\n-run {} -num_disks {}\n\n",
        options.run, options.disks
    );
    text += "This maps to this test:\nTest: orion\n";
    text += &format!("Small IO size: {} KB\nLarge IO size: {} KB\n", options.small / 1024, options.large / 1024);
    text += &format!("IO Types: Small Random IOs, {order}\nSimulated Array Type: CONCAT\n");
    text += &format!("Write: {:.0}%\nCache Size: Not Entered\n", options.writes * 100.0);
    text += &format!("Duration for each Data Point: {} seconds\n", options.point.as_secs_f64());
    // Where nothing is combined, the columns beside the first row are not named there.
    let small = if loads.iter().any(|load| load.small > 0 && load.large > 0) || loads.iter().all(|load| load.large == 0)
    {
        columns(&loads, |load| load.small)
    } else {
        columns(&[], |load| load.small)
    };
    text += &format!("Small Columns:,{small}\nLarge Columns:,{}\n", columns(&loads, |load| load.large));
    // Nothing outstanding counts as a point there, though nothing is done.
    text += &format!("Total Data Points: {}\n\n", loads.len() + 1);
    text += &format!("Name: {}  Size: {}\n1 FILEs found.\n\n", facts.subject.name, size.get());
    if let Some(point) = most_mbps(points) {
        text += &format!("Maximum Large MBPS={:.2} @ {}\n\n", point.mbps(), place(point.load));
    }
    if let Some(point) = most_iops(points, |_| true) {
        text += &format!("Maximum Small IOPS={:.0} @ {}\n{}", point.iops, place(point.load), latencies(point));
        text += &histogram(point);
        text += "\n";
    }
    if let Some(point) = points.iter().filter(|point| point.load.small > 0).min_by_key(|point| point.latency()) {
        let least = micros(point.latency());
        text += &format!("Minimum Small Latency={least:.3} usecs @ {}\n{}", place(point.load), latencies(point));
        text += &histogram(point);
    }
    text
}

fn columns(loads: &[Outstanding], of: impl Fn(&Outstanding) -> u32) -> String {
    let mut values: Vec<u32> = loads.iter().map(of).collect();
    if values.is_empty() {
        values.push(0);
    }
    values.sort_unstable();
    values.dedup();
    values.iter().map(|value| format!("{value:7}")).collect::<Vec<_>>().join(",")
}

fn place(load: Outstanding) -> String {
    format!("Small={} and Large={}", load.small, load.large)
}

fn latencies(point: &Point) -> String {
    let mut text = String::new();
    for (what, bins) in [("Read", &point.reads), ("Write", &point.writes)] {
        let Some(mean) = bins.mean() else { continue };
        let (least, most) = (bins.min_ns as f64 / 1e3, bins.max_ns as f64 / 1e3);
        text += &format!(
            "Small {what} Latency: avg={:.3} us, min={least:.3} us, max={most:.3} us, std dev={:.3} us @ {}\n",
            micros(mean),
            deviation(bins) / 1e3,
            place(point.load)
        );
    }
    text
}

/// Standard deviation in nanoseconds, to the width of the bins: each operation counts as the middle of its own.
fn deviation(bins: &Bins) -> f64 {
    let middles = || {
        let both = bins.upper_bounds().zip(&bins.bins);
        both.map(|((most, count), (least, _))| (least.midpoint(most.as_nanos()) as f64, count as f64))
    };
    let count = bins.count.max(1) as f64;
    let mean = middles().map(|(middle, count)| middle * count).sum::<f64>() / count;
    let squares = middles().map(|(middle, count)| count * (middle - mean) * (middle - mean));
    (squares.sum::<f64>() / count).sqrt()
}

/// Operations by powers of two of microseconds, with their share up to there.
fn histogram(point: &Point) -> String {
    let mut text = format!("Small Read / Write Latency Histogram @ {}\n", place(point.load));
    text += "        Latency:                         # of IOs (read)          # of IOs (write)\n";
    let (mut least, mut most) = (0, 32);
    loop {
        let [reads, writes] = [&point.reads, &point.writes].map(|bins| {
            let below = |limit: u64| {
                let counted = bins.bins.iter().take_while(|&&(lowest, _)| lowest < limit * 1000);
                counted.map(|(_, count)| count).sum::<u64>()
            };
            (below(most) - below(least), below(most) as f64 * 100.0 / bins.count.max(1) as f64)
        });
        text +=
            &format!("{least:9} - {most:<11}us:{:16} ({:6.2}%){:15} ({:6.2}%)\n", reads.0, reads.1, writes.0, writes.1);
        if most * 1000 > point.reads.max_ns.max(point.writes.max_ns) {
            return text;
        }
        (least, most) = (most, most * 2);
    }
}

/// One of Orion's matrices: a row for each number of large operations, a column for each number of small ones.
pub(super) fn csv(points: &[Point], wanted: impl Fn(&Point) -> bool, figure: impl Fn(&Point) -> String) -> String {
    let chosen: Vec<&Point> = points.iter().filter(|point| wanted(point)).collect();
    let sorted = |of: fn(&Point) -> u32| {
        let mut values: Vec<u32> = chosen.iter().map(|point| of(point)).collect();
        values.sort_unstable();
        values.dedup();
        values
    };
    let (small, large) = (sorted(|point| point.load.small), sorted(|point| point.load.large));
    let mut text = "Large/Small".to_owned();
    for small in &small {
        text += &format!(",{small:7}");
    }
    text += "\n";
    for &large in &large {
        text += &format!("{large:7}");
        for &small in &small {
            let point = chosen.iter().find(|point| point.load == Outstanding { small, large });
            text += &format!(",{:>7}", point.map(|point| figure(point)).unwrap_or_default());
        }
        text += "\n";
    }
    text
}

/// A line for each load.
pub(super) fn table(points: &[Point]) -> String {
    let mut text = format!(
        "{:>6} {:>6}  {:>10} {:>9} {:>9} {:>9} {:>9}  {:>10} {:>9}\n",
        "small", "large", "IOPS", "mean", "p50", "p99", "p99.9", "large MiB/s", "mean"
    );
    for point in points {
        let Outstanding { small, large } = point.load;
        text += &format!("{small:6} {large:6}  ");
        let bins = point.small();
        let quantile = |share| bins.quantile(share).map_or_else(String::new, |span| span.to_string());
        let mean = |bins: &Bins| bins.mean().map_or_else(String::new, |span| span.to_string());
        let iops = if small > 0 { format!("{:.0}", point.iops) } else { String::new() };
        let mbps = if large > 0 { format!("{:.2}", point.mbps()) } else { String::new() };
        let (p50, p99, p999) = (quantile(0.5), quantile(0.99), quantile(0.999));
        text += &format!("{iops:>10} {:>9} {p50:>9} {p99:>9} {p999:>9}  ", mean(&bins));
        text += format!("{mbps:>11} {:>9}", mean(&point.large)).trim_end();
        text = text.trim_end().to_owned() + "\n";
    }
    text
}

/// What is concluded.
pub(super) fn verdicts(points: &[Point], options: &CalibrateOptions, size: Bytes, facts: &Facts) -> Vec<String> {
    let mut verdicts = Vec::new();
    if options.run == Run::Limit {
        verdicts.extend(of_limit(points, options));
    } else {
        verdicts.extend(of_matrix(points, options));
    }
    if let Some(point) = most_mbps(points) {
        let mean = point.large.mean().unwrap_or(Span::ZERO);
        verdicts.push(format!(
            "{:.0} MB/s of 1,048,576 bytes with {} large operations outstanding, each of which takes {mean} there.",
            point.mbps(),
            point.load.large
        ));
    }
    if verdicts.is_empty() {
        return verdicts;
    }
    if facts.nature != Nature::Model {
        verdicts.push(format!(
            "{size} were visited: a cache between here and the drives that holds them answers in their place, and the \
             figures are the cache's. Try a size well above it."
        ));
    }
    if options.writes <= 0.0 && matches!(facts.nature, Nature::Blocks | Nature::Export) {
        verdicts.push(
            "It was read as it is: places that were never written may be answered without reading anything, and faster."
                .into(),
        );
    }
    if options.writes <= 0.0 {
        verdicts.push("Only reads were tried: nothing is said about writes, nor about reads beside them.".into());
    }
    verdicts
}

fn of_limit(points: &[Point], options: &CalibrateOptions) -> Vec<String> {
    let limit = options.max_latency;
    let Some(point) = chosen(points, limit) else { return Vec::new() };
    let bins = point.small();
    let [p99, p999] = [0.99, 0.999].map(|share| bins.quantile(share).unwrap_or(Span::ZERO));
    let (iops, depth, mean) = (point.iops, point.load.small, point.latency());
    if mean > limit {
        return vec![format!(
            "No load keeps {limit}: with {depth} outstanding the mean is {mean} already, at {iops:.0} operations a second."
        )];
    }
    let slow = (1.0 - bins.share_within(limit)) * 100.0;
    let mut verdicts = vec![format!(
        "{iops:.0} operations a second with {depth} outstanding: mean {mean}, p99 {p99}, p99.9 {p999}. The limit of {limit} \
         is the mean's; {slow:.2} % of the operations took longer."
    )];
    let strict = |point: &Point| point.small().quantile(0.99).is_some_and(|p99| p99 <= limit);
    verdicts.push(match most_iops(points, strict) {
        Some(strict) if strict.load == point.load => format!("p99 keeps {limit} there too."),
        Some(strict) => format!(
            "Of the loads tried, {:.0} operations a second with {} outstanding are the most of which p99 keeps {limit}.",
            strict.iops, strict.load.small
        ),
        None => format!("p99 keeps {limit} at no load tried."),
    });
    let is_broken = points.iter().any(|point| point.load.small > depth && point.latency() > limit);
    verdicts.push(if is_broken {
        "The limit of latency ended the search: more get through above it.".into()
    } else {
        format!("Not the limit of latency ended the search: more than {depth} outstanding brought less than 3 % more.")
    });
    verdicts
}

fn of_matrix(points: &[Point], options: &CalibrateOptions) -> Vec<String> {
    let Some(point) = most_iops(points, |_| true) else { return Vec::new() };
    let bins = point.small();
    let [p99, p999] = [0.99, 0.999].map(|share| bins.quantile(share).unwrap_or(Span::ZERO));
    let (iops, depth, mean) = (point.iops, point.load.small, point.latency());
    let mut verdicts = vec![format!(
        "{iops:.0} small operations a second with {depth} outstanding: mean {mean}, p99 {p99}, p99.9 {p999}. A maximum of \
         operations and a minimum of latency are of different loads, and never come together."
    )];
    let last = options.run.loads(options.disks).iter().map(|load| load.small).max();
    if last == Some(depth) && depth > 1 {
        verdicts.push(format!("It was the last of the loads: more than {depth} outstanding may bring more."));
    }
    verdicts
}

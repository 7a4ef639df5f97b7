//! Latencies in the statistics that an EBS volume counts.

use std::collections::BTreeMap;
use std::path::Path;

use plimsoll_analyse::{CountedLatencies, VolumeLatencies};
use plimsoll_ingest::{CapKind, Class, FormatInput, Ingest, Measure, Outcome, Reading, Statistic};
use plimsoll_units::Span;

/// The latencies in a file, added up over its volumes; `None` if it has no histograms. `interval` is that of samples
/// without times.
pub fn read_volume_latencies(path: &Path, bytes: &[u8], interval: Option<Span>) -> Option<VolumeLatencies> {
    let name = path.display().to_string();
    let mut ingest = Ingest::new(FormatInput { name, interval, ..FormatInput::default() });
    ingest.feed(bytes);
    let outcomes = ingest.finish();
    let readings: Vec<&Reading> =
        outcomes.iter().filter_map(Outcome::reading).filter(|reading| !reading.latencies.is_empty()).collect();
    let first = readings.first()?;
    Some(readings.iter().skip(1).fold(sum_latencies(first), |sum, reading| add(sum, &sum_latencies(reading))))
}

fn add(mut sum: VolumeLatencies, other: &VolumeLatencies) -> VolumeLatencies {
    let seconds = sum.seconds + other.seconds;
    sum.limited_share = sum
        .limited_share
        .zip(other.limited_share)
        .map(|(own, more)| (own * sum.seconds + more * other.seconds) / seconds);
    sum.seconds = seconds;
    for (own, more) in [(&mut sum.reads, &other.reads), (&mut sum.writes, &other.writes)] {
        own.operations += more.operations;
        own.bytes += more.bytes;
        own.busy_s += more.busy_s;
        more.bins.iter().for_each(|(bounds, count)| add_bin(&mut own.bins, *bounds, *count));
    }
    sum
}

/// Adds operations to a bin; bins stay in order.
fn add_bin(bins: &mut Vec<([u64; 2], f64)>, bounds: [u64; 2], count: f64) {
    match bins.binary_search_by_key(&bounds, |(range, _)| *range) {
        Ok(place) => bins[place].1 += count,
        Err(place) => bins.insert(place, (bounds, count)),
    }
}

fn sum_latencies(reading: &Reading) -> VolumeLatencies {
    let seconds = |window: u32| reading.windows[window as usize].length.as_secs_f64();
    let means = reading.figures.iter().filter(|figure| figure.statistic == Statistic::Mean);
    let means: BTreeMap<_, f64> =
        means.map(|figure| ((figure.class, figure.measure, figure.scope, figure.window), figure.value)).collect();
    let of = |class: Class| {
        let mut counted = CountedLatencies::default();
        for ((_, measure, scope, window), value) in means.iter().filter(|((own, ..), _)| *own == class) {
            match measure {
                Measure::Iops => {
                    let operations = value * seconds(*window);
                    let latency_s = means.get(&(class, Measure::Latency, *scope, *window));
                    counted.operations += operations;
                    counted.busy_s += operations * latency_s.unwrap_or(&0.0);
                }
                Measure::Throughput => counted.bytes += value * seconds(*window),
                _ => {}
            }
        }
        let histograms = reading.latencies.iter().filter(|histogram| histogram.class == class);
        for (bin, count) in histograms.flat_map(|histogram| &histogram.bins) {
            add_bin(&mut counted.bins, [bin.lower_us, bin.upper_us], *count);
        }
        counted
    };
    // Windows of several volumes are the same time.
    let all_s: f64 = reading.windows.iter().map(|window| window.length.as_secs_f64()).sum();
    VolumeLatencies {
        reads: of(Class::Read),
        writes: of(Class::Write),
        seconds: all_s,
        limited_share: limited_share(reading),
    }
}

/// The largest share of the time in which a limit delayed operations.
fn limited_share(reading: &Reading) -> Option<f64> {
    let times = reading.caps.iter().filter(|cap| cap.limit.kind != CapKind::Either).filter_map(|cap| cap.time);
    let shares = times.filter(|[_, all]| !all.is_zero()).map(|[above, all]| above.as_secs_f64() / all.as_secs_f64());
    shares.reduce(f64::max)
}

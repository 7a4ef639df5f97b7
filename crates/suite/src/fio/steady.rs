//! Steady state of a job by fio's rules: a window of figures, their deviation from the mean or their slope, and a
//! limit.
//!
//! From fio's documentation of `steadystate`: figures are means of `steadystate_check_interval`, the window is
//! `steadystate_duration` long, and slopes are least squares fits.

use std::collections::BTreeMap;

use plimsoll_fio::FioJob;
use plimsoll_fio::SteadyCriterion as Criterion;
use plimsoll_fio::SteadyState as SteadyOption;
use plimsoll_fio::print::SteadyState;
use plimsoll_record::Slice;
use plimsoll_units::{Instant, Kind, Span};

use super::plan::Member;

/// Stops the jobs of a running stage that attain their steady state, which is added to `steady` by the number of the
/// clone. Jobs with group reporting are judged together.
pub fn stop_attained(jobs: &[FioJob], members: &[Member], series: &[Slice], steady: &mut BTreeMap<u64, SteadyState>) {
    for (index, member) in members.iter().enumerate() {
        let life = &jobs[member.job].life;
        let Some(option) = life.steady_state.filter(|_| !steady.contains_key(&member.number)) else { continue };
        let joins = |other: &Member| {
            let is_joint = life.group_reporting && jobs[other.job].life.group_reporting;
            other.number == member.number || (is_joint && other.group == member.group)
        };
        let streams: Vec<usize> =
            members.iter().enumerate().filter(|(_, other)| joins(other)).map(|(index, _)| index).collect();
        let warm = member.worker.begins + member.worker.conduct.counts_from;
        let own = series.iter().filter(|slice| slice.start >= Instant::ZERO + warm).map(|slice| Slice {
            tally: slice.tally.only(|counter| streams.contains(&usize::from(counter.stream))),
            ..slice.clone()
        });
        let own: Vec<Slice> = own.collect();
        if let Some(attained) = judge(&option, &own).filter(|state| state.attained && index < 255) {
            member.worker.conduct.stop.give();
            steady.insert(member.number, attained);
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Figures {
    bytes_s: f64,
    iops: f64,
    latency_ns: f64,
}

/// Steady state at the end of the series of a job or group without its warm-up; `None` without the option.
pub fn judge(option: &SteadyOption, series: &[Slice]) -> Option<SteadyState> {
    if option.duration.is_zero() || option.interval.is_zero() {
        return None;
    }
    let required = (option.duration.as_nanos() / option.interval.as_nanos()).max(1) as usize;
    let all = list_intervals(option, series);
    let window = &all[all.len().saturating_sub(required)..];
    let values: Vec<f64> = window.iter().map(|figures| select_value(option.criterion, figures)).collect();
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let deviation = values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
    let slope = fit_slope(&values) / option.interval.as_secs_f64();
    let (measure, found) = match option.criterion {
        Criterion::Iops => ("iops", deviation),
        Criterion::Bandwidth => ("bw", deviation),
        Criterion::Latency => ("lat", deviation),
        Criterion::IopsSlope => ("iops_slope", slope.abs()),
        Criterion::BandwidthSlope => ("bw_slope", slope.abs()),
        Criterion::LatencySlope => ("lat_slope", slope.abs()),
    };
    let criterion = match (option.is_percent, mean > 0.0) {
        (true, true) => found / mean * 100.0,
        (true, false) => 0.0,
        (false, _) => found,
    };
    let is_latency = matches!(option.criterion, Criterion::Latency | Criterion::LatencySlope);
    Some(SteadyState {
        measure: measure.to_owned(),
        limit: option.limit,
        in_percent: option.is_percent,
        duration_s: option.duration.as_nanos() / 1_000_000_000,
        attained: window.len() == required && criterion <= option.limit,
        criterion,
        deviation,
        slope,
        bytes_s: window.iter().map(|figures| figures.bytes_s as u64).collect(),
        iops: window.iter().map(|figures| figures.iops as u64).collect(),
        latency_ns: window.iter().filter(|_| is_latency).map(|figures| figures.latency_ns as u64).collect(),
    })
}

const fn select_value(criterion: Criterion, figures: &Figures) -> f64 {
    match criterion {
        Criterion::Iops | Criterion::IopsSlope => figures.iops,
        Criterion::Bandwidth | Criterion::BandwidthSlope => figures.bytes_s,
        Criterion::Latency | Criterion::LatencySlope => figures.latency_ns,
    }
}

/// Complete intervals after `steadystate_ramp_time`.
fn list_intervals(option: &SteadyOption, series: &[Slice]) -> Vec<Figures> {
    let mut figures = Vec::new();
    let (mut passed, mut span, mut sums) = (Span::ZERO, Span::ZERO, (0_u64, 0_u64, 0_u64));
    for slice in series {
        passed += slice.span;
        if passed <= option.ramp {
            continue;
        }
        span += slice.span;
        for counter in slice.tally.0.iter().filter(|counter| counter.kind != Kind::Flush) {
            let latencies = &counter.response;
            sums = (sums.0 + counter.bytes, sums.1 + counter.operations(), sums.2.saturating_add(latencies.sum_ns));
        }
        if span >= option.interval {
            let seconds = span.as_secs_f64();
            let (bytes, operations, sum_ns) = sums;
            let latency_ns = if operations > 0 { sum_ns as f64 / operations as f64 } else { 0.0 };
            figures.push(Figures { bytes_s: bytes as f64 / seconds, iops: operations as f64 / seconds, latency_ns });
            (span, sums) = (Span::ZERO, (0, 0, 0));
        }
    }
    figures
}

/// Least squares slope of values at 0, 1, 2 and so on.
fn fit_slope(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    if values.len() < 2 {
        return 0.0;
    }
    let (mean_x, mean_y) = ((count - 1.0) / 2.0, values.iter().sum::<f64>() / count);
    let (above, below) = values.iter().enumerate().fold((0.0, 0.0), |(above, below), (x, y)| {
        let x = x as f64 - mean_x;
        (above + x * (y - mean_y), below + x * x)
    });
    above / below
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{Bins, Counter, Tally};

    use super::*;

    fn series(rates: &[u64]) -> Vec<Slice> {
        let slice = |operations: &u64| {
            let response = Bins { count: *operations, sum_ns: operations * 1_000, ..Bins::default() };
            let (kind, bytes) = (Kind::Read, operations * 4_096);
            let counter = Counter { stream: 0, kind, bytes, errors: Vec::new(), response, service: None };
            Slice { start: Instant::ZERO, span: Span::from_secs(1), tally: Tally(vec![counter]) }
        };
        rates.iter().map(slice).collect()
    }

    fn check(criterion: Criterion, limit: f64, is_percent: bool, rates: &[u64], expected: (bool, f64)) {
        let (duration, interval, ramp) = (Span::from_secs(4), Span::from_secs(1), Span::from_secs(1));
        let option = SteadyOption { criterion, limit, is_percent, duration, ramp, interval };
        let found = judge(&option, &series(rates)).expect("a window is required");
        assert_eq!((found.attained, found.criterion), expected, "{criterion:?}: {found:?}");
    }

    #[test]
    fn window_is_judged_by_mean_or_slope() {
        use Criterion::{Bandwidth, BandwidthSlope, Iops, IopsSlope, Latency};
        check(Iops, 10.0, true, &[1, 100, 110, 90, 100], (true, 10.0));
        check(Iops, 9.0, true, &[1, 100, 110, 90, 100], (false, 10.0));
        check(Iops, 10.0, true, &[100, 100, 100, 100], (false, 0.0));
        check(Iops, 10.0, false, &[1, 5, 100, 110, 90, 100], (true, 10.0));
        check(Bandwidth, 40_960.0, false, &[1, 100, 110, 90, 100], (true, 40_960.0));
        check(IopsSlope, 5.0, false, &[1, 100, 110, 120, 130], (false, 10.0));
        check(IopsSlope, 10.0, false, &[1, 130, 120, 110, 100], (true, 10.0));
        check(BandwidthSlope, 0.0, true, &[1, 100, 100, 100, 100], (true, 0.0));
        check(Latency, 0.0, true, &[1, 100, 110, 90, 100], (true, 0.0));
    }

    #[test]
    fn no_steady_state_without_a_window() {
        let second = Span::from_secs(1);
        let option = SteadyOption {
            criterion: Criterion::Iops,
            limit: 1.0,
            is_percent: true,
            duration: Span::ZERO,
            ramp: Span::ZERO,
            interval: second,
        };
        assert_eq!(judge(&option, &series(&[1, 1])), None);
    }
}

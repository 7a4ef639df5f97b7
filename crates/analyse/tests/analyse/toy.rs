//! Storage with known properties: a simulated queue with a single server, and an exact solution for several.

use fastrand::Rng;
use plimsoll_load::{Arrival, Pace};
use plimsoll_record::{Bins, Counter, Estimate, Measure, Objective, Scope, Slice, Tally};
use plimsoll_units::{Instant, Iops, Kind, Span};

pub fn exponential(rng: &mut Rng, mean: f64) -> f64 {
    -mean * (1.0 - rng.f64()).ln()
}

pub fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}

/// A Poisson count; normal approximation above a mean of 50.
pub fn poisson(rng: &mut Rng, mean: f64) -> u64 {
    if mean > 50.0 {
        return (mean + mean.sqrt() * normal(rng) + 0.5).max(0.0) as u64;
    }
    let (mut count, mut product, floor) = (0, rng.f64(), (-mean).exp());
    while product > floor {
        count += 1;
        product *= rng.f64();
    }
    count
}

/// Histogram of response times in nanoseconds, each counted `times`.
pub fn build_bins(responses_ns: &mut [u64], times: u64) -> Bins {
    responses_ns.sort_unstable();
    let mut bins: Vec<(u64, u64)> = Vec::new();
    for &ns in responses_ns.iter() {
        let lowest = ns & !((1 << (ns | 255).ilog2().saturating_sub(7)) - 1);
        match bins.last_mut() {
            Some(last) if last.0 == lowest => last.1 += times,
            _ => bins.push((lowest, times)),
        }
    }
    Bins {
        count: responses_ns.len() as u64 * times,
        sum_ns: responses_ns.iter().sum::<u64>() * times,
        min_ns: responses_ns.first().copied().unwrap_or(0),
        max_ns: responses_ns.last().copied().unwrap_or(0),
        bins,
    }
}

pub fn slice(start: Span, span: Span, response: Bins) -> Slice {
    let counter =
        Counter { stream: 0, kind: Kind::Read, bytes: response.count * 4096, errors: vec![], response, service: None };
    let tally = if counter.response.is_empty() { Tally::default() } else { Tally(vec![counter]) };
    Slice { start: Instant::ZERO + start, span, tally }
}

/// Slices of `span` for each `(operations per second, mean response in ns)`, response times exponential.
pub fn series(rng: &mut Rng, span: Span, levels: impl IntoIterator<Item = (f64, f64)>) -> Vec<Slice> {
    let mut start = Span::ZERO;
    let slices = levels.into_iter().map(|(iops, mean_ns)| {
        let count = poisson(rng, iops * span.as_secs_f64());
        let mut responses: Vec<u64> = (0..count).map(|_| exponential(rng, mean_ns) as u64).collect();
        start += span;
        slice(start - span, span, build_bins(&mut responses, 1))
    });
    slices.collect()
}

/// An M/M/1 queue with a mean service of 1 ms: `operations` in slices of `span`, from its stationary state.
pub fn single_server(rng: &mut Rng, load: f64, operations: usize, span: Span) -> Vec<Slice> {
    const SERVICE_NS: f64 = 1e6;
    let mut wait = if rng.f64() < load { exponential(rng, SERVICE_NS / (1.0 - load)) } else { 0.0 };
    let (mut arrived, mut slices, mut responses) = (0.0, Vec::new(), Vec::new());
    for _ in 0..operations {
        let response = wait + exponential(rng, SERVICE_NS);
        while arrived + response >= (span.as_nanos() * (slices.len() as u64 + 1)) as f64 {
            slices.push(slice(span * slices.len() as u64, span, build_bins(&mut responses, 1)));
            responses.clear();
        }
        responses.push(response as u64);
        let gap = exponential(rng, SERVICE_NS / load);
        arrived += gap;
        wait = (response - gap).max(0.0);
    }
    slices
}

pub fn p99_within(limit: Span) -> Objective {
    Objective { over: Scope::All, measure: Measure::Quantile(0.99), limit }
}

pub fn open(rate: f64) -> Pace {
    Pace::Open { rate: Iops::from_f64(rate), arrival: Arrival::Poisson }
}

/// A run with figures only.
/// A value with a relative half width.
pub fn recognize(value: f64, half_width: f64) -> Estimate {
    Estimate { value, interval: Some((value * (1.0 - half_width), value * (1.0 + half_width))) }
}

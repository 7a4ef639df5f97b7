//! Comparison of curves: noise is ignored, real changes are found.

use fastrand::Rng;
use plimsoll_analyse::{Comparison, Incomparable, Quantity, Verdict, compare, compare_sides};
use plimsoll_load::Pace;
use plimsoll_record::{Curve, Figures, Finding, Run, Source};
use plimsoll_units::{Bytes, Span};

use crate::measured;
use crate::toy::{self, normal, open, recognize};

/// Relative standard deviation between runs, which is not covered by their intervals.
const BETWEEN_RUNS: f64 = 0.02;

pub fn build_curve(runs: Vec<Run>) -> Curve {
    let mut curve = measured::curve(runs, Bytes::kib(8), Bytes::gib(1));
    curve.conditions.objective = Some(toy::p99_within(Span::from_millis(1)));
    curve
}

/// A measured curve of storage with `service_ns` and 16 servers, with noise within and between its runs.
fn measured(rng: &mut Rng, service_ns: f64) -> Curve {
    let mut run = |offered: Pace, iops: f64, mean_ns: f64, p99_ns: f64| {
        let between = (BETWEEN_RUNS * normal(rng)).exp();
        // Half widths of about two standard errors.
        let mut noisy = |value: f64, half: f64| recognize(value * (half / 2.0 * normal(rng)).exp(), half);
        let closed = matches!(offered, Pace::Closed { .. });
        let figures = Figures {
            iops: noisy(if closed { iops / between } else { iops }, 0.01),
            mean_ns: noisy(mean_ns * between, 0.03),
            p99_ns: noisy(p99_ns * between, 0.08),
            ..Figures::default()
        };
        measured::run(offered, figures)
    };
    let max = 16.0 / service_ns * 1e9;
    let mut runs: Vec<Run> = Vec::new();
    for depth in [1, 2, 4, 8, 16, 32] {
        let iops = max.min(f64::from(depth) / service_ns * 1e9);
        let mean_ns = f64::from(depth) / iops * 1e9;
        runs.push(run(Pace::Closed { depth }, iops, mean_ns, 3.0 * mean_ns));
    }
    for rate in [40e3, 80e3, 110e3, 120e3] {
        let wait_ns = 1e9 / (max - rate);
        runs.push(run(open(rate), rate, service_ns + wait_ns, 3.0 * service_ns + 4.6 * wait_ns));
    }
    build_curve(runs)
}

fn share(pairs: u64, service_ns: f64, verdict: &Verdict) -> f64 {
    let compared = |seed| {
        let rng = &mut Rng::with_seed(seed);
        compare(&measured(rng, 1e5), &measured(rng, service_ns)).verdict
    };
    (0..pairs).filter(|&seed| compared(seed) == *verdict).count() as f64 / pairs as f64
}

#[test]
fn equal_storage_has_no_change() {
    let quiet = share(200, 1e5, &Verdict::NoRealChange);
    assert!(quiet > 0.95, "{quiet}");
}

#[test]
fn real_change_is_found() {
    let found = share(200, 1e5 / 1.15, &Verdict::Better);
    assert!(found > 0.95, "{found}");
    let found = share(200, 1e5 * 1.15, &Verdict::Worse);
    assert!(found > 0.95, "{found}");
}

fn only(comparison: &Comparison, quantity: Quantity) -> Verdict {
    let change = comparison.overall.iter().find(|change| change.quantity == quantity);
    change.map_or(Verdict::NotComparable(Incomparable::NoCommonLoad), |change| change.verdict.clone())
}

fn build_closed(depth: u32, iops: f64) -> Run {
    let mean_ns = recognize(f64::from(depth) / iops * 1e9, 0.01);
    let p99_ns = recognize(mean_ns.value * 2.0, 0.05);
    measured::run(
        Pace::Closed { depth },
        Figures { iops: recognize(iops, 0.01), mean_ns, p99_ns, ..Figures::default() },
    )
}

/// Runs of a side with named loads, each faster than 10,000 IOPS at depth 1 by these factors.
fn build_side(factors: &[f64]) -> Vec<Curve> {
    let of = |f: &f64| build_curve(vec![build_closed(1, 1e4 * f), build_closed(4, 3e4 * f)]);
    factors.iter().map(of).collect()
}

#[test]
fn named_loads_of_several_runs_are_compared_load_by_load() {
    let check = |a: &[f64], b: &[f64]| compare_sides(&build_side(a), &build_side(b), None);
    let noise = [0.99, 1.0, 1.01];
    let better = check(&noise, &noise.map(|f| f * 1.3));
    assert_eq!((better.points.len(), &better.verdict), (4, &Verdict::Better));
    let change = &better.points[0];
    assert_eq!((change.quantity, change.offered), (Quantity::Iops, Some(Pace::Closed { depth: 1 })));
    assert!((change.ratio.value - 1.3).abs() < 1e-9, "{change:?}");
    let (low, high) = change.ratio.interval.expect("an interval by the scatter of runs");
    assert!(low > 1.2 && high < 1.4, "{low} {high}");
    assert_eq!(check(&noise, &[1.02, 1.0, 0.98]).verdict, Verdict::NoRealChange);
    // The scatter between runs exceeds the difference, although each run has a narrow interval.
    assert_eq!(check(&[0.8, 1.0, 1.25], &[0.9, 1.1, 1.4]).verdict, Verdict::NoRealChange);
    assert_eq!(check(&noise, &[1.0, 1.0]).verdict, Verdict::NotComparable(Incomparable::TwoRuns));
}

#[test]
fn late_generator_gives_no_verdict() {
    let run = |rate: f64, mean_ns: f64| {
        let figures = Figures {
            iops: recognize(rate, 0.001),
            mean_ns: recognize(mean_ns, 0.02),
            p99_ns: recognize(3.0 * mean_ns, 0.05),
            ..Figures::default()
        };
        measured::run(open(rate), figures)
    };
    let curve = |mean_ns: f64| build_curve(vec![run(1_000.0, mean_ns), run(2_000.0, mean_ns)]);
    let late = |mut curve: Curve, index: usize| {
        let p99 = Span::from_millis(1);
        curve.runs[index].findings.push(Finding::GeneratorLate { p99, response_p99: p99 });
        curve
    };
    let none = Verdict::NotComparable(Incomparable::LateGenerator);
    assert_eq!(compare(&curve(2e5), &curve(2e5)).verdict, Verdict::NoRealChange);
    assert_eq!(compare(&curve(2e5), &late(curve(2e5), 1)).verdict, none);
    // A single point does not decide, and the other is unknown.
    assert_eq!(compare(&curve(2e5), &late(curve(2.6e5), 1)).verdict, none);
    let sides = [1.0, 1.01, 0.99].map(|f| curve(2e5 * f));
    let mut others = sides.clone();
    assert_eq!(compare_sides(&sides, &others, None).verdict, Verdict::NoRealChange);
    others[2] = late(others[2].clone(), 0);
    assert_eq!(compare_sides(&sides, &others, None).verdict, none);
}

#[test]
fn change_below_the_floor_is_ignored() {
    let curves = [1.0, 1.04]
        .map(|f| build_curve(vec![build_closed(1, 1e4 * f), build_closed(2, 2e4 * f), build_closed(4, 3e4 * f)]));
    let comparison = compare(&curves[0], &curves[1]);
    assert_eq!(comparison.verdict, Verdict::NoRealChange);
    let (low, _) = comparison.overall[0].ratio.interval.unwrap();
    assert!(low > 1.0, "the interval alone would say otherwise: {low}");
}

#[test]
fn scatter_between_repetitions_raises_the_floor() {
    let curves = [1.0, 1.15].map(|f| {
        let runs = [0.9, 1.0, 1.1].map(|noise| [build_closed(1, 1e4 * f * noise), build_closed(2, 2e4 * f * noise)]);
        build_curve(runs.concat())
    });
    let comparison = compare(&curves[0], &curves[1]);
    assert_eq!(comparison.verdict, Verdict::NoRealChange);
    assert!(comparison.overall[0].floor > 0.2, "{}", comparison.overall[0].floor);
}

#[test]
fn single_point_does_not_decide() {
    let runs = |third| {
        build_curve([(1, 1e4), (2, 2e4), (4, third), (8, 4e4)].map(|(depth, iops)| build_closed(depth, iops)).into())
    };
    let comparison = compare(&runs(3e4), &runs(2e4));
    assert_eq!(comparison.points.iter().filter(|change| change.verdict == Verdict::Worse).count(), 2, "IOPS and p99");
    assert_eq!(comparison.verdict, Verdict::NoRealChange);
}

#[test]
fn contradictory_changes_are_mixed() {
    let a = build_curve(vec![build_closed(1, 1e4), build_closed(2, 2e4), build_closed(4, 4e4), build_closed(8, 8e4)]);
    let b = build_curve(vec![build_closed(1, 1.5e4), build_closed(2, 3e4), build_closed(4, 3e4), build_closed(8, 3e4)]);
    assert_eq!(compare(&a, &b).verdict, Verdict::Mixed);
}

#[test]
fn overall_quantities_need_no_common_loads() {
    let a = build_curve(vec![build_closed(1, 1e4), build_closed(8, 5e4)]);
    let b = build_curve(vec![build_closed(1, 1e4), build_closed(16, 9e4)]);
    let comparison = compare(&a, &b);
    assert_eq!(only(&comparison, Quantity::MostIops), Verdict::Better);
    assert_eq!(only(&comparison, Quantity::Mean), Verdict::NoRealChange);
    assert_eq!(comparison.points.len(), 2, "depth 1 only: {:?}", comparison.points);
    assert!(matches!(only(&comparison, Quantity::LoadLine), Verdict::NotComparable(_)));
    assert!(matches!(compare(&build_curve(vec![]), &b).verdict, Verdict::NotComparable(_)));
}

#[test]
fn differing_conditions_are_reported() {
    let a = build_curve(vec![build_closed(1, 1e4)]);
    assert_eq!(compare(&a, &a).conditions, vec![]);
    let mut b = a.clone();
    b.source = Source::Simulated { model: "toy".into(), credits: None };
    b.conditions.threads = 2;
    b.conditions.direct = false;
    b.conditions.seed = 9;
    b.conditions.streams[0].mix.reads = 0.7;
    b.conditions.streams[0].pace = Pace::Closed { depth: 9 };
    let conditions = compare(&a, &b).conditions;
    let displayed: Vec<String> = conditions.iter().map(|d| format!("{}: {} / {}", d.what, d.a, d.b)).collect();
    assert_eq!(
        displayed,
        [
            "source: measured / simulated",
            "I/O: direct / buffered",
            "threads: 1 / 2",
            "stream data: 8 KiB, 100 % reads, uniform in 1 GiB / 8 KiB, 70 % reads, uniform in 1 GiB",
        ]
    );
}

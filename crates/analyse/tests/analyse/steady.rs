//! Detection of warm-up, drift, drops and overload, without false alarms for noise.

use fastrand::Rng;
use plimsoll_analyse::{Settle, Settled, settle};
use plimsoll_load::Pace;
use plimsoll_record::{Finding, Slice, Steadiness};
use plimsoll_units::Span;

use crate::toy::{self, exponential, normal};

const SLICE: Span = Span::from_millis(100);

fn closed() -> Settle {
    Settle {
        least_warm_up: Span::ZERO,
        offered_span: Span::MAX,
        objective: None,
        offered: Pace::Closed { depth: 8 },
        unserved: 0,
    }
}

/// A closed load of depth 8 with the rate `level`, and relative noise per slice.
fn follows(seed: u64, slices: u32, noise: f64, level: impl Fn(f64) -> f64) -> Vec<Slice> {
    let rng = &mut Rng::with_seed(seed);
    let noises: Vec<f64> = (0..slices).map(|_| (noise * normal(rng)).exp()).collect();
    let iops = |i: u32| level(f64::from(i) / f64::from(slices)) * noises[i as usize];
    toy::series(rng, SLICE, (0..slices).map(|i| (iops(i), 8e9 / iops(i))))
}

fn share(runs: u64, holds: impl Fn(u64) -> bool) -> f64 {
    (0..runs).filter(|&seed| holds(seed)).count() as f64 / runs as f64
}

fn is_quiet(settled: &Settled) -> bool {
    settled.findings.is_empty() && settled.figures.steadiness == Steadiness::Steady
}

#[test]
fn noise_is_steady() {
    let quiet = share(100, |seed| is_quiet(&settle(&follows(seed, 100, 0.10, |_| 1_000.0), &closed())));
    assert!(quiet >= 0.95, "{quiet}");
}

#[test]
fn stationary_queue_is_steady() {
    let quiet = share(30, |seed| {
        let series = toy::single_server(&mut Rng::with_seed(seed), 0.8, 20_000, Span::from_millis(250));
        is_quiet(&settle(&series, &Settle { offered: toy::open(800.0), ..closed() }))
    });
    assert!(quiet >= 0.9, "{quiet}");
}

#[test]
fn slow_storage_is_steady() {
    let quiet = share(100, |seed| is_quiet(&settle(&follows(seed, 100, 0.0, |_| 60.0), &closed())));
    assert!(quiet >= 0.95, "{quiet}");
}

#[test]
fn single_outlier_is_no_finding() {
    let quiet = share(50, |seed| {
        let stalled = |at: f64| if (0.3..0.31).contains(&at) || (0.9..0.91).contains(&at) { 40.0 } else { 1_000.0 };
        is_quiet(&settle(&follows(seed, 100, 0.03, stalled), &closed()))
    });
    assert!(quiet >= 0.95, "{quiet}");
}

#[test]
fn ramp_is_found() {
    let found = share(40, |seed| {
        let settled = settle(&follows(seed, 100, 0.05, |at| 3_000.0 * (1.0 - 0.2 * at)), &closed());
        // In a closed load the rate falls as the response time grows: either may be reported.
        let named = matches!(settled.findings[..], [Finding::NoSteadyState { .. }]);
        named && settled.figures.steadiness == Steadiness::Drifting
    });
    assert!(found >= 0.95, "{found}");
}

#[test]
fn drift_of_the_p99_alone_is_found() {
    let found = share(20, |seed| {
        let rng = &mut Rng::with_seed(seed);
        let mut slices = Vec::new();
        for i in 0..60u32 {
            let slow = 1e6 * (10.0 + f64::from(i) / 2.0);
            let mut responses: Vec<u64> = (0..600)
                .map(|_| if rng.f64() < 0.02 { exponential(rng, slow) } else { exponential(rng, 1e6) } as u64)
                .collect();
            slices.push(toy::slice(SLICE * u64::from(i), SLICE, toy::build_bins(&mut responses, 1)));
        }
        let findings = settle(&slices, &closed()).findings;
        findings
            .iter()
            .any(|f| matches!(f, Finding::NoSteadyState { measure, .. } if measure == "p99" || measure == "mean"))
    });
    assert!(found >= 0.95, "{found}");
}

#[test]
fn warm_up_is_trimmed() {
    // A cold cache: a third of the rate, filled with a time constant of 10 % of the run.
    let level = |at: f64| 1_000.0 * (1.0 - 0.67 * (-at / 0.05).exp());
    let mut bias = 0.0;
    for seed in 0..20 {
        let settled = settle(&follows(seed, 100, 0.03, level), &closed());
        bias += (settled.figures.iops.value / 1_000.0 - 1.0) / 20.0;
        assert!(settled.warm_up > Span::from_millis(300), "cut {}", settled.warm_up);
        assert_eq!(settled.warm_up + settled.span, SLICE * 100);
    }
    assert!(f64::abs(bias) < 0.005, "{bias}");
}

#[test]
fn steady_run_is_hardly_trimmed() {
    let retained: f64 =
        (0..25).map(|seed| settle(&follows(seed, 100, 0.1, |_| 1e3), &closed()).span.as_secs_f64()).sum();
    assert!(retained / 25.0 > 9.5, "{retained}");
}

#[test]
fn exhausted_burst_allowance_is_found() {
    for (seed, at) in [(1, 0.3), (2, 0.5), (3, 0.7)] {
        let settled = settle(&follows(seed, 100, 0.05, |now| if now < at { 3_000.0 } else { 900.0 }), &closed());
        let [Finding::RateDropped { at_seconds, before, after }] = settled.findings[..] else {
            panic!("{:?}", settled.findings);
        };
        assert!((at_seconds - 10.0 * at).abs() < 0.4, "{at_seconds}");
        assert!((settled.figures.iops.value / 900.0 - 1.0).abs() < 0.05, "what went on: {:?}", settled.figures.iops);
        assert!((before / 3_000.0 - 1.0).abs() < 0.05 && (after / 900.0 - 1.0).abs() < 0.05, "{before} {after}");
    }
    let back = settle(&follows(4, 100, 0.05, |now| if (0.4..0.6).contains(&now) { 900.0 } else { 3e3 }), &closed());
    assert!(!back.findings.iter().any(|f| matches!(f, Finding::RateDropped { .. })), "{:?}", back.findings);
}

/// Completions of an open load on a fluid server in ten seconds, and while the backlog drains.
fn fluid(seed: u64, rate: f64, capacity: f64) -> Vec<Slice> {
    let rng = &mut Rng::with_seed(seed);
    let growth = (1.0 - capacity / rate).max(0.0);
    let drain = (100.0 * (rate / capacity - 1.0).max(0.0)) as u32;
    let wait_ns = |i: u32| growth * (f64::from(i.min(100)) * 1e8 + f64::from(i.saturating_sub(100)) * 0.0);
    toy::series(
        rng,
        SLICE,
        (0..=100 + drain).map(|i| {
            let iops = if i < 100 {
                rate.min(capacity)
            } else if drain > 0 {
                capacity
            } else {
                3.0
            };
            (iops, 2e5 + wait_ns(i))
        }),
    )
}

#[test]
fn only_overload_is_found() {
    let options = |rate| Settle { offered: toy::open(rate), offered_span: SLICE * 100, ..closed() };
    let steadiness = |seed, rate, capacity| {
        let settled = settle(&fluid(seed, rate, capacity), &options(rate));
        settled.figures.steadiness
    };
    for seed in 0..8 {
        assert_eq!(steadiness(seed, 3_000.0, 2_000.0), Steadiness::Overloaded);
        assert_eq!(steadiness(seed, 2_100.0, 2_000.0), Steadiness::Overloaded);
        assert_eq!(steadiness(seed, 1_900.0, 2_000.0), Steadiness::Steady);
        assert_ne!(steadiness(seed, 100.0, 200.0), Steadiness::Overloaded);
    }
}

#[test]
fn overload_is_found_during_the_run() {
    let series = &fluid(1, 3_000.0, 2_000.0)[..50];
    let settled = settle(series, &Settle { offered: toy::open(3_000.0), ..closed() });
    assert_eq!(settled.figures.steadiness, Steadiness::Overloaded);
}

#[test]
fn drained_backlog_counts_in_response_times_only() {
    let series = fluid(1, 3_000.0, 2_000.0);
    let settled = settle(&series, &Settle { offered: toy::open(3_000.0), offered_span: SLICE * 100, ..closed() });
    assert!((settled.figures.iops.value / 2_000.0 - 1.0).abs() < 0.02, "{:?}", settled.figures.iops);
    assert_eq!(settled.total.operations(), series.iter().map(|slice| slice.tally.operations()).sum::<u64>());
    assert!(settled.figures.p99_ns.value > 3.3e9, "{:?}", settled.figures.p99_ns);
    assert_eq!(settled.span, SLICE * 100);
}

#[test]
fn short_series_is_unknown() {
    let settled = settle(&follows(1, 6, 0.0, |_| 1_000.0), &closed());
    assert_eq!(settled.figures.steadiness, Steadiness::Unknown);
    assert_eq!(settled.figures.iops.interval, None);
    let none = settle(&[], &closed());
    assert_eq!((none.span, none.figures.iops.value), (Span::ZERO, 0.0));
    let cut = settle(&follows(1, 6, 0.0, |_| 1e3), &Settle { least_warm_up: Span::from_secs(9), ..closed() });
    assert_eq!((cut.span, cut.total.operations()), (Span::ZERO, 0));
}

#[test]
fn little_s_law_holds() {
    let settled = settle(&follows(1, 100, 0.02, |_| 1_000.0), &closed());
    assert!((settled.figures.in_flight / 8.0 - 1.0).abs() < 0.03, "{}", settled.figures.in_flight);
}

#[test]
fn figures_contain_their_objective() {
    for text in ["p95<=5ms", "read p99<=5ms"] {
        let objective = Some(text.parse().unwrap());
        let figures = settle(&follows(1, 100, 0.02, |_| 1_000.0), &Settle { objective, ..closed() }).figures;
        assert_eq!(figures.objective, objective);
        assert!(figures.objective_ns.is_some_and(|own| own.interval.is_some()), "{:?}", figures.objective_ns);
    }
}

//! Coverage of confidence intervals.

use fastrand::Rng;
use plimsoll_analyse::interval;
use plimsoll_record::{Estimate, Slice};
use plimsoll_units::Span;

use crate::toy;

/// Coverage of the available intervals, and the share of runs with an interval.
fn coverage(runs: &[Vec<Slice>], truth: f64, estimate: impl Fn(&[Slice]) -> Option<Estimate>) -> (f64, f64) {
    let intervals: Vec<_> = runs.iter().filter_map(|run| estimate(run)?.interval).collect();
    let covered = intervals.iter().filter(|(low, high)| *low <= truth && truth <= *high).count() as f64;
    (covered / intervals.len() as f64, intervals.len() as f64 / runs.len() as f64)
}

fn p99(series: &[Slice]) -> Option<Estimate> {
    interval::quantile(series, 0.99)
}

fn check(load: f64, operations: usize, runs: u64) {
    let mean_ns = 1e6 / (1.0 - load);
    let span = span_of(operations, load);
    let all: Vec<_> =
        (0..runs).map(|seed| toy::single_server(&mut Rng::with_seed(seed), load, operations, span)).collect();
    let (covered, given) = coverage(&all, mean_ns, interval::mean);
    assert!(covered >= 0.88 && given > 0.99, "mean at load {load}: {covered} of {given}");
    let p99_ns = mean_ns * 100f64.ln();
    let (covered, given) = coverage(&all, p99_ns, p99);
    assert!(covered >= 0.85 && given > 0.5, "p99 at load {load}: {covered} of {given}");
    let iops = load * 1e3;
    let (covered, given) = coverage(&all, iops, interval::iops);
    assert!(covered >= 0.88 && given > 0.99, "IOPS at load {load}: {covered} of {given}");
}

/// Slice length for a hundred slices per run.
fn span_of(operations: usize, load: f64) -> Span {
    Span::from_secs_f64(operations as f64 / load / 1e3 / 100.0)
}

#[test]
fn coverage_on_a_queue_at_half_load() {
    check(0.5, 10_000, 60);
}

#[test]
fn coverage_on_a_queue_at_four_fifths_load() {
    check(0.8, 40_000, 30);
}

#[test]
fn coverage_with_few_independent_operations() {
    let series = |seed| toy::series(&mut Rng::with_seed(seed), Span::from_millis(100), [(300.0, 1e6); 40]);
    let all: Vec<_> = (0..200).map(series).collect();
    let (covered, given) = coverage(&all, 1e6 * 100f64.ln(), p99);
    assert!(covered >= 0.92 && given >= 0.95, "{covered} of {given}");
}

#[test]
fn too_few_operations_have_no_interval() {
    let mut rng = Rng::with_seed(1);
    let nine = toy::series(&mut rng, Span::from_secs(1), [(1e3, 1e6); 9]);
    assert_eq!(interval::mean(&nine).unwrap().interval, None, "nine slices");
    let few = toy::series(&mut rng, Span::from_secs(1), [(40.0, 1e6); 20]);
    assert!(interval::mean(&few).unwrap().interval.is_some());
    assert_eq!(interval::quantile(&few, 0.99).unwrap().interval, None, "eight operations above the p99");
    assert!(interval::quantile(&few, 0.5).unwrap().interval.is_some());
    let empty: &[Slice] = &[];
    assert_eq!(interval::quantile(empty, 0.99), None);
    assert_eq!(interval::mean(empty), None);
    assert_eq!(interval::iops(empty), None);
}

#[test]
fn autocorrelation_widens_the_interval() {
    let mut rng = Rng::with_seed(5);
    let level = |i: i32| 1e6 * (1.0 + 0.3 * (f64::from(i) / 40.0 * std::f64::consts::TAU).sin());
    let wave = toy::series(&mut rng, Span::from_millis(100), (0..40).map(|i| (2e3, level(i))));
    // The same slices in an order without autocorrelation.
    let mut shuffled = wave.clone();
    rng.shuffle(&mut shuffled);
    let width = |series: &[Slice]| interval::mean(series).unwrap().relative_half_width().unwrap();
    assert!(width(&wave) > 1.5 * width(&shuffled), "{} and {}", width(&wave), width(&shuffled));
}

#[test]
fn student_matches_the_table() {
    for (degrees, expected) in [(1, 12.706), (9, 2.262), (19, 2.093), (30, 2.042), (60, 2.000), (120, 1.980)] {
        assert!((interval::student(degrees) - expected).abs() < 0.002, "{degrees}");
    }
}

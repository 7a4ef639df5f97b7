//! The knee and the load line of runs with given figures.

use plimsoll_analyse::{chosen_objective, knee, ladder, load_line, reached_knee};
use plimsoll_load::Pace;
use plimsoll_record::{Bins, Counter, Estimate, Figures, LoadLine, Objective, Run, Slice, Steadiness, Tally};
use plimsoll_units::{Instant, Kind, Span};

use crate::compare::build_curve;
use crate::measured;
use crate::toy::{self, open, recognize};

const SERVERS: f64 = 1_000.0;

/// An open run of an M/M/1 queue with a capacity of 1,000 per second; its p99 is known to `half_width`.
fn at(rate: f64, half_width: f64) -> Run {
    let mean_ns = 1e9 / (SERVERS - rate).max(1e-3);
    let steadiness = if rate < SERVERS { Steadiness::Steady } else { Steadiness::Overloaded };
    let p99 = if half_width > 0.0 {
        recognize(mean_ns * 100f64.ln(), half_width)
    } else {
        Estimate::bare(mean_ns * 100f64.ln())
    };
    let figures = Figures {
        iops: recognize(rate.min(SERVERS), 0.01),
        mean_ns: recognize(mean_ns, half_width),
        p99_ns: p99,
        steadiness,
        ..Figures::default()
    };
    measured::run(open(rate), figures)
}

fn closed(depth: u32, iops: f64, p99_ms: f64) -> Run {
    let mean_ns = recognize(f64::from(depth) / iops * 1e9, 0.01);
    let figures =
        Figures { iops: recognize(iops, 0.01), mean_ns, p99_ns: recognize(p99_ms * 1e6, 0.05), ..Figures::default() };
    measured::run(Pace::Closed { depth }, figures)
}

/// Highest rate with a p99 of at most 20 ms.
const TRUTH: f64 = SERVERS - 230.26;

fn within_ms(ms: u64) -> Objective {
    toy::p99_within(Span::from_millis(ms))
}

fn place(runs: &[Run]) -> (f64, Option<(f64, f64)>) {
    match load_line(runs, within_ms(20)) {
        Some(LoadLine::At { iops, .. }) => (iops.value, iops.interval),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_line_is_interpolated_between_clear_neighbours() {
    let runs: Vec<Run> = [250.0, 500.0, 700.0, 850.0, 950.0, 1_050.0].map(|rate| at(rate, 0.05)).into();
    let (value, interval) = place(&runs);
    assert!((value / TRUTH - 1.0).abs() < 0.03, "{value}");
    assert_eq!(interval, None, "single runs do not show how far runs differ");
    let mut reversed = runs;
    reversed.reverse();
    assert_eq!(place(&reversed), (value, interval), "whatever the order");
}

#[test]
fn overloaded_neighbour_is_not_interpolated() {
    assert_eq!(place(&[at(700.0, 0.05), at(1_050.0, 0.05)]), (700.0, None));
}

#[test]
fn clear_failure_excludes_heavier_loads() {
    let mut lucky = at(850.0, 0.05);
    lucky.figures.p99_ns = recognize(1e6, 0.05);
    let (value, _) = place(&[at(700.0, 0.05), at(800.0, 0.05), lucky]);
    assert!((700.0..800.0).contains(&value), "{value}");
}

#[test]
fn repeated_runs_are_pooled() {
    let mut unlucky = at(700.0, 0.05);
    unlucky.figures.p99_ns = recognize(21e6, 0.05);
    let runs = [at(700.0, 0.05), unlucky, at(700.0, 0.05), at(850.0, 0.05)];
    assert!((700.0..850.0).contains(&place(&runs).0));
}

#[test]
fn beyond_and_never() {
    let met = load_line(&[at(250.0, 0.05), at(500.0, 0.05)], within_ms(20));
    assert!(matches!(met, Some(LoadLine::Beyond { iops, .. }) if (iops.value - 500.0).abs() < 1e-6), "{met:?}");
    let missed = load_line(&[at(250.0, 0.05), at(500.0, 0.05)], within_ms(1));
    assert!(matches!(missed, Some(LoadLine::Never { least, .. }) if least > Span::from_millis(6)), "{missed:?}");
    assert_eq!(load_line(&[], within_ms(1)), None);
}

#[test]
fn closed_runs_have_no_interval() {
    let runs = [closed(1, 500.0, 3.0), closed(2, 900.0, 4.0), closed(4, 990.0, 9.0), closed(8, 1_000.0, 18.0)];
    let line = load_line(&runs, within_ms(5));
    assert!(
        matches!(line, Some(LoadLine::At { iops: Estimate { value, interval: None }, .. }) if (900.0..990.0).contains(&value)),
        "{line:?}"
    );
    let saturated = [closed(1, 136.0, 8.0), closed(2, 293.0, 9.0), closed(4, 322.0, 15.0), closed(8, 157.0, 18.0)];
    let line = load_line(&saturated, within_ms(20));
    assert!(matches!(line, Some(LoadLine::Beyond { iops: Estimate { value: 322.0, .. }, .. })), "{line:?}");
    let line = load_line(&saturated, within_ms(17));
    assert!(matches!(line, Some(LoadLine::At { iops: Estimate { value: 322.0, .. }, .. })), "{line:?}");
    let with_open = [&runs[..], &[at(300.0, 0.05)]].concat();
    assert!(matches!(load_line(&with_open, within_ms(20)), Some(LoadLine::Beyond { .. })));
    assert_eq!(knee(&runs).unwrap().offered, Pace::Closed { depth: 2 });
    assert_eq!(knee(&[]), None);
    assert_eq!(chosen_objective(&runs), Some(within_ms(10)), "twice 3 ms");
}

#[test]
fn overloaded_run_is_no_knee() {
    let mut fast = at(1_050.0, 0.01);
    fast.figures.mean_ns = recognize(1.0, 0.01);
    assert_eq!(knee(&[fast, at(500.0, 0.01)]).unwrap().offered, open(500.0));
}

#[test]
fn single_or_carried_loads_do_not_reach_a_knee() {
    assert_eq!(reached_knee(&[at(500.0, 0.01)]), None);
    assert_eq!(reached_knee(&[closed(4, 990.0, 9.0)]), None);
    let light = |rate: f64| {
        let mut run = at(rate, 0.01);
        run.figures.mean_ns = recognize(1.0, 0.01);
        run
    };
    assert_eq!(reached_knee(&[light(100.0), light(500.0)]), None, "the highest load has the greatest power");
    assert!(reached_knee(&[closed(1, 500.0, 3.0), closed(2, 900.0, 4.0)]).is_some());
}

#[test]
fn ladder_is_always_complete() {
    let rates = [100.0, 250.0, 500.0, 700.0, 850.0, 950.0, 1_050.0];
    let lines = ladder(&build_curve(rates.map(|rate| at(rate, 0.05)).into()));
    let limits: Vec<u64> = lines.iter().map(|line| line.objective().limit.as_nanos() / 1_000).collect();
    assert_eq!(limits[..], [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000]);
    assert!(matches!(lines[0], LoadLine::Never { .. }) && matches!(lines[7], LoadLine::At { .. }), "{lines:?}");
    assert!(ladder(&build_curve(Vec::new())).is_empty());
}

#[test]
fn default_objective_follows_the_ladder() {
    let lightest = |ms| chosen_objective(&[closed(1, 100.0, ms)]);
    assert_eq!(lightest(0.1), Some(within_ms(1)));
    assert_eq!(lightest(0.9), Some(within_ms(2)));
    assert_eq!(lightest(12.0), Some(within_ms(50)));
    assert_eq!(lightest(9_000.0), None);
    assert_eq!(chosen_objective(&[at(900.0, 0.1), at(100.0, 0.1)]), Some(within_ms(20)), "the lowest rate");
}

/// Lower bound of the load line for a single run offered 500 per second that completed `achieved` within the objective.
fn derive_credit(achieved: f64, total: Tally) -> f64 {
    let mut run = Run { total, ..at(500.0, 0.05) };
    run.figures.iops = recognize(achieved, 0.01);
    match load_line(&[run], within_ms(20)) {
        Some(LoadLine::Beyond { iops, .. }) => iops.value,
        other => panic!("{other:?}"),
    }
}

fn counted(stream: u8, errors: Vec<(i32, u64)>) -> Counter {
    Counter {
        stream,
        kind: Kind::Read,
        bytes: 0,
        errors,
        response: toy::build_bins(&mut [1_000_000], 5_000),
        service: None,
    }
}

#[test]
fn offered_rate_counts_for_a_single_stream_without_failures() {
    let check = |achieved: f64, counters: Vec<Counter>, expected: f64| {
        let credited = derive_credit(achieved, Tally(counters));
        assert!((credited - expected).abs() < 1e-6, "{achieved} achieved: {credited}, not {expected}");
    };
    check(460.0, vec![counted(0, vec![])], 500.0);
    check(460.0, vec![counted(0, vec![(5, 400)])], 460.0);
    for achieved in [540.0, 560.0] {
        check(achieved, vec![counted(0, vec![]), counted(1, vec![])], achieved);
    }
}

/// The runs of [`at`] with the measure of the objective `own`, and with counts that meet no limit.
fn measuring(own: Objective) -> Vec<Run> {
    let run = |rate| {
        let mut run = at(rate, 0.2);
        run.figures.objective_ns = Some(std::mem::take(&mut run.figures.p99_ns));
        run.figures.objective = Some(own);
        run.total = Tally(vec![Counter { response: toy::build_bins(&mut [90_000_000], 5_000), ..counted(0, vec![]) }]);
        run
    };
    [600.0, 760.0, 780.0, 900.0].map(run).into()
}

#[test]
fn measure_of_the_figures_has_priority_over_counts() {
    let is_drawn = |own: &str, requested: &str| {
        let own: Objective = own.parse().unwrap();
        matches!(load_line(&measuring(own), requested.parse().unwrap()), Some(LoadLine::At { .. }))
    };
    assert!(is_drawn("read p99<=20ms", "read p99<=20ms"));
    assert!(is_drawn("p95<=20ms", "p95<=20ms"));
    assert!(is_drawn("p95<=5ms", "p95<=20ms"), "whatever the limit");
    assert!(!is_drawn("read p95<=20ms", "p95<=20ms"), "another scope");
    assert!(!is_drawn("p90<=20ms", "p95<=20ms"), "another quantile");
}

#[test]
fn files_of_the_first_version_are_parsed() {
    use plimsoll_record::Curve;
    let now = String::from_utf8(build_curve(vec![at(500.0, 0.05)]).to_json()).unwrap();
    let first = now.replace("plimsoll.curve/2", "plimsoll.curve/1");
    assert_ne!(first, now);
    assert_eq!(Curve::from_json(first.as_bytes()).unwrap(), Curve::from_json(now.as_bytes()).unwrap());
    assert!(Curve::from_json(now.replace("curve/2", "curve/3").as_bytes()).is_err());
}

/// A run of ten seconds in slices of 0.1 s: operations of 1 ms, of which `late` of a thousand take 50 ms.
fn observe(offered: Pace, iops: u64, late: u64) -> Run {
    let slice = |index: u64| {
        // Late operations are alternated, so that windows differ.
        let late = iops / 10 * late / 1_000 + u64::from(index.is_multiple_of(3) && late > 0);
        let spans = [(Span::from_millis(1), iops / 10 - late), (Span::from_millis(50), late)];
        let response = Bins::counted(spans, iops * 100_000);
        let counter = Counter { stream: 0, kind: Kind::Read, bytes: 0, errors: vec![], response, service: None };
        let span = Span::from_millis(100);
        Slice { start: Instant::ZERO + span * index, span, tally: Tally(vec![counter]) }
    };
    let figures = Figures { iops: Estimate::bare(iops as f64), ..Figures::default() };
    Run { series: (0..100).map(slice).collect(), ..measured::run(offered, figures) }
}

#[test]
fn runs_with_a_series_have_an_interval() {
    let depth = |depth| Pace::Closed { depth };
    let runs = [
        observe(depth(1), 1_000, 0),
        observe(depth(2), 2_000, 1),
        observe(depth(4), 4_000, 4),
        observe(depth(8), 5_000, 100),
    ];
    let (value, interval) = place(&runs);
    assert!((4_000.0..5_000.0).contains(&value), "{value}");
    let (low, high) = interval.expect("windows scatter");
    assert!(low < value && value < high && high <= 5_000.0, "{value} ({low} to {high})");
    // Open loads are preferred, because closed loads limit waiting.
    let open = [observe(open(1_000.0), 1_000, 0), observe(open(2_000.0), 2_000, 100)];
    let (value, _) = place(&[&runs[..], &open[..]].concat());
    assert!(value < 2_000.0, "{value}");
    assert!(matches!(load_line(&runs[..2], within_ms(20)), Some(LoadLine::Beyond { .. })), "both keep it");
}

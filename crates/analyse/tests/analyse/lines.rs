//! Comparison of load lines: no difference for equal storage, a difference for faster storage.

use plimsoll_analyse::{
    Incomparable, LineComparison, LineHistory, Method, Verdict, compare_interleaved, compare_lines, estimate,
};
use plimsoll_record::{Estimate, LoadLine, Objective};
use plimsoll_units::Span;

use crate::queue::{Effort, Model, QUEUE, measured, plan};
use crate::toy;

fn objective() -> Objective {
    toy::p99_within(Span::from_millis(10))
}

/// A load line with an interval of this relative half width.
fn build_line(iops: f64, half: f64) -> LoadLine {
    let interval = Some((iops / (1.0 + half), iops * (1.0 + half)));
    LoadLine::At { objective: objective(), iops: Estimate { value: iops, interval } }
}

fn lines(values: &[f64]) -> Vec<LoadLine> {
    values.iter().map(|iops| build_line(*iops, 0.1)).collect()
}

fn compared(a: &[LoadLine], b: &[LoadLine], history: Option<LineHistory>) -> LineComparison {
    compare_lines(a, b, history).expect("both have lines")
}

#[test]
fn single_runs_differ_if_their_intervals_are_disjoint() {
    let against = |b: f64, half: f64| compared(&[build_line(10_000.0, half)], &[build_line(b, half)], None);
    assert_eq!(against(12_000.0, 0.1).verdict(), Verdict::NoRealChange);
    assert_eq!(against(12_200.0, 0.1).verdict(), Verdict::Better);
    assert_eq!(against(8_200.0, 0.1).verdict(), Verdict::Worse);
    assert!((against(12_000.0, 0.1).resolution - 0.21).abs() < 1e-6);
    // 4 % is no change even with narrow intervals.
    assert_eq!(against(10_400.0, 0.001).verdict(), Verdict::NoRealChange);
    assert_eq!(against(10_600.0, 0.001).verdict(), Verdict::Better);
}

#[test]
fn scatter_between_earlier_runs_widens_the_comparison_of_single_runs() {
    let history = LineHistory::of(&[7_000.0, 10_000.0, 14_000.0]);
    let pair = (vec![build_line(10_000.0, 0.02)], vec![build_line(15_000.0, 0.02)]);
    assert_eq!(compared(&pair.0, &pair.1, None).verdict(), Verdict::Better);
    let undecided = compared(&pair.0, &pair.1, history).verdict();
    assert!(matches!(undecided, Verdict::NotComparable(Incomparable::Resolution { .. })), "{undecided:?}");
    let narrow = LineHistory::of(&[9_000.0, 10_000.0, 11_000.0]);
    assert_eq!(compared(&pair.0, &pair.1, narrow).verdict(), Verdict::NoRealChange);
    assert_eq!(LineHistory::of(&[7_000.0, 10_000.0]), None);
}

#[test]
fn several_runs_are_judged_by_their_scatter() {
    let a = lines(&[9_800.0, 10_000.0, 10_200.0, 10_050.0]);
    let better = compared(&a, &lines(&[11_500.0, 11_800.0, 11_600.0]), None);
    assert_eq!((better.method, better.counts), (Method::SeveralRuns, [4, 3]));
    assert_eq!(better.verdict(), Verdict::Better);
    let scattered = compared(&a, &lines(&[9_000.0, 13_000.0, 12_000.0]), None);
    assert_eq!(scattered.verdict(), Verdict::NoRealChange);
    let two = compare_lines(&a, &lines(&[1.0, 2.0]), None);
    assert!(two.unwrap_err().to_string().contains("at least three"));
}

#[test]
fn lines_without_an_interval_are_not_compared() {
    let bare = LoadLine::At { objective: objective(), iops: Estimate::bare(10_000.0) };
    assert!(
        compare_lines(&[bare], &[build_line(10_000.0, 0.1)], None)
            .unwrap_err()
            .to_string()
            .contains("without an interval")
    );
    let beyond = LoadLine::Beyond { objective: objective(), iops: Estimate::bare(10_000.0) };
    assert!(compare_lines(&[beyond], &[build_line(10_000.0, 0.1)], None).is_err());
}

#[test]
fn comparison_that_would_detect_only_a_factor_of_two_has_no_verdict() {
    let verdict = |b: f64, half: f64| {
        compare_lines(&[build_line(10_000.0, half)], &[build_line(b, half)], None).expect("intervals").verdict()
    };
    assert_eq!(verdict(10_100.0, 0.05), Verdict::NoRealChange);
    assert!(matches!(verdict(10_100.0, 0.6), Verdict::NotComparable(_)));
    assert_eq!(verdict(90_000.0, 0.6), Verdict::Better);
}

/// Eight servers with service times multiplied by `times`.
fn slower(times: f64) -> Model {
    Model { service: QUEUE.service * times, ..QUEUE }
}

#[test]
fn equal_storage_differs_in_no_comparison_and_slower_storage_does() {
    const PAIRS: u64 = 4;
    let run = |times: f64, seed: u64| measured(slower(times), &plan(Effort::Default, Some(objective()), seed), seed).0;
    let mut detected = 0;
    for seed in 0..PAIRS {
        let (a, same, slow) = (run(1.0, 3 * seed), run(1.0, 3 * seed + 1), run(1.35, 3 * seed + 2));
        let turns = |a: &[_], b: &[_]| compare_interleaved(a, b, objective()).map(|line| line.verdict());
        assert_eq!(turns(&a, &same), Ok(Verdict::NoRealChange), "pair {seed} in turns");
        assert_eq!(turns(&a, &slow), Ok(Verdict::Worse), "pair {seed} in turns");
        let line = |slots: &[_]| [estimate(slots, objective()).expect("there are slots").line];
        let single = |b: &[_]| compare_lines(&line(&a), &line(b), None).map(|line| line.verdict());
        // A run may have no line.
        if let (Ok(same), Ok(slow)) = (single(&same), single(&slow)) {
            assert_eq!(same, Verdict::NoRealChange, "pair {seed}");
            assert_ne!(slow, Verdict::Better, "pair {seed}");
            detected += u64::from(slow == Verdict::Worse);
        }
    }
    assert!(detected * 2 >= PAIRS, "single runs show the difference in {detected} of {PAIRS} pairs");
    assert!(compare_interleaved(&run(1.0, 1)[..8], &run(1.0, 2)[..8], objective()).is_err());
}

#[test]
fn too_few_passes_are_refused_with_the_required_time() {
    let (slots, seconds) = measured(QUEUE, &plan(Effort::Quick, Some(objective()), 1), 1);
    let few: Vec<_> = slots.iter().filter(|slot| slot.pass < 3).cloned().collect();
    let why = compare_interleaved(&few, &few, objective()).unwrap_err().to_string();
    let duration = why.split_once("--duration ").and_then(|(_, rest)| rest.strip_suffix('s')?.parse::<f64>().ok());
    assert!(duration.is_some_and(|duration| duration >= seconds), "{why}");
}

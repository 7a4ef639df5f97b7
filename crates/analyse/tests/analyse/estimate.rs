//! Load lines from slots, compared with worked examples and with queues of known line.
#![allow(clippy::float_cmp, clippy::unwrap_used)]

use plimsoll_analyse::{by_load, estimate, headline_objective, ladder_objectives, rung, rung_load};
use plimsoll_load::{Arrival, Pace};
use plimsoll_record::{Bins, Estimate, Lasting, LoadLine, LoadSlot, NoLine, Objective, SlotRole};
use plimsoll_units::{Instant, Iops, Kind, Span};

use crate::measured;
use crate::queue::{Effort, Model, QUEUE, measured, p99_line, plan};
use crate::toy;

const LIMIT_MS: u64 = 5;

fn within_ms(ms: u64) -> Objective {
    toy::p99_within(Span::from_millis(ms))
}

/// A slot of an open load with `operations`, of which `late` take 8 ms and the others 1 ms.
fn slot(rate: f64, operations: u64, late: u64, pass: u32) -> LoadSlot {
    let spans = [(Span::from_millis(1), operations - late), (Span::from_millis(8), late)];
    LoadSlot {
        offered: Pace::Open { rate: Iops::from_f64(rate), arrival: Arrival::Poisson },
        role: SlotRole::Pass,
        pass,
        start: Instant::ZERO,
        warm_up: Span::from_millis(25),
        span: Span::from_millis(250),
        iops: operations as f64 * 4.0,
        beside_iops: 0.0,
        response: vec![(Kind::Read, Bins::counted(spans, operations * 1_000_000))],
        lateness: Bins::default(),
        host: None,
    }
}

/// Adds lateness of the generator.
fn late_by(slot: LoadSlot, spans: &[(Span, u64)]) -> LoadSlot {
    LoadSlot { lateness: Bins::counted(spans.iter().copied(), 0), ..slot }
}

fn exact(rung: i32) -> f64 {
    10_f64.powf(f64::from(rung) / 40.0)
}

/// A run on M/M/8 with its line at 8,768 per second: rung, operations, late operations, pass. A second implementation
/// computed the line and slope of the worked example.
const REFERENCE: [(i32, u64, u64, u32); 26] = [
    (147, 1180, 2, 0),
    (152, 1604, 3, 0),
    (159, 2307, 47, 0),
    (128, 373, 1, 0),
    (155, 1902, 3, 0),
    (140, 779, 2, 0),
    (158, 2208, 4, 1),
    (163, 3017, 3017, 1),
    (153, 1652, 3, 1),
    (164, 3099, 3099, 1),
    (149, 1312, 0, 1),
    (159, 2373, 191, 2),
    (156, 1963, 7, 2),
    (162, 2855, 2855, 2),
    (163, 2912, 2912, 2),
    (150, 1397, 1, 2),
    (160, 2523, 2523, 3),
    (148, 1223, 3, 3),
    (161, 2651, 2174, 3),
    (156, 2027, 11, 3),
    (158, 2161, 26, 3),
    (160, 2406, 337, 4),
    (134, 571, 3, 4),
    (158, 2335, 43, 4),
    (156, 1952, 3, 4),
    (161, 2632, 2624, 4),
];

fn reference() -> Vec<LoadSlot> {
    REFERENCE.iter().map(|&(rung, operations, late, pass)| slot(exact(rung), operations, late, pass)).collect()
}

fn at(slots: &[LoadSlot], objective: Objective) -> (Estimate, plimsoll_record::LineBasis) {
    let found = estimate(slots, objective).expect("there are slots");
    match found.line {
        LoadLine::At { iops, .. } => (iops, found.basis),
        other => panic!("{other:?}"),
    }
}

#[test]
fn worked_example_matches_the_reference() {
    let (iops, basis) = at(&reference(), within_ms(LIMIT_MS));
    assert!((iops.value / 8_754.253 - 1.0).abs() < 1e-4, "{iops:?}");
    assert!((basis.slope / 17.188 - 1.0).abs() < 1e-3, "{basis:?}");
    let (low, high) = iops.interval.unwrap();
    // Resamples depend on the random numbers.
    assert!((low / 7_838.0 - 1.0).abs() < 0.03 && (high / 9_863.0 - 1.0).abs() < 0.03, "{iops:?}");
    assert_eq!((basis.slots, basis.left_out, basis.fell), (26, 0, false));
    assert_eq!(basis.lapses, Some((0.0, 9)));
    assert_eq!(basis.nineteen_of_twenty, None, "too few slots lie below the line");
}

/// A window of `count` sessions with 100 operations per second each, at most 1,000 in total.
fn sessions(count: u32, late: u64, pass: u32) -> LoadSlot {
    let operations = u64::from(count.min(10)) * 100;
    let slot = slot(1.0, operations, late, pass);
    LoadSlot { offered: Pace::Closed { depth: count }, iops: operations as f64, ..slot }
}

#[test]
fn line_of_sessions_is_in_operations_per_second() {
    let loads = [(1, 0), (2, 0), (4, 0), (8, 2), (12, 40), (16, 200), (32, 900)];
    let slots: Vec<LoadSlot> =
        (0..10).flat_map(|pass| loads.map(|(count, late)| sessions(count, late + u64::from(pass) % 3, pass))).collect();
    let (iops, basis) = at(&slots, within_ms(LIMIT_MS));
    // Between 8 sessions with 800 per second, and 12 with the maximum.
    assert!(iops.value > 800.0 && iops.value < 1_000.0, "{iops:?}");
    let (low, high) = iops.interval.unwrap();
    assert!(low >= 400.0 && low < iops.value && high > iops.value && high <= 1_000.0, "{iops:?}");
    assert_eq!(basis.slots, 70);
}

#[test]
fn order_of_slots_has_no_effect() {
    let mut turned = reference();
    turned.reverse();
    let ends = |slots: &[LoadSlot]| at(slots, within_ms(LIMIT_MS)).0.interval.unwrap();
    let (a, b) = (ends(&reference()), ends(&turned));
    assert!((a.0 / b.0 - 1.0).abs() < 1e-9 && (a.1 / b.1 - 1.0).abs() < 1e-9, "{a:?} {b:?}");
}

#[test]
fn interval_ends_at_the_completed_rate() {
    let mut slots = reference();
    for slot in &mut slots {
        slot.iops = slot.iops.min(9_000.0);
    }
    let (iops, _) = at(&slots, within_ms(LIMIT_MS));
    assert!(iops.interval.unwrap().1 <= 9_000.0, "{iops:?}");
}

#[test]
fn slots_with_a_late_generator_are_excluded() {
    let mut slots = reference();
    let late = [(Span::ZERO, 1_900), (Span::from_millis(8), 100)];
    slots.push(late_by(slot(exact(147), 2_000, 90, 5), &late));
    let (iops, basis) = at(&slots, within_ms(LIMIT_MS));
    assert_eq!(basis.left_out, 1);
    assert!((iops.value / 8_754.253 - 1.0).abs() < 1e-4, "{iops:?}");
}

#[test]
fn frequently_late_generator_gives_a_lower_bound() {
    let late = [(Span::ZERO, 1_900), (Span::from_millis(8), 100)];
    let mut slots = reference();
    slots.extend((0..8).map(|pass| late_by(slot(exact(156), 2_000, 90, pass), &late)));
    let found = estimate(&slots, within_ms(LIMIT_MS)).unwrap();
    assert!(found.basis.generator_bound && matches!(found.line, LoadLine::Beyond { .. }), "{found:?}");
}

#[test]
fn limit_below_five_times_the_lateness_is_refused() {
    let late = [(Span::from_millis(2), 2_000)];
    let slots: Vec<LoadSlot> = reference().into_iter().map(|slot| late_by(slot, &late)).collect();
    let found = estimate(&slots, within_ms(LIMIT_MS)).unwrap();
    assert!(matches!(found.line, LoadLine::Refused { why: NoLine::Generator { .. }, .. }), "{found:?}");
}

#[test]
fn wide_interval_is_refused_with_the_required_time() {
    let noisy: Vec<LoadSlot> =
        (100..160).step_by(4).map(|rung| slot(exact(rung), 2_000, if rung % 8 == 0 { 0 } else { 60 }, 0)).collect();
    let found = estimate(&noisy, within_ms(LIMIT_MS)).unwrap();
    let LoadLine::Refused { why: NoLine::Scatter { low, high, seconds }, .. } = found.line else { panic!("{found:?}") };
    assert!(high > 4.0 * low && seconds > 2.0 * 15.0 * 0.275, "{found:?}");
}

#[test]
fn never_is_consistent_with_the_slots() {
    let objective = within_ms(LIMIT_MS);
    let missed: Vec<LoadSlot> = (120..126).map(|rung| slot(exact(rung), 1_000, 50, 0)).collect();
    assert!(matches!(estimate(&missed, objective).unwrap().line, LoadLine::Never { .. }));
    // Twenty operations without a late one meet the objective, although a single one would be 5 %.
    let few: Vec<LoadSlot> = (120..126).map(|rung| slot(exact(rung), 20, 0, 0)).collect();
    assert!(matches!(estimate(&few, objective).unwrap().line, LoadLine::Beyond { .. }));
    let met: Vec<LoadSlot> = (120..126).map(|rung| slot(exact(rung), 1_000, 0, 0)).collect();
    assert!(matches!(estimate(&met, objective).unwrap().line, LoadLine::Beyond { .. }));
    assert_eq!(estimate(&[], objective), None);
}

/// Windows of a held load; late from the window `until` on.
fn held(rate: f64, pass: u32, until: usize) -> Vec<LoadSlot> {
    let window = |index| slot(rate, 1_000, if index >= until { 500 } else { 0 }, pass);
    (0..6).map(window).map(|slot| LoadSlot { role: SlotRole::Hold, iops: rate, ..slot }).collect()
}

#[test]
fn a_load_that_is_late_when_held_lowers_the_line() {
    let objective = within_ms(LIMIT_MS);
    let lasting = |holds: &[(i32, usize)]| {
        let mut slots = reference();
        slots.extend(holds.iter().zip(0..).flat_map(|(&(rung, until), pass)| held(rung_load(rung), pass, until)));
        estimate(&slots, objective).unwrap()
    };
    assert!(matches!(lasting(&[]).basis.lasting, Lasting::NotHeld));
    assert!(matches!(lasting(&[(157, 9)]).basis.lasting, Lasting::Held { .. }));
    assert!(matches!(lasting(&[(157, 2), (157, 9)]).basis.lasting, Lasting::Held { .. }), "a neighbour was there");
    let burst = lasting(&[(157, 2), (157, 2), (154, 2), (151, 9)]);
    let LoadLine::At { iops, .. } = burst.line else { panic!("{burst:?}") };
    assert!((iops.value - rung_load(151)).abs() < 1.0, "{burst:?}");
    let missed = burst.basis.lasting;
    assert!(matches!(missed, Lasting::MissedWhenHeld { slots_iops } if slots_iops > 8_700.0), "{missed:?}");
    let refused = lasting(&[(157, 2), (157, 2), (154, 2)]);
    assert!(matches!(refused.line, LoadLine::Refused { why: NoLine::NotLasting { .. }, .. }), "{refused:?}");
    // The same loads meet a longer limit, so its line stands.
    assert!(matches!(estimate(&reference(), within_ms(20)).unwrap().basis.lasting, Lasting::NotHeld));
}

#[test]
fn held_loads_that_are_throttled_ran_on_a_burst_allowance() {
    let objective = within_ms(LIMIT_MS);
    let mut slots = reference();
    for (pass, load) in [(0, rung_load(157)), (1, rung_load(157)), (2, 3_000.0)] {
        let until = if pass == 2 { 9 } else { 2 };
        slots.extend(held(load, pass, until).into_iter().map(|slot| LoadSlot { iops: slot.iops.min(3_000.0), ..slot }));
    }
    let found = estimate(&slots, objective).unwrap();
    let Lasting::BurstsOnly { burst_iops } = found.basis.lasting else { panic!("{found:?}") };
    assert!(burst_iops > 8_700.0 && found.line.iops().unwrap().interval.unwrap().1 < 4_000.0, "{found:?}");
}

#[test]
fn rungs_are_the_same_everywhere() {
    assert_eq!([rung(1_000.0), rung(10_000.0), rung(8_768.0)], [120, 160, 158]);
    assert_eq!([rung_load(120), rung_load(121), rung_load(160)], [1_000.0, 1_060.0, 10_000.0]);
    assert!((40..400).all(|i| rung(rung_load(i)) == i));
}

#[test]
fn ladder_extends_to_slow_storage() {
    let limits = |light: Option<Span>| ladder_objectives(light).len();
    assert_eq!(limits(None), 10);
    assert_eq!(limits(Some(Span::from_micros(90))), 10);
    assert_eq!(ladder_objectives(Some(Span::from_millis(80))).last().unwrap().limit, Span::from_millis(200));
}

#[test]
fn default_objective_has_a_steep_line() {
    let (slots, _) = measured(QUEUE, &plan(Effort::Quick, None, 1), 1);
    let (objective, light) = headline_objective(&slots).unwrap();
    // Exponential service with a mean of 0.8 ms: a p99 of 3.7 ms without queueing.
    assert!((3.0..5.0).contains(&(light.as_secs_f64() * 1e3)), "{light}");
    assert_eq!(objective.limit, Span::from_millis(10));
}

/// Measures a model of known line: number of runs that cover it, and the largest error of the logarithm.
fn covered(model: Model, objective: Objective, truth: f64, effort: Effort, seeds: u64) -> (usize, f64, Vec<Estimate>) {
    let lines: Vec<Estimate> = (1..=seeds)
        .map(|seed| at(&measured(model, &plan(effort, Some(objective), seed), seed).0, objective).0)
        .collect();
    let covers = lines.iter().filter(|line| line.interval.is_some_and(|(low, high)| low <= truth && truth <= high));
    let worst = lines.iter().map(|line| (line.value / truth).ln().abs()).fold(0.0, f64::max);
    (covers.count(), worst, lines)
}

fn check(model: Model, limit_ms: u64, truth: f64) {
    const SEEDS: u64 = 8;
    let (covers, worst, lines) = covered(model, within_ms(limit_ms), truth, Effort::Quick, SEEDS);
    assert!(covers as u64 >= SEEDS - 1, "{covers} of {SEEDS} cover {truth}: {lines:?}");
    assert!(worst < 0.15, "{worst}: {lines:?}");
    let apart = |a: &Estimate, b: &Estimate| {
        let ((low_a, high_a), (low_b, high_b)) = (a.interval.unwrap(), b.interval.unwrap());
        high_a < low_b || high_b < low_a
    };
    let alarms = lines.chunks(2).filter(|pair| apart(&pair[0], &pair[1])).count();
    assert_eq!(alarms, 0, "runs of the same thing are not apart: {lines:?}");
}

#[test]
fn eight_servers_are_covered() {
    check(QUEUE, LIMIT_MS, p99_line(8, 8e-4, 5e-3));
}

#[test]
fn one_server_is_covered() {
    // 40,000 per second, with a p99 of 1 ms at 35,395.
    let truth = p99_line(1, 2.5e-5, 1e-3);
    check(Model { servers: 1, service: 2.5e-5, ..QUEUE }, 1, truth);
}

#[test]
fn stalls_are_covered() {
    check(Model { stalls: Some((0.5, 0.02)), ..QUEUE }, LIMIT_MS, p99_line(8, 8e-4, 5e-3));
}

#[test]
fn a_limit_before_a_station_is_covered() {
    // Queues grow abruptly just below the limit.
    let model = Model { servers: 16, service: 1e-3, limit: Some((12_000.0, 0.0)), ..QUEUE };
    check(model, 10, 11_900.0);
}

#[test]
fn burst_allowance_is_not_the_load_line() {
    let model = Model { servers: 16, service: 1e-3, limit: Some((3_000.0, 6_000.0)), ..QUEUE };
    let objective = within_ms(20);
    for seed in 1..=3 {
        let (slots, seconds) = measured(model, &plan(Effort::Default, Some(objective), seed), seed);
        assert!(seconds < 50.0, "{seconds}");
        let found = estimate(&slots, objective).unwrap();
        let lasting = match found.line {
            LoadLine::At { iops, .. } => iops.value,
            LoadLine::Refused { why: NoLine::NotLasting { below }, .. } => below,
            other => panic!("{other:?}"),
        };
        assert!(lasting < 3_600.0, "{found:?}");
    }
}

#[test]
fn burst_of_seconds_is_not_the_line_of_a_quick_run() {
    let model = Model { servers: 16, service: 1e-3, limit: Some((6_000.0, 30_000.0)), ..QUEUE };
    let objective = within_ms(20);
    for seed in 1..=4 {
        let (slots, seconds) = measured(model, &plan(Effort::Quick, Some(objective), seed), seed);
        // Slots beyond the limit need the same time again to drain.
        assert!(seconds < 20.0, "{seconds}");
        let found = estimate(&slots, objective).unwrap();
        assert!(found.line.iops().is_none_or(|iops| iops.value < 7_000.0), "{found:?}");
    }
}

#[test]
fn quick_measurement_keeps_its_budget() {
    let objective = within_ms(LIMIT_MS);
    let (slots, seconds) = measured(QUEUE, &plan(Effort::Quick, Some(objective), 3), 3);
    assert!((8.0..11.0).contains(&seconds), "{seconds}");
    assert_eq!(slots.iter().filter(|slot| slot.role == SlotRole::Most).count(), 5);
    assert!(slots.iter().filter(|slot| slot.role == SlotRole::Pass).count() >= 15);
    let is_of_pass = |slot: &&LoadSlot| matches!(slot.role, SlotRole::Scout | SlotRole::Pass);
    let passes: Vec<u32> = slots.iter().filter(is_of_pass).map(|slot| slot.pass).collect();
    assert!(passes.is_sorted() && slots.is_sorted_by_key(|slot| slot.start));
}

#[test]
fn slots_of_a_load_become_a_run() {
    use plimsoll_record::{Figures, Run};
    let run = |rate: f64, iops: f64| {
        let response = Bins::counted([(Span::from_millis(1), 500)], 500_000_000);
        let counter =
            plimsoll_record::Counter { stream: 0, kind: Kind::Read, bytes: 0, errors: vec![], response, service: None };
        let figures = Figures { iops: Estimate::bare(iops), mean_ns: Estimate::bare(1e6), ..Figures::default() };
        let total = plimsoll_record::Tally(vec![counter]);
        Run { span: Span::from_millis(500), total, ..measured::run(toy::open(rate), figures) }
    };
    let joined = by_load(&[run(1_000.0, 1_000.0), run(900.0, 900.0), run(1_000.0, 1_010.0)], None);
    assert_eq!(joined.len(), 2);
    assert_eq!(joined[0].offered, toy::open(900.0));
    assert_eq!(joined[1].total.operations(), 1_000);
    assert!((joined[1].figures.iops.value - 1_005.0).abs() < 1e-6, "{:?}", joined[1].figures);
    assert_eq!(joined[1].figures.p99_ns.interval, None, "two slots are too few for the interval of a tail");
}

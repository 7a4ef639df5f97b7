//! Load lines from slots, compared with worked examples and with queues of known line.
#![allow(clippy::float_cmp, clippy::unwrap_used)]

use plimsoll_analyse::{
    Change, Quantity, by_load, closed_line, compare, estimate, fitted_curve, headline_objective, ladder_objectives,
    rung, rung_load,
};
use plimsoll_load::{Arrival, Pace};
use plimsoll_record::{
    Bins, Curve, Estimate, HostDelay, Lasting, LoadLine, LoadSlot, Measure, NoLine, Objective, SlotRole,
};
use plimsoll_units::{Bytes, Instant, Iops, Kind, Span};

use crate::measured;
use crate::queue::{Effort, HostModel, Model, QUEUE, measured, p99_line, plan};
use crate::toy;

const LIMIT_MS: u64 = 5;

fn within_ms(ms: u64) -> Objective {
    toy::p99_within(Span::from_millis(ms))
}

/// A slot of an open load with `operations`, of which `late` take 8 ms and the others 1 ms.
fn build_slot(rate: f64, operations: u64, late: u64, pass: u32) -> LoadSlot {
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
    REFERENCE.iter().map(|&(rung, operations, late, pass)| build_slot(exact(rung), operations, late, pass)).collect()
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

/// A curve of slots with their load line.
fn curve_of(slots: Vec<LoadSlot>) -> Curve {
    let found = estimate(&slots, within_ms(LIMIT_MS)).unwrap();
    let empty = measured::curve(Vec::new(), Bytes::kib(8), Bytes::gib(1));
    Curve { slots, load_line: Some(found.line), basis: Some(found.basis), ..empty }
}

#[test]
fn fitted_curve_rises_through_the_load_line() {
    let limit = LIMIT_MS as f64 * 1e6;
    for seed in 0..5 {
        let (slots, _) = measured(QUEUE, &plan(Effort::Default, Some(within_ms(LIMIT_MS)), seed), seed);
        for curve in [curve_of(reference()), curve_of(slots)] {
            let (line, _) = at(&curve.slots, within_ms(LIMIT_MS));
            let fit = fitted_curve(&curve, Measure::Quantile(0.99));
            assert!(fit.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1), "{fit:?}");
            assert!(fit.iter().any(|(iops, ns)| (iops / line.value - 1.0).abs() < 1e-9 && *ns == limit), "{fit:?}");
            let is_on_its_side = |(iops, ns): &(f64, f64)| if *iops < line.value { *ns <= limit } else { *ns >= limit };
            assert!(fit.iter().all(is_on_its_side), "{fit:?} {line:?}");
            let medians = fitted_curve(&curve, Measure::Quantile(0.5));
            assert!(medians.len() > 2 && medians.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1), "{medians:?}");
        }
    }
}

#[test]
fn single_load_has_no_fitted_curve() {
    let alone = curve_of(vec![build_slot(exact(150), 1_000, 1, 0), build_slot(exact(150), 1_000, 2, 1)]);
    assert_eq!(fitted_curve(&alone, Measure::Quantile(0.99)), Vec::new());
}

/// A window of `count` sessions with 100 operations per second each, at most 1,000 in total.
fn sessions(count: u32, late: u64, pass: u32) -> LoadSlot {
    let operations = u64::from(count.min(10)) * 100;
    let slot = build_slot(1.0, operations, late, pass);
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

/// Arrivals of which 5 % were issued 8 ms late.
const OVERSLEPT: [(Span, u64); 2] = [(Span::ZERO, 1_900), (Span::from_millis(8), 100)];

#[test]
fn slots_with_a_late_generator_are_excluded_whether_they_met_the_objective_or_not() {
    let mut slots = reference();
    slots.push(late_by(build_slot(exact(147), 2_000, 90, 5), &OVERSLEPT));
    slots.push(late_by(build_slot(exact(162), 2_000, 0, 5), &OVERSLEPT));
    let (iops, basis) = at(&slots, within_ms(LIMIT_MS));
    assert_eq!((basis.slots, basis.left_out), (26, 2));
    assert!((iops.value / 8_754.253 - 1.0).abs() < 1e-4, "{iops:?}");
}

#[test]
fn disturbed_slots_do_not_change_the_line_of_the_others() {
    let mut slots = reference();
    slots.extend((0..40).map(|pass| late_by(build_slot(exact(156), 2_000, 90, pass), &OVERSLEPT)));
    let (iops, basis) = at(&slots, within_ms(LIMIT_MS));
    assert_eq!((basis.slots, basis.left_out), (26, 40));
    assert!((iops.value / 8_754.253 - 1.0).abs() < 1e-4, "{iops:?}");
}

/// Processor time withheld in 250 ms: stolen, throttled, and waits for a processor.
fn withheld(stolen_ms: u64, throttled_ms: u64, pauses: &[(Span, u64)]) -> HostDelay {
    let pauses = Bins::counted(pauses.iter().copied(), 0);
    HostDelay {
        elapsed: Span::from_millis(250),
        stolen: Some(Span::from_millis(stolen_ms)),
        throttled: Some(Span::from_millis(throttled_ms)),
        run_delay: Some(Span::from_millis(200)),
        pauses,
        loops: 1,
    }
}

#[test]
fn each_evidence_of_the_host_disturbs_a_slot() {
    let left_out = |host: Option<HostDelay>, limit_ms| {
        let mut slots = reference();
        slots.push(LoadSlot { host, ..build_slot(exact(150), 2_000, 0, 5) });
        estimate(&slots, within_ms(limit_ms)).unwrap().basis.left_out
    };
    let none = withheld(0, 0, &[]);
    assert_eq!(left_out(None, 5), 0);
    assert_eq!(left_out(Some(none.clone()), 5), 0, "short waits for a processor are usual");
    assert_eq!(left_out(Some(withheld(5, 0, &[])), 5), 0, "a unit of the kernel's count of stolen time");
    assert_eq!(left_out(Some(withheld(20, 0, &[])), 5), 1);
    assert_eq!(left_out(Some(withheld(0, 40, &[])), 5), 1);
    assert_eq!(left_out(Some(withheld(0, 40, &[])), 1_000), 0, "40 ms are short for a limit of a second");
    let waits = [(Span::from_millis(4), 2)];
    assert_eq!(left_out(Some(withheld(0, 0, &waits)), 5), 1);
    assert_eq!(left_out(Some(withheld(0, 0, &waits)), 50), 0, "4 ms are short for a limit of 50 ms");
    assert_eq!(left_out(Some(HostDelay { loops: 8, ..withheld(0, 0, &waits) }), 5), 0, "one loop of eight waited");
    let unknown = HostDelay { stolen: None, throttled: None, run_delay: None, ..none };
    assert_eq!(left_out(Some(unknown), 5), 0, "unknown is not disturbed");
}

fn build_closed(depth: u32, iops: f64, late: u64) -> LoadSlot {
    let slot = build_slot(1.0, 1_000, late, 0);
    LoadSlot { offered: Pace::Closed { depth }, role: SlotRole::Max, iops, ..slot }
}

#[test]
fn too_few_undisturbed_slots_are_refused_with_the_required_time() {
    let disturb = |slots: Vec<LoadSlot>, left: usize| -> Vec<LoadSlot> {
        let disturb = |(index, slot)| if index < left { slot } else { late_by(slot, &OVERSLEPT) };
        slots.into_iter().enumerate().map(disturb).collect()
    };
    let found = estimate(&disturb(reference(), 4), within_ms(LIMIT_MS)).unwrap();
    let LoadLine::Refused { why: NoLine::HostTaken { share, lateness_p99, seconds, .. }, .. } = found.line else {
        panic!("{found:?}")
    };
    assert!((share - 22.0 / 26.0).abs() < 1e-9 && lateness_p99 >= Span::from_millis(7), "{found:?}");
    // Twice as many undisturbed slots are needed.
    assert!((seconds.unwrap() / (2.0 * 26.0 * 0.275) - 1.0).abs() < 1e-3, "{found:?}");
    let none = estimate(&disturb(reference(), 0), within_ms(LIMIT_MS)).unwrap();
    assert!(matches!(none.line, LoadLine::Refused { why: NoLine::HostTaken { seconds: None, .. }, .. }), "{none:?}");
    // The same delays are short for a limit of 50 ms.
    let long = estimate(&disturb(reference(), 0), within_ms(50)).unwrap();
    assert_eq!((long.basis.slots, long.basis.left_out), (26, 0), "{long:?}");
}

#[test]
fn closed_loads_answer_under_their_own_name() {
    let objective = within_ms(LIMIT_MS);
    let line = |slots: &[LoadSlot]| closed_line(slots, objective).unwrap();
    let mut slots = vec![
        build_closed(1, 900.0, 0),
        build_closed(16, 9_000.0, 2),
        build_closed(64, 12_000.0, 5),
        build_closed(256, 13_000.0, 900),
    ];
    let found = line(&slots);
    assert_eq!((found.depth, found.iops, found.slots), (64, Estimate::bare(12_000.0), 1));
    assert_eq!((found.objective, found.is_deepest, found.is_disturbed), (objective, false, false));
    // Beyond saturation less may be completed.
    assert_eq!(line(&[build_closed(16, 9_000.0, 0), build_closed(64, 8_000.0, 0)]).depth, 16);
    assert!(line(&[build_closed(16, 9_000.0, 0), build_closed(64, 10_000.0, 0)]).is_deepest);
    // Disturbed slots are not used where others are available.
    slots.push(late_by(build_closed(64, 4_000.0, 900), &OVERSLEPT));
    assert_eq!((line(&slots).iops.value, line(&slots).is_disturbed), (12_000.0, false));
    let disturbed: Vec<LoadSlot> = slots.iter().cloned().map(|slot| late_by(slot, &OVERSLEPT)).collect();
    assert!(line(&disturbed).is_disturbed);
    // A pause of 16 ms delays the 64 operations in flight by 8 ms on average, three quarters of them beyond the 4 ms that
    // the median leaves.
    let host = HostDelay {
        elapsed: Span::from_millis(250),
        pauses: Bins::counted([(Span::from_millis(16), 1)], 16_000_000),
        loops: 1,
        ..HostDelay::default()
    };
    let paused = |late| LoadSlot { host: Some(host.clone()), ..build_closed(64, 12_000.0, late) };
    let found = line(&[build_closed(16, 9_000.0, 0), paused(54)]);
    assert!(found.depth == 64 && (found.delayed - 0.048).abs() < 0.001, "6 of 1,000 are late: {found:?}");
    assert_eq!(line(&[build_closed(16, 9_000.0, 0), paused(80)]).depth, 16, "32 of 1,000 are late");
    // No closed load within 5 ms: the next longer limit that is met.
    let slow = line(&[build_closed(1, 100.0, 50), build_closed(4, 300.0, 60)]);
    assert_eq!((slow.objective, slow.depth), (within_ms(10), 4));
    assert_eq!(closed_line(&reference(), objective), None, "open loads have no such answer");
    let three = [build_closed(4, 90.0, 0), build_closed(4, 100.0, 0), build_closed(4, 110.0, 0)];
    let (low, high) = line(&three).iops.interval.unwrap();
    assert!(low > 60.0 && low < 90.0 && high > 110.0 && high < 170.0, "{low} {high}");
}

#[test]
fn undisturbed_slots_never_remove_the_answer() {
    const HOST: HostModel = HostModel { phases: (0.8, 0.8), pieces: (6e-3, 4e-3) };
    let objective = within_ms(LIMIT_MS);
    for seed in 1..=6 {
        let disturbed =
            measured(Model { host: Some(HOST), ..QUEUE }, &plan(Effort::Quick, Some(objective), seed), seed).0;
        let quiet = measured(QUEUE, &plan(Effort::Quick, Some(objective), seed + 100), seed + 100).0;
        let open: Vec<&LoadSlot> = quiet.iter().filter(|slot| slot.role == SlotRole::Pass).collect();
        let mut slots = disturbed;
        let (mut was_judged, mut used) = (false, 0);
        for more in open.chunks(3) {
            let found = estimate(&slots, objective).unwrap();
            let is_judged = !matches!(found.line, LoadLine::Refused { why: NoLine::HostTaken { .. }, .. });
            assert!(is_judged || !was_judged, "seed {seed}: {found:?}");
            assert!(found.basis.slots >= used, "seed {seed}: {found:?}");
            let has_answer = found.line.iops().is_some() || closed_line(&slots, objective).is_some();
            assert!(has_answer, "seed {seed}: {found:?}");
            (was_judged, used) = (is_judged, found.basis.slots);
            slots.extend(more.iter().map(|slot| (*slot).clone()));
        }
        assert!(estimate(&slots, objective).unwrap().line.iops().is_some(), "seed {seed}");
    }
}

#[test]
fn line_on_a_disturbed_host_is_that_of_the_storage() {
    // A fifth of the time, the processor is taken away for 4 ms after each 6 ms.
    const HOST: HostModel = HostModel { phases: (1.0, 4.0), pieces: (6e-3, 4e-3) };
    let (objective, truth) = (within_ms(LIMIT_MS), p99_line(8, 8e-4, 5e-3));
    let forget = |slot: LoadSlot| LoadSlot { host: None, lateness: Bins::default(), ..slot };
    let (mut covers, mut logs, mut blind) = (0, Vec::new(), Vec::new());
    for seed in 1..=8 {
        let slots =
            measured(Model { host: Some(HOST), ..QUEUE }, &plan(Effort::Default, Some(objective), seed), seed).0;
        let found = estimate(&slots, objective).unwrap();
        assert!(found.basis.left_out > 10, "{found:?}");
        let iops = found.line.iops().unwrap_or_else(|| panic!("seed {seed}: {found:?}"));
        covers += u32::from(iops.interval.is_some_and(|(low, high)| low <= truth && truth <= high));
        logs.push((iops.value / truth).ln());
        let all: Vec<LoadSlot> = slots.into_iter().map(forget).collect();
        blind.extend(estimate(&all, objective).unwrap().line.iops().map(|iops| (iops.value / truth).ln()));
    }
    let mean = |logs: &[f64]| logs.iter().sum::<f64>() / logs.len() as f64;
    assert!(covers >= 7 && mean(&logs).abs() < 0.06, "{covers} of 8 cover {truth}: {logs:?}");
    // Slots that miss because of the host are no majority at any load, so the median hides them.
    assert!(mean(&blind).abs() < 0.06, "{blind:?}");
}

#[test]
fn host_that_always_takes_the_processor_leaves_closed_loads() {
    const HOST: HostModel = HostModel { phases: (100.0, 1e-3), pieces: (6e-3, 4e-3) };
    let objective = within_ms(LIMIT_MS);
    for seed in 1..=3 {
        let slots = measured(Model { host: Some(HOST), ..QUEUE }, &plan(Effort::Quick, Some(objective), seed), seed).0;
        let found = estimate(&slots, objective).unwrap();
        assert!(matches!(found.line, LoadLine::Refused { why: NoLine::HostTaken { .. }, .. }), "{found:?}");
        let closed = closed_line(&slots, objective).unwrap();
        let passes = slots.iter().filter(|slot| slot.role == SlotRole::Max && slot.pass > 0).count();
        assert!(closed.is_disturbed && passes >= 8, "{closed:?}, {passes} further slots of closed loads");
        assert!(slots.iter().all(|slot| slot.role != SlotRole::Hold), "there is no line to hold");
    }
}

#[test]
fn failed_hold_on_a_disturbed_host_proves_nothing() {
    let mut slots = reference();
    let hold = |pass, until| sustain(rung_load(157), pass, until).into_iter();
    let disturbed = |slot| LoadSlot { host: Some(withheld(0, 100, &[])), ..slot };
    slots.extend(hold(0, 2).map(disturbed));
    slots.extend(hold(1, 2).map(disturbed));
    let found = estimate(&slots, within_ms(LIMIT_MS)).unwrap();
    assert!(found.line.iops().is_some() && matches!(found.basis.lasting, Lasting::NotHeld), "{found:?}");
    slots.extend(hold(2, 9).map(disturbed));
    let found = estimate(&slots, within_ms(LIMIT_MS)).unwrap();
    assert!(matches!(found.basis.lasting, Lasting::Sustained { .. }), "{found:?}");
}

#[test]
fn wide_interval_is_refused_with_the_required_time() {
    let noisy: Vec<LoadSlot> = (100..160)
        .step_by(4)
        .map(|rung| build_slot(exact(rung), 2_000, if rung % 8 == 0 { 0 } else { 60 }, 0))
        .collect();
    let found = estimate(&noisy, within_ms(LIMIT_MS)).unwrap();
    let LoadLine::Refused { why: NoLine::Scatter { low, high, seconds }, .. } = found.line else { panic!("{found:?}") };
    assert!(high > 4.0 * low && seconds > 2.0 * 15.0 * 0.275, "{found:?}");
}

#[test]
fn a_refused_line_is_no_figure_of_a_comparison() {
    let refused: Vec<LoadSlot> = reference().into_iter().map(|slot| late_by(slot, &OVERSLEPT)).collect();
    let is_line = |change: &Change| change.quantity == Quantity::LoadLine;
    let compared = |slots: Vec<LoadSlot>| {
        let objective = Some(within_ms(LIMIT_MS));
        let [mut a, mut b] = [curve_of(reference()), curve_of(slots)];
        (a.conditions.objective, b.conditions.objective) = (objective, objective);
        compare(&a, &b).overall.iter().any(is_line)
    };
    assert!(compared(reference()));
    assert!(!compared(refused), "it was 0 IOPS");
}

#[test]
fn never_is_consistent_with_the_slots() {
    let objective = within_ms(LIMIT_MS);
    let missed: Vec<LoadSlot> = (120..126).map(|rung| build_slot(exact(rung), 1_000, 50, 0)).collect();
    assert!(matches!(estimate(&missed, objective).unwrap().line, LoadLine::Never { .. }));
    // Twenty operations without a late one meet the objective, although a single one would be 5 %.
    let few: Vec<LoadSlot> = (120..126).map(|rung| build_slot(exact(rung), 20, 0, 0)).collect();
    assert!(matches!(estimate(&few, objective).unwrap().line, LoadLine::Beyond { .. }));
    let met: Vec<LoadSlot> = (120..126).map(|rung| build_slot(exact(rung), 1_000, 0, 0)).collect();
    assert!(matches!(estimate(&met, objective).unwrap().line, LoadLine::Beyond { .. }));
    assert_eq!(estimate(&[], objective), None);
}

/// Windows of a held load; late from the window `until` on.
fn sustain(rate: f64, pass: u32, until: usize) -> Vec<LoadSlot> {
    let window = |index| build_slot(rate, 1_000, if index >= until { 500 } else { 0 }, pass);
    (0..6).map(window).map(|slot| LoadSlot { role: SlotRole::Hold, iops: rate, ..slot }).collect()
}

#[test]
fn a_load_that_is_late_when_held_lowers_the_line() {
    let objective = within_ms(LIMIT_MS);
    let lasting = |holds: &[(i32, usize)]| {
        let mut slots = reference();
        slots.extend(holds.iter().zip(0..).flat_map(|(&(rung, until), pass)| sustain(rung_load(rung), pass, until)));
        estimate(&slots, objective).unwrap()
    };
    assert!(matches!(lasting(&[]).basis.lasting, Lasting::NotHeld));
    assert!(matches!(lasting(&[(157, 9)]).basis.lasting, Lasting::Sustained { .. }));
    assert!(matches!(lasting(&[(157, 2), (157, 9)]).basis.lasting, Lasting::Sustained { .. }), "a neighbour was there");
    let burst = lasting(&[(157, 2), (157, 2), (154, 2), (151, 9)]);
    let LoadLine::At { iops, .. } = burst.line else { panic!("{burst:?}") };
    assert!((iops.value - rung_load(151)).abs() < 1.0, "{burst:?}");
    let missed = burst.basis.lasting;
    assert!(matches!(missed, Lasting::MissedWhenHeld { slots_iops } if slots_iops > 8_700.0), "{missed:?}");
    let near = lasting(&[(157, 2), (157, 2), (156, 9)]);
    let LoadLine::At { iops, .. } = near.line else { panic!("{near:?}") };
    let low = |estimate: &Estimate| estimate.interval.map_or(0.0, |(low, _)| low / estimate.value);
    assert!((iops.value - rung_load(156)).abs() < 1.0 && low(&iops) > 0.9, "the step was a rung: {near:?}");
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
        slots.extend(
            sustain(load, pass, until).into_iter().map(|slot| LoadSlot { iops: slot.iops.min(3_000.0), ..slot }),
        );
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
    assert_eq!(slots.iter().filter(|slot| slot.role == SlotRole::Max).count(), 5);
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

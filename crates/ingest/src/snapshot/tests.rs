//! Pairs of snapshots, in a single input and in several, and the cautions about inconsistent ones.

use jiff::civil::{DateTime, date};
use plimsoll_units::Span;
use proptest::prelude::*;

use super::join;
use crate::builder::Builder;
use crate::reading::{Class, Count, Counted, Measure, Origin, Reading, ReadingScope, Snapshot};

const READS: Counted = Counted::Operations(Class::Read);
const WRAP: Option<f64> = Some(4_294_967_296.0);

fn at(second: i64) -> DateTime {
    date(2026, 3, 2).at(9, 0, 0, 0).checked_add(jiff::SignedDuration::from_secs(second)).unwrap()
}

fn count(counted: Counted, value: f64, wraps_at: Option<f64>) -> Count {
    Count { counted, value, wraps_at, origin: Origin::line(7) }
}

fn taken(second: Option<i64>, age_s: Option<u64>, counts: Vec<Count>) -> Snapshot {
    let origin = Origin::line(second.unwrap_or_default().unsigned_abs());
    Snapshot { scope: 0, at: second.map(at), age: age_s.map(Span::from_secs), counts, origin }
}

fn reads(second: i64, value: f64) -> Snapshot {
    taken(Some(second), None, vec![count(READS, value, None)])
}

fn input(snapshots: impl IntoIterator<Item = Snapshot>) -> Reading {
    let mut out = Builder::test();
    out.scope(ReadingScope { part: "a".to_owned(), ..ReadingScope::default() });
    for snapshot in snapshots {
        out.snapshot(snapshot);
    }
    out.finish().unwrap()
}

/// Begin, length in seconds and reads per second of each window, and the expected cautions.
fn check(readings: &[Reading], expected: &[(Option<i64>, u64, f64)], expected_cautions: &[&str]) {
    let mut found = Vec::new();
    let mut cautions = Vec::new();
    for reading in readings {
        for figure in reading.figures.iter().filter(|figure| figure.measure == Measure::Iops) {
            let window = reading.windows[figure.window as usize];
            let second = window.begin.map(|begin| begin.duration_since(at(0)).as_secs());
            found.push((second, window.length.as_nanos() / 1_000_000_000, figure.value));
        }
        cautions.extend(reading.cautions.iter().map(|caution| caution.doubt.to_string()));
    }
    assert_eq!(found, expected);
    assert_eq!(cautions.len(), expected_cautions.len(), "{cautions:?}");
    for (caution, text) in cautions.iter().zip(expected_cautions) {
        assert!(caution.contains(text), "{caution}: {text}");
    }
}

#[test]
fn differences_are_rates_and_means() {
    let counts = |n: f64| {
        vec![
            count(READS, 100.0 * n, None),
            count(Counted::Bytes(Class::Read), 819_200.0 * n, None),
            count(Counted::OperationSeconds(Class::Read), 0.05 * n, None),
            count(Counted::QueueSeconds(Class::All), 4.0 * n, None),
            count(Counted::BusySeconds(Class::All), 1.5 * n, None),
        ]
    };
    let reading = input([taken(Some(0), None, counts(1.0)), taken(Some(2), None, counts(2.0))]);
    let figures: Vec<_> = reading.figures.iter().map(|figure| (figure.class, figure.measure, figure.value)).collect();
    let expected = [
        (Class::Read, Measure::Iops, 50.0),
        (Class::Read, Measure::Throughput, 409_600.0),
        (Class::All, Measure::Depth, 2.0),
        (Class::All, Measure::Busy, 0.75),
        (Class::Read, Measure::Size, 8_192.0),
        (Class::Read, Measure::Latency, 0.000_5),
    ];
    assert_eq!(figures, expected);
}

#[test]
fn a_counter_wraps_or_restarts() {
    let two = |before: f64, after: f64, wraps_at| {
        let snapshot = |second, value| taken(Some(second), None, vec![count(READS, value, wraps_at)]);
        [input([snapshot(0, before), snapshot(10, after)])]
    };
    check(&two(4_294_967_196.0, 900.0, WRAP), &[(Some(0), 10, 100.0)], &[]);
    check(&two(4_294_967_196.0, 900.0, None), &[], &["reset or restart"]);
    check(&two(50_000.0, 900.0, WRAP), &[], &["reset or restart"]);
    check(&two(5_000_000_000.0, 900.0, WRAP), &[], &["reset or restart"]);
}

#[test]
fn a_decreasing_time_counter_affects_only_itself() {
    let busy = Counted::BusySeconds(Class::All);
    let counts = |reads, seconds| vec![count(READS, reads, None), count(busy.clone(), seconds, None)];
    let readings = [input([taken(Some(0), None, counts(0.0, 5.0)), taken(Some(10), None, counts(50.0, 4.9))])];
    check(&readings, &[(Some(0), 10, 5.0)], &["time counter went back"]);
}

#[test]
fn a_restart_is_detected_by_age() {
    let snapshot = |second, age, value| taken(Some(second), Some(age), vec![count(READS, value, None)]);
    let readings = [input([snapshot(0, 5_000, 10.0), snapshot(60, 20, 400.0), snapshot(70, 30, 500.0)])];
    check(&readings, &[(Some(60), 10, 10.0)], &["uptime fell"]);
}

#[test]
fn without_times_an_interval_is_required() {
    let snapshot = |value| taken(None, None, vec![count(READS, value, None)]);
    check(&[input([snapshot(0.0), snapshot(50.0), snapshot(90.0)])], &[], &["without times"]);
    let aged = |age, value| taken(None, Some(age), vec![count(READS, value, None)]);
    check(&[input([aged(0, 0.0), aged(5, 50.0), aged(10, 150.0)])], &[(None, 5, 10.0), (None, 5, 20.0)], &[]);
}

#[test]
fn windows_of_equal_length_are_distinguished_by_age() {
    let snapshot = |scope, age, value| Snapshot { scope, ..taken(None, Some(age), vec![count(READS, value, None)]) };
    let mut out = Builder::test();
    for part in ["a", "b"] {
        out.scope(ReadingScope { part: part.to_owned(), ..ReadingScope::default() });
    }
    for (age, value) in [(10, 0.0), (20, 50.0), (30, 150.0)] {
        out.snapshot(snapshot(0, age, value));
        out.snapshot(snapshot(1, age, value));
    }
    let reading = out.finish().unwrap();
    let found: Vec<_> = reading.figures.iter().map(|figure| (figure.window, figure.scope, figure.value)).collect();
    assert_eq!(found, [(0, 0, 5.0), (0, 1, 5.0), (1, 0, 10.0), (1, 1, 10.0)]);
}

#[test]
fn a_clock_that_went_back_gives_no_window() {
    check(&[input([reads(20, 0.0), reads(10, 50.0), reads(15, 100.0)])], &[(Some(10), 5, 10.0)], &["did not advance"]);
}

#[test]
fn inputs_join_in_any_order() {
    let inputs = || {
        [input([reads(0, 0.0), reads(5, 10.0), reads(10, 30.0)]), input([reads(20, 130.0)]), input([reads(40, 150.0)])]
    };
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]] {
        let joined = join(order.map(|index| inputs()[index].clone()).to_vec());
        let mut found: Vec<_> = joined.iter().flat_map(|reading| &reading.windows).map(|window| window.begin).collect();
        found.sort();
        assert_eq!(found, [0, 5, 10, 20].map(|second| Some(at(second))), "{order:?}");
        let mut values: Vec<f64> =
            joined.iter().flat_map(|reading| &reading.figures).map(|figure| figure.value).collect();
        values.sort_by(f64::total_cmp);
        assert_eq!(values, [1.0, 2.0, 4.0, 10.0], "{order:?}");
        assert!(joined.iter().all(|reading| reading.cautions.is_empty()));
    }
}

#[test]
fn inputs_of_the_same_time_are_not_combined() {
    let joined = join(vec![input([reads(0, 0.0), reads(10, 100.0)]), input([reads(5, 40.0)])]);
    check(&joined, &[(Some(0), 10, 10.0)], &["omit either input"]);
    let joined =
        join(vec![input([reads(0, 0.0), reads(30, 300.0)]), input([reads(5, 40.0)]), input([reads(40, 340.0)])]);
    check(&joined, &[(Some(0), 30, 10.0), (Some(30), 10, 4.0)], &["omit either input"]);
    let joined = join(vec![input([reads(0, 0.0)]), input([reads(0, 0.0)])]);
    check(&joined, &[], &["did not advance"]);
}

#[test]
fn ages_order_inputs_without_a_clock() {
    let alone = |age, value| input([taken(None, Some(age), vec![count(READS, value, None)])]);
    check(&join(vec![alone(160, 900.0), alone(100, 300.0)]), &[(None, 60, 10.0)], &[]);
}

#[test]
fn a_single_snapshot_is_the_mean_since_its_start() {
    let aged = taken(Some(100), Some(100), vec![count(READS, 500.0, None)]);
    check(&join(vec![input([aged])]), &[(Some(0), 100, 5.0)], &["hide all peaks"]);
    check(&join(vec![input([reads(100, 500.0)])]), &[], &["no known start"]);
}

proptest! {
    #[test]
    fn rates_times_lengths_equal_the_counts(
        steps in prop::collection::vec((1_u32..1_000, 0_u32..1_000_000_000), 1..30), first in 0_u32..u32::MAX,
    ) {
        // As counted by a 32-bit kernel: modulo, with any number of wraps.
        let (mut second, mut total) = (0_i64, first);
        let mut snapshots = vec![taken(Some(0), None, vec![count(READS, f64::from(total), WRAP)])];
        for (length, rise) in &steps {
            second += i64::from(*length);
            total = total.wrapping_add(*rise);
            snapshots.push(taken(Some(second), None, vec![count(READS, f64::from(total), WRAP)]));
        }
        let reading = input(snapshots);
        prop_assert!(reading.cautions.is_empty());
        prop_assert_eq!(reading.figures.len(), steps.len());
        for (figure, (length, rise)) in reading.figures.iter().zip(&steps) {
            prop_assert!((figure.value * f64::from(*length) - f64::from(*rise)).abs() < 1e-3);
        }
    }
}

//! Sums of counters, and snapshots of a scope from several inputs.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use plimsoll_units::Span;

use crate::builder::{Builder, between};
use crate::reading::{Count, Counted, Doubt, Reading, ReadingScope, Snapshot};
use crate::text::timestamp;

/// Joins snapshots of a scope from several inputs: the window between two belongs to the later one. A single snapshot
/// gives the mean since its counters began, if that time is known.
pub fn join(readings: Vec<Reading>) -> Vec<Reading> {
    let mut of_scope: BTreeMap<ReadingScope, Vec<Covered>> = BTreeMap::new();
    for (input, reading) in readings.iter().enumerate() {
        let mut of_input: BTreeMap<u32, Covered> = BTreeMap::new();
        for snapshot in &reading.snapshots {
            let new = || Covered { input, first: snapshot.clone(), last: None };
            let covered = of_input.entry(snapshot.scope).or_insert_with(new);
            covered.last = Some(snapshot.clone()).filter(|snapshot| *snapshot != covered.first);
        }
        for (scope, covered) in of_input {
            of_scope.entry(reading.scopes[scope as usize].clone()).or_default().push(covered);
        }
    }
    let starts = compute_starts(&readings);
    let mut builders: Vec<Builder> = readings.into_iter().map(Builder::resume).collect();
    for mut covered in of_scope.into_values() {
        if let [Covered { input, first, last: None }] = covered.as_slice() {
            alone(first, &mut builders[*input]);
        }
        for Covered { input, first, last } in &mut covered {
            for snapshot in [Some(first), last.as_mut()].into_iter().flatten() {
                snapshot.age = snapshot.age.map(|age| age + starts[*input]);
            }
        }
        covered.sort_by_key(|covered| (order(&covered.first), covered.input));
        gaps(&covered, &mut builders);
    }
    builders.into_iter().map(Builder::into_reading).collect()
}

/// Time by which each input follows the first of those whose snapshots have the caller's interval and no times: they
/// continue each other.
fn compute_starts(readings: &[Reading]) -> Vec<Span> {
    let mut next = Span::ZERO;
    let start = |reading: &Reading| {
        let Some(interval) = reading.interval else { return Span::ZERO };
        let start = next;
        let last = reading.snapshots.iter().filter_map(|snapshot| snapshot.age).max();
        next = start + last.unwrap_or_default() + interval;
        start
    };
    readings.iter().map(start).collect()
}

/// The first and last snapshots of a scope in an input, which were compared when the input was read.
struct Covered {
    input: usize,
    first: Snapshot,
    last: Option<Snapshot>,
}

/// Snapshots are ordered by time, or otherwise by age.
fn order(snapshot: &Snapshot) -> (Option<DateTime>, Option<Span>) {
    (snapshot.at, snapshot.at.map_or(snapshot.age, |_| None))
}

/// The windows between inputs, in order of time.
fn gaps(covered: &[Covered], builders: &mut [Builder]) {
    let mut end: Option<&Snapshot> = None;
    for Covered { input, first, last } in covered {
        let last = last.as_ref().unwrap_or(first);
        if let Some(end) = end {
            if order(end) <= order(first) {
                between(end, first, &mut builders[*input]);
            } else {
                builders[*input].caution_once(Some(first.origin.clone()), Doubt::SameTime);
            }
        }
        end = end.into_iter().chain([last]).max_by_key(|snapshot| order(snapshot));
    }
}

fn alone(only: &Snapshot, out: &mut Builder) {
    let Some(age) = only.age.filter(|age| *age > Span::ZERO) else {
        return out.caution_once(Some(only.origin.clone()), Doubt::SingleSnapshot);
    };
    let zero = |count: &Count| Count { value: 0.0, ..count.clone() };
    let began = Snapshot {
        at: only.at.and_then(|at| timestamp::before(at, age)),
        age: Some(Span::ZERO),
        counts: only.counts.iter().map(zero).collect(),
        ..only.clone()
    };
    out.caution_once(Some(only.origin.clone()), Doubt::MeanSinceReset);
    between(&began, only, out);
}

/// Sums by quantity.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    sums: BTreeMap<Counted, Sum>,
}

#[derive(Clone, Debug)]
struct Sum {
    value: f64,
    line: u64,
    table: &'static str,
    field: &'static str,
}

/// The place of a number: line, table, column.
pub(crate) type CounterPlace = (u64, &'static str, &'static str);

impl Counters {
    /// Adds to a counter; an unreadable number leaves it unchanged.
    pub(crate) fn add(&mut self, counted: Counted, value: Option<f64>, (line, table, field): CounterPlace) {
        let Some(value) = value.filter(|value| value.is_finite() && *value >= 0.0) else { return };
        self.sums.entry(counted).or_insert(Sum { value: 0.0, line, table, field }).value += value;
    }

    pub(crate) fn get(&self, counted: &Counted) -> Option<f64> {
        self.sums.get(counted).map(|sum| sum.value)
    }

    /// Retains only the selected counters.
    pub(crate) fn retain(&mut self, required: impl Fn(&Counted) -> bool) {
        self.sums.retain(|counted, _| required(counted));
    }

    /// Adds the selected counters of `other`.
    pub(crate) fn merge(&mut self, other: &Self, required: impl Fn(&Counted) -> bool) {
        for (counted, sum) in other.sums.iter().filter(|(counted, _)| required(counted)) {
            self.add(counted.clone(), Some(sum.value), (sum.line, sum.table, sum.field));
        }
    }

    /// Adds the counters of `other`, multiplied by a factor.
    pub(crate) fn merge_scaled(&mut self, other: &Self, times: f64) {
        for (counted, sum) in &other.sums {
            self.add(counted.clone(), Some(sum.value * times), (sum.line, sum.table, sum.field));
        }
    }

    /// Total operations of all classes.
    pub(crate) fn operations(&self) -> f64 {
        let operations = self.sums.iter().filter(|(counted, _)| matches!(counted, Counted::Operations(_)));
        operations.map(|(_, sum)| sum.value).sum()
    }

    /// Events with waits but no time, which are untimed.
    pub(crate) fn untimed_waits(&self) -> Vec<String> {
        let waited = self.sums.iter().filter(|(_, sum)| sum.value > 0.0);
        let events = waited.filter_map(|(counted, _)| match counted {
            Counted::Waits(event) => Some(event.clone()),
            _ => None,
        });
        events
            .filter(|event| self.get(&Counted::WaitSeconds(event.clone())).is_none_or(|seconds| seconds == 0.0))
            .collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }

    /// The counters of a snapshot. `wraps_at` is the value at which counters of this size wrap.
    pub(crate) fn counts(&self, wraps_at: Option<f64>, out: &mut Builder) -> Vec<Count> {
        let sums = self.sums.iter();
        let count = |(counted, sum): (&Counted, &Sum)| Count {
            counted: counted.clone(),
            value: sum.value,
            wraps_at: wraps_at.filter(|wraps_at| sum.value < *wraps_at),
            origin: out.origin(sum.line, sum.table, sum.field),
        };
        sums.map(count).collect()
    }
}

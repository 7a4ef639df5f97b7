//! Counters of one moment while they are collected: rows that speak of the same add up.

use std::collections::BTreeMap;

use crate::builder::Builder;
use crate::snapshot::{Count, Counted};

/// Sums by what is counted.
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

/// Where a number stands: line, table, column.
pub(crate) type Place = (u64, &'static str, &'static str);

impl Counters {
    /// Adds to a counter; what is no number adds nothing, and leaves the counter absent.
    pub(crate) fn add(&mut self, counted: Counted, value: Option<f64>, (line, table, field): Place) {
        let Some(value) = value.filter(|value| value.is_finite() && *value >= 0.0) else { return };
        self.sums.entry(counted).or_insert(Sum { value: 0.0, line, table, field }).value += value;
    }

    pub(crate) fn get(&self, counted: &Counted) -> Option<f64> {
        self.sums.get(counted).map(|sum| sum.value)
    }

    /// Keeps those alone that are wanted.
    pub(crate) fn retain(&mut self, wanted: impl Fn(&Counted) -> bool) {
        self.sums.retain(|counted, _| wanted(counted));
    }

    /// Adds those of another that are wanted.
    pub(crate) fn merge(&mut self, other: &Self, wanted: impl Fn(&Counted) -> bool) {
        for (counted, sum) in other.sums.iter().filter(|(counted, _)| wanted(counted)) {
            self.add(counted.clone(), Some(sum.value), (sum.line, sum.table, sum.field));
        }
    }

    /// Adds those of another, so many times each.
    pub(crate) fn merge_scaled(&mut self, other: &Self, times: f64) {
        for (counted, sum) in &other.sums {
            self.add(counted.clone(), Some(sum.value * times), (sum.line, sum.table, sum.field));
        }
    }

    /// Operations of all classes.
    pub(crate) fn operations(&self) -> f64 {
        let operations = self.sums.iter().filter(|(counted, _)| matches!(counted, Counted::Operations(_)));
        operations.map(|(_, sum)| sum.value).sum()
    }

    /// Events that were waited for, and took no time at all: nobody looked at the clock.
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

    /// As a snapshot has them. `wraps_at` is where counters of this size begin anew.
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

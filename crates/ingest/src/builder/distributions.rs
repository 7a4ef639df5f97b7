//! The distributions of an input at its own resolution, collected window by window before windows are joined.

use std::collections::{BTreeSet, HashMap};

use crate::distribution::ValueDistribution;
use crate::reading::{Class, Figure, Measure, ReadingDistribution, ReadingWindow, Statistic};

/// Collects the distributions of an input, window by window.
#[derive(Debug, Default)]
pub(super) struct Distributions {
    /// A slot for each scope, class and measure, in the order of their appearance.
    slots: Vec<ScopeSlot>,
    by_key: HashMap<(u32, Class, Measure), usize>,
    totals: Vec<TotalSlot>,
    /// Windows up to this number are complete.
    complete: u32,
    /// Some windows were continued later, so that totals are unknown.
    is_unordered: bool,
}

#[derive(Debug)]
struct ScopeSlot {
    key: (u32, Class, Measure),
    total: usize,
    own: ValueDistribution,
}

/// The sum over all scopes.
#[derive(Debug)]
struct TotalSlot {
    key: (Class, Measure),
    scopes: BTreeSet<u32>,
    /// The value of the current window, if any.
    value: Option<f64>,
    /// Operations per second, the weight of means of operations.
    weight: f64,
    sums: ValueDistribution,
}

impl Distributions {
    /// Maximum scopes with distributions of their own.
    const MAX_SCOPES: u32 = 16;

    /// Adds figures in the order of their windows.
    pub(super) fn add(&mut self, figures: &[Figure], windows: &[ReadingWindow]) {
        let mut last = None;
        for of_window in figures.chunk_by(|a, b| a.window == b.window) {
            let window = of_window[0].window;
            self.is_unordered |= window < self.complete || last.is_some_and(|last| window <= last);
            last = Some(window);
            self.add_window(of_window, windows[window as usize].length.as_secs_f64().max(1e-9));
        }
    }

    /// All windows so far are complete; they may have been joined.
    pub(super) fn complete(&mut self, windows: usize) {
        self.complete = windows as u32;
    }

    fn add_window(&mut self, figures: &[Figure], seconds: f64) {
        let mut next = 0;
        let mut rate = None;
        for figure in figures.iter().filter(|figure| figure.statistic == Statistic::Mean) {
            let Figure { scope, class, measure, value, .. } = *figure;
            if measure == Measure::Iops {
                rate = Some((scope, class, value));
            }
            let index = self.slot((scope, class, measure), next);
            next = index + 1;
            let slot = &mut self.slots[index];
            if scope < Self::MAX_SCOPES {
                slot.own.add(value, seconds);
            }
            let operations = || match rate {
                Some((of, kind, iops)) if (of, kind) == (scope, class) => iops,
                _ => find_rate(figures, scope, class),
            };
            self.totals[slot.total].add(value, operations);
        }
        for measure in [Measure::Iops, Measure::Throughput] {
            self.add_both_directions(measure);
        }
        for total in &mut self.totals {
            if let Some(value) = total.value.take() {
                total.sums.add(value, seconds);
            }
            total.weight = 0.0;
        }
    }

    /// Reads and writes of the window together, unless the input has their total.
    fn add_both_directions(&mut self, measure: Measure) {
        let of = |class| self.totals.iter().find(|total| total.key == (class, measure) && total.value.is_some());
        if of(Class::All).is_some() {
            return;
        }
        let (mut sum, mut scopes) = (None, BTreeSet::new());
        for total in [Class::Read, Class::Write].into_iter().filter_map(of) {
            sum = Some(sum.unwrap_or(0.0) + total.value.unwrap_or(0.0));
            scopes.extend(&total.scopes);
        }
        if sum.is_some() {
            let index = self.total((Class::All, measure));
            self.totals[index].value = sum;
            self.totals[index].scopes.append(&mut scopes);
        }
    }

    /// The total of a class and measure.
    fn total(&mut self, key: (Class, Measure)) -> usize {
        let existing = self.totals.iter().position(|total| total.key == key);
        existing.unwrap_or_else(|| {
            let (scopes, sums) = (BTreeSet::new(), ValueDistribution::default());
            self.totals.push(TotalSlot { key, scopes, value: None, weight: 0.0, sums });
            self.totals.len() - 1
        })
    }

    /// The slot of a key: windows of an input are similar.
    fn slot(&mut self, key: (u32, Class, Measure), expected: usize) -> usize {
        if self.slots.get(expected).is_some_and(|slot| slot.key == key) {
            return expected;
        }
        if let Some(index) = self.by_key.get(&key) {
            return *index;
        }
        let (scope, class, measure) = key;
        let total = self.total((class, measure));
        self.totals[total].scopes.insert(scope);
        self.by_key.insert(key, self.slots.len());
        self.slots.push(ScopeSlot { key, total, own: ValueDistribution::default() });
        self.slots.len() - 1
    }

    /// The distributions that are complete.
    pub(super) fn finish(self) -> Vec<ReadingDistribution> {
        let own = self.slots.into_iter().filter(|slot| slot.key.0 < Self::MAX_SCOPES).map(|slot| {
            let (scope, class, measure) = slot.key;
            ReadingDistribution { scopes: BTreeSet::from([scope]), class, measure, distribution: slot.own }
        });
        let is_ordered = !self.is_unordered;
        let totals = self.totals.into_iter().filter(|_| is_ordered).map(|total| {
            let (class, measure) = total.key;
            ReadingDistribution { scopes: total.scopes, class, measure, distribution: total.sums }
        });
        own.chain(totals).collect()
    }
}

/// Operations per second of a scope and class; 0 if unknown.
fn find_rate(figures: &[Figure], scope: u32, class: Class) -> f64 {
    let key = (scope, class, Measure::Iops, Statistic::Mean);
    let is = |figure: &&Figure| (figure.scope, figure.class, figure.measure, figure.statistic) == key;
    figures.iter().find(is).map_or(0.0, |figure| figure.value)
}

impl TotalSlot {
    /// Adds the value of another scope, as the demand of a database does.
    fn add(&mut self, value: f64, operations: impl Fn() -> f64) {
        self.value = Some(match (self.key.1, self.value) {
            (Measure::Latency | Measure::Size, before) => {
                let weight = operations();
                let sum = self.weight + weight;
                let mean = before.map_or(value, |before| {
                    if sum > 0.0 { (before * self.weight + value * weight) / sum } else { before }
                });
                self.weight = sum;
                mean
            }
            (_, None) => value,
            (Measure::Busy, Some(before)) => before.max(value),
            (_, Some(before)) => before + value,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::Origin;

    #[test]
    fn totals_are_those_of_each_window() {
        let window = ReadingWindow { begin: None, length: plimsoll_units::Span::from_secs(1) };
        let figure = |scope, window, measure, value| Figure {
            scope,
            window,
            class: Class::Read,
            measure,
            statistic: Statistic::Mean,
            value,
            origin: Origin::default(),
        };
        let of_window = |window, [a, b]: [f64; 2]| {
            [(0, Measure::Iops, a), (0, Measure::Latency, 1.0), (1, Measure::Iops, b), (1, Measure::Latency, 2.0)]
                .map(|(scope, measure, value)| figure(scope, window, measure, value))
        };
        let figures = [of_window(0, [100.0, 300.0]), of_window(1, [300.0, 100.0])].concat();
        let mut distributions = Distributions::default();
        distributions.add(&figures, &[window, window]);
        distributions.complete(2);
        let total = |of: Distributions, measure| {
            let mut all = of.finish().into_iter();
            all.find(|one| one.scopes.len() == 2 && one.measure == measure).map(|one| one.distribution)
        };
        let mut again = Distributions::default();
        again.add(&figures, &[window, window]);
        let (iops, latency) = (total(distributions, Measure::Iops).unwrap(), total(again, Measure::Latency).unwrap());
        assert_eq!((iops.maximum, iops.quantile(0.5), latency.maximum), (400.0, 400.0, 1.75));
        let mut unordered = Distributions::default();
        unordered.add(&figures, &[window, window]);
        unordered.complete(2);
        unordered.add(&figures[..1], &[window, window]);
        assert_eq!(total(unordered, Measure::Iops), None, "a window that is continued later has another total");
    }
}

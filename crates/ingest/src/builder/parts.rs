//! Parts of an input that do not add up to a total: windows in which a part has no value, and parts that are the sum or
//! the mean of the others.

use std::collections::{BTreeMap, BTreeSet};

use super::Builder;
use crate::reading::{Class, Doubt, Measure, ReadingScope, Statistic};

/// The rates of the parts of a host by scope and window.
type PartRates = BTreeMap<u32, BTreeMap<u32, f64>>;

/// The rates of all parts in a window.
#[derive(Clone, Copy, Default)]
struct WindowRates {
    sum: f64,
    count: u32,
    active: u32,
    lowest: f64,
    highest: f64,
}

impl Builder {
    /// Doubts sums of inputs whose parts have values in different windows, such as those with empty cells, and of inputs
    /// with a part that is the sum or the mean of the others.
    pub(crate) fn doubt_parts(&mut self) {
        if self.joined.is_some() {
            return;
        }
        let rates = self.collect_rates();
        let lacking = rates.iter().flat_map(|((_, class, _), by_part)| {
            let all: BTreeSet<u32> = by_part.values().flat_map(BTreeMap::keys).copied().collect();
            by_part.iter().map(move |(scope, own)| (all.len() - own.len(), all.len(), *scope, *class))
        });
        let lacking = lacking.max_by_key(|(lacking, ..)| *lacking).filter(|(lacking, ..)| *lacking > 0);
        if let Some((lacking, windows, scope, class)) = lacking {
            let part = self.reading.scopes[scope as usize].part.clone();
            self.caution(None, Doubt::PartsMissing { part, class: class.label(), lacking, windows });
        }
        let scopes: BTreeSet<u32> = rates.values().flat_map(BTreeMap::keys).copied().collect();
        let sums: Vec<_> = rates.values().map(|by_part| (by_part, sum_windows(by_part))).collect();
        if let Some(scope) = scopes.into_iter().find(|scope| is_of_others(*scope, &sums)) {
            let part = self.reading.scopes[scope as usize].part.clone();
            self.caution(None, Doubt::PartOfOthers { part });
        }
    }

    fn collect_rates(&self) -> BTreeMap<(ReadingScope, Class, Measure), PartRates> {
        let mut rates: BTreeMap<(ReadingScope, Class, Measure), PartRates> = BTreeMap::new();
        for figure in &self.reading.figures {
            let scope = &self.reading.scopes[figure.scope as usize];
            let is_summed = matches!(figure.class, Class::Read | Class::Write | Class::All)
                && matches!(figure.measure, Measure::Iops | Measure::Throughput)
                && figure.statistic == Statistic::Mean
                && !scope.part.is_empty()
                && !self.reading.beneath.contains(&figure.scope);
            if is_summed {
                let host = ReadingScope { part: String::new(), part_id: String::new(), ..scope.clone() };
                let by_part = rates.entry((host, figure.class, figure.measure)).or_default();
                by_part.entry(figure.scope).or_default().insert(figure.window, figure.value);
            }
        }
        rates
    }
}

/// True for a part whose rates are in all windows the sum of those of the others, or their mean if they differ.
fn is_of_others(scope: u32, rates: &[(&PartRates, BTreeMap<u32, WindowRates>)]) -> bool {
    /// Printed rates are rounded.
    const TOLERANCE: f64 = 1e-3;
    /// Others with nearly equal rates, such as the disks of a stripe, are near to their mean.
    const DIFFERENT: f64 = 0.05;
    /// Fewer rates may be equal by chance.
    const MIN_RATES: [u32; 2] = [2, 4];
    let mut evidence = [Some(0), Some(0)];
    for (by_part, windows) in rates {
        let Some(own) = by_part.get(&scope) else { continue };
        for (window, value) in own {
            let all = windows[window];
            let is_near = |expected: f64| (value - expected).abs() <= TOLERANCE * value.max(expected);
            let mean = all.sum / f64::from(all.count);
            let is_different = all.active > 2 && all.highest - all.lowest > DIFFERENT * mean;
            let found = [(is_near(all.sum - value), all.active > 2), (is_near(mean), is_different)];
            for (evidence, (is_equal, counts)) in evidence.iter_mut().zip(found) {
                *evidence = evidence.filter(|_| is_equal).map(|count| count + u32::from(counts));
            }
        }
    }
    evidence.iter().zip(MIN_RATES).any(|(count, least)| count.is_some_and(|count| count >= least))
}

fn sum_windows(by_part: &PartRates) -> BTreeMap<u32, WindowRates> {
    let mut windows: BTreeMap<u32, WindowRates> = BTreeMap::new();
    for (window, value) in by_part.values().flatten() {
        let all = windows.entry(*window).or_insert(WindowRates { lowest: f64::INFINITY, ..WindowRates::default() });
        all.sum += value;
        all.count += 1;
        all.active += u32::from(*value > 0.0);
        (all.lowest, all.highest) = (all.lowest.min(*value), all.highest.max(*value));
    }
    windows
}

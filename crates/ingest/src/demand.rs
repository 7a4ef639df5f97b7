//! Many readings as the demand of each database: by class and measure, over time, with percentiles over the windows.
//!
//! Knows nothing of forms. Figures of instances and volumes add up within a window; maxima do not. What cannot be put
//! together without guessing is told apart or left out, and said.

pub(crate) mod account;
mod names;
mod slots;

use std::collections::BTreeMap;

use plimsoll_units::Span;

use crate::figure::{Class, Measure, Statistic};
use crate::reading::Reading;
pub use account::{Account, CacheCurve, EventTime, Place, Spent};
use names::Names;
pub use slots::Slot;

/// What several readings ask of storage together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Demand {
    /// Each database, or host where the input knows no database, by name.
    pub subjects: Vec<Subject>,
}

/// What one database asks.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// Its name; empty where no input says it.
    pub name: String,
    /// Its instances, by name.
    pub instances: Vec<String>,
    /// Its windows, in the order of time.
    pub slots: Vec<Slot>,
    /// What it asks, in the order of [`Class::ALL`].
    pub series: Vec<Series>,
    /// How its sessions spent their time, where an input says so.
    pub account: Option<Account>,
    /// What makes the combination doubtful.
    pub doubts: Vec<String>,
}

/// One measure of one class over all windows.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What the operations are for.
    pub class: Class,
    /// What is measured, in its unit.
    pub measure: Measure,
    /// How each value speaks for its window.
    pub statistic: Statistic,
    /// A value for each slot; none where no input says it.
    pub values: Vec<Option<f64>>,
    /// Which figures they came from: numbers of a reading and of a figure in it.
    pub sources: Vec<(usize, usize)>,
}

/// A series in a few numbers, each window weighed by its length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Windows with a value.
    pub windows: usize,
    /// The mean.
    pub mean: f64,
    /// Not exceeded in half of the time.
    pub p50: f64,
    /// Not exceeded in 95 % of the time.
    pub p95: f64,
    /// The highest window.
    pub maximum: f64,
}

impl Demand {
    /// Puts readings together.
    pub fn of(readings: &[&Reading]) -> Self {
        let names = Names::of(readings);
        let mut by_subject: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
        for (number, reading) in readings.iter().enumerate() {
            let subjects: Vec<String> = reading.scopes.iter().map(|scope| names.subject(scope)).collect();
            for (index, figure) in reading.figures.iter().enumerate() {
                let subject = &subjects[figure.scope as usize];
                match by_subject.get_mut(subject) {
                    Some(figures) => figures.push((number, index)),
                    None => drop(by_subject.insert(subject.clone(), vec![(number, index)])),
                }
            }
        }
        let mut subjects: Vec<Subject> =
            by_subject.into_iter().map(|(name, figures)| Subject::of(name, &names, readings, &figures)).collect();
        for subject in &mut subjects {
            subject.doubts.extend(names.doubt(&subject.name));
        }
        Self { subjects }
    }
}

impl Subject {
    fn of(name: String, names: &Names<'_>, readings: &[&Reading], figures: &[(usize, usize)]) -> Self {
        let wholes = without_parts(readings, figures);
        let mut doubts = Vec::new();
        let placed = slots::place(readings, &wholes, &mut doubts);
        let mut instances: Vec<String> =
            wholes.iter().map(|at| scope_name(readings, *at)).filter(|name| !name.is_empty()).collect();
        instances.sort();
        instances.dedup();
        let mut cells: BTreeMap<(Class, Measure, Statistic), Vec<Placing>> = BTreeMap::new();
        for (slot, at) in &placed.figures {
            let figure = &readings[at.0].figures[at.1];
            cells.entry((figure.class, figure.measure, figure.statistic)).or_default().push((*slot, *at));
        }
        let rates = rates(readings, &placed.figures);
        let mut series: Vec<Series> = cells
            .into_iter()
            .map(|(key, cells)| Series::of(key, placed.slots.len(), readings, &cells, &rates))
            .collect();
        let order = |class: Class| Class::ALL.iter().position(|one| *one == class);
        series.sort_by_key(|series| (order(series.class), series.measure, series.statistic));
        let account =
            account::of(readings, &placed, |reading, scope| names.subject(&reading.scopes[scope as usize]) == name);
        Self { name, instances, slots: placed.slots, series, account, doubts }
    }

    /// The series of a class and measure, as means.
    pub fn series(&self, class: Class, measure: Measure) -> Option<&Series> {
        let is =
            |series: &&Series| (series.class, series.measure, series.statistic) == (class, measure, Statistic::Mean);
        self.series.iter().find(is)
    }

    /// A series in a few numbers.
    pub fn summary(&self, series: &Series) -> Option<Summary> {
        Summary::of(&self.slots, &series.values)
    }

    /// The longest averaging window: peaks that are shorter are hidden in it.
    pub fn longest_window(&self) -> Option<Span> {
        self.slots.iter().map(|slot| slot.length).max()
    }
}

fn scope_name(readings: &[&Reading], at: (usize, usize)) -> String {
    let figure = &readings[at.0].figures[at.1];
    readings[at.0].scopes[figure.scope as usize].instance.clone()
}

/// Figures of wholes. Parts count only where their reading says nothing of a class's whole.
fn without_parts(readings: &[&Reading], figures: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let is_whole = |at: &(usize, usize)| {
        let figure = &readings[at.0].figures[at.1];
        readings[at.0].scopes[figure.scope as usize].part.is_empty()
    };
    // Arrays whose operations are not timed have the latency of their disks.
    let is_beneath = |at: &(usize, usize)| readings[at.0].beneath.contains(&readings[at.0].figures[at.1].scope);
    let of_time = |at: &(usize, usize)| {
        let figure = &readings[at.0].figures[at.1];
        let is = matches!(figure.measure, Measure::Latency | Measure::Busy);
        is.then_some((at.0, figure.class, figure.measure))
    };
    let timed: std::collections::BTreeSet<_> =
        figures.iter().filter(|at| !is_beneath(at)).filter_map(of_time).collect();
    let counts = |at: &(usize, usize)| !is_beneath(at) || of_time(at).is_some_and(|key| !timed.contains(&key));
    let figures: Vec<(usize, usize)> = figures.iter().copied().filter(counts).collect();
    let with_wholes: std::collections::BTreeSet<usize> =
        figures.iter().filter(|at| is_whole(at)).map(|at| at.0).collect();
    figures.into_iter().filter(|at| is_whole(at) || !with_wholes.contains(&at.0)).collect()
}

/// A slot, and a figure in it: numbers of a reading and of a figure of its own.
type Placing = (usize, (usize, usize));

/// Operations a second by slot, class and whom they are of: what latencies and sizes are weighed by.
type Rates = BTreeMap<(usize, Class, (usize, u32)), f64>;

fn rates(readings: &[&Reading], figures: &[Placing]) -> Rates {
    let mut rates = Rates::new();
    for (slot, at) in figures {
        let figure = &readings[at.0].figures[at.1];
        if (figure.measure, figure.statistic) == (Measure::Iops, Statistic::Mean) {
            rates.insert((*slot, figure.class, (at.0, figure.scope)), figure.value);
        }
    }
    rates
}

impl Series {
    fn of(
        (class, measure, statistic): (Class, Measure, Statistic),
        slots: usize,
        readings: &[&Reading],
        cells: &[Placing],
        rates: &Rates,
    ) -> Self {
        let mut values: Vec<Option<f64>> = vec![None; slots];
        let mut weights = vec![0.0; slots];
        for (slot, at) in cells {
            let figure = &readings[at.0].figures[at.1];
            let value = &mut values[*slot];
            *value = Some(match (measure, statistic, *value) {
                (_, _, None) => figure.value,
                // Of maxima of several nobody knows whether they came together: the highest is sure.
                (_, Statistic::Maximum, Some(so_far)) | (Measure::Busy, _, Some(so_far)) => so_far.max(figure.value),
                (Measure::Iops | Measure::Throughput | Measure::Depth, _, Some(so_far)) => so_far + figure.value,
                (Measure::Latency | Measure::Size, _, Some(so_far)) => {
                    let weight = weight(readings, rates, *slot, *at);
                    let sum: f64 = weights[*slot] + weight;
                    if sum > 0.0 { (so_far * weights[*slot] + figure.value * weight) / sum } else { so_far }
                }
            });
            weights[*slot] += weight(readings, rates, *slot, *at);
        }
        Self { class, measure, statistic, values, sources: cells.iter().map(|(_, at)| *at).collect() }
    }
}

/// What a latency or size is weighed by: its operations a second. Disks below an array share its operations evenly.
fn weight(readings: &[&Reading], rates: &Rates, slot: usize, at: (usize, usize)) -> f64 {
    let figure = &readings[at.0].figures[at.1];
    let beneath = if readings[at.0].beneath.contains(&figure.scope) { 1.0 } else { 0.0 };
    rates.get(&(slot, figure.class, (at.0, figure.scope))).copied().unwrap_or(beneath)
}

impl Summary {
    fn of(slots: &[Slot], values: &[Option<f64>]) -> Option<Self> {
        let pairs = slots.iter().zip(values);
        let mut weighed: Vec<(f64, f64)> =
            pairs.filter_map(|(slot, value)| Some(((*value)?, slot.length.as_secs_f64()))).collect();
        weighed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let seconds: f64 = weighed.iter().map(|(_, seconds)| seconds).sum();
        let (maximum, _) = *weighed.last()?;
        let mean = weighed.iter().map(|(value, seconds)| value * seconds).sum::<f64>() / seconds;
        let at_share = |share: f64| {
            let mut passed = 0.0;
            let reached = weighed.iter().find(|(_, length)| {
                passed += length;
                passed >= share * seconds * (1.0 - 1e-12)
            });
            reached.map_or(maximum, |(value, _)| *value)
        };
        Some(Self { windows: weighed.len(), mean, p50: at_share(0.5), p95: at_share(0.95), maximum })
    }
}

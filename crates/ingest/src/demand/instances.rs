//! The load of each of several instances of a database.

use std::collections::BTreeMap;

use super::Placing;
use crate::reading::{Class, Measure, Reading, Statistic};

/// Operations and bytes per second.
pub type InstanceRates = [Option<f64>; 2];

/// The load of an instance in each slot of its database: reads and writes together.
#[derive(Clone, Debug, PartialEq)]
pub struct InstanceLoad {
    pub instance: String,
    /// Means, where its inputs count them.
    pub means: Vec<InstanceRates>,
    /// The highest minute of each slot, where known; those of reads and writes are assumed to coincide.
    pub maxima: Vec<InstanceRates>,
}

/// The load of each instance; empty for less than two instances with figures of their own.
pub(super) fn collect_loads(readings: &[&Reading], figures: &[Placing], slots: usize) -> Vec<InstanceLoad> {
    let mut loads: BTreeMap<&str, InstanceLoad> = BTreeMap::new();
    for (slot, at) in figures {
        let figure = &readings[at.0].figures[at.1];
        let instance = readings[at.0].scopes[figure.scope as usize].instance.as_str();
        let column = match (figure.class, figure.measure) {
            (Class::Read | Class::Write, Measure::Iops) => 0,
            (Class::Read | Class::Write, Measure::Throughput) => 1,
            _ => continue,
        };
        if instance.is_empty() {
            continue;
        }
        let empty = || vec![[None; 2]; slots];
        let new = || InstanceLoad { instance: instance.to_owned(), means: empty(), maxima: empty() };
        let load = loads.entry(instance).or_insert_with(new);
        let series = if figure.statistic == Statistic::Maximum { &mut load.maxima } else { &mut load.means };
        *series[*slot][column].get_or_insert(0.0) += figure.value;
    }
    if loads.len() < 2 { Vec::new() } else { loads.into_values().collect() }
}

//! Helpers of tests of snapshots and samples: reading in pieces, real files if available, and properties of the figures
//! of any format.

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use plimsoll_ingest::{Class, Figure, FormatInput, Measure, Outcome, Reading, Resource, Statistic};

pub use crate::read::{cut_anywhere, reading as read, refusal as refused};

pub fn outcome(bytes: &[u8], step: usize, input: impl Into<FormatInput>) -> Outcome {
    crate::read::outcome(input, bytes, step.max(1))
}

pub fn read_as(text: &str, input: impl Into<FormatInput>) -> Reading {
    crate::read::reading_as(input, text)
}

/// Minute of the window, part, class, measure and value of each mean.
pub fn means(reading: &Reading) -> Vec<(Option<i8>, &str, Class, Measure, f64)> {
    let of = |figure: &Figure| {
        let begin = reading.windows[figure.window as usize].begin;
        let part = reading.scopes[figure.scope as usize].part.as_str();
        (begin.map(DateTime::minute), part, figure.class, figure.measure, figure.value)
    };
    reading.figures.iter().filter(|figure| figure.statistic == Statistic::Mean).map(of).collect()
}

/// Figures of a part, class and measure, in the order of the input.
pub fn values(reading: &Reading, part: &str, class: Class, measure: Measure) -> Vec<f64> {
    let fits = |(_, of, c, m, _): &(_, &str, Class, Measure, f64)| *of == part && (*c, *m) == (class, measure);
    means(reading).into_iter().filter(fits).map(|(.., value)| value).collect()
}

pub fn near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{found:?}, expected {expected:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1e-9), "{found}, expected {expected}");
    }
}

pub fn resources(reading: &Reading, resource: Resource) -> Vec<f64> {
    reading.resources.iter().filter(|own| own.resource == resource).map(|own| own.value).collect()
}

pub fn has_caution(reading: &Reading, text: &str) -> bool {
    reading.cautions.iter().any(|caution| caution.doubt.to_string().contains(text))
}

/// Real files of a kind in the folder named by `PLIMSOLL_SAMPLES`.
pub fn samples(kind: &str) -> Vec<(String, Vec<u8>)> {
    crate::samples::samples(&[kind])
}

/// Properties of the reading of any input.
pub fn laws(reading: &Reading) {
    let mut by_cell: BTreeMap<(u32, u32, Class), BTreeMap<Measure, f64>> = BTreeMap::new();
    for figure in &reading.figures {
        assert!(figure.value.is_finite() && figure.value >= 0.0, "{figure:?}");
        assert!(figure.measure != Measure::Busy || figure.value <= 1.0, "{figure:?}");
        assert!(!reading.windows[figure.window as usize].length.is_zero());
        if figure.statistic == Statistic::Mean {
            let cell = by_cell.entry((figure.window, figure.scope, figure.class)).or_default();
            assert!(cell.insert(figure.measure, figure.value).is_none(), "twice: {figure:?}");
        }
    }
    for (cell, measures) in by_cell {
        let get = |measure| measures.get(&measure).copied();
        if let (Some(iops), Some(size), Some(rate)) = (get(Measure::Iops), get(Measure::Size), get(Measure::Throughput))
        {
            assert!((iops * size - rate).abs() <= 1e-6 * rate.max(1.0), "{cell:?}: {iops} of {size} are not {rate}");
        }
    }
}

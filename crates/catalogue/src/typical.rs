//! Rates of published drives that a generic product stands for: their range and median by queue depth.
//!
//! Knows neither the model nor the ceilings of the product; a test compares the model with the median.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::ask::Ask;
use crate::cite::Cite;

/// A load, and the rates of published drives under it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TypicalRates {
    /// The operations.
    #[serde(flatten)]
    pub ask: Ask,
    /// Range of the drives by queue depth, lowest depth first, where at least two of them are published.
    pub ranges: Vec<TypicalRange>,
    /// The drives.
    pub drives: Vec<PublishedDrive>,
}

/// Range of published drives at a queue depth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TypicalRange {
    /// Operations in flight.
    pub depth: u32,
    /// Number of drives that are published at this depth.
    pub drives: usize,
    /// Operations per second of the slowest drive.
    #[serde(rename = "lowest_iops")]
    pub lowest: f64,
    /// Median of the drives.
    #[serde(rename = "median_iops")]
    pub median: f64,
    /// Operations per second of the fastest drive.
    #[serde(rename = "highest_iops")]
    pub highest: f64,
}

/// Published rates of a drive.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PublishedDrive {
    /// Name of the drive.
    pub name: String,
    /// Operations per second by queue depth.
    #[serde(rename = "iops_by_depth")]
    pub rates: BTreeMap<u32, f64>,
    /// Source.
    #[serde(rename = "source")]
    pub cite: Arc<Cite>,
}

impl TypicalRates {
    pub(crate) fn new(ask: Ask, drives: Vec<PublishedDrive>) -> Self {
        let mut by_depth: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (depth, iops) in drives.iter().flat_map(|drive| &drive.rates) {
            by_depth.entry(*depth).or_default().push(*iops);
        }
        let ranges = by_depth.into_iter().filter_map(|(depth, rates)| TypicalRange::of(depth, rates)).collect();
        Self { ask, ranges, drives }
    }
}

impl TypicalRange {
    /// `None` for fewer than two drives, which have no range.
    fn of(depth: u32, mut rates: Vec<f64>) -> Option<Self> {
        rates.sort_by(f64::total_cmp);
        let (drives, middle) = (rates.len(), rates.len() / 2);
        if drives < 2 {
            return None;
        }
        let median = if drives % 2 == 1 { rates[middle] } else { f64::midpoint(rates[middle - 1], rates[middle]) };
        Some(Self { depth, drives, lowest: rates[0], median, highest: rates[drives - 1] })
    }
}

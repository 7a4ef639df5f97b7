//! The loads that a model was fitted to.

use plimsoll_units::Bytes;
use schemars::JsonSchema;
use serde::Serialize;

use super::points::FitPoint;

/// Loads that a model was fitted to, each as `[lowest, highest]`. Answers to other loads are extrapolated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FittedRange {
    /// Sizes of operations in bytes.
    pub block_bytes: (u64, u64),
    /// Operations in flight.
    pub in_flight: (f64, f64),
    /// Shares of reads, 0 to 1.
    pub reads: (f64, f64),
}

impl FittedRange {
    /// The range of `points`, at least one.
    pub(super) fn of(points: &[FitPoint]) -> Self {
        let over = |of: &dyn Fn(&FitPoint) -> f64| {
            let values = || points.iter().map(of);
            (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max))
        };
        let length = over(&|point| point.workload.length.get() as f64);
        Self {
            block_bytes: (length.0 as u64, length.1 as u64),
            in_flight: over(&FitPoint::depth),
            reads: over(&|point| point.workload.reads),
        }
    }

    /// Both ranges together.
    pub(super) fn over(a: &Self, b: &Self) -> Self {
        let over = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
        Self {
            block_bytes: (a.block_bytes.0.min(b.block_bytes.0), a.block_bytes.1.max(b.block_bytes.1)),
            in_flight: over(a.in_flight, b.in_flight),
            reads: over(a.reads, b.reads),
        }
    }

    /// The only size of operations; `None` if there are several.
    pub fn only_block(&self) -> Option<Bytes> {
        let (low, high) = self.block_bytes;
        (low == high).then(|| Bytes::new(low))
    }
}

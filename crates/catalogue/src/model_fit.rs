//! Range and error of a model that was fitted to measurements.

use plimsoll_language::say;
use plimsoll_units::Bytes;
use schemars::JsonSchema;
use serde::Serialize;

use crate::ask::Ask;

/// Relative difference at which a value still lies within a range.
const MARGIN: f64 = 0.001;
/// Difference of shares of reads that is still within the range: achieved shares scatter.
const SHARE_MARGIN: f64 = 0.02;

/// The loads that a model was fitted to, each as `(lowest, highest)`, and its error there. Other loads are extrapolated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ModelFit {
    /// Largest relative error of response times within the range.
    pub error_share: f64,
    /// Bytes of an operation.
    pub block_bytes: (f64, f64),
    /// Operations in flight.
    pub in_flight: (f64, f64),
    /// Shares of reads, 0 to 1.
    pub reads: (f64, f64),
}

impl ModelFit {
    /// Error and range in a sentence.
    pub fn words(&self) -> String {
        say!(
            "fitted within \u{b1}{:.0} % for operations of {}, {} and {} in flight; outside of that range: extrapolated",
            (self.error_share * 100.0).ceil(),
            sizes(self.block_bytes),
            reads(self.reads),
            span(self.in_flight, |count| format!("{count:.0}")),
        )
    }

    /// Quantities of a load that lie outside of the range, in a sentence; `None` within it. `in_flight` are the
    /// operations in flight, if known.
    pub fn outside(&self, ask: &Ask, in_flight: &[f64]) -> Option<String> {
        let beyond =
            |value: f64, (low, high): (f64, f64)| value < low * (1.0 - MARGIN) || value > high * (1.0 + MARGIN);
        let mut found = Vec::new();
        if beyond(ask.block.get() as f64, self.block_bytes) {
            found.push(say!("operations of {} (fitted to {})", ask.block, sizes(self.block_bytes)));
        }
        if ask.reads < self.reads.0 - SHARE_MARGIN || ask.reads > self.reads.1 + SHARE_MARGIN {
            found.push(say!("{:.0} % reads (fitted to {})", ask.reads * 100.0, reads(self.reads)));
        }
        // Less than one in flight is one at a time, with pauses.
        let counts = in_flight.iter().map(|count| count.max(1.0));
        let furthest = counts.filter(|count| beyond(*count, self.in_flight)).reduce(f64::max);
        if let Some(count) = furthest {
            let fitted = span(self.in_flight, |count| format!("{count:.0}"));
            found.push(say!("{count:.0} in flight (fitted to {fitted})"));
        }
        (!found.is_empty()).then(|| say!("extrapolated beyond the fitted loads: {}", found.join(", ")))
    }
}

fn sizes(range: (f64, f64)) -> String {
    span(range, |bytes| Bytes::new(bytes as u64).to_string())
}

fn reads(range: (f64, f64)) -> String {
    say!("{} % reads", span(range, |share| format!("{:.0}", share * 100.0)))
}

/// `4`, or `4 to 64`.
fn span((low, high): (f64, f64), show: impl Fn(f64) -> String) -> String {
    let (from, to) = (show(low), show(high));
    if from == to { from } else { say!("{from} to {to}") }
}

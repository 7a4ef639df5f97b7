//! The probability that a volume is lost.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cite::Cite;

/// The annual failure rate of a volume, as the vendor states it: the share of volumes lost in a year.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Durability {
    /// Lower end of the stated range, 0 to 1.
    pub failure_rate_low: f64,
    /// Upper end; equal to the lower end where the vendor states a single figure.
    pub failure_rate_high: f64,
    /// Source of the figures.
    #[serde(rename = "source")]
    pub cite: Arc<Cite>,
}

impl Durability {
    /// The annual failure rate of data spread over `volumes` volumes without redundancy: the loss of any volume is a
    /// loss of the set, `1 - (1 - p)^n` for independent failures.
    #[must_use]
    pub fn of_stripe(&self, volumes: u32) -> Self {
        // Summed term by term: 1 - (1 - p)^n loses the digits of a small p.
        let any = |p: f64| (0..volumes).fold(0.0, |lost: f64, _| lost + (1.0 - lost) * p);
        Self {
            failure_rate_low: any(self.failure_rate_low),
            failure_rate_high: any(self.failure_rate_high),
            cite: Arc::clone(&self.cite),
        }
    }
}

//! Availability and performance that a vendor commits to, as shares of the time.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cite::Cite;

/// Subject of a service level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServiceSubject {
    /// The volume answers.
    Availability,
    /// The volume delivers a share of its provisioned performance.
    Performance,
}

impl ServiceSubject {
    pub(crate) const ALL: [Self; 2] = [Self::Availability, Self::Performance];

    /// Its name in product files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Availability => "availability",
            Self::Performance => "performance",
        }
    }
}

/// A service level of a volume.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ServiceLevel {
    /// Its subject.
    pub of: ServiceSubject,
    /// Share of the time, 0 to 1.
    #[serde(rename = "time_share")]
    pub share: f64,
    /// Share of the provisioned performance that is delivered, 0 to 1; null for availability.
    #[serde(rename = "performance_share")]
    pub amount: Option<f64>,
    /// Source of the figures; the note has conditions.
    #[serde(rename = "source")]
    pub cite: Arc<Cite>,
}

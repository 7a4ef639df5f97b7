//! Availability and performance that a vendor commits to, as shares of the time.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cite::Cite;
use crate::expression::Expression;
use crate::offer::Offer;

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

impl Offer {
    /// The service levels of a configuration. A stripe is available only while all of its volumes are: the shares of
    /// independent volumes are multiplied. Availability of mirrors and RAID is unknown.
    pub fn service_levels(&self) -> Vec<ServiceLevel> {
        let volumes = self.volumes_without_redundancy();
        let holds = |when: &Expression| when.truth(&self.volume.values) == Some(true);
        let valid = self.product().service_levels.iter().filter(|rule| rule.when.as_ref().is_none_or(holds));
        let of_all = |level: &ServiceLevel| match level.of {
            ServiceSubject::Availability => {
                let share = (0..volumes?).fold(1.0, |share: f64, _| share * level.share);
                Some(ServiceLevel { share, ..level.clone() })
            }
            ServiceSubject::Performance => Some(level.clone()),
        };
        valid.filter_map(|rule| of_all(&rule.level)).collect()
    }
}

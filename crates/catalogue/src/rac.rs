//! Support of Oracle RAC on the volumes and machines of a provider.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cite::Cite;

/// Whether Oracle supports RAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RacStatus {
    /// A document of Oracle states that it does not.
    Unsupported,
    /// Documents of Oracle describe it on other services of the provider only.
    Undocumented,
}

impl RacStatus {
    pub(crate) const ALL: [Self; 2] = [Self::Unsupported, Self::Undocumented];

    /// Its name in product files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unsupported => "unsupported",
            Self::Undocumented => "undocumented",
        }
    }
}

/// Support of Oracle RAC on own machines with a volume.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RacSupport {
    /// Whether it is supported.
    pub support: RacStatus,
    /// The statement, with the alternative.
    pub text: Arc<str>,
    /// Source of the statement.
    #[serde(rename = "source")]
    pub cite: Arc<Cite>,
}

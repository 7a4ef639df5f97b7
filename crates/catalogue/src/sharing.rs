//! Attachment of a volume to several machines.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cite::Cite;

/// Access of machines that share a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SharingMode {
    /// All machines read and write. The service does not coordinate them: that needs cluster-aware software.
    ReadWrite,
    /// All machines read only.
    ReadOnly,
}

impl SharingMode {
    pub(crate) const ALL: [Self; 2] = [Self::ReadWrite, Self::ReadOnly];

    /// Its name in product files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadWrite => "read-write",
            Self::ReadOnly => "read-only",
        }
    }
}

/// How many machines can attach a volume at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Sharing {
    /// Machines, at most.
    pub hosts: u32,
    /// Their access.
    pub mode: SharingMode,
    /// Source of the figure; the note has its conditions.
    #[serde(rename = "source")]
    pub cite: Arc<Cite>,
}

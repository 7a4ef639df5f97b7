//! Options of a service.

use std::path::PathBuf;

use plimsoll_catalogue::Catalogue;
use plimsoll_front::Checksums;
use plimsoll_units::Span;
use plimsoll_volume::{Durability, Slow};

use crate::api;
use crate::iscsi::IscsiOptions;

/// Rule for level changes that the vendor makes only on detached volumes, such as those of OCI from and to 30 VPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LevelChanges {
    /// Refused while attached or with clients, as the documents have it; automation leaves them out.
    #[default]
    Detached,
    /// Made online, as a published experience has it.
    Online,
}

#[derive(Clone, Debug)]
pub struct ServiceOptions {
    /// Data directory; created with mode 0700 if missing.
    pub directory: PathBuf,
    /// Space limit for data in bytes; `None` for the space of the filesystem.
    pub capacity: Option<u64>,
    /// Time dilation.
    pub slow: Slow,
    /// Listening addresses for NBD clients, as URIs with an empty export: `nbd://127.0.0.1:10809`,
    /// `nbd+unix:///?socket=/run/nbd`, `nbds://host:10809`. The name of a volume is inserted in each.
    pub listens: Vec<String>,
    /// Options of iSCSI targets; `None` without portals.
    pub iscsi: Option<IscsiOptions>,
    /// Products of the catalogue and of the user.
    pub products: Catalogue,
    /// Whether the ring runs with real-time priority.
    pub realtime: bool,
    /// Measured speed of the host. Faster products are refused; `iops` of 0 disables the check.
    pub floor: api::Floor,
    /// Measures the speed of the host again, before a product is refused.
    pub measure_floor: fn() -> Option<api::Floor>,
    /// Whether data must have checksums.
    pub checksums: Checksums,
    /// Rule for level changes of attached volumes.
    pub level_changes: LevelChanges,
    /// When changes become durable.
    pub durability: Durability,
    /// Maximum time until acknowledged changes become durable without a flush; `None` for no maximum.
    pub commit_interval: Option<Span>,
    /// Program and version.
    pub made_by: String,
}

impl ServiceOptions {
    /// Space limit of the store in bytes: the option, or the space used plus the free space of the filesystem.
    pub(crate) fn space_limit(&self, used: u64) -> u64 {
        self.capacity.unwrap_or_else(|| {
            let free =
                rustix::fs::statvfs(&self.directory).map_or(0, |stat| stat.f_bavail.saturating_mul(stat.f_frsize));
            used.saturating_add(free)
        })
    }

    /// When changes become durable.
    pub(crate) fn durability_terms(&self) -> api::DurabilityTerms {
        api::DurabilityTerms {
            at_acknowledgement: self.durability == Durability::Changes,
            within_ns: self.commit_interval.map(Span::as_nanos),
        }
    }
}

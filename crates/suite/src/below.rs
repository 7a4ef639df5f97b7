//! What lies below a database while it is loaded: its device, its host, the limits of an emulated volume.

use plimsoll_record::{DiskCounters, HostTime};
use plimsoll_units::Span;

/// What the storage has counted so far: only differences count.
#[derive(Clone, Debug, Default)]
pub struct Looked {
    /// The device below the data files.
    pub disk: Option<DiskCounters>,
    /// The host's processors.
    pub host: Option<HostTime>,
    /// Of an emulated volume, operations by the limit that held them.
    pub bound_by: Vec<(String, u64)>,
}

/// The storage below a database.
pub trait Below: Send {
    /// What it has counted so far. Cheap enough to be asked several times a second.
    fn look(&mut self) -> Looked;

    /// Changes what was to be changed by now, `elapsed` from the beginning of a step; what was changed, in a few words.
    fn change(&mut self, _elapsed: Span) -> Option<String> {
        None
    }
}

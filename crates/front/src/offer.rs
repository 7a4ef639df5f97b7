//! An export as seen by clients of any protocol.

use plimsoll_device::nbd::Emulation;
use plimsoll_volume::{Export, VolumeAccess};

use crate::unit::UnitIdentity;

/// Whether seeks take time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// No: flash, memory, a network volume.
    Solid,
    /// Yes: a rotating disk.
    Rotational,
}

/// Sizes of requests, in bytes; the first two are powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Offsets and lengths are multiples of it, at most 65,536.
    pub minimum: u32,
    /// Offsets and lengths for best performance are multiples of it.
    pub preferred: u32,
    /// Maximum length of a read or write.
    pub payload: u32,
}

impl Default for Blocks {
    fn default() -> Self {
        Self { minimum: 1, preferred: 4096, payload: 64 << 20 }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Number in the server's volumes.
    pub export: Export,
    pub name: String,
    /// Description for users; may be empty. An export with a model has to declare it here, as its response times could
    /// be mistaken for measured ones: see [`Offer::emulated`].
    pub description: String,
    /// Bytes.
    pub size: u64,
    /// Write permission.
    pub access: VolumeAccess,
    /// Whether seeks take time.
    pub medium: Medium,
    /// Sizes of requests.
    pub blocks: Blocks,
    /// The identity of its logical unit over iSCSI; `None` derives it from the name.
    pub unit: Option<Box<UnitIdentity>>,
}

impl Offer {
    /// A writable export of `size` bytes on a medium without seeks.
    pub fn new(export: Export, name: impl Into<String>, size: u64) -> Self {
        Self {
            export,
            name: name.into(),
            description: String::new(),
            size,
            access: VolumeAccess::ReadWrite,
            medium: Medium::Solid,
            blocks: Blocks::default(),
            unit: None,
        }
    }

    /// Adds a description of the emulation.
    pub fn emulated(self, emulation: &Emulation) -> Self {
        Self { description: emulation.to_string(), ..self }
    }
}

//! An export as clients see it, whatever their protocol.

use plimsoll_device::nbd::Emulation;
use plimsoll_volume::{Access, Export};

/// Whether seeks take time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// They do not: flash, memory, a network volume.
    Solid,
    /// They do: a rotating disk.
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

/// An export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Its number in the server's volumes.
    pub export: Export,
    /// Its name for clients.
    pub name: String,
    /// A sentence about it for people; may be empty. An export with a model has to declare it here, or its times would be
    /// taken for measured ones: see [`Offer::emulated`].
    pub description: String,
    /// Bytes.
    pub size: u64,
    /// Whether it can be written.
    pub access: Access,
    /// Whether seeks take time.
    pub medium: Medium,
    /// Sizes of requests.
    pub blocks: Blocks,
}

impl Offer {
    /// An export of `size` bytes that can be written, on a medium without seeks.
    pub fn new(export: Export, name: impl Into<String>, size: u64) -> Self {
        Self {
            export,
            name: name.into(),
            description: String::new(),
            size,
            access: Access::ReadWrite,
            medium: Medium::Solid,
            blocks: Blocks::default(),
        }
    }

    /// The same with a description of the emulation.
    pub fn emulated(self, emulation: &Emulation) -> Self {
        Self { description: emulation.to_string(), ..self }
    }
}

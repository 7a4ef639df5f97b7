//! An export as clients are told of it.

use plimsoll_device::nbd::Emulation;
use plimsoll_device::nbd::wire::{Style, flag};
use plimsoll_volume::{Access, Export};

/// Bytes of one read or write at most: as many as nbdkit takes, twice as many as a client may send unasked.
pub const PAYLOAD_MAX: u32 = 64 << 20;

/// What a seek costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// Nothing: flash, memory, a network volume.
    Solid,
    /// Time: a disk that turns.
    Rotational,
}

/// Sizes of requests, in bytes; the first two are powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Offsets and lengths are multiples of it, at most 65,536.
    pub minimum: u32,
    /// Multiples of it are served best.
    pub preferred: u32,
    /// A read or write is not longer.
    pub payload: u32,
}

impl Default for Blocks {
    fn default() -> Self {
        Self { minimum: 1, preferred: 4096, payload: PAYLOAD_MAX }
    }
}

/// An export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// What serves it.
    pub export: Export,
    /// What clients call it.
    pub name: String,
    /// A sentence about it for people; may be empty. What a model delays has to say so here, or its times would be taken
    /// for measured ones: see [`Offer::emulated`].
    pub description: String,
    /// Bytes.
    pub size: u64,
    /// Whether it can be written.
    pub access: Access,
    /// What a seek costs.
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

    /// The same, saying what it emulates.
    pub fn emulated(self, emulation: &Emulation) -> Self {
        Self { description: emulation.to_string(), ..self }
    }

    /// The export's flags for a client that negotiated `style`.
    pub(crate) fn flags(&self, style: Style) -> u16 {
        let mut flags = flag::HAS_FLAGS | flag::SEND_FLUSH | flag::SEND_FUA | flag::SEND_CACHE | flag::CAN_MULTI_CONN;
        flags |= match self.access {
            Access::ReadOnly => flag::READ_ONLY,
            Access::ReadWrite => flag::SEND_TRIM | flag::SEND_WRITE_ZEROES | flag::SEND_FAST_ZERO,
        };
        if self.medium == Medium::Rotational {
            flags |= flag::ROTATIONAL;
        }
        if style > Style::Simple {
            flags |= flag::SEND_DF;
        }
        flags
    }
}

/// The offer of that name. The empty name means the only offer, where there is only one.
pub(crate) fn named<'a>(offers: &'a [Offer], name: &str) -> Option<&'a Offer> {
    match (offers.iter().find(|offer| offer.name == name), offers) {
        (Some(offer), _) => Some(offer),
        (None, [only]) if name.is_empty() => Some(only),
        (None, _) => None,
    }
}

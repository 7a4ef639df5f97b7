//! One operation, and the slot that it occupies while it is in flight.

use serde::{Deserialize, Serialize};

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Kind {
    /// Reads `length` bytes at `offset`.
    Read,
    /// Writes `length` bytes at `offset`; durable only after a later [`Kind::Flush`].
    Write,
    /// Writes, and answers when the data are durable (`O_DSYNC`, FUA).
    DurableWrite,
    /// Makes all answered writes durable (`fdatasync`, a cache flush); has no address.
    Flush,
    /// Discards `length` bytes at `offset`: what they hold afterwards is undefined, and their space may be freed.
    Trim,
}

impl Kind {
    /// Every kind, in the order of [`Kind::index`].
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::DurableWrite, Self::Flush, Self::Trim];

    /// Its place in [`Kind::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The word for tables: `read`, `write`, `durable write`, `flush`, `trim`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::DurableWrite => "durable write",
            Self::Flush => "flush",
            Self::Trim => "trim",
        }
    }

    /// True when data are written; a trim moves none.
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::DurableWrite)
    }
}

/// One operation on a linear space of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Op {
    /// First byte, from the start of the target.
    pub offset: u64,
    /// Bytes; zero for a flush.
    pub length: u32,
    /// What is done.
    pub kind: Kind,
    /// Which stream of the load asked for it: an index that the target ignores and the record keeps.
    pub stream: u8,
}

/// The place of an operation in flight: below the depth that the loop was given, free again after its completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

impl Slot {
    /// As an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

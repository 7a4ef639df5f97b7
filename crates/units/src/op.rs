//! An operation, and its slot while in flight.

use serde::{Deserialize, Serialize};

/// Kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Kind {
    /// Reads `length` bytes at `offset`.
    Read,
    /// Writes `length` bytes at `offset`; durable only after a later [`Kind::Flush`].
    Write,
    /// Writes, and completes when the data are durable (`O_DSYNC`, FUA).
    DurableWrite,
    /// Makes all completed writes durable (`fdatasync`, cache flush); has no address.
    Flush,
    /// Discards `length` bytes at `offset`: their content becomes undefined, and their space may be freed.
    Trim,
}

impl Kind {
    /// Every kind, in the order of [`Kind::index`].
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::DurableWrite, Self::Flush, Self::Trim];

    /// Position in [`Kind::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Name in tables: `read`, `write`, `durable write`, `flush`, `trim`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::DurableWrite => "durable write",
            Self::Flush => "flush",
            Self::Trim => "trim",
        }
    }

    /// True if data are written; false for a trim.
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::DurableWrite)
    }
}

/// An operation on a linear address space of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Op {
    /// First byte, relative to the start of the target.
    pub offset: u64,
    /// Length in bytes; zero for a flush.
    pub length: u32,
    /// Kind.
    pub kind: Kind,
    /// Index of the stream that issued it; ignored by the target, kept in records.
    pub stream: u8,
}

/// Identifier of an operation in flight: less than the queue depth, reused after completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

impl Slot {
    /// Index of the slot.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

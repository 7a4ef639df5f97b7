//! Client requests, and errors of replies.
//!
//! Independent of protocols: NBD, iSCSI and FUSE are translated to these types.

use plimsoll_units::{Kind, Op};

/// The front's identifier of a request in flight, returned with the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    Read,
    /// Writes data; durable only after a later flush, unless marked FUA.
    Write,
    /// Completes when all writes acknowledged before its acceptance are durable. Has no address.
    Flush,
    /// Discards a range: complete clusters read as zeros afterwards, partial clusters are unchanged.
    Trim,
    WriteZeroes {
        /// Whether the range may be deallocated.
        space: Space,
    },
    /// Announces reads of a range; has no effect.
    Cache,
}

/// Classes of requests for counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Reads and cache hints.
    Read,
    /// Writes and zeros, durable or not.
    Write,
    Flush,
    Trim,
}

impl Class {
    /// Every class, in the order of [`Class::index`].
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Flush, Self::Trim];

    /// Position in [`Class::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Name: `read`, `write`, `flush`, `trim`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Flush => "flush",
            Self::Trim => "trim",
        }
    }
}

/// The allocation of a zeroed range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Whole clusters are deallocated.
    Free,
    /// The range stays or becomes allocated, so that later writes do not run out of space.
    Keep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub command: Command,
    /// First byte; zero for a flush.
    pub offset: u64,
    /// Length in bytes; zero for a flush. Reads and writes have at most [`crate::Limits::payload`]; trims and zeros may
    /// cover the volume completely.
    pub length: u64,
    /// Force unit access: changes are durable on completion.
    pub fua: bool,
}

impl Request {
    /// The operation for the model: a trim, zeros without allocation, and a hint transfer no data.
    pub(crate) fn op(&self) -> Op {
        let length = u32::try_from(self.length).unwrap_or(u32::MAX);
        let (kind, length) = match (self.command, self.fua) {
            (Command::Read, _) => (Kind::Read, length),
            (Command::Cache, _) => (Kind::Read, 0),
            (Command::Flush, _) => (Kind::Flush, 0),
            (Command::Write | Command::WriteZeroes { space: Space::Keep }, false) => (Kind::Write, length),
            (Command::Write | Command::WriteZeroes { space: Space::Keep }, true) => (Kind::DurableWrite, length),
            (Command::Trim | Command::WriteZeroes { space: Space::Free }, false) => (Kind::Write, 0),
            (Command::Trim | Command::WriteZeroes { space: Space::Free }, true) => (Kind::DurableWrite, 0),
        };
        Op { offset: self.offset, length, kind, stream: 0 }
    }

    pub const fn class(&self) -> Class {
        match self.command {
            Command::Read | Command::Cache => Class::Read,
            Command::Write | Command::WriteZeroes { .. } => Class::Write,
            Command::Flush => Class::Flush,
            Command::Trim => Class::Trim,
        }
    }

    /// Payload in bytes, in either direction.
    pub(crate) const fn payload(&self) -> u64 {
        match self.command {
            Command::Read | Command::Write => self.length,
            Command::Flush | Command::Trim | Command::WriteZeroes { .. } | Command::Cache => 0,
        }
    }

    /// True if data or allocation change.
    pub(crate) const fn changes(&self) -> bool {
        matches!(self.command, Command::Write | Command::Trim | Command::WriteZeroes { .. })
    }
}

/// Error of a request, with the codes of Linux and NBD.
#[plimsoll_language::say_errors]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Errno {
    /// EPERM: change of a read-only volume.
    #[error("not permitted: the volume is read-only")]
    Perm,
    /// EIO: failure of the backing storage.
    #[error("input or output error")]
    Io,
    /// EINVAL: out of range, misaligned, or too long.
    #[error("invalid request: outside of the volume, not aligned to its blocks, or too long")]
    Inval,
    /// ENOSPC: beyond the end, or the store is full.
    #[error("no space left: beyond the end of the volume, or its store is full")]
    NoSpc,
    /// EOVERFLOW: the reply would be longer than the protocol allows.
    #[error("the reply is too long")]
    Overflow,
    /// ENOTSUP: not supported.
    #[error("not supported")]
    NotSup,
    /// ESHUTDOWN: the volume is being withdrawn.
    #[error("the volume is going out of service")]
    Shutdown,
}

impl Errno {
    /// The number on the wire.
    pub const fn code(self) -> u32 {
        match self {
            Self::Perm => 1,
            Self::Io => 5,
            Self::Inval => 22,
            Self::NoSpc => 28,
            Self::Overflow => 75,
            Self::NotSup => 95,
            Self::Shutdown => 108,
        }
    }
}

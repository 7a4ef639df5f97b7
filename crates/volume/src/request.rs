//! Requests of clients, and the errors of replies.
//!
//! Independent of protocols: NBD, iSCSI and FUSE are translated to these types.

use plimsoll_units::{Kind, Op};

/// The front's identifier of a request in flight, unique among those; the volume only returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// The command of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Reads data.
    Read,
    /// Writes data; durable only after a later flush, unless marked FUA.
    Write,
    /// Answered when all writes that were answered before it was accepted are durable. Has no address.
    Flush,
    /// Discards a range: whole clusters read as zeros afterwards, partial ones stay as they are.
    Trim,
    /// Zeros a range.
    WriteZeroes {
        /// Whether the range may be deallocated.
        space: Space,
    },
    /// Announces reads of a range; changes nothing.
    Cache,
}

/// Requests as they are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Reads, and hints that something will be read.
    Read,
    /// Writes and zeros, durable or not.
    Write,
    /// Flushes.
    Flush,
    /// Trims.
    Trim,
}

impl Class {
    /// Every class, in the order of [`Class::index`].
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Flush, Self::Trim];

    /// Its place in [`Class::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Its word: `read`, `write`, `flush`, `trim`.
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
    /// The range stays or becomes allocated: a later write there does not run out of space.
    Keep,
}

/// A request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The command.
    pub command: Command,
    /// First byte; zero for a flush.
    pub offset: u64,
    /// Bytes; zero for a flush. Reads and writes carry at most [`crate::Limits::payload`]; trims and zeros may be as
    /// long as the volume.
    pub length: u64,
    /// Force unit access: its changes are durable when it is answered.
    pub fua: bool,
}

impl Request {
    /// The operation for the model: a trim, zeros without allocation and a hint move no bytes.
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

    /// Its class.
    pub const fn class(&self) -> Class {
        match self.command {
            Command::Read | Command::Cache => Class::Read,
            Command::Write | Command::WriteZeroes { .. } => Class::Write,
            Command::Flush => Class::Flush,
            Command::Trim => Class::Trim,
        }
    }

    /// Bytes of its payload, in either direction.
    pub(crate) const fn payload(&self) -> u64 {
        match self.command {
            Command::Read | Command::Write => self.length,
            Command::Flush | Command::Trim | Command::WriteZeroes { .. } | Command::Cache => 0,
        }
    }

    /// True if it changes data or allocation.
    pub(crate) const fn changes(&self) -> bool {
        matches!(self.command, Command::Write | Command::Trim | Command::WriteZeroes { .. })
    }
}

/// The error of a request. The codes are those of Linux and of NBD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Errno {
    /// EPERM: a change of a read-only volume.
    #[error("not permitted: the volume is read-only")]
    Perm,
    /// EIO: the storage behind the volume failed.
    #[error("input or output error")]
    Io,
    /// EINVAL: outside of the volume, not aligned, or too long.
    #[error("invalid request: outside of the volume, not aligned to its blocks, or longer than it takes")]
    Inval,
    /// ENOSPC: a change beyond the end, or no space is left behind the volume.
    #[error("no space left: beyond the end of the volume, or its store is full")]
    NoSpc,
    /// EOVERFLOW: the reply would be longer than the protocol allows.
    #[error("the reply is too long")]
    Overflow,
    /// ENOTSUP: not offered.
    #[error("not supported")]
    NotSup,
    /// ESHUTDOWN: the volume is going out of service.
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

//! What a client asks of a volume, and the errors that it can be told.
//!
//! Knows nothing about protocols: NBD, iSCSI and FUSE all end here.

use plimsoll_units::{Kind, Op};

/// The name that a front gives to a request while it is in flight. Unique among those in flight; the volume only
/// hands it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Returns bytes.
    Read,
    /// Takes bytes; durable only after a later flush, unless it is marked FUA.
    Write,
    /// Answered when every write that was answered before it was accepted is durable. Has no address.
    Flush,
    /// The bytes are not needed any more: whole clusters read as zeros afterwards, the rest stays as it is.
    Trim,
    /// The bytes read as zeros afterwards.
    WriteZeroes {
        /// Whether the space may be given back.
        space: Space,
    },
    /// A hint that the bytes will be read soon; changes nothing.
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

/// What becomes of the space of zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// It is given back where whole clusters are zero.
    Free,
    /// It is kept and where missing reserved: a later write there does not run out of space.
    Keep,
}

/// One request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// What it does.
    pub command: Command,
    /// First byte; zero for a flush.
    pub offset: u64,
    /// Bytes; zero for a flush. Reads and writes carry at most [`crate::Limits::payload`]; trims and zeros may be as
    /// long as the volume.
    pub length: u64,
    /// Force unit access: what it changes is durable when it is answered.
    pub fua: bool,
}

impl Request {
    /// What the model is asked: a trim, zeros whose space is freed, and a hint move no bytes.
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

    /// What it is counted as.
    pub const fn class(&self) -> Class {
        match self.command {
            Command::Read | Command::Cache => Class::Read,
            Command::Write | Command::WriteZeroes { .. } => Class::Write,
            Command::Flush => Class::Flush,
            Command::Trim => Class::Trim,
        }
    }

    /// Bytes that travel with it, in either direction.
    pub(crate) const fn payload(&self) -> u64 {
        match self.command {
            Command::Read | Command::Write => self.length,
            Command::Flush | Command::Trim | Command::WriteZeroes { .. } | Command::Cache => 0,
        }
    }

    /// True when it would change bytes or space.
    pub(crate) const fn changes(&self) -> bool {
        matches!(self.command, Command::Write | Command::Trim | Command::WriteZeroes { .. })
    }
}

/// Why a request failed, as block protocols say it. The codes are those of Linux and of NBD.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Errno {
    /// EPERM: a change of what is read-only.
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
    /// EOVERFLOW: the answer would be longer than can be sent in one piece.
    #[error("the answer is too long for one piece")]
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

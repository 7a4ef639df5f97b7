//! Requests of the kernel: found in a message, their fields read. Nothing is judged here.

use super::wire::{Fields, REQUEST_BYTES, opcode};

/// What opens a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bytes of the whole message.
    pub length: u32,
    /// What is asked, a number of [`opcode`] or an unknown one.
    pub opcode: u32,
    /// What the kernel calls it.
    pub unique: u64,
    /// Which file or directory it is about.
    pub node: u64,
}

impl Header {
    /// The header at the beginning of a message; `None` when that is too short for one.
    #[inline]
    pub fn parse(message: &[u8]) -> Option<Self> {
        let mut fields = Fields(message.get(..REQUEST_BYTES)?);
        let (length, opcode, unique, node) = (fields.u32()?, fields.u32()?, fields.u64()?, fields.u64()?);
        Some(Self { length, opcode, unique, node })
    }
}

/// What is asked, as the kernel says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call<'a> {
    /// The file is read. Direct reads are asked for by the block, others by the page.
    Read {
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u32,
    },
    /// The file is written; so many bytes follow the message's head.
    Write {
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u32,
        /// How the file was opened, and what the call added: `O_DSYNC`, `O_SYNC`.
        flags: u32,
    },
    /// What was written becomes durable.
    Fsync,
    /// Space is given, taken or zeroed.
    Fallocate {
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u64,
        /// `FALLOC_FL_*`.
        mode: u32,
    },
    /// Where data or a hole begins.
    Seek {
        /// From here on.
        offset: u64,
        /// `SEEK_DATA`, `SEEK_HOLE` and others.
        whence: u32,
    },
    /// A name is looked for in a directory.
    Lookup(&'a [u8]),
    /// Size, mode and times are asked.
    Attributes,
    /// They are changed.
    Change {
        /// Which: bits of [`super::wire::valid`].
        valid: u32,
        /// The size to be.
        size: u64,
    },
    /// The file is opened, with `O_*`.
    Open(u32),
    /// The directory is opened.
    OpenDirectory,
    /// Entries of the directory.
    Entries {
        /// After so many.
        after: u64,
        /// Bytes of the answer at most.
        most: u32,
        /// With their attributes.
        plus: bool,
    },
    /// How large and how full the filesystem is.
    Space,
    /// The first message: what the kernel can do.
    Init {
        /// Its version.
        major: u32,
        /// Its version.
        minor: u32,
        /// Bytes that it reads ahead.
        readahead: u32,
        /// Bits of [`super::wire::init`].
        flags: u32,
    },
    /// Something ends that nothing is kept for: closing, the end of the filesystem.
    End,
    /// The kernel forgets, or gives up: no answer is wanted.
    Unanswered,
    /// Nothing that this filesystem has.
    Unknown,
}

impl<'a> Call<'a> {
    /// What a message of that header says; `None` when it is too short for it.
    #[inline]
    pub fn parse(header: &Header, message: &'a [u8]) -> Option<Self> {
        let body = message.get(REQUEST_BYTES..)?;
        let mut fields = Fields(body);
        let fields = &mut fields;
        Some(match header.opcode {
            opcode::READ => {
                let (_, offset, length) = (fields.u64()?, fields.u64()?, fields.u32()?);
                Self::Read { offset, length }
            }
            opcode::WRITE => {
                let (_, offset, length) = (fields.u64()?, fields.u64()?, fields.u32()?);
                let (_, _, flags) = (fields.u32()?, fields.u64()?, fields.u32()?);
                Self::Write { offset, length, flags }
            }
            opcode::FSYNC => Self::Fsync,
            opcode::FALLOCATE => {
                let (_, offset, length, mode) = (fields.u64()?, fields.u64()?, fields.u64()?, fields.u32()?);
                Self::Fallocate { offset, length, mode }
            }
            opcode::LSEEK => {
                let (_, offset, whence) = (fields.u64()?, fields.u64()?, fields.u32()?);
                Self::Seek { offset, whence }
            }
            opcode::LOOKUP => Self::Lookup(body.split(|byte| *byte == 0).next()?),
            opcode::GETATTR => Self::Attributes,
            opcode::SETATTR => {
                let (valid, _, _, size) = (fields.u32()?, fields.u32()?, fields.u64()?, fields.u64()?);
                Self::Change { valid, size }
            }
            opcode::OPEN => Self::Open(fields.u32()?),
            opcode::OPENDIR => Self::OpenDirectory,
            opcode::READDIR | opcode::READDIRPLUS => {
                let (_, after, most) = (fields.u64()?, fields.u64()?, fields.u32()?);
                Self::Entries { after, most, plus: header.opcode == opcode::READDIRPLUS }
            }
            opcode::STATFS => Self::Space,
            opcode::INIT => {
                let (major, minor) = (fields.u32()?, fields.u32()?);
                // A kernel of another major version says no more than that.
                let (readahead, flags) = (fields.u32().unwrap_or(0), fields.u32().unwrap_or(0));
                Self::Init { major, minor, readahead, flags }
            }
            opcode::FLUSH | opcode::RELEASE | opcode::RELEASEDIR | opcode::FSYNCDIR | opcode::DESTROY => Self::End,
            opcode::FORGET | opcode::BATCH_FORGET => Self::Unanswered,
            _ => Self::Unknown,
        })
    }
}

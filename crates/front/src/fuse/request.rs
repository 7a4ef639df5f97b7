//! Requests of the kernel: their fields in a message, unchecked.

use super::wire::{FieldReader, REQUEST_BYTES, opcode};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Bytes of the whole message.
    pub length: u32,
    /// A number of [`opcode`], or an unknown one.
    pub opcode: u32,
    /// The kernel's identifier.
    pub unique: u64,
    /// Its file or directory.
    pub node: u64,
}

impl Header {
    /// The header at the beginning of a message; `None` when that is too short for one.
    #[inline]
    pub(super) fn parse(message: &[u8]) -> Option<Self> {
        let mut fields = FieldReader(message.get(..REQUEST_BYTES)?);
        let (length, opcode, unique, node) = (fields.u32()?, fields.u32()?, fields.u64()?, fields.u64()?);
        Some(Self { length, opcode, unique, node })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call<'a> {
    /// Read the file: direct reads by block, others by page.
    Read {
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u32,
    },
    /// Write the file; the bytes follow the message.
    Write {
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u32,
        /// Flags of the open file and of the call: `O_DSYNC`, `O_SYNC`.
        flags: u32,
    },
    /// Make earlier writes durable.
    Fsync,
    /// Allocate, deallocate or zero a range.
    Fallocate {
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u64,
        /// `FALLOC_FL_*`.
        mode: u32,
    },
    /// Find data or a hole.
    Seek {
        offset: u64,
        /// `SEEK_DATA`, `SEEK_HOLE` and others.
        whence: u32,
    },
    /// Look up a name in a directory.
    Lookup(&'a [u8]),
    /// Return size, mode and times.
    Attributes,
    Change {
        /// The changed attributes: bits of [`super::wire::valid`].
        valid: u32,
        size: u64,
    },
    /// The file is opened, with `O_*`.
    Open(u32),
    OpenDirectory,
    Entries {
        /// Number of entries to skip.
        after: u64,
        /// Maximum bytes of the reply.
        max: u32,
        /// With their attributes.
        plus: bool,
    },
    /// Return the size and free space of the filesystem.
    Space,
    /// The first message, with the abilities of the kernel.
    Init {
        major: u32,
        minor: u32,
        /// Bytes that it reads ahead.
        readahead: u32,
        /// Bits of [`super::wire::init`].
        flags: u32,
    },
    /// Close or unmount, for which there is no state.
    End,
    /// A message without a reply.
    Unanswered,
    /// A request that this filesystem does not support.
    Unknown,
}

impl<'a> Call<'a> {
    /// The request in a message with this header; `None` if the message is too short.
    #[inline]
    pub(super) fn parse(header: &Header, message: &'a [u8]) -> Option<Self> {
        let body = message.get(REQUEST_BYTES..)?;
        let mut fields = FieldReader(body);
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
                let (_, after, max) = (fields.u64()?, fields.u64()?, fields.u32()?);
                Self::Entries { after, max, plus: header.opcode == opcode::READDIRPLUS }
            }
            opcode::STATFS => Self::Space,
            opcode::INIT => {
                let (major, minor) = (fields.u32()?, fields.u32()?);
                // A kernel of another major version sends only that.
                let (readahead, flags) = (fields.u32().unwrap_or(0), fields.u32().unwrap_or(0));
                Self::Init { major, minor, readahead, flags }
            }
            opcode::FLUSH | opcode::RELEASE | opcode::RELEASEDIR | opcode::FSYNCDIR | opcode::DESTROY => Self::End,
            opcode::FORGET | opcode::BATCH_FORGET => Self::Unanswered,
            _ => Self::Unknown,
        })
    }
}

//! Requests of the transmission phase: decoding and validation.

use plimsoll_device::nbd::wire::{self, Reader, Style, command, command_flag};
use plimsoll_volume::{Command, Errno, Request, Space, VolumeAccess};

use crate::codec::{Division, Operation};
use crate::offer::Blocks;

/// Maximum bytes of a read or write: as in nbdkit, and twice the default maximum for clients.
pub const PAYLOAD_MAX: u32 = 64 << 20;

/// The header of a request is invalid, so the next request cannot be found: the connection has to end.
#[plimsoll_language::say_errors]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidHeader {
    /// The magic number is wrong.
    #[error("request magic {found:#010x}, expected {expected:#010x}")]
    Magic {
        found: u32,
        /// The number of the negotiated style.
        expected: u32,
    },
    /// The payload exceeds [`PAYLOAD_MAX`].
    #[error("request payload of {0} bytes, maximum {PAYLOAD_MAX}")]
    Payload(u64),
}

/// A decoded request header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub flags: u16,
    /// A number of [`wire::command`], or an unknown one.
    pub command: u16,
    /// The client's identifier.
    pub cookie: u64,
    /// First byte.
    pub offset: u64,
    /// Bytes of the export or of the payload.
    pub length: u64,
    /// Bytes of payload that follow the header.
    pub payload: u32,
}

/// The result of the handshake, against which requests are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How requests are framed.
    pub style: Style,
    /// `base:allocation` was chosen.
    pub allocation: bool,
    /// Bytes of the export at present.
    pub size: u64,
    /// Whether it can be written.
    pub access: VolumeAccess,
    /// Sizes of requests.
    pub blocks: Blocks,
}

impl Header {
    /// The header at the beginning of `input`; `None` when it is not complete.
    ///
    /// # Errors
    /// The next request cannot be found.
    #[inline]
    pub fn parse(style: Style, input: &[u8]) -> Result<Option<Self>, InvalidHeader> {
        if input.len() < style.request_bytes() {
            return Ok(None);
        }
        let expected = if style == Style::Extended { wire::EXTENDED_REQUEST } else { wire::REQUEST };
        let mut reader = Reader(input);
        let fields = (|| {
            let head = (reader.u32()?, reader.u16()?, reader.u16()?, reader.u64()?, reader.u64()?);
            let length = if style == Style::Extended { reader.u64()? } else { u64::from(reader.u32()?) };
            Some((head, length))
        })();
        let Some(((magic, flags, command, cookie, offset), length)) = fields else { return Ok(None) };
        if magic != expected {
            return Err(InvalidHeader::Magic { found: magic, expected });
        }
        // QEMU 10 sends extended writes without the flag that announces their payload.
        let announced = style == Style::Extended && flags & command_flag::PAYLOAD_LEN != 0;
        let carries = command == command::WRITE || announced;
        let payload = if carries { length } else { 0 };
        if payload > u64::from(PAYLOAD_MAX) {
            return Err(InvalidHeader::Payload(payload));
        }
        Ok(Some(Self { flags, command, cookie, offset, length, payload: payload as u32 }))
    }

    /// The requested operation.
    ///
    /// # Errors
    /// The error to reply. The payload follows in any case.
    #[inline]
    pub fn operation(&self, terms: &Terms) -> Result<Operation, Errno> {
        if self.flags & !self.allowed(terms.style)? != 0 {
            return Err(Errno::Inval);
        }
        match self.command {
            command::DISC => return Ok(Operation::Disconnect),
            command::FLUSH if self.offset != 0 || self.length != 0 => return Err(Errno::Inval),
            command::FLUSH => return Ok(self.io(Command::Flush)),
            command::WRITE | command::TRIM | command::WRITE_ZEROES if terms.access == VolumeAccess::ReadOnly => {
                return Err(Errno::Perm);
            }
            _ => self.within(terms)?,
        }
        match self.command {
            command::READ if self.length > u64::from(terms.blocks.payload) => Err(match terms.style {
                Style::Simple => Errno::Inval,
                Style::Structured | Style::Extended => Errno::Overflow,
            }),
            command::WRITE if self.length > u64::from(terms.blocks.payload) => Err(Errno::Inval),
            command::READ => Ok(self.io(Command::Read)),
            command::WRITE => Ok(self.io(Command::Write)),
            command::TRIM => Ok(self.io(Command::Trim)),
            command::CACHE => Ok(self.io(Command::Cache)),
            command::WRITE_ZEROES => self.zeroes(),
            _ if terms.allocation => {
                let one = self.flags & command_flag::REQ_ONE != 0;
                Ok(Operation::Extents { offset: self.offset, length: self.length, one })
            }
            _ => Err(Errno::Inval),
        }
    }

    /// How the bytes of a read may be divided.
    pub const fn division(&self, style: Style) -> Division {
        match style {
            Style::Structured | Style::Extended if self.flags & command_flag::DF == 0 => Division::Chunks,
            _ => Division::Undivided,
        }
    }

    /// Flags that are valid with the command. FUA is valid with all commands.
    fn allowed(&self, style: Style) -> Result<u16, Errno> {
        let own = match self.command {
            command::READ if style > Style::Simple => command_flag::DF,
            command::WRITE if style == Style::Extended => command_flag::PAYLOAD_LEN,
            command::READ | command::WRITE | command::DISC | command::FLUSH | command::TRIM | command::CACHE => 0,
            command::WRITE_ZEROES => command_flag::NO_HOLE | command_flag::FAST_ZERO,
            command::BLOCK_STATUS => command_flag::REQ_ONE,
            _ => return Err(Errno::Inval),
        };
        Ok(own | command_flag::FUA)
    }

    /// Inside of the export, aligned, and not empty.
    #[inline]
    fn within(&self, terms: &Terms) -> Result<(), Errno> {
        let minimum = u64::from(terms.blocks.minimum);
        if self.length == 0 || (self.offset | self.length) & (minimum - 1) != 0 {
            return Err(Errno::Inval);
        }
        if self.offset.checked_add(self.length).is_some_and(|end| end <= terms.size) {
            return Ok(());
        }
        let adds = matches!(self.command, command::WRITE | command::WRITE_ZEROES);
        Err(if adds { Errno::NoSpc } else { Errno::Inval })
    }

    /// Zeroing with deallocation only changes the map, which is faster than a write; zeroing that keeps the space is
    /// not.
    fn zeroes(&self) -> Result<Operation, Errno> {
        let keeps = self.flags & command_flag::NO_HOLE != 0;
        if keeps && self.flags & command_flag::FAST_ZERO != 0 {
            return Err(Errno::NotSup);
        }
        let space = if keeps { Space::Keep } else { Space::Free };
        Ok(self.io(Command::WriteZeroes { space }))
    }

    #[inline]
    fn io(&self, command: Command) -> Operation {
        let fua = self.flags & command_flag::FUA != 0;
        Operation::Io(Request { command, offset: self.offset, length: self.length, fua })
    }
}

#[cfg(test)]
mod tests;

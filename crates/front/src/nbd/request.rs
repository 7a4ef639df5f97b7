//! Requests of the transmission phase: found in a stream of bytes, and checked against what is offered.

use plimsoll_device::nbd::wire::{self, Reader, Style, command, command_flag};
use plimsoll_volume::{Access, Command, Errno, Request, Space};

use super::offer::{Blocks, PAYLOAD_MAX};
use super::reply::Division;

/// The stream cannot be followed any more: the connection has to be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// No request begins where one should.
    #[error("a request begins with {found:#010x}, {expected:#010x} was negotiated")]
    Magic {
        /// What is there.
        found: u32,
        /// What opens a request.
        expected: u32,
    },
    /// More payload than any server has to take.
    #[error("a request announces {0} bytes of payload; {PAYLOAD_MAX} are taken")]
    Payload(u64),
}

/// The header of a request, as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Its flags.
    pub flags: u16,
    /// What is asked, a number of [`wire::command`] or an unknown one.
    pub command: u16,
    /// What the client calls it.
    pub cookie: u64,
    /// First byte.
    pub offset: u64,
    /// Bytes of the export or of the payload.
    pub length: u64,
    /// Bytes that follow the header, whether they make sense or not.
    pub payload: u32,
}

/// What the requests of a session are checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How requests are framed.
    pub style: Style,
    /// `base:allocation` was chosen.
    pub allocation: bool,
    /// Bytes of the export at present.
    pub size: u64,
    /// Whether it can be written.
    pub access: Access,
    /// Sizes of requests.
    pub blocks: Blocks,
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Something that a volume does.
    Io(Request),
    /// What is stored where.
    Status {
        /// From here on.
        offset: u64,
        /// So far.
        length: u64,
        /// One extent is enough.
        one: bool,
    },
    /// An end, after everything before it was answered.
    Disconnect,
}

impl Header {
    /// The header at the beginning of `input`; `None` when it is not complete.
    ///
    /// # Errors
    /// The stream cannot be followed any more.
    #[inline]
    pub fn parse(style: Style, input: &[u8]) -> Result<Option<Self>, Broken> {
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
            return Err(Broken::Magic { found: magic, expected });
        }
        // QEMU 10 sends extended writes without the flag that announces their payload.
        let announced = style == Style::Extended && flags & command_flag::PAYLOAD_LEN != 0;
        let carries = command == command::WRITE || announced;
        let payload = if carries { length } else { 0 };
        if payload > u64::from(PAYLOAD_MAX) {
            return Err(Broken::Payload(payload));
        }
        Ok(Some(Self { flags, command, cookie, offset, length, payload: payload as u32 }))
    }

    /// What is asked.
    ///
    /// # Errors
    /// What the client is to be told; a payload follows all the same.
    #[inline]
    pub fn ask(&self, terms: &Terms) -> Result<Ask, Errno> {
        if self.flags & !self.allowed(terms.style)? != 0 {
            return Err(Errno::Inval);
        }
        match self.command {
            command::DISC => return Ok(Ask::Disconnect),
            command::FLUSH if self.offset != 0 || self.length != 0 => return Err(Errno::Inval),
            command::FLUSH => return Ok(self.io(Command::Flush)),
            command::WRITE | command::TRIM | command::WRITE_ZEROES if terms.access == Access::ReadOnly => {
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
                Ok(Ask::Status { offset: self.offset, length: self.length, one })
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

    /// The flags that go with the command. FUA goes with all of them.
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

    /// Zeros whose space is given back are a change of a map and so faster than a write; those that keep it are not.
    fn zeroes(&self) -> Result<Ask, Errno> {
        let keeps = self.flags & command_flag::NO_HOLE != 0;
        if keeps && self.flags & command_flag::FAST_ZERO != 0 {
            return Err(Errno::NotSup);
        }
        let space = if keeps { Space::Keep } else { Space::Free };
        Ok(self.io(Command::WriteZeroes { space }))
    }

    #[inline]
    fn io(&self, command: Command) -> Ask {
        let fua = self.flags & command_flag::FUA != 0;
        Ask::Io(Request { command, offset: self.offset, length: self.length, fua })
    }
}

#[cfg(test)]
mod tests;

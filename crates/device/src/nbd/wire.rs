//! The numbers of the NBD protocol, as its public specification names them (NetworkBlockDevice/nbd, `doc/proto.md`, and
//! its branch `extension-ext-header`).
//!
//! Knows nothing about either side's behaviour. All integers travel in network byte order.

/// What a server says first.
pub const GREETING: u64 = 0x4e42_444d_4147_4943;
/// What a newstyle server says second, and what opens every option: `IHAVEOPT`.
pub const OPTION: u64 = 0x4948_4156_454f_5054;
/// What opens every reply to an option.
pub const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
/// What opens a compact request.
pub const REQUEST: u32 = 0x2560_9513;
/// What opens an extended request.
pub const EXTENDED_REQUEST: u32 = 0x21e4_1c71;
/// What opens a simple reply.
pub const SIMPLE_REPLY: u32 = 0x6744_6698;
/// What opens a chunk of a structured reply.
pub const STRUCTURED_REPLY: u32 = 0x668e_33ef;
/// What opens a chunk of an extended reply.
pub const EXTENDED_REPLY: u32 = 0x6e8a_278c;
/// Bytes of payload that every server takes unless it says otherwise.
pub const PAYLOAD_MAX: u32 = 32 << 20;
/// Bytes of a name or message at most.
pub const TEXT_MAX: usize = 4096;
/// The port that is reserved for NBD.
pub const PORT: u16 = 10809;
/// The one metadata context that the specification defines.
pub const ALLOCATION: &str = "base:allocation";
/// State in `base:allocation`: nothing is stored there.
pub const STATE_HOLE: u64 = 1;
/// State in `base:allocation`: it reads as zeros.
pub const STATE_ZERO: u64 = 2;

/// How requests and replies are framed, as it was negotiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Style {
    /// Compact requests, simple replies.
    Simple,
    /// Compact requests, replies in chunks.
    Structured,
    /// Requests and replies with 64-bit lengths.
    Extended,
}

impl Style {
    /// Bytes of a request's header.
    pub const fn request_bytes(self) -> usize {
        match self {
            Self::Simple | Self::Structured => 28,
            Self::Extended => 32,
        }
    }
}

/// Flags of the handshake; the client's answer has the same two.
pub mod hello {
    /// Options are answered.
    pub const FIXED_NEWSTYLE: u16 = 1;
    /// No 124 zeros after an export's flags.
    pub const NO_ZEROES: u16 = 2;
}

/// Options of the handshake.
pub mod option {
    /// Chooses an export without a reply to an error.
    pub const EXPORT_NAME: u32 = 1;
    /// Ends the session.
    pub const ABORT: u32 = 2;
    /// Asks for the names of exports.
    pub const LIST: u32 = 3;
    /// Begins TLS.
    pub const STARTTLS: u32 = 5;
    /// Asks about an export.
    pub const INFO: u32 = 6;
    /// Chooses an export.
    pub const GO: u32 = 7;
    /// Asks for structured replies.
    pub const STRUCTURED_REPLY: u32 = 8;
    /// Asks which metadata there are.
    pub const LIST_META_CONTEXT: u32 = 9;
    /// Chooses metadata.
    pub const SET_META_CONTEXT: u32 = 10;
    /// Asks for extended headers.
    pub const EXTENDED_HEADERS: u32 = 11;
}

/// Types of replies to options.
pub mod rep {
    /// Accepted; the last reply.
    pub const ACK: u32 = 1;
    /// The name of an export.
    pub const SERVER: u32 = 2;
    /// Something about an export.
    pub const INFO: u32 = 3;
    /// A metadata context.
    pub const META_CONTEXT: u32 = 4;
    /// Set in every error.
    pub const ERROR: u32 = 1 << 31;
    /// The option is not known.
    pub const ERR_UNSUP: u32 = ERROR | 1;
    /// The option is known and forbidden.
    pub const ERR_POLICY: u32 = ERROR | 2;
    /// The option is malformed.
    pub const ERR_INVALID: u32 = ERROR | 3;
    /// TLS has to be begun first.
    pub const ERR_TLS_REQD: u32 = ERROR | 5;
    /// There is no such export.
    pub const ERR_UNKNOWN: u32 = ERROR | 6;
    /// The server is going out of service.
    pub const ERR_SHUTDOWN: u32 = ERROR | 7;
    /// The option is too long.
    pub const ERR_TOO_BIG: u32 = ERROR | 9;
    /// Extended headers were negotiated, and do not go back.
    pub const ERR_EXT_HEADER_REQD: u32 = ERROR | 0xa;
}

/// What can be told about an export.
pub mod info {
    /// Size and flags.
    pub const EXPORT: u16 = 0;
    /// Its proper name.
    pub const NAME: u16 = 1;
    /// A sentence about it.
    pub const DESCRIPTION: u16 = 2;
    /// Least, best and largest size of a request.
    pub const BLOCK_SIZE: u16 = 3;
}

/// Flags of an export.
pub mod flag {
    /// Always set.
    pub const HAS_FLAGS: u16 = 1;
    /// It cannot be written.
    pub const READ_ONLY: u16 = 1 << 1;
    /// It takes flushes.
    pub const SEND_FLUSH: u16 = 1 << 2;
    /// It honours FUA.
    pub const SEND_FUA: u16 = 1 << 3;
    /// Seeking costs time.
    pub const ROTATIONAL: u16 = 1 << 4;
    /// It takes trims.
    pub const SEND_TRIM: u16 = 1 << 5;
    /// It writes zeros without a payload.
    pub const SEND_WRITE_ZEROES: u16 = 1 << 6;
    /// It answers reads in one piece when asked to.
    pub const SEND_DF: u16 = 1 << 7;
    /// A flush on one connection covers what was answered on others.
    pub const CAN_MULTI_CONN: u16 = 1 << 8;
    /// It takes hints to cache.
    pub const SEND_CACHE: u16 = 1 << 10;
    /// It says at once when zeros would be slow.
    pub const SEND_FAST_ZERO: u16 = 1 << 11;
}

/// Types of requests.
pub mod command {
    /// Returns bytes.
    pub const READ: u16 = 0;
    /// Takes bytes.
    pub const WRITE: u16 = 1;
    /// Ends the session.
    pub const DISC: u16 = 2;
    /// Makes what was answered durable.
    pub const FLUSH: u16 = 3;
    /// Gives space back.
    pub const TRIM: u16 = 4;
    /// Announces reads.
    pub const CACHE: u16 = 5;
    /// Makes bytes zero.
    pub const WRITE_ZEROES: u16 = 6;
    /// Asks what is stored where.
    pub const BLOCK_STATUS: u16 = 7;
}

/// Flags of requests.
pub mod command_flag {
    /// Durable before it is answered.
    pub const FUA: u16 = 1;
    /// Zeros keep their space.
    pub const NO_HOLE: u16 = 1 << 1;
    /// A read in one piece.
    pub const DF: u16 = 1 << 2;
    /// One extent.
    pub const REQ_ONE: u16 = 1 << 3;
    /// Zeros faster than a write, or not at all.
    pub const FAST_ZERO: u16 = 1 << 4;
    /// The length of an extended request is that of a payload.
    pub const PAYLOAD_LEN: u16 = 1 << 5;
}

/// Types of chunks.
pub mod chunk {
    /// The flag of a last chunk.
    pub const DONE: u16 = 1;
    /// Nothing more.
    pub const NONE: u16 = 0;
    /// Bytes and where they are.
    pub const OFFSET_DATA: u16 = 1;
    /// Zeros and where they are.
    pub const OFFSET_HOLE: u16 = 2;
    /// Extents of 32-bit lengths.
    pub const BLOCK_STATUS: u16 = 5;
    /// Extents of 64-bit lengths.
    pub const BLOCK_STATUS_EXT: u16 = 6;
    /// Set in every error.
    pub const IS_ERROR: u16 = 1 << 15;
    /// The request failed.
    pub const ERROR: u16 = IS_ERROR | 1;
    /// The request failed at a place.
    pub const ERROR_OFFSET: u16 = IS_ERROR | 2;
}

/// Reads big-endian integers off the front of bytes; `None` when they end first.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// The next `count` bytes.
    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    /// The next 16 bits.
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// The next 32 bits.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// The next 64 bits.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// A text of so many bytes, in UTF-8 and not longer than [`TEXT_MAX`].
    pub fn text(&mut self, length: usize) -> Option<&'a str> {
        let bytes = self.bytes(length)?;
        if length > TEXT_MAX { None } else { std::str::from_utf8(bytes).ok() }
    }
}

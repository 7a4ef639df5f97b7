//! Constants of the NBD protocol, named as in its specification (NetworkBlockDevice/nbd, `doc/proto.md`, and its branch
//! `extension-ext-header`).
//!
//! All integers are in network byte order.

/// First magic number of a server's greeting.
pub const GREETING: u64 = 0x4e42_444d_4147_4943;
/// Second magic number of a newstyle server, and magic number of each option: `IHAVEOPT`.
pub const OPTION: u64 = 0x4948_4156_454f_5054;
/// Magic number of a reply to an option.
pub const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
/// Magic number of a compact request.
pub const REQUEST: u32 = 0x2560_9513;
/// Magic number of an extended request.
pub const EXTENDED_REQUEST: u32 = 0x21e4_1c71;
/// Magic number of a simple reply.
pub const SIMPLE_REPLY: u32 = 0x6744_6698;
/// Magic number of a chunk of a structured reply.
pub const STRUCTURED_REPLY: u32 = 0x668e_33ef;
/// Magic number of a chunk of an extended reply.
pub const EXTENDED_REPLY: u32 = 0x6e8a_278c;
/// Maximum payload in bytes unless the server states another.
pub const PAYLOAD_MAX: u32 = 32 << 20;
/// Maximum length of a name or message in bytes.
pub const TEXT_MAX: usize = 4096;
/// The port that is reserved for NBD.
pub const PORT: u16 = 10809;
/// The only metadata context in the specification.
pub const ALLOCATION: &str = "base:allocation";
/// State in `base:allocation`: not allocated.
pub const STATE_HOLE: u64 = 1;
/// State in `base:allocation`: reads as zeros.
pub const STATE_ZERO: u64 = 2;

/// Negotiated framing of requests and replies.
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
    /// Length of a request's header in bytes.
    pub const fn request_bytes(self) -> usize {
        match self {
            Self::Simple | Self::Structured => 28,
            Self::Extended => 32,
        }
    }
}

/// Flags of the handshake, used by server and client.
pub mod hello {
    /// Options are answered.
    pub const FIXED_NEWSTYLE: u16 = 1;
    /// No 124 zeros after an export's flags.
    pub const NO_ZEROES: u16 = 2;
}

pub mod option {
    /// Chooses an export without a reply to an error.
    pub const EXPORT_NAME: u32 = 1;
    /// Ends the session.
    pub const ABORT: u32 = 2;
    /// Lists the names of exports.
    pub const LIST: u32 = 3;
    /// Begins TLS.
    pub const STARTTLS: u32 = 5;
    /// Queries an export.
    pub const INFO: u32 = 6;
    /// Chooses an export.
    pub const GO: u32 = 7;
    pub const STRUCTURED_REPLY: u32 = 8;
    pub const LIST_META_CONTEXT: u32 = 9;
    /// Chooses metadata contexts.
    pub const SET_META_CONTEXT: u32 = 10;
    pub const EXTENDED_HEADERS: u32 = 11;
}

/// Types of replies to options.
pub mod rep {
    /// Accepted; the last reply.
    pub const ACK: u32 = 1;
    /// The name of an export.
    pub const SERVER: u32 = 2;
    /// Information about an export.
    pub const INFO: u32 = 3;
    pub const META_CONTEXT: u32 = 4;
    /// Set in every error.
    pub const ERROR: u32 = 1 << 31;
    /// The option is not supported.
    pub const ERR_UNSUP: u32 = ERROR | 1;
    /// The option is forbidden.
    pub const ERR_POLICY: u32 = ERROR | 2;
    /// The option is malformed.
    pub const ERR_INVALID: u32 = ERROR | 3;
    /// TLS is required first.
    pub const ERR_TLS_REQD: u32 = ERROR | 5;
    /// The export does not exist.
    pub const ERR_UNKNOWN: u32 = ERROR | 6;
    /// The server is shutting down.
    pub const ERR_SHUTDOWN: u32 = ERROR | 7;
    /// The option is too long.
    pub const ERR_TOO_BIG: u32 = ERROR | 9;
    /// Extended headers were negotiated and cannot be revoked.
    pub const ERR_EXT_HEADER_REQD: u32 = ERROR | 0xa;
}

/// Types of information about an export.
pub mod info {
    /// Size and flags.
    pub const EXPORT: u16 = 0;
    pub const NAME: u16 = 1;
    pub const DESCRIPTION: u16 = 2;
    /// Minimum, preferred and maximum size of a request.
    pub const BLOCK_SIZE: u16 = 3;
}

pub mod flag {
    /// Always set.
    pub const HAS_FLAGS: u16 = 1;
    /// Read-only.
    pub const READ_ONLY: u16 = 1 << 1;
    pub const SEND_FLUSH: u16 = 1 << 2;
    pub const SEND_FUA: u16 = 1 << 3;
    pub const ROTATIONAL: u16 = 1 << 4;
    pub const SEND_TRIM: u16 = 1 << 5;
    /// Supports writing zeros without a payload.
    pub const SEND_WRITE_ZEROES: u16 = 1 << 6;
    /// Supports unfragmented read replies.
    pub const SEND_DF: u16 = 1 << 7;
    /// A flush on a connection covers writes acknowledged on others.
    pub const CAN_MULTI_CONN: u16 = 1 << 8;
    /// Supports cache hints.
    pub const SEND_CACHE: u16 = 1 << 10;
    /// Rejects slow zeroing immediately on request.
    pub const SEND_FAST_ZERO: u16 = 1 << 11;
}

/// Types of requests.
pub mod command {
    pub const READ: u16 = 0;
    pub const WRITE: u16 = 1;
    /// Ends the session.
    pub const DISC: u16 = 2;
    /// Makes acknowledged writes durable.
    pub const FLUSH: u16 = 3;
    /// Deallocates a range.
    pub const TRIM: u16 = 4;
    /// Prefetches a range.
    pub const CACHE: u16 = 5;
    pub const WRITE_ZEROES: u16 = 6;
    /// Queries the allocation of a range.
    pub const BLOCK_STATUS: u16 = 7;
}

pub mod command_flag {
    /// Durable before the reply.
    pub const FUA: u16 = 1;
    /// Zeroed range stays allocated.
    pub const NO_HOLE: u16 = 1 << 1;
    /// Unfragmented read reply.
    pub const DF: u16 = 1 << 2;
    /// At most a single extent.
    pub const REQ_ONE: u16 = 1 << 3;
    /// Write zeros only if that is faster than a write.
    pub const FAST_ZERO: u16 = 1 << 4;
    /// The length of an extended request is that of its payload.
    pub const PAYLOAD_LEN: u16 = 1 << 5;
}

pub mod chunk {
    /// The flag of a last chunk.
    pub const DONE: u16 = 1;
    /// Without data.
    pub const NONE: u16 = 0;
    pub const OFFSET_DATA: u16 = 1;
    /// A range of zeros and its offset.
    pub const OFFSET_HOLE: u16 = 2;
    /// Extents of 32-bit lengths.
    pub const BLOCK_STATUS: u16 = 5;
    /// Extents of 64-bit lengths.
    pub const BLOCK_STATUS_EXT: u16 = 6;
    /// Set in every error.
    pub const IS_ERROR: u16 = 1 << 15;
    /// The request failed.
    pub const ERROR: u16 = IS_ERROR | 1;
    /// The request failed at an offset.
    pub const ERROR_OFFSET: u16 = IS_ERROR | 2;
}

/// Reads big-endian integers from a slice; `None` at its end.
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

    /// A UTF-8 text of `length` bytes, at most [`TEXT_MAX`].
    pub fn text(&mut self, length: usize) -> Option<&'a str> {
        let bytes = self.bytes(length)?;
        if length > TEXT_MAX { None } else { std::str::from_utf8(bytes).ok() }
    }
}

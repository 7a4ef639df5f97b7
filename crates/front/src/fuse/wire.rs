//! Constants of the FUSE protocol from the kernel's `include/uapi/linux/fuse.h`, and decoding of fields.
//!
//! All integers are in native byte order.

/// Major version. Kernels from 7.23 (Linux 3.15) on are supported; later features are negotiated by flags.
pub const MAJOR: u32 = 7;
/// The newest minor version supported.
pub const MINOR: u32 = 38;
/// The oldest minor version with the message lengths used here.
pub const MINOR_LEAST: u32 = 23;

/// Bytes of a request header.
pub const REQUEST_BYTES: usize = 40;
/// Bytes of a reply header.
pub const REPLY_BYTES: usize = 16;
/// Bytes of a write before its payload, the longest header before a payload.
pub const WRITE_BYTES: usize = REQUEST_BYTES + 40;

pub const ROOT: u64 = 1;

pub mod opcode {
    pub const LOOKUP: u32 = 1;
    pub const FORGET: u32 = 2;
    pub const GETATTR: u32 = 3;
    pub const SETATTR: u32 = 4;
    pub const OPEN: u32 = 14;
    pub const READ: u32 = 15;
    pub const WRITE: u32 = 16;
    pub const STATFS: u32 = 17;
    pub const RELEASE: u32 = 18;
    pub const FSYNC: u32 = 20;
    pub const FLUSH: u32 = 25;
    pub const INIT: u32 = 26;
    pub const OPENDIR: u32 = 27;
    pub const READDIR: u32 = 28;
    pub const RELEASEDIR: u32 = 29;
    pub const FSYNCDIR: u32 = 30;
    pub const DESTROY: u32 = 38;
    pub const BATCH_FORGET: u32 = 42;
    pub const FALLOCATE: u32 = 43;
    pub const READDIRPLUS: u32 = 44;
    pub const LSEEK: u32 = 46;
}

pub mod init {
    pub const ASYNC_READ: u32 = 1 << 0;
    pub const BIG_WRITES: u32 = 1 << 5;
    pub const DO_READDIRPLUS: u32 = 1 << 13;
    pub const READDIRPLUS_AUTO: u32 = 1 << 14;
    pub const ASYNC_DIO: u32 = 1 << 15;
    pub const PARALLEL_DIROPS: u32 = 1 << 18;
    pub const MAX_PAGES: u32 = 1 << 22;
}

/// Flags of a reply to OPEN.
pub mod open {
    pub const DIRECT_IO: u32 = 1 << 0;
    pub const PARALLEL_DIRECT_WRITES: u32 = 1 << 6;
}

/// Attributes that SETATTR changes.
pub mod valid {
    pub const MODE: u32 = 1 << 0;
    pub const UID: u32 = 1 << 1;
    pub const GID: u32 = 1 << 2;
    pub const SIZE: u32 = 1 << 3;
}

/// Reads consecutive fields.
#[derive(Clone, Copy, Debug)]
pub struct FieldReader<'a>(pub &'a [u8]);

impl FieldReader<'_> {
    #[inline]
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    /// The next 16 bits.
    #[inline]
    pub fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_ne_bytes)
    }

    /// The next 32 bits.
    #[inline]
    pub fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_ne_bytes)
    }

    /// The next 64 bits.
    #[inline]
    pub fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_ne_bytes)
    }
}

/// Appends fields.
pub(super) trait Put {
    /// 16 bits.
    fn u16(&mut self, value: u16);
    /// 32 bits.
    fn u32(&mut self, value: u32);
    /// 64 bits.
    fn u64(&mut self, value: u64);
}

impl Put for Vec<u8> {
    #[inline]
    fn u16(&mut self, value: u16) {
        self.extend_from_slice(&value.to_ne_bytes());
    }

    #[inline]
    fn u32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_ne_bytes());
    }

    #[inline]
    fn u64(&mut self, value: u64) {
        self.extend_from_slice(&value.to_ne_bytes());
    }
}

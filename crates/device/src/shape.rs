//! The parameters of an engine.

use plimsoll_units::Bytes;

use crate::buffers::PAGE;
use crate::content::{Contents, Scribe};
use crate::page_cache::AccessAdvice;

/// The system call of a flush.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flush {
    /// `fdatasync`: data, and the metadata needed to find them.
    #[default]
    Fdatasync,
    /// `fsync`: all metadata.
    Fsync,
    /// `sync_file_range` over the whole file, with these flags (`SYNC_FILE_RANGE_*` of linux/fs.h). Flushes neither
    /// metadata nor the device's cache, so it gives no durability.
    SyncFileRange(u32),
}

impl Flush {
    /// [`Self::SyncFileRange`]: waits for pages in writeback.
    pub const WAIT_BEFORE: u32 = libc::SYNC_FILE_RANGE_WAIT_BEFORE;
    /// [`Self::SyncFileRange`]: starts to write all other dirty pages.
    pub const WRITE: u32 = libc::SYNC_FILE_RANGE_WRITE;
    /// [`Self::SyncFileRange`]: waits for all pages in writeback.
    pub const WAIT_AFTER: u32 = libc::SYNC_FILE_RANGE_WAIT_AFTER;
}

/// Flags of a durable write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durable {
    /// `RWF_DSYNC`: equivalent to a write and `fdatasync`.
    #[default]
    Dsync,
    /// `RWF_SYNC`: equivalent to a write and `fsync`.
    Sync,
}

impl Durable {
    /// Flags of `pwritev2` and of the ring.
    pub(crate) const fn flags(self) -> i32 {
        match self {
            Self::Dsync => libc::RWF_DSYNC,
            Self::Sync => libc::RWF_SYNC,
        }
    }
}

/// The parameters of an engine.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Maximum number of operations in flight, at least 1.
    pub depth: u32,
    /// Maximum length of an operation.
    pub largest: Bytes,
    /// Whether any operation writes.
    pub writes: bool,
    /// The content of writes, and whether it is verified.
    pub contents: Contents,
    /// Seed of the written data: loops with different seeds write different data.
    pub seed: u64,
    /// The system call of a flush.
    pub flush: Flush,
    /// The flags of a durable write.
    pub durable: Durable,
    /// Operations per system call.
    pub batching: Batching,
    /// Advice on the pages of mapped files.
    pub advice: Option<AccessAdvice>,
}

/// Numbers of operations per system call of an asynchronous engine. A kernel merges adjacent operations of a submission
/// before they reach the device, so that these numbers change what a device receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batching {
    /// Maximum number of operations per submission, at least 1; `None` for the engine's own choice.
    pub submit_max: Option<u32>,
    /// Number of completions that end a wait, at least 1: fewer only if fewer operations are in flight.
    pub reap_min: u32,
    /// Maximum number of completions that are taken before new operations are issued, at least 1; `None` for any.
    pub reap_max: Option<u32>,
}

impl Batching {
    /// The engine's own choice of submissions; the first completion ends a wait.
    pub const FREE: Self = Self { submit_max: None, reap_min: 1, reap_max: None };
}

impl Shape {
    /// A shape for operations that only read.
    pub const fn reading(depth: u32, largest: Bytes) -> Self {
        let contents = Contents::Stamped { compressible: 0.0 };
        Self {
            depth,
            largest,
            writes: false,
            contents,
            seed: 0,
            flush: Flush::Fdatasync,
            durable: Durable::Dsync,
            batching: Batching::FREE,
            advice: None,
        }
    }

    /// A shape for reads and writes of random data, of which a share `compressible` (0 to 1) compresses away.
    pub const fn writing(depth: u32, largest: Bytes, compressible: f64, seed: u64) -> Self {
        let contents = Contents::Stamped { compressible };
        Self {
            depth,
            largest,
            writes: true,
            contents,
            seed,
            flush: Flush::Fdatasync,
            durable: Durable::Dsync,
            batching: Batching::FREE,
            advice: None,
        }
    }

    /// Distance of the buffers of two slots in bytes: whole pages.
    pub(crate) fn stride(&self) -> usize {
        (self.largest.get() as usize).next_multiple_of(PAGE).max(PAGE)
    }

    /// The writer of the buffers of `slots` concurrent operations.
    pub(crate) fn scribe(&self, slots: u32) -> Scribe {
        Scribe::new(&self.contents, self.seed, slots)
    }
}

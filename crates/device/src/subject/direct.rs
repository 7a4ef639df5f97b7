//! What direct I/O has to be aligned to.
//!
//! Asks the kernel (`STATX_DIOALIGN`, Linux 6.1) and knows what to assume when it does not say. Opens nothing.

use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Statx, StatxFlags, statx};

/// Alignment of direct I/O, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// Of the buffer's address.
    pub memory: u32,
    /// Of offset and length.
    pub offset: u32,
}

/// Whether and how direct I/O can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direct {
    /// The kernel says so.
    Told(Alignment),
    /// The kernel does not say; the device's logical block, else 4 KiB, is aligned enough.
    Assumed(Alignment),
    /// The kernel says that `O_DIRECT` is not for this file.
    Refused,
}

/// Enough for every device whose logical block is not known.
const CAUTIOUS: u32 = 4096;

impl Direct {
    /// Of an open file or block device. Use this for a file that was just made: a directory tells nothing.
    pub fn of(file: impl AsFd) -> Option<Self> {
        told(&statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?)
    }

    /// Of what is at `path`.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        told(&statx(CWD, path, AtFlags::empty(), StatxFlags::DIOALIGN).ok()?)
    }

    /// What to assume on a device with this logical block, in bytes.
    pub(crate) fn assumed(logical_block: Option<u32>) -> Self {
        let bytes = logical_block.filter(|bytes| bytes.is_power_of_two()).unwrap_or(CAUTIOUS).max(512);
        Self::Assumed(Alignment { memory: bytes, offset: bytes })
    }

    /// The alignment; `None` where direct I/O is refused.
    pub const fn alignment(&self) -> Option<Alignment> {
        match self {
            Self::Told(alignment) | Self::Assumed(alignment) => Some(*alignment),
            Self::Refused => None,
        }
    }
}

fn told(stat: &Statx) -> Option<Direct> {
    if stat.stx_mask & StatxFlags::DIOALIGN.bits() == 0 {
        return None;
    }
    let (memory, offset) = (stat.stx_dio_mem_align, stat.stx_dio_offset_align);
    Some(if offset == 0 { Direct::Refused } else { Direct::Told(Alignment { memory: memory.max(1), offset }) })
}

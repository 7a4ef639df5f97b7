//! Alignment requirements of direct I/O.
//!
//! Queries the kernel (`STATX_DIOALIGN`, Linux 6.1), with conservative defaults.

use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Statx, StatxFlags, statx};

/// Alignment of direct I/O, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// Alignment of buffer addresses.
    pub memory: u32,
    /// Alignment of offset and length.
    pub offset: u32,
}

/// Support and alignment of direct I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direct {
    /// Reported by the kernel.
    Told(Alignment),
    /// Assumed from the device's logical block size, else 4 KiB.
    Assumed(Alignment),
    /// Not supported for this file.
    Refused,
}

/// Alignment in bytes if the logical block size is unknown.
const CAUTIOUS: u32 = 4096;

impl Direct {
    /// Queries an open file or block device. Needed for new files: a directory does not report alignment.
    pub fn of(file: impl AsFd) -> Option<Self> {
        reported(&statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?)
    }

    /// Queries `path`.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        reported(&statx(CWD, path, AtFlags::empty(), StatxFlags::DIOALIGN).ok()?)
    }

    /// Assumption for a device with this logical block size in bytes.
    pub(crate) fn assumed(logical_block: Option<u32>) -> Self {
        let bytes = logical_block.filter(|bytes| bytes.is_power_of_two()).unwrap_or(CAUTIOUS).max(512);
        Self::Assumed(Alignment { memory: bytes, offset: bytes })
    }

    /// The alignment; `None` without direct I/O.
    pub const fn alignment(&self) -> Option<Alignment> {
        match self {
            Self::Told(alignment) | Self::Assumed(alignment) => Some(*alignment),
            Self::Refused => None,
        }
    }
}

fn reported(stat: &Statx) -> Option<Direct> {
    if stat.stx_mask & StatxFlags::DIOALIGN.bits() == 0 {
        return None;
    }
    let (memory, offset) = (stat.stx_dio_mem_align, stat.stx_dio_offset_align);
    Some(if offset == 0 { Direct::Refused } else { Direct::Told(Alignment { memory: memory.max(1), offset }) })
}

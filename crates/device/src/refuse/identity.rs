//! Identity of a file or device, independent of its path.

use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use crate::block::DeviceNumber;

/// A block device by its number, anything else by its filesystem and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    Block(DeviceNumber),
    File { filesystem: u64, inode: u64 },
}

impl Identity {
    pub(super) fn of(stat: &Metadata) -> Self {
        if stat.file_type().is_block_device() {
            Self::Block(DeviceNumber::from_raw(stat.rdev()))
        } else {
            Self::File { filesystem: stat.dev(), inode: stat.ino() }
        }
    }
}

//! Whether the kernel uses a block device or a file: mounted, swap, stacked on, behind a loop device, exported.
//!
//! Reads `/proc` and sysfs, and opens nothing. Sees the mounts of its own mount namespace; that others hold a device
//! is seen by opening it exclusively, which is done elsewhere.

use std::fmt;
use std::io;
use std::path::Path;

use super::Identity;
use crate::disk::Block;
use crate::host::Tree;
use crate::subject::{Mounts, unescaped};

/// A use of a device or file by the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InUse {
    /// A filesystem on it is mounted.
    Mounted {
        /// The device, its disk or its partition.
        device: String,
        /// Where.
        point: String,
    },
    /// Swap is on it.
    Swap {
        /// The device or file.
        device: String,
    },
    /// Something is stacked on it.
    Held {
        /// The device, its disk or its partition.
        device: String,
        /// By which devices.
        holders: String,
    },
    /// A loop device shows it.
    Loop {
        /// The loop device.
        device: String,
    },
    /// It is exported to others over a network or a bus.
    Exported {
        /// By which part of the kernel.
        by: &'static str,
    },
}

impl fmt::Display for InUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mounted { device, point } => write!(f, "{device} is mounted at {point}"),
            Self::Swap { device } => write!(f, "{device} is in use as swap"),
            Self::Held { device, holders } => write!(f, "{device} is in use by {holders}, stacked on it"),
            Self::Loop { device } => write!(f, "the loop device {device} is set up over it"),
            Self::Exported { by } => write!(f, "exported to others by the kernel's {by} target"),
        }
    }
}

impl InUse {
    /// What has to be done before.
    pub(super) fn remedy(&self) -> String {
        match self {
            Self::Mounted { point, .. } => format!("unmount it (umount {point})"),
            Self::Swap { device } => format!("switch that off (swapoff {device})"),
            Self::Held { .. } => "take it out of the LVM, RAID, encryption or multipath above (lsblk shows it)".into(),
            Self::Loop { device } => format!("detach that (losetup -d {device})"),
            Self::Exported { .. } => "end the export (targetcli, nvmetcli)".into(),
        }
    }
}

/// The first use of `block`, or of what shares bytes with it.
pub(super) fn block(tree: &Tree, block: &Block) -> io::Result<Option<InUse>> {
    let mounts = Mounts::read(tree)?;
    for member in block.family()? {
        let number = member.number().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
        let identity = Identity::Block(number);
        let device = format!("/dev/{}", member.name().replace('!', "/"));
        // Filesystems of many devices show a number of their own, and one device as their source.
        if let Some(mount) = mounts.of(number, |source| source.starts_with("/dev") && is(tree, source, &identity)) {
            return Ok(Some(InUse::Mounted { device, point: mount.point.display().to_string() }));
        }
        let holders = member.holders()?;
        if !holders.is_empty() {
            return Ok(Some(InUse::Held { device, holders: holders.join(", ") }));
        }
        if let Some(found) = file(tree, &identity)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The first use that names a file or device by its path: swap, loop devices, exports.
pub(super) fn file(tree: &Tree, identity: &Identity) -> io::Result<Option<InUse>> {
    if let Some(device) = swaps(tree)?.into_iter().find(|path| is(tree, Path::new(path), identity)) {
        return Ok(Some(InUse::Swap { device }));
    }
    for name in tree.names("sys/block")?.into_iter().filter(|name| name.starts_with("loop")) {
        let backing = tree.word(format!("sys/block/{name}/loop/backing_file"));
        if backing.is_some_and(|path| is(tree, Path::new(&path), identity)) {
            return Ok(Some(InUse::Loop { device: format!("/dev/{name}") }));
        }
    }
    exports(tree, identity)
}

/// The paths of `/proc/swaps`; none on a kernel without swap.
fn swaps(tree: &Tree) -> io::Result<Vec<String>> {
    match tree.text("proc/swaps") {
        Ok(text) => Ok(text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).map(unescaped).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Backing paths of the kernel's targets (SCSI, `NVMe`): three directories down, where configfs is mounted.
fn exports(tree: &Tree, identity: &Identity) -> io::Result<Option<InUse>> {
    const TARGETS: [(&str, &str, &str, &str); 2] = [
        ("SCSI", "sys/kernel/config/target/core", "", "udev_path"),
        ("NVMe", "sys/kernel/config/nvmet/subsystems", "/namespaces", "device_path"),
    ];
    for (by, root, below, file) in TARGETS {
        for first in tree.names(root)? {
            let middle = format!("{root}/{first}{below}");
            for second in tree.names(&middle).unwrap_or_default() {
                let path = tree.word(format!("{middle}/{second}/{file}"));
                if path.is_some_and(|path| is(tree, Path::new(&path), identity)) {
                    return Ok(Some(InUse::Exported { by }));
                }
            }
        }
    }
    Ok(None)
}

/// True when `path` leads to the thing itself.
fn is(tree: &Tree, path: &Path, identity: &Identity) -> bool {
    path.is_absolute() && tree.path(path).metadata().is_ok_and(|stat| Identity::of(&stat) == *identity)
}

#[cfg(test)]
mod tests;

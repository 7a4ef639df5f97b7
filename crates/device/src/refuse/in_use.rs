//! Detection of kernel uses of a block device or file: mounts, swap, stacked devices, loop devices, exports.
//!
//! Reads `/proc` and sysfs, and opens no device. Sees only mounts of its own namespace; other uses are detected by an
//! exclusive open elsewhere.

use std::fmt;
use std::io;
use std::path::Path;

use plimsoll_language::{label, say};

use super::Identity;
use crate::block::BlockDevice;
use crate::host::Tree;
use crate::subject::{Mounts, unescaped};

/// A use of a device or file by the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InUse {
    Mounted {
        /// The device, its disk or its partition.
        device: String,
        point: String,
    },
    Swap {
        /// The device or file.
        device: String,
    },
    /// A stacked device.
    Stacked {
        /// The device, its disk or its partition.
        device: String,
        /// Names of the stacked devices.
        holders: String,
    },
    Loop {
        device: String,
    },
    /// An export over a network or a bus.
    Exported {
        /// Kernel subsystem.
        by: &'static str,
    },
}

impl fmt::Display for InUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mounted { device, point } => f.write_str(&say!("{device} is mounted at {point}")),
            Self::Swap { device } => f.write_str(&say!("{device} is in use as swap")),
            Self::Stacked { device, holders } => f.write_str(&say!("{device} is in use by {holders}, stacked on it")),
            Self::Loop { device } => f.write_str(&say!("the loop device {device} is set up over it")),
            Self::Exported { by } => f.write_str(&say!("exported to others by the kernel's {by} target")),
        }
    }
}

impl InUse {
    /// Action required first.
    pub(super) fn remedy(&self) -> String {
        match self {
            Self::Mounted { point, .. } => say!("unmount it (umount {point})"),
            Self::Swap { device } => say!("switch that off (swapoff {device})"),
            Self::Stacked { .. } => {
                label!("take it out of the LVM, RAID, encryption or multipath above (lsblk shows it)").into()
            }
            Self::Loop { device } => say!("detach that (losetup -d {device})"),
            Self::Exported { .. } => label!("end the export (targetcli, nvmetcli)").into(),
        }
    }
}

/// First use of `block`, or of devices that share bytes with it.
pub(super) fn block(tree: &Tree, block: &BlockDevice) -> io::Result<Option<InUse>> {
    let mounts = Mounts::read(tree)?;
    for member in block.family()? {
        let number = member.number().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
        let identity = Identity::Block(number);
        let device = format!("/dev/{}", member.name().replace('!', "/"));
        // Multi-device filesystems have an anonymous device number, and one of their devices as source.
        if let Some(mount) = mounts.of(number, |source| source.starts_with("/dev") && is(tree, source, &identity)) {
            return Ok(Some(InUse::Mounted { device, point: mount.point.display().to_string() }));
        }
        let holders = member.holders()?;
        if !holders.is_empty() {
            return Ok(Some(InUse::Stacked { device, holders: holders.join(", ") }));
        }
        if let Some(found) = file(tree, &identity)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// First use that refers to a file or device by path: swap, loop devices, exports.
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

/// Backing paths of the kernel's targets (SCSI, `NVMe`): three levels below the configfs root.
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

/// True if `path` refers to `identity`.
fn is(tree: &Tree, path: &Path, identity: &Identity) -> bool {
    path.is_absolute() && tree.path(path).metadata().is_ok_and(|stat| Identity::of(&stat) == *identity)
}

#[cfg(test)]
mod tests;

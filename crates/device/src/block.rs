//! A block device in sysfs: its disk, its partitions, its holders.
//!
//! Devices are found by number, not by a path below `/dev`. Opens no device.

mod number;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use number::{DeviceNumber, NotANumber};

use crate::host::{Tree, tree};

/// Sector size of sysfs in bytes, independent of the device's block size.
const SECTOR: u64 = 512;

/// The sysfs directory of a block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockDevice {
    directory: PathBuf,
}

impl BlockDevice {
    /// The block device with this number.
    pub(crate) fn find(tree: &Tree, number: DeviceNumber) -> io::Result<Self> {
        let directory = fs::canonicalize(tree.path(format!("sys/dev/block/{number}")))?;
        Ok(Self { directory })
    }

    /// The block device with this name, with slashes as in procfs.
    pub(crate) fn named(tree: &Tree, name: &str) -> Option<Self> {
        let directory = tree.path(Path::new("sys/class/block").join(name.replace('/', "!")));
        Some(Self { directory: fs::canonicalize(directory).ok()? })
    }

    /// Kernel name, such as `nvme0n1p1`. A `!` stands for the slash of older drivers (`cciss!c0d0`).
    pub(crate) fn name(&self) -> String {
        self.directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    pub(crate) fn number(&self) -> Option<DeviceNumber> {
        tree::read_word(&self.directory.join("dev"))?.parse().ok()
    }

    /// Number in a file of the directory.
    pub(crate) fn value<N: std::str::FromStr>(&self, file: &str) -> Option<N> {
        tree::number(&self.directory.join(file))
    }

    /// Trimmed text of a file of the directory.
    pub(crate) fn word(&self, file: &str) -> Option<String> {
        tree::read_word(&self.directory.join(file))
    }

    /// Last component of the target of a link of the directory.
    pub(crate) fn link(&self, file: &str) -> Option<String> {
        let target = fs::read_link(self.directory.join(file)).ok()?;
        target.file_name().map(|name| name.to_string_lossy().into_owned())
    }

    pub(crate) fn is_partition(&self) -> bool {
        self.directory.join("partition").exists()
    }

    /// The disk of this partition, or the device itself.
    pub(crate) fn disk(&self) -> Self {
        match self.directory.parent() {
            Some(parent) if self.is_partition() => Self { directory: parent.to_owned() },
            _ => self.clone(),
        }
    }

    /// The partitions of this disk; none for a partition.
    pub(crate) fn partitions(&self) -> io::Result<Vec<Self>> {
        let directories = tree::list_names(&self.directory)?.into_iter().map(|name| self.directory.join(name));
        let blocks = directories.map(|directory| Self { directory });
        Ok(blocks.filter(Self::is_partition).collect())
    }

    /// The devices that share bytes with this one: itself, its disk, and the partitions that overlap it.
    pub(crate) fn family(&self) -> io::Result<Vec<Self>> {
        let mut family = vec![self.clone()];
        if !self.is_partition() {
            family.extend(self.partitions()?);
            return Ok(family);
        }
        let parent = self.disk();
        let overlapping = parent.partitions()?.into_iter().filter(|other| other != self && self.overlaps(other));
        family.extend(overlapping);
        family.push(parent);
        Ok(family)
    }

    /// Devices stacked on it: device-mapper, md, bcache and others.
    pub(crate) fn holders(&self) -> io::Result<Vec<String>> {
        tree::list_names(&self.directory.join("holders"))
    }

    /// Size in bytes.
    pub(crate) fn size(&self) -> Option<u64> {
        self.value::<u64>("size").map(|sectors| sectors.saturating_mul(SECTOR))
    }

    /// Logical block size in bytes; whole disks only.
    pub(crate) fn logical_block(&self) -> Option<u32> {
        self.value("queue/logical_block_size")
    }

    /// True if the kernel refuses writes.
    pub(crate) fn is_read_only(&self) -> bool {
        self.value::<u8>("ro").is_some_and(|flag| flag != 0)
    }

    /// True if the two partitions share sectors, or if that is unknown.
    fn overlaps(&self, other: &Self) -> bool {
        let range = |block: &Self| {
            let start = block.value::<u64>("start")?;
            Some((start, start.saturating_add(block.value::<u64>("size")?)))
        };
        match (range(self), range(other)) {
            (Some(mine), Some(theirs)) => mine.0 < theirs.1 && theirs.0 < mine.1,
            _ => true,
        }
    }
}

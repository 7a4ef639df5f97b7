//! The file behind a loop device: whether its I/O bypasses the page cache, and whether the file is sparse.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use plimsoll_units::Bytes;

use crate::block::{BlockDevice, DeviceNumber};
use crate::host::Tree;
use crate::subject::{Mounts, Subject};

/// Filesystem type in which a service of emulated volumes shows the file of each.
const EMULATED: &str = "fuse.plimsoll";

/// A loop device and its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopBacking {
    /// Kernel name of the loop device, such as `loop3`.
    pub device: String,
    /// Path of its file, as the kernel shows it.
    pub file: String,
    /// Direct I/O: reads and writes of the device bypass the page cache of its file.
    pub direct: bool,
    /// Allocated bytes and length of the file; `None` if the file is inaccessible.
    pub space: Option<(Bytes, Bytes)>,
}

/// The loop device that holds `subject`, if it is on one.
pub fn loop_backing(subject: &Subject) -> Option<LoopBacking> {
    read(&Tree::system(), subject.device?)
}

/// The file of the emulated volume that holds `subject`, if it is on one: below a loop device, or itself.
pub fn emulated_file(subject: &Subject) -> Option<PathBuf> {
    let file = match loop_backing(subject) {
        Some(backing) => PathBuf::from(backing.file),
        None => subject.path.canonicalize().ok()?,
    };
    let mounts = Mounts::read(&Tree::system()).ok()?;
    (mounts.holding(&file, None)?.kind == EMULATED).then_some(file)
}

fn read(tree: &Tree, number: DeviceNumber) -> Option<LoopBacking> {
    let disk = BlockDevice::find(tree, number).ok()?.disk();
    let file = disk.word("loop/backing_file")?;
    let stat = tree.path(&file).metadata().ok();
    Some(LoopBacking {
        device: disk.name(),
        direct: disk.value::<u8>("loop/dio").is_some_and(|flag| flag != 0),
        space: stat.map(|stat| (Bytes::new(stat.blocks() * 512), Bytes::new(stat.len()))),
        file,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tests::Fixture;

    #[test]
    fn loop_device_shows_file_and_mode() {
        let fixture = Fixture::new(
            "loop-backing",
            &[
                ("sys/devices/virtual/block/loop3/dev", "7:3\n"),
                ("sys/devices/virtual/block/loop3/loop/backing_file", "/srv/image\n"),
                ("sys/devices/virtual/block/loop3/loop/dio", "0\n"),
                ("sys/devices/virtual/block/zram0/dev", "251:0\n"),
            ],
        );
        fixture.link("sys/dev/block/7:3", "../../devices/virtual/block/loop3");
        fixture.link("sys/dev/block/251:0", "../../devices/virtual/block/zram0");
        let found = read(&fixture.tree(), "7:3".parse().unwrap());
        let expected = LoopBacking { device: "loop3".into(), file: "/srv/image".into(), direct: false, space: None };
        assert_eq!(found, Some(expected));
        assert_eq!(read(&fixture.tree(), "251:0".parse().unwrap()), None);
    }
}

//! The block device below the filesystem of a path, by its kernel name.
//!
//! Only for filesystems on a single device, whose counters are then those of the filesystem. Opens no device.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::block::{BlockDevice, DeviceNumber};
use crate::host::Tree;
use crate::subject::{display, find_filesystem};

/// Reason why no block device could be determined.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum NoDevice {
    /// The path does not exist or is inaccessible.
    #[error("{path}: its filesystem cannot be looked up: name an existing directory")]
    Unreachable { path: String, source: io::Error },
    /// The filesystem has no single block device: several, another filesystem, or none.
    #[error("{path}: {filesystem} is not on a single block device: device counters are not shown")]
    Spread {
        path: String,
        /// Its filesystem, such as `btrfs`.
        filesystem: String,
    },
    /// sysfs lacks the block device of the filesystem, as in some containers.
    #[error("{path}: block device {number} is missing in sysfs: device counters are not shown")]
    Hidden { path: String, number: DeviceNumber },
}

/// The block device of the filesystem of `path` as in `/proc/diskstats`, such as `vda`, `nvme0n1p1`, `dm-0` or `loop3`.
///
/// # Errors
/// The path is inaccessible, or its filesystem (overlay, btrfs, ZFS, tmpfs, NFS) is not on a single device.
pub fn device_below(path: &Path) -> Result<String, NoDevice> {
    let stat = path.metadata().map_err(|source| NoDevice::Unreachable { path: display(path), source })?;
    let tree = Tree::system();
    let number = DeviceNumber::from_raw(stat.dev());
    let kind =
        || find_filesystem(&tree, path).map_or_else(|| "its filesystem".to_owned(), |filesystem| filesystem.kind);
    named(&tree, number, path, kind)
}

fn named(tree: &Tree, number: DeviceNumber, path: &Path, kind: impl FnOnce() -> String) -> Result<String, NoDevice> {
    if number.is_anonymous() {
        return Err(NoDevice::Spread { path: display(path), filesystem: kind() });
    }
    let block = BlockDevice::find(tree, number).map_err(|_| NoDevice::Hidden { path: display(path), number })?;
    // sysfs replaces a slash in names by `!`, procfs does not.
    Ok(block.name().replace('!', "/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::tests::sda;

    fn check(number: &str, expected: Result<&str, &str>) {
        let fixture = sda("below");
        let number = number.parse().expect("valid device number");
        let found = named(&fixture.tree(), number, Path::new("/data"), || "btrfs".into());
        assert_eq!(found.map_err(|error| error.to_string()), expected.map(str::to_owned).map_err(str::to_owned));
    }

    #[test]
    fn single_device_of_a_filesystem_is_named() {
        check("8:1", Ok("sda1"));
        check("8:0", Ok("sda"));
        check("253:0", Ok("dm-0"));
        let spread = "/data: btrfs is not on a single block device: device counters are not shown";
        check("0:40", Err(spread));
        check("9:9", Err("/data: block device 9:9 is missing in sysfs: device counters are not shown"));
    }

    #[test]
    fn device_of_a_directory_has_counters() {
        // Containers may lack a device; then the error gives the reason.
        match device_below(&std::env::temp_dir()) {
            Ok(name) => assert_eq!(crate::disk_counters(&name).map(|counters| counters.device), Some(name)),
            Err(error) => assert!(!matches!(error, NoDevice::Unreachable { .. }), "{error}"),
        }
        assert!(matches!(device_below(Path::new("/no/such/place")), Err(NoDevice::Unreachable { .. })));
    }
}

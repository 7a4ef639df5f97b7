//! The block device on which the filesystem of a path lies, by its kernel name.
//!
//! Names it only where it is one device, so that the device's counters are the filesystem's. Opens no device.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::disk::Block;
use crate::host::Tree;
use crate::subject::{DeviceNumber, filesystem, shown};

/// Why no block device is below a path.
#[derive(Debug, thiserror::Error)]
pub enum NoDevice {
    /// The path is not there, or cannot be reached.
    #[error("{path}: its filesystem cannot be looked up: name a directory that is there")]
    Unreachable {
        /// The path.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// Its filesystem names no device of its own: several may be below it, another filesystem, or none.
    #[error("{path}: {filesystem} does not lie on one block device of its own: the counters of none are shown")]
    Spread {
        /// The path.
        path: String,
        /// Its filesystem, such as `btrfs`.
        filesystem: String,
    },
    /// The kernel shows no block device of the filesystem's number, as in containers without sysfs.
    #[error("{path}: the kernel shows no block device {number}: the counters of none are shown")]
    Hidden {
        /// The path.
        path: String,
        /// The number.
        number: DeviceNumber,
    },
}

/// The block device on which the filesystem of `path` lies, such as `vda`, `nvme0n1p1`, `dm-0` or `loop3`: a name of
/// `/proc/diskstats`.
///
/// # Errors
/// The path cannot be reached, or its filesystem (overlay, btrfs, ZFS, tmpfs, NFS) does not lie on one device that it names.
pub fn device_below(path: &Path) -> Result<String, NoDevice> {
    let stat = path.metadata().map_err(|source| NoDevice::Unreachable { path: shown(path), source })?;
    let tree = Tree::system();
    let number = DeviceNumber::from_raw(stat.dev());
    let kind = || filesystem(&tree, path).map_or_else(|| "its filesystem".to_owned(), |filesystem| filesystem.kind);
    named(&tree, number, path, kind)
}

fn named(tree: &Tree, number: DeviceNumber, path: &Path, kind: impl FnOnce() -> String) -> Result<String, NoDevice> {
    if number.is_anonymous() {
        return Err(NoDevice::Spread { path: shown(path), filesystem: kind() });
    }
    let block = Block::find(tree, number).map_err(|_| NoDevice::Hidden { path: shown(path), number })?;
    // Where sysfs has a `!`, tables have the slash.
    Ok(block.name().replace('!', "/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::tests::sda;

    fn check(number: &str, expected: Result<&str, &str>) {
        let fixture = sda("below");
        let number = number.parse().expect("it is a number");
        let found = named(&fixture.tree(), number, Path::new("/data"), || "btrfs".into());
        assert_eq!(found.map_err(|error| error.to_string()), expected.map(str::to_owned).map_err(str::to_owned));
    }

    #[test]
    fn the_device_of_a_filesystem_is_named_where_it_is_one() {
        check("8:1", Ok("sda1"));
        check("8:0", Ok("sda"));
        check("253:0", Ok("dm-0"));
        let spread = "/data: btrfs does not lie on one block device of its own: the counters of none are shown";
        check("0:40", Err(spread));
        check("9:9", Err("/data: the kernel shows no block device 9:9: the counters of none are shown"));
    }

    #[test]
    fn a_device_that_is_below_has_counters() {
        // In a container there may be none; then there is a reason.
        match device_below(&std::env::temp_dir()) {
            Ok(name) => assert_eq!(crate::disk_counters(&name).map(|counters| counters.device), Some(name)),
            Err(error) => assert!(!matches!(error, NoDevice::Unreachable { .. }), "{error}"),
        }
        assert!(matches!(device_below(Path::new("/no/such/place")), Err(NoDevice::Unreachable { .. })));
    }
}

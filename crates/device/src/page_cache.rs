//! The kernel's page cache: how much of it waits to be written, and what can be thrown out of it.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use plimsoll_units::Bytes;
use rustix::fs::Advice;

use crate::host::Tree;

/// Where the kernel is told to drop what it caches.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// The kernel's caches are as they were.
#[derive(Debug, thiserror::Error)]
pub enum NotDropped {
    /// Only root may.
    #[error("the kernel's caches can be dropped by root only: run it as root, or leave that out")]
    NotAllowed,
    /// The kernel has no such file, or cannot be asked.
    #[error("asking the kernel to drop its caches through {DROP_CACHES}")]
    Failed(#[source] io::Error),
}

/// Drops what the page cache holds of a file or block device. What is dirty or mapped stays: write it back first, with
/// [`crate::sync`].
///
/// # Errors
/// What `posix_fadvise` says.
pub fn drop_cache(file: impl AsFd) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, 0, None, Advice::DontNeed)?)
}

/// Drops what the kernel caches of all files, with their names and inodes. What is dirty stays. Everybody on the host waits
/// for their data again.
///
/// # Errors
/// [`NotDropped`], and nothing was.
pub fn drop_all_caches() -> Result<(), NotDropped> {
    drop_through(Path::new(DROP_CACHES))
}

fn drop_through(path: &Path) -> Result<(), NotDropped> {
    let written =
        fs::OpenOptions::new().write(true).open(path).and_then(|mut file| io::Write::write_all(&mut file, b"3"));
    written.map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => NotDropped::NotAllowed,
        _ => NotDropped::Failed(error),
    })
}

/// Bytes of the whole host's page cache that wait to be written or are on their way; `None` where the kernel does not say.
pub fn dirty_bytes() -> Option<Bytes> {
    dirty(&Tree::system())
}

fn dirty(tree: &Tree) -> Option<Bytes> {
    let text = tree.text("proc/meminfo").ok()?;
    let kib = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        line.trim().strip_suffix("kB")?.trim_end().parse::<u64>().ok()
    };
    Some(Bytes::kib(kib("Dirty")?.saturating_add(kib("Writeback")?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tests::Fixture;

    fn check(name: &str, meminfo: &str, expected: Option<Bytes>) {
        let fixture = Fixture::new(name, &[("proc/meminfo", meminfo)]);
        assert_eq!(dirty(&fixture.tree()), expected, "{meminfo}");
    }

    #[test]
    fn dirty_and_on_the_way_are_added() {
        check(
            "dirty",
            "MemTotal: 10 kB\nDirty:      12 kB\nWriteback:   4 kB\nWritebackTmp: 9 kB\n",
            Some(Bytes::kib(16)),
        );
        check("dirty-half", "Dirty: 12 kB\nWritebackTmp: 9 kB\n", None);
        check("dirty-odd", "Dirty: many kB\nWriteback: 4 kB\n", None);
    }

    #[test]
    fn the_kernel_is_asked_by_one_figure() {
        let fixture = Fixture::new("drop-caches", &[("drop_caches", "")]);
        drop_through(&fixture.0.join("drop_caches")).unwrap();
        assert_eq!(fs::read(fixture.0.join("drop_caches")).unwrap(), b"3");
        let said = drop_through(&fixture.0.join("missing")).unwrap_err();
        assert!(matches!(said, NotDropped::Failed(_)), "{said}");
    }
}

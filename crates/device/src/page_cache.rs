//! The kernel's page cache: dirty bytes, and dropping of clean pages.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use plimsoll_units::Bytes;
use rustix::fs::Advice;

use crate::host::Tree;

/// Control file for dropping caches.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Dropping caches failed.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum NotDropped {
    /// Requires root.
    #[error("the kernel's caches can only be dropped by root: run as root, or omit this step")]
    NotAllowed,
    /// The control file is missing or failed.
    #[error("dropping the kernel's caches through {DROP_CACHES}")]
    Failed(#[source] io::Error),
}

/// Drops the cached pages of a file or block device. Dirty and mapped pages stay: write them back first with
/// [`crate::sync_data`].
///
/// # Errors
/// Errors of `posix_fadvise`.
pub fn drop_cache(file: impl AsFd) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, 0, None, Advice::DontNeed)?)
}

/// Expected order of accesses to a file, which determines the kernel's readahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessAdvice {
    /// No readahead.
    Random,
    /// Twice the usual readahead.
    Sequential,
}

/// Gives the kernel advice for this opening of a file.
///
/// # Errors
/// Errors of `posix_fadvise`.
pub fn advise(file: impl AsFd, advice: AccessAdvice) -> io::Result<()> {
    let advice = match advice {
        AccessAdvice::Random => Advice::Random,
        AccessAdvice::Sequential => Advice::Sequential,
    };
    Ok(rustix::fs::fadvise(file, 0, None, advice)?)
}

/// Drops all clean pages, dentries and inodes of the host. Dirty pages stay. All processes on the host have to read
/// their data again.
///
/// # Errors
/// [`NotDropped`]; caches are unchanged then.
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

/// Dirty and in-writeback bytes of the host's page cache; `None` if unknown.
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
    fn dirty_and_writeback_are_added() {
        check(
            "dirty",
            "MemTotal: 10 kB\nDirty:      12 kB\nWriteback:   4 kB\nWritebackTmp: 9 kB\n",
            Some(Bytes::kib(16)),
        );
        check("dirty-half", "Dirty: 12 kB\nWritebackTmp: 9 kB\n", None);
        check("dirty-odd", "Dirty: many kB\nWriteback: 4 kB\n", None);
    }

    #[test]
    fn caches_are_dropped_by_writing_3() {
        let fixture = Fixture::new("drop-caches", &[("drop_caches", "")]);
        drop_through(&fixture.0.join("drop_caches")).unwrap();
        assert_eq!(fs::read(fixture.0.join("drop_caches")).unwrap(), b"3");
        let error = drop_through(&fixture.0.join("missing")).unwrap_err();
        assert!(matches!(error, NotDropped::Failed(_)), "{error}");
    }
}

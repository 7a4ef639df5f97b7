//! Opening targets: an existing path, or an unnamed scratch file.

mod made;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use plimsoll_units::Bytes;
use rustix::fs::{FallocateFlags, Mode, OFlags, SeekFrom};
use rustix::io::Errno;

pub(crate) use made::marked;
pub use made::{Space, create, is_ours, mark_created, preallocate};

/// Maximum number of scratch file names to try: names may be taken by this process, or left by a crashed process with
/// its pid.
const NAMES_MAX: u32 = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessMode {
    /// Read-only.
    Read,
    /// Read and write. Permission is decided by [`crate::claim_named`].
    Write,
}

/// Whether I/O uses the kernel's page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caching {
    /// `O_DIRECT`: bypasses the page cache.
    Direct,
    /// Through the page cache.
    Buffered,
}

/// Durability of acknowledged writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SyncMode {
    /// Writes become durable by a flush.
    #[default]
    None,
    /// `O_DSYNC`: every write includes an `fdatasync`.
    Dsync,
    /// `O_SYNC`: every write includes an `fsync`.
    Sync,
}

/// Options for opening a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenHow {
    pub access: AccessMode,
    /// Use of the page cache.
    pub caching: Caching,
    /// Durability of writes.
    pub sync: SyncMode,
}

#[derive(Debug)]
pub struct Opened {
    pub file: OwnedFd,
    /// Effective caching: `Buffered` if direct I/O was requested but is not supported.
    pub caching: Caching,
}

/// Opens a file or block device that exists.
pub fn open(path: &Path, access: AccessMode, caching: Caching) -> io::Result<Opened> {
    open_how(path, &OpenHow { access, caching, sync: SyncMode::None })
}

/// Opens an existing file or block device with `how`.
pub fn open_how(path: &Path, how: &OpenHow) -> io::Result<Opened> {
    let access = match how.access {
        AccessMode::Read => OFlags::RDONLY,
        AccessMode::Write => OFlags::RDWR,
    };
    let sync = match how.sync {
        SyncMode::None => OFlags::empty(),
        SyncMode::Dsync => OFlags::DSYNC,
        SyncMode::Sync => OFlags::SYNC,
    };
    let flags = access | sync | OFlags::CLOEXEC;
    open_with(how.caching, |direct| rustix::fs::open(path, flags | direct, Mode::empty()))
}

/// Length in bytes of an open file or block device. Moves the file position to the end; engines use explicit offsets.
pub fn length(file: impl AsFd) -> io::Result<Bytes> {
    Ok(Bytes::new(rustix::fs::seek(file, SeekFrom::End(0))?))
}

/// Creates an unnamed file in `directory`, which disappears with the process. Its `size` bytes are reserved, not
/// written.
///
/// # Errors
/// `ENOSPC` if the space is not available; other errors of the filesystem.
pub fn scratch(directory: &Path, size: Bytes, caching: Caching) -> io::Result<Opened> {
    let opened = open_with(caching, |direct| unnamed(directory, OFlags::RDWR | OFlags::CLOEXEC | direct))?;
    match rustix::fs::fallocate(&opened.file, FallocateFlags::empty(), 0, size.get()) {
        Err(Errno::OPNOTSUPP) => rustix::fs::ftruncate(&opened.file, size.get())?,
        reserved => reserved?,
    }
    Ok(opened)
}

/// Truncates a scratch file to the part that was filled.
pub fn truncate(file: &OwnedFd, size: Bytes) -> io::Result<()> {
    Ok(rustix::fs::ftruncate(file, size.get())?)
}

/// Makes all written data durable.
pub fn sync_data(file: &OwnedFd) -> io::Result<()> {
    Ok(rustix::fs::fdatasync(file)?)
}

fn open_with(caching: Caching, open: impl Fn(OFlags) -> rustix::io::Result<OwnedFd>) -> io::Result<Opened> {
    if caching == Caching::Direct {
        match open(OFlags::DIRECT) {
            Ok(file) => return Ok(Opened { file, caching }),
            Err(Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Opened { file: open(OFlags::empty())?, caching: Caching::Buffered })
}

/// Creates a file without a name; without `O_TMPFILE` support, with a name that is removed immediately.
fn unnamed(directory: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let mode = Mode::RUSR | Mode::WUSR;
    match rustix::fs::open(directory, flags | OFlags::TMPFILE, mode) {
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT) => {}
        opened => return opened,
    }
    nameless(directory, flags, mode)
}

/// Creates a file whose name is removed immediately. Direct I/O is enabled afterwards: a failing `open` with `O_DIRECT`
/// may have created the file, and would leave it behind.
///
/// # Errors
/// `EINVAL` if `flags` contain `O_DIRECT` and the filesystem does not support it.
fn nameless(directory: &Path, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
    let direct = flags.intersection(OFlags::DIRECT);
    let buffered = flags.difference(OFlags::DIRECT) | OFlags::CREATE | OFlags::EXCL;
    let (name, file) = (0..NAMES_MAX)
        .map(|attempt| directory.join(format!(".plimsoll-{}-{attempt}", std::process::id())))
        .map(|name| (rustix::fs::open(&name, buffered, mode), name))
        .find(|(opened, _)| !matches!(opened, Err(Errno::EXIST)))
        .map_or(Err(Errno::EXIST), |(opened, name)| Ok((name, opened?)))?;
    rustix::fs::unlink(&name)?;
    if !direct.is_empty() {
        rustix::fs::fcntl_setfl(&file, rustix::fs::fcntl_getfl(&file)? | direct)?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::host::tests::Fixture;

    fn check(name: &str, squatters: u32, requested: OFlags) {
        let fixture = Fixture::new(name, &[("place", "")]);
        for attempt in 0..squatters {
            fixture.put(&format!(".plimsoll-{}-{attempt}", std::process::id()), "of another");
        }
        let created = nameless(&fixture.0, OFlags::RDWR | OFlags::CLOEXEC | requested, Mode::RUSR | Mode::WUSR);
        match created {
            Ok(file) => assert_eq!(rustix::fs::fcntl_getfl(&file).unwrap() & OFlags::DIRECT, requested, "{name}"),
            Err(error) if squatters == NAMES_MAX => assert_eq!(error, Errno::EXIST, "{name}"),
            Err(error) => assert_eq!((error, requested), (Errno::INVAL, OFlags::DIRECT), "{name}"),
        }
        assert_eq!(fs::read_dir(&fixture.0).unwrap().count(), 1 + squatters as usize, "{name}: leftover file");
    }

    #[test]
    fn scratch_file_leaves_no_name() {
        check("nameless-buffered", 0, OFlags::empty());
        check("nameless-direct", 0, OFlags::DIRECT);
        check("nameless-taken", 3, OFlags::DIRECT);
        check("nameless-all-taken", NAMES_MAX, OFlags::DIRECT);
    }
}

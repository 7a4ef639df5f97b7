//! Opening what is measured: the path that the user gave, or a file of our own that leaves nothing behind.

mod made;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use plimsoll_units::Bytes;
use rustix::fs::{FallocateFlags, Mode, OFlags, SeekFrom};
use rustix::io::Errno;

pub(crate) use made::marked;
pub use made::{Space, create, is_ours, mark, preallocate};

/// Names that are tried for a file: others of this process, or of a crashed one that had its number, may be taken.
const NAMES_MAX: u32 = 100;

/// What is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It is only read.
    Read,
    /// It is written too. Whether it may be is decided by [`crate::claim`], which keeps others from it.
    Write,
}

/// Whether I/O passes the kernel's page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caching {
    /// `O_DIRECT`: between the buffers and the device.
    Direct,
    /// Through the page cache.
    Buffered,
}

/// Whether a write is answered before it is durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SyncMode {
    /// It is; what was written becomes durable by a flush.
    #[default]
    None,
    /// `O_DSYNC`: every write is durable when it is answered, as if `fdatasync` followed it.
    Dsync,
    /// `O_SYNC`: as if `fsync` followed it.
    Sync,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenHow {
    /// What is done with it.
    pub access: Access,
    /// Whether I/O passes the page cache.
    pub caching: Caching,
    /// Whether every write is durable.
    pub sync: SyncMode,
}

/// A file that is open.
#[derive(Debug)]
pub struct Opened {
    /// Its descriptor.
    pub file: OwnedFd,
    /// How it could be opened: `Buffered` although `Direct` was asked for, where direct I/O is refused.
    pub caching: Caching,
}

/// Opens a file or block device that exists.
pub fn open(path: &Path, access: Access, caching: Caching) -> io::Result<Opened> {
    open_how(path, &OpenHow { access, caching, sync: SyncMode::None })
}

/// Opens a file or block device that exists in this way.
pub fn open_how(path: &Path, how: &OpenHow) -> io::Result<Opened> {
    let access = match how.access {
        Access::Read => OFlags::RDONLY,
        Access::Write => OFlags::RDWR,
    };
    let sync = match how.sync {
        SyncMode::None => OFlags::empty(),
        SyncMode::Dsync => OFlags::DSYNC,
        SyncMode::Sync => OFlags::SYNC,
    };
    let flags = access | sync | OFlags::CLOEXEC;
    open_with(how.caching, |direct| rustix::fs::open(path, flags | direct, Mode::empty()))
}

/// Bytes of an open file or block device. Its position is at the end then, which no engine looks at.
pub fn length(file: impl AsFd) -> io::Result<Bytes> {
    Ok(Bytes::new(rustix::fs::seek(file, SeekFrom::End(0))?))
}

/// Makes a file in `directory` that has no name, so that it is gone as soon as the process is, however that ends. Its
/// `size` bytes are reserved, not written.
///
/// # Errors
/// `ENOSPC` when they are not there; what the filesystem says otherwise.
pub fn scratch(directory: &Path, size: Bytes, caching: Caching) -> io::Result<Opened> {
    let opened = open_with(caching, |direct| unnamed(directory, OFlags::RDWR | OFlags::CLOEXEC | direct))?;
    match rustix::fs::fallocate(&opened.file, FallocateFlags::empty(), 0, size.get()) {
        Err(Errno::OPNOTSUPP) => rustix::fs::ftruncate(&opened.file, size.get())?,
        reserved => reserved?,
    }
    Ok(opened)
}

/// Cuts a scratch file to what was filled of it.
pub fn truncate(file: &OwnedFd, size: Bytes) -> io::Result<()> {
    Ok(rustix::fs::ftruncate(file, size.get())?)
}

/// Waits until all that was written is durable.
pub fn sync(file: &OwnedFd) -> io::Result<()> {
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

/// A file without a name; where the filesystem has none such, one whose name is removed at once.
fn unnamed(directory: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let mode = Mode::RUSR | Mode::WUSR;
    match rustix::fs::open(directory, flags | OFlags::TMPFILE, mode) {
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT) => {}
        opened => return opened,
    }
    nameless(directory, flags, mode)
}

/// A file whose name is removed at once. Direct I/O is asked for only then: an `open` that refuses it may have made the
/// file, and would leave it behind.
///
/// # Errors
/// `EINVAL` when `flags` asks for direct I/O and the filesystem has none.
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

    fn check(name: &str, squatters: u32, asked: OFlags) {
        let fixture = Fixture::new(name, &[("place", "")]);
        for attempt in 0..squatters {
            fixture.put(&format!(".plimsoll-{}-{attempt}", std::process::id()), "of another");
        }
        let made = nameless(&fixture.0, OFlags::RDWR | OFlags::CLOEXEC | asked, Mode::RUSR | Mode::WUSR);
        match made {
            Ok(file) => assert_eq!(rustix::fs::fcntl_getfl(&file).unwrap() & OFlags::DIRECT, asked, "{name}"),
            Err(error) if squatters == NAMES_MAX => assert_eq!(error, Errno::EXIST, "{name}"),
            Err(error) => assert_eq!((error, asked), (Errno::INVAL, OFlags::DIRECT), "{name}"),
        }
        assert_eq!(fs::read_dir(&fixture.0).unwrap().count(), 1 + squatters as usize, "{name}: nothing is left behind");
    }

    #[test]
    fn a_file_leaves_no_name_behind() {
        check("nameless-buffered", 0, OFlags::empty());
        check("nameless-direct", 0, OFlags::DIRECT);
        check("nameless-taken", 3, OFlags::DIRECT);
        check("nameless-all-taken", NAMES_MAX, OFlags::DIRECT);
    }
}

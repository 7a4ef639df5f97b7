//! Named files created by plimsoll, and the mark that identifies them.
//!
//! The mark is an extended attribute with the file's inode number, so that a copy with attributes is not mistaken for
//! the original. On filesystems without extended attributes no file is recognised.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use plimsoll_units::Bytes;
use rustix::fs::{FallocateFlags, Mode, OFlags, XattrFlags};
use rustix::io::Errno;

/// The attribute's name.
const MARK: &str = "user.plimsoll";

/// Space allocation of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Reserve; where the filesystem cannot, only set the length.
    Reserve,
    /// Only set the length; space is allocated by writes.
    Sparse,
    /// Discard previous content, then as `Sparse`.
    Truncate,
}

/// Creates the file `path` with `size` bytes, marks it (if the filesystem supports extended attributes), and opens it
/// for buffered reading and writing.
///
/// # Errors
/// `EEXIST` if `path` exists, `ENOSPC` without enough space (no file remains then), and other errors of the filesystem.
pub fn create(path: &Path, size: Bytes, space: Space) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?;
    let created = mark_created(&file).and_then(|_| preallocate(&file, size, space));
    if created.is_err() {
        // Created above, so it holds no data of others.
        let _ = rustix::fs::unlink(path);
    }
    created.map(|()| file)
}

/// Sets the length of a writable file to `size` bytes.
///
/// # Errors
/// `ENOSPC` without enough space; other errors of the filesystem.
pub fn preallocate(file: impl AsFd, size: Bytes, space: Space) -> io::Result<()> {
    let file = file.as_fd();
    match space {
        Space::Reserve => match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, size.get()) {
            Err(Errno::OPNOTSUPP) => {}
            // `fallocate` refuses a length of zero.
            Err(Errno::INVAL) if size == Bytes::default() => {}
            reserved => reserved?,
        },
        Space::Sparse => {}
        Space::Truncate => rustix::fs::ftruncate(file, 0)?,
    }
    Ok(rustix::fs::ftruncate(file, size.get())?)
}

/// Marks a file as created by plimsoll. Returns `false` if the filesystem does not support marks.
///
/// # Errors
/// Other errors of the filesystem.
pub fn mark_created(file: impl AsFd) -> io::Result<bool> {
    let inode = rustix::fs::fstat(&file)?.st_ino.to_string();
    match rustix::fs::fsetxattr(&file, MARK, inode.as_bytes(), XattrFlags::empty()) {
        Ok(()) => Ok(true),
        Err(Errno::OPNOTSUPP | Errno::PERM) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// True if `path` is a file with the mark of plimsoll. Permission to write is decided by [`crate::claim_ours`].
pub fn is_ours(path: &Path) -> bool {
    let opened = rustix::fs::open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty());
    opened.is_ok_and(marked)
}

/// True if the open file has a mark with its own inode number.
pub(crate) fn marked(file: impl AsFd) -> bool {
    let mut mark = [0; 24];
    let length = rustix::fs::fgetxattr(&file, MARK, &mut mark[..]).unwrap_or(0);
    rustix::fs::fstat(&file).is_ok_and(|stat| mark[..length] == *stat.st_ino.to_string().as_bytes())
}

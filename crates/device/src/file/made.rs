//! Files with a name that plimsoll makes, and the mark by which it knows them again.
//!
//! The mark is an extended attribute that holds the file's inode number, so that a copy that was made with its attributes
//! is not taken for the file itself. Where the filesystem keeps no attributes, no file is known.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use plimsoll_units::Bytes;
use rustix::fs::{FallocateFlags, Mode, OFlags, XattrFlags};
use rustix::io::Errno;

/// The attribute's name.
const MARK: &str = "user.plimsoll";

/// What is done about a file's space before it is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// It is reserved; where the filesystem cannot do that, the file only gets its length.
    Reserve,
    /// The file gets its length, and space when it is written to.
    Sparse,
    /// What the file held is thrown away first; then as `Sparse`.
    Truncate,
}

/// Makes the file `path` of `size` bytes, marks it, and opens it for reading and writing through the page cache. Without a
/// mark where the filesystem keeps none.
///
/// # Errors
/// `EEXIST` when there is something of that name, `ENOSPC` when its space is not there (nothing is left behind then), and
/// what the filesystem says otherwise.
pub fn create(path: &Path, size: Bytes, space: Space) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?;
    let made = mark(&file).and_then(|_| preallocate(&file, size, space));
    if made.is_err() {
        // It was made a moment ago: nobody else has put anything there.
        let _ = rustix::fs::unlink(path);
    }
    made.map(|()| file)
}

/// Gives a file that may be written to `size` bytes.
///
/// # Errors
/// `ENOSPC` when they are not there; what the filesystem says otherwise.
pub fn preallocate(file: impl AsFd, size: Bytes, space: Space) -> io::Result<()> {
    let file = file.as_fd();
    match space {
        Space::Reserve => match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, size.get()) {
            Err(Errno::OPNOTSUPP) => {}
            // A length of nothing is no mistake of the caller's.
            Err(Errno::INVAL) if size == Bytes::default() => {}
            reserved => reserved?,
        },
        Space::Sparse => {}
        Space::Truncate => rustix::fs::ftruncate(file, 0)?,
    }
    Ok(rustix::fs::ftruncate(file, size.get())?)
}

/// Marks a file as made by plimsoll. `false` when its filesystem keeps no such marks.
///
/// # Errors
/// What the filesystem says otherwise.
pub fn mark(file: impl AsFd) -> io::Result<bool> {
    let inode = rustix::fs::fstat(&file)?.st_ino.to_string();
    match rustix::fs::fsetxattr(&file, MARK, inode.as_bytes(), XattrFlags::empty()) {
        Ok(()) => Ok(true),
        Err(Errno::OPNOTSUPP | Errno::PERM) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// True when `path` leads to a file that carries the mark of plimsoll. Whether it may be written to is decided by
/// [`crate::claim_ours`].
pub fn is_ours(path: &Path) -> bool {
    let opened = rustix::fs::open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty());
    opened.is_ok_and(marked)
}

/// True when the open file carries the mark, and it was made for this very file.
pub(crate) fn marked(file: impl AsFd) -> bool {
    let mut mark = [0; 24];
    let length = rustix::fs::fgetxattr(&file, MARK, &mut mark[..]).unwrap_or(0);
    rustix::fs::fstat(&file).is_ok_and(|stat| mark[..length] == *stat.st_ino.to_string().as_bytes())
}

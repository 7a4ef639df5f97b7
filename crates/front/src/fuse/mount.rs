//! Mounting and unmounting: directly as root, otherwise with `fusermount3`.
//!
//! A mount point whose server is gone is stale: every access fails with ENOTCONN.

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, FdFlags};
use rustix::mount::{MountFlags, UnmountFlags};
use rustix::net::{AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketFlags, SocketType};

use super::tree::MODE_DIRECTORY;

const FUSE_DEVICE: &str = "/dev/fuse";

/// The program that mounts for other users than root.
const FUSERMOUNT: &str = "fusermount3";

/// Source and type in the table of mounts.
const SOURCE: &str = "plimsoll";
const KIND: &str = "fuse.plimsoll";

/// A mounted filesystem, to be served by [`crate::Server::mount`]. Once it is closed, every access fails.
#[derive(Debug)]
pub struct Device {
    pub(crate) descriptor: OwnedFd,
    pub(crate) owner: (u32, u32),
    pub(crate) time: u64,
}

/// A mount point. Unmounted when it is dropped, unless it is in use: it stays then, and is stale as soon as it is not
/// served.
#[derive(Debug)]
pub struct Mountpoint {
    directory: PathBuf,
    by: By,
    mounted: bool,
}

/// The program that mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Root,
    Fusermount,
}

/// A filesystem could not be mounted.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    /// The kernel has no FUSE.
    #[error("{FUSE_DEVICE} is missing: load the kernel's module fuse, or connect to the volume over NBD")]
    NoDevice,
    /// Neither root nor `fusermount3` is available.
    #[error(
        "mounting at {} needs root, or fusermount3 of the package fuse3: run as root, or connect over NBD", .0.display()
    )]
    NotAllowed(PathBuf),
    /// `fusermount3` refused.
    #[error("fusermount3 did not mount {}: {replies}", directory.display())]
    Fusermount { directory: PathBuf, replies: String },
    /// The system refused.
    #[error("mounting at {}", directory.display())]
    Io {
        directory: PathBuf,
        /// The system error.
        #[source]
        source: io::Error,
    },
}

/// A filesystem was not unmounted.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum UnmountError {
    /// The file is open, or a process is in the directory.
    #[error("{} is in use", .0.display())]
    Busy(PathBuf),
    /// The system refused.
    #[error("unmounting {}", directory.display())]
    Io {
        directory: PathBuf,
        /// The system error.
        #[source]
        source: io::Error,
    },
}

/// Mounts a filesystem with the file [`super::NAME`] at an existing directory. Accesses wait until it is served.
pub fn mount(directory: &Path) -> Result<(Device, Mountpoint), MountError> {
    let failed = |source: Errno| MountError::Io { directory: directory.to_owned(), source: source.into() };
    let (descriptor, by) = match by_root(directory) {
        Ok(descriptor) => (descriptor, By::Root),
        Err(Errno::NOENT | Errno::NODEV | Errno::NXIO) if !Path::new(FUSE_DEVICE).exists() => {
            return Err(MountError::NoDevice);
        }
        Err(Errno::PERM | Errno::ACCESS) => (by_fusermount(directory)?, By::Fusermount),
        Err(error) => return Err(failed(error)),
    };
    let mountpoint = Mountpoint { directory: directory.to_owned(), by, mounted: true };
    // Reads must not block.
    let flags = rustix::fs::fcntl_getfl(&descriptor).map_err(failed)?;
    rustix::fs::fcntl_setfl(&descriptor, flags | OFlags::NONBLOCK).map_err(failed)?;
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Ok((Device { descriptor, owner: (user.as_raw(), group.as_raw()), time }, mountpoint))
}

fn by_root(directory: &Path) -> Result<OwnedFd, Errno> {
    let descriptor = rustix::fs::open(FUSE_DEVICE, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let number = descriptor.as_raw_fd();
    let options =
        format!("fd={number},rootmode={MODE_DIRECTORY:o},user_id={user},group_id={group},default_permissions");
    let options = CString::new(options).map_err(|_| Errno::INVAL)?;
    rustix::mount::mount(SOURCE, directory, KIND, MountFlags::NOSUID | MountFlags::NODEV, &*options)?;
    Ok(descriptor)
}

/// Also for root, which loop devices need, if the host permits it (`user_allow_other` in /etc/fuse.conf).
fn by_fusermount(directory: &Path) -> Result<OwnedFd, MountError> {
    match fusermount(directory, ",allow_other") {
        Err(MountError::Fusermount { replies, .. }) if replies.contains("allow_other") => fusermount(directory, ""),
        other => other,
    }
}

/// `fusermount3` mounts, and sends the descriptor over a socket that it inherits.
fn fusermount(directory: &Path, more: &str) -> Result<OwnedFd, MountError> {
    let failed = |source: io::Error| MountError::Io { directory: directory.to_owned(), source };
    let no_flags = SocketFlags::empty();
    let (ours, theirs) = rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, no_flags, None)
        .map_err(|error| failed(error.into()))?;
    rustix::io::fcntl_setfd(&ours, FdFlags::CLOEXEC).map_err(|error| failed(error.into()))?;
    let ran = Command::new(FUSERMOUNT)
        .arg("-o")
        .arg(format!("rw,nosuid,nodev,default_permissions,fsname={SOURCE},subtype={SOURCE}{more}"))
        .arg("--")
        .arg(directory)
        .env("_FUSE_COMMFD", theirs.as_raw_fd().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .output();
    drop(theirs);
    let output = match ran {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(MountError::NotAllowed(directory.to_owned()));
        }
        other => other.map_err(failed)?,
    };
    if !output.status.success() {
        let replies = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
        return Err(MountError::Fusermount { directory: directory.to_owned(), replies });
    }
    received(&ours).map_err(|error| failed(error.into()))
}

/// Receives a descriptor over a socket.
fn received(socket: &OwnedFd) -> Result<OwnedFd, Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let mut parts = [io::IoSliceMut::new(&mut byte)];
    rustix::net::recvmsg(socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let rights = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    rights.ok_or(Errno::PROTO)
}

impl Mountpoint {
    pub fn file(&self) -> PathBuf {
        self.directory.join(super::NAME)
    }

    /// The mount point.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Unmounts it unless it is in use, in which case it is returned.
    ///
    /// # Errors
    /// In use, or the system refused.
    pub fn unmount(mut self) -> Result<(), (UnmountError, Self)> {
        match unmount(&self.directory, self.by, UnmountFlags::NOFOLLOW) {
            Ok(()) => {
                self.mounted = false;
                Ok(())
            }
            Err(error) => {
                let directory = self.directory.clone();
                Err((
                    match Errno::from_io_error(&error) {
                        Some(Errno::BUSY) => UnmountError::Busy(directory),
                        _ => UnmountError::Io { directory, source: error },
                    },
                    self,
                ))
            }
        }
    }
}

impl Drop for Mountpoint {
    fn drop(&mut self) {
        if self.mounted {
            // It may be unmounted already, or in use.
            let _ = unmount(&self.directory, self.by, UnmountFlags::NOFOLLOW);
        }
    }
}

fn unmount(directory: &Path, by: By, flags: UnmountFlags) -> io::Result<()> {
    if by == By::Root {
        return Ok(rustix::mount::unmount(directory, flags)?);
    }
    let lazily = flags.contains(UnmountFlags::DETACH).then_some("-z");
    let output =
        Command::new(FUSERMOUNT).arg("-u").args(lazily).arg("--").arg(directory).stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    let replies = String::from_utf8_lossy(&output.stderr);
    Err(if replies.contains("busy") { Errno::BUSY.into() } else { io::Error::other(replies.trim().to_owned()) })
}

/// True if a server that is gone left a stale mount at a directory.
pub fn is_stale(directory: &Path) -> bool {
    matches!(rustix::fs::stat(directory), Err(Errno::NOTCONN | Errno::CONNABORTED))
}

/// Unmounts a stale mount. Returns `false` if there was none.
///
/// # Errors
/// It could not be unmounted.
pub fn clear_stale(directory: &Path) -> io::Result<bool> {
    if !is_stale(directory) {
        return Ok(false);
    }
    let by = if rustix::process::geteuid().is_root() { By::Root } else { By::Fusermount };
    unmount(directory, by, UnmountFlags::NOFOLLOW | UnmountFlags::DETACH)?;
    Ok(true)
}

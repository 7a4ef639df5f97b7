//! Loop devices: a file as a block device with direct I/O.
//!
//! Only touches loop devices whose backing file, according to the kernel, is the given file.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use plimsoll_units::Bytes;
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::file::AccessMode;
use crate::host::Tree;

const CONTROL: &str = "/dev/loop-control";

/// ioctls of `linux/loop.h`.
const CLR_FD: libc::c_ulong = 0x4c01;
const SET_CAPACITY: libc::c_ulong = 0x4c07;
const CONFIGURE: libc::c_ulong = 0x4c0a;
const CTL_GET_FREE: libc::c_ulong = 0x4c82;

const FLAG_READ_ONLY: u32 = 1;
const FLAG_DIRECT_IO: u32 = 16;

/// Logical block size in bytes, as of typical cloud volumes.
const BLOCK_BYTES: u32 = 512;

/// Attempts to get a free device, as others may take it concurrently.
const TRIES: u32 = 64;

/// Maximum time that probes such as udev may delay detaching a device.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A block device over a file. Not detached on drop: see [`LoopDevice::detach`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopDevice {
    device: PathBuf,
    file: PathBuf,
}

/// A loop device could not be created, changed or detached.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum LoopError {
    /// The kernel lacks loop devices.
    #[error("{CONTROL} is missing: load the kernel's module loop, or connect to the volume over NBD")]
    NoDevices,
    /// Permission denied.
    #[error("setting up a loop device needs root: run as root, or connect to the volume over NBD")]
    NotAllowed,
    /// All free devices were taken by others.
    #[error("no loop device is left (losetup -l shows them): detach one, or connect to the volume over NBD")]
    NoneFree,
    /// The device is open or mounted.
    #[error("{} is in use: unmount it, or stop the process that has it open (lsof), also in other mount namespaces \
        (grep plimsoll /proc/*/mountinfo)", .0.display())]
    Busy(PathBuf),
    /// The device is not, or no longer, over this file.
    #[error("{} is not over {}: it is left alone", device.display(), file.display())]
    NotOver { device: PathBuf, file: PathBuf },
    /// System error.
    #[error("{what} {}", path.display())]
    Io {
        /// Attempted action.
        what: &'static str,
        /// Path of the device or file.
        path: PathBuf,
        /// System error.
        #[source]
        source: io::Error,
    },
}

impl LoopError {
    fn io(what: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { what, path: path.to_owned(), source }
    }
}

/// `struct loop_info64`.
#[repr(C)]
struct Info {
    of_kernel: [u64; 3],
    offset: u64,
    size_limit: u64,
    number: u32,
    encryption: [u32; 2],
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// `struct loop_config`.
#[repr(C)]
struct Config {
    file: u32,
    block_bytes: u32,
    info: Info,
    reserved: [u64; 8],
}

impl LoopDevice {
    /// Sets up a new device over the whole file, with direct I/O.
    pub fn over(file: &Path, access: AccessMode) -> Result<Self, LoopError> {
        let canonical = file.canonicalize().map_err(|source| LoopError::io("finding", file, source))?;
        let flags = match access {
            AccessMode::Read => OFlags::RDONLY,
            AccessMode::Write => OFlags::RDWR,
        };
        let opened = open(&canonical, flags).map_err(|source| LoopError::io("opening", &canonical, source))?;
        let control = open(Path::new(CONTROL), OFlags::RDWR).map_err(|source| match Errno::from_io_error(&source) {
            Some(Errno::NOENT | Errno::NODEV | Errno::NXIO) => LoopError::NoDevices,
            Some(Errno::ACCESS | Errno::PERM) => LoopError::NotAllowed,
            _ => LoopError::io("opening", Path::new(CONTROL), source),
        })?;
        for _ in 0..TRIES {
            let number = request(&control, CTL_GET_FREE, 0).map_err(|source| match Errno::from_io_error(&source) {
                Some(Errno::NOSPC) => LoopError::NoneFree,
                _ => LoopError::io("requesting a free device from", Path::new(CONTROL), source),
            })?;
            let device = PathBuf::from(format!("/dev/loop{number}"));
            let node = open(&device, flags);
            let configured = node.and_then(|node| configure(&node, &opened, &canonical, access));
            match configured.map_err(|source| (Errno::from_io_error(&source), source)) {
                Ok(()) => return Ok(Self { device, file: canonical }),
                Err((Some(Errno::BUSY), _)) => {}
                Err((Some(Errno::ACCESS | Errno::PERM), _)) => return Err(LoopError::NotAllowed),
                Err((_, source)) => return Err(LoopError::io("setting up", &device, source)),
            }
        }
        Err(LoopError::NoneFree)
    }

    /// The device `device`, which must be over `file`. The file itself is not accessed, as its server may be gone.
    pub fn existing(device: &Path, file: &Path) -> Result<Self, LoopError> {
        let found = Self { device: device.to_owned(), file: file.to_owned() };
        found.check().map(|()| found)
    }

    /// All devices over `file`, an absolute path without links.
    pub fn all_over(file: &Path) -> io::Result<Vec<Self>> {
        let names = Tree::system().names("sys/block")?.into_iter().filter(|name| name.starts_with("loop"));
        let devices = names.map(|name| Self { device: Path::new("/dev").join(name), file: file.to_owned() });
        Ok(devices.filter(|device| device.check().is_ok()).collect())
    }

    /// Path below `/dev`.
    pub fn device(&self) -> &Path {
        &self.device
    }

    /// Adopts and returns the current size of the file.
    pub fn resize(&self) -> Result<Bytes, LoopError> {
        self.check()?;
        let failed = |what, path: &Path, source| LoopError::io(what, path, source);
        // stat makes network and FUSE filesystems refresh the file size.
        let stat = std::fs::metadata(&self.file).map_err(|source| failed("getting the size of", &self.file, source))?;
        let node = self.open(OFlags::empty())?;
        request(&node, SET_CAPACITY, 0).map_err(|source| failed("resizing", &self.device, source))?;
        Ok(Bytes::new(stat.len()))
    }

    /// Detaches the device when it is unused.
    pub fn detach(self) -> Result<(), LoopError> {
        let begun = Instant::now();
        loop {
            self.check()?;
            // While others have it open, detaching would be deferred to their close. A mounted device is held
            // exclusively.
            match self.open(OFlags::EXCL) {
                Ok(node) => {
                    request(&node, CLR_FD, 0).map_err(|source| LoopError::io("detaching", &self.device, source))?;
                    break;
                }
                Err(LoopError::Busy(_)) if begun.elapsed() < TIMEOUT && self.mounted_at().is_none() => {}
                Err(error) => return Err(error),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        while self.check().is_ok() {
            if begun.elapsed() > 2 * TIMEOUT {
                return Err(LoopError::Busy(self.device));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Mount point, if visible to this process.
    pub fn mounted_at(&self) -> Option<PathBuf> {
        crate::subject::mount_point(&self.device)
    }

    fn open(&self, flags: OFlags) -> Result<File, LoopError> {
        open(&self.device, OFlags::RDONLY | flags).map_err(|source| match Errno::from_io_error(&source) {
            Some(Errno::ACCESS | Errno::PERM) => LoopError::NotAllowed,
            Some(Errno::BUSY) => LoopError::Busy(self.device.clone()),
            _ => LoopError::io("opening", &self.device, source),
        })
    }

    fn check(&self) -> Result<(), LoopError> {
        let name = self.device.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let backing = Tree::system().text(format!("sys/block/{name}/loop/backing_file")).unwrap_or_default();
        if self.device.parent() == Some(Path::new("/dev"))
            && backing.trim_end_matches('\n').as_bytes() == self.file.as_os_str().as_encoded_bytes()
        {
            return Ok(());
        }
        Err(LoopError::NotOver { device: self.device.clone(), file: self.file.clone() })
    }
}

fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    Ok(rustix::fs::open(path, flags | OFlags::CLOEXEC, rustix::fs::Mode::empty())?.into())
}

fn configure(node: &File, file: &File, path: &Path, access: AccessMode) -> io::Result<()> {
    let read_only = if access == AccessMode::Read { FLAG_READ_ONLY } else { 0 };
    let mut file_name = [0; 64];
    for (to, from) in file_name.iter_mut().take(63).zip(path.as_os_str().as_encoded_bytes()) {
        *to = *from;
    }
    let info = Info {
        of_kernel: [0; 3],
        offset: 0,
        size_limit: 0,
        number: 0,
        encryption: [0; 2],
        flags: FLAG_DIRECT_IO | read_only,
        file_name,
        crypt_name: [0; 64],
        encrypt_key: [0; 32],
        init: [0; 2],
    };
    let config = Config { file: file.as_raw_fd().cast_unsigned(), block_bytes: BLOCK_BYTES, info, reserved: [0; 8] };
    request(node, CONFIGURE, (&raw const config).expose_provenance()).map(drop)
}

fn request(node: &File, request: libc::c_ulong, argument: usize) -> io::Result<i32> {
    // SAFETY: the loop device ioctls take an integer, or the address of a `Config` that outlives the call and is only
    // read.
    let answer = unsafe { libc::ioctl(node.as_raw_fd(), request as _, argument) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_lengths_of_the_kernel() {
        assert_eq!((size_of::<Info>(), size_of::<Config>()), (232, 304));
        assert_eq!(std::mem::offset_of!(Info, flags), 52);
    }

    #[test]
    fn other_loop_devices_are_left_alone() {
        for device in ["/dev/loop0", "/dev/null", "/tmp/loop0", "loop0", ""] {
            let refused = LoopDevice::existing(Path::new(device), Path::new("/no/such/file"));
            assert!(matches!(refused, Err(LoopError::NotOver { .. })), "{device}");
        }
    }
}

//! Log pages of `NVMe` devices, read with the administrative command Get Log Page. Nothing is written to a device.
//!
//! NVM Express Base Specification 2.0, section 5.16; `struct nvme_passthru_cmd` of `linux/nvme_ioctl.h`.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::block::BlockDevice;
use crate::host::{Tree, tree};

/// `NVME_IOCTL_ADMIN_CMD`: `_IOWR('N', 0x41, struct nvme_admin_cmd)`.
const ADMIN_COMMAND: libc::c_ulong = 0xC048_4E41;
const GET_LOG_PAGE: u8 = 0x02;
/// Longest wait for the device.
const TIMEOUT_MS: u32 = 10_000;

/// `struct nvme_passthru_cmd`.
#[derive(Default)]
#[repr(C)]
struct PassthroughCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    dwords_2_and_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_bytes: u32,
    data_bytes: u32,
    dwords_10_to_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

/// An `NVMe` device whose logs can be read.
#[derive(Debug)]
pub struct NvmeDevice {
    file: File,
    path: PathBuf,
    /// Its model; none if the kernel does not state it.
    pub model: Option<String>,
    /// Its serial number; none if the kernel does not state it.
    pub serial: Option<String>,
}

/// Reasons why a log page cannot be read.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum NvmeError {
    /// The device cannot be opened.
    #[error("cannot open {}: lsblk -o NAME,MODEL,SERIAL lists the devices of this host", path.display())]
    Open {
        path: PathBuf,
        /// The reason of the system.
        source: io::Error,
    },
    /// The caller lacks the right.
    #[error("no right to read the log of {}: run it as root", path.display())]
    NotAllowed { path: PathBuf },
    /// Another kind of device or file.
    #[error("{} is not an NVMe device: give one such as /dev/nvme1n1, from lsblk -o NAME,MODEL,SERIAL", path.display())]
    NotNvme { path: PathBuf },
    #[error("cannot read log page {page:#04x} of {}: {status}", path.display())]
    Failed {
        path: PathBuf,
        page: u8,
        /// The system's error, or the status of the device.
        status: String,
    },
}

impl NvmeDevice {
    /// Opens a block device, a partition of it, or a controller, for reading only.
    ///
    /// # Errors
    /// The device does not exist or may not be opened. Other kinds of devices are found by [`NvmeDevice::read_log`].
    pub fn open(path: &Path) -> Result<Self, NvmeError> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| match errno {
            Errno::ACCESS | Errno::PERM => NvmeError::NotAllowed { path: path.to_owned() },
            _ => NvmeError::Open { path: path.to_owned(), source: errno.into() },
        })?;
        let name = path.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        let word = |file: &str| find_word(&Tree::system(), name.as_deref()?, file);
        Ok(Self { file: file.into(), path: path.to_owned(), model: word("model"), serial: word("serial") })
    }

    /// Reads the first bytes of a log page of namespace 1. The length of `bytes` is a positive multiple of 4, at most
    /// 4,096.
    ///
    /// # Errors
    /// Not an `NVMe` device, a missing right, or the device refused the command.
    pub fn read_log(&self, page: u8, bytes: &mut [u8]) -> Result<(), NvmeError> {
        assert!(bytes.len().is_multiple_of(4) && (4..=4_096).contains(&bytes.len()), "a page of whole double words");
        let dwords = bytes.len() as u32 / 4;
        let mut command = PassthroughCommand {
            opcode: GET_LOG_PAGE,
            namespace: 1,
            address: bytes.as_mut_ptr().expose_provenance() as u64,
            data_bytes: bytes.len() as u32,
            // The number of double words is zero-based.
            dwords_10_to_15: [u32::from(page) | (dwords - 1) << 16, 0, 0, 0, 0, 0],
            timeout_ms: TIMEOUT_MS,
            ..PassthroughCommand::default()
        };
        // SAFETY: the kernel reads and writes the command, and writes at most `data_bytes` bytes to `address`: both
        // outlive the call, and are borrowed exclusively.
        let status = unsafe { libc::ioctl(self.file.as_raw_fd(), ADMIN_COMMAND as _, &raw mut command) };
        if status == 0 {
            return Ok(());
        }
        let (path, error) = (self.path.clone(), io::Error::last_os_error());
        Err(match Errno::from_io_error(&error) {
            // A positive status is that of the device.
            _ if status > 0 => NvmeError::Failed { path, page, status: format!("status {status:#x} of the device") },
            Some(Errno::ACCESS | Errno::PERM) => NvmeError::NotAllowed { path },
            Some(Errno::NOTTY | Errno::INVAL | Errno::OPNOTSUPP) => NvmeError::NotNvme { path },
            _ => NvmeError::Failed { path, page, status: error.to_string() },
        })
    }
}

/// A file about the controller of a block device, of a partition or of a controller.
fn find_word(tree: &Tree, name: &str, file: &str) -> Option<String> {
    let block = BlockDevice::named(tree, name).and_then(|block| block.disk().word(&format!("device/{file}")));
    block.or_else(|| tree::read_word(&tree.path(format!("sys/class/nvme/{name}/{file}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_has_the_layout_of_the_kernel() {
        assert_eq!(size_of::<PassthroughCommand>(), 72);
        assert_eq!(ADMIN_COMMAND, 3 << 30 | 72 << 16 | libc::c_ulong::from(b'N') << 8 | 0x41);
        assert_eq!(std::mem::offset_of!(PassthroughCommand, address), 24);
        assert_eq!(std::mem::offset_of!(PassthroughCommand, dwords_10_to_15), 40);
    }

    #[test]
    fn other_files_are_refused_with_the_remedy() {
        let read = |path: &str| {
            let device = NvmeDevice::open(Path::new(path))?;
            device.read_log(0xD0, &mut [0; 4_096])
        };
        for path in ["/dev/null", "/proc/self/exe"] {
            let error = read(path).expect_err(path);
            assert!(matches!(error, NvmeError::NotNvme { .. }), "{path}: {error:?}");
            assert!(error.to_string().contains("give one such as /dev/nvme1n1"), "{error}");
        }
        let error = read("/dev/no-such-device").expect_err("it does not exist");
        assert!(matches!(error, NvmeError::Open { .. }) && error.to_string().contains("lsblk"), "{error}");
    }

    #[test]
    fn model_and_serial_are_those_of_the_controller() {
        let fixture = crate::disk::tests::sda("nvme-words");
        fixture.put("sys/class/nvme/nvme1/serial", "vol0a1\n");
        assert_eq!(find_word(&fixture.tree(), "nvme1", "serial").as_deref(), Some("vol0a1"));
        assert_eq!(find_word(&fixture.tree(), "nvme2", "serial"), None);
    }
}

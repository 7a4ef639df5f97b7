//! Classification of a path: a directory, file or block device, with the properties that a load needs.
//!
//! Read-only. Permission to write is decided by [`crate::refuse`].

mod direct;
mod filesystem;
mod mounts;
mod unusable;

use std::fs::{File, Metadata};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use plimsoll_language::label;
use plimsoll_units::Bytes;
use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, StatVfsMountFlags, StatxFlags};

pub use direct::{Alignment, Direct};
pub use filesystem::{Filesystem, Nature};
pub(crate) use mounts::{Mounts, mount_point, unescaped};
pub(crate) use unusable::display;
pub use unusable::{Needs, Unusable};

use crate::block::{BlockDevice, DeviceNumber};
use crate::host::Tree;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubjectKind {
    /// A directory for files to be created in.
    Directory,
    File,
    BlockDevice,
}

impl SubjectKind {
    /// `directory`, `file` or `block device`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::File => "file",
            Self::BlockDevice => "block device",
        }
    }
}

/// A path usable as a target, and its properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub path: PathBuf,
    /// Kind, after following links.
    pub kind: SubjectKind,
    /// Size in bytes of the file or block device; of the whole filesystem for a directory.
    pub size: Bytes,
    /// Directories: bytes available to this user, without regard to quotas.
    pub available: Option<Bytes>,
    /// Files: allocated bytes. If below `size`, reads of holes do not reach a device.
    pub allocated: Option<Bytes>,
    /// The block device, or that of the filesystem. `None` without a single named device (overlay, ZFS, tmpfs, NFS);
    /// one of several for a multi-device btrfs.
    pub device: Option<DeviceNumber>,
    /// Filesystem of the directory or file; `None` for block devices and without `/proc`.
    pub filesystem: Option<Filesystem>,
    /// Support and alignment of direct I/O.
    pub direct: Direct,
    /// Not writable: by filesystem, device or permissions.
    pub read_only: bool,
}

/// Classifies `path`. Opens files and block devices for reading only.
///
/// # Errors
/// [`Unusable`], with the remedy.
pub fn classify(path: &Path) -> Result<Subject, Unusable> {
    let tree = Tree::system();
    let stat = path.metadata().map_err(|error| Unusable::reaching(path, error))?;
    let kind = kind_of(path, &stat)?;
    let filesystem = if kind == SubjectKind::BlockDevice { None } else { find_filesystem(&tree, path) };
    if let Some(made_up) = filesystem.as_ref().filter(|filesystem| filesystem.nature() == Nature::Kernel) {
        return Err(Unusable::MadeUp { path: display(path), filesystem: made_up.kind.clone() });
    }
    let device = match kind {
        SubjectKind::BlockDevice => Some(DeviceNumber::from_raw(stat.rdev())),
        _ => below(DeviceNumber::from_raw(stat.dev()), filesystem.as_ref()),
    };
    let block = device.and_then(|number| BlockDevice::find(&tree, number).ok());
    let direct = match kind {
        SubjectKind::Directory => None,
        _ => Direct::at(path),
    };
    let logical_block = block.as_ref().and_then(|block| block.disk().logical_block());
    let space = measure_free_space(path, kind, &stat)?;
    Ok(Subject {
        path: path.to_owned(),
        kind,
        size: space.size,
        available: space.available,
        allocated: (kind == SubjectKind::File).then(|| Bytes::new(stat.blocks() * 512)),
        direct: direct.unwrap_or_else(|| Direct::assumed(logical_block)),
        read_only: space.read_only || (kind == SubjectKind::BlockDevice && block.is_some_and(|b| b.is_read_only())),
        device,
        filesystem,
    })
}

fn kind_of(path: &Path, stat: &Metadata) -> Result<SubjectKind, Unusable> {
    let kind = stat.file_type();
    let what = match () {
        () if kind.is_dir() => return Ok(SubjectKind::Directory),
        () if kind.is_file() => return Ok(SubjectKind::File),
        () if kind.is_block_device() => return Ok(SubjectKind::BlockDevice),
        () if kind.is_char_device() => label!("a character device"),
        () if kind.is_fifo() => label!("a pipe"),
        () if kind.is_socket() => label!("a socket"),
        () => label!("not a data file"),
    };
    Err(Unusable::Special { path: display(path), what })
}

pub(crate) fn find_filesystem(tree: &Tree, path: &Path) -> Option<Filesystem> {
    let canonical = path.canonicalize().ok()?;
    let stat = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok();
    let id = stat.filter(|stat| stat.stx_mask & StatxFlags::MNT_ID.bits() != 0).map(|stat| stat.stx_mnt_id);
    Mounts::read(tree).ok()?.holding(&canonical, id).map(Filesystem::from)
}

/// Block device of a filesystem: that of its files, or the mount's source if that is anonymous (btrfs).
fn below(number: DeviceNumber, filesystem: Option<&Filesystem>) -> Option<DeviceNumber> {
    if !number.is_anonymous() {
        return Some(number);
    }
    let source = Path::new(&filesystem?.source);
    let stat = source.is_absolute().then(|| source.metadata().ok())??;
    stat.file_type().is_block_device().then(|| DeviceNumber::from_raw(stat.rdev()))
}

struct FreeSpace {
    size: Bytes,
    available: Option<Bytes>,
    read_only: bool,
}

fn measure_free_space(path: &Path, kind: SubjectKind, stat: &Metadata) -> Result<FreeSpace, Unusable> {
    if kind == SubjectKind::Directory {
        return directory_space(path);
    }
    let mut file = open(path, OFlags::empty()).map_err(|error| Unusable::using(path, Needs::Read, error))?;
    let size = match kind {
        SubjectKind::BlockDevice => file.seek(SeekFrom::End(0)).map_err(|e| Unusable::using(path, Needs::Read, e))?,
        _ => stat.len(),
    };
    if size == 0 {
        return Err(Unusable::Empty { path: display(path) });
    }
    let read_only = rustix::fs::access(path, Access::WRITE_OK).is_err();
    Ok(FreeSpace { size: Bytes::new(size), available: None, read_only })
}

fn directory_space(path: &Path) -> Result<FreeSpace, Unusable> {
    let vfs = rustix::fs::statvfs(path).map_err(|error| Unusable::using(path, Needs::Read, error.into()))?;
    if vfs.f_flag.contains(StatVfsMountFlags::RDONLY) {
        return Err(Unusable::ReadOnly { path: display(path) });
    }
    rustix::fs::access(path, Access::WRITE_OK | Access::EXEC_OK)
        .map_err(|error| Unusable::using(path, Needs::MakeFiles, error.into()))?;
    Ok(FreeSpace {
        size: Bytes::new(vfs.f_blocks.saturating_mul(vfs.f_frsize)),
        available: Some(Bytes::new(vfs.f_bavail.saturating_mul(vfs.f_frsize))),
        read_only: false,
    })
}

/// Opens for reading with additional `flags`, without waiting for a drive to become ready.
pub(crate) fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | flags;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

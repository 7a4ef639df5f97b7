//! fio's engines: those with a counterpart, and those without, with the reason.

use plimsoll_language::{StaticText, static_text};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// `io_uring`.
    IoUring,
    /// `libaio`: asynchronous, executed with `io_uring`.
    Libaio,
    /// `posixaio`: likewise.
    Posixaio,
    /// `windowsaio`: likewise.
    Windowsaio,
    /// `sync`: `lseek` and `read`, depth 1.
    Sync,
    /// `psync`: `pread` and `pwrite`, depth 1. The default.
    Psync,
    /// `vsync`: `readv` and `writev`, depth 1.
    Vsync,
    /// `pvsync`: `preadv` and `pwritev`, depth 1.
    Pvsync,
    /// `pvsync2`: `preadv2` and `pwritev2`, depth 1.
    Pvsync2,
    /// `mmap`: copies from and to a mapping, depth 1.
    Mmap,
    /// `null`: every operation succeeds at once without data transfer.
    Null,
}

use Engine::{IoUring, Libaio, Mmap, Null, Posixaio, Psync, Pvsync, Pvsync2, Sync, Vsync, Windowsaio};

const ENGINES: &[(&str, Engine)] = &[
    ("io_uring", IoUring),
    ("libaio", Libaio),
    ("posixaio", Posixaio),
    ("windowsaio", Windowsaio),
    ("sync", Sync),
    ("psync", Psync),
    ("vsync", Vsync),
    ("pvsync", Pvsync),
    ("pvsync2", Pvsync2),
    ("mmap", Mmap),
    ("null", Null),
];

const METADATA: StaticText = static_text!("it measures metadata of files, not their data");
const OBJECTS: StaticText = static_text!("it accesses an object store, not a file or device");
const MEMORY: StaticText = static_text!("it measures memory that is addressed by byte, not storage of blocks");
const COMMANDS: StaticText = static_text!("it sends commands past the block layer");
const NETWORK: StaticText = static_text!("it measures a network, not storage");
const GRAPHICS: StaticText = static_text!("it moves data to the memory of graphics cards");

/// Unsupported engines, with the reason.
const UNSUPPORTED: &[(&str, StaticText)] = &[
    ("cpuio", static_text!("it measures processors, not storage")),
    ("net", NETWORK),
    ("netsplice", NETWORK),
    ("rdma", NETWORK),
    ("splice", static_text!("it measures pipes; use psync for the same reads")),
    ("exec", static_text!("it starts commands, and plimsoll starts none")),
    ("filecreate", METADATA),
    ("filestat", METADATA),
    ("filedelete", METADATA),
    ("dircreate", METADATA),
    ("dirstat", METADATA),
    ("dirdelete", METADATA),
    ("ftruncate", METADATA),
    ("falloc", METADATA),
    ("e4defrag", METADATA),
    ("io_uring_cmd", COMMANDS),
    ("sg", COMMANDS),
    ("xnvme", COMMANDS),
    ("libzbc", COMMANDS),
    ("spdk", COMMANDS),
    ("spdk_bdev", COMMANDS),
    ("libblkio", static_text!("it drives devices by itself; use io_uring on the device")),
    ("gfapi", OBJECTS),
    ("gfapi_async", OBJECTS),
    ("rados", OBJECTS),
    ("rbd", static_text!("it speaks to Ceph by itself; map the image with rbd and use io_uring on the device")),
    ("http", OBJECTS),
    ("dfs", OBJECTS),
    ("ime_psync", OBJECTS),
    ("ime_psyncv", OBJECTS),
    ("ime_aio", OBJECTS),
    ("libhdfs", OBJECTS),
    ("nfs", static_text!("it speaks NFS by itself; mount the share and use psync on a file of it")),
    ("nbd", static_text!("give the server's address to plimsoll as a target instead")),
    ("libiscsi", static_text!("it speaks iSCSI by itself; attach the target and use io_uring on the device")),
    ("mtd", static_text!("it writes raw flash")),
    ("dev-dax", MEMORY),
    ("libpmem", MEMORY),
    ("pmemblk", MEMORY),
    ("page_fault", MEMORY),
    ("libcufile", GRAPHICS),
    ("libhipfile", GRAPHICS),
    ("solarisaio", static_text!("it is for Solaris alone; use libaio")),
    ("external", static_text!("engines are not loaded from files")),
];

pub(crate) enum EngineLookup {
    Supported(Engine),
    /// An unsupported engine, with the reason.
    Unsupported(StaticText),
    Unknown,
}

/// Looks up a name; an external engine has a path after a colon.
pub(crate) fn find(text: &str) -> EngineLookup {
    let name = text.split(':').next().unwrap_or(text).trim();
    let supported =
        ENGINES.iter().find(|(existing, _)| *existing == name).map(|(_, engine)| EngineLookup::Supported(*engine));
    let unsupported =
        || UNSUPPORTED.iter().find(|(existing, _)| *existing == name).map(|(_, why)| EngineLookup::Unsupported(*why));
    supported.or_else(unsupported).unwrap_or(EngineLookup::Unknown)
}

pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ENGINES.iter().map(|(name, _)| *name)
}

impl Engine {
    pub fn name(self) -> &'static str {
        ENGINES.iter().find(|(_, engine)| *engine == self).map_or("", |(name, _)| name)
    }

    /// Whether it is synchronous: queue depth 1 regardless of `iodepth`.
    pub fn is_synchronous(self) -> bool {
        matches!(self, Sync | Psync | Vsync | Pvsync | Pvsync2 | Mmap)
    }
}

/// All names, with the reason for unsupported engines.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, Option<StaticText>)> {
    let supported = ENGINES.iter().map(|(name, _)| (*name, None));
    supported.chain(UNSUPPORTED.iter().map(|(name, why)| (*name, Some(*why))))
}

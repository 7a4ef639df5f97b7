//! What a filesystem's type says about figures measured on it.
//!
//! Knows nothing about mounts or devices: a name in, a nature out.

use std::path::PathBuf;

use super::mounts::Mount;

/// The filesystem that a path is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filesystem {
    /// Its type as the kernel names it, such as `ext4`.
    pub kind: String,
    /// Options of the mount and of the filesystem, separated by commas.
    pub options: String,
    /// What is mounted, such as `/dev/sda1` or `server:/export`.
    pub source: String,
    /// Where it is mounted.
    pub point: PathBuf,
}

/// Where a filesystem keeps its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// On block devices of this machine.
    Storage,
    /// In memory: figures describe that, not storage.
    Memory,
    /// In the files of another filesystem.
    Stacked,
    /// On another machine, or behind a server process.
    Remote,
    /// Nowhere: the kernel makes its files up.
    Kernel,
}

const NATURES: &[(Nature, &[&str])] = &[
    (Nature::Memory, &["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"]),
    (
        Nature::Stacked,
        &["overlay", "aufs", "ecryptfs", "unionfs", "fuse.fuse-overlayfs", "fuse.mergerfs", "fuse.gocryptfs"],
    ),
    (
        Nature::Remote,
        &[
            "nfs",
            "nfs4",
            "cifs",
            "smb3",
            "smbfs",
            "ceph",
            "9p",
            "virtiofs",
            "afs",
            "lustre",
            "gpfs",
            "beegfs",
            "orangefs",
            "vboxsf",
            "fuse.vmhgfs-fuse",
            "prl_fs",
        ],
    ),
    (
        Nature::Kernel,
        &[
            "proc",
            "sysfs",
            "cgroup",
            "cgroup2",
            "debugfs",
            "tracefs",
            "securityfs",
            "configfs",
            "bpf",
            "pstore",
            "efivarfs",
            "devpts",
            "mqueue",
            "binfmt_misc",
            "selinuxfs",
            "fusectl",
            "rpc_pipefs",
            "nfsd",
            "resctrl",
        ],
    ),
];

impl Filesystem {
    /// Where it keeps its data, as far as its type tells; FUSE filesystems that are not known count as remote.
    pub fn nature(&self) -> Nature {
        let known = NATURES.iter().find(|(_, kinds)| kinds.contains(&self.kind.as_str()));
        match known {
            Some((nature, _)) => *nature,
            None if self.kind == "fuse" || self.kind.starts_with("fuse.") => Nature::Remote,
            None => Nature::Storage,
        }
    }

    /// What a reader of figures should know about it; `None` when it lies on storage of this machine.
    pub fn note(&self) -> Option<String> {
        let kind = &self.kind;
        match self.nature() {
            Nature::Storage | Nature::Kernel => None,
            Nature::Memory => Some(format!("{kind} keeps its data in memory: figures describe that, not storage")),
            Nature::Stacked => Some(format!("{kind} lies on another filesystem: figures include what it adds")),
            Nature::Remote => Some(format!("{kind} is served from elsewhere: figures include the way there")),
        }
    }
}

impl From<&Mount> for Filesystem {
    fn from(mount: &Mount) -> Self {
        let Mount { kind, options, source, point, .. } = mount.clone();
        Self { kind, options, source, point }
    }
}

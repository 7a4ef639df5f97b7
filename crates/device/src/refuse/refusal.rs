//! Reasons for refusing a destructive write, each with its remedy.

use std::io;

use plimsoll_language::{label, say};

use super::in_use::InUse;
use crate::signature::{Family, Signature};
use crate::subject::{Subject, SubjectKind, Unusable, display};

/// Fact that could not be determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    Uses,
    Contents,
}

impl Unknown {
    fn name(self) -> &'static str {
        match self {
            Self::Uses => label!("whether it is in use (are /proc and /sys mounted?)"),
            Self::Contents => label!("what it holds (see the kernel log, dmesg)"),
        }
    }
}

/// Reason why plimsoll refuses to write.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum WriteRefusal {
    /// Not given to `--destroy`.
    #[error("{path}: writing would destroy what it holds: if that may be lost, add --destroy {path}")]
    NotNamed { path: String },
    /// Given to `--destroy` under another name.
    #[error("{path}: --destroy names it as {name}: the two have to be the same, letter for letter: --destroy {path}")]
    NamedOtherwise {
        path: String,
        /// Path given to `--destroy`.
        name: String,
    },
    /// Not a possible target.
    #[error(transparent)]
    Unusable(Unusable),
    #[error("{path}: a directory, and those are never destroyed: plimsoll makes its own file in it, without --destroy")]
    Directory { path: String },
    /// Read-only.
    #[error("{path}: read-only: leave out --destroy, or make it writable first")]
    ReadOnly { path: String },
    #[error("{path}: {found}: {} first", found.remedy())]
    InUse { path: String, found: InUse },
    /// Opened exclusively.
    #[error(
        "{path}: held exclusively by the kernel or another program: stop its user first (see lsof, fuser and lsblk)"
    )]
    Busy { path: String },
    /// Open for writing in another process.
    #[error("{path}: {opened} is open for writing in process {pid} ({command}): stop that first")]
    Open {
        path: String,
        /// Path opened by the process: this, its disk, or a partition.
        opened: String,
        /// Process ID.
        pid: u32,
        /// Process name.
        command: String,
    },
    /// Locked by another process.
    #[error("{path}: locked by another process, such as another run of plimsoll: wait for that, or stop it first")]
    Locked { path: String },
    /// Carries a known signature.
    #[error("{path}: carries {signature}: {remedy}")]
    Carries { path: String, signature: Signature, remedy: String },
    /// The path was replaced during the checks.
    #[error("{path}: changed while it was examined: find out what replaces it, and try again")]
    Changed { path: String },
    /// A check failed.
    #[error("{path}: cannot determine {}, so it is not written to", what.name())]
    Unknown {
        path: String,
        /// The unknown fact.
        what: Unknown,
        /// System error.
        #[source]
        source: io::Error,
    },
}

impl WriteRefusal {
    pub(super) fn unknown(path: &str, what: Unknown, source: io::Error) -> Self {
        Self::Unknown { path: path.to_owned(), what, source }
    }
}

/// Remedy for a signature; plimsoll never removes it itself.
pub(super) fn clearing(subject: &Subject, signature: &Signature) -> String {
    let path = display(&subject.path);
    let how = match (subject.kind, signature.family) {
        (SubjectKind::File, _) => label!("delete the file, and give its directory instead").to_owned(),
        // wipefs does not support the others.
        (_, Family::Database | Family::Image | Family::Other) => {
            say!("clear it with dd if=/dev/zero of={path} bs=4096 seek={} count=1", signature.offset / 4096)
        }
        // wipefs needs -f for a partition table in a partition.
        (_, Family::PartitionTable) => say!("wipe it with wipefs -a {path} (-a -f on a partition)"),
        _ => say!("wipe it with wipefs -a {path}"),
    };
    say!("if its data may be lost, {how}: plimsoll never does")
}

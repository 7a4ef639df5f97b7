//! Why something may not be written to, in one line that says what to do.
//!
//! Knows nothing about how it was found out.

use std::io;

use super::in_use::InUse;
use crate::signature::{Family, Signature};
use crate::subject::{Subject, SubjectKind, Unusable, shown};

/// What could not be found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// Who uses it.
    Uses,
    /// What it holds.
    Contents,
}

impl Unknown {
    const fn name(self) -> &'static str {
        match self {
            Self::Uses => "whether it is in use (are /proc and /sys mounted?)",
            Self::Contents => "what it holds (see the kernel log, dmesg)",
        }
    }
}

/// Something that plimsoll will not write to.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Not given to `--destroy`.
    #[error("{path}: writing would destroy what it holds: if that may be lost, add --destroy {path}")]
    NotNamed {
        /// As it was given.
        path: String,
    },
    /// Given to `--destroy` by another of its names.
    #[error("{path}: --destroy names it as {name}: the two have to be the same, letter for letter: --destroy {path}")]
    NamedOtherwise {
        /// As it was given.
        path: String,
        /// As `--destroy` has it.
        name: String,
    },
    /// Nothing that could be written to in the first place.
    #[error(transparent)]
    Unusable(Unusable),
    /// A directory.
    #[error("{path}: a directory, and those are never destroyed: plimsoll makes its own file in it, without --destroy")]
    Directory {
        /// The path, and where it leads.
        path: String,
    },
    /// It cannot be written to.
    #[error("{path}: read-only: leave out --destroy, or make it writable first")]
    ReadOnly {
        /// The path, and where it leads.
        path: String,
    },
    /// The kernel uses it.
    #[error("{path}: {found}: {} first", found.remedy())]
    InUse {
        /// The path, and where it leads.
        path: String,
        /// By what.
        found: InUse,
    },
    /// Opened exclusively.
    #[error(
        "{path}: held exclusively by the kernel or another program: stop what uses it first (lsof, fuser and lsblk show what)"
    )]
    Busy {
        /// The path, and where it leads.
        path: String,
    },
    /// A process has it open for writing.
    #[error("{path}: {opened} is open for writing in process {pid} ({command}): stop that first")]
    Open {
        /// The path, and where it leads.
        path: String,
        /// What the process has open: this, or its disk, or a partition of it.
        opened: String,
        /// The process.
        pid: u32,
        /// Its name.
        command: String,
    },
    /// Another process holds a lock on the file.
    #[error("{path}: locked by another process, such as another run of plimsoll: wait for that, or stop it first")]
    Locked {
        /// The path, and where it leads.
        path: String,
    },
    /// It carries something known.
    #[error("{path}: carries {signature}: {remedy}")]
    Carries {
        /// The path, and where it leads.
        path: String,
        /// What.
        signature: Signature,
        /// What to do.
        remedy: String,
    },
    /// The path led elsewhere from one moment to the next.
    #[error("{path}: changed while it was examined: find out what replaces it, and try again")]
    Changed {
        /// The path, and where it leads.
        path: String,
    },
    /// What is not known is not written to.
    #[error("{path}: cannot find out {}, so nothing is written to it", what.name())]
    Unknown {
        /// The path, and where it leads.
        path: String,
        /// What.
        what: Unknown,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
}

impl Refusal {
    pub(super) fn unknown(path: &str, what: Unknown, source: io::Error) -> Self {
        Self::Unknown { path: path.to_owned(), what, source }
    }
}

/// What to do about a signature: plimsoll never does it itself.
pub(super) fn clearing(subject: &Subject, signature: &Signature) -> String {
    let path = shown(&subject.path);
    let how = match (subject.kind, signature.family) {
        (SubjectKind::File, _) => "delete the file, and give its directory instead".to_owned(),
        // wipefs knows the others.
        (_, Family::Database | Family::Image | Family::Other) => {
            format!("clear it with dd if=/dev/zero of={path} bs=4096 seek={} count=1", signature.offset / 4096)
        }
        // A partition table in a partition is something that wipefs wants to be told twice.
        (_, Family::PartitionTable) => format!("wipe it with wipefs -a {path} (-a -f on a partition)"),
        _ => format!("wipe it with wipefs -a {path}"),
    };
    format!("if its data may be lost, {how}: plimsoll never does")
}

//! Why a request was refused, and why a service cannot begin.

use std::io;
use std::path::PathBuf;

use plimsoll_front::{DirectoryError, EditFailed, Ended};
use plimsoll_units::Bytes;
use plimsoll_volume::{EditError, Errno, NotServed, Unrecoverable};

/// A request that was refused; nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// What kind of reason.
    pub kind: Kind,
    /// One line: what is wrong, and what to do.
    pub message: String,
}

/// Kinds of reasons, as HTTP tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It contradicts itself, the catalogue or what a volume can do: 400.
    Bad,
    /// There is no volume or group of that name: 404.
    NotFound,
    /// The name is taken, or the volume is in use: 409.
    Conflict,
    /// The store is full: 507.
    NoSpace,
    /// The service failed: 500.
    Failed,
}

/// A service cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its directory cannot be made.
    #[error("making the data directory {}", directory.display())]
    Make {
        /// Which.
        directory: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// Its directory cannot be opened.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// It has lost what was durable.
    #[error("the data directory {} is damaged, and nothing in it was changed: {why}", directory.display())]
    Damaged {
        /// Which.
        directory: PathBuf,
        /// What is lost, which volumes that concerns, and the remedy.
        why: String,
    },
    /// What is in it is no store.
    #[error("the data directory {}", directory.display())]
    Store {
        /// Which.
        directory: PathBuf,
        /// Why.
        #[source]
        source: Unrecoverable,
    },
    /// What is remembered of a volume cannot be read.
    #[error("what the data directory {} says of volume {volume} cannot be read: {why}", directory.display())]
    Remembered {
        /// Where.
        directory: PathBuf,
        /// Its number in the store.
        volume: u32,
        /// Why.
        why: String,
    },
    /// The kernel gives no ring.
    #[error(
        "starting the ring that serves clients (io_uring; it may be switched off: sysctl kernel.io_uring_disabled)"
    )]
    Ring(#[source] io::Error),
    /// The thread that lets volumes live cannot be started.
    #[error("starting a thread")]
    Thread(#[source] io::Error),
}

impl Refusal {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(Kind::Bad, message)
    }

    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(Kind::Conflict, message)
    }

    /// What the store says of an edit of a volume.
    pub(crate) fn of_edit(name: &str, error: &EditFailed) -> Self {
        match error {
            EditFailed::Refused(refused) => Self::of_store(name, refused),
            EditFailed::NotDurable(Errno::NoSpc) => {
                Self::new(Kind::NoSpace, "the filesystem of the data directory is full: make room and try again")
            }
            EditFailed::NotDurable(errno) => Self::new(
                Kind::Failed,
                format!("the data directory failed ({errno}): look at its disk, then start again"),
            ),
            EditFailed::Ended(ended) => Self::from(ended),
        }
    }

    fn of_store(name: &str, error: &EditError) -> Self {
        let (kind, message) = match error {
            EditError::Shrinks { present, asked } => (
                Kind::Bad,
                format!("{name} has {}, and a volume only grows: {} is less", shown(*present), shown(*asked)),
            ),
            EditError::Size { asked, most } => {
                (Kind::Bad, format!("a volume has 1 byte to {}, not {}", shown(*most), shown(*asked)))
            }
            EditError::ReadOnly(_) => {
                (Kind::Bad, format!("{name} is a snapshot, which never changes: clone it and change the clone"))
            }
            EditError::Itself(_) => (Kind::Bad, format!("{name} cannot be restored from itself: name its snapshot")),
            EditError::InUse(_) => (
                Kind::Conflict,
                format!("{name} is in use by requests or another change: try again when they have ended"),
            ),
            EditError::TooMany { most, of } => (Kind::Conflict, format!("the store takes at most {most} {of}")),
            EditError::Unknown(_) | EditError::Failed => (Kind::Failed, error.to_string()),
        };
        Self::new(kind, message)
    }
}

/// Bytes for people.
pub(crate) fn shown(bytes: u64) -> Bytes {
    Bytes::new(bytes)
}

impl From<&Ended> for Refusal {
    fn from(_: &Ended) -> Self {
        Self::new(Kind::Failed, "the service is stopping")
    }
}

impl From<Ended> for Refusal {
    fn from(ended: Ended) -> Self {
        Self::from(&ended)
    }
}

impl From<NotServed> for Refusal {
    fn from(not: NotServed) -> Self {
        Self::new(Kind::Failed, not.to_string())
    }
}

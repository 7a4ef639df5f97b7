//! Refusals of requests, and failures of the start.

use std::io;
use std::path::PathBuf;

use plimsoll_front::{DirectoryError, EditFailed, ServerEnded};
use plimsoll_language::{label, say};
use plimsoll_units::Bytes;
use plimsoll_volume::{EditError, Errno, NotServed, Unrecoverable};

use crate::api::TooFast;

/// A refused request; nothing was changed.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    pub kind: RefusalKind,
    /// Cause and remedy, in one line.
    pub message: String,
    pub too_fast: Option<TooFast>,
}

/// Kinds of refusals, with their HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// Invalid, or in conflict with the catalogue or the volume's abilities: 400.
    Bad,
    /// Unknown volume or group: 404.
    NotFound,
    /// The name exists, or the volume is in use: 409.
    Conflict,
    /// The store is full: 507.
    NoSpace,
    /// The store does not accept changes or does not make them durable: 503.
    Unavailable,
    /// Internal failure: 500.
    Failed,
}

/// A failed start of a service.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The data directory cannot be created.
    #[error("making the data directory {}", directory.display())]
    Make {
        directory: PathBuf,
        /// Error of the system.
        #[source]
        source: io::Error,
    },
    /// The data directory cannot be opened.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The log has lost durable commits.
    #[error("the data directory {} is damaged, and nothing in it was changed: {why}", directory.display())]
    Damaged {
        directory: PathBuf,
        /// Loss, affected volumes, and remedy.
        why: String,
    },
    /// The content of the log is inconsistent.
    #[error("the data directory {}", directory.display())]
    Store {
        directory: PathBuf,
        #[source]
        source: Unrecoverable,
    },
    #[error("the metadata of volume {volume} in the data directory {} are unreadable: {why}", directory.display())]
    VolumeMetadata {
        directory: PathBuf,
        /// Number of the volume in the store.
        volume: u32,
        why: String,
    },
    /// The kernel provides no `io_uring`.
    #[error(
        "starting the ring that serves clients (io_uring; it may be switched off: sysctl kernel.io_uring_disabled)"
    )]
    Ring(#[source] io::Error),
    /// The automation thread cannot be started.
    #[error("starting a thread")]
    Thread(#[source] io::Error),
}

impl Refusal {
    pub(crate) fn new(kind: RefusalKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), too_fast: None }
    }

    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(RefusalKind::Bad, message)
    }

    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(RefusalKind::Conflict, message)
    }

    /// Refusal for a failed edit of a volume.
    pub(crate) fn of_edit(name: &str, error: &EditFailed) -> Self {
        match error {
            EditFailed::Refused(refused) => Self::of_store(name, refused),
            EditFailed::NotDurable(Errno::NoSpc) => Self::new(
                RefusalKind::NoSpace,
                label!("the filesystem of the data directory is full: make room and try again"),
            ),
            EditFailed::NotDurable(errno) => Self::new(
                RefusalKind::Failed,
                say!("the data directory failed ({errno}): look at its disk, then start again"),
            ),
            EditFailed::Ended(ended) => Self::from(ended),
        }
    }

    fn of_store(name: &str, error: &EditError) -> Self {
        let (kind, message) = match error {
            EditError::Shrinks { present, requested } => (
                RefusalKind::Bad,
                say!("{name} has {}, and a volume only grows: {} is less", exact(*present), exact(*requested)),
            ),
            EditError::Size { requested, max } => {
                (RefusalKind::Bad, say!("a volume has 1 byte to {}, not {}", display(*max), display(*requested)))
            }
            EditError::ReadOnly(_) => {
                (RefusalKind::Bad, say!("{name} is a snapshot, which never changes: clone it and change the clone"))
            }
            EditError::Itself(_) => {
                (RefusalKind::Bad, say!("{name} cannot be restored from itself: name its snapshot"))
            }
            EditError::InUse(_) => (
                RefusalKind::Conflict,
                say!("{name} is in use by requests or another change: try again when they have ended"),
            ),
            EditError::TooMany { max, of } => (RefusalKind::Conflict, say!("the store takes at most {max} {of}")),
            EditError::Unknown(_) | EditError::NoStore | EditError::Failed => (RefusalKind::Failed, error.to_string()),
        };
        Self::new(kind, message)
    }
}

/// A size, with its bytes if it is rounded: `300 MiB (314782516 B)`.
pub(crate) fn exact(bytes: u64) -> String {
    let rounded = display(bytes).to_string();
    if rounded.parse() == Ok(Bytes::new(bytes)) { rounded } else { format!("{rounded} ({bytes} B)") }
}

/// Formats bytes for messages.
pub(crate) fn display(bytes: u64) -> Bytes {
    Bytes::new(bytes)
}

impl From<&ServerEnded> for Refusal {
    fn from(_: &ServerEnded) -> Self {
        Self::new(RefusalKind::Failed, label!("the service is stopping"))
    }
}

impl From<ServerEnded> for Refusal {
    fn from(ended: ServerEnded) -> Self {
        Self::from(&ended)
    }
}

impl From<NotServed> for Refusal {
    fn from(not: NotServed) -> Self {
        Self::new(RefusalKind::Failed, not.to_string())
    }
}

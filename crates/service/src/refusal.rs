//! Why a request was refused, and why a service cannot begin.

use std::io;
use std::path::PathBuf;

use plimsoll_front::DirectoryError;
use plimsoll_volume::Unrecoverable;

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

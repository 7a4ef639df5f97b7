//! Errors of emulated volumes for a run.

use std::fmt::Display;
use std::io;

use crate::block_device::AttachError;
use crate::client::ClientError;

/// An emulated volume could not be created or used.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// Invalid request: a message with the remedy.
    #[error("{0}")]
    Refused(String),
    /// The user ended the run.
    #[error("interrupted")]
    Interrupted,
    /// The service ended before its first response; with its last message.
    #[error("the service of the emulated volume does not start: {0}")]
    NotStarted(String),
    /// System error.
    #[error("{attempt}")]
    Io {
        /// The failed operation and its object.
        attempt: String,
        /// The system error.
        source: io::Error,
    },
    /// The volume could not be attached or detached.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// The service failed or refused a request.
    #[error(transparent)]
    Client(#[from] ClientError),
}

impl StageError {
    pub(super) fn io(attempt: impl Display, source: io::Error) -> Self {
        Self::Io { attempt: attempt.to_string(), source }
    }
}

//! Errors of emulated volumes for a run.

use std::fmt::Display;
use std::io;

use plimsoll_units::Span;

use crate::api::TooFast;
use crate::block_device::AttachError;
use crate::client::ClientError;

/// An emulated volume could not be created or used.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// Invalid request: a message with the remedy.
    #[error("{0}")]
    Refused(String),
    #[error(
        "--like {like} answers after {response}, and timers of this host are late by {late} as a rule: add --slow \
         {slow_times} to run the model {slow_times} times slower"
    )]
    TooFast { like: String, response: Span, late: Span, slow_times: u64 },
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
    pub(super) fn too_fast(like: &str, figures: TooFast) -> Self {
        let [response, late] = [figures.response_ns, figures.timer_p50_ns].map(Span::from_nanos);
        Self::TooFast { like: like.to_owned(), response, late, slow_times: figures.slow_times }
    }

    pub(super) fn io(attempt: impl Display, source: io::Error) -> Self {
        Self::Io { attempt: attempt.to_string(), source }
    }
}

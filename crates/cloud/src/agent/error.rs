//! Errors of the agent.

use std::fmt::Display;
use std::io;

use plimsoll_service::client::ClientError;

/// The attachments of an instance could not be synchronised.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The metadata service failed or refused the request.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A program failed, or the host is not in the expected state: a message.
    #[error("{0}")]
    Host(String),
    /// System error.
    #[error("{attempt}")]
    Io {
        /// The failed operation and its object.
        attempt: String,
        /// The system error.
        source: io::Error,
    },
    #[error("{step}")]
    Step { step: String, source: Box<Self> },
}

impl AgentError {
    pub(super) fn host(message: impl Display) -> Self {
        Self::Host(message.to_string())
    }

    /// For `map_err`: a failed operation.
    pub(super) fn io(attempt: impl Display) -> impl FnOnce(io::Error) -> Self {
        let attempt = attempt.to_string();
        move |source| Self::Io { attempt, source }
    }

    /// For `map_err`: a failed step.
    pub(super) fn step(step: impl Display) -> impl FnOnce(Self) -> Self {
        let step = step.to_string();
        move |source| Self::Step { step, source: Box::new(source) }
    }
}

/// An error with its causes.
pub fn describe(error: &dyn std::error::Error) -> String {
    std::iter::successors(error.source(), |cause| cause.source())
        .fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

//! Errors of measurements.

use std::io;

use plimsoll_drive::Fault;

/// Error of a measurement.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// Invalid request: a message with the remedy. No operation was executed.
    #[error("{0}")]
    Usage(String),
    /// The target failed before its first result.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The latency floor of this host could not be measured.
    #[error(transparent)]
    Floor(io::Error),
    /// The filesystem accepted less data than the load needs.
    #[error("{0}: too little could be written to a file there (see dmesg)")]
    ScratchTooSmall(String),
    /// A source of counters failed: a message.
    #[error("{0}")]
    Source(String),
    /// No operation completed.
    #[error("no operation completed in the given time: use a longer --duration")]
    NoOperation,
    /// The user ended the measurement before its first result.
    #[error("interrupted")]
    Interrupted,
}

impl MeasureError {
    /// An invalid request.
    pub fn usage(message: impl std::fmt::Display) -> Self {
        Self::Usage(message.to_string())
    }
}

/// An error with its causes.
pub(crate) fn describe(error: &dyn std::error::Error) -> String {
    std::iter::successors(error.source(), |cause| cause.source())
        .fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

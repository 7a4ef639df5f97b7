//! Errors of measurements.

use std::io;

use plimsoll_drive::Fault;
use plimsoll_units::Span;

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
    /// A file could not be read or written, or no input is usable: a message.
    #[error("{0}")]
    File(String),
    /// A source of counters failed: a message.
    #[error("{0}")]
    Source(String),
    #[error(
        "{name}: {error}: check the context of kubectl and --namespace, and that the Job exists and its pod has started"
    )]
    JobLog { name: String, error: String },
    /// The connection to a source of counters was lost: the file of the snapshots until then.
    #[error("connection to the server lost: {0} has the snapshots until then")]
    ConnectionLost(String),
    #[error("no operation completed in the given time: use a longer --duration")]
    NoOperation,
    #[error("the first target has no load line: use --objective, or a longer --duration")]
    NoFirstLine,
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

/// Reasons why a load was not executed, as sources of a fault.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum LoadFailure {
    #[error("the region of a stream is smaller than an operation")]
    SmallRegion,
    #[error("a host failed: check that the path exists with this size on each host")]
    Host,
    #[error("still running after {0} s: check whether the storage responds")]
    StillRunning(u64),
    #[error("no completion within {0}: use a longer --duration if the storage is that slow")]
    NoCompletion(Span),
}

/// An error with its causes.
pub(crate) fn describe(error: &dyn std::error::Error) -> String {
    std::iter::successors(error.source(), |cause| cause.source())
        .fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

//! Errors of measurements.

/// Error of a measurement.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// Invalid request: a message with the remedy. No operation was executed.
    #[error("{0}")]
    Usage(String),
}

impl MeasureError {
    /// An invalid request.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }
}

//! Failures of databases.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// No server answers at the address.
    Unreachable,
    /// Access denied: user, password or privileges.
    Refused,
    /// The database, table or function does not exist.
    Missing,
    /// The object exists already.
    Exists,
    SystemDatabase,
    /// There is no space left.
    NoSpace,
    /// A write in a read-only session, file or server.
    ReadOnly,
    /// The server version is not supported.
    TooOld,
    /// Deadlock, serialization failure or lock timeout: the transaction may be retried.
    Conflict,
    /// Cancelled by [`crate::Cancel`].
    Cancelled,
    /// The connection was lost: the server ended or was stopped.
    Lost,
    /// The statement itself failed.
    Statement,
    /// Not supported with this system, or the driver is not built in.
    Unsupported,
}

/// A failed operation on a database.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub kind: FailureKind,
    /// One line with the attempt, the message of the server, and the remedy if known. No passwords.
    pub message: String,
}

impl Failure {
    /// Creates a failure.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// Prepends the attempt to the message.
    pub fn during(self, attempt: &str) -> Self {
        Self { message: format!("{attempt}: {}", self.message), ..self }
    }
}

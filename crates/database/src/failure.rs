//! What a database says when it does not do what it was asked.

/// What a failure means for who asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No server answers there.
    Unreachable,
    /// It answers, and does not let one in: user, password, or rights.
    Refused,
    /// There is no such database, table or function.
    Missing,
    /// It is there already.
    Exists,
    /// The database is the server's own.
    SystemDatabase,
    /// There is no space left.
    NoSpace,
    /// The session, the file or the server only reads, and the statement writes.
    ReadOnly,
    /// The server is older than what is needed.
    TooOld,
    /// A deadlock, a serialization failure, or a lock that was waited for too long: the transaction may be tried again.
    Conflict,
    /// It was cancelled by [`crate::Cancel`].
    Cancelled,
    /// The connection was lost in the middle: the server ended, or was ended.
    Lost,
    /// The statement itself failed.
    Statement,
    /// This program cannot do it with this system, or was built without it.
    Unsupported,
}

/// A database did not do what it was asked.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What it means.
    pub kind: Kind,
    /// One line: what was attempted, what the server said, and what to do where that is known. No passwords.
    pub message: String,
}

impl Failure {
    /// A failure with its line.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// The same with what was attempted before it.
    pub fn during(self, attempt: &str) -> Self {
        Self { message: format!("{attempt}: {}", self.message), ..self }
    }
}

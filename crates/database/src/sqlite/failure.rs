//! Failures of SQLite.

use plimsoll_language::{label, say};
use rusqlite::{Error, ErrorCode};

use crate::failure::{Failure, FailureKind};

/// Maximum length of a statement in a message.
const SHOWN: usize = 120;

/// Messages for missing objects.
const MISSING: [&str; 5] = ["no such table", "no such view", "no such index", "no such trigger", "no such function"];

pub(super) fn of_statement(error: &Error, sql: &str) -> Failure {
    let kind = classify(error);
    let hint = match kind {
        FailureKind::NoSpace => label!(": free some space, or choose a smaller scale"),
        FailureKind::Conflict => label!(": try the transaction again"),
        _ => "",
    };
    let message = match error {
        // The full text repeats the statement, with the offset of the error.
        Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    };
    Failure::new(kind, say!("SQLite: {message}, in {}{hint}", display(sql)))
}

/// Failure to open a file.
pub(super) fn of_opening(error: &Error, file: &std::path::Path) -> Failure {
    let kind = match classify(error) {
        FailureKind::Statement => FailureKind::Unreachable,
        other => other,
    };
    Failure::new(kind, format!("{}: SQLite: {error}", file.display()))
}

/// A statement shortened to a single line.
fn display(sql: &str) -> String {
    let line = sql.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

fn classify(error: &Error) -> FailureKind {
    // The generic error code: only the message distinguishes the cause.
    let (code, message) = match error {
        Error::SqliteFailure(error, message) => (error.code, message.as_deref().unwrap_or_default()),
        Error::SqlInputError { error, msg, .. } => (error.code, msg.as_str()),
        _ => return FailureKind::Statement,
    };
    match code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => FailureKind::Conflict,
        ErrorCode::DiskFull => FailureKind::NoSpace,
        ErrorCode::OperationInterrupted => FailureKind::Cancelled,
        ErrorCode::PermissionDenied => FailureKind::Refused,
        ErrorCode::ReadOnly => FailureKind::ReadOnly,
        ErrorCode::SystemIoFailure => FailureKind::Lost,
        ErrorCode::CannotOpen | ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt => FailureKind::Unreachable,
        ErrorCode::Unknown if MISSING.iter().any(|words| message.starts_with(words)) => FailureKind::Missing,
        ErrorCode::Unknown if message.ends_with(" already exists") => FailureKind::Exists,
        _ => FailureKind::Statement,
    }
}

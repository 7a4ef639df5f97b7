//! What SQLite's failures mean.
//!
//! Knows nothing about sessions: it reads codes.

use rusqlite::{Error, ErrorCode};

use crate::failure::{Failure, Kind};

/// As much of a statement as a line of an error has room for.
const SHOWN: usize = 120;

/// The failure of a statement.
pub(super) fn of_statement(error: &Error, sql: &str) -> Failure {
    let kind = kind(error);
    let hint = match kind {
        Kind::NoSpace => ": free some space, or choose a smaller scale",
        Kind::Conflict => ": try the transaction again",
        _ => "",
    };
    Failure::new(kind, format!("SQLite says: {error}, of {}{hint}", shown(sql)))
}

/// The failure to open a file.
pub(super) fn of_opening(error: &Error, file: &std::path::Path) -> Failure {
    let kind = match kind(error) {
        Kind::Statement => Kind::Unreachable,
        other => other,
    };
    Failure::new(kind, format!("{}: SQLite says: {error}", file.display()))
}

/// One line of a statement, without what follows it.
fn shown(sql: &str) -> String {
    let line = sql.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

fn kind(error: &Error) -> Kind {
    let message = match error {
        Error::SqliteFailure(_, message) => message.as_deref(),
        Error::SqlInputError { msg, .. } => Some(msg.as_str()),
        _ => None,
    }
    .unwrap_or_default();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Kind::Conflict,
        Some(ErrorCode::DiskFull) => Kind::NoSpace,
        Some(ErrorCode::OperationInterrupted) => Kind::Cancelled,
        Some(ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => Kind::Refused,
        Some(ErrorCode::SystemIoFailure) => Kind::Lost,
        Some(ErrorCode::CannotOpen | ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Kind::Unreachable,
        // Its code says no more than "an error": which one stands in the text alone.
        Some(ErrorCode::Unknown) if message.starts_with("no such ") => Kind::Missing,
        Some(ErrorCode::Unknown) if message.ends_with(" already exists") => Kind::Exists,
        _ => Kind::Statement,
    }
}

//! Failures from the server's and the driver's error codes, with remedies.

use std::io::ErrorKind;

use mysql::{DriverError, Error, MySqlError};
use plimsoll_language::{label, say};

use crate::failure::{Failure, FailureKind};

/// Failure of a statement or of its connection.
pub(super) fn convert_error(error: &Error) -> Failure {
    match error {
        Error::MySqlError(error) => server_failure(error),
        Error::IoError(error) => lost(&error.to_string()),
        Error::CodecError(error) => lost(&error.to_string()),
        Error::DriverError(DriverError::ConnectTimeout | DriverError::CouldNotConnect(_)) => {
            lost(label!("no connection"))
        }
        other => Failure::new(FailureKind::Statement, one_line(&other.to_string())),
    }
}

/// Failure of a connection attempt.
pub(super) fn connecting(error: &Error, server: &str) -> Failure {
    match error {
        Error::MySqlError(error) => server_failure(error).during(server),
        Error::DriverError(DriverError::CouldNotConnect(Some((place, why, ErrorKind::PermissionDenied)))) => {
            failed(FailureKind::Refused, server, &format!("{place}: {why}"), label!("come as a user who may open it"))
        }
        Error::DriverError(DriverError::CouldNotConnect(Some((place, why, _)))) => failed(
            FailureKind::Unreachable,
            server,
            &format!("{place}: {}", one_line(why)),
            label!("see that the server runs, and that host and port are right, or name its socket with ?socket=PATH"),
        ),
        Error::DriverError(DriverError::UnknownAuthPlugin(name)) => failed(
            FailureKind::Refused,
            server,
            &say!("this user logs in by {name}, which is not known here"),
            label!("come as a user with a password"),
        ),
        Error::DriverError(error) => failed(
            FailureKind::Unreachable,
            server,
            &one_line(&error.to_string()),
            label!("see that a MySQL or MariaDB server answers there"),
        ),
        other => failed(
            FailureKind::Unreachable,
            server,
            &one_line(&other.to_string()),
            label!("see that the server runs, and its log"),
        ),
    }
}

/// Message with place, cause and remedy, in one line.
pub(super) fn failed(kind: FailureKind, place: &str, what: &str, remedy: &str) -> Failure {
    Failure::new(kind, format!("{place}: {what}: {remedy}"))
}

fn lost(why: &str) -> Failure {
    let why = one_line(why);
    Failure::new(FailureKind::Lost, say!("the connection was lost: {why}: see the server's error log"))
}

fn server_failure(error: &MySqlError) -> Failure {
    let (kind, remedy) = meaning(error.code, &error.message);
    let remedy = if remedy.is_empty() { String::new() } else { format!(": {remedy}") };
    Failure::new(kind, say!("{} (error {}){remedy}", one_line(&error.message), error.code))
}

/// Kind and remedy of an error code. Codes below 1900 are common to both systems; later codes are specific.
fn meaning(code: u16, message: &str) -> (FailureKind, &'static str) {
    let more_space = label!("free some space, or name a larger place");
    match code {
        1045 | 1698 => (FailureKind::Refused, label!("check user and password, in the address or in MYSQL_PWD")),
        1040 | 1203 | 1226 => (FailureKind::Refused, label!("raise max_connections, or use fewer sessions")),
        1129 | 1130 => (FailureKind::Refused, label!("let this host in")),
        1044 | 1142 | 1143 | 1227 | 1370 | 1410 | 1419 => {
            (FailureKind::Refused, label!("grant that right to the user"))
        }
        1792 => (FailureKind::ReadOnly, ""),
        1290 | 1836 => (FailureKind::Refused, label!("set the server read-write")),
        3159 => (FailureKind::Unsupported, label!("use the server's Unix socket, or set require_secure_transport=OFF")),
        1049 | 1051 | 1109 | 1146 | 1305 | 1360 | 1539 | 4091 => {
            (FailureKind::Missing, label!("check its name, or create it"))
        }
        1007 | 1050 | 1061 | 1304 | 1359 | 1537 => (FailureKind::Exists, label!("drop it, or choose another name")),
        3 | 1021 | 1026 | 1114 => (FailureKind::NoSpace, more_space),
        // Error number of the storage engine: no space, or a table at its maximum size.
        1030 if message.split_whitespace().any(|word| ["28", "135", "136"].contains(&word)) => {
            (FailureKind::NoSpace, more_space)
        }
        1020 | 1205 | 1213 | 1614 | 3572 => (FailureKind::Conflict, label!("try the transaction again")),
        1317 => (FailureKind::Cancelled, ""),
        1053 | 1080 | 1152 | 1158..=1161 | 1184 | 1927 | 2006 | 2013 | 2055 | 3169 | 4031 => {
            (FailureKind::Lost, label!("see the server's error log"))
        }
        1461 => (FailureKind::Statement, label!("raise max_prepared_stmt_count")),
        1153 => (FailureKind::Statement, label!("raise max_allowed_packet")),
        _ => (FailureKind::Statement, ""),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_codes_have_documented_kinds() {
        let check = |code, message: &str, kind| {
            let error = MySqlError { state: "HY000".into(), message: message.into(), code };
            let failure = convert_error(&Error::MySqlError(error));
            assert_eq!(failure.kind, kind, "{failure}");
            assert!(!failure.message.contains('\n') && failure.message.contains(&code.to_string()), "{failure}");
        };
        check(1213, "Deadlock found when trying to get lock;\ntry restarting transaction", FailureKind::Conflict);
        check(1205, "Lock wait timeout exceeded", FailureKind::Conflict);
        check(1044, "Access denied", FailureKind::Refused);
        check(1146, "Table 'a.b' doesn't exist", FailureKind::Missing);
        check(1304, "PROCEDURE p already exists", FailureKind::Exists);
        check(1030, "Got error 28 \"No space left on device\" from storage engine InnoDB", FailureKind::NoSpace);
        check(1030, "Got error 128 from storage engine", FailureKind::Statement);
        check(1317, "Query execution was interrupted", FailureKind::Cancelled);
        check(2013, "Lost connection", FailureKind::Lost);
        check(1064, "You have an error in your SQL syntax", FailureKind::Statement);
    }
}

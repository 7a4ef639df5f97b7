//! Failures from PostgreSQL's and the system's error codes.

use std::io;

use plimsoll_language::{label, say};

use crate::failure::{Failure, FailureKind};

#[derive(Clone, Debug, Default)]
pub(super) struct ServerError {
    pub(super) code: String,
    pub(super) message: String,
    pub(super) detail: Option<String>,
    pub(super) hint: Option<String>,
}

impl ServerError {
    /// Parses the fields of an error: a letter and a NUL-terminated text each.
    pub(super) fn read(body: &[u8]) -> Self {
        let mut error = Self::default();
        let fields = body.split(|byte| *byte == 0).filter_map(|field| field.split_first());
        for (letter, text) in fields {
            let text = String::from_utf8_lossy(text).split_whitespace().collect::<Vec<_>>().join(" ");
            match letter {
                b'C' => error.code = text,
                b'M' => error.message = text,
                b'D' => error.detail = Some(text),
                b'H' => error.hint = Some(text),
                _ => {}
            }
        }
        error
    }

    /// Failure of a connected session.
    pub(super) fn failure(&self) -> Failure {
        let mut line = format!("PostgreSQL: {} ({})", self.message, self.code);
        let (kind, remedy) = meaning(&self.code);
        for more in [&self.detail, &self.hint].into_iter().flatten() {
            line.push_str(&format!("; {}", more.trim_end_matches('.')));
        }
        if let Some(remedy) = remedy {
            line.push_str(&format!(": {remedy}"));
        }
        Failure::new(kind, line)
    }

    /// Failure of a connection attempt.
    pub(super) fn refusal(&self) -> Failure {
        let remedy = match self.code.as_str() {
            "57P03" => {
                let line = say!("PostgreSQL: {}: wait until it has started", self.message);
                return Failure::new(FailureKind::Unreachable, line);
            }
            "28P01" => label!("set PGPASSWORD, or put the right password into the URL"),
            // The message describes the connection; the missing rule may be a rule with TLS.
            "28000" if self.message.contains("no encryption") || self.message.contains("SSL off") => {
                label!(
                    "plimsoll speaks no TLS with PostgreSQL: allow a `host` line in pg_hba.conf, or use a Unix socket or an SSH tunnel"
                )
            }
            "28000" => label!("name another user in the URL or PGUSER, or allow this one in pg_hba.conf"),
            "53300" => label!("raise max_connections, or ask for fewer sessions"),
            _ => return self.failure(),
        };
        Failure::new(FailureKind::Refused, format!("PostgreSQL: {}: {remedy}", self.message))
    }
}

/// Kind of an error, and its remedy if known.
fn meaning(code: &str) -> (FailureKind, Option<&'static str>) {
    match code {
        "25006" => (FailureKind::ReadOnly, None),
        "40001" | "40P01" | "55P03" => (FailureKind::Conflict, None),
        "53100" => (FailureKind::NoSpace, Some(label!("free space where the server's data are, or ask for less data"))),
        "57014" => (FailureKind::Cancelled, None),
        "57P01" | "57P02" | "57P03" | "57P05" | "08000" | "08003" | "08006" => {
            (FailureKind::Lost, Some(label!("see the server's log")))
        }
        "42501" => (FailureKind::Refused, Some(label!("grant the right to this user, or name another one"))),
        "3D000" | "42P01" | "42883" | "42704" | "3F000" => (FailureKind::Missing, None),
        "42P04" | "42P06" | "42P07" | "42710" | "42723" => (FailureKind::Exists, None),
        "53200" => (FailureKind::Statement, Some(label!("give the server more memory"))),
        _ if code.starts_with("28") => (FailureKind::Refused, None),
        _ => (FailureKind::Statement, None),
    }
}

/// A broken connection.
pub(super) fn lost(error: &io::Error) -> Failure {
    let why = match error.kind() {
        io::ErrorKind::UnexpectedEof => label!("the server closed it").to_owned(),
        _ => error.to_string(),
    };
    Failure::new(FailureKind::Lost, say!("the connection to PostgreSQL was lost: {why}: see the server's log"))
}

pub(super) fn unreachable(place: &str, error: &io::Error) -> Failure {
    let why = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            let line =
                say!("{place}: this user may not connect there: run plimsoll as a permitted user, or name a host");
            return Failure::new(FailureKind::Refused, line);
        }
        io::ErrorKind::WouldBlock => label!("it does not answer in time").to_owned(),
        _ => error.to_string(),
    };
    Failure::new(
        FailureKind::Unreachable,
        say!("no PostgreSQL answers at {place}: {why}: start it, or correct the address"),
    )
}

/// Protocol violation.
pub(super) fn garbled(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, say!("{what}: not a PostgreSQL server"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlstates_have_kinds() {
        let check = |code: &str, kind| {
            assert_eq!(ServerError { code: code.into(), ..ServerError::default() }.failure().kind, kind);
        };
        check("40001", FailureKind::Conflict);
        check("40P01", FailureKind::Conflict);
        check("55P03", FailureKind::Conflict);
        check("53100", FailureKind::NoSpace);
        check("57014", FailureKind::Cancelled);
        check("57P01", FailureKind::Lost);
        check("28P01", FailureKind::Refused);
        check("42P01", FailureKind::Missing);
        check("42P07", FailureKind::Exists);
        check("23505", FailureKind::Statement);
    }

    #[test]
    fn message_is_one_line_with_remedy() {
        let error = ServerError::read(b"SFATAL\0C28P01\0Mpassword authentication\nfailed for user \"a\"\0\0");
        let failure = error.refusal();
        assert_eq!(failure.kind, FailureKind::Refused);
        assert_eq!(
            failure.message,
            "PostgreSQL: password authentication failed for user \"a\": set PGPASSWORD, or put the right password into the URL"
        );
        let error = ServerError::read(b"C53100\0Mcould not extend file\0HCheck free disk space.\0\0").failure();
        assert!(error.message.contains("; Check free disk space: free space"), "{error}");
        let tls = ServerError::read(b"C28000\0Mno pg_hba.conf entry for host \"::1\", user \"a\", no encryption\0\0")
            .refusal();
        assert!(tls.kind == FailureKind::Refused && tls.message.contains("no TLS"), "{tls}");
        assert_eq!(
            ServerError::read(b"C57P03\0Mthe database system is starting up\0\0").refusal().kind,
            FailureKind::Unreachable
        );
    }
}

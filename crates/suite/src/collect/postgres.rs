//! Counters of a PostgreSQL server through psql. The queries are in `plimsoll-database`.

use std::ffi::{OsStr, OsString};
use std::process::Command;

use plimsoll_database::postgres::collected;
use plimsoll_language::{label, say};
use serde_json::{Map, Value};

use super::client::Client;
use super::{CounterSource, SourceError};

/// End marker of an answer.
const END: &str = "plimsoll-end";

#[derive(Clone, Copy, Debug)]
pub struct PsqlConnection<'a> {
    /// Server in psql's syntax; by default from the environment.
    pub url: Option<&'a OsStr>,
    pub options: &'a [OsString],
    /// Name of the application; `None` for that of the environment.
    pub application_name: Option<&'a str>,
}

/// Counters of a server.
pub struct Postgres<'a> {
    connection: PsqlConnection<'a>,
    client: Option<Client>,
    query: String,
}

impl<'a> Postgres<'a> {
    /// Of the server of this connection.
    pub const fn new(connection: PsqlConnection<'a>) -> Self {
        Self { connection, client: None, query: String::new() }
    }

    fn command(&self) -> Command {
        let mut command = Command::new("psql");
        // No psqlrc, unaligned output, no password prompt.
        command.args(["-X", "-A", "-t", "-q", "-w", "-v", "ON_ERROR_STOP=1"]).args(self.connection.options);
        if let Some(url) = self.connection.url {
            command.arg("-d").arg(url);
        }
        if let Some(name) = self.connection.application_name {
            command.env("PGAPPNAME", name);
        }
        command
    }

    fn ask(&mut self, query: &str, stop: &dyn Fn() -> bool) -> Result<Map<String, Value>, SourceError> {
        let Some(client) = &mut self.client else {
            return Err(SourceError::Failed(label!("psql is not connected").to_owned()));
        };
        let answer = client.ask(&format!("{query}\nSELECT '{END}';\n"), END, stop);
        let lines = answer.inspect_err(|_| self.client = None)?;
        match serde_json::from_str(&lines.join(" ")) {
            Ok(Value::Object(object)) => Ok(object),
            _ => Err(SourceError::Failed(say!(
                "psql: unexpected answer {}: omit options that change the output",
                lines.join(" ")
            ))),
        }
    }
}

impl CounterSource for Postgres<'_> {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn connect(&mut self, stop: &dyn Fn() -> bool) -> Result<Map<String, Value>, SourceError> {
        let client = Client::start(self.command(), label!("install the package postgresql-client"))?;
        self.client = Some(client);
        let first =
            format!("SET default_transaction_read_only = on; SET statement_timeout = '30s';\n{}", collected::HEAD);
        let mut head = self.ask(&first, stop).map_err(with_remedy)?;
        let version = head.remove("num").and_then(|num| num.as_u64()).unwrap_or_default();
        let statements = head.remove("statements") == Some(Value::Bool(true));
        if version < 100_000 {
            return Err(SourceError::Failed(
                label!("the server is older than PostgreSQL 10: use plimsoll collect linux on its host").to_owned(),
            ));
        }
        self.query = collected::snapshot(version, statements);
        Ok(head)
    }

    fn missing(&self, sample: &Map<String, Value>) -> Option<&'static str> {
        (sample.get("server")?.get("track_io_timing")? == "off").then_some(label!(
            "track_io_timing is off: reads and writes are counted without durations, which diagnose \
             needs; stop, set it (ALTER SYSTEM SET track_io_timing = on; SELECT pg_reload_conf();), and collect again"
        ))
    }

    fn sample(&mut self, stop: &dyn Fn() -> bool) -> Result<Map<String, Value>, SourceError> {
        let query = self.query.clone();
        self.ask(&query, stop)
    }
}

fn with_remedy(error: SourceError) -> SourceError {
    match error {
        SourceError::Failed(why) if why.contains("password") => {
            SourceError::Failed(say!("{why}; set PGUSER and PGPASSWORD, or write the password to ~/.pgpass"))
        }
        SourceError::Failed(why) => SourceError::Failed(say!("{why}; test psql with the same URL or PG… variables")),
        SourceError::Stopped => SourceError::Stopped,
    }
}

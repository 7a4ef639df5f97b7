//! Counters of a PostgreSQL server through psql. The queries are in `plimsoll-database`.

use std::process::Command;

use plimsoll_database::postgres::collected;
use serde_json::{Map, Value};

use super::client::Client;
use super::{CounterSource, Lost};
use crate::args::CollectPostgres;

/// End marker of an answer.
const END: &str = "plimsoll-end";

pub(super) struct Postgres<'a> {
    args: &'a CollectPostgres,
    client: Option<Client>,
    query: String,
}

impl<'a> Postgres<'a> {
    pub(super) fn new(args: &'a CollectPostgres) -> Self {
        Self { args, client: None, query: String::new() }
    }

    fn command(&self) -> Command {
        let mut command = Command::new("psql");
        // No psqlrc, unaligned output, no password prompt.
        command.args(["-X", "-A", "-t", "-q", "-w", "-v", "ON_ERROR_STOP=1"]).args(&self.args.client);
        if let Some(url) = &self.args.url {
            command.arg("-d").arg(url);
        }
        if std::env::var_os("PGAPPNAME").is_none() {
            command.env("PGAPPNAME", "plimsoll");
        }
        command
    }

    fn ask(&mut self, query: &str, stop: &dyn Fn() -> bool) -> Result<Map<String, Value>, Lost> {
        let Some(client) = &mut self.client else { return Err(Lost::Why("psql is not connected".to_owned())) };
        let answer = client.ask(&format!("{query}\nSELECT '{END}';\n"), END, stop);
        let lines = answer.inspect_err(|_| self.client = None)?;
        match serde_json::from_str(&lines.join(" ")) {
            Ok(Value::Object(object)) => Ok(object),
            _ => Err(Lost::Why(format!(
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

    fn connect(&mut self, stop: &dyn Fn() -> bool) -> Result<Map<String, Value>, Lost> {
        let client = Client::start(self.command(), "install the package postgresql-client")?;
        self.client = Some(client);
        let first =
            format!("SET default_transaction_read_only = on; SET statement_timeout = '30s';\n{}", collected::HEAD);
        let mut head = self.ask(&first, stop).map_err(with_remedy)?;
        let version = head.remove("num").and_then(|num| num.as_u64()).unwrap_or_default();
        let statements = head.remove("statements") == Some(Value::Bool(true));
        if version < 100_000 {
            return Err(Lost::Why(
                "the server is older than PostgreSQL 10: use plimsoll collect linux on its host".to_owned(),
            ));
        }
        self.query = collected::snapshot(version, statements);
        Ok(head)
    }

    fn missing(&self, sample: &Map<String, Value>) -> Option<&'static str> {
        (sample.get("server")?.get("track_io_timing")? == "off").then_some(
            "track_io_timing is off: reads and writes are counted without durations, which diagnose \
             needs; stop, set it (ALTER SYSTEM SET track_io_timing = on; SELECT pg_reload_conf();), and collect again",
        )
    }

    fn sample(&mut self, stop: &dyn Fn() -> bool) -> Result<Map<String, Value>, Lost> {
        let query = self.query.clone();
        self.ask(&query, stop)
    }
}

fn with_remedy(lost: Lost) -> Lost {
    match lost {
        Lost::Why(why) if why.contains("password") => {
            Lost::Why(format!("{why}; set PGUSER and PGPASSWORD, or write the password to ~/.pgpass"))
        }
        Lost::Why(why) => Lost::Why(format!("{why}; test psql with the same URL or PG… variables")),
        Lost::Stopped => Lost::Stopped,
    }
}

//! Status variables of a MySQL or MariaDB server through its client.

use std::ffi::OsString;
use std::process::Command;

use plimsoll_database::mysql::snapshots;
use plimsoll_language::{label, say};
use serde_json::{Map, Value};

use super::client::Client;
use super::{CounterSource, SourceError};
use crate::snapshots::timestamp;

/// End marker of an answer.
const END: &str = "plimsoll-end";

/// Names of the client, in order of preference.
const CLIENTS: [&str; 2] = ["mariadb", "mysql"];

/// Status variables of a server.
pub struct Mysql<'a> {
    options: &'a [OsString],
    client: Option<Client>,
}

impl<'a> Mysql<'a> {
    /// Of the server that the client reaches with these options.
    pub const fn new(options: &'a [OsString]) -> Self {
        Self { options, client: None }
    }

    fn start(&self) -> Result<Client, SourceError> {
        let mut started = Err(SourceError::Failed(String::new()));
        for name in CLIENTS {
            let mut command = Command::new(name);
            // The client requires --defaults-file as the first option.
            command.args(self.options);
            command.args(["--batch", "--skip-column-names", "--unbuffered", "--skip-reconnect"]);
            started = Client::start(command, label!("install the package mariadb-client or mysql-client"));
            if started.is_ok() {
                break;
            }
        }
        started
    }

    fn ask(&mut self, query: &str, stop: &dyn Fn() -> bool) -> Result<Vec<String>, SourceError> {
        let Some(client) = &mut self.client else {
            return Err(SourceError::Failed(label!("the client is not connected").to_owned()));
        };
        let answer = client.ask(&format!("{query}\nSELECT '{END}';\n"), END, stop);
        answer.inspect_err(|_| self.client = None)
    }
}

impl CounterSource for Mysql<'_> {
    fn name(&self) -> &'static str {
        "mysql"
    }

    fn connect(&mut self, stop: &dyn Fn() -> bool) -> Result<Map<String, Value>, SourceError> {
        self.client = Some(self.start()?);
        let lines =
            self.ask(&format!("SET SESSION TRANSACTION READ ONLY;\n{}", snapshots::HEAD), stop).map_err(with_remedy)?;
        let line = lines.first().map(String::as_str).unwrap_or_default();
        snapshots::parse_head(line).ok_or_else(|| {
            SourceError::Failed(say!("unexpected answer {line:?}: omit client options that change the output"))
        })
    }

    fn sample(&mut self, stop: &dyn Fn() -> bool) -> Result<Map<String, Value>, SourceError> {
        let lines = self.ask(&snapshots::SAMPLE.join("\n"), stop)?;
        Ok(snapshots::parse_sample(lines.iter().map(String::as_str), timestamp))
    }
}

fn with_remedy(error: SourceError) -> SourceError {
    match error {
        SourceError::Failed(why) if why.contains("Access denied") => SourceError::Failed(say!(
            "{why}; use -- --user NAME, and the password in ~/.my.cnf or --defaults-file=FILE"
        )),
        SourceError::Failed(why) => SourceError::Failed(say!("{why}; test the client with the same options")),
        SourceError::Stopped => SourceError::Stopped,
    }
}

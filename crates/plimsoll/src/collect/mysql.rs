//! Status variables of a MySQL or MariaDB server through its client.

use std::process::Command;

use plimsoll_database::mysql::snapshots;
use plimsoll_suite::snapshots::timestamp;
use serde_json::{Map, Value};

use super::client::Client;
use super::{CounterSource, Lost};
use crate::args::CollectMysql;

/// End marker of an answer.
const END: &str = "plimsoll-end";

/// Names of the client, in order of preference.
const CLIENTS: [&str; 2] = ["mariadb", "mysql"];

pub(super) struct Mysql<'a> {
    args: &'a CollectMysql,
    client: Option<Client>,
}

impl<'a> Mysql<'a> {
    pub(super) const fn new(args: &'a CollectMysql) -> Self {
        Self { args, client: None }
    }

    fn start(&self) -> Result<Client, Lost> {
        let mut started = Err(Lost::Why(String::new()));
        for name in CLIENTS {
            let mut command = Command::new(name);
            // The client requires --defaults-file as the first option.
            command.args(&self.args.client);
            command.args(["--batch", "--skip-column-names", "--unbuffered", "--skip-reconnect"]);
            started = Client::start(command, "install the package mariadb-client or mysql-client");
            if started.is_ok() {
                break;
            }
        }
        started
    }

    fn ask(&mut self, query: &str, stop: &dyn Fn() -> bool) -> Result<Vec<String>, Lost> {
        let Some(client) = &mut self.client else { return Err(Lost::Why("the client is not connected".to_owned())) };
        let answer = client.ask(&format!("{query}\nSELECT '{END}';\n"), END, stop);
        answer.inspect_err(|_| self.client = None)
    }
}

impl CounterSource for Mysql<'_> {
    fn name(&self) -> &'static str {
        "mysql"
    }

    fn connect(&mut self, stop: &dyn Fn() -> bool) -> Result<Map<String, Value>, Lost> {
        self.client = Some(self.start()?);
        let lines =
            self.ask(&format!("SET SESSION TRANSACTION READ ONLY;\n{}", snapshots::HEAD), stop).map_err(with_remedy)?;
        let line = lines.first().map(String::as_str).unwrap_or_default();
        snapshots::head(line)
            .ok_or_else(|| Lost::Why(format!("unexpected answer {line:?}: omit client options that change the output")))
    }

    fn sample(&mut self, stop: &dyn Fn() -> bool) -> Result<Map<String, Value>, Lost> {
        let lines = self.ask(&snapshots::SAMPLE.join("\n"), stop)?;
        Ok(snapshots::sample(lines.iter().map(String::as_str), timestamp))
    }
}

fn with_remedy(lost: Lost) -> Lost {
    match lost {
        Lost::Why(why) if why.contains("Access denied") => {
            Lost::Why(format!("{why}; use -- --user NAME, and the password in ~/.my.cnf or --defaults-file=FILE"))
        }
        Lost::Why(why) => Lost::Why(format!("{why}; test the client with the same options")),
        Lost::Stopped => Lost::Stopped,
    }
}

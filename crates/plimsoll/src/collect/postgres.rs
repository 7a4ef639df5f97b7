//! Counters of a PostgreSQL server, asked for by psql. Only views of statistics are read, no texts of statements.

use std::process::Command;

use serde_json::{Map, Value};

use super::client::Client;
use super::{Lost, Source};
use crate::args::CollectPostgres;

/// What the server says at the end of an answer.
const END: &str = "plimsoll-end";

/// What there is to know beside counters; `num` and `statements` choose the query of a snapshot.
const HEAD: &str = "\
SELECT json_build_object(
  'version', current_setting('server_version'),
  'num', current_setting('server_version_num')::int,
  'statements', to_regclass('pg_stat_statements') IS NOT NULL,
  'block_bytes', current_setting('block_size')::int,
  'cache_bytes', (SELECT setting::bigint FROM pg_settings WHERE name = 'shared_buffers') * current_setting('block_size')::int,
  'server', coalesce(nullif(current_setting('cluster_name'), ''),
                     coalesce(host(inet_server_addr()), 'local') || ':' || current_setting('port')));";

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
        // Without the user's own settings, aligned with nothing, and never with a question for a password.
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
                "psql: {} is no answer: give it no options that change its output",
                lines.join(" ")
            ))),
        }
    }
}

impl Source for Postgres<'_> {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn connect(&mut self, stop: &dyn Fn() -> bool) -> Result<Map<String, Value>, Lost> {
        let client = Client::start(self.command(), "install the package postgresql-client")?;
        self.client = Some(client);
        let first = format!("SET default_transaction_read_only = on; SET statement_timeout = '30s';\n{HEAD}");
        let mut head = self.ask(&first, stop).map_err(with_remedy)?;
        let version = head.remove("num").and_then(|num| num.as_u64()).unwrap_or_default();
        let statements = head.remove("statements") == Some(Value::Bool(true));
        if version < 100_000 {
            return Err(Lost::Why(
                "the server is older than PostgreSQL 10: collect linux on its host instead".to_owned(),
            ));
        }
        self.query = query(version, statements);
        Ok(head)
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
        Lost::Why(why) => Lost::Why(format!("{why}; try psql with the same URL or PG… variables")),
        Lost::Stopped => Lost::Stopped,
    }
}

/// The query of one snapshot, for a version of the server.
fn query(version: u64, statements: bool) -> String {
    let rows = |view: &str, rows: &str| format!("'{view}', (SELECT json_agg(r) FROM ({rows}) r)");
    let mut views = vec![
        "'at', to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')".to_owned(),
        "'server', json_build_object('track_io_timing', current_setting('track_io_timing'))".to_owned(),
    ];
    let active = if version >= 140_000 { ", active_time" } else { "" };
    views.push(rows(
        "pg_stat_database",
        &format!(
            "SELECT datid, xact_commit, blks_read, blk_read_time, blk_write_time, temp_bytes{active}, stats_reset \
             FROM pg_stat_database"
        ),
    ));
    views.push(rows("pg_stat_bgwriter", "SELECT * FROM pg_stat_bgwriter"));
    if version >= 170_000 {
        views.push(rows("pg_stat_checkpointer", "SELECT * FROM pg_stat_checkpointer"));
    }
    if version >= 160_000 {
        // Backends are there even before they did anything, so that the first snapshot has the view as well.
        let worked = "coalesce(reads, 0) + coalesce(writes, 0) + coalesce(extends, 0) + coalesce(fsyncs, 0) > 0";
        let where_ = format!("SELECT * FROM pg_stat_io WHERE backend_type = 'client backend' OR {worked}");
        views.push(rows("pg_stat_io", &where_));
    }
    if version >= 140_000 {
        views.push(rows("pg_stat_wal", "SELECT * FROM pg_stat_wal"));
    } else {
        let lsn = "CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END";
        views.push(format!("'settings', json_build_object('wal_lsn', {lsn})"));
    }
    if statements {
        let sums = ["calls", "shared_blks_read", "shared_blks_written", "temp_blks_read", "temp_blks_written"];
        let sums: Vec<String> = sums.iter().map(|name| format!("sum({name}) AS {name}")).collect();
        let top = format!(
            "SELECT queryid::text, {} FROM pg_stat_statements WHERE queryid IS NOT NULL GROUP BY queryid ORDER BY \
             sum(shared_blks_read + shared_blks_written + temp_blks_read + temp_blks_written) DESC LIMIT 50",
            sums.join(", ")
        );
        views.push(rows("pg_stat_statements", &top));
    }
    format!("SELECT json_strip_nulls(json_build_object({}));", views.join(", "))
}

#[cfg(test)]
mod tests {
    use super::query;

    #[test]
    fn a_version_is_asked_for_the_views_that_it_has() {
        let has = |version, view: &str| query(version, false).contains(view);
        assert!(
            has(180_000, "pg_stat_io") && has(170_000, "pg_stat_checkpointer") && !has(160_000, "pg_stat_checkpointer")
        );
        assert!(!has(150_020, "pg_stat_io") && has(150_020, "pg_stat_wal") && has(140_000, "active_time"));
        assert!(!has(130_000, "pg_stat_wal") && has(130_000, "pg_current_wal_lsn") && !has(130_000, "active_time"));
        let texts = query(180_000, true);
        assert!(texts.contains("queryid") && !texts.contains(" query ") && !texts.contains("query,"));
    }
}

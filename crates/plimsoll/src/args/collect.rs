//! Flags of what collects counters of databases and hosts while they work.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use plimsoll_units::Span;

pub(super) const COLLECT_EXAMPLES: &str = "\
Examples:
  plimsoll collect postgres                       ten minutes of the server that psql reaches
  plimsoll collect postgres postgres://db1/shop   another one; passwords from PGPASSWORD or ~/.pgpass
  plimsoll collect mysql -- --host db1            options behind -- go to the client mariadb or mysql
  plimsoll collect linux --interval 1s            this host's devices
  plimsoll collect oracle > collect.sql           a script to read and to run: sqlplus / as sysdba @collect.sql
  plimsoll demand *.jsonl                         what they ask of storage";

/// `plimsoll collect`
#[derive(Debug, Args)]
pub struct CollectArgs {
    /// Whose counters
    #[command(subcommand)]
    pub what: CollectCommand,
}

/// Whose counters are collected.
#[derive(Debug, Subcommand)]
pub enum CollectCommand {
    /// Of a PostgreSQL server (10 or newer), by its client psql: reads statistics alone, and no data
    Postgres(CollectPostgres),
    /// Of a MySQL or MariaDB server, by its client mariadb or mysql: reads status variables alone
    Mysql(CollectMysql),
    /// Of this host's block devices and processors, out of /proc and /sys
    Linux(CollectLinux),
    /// Print a script for SQL*Plus that spools what AWR reports lack: read it, run it, and give what it spools to demand
    Oracle(CollectOracle),
}

/// `plimsoll collect postgres`
#[derive(Debug, Args)]
pub struct CollectPostgres {
    /// The server as psql takes it: a URL, `host=db1 dbname=shop`, or a database's name; else the environment's PGHOST …
    #[arg(value_name = "URL")]
    pub url: Option<OsString>,
    #[command(flatten)]
    pub sampling: SamplingArgs,
    /// Options for psql
    #[arg(last = true, value_name = "OPTION")]
    pub client: Vec<OsString>,
}

/// `plimsoll collect mysql`
#[derive(Debug, Args)]
pub struct CollectMysql {
    #[command(flatten)]
    pub sampling: SamplingArgs,
    /// Options for the client; by default those of its files, such as ~/.my.cnf
    #[arg(last = true, value_name = "OPTION")]
    pub client: Vec<OsString>,
}

/// `plimsoll collect linux`
#[derive(Debug, Args)]
pub struct CollectLinux {
    #[command(flatten)]
    pub sampling: SamplingArgs,
}

/// `plimsoll collect oracle`
#[derive(Debug, Args)]
pub struct CollectOracle {
    /// Take samples of V$ views for ten minutes, where the Diagnostics Pack is not licensed, instead of AWR's history
    #[arg(long)]
    pub without_diagnostics_pack: bool,
}

/// When snapshots are taken, and where they go.
#[derive(Debug, Args)]
pub struct SamplingArgs {
    /// Time between two snapshots: shorter ones show peaks that longer ones hide
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub interval: Span,
    /// How long to collect; Ctrl-C ends it before, and loses nothing
    #[arg(long, value_name = "TIME", default_value = "10m")]
    pub duration: Span,
    /// Write to this new file (- for standard output); by default one named after the source and the time, here
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

//! Flags of `plimsoll collect`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use plimsoll_units::Span;

pub(super) const COLLECT_EXAMPLES: &str = "\
Examples:
  plimsoll collect postgres                       ten minutes from the default server of psql
  plimsoll collect postgres postgres://db1/shop   another server; password from PGPASSWORD or ~/.pgpass
  plimsoll collect mysql -- --host db1            options after -- are passed to mariadb or mysql
  plimsoll collect linux --interval 1s            devices of this host
  plimsoll collect ebs /dev/nvme1n1               limits that an EBS volume and its instance reach, each second
  plimsoll collect oracle > collect.sql           script for sqlplus / as sysdba @collect.sql
  plimsoll demand *.jsonl                         the storage demand of the snapshots";

/// `plimsoll collect`
#[derive(Debug, Args)]
pub struct CollectArgs {
    /// Source of the counters
    #[command(subcommand)]
    pub source: CollectCommand,
}

/// Sources of counters.
#[derive(Debug, Subcommand)]
pub enum CollectCommand {
    /// PostgreSQL (10 or later) through psql: reads statistics views only
    Postgres(CollectPostgres),
    /// MySQL or MariaDB through mariadb or mysql: reads status variables only
    Mysql(CollectMysql),
    /// Block devices and processors of this host, from /proc and /sys
    Linux(CollectLinux),
    /// EBS volumes through the statistics of their devices: time above the limits of volume and instance; needs root
    #[command(mut_arg("interval", |arg| arg.default_value("1s")))]
    Ebs(CollectEbs),
    /// Print a SQL*Plus script that collects figures missing from AWR reports; its spool file is an input of demand
    Oracle(CollectOracle),
}

/// `plimsoll collect postgres`
#[derive(Debug, Args)]
pub struct CollectPostgres {
    /// The server in psql syntax: a URL, `host=db1 dbname=shop`, or a database name; by default from PGHOST etc.
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
    /// Options for the client; by default from its option files, such as ~/.my.cnf
    #[arg(last = true, value_name = "OPTION")]
    pub client: Vec<OsString>,
}

/// `plimsoll collect linux`
#[derive(Debug, Args)]
pub struct CollectLinux {
    #[command(flatten)]
    pub sampling: SamplingArgs,
}

/// `plimsoll collect ebs`
#[derive(Debug, Args)]
pub struct CollectEbs {
    /// Devices of the volumes, such as /dev/nvme1n1; they are only read
    #[arg(value_name = "DEVICE", required = true)]
    pub devices: Vec<PathBuf>,
    #[command(flatten)]
    pub sampling: SamplingArgs,
}

/// `plimsoll collect oracle`
#[derive(Debug, Args)]
pub struct CollectOracle {
    /// Sample V$ views for ten minutes instead of the AWR history, for databases without the Diagnostics Pack
    #[arg(long)]
    pub without_diagnostics_pack: bool,
}

/// Interval, duration and output of snapshots.
#[derive(Debug, Args)]
pub struct SamplingArgs {
    /// Interval between snapshots; shorter intervals resolve shorter peaks
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub interval: Span,
    /// Duration; Ctrl-C ends early and keeps all snapshots
    #[arg(long, value_name = "TIME", default_value = "10m")]
    pub duration: Span,
    /// Output file, which must not exist (- for standard output); by default named after source and time in the current
    /// directory
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

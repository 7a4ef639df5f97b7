//! Flags of suites on a database: its address, or the server to create for the run.

use std::path::PathBuf;

use clap::Args;
use plimsoll_database::{Flushes, System};
use plimsoll_suite::{DataPhase, DataRequest};
use plimsoll_units::{Bytes, Span};

use crate::args::OutputArgs;
use crate::args::offers::TermsArgs;

/// The database, and the output.
#[derive(Debug, Args)]
pub struct DatabaseArgs {
    /// The database: `postgres://USER@HOST/NAME`, `mysql://USER@HOST/NAME`, `sqlite:FILE`, `oracle://USER@HOST/SERVICE`. It
    /// must be empty or contain only data that plimsoll loaded. Prefer `PGPASSWORD` or `MYSQL_PWD` to a password here
    #[arg(value_name = "URL", required_unless_present = "make", conflicts_with = "make")]
    pub url: Option<String>,
    /// First drop all contents of the database of this name. ITS DATA ARE LOST
    #[arg(long, value_name = "NAME")]
    pub destroy: Option<String>,
    /// Run only one phase: load the data, measure on loaded data, or drop them; by default all three in one run
    #[arg(long, value_enum, value_name = "PHASE", requires = "url")]
    pub phase: Option<DataPhase>,
    #[command(flatten)]
    pub server: MakeArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

impl DatabaseArgs {
    /// The existing database and its data.
    pub fn data(&self) -> Option<DataRequest<'_>> {
        let (phase, destroy) = (self.phase, self.destroy.as_deref());
        self.url.as_deref().map(|url| DataRequest { url, phase, destroy })
    }
}

/// A server created for the run.
#[derive(Debug, Args)]
#[command(next_help_heading = "A server created for the run")]
pub struct MakeArgs {
    /// Create a server for the run and remove it afterwards
    #[arg(long, value_enum, value_name = "SYSTEM")]
    pub make: Option<System>,
    /// Directory of the server, on the storage under test
    #[arg(long, value_name = "DIR", default_value = ".", requires = "make")]
    pub path: PathBuf,
    /// Directory of the server's log (WAL, redo log), on storage of its own; by default with the data
    #[arg(long, value_name = "DIR", requires = "make")]
    pub log_path: Option<PathBuf>,
    /// Create it on an emulated volume of this configuration of the catalogue, whose data are stored in --path. Needs root
    #[arg(long, value_name = "CONFIG", requires = "make")]
    pub like: Option<String>,
    /// Change the level of the emulated volume this long after the start of the sessions, such as 30s=10vpu; repeatable
    #[arg(long = "change", value_name = "TIME=LEVEL", requires = "like", value_parser = parse_change)]
    pub changes: Vec<(Span, String)>,
    /// Emulate the volume N times slower than the product, if the product is faster than this host can emulate. The curve
    /// keeps its shape at 1/N of the rates; the database itself is not slowed down
    #[arg(long, value_name = "N", requires = "like", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub slow: Option<u32>,
    /// Cache of the server (shared buffers, buffer pool); small, so that reads reach the storage
    #[arg(long, value_name = "SIZE", default_value = "64MiB", requires = "make")]
    pub cache: Bytes,
    /// Memory limit (cgroup) of the server and of the page cache of its files, so that the page cache does not answer instead of
    /// the storage. Needs root
    #[arg(long, value_name = "SIZE", requires = "make")]
    pub memory: Option<Bytes>,
    /// Whether commits are durable before they return
    #[arg(long, value_enum, default_value_t, requires = "make")]
    pub flushes: Flushes,
    /// Additional setting of the server; repeatable
    #[arg(long = "set", value_name = "NAME=VALUE", requires = "make", value_parser = parse_setting)]
    pub settings: Vec<(String, String)>,
    #[command(flatten)]
    pub terms: TermsArgs,
}

fn parse_change(text: &str) -> Result<(Span, String), String> {
    let invalid = || format!("{text:?}: write TIME=LEVEL, such as 30s=10vpu");
    let (time, level) = text.split_once('=').ok_or_else(invalid)?;
    let level = level.trim();
    if level.is_empty() {
        return Err(invalid());
    }
    Ok((time.trim().parse().map_err(|_| invalid())?, level.to_owned()))
}

fn parse_setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().into(), value.trim().into())),
        _ => Err(format!("{text:?}: write NAME=VALUE")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_a_time_and_a_level() {
        assert_eq!(parse_change("30s=10vpu"), Ok((Span::from_secs(30), "10vpu".into())));
        // A level that is a setting contains an equals sign.
        assert_eq!(parse_change("500ms = iops=12000"), Ok((Span::from_millis(500), "iops=12000".into())));
        for invalid in ["", "30s", "30s=", "=10vpu", "10vpu=30s"] {
            assert!(parse_change(invalid).is_err_and(|why| why.contains("TIME=LEVEL")), "{invalid}");
        }
    }
}

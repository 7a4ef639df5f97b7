//! Flags of suites that load a database: which one, or what server to make for the run, and on what.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use plimsoll_database::{Flushes, System};
use plimsoll_units::{Bytes, Span};

use crate::args::OutputArgs;
use crate::args::offers::TermsArgs;

/// Which database is loaded, and what becomes of the result.
#[derive(Debug, Args)]
pub struct DatabaseArgs {
    /// The database: `postgres://USER@HOST/NAME`, `mysql://USER@HOST/NAME`, `sqlite:FILE`, `oracle://USER@HOST/SERVICE`. It
    /// has to be empty, or to hold data that plimsoll loaded. A password is better in `PGPASSWORD` or `MYSQL_PWD` than here
    #[arg(value_name = "URL", required_unless_present = "make", conflicts_with = "make")]
    pub url: Option<String>,
    /// Drop all that is in the database of this name first. ITS DATA ARE LOST
    #[arg(long, value_name = "NAME")]
    pub destroy: Option<String>,
    /// Load the data and keep them, measure on loaded data and keep them, or drop them; otherwise all three, in one run
    #[arg(long, value_enum, value_name = "PHASE", requires = "url")]
    pub phase: Option<PhaseWord>,
    #[command(flatten)]
    pub making: MakeArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PhaseWord {
    /// Load the data, and keep them for runs with the same options
    Prepare,
    /// Measure on data that are there, as often as wanted
    Run,
    /// Drop what plimsoll loaded, of any suite
    Cleanup,
}

/// A server for the run.
#[derive(Debug, Args)]
#[command(next_help_heading = "A server made for the run")]
pub struct MakeArgs {
    /// Make a server for the run, and remove it afterwards
    #[arg(long, value_enum, value_name = "SYSTEM")]
    pub make: Option<System>,
    /// The directory on the storage under test in which it is made
    #[arg(long, value_name = "DIR", default_value = ".", requires = "make")]
    pub path: PathBuf,
    /// Make it on an emulated volume of this configuration of the catalogue; its data are kept below --path. Needs root
    #[arg(long, value_name = "CONFIG", requires = "make")]
    pub like: Option<String>,
    /// Give the emulated volume another level so long after the sessions began, such as 30s=10vpu; may be given several times
    #[arg(long = "change", value_name = "TIME=LEVEL", requires = "like", value_parser = change)]
    pub changes: Vec<(Span, String)>,
    /// Let the emulated volume answer so many times slower than its product would, where that is faster than this host can
    /// emulate: the curve keeps its shape at 1/N of its rates, while the database itself is as fast as ever
    #[arg(long, value_name = "N", requires = "like", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub slow: Option<u32>,
    /// The server's own cache: small, so that storage is asked
    #[arg(long, value_name = "SIZE", default_value = "64MiB", requires = "make")]
    pub cache: Bytes,
    /// Memory that the server and the page cache for its files may take together, so that the page cache does not answer in the
    /// storage's place. Needs root
    #[arg(long, value_name = "SIZE", requires = "make")]
    pub memory: Option<Bytes>,
    /// Whether a commit reaches the storage before it is answered
    #[arg(long, value_enum, default_value_t, requires = "make")]
    pub flushes: Flushes,
    /// A setting of the server's, on top of the others; may be given several times
    #[arg(long = "set", value_name = "NAME=VALUE", requires = "make", value_parser = setting)]
    pub settings: Vec<(String, String)>,
    #[command(flatten)]
    pub terms: TermsArgs,
}

fn change(text: &str) -> Result<(Span, String), String> {
    let wrong = || format!("{text:?}: write TIME=LEVEL, such as 30s=10vpu");
    let (time, level) = text.split_once('=').ok_or_else(wrong)?;
    let level = level.trim();
    if level.is_empty() {
        return Err(wrong());
    }
    Ok((time.trim().parse().map_err(|_| wrong())?, level.to_owned()))
}

fn setting(text: &str) -> Result<(String, String), String> {
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
        assert_eq!(change("30s=10vpu"), Ok((Span::from_secs(30), "10vpu".into())));
        // What a level is has an equals sign of its own where it is a setting.
        assert_eq!(change("500ms = iops=12000"), Ok((Span::from_millis(500), "iops=12000".into())));
        for wrong in ["", "30s", "30s=", "=10vpu", "10vpu=30s"] {
            assert!(change(wrong).is_err_and(|why| why.contains("TIME=LEVEL")), "{wrong}");
        }
    }
}

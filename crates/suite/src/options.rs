//! Options of the benchmarks: each struct defines the flags of its command, with help and defaults.

use std::path::Path;

use clap::builder::{BoolValueParser, TypedValueParser};
use plimsoll_units::{Bytes, Malformed};

use crate::ground::{Facts, Nature};
use crate::recipe::Recipe;

/// An unsuitable option and the remedy, in one line.
pub type OptionsError = Box<dyn std::error::Error + Send + Sync>;

/// A value that a flag of a benchmark does not accept.
#[rustfmt::skip]
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum FlagError {
    #[error("not a percentage: write a number from 0 to 100")] Percentage,
    #[error(transparent)] Size(#[from] Malformed),
    #[error("{0} is too large for a block: write 8KiB")] Block(Bytes),
    #[error("{0:?} is not NUMBER[:LARGEST[:LEAST[:DIRECTORIES]]]: write 16, or 16:4096:512:4")] SmallFiles(String),
    #[error("version {0} is not known: write --version 3 or --version 8")] Version(String),
    #[error("{path}: {error}: give a file of SQL")] Script { path: String, error: std::io::Error },
    #[error("{0:?}: write rising numbers of sessions, such as 1..12 or 1,2,4,8")] Rungs(String),
    #[error("{text:?}: these are more than {max} rungs: leave some out")] RungCount { text: String, max: usize },
    #[error("{0:?}: write a number of blocks, or a size such as 64MiB")] SchemaScale(String),
    #[error("{0:?}: write a size, where it begins and a number, such as 8MiB,16MiB,3")] Hotspot(String),
    #[error("{0:?}: write a number and two times, such as 5,100ms,500ms")] ThinkTime(String),
}

/// Values outside of the flags that a benchmark prints or compares with.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Memory of the load generator's host; zero if unknown, and for a model without a page cache.
    pub memory: Bytes,
    /// Name of the host; empty if unknown.
    pub host: String,
    /// Local date and time for layouts with a date; empty in virtual time.
    pub date: String,
}

impl Surroundings {
    /// Those of this host; of a model, without a date. `memory` replaces that of the host.
    pub fn of(facts: &Facts, memory: Option<Bytes>) -> Self {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let date = || jiff::Zoned::now().strftime("%Y/%m/%d %H:%M:%S").to_string();
        Self {
            memory: memory.or_else(|| facts.memory()).unwrap_or_default(),
            host: host.trim().to_owned(),
            date: if facts.nature == Nature::Model { String::new() } else { date() },
        }
    }
}

pub trait SuiteOptions {
    /// Options of a command line without flags: defaults are defined only at the flags.
    fn defaults() -> Self
    where
        Self: clap::Args + Sized,
    {
        let command = Self::augment_args(clap::Command::new("defaults").disable_version_flag(true));
        let matches = command.try_get_matches_from(["defaults"]);
        let matches = matches.expect("no flag is required, and defaults can be parsed");
        Self::from_arg_matches(&matches).expect("the arguments were just declared")
    }

    /// Creates the recipe for a ground with these facts.
    ///
    /// # Errors
    /// The options do not suit the benchmark or the ground.
    fn recipe(&self, surroundings: &Surroundings, facts: &Facts) -> Result<Box<dyn Recipe>, OptionsError>;

    /// Maximum number of database sessions.
    fn sessions(&self) -> u32 {
        1
    }

    /// Whether it loads tables into a database; otherwise it works on the user's tables.
    fn uses_own_tables(&self) -> bool {
        true
    }

    /// Whether it may write to a database.
    fn writes(&self) -> bool {
        true
    }

    /// File that keeps state for a later run.
    fn state(&self) -> Option<&Path> {
        None
    }
}

/// Parses a flag without value into one of two values.
pub(crate) fn switch<T: Clone + Send + Sync + 'static>(off: T, on: T) -> impl TypedValueParser<Value = T> {
    BoolValueParser::new().map(move |is_on| if is_on { on.clone() } else { off.clone() })
}

/// Parses a percentage into a fraction of 1.
pub fn percent(text: &str) -> Result<f64, FlagError> {
    match text.trim().trim_end_matches('%').trim_end().parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err(FlagError::Percentage),
    }
}

/// Name of the value on the command line.
pub(crate) fn spelled<T: clap::ValueEnum>(value: &T) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// Parses a size below 4 GiB, such as a block size.
pub(crate) fn block_size(text: &str) -> Result<u32, FlagError> {
    let size: Bytes = text.parse()?;
    u32::try_from(size.get()).map_err(|_| FlagError::Block(size))
}

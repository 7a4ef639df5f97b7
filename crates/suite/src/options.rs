//! Options of the benchmarks: each struct defines the flags of its command, with help and defaults.

use std::path::Path;
use std::str::FromStr;

use clap::builder::{BoolValueParser, TypedValueParser};
use plimsoll_units::Bytes;

use crate::ground::Facts;
use crate::recipe::Recipe;

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

/// Options of a benchmark.
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
    /// Unsuitable option and remedy, in one line.
    fn recipe(&self, surroundings: &Surroundings, facts: &Facts) -> Result<Box<dyn Recipe>, String>;

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
pub fn percent(text: &str) -> Result<f64, String> {
    match text.trim().trim_end_matches('%').trim_end().parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("not a percentage: write a number from 0 to 100".into()),
    }
}

/// Name of the value on the command line.
pub(crate) fn spelled<T: clap::ValueEnum>(value: &T) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// Parses a size below 4 GiB, such as a block size.
pub(crate) fn block_size(text: &str) -> Result<u32, String> {
    let size: Bytes = text.parse().map_err(|error: <Bytes as FromStr>::Err| error.to_string())?;
    u32::try_from(size.get()).map_err(|_| format!("{size} is too large for a block: write 8KiB"))
}

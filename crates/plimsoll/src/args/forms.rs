//! Output forms of a result.

use std::path::PathBuf;

use clap::builder::FalseyValueParser;
use clap::{Arg, Args};
use plimsoll_choose::Gate;

/// Output files of a result.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct FormArgs {
    /// Print JSON instead of text, or write it to FILE
    #[arg(long, global = true, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Also write an HTML page in a single file (- for standard output)
    #[arg(long, global = true, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Also write Markdown (- for standard output)
    #[arg(long, global = true, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Also write the tables as CSV (- for standard output)
    #[arg(long, global = true, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Print the result in full instead of a summary
    #[arg(short = 'v', long, global = true, env = "PLIMSOLL_DETAILS", value_parser = FalseyValueParser::new())]
    pub details: bool,
    /// Print without colours; the environment variable `NO_COLOR` does the same
    #[arg(long, global = true)]
    pub no_color: bool,
}

/// Conditions on a result that make the command fail.
#[derive(Clone, Debug, Default, Args)]
pub struct GateArgs {
    /// Exit with 1 if the condition holds, and with 3 if the figures do not tell: `line < 20k`, `p99@5000 > 10ms`,
    /// `price > 500 USD`; a change relative to the first run with `compare`: `line < -10%`. Repeatable
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<Gate>,
    /// Also write the outcome of each `--fail-if` as XML of `JUnit`, which CI servers show as tests
    #[arg(long, value_name = "FILE", requires = "fail_if")]
    pub junit: Option<PathBuf>,
}

/// `--json[=FILE]` for commands with names behind the option: `volume delete --json a b` must not take `a` for the file.
pub(super) fn json_before_names(json: Arg) -> Arg {
    json.require_equals(true)
}

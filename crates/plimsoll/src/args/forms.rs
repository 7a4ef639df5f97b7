//! Output forms of a result.

use std::path::PathBuf;

use clap::{Arg, Args};

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
    /// Print without colours; the environment variable `NO_COLOR` does the same
    #[arg(long, global = true)]
    pub no_color: bool,
}

/// `--json[=FILE]` for commands with names behind the option: `volume delete --json a b` must not take `a` for the file.
pub(super) fn json_before_names(json: Arg) -> Arg {
    json.require_equals(true)
}

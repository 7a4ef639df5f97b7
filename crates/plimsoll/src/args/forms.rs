//! Output forms of a result.

use std::path::PathBuf;

use clap::Args;

/// The forms that a result is written in.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct FormArgs {
    /// Write it as JSON (- for standard output) instead of text
    #[arg(long, global = true, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a page, complete in one HTML file (- for standard output), too
    #[arg(long, global = true, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write it as Markdown (- for standard output), too
    #[arg(long, global = true, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write its tables as CSV (- for standard output), too
    #[arg(long, global = true, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Print without colours; the environment variable `NO_COLOR` does the same
    #[arg(long, global = true)]
    pub no_color: bool,
}

//! Flags of what says whether storage is the problem.

use std::path::PathBuf;

use clap::Args;

use super::offers::{ShownArgs, TermsArgs};

pub(super) const DIAGNOSE_EXAMPLES: &str = "\
Examples:
  plimsoll diagnose awrrpt_1_100_101.html            is storage what this database waits for?
  plimsoll diagnose reports/ --on oci:500GB@10vpu    and does it ask for more than this volume gives?
  plimsoll diagnose reports/ --json -                all of it as JSON";

/// `plimsoll diagnose`
#[derive(Debug, Args)]
pub struct DiagnoseArgs {
    /// Reports: files, packed ones too (gz, zip), folders with all that is below them, or - for standard input
    #[arg(required = true, value_name = "FILE|FOLDER|-")]
    pub files: Vec<PathBuf>,
    /// The configuration that the storage is: what is asked in each window is put beside its ceilings
    #[arg(long, value_name = "CONFIG")]
    pub on: Option<String>,
    #[command(flatten)]
    pub terms: TermsArgs,
    #[command(flatten)]
    pub shown: ShownArgs,
}

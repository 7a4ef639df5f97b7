//! Flags of what says whether storage is the problem.

use clap::Args;

use super::forms::FormArgs;
use super::inputs::InputArgs;
use super::offers::TermsArgs;

pub(super) const DIAGNOSE_EXAMPLES: &str = "\
Examples:
  plimsoll diagnose awrrpt_1_100_101.html            is storage what this database waits for?
  plimsoll diagnose reports/ --on oci:500GB@10vpu    and does it ask for more than this volume gives?
  plimsoll diagnose reports/ --html report.html      a page with pictures, and where each number was read
  plimsoll diagnose reports/ --json -                all of it as JSON";

/// `plimsoll diagnose`
#[derive(Debug, Args)]
pub struct DiagnoseArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// The configuration that the storage is: what is asked in each window is put beside its ceilings
    #[arg(long, value_name = "CONFIG")]
    pub on: Option<String>,
    #[command(flatten)]
    pub terms: TermsArgs,
    #[command(flatten)]
    pub forms: FormArgs,
}

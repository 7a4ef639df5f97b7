//! Flags of `plimsoll diagnose`.

use clap::Args;

use super::forms::FormArgs;
use super::inputs::InputArgs;
use super::offers::TermsArgs;

pub(super) const DIAGNOSE_EXAMPLES: &str = "\
Examples:
  plimsoll diagnose awrrpt_1_100_101.html            share of storage in the database's time
  plimsoll diagnose reports/ --on oci:500GB@10vpu    compared with the limits of this volume
  plimsoll diagnose reports/ --html report.html      page with charts and the origin of each number
  plimsoll diagnose reports/ --json -                complete result as JSON";

/// `plimsoll diagnose`
#[derive(Debug, Args)]
pub struct DiagnoseArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Configuration of the present storage, to compare the demand with its ceilings
    #[arg(long, value_name = "CONFIG")]
    pub on: Option<String>,
    #[command(flatten)]
    pub terms: TermsArgs,
    #[command(flatten)]
    pub forms: FormArgs,
}

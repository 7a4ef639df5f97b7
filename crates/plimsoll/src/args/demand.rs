//! Flags of `plimsoll demand`.

use clap::Args;

use super::forms::FormArgs;
use super::inputs::InputArgs;

pub(super) const DEMAND_EXAMPLES: &str = "\
Examples:
  plimsoll demand awrrpt_1_100_101.html           storage demand of an AWR report
  plimsoll demand reports/                        all reports in a directory, merged by database
  plimsoll demand statspack.txt --origins         with line, table and row of every number
  zcat awr.html.gz | plimsoll demand - --json -   from standard input, as JSON";

/// `plimsoll demand`
#[derive(Debug, Args)]
pub struct DemandArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Show the origin of every number: file, line, table and row
    #[arg(long)]
    pub origins: bool,
    #[command(flatten)]
    pub forms: FormArgs,
}

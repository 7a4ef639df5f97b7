//! Flags of what reads reports of databases and hosts.

use clap::Args;

use super::forms::FormArgs;
use super::inputs::InputArgs;

pub(super) const DEMAND_EXAMPLES: &str = "\
Examples:
  plimsoll demand awrrpt_1_100_101.html           one AWR report: what it asks of storage
  plimsoll demand reports/                        all reports in a folder, put together by database
  plimsoll demand statspack.txt --origins         and the line, table and row of every number
  zcat awr.html.gz | plimsoll demand - --json -   from standard input, as JSON";

/// `plimsoll demand`
#[derive(Debug, Args)]
pub struct DemandArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Say of every number in which file, line, table and row it stands
    #[arg(long)]
    pub origins: bool,
    #[command(flatten)]
    pub forms: FormArgs,
}

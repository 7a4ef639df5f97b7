//! Flags of `plimsoll size` and their value parsers.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use plimsoll_choose::elapsed::JobWord;
use plimsoll_choose::sizing::ClassObjective;
use plimsoll_measure::Percent;
use plimsoll_measure::sizing::{BurstWord, Percentile, RamPrice, YearlyGrowth};
use plimsoll_units::Bytes;

use super::forms::{FormArgs, GateArgs};
use super::inputs::InputArgs;
use super::offers::TermsArgs;

pub(super) const SIZE_EXAMPLES: &str = "\
Examples:
  plimsoll size awrrpt_1_100_101.html --capacity 2TiB           configurations, cheapest first
  plimsoll size reports/ --capacity 2TiB --provider oci --objective 'p99 <= 1 ms'
  plimsoll size reports/ --capacity 2TiB -o 'redo:p99<=1ms' -o 'read:p99<=5ms'
  plimsoll size reports/ --capacity 500GiB --growth 30%/year --months 36 --headroom 10%
  plimsoll size reports/ --capacity 2TiB --provider oci --what-if levels
  plimsoll size reports/ --capacity 2TiB --what-if cache,growth --ram-price '5 USD' --growth 30%/year
  plimsoll size batch.html --capacity 2TiB --job inputs --job 'reads=1e6,size=8KiB,depth=1,cpu=20min'
  plimsoll size reports/ --capacity 2TiB --burst none --machine aws/r6i.4xlarge --terraform volumes.tf";

/// `plimsoll size`
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
pub struct SizeArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Present capacity requirement [default: the size on disk that AWR-Miner states]
    #[arg(long, value_name = "SIZE")]
    pub capacity: Option<Bytes>,
    /// Database to size for, if the reports contain several
    #[arg(long, value_name = "NAME")]
    pub database: Option<String>,
    /// Consider only these providers or products, such as oci or aws/gp3
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub provider: Vec<String>,
    /// Machine that the volumes are attached to: its limits apply, and only volumes of its provider are considered
    #[arg(long, value_name = "MACHINE")]
    pub machine: Option<String>,
    /// Configuration of today, with its machine: its cost is compared with that of the recommendation, such as
    /// 'aws/io2:500GiB,iops=20000 on aws/r6i.4xlarge'. Repeatable
    #[arg(long, value_name = "CONFIG")]
    pub today: Vec<String>,
    /// Include platforms on which the vendor of the database does not support it (Oracle RAC in the clouds of others)
    #[arg(long)]
    pub unsupported: bool,
    /// Processors (vCPUs) that the machine needs [default: those that the database used in its busiest window, with growth, at 70 % utilisation]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub vcpus: Option<u32>,
    /// Memory that the machine needs [default: that the database uses (SGA and PGA, buffer pool), as 80 % of the machine's, shared buffers of PostgreSQL as 40 %]
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Bytes>,
    /// Maximum number of volumes in a stripe; 1 for no stripes [default: 4, with --kubernetes 1, as no CSI driver stripes]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32))]
    pub stripe: Option<u32>,
    /// Response time objective at the expected load, such as p99<=5ms, read:p99<=5ms or redo:p99<=1ms; reads if no
    /// class is given. Classes: read, write, redo, random-read, sequential-read, data-write, temp-read, temp-write.
    /// Repeatable
    #[arg(short, long, value_name = "OBJECTIVE")]
    pub objective: Vec<ClassObjective>,
    /// Size even if no input counts the reads or the writes: 8 KiB for each where their bytes are known
    #[arg(long)]
    pub assume: bool,
    /// Database time that a choice may add to today's; without waits of sessions in the reports, the share of the time that
    /// the operations of slower classes may add, one at a time
    #[arg(long, value_name = "PERCENT", default_value = "2%", conflicts_with = "may_be_slower")]
    pub slower: Percent,
    /// Include choices that are slower than the present storage by any amount
    #[arg(long)]
    pub may_be_slower: bool,
    /// Size for the load that is not exceeded in this percentage of the time. By default the whole series is replayed
    /// through the limits, and as many operations may wait as may miss the objective (1 % without an objective)
    #[arg(long, value_name = "PERCENT")]
    pub percentile: Option<Percentile>,
    /// Ratio of peaks within windows to the average: none, a factor, or auto
    #[arg(long, value_name = "N|none|auto", default_value = "auto")]
    pub burst: BurstWord,
    /// Size for the load without the limit of Oracle's resource manager on processors, if sessions wait for it
    #[arg(long)]
    pub uncapped: bool,
    /// Margin of limits above the expected load
    #[arg(long, value_name = "PERCENT", default_value = "20%", allow_hyphen_values = true)]
    pub headroom: Percent,
    /// Percentage of the capacity that stays free
    #[arg(long, value_name = "PERCENT", default_value = "10%", allow_hyphen_values = true)]
    pub free: Percent,
    /// Growth of load and capacity, such as 30%/year or 2%/month
    #[arg(long, value_name = "PERCENT/year")]
    pub growth: Option<YearlyGrowth>,
    /// Months that the sizing has to last
    #[arg(long, value_name = "N", requires = "growth", value_parser = clap::value_parser!(u32).range(1..=240))]
    pub months: Option<u32>,
    /// Additional analyses: level changes, cache size, growth, separate storage for hot data
    #[arg(long, value_name = "ANALYSIS", value_enum, value_delimiter = ',')]
    pub what_if: Vec<WhatIfWord>,
    /// With --what-if cache: price of memory per GiB and month, such as '5 USD'
    #[arg(long, value_name = "PRICE")]
    pub ram_price: Option<RamPrice>,
    /// With --what-if levels: default level of autotuning; by default the lowest
    #[arg(long, value_name = "LEVEL")]
    pub autotune_default: Option<u32>,
    /// With --what-if levels: maximum level of autotuning; by default the highest
    #[arg(long, value_name = "LEVEL")]
    pub autotune_most: Option<u32>,
    /// Elapsed time of a job on each choice: reads, writes, size, depth, cpu, sequential, sessions, think, name; beside
    /// the load of the inputs and the other jobs. `inputs` is the work of the inputs' windows. Repeatable
    #[arg(long, value_name = "JOB|inputs")]
    pub job: Vec<JobWord>,
    /// Maximum number of choices to show
    #[arg(long = "most", value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..))]
    pub max: u32,
    #[command(flatten)]
    pub terms: TermsArgs,
    /// Also write the recommended configuration of each cloud as Terraform (- for standard output)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub terraform: Option<PathBuf>,
    /// Also write it as Kubernetes objects: storage class, attributes class and claim (- for standard output)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub kubernetes: Option<PathBuf>,
    #[command(flatten)]
    pub gates: GateArgs,
    #[command(flatten)]
    pub forms: FormArgs,
}

/// Values of `--what-if`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WhatIfWord {
    /// Level changes of the best choices: fixed, autotuned, by time of day
    Levels,
    /// Larger caches with less storage
    Cache,
    /// How long the first choice suffices with --growth
    Growth,
    /// Hot devices, files or tablespaces on separate storage
    Tiers,
}

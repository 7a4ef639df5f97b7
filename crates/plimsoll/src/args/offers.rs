//! Flags of quote, catalogue, match, explain and fit.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use plimsoll_catalogue::{Commitment, Currency, Date, OwnPrice};
use plimsoll_choose::elapsed::StorageJob;
use plimsoll_measure::Percent;
use plimsoll_record::Objective;
use plimsoll_units::{Bytes, Iops, Span};

use super::forms::{FormArgs, GateArgs};

pub(super) const QUOTE_EXAMPLES: &str = "\
Examples:
  plimsoll quote oci:100GB@10vpu --currency JPY
  plimsoll quote 'oci:256GB@120vpu on oci/VM.Standard.E4.Flex:16ocpu'
  plimsoll quote aws/gp3:500GiB,iops=12000 azure/premium-ssd:P30 --block-size 16KiB
  plimsoll quote 'stripe(4,64KiB) of aws/gp3:250GiB on aws/m5.large'
  plimsoll quote netapp/aff-a800:10TB netapp/aff-c800:10TB --job 'reads=1e6,size=8KiB,depth=1,cpu=20min'";

pub(super) const CATALOGUE_EXAMPLES: &str = "\
Examples:
  plimsoll catalogue                              all products with limits and prices
  plimsoll catalogue show aws/gp3                 a product with the source of each figure";

pub(super) const PRICES_EXAMPLES: &str = "\
Examples:
  plimsoll prices                                 regions, currencies and dates of all prices
  plimsoll prices import index.json               AWS: AmazonEC2/current/eu-west-1/index.json or index.csv
  plimsoll prices import page1.json page2.json    Azure: pages of prices.azure.com/api/retail/prices";

pub(super) const MATCH_EXAMPLES: &str = "\
Examples:
  plimsoll match                                  for the last run
  plimsoll match last --iops 20k --objective 'p99<=2ms' --all";

pub(super) const EXPLAIN_EXAMPLES: &str = "\
Examples:
  plimsoll explain last --as aws/gp3:100GiB       compare with the purchased volume
  plimsoll explain run.json --as 'oci:256GB@50vpu on oci/VM.Standard.E4.Flex:2ocpu'";

pub(super) const FIT_EXAMPLES: &str = "\
Examples:
  plimsoll fit last --output mine.toml            a product file
  plimsoll simulate mine.toml                     also for quote and explain
  plimsoll fit ebs.txt --like aws/gp3:500GiB      latency by the histograms of `nvme amzn stats` or `collect ebs`";

/// Terms of limits and prices.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Terms")]
pub struct TermsArgs {
    /// Date of limits and prices, such as 2024-11; today by default
    #[arg(long, global = true, value_name = "DATE")]
    pub as_of: Option<Date>,
    /// Currency of prices, such as USD or JPY; prices are not converted
    #[arg(long, global = true, value_name = "CODE")]
    pub currency: Option<Currency>,
    /// Region of prices, such as ap-northeast-1; for several vendors with commas: us-east-1,eastus
    #[arg(long, global = true, value_name = "REGION")]
    pub region: Option<String>,
    /// Your own monthly price of a product or machine, instead of the catalogue's: a total, or an amount for each GiB,
    /// such as 'netapp/aff-c800=9500 USD', 'netapp/aff-c800=¥1,450,000' or 'netapp/aff-c800=$0.12/GiB'. Repeatable
    #[arg(long, global = true, value_name = "PRODUCT=AMOUNT[/GiB]")]
    pub price: Vec<OwnPrice>,
    /// Price machines and disks with a commitment (reservation, savings plan, committed use) where an imported list has
    /// it: none, 1y or 3y
    #[arg(long, global = true, value_name = "TERM", default_value_t)]
    pub commitment: Commitment,
    /// Directory with additional product files; by default `PLIMSOLL_PRODUCTS` or ~/.config/plimsoll/products
    #[arg(long, global = true, value_name = "FOLDER")]
    pub products: Option<PathBuf>,
}

/// `plimsoll quote`
#[derive(Debug, Args)]
pub struct QuoteArgs {
    /// Configurations: PRODUCT:SETTINGS, optionally stripe(N,SIZE) of ..., and on MACHINE
    #[arg(required = true, value_name = "CONFIG")]
    pub configs: Vec<String>,
    /// Block size of the load
    #[arg(short, long, value_name = "SIZE", default_value = "4KiB")]
    pub block_size: Bytes,
    /// Percentage of reads
    #[arg(short, long, value_name = "PERCENT", default_value = "100")]
    pub reads: Percent,
    /// Sequential instead of random access
    #[arg(long)]
    pub sequential: bool,
    /// Elapsed time of a job on each configuration, such as reads=1e6,size=8KiB,depth=1,cpu=20min; also writes,
    /// sequential, sessions, think, name. Several jobs also beside each other. Repeatable
    #[arg(long, value_name = "JOB")]
    pub job: Vec<StorageJob>,
    #[command(flatten)]
    pub terms: TermsArgs,
    /// Also write the configurations as Kubernetes objects: storage class, attributes class and claim (- for standard
    /// output)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub kubernetes: Option<PathBuf>,
    #[command(flatten)]
    pub gates: GateArgs,
    #[command(flatten)]
    pub forms: FormArgs,
}

/// `plimsoll catalogue`
#[derive(Debug, Args)]
pub struct CatalogueArgs {
    /// Subcommand; by default list
    #[command(subcommand)]
    pub command: Option<CatalogueCommand>,
    #[command(flatten)]
    pub terms: TermsArgs,
    #[command(flatten)]
    pub forms: FormArgs,
}

/// Subcommands of `plimsoll catalogue`.
#[derive(Debug, Subcommand)]
pub enum CatalogueCommand {
    /// List the products
    List,
    /// Show a product with the source of every figure
    Show {
        /// Name or alias
        product: String,
    },
    /// Check product files: a message with file, line and allowed values for each error
    Check {
        /// Product files
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

/// `plimsoll prices`
#[derive(Debug, Args)]
pub struct PricesArgs {
    /// Subcommand; by default list
    #[command(subcommand)]
    pub command: Option<PricesCommand>,
    #[command(flatten)]
    pub terms: TermsArgs,
    #[command(flatten)]
    pub forms: FormArgs,
}

/// Subcommands of `plimsoll prices`.
#[derive(Debug, Subcommand)]
pub enum PricesCommand {
    /// List what has prices, from where and when, and how imported prices differ from the built-in ones
    List,
    /// Import price lists that clouds publish: AWS offer files of EC2 (JSON or CSV), Azure retail prices, OCI
    /// products, GCP SKUs
    Import {
        /// Files, unpacked; `-` for standard input
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Date of lists without a date of publication (Azure, GCP); by default that of the file
        #[arg(long, value_name = "DATE")]
        date: Option<Date>,
    },
}

/// `plimsoll match`
#[derive(Debug, Args)]
pub struct MatchArgs {
    /// A run file, a result of fio or another benchmark, or a kept run by name, unambiguous prefix, `last` or `last~1`; by
    /// default the last run
    pub run: Option<PathBuf>,
    /// Required capacity; by default the measured size
    #[arg(long, value_name = "SIZE")]
    pub capacity: Option<Bytes>,
    /// Required operations per second, instead of the run's load line
    #[arg(long, value_name = "IOPS")]
    pub iops: Option<Iops>,
    /// Objective, instead of the run's objective
    #[arg(short, long)]
    pub objective: Option<Objective>,
    /// List all products, including rejected products
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub terms: TermsArgs,
    #[command(flatten)]
    pub forms: FormArgs,
}

/// `plimsoll explain`
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A run file, a result of fio or another benchmark (`FILE`, or `FILE#RESULT` for one of several), or a kept run by name,
    /// unambiguous prefix, `last` or `last~1`
    pub run: PathBuf,
    /// The configuration to compare with
    #[arg(long = "as", value_name = "CONFIG")]
    pub config: String,
    #[command(flatten)]
    pub terms: TermsArgs,
    #[command(flatten)]
    pub forms: FormArgs,
}

/// `plimsoll fit`
#[derive(Debug, Args)]
pub struct FitArgs {
    /// Measured run files, names from `plimsoll runs`, results of fio or another benchmark, or tables (CSV) of depth or
    /// rate, IOPS and latency; by default the last run. Or one file with the statistics of an EBS volume, whose histograms
    /// calibrate the latency of the configuration with --like
    pub runs: Vec<PathBuf>,
    /// Write the product file, for quote, simulate and explain
    #[arg(short, long, value_name = "FILE.toml")]
    pub output: Option<PathBuf>,
    /// The configuration that was bought, whose stated limits then hold in the model: two loads suffice with them
    #[arg(long, value_name = "CONFIG")]
    pub like: Option<String>,
    /// Time between statistics of a volume without times
    #[arg(long, value_name = "TIME")]
    pub interval: Option<Span>,
    /// Accept a model whose error exceeds 15 %: of the runs themselves, or of the prediction of runs that were left out
    #[arg(long, value_name = "PERCENT", default_value_t = 15.0)]
    pub max_error: f64,
    /// Name of the product
    #[arg(long, value_name = "PROVIDER/NAME", default_value = "own/fitted")]
    pub name: String,
    #[command(flatten)]
    pub terms: TermsArgs,
    #[command(flatten)]
    pub forms: FormArgs,
}

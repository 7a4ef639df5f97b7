//! The flags of the commands that are about products: quote, catalogue, match, explain, fit.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use plimsoll_catalogue::{Currency, Date};
use plimsoll_record::Objective;
use plimsoll_units::{Bytes, Iops};

use super::forms::FormArgs;
use crate::words::Percent;

pub(super) const QUOTE_EXAMPLES: &str = "\
Examples:
  plimsoll quote oci:100GB@10vpu --currency JPY
  plimsoll quote 'oci:256GB@120vpu on oci/VM.Standard.E4.Flex:16ocpu'
  plimsoll quote aws/gp3:500GiB,iops=12000 azure/premium-ssd:P30 --block-size 16KiB
  plimsoll quote 'stripe(4,64KiB) of aws/gp3:250GiB on aws/m5.large'";

pub(super) const CATALOGUE_EXAMPLES: &str = "\
Examples:
  plimsoll catalogue                              all products with limits and prices
  plimsoll catalogue show aws/gp3                 one product, with the source of each figure";

pub(super) const MATCH_EXAMPLES: &str = "\
Examples:
  plimsoll match                                  for the last run
  plimsoll match last --iops 20k --objective 'p99<=2ms' --all";

pub(super) const EXPLAIN_EXAMPLES: &str = "\
Examples:
  plimsoll explain last --as aws/gp3:100GiB       is it the volume that was bought?
  plimsoll explain run.json --as 'oci:256GB@50vpu on oci/VM.Standard.E4.Flex:2ocpu'";

pub(super) const FIT_EXAMPLES: &str = "\
Examples:
  plimsoll fit last --output mine.toml            a product file
  plimsoll simulate mine.toml                     quote, simulate and explain take it by its path";

/// Under which terms products are looked at.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Terms")]
pub struct TermsArgs {
    /// Limits and prices of this time, such as 2024-11; today's without it
    #[arg(long, global = true, value_name = "DATE")]
    pub as_of: Option<Date>,
    /// Prices in this currency, such as USD or JPY; never converted
    #[arg(long, global = true, value_name = "CODE")]
    pub currency: Option<Currency>,
    /// Prices of this region, such as ap-northeast-1
    #[arg(long, global = true, value_name = "REGION")]
    pub region: Option<String>,
    /// Folder with product files of your own; `PLIMSOLL_PRODUCTS` or ~/.config/plimsoll/products without it
    #[arg(long, global = true, value_name = "FOLDER")]
    pub products: Option<PathBuf>,
}

/// `plimsoll quote`
#[derive(Debug, Args)]
pub struct QuoteArgs {
    /// Configurations: PRODUCT:SETTINGS, in stripe(N,SIZE) of ..., on MACHINE
    #[arg(required = true, value_name = "CONFIG")]
    pub configs: Vec<String>,
    /// Size of the operations that are asked
    #[arg(short, long, value_name = "SIZE", default_value = "4KiB")]
    pub block_size: Bytes,
    /// Share of reads, in percent
    #[arg(short, long, value_name = "PERCENT", default_value = "100")]
    pub reads: Percent,
    /// Operations follow each other's addresses, instead of random ones
    #[arg(long)]
    pub sequential: bool,
    #[command(flatten)]
    pub terms: TermsArgs,
    #[command(flatten)]
    pub forms: FormArgs,
}

/// `plimsoll catalogue`
#[derive(Debug, Args)]
pub struct CatalogueArgs {
    /// What to do; lists the products without it
    #[command(subcommand)]
    pub command: Option<CatalogueCommand>,
    #[command(flatten)]
    pub terms: TermsArgs,
    #[command(flatten)]
    pub forms: FormArgs,
}

/// What `plimsoll catalogue` does.
#[derive(Debug, Subcommand)]
pub enum CatalogueCommand {
    /// List the products
    List,
    /// Show all that is known of a product, with the source of every figure
    Show {
        /// Its name or alias
        product: String,
    },
    /// Check product files: one line for each fault, with file, line, and what is allowed
    Check {
        /// The files
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

/// `plimsoll match`
#[derive(Debug, Args)]
pub struct MatchArgs {
    /// A run file, or a kept run by name, unambiguous beginning, `last` or `last~1`; the last run without it
    pub run: Option<PathBuf>,
    /// Bytes that have to be kept; by default as many as were measured on
    #[arg(long, value_name = "SIZE")]
    pub capacity: Option<Bytes>,
    /// Operations per second that have to be carried, instead of the run's load line
    #[arg(long, value_name = "IOPS")]
    pub iops: Option<Iops>,
    /// What has to be met, instead of the run's objective
    #[arg(short, long)]
    pub objective: Option<Objective>,
    /// Show everything: all products that do not carry it, too
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
    /// A run file, or a kept run by name, unambiguous beginning, `last` or `last~1`
    pub run: PathBuf,
    /// The configuration that it was, or should have been
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
    /// Measured run files, or names that `plimsoll runs` lists; the last run without any
    pub runs: Vec<PathBuf>,
    /// Write the product file here; quote, simulate and explain take it by its path
    #[arg(short, long, value_name = "FILE.toml")]
    pub output: Option<PathBuf>,
    /// Name of the product in it
    #[arg(long, value_name = "PROVIDER/NAME", default_value = "own/fitted")]
    pub name: String,
    #[command(flatten)]
    pub forms: FormArgs,
}

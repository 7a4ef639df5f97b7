//! Flags of `plimsoll suite`: a command for each suite, and the common flags.

mod database;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use plimsoll_drive::Elevator;
use plimsoll_suite::SuiteOptions;
use plimsoll_suite::recipes::articles::ArticlesOptions;
use plimsoll_suite::recipes::bonnie::BonnieOptions;
use plimsoll_suite::recipes::crystaldiskmark::CrystalDiskMarkOptions;
use plimsoll_suite::recipes::dd::DdOptions;
use plimsoll_suite::recipes::ladder::LadderOptions;
use plimsoll_suite::recipes::oltp::OltpOptions;
use plimsoll_suite::recipes::slob::SlobOptions;
use plimsoll_suite::recipes::snia::SniaOptions;
use plimsoll_suite::recipes::sql_bench::SqlBenchOptions;
use plimsoll_suite::recipes::tiobench::TiobenchOptions;
use plimsoll_suite::recipes::tune::TuneOptions;
use plimsoll_suite::recipes::verify::VerifyOptions;
use plimsoll_suite::recipes::walfsync::WalfsyncOptions;
use plimsoll_units::Bytes;

pub use database::{DatabaseArgs, MakeArgs};

use super::OutputArgs;
use super::offers::TermsArgs;

pub(super) const SUITE_EXAMPLES: &str = "\
Examples:
  plimsoll suite crystaldiskmark .                      the best of five runs of each test
  plimsoll suite bonnie /var/lib/postgresql --size 4GiB
  plimsoll suite tiobench oci:50GB@0vpu                 simulated on a product of the catalogue
  plimsoll suite walfsync nbd://db1/data --destroy nbd://db1/data
  plimsoll suite slob --make postgres --path /data --memory 256MiB   block reads and updates on a temporary server
  plimsoll suite dd . --html dd.html                    explanation of each variant of dd";

/// `plimsoll suite`
#[derive(Debug, Args)]
pub struct SuiteArgs {
    #[command(subcommand)]
    pub suite: SuiteCommand,
}

/// The storage that a suite runs on, and the output.
#[derive(Debug, Args)]
pub struct PlaceArgs {
    /// A directory, a file, a block device, an export of an NBD server (`nbd://HOST/NAME`), a configuration of the
    /// catalogue or stages (simulated)
    #[arg(value_name = "PATH|URI|CONFIG")]
    pub place: String,
    /// Allow writing to this existing file, block device or export; repeat its path or URI. ITS DATA ARE LOST
    #[arg(long, value_name = "PATH|URI")]
    pub destroy: Vec<PathBuf>,
    /// Memory of the host. With a product, its page cache is simulated; on a real host it replaces the detected size
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Bytes>,
    /// I/O scheduler of the simulated host, in front of the product: none, deadline (sorted by address) or cfq (slices of time for each reader)
    #[arg(
        long,
        value_name = "none|deadline|cfq",
        requires = "memory",
        default_value = "none",
        hide_default_value = true
    )]
    pub elevator: Elevator,
    #[command(flatten)]
    pub terms: TermsArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Flags of a suite that runs on storage.
#[derive(Debug, Args)]
pub struct OnStorage<T: Args> {
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    options: T,
}

/// Flags of a suite that runs in a database.
#[derive(Debug, Args)]
pub struct InDatabase<T: Args> {
    #[command(flatten)]
    place: DatabaseArgs,
    #[command(flatten)]
    options: T,
}

/// Flags of SLOB.
#[derive(Debug, Args)]
pub struct SlobArgs {
    #[command(flatten)]
    suite: InDatabase<SlobOptions>,
    /// Run nothing here: write SQL and shell that run the load by `sqlplus`, with an AWR report for each point. Choose a
    /// --scale of several times the buffer cache. Not tested on an Oracle server
    #[arg(long, num_args = 2, value_names = ["oracle", "DIR"], conflicts_with_all = ["url", "phase", "destroy", "MakeArgs"])]
    emit: Vec<PathBuf>,
}

/// The suites.
#[derive(Debug, Subcommand)]
pub enum SuiteCommand {
    /// The benchmarks of a published article, next to its published table
    Articles(OnStorage<ArticlesOptions>),
    /// Bonnie++: single bytes, blocks, rewriting, seeks of five processes, small files; its table and CSV line
    Bonnie(OnStorage<BonnieOptions>),
    /// CrystalDiskMark 3 or 8: sequential and random throughput, the best of several runs
    #[command(disable_version_flag = true)]
    Crystaldiskmark(OnStorage<CrystalDiskMarkOptions>),
    /// dd: copies in large blocks, buffered and direct, and the dirty pages that remain
    Dd(OnStorage<DdOptions>),
    /// Your own SQL statement at increasing concurrency: response time, throughput and the binding limit
    Ladder(InDatabase<LadderOptions>),
    /// Short transactions like pgbench or TPC-C-like: closed loads by clients, open loads by rate up to the load line
    Oltp(InDatabase<OltpOptions>),
    /// SLOB: random reads and updates of single blocks by an increasing number of database sessions, up to saturation
    #[command(mut_arg("url", |url| url.required_unless_present("emit")))]
    Slob(SlobArgs),
    /// SNIA performance test specification: preconditioning, and rounds until steady state
    Snia(OnStorage<SniaOptions>),
    /// sql-bench: the eight tests of old `MySQL` releases, next to published results, with a check of commit durability
    SqlBench(InDatabase<SqlBenchOptions>),
    /// tiotest and tiobench: threads that write and read separate files, sequentially and at random
    Tiobench(OnStorage<TiobenchOptions>),
    /// Settings of a database that suit its storage and a load: paired comparisons, ready for the configuration file
    Tune(InDatabase<TuneOptions>),
    /// Data verification: self-describing blocks are written, overwritten and read back; errors are located
    Verify(OnStorage<VerifyOptions>),
    /// The sync methods of a write-ahead log, as in `pg_test_fsync`, with percentiles
    Walfsync(OnStorage<WalfsyncOptions>),
}

/// The place that a suite runs on.
#[derive(Clone, Copy, Debug)]
pub enum SuiteTarget<'a> {
    /// Storage, or a simulated product.
    Storage(&'a PlaceArgs),
    /// A database.
    Database(&'a DatabaseArgs),
}

impl<'a> SuiteTarget<'a> {
    /// The flags of the output.
    pub const fn output(self) -> &'a OutputArgs {
        match self {
            Self::Storage(args) => &args.output,
            Self::Database(args) => &args.output,
        }
    }

    /// The flags of a database.
    pub const fn database(self) -> Option<&'a DatabaseArgs> {
        match self {
            Self::Storage(_) => None,
            Self::Database(args) => Some(args),
        }
    }

    /// Memory of the host, if given.
    pub const fn memory(self) -> Option<Bytes> {
        match self {
            Self::Storage(args) => args.memory,
            Self::Database(_) => None,
        }
    }
}

impl SuiteArgs {
    /// SLOB's options, with the system and the directory of scripts to write.
    pub fn scripts(&self) -> Option<(&SlobOptions, &Path, &Path)> {
        let SuiteCommand::Slob(SlobArgs { suite, emit }) = &self.suite else { return None };
        if let [system, directory] = &emit[..] { Some((&suite.options, system, directory)) } else { None }
    }

    /// The target of the suite, and its options.
    pub fn target_and_options(&self) -> (SuiteTarget<'_>, &dyn SuiteOptions) {
        match &self.suite {
            SuiteCommand::Articles(args) => (SuiteTarget::Storage(&args.place), &args.options),
            SuiteCommand::Bonnie(args) => (SuiteTarget::Storage(&args.place), &args.options),
            SuiteCommand::Crystaldiskmark(args) => (SuiteTarget::Storage(&args.place), &args.options),
            SuiteCommand::Dd(args) => (SuiteTarget::Storage(&args.place), &args.options),
            SuiteCommand::Ladder(args) => (SuiteTarget::Database(&args.place), &args.options),
            SuiteCommand::Oltp(args) => (SuiteTarget::Database(&args.place), &args.options),
            SuiteCommand::Slob(args) => (SuiteTarget::Database(&args.suite.place), &args.suite.options),
            SuiteCommand::Snia(args) => (SuiteTarget::Storage(&args.place), &args.options),
            SuiteCommand::SqlBench(args) => (SuiteTarget::Database(&args.place), &args.options),
            SuiteCommand::Tiobench(args) => (SuiteTarget::Storage(&args.place), &args.options),
            SuiteCommand::Tune(args) => (SuiteTarget::Database(&args.place), &args.options),
            SuiteCommand::Verify(args) => (SuiteTarget::Storage(&args.place), &args.options),
            SuiteCommand::Walfsync(args) => (SuiteTarget::Storage(&args.place), &args.options),
        }
    }
}

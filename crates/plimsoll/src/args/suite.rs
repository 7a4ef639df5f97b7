//! Flags of `plimsoll suite`: one command for each suite, and what they have in common.

mod articles;
mod bonnie;
mod crystaldiskmark;
mod database;
mod dd;
mod ladder;
mod oltp;
mod slob;
mod snia;
mod sql_bench;
mod tiobench;
mod verify;
mod walfsync;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use plimsoll_suite::{Facts, Recipe};
use plimsoll_units::Bytes;

pub use database::{DatabaseArgs, MakeArgs, PhaseWord};

use super::OutputArgs;
use super::offers::TermsArgs;

pub(super) const SUITE_EXAMPLES: &str = "\
Examples:
  plimsoll suite crystaldiskmark .                      five runs of each test, the best of them, as that tool shows it
  plimsoll suite bonnie /var/lib/postgresql --size 4GiB
  plimsoll suite tiobench oci:50GB@0vpu                 the same on a product of the catalogue, simulated
  plimsoll suite walfsync nbd://db1/data --destroy nbd://db1/data
  plimsoll suite slob --make postgres --path /data --memory 256MiB   block reads and updates in a server made for it
  plimsoll suite dd . --html dd.html                    what each variant of dd really measures";

/// `plimsoll suite`
#[derive(Debug, Args)]
pub struct SuiteArgs {
    #[command(subcommand)]
    pub suite: SuiteCommand,
}

/// Where a suite runs, and what becomes of the result.
#[derive(Debug, Args)]
pub struct PlaceArgs {
    /// A directory, a file, a block device, an export of an NBD server (`nbd://HOST/NAME`), a configuration of the
    /// catalogue or stages (simulated)
    #[arg(value_name = "PATH|URI|CONFIG")]
    pub place: String,
    /// Allow writing to this existing file, block device or export: the same path or URI again. ITS DATA ARE LOST
    #[arg(long, value_name = "PATH|URI")]
    pub destroy: Vec<PathBuf>,
    /// Memory of the host: with it the page cache before a product is simulated; of a real host, where it is to be taken
    /// for another one
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Bytes>,
    #[command(flatten)]
    pub terms: TermsArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The suites.
#[derive(Debug, Subcommand)]
pub enum SuiteCommand {
    /// The benchmarks of a published article, next to its published table
    Articles(articles::ArticlesArgs),
    /// Bonnie++: a byte at a time, blocks, rewriting, seeks of five processes, small files; its table and its CSV
    Bonnie(bonnie::BonnieArgs),
    /// CrystalDiskMark 3 or 8: sequential and random throughput, the best of several runs
    Crystaldiskmark(crystaldiskmark::CrystalDiskMarkArgs),
    /// dd: a copy in large blocks, through the page cache and past it, with what it leaves behind
    Dd(dd::DdArgs),
    /// Your own SQL statement at increasing concurrency: response time, throughput and the binding limit
    Ladder(ladder::LadderArgs),
    /// Short transactions as pgbench has them, or TPC-C-like: by clients, and by arrivals up to the load line
    Oltp(oltp::OltpArgs),
    /// SLOB: random reads and updates of single blocks by an increasing number of database sessions, to saturation
    Slob(slob::SlobArgs),
    /// SNIA performance test specification: preconditioning, and rounds until steady state
    Snia(snia::SniaArgs),
    /// sql-bench: the eight tests of old `MySQL` releases, next to published results, with a check of commit durability
    SqlBench(sql_bench::SqlBenchArgs),
    /// tiotest and tiobench: threads that write and read files of their own, in order and at random
    Tiobench(tiobench::TiobenchArgs),
    /// Data verification: self-describing blocks are written, overwritten and read back; errors are located
    Verify(verify::VerifyArgs),
    /// The sync methods of a write-ahead log, as in `pg_test_fsync`, with percentiles
    Walfsync(walfsync::WalfsyncArgs),
}

impl PlaceArgs {
    /// Memory of the host that the load comes from; zero where it is not known, as of a model without a page cache.
    fn memory(&self, facts: &Facts) -> Bytes {
        self.memory.or_else(|| facts.memory()).unwrap_or_default()
    }
}

/// Where a suite runs.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// On storage, or on a product.
    Storage(&'a PlaceArgs),
    /// In a database.
    Database(&'a DatabaseArgs),
}

impl<'a> Place<'a> {
    /// What becomes of the result.
    pub const fn output(self) -> &'a OutputArgs {
        match self {
            Self::Storage(args) => &args.output,
            Self::Database(args) => &args.output,
        }
    }
}

impl<'a> Place<'a> {
    /// The flags of a database.
    pub const fn database(self) -> Option<&'a DatabaseArgs> {
        match self {
            Self::Storage(_) => None,
            Self::Database(args) => Some(args),
        }
    }
}

/// What every suite's flags are.
trait Suite {
    /// Where it runs.
    fn place(&self) -> Place<'_>;

    /// Sessions of a database that it opens at most.
    fn sessions(&self) -> u32 {
        1
    }

    /// It loads tables of its own into a database; otherwise it works on those of the user.
    fn uses_own_tables(&self) -> bool {
        true
    }

    /// It may write to a database.
    fn writes(&self) -> bool {
        true
    }

    /// The recipe on a ground with these facts.
    ///
    /// # Errors
    /// One line that says what to write instead.
    fn recipe(&self, facts: &Facts) -> Result<Box<dyn Recipe>, String>;

    /// Where what a later run has to know is kept.
    fn memory(&self) -> Option<&Path> {
        None
    }
}

impl SuiteArgs {
    fn chosen(&self) -> &dyn Suite {
        match &self.suite {
            SuiteCommand::Articles(args) => args,
            SuiteCommand::Bonnie(args) => args,
            SuiteCommand::Crystaldiskmark(args) => args,
            SuiteCommand::Dd(args) => args,
            SuiteCommand::Ladder(args) => args,
            SuiteCommand::Oltp(args) => args,
            SuiteCommand::Slob(args) => args,
            SuiteCommand::Snia(args) => args,
            SuiteCommand::SqlBench(args) => args,
            SuiteCommand::Tiobench(args) => args,
            SuiteCommand::Verify(args) => args,
            SuiteCommand::Walfsync(args) => args,
        }
    }

    /// Where what a later run has to know is kept.
    pub fn memory(&self) -> Option<&Path> {
        self.chosen().memory()
    }

    /// Where the suite runs, and what becomes of the result.
    pub fn place(&self) -> Place<'_> {
        self.chosen().place()
    }

    /// It loads tables of its own into a database; otherwise it works on those of the user.
    pub fn uses_own_tables(&self) -> bool {
        self.chosen().uses_own_tables()
    }

    /// It may write to a database.
    pub fn writes(&self) -> bool {
        self.chosen().writes()
    }

    /// Sessions of a database that it opens at most.
    pub fn sessions(&self) -> u32 {
        self.chosen().sessions()
    }

    /// The recipe on a ground with these facts.
    ///
    /// # Errors
    /// One line that says what to write instead.
    pub fn recipe(&self, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
        self.chosen().recipe(facts)
    }
}

//! Flags of `plimsoll suite`: one command for each suite, and what they have in common.

mod database;
mod oltp;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use plimsoll_suite::recipes::articles::ArticlesOptions;
use plimsoll_suite::recipes::bonnie::BonnieOptions;
use plimsoll_suite::recipes::crystaldiskmark::CrystalDiskMarkOptions;
use plimsoll_suite::recipes::dd::DdOptions;
use plimsoll_suite::recipes::ladder::LadderOptions;
use plimsoll_suite::recipes::slob::SlobOptions;
use plimsoll_suite::recipes::snia::SniaOptions;
use plimsoll_suite::recipes::sql_bench::SqlBenchOptions;
use plimsoll_suite::recipes::tiobench::TiobenchOptions;
use plimsoll_suite::recipes::verify::VerifyOptions;
use plimsoll_suite::recipes::walfsync::WalfsyncOptions;
use plimsoll_suite::{Facts, Nature, Recipe, SuiteOptions, Surroundings};
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

/// The suites.
#[derive(Debug, Subcommand)]
pub enum SuiteCommand {
    /// The benchmarks of a published article, next to its published table
    Articles(OnStorage<ArticlesOptions>),
    /// Bonnie++: a byte at a time, blocks, rewriting, seeks of five processes, small files; its table and its CSV
    Bonnie(OnStorage<BonnieOptions>),
    /// CrystalDiskMark 3 or 8: sequential and random throughput, the best of several runs
    #[command(disable_version_flag = true)]
    Crystaldiskmark(OnStorage<CrystalDiskMarkOptions>),
    /// dd: a copy in large blocks, through the page cache and past it, with what it leaves behind
    Dd(OnStorage<DdOptions>),
    /// Your own SQL statement at increasing concurrency: response time, throughput and the binding limit
    Ladder(InDatabase<LadderOptions>),
    /// Short transactions as pgbench has them, or TPC-C-like: by clients, and by arrivals up to the load line
    Oltp(oltp::OltpArgs),
    /// SLOB: random reads and updates of single blocks by an increasing number of database sessions, to saturation
    Slob(InDatabase<SlobOptions>),
    /// SNIA performance test specification: preconditioning, and rounds until steady state
    Snia(OnStorage<SniaOptions>),
    /// sql-bench: the eight tests of old `MySQL` releases, next to published results, with a check of commit durability
    SqlBench(InDatabase<SqlBenchOptions>),
    /// tiotest and tiobench: threads that write and read files of their own, in order and at random
    Tiobench(OnStorage<TiobenchOptions>),
    /// Data verification: self-describing blocks are written, overwritten and read back; errors are located
    Verify(OnStorage<VerifyOptions>),
    /// The sync methods of a write-ahead log, as in `pg_test_fsync`, with percentiles
    Walfsync(OnStorage<WalfsyncOptions>),
}

impl PlaceArgs {
    fn surroundings(&self, facts: &Facts) -> Surroundings {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let date = || jiff::Zoned::now().strftime("%Y/%m/%d %H:%M:%S").to_string();
        Surroundings {
            memory: self.memory.or_else(|| facts.memory()).unwrap_or_default(),
            host: host.trim().to_owned(),
            date: if facts.nature == Nature::Model { String::new() } else { date() },
        }
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

impl<T: SuiteOptions> Suite for OnStorage<T> {
    fn place(&self) -> Place<'_> {
        Place::Storage(&self.place)
    }

    fn recipe(&self, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
        self.options.recipe(&self.place.surroundings(facts), facts)
    }

    fn memory(&self) -> Option<&Path> {
        self.options.state()
    }
}

impl<T: SuiteOptions> Suite for InDatabase<T> {
    fn place(&self) -> Place<'_> {
        Place::Database(&self.place)
    }

    fn sessions(&self) -> u32 {
        self.options.sessions()
    }

    fn uses_own_tables(&self) -> bool {
        self.options.uses_own_tables()
    }

    fn writes(&self) -> bool {
        self.options.writes()
    }

    fn recipe(&self, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
        self.options.recipe(&Surroundings::default(), facts)
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

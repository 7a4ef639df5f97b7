//! Flags of `plimsoll suite tiobench`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use plimsoll_suite::recipes::tiobench::{Gap, Printed, Program, Test, Through, Tiobench, TiobenchOptions};
use plimsoll_suite::{Facts, Recipe};
use plimsoll_units::Bytes;

use super::{Place, PlaceArgs, Suite};

/// `plimsoll suite tiobench`
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // switches of the tool, each of its own
pub struct TiobenchArgs {
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Threads, each with a file of its own (tiotest -t); several numbers for one pass each (tiobench --threads)
    #[arg(long, value_name = "THREADS", value_delimiter = ',')]
    pub threads: Vec<u32>,
    /// Size of each thread's file (tiotest -f); of all together with --tiobench
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// Bytes of an operation (-b)
    #[arg(long, value_name = "SIZE", default_value = "4KiB")]
    pub block_size: Bytes,
    /// Random operations of each thread (tiotest -r); of all together with --tiobench
    #[arg(long, value_name = "OPERATIONS")]
    pub random: Option<u64>,
    /// As tiobench does it: 1, 2, 4 and 8 threads that share the files' size and the random operations, and its tables
    #[arg(long)]
    pub tiobench: bool,
    /// tiobench: passes with each number of threads (--numruns)
    #[arg(long, value_name = "TIMES", default_value_t = 1, requires = "tiobench")]
    pub rounds: u32,
    /// More directories that files are dealt out to (-d)
    #[arg(long, value_name = "PATH")]
    pub directory: Vec<PathBuf>,
    /// Tests to leave out (-k)
    #[arg(long, value_enum, value_delimiter = ',')]
    pub skip: Vec<TestWord>,
    /// Files are mapped into memory (-M)
    #[arg(long, conflicts_with = "direct")]
    pub mmap: bool,
    /// Past the page cache (-X)
    #[arg(long)]
    pub direct: bool,
    /// Each write durable, by `O_SYNC` (-S)
    #[arg(long)]
    pub synchronous: bool,
    /// Files are written one after the other (-W)
    #[arg(long)]
    pub in_turn: bool,
    /// The page cache is emptied of the files between the tests (-F)
    #[arg(long)]
    pub drop_caches: bool,
    /// What is read is checked to be what was written (-c)
    #[arg(long)]
    pub check: bool,
    /// No table of latencies (-L)
    #[arg(long)]
    pub no_latency: bool,
    /// Lines of commas (-T)
    #[arg(long, conflicts_with = "no_latency")]
    pub terse: bool,
}

/// A test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TestWord {
    /// Writing from the beginning to the end
    Write,
    /// Writing at random places
    RandomWrite,
    /// Reading from the beginning to the end
    Read,
    /// Reading at random places
    RandomRead,
}

impl From<TestWord> for Test {
    fn from(word: TestWord) -> Self {
        match word {
            TestWord::Write => Self::Write,
            TestWord::RandomWrite => Self::RandomWrite,
            TestWord::Read => Self::Read,
            TestWord::RandomRead => Self::RandomRead,
        }
    }
}

impl TiobenchArgs {
    fn program(&self, facts: &Facts) -> Result<Program, String> {
        if self.tiobench {
            let Program::Tiobench { identifier, threads, size, random, rounds: _ } =
                Program::tiobench(&facts.subject.name, self.place.memory(facts))
            else {
                unreachable!("tiobench is tiobench");
            };
            return Ok(Program::Tiobench {
                identifier,
                threads: if self.threads.is_empty() { threads } else { self.threads.clone() },
                size: self.size.unwrap_or(size),
                random: self.random.unwrap_or(random),
                rounds: self.rounds,
            });
        }
        let Program::Tiotest { threads, size, random } = Program::tiotest() else {
            unreachable!("tiotest is tiotest");
        };
        let threads = match self.threads[..] {
            [] => threads,
            [threads] => threads,
            _ => return Err("tiotest makes one pass: give one number of threads, or --tiobench".into()),
        };
        Ok(Program::Tiotest { threads, size: self.size.unwrap_or(size), random: self.random.unwrap_or(random) })
    }
}

impl Suite for TiobenchArgs {
    fn place(&self) -> Place<'_> {
        Place::Storage(&self.place)
    }

    fn recipe(&self, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
        let block =
            u32::try_from(self.block_size.get()).map_err(|_| "a block is too large: write --block-size 4KiB")?;
        let options = TiobenchOptions {
            program: self.program(facts)?,
            block,
            directories: self.directory.clone(),
            skipped: self.skip.iter().map(|test| (*test).into()).collect(),
            through: match (self.mmap, self.direct) {
                (true, _) => Through::Mapping,
                (_, true) => Through::Nothing,
                _ => Through::Cache,
            },
            synchronous: self.synchronous,
            in_turn: self.in_turn,
            uncached: self.drop_caches,
            gap: Gap::default(),
            printed: match (self.no_latency, self.terse) {
                (true, _) => Printed::WithoutLatency,
                (_, true) => Printed::Terse,
                _ => Printed::All,
            },
            memory: self.place.memory(facts),
            seed: 1,
        };
        let suite = Tiobench::new(options, facts)?;
        Ok(Box::new(if self.check { suite.checking()? } else { suite }))
    }
}

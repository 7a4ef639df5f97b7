//! tiotest and tiobench: threads that write, read and visit files of their own at random.
//!
//! tiotest 0.4.2 is one pass with so many threads; tiobench is several of them with a total that the threads share. Knows
//! nothing about how its figures are printed: that is in `print`.

mod checks;
mod print;
mod steps;
mod verdicts;

use std::path::PathBuf;
use std::sync::Arc;

use clap::ValueEnum;
use plimsoll_device::Checked;
use plimsoll_record::Listing;
use plimsoll_units::Bytes;

use super::phase::{Counts, Phase, fits};
use crate::ground::{Facts, Nature};
use crate::options::{SuiteOptions, Surroundings, block_size, defaults};
use crate::recipe::{Done, Recipe};
use crate::step::{FileSpec, Step};

/// The program that is followed, with its sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Program {
    /// tiotest: one pass.
    Tiotest {
        threads: u32,
        /// Bytes of each thread's file.
        size: Bytes,
        /// Random operations of each thread.
        random: u64,
    },
    /// tiobench: passes with several numbers of threads, which share a total.
    Tiobench {
        /// Name of the machine in the tables (`--identifier`).
        identifier: String,
        threads: Vec<u32>,
        /// Bytes of all threads' files together.
        size: Bytes,
        /// Random operations of all threads together.
        random: u64,
        /// Passes with each number of threads.
        rounds: u32,
    },
}

/// A test of a pass, in the order of their numbers in `-k`: 0 to 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Test {
    /// Writing from the beginning to the end
    Write,
    /// Writing at random places
    RandomWrite,
    /// Reading from the beginning to the end
    Read,
    /// Reading at random places
    RandomRead,
}

impl Test {
    const fn name(self) -> &'static str {
        match self {
            Self::Write => "Write",
            Self::RandomWrite => "Random write",
            Self::Read => "Read",
            Self::RandomRead => "Random read",
        }
    }
}

/// How a thread reaches its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Through {
    /// The page cache, by calls.
    Cache,
    /// A mapping of the file into memory.
    Mapping,
    /// `O_DIRECT`.
    Nothing,
}

/// Where the threads of a device begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// Bytes between the end of a thread's part and the next one's begin, whole MiB (`-o`).
    pub between: Bytes,
    /// The first thread's part begins behind such a gap too (`-O`).
    pub before_first: bool,
}

/// Options of tiotest and tiobench.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
#[allow(clippy::struct_excessive_bools)] // switches of the tool, each of its own
pub struct TiobenchOptions {
    /// Threads, each with a file of its own (tiotest -t); several numbers for one pass each (tiobench --threads)
    #[arg(long, value_name = "THREADS", value_delimiter = ',')]
    pub threads: Vec<u32>,
    /// Size of each thread's file (tiotest -f); of all together with --tiobench
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// Bytes of an operation (-b)
    #[arg(long = "block-size", value_name = "SIZE", default_value = "4KiB", value_parser = block_size)]
    pub block: u32,
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
    #[arg(long = "directory", value_name = "PATH")]
    pub directories: Vec<PathBuf>,
    /// Tests to leave out (-k)
    #[arg(long = "skip", value_enum, value_delimiter = ',')]
    pub skipped: Vec<Test>,
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
    #[arg(long = "drop-caches")]
    pub uncached: bool,
    /// What is read is checked to be what was written (-c)
    #[arg(long)]
    pub check: bool,
    /// No table of latencies (-L)
    #[arg(long)]
    pub no_latency: bool,
    /// Lines of commas (-T)
    #[arg(long, conflicts_with = "no_latency")]
    pub terse: bool,
    /// On devices: room between the threads (`-R` with `-o` and `-O`).
    #[arg(skip)]
    pub gap: Gap,
    /// Memory of the host; zero if unknown.
    #[arg(skip)]
    pub memory: Bytes,
    /// Seed of places and data.
    #[arg(skip = 1_u64)]
    pub seed: u64,
}

impl Default for TiobenchOptions {
    fn default() -> Self {
        defaults()
    }
}

impl SuiteOptions for TiobenchOptions {
    fn recipe(&self, surroundings: &Surroundings, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
        let options = Self { memory: surroundings.memory, ..self.clone() };
        Ok(Box::new(Tiobench::new(options, facts)?))
    }
}

impl TiobenchOptions {
    fn through(&self) -> Through {
        match (self.mmap, self.direct) {
            (true, _) => Through::Mapping,
            (_, true) => Through::Nothing,
            _ => Through::Cache,
        }
    }

    /// The program with its own defaults; those of tiobench have files of twice the memory.
    fn program(&self, facts: &Facts) -> Result<Program, String> {
        if self.tiobench {
            return Ok(Program::Tiobench {
                identifier: facts.subject.name.clone(),
                threads: if self.threads.is_empty() { vec![1, 2, 4, 8] } else { self.threads.clone() },
                size: self.size.unwrap_or(Bytes::new(2 * self.memory.get()).round_down(Bytes::mib(1))),
                random: self.random.unwrap_or(4000),
                rounds: self.rounds,
            });
        }
        let threads = match self.threads[..] {
            [] => 4,
            [threads] => threads,
            _ => return Err("tiotest makes one pass: give one number of threads, or --tiobench".into()),
        };
        let (size, random) = (self.size.unwrap_or(Bytes::mib(10)), self.random.unwrap_or(100_000));
        Ok(Program::Tiotest { threads, size, random })
    }
}

/// One run of tiotest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pass {
    threads: u32,
    /// Bytes of each thread's file.
    size: Bytes,
    /// Random operations of each thread.
    random: u64,
    /// Which of the passes with the same number of threads, from 1.
    round: u32,
}

/// tiotest or tiobench as a recipe.
#[derive(Clone, Debug)]
pub struct Tiobench {
    options: TiobenchOptions,
    program: Program,
    passes: Vec<Pass>,
    files: Vec<FileSpec>,
    /// Index of the pass, test and step, in their order.
    plan: Vec<(usize, Test, Step)>,
    /// What remembers the data of each file of each pass; empty where they are not checked.
    checked: Vec<Arc<Checked>>,
}

impl Tiobench {
    /// With these options on this ground.
    ///
    /// # Errors
    /// One line that says what does not fit, and what to give instead.
    pub fn new(options: TiobenchOptions, facts: &Facts) -> Result<Self, String> {
        let program = options.program(facts)?;
        let passes = passes(&program);
        refuse(&options, &passes, facts)?;
        let has_files = facts.nature == Nature::Directory;
        let files = steps::files(&options, &passes, has_files);
        let here = files.iter().filter(|file| file.path.is_none()).map(|file| file.size.get()).sum();
        fits(facts, Bytes::new(here))?;
        let tests = Test::value_variants().iter().copied().filter(|test| !options.skipped.contains(test));
        let tests: Vec<Test> = tests.collect();
        let step = |index: usize, test| steps::step(&options, &passes[index], test, has_files);
        let plan = (0..passes.len()).flat_map(|index| tests.iter().map(move |test| (index, *test)));
        let plan = plan.map(|(index, test)| (index, test, step(index, test))).collect();
        let suite = Self { options, program, passes, files, plan, checked: Vec::new() };
        if suite.options.check { suite.checking() } else { Ok(suite) }
    }

    /// What was seen of each test of a pass.
    fn seen<'a>(&'a self, done: &'a [Done], wanted: usize) -> impl Iterator<Item = (Test, Phase, &'a Done)> {
        let made = self.plan.iter().zip(done).filter(move |((pass, ..), _)| *pass == wanted);
        made.filter_map(|((_, test, _), done)| {
            let counts = if matches!(test, Test::Write | Test::RandomWrite) { Counts::Writes } else { Counts::Reads };
            Some((*test, Phase::of(done.seen.io()?, counts), done))
        })
    }
}

fn passes(program: &Program) -> Vec<Pass> {
    match program {
        Program::Tiotest { threads, size, random } => {
            vec![Pass { threads: *threads, size: *size, random: *random, round: 1 }]
        }
        Program::Tiobench { threads, size, random, rounds, .. } => {
            let share = |threads: u32, round| {
                let count = u64::from(threads.max(1));
                let mib = (size.get() >> 20) / count;
                Pass { threads, size: Bytes::mib(mib.max(1)), random: random / count, round }
            };
            threads.iter().flat_map(|threads| (1..=*rounds).map(|round| share(*threads, round))).collect()
        }
    }
}

fn refuse(options: &TiobenchOptions, passes: &[Pass], facts: &Facts) -> Result<(), String> {
    let block = u64::from(options.block);
    if passes.is_empty() || options.skipped.len() >= Test::value_variants().len() {
        return Err("nothing to do: give at least one number of threads, one pass, and skip not every test".into());
    }
    for pass in passes {
        if !(1..=255).contains(&pass.threads) {
            return Err(format!("{} threads: give 1 to 255", pass.threads));
        }
        if pass.random == 0 {
            return Err(format!("no random operation is left for each of {} threads: give more", pass.threads));
        }
        if pass.size == Bytes::ZERO || !pass.size.get().is_multiple_of(1 << 20) {
            return Err("a file's size: give whole MiB, at least one".into());
        }
        if block == 0 || block > pass.size.get() {
            return Err(format!("blocks of {block} bytes: give at least 1, and at most the {} of a file", pass.size));
        }
    }
    if options.through() == Through::Nothing && !block.is_multiple_of(facts.grid.max(1)) {
        return Err(format!("direct I/O needs blocks in multiples of {} bytes here: give larger blocks", facts.grid));
    }
    let has_files = facts.nature == Nature::Directory;
    if has_files && options.gap != Gap::default() {
        return Err("room between threads is for devices: leave it out, or give a device".into());
    }
    if !has_files && !options.directories.is_empty() {
        return Err("several directories need a directory to run in: give one, or leave them out".into());
    }
    if !options.gap.between.get().is_multiple_of(1 << 20) {
        return Err("room between threads: give whole MiB".into());
    }
    Ok(())
}

impl Recipe for Tiobench {
    fn name(&self) -> &'static str {
        "tiobench"
    }

    fn follows(&self) -> String {
        match self.program {
            Program::Tiotest { .. } => "tiotest 0.4.2".into(),
            Program::Tiobench { .. } => "tiobench 0.4.2".into(),
        }
    }

    fn settings(&self) -> Vec<(String, String)> {
        let options = &self.options;
        let pass = |pass: &Pass| format!("{} x {} with {} random", pass.threads, pass.size, pass.random);
        let passes: Vec<String> = self.passes.iter().filter(|pass| pass.round == 1).map(pass).collect();
        let through = match options.through() {
            Through::Cache => "the page cache",
            Through::Mapping => "a mapping",
            Through::Nothing => "nothing",
        };
        let skipped: Vec<&str> = options.skipped.iter().map(|test| test.name()).collect();
        [
            ("threads", passes.join(", ")),
            ("rounds", self.passes.iter().map(|pass| pass.round).max().unwrap_or(1).to_string()),
            ("block", Bytes::new(options.block.into()).to_string()),
            ("directories", options.directories.len().max(1).to_string()),
            ("skipped", if skipped.is_empty() { "nothing".into() } else { skipped.join(", ") }),
            ("through", through.into()),
            ("opened", if options.synchronous { "with O_SYNC" } else { "plainly" }.into()),
            ("written", if options.in_turn { "one after the other" } else { "at the same time" }.into()),
            ("page cache", if options.uncached { "emptied before tests" } else { "as it is" }.into()),
            ("seed", options.seed.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    fn files(&self) -> Vec<FileSpec> {
        self.files.clone()
    }

    fn expected(&self) -> usize {
        self.plan.len()
    }

    fn next(&mut self, done: &[Done], _facts: &Facts) -> Option<Step> {
        self.plan.get(done.len()).map(|(_, _, step)| step.clone())
    }

    fn listings(&self, done: &[Done], _facts: &Facts) -> Vec<Listing> {
        let rows = |index| self.seen(done, index).map(|(test, phase, _)| (test, phase)).collect::<Vec<_>>();
        if done.is_empty() {
            return Vec::new();
        }
        let (title, text) = match &self.program {
            Program::Tiotest { .. } if self.options.terse => ("tiotest -T", print::terse(&rows(0))),
            Program::Tiotest { threads, .. } => {
                let latencies = if self.options.no_latency { String::new() } else { print::latencies(&rows(0)) };
                ("tiotest", print::rates(*threads, &rows(0)) + &latencies)
            }
            Program::Tiobench { identifier, threads, size, .. } => {
                let all: Vec<_> =
                    (0..self.passes.len()).map(|index| (self.passes[index].threads, rows(index))).collect();
                ("tiobench", print::tables(identifier, threads, *size, self.options.block, &all))
            }
        };
        vec![Listing { title: title.into(), text }]
    }

    fn verdicts(&self, done: &[Done], facts: &Facts) -> Vec<String> {
        verdicts::of(self, done, facts)
    }

    fn has_failed(&self, _done: &[Done]) -> bool {
        self.checked.iter().any(|checked| checked.mismatches().total > 0)
    }
}

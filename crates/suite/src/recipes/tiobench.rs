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

use plimsoll_device::Checked;
use plimsoll_record::Listing;
use plimsoll_units::Bytes;

use super::phase::{Counts, Phase, fits};
use crate::ground::{Facts, Nature};
use crate::recipe::{Done, Recipe};
use crate::step::{FileSpec, Step};

/// Which of the two programs is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// tiotest: one pass.
    Tiotest {
        /// Threads, at least 1 (`-t`).
        threads: u32,
        /// Bytes of each thread's file, whole MiB (`-f`).
        size: Bytes,
        /// Random operations of each thread, at least 1 (`-r`).
        random: u64,
    },
    /// tiobench: passes with several numbers of threads, which share a total.
    Tiobench {
        /// What the machine is called in the tables (`--identifier`).
        identifier: String,
        /// Numbers of threads, in their order (`--threads`).
        threads: Vec<u32>,
        /// Bytes of all threads' files together, whole MiB (`--size`).
        size: Bytes,
        /// Random operations of all threads together (`--random`).
        random: u64,
        /// Passes with each number of threads (`--numruns`).
        rounds: u32,
    },
}

impl Program {
    /// tiotest as it is without options.
    pub const fn tiotest() -> Self {
        Self::Tiotest { threads: 4, size: Bytes::mib(10), random: 100_000 }
    }

    /// tiobench as it is without options, with files of twice `memory` in whole MiB.
    pub fn tiobench(identifier: &str, memory: Bytes) -> Self {
        let size = Bytes::new(2 * memory.get()).round_down(Bytes::mib(1));
        Self::Tiobench { identifier: identifier.into(), threads: vec![1, 2, 4, 8], size, random: 4000, rounds: 1 }
    }
}

/// What a pass consists of, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// The files are written from their beginning to their end.
    Write,
    /// Blocks at random places are written.
    RandomWrite,
    /// The files are read from their beginning to their end.
    Read,
    /// Blocks at random places are read.
    RandomRead,
}

impl Test {
    /// All, in their order, which is that of the numbers of `-k`: 0 to 3.
    pub const ALL: [Self; 4] = [Self::Write, Self::RandomWrite, Self::Read, Self::RandomRead];

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Through {
    /// The page cache, by calls.
    #[default]
    Cache,
    /// A mapping of the file into memory (`-M`).
    Mapping,
    /// Nothing: `O_DIRECT` (`-X`).
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

/// How tiotest or tiobench is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TiobenchOptions {
    /// Which of them.
    pub program: Program,
    /// Bytes of an operation (`-b`).
    pub block: u32,
    /// Directories that the files are dealt out to, in turn; empty for where the suite runs (`-d`).
    pub directories: Vec<PathBuf>,
    /// Tests that are left out (`-k`).
    pub skipped: Vec<Test>,
    /// How files are reached.
    pub through: Through,
    /// Files are opened with `O_SYNC` (`-S`).
    pub synchronous: bool,
    /// Files are written one after the other (`-W`).
    pub in_turn: bool,
    /// The page cache is emptied of the files before each test but the first (`-F`).
    pub uncached: bool,
    /// Where there are no files: room between the threads (`-R` with `-o` and `-O`).
    pub gap: Gap,
    /// Which listings there are.
    pub printed: Printed,
    /// Memory of the host, bytes; zero where it is not known. For verdicts only.
    pub memory: Bytes,
    /// What determines places and data.
    pub seed: u64,
}

/// What tiotest prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Printed {
    /// Both boxes.
    #[default]
    All,
    /// The first box only (`-L`).
    WithoutLatency,
    /// Lines of commas (`-T`).
    Terse,
}

impl Default for TiobenchOptions {
    fn default() -> Self {
        Self {
            program: Program::tiotest(),
            block: 4096,
            directories: Vec::new(),
            skipped: Vec::new(),
            through: Through::Cache,
            synchronous: false,
            in_turn: false,
            uncached: false,
            gap: Gap::default(),
            printed: Printed::All,
            memory: Bytes::ZERO,
            seed: 1,
        }
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
        let passes = passes(&options.program);
        refuse(&options, &passes, facts)?;
        let has_files = facts.nature == Nature::Directory;
        let files = steps::files(&options, &passes, has_files);
        let here = files.iter().filter(|file| file.path.is_none()).map(|file| file.size.get()).sum();
        fits(facts, Bytes::new(here))?;
        let tests = Test::ALL.into_iter().filter(|test| !options.skipped.contains(test));
        let tests: Vec<Test> = tests.collect();
        let step = |index: usize, test| steps::step(&options, &passes[index], test, has_files);
        let plan = (0..passes.len()).flat_map(|index| tests.iter().map(move |test| (index, *test)));
        let plan = plan.map(|(index, test)| (index, test, step(index, test))).collect();
        Ok(Self { options, passes, files, plan, checked: Vec::new() })
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
    if passes.is_empty() || options.skipped.len() >= Test::ALL.len() {
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
    if options.through == Through::Nothing && !block.is_multiple_of(facts.grid.max(1)) {
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
        match self.options.program {
            Program::Tiotest { .. } => "tiotest 0.4.2".into(),
            Program::Tiobench { .. } => "tiobench 0.4.2".into(),
        }
    }

    fn settings(&self) -> Vec<(String, String)> {
        let options = &self.options;
        let pass = |pass: &Pass| format!("{} x {} with {} random", pass.threads, pass.size, pass.random);
        let passes: Vec<String> = self.passes.iter().filter(|pass| pass.round == 1).map(pass).collect();
        let through = match options.through {
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
        let (title, text) = match &self.options.program {
            Program::Tiotest { threads, .. } => match self.options.printed {
                Printed::Terse => ("tiotest -T", print::terse(&rows(0))),
                Printed::WithoutLatency => ("tiotest", print::rates(*threads, &rows(0))),
                Printed::All => ("tiotest", print::rates(*threads, &rows(0)) + &print::latencies(&rows(0))),
            },
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

//! tiotest and tiobench: threads that write and read private files, sequentially and at random.
//!
//! tiotest 0.4.2 runs a single pass; tiobench runs several, with totals divided among the threads.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ValueEnum;
use plimsoll_device::{Blank, Checked, Checking, Contents, Engine, SyncMode};
use plimsoll_load::{JobSpec, LaneSpec, Pattern, Region, Until, WorkerOps};
use plimsoll_record::{Bins, Listing, SharedVerdict, StepQuantity, TiobenchVerdict, Verdict};
use plimsoll_units::{Bytes, Kind, Span};

use super::phase::{PhaseCounts, PhaseTotals, per_second};
use super::target::{check_grid, check_writable};
use crate::ground::{Facts, Nature};
use crate::options::{OptionsError, SuiteOptions, Surroundings, block_size};
use crate::recipe::{CompletedStep, Recipe, StepPlan, settings};
use crate::result::IoResult;
use crate::step::{Before, FileAccess, FilePart, FileSpec, Step, Work as StepWork, Worker, WorkerOrder};

/// The followed program, with its sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Program {
    /// tiotest: a single pass.
    Tiotest {
        threads: u32,
        /// File size per thread in bytes.
        size: Bytes,
        /// Random operations per thread.
        random: u64,
    },
    /// tiobench: passes with several numbers of threads, which divide a total.
    Tiobench {
        /// Name of the machine in the tables (`--identifier`).
        identifier: String,
        threads: Vec<u32>,
        /// Total size of the files in bytes.
        size: Bytes,
        /// Total number of random operations.
        random: u64,
        /// Passes per number of threads.
        rounds: u32,
    },
}

/// A test of a pass, in the order of `-k`: 0 to 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TiobenchTest {
    /// Sequential writes
    Write,
    /// Random writes
    RandomWrite,
    /// Sequential reads
    Read,
    /// Random reads
    RandomRead,
}

impl TiobenchTest {
    const fn name(self) -> &'static str {
        match self {
            Self::Write => "Write",
            Self::RandomWrite => "Random write",
            Self::Read => "Read",
            Self::RandomRead => "Random read",
        }
    }
}

/// Access path to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AccessPath {
    /// Page cache, by system calls.
    Cache,
    /// Memory mapping of the file.
    Mapping,
    /// `O_DIRECT`.
    Direct,
}

/// Gaps between the threads on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// Bytes between the end of a thread's part and the start of the next, in whole MiB (`-o`).
    pub between: Bytes,
    /// Whether there is also a gap before the first thread's part (`-O`).
    pub before_first: bool,
}

/// Options of tiotest and tiobench.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
#[allow(clippy::struct_excessive_bools)] // independent flags of the tool
pub struct TiobenchOptions {
    /// Threads, each with its own file (tiotest -t); several numbers for a pass each (tiobench --threads)
    #[arg(long, value_name = "THREADS", value_delimiter = ',')]
    pub threads: Vec<u32>,
    /// Size of the file of each thread (tiotest -f); of all together with --tiobench
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// Block size (-b)
    #[arg(long = "block-size", value_name = "SIZE", default_value = "4KiB", value_parser = block_size)]
    pub block: u32,
    /// Random operations per thread (tiotest -r); of all together with --tiobench
    #[arg(long, value_name = "OPERATIONS")]
    pub random: Option<u64>,
    /// Follow tiobench: 1, 2, 4 and 8 threads that share the total size and the random operations, and its tables
    #[arg(long)]
    pub tiobench: bool,
    /// tiobench: passes per number of threads (--numruns)
    #[arg(long, value_name = "TIMES", default_value_t = 1, requires = "tiobench")]
    pub rounds: u32,
    /// Further directories over which the files are distributed (-d)
    #[arg(long = "directory", value_name = "PATH")]
    pub directories: Vec<PathBuf>,
    /// Tests to leave out (-k)
    #[arg(long = "skip", value_enum, value_name = "SKIP", value_delimiter = ',')]
    pub skipped: Vec<TiobenchTest>,
    /// Map the files into memory (-M)
    #[arg(long, conflicts_with = "direct")]
    pub mmap: bool,
    /// Direct I/O (-X)
    #[arg(long)]
    pub direct: bool,
    /// Synchronous writes with `O_SYNC` (-S)
    #[arg(long)]
    pub synchronous: bool,
    /// Write the files one after the other (-W)
    #[arg(long)]
    pub in_turn: bool,
    /// Drop the files from the page cache between the tests (-F)
    #[arg(long = "drop-caches")]
    pub uncached: bool,
    /// Verify the data that are read (-c)
    #[arg(long)]
    pub check: bool,
    /// Omit the table of latencies (-L)
    #[arg(long)]
    pub no_latency: bool,
    /// Comma-separated output (-T)
    #[arg(long, conflicts_with = "no_latency")]
    pub terse: bool,
    /// Gaps between the threads on devices (`-R` with `-o` and `-O`).
    #[arg(skip)]
    pub gap: Gap,
    /// Memory of the host; zero if unknown.
    #[arg(skip)]
    pub memory: Bytes,
    /// Seed of offsets and data.
    #[arg(skip = 1_u64)]
    pub seed: u64,
}

/// Options that do not suit tiotest or its target.
#[rustfmt::skip]
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
enum TiobenchError {
    #[error("tiotest makes one pass: give one number of threads, or --tiobench")] Passes,
    #[error("nothing to do: give at least one number of threads, one pass, and skip not every test")] Empty,
    #[error("{0} threads: give 1 to 255")] Threads(u32),
    #[error("no random operation is left for each of {0} threads: give more")] Random(u32),
    #[error("a file's size: give whole MiB, at least one")] Size,
    #[error("blocks of {block} bytes: give at least 1, and at most the {size} of a file")]
    Block { block: u64, size: Bytes },
    #[error("room between threads is for devices: leave it out, or give a device")] GapInFiles,
    #[error("several directories need a directory to run in: give one, or leave them out")] Directories,
    #[error("room between threads: give whole MiB")] Gap,
}

impl SuiteOptions for TiobenchOptions {
    fn recipe(&self, surroundings: &Surroundings, facts: &Facts) -> Result<Box<dyn Recipe>, OptionsError> {
        let options = Self { memory: surroundings.memory, ..self.clone() };
        Ok(Box::new(Tiobench::new(options, facts)?))
    }
}

impl TiobenchOptions {
    fn access_path(&self) -> AccessPath {
        match (self.mmap, self.direct) {
            (true, _) => AccessPath::Mapping,
            (_, true) => AccessPath::Direct,
            _ => AccessPath::Cache,
        }
    }

    /// The program with its defaults; by default tiobench uses files of twice the memory.
    fn program(&self, facts: &Facts) -> Result<Program, TiobenchError> {
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
            _ => return Err(TiobenchError::Passes),
        };
        let (size, random) = (self.size.unwrap_or(Bytes::mib(10)), self.random.unwrap_or(100_000));
        Ok(Program::Tiotest { threads, size, random })
    }
}

/// A run of tiotest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pass {
    threads: u32,
    /// File size per thread in bytes.
    size: Bytes,
    /// Random operations per thread.
    random: u64,
    /// Number of the pass with this number of threads, from 1.
    round: u32,
}

/// tiotest or tiobench as a recipe.
#[derive(Clone, Debug)]
pub struct Tiobench {
    options: TiobenchOptions,
    program: Program,
    passes: Vec<Pass>,
    files: Vec<FileSpec>,
    /// Steps by index of their pass and test.
    plan: StepPlan<(usize, TiobenchTest)>,
    /// Checksums of the data of each file, by pass; empty without verification.
    checked: Vec<Arc<Checked>>,
}

impl Tiobench {
    /// The recipe on a ground with these facts.
    ///
    /// # Errors
    /// The options do not suit the benchmark or the ground.
    pub fn new(options: TiobenchOptions, facts: &Facts) -> Result<Self, OptionsError> {
        let program = options.program(facts)?;
        let passes = plan_passes(&program);
        refuse(&options, &passes, facts)?;
        let has_files = facts.nature == Nature::Directory;
        let files = files_of(&options, &passes, has_files);
        let here = files.iter().filter(|file| file.path.is_none()).map(|file| file.size.get()).sum();
        check_writable(facts, Bytes::new(here))?;
        let tests = TiobenchTest::value_variants().iter().copied().filter(|test| !options.skipped.contains(test));
        let tests: Vec<TiobenchTest> = tests.collect();
        let step = |index: usize, test| step_of(&options, &passes[index], test, has_files);
        let plan = (0..passes.len()).flat_map(|index| tests.iter().map(move |test| (index, *test)));
        let plan = plan.map(|(index, test)| ((index, test), step(index, test))).collect();
        let suite = Self { options, program, passes, files, plan, checked: Vec::new() };
        if suite.options.check { suite.checking() } else { Ok(suite) }
    }

    /// Results of the tests of a pass.
    fn observe<'a>(
        &'a self,
        done: &'a [CompletedStep],
        selected: usize,
    ) -> impl Iterator<Item = (TiobenchTest, PhaseTotals, &'a CompletedStep)> {
        let pass_steps = self.plan.done(done).filter(move |((pass, _), _)| *pass == selected);
        pass_steps.filter_map(|((_, test), done)| {
            let counts = if matches!(test, TiobenchTest::Write | TiobenchTest::RandomWrite) {
                PhaseCounts::Writes
            } else {
                PhaseCounts::Reads
            };
            Some((*test, PhaseTotals::of(done.result.io()?, counts), done))
        })
    }
}

fn plan_passes(program: &Program) -> Vec<Pass> {
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

fn refuse(options: &TiobenchOptions, passes: &[Pass], facts: &Facts) -> Result<(), OptionsError> {
    let block = u64::from(options.block);
    if passes.is_empty() || options.skipped.len() >= TiobenchTest::value_variants().len() {
        return Err(TiobenchError::Empty.into());
    }
    for pass in passes {
        if !(1..=255).contains(&pass.threads) {
            return Err(TiobenchError::Threads(pass.threads).into());
        }
        if pass.random == 0 {
            return Err(TiobenchError::Random(pass.threads).into());
        }
        if pass.size == Bytes::ZERO || !pass.size.get().is_multiple_of(1 << 20) {
            return Err(TiobenchError::Size.into());
        }
        if block == 0 || block > pass.size.get() {
            return Err(TiobenchError::Block { block, size: pass.size }.into());
        }
    }
    if options.access_path() == AccessPath::Direct {
        check_grid(facts.grid, block)?;
    }
    let has_files = facts.nature == Nature::Directory;
    if has_files && options.gap != Gap::default() {
        return Err(TiobenchError::GapInFiles.into());
    }
    if !has_files && !options.directories.is_empty() {
        return Err(TiobenchError::Directories.into());
    }
    if !options.gap.between.get().is_multiple_of(1 << 20) {
        return Err(TiobenchError::Gap.into());
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
        let access_path = match options.access_path() {
            AccessPath::Cache => "the page cache",
            AccessPath::Mapping => "a mapping",
            AccessPath::Direct => "nothing",
        };
        let skipped: Vec<&str> = options.skipped.iter().map(|test| test.name()).collect();
        settings([
            ("threads", passes.join(", ")),
            ("rounds", self.passes.iter().map(|pass| pass.round).max().unwrap_or(1).to_string()),
            ("block", Bytes::new(options.block.into()).to_string()),
            ("directories", options.directories.len().max(1).to_string()),
            ("skipped", if skipped.is_empty() { "nothing".into() } else { skipped.join(", ") }),
            ("through", access_path.into()),
            ("opened", if options.synchronous { "with O_SYNC" } else { "plainly" }.into()),
            ("written", if options.in_turn { "one after the other" } else { "at the same time" }.into()),
            ("page cache", if options.uncached { "emptied before tests" } else { "as it is" }.into()),
            ("seed", options.seed.to_string()),
        ])
    }

    fn files(&self) -> Vec<FileSpec> {
        self.files.clone()
    }

    fn steps(&self) -> &[Step] {
        &self.plan.steps
    }

    fn listings(&self, done: &[CompletedStep], _facts: &Facts) -> Vec<Listing> {
        let rows = |index| self.observe(done, index).map(|(test, phase, _)| (test, phase)).collect::<Vec<_>>();
        if done.is_empty() {
            return Vec::new();
        }
        let (title, text) = match &self.program {
            Program::Tiotest { .. } if self.options.terse => ("tiotest -T", terse(&rows(0))),
            Program::Tiotest { threads, .. } => {
                let latencies = if self.options.no_latency { String::new() } else { format_latencies(&rows(0)) };
                ("tiotest", rates(*threads, &rows(0)) + &latencies)
            }
            Program::Tiobench { identifier, threads, size, .. } => {
                let all: Vec<_> =
                    (0..self.passes.len()).map(|index| (self.passes[index].threads, rows(index))).collect();
                ("tiobench", tables(identifier, threads, *size, self.options.block, &all))
            }
        };
        vec![Listing { title: title.into(), text }]
    }

    fn verdicts(&self, done: &[CompletedStep], facts: &Facts) -> Vec<Verdict> {
        conclusions(self, done, facts)
    }

    fn has_failed(&self, _done: &[CompletedStep]) -> bool {
        self.checked.iter().any(|checked| checked.mismatches().total > 0)
    }
}

/// A file per thread; on a device a single file, divided among the threads.
fn files_of(options: &TiobenchOptions, passes: &[Pass], has_files: bool) -> Vec<FileSpec> {
    if !has_files {
        let end = |pass: &Pass| assign_part(options.gap, pass, pass.threads - 1);
        let ends = passes.iter().map(|pass| end(pass).start + pass.size.get());
        return vec![FileSpec::reserved(Bytes::new(ends.max().unwrap_or(0)))];
    }
    let threads = passes.iter().map(|pass| pass.threads).max().unwrap_or(0);
    let file = |index: u32| {
        let sizes = passes.iter().filter(|pass| pass.threads > index).map(|pass| pass.size);
        // A mapped file must have its full length.
        let reserved = options.access_path() == AccessPath::Mapping;
        let directory = options.directories.get(index as usize % options.directories.len().max(1));
        FileSpec { path: directory.cloned(), size: sizes.max().unwrap_or_default(), reserved, writes: true, device: 0 }
    };
    (0..threads).map(file).collect()
}

/// A thread's part of a shared space.
fn assign_part(gap: Gap, pass: &Pass, thread: u32) -> FilePart {
    let (between, thread) = (gap.between.get(), u64::from(thread));
    let first = if gap.before_first { between } else { 0 };
    FilePart { file: 0, start: first + thread * (pass.size.get() + between), length: pass.size }
}

fn step_of(options: &TiobenchOptions, pass: &Pass, test: TiobenchTest, has_files: bool) -> Step {
    let threads = pass.threads;
    let workers = (0..threads).map(|thread| {
        let own = FilePart { file: thread as usize, start: 0, length: pass.size };
        let part = if has_files { own } else { assign_part(options.gap, pass, thread) };
        Worker { parts: vec![part], ..worker(options, pass, test, thread) }
    });
    let name = format!("{}, {threads} {}", test.name(), if threads == 1 { "thread" } else { "threads" });
    let step = Step::io(name, workers.collect()).round(pass.round).measuring(measures(test));
    step.together(|io| {
        io.before = match test {
            TiobenchTest::Write => Before::Anew,
            _ if options.uncached => Before::Uncached,
            _ => Before::AsTheyAre,
        };
        if options.in_turn && test == TiobenchTest::Write {
            io.order = WorkerOrder::InTurn;
        }
    })
}

fn worker(options: &TiobenchOptions, pass: &Pass, test: TiobenchTest, thread: u32) -> Worker {
    let work = if matches!(test, TiobenchTest::Write | TiobenchTest::RandomWrite) {
        WorkerOps::Writes
    } else {
        WorkerOps::Reads
    };
    let (pattern, operations) = match test {
        TiobenchTest::Write | TiobenchTest::Read => (Pattern::Sequential, pass.size.get() / u64::from(options.block)),
        TiobenchTest::RandomWrite | TiobenchTest::RandomRead => (Pattern::Uniform, pass.random),
    };
    let access = FileAccess {
        engine: if options.access_path() == AccessPath::Mapping { Engine::Mapped } else { Engine::Inline },
        direct: options.access_path() == AccessPath::Direct,
        opened: if options.synchronous { SyncMode::Sync } else { SyncMode::None },
        ..FileAccess::buffered()
    };
    let lane = LaneSpec::new(options.block, pattern);
    let job = JobSpec {
        flush_at_end: work == WorkerOps::Writes,
        seed: options.seed.wrapping_add(u64::from(thread) << 8).wrapping_add(test as u64),
        ..JobSpec::new(work, lane, Region::first(pass.size), Until::operations(operations))
    };
    Worker::new(job, 0, pass.size, access)
}

const fn measures(test: TiobenchTest) -> StepQuantity {
    match test {
        TiobenchTest::Write => StepQuantity::ConcurrentNewFiles,
        TiobenchTest::RandomWrite => StepQuantity::RandomWritesOfFiles,
        TiobenchTest::Read => StepQuantity::RecentlyWrittenReads,
        TiobenchTest::RandomRead => StepQuantity::ConcurrentRandomReads,
    }
}

impl Tiobench {
    /// Adds verification of all data read, at the cost of processor time. Mismatches appear in the verdicts, and fail
    /// the suite.
    ///
    /// # Errors
    /// The blocks cannot be checked.
    fn checking(mut self) -> Result<Self, OptionsError> {
        let interval = Bytes::new(self.options.block.into());
        let mut checks_by_pass: Vec<(usize, Vec<Arc<Checked>>)> = Vec::new();
        for ((pass, _), step) in self.plan.iter_mut() {
            let StepWork::Io(io) = &mut step.work else { continue };
            if checks_by_pass.last().is_none_or(|(of, _)| of != pass) {
                let one = |(index, worker): (usize, &Worker)| {
                    let part = &worker.parts[0];
                    let region = Region { start: part.start, length: part.length };
                    let seed = self.options.seed.wrapping_add((*pass as u64) << 32).wrapping_add(index as u64);
                    let how = Checking { seed, interval, region, compressible: 0.0, blank: Blank::PassedOver };
                    Checked::new(&how).map(Arc::new)
                };
                checks_by_pass.push((*pass, io.workers.iter().enumerate().map(one).collect::<Result<_, _>>()?));
            }
            let Some((_, checked)) = checks_by_pass.last() else { continue };
            for (worker, checked) in io.workers.iter_mut().zip(checked) {
                worker.access.contents = Contents::Generated(Arc::clone(checked) as Arc<_>);
            }
        }
        self.checked = checks_by_pass.into_iter().flat_map(|(_, checked)| checked).collect();
        Ok(self)
    }

    /// Result of the verification, if enabled.
    fn of_checks(&self) -> Option<Verdict> {
        if self.checked.is_empty() {
            return None;
        }
        let blocks: u64 = self.checked.iter().map(|checked| checked.compared()).sum();
        let all: Vec<_> = self.checked.iter().map(|checked| checked.mismatches()).collect();
        let wrong: u64 = all.iter().map(|mismatches| mismatches.total).sum();
        let first = all.iter().find_map(|mismatches| mismatches.first.first());
        Some(match first {
            Some(first) => SharedVerdict::WrongData { blocks, wrong, first: Some(first.to_string()) }.into(),
            None if blocks == 0 => TiobenchVerdict::NothingCompared.into(),
            None => SharedVerdict::DataIntact { blocks }.into(),
        })
    }
}

const MIB: f64 = 1_048_576.0;
/// Thresholds of slow operations.
const SLOW: [Span; 2] = [Span::from_secs(2), Span::from_secs(10)];

/// Results of the tests of a pass.
type PassResults = [(TiobenchTest, PhaseTotals)];

fn to_mib(phase: &PhaseTotals) -> f64 {
    phase.bytes as f64 / MIB
}

fn mib_per_second(phase: &PhaseTotals) -> f64 {
    phase.bytes_per_second().unwrap_or(0.0) / MIB
}

fn per_cent(phase: &PhaseTotals, part: impl Fn(&plimsoll_record::CpuTime) -> Span) -> Option<f64> {
    per_second(part(phase.cpu.as_ref()?).as_secs_f64() * 100.0, phase.span)
}

fn mean_ms(times: &Bins) -> f64 {
    if times.is_empty() { 0.0 } else { times.sum_ns as f64 / times.count as f64 / 1e6 }
}

fn longest_ms(times: &Bins) -> f64 {
    times.max_ns as f64 / 1e6
}

/// Percentage of operations above a limit.
fn above(times: &Bins, limit: Span) -> f64 {
    // A fraction of exactly 1: the difference might not be exactly zero.
    let within = times.share_within(limit);
    if within >= 1.0 { 0.0 } else { (1.0 - within) * 100.0 }
}

/// Table of rates.
fn rates(threads: u32, rows: &PassResults) -> String {
    let mut text = format!("Tiotest results for {threads} concurrent io threads:\n");
    text += ",----------------------------------------------------------------------.\n";
    text += "| Item                  | Time     | Rate         | Usr CPU  | Sys CPU |\n";
    text += "+-----------------------+----------+--------------+----------+---------+\n";
    for (test, phase) in rows {
        let amount = to_mib(phase);
        let item = match test {
            TiobenchTest::Write => format!("Write {amount:>11.0}"),
            TiobenchTest::RandomWrite => format!("Random Write {amount:>4.0}"),
            TiobenchTest::Read => format!("Read {amount:>12.0}"),
            TiobenchTest::RandomRead => format!("Random Read {amount:>5.0}"),
        };
        let cpu = |share: Option<f64>| share.map_or("    -".into(), |share| format!("{share:5.1}"));
        let (user, system) = (per_cent(phase, |cpu| cpu.user), per_cent(phase, |cpu| cpu.system));
        let (seconds, rate) = (phase.span.as_secs_f64(), mib_per_second(phase));
        text += &format!("| {item} MBs | {seconds:6.1} s | {rate:7.3} MB/s | {} %  | {} % |\n", cpu(user), cpu(system));
    }
    text + "`----------------------------------------------------------------------'\n"
}

/// Table of latencies.
fn format_latencies(rows: &PassResults) -> String {
    let mut text = "Tiotest latency results:\n".to_owned();
    text += ",-------------------------------------------------------------------------.\n";
    text += "| Item         | Average latency | Maximum latency | % >2 sec | % >10 sec |\n";
    let line = "+--------------+-----------------+-----------------+----------+-----------+\n";
    text += line;
    let row = |name: &str, times: &Bins| {
        let [mean, longest] = [mean_ms(times), longest_ms(times)];
        let [some, many] = SLOW.map(|limit| above(times, limit));
        format!("| {name:<12} | {mean:12.3} ms | {longest:12.3} ms | {some:8.5} | {many:9.5} |\n")
    };
    for (test, phase) in rows {
        text += &row(name_test(*test), &phase.times);
    }
    text += &line.replacen('+', "|", 1).replace("+\n", "|\n");
    text += &row("Total", &sum_times(rows));
    text + "`--------------+-----------------+-----------------+----------+-----------'\n\n"
}

const fn name_test(test: TiobenchTest) -> &'static str {
    match test {
        TiobenchTest::Write => "Write",
        TiobenchTest::RandomWrite => "Random Write",
        TiobenchTest::Read => "Read",
        TiobenchTest::RandomRead => "Random Read",
    }
}

fn sum_times(rows: &PassResults) -> Bins {
    let mut total = Bins::default();
    for (_, phase) in rows {
        total.merge(&phase.times);
    }
    total
}

/// Comma-separated lines: MiB, seconds, user and system seconds, mean and maximum in milliseconds, percentages above 2
/// and 10 s.
fn terse(rows: &PassResults) -> String {
    let mut text = String::new();
    for (test, phase) in rows {
        let name = match test {
            TiobenchTest::Write => "write",
            TiobenchTest::RandomWrite => "rwrite",
            TiobenchTest::Read => "read",
            TiobenchTest::RandomRead => "rread",
        };
        let cpu = |span: Option<Span>| span.map_or("-".into(), |span| format!("{:.5}", span.as_secs_f64()));
        let (user, system) = (phase.cpu.map(|cpu| cpu.user), phase.cpu.map(|cpu| cpu.system));
        let (amount, seconds) = (to_mib(phase), phase.span.as_secs_f64());
        text +=
            &format!("{name}:{amount:.5},{seconds:.5},{},{},{}\n", cpu(user), cpu(system), terse_times(&phase.times));
    }
    text + &format!("total:{}\n", terse_times(&sum_times(rows)))
}

fn terse_times(times: &Bins) -> String {
    let [some, many] = SLOW.map(|limit| above(times, limit));
    format!("{:.5},{:.5},{some:.5},{many:.5}", mean_ms(times), longest_ms(times))
}

/// Sums over the passes with the same number of threads.
struct PassSums {
    threads: u32,
    rounds: Vec<PhaseTotals>,
}

impl PassSums {
    fn sum(&self, of: impl Fn(&PhaseTotals) -> f64) -> f64 {
        self.rounds.iter().map(of).sum()
    }

    fn text(&self, identifier: &str, size: Bytes, block: u32) -> String {
        let seconds = self.sum(|phase| phase.span.as_secs_f64()).max(f64::MIN_POSITIVE);
        let rate = self.sum(to_mib) / seconds;
        let used = |phase: &PhaseTotals| phase.cpu.map_or(f64::NAN, |cpu| cpu.total().as_secs_f64());
        let cpu = Some(100.0 * self.sum(used) / seconds).filter(|cpu| !cpu.is_nan());
        let cpu_text: String = cpu.map_or("-".into(), five_letters);
        // The original adds a small value to the divisor to avoid a division by zero.
        let efficiency = cpu.map_or("-".into(), |cpu| format!("{:.0}", rate / (cpu / 100.0 + 1e-5)));
        // The original prints the sum of the latencies of several passes. This is the mean, as the title states.
        let rounds = self.rounds.len().max(1) as f64;
        let mean = self.sum(|phase| mean_ms(&phase.times)) / rounds;
        let longest = self.rounds.iter().map(|phase| longest_ms(&phase.times)).fold(0.0, f64::max);
        let [some, many] = SLOW.map(|limit| self.sum(|phase| above(&phase.times, limit)) / rounds);
        let name: String = identifier.chars().take(28).collect();
        let size = centred(&(size.get() >> 20).to_string());
        format!(
            "{name:<28} {size} {} {:>3}  {rate:>12.2} {cpu_text:>5}% {mean:>9.3} {longest:>11.2}  {some:>8.5} {many:>8.5} \
             {efficiency:>7}\n",
            centred(&block.to_string()),
            self.threads,
        )
    }
}

/// First five characters of a number with 15 digits: the width of its column.
fn five_letters(value: f64) -> String {
    let total = format!("{value:.12}");
    total.trim_end_matches('0').trim_end_matches('.').chars().take(5).collect()
}

/// Centred in six characters, biased to the left.
fn centred(text: &str) -> String {
    format!("{text:^6}")
}

const HEAD: &str =
    "                              File   Blk   Num                         Avg      Maximum      Lat%     Lat%     CPU
Identifier                    Size   Size  Thr      Rate     (CPU%)  Latency    Latency      >2s      >10s     Eff
---------------------------- ------ ------ ---  ------------ ------ --------- -----------  -------- -------- -------
";

const UNITS: &str = "
Unit information
================
File size = megabytes (2^20 bytes, 1,048,576 bytes)
Blk Size  = bytes
Rate      = megabytes per second
CPU%      = percentage of CPU used during the test
Latency   = milliseconds
Lat%      = percent of requests that took longer than X seconds
CPU Eff   = Rate divided by CPU% - throughput per cpu load
";

/// The four tables, with a row per number of threads.
fn tables(
    identifier: &str,
    threads: &[u32],
    size: Bytes,
    block: u32,
    passes: &[(u32, Vec<(TiobenchTest, PhaseTotals)>)],
) -> String {
    let titles = [
        (TiobenchTest::Read, "Sequential Reads"),
        (TiobenchTest::RandomRead, "Random Reads"),
        (TiobenchTest::Write, "Sequential Writes"),
        (TiobenchTest::RandomWrite, "Random Writes"),
    ];
    let mut text = UNITS.to_owned();
    for (selected, title) in titles {
        text += &format!("\n{title}\n{}\n{HEAD}", "=".repeat(title.len()));
        for count in threads {
            let of = |pass: &(u32, Vec<(TiobenchTest, PhaseTotals)>)| {
                pass.1.iter().find(|(test, _)| *test == selected).cloned()
            };
            let rounds = passes.iter().filter(|pass| pass.0 == *count).filter_map(of).map(|(_, phase)| phase);
            let row = PassSums { threads: *count, rounds: rounds.collect() };
            if !row.rounds.is_empty() {
                text += &row.text(identifier, size, block);
            }
        }
    }
    text
}

fn conclusions(tiobench: &Tiobench, done: &[CompletedStep], facts: &Facts) -> Vec<Verdict> {
    let mut verdicts: Vec<Verdict> = vec![match tiobench.program {
        Program::Tiotest { .. } => TiobenchVerdict::RowOrder.into(),
        Program::Tiobench { random, .. } => {
            let passes = tiobench.passes.iter().filter(|pass| pass.round == 1);
            let per_thread = passes.map(|pass| (pass.random, pass.threads)).collect();
            TiobenchVerdict::RandomOperations { total: random, per_thread }.into()
        }
    }];
    for (index, pass) in tiobench.passes.iter().enumerate() {
        for (test, phase, done) in tiobench.observe(done, index) {
            let Some(observed) = done.result.io() else { continue };
            let verdict = match test {
                TiobenchTest::RandomRead => Some(of_depth(tiobench, pass, &phase, &done.step.name)),
                TiobenchTest::Write | TiobenchTest::RandomWrite => of_flush(observed, &done.step.name),
                TiobenchTest::Read => None,
            };
            verdicts.extend(verdict.map(Verdict::from));
        }
    }
    if facts.has_cache() && tiobench.options.access_path() != AccessPath::Direct {
        verdicts.extend(of_memory(tiobench).map(Verdict::from));
    }
    verdicts.extend(tiobench.of_checks());
    verdicts
}

/// Rate of threads with a single operation each: number of threads divided by the mean latency.
fn of_depth(tiobench: &Tiobench, pass: &Pass, phase: &PhaseTotals, name: &str) -> TiobenchVerdict {
    let block_bytes = Bytes::new(tiobench.options.block.into());
    let blocks = (pass.size.get() / block_bytes.get().max(1)).max(1) as f64;
    TiobenchVerdict::RandomReadRate {
        step: name.into(),
        per_second: phase.operations_per_second().unwrap_or(0.0),
        block_bytes,
        threads: pass.threads,
        mean: phase.times.mean().unwrap_or(Span::ZERO),
        // Expected fraction of blocks visited by random draws with replacement.
        touched_share: 1.0 - (-(pass.random as f64) / blocks).exp(),
    }
}

/// Fraction of the time that is included in the rate, but in no latency.
fn of_flush(observed: &IoResult, name: &str) -> Option<TiobenchVerdict> {
    let total = observed.total();
    let flushes = total.response_where(|counter| counter.kind == Kind::Flush);
    let max = Span::from_nanos(flushes.max_ns);
    let share = max.as_secs_f64() / observed.span().as_secs_f64().max(1e-9);
    (share >= 0.01).then(|| TiobenchVerdict::FinalFlush { step: name.into(), max, share })
}

fn of_memory(tiobench: &Tiobench) -> Option<SharedVerdict> {
    let memory_bytes = tiobench.options.memory;
    let largest = tiobench.passes.iter().map(|pass| u64::from(pass.threads) * pass.size.get()).max()?;
    let size_bytes = Bytes::new(largest);
    if memory_bytes == Bytes::ZERO {
        return Some(SharedVerdict::MemoryUnknown { size_bytes });
    }
    (size_bytes <= memory_bytes).then_some(SharedVerdict::DataInMemory { size_bytes, memory_bytes })
}

//! CrystalDiskMark, with the methods of versions 3.0 and 8.0: passes over a file, scored by the best run.
//!
//! Version 3 runs until its timer, which it reads after a whole pass or a batch, and flushes its writes inside the
//! measured time. Version 8 uses `DiskSpd`: a fixed queue depth per thread and a fixed time, without a flush. Tests
//! that were not executed have a score of zero in the listing, as in the originals. A megabyte is 1,000,000 bytes.

use std::str::FromStr;

use clap::{ArgAction, ValueEnum};
use plimsoll_device::{Contents, Engine, Flush};
use plimsoll_load::{JobSpec, LaneSpec, Pattern, Region, Until, WorkerOps as Does};
use plimsoll_record::{Bins, CrystalDiskMarkVerdict, Listing, SharedVerdict, StepQuantity, Verdict};
use plimsoll_units::{Bytes, Kind, Span};

use super::target::{check_grid, check_space};
use crate::ground::{Facts, Nature};
use crate::options::{FlagError, OptionsError, SuiteOptions, Surroundings, percent, spelled, switch};
use crate::recipe::{CompletedStep, Recipe, StepPlan};
use crate::result::IoResult;
use crate::step::{FileAccess, FilePart, FileSpec, Step, Work, Worker};

/// Version of methods and layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 3.0: sequential, 512 KB and 4 KB at depths of 1 and 32; 1 MiB and less by synchronous calls.
    Three,
    /// 8.0: tests of a profile, by queue depths and threads.
    Eight,
}

impl FromStr for Version {
    type Err = FlagError;

    fn from_str(text: &str) -> Result<Self, FlagError> {
        match text {
            "3" => Ok(Self::Three),
            "8" => Ok(Self::Eight),
            _ => Err(FlagError::Version(text.to_owned())),
        }
    }
}

/// Tests of version 8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Profile {
    /// 1 MiB at Q8T1 and Q1T1, 4 KiB at Q32T1 and Q1T1
    #[default]
    Default,
    /// 1 MiB at Q8T1, 128 KiB at Q32T1, 4 KiB at Q32T16 and Q1T1
    Nvme,
    /// 1 MiB at Q8T1, 4 KiB at Q32T1
    Peak,
    /// 1 MiB and 4 KiB at Q1T1
    Real,
    /// 1 MiB at Q8T1
    Demo,
    /// Those of the default, a second each, with half a minute of rest between them
    Flash,
}

/// Score of a test from its runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// The best run; for latencies, the lowest mean.
    Best,
    /// The mean of the runs.
    Mean,
}

/// Tested directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directions {
    /// Reads, then writes.
    Both,
    /// Only reads. A device is never written.
    Reads,
}

/// Contents of the file and of writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Random data, which do not compress.
    Random,
    /// Zeroes, which some devices do not store.
    Zeroes,
}

/// Options of CrystalDiskMark.
#[derive(Clone, Debug, PartialEq, clap::Args)]
pub struct CrystalDiskMarkOptions {
    /// Version whose tests and layout are used
    #[arg(id = "semantics", long = "version", value_name = "3|8", default_value = "8")]
    pub version: Version,
    /// Tests of version 8
    #[arg(long, value_enum, default_value_t, hide_default_value = true)]
    pub profile: Profile,
    /// Version 8: repeat each test as a mix with this share of reads
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub mix: Option<f64>,
    /// Size of the test file; 1000 MiB for version 3, 1 GiB for version 8
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// Measured runs of each test
    #[arg(long, value_name = "RUNS", default_value_t = 5)]
    pub runs: u32,
    /// Score is the mean of the runs instead of the best
    #[arg(long = "mean", action = ArgAction::SetTrue, value_parser = switch(Score::Best, Score::Mean))]
    pub score: Score,
    /// Only read: an existing file or device is never written to
    #[arg(
        long = "reads-only",
        action = ArgAction::SetTrue,
        value_parser = switch(Directions::Both, Directions::Reads)
    )]
    pub directions: Directions,
    /// Duration of a run
    #[arg(long, value_name = "TIME")]
    pub measure: Option<Span>,
    /// Pause between two tests
    #[arg(long, value_name = "TIME")]
    pub interval: Option<Span>,
    /// Write zeroes instead of random data
    #[arg(long = "zeroes", action = ArgAction::SetTrue, value_parser = switch(Data::Random, Data::Zeroes))]
    pub data: Data,
    /// Version 8: tests instead of the profile's; empty for the profile.
    #[arg(skip)]
    pub tests: Vec<DiskMarkTest>,
    /// Seed of random offsets.
    #[arg(skip = 1_u64)]
    pub seed: u64,
    /// Date in the listing; empty for no date.
    #[arg(skip)]
    pub date: String,
}

impl CrystalDiskMarkOptions {
    /// The defaults of a version with a profile.
    pub fn of(version: Version, profile: Profile) -> Self {
        Self { version, profile, ..Self::defaults() }
    }

    /// Bytes of the file.
    fn size(&self) -> Bytes {
        self.size.unwrap_or(match self.version {
            Version::Three => Bytes::mib(1000),
            Version::Eight => Bytes::gib(1),
        })
    }

    /// Duration of a run.
    fn measure(&self) -> Span {
        self.measure.unwrap_or(Span::from_secs(if self.profile == Profile::Flash { 1 } else { 5 }))
    }

    /// Pause between two tests.
    fn interval(&self) -> Span {
        self.interval.unwrap_or(match (self.version, self.profile) {
            (Version::Three, _) => Span::ZERO,
            (Version::Eight, Profile::Flash) => Span::from_secs(30),
            (Version::Eight, _) => Span::from_secs(5),
        })
    }

    fn checked(&self, facts: &Facts) -> Result<(), OptionsError> {
        let (mib, size) = (1 << 20, self.size());
        if self.version == Version::Three && (self.profile, self.mix) != (Profile::Default, None) {
            return Err(CrystalDiskMarkError::ProfileOfVersionThree.into());
        }
        if self.version == Version::Three && !self.tests.is_empty() {
            return Err(CrystalDiskMarkError::TestsOfVersionThree.into());
        }
        if self.mix.is_some_and(|reads| !(reads > 0.0 && reads < 1.0)) {
            return Err(CrystalDiskMarkError::Mix.into());
        }
        if size.get() < mib || !size.get().is_multiple_of(mib) {
            return Err(CrystalDiskMarkError::Size(size).into());
        }
        if !(1..=99).contains(&self.runs) {
            return Err(CrystalDiskMarkError::Runs(self.runs).into());
        }
        if self.measure().is_zero() {
            return Err(CrystalDiskMarkError::Time.into());
        }
        check_space(facts, size)?;
        if facts.read_only && self.directions != Directions::Reads {
            return Err(CrystalDiskMarkError::ReadOnly(facts.subject.name.clone()).into());
        }
        tests_of(self).iter().try_for_each(|test| test.checked(size, facts.grid))
    }
}

/// Options that do not suit CrystalDiskMark or its target.
#[rustfmt::skip]
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
enum CrystalDiskMarkError {
    #[error("version 3 has one list of tests: leave the profile and the mix out, or take version 8")]
    ProfileOfVersionThree,
    #[error("version 3 has one list of tests: take version 8 for others")] TestsOfVersionThree,
    #[error("a mix is a share of reads between 0 and 100 %, such as 70: write --mix 70")] Mix,
    #[error("the file is measured in whole MiB, and {0} is not: write --size 1GiB")] Size(Bytes),
    #[error("{0} runs are not between 1 and 99: write --runs 5")] Runs(u32),
    #[error("a run needs time: write --measure 5s")] Time,
    #[error("{0}: it would be written to: name it with --destroy too, or give --reads-only")] ReadOnly(String),
    #[error("a test has blocks, 1 to 512 queues and 1 to 64 threads, not Q{queues}T{threads} of {block} bytes")]
    Test { queues: u32, threads: u32, block: u32 },
    #[error("{threads} threads of {block} bytes need more than {size}: write --size {needed}")]
    TestSize { threads: u32, block: u32, size: Bytes, needed: Bytes },
}

impl SuiteOptions for CrystalDiskMarkOptions {
    fn recipe(&self, surroundings: &Surroundings, facts: &Facts) -> Result<Box<dyn Recipe>, OptionsError> {
        let options = Self { date: surroundings.date.clone(), ..self.clone() };
        Ok(Box::new(CrystalDiskMark::new(options, facts)?))
    }
}

/// The recipe.
#[derive(Debug)]
pub struct CrystalDiskMark {
    options: CrystalDiskMarkOptions,
    tests: Vec<DiskMarkTest>,
    fills: bool,
    plan: StepPlan<Goal>,
}

impl CrystalDiskMark {
    /// The recipe on a ground with these facts.
    ///
    /// # Errors
    /// The options do not suit the benchmark or the ground.
    pub fn new(options: CrystalDiskMarkOptions, facts: &Facts) -> Result<Self, OptionsError> {
        options.checked(facts)?;
        // A device is read as it is; a file has to be filled.
        let fills = options.directions != Directions::Reads || facts.nature == Nature::Directory;
        let (tests, plan) = (tests_of(&options), planned(&options, fills));
        Ok(Self { options, tests, fills, plan })
    }
}

impl Recipe for CrystalDiskMark {
    fn name(&self) -> &'static str {
        "crystaldiskmark"
    }

    fn follows(&self) -> String {
        let version = match self.options.version {
            Version::Three => "3.0",
            Version::Eight => "8.0",
        };
        format!("CrystalDiskMark {version}")
    }

    fn settings(&self) -> Vec<(String, String)> {
        let options = &self.options;
        let mut settings = vec![
            ("size".to_owned(), options.size().to_string()),
            ("runs".to_owned(), options.runs.to_string()),
            ("score".to_owned(), format!("{:?}", options.score).to_lowercase()),
            ("measure".to_owned(), options.measure().to_string()),
            ("interval".to_owned(), options.interval().to_string()),
            ("data".to_owned(), format!("{:?}", options.data).to_lowercase()),
            ("directions".to_owned(), format!("{:?}", options.directions).to_lowercase()),
        ];
        if options.version == Version::Eight {
            settings.insert(0, ("profile".to_owned(), spelled(&options.profile)));
            let mix = options.mix.map(|reads| ("mix".to_owned(), format!("{:.0} % reads", reads * 100.0)));
            settings.extend(mix);
        }
        settings
    }

    fn files(&self) -> Vec<FileSpec> {
        vec![FileSpec { writes: self.fills, ..FileSpec::reserved(self.options.size()) }]
    }

    fn steps(&self) -> &[Step] {
        &self.plan.steps
    }

    fn listings(&self, done: &[CompletedStep], facts: &Facts) -> Vec<Listing> {
        let cells = self.cells(done);
        vec![
            Listing {
                title: format!("text of {}", self.follows()),
                text: match self.options.version {
                    Version::Three => text_three(&self.options, &cells, facts),
                    Version::Eight => text_eight(&self.options, &self.tests, &cells, facts),
                },
            },
            Listing { title: "every run".into(), text: table(&cells) },
        ]
    }

    fn verdicts(&self, done: &[CompletedStep], facts: &Facts) -> Vec<Verdict> {
        conclusions(&self.options, &self.cells(done), facts)
    }
}

impl CrystalDiskMark {
    /// Results by test and direction, in the order of their lines.
    fn cells(&self, done: &[CompletedStep]) -> Vec<TestRuns> {
        let mut cells: Vec<TestRuns> = Vec::new();
        for (goal, done) in self.plan.done(done) {
            let (Goal::Run(line), Some(observed)) = (*goal, done.result.io()) else { continue };
            if cells.last().is_none_or(|cell| cell.line != line) {
                cells.push(TestRuns { line, name: done.step.name.clone(), runs: Vec::new() });
            }
            let cell = cells.last_mut().expect("one was just added where there was none");
            cell.runs.extend(RunResult::of(observed));
        }
        cells
    }
}

const KIB: u32 = 1 << 10;
const MIB: u32 = 1 << 20;

/// A test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskMarkTest {
    /// Sequential; otherwise random.
    pub sequential: bool,
    /// Block size in bytes.
    pub block: u32,
    /// Queue depth per thread.
    pub queues: u32,
    /// Number of threads.
    pub threads: u32,
}

impl DiskMarkTest {
    /// A sequential test.
    pub const fn sequential(block: u32, queues: u32, threads: u32) -> Self {
        Self { sequential: true, block, queues, threads }
    }

    /// A random test.
    pub const fn random(block: u32, queues: u32, threads: u32) -> Self {
        Self { sequential: false, ..Self::sequential(block, queues, threads) }
    }

    fn checked(&self, size: Bytes, grid: u64) -> Result<(), OptionsError> {
        let Self { block, queues, threads, .. } = *self;
        check_grid(grid, block.into())?;
        if block == 0 || !(1..=512).contains(&queues) || !(1..=64).contains(&threads) {
            return Err(CrystalDiskMarkError::Test { queues, threads, block }.into());
        }
        let needed = u64::from(block) * u64::from(threads);
        if size.get() < needed {
            let needed = Bytes::new(needed.next_multiple_of(MIB.into()));
            return Err(CrystalDiskMarkError::TestSize { threads, block, size, needed }.into());
        }
        Ok(())
    }
}

/// Line of a figure: direction and test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FigureLine {
    direction: RunDirection,
    test: usize,
    block: u32,
}

/// The direction of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum RunDirection {
    Reads,
    Writes,
    /// Mix with this share of reads.
    Mix(f64),
}

// Shares of reads are never NaN: options are validated.
impl Eq for RunDirection {}

/// The purpose of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    /// Fills the file, warms up or pauses.
    Nothing,
    /// Its figure counts for this line.
    Run(FigureLine),
}

/// Tests in the order of their lines.
fn tests_of(options: &CrystalDiskMarkOptions) -> Vec<DiskMarkTest> {
    if !options.tests.is_empty() {
        return options.tests.clone();
    }
    let (deep, plain) = (DiskMarkTest::sequential(MIB, 8, 1), DiskMarkTest::sequential(MIB, 1, 1));
    let (queued, single) = (DiskMarkTest::random(4 * KIB, 32, 1), DiskMarkTest::random(4 * KIB, 1, 1));
    if options.version == Version::Three {
        return vec![plain, DiskMarkTest::random(512 * KIB, 1, 1), single, queued];
    }
    match options.profile {
        Profile::Default | Profile::Flash => vec![deep, plain, queued, single],
        Profile::Nvme => {
            vec![deep, DiskMarkTest::sequential(128 * KIB, 32, 1), DiskMarkTest::random(4 * KIB, 32, 16), single]
        }
        Profile::Peak => vec![deep, queued],
        Profile::Real => vec![plain, single],
        Profile::Demo => vec![deep],
    }
}

/// All steps. Version 3 alternates reads and writes; version 8 executes all reads, then all writes, then all mixes.
fn planned(options: &CrystalDiskMarkOptions, fills: bool) -> StepPlan<Goal> {
    let tests = tests_of(options);
    let line = |direction, test: usize| FigureLine { direction, test, block: tests[test].block };
    let directions = match options.directions {
        Directions::Both => &[RunDirection::Reads, RunDirection::Writes][..],
        Directions::Reads => &[RunDirection::Reads],
    };
    let all = 0..tests.len();
    let mut lines: Vec<FigureLine> = match options.version {
        Version::Three => all.clone().flat_map(|test| directions.iter().map(move |&to| line(to, test))).collect(),
        Version::Eight => directions.iter().flat_map(|&to| all.clone().map(move |test| line(to, test))).collect(),
    };
    if let Some(reads) = options.mix.filter(|_| options.directions == Directions::Both) {
        lines.extend(all.map(|test| line(RunDirection::Mix(reads), test)));
    }
    let mut plan = Vec::new();
    if fills {
        plan.push((Goal::Nothing, fill(options)));
    }
    for (index, &line) in lines.iter().enumerate() {
        if index > 0 && !options.interval().is_zero() {
            plan.push((Goal::Nothing, rest(options.interval())));
        }
        for run in 0..=options.runs {
            let seed = options.seed.wrapping_add((index as u64) << 32 | u64::from(run) << 16);
            let step = build_step(options, line, &tests[line.test], seed);
            let (goal, step) = match run {
                0 => (
                    Goal::Nothing,
                    Step { name: format!("{}, run that does not count", step.name), ..step }.uncounted(),
                ),
                _ => (Goal::Run(line), step.round(run)),
            };
            plan.push((goal, step));
        }
    }
    plan.into_iter().collect()
}

fn rest(interval: Span) -> Step {
    Step::new("rest", Work::Pause(interval)).uncounted()
}

fn contents(options: &CrystalDiskMarkOptions) -> Contents {
    match options.data {
        Data::Random => Contents::Stamped { compressible: 0.0 },
        Data::Zeroes => Contents::Zeroes,
    }
}

/// Writes the whole file sequentially in blocks of 1 MiB.
fn fill(options: &CrystalDiskMarkOptions) -> Step {
    let access =
        FileAccess { engine: Engine::Inline, direct: true, contents: contents(options), ..FileAccess::buffered() };
    Step::fill("filling the file", options.size(), access, |job| job.seed = options.seed)
}

fn build_step(options: &CrystalDiskMarkOptions, line: FigureLine, test: &DiskMarkTest, seed: u64) -> Step {
    let workers = (0..test.threads).map(|thread| worker(options, line.direction, test, (thread, seed)));
    let verb = match line.direction {
        RunDirection::Reads => "read".to_owned(),
        RunDirection::Writes => "write".to_owned(),
        RunDirection::Mix(reads) => format!("{:.0} % reads", reads * 100.0),
    };
    let kind = if test.sequential { "sequential" } else { "random" };
    let (block, queues, threads) = (Bytes::new(test.block.into()), test.queues, test.threads);
    let name = format!("{kind} {verb}, {block}, Q{queues} T{threads}");
    Step::io(name, workers.collect()).measuring(measures(options.version, line.direction, test))
}

/// Worker of a thread, seeded by run and thread.
fn worker(
    options: &CrystalDiskMarkOptions,
    to: RunDirection,
    test: &DiskMarkTest,
    (thread, seed): (u32, u64),
) -> Worker {
    let pattern = if test.sequential { Pattern::Sequential } else { Pattern::Uniform };
    let mut lane = LaneSpec::new(test.block, pattern);
    let mut part = FilePart { file: 0, start: 0, length: options.size() };
    if test.sequential {
        // DiskSpd's threads take blocks from a shared counter. Here threads take fixed turns.
        let (block, others) = (u64::from(test.block), u64::from(test.threads - 1));
        let row = block * (others + 1);
        lane.gap = (block * others).cast_signed();
        part.start = block * u64::from(thread);
        part.length = Bytes::new(options.size().get() / row * row - block * others);
    }
    let does = match to {
        RunDirection::Reads => Does::Reads,
        RunDirection::Writes => Does::Writes,
        RunDirection::Mix(reads) => Does::Mixed { reads },
    };
    let mut job = JobSpec::new(does, lane, Region::first(part.length), end_of_test(options, test));
    (job.depth, job.seed) = (test.queues, seed + u64::from(thread));
    let is_old = options.version == Version::Three;
    job.flush_at_end = is_old && job.writes();
    let engine = if is_old && test.queues == 1 { Engine::Inline } else { Engine::Ring };
    let access = FileAccess { engine, flush: Flush::Fsync, contents: contents(options), ..FileAccess::direct() };
    Worker { parts: vec![part], ..Worker::new(job, part.file, part.length, access) }
}

/// Version 3 reads its timer after a whole pass over the file, after 20 blocks of 512 KB, and after 160 of 4 KB.
fn end_of_test(options: &CrystalDiskMarkOptions, test: &DiskMarkTest) -> Until {
    let until = Until::span(options.measure());
    match (options.version, test.sequential) {
        (Version::Eight, _) => until,
        (Version::Three, true) => until.looked_at_each(options.size().get() / u64::from(test.block)),
        (Version::Three, false) => until.looked_at_each(if test.block == 4 * KIB { 160 } else { 20 }),
    }
}

const fn measures(version: Version, direction: RunDirection, test: &DiskMarkTest) -> StepQuantity {
    match (version, direction, test.sequential) {
        (_, RunDirection::Reads, true) => StepQuantity::SequentialReads,
        (_, RunDirection::Reads, false) => StepQuantity::RandomReadsOfSmallFile,
        (Version::Three, RunDirection::Writes, _) => StepQuantity::WritesWithFinalFlush,
        (Version::Eight, RunDirection::Writes, _) => StepQuantity::AcceptedWrites,
        (_, RunDirection::Mix(_), _) => StepQuantity::MixedOperations,
    }
}

/// Result of a run.
#[derive(Clone, Debug)]
struct RunResult {
    /// Bytes per second, up to the last completion.
    rate: f64,
    /// Response times of reads and writes, without flushes.
    response: Bins,
}

impl RunResult {
    /// `None` without completed operations.
    fn of(observed: &IoResult) -> Option<Self> {
        let total = observed.total();
        let response = total.response_where(|counter| counter.kind != Kind::Flush);
        let span = observed.span();
        (!response.is_empty() && !span.is_zero())
            .then(|| Self { rate: total.bytes() as f64 / span.as_secs_f64(), response })
    }
}

/// Counted runs of a test in a direction.
#[derive(Clone, Debug)]
struct TestRuns {
    line: FigureLine,
    name: String,
    runs: Vec<RunResult>,
}

impl TestRuns {
    fn rates(&self) -> impl Iterator<Item = f64> {
        self.runs.iter().map(|run| run.rate)
    }

    fn best(&self) -> f64 {
        self.rates().fold(0.0, f64::max)
    }

    fn least(&self) -> f64 {
        self.rates().reduce(f64::min).unwrap_or(0.0)
    }

    fn mean(&self) -> f64 {
        self.rates().sum::<f64>() / self.runs.len().max(1) as f64
    }

    /// Bytes per second.
    fn score(&self, score: Score) -> f64 {
        match score {
            Score::Best => self.best(),
            Score::Mean => self.mean(),
        }
    }

    /// The lowest of the runs' mean latencies, or their mean.
    fn latency(&self, score: Score) -> Span {
        let means = self.runs.iter().filter_map(|run| run.response.mean());
        match score {
            Score::Best => means.min().unwrap_or(Span::ZERO),
            Score::Mean => {
                let nanos: Vec<u64> = means.map(Span::as_nanos).collect();
                Span::from_nanos(nanos.iter().sum::<u64>() / (nanos.len() as u64).max(1))
            }
        }
    }

    fn response(&self) -> Bins {
        let mut all = Bins::default();
        self.runs.iter().for_each(|run| all.merge(&run.response));
        all
    }
}

/// Percentiles of a cell as text, each with its unit.
fn quantiles(bins: &Bins, shares: &[f64]) -> Vec<String> {
    shares.iter().map(|&share| bins.quantile(share).unwrap_or(Span::ZERO).to_string()).collect()
}

/// A line per test: all runs, and percentiles over all of them.
fn table(cells: &[TestRuns]) -> String {
    let width = cells.iter().map(|cell| cell.name.len()).max().unwrap_or(0).max(4);
    let title = "test";
    let mut text = format!(
        "{title:width$}  {:>9} {:>9} {:>9}  {:>9} {:>9} {:>9} {:>9}  runs, MB/s\n",
        "best", "mean", "least", "p50", "p99", "p99.9", "max"
    );
    for cell in cells {
        let rates = [cell.best(), cell.mean(), cell.least()].map(|rate| format!("{:9.3}", rate / 1e6)).join(" ");
        let bins = cell.response();
        let times = quantiles(&bins, &[0.5, 0.99, 0.999, 1.0]);
        let times: Vec<String> = times.iter().map(|time| format!("{time:>9}")).collect();
        let runs: Vec<String> = cell.rates().map(|rate| format!("{:.3}", rate / 1e6)).collect();
        text += &format!("{:width$}  {rates}  {}  {}\n", cell.name, times.join(" "), runs.join(" "));
    }
    text
}

fn conclusions(options: &CrystalDiskMarkOptions, cells: &[TestRuns], facts: &Facts) -> Vec<Verdict> {
    let Some(spread) = of_runs(cells) else { return Vec::new() };
    let score = match options.score {
        Score::Best => CrystalDiskMarkVerdict::BestScores,
        Score::Mean => CrystalDiskMarkVerdict::MeanScores,
    };
    let mut verdicts = vec![spread, score];
    if cells.iter().any(|cell| cell.line.direction != RunDirection::Reads) {
        verdicts.push(match options.version {
            Version::Three => CrystalDiskMarkVerdict::FlushedRuns,
            Version::Eight => CrystalDiskMarkVerdict::UnflushedRuns,
        });
    }
    if facts.nature != Nature::Model {
        verdicts.push(CrystalDiskMarkVerdict::DeviceCacheUnknown { size_bytes: options.size() });
    }
    if options.directions == Directions::Reads && matches!(facts.nature, Nature::Blocks | Nature::Export) {
        verdicts.push(CrystalDiskMarkVerdict::UnwrittenReads);
    }
    let zeroes = (options.data == Data::Zeroes).then(|| SharedVerdict::ZeroesWritten.into());
    verdicts.into_iter().map(Verdict::from).chain(zeroes).collect()
}

/// The largest excess of a best run over the other runs.
fn of_runs(cells: &[TestRuns]) -> Option<CrystalDiskMarkVerdict> {
    let rated = cells.iter().filter(|cell| cell.mean() > 0.0);
    let above = |cell: &TestRuns| cell.best() / cell.mean() - 1.0;
    let max = rated.max_by(|a, b| above(a).total_cmp(&above(b)))?;
    let (runs, above_mean_share) = (max.runs.len() as u64, above(max));
    if runs == 1 {
        return Some(CrystalDiskMarkVerdict::SingleRun);
    }
    if above_mean_share < 0.000_5 {
        return Some(CrystalDiskMarkVerdict::EqualRuns { runs });
    }
    Some(CrystalDiskMarkVerdict::RunSpread {
        test: max.name.clone(),
        runs,
        above_mean_share,
        min_bytes_per_second: max.least(),
        max_bytes_per_second: max.best(),
    })
}

/// Text of version 3.0: eight lines, alternating reads and writes.
fn text_three(options: &CrystalDiskMarkOptions, cells: &[TestRuns], facts: &Facts) -> String {
    const NAMES: [[&str; 2]; 4] = [
        ["Sequential Read", "Sequential Write"],
        ["Random Read 512KB", "Random Write 512KB"],
        ["Random Read 4KB (QD=1)", "Random Write 4KB (QD=1)"],
        ["Random Read 4KB (QD=32)", "Random Write 4KB (QD=32)"],
    ];
    let rule = "-".repeat(71);
    let mut text = format!("{rule}\nCrystalDiskMark 3.0 layout, printed by plimsoll\n{rule}\n");
    text += "* MB/s = 1,000,000 byte/s\n\n";
    for (test, names) in NAMES.iter().enumerate() {
        for (name, direction) in names.iter().zip([RunDirection::Reads, RunDirection::Writes]) {
            let (rate, iops, _) = score_of(options, cells, direction, test);
            text += &format!("{name:>26} : {rate:9.3} MB/s");
            if test >= 2 {
                text += &format!(" [{iops:8.1} IOPS]");
            }
            text += "\n";
        }
    }
    let (size, runs, name) = (options.size().get() >> 20, options.runs, &facts.subject.name);
    text += &format!("\n  Test : {size} MB [{name}] (x{runs}){}\n", fill_note(options));
    if !options.date.is_empty() {
        text += &format!("  Date : {}\n", options.date);
    }
    if let Some(kernel) = kernel(facts) {
        text += &format!("    OS : Linux {kernel}\n");
    }
    text
}

/// Text of version 8.0: sections for reads, writes and mixes.
fn text_eight(options: &CrystalDiskMarkOptions, tests: &[DiskMarkTest], cells: &[TestRuns], facts: &Facts) -> String {
    let rule = "-".repeat(78);
    let mut text = format!("{rule}\nCrystalDiskMark 8.0 layout, printed by plimsoll\n{rule}\n");
    text += "* MB/s = 1,000,000 bytes/s\n* KB = 1000 bytes, KiB = 1024 bytes\n\n";
    let mix = options.mix.filter(|_| options.directions == Directions::Both);
    for direction in
        [Some(RunDirection::Reads), Some(RunDirection::Writes), mix.map(RunDirection::Mix)].into_iter().flatten()
    {
        text += &match direction {
            RunDirection::Reads => "[Read]\n".to_owned(),
            RunDirection::Writes => "[Write]\n".to_owned(),
            RunDirection::Mix(reads) => {
                format!("[Mix] Read {:.0}%/Write {:.0}%\n", reads * 100.0, (1.0 - reads) * 100.0)
            }
        };
        for (index, test) in tests.iter().enumerate() {
            let (rate, iops, latency) = score_of(options, cells, direction, index);
            let micros = latency.as_nanos() as f64 / 1e3;
            text += &format!("  {}: {rate:9.3} MB/s [{iops:9.1} IOPS] <{micros:9.2} us>\n", name_test(test));
        }
        text += "\n";
    }
    let (size, runs, subject) = (options.size(), options.runs, &facts.subject.name);
    text += &format!("Profile: {}\n", profile(options.profile));
    text += &format!("   Test: {size} (x{runs}) [{subject}]{}\n", fill_note(options));
    text += &format!("   Time: Measure {} / Interval {}\n", seconds(options.measure()), seconds(options.interval()));
    if !options.date.is_empty() {
        text += &format!("   Date: {}\n", options.date);
    }
    if let Some(kernel) = kernel(facts) {
        text += &format!("     OS: Linux {kernel}\n");
    }
    text
}

/// Score in MB/s, operations per second, and mean latency; zero for tests that were not executed.
fn score_of(
    options: &CrystalDiskMarkOptions,
    cells: &[TestRuns],
    direction: RunDirection,
    test: usize,
) -> (f64, f64, Span) {
    let is_match = |cell: &&TestRuns| cell.line.direction == direction && cell.line.test == test;
    let Some(cell) = cells.iter().find(is_match) else { return (0.0, 0.0, Span::ZERO) };
    let rate = cell.score(options.score);
    (rate / 1e6, rate / f64::from(cell.line.block), cell.latency(options.score))
}

fn name_test(test: &DiskMarkTest) -> String {
    let kind = if test.sequential { "SEQ" } else { "RND" };
    let block = Bytes::new(test.block.into()).to_string().replace(' ', "");
    format!("{kind} {block:>7} (Q={:3}, T={:2})", test.queues, test.threads)
}

const fn profile(profile: Profile) -> &'static str {
    match profile {
        Profile::Default | Profile::Nvme => "Default",
        Profile::Peak => "Peak",
        Profile::Real => "Real",
        Profile::Demo => "Demo",
        Profile::Flash => "Flash Memory",
    }
}

const fn fill_note(options: &CrystalDiskMarkOptions) -> &'static str {
    match options.data {
        Data::Random => "",
        Data::Zeroes => " <0Fill>",
    }
}

fn seconds(span: Span) -> String {
    let second = Span::from_secs(1).as_nanos();
    if span.as_nanos().is_multiple_of(second) { format!("{} sec", span.as_nanos() / second) } else { span.to_string() }
}

fn kernel(facts: &Facts) -> Option<&str> {
    facts.host.as_ref()?.kernel.as_deref()
}

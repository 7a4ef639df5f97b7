//! Method of SNIA's Solid State Storage Performance Test Specification: rounds of the same loads until steady state.
//!
//! The device is not purged, so that results do not comply with the specification. The steadiness of the rounds is
//! reported instead.

mod print;
mod results;
mod steady;
mod test;
mod verdicts;

use plimsoll_load::{JobSpec, LaneSpec, Pattern, Region, Until, WorkerOps as Does};
use plimsoll_record::{Listing, Verdict};
use plimsoll_units::{Bytes, Span};

use super::target::{check_grid, check_writable};
use crate::ground::{Facts, Nature};
use crate::options::{OptionsError, SuiteOptions, Surroundings, block_size, percent};
use crate::recipe::{CompletedStep, Recipe};
use crate::step::{FileAccess, FileSpec, Keep, Step, Worker};

use results::{Results, RoundResult};
pub use test::{RoundLoad, SniaTest};

/// Options of the SNIA tests.
#[derive(Clone, Debug, PartialEq, clap::Args)]
pub struct SniaOptions {
    /// The tests, in order
    #[arg(long, value_enum, value_delimiter = ',', default_value = "iops")]
    pub tests: Vec<SniaTest>,
    /// Tested size; by default the whole device, or 1 GiB in a directory
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// Duration of each load of a round
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub point: Span,
    /// Maximum number of rounds
    #[arg(long, value_name = "ROUNDS", default_value_t = 25)]
    pub rounds: u32,
    /// Number of times the whole size is written before a test of random loads
    #[arg(long, value_name = "TIMES", default_value_t = 2)]
    pub precondition: u32,
    /// Threads of random loads
    #[arg(long, value_name = "THREADS", default_value_t = 2)]
    pub threads: u32,
    /// Queue depth of each thread
    #[arg(long, value_name = "DEPTH", default_value_t = 16)]
    pub depth: u32,
    /// IOPS test: percentages of reads
    #[arg(
        long,
        value_name = "PERCENT",
        value_delimiter = ',',
        value_parser = percent,
        default_value = "100,95,65,50,35,5,0",
        hide_default_value = true
    )]
    pub mixes: Vec<f64>,
    /// IOPS test: block sizes
    #[arg(
        long,
        value_name = "SIZE",
        value_delimiter = ',',
        value_parser = block_size,
        default_value = "1MiB,128KiB,64KiB,32KiB,16KiB,8KiB,4KiB,512B",
        hide_default_value = true
    )]
    pub blocks: Vec<u32>,
    /// Maximum duration of write saturation
    #[arg(long = "saturation", value_name = "TIME", default_value = "24h")]
    pub saturation_span: Span,
    /// Write saturation ends after this number of writes of the whole size.
    #[arg(skip = 4_u32)]
    pub saturation_fills: u32,
    /// Seed of random offsets.
    #[arg(skip = 1_u64)]
    pub seed: u64,
}

impl SuiteOptions for SniaOptions {
    fn recipe(&self, _surroundings: &Surroundings, facts: &Facts) -> Result<Box<dyn Recipe>, OptionsError> {
        Ok(Box::new(Snia::new(self.clone(), facts)?))
    }
}

/// Options that do not suit the specification.
#[rustfmt::skip]
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
enum SniaError {
    #[error("no tests are selected: write --tests iops")] Tests,
    #[error("a load needs time: write --point 1min")] Time,
    #[error("{0} rounds cannot be steady over five: write --rounds 25")] Rounds(u32),
    #[error("there are 1 to 64 threads with 1 to 1024 outstanding: write --threads 2 --depth 16")] Outstanding,
    #[error("mixes must include 0, which determines the steady state: write --mixes 100,65,0")] Mixes,
    #[error("blocks must include 4KiB, which determines the steady state: write --blocks 8KiB,4KiB")] Blocks,
    #[error("a size of less than a MiB: write --size 1GiB")] Size,
}

/// Block size of preconditioning.
const FILLING: u32 = 128 << 10;

impl SniaOptions {
    fn checked(&self, facts: &Facts) -> Result<Bytes, OptionsError> {
        if self.tests.is_empty() {
            return Err(SniaError::Tests.into());
        }
        if self.point.is_zero() || self.saturation_span.is_zero() {
            return Err(SniaError::Time.into());
        }
        if self.rounds < steady::WINDOW as u32 {
            return Err(SniaError::Rounds(self.rounds).into());
        }
        if !(1..=64).contains(&self.threads) || !(1..=1024).contains(&self.depth) {
            return Err(SniaError::Outstanding.into());
        }
        if !self.mixes.iter().all(|reads| (0.0..=1.0).contains(reads)) || !self.mixes.contains(&0.0) {
            return Err(SniaError::Mixes.into());
        }
        if self.blocks.contains(&0) || !self.blocks.contains(&(4 << 10)) {
            return Err(SniaError::Blocks.into());
        }
        check_grid(facts.grid, 4 << 10)?;
        let available = if facts.nature == Nature::Directory { facts.space.min(Bytes::gib(1)) } else { facts.space };
        let size = self.size.unwrap_or(available).round_down(Bytes::mib(1));
        if size.get() == 0 {
            return Err(SniaError::Size.into());
        }
        check_writable(facts, size)?;
        Ok(size)
    }
}

/// Position of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepPosition {
    /// Preconditioning before the first round of the test with this index.
    Prepares(usize),
    /// Load of a round, numbered from 1.
    Round { test: usize, round: u32, cell: usize },
}

/// The recipe.
#[derive(Debug)]
pub struct Snia {
    options: SniaOptions,
    size: Bytes,
    /// Loads of a round, by test.
    cells: Vec<Vec<RoundLoad>>,
    /// Positions of the steps so far.
    given: Vec<StepPosition>,
}

impl Snia {
    /// The recipe on a ground with these facts.
    ///
    /// # Errors
    /// The options do not suit the benchmark or the ground.
    pub fn new(options: SniaOptions, facts: &Facts) -> Result<Self, OptionsError> {
        let size = options.checked(facts)?;
        let cells = options.tests.iter().map(|test| test.cells(&options, facts.grid)).collect();
        Ok(Self { options, size, cells, given: Vec::new() })
    }

    fn results(&self, done: &[CompletedStep]) -> Vec<Results> {
        let tests = self.options.tests.iter().zip(&self.cells);
        let mut results: Vec<Results> = tests.map(|(test, cells)| Results::new(*test, cells.clone())).collect();
        for (place, done) in self.given.iter().zip(done) {
            if let (StepPosition::Round { test, round, cell }, Some(observed)) = (*place, done.result.io()) {
                results[test].add(round, cell, RoundResult::of(observed));
            }
        }
        results
    }

    /// Position of the next step.
    fn place(&self, done: &[CompletedStep]) -> Option<StepPosition> {
        let Some(last) = self.given.last() else { return self.begin(0) };
        match *last {
            StepPosition::Prepares(test) => Some(StepPosition::Round { test, round: 1, cell: 0 }),
            StepPosition::Round { test, round, cell } if cell + 1 < self.cells[test].len() => {
                Some(StepPosition::Round { test, round, cell: cell + 1 })
            }
            StepPosition::Round { test, round, .. } => {
                let results = &self.results(done)[test];
                if results.is_over(&self.options, self.size) {
                    self.begin(test + 1)
                } else {
                    Some(StepPosition::Round { test, round: round + 1, cell: 0 })
                }
            }
        }
    }

    fn begin(&self, test: usize) -> Option<StepPosition> {
        let prepares = self.options.tests.get(test)?.is_preconditioned() && self.options.precondition > 0;
        Some(if prepares { StepPosition::Prepares(test) } else { StepPosition::Round { test, round: 1, cell: 0 } })
    }

    fn step(&self, place: StepPosition) -> Step {
        let step = match place {
            StepPosition::Prepares(test) => {
                let (times, test) = (self.options.precondition, self.options.tests[test]);
                let mut job = JobSpec::new(
                    Does::Writes,
                    LaneSpec::new(FILLING, Pattern::Sequential),
                    Region::first(self.size),
                    Until::bytes(self.size.get() * u64::from(times)),
                );
                job.depth = 32;
                let name = format!("{test}: preconditioning, {times} times 128 KiB after 128 KiB");
                Step::io(name, vec![Worker::new(job, 0, self.size, FileAccess::direct())]).uncounted()
            }
            StepPosition::Round { test, round, cell } => {
                let (test, cell) = (self.options.tests[test], self.cells[test][cell]);
                let name = format!("{test}: {cell}");
                Step::io(name, self.workers(test, cell)).round(round).measuring(test.measures())
            }
        };
        step.together(|step| step.keep = Keep::Totals)
    }

    fn workers(&self, test: SniaTest, cell: RoundLoad) -> Vec<Worker> {
        let does = match cell.reads {
            reads if reads >= 1.0 => Does::Reads,
            reads if reads <= 0.0 => Does::Writes,
            reads => Does::Mixed { reads },
        };
        let (threads, depth, pattern) = match test {
            SniaTest::Latency => (1, 1, Pattern::Uniform),
            // A single stream: several would not be sequential.
            SniaTest::Throughput => (1, self.options.threads * self.options.depth, Pattern::Sequential),
            _ => (self.options.threads, self.options.depth, Pattern::Uniform),
        };
        let worker = |thread: u32| {
            let lane = LaneSpec::new(cell.block, pattern);
            let mut job = JobSpec::new(does, lane, Region::first(self.size), Until::span(self.options.point));
            job.depth = depth;
            job.seed = self.options.seed.wrapping_add((self.given.len() as u64) << 16 | u64::from(thread));
            Worker::new(job, 0, self.size, FileAccess::direct())
        };
        (0..threads).map(worker).collect()
    }
}

impl Recipe for Snia {
    fn name(&self) -> &'static str {
        "snia"
    }

    fn follows(&self) -> String {
        "the method of SNIA's PTS 2.0 without its purge: not a result of that specification".into()
    }

    fn settings(&self) -> Vec<(String, String)> {
        let options = &self.options;
        let tests: Vec<String> = options.tests.iter().map(SniaTest::to_string).collect();
        vec![
            ("tests".to_owned(), tests.join(", ")),
            ("size".to_owned(), self.size.to_string()),
            ("point".to_owned(), options.point.to_string()),
            ("rounds at most".to_owned(), options.rounds.to_string()),
            ("precondition".to_owned(), format!("{} times", options.precondition)),
            ("threads".to_owned(), options.threads.to_string()),
            ("depth".to_owned(), options.depth.to_string()),
        ]
    }

    fn files(&self) -> Vec<FileSpec> {
        vec![FileSpec::reserved(self.size)]
    }

    fn expected(&self) -> usize {
        let rounds = |test: &SniaTest| match test {
            SniaTest::WriteSaturation => {
                (self.options.saturation_span.as_nanos() / self.options.point.as_nanos()) as usize
            }
            _ => steady::WINDOW,
        };
        let steps = |(test, cells): (&SniaTest, &Vec<RoundLoad>)| {
            rounds(test) * cells.len() + usize::from(test.is_preconditioned())
        };
        let least: usize = self.options.tests.iter().zip(&self.cells).map(steps).sum();
        least.max(self.given.len())
    }

    fn next(&mut self, done: &[CompletedStep], _facts: &Facts) -> Option<Step> {
        let place = self.place(done)?;
        let step = self.step(place);
        self.given.push(place);
        Some(step)
    }

    fn listings(&self, done: &[CompletedStep], _facts: &Facts) -> Vec<Listing> {
        self.results(done).iter().flat_map(print::listings).collect()
    }

    fn verdicts(&self, done: &[CompletedStep], facts: &Facts) -> Vec<Verdict> {
        verdicts::of(&self.results(done), &self.options, self.size, facts).into_iter().map(Verdict::from).collect()
    }
}

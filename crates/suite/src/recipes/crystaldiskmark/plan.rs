//! The steps: what each test is, and in which order they come.
//!
//! Knows nothing about figures.

use plimsoll_device::{Contents, Engine, Flush};
use plimsoll_load::{JobSpec, LaneSpec, Pattern, Region, Until, Work as Does};
use plimsoll_units::{Bytes, Span};

use super::{CrystalDiskMarkOptions, Data, Directions, Profile, Version};
use crate::step::{Access, Part, Step, Work, Worker};

const KIB: u32 = 1 << 10;
const MIB: u32 = 1 << 20;

/// One test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    /// One block after the other; otherwise anywhere.
    pub sequential: bool,
    /// Bytes of a block.
    pub block: u32,
    /// Operations in flight of each thread.
    pub queues: u32,
    /// Threads, each with its own operations in flight.
    pub threads: u32,
}

impl Test {
    /// Blocks one after the other.
    pub const fn sequential(block: u32, queues: u32, threads: u32) -> Self {
        Self { sequential: true, block, queues, threads }
    }

    /// Blocks anywhere.
    pub const fn random(block: u32, queues: u32, threads: u32) -> Self {
        Self { sequential: false, ..Self::sequential(block, queues, threads) }
    }

    pub(super) fn checked(&self, size: Bytes, grid: u64) -> Result<(), String> {
        let Self { block, queues, threads, .. } = *self;
        if block == 0 || !u64::from(block).is_multiple_of(grid) {
            return Err(format!("blocks of {block} bytes are not multiples of the {grid} that direct I/O needs here"));
        }
        if !(1..=512).contains(&queues) || !(1..=64).contains(&threads) {
            return Err(format!("a test has 1 to 512 queues and 1 to 64 threads, not Q{queues}T{threads}"));
        }
        let needed = u64::from(block) * u64::from(threads);
        if size.get() < needed {
            let needed = Bytes::new(needed.next_multiple_of(MIB.into()));
            return Err(format!("{threads} threads of {block} bytes need more than {size}: write --size {needed}"));
        }
        Ok(())
    }
}

/// The line of a figure: which direction, and which of the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) direction: Direction,
    pub(super) test: usize,
    pub(super) block: u32,
}

/// What a run asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Direction {
    Reads,
    Writes,
    /// With this share of reads.
    Mix(f64),
}

// A share of reads is never not-a-number: options are checked.
impl Eq for Direction {}

/// What a step is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// It fills the file, warms up or rests.
    Nothing,
    /// Its figure counts for this line.
    Run(Line),
}

/// A step and what it is for.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) goal: Goal,
    pub(super) step: Step,
}

/// The tests, in the order of their lines.
pub(super) fn tests(options: &CrystalDiskMarkOptions) -> Vec<Test> {
    if !options.tests.is_empty() {
        return options.tests.clone();
    }
    let (deep, plain) = (Test::sequential(MIB, 8, 1), Test::sequential(MIB, 1, 1));
    let (queued, single) = (Test::random(4 * KIB, 32, 1), Test::random(4 * KIB, 1, 1));
    if options.version == Version::Three {
        return vec![plain, Test::random(512 * KIB, 1, 1), single, queued];
    }
    match options.profile {
        Profile::Default | Profile::Flash => vec![deep, plain, queued, single],
        Profile::Nvme => vec![deep, Test::sequential(128 * KIB, 32, 1), Test::random(4 * KIB, 32, 16), single],
        Profile::Peak => vec![deep, queued],
        Profile::Real => vec![plain, single],
        Profile::Demo => vec![deep],
    }
}

/// Every step. Version 3 reads and writes in turn; version 8 makes all reads, then all writes, then what is mixed.
pub(super) fn planned(options: &CrystalDiskMarkOptions, fills: bool) -> Vec<Planned> {
    let tests = tests(options);
    let line = |direction, test: usize| Line { direction, test, block: tests[test].block };
    let wanted = match options.directions {
        Directions::Both => &[Direction::Reads, Direction::Writes][..],
        Directions::Reads => &[Direction::Reads],
    };
    let all = 0..tests.len();
    let mut lines: Vec<Line> = match options.version {
        Version::Three => all.clone().flat_map(|test| wanted.iter().map(move |&to| line(to, test))).collect(),
        Version::Eight => wanted.iter().flat_map(|&to| all.clone().map(move |test| line(to, test))).collect(),
    };
    if let Some(reads) = options.mix.filter(|_| options.directions == Directions::Both) {
        lines.extend(all.map(|test| line(Direction::Mix(reads), test)));
    }
    let mut plan = Vec::new();
    if fills {
        plan.push(Planned { goal: Goal::Nothing, step: fill(options) });
    }
    for (index, &line) in lines.iter().enumerate() {
        if index > 0 && !options.interval().is_zero() {
            plan.push(Planned { goal: Goal::Nothing, step: rest(options.interval()) });
        }
        for run in 0..=options.runs {
            let seed = options.seed.wrapping_add((index as u64) << 32 | u64::from(run) << 16);
            let step = step(options, line, &tests[line.test], seed);
            let (goal, step) = match run {
                0 => (
                    Goal::Nothing,
                    Step { name: format!("{}, run that does not count", step.name), ..step }.uncounted(),
                ),
                _ => (Goal::Run(line), step.round(run)),
            };
            plan.push(Planned { goal, step });
        }
    }
    plan
}

fn rest(interval: Span) -> Step {
    Step { name: "rest".into(), round: 1, counts: false, loads: false, measures: "", work: Work::Pause(interval) }
}

fn contents(options: &CrystalDiskMarkOptions) -> Contents {
    match options.data {
        Data::Random => Contents::Stamped { compressible: 0.0 },
        Data::Zeroes => Contents::Zeroes,
    }
}

/// The whole file, once, 1 MiB after the other.
fn fill(options: &CrystalDiskMarkOptions) -> Step {
    let lane = LaneSpec::new(MIB, Pattern::Sequential);
    let file = Region::first(options.size());
    let mut job = JobSpec::new(Does::Writes, lane, file, Until::bytes(options.size().get()));
    (job.flush_at_end, job.seed) = (true, options.seed);
    let access = Access { engine: Engine::Inline, direct: true, contents: contents(options), ..Access::buffered() };
    Step::io("filling the file", vec![Worker::new(job, 0, options.size(), access)]).uncounted()
}

fn step(options: &CrystalDiskMarkOptions, line: Line, test: &Test, seed: u64) -> Step {
    let workers = (0..test.threads).map(|thread| worker(options, line.direction, test, (thread, seed)));
    let verb = match line.direction {
        Direction::Reads => "read".to_owned(),
        Direction::Writes => "write".to_owned(),
        Direction::Mix(reads) => format!("{:.0} % reads", reads * 100.0),
    };
    let kind = if test.sequential { "sequential" } else { "random" };
    let (block, queues, threads) = (Bytes::new(test.block.into()), test.queues, test.threads);
    let name = format!("{kind} {verb}, {block}, Q{queues} T{threads}");
    Step::io(name, workers.collect()).measuring(measures(options.version, line.direction, test))
}

/// The worker of a thread; its seed is that of the run and its own.
fn worker(options: &CrystalDiskMarkOptions, to: Direction, test: &Test, (thread, seed): (u32, u64)) -> Worker {
    let pattern = if test.sequential { Pattern::Sequential } else { Pattern::Uniform };
    let mut lane = LaneSpec::new(test.block, pattern);
    let mut part = Part { file: 0, start: 0, length: options.size() };
    if test.sequential {
        // DiskSpd's threads draw the next block from one counter. Here each takes its turn of it in advance.
        let (block, others) = (u64::from(test.block), u64::from(test.threads - 1));
        let row = block * (others + 1);
        lane.gap = (block * others).cast_signed();
        part.start = block * u64::from(thread);
        part.length = Bytes::new(options.size().get() / row * row - block * others);
    }
    let does = match to {
        Direction::Reads => Does::Reads,
        Direction::Writes => Does::Writes,
        Direction::Mix(reads) => Does::Mixed { reads },
    };
    let mut job = JobSpec::new(does, lane, Region::first(part.length), until(options, test));
    (job.depth, job.seed) = (test.queues, seed + u64::from(thread));
    let is_old = options.version == Version::Three;
    job.flush_at_end = is_old && job.writes();
    let engine = if is_old && test.queues == 1 { Engine::Inline } else { Engine::Ring };
    let access = Access { engine, flush: Flush::Fsync, contents: contents(options), ..Access::direct() };
    Worker { parts: vec![part], ..Worker::new(job, part.file, part.length, access) }
}

/// Version 3 looks at its timer after a whole pass over the file, after 20 blocks of 512 KB and after 160 of 4 KB.
fn until(options: &CrystalDiskMarkOptions, test: &Test) -> Until {
    let until = Until::span(options.measure());
    match (options.version, test.sequential) {
        (Version::Eight, _) => until,
        (Version::Three, true) => until.looked_at_each(options.size().get() / u64::from(test.block)),
        (Version::Three, false) => until.looked_at_each(if test.block == 4 * KIB { 160 } else { 20 }),
    }
}

const fn measures(version: Version, direction: Direction, test: &Test) -> &'static str {
    match (version, direction, test.sequential) {
        (_, Direction::Reads, true) => {
            "Reads past the page cache, one after the other: read-ahead and cache of the device help as much as they can."
        }
        (_, Direction::Reads, false) => {
            "Reads past the page cache within one small file: what the device's own cache holds of it is answered from there."
        }
        (Version::Three, Direction::Writes, _) => {
            "Writes past the page cache with one flush at the end inside the time: how fast they become durable in bulk."
        }
        (Version::Eight, Direction::Writes, _) => {
            "Writes past the page cache that nothing flushes: how fast the device accepts them, not when they are durable."
        }
        (_, Direction::Mix(_), _) => {
            "Reads and writes of one file at the same time, past the page cache; nothing is flushed."
        }
    }
}

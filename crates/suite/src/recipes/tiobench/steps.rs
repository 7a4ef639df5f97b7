//! The tests as steps, and the files that they use.
//!
//! Knows nothing about what becomes of their figures.

use plimsoll_device::{Engine, SyncMode};
use plimsoll_load::{JobSpec, LaneSpec, Pattern, Region, Until, Work};
use plimsoll_units::Bytes;

use super::{Gap, Pass, Test, Through, TiobenchOptions};
use crate::step::{Access, Before, FileSpec, Order, Part, Step, Worker};

/// A file for each thread; one for all of them where there are no files, whose parts they are.
pub(super) fn files(options: &TiobenchOptions, passes: &[Pass], has_files: bool) -> Vec<FileSpec> {
    if !has_files {
        let end = |pass: &Pass| part(options.gap, pass, pass.threads - 1);
        let ends = passes.iter().map(|pass| end(pass).start + pass.size.get());
        return vec![FileSpec::reserved(Bytes::new(ends.max().unwrap_or(0)))];
    }
    let threads = passes.iter().map(|pass| pass.threads).max().unwrap_or(0);
    let file = |index: u32| {
        let sizes = passes.iter().filter(|pass| pass.threads > index).map(|pass| pass.size);
        // What is mapped must be as long as it is said to be.
        let reserved = options.through() == Through::Mapping;
        let directory = options.directories.get(index as usize % options.directories.len().max(1));
        FileSpec { path: directory.cloned(), size: sizes.max().unwrap_or_default(), reserved, writes: true }
    };
    (0..threads).map(file).collect()
}

/// A thread's part of a space that all share.
fn part(gap: Gap, pass: &Pass, thread: u32) -> Part {
    let (between, thread) = (gap.between.get(), u64::from(thread));
    let first = if gap.before_first { between } else { 0 };
    Part { file: 0, start: first + thread * (pass.size.get() + between), length: pass.size }
}

pub(super) fn step(options: &TiobenchOptions, pass: &Pass, test: Test, has_files: bool) -> Step {
    let threads = pass.threads;
    let workers = (0..threads).map(|thread| {
        let own = Part { file: thread as usize, start: 0, length: pass.size };
        let part = if has_files { own } else { part(options.gap, pass, thread) };
        Worker { parts: vec![part], ..worker(options, pass, test, thread) }
    });
    let name = format!("{}, {threads} {}", test.name(), if threads == 1 { "thread" } else { "threads" });
    let step = Step::io(name, workers.collect()).round(pass.round).measuring(measures(test));
    step.together(|io| {
        io.before = match test {
            Test::Write => Before::Anew,
            _ if options.uncached => Before::Uncached,
            _ => Before::AsTheyAre,
        };
        if options.in_turn && test == Test::Write {
            io.order = Order::InTurn;
        }
    })
}

fn worker(options: &TiobenchOptions, pass: &Pass, test: Test, thread: u32) -> Worker {
    let work = if matches!(test, Test::Write | Test::RandomWrite) { Work::Writes } else { Work::Reads };
    let (pattern, operations) = match test {
        Test::Write | Test::Read => (Pattern::Sequential, pass.size.get() / u64::from(options.block)),
        Test::RandomWrite | Test::RandomRead => (Pattern::Uniform, pass.random),
    };
    let access = Access {
        engine: if options.through() == Through::Mapping { Engine::Mapped } else { Engine::Inline },
        direct: options.through() == Through::Nothing,
        opened: if options.synchronous { SyncMode::Sync } else { SyncMode::None },
        ..Access::buffered()
    };
    let lane = LaneSpec::new(options.block, pattern);
    let job = JobSpec {
        flush_at_end: work == Work::Writes,
        seed: options.seed.wrapping_add(u64::from(thread) << 8).wrapping_add(test as u64),
        ..JobSpec::new(work, lane, Region::first(pass.size), Until::operations(operations))
    };
    Worker::new(job, 0, pass.size, access)
}

const fn measures(test: Test) -> &'static str {
    match test {
        Test::Write => "writing new files, all threads at once, until the last of them is durable",
        Test::RandomWrite => "writing blocks at random places of files that exist, until all is durable",
        Test::Read => "reading in order what was just written, out of memory as far as it holds it",
        Test::RandomRead => "reading blocks at random places, each thread waiting for its own",
    }
}

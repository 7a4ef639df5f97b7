//! The phases as steps.
//!
//! Knows nothing about what becomes of their figures.

use plimsoll_load::{JobSpec, LaneSpec, Pattern, Region, Until, Work};
use plimsoll_units::Bytes;

use super::{BonnieOptions, Column};
use crate::step::{Access, Before, FileWork, FilesStep, Part, Step, Work as StepWork, Worker};

/// Each so many seeks one is written back.
const WRITTEN_BACK: u32 = 10;

/// What a column is the figure of.
pub(super) fn step(options: &BonnieOptions, size: Bytes, column: Column) -> Step {
    match column {
        Column::PutChar => {
            let worker = byte_by_byte(options, size, Work::Writes);
            anew(Step::io("Per-char write", vec![worker])).measuring("what a system call that writes one byte takes")
        }
        Column::PutBlock => {
            let worker = block_by_block(options, size, Work::Writes);
            anew(Step::io("Block write", vec![worker])).measuring("writing a new file and making it durable")
        }
        Column::Rewrite => {
            let worker = block_by_block(options, size, Work::WriteBack { every: 1 });
            Step::io("Rewrite", vec![worker]).measuring(
                "reading each chunk and writing it back; the rate counts a chunk once, though it moves twice",
            )
        }
        Column::GetChar => Step::io("Per-char read", vec![byte_by_byte(options, size, Work::Reads)])
            .measuring("what a system call that reads one byte takes"),
        Column::GetBlock => Step::io("Block read", vec![block_by_block(options, size, Work::Reads)])
            .measuring("reading in order, with the kernel reading ahead, what memory does not hold yet"),
        Column::Seeks => Step::io("Seeks", seekers(options, size))
            .measuring("reads of a chunk at random places per second, several at once, each tenth written back"),
        Column::Files(work, ordered) => files(options, work, ordered),
    }
}

fn anew(step: Step) -> Step {
    step.together(|io| io.before = Before::Anew)
}

fn access(options: &BonnieOptions, size: u32) -> Access {
    // One byte cannot pass the page cache.
    Access { direct: options.direct && size > 1, ..Access::buffered() }
}

fn worker(options: &BonnieOptions, size: u32, length: Bytes, work: Work, pattern: Pattern, until: Until) -> Worker {
    let job = JobSpec {
        flush_every: u32::from(options.flushed),
        flush_at_end: work != Work::Reads,
        seed: options.seed,
        ..JobSpec::new(work, LaneSpec::new(size, pattern), Region::first(length), until)
    };
    let parts = vec![Part { file: 0, start: 0, length }];
    Worker { parts, ..Worker::new(job, 0, length, access(options, size)) }
}

fn byte_by_byte(options: &BonnieOptions, size: Bytes, work: Work) -> Worker {
    let length = options.per_char.map_or(size, |bytes| bytes.min(size));
    worker(options, 1, length, work, Pattern::Sequential, Until::bytes(length.get()))
}

fn block_by_block(options: &BonnieOptions, size: Bytes, work: Work) -> Worker {
    worker(options, options.chunk, size, work, Pattern::Sequential, Until::bytes(size.get()))
}

/// Bonnie++ hands out one seek after the other to whoever is free; here each has its equal share from the start.
fn seekers(options: &BonnieOptions, size: Bytes) -> Vec<Worker> {
    let (count, all) = (u64::from(options.seekers), options.seeks);
    let work = Work::WriteBack { every: WRITTEN_BACK };
    let one = |index: u64| {
        let seeks = all / count + u64::from(index < all % count);
        let mut worker = worker(options, options.chunk, size, work, Pattern::Uniform, Until::operations(seeks));
        worker.job.seed = options.seed.wrapping_add(1 + index);
        worker
    };
    (0..count).map(one).collect()
}

fn files(options: &BonnieOptions, work: FileWork, ordered: bool) -> Step {
    let small = options.small_files;
    let verb = match work {
        FileWork::Create => "Create",
        FileWork::Stat => "Stat",
        FileWork::Delete => "Delete",
    };
    let order = if ordered { "sequential" } else { "random" };
    Step {
        name: format!("{verb} files, {order}"),
        round: 1,
        counts: true,
        loads: false,
        measures: "what the filesystem does for a file, until all of it is durable",
        work: StepWork::Files(FilesStep {
            work,
            files: small.units * 1024,
            ordered,
            sizes: (small.least, small.largest),
            directories: small.directories,
            seed: options.seed,
        }),
    }
}

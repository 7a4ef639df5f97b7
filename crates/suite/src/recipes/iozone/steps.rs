//! The tests as steps.
//!
//! Knows nothing about what becomes of their figures.

use plimsoll_load::{JobSpec, LaneSpec, Pattern, Region, Until, Work};
use plimsoll_units::Bytes;

use super::{Column, Extent, IozoneOptions, Pair};
use crate::step::{Access, Before, Order, Step, Worker};

/// Records from one to the next of a stride.
const STRIDE: u64 = 17;

pub(super) fn step(options: &IozoneOptions, pair: Pair, column: Column) -> Step {
    let several = matches!(options.extent, Extent::Processes { .. });
    let count = options.extent.processes();
    let workers = (0..count).map(|process| worker(options, pair, column, process));
    let record = Bytes::new(pair.record.into());
    let name = format!("{}, {} by {record}", title(column), pair.size);
    let name = if several { format!("{name}, {count} processes") } else { name };
    let step = Step::io(name, workers.collect()).measuring(measures(column)).together(|io| {
        if column == Column::Write {
            io.before = Before::Anew;
        }
        if several && column != Column::Flush {
            io.order = Order::UntilFirst;
        }
    });
    if column == Column::Flush { step.uncounted() } else { step }
}

fn worker(options: &IozoneOptions, pair: Pair, column: Column, process: u32) -> Worker {
    let records = pair.size.get() / u64::from(pair.record);
    let (pattern, operations) = match column {
        Column::Backward => (Pattern::Backward, records),
        Column::Stride => (Pattern::Stride { blocks: STRIDE }, records),
        Column::RandomRead | Column::RandomWrite | Column::Mixed => (Pattern::Shuffled, records),
        Column::RecordRewrite => (Pattern::Same, records),
        // A flush needs something to flush: one record is written once more.
        Column::Flush => (Pattern::Same, 1),
        _ => (Pattern::Sequential, records),
    };
    let writes = column.writes() || column == Column::Flush || (column == Column::Mixed && process % 2 == 1);
    let work = if writes { Work::Writes } else { Work::Reads };
    let several = matches!(options.extent, Extent::Processes { .. });
    // One process flushes in its step in any case: whether that counts is seen when its time is looked at.
    let flushes = !several || options.timed.flush() || column == Column::Flush;
    let job = JobSpec {
        flush_at_end: writes && flushes,
        seed: options.seed.wrapping_add(u64::from(process)),
        ..JobSpec::new(
            work,
            LaneSpec::new(pair.record, pattern),
            Region::first(pair.size),
            Until::operations(operations),
        )
    };
    let access = Access { direct: options.direct, opened: options.opened, ..Access::buffered() };
    Worker::new(job, process as usize, pair.size, access)
}

const fn title(column: Column) -> &'static str {
    match column {
        Column::Write => "Write",
        Column::Rewrite => "Rewrite",
        Column::Read => "Read",
        Column::Reread => "Reread",
        Column::RandomRead => "Random read",
        Column::RandomWrite => "Random write",
        Column::Backward => "Backward read",
        Column::RecordRewrite => "Record rewrite",
        Column::Stride => "Stride read",
        Column::Mixed => "Mixed workload",
        Column::Pwrite => "Pwrite",
        Column::Pread => "Pread",
        Column::Pwritev => "Pwritev",
        Column::Preadv => "Preadv",
        Column::Flush => "Flush",
    }
}

const fn measures(column: Column) -> &'static str {
    match column {
        Column::Write => "writing a new file in order, its space being found as it grows",
        Column::Rewrite => "writing a file again that has its space",
        Column::Read => "reading in order what was just written",
        Column::Reread => "reading in order what was just read",
        Column::RandomRead => "reading each record once, in a random order",
        Column::RandomWrite => "writing each record once, in a random order",
        Column::Backward => "reading from the last record to the first",
        Column::RecordRewrite => "writing the same record again and again: memory, unless each write is durable",
        Column::Stride => "reading each 17th record",
        Column::Mixed => "random reads and random writes at the same time, by processes in turn",
        Column::Pwrite | Column::Pwritev => "the same as writing: every write here says where",
        Column::Pread | Column::Preadv => "the same as reading: every read here says where",
        Column::Flush => "what the writes before had left in memory",
    }
}

//! Iozone: writing, reading and visiting a file in many ways, by sizes of files and records, or by several processes.
//!
//! Follows version 3.471. Its fwrite and fread are left out: they measure the C library's buffer. Knows nothing about how
//! figures are printed: that is in `print` and `throughput`.

mod options;
mod print;
mod steps;
mod throughput;
mod verdicts;

use plimsoll_record::Listing;
use plimsoll_units::{Bytes, Kind, Span};

pub use options::{Extent, IozoneOptions, Test, Timed, Unit};

use super::phase::{fits, per_second};
use crate::ground::Facts;
use crate::recipe::{Done, Recipe};
use crate::seen::{IoSeen, WorkerSeen};
use crate::step::{FileSpec, Step};

/// What a step is the figure of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Write,
    Rewrite,
    Read,
    Reread,
    RandomRead,
    RandomWrite,
    Backward,
    RecordRewrite,
    Stride,
    Mixed,
    Pwrite,
    Pread,
    Pwritev,
    Preadv,
    /// No figure: what was written becomes durable before the next step.
    Flush,
}

impl Column {
    const fn writes(self) -> bool {
        matches!(
            self,
            Self::Write | Self::Rewrite | Self::RandomWrite | Self::RecordRewrite | Self::Pwrite | Self::Pwritev
        )
    }

    /// What each test consists of, in the order in which one process makes them.
    const fn of_one(test: Test) -> &'static [Self] {
        match test {
            Test::Write => &[Self::Write, Self::Rewrite],
            Test::Read => &[Self::Read, Self::Reread],
            Test::Random => &[Self::RandomRead, Self::RandomWrite],
            Test::Backward => &[Self::Backward],
            Test::RecordRewrite => &[Self::RecordRewrite],
            Test::Stride => &[Self::Stride],
            Test::Mixed | Test::Pwrite | Test::Pread | Test::Pwritev | Test::Preadv => &[],
        }
    }

    /// The order in which several processes make them, each with its test.
    const OF_SEVERAL: [(Test, Self); 13] = [
        (Test::Write, Self::Write),
        (Test::Write, Self::Rewrite),
        (Test::Read, Self::Read),
        (Test::Read, Self::Reread),
        (Test::Backward, Self::Backward),
        (Test::Stride, Self::Stride),
        (Test::Random, Self::RandomRead),
        (Test::Mixed, Self::Mixed),
        (Test::Random, Self::RandomWrite),
        (Test::Pwrite, Self::Pwrite),
        (Test::Pread, Self::Pread),
        (Test::Pwritev, Self::Pwritev),
        (Test::Preadv, Self::Preadv),
    ];
}

/// A file's size with a record's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    /// Bytes of each file.
    size: Bytes,
    /// Bytes of a record.
    record: u32,
}

/// Iozone as a recipe.
#[derive(Clone, Debug)]
pub struct Iozone {
    options: IozoneOptions,
    pairs: Vec<Pair>,
    processes: u32,
    /// Index of the pair, what it is the figure of, and the step, in their order.
    plan: Vec<(usize, Column, Step)>,
}

impl Iozone {
    /// With these options on this ground.
    ///
    /// # Errors
    /// One line that says what does not fit, and what to give instead.
    pub fn new(options: IozoneOptions, facts: &Facts) -> Result<Self, String> {
        options.refuse(facts.grid)?;
        let pairs = options.extent.pairs();
        let processes = options.extent.processes();
        let largest = pairs.iter().map(|pair| pair.size.get()).max().unwrap_or(0);
        fits(facts, Bytes::new(largest * u64::from(processes)))?;
        let columns = columns(&options);
        let plan = (0..pairs.len()).flat_map(|index| columns.iter().map(move |column| (index, *column)));
        let plan = plan.map(|(index, column)| (index, column, steps::step(&options, pairs[index], column)));
        Ok(Self { plan: plan.collect(), options, pairs, processes })
    }

    /// Steps that were made, with their figures.
    fn made<'a>(&'a self, done: &'a [Done]) -> impl Iterator<Item = Made<'a>> {
        let both = self.plan.iter().zip(done);
        both.filter_map(|((pair, column, _), done)| {
            let (pair, column, seen) = (*pair, *column, done.seen.io()?);
            Some(Made { pair, column, name: &done.step.name, seen })
        })
    }

    /// The time that counts for a worker: flushing and closing only where that was asked for.
    fn counted(&self, worker: &WorkerSeen) -> Span {
        let timed = self.options.timed;
        let flush = if timed.flush() { Span::ZERO } else { flushing(worker) };
        let close = if timed.close() { worker.closed } else { Span::ZERO };
        worker.span() - flush + close
    }

    /// An amount of work per second, in the unit that was asked for.
    fn in_unit(&self, bytes: f64, record: u32, span: Span) -> Option<f64> {
        let operations = bytes / f64::from(record);
        match self.options.unit {
            Unit::Kilobytes => per_second(bytes / 1024.0, span),
            Unit::Operations => per_second(operations, span),
            Unit::Microseconds => (operations > 0.0).then(|| span.as_secs_f64() * 1e6 / operations),
        }
    }

    /// The figure of one worker.
    fn figure(&self, made: &Made<'_>, worker: &WorkerSeen) -> Option<f64> {
        let bytes = worker.total().bytes() as f64;
        self.in_unit(bytes, self.pairs[made.pair].record, self.counted(worker))
    }
}

/// A step that was made.
struct Made<'a> {
    pair: usize,
    column: Column,
    name: &'a str,
    seen: &'a IoSeen,
}

/// What a worker spent in flushes.
fn flushing(worker: &WorkerSeen) -> Span {
    Span::from_nanos(worker.total().response_where(|counter| counter.kind == Kind::Flush).sum_ns)
}

fn columns(options: &IozoneOptions) -> Vec<Column> {
    let Extent::Processes { .. } = options.extent else {
        return Test::ALL.into_iter().filter(|test| options.has(*test)).flat_map(Column::of_one).copied().collect();
    };
    let mut columns = Vec::new();
    for (_, column) in Column::OF_SEVERAL.into_iter().filter(|(test, _)| options.has(*test)) {
        columns.push(column);
        // Each process is stopped by the first that is done, before it flushes: that comes after the time that counts.
        if (column.writes() || column == Column::Mixed) && !options.timed.flush() {
            columns.push(Column::Flush);
        }
    }
    columns
}

impl Recipe for Iozone {
    fn name(&self) -> &'static str {
        "iozone"
    }

    fn follows(&self) -> String {
        "Iozone 3.471".into()
    }

    fn settings(&self) -> Vec<(String, String)> {
        self.options.settings()
    }

    fn files(&self) -> Vec<FileSpec> {
        let largest = self.pairs.iter().map(|pair| pair.size).max().unwrap_or_default();
        (0..self.processes).map(|_| FileSpec::growing(largest)).collect()
    }

    fn expected(&self) -> usize {
        self.plan.len()
    }

    fn next(&mut self, done: &[Done], _facts: &Facts) -> Option<Step> {
        self.plan.get(done.len()).map(|(_, _, step)| step.clone())
    }

    fn listings(&self, done: &[Done], _facts: &Facts) -> Vec<Listing> {
        if done.is_empty() {
            return Vec::new();
        }
        let several = matches!(self.options.extent, Extent::Processes { .. });
        let text = if several { throughput::text(self, done) } else { print::text(self, done) };
        vec![Listing { title: "Iozone 3.471".into(), text }]
    }

    fn verdicts(&self, done: &[Done], facts: &Facts) -> Vec<String> {
        verdicts::of(self, done, facts)
    }
}

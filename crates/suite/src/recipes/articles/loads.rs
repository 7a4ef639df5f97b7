//! Commands of the articles that are loads alone: a line of fio, and a ladder of threads.
//!
//! Knows nothing about what was published.

use plimsoll_load::{JobSpec, LaneSpec, Pattern, Region, Until, Work};
use plimsoll_record::Listing;
use plimsoll_units::{Bytes, Kind, Span};

use crate::ground::{Facts, Nature};
use crate::recipe::{Done, Recipe};
use crate::seen::IoSeen;
use crate::step::{Access, FileSpec, Step, Worker};

/// Threads of the ladder: sessions with one read each at a time.
const LADDER: [u32; 6] = [16, 32, 64, 128, 256, 512];
/// Blocks of the database, in bytes.
const BLOCK: u32 = 8192;
/// 25 of 100 operations update: each block is read before it is written, so that 100 reads go with 25 writes.
const READS: f64 = 0.8;

/// Steps that are made one after the other.
#[derive(Debug)]
pub(super) struct Loads {
    name: &'static str,
    steps: Vec<Step>,
    size: Bytes,
    writes: bool,
}

impl Loads {
    /// Four jobs that read 4 KiB at random at depth 256 each.
    pub(super) fn fio(size: Bytes, span: Span, facts: &Facts) -> Self {
        let job = |index: u64| {
            let lane = LaneSpec::new(4096, Pattern::Uniform);
            let job = JobSpec::new(Work::Reads, lane, Region::first(size), Until::span(span));
            Worker::new(JobSpec { depth: 256, seed: index + 1, ..job }, 0, size, Access::direct())
        };
        let step = Step::io("Random read, 4 KiB, 4 jobs at depth 256", (0..4).map(job).collect())
            .measuring("what is in flight always: the limit of operations, and a queue before it");
        Self::filled("fio", vec![step], size, facts)
    }

    /// Reads alone, then four reads to each write, with more and more threads.
    pub(super) fn ladder(size: Bytes, span: Span, facts: &Facts) -> Self {
        let step = |reads: f64, threads: u32| {
            let lane = LaneSpec::new(BLOCK, Pattern::Uniform);
            let work = if reads < 1.0 { Work::Mixed { reads } } else { Work::Reads };
            let job = JobSpec::new(work, lane, Region::first(size), Until::span(span));
            let job = JobSpec { depth: threads, seed: u64::from(threads), ..job };
            let name = format!("{:.0} % reads, {threads} threads", reads * 100.0);
            Step::io(name, vec![Worker::new(job, 0, size, Access::direct())])
                .measuring("blocks of 8 KiB at random: what data files are asked for, without redo")
        };
        let mixes = if facts.read_only { &[1.0][..] } else { &[1.0, READS] };
        let steps = mixes.iter().flat_map(|reads| LADDER.map(|threads| step(*reads, threads)));
        Self::filled("ladder", steps.collect(), size, facts)
    }

    /// A new file holds nothing that could be read.
    fn filled(name: &'static str, mut steps: Vec<Step>, size: Bytes, facts: &Facts) -> Self {
        let fills = facts.nature == Nature::Directory;
        let writes = fills || steps.iter().any(writes);
        if fills {
            let lane = LaneSpec::new(1 << 20, Pattern::Sequential);
            let job = JobSpec::new(Work::Writes, lane, Region::first(size), Until::bytes(size.get()));
            let job = JobSpec { depth: 8, flush_at_end: true, ..job };
            steps.insert(0, Step::io("Fill", vec![Worker::new(job, 0, size, Access::direct())]).uncounted());
        }
        Self { name, steps, size, writes }
    }
}

fn writes(step: &Step) -> bool {
    match &step.work {
        crate::step::Work::Io(io) => io.workers.iter().any(|worker| worker.job.writes()),
        _ => false,
    }
}

impl Recipe for Loads {
    fn name(&self) -> &'static str {
        self.name
    }

    fn follows(&self) -> String {
        self.name.into()
    }

    fn settings(&self) -> Vec<(String, String)> {
        vec![("size".into(), self.size.to_string())]
    }

    fn files(&self) -> Vec<FileSpec> {
        vec![FileSpec { path: None, size: self.size, reserved: self.writes, writes: self.writes }]
    }

    fn expected(&self) -> usize {
        self.steps.len()
    }

    fn next(&mut self, done: &[Done], _facts: &Facts) -> Option<Step> {
        self.steps.get(done.len()).cloned()
    }

    fn listings(&self, done: &[Done], _facts: &Facts) -> Vec<Listing> {
        let head =
            format!("{:<42}{:>12}{:>10}{:>12}{:>12}{:>12}\n", "", "IOPS", "MiB/s", "read us", "read p99", "write us");
        let lines = done.iter().filter(|done| done.step.counts).filter_map(|done| Some(line(done, done.seen.io()?)));
        vec![Listing { title: self.name.into(), text: head + &lines.collect::<String>() }]
    }
}

/// Operations per second of a step.
pub(super) fn iops(seen: &IoSeen) -> f64 {
    seen.total().operations() as f64 / seen.span().as_secs_f64().max(1e-9)
}

/// Mean time of its reads; none where there are none.
pub(super) fn mean_read(seen: &IoSeen) -> Option<Span> {
    seen.total().response_where(|counter| counter.kind == Kind::Read).mean()
}

fn line(done: &Done, seen: &IoSeen) -> String {
    let total = seen.total();
    let reads = total.response_where(|counter| counter.kind == Kind::Read);
    let writes = total.response_where(|counter| counter.kind == Kind::Write);
    let micros =
        |span: Option<Span>| span.map_or_else(|| "-".into(), |span| format!("{:.1}", span.as_nanos() as f64 / 1e3));
    let rate = total.bytes() as f64 / Bytes::mib(1).get() as f64 / seen.span().as_secs_f64().max(1e-9);
    format!(
        "{:<42}{:>12.0}{rate:>10.1}{:>12}{:>12}{:>12}\n",
        done.step.name,
        iops(seen),
        micros(reads.mean()),
        micros(reads.quantile(0.99)),
        micros(writes.mean())
    )
}

//! The steps of the copies: the copy itself, the flush that shows what it left in memory, and zeroes beside random data.
//!
//! Knows nothing about what came of them.

use plimsoll_device::{Contents, Engine, Flush, SyncMode};
use plimsoll_load::{JobSpec, LaneSpec, Pattern, Region, Until, Work};
use plimsoll_units::Bytes;

use super::{DdData, DdKind, DdOptions};
use crate::ground::{Facts, Nature};
use crate::options::spelled;
use crate::step::{Access, Before, Step, Worker};

/// What a step is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Data for copies that only read.
    Fill,
    /// A copy.
    Copy(DdKind),
    /// What the buffered copy left in memory becomes durable.
    Flush,
    /// Data of a kind, to be compared with those of another.
    Probe(DdData),
}

impl Part {
    /// It writes.
    pub(super) fn writes(self) -> bool {
        !matches!(self, Self::Copy(kind) if !kind.writes())
    }
}

/// A step and what it is for.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) part: Part,
    pub(super) step: Step,
}

/// What one operation moves where there is no kernel that cuts calls into requests, in bytes at most.
const REQUEST: u64 = 1 << 20;
/// What the kernel reads ahead by default, in bytes.
const READ_AHEAD: u64 = 128 << 10;
/// Requests of one large call in flight, where there is no kernel that decides it.
const REQUESTS: u32 = 32;
/// How often zeroes and random data are compared.
const ROUNDS: u32 = 3;
/// The least of each that is compared.
const PROBE_LEAST: Bytes = Bytes::mib(4);
/// The block that is written again before a flush, in bytes.
const LAST: u32 = 4096;

/// All steps, in their order.
pub(super) fn plan(options: &DdOptions, total: Bytes, facts: &Facts) -> Vec<Planned> {
    let mut steps = Vec::new();
    let is_new = facts.nature == Nature::Directory;
    if is_new && options.kinds.first().is_some_and(|kind| !kind.writes()) {
        let step = copy(DdKind::Fdatasync, options, total, facts).uncounted();
        steps.push(Planned { part: Part::Fill, step: Step { name: "Fill".into(), measures: "", ..step } });
    }
    for &kind in &options.kinds {
        steps.push(Planned { part: Part::Copy(kind), step: copy(kind, options, total, facts) });
        if kind == DdKind::Buffered && facts.has_cache() {
            steps.push(Planned { part: Part::Flush, step: flush(options, total, facts) });
        }
    }
    let sees_bytes = facts.nature != Nature::Model && !facts.read_only;
    let probed = options.probe.filter(|_| sees_bytes && options.data == DdData::Zeroes);
    if let Some(size) = probed.filter(|_| options.kinds.iter().any(|kind| kind.writes())) {
        // In turn, so that what else the storage does meets both.
        for (round, data) in (1..=ROUNDS).flat_map(|round| [(round, DdData::Zeroes), (round, DdData::Random)]) {
            let step = probe(data, Bytes::new(size.min(total).get() / u64::from(ROUNDS)), facts);
            steps.extend(step.map(|step| Planned { part: Part::Probe(data), step: step.round(round) }));
        }
    }
    steps
}

/// What a worker asks for at once, and how many of it: a call where there is a kernel, and what a kernel would make of it
/// where there is none.
fn shape(kind: DdKind, block: Bytes, total: Bytes, facts: &Facts) -> (u32, u32) {
    if facts.has_cache() {
        return (block.get() as u32, 1);
    }
    let (whole, largest, depth) = match kind {
        DdKind::Buffered | DdKind::Fdatasync | DdKind::Fsync => (total.get(), REQUEST, REQUESTS),
        DdKind::Read | DdKind::ReadNocache => (total.get(), READ_AHEAD, 2),
        DdKind::Direct | DdKind::Dsync | DdKind::Sync | DdKind::ReadDirect => {
            (block.get(), REQUEST, (block.get() / REQUEST).clamp(1, REQUESTS.into()) as u32)
        }
    };
    let piece = greatest_divisor(whole, largest);
    if piece >= 512 { (piece as u32, depth) } else { (block.get().min(largest) as u32, 1) }
}

/// The greatest common divisor.
const fn greatest_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}

const fn contents(data: DdData) -> Contents {
    match data {
        DdData::Zeroes => Contents::Zeroes,
        DdData::Random => Contents::Stamped { compressible: 0.0 },
    }
}

fn copy(kind: DdKind, options: &DdOptions, total: Bytes, facts: &Facts) -> Step {
    let (size, depth) = shape(kind, options.block, total, facts);
    let work = if kind.writes() { Work::Writes } else { Work::Reads };
    let lane = LaneSpec::new(size, Pattern::Sequential);
    let flushes = matches!(kind, DdKind::Fdatasync | DdKind::Fsync);
    let until = Until::bytes(total.get());
    let job = JobSpec { depth, flush_at_end: flushes, ..JobSpec::new(work, lane, Region::first(total), until) };
    let access = Access {
        engine: if depth > 1 { Engine::Ring } else { Engine::Inline },
        direct: kind.is_direct(),
        opened: match kind {
            DdKind::Dsync => SyncMode::Dsync,
            DdKind::Sync => SyncMode::Sync,
            _ => SyncMode::None,
        },
        flush: if kind == DdKind::Fsync { Flush::Fsync } else { Flush::Fdatasync },
        contents: contents(options.data),
        ..Access::buffered()
    };
    let before = match kind {
        DdKind::ReadNocache | DdKind::ReadDirect => Before::Uncached,
        _ if kind.writes() && facts.nature == Nature::Directory => Before::Anew,
        _ => Before::AsTheyAre,
    };
    let name = format!("Copy, {}", spelled(&kind));
    Step::io(name, vec![Worker::new(job, 0, total, access)])
        .together(|step| step.before = before)
        .measuring(measures(kind, facts.has_cache() || facts.write_back.is_some()))
}

const fn measures(kind: DdKind, has_cache: bool) -> &'static str {
    match kind {
        DdKind::Buffered | DdKind::Fdatasync | DdKind::Fsync if !has_cache => {
            "The storage's sequential write, in the requests that a kernel would make of it"
        }
        DdKind::Read | DdKind::ReadNocache if !has_cache => {
            "The storage's sequential read, in the requests that a kernel would make of it"
        }
        DdKind::Buffered => "How fast memory takes the data, slowed down when the kernel allows no more dirty pages",
        DdKind::Fdatasync | DdKind::Fsync => {
            "The storage's sequential write, with what is left in memory flushed at the end"
        }
        DdKind::Direct => "The storage's write of one block at a time, past the page cache, not made durable",
        DdKind::Dsync | DdKind::Sync => "Commits: each block is durable before the next one is asked for",
        DdKind::Read => "Memory for what the page cache holds, storage with read-ahead for the rest",
        DdKind::ReadNocache => "The storage's sequential read with the kernel's read-ahead",
        DdKind::ReadDirect => "The storage's read of one block at a time, without read-ahead",
    }
}

/// Writes the last block again and flushes: nothing but a write has something to flush.
fn flush(options: &DdOptions, total: Bytes, facts: &Facts) -> Step {
    let size = total.get().min(u64::from(LAST).max(facts.grid)) as u32;
    let lane = LaneSpec::new(size, Pattern::Sequential);
    let length = Bytes::new(u64::from(size));
    let job =
        JobSpec { flush_at_end: true, ..JobSpec::new(Work::Writes, lane, Region::first(length), Until::operations(1)) };
    let access = Access { contents: contents(options.data), ..Access::buffered() };
    let mut worker = Worker::new(job, 0, length, access);
    worker.parts[0].start = total.get() - u64::from(size);
    Step::io("Flush of what the copy left", vec![worker])
        .measuring("What the buffered copy still owed to the storage when it ended")
}

/// So many bytes of one kind in blocks of 1 MiB, made durable; none where they are too few to say anything.
fn probe(data: DdData, size: Bytes, facts: &Facts) -> Option<Step> {
    let length = size.round_down(Bytes::new(REQUEST));
    let on_grid = REQUEST.is_multiple_of(facts.grid);
    let lane = LaneSpec::new(REQUEST as u32, Pattern::Sequential);
    let until = Until::bytes(length.get());
    let region = Region::first(length);
    let job = JobSpec { depth: 4, flush_at_end: true, ..JobSpec::new(Work::Writes, lane, region, until) };
    let access = Access { contents: contents(data), engine: Engine::Threads, ..Access::direct() };
    let name = if data == DdData::Zeroes { "Zeroes, direct" } else { "Random data, direct" };
    let step = Step::io(name, vec![Worker::new(job, 0, length, access)])
        .measuring("Whether zeroes are stored as other data are");
    (length >= PROBE_LEAST && on_grid).then_some(step)
}

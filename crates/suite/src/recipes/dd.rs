//! Copies with the semantics of `dd`, with the rate of the storage next to the line printed by `dd`.
//!
//! A copy through the page cache ends when the last byte is in memory. A separate step flushes the rest, for comparison
//! with the rate including the flush. Figures are rounded as in coreutils 9: sizes to the nearest with a decimal below
//! ten, times to six digits, rates in powers of 1,000 with a decimal below a hundred.

use clap::{ArgAction, ValueEnum};
use plimsoll_device::{Contents, Engine, Flush, SyncMode};
use plimsoll_load::{JobSpec, LaneSpec, Pattern, Region, Until, WorkerOps};
use plimsoll_record::{DdVerdict, Listing, SharedVerdict, StepQuantity, Verdict};
use plimsoll_units::{Bytes, Span};

use super::target::check_grid;
use crate::ground::{Facts, Nature};
use crate::options::{OptionsError, SuiteOptions, Surroundings, spelled, switch};
use crate::recipe::{CompletedStep, Recipe, StepPlan, settings};
use crate::result::IoResult;
use crate::step::{Before, FileAccess, FileSpec, Step, Worker};

/// Maximum length of a `write` call on Linux, in bytes.
const CALL_MAX: u64 = 0x7fff_f000;

/// Ratio of rates from which zeroes were compressed or not stored.
const COMPRESSION_RATIO: f64 = 1.3;

/// Method of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DdKind {
    /// Into the page cache, the default of dd
    Buffered,
    /// Into the page cache, with an fdatasync at the end (conv=fdatasync)
    Fdatasync,
    /// Into the page cache, with an fsync at the end (conv=fsync)
    Fsync,
    /// With direct I/O (oflag=direct)
    Direct,
    /// Each block durable (oflag=dsync)
    Dsync,
    /// Each block durable with its metadata (oflag=sync)
    Sync,
    /// Read through the page cache
    Read,
    /// Read, and drop the data from the page cache (iflag=nocache)
    ReadNocache,
    /// Read with direct I/O (iflag=direct)
    ReadDirect,
}

impl DdKind {
    /// Writes; otherwise reads.
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::ReadNocache | Self::ReadDirect)
    }

    /// Uses direct I/O.
    pub const fn is_direct(self) -> bool {
        matches!(self, Self::Direct | Self::ReadDirect)
    }

    /// Arguments of the dd command.
    const fn flags(self) -> &'static str {
        match self {
            Self::Buffered | Self::Read => "",
            Self::Fdatasync => " conv=fdatasync",
            Self::Fsync => " conv=fsync",
            Self::Direct => " oflag=direct",
            Self::Dsync => " oflag=dsync",
            Self::Sync => " oflag=sync",
            Self::ReadNocache => " iflag=nocache",
            Self::ReadDirect => " iflag=direct",
        }
    }
}

/// Written data, prepared before the clock starts. GNU dd reads its zeroes during the copy, and is therefore slower if
/// memory limits the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DdData {
    /// Zeroes, as of `/dev/zero`.
    Zeroes,
    /// Random data.
    Random,
}

/// Bytes of zeroes and of random data for a comparison of their rates; `None` to skip it.
type Probe = Option<Bytes>;

/// Options of dd.
#[derive(Clone, Debug, clap::Args)]
pub struct DdOptions {
    /// Block size, as bs of dd
    #[arg(long = "bs", value_name = "SIZE", default_value = "1GiB")]
    pub block: Bytes,
    /// Blocks of a copy, as count of dd
    #[arg(long, value_name = "BLOCKS", default_value_t = 5)]
    pub count: u64,
    /// The copies, in order
    #[arg(long, value_enum, value_delimiter = ',', default_value = "buffered,fdatasync,direct,read-direct")]
    pub kinds: Vec<DdKind>,
    /// Write random data instead of zeroes
    #[arg(long = "random", action = ArgAction::SetTrue, value_parser = switch(DdData::Zeroes, DdData::Random))]
    pub data: DdData,
    /// Skip the check whether the storage really stores zeroes
    #[arg(long = "no-probe", action = ArgAction::SetTrue, value_parser = switch(Some(Bytes::mib(256)), None))]
    pub probe: Probe,
}

impl SuiteOptions for DdOptions {
    fn recipe(&self, _surroundings: &Surroundings, facts: &Facts) -> Result<Box<dyn Recipe>, OptionsError> {
        Ok(Box::new(Dd::new(self.clone(), facts)?))
    }
}

/// Copies that cannot be executed.
#[rustfmt::skip]
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
enum DdError {
    #[error("nothing to copy: give a block size and a count of at least 1")] Empty,
    #[error("one call moves at most {CALL_MAX} bytes: give a block size of 1GiB or less")] Block,
    #[error("{count} blocks of {block} do not fit into {space}: give a lower count")]
    Space { count: u64, block: Bytes, space: Bytes },
    #[error("{name}: {kind} would write to it: read from it, or name it with --destroy too")]
    ReadOnly { name: String, kind: String },
}

/// Copies of `dd`.
#[derive(Debug)]
pub struct Dd {
    options: DdOptions,
    total: Bytes,
    plan: StepPlan<StepPurpose>,
    /// Whether any step writes.
    writes: bool,
}

impl Dd {
    /// The recipe on a ground with these facts.
    ///
    /// # Errors
    /// Invalid sizes, insufficient space, or a target that may not be written.
    pub fn new(options: DdOptions, facts: &Facts) -> Result<Self, OptionsError> {
        let DdOptions { block, count, kinds, .. } = &options;
        if block.get() == 0 || *count == 0 || kinds.is_empty() {
            return Err(DdError::Empty.into());
        }
        if block.get() > CALL_MAX {
            return Err(DdError::Block.into());
        }
        let total = block.get().checked_mul(*count).map(Bytes::new).filter(|total| *total <= facts.space);
        let Some(total) = total else {
            return Err(DdError::Space { count: *count, block: *block, space: facts.space }.into());
        };
        if kinds.iter().any(|kind| kind.is_direct()) {
            check_grid(facts.grid, block.get())?;
        }
        if let Some(kind) = kinds.iter().find(|kind| kind.writes() && facts.read_only) {
            return Err(DdError::ReadOnly { name: facts.subject.name.clone(), kind: spelled(kind) }.into());
        }
        let plan = build_plan(&options, total, facts);
        let writes = plan.steps.iter().any(Step::writes);
        Ok(Self { options, total, plan, writes })
    }

    fn command(&self, kind: DdKind) -> String {
        let source = match self.options.data {
            _ if !kind.writes() => "FILE of=/dev/null",
            DdData::Zeroes => "/dev/zero of=FILE",
            DdData::Random => "RANDOM of=FILE",
        };
        let block = typed(self.options.block);
        format!("dd if={source} bs={block} count={}{}", self.options.count, kind.flags())
    }

    /// Results of the executed steps.
    fn observe<'a>(&'a self, done: &'a [CompletedStep]) -> impl Iterator<Item = (StepPurpose, &'a IoResult)> + Clone {
        self.plan.done(done).filter_map(|(part, done)| Some((*part, done.result.io()?)))
    }
}

impl Recipe for Dd {
    fn name(&self) -> &'static str {
        "dd"
    }

    fn follows(&self) -> String {
        "dd of GNU coreutils".into()
    }

    fn settings(&self) -> Vec<(String, String)> {
        let kinds: Vec<_> = self.options.kinds.iter().map(spelled).collect();
        let data = match self.options.data {
            DdData::Zeroes => "zeroes",
            DdData::Random => "random",
        };
        settings([
            ("block", self.options.block.to_string()),
            ("count", self.options.count.to_string()),
            ("kinds", kinds.join(", ")),
            ("data", data.into()),
        ])
    }

    fn files(&self) -> Vec<FileSpec> {
        vec![FileSpec { writes: self.writes, ..FileSpec::growing(self.total) }]
    }

    fn steps(&self) -> &[Step] {
        &self.plan.steps
    }

    fn listings(&self, done: &[CompletedStep], _facts: &Facts) -> Vec<Listing> {
        let copies = self.observe(done).filter_map(|(part, observed)| match part {
            StepPurpose::Copy(kind) => Some((kind, observed)),
            _ => None,
        });
        copies
            .map(|(kind, observed)| Listing {
                title: self.command(kind),
                text: lines(observed.total().bytes(), self.options.block, observed.span()),
            })
            .collect()
    }

    fn verdicts(&self, done: &[CompletedStep], facts: &Facts) -> Vec<Verdict> {
        let mut verdicts: Vec<Verdict> = Vec::new();
        for (part, observed) in self.observe(done) {
            let StepPurpose::Copy(kind) = part else { continue };
            match kind {
                DdKind::Buffered => verdicts.extend(self.buffered(observed, done, facts).map(Verdict::from)),
                DdKind::Dsync | DdKind::Sync => verdicts.extend(one_by_one(kind, observed).map(Verdict::from)),
                DdKind::Read => verdicts.extend(from_memory(observed, self.total, facts).map(Verdict::from)),
                _ => {}
            }
        }
        verdicts.extend(self.zeroes(done, facts));
        verdicts
    }
}

impl Dd {
    /// Dirty data after the buffered copy, and the rate including their flush.
    fn buffered(&self, copy: &IoResult, done: &[CompletedStep], facts: &Facts) -> Option<DdVerdict> {
        let size_bytes = Bytes::new(copy.total().bytes());
        let bytes_per_second = rate_of(copy);
        if let Some(cache) = facts.write_back.filter(|_| !facts.has_cache()) {
            let unwritten_bytes = cache.min(size_bytes);
            return Some(DdVerdict::WriteBackCache { cache_bytes: cache, unwritten_bytes, bytes_per_second });
        }
        if !facts.has_cache() {
            return Some(DdVerdict::NoPageCache);
        }
        let flush =
            self.observe(done).find(|(part, _)| *part == StepPurpose::Flush).map(|(_, observed)| observed.span())?;
        Some(DdVerdict::BufferedCopy {
            size_bytes,
            bytes_per_second,
            dirty_bytes: copy.dirty,
            flush,
            flushed_bytes_per_second: size_bytes.get() as f64 / (copy.span() + flush).as_secs_f64().max(1e-9),
        })
    }

    /// Whether zeroes are stored like other data.
    fn zeroes(&self, done: &[CompletedStep], facts: &Facts) -> Option<Verdict> {
        let rates = |data| {
            let of = move |(part, observed): (StepPurpose, &IoResult)| {
                (part == StepPurpose::Probe(data)).then(|| rate_of(observed)).filter(|rate| *rate > 0.0)
            };
            self.observe(done).filter_map(of)
        };
        let zeroes_are_written = self.options.data == DdData::Zeroes && self.options.kinds.iter().any(|k| k.writes());
        // All rounds must agree before a claim about the storage.
        let slowest = rates(DdData::Zeroes).reduce(f64::min);
        let fastest = rates(DdData::Random).reduce(f64::max);
        match (slowest, fastest) {
            (Some(zeroes), Some(random)) if zeroes > random * COMPRESSION_RATIO => {
                Some(DdVerdict::ZeroesFaster { ratio: zeroes / random }.into())
            }
            (Some(_), Some(_)) => Some(DdVerdict::ZeroesNotFaster.into()),
            _ if zeroes_are_written && facts.has_cache() => Some(SharedVerdict::ZeroesWritten.into()),
            _ => None,
        }
    }
}

/// Bytes per second.
fn rate_of(observed: &IoResult) -> f64 {
    observed.total().bytes() as f64 / observed.span().as_secs_f64().max(1e-9)
}

/// Commit rate implied by synchronous blocks.
fn one_by_one(kind: DdKind, observed: &IoResult) -> Option<DdVerdict> {
    let each = observed.total().response();
    Some(DdVerdict::DurableBlocks {
        copy: spelled(&kind),
        per_second: observed.total().operations() as f64 / observed.span().as_secs_f64().max(1e-9),
        median: each.quantile(0.5)?,
        p99: each.quantile(0.99)?,
    })
}

/// Whether reads may have been served from memory.
fn from_memory(observed: &IoResult, total: Bytes, facts: &Facts) -> Option<DdVerdict> {
    let memory_bytes = facts.memory().filter(|memory| facts.has_cache() && total < *memory)?;
    Some(DdVerdict::ReadFromPageCache { bytes_per_second: rate_of(observed), size_bytes: total, memory_bytes })
}

/// The purpose of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepPurpose {
    /// Data for copies that only read.
    Fill,
    /// A copy.
    Copy(DdKind),
    /// Flush of dirty data after a buffered copy.
    Flush,
    /// Data of a kind, for comparison with another.
    Probe(DdData),
}

/// Maximum request in bytes on grounds without a kernel that splits calls.
const REQUEST: u64 = 1 << 20;
/// Default read-ahead of the kernel in bytes.
const READ_AHEAD: u64 = 128 << 10;
/// Concurrent requests of a large call, on grounds without a kernel.
const REQUESTS: u32 = 32;
/// Number of comparisons of zeroes and random data.
const ROUNDS: u32 = 3;
/// Minimum size of each side of a comparison.
const PROBE_MIN: Bytes = Bytes::mib(4);
/// Size of the block rewritten before a flush, in bytes.
const LAST: u32 = 4096;

/// All steps, in order.
fn build_plan(options: &DdOptions, total: Bytes, facts: &Facts) -> StepPlan<StepPurpose> {
    let mut steps = Vec::new();
    let is_new = facts.nature == Nature::Directory;
    if is_new && options.kinds.first().is_some_and(|kind| !kind.writes()) {
        let step = copy(DdKind::Fdatasync, options, total, facts).uncounted();
        steps.push((StepPurpose::Fill, Step { name: "Fill".into(), measures: None, ..step }));
    }
    for &kind in &options.kinds {
        steps.push((StepPurpose::Copy(kind), copy(kind, options, total, facts)));
        if kind == DdKind::Buffered && facts.has_cache() {
            steps.push((StepPurpose::Flush, build_flush_step(options, total, facts)));
        }
    }
    let sees_bytes = facts.nature != Nature::Model && !facts.read_only;
    let probed = options.probe.filter(|_| sees_bytes && options.data == DdData::Zeroes);
    if let Some(size) = probed.filter(|_| options.kinds.iter().any(|kind| kind.writes())) {
        // Alternating, so that other load on the storage affects both.
        for (round, data) in (1..=ROUNDS).flat_map(|round| [(round, DdData::Zeroes), (round, DdData::Random)]) {
            let step = probe(data, Bytes::new(size.min(total).get() / u64::from(ROUNDS)), facts);
            steps.extend(step.map(|step| (StepPurpose::Probe(data), step.round(round))));
        }
    }
    steps.into_iter().collect()
}

/// Size and depth of a worker's operations: a call on a host; on other grounds the requests that a kernel would issue.
fn shape(kind: DdKind, block: Bytes, total: Bytes, facts: &Facts) -> (u32, u32) {
    if facts.has_cache() {
        return (block.get() as u32, 1);
    }
    let (entire, largest, depth) = match kind {
        DdKind::Buffered | DdKind::Fdatasync | DdKind::Fsync => (total.get(), REQUEST, REQUESTS),
        DdKind::Read | DdKind::ReadNocache => (total.get(), READ_AHEAD, 2),
        DdKind::Direct | DdKind::Dsync | DdKind::Sync | DdKind::ReadDirect => {
            (block.get(), REQUEST, (block.get() / REQUEST).clamp(1, REQUESTS.into()) as u32)
        }
    };
    let piece = greatest_divisor(entire, largest);
    if piece >= 512 { (piece as u32, depth) } else { (block.get().min(largest) as u32, 1) }
}

/// Greatest common divisor.
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
    let work = if kind.writes() { WorkerOps::Writes } else { WorkerOps::Reads };
    let lane = LaneSpec::new(size, Pattern::Sequential);
    let flushes = matches!(kind, DdKind::Fdatasync | DdKind::Fsync);
    let until = Until::bytes(total.get());
    let job = JobSpec { depth, flush_at_end: flushes, ..JobSpec::new(work, lane, Region::first(total), until) };
    let access = FileAccess {
        engine: if depth > 1 { Engine::Ring } else { Engine::Inline },
        direct: kind.is_direct(),
        opened: match kind {
            DdKind::Dsync => SyncMode::Dsync,
            DdKind::Sync => SyncMode::Sync,
            _ => SyncMode::None,
        },
        flush: if kind == DdKind::Fsync { Flush::Fsync } else { Flush::Fdatasync },
        contents: contents(options.data),
        ..FileAccess::buffered()
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

const fn measures(kind: DdKind, has_cache: bool) -> StepQuantity {
    match kind {
        DdKind::Buffered | DdKind::Fdatasync | DdKind::Fsync if !has_cache => StepQuantity::KernelWrites,
        DdKind::Read | DdKind::ReadNocache if !has_cache => StepQuantity::KernelReads,
        DdKind::Buffered => StepQuantity::BufferedCopy,
        DdKind::Fdatasync | DdKind::Fsync => StepQuantity::FlushedCopy,
        DdKind::Direct => StepQuantity::DirectBlockWrites,
        DdKind::Dsync | DdKind::Sync => StepQuantity::DurableBlocks,
        DdKind::Read => StepQuantity::CachedReads,
        DdKind::ReadNocache => StepQuantity::ReadAheadReads,
        DdKind::ReadDirect => StepQuantity::DirectBlockReads,
    }
}

/// Rewrites the last block and flushes: a flush needs a preceding write.
fn build_flush_step(options: &DdOptions, total: Bytes, facts: &Facts) -> Step {
    let size = total.get().min(u64::from(LAST).max(facts.grid)) as u32;
    let lane = LaneSpec::new(size, Pattern::Sequential);
    let length = Bytes::new(u64::from(size));
    let job = JobSpec {
        flush_at_end: true,
        ..JobSpec::new(WorkerOps::Writes, lane, Region::first(length), Until::operations(1))
    };
    let access = FileAccess { contents: contents(options.data), ..FileAccess::buffered() };
    let mut worker = Worker::new(job, 0, length, access);
    worker.parts[0].start = total.get() - u64::from(size);
    Step::io("Flush of the copy's dirty data", vec![worker]).measuring(StepQuantity::DirtyDataFlush)
}

/// A durable write of `size` bytes of a kind in blocks of 1 MiB; `None` if the size is too small for a comparison.
fn probe(data: DdData, size: Bytes, facts: &Facts) -> Option<Step> {
    let length = size.round_down(Bytes::new(REQUEST));
    let on_grid = REQUEST.is_multiple_of(facts.grid);
    let lane = LaneSpec::new(REQUEST as u32, Pattern::Sequential);
    let until = Until::bytes(length.get());
    let region = Region::first(length);
    let job = JobSpec { depth: 4, flush_at_end: true, ..JobSpec::new(WorkerOps::Writes, lane, region, until) };
    let access = FileAccess { contents: contents(data), engine: Engine::Threads, ..FileAccess::direct() };
    let name = if data == DdData::Zeroes { "Zeroes, direct" } else { "Random data, direct" };
    let step = Step::io(name, vec![Worker::new(job, 0, length, access)]).measuring(StepQuantity::StoredZeroes);
    (length >= PROBE_MIN && on_grid).then_some(step)
}

/// The three lines of dd for a copy in blocks of `block` bytes.
fn lines(bytes: u64, block: Bytes, span: Span) -> String {
    let records = format!("{}+{}", bytes / block.get(), u8::from(!bytes.is_multiple_of(block.get())));
    format!("{records} records in\n{records} records out\n{}\n", copied(bytes, span))
}

/// `52428800 bytes (52 MB, 50 MiB) copied, 0.5 s, 105 MB/s`.
fn copied(bytes: u64, span: Span) -> String {
    let noun = if bytes == 1 { "byte" } else { "bytes" };
    let sizes = match (format_size(bytes, 1000), format_size(bytes, 1024)) {
        (Some(decimal), Some(binary)) => format!(" ({decimal}, {binary})"),
        (Some(decimal), None) => format!(" ({decimal})"),
        _ => String::new(),
    };
    format!("{bytes} {noun}{sizes} copied, {} s, {}", seconds(span.as_secs_f64()), rate(bytes, span))
}

/// A size in the largest unit not above it; `None` below the first.
fn format_size(bytes: u64, base: u128) -> Option<String> {
    let units =
        if base == 1000 { ["kB", "MB", "GB", "TB", "PB", "EB"] } else { ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] };
    let bytes = u128::from(bytes);
    let mut power = (0..=6).rev().find(|power| bytes >= base.pow(*power))?;
    if power == 0 {
        return None;
    }
    let tenths = nearest(bytes * 10, base.pow(power));
    if tenths < 100 {
        return Some(format!("{}.{} {}", tenths / 10, tenths % 10, units[power as usize - 1]));
    }
    let rounded = nearest(bytes, base.pow(power));
    if rounded == base && power < 6 {
        power += 1;
        return Some(format!("1.0 {}", units[power as usize - 1]));
    }
    Some(format!("{rounded} {}", units[power as usize - 1]))
}

/// Quotient, rounded half to even.
const fn nearest(value: u128, unit: u128) -> u128 {
    let (quotient, remainder) = (value / unit, value % unit);
    let up = remainder * 2 > unit || (remainder * 2 == unit && quotient % 2 == 1);
    if up { quotient + 1 } else { quotient }
}

/// Six digits without trailing zeroes; scientific below 0.0001 and from a million on.
fn seconds(value: f64) -> String {
    let digits = format!("{value:.5e}");
    let (mantissa, exponent) = digits.split_once('e').unwrap_or((&digits, "0"));
    let power: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| text.trim_end_matches('0').trim_end_matches('.').to_owned();
    if (-4..6).contains(&power) {
        let text = format!("{value:.*}", (5 - power) as usize);
        return if text.contains('.') { trimmed(&text) } else { text };
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(mantissa), power.abs())
}

/// Bytes per second in powers of 1,000.
fn rate(bytes: u64, span: Span) -> String {
    if span.is_zero() {
        return "Infinity B/s".into();
    }
    let mut value = bytes as f64 / span.as_secs_f64();
    let units = ["B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"];
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let fine = format!("{value:.1}");
    let text = if fine.len() > 4 { format!("{value:.0}") } else { fine };
    format!("{text} {}", units[unit])
}

/// A size in dd's input notation: `1G`, `8K`, `500`.
fn typed(bytes: Bytes) -> String {
    let fits = [(30, "G"), (20, "M"), (10, "K")];
    let fit = fits.iter().find(|(shift, _)| bytes.get() > 0 && bytes.get().is_multiple_of(1 << shift));
    fit.map_or_else(|| bytes.get().to_string(), |(shift, letter)| format!("{}{letter}", bytes.get() >> shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copy_line_matches_gnu_dd() {
        // Lines printed by dd of coreutils 9.1.
        let check = |bytes, nanoseconds, expected: &str| {
            assert_eq!(copied(bytes, Span::from_nanos(nanoseconds)), expected);
        };
        check(7_340_032, 6_457_910, "7340032 bytes (7.3 MB, 7.0 MiB) copied, 0.00645791 s, 1.1 GB/s");
        check(500, 134_461, "500 bytes copied, 0.000134461 s, 3.7 MB/s");
        check(1500, 65_938, "1500 bytes (1.5 kB, 1.5 KiB) copied, 6.5938e-05 s, 22.7 MB/s");
        check(1000, 62_123, "1000 bytes (1.0 kB) copied, 6.2123e-05 s, 16.1 MB/s");
        check(1024, 69_103, "1024 bytes (1.0 kB, 1.0 KiB) copied, 6.9103e-05 s, 14.8 MB/s");
        check(1, 1_000_000_000, "1 byte copied, 1 s, 1.0 B/s");
        check(999_999, 1_000_000_000, "999999 bytes (1.0 MB, 977 KiB) copied, 1 s, 1000 kB/s");
        check(52_428_800, 500_000_000, "52428800 bytes (52 MB, 50 MiB) copied, 0.5 s, 105 MB/s");
        check(0, 0, "0 bytes copied, 0 s, Infinity B/s");
    }

    #[test]
    fn records_are_whole_blocks() {
        assert!(lines(5000, Bytes::new(1000), Span::from_secs(1)).starts_with("5+0 records in\n5+0 records out\n"));
        assert!(lines(5500, Bytes::new(1000), Span::from_secs(1)).starts_with("5+1 records in\n5+1 records out\n"));
    }

    #[test]
    fn sizes_are_typed_in_the_largest_unit() {
        let check = |bytes, expected| assert_eq!(typed(Bytes::new(bytes)), expected);
        check(1 << 30, "1G");
        check(8192, "8K");
        check(3 << 20, "3M");
        check(2300, "2300");
        check(0, "0");
    }
}

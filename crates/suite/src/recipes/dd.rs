//! Copies as `dd` makes them, and the truth beside the line that it prints.
//!
//! A copy through the page cache ends when the last byte is in memory. What it left behind is flushed in a step of its own,
//! so that the rate of storage stands beside the rate of memory. Knows nothing about arguments.

mod plan;
mod print;

use clap::{ArgAction, ValueEnum};
use plimsoll_record::Listing;
use plimsoll_units::Bytes;

use crate::ground::Facts;
use crate::options::{SuiteOptions, Surroundings, defaults, spelled, switch};
use crate::recipe::{Done, Recipe};
use crate::seen::IoSeen;
use crate::step::{FileSpec, Step};

use plan::{Part, Planned, plan};

/// The most that one call of `write` moves on Linux, in bytes.
const CALL_MAX: u64 = 0x7fff_f000;

/// Zeroes that are faster by this factor were compressed, or not stored at all.
const COMPRESSION_RATIO: f64 = 1.3;

/// How a copy is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DdKind {
    /// Into the page cache, as dd does when it is told nothing
    Buffered,
    /// The same, and one fdatasync at the end (conv=fdatasync)
    Fdatasync,
    /// The same, and one fsync at the end (conv=fsync)
    Fsync,
    /// Past the page cache (oflag=direct)
    Direct,
    /// Each block durable (oflag=dsync)
    Dsync,
    /// Each block durable with its metadata (oflag=sync)
    Sync,
    /// Reading through the page cache
    Read,
    /// Reading, and dropping what was read from the cache (iflag=nocache)
    ReadNocache,
    /// Reading past the page cache (iflag=direct)
    ReadDirect,
}

impl DdKind {
    /// It writes; otherwise it reads.
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::ReadNocache | Self::ReadDirect)
    }

    /// It goes past the page cache.
    pub const fn is_direct(self) -> bool {
        matches!(self, Self::Direct | Self::ReadDirect)
    }

    /// Its arguments of the command.
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

/// Data that are written. Both are prepared before the clock starts; GNU dd reads its zeroes meanwhile, which makes it
/// slower where memory limits the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DdData {
    /// Zeroes, as of `/dev/zero`.
    Zeroes,
    /// Random data.
    Random,
}

/// Bytes of zeroes and of random data whose rates are compared at the end; none for no comparison.
type Probe = Option<Bytes>;

/// Options of dd.
#[derive(Clone, Debug, clap::Args)]
pub struct DdOptions {
    /// Bytes of one call, as dd's bs
    #[arg(long = "bs", value_name = "SIZE", default_value = "1GiB")]
    pub block: Bytes,
    /// Blocks of a copy, as dd's count
    #[arg(long, value_name = "BLOCKS", default_value_t = 5)]
    pub count: u64,
    /// The copies to make, one after the other
    #[arg(long, value_enum, value_delimiter = ',', default_value = "buffered,fdatasync,direct,read-direct")]
    pub kinds: Vec<DdKind>,
    /// Write random data instead of zeroes
    #[arg(long = "random", action = ArgAction::SetTrue, value_parser = switch(DdData::Zeroes, DdData::Random))]
    pub data: DdData,
    /// Do not look whether the storage keeps zeroes
    #[arg(long = "no-probe", action = ArgAction::SetTrue, value_parser = switch(Some(Bytes::mib(256)), None))]
    pub probe: Probe,
}

impl Default for DdOptions {
    fn default() -> Self {
        defaults()
    }
}

impl SuiteOptions for DdOptions {
    fn recipe(&self, _surroundings: &Surroundings, facts: &Facts) -> Result<Box<dyn Recipe>, String> {
        Ok(Box::new(Dd::new(self.clone(), facts)?))
    }
}

/// Copies of `dd`.
#[derive(Debug)]
pub struct Dd {
    options: DdOptions,
    total: Bytes,
    plan: Vec<Planned>,
}

impl Dd {
    /// Its steps on a ground with these facts.
    ///
    /// # Errors
    /// What to say instead, in one line: sizes that cannot be, too little space, a place that may not be written to.
    pub fn new(options: DdOptions, facts: &Facts) -> Result<Self, String> {
        let DdOptions { block, count, kinds, .. } = &options;
        if block.get() == 0 || *count == 0 || kinds.is_empty() {
            return Err("dd copies nothing: give a block size and a count of at least 1".into());
        }
        if block.get() > CALL_MAX {
            return Err(format!("one call moves at most {CALL_MAX} bytes: give a block size of 1GiB or less"));
        }
        let total = block.get().checked_mul(*count).map(Bytes::new).filter(|total| *total <= facts.space);
        let Some(total) = total else {
            return Err(format!("{count} blocks of {block} do not fit into {}: give a lower count", facts.space));
        };
        let off_grid = kinds.iter().find(|kind| kind.is_direct() && !block.get().is_multiple_of(facts.grid));
        if let Some(kind) = off_grid {
            let grid = facts.grid;
            return Err(format!(
                "{} needs a block size that is a multiple of {grid} bytes here, not {block}",
                spelled(kind)
            ));
        }
        if let Some(kind) = kinds.iter().find(|kind| kind.writes() && facts.read_only) {
            let name = &facts.subject.name;
            return Err(format!(
                "{name}: {} would write to it: read from it, or name it with --destroy too",
                spelled(kind)
            ));
        }
        let plan = plan(&options, total, facts);
        Ok(Self { options, total, plan })
    }

    fn command(&self, kind: DdKind) -> String {
        let source = match self.options.data {
            _ if !kind.writes() => "FILE of=/dev/null",
            DdData::Zeroes => "/dev/zero of=FILE",
            DdData::Random => "RANDOM of=FILE",
        };
        let block = print::typed(self.options.block);
        format!("dd if={source} bs={block} count={}{}", self.options.count, kind.flags())
    }

    /// What was seen of the parts that were made.
    fn seen<'a>(&'a self, done: &'a [Done]) -> impl Iterator<Item = (Part, &'a IoSeen)> + Clone {
        self.plan.iter().zip(done).filter_map(|(planned, done)| Some((planned.part, done.seen.io()?)))
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
        [
            ("block", self.options.block.to_string()),
            ("count", self.options.count.to_string()),
            ("kinds", kinds.join(", ")),
            ("data", data.into()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    fn files(&self) -> Vec<FileSpec> {
        let writes = self.plan.iter().any(|planned| planned.part.writes());
        vec![FileSpec { path: None, size: self.total, reserved: false, writes }]
    }

    fn expected(&self) -> usize {
        self.plan.len()
    }

    fn next(&mut self, done: &[Done], _facts: &Facts) -> Option<Step> {
        self.plan.get(done.len()).map(|planned| planned.step.clone())
    }

    fn listings(&self, done: &[Done], _facts: &Facts) -> Vec<Listing> {
        let copies = self.seen(done).filter_map(|(part, seen)| match part {
            Part::Copy(kind) => Some((kind, seen)),
            _ => None,
        });
        copies
            .map(|(kind, seen)| Listing {
                title: self.command(kind),
                text: print::lines(seen.total().bytes(), self.options.block, seen.span()),
            })
            .collect()
    }

    fn verdicts(&self, done: &[Done], facts: &Facts) -> Vec<String> {
        let mut said = Vec::new();
        for (part, seen) in self.seen(done) {
            let Part::Copy(kind) = part else { continue };
            match kind {
                DdKind::Buffered => said.extend(self.buffered(seen, done, facts)),
                DdKind::Dsync | DdKind::Sync => said.extend(one_by_one(kind, seen)),
                DdKind::Read => said.extend(from_memory(seen, self.total, facts)),
                _ => {}
            }
        }
        said.extend(self.zeroes(done, facts));
        said
    }
}

impl Dd {
    /// What the buffered copy left behind, and the rate with its flush.
    fn buffered(&self, copy: &IoSeen, done: &[Done], facts: &Facts) -> Option<String> {
        if let Some(cache) = facts.write_back.filter(|_| !facts.has_cache()) {
            let left = cache.min(Bytes::new(copy.total().bytes()));
            let rate = print::rate(copy.total().bytes(), copy.span());
            return Some(format!(
                "a write-back cache of {cache} is part of the model: {rate} is the speed of that memory as much as of the \
                 storage, and when the copy ended up to {left} waited to be written"
            ));
        }
        if !facts.has_cache() {
            return Some(
                "there is no page cache here, so the buffered copy is storage alone: on a host it prints more, by what \
                 its memory takes before dd ends"
                    .into(),
            );
        }
        let bytes = copy.total().bytes();
        let said = print::rate(bytes, copy.span());
        let flush = self.seen(done).find(|(part, _)| *part == Part::Flush).map(|(_, seen)| seen.span())?;
        let whole = copy.span() + flush;
        let left = match copy.dirty {
            Some(dirty) => format!("at most {} of its {} still", dirty.min(Bytes::new(bytes)), Bytes::new(bytes)),
            None => "some of it".into(),
        };
        Some(format!(
            "the buffered copy says {said}, the speed of memory as much as of storage: when it ended, {left} waited to be \
             written (the host counts no single file), and their flush took {flush} more; with it the rate is {}",
            print::rate(bytes, whole)
        ))
    }

    /// Whether zeroes are stored as other data are.
    fn zeroes(&self, done: &[Done], facts: &Facts) -> Option<String> {
        let rates = |wanted| {
            let of = move |(part, seen): (Part, &IoSeen)| {
                (part == Part::Probe(wanted)).then(|| seen.total().bytes() as f64 / seen.span().as_secs_f64())
            };
            self.seen(done).filter_map(of)
        };
        let zeroes_are_written = self.options.data == DdData::Zeroes && self.options.kinds.iter().any(|k| k.writes());
        // All rounds have to agree before storage is accused.
        let slowest = rates(DdData::Zeroes).reduce(f64::min);
        let fastest = rates(DdData::Random).reduce(f64::max);
        match (slowest, fastest) {
            (Some(zeroes), Some(random)) if zeroes > random * COMPRESSION_RATIO => Some(format!(
                "zeroes were written at least {:.1} times as fast as random data: the storage compresses them or does \
                 not store them, and copies of zeroes say nothing about other data",
                zeroes / random
            )),
            (Some(_), Some(_)) => Some(
                "zeroes were not written faster than random data in every round: nothing says that they are not stored"
                    .into(),
            ),
            _ if zeroes_are_written && facts.has_cache() => {
                Some("only zeroes were written: storage that compresses looks faster with them than with data".into())
            }
            _ => None,
        }
    }
}

/// What synchronous blocks say about commits.
fn one_by_one(kind: DdKind, seen: &IoSeen) -> Option<String> {
    let each = seen.total().response();
    let (median, tail) = (each.quantile(0.5)?, each.quantile(0.99)?);
    let rate = seen.total().operations() as f64 / seen.span().as_secs_f64();
    Some(format!(
        "with {} each block waits until it is durable: {rate:.0} a second, {median} (median) and {tail} (p99) each",
        spelled(&kind)
    ))
}

/// Whether a read can have come out of memory.
fn from_memory(seen: &IoSeen, total: Bytes, facts: &Facts) -> Option<String> {
    let memory = facts.memory().filter(|memory| facts.has_cache() && total < *memory)?;
    let rate = print::rate(seen.total().bytes(), seen.span());
    Some(format!(
        "{rate} is a read of {total} through the page cache of a host with {memory} of memory, which may hold them all: \
         read with iflag=direct to see storage"
    ))
}

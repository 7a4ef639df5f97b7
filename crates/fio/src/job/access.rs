//! Operations of a job: directions, order, block sizes, offsets.

use plimsoll_language::{label, say};
use plimsoll_units::Bytes;

use crate::fault::{FaultKind, Findings};
use crate::number::{self, Base, NumberScale};
use crate::settings::Settings;
use crate::value::{Distribution, Each, Extent};

/// Kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobDirection {
    pub reads: bool,
    pub writes: bool,
    /// Trims; together with writes, each block is trimmed and then written.
    pub trims: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// `read`, `write`, `rw`: each operation starts `step` bytes after the end of the previous (`rw=read:4k`);
    /// backwards if negative.
    Sequential {
        /// Gap in bytes.
        step: i64,
    },
    /// `randread`, `randwrite`, `randrw`: `run` operations from each random offset (`rw=randread:8`).
    Random {
        /// At least 1.
        run: u64,
        /// `rw_sequencer=identical`: all of them at the same offset.
        identical: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockSizes {
    /// From the first to the second: multiples of the first, with equal probability; a single size if equal.
    Range(Bytes, Bytes),
    /// Sizes with their percentages, 100 in total.
    Split(Vec<(Bytes, u32)>),
}

impl BlockSizes {
    pub fn smallest(&self) -> Bytes {
        match self {
            Self::Range(low, _) => *low,
            Self::Split(sizes) => sizes.iter().map(|(size, _)| *size).min().unwrap_or(Bytes::ZERO),
        }
    }

    pub fn largest(&self) -> Bytes {
        match self {
            Self::Range(_, high) => *high,
            Self::Split(sizes) => sizes.iter().map(|(size, _)| *size).max().unwrap_or(Bytes::ZERO),
        }
    }
}

/// Seed of the random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seed {
    /// `randseed`, as it was given.
    Given(i64),
    /// `randrepeat=1`, the default: the same in each run.
    Repeated,
    /// `randrepeat=0`: different in each run.
    Fresh,
}

/// Operations, offsets and sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessOptions {
    /// Value of `rw` in fio's notation.
    pub rw: &'static str,
    /// Kinds of operations.
    pub direction: JobDirection,
    pub order: Order,
    /// Percentage of reads in a mixed job, from `rwmixread` or `rwmixwrite`.
    pub read_percent: u8,
    /// Block sizes by direction.
    pub blocks: Each<BlockSizes>,
    /// `bs_unaligned`: sizes of a range need not be multiples.
    pub unaligned: bool,
    /// `bs_is_seq_rand`: sizes of reads apply to sequential operations, sizes of writes to random operations.
    pub sizes_by_order: bool,
    /// `ba`: alignment of offsets.
    pub alignment: Each<Bytes>,
    /// `offset`.
    pub offset: Extent,
    /// `offset_increment`: added to the offset, times the index of the copy.
    pub offset_increment: Extent,
    /// `offset_align`: alignment of an offset in percent, rounded down; `None` for the smallest block.
    pub offset_alignment: Option<Bytes>,
    /// `io_size`: bytes transferred before the job ends; `size` if `None`.
    pub io_size: Option<Extent>,
    /// `number_ios`: operations before the job ends.
    pub operations: Option<u64>,
    /// Distribution of random offsets.
    pub distribution: Distribution,
    /// Percentage of random offsets in a random order, by direction.
    pub random_percent: Each<u8>,
    /// `norandommap`: blocks may repeat before all have been visited; also with a non-uniform distribution.
    pub repeats: bool,
    /// Seed of the random numbers.
    pub seed: Seed,
}

impl AccessOptions {
    /// The smallest block of the active directions.
    pub fn smallest(&self) -> Bytes {
        let read = self.direction.reads.then(|| self.blocks.read.smallest());
        let write = (self.direction.writes && !self.direction.trims).then(|| self.blocks.write.smallest());
        let trim = self.direction.trims.then(|| self.blocks.trim.smallest());
        // Trimmed and rewritten blocks have the size of the trim.
        [read, write, trim].into_iter().flatten().min().unwrap_or(Bytes::ZERO)
    }

    /// True for random order.
    pub fn is_random(&self) -> bool {
        matches!(self.order, Order::Random { .. })
    }
}

const DEFAULT_BLOCK: i64 = 4_096;

pub(super) fn read_access(settings: &Settings, findings: &mut Findings) -> AccessOptions {
    let (rw, direction, order) = read_direction(settings, findings);
    let blocks = read_block_sizes(settings);
    let is_random = matches!(order, Order::Random { .. });
    let distribution = settings.distribution("random_distribution").unwrap_or(Distribution::Uniform);
    let aligned = settings.integers("ba");
    let alignment = |given: Option<i64>, blocks: &BlockSizes| match given.filter(|_| is_random) {
        Some(given) => Bytes::new(given as u64),
        None => blocks.smallest(),
    };
    AccessOptions {
        rw,
        direction,
        order,
        read_percent: read_percent(settings),
        alignment: Each {
            read: alignment(aligned.read, &blocks.read),
            write: alignment(aligned.write, &blocks.write),
            trim: alignment(aligned.trim, &blocks.trim),
        },
        blocks,
        unaligned: settings.flag("bs_unaligned"),
        sizes_by_order: settings.flag("bs_is_seq_rand"),
        offset: settings.extent("offset").unwrap_or(Extent::Bytes(Bytes::ZERO)),
        offset_increment: settings.extent("offset_increment").unwrap_or(Extent::Bytes(Bytes::ZERO)),
        offset_alignment: settings.above_zero("offset_align").map(Bytes::new),
        io_size: settings.extent("io_size").filter(is_some),
        operations: settings.above_zero("number_ios"),
        repeats: settings.flag("norandommap") || distribution != Distribution::Uniform,
        distribution,
        random_percent: settings.integers("percentage_random").or(&100).map(|percent| percent as u8),
        seed: seed(settings),
    }
}

fn is_some(extent: &Extent) -> bool {
    *extent != Extent::Bytes(Bytes::ZERO)
}

fn read_direction(settings: &Settings, findings: &mut Findings) -> (&'static str, JobDirection, Order) {
    let (word, after) = settings.choice("rw").unwrap_or(("read", None));
    let place = settings.place("rw");
    let rw = if word == "readwrite" { "rw" } else { word };
    let mixed = matches!(rw, "rw" | "randrw");
    let direction = JobDirection {
        reads: mixed || rw.ends_with("read"),
        writes: mixed || rw.ends_with("write"),
        trims: rw.contains("trim"),
    };
    let is_random = rw.starts_with("rand");
    let number = after.as_deref().map(|after| number::integer(after, NumberScale::Counts(Base::Binary)));
    let number = match number {
        None => None,
        Some(Ok(number)) => i64::try_from(number).ok(),
        Some(Err(_)) => {
            let what = say!("rw={rw}:{}: no number behind the colon", after.unwrap_or_default());
            let remedy = label!("write a count of operations, as in randread:8, or a step in bytes, as in read:4k");
            findings.fault(place, FaultKind::Value, what, remedy);
            None
        }
    };
    let order = if is_random {
        let identical = settings.word("rw_sequencer") == "identical";
        Order::Random { run: number.unwrap_or(1).max(1) as u64, identical }
    } else {
        Order::Sequential { step: number.unwrap_or(0) }
    };
    (rw, direction, order)
}

fn read_percent(settings: &Settings) -> u8 {
    let (reads, writes) = (settings.order("rwmixread"), settings.order("rwmixwrite"));
    if writes > reads { (100 - settings.count("rwmixwrite")) as u8 } else { settings.count("rwmixread") as u8 }
}

fn read_block_sizes(settings: &Settings) -> Each<BlockSizes> {
    let one = settings.integers("bs").or(&DEFAULT_BLOCK);
    let range = settings.ranges("bsrange");
    let split = settings.split("bssplit");
    let sizes = |one: i64, range: Option<(Bytes, Bytes)>, split: Option<Vec<(Bytes, u32)>>| {
        let one = Bytes::new(one as u64);
        let (low, high) = range.unwrap_or((one, one));
        split.map_or(BlockSizes::Range(low, high), BlockSizes::Split)
    };
    Each {
        read: sizes(one.read, range.read, split.read),
        write: sizes(one.write, range.write, split.write),
        trim: sizes(one.trim, range.trim, split.trim),
    }
}

/// The last of `randrepeat` and `allrandrepeat`, which are equivalent, makes runs repeatable.
fn seed(settings: &Settings) -> Seed {
    match settings.integer("randseed").filter(|_| settings.order("randseed") > 0) {
        Some(seed) => Seed::Given(seed),
        None if settings.flag("randrepeat") || settings.flag("allrandrepeat") => Seed::Repeated,
        None => Seed::Fresh,
    }
}

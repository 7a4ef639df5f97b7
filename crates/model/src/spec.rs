//! A model as data: a closed set of stages, and chains of them.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use plimsoll_units::{Bytes, Iops, Span, Throughput};

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Operations.
    Operations(Iops),
    /// Bytes.
    Bytes(Throughput),
}

/// How service times spread around their mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Service {
    /// All alike.
    Constant,
    /// Exponential: squared coefficient of variation 1.
    Exponential,
    /// Log-normal with this squared coefficient of variation, above 0.
    LogNormal(f64),
}

impl Service {
    /// The squared coefficient of variation.
    pub const fn scv(self) -> f64 {
        match self {
            Self::Constant => 0.0,
            Self::Exponential => 1.0,
            Self::LogNormal(scv) => scv,
        }
    }
}

/// How long one server is busy with one operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Mean time of a read, and of everything that has no time of its own.
    pub mean: Span,
    /// Mean time of a write, when it differs.
    pub write: Option<Span>,
    /// Mean time of a flush, when it differs.
    pub flush: Option<Span>,
    /// Added for the bytes at this rate; `None` when size costs nothing.
    pub rate: Option<Throughput>,
    /// Spread of the mean times; the time for the bytes does not vary.
    pub spread: Service,
}

/// A disk that turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiskSpec {
    /// Bytes from its outer to its inner edge.
    pub capacity: Bytes,
    /// One turn.
    pub turn: Span,
    /// Seek to the next track.
    pub settle: Span,
    /// Mean seek between two random places.
    pub seek: Span,
    /// Transfer rate at the outer edge, where addresses begin.
    pub outer: Throughput,
    /// Transfer rate at the inner edge.
    pub inner: Throughput,
    /// With `n` operations waiting, positioning takes `n^-gain` of its time: 0 for none (NCQ gives about 0.2).
    pub gain: f64,
    /// Operations that it can choose from, at least 1.
    pub queue: u32,
    /// After so long without an operation the next one is positioned anew, wherever it begins; `None` for a disk of which
    /// nobody else moves the head.
    pub idle: Option<Span>,
}

/// How an array places and protects data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Striped, nothing protects; the parts of an operation are issued together.
    Stripe,
    /// Striped, and every chunk of an operation is an operation of its own, issued together: so volume managers do.
    SplitStripe,
    /// Striped, but the rows of one operation are issued one after the other.
    SerialStripe,
    /// Every write to all members, a read to one.
    Mirror,
    /// Striped over pairs of mirrors: members are an even number.
    Raid10,
    /// Striped with rotating parity: a small write reads data and parity, then writes both.
    Raid5,
    /// The same with two parities.
    Raid6,
}

/// What a write-back buffer does with a flush and a durable write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flushing {
    /// It takes its time: a flush waits until all that was accepted before it is through, a durable write until it is
    /// through itself. A volatile buffer that tells the truth.
    Honoured,
    /// It is answered at once: a protected buffer, or one that lies.
    Immediate,
}

/// Whether the two directions of a link share its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplex {
    /// They share it.
    Half,
    /// Reads have all of it in one direction, writes in the other.
    Full,
}

/// One stage as data.
#[derive(Clone, Debug, PartialEq)]
pub enum StageSpec {
    /// Lets operations pass no faster than a rate, evenly but for a burst.
    Limit {
        /// The rate.
        rate: Rate,
        /// How much may pass at once after a rest: operations, or bytes for a limit by bytes.
        burst: u64,
        /// A limit of operations counts one for each begun unit of this size; `None` counts operations of any size as one.
        unit: Option<Bytes>,
    },
    /// Servers with one queue, first come first served.
    Station {
        /// Operations served at the same time, at least 1.
        servers: u32,
        /// What each takes.
        demand: Demand,
    },
    /// Servers with a queue each, chosen by address: flash dies, drives.
    Bank {
        /// How many, at least 1.
        queues: u32,
        /// Neighbouring bytes that share a queue.
        grain: Bytes,
        /// What each operation takes.
        demand: Demand,
    },
    /// A disk that turns.
    Disk(DiskSpec),
    /// A pipe: transfers one after the other, then a latency that overlaps.
    Link {
        /// Time that every operation takes besides its transfer.
        latency: Span,
        /// Transfer rate; `None` when it never binds.
        bandwidth: Option<Throughput>,
        /// What reads and writes share of it.
        duplex: Duplex,
    },
    /// Storage that was measured as a whole: its rate by the number of operations in flight.
    Curve {
        /// Numbers of operations in flight, rising from 1, each with what was carried; straight lines between them.
        points: Vec<(u32, Iops)>,
    },
    /// A device that answers nothing at the end of every period: a garbage collection, a failover.
    Stall {
        /// From one stall's end to the next one's end.
        every: Span,
        /// How long each lasts, below `every`.
        length: Span,
    },
    /// Back-pressure: what exceeds a rate, once a burst is used up, is not held to the rate but delayed.
    Pressure {
        /// The rate.
        rate: Rate,
        /// How much may exceed it before the delay begins: operations, or bytes.
        burst: u64,
        /// The delay.
        delay: Span,
    },
    /// Data that answers slowly after a rest, once for each grain.
    Cold {
        /// A grain is cold after so much time without an operation.
        rest: Span,
        /// What the first operation on a cold grain takes besides.
        extra: Span,
        /// Neighbouring bytes that are cold or warm together.
        grain: Bytes,
        /// Share of the grains that are cold at the beginning, 0 to 1.
        share: f64,
    },
    /// A fast memory that takes writes at a steady drain: full, it lets in only what drains.
    Buffer {
        /// What it holds.
        capacity: Bytes,
        /// How fast it empties.
        drain: Throughput,
        /// What a flush and a durable write find.
        flushing: Flushing,
    },
    /// No more than so many operations are inside at the same time; the others wait in order.
    Window {
        /// How many, at least 1.
        slots: u32,
        /// What they are inside of.
        inside: ChainSpec,
    },
    /// Another way for each kind of operation.
    Split {
        /// Reads.
        read: ChainSpec,
        /// Writes, durable or not.
        write: ChainSpec,
        /// Flushes.
        flush: ChainSpec,
    },
    /// A cache of which only the share of hits is known (Che 2002 gives it for a working set). It is for reads: all
    /// else goes the way of a miss.
    Cache {
        /// Share of the reads that hit, 0 to 1.
        hits: f64,
        /// The way of a hit.
        hit: ChainSpec,
        /// The way of a miss.
        miss: ChainSpec,
    },
    /// A cache that remembers which blocks it holds (CLOCK replacement, Corbató 1968). Writes go the way of a miss and
    /// leave their blocks in it.
    Clock {
        /// What it holds.
        capacity: Bytes,
        /// The size of its blocks.
        grain: Bytes,
        /// The way of a read of which it holds all.
        hit: ChainSpec,
        /// The way of all else.
        miss: ChainSpec,
    },
    /// Read-ahead: reads of a stream are answered from what was read before they came.
    Prefetch {
        /// Bytes that are read ahead of a stream, at most.
        window: Bytes,
        /// Size of the reads inside.
        unit: Bytes,
        /// Streams that are followed at the same time, at least 1.
        streams: u32,
        /// Where they read from, and the way of all else.
        inside: ChainSpec,
    },
    /// Several members that share the data.
    Array {
        /// How.
        layout: Layout,
        /// How many, at least 2 (4 for RAID 6, 3 for RAID 5).
        members: u32,
        /// Bytes before the next member's turn.
        interleave: Bytes,
        /// What each member is.
        member: ChainSpec,
    },
    /// A memory that answers writes before they are through: they go on behind it, and free their place when they are.
    WriteBack {
        /// What it holds.
        capacity: Bytes,
        /// Pieces of at most 1 MiB that go on behind the answer at the same time, at least 1.
        depth: u32,
        /// What a flush and a durable write find.
        flushing: Flushing,
        /// Share of the writes that read from the stages inside before they are accepted, 0 to 1: metadata, or the rest of
        /// a compressed block.
        reads: f64,
        /// Where everything goes: writes behind the answer, reads before it.
        inside: ChainSpec,
    },
}

/// A stage with the name that reports give it.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// The stage.
    pub stage: StageSpec,
    /// Its name; without one it is called as it is written.
    pub name: Option<Box<str>>,
}

/// Stages that operations pass one after the other. May be empty where it stands inside another stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChainSpec(pub(crate) Vec<Named>);

/// Why stages cannot be a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid(pub String);

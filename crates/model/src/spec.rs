//! A model as data: a closed set of stages, and chains of them.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use plimsoll_units::{Bytes, Iops, Span, Throughput};

/// The unit of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Operations.
    Operations(Iops),
    /// Bytes.
    Bytes(Throughput),
}

impl Rate {
    /// Burst of a limit for which none is stated, in operations or bytes: an operation of any size passes at once, as on
    /// devices.
    pub const fn default_burst(self) -> u64 {
        match self {
            Self::Operations(_) => 1,
            Self::Bytes(_) => Bytes::mib(1).get(),
        }
    }
}

/// Distribution of service times around their mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Service {
    /// Constant.
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

/// Service time of an operation at a server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Mean time of a read, and the default for writes and flushes.
    pub mean: Span,
    /// Mean time of a write, if different.
    pub write: Option<Span>,
    /// Mean time of a flush, if different.
    pub flush: Option<Span>,
    /// Added for the bytes at this rate; `None` if the size does not matter.
    pub rate: Option<Throughput>,
    /// Rate of writes, if different.
    pub write_rate: Option<Throughput>,
    /// Spread of the mean times; the time for the bytes does not vary.
    pub spread: Service,
}

/// A rotating disk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiskSpec {
    /// Bytes from its outer to its inner edge.
    pub capacity: Bytes,
    /// Time of a rotation.
    pub turn: Span,
    /// Seek to the next track.
    pub settle: Span,
    /// Mean seek between two random places.
    pub seek: Span,
    /// Transfer rate at the outer edge, where addresses begin.
    pub outer: Throughput,
    /// Transfer rate at the inner edge.
    pub inner: Throughput,
    /// With `n` operations waiting, positioning takes `(n / reorders_from)^-gain` of its time: 0 for none (NCQ gives
    /// about 0.2).
    pub gain: f64,
    /// Operations waiting up to which the order gains nothing, at least 1.
    pub reorders_from: f64,
    /// Operations that it can choose from, at least 1.
    pub queue: u32,
    /// Idle time after which the next operation is positioned anew even if sequential; `None` if no other client moves
    /// the head.
    pub idle: Option<Span>,
}

impl DiskSpec {
    /// Positioning with `waiting` operations to choose from, as a share of that of one operation alone.
    pub fn positioning_share(&self, waiting: u32) -> f64 {
        let choices = f64::from(waiting.min(self.queue)) / self.reorders_from;
        libm::pow(choices.max(1.0), -self.gain)
    }
}

/// Placement and protection of data in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Striped without protection; the parts of an operation are issued together.
    Stripe,
    /// Striped, with every chunk of an operation as a separate operation, issued together, as volume managers do.
    SplitStripe,
    /// Striped, with the rows of an operation issued serially.
    SerialStripe,
    /// Writes to all members, reads from a single member.
    Mirror,
    /// Striped over pairs of mirrors: members are an even number.
    Raid10,
    /// Striped with rotating parity: a small write reads data and parity, then writes both.
    Raid5,
    /// RAID 5 with two parities.
    Raid6,
}

/// Treatment of flushes and durable writes by a write-back buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flushing {
    /// A flush waits until all earlier accepted writes are written through, a durable write until it is written through
    /// itself: an honest volatile buffer.
    Honoured,
    /// Answered at once: a protected buffer, or a volatile buffer that ignores flushes.
    Immediate,
}

/// Whether both directions of a link share its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplex {
    /// Shared.
    Half,
    /// The full rate for each direction.
    Full,
}

/// A stage as data.
#[derive(Clone, Debug, PartialEq)]
pub enum StageSpec {
    /// Limits the rate of operations, with a burst.
    Limit {
        /// The rate.
        rate: Rate,
        /// Burst after an idle time: operations, or bytes for a limit by bytes.
        burst: u64,
        /// Size of the unit that a limit of operations counts, rounded up; `None` counts an operation of any size as 1.
        unit: Option<Bytes>,
    },
    /// Servers with a common queue, first come first served.
    Station {
        /// Number of servers, at least 1.
        servers: u32,
        /// Service time.
        demand: Demand,
    },
    /// Servers with separate queues, chosen by address: flash dies, drives.
    Bank {
        /// Number of queues, at least 1.
        queues: u32,
        /// Neighbouring bytes that share a queue.
        grain: Bytes,
        /// Service time.
        demand: Demand,
    },
    /// A rotating disk.
    Disk(DiskSpec),
    /// A link: serial transfers, then a latency that overlaps.
    Link {
        /// Latency in addition to the transfer.
        latency: Span,
        /// Transfer rate; `None` for unlimited.
        bandwidth: Option<Throughput>,
        /// Whether reads and writes share the rate.
        duplex: Duplex,
        /// Paths, at least 1, each with this rate.
        paths: u8,
    },
    /// Storage measured as a whole: throughput by operations in flight.
    Curve {
        /// Operations in flight, rising from 1, with the measured throughput; linear in between.
        points: Vec<(u32, Iops)>,
    },
    /// A periodic stall in which no operation completes, such as a garbage collection or a failover.
    Stall {
        /// Period, from the end of a stall to the end of the next.
        every: Span,
        /// Length of a stall, below `every`.
        length: Span,
    },
    /// Back-pressure: after a burst, operations above a rate are delayed rather than limited to the rate.
    Pressure {
        /// The rate.
        rate: Rate,
        /// Excess allowed before the delay begins: operations, or bytes.
        burst: u64,
        /// The delay.
        delay: Span,
    },
    /// Data whose first access after a rest is slow, per grain.
    Cold {
        /// Time without access after which a grain is cold.
        rest: Span,
        /// Additional time of the first operation on a cold grain.
        extra: Span,
        /// Neighbouring bytes that get cold together.
        grain: Bytes,
        /// Share of the grains that are cold at the beginning, 0 to 1.
        share: f64,
    },
    /// A fast write buffer with a steady drain; when full, it accepts writes at the drain rate.
    Buffer {
        /// Capacity.
        capacity: Bytes,
        /// Drain rate.
        drain: Throughput,
        /// Treatment of flushes and durable writes.
        flushing: Flushing,
    },
    /// Limits the operations inside; the others wait in order.
    Window {
        /// Maximum operations inside on each path, at least 1.
        slots: u32,
        /// Paths to the stages inside, at least 1. An operation without a path takes the one with the fewest operations.
        paths: u8,
        /// The limited stages.
        inside: ChainSpec,
    },
    /// Passes large operations in pieces, one after another, so that operations of all sizes take turns inside.
    Pieces {
        /// Bytes of a piece at most.
        size: Bytes,
        /// The stages that each piece passes.
        inside: ChainSpec,
    },
    /// A separate chain for each kind of operation.
    Split {
        /// Reads.
        read: ChainSpec,
        /// Writes, durable or not.
        write: ChainSpec,
        /// Flushes.
        flush: ChainSpec,
    },
    /// Two devices with adjacent addresses, as the disks of a server or the parts of a linear volume: an operation takes
    /// the device on which it begins. More devices are nested in `rest`.
    Concat {
        /// Bytes of the first device.
        size: Bytes,
        /// Stages of the first device.
        first: ChainSpec,
        /// Stages of the addresses from `size` on, which count from 0 again.
        rest: ChainSpec,
    },
    /// A cache with a given hit ratio (Che 2002 derives it from a working set). Only reads hit; other operations take
    /// the miss path.
    Cache {
        /// Hit ratio of reads, 0 to 1.
        hits: f64,
        /// Stages of a hit.
        hit: ChainSpec,
        /// Stages of a miss.
        miss: ChainSpec,
    },
    /// A cache that tracks its blocks (CLOCK replacement, Corbató 1968). Writes take the miss path and leave their
    /// blocks in the cache.
    Clock {
        /// Capacity.
        capacity: Bytes,
        /// Block size.
        grain: Bytes,
        /// Stages of a read with all blocks cached.
        hit: ChainSpec,
        /// Stages of other operations.
        miss: ChainSpec,
    },
    /// Read-ahead: reads of a sequential stream are answered from prefetched data.
    Prefetch {
        /// Maximum bytes prefetched per stream.
        window: Bytes,
        /// Size of the reads inside.
        unit: Bytes,
        /// Maximum concurrent streams, at least 1.
        streams: u32,
        /// The stages for prefetches and all other operations.
        inside: ChainSpec,
    },
    /// Several members that share the data.
    Array {
        /// Placement of data.
        layout: Layout,
        /// Number of members, at least 2 (4 for RAID 6, 3 for RAID 5).
        members: u32,
        /// Stripe unit: contiguous bytes on a member.
        interleave: Bytes,
        /// Stages of each member.
        member: ChainSpec,
    },
    /// A memory that answers writes before they are written through; their space is freed when they are.
    WriteBack {
        /// Capacity.
        capacity: Bytes,
        /// The memory has two halves: writes fill one while the other drains. A half starts to drain when it is full, or
        /// this time after its first write. `None` writes back continuously.
        halves: Option<Span>,
        /// Maximum concurrent write-back pieces of up to 1 MiB, at least 1.
        depth: u32,
        /// Treatment of flushes and durable writes.
        flushing: Flushing,
        /// Share of writes that first read from the inner stages, 0 to 1: metadata, or the rest of a compressed block.
        reads: f64,
        /// Inner stages, for reads and write-back.
        inside: ChainSpec,
    },
}

/// A stage with its display name.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// The stage.
    pub stage: StageSpec,
    /// Its name; the notation is the default.
    pub name: Option<Box<str>>,
}

/// Stages that operations pass in order. May be empty inside another stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChainSpec(pub(crate) Vec<Named>);

/// The reason why stages do not form a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid(pub String);

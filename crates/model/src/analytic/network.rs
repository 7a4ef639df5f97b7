//! A model as a queueing network: service centres, and the paths through them, independent of the load.

use alloc::boxed::Box;
use alloc::vec::Vec;

use plimsoll_units::Kind;

use crate::spec::{ChainSpec, DiskSpec};

/// A class of equal operations.
#[derive(Clone, Copy, Debug)]
pub(super) struct CentreFlow {
    pub(super) kind: Kind,
    /// Bytes of each.
    pub(super) length: f64,
    /// Share of them that begin where the previous operation ended.
    pub(super) sequential: f64,
    /// Size of the accessed range, from offset 0.
    pub(super) space: f64,
}

/// A path through the network.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// A fixed time, independent of the load.
    Delay { stage: usize, mean: f64, variance: f64 },
    /// A wait and a service at a centre.
    Visit { centre: usize, mean: f64, variance: f64, residence: Residence },
    /// A delay of the excess above a rate.
    Pressure { pressure: usize, delay: f64 },
    /// Cold data: the initial cold share, or the share that gets cold if each grain is accessed `often` times per
    /// operation.
    Cold { stage: usize, extra: f64, share: f64, rest: f64, often: f64 },
    /// A wait for the write-back of earlier writes.
    Await { memory: usize },
    /// In sequence.
    Series(Vec<Node>),
    /// Alternatives with their probabilities.
    Mix(Vec<(f64, Node)>),
    /// A batch of parts for each of `ways` members, which ends with the last part; `sync` is the share of all members
    /// that takes part, `after` the delay of a batch's last part after its first, ns.
    Fork { ways: f64, batch: f64, sync: f64, after: f64, part: Box<Node> },
    /// Repeated in sequence.
    Repeat { times: f64, node: Box<Node> },
}

/// Composition of the time of a visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Residence {
    /// Queueing and service.
    Served,
    /// Queueing only; the service continues in the background. Operations within the burst tolerance pass at once. The
    /// time of a visit is that of the operation's own piece before it.
    Paced,
    /// Queueing and the centre's service time at its load, scaled by `mean`.
    AtItsPace,
}

/// Work of a centre: sums over the kinds of visits, per operation of the whole load.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CentreWork {
    pub(super) visits: f64,
    /// Service time, ns; for a disk, positioning time.
    pub(super) time: f64,
    /// Sum of squares of the service time.
    pub(super) square: f64,
    /// Transfer time of a disk, ns.
    pub(super) transfer: f64,
    /// Wait of parts for others of the same batch, ns.
    pub(super) queue_length: f64,
    /// Parts that arrive together with others of the same batch.
    pub(super) batches: f64,
}

/// A service centre. The members of an array and the queues of a bank are copies of a single centre.
#[derive(Clone, Debug)]
pub(super) struct Centre<'a> {
    pub(super) stage: usize,
    pub(super) kind: CentreForm<'a>,
    pub(super) copies: f64,
    /// Visits go to the copies round robin instead of at random.
    pub(super) in_turn: bool,
    /// Sequential visits stay at a copy: their share, and the length of a run.
    pub(super) stays: (f64, f64),
    /// The second queue of a stage, for a part of its operations: the flushes of a bank, the writes of a full-duplex
    /// link.
    pub(super) second: bool,
    /// Work before the answer, and work in the background after it.
    pub(super) ahead: CentreWork,
    pub(super) behind: CentreWork,
    /// Operations per ns of a copy with 1, 2, ... operations present; constant beyond the last.
    pub(super) pace: Vec<f64>,
    /// Squared coefficient of variation of the service.
    pub(super) scv: f64,
}

#[derive(Clone, Debug)]
pub(super) enum CentreForm<'a> {
    /// Servers with a common queue.
    Servers(u32),
    /// A fixed pace, with a tolerance for bursts.
    Paced { ahead: f64 },
    /// A disk with a queue to choose from.
    Disk(DiskSpec),
    /// A rate for each number of operations present.
    Curve(Vec<f64>),
    /// Nested stages with a limited number inside, and the flows that visit them.
    Window { slots: u32, inside: &'a ChainSpec, visits: Vec<(f64, CentreFlow)>, network: Option<Box<Network<'a>>> },
}

impl Centre<'_> {
    /// Maximum operations of the whole load per ns.
    pub(super) fn bound(&self) -> f64 {
        let visits = self.ahead.visits + self.behind.visits;
        let fastest = self.pace.last().copied().unwrap_or(f64::INFINITY);
        if visits > 0.0 { self.copies * fastest / visits } else { f64::INFINITY }
    }

    /// Mean number of parts that arrive together.
    pub(super) fn batch(&self) -> f64 {
        let visits = self.ahead.visits + self.behind.visits;
        if visits > 0.0 { 1.0 + (self.ahead.batches + self.behind.batches) / visits } else { 1.0 }
    }

    /// Mean service time of a single visit, ns.
    pub(super) fn service(&self) -> f64 {
        self.pace.first().map_or(0.0, |pace| 1.0 / pace)
    }

    /// Maximum operations served concurrently.
    pub(super) fn servers(&self) -> f64 {
        match self.kind {
            CentreForm::Servers(servers) => f64::from(servers),
            CentreForm::Window { .. } => self.pace.len() as f64,
            CentreForm::Paced { .. } | CentreForm::Disk { .. } | CentreForm::Curve(_) => 1.0,
        }
    }

    /// Number of operations up to which the pace changes.
    pub(super) fn places(&self) -> usize {
        self.pace.len()
    }

    /// Number of copies that `present` operations in flight use.
    pub(super) fn copies_used(&self, present: f64) -> f64 {
        let (share, run) = self.stays;
        // Operations in flight cover nearly twice their own bytes (simulated).
        let used = (1.0 - share) * self.copies + share * (1.0 + 1.9 * (present - 1.0).max(0.0) / run);
        used.clamp(1.0, self.copies)
    }
}

/// The cause of a network's bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BoundCause {
    Centre(usize),
    Memory(usize),
    None,
}

/// A write-back memory.
#[derive(Clone, Debug)]
pub(super) struct Memory<'a> {
    pub(super) stage: usize,
    /// Bytes of a copy.
    pub(super) capacity: f64,
    /// Maximum pieces in flight.
    pub(super) depth: f64,
    pub(super) copies: f64,
    /// Pieces per operation of the whole load, and bytes of each.
    pub(super) pieces: f64,
    pub(super) length: f64,
    /// Size of the range that they are spread over.
    pub(super) space: f64,
    /// Paths of the pieces, by weight.
    pub(super) behind: Vec<(f64, Node)>,
    /// Maximum operations of the whole load per ns, given the limit of pieces in flight.
    pub(super) bound: f64,
    pub(super) inside: &'a ChainSpec,
}

impl Memory<'_> {
    /// Maximum pieces of a copy in flight.
    pub(super) fn max_in_flight(&self) -> f64 {
        (self.capacity / self.length.max(1.0)).clamp(1.0, self.depth)
    }
}

/// A stall of `length` in every `every` ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pause {
    pub(super) stage: usize,
    pub(super) visits: f64,
    pub(super) every: f64,
    pub(super) length: f64,
}

impl Pause {
    pub(super) fn share(&self) -> f64 {
        self.length / self.every
    }
}

/// A rate above which operations are delayed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threshold {
    pub(super) stage: usize,
    /// Per ns, over all copies.
    pub(super) rate: f64,
    /// Cost of an operation of the whole load.
    pub(super) cost: f64,
}

/// The whole network.
#[derive(Clone, Debug)]
pub(super) struct Network<'a> {
    pub(super) way: Node,
    pub(super) centres: Vec<Centre<'a>>,
    pub(super) memories: Vec<Memory<'a>>,
    pub(super) pauses: Vec<Pause>,
    pub(super) thresholds: Vec<Threshold>,
    /// Visits of each stage per operation.
    pub(super) visits: Vec<f64>,
    /// Some times depend on the rate, not only on the operations present.
    pub(super) depends_on_rate: bool,
}

impl Network<'_> {
    /// Maximum operations of the whole load per ns, and the cause of the bound.
    pub(super) fn bound(&self) -> (f64, BoundCause) {
        self.bound_with(|_| 1.0)
    }

    /// The same with pauses, during which later stages idle.
    pub(super) fn bound_with_pauses(&self) -> (f64, BoundCause) {
        self.bound_with(|stage| {
            let before = self.pauses.iter().filter(|pause| pause.stage < stage);
            before.map(|pause| 1.0 - pause.share()).product()
        })
    }

    /// The bound of the stages after a given stage.
    pub(super) fn bound_after(&self, stage: usize) -> f64 {
        self.bound_with(|other| if other > stage { 1.0 } else { f64::INFINITY }).0
    }

    fn bound_with(&self, factor: impl Fn(usize) -> f64) -> (f64, BoundCause) {
        let centre =
            |(index, centre): (usize, &Centre<'_>)| (centre.bound() * factor(centre.stage), BoundCause::Centre(index));
        let memory =
            |(index, memory): (usize, &Memory<'_>)| (memory.bound * factor(memory.stage), BoundCause::Memory(index));
        let centres = self.centres.iter().enumerate().map(centre);
        let memories = self.memories.iter().enumerate().map(memory);
        let min = |a: (f64, BoundCause), b: (f64, BoundCause)| if b.0 < a.0 { b } else { a };
        centres.chain(memories).fold((f64::INFINITY, BoundCause::None), min)
    }

    /// Share of time in which operations that return every `1 / often` ns are not stalled: a pause longer than a round
    /// stalls all of them, a shorter pause only those that meet it.
    pub(super) fn active(&self, often: f64) -> f64 {
        let lost = |pause: &Pause| {
            let round = 1.0 / (often * pause.visits);
            let lost = if round > pause.length {
                pause.length * pause.length / (2.0 * round)
            } else {
                pause.length - round / 2.0
            };
            1.0 - lost / pause.every
        };
        self.pauses.iter().map(lost).product()
    }
}

//! A model as a network: centres at which operations meet, and the ways that lead through them. Knows nothing about how
//! much is asked.

use alloc::boxed::Box;
use alloc::vec::Vec;

use plimsoll_units::Kind;

use crate::spec::ChainSpec;

/// Operations that are alike.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    pub(super) kind: Kind,
    /// Bytes of each.
    pub(super) length: f64,
    /// Share of them that begin where the one before ended.
    pub(super) sequential: f64,
    /// Bytes that they are spread over, from the first on.
    pub(super) space: f64,
}

/// A way through the network.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// Takes its time whatever the load.
    Delay { stage: usize, mean: f64, variance: f64 },
    /// Waits at a centre, and is served there.
    Visit { centre: usize, mean: f64, variance: f64, residence: Residence },
    /// Is delayed, as far as there is more than the rate.
    Pressure { pressure: usize, delay: f64 },
    /// Finds data that are cold: the share at the beginning, or what cools down when each grain is asked for `often`
    /// times per operation.
    Cold { stage: usize, extra: f64, share: f64, rest: f64, often: f64 },
    /// Waits for what goes on behind earlier answers.
    Await { memory: usize },
    /// One after the other.
    Series(Vec<Node>),
    /// One of these, with its probability.
    Mix(Vec<(f64, Node)>),
    /// A batch of parts to so many members at once, and on with the last; `sync` is the share of all members that takes
    /// part, `after` how long the last of a batch comes after its first, ns.
    Fork { ways: f64, batch: f64, sync: f64, after: f64, part: Box<Node> },
    /// Several times.
    Repeat { times: f64, node: Box<Node> },
}

/// What a visit of a centre waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Residence {
    /// For those before it, and then its own service.
    Served,
    /// For those before it; its own service goes on behind it. What the centre tolerates ahead of its pace passes at once.
    Paced,
    /// For those before it, and for as long as the centre takes at the load that it has: `mean` scales it.
    AtItsPace,
}

/// Work that a centre gets: sums over the kinds of visits, per operation of the whole load.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    pub(super) visits: f64,
    /// Time of one server, ns. Of a disk: of positioning.
    pub(super) time: f64,
    /// Its square.
    pub(super) square: f64,
    /// Of a disk: time of transfers, ns.
    pub(super) transfer: f64,
    /// Time that parts wait for others of the same batch, ns.
    pub(super) crowd: f64,
    /// Parts that come with others of the same batch.
    pub(super) batches: f64,
}

/// What operations meet at. The members of an array, the queues of a bank are copies of one centre.
#[derive(Clone, Debug)]
pub(super) struct Centre<'a> {
    pub(super) stage: usize,
    pub(super) kind: Form<'a>,
    pub(super) copies: f64,
    /// Visits go to the copies in turn, not by chance.
    pub(super) in_turn: bool,
    /// Sequential visits stay with one copy: their share, and how many of them one after the other.
    pub(super) stays: (f64, f64),
    /// The second queue of a stage, for some of its operations: the flushes of a bank, the writes of a full-duplex link.
    pub(super) second: bool,
    /// What operations wait for, and what goes on behind their answers.
    pub(super) ahead: Work,
    pub(super) behind: Work,
    /// Operations per ns of one copy with 1, 2, ... of them there; constant beyond the last.
    pub(super) pace: Vec<f64>,
    /// Squared coefficient of variation of the service.
    pub(super) scv: f64,
}

#[derive(Clone, Debug)]
pub(super) enum Form<'a> {
    /// Servers with one queue.
    Servers(u32),
    /// Lets pass at a pace, and so many operations ahead of it.
    Paced { ahead: f64 },
    /// Time with a queue to choose from.
    Disk { queue: u32, gain: f64 },
    /// A rate for each number of operations that are there.
    Curve(Vec<f64>),
    /// Other stages with a bound of the number inside, and what visits them.
    Window { slots: u32, inside: &'a ChainSpec, visits: Vec<(f64, Flow)>, network: Option<Box<Network<'a>>> },
}

impl Centre<'_> {
    /// Most operations of the whole load per ns.
    pub(super) fn bound(&self) -> f64 {
        let visits = self.ahead.visits + self.behind.visits;
        let fastest = self.pace.last().copied().unwrap_or(f64::INFINITY);
        if visits > 0.0 { self.copies * fastest / visits } else { f64::INFINITY }
    }

    /// Mean number of parts that come together.
    pub(super) fn batch(&self) -> f64 {
        let visits = self.ahead.visits + self.behind.visits;
        if visits > 0.0 { 1.0 + (self.ahead.batches + self.behind.batches) / visits } else { 1.0 }
    }

    /// Mean service of one visit with one server, ns.
    pub(super) fn service(&self) -> f64 {
        self.pace.first().map_or(0.0, |pace| 1.0 / pace)
    }

    /// Operations served at the same time, at most.
    pub(super) fn servers(&self) -> f64 {
        match self.kind {
            Form::Servers(servers) => f64::from(servers),
            Form::Window { .. } => self.pace.len() as f64,
            Form::Paced { .. } | Form::Disk { .. } | Form::Curve(_) => 1.0,
        }
    }

    /// How many operations change its pace.
    pub(super) fn places(&self) -> usize {
        self.pace.len()
    }

    /// Copies that `present` operations in flight use.
    pub(super) fn copies_used(&self, present: f64) -> f64 {
        let (share, run) = self.stays;
        // Those in flight spread over nearly twice the bytes that they have (simulated).
        let used = (1.0 - share) * self.copies + share * (1.0 + 1.9 * (present - 1.0).max(0.0) / run);
        used.clamp(1.0, self.copies)
    }
}

/// What bounds a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Centre(usize),
    Memory(usize),
    None,
}

/// A write-back memory.
#[derive(Clone, Debug)]
pub(super) struct Memory<'a> {
    pub(super) stage: usize,
    /// Bytes of one copy, and copies.
    pub(super) capacity: f64,
    /// Pieces that may be under way at the same time.
    pub(super) depth: f64,
    pub(super) copies: f64,
    /// Pieces per operation of the whole load, bytes of each.
    pub(super) pieces: f64,
    pub(super) length: f64,
    /// Bytes that they are spread over.
    pub(super) space: f64,
    /// Where the pieces go, by weight.
    pub(super) behind: Vec<(f64, Node)>,
    /// Most operations of the whole load per ns, for the pieces that are under way at the same time.
    pub(super) bound: f64,
    pub(super) inside: &'a ChainSpec,
}

impl Memory<'_> {
    /// Pieces under way in one copy at the same time, at most.
    pub(super) fn most_under_way(&self) -> f64 {
        (self.capacity / self.length.max(1.0)).clamp(1.0, self.depth)
    }
}

/// Nothing leaves for `length` of every `every` ns.
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

/// A rate beyond which there is a delay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threshold {
    pub(super) stage: usize,
    /// Per ns, of all copies.
    pub(super) rate: f64,
    /// What an operation of the whole load counts there.
    pub(super) cost: f64,
}

/// All of it.
#[derive(Clone, Debug)]
pub(super) struct Network<'a> {
    pub(super) way: Node,
    pub(super) centres: Vec<Centre<'a>>,
    pub(super) memories: Vec<Memory<'a>>,
    pub(super) pauses: Vec<Pause>,
    pub(super) thresholds: Vec<Threshold>,
    /// Visits of each stage per operation.
    pub(super) visits: Vec<f64>,
    /// Something depends on the rate itself, not only on who is there.
    pub(super) depends_on_rate: bool,
}

impl Network<'_> {
    /// Most operations of the whole load per ns, and what bounds them.
    pub(super) fn bound(&self) -> (f64, Bound) {
        self.bound_with(|_| 1.0)
    }

    /// The same with the pauses, in which what comes after them has nothing to do.
    pub(super) fn bound_with_pauses(&self) -> (f64, Bound) {
        self.bound_with(|stage| {
            let before = self.pauses.iter().filter(|pause| pause.stage < stage);
            before.map(|pause| 1.0 - pause.share()).product()
        })
    }

    /// The bound of what comes after a stage.
    pub(super) fn bound_after(&self, stage: usize) -> f64 {
        self.bound_with(|other| if other > stage { 1.0 } else { f64::INFINITY }).0
    }

    fn bound_with(&self, factor: impl Fn(usize) -> f64) -> (f64, Bound) {
        let centre =
            |(index, centre): (usize, &Centre<'_>)| (centre.bound() * factor(centre.stage), Bound::Centre(index));
        let memory =
            |(index, memory): (usize, &Memory<'_>)| (memory.bound * factor(memory.stage), Bound::Memory(index));
        let centres = self.centres.iter().enumerate().map(centre);
        let memories = self.memories.iter().enumerate().map(memory);
        let least = |a: (f64, Bound), b: (f64, Bound)| if b.0 < a.0 { b } else { a };
        centres.chain(memories).fold((f64::INFINITY, Bound::None), least)
    }

    /// The share of time in which operations that come back every `1 / often` ns are not held by a pause: one that
    /// lasts longer than a round holds all of them, a short one only those that it meets.
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

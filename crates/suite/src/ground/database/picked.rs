//! Transactions as a load: when the next one is due, and which kind it is.

use plimsoll_load::{Due, Load, Mix, Outcome, Pace, Pattern, Phase, Region, Split, Stream, StreamSpec};
use plimsoll_units::{Bytes, Instant, Kind, Op};

use crate::sql::{CrowdStep, Transactions};

/// Arrivals or turns, each with a kind. The operation's stream is its kind, its offset a random number.
pub(super) struct Picked<'a> {
    /// When they are due; what it asks for beside that is not used.
    paced: Stream,
    step: &'a CrowdStep,
    transactions: &'a dyn Transactions,
    random: fastrand::Rng,
    left: u64,
    taken: u64,
    last: Op,
}

impl<'a> Picked<'a> {
    /// One session's turns.
    pub fn closed(transactions: &'a dyn Transactions, step: &'a CrowdStep, seed: u64) -> Self {
        let left = step.turns.unwrap_or(u64::MAX);
        Self::new(transactions, step, Pace::Closed { depth: 1 }, Phase::unbounded(Instant::ZERO), left, seed)
    }

    /// All sessions' arrivals from `start` on, until the step's time is over.
    pub fn open(transactions: &'a dyn Transactions, step: &'a CrowdStep, start: Instant, seed: u64) -> Self {
        let phase = Phase { start, end: start + step.warm_up + step.most, operations: u64::MAX };
        Self::new(transactions, step, step.pace, phase, u64::MAX, seed)
    }

    fn new(
        transactions: &'a dyn Transactions,
        step: &'a CrowdStep,
        pace: Pace,
        phase: Phase,
        left: u64,
        seed: u64,
    ) -> Self {
        let block = Bytes::new(512);
        let spec = StreamSpec {
            name: String::new(),
            mix: Mix { sizes: Split::one(block), reads: 1.0, durable: false, flush_every: 0 },
            pattern: Pattern::Uniform,
            region: Region { start: 0, length: block },
            pace,
        };
        let paced = Stream::new(&spec, 0, seed, phase).expect("one block holds one block");
        let nothing = Op { offset: 0, length: 0, kind: Kind::Read, stream: 0 };
        Self { paced, step, transactions, random: fastrand::Rng::with_seed(seed), left, taken: 0, last: nothing }
    }
}

impl Load for Picked<'_> {
    fn due(&self) -> Due {
        if self.left == 0 { Due::Over } else { self.paced.due() }
    }

    fn take(&mut self, now: Instant) -> Op {
        self.last = self.paced.take(now);
        self.left -= 1;
        let stream = self.transactions.pick_at(self.taken, self.random.u64(..));
        self.taken += 1;
        let writes = self.step.kinds.get(usize::from(stream)).is_some_and(|kind| kind.writes);
        let kind = if writes { Kind::Write } else { Kind::Read };
        Op { offset: self.random.u64(..), length: 0, kind, stream }
    }

    fn completed(&mut self, now: Instant, _: &Op, outcome: Outcome) {
        // All of its operations are alike, so any stands for the one that came back.
        self.paced.completed(now, &self.last, outcome);
    }
}

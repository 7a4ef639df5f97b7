//! Streams: a mix of operations with an access pattern and a pace, alone or concurrent.

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;

use plimsoll_units::{Bytes, Instant, Kind, Op, splitmix64};
use serde::{Deserialize, Serialize};

use crate::arrival::{Clockwork, Pace};
use crate::mix::{Draws, Mix};
use crate::place::{Pattern, Places, Region};
use crate::{Due, Load, OpOutcome};

/// Specification of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StreamSpec {
    /// Name in reports, such as `data` or `redo`.
    pub name: String,
    /// Sizes and kinds of the operations.
    pub mix: Mix,
    /// Access pattern.
    pub pattern: Pattern,
    /// Part of the target.
    pub region: Region,
    /// When operations are due.
    pub pace: Pace,
}

impl StreamSpec {
    /// Whether it contains writes.
    pub fn writes(&self) -> bool {
        self.mix.reads < 1.0
    }

    /// Share of the loop `part` of `parts` equal loops: a part of the pace, and a separate stretch of the region for a
    /// sequential stream. `None` if the closed depth is too small for this part.
    pub fn share(&self, part: u32, parts: u32) -> Option<Self> {
        let pace = self.pace.share(part, parts)?;
        let mut region = self.region;
        if self.pattern == Pattern::Sequential && parts > 1 {
            let grid = self.mix.sizes.largest();
            let stretch = Bytes::new(region.length.get() / u64::from(parts)).round_down(grid);
            if stretch >= grid {
                region = Region { start: region.start + u64::from(part) * stretch.get(), length: stretch };
            }
        }
        Some(Self { region, pace, ..self.clone() })
    }
}

/// When a stream starts and stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamPhase {
    /// The first operation is not due before.
    pub start: Instant,
    /// No operation is due at this time or later.
    pub end: Instant,
    /// Maximum number of operations.
    pub operations: u64,
}

impl StreamPhase {
    /// From `start` without an end.
    pub const fn unbounded(start: Instant) -> Self {
        Self { start, end: Instant::NEVER, operations: u64::MAX }
    }
}

/// Due times at a pace within a phase, for loads of any kind of operation.
#[derive(Clone, Debug)]
pub struct Pacer {
    timing: Timing,
    phase: StreamPhase,
    /// Operations that remain to be issued.
    left: u64,
    now: Instant,
}

#[derive(Clone, Debug)]
enum Timing {
    Closed { depth: u32, in_flight: u32 },
    Open(Clockwork),
}

impl Pacer {
    /// `None` for recorded arrivals, which cannot be generated. `seed` determines the arrivals.
    pub fn new(pace: Pace, phase: StreamPhase, seed: u64) -> Option<Self> {
        let timing = match pace {
            Pace::Closed { depth } => Timing::Closed { depth, in_flight: 0 },
            Pace::Open { rate, arrival } => Timing::Open(Clockwork::new(phase.start, rate, arrival, seed)?),
        };
        Some(Self { timing, phase, left: phase.operations, now: phase.start })
    }

    /// When the next operation is due.
    #[inline]
    pub fn due(&self) -> Due {
        if self.left == 0 {
            return Due::Over;
        }
        match &self.timing {
            Timing::Closed { .. } if self.now >= self.phase.end => Due::Over,
            Timing::Closed { depth, in_flight } if in_flight < depth => Due::Now,
            Timing::Closed { .. } => Due::Blocked,
            Timing::Open(clockwork) => {
                let next = clockwork.next();
                if next >= self.phase.end { Due::Over } else { Due::At(next) }
            }
        }
    }

    /// Counts an operation that is issued at `now`.
    #[inline]
    pub fn issue(&mut self, now: Instant) {
        self.now = now;
        self.left -= 1;
        match &mut self.timing {
            Timing::Closed { in_flight, .. } => *in_flight += 1,
            Timing::Open(clockwork) => clockwork.advance(1),
        }
    }

    /// Counts an operation that completed at `now`.
    #[inline]
    pub fn complete(&mut self, now: Instant) {
        self.now = now;
        if let Timing::Closed { in_flight, .. } = &mut self.timing {
            *in_flight -= 1;
        }
    }
}

/// The state of a [`StreamSpec`] as a load.
#[derive(Clone, Debug)]
pub struct Stream {
    grid: u64,
    blocks: u64,
    start_offset: u64,
    draws: Draws,
    places: Places,
    pacer: Pacer,
    index: u8,
}

impl Stream {
    /// `None` if the region is smaller than the largest operation, or the arrivals are recorded. `index` marks its
    /// operations; `seed` determines them. Kinds, addresses and arrivals have separate random streams. A sequential
    /// stream starts at a block that depends on the seed, so that a run does not find the blocks of the previous run in
    /// a cache; with seed 0 at the first.
    pub fn new(spec: &StreamSpec, index: u8, seed: u64, phase: StreamPhase) -> Option<Self> {
        let grid = spec.mix.sizes.smallest().get();
        let blocks = spec.region.length.get().checked_div(grid)?;
        if spec.region.length < spec.mix.sizes.largest() {
            return None;
        }
        let purpose = |n: u64| splitmix64(seed ^ (u64::from(index) << 8 | n));
        Some(Self {
            grid,
            blocks,
            start_offset: spec.region.start,
            draws: Draws::new(&spec.mix, grid, purpose(1)),
            places: Places::new(spec.pattern, blocks, first_block(seed, purpose(4), blocks), purpose(2))?,
            pacer: Pacer::new(spec.pace, phase, purpose(3))?,
            index,
        })
    }
}

impl Load for Stream {
    #[inline]
    fn due(&self) -> Due {
        self.pacer.due()
    }

    #[inline]
    fn take(&mut self, now: Instant) -> Op {
        self.pacer.issue(now);
        let kind = self.draws.kind();
        if kind == Kind::Flush {
            return Op { offset: 0, length: 0, kind, stream: self.index };
        }
        let span = self.draws.blocks();
        let block = self.places.next(self.blocks, u64::from(span));
        Op {
            offset: self.start_offset + block * self.grid,
            length: (u64::from(span) * self.grid) as u32,
            kind,
            stream: self.index,
        }
    }

    #[inline]
    fn completed(&mut self, now: Instant, _op: &Op, _outcome: OpOutcome) {
        self.pacer.complete(now);
    }
}

pub(crate) const fn first_block(seed: u64, random: u64, blocks: u64) -> u64 {
    if seed == 0 || blocks == 0 { 0 } else { random % blocks }
}

/// Concurrent loads, each with its own index on its operations.
///
/// The load with the earliest due time goes first; ties are served round-robin, so that none starves.
#[derive(Clone, Debug)]
pub struct Together<L> {
    members: Vec<L>,
    /// Position of the member of each index.
    places: Vec<usize>,
    turn: usize,
    /// The member with the earliest due time, and that time, until an operation is taken or completes.
    earliest: Cell<Option<(usize, Due)>>,
}

/// Concurrent streams: data reads, background writes, a log writer.
pub type Streams = Together<Stream>;

impl Streams {
    /// `None` if there are no streams or more than 256, or any of them is not possible: see [`Stream::new`].
    pub fn new(specs: &[StreamSpec], seed: u64, phase: StreamPhase) -> Option<Self> {
        let numbered = specs.iter().enumerate().map(|(index, spec)| Some((u8::try_from(index).ok()?, spec.clone())));
        Self::numbered(&numbered.collect::<Option<Vec<_>>>()?, seed, phase)
    }

    /// Streams with given indices, for a part of a load that has only some of its streams.
    pub fn numbered(specs: &[(u8, StreamSpec)], seed: u64, phase: StreamPhase) -> Option<Self> {
        let streams: Option<Vec<_>> =
            specs.iter().map(|(index, spec)| Stream::new(spec, *index, seed, phase)).collect();
        let streams = streams.filter(|streams| !streams.is_empty())?;
        Some(Self::of(specs.iter().map(|(index, _)| *index).zip(streams).collect()))
    }
}

impl<L: Load> Together<L> {
    /// Members with distinct indices that mark their operations.
    pub fn of(numbered: Vec<(u8, L)>) -> Self {
        let mut places = alloc::vec![0; 256];
        for (place, (index, _)) in numbered.iter().enumerate() {
            places[usize::from(*index)] = place;
        }
        let members = numbered.into_iter().map(|(_, member)| member).collect();
        Self { members, places, turn: 0, earliest: Cell::new(None) }
    }

    /// The member with an index; any member for an unknown index.
    pub fn member(&self, index: u8) -> &L {
        &self.members[self.places[usize::from(index)]]
    }

    /// The members, in their original order.
    pub fn into_members(self) -> Vec<L> {
        self.members
    }

    /// The member with the earliest due time, and that time.
    fn find_first(&self) -> (usize, Due) {
        let (mut index, mut first, mut least) = (0, Due::Over, u64::MAX);
        let (before, from_turn) = self.members.split_at(self.turn);
        let in_turn = from_turn.iter().zip(self.turn..).chain(before.iter().zip(0..));
        in_turn.for_each(|(member, candidate)| {
            let due = member.due();
            let order = rank(due);
            if order < least {
                (index, first, least) = (candidate, due, order);
            }
        });
        (index, first)
    }
}

/// Order of due times. Members that are blocked or over come last.
#[inline]
fn rank(due: Due) -> u64 {
    match due {
        Due::Now => 0,
        Due::At(moment) => moment.as_nanos().min(u64::MAX - 2),
        Due::Blocked => u64::MAX - 1,
        Due::Over => u64::MAX,
    }
}

impl<L: Load> Load for Together<L> {
    #[inline]
    fn due(&self) -> Due {
        if let [only] = &self.members[..] {
            return only.due();
        }
        let (index, due) = self.earliest.get().unwrap_or_else(|| self.find_first());
        self.earliest.set(Some((index, due)));
        due
    }

    /// Members with others take all completions: each waits for its own operations only.
    #[inline]
    fn awaited(&self) -> Option<Kind> {
        let [only] = &self.members[..] else { return None };
        only.awaited()
    }

    #[inline]
    fn take(&mut self, now: Instant) -> Op {
        if let [only] = &mut self.members[..] {
            return only.take(now);
        }
        let (index, _) = self.earliest.take().unwrap_or_else(|| self.find_first());
        self.turn = (index + 1) % self.members.len();
        self.members[index].take(now)
    }

    #[inline]
    fn completed(&mut self, now: Instant, op: &Op, outcome: OpOutcome) {
        self.earliest.set(None);
        self.members[self.places[usize::from(op.stream)]].completed(now, op, outcome);
    }
}

//! One stream of operations: a mix at places, at a pace.

use alloc::string::String;

use plimsoll_units::{Bytes, Instant, Kind, Op, splitmix64};
use serde::{Deserialize, Serialize};

use crate::arrival::{Clockwork, Pace};
use crate::mix::{Draws, Mix};
use crate::place::{Pattern, Places, Region};
use crate::{Due, Load, Outcome};

/// What a stream asks for, as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StreamSpec {
    /// The word that reports use for it, such as `data` or `redo`.
    pub name: String,
    /// Sizes and kinds.
    pub mix: Mix,
    /// How blocks are visited.
    pub pattern: Pattern,
    /// Which part of the target.
    pub region: Region,
    /// When operations are asked for.
    pub pace: Pace,
}

impl StreamSpec {
    /// True when some of its operations change the storage.
    pub fn writes(&self) -> bool {
        self.mix.reads < 1.0
    }

    /// The part of this stream that one of `parts` equal loops offers: a share of its pace, and of a sequential
    /// stream its own stretch of the region. `None` when a closed depth leaves nothing for this part.
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
pub struct Phase {
    /// The first operation is due here, not before.
    pub start: Instant,
    /// No operation is due at or after this moment.
    pub end: Instant,
    /// No more than this many operations.
    pub operations: u64,
}

impl Phase {
    /// From `start` until stopped from outside.
    pub const fn unbounded(start: Instant) -> Self {
        Self { start, end: Instant::NEVER, operations: u64::MAX }
    }
}

/// A stream that can be offered: the state behind a [`StreamSpec`].
#[derive(Clone, Debug)]
pub struct Stream {
    grid: u64,
    blocks: u64,
    start_offset: u64,
    draws: Draws,
    places: Places,
    timing: Timing,
    phase: Phase,
    left: u64,
    now: Instant,
    index: u8,
}

#[derive(Clone, Debug)]
enum Timing {
    Closed { depth: u32, in_flight: u32 },
    Open(Clockwork),
}

impl Stream {
    /// `None` when the region cannot hold one operation of the largest size, or the stream was recorded. `index` marks its operations; `seed`
    /// determines them. Each purpose (kinds, places, arrivals) has a random stream of its own. A sequential stream
    /// begins at a block that the seed determines, so that one run after another does not find its blocks in a cache;
    /// with seed 0 at the first.
    pub fn new(spec: &StreamSpec, index: u8, seed: u64, phase: Phase) -> Option<Self> {
        let grid = spec.mix.sizes.smallest().get();
        let blocks = spec.region.length.get().checked_div(grid)?;
        if spec.region.length < spec.mix.sizes.largest() {
            return None;
        }
        let purpose = |n: u64| splitmix64(seed ^ (u64::from(index) << 8 | n));
        let timing = match spec.pace {
            Pace::Closed { depth } => Timing::Closed { depth, in_flight: 0 },
            Pace::Open { rate, arrival } => Timing::Open(Clockwork::new(phase.start, rate, arrival, purpose(3))?),
        };
        Some(Self {
            grid,
            blocks,
            start_offset: spec.region.start,
            draws: Draws::new(&spec.mix, grid, purpose(1)),
            places: Places::new(spec.pattern, blocks, first_block(seed, purpose(4), blocks), purpose(2))?,
            timing,
            phase,
            left: phase.operations,
            now: phase.start,
            index,
        })
    }
}

impl Load for Stream {
    #[inline]
    fn due(&self) -> Due {
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

    #[inline]
    fn take(&mut self, now: Instant) -> Op {
        self.now = now;
        self.left -= 1;
        match &mut self.timing {
            Timing::Closed { in_flight, .. } => *in_flight += 1,
            Timing::Open(clockwork) => clockwork.advance(1),
        }
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
    fn completed(&mut self, now: Instant, _op: &Op, _outcome: Outcome) {
        self.now = now;
        if let Timing::Closed { in_flight, .. } = &mut self.timing {
            *in_flight -= 1;
        }
    }
}

pub(crate) const fn first_block(seed: u64, random: u64, blocks: u64) -> u64 {
    if seed == 0 || blocks == 0 { 0 } else { random % blocks }
}

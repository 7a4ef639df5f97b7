//! A chain: stages that every operation passes one after the other.

use alloc::vec::Vec;

use plimsoll_units::{Instant, Kind, Op, Slot, Span};

use crate::agenda::Agenda;
use crate::stage::{ChainSpec, State};
use crate::{Answer, Change, Model, Refused, Stage};

/// A model made of stages in a row.
///
/// Each stage sees its operations in the order of their arrival, so an operation that overtakes another in one stage
/// is served before it in the next.
#[derive(Clone, Debug)]
pub struct Chain {
    stages: Vec<State>,
    passages: Vec<Passage>,
    /// When operations leave the stage that they are in.
    departures: Agenda,
    ready: Vec<Answer>,
}

/// Where an operation is, and what has held it longest so far.
#[derive(Clone, Copy, Debug)]
struct Passage {
    op: Op,
    stage: u8,
    longest: Span,
    bound_by: Stage,
}

impl Chain {
    /// A chain at rest. `seed` determines its service times; each stage has a random stream of its own.
    pub fn new(spec: &ChainSpec, seed: u64) -> Self {
        let stage = |(index, stage)| State::new(stage, seed.wrapping_mul(31).wrapping_add(index as u64 + 1));
        Self {
            stages: spec.stages().iter().enumerate().map(stage).collect(),
            passages: Vec::new(),
            departures: Agenda::default(),
            ready: Vec::new(),
        }
    }

    /// Lets `slot` enter the stage that its passage says, at `now`.
    #[inline]
    fn enter(&mut self, now: Instant, slot: Slot) {
        let passage = &mut self.passages[slot.index()];
        let at = self.stages[usize::from(passage.stage)].enter(now, &passage.op);
        let held = at.since(now);
        if held >= passage.longest {
            passage.longest = held;
            passage.bound_by = Stage(passage.stage);
        }
        self.departures.enter(at, slot);
    }

    /// Lets everything happen that happens up to `now`.
    #[inline]
    fn advance(&mut self, now: Instant) {
        while let Some((at, slot)) = self.departures.take(now) {
            let passage = &mut self.passages[slot.index()];
            passage.stage += 1;
            if usize::from(passage.stage) == self.stages.len() {
                self.ready.push(Answer { slot, at, bound_by: passage.bound_by });
            } else {
                self.enter(at, slot);
            }
        }
    }
}

impl Model for Chain {
    #[inline]
    fn submit(&mut self, now: Instant, slot: Slot, op: &Op) {
        // All that happened before is settled first: otherwise the order of events at the same moment would depend
        // on when the chain was last drained.
        self.advance(now);
        if slot.index() >= self.passages.len() {
            let nothing = Op { offset: 0, length: 0, kind: Kind::Read, stream: 0 };
            let free = Passage { op: nothing, stage: 0, longest: Span::ZERO, bound_by: Stage(0) };
            self.passages.resize(slot.index() + 1, free);
        }
        self.passages[slot.index()] = Passage { op: *op, stage: 0, longest: Span::ZERO, bound_by: Stage(0) };
        self.enter(now, slot);
    }

    #[inline]
    fn wake_at(&self) -> Option<Instant> {
        let ready = self.ready.first().map(|answer| answer.at);
        ready.or_else(|| self.departures.next())
    }

    #[inline]
    fn drain(&mut self, now: Instant, answers: &mut Vec<Answer>) {
        self.advance(now);
        answers.append(&mut self.ready);
    }

    fn change(&mut self, now: Instant, change: &Change) -> Result<(), Refused> {
        self.advance(now);
        let Change::Rate { stage, rate } = *change;
        let changed = match self.stages.get_mut(usize::from(stage.0)) {
            None => return Err(Refused::NoSuchStage(stage)),
            Some(State::Limit(limit)) => limit.change(rate),
            Some(_) => false,
        };
        if changed { Ok(()) } else { Err(Refused::NoSuchRate(stage)) }
    }
}

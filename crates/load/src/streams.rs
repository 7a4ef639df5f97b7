//! Several loads at once, offered as one.

use alloc::vec::Vec;

use plimsoll_units::{Instant, Op};

use crate::stream::{Phase, Stream, StreamSpec};
use crate::{Due, Load, Outcome};

/// Loads that run beside each other, each marking its operations with an index of its own.
///
/// The one that is due first goes first; among equals they take turns, so that none starves another.
#[derive(Clone, Debug)]
pub struct Together<L> {
    members: Vec<L>,
    /// Where the member of each index is.
    places: Vec<usize>,
    turn: usize,
}

/// Streams beside each other: data reads, background writes, a log writer.
pub type Streams = Together<Stream>;

impl Streams {
    /// `None` when there is no stream, there are more than 256, one was recorded, or a region cannot hold its stream's
    /// largest operation.
    pub fn new(specs: &[StreamSpec], seed: u64, phase: Phase) -> Option<Self> {
        let numbered = specs.iter().enumerate().map(|(index, spec)| Some((u8::try_from(index).ok()?, spec.clone())));
        Self::numbered(&numbered.collect::<Option<Vec<_>>>()?, seed, phase)
    }

    /// Streams with the indices that mark their operations: a part of a load may have some of its streams only.
    pub fn numbered(specs: &[(u8, StreamSpec)], seed: u64, phase: Phase) -> Option<Self> {
        let streams: Option<Vec<_>> =
            specs.iter().map(|(index, spec)| Stream::new(spec, *index, seed, phase)).collect();
        let streams = streams.filter(|streams| !streams.is_empty())?;
        Some(Self::of(specs.iter().map(|(index, _)| *index).zip(streams).collect()))
    }
}

impl<L: Load> Together<L> {
    /// Members with the indices that mark their operations, each another one.
    pub fn of(numbered: Vec<(u8, L)>) -> Self {
        let mut places = alloc::vec![0; 256];
        for (place, (index, _)) in numbered.iter().enumerate() {
            places[usize::from(*index)] = place;
        }
        Self { members: numbered.into_iter().map(|(_, member)| member).collect(), places, turn: 0 }
    }

    /// The member whose operations are marked with `index`; another one where there is none such.
    pub fn member(&self, index: u8) -> &L {
        &self.members[self.places[usize::from(index)]]
    }

    /// The members, in the order in which they were given.
    pub fn into_members(self) -> Vec<L> {
        self.members
    }

    /// The member that is due first, and when.
    #[inline]
    fn first(&self) -> (usize, Due) {
        let urgency = |due| match due {
            Due::Now => Some(Instant::ZERO),
            Due::At(moment) => Some(moment),
            Due::Blocked | Due::Over => None,
        };
        let (mut index, mut first) = (0, Due::Over);
        for step in 0..self.members.len() {
            let candidate = (self.turn + step) % self.members.len();
            let due = self.members[candidate].due();
            let sooner = match (urgency(due), urgency(first)) {
                (Some(this), Some(best)) => this < best,
                (Some(_), None) => true,
                (None, _) => due == Due::Blocked && first == Due::Over,
            };
            if sooner {
                (index, first) = (candidate, due);
            }
        }
        (index, first)
    }
}

impl<L: Load> Load for Together<L> {
    #[inline]
    fn due(&self) -> Due {
        match &self.members[..] {
            [only] => only.due(),
            _ => self.first().1,
        }
    }

    #[inline]
    fn take(&mut self, now: Instant) -> Op {
        if let [only] = &mut self.members[..] {
            return only.take(now);
        }
        let (index, _) = self.first();
        self.turn = (index + 1) % self.members.len();
        self.members[index].take(now)
    }

    #[inline]
    fn completed(&mut self, now: Instant, op: &Op, outcome: Outcome) {
        let place = self.places[usize::from(op.stream)];
        self.members[place].completed(now, op, outcome);
    }
}

//! Several streams at once, offered as one load.

use alloc::vec::Vec;

use plimsoll_units::{Instant, Op};

use crate::stream::{Phase, Stream, StreamSpec};
use crate::{Due, Load, Outcome};

/// Streams that run beside each other: data reads, background writes, a log writer.
///
/// The stream that is due first goes first; among equals they take turns, so that none starves another.
#[derive(Clone, Debug)]
pub struct Streams {
    streams: Vec<Stream>,
    turn: usize,
}

impl Streams {
    /// `None` when there is no stream, there are more than 256, or a region cannot hold its stream's largest
    /// operation.
    pub fn new(specs: &[StreamSpec], seed: u64, phase: Phase) -> Option<Self> {
        let streams: Option<Vec<_>> = specs
            .iter()
            .enumerate()
            .map(|(index, spec)| Stream::new(spec, u8::try_from(index).ok()?, seed, phase))
            .collect();
        let streams = streams.filter(|streams| !streams.is_empty())?;
        Some(Self { streams, turn: 0 })
    }

    /// The stream that is due first, and when.
    #[inline]
    fn first(&self) -> (usize, Due) {
        let urgency = |due| match due {
            Due::Now => Some(Instant::ZERO),
            Due::At(moment) => Some(moment),
            Due::Blocked | Due::Over => None,
        };
        let (mut index, mut first) = (0, Due::Over);
        for step in 0..self.streams.len() {
            let candidate = (self.turn + step) % self.streams.len();
            let due = self.streams[candidate].due();
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

impl Load for Streams {
    #[inline]
    fn due(&self) -> Due {
        match &self.streams[..] {
            [only] => only.due(),
            _ => self.first().1,
        }
    }

    #[inline]
    fn take(&mut self, now: Instant) -> Op {
        if let [only] = &mut self.streams[..] {
            return only.take(now);
        }
        let (index, _) = self.first();
        self.turn = (index + 1) % self.streams.len();
        self.streams[index].take(now)
    }

    #[inline]
    fn completed(&mut self, now: Instant, op: &Op, outcome: Outcome) {
        self.streams[usize::from(op.stream)].completed(now, op, outcome);
    }
}

//! Replay of a recorded load: the same operations at the same addresses, at the recorded times or at a queue depth.
//!
//! Operations come from an iterator, so that memory does not depend on the length of the recording.

use plimsoll_units::{Instant, Op, Span};

use crate::{Due, Load, OpOutcome};

/// A recorded operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Arrival, from the origin of the recording.
    pub at: Span,
    /// The operation.
    pub op: Op,
}

/// Due times of recorded operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tempo {
    /// The recorded times, regardless of completions: an open load.
    Recorded {
        /// Factor of the times between arrivals: 1 is as recorded, 0.5 twice as fast.
        scale: f64,
    },
    /// In order, at a queue depth: a closed load.
    Closed {
        /// Queue depth, at least 1.
        depth: u32,
    },
}

/// A recording as a load. The first operation is due at the start.
///
/// The load ends with the recording or at a read error: see [`Replay::end`].
#[derive(Clone, Debug)]
pub struct Replay<I, E> {
    source: I,
    next: Option<Recorded>,
    fault: Option<E>,
    tempo: Tempo,
    start: Instant,
    first: Span,
    in_flight: u32,
}

impl<I: Iterator<Item = Result<Recorded, E>>, E> Replay<I, E> {
    /// Starts at `start`. The times of the source must not decrease.
    pub fn new(source: I, tempo: Tempo, start: Instant) -> Self {
        let mut replay = Self { source, next: None, fault: None, tempo, start, first: Span::ZERO, in_flight: 0 };
        replay.advance();
        replay.first = replay.next.map_or(Span::ZERO, |recorded| recorded.at);
        replay
    }

    /// The end of the recording.
    ///
    /// # Errors
    /// A read error after the last operation.
    pub fn end(self) -> Result<(), E> {
        self.fault.map_or(Ok(()), Err)
    }

    fn advance(&mut self) {
        self.next = match self.source.next() {
            Some(Ok(recorded)) => Some(recorded),
            Some(Err(fault)) => {
                self.fault = Some(fault);
                None
            }
            None => None,
        };
    }
}

impl<I: Iterator<Item = Result<Recorded, E>>, E> Load for Replay<I, E> {
    #[inline]
    fn due(&self) -> Due {
        let Some(next) = &self.next else { return Due::Over };
        match self.tempo {
            Tempo::Recorded { scale } => Due::At(self.start + stretched(next.at - self.first, scale)),
            Tempo::Closed { depth } if self.in_flight < depth => Due::Now,
            Tempo::Closed { .. } => Due::Blocked,
        }
    }

    #[inline]
    fn take(&mut self, _now: Instant) -> Op {
        let taken = self.next.expect("an operation is taken only after it was due");
        self.in_flight += 1;
        self.advance();
        taken.op
    }

    #[inline]
    fn completed(&mut self, _now: Instant, _op: &Op, _outcome: OpOutcome) {
        self.in_flight -= 1;
    }
}

/// Exact for a scale of 1 up to 104 days: 53 bits of nanoseconds.
fn stretched(span: Span, scale: f64) -> Span {
    Span::from_nanos((span.as_nanos() as f64 * scale) as u64)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use plimsoll_units::Kind;

    use super::*;

    const OP: Op = Op { offset: 4096, length: 512, kind: Kind::Read, stream: 0 };

    fn replay(at_us: &[u64], tempo: Tempo) -> impl Load + use<> {
        let recorded: Vec<Result<Recorded, ()>> =
            at_us.iter().map(|&us| Ok(Recorded { at: Span::from_micros(us), op: OP })).collect();
        Replay::new(recorded.into_iter(), tempo, Instant::from_nanos(1_000))
    }

    fn moments(mut load: impl Load) -> Vec<u64> {
        let mut moments = Vec::new();
        while let Due::At(moment) = load.due() {
            load.take(moment);
            moments.push(moment.as_nanos());
        }
        moments
    }

    #[test]
    fn moments_are_relative_to_the_first_operation() {
        let at = [500, 501, 501, 700];
        assert_eq!(moments(replay(&at, Tempo::Recorded { scale: 1.0 })), [1_000, 2_000, 2_000, 201_000]);
        assert_eq!(moments(replay(&at, Tempo::Recorded { scale: 0.5 })), [1_000, 1_500, 1_500, 101_000]);
    }

    #[test]
    fn closed_replay_is_blocked_until_completion() {
        let mut load = replay(&[0, 9, 99], Tempo::Closed { depth: 2 });
        let now = Instant::from_nanos(5);
        for _ in 0..2 {
            assert_eq!(load.due(), Due::Now);
            load.take(now);
        }
        assert_eq!(load.due(), Due::Blocked);
        load.completed(now, &OP, OpOutcome::Done);
        assert_eq!(load.due(), Due::Now);
        load.take(now);
        assert_eq!(load.due(), Due::Over);
    }

    #[test]
    fn read_error_is_returned_at_the_end() {
        let source = [Ok(Recorded { at: Span::ZERO, op: OP }), Err("torn")];
        let mut load = Replay::new(source.into_iter(), Tempo::Recorded { scale: 1.0 }, Instant::ZERO);
        load.take(Instant::ZERO);
        assert_eq!(load.due(), Due::Over);
        assert_eq!(load.end(), Err("torn"));
    }
}

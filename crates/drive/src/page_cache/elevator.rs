//! The order in which reads of several streams reach storage: the I/O scheduler of the host.
//!
//! Knows nothing about what is in memory, and nothing about writing back, which passes it by.

use std::collections::{BTreeMap, VecDeque};
use std::str::FromStr;

use plimsoll_units::{Instant, Op, Span};

/// The I/O scheduler of a disk: `queue/scheduler`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Elevator {
    /// Reads reach storage as they come: `none`, and what `deadline` amounts to while storage takes all of its queue.
    #[default]
    None,
    /// Slices of time: one stream after the other has storage alone, and keeps it while it reads on within a pause
    /// (`cfq` of Linux up to 4.20, the default of its time; `bfq` after it). Disks that turn lose no time between streams.
    Cfq,
}

impl FromStr for Elevator {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "none" => Ok(Self::None),
            "cfq" => Ok(Self::Cfq),
            _ => Err("write none or cfq"),
        }
    }
}

/// `slice_sync` of `block/cfq-iosched.c`: the longest slice.
const LONGEST_SLICE: Span = Span::from_millis(100);
/// `target_latency`: in so long all streams have their turn.
const ROUND: Span = Span::from_millis(300);
/// `slice_idle`: how long storage waits for the next read of a stream.
const PAUSE: Span = Span::from_millis(8);

/// Streams that wait for their turn, and the one that has it.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    waiting: BTreeMap<u8, VecDeque<(u32, Op)>>,
    active: Option<Active>,
    /// The stream that had the last turn.
    last: u8,
}

#[derive(Clone, Copy, Debug)]
struct Active {
    stream: u8,
    /// The end of its slice.
    until: Instant,
    under_way: u32,
    /// The end of the pause that it is in.
    pause: Option<Instant>,
}

/// What is to be done next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Storage is given this read.
    Send(u32, Op),
    /// At this moment, look again.
    Look(Instant),
    Nothing,
}

impl Turns {
    pub(super) fn enter(&mut self, number: u32, op: Op) {
        self.waiting.entry(op.stream).or_default().push_back((number, op));
    }

    /// A read of the stream whose turn it is came back.
    pub(super) fn came_back(&mut self, stream: u8) {
        if let Some(active) = self.active.as_mut().filter(|active| active.stream == stream) {
            active.under_way = active.under_way.saturating_sub(1);
        }
    }

    pub(super) fn next(&mut self, now: Instant) -> Next {
        loop {
            let Some(active) = &mut self.active else {
                if !self.begin(now) {
                    return Next::Nothing;
                }
                continue;
            };
            let is_over = now >= active.until;
            let queue = self.waiting.get_mut(&active.stream);
            if let Some((number, op)) = queue.filter(|_| !is_over).and_then(VecDeque::pop_front) {
                active.under_way += 1;
                active.pause = None;
                return Next::Send(number, op);
            }
            if active.under_way > 0 {
                return Next::Nothing;
            }
            match active.pause {
                _ if is_over => self.active = None,
                Some(end) if now >= end => self.active = None,
                Some(_) => return Next::Nothing,
                None => {
                    let end = (now + PAUSE).min(active.until);
                    active.pause = Some(end);
                    return Next::Look(end);
                }
            }
        }
    }

    /// Gives the next stream its turn; false when none waits.
    fn begin(&mut self, now: Instant) -> bool {
        self.waiting.retain(|_, queue| !queue.is_empty());
        let after = self.waiting.keys().find(|stream| **stream > self.last);
        let Some(stream) = after.or_else(|| self.waiting.keys().next()).copied() else { return false };
        let busy = self.waiting.len() as u64;
        let slice = Span::from_nanos(ROUND.as_nanos() / busy).min(LONGEST_SLICE);
        self.last = stream;
        self.active = Some(Active { stream, until: now + slice, under_way: 0, pause: None });
        true
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_units::Kind;

    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Span::from_millis(ms)
    }

    fn read(stream: u8) -> Op {
        Op { offset: 0, length: 4096, kind: Kind::Read, stream }
    }

    #[test]
    fn a_stream_keeps_its_turn_while_it_reads_on() {
        let mut turns = Turns::default();
        (0..4).for_each(|number| turns.enter(number, read(number as u8 % 2)));
        assert_eq!(turns.next(ms(0)), Next::Send(1, read(1)));
        assert_eq!(turns.next(ms(0)), Next::Send(3, read(1)));
        assert_eq!(turns.next(ms(0)), Next::Nothing, "the other one waits");
        (0..2).for_each(|_| turns.came_back(1));
        assert_eq!(turns.next(ms(10)), Next::Look(ms(18)), "it may read on");
        turns.enter(4, read(1));
        assert_eq!(turns.next(ms(12)), Next::Send(4, read(1)));
        turns.came_back(1);
        assert_eq!(turns.next(ms(20)), Next::Look(ms(28)));
        assert_eq!(turns.next(ms(28)), Next::Send(0, read(0)), "it did not");
        turns.enter(5, read(1));
        turns.enter(6, read(0));
        assert_eq!((turns.next(ms(28)), turns.next(ms(28))), (Next::Send(2, read(0)), Next::Send(6, read(0))));
        (0..3).for_each(|_| turns.came_back(0));
        turns.enter(7, read(0));
        assert_eq!(turns.next(ms(128)), Next::Send(5, read(1)), "its slice of 100 ms is over");
    }
}

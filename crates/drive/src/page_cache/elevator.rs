//! The host's I/O scheduler: the order in which reads of several streams reach storage.
//!
//! Write-back does not pass through it.

use std::collections::{BTreeMap, VecDeque};
use std::str::FromStr;

use plimsoll_units::{Instant, Op, Span};

/// The I/O scheduler of a disk: `queue/scheduler`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Elevator {
    /// Reads reach storage in the order of submission: `none`, and also `deadline` while storage accepts its whole
    /// queue.
    #[default]
    None,
    /// Time slices: each stream in turn has exclusive access to storage, and keeps it while it reads on within a pause
    /// (`cfq` of Linux up to 4.20, then the default; `bfq` after it). Saves seeks between streams on hard disks.
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
/// `target_latency`: the time in which each stream gets a slice.
const ROUND: Span = Span::from_millis(300);
/// `slice_idle`: how long storage idles for the next read of a stream.
const PAUSE: Span = Span::from_millis(8);

/// Streams that wait for their slice, and the active one.
#[derive(Clone, Debug, Default)]
pub(super) struct Scheduler {
    waiting: BTreeMap<u8, VecDeque<(u32, Op)>>,
    active: Option<Active>,
    /// The stream that had the last slice.
    last: u8,
}

#[derive(Clone, Copy, Debug)]
struct Active {
    stream: u8,
    /// The end of its slice.
    until: Instant,
    under_way: u32,
    /// The end of the current pause.
    pause: Option<Instant>,
}

/// The next step.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ElevatorStep {
    /// Submit this read.
    Send(u32, Op),
    /// Call again at this time.
    CallAt(Instant),
    /// Wait for a completion or a new read.
    Idle,
}

impl Scheduler {
    pub(super) fn enter(&mut self, number: u32, op: Op) {
        self.waiting.entry(op.stream).or_default().push_back((number, op));
    }

    /// A read of this stream completed.
    pub(super) fn completed(&mut self, stream: u8) {
        if let Some(active) = self.active.as_mut().filter(|active| active.stream == stream) {
            active.under_way = active.under_way.saturating_sub(1);
        }
    }

    pub(super) fn next(&mut self, now: Instant) -> ElevatorStep {
        loop {
            let Some(active) = &mut self.active else {
                if !self.begin(now) {
                    return ElevatorStep::Idle;
                }
                continue;
            };
            let is_over = now >= active.until;
            let queue = self.waiting.get_mut(&active.stream);
            if let Some((number, op)) = queue.filter(|_| !is_over).and_then(VecDeque::pop_front) {
                active.under_way += 1;
                active.pause = None;
                return ElevatorStep::Send(number, op);
            }
            if active.under_way > 0 {
                return ElevatorStep::Idle;
            }
            match active.pause {
                _ if is_over => self.active = None,
                Some(end) if now >= end => self.active = None,
                Some(_) => return ElevatorStep::Idle,
                None => {
                    let end = (now + PAUSE).min(active.until);
                    active.pause = Some(end);
                    return ElevatorStep::CallAt(end);
                }
            }
        }
    }

    /// Starts the slice of the next stream; false if none waits.
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
        let mut scheduler = Scheduler::default();
        (0..4).for_each(|number| scheduler.enter(number, read(number as u8 % 2)));
        assert_eq!(scheduler.next(ms(0)), ElevatorStep::Send(1, read(1)));
        assert_eq!(scheduler.next(ms(0)), ElevatorStep::Send(3, read(1)));
        assert_eq!(scheduler.next(ms(0)), ElevatorStep::Idle, "the other stream waits");
        (0..2).for_each(|_| scheduler.completed(1));
        assert_eq!(scheduler.next(ms(10)), ElevatorStep::CallAt(ms(18)), "it may read on");
        scheduler.enter(4, read(1));
        assert_eq!(scheduler.next(ms(12)), ElevatorStep::Send(4, read(1)));
        scheduler.completed(1);
        assert_eq!(scheduler.next(ms(20)), ElevatorStep::CallAt(ms(28)));
        assert_eq!(scheduler.next(ms(28)), ElevatorStep::Send(0, read(0)), "it did not");
        scheduler.enter(5, read(1));
        scheduler.enter(6, read(0));
        assert_eq!(
            (scheduler.next(ms(28)), scheduler.next(ms(28))),
            (ElevatorStep::Send(2, read(0)), ElevatorStep::Send(6, read(0)))
        );
        (0..3).for_each(|_| scheduler.completed(0));
        scheduler.enter(7, read(0));
        assert_eq!(scheduler.next(ms(128)), ElevatorStep::Send(5, read(1)), "its slice of 100 ms is over");
    }
}

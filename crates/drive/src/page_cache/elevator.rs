//! The host's I/O scheduler: the order in which reads of several streams reach storage.
//!
//! Write-back does not pass through it.

use std::collections::{BTreeMap, VecDeque};
use std::str::FromStr;

use plimsoll_units::{Instant, Op, Span};

use super::deadline::Deadline;

/// The I/O scheduler of a disk: `queue/scheduler`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Elevator {
    /// Reads reach storage in the order of submission.
    #[default]
    None,
    /// Reads reach storage in batches of ascending addresses, the oldest at the latest after 500 ms (`deadline`,
    /// `mq-deadline`).
    Deadline,
    /// Time slices: each stream in turn has exclusive access to storage, and keeps it while it reads on within a pause
    /// (`cfq` of Linux up to 4.20, then the default; `bfq` after it). Saves seeks between streams on hard disks.
    Cfq,
}

impl FromStr for Elevator {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "none" => Ok(Self::None),
            "deadline" => Ok(Self::Deadline),
            "cfq" => Ok(Self::Cfq),
            _ => Err("write none, deadline or cfq"),
        }
    }
}

/// `slice_sync` of `block/cfq-iosched.c`: the longest slice.
const LONGEST_SLICE: Span = Span::from_millis(100);
/// `target_latency`: the time in which each stream gets a slice.
const ROUND: Span = Span::from_millis(300);
/// `slice_idle`: how long storage idles for the next read of a stream.
const PAUSE: Span = Span::from_millis(8);

/// Reads that wait in the scheduler.
#[derive(Clone, Debug)]
pub(super) enum Scheduler {
    None,
    Deadline(Deadline),
    Cfq(Slices),
}

impl From<Elevator> for Scheduler {
    fn from(elevator: Elevator) -> Self {
        match elevator {
            Elevator::None => Self::None,
            Elevator::Deadline => Self::Deadline(Deadline::default()),
            Elevator::Cfq => Self::Cfq(Slices::default()),
        }
    }
}

impl Scheduler {
    /// Takes a read; false if reads do not pass through the scheduler.
    pub(super) fn enter(&mut self, now: Instant, number: u32, op: Op) -> bool {
        match self {
            Self::None => return false,
            Self::Deadline(deadline) => deadline.enter(now, number, op),
            Self::Cfq(slices) => slices.enter(number, op),
        }
        true
    }

    /// A read of this stream completed.
    pub(super) fn completed(&mut self, stream: u8) {
        match self {
            Self::None => {}
            Self::Deadline(deadline) => deadline.completed(),
            Self::Cfq(slices) => slices.completed(stream),
        }
    }

    pub(super) fn next(&mut self, now: Instant) -> ElevatorStep {
        match self {
            Self::None => ElevatorStep::Idle,
            Self::Deadline(deadline) => deadline.next(now),
            Self::Cfq(slices) => slices.next(now),
        }
    }
}

/// `CFQQ_SEEK_THR`: a read farther than this from the end of the last one of its stream is a seek.
const FAR: u64 = 800 * 512;
/// `CFQQ_SEEKY`: a stream with more seeks than this among its last 32 reads is random.
const RANDOM: u32 = 4;

/// Queues that wait for their slice, and the active one: a queue of each stream that reads in order, and one of all
/// streams that read at random, which storage sorts better than the host (`SYNC_NOIDLE_WORKLOAD`).
#[derive(Clone, Debug, Default)]
pub(super) struct Slices {
    waiting: BTreeMap<u16, VecDeque<(u32, Op)>>,
    active: Option<Active>,
    /// The queue that had the last slice.
    last: u16,
    /// Of each stream the end of its last read, and a bit for each seek among its last 32 reads.
    histories: BTreeMap<u8, (u64, u32)>,
}

/// The queue of the streams that read at random, after those of streams.
const ALL_RANDOM: u16 = 256;

#[derive(Clone, Copy, Debug)]
struct Active {
    queue: u16,
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

impl Slices {
    fn enter(&mut self, number: u32, op: Op) {
        let (end, seeks) = self.histories.entry(op.stream).or_insert((op.offset, 0));
        *seeks = *seeks << 1 | u32::from(op.offset.abs_diff(*end) > FAR);
        *end = op.offset + u64::from(op.length);
        let queue = if seeks.count_ones() > RANDOM { ALL_RANDOM } else { op.stream.into() };
        self.waiting.entry(queue).or_default().push_back((number, op));
    }

    fn completed(&mut self, stream: u8) {
        if let Some(active) = self.active.as_mut().filter(|active| active.queue == u16::from(stream)) {
            active.under_way = active.under_way.saturating_sub(1);
        }
    }

    fn next(&mut self, now: Instant) -> ElevatorStep {
        loop {
            let Some(active) = &mut self.active else {
                if !self.begin(now) {
                    return ElevatorStep::Idle;
                }
                continue;
            };
            let is_over = now >= active.until;
            let queue = self.waiting.get_mut(&active.queue);
            if let Some((number, op)) = queue.filter(|_| !is_over).and_then(VecDeque::pop_front) {
                active.under_way += 1;
                active.pause = None;
                return ElevatorStep::Send(number, op);
            }
            if active.queue != ALL_RANDOM && active.under_way > 0 {
                return ElevatorStep::Idle;
            }
            match active.pause {
                _ if is_over || active.queue == ALL_RANDOM => self.active = None,
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
        let after = self.waiting.keys().find(|queue| **queue > self.last);
        let Some(queue) = after.or_else(|| self.waiting.keys().next()).copied() else { return false };
        let busy = self.waiting.len() as u64;
        let slice = Span::from_nanos(ROUND.as_nanos() / busy).min(LONGEST_SLICE);
        self.last = queue;
        self.active = Some(Active { queue, until: now + slice, under_way: 0, pause: None });
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
    fn random_readers_are_not_waited_for() {
        let mut scheduler = Slices::default();
        for round in 0..8 {
            let mut now = ms(round * 200);
            for stream in 0..2 {
                scheduler.enter(u32::from(stream), Op { offset: round << 30, ..read(stream) });
            }
            if round == 7 {
                assert_eq!(
                    [scheduler.next(now), scheduler.next(now)].map(|next| matches!(next, ElevatorStep::Send(..))),
                    [true; 2]
                );
            }
            loop {
                match scheduler.next(now) {
                    ElevatorStep::Send(_, op) => scheduler.completed(op.stream),
                    ElevatorStep::CallAt(at) => now = at,
                    ElevatorStep::Idle => break,
                }
            }
        }
    }

    #[test]
    fn a_stream_keeps_its_turn_while_it_reads_on() {
        let mut scheduler = Slices::default();
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

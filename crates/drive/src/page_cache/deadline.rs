//! The I/O scheduler `deadline`: reads in ascending order of address, in batches, unless a read has waited too long.
//!
//! After `block/mq-deadline.c` of Linux: no stream is waited for, so that readers of different files take turns.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_units::{Instant, Op, Span};

use super::elevator::ElevatorStep;

/// `fifo_batch`: reads in ascending order before deadlines are checked.
const BATCH: u32 = 16;
/// `read_expire`: how long a read may wait.
const EXPIRES: Span = Span::from_millis(500);
/// Reads that storage accepts at a time: the queue of a SATA disk.
const AT_STORAGE: u32 = 32;

/// Reads that wait for storage.
#[derive(Clone, Debug, Default)]
pub(super) struct Deadline {
    /// By address, and by number among equals.
    waiting: BTreeMap<(u64, u32), (Instant, Op)>,
    /// The same reads by arrival.
    arrivals: BTreeSet<(Instant, u32, u64)>,
    /// The address behind the last read.
    head: u64,
    /// Reads left of the batch.
    left: u32,
    at_storage: u32,
}

impl Deadline {
    pub(super) fn enter(&mut self, now: Instant, number: u32, op: Op) {
        self.waiting.insert((op.offset, number), (now, op));
        self.arrivals.insert((now, number, op.offset));
    }

    pub(super) const fn completed(&mut self) {
        self.at_storage -= 1;
    }

    pub(super) fn next(&mut self, now: Instant) -> ElevatorStep {
        let Some(&(oldest, number, offset)) = self.arrivals.first().filter(|_| self.at_storage < AT_STORAGE) else {
            return ElevatorStep::Idle;
        };
        let ahead = self.waiting.range((self.head, 0)..).next().map(|(key, _)| *key);
        let chosen = match ahead {
            Some(ahead) if self.left > 0 || now.since(oldest) < EXPIRES => ahead,
            _ => (offset, number),
        };
        self.left = if self.left > 0 && Some(chosen) == ahead { self.left - 1 } else { BATCH - 1 };
        let (arrived, op) = self.waiting.remove(&chosen).expect("both orders hold the same reads");
        self.arrivals.remove(&(arrived, chosen.1, chosen.0));
        self.head = op.offset + u64::from(op.length);
        self.at_storage += 1;
        ElevatorStep::Send(chosen.1, op)
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_units::Kind;

    use super::*;

    fn read(offset: u64) -> Op {
        Op { offset, length: 4096, kind: Kind::Read, stream: 0 }
    }

    fn sent(scheduler: &mut Deadline, now: Instant) -> Vec<u64> {
        std::iter::from_fn(|| match scheduler.next(now) {
            ElevatorStep::Send(_, op) => Some(op.offset),
            _ => None,
        })
        .collect()
    }

    #[test]
    fn reads_are_sorted_and_the_oldest_begins_anew() {
        let mut scheduler = Deadline::default();
        for (number, offset) in [9_000_000, 40_960, 4_096, 20_480].into_iter().enumerate() {
            scheduler.enter(Instant::ZERO + Span::from_nanos(number as u64), number as u32, read(offset));
        }
        assert_eq!(sent(&mut scheduler, Instant::ZERO), [4_096, 20_480, 40_960, 9_000_000]);
        scheduler.enter(Instant::ZERO, 4, read(8_192));
        scheduler.enter(Instant::ZERO, 5, read(0));
        assert_eq!(sent(&mut scheduler, Instant::ZERO), [8_192, 0], "nothing is ahead: the oldest is first");
    }

    #[test]
    fn storage_gets_no_more_than_its_queue() {
        let mut scheduler = Deadline::default();
        (0..40).for_each(|number| scheduler.enter(Instant::ZERO, number, read(u64::from(number) * 4096)));
        assert_eq!(sent(&mut scheduler, Instant::ZERO).len(), 32);
        scheduler.completed();
        assert_eq!(sent(&mut scheduler, Instant::ZERO), [32 * 4096]);
    }

    #[test]
    fn an_expired_read_is_served_after_the_batch() {
        let mut scheduler = Deadline::default();
        scheduler.enter(Instant::ZERO, 0, read(1 << 30));
        assert_eq!(sent(&mut scheduler, Instant::ZERO), [1 << 30]);
        scheduler.enter(Instant::ZERO, 1, read(0));
        let late = Instant::ZERO + EXPIRES;
        (2..30).for_each(|number| scheduler.enter(late, number, read((1 << 30) + u64::from(number) * 4096)));
        let order = sent(&mut scheduler, late);
        assert_eq!(order.iter().position(|offset| *offset == 0), Some(15), "{order:?}");
    }
}

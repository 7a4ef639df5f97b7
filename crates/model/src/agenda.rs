//! What happens next: moments with numbers, taken out in the order of time, then of when they were entered.

use alloc::collections::{BinaryHeap, VecDeque};
use core::cmp::Reverse;

use plimsoll_units::Instant;

/// Bits of an entry's low half that hold the number; the sequence number has the rest.
const NUMBER_BITS: u32 = 24;

/// Moment, sequence and number in one integer, so that an order of two is one comparison.
type Entry = u128;

/// An agenda. Stations and links mostly enter moments in their order, and those cost no heap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agenda {
    /// Entries that came in order.
    ordered: VecDeque<Entry>,
    /// The others.
    stray: BinaryHeap<Reverse<Entry>>,
}

/// The place of an entry in the order of its agenda: by moment, then as it was entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Order(Entry);

impl Agenda {
    /// Enters a number; `sequence` is higher than that of every earlier entry.
    #[inline]
    pub(crate) fn enter(&mut self, at: Instant, sequence: u64, number: u32) {
        debug_assert!(number < 1 << NUMBER_BITS, "far fewer are under way");
        let low = sequence << NUMBER_BITS | u64::from(number);
        let entry = u128::from(at.as_nanos()) << 64 | u128::from(low);
        match self.ordered.back() {
            Some(last) if *last > entry => self.stray.push(Reverse(entry)),
            _ => self.ordered.push_back(entry),
        }
    }

    /// The moment of the first entry.
    #[inline]
    pub(crate) fn next(&self) -> Option<Instant> {
        let Order(first) = self.first();
        (first != Entry::MAX).then(|| moment(first))
    }

    /// The first entry beside those of other agendas with the same sequence; an empty agenda comes last.
    #[inline]
    pub(crate) fn first(&self) -> Order {
        let ordered = self.ordered.front().copied().unwrap_or(Entry::MAX);
        let stray = self.stray.peek().map_or(Entry::MAX, |entry| entry.0);
        Order(ordered.min(stray))
    }

    /// Takes the first entry out if its moment is not after `now`.
    #[inline]
    pub(crate) fn take(&mut self, now: Instant) -> Option<(Instant, u32)> {
        let ordered = self.ordered.front().copied();
        let stray = self.stray.peek().map(|entry| entry.0);
        let from_stray = match (ordered, stray) {
            (Some(a), Some(b)) => b < a,
            (a, _) => a.is_none(),
        };
        let first = if from_stray { stray? } else { ordered? };
        if moment(first) > now {
            return None;
        }
        if from_stray {
            self.stray.pop();
        } else {
            self.ordered.pop_front();
        }
        Some((moment(first), first as u32 & ((1 << NUMBER_BITS) - 1)))
    }
}

fn moment(entry: Entry) -> Instant {
    Instant::from_nanos((entry >> 64) as u64)
}

//! A priority queue of events, ordered by time and then by sequence number.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use plimsoll_units::Instant;

/// Low bits of an entry that hold the number; the sequence number has the rest of the low half.
const NUMBER_BITS: u32 = 24;
/// Added to the sequence number of an entry, puts it behind all other entries of its time.
pub(crate) const BEHIND: u64 = 1 << (u64::BITS - NUMBER_BITS - 1);
/// New entries are sorted into the last `NEAR` of the list; entries that belong before them go to the heap. Random
/// service times mostly swap neighbours, and moving a few entries is cheaper than a heap's unpredictable branches.
const NEAR: usize = 32;
/// Removed entries are compacted when they are this many, and at least half of the list.
const COMPACT: usize = 64;

/// Time, sequence and number in a single integer, so that ordering takes a single comparison.
type AgendaEntry = u128;

/// A queue of numbered events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agenda {
    /// Entries in order; those before `taken` have been removed.
    ordered: Vec<AgendaEntry>,
    taken: usize,
    /// Entries that arrived too far out of order.
    stray: BinaryHeap<Reverse<AgendaEntry>>,
}

/// The position of an entry among the agendas that share a sequence: by time, then by sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Order(AgendaEntry);

impl Agenda {
    /// Adds an event; `sequence` must be unique.
    #[inline]
    pub(crate) fn enter(&mut self, at: Instant, sequence: u64, number: u32) {
        debug_assert!(number < 1 << NUMBER_BITS, "fewer operations are in flight");
        let low = sequence << NUMBER_BITS | u64::from(number);
        let entry = u128::from(at.as_nanos()) << 64 | u128::from(low);
        self.insert(entry);
    }

    #[inline]
    fn insert(&mut self, entry: AgendaEntry) {
        let mut place = self.ordered.len();
        let nearest = self.taken.max(place.saturating_sub(NEAR));
        if nearest > self.taken && self.ordered[nearest - 1] > entry {
            return self.stray.push(Reverse(entry));
        }
        self.ordered.push(entry);
        while place > nearest && self.ordered[place - 1] > entry {
            self.ordered[place] = self.ordered[place - 1];
            place -= 1;
        }
        self.ordered[place] = entry;
    }

    #[inline]
    fn pop_ordered(&mut self) {
        self.taken += 1;
        if self.taken == self.ordered.len() {
            self.ordered.clear();
            self.taken = 0;
        } else if self.taken >= COMPACT && self.taken * 2 >= self.ordered.len() {
            self.ordered.drain(..self.taken);
            self.taken = 0;
        }
    }

    /// Time of the first entry.
    #[inline]
    pub(crate) fn next(&self) -> Option<Instant> {
        let Order(first) = self.first();
        (first != AgendaEntry::MAX).then(|| moment(first))
    }

    /// Position of the first entry, comparable between agendas with the same sequence; an empty agenda comes last.
    #[inline]
    pub(crate) fn first(&self) -> Order {
        let ordered = self.ordered.get(self.taken).copied().unwrap_or(AgendaEntry::MAX);
        let stray = self.stray.peek().map_or(AgendaEntry::MAX, |entry| entry.0);
        Order(ordered.min(stray))
    }

    /// Removes the first entry if it is due at `now`.
    #[expect(clippy::inline_always, reason = "a call for each event: 6 % of a simulation")]
    #[inline(always)]
    pub(crate) fn take(&mut self, now: Instant) -> Option<(Instant, u32)> {
        let ordered = self.ordered.get(self.taken).copied();
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
            self.pop_ordered();
        }
        Some((moment(first), first as u32 & ((1 << NUMBER_BITS) - 1)))
    }
}

fn moment(entry: AgendaEntry) -> Instant {
    Instant::from_nanos((entry >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_ordered_by_time_and_then_by_insertion() {
        let mut rng = fastrand::Rng::with_seed(5);
        // A spread beyond `NEAR` entries, a spread within it, and equal times.
        for spread in [100_000, 40, 1] {
            let (mut agenda, mut expected, mut now) = (Agenda::default(), Vec::new(), 0);
            for sequence in 0..4_000_u64 {
                let at = now + rng.u64(0..spread);
                agenda.enter(Instant::from_nanos(at), sequence, sequence as u32);
                expected.push((at, sequence as u32));
                if sequence % 3 == 2 {
                    expected.sort_unstable();
                    let (at, number) = expected.remove(0);
                    now = at;
                    assert_eq!(agenda.take(Instant::NEVER), Some((Instant::from_nanos(at), number)), "{spread}");
                }
            }
            expected.sort_unstable();
            for (at, number) in expected {
                assert_eq!(agenda.next(), Some(Instant::from_nanos(at)));
                assert_eq!(agenda.take(Instant::NEVER), Some((Instant::from_nanos(at), number)), "{spread}");
            }
            assert_eq!(agenda.take(Instant::NEVER), None);
        }
    }
}

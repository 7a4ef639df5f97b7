//! Which pages are in memory, and what becomes of each: bit maps of 64 pages, kept only where there are pages.
//!
//! Knows nothing about time, operations or files. Pages are numbered from the start of the space.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// Pages of one bit map.
const IN_CHUNK: u64 = 64;

/// 64 neighbours, a bit each.
#[derive(Clone, Copy, Debug, Default)]
struct Chunk {
    /// Their data are in memory.
    present: u64,
    /// They are being read.
    reading: u64,
    /// They hold data that storage does not.
    dirty: u64,
    /// They are being written back.
    writing: u64,
    /// They were used again since they came: the active list of Linux.
    used: u64,
    /// They were read ahead, and nobody has asked for them yet.
    ahead: u64,
}

impl Chunk {
    const fn resident(&self) -> u64 {
        self.present | self.reading | self.writing
    }

    const fn evictable(&self) -> u64 {
        self.present & !(self.reading | self.dirty | self.writing | self.used)
    }
}

/// The pages in memory, in two lists as in Linux (`mm/vmscan.c`): pages that were used once leave it in the order in which
/// their neighbourhoods came; those that were used again stay as long as they are at most half of memory, so that a scan of
/// more than memory holds does not push out all of what is used (2Q, Johnson and Shasha 1994). 64 neighbours have one place
/// in the order.
#[derive(Clone, Debug)]
pub(super) struct Pages {
    chunks: BTreeMap<u64, Chunk>,
    /// Chunks with dirty pages.
    dirty_chunks: BTreeSet<u64>,
    /// Chunks in the order in which the hand meets them.
    hand: VecDeque<u64>,
    /// Pages that memory holds.
    room: u64,
    resident: u64,
    dirty: u64,
    writing: u64,
    /// Pages that were used again.
    used: u64,
    /// Pages that were read ahead and then asked for.
    pub(super) ahead_used: u64,
}

/// What a walk over dirty pages met first.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Met {
    /// Dirty neighbours that nobody writes.
    Run(Range<u64>),
    /// A page that is being written, and is dirty again.
    Busy,
    /// Nothing.
    Clean,
}

impl Pages {
    pub(super) const fn new(room: u64) -> Self {
        Self {
            chunks: BTreeMap::new(),
            dirty_chunks: BTreeSet::new(),
            hand: VecDeque::new(),
            room,
            resident: 0,
            dirty: 0,
            writing: 0,
            used: 0,
            ahead_used: 0,
        }
    }

    /// Pages that storage does not have yet, those on their way to it left out.
    pub(super) const fn dirty(&self) -> u64 {
        self.dirty
    }

    /// Pages on their way to storage, those that are dirty again among them.
    pub(super) const fn writing(&self) -> u64 {
        self.writing
    }

    /// Pages in memory, or about to be.
    #[cfg(test)]
    pub(super) const fn resident(&self) -> u64 {
        self.resident
    }

    /// Changes the pages of a range, and keeps the counts. `makes` says whether chunks that are not there are made.
    fn change(&mut self, range: &Range<u64>, makes: bool, mut to: impl FnMut(&mut Chunk, u64)) {
        for (index, mask) in parts(range) {
            let before = match self.chunks.get(&index) {
                Some(chunk) => *chunk,
                None if makes => Chunk::default(),
                None => continue,
            };
            let mut after = before;
            to(&mut after, mask);
            self.count(&before, &after);
            if before.dirty == 0 && after.dirty != 0 {
                self.dirty_chunks.insert(index);
            } else if before.dirty != 0 && after.dirty == 0 {
                self.dirty_chunks.remove(&index);
            }
            if self.chunks.insert(index, after).is_none() {
                self.hand.push_back(index);
            }
        }
    }

    fn count(&mut self, before: &Chunk, after: &Chunk) {
        let moved = |count: &mut u64, before: u64, after: u64| {
            *count = *count + u64::from(after.count_ones()) - u64::from(before.count_ones());
        };
        moved(&mut self.resident, before.resident(), after.resident());
        moved(&mut self.dirty, before.dirty, after.dirty);
        moved(&mut self.writing, before.writing, after.writing);
        moved(&mut self.used, before.used, after.used);
    }

    /// Pages of a range that are present.
    pub(super) fn present(&self, range: &Range<u64>) -> u64 {
        parts(range).map(|(index, mask)| self.bits(index, |chunk| chunk.present & mask)).sum()
    }

    /// True when some page of the range is being read.
    pub(super) fn is_reading(&self, range: &Range<u64>) -> bool {
        parts(range).any(|(index, mask)| self.bits(index, |chunk| chunk.reading & mask) > 0)
    }

    /// True when some page of the range is dirty or on its way to storage.
    pub(super) fn is_unwritten(&self, range: &Range<u64>) -> bool {
        if self.dirty + self.writing == 0 {
            return false;
        }
        let mut held = self.chunks.range(range.start / IN_CHUNK..range.end.div_ceil(IN_CHUNK));
        held.any(|(index, chunk)| (chunk.dirty | chunk.writing) & mask_of(*index, range) != 0)
    }

    /// True when some page of the range is dirty.
    pub(super) fn is_dirty(&self, range: &Range<u64>) -> bool {
        let chunks = range.start / IN_CHUNK..range.end.div_ceil(IN_CHUNK);
        self.dirty_chunks.range(chunks).any(|index| self.chunks[index].dirty & mask_of(*index, range) != 0)
    }

    fn bits(&self, index: u64, of: impl Fn(&Chunk) -> u64) -> u64 {
        self.chunks.get(&index).map_or(0, |chunk| u64::from(of(chunk).count_ones()))
    }

    /// Appends the runs of a range that are neither present nor being read, each of at most `longest` pages.
    pub(super) fn missing(&self, range: &Range<u64>, longest: u64, runs: &mut Vec<Range<u64>>) {
        let mut run: Option<Range<u64>> = None;
        for (index, mask) in parts(range) {
            let there = self.chunks.get(&index).map_or(0, |chunk| chunk.present | chunk.reading);
            let mut left = mask & !there;
            while left != 0 {
                let first = u64::from(left.trailing_zeros());
                let length = u64::from((left >> first).trailing_ones());
                left &= !ones(first, length);
                let start = index * IN_CHUNK + first;
                match &mut run {
                    Some(run) if run.end == start => run.end += length,
                    other => cut(other.replace(start..start + length), longest, runs),
                }
            }
        }
        cut(run, longest, runs);
    }

    /// A read of these pages begins; those from `asked_end` on nobody asked for.
    pub(super) fn begin_read(&mut self, range: &Range<u64>, asked_end: u64) {
        self.change(range, true, |chunk, mask| chunk.reading |= mask);
        self.change(&(range.start.max(asked_end)..range.end), true, |chunk, mask| chunk.ahead |= mask);
    }

    /// They came.
    pub(super) fn end_read(&mut self, range: &Range<u64>) {
        self.change(range, true, |chunk, mask| {
            chunk.reading &= !mask;
            chunk.present |= mask;
        });
        self.evict();
    }

    /// They are asked for. What is there already is used again, but for what was read ahead.
    pub(super) fn touch(&mut self, range: &Range<u64>) {
        for (index, mask) in parts(range) {
            let Some(chunk) = self.chunks.get_mut(&index) else { continue };
            self.ahead_used += u64::from((chunk.ahead & mask).count_ones());
            let again = mask & chunk.present & !chunk.ahead & !chunk.used;
            self.used += u64::from(again.count_ones());
            chunk.used |= again;
            chunk.ahead &= !mask;
        }
    }

    /// They were written to in memory.
    pub(super) fn soil(&mut self, range: &Range<u64>) {
        self.touch(range);
        self.change(range, true, |chunk, mask| {
            chunk.present |= mask;
            chunk.dirty |= mask;
        });
        self.evict();
    }

    /// The first dirty pages of a range that storage can be given: neighbours, at most `longest`.
    pub(super) fn next_dirty(&self, range: &Range<u64>, longest: u64) -> Met {
        self.walk(range, longest, |chunk, mask| (chunk.dirty & mask, chunk.writing))
    }

    /// The same, passing over those that are being written.
    pub(super) fn next_idle_dirty(&self, range: &Range<u64>, longest: u64) -> Option<Range<u64>> {
        match self.walk(range, longest, |chunk, mask| (chunk.dirty & !chunk.writing & mask, chunk.writing)) {
            Met::Run(run) => Some(run),
            Met::Busy | Met::Clean => None,
        }
    }

    /// `wanted` says which pages of a chunk are looked for, and which must not be touched.
    fn walk(&self, range: &Range<u64>, longest: u64, wanted: impl Fn(&Chunk, u64) -> (u64, u64)) -> Met {
        let chunks = range.start / IN_CHUNK..range.end.div_ceil(IN_CHUNK);
        let mut run: Option<Range<u64>> = None;
        for &index in self.dirty_chunks.range(chunks) {
            let (wanted, busy) = wanted(&self.chunks[&index], mask_of(index, range));
            let start = match &run {
                Some(run) if run.end == index * IN_CHUNK => 0,
                Some(_) => break,
                None if wanted == 0 => continue,
                None => u64::from(wanted.trailing_zeros()),
            };
            let length = u64::from(((wanted & !busy) >> start).trailing_ones()).min(IN_CHUNK - start);
            let first = index * IN_CHUNK + start;
            match &mut run {
                Some(run) => run.end += length,
                None if length == 0 => return Met::Busy,
                None => run = Some(first..first + length),
            }
            let is_long = run.as_ref().is_some_and(|run| run.end - run.start >= longest);
            if is_long || start + length < IN_CHUNK {
                break;
            }
        }
        run.map_or(Met::Clean, |run| Met::Run(run.start..run.end.min(run.start + longest)))
    }

    /// They are on their way to storage, and clean unless they are written to again.
    pub(super) fn begin_write(&mut self, range: &Range<u64>) {
        self.change(range, false, |chunk, mask| {
            chunk.dirty &= !mask;
            chunk.writing |= mask;
        });
    }

    /// Storage has them.
    pub(super) fn end_write(&mut self, range: &Range<u64>) {
        self.change(range, false, |chunk, mask| chunk.writing &= !mask);
        self.evict();
    }

    /// They are in memory no more, whatever they held. What is under way goes on.
    pub(super) fn forget(&mut self, range: &Range<u64>) {
        if range.end - range.start > IN_CHUNK * self.chunks.len() as u64 {
            let chunks = range.start / IN_CHUNK..range.end.div_ceil(IN_CHUNK);
            let held: Vec<u64> = self.chunks.range(chunks).map(|(index, _)| *index).collect();
            for index in held {
                let chunk = index * IN_CHUNK..(index + 1) * IN_CHUNK;
                self.forget_in(&(chunk.start.max(range.start)..chunk.end.min(range.end)));
            }
        } else {
            self.forget_in(range);
        }
    }

    /// Clean pages are in memory no more; what somebody wrote meanwhile stays.
    pub(super) fn invalidate(&mut self, range: &Range<u64>) {
        self.change(range, false, |chunk, mask| {
            let leaving = mask & !chunk.dirty;
            chunk.present &= !leaving;
            chunk.used &= !leaving;
        });
    }

    fn forget_in(&mut self, range: &Range<u64>) {
        self.change(range, false, |chunk, mask| {
            chunk.present &= !mask;
            chunk.dirty &= !mask;
            chunk.used &= !mask;
            chunk.ahead &= !(mask & !chunk.reading);
        });
    }

    /// Makes room: moves the hand until memory holds all that is in it, or nothing more can leave.
    fn evict(&mut self) {
        // Once round for pages that were used once; where that is not enough, the others follow them.
        let round = self.hand.len();
        let mut places = 3 * round;
        while self.resident > self.room && places > 0 {
            places -= 1;
            let Some(index) = self.hand.pop_front() else { return };
            let chunk = self.chunks.get_mut(&index).expect("the hand points to what is there");
            let mut leaving = chunk.evictable();
            let excess = self.resident - self.room;
            while u64::from(leaving.count_ones()) > excess {
                leaving &= !(1 << leaving.ilog2());
            }
            let is_part = leaving != chunk.evictable();
            chunk.present &= !leaving;
            chunk.ahead &= !leaving;
            self.resident -= u64::from(leaving.count_ones());
            if is_part {
                self.hand.push_front(index);
                return;
            }
            if 2 * self.used > self.room || places < 2 * round {
                self.used -= u64::from(chunk.used.count_ones());
                chunk.used = 0;
            }
            if chunk.resident() == 0 {
                self.chunks.remove(&index);
            } else {
                self.hand.push_back(index);
            }
        }
    }
}

/// `length` ones from bit `first` on.
const fn ones(first: u64, length: u64) -> u64 {
    if length >= 64 { u64::MAX << first } else { ((1 << length) - 1) << first }
}

/// The pages of a chunk that are in a range.
fn mask_of(index: u64, range: &Range<u64>) -> u64 {
    let base = index * IN_CHUNK;
    let first = range.start.clamp(base, base + IN_CHUNK) - base;
    let end = range.end.clamp(base, base + IN_CHUNK) - base;
    if end <= first { 0 } else { ones(first, end - first) }
}

/// The chunks of a range with the pages of each.
fn parts(range: &Range<u64>) -> impl Iterator<Item = (u64, u64)> + use<> {
    let range = range.clone();
    let chunks = if range.is_empty() { 0..0 } else { range.start / IN_CHUNK..range.end.div_ceil(IN_CHUNK) };
    chunks.map(move |index| (index, mask_of(index, &range)))
}

/// Appends a run in pieces of at most `longest` pages.
fn cut(run: Option<Range<u64>>, longest: u64, runs: &mut Vec<Range<u64>>) {
    let Some(run) = run else { return };
    let mut start = run.start;
    while start < run.end {
        let end = run.end.min(start.saturating_add(longest.max(1)));
        runs.push(start..end);
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn runs_cross_maps_and_end_where_they_should() {
        let mut pages = Pages::new(1000);
        pages.soil(&(60..200));
        pages.soil(&(300..301));
        assert_eq!(pages.next_dirty(&(0..u64::MAX), 320), Met::Run(60..200));
        assert_eq!(pages.next_dirty(&(61..199), 320), Met::Run(61..199), "a walk stays in its range");
        assert_eq!(pages.next_dirty(&(0..u64::MAX), 32), Met::Run(60..92), "and takes no more than it is told");
        pages.begin_write(&(60..200));
        assert_eq!((pages.dirty(), pages.writing()), (1, 140));
        pages.soil(&(64..66));
        assert_eq!(pages.next_dirty(&(0..u64::MAX), 320), Met::Busy, "what is being written has to come back first");
        assert_eq!(pages.next_idle_dirty(&(0..u64::MAX), 320), Some(300..301));
        pages.end_write(&(60..200));
        assert_eq!(pages.next_dirty(&(0..u64::MAX), 320), Met::Run(64..66));
    }

    #[test]
    fn first_in_is_first_out_unless_it_is_used_again() {
        let mut pages = Pages::new(128);
        let read = |pages: &mut Pages, range: Range<u64>| {
            pages.begin_read(&range, range.end);
            pages.end_read(&range);
        };
        read(&mut pages, 0..64);
        read(&mut pages, 64..128);
        pages.touch(&(0..8));
        read(&mut pages, 128..144);
        assert_eq!((pages.present(&(0..8)), pages.present(&(8..24)), pages.present(&(24..128))), (8, 0, 104));
        pages.soil(&(24..64));
        read(&mut pages, 200..280);
        assert_eq!(pages.present(&(24..64)), 40, "dirty pages stay");
        assert_eq!(pages.resident(), 128);
    }

    #[test]
    fn a_scan_of_more_than_memory_holds_leaves_what_is_used_again() {
        let mut pages = Pages::new(640);
        let scan = |pages: &mut Pages, range: Range<u64>| {
            let mut hits = 0;
            for page in range {
                let page = page..page + 1;
                hits += pages.present(&page);
                pages.touch(&page);
                if pages.present(&page) == 0 {
                    pages.begin_read(&page, page.end);
                    pages.end_read(&page);
                }
            }
            hits
        };
        scan(&mut pages, 0..320);
        assert_eq!(scan(&mut pages, 0..320), 320);
        let kept: Vec<u64> = (0..4).map(|_| scan(&mut pages, 0..1280)).collect();
        assert!(kept.iter().all(|hits| (256..=640).contains(hits)), "a fifth and more of each scan: {kept:?}");
    }

    /// What is done to pages, and where.
    fn deed() -> impl Strategy<Value = (u8, u64, u64)> {
        (0..6_u8, 0..300_u64, 1..100_u64)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        /// The same deeds on sets of pages: nothing dirty is lost, and counts agree.
        #[test]
        fn maps_are_sets(deeds in prop::collection::vec(deed(), 1..60), room in 0..400_u64) {
            let mut pages = Pages::new(room);
            let (mut dirty, mut writing) = (BTreeSet::new(), BTreeSet::new());
            for (what, start, length) in deeds {
                let range = start..start + length;
                match what {
                    0 => {
                        let mut runs = Vec::new();
                        pages.missing(&range, 7, &mut runs);
                        for run in runs {
                            prop_assert!(run.end - run.start <= 7 && pages.present(&run) == 0);
                            pages.begin_read(&run, start + length / 2);
                            pages.end_read(&run);
                        }
                    }
                    1 => {
                        pages.soil(&range);
                        dirty.extend(range.clone());
                    }
                    2 => if let Some(run) = pages.next_idle_dirty(&range, length) {
                        prop_assert!(run.clone().all(|page| dirty.remove(&page) && writing.insert(page)));
                        pages.begin_write(&run);
                    },
                    3 => {
                        pages.end_write(&range);
                        writing.retain(|page| !range.contains(page));
                    }
                    4 => {
                        pages.forget(&range);
                        dirty.retain(|page| !range.contains(page));
                        prop_assert_eq!(pages.present(&range), 0);
                    }
                    _ => pages.touch(&range),
                }
                prop_assert_eq!((pages.dirty(), pages.writing()), (dirty.len() as u64, writing.len() as u64));
                prop_assert_eq!(pages.is_dirty(&range), dirty.range(range.clone()).next().is_some());
                let unwritten = dirty.union(&writing).any(|page| range.contains(page));
                prop_assert_eq!(pages.is_unwritten(&range), unwritten);
                let pinned = dirty.union(&writing).count() as u64;
                prop_assert!(pages.resident() <= room.max(pinned));
            }
            let chunks: u64 = pages.chunks.values().map(|chunk| u64::from(chunk.resident().count_ones())).sum();
            prop_assert_eq!(chunks, pages.resident());
        }
    }
}

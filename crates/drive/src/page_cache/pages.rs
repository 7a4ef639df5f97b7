//! The state of each page in memory: bit maps of 64 pages, kept only for pages in memory.
//!
//! Pages are numbered from the start of the space.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// Pages of one bit map.
const IN_CHUNK: u64 = 64;

/// 64 neighbouring pages, one bit each.
#[derive(Clone, Copy, Debug, Default)]
struct Chunk {
    /// Data are in memory.
    present: u64,
    /// Being read.
    reading: u64,
    /// Data are newer than on storage.
    dirty: u64,
    /// Being written back.
    writing: u64,
    /// Accessed again after the first access: Linux's active list.
    used: u64,
    /// Read ahead and not yet requested.
    ahead: u64,
    /// Number of its present entry in the eviction order.
    entry: u64,
}

impl Chunk {
    const fn resident(&self) -> u64 {
        self.present | self.reading | self.writing
    }

    const fn evictable(&self) -> u64 {
        self.present & !(self.reading | self.dirty | self.writing | self.used)
    }
}

/// The pages in memory, in two lists as in Linux (`mm/vmscan.c`). Pages accessed once leave in the order in which their
/// neighbourhoods came. Pages accessed again stay while they are at most half of memory, so that a scan larger than
/// memory does not evict the whole working set (2Q, Johnson and Shasha 1994). 64 neighbours share a position in the
/// order: that of the page that came last.
#[derive(Clone, Debug)]
pub(super) struct CachePages {
    chunks: BTreeMap<u64, Chunk>,
    /// Chunks with dirty pages.
    dirty_chunks: BTreeSet<u64>,
    /// Chunks in eviction order, with the number of the entry; entries that are not the present one of their chunk are
    /// void.
    hand: VecDeque<(u64, u64)>,
    entries: u64,
    /// Capacity in pages.
    room: u64,
    resident: u64,
    dirty: u64,
    writing: u64,
    /// Pages accessed again.
    used: u64,
    /// Pages that were read ahead and then requested.
    pub(super) ahead_used: u64,
}

/// First result of a walk over dirty pages.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DirtyRun {
    /// Neighbouring dirty pages that are not being written.
    Run(Range<u64>),
    /// A page that is being written and dirty again.
    Busy,
    /// No dirty pages.
    Clean,
}

impl CachePages {
    pub(super) const fn new(room: u64) -> Self {
        Self {
            chunks: BTreeMap::new(),
            dirty_chunks: BTreeSet::new(),
            hand: VecDeque::new(),
            entries: 0,
            room,
            resident: 0,
            dirty: 0,
            writing: 0,
            used: 0,
            ahead_used: 0,
        }
    }

    /// Dirty pages that are not being written.
    pub(super) const fn dirty(&self) -> u64 {
        self.dirty
    }

    /// Pages being written, including those that are dirty again.
    pub(super) const fn writing(&self) -> u64 {
        self.writing
    }

    /// Pages in memory or being read.
    #[cfg(test)]
    pub(super) const fn resident(&self) -> u64 {
        self.resident
    }

    /// Changes the pages of a range and updates the counts. `makes`: create missing chunks.
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
            self.chunks.insert(index, after);
            if makes && (before.entry == 0 || after.resident() & !before.resident() != 0) {
                self.enlist(index);
            }
        }
    }

    /// Puts a chunk at the end of the eviction order.
    fn enlist(&mut self, index: u64) {
        let chunk = self.chunks.get_mut(&index).expect("only existing chunks are listed");
        if self.hand.back() == Some(&(index, chunk.entry)) {
            return;
        }
        self.entries += 1;
        chunk.entry = self.entries;
        self.hand.push_back((index, self.entries));
        if self.hand.len() > 2 * self.chunks.len() + 64 {
            let chunks = &self.chunks;
            self.hand.retain(|(index, entry)| chunks.get(index).is_some_and(|chunk| chunk.entry == *entry));
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

    /// Number of pages of a range that are present.
    pub(super) fn present(&self, range: &Range<u64>) -> u64 {
        parts(range).map(|(index, mask)| self.bits(index, |chunk| chunk.present & mask)).sum()
    }

    /// True if some page of the range is being read.
    pub(super) fn is_reading(&self, range: &Range<u64>) -> bool {
        parts(range).any(|(index, mask)| self.bits(index, |chunk| chunk.reading & mask) > 0)
    }

    /// True if some page of the range is dirty or being written.
    pub(super) fn is_unwritten(&self, range: &Range<u64>) -> bool {
        if self.dirty + self.writing == 0 {
            return false;
        }
        let mut cached_chunks = self.chunks.range(range.start / IN_CHUNK..range.end.div_ceil(IN_CHUNK));
        cached_chunks.any(|(index, chunk)| (chunk.dirty | chunk.writing) & mask_of(*index, range) != 0)
    }

    /// True if some page of the range is dirty.
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

    /// Starts a read of these pages; those from `asked_end` on are read-ahead.
    pub(super) fn begin_read(&mut self, range: &Range<u64>, asked_end: u64) {
        self.change(range, true, |chunk, mask| chunk.reading |= mask);
        self.change(&(range.start.max(asked_end)..range.end), true, |chunk, mask| chunk.ahead |= mask);
    }

    /// Completes a read.
    pub(super) fn end_read(&mut self, range: &Range<u64>) {
        self.change(range, true, |chunk, mask| {
            chunk.reading &= !mask;
            chunk.present |= mask;
        });
        self.evict();
    }

    /// Records a request: pages that are present count as accessed again, except after read-ahead.
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

    /// Records a write in memory.
    pub(super) fn mark_dirty(&mut self, range: &Range<u64>) {
        self.touch(range);
        self.change(range, true, |chunk, mask| {
            chunk.present |= mask;
            chunk.dirty |= mask;
        });
        self.evict();
    }

    /// The first dirty pages of a range that can be submitted: neighbours, at most `longest`.
    pub(super) fn next_dirty(&self, range: &Range<u64>, longest: u64) -> DirtyRun {
        self.walk(range, longest, |chunk, mask| (chunk.dirty & mask, chunk.writing))
    }

    /// As [`Self::next_dirty`], but skips pages that are being written.
    pub(super) fn next_idle_dirty(&self, range: &Range<u64>, longest: u64) -> Option<Range<u64>> {
        match self.walk(range, longest, |chunk, mask| (chunk.dirty & !chunk.writing & mask, chunk.writing)) {
            DirtyRun::Run(run) => Some(run),
            DirtyRun::Busy | DirtyRun::Clean => None,
        }
    }

    /// `select` returns the pages of a chunk to find, and the pages to avoid.
    fn walk(&self, range: &Range<u64>, longest: u64, select: impl Fn(&Chunk, u64) -> (u64, u64)) -> DirtyRun {
        let chunks = range.start / IN_CHUNK..range.end.div_ceil(IN_CHUNK);
        let mut run: Option<Range<u64>> = None;
        for &index in self.dirty_chunks.range(chunks) {
            let (selected, busy) = select(&self.chunks[&index], mask_of(index, range));
            let start = match &run {
                Some(run) if run.end == index * IN_CHUNK => 0,
                Some(_) => break,
                None if selected == 0 => continue,
                None => u64::from(selected.trailing_zeros()),
            };
            let length = u64::from(((selected & !busy) >> start).trailing_ones()).min(IN_CHUNK - start);
            let first = index * IN_CHUNK + start;
            match &mut run {
                Some(run) => run.end += length,
                None if length == 0 => return DirtyRun::Busy,
                None => run = Some(first..first + length),
            }
            let is_long = run.as_ref().is_some_and(|run| run.end - run.start >= longest);
            if is_long || start + length < IN_CHUNK {
                break;
            }
        }
        run.map_or(DirtyRun::Clean, |run| DirtyRun::Run(run.start..run.end.min(run.start + longest)))
    }

    /// Starts a write: the pages become clean until written again.
    pub(super) fn begin_write(&mut self, range: &Range<u64>) {
        self.change(range, false, |chunk, mask| {
            chunk.dirty &= !mask;
            chunk.writing |= mask;
        });
    }

    /// Completes a write.
    pub(super) fn end_write(&mut self, range: &Range<u64>) {
        self.change(range, false, |chunk, mask| chunk.writing &= !mask);
        self.evict();
    }

    /// Drops pages, clean or dirty. I/O in flight continues.
    pub(super) fn drop_pages(&mut self, range: &Range<u64>) {
        if range.end - range.start > IN_CHUNK * self.chunks.len() as u64 {
            let chunks = range.start / IN_CHUNK..range.end.div_ceil(IN_CHUNK);
            let indices: Vec<u64> = self.chunks.range(chunks).map(|(index, _)| *index).collect();
            for index in indices {
                let chunk = index * IN_CHUNK..(index + 1) * IN_CHUNK;
                self.drop_chunk_pages(&(chunk.start.max(range.start)..chunk.end.min(range.end)));
            }
        } else {
            self.drop_chunk_pages(range);
        }
    }

    /// Drops clean pages; pages dirtied meanwhile stay.
    pub(super) fn invalidate(&mut self, range: &Range<u64>) {
        self.change(range, false, |chunk, mask| {
            let leaving = mask & !chunk.dirty;
            chunk.present &= !leaving;
            chunk.used &= !leaving;
        });
    }

    fn drop_chunk_pages(&mut self, range: &Range<u64>) {
        self.change(range, false, |chunk, mask| {
            chunk.present &= !mask;
            chunk.dirty &= !mask;
            chunk.used &= !mask;
            chunk.ahead &= !(mask & !chunk.reading);
        });
    }

    /// Evicts chunks in order until memory fits, or until no page can leave.
    fn evict(&mut self) {
        // The first round takes pages accessed once; the following rounds also take the others.
        let round = self.hand.len();
        let mut places = 3 * round;
        while self.resident > self.room && places > 0 {
            places -= 1;
            let Some((index, entry)) = self.hand.pop_front() else { return };
            let Some(chunk) = self.chunks.get_mut(&index).filter(|chunk| chunk.entry == entry) else { continue };
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
                self.hand.push_front((index, entry));
                return;
            }
            if 2 * self.used > self.room || places < 2 * round {
                self.used -= u64::from(chunk.used.count_ones());
                chunk.used = 0;
            }
            if chunk.resident() == 0 {
                self.chunks.remove(&index);
            } else {
                self.hand.push_back((index, entry));
            }
        }
    }
}

/// `length` one bits from bit `first` on.
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

/// The chunks of a range with the mask of each.
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
    fn runs_cross_chunks_and_respect_range_and_length() {
        let mut pages = CachePages::new(1000);
        pages.mark_dirty(&(60..200));
        pages.mark_dirty(&(300..301));
        assert_eq!(pages.next_dirty(&(0..u64::MAX), 320), DirtyRun::Run(60..200));
        assert_eq!(pages.next_dirty(&(61..199), 320), DirtyRun::Run(61..199), "a walk stays in its range");
        assert_eq!(pages.next_dirty(&(0..u64::MAX), 32), DirtyRun::Run(60..92), "and its maximum length");
        pages.begin_write(&(60..200));
        assert_eq!((pages.dirty(), pages.writing()), (1, 140));
        pages.mark_dirty(&(64..66));
        assert_eq!(pages.next_dirty(&(0..u64::MAX), 320), DirtyRun::Busy, "pages being written block the walk");
        assert_eq!(pages.next_idle_dirty(&(0..u64::MAX), 320), Some(300..301));
        pages.end_write(&(60..200));
        assert_eq!(pages.next_dirty(&(0..u64::MAX), 320), DirtyRun::Run(64..66));
    }

    #[test]
    fn eviction_is_fifo_except_for_pages_accessed_again() {
        let mut pages = CachePages::new(128);
        let read = |pages: &mut CachePages, range: Range<u64>| {
            pages.begin_read(&range, range.end);
            pages.end_read(&range);
        };
        read(&mut pages, 0..64);
        read(&mut pages, 64..128);
        pages.touch(&(0..8));
        read(&mut pages, 128..144);
        assert_eq!((pages.present(&(0..8)), pages.present(&(8..24)), pages.present(&(24..128))), (8, 0, 104));
        pages.mark_dirty(&(24..64));
        read(&mut pages, 200..280);
        assert_eq!(pages.present(&(24..64)), 40, "dirty pages stay");
        assert_eq!(pages.resident(), 128);
    }

    #[test]
    fn a_scan_larger_than_memory_keeps_a_part_of_the_active_pages() {
        let mut pages = CachePages::new(640);
        let scan = |pages: &mut CachePages, range: Range<u64>| {
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
        let scan_hits: Vec<u64> = (0..4).map(|_| scan(&mut pages, 0..1280)).collect();
        assert!(
            scan_hits.iter().all(|hits| (256..=640).contains(hits)),
            "a fifth and more of each scan: {scan_hits:?}"
        );
    }

    /// An operation on pages: its kind, first page and length.
    fn action() -> impl Strategy<Value = (u8, u64, u64)> {
        (0..6_u8, 0..300_u64, 1..100_u64)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        /// Compares the bit maps with sets of pages: no dirty page is lost, and counts agree.
        #[test]
        fn bit_maps_agree_with_sets(actions in prop::collection::vec(action(), 1..60), room in 0..400_u64) {
            let mut pages = CachePages::new(room);
            let (mut dirty, mut writing) = (BTreeSet::new(), BTreeSet::new());
            for (kind, start, length) in actions {
                let range = start..start + length;
                match kind {
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
                        pages.mark_dirty(&range);
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
                        pages.drop_pages(&range);
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

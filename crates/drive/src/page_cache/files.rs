//! Layout of files in the space, how far each was written, and the order of their write-back.

use std::ops::Range;

use plimsoll_load::Region;
use plimsoll_units::{Instant, Span};

use super::PAGE;
use super::pages::CachePages;

/// Pages of a file that are written back before the next file gets its turn: 4 MiB, as Linux's `MIN_WRITEBACK_PAGES`.
const TURN: u64 = 1024;

/// A stretch of the space with its own flush, expiry and read-ahead.
#[derive(Clone, Debug)]
struct File {
    /// Its first page.
    start: u64,
    /// The page after its last one.
    end: u64,
    /// First page of the next file: the gap belongs to this file.
    next: u64,
    /// End of the pages ever written; partial writes beyond it need no read of the page.
    written: u64,
    /// When its first dirty page became dirty; kept per file, as in Linux.
    dirty_since: Option<Instant>,
    /// It is old enough to be written back.
    expired: bool,
    /// The page from which write-back continues.
    cursor: u64,
}

/// All files, ordered by place.
#[derive(Clone, Debug)]
pub(super) struct CachedFiles {
    places: Vec<File>,
    /// Index of the file that is written back.
    turn: usize,
    /// Pages left of its turn.
    left: u64,
    /// Number of files that are old enough to be written back.
    expired: usize,
}

impl CachedFiles {
    /// A single file that covers the space and is fully written.
    pub(super) fn unknown() -> Self {
        let end = u64::MAX / PAGE;
        Self::of(vec![File { written: end, ..File::new(0, end, end) }])
    }

    /// New, unwritten files at these places, which begin at whole pages and do not overlap.
    pub(super) fn at(regions: &[Region]) -> Self {
        let mut bounds: Vec<(u64, u64)> = regions
            .iter()
            .map(|region| (region.start / PAGE, (region.start + region.length.get()).div_ceil(PAGE)))
            .collect();
        bounds.sort_unstable();
        // An empty file that shares its start with the next one disappears.
        bounds.reverse();
        bounds.dedup_by_key(|(start, _)| *start);
        bounds.reverse();
        if bounds.is_empty() {
            return Self::unknown();
        }
        let nexts = bounds.iter().skip(1).map(|(start, _)| *start).chain([u64::MAX / PAGE]);
        Self::of(bounds.iter().zip(nexts).map(|(&(start, end), next)| File::new(start, end.min(next), next)).collect())
    }

    const fn of(places: Vec<File>) -> Self {
        Self { places, turn: 0, left: TURN, expired: 0 }
    }

    /// The index of the file that contains a page.
    pub(super) fn number(&self, page: u64) -> usize {
        self.places.partition_point(|file| file.start <= page).saturating_sub(1)
    }

    /// Pages of a file and of the gap after it.
    pub(super) fn range(&self, number: usize) -> Range<u64> {
        let file = &self.places[number];
        let start = if number == 0 { 0 } else { file.start };
        start..file.next
    }

    /// First page, and the page after the last one.
    pub(super) fn bounds(&self, number: usize) -> Range<u64> {
        self.places[number].start..self.places[number].end
    }

    /// True if the page has data that a partial write must keep.
    pub(super) fn holds(&self, page: u64) -> bool {
        page < self.places[self.number(page)].written
    }

    /// Records a buffered write.
    pub(super) fn mark_dirty(&mut self, range: &Range<u64>, now: Instant) {
        let number = self.number(range.start);
        let file = &mut self.places[number];
        file.written = file.written.max(range.end);
        file.dirty_since.get_or_insert(now);
    }

    /// Records a direct write.
    pub(super) fn mark_written(&mut self, range: &Range<u64>) {
        let number = self.number(range.start);
        let file = &mut self.places[number];
        file.written = file.written.max(range.end);
    }

    /// Resets the written extent: partial writes in the range need no read.
    pub(super) fn truncate(&mut self, range: &Range<u64>) {
        for file in self.places.iter_mut().filter(|file| file.start < range.end && range.start < file.next) {
            file.written = file.start;
        }
    }

    /// Updates the dirty age after a file, or a part of it, was written back.
    pub(super) fn flushed(&mut self, number: usize, now: Instant, pages: &CachePages) {
        let is_dirty = pages.is_dirty(&self.range(number));
        let file = &mut self.places[number];
        file.dirty_since = is_dirty.then(|| file.dirty_since.unwrap_or(now));
    }

    /// Marks files that have been dirty for `age`.
    pub(super) fn expire(&mut self, now: Instant, age: Span) {
        for file in &mut self.places {
            let is_old = file.dirty_since.is_some_and(|since| now.since(since) >= age);
            self.expired += usize::from(is_old && !file.expired);
            file.expired |= is_old;
        }
    }

    /// Some file is old enough to be written back.
    pub(super) const fn any_expired(&self) -> bool {
        self.expired > 0
    }

    /// The next pages to write back, at most `longest`: of any file if `all`, else of expired files.
    pub(super) fn next(&mut self, all: bool, now: Instant, pages: &CachePages, longest: u64) -> Option<Range<u64>> {
        for _ in 0..=self.places.len() {
            if !all && self.expired == 0 {
                return None;
            }
            let extent = self.range(self.turn);
            let file = &mut self.places[self.turn];
            if (all || file.expired) && self.left > 0 {
                let max = longest.min(self.left);
                let cursor = file.cursor.clamp(extent.start, extent.end);
                let is_dirty = file.dirty_since.is_some();
                let run = is_dirty.then(|| pages.next_idle_dirty(&(cursor..extent.end), max)).flatten();
                let again = || is_dirty.then(|| pages.next_idle_dirty(&(extent.start..cursor), max)).flatten();
                if let Some(run) = run.or_else(again) {
                    file.cursor = run.end;
                    self.left -= run.end - run.start;
                    return Some(run);
                }
                // All dirty pages are being written, or were dirtied again meanwhile.
                self.expired -= usize::from(file.expired);
                file.expired = false;
                file.dirty_since = (is_dirty && pages.is_dirty(&extent)).then_some(now);
            }
            self.turn = (self.turn + 1) % self.places.len();
            self.left = TURN;
        }
        None
    }
}

impl File {
    const fn new(start: u64, end: u64, next: u64) -> Self {
        Self { start, end, next, written: start, dirty_since: None, expired: false, cursor: start }
    }
}

//! Where files lie in the space, how far each was written, and whose turn it is to be written back.
//!
//! Knows nothing about which pages are in memory.

use std::ops::Range;

use plimsoll_load::Region;
use plimsoll_units::{Instant, Span};

use super::PAGE;
use super::pages::Pages;

/// Pages of one file that are written back before the next one has its turn: 4 MiB, as Linux's `MIN_WRITEBACK_PAGES`.
const TURN: u64 = 1024;

/// A stretch of the space that is flushed, aged and read ahead on its own.
#[derive(Clone, Debug)]
struct File {
    /// Its first page.
    start: u64,
    /// The page after its last one.
    end: u64,
    /// The page of the next file: what lies between belongs to this one.
    next: u64,
    /// Pages that were ever written; what lies behind them needs not be read before a part of it is written.
    written: u64,
    /// When its oldest dirty page became so, as far as that is kept: once for a file, as Linux does.
    dirty_since: Option<Instant>,
    /// It is old enough to be written back.
    expired: bool,
    /// Where writing it back goes on.
    cursor: u64,
}

/// All files, in the order of their places.
#[derive(Clone, Debug)]
pub(super) struct Files {
    places: Vec<File>,
    /// Whose turn it is.
    turn: usize,
    /// Pages that are left of its turn.
    left: u64,
    /// How many are old enough to be written back.
    expired: usize,
}

impl Files {
    /// One file everywhere that was always there.
    pub(super) fn unknown() -> Self {
        let end = u64::MAX / PAGE;
        Self::of(vec![File { written: end, ..File::new(0, end, end) }])
    }

    /// New files at these places, which begin at whole pages and do not overlap.
    pub(super) fn laid(regions: &[Region]) -> Self {
        let mut bounds: Vec<(u64, u64)> = regions
            .iter()
            .map(|region| (region.start / PAGE, (region.start + region.length.get()).div_ceil(PAGE)))
            .collect();
        bounds.sort_unstable();
        // Of an empty file nothing is left but the next one's place.
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

    /// The number of the file that a page is in.
    pub(super) fn number(&self, page: u64) -> usize {
        self.places.partition_point(|file| file.start <= page).saturating_sub(1)
    }

    /// Pages of a file, and of the gap behind it.
    pub(super) fn range(&self, number: usize) -> Range<u64> {
        let file = &self.places[number];
        let start = if number == 0 { 0 } else { file.start };
        start..file.next
    }

    /// Its first page, and the one after its last.
    pub(super) fn bounds(&self, number: usize) -> Range<u64> {
        self.places[number].start..self.places[number].end
    }

    /// True when the page has data that a write of a part of it must keep.
    pub(super) fn holds(&self, page: u64) -> bool {
        page < self.places[self.number(page)].written
    }

    /// Pages were written to in memory.
    pub(super) fn soiled(&mut self, range: &Range<u64>, now: Instant) {
        let number = self.number(range.start);
        let file = &mut self.places[number];
        file.written = file.written.max(range.end);
        file.dirty_since.get_or_insert(now);
    }

    /// Pages were written past memory.
    pub(super) fn reached(&mut self, range: &Range<u64>) {
        let number = self.number(range.start);
        let file = &mut self.places[number];
        file.written = file.written.max(range.end);
    }

    /// What is there now is new: nothing of it has to be kept.
    pub(super) fn renewed(&mut self, range: &Range<u64>) {
        for file in self.places.iter_mut().filter(|file| file.start < range.end && range.start < file.next) {
            file.written = file.start;
        }
    }

    /// A file was written back, or a part of it.
    pub(super) fn flushed(&mut self, number: usize, now: Instant, pages: &Pages) {
        let is_dirty = pages.is_dirty(&self.range(number));
        let file = &mut self.places[number];
        file.dirty_since = is_dirty.then(|| file.dirty_since.unwrap_or(now));
    }

    /// Looks for files that have been dirty for `age`.
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

    /// The next pages to write back, at most `longest`: of any file when `all`, else of those that are old enough.
    pub(super) fn next(&mut self, all: bool, now: Instant, pages: &Pages, longest: u64) -> Option<Range<u64>> {
        for _ in 0..=self.places.len() {
            if !all && self.expired == 0 {
                return None;
            }
            let whole = self.range(self.turn);
            let file = &mut self.places[self.turn];
            if (all || file.expired) && self.left > 0 {
                let most = longest.min(self.left);
                let cursor = file.cursor.clamp(whole.start, whole.end);
                let is_dirty = file.dirty_since.is_some();
                let run = is_dirty.then(|| pages.next_idle_dirty(&(cursor..whole.end), most)).flatten();
                let again = || is_dirty.then(|| pages.next_idle_dirty(&(whole.start..cursor), most)).flatten();
                if let Some(run) = run.or_else(again) {
                    file.cursor = run.end;
                    self.left -= run.end - run.start;
                    return Some(run);
                }
                // Whatever is dirty is being written, and dirty anew.
                self.expired -= usize::from(file.expired);
                file.expired = false;
                file.dirty_since = (is_dirty && pages.is_dirty(&whole)).then_some(now);
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

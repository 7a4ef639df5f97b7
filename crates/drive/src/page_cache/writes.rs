//! Writes that end in memory, and how what they leave there is written back: when much of it is dirty, when it is old,
//! and when somebody waits for it.
//!
//! Knows nothing about reading ahead.

use std::ops::Range;

use plimsoll_model::{Model, Stage};
use plimsoll_units::{Bytes, Instant, Kind, Op};

use super::pages::Met;
use super::{Below, Cached, Event, PAGE, bytes_of, pages_of};

/// An operation that goes on when pages are written back.
#[derive(Clone, Debug)]
pub(super) struct PageWait {
    number: u32,
    range: Range<u64>,
    /// The next page that it looks at.
    cursor: u64,
    /// It waits for what was begun before this one; none while it still looks.
    until: Option<u64>,
}

impl<M: Model> Cached<M> {
    pub(super) fn write(&mut self, now: Instant, number: u32) {
        let op = self.asked[number as usize].op;
        let range = pages_of(op.offset, op.length.into());
        let end = op.offset + u64::from(op.length);
        let edges =
            [(range.start, !op.offset.is_multiple_of(PAGE)), (range.end.saturating_sub(1), !end.is_multiple_of(PAGE))];
        for (page, is_partial) in edges {
            // A part of a page is written into what the page held, if it held anything.
            if is_partial && self.files.holds(page) {
                self.request(now, page..page + 1, &range, op.stream);
            }
        }
        if self.pages.is_reading(&range) {
            self.await_reads(number, &range);
        }
        if self.asked[number as usize].waits == 0 {
            self.copy(now, number);
        }
    }

    /// The bytes of a write are in memory.
    pub(super) fn taken(&mut self, now: Instant, number: u32) {
        let op = self.asked[number as usize].op;
        let range = pages_of(op.offset, op.length.into());
        self.pages.soil(&range);
        self.files.soiled(&range, now);
        if !self.looks && !self.settings.looks.is_zero() {
            self.looks = true;
            self.enter(now + self.settings.looks, Event::Look);
        }
        if op.kind == Kind::DurableWrite {
            // The model has the data of it by writing back, and is then asked to keep them.
            self.asked[number as usize].op = Op { length: 0, kind: Kind::Flush, ..op };
            self.sync(number, range);
        } else if self.is_over() {
            self.held.push_back((number, now));
        } else {
            self.answer(now, number);
        }
    }

    /// More is dirty or on its way than may be.
    fn is_over(&self) -> bool {
        let (limit, _) = self.settings.limits(PAGE);
        self.pages.dirty() + self.pages.writing() > limit
    }

    pub(super) fn flush(&mut self, now: Instant, number: u32) {
        let file = self.files.number(self.asked[number as usize].op.offset / PAGE);
        let range = self.files.range(file);
        if self.pages.is_unwritten(&range) {
            self.sync(number, range);
        } else {
            self.pass(now, number);
        }
    }

    /// Lets an operation wait until these pages are written back; it then goes on to the model.
    pub(super) fn sync(&mut self, number: u32, range: Range<u64>) {
        self.syncs.push(PageWait { number, cursor: range.start, range, until: None });
    }

    pub(super) fn look(&mut self, now: Instant) {
        self.files.expire(now, self.settings.expires);
        self.looks = self.pages.dirty() > 0;
        if self.looks {
            self.enter(now + self.settings.looks, Event::Look);
        }
    }

    /// Begins to write back what has to be, and lets go on what waited for it.
    pub(super) fn write_back(&mut self, now: Instant) {
        let (_, background) = self.settings.limits(PAGE);
        let longest = (self.settings.largest.get() / PAGE).max(1);
        while self.backs.len() < self.settings.depth.max(1) as usize {
            let all = self.pages.dirty() > background;
            if self.syncs.is_empty() && !all && !self.files.any_expired() {
                break;
            }
            let run = self.next_of_syncs(now, longest);
            let Some(run) = run.or_else(|| self.files.next(all, now, &self.pages, longest)) else { break };
            self.begin_back(now, run);
        }
        self.end_syncs(now);
    }

    /// What the next of those who wait wants to be written, in turns.
    fn next_of_syncs(&mut self, now: Instant, longest: u64) -> Option<Range<u64>> {
        for _ in 0..self.syncs.len() {
            self.turn = (self.turn + 1) % self.syncs.len();
            let sync = &mut self.syncs[self.turn];
            if sync.until.is_some() {
                continue;
            }
            match self.pages.next_dirty(&(sync.cursor..sync.range.end), longest) {
                Met::Run(run) => {
                    sync.cursor = run.end;
                    return Some(run);
                }
                Met::Busy => {}
                Met::Clean => {
                    sync.until = Some(self.back);
                    let file = self.files.number(sync.range.start);
                    self.files.flushed(file, now, &self.pages);
                }
            }
        }
        None
    }

    fn begin_back(&mut self, now: Instant, run: Range<u64>) {
        self.pages.begin_write(&run);
        let length = bytes_of(&run);
        self.seen.written_back = Bytes::new(self.seen.written_back.get() + u64::from(length));
        self.seen.write_backs += 1;
        let op = Op { offset: run.start * PAGE, length, kind: Kind::Write, stream: 0 };
        let number = self.back;
        self.back += 1;
        self.backs.insert(number, run);
        self.ask(now, &op, Below::Back(number));
    }

    pub(super) fn back_came(&mut self, now: Instant, number: u64, bound_by: Stage) {
        if let Some(run) = self.backs.remove(&number) {
            self.pages.end_write(&run);
        }
        for index in 0..self.syncs.len() {
            let asked = self.syncs[index].number;
            self.waited(asked, bound_by);
        }
        while !self.is_over() {
            let Some((number, since)) = self.held.pop_front() else { break };
            self.seen.held += now.since(since);
            self.waited(number, bound_by);
            self.answer(now, number);
        }
    }

    /// Lets those go on whose pages storage has.
    fn end_syncs(&mut self, now: Instant) {
        let mut index = 0;
        while index < self.syncs.len() {
            let PageWait { number, range, until, .. } = &self.syncs[index];
            let touches = |back: &Range<u64>| back.start < range.end && range.start < back.end;
            let is_done = until.is_some_and(|until| !self.backs.range(..until).any(|(_, back)| touches(back)));
            if is_done {
                let number = *number;
                self.syncs.remove(index);
                self.pass(now, number);
            } else {
                index += 1;
            }
        }
    }
}

//! Buffered writes and their write-back: above the background threshold, by age, and on demand of a waiting operation.

use std::ops::Range;

use plimsoll_model::{Model, Stage};
use plimsoll_units::{Bytes, Instant, Kind, Op};

use super::pages::DirtyRun;
use super::{CacheEvent, Cached, ModelRequest, PAGE, bytes_of, pages_of};

/// An operation that continues when pages have been written back.
#[derive(Clone, Debug)]
pub(super) struct PageWait {
    number: u32,
    range: Range<u64>,
    /// The next page to examine.
    cursor: u64,
    /// The walk is complete, and the operation waits for write-back operations with lower numbers.
    until: Option<u64>,
}

impl<M: Model> Cached<M> {
    pub(super) fn write(&mut self, now: Instant, number: u32) {
        let op = self.pending[number as usize].op;
        let range = pages_of(op.offset, op.length.into());
        let end = op.offset + u64::from(op.length);
        let edges =
            [(range.start, !op.offset.is_multiple_of(PAGE)), (range.end.saturating_sub(1), !end.is_multiple_of(PAGE))];
        for (page, is_partial) in edges {
            // A partial write of a page with data reads the page first.
            if is_partial && self.files.holds(page) {
                self.request(now, page..page + 1, &range, op.stream);
            }
        }
        if self.pages.is_reading(&range) {
            self.await_reads(number, &range);
        }
        if self.pending[number as usize].waits == 0 {
            self.copy(now, number);
        }
    }

    /// The bytes of a write have been copied to memory.
    pub(super) fn write_copied(&mut self, now: Instant, number: u32) {
        let op = self.pending[number as usize].op;
        let range = pages_of(op.offset, op.length.into());
        self.pages.mark_dirty(&range);
        self.files.mark_dirty(&range, now);
        if !self.scan_scheduled && !self.settings.scan_interval.is_zero() {
            self.scan_scheduled = true;
            self.schedule(now + self.settings.scan_interval, CacheEvent::Scan);
        }
        if op.kind == Kind::DurableWrite {
            // Write-back gives the model the data; a flush then makes them durable.
            self.pending[number as usize].op = Op { length: 0, kind: Kind::Flush, ..op };
            self.sync(number, range);
        } else if self.is_over() {
            self.throttled.push_back((number, now));
        } else {
            self.answer(now, number);
        }
    }

    /// Dirty pages and pages in write-back exceed the limit.
    fn is_over(&self) -> bool {
        let (limit, _) = self.settings.limits(PAGE);
        self.pages.dirty() + self.pages.writing() > limit
    }

    pub(super) fn flush(&mut self, now: Instant, number: u32) {
        let file = self.files.number(self.pending[number as usize].op.offset / PAGE);
        let range = self.files.range(file);
        if self.pages.is_unwritten(&range) {
            self.sync(number, range);
        } else {
            self.forward(now, number);
        }
    }

    /// Makes an operation wait until these pages are written back; it is then submitted to the model.
    pub(super) fn sync(&mut self, number: u32, range: Range<u64>) {
        self.syncs.push(PageWait { number, cursor: range.start, range, until: None });
    }

    pub(super) fn scan(&mut self, now: Instant) {
        self.files.expire(now, self.settings.expires);
        self.scan_scheduled = self.pages.dirty() > 0;
        if self.scan_scheduled {
            self.schedule(now + self.settings.scan_interval, CacheEvent::Scan);
        }
    }

    /// Starts the necessary write-back, and continues the operations that waited for it.
    pub(super) fn write_back(&mut self, now: Instant) {
        let (_, background) = self.settings.limits(PAGE);
        let longest = (self.settings.largest.get() / PAGE).max(1);
        while self.write_backs.len() < self.settings.depth.max(1) as usize {
            let all = self.pages.dirty() > background;
            if self.syncs.is_empty() && !all && !self.files.any_expired() {
                break;
            }
            let run = self.next_of_syncs(now, longest);
            let Some(run) = run.or_else(|| self.files.next(all, now, &self.pages, longest)) else { break };
            self.begin_write_back(now, run);
        }
        self.end_syncs(now);
    }

    /// The next pages that a waiting operation needs written, round robin.
    fn next_of_syncs(&mut self, now: Instant, longest: u64) -> Option<Range<u64>> {
        for _ in 0..self.syncs.len() {
            self.turn = (self.turn + 1) % self.syncs.len();
            let sync = &mut self.syncs[self.turn];
            if sync.until.is_some() {
                continue;
            }
            match self.pages.next_dirty(&(sync.cursor..sync.range.end), longest) {
                DirtyRun::Run(run) => {
                    sync.cursor = run.end;
                    return Some(run);
                }
                DirtyRun::Busy => {}
                DirtyRun::Clean => {
                    sync.until = Some(self.next_write_back);
                    let file = self.files.number(sync.range.start);
                    self.files.flushed(file, now, &self.pages);
                }
            }
        }
        None
    }

    fn begin_write_back(&mut self, now: Instant, run: Range<u64>) {
        self.pages.begin_write(&run);
        let length = bytes_of(&run);
        self.counters.written_back = Bytes::new(self.counters.written_back.get() + u64::from(length));
        self.counters.write_backs += 1;
        let op = Op { offset: run.start * PAGE, length, kind: Kind::Write, stream: 0 };
        let number = self.next_write_back;
        self.next_write_back += 1;
        self.write_backs.insert(number, run);
        self.request_model(now, &op, ModelRequest::WriteBack(number));
    }

    pub(super) fn write_back_completed(&mut self, now: Instant, number: u64, bound_by: Stage) {
        if let Some(run) = self.write_backs.remove(&number) {
            self.pages.end_write(&run);
        }
        for index in 0..self.syncs.len() {
            let waiting = self.syncs[index].number;
            self.waiting_operation(waiting, bound_by);
        }
        while !self.is_over() {
            let Some((number, since)) = self.throttled.pop_front() else { break };
            self.counters.throttled += now.since(since);
            self.waiting_operation(number, bound_by);
            self.answer(now, number);
        }
    }

    /// Submits the operations whose pages are written back.
    fn end_syncs(&mut self, now: Instant) {
        let mut index = 0;
        while index < self.syncs.len() {
            let PageWait { number, range, until, .. } = &self.syncs[index];
            let touches = |back: &Range<u64>| back.start < range.end && range.start < back.end;
            let is_done = until.is_some_and(|until| !self.write_backs.range(..until).any(|(_, back)| touches(back)));
            if is_done {
                let number = *number;
                self.syncs.remove(index);
                self.forward(now, number);
            } else {
                index += 1;
            }
        }
    }
}

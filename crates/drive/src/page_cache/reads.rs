//! Reads through memory: hits, misses and read-ahead.

use std::ops::Range;

use plimsoll_model::{Model, Stage};
use plimsoll_units::{Bytes, Instant, Kind, Op};

use super::{Cached, ModelRequest, PAGE, bytes_of, pages_of};

impl<M: Model> Cached<M> {
    pub(super) fn read(&mut self, now: Instant, number: u32) {
        let op = self.pending[number as usize].op;
        let requested = pages_of(op.offset, op.length.into());
        let count = (requested.end - requested.start).max(1);
        let present = self.pages.present(&requested);
        self.counters.read = Bytes::new(self.counters.read.get() + u64::from(op.length));
        let from_memory = u64::from(op.length) * present / count;
        self.counters.from_memory = Bytes::new(self.counters.from_memory.get() + from_memory);
        self.pages.touch(&requested);
        if present == count {
            self.read_on(now, &op);
            return self.copy(now, number);
        }
        self.fetch(now, &op, &requested);
        self.await_reads(number, &requested);
        if self.pending[number as usize].waits == 0 {
            self.copy(now, number);
        }
    }

    /// Reads the missing pages of a request, and its read-ahead window.
    fn fetch(&mut self, now: Instant, op: &Op, requested: &Range<u64>) {
        let max = self.settings.read_ahead.get() / PAGE;
        let file = self.files.number(requested.start);
        let bounds = self.files.bounds(file);
        let mut runs = std::mem::take(&mut self.runs);
        self.pages.missing(requested, u64::MAX, &mut runs);
        if let Some(first) = runs.first() {
            let window = self.windows.entry((op.stream, file)).or_default();
            let read = window.miss(first.start, requested, bounds.start, max);
            // Requested pages are read even beyond the end of the file.
            let end = read.end.min(bounds.end).max(requested.end);
            self.request(now, read.start.min(first.start)..end, requested, op.stream);
        }
        runs.clear();
        self.runs = runs;
        self.windows.entry((op.stream, file)).or_default().record_request(requested);
    }

    /// Advances the reader after a request is in memory, and reads ahead if it reached the mark.
    fn read_on(&mut self, now: Instant, op: &Op) {
        let requested = pages_of(op.offset, op.length.into());
        let max = self.settings.read_ahead.get() / PAGE;
        let file = self.files.number(requested.start);
        let end = self.files.bounds(file).end;
        let window = self.windows.entry((op.stream, file)).or_default();
        let next = window.pass(&requested, max);
        window.record_request(&requested);
        if let Some(next) = next.filter(|next| next.start < end) {
            self.request(now, next.start..next.end.min(end), &requested, op.stream);
        }
    }

    /// Requests the missing pages of a range from the model.
    pub(super) fn request(&mut self, now: Instant, range: Range<u64>, requested: &Range<u64>, stream: u8) {
        let mut runs = Vec::new();
        self.pages.missing(&range, (self.settings.largest.get() / PAGE).max(1), &mut runs);
        for run in runs {
            self.pages.begin_read(&run, requested.end);
            let ahead = run.end.saturating_sub(run.start.max(requested.end));
            self.counters.read_ahead = Bytes::new(self.counters.read_ahead.get() + ahead * PAGE);
            let op = Op { offset: run.start * PAGE, length: bytes_of(&run), kind: Kind::Read, stream };
            let first = run.start;
            let number = self.request_model(now, &op, ModelRequest::Read { pages: run, waiting: Vec::new() });
            self.reads.insert(first, number);
        }
    }

    /// Makes an operation wait for all reads in flight that overlap its pages.
    pub(super) fn await_reads(&mut self, number: u32, requested: &Range<u64>) {
        let before = self.reads.range(..requested.start).next_back().map(|(_, below)| *below);
        let within = self.reads.range(requested.clone()).map(|(_, below)| *below);
        for below in before.into_iter().chain(within) {
            let ModelRequest::Read { pages, waiting } = &mut self.requests[below as usize] else { continue };
            if pages.end > requested.start {
                waiting.push(number);
                self.pending[number as usize].waits += 1;
            }
        }
    }

    pub(super) fn read_completed(&mut self, now: Instant, pages: &Range<u64>, waiting: &[u32], bound_by: Stage) {
        self.reads.remove(&pages.start);
        self.pages.end_read(pages);
        for &number in waiting {
            let operation = self.waiting_operation(number, bound_by);
            operation.waits -= 1;
            let (is_complete, op) = (operation.waits == 0, operation.op);
            if is_complete {
                if op.kind == Kind::Read {
                    self.read_on(now, &op);
                }
                self.copy(now, number);
            }
        }
    }
}

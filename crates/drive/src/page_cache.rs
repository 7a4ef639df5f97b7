//! A host's page cache in front of a model, in virtual time.
//!
//! Reads are served from memory, or by the model together with read-ahead; writes complete in memory and are written
//! back later, in order and in large operations. Streams that bypass the cache (`O_DIRECT`) first force write-back of
//! their range. It follows Linux in all effects that benchmarks can observe, and simplifies the rest: a page is 4 KiB,
//! memory is a single zone, writers throttle at a single limit, and CPU time is unlimited.
//!
//! No clocks, file names or data. It implements [`Model`] and obeys its laws: [`crate::Simulated`] makes it a target.

mod ahead;
mod deadline;
mod direct;
mod elevator;
mod files;
mod pages;
mod reads;
mod settings;
mod writes;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::ops::Range;

use plimsoll_load::Region;
use plimsoll_model::{Change, ChangeError, Model, ModelAnswer, Stage};
use plimsoll_units::{Bytes, Instant, Kind, Op, Slot};

use ahead::ReadAheadWindow;
pub use elevator::Elevator;
use elevator::{ElevatorStep, Scheduler};
use files::CachedFiles;
use pages::CachePages;
pub use settings::{CacheCounters, PageCache, StreamSet};
use writes::PageWait;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// A model behind a page cache.
#[derive(Clone, Debug)]
pub struct Cached<M> {
    model: M,
    settings: PageCache,
    /// The stage that bounds answers from memory.
    stage: Stage,
    buffered: StreamSet,
    pages: CachePages,
    files: CachedFiles,
    /// Read-ahead windows by stream and file.
    windows: BTreeMap<(u8, usize), ReadAheadWindow>,
    /// Operations submitted and not answered, by number.
    pending: Vec<Pending>,
    free: Vec<u32>,
    /// Requests to the model that are not answered, by number.
    requests: Vec<ModelRequest>,
    /// The stream of each request, if it went through the scheduler.
    streams: Vec<Option<u8>>,
    free_requests: Vec<u32>,
    /// Reads in the model by their first page.
    reads: BTreeMap<u64, u32>,
    /// Reads that wait in the scheduler.
    scheduler: Scheduler,
    /// Flushes and other operations that wait for write-back.
    syncs: Vec<PageWait>,
    /// Index of the wait that is served next.
    turn: usize,
    /// Write-back operations in flight: number and pages.
    write_backs: BTreeMap<u64, Range<u64>>,
    next_write_back: u64,
    /// Writers throttled by the dirty limit.
    throttled: VecDeque<(u32, Instant)>,
    /// Scheduled events; the sequence number keeps events of equal time in order.
    agenda: BinaryHeap<Reverse<(Instant, u64, CacheEvent)>>,
    sequence: u64,
    /// A scan for expired pages is scheduled.
    scan_scheduled: bool,
    ready: VecDeque<ModelAnswer>,
    answers: Vec<ModelAnswer>,
    runs: Vec<Range<u64>>,
    counters: CacheCounters,
}

/// A submitted operation.
#[derive(Clone, Copy, Debug)]
struct Pending {
    slot: Slot,
    op: Op,
    /// Requests to the model that it waits for.
    waits: u32,
    bound_by: Stage,
}

/// A request to the model.
#[derive(Clone, Debug)]
enum ModelRequest {
    /// A read of pages, and the operations that wait for it.
    Read { pages: Range<u64>, waiting: Vec<u32> },
    /// A write-back operation, by its number.
    WriteBack(u64),
    /// Part of an operation that bypasses the cache.
    Part(u32),
    /// Unused.
    Free,
}

/// A scheduled event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CacheEvent {
    /// The bytes of an operation have been copied.
    Copied(u32),
    /// Scan for expired dirty pages.
    Scan,
    /// A stream's pause in the scheduler may have ended.
    Turn,
}

impl<M: Model> Cached<M> {
    /// An empty cache in front of a model. All streams are buffered. `stage` identifies memory as the binding stage: an
    /// index that the model does not use.
    pub fn new(model: M, settings: PageCache, stage: Stage) -> Self {
        Self {
            model,
            settings,
            stage,
            buffered: StreamSet::ALL,
            pages: CachePages::new(settings.memory.get() / PAGE),
            files: CachedFiles::unknown(),
            windows: BTreeMap::new(),
            pending: Vec::new(),
            free: Vec::new(),
            requests: Vec::new(),
            streams: Vec::new(),
            free_requests: Vec::new(),
            reads: BTreeMap::new(),
            scheduler: settings.elevator.into(),
            syncs: Vec::new(),
            turn: 0,
            write_backs: BTreeMap::new(),
            next_write_back: 0,
            throttled: VecDeque::new(),
            agenda: BinaryHeap::new(),
            sequence: 0,
            scan_scheduled: false,
            ready: VecDeque::new(),
            answers: Vec::new(),
            runs: Vec::new(),
            counters: CacheCounters::default(),
        }
    }

    /// Makes these streams buffered and all others direct. Read-ahead state is reset, as when files are reopened. These
    /// streams must have no operations in flight.
    pub fn open(&mut self, buffered: StreamSet) {
        self.buffered = buffered;
        self.windows.clear();
    }

    /// Defines files at these places, which begin at whole pages and do not overlap: a flush covers one file, and
    /// read-ahead stops at its end. Cached pages are dropped. Without files the whole space is a single file.
    pub fn set_files(&mut self, files: &[Region]) {
        self.drop_pages(Region { start: 0, length: Bytes::new(u64::MAX) });
        self.files = CachedFiles::at(files);
    }

    /// Drops the pages of a region, clean (as `drop_caches` does) or dirty; flush before it to keep all data.
    pub fn drop_pages(&mut self, region: Region) {
        self.pages.drop_pages(&pages_of(region.start, region.length.get()));
    }

    /// Truncates the files in a region: drops their pages; partial writes need no read of the old contents.
    pub fn truncate(&mut self, region: Region) {
        self.drop_pages(region);
        self.files.truncate(&pages_of(region.start, region.length.get()));
    }

    /// Bytes not yet written to storage.
    pub const fn dirty(&self) -> Bytes {
        Bytes::new((self.pages.dirty() + self.pages.writing()) * PAGE)
    }

    /// Counters since creation.
    pub const fn counters(&self) -> CacheCounters {
        let ahead = self.counters.read_ahead.get();
        let unused = ahead.saturating_sub(self.pages.ahead_used * PAGE);
        CacheCounters { unused: Bytes::new(unused), ..self.counters }
    }

    /// Returns the model.
    pub fn into_model(self) -> M {
        self.model
    }

    /// Processes all events up to `now`.
    fn advance(&mut self, now: Instant) {
        while let Some(at) = self.next().filter(|at| *at <= now) {
            let mut answers = std::mem::take(&mut self.answers);
            self.model.drain(at, &mut answers);
            for answer in answers.drain(..) {
                self.completed(at, &answer);
            }
            self.answers = answers;
            while self.agenda.peek().is_some_and(|Reverse((moment, ..))| *moment <= at) {
                let Some(Reverse((_, _, event))) = self.agenda.pop() else { break };
                match event {
                    CacheEvent::Copied(number) => self.bytes_copied(at, number),
                    CacheEvent::Scan => self.scan(at),
                    CacheEvent::Turn => {}
                }
            }
            self.write_back(at);
            self.release_reads(at);
        }
    }

    /// Time of the next event.
    fn next(&self) -> Option<Instant> {
        let own = self.agenda.peek().map(|Reverse((at, ..))| *at);
        match (own, self.model.wake_at()) {
            (Some(own), Some(model)) => Some(own.min(model)),
            (own, model) => own.or(model),
        }
    }

    fn completed(&mut self, now: Instant, answer: &ModelAnswer) {
        let number = answer.slot.index();
        let below = std::mem::replace(&mut self.requests[number], ModelRequest::Free);
        self.free_requests.push(answer.slot.0);
        if let Some(stream) = self.streams[number].take() {
            self.scheduler.completed(stream);
        }
        match below {
            ModelRequest::Read { pages, waiting } => self.read_completed(now, &pages, &waiting, answer.bound_by),
            ModelRequest::WriteBack(back) => self.write_back_completed(now, back, answer.bound_by),
            ModelRequest::Part(number) => self.part_completed(now, number, answer.bound_by),
            ModelRequest::Free => unreachable!("the model answers only its requests"),
        }
    }

    /// Sends a request to the model, directly or through the scheduler, and returns its number.
    fn request_model(&mut self, now: Instant, op: &Op, below: ModelRequest) -> u32 {
        let number = self.free_requests.pop().unwrap_or(self.requests.len() as u32);
        if number as usize == self.requests.len() {
            self.requests.push(below);
            self.streams.push(None);
        } else {
            self.requests[number as usize] = below;
        }
        if op.kind != Kind::Read || !self.scheduler.enter(now, number, *op) {
            self.model.submit(now, Slot(number), op);
        }
        number
    }

    /// Submits the reads that the scheduler releases.
    fn release_reads(&mut self, now: Instant) {
        loop {
            match self.scheduler.next(now) {
                ElevatorStep::Send(number, op) => {
                    self.streams[number as usize] = Some(op.stream);
                    self.model.submit(now, Slot(number), &op);
                }
                ElevatorStep::CallAt(at) => return self.schedule(at, CacheEvent::Turn),
                ElevatorStep::Idle => return,
            }
        }
    }

    fn schedule(&mut self, at: Instant, event: CacheEvent) {
        self.sequence += 1;
        self.agenda.push(Reverse((at, self.sequence, event)));
    }

    /// Starts to copy the bytes of an operation.
    fn copy(&mut self, now: Instant, number: u32) {
        let length = self.pending[number as usize].op.length;
        self.schedule(now + self.settings.copy(length), CacheEvent::Copied(number));
    }

    fn bytes_copied(&mut self, now: Instant, number: u32) {
        if self.pending[number as usize].op.kind == Kind::Read {
            self.answer(now, number);
        } else {
            self.write_copied(now, number);
        }
    }

    fn answer(&mut self, now: Instant, number: u32) {
        let Pending { slot, bound_by, .. } = self.pending[number as usize];
        self.ready.push_back(ModelAnswer { slot, at: now, bound_by });
        self.free.push(number);
    }

    fn waiting_operation(&mut self, number: u32, bound_by: Stage) -> &mut Pending {
        let pending = &mut self.pending[number as usize];
        pending.bound_by = bound_by;
        pending
    }
}

impl<M: Model> Model for Cached<M> {
    fn submit(&mut self, now: Instant, slot: Slot, op: &Op) {
        self.advance(now);
        let pending = Pending { slot, op: *op, waits: 0, bound_by: self.stage };
        let number = self.free.pop().unwrap_or(self.pending.len() as u32);
        if number as usize == self.pending.len() {
            self.pending.push(pending);
        } else {
            self.pending[number as usize] = pending;
        }
        match op.kind {
            Kind::Flush => self.flush(now, number),
            _ if !self.buffered.contains(op.stream) => self.submit_direct(now, number),
            Kind::Read => self.read(now, number),
            Kind::Write | Kind::DurableWrite | Kind::Trim => self.write(now, number),
        }
        self.write_back(now);
        self.release_reads(now);
    }

    fn wake_at(&self) -> Option<Instant> {
        self.ready.front().map(|answer| answer.at).or_else(|| self.next())
    }

    fn drain(&mut self, now: Instant, answers: &mut Vec<ModelAnswer>) {
        self.advance(now);
        answers.extend(self.ready.drain(..));
    }

    fn change(&mut self, now: Instant, change: &Change) -> Result<(), ChangeError> {
        self.advance(now);
        self.model.change(now, change)
    }
}

/// The pages of a byte range.
const fn pages_of(offset: u64, length: u64) -> Range<u64> {
    offset / PAGE..offset.saturating_add(length).div_ceil(PAGE)
}

/// Bytes of pages, limited to the largest length of an operation.
fn bytes_of(pages: &Range<u64>) -> u32 {
    u32::try_from((pages.end - pages.start) * PAGE).unwrap_or(u32::MAX)
}

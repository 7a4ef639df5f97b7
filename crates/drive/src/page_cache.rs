//! The page cache of a host before a model, in virtual time.
//!
//! Reads are answered from memory, or by the model with what is read ahead; writes end in memory and are written back
//! later, in order and in large operations. Streams that pass it by (`O_DIRECT`) find what it holds written back first.
//! It follows Linux in what suites can see, and simplifies the rest: a page is 4 KiB, all of memory is one zone, writers
//! wait at one limit, and processors are never short.
//!
//! Knows nothing about clocks, files by name or the bytes themselves. It is a model before a model, so it obeys the laws
//! of all models: [`crate::Simulated`] makes it a target.

mod ahead;
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
use plimsoll_model::{Answer, Change, Model, Refused, Stage};
use plimsoll_units::{Bytes, Instant, Kind, Op, Slot};

use ahead::Window;
pub use elevator::Elevator;
use elevator::{Next, Turns};
use files::Files;
use pages::Pages;
pub use settings::{CacheSeen, PageCache, Streams};
use writes::PageWait;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// A model behind a page cache.
#[derive(Clone, Debug)]
pub struct Cached<M> {
    model: M,
    settings: PageCache,
    /// What the answers of memory are bound by.
    stage: Stage,
    buffered: Streams,
    pages: Pages,
    files: Files,
    /// Where readers are, by stream and file.
    windows: BTreeMap<(u8, usize), Window>,
    /// What was asked and is not answered.
    asked: Vec<Asked>,
    free: Vec<u32>,
    /// What the model was asked and has not answered.
    below: Vec<Below>,
    /// The streams of those among it that took their turn.
    streams: Vec<Option<u8>>,
    free_below: Vec<u32>,
    /// Reads of the model by their first page.
    reads: BTreeMap<u64, u32>,
    /// Reads that wait for their turn before the model.
    turns: Turns,
    /// Flushes and whatever else waits until pages are written back.
    syncs: Vec<PageWait>,
    /// Which of them writes next.
    turn: usize,
    /// Operations of writing back in flight: their number, and the pages of each.
    backs: BTreeMap<u64, Range<u64>>,
    back: u64,
    /// Writers that wait until less is dirty.
    held: VecDeque<(u32, Instant)>,
    /// Moments at which something happens: with a sequence number, so that equal ones keep their order.
    agenda: BinaryHeap<Reverse<(Instant, u64, Event)>>,
    sequence: u64,
    /// A look at old pages is on the agenda.
    looks: bool,
    ready: VecDeque<Answer>,
    answers: Vec<Answer>,
    runs: Vec<Range<u64>>,
    seen: CacheSeen,
}

/// An operation that was asked.
#[derive(Clone, Copy, Debug)]
struct Asked {
    slot: Slot,
    op: Op,
    /// Operations of the model that it waits for.
    waits: u32,
    bound_by: Stage,
}

/// What the model was asked.
#[derive(Clone, Debug)]
enum Below {
    /// Pages, and the operations that wait for them.
    Read { pages: Range<u64>, waiting: Vec<u32> },
    /// Pages written back, by their number among those.
    Back(u64),
    /// A part of an operation that passes memory by.
    Part(u32),
    /// Nothing any more.
    Free,
}

/// What happens at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The bytes of an operation were copied.
    Copied(u32),
    /// Old pages are looked for.
    Look,
    /// A stream may have let its turn pass.
    Turn,
}

impl<M: Model> Cached<M> {
    /// An empty cache before a model. All streams go through it. `stage` names memory in what binds: one that the model
    /// does not have.
    pub fn new(model: M, settings: PageCache, stage: Stage) -> Self {
        Self {
            model,
            settings,
            stage,
            buffered: Streams::ALL,
            pages: Pages::new(settings.memory.get() / PAGE),
            files: Files::unknown(),
            windows: BTreeMap::new(),
            asked: Vec::new(),
            free: Vec::new(),
            below: Vec::new(),
            streams: Vec::new(),
            free_below: Vec::new(),
            reads: BTreeMap::new(),
            turns: Turns::default(),
            syncs: Vec::new(),
            turn: 0,
            backs: BTreeMap::new(),
            back: 0,
            held: VecDeque::new(),
            agenda: BinaryHeap::new(),
            sequence: 0,
            looks: false,
            ready: VecDeque::new(),
            answers: Vec::new(),
            runs: Vec::new(),
            seen: CacheSeen::default(),
        }
    }

    /// From now on these streams go through memory, and others pass it by. Readers begin anew, as with files that are
    /// opened again. Nothing of theirs is in flight.
    pub fn open(&mut self, buffered: Streams) {
        self.buffered = buffered;
        self.windows.clear();
    }

    /// New files at these places, which begin at whole pages and do not overlap: a flush is of one file, and nothing is
    /// read ahead of its end. Whatever memory held is forgotten. Without files the whole space is one.
    pub fn lay(&mut self, files: &[Region]) {
        self.forget(Region { start: 0, length: Bytes::new(u64::MAX) });
        self.files = Files::laid(files);
    }

    /// Empties memory of a region, dirty or not, as `drop_caches` does of clean pages; a flush before it keeps all data.
    pub fn forget(&mut self, region: Region) {
        self.pages.forget(&pages_of(region.start, region.length.get()));
    }

    /// The files in a region were truncated: their pages are gone, and what is written next need not keep what was there.
    pub fn renew(&mut self, region: Region) {
        self.forget(region);
        self.files.renewed(&pages_of(region.start, region.length.get()));
    }

    /// What storage does not have yet.
    pub const fn dirty(&self) -> Bytes {
        Bytes::new((self.pages.dirty() + self.pages.writing()) * PAGE)
    }

    /// What it did until now.
    pub const fn seen(&self) -> CacheSeen {
        let ahead = self.seen.read_ahead.get();
        let unused = ahead.saturating_sub(self.pages.ahead_used * PAGE);
        CacheSeen { unused: Bytes::new(unused), ..self.seen }
    }

    /// The model behind it.
    pub fn into_model(self) -> M {
        self.model
    }

    /// Lets everything happen that happens up to `now`.
    fn advance(&mut self, now: Instant) {
        while let Some(at) = self.next().filter(|at| *at <= now) {
            let mut answers = std::mem::take(&mut self.answers);
            self.model.drain(at, &mut answers);
            for answer in answers.drain(..) {
                self.came_back(at, &answer);
            }
            self.answers = answers;
            while self.agenda.peek().is_some_and(|Reverse((moment, ..))| *moment <= at) {
                let Some(Reverse((_, _, event))) = self.agenda.pop() else { break };
                match event {
                    Event::Copied(number) => self.copied(at, number),
                    Event::Look => self.look(at),
                    Event::Turn => {}
                }
            }
            self.write_back(at);
            self.take_turns(at);
        }
    }

    /// When something happens next.
    fn next(&self) -> Option<Instant> {
        let own = self.agenda.peek().map(|Reverse((at, ..))| *at);
        match (own, self.model.wake_at()) {
            (Some(own), Some(model)) => Some(own.min(model)),
            (own, model) => own.or(model),
        }
    }

    fn came_back(&mut self, now: Instant, answer: &Answer) {
        let number = answer.slot.index();
        let below = std::mem::replace(&mut self.below[number], Below::Free);
        self.free_below.push(answer.slot.0);
        if let Some(stream) = self.streams[number].take() {
            self.turns.came_back(stream);
        }
        match below {
            Below::Read { pages, waiting } => self.read_came(now, &pages, &waiting, answer.bound_by),
            Below::Back(back) => self.back_came(now, back, answer.bound_by),
            Below::Part(number) => self.part_came(now, number, answer.bound_by),
            Below::Free => unreachable!("the model answers what it was asked"),
        }
    }

    /// Asks the model, at once or when it is the stream's turn, and returns the number that its answer will have.
    fn ask(&mut self, now: Instant, op: &Op, below: Below) -> u32 {
        let number = self.free_below.pop().unwrap_or(self.below.len() as u32);
        if number as usize == self.below.len() {
            self.below.push(below);
            self.streams.push(None);
        } else {
            self.below[number as usize] = below;
        }
        if self.settings.elevator == Elevator::Cfq && op.kind == Kind::Read {
            self.turns.enter(number, *op);
        } else {
            self.model.submit(now, Slot(number), op);
        }
        number
    }

    /// Gives the model the reads whose turn it is.
    fn take_turns(&mut self, now: Instant) {
        loop {
            match self.turns.next(now) {
                Next::Send(number, op) => {
                    self.streams[number as usize] = Some(op.stream);
                    self.model.submit(now, Slot(number), &op);
                }
                Next::Look(at) => return self.enter(at, Event::Turn),
                Next::Nothing => return,
            }
        }
    }

    fn enter(&mut self, at: Instant, event: Event) {
        self.sequence += 1;
        self.agenda.push(Reverse((at, self.sequence, event)));
    }

    /// The bytes of an operation are copied from now on.
    fn copy(&mut self, now: Instant, number: u32) {
        let length = self.asked[number as usize].op.length;
        self.enter(now + self.settings.copy(length), Event::Copied(number));
    }

    fn copied(&mut self, now: Instant, number: u32) {
        if self.asked[number as usize].op.kind == Kind::Read {
            self.answer(now, number);
        } else {
            self.taken(now, number);
        }
    }

    fn answer(&mut self, now: Instant, number: u32) {
        let Asked { slot, bound_by, .. } = self.asked[number as usize];
        self.ready.push_back(Answer { slot, at: now, bound_by });
        self.free.push(number);
    }

    fn waited(&mut self, number: u32, bound_by: Stage) -> &mut Asked {
        let asked = &mut self.asked[number as usize];
        asked.bound_by = bound_by;
        asked
    }
}

impl<M: Model> Model for Cached<M> {
    fn submit(&mut self, now: Instant, slot: Slot, op: &Op) {
        self.advance(now);
        let asked = Asked { slot, op: *op, waits: 0, bound_by: self.stage };
        let number = self.free.pop().unwrap_or(self.asked.len() as u32);
        if number as usize == self.asked.len() {
            self.asked.push(asked);
        } else {
            self.asked[number as usize] = asked;
        }
        match op.kind {
            Kind::Flush => self.flush(now, number),
            _ if !self.buffered.contains(op.stream) => self.pass_by(now, number),
            Kind::Read => self.read(now, number),
            Kind::Write | Kind::DurableWrite | Kind::Trim => self.write(now, number),
        }
        self.write_back(now);
        self.take_turns(now);
    }

    fn wake_at(&self) -> Option<Instant> {
        self.ready.front().map(|answer| answer.at).or_else(|| self.next())
    }

    fn drain(&mut self, now: Instant, answers: &mut Vec<Answer>) {
        self.advance(now);
        answers.extend(self.ready.drain(..));
    }

    fn change(&mut self, now: Instant, change: &Change) -> Result<(), Refused> {
        self.advance(now);
        self.model.change(now, change)
    }
}

/// The pages that a stretch touches.
const fn pages_of(offset: u64, length: u64) -> Range<u64> {
    offset / PAGE..offset.saturating_add(length).div_ceil(PAGE)
}

/// Bytes of pages, as far as an operation can have them.
fn bytes_of(pages: &Range<u64>) -> u32 {
    u32::try_from((pages.end - pages.start) * PAGE).unwrap_or(u32::MAX)
}

//! A write-back memory: writes are answered as soon as they have room, and written through afterwards, continuously or
//! in halves of which one is filled while the other drains, as the journals of storage arrays do.

use alloc::collections::VecDeque;

use fastrand::Rng;
use plimsoll_units::{Bytes, Kind, Op, Span};

use crate::spec::Flushing;

/// Writes are written through in pieces of at most this size, as kernels and drives do, so that room is freed step by
/// step.
const PIECE: u32 = 1 << 20;

/// A piece of a write to be written through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WritePiece {
    pub(crate) op: Op,
    /// Number of flushes before it.
    pub(crate) epoch: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct WriteBack {
    capacity: u64,
    depth: u32,
    flushing: Flushing,
    /// Bytes accepted and not written through; with halves, those of the half that accepts writes.
    used: u64,
    halves: Option<Halves>,
    under_way: u32,
    /// Pieces accepted and not started.
    backlog: VecDeque<WritePiece>,
    /// Passages that wait for room, in order.
    waiting: VecDeque<u32>,
    /// Flushes so far.
    epoch: u32,
    /// Unfinished pieces by epoch, the oldest first, and the number of the oldest epoch.
    unfinished: VecDeque<u32>,
    oldest: u32,
    /// Waiting flushes, with the last epoch that they cover.
    flushes: VecDeque<(u32, u32)>,
    /// Share of writes that read first.
    reads: f64,
    rng: Rng,
}

/// A memory in two halves.
#[derive(Clone, Debug)]
struct Halves {
    /// Maximum time from the first write of a half to its drain.
    every: Span,
    /// Pieces of the half that accepts writes.
    pieces: VecDeque<WritePiece>,
    /// Bytes of the other half that are not written through.
    draining: u64,
    /// Number of drains so far.
    drains: u32,
    /// The half that accepts writes is to drain as soon as the other is empty.
    is_due: bool,
    /// A half has received its first write.
    begun: bool,
}

/// Effect of the arrival of an operation at a write-back memory or at read-ahead.
pub(crate) enum Arrival {
    /// Passes through the inner stages and is answered after them.
    Through,
    /// Answered at once.
    Answered,
    /// Waits for room, for the flushed writes, or for a read.
    Waits,
}

impl WriteBack {
    pub(crate) fn new(
        (capacity, halves): (Bytes, Option<Span>),
        depth: u32,
        flushing: Flushing,
        (reads, seed): (f64, u64),
    ) -> Self {
        let (pieces, draining, drains, is_due, begun) = (VecDeque::new(), 0, 0, false, false);
        let halves = halves.map(|every| Halves { every, pieces, draining, drains, is_due, begun });
        Self {
            capacity: if halves.is_some() { capacity.get() / 2 } else { capacity.get() },
            depth,
            flushing,
            used: 0,
            halves,
            under_way: 0,
            backlog: VecDeque::new(),
            waiting: VecDeque::new(),
            epoch: 0,
            unfinished: VecDeque::from([0]),
            oldest: 0,
            flushes: VecDeque::new(),
            reads,
            rng: Rng::with_seed(seed),
        }
    }

    /// Draws whether a write has to read before it is accepted.
    pub(crate) fn reads_first(&mut self, op: &Op) -> bool {
        let is_write = matches!(op.kind, Kind::Write | Kind::DurableWrite) && op.length > 0;
        is_write && self.reads > 0.0 && self.rng.f64() < self.reads
    }

    /// `progress` is the number of bytes already accepted.
    pub(crate) fn enter(&mut self, passage: u32, op: &Op, progress: &mut u32) -> Arrival {
        let waits = self.flushing == Flushing::Honoured;
        match op.kind {
            Kind::Read => Arrival::Through,
            Kind::DurableWrite if waits => Arrival::Through,
            Kind::Flush if !waits => Arrival::Answered,
            Kind::Flush => self.flush(passage),
            Kind::Write | Kind::DurableWrite | Kind::Trim if !self.waiting.is_empty() => {
                self.waiting.push_back(passage);
                Arrival::Waits
            }
            Kind::Write | Kind::DurableWrite | Kind::Trim => {
                if self.accept(op, progress) {
                    Arrival::Answered
                } else {
                    self.waiting.push_back(passage);
                    Arrival::Waits
                }
            }
        }
    }

    /// The first passage that waits for room.
    pub(crate) fn first_waiting(&self) -> Option<u32> {
        self.waiting.front().copied()
    }

    /// Accepts more of the first waiting write; true if it is accepted in full and waits no longer.
    pub(crate) fn accept_first(&mut self, op: &Op, progress: &mut u32) -> bool {
        let all = self.accept(op, progress);
        if all {
            self.waiting.pop_front();
        }
        all
    }

    /// The next piece to write through, if one may start.
    pub(crate) fn start(&mut self) -> Option<WritePiece> {
        if self.under_way == self.depth {
            return None;
        }
        let piece = self.backlog.pop_front()?;
        self.under_way += 1;
        Some(piece)
    }

    /// Frees the room of a finished piece; returns a flush that is thereby complete.
    pub(crate) fn through(&mut self, piece: &WritePiece) -> Option<u32> {
        self.under_way -= 1;
        match &mut self.halves {
            None => self.used -= u64::from(piece.op.length),
            Some(halves) => {
                halves.draining -= u64::from(piece.op.length);
                if halves.is_due {
                    self.drain();
                }
            }
        }
        self.unfinished[(piece.epoch - self.oldest) as usize] -= 1;
        while self.unfinished.len() > 1 && self.unfinished[0] == 0 {
            self.unfinished.pop_front();
            self.oldest += 1;
        }
        self.satisfied_flush()
    }

    /// The next flush whose writes are all finished.
    pub(crate) fn satisfied_flush(&mut self) -> Option<u32> {
        let &(epoch, passage) = self.flushes.front()?;
        (epoch < self.oldest).then(|| {
            self.flushes.pop_front();
            passage
        })
    }

    fn flush(&mut self, passage: u32) -> Arrival {
        if self.unfinished.iter().all(|count| *count == 0) {
            return Arrival::Through;
        }
        self.flushes.push_back((self.epoch, passage));
        self.epoch += 1;
        self.unfinished.push_back(0);
        self.drain();
        Arrival::Waits
    }

    /// Time until the half that has just received its first write drains, and its number.
    pub(crate) fn timer(&mut self) -> Option<(Span, u32)> {
        let halves = self.halves.as_mut()?;
        core::mem::take(&mut halves.begun).then_some((halves.every, halves.drains))
    }

    /// The time of this half is over.
    pub(crate) fn expire(&mut self, half: u32) {
        if self.halves.as_ref().is_some_and(|halves| halves.drains == half) {
            self.drain();
        }
    }

    /// Drains the half that accepts writes, now or when the other is empty.
    fn drain(&mut self) {
        let Some(halves) = self.halves.as_mut().filter(|_| self.used > 0) else { return };
        halves.is_due = halves.draining > 0;
        if !halves.is_due {
            halves.draining = core::mem::take(&mut self.used);
            halves.drains += 1;
            self.backlog.append(&mut halves.pieces);
        }
    }

    /// True if this many more bytes fit.
    fn has_room(&mut self, length: u64) -> bool {
        let capacity = self.capacity;
        let fits = |used: u64| used == 0 || used + length <= capacity;
        if !fits(self.used) {
            self.drain();
        }
        fits(self.used)
    }

    /// Accepts as much as fits; true if that is all. An operation larger than the capacity passes piece by piece.
    fn accept(&mut self, op: &Op, progress: &mut u32) -> bool {
        while *progress < op.length {
            let length = (op.length - *progress).min(PIECE);
            if !self.has_room(u64::from(length)) {
                return false;
            }
            *self.unfinished.back_mut().expect("the newest epoch is always counted") += 1;
            let op = Op { offset: op.offset + u64::from(*progress), length, kind: Kind::Write, ..*op };
            let piece = WritePiece { op, epoch: self.epoch };
            match &mut self.halves {
                None => self.backlog.push_back(piece),
                Some(halves) => {
                    halves.begun |= self.used == 0;
                    halves.pieces.push_back(piece);
                }
            }
            self.used += u64::from(length);
            *progress += length;
        }
        true
    }
}

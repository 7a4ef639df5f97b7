//! An engine's access to contents: fills buffers, numbers writes, and tracks operations in flight if reads are
//! verified.
//!
//! Stamping avoids dynamic dispatch: its only cost is the marks in the pages.

use plimsoll_load::OpOutcome;
use plimsoll_units::{Kind, Op, Slot};

use super::Contents;
use crate::buffers::{fill, stamp};

/// Fills the buffers of an engine or of a worker.
#[derive(Debug)]
pub(crate) struct Scribe {
    contents: Contents,
    seed: u64,
    /// Number of the last write, starting at the seed.
    number: u64,
    /// Operation and ticket of each slot; empty without verification.
    in_flight: Vec<(Op, u64)>,
}

impl Scribe {
    /// A scribe for `slots` concurrent operations.
    pub(crate) fn new(contents: &Contents, seed: u64, slots: u32) -> Self {
        let follows = matches!(contents, Contents::Generated(content) if content.checks());
        let idle = (Op { offset: 0, length: 0, kind: Kind::Flush, stream: 0 }, 0);
        let in_flight = vec![idle; if follows { slots as usize } else { 0 }];
        Self { contents: contents.clone(), seed, number: seed, in_flight }
    }

    /// Starts the numbers of writes at `number`.
    pub(crate) fn counting_from(self, number: u64) -> Self {
        Self { number, ..self }
    }

    /// True if reads are verified, so that [`Scribe::begin`] and [`Scribe::end`] have an effect.
    #[inline]
    pub(crate) fn follows(&self) -> bool {
        !self.in_flight.is_empty()
    }

    /// Initialises the whole write buffer.
    pub(crate) fn prepare(&self, buffer: &mut [u8]) {
        if let Contents::Stamped { compressible } = self.contents {
            fill(buffer, compressible, self.seed);
        }
    }

    /// Fills the buffer of a write before its submission.
    #[inline]
    pub(crate) fn write(&mut self, slot: Slot, op: &Op, bytes: &mut [u8]) {
        self.number = self.number.wrapping_add(1);
        match &self.contents {
            Contents::Stamped { .. } => stamp(bytes, self.number),
            Contents::Zeroes => {}
            Contents::Generated(_) => self.make(slot, op, bytes),
        }
    }

    /// Registers a read, flush or trim before its submission.
    #[inline]
    pub(crate) fn begin(&mut self, slot: Slot, op: &Op) {
        if self.follows() {
            self.note(slot, op);
        }
    }

    /// Registers the completion of the slot's operation. `read` returns the first bytes of its buffer.
    #[inline]
    pub(crate) fn end<'a>(&self, slot: Slot, outcome: OpOutcome, read: impl FnOnce(usize) -> &'a [u8]) -> OpOutcome {
        if self.follows() { self.judge(slot, outcome, read) } else { outcome }
    }

    // Dynamic dispatch is kept out of the hot path.

    #[cold]
    fn make(&mut self, slot: Slot, op: &Op, bytes: &mut [u8]) {
        let Contents::Generated(content) = &self.contents else { return };
        let ticket = content.fill(op, self.number, bytes);
        if let Some(in_flight) = self.in_flight.get_mut(slot.index()) {
            *in_flight = (*op, ticket);
        }
    }

    #[cold]
    fn note(&mut self, slot: Slot, op: &Op) {
        let Contents::Generated(content) = &self.contents else { return };
        let ticket = if op.kind == Kind::Read { content.begin_read(op) } else { 0 };
        self.in_flight[slot.index()] = (*op, ticket);
    }

    #[cold]
    fn judge<'a>(&self, slot: Slot, outcome: OpOutcome, read: impl FnOnce(usize) -> &'a [u8]) -> OpOutcome {
        let Contents::Generated(content) = &self.contents else { return outcome };
        let (op, ticket) = &self.in_flight[slot.index()];
        match op.kind {
            Kind::Flush | Kind::Trim => outcome,
            Kind::Read => content.complete(op, *ticket, read(op.length as usize), outcome),
            Kind::Write | Kind::DurableWrite => content.complete(op, *ticket, &[], outcome),
        }
    }
}

//! An engine's side of contents: fills the buffers, numbers the writes, and remembers what is under way where reads
//! are checked.
//!
//! Stamping needs no call through a table: what a write costs there is the marks in its pages.

use plimsoll_load::Outcome;
use plimsoll_units::{Kind, Op, Slot};

use super::Contents;
use crate::buffers::{fill, stamp};

/// Fills the buffers of one engine, or of one of its workers.
#[derive(Debug)]
pub(crate) struct Scribe {
    contents: Contents,
    seed: u64,
    /// Writes so far, from the seed on.
    number: u64,
    /// What each slot is doing and its ticket; nothing where reads are not checked.
    asked: Vec<(Op, u64)>,
}

impl Scribe {
    /// For `slots` operations at once.
    pub(crate) fn new(contents: &Contents, seed: u64, slots: u32) -> Self {
        let follows = matches!(contents, Contents::Made(content) if content.checks());
        let idle = (Op { offset: 0, length: 0, kind: Kind::Flush, stream: 0 }, 0);
        let asked = vec![idle; if follows { slots as usize } else { 0 }];
        Self { contents: contents.clone(), seed, number: seed, asked }
    }

    /// The same, counting the writes from another number on.
    pub(crate) fn counting_from(self, number: u64) -> Self {
        Self { number, ..self }
    }

    /// Reads are checked: [`Scribe::begin`] and [`Scribe::end`] do something.
    #[inline]
    pub(crate) fn follows(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Fills the whole buffer for writes, once.
    pub(crate) fn prepare(&self, buffer: &mut [u8]) {
        if let Contents::Stamped { compressible } = self.contents {
            fill(buffer, compressible, self.seed);
        }
    }

    /// Fills the buffer of a write that is handed over next.
    #[inline]
    pub(crate) fn write(&mut self, slot: Slot, op: &Op, bytes: &mut [u8]) {
        self.number = self.number.wrapping_add(1);
        match &self.contents {
            Contents::Stamped { .. } => stamp(bytes, self.number),
            Contents::Zeroes => {}
            Contents::Made(_) => self.make(slot, op, bytes),
        }
    }

    /// A read, a flush or a trim is handed over next.
    #[inline]
    pub(crate) fn begin(&mut self, slot: Slot, op: &Op) {
        if self.follows() {
            self.note(slot, op);
        }
    }

    /// The slot's operation ended. `read` gives the first bytes of its buffer, as many as were asked for.
    #[inline]
    pub(crate) fn end<'a>(&self, slot: Slot, outcome: Outcome, read: impl FnOnce(usize) -> &'a [u8]) -> Outcome {
        if self.follows() { self.judge(slot, outcome, read) } else { outcome }
    }

    // What calls through a table is kept out of the way of what does not.

    #[cold]
    fn make(&mut self, slot: Slot, op: &Op, bytes: &mut [u8]) {
        let Contents::Made(content) = &self.contents else { return };
        let ticket = content.fill(op, self.number, bytes);
        if let Some(asked) = self.asked.get_mut(slot.index()) {
            *asked = (*op, ticket);
        }
    }

    #[cold]
    fn note(&mut self, slot: Slot, op: &Op) {
        let Contents::Made(content) = &self.contents else { return };
        let ticket = if op.kind == Kind::Read { content.asked(op) } else { 0 };
        self.asked[slot.index()] = (*op, ticket);
    }

    #[cold]
    fn judge<'a>(&self, slot: Slot, outcome: Outcome, read: impl FnOnce(usize) -> &'a [u8]) -> Outcome {
        let Contents::Made(content) = &self.contents else { return outcome };
        let (op, ticket) = &self.asked[slot.index()];
        match op.kind {
            Kind::Flush | Kind::Trim => outcome,
            Kind::Read => content.ended(op, *ticket, read(op.length as usize), outcome),
            Kind::Write | Kind::DurableWrite => content.ended(op, *ticket, &[], outcome),
        }
    }
}

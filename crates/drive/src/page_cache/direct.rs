//! Operations that pass memory by (`O_DIRECT`), and flushes on their way to the model.
//!
//! What memory holds of their range is written back before them, and what they write is in memory no more, as in Linux
//! (`kiocb_write_and_wait`, `kiocb_invalidate_pages`).

use plimsoll_model::{Model, Stage};
use plimsoll_units::{Instant, Op};

use super::{Below, Cached, pages_of};

impl<M: Model> Cached<M> {
    pub(super) fn pass_by(&mut self, now: Instant, number: u32) {
        let op = self.asked[number as usize].op;
        let range = pages_of(op.offset, op.length.into());
        if self.pages.is_unwritten(&range) {
            self.sync(number, range);
        } else {
            self.pass(now, number);
        }
    }

    /// Hands an operation to the model, in parts of the largest size.
    pub(super) fn pass(&mut self, now: Instant, number: u32) {
        let op = self.asked[number as usize].op;
        if op.kind.writes() {
            self.pages.invalidate(&pages_of(op.offset, op.length.into()));
        }
        let largest = u32::try_from(self.settings.largest.get()).unwrap_or(u32::MAX).max(1);
        let parts = op.length.div_ceil(largest).max(1);
        self.asked[number as usize].waits = parts;
        for part in 0..parts {
            let done = part * largest;
            let part = Op { offset: op.offset + u64::from(done), length: (op.length - done).min(largest), ..op };
            self.ask(now, &part, Below::Part(number));
        }
    }

    pub(super) fn part_came(&mut self, now: Instant, number: u32, bound_by: Stage) {
        let asked = self.waited(number, bound_by);
        asked.waits -= 1;
        if asked.waits > 0 {
            return;
        }
        let op = asked.op;
        if op.kind.writes() {
            // Somebody may have read what was there before.
            let range = pages_of(op.offset, op.length.into());
            self.pages.invalidate(&range);
            self.files.reached(&range);
        }
        self.answer(now, number);
    }
}

//! Operations that bypass memory (`O_DIRECT`), and flushes on their way to the model.
//!
//! Dirty pages of their range are written back first, and written ranges are dropped from memory, as in Linux
//! (`kiocb_write_and_wait`, `kiocb_invalidate_pages`).

use plimsoll_model::{Model, Stage};
use plimsoll_units::{Instant, Op};

use super::{Cached, ModelRequest, pages_of};

impl<M: Model> Cached<M> {
    pub(super) fn submit_direct(&mut self, now: Instant, number: u32) {
        let op = self.pending[number as usize].op;
        let range = pages_of(op.offset, op.length.into());
        if self.pages.is_unwritten(&range) {
            self.sync(number, range);
        } else {
            self.forward(now, number);
        }
    }

    /// Submits an operation to the model, in parts of the largest size.
    pub(super) fn forward(&mut self, now: Instant, number: u32) {
        let op = self.pending[number as usize].op;
        if op.kind.writes() {
            self.pages.invalidate(&pages_of(op.offset, op.length.into()));
        }
        let largest = u32::try_from(self.settings.largest.get()).unwrap_or(u32::MAX).max(1);
        let parts = op.length.div_ceil(largest).max(1);
        self.pending[number as usize].waits = parts;
        for part in 0..parts {
            let done = part * largest;
            let part = Op { offset: op.offset + u64::from(done), length: (op.length - done).min(largest), ..op };
            self.request_model(now, &part, ModelRequest::Part(number));
        }
    }

    pub(super) fn part_completed(&mut self, now: Instant, number: u32, bound_by: Stage) {
        let operation = self.waiting_operation(number, bound_by);
        operation.waits -= 1;
        if operation.waits > 0 {
            return;
        }
        let op = operation.op;
        if op.kind.writes() {
            // A concurrent read may have cached the old contents.
            let range = pages_of(op.offset, op.length.into());
            self.pages.invalidate(&range);
            self.files.mark_written(&range);
        }
        self.answer(now, number);
    }
}

//! A window: at most a given number of operations are inside, the others wait in order.

use alloc::collections::VecDeque;

#[derive(Clone, Debug)]
pub(crate) struct AdmissionWindow {
    free: u32,
    waiting: VecDeque<u32>,
}

impl AdmissionWindow {
    pub(crate) fn new(slots: u32) -> Self {
        Self { free: slots, waiting: VecDeque::new() }
    }

    /// True if `passage` enters now; else it waits.
    #[inline]
    pub(crate) fn enter(&mut self, passage: u32) -> bool {
        if self.free > 0 {
            self.free -= 1;
            return true;
        }
        self.waiting.push_back(passage);
        false
    }

    /// Frees a slot; returns the passage that takes it.
    #[inline]
    pub(crate) fn leave(&mut self) -> Option<u32> {
        let next = self.waiting.pop_front();
        self.free += u32::from(next.is_none());
        next
    }
}

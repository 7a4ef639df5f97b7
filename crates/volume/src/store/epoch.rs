//! When nobody uses a cluster any more that a map does not name any more: requests that were planned with the old map
//! may still be under way.
//!
//! Requests enter the present epoch and leave it when their work is done. What was released while an epoch was the
//! present one may be used again once that epoch and all before it are empty (Fraser 2004, epoch-based reclamation).

use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub(crate) struct Epochs {
    first: u64,
    /// How many are under way that entered in each epoch, from the first to the present one; never empty.
    counts: VecDeque<u32>,
}

impl Epochs {
    pub(crate) fn new() -> Self {
        Self { first: 0, counts: VecDeque::from([0]) }
    }

    #[inline]
    pub(crate) fn enter(&mut self) -> u64 {
        let last = self.counts.len() - 1;
        self.counts[last] += 1;
        self.first + last as u64
    }

    #[inline]
    pub(crate) fn leave(&mut self, epoch: u64) {
        self.counts[(epoch - self.first) as usize] -= 1;
        self.settle();
    }

    /// Ends the present epoch; returns it.
    pub(crate) fn end(&mut self) -> u64 {
        let ended = self.first + self.counts.len() as u64 - 1;
        self.counts.push_back(0);
        self.settle();
        ended
    }

    /// True when nothing is under way that entered in this epoch or before it.
    pub(crate) const fn has_passed(&self, epoch: u64) -> bool {
        epoch < self.first
    }

    fn settle(&mut self) {
        while self.counts.len() > 1 && self.counts[0] == 0 {
            self.counts.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_passes_when_all_that_entered_by_then_have_left() {
        let mut epochs = Epochs::new();
        let early = epochs.enter();
        let ended = epochs.end();
        let late = epochs.enter();
        let ended_too = epochs.end();
        epochs.leave(late);
        assert!(!epochs.has_passed(ended) && !epochs.has_passed(ended_too));
        epochs.leave(early);
        assert!(epochs.has_passed(ended) && epochs.has_passed(ended_too));
    }

    #[test]
    fn an_idle_epoch_passes_at_once() {
        let mut epochs = Epochs::new();
        let ended = epochs.end();
        assert!(epochs.has_passed(ended));
    }
}

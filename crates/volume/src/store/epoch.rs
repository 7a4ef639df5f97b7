//! Determines when released clusters are unused: requests planned with the old map may still be in flight.
//!
//! Requests enter the current epoch and leave it when their work is done. Clusters released during an epoch may be
//! reused when that epoch and all earlier ones are empty (Fraser 2004, epoch-based reclamation).

use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub(crate) struct Epochs {
    first: u64,
    /// Number of requests in each epoch from the first to the current; never empty.
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

    /// Ends and returns the current epoch.
    pub(crate) fn end(&mut self) -> u64 {
        let ended = self.first + self.counts.len() as u64 - 1;
        self.counts.push_back(0);
        self.settle();
        ended
    }

    /// True if all requests of this epoch and earlier ones have left.
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
    fn epoch_passes_when_its_requests_have_left() {
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
    fn idle_epoch_passes_immediately() {
        let mut epochs = Epochs::new();
        let ended = epochs.end();
        assert!(epochs.has_passed(ended));
    }
}

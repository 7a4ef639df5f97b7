//! Threads for the parts of a search.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use plimsoll_choose::sizing::Pool;

/// Threads of a search, at most.
const MAX_THREADS: usize = 8;

/// Executes the parts of a search on a thread for each processor, until it is cancelled.
#[derive(Clone, Debug, Default)]
pub struct Threads {
    /// Set when the result is no longer wanted: remaining parts are omitted.
    pub cancelled: Arc<AtomicBool>,
}

impl Pool for Threads {
    fn each(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        let take = || {
            let index = next.fetch_add(1, Ordering::Relaxed);
            (index < parts && !self.cancelled.load(Ordering::Relaxed)).then_some(index)
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS).min(parts);
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| std::iter::from_fn(take).for_each(work));
            }
            std::iter::from_fn(take).for_each(work);
        });
    }
}

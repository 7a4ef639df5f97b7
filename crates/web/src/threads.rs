//! Threads for the parts of a search, and its progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use plimsoll_choose::sizing::Pool;
use plimsoll_language::Language;

/// Threads of a search, at most.
const MAX_THREADS: usize = 8;

/// Executes the parts of a search on a thread for each processor, until it is cancelled.
#[derive(Clone, Debug, Default)]
pub struct Threads {
    /// Set when the search is cancelled: remaining parts are omitted.
    pub cancelled: Arc<AtomicBool>,
    /// Notes the completed parts.
    pub progress: SearchProgress,
}

/// Completed share of a search, which its phases fill in turn. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct SearchProgress {
    percent: Arc<AtomicUsize>,
    /// Percentages at the start and the end of the current phase.
    phase: [usize; 2],
}

impl SearchProgress {
    /// The same search in a phase between two percentages.
    pub fn in_phase(&self, begin: usize, end: usize) -> Self {
        Self { percent: Arc::clone(&self.percent), phase: [begin, end] }
    }

    /// The completed percentage, which never decreases.
    pub fn percent(&self) -> usize {
        self.percent.load(Ordering::Relaxed)
    }

    fn note(&self, completed: usize, parts: usize) {
        let [begin, end] = self.phase;
        self.percent.fetch_max(begin + (end - begin) * completed / parts.max(1), Ordering::Relaxed);
    }
}

impl Pool for Threads {
    fn each(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        let (next, completed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let language = Language::current();
        let take = || {
            let index = next.fetch_add(1, Ordering::Relaxed);
            (index < parts && !self.cancelled.load(Ordering::Relaxed)).then_some(index)
        };
        let execute = |index: usize| {
            work(index);
            self.progress.note(completed.fetch_add(1, Ordering::Relaxed) + 1, parts);
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS).min(parts);
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| language.scope(|| std::iter::from_fn(take).for_each(execute)));
            }
            std::iter::from_fn(take).for_each(execute);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_advance_the_progress_of_their_search() {
        let search = SearchProgress::default();
        let pool = |begin, end| Threads { progress: search.in_phase(begin, end), ..Threads::default() };
        pool(0, 60).each(7, &|_| ());
        assert_eq!(search.percent(), 60);
        pool(60, 100).each(4, &|index| assert!((60..100).contains(&search.percent()), "{index}"));
        assert_eq!(search.percent(), 100);
        pool(60, 80).each(1, &|_| ());
        assert_eq!(search.percent(), 100, "it never decreases");
    }
}

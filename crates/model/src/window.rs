//! A window: at most a given number of operations are inside on each path, the others wait in order.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

#[derive(Clone, Debug)]
pub(crate) struct AdmissionWindow {
    paths: Vec<PathQueue>,
    /// The path after the one that was chosen last.
    next: usize,
}

#[derive(Clone, Debug)]
struct PathQueue {
    free: u32,
    waiting: VecDeque<u32>,
}

impl AdmissionWindow {
    pub(crate) fn new(slots: u32, paths: u8) -> Self {
        Self { paths: vec![PathQueue { free: slots, waiting: VecDeque::new() }; usize::from(paths)], next: 0 }
    }

    /// The path of a passage that has none: with the fewest operations, in turns if several have as few.
    #[inline]
    pub(crate) fn choose(&mut self) -> u8 {
        let count = self.paths.len();
        if count == 1 {
            return 0;
        }
        let load = |path: &usize| (self.paths[*path].waiting.len(), u32::MAX - self.paths[*path].free);
        let path = (self.next..self.next + count).map(|path| path % count).min_by_key(load).unwrap_or(0);
        self.next = (path + 1) % count;
        path as u8
    }

    /// True if `passage` enters now; else it waits.
    #[inline]
    pub(crate) fn enter(&mut self, passage: u32, path: u8) -> bool {
        let path = self.path(path);
        if path.free > 0 {
            path.free -= 1;
            return true;
        }
        path.waiting.push_back(passage);
        false
    }

    /// Frees a slot; returns the passage that takes it.
    #[inline]
    pub(crate) fn leave(&mut self, path: u8) -> Option<u32> {
        let path = self.path(path);
        let next = path.waiting.pop_front();
        path.free += u32::from(next.is_none());
        next
    }

    #[inline]
    fn path(&mut self, path: u8) -> &mut PathQueue {
        let count = self.paths.len();
        &mut self.paths[usize::from(path) % count]
    }
}

//! Execution of the independent parts of a search.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Executes the independent parts of a search. Results do not depend on the order.
pub trait Pool: fmt::Debug + Send + Sync {
    /// Calls `work` with each index below `parts`, in any order and possibly concurrently. It may omit indices if the
    /// result is no longer wanted, which is then incomplete.
    fn each(&self, parts: usize, work: &(dyn Fn(usize) + Sync));
}

/// Executes the parts in order on the calling thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct InOrder;

impl Pool for InOrder {
    fn each(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..parts).for_each(work);
    }
}

/// Results of the items, in their order.
pub(crate) fn map<I: Sync, T: Send>(pool: &dyn Pool, items: &[I], work: impl Fn(&I) -> T + Sync) -> Vec<T> {
    let done = Mutex::new(BTreeMap::new());
    pool.each(items.len(), &|index| {
        let result = work(&items[index]);
        done.lock().unwrap_or_else(PoisonError::into_inner).insert(index, result);
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

//! Work on all processors.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::Result;

/// Results of `work` for all items, in their order.
pub fn map_on_all_processors<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> Result<R> + Sync) -> Result<Vec<R>> {
    let slots: Vec<Mutex<(Option<T>, Option<R>)>> =
        items.into_iter().map(|item| Mutex::new((Some(item), None))).collect();
    let next = AtomicUsize::new(0);
    let take_slots = || -> Result<()> {
        while let Some(slot) = slots.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (item, result) = &mut *slot.lock().expect("no thread panics with the lock");
            *result = item.take().map(&work).transpose()?;
        }
        Ok(())
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(slots.len());
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(take_slots)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })?;
    let results = slots.into_iter().filter_map(|slot| slot.into_inner().expect("no thread panics with the lock").1);
    Ok(results.collect())
}

//! Work on all processors.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, SyncSender};
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

/// Items that a processor takes at a time.
const CHUNK: usize = 128;
/// Chunks for each processor that are in memory.
const CHUNKS: usize = 8;

/// Passes the results of `work` to `take`, in the order of the items, of which a bounded number is in memory. `work` has
/// a context of its own on each processor, such as a cache.
pub fn map_in_order<T: Send, R: Send, C: Send>(
    mut items: impl Iterator<Item = Result<T>>,
    context: impl Fn() -> C + Sync,
    work: impl Fn(&mut C, T) -> Result<R> + Sync,
    mut take: impl FnMut(R) -> Result<()>,
) -> Result<()> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let contexts = Mutex::new(Vec::new());
    loop {
        let mut chunks = Vec::new();
        while chunks.len() < processors * CHUNKS {
            let chunk = items.by_ref().take(CHUNK).collect::<Result<Vec<T>>>()?;
            if chunk.is_empty() {
                break;
            }
            chunks.push(chunk);
        }
        if chunks.is_empty() {
            return Ok(());
        }
        let results = map_on_all_processors(chunks, |chunk| {
            let free = contexts.lock().expect("no thread panics with the lock").pop();
            let mut context = free.unwrap_or_else(&context);
            let results = chunk.into_iter().map(|item| work(&mut context, item)).collect::<Result<Vec<R>>>();
            contexts.lock().expect("no thread panics with the lock").push(context);
            results
        })?;
        results.into_iter().flatten().try_for_each(&mut take)?;
    }
}

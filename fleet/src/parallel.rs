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

/// Passes the results of `work` to `take`, in the order of the items. `items` and `take` run in this thread; at most two
/// items for each processor are in memory.
pub fn map_in_order<T: Send, R: Send>(
    mut items: impl Iterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
    mut take: impl FnMut(R) -> Result<()>,
) -> Result<()> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let (jobs, queue) = mpsc::channel::<(T, SyncSender<R>)>();
    let queue = Mutex::new(queue);
    let run_jobs = || {
        loop {
            let job = queue.lock().expect("no thread panics with the lock").recv();
            let Ok((item, result)) = job else { return };
            // After a fault the results of waiting jobs are not taken.
            let _ = result.send(work(item));
        }
    };
    thread::scope(|scope| {
        // The threads end when it is dropped.
        let jobs = jobs;
        for _ in 0..threads {
            scope.spawn(run_jobs);
        }
        let mut pending = VecDeque::new();
        loop {
            while pending.len() < 2 * threads
                && let Some(item) = items.next()
            {
                let (result, receiver) = mpsc::sync_channel(1);
                jobs.send((item, result)).expect("the threads wait for jobs");
                pending.push_back(receiver);
            }
            let Some(first) = pending.pop_front() else { return Ok(()) };
            take(first.recv().expect("a worker does not panic"))?;
        }
    })
}

/// Items that a processor takes at a time.
const CHUNK: usize = 128;

/// As [`map_in_order`], with chunks of the items. `work` has a context of its own on each processor, such as a cache.
pub fn map_in_chunks<T: Send, R: Send, C: Send>(
    mut items: impl Iterator<Item = Result<T>>,
    context: impl Fn() -> C + Sync,
    work: impl Fn(&mut C, T) -> Result<R> + Sync,
    mut take: impl FnMut(R) -> Result<()>,
) -> Result<()> {
    let contexts = Mutex::new(Vec::new());
    let chunks = std::iter::from_fn(|| {
        let chunk: Vec<Result<T>> = items.by_ref().take(CHUNK).collect();
        (!chunk.is_empty()).then_some(chunk)
    });
    let run_chunk = |chunk: Vec<Result<T>>| {
        let free = contexts.lock().expect("no thread panics with the lock").pop();
        let mut context = free.unwrap_or_else(&context);
        let results = chunk.into_iter().map(|item| work(&mut context, item?)).collect::<Result<Vec<R>>>();
        contexts.lock().expect("no thread panics with the lock").push(context);
        results
    };
    map_in_order(chunks, run_chunk, |results| results?.into_iter().try_for_each(&mut take))
}

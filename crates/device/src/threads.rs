//! Threads with `pread` and `pwrite` as a target: for containers that refuse `io_uring`, and as a cross-check of it.
//!
//! Each worker has one operation in flight, so there are as many workers as slots.

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use plimsoll_drive::{Completion, Fault, Target};
use plimsoll_units::{Bytes, Instant, Op, Slot, Span};

use crate::calls::Calls;
use crate::clock::Clock;
use crate::engine::Shape;
use crate::extents::Files;

/// Maximum wait at the end of the pool for workers whose operations are with the device.
const JOIN_TIMEOUT: Span = Span::from_secs(2);

/// Interval of the checks whether they have finished.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// A pool of workers on the same files.
pub struct Threads {
    shared: Arc<Shared>,
    clock: Clock,
    workers: Vec<JoinHandle<()>>,
}

/// State shared by the loop and its workers.
#[derive(Default)]
struct Shared {
    orders: Mutex<Orders>,
    ordered: Condvar,
    answers: Mutex<Vec<Completion>>,
    answered: Condvar,
}

#[derive(Default)]
struct Orders {
    queue: VecDeque<(Slot, Op)>,
    closed: bool,
}

impl Threads {
    /// Workers for `shape` on `files` with their lengths, one behind the other as [`crate::Engine::start`] has them.
    ///
    /// # Errors
    /// The files cannot be duplicated, or a thread cannot be started.
    pub fn new(files: &[(BorrowedFd<'_>, Bytes)], shape: &Shape, clock: Clock) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        // All workers share a descriptor: a process may have 1,024 by default, and there can be as many workers.
        let files = Arc::new(Files::keep(files)?);
        let mut threads = Self { shared: Arc::clone(&shared), clock, workers: Vec::new() };
        for index in 0..shape.depth {
            let mut worker = Worker { calls: Calls::new(Arc::clone(&files), shape, index) };
            let shared = Arc::clone(&shared);
            let builder = std::thread::Builder::new().name(format!("worker {index}")).stack_size(64 << 10);
            threads.workers.push(builder.spawn(move || worker.serve(&shared, clock))?);
        }
        Ok(threads)
    }
}

struct Worker {
    calls: Calls,
}

impl Worker {
    fn serve(&mut self, shared: &Shared, clock: Clock) {
        loop {
            let mut orders = shared.orders.lock().unwrap_or_else(PoisonError::into_inner);
            let (slot, op) = loop {
                match orders.queue.pop_front() {
                    Some(order) => break order,
                    None if orders.closed => return,
                    None => orders = shared.ordered.wait(orders).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(orders);
            let ended = self.calls.perform(&op);
            let at = clock.now();
            let outcome = self.calls.checked(ended);
            let completion = Completion { slot, at, outcome, bound_by: None };
            shared.answers.lock().unwrap_or_else(PoisonError::into_inner).push(completion);
            shared.answered.notify_one();
        }
    }
}

impl Target for Threads {
    fn now(&mut self) -> Instant {
        self.clock.now()
    }

    fn submit(&mut self, batch: &[(Slot, Op)]) -> Result<(), Fault> {
        self.shared.orders.lock().unwrap_or_else(PoisonError::into_inner).queue.extend(batch);
        // One worker for each operation: waking all of a thousand idle workers would delay those that work.
        for _ in batch {
            self.shared.ordered.notify_one();
        }
        Ok(())
    }

    fn wait(&mut self, until: Instant, completions: &mut Vec<Completion>) -> Result<Instant, Fault> {
        let mut answers = self.shared.answers.lock().unwrap_or_else(PoisonError::into_inner);
        while answers.is_empty() {
            let left = until.since(self.clock.now());
            if left.is_zero() {
                break;
            }
            let waited = self.shared.answered.wait_timeout(answers, Duration::from_nanos(left.as_nanos()));
            answers = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        completions.append(&mut answers);
        drop(answers);
        Ok(self.clock.now())
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        let mut orders = self.shared.orders.lock().unwrap_or_else(PoisonError::into_inner);
        orders.closed = true;
        // The orders are void: a late worker must not write.
        orders.queue.clear();
        drop(orders);
        self.shared.ordered.notify_all();
        join_workers(&mut self.workers, self.clock, JOIN_TIMEOUT);
    }
}

/// Joins the workers that finish within `timeout`, and detaches the others: a device that never answers must not delay
/// the end of the run. This is sound, as a worker owns its buffers and its share of the file: the kernel accesses only
/// memory that lives as long as the thread.
fn join_workers(workers: &mut Vec<JoinHandle<()>>, clock: Clock, timeout: Span) {
    let end = clock.now() + timeout;
    while !workers.iter().all(JoinHandle::is_finished) && clock.now() < end {
        std::thread::sleep(POLL_INTERVAL);
    }
    for worker in workers.drain(..).filter(JoinHandle::is_finished) {
        // A worker that panicked has printed its message.
        let _ = worker.join();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn hung_worker_is_not_joined() {
        let (release, released) = channel::<()>();
        let (told, finished) = channel();
        let hung = std::thread::spawn(move || {
            let _ = released.recv();
            told.send(()).unwrap();
        });
        let mut workers = vec![hung, std::thread::spawn(|| ())];
        join_workers(&mut workers, Clock::start(), Span::from_millis(20));
        assert!(workers.is_empty());
        assert!(finished.try_recv().is_err(), "it is still under way");
        release.send(()).unwrap();
        finished.recv().unwrap();
    }
}

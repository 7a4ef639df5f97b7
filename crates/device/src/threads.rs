//! Threads with `pread` and `pwrite` as a target: for containers without `io_uring`, and as a cross-check.
//!
//! Each worker has one operation in flight, so the number of workers is the queue depth.

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
use crate::extents::OpenFiles;
use crate::shape::Shape;

/// Maximum wait on drop for workers with operations in flight.
const JOIN_TIMEOUT: Span = Span::from_secs(2);

const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// A pool of workers on the same files.
pub struct Threads {
    shared: Arc<LoopState>,
    clock: Clock,
    workers: Vec<JoinHandle<()>>,
}

/// State shared by the loop and its workers.
#[derive(Default)]
struct LoopState {
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
    /// Starts workers for `shape` on `files` with their lengths, concatenated in order, see [`crate::Engine::start`].
    ///
    /// # Errors
    /// The files cannot be duplicated, or a thread cannot be started.
    pub fn new(files: &[(BorrowedFd<'_>, Bytes)], shape: &Shape, clock: Clock) -> io::Result<Self> {
        let shared = Arc::new(LoopState::default());
        // Workers share descriptors: the default limit of a process is 1,024, and there may be as many workers.
        let files = Arc::new(OpenFiles::keep(files)?);
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
    fn serve(&mut self, shared: &LoopState, clock: Clock) {
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
        // Wakes one worker per operation: waking a thousand idle workers would delay the busy ones.
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
        // Drops queued operations, so that no write starts later.
        orders.queue.clear();
        drop(orders);
        self.shared.ordered.notify_all();
        join_workers(&mut self.workers, self.clock, JOIN_TIMEOUT);
    }
}

/// Joins the workers that finish within `timeout` and detaches the others: a hung device must not block the end of a
/// run. This is sound because a worker owns its buffers and its reference to the file.
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
        let (done, finished) = channel();
        let hung = std::thread::spawn(move || {
            let _ = released.recv();
            done.send(()).unwrap();
        });
        let mut workers = vec![hung, std::thread::spawn(|| ())];
        join_workers(&mut workers, Clock::start(), Span::from_millis(20));
        assert!(workers.is_empty());
        assert!(finished.try_recv().is_err(), "it still runs");
        release.send(()).unwrap();
        finished.recv().unwrap();
    }
}

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

/// How long the pool's end waits for workers whose operations are still with the device.
const PATIENCE: Span = Span::from_secs(2);

/// How often it looks whether they are back.
const LOOK: Duration = Duration::from_millis(1);

/// A pool of workers on the same files.
pub struct Threads {
    desk: Arc<Desk>,
    clock: Clock,
    workers: Vec<JoinHandle<()>>,
}

/// Where the loop and its workers meet.
#[derive(Default)]
struct Desk {
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
        let desk = Arc::new(Desk::default());
        // One descriptor for all: a process may have 1,024 by default, and there can be as many workers.
        let files = Arc::new(Files::keep(files)?);
        let mut threads = Self { desk: Arc::clone(&desk), clock, workers: Vec::new() };
        for index in 0..shape.depth {
            let mut worker = Worker { calls: Calls::new(Arc::clone(&files), shape, index) };
            let desk = Arc::clone(&desk);
            let builder = std::thread::Builder::new().name(format!("worker {index}")).stack_size(64 << 10);
            threads.workers.push(builder.spawn(move || worker.serve(&desk, clock))?);
        }
        Ok(threads)
    }
}

struct Worker {
    calls: Calls,
}

impl Worker {
    fn serve(&mut self, desk: &Desk, clock: Clock) {
        loop {
            let mut orders = desk.orders.lock().unwrap_or_else(PoisonError::into_inner);
            let (slot, op) = loop {
                match orders.queue.pop_front() {
                    Some(order) => break order,
                    None if orders.closed => return,
                    None => orders = desk.ordered.wait(orders).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(orders);
            let ended = self.calls.perform(&op);
            let at = clock.now();
            let outcome = self.calls.checked(ended);
            let completion = Completion { slot, at, outcome, bound_by: None };
            desk.answers.lock().unwrap_or_else(PoisonError::into_inner).push(completion);
            desk.answered.notify_one();
        }
    }
}

impl Target for Threads {
    fn now(&mut self) -> Instant {
        self.clock.now()
    }

    fn submit(&mut self, batch: &[(Slot, Op)]) -> Result<(), Fault> {
        self.desk.orders.lock().unwrap_or_else(PoisonError::into_inner).queue.extend(batch);
        // As many as there is work for: waking a thousand idle workers would take the processor from those that work.
        for _ in batch {
            self.desk.ordered.notify_one();
        }
        Ok(())
    }

    fn wait(&mut self, until: Instant, completions: &mut Vec<Completion>) -> Result<Instant, Fault> {
        let mut answers = self.desk.answers.lock().unwrap_or_else(PoisonError::into_inner);
        while answers.is_empty() {
            let left = until.since(self.clock.now());
            if left.is_zero() {
                break;
            }
            let waited = self.desk.answered.wait_timeout(answers, Duration::from_nanos(left.as_nanos()));
            answers = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        completions.append(&mut answers);
        drop(answers);
        Ok(self.clock.now())
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        let mut orders = self.desk.orders.lock().unwrap_or_else(PoisonError::into_inner);
        orders.closed = true;
        // Nobody waits for them any more: a worker that comes back late shall find nothing to write.
        orders.queue.clear();
        drop(orders);
        self.desk.ordered.notify_all();
        part(&mut self.workers, self.clock, PATIENCE);
    }
}

/// Joins the workers that finish within `patience`, and lets go of the others: a device that never answers shall not
/// hold up the end of the run. That is sound, because a worker owns its buffers and its share of the file: the kernel
/// moves data only to and from what lives as long as the thread.
fn part(workers: &mut Vec<JoinHandle<()>>, clock: Clock, patience: Span) {
    let end = clock.now() + patience;
    while !workers.iter().all(JoinHandle::is_finished) && clock.now() < end {
        std::thread::sleep(LOOK);
    }
    for worker in workers.drain(..).filter(JoinHandle::is_finished) {
        // A worker that panicked has said so on its own.
        let _ = worker.join();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_worker_that_hangs_is_let_go() {
        let (release, released) = channel::<()>();
        let (told, finished) = channel();
        let hung = std::thread::spawn(move || {
            let _ = released.recv();
            told.send(()).unwrap();
        });
        let mut workers = vec![hung, std::thread::spawn(|| ())];
        part(&mut workers, Clock::start(), Span::from_millis(20));
        assert!(workers.is_empty());
        assert!(finished.try_recv().is_err(), "it is still under way");
        release.send(()).unwrap();
        finished.recv().unwrap();
    }
}

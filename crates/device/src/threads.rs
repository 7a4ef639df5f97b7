//! Threads with `pread` and `pwrite` as a target: for containers that refuse `io_uring`, and as a cross-check of it.
//!
//! Each worker has one operation in flight, so there are as many workers as slots.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use plimsoll_drive::{Completion, Fault, Target};
use plimsoll_load::Outcome;
use plimsoll_units::{Instant, Kind, Op, Slot, Span};
use rustix::io::{Errno, IoSlice, ReadWriteFlags};

use crate::buffers::{Aligned, fill, stamp};
use crate::clock::Clock;
use crate::engine::Shape;

/// How long the pool's end waits for workers whose operations are still with the device.
const PATIENCE: Span = Span::from_secs(2);

/// How often it looks whether they are back.
const LOOK: Duration = Duration::from_millis(1);

/// A pool of workers on one file.
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
    /// Workers for `shape` on `file`.
    ///
    /// # Errors
    /// The file cannot be duplicated, or a thread cannot be started.
    pub fn new(file: BorrowedFd<'_>, shape: &Shape, clock: Clock) -> io::Result<Self> {
        let desk = Arc::new(Desk::default());
        // One descriptor for all: a process may have 1,024 by default, and there can be as many workers.
        let file = Arc::new(file.try_clone_to_owned()?);
        let mut threads = Self { desk: Arc::clone(&desk), clock, workers: Vec::new() };
        for index in 0..shape.depth {
            let mut worker = Worker::new(Arc::clone(&file), shape, index);
            let desk = Arc::clone(&desk);
            let builder = std::thread::Builder::new().name(format!("worker {index}")).stack_size(64 << 10);
            threads.workers.push(builder.spawn(move || worker.serve(&desk, clock))?);
        }
        Ok(threads)
    }
}

struct Worker {
    file: Arc<OwnedFd>,
    reads: Aligned,
    writes: Aligned,
    written: u64,
}

impl Worker {
    fn new(file: Arc<OwnedFd>, shape: &Shape, index: u32) -> Self {
        let mut writes = Aligned::new(if shape.writes { shape.stride() } else { 1 });
        fill(writes.bytes(), shape.compressible, shape.seed ^ u64::from(index));
        Self { file, reads: Aligned::new(shape.stride()), writes, written: u64::from(index) << 40 }
    }

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
            let outcome = match self.perform(&op) {
                Ok(moved) if moved == op.length as usize => Outcome::Done,
                Ok(_) => Outcome::Failed(Errno::IO.raw_os_error()),
                Err(error) => Outcome::Failed(error.raw_os_error()),
            };
            let completion = Completion { slot, at: clock.now(), outcome, bound_by: None };
            desk.answers.lock().unwrap_or_else(PoisonError::into_inner).push(completion);
            desk.answered.notify_one();
        }
    }

    fn perform(&mut self, op: &Op) -> rustix::io::Result<usize> {
        let length = op.length as usize;
        match op.kind {
            Kind::Read => rustix::io::pread(&self.file, &mut self.reads.bytes()[..length], op.offset),
            Kind::Flush => rustix::fs::fdatasync(&self.file).map(|()| 0),
            Kind::Write | Kind::DurableWrite => {
                self.written += 1;
                let data = &mut self.writes.bytes()[..length];
                stamp(data, self.written);
                let flags = if op.kind == Kind::DurableWrite { ReadWriteFlags::DSYNC } else { ReadWriteFlags::empty() };
                rustix::io::pwritev2(&self.file, &[IoSlice::new(data)], op.offset, flags)
            }
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

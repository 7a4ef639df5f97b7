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
use plimsoll_units::{Instant, Kind, Op, Slot};
use rustix::io::{Errno, IoSlice, ReadWriteFlags};

use crate::buffers::{Aligned, fill, stamp};
use crate::clock::Clock;
use crate::engine::Shape;

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
        let mut threads = Self { desk: Arc::clone(&desk), clock, workers: Vec::new() };
        for index in 0..shape.depth {
            let mut worker = Worker::new(file.try_clone_to_owned()?, shape, index);
            let desk = Arc::clone(&desk);
            let builder = std::thread::Builder::new().name(format!("worker {index}")).stack_size(64 << 10);
            threads.workers.push(builder.spawn(move || worker.serve(&desk, clock))?);
        }
        Ok(threads)
    }
}

struct Worker {
    file: OwnedFd,
    reads: Aligned,
    writes: Aligned,
    written: u64,
}

impl Worker {
    fn new(file: OwnedFd, shape: &Shape, index: u32) -> Self {
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
        match batch {
            [_] => self.desk.ordered.notify_one(),
            _ => self.desk.ordered.notify_all(),
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
        self.desk.orders.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.desk.ordered.notify_all();
        for worker in self.workers.drain(..) {
            // A worker that panicked has said so on its own.
            let _ = worker.join();
        }
    }
}

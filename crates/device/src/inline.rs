//! `pread` and `pwrite` in the loop's thread as a target: for tests of blocking calls, and for cached data, which a
//! direct call reads faster than a worker thread.
//!
//! An operation is complete when `submit` returns, with its own clock reading. Operations of a batch run sequentially.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_drive::{Completion, Fault, Target};
use plimsoll_units::{Bytes, Instant, Op, Slot};

use crate::calls::Calls;
use crate::clock::Clock;
use crate::extents::OpenFiles;
use crate::shape::Shape;

/// Target that executes operations by sequential calls.
pub struct Inline {
    clock: Clock,
    now: Instant,
    calls: Calls,
    done: Vec<Completion>,
}

impl Inline {
    /// A target for `shape` on `files` with their lengths, concatenated in order, see [`crate::Engine::start`].
    ///
    /// # Errors
    /// The files cannot be duplicated.
    pub fn new(files: &[(BorrowedFd<'_>, Bytes)], shape: &Shape, clock: Clock) -> io::Result<Self> {
        let calls = Calls::new(Arc::new(OpenFiles::keep(files)?), shape, 0);
        Ok(Self { now: clock.now(), clock, calls, done: Vec::with_capacity(shape.depth as usize) })
    }
}

impl Target for Inline {
    fn now(&mut self) -> Instant {
        self.now = self.clock.now();
        self.now
    }

    /// # Panics
    /// If an operation exceeds `Shape::largest`, or writes although `Shape::writes` is false.
    fn submit(&mut self, batch: &[(Slot, Op)]) -> Result<(), Fault> {
        for (slot, op) in batch {
            let ended = self.calls.perform(op);
            self.now = self.clock.now();
            let outcome = self.calls.checked(ended);
            self.done.push(Completion { slot: *slot, at: self.now, outcome, bound_by: None });
            if self.calls.checks() {
                self.now = self.clock.now();
            }
        }
        Ok(())
    }

    fn wait(&mut self, until: Instant, completions: &mut Vec<Completion>) -> Result<Instant, Fault> {
        Ok(waited(&mut self.done, &mut self.now, self.clock, until, completions))
    }
}

/// Returns pending completions, or sleeps until `until` if there are none. Returns the time, reusing the clock reading
/// of the last operation if possible.
#[inline]
pub(crate) fn waited(
    done: &mut Vec<Completion>,
    now: &mut Instant,
    clock: Clock,
    until: Instant,
    completions: &mut Vec<Completion>,
) -> Instant {
    if done.is_empty() {
        *now = clock.now();
        if until > *now {
            std::thread::sleep(Duration::from_nanos(until.since(*now).as_nanos()));
            *now = clock.now();
        }
    } else {
        completions.append(done);
    }
    *now
}

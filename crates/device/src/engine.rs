//! Which engine issues the operations, and what it has to be prepared for.

use std::fmt;
use std::os::fd::BorrowedFd;

use plimsoll_drive::{Fault, Target};
use plimsoll_units::Bytes;

use crate::buffers::PAGE;
use crate::clock::Clock;
use crate::ring::Ring;
use crate::threads::Threads;

/// What issues the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// An `io_uring` ring.
    Ring,
    /// Threads with `pread` and `pwrite`.
    Threads,
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ring => "io_uring",
            Self::Threads => "threads",
        })
    }
}

/// What an engine has to be prepared for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Operations in flight at most, at least 1.
    pub depth: u32,
    /// The largest operation.
    pub largest: Bytes,
    /// Some operations write.
    pub writes: bool,
    /// Share of the written data that compresses away, 0 to 1.
    pub compressible: f64,
    /// What determines the written data.
    pub seed: u64,
}

impl Shape {
    /// From one slot's buffer to the next, in bytes: whole pages.
    pub(crate) fn stride(&self) -> usize {
        (self.largest.get() as usize).next_multiple_of(PAGE).max(PAGE)
    }
}

impl Engine {
    /// What the kernel says when this engine cannot be used here; `None` when it can.
    pub fn refused(self) -> Option<String> {
        match self {
            Self::Threads => None,
            Self::Ring => {
                let least = Shape { depth: 1, largest: Bytes::kib(4), writes: false, compressible: 0.0, seed: 0 };
                Ring::new(None, &least, Clock::start()).err().map(|error| error.to_string())
            }
        }
    }

    /// A target on `file`. Call it on the thread that will use it.
    pub fn start(self, file: BorrowedFd<'_>, shape: &Shape, clock: Clock) -> Result<Box<dyn Target>, Fault> {
        let made: std::io::Result<Box<dyn Target>> = match self {
            Self::Ring => Ring::new(Some(file), shape, clock).map(|ring| Box::new(ring) as Box<dyn Target>),
            Self::Threads => Threads::new(file, shape, clock).map(|threads| Box::new(threads) as Box<dyn Target>),
        };
        made.map_err(|source| Fault { attempt: format!("starting {self} at depth {}", shape.depth), source })
    }
}

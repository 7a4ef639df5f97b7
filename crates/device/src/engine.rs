//! The engines that issue operations.

use std::fmt;
use std::os::fd::BorrowedFd;

use plimsoll_drive::{Fault, Target};
use plimsoll_units::Bytes;

use crate::aio::Aio;
use crate::clock::Clock;
use crate::inline::Inline;
use crate::mapped::Mapped;
use crate::null::Null;
use crate::ring::Ring;
use crate::shape::Shape;
use crate::threads::Threads;

/// The mechanism that issues operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// An `io_uring` ring.
    Ring,
    /// The kernel's asynchronous I/O, which libaio wraps.
    Aio,
    /// Threads with `pread` and `pwrite`.
    Threads,
    /// `pread` and `pwrite` in the loop's thread, sequentially.
    Inline,
    /// Memory-mapped files: copies to and from the page cache, and `msync`. A file must keep its length: an access
    /// beyond its end, or a read error of the device, kills the process with `SIGBUS`.
    Mapped,
    /// Moves no data and completes immediately: measures the overhead of the loop itself. Files are not accessed.
    Null,
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ring => "io_uring",
            Self::Aio => "libaio",
            Self::Threads => "threads",
            Self::Inline => "sync",
            Self::Mapped => "mmap",
            Self::Null => "null",
        })
    }
}

impl Engine {
    /// The error of the kernel if this engine cannot be used here.
    pub fn refused(self) -> Option<String> {
        match self {
            Self::Threads | Self::Inline | Self::Mapped | Self::Null => None,
            Self::Aio => Aio::probe().err().map(|error| error.to_string()),
            Self::Ring => {
                let least = Shape::reading(1, Bytes::kib(4));
                Ring::new(None, &least, Clock::start()).err().map(|error| error.to_string())
            }
        }
    }

    /// Starts the engine on `files`, at least one, with their lengths: the first occupies the offsets from 0, the
    /// others follow in order. An operation must lie in a single file; a flush goes to the file at its offset. With a
    /// single file, flushes ignore the offset. Must be called on the thread that uses the target.
    ///
    /// # Errors
    /// `io_uring` is missing, no AIO requests, threads or descriptors are left, or a file is shorter than its stated
    /// length (mapped).
    pub fn start(
        self,
        files: &[(BorrowedFd<'_>, Bytes)],
        shape: &Shape,
        clock: Clock,
    ) -> Result<Box<dyn Target>, Fault> {
        let started: std::io::Result<Box<dyn Target>> = match self {
            Self::Ring => Ring::over(files, shape, clock).map(|ring| Box::new(ring) as Box<dyn Target>),
            Self::Aio => Aio::new(files, shape, clock).map(|aio| Box::new(aio) as Box<dyn Target>),
            Self::Threads => Threads::new(files, shape, clock).map(|threads| Box::new(threads) as Box<dyn Target>),
            Self::Inline => Inline::new(files, shape, clock).map(|inline| Box::new(inline) as Box<dyn Target>),
            Self::Null => Ok(Box::new(Null::new(clock)) as Box<dyn Target>),
            Self::Mapped => Mapped::new(files, shape, clock).map(|mapped| Box::new(mapped) as Box<dyn Target>),
        };
        started.map_err(|source| Fault { attempt: format!("starting {self} at depth {}", shape.depth), source })
    }
}

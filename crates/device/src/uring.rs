//! The `io_uring` of a load, of the client of exports and of the server: setup, submission, waiting and completions.
#![allow(unsafe_code)]

use std::io;

use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{IoUring, Submitter, squeue};
use plimsoll_units::Span;

/// A ring, for the thread that made it.
pub struct Uring {
    inner: IoUring,
    in_flight: u32,
}

impl Uring {
    /// A ring for this many queued operations, with room for `ratio` times as many completions. It has a single issuer
    /// that runs its own task work (Linux 6.1) where the kernel has that.
    ///
    /// # Errors
    /// The kernel has no `io_uring`, or does not allow it.
    pub fn new(entries: u32, ratio: u32) -> io::Result<Self> {
        let entries = entries.next_power_of_two().clamp(8, 32_768);
        let inner = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_cqsize(entries * ratio)
            .build(entries)
            .or_else(|_| IoUring::builder().setup_cqsize(entries * ratio).build(entries))?;
        Ok(Self { inner, in_flight: 0 })
    }

    /// Registers files and buffers.
    pub(crate) fn submitter(&self) -> Submitter<'_> {
        self.inner.submitter()
    }

    /// Queues an operation. A full queue is submitted.
    ///
    /// # Errors
    /// The ring fails as a whole.
    ///
    /// # Safety
    /// Memory that the operation refers to stays in place until its completion was taken, also if the ring is dropped
    /// before. Until then nothing else writes to it, and nothing reads from memory that the operation writes to.
    #[inline]
    pub unsafe fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: the caller's promise.
        while unsafe { self.inner.submission().push(entry) }.is_err() {
            passing(self.inner.submit())?;
        }
        self.in_flight += 1;
        Ok(())
    }

    /// True when operations are queued that were not submitted.
    #[inline]
    pub fn is_queued(&mut self) -> bool {
        !self.inner.submission().is_empty()
    }

    /// Submits the queued operations.
    ///
    /// # Errors
    /// The ring fails as a whole.
    #[inline]
    pub fn submit(&mut self) -> io::Result<()> {
        passing(self.inner.submit())
    }

    /// Submits the queued operations, and waits for a completion, at most for `timeout`. With a timeout of zero too, the
    /// kernel finishes what it has begun.
    ///
    /// # Errors
    /// The ring fails as a whole.
    #[inline]
    pub fn wait(&mut self, timeout: Option<Span>) -> io::Result<()> {
        passing(match timeout {
            None => self.inner.submitter().submit_and_wait(1),
            Some(timeout) => {
                let nanos = timeout.as_nanos();
                let timeout = Timespec::new().sec(nanos / 1_000_000_000).nsec((nanos % 1_000_000_000) as u32);
                self.inner.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&timeout))
            }
        })
    }

    /// True when [`Uring::completions`] has some without a call of the system.
    #[inline]
    pub fn has_completions(&mut self) -> bool {
        !self.inner.completion().is_empty()
    }

    /// True when an operation has completed. Where the kernel defers task work, its completion may need a call.
    #[inline]
    pub fn is_ready(&mut self) -> bool {
        self.has_completions() || self.inner.submission().taskrun()
    }

    /// Takes the completions: the user data and the result of each operation.
    #[inline]
    pub fn completions(&mut self) -> impl Iterator<Item = (u64, i32)> {
        let Self { inner, in_flight } = self;
        inner.completion().map(move |entry| {
            *in_flight -= 1;
            (entry.user_data(), entry.result())
        })
    }

    /// Operations whose completions were not taken: the kernel may still use their memory.
    pub const fn in_flight(&self) -> u32 {
        self.in_flight
    }
}

/// A call that ended because of a timeout, a signal, or completions that have to be taken first has not failed.
fn passing(entered: io::Result<usize>) -> io::Result<()> {
    match entered.map_err(|error| (error.raw_os_error(), error)) {
        Ok(_) | Err((Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN), _)) => Ok(()),
        Err((_, error)) => Err(error),
    }
}

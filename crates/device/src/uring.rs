//! A thin wrapper of `io_uring` for loads, NBD clients and the server.
#![allow(unsafe_code)]

use std::io;

use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{IoUring, Submitter, squeue};
use plimsoll_units::Span;

/// A ring, used only on its creating thread.
pub struct Uring {
    inner: IoUring,
    in_flight: u32,
}

impl Uring {
    /// Creates a ring for `entries` queued operations and `ratio` times as many completions. With a single issuer and
    /// deferred task work (Linux 6.1) if available.
    ///
    /// # Errors
    /// `io_uring` is missing or not permitted.
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

    /// Queues an operation; submits if the queue is full.
    ///
    /// # Errors
    /// The ring failed.
    ///
    /// # Safety
    /// Memory referenced by the operation stays valid until its completion was taken, even if the ring is dropped
    /// before. Until then it is not written to, nor read if the operation writes to it.
    #[inline]
    pub unsafe fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: guaranteed by the caller.
        while unsafe { self.inner.submission().push(entry) }.is_err() {
            passing(self.inner.submit())?;
        }
        self.in_flight += 1;
        Ok(())
    }

    /// True if queued operations were not submitted.
    #[inline]
    pub fn is_queued(&mut self) -> bool {
        !self.inner.submission().is_empty()
    }

    /// Submits the queued operations.
    ///
    /// # Errors
    /// The ring failed.
    #[inline]
    pub fn submit(&mut self) -> io::Result<()> {
        passing(self.inner.submit())
    }

    /// Submits queued operations and waits for a completion, up to `timeout`. Even a zero timeout runs deferred task
    /// work.
    ///
    /// # Errors
    /// The ring failed.
    #[inline]
    pub fn wait(&mut self, timeout: Option<Span>) -> io::Result<()> {
        self.wait_for(1, timeout)
    }

    /// [`Self::wait`] for `count` completions that were not taken.
    ///
    /// # Errors
    /// The ring failed.
    #[inline]
    pub fn wait_for(&mut self, count: u32, timeout: Option<Span>) -> io::Result<()> {
        let count = count as usize;
        passing(match timeout {
            None => self.inner.submitter().submit_and_wait(count),
            Some(timeout) => {
                let nanos = timeout.as_nanos();
                let timeout = Timespec::new().sec(nanos / 1_000_000_000).nsec((nanos % 1_000_000_000) as u32);
                self.inner.submitter().submit_with_args(count, &SubmitArgs::new().timespec(&timeout))
            }
        })
    }

    /// True if [`Uring::completions`] yields `count` without a system call.
    #[inline]
    pub fn has_completions(&mut self, count: u32) -> bool {
        self.inner.completion().len() >= count as usize
    }

    /// True if an operation has completed. With deferred task work, its completion may need a system call.
    #[inline]
    pub fn is_ready(&mut self) -> bool {
        self.has_completions(1) || self.inner.submission().taskrun()
    }

    /// Takes completions: user data and result of each operation.
    #[inline]
    pub fn completions(&mut self) -> impl Iterator<Item = (u64, i32)> {
        let Self { inner, in_flight } = self;
        inner.completion().map(move |entry| {
            *in_flight -= 1;
            (entry.user_data(), entry.result())
        })
    }

    /// Number of operations whose completions were not taken: the kernel may still use their memory.
    pub const fn in_flight(&self) -> u32 {
        self.in_flight
    }
}

/// Ignores errors that mean a timeout, a signal, or a full completion queue.
fn passing(entered: io::Result<usize>) -> io::Result<()> {
    match entered.map_err(|error| (error.raw_os_error(), error)) {
        Ok(_) | Err((Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN), _)) => Ok(()),
        Err((_, error)) => Err(error),
    }
}

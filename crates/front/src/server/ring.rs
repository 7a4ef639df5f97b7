//! The ring: what is handed to the kernel, and one call that hands over, waits and reaps.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};
use plimsoll_units::Span;

/// Entries of the submission queue; a full one is handed over at once.
const ENTRIES: u32 = 512;

/// What an operation of the ring is for. The number is that of a connection, task, listener or filesystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Received(u32),
    Writable(u32),
    Worked(u32),
    Accepted(u32),
    Asked(u32),
    Mail,
    Look,
    Cancelled,
}

impl Token {
    const fn pack(self) -> u64 {
        let (kind, number) = match self {
            Self::Received(number) => (0, number),
            Self::Writable(number) => (1, number),
            Self::Worked(number) => (2, number),
            Self::Accepted(number) => (3, number),
            Self::Mail => (4, 0),
            Self::Look => (5, 0),
            Self::Cancelled => (6, 0),
            Self::Asked(number) => (7, number),
        };
        kind << 32 | number as u64
    }

    const fn unpack(packed: u64) -> Self {
        let number = packed as u32;
        match packed >> 32 {
            0 => Self::Received(number),
            1 => Self::Writable(number),
            2 => Self::Worked(number),
            3 => Self::Accepted(number),
            4 => Self::Mail,
            5 => Self::Look,
            7 => Self::Asked(number),
            _ => Self::Cancelled,
        }
    }
}

/// An operation ended, with what the kernel said.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub token: Token,
    pub result: i32,
}

/// The ring of a server.
pub(super) struct Ring {
    uring: IoUring,
    /// Operations that the kernel has and whose memory must stay.
    held: usize,
}

impl Ring {
    pub(super) fn new() -> io::Result<Self> {
        let uring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_cqsize(ENTRIES * 8)
            .build(ENTRIES)
            .or_else(|_| IoUring::builder().setup_cqsize(ENTRIES * 8).build(ENTRIES))?;
        Ok(Self { uring, held: 0 })
    }

    /// Queues an operation.
    ///
    /// # Safety
    /// Memory that the operation refers to stays where it is until the event comes, also when the ring is dropped before;
    /// until then nothing else writes to it, and nothing reads what the operation writes.
    #[inline]
    pub(super) unsafe fn push(&mut self, entry: squeue::Entry, token: Token) -> io::Result<()> {
        let entry = entry.user_data(token.pack());
        // SAFETY: the caller's promise.
        while unsafe { self.uring.submission().push(&entry) }.is_err() {
            passing(self.uring.submit())?;
        }
        self.held += 1;
        Ok(())
    }

    /// Breaks an operation off; its own event comes all the same.
    pub(super) fn cancel(&mut self, token: Token) -> io::Result<()> {
        // SAFETY: it refers to no memory.
        unsafe { self.push(opcode::AsyncCancel::new(token.pack()).build(), Token::Cancelled) }
    }

    /// Waits until a descriptor is ready for `events`, as `poll(2)` names them.
    pub(super) fn poll(&mut self, descriptor: BorrowedFd<'_>, events: i16, token: Token) -> io::Result<()> {
        let entry = opcode::PollAdd::new(Fd(descriptor.as_raw_fd()), events as u32).build();
        // SAFETY: it refers to no memory.
        unsafe { self.push(entry, token) }
    }

    /// Waits for a client at a listening socket; the event's result is its descriptor.
    pub(super) fn accept(&mut self, listener: BorrowedFd<'_>, token: Token) -> io::Result<()> {
        let nobody = std::ptr::null_mut();
        let entry = opcode::Accept::new(Fd(listener.as_raw_fd()), nobody, nobody.cast());
        // SAFETY: it refers to no memory: nobody wants the client's address.
        unsafe { self.push(entry.flags(libc::SOCK_CLOEXEC).build(), token) }
    }

    /// Waits for a time to pass.
    pub(super) fn sleep(&mut self, time: &'static Timespec, token: Token) -> io::Result<()> {
        // SAFETY: what is static stays.
        unsafe { self.push(opcode::Timeout::new(time).build(), token) }
    }

    /// Hands over what is queued.
    pub(super) fn submit(&mut self) -> io::Result<()> {
        if self.uring.submission().is_empty() {
            return Ok(());
        }
        passing(self.uring.submit())
    }

    /// True when [`Ring::wait`] has events to append at once.
    #[inline]
    pub(super) fn has_events(&mut self) -> bool {
        self.uring.submission().taskrun() || !self.uring.completion().is_empty()
    }

    /// Hands over what is queued, waits for an event, for at most `most` if that is given, and appends the events.
    #[inline]
    pub(super) fn wait(&mut self, most: Option<Span>, events: &mut Vec<Event>) -> io::Result<()> {
        // Also with nothing to wait for: the call is what lets the kernel finish what it has begun.
        passing(match most {
            None => self.uring.submitter().submit_and_wait(1),
            Some(most) => {
                let (seconds, nanos) = (most.as_nanos() / 1_000_000_000, (most.as_nanos() % 1_000_000_000) as u32);
                let timeout = Timespec::new().sec(seconds).nsec(nanos);
                self.uring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&timeout))
            }
        })?;
        for entry in self.uring.completion() {
            self.held -= 1;
            events.push(Event { token: Token::unpack(entry.user_data()), result: entry.result() });
        }
        Ok(())
    }

    /// True when the kernel may still use memory of the server.
    pub(super) const fn holds_memory(&self) -> bool {
        self.held > 0
    }
}

/// A call that ended because time is up, a signal came, or completions have to be reaped first, has not failed.
fn passing(entered: io::Result<usize>) -> io::Result<()> {
    match entered.map_err(|error| (error.raw_os_error(), error)) {
        Ok(_) | Err((Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN), _)) => Ok(()),
        Err((_, error)) => Err(error),
    }
}

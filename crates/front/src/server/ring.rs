//! The operations of the server's ring, and the tokens that identify them.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::types::{Fd, Timespec};
use io_uring::{opcode, squeue};
use plimsoll_device::Uring;
use plimsoll_units::Span;

/// Entries of the submission queue; a full one is handed over at once.
const ENTRIES: u32 = 512;

/// The purpose of an operation. The number is that of a connection, task, listener or mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Received(u32),
    Writable(u32),
    Worked(u32),
    Accepted(u32),
    Message(u32),
    Mailbox,
    Tick,
    Cancelled,
}

impl Token {
    const fn pack(self) -> u64 {
        let (kind, number) = match self {
            Self::Received(number) => (0, number),
            Self::Writable(number) => (1, number),
            Self::Worked(number) => (2, number),
            Self::Accepted(number) => (3, number),
            Self::Mailbox => (4, 0),
            Self::Tick => (5, 0),
            Self::Cancelled => (6, 0),
            Self::Message(number) => (7, number),
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
            4 => Self::Mailbox,
            5 => Self::Tick,
            7 => Self::Message(number),
            _ => Self::Cancelled,
        }
    }
}

/// A completed operation, with its result.
#[derive(Clone, Copy, Debug)]
pub(super) struct RingEvent {
    pub token: Token,
    pub result: i32,
}

pub(super) struct Ring {
    pub uring: Uring,
}

impl Ring {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { uring: Uring::new(ENTRIES, 8)? })
    }

    /// Queues an operation.
    ///
    /// # Safety
    /// As for [`Uring::push`].
    #[inline]
    pub(super) unsafe fn push(&mut self, entry: squeue::Entry, token: Token) -> io::Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.uring.push(&entry.user_data(token.pack())) }
    }

    /// Cancels an operation, which still completes with its own event.
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
        // SAFETY: refers to no memory, as the client's address is not requested.
        unsafe { self.push(entry.flags(libc::SOCK_CLOEXEC).build(), token) }
    }

    /// Waits for a time to pass.
    pub(super) fn sleep(&mut self, time: &'static Timespec, token: Token) -> io::Result<()> {
        // SAFETY: the timespec is static.
        unsafe { self.push(opcode::Timeout::new(time).build(), token) }
    }

    /// Submits the queued operations, waits for an event, at most for `timeout`, and appends the events.
    #[inline]
    pub(super) fn wait(&mut self, timeout: Option<Span>, events: &mut Vec<RingEvent>) -> io::Result<()> {
        self.uring.wait(timeout)?;
        let completions = self.uring.completions();
        events.extend(completions.map(|(token, result)| RingEvent { token: Token::unpack(token), result }));
        Ok(())
    }
}

//! The kernel's asynchronous I/O (`io_submit`, `io_getevents`) as a target, as used by programs with libaio.
//!
//! Only direct I/O is asynchronous; a buffered operation is complete when it is submitted. Flushes and trims are
//! separate calls, as in fio's engine of this name.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use plimsoll_drive::{Completion, Fault, Target};
use plimsoll_load::OpOutcome;
use plimsoll_units::{Bytes, Instant, Kind, Op, Slot};

use crate::buffers::Aligned;
use crate::calls::{flush, trim};
use crate::clock::Clock;
use crate::content::Scribe;
use crate::extents::OpenFiles;
use crate::ring::{FREE, SHORT_WAIT};
use crate::shape::{Batching, Flush, Shape};

/// `struct iocb` of `linux/aio_abi.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct IoControlBlock {
    data: u64,
    #[cfg(target_endian = "little")]
    key: u32,
    rw_flags: i32,
    #[cfg(target_endian = "big")]
    key: u32,
    opcode: u16,
    priority: i16,
    descriptor: u32,
    buffer: u64,
    length: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_descriptor: u32,
}

/// `struct io_event` of `linux/aio_abi.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct IoEvent {
    data: u64,
    request: u64,
    result: i64,
    result2: i64,
}

const _: () = assert!(size_of::<IoControlBlock>() == 64 && size_of::<IoEvent>() == 32);

/// Opcodes of `linux/aio_abi.h`.
const READ: u16 = 0;
const WRITE: u16 = 1;

/// A context of the kernel, destroyed on drop.
#[derive(Debug)]
struct Context(libc::c_ulong);

impl Context {
    /// A context for `depth` concurrent operations.
    fn new(depth: u32) -> io::Result<Self> {
        let mut context: libc::c_ulong = 0;
        // SAFETY: the kernel writes one word to `context`, which is zero as required.
        let status = unsafe { libc::syscall(libc::SYS_io_setup, libc::c_long::from(depth), &raw mut context) };
        match checked(status) {
            Ok(_) => Ok(Self(context)),
            Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => {
                let why = format!("{error}: all requests of /proc/sys/fs/aio-max-nr are in use: raise it");
                Err(io::Error::new(error.kind(), why))
            }
            Err(error) => Err(error),
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: made by `io_setup`, and not used afterwards.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.0) };
    }
}

fn checked(returned: libc::c_long) -> io::Result<usize> {
    usize::try_from(returned).map_err(|_| io::Error::last_os_error())
}

/// Target that submits operations to a kernel AIO context.
pub struct Aio {
    /// `None` only during drop.
    context: Option<Context>,
    clock: Clock,
    now: Instant,
    files: OpenFiles,
    flush: Flush,
    /// Flags of a durable write.
    durable: i32,
    scribe: Scribe,
    reads: Aligned,
    writes: Aligned,
    writable: bool,
    stride: usize,
    batching: Batching,
    /// Request of each slot.
    requests: Vec<IoControlBlock>,
    /// Addresses of the requests of the next submission.
    queued: Vec<*mut IoControlBlock>,
    events: Vec<IoEvent>,
    /// Bytes of each slot's operation; [`FREE`] for an idle slot.
    expected: Vec<u32>,
    /// Flushes and trims, which are complete when submitted.
    done: Vec<Completion>,
    in_flight: u32,
}

// SAFETY: `queued` is empty between two calls, so none of its pointers outlives a call; all other fields may move
// between threads.
unsafe impl Send for Aio {}

impl Aio {
    /// A target for `shape` on `files` with their lengths, concatenated in order, see [`crate::Engine::start`].
    ///
    /// # Errors
    /// Kernel AIO is missing, all of its requests are in use, or a file cannot be duplicated.
    pub fn new(files: &[(BorrowedFd<'_>, Bytes)], shape: &Shape, clock: Clock) -> io::Result<Self> {
        let context = Context::new(shape.depth)?;
        let (stride, slots) = (shape.stride(), shape.depth as usize);
        let reads = Aligned::new(stride * slots);
        let mut writes = Aligned::new(if shape.writes { reads.len() } else { 1 });
        let scribe = shape.scribe(shape.depth);
        scribe.prepare(writes.bytes());
        Ok(Self {
            context: Some(context),
            now: clock.now(),
            clock,
            files: OpenFiles::keep(files)?,
            flush: shape.flush,
            durable: shape.durable.flags(),
            scribe,
            reads,
            writes,
            writable: shape.writes,
            stride,
            batching: shape.batching,
            requests: vec![IoControlBlock::default(); slots],
            queued: Vec::with_capacity(slots),
            events: vec![IoEvent::default(); slots],
            expected: vec![FREE; slots],
            done: Vec::with_capacity(slots),
            in_flight: 0,
        })
    }

    /// Checks that the kernel provides asynchronous I/O to this process.
    ///
    /// # Errors
    /// The error of `io_setup`.
    pub(crate) fn probe() -> io::Result<()> {
        Context::new(1).map(drop)
    }

    fn context(&self) -> libc::c_ulong {
        self.context.as_ref().map_or(0, |context| context.0)
    }

    /// Prepares the request of a read or write.
    #[inline]
    fn prepare(&mut self, slot: Slot, op: &Op) {
        assert!(op.length as usize <= self.stride, "{} bytes do not fit a slot of {}", op.length, self.stride);
        let start = slot.index() * self.stride;
        let (opcode, buffer) = if op.kind == Kind::Read {
            self.scribe.begin(slot, op);
            (READ, self.reads.at(start))
        } else {
            assert!(self.writable, "write submitted to a read-only engine");
            // SAFETY: the slot is free, which `submit` has checked, so the kernel does not use its part of the buffer,
            // and no other reference exists.
            let data = unsafe { self.writes.part(start, op.length as usize) };
            self.scribe.write(slot, op, data);
            (WRITE, data.as_mut_ptr())
        };
        let (file, offset) = self.files.place(op);
        self.expected[slot.index()] = op.length;
        self.requests[slot.index()] = IoControlBlock {
            data: u64::from(slot.0),
            rw_flags: if op.kind == Kind::DurableWrite { self.durable } else { 0 },
            opcode,
            descriptor: file.as_raw_fd().cast_unsigned(),
            buffer: buffer as u64,
            length: u64::from(op.length),
            offset: offset.cast_signed(),
            ..IoControlBlock::default()
        };
        self.queued.push(&raw mut self.requests[slot.index()]);
    }

    /// Executes a flush or a trim.
    #[cold]
    fn call(&mut self, slot: Slot, op: &Op) {
        assert!(self.writable || op.kind != Kind::Trim, "trim submitted to a read-only engine");
        self.expected[slot.index()] = 0;
        self.scribe.begin(slot, op);
        let (file, offset) = self.files.place(op);
        let called = match op.kind {
            Kind::Trim => trim(file, offset, u64::from(op.length)),
            _ => flush(file, self.flush),
        };
        let outcome = called.map_or_else(|error| OpOutcome::Failed(error.raw_os_error()), |()| OpOutcome::Done);
        self.now = self.clock.now();
        self.done.push(Completion { slot, at: self.now, outcome, bound_by: None });
    }

    /// Submits the queued requests. If the kernel has no space, waits for a completion.
    fn submit_queued(&mut self) -> io::Result<()> {
        let mut submitted = 0;
        while submitted < self.queued.len() {
            let rest = &self.queued[submitted..];
            // SAFETY: the requests live as long as `self` and describe parts of buffers that belong to free slots,
            // which are not moved or freed while the operations are in flight (see Drop). The kernel copies the
            // requests.
            let taken = checked(unsafe {
                libc::syscall(libc::SYS_io_submit, self.context(), rest.len().cast_signed(), rest.as_ptr())
            });
            match taken {
                Ok(taken) => {
                    submitted += taken;
                    self.in_flight += taken as u32;
                }
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                Err(error) if error.raw_os_error() == Some(libc::EAGAIN) && self.in_flight > 0 => {
                    let reaped = self.reap(1, None)?;
                    let mut completions = std::mem::take(&mut self.done);
                    self.take(reaped, &mut completions);
                    self.done = completions;
                }
                Err(error) => return Err(error),
            }
        }
        self.queued.clear();
        Ok(())
    }

    /// Prepares and submits operations. Flushes and trims are calls of this thread, after the operations before them were
    /// submitted.
    fn submit_all(&mut self, batch: &[(Slot, Op)]) -> io::Result<()> {
        let submit_max = self.batching.submit_max.map_or(usize::MAX, |submit_max| submit_max as usize);
        for (slot, op) in batch {
            let is_free = self.expected.get(slot.index()).is_none_or(|expected| *expected == FREE);
            assert!(is_free, "slot {} is in flight", slot.index());
            match op.kind {
                Kind::Read | Kind::Write | Kind::DurableWrite => {
                    self.prepare(*slot, op);
                    if self.queued.len() >= submit_max {
                        self.submit_queued()?;
                    }
                }
                Kind::Flush | Kind::Trim => {
                    self.submit_queued()?;
                    self.call(*slot, op);
                }
            }
        }
        self.submit_queued()
    }

    /// Waits for at least `least` events or until the timeout.
    #[inline]
    fn reap(&mut self, least: u32, timeout: Option<Duration>) -> io::Result<usize> {
        let timeout = timeout.map(|timeout| libc::timespec {
            tv_sec: libc::time_t::try_from(timeout.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: libc::c_long::from(timeout.subsec_nanos()),
        });
        let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let (events, max) = (self.events.as_mut_ptr(), self.events.len().cast_signed());
        // SAFETY: the kernel writes at most `max` events into an array of that length, and reads the timeout, which
        // outlives the call.
        let reaped = checked(unsafe {
            libc::syscall(libc::SYS_io_getevents, self.context(), libc::c_long::from(least), max, events, timeout)
        });
        match reaped {
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => Ok(0),
            reaped => reaped,
        }
    }

    /// Turns reaped events into completions.
    #[inline]
    fn take(&mut self, reaped: usize, completions: &mut Vec<Completion>) {
        self.now = self.clock.now();
        self.in_flight -= reaped as u32;
        for event in &self.events[..reaped] {
            let slot = Slot(event.data as u32);
            let expected = self.expected[slot.index()];
            let outcome = match event.result {
                error if error < 0 => OpOutcome::Failed(-(error as i32)),
                moved if moved == i64::from(expected) => OpOutcome::Done,
                _ => OpOutcome::Failed(libc::EIO),
            };
            let outcome = self.scribe.end(slot, outcome, |length| {
                // SAFETY: the slot's operation was a read of this length, which fits its slot. It has ended, so the
                // kernel does not use this part of the buffer, and no other reference to it exists.
                unsafe { std::slice::from_raw_parts(self.reads.at(slot.index() * self.stride), length) }
            });
            completions.push(Completion { slot, at: self.now, outcome, bound_by: None });
        }
    }

    /// Time until `until`; zero if completions are pending.
    #[inline]
    fn left(&mut self, until: Instant) -> Duration {
        if !self.done.is_empty() {
            return Duration::ZERO;
        }
        if until.since(self.now) < SHORT_WAIT {
            self.now = self.clock.now();
        }
        Duration::from_nanos(until.since(self.now).as_nanos())
    }
}

impl Target for Aio {
    fn now(&mut self) -> Instant {
        self.now = self.clock.now();
        self.now
    }

    /// # Panics
    /// If an operation exceeds `Shape::largest`, writes or trims although `Shape::writes` is false, crosses a file
    /// boundary, or uses a slot in flight.
    fn submit(&mut self, batch: &[(Slot, Op)]) -> Result<(), Fault> {
        let submitted = self.submit_all(batch);
        self.queued.clear();
        submitted.map_err(|source| Fault { attempt: "submitting with io_submit".into(), source })
    }

    fn wait(&mut self, until: Instant, completions: &mut Vec<Completion>) -> Result<Instant, Fault> {
        let before = completions.len();
        let left = self.left(until);
        if self.in_flight > 0 {
            let least = if left.is_zero() { 0 } else { self.batching.reap_min.min(self.in_flight) };
            let reaped = self.reap(least, Some(left));
            let reaped = reaped.map_err(|source| Fault { attempt: "waiting with io_getevents".into(), source })?;
            self.take(reaped, completions);
        } else if !left.is_zero() {
            std::thread::sleep(left);
            self.now = self.clock.now();
        }
        completions.append(&mut self.done);
        for completion in &completions[before..] {
            self.expected[completion.slot.index()] = FREE;
        }
        if self.scribe.follows() {
            // The verification must not count as time of the next operations.
            self.now = self.clock.now();
        }
        Ok(self.now)
    }
}

impl Drop for Aio {
    fn drop(&mut self) {
        if self.in_flight > 0 {
            // The kernel may still write to these buffers, so they are leaked. The context is leaked, too: destroying
            // it would wait for all operations.
            for buffer in [&mut self.reads, &mut self.writes] {
                std::mem::forget(std::mem::replace(buffer, Aligned::new(1)));
            }
            std::mem::forget(self.context.take());
        }
    }
}

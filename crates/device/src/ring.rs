//! An `io_uring` ring as a target: operations are queued without a system call, and one call submits, waits and reaps.
//!
//! Knows nothing about loads or figures. File and buffers are registered where the kernel lets them be.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};
use plimsoll_drive::{Completion, Fault, Target};
use plimsoll_load::Outcome;
use plimsoll_units::{Instant, Kind, Op, Slot, Span};

use crate::buffers::{Aligned, fill, stamp};
use crate::clock::Clock;
use crate::engine::Shape;

/// A wait shorter than this is worth a clock reading of its own, because an arrival may depend on it.
const SHORT_WAIT: Span = Span::from_millis(5);

/// A full queue is handed over in so many parts. All at once would be fewer calls, but then the device has nothing to do
/// while the queue is prepared, and everything while it is reaped: a virtual disk lost 18 % of its IOPS so at depth 32,
/// and no more than noise in parts of 2 to 8 operations.
const HANDFULS: usize = 8;

/// A ring with one file, or with none: then every operation is a no-op that the kernel completes at once.
pub struct Ring {
    uring: IoUring,
    clock: Clock,
    now: Instant,
    file: Option<RawFd>,
    reads: Aligned,
    writes: Aligned,
    stride: usize,
    /// Buffers are registered: index 0 for reads, 1 for writes.
    registered: bool,
    /// Bytes that each slot's operation must move.
    expected: Vec<u32>,
    /// Operations handed to the kernel at once: the device begins on the first while the next are prepared.
    handful: usize,
    in_flight: u32,
    written: u64,
}

impl Ring {
    /// A ring for `shape` on `file`, made on the thread that will use it.
    ///
    /// # Errors
    /// What the kernel says when `io_uring` is not there, or not allowed.
    pub fn new(file: Option<BorrowedFd<'_>>, shape: &Shape, clock: Clock) -> io::Result<Self> {
        let uring = setup(shape.depth)?;
        let stride = shape.stride();
        let reads = Aligned::new(if file.is_some() { stride * shape.depth as usize } else { 1 });
        let mut writes = Aligned::new(if file.is_some() && shape.writes { reads.len() } else { 1 });
        fill(writes.bytes(), shape.compressible, shape.seed);
        if let Some(file) = file {
            uring.submitter().register_files(&[file.as_raw_fd()])?;
        }
        let vectors = [&reads, &writes].map(|b| libc::iovec { iov_base: b.at(0).cast(), iov_len: b.len() });
        // SAFETY: both buffers live as long as the ring, or are leaked with it (see Drop). Registration may be refused
        // by a limit on locked memory: unregistered buffers serve as well, only slower.
        let registered = unsafe { uring.submitter().register_buffers(&vectors) }.is_ok();
        Ok(Self {
            uring,
            now: clock.now(),
            clock,
            file: file.map(|file| file.as_raw_fd()),
            reads,
            writes,
            stride,
            registered,
            expected: vec![0; shape.depth as usize],
            handful: (shape.depth as usize / HANDFULS).max(1),
            in_flight: 0,
            written: shape.seed,
        })
    }

    #[inline]
    fn entry(&mut self, slot: Slot, op: &Op) -> squeue::Entry {
        let entry = if self.file.is_none() {
            opcode::Nop::new().build()
        } else {
            match op.kind {
                Kind::Read => self.read(slot, op),
                Kind::Write => self.write(slot, op, 0),
                Kind::DurableWrite => self.write(slot, op, libc::RWF_DSYNC),
                Kind::Flush => opcode::Fsync::new(Fixed(0)).flags(FsyncFlags::DATASYNC).build(),
            }
        };
        entry.user_data(u64::from(slot.0))
    }

    /// Where the buffer of an operation begins. What is longer than a slot would reach into the next one's, or beyond
    /// the last.
    #[inline]
    fn place(&self, slot: Slot, op: &Op) -> usize {
        assert!(op.length as usize <= self.stride, "{} bytes do not fit a slot of {}", op.length, self.stride);
        slot.index() * self.stride
    }

    fn read(&self, slot: Slot, op: &Op) -> squeue::Entry {
        let buffer = self.reads.at(self.place(slot, op));
        if self.registered {
            opcode::ReadFixed::new(Fixed(0), buffer, op.length, 0).offset(op.offset).build()
        } else {
            opcode::Read::new(Fixed(0), buffer, op.length).offset(op.offset).build()
        }
    }

    fn write(&mut self, slot: Slot, op: &Op, flags: i32) -> squeue::Entry {
        let start = self.place(slot, op);
        assert!(self.writes.len() == self.reads.len(), "a write is submitted to a ring whose shape says no writes");
        self.written += 1;
        // SAFETY: `place` has checked that the operation fits its slot, and the buffer holds whole slots. The slot is
        // free, so the kernel does not use its part of the buffer, and no other reference exists.
        let data = unsafe { std::slice::from_raw_parts_mut(self.writes.at(start), op.length as usize) };
        stamp(data, self.written);
        let buffer = data.as_ptr();
        if self.registered {
            opcode::WriteFixed::new(Fixed(0), buffer, op.length, 1).offset(op.offset).rw_flags(flags).build()
        } else {
            opcode::Write::new(Fixed(0), buffer, op.length).offset(op.offset).rw_flags(flags).build()
        }
    }

    /// Submits what is queued and waits for a completion or until `until`.
    fn enter(&mut self, until: Instant) -> io::Result<()> {
        if self.uring.submission().is_empty() && !self.uring.completion().is_empty() {
            return Ok(());
        }
        let mut left = until.since(self.now);
        if left < SHORT_WAIT {
            self.now = self.clock.now();
            left = until.since(self.now);
        }
        let entered = if left.is_zero() {
            self.uring.submit()
        } else {
            let timeout =
                Timespec::new().sec(left.as_nanos() / 1_000_000_000).nsec((left.as_nanos() % 1_000_000_000) as u32);
            self.uring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&timeout))
        };
        passing(entered)
    }
}

/// A call that ended because time is up, a signal came, or completions have to be reaped first, has not failed: what
/// is there is reaped, and the loop asks again.
fn passing(entered: io::Result<usize>) -> io::Result<()> {
    match entered.map_err(|error| (error.raw_os_error(), error)) {
        Ok(_) | Err((Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN), _)) => Ok(()),
        Err((_, error)) => Err(error),
    }
}

/// The fastest setup that the kernel has: a single issuer that runs its own task work (Linux 6.1), else a plain ring.
pub(crate) fn setup(depth: u32) -> io::Result<IoUring> {
    let entries = depth.next_power_of_two().clamp(8, 32_768);
    IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_taskrun_flag()
        .build(entries)
        .or_else(|_| IoUring::new(entries))
}

impl Target for Ring {
    fn now(&mut self) -> Instant {
        self.now = self.clock.now();
        self.now
    }

    /// # Panics
    /// When an operation is larger than the ring's shape says, or writes although the shape says that none does.
    fn submit(&mut self, batch: &[(Slot, Op)]) -> Result<(), Fault> {
        let mut handfuls = batch.chunks(self.handful).peekable();
        while let Some(handful) = handfuls.next() {
            for (slot, op) in handful {
                let entry = self.entry(*slot, op);
                self.expected[slot.index()] = if self.file.is_some() { op.length } else { 0 };
                // SAFETY: the buffers behind the entry are not moved or freed while it is in flight.
                let pushed = unsafe { self.uring.submission().push(&entry) };
                pushed.expect("the queue holds as many entries as there are slots");
                // Counted one by one, so that those before one that panics are known to Drop.
                self.in_flight += 1;
            }
            // The last handful goes with the wait, in one call.
            if handfuls.peek().is_some() {
                passing(self.uring.submit())
                    .map_err(|source| Fault { attempt: "submitting to io_uring".into(), source })?;
            }
        }
        Ok(())
    }

    fn wait(&mut self, until: Instant, completions: &mut Vec<Completion>) -> Result<Instant, Fault> {
        self.enter(until).map_err(|source| Fault { attempt: "waiting for io_uring".into(), source })?;
        self.now = self.clock.now();
        let before = completions.len();
        for entry in self.uring.completion() {
            let slot = Slot(entry.user_data() as u32);
            let outcome = match entry.result() {
                error if error < 0 => Outcome::Failed(-error),
                moved if moved as u32 == self.expected[slot.index()] => Outcome::Done,
                _ => Outcome::Failed(libc::EIO),
            };
            completions.push(Completion { slot, at: self.now, outcome, bound_by: None });
        }
        self.in_flight -= (completions.len() - before) as u32;
        Ok(self.now)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if self.in_flight > 0 {
            // The kernel may still move data: the memory is given up rather than reused.
            for buffer in [&mut self.reads, &mut self.writes] {
                std::mem::forget(std::mem::replace(buffer, Aligned::new(1)));
            }
        }
    }
}

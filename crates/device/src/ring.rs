//! An `io_uring` ring as a target: operations are queued without a system call, and one call submits, waits and reaps.
//!
//! Independent of loads and figures. Files and buffers are registered where the kernel allows that.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use io_uring::types::{Fixed, FsyncFlags};
use io_uring::{opcode, squeue};
use plimsoll_drive::{Completion, Fault, Target};
use plimsoll_load::OpOutcome;
use plimsoll_units::{Bytes, Instant, Kind, Op, Slot, Span};

use crate::buffers::Aligned;
use crate::calls::trim;
use crate::clock::Clock;
use crate::content::Scribe;
use crate::extents::{Extents, OpenFiles};
use crate::processor_limit::processor_limit;
use crate::shape::{Batching, Flush, Shape};
use crate::uring::Uring;
use crate::yield_rule::YieldRule;

/// Waits shorter than this use a fresh clock reading, as an arrival may depend on it.
pub(crate) const SHORT_WAIT: Span = Span::from_millis(5);

/// Minimum wait for which the processor may be yielded before sleeping; not before an arrival.
const YIELD_WAIT_MIN: Span = Span::from_millis(1);

/// Number of parts in which a full queue is submitted. A single call leaves the device idle while the queue is
/// prepared, and overloaded while it is reaped: at depth 32 a virtual disk lost 18 % of its IOPS, and nothing
/// measurable in parts of 2 to 8 operations.
const QUEUE_PARTS: usize = 8;

/// Value of `expected` for an idle slot; no operation has this length.
pub(crate) const FREE: u32 = u32::MAX;

/// A ring on files; without files, every operation is a no-op that the kernel completes immediately.
pub struct Ring {
    uring: Uring,
    clock: Clock,
    now: Instant,
    /// Without files: every operation is a no-op.
    idle: bool,
    extents: Extents,
    /// Files of a ring that writes, for trims by system call.
    trimmed: Option<OpenFiles>,
    /// Completed trims that were not yet returned.
    done: Vec<Completion>,
    flush: Flush,
    /// Flags of a durable write.
    durable: i32,
    scribe: Scribe,
    reads: Aligned,
    writes: Aligned,
    stride: usize,
    /// Buffers are registered: index 0 for reads, 1 for writes.
    registered: bool,
    /// Bytes of each slot's operation; [`FREE`] for an idle slot.
    expected: Vec<u32>,
    /// Operations per submission: the device starts with them while the next are prepared.
    part_len: usize,
    batching: Batching,
    /// `None` under a limit of processor time: yielding in vain uses up the quota, and the group is then stopped.
    yield_rule: Option<YieldRule>,
}

impl Ring {
    /// Creates a ring for `shape` on `file`; must be called on the thread that uses it.
    ///
    /// # Errors
    /// `io_uring` is missing or not permitted.
    pub fn new(file: Option<BorrowedFd<'_>>, shape: &Shape, clock: Clock) -> io::Result<Self> {
        // The length of a single file is not used.
        let files = file.map(|file| (file, Bytes::default()));
        Self::over(files.as_slice(), shape, clock)
    }

    /// Creates a ring for `shape` on `files` with their lengths, concatenated in order, see [`crate::Engine::start`].
    ///
    /// # Errors
    /// `io_uring` is missing or not permitted.
    pub fn over(files: &[(BorrowedFd<'_>, Bytes)], shape: &Shape, clock: Clock) -> io::Result<Self> {
        let uring = Uring::new(shape.depth, 2)?;
        let stride = shape.stride();
        let idle = files.is_empty();
        let reads = Aligned::new(if idle { 1 } else { stride * shape.depth as usize });
        let mut writes = Aligned::new(if idle || !shape.writes { 1 } else { reads.len() });
        let scribe = shape.scribe(shape.depth);
        scribe.prepare(writes.bytes());
        if !idle {
            let descriptors: Vec<RawFd> = files.iter().map(|(file, _)| file.as_raw_fd()).collect();
            uring.submitter().register_files(&descriptors)?;
        }
        let vectors = [&reads, &writes].map(|b| libc::iovec { iov_base: b.at(0).cast(), iov_len: b.len() });
        // SAFETY: both buffers live as long as the ring, or are leaked with it (see Drop). A limit on locked memory may
        // refuse registration: unregistered buffers are slower, but work.
        let registered = unsafe { uring.submitter().register_buffers(&vectors) }.is_ok();
        let now = clock.now();
        Ok(Self {
            uring,
            now,
            clock,
            idle,
            extents: Extents::new(files.iter().map(|(_, length)| *length)),
            trimmed: if idle || !shape.writes { None } else { Some(OpenFiles::keep(files)?) },
            done: Vec::new(),
            flush: shape.flush,
            durable: shape.durable.flags(),
            scribe,
            reads,
            writes,
            stride,
            registered,
            expected: vec![FREE; shape.depth as usize],
            part_len: match shape.batching.submit_max {
                Some(submit_max) => submit_max.max(1) as usize,
                None => (shape.depth as usize / QUEUE_PARTS).max(1),
            },
            batching: shape.batching,
            yield_rule: processor_limit().is_none().then(|| YieldRule::new(now)),
        })
    }

    fn submit_parts<const SEVERAL: bool>(&mut self, batch: &[(Slot, Op)]) -> io::Result<()> {
        let mut parts = batch.chunks(self.part_len).peekable();
        while let Some(part) = parts.next() {
            for (slot, op) in part {
                let is_free = self.expected.get(slot.index()).is_none_or(|expected| *expected == FREE);
                assert!(is_free, "slot {} is in flight", slot.index());
                if op.kind == Kind::Trim {
                    self.trim(*slot, op);
                    continue;
                }
                let entry = self.entry::<SEVERAL>(*slot, op);
                self.expected[slot.index()] = if self.idle { 0 } else { op.length };
                // SAFETY: the entry's buffers belong to the ring and are not moved or freed while it is in flight (see
                // Drop); its slot's part is not used before its completion.
                unsafe { self.uring.push(&entry) }?;
            }
            // The last part is submitted with the wait, in one call, unless completions of the last wait are still pending.
            if parts.peek().is_some() || self.batching.submit_max.is_some() {
                self.uring.submit()?;
            }
        }
        Ok(())
    }

    /// Trims by system call: `io_uring` has no such operation.
    #[cold]
    fn trim(&mut self, slot: Slot, op: &Op) {
        assert!(self.idle || self.trimmed.is_some(), "trim submitted to a read-only ring");
        // The slot stays in use until its completion is returned.
        self.expected[slot.index()] = 0;
        let outcome = match &self.trimmed {
            None => OpOutcome::Done,
            Some(files) => {
                let (file, offset) = files.place(op);
                let trimmed = trim(file, offset, u64::from(op.length));
                trimmed.map_or_else(|error| OpOutcome::Failed(error.raw_os_error()), |()| OpOutcome::Done)
            }
        };
        self.now = self.clock.now();
        self.done.push(Completion { slot, at: self.now, outcome, bound_by: None });
    }

    #[inline]
    fn entry<const SEVERAL: bool>(&mut self, slot: Slot, op: &Op) -> squeue::Entry {
        let entry = if self.idle {
            opcode::Nop::new().build()
        } else {
            match op.kind {
                Kind::Read => self.read::<SEVERAL>(slot, op),
                Kind::Write => self.write::<SEVERAL>(slot, op, 0),
                Kind::DurableWrite => self.write::<SEVERAL>(slot, op, self.durable),
                Kind::Flush => self.flush::<SEVERAL>(op),
                Kind::Trim => unreachable!("trims are system calls"),
            }
        };
        entry.user_data(u64::from(slot.0))
    }

    /// Registered file of an operation, and offset in the file. `SEVERAL` is const so that a single file needs no
    /// lookup.
    #[inline]
    fn file<const SEVERAL: bool>(&self, op: &Op) -> (Fixed, u64) {
        if !SEVERAL {
            return (Fixed(0), op.offset);
        }
        let (file, offset) = self.extents.place(op);
        (Fixed(file as u32), offset)
    }

    /// Start of the buffer of an operation. Asserts that it fits its slot.
    #[inline]
    fn place(&self, slot: Slot, op: &Op) -> usize {
        assert!(op.length as usize <= self.stride, "{} bytes do not fit a slot of {}", op.length, self.stride);
        slot.index() * self.stride
    }

    fn read<const SEVERAL: bool>(&self, slot: Slot, op: &Op) -> squeue::Entry {
        let buffer = self.reads.at(self.place(slot, op));
        let (file, offset) = self.file::<SEVERAL>(op);
        if self.registered {
            opcode::ReadFixed::new(file, buffer, op.length, 0).offset(offset).build()
        } else {
            opcode::Read::new(file, buffer, op.length).offset(offset).build()
        }
    }

    fn write<const SEVERAL: bool>(&mut self, slot: Slot, op: &Op, flags: i32) -> squeue::Entry {
        let start = self.place(slot, op);
        assert!(self.writes.len() == self.reads.len(), "write submitted to a read-only ring");
        let (file, offset) = self.file::<SEVERAL>(op);
        // SAFETY: the slot is free (checked by `submit_parts`), so the kernel does not use its part of the buffer;
        // `place` has checked that the operation fits; no other reference exists.
        let data = unsafe { self.writes.part(start, op.length as usize) };
        self.scribe.write(slot, op, data);
        let buffer = self.writes.at(start);
        if self.registered {
            opcode::WriteFixed::new(file, buffer, op.length, 1).offset(offset).rw_flags(flags).build()
        } else {
            opcode::Write::new(file, buffer, op.length).offset(offset).rw_flags(flags).build()
        }
    }

    fn flush<const SEVERAL: bool>(&self, op: &Op) -> squeue::Entry {
        let (file, _) = self.file::<SEVERAL>(op);
        match self.flush {
            Flush::Fdatasync => opcode::Fsync::new(file).flags(FsyncFlags::DATASYNC).build(),
            Flush::Fsync => opcode::Fsync::new(file).build(),
            // A length of zero means the rest of the file.
            Flush::SyncFileRange(flags) => opcode::SyncFileRange::new(file, 0).flags(flags).build(),
        }
    }

    /// Verifies data that were read.
    #[cold]
    fn check(&self, completions: &mut [Completion]) {
        for Completion { slot, outcome, .. } in completions {
            *outcome = self.scribe.end(*slot, *outcome, |length| {
                // SAFETY: the slot's operation was a read of this length, which fits its slot. It has completed, so the
                // kernel does not use this part of the buffer, and no other reference to it exists.
                unsafe { std::slice::from_raw_parts(self.reads.at(slot.index() * self.stride), length) }
            });
        }
    }

    /// Submits queued operations and waits for a completion or until `until`.
    fn enter(&mut self, until: Instant) -> io::Result<()> {
        let is_queued = self.uring.is_queued();
        let count = self.batching.reap_min.clamp(1, self.uring.in_flight().max(1));
        if !is_queued && (self.uring.has_completions(count) || !self.done.is_empty()) {
            return Ok(());
        }
        let until = if self.done.is_empty() { until } else { Instant::ZERO };
        let mut left = until.since(self.now);
        if left < SHORT_WAIT {
            self.now = self.clock.now();
            left = until.since(self.now);
        }
        let is_yielding = count == 1 && self.yield_rule.as_ref().is_some_and(YieldRule::is_active);
        if is_yielding && left >= YIELD_WAIT_MIN && self.submit_and_yield(is_queued)? {
            return Ok(());
        }
        if left.is_zero() { self.uring.submit() } else { self.uring.wait_for(count, Some(left)) }
    }

    /// Submits queued operations and yields the processor instead of sleeping. Returns true if completions can be
    /// reaped without another call.
    fn submit_and_yield(&mut self, is_queued: bool) -> io::Result<bool> {
        if is_queued {
            self.uring.submit()?;
        }
        if !self.uring.is_ready() {
            std::thread::yield_now();
            let is_success = self.uring.is_ready();
            if let Some(rule) = &mut self.yield_rule {
                rule.yielded(is_success);
            }
        }
        Ok(self.uring.has_completions(1))
    }
}

impl Target for Ring {
    fn now(&mut self) -> Instant {
        self.now = self.clock.now();
        self.now
    }

    /// # Panics
    /// If an operation exceeds `Shape::largest`, writes or trims although `Shape::writes` is false, crosses a file
    /// boundary, or uses a slot in flight.
    fn submit(&mut self, batch: &[(Slot, Op)]) -> Result<(), Fault> {
        if self.scribe.follows() {
            let others = batch.iter().filter(|(_, op)| !op.kind.writes());
            others.for_each(|(slot, op)| self.scribe.begin(*slot, op));
        }
        let submitted =
            if self.extents.several() { self.submit_parts::<true>(batch) } else { self.submit_parts::<false>(batch) };
        submitted.map_err(|source| Fault { attempt: "submitting to io_uring".into(), source })
    }

    fn wait(&mut self, until: Instant, completions: &mut Vec<Completion>) -> Result<Instant, Fault> {
        self.enter(until).map_err(|source| Fault { attempt: "waiting for io_uring".into(), source })?;
        self.now = self.clock.now();
        let before = completions.len();
        for (slot, result) in self.uring.completions() {
            let slot = Slot(slot as u32);
            let expected = std::mem::replace(&mut self.expected[slot.index()], FREE);
            let outcome = match result {
                error if error < 0 => OpOutcome::Failed(-error),
                moved if moved as u32 == expected => OpOutcome::Done,
                _ => OpOutcome::Failed(libc::EIO),
            };
            completions.push(Completion { slot, at: self.now, outcome, bound_by: None });
        }
        let reaped = (completions.len() - before) as u32;
        if let Some(rule) = &mut self.yield_rule {
            rule.completed(reaped, self.now);
        }
        for trimmed in &self.done {
            self.expected[trimmed.slot.index()] = FREE;
        }
        completions.append(&mut self.done);
        if self.scribe.follows() {
            self.check(&mut completions[before..]);
            // Verification must not count as time of the next operations.
            self.now = self.clock.now();
        }
        Ok(self.now)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if self.uring.in_flight() > 0 {
            // The kernel may still write to this memory, so it is leaked.
            for buffer in [&mut self.reads, &mut self.writes] {
                std::mem::forget(std::mem::replace(buffer, Aligned::new(1)));
            }
        }
    }
}

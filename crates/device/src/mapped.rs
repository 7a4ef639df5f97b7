//! Memory-mapped files as a target: operations are copies to and from the page cache.
//!
//! The time of a copy includes page faults, readahead and waits for dirty pages. Truncation or a read error of a mapped
//! file kills the process with `SIGBUS`: its length is only checked at the start.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

use plimsoll_drive::{Completion, Fault, Target};
use plimsoll_load::OpOutcome;
use plimsoll_units::{Bytes, Instant, Kind, Op, Slot};

use crate::buffers::{Aligned, PAGE};
use crate::calls::{flush, trim};
use crate::clock::Clock;
use crate::content::Scribe;
use crate::extents::OpenFiles;
use crate::file::length;
use crate::inline::waited;
use crate::page_cache::AccessAdvice;
use crate::shape::{Flush, Shape};

/// Slot of the only operation in flight.
const ONLY: Slot = Slot(0);

/// Target on mapped files.
pub struct Mapped {
    clock: Clock,
    now: Instant,
    files: OpenFiles,
    maps: Vec<Map>,
    reads: Aligned,
    writes: Aligned,
    writable: bool,
    scribe: Scribe,
    flush: Flush,
    done: Vec<Completion>,
}

/// Mapping of a file.
struct Map {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: a mapping belongs to the process, not to a thread, and this value is its only owner.
unsafe impl Send for Map {}

impl Map {
    fn new(file: BorrowedFd<'_>, claimed: Bytes, writes: bool) -> io::Result<Self> {
        let actual = length(file)?;
        if claimed > actual || claimed == Bytes::default() {
            let message = format!("{} bytes of a file of {} cannot be mapped", claimed.get(), actual.get());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let length = usize::try_from(claimed.get()).map_err(io::Error::other)?;
        let access = libc::PROT_READ | if writes { libc::PROT_WRITE } else { 0 };
        // SAFETY: a new mapping at an address chosen by the kernel.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        match NonNull::new(start.cast::<u8>()) {
            Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => Ok(Self { start, length }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Gives the kernel advice. A refused advice changes no result.
    fn advise(&self, advice: AccessAdvice) {
        let advice = match advice {
            AccessAdvice::Random => libc::MADV_RANDOM,
            AccessAdvice::Sequential => libc::MADV_SEQUENTIAL,
        };
        // SAFETY: the range is this mapping, and these kinds of advice modify no memory.
        unsafe { libc::madvise(self.start.as_ptr().cast(), self.length, advice) };
    }

    /// Address of `length` bytes at `offset`; `None` if they exceed the mapping.
    fn at(&self, offset: u64, length: usize) -> Option<*mut u8> {
        let offset = usize::try_from(offset).ok()?;
        let fits = offset.checked_add(length).is_some_and(|end| end <= self.length);
        // SAFETY: inside the mapping, or at its end for zero bytes.
        fits.then(|| unsafe { self.start.as_ptr().add(offset) })
    }

    /// Writes the dirty pages of `length` bytes at `offset`, and makes them durable.
    fn sync(&self, offset: u64, length: usize) -> io::Result<()> {
        let first = offset as usize / PAGE * PAGE;
        let bytes = (offset as usize + length).min(self.length) - first;
        // SAFETY: the pages are inside the mapping; the call modifies no memory.
        match unsafe { libc::msync(self.start.as_ptr().add(first).cast(), bytes, libc::MS_SYNC) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: created by `mmap` with this length; no address of it remains in use.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

impl Mapped {
    /// A target for `shape` on `files` with their lengths, concatenated in order, see [`crate::Engine::start`].
    ///
    /// # Errors
    /// A file is empty, shorter than its stated length, or cannot be mapped.
    pub fn new(files: &[(BorrowedFd<'_>, Bytes)], shape: &Shape, clock: Clock) -> io::Result<Self> {
        let maps: Vec<Map> =
            files.iter().map(|(file, length)| Map::new(*file, *length, shape.writes)).collect::<io::Result<_>>()?;
        if let Some(advice) = shape.advice {
            for map in &maps {
                map.advise(advice);
            }
        }
        let scribe = shape.scribe(1);
        let mut writes = Aligned::new(if shape.writes { shape.stride() } else { 1 });
        scribe.prepare(writes.bytes());
        Ok(Self {
            now: clock.now(),
            clock,
            files: OpenFiles::keep(files)?,
            maps,
            reads: Aligned::new(shape.stride()),
            writes,
            writable: shape.writes,
            scribe,
            flush: shape.flush,
            done: Vec::with_capacity(shape.depth as usize),
        })
    }

    fn perform(&mut self, op: &Op) -> OpOutcome {
        let length = op.length as usize;
        let (file, offset) = self.files.index(op);
        let Some(place) = self.maps[file].at(offset, length) else { return OpOutcome::Failed(libc::EIO) };
        let synced = match op.kind {
            Kind::Read => {
                self.scribe.begin(ONLY, op);
                let into = self.reads.bytes()[..length].as_mut_ptr();
                // SAFETY: both ranges have `length` bytes and do not overlap.
                unsafe { std::ptr::copy_nonoverlapping(place, into, length) };
                Ok(())
            }
            Kind::Write | Kind::DurableWrite => {
                assert!(self.writable, "write submitted to a read-only engine");
                let from = &mut self.writes.bytes()[..length];
                self.scribe.write(ONLY, op, from);
                // SAFETY: as above; the mapping is writable because `shape.writes` was asserted.
                unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), place, length) };
                if op.kind == Kind::DurableWrite { self.maps[file].sync(offset, length) } else { Ok(()) }
            }
            Kind::Trim => {
                assert!(self.writable, "trim submitted to a read-only engine");
                self.scribe.begin(ONLY, op);
                trim(self.files.place(op).0, offset, u64::from(op.length)).map_err(io::Error::from)
            }
            Kind::Flush => {
                self.scribe.begin(ONLY, op);
                match self.flush {
                    Flush::Fdatasync | Flush::Fsync => self.maps[file].sync(0, self.maps[file].length),
                    Flush::SyncFileRange(_) => flush(self.files.place(op).0, self.flush).map_err(io::Error::from),
                }
            }
        };
        synced.map_or_else(|error| OpOutcome::Failed(error.raw_os_error().unwrap_or(libc::EIO)), |()| OpOutcome::Done)
    }
}

impl Target for Mapped {
    fn now(&mut self) -> Instant {
        self.now = self.clock.now();
        self.now
    }

    /// # Panics
    /// If an operation exceeds `Shape::largest`, or writes although `Shape::writes` is false.
    fn submit(&mut self, batch: &[(Slot, Op)]) -> Result<(), Fault> {
        for (slot, op) in batch {
            let ended = self.perform(op);
            self.now = self.clock.now();
            let outcome = self.scribe.end(ONLY, ended, |length| &self.reads.content()[..length]);
            self.done.push(Completion { slot: *slot, at: self.now, outcome, bound_by: None });
            if self.scribe.follows() {
                self.now = self.clock.now();
            }
        }
        Ok(())
    }

    fn wait(&mut self, until: Instant, completions: &mut Vec<Completion>) -> Result<Instant, Fault> {
        Ok(waited(&mut self.done, &mut self.now, self.clock, until, completions))
    }
}

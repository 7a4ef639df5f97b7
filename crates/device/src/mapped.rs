//! Files that are mapped into memory as a target: operations are copies to and from the page cache.
//!
//! What the kernel does for it shows as time of the copy: faults, reading ahead, waiting for dirty pages. A file that is
//! cut while it is mapped, or cannot be read, kills the process with `SIGBUS`: its length is checked at the start only.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

use plimsoll_drive::{Completion, Fault, Target};
use plimsoll_load::Outcome;
use plimsoll_units::{Bytes, Instant, Kind, Op, Slot};

use crate::buffers::{Aligned, PAGE};
use crate::calls::{flush, trim};
use crate::clock::Clock;
use crate::content::Scribe;
use crate::engine::{Flush, Shape};
use crate::extents::Files;
use crate::file::length;
use crate::inline::waited;

/// There is one operation at a time.
const ONLY: Slot = Slot(0);

/// Files in memory.
pub struct Mapped {
    clock: Clock,
    now: Instant,
    files: Files,
    maps: Vec<Map>,
    reads: Aligned,
    writes: Aligned,
    writable: bool,
    scribe: Scribe,
    flush: Flush,
    done: Vec<Completion>,
}

/// One file's bytes.
struct Map {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: a mapping belongs to the process, not to a thread, and this is its only owner.
unsafe impl Send for Map {}

impl Map {
    fn new(file: BorrowedFd<'_>, said: Bytes, writes: bool) -> io::Result<Self> {
        let there = length(file)?;
        if said > there || said == Bytes::default() {
            let message = format!("{} bytes of a file of {} cannot be mapped", said.get(), there.get());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let length = usize::try_from(said.get()).map_err(io::Error::other)?;
        let access = libc::PROT_READ | if writes { libc::PROT_WRITE } else { 0 };
        // SAFETY: a new mapping at an address of the kernel's choice.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        match NonNull::new(start.cast::<u8>()) {
            Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => Ok(Self { start, length }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The address of `length` bytes from `offset` on; `None` when they are not all there.
    fn at(&self, offset: u64, length: usize) -> Option<*mut u8> {
        let offset = usize::try_from(offset).ok()?;
        let fits = offset.checked_add(length).is_some_and(|end| end <= self.length);
        // SAFETY: inside of the mapping, or one behind it for no bytes.
        fits.then(|| unsafe { self.start.as_ptr().add(offset) })
    }

    /// Writes the pages of `length` bytes from `offset` on that are dirty, and makes them durable.
    fn sync(&self, offset: u64, length: usize) -> io::Result<()> {
        let first = offset as usize / PAGE * PAGE;
        let bytes = (offset as usize + length).min(self.length) - first;
        // SAFETY: the pages are inside of the mapping; the call changes no byte.
        match unsafe { libc::msync(self.start.as_ptr().add(first).cast(), bytes, libc::MS_SYNC) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: made by `mmap` with this length, and nobody keeps an address of it.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

impl Mapped {
    /// For `shape` on `files` with their lengths, one behind the other as [`crate::Engine::start`] has them.
    ///
    /// # Errors
    /// A file is empty or shorter than its length says, or cannot be mapped.
    pub fn new(files: &[(BorrowedFd<'_>, Bytes)], shape: &Shape, clock: Clock) -> io::Result<Self> {
        let maps =
            files.iter().map(|(file, length)| Map::new(*file, *length, shape.writes)).collect::<io::Result<_>>()?;
        let scribe = shape.scribe(1);
        let mut writes = Aligned::new(if shape.writes { shape.stride() } else { 1 });
        scribe.prepare(writes.bytes());
        Ok(Self {
            now: clock.now(),
            clock,
            files: Files::keep(files)?,
            maps,
            reads: Aligned::new(shape.stride()),
            writes,
            writable: shape.writes,
            scribe,
            flush: shape.flush,
            done: Vec::with_capacity(shape.depth as usize),
        })
    }

    fn perform(&mut self, op: &Op) -> Outcome {
        let length = op.length as usize;
        let (file, offset) = self.files.index(op);
        let Some(place) = self.maps[file].at(offset, length) else { return Outcome::Failed(libc::EIO) };
        let synced = match op.kind {
            Kind::Read => {
                self.scribe.begin(ONLY, op);
                let into = self.reads.bytes()[..length].as_mut_ptr();
                // SAFETY: so many bytes are there on both sides, and they do not overlap.
                unsafe { std::ptr::copy_nonoverlapping(place, into, length) };
                Ok(())
            }
            Kind::Write | Kind::DurableWrite => {
                assert!(self.writable, "a write is submitted to an engine whose shape says no writes");
                let from = &mut self.writes.bytes()[..length];
                self.scribe.write(ONLY, op, from);
                // SAFETY: as above; the mapping can be written to, as the buffer is there only if the shape writes.
                unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), place, length) };
                if op.kind == Kind::DurableWrite { self.maps[file].sync(offset, length) } else { Ok(()) }
            }
            Kind::Trim => {
                assert!(self.writable, "a trim is submitted to an engine whose shape says no writes");
                self.scribe.begin(ONLY, op);
                trim(self.files.place(op).0, offset, u64::from(op.length)).map_err(io::Error::from)
            }
            Kind::Flush => {
                self.scribe.begin(ONLY, op);
                match self.flush {
                    Flush::Fdatasync | Flush::Fsync => self.maps[file].sync(0, self.maps[file].length),
                    Flush::SyncFileRange => flush(self.files.place(op).0, self.flush).map_err(io::Error::from),
                }
            }
        };
        synced.map_or_else(|error| Outcome::Failed(error.raw_os_error().unwrap_or(libc::EIO)), |()| Outcome::Done)
    }
}

impl Target for Mapped {
    fn now(&mut self) -> Instant {
        self.now = self.clock.now();
        self.now
    }

    /// # Panics
    /// When an operation is larger than the shape says, or writes although the shape says that none does.
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

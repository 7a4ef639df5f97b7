//! One operation by one call that returns when it is done, with buffers of its own.
//!
//! Knows nothing about who calls: the loop itself, or a worker.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Arc;

use plimsoll_load::Outcome;
use plimsoll_units::{Kind, Op, Slot};
use rustix::fs::{FallocateFlags, FileType};
use rustix::io::{Errno, IoSlice, ReadWriteFlags, retry_on_intr};

use crate::buffers::Aligned;
use crate::content::Scribe;
use crate::engine::{Flush, Shape};
use crate::extents::Files;
use crate::ring::WHOLE_RANGE;

/// Discards a range of a block device (`_IO(0x12, 119)`, linux/fs.h).
const BLKDISCARD: libc::Ioctl = 0x1277;

/// There is one operation at a time.
const ONLY: Slot = Slot(0);

/// Performs operations one at a time.
pub(crate) struct Calls {
    files: Arc<Files>,
    reads: Aligned,
    writes: Aligned,
    writable: bool,
    scribe: Scribe,
    flush: Flush,
    durable: ReadWriteFlags,
}

impl Calls {
    /// For `shape` on `files`. Those with different numbers write different data.
    pub(crate) fn new(files: Arc<Files>, shape: &Shape, number: u32) -> Self {
        let seed = shape.seed ^ u64::from(number);
        let scribe = Scribe::new(&shape.contents, seed, 1).counting_from(seed ^ (u64::from(number) << 40));
        let mut writes = Aligned::new(if shape.writes { shape.stride() } else { 1 });
        scribe.prepare(writes.bytes());
        let durable = ReadWriteFlags::from_bits_retain(shape.durable.flags().cast_unsigned());
        Self {
            files,
            reads: Aligned::new(shape.stride()),
            writes,
            writable: shape.writes,
            scribe,
            flush: shape.flush,
            durable,
        }
    }

    /// Performs `op`. What was read is not checked yet, so that the clock can be read first: see [`Calls::checked`].
    ///
    /// # Panics
    /// When it is larger than the shape says, or writes although the shape says that none does.
    #[inline]
    pub(crate) fn perform(&mut self, op: &Op) -> Outcome {
        match self.call(op) {
            Ok(moved) if moved == op.length as usize => Outcome::Done,
            Ok(_) => Outcome::Failed(libc::EIO),
            Err(error) => Outcome::Failed(error.raw_os_error()),
        }
    }

    /// How the operation that was performed last ended, given what the calls said: its data have been checked.
    #[inline]
    pub(crate) fn checked(&self, outcome: Outcome) -> Outcome {
        self.scribe.end(ONLY, outcome, |length| &self.reads.content()[..length])
    }

    /// Checking takes time between two operations.
    #[inline]
    pub(crate) fn checks(&self) -> bool {
        self.scribe.follows()
    }

    #[inline]
    fn call(&mut self, op: &Op) -> rustix::io::Result<usize> {
        let length = op.length as usize;
        let (file, offset) = self.files.place(op);
        match op.kind {
            Kind::Read => {
                self.scribe.begin(ONLY, op);
                retry_on_intr(|| rustix::io::pread(file, &mut self.reads.bytes()[..length], offset))
            }
            Kind::Flush => {
                self.scribe.begin(ONLY, op);
                flush(file, self.flush).map(|()| 0)
            }
            Kind::Trim => {
                assert!(self.writable, "a trim is submitted to an engine whose shape says no writes");
                self.scribe.begin(ONLY, op);
                trim(file, offset, u64::from(op.length)).map(|()| length)
            }
            Kind::Write => {
                assert!(self.writable, "a write is submitted to an engine whose shape says no writes");
                let data = &mut self.writes.bytes()[..length];
                self.scribe.write(ONLY, op, data);
                retry_on_intr(|| rustix::io::pwrite(file, data, offset))
            }
            Kind::DurableWrite => {
                assert!(self.writable, "a write is submitted to an engine whose shape says no writes");
                let data = &mut self.writes.bytes()[..length];
                self.scribe.write(ONLY, op, data);
                retry_on_intr(|| rustix::io::pwritev2(file, &[IoSlice::new(data)], offset, self.durable))
            }
        }
    }
}

/// Discards `length` bytes of `file` from `offset` on: of a block device by `BLKDISCARD`, of a regular file as a hole.
pub(crate) fn trim(file: BorrowedFd<'_>, offset: u64, length: u64) -> rustix::io::Result<()> {
    let kind = FileType::from_raw_mode(rustix::fs::fstat(file)?.st_mode);
    if kind != FileType::BlockDevice {
        return rustix::fs::fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, length);
    }
    let range = [offset, length];
    // SAFETY: the request reads two integers of 64 bits, which live until it returns.
    match unsafe { libc::ioctl(file.as_raw_fd(), BLKDISCARD, range.as_ptr()) } {
        0 => Ok(()),
        _ => Err(last_errno()),
    }
}

fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// Makes a flush of `file` in this way.
pub(crate) fn flush(file: BorrowedFd<'_>, how: Flush) -> rustix::io::Result<()> {
    match how {
        Flush::Fdatasync => rustix::fs::fdatasync(file),
        Flush::Fsync => rustix::fs::fsync(file),
        Flush::SyncFileRange => {
            // SAFETY: it takes integers and touches no memory. A length of zero means the rest of the file.
            match unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, WHOLE_RANGE) } {
                0 => Ok(()),
                _ => Err(last_errno()),
            }
        }
    }
}

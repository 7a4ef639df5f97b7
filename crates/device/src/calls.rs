//! Blocking system calls for single operations, with their own buffers; used inline and by worker threads.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Arc;

use plimsoll_load::OpOutcome;
use plimsoll_units::{Kind, Op, Slot};
use rustix::fs::{FallocateFlags, FileType};
use rustix::io::{Errno, IoSlice, ReadWriteFlags, retry_on_intr};

use crate::buffers::Aligned;
use crate::content::Scribe;
use crate::extents::OpenFiles;
use crate::shape::{Flush, Shape};

/// Discards a range of a block device (`_IO(0x12, 119)`, linux/fs.h).
const BLKDISCARD: libc::Ioctl = 0x1277;

/// Slot of the only operation in flight.
const ONLY: Slot = Slot(0);

/// Performs operations one at a time.
pub(crate) struct Calls {
    files: Arc<OpenFiles>,
    reads: Aligned,
    writes: Aligned,
    writable: bool,
    scribe: Scribe,
    flush: Flush,
    durable: ReadWriteFlags,
}

impl Calls {
    /// A caller for `shape` on `files`. Callers with different numbers write different data.
    pub(crate) fn new(files: Arc<OpenFiles>, shape: &Shape, number: u32) -> Self {
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

    /// Performs `op`. Data that were read are verified later by [`Calls::checked`], so that the clock can be read
    /// first.
    ///
    /// # Panics
    /// If `op` exceeds `Shape::largest`, or writes although `Shape::writes` is false.
    #[inline]
    pub(crate) fn perform(&mut self, op: &Op) -> OpOutcome {
        match self.call(op) {
            Ok(moved) if moved == op.length as usize => OpOutcome::Done,
            Ok(_) => OpOutcome::Failed(libc::EIO),
            Err(error) => OpOutcome::Failed(error.raw_os_error()),
        }
    }

    /// Outcome of the last operation after verification of its data; `outcome` is the result of the system call.
    pub(crate) fn checked(&self, outcome: OpOutcome) -> OpOutcome {
        self.scribe.end(ONLY, outcome, |length| &self.reads.content()[..length])
    }

    /// True if verification takes time between two operations.
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
                assert!(self.writable, "trim submitted to a read-only engine");
                self.scribe.begin(ONLY, op);
                trim(file, offset, u64::from(op.length)).map(|()| length)
            }
            Kind::Write => {
                assert!(self.writable, "write submitted to a read-only engine");
                let data = &mut self.writes.bytes()[..length];
                self.scribe.write(ONLY, op, data);
                retry_on_intr(|| rustix::io::pwrite(file, data, offset))
            }
            Kind::DurableWrite => {
                assert!(self.writable, "write submitted to a read-only engine");
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

/// Flushes `file` with the system call `how`.
pub(crate) fn flush(file: BorrowedFd<'_>, how: Flush) -> rustix::io::Result<()> {
    match how {
        Flush::Fdatasync => rustix::fs::fdatasync(file),
        Flush::Fsync => rustix::fs::fsync(file),
        Flush::SyncFileRange(flags) => {
            // SAFETY: takes integers and accesses no memory. A length of zero means the rest of the file.
            match unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, flags) } {
                0 => Ok(()),
                _ => Err(last_errno()),
            }
        }
    }
}

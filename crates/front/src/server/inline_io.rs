//! Direct system calls for short transfers between memory and the page cache.
//!
//! A ring passes buffered writes of most filesystems to threads of the kernel, and all I/O on files in memory: that
//! costs several times the transfer itself. A direct call could block, on a device or on dirty pages. So reads are done
//! here only if they need no device, and writes only while they are quick.
#![allow(unsafe_code)]

use std::os::fd::RawFd;

use plimsoll_device::Clock;
use plimsoll_units::Span;

/// Longer transfers use the ring, whose cost is small in comparison.
pub(super) const INLINE_MAX: usize = 128 << 10;

/// A write that took longer has blocked.
const QUICK_MAX: Span = Span::from_micros(250);

/// Number of writes that use the ring after a slow write.
const REST: u32 = 256;

/// State of direct I/O on the files of a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct InlineIo {
    /// The files are in memory and never block.
    memory: bool,
    clock: Clock,
    /// Remaining writes for the ring.
    rest: u32,
}

impl InlineIo {
    pub(super) const fn new(memory: bool, clock: Clock) -> Self {
        Self { memory, clock, rest: 0 }
    }

    /// Reads into memory. `None`: the ring has to do it.
    ///
    /// # Safety
    /// There are `length` bytes at `to`, which nothing else uses during the call.
    #[inline]
    pub(super) unsafe fn read(&self, file: RawFd, to: *mut u8, length: usize, at: u64) -> Option<u32> {
        if length > INLINE_MAX {
            return None;
        }
        if self.memory {
            // SAFETY: the caller's promise.
            let moved = unsafe { libc::pread(file, to.cast(), length, at.cast_signed()) };
            return u32::try_from(moved).ok();
        }
        let vector = libc::iovec { iov_base: to.cast(), iov_len: length };
        // SAFETY: as above.
        let moved = unsafe { libc::preadv2(file, &raw const vector, 1, at.cast_signed(), libc::RWF_NOWAIT) };
        u32::try_from(moved).ok()
    }

    /// Writes from memory. `None`: the ring has to do it.
    ///
    /// # Safety
    /// There are `length` bytes at `from`, which nothing changes during the call.
    #[inline]
    pub(super) unsafe fn write(&mut self, file: RawFd, from: *const u8, length: usize, at: u64) -> Option<u32> {
        if length > INLINE_MAX || self.rest > 0 {
            self.rest = self.rest.saturating_sub(1);
            return None;
        }
        let before = self.clock.now();
        // SAFETY: the caller's promise.
        let moved = unsafe { libc::pwrite(file, from.cast(), length, at.cast_signed()) };
        if !self.memory && self.clock.now().since(before) > QUICK_MAX {
            self.rest = REST;
        }
        u32::try_from(moved).ok()
    }
}

//! Moving bytes between memory and the page cache at once, where that takes less time than asking the ring to.
//!
//! A ring hands buffered writes of most filesystems to threads of the kernel, and all I/O on files in memory: that
//! costs several times what the move itself does. A call of our own could wait, for a device or for dirty pages to be
//! written. So reads are done here only if they need no device, and writes only while they turn out to be quick.
#![allow(unsafe_code)]

use std::os::fd::RawFd;

use plimsoll_device::Clock;
use plimsoll_units::Span;

/// Longer moves are the ring's: what they cost to hand over is small beside them.
pub(super) const LONGEST: usize = 128 << 10;

/// A write that took longer has waited for something.
const QUICK: Span = Span::from_micros(250);

/// Writes that the ring gets after one that was not quick.
const REST: u32 = 256;

/// What is known about the files behind a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Haste {
    /// Files in memory never wait.
    memory: bool,
    clock: Clock,
    /// Writes that the ring still gets.
    rest: u32,
}

impl Haste {
    pub(super) const fn new(memory: bool, clock: Clock) -> Self {
        Self { memory, clock, rest: 0 }
    }

    /// Reads into live memory. `None`: that has to be asked of the ring.
    ///
    /// # Safety
    /// There are `length` bytes at `to`, which nothing else uses during the call.
    #[inline]
    pub(super) unsafe fn read(&self, file: RawFd, to: *mut u8, length: usize, at: u64) -> Option<u32> {
        if length > LONGEST {
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

    /// Writes from live memory. `None`: that has to be asked of the ring.
    ///
    /// # Safety
    /// There are `length` bytes at `from`, which nothing changes during the call.
    #[inline]
    pub(super) unsafe fn write(&mut self, file: RawFd, from: *const u8, length: usize, at: u64) -> Option<u32> {
        if length > LONGEST || self.rest > 0 {
            self.rest = self.rest.saturating_sub(1);
            return None;
        }
        let before = self.clock.now();
        // SAFETY: the caller's promise.
        let moved = unsafe { libc::pwrite(file, from.cast(), length, at.cast_signed()) };
        if !self.memory && self.clock.now().since(before) > QUICK {
            self.rest = REST;
        }
        u32::try_from(moved).ok()
    }
}

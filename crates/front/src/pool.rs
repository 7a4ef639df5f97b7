//! Buffers for payloads: page-aligned, reused, and limited in total.

use std::os::fd::RawFd;

use plimsoll_device::Aligned;

use crate::view::View;

/// The smallest buffer: 4 KiB.
const SMALLEST_BITS: u32 = 12;
/// Sizes: each twice the one before, up to 32 MiB.
const CLASSES: usize = 14;
/// Bytes of free buffers that are kept, by size.
const RETAINED_BYTES: usize = 16 << 20;

/// Memory for a payload. Its initial content is arbitrary.
#[derive(Debug)]
pub(crate) struct Buffer {
    memory: Aligned,
    class: usize,
    content: BufferContent,
}

/// The location of a buffer's content.
#[derive(Debug)]
enum BufferContent {
    Own,
    /// In its memory, unless it is filled with a view of a file.
    Either,
    /// A view of a file.
    View(View),
}

impl Buffer {
    /// Allows serving this buffer from a view of a file instead of copying, until it is filled or returned.
    #[inline]
    pub(crate) fn allow_view(&mut self) {
        self.content = BufferContent::Either;
    }

    /// Whether a view may replace its memory.
    #[inline]
    pub(crate) const fn takes_view(&self) -> bool {
        matches!(self.content, BufferContent::Either)
    }

    #[inline]
    pub(crate) fn show(&mut self, view: View) {
        self.content = BufferContent::View(view);
    }

    /// Copies its view into its memory, if the view overlaps this range of a file.
    pub(crate) fn keep(&mut self, file: RawFd, at: u64, length: u64) {
        if let BufferContent::View(view) = &self.content
            && view.shows(file, at, length)
        {
            view.copy(self.memory.bytes());
            self.content = BufferContent::Own;
        }
    }

    /// Bytes of its memory.
    #[inline]
    pub(crate) const fn size(&self) -> u64 {
        buffer_size(self.class)
    }

    /// The address of byte `at`, for the kernel.
    #[inline]
    pub(crate) fn at(&self, at: u32) -> *mut u8 {
        self.memory.at(at as usize)
    }

    #[inline]
    pub(crate) fn content(&self) -> &[u8] {
        match &self.content {
            BufferContent::Own | BufferContent::Either => self.memory.content(),
            BufferContent::View(view) => view.bytes(),
        }
    }

    /// Its memory, for writing.
    #[inline]
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        self.content = BufferContent::Own;
        self.memory.bytes()
    }
}

/// All buffers of a server.
#[derive(Debug)]
pub(crate) struct Pool {
    free: [Vec<Buffer>; CLASSES],
    /// Free buffers of each size that were not used since the last [`Pool::trim`].
    idle: [usize; CLASSES],
    lent: u64,
    limit: u64,
}

impl Pool {
    /// Lends at most `limit` bytes at a time, and always at least one buffer.
    pub(crate) fn new(limit: u64) -> Self {
        Self { free: [const { Vec::new() }; CLASSES], idle: [0; CLASSES], lent: 0, limit }
    }

    /// A buffer of at least `bytes`, at most 32 MiB; `None` if the limit is reached.
    #[inline]
    pub(crate) fn lend(&mut self, bytes: u32) -> Option<Buffer> {
        let over = self.lent > 0 && self.lent + buffer_size(class_of(bytes)) > self.limit;
        if over { None } else { Some(self.lend_anyway(bytes)) }
    }

    /// A buffer of at least `bytes`, regardless of the limit.
    #[inline]
    pub(crate) fn lend_anyway(&mut self, bytes: u32) -> Buffer {
        let class = class_of(bytes);
        let size = buffer_size(class);
        self.lent += size;
        let reused = self.free[class].pop();
        self.idle[class] = self.idle[class].min(self.free[class].len());
        reused.unwrap_or_else(|| Buffer { memory: Aligned::new(size as usize), class, content: BufferContent::Own })
    }

    /// Frees the buffers that were not used since the last call; `true` if there were any.
    pub(crate) fn trim(&mut self) -> bool {
        let mut freed = false;
        for (free, idle) in self.free.iter_mut().zip(&mut self.idle) {
            freed |= *idle > 0;
            free.drain(..*idle);
            *idle = free.len();
        }
        freed
    }

    #[inline]
    pub(crate) fn give_back(&mut self, mut buffer: Buffer) {
        buffer.content = BufferContent::Own;
        let size = buffer_size(buffer.class);
        self.lent -= size;
        let free = &mut self.free[buffer.class];
        if (free.len() + 1) * size as usize <= RETAINED_BYTES {
            free.push(buffer);
        }
    }

    pub(crate) const fn lent(&self) -> u64 {
        self.lent
    }
}

const fn class_of(bytes: u32) -> usize {
    (u32::BITS - bytes.saturating_sub(1).leading_zeros()).saturating_sub(SMALLEST_BITS) as usize
}

const fn buffer_size(class: usize) -> u64 {
    1 << (class as u32 + SMALLEST_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_large_enough_and_bounded() {
        let mut pool = Pool::new(64 << 10);
        for bytes in [1, 4096, 4097, 65_536] {
            let mut buffer = pool.lend(bytes).unwrap();
            assert!(buffer.bytes().len() >= bytes as usize && buffer.bytes().len() <= 2 * bytes.max(4096) as usize);
            pool.give_back(buffer);
        }
        let large = pool.lend(32 << 20).unwrap();
        assert!(pool.lend(1).is_none(), "a buffer above the limit is lent if it is the only one");
        pool.give_back(large);
        assert_eq!(pool.lent(), 0);
    }

    #[test]
    fn unused_buffers_are_freed() {
        let mut pool = Pool::new(1 << 30);
        let lent: Vec<Buffer> = (0..3).map(|_| pool.lend_anyway(4096)).collect();
        for buffer in lent {
            pool.give_back(buffer);
        }
        assert!(!pool.trim(), "they were used since the last call");
        let used = pool.lend_anyway(4096);
        pool.give_back(used);
        assert!(pool.trim());
        assert_eq!(pool.free[0].len(), 1, "the peak number in use");
    }
}

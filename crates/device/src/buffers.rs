//! Memory for direct I/O, and what is written from it.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

use fastrand::Rng;

/// Every buffer begins on a page: enough for the direct I/O of any device.
pub(crate) const PAGE: usize = 4096;

/// Page-aligned memory, zeroed at first.
#[derive(Debug)]
pub struct Aligned {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the memory is owned, and only reached through `&self` as a raw pointer or through `&mut self`.
unsafe impl Send for Aligned {}

impl Aligned {
    /// `length` bytes, at least 1.
    pub fn new(length: usize) -> Self {
        let layout = Layout::from_size_align(length.max(1), PAGE).expect("buffers are far below the address space");
        // SAFETY: the layout's size is at least 1.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) });
        Self { start: start.unwrap_or_else(|| handle_alloc_error(layout)), layout }
    }

    /// Bytes, at least 1.
    #[allow(clippy::len_without_is_empty)] // never empty
    pub const fn len(&self) -> usize {
        self.layout.size()
    }

    /// The address of byte `offset`, for the kernel.
    pub fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset < self.len(), "{offset} is outside of a buffer of {} bytes", self.len());
        // SAFETY: inside of the allocation, as was just checked.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// A part of it, to be changed while other parts are in use.
    ///
    /// # Safety
    /// As long as the part is borrowed, nobody has another reference to these bytes, and the kernel does not use them.
    ///
    /// # Panics
    /// When the part is not inside of the buffer.
    #[allow(clippy::mut_from_ref)] // that nobody else has these bytes is the caller's word
    pub(crate) unsafe fn part(&self, offset: usize, length: usize) -> &mut [u8] {
        let all = self.len();
        assert!(offset < all && length <= all - offset, "{offset} is outside of a buffer of {all} bytes, or its end");
        // SAFETY: inside of the allocation, which is initialised; that they are not used otherwise is the caller's word.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(offset), length) }
    }

    /// All of it, to be read.
    pub const fn content(&self) -> &[u8] {
        // SAFETY: the allocation is this long and initialised; `&self` excludes a `&mut`. The kernel is still reading into
        // it only if the caller looks before a request has ended.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len()) }
    }

    /// All of it.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the allocation is this long and initialised; `&mut self` excludes every other reference. The kernel
        // may still be reading into it only if the caller broke the slot rule of `Target::submit`.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len()) }
    }
}

impl Drop for Aligned {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

/// Fills `bytes` with data of which a share compresses away: each page begins random and ends in zeroes.
pub(crate) fn fill(bytes: &mut [u8], compressible: f64, seed: u64) {
    let mut rng = Rng::with_seed(seed);
    for page in bytes.chunks_mut(PAGE) {
        let random = ((page.len() as f64 * (1.0 - compressible)).round() as usize).min(page.len());
        rng.fill(&mut page[..random]);
    }
}

/// Makes each page of an operation's data different from every page written before, so that nothing deduplicates: its
/// first 8 bytes are a mark, also where all of it compresses away, and so are those of a last page that is shorter.
#[inline]
pub(crate) fn stamp(bytes: &mut [u8], number: u64) {
    for (index, page) in bytes.chunks_mut(PAGE).enumerate() {
        let mark = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(index as u64);
        let marked = page.len().min(8);
        page[..marked].copy_from_slice(&mark.to_le_bytes()[..marked]);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Pages that differ from each other when the same data are written `writes` times, `length` bytes each.
    fn check(length: usize, writes: u64, expected: usize) {
        let mut bytes = vec![0; length];
        let mut pages = BTreeSet::new();
        for number in 1..=writes {
            stamp(&mut bytes, number);
            pages.extend(bytes.chunks(PAGE).map(<[u8]>::to_vec));
            assert!(bytes.chunks(PAGE).all(|page| page.iter().skip(8).all(|&byte| byte == 0)), "{length}");
        }
        assert_eq!(pages.len(), expected, "{length}");
    }

    #[test]
    fn no_page_is_written_twice() {
        check(PAGE, 1000, 1000);
        check(4 * PAGE, 1000, 4000);
        check(512, 1000, 1000);
        check(2300, 1000, 1000);
        check(PAGE + 512, 1000, 2000);
        check(3, 100, 100);
        check(0, 10, 0);
    }
}

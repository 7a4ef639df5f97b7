//! Page-aligned buffers for direct I/O, and the data written from them.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

use fastrand::Rng;

/// Alignment of buffers in bytes: sufficient for direct I/O on any device.
pub(crate) const PAGE: usize = 4096;

/// Page-aligned memory, initially zero.
#[derive(Debug)]
pub struct Aligned {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the memory is owned, and accessed only as a raw pointer through `&self`, or through `&mut self`.
unsafe impl Send for Aligned {}

impl Aligned {
    /// Allocates `length` bytes, at least 1.
    pub fn new(length: usize) -> Self {
        let layout = Layout::from_size_align(length.max(1), PAGE).expect("buffers are far below the address space");
        // SAFETY: the layout's size is at least 1.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) });
        Self { start: start.unwrap_or_else(|| handle_alloc_error(layout)), layout }
    }

    /// Length in bytes, at least 1.
    #[allow(clippy::len_without_is_empty)] // never empty
    pub const fn len(&self) -> usize {
        self.layout.size()
    }

    /// Address of byte `offset`, for the kernel.
    pub fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset < self.len(), "{offset} is outside of a buffer of {} bytes", self.len());
        // SAFETY: the assertion above keeps it inside the allocation.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// A mutable part, while other parts are in use.
    ///
    /// # Safety
    /// For the lifetime of the part, no other reference to its bytes exists and the kernel does not use them.
    ///
    /// # Panics
    /// If the part exceeds the buffer.
    #[allow(clippy::mut_from_ref)] // the caller guarantees exclusive access
    pub(crate) unsafe fn part(&self, offset: usize, length: usize) -> &mut [u8] {
        let all = self.len();
        assert!(offset < all && length <= all - offset, "{offset} is outside of a buffer of {all} bytes, or its end");
        // SAFETY: inside the initialised allocation; the caller guarantees exclusive access.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(offset), length) }
    }

    /// The whole buffer, for reading.
    pub const fn content(&self) -> &[u8] {
        // SAFETY: the allocation has this length and is initialised; `&self` excludes a `&mut`. The kernel writes to it
        // only while a request is in flight, when callers do not read it.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len()) }
    }

    /// The whole buffer, for writing.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the allocation has this length and is initialised; `&mut self` excludes other references. The kernel
        // reads from it only if the caller violates the slot rule of `Target::submit`.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len()) }
    }
}

impl Drop for Aligned {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

/// Fills `bytes` so that the share `compressible` compresses away: each page begins random and ends in zeros.
pub(crate) fn fill(bytes: &mut [u8], compressible: f64, seed: u64) {
    let mut rng = Rng::with_seed(seed);
    for page in bytes.chunks_mut(PAGE) {
        let random = ((page.len() as f64 * (1.0 - compressible)).round() as usize).min(page.len());
        rng.fill(&mut page[..random]);
    }
}

/// Stamps each page with a unique mark in its first 8 bytes (also pages of zeros and a shorter last page), so that no
/// two written pages are equal and deduplication has no effect.
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

    /// Writes the same data of `length` bytes `writes` times and counts distinct pages.
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

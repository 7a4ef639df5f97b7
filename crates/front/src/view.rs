//! Views of files in memory: a read is sent from the page cache, without a copy of our own.
//!
//! A view contains the bytes at the time of sending: a concurrent write may or may not be in it, as for any read. It
//! must never contain bytes of another volume, so a viewed range is [copied](View::copy) before it is punched.
#![allow(unsafe_code)]

use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::rc::Rc;

/// Mapped bytes of a file: address space, not memory.
const MAPPED_BYTES: usize = 1 << 40;

/// A file in memory, mapped for as long as this or a view of it lives.
#[derive(Clone, Debug)]
pub(crate) struct Mapping(Rc<Mapped>);

#[derive(Debug)]
struct Mapped {
    start: *mut libc::c_void,
    /// The descriptor that identifies the file.
    number: RawFd,
    /// A descriptor of its own.
    file: OwnedFd,
}

/// A part of a mapped file.
#[derive(Debug)]
pub(crate) struct View {
    mapping: Mapping,
    at: usize,
    length: usize,
}

impl Mapping {
    /// Maps a new file in memory; `None` if address space or file sizes are limited.
    pub(crate) fn new(file: &OwnedFd) -> Option<Self> {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the call fills the structure that it is given. Exceeding this limit would raise a signal instead of
        // an error.
        let status = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
        if status != 0 || limit.rlim_cur < MAPPED_BYTES as u64 {
            return None;
        }
        // The file is as long as the mapping, so no access is beyond its end.
        rustix::fs::ftruncate(file, MAPPED_BYTES as u64).ok()?;
        let own = file.try_clone().ok()?;
        let number = file.as_raw_fd();
        let (protection, flags) = (libc::PROT_READ, libc::MAP_SHARED | libc::MAP_NORESERVE);
        // SAFETY: a new mapping, at an address of the kernel's choice.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), MAPPED_BYTES, protection, flags, number, 0) };
        (start != libc::MAP_FAILED).then(|| Self(Rc::new(Mapped { start, number, file: own })))
    }

    /// A part of the file; `None` beyond the mapping.
    #[inline]
    pub(crate) fn view(&self, at: u64, length: u32) -> Option<View> {
        let (at, length) = (usize::try_from(at).ok()?, length as usize);
        at.checked_add(length).filter(|end| *end <= MAPPED_BYTES)?;
        Some(View { mapping: self.clone(), at, length })
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this address and length, and is not used any more.
        unsafe { libc::munmap(self.start, MAPPED_BYTES) };
    }
}

impl View {
    /// The bytes, for the kernel to send: the program does not read them.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: within the mapping, as was checked when the view was made; the view keeps it mapped. Only the kernel
        // observes changes of the bytes.
        unsafe { std::slice::from_raw_parts(self.mapping.0.start.cast::<u8>().add(self.at), self.length) }
    }

    /// Whether it overlaps a range of a file.
    pub(crate) fn shows(&self, file: RawFd, at: u64, length: u64) -> bool {
        let (start, end) = (self.at as u64, (self.at + self.length) as u64);
        self.mapping.0.number == file && start < at.saturating_add(length) && at < end
    }

    /// Copies its bytes.
    ///
    /// # Panics
    /// When there is less room than it shows.
    pub(crate) fn copy(&self, to: &mut [u8]) {
        let read = rustix::io::pread(self.mapping.0.file.as_fd(), &mut to[..self.length], self.at as u64);
        // A file in memory has no I/O errors, and no end here.
        debug_assert_eq!(read, Ok(self.length));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn view_shows_writes_until_it_is_copied() {
        let file = rustix::fs::memfd_create("view", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        let mapping = Mapping::new(&file).unwrap();
        let view = mapping.view(1 << 20, 3).unwrap();
        assert_eq!(rustix::io::pwrite(&file, b"abc", 1 << 20), Ok(3));
        assert_eq!(view.bytes(), b"abc");
        let mut copy = [0; 4];
        view.copy(&mut copy);
        assert_eq!(&copy, b"abc\0");
        let descriptor = file.as_raw_fd();
        assert!(view.shows(descriptor, (1 << 20) + 2, 1) && !view.shows(descriptor, (1 << 20) + 3, 9));
        assert!(view.shows(descriptor, 0, u64::MAX) && !view.shows(descriptor, 0, 1 << 20));
        assert!(mapping.view(1 << 40, 1).is_none() && mapping.view(u64::MAX, 2).is_none());
        drop((mapping, file));
        assert_eq!(view.bytes(), b"abc", "it outlives the mapping that it was made of");
    }
}

//! Files in memory, seen as memory: what a client reads is sent from where it is, without a copy of our own.
//!
//! Knows nothing about requests. A view shows whatever is there when it is sent: a write that comes meanwhile is beside
//! the read, which may return either. What must not be seen is the content of another volume, so nobody punches what is
//! in view: it is [copied](View::copy) before.
#![allow(unsafe_code)]

use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::rc::Rc;

/// Bytes of a file that are mapped: address space, not memory.
const MAPPED_BYTES: usize = 1 << 40;

/// A file in memory, mapped for as long as this or a view of it lives.
#[derive(Clone, Debug)]
pub(crate) struct Mapping(Rc<Mapped>);

#[derive(Debug)]
struct Mapped {
    start: *mut libc::c_void,
    /// The number by which others know the file.
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
    /// Maps a new file in memory; `None` where address space or the sizes of files are limited.
    pub(crate) fn new(file: &OwnedFd) -> Option<Self> {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the call fills what it is given. To go beyond this limit would be a signal and not an error.
        let asked = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
        if asked != 0 || limit.rlim_cur < MAPPED_BYTES as u64 {
            return None;
        }
        // The file is as long as the mapping from the beginning on, so there is nothing behind its end to be touched.
        rustix::fs::ftruncate(file, MAPPED_BYTES as u64).ok()?;
        let own = file.try_clone().ok()?;
        let number = file.as_raw_fd();
        let (protection, flags) = (libc::PROT_READ, libc::MAP_SHARED | libc::MAP_NORESERVE);
        // SAFETY: a new mapping, at an address of the kernel's choice.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), MAPPED_BYTES, protection, flags, number, 0) };
        (start != libc::MAP_FAILED).then(|| Self(Rc::new(Mapped { start, number, file: own })))
    }

    /// A part of the file; `None` when it is not mapped so far.
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
    /// The bytes, for the kernel to send: the program itself does not look at them.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: inside of the mapping, as was checked when the view was made; the view keeps it mapped. The bytes may
        // change, which only the kernel sees.
        unsafe { std::slice::from_raw_parts(self.mapping.0.start.cast::<u8>().add(self.at), self.length) }
    }

    /// Whether it shows some of these bytes of a file.
    pub(crate) fn shows(&self, file: RawFd, at: u64, length: u64) -> bool {
        let (start, end) = (self.at as u64, (self.at + self.length) as u64);
        self.mapping.0.number == file && start < at.saturating_add(length) && at < end
    }

    /// Copies what is in view.
    ///
    /// # Panics
    /// When there is less room than it shows.
    pub(crate) fn copy(&self, to: &mut [u8]) {
        let read = rustix::io::pread(self.mapping.0.file.as_fd(), &mut to[..self.length], self.at as u64);
        // There is no device that could fail, and no end of the file.
        debug_assert_eq!(read, Ok(self.length));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_shows_what_is_written_until_it_is_copied() {
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

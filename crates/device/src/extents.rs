//! Several files as one linear address space, in order.
//!
//! A single file needs no lookup: its offsets are the file's own.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use plimsoll_units::{Bytes, Op};

/// First offset of each file in the address space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extents {
    /// First offsets, ascending; empty for a single file.
    bases: Vec<u64>,
    /// End of the last file.
    end: u64,
}

impl Extents {
    pub(crate) fn new(lengths: impl ExactSizeIterator<Item = Bytes>) -> Self {
        if lengths.len() < 2 {
            return Self::default();
        }
        let mut end = 0_u64;
        let mut place = |length: Bytes| {
            let base = end;
            end = end.saturating_add(length.get());
            base
        };
        let bases = lengths.map(&mut place).collect();
        Self { bases, end }
    }

    /// True for more than one file.
    pub(crate) const fn several(&self) -> bool {
        !self.bases.is_empty()
    }

    /// File of an operation, and offset in that file.
    ///
    /// # Panics
    /// If the operation crosses a file boundary.
    #[inline]
    pub(crate) fn place(&self, op: &Op) -> (usize, u64) {
        if self.bases.is_empty() { (0, op.offset) } else { self.find(op) }
    }

    #[inline(never)]
    fn find(&self, op: &Op) -> (usize, u64) {
        let behind = self.bases.partition_point(|base| *base <= op.offset);
        let file = behind - 1;
        let end = self.bases.get(behind).copied().unwrap_or(self.end);
        assert!(
            op.offset.checked_add(u64::from(op.length)).is_some_and(|last| last <= end) && op.offset < end,
            "{} bytes at {} do not lie in one file",
            op.length,
            op.offset
        );
        (file, op.offset - self.bases[file])
    }
}

/// Open files and their positions in the address space.
#[derive(Debug)]
pub(crate) struct OpenFiles {
    descriptors: Vec<OwnedFd>,
    extents: Extents,
}

impl OpenFiles {
    /// Duplicates the descriptors of `files`, at least one, each with its length.
    pub(crate) fn keep(files: &[(BorrowedFd<'_>, Bytes)]) -> io::Result<Self> {
        if files.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "there is no file"));
        }
        let descriptors = files.iter().map(|(file, _)| file.try_clone_to_owned()).collect::<io::Result<_>>()?;
        Ok(Self { descriptors, extents: Extents::new(files.iter().map(|(_, length)| *length)) })
    }

    /// Index of the file of an operation, and offset in that file.
    pub(crate) fn index(&self, op: &Op) -> (usize, u64) {
        self.extents.place(op)
    }

    /// File of an operation, and offset in that file.
    #[inline]
    pub(crate) fn place(&self, op: &Op) -> (BorrowedFd<'_>, u64) {
        let (file, offset) = self.extents.place(op);
        (self.descriptors[file].as_fd(), offset)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use plimsoll_units::Kind;

    use super::*;

    fn check(lengths: &[u64], offset: u64, length: u32, expected: Option<(usize, u64)>) {
        let extents = Extents::new(lengths.iter().copied().map(Bytes::new));
        let op = Op { offset, length, kind: Kind::Read, stream: 0 };
        assert_eq!(catch_unwind(|| extents.place(&op)).ok(), expected, "{lengths:?}, {length} bytes at {offset}");
    }

    #[test]
    fn operation_must_lie_in_a_single_file() {
        check(&[10], 0, 10, Some((0, 0)));
        check(&[10], 50, 10, Some((0, 50)));
        check(&[10, 20, 5], 0, 10, Some((0, 0)));
        check(&[10, 20, 5], 10, 20, Some((1, 0)));
        check(&[10, 20, 5], 29, 1, Some((1, 19)));
        check(&[10, 20, 5], 30, 5, Some((2, 0)));
        check(&[10, 20, 5], 34, 0, Some((2, 4)));
        check(&[10, 0, 5], 10, 5, Some((2, 0)));
        check(&[10, 20, 5], 9, 2, None);
        check(&[10, 20, 5], 34, 2, None);
        check(&[10, 20, 5], 35, 0, None);
        check(&[10, 20, 5], u64::MAX, 1, None);
    }
}

//! Random access to small ranges of a large input.
//!
//! A range beyond the end is absent, not an error.

use std::io::{self, Read, Seek, SeekFrom};

/// Length of the cached head in bytes: it contains most signatures.
const HEAD: u64 = 128 << 10;

/// A reader with cached first bytes.
pub(super) struct CachedReader<'a, R> {
    reader: &'a mut R,
    head: Vec<u8>,
    /// Total length in bytes.
    pub(super) size: u64,
}

impl<'a, R: Read + Seek> CachedReader<'a, R> {
    pub(super) fn new(reader: &'a mut R, size: u64) -> io::Result<Self> {
        let mut window = Self { reader, head: Vec::new(), size };
        window.head = window.read(0, size.min(HEAD))?;
        Ok(window)
    }

    /// The `length` bytes at `offset`; `None` if they exceed the input.
    pub(super) fn bytes(&mut self, offset: u64, length: usize) -> io::Result<Option<Vec<u8>>> {
        let end = offset.saturating_add(length as u64);
        if end > self.size {
            return Ok(None);
        }
        if end <= self.head.len() as u64 {
            return Ok(Some(self.head[offset as usize..end as usize].to_vec()));
        }
        self.read(offset, length as u64).map(Some)
    }

    /// The cached head: 128 KiB, or the whole input.
    pub(super) fn head(&self) -> &[u8] {
        &self.head
    }

    fn read(&mut self, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length as usize];
        self.reader.seek(SeekFrom::Start(offset))?;
        self.reader.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

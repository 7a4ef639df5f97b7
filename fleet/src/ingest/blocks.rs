//! Blocks of whole rows of a CSV file, so that rows are read on all processors. The size of blocks does not depend on the
//! number of processors, so that the same file gives the same points and the same rejected rows everywhere.

use std::io::Read;

use anyhow::{Result, bail};
use memchr::{memchr, memchr_iter, memrchr};

/// Bytes of a block.
const BLOCK: usize = 1 << 20;
/// Maximum bytes of a row.
const MAX_ROW: usize = 64 << 20;

/// Whole rows.
pub struct RowBlock {
    /// The line of the first row.
    pub line: u64,
    /// The rows.
    pub bytes: Vec<u8>,
    /// The first row is the header of the file.
    pub has_header: bool,
}

/// The blocks of a file.
pub struct RowBlocks<R> {
    file: R,
    line: u64,
    is_first: bool,
    /// The begin of the next block.
    rest: Vec<u8>,
    at_end: bool,
}

impl<R: Read> RowBlocks<R> {
    /// The blocks of an open file.
    pub fn new(file: R) -> Self {
        Self { file, line: 1, is_first: true, rest: Vec::new(), at_end: false }
    }

    /// The next block; `None` at the end.
    pub fn read_block(&mut self) -> Result<Option<RowBlock>> {
        let mut bytes = std::mem::take(&mut self.rest);
        let end = loop {
            if !self.at_end {
                let length = self.file.by_ref().take(BLOCK as u64).read_to_end(&mut bytes)?;
                self.at_end = length < BLOCK;
            }
            if self.at_end {
                break bytes.len();
            }
            match find_end(&bytes) {
                Some(end) => break end,
                None if bytes.len() > MAX_ROW => {
                    bail!("line {} begins a row of more than 64 MiB: close its quotation marks", self.line)
                }
                None => {}
            }
        };
        if bytes.is_empty() {
            return Ok(None);
        }
        self.rest = bytes.split_off(end);
        let line = self.line;
        self.line += memchr_iter(b'\n', &bytes).count() as u64;
        let has_header = std::mem::take(&mut self.is_first);
        Ok(Some(RowBlock { line, bytes, has_header }))
    }
}

/// The end of the last whole row of bytes that begin with a row.
fn find_end(bytes: &[u8]) -> Option<usize> {
    if memchr(b'"', bytes).is_some() {
        return find_end_of_quoted(bytes);
    }
    let end = memrchr(b'\n', bytes).map(|end| end + 1);
    // Rows may end with a carriage return alone; the last one may be the first half of a line end.
    end.or_else(|| memrchr(b'\r', &bytes[..bytes.len() - 1]).map(|end| end + 1))
}

/// The same with quotation marks, which enclose a field if they begin it, as the reader of rows takes them.
fn find_end_of_quoted(bytes: &[u8]) -> Option<usize> {
    #[derive(Clone, Copy)]
    enum At {
        Begin,
        Field,
        Quoted,
        /// A quotation mark inside of a quoted field, or its end.
        Mark,
    }
    let (mut at, mut end) = (At::Begin, None);
    for (index, byte) in bytes.iter().enumerate() {
        at = match (at, byte) {
            (At::Quoted, b'"') => At::Mark,
            (At::Quoted, _) | (At::Begin | At::Mark, b'"') => At::Quoted,
            (_, b',' | b'\r') => At::Begin,
            (_, b'\n') => {
                end = Some(index + 1);
                At::Begin
            }
            _ => At::Field,
        };
    }
    end
}

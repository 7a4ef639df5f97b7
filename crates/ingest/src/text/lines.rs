//! Splitting of bytes into lines.

use memchr::memchr;

/// Splits bytes, in pieces of any size, into lines.
#[derive(Default)]
pub(crate) struct LineBuffer {
    /// The beginning of an incomplete line.
    rest: Vec<u8>,
    /// Number of lines so far.
    count: u64,
}

impl LineBuffer {
    /// Passes each complete line with its number, from 1, to `take`. Of a line over several pieces, `retained` bytes are kept.
    pub(crate) fn feed<E>(
        &mut self,
        mut bytes: &[u8],
        retained: usize,
        mut take: impl FnMut(&[u8], u64) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(end) = memchr(b'\n', bytes) {
            let line = &bytes[..end];
            bytes = &bytes[end + 1..];
            self.count += 1;
            if self.rest.is_empty() {
                take(line, self.count)?;
            } else {
                self.keep(line, retained);
                take(&self.rest, self.count)?;
                self.rest.clear();
            }
        }
        self.keep(bytes, retained);
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8], retained: usize) {
        let room = retained.saturating_sub(self.rest.len());
        self.rest.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// The incomplete line and its number, if any: the last line of a text without a line end.
    pub(crate) fn last(&self) -> Option<(&[u8], u64)> {
        (!self.rest.is_empty()).then_some((self.rest.as_slice(), self.count + 1))
    }
}

/// A line without the carriage return of its end.
pub(crate) fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

//! Forms that are read line by line.

use crate::builder::Builder;
use crate::figure::Origin;
use crate::format::Format;
use crate::kind::Kind;
use crate::refusal::Refusal;

/// Reads an input of lines.
pub trait LineFormat {
    /// What it reads, for refusals.
    fn kind(&self) -> Kind;

    /// Takes a line, without its end. Lines count from 1.
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal>;

    /// Learns that there is no more.
    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal>;
}

/// Cuts bytes into lines for a [`LineFormat`].
#[derive(Debug)]
pub struct Lines<F> {
    format: F,
    /// The beginning of a line whose end has not come.
    rest: Vec<u8>,
    /// Lines that were handed on.
    count: u64,
}

impl<F: LineFormat> Lines<F> {
    /// Bytes of a line; longer ones are refused, so that a file without line ends takes no memory.
    pub const LONGEST: usize = 1 << 20;

    /// For one input.
    pub fn new(format: F) -> Self {
        Self { format, rest: Vec::new(), count: 0 }
    }

    fn hand_on(&mut self, line: &[u8], out: &mut Builder) -> Result<(), Refusal> {
        self.count += 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match std::str::from_utf8(line) {
            Ok(line) => self.format.line(line, self.count, out),
            Err(_) => self.format.line(&String::from_utf8_lossy(line), self.count, out),
        }
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        if self.rest.len() + bytes.len() > Self::LONGEST {
            return Err(Refusal::Unusable {
                kind: self.format.kind(),
                origin: Some(Origin::line(self.count + 1)),
                what: format!("a line of more than {} bytes: check that the file is text", Self::LONGEST),
            });
        }
        self.rest.extend_from_slice(bytes);
        Ok(())
    }
}

impl<F: LineFormat> Format for Lines<F> {
    fn feed(&mut self, mut bytes: &[u8], out: &mut Builder) -> Result<(), Refusal> {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let line = &bytes[..end];
            bytes = &bytes[end + 1..];
            if self.rest.is_empty() && line.len() <= Self::LONGEST {
                self.hand_on(line, out)?;
            } else {
                self.keep(line)?;
                let mut whole = std::mem::take(&mut self.rest);
                self.hand_on(&whole, out)?;
                whole.clear();
                self.rest = whole;
            }
        }
        self.keep(bytes)
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        let last = std::mem::take(&mut self.rest);
        if !last.is_empty() {
            self.hand_on(&last, out)?;
        }
        self.format.end(out)
    }
}

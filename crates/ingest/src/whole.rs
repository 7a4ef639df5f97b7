//! Forms that must be seen as a whole, such as HTML and JSON.

use plimsoll_units::Bytes;

use crate::builder::Builder;
use crate::format::Format;
use crate::refusal::Refusal;

/// Reads a document.
pub trait WholeFormat {
    /// Takes all of it.
    fn read(&mut self, document: &[u8], out: &mut Builder) -> Result<(), Refusal>;
}

/// Collects bytes for a [`WholeFormat`].
#[derive(Debug)]
pub struct Whole<F> {
    format: F,
    document: Vec<u8>,
}

impl<F: WholeFormat> Whole<F> {
    /// Bytes of a document; larger ones are refused.
    pub const LARGEST: usize = 256 << 20;

    /// For one input.
    pub fn new(format: F) -> Self {
        Self { format, document: Vec::new() }
    }
}

impl<F: WholeFormat> Format for Whole<F> {
    fn feed(&mut self, bytes: &[u8], _: &mut Builder) -> Result<(), Refusal> {
        if self.document.len() + bytes.len() > Self::LARGEST {
            return Err(Refusal::TooLarge { limit: Bytes::new(Self::LARGEST as u64) });
        }
        self.document.extend_from_slice(bytes);
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.format.read(&self.document, out)
    }
}

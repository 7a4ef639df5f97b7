//! Formats of input: recognition and readers.
//!
//! A new format is a file or folder in this directory and a line in `FORMS` of `forms.rs`. It consists of:
//!
//! - a constant [`Form`]: its name, a function that examines the first bytes (content, never a file's name), and its
//!   reader. The function returns [`Resemblance::Near`] with the missing mark if half of the marks are present, which
//!   results in the message for damaged or unknown files.
//! - a reader: [`LineFormat`] for lines (memory of a single line), or a function for documents (HTML, JSON).
//!
//! A reader emits figures to the [`Builder`] in base units (operations per second, bytes per second, seconds, bytes),
//! each with its origin. It calls [`Builder::part`] once for each section, and [`Builder::caution`] for doubtful or
//! broken pieces; it returns a [`Refusal`] only if the whole input is unusable. A missing value is never a figure.

use std::borrow::Cow;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use memchr::memmem;
use plimsoll_units::Span;

use crate::builder::Builder;
use crate::dialect::Dialect;
use crate::reading::FormatName;
use crate::refusal::{InputFault, Refusal};
use crate::unpack::Decoder;

/// A format of input: its name, recognition and reader.
#[derive(Clone, Copy)]
pub struct Form {
    pub kind: FormatName,
    /// Compares the beginning of an input with the format.
    pub(crate) resembles: fn(&Head<'_>) -> Resemblance,
    pub(crate) reader: FormatReader,
}

#[derive(Clone, Copy)]
pub(crate) enum FormatReader {
    Lines(fn(&FormatInput) -> Box<dyn LineFormat>),
    /// A whole text.
    Document(ReadDocument),
    /// A whole file of bytes.
    Bytes(ReadDocument),
    /// A trace of single operations.
    Trace(Takes, fn() -> Box<dyn Dialect>),
    /// The format is recognised only in order to name the remedy.
    Refused(&'static InputFault),
}

pub(crate) type ReadDocument = fn(&FormatInput, &[u8], &mut Builder) -> Result<(), Refusal>;

impl Form {
    /// Bytes used for recognition.
    pub const HEAD: usize = 64 << 10;
    /// Maximum bytes of a line; longer ones are refused, which limits memory for files without line ends.
    pub const MAX_LINE: usize = 1 << 20;
    /// Maximum bytes of a document.
    pub const MAX_DOCUMENT: usize = 256 << 20;

    /// A format that is read line by line.
    pub const fn lines(
        id: &'static str,
        name: &'static str,
        resembles: fn(&Head<'_>) -> Resemblance,
        open: fn(&FormatInput) -> Box<dyn LineFormat>,
    ) -> Self {
        Self { kind: FormatName { id, name }, resembles, reader: FormatReader::Lines(open) }
    }

    /// A format that is read as a whole.
    pub const fn document(
        id: &'static str,
        name: &'static str,
        resembles: fn(&Head<'_>) -> Resemblance,
        read: fn(&FormatInput, &[u8], &mut Builder) -> Result<(), Refusal>,
    ) -> Self {
        Self { kind: FormatName { id, name }, resembles, reader: FormatReader::Document(read) }
    }

    /// A binary format that is read as a whole.
    pub(crate) const fn bytes(
        id: &'static str,
        name: &'static str,
        resembles: fn(&Head<'_>) -> Resemblance,
        read: ReadDocument,
    ) -> Self {
        Self { kind: FormatName { id, name }, resembles, reader: FormatReader::Bytes(read) }
    }

    /// A format that is recognised but not read; `fault` has the command that creates a readable input.
    pub(crate) const fn refused(
        id: &'static str,
        name: &'static str,
        resembles: fn(&Head<'_>) -> Resemblance,
        fault: &'static InputFault,
    ) -> Self {
        Self { kind: FormatName { id, name }, resembles, reader: FormatReader::Refused(fault) }
    }

    /// A trace of single operations.
    pub(crate) const fn trace(
        id: &'static str,
        name: &'static str,
        takes: Takes,
        resembles: fn(&Head<'_>) -> Resemblance,
        open: fn() -> Box<dyn Dialect>,
    ) -> Self {
        Self { kind: FormatName { id, name }, resembles, reader: FormatReader::Trace(takes, open) }
    }

    /// Whether the reader expects text or bytes.
    pub(crate) const fn takes(&self) -> Takes {
        match self.reader {
            FormatReader::Trace(takes, _) => takes,
            FormatReader::Bytes(_) => Takes::Bytes,
            _ => Takes::Text,
        }
    }
}

/// The input of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// UTF-8 without byte order mark.
    Text,
    /// Raw bytes of the file.
    Bytes,
}

/// Result of recognition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resemblance {
    /// No resemblance.
    None,
    /// Some marks of the format are present.
    Near {
        /// Number of marks, to rank formats.
        marks: u8,
        /// The missing mark, for the end of the sentence "but it has no ...".
        missing: &'static str,
    },
    /// The input has this format.
    Is {
        /// Number of marks, to rank formats: a specific format precedes a general one.
        marks: u8,
    },
}

impl Resemblance {
    /// [`Resemblance::Is`] under a condition.
    pub(crate) fn is(marks: u8, is: bool) -> Self {
        if is { Self::Is { marks } } else { Self::None }
    }

    /// `self`, or else a match under another condition with other marks.
    pub(crate) fn or(self, marks: u8, is: bool) -> Self {
        if self == Self::None { Self::is(marks, is) } else { self }
    }

    /// `self`, or else [`Resemblance::Near`] under a condition.
    pub(crate) fn or_near(self, marks: u8, is: bool, missing: &'static str) -> Self {
        if self == Self::None && is { Self::Near { marks, missing } } else { self }
    }
}

/// The beginning of an input, about [`Form::HEAD`] bytes; it may end within a line.
pub struct Head<'a> {
    raw: &'a [u8],
    bytes: &'a [u8],
    text: Cow<'a, str>,
}

impl<'a> Head<'a> {
    /// `raw` is as in the file, `bytes` in UTF-8 if the encoding is known.
    pub(crate) fn new(raw: &'a [u8], bytes: &'a [u8]) -> Self {
        Self { raw, bytes, text: String::from_utf8_lossy(bytes) }
    }

    /// The first [`Form::HEAD`] bytes of an input as UTF-8.
    pub(crate) fn decoded(head: &[u8]) -> Vec<u8> {
        let (mut decoder, mut text) = (Decoder::default(), Vec::new());
        decoder.push(head, &mut text);
        if head.len() < Form::HEAD {
            decoder.end(&mut text);
        }
        text
    }

    /// Raw bytes of the file.
    pub(crate) fn raw(&self) -> &[u8] {
        self.raw
    }

    /// Bytes of the text.
    pub fn bytes(&self) -> &[u8] {
        self.bytes
    }

    /// The text, with replacement characters for invalid UTF-8.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True if it contains `part`.
    pub fn has(&self, part: &str) -> bool {
        memmem::find(self.bytes, part.as_bytes()).is_some()
    }

    /// True if it contains any of `parts`.
    pub(crate) fn has_any(&self, parts: &[&str]) -> bool {
        parts.iter().any(|part| self.has(part))
    }

    /// The number of `parts` that it contains.
    pub fn count(&self, parts: &[&str]) -> usize {
        parts.iter().filter(|part| self.has(part)).count()
    }

    /// True if the first non-blank character is one of `first`.
    pub fn begins(&self, first: &[u8]) -> bool {
        self.bytes.trim_ascii_start().first().is_some_and(|byte| first.contains(byte))
    }
}

/// Metadata of an input from the caller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormatInput {
    /// Its name for messages, usually the file name.
    pub name: String,
    /// Its begin in UTC, for inputs without times.
    pub begin: Option<DateTime>,
    /// The zone of its times without offset; UTC if none.
    pub zone: Option<TimeZone>,
    /// The interval of its samples, for inputs that lack it.
    pub interval: Option<Span>,
    /// Windows of long inputs are not joined, so that an input with too many figures is refused.
    pub keeps_windows: bool,
}

impl From<&str> for FormatInput {
    fn from(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }
}

impl From<String> for FormatInput {
    fn from(name: String) -> Self {
        Self { name, ..Self::default() }
    }
}

/// An incremental reader of an input.
pub(crate) trait Format {
    /// Processes further bytes, split anywhere. A refusal ends reading and discards the reading.
    fn feed(&mut self, bytes: &[u8], out: &mut Builder) -> Result<(), Refusal>;

    /// Ends the input, with remaining figures, cautions or a refusal.
    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal>;
}

pub trait LineFormat {
    /// Processes a line without its end. Lines are numbered from 1.
    ///
    /// # Errors
    /// The whole input is unusable. Damage to a part of it is a [`crate::Caution`] instead.
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal>;

    /// Ends the input.
    ///
    /// # Errors
    /// The whole input is unusable.
    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal>;
}

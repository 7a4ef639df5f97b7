//! Parser of traces: malformed lines are errors with their line number.

use std::io::{self, BufRead, Read};
use std::str::from_utf8;

use plimsoll_load::Recorded;
use plimsoll_units::Span;

use super::{Action, COLUMNS, DROPPED, TRACE_FORMAT, TraceEntry};

/// Maximum length of a line in bytes.
const LONGEST: u64 = 4096;

/// A malformed line.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
#[error("{wrong}")]
pub struct TraceError {
    /// Line number, from 1.
    pub line: u64,
    pub wrong: Wrong,
}

/// Reason why a line is malformed.
#[plimsoll_language::say_errors]
#[derive(Debug, thiserror::Error)]
pub enum Wrong {
    /// Wrong first line.
    #[error("not a trace: the first line has to be #{TRACE_FORMAT}")]
    Format,
    /// Wrong second line.
    #[error("the second line has to name the columns: {COLUMNS}")]
    Columns,
    /// Wrong number of fields.
    #[error("a line has four fields, separated by commas: {COLUMNS}")]
    Fields,
    /// Not a whole number.
    #[error("{field} is {text:?}: write a whole number")]
    Number { field: &'static str, text: String },
    #[error("the kind is {0:?}: write read, write, durable-write, flush or trim")]
    Kind(String),
    /// Decreasing time.
    #[error("time goes back, from {before} ns to {at} ns: sort the lines by time")]
    Back {
        /// Time of the previous operation in nanoseconds.
        before: u64,
        /// Time of this operation in nanoseconds.
        at: u64,
    },
    /// Length above the maximum of an operation.
    #[error("a length of {0} is more than one operation moves: at most 4294967295")]
    Length(u64),
    /// Beyond the addressable range.
    #[error("the operation reaches beyond the last byte that can be addressed")]
    Space,
    /// A flush with an offset or length.
    #[error("a flush has no address: its offset and length must be 0")]
    Flush,
    /// Longer than the maximum.
    #[error("the line is longer than {LONGEST} bytes")]
    Long,
    /// No line break at the end of the file.
    #[error("the last line is cut off: delete it, or end it with a line break")]
    CutOff,
    #[error("reading the trace failed: {0}")]
    Read(#[from] io::Error),
}

/// Line-by-line parser, independent of the source of the lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct TraceLine {
    heads: u8,
    last: Span,
    dropped: u64,
}

impl TraceLine {
    /// Parses the next line without its line break. `None` for headers and comments.
    ///
    /// # Errors
    /// The line is malformed. Until the two header lines were read, any other line is an error.
    pub fn read(&mut self, line: &[u8], number: u64) -> Result<Option<TraceEntry>, Wrong> {
        match (self.heads, line) {
            (0, _) if line.strip_prefix(b"#") == Some(TRACE_FORMAT.as_bytes()) && number == 1 => self.heads = 1,
            (0, _) => return Err(Wrong::Format),
            (1, _) if line == COLUMNS.as_bytes() => self.heads = 2,
            (1, _) => return Err(Wrong::Columns),
            (_, [b'#', ..]) => {
                if let Some(dropped) = line.strip_prefix(DROPPED.as_bytes()) {
                    self.dropped = self.dropped.saturating_add(number_of("the count of dropped operations", dropped)?);
                }
            }
            _ => return self.operation(line).map(Some),
        }
        Ok(None)
    }

    /// Number of operations dropped by the recorder, as read so far.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    fn operation(&mut self, line: &[u8]) -> Result<TraceEntry, Wrong> {
        let entry = parse(line)?;
        if entry.at < self.last {
            return Err(Wrong::Back { before: self.last.as_nanos(), at: entry.at.as_nanos() });
        }
        self.last = entry.at;
        Ok(entry)
    }
}

/// Reads a trace line by line. Ends after an error.
#[derive(Debug)]
pub struct TraceReader<R> {
    source: R,
    line: Vec<u8>,
    number: u64,
    lines: TraceLine,
    ended: bool,
}

impl<R: BufRead> TraceReader<R> {
    /// Reads the header of a trace.
    ///
    /// # Errors
    /// Not a trace, or another version.
    pub fn new(source: R) -> Result<Self, TraceError> {
        let mut reader = Self { source, line: Vec::new(), number: 0, lines: TraceLine::default(), ended: false };
        for _ in 0..2 {
            let read = reader.advance().and_then(|_| reader.lines.read(&reader.line, reader.number));
            read.map_err(|wrong| reader.at(wrong))?;
        }
        Ok(reader)
    }

    /// Number of operations dropped by the recorder, as read so far.
    pub const fn dropped(&self) -> u64 {
        self.lines.dropped()
    }

    /// The operations in the form of a load.
    pub fn recorded(self) -> impl Iterator<Item = Result<Recorded, TraceError>> {
        self.map(|entry| entry.map(|entry| entry.recorded()))
    }

    fn at(&self, wrong: Wrong) -> TraceError {
        TraceError { line: self.number.max(1), wrong }
    }

    /// Reads the next line without its line break; false at the end.
    fn advance(&mut self) -> Result<bool, Wrong> {
        self.line.clear();
        self.number += 1;
        if (&mut self.source).take(LONGEST).read_until(b'\n', &mut self.line)? == 0 {
            return Ok(false);
        }
        if self.line.pop_if(|last| *last == b'\n').is_none() {
            return Err(if self.line.len() as u64 == LONGEST { Wrong::Long } else { Wrong::CutOff });
        }
        // Line breaks of other systems.
        self.line.pop_if(|last| *last == b'\r');
        Ok(true)
    }

    /// The next operation; `None` at the end.
    fn operation(&mut self) -> Result<Option<TraceEntry>, Wrong> {
        while self.advance()? {
            if let Some(entry) = self.lines.read(&self.line, self.number)? {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }
}

impl<R: BufRead> Iterator for TraceReader<R> {
    type Item = Result<TraceEntry, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.operation().map_err(|wrong| self.at(wrong)).transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

fn parse(line: &[u8]) -> Result<TraceEntry, Wrong> {
    let mut fields = line.split(|byte| *byte == b',');
    let (Some(at), Some(kind), Some(offset), Some(length), None) =
        (fields.next(), fields.next(), fields.next(), fields.next(), fields.next())
    else {
        return Err(Wrong::Fields);
    };
    let action = Action::WORDS.iter().find(|(_, word)| word.as_bytes() == kind);
    let action = action.ok_or_else(|| Wrong::Kind(display(kind)))?.0;
    let at = Span::from_nanos(number_of("time_ns", at)?);
    let (offset, length) = (number_of("offset", offset)?, number_of("length", length)?);
    if action != Action::Trim && length > u64::from(u32::MAX) {
        return Err(Wrong::Length(length));
    }
    if offset.checked_add(length).is_none() {
        return Err(Wrong::Space);
    }
    if action == Action::Flush && (offset, length) != (0, 0) {
        return Err(Wrong::Flush);
    }
    Ok(TraceEntry { at, action, offset, length })
}

/// Parses decimal digits only.
fn number_of(field: &'static str, text: &[u8]) -> Result<u64, Wrong> {
    let digits = from_utf8(text).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let value = digits.and_then(|digits| digits.parse().ok());
    value.ok_or_else(|| Wrong::Number { field, text: display(text) })
}

/// Start of a field, for error messages.
fn display(field: &[u8]) -> String {
    String::from_utf8_lossy(&field[..field.len().min(40)]).into_owned()
}

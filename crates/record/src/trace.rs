//! Recorded operations as text for people and other tools: a line for each, in order of arrival.
//!
//! ```text
//! #plimsoll.trace/1
//! time_ns,kind,offset,length
//! 0,read,8192,4096
//! 52117,write,0,8192
//! 52117,flush,0,0
//! #dropped 0
//! ```
//!
//! Times are nanoseconds since the first operation and never decrease; offset and length are bytes. Kinds are `read`,
//! `write`, `durable-write` (durable on completion), `flush` (with zeros) and `trim` (space is deallocated). Other
//! lines that begin with `#` are comments. The last line states the number of operations dropped by the recorder.
//!
//! Readers and writers work on streams of bytes, and hold a line at a time.

mod outline;
mod read;

use std::io::{self, Write};

use plimsoll_load::Recorded;
use plimsoll_units::{Kind, Op, Span};

pub use outline::Outline;
pub use read::{TraceError, TraceLine, TraceReader, Wrong};

/// Name and version of the format, in the first line after `#`.
pub const TRACE_FORMAT: &str = "plimsoll.trace/1";

/// Second line.
const COLUMNS: &str = "time_ns,kind,offset,length";

/// Start of the last line.
const DROPPED: &str = "#dropped ";

/// Kind of a recorded operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Read,
    Write,
    DurableWrite,
    /// Makes previous writes durable.
    Flush,
    /// Deallocates space; transfers no bytes.
    Trim,
}

impl Action {
    /// Name of every action in the file.
    const WORDS: [(Self, &'static str); 5] = [
        (Self::Read, "read"),
        (Self::Write, "write"),
        (Self::DurableWrite, "durable-write"),
        (Self::Flush, "flush"),
        (Self::Trim, "trim"),
    ];

    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(action, _)| *action == self).map_or("", |(_, word)| word)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEntry {
    /// Arrival in nanoseconds since the first operation.
    pub at: Span,
    pub action: Action,
    /// First byte; zero for a flush.
    pub offset: u64,
    /// Length in bytes; zero for a flush. At most `u32::MAX`, except for a trim.
    pub length: u64,
}

impl TraceEntry {
    /// The operation for a model: a trim is a write that transfers no data.
    pub fn recorded(&self) -> Recorded {
        let kind = match self.action {
            Action::Read => Kind::Read,
            Action::Write | Action::Trim => Kind::Write,
            Action::DurableWrite => Kind::DurableWrite,
            Action::Flush => Kind::Flush,
        };
        Recorded { at: self.at, op: Op { offset: self.offset, length: self.bytes(), kind, stream: 0 } }
    }

    /// Bytes transferred.
    fn bytes(&self) -> u32 {
        if self.action == Action::Trim { 0 } else { u32::try_from(self.length).unwrap_or(u32::MAX) }
    }
}

/// Writes a trace to a stream, which should be buffered.
#[derive(Debug)]
pub struct TraceWriter<W> {
    sink: W,
    first: Option<Span>,
}

impl<W: Write> TraceWriter<W> {
    /// Starts a trace with its two header lines.
    ///
    /// # Errors
    /// Errors of the stream.
    pub fn new(mut sink: W) -> io::Result<Self> {
        writeln!(sink, "#{TRACE_FORMAT}\n{COLUMNS}")?;
        Ok(Self { sink, first: None })
    }

    /// Writes an operation. Times are relative to the first written operation, and must not decrease.
    ///
    /// # Errors
    /// Errors of the stream.
    pub fn write(&mut self, entry: &TraceEntry) -> io::Result<()> {
        let TraceEntry { at, action, offset, length } = *entry;
        let since = at - *self.first.get_or_insert(at);
        writeln!(self.sink, "{},{},{offset},{length}", since.as_nanos(), action.word())
    }

    /// Flushes buffered data, so that other processes see the trace so far.
    ///
    /// # Errors
    /// Errors of the stream.
    pub fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }

    /// Ends the trace with the number of dropped operations.
    ///
    /// # Errors
    /// Errors of the stream.
    pub fn end(mut self, dropped: u64) -> io::Result<()> {
        writeln!(self.sink, "{DROPPED}{dropped}")?;
        self.sink.flush()
    }
}

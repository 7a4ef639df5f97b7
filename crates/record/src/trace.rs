//! Recorded operations as text that people and other tools read: one line for each, in the order in which they arrived.
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
//! Times are nanoseconds since the first operation and never fall; offset and length are bytes. Kinds are `read`,
//! `write`, `durable-write` (durable when answered), `flush` (with zeros) and `trim` (space given back). Other lines that
//! begin with `#` are remarks. The last line says how many operations the recorder could not keep.
//!
//! Knows no file: readers and writers are streams of bytes, and hold one line at a time.

mod outline;
mod read;

use std::io::{self, Write};

use plimsoll_load::Recorded;
use plimsoll_units::{Kind, Op, Span};

pub use outline::Outline;
pub use read::{TraceError, TraceLine, TraceReader, Wrong};

/// The name and version of the format, in the first line after `#`.
pub const TRACE_FORMAT: &str = "plimsoll.trace/1";

/// The second line.
const COLUMNS: &str = "time_ns,kind,offset,length";

/// How the last line begins.
const DROPPED: &str = "#dropped ";

/// What a recorded operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Writes, durable when answered.
    DurableWrite,
    /// Makes what was written durable.
    Flush,
    /// Gives space back; moves no bytes.
    Trim,
}

impl Action {
    /// Every action with its word in the file.
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

/// One line of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// When it arrived, in nanoseconds since the first.
    pub at: Span,
    /// What it does.
    pub action: Action,
    /// First byte; zero for a flush.
    pub offset: u64,
    /// Bytes; zero for a flush. At most `u32::MAX`, but for a trim.
    pub length: u64,
}

impl Asked {
    /// What a model is asked: a trim is a write that moves nothing.
    pub fn recorded(&self) -> Recorded {
        let kind = match self.action {
            Action::Read => Kind::Read,
            Action::Write | Action::Trim => Kind::Write,
            Action::DurableWrite => Kind::DurableWrite,
            Action::Flush => Kind::Flush,
        };
        Recorded { at: self.at, op: Op { offset: self.offset, length: self.bytes(), kind, stream: 0 } }
    }

    /// Bytes that it moves.
    fn bytes(&self) -> u32 {
        if self.action == Action::Trim { 0 } else { u32::try_from(self.length).unwrap_or(u32::MAX) }
    }
}

/// Writes a trace to a stream of bytes, which should be buffered.
#[derive(Debug)]
pub struct TraceWriter<W> {
    sink: W,
    first: Option<Span>,
}

impl<W: Write> TraceWriter<W> {
    /// Begins a trace with its two head lines.
    ///
    /// # Errors
    /// What the stream says.
    pub fn new(mut sink: W) -> io::Result<Self> {
        writeln!(sink, "#{TRACE_FORMAT}\n{COLUMNS}")?;
        Ok(Self { sink, first: None })
    }

    /// Writes one operation. Times count from the first that was written, and must not fall.
    ///
    /// # Errors
    /// What the stream says.
    pub fn write(&mut self, asked: &Asked) -> io::Result<()> {
        let Asked { at, action, offset, length } = *asked;
        let since = at - *self.first.get_or_insert(at);
        writeln!(self.sink, "{},{},{offset},{length}", since.as_nanos(), action.word())
    }

    /// Hands everything on that is buffered, so that others see the trace up to here.
    ///
    /// # Errors
    /// What the stream says.
    pub fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }

    /// Ends the trace with how many operations are missing in it.
    ///
    /// # Errors
    /// What the stream says.
    pub fn end(mut self, dropped: u64) -> io::Result<()> {
        writeln!(self.sink, "{DROPPED}{dropped}")?;
        self.sink.flush()
    }
}

//! The interface between a dialect, which converts bytes to operations, and the [`Sink`] that receives them; and the
//! splitter of lines for dialects with an operation per line.

use std::collections::BTreeMap;
use std::convert::Infallible;

use plimsoll_record::Action;

use crate::form::{Form, Head, Resemblance};
use crate::reading::ReadingScope;
use crate::text::lines::{LineBuffer, without_return};

/// Bytes of a sector, the unit of block addresses.
pub(super) const SECTOR: u64 = 512;

/// An operation. Missing values are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TraceRecord {
    /// The line or record number, from 1.
    pub(super) number: u64,
    /// Nanoseconds since the origin of the dialect's clock.
    pub(super) at_ns: Option<u64>,
    /// Its kind.
    pub(super) action: Option<Action>,
    /// The first byte; for objects, their identity.
    pub(super) place: u64,
    /// Bytes.
    pub(super) length: Option<u64>,
    /// The volume.
    pub(super) volume: TraceVolume,
    /// Nanoseconds until the response, if the same record contains it.
    pub(super) took_ns: Option<u64>,
}

/// Receives the operations of a trace.
pub(crate) trait Sink {
    /// The number of a volume by its name.
    fn volume(&mut self, name: &[u8]) -> TraceVolume;

    /// Receives an operation, and returns a mark for its response.
    fn operation(&mut self, record: &TraceRecord) -> Mark;

    /// Receives the response to an operation, if it is another record.
    fn answered(&mut self, _mark: Mark, _took_ns: u64) {}

    /// Receives an unreadable record.
    fn broken(&mut self, number: u64, reason: &str);

    /// Receives an unreadable last line without its end: its recording was interrupted.
    fn cut(&mut self, number: u64, reason: &str) {
        self.broken(number, reason);
    }
}

/// Identifies an operation: its class and time, as numbered by the receiving sink.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(super) at_ns: u64,
    pub(super) class: u8,
}

/// Reads a trace of a dialect.
pub(crate) trait Dialect {
    /// Processes further bytes, split anywhere.
    fn feed(&mut self, bytes: &[u8], sink: &mut dyn Sink);

    /// Ends the trace.
    fn end(&mut self, sink: &mut dyn Sink);

    /// Properties of the trace so far.
    fn about(&self) -> DialectFacts;
}

/// Properties of a whole trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct DialectFacts {
    /// Nanoseconds from 1970 to the origin of the clock, if known.
    pub(super) epoch_ns: Option<i128>,
    /// Assumptions and missing information, a sentence each.
    pub(super) doubts: Vec<String>,
    /// Operations dropped by the recorder.
    pub(super) dropped: u64,
    /// Nanoseconds of its clock's resolution, if coarse.
    pub(super) tick_ns: u64,
    /// The order of its records.
    pub(super) order: RecordOrder,
    /// The scope of a volume name.
    pub(super) scope: Option<fn(&str) -> ReadingScope>,
    /// The unit of its record numbers.
    pub(super) counts: NumberUnit,
}

/// The order of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RecordOrder {
    /// By time.
    Strict,
    /// Nearly by time: written by several processors.
    #[default]
    Loose,
}

/// The unit of record numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum NumberUnit {
    /// Lines of text.
    #[default]
    Lines,
    /// Records without lines.
    Records,
}

/// A volume of a trace, by number.
pub(crate) type TraceVolume = u32;

/// The volumes of a trace, in the order of their first operations.
#[derive(Debug, Default)]
pub(super) struct Volumes {
    names: Vec<Box<[u8]>>,
    numbers: BTreeMap<Box<[u8]>, TraceVolume>,
    last: TraceVolume,
    /// The limit of volumes was exceeded.
    pub(super) overflowed: bool,
}

impl Volumes {
    /// Maximum distinguished volumes; the rest are merged.
    pub(super) const MAX: usize = 1 << 16;
    /// Maximum bytes of a name.
    const MAX_NAME: usize = 256;

    /// The number of a name.
    pub(super) fn number(&mut self, name: &[u8]) -> TraceVolume {
        let name = &name[..name.len().min(Self::MAX_NAME)];
        // Records of a volume are often adjacent.
        if self.names.get(self.last as usize).is_some_and(|last| **last == *name) {
            return self.last;
        }
        self.last = match self.numbers.get(name) {
            Some(known) => *known,
            None if self.names.len() < Self::MAX => {
                let number = self.names.len() as TraceVolume;
                self.names.push(name.into());
                self.numbers.insert(name.into(), number);
                number
            }
            None => {
                self.overflowed = true;
                Self::MAX as TraceVolume - 1
            }
        };
        self.last
    }

    /// The number of volumes.
    pub(super) fn count(&self) -> usize {
        self.names.len()
    }

    /// A volume's name.
    pub(super) fn name(&self, volume: TraceVolume) -> String {
        self.names.get(volume as usize).map(|name| String::from_utf8_lossy(name).into_owned()).unwrap_or_default()
    }
}

/// A dialect of lines.
pub(super) trait LineDialect {
    /// Number of marks, to rank dialects that match an input.
    fn marks(&self) -> u8;

    /// Lines that must match for recognition: more if lines are less specific.
    fn min_lines(&self) -> u32 {
        1
    }

    /// Processes a line, without its end.
    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line;

    /// True after a line that no other format has: the rest may then be broken.
    fn is_sure(&self) -> bool {
        false
    }

    /// Properties of the trace so far.
    fn about(&self) -> DialectFacts;

    /// Processes a last line without its end, from a truncated copy.
    fn cut(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        self.row(line, number, sink)
    }

    /// Ends the trace.
    fn end(&mut self, _sink: &mut dyn Sink) {}
}

/// The content of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A record, passed on if relevant.
    Read,
    /// A heading or a remark.
    Passed,
    /// A damaged record.
    Broken(&'static str),
    /// A damaged record that was already reported to the sink.
    Reported,
}

/// Maximum bytes of a line; the rest is ignored.
const MAX_LINE: usize = 1 << 16;

/// Passes the lines of a text to a [`LineDialect`].
pub(super) struct LineSplitter<R> {
    row: R,
    lines: LineBuffer,
    has_records: bool,
}

impl<R: LineDialect> LineSplitter<R> {
    pub(super) fn new(row: R) -> Self {
        Self { row, lines: LineBuffer::default(), has_records: false }
    }

    /// `is_cut`: a last line without its end.
    fn hand_on(&mut self, line: &[u8], number: u64, is_cut: bool, sink: &mut dyn Sink) {
        let line = without_return(line);
        if line.len() > MAX_LINE {
            return sink.broken(number, "the line is too long: skipped");
        }
        let row = &mut self.row;
        match if is_cut { row.cut(line, number, sink) } else { row.row(line, number, sink) } {
            Line::Read => self.has_records = true,
            Line::Passed | Line::Reported => {}
            // The first line may have column names.
            Line::Broken(_) if !self.has_records && number == 1 => {}
            Line::Broken(_) if line.trim_ascii().is_empty() => {}
            Line::Broken(reason) if is_cut => sink.cut(number, reason),
            Line::Broken(reason) => sink.broken(number, reason),
        }
    }
}

impl<R: LineDialect> Dialect for LineSplitter<R> {
    fn feed(&mut self, bytes: &[u8], sink: &mut dyn Sink) {
        let mut lines = std::mem::take(&mut self.lines);
        // Of the two additional bytes, which show that a line is too long, the second may be a carriage return.
        let Ok(()) = lines.feed(bytes, MAX_LINE + 2, |line, number| {
            self.hand_on(line, number, false, sink);
            Ok::<(), Infallible>(())
        });
        self.lines = lines;
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        if let Some((last, number)) = std::mem::take(&mut self.lines).last() {
            self.hand_on(last, number, true, sink);
        }
        self.row.end(sink);
    }

    fn about(&self) -> DialectFacts {
        self.row.about()
    }
}

/// Reads the head of an input with a dialect of lines, and counts the resulting records.
pub(super) fn resembles<R: LineDialect>(mut row: R, head: &Head<'_>) -> Resemblance {
    /// Number of tried lines.
    const TRIED: usize = 200;
    let whole = match memchr::memrchr(b'\n', head.bytes()) {
        Some(end) if head.bytes().len() >= Form::HEAD - 4 => &head.bytes()[..end],
        _ => head.bytes(),
    };
    let (mut read, mut broken) = (0_u32, 0_u32);
    for (number, line) in (1..).zip(whole.split(|byte| *byte == b'\n').take(TRIED)) {
        let line = without_return(line);
        if line.len() > MAX_LINE {
            return Resemblance::None;
        }
        match row.row(line, number, &mut Trial) {
            Line::Read => read += 1,
            Line::Passed => {}
            Line::Broken(_) if number == 1 || line.trim_ascii().is_empty() => {}
            Line::Broken(_) | Line::Reported => broken += 1,
        }
    }
    let marks = row.marks();
    match (read, broken) {
        (0, _) => Resemblance::None,
        _ if row.is_sure() => Resemblance::Is { marks },
        _ if broken * 10 <= read && read >= row.min_lines() => Resemblance::Is { marks },
        _ if broken <= read && row.min_lines() == 1 => {
            Resemblance::Near { marks: 1, missing: "such record in most lines" }
        }
        _ => Resemblance::None,
    }
}

/// A sink that discards the operations of a trial.
struct Trial;

impl Sink for Trial {
    fn volume(&mut self, _: &[u8]) -> TraceVolume {
        0
    }

    fn operation(&mut self, _: &TraceRecord) -> Mark {
        Mark::default()
    }

    fn broken(&mut self, _: u64, _: &str) {}
}

//! Dialects with an operation per line: the splitter of lines, and recognition.

use std::convert::Infallible;

use crate::dialect::{Dialect, DialectFacts, Mark, Sink, TraceRecord, TraceVolume};
use crate::form::{Form, Head, Resemblance};
use crate::reading::Doubt;
use crate::text::lines::{LineBuffer, without_return};

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

    fn end(&mut self, _sink: &mut dyn Sink) {}
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Line {
    /// A record, passed on if relevant.
    Read,
    /// A heading or a remark.
    Passed,
    /// A damaged record.
    Broken(Doubt),
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
            return sink.broken(number, &Doubt::LongLine { limit: MAX_LINE });
        }
        let row = &mut self.row;
        match if is_cut { row.cut(line, number, sink) } else { row.row(line, number, sink) } {
            Line::Read => self.has_records = true,
            Line::Passed | Line::Reported => {}
            // The first line may have column names.
            Line::Broken(_) if !self.has_records && number == 1 => {}
            Line::Broken(_) if line.trim_ascii().is_empty() => {}
            Line::Broken(doubt) if is_cut => sink.cut(number, &doubt),
            Line::Broken(doubt) => sink.broken(number, &doubt),
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
    let total = match memchr::memrchr(b'\n', head.bytes()) {
        Some(end) if head.bytes().len() >= Form::HEAD - 4 => &head.bytes()[..end],
        _ => head.bytes(),
    };
    let (mut read, mut broken) = (0_u32, 0_u32);
    for (number, line) in (1..).zip(total.split(|byte| *byte == b'\n').take(TRIED)) {
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

    fn broken(&mut self, _: u64, _: &Doubt) {}
}

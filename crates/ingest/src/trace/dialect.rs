//! The interface between a dialect, which turns bytes into operations, and the [`Sink`] that takes them; and the cutter of
//! lines for dialects of one operation per line.

use std::collections::BTreeMap;

use plimsoll_record::Action;

use crate::form::{Form, Head, Resemblance};
use crate::reading::Scope;

/// Bytes of a sector, the unit of block addresses.
pub(super) const SECTOR: u64 = 512;

/// One operation. A missing value is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    /// The line, or the record, from 1.
    pub(super) number: u64,
    /// Nanoseconds since the zero of the dialect's clock.
    pub(super) at_ns: Option<u64>,
    /// Its kind.
    pub(super) action: Option<Action>,
    /// The first byte; of objects, their identity.
    pub(super) place: u64,
    /// Bytes.
    pub(super) length: Option<u64>,
    /// The volume.
    pub(super) volume: Volume,
    /// Nanoseconds until the response, if the same record has them.
    pub(super) took_ns: Option<u64>,
}

/// Takes the operations of a trace.
pub(crate) trait Sink {
    /// The number of a volume by its name.
    fn volume(&mut self, name: &[u8]) -> Volume;

    /// Takes an operation, and returns a mark for its response.
    fn asked(&mut self, said: &Said) -> Mark;

    /// Takes the response to an operation, if another record has it.
    fn answered(&mut self, mark: Mark, took_ns: u64);

    /// Takes a record that cannot be read.
    fn broken(&mut self, number: u64, what: &str);
}

/// Identifies an operation: its class and time, in the numbers of the sink that took it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(super) at_ns: u64,
    pub(super) class: u8,
}

/// Reads a trace of one dialect.
pub(crate) trait Dialect {
    /// Takes further bytes, cut anywhere.
    fn feed(&mut self, bytes: &[u8], sink: &mut dyn Sink);

    /// Ends the trace.
    fn end(&mut self, sink: &mut dyn Sink);

    /// Properties of the trace as far as it was read.
    fn about(&self) -> About;
}

/// Properties of a trace as a whole.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    /// Nanoseconds from 1970 to the zero of the clock, if that is a moment of the calendar.
    pub(super) epoch_ns: Option<i128>,
    /// What was assumed, or is missing: a sentence each.
    pub(super) doubts: Vec<String>,
    /// Operations that the recorder could not keep.
    pub(super) dropped: u64,
    /// Nanoseconds of the smallest step of its clock, if that is large.
    pub(super) tick_ns: u64,
    /// The order of its records.
    pub(super) order: Order,
    /// The scope that the name of a volume stands for.
    pub(super) scope: Option<fn(&str) -> Scope>,
    /// What its records are called.
    pub(super) counts: Counts,
}

/// The order of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    /// By time.
    Strict,
    /// Nearly by time: several processors wrote them.
    #[default]
    Loose,
}

/// What numbers of records count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Counts {
    /// Lines of text.
    #[default]
    Lines,
    /// Records without lines.
    Records,
}

/// A volume of a trace, by number.
pub(crate) type Volume = u32;

/// The volumes that a trace names, in the order of their first operations.
#[derive(Debug, Default)]
pub(super) struct Volumes {
    names: Vec<Box<[u8]>>,
    numbers: BTreeMap<Box<[u8]>, Volume>,
    last: Volume,
    /// There were more than are told apart.
    pub(super) overflowed: bool,
}

impl Volumes {
    /// Volumes that are told apart; the rest are one.
    pub(super) const MOST: usize = 1 << 16;
    /// Bytes of a name that are kept.
    const LONGEST: usize = 256;

    /// The number of a name.
    pub(super) fn number(&mut self, name: &[u8]) -> Volume {
        let name = &name[..name.len().min(Self::LONGEST)];
        // Records of one volume come together.
        if self.names.get(self.last as usize).is_some_and(|last| **last == *name) {
            return self.last;
        }
        self.last = match self.numbers.get(name) {
            Some(known) => *known,
            None if self.names.len() < Self::MOST => {
                let number = self.names.len() as Volume;
                self.names.push(name.into());
                self.numbers.insert(name.into(), number);
                number
            }
            None => {
                self.overflowed = true;
                Self::MOST as Volume - 1
            }
        };
        self.last
    }

    /// The number of volumes.
    pub(super) fn count(&self) -> usize {
        self.names.len()
    }

    /// A volume's name.
    pub(super) fn name(&self, volume: Volume) -> String {
        self.names.get(volume as usize).map(|name| String::from_utf8_lossy(name).into_owned()).unwrap_or_default()
    }
}

/// A dialect of lines.
pub(super) trait Row {
    /// How specific its lines are: among dialects that fit an input, the one with more marks is taken.
    fn marks(&self) -> u8;

    /// Lines that must fit for the dialect to be recognised: more if lines are less specific.
    fn least(&self) -> u32 {
        1
    }

    /// Takes a line, without its end.
    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line;

    /// True once a line was read that no other input has: the rest may then be broken.
    fn is_sure(&self) -> bool {
        false
    }

    /// Properties of the trace as far as it was read.
    fn about(&self) -> About;

    /// Takes a last line without its end, as a broken copy has it.
    fn cut(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        self.row(line, number, sink)
    }

    /// Ends the trace.
    fn end(&mut self, _sink: &mut dyn Sink) {}
}

/// The content of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A record, handed on if it matters.
    Read,
    /// A heading or a remark.
    Passed,
    /// A damaged record.
    Broken(&'static str),
    /// A damaged record that the sink was told of.
    Told,
}

/// Bytes of a line; of longer ones only the beginning is looked at.
const LONGEST_LINE: usize = 1 << 16;

/// Cuts bytes into lines for a [`Row`].
pub(super) struct Rows<R> {
    row: R,
    rest: Vec<u8>,
    number: u64,
    has_records: bool,
}

impl<R: Row> Rows<R> {
    pub(super) fn new(row: R) -> Self {
        Self { row, rest: Vec::new(), number: 0, has_records: false }
    }

    fn hand_on(&mut self, line: &[u8], is_whole: bool, sink: &mut dyn Sink) {
        self.number += 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > LONGEST_LINE {
            return sink.broken(self.number, "the line is longer than any of a trace: left out");
        }
        let row = if is_whole { R::row } else { R::cut };
        match row(&mut self.row, line, self.number, sink) {
            Line::Read => self.has_records = true,
            Line::Passed | Line::Told => {}
            // The first line may name columns.
            Line::Broken(_) if !self.has_records && self.number == 1 => {}
            Line::Broken(_) if line.trim_ascii().is_empty() => {}
            Line::Broken(what) => sink.broken(self.number, what),
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        // One byte too many tells that the line is too long.
        let room = (LONGEST_LINE + 2).saturating_sub(self.rest.len());
        self.rest.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

impl<R: Row> Dialect for Rows<R> {
    fn feed(&mut self, mut bytes: &[u8], sink: &mut dyn Sink) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let line = &bytes[..end];
            bytes = &bytes[end + 1..];
            if self.rest.is_empty() {
                self.hand_on(line, true, sink);
            } else {
                self.keep(line);
                let mut whole = std::mem::take(&mut self.rest);
                self.hand_on(&whole, true, sink);
                whole.clear();
                self.rest = whole;
            }
        }
        self.keep(bytes);
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        let last = std::mem::take(&mut self.rest);
        if !last.is_empty() {
            self.hand_on(&last, false, sink);
        }
        self.row.end(sink);
    }

    fn about(&self) -> About {
        self.row.about()
    }
}

/// Reads the head of an input with a dialect of lines, and counts the records that this gives.
pub(super) fn resembles<R: Row>(mut row: R, head: &Head<'_>) -> Resemblance {
    /// Lines that are tried.
    const TRIED: usize = 200;
    let whole = match memchr::memrchr(b'\n', head.bytes()) {
        Some(end) if head.bytes().len() >= Form::HEAD - 4 => &head.bytes()[..end],
        _ => head.bytes(),
    };
    let (mut read, mut broken) = (0_u32, 0_u32);
    for (number, line) in (1..).zip(whole.split(|byte| *byte == b'\n').take(TRIED)) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > LONGEST_LINE {
            return Resemblance::None;
        }
        match row.row(line, number, &mut Trial) {
            Line::Read => read += 1,
            Line::Passed => {}
            Line::Broken(_) if number == 1 || line.trim_ascii().is_empty() => {}
            Line::Broken(_) | Line::Told => broken += 1,
        }
    }
    let marks = row.marks();
    match (read, broken) {
        (0, _) => Resemblance::None,
        _ if row.is_sure() => Resemblance::Is { marks },
        _ if broken * 10 <= read && read >= row.least() => Resemblance::Is { marks },
        _ if broken <= read && row.least() == 1 => Resemblance::Near { marks: 1, missing: "such record in most lines" },
        _ => Resemblance::None,
    }
}

/// Takes the operations of a trial, and keeps none.
struct Trial;

impl Sink for Trial {
    fn volume(&mut self, _: &[u8]) -> Volume {
        0
    }

    fn asked(&mut self, _: &Said) -> Mark {
        Mark::default()
    }

    fn answered(&mut self, _: Mark, _: u64) {}

    fn broken(&mut self, _: u64, _: &str) {}
}

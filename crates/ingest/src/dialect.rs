//! The interface between a dialect of traces, which converts bytes to operations, and the [`Sink`] that receives them.

use std::collections::BTreeMap;

use plimsoll_record::Action;

use crate::reading::{Doubt, ReadingScope};

/// Bytes of a sector, the unit of block addresses.
pub(crate) const SECTOR: u64 = 512;

/// An operation. Missing values are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TraceRecord {
    /// The line or record number, from 1.
    pub(crate) number: u64,
    /// Nanoseconds since the origin of the dialect's clock.
    pub(crate) at_ns: Option<u64>,
    pub(crate) action: Option<Action>,
    /// The first byte; for objects, their identity.
    pub(crate) place: u64,
    /// Bytes.
    pub(crate) length: Option<u64>,
    pub(crate) volume: TraceVolume,
    /// Nanoseconds until the response, if the same record contains it.
    pub(crate) took_ns: Option<u64>,
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
    fn broken(&mut self, number: u64, doubt: &Doubt);

    /// Receives an unreadable last line without its end: its recording was interrupted.
    fn cut(&mut self, number: u64, doubt: &Doubt) {
        self.broken(number, doubt);
    }
}

/// Identifies an operation: its class and time, as numbered by the receiving sink.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) at_ns: u64,
    pub(crate) class: u8,
}

/// Reads a trace of a dialect.
pub(crate) trait Dialect {
    /// Processes further bytes, split anywhere.
    fn feed(&mut self, bytes: &[u8], sink: &mut dyn Sink);

    fn end(&mut self, sink: &mut dyn Sink);

    /// Properties of the trace so far.
    fn about(&self) -> DialectFacts;
}

/// Properties of a whole trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct DialectFacts {
    /// Nanoseconds from 1970 to the origin of the clock, if known.
    pub(crate) epoch_ns: Option<i128>,
    /// Assumptions and missing information.
    pub(crate) doubts: Vec<Doubt>,
    /// Operations dropped by the recorder.
    pub(crate) dropped: u64,
    /// Nanoseconds of its clock's resolution, if coarse.
    pub(crate) tick_ns: u64,
    pub(crate) order: RecordOrder,
    /// The scope of a volume name.
    pub(crate) scope: Option<fn(&str) -> ReadingScope>,
    /// The unit of its record numbers.
    pub(crate) counts: NumberUnit,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RecordOrder {
    Strict,
    /// Nearly by time: written by several processors.
    #[default]
    Loose,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum NumberUnit {
    #[default]
    Lines,
    /// Records without lines.
    Records,
}

pub(crate) type TraceVolume = u32;

/// The volumes of a trace, in the order of their first operations.
#[derive(Debug, Default)]
pub(crate) struct Volumes {
    names: Vec<Box<[u8]>>,
    numbers: BTreeMap<Box<[u8]>, TraceVolume>,
    last: TraceVolume,
    /// The limit of volumes was exceeded.
    pub(crate) overflowed: bool,
}

impl Volumes {
    /// Maximum distinguished volumes; the rest are merged.
    pub(crate) const MAX: usize = 1 << 16;
    /// Maximum bytes of a name.
    const MAX_NAME: usize = 256;

    pub(crate) fn number(&mut self, name: &[u8]) -> TraceVolume {
        let name = &name[..name.len().min(Self::MAX_NAME)];
        // Records of a volume are often adjacent.
        if self.names.get(self.last as usize).is_some_and(|last| **last == *name) {
            return self.last;
        }
        self.last = match self.numbers.get(name) {
            Some(existing) => *existing,
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
    pub(crate) fn count(&self) -> usize {
        self.names.len()
    }

    /// A volume's name.
    pub(crate) fn name(&self, volume: TraceVolume) -> String {
        self.names.get(volume as usize).map(|name| String::from_utf8_lossy(name).into_owned()).unwrap_or_default()
    }
}

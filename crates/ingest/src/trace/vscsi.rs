//! Virtual disks of `CloudPhysics` (Waldspurger et al. 2015): the records of `VMware`'s `vscsiStats` in either version, and
//! the table that libCacheSim prints of them. Blocks are sectors, sizes bytes.

use plimsoll_record::Action;

use super::dialect::{About, Counts, Dialect, SECTOR, Said, Sink};
use super::fields::{hexadecimal, scaled, split, whole};
use super::rows::{Line, Row};
use super::scsi::{Command, command};
use crate::format::{Resemblance, Takes};
use crate::kind::Kind;

/// `version,time,command,bytes,sector`, below a line that names them.
#[derive(Default)]
pub(super) struct Table {
    unit: Option<u64>,
}

/// Beyond this a time is no number of seconds: more than a thousand years.
const NO_SECONDS: u64 = 100_000_000_000;

impl Row for Table {
    const KIND: Kind = Kind { id: "trace-cloudphysics", name: "CloudPhysics trace (CSV)" };
    const MARKS: u8 = 6;

    fn new() -> Self {
        Self::default()
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        let mut f: [&[u8]; 5] = [b""; 5];
        if split(line, b',', &mut f) != 5 {
            return Line::Broken("it has not the five fields of a record: left out");
        }
        let (b"1" | b"2", Some(asked)) = (f[0], code(f[2])) else {
            return Line::Broken("its version or command is none that is known: left out");
        };
        let first = scaled(f[1], 1);
        let unit = *self.unit.get_or_insert(match first {
            Some(time) if time > NO_SECONDS => 1_000,
            _ => 1_000_000_000,
        });
        let place = whole(f[4]).and_then(|sector| sector.checked_mul(SECTOR));
        let (Some(at_ns), Some(place), Some(length)) = (scaled(f[1], unit), place, whole(f[3])) else {
            return Line::Broken("its time, size or sector is no number: left out");
        };
        if let Command::Asks(action) = asked {
            let (volume, action) = (sink.volume(b""), Some(action));
            let said = Said { number, at_ns: Some(at_ns), action, place, length: Some(length), volume, took_ns: None };
            sink.asked(&without_place(said));
        }
        Line::Read
    }

    fn about(&self) -> About {
        let unit = if self.unit == Some(1_000) { "microseconds" } else { "seconds" };
        About { doubts: vec![format!("it does not name the unit of its times: {unit} are taken")], ..About::default() }
    }
}

/// The command of a field: hexadecimal, or the decimal codes of plain reads and writes.
fn code(field: &[u8]) -> Option<Command> {
    match field {
        b"40" => Some(Command::Asks(Action::Read)),
        b"42" => Some(Command::Asks(Action::Write)),
        _ if field.len() <= 4 => command(hexadecimal(field)?),
        _ => None,
    }
}

/// A flush has neither place nor length.
fn without_place(said: Said) -> Said {
    if said.action == Some(Action::Flush) { Said { place: 0, length: Some(0), ..said } } else { said }
}

/// The records of `vscsiStats`.
#[derive(Default)]
pub(super) struct Vscsi {
    rest: Vec<u8>,
    version: Option<Version>,
    number: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// What a record says.
struct Record {
    version: u16,
    command: u16,
    bytes: u32,
    sector: u64,
    at_us: u64,
    took_us: Option<u64>,
}

impl Version {
    const fn bytes(self) -> usize {
        match self {
            Self::One => 32,
            Self::Two => 40,
        }
    }

    const fn number(self) -> u16 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }

    /// Little-endian: hypervisors ran on such machines only.
    fn record(self, bytes: &[u8]) -> Option<Record> {
        let half = |at: usize| Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let word = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let long = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        Some(match self {
            Self::One => Record {
                version: half(14)? >> 8,
                command: half(12)?,
                bytes: word(4)?,
                sector: long(16)?,
                at_us: long(24)?,
                took_us: None,
            },
            Self::Two => Record {
                version: half(2)? >> 8,
                command: half(0)?,
                bytes: word(8)?,
                sector: long(16)?,
                at_us: long(24)?,
                took_us: Some(long(32)?),
            },
        })
    }

    /// True for a record that this version may have written.
    fn fits(self, record: &Record) -> bool {
        record.version == self.number() && command(u64::from(record.command)).is_some() && record.at_us > 0
    }

    /// The version that all records of a head fit.
    fn of(head: &[u8]) -> Option<Self> {
        [Self::One, Self::Two].into_iter().find(|version| {
            let mut records = head.chunks_exact(version.bytes()).take(64);
            records.len() > 0 && records.all(|bytes| version.record(bytes).is_some_and(|record| version.fits(&record)))
        })
    }
}

impl Dialect for Vscsi {
    const KIND: Kind = Kind { id: "trace-vscsi", name: "vscsiStats trace" };
    const TAKES: Takes = Takes::Bytes;

    fn new() -> Self {
        Self::default()
    }

    fn resembles(head: &[u8]) -> Resemblance {
        match Version::of(head) {
            Some(version) if head.len() >= 4 * version.bytes() => Resemblance::Is { marks: 6 },
            Some(_) => Resemblance::Is { marks: 2 },
            None => Resemblance::None,
        }
    }

    fn feed(&mut self, bytes: &[u8], sink: &mut dyn Sink) {
        self.rest.extend_from_slice(bytes);
        // Two of the longer records tell the version.
        if self.version.is_none() && self.rest.len() >= 2 * Version::Two.bytes() {
            self.version = Version::of(&self.rest[..2 * Version::Two.bytes()]);
        }
        self.drain(sink);
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        self.version = self.version.or_else(|| Version::of(&self.rest));
        self.drain(sink);
        if !self.rest.is_empty() {
            sink.broken(self.number + 1, "the trace ends within a record: copy it again");
        }
    }

    fn about(&self) -> About {
        About { counts: Counts::Records, ..About::default() }
    }
}

impl Vscsi {
    fn drain(&mut self, sink: &mut dyn Sink) {
        let Some(version) = self.version else { return };
        let rest = std::mem::take(&mut self.rest);
        let mut records = rest.chunks_exact(version.bytes());
        for bytes in &mut records {
            self.number += 1;
            let record = version.record(bytes).filter(|record| version.fits(record));
            let Some((record, place)) = record.and_then(|record| {
                let place = record.sector.checked_mul(SECTOR)?;
                Some((record, place))
            }) else {
                sink.broken(self.number, "it is no record of a SCSI command: left out");
                continue;
            };
            let Some(Command::Asks(action)) = command(u64::from(record.command)) else { continue };
            let volume = sink.volume(b"");
            sink.asked(&without_place(Said {
                number: self.number,
                at_ns: record.at_us.checked_mul(1_000),
                action: Some(action),
                place,
                length: Some(u64::from(record.bytes)),
                volume,
                took_ns: record.took_us.and_then(|us| us.checked_mul(1_000)),
            }));
        }
        self.rest = records.remainder().to_vec();
    }
}

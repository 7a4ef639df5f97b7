//! Dialects with records of a fixed size, little-endian: a constant [`RecordLayout`] for each, and their common reader.

use plimsoll_language::label;
use plimsoll_record::Action;

use super::columns::object_doubts;
use crate::dialect::{Dialect, DialectFacts, NumberUnit, SECTOR, Sink, TraceRecord};
use crate::form::{Form, Head, Resemblance, Takes};
use crate::reading::Doubt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScsiCommand {
    /// Transfers data, or makes them durable.
    Operation(Action),
    /// Neither transfers nor changes data.
    Other,
}

/// The command of an operation code (SBC-4); none for codes that are not used with disks.
pub(super) fn command(code: u64) -> Option<ScsiCommand> {
    Some(match code {
        // Read of 6, 10, 12 and 16 bytes.
        0x08 | 0x28 | 0xa8 | 0x88 => ScsiCommand::Operation(Action::Read),
        // Write, write and verify, write the same, compare and write.
        0x0a | 0x2a | 0xaa | 0x8a | 0x2e | 0xae | 0x8e | 0x41 | 0x93 | 0x89 => ScsiCommand::Operation(Action::Write),
        0x35 | 0x91 => ScsiCommand::Operation(Action::Flush),
        0x42 => ScsiCommand::Operation(Action::Trim),
        0x00..=0x5f | 0x80..=0xaf => ScsiCommand::Other,
        _ => return None,
    })
}

/// Positions of a record's numbers: offset and bytes of each.
struct RecordLayout {
    /// Bytes of a record.
    size: usize,
    time: (usize, usize),
    /// Nanoseconds of the unit of times.
    unit_ns: u64,
    /// The first sector; for objects, their identity.
    place: (usize, usize),
    /// The length in bytes.
    length: (usize, usize),
    took: Option<(usize, usize)>,
    kind: Kinds,
}

/// Encoding of a record's kind.
#[derive(Clone, Copy)]
enum Kinds {
    /// A SCSI command, with the version of the record in the upper byte of another number.
    Scsi { command: (usize, usize), version: (usize, usize), number: u64 },
    /// None: records name objects, and the distance to the next request for each.
    Objects { next: (usize, usize) },
}

/// `vscsiStats` of `VMware` (Waldspurger et al. 2015), version 1.
const VSCSI_1: RecordLayout = RecordLayout {
    size: 32,
    length: (4, 4),
    kind: Kinds::Scsi { command: (12, 2), version: (14, 2), number: 1 },
    place: (16, 8),
    time: (24, 8),
    unit_ns: 1_000,
    took: None,
};

/// Version 2, which has response times.
const VSCSI_2: RecordLayout = RecordLayout {
    size: 40,
    kind: Kinds::Scsi { command: (0, 2), version: (2, 2), number: 2 },
    length: (8, 4),
    took: Some((32, 8)),
    ..VSCSI_1
};

/// libCacheSim's `oracleGeneral`: second, object, size, and number of the next request for it.
const ORACLE_GENERAL: RecordLayout = RecordLayout {
    size: 24,
    time: (0, 4),
    unit_ns: 1_000_000_000,
    place: (4, 8),
    length: (12, 4),
    took: None,
    kind: Kinds::Objects { next: (16, 8) },
};

/// Virtual disks of `CloudPhysics`, as the hypervisor wrote them.
pub(crate) const VSCSI: Form = {
    fn fits(head: &Head<'_>) -> Resemblance {
        match version(head.raw()) {
            Some(layout) if head.raw().len() >= 4 * layout.size => Resemblance::Is { marks: 6 },
            Some(_) => Resemblance::Is { marks: 2 },
            None => Resemblance::None,
        }
    }
    Form::trace("trace-vscsi", "vscsiStats trace", Takes::Bytes, fits, || Box::<Records>::default())
};

/// Tables of objects in binary.
pub(crate) const ORACLE: Form = {
    /// Without a magic number, several consecutive records must be plausible.
    fn fits(head: &Head<'_>) -> Resemblance {
        let records = || head.raw().chunks_exact(ORACLE_GENERAL.size).take(1024);
        let seconds: Vec<u64> = records().filter_map(|record| decode_number(record, ORACLE_GENERAL.time)).collect();
        let is_sorted = seconds.len() >= 4 && seconds.is_sorted();
        Resemblance::is(3, is_sorted && records().all(|record| ORACLE_GENERAL.fits(record)))
    }
    Form::trace("trace-oracle-general", "libCacheSim trace (oracleGeneral)", Takes::Bytes, fits, || {
        Box::new(Records { layout: Some(&ORACLE_GENERAL), ..Records::default() })
    })
};

fn decode_number(record: &[u8], (offset, bytes): (usize, usize)) -> Option<u64> {
    let field = record.get(offset..)?;
    Some(match bytes {
        2 => u64::from(u16::from_le_bytes(*field.first_chunk()?)),
        4 => u64::from(u32::from_le_bytes(*field.first_chunk()?)),
        _ => u64::from_le_bytes(*field.first_chunk()?),
    })
}

impl RecordLayout {
    /// True for a record that is plausible for this layout.
    fn fits(&self, record: &[u8]) -> bool {
        let number = |at| decode_number(record, at).unwrap_or_default();
        match self.kind {
            Kinds::Scsi { command: code, version, number: expected } => {
                number(version) >> 8 == expected && command(number(code)).is_some() && number(self.time) > 0
            }
            Kinds::Objects { next } => {
                let next = number(next).cast_signed();
                number(self.length) > 0 && (next == -1 || next == i64::MAX || (1..1 << 40).contains(&next))
            }
        }
    }

    /// Its operation; none if it is damaged. A command without data has no operation.
    #[allow(clippy::option_option)] // damaged, without data, with data
    fn operation(&self, record: &[u8]) -> Option<Option<TraceRecord>> {
        let at_ns = decode_number(record, self.time)?.checked_mul(self.unit_ns);
        let (place, length) = (decode_number(record, self.place)?, decode_number(record, self.length)?);
        let operation = TraceRecord { at_ns, place, length: Some(length), ..TraceRecord::default() };
        let Kinds::Scsi { command: code, .. } = self.kind else { return (length > 0).then_some(Some(operation)) };
        let place = place.checked_mul(SECTOR).filter(|_| self.fits(record))?;
        let took_ns = self.took.and_then(|at| decode_number(record, at)?.checked_mul(self.unit_ns));
        Some(match command(decode_number(record, code)?)? {
            // A flush has neither place nor length.
            ScsiCommand::Operation(action @ Action::Flush) => {
                Some(TraceRecord { action: Some(action), place: 0, length: Some(0), took_ns, ..operation })
            }
            ScsiCommand::Operation(action) => Some(TraceRecord { action: Some(action), place, took_ns, ..operation }),
            ScsiCommand::Other => None,
        })
    }
}

/// The version of `vscsiStats` that fits all records of a head.
fn version(head: &[u8]) -> Option<&'static RecordLayout> {
    [&VSCSI_1, &VSCSI_2].into_iter().find(|layout| {
        let mut records = head.chunks_exact(layout.size).take(64);
        records.len() > 0 && records.all(|record| layout.fits(record))
    })
}

/// Splits bytes into records.
#[derive(Default)]
struct Records {
    rest: Vec<u8>,
    /// None until the version of `vscsiStats` is known.
    layout: Option<&'static RecordLayout>,
    number: u64,
}

impl Dialect for Records {
    fn feed(&mut self, bytes: &[u8], sink: &mut dyn Sink) {
        self.rest.extend_from_slice(bytes);
        // Two of the longer records determine the version.
        if self.layout.is_none() && self.rest.len() >= 2 * VSCSI_2.size {
            self.layout = version(&self.rest[..2 * VSCSI_2.size]);
        }
        self.drain(sink);
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        self.layout = self.layout.or_else(|| version(&self.rest));
        self.drain(sink);
        if !self.rest.is_empty() {
            sink.broken(self.number + 1, &Doubt::EndsWithin { item: label!("a record").to_owned() });
        }
    }

    fn about(&self) -> DialectFacts {
        match self.layout.map(|layout| layout.kind) {
            Some(Kinds::Objects { .. }) => {
                let (doubts, counts) = (object_doubts(), NumberUnit::Records);
                DialectFacts { doubts, counts, tick_ns: ORACLE_GENERAL.unit_ns, ..DialectFacts::default() }
            }
            _ => DialectFacts { counts: NumberUnit::Records, ..DialectFacts::default() },
        }
    }
}

impl Records {
    fn drain(&mut self, sink: &mut dyn Sink) {
        let Some(layout) = self.layout else { return };
        let rest = std::mem::take(&mut self.rest);
        let mut records = rest.chunks_exact(layout.size);
        let volume = sink.volume(b"");
        for record in &mut records {
            self.number += 1;
            match layout.operation(record) {
                Some(Some(operation)) => {
                    sink.operation(&TraceRecord { number: self.number, volume, ..operation });
                }
                Some(None) => {}
                None => sink.broken(self.number, &Doubt::UnknownItem { item: label!("a record of an operation") }),
            }
        }
        self.rest = records.remainder().to_vec();
    }
}

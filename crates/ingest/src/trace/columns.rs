//! Dialects with an operation per line in fixed columns: a constant [`ColumnLayout`] for each, and their common reader.
//!
//! Sources: MSR Cambridge (Narayanan et al. 2008), SYSTOR '17 (Lee et al. 2017), Alibaba (Li et al. 2020), Tencent (Zhang
//! et al. 2020), Florida International University (Koller, Rangaswami 2010), Cydonia (Bhandari et al. 2021).

use plimsoll_language::label;
use plimsoll_record::Action;

use super::lines::{Line, LineDialect, LineSplitter, resembles};
use super::records::{ScsiCommand, command};
use crate::dialect::{Dialect, DialectFacts, SECTOR, Sink, TraceRecord};
use crate::form::{Form, Head, Resemblance, Takes};
use crate::reading::{Doubt, ReadingScope};
use crate::text::{hexadecimal, integer, scaled, split, words};

/// The columns of a dialect, counted from 0.
struct ColumnLayout {
    /// Number of marks, to rank dialects that match an input.
    marks: u8,
    /// Lines that must match for recognition.
    min_lines: u32,
    /// The separator; a blank matches any run of blanks and tabs.
    separator: u8,
    /// The number of columns.
    fields: usize,
    /// Further columns are allowed.
    open_ended: bool,
    /// Lines beginning with `#` are remarks.
    remarks: bool,
    /// Arranges the columns of a line. Returns their number, 0 if they do not match.
    arrange: Option<fn(&mut LineFields<'_>, usize) -> usize>,
    time: (usize, TimeColumn),
    /// Column of the address, and bytes of its unit.
    place: (usize, u64),
    /// Column of the length, and bytes of its unit; a unit of `place` if none.
    length: Option<(usize, u64)>,
    /// Maximum bytes of an operation; larger values indicate another kind of table.
    longest: u64,
    action: (usize, Words),
    /// The columns that together name the volume.
    volume: &'static [usize],
    /// Column of the response time, and nanoseconds of its unit.
    took: Option<(usize, u64)>,
    /// Other columns with integers.
    numbers: &'static [usize],
    /// Columns with a fixed set of words.
    fixed: &'static [(usize, &'static [&'static [u8]])],
    /// Nanoseconds from 1970 to the origin of the clock, if known.
    epoch_ns: Option<i128>,
    /// Nanoseconds of the clock's resolution, if coarse.
    tick_ns: u64,
    /// The scope of a volume name.
    scope: Option<fn(&str) -> ReadingScope>,
    /// Information that the dialect lacks.
    doubts: &'static [Doubt],
}

type LineFields<'a> = [&'a [u8]; 16];

/// Nanoseconds of a unit of time, its name, and the programs that use it, if known.
type AssumedUnit = (u64, &'static str, Option<&'static str>);

#[derive(Clone, Copy)]
enum TimeColumn {
    /// Integers of a unit in nanoseconds.
    Full(u64),
    /// The same with optional decimals.
    Decimal(u64),
    /// Seconds, always with decimals.
    Seconds,
    /// Seconds since 1970.
    Calendar,
    /// Microseconds since the preceding operation; lines with equal numbers in the given column are a single operation.
    Gaps(usize),
    /// The first unit if some time has decimals, else the second.
    ByPoint(AssumedUnit, AssumedUnit),
    /// The first unit if the first time is too large for seconds, else the second.
    BySize(AssumedUnit, AssumedUnit),
}

/// Encoding of reads and writes.
#[derive(Clone, Copy)]
enum Words {
    /// A word for reads and a word for writes, ignoring case.
    Of(&'static [u8], &'static [u8]),
    /// The same, but commands without data have no word.
    OrNone(&'static [u8], &'static [u8]),
    /// A hexadecimal number whose lowest bit is set for reads.
    Flags,
    /// A SCSI command: hexadecimal, or the decimal codes 40 and 42.
    Scsi,
}

const NANOSECOND: u64 = 1;
const MICROSECOND: u64 = 1_000;
const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
/// Nanoseconds of a tick of Windows' clock.
const TICK: u64 = 100;
/// Nanoseconds from 1601, the origin of that clock, to 1970.
const FROM_1601: i128 = -11_644_473_600_000_000_000;
/// Nanoseconds since 1970: 2001 to 2096.
const CALENDAR: std::ops::Range<u64> = 1_000_000_000_000_000_000..4_000_000_000_000_000_000;
/// More seconds than in a thousand years.
const NO_SECONDS: u64 = 100_000_000_000;
const IN_MICROSECONDS: Doubt = Doubt::TimeUnitAssumed { unit: "microseconds", precedent: None };

const COMMAS: ColumnLayout = ColumnLayout {
    marks: 6,
    min_lines: 1,
    separator: b',',
    fields: 5,
    open_ended: false,
    remarks: false,
    arrange: None,
    time: (0, TimeColumn::Full(NANOSECOND)),
    place: (1, 1),
    length: None,
    longest: u64::MAX,
    action: (2, Words::Of(b"r", b"w")),
    volume: &[],
    took: None,
    numbers: &[],
    fixed: &[],
    epoch_ns: None,
    tick_ns: 0,
    scope: None,
    doubts: &[],
};

/// Servers of Microsoft Research in Cambridge: `ticks,host,disk,Read|Write,offset,size,ticks it took`.
pub(crate) const MSR: Form = {
    static LAYOUT: ColumnLayout = ColumnLayout {
        fields: 7,
        time: (0, TimeColumn::Full(TICK)),
        action: (3, Words::Of(b"read", b"write")),
        place: (4, 1),
        length: Some((5, 1)),
        volume: &[1, 2],
        took: Some((6, TICK)),
        epoch_ns: Some(FROM_1601),
        scope: Some(|name| {
            let (host, part) = name.split_once(',').unwrap_or(("", name));
            ReadingScope { host: host.trim().to_owned(), part: part.trim().to_owned(), ..ReadingScope::default() }
        }),
        ..COMMAS
    };
    Form::trace("trace-msr", "MSR Cambridge trace", Takes::Text, |head| LAYOUT.fits(head), || LAYOUT.open())
};

/// Virtual desktops of SYSTOR '17: `seconds,seconds it took,R|W,LUN,offset,size`.
pub(crate) const SYSTOR: Form = {
    static LAYOUT: ColumnLayout = ColumnLayout {
        fields: 6,
        time: (0, TimeColumn::Seconds),
        took: Some((1, SECOND)),
        action: (2, Words::OrNone(b"R", b"W")),
        volume: &[3],
        place: (4, 1),
        length: Some((5, 1)),
        epoch_ns: Some(0),
        ..COMMAS
    };
    Form::trace("trace-systor17", "SYSTOR '17 trace", Takes::Text, |head| LAYOUT.fits(head), || LAYOUT.open())
};

/// The Storage Performance Council's exchange format: `unit,block,size,r|w,seconds`, with optional further fields.
pub(crate) const SPC: Form = {
    static LAYOUT: ColumnLayout = ColumnLayout {
        marks: 5,
        open_ended: true,
        remarks: true,
        volume: &[0],
        numbers: &[0],
        place: (1, SECTOR),
        length: Some((2, 1)),
        action: (3, Words::Of(b"r", b"w")),
        time: (4, TimeColumn::Decimal(SECOND)),
        doubts: &[Doubt::SectorsAssumed],
        ..COMMAS
    };
    Form::trace("trace-spc", "SPC trace", Takes::Text, |head| LAYOUT.fits(head), || LAYOUT.open())
};

/// Cloud disks of Alibaba: `device,R|W,offset,length,microseconds`.
pub(crate) const ALIBABA: Form = {
    static LAYOUT: ColumnLayout = ColumnLayout {
        volume: &[0],
        action: (1, Words::Of(b"R", b"W")),
        place: (2, 1),
        length: Some((3, 1)),
        time: (4, TimeColumn::Decimal(MICROSECOND)),
        epoch_ns: Some(0),
        ..COMMAS
    };
    Form::trace("trace-alibaba", "Alibaba block trace", Takes::Text, |head| LAYOUT.fits(head), || LAYOUT.open())
};

/// Cloud disks of Tencent: `seconds,sector,sectors,0|1,volume`; 0 reads.
pub(crate) const TENCENT: Form = {
    static LAYOUT: ColumnLayout = ColumnLayout {
        marks: 4,
        time: (0, TimeColumn::Calendar),
        place: (1, SECTOR),
        length: Some((2, SECTOR)),
        action: (3, Words::Of(b"0", b"1")),
        volume: &[4],
        numbers: &[4],
        epoch_ns: Some(0),
        tick_ns: SECOND,
        doubts: &[Doubt::WholeSeconds],
        ..COMMAS
    };
    Form::trace("trace-tencent", "Tencent block trace", Takes::Text, |head| LAYOUT.fits(head), || LAYOUT.open())
};

/// Virtual disks of `CloudPhysics` in libCacheSim's format: `version,time,command,bytes,sector`.
pub(crate) const CLOUDPHYSICS: Form = {
    static LAYOUT: ColumnLayout = ColumnLayout {
        fixed: &[(0, &[b"1", b"2"])],
        time: (1, TimeColumn::BySize((MICROSECOND, "microseconds", None), (SECOND, "seconds", None))),
        action: (2, Words::Scsi),
        length: Some((3, 1)),
        place: (4, SECTOR),
        ..COMMAS
    };
    let fits = |head: &Head<'_>| LAYOUT.fits(head);
    Form::trace("trace-cloudphysics", "CloudPhysics trace (CSV)", Takes::Text, fits, || LAYOUT.open())
};

/// Virtual disks of `CloudPhysics`, as the Cydonia project prepares them: `microseconds,sector,r|w,bytes`.
pub(crate) const CYDONIA: Form = {
    static LAYOUT: ColumnLayout = ColumnLayout {
        marks: 5,
        fields: 4,
        time: (0, TimeColumn::Full(MICROSECOND)),
        place: (1, SECTOR),
        length: Some((3, 1)),
        doubts: &[IN_MICROSECONDS],
        ..COMMAS
    };
    Form::trace(
        "trace-cydonia",
        "CloudPhysics trace (Cydonia)",
        Takes::Text,
        |head| LAYOUT.fits(head),
        || LAYOUT.open(),
    )
};

/// The same in cache blocks: `operation,microseconds since the preceding operation,block,r|w,bytes before,bytes after`.
/// An operation has a row for each block that it covers; a write that covers a part of a block reads the block first.
pub(crate) const CYDONIA_CACHE: Form = {
    static LAYOUT: ColumnLayout = ColumnLayout {
        min_lines: 2,
        fields: 6,
        time: (1, TimeColumn::Gaps(0)),
        place: (2, 4096),
        action: (3, Words::Of(b"r", b"w")),
        doubts: &[IN_MICROSECONDS, Doubt::CacheBlocks],
        ..COMMAS
    };
    let fits = |head: &Head<'_>| LAYOUT.fits(head);
    Form::trace("trace-cydonia-cache", "CloudPhysics cache trace (Cydonia)", Takes::Text, fits, || LAYOUT.open())
};

/// Hosts of Florida International University: `time pid process sector sectors R|W major minor hash`. Process names may
/// contain blanks, so columns are counted from the end; some traces lack the hash of the contents.
pub(crate) const FIU: Form = {
    static LAYOUT: ColumnLayout = ColumnLayout {
        marks: 5,
        separator: b' ',
        fields: 7,
        arrange: Some(|fields, count| {
            let is_hash = |text: &[u8]| text.len() >= 32 && hexadecimal(&text[..16]).is_some();
            if count < 8 {
                return 0;
            }
            let end = count - usize::from(is_hash(fields[count - 1]));
            fields.copy_within(end - 5..end, 2);
            7
        }),
        time: (0, TimeColumn::ByPoint((SECOND, "seconds", None), (NANOSECOND, "nanoseconds", None))),
        place: (2, SECTOR),
        length: Some((3, SECTOR)),
        action: (4, Words::Of(b"R", b"W")),
        volume: &[5, 6],
        numbers: &[1, 5, 6],
        ..COMMAS
    };
    Form::trace("trace-fiu", "FIU trace", Takes::Text, |head| LAYOUT.fits(head), || LAYOUT.open())
};

/// Inputs of disk and flash simulators: `time device sector sectors flags`.
pub(crate) const SIMULATORS: Form = {
    static LAYOUT: ColumnLayout = ColumnLayout {
        marks: 2,
        min_lines: 3,
        separator: b' ',
        remarks: true,
        time: (
            0,
            TimeColumn::ByPoint(
                (MILLISECOND, "milliseconds", Some("DiskSim, which has decimals")),
                (NANOSECOND, "nanoseconds", Some("SSDsim and MQSim, without decimals")),
            ),
        ),
        volume: &[1],
        numbers: &[1],
        place: (2, SECTOR),
        length: Some((3, SECTOR)),
        longest: 1 << 30,
        action: (4, Words::Flags),
        ..COMMAS
    };
    Form::trace("trace-disksim", "DiskSim or SSDsim trace", Takes::Text, |head| LAYOUT.fits(head), || LAYOUT.open())
};

impl ColumnLayout {
    fn fits(&'static self, head: &Head<'_>) -> Resemblance {
        resembles(Columns::new(self), head)
    }

    fn open(&'static self) -> Box<dyn Dialect> {
        Box::new(LineSplitter::new(Columns::new(self)))
    }

    fn has_fields(&self, fields: &LineFields<'_>, count: usize) -> bool {
        let has_count = count == self.fields || (self.open_ended && count > self.fields);
        has_count && self.fixed.iter().all(|(column, words)| words.contains(&fields[*column]))
    }

    fn command(&self, fields: &LineFields<'_>) -> Option<ScsiCommand> {
        let field = fields[self.action.0];
        let action = match self.action.1 {
            Words::OrNone(..) if field.is_empty() => return Some(ScsiCommand::Other),
            Words::Of(read, _) | Words::OrNone(read, _) if field.eq_ignore_ascii_case(read) => Action::Read,
            Words::Of(_, write) | Words::OrNone(_, write) if field.eq_ignore_ascii_case(write) => Action::Write,
            Words::Of(..) | Words::OrNone(..) => return None,
            Words::Flags => match hexadecimal(field).filter(|flags| *flags < 0x100 && field.len() <= 4)? & 1 {
                1 => Action::Read,
                _ => Action::Write,
            },
            Words::Scsi => match field {
                b"40" => Action::Read,
                b"42" => Action::Write,
                _ if field.len() <= 4 => return command(hexadecimal(field)?),
                _ => return None,
            },
        };
        Some(ScsiCommand::Operation(action))
    }

    /// First byte and length.
    fn extent(&self, fields: &LineFields<'_>) -> Option<(u64, u64)> {
        let (column, unit) = self.place;
        let place = integer(fields[column])?.checked_mul(unit)?;
        let length = match self.length {
            Some((column, unit)) => integer(fields[column])?.checked_mul(unit)?,
            None => unit,
        };
        let has_numbers = self.numbers.iter().all(|column| integer(fields[*column]).is_some());
        (has_numbers && length <= self.longest).then_some((place, length))
    }
}

/// The part of a line between two of its fields.
fn between<'a>(line: &'a [u8], first: &[u8], last: &[u8]) -> &'a [u8] {
    let at = |field: &[u8]| field.as_ptr().addr().wrapping_sub(line.as_ptr().addr());
    line.get(at(first)..at(last) + last.len()).unwrap_or_default()
}

/// Reads lines according to a [`ColumnLayout`].
struct Columns {
    layout: &'static ColumnLayout,
    /// Nanoseconds of the unit of times, once known.
    unit: Option<u64>,
    /// The number of the last operation, and its time in microseconds.
    last: (Option<u64>, u64),
    /// The name of a volume; kept to reuse its memory.
    name: Vec<u8>,
}

impl Columns {
    const fn new(layout: &'static ColumnLayout) -> Self {
        Self { layout, unit: None, last: (None, 0), name: Vec::new() }
    }

    fn at_ns(&mut self, fields: &LineFields<'_>) -> Option<u64> {
        let field = fields[self.layout.time.0];
        match self.layout.time.1 {
            TimeColumn::Full(unit) => integer(field)?.checked_mul(unit),
            TimeColumn::Decimal(unit) => scaled(field, unit),
            TimeColumn::Seconds => scaled(field, SECOND).filter(|_| field.contains(&b'.')),
            TimeColumn::Calendar => scaled(field, SECOND).filter(|at_ns| CALENDAR.contains(at_ns)),
            TimeColumn::Gaps(column) => {
                let (operation, gap_us) = (integer(fields[column])?, integer(field)?);
                if self.last.0 != Some(operation) {
                    self.last = (Some(operation), self.last.1.saturating_add(gap_us));
                }
                self.last.1.checked_mul(MICROSECOND)
            }
            TimeColumn::ByPoint((with_point, ..), (without, ..)) => {
                // An integral number of milliseconds may be printed without decimals.
                if field.contains(&b'.') {
                    self.unit = Some(with_point);
                }
                scaled(field, *self.unit.get_or_insert(without))
            }
            TimeColumn::BySize((large, ..), (small, ..)) => {
                let is_large = || scaled(field, 1).is_some_and(|time| time > NO_SECONDS);
                scaled(field, *self.unit.get_or_insert_with(|| if is_large() { large } else { small }))
            }
        }
    }
}

impl LineDialect for Columns {
    fn marks(&self) -> u8 {
        self.layout.marks
    }

    fn min_lines(&self) -> u32 {
        self.layout.min_lines
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        let layout = self.layout;
        if layout.remarks && line.first() == Some(&b'#') {
            return Line::Passed;
        }
        let mut fields: LineFields<'_> = [b""; 16];
        let count = match layout.separator {
            b' ' => words(line, &mut fields),
            separator => split(line, separator, &mut fields),
        };
        let count = layout.arrange.map_or(count, |arrange| arrange(&mut fields, count));
        if !layout.has_fields(&fields, count) {
            return Line::Broken(Doubt::IncompleteItem {
                item: label!("a record"),
                lacks: label!("some of its fields"),
            });
        }
        let Some(command) = layout.command(&fields) else {
            return Line::Broken(Doubt::NeitherReadNorWrite);
        };
        let (Some(at_ns), Some((place, length))) = (self.at_ns(&fields), layout.extent(&fields)) else {
            return Line::Broken(Doubt::NotANumber { value: label!("its time, address or length") });
        };
        let ScsiCommand::Operation(action) = command else { return Line::Read };
        let volume = match *layout.volume {
            [] => sink.volume(b""),
            [column] => sink.volume(fields[column]),
            [first, .., last] if layout.separator == b',' => sink.volume(between(line, fields[first], fields[last])),
            ref columns => {
                self.name.clear();
                for column in columns {
                    self.name.extend_from_slice(fields[*column]);
                    self.name.push(b',');
                }
                sink.volume(&self.name[..self.name.len() - 1])
            }
        };
        let (place, length) = if action == Action::Flush { (0, 0) } else { (place, length) };
        let took_ns = layout.took.and_then(|(column, unit)| scaled(fields[column], unit));
        let (at_ns, action, length) = (Some(at_ns), Some(action), Some(length));
        sink.operation(&TraceRecord { number, at_ns, action, place, length, volume, took_ns });
        Line::Read
    }

    fn about(&self) -> DialectFacts {
        let layout = self.layout;
        let unit = match layout.time.1 {
            TimeColumn::ByPoint(first, _) | TimeColumn::BySize(first, _) if self.unit == Some(first.0) => Some(first),
            TimeColumn::ByPoint(_, second) | TimeColumn::BySize(_, second) => Some(second),
            _ => None,
        };
        let unit = unit.map(|(_, unit, precedent)| Doubt::TimeUnitAssumed { unit, precedent });
        let doubts = unit.into_iter().chain(layout.doubts.iter().cloned()).collect();
        let (epoch_ns, tick_ns, scope) = (layout.epoch_ns, layout.tick_ns, layout.scope);
        DialectFacts { epoch_ns, doubts, tick_ns, scope, ..DialectFacts::default() }
    }
}

/// Tables of objects for cache simulators, in libCacheSim's format: commas, below a line with the columns `time`,
/// `object` and `size`. Objects have no address and no kind.
#[derive(Default)]
pub(super) struct Objects {
    columns: Option<ObjectColumns>,
    /// Some time has decimals.
    decimals: bool,
}

#[derive(Clone, Copy)]
struct ObjectColumns {
    time: usize,
    object: usize,
    size: usize,
    count: usize,
}

impl ObjectColumns {
    /// The columns named by a first line.
    fn of(fields: &[&[u8]]) -> Option<Self> {
        let find = |names: &[&str]| {
            fields.iter().position(|field| {
                let field = field.strip_prefix(b"#").unwrap_or(field).trim_ascii();
                names.iter().any(|name| field.eq_ignore_ascii_case(name.as_bytes()))
            })
        };
        Some(Self {
            time: find(&["time", "timestamp", "clock_time", "real_time"])?,
            object: find(&["object", "obj", "obj_id", "id", "key", "object_id"])?,
            size: find(&["size", "obj_size", "object_size", "value_size"])?,
            count: fields.len(),
        })
    }
}

impl LineDialect for Objects {
    fn marks(&self) -> u8 {
        4
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        let mut fields: [&[u8]; 12] = [b""; 12];
        let count = split(line, b',', &mut fields);
        let Some(columns) = self.columns else {
            self.columns = if number <= 3 { ObjectColumns::of(&fields[..count.min(12)]) } else { None };
            return if self.columns.is_some() {
                Line::Passed
            } else {
                Line::Broken(Doubt::UnknownItem { item: label!("a line with names of columns") })
            };
        };
        if line.first() == Some(&b'#') {
            return Line::Passed;
        }
        let (time, object) = (fields[columns.time], fields[columns.object]);
        self.decimals |= time.contains(&b'.');
        let (at_ns, length) = (scaled(time, SECOND), integer(fields[columns.size]));
        if count != columns.count || at_ns.is_none() || length.is_none() || object.is_empty() {
            return Line::Broken(Doubt::IncompleteItem {
                item: label!("a record"),
                lacks: label!("all columns of the heading"),
            });
        }
        let place = integer(object).unwrap_or_else(|| hash(object));
        let volume = sink.volume(b"");
        sink.operation(&TraceRecord { number, at_ns, action: None, place, length, volume, took_ns: None });
        Line::Read
    }

    fn about(&self) -> DialectFacts {
        let tick_ns = if self.decimals { 0 } else { SECOND };
        DialectFacts { doubts: object_doubts(), tick_ns, ..DialectFacts::default() }
    }
}

/// Information that traces of objects lack.
pub(super) fn object_doubts() -> Vec<Doubt> {
    vec![Doubt::ReadsAndWrites, Doubt::TimeUnitAssumed { unit: "seconds", precedent: Some("libCacheSim") }]
}

/// A number for a named object: FNV-1a (Fowler, Noll, Vo 1991), reproducible across machines.
fn hash(name: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    name.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Page numbers, one per line, as used for comparing caches (Jiang, Zhang 2002). Lines with `*` mark a position.
#[derive(Default)]
pub(super) struct PageNumbers;

impl LineDialect for PageNumbers {
    fn marks(&self) -> u8 {
        1
    }

    fn min_lines(&self) -> u32 {
        16
    }

    fn row(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) -> Line {
        let line = line.trim_ascii();
        if line == b"*" {
            return Line::Passed;
        }
        let Some(place) = integer(line) else {
            return Line::Broken(Doubt::UnknownItem { item: label!("a page number") });
        };
        let volume = sink.volume(b"");
        sink.operation(&TraceRecord { number, place, volume, ..TraceRecord::default() });
        Line::Read
    }

    fn about(&self) -> DialectFacts {
        DialectFacts { doubts: vec![Doubt::PagesOnly], ..DialectFacts::default() }
    }
}

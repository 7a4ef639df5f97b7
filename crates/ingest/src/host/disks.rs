//! Conversion of device rows to figures, sample by sample: the meaning of columns and the selection of devices, for
//! every format.

use std::mem;
use std::sync::Arc;

use crate::builder::Builder;
use crate::devices::Devices;
use crate::layers::Layer;
use crate::reading::{Class, Doubt, Fate, Measure, Origin};
use crate::text::{self, KIB, MIB, SECTOR};

/// The devices of a host.
#[derive(Debug, Default)]
pub(super) struct Disks {
    host: String,
    heading: Heading,
    devices: Devices,
    /// The state of each device.
    states: Vec<DiskState>,
    /// The current sample: its rows, and a number for each column.
    rows: Vec<DiskRow>,
    values: Vec<f64>,
    /// Preceding tables of the current sample, with other columns of the same devices (`iostat -xh`).
    tables: Vec<DiskTable>,
    /// Number of counted devices.
    counted: usize,
    samples: u32,
    numbers: u32,
    has_given: bool,
}

#[derive(Clone, Debug, Default)]
struct DiskState {
    /// Discards and flushes are emitted once any occurred.
    discards: bool,
    flushes: bool,
    /// Its last sample.
    observed: u32,
}

/// The meaning of a missing device row in a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absent {
    /// The device was idle.
    Idle,
    /// The sample may be truncated.
    Unknown,
}

#[derive(Clone, Copy, Debug)]
struct DiskRow {
    device: usize,
    line: u64,
}

#[derive(Debug, Default)]
struct DiskTable {
    heading: Heading,
    rows: Vec<DiskRow>,
    /// A number for each row and column.
    values: Vec<f64>,
}

/// A device of a sample, with the destination of its figures.
struct SampleTarget<'a> {
    name: Arc<str>,
    layer: Layer,
    state: &'a mut DiskState,
    /// Scope and window.
    at: (u32, u32),
    line: u64,
}

/// The sums of a sample's devices.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    operations: f64,
    seconds: f64,
    depth: Option<f64>,
}

impl Sums {
    /// Mean latency of all operations, in seconds.
    pub(super) fn latency(self) -> Option<f64> {
        (self.operations > 0.0).then(|| self.seconds / self.operations)
    }

    /// Operations in flight.
    pub(super) fn depth(self) -> Option<f64> {
        self.depth
    }

    fn add(&mut self, measure: Measure, value: f64, operations: f64) {
        match measure {
            Measure::Latency => {
                self.operations += operations;
                self.seconds += operations * value;
            }
            Measure::Depth => *self.depth.get_or_insert(0.0) += value,
            _ => {}
        }
    }
}

impl Disks {
    /// Maximum devices for which idle rows are filled in.
    const MAX_FILLED: usize = 256;

    pub(super) fn of(host: &str) -> Self {
        Self { host: host.to_owned(), ..Self::default() }
    }

    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// Begins a sample with its columns; pending rows are dropped.
    pub(super) fn begin(&mut self, heading: &str) -> bool {
        self.drop_rows();
        self.heading.is(heading) || Heading::read(heading).map(|read| self.heading = read).is_some()
    }

    /// Continues the sample with a table of other columns. False if the line is not the heading of such a table.
    pub(super) fn continue_with(&mut self, heading: &str) -> bool {
        if self.heading.is(heading) {
            return false;
        }
        let has = |name: &String| {
            let tables = self.tables.iter().map(|table| &table.heading).chain([&self.heading]);
            tables.flat_map(|heading| &heading.names).any(|existing| existing == name)
        };
        let read = Heading::read(heading).filter(|read| read.name_at == NameAt::Last && !read.names.iter().any(has));
        let Some(read) = read else { return false };
        let table = self.take_table();
        self.tables.push(table);
        self.heading = read;
        self.devices.rewind();
        true
    }

    fn take_table(&mut self) -> DiskTable {
        DiskTable {
            heading: mem::take(&mut self.heading),
            rows: mem::take(&mut self.rows),
            values: mem::take(&mut self.values),
        }
    }

    /// Joins the tables of the sample, device by device.
    pub(super) fn join(&mut self) {
        if self.tables.is_empty() {
            return;
        }
        let last = self.take_table();
        let tables: Vec<DiskTable> = self.tables.drain(..).chain([last]).collect();
        let names = tables.iter().flat_map(|table| table.heading.names.clone()).collect();
        self.heading = Heading::of(names, NameAt::Last).expect("tables of known columns");
        for row in &tables[0].rows {
            for table in &tables {
                let width = table.heading.len();
                match table.rows.iter().position(|other| other.device == row.device) {
                    Some(row) => self.values.extend_from_slice(&table.values[row * width..(row + 1) * width]),
                    None => self.values.extend(std::iter::repeat_n(f64::NAN, width)),
                }
            }
            self.rows.push(*row);
        }
    }

    /// Begins a sample with known columns.
    pub(super) fn put_heading(&mut self, heading: Heading) {
        self.drop_rows();
        self.heading = heading;
    }

    /// The current columns.
    pub(super) fn heading(&self) -> &Heading {
        &self.heading
    }

    pub(super) fn drop_rows(&mut self) {
        self.rows.clear();
        self.values.clear();
        self.tables.clear();
        self.devices.rewind();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// True if samples were emitted.
    pub(super) fn has_given(&self) -> bool {
        self.has_given
    }

    /// True for a line that begins with the name of a device.
    pub(super) fn knows(&self, line: &str) -> bool {
        line.split_whitespace().next().is_some_and(|name| self.devices.find(name).is_some())
    }

    /// Switches to the devices of a host; those of another one are forgotten.
    pub(super) fn go_on(&mut self, host: &str, out: &mut Builder) {
        self.drop_rows();
        if self.host != host {
            self.end("devices", out);
            *self = Self { has_given: self.has_given, ..Self::of(host) };
        }
    }

    /// The line of the first row.
    pub(super) fn line(&self) -> u64 {
        self.rows.first().map_or(0, |row| row.line)
    }

    /// Adds a row of text. False if it is not a row of this table.
    pub(super) fn row(&mut self, text: &str, line: u64) -> bool {
        let start = self.values.len();
        let Some((name, rest)) = self.heading.split(text) else { return false };
        if text::columns(rest.as_bytes(), b' ', &mut self.values) && self.values.len() - start == self.heading.len() {
            self.named(name, line);
            return true;
        }
        self.values.truncate(start);
        let Some(name) = self.heading.read_slowly(text, &mut self.values) else { return false };
        self.named(name, line);
        true
    }

    /// Adds a row of numbers: one for each column, `NaN` for absent ones.
    pub(super) fn numbers(&mut self, name: &str, line: u64, numbers: &[f64]) {
        self.values.extend_from_slice(numbers);
        self.named(name, line);
    }

    fn named(&mut self, name: &str, line: u64) {
        if let Some(device) = self.devices.place(name, false) {
            self.rows.push(DiskRow { device, line });
        } else {
            self.values.truncate(self.values.len() - self.heading.len());
        }
    }

    /// Seconds of the sample, from total bytes and bytes per second.
    pub(super) fn seconds(&self) -> Option<f64> {
        self.heading.seconds(&self.values)
    }

    /// Emits the sample as figures of a window.
    pub(super) fn close(&mut self, window: u32, absent: Absent, out: &mut Builder) -> Sums {
        self.has_given = true;
        if self.devices.choose() {
            self.states.resize(self.devices.len(), DiskState::default());
            self.counted = self.devices.iter().filter(|(_, layer)| layer.is_some()).count();
        }
        self.samples += 1;
        let (mut sums, mut counted) = (Sums::default(), 0);
        let width = self.heading.len();
        for (index, DiskRow { device, line }) in self.rows.iter().copied().enumerate() {
            let state = &mut self.states[device];
            state.observed = self.samples;
            let Some((name, scope, layer)) = self.devices.taken(device, &self.host, out) else { continue };
            counted += 1;
            let values = &self.values[index * width..(index + 1) * width];
            let target = SampleTarget { name, layer, state, at: (scope, window), line };
            self.numbers += self.heading.put(target, values, &mut sums, out);
        }
        if absent == Absent::Idle && counted < self.counted && self.counted <= Self::MAX_FILLED {
            self.fill(window, out);
        }
        self.drop_rows();
        sums
    }

    /// Emits zeros for idle devices without a row (`iostat -z`).
    fn fill(&mut self, window: u32, out: &mut Builder) {
        let line = self.line();
        for (device, state) in self.states.iter_mut().enumerate().filter(|(_, state)| state.observed != self.samples) {
            let Some((name, scope, layer)) = self.devices.taken(device, &self.host, out) else { continue };
            self.heading.put_idle(SampleTarget { name, layer, state, at: (scope, window), line }, out);
        }
    }

    /// Lists the devices, counted or not.
    pub(super) fn end(&self, name: &str, out: &mut Builder) {
        if self.samples == 0 {
            return;
        }
        out.part(name, if self.numbers == 0 { Fate::Empty } else { Fate::Read(self.numbers) });
        for (name, _) in self.devices.iter().filter(|(_, layer)| layer.is_none()) {
            out.part(format!("device {}", name.trim()), Fate::Ignored);
        }
        if self.numbers > 0 && self.heading.text.contains("Blk_") {
            out.caution_once(None, Doubt::BlocksAssumed { columns: "Blk_read, Blk_wrtn", bytes: 512 });
        }
        self.devices.finish(out);
    }
}

impl SampleTarget<'_> {
    /// True if a class is emitted: few devices have discards and flushes, which would be half of all figures.
    fn has(&mut self, class: Class, operations: f64) -> bool {
        let observed = match class {
            Class::Discard => &mut self.state.discards,
            Class::Flush => &mut self.state.flushes,
            _ => return true,
        };
        *observed |= operations > 0.0;
        *observed
    }

    /// True for an array without latencies, as in older kernels.
    fn is_untimed(&self, measure: Measure, value: f64) -> bool {
        let of_time = matches!(measure, Measure::Latency | Measure::Busy | Measure::Depth);
        of_time && value <= 0.0 && self.layer == Layer::Array
    }

    fn put(&self, take: &Take, value: f64, out: &mut Builder) {
        let name = self.name.trim();
        let table = if name.len() == self.name.len() && !name.is_empty() {
            Arc::clone(&self.name)
        } else {
            out.text(if name.is_empty() { "all disks" } else { name })
        };
        let origin = Origin { line: self.line, table: Some(table), field: Arc::clone(&take.name) };
        out.mean(self.at, take.class, take.measure, value, origin);
    }
}

/// Position of a row's device name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum NameAt {
    #[default]
    First,
    Last,
}

/// The columns of a table.
#[derive(Debug, Default)]
pub(super) struct Heading {
    text: String,
    names: Vec<String>,
    columns: Vec<Option<DiskColumn>>,
    /// The factor of each column.
    units: Vec<f64>,
    name_at: NameAt,
    takes: Vec<Take>,
    /// Columns of bytes per second and of total bytes, and the factor between their units.
    totals: Vec<(usize, usize, f64)>,
}

/// A figure of each row.
#[derive(Debug)]
struct Take {
    from: From,
    class: Class,
    measure: Measure,
    /// The columns of its operations per second, which add up.
    operations: [Option<usize>; 2],
    name: Arc<str>,
    /// For a printed size: bytes over operations, which replace it if it contradicts them.
    derived: Option<Box<Take>>,
}

#[derive(Clone, Copy, Debug)]
enum From {
    Column(usize, f64),
    /// The sum of two columns.
    Sum(usize, usize),
    /// Bytes over operations: columns of both, and the unit of the first.
    Ratio(usize, usize, f64),
}

/// Rates have two decimals: the mean size of fewer operations per second would be inaccurate.
const ENOUGH: f64 = 1.0;

impl Heading {
    /// Reads a line of names. None if it is not a heading of devices.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut names: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let name_at = if find_meaning(names.first()?).is_none() { NameAt::First } else { NameAt::Last };
        let name = if name_at == NameAt::First { names.remove(0) } else { names.pop()? };
        let heading = Self::of(names, name_at).filter(|_| find_meaning(&name).is_none())?;
        Some(Self { text: text.to_owned(), ..heading })
    }

    /// The columns of these names. None if too few are known.
    pub(super) fn of(names: Vec<String>, name_at: NameAt) -> Option<Self> {
        let existing: Vec<Option<NameMeaning>> = names.iter().map(|name| find_meaning(name)).collect();
        let value = |existing: &Option<NameMeaning>| match existing {
            Some(NameMeaning::Value(column)) => Some(*column),
            _ => None,
        };
        let columns: Vec<Option<DiskColumn>> = existing.iter().map(value).collect();
        let rates = columns.iter().flatten().filter(|column| column.measure == Measure::Iops).count();
        let bytes = columns.iter().flatten().filter(|column| column.measure == Measure::Throughput).count();
        let strange = existing.iter().filter(|existing| existing.is_none()).count();
        // `iostat -xh` prints flushes in a table of their own, without bytes.
        if rates == 0 || (bytes == 0 && name_at == NameAt::First) || strange * 2 > names.len() {
            return None;
        }
        let unit = |existing: &Option<NameMeaning>| match existing {
            Some(NameMeaning::Value(column)) => column.factor,
            Some(NameMeaning::Total(_, factor)) => *factor,
            _ => 1.0,
        };
        let units = existing.iter().map(unit).collect();
        let totals = pair_totals(&existing, &columns);
        let mut heading = Self { text: String::new(), names, columns, units, name_at, takes: Vec::new(), totals };
        heading.plan();
        Some(heading)
    }

    /// Sets the text of the heading.
    pub(super) fn with_text(self, text: &str) -> Self {
        Self { text: text.to_owned(), ..self }
    }

    /// True if `text` is this heading.
    pub(super) fn is(&self, text: &str) -> bool {
        !text.is_empty() && self.text == text
    }

    pub(super) fn len(&self) -> usize {
        self.columns.len()
    }

    fn at(&self, class: Class, measure: Measure) -> Option<usize> {
        let is = |column: &Option<DiskColumn>| {
            column.is_some_and(|column| (column.class, column.measure) == (class, measure))
        };
        self.columns.iter().position(is)
    }

    /// Determines the figures of a row. Operations precede their latencies and sizes.
    fn plan(&mut self) {
        let split = self.at(Class::Read, Measure::Latency).is_some();
        let mut takes = Vec::new();
        for (index, column) in self.columns.iter().enumerate() {
            let Some(DiskColumn { class, measure, factor }) = *column else { continue };
            let mut operations = [self.at(class, Measure::Iops), None];
            let of_all = class == Class::All && operations[0].is_none();
            if of_all {
                operations = [self.at(Class::Read, Measure::Iops), self.at(Class::Write, Measure::Iops)];
            }
            // Figures of reads and writes are not repeated for both together, nor in another unit.
            let twice = self.at(class, measure) != Some(index);
            let again = twice || (of_all && (measure == Measure::Size || (measure == Measure::Latency && split)));
            if !again {
                let name = Arc::from(self.names[index].as_str());
                let derived = self.size(class).filter(|_| measure == Measure::Size).map(Box::new);
                takes.push(Take { from: From::Column(index, factor), class, measure, operations, name, derived });
            }
        }
        takes.extend(self.all_operations());
        let sizes: Vec<Take> = self.sizes().collect();
        takes.extend(sizes);
        takes.sort_by_key(|take| take.measure != Measure::Iops);
        self.takes = takes;
    }

    /// Total operations, to weight latencies given for all operations only.
    fn all_operations(&self) -> Option<Take> {
        let (reads, writes) = (self.at(Class::Read, Measure::Iops)?, self.at(Class::Write, Measure::Iops)?);
        let needed = self.at(Class::All, Measure::Latency).is_some()
            && self.at(Class::Read, Measure::Latency).is_none()
            && self.at(Class::All, Measure::Iops).is_none();
        let name = Arc::from(format!("{} + {}", self.names[reads], self.names[writes]));
        let from = From::Sum(reads, writes);
        let (class, measure) = (Class::All, Measure::Iops);
        needed.then_some(Take { from, class, measure, operations: [None; 2], name, derived: None })
    }

    /// Sizes that the table lacks, from bytes and operations.
    fn sizes(&self) -> impl Iterator<Item = Take> {
        let classes = [Class::Read, Class::Write, Class::Discard, Class::All].into_iter();
        classes.filter(|class| self.at(*class, Measure::Size).is_none()).filter_map(|class| self.size(class))
    }

    /// The size of a class from its bytes and operations, if the table has both.
    fn size(&self, class: Class) -> Option<Take> {
        let (bytes, operations) = (self.at(class, Measure::Throughput)?, self.at(class, Measure::Iops)?);
        let factor = self.columns[bytes].map_or(1.0, |column| column.factor);
        let name = Arc::from(format!("{} over {}", self.names[bytes], self.names[operations]));
        let from = From::Ratio(bytes, operations, factor);
        Some(Take { from, class, measure: Measure::Size, operations: [Some(operations), None], name, derived: None })
    }

    /// Splits a row into the device's name and its numbers. Names of groups keep their leading blank.
    fn split<'a>(&self, text: &'a str) -> Option<(&'a str, &'a str)> {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let text = text.trim_end();
        let bytes = text.as_bytes();
        if self.name_at == NameAt::Last {
            let name = bytes.iter().rposition(blank)? + 1;
            return Some((&text[name..], &text[..name]));
        }
        let start = bytes.iter().position(|byte| !blank(byte))?;
        let end = start + bytes[start..].iter().position(blank)?;
        Some((&text[start.saturating_sub(1)..end], &text[end..]))
    }

    /// Reads a row with blanks in its name, or with units after its numbers.
    fn read_slowly<'a>(&self, text: &'a str, into: &mut Vec<f64>) -> Option<&'a str> {
        let start = into.len();
        let mut rest = text.trim_end();
        for index in 0..self.len() {
            let (column, word) = if self.name_at == NameAt::First {
                let at = rest.rfind([' ', '\t'])?;
                let word = &rest[at + 1..];
                rest = rest[..at].trim_end();
                (self.len() - 1 - index, word)
            } else {
                let (word, others) = rest.trim_start().split_once([' ', '\t'])?;
                rest = others;
                (index, word)
            };
            let Some(value) = self.value(column, word) else {
                into.truncate(start);
                return None;
            };
            into.push(value);
        }
        if self.name_at == NameAt::First {
            into[start..].reverse();
        }
        let rest = rest.trim_end();
        let blanks = rest.len() - rest.trim_start().len();
        if blanks == rest.len() {
            into.truncate(start);
            return None;
        }
        Some(if self.name_at == NameAt::First { &rest[blanks.saturating_sub(1)..] } else { &rest[blanks..] })
    }

    /// A number in the column's unit, without its suffix.
    fn value(&self, column: usize, word: &str) -> Option<f64> {
        let bare = word.trim_start_matches('-');
        if bare.eq_ignore_ascii_case("nan") || bare.eq_ignore_ascii_case("inf") {
            return Some(f64::NAN);
        }
        let (value, unit) = text::with_unit(word)?;
        Some(unit.map_or(value, |unit| value * unit / self.units[column]))
    }

    /// Seconds of a sample: total bytes over bytes per second, from the row with the most.
    fn seconds(&self, values: &[f64]) -> Option<f64> {
        let rows = values.chunks_exact(self.len().max(1));
        let pairs = rows.flat_map(|row| self.totals.iter().map(|(rate, total, unit)| (row[*rate] * unit, row[*total])));
        let (rate, total) = pairs.max_by(|a, b| a.1.total_cmp(&b.1))?;
        // Both are rounded: few bytes are too inaccurate.
        (rate >= 10.0 && total >= 100.0).then(|| (total / rate * 100.0).round() / 100.0)
    }

    /// Emits a row and returns its number of figures.
    fn put(&self, mut target: SampleTarget<'_>, values: &[f64], sums: &mut Sums, out: &mut Builder) -> u32 {
        let mut count = 0;
        for take in &self.takes {
            let take = take.consistent(values);
            let operations: f64 = take.operations.iter().flatten().map(|column| values[*column]).sum();
            let Some(value) = take.value(values, operations) else { continue };
            let is_rate = take.measure == Measure::Iops;
            if !target.has(take.class, if is_rate { value } else { 0.0 }) || target.is_untimed(take.measure, value) {
                continue;
            }
            if take.class == Class::All && target.layer != Layer::Array {
                sums.add(take.measure, value, operations);
            }
            target.put(take, value, out);
            count += 1;
        }
        count
    }

    /// Emits zeros for a device without a row.
    fn put_idle(&self, mut target: SampleTarget<'_>, out: &mut Builder) {
        for take in &self.takes {
            let rate = matches!(take.measure, Measure::Iops | Measure::Throughput | Measure::Depth | Measure::Busy);
            if rate && target.has(take.class, 0.0) && !target.is_untimed(take.measure, 0.0) {
                target.put(take, 0.0, out);
            }
        }
    }
}

impl Take {
    /// This figure, or for a size that contradicts the bytes and operations of its row, their quotient: some versions print
    /// the mean size of all operations, or half of it, for reads and for writes.
    fn consistent(&self, values: &[f64]) -> &Self {
        const TOLERANCE: f64 = 0.1;
        let Some(derived) = self.derived.as_deref() else { return self };
        let (From::Column(printed, unit), From::Ratio(bytes, operations, factor)) = (self.from, derived.from) else {
            return self;
        };
        // Half of the last printed digit, which whole numbers may have before the point.
        let rounding = |value: f64| if value.fract() == 0.0 { 0.5 / value } else { 0.05 / value };
        let slack = TOLERANCE + rounding(values[bytes]) + rounding(values[operations]);
        let ratio = values[bytes] * factor / values[operations];
        let is_other = (values[printed] * unit / ratio - 1.0).abs() > slack;
        if is_other && values[bytes] > 0.0 && values[operations] >= ENOUGH { derived } else { self }
    }

    /// The figure of a row, if present: latencies need operations.
    fn value(&self, values: &[f64], operations: f64) -> Option<f64> {
        let value = match self.from {
            From::Column(index, factor) => values[index] * factor,
            From::Sum(a, b) => values[a] + values[b],
            From::Ratio(bytes, _, _) if values[bytes] <= 0.0 || operations < ENOUGH => return None,
            From::Ratio(bytes, operations, factor) => values[bytes] * factor / values[operations],
        };
        match self.measure {
            _ if value.is_nan() => None,
            Measure::Latency | Measure::Size if operations <= 0.0 && self.operations[0].is_some() => None,
            // These programs print a mean of zero if it is unknown.
            Measure::Size if value <= 0.0 => None,
            Measure::Busy => Some(value.min(1.0)),
            _ => Some(value),
        }
    }
}

/// Column pairs that determine the length of the window.
fn pair_totals(existing: &[Option<NameMeaning>], columns: &[Option<DiskColumn>]) -> Vec<(usize, usize, f64)> {
    let mut totals = Vec::new();
    for (total, existing) in existing.iter().enumerate() {
        let Some(NameMeaning::Total(class, unit)) = existing else { continue };
        let is = |column: &Option<DiskColumn>| {
            column.is_some_and(|column| column.class == *class && column.measure == Measure::Throughput)
        };
        if let Some(rate) = columns.iter().position(is) {
            totals.push((rate, total, columns[rate].map_or(1.0, |column| column.factor / unit)));
        }
    }
    totals
}

/// A column about storage.
#[derive(Clone, Copy, Debug, PartialEq)]
struct DiskColumn {
    class: Class,
    measure: Measure,
    /// The factor to base units.
    factor: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum NameMeaning {
    Value(DiskColumn),
    /// Total bytes of a class in the window; with the rate they determine its length.
    Total(Class, f64),
    /// A known column that adds no figure.
    Redundant,
}

/// The meaning of a column. None for unknown names.
fn find_meaning(name: &str) -> Option<NameMeaning> {
    let value = |class, measure, factor| Some(NameMeaning::Value(DiskColumn { class, measure, factor }));
    match name {
        "tps" => value(Class::All, Measure::Iops, 1.0),
        "r/s" | "rtps" => value(Class::Read, Measure::Iops, 1.0),
        "w/s" | "wtps" => value(Class::Write, Measure::Iops, 1.0),
        "d/s" | "dtps" => value(Class::Discard, Measure::Iops, 1.0),
        "f/s" => value(Class::Flush, Measure::Iops, 1.0),
        "areq-sz" => value(Class::All, Measure::Size, KIB),
        "avgrq-sz" => value(Class::All, Measure::Size, SECTOR),
        "rareq-sz" => value(Class::Read, Measure::Size, KIB),
        "wareq-sz" => value(Class::Write, Measure::Size, KIB),
        "dareq-sz" => value(Class::Discard, Measure::Size, KIB),
        "await" => value(Class::All, Measure::Latency, 1e-3),
        "r_await" => value(Class::Read, Measure::Latency, 1e-3),
        "w_await" => value(Class::Write, Measure::Latency, 1e-3),
        "d_await" => value(Class::Discard, Measure::Latency, 1e-3),
        "f_await" => value(Class::Flush, Measure::Latency, 1e-3),
        "aqu-sz" | "avgqu-sz" => value(Class::All, Measure::Depth, 1.0),
        "%util" | "util" | "util-percent" => value(Class::All, Measure::Busy, 0.01),
        "svctm" | "rqm/s" | "%rqm" | "rqm" | "rrqm/s" | "wrqm/s" | "drqm/s" | "%rrqm" | "%wrqm" | "%drqm" | "rrqm"
        | "wrqm" | "drqm" => Some(NameMeaning::Redundant),
        _ => parse_byte_column(name),
    }
}

/// Columns of bytes: `rkB/s`, `MB_read/s`, `Blk_wrtn`, `rd_sec/s`, `bread/s`.
fn parse_byte_column(name: &str) -> Option<NameMeaning> {
    let rate = |class, factor| Some(NameMeaning::Value(DiskColumn { class, measure: Measure::Throughput, factor }));
    let (stem, is_rate) = name.strip_suffix("/s").map_or((name, false), |stem| (stem, true));
    if let Some((unit, direction)) = stem.split_once('_')
        && let Some(factor) = unit_of(unit)
    {
        let class = match direction {
            "read" => Class::Read,
            "wrtn" | "w+d" => Class::Write,
            "dscd" => Class::Discard,
            _ => return None,
        };
        return if is_rate { rate(class, factor) } else { Some(NameMeaning::Total(class, factor)) };
    }
    match stem {
        "rkB" => rate(Class::Read, KIB),
        "wkB" => rate(Class::Write, KIB),
        "dkB" => rate(Class::Discard, KIB),
        "kB" if is_rate => rate(Class::All, KIB),
        "rMB" => rate(Class::Read, MIB),
        "wMB" => rate(Class::Write, MIB),
        "dMB" => rate(Class::Discard, MIB),
        "MB" if is_rate => rate(Class::All, MIB),
        "rsec" | "rd_sec" | "bread" => rate(Class::Read, SECTOR),
        "wsec" | "wr_sec" | "bwrtn" => rate(Class::Write, SECTOR),
        "dsec" | "dc_sec" | "bdscd" => rate(Class::Discard, SECTOR),
        "sec" if is_rate => rate(Class::All, SECTOR),
        _ => None,
    }
}

fn unit_of(text: &str) -> Option<f64> {
    match text {
        "kB" => Some(KIB),
        "MB" => Some(MIB),
        "Blk" => Some(SECTOR),
        _ => None,
    }
}

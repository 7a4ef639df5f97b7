//! Tables of samples separated by commas, semicolons or tabs, exported from any monitoring system: a row for each time.
//!
//! The first row has the names of columns, whose words determine their meaning:
//!
//! - the time: `time`, `timestamp`, `date`, `datetime`, `ts`, or `date` and `time`, at the end of each window;
//! - `read`, `write` or neither (`total`), with `iops` or `ops`: operations a second; `bytes`, `kb`, `kib`, `mb`, `mib`,
//!   `throughput`: bytes a second, in that unit (`mb` is 10^6, `mib` 2^20); `latency` or `await`: time of an operation, in
//!   `us`, `ms` or `s`, milliseconds by default; `queue` or `depth`: operations in flight;
//! - `device`, `disk`, `volume`, `lun`: the part, of which layers of others (partitions, mapped devices) are not added up; `host`, `server`, `vm`; `database`, `db`.
//!
//! Columns without a recognised word are skipped and listed. A cell may have its own unit, which precedes the column's:
//! `1k` and `1000 IOPS` of operations, `8MB` of bytes, `500us` of latencies. Other cells are counted and skipped.

mod cell;
mod features;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::civil::DateTime;
use plimsoll_language::label;
use plimsoll_units::Span;

use self::cell::Decimals;
use crate::builder::Builder;
use crate::devices::count_single_layer;
use crate::form::{Form, FormatInput, Head, LineFormat, Resemblance};
use crate::reading::{Class, Count, Counted, Doubt, Fate, Measure, Origin, ReadingScope, ReadingWindow, Snapshot};
use crate::refusal::{InputFault, Refusal};
use crate::sampled::Spacing;
use crate::text::table::cells;
use crate::text::{GIB, KIB, MIB, Numerals, SECTOR, timestamp};

pub(crate) use features::FORM as FEATURES;

/// Tables of samples.
pub(crate) const FORM: Form = Form::lines("table", "table of samples", resembles, |input| {
    Box::new(SeriesSamples { input: input.clone(), ..SeriesSamples::default() })
});

/// Operations a second from which their mean size is checked.
const MIN_OPERATIONS: f64 = 10.0;

fn resembles(head: &Head<'_>) -> Resemblance {
    let Some(columns) = head.text().lines().find(|line| !line.trim().is_empty()).and_then(Columns::of) else {
        return Resemblance::None;
    };
    match (columns.meanings.contains(&SeriesColumn::Time), columns.rates()) {
        (true, 1..) => Resemblance::Is { marks: 2 },
        (true, 0) => Resemblance::Near { marks: 1, missing: "column such as read_iops" },
        (false, 2..) => Resemblance::Near { marks: 1, missing: "column of the time" },
        _ => Resemblance::None,
    }
}

#[derive(Default)]
struct SeriesSamples {
    input: FormatInput,
    columns: Option<Columns>,
    numerals: Option<Numerals>,
    /// Lines that wait until the decimal sign is known.
    lines: Vec<(u64, String)>,
    /// Rows that wait until the interval is known.
    waiting: Vec<SeriesRow>,
    length: Option<Span>,
    /// Columns of counts that only rise.
    counters: BTreeSet<usize>,
    last: Option<DateTime>,
    fields: Vec<Arc<str>>,
    /// Number of unreadable cells of each column, and the first of them with its line.
    unreadable: BTreeMap<usize, (u64, u64, String)>,
    /// Time, scope and column of emitted values, of which the latest are kept, and the number of rows that repeat any with
    /// the first of them.
    emitted: BTreeSet<(DateTime, u32, usize)>,
    repeated: Option<(u64, u64)>,
    line: u64,
}

struct SeriesRow {
    line: u64,
    at: DateTime,
    scope: ReadingScope,
    values: Vec<Option<f64>>,
}

impl LineFormat for SeriesSamples {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if line.trim().is_empty() {
            return Ok(());
        }
        self.line = number;
        let Some(columns) = &self.columns else {
            let columns = Columns::of(line);
            self.fields =
                columns.iter().flat_map(|columns| &columns.names).map(|name| Arc::from(name.as_str())).collect();
            self.columns = columns;
            return Ok(());
        };
        if let Some(numerals) = self.numerals {
            let row = parse_row(columns, numerals, (line, number), &mut self.unreadable, out);
            self.take(row, number, out);
        } else {
            self.lines.push((number, line.to_owned()));
            if self.lines.len() >= Self::EXAMINED {
                self.decide(out);
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.decide(out);
        self.flush(out);
        for column in self.columns.iter().flat_map(Columns::unknown) {
            out.part(column, Fate::Ignored);
        }
        let unknown: Vec<&str> = self.columns.iter().flat_map(Columns::unknown_rates).collect();
        if !unknown.is_empty() {
            out.caution(None, Doubt::UnknownColumns { columns: unknown.join(", ") });
        }
        let others: Vec<&str> = self.columns.iter().flat_map(Columns::other_statistics).collect();
        if !others.is_empty() {
            out.caution(None, Doubt::OtherStatistics { columns: others.join(", ") });
        }
        for column in self.columns.iter().flat_map(Columns::without_unit) {
            out.caution(None, Doubt::LatencyUnitAssumed { column: column.clone() });
        }
        for column in self.columns.iter().flat_map(Columns::in_bits) {
            out.caution(None, Doubt::BitsAssumedBytes { column: column.clone() });
        }
        for (index, (count, line, example)) in std::mem::take(&mut self.unreadable) {
            let name = self.fields[index].to_string();
            out.caution(Some(Origin::line(line)), Doubt::UnreadableCells { column: name, count, example });
        }
        if let Some((count, line)) = self.repeated {
            out.caution(Some(Origin::line(line)), Doubt::RepeatedRows { count });
        }
        if !self.counters.is_empty() {
            out.caution(
                None,
                Doubt::CountersAssumed {
                    columns: self.counters.iter().map(|column| &*self.fields[*column]).collect::<Vec<_>>().join(", "),
                },
            );
        }
        let counts = self.columns.iter().flat_map(Columns::counts).filter(|column| !self.counters.contains(column));
        let counts: Vec<&str> = counts.map(|column| &*self.fields[column]).collect();
        if !counts.is_empty() {
            out.caution(None, Doubt::CountsAssumedRates { columns: counts.join(", ") });
        }
        count_single_layer(out);
        out.doubt_parts();
        out.end_at(self.line);
        match (self.length, out.count()) {
            (None, _) if !self.waiting.is_empty() => Err(out.unusable(InputFault::NoLength { item: label!("row") })),
            (_, 0) => {
                Err(out
                    .unusable(InputFault::missing("row with time and value", &["columns time, read_iops, write_iops"])))
            }
            _ => Ok(()),
        }
    }
}

impl SeriesSamples {
    /// Number of rows examined for their decimal sign and interval.
    const EXAMINED: usize = 10_000;
    /// Maximum values that are compared with later rows.
    const MAX_EMITTED: usize = 1 << 18;

    /// Determines the decimal sign from the waiting lines, and reads them.
    fn decide(&mut self, out: &mut Builder) {
        let Some(columns) = &self.columns else { return };
        let lines = std::mem::take(&mut self.lines);
        let numerals = *self.numerals.get_or_insert_with(|| columns.examine(&lines, out));
        let unreadable = &mut self.unreadable;
        let read =
            |(number, line): &(u64, String)| (*number, parse_row(columns, numerals, (line, *number), unreadable, out));
        let rows: Vec<_> = lines.iter().map(read).collect();
        for (number, row) in rows {
            self.take(row, number, out);
        }
    }

    /// Emits a row, or keeps it until the length of windows is known.
    fn take(&mut self, row: Option<SeriesRow>, number: u64, out: &mut Builder) {
        match row {
            Some(row) if self.length.is_some() => self.put(&row, out),
            Some(row) => {
                self.waiting.push(row);
                if self.waiting.len() >= Self::EXAMINED {
                    self.flush(out);
                }
            }
            None => out.skip(number, Doubt::lacking("a row", "its time or its values")),
        }
    }

    /// Emits the waiting rows once the length of their windows is known.
    fn flush(&mut self, out: &mut Builder) {
        if self.length.is_none() {
            let mut spacing = Spacing::default();
            spacing.learn(self.waiting.iter().map(|row| row.at));
            self.length = spacing.length(self.input.interval);
        }
        if self.length.is_some() && !self.waiting.is_empty() {
            self.counters =
                self.columns.as_ref().map(|columns| find_counters(columns, &self.waiting)).unwrap_or_default();
            for row in std::mem::take(&mut self.waiting) {
                self.put(&row, out);
            }
        }
    }

    fn put(&mut self, row: &SeriesRow, out: &mut Builder) {
        let (Some(columns), Some(length)) = (&self.columns, self.length) else { return };
        let scope = out.scope(row.scope.clone());
        let is_emitted = (0..row.values.len()).any(|index| self.emitted.contains(&(row.at, scope, index)));
        let at = out.repeated_hour(row.at).filter(|_| is_emitted).unwrap_or(row.at);
        if self.last.is_some_and(|last| at < last) {
            out.caution_once(Some(Origin::line(row.line)), Doubt::UnorderedRows);
        }
        self.last = Some(at);
        // Monitoring systems timestamp a sample at the end of its window.
        let begin = timestamp::before(at, length);
        let window = out.window(ReadingWindow { begin, length });
        let mut rates: BTreeMap<Class, [Option<f64>; 2]> = BTreeMap::new();
        let (mut is_repeated, mut counts) = (false, Vec::new());
        for (index, column) in columns.meanings.iter().enumerate() {
            let (SeriesColumn::Figure { class, measure, .. }, Some(value)) = (column, row.values[index]) else {
                continue;
            };
            if !self.emitted.insert((at, scope, index)) {
                is_repeated = true;
                continue;
            }
            let origin = Origin { line: row.line, table: None, field: Arc::clone(&self.fields[index]) };
            if self.counters.contains(&index) {
                let counted =
                    if *measure == Measure::Iops { Counted::Operations(*class) } else { Counted::Bytes(*class) };
                counts.push(Count { counted, value, wraps_at: None, origin });
                continue;
            }
            match measure {
                Measure::Iops => rates.entry(*class).or_default()[0] = Some(value),
                Measure::Throughput => rates.entry(*class).or_default()[1] = Some(value),
                _ => {}
            }
            out.mean((scope, window), *class, *measure, value, origin);
        }
        if !counts.is_empty() {
            out.snapshot(Snapshot { scope, at: Some(at), age: None, counts, origin: Origin::line(row.line) });
        }
        for (class, rates) in rates {
            if let [Some(iops), Some(bytes_s)] = rates {
                put_size((scope, window), class, [iops, bytes_s], row.line, out);
            }
        }
        while self.emitted.len() > Self::MAX_EMITTED {
            self.emitted.pop_first();
        }
        if is_repeated {
            self.repeated.get_or_insert((0, row.line)).0 += 1;
        }
    }
}

/// Columns of counts whose numbers are whole and only rise, apart from resets, in each part.
fn find_counters(columns: &Columns, rows: &[SeriesRow]) -> BTreeSet<usize> {
    /// Fewer rows may rise by chance.
    const MIN_RISES: u32 = 5;
    let mut moments: Vec<DateTime> = rows.iter().map(|row| row.at).collect();
    moments.dedup();
    let is_counter = |column: &usize| {
        let (mut latest, mut rises, mut falls) = (BTreeMap::<&ReadingScope, f64>::new(), 0, 0);
        for row in rows {
            let Some(value) = row.values[*column] else { continue };
            if value.fract() != 0.0 {
                return false;
            }
            match latest.insert(&row.scope, value) {
                Some(before) if value > before => rises += 1,
                Some(before) if value < before => falls += 1,
                _ => {}
            }
        }
        let is_named = split_words(&columns.names[*column].to_lowercase()).last() == Some(&"total");
        falls * 10 <= rises && (rises >= MIN_RISES && falls == 0 || is_named && rises > 0)
    };
    // A row out of order would fall.
    if moments.is_sorted() { columns.counts().filter(is_counter).collect() } else { BTreeSet::new() }
}

/// Emits the mean size of the operations of a row.
fn put_size(at: (u32, u32), class: Class, [iops, bytes_s]: [f64; 2], line: u64, out: &mut Builder) {
    if iops <= 0.0 || bytes_s <= 0.0 {
        return;
    }
    let bytes = bytes_s / iops;
    // Rounded rates of few operations are no evidence.
    if bytes < SECTOR && iops >= MIN_OPERATIONS && !out.has_doubt(|doubt| matches!(doubt, Doubt::ImpossibleSize { .. }))
    {
        out.caution(Some(Origin::line(line)), Doubt::ImpossibleSize { bytes });
    }
    let origin = out.origin(line, "", "size");
    out.mean(at, class, Measure::Size, bytes, origin);
}

fn parse_row(
    columns: &Columns,
    numerals: Numerals,
    (line, number): (&str, u64),
    unreadable: &mut BTreeMap<usize, (u64, u64, String)>,
    out: &mut Builder,
) -> Option<SeriesRow> {
    let mut scope = ReadingScope::default();
    let (mut time, mut values) = (String::new(), Vec::with_capacity(columns.meanings.len()));
    for (index, (column, cell)) in columns.meanings.iter().zip(cells(line, columns.separator)).enumerate() {
        let cell = cell.trim();
        values.push(match column {
            SeriesColumn::Figure { measure, unit, .. } if !cell.is_empty() => {
                let value = cell::read_value(cell, numerals, *measure, *unit);
                if value.is_none() {
                    unreadable.entry(index).or_insert_with(|| (0, number, cell.to_owned())).0 += 1;
                }
                value
            }
            _ => None,
        });
        match column {
            SeriesColumn::Time => {
                // Date and time of day may have a column each.
                time.push_str(cell);
                time.push(' ');
            }
            SeriesColumn::Part => cell.clone_into(&mut scope.part),
            SeriesColumn::Host => cell.clone_into(&mut scope.host),
            SeriesColumn::Database => cell.clone_into(&mut scope.database),
            SeriesColumn::Figure { .. } | SeriesColumn::Unknown => {}
        }
    }
    let at = timestamp::parse(time.trim_end()).map(|at| out.instant(at.of_any_country()));
    let is_whole = values.len() == columns.meanings.len() && values.iter().any(Option::is_some);
    Some(SeriesRow { line: number, at: at.filter(|_| is_whole)?, scope, values })
}

/// True for classes and measures of demand.
fn is_demand(class: Class, measure: Measure) -> bool {
    class != Class::Other && matches!(measure, Measure::Iops | Measure::Throughput)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum SeriesColumn {
    Time,
    Part,
    Host,
    Database,
    /// Numbers, with the factor to base units.
    Figure {
        class: Class,
        measure: Measure,
        unit: f64,
    },
    Unknown,
}

/// All columns of a table.
#[derive(Debug)]
struct Columns {
    separator: char,
    names: Vec<String>,
    meanings: Vec<SeriesColumn>,
}

impl Columns {
    /// Maximum columns of a table.
    const MAX_COLUMNS: usize = 1_000;

    /// From the first row; none if it is not a row of names.
    fn of(line: &str) -> Option<Self> {
        let separator = ['\t', ';', ','].into_iter().find(|mark| line.contains(*mark))?;
        let names: Vec<String> =
            cells(line, separator).map(|cell| cell.trim().to_owned()).take(Self::MAX_COLUMNS).collect();
        let is_header = names.iter().all(|name| name.parse::<f64>().is_err());
        let mut meanings: Vec<SeriesColumn> = names.iter().map(|name| column(name)).collect();
        // Columns with equal meaning would be added up: only the first is used.
        let is_divided =
            names.len() > 1 && names[0].eq_ignore_ascii_case("date") && names[1].eq_ignore_ascii_case("time");
        for index in 1..meanings.len() {
            if is_divided && index == 1 {
                continue;
            }
            if meanings[..index].contains(&meanings[index]) || same(&meanings[..index], meanings[index]) {
                meanings[index] = SeriesColumn::Unknown;
            }
        }
        (is_header && names.len() > 1).then_some(Self { separator, names, meanings })
    }

    /// The decimal sign of lines, with a doubt if no number proves it. Between commas it is a point by default.
    fn examine(&self, lines: &[(u64, String)], out: &mut Builder) -> Numerals {
        let mut decimals = Decimals::default();
        for (number, line) in lines {
            for (column, cell) in self.meanings.iter().zip(cells(line, self.separator)) {
                if let SeriesColumn::Figure { .. } = column {
                    decimals.learn(cell.trim(), *number);
                }
            }
        }
        let by_separator = (self.separator == ',').then_some(Numerals::Point);
        decimals.numerals(by_separator, out)
    }

    /// Number of columns with operations or bytes per second.
    fn rates(&self) -> usize {
        let is = |column: &&SeriesColumn| matches!(column, SeriesColumn::Figure { class, measure, .. } if is_demand(*class, *measure));
        self.meanings.iter().filter(is).count()
    }

    /// Names of unrecognised columns.
    fn unknown(&self) -> impl Iterator<Item = &String> {
        let pairs = self.names.iter().zip(&self.meanings);
        pairs.filter(|(_, column)| **column == SeriesColumn::Unknown).map(|(name, _)| name)
    }

    /// Names of columns of times without a unit.
    fn without_unit(&self) -> impl Iterator<Item = &String> {
        let is_bare = |name: &str| find_time_unit(&split_words(&name.to_lowercase())).is_none();
        let pairs = self.names.iter().zip(&self.meanings);
        let times =
            pairs.filter(|(_, column)| matches!(column, SeriesColumn::Figure { measure: Measure::Latency, .. }));
        times.map(|(name, _)| name).filter(move |name| is_bare(name))
    }

    /// Columns of operations or bytes whose name is not that of a rate.
    fn counts(&self) -> impl Iterator<Item = usize> {
        let is_rate = |name: &str| {
            let lower = name.to_lowercase();
            let words = split_words(&lower);
            let has = |marks: &[&str]| {
                words.iter().any(|word| marks.contains(word) || word.ends_with("ps") && *word != "ops")
            };
            lower.contains("iops") || has(&["s", "sec", "second", "rate", "throughput", "bandwidth", "persec"])
        };
        let pairs = self.names.iter().zip(&self.meanings).enumerate();
        let counted = pairs.filter(move |(_, (name, column))| {
            let is = |class, measure| is_demand(class, measure);
            matches!(column, SeriesColumn::Figure { class, measure, .. } if is(*class, *measure)) && !is_rate(name)
        });
        counted.map(|(index, _)| index)
    }

    /// Names of columns of bytes whose unit is usually one of bits.
    fn in_bits(&self) -> impl Iterator<Item = &String> {
        const BITS: [&str; 5] = ["Mb", "Gb", "Mbps", "Gbps", "gbps"];
        let pairs = self.names.iter().zip(&self.meanings);
        let bytes =
            pairs.filter(|(_, column)| matches!(column, SeriesColumn::Figure { measure: Measure::Throughput, .. }));
        bytes.map(|(name, _)| name).filter(|name| split_words(name).iter().any(|word| BITS.contains(word)))
    }

    /// Names of columns with maxima or percentiles of a quantity.
    fn other_statistics(&self) -> impl Iterator<Item = &str> {
        let is = |name: &&str| {
            let lower = name.to_lowercase();
            let words = split_words(&lower);
            let is_part = |word: &&str| ["max", "maximum", "p50", "p90", "p95", "p99"].contains(word);
            is_other(&words) && words.iter().any(is_part) && find_figure(&lower, &words).is_some()
        };
        self.unknown().map(String::as_str).filter(is)
    }

    /// Names of unrecognised columns that may be rates of operations or bytes.
    fn unknown_rates(&self) -> impl Iterator<Item = &str> {
        let is_rate = |name: &&str| {
            let lower = name.to_lowercase();
            let of = |words: &[&str]| words.iter().any(|word| lower.contains(word));
            // Second columns of the same quantity are known, as are limits and percentiles.
            let is_unknown = column(name) == SeriesColumn::Unknown && !is_other(&split_words(&lower));
            is_unknown && (of(&["read"]) != of(&["writ"]) || of(&["per_sec", "per sec", "/s"]))
        };
        self.unknown().map(String::as_str).filter(is_rate)
    }
}

/// True if a column has the class and measure of `column`, in any unit.
fn same(columns: &[SeriesColumn], column: SeriesColumn) -> bool {
    let SeriesColumn::Figure { class, measure, .. } = column else { return false };
    columns
        .iter()
        .any(|other| matches!(other, SeriesColumn::Figure { class: c, measure: m, .. } if (*c, *m) == (class, measure)))
}

/// Rates of iostat, whose units are binary.
const IOSTAT_RATES: [(&str, Class, f64); 4] = [
    ("rkb/s", Class::Read, KIB),
    ("wkb/s", Class::Write, KIB),
    ("rmb/s", Class::Read, MIB),
    ("wmb/s", Class::Write, MIB),
];

/// The meaning of a column from its name.
fn column(name: &str) -> SeriesColumn {
    let lower = name.to_lowercase();
    let words = split_words(&lower);
    let has = |required: &[&str]| words.iter().any(|word| required.contains(word));
    let first = words.first().copied().unwrap_or_default();
    match first {
        "time" | "timestamp" | "datetime" | "date" | "ts" if !has(&["read", "write", "await", "ms", "us"]) => {
            return SeriesColumn::Time;
        }
        "device" | "disk" | "volume" | "lun" if words.len() == 1 || has(&["name", "id"]) => return SeriesColumn::Part,
        "host" | "hostname" | "server" | "vm" => return SeriesColumn::Host,
        "database" | "db" if words.len() == 1 || has(&["name"]) => return SeriesColumn::Database,
        _ => {}
    }
    if is_other(&words) {
        return SeriesColumn::Unknown;
    }
    if let Some((_, class, unit)) = IOSTAT_RATES.iter().find(|(own, ..)| *own == lower) {
        return SeriesColumn::Figure { class: *class, measure: Measure::Throughput, unit: *unit };
    }
    let of = |word: &str| lower.contains(word);
    let class = match (
        of("read") || lower.starts_with("r_") || lower.starts_with("r/"),
        of("writ") || lower.starts_with("w_") || lower.starts_with("w/"),
    ) {
        (true, false) => Class::Read,
        (false, true) => Class::Write,
        (true, true) => return SeriesColumn::Unknown,
        (false, false) => Class::All,
    };
    let meaning = |(measure, unit)| SeriesColumn::Figure { class, measure, unit };
    find_figure(&lower, &words).map_or(SeriesColumn::Unknown, meaning)
}

fn split_words(lower: &str) -> Vec<&str> {
    lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

/// True for limits, percentiles and other columns that are not means over a window.
fn is_other(words: &[&str]) -> bool {
    let other = "limit max maximum min percent provisioned p50 p90 p95 p99 count sum size";
    other.split(' ').any(|word| words.contains(&word))
}

fn find_figure(lower: &str, words: &[&str]) -> Option<(Measure, f64)> {
    const UNITS: [(&str, f64); 8] =
        [("kib", KIB), ("mib", MIB), ("gib", GIB), ("kb", 1e3), ("mb", 1e6), ("gb", 1e9), ("bytes", 1.0), ("b", 1.0)];
    let is = |required: &[&str]| words.iter().any(|word| required.contains(word));
    if lower.contains("iops") || is(&["ops"]) || matches!(lower, "r/s" | "w/s") {
        const FACTORS: [(&[&str], f64); 2] =
            [(&["k", "kiops", "kops", "thousand", "thousands"], 1e3), (&["miops"], 1e6)];
        let factor = FACTORS.iter().find(|(names, _)| is(names)).map_or(1.0, |(_, factor)| *factor);
        return Some((Measure::Iops, factor));
    }
    if is(&["reads", "writes"]) && is(&["s", "sec", "second"]) && words.len() <= 3 {
        return Some((Measure::Iops, 1.0));
    }
    if is(&["latency", "await", "lat"]) {
        return Some((Measure::Latency, find_time_unit(words).unwrap_or(1e-3)));
    }
    if is(&["queue", "depth", "qd"]) {
        return Some((Measure::Depth, 1.0));
    }
    let rate = |word: &&str| word.strip_suffix("ps").unwrap_or(word).to_owned();
    let unit = words.iter().find_map(|word| UNITS.iter().find(|(name, _)| *name == rate(word)).map(|(_, unit)| *unit));
    match unit {
        Some(unit) => Some((Measure::Throughput, unit)),
        None => is(&["throughput", "bandwidth"]).then_some((Measure::Throughput, 1.0)),
    }
}

/// Seconds of the unit of time among the words of a name. Waits of iostat are milliseconds.
fn find_time_unit(words: &[&str]) -> Option<f64> {
    #[rustfmt::skip]
    const UNITS: [(&[&str], f64); 4] = [
        (&["ns", "nsec", "nanoseconds"], 1e-9),
        // The micro sign and the Greek letter.
        (&["us", "usec", "\u{b5}s", "\u{3bc}s", "microseconds"], 1e-6),
        (&["ms", "msec", "milliseconds", "await"], 1e-3),
        (&["s", "sec", "seconds"], 1.0),
    ];
    let unit = |word: &&str| UNITS.iter().find(|(names, _)| names.contains(word)).map(|(_, unit)| *unit);
    words.iter().find_map(unit)
}

#[cfg(test)]
mod tests {
    use super::{SeriesColumn, column};
    use crate::reading::{Class, Measure};

    #[test]
    fn names_have_meanings() {
        let figure = |class, measure, unit| SeriesColumn::Figure { class, measure, unit };
        let table = [
            ("Time", SeriesColumn::Time),
            ("timestamp (UTC)", SeriesColumn::Time),
            ("read_iops", figure(Class::Read, Measure::Iops, 1.0)),
            ("Write IOPS", figure(Class::Write, Measure::Iops, 1.0)),
            ("IOPS", figure(Class::All, Measure::Iops, 1.0)),
            ("w/s", figure(Class::Write, Measure::Iops, 1.0)),
            ("read_bytes_s", figure(Class::Read, Measure::Throughput, 1.0)),
            ("write MB/s", figure(Class::Write, Measure::Throughput, 1e6)),
            ("read_mibps", figure(Class::Read, Measure::Throughput, 1_048_576.0)),
            ("read_latency_us", figure(Class::Read, Measure::Latency, 1e-6)),
            ("write latency (ms)", figure(Class::Write, Measure::Latency, 1e-3)),
            ("read latency (\u{b5}s)", figure(Class::Read, Measure::Latency, 1e-6)),
            ("r_await", figure(Class::Read, Measure::Latency, 1e-3)),
            ("write_latency_seconds", figure(Class::Write, Measure::Latency, 1.0)),
            ("rkB/s", figure(Class::Read, Measure::Throughput, 1_024.0)),
            ("wMB/s", figure(Class::Write, Measure::Throughput, 1_048_576.0)),
            ("IOPS (k)", figure(Class::All, Measure::Iops, 1e3)),
            ("reads/s", figure(Class::Read, Measure::Iops, 1.0)),
            ("queue_depth", figure(Class::All, Measure::Depth, 1.0)),
            ("device", SeriesColumn::Part),
            ("host", SeriesColumn::Host),
            ("cpu", SeriesColumn::Unknown),
            ("max_iops", SeriesColumn::Unknown),
            ("read_request_size", SeriesColumn::Unknown),
        ];
        for (name, expected) in table {
            assert_eq!(column(name), expected, "{name}");
        }
    }
}

//! collectl: brief and verbose lines of the terminal, details of disks, and plot data (`-P`).
//!
//! Columns are recognised by the line of their names, which begins with `#`. KB are KiB, as counted from sectors. Each
//! sample is a mean over the time since the preceding one.

use std::collections::BTreeMap;

use jiff::civil::{Date, DateTime};
use plimsoll_units::Span;

use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, LineFormat, Resemblance};
use crate::reading::{Class, Doubt, Measure, ReadingScope};
use crate::refusal::{InputFault, Refusal};
use crate::text::{self, KIB, MILLI, timestamp};
use crate::wide::{CounterQuantity, UNDATED_YEAR, WideColumn, WideRow, WideSamples};

/// Samples of collectl.
pub(crate) const FORM: Form = Form::lines("collectl", "collectl", is_collectl, |input| Box::new(Collectl::new(input)));

fn is_collectl(head: &Head<'_>) -> Resemblance {
    let has_disks = head.text().lines().any(|line| Layout::of(line).is_some_and(|layout| !layout.columns.is_empty()));
    let is_titled = head.has("#<---") || head.has("### RECORD") && head.has(" >>> ");
    Resemblance::is(7, has_disks).or_near(3, is_titled, "columns of disks: run collectl -sd -oD")
}

/// The columns of a line of names.
#[derive(Clone, Debug, Default)]
struct Layout {
    columns: Vec<DiskColumn>,
    /// Positions of the name of a disk, of a date and of a time.
    name: Option<usize>,
    date: Option<usize>,
    time: Option<usize>,
    width: usize,
}

/// A column with figures. Without a device those of all disks, or of the disk that the row names.
#[derive(Clone, Debug)]
struct DiskColumn {
    index: usize,
    name: String,
    part: String,
    quantity: CounterQuantity,
}

impl Layout {
    /// None for lines other than names of columns.
    fn of(line: &str) -> Option<Self> {
        let names: Vec<&str> = line.strip_prefix('#')?.split_whitespace().collect();
        if names.len() < 2 || line.starts_with("# ") || line.starts_with("##") || line.contains("<-") {
            return None;
        }
        let mut layout = Self { width: names.len(), ..Self::default() };
        let waits = names.iter().filter(|name| **name == "Wait").count();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, name) in names.iter().enumerate() {
            let before = counts.entry(name).or_default();
            match *name {
                "Name" if layout.name.is_none() => layout.name = Some(index),
                "Date" => layout.date = Some(index),
                "Time" | "UTC" => layout.time = Some(index),
                _ => {
                    let (part, of_disk) =
                        name.strip_prefix("[DSK").and_then(|rest| rest.split_once(']')).unwrap_or(("", name));
                    let part = part.strip_prefix(':').unwrap_or_default().to_owned();
                    let found = find_quantity(of_disk, *before, waits);
                    layout.columns.extend(found.map(|quantity| DiskColumn {
                        index,
                        name: (*name).to_owned(),
                        part,
                        quantity,
                    }));
                }
            }
            *before += 1;
        }
        // Details of disks share the names of their columns with other devices.
        let is_of_disks = names.iter().any(|name| name.starts_with("[DSK") || name.starts_with("KBRead"))
            || layout.name.is_some() && names.contains(&"SvcTim");
        if !is_of_disks {
            layout.columns.clear();
        }
        Some(layout)
    }
}

/// The quantity of a column with this name, of which `before` columns precede it. Details have a wait for reads, writes
/// and all, or for all.
fn find_quantity(name: &str, before: usize, waits: usize) -> Option<CounterQuantity> {
    fn same(value: f64) -> f64 {
        value
    }
    let kib: fn(f64) -> f64 = |value| value * KIB;
    let milli: fn(f64) -> f64 = |value| value * MILLI;
    let direction = if before == 0 { Class::Read } else { Class::Write };
    let quantity: CounterQuantity = match name {
        "Reads" | "ReadTot" => (Class::Read, Measure::Iops, same),
        "Writes" | "WriteTot" => (Class::Write, Measure::Iops, same),
        "KBRead" | "ReadKBTot" | "RKBytes" => (Class::Read, Measure::Throughput, kib),
        "KBWrit" | "KBWrite" | "WriteKBTot" | "WKBytes" => (Class::Write, Measure::Throughput, kib),
        "IOs" if before < 2 => (direction, Measure::Iops, same),
        "KBytes" if before < 2 => (direction, Measure::Throughput, kib),
        "Wait" if waits == 1 => (Class::All, Measure::Latency, milli),
        "Wait" if before < 2 => (direction, Measure::Latency, milli),
        "WaitR" | "RWait" => (Class::Read, Measure::Latency, milli),
        "WaitW" | "WWait" => (Class::Write, Measure::Latency, milli),
        "Util" | "Pct" => (Class::All, Measure::Busy, |value| value / 100.0),
        _ => return None,
    };
    Some(quantity)
}

#[derive(Default)]
struct Collectl {
    input: FormatInput,
    host: String,
    layout: Option<Layout>,
    samples: Option<WideSamples>,
    /// The time of the current record, if it has a line of its own.
    record: Option<DateTime>,
    /// Rows of disks of a sample, until it is complete.
    disks: Vec<(String, Vec<Option<f64>>)>,
    /// The disks in the order of columns.
    names: Vec<String>,
    disks_at: Option<(DateTime, u64)>,
    last: Option<DateTime>,
    untimed: u32,
    is_rounded: bool,
    line: u64,
}

impl Collectl {
    /// Maximum disks of a sample.
    const MAX_DISKS: usize = 10_000;

    fn new(input: &FormatInput) -> Self {
        Self { input: input.clone(), ..Self::default() }
    }

    /// `### RECORD    1 >>> db1 <<< (1623841612.001) (Wed Jun 16 11:06:52 2021) ###`.
    fn record(&mut self, line: &str, out: &mut Builder) {
        self.end_sample(out);
        let Some((host, rest)) = line.split_once(" >>> ").and_then(|(_, rest)| rest.split_once(" <<<")) else { return };
        host.trim().clone_into(&mut self.host);
        let at = rest.split(['(', ')']).nth(1).and_then(timestamp::parse);
        self.record = at.map(|at| out.instant(at));
        self.layout = None;
    }

    fn row(&mut self, words: &[&str], number: u64, out: &mut Builder) {
        let Some(layout) = self.layout.clone() else { return };
        if words.len() != layout.width {
            return out.skip(number, Doubt::RowWidth { cells: words.len(), columns: layout.width });
        }
        let at = self.at(&layout, words, out);
        if layout.name.is_some() && self.disks_at.is_some_and(|(of, _)| at.is_some_and(|at| at != of)) {
            self.end_sample(out);
        }
        let Some(at) = at else { return };
        let mut values = vec![None; words.len()];
        for column in &layout.columns {
            values[column.index] = self.value(words[column.index]);
        }
        match layout.name {
            None => {
                let columns = self.columns(&layout, 0);
                let samples = self.samples.get_or_insert_with(|| WideSamples::new(columns, self.input.interval, out));
                samples.row(WideRow { at, line: number, values }, out);
            }
            Some(name) if self.disks.len() < Self::MAX_DISKS => {
                self.disks_at.get_or_insert((at, number));
                self.disks.push((words[name].to_owned(), values));
            }
            Some(_) => {}
        }
    }

    /// A number; brief lines shorten long ones.
    fn value(&mut self, word: &str) -> Option<f64> {
        let unit = match word.bytes().last()? {
            b'K' => 1e3,
            b'M' => 1e6,
            b'G' => 1e9,
            _ => 1.0,
        };
        self.is_rounded |= unit > 1.0;
        Some(text::parse_decimal(word.trim_end_matches(['K', 'M', 'G']))? * unit)
    }

    /// The columns of a layout, or of each disk from the number `first` on.
    fn columns(&self, layout: &Layout, first: usize) -> Vec<WideColumn> {
        let of = |offset: usize, disk: &str| -> Vec<WideColumn> {
            let column = |column: &DiskColumn| {
                let part = if disk.is_empty() { column.part.clone() } else { disk.to_owned() };
                let scope = ReadingScope { host: self.host.clone(), part, ..ReadingScope::default() };
                WideColumn { index: offset + column.index, name: column.name.clone(), scope, quantity: column.quantity }
            };
            layout.columns.iter().map(column).collect()
        };
        if layout.name.is_none() {
            return of(0, "");
        }
        let disks = self.names.iter().enumerate().skip(first);
        disks.flat_map(|(index, disk)| of(index * layout.width, disk)).collect()
    }

    /// Adds the rows of disks of a sample.
    fn end_sample(&mut self, out: &mut Builder) {
        let rows = std::mem::take(&mut self.disks);
        let (Some((at, line)), Some(layout)) = (self.disks_at.take(), self.layout.clone()) else { return };
        let before = self.names.len();
        for (name, _) in &rows {
            if !self.names.contains(name) {
                self.names.push(name.clone());
            }
        }
        if before < self.names.len() {
            let columns = self.columns(&layout, before);
            let interval = self.input.interval;
            self.samples.get_or_insert_with(|| WideSamples::new(Vec::new(), interval, out)).extend(columns, out);
        }
        let mut values = vec![None; self.names.len() * layout.width];
        for (name, of_disk) in rows {
            if let Some(index) = self.names.iter().position(|other| *other == name) {
                values[index * layout.width..][..of_disk.len()].copy_from_slice(&of_disk);
            }
        }
        if let Some(samples) = &mut self.samples {
            samples.row(WideRow { at, line, values }, out);
        }
    }

    /// The time of a row.
    fn at(&mut self, layout: &Layout, words: &[&str], out: &mut Builder) -> Option<DateTime> {
        let word = |index: Option<usize>| index.map(|index| words[index]);
        if let (Some(date), Some(time)) = (word(layout.date), word(layout.time)) {
            let (time, _) = timestamp::time_of_day(time, "")?;
            return Some(out.local(compact_date(date)?.to_datetime(time)));
        }
        if let Some(text) = word(layout.time) {
            if let Some((time, _)) = timestamp::time_of_day(text, "") {
                let day = self.last.or(self.input.begin).map(DateTime::date);
                let mut at = day.or_else(|| Date::new(UNDATED_YEAR, 1, 1).ok())?.to_datetime(time);
                if self.last.is_some_and(|last| at < last) {
                    at = at.date().tomorrow().ok()?.to_datetime(time);
                }
                self.last = Some(at);
                return Some(at);
            }
            return timestamp::parse(text).map(|stamp| out.instant(stamp));
        }
        if self.record.is_some() {
            return self.record;
        }
        // Details have several rows for each sample.
        if let Some((at, _)) = self.disks_at.filter(|_| layout.name.is_some()) {
            return Some(at);
        }
        let begin = self.input.begin.or_else(|| Some(Date::new(UNDATED_YEAR, 1, 1).ok()?.at(0, 0, 0, 0)))?;
        self.untimed += 1;
        timestamp::later(begin, self.input.interval?.as_secs_f64() * f64::from(self.untimed))
    }
}

/// `20210616`.
fn compact_date(text: &str) -> Option<Date> {
    let number: i32 = text.parse().ok().filter(|_| text.len() == 8)?;
    Date::new((number / 10_000) as i16, (number / 100 % 100) as i8, (number % 100) as i8).ok()
}

impl LineFormat for Collectl {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        self.line = number;
        let line = line.trim_end();
        if line.starts_with("### RECORD") {
            self.record(line, out);
        } else if line.starts_with("# ") || line.starts_with("#<") {
            self.end_sample(out);
            self.layout = None;
        } else if let Some(layout) = Layout::of(line) {
            self.end_sample(out);
            self.layout = Some(layout).filter(|layout| !layout.columns.is_empty());
        } else if let Some(seconds) = line.strip_prefix("waiting for ").and_then(|rest| rest.split_once(" second")) {
            let seconds = seconds.0.parse::<u32>().ok().map(|seconds| Span::from_secs_f64(f64::from(seconds)));
            self.input.interval = seconds.or(self.input.interval);
        } else if !line.is_empty() && !line.starts_with('#') {
            let words: Vec<&str> = line.split_whitespace().collect();
            self.row(&words, number, out);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.end_sample(out);
        let rows = self.samples.as_mut().map_or(0, |samples| samples.finish(None, out));
        if self.is_rounded {
            out.caution(None, Doubt::RoundedValues { option: "-P" });
        }
        out.end_at(self.line);
        out.require(rows > 0, InputFault::missing("sample of disks with a time", &["collectl -sd -oD", "--interval"]))
    }
}

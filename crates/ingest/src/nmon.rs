//! nmon: samples of AIX and Linux hosts, with each section of a sample on its own line.
//!
//! The lines may be in their original order or sorted, with the times (`ZZZZ`) after all samples. Sections of disks are
//! read, and those of processors and memory in use.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::civil::{Date, DateTime, Time};
use plimsoll_language::label;
use plimsoll_units::Span;

use crate::builder::Builder;
use crate::devices::Devices;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::layers::Layers;
use crate::processors::{self, ProcessorShares, UsedProcessors};
use crate::reading::{Class, Doubt, Fate, Measure, Origin, ReadingWindow, Resource};
use crate::refusal::{InputFault, Refusal};
use crate::text::{KIB, MIB, MILLI, Numerals, lists, timestamp};

/// Seconds between samples if the file does not state them.
const MINUTE: f64 = 60.0;

/// Files of nmon and topas.
pub(crate) const FORM: Form = Form::lines("nmon", "nmon file", resembles, |_| Box::new(Nmon::default()));

fn resembles(head: &Head<'_>) -> Resemblance {
    let has = |text: &str| head.text().starts_with(text) || head.has(&format!("\n{text}"));
    let either = |text: &str| has(&format!("{text},")) || has(&format!("{text};"));
    let existing = has("AAA,progname") || has("AAA;progname");
    match (existing, either("AAA"), has("ZZZZ,T") || has("ZZZZ;T"), has("DISK") || has("CPU")) {
        (true, ..) => Resemblance::Is { marks: 4 },
        (_, true, true, _) | (_, _, true, true) => Resemblance::Is { marks: 3 },
        (_, true, _, true) | (_, _, true, _) => Resemblance::Near { marks: 2, missing: "line `AAA,progname`" },
        _ => Resemblance::None,
    }
}

#[derive(Default)]
struct Nmon {
    semicolons: bool,
    host: String,
    date: Option<Date>,
    time: Option<Time>,
    interval: Option<Span>,
    samples: NmonSamples,
    /// Columns of the sections of processors and memory, and the processors in use by section.
    host_columns: BTreeMap<String, Vec<String>>,
    cpu_all: UsedProcessors,
    lpar: UsedProcessors,
    /// Bytes of memory, with their line.
    memory: Option<(f64, u64)>,
    /// The last time, to add missing dates and to detect midnight.
    last_at: Option<DateTime>,
    last: u64,
}

impl LineFormat for Nmon {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if !line.starts_with(['A', 'D', 'Z', 'C', 'L', 'M']) {
            return Ok(());
        }
        self.last = number;
        self.semicolons |= line.starts_with("AAA;");
        let mut fields = line.split(if self.semicolons { ';' } else { ',' });
        let (name, second) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default().trim());
        match (name, sample_number(second)) {
            ("AAA", _) => self.about(second, fields.next().unwrap_or_default().trim(), out),
            ("ZZZZ", Some(sample)) => match self.moment(fields.next(), fields.next(), out) {
                Some(at) => {
                    let (at, begin) = (out.local(at), self.begin(out));
                    self.samples.begin(sample, at, (begin, self.interval), &self.host, out);
                }
                None => out.caution(Some(Origin::line(number)), Doubt::lacking("a sample", "a readable time")),
            },
            ("CPU_ALL" | "LPAR" | "MEM", sample) => self.host_line(name, sample, fields, number),
            (_, sample) => {
                let Some((quantity, of_group)) = section(name) else { return Ok(()) };
                let Some(sample) = sample else {
                    if self.host.is_empty() {
                        second.rsplit(' ').next().unwrap_or_default().clone_into(&mut self.host);
                    }
                    self.samples.columns(name, of_group, fields);
                    return Ok(());
                };
                let numerals = if self.semicolons { Numerals::Comma } else { Numerals::Point };
                let values = fields.map(|field| numerals.number(field));
                if !self.samples.add(sample, (name, quantity), number, values) {
                    out.skip(number, Doubt::lacking("a row", "a value for each column"));
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        self.finish(out);
        out.end_at(self.last);
        if out.count() == 0 {
            return Err(out.unusable(if self.samples.has_columns() {
                InputFault::Incomplete { lacks: label!("sample of disks with a time") }
            } else {
                InputFault::missing("sections of disks", &["a recording with disks"])
            }));
        }
        Ok(())
    }
}

/// `T0001`
fn sample_number(text: &str) -> Option<u32> {
    text.strip_prefix('T').filter(|digits| digits.len() >= 3)?.parse().ok()
}

/// `21:23:10`, or `21:23.10` as some versions print it.
fn parse_time(text: &str) -> Option<Time> {
    timestamp::time_of_day(text.trim(), "").map(|(time, _)| time)
}

impl Nmon {
    /// Emits the samples of a recording.
    fn finish(&mut self, out: &mut Builder) {
        let begin = self.begin(out);
        self.samples.finish((begin, self.interval), &self.host, out);
        self.cpu_all.emit_time(&self.host, "CPU_ALL", 1.0, out);
        // The percentages of a logical partition are of its virtual processors.
        let (used, field) =
            if self.lpar.is_empty() { (&mut self.cpu_all, "CPU_ALL") } else { (&mut self.lpar, "LPAR") };
        processors::emit(Resource::PeakProcessors, used.peak(), (&self.host, field), out);
        used.emit(&self.host, field, out);
        processors::emit(Resource::HostMemory, self.memory, (&self.host, "MEM"), out);
    }

    fn begin(&self, out: &mut Builder) -> Option<DateTime> {
        self.date.zip(self.time).map(|(date, time)| out.local(date.to_datetime(time)))
    }

    /// Reads a line about processors or memory: its columns, or a sample.
    fn host_line<'a>(&mut self, name: &str, sample: Option<u32>, fields: impl Iterator<Item = &'a str>, line: u64) {
        if sample.is_none() {
            self.host_columns.insert(name.to_owned(), fields.map(|field| field.trim().to_lowercase()).collect());
            return;
        }
        let Some(columns) = self.host_columns.get(name) else { return };
        let numerals = if self.semicolons { Numerals::Comma } else { Numerals::Point };
        let values: Vec<Option<f64>> = fields.map(|field| numerals.number(field)).collect();
        let of = |names: &[&str]| {
            let index = columns.iter().position(|column| names.contains(&column.as_str()))?;
            values.get(index).copied().flatten().filter(|value| value.is_finite() && *value >= 0.0)
        };
        let seconds = self.interval.map_or(MINUTE, Span::as_secs_f64);
        match name {
            "CPU_ALL" => {
                let Some(percent) = of(&["user%"]).zip(of(&["sys%"])).map(|(user, system)| user + system) else {
                    return;
                };
                let processors = of(&["cpus", "physicalcpus"]).unwrap_or(f64::NAN);
                let shares = ProcessorShares::of_idle(100.0 - percent, of(&["wait%"]));
                self.cpu_all.add_shares(percent / 100.0 * processors, shares, seconds, line);
            }
            "LPAR" => self.lpar.add(of(&["physicalcpu"]).unwrap_or(f64::NAN), seconds, line),
            _ => {
                let megabytes = of(&["memtotal", "real total(mb)"]).filter(|megabytes| *megabytes > 0.0);
                self.memory = self.memory.or(megabytes.map(|megabytes| (megabytes * MIB, line)));
            }
        }
    }

    /// Reads a line about the whole file.
    fn about(&mut self, key: &str, value: &str, out: &mut Builder) {
        match key {
            // Another recording in the same file.
            "progname" if !self.samples.is_empty() => {
                self.finish(out);
                *self = Self { semicolons: self.semicolons, last: self.last, ..Self::default() };
            }
            "host" => value.clone_into(&mut self.host),
            "date" => self.date = timestamp::parse_date(value).map(|date| out.date(date)),
            "time" => self.time = parse_time(value),
            "interval" => self.interval = value.parse().ok().filter(|s| *s > 0).map(Span::from_secs),
            "version" => out.version(value),
            "AIX" => out.platform(&format!("AIX {value}")),
            _ => {}
        }
    }

    fn moment(&mut self, clock: Option<&str>, date: Option<&str>, out: &mut Builder) -> Option<DateTime> {
        let time = parse_time(clock?)?;
        let at = if let Some(date) = date.and_then(|date| timestamp::parse_date(date.trim())) {
            out.date(date).to_datetime(time)
        } else {
            let date = self.last_at.map(DateTime::date).or(self.date)?;
            let at = date.to_datetime(time);
            let is_past_midnight = self.last_at.is_some_and(|last| last.duration_since(at).as_hours() > 12);
            if is_past_midnight { date.tomorrow().ok()?.to_datetime(time) } else { at }
        };
        self.last_at = Some(at);
        Some(at)
    }
}

#[derive(Default)]
struct NmonSamples {
    devices: Devices,
    /// The device of each column, by section; none for groups.
    sections: BTreeMap<String, Vec<Option<usize>>>,
    waiting: BTreeMap<u32, NmonSample>,
    /// Number of stored values.
    cells: usize,
    current: Option<u32>,
    /// The last emitted sample, with its time.
    before: Option<(u32, DateTime)>,
    left_out: u32,
    count: u32,
}

#[derive(Default)]
struct NmonSample {
    at: Option<DateTime>,
    rows: Vec<[Option<NmonCell>; QUANTITIES]>,
}

#[derive(Clone, Copy)]
struct NmonCell {
    value: f64,
    line: u64,
}

/// The begin of the file, and the interval of its samples.
type NmonClock = (Option<DateTime>, Option<Span>);

impl NmonSamples {
    /// Maximum values that wait for their time; in a sorted file all of them do.
    const MAX_CELLS: usize = 4 << 20;

    /// True before the first sample.
    fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.count == 0
    }

    fn has_columns(&self) -> bool {
        !self.sections.is_empty()
    }

    /// Sets the names of a section's columns.
    fn columns<'a>(&mut self, section: &str, of_groups: bool, names: impl Iterator<Item = &'a str>) {
        if self.sections.len() >= Layers::MAX {
            return;
        }
        let names = names.map(str::trim).take(Layers::MAX);
        let place = |name: &str| if name.is_empty() { None } else { self.devices.place(name, of_groups) };
        let columns = names.map(place).collect();
        self.sections.insert(section.to_owned(), columns);
    }

    /// Adds the values of a section. False if there are fewer than columns.
    fn add(
        &mut self,
        number: u32,
        (section, quantity): (&str, usize),
        line: u64,
        mut values: impl Iterator<Item = Option<f64>>,
    ) -> bool {
        let Some(columns) = self.sections.get(section) else { return false };
        if self.cells >= Self::MAX_CELLS {
            self.left_out += 1;
            return true;
        }
        let sample = self.waiting.entry(number).or_default();
        if sample.rows.len() < self.devices.len() {
            self.cells += (self.devices.len() - sample.rows.len()) * QUANTITIES;
            sample.rows.resize(self.devices.len(), [None; QUANTITIES]);
        }
        for device in columns {
            let (device, value) = match (device, values.next()) {
                (Some(device), Some(value)) => (*device, value),
                (None, Some(_)) => continue,
                (Some(_), None) => return false,
                (None, None) => break,
            };
            // Some builds print -0 for unknown values.
            let value = value.filter(|value| value.is_finite() && value.is_sign_positive());
            sample.rows[device][quantity] = value.map(|value| NmonCell { value, line });
        }
        true
    }

    /// Sets the time of a sample, which completes the preceding one.
    fn begin(&mut self, number: u32, at: DateTime, clock: NmonClock, host: &str, out: &mut Builder) {
        if let Some(current) = self.current.filter(|current| *current != number) {
            self.hand_over(current, clock, host, out);
        }
        self.current = Some(number);
        self.waiting.entry(number).or_default().at = Some(at);
    }

    /// Emits the remaining samples.
    fn finish(&mut self, clock: NmonClock, host: &str, out: &mut Builder) {
        while let Some(number) = self.waiting.keys().next().copied() {
            self.hand_over(number, clock, host, out);
        }
        self.devices.list(self.count, out);
        if self.left_out > 0 {
            out.part("samples without times", Fate::Broken);
            out.caution(None, Doubt::SortedSamples);
        }
    }

    fn hand_over(&mut self, number: u32, clock: NmonClock, host: &str, out: &mut Builder) {
        let Some(sample) = self.waiting.remove(&number) else { return };
        self.cells -= sample.rows.len() * QUANTITIES;
        let Some(at) = sample.at else {
            return out.caution_once(None, Doubt::lacking("samples", "a time (ZZZZ)"));
        };
        let length = self.length(number, at, clock);
        let line = sample.rows.iter().flatten().flatten().map(|cell| cell.line).next();
        self.before = Some((number, at));
        let Some(length) = length.filter(|length| !length.is_zero()) else {
            return out.caution(line.map(Origin::line), Doubt::ClockStuck { item: label!("sample") });
        };
        let begin = timestamp::before(at, length);
        let window = out.window(ReadingWindow { begin, length });
        self.devices.choose();
        for (place, row) in sample.rows.iter().enumerate() {
            if let Some((name, scope, _)) = self.devices.taken(place, host, out) {
                put(row, (scope, window), &name, out);
            }
        }
        self.count += 1;
    }

    /// The time since the preceding sample; for the first, since the begin of the file.
    fn length(&self, number: u32, at: DateTime, (begin, interval): NmonClock) -> Option<Span> {
        let since = |earlier: DateTime| {
            let seconds = at.duration_since(earlier).as_secs_f64();
            (seconds > 0.0).then(|| Span::from_secs_f64(seconds))
        };
        match self.before {
            Some((before, earlier)) if before + 1 == number || interval.is_none() => since(earlier),
            // Samples in between are lost.
            Some((_, earlier)) => since(earlier).and(interval),
            None => begin.and_then(since).or(interval),
        }
    }
}

/// The figures of a disk in a sample.
fn put(row: &[Option<NmonCell>; QUANTITIES], at: (u32, u32), device: &Arc<str>, out: &mut Builder) {
    let place = |class, measure| COLUMNS.iter().position(|column| (column.1, column.2) == (class, measure));
    let of = |class, measure| place(class, measure).and_then(|place| row[place]).map(|cell| cell.value);
    // If reads and writes have latencies, the total is their sum rather than their mean.
    let is_split = [Class::Read, Class::Write].into_iter().any(|class| of(class, Measure::Latency).is_some());
    let wait = row[WAIT].map_or(0.0, |cell| cell.value);
    for ((_, class, measure, unit, name), cell) in COLUMNS.iter().zip(row) {
        let Some(NmonCell { value, line }) = *cell else { continue };
        let some = of(*class, Measure::Iops).is_some_and(|operations| operations > 0.0);
        let value = match measure {
            Measure::Size if !some || value <= 0.0 => continue,
            Measure::Latency if !some || *class == Class::All && is_split => continue,
            Measure::Latency => (value + wait) * unit,
            // Rounding may exceed the whole time.
            Measure::Busy => (value * unit).min(1.0),
            _ => value * unit,
        };
        let field = out.text(name);
        out.mean(at, *class, *measure, value, Origin { line, table: Some(Arc::clone(device)), field });
    }
}

/// Quantities of a disk with figures: their sections, class, measure, factor to base units, and the name in origins.
const COLUMNS: [(&str, Class, Measure, f64, &str); 10] = [
    ("DISKXFER", Class::All, Measure::Iops, 1.0, "transfers/s"),
    ("DISKRIO DISKRXFER DISKREADS DGREADS", Class::Read, Measure::Iops, 1.0, "reads/s"),
    ("DISKWIO DISKWRITES DGWRITES", Class::Write, Measure::Iops, 1.0, "writes/s"),
    ("DISKREAD", Class::Read, Measure::Throughput, KIB, "read KB/s"),
    ("DISKWRITE", Class::Write, Measure::Throughput, KIB, "write KB/s"),
    ("DISKBSIZE", Class::All, Measure::Size, KIB, "block size"),
    ("DISKBUSY", Class::All, Measure::Busy, 0.01, "% busy"),
    ("DISKREADSERV DGREADSERV", Class::Read, Measure::Latency, MILLI, "read service + wait"),
    ("DISKWRITESERV DGWRITESERV", Class::Write, Measure::Latency, MILLI, "write service + wait"),
    ("DISKSERV", Class::All, Measure::Latency, MILLI, "service + wait"),
];

/// The quantity after [`COLUMNS`], in the section `DISKWAIT`: milliseconds in the queue before service.
const WAIT: usize = COLUMNS.len();

const QUANTITIES: usize = WAIT + 1;

/// The quantity of a section, and whether its columns are groups of disks. Sections continue under a number if there
/// are more disks than fit on a line.
fn section(name: &str) -> Option<(usize, bool)> {
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let quantity = COLUMNS.iter().position(|(sections, ..)| lists(sections, stem));
    Some((quantity.or((stem == "DISKWAIT").then_some(WAIT))?, stem.starts_with("DG")))
}

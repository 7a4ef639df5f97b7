//! nmon: samples of AIX and Linux hosts, each section of a sample in a line of its own.
//!
//! The lines may be in their original order, or sorted: then the times (`ZZZZ`) come after all their samples. Only
//! sections of disks are read.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::civil::{Date, DateTime, Time};
use plimsoll_units::Span;

use crate::builder::Builder;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::layers::{Devices, Layers};
use crate::reading::{Class, Fate, Measure, Origin, Window};
use crate::refusal::Refusal;
use crate::text::{Numerals, timestamp};

/// Files of nmon and topas.
pub(crate) const FORM: Form = Form::lines("nmon", "nmon file", resembles, |_| Box::new(Nmon::default()));

fn resembles(head: &Head<'_>) -> Resemblance {
    let has = |text: &str| head.text().starts_with(text) || head.has(&format!("\n{text}"));
    let either = |text: &str| has(&format!("{text},")) || has(&format!("{text};"));
    let known = has("AAA,progname") || has("AAA;progname");
    match (known, either("AAA"), has("ZZZZ,T") || has("ZZZZ;T"), has("DISK") || has("CPU")) {
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
    samples: Samples,
    /// The time that came last: a date may be missing, and midnight pass.
    last_at: Option<DateTime>,
    broken: Option<u64>,
    last: u64,
}

impl LineFormat for Nmon {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if !line.starts_with(['A', 'D', 'Z']) {
            return Ok(());
        }
        self.last = number;
        self.semicolons |= line.starts_with("AAA;");
        let mut fields = line.split(if self.semicolons { ';' } else { ',' });
        let (name, second) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default().trim());
        match (name, sample_number(second)) {
            ("AAA", _) => self.about(second, fields.next().unwrap_or_default().trim(), out),
            ("ZZZZ", Some(sample)) => match self.moment(fields.next(), fields.next()) {
                Some(at) => {
                    let (at, begin) = (out.local(at), self.begin(out));
                    self.samples.begin(sample, at, (begin, self.interval), &self.host, out);
                }
                None => out.caution(Some(Origin::line(number)), "a time that cannot be read: its sample is left out"),
            },
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
                    self.broken = Some(number);
                    out.caution(Some(Origin::line(number)), "fewer values than its section has columns, or no columns");
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        let begin = self.begin(out);
        self.samples.finish((begin, self.interval), &self.host, out);
        if self.broken == Some(self.last) {
            out.part("last line", Fate::Broken);
        }
        if out.count() == 0 {
            return Err(out.unusable(if self.samples.has_columns() {
                "none of its samples of disks has a time: is it whole?"
            } else {
                "it has no sections of disks: was it taken without them?"
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
fn time(text: &str) -> Option<Time> {
    timestamp::time_of_day(text.trim(), "").map(|(time, _)| time)
}

impl Nmon {
    /// When the file begins.
    fn begin(&self, out: &mut Builder) -> Option<DateTime> {
        self.date.zip(self.time).map(|(date, time)| out.local(date.to_datetime(time)))
    }

    /// A line about the file as a whole.
    fn about(&mut self, key: &str, value: &str, out: &mut Builder) {
        match key {
            "host" => value.clone_into(&mut self.host),
            "date" => self.date = timestamp::date(value).map(|(date, _)| date),
            "time" => self.time = time(value),
            "interval" => self.interval = value.parse().ok().filter(|s| *s > 0).map(Span::from_secs),
            "version" => out.version(value),
            _ => {}
        }
    }

    fn moment(&mut self, clock: Option<&str>, date: Option<&str>) -> Option<DateTime> {
        let time = time(clock?)?;
        let at = if let Some(date) = date.and_then(|date| timestamp::date(date.trim())) {
            date.0.to_datetime(time)
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

const KIB: f64 = 1_024.0;
const MILLI: f64 = 1e-3;

#[derive(Default)]
struct Samples {
    devices: Devices,
    /// The device of each column, by section; groups that are no device have none.
    sections: BTreeMap<String, Vec<Option<usize>>>,
    waiting: BTreeMap<u32, Sample>,
    /// Samples that are kept at once.
    cells: usize,
    current: Option<u32>,
    /// The sample that was handed over last, and its time.
    before: Option<(u32, DateTime)>,
    left_out: u32,
    count: u32,
}

#[derive(Default)]
struct Sample {
    at: Option<DateTime>,
    /// By device.
    rows: Vec<[Option<Cell>; QUANTITIES]>,
}

#[derive(Clone, Copy)]
struct Cell {
    value: f64,
    line: u64,
}

/// When the file begins, and how far apart its samples are.
type Clock = (Option<DateTime>, Option<Span>);

impl Samples {
    /// Values that wait for their time: of a sorted file all of them.
    const MOST: usize = 4 << 20;

    fn has_columns(&self) -> bool {
        !self.sections.is_empty()
    }

    /// Takes the names of a section's columns.
    fn columns<'a>(&mut self, section: &str, of_groups: bool, names: impl Iterator<Item = &'a str>) {
        if self.sections.len() >= Layers::MOST {
            return;
        }
        let names = names.map(str::trim).take(Layers::MOST);
        let place = |name: &str| if name.is_empty() { None } else { self.devices.place(name, of_groups) };
        let columns = names.map(place).collect();
        self.sections.insert(section.to_owned(), columns);
    }

    /// Takes the values of one section. False when there are fewer than columns.
    fn add(
        &mut self,
        number: u32,
        (section, quantity): (&str, Quantity),
        line: u64,
        mut values: impl Iterator<Item = Option<f64>>,
    ) -> bool {
        let Some(columns) = self.sections.get(section) else { return false };
        if self.cells >= Self::MOST {
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
            // Zero below zero is what some builds print for what they do not know.
            let value = value.filter(|value| value.is_finite() && value.is_sign_positive());
            sample.rows[device][quantity as usize] = value.map(|value| Cell { value, line });
        }
        true
    }

    /// Learns when a sample was taken. The one before is complete then.
    fn begin(&mut self, number: u32, at: DateTime, clock: Clock, host: &str, out: &mut Builder) {
        if let Some(current) = self.current.filter(|current| *current != number) {
            self.hand_over(current, clock, host, out);
        }
        self.current = Some(number);
        self.waiting.entry(number).or_default().at = Some(at);
    }

    /// Hands over what is left.
    fn finish(&mut self, clock: Clock, host: &str, out: &mut Builder) {
        while let Some(number) = self.waiting.keys().next().copied() {
            self.hand_over(number, clock, host, out);
        }
        self.devices.finish(self.count, out);
        if self.left_out > 0 {
            out.part("samples without times", Fate::Broken);
            out.caution(None, "too many samples before their times: give the file as nmon wrote it, not sorted");
        }
    }

    fn hand_over(&mut self, number: u32, clock: Clock, host: &str, out: &mut Builder) {
        let Some(sample) = self.waiting.remove(&number) else { return };
        self.cells -= sample.rows.len() * QUANTITIES;
        let Some(at) = sample.at else {
            return out.caution_once(None, "samples without a time (ZZZZ): left out");
        };
        let length = self.length(number, at, clock);
        let line = sample.rows.iter().flatten().flatten().map(|cell| cell.line).next();
        self.before = Some((number, at));
        let Some(length) = length.filter(|length| !length.is_zero()) else {
            let text = "the clock does not go on since the sample before: left out";
            return out.caution(line.map(Origin::line), text);
        };
        let begin = timestamp::before(at, length);
        let window = out.window(Window { begin, length });
        self.devices.choose();
        for (place, row) in sample.rows.iter().enumerate() {
            if let Some((name, scope, _)) = self.devices.taken(place, host, out) {
                put(row, (scope, window), &name, out);
            }
        }
        self.count += 1;
    }

    /// The time since the sample before; of the first one since the file begins.
    fn length(&self, number: u32, at: DateTime, (begin, interval): Clock) -> Option<Span> {
        let since = |earlier: DateTime| {
            let seconds = at.duration_since(earlier).as_secs_f64();
            (seconds > 0.0).then(|| Span::from_secs_f64(seconds))
        };
        match self.before {
            Some((before, earlier)) if before + 1 == number || interval.is_none() => since(earlier),
            // Samples between the two are lost.
            Some((_, earlier)) => since(earlier).and(interval),
            None => begin.and_then(since).or(interval),
        }
    }
}

/// The figures of one disk in one sample.
fn put(row: &[Option<Cell>; QUANTITIES], at: (u32, u32), device: &Arc<str>, out: &mut Builder) {
    let value = |quantity: Quantity| row[quantity as usize].map(|cell| cell.value);
    let mut figure = |quantity: Quantity, class, measure, scale: f64, name: &str| {
        let Some(Cell { value, line }) = row[quantity as usize] else { return };
        let field = out.text(name);
        out.mean(at, class, measure, value * scale, Origin { line, table: Some(Arc::clone(device)), field });
    };
    figure(Quantity::Transfers, Class::All, Measure::Iops, 1.0, "transfers/s");
    figure(Quantity::Reads, Class::Read, Measure::Iops, 1.0, "reads/s");
    figure(Quantity::Writes, Class::Write, Measure::Iops, 1.0, "writes/s");
    figure(Quantity::Read, Class::Read, Measure::Throughput, KIB, "read KB/s");
    figure(Quantity::Written, Class::Write, Measure::Throughput, KIB, "write KB/s");
    let some = |quantity| value(quantity).is_some_and(|value| value > 0.0);
    if some(Quantity::Transfers) && some(Quantity::Size) {
        figure(Quantity::Size, Class::All, Measure::Size, KIB, "block size");
    }
    // Per cent of the time; rounding may go beyond all of it.
    let busy = value(Quantity::Busy).unwrap_or_default();
    figure(Quantity::Busy, Class::All, Measure::Busy, if busy > 100.0 { 1.0 / busy } else { 0.01 }, "% busy");
    let wait = value(Quantity::Wait).unwrap_or_default();
    let mut latency = |service: Quantity, count: Quantity, class, name: &str| {
        let Some(Cell { value, line }) = row[service as usize].filter(|_| some(count)) else { return };
        let origin = Origin { line, table: Some(Arc::clone(device)), field: out.text(name) };
        out.mean(at, class, Measure::Latency, (value + wait) * MILLI, origin);
    };
    latency(Quantity::ReadService, Quantity::Reads, Class::Read, "read service + wait");
    latency(Quantity::WriteService, Quantity::Writes, Class::Write, "write service + wait");
    // Beside the two others it is their sum, not their mean.
    if value(Quantity::ReadService).is_none() && value(Quantity::WriteService).is_none() {
        latency(Quantity::Service, Quantity::Transfers, Class::All, "service + wait");
    }
}

/// What a section says of each disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    /// KiB read in a second.
    Read,
    /// KiB written in a second.
    Written,
    /// Operations in a second.
    Transfers,
    Reads,
    Writes,
    /// KiB of an operation.
    Size,
    /// Percent of the time.
    Busy,
    /// Milliseconds of an operation.
    Service,
    ReadService,
    WriteService,
    /// Milliseconds in the queue before.
    Wait,
}

/// How many quantities there are.
const QUANTITIES: usize = 11;

/// What a section says, and whether its columns are groups of disks. Sections go on under a number when there are more
/// disks than one line takes.
fn section(name: &str) -> Option<(Quantity, bool)> {
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    Some(match stem {
        "DISKREAD" => (Quantity::Read, false),
        "DISKWRITE" => (Quantity::Written, false),
        "DISKXFER" => (Quantity::Transfers, false),
        "DISKRIO" | "DISKRXFER" | "DISKREADS" => (Quantity::Reads, false),
        "DISKWIO" | "DISKWRITES" => (Quantity::Writes, false),
        "DISKBSIZE" => (Quantity::Size, false),
        "DISKBUSY" => (Quantity::Busy, false),
        "DISKSERV" => (Quantity::Service, false),
        "DISKREADSERV" => (Quantity::ReadService, false),
        "DISKWRITESERV" => (Quantity::WriteService, false),
        "DISKWAIT" => (Quantity::Wait, false),
        "DGREADS" => (Quantity::Reads, true),
        "DGWRITES" => (Quantity::Writes, true),
        "DGREADSERV" => (Quantity::ReadService, true),
        "DGWRITESERV" => (Quantity::WriteService, true),
        _ => return None,
    })
}

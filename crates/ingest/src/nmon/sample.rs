//! Samples on their way to figures: one as a rule, all of them in a file that is sorted.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::civil::DateTime;
use plimsoll_units::Span;

use super::section::{QUANTITIES, Quantity};
use crate::builder::Builder;
use crate::figure::{Class, Measure, Origin, Scope, Window};
use crate::layers::Layers;
use crate::reading::Fate;
use crate::timestamp;

const KIB: f64 = 1_024.0;
const MILLI: f64 = 1e-3;

#[derive(Default)]
pub(super) struct Samples {
    layers: Layers,
    places: BTreeMap<String, usize>,
    devices: Vec<Device>,
    /// The device of each column, by section; groups that are no device have none.
    sections: BTreeMap<String, Vec<Option<usize>>>,
    waiting: BTreeMap<u32, Sample>,
    /// Samples that are kept at once.
    cells: usize,
    current: Option<u32>,
    /// The sample that was handed over last, and its time.
    before: Option<(u32, DateTime)>,
    chosen: usize,
    left_out: u32,
    count: u32,
}

struct Device {
    name: Arc<str>,
    scope: Option<u32>,
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

    pub(super) fn has_columns(&self) -> bool {
        !self.sections.is_empty()
    }

    /// Takes the names of a section's columns.
    pub(super) fn columns<'a>(&mut self, section: &str, of_groups: bool, names: impl Iterator<Item = &'a str>) {
        if self.sections.len() >= Layers::MOST {
            return;
        }
        let names = names.map(str::trim).take(Layers::MOST);
        let columns = names.map(|name| {
            // A group that is no disk of its own is learnt by no other section, and so never taken.
            if !of_groups && !name.is_empty() && self.layers.learn(name) {
                self.chosen = 0;
            }
            if let Some(place) = self.places.get(name) {
                return Some(*place);
            }
            if name.is_empty() || self.devices.len() >= Layers::MOST {
                return None;
            }
            self.devices.push(Device { name: Arc::from(name), scope: None });
            self.places.insert(name.to_owned(), self.devices.len() - 1);
            Some(self.devices.len() - 1)
        });
        let columns = columns.collect();
        self.sections.insert(section.to_owned(), columns);
    }

    /// Takes the values of one section. False when there are fewer than columns.
    pub(super) fn add(
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
    pub(super) fn begin(&mut self, number: u32, at: DateTime, clock: Clock, host: &str, out: &mut Builder) {
        if let Some(current) = self.current.filter(|current| *current != number) {
            self.hand_over(current, clock, host, out);
        }
        self.current = Some(number);
        self.waiting.entry(number).or_default().at = Some(at);
    }

    /// Hands over what is left.
    pub(super) fn finish(&mut self, clock: Clock, host: &str, out: &mut Builder) {
        while let Some(number) = self.waiting.keys().next().copied() {
            self.hand_over(number, clock, host, out);
        }
        let scopes = self.devices.iter().filter_map(|device| Some((device.scope?, self.layers.layer(&device.name)?)));
        out.arrays(scopes);
        for device in &self.devices {
            let is_read = self.layers.takes(&device.name);
            out.part(&*device.name, if is_read { Fate::Read(self.count) } else { Fate::Ignored });
        }
        if self.left_out > 0 {
            out.part("samples without times", Fate::Broken);
            out.caution(None, "too many samples before their times: give the file as nmon wrote it, not sorted");
        }
        if self.layers.is_full() {
            out.caution(None, "more disks than are read of one input: give fewer of them");
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
        if self.chosen < self.devices.len() {
            self.layers.choose();
            self.chosen = self.devices.len();
        }
        for (device, row) in self.devices.iter_mut().zip(&sample.rows) {
            if self.layers.takes(&device.name) {
                let new =
                    || out.scope(Scope { host: host.to_owned(), part: device.name.to_string(), ..Scope::default() });
                let scope = *device.scope.get_or_insert_with(new);
                put(row, (scope, window), &device.name, out);
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

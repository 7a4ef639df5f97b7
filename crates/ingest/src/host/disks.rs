//! Rows of devices, sample by sample, as figures. Knows what columns mean and which devices count, and no form.

mod heading;

use std::collections::HashMap;
use std::sync::Arc;

use self::heading::Take;
pub(super) use self::heading::{Heading, NameAt};
use super::digits;
use crate::builder::Builder;
use crate::figure::{Class, Measure, Origin, Scope};
use crate::layers::{Layer, Layers};
use crate::reading::Fate;

/// The devices of one host.
#[derive(Debug, Default)]
pub(super) struct Disks {
    host: String,
    heading: Heading,
    devices: Vec<Device>,
    layers: Layers,
    by_name: HashMap<Box<str>, u32>,
    /// The sample that is being read: rows, and a number for each column of each.
    rows: Vec<Row>,
    values: Vec<f64>,
    /// The device that the next row is likely to be of.
    next: usize,
    /// So many devices there were when those that count were chosen.
    chosen: usize,
    counted: usize,
    samples: u32,
    numbers: u32,
    has_given: bool,
    too_many: bool,
}

#[derive(Debug)]
struct Device {
    name: Box<str>,
    text: Arc<str>,
    scope: Option<u32>,
    /// Its layer, when its figures are taken.
    layer: Option<Layer>,
    /// Discards and flushes are told from when there are any.
    discards: bool,
    flushes: bool,
    /// The sample that it was in last.
    seen: u32,
}

/// What a device did that has no row in a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absent {
    /// Nothing.
    Idle,
    /// The sample may have been cut.
    Unknown,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    device: u32,
    line: u64,
}

/// What the devices of a sample did together.
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
}

impl Disks {
    /// The most devices that are told apart.
    const MOST: usize = 4_096;
    /// Samples that leave out idle devices are filled up to so many.
    const MOST_FILLED: usize = 256;

    pub(super) fn of(host: &str) -> Self {
        Self { host: host.to_owned(), ..Self::default() }
    }

    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// Begins a sample with its columns; rows of a sample before that was not closed are dropped.
    pub(super) fn begin(&mut self, heading: &str) -> bool {
        self.drop_rows();
        self.heading.is(heading) || Heading::read(heading).map(|read| self.heading = read).is_some()
    }

    /// Begins a sample with columns that are known.
    pub(super) fn put_heading(&mut self, heading: Heading) {
        self.drop_rows();
        self.heading = heading;
    }

    /// The columns as they are.
    pub(super) fn heading(&self) -> &Heading {
        &self.heading
    }

    pub(super) fn drop_rows(&mut self) {
        self.rows.clear();
        self.values.clear();
        self.next = 0;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// True when samples were handed over.
    pub(super) fn has_given(&self) -> bool {
        self.has_given
    }

    /// True for a line that begins with the name of a device.
    pub(super) fn knows(&self, line: &str) -> bool {
        line.split_whitespace().next().is_some_and(|name| self.by_name.contains_key(name))
    }

    /// Goes on with the devices of a host; those of another one are forgotten.
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

    /// Takes a row of text. False when it is none of this table.
    pub(super) fn row(&mut self, text: &str, line: u64, out: &mut Builder) -> bool {
        let start = self.values.len();
        let Some((name, rest)) = self.heading.split(text) else { return false };
        if digits::numbers(rest.as_bytes(), &mut self.values) && self.values.len() - start == self.heading.len() {
            self.named(name, line, out);
            return true;
        }
        self.values.truncate(start);
        let Some(name) = self.heading.read_slowly(text, &mut self.values) else { return false };
        self.named(name, line, out);
        true
    }

    /// Takes a row whose numbers are known: as many as there are columns, `NaN` for what is not said.
    pub(super) fn numbers(&mut self, name: &str, line: u64, numbers: &[f64], out: &mut Builder) {
        self.values.extend_from_slice(numbers);
        self.named(name, line, out);
    }

    fn named(&mut self, name: &str, line: u64, out: &mut Builder) {
        if let Some(device) = self.device(name, line, out) {
            self.rows.push(Row { device, line });
        } else {
            self.values.truncate(self.values.len() - self.heading.len());
        }
    }

    fn device(&mut self, name: &str, line: u64, out: &mut Builder) -> Option<u32> {
        if self.devices.get(self.next).is_some_and(|device| &*device.name == name) {
            self.next += 1;
            return Some(self.next as u32 - 1);
        }
        if let Some(number) = self.by_name.get(name) {
            self.next = *number as usize + 1;
            return Some(*number);
        }
        if self.devices.len() >= Self::MOST {
            if !std::mem::replace(&mut self.too_many, true) {
                let text = format!("more than {} devices: the others are left out; give fewer of them", Self::MOST);
                out.caution(Some(Origin::line(line)), text);
            }
            return None;
        }
        let number = self.devices.len() as u32;
        self.devices.push(Device {
            name: name.into(),
            text: Arc::from(if name.is_empty() { "all disks" } else { name.trim() }),
            scope: None,
            layer: None,
            discards: false,
            flushes: false,
            seen: 0,
        });
        self.layers.learn(name);
        self.by_name.insert(name.into(), number);
        self.next = number as usize + 1;
        Some(number)
    }

    /// Seconds that the sample took, where it has bytes in all beside bytes a second.
    pub(super) fn seconds(&self) -> Option<f64> {
        self.heading.seconds(&self.values)
    }

    /// Hands over the sample as figures of a window.
    pub(super) fn close(&mut self, window: u32, absent: Absent, out: &mut Builder) -> Sums {
        self.has_given = true;
        if self.chosen != self.devices.len() {
            self.choose();
        }
        self.samples += 1;
        let (mut sums, mut counted) = (Sums::default(), 0);
        let width = self.heading.len();
        for index in 0..self.rows.len() {
            let Row { device, line } = self.rows[index];
            let device = &mut self.devices[device as usize];
            device.seen = self.samples;
            if device.layer.is_some() {
                counted += 1;
                let values = &self.values[index * width..(index + 1) * width];
                let scope = device.scope(&self.host, out);
                self.numbers += self.heading.put(device, (scope, window), line, values, &mut sums, out);
            }
        }
        if absent == Absent::Idle && counted < self.counted && self.counted <= Self::MOST_FILLED {
            self.fill(window, out);
        }
        self.drop_rows();
        sums
    }

    /// Devices that were idle may have no row (`iostat -z`): they did nothing, which is known as well.
    fn fill(&mut self, window: u32, out: &mut Builder) {
        let line = self.line();
        for device in self.devices.iter_mut().filter(|device| device.layer.is_some() && device.seen != self.samples) {
            let scope = device.scope(&self.host, out);
            self.heading.put_idle(device, (scope, window), line, out);
        }
    }

    /// Chooses the devices that count among all that were seen.
    fn choose(&mut self) {
        self.layers.choose();
        for device in &mut self.devices {
            device.layer = self.layers.layer(&device.name);
        }
        self.counted = self.devices.iter().filter(|device| device.layer.is_some()).count();
        self.chosen = self.devices.len();
    }

    /// Says which devices were taken, and which not.
    pub(super) fn end(&self, name: &str, out: &mut Builder) {
        if self.samples == 0 {
            return;
        }
        out.part(name, if self.numbers == 0 { Fate::Empty } else { Fate::Read(self.numbers) });
        for device in self.devices.iter().filter(|device| device.layer.is_none()) {
            out.part(format!("device {}", device.text), Fate::Ignored);
        }
        out.arrays(self.devices.iter().filter_map(|device| Some((device.scope?, device.layer?))));
        let taken: Vec<&Device> = self.devices.iter().filter(|device| device.layer.is_some()).collect();
        if taken.len() > 1 && taken.iter().all(|device| device.layer < Some(Layer::Array)) {
            let first: Vec<&str> = taken.iter().take(3).map(|device| &*device.text).collect();
            let text = format!(
                "no disks are in it, and {} may lie over one another or hold one another: then their operations are \
                 counted twice; give a report with the disks below them",
                first.join(", "),
            );
            out.caution(None, text);
        }
    }
}

impl Device {
    fn scope(&mut self, host: &str, out: &mut Builder) -> u32 {
        *self.scope.get_or_insert_with(|| {
            out.scope(Scope { host: host.to_owned(), part: self.name.trim().to_owned(), ..Scope::default() })
        })
    }

    /// True when a class is told of: nearly no device gets discards and flushes, which would be a half of all figures.
    fn tells(&mut self, class: Class, operations: f64) -> bool {
        let told = match class {
            Class::Discard => &mut self.discards,
            Class::Flush => &mut self.flushes,
            _ => return true,
        };
        *told |= operations > 0.0;
        *told
    }

    /// True for an array whose operations are not timed, as those of older kernels are not.
    fn is_untimed(&self, measure: Measure, value: f64) -> bool {
        let of_time = matches!(measure, Measure::Latency | Measure::Busy | Measure::Depth);
        of_time && value <= 0.0 && self.layer == Some(Layer::Array)
    }

    fn origin(&self, line: u64, take: &Take) -> Origin {
        Origin { line, table: Some(Arc::clone(&self.text)), field: Arc::clone(&take.name) }
    }
}

impl Sums {
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

//! The devices of an input, and the snapshot of their counters that is being read.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::civil::DateTime;
use plimsoll_units::Span;

use super::row::MOST;
use crate::builder::Builder;
use crate::figure::{Class, Origin, Scope};
use crate::layers::{Layer, Layers};
use crate::reading::Fate;
use crate::snapshot::{Count, Counted, Snapshot};

/// A counter of 32 bits goes round here. Times do so on every kernel; the others only where words are so short, and those
/// that are beyond it already cannot.
const ROUND: f64 = 4_294_967_296.0;
const SECTOR: f64 = 512.0;
const MILLI: f64 = 1e-3;

/// The counters that are used: where they stand, what they count, and in which unit.
const COUNTERS: [(usize, Counted, f64, &str); 13] = [
    (0, Counted::Operations(Class::Read), 1.0, "reads"),
    (2, Counted::Bytes(Class::Read), SECTOR, "sectors read"),
    (3, Counted::OperationSeconds(Class::Read), MILLI, "ms reading"),
    (4, Counted::Operations(Class::Write), 1.0, "writes"),
    (6, Counted::Bytes(Class::Write), SECTOR, "sectors written"),
    (7, Counted::OperationSeconds(Class::Write), MILLI, "ms writing"),
    (9, Counted::BusySeconds(Class::All), MILLI, "ms busy"),
    (10, Counted::QueueSeconds(Class::All), MILLI, "ms weighted"),
    (11, Counted::Operations(Class::Discard), 1.0, "discards"),
    (13, Counted::Bytes(Class::Discard), SECTOR, "sectors discarded"),
    (14, Counted::OperationSeconds(Class::Discard), MILLI, "ms discarding"),
    (15, Counted::Operations(Class::Flush), 1.0, "flushes"),
    (16, Counted::OperationSeconds(Class::Flush), MILLI, "ms flushing"),
];

/// Partitions of old kernels have these alone.
const OF_PARTITION: [(usize, usize); 4] = [(0, 0), (1, 2), (2, 4), (3, 6)];

#[derive(Default)]
pub(super) struct Table {
    layers: Layers,
    /// Where each device stands in the list of them.
    places: BTreeMap<String, usize>,
    devices: Vec<Device>,
    /// Names for origins.
    fields: Vec<Arc<str>>,
    rows: Vec<Row>,
    /// Snapshots that were handed over.
    round: u32,
    /// Devices among which was chosen.
    chosen: usize,
}

struct Device {
    name: Arc<str>,
    /// The last snapshot that it is in, from 1.
    round: u32,
    scope: Option<u32>,
}

struct Row {
    device: usize,
    line: u64,
    numbers: [u64; MOST],
    count: usize,
}

impl Table {
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// True when the snapshot at hand has this device already.
    pub(super) fn has(&self, name: &str) -> bool {
        self.places.get(name).is_some_and(|place| self.devices[*place].round == self.round + 1)
    }

    /// Adds a row to the snapshot at hand.
    pub(super) fn add(&mut self, name: &str, line: u64, numbers: &[u64; MOST], count: usize) {
        let Some(device) = self.place(name) else { return };
        self.devices[device].round = self.round + 1;
        let mut row = Row { device, line, numbers: *numbers, count: count.min(MOST) };
        if count == 4 {
            row.numbers = [0; MOST];
            for (from, to) in OF_PARTITION {
                row.numbers[to] = numbers[from];
            }
        }
        self.rows.push(row);
    }

    fn place(&mut self, name: &str) -> Option<usize> {
        if let Some(place) = self.places.get(name) {
            return Some(*place);
        }
        self.layers.learn(name).then_some(())?;
        self.devices.push(Device { name: Arc::from(name), round: 0, scope: None });
        self.places.insert(name.to_owned(), self.devices.len() - 1);
        Some(self.devices.len() - 1)
    }

    /// Hands over the snapshot at hand, `window` is that since the one before, where neither says when it was
    /// taken.
    pub(super) fn hand_over(
        &mut self,
        at: Option<DateTime>,
        age: Option<Span>,
        window: Option<u32>,
        out: &mut Builder,
    ) {
        if self.chosen < self.devices.len() {
            self.layers.choose();
            self.chosen = self.devices.len();
        }
        if self.fields.is_empty() {
            self.fields = COUNTERS.iter().map(|(.., name)| Arc::from(*name)).collect();
        }
        let mut rows = std::mem::take(&mut self.rows);
        for row in rows.drain(..) {
            let name = Arc::clone(&self.devices[row.device].name);
            if !self.layers.takes(&name) {
                continue;
            }
            let new = || out.scope(Scope { part: name.to_string(), ..Scope::default() });
            let scope = *self.devices[row.device].scope.get_or_insert_with(new);
            let origin = Origin { line: row.line, table: Some(name), field: Arc::from("") };
            let taken = Snapshot { scope, at, age, counts: self.counts(&row), origin };
            match window {
                Some(window) => out.snapshot_after(window, taken),
                None => out.snapshot(taken),
            }
        }
        self.rows = rows;
        self.round += 1;
    }

    fn counts(&self, row: &Row) -> Vec<Count> {
        let name = &self.devices[row.device].name;
        // Older kernels do not time the operations of arrays.
        let untimed = self.layers.layer(name) == Some(Layer::Array) && row.numbers[3] + row.numbers[7] == 0;
        let used = COUNTERS.iter().zip(&self.fields).filter(|((place, ..), _)| match row.count {
            4 => OF_PARTITION.iter().any(|(_, to)| to == place),
            count @ (..15) => *place < 11.min(count),
            count @ (..17) => *place < 15.min(count),
            _ => true,
        });
        let count = |((place, counted, unit, _), field): (&(usize, Counted, f64, &str), &Arc<str>)| Count {
            counted: counted.clone(),
            value: row.numbers[*place] as f64 * unit,
            wraps_at: Some(ROUND * unit),
            origin: Origin { line: row.line, table: Some(Arc::clone(name)), field: Arc::clone(field) },
        };
        used.filter(|((_, counted, ..), _)| !(untimed && counted.is_time())).map(count).collect()
    }

    /// Lists what was read and what was left out. How many devices were used.
    pub(super) fn finish(&self, out: &mut Builder) -> usize {
        let scopes = self.devices.iter().filter_map(|device| Some((device.scope?, self.layers.layer(&device.name)?)));
        out.arrays(scopes);
        let mut taken = 0;
        for device in &self.devices {
            let is_read = self.layers.takes(&device.name);
            taken += usize::from(is_read);
            out.part(&*device.name, if is_read { Fate::Read(self.round) } else { Fate::Ignored });
        }
        if self.layers.is_full() {
            out.caution(None, "more devices than are read of one input: give fewer of them");
        }
        taken
    }
}

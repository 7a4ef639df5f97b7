//! Wide tables of samples: a row for each time, and a column for each counter of each device, with a total beside the
//! devices in some of them. A total and its devices are never both counted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::civil::DateTime;
use plimsoll_language::label;
use plimsoll_units::Span;

use crate::builder::Builder;
use crate::devices::count_single_layer;
use crate::reading::{Class, Doubt, Fate, Measure, Origin, ReadingScope, ReadingWindow};
use crate::text::timestamp;

/// The year of times without a year, of which only differences are known: a leap year.
pub(crate) const UNDATED_YEAR: i16 = 1972;

/// A quantity of a counter: purpose, measure, and the conversion to base units.
pub(crate) type CounterQuantity = (Class, Measure, fn(f64) -> f64);

#[derive(Clone, Debug)]
pub(crate) struct WideColumn {
    /// Its position in a row.
    pub(crate) index: usize,
    pub(crate) name: String,
    /// Its device; an empty part is the total of all.
    pub(crate) scope: ReadingScope,
    pub(crate) quantity: CounterQuantity,
}

/// Converts rows to figures.
#[derive(Debug, Default)]
pub(crate) struct WideSamples {
    columns: Vec<ScopedColumn>,
    /// The length of windows without a preceding row, if the caller specified it.
    interval: Option<Span>,
    last: Option<DateTime>,
    /// The first row, until the second gives the length of its window.
    first: Option<WideRow>,
    went_back: bool,
    rows: u32,
}

#[derive(Debug)]
struct ScopedColumn {
    index: usize,
    name: Arc<str>,
    scope: u32,
    quantity: CounterQuantity,
}

/// The values of a time, by position.
#[derive(Clone, Debug)]
pub(crate) struct WideRow {
    pub(crate) at: DateTime,
    pub(crate) line: u64,
    pub(crate) values: Vec<Option<f64>>,
}

impl WideSamples {
    /// Selects columns: the first of equal quantities of a device; totals of reads and writes only if neither is known;
    /// devices, or their total if it has the same quantities.
    pub(crate) fn new(columns: Vec<WideColumn>, interval: Option<Span>, out: &mut Builder) -> Self {
        let mut samples = Self { interval, ..Self::default() };
        samples.extend(columns, out);
        samples
    }

    /// Sets the columns of the following rows.
    pub(crate) fn replace(&mut self, columns: Vec<WideColumn>, out: &mut Builder) {
        self.columns.clear();
        self.extend(columns, out);
    }

    /// Adds the columns of devices that appear after the first row.
    pub(crate) fn extend(&mut self, columns: Vec<WideColumn>, out: &mut Builder) {
        let mut quantities: BTreeSet<(ReadingScope, Class, Measure)> = BTreeSet::new();
        let key = |column: &WideColumn| (column.scope.clone(), column.quantity.0, column.quantity.1);
        let mut columns: Vec<WideColumn> =
            columns.into_iter().filter(|column| quantities.insert(key(column))).collect();
        let is_split = |column: &WideColumn| {
            let (class, measure, _) = column.quantity;
            let has = |class| quantities.contains(&(column.scope.clone(), class, measure));
            class == Class::All && (has(Class::Read) || has(Class::Write))
        };
        columns.retain(|column| !is_split(column));
        attribute_latencies(&mut columns);
        for (host, total) in incomplete_totals(&columns) {
            columns.retain(|column| column.scope.host != host || !column.scope.part.is_empty());
            out.caution(None, Doubt::TotalIncomplete { total });
        }
        let columns = columns.into_iter().map(|column| ScopedColumn {
            index: column.index,
            name: out.text(&column.name),
            scope: out.scope(column.scope),
            quantity: column.quantity,
        });
        self.columns.extend(columns);
    }

    /// True without a selected column.
    pub(crate) fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Adds a row, whose window begins with the preceding row. A row without values only gives its time.
    pub(crate) fn row(&mut self, row: WideRow, out: &mut Builder) {
        let has_values = self.columns.iter().any(|column| row.values.get(column.index).copied().flatten().is_some());
        let repeated = out.repeated_hour(row.at).filter(|_| self.last == Some(row.at));
        let at = repeated.unwrap_or(row.at);
        let row = WideRow { at, ..row };
        let length = self.last.map(|last| at.duration_since(last).as_secs_f64());
        match length {
            Some(seconds) if seconds > 0.0 => {
                let length = Span::from_secs_f64(seconds);
                if let Some(first) = self.first.take() {
                    self.put(&first, length, out);
                }
                if has_values {
                    self.put(&row, length, out);
                }
            }
            Some(_) if !self.went_back => {
                self.went_back = true;
                out.caution(Some(Origin::line(row.line)), Doubt::ClockStuck { item: label!("row") });
            }
            None if has_values => self.first = Some(row),
            Some(_) | None => {}
        }
        self.last = Some(at);
    }

    /// Sets the time before the next row: a row before it is not a sample.
    pub(crate) fn begin(&mut self, at: DateTime) {
        self.last = Some(at);
        self.first = None;
    }

    /// Ends the rows. Returns their number; a single row needs the length of its window.
    pub(crate) fn finish(&mut self, assumed: Option<Span>, out: &mut Builder) -> u32 {
        if let (Some(first), Some(length)) = (self.first.take(), self.interval.or(assumed)) {
            if self.interval.is_none() {
                out.caution(Some(Origin::line(first.line)), Doubt::LengthAssumed { length });
            }
            self.put(&first, length, out);
        }
        let count = out.count() as u32;
        if self.rows > 0 {
            out.part("samples", Fate::Read(count));
        }
        count_single_layer(out);
        out.doubt_parts();
        self.rows
    }

    fn put(&mut self, row: &WideRow, length: Span, out: &mut Builder) {
        self.rows += 1;
        let begin = timestamp::before(row.at, length).filter(|_| row.at.year() > UNDATED_YEAR);
        let window = ReadingWindow { begin, length };
        let window = if begin.is_some() { out.window(window) } else { out.sample(window) };
        let mut cells: BTreeMap<(u32, Class, Measure), (f64, Origin)> = BTreeMap::new();
        for column in &self.columns {
            let Some(value) = row.values.get(column.index).copied().flatten() else { continue };
            let (class, measure, convert) = column.quantity;
            let origin = Origin { line: row.line, table: None, field: Arc::clone(&column.name) };
            cells.insert((column.scope, class, measure), (convert(value), origin));
        }
        let of = |key: &(u32, Class, Measure)| cells.get(key).map(|(value, _)| *value);
        for ((scope, class, measure), (value, origin)) in &cells {
            let operations = of(&(*scope, *class, Measure::Iops));
            let bytes_s = of(&(*scope, *class, Measure::Throughput));
            let value = match measure {
                // Without operations these programs print zero.
                Measure::Latency | Measure::Size if operations == Some(0.0) || *value <= 0.0 => continue,
                Measure::Size if operations.is_some() && bytes_s.is_some() => continue,
                Measure::Busy => value.clamp(0.0, 1.0),
                _ => *value,
            };
            out.mean((*scope, window), *class, *measure, value, origin.clone());
            if let (Measure::Throughput, Some(operations)) = (measure, operations.filter(|_| value > 0.0))
                && operations > 0.0
            {
                out.mean((*scope, window), *class, Measure::Size, value / operations, origin.clone());
            }
        }
    }
}

/// Latencies of devices beside a total without latencies: that of a single device is the total's; otherwise the devices
/// replace the total if they have its rates.
fn attribute_latencies(columns: &mut Vec<WideColumn>) {
    let hosts: BTreeSet<String> = columns.iter().map(|column| column.scope.host.clone()).collect();
    for host in hosts {
        let of_host = || columns.iter().filter(|column| column.scope.host == host);
        let is_total = |column: &&WideColumn| column.scope.part.is_empty();
        let is_latency = |column: &&WideColumn| column.quantity.1 == Measure::Latency;
        if !of_host().any(|column| is_total(&column)) || of_host().filter(is_total).any(|column| is_latency(&column)) {
            continue;
        }
        let devices: BTreeSet<&str> = of_host().filter(is_latency).map(|column| column.scope.part.as_str()).collect();
        let has_rates = |device: &&str| {
            of_host().filter(is_total).all(|total| {
                let is_same = |column: &WideColumn| {
                    column.quantity.0 == total.quantity.0 && column.quantity.1 == total.quantity.1
                };
                of_host().any(|column| column.scope.part == *device && is_same(column))
            })
        };
        if let (1, Some(only)) = (devices.len(), devices.first().map(|device| (*device).to_owned())) {
            for column in columns.iter_mut().filter(|column| column.scope.host == host && column.scope.part == only) {
                if column.quantity.1 == Measure::Latency {
                    column.scope.part.clear();
                }
            }
        } else if !devices.is_empty() && devices.iter().all(has_rates) {
            columns.retain(|column| column.scope.host != host || !column.scope.part.is_empty());
        }
    }
}

/// Hosts whose total lacks a rate that their devices have, with the name of that class.
fn incomplete_totals(columns: &[WideColumn]) -> Vec<(String, &'static str)> {
    let mut rates: BTreeMap<&str, [BTreeSet<(Class, Measure)>; 2]> = BTreeMap::new();
    for column in columns {
        let (class, measure, _) = column.quantity;
        if matches!(measure, Measure::Iops | Measure::Throughput) {
            let of_host = rates.entry(column.scope.host.as_str()).or_default();
            of_host[usize::from(column.scope.part.is_empty())].insert((class, measure));
        }
    }
    let lacking = rates.into_iter().filter_map(|(host, [devices, total])| {
        let (class, _) = devices.iter().find(|rate| !total.contains(*rate)).filter(|_| !total.is_empty())?;
        Some((host.to_owned(), class.label()))
    });
    lacking.collect()
}

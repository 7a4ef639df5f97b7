//! Sampled tables: the declared meaning of columns, and conversion of their values to counters or figures.
//!
//! A format declares columns and finds their values; times, snapshots, windows and figures are handled here. A counter
//! becomes a [`Snapshot`], any other value a figure of its window.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use jiff::civil::DateTime;
use plimsoll_units::Span;

use crate::builder::{Builder, Risen};
use crate::devices::Devices;
use crate::form::FormatInput;
use crate::layers::Layer;
use crate::reading::{Class, Count, Counted, Figure, Measure, Origin, ReadingWindow, Snapshot, Statistic};
use crate::text::timestamp::{self, Taken};

/// A column of counts: its name in origins, the quantity, and the factor to base units.
pub(crate) struct SampledColumn(pub(crate) &'static str, pub(crate) Counted, pub(crate) f64);

/// The counters of a row, with a value for each column. Older kernels do not time the operations of arrays: an array
/// without any time has no time counters.
pub(crate) fn collect_counts(
    columns: &[SampledColumn],
    values: &[Option<f64>],
    (layer, wraps): (Layer, Wraps),
    place: &Origin,
    out: &mut Builder,
) -> Vec<Count> {
    let counted = || {
        columns.iter().zip(values).filter_map(|(column, value)| Some((column, value.filter(|value| *value >= 0.0)?)))
    };
    let is_timed =
        |(column, value): (&SampledColumn, f64)| matches!(column.1, Counted::OperationSeconds(_)) && value > 0.0;
    let untimed = layer == Layer::Array && !counted().any(is_timed);
    let count = |(SampledColumn(name, counted, unit), value): (&SampledColumn, f64)| Count {
        counted: counted.clone(),
        value: value * unit,
        wraps_at: (wraps == Wraps::At32Bits).then_some(4_294_967_296.0 * unit),
        origin: Origin { field: out.text(name), ..place.clone() },
    };
    counted().filter(|(column, _)| !(untimed && column.1.is_time())).map(count).collect()
}

/// Whether counters wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Wraps {
    #[default]
    Never,
    /// Counters of 32 bits. Times wrap at 32 bits on every kernel, other counters only on 32-bit kernels; values above
    /// 32 bits never wrap.
    At32Bits,
}

/// Counters of the devices of a host, sample by sample.
pub(crate) struct DeviceCounters {
    columns: &'static [SampledColumn],
    wraps: Wraps,
    devices: Devices,
    current: Vec<DeviceRow>,
    /// Index of the last sample of each device, from 1.
    observed: Vec<u32>,
    /// Number of emitted samples.
    pub(crate) samples: u32,
    /// Number of emitted rows of selected devices.
    pub(crate) rows: u32,
}

struct DeviceRow {
    device: usize,
    line: u64,
    values: Vec<Option<f64>>,
}

impl DeviceCounters {
    pub(crate) fn new(columns: &'static [SampledColumn], wraps: Wraps) -> Self {
        Self {
            columns,
            wraps,
            devices: Devices::default(),
            current: Vec::new(),
            observed: Vec::new(),
            samples: 0,
            rows: 0,
        }
    }

    /// True without rows in the current sample.
    pub(crate) fn is_empty(&self) -> bool {
        self.current.is_empty()
    }

    /// True if the current sample has a row of this device.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.devices.find(name).is_some_and(|device| self.observed[device] == self.samples + 1)
    }

    /// Adds a row to the current sample, with a value for each column.
    pub(crate) fn add(&mut self, name: &str, line: u64, values: Vec<Option<f64>>) {
        if let Some(device) = self.devices.place(name, false) {
            self.observed.resize(self.devices.len(), 0);
            self.observed[device] = self.samples + 1;
            self.current.push(DeviceRow { device, line, values });
        }
    }

    /// Emits the current sample.
    pub(crate) fn close(&mut self, at: Option<DateTime>, age: Option<Span>, out: &mut Builder) {
        self.devices.choose();
        self.devices.rewind();
        for DeviceRow { device, line, values } in self.current.drain(..) {
            let Some((name, scope, layer)) = self.devices.taken(device, "", out) else { continue };
            let origin = Origin { line, table: Some(name), field: out.text("") };
            self.rows += 1;
            let counts = collect_counts(self.columns, &values, (layer, self.wraps), &origin, out);
            out.snapshot(Snapshot { scope, at, age, counts, origin });
        }
        self.samples += 1;
    }

    pub(crate) fn devices(&self) -> &Devices {
        &self.devices
    }
}

/// Times of samples without their own: the caller's begin and interval.
#[derive(Clone, Debug, Default)]
pub(crate) struct SampleInterval {
    pub(crate) begin: Option<DateTime>,
    pub(crate) interval: Option<Span>,
    samples: u32,
}

impl SampleInterval {
    pub(crate) fn new(input: &FormatInput) -> Self {
        Self { begin: input.begin, interval: input.interval, samples: 0 }
    }

    /// The time of the next sample from a line between samples, or its interval, which precedes that of the caller.
    pub(crate) fn taken(&mut self, taken: Taken, out: &mut Builder) -> Option<DateTime> {
        match taken {
            Taken::At(at) => Some(out.instant(at)),
            Taken::Every(every) => {
                self.interval = Some(every);
                None
            }
        }
    }

    /// Time and age of the next sample: `at` if it is known.
    pub(crate) fn time(&mut self, at: Option<DateTime>) -> (Option<DateTime>, Option<Span>) {
        at.map_or_else(|| self.next(), |at| (Some(at), None))
    }

    /// Time and age of the next sample without a time. Its age is its distance from the first sample, which needs the
    /// begin only.
    pub(crate) fn next(&mut self) -> (Option<DateTime>, Option<Span>) {
        let number = self.samples;
        self.samples += 1;
        let apart = self.interval.map(|interval| interval.as_secs_f64() * f64::from(number));
        let begin = self.begin.filter(|_| apart.is_some() || number == 0);
        match begin {
            Some(begin) => (timestamp::later(begin, apart.unwrap_or(0.0)), None),
            None => (None, apart.map(Span::from_secs_f64)),
        }
    }
}

/// The relation of a value to its window.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Meaning {
    /// A total over the window.
    Sum(Counted),
    /// A rate per second.
    Rate(Counted),
    /// A mean or maximum.
    Gauge(Class, Measure, Statistic),
}

/// Emits the values of a scope in a window of `seconds`. Of duplicate quantities, as from two exports of a metric, the
/// first is used.
pub(crate) fn put(
    values: impl IntoIterator<Item = (Meaning, f64, Origin)>,
    (scope, window): (u32, u32),
    seconds: f64,
    out: &mut Builder,
) {
    let mut sums: Vec<(Counted, f64, Origin)> = Vec::new();
    for (meaning, value, origin) in values {
        let (counted, sum) = match meaning {
            Meaning::Sum(counted) => (counted, value),
            Meaning::Rate(counted) => (counted, value * seconds),
            Meaning::Gauge(class, measure, statistic) => {
                out.figure(Figure { scope, window, class, measure, statistic, value, origin });
                continue;
            }
        };
        if sums.iter().all(|(other, ..)| *other != counted) {
            sums.push((counted, sum, origin));
        }
    }
    let counts: Vec<_> = sums.iter().map(|(counted, sum, origin)| (counted, *sum, origin)).collect();
    if let Some((.., origin)) = counts.first() {
        Risen { counts: &counts, seconds, at: (scope, window) }.put(origin, out);
    }
}

/// The end of a window to which a timestamp refers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    Begin,
    End,
}

/// The values of a scope at a time.
type Values = Vec<(Meaning, f64, Origin)>;

/// Points of many series by time: windows are emitted in order, once for all series.
#[derive(Debug, Default)]
pub(crate) struct Points {
    by_moment: BTreeMap<DateTime, BTreeMap<u32, Values>>,
}

impl Points {
    pub(crate) fn add(&mut self, at: DateTime, scope: u32, meaning: Meaning, value: f64, origin: Origin) {
        self.by_moment.entry(at).or_default().entry(scope).or_default().push((meaning, value, origin));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_moment.is_empty()
    }

    /// Emits all points, and returns their number.
    pub(crate) fn put(self, length: Span, edge: Edge, out: &mut Builder) -> u32 {
        let (mut count, before) = (0, SignedDuration::try_from_secs_f64(length.as_secs_f64()).ok());
        for (at, scopes) in self.by_moment {
            let begin = match edge {
                Edge::Begin => Some(at),
                Edge::End => before.and_then(|before| at.checked_sub(before).ok()),
            };
            let window = out.window(ReadingWindow { begin, length });
            for (scope, points) in scopes {
                count += points.len() as u32;
                put(points, (scope, window), length.as_secs_f64(), out);
            }
        }
        count
    }
}

/// The interval of series: the smallest distance of neighbouring times, in seconds.
#[derive(Debug, Default)]
pub(crate) struct Spacing {
    smallest: Option<f64>,
}

impl Spacing {
    /// Adds the times of a series, in any order.
    pub(crate) fn learn(&mut self, moments: impl IntoIterator<Item = DateTime>) {
        let mut moments: Vec<DateTime> = moments.into_iter().collect();
        moments.sort_unstable();
        let gaps = moments.windows(2).map(|pair| pair[1].duration_since(pair[0]).as_secs_f64());
        self.smallest = gaps.filter(|gap| *gap > 0.0).chain(self.smallest).min_by(f64::total_cmp);
    }

    /// The length of a window: the smallest distance, unless that is the caller's interval with jitter; without either,
    /// none. [`Builder::check_interval`] adds the doubt about an interval that contradicts the times.
    pub(crate) fn length(&self, stated: Option<Span>) -> Option<Span> {
        let smallest = self.smallest.map(Span::from_secs_f64).filter(|length| !length.is_zero());
        let fits = |stated: &Span| smallest.is_none_or(|smallest| Builder::is_interval(smallest, *stated));
        stated.filter(fits).or(smallest).filter(|length| !length.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use plimsoll_units::Span;

    use super::{Edge, Meaning, Points, Spacing};
    use crate::builder::Builder;
    use crate::reading::{Class, Counted, Measure, Origin, ReadingScope, Statistic};

    fn check(points: &[(i8, u32, Meaning, f64)], edge: Edge, expected: &[(i8, u32, Measure, f64)]) {
        let at = |minute| date(2026, 3, 2).at(9, minute, 0, 0);
        let (mut all, mut spacing) = (Points::default(), Spacing::default());
        spacing.learn(points.iter().map(|(minute, ..)| at(*minute)));
        for (minute, scope, meaning, value) in points {
            all.add(at(*minute), *scope, meaning.clone(), *value, Origin::line(1));
        }
        let mut out = Builder::test();
        for part in ["a", "b"] {
            out.scope(ReadingScope { part: part.to_owned(), ..ReadingScope::default() });
        }
        assert_eq!(all.put(spacing.length(None).unwrap(), edge, &mut out), points.len() as u32);
        let reading = out.finish().unwrap();
        let minute = |window: u32| reading.windows[window as usize].begin.unwrap().minute();
        let figures = reading.figures.iter();
        let found: Vec<_> = figures.map(|f| (minute(f.window), f.scope, f.measure, f.value)).collect();
        assert_eq!(found, expected);
        assert!(reading.windows.iter().all(|window| window.length == Span::from_secs(300)));
    }

    #[test]
    fn windows_are_in_order_of_time() {
        let reads = || Meaning::Sum(Counted::Operations(Class::Read));
        let points = [(10, 0, reads(), 600.0), (5, 1, reads(), 300.0), (5, 0, reads(), 900.0), (5, 0, reads(), 900.0)];
        let iops = Measure::Iops;
        check(&points, Edge::Begin, &[(5, 0, iops, 3.0), (5, 1, iops, 1.0), (10, 0, iops, 2.0)]);
        check(&points[..2], Edge::End, &[(0, 1, iops, 1.0), (5, 0, iops, 2.0)]);
    }

    #[test]
    fn sums_and_rates_give_sizes_and_latencies() {
        let points = [
            (5, 0, Meaning::Rate(Counted::Operations(Class::Read)), 2.0),
            (5, 0, Meaning::Sum(Counted::Bytes(Class::Read)), 600.0 * 8_192.0),
            (5, 0, Meaning::Sum(Counted::OperationSeconds(Class::Read)), 0.6),
            (10, 0, Meaning::Gauge(Class::All, Measure::Depth, Statistic::Mean), 4.0),
        ];
        let expected = [
            (5, 0, Measure::Iops, 2.0),
            (5, 0, Measure::Throughput, 16_384.0),
            (5, 0, Measure::Size, 8_192.0),
            (5, 0, Measure::Latency, 0.001),
            (10, 0, Measure::Depth, 4.0),
        ];
        check(&points, Edge::Begin, &expected);
    }
}

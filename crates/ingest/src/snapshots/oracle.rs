//! What the script of `plimsoll collect oracle` spools: history of AWR, or samples of V$ views, row by row.
//!
//! Rows name their instance and moment. When all are there, counters become snapshots; metrics add the highest minute of
//! each window, and the means where no counters cover it.

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use plimsoll_units::Span;
use serde_json::{Map, Value};

use super::{KIND, at, number, span, text};
use crate::builder::Builder;
use crate::counters::Counters;
use crate::figure::{Class, Figure, Measure, Origin, Scope, Statistic, Window};
use crate::reading::{Database, Fate, Wait};
use crate::refusal::Refusal;
use crate::snapshot::{Counted, Snapshot};
use crate::timestamp;

/// Snapshots of all instances together: more are another input.
const MOST_SNAPSHOTS: usize = 200_000;

/// An instance, and when it was looked at.
type Key = (String, DateTime);

/// Counts by upper bound in microseconds.
type Buckets = BTreeMap<u64, f64>;

pub(super) struct Script {
    scope: Scope,
    moments: BTreeMap<Key, Moment>,
    hosts: BTreeMap<String, Map<String, Value>>,
    read: BTreeMap<String, u32>,
    refused: bool,
}

#[derive(Default)]
struct Moment {
    line: u64,
    started: Option<DateTime>,
    whole: Counters,
    files: BTreeMap<String, Counters>,
    events: BTreeMap<String, Event>,
    metrics: Vec<Metric>,
}

/// What sessions waited for so far.
struct Event {
    line: u64,
    foreground: bool,
    waits: f64,
    seconds: Option<f64>,
    buckets: Buckets,
}

/// A metric of the window that ends at a moment.
struct Metric {
    line: u64,
    name: String,
    begin: Option<DateTime>,
    length: Span,
    mean: Option<f64>,
    highest: Option<f64>,
}

impl Script {
    pub(super) fn new(scope: Scope) -> Self {
        Self { scope, moments: BTreeMap::new(), hosts: BTreeMap::new(), read: BTreeMap::new(), refused: false }
    }

    /// Takes a row.
    pub(super) fn row(&mut self, row: &Map<String, Value>, line: u64, out: &mut Builder) {
        let Some(kind) = text(row, "row") else { return };
        let instance = number(row, "inst").map_or_else(String::new, |number| number.to_string());
        *self.read.entry(kind.to_owned()).or_default() += 1;
        match kind {
            "host" => {
                self.hosts.insert(instance, row.clone());
            }
            _ => self.put(kind, row, instance, line, out),
        }
    }

    fn put(&mut self, kind: &str, row: &Map<String, Value>, instance: String, line: u64, out: &mut Builder) {
        let Some(at) = at(row).map(|at| out.instant(at)) else {
            return out.caution(Some(Origin::line(line)), "a row without its moment: left out");
        };
        let key = (instance, at);
        if self.moments.len() >= MOST_SNAPSHOTS && !self.moments.contains_key(&key) {
            if !std::mem::replace(&mut self.refused, true) {
                out.caution(Some(Origin::line(line)), "more snapshots than are kept: give the spooled file in parts");
            }
            return;
        }
        let moment = self.moments.entry(key).or_default();
        if moment.line == 0 {
            moment.line = line;
        }
        let time = |key: &str, out: &mut Builder| timestamp::parse(text(row, key)?).map(|at| out.instant(at));
        moment.started = moment.started.or_else(|| time("started", out));
        moment.add(kind, row, time("begin", out), line);
    }

    /// All rows are there.
    pub(super) fn end(self, out: &mut Builder) -> Result<Scope, Refusal> {
        if self.read.is_empty() {
            let what = "no row of it could be read: run the script again, and look at its last lines".to_owned();
            return Err(Refusal::Unusable { kind: KIND, origin: None, what });
        }
        let mut before: Option<(&Key, &Moment)> = None;
        for (key, moment) in &self.moments {
            let earlier = before.filter(|(other, _)| other.0 == key.0);
            self.snapshots(key, moment, out);
            let pair = earlier.filter(|(_, earlier)| earlier.started == moment.started && !moment.whole.is_empty());
            let scope = out.scope(Scope { instance: key.0.clone(), ..self.scope.clone() });
            let between = pair.and_then(|((_, begin), earlier)| {
                let length = span(key.1.duration_since(*begin).as_secs_f64())?;
                Some((out.window(Window { begin: Some(*begin), length }), earlier))
            });
            if let Some((window, earlier)) = between {
                moment.waits(earlier, (scope, window), out);
            }
            moment.metrics(scope, between.map(|(window, _)| window), out);
            before = Some((key, moment)).filter(|_| !moment.whole.is_empty()).or(earlier);
        }
        for (instance, host) in &self.hosts {
            self.host(instance, host, out);
        }
        for (kind, rows) in self.read {
            out.part(kind, Fate::Read(rows));
        }
        Ok(self.scope)
    }

    fn snapshots(&self, (instance, at): &Key, moment: &Moment, out: &mut Builder) {
        let age = moment.started.and_then(|started| span(at.duration_since(started).as_secs_f64()));
        let files = moment.files.iter().map(|(file, counters)| (format!("file {file}"), counters));
        let whole = [(String::new(), &moment.whole)].into_iter().filter(|(_, counters)| !counters.is_empty());
        for (part, counters) in whole.chain(files) {
            let scope = out.scope(Scope { instance: instance.clone(), part, ..self.scope.clone() });
            let counts = counters.counts(None, out);
            out.snapshot(Snapshot { scope, at: Some(*at), age, counts, origin: Origin::line(moment.line) });
        }
    }

    fn host(&self, instance: &str, host: &Map<String, Value>, out: &mut Builder) {
        let Some(window) = out.latest_window() else { return };
        let database = Database {
            scope: out.scope(Scope { instance: instance.to_owned(), ..self.scope.clone() }),
            window,
            block_bytes: number(host, "block_bytes"),
            cache_bytes: number(host, "cache_bytes"),
            processors: number(host, "processors"),
            cores: number(host, "cores"),
            memory_bytes: number(host, "memory_bytes"),
            origin: Origin { line: 0, table: None, field: out.text("host") },
        };
        out.database(database);
    }
}

/// What a metric of `DBA_HIST_SYSMETRIC_SUMMARY` is, and its unit in ours.
fn metric(name: &str) -> Option<(Class, Measure, f64)> {
    Some(match name {
        "Physical Read Total IO Requests Per Sec" => (Class::Read, Measure::Iops, 1.0),
        "Physical Write Total IO Requests Per Sec" => (Class::Write, Measure::Iops, 1.0),
        "Physical Read Total Bytes Per Sec" => (Class::Read, Measure::Throughput, 1.0),
        "Physical Write Total Bytes Per Sec" => (Class::Write, Measure::Throughput, 1.0),
        "Redo Generated Per Sec" => (Class::RedoWrite, Measure::Throughput, 1.0),
        "Redo Writes Per Sec" => (Class::RedoWrite, Measure::Iops, 1.0),
        "Average Synchronous Single-Block Read Latency" => (Class::RandomRead, Measure::Latency, 1e-3),
        _ => return None,
    })
}

impl Moment {
    fn add(&mut self, kind: &str, row: &Map<String, Value>, begin: Option<DateTime>, line: u64) {
        let name = text(row, "name").unwrap_or_default();
        match kind {
            "filetype" => self.file_type(text(row, "type").unwrap_or_default(), row, line),
            "file" => self.file(row, line),
            "time" => {
                let counted = match name {
                    "DB time" => Counted::DatabaseSeconds,
                    "DB CPU" => Counted::ProcessorSeconds,
                    _ => return,
                };
                self.whole.add(counted, number(row, "seconds"), (line, "time", "seconds"));
            }
            "stat" if name == "user commits" => {
                self.whole.add(Counted::Commits, number(row, "value"), (line, "stat", "user commits"));
            }
            "event" => {
                let event = self.event(name, line);
                event.waits = number(row, "waits").unwrap_or_default();
                event.seconds = number(row, "seconds");
                event.foreground = number(row, "foreground").is_none_or(|waits| waits > 0.0);
            }
            "bucket" => {
                let (Some(upto), Some(waits)) = (number(row, "upto_us"), number(row, "waits")) else { return };
                *self.event(name, line).buckets.entry(upto.max(0.0) as u64).or_default() += waits;
            }
            "metric" => {
                let Some(length) = number(row, "seconds").and_then(span).filter(|length| *length > Span::ZERO) else {
                    return;
                };
                let (mean, highest) = (number(row, "mean"), number(row, "max"));
                self.metrics.push(Metric { line, name: name.to_owned(), begin, length, mean, highest });
            }
            _ => {}
        }
    }

    /// Small requests are of one block or little more, large ones of many.
    fn file_type(&mut self, name: &str, row: &Map<String, Value>, line: u64) {
        let [small, large, write] = match name {
            "Data File" => [Some(Class::RandomRead), Some(Class::SequentialRead), Some(Class::DataWrite)],
            "Temp File" => [Some(Class::TempRead), Some(Class::TempRead), Some(Class::TempWrite)],
            "Log File" => [None, None, Some(Class::RedoWrite)],
            _ => [None; 3],
        };
        for (total, class, count, megabytes, time) in [
            (Class::Read, small, "small_reads", "small_read_mb", "small_read_ms"),
            (Class::Read, large, "large_reads", "large_read_mb", "large_read_ms"),
            (Class::Write, write, "small_writes", "small_write_mb", "small_write_ms"),
            (Class::Write, write, "large_writes", "large_write_mb", "large_write_ms"),
        ] {
            let bytes = number(row, megabytes).map(|megabytes| megabytes * 1_048_576.0);
            let seconds = number(row, time).map(|milliseconds| milliseconds / 1e3);
            for class in [Some(total), class].into_iter().flatten() {
                self.whole.add(Counted::Operations(class), number(row, count), (line, "filetype", count));
                self.whole.add(Counted::Bytes(class), bytes, (line, "filetype", megabytes));
                self.whole.add(Counted::OperationSeconds(class), seconds, (line, "filetype", time));
            }
        }
    }

    fn file(&mut self, row: &Map<String, Value>, line: u64) {
        let Some(file) = number(row, "file") else { return };
        let counters = self.files.entry(file.to_string()).or_default();
        for (class, count, bytes) in [
            (Class::Read, "reads", "bytes_read"),
            (Class::RandomRead, "single_reads", ""),
            (Class::Write, "writes", "bytes_written"),
        ] {
            counters.add(Counted::Operations(class), number(row, count), (line, "file", count));
            if !bytes.is_empty() {
                counters.add(Counted::Bytes(class), number(row, bytes), (line, "file", bytes));
            }
        }
    }

    fn event(&mut self, name: &str, line: u64) -> &mut Event {
        let new = || Event { line, foreground: true, waits: 0.0, seconds: None, buckets: Buckets::new() };
        self.events.entry(name.to_owned()).or_insert_with(new)
    }

    /// What sessions waited for since an earlier moment, and how long single waits took.
    fn waits(&self, earlier: &Self, (scope, window): (u32, u32), out: &mut Builder) {
        for (name, event) in &self.events {
            let Some(before) = earlier.events.get(name) else { continue };
            let (count, seconds) = (event.waits - before.waits, event.seconds.zip(before.seconds));
            let Some(total_s) =
                seconds.map(|(after, before)| after - before).filter(|total| *total >= 0.0 && count >= 0.0)
            else {
                continue;
            };
            let origin = out.origin(event.line, "event", name);
            out.wait(Wait {
                scope,
                window,
                event: name.clone(),
                foreground: event.foreground,
                count,
                total_s,
                histogram: histogram(&before.buckets, &event.buckets),
                origin,
            });
        }
    }

    /// Metrics of the window that ends here: maxima, and means where counters say nothing of it.
    fn metrics(&self, scope: u32, counted: Option<u32>, out: &mut Builder) {
        for one in &self.metrics {
            let Some((class, measure, scale)) = metric(&one.name) else { continue };
            let window = counted.unwrap_or_else(|| out.window(Window { begin: one.begin, length: one.length }));
            let mean = one.mean.filter(|_| counted.is_none());
            for (value, statistic) in [(mean, Statistic::Mean), (one.highest, Statistic::Maximum)] {
                let Some(value) = value else { continue };
                let origin = out.origin(one.line, "metric", &one.name);
                out.figure(Figure { scope, window, class, measure, statistic, value: value * scale, origin });
            }
        }
    }
}

/// Shares of waits by how long they took, out of counts at two moments; the last bucket has no bound. Empty where
/// nothing was counted, or an instance began anew.
fn histogram(before: &Buckets, after: &Buckets) -> Vec<(f64, f64)> {
    let rises: Vec<(u64, f64)> =
        after.iter().map(|(upto, count)| (*upto, count - before.get(upto).copied().unwrap_or(0.0))).collect();
    let count: f64 = rises.iter().map(|(_, rise)| rise).sum();
    if count <= 0.0 || rises.iter().any(|(_, rise)| *rise < 0.0) {
        return Vec::new();
    }
    let last = rises.last().map(|(upto, _)| *upto);
    let bound = |upto: u64| if Some(upto) == last { f64::INFINITY } else { upto as f64 / 1e6 };
    rises.iter().map(|(upto, rise)| (bound(*upto), rise / count)).collect()
}

//! Snapshots collected by plimsoll, or spooled by its script for Oracle: `plimsoll.snapshots/1`.
//!
//! Each line is a JSON object: first the head, with the owner of the counters, then a line for each time with the
//! server's own names. A truncated file therefore loses only its last line, and the evaluation of counters can improve
//! after their collection. Other lines are remarks of a client and skipped.

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use plimsoll_language::label;
use plimsoll_units::Span;
use serde_json::{Map, Value};

use crate::builder::Builder;
use crate::ebs::{self, EbsStatistics};
use crate::form::{Form, FormatInput, Head, LineFormat, Resemblance};
use crate::json::{self, number_at as number, text_at as text};
use crate::layers::{self, Layer};
use crate::mysql::{self, ServerSamples};
use crate::postgres::{self, Cluster};
use crate::reading::{
    Class, Counted, Database, Doubt, Fate, Figure, Measure, Multipath, Origin, ReadingScope, ReadingWindow, Resource,
    ResourceFigure, Snapshot, Statistic, Wait, WaitCause,
};
use crate::refusal::{InputFault, Refusal};
use crate::sampled::{self, SampledColumn, Wraps};
use crate::snapshot::Counters;
use crate::text::timestamp::{self, Stamp, Taken};
use crate::text::{MIB, MILLI, SECTOR};

/// Snapshots of `plimsoll collect`.
pub(crate) const FORM: Form = Form::lines("plimsoll-snapshots", "snapshots of plimsoll collect", resembles, |input| {
    Box::new(SnapshotLog { input: input.clone(), head: Map::new(), source: None, line: 0, broken: 0, samples: 0 })
});

/// The name and the version of the format in the head.
const FORMAT: &str = "plimsoll.snapshots/";
const VERSION: &str = "1";

fn resembles(head: &Head<'_>) -> Resemblance {
    let named = head.has(FORMAT);
    Resemblance::is(50, named && head.has("\"format\"")).or_near(2, named, "head line with its format")
}

#[derive(Default)]
struct SnapshotLog {
    input: FormatInput,
    head: Map<String, Value>,
    source: Option<CounterOwner>,
    line: u64,
    broken: u32,
    samples: u32,
}

enum CounterOwner {
    Postgres(Box<Cluster>, u64),
    Mysql(Box<ServerSamples>),
    Linux(ReadingScope),
    Oracle(Box<Script>),
    Ebs(ReadingScope),
}

impl LineFormat for SnapshotLog {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        self.line = number;
        let line = line.trim();
        if !line.starts_with('{') {
            return Ok(());
        }
        let Ok(Value::Object(object)) = serde_json::from_str(line) else {
            self.broken += 1;
            out.caution(Some(Origin::line(number)), Doubt::InvalidJson { item: label!("a line") });
            return Ok(());
        };
        if let Some(format) = text(&object, "format") {
            let format = format.to_owned();
            return self.begin(&format, object, out);
        }
        if let Some(note) = text(&object, "note") {
            out.caution(Some(Origin::line(number)), Doubt::CollectorNote { note: note.to_owned() });
            return Ok(());
        }
        if let Some(source) = &mut self.source {
            source.take(&object, number, out);
            self.samples += 1;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        let Some(source) = self.source.take() else {
            return Err(out.unusable(InputFault::missing("head line", &["the unmodified file from plimsoll collect"])));
        };
        out.require(self.samples > 0, InputFault::missing("snapshot", &["a collection longer than its interval"]))?;
        let scope = source.end(out)?;
        self.database(scope, out);
        if self.broken > 0 {
            out.part("snapshots", Fate::Broken);
        }
        Ok(())
    }
}

impl SnapshotLog {
    fn begin(&mut self, format: &str, head: Map<String, Value>, out: &mut Builder) -> Result<(), Refusal> {
        let place = Origin::line(self.line);
        if format.strip_prefix(FORMAT) != Some(VERSION) {
            let value = format.to_owned();
            return Err(out.unusable_at(place, InputFault::UnknownProperty { property: "format", value }));
        }
        if let Some(version) = text(&head, "version") {
            let version = version.split_whitespace().next().unwrap_or(version);
            match text(&head, "source") {
                Some("oracle") => out.oracle_release(version),
                _ => out.version(version),
            }
        }
        let name = |key| text(&head, key).unwrap_or_default().to_owned();
        let scope = ReadingScope { database: name("server"), host: name("host"), ..ReadingScope::default() };
        let same = self.head.get("source") == head.get("source") && self.head.get("server") == head.get("server");
        // Concatenated files of the same source.
        if self.source.is_some() && same {
            return Ok(());
        }
        if let Some(before) = self.source.take() {
            before.end(out)?;
        }
        self.source = Some(match text(&head, "source") {
            Some("postgres") => CounterOwner::Postgres(
                Box::new(Cluster::new(&self.input, scope).block(number(&head, "block_bytes"))),
                0,
            ),
            Some("mysql") => CounterOwner::Mysql(Box::new(ServerSamples::new(&self.input, scope))),
            Some("linux") => {
                let scope = ReadingScope { database: String::new(), ..scope };
                linux_head(&head, &scope, out);
                CounterOwner::Linux(scope)
            }
            Some("oracle") => CounterOwner::Oracle(Box::new(Script::new(scope))),
            Some("ebs") => CounterOwner::Ebs(ReadingScope { database: String::new(), ..scope }),
            other => {
                let value = other.unwrap_or("missing").to_owned();
                return Err(out.unusable_at(place, InputFault::UnknownProperty { property: "source", value }));
            }
        });
        self.head = head;
        Ok(())
    }

    /// The server and its host, from the head.
    fn database(&self, scope: ReadingScope, out: &mut Builder) {
        let of = |key| number(&self.head, key);
        let Some(window) = out.latest_window() else { return };
        let database = Database {
            scope: out.scope(scope),
            window,
            block_bytes: of("block_bytes"),
            cache_bytes: of("cache_bytes"),
            processors: of("processors"),
            cores: None,
            memory_bytes: of("memory_bytes"),
            stored_bytes: None,
            origin: Origin::line(1),
        };
        let existing = [database.block_bytes, database.cache_bytes, database.processors, database.memory_bytes];
        if existing.iter().any(Option::is_some) {
            let shared = match text(&self.head, "source") {
                Some("postgres") => Resource::SharedBuffers,
                _ => Resource::SharedMemory,
            };
            resources(&self.head, ("cache_bytes", shared), (database.scope, window, 1), out);
            out.database(database);
        }
    }
}

/// Emits memory and processors from the head of a file or the row of a host.
fn resources(
    object: &Map<String, Value>,
    shared: (&str, Resource),
    (scope, window, line): (u32, u32, u64),
    out: &mut Builder,
) {
    let names = [
        shared,
        ("pga_bytes", Resource::ProcessMemory),
        ("processors", Resource::HostProcessors),
        ("memory_bytes", Resource::HostMemory),
    ];
    for (name, resource) in names {
        let Some(value) = number(object, name) else { continue };
        let origin = Origin { line, table: None, field: out.text(name) };
        out.resource(ResourceFigure { scope, window, instance: String::new(), resource, value, origin });
    }
}

impl CounterOwner {
    fn take(&mut self, object: &Map<String, Value>, line: u64, out: &mut Builder) {
        match self {
            Self::Postgres(cluster, table) => {
                let total = Value::Object(object.clone());
                postgres::read_value(cluster, &total, table, line, out);
                cluster.finish(out);
            }
            Self::Mysql(server) => {
                if let Some(at) = read_time(object) {
                    server.taken(Taken::At(at), out);
                }
                let status = object.get("status").and_then(Value::as_object).into_iter().flatten();
                for (name, value) in status {
                    if let Some(variable) = mysql::variable(name) {
                        server.values(variable, [json::number(value)].into_iter(), line, out);
                    }
                }
                server.finish(out);
            }
            Self::Linux(scope) => linux_sample(scope, object, line, out),
            Self::Oracle(script) => script.row(object, line, out),
            Self::Ebs(scope) => ebs_sample(scope, object, line, out),
        }
    }

    /// Ends the input and returns the owner of the counters.
    fn end(self, out: &mut Builder) -> Result<ReadingScope, Refusal> {
        match self {
            Self::Postgres(mut cluster, _) => cluster.end(out).map(|()| cluster.scope),
            Self::Mysql(mut server) => server.end(out).map(|()| server.scope),
            Self::Linux(scope) | Self::Ebs(scope) => Ok(scope),
            Self::Oracle(script) => script.end(out),
        }
    }
}

fn read_time(object: &Map<String, Value>) -> Option<Stamp> {
    timestamp::parse(text(object, "at")?)
}

/// Seconds as a span, if valid.
fn span(seconds: f64) -> Option<Span> {
    (0.0..1e10).contains(&seconds).then(|| Span::from_secs_f64(seconds))
}

fn linux_head(head: &Map<String, Value>, scope: &ReadingScope, out: &mut Builder) {
    for (array, members) in head.get("arrays").and_then(Value::as_object).into_iter().flatten() {
        let members: Vec<&str> = members.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for member in &members {
            let scope = out.scope(ReadingScope { part: (*member).to_owned(), ..scope.clone() });
            out.set_beneath(scope);
        }
        let disks = members.join(", ");
        out.caution(None, Doubt::ArrayCounted { array: array.clone(), disks });
    }
    for (name, multipath) in head.get("multipaths").and_then(Value::as_object).into_iter().flatten() {
        let groups = multipath.get("groups").and_then(Value::as_array).into_iter().flatten();
        let small = |value: &Value| value.as_u64().and_then(|value| u32::try_from(value).ok());
        let groups: Vec<u32> = groups.filter_map(small).collect();
        let scope = out.scope(scope.clone());
        let queue_depth = multipath.get("queue_depth").and_then(small);
        out.multipath(Multipath { scope, name: name.clone(), groups, queue_depth });
    }
    for name in head.get("left_out").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        out.part(name, Fate::Ignored);
    }
    for name in head.get("devices").and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name) {
        out.part(name.as_str(), Fate::Read(0));
    }
}

/// Adds the counters of a time.
fn linux_sample(scope: &ReadingScope, object: &Map<String, Value>, line: u64, out: &mut Builder) {
    let (at, age) = (read_time(object).map(|at| out.instant(at)), number(object, "uptime_s").and_then(span));
    let devices = object.get("devices").and_then(Value::as_object).into_iter().flatten();
    for (name, device) in devices {
        let Some(device) = device.as_object() else { continue };
        let scope = out.scope(ReadingScope { part: name.clone(), ..scope.clone() });
        let values = DEVICE.each_ref().map(|column| number(device, column.0));
        let layer = layers::find_layer(name).unwrap_or(Layer::Disk);
        let counts =
            sampled::collect_counts(&DEVICE, &values, (layer, Wraps::Never), &out.origin(line, "devices", ""), out);
        out.snapshot(Snapshot { scope, at, age, counts, origin: Origin::line(line) });
    }
    let pressure = read_pressure(object, line);
    if !pressure.is_empty() {
        // Pressure affects the whole host, and is not demand.
        let (scope, counts) = (out.scope(scope.clone()), pressure.counts(None, out));
        out.snapshot(Snapshot { scope, at, age, counts, origin: Origin::line(line) });
    }
}

/// Adds the statistics of EBS volumes at a time.
fn ebs_sample(scope: &ReadingScope, object: &Map<String, Value>, line: u64, out: &mut Builder) {
    let instant = read_time(object).map(|at| out.instant(at));
    let volumes = object.get("volumes").and_then(Value::as_object).into_iter().flatten();
    for (name, statistics) in volumes {
        let Some(statistics) = statistics.as_object().map(EbsStatistics::of_json) else { continue };
        let scope = ReadingScope { part: name.clone(), ..scope.clone() };
        ebs::put(&statistics, scope, (instant, None), line, out);
    }
}

/// The columns of `/proc/diskstats` by their names in a snapshot.
const DEVICE: [SampledColumn; 13] = [
    SampledColumn("reads", Counted::Operations(Class::Read), 1.0),
    SampledColumn("writes", Counted::Operations(Class::Write), 1.0),
    SampledColumn("flushes", Counted::Operations(Class::Flush), 1.0),
    SampledColumn("discards", Counted::Operations(Class::Discard), 1.0),
    SampledColumn("sectors_read", Counted::Bytes(Class::Read), SECTOR),
    SampledColumn("sectors_written", Counted::Bytes(Class::Write), SECTOR),
    SampledColumn("sectors_discarded", Counted::Bytes(Class::Discard), SECTOR),
    SampledColumn("ms_reading", Counted::OperationSeconds(Class::Read), MILLI),
    SampledColumn("ms_writing", Counted::OperationSeconds(Class::Write), MILLI),
    SampledColumn("ms_flushing", Counted::OperationSeconds(Class::Flush), MILLI),
    SampledColumn("ms_discarding", Counted::OperationSeconds(Class::Discard), MILLI),
    SampledColumn("ms_weighted", Counted::QueueSeconds(Class::All), MILLI),
    SampledColumn("ms_busy", Counted::BusySeconds(Class::All), MILLI),
];

/// Seconds in which some tasks, or all tasks, were stalled on storage.
fn read_pressure(object: &Map<String, Value>, line: u64) -> Counters {
    let mut counters = Counters::default();
    let Some(pressure) = object.get("pressure_io").and_then(Value::as_object) else { return counters };
    for (field, event) in [("some_us", "io pressure, some tasks"), ("full_us", "io pressure, all tasks")] {
        let seconds = number(pressure, field).map(|micros| micros / 1e6);
        counters.add(Counted::WaitSeconds(event.to_owned()), seconds, (line, "pressure_io", field));
    }
    counters
}

/// Maximum snapshots of all instances.
const MAX_SNAPSHOTS: usize = 200_000;

/// An instance and the time of a snapshot.
type SnapshotKey = (String, DateTime);

/// Counts by upper bound in microseconds.
type Buckets = BTreeMap<u64, f64>;

#[derive(Default)]
struct Script {
    scope: ReadingScope,
    moments: BTreeMap<SnapshotKey, Moment>,
    hosts: BTreeMap<String, Map<String, Value>>,
    read: BTreeMap<String, u32>,
    refused: bool,
}

#[derive(Default)]
struct Moment {
    line: u64,
    started: Option<DateTime>,
    total: Counters,
    files: BTreeMap<String, Counters>,
    events: BTreeMap<String, WaitEvent>,
    metrics: Vec<Metric>,
}

/// Waits of sessions so far.
struct WaitEvent {
    line: u64,
    foreground: bool,
    waits: f64,
    seconds: Option<f64>,
    buckets: Buckets,
}

/// A metric of the window that ends at a snapshot.
struct Metric {
    line: u64,
    name: String,
    begin: Option<DateTime>,
    length: Span,
    mean: Option<f64>,
    highest: Option<f64>,
}

impl Script {
    fn new(scope: ReadingScope) -> Self {
        Self { scope, ..Self::default() }
    }

    fn row(&mut self, row: &Map<String, Value>, line: u64, out: &mut Builder) {
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
        let Some(at) = read_time(row).map(|at| out.instant(at)) else {
            return out.caution(Some(Origin::line(line)), Doubt::lacking("a row", "its time"));
        };
        let key = (instance, at);
        if self.moments.len() >= MAX_SNAPSHOTS && !self.moments.contains_key(&key) {
            if !std::mem::replace(&mut self.refused, true) {
                out.caution(Some(Origin::line(line)), Doubt::TooManySnapshots);
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

    fn end(self, out: &mut Builder) -> Result<ReadingScope, Refusal> {
        out.require(!self.read.is_empty(), InputFault::NoSpooledRow)?;
        let mut before: Option<(&SnapshotKey, &Moment)> = None;
        for (key, moment) in &self.moments {
            let earlier = before.filter(|(other, _)| other.0 == key.0);
            self.snapshots(key, moment, out);
            let pair = earlier.filter(|(_, earlier)| earlier.started == moment.started && !moment.total.is_empty());
            let scope = out.scope(ReadingScope { instance: key.0.clone(), ..self.scope.clone() });
            let between = pair.and_then(|((_, begin), earlier)| {
                let length = span(key.1.duration_since(*begin).as_secs_f64())?;
                Some((out.window(ReadingWindow { begin: Some(*begin), length }), earlier))
            });
            if let Some((window, earlier)) = between {
                moment.waits(earlier, (scope, window), out);
            }
            moment.metrics(scope, between.map(|(window, _)| window), out);
            before = Some((key, moment)).filter(|_| !moment.total.is_empty()).or(earlier);
        }
        for (instance, host) in &self.hosts {
            self.host(instance, host, out);
        }
        for (kind, rows) in self.read {
            out.part(kind, Fate::Read(rows));
        }
        Ok(self.scope)
    }

    fn snapshots(&self, (instance, at): &SnapshotKey, moment: &Moment, out: &mut Builder) {
        let age = moment.started.and_then(|started| span(at.duration_since(started).as_secs_f64()));
        out.divide();
        let files = moment.files.iter().map(|(file, counters)| (format!("file {file}"), counters));
        let total = [(String::new(), &moment.total)].into_iter().filter(|(_, counters)| !counters.is_empty());
        for (part, counters) in total.chain(files) {
            let scope = out.scope(ReadingScope { instance: instance.clone(), part, ..self.scope.clone() });
            let counts = counters.counts(None, out);
            out.snapshot(Snapshot { scope, at: Some(*at), age, counts, origin: Origin::line(moment.line) });
        }
    }

    fn host(&self, instance: &str, host: &Map<String, Value>, out: &mut Builder) {
        let Some(window) = out.latest_window() else { return };
        let database = Database {
            scope: out.scope(ReadingScope { instance: instance.to_owned(), ..self.scope.clone() }),
            window,
            block_bytes: number(host, "block_bytes"),
            cache_bytes: number(host, "cache_bytes"),
            processors: number(host, "processors"),
            cores: number(host, "cores"),
            memory_bytes: number(host, "memory_bytes"),
            stored_bytes: None,
            origin: Origin { line: 0, table: None, field: out.text("host") },
        };
        // The buffer cache alone is not the memory of the instance.
        resources(host, ("sga_bytes", Resource::SharedMemory), (database.scope, window, 0), out);
        out.database(database);
    }
}

/// The meaning of a metric of `DBA_HIST_SYSMETRIC_SUMMARY`, with the factor to base units.
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
                self.total.add(counted, number(row, "seconds"), (line, "time", "seconds"));
            }
            "stat" if name == "user commits" => {
                self.total.add(Counted::Commits, number(row, "value"), (line, "stat", "user commits"));
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

    /// Small requests are for a single block or little more, large ones for many.
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
            let bytes = number(row, megabytes).map(|megabytes| megabytes * MIB);
            let seconds = number(row, time).map(|milliseconds| milliseconds / 1e3);
            for class in [Some(total), class].into_iter().flatten() {
                self.total.add(Counted::Operations(class), number(row, count), (line, "filetype", count));
                self.total.add(Counted::Bytes(class), bytes, (line, "filetype", megabytes));
                self.total.add(Counted::OperationSeconds(class), seconds, (line, "filetype", time));
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

    fn event(&mut self, name: &str, line: u64) -> &mut WaitEvent {
        let new = || WaitEvent { line, foreground: true, waits: 0.0, seconds: None, buckets: Buckets::new() };
        self.events.entry(name.to_owned()).or_insert_with(new)
    }

    /// Waits of sessions since an earlier snapshot, with the durations of single waits.
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
                cause: WaitCause::of(name),
                foreground: event.foreground,
                count,
                total_s,
                histogram: histogram(&before.buckets, &event.buckets),
                origin,
            });
        }
    }

    /// Metrics of the window that ends here: maxima, and means without a counter.
    fn metrics(&self, scope: u32, counted: Option<u32>, out: &mut Builder) {
        for metric_row in &self.metrics {
            let Some((class, measure, scale)) = metric(&metric_row.name) else { continue };
            let window = counted
                .unwrap_or_else(|| out.window(ReadingWindow { begin: metric_row.begin, length: metric_row.length }));
            let mean = metric_row.mean.filter(|_| counted.is_none());
            for (value, statistic) in [(mean, Statistic::Mean), (metric_row.highest, Statistic::Maximum)] {
                let Some(value) = value else { continue };
                let origin = out.origin(metric_row.line, "metric", &metric_row.name);
                out.figure(Figure { scope, window, class, measure, statistic, value: value * scale, origin });
            }
        }
    }
}

/// Distribution of waits by duration, from counts at two times; the last bucket is unbounded. Empty without waits, or
/// after a restart of the instance.
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

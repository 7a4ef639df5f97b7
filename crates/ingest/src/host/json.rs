//! iostat and sadf as JSON. Samples are read one at a time, so that a truncated document keeps those before the cut.

use std::fmt;

use jiff::civil::DateTime;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::disks::{Absent, Disks, Heading, NameAt};
use super::{Follows, Reports, Tables, Timeline};
use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, Resemblance};
use crate::processors::{ProcessorShares, UsedProcessors};
use crate::reading::{Doubt, Fate, Origin};
use crate::refusal::{InputFault, Refusal};
use crate::text::timestamp;

/// `iostat -o JSON` and `sadf -j`.
pub(crate) const FORM: Form = Form::document("sysstat-json", "iostat or sadf (JSON)", resembles, read);

fn resembles(head: &Head<'_>) -> Resemblance {
    let (is_json, disks) = (head.begins(b"{"), head.has_any(&["\"disk_device\"", "\"disk-device\""]));
    let is = Resemblance::is(6, is_json && head.has("\"sysstat\"") && head.has("\"hosts\""));
    is.or_near(3, is_json && disks, "object `sysstat` with `hosts` around its statistics")
}

fn read(input: &FormatInput, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
    let mut samples = JsonSamples::new(input);
    let walked = walk(document, &mut |found| samples.take(found, out));
    samples.end(out);
    let Err(error) = walked else { return samples.verdict(None, out) };
    let doubt = Doubt::JsonDamaged { error: error.to_string() };
    samples.verdict(Some((Origin::line(error.line() as u64), doubt)), out)
}

#[derive(Clone, Copy)]
enum JsonPiece<'a> {
    Host(&'a str),
    Release(&'a str),
    /// The number of its processors is known.
    Processors(f64),
    Sample(&'a Value, u64),
}

struct JsonSamples {
    reports: Reports,
    /// The time of the current report.
    at: Option<DateTime>,
    /// Of sadf, which has the length of each sample.
    tables: Tables,
    timeline: Timeline,
    used: UsedProcessors,
    /// Processors with rows of their own.
    listed_processors: usize,
    columns: Vec<String>,
}

impl JsonSamples {
    fn new(input: &FormatInput) -> Self {
        Self {
            reports: Reports::new(input),
            at: None,
            tables: Tables::default(),
            timeline: Timeline::new(input),
            used: UsedProcessors::default(),
            listed_processors: 0,
            columns: Vec::new(),
        }
    }

    fn take(&mut self, found: JsonPiece<'_>, out: &mut Builder) {
        match found {
            JsonPiece::Host(name) => {
                self.reports.close(self.at.take(), Absent::Idle, Follows::End, out);
                self.emit_used(out);
                self.reports.run(name, None, out);
                self.tables.go_on(name, out);
            }
            JsonPiece::Processors(count) => self.reports.processors = Some(count),
            JsonPiece::Release(release) => out.version(&format!("Linux {release}")),
            JsonPiece::Sample(sample, line) if sample["timestamp"].is_object() => self.of_sadf(sample, line, out),
            JsonPiece::Sample(sample, line) => self.of_iostat(sample, line, out),
        }
    }

    fn of_iostat(&mut self, sample: &Value, line: u64, out: &mut Builder) {
        let Some(rows) = sample["disk"].as_array().filter(|rows| !rows.is_empty()) else { return };
        self.reports.close(self.at, Absent::Idle, Follows::Report, out);
        self.at = sample["timestamp"].as_str().and_then(timestamp::parse).map(|at| out.instant(at));
        self.reports.shares = processor_shares(&sample["avg-cpu"]).map(|shares| (shares, line));
        put(rows, &mut self.columns, &mut self.reports.disks, line);
    }

    fn of_sadf(&mut self, sample: &Value, line: u64, out: &mut Builder) {
        let time = &sample["timestamp"];
        let text = |name: &str| time[name].as_str().unwrap_or_default();
        // Without `-t` times are in UTC, which older versions print as a number.
        let is_utc = time["utc"].as_u64() == Some(1) || text("tz") == "UTC";
        let zone = if is_utc { " UTC" } else { "" };
        let at = timestamp::parse(&format!("{} {}{zone}", text("date"), text("time"))).map(|at| out.instant(at));
        let window = self.timeline.sample(at, time["interval"].as_f64(), line, out);
        let loads = || sample["cpu-load"].as_array().into_iter().flatten();
        let (of_all, each): (Vec<&Value>, Vec<&Value>) = loads().partition(|load| load["cpu"] == "all");
        self.listed_processors = self.listed_processors.max(each.len());
        let shares = of_all.into_iter().find_map(processor_shares);
        if let (Some(shares), Some(length)) = (shares, out.latest_length()) {
            self.used.add_shares(shares.used, shares, length.as_secs_f64(), line);
        }
        let transfers = flat(&sample["io"]);
        let columns: Vec<String> = transfers.iter().map(|(name, _)| (*name).to_owned()).collect();
        if let Some(heading) = Heading::of(columns, NameAt::First) {
            self.tables.total.put_heading(heading);
            let numbers: Vec<f64> = transfers.iter().map(|(_, number)| *number).collect();
            self.tables.transfers(line, &numbers, window, out);
        }
        if let Some(rows) = sample["disk"].as_array().filter(|rows| !rows.is_empty()) {
            put(rows, &mut self.columns, &mut self.tables.disks, line);
            self.tables.devices(window, out);
        }
    }

    fn end(&mut self, out: &mut Builder) {
        self.reports.close(self.at, Absent::Idle, Follows::End, out);
        self.emit_used(out);
        self.reports.end(out);
        self.tables.end(out);
    }

    fn emit_used(&mut self, out: &mut Builder) {
        let listed = std::mem::take(&mut self.listed_processors) as f64;
        let processors = self.reports.processors.or((listed > 0.0).then_some(listed));
        self.used.emit_share(self.tables.disks.host(), "cpu-load", processors, out);
    }

    fn verdict(&self, broken: Option<(Origin, Doubt)>, out: &mut Builder) -> Result<(), Refusal> {
        let given = self.reports.disks.has_given() || self.tables.has_given();
        match broken {
            Some((origin, doubt)) if given => {
                out.caution(Some(origin), doubt);
                out.part("document", Fate::Broken);
                Ok(())
            }
            Some((origin, doubt)) => Err(out.unusable_at(origin, doubt)),
            None => {
                out.require(given, InputFault::missing("disks", &["iostat -dxt -o JSON 10", "sadf -j FILE -- -b -d"]))
            }
        }
    }
}

/// Shares of the processors' time; `None` without the idle percentage.
fn processor_shares(percentages: &Value) -> Option<ProcessorShares> {
    let [idle, io_wait, steal] = ["idle", "iowait", "steal"].map(|name| percentages[name].as_f64());
    Some(ProcessorShares::of_idle(idle? + io_wait.unwrap_or(0.0) + steal.unwrap_or(0.0), io_wait))
}

/// Numbers of an object and of its nested objects.
fn flat(value: &Value) -> Vec<(&str, f64)> {
    let mut numbers = Vec::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        match value {
            Value::Object(_) => numbers.extend(flat(value)),
            _ => numbers.push((name.as_str(), value.as_f64().unwrap_or(f64::NAN))),
        }
    }
    numbers
}

/// Adds rows of devices to a sample; the first row has all columns.
fn put(rows: &[Value], columns: &mut Vec<String>, disks: &mut Disks, line: u64) {
    let is_name = |name: &str| name == "disk_device" || name == "disk-device";
    let Some(first) = rows[0].as_object() else { return };
    let names = || first.keys().filter(|name| !is_name(name));
    if !names().eq(columns.iter()) {
        *columns = names().cloned().collect();
        match Heading::of(columns.clone(), NameAt::First) {
            Some(heading) => disks.put_heading(heading),
            None => return columns.clear(),
        }
    }
    let mut numbers = Vec::with_capacity(columns.len());
    for row in rows {
        let Some(name) = row["disk_device"].as_str().or_else(|| row["disk-device"].as_str()) else { continue };
        numbers.clear();
        numbers.extend(columns.iter().map(|column| row[column.as_str()].as_f64().unwrap_or(f64::NAN)));
        disks.numbers(name, line, &numbers);
    }
}

/// Emits every host and sample of a document up to the first JSON error.
fn walk(document: &[u8], take: &mut dyn FnMut(JsonPiece<'_>)) -> serde_json::Result<()> {
    let mut reader = serde_json::Deserializer::from_slice(document);
    let mut path = Path { document, counted: 0, line: 1, take };
    JsonStep { path: &mut path, place: Nesting::Document }.deserialize(&mut reader)?;
    reader.end()
}

struct Path<'a> {
    document: &'a [u8],
    /// Offset up to which lines were counted.
    counted: usize,
    line: u64,
    take: &'a mut dyn FnMut(JsonPiece<'_>),
}

impl Path<'_> {
    /// The line in which a piece of the document begins.
    fn line_of(&mut self, piece: &str) -> u64 {
        let start = (piece.as_ptr() as usize).saturating_sub(self.document.as_ptr() as usize);
        if let Some(between) = self.document.get(self.counted..start) {
            self.line += memchr::memchr_iter(b'\n', between).count() as u64;
            self.counted = start;
        }
        self.line
    }
}

/// The level of the document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nesting {
    Document,
    Sysstat,
    Hosts,
    Host,
    Statistics,
}

struct JsonStep<'a, 'b> {
    path: &'a mut Path<'b>,
    place: Nesting,
}

impl<'de> DeserializeSeed<'de> for JsonStep<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonStep<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list of sysstat")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        if self.place == Nesting::Host {
            (self.path.take)(JsonPiece::Host(""));
        }
        while let Some(key) = map.next_key::<String>()? {
            let place = match (self.place, key.as_str()) {
                (Nesting::Document, "sysstat") => Nesting::Sysstat,
                (Nesting::Sysstat, "hosts") => Nesting::Hosts,
                (Nesting::Host, "statistics") => Nesting::Statistics,
                (Nesting::Host, "nodename" | "release" | "number-of-cpus") => {
                    let value: Value = map.next_value()?;
                    let text = value.as_str().unwrap_or_default();
                    (self.path.take)(match key.as_str() {
                        "nodename" => JsonPiece::Host(text),
                        "release" => JsonPiece::Release(text),
                        _ => JsonPiece::Processors(value.as_f64().unwrap_or(f64::NAN)),
                    });
                    continue;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            map.next_value_seed(JsonStep { path: self.path, place })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if self.place == Nesting::Statistics {
            while let Some(piece) = list.next_element::<&RawValue>()? {
                let line = self.path.line_of(piece.get());
                let value: Value = serde_json::from_str(piece.get()).map_err(A::Error::custom)?;
                (self.path.take)(JsonPiece::Sample(&value, line));
            }
            return Ok(());
        }
        let place = if self.place == Nesting::Hosts { Nesting::Host } else { self.place };
        while list.next_element_seed(JsonStep { path: self.path, place })?.is_some() {}
        Ok(())
    }
}

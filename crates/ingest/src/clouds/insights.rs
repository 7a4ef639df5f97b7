//! Performance Insights of Amazon RDS (`aws pi get-resource-metrics`): counters of the operating system.
//!
//! Counters: <https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_PerfInsights_Counters.html>. A point has the
//! end of its period: the first is a period after `AlignedStartTime`. Aurora's storage has other names: latencies in ms and bytes,
//! <https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_Monitoring-Available-OS-Metrics.html>.

use jiff::SignedDuration;
use serde_json::Value;

use super::{MetricSeries, Volumes, at_of, maximum};
use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, Resemblance};
use crate::json::{self, ElementLines};
use crate::reading::{Class, Counted, Measure, ReadingScope, Statistic};
use crate::refusal::Refusal;
use crate::sampled::{Meaning, Spacing};
use crate::text::KIB;

/// Responses of Performance Insights.
pub(crate) const FORM: Form = Form::document("performance-insights", "Performance Insights", resembles, read);

fn resembles(head: &Head<'_>) -> Resemblance {
    let (is_json, list) = (head.begins(b"{["), head.has("\"MetricList\""));
    Resemblance::is(6, is_json && list && head.has("\"DataPoints\"")).or_near(2, is_json && list, "DataPoints")
}

fn read(input: &FormatInput, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
    let mut volumes = Volumes::default();
    for (lines, value) in json::read_documents(document, out)? {
        let host = json::get_text(&value, &["Identifier"]).unwrap_or_default().to_owned();
        for (index, metric) in json::list(&value, &["MetricList"]).iter().enumerate() {
            take(&mut volumes, metric, &host, &lines, &format!("MetricList[{index}]"), out);
        }
    }
    volumes.put(None, input.interval, out)
}

/// Counters of a disk in Performance Insights and Enhanced Monitoring: name, meaning and unit.
pub(crate) static OS_COUNTERS: [(&str, Meaning, f64); 12] = [
    ("readIOsPS", Meaning::Rate(Counted::Operations(Class::Read)), 1.0),
    ("writeIOsPS", Meaning::Rate(Counted::Operations(Class::Write)), 1.0),
    ("readKbPS", Meaning::Rate(Counted::Bytes(Class::Read)), KIB),
    ("writeKbPS", Meaning::Rate(Counted::Bytes(Class::Write)), KIB),
    ("readThroughput", Meaning::Rate(Counted::Bytes(Class::Read)), 1.0),
    ("writeThroughput", Meaning::Rate(Counted::Bytes(Class::Write)), 1.0),
    ("readLatency", Meaning::Gauge(Class::Read, Measure::Latency, Statistic::Mean), 1e-3),
    ("writeLatency", Meaning::Gauge(Class::Write, Measure::Latency, Statistic::Mean), 1e-3),
    ("await", Meaning::Gauge(Class::All, Measure::Latency, Statistic::Mean), 1e-3),
    ("avgQueueLen", Meaning::Gauge(Class::All, Measure::Depth, Statistic::Mean), 1.0),
    ("diskQueueDepth", Meaning::Gauge(Class::All, Measure::Depth, Statistic::Mean), 1.0),
    ("util", Meaning::Gauge(Class::All, Measure::Busy, Statistic::Mean), 0.01),
];

/// True for disks of the machine of a managed database without data files: its root file system and local storage.
pub(crate) fn is_own_disk(device: &str) -> bool {
    matches!(device, "filesystem" | "rdstemp")
}

/// Device, meaning and unit of `os.diskIO.rdsdev.readIOsPS.avg`.
fn find_meaning(name: &str) -> Option<(&str, Meaning, f64)> {
    let rest = name.strip_prefix("os.diskIO.")?;
    let (rest, statistic) = rest.rsplit_once('.').filter(|(_, statistic)| matches!(*statistic, "avg" | "max"))?;
    let (device, counter) = rest.split_once('.').unwrap_or(("", rest));
    let (_, meaning, unit) = OS_COUNTERS.iter().find(|(name, ..)| *name == counter)?;
    let meaning = if statistic == "max" { maximum(meaning)? } else { meaning.clone() };
    Some((device, meaning, *unit))
}

fn take(volumes: &mut Volumes, metric: &Value, host: &str, lines: &ElementLines, path: &str, out: &mut Builder) {
    let name = json::get(metric, &["Key"]).and_then(|key| json::get_text(key, &["Metric"])).unwrap_or_default();
    let found = find_meaning(name).filter(|(device, ..)| !is_own_disk(device));
    let Some((device, meaning, unit)) = found else { return volumes.ignore(name) };
    let scope = ReadingScope { host: host.to_owned(), part: device.to_owned(), ..ReadingScope::default() };
    let scope = out.scope(scope);
    let mut points: Vec<_> = Vec::new();
    for (index, point) in json::list(metric, &["DataPoints"]).iter().enumerate() {
        let at = point.get("Timestamp").and_then(|at| at_of(at, out));
        let value = point.get("Value").and_then(json::number);
        if let (Some(at), Some(value)) = (at, value) {
            points.push((at, value * unit, lines.origin(name, &format!("{path}.DataPoints[{index}]"), out)));
        }
    }
    let mut spacing = Spacing::default();
    spacing.learn(points.iter().map(|(at, ..)| *at));
    // Windows begin a period before their time.
    let period = spacing.length(None).and_then(|length| SignedDuration::try_from_secs_f64(length.as_secs_f64()).ok());
    if let Some(period) = period {
        for (at, ..) in &mut points {
            *at = at.checked_sub(period).unwrap_or(*at);
        }
    }
    volumes.add(MetricSeries { name: name.to_owned(), scope, meaning, points });
}

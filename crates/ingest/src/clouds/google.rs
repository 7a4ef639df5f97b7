//! Time series of Google Cloud Monitoring, as its interface and `gcloud monitoring` print them.
//!
//! Metrics: <https://cloud.google.com/monitoring/api/metrics_gcp_c#gcp-compute>. Counts are of the interval of each
//! point; `max_` metrics are peaks inside of it.

use jiff::civil::DateTime;
use serde_json::Value;

use super::caps::cap_metric;
use super::{MetricSeries, Volumes};
use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, Resemblance};
use crate::json::{self, ElementLines};
use crate::reading::{Class, Counted, Measure, ReadingScope, Statistic};
use crate::refusal::Refusal;
use crate::sampled::Meaning;
use crate::text::timestamp;

/// Time series with points.
pub(crate) const FORM: Form = Form::document("google-monitoring", "Google Cloud Monitoring", resembles, read);

/// Metrics of disks are sampled every 60 seconds.
const SAMPLED_S: f64 = 60.0;

fn resembles(head: &Head<'_>) -> Resemblance {
    let is_json = head.begins(b"{[");
    let points = head.has("\"points\"") && head.has_any(&["\"endTime\"", "\"end_time\""]);
    let named = head.has("googleapis.com/");
    Resemblance::is(5, is_json && points && named).or_near(2, is_json && named, "points with an interval")
}

fn read(input: &FormatInput, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
    let mut volumes = Volumes::default();
    for (lines, value) in json::read_documents(document, out)? {
        let (path, list) = match &value {
            Value::Array(list) => ("", list.as_slice()),
            _ => ("timeSeries", json::list(&value, &["timeSeries"])),
        };
        let single = std::slice::from_ref(&value);
        let list = if list.is_empty() && value.get("points").is_some() { single } else { list };
        for (index, series) in list.iter().enumerate() {
            take(&mut volumes, series, &lines, &format!("{path}[{index}]"), out);
        }
    }
    volumes.put(None, input.interval, out)
}

/// The meaning of a metric's type, and the unit of its values in base units.
fn find_meaning(kind: &str) -> Option<(Meaning, f64)> {
    let name = kind.rsplit('/').next()?;
    let class = if name.contains("read") { Class::Read } else { Class::Write };
    let highest = |measure| (Meaning::Gauge(class, measure, Statistic::Maximum), 1.0);
    if !kind.contains("/disk/") {
        return None;
    }
    Some(match name {
        "read_ops_count" | "write_ops_count" => (Meaning::Sum(Counted::Operations(class)), 1.0),
        "read_bytes_count" | "write_bytes_count" => (Meaning::Sum(Counted::Bytes(class)), 1.0),
        "max_read_ops_count" | "max_write_ops_count" => highest(Measure::Iops),
        "max_read_bytes_count" | "max_write_bytes_count" => highest(Measure::Throughput),
        "average_io_latency" => (Meaning::Gauge(Class::All, Measure::Latency, Statistic::Mean), 1e-6),
        "average_io_queue_depth" => (Meaning::Gauge(Class::All, Measure::Depth, Statistic::Mean), 1.0),
        _ => return None,
    })
}

fn take(volumes: &mut Volumes, series: &Value, lines: &ElementLines, path: &str, out: &mut Builder) {
    let metric = json::get(series, &["metric"]);
    let kind = metric.and_then(|metric| json::get_text(metric, &["type"])).unwrap_or_default();
    let existing = find_meaning(kind);
    if existing.is_none() && cap_metric(kind).is_none() {
        return volumes.ignore(kind);
    }
    let unit = existing.as_ref().map_or(1.0, |(_, unit)| *unit);
    let label = |of: Option<&Value>, names: &[&str]| {
        let labels = of.and_then(|of| json::get(of, &["labels"]));
        names.iter().find_map(|name| Some(labels?.get(*name)?.as_str()?.to_owned())).unwrap_or_default()
    };
    let host = label(metric, &["instance_name"]);
    let resource = json::get(series, &["resource"]);
    let host = if host.is_empty() { label(resource, &["instance_id", "database_id"]) } else { host };
    let part = label(metric, &["device_name"]);
    let scope = out.scope(ReadingScope { host, part: part.clone(), ..ReadingScope::default() });
    let points = json::list(series, &["points"]).iter().enumerate().filter_map(|(index, point)| {
        let interval = json::get(point, &["interval"])?;
        let at = |name: &str, out: &mut Builder| {
            json::get_text(interval, &[name]).and_then(timestamp::parse).map(|at| out.instant(at))
        };
        let end = at("endTime", out)?;
        let begin: Option<DateTime> = at("startTime", out).filter(|begin| *begin < end);
        let begin = begin.or_else(|| timestamp::later(end, -SAMPLED_S))?;
        let value = json::get(point, &["value"])?;
        let value = json::get(value, &["int64Value", "doubleValue"]).and_then(json::number)?;
        Some((begin, value * unit, lines.origin(kind, &format!("{path}.points[{index}]"), out)))
    });
    let points: Vec<_> = points.collect();
    let Some((meaning, _)) = existing else {
        if !volumes.add_cap((kind, &part), |_| scope, |_| points, out) {
            volumes.ignore(kind);
        }
        return;
    };
    volumes.add(MetricSeries { name: format!("{kind} {part}").trim_end().to_owned(), scope, meaning, points });
}

//! Enhanced Monitoring of Amazon RDS: samples of the operating system as JSON, alone or in messages of `CloudWatch` Logs
//! (`aws logs filter-log-events`, `get-log-events`, Logs Insights).
//!
//! Fields: <https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_Monitoring-Available-OS-Metrics.html>. Means of the time
//! since the preceding sample. `avgQueueLen` is not read, because its scale differs by version; `physicalDeviceIO` has
//! the disks below those of `diskIO`.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::DateTime;
use plimsoll_language::label;
use serde_json::Value;

use super::{MetricSeries, OS_COUNTERS, Volumes, at_of, is_own_disk};
use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, Resemblance};
use crate::json;
use crate::processors::{self, ProcessorShares, UsedProcessors};
use crate::reading::{Doubt, Origin, ReadingScope, Resource};
use crate::refusal::Refusal;
use crate::sampled::Spacing;
use crate::text::timestamp;

/// Samples of Enhanced Monitoring.
pub(crate) const FORM: Form = Form::document("enhanced-monitoring", "RDS Enhanced Monitoring", resembles, read);

fn resembles(head: &Head<'_>) -> Resemblance {
    let is_sample = head.has("instanceResourceID") && head.has("cpuUtilization");
    let has_disks = is_sample && (head.has("diskIO") || head.bytes().len() >= Form::HEAD / 2);
    Resemblance::is(7, head.begins(b"{[") && has_disks).or_near(2, is_sample, "diskIO")
}

/// Series of an instance and a device, and the processors of an instance.
#[derive(Default)]
struct EnhancedSamples {
    series: BTreeMap<(String, String, usize), MetricSeries>,
    processors: BTreeMap<String, BTreeMap<DateTime, (f64, ProcessorShares, u64)>>,
    own_disks: BTreeSet<String>,
}

fn read(input: &FormatInput, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
    let mut samples = EnhancedSamples::default();
    for (lines, value) in json::read_documents(document, out)? {
        samples.collect(&value, lines.begin, out);
    }
    for device in samples.own_disks {
        out.caution(None, Doubt::OwnDisk { device });
    }
    let mut volumes = Volumes::default();
    let mut spacing = Spacing::default();
    for series in samples.series.values() {
        spacing.learn(series.points.iter().map(|(at, ..)| *at));
    }
    let length = spacing.length(input.interval);
    for mut series in samples.series.into_values() {
        // A sample has the end of its window.
        for (at, ..) in &mut series.points {
            *at = length.and_then(|length| timestamp::before(*at, length)).unwrap_or(*at);
        }
        volumes.add(series);
    }
    volumes.put(length, input.interval, out)?;
    let Some(length) = length else { return Ok(()) };
    for (host, loads) in samples.processors {
        let mut used = UsedProcessors::default();
        let number = loads.values().next_back().map(|(count, _, line)| (*count, *line));
        for (count, shares, line) in loads.into_values() {
            used.add_shares(shares.used * count, shares, length.as_secs_f64(), line);
        }
        used.emit_time(&host, "cpuUtilization", number.map_or(1.0, |(count, _)| count), out);
        used.emit(&host, "cpuUtilization", out);
        processors::emit(Resource::HostProcessors, number, (&host, "numVCPUs"), out);
    }
    Ok(())
}

impl EnhancedSamples {
    /// Takes the samples in a value, also as text in messages.
    fn collect(&mut self, value: &Value, line: u64, out: &mut Builder) {
        match value {
            Value::Object(object) if object.contains_key("diskIO") => self.take(value, line, out),
            Value::Object(object) => object.values().for_each(|inner| self.collect(inner, line, out)),
            Value::Array(list) => list.iter().for_each(|inner| self.collect(inner, line, out)),
            Value::String(text) if text.starts_with('{') && text.contains("diskIO") => {
                if let Ok(inner @ Value::Object(_)) = serde_json::from_str::<Value>(text) {
                    self.collect(&inner, line, out);
                } else {
                    out.caution_once(Some(Origin::line(line)), Doubt::UnreadableItem { item: label!("sample") });
                }
            }
            _ => {}
        }
    }

    fn take(&mut self, sample: &Value, line: u64, out: &mut Builder) {
        let host = json::get_text(sample, &["instanceID"]).unwrap_or_default();
        let Some(at) = sample.get("timestamp").and_then(|at| at_of(at, out)) else {
            return out.caution_once(Some(Origin::line(line)), Doubt::lacking("a sample", "its time"));
        };
        for disk in json::list(sample, &["diskIO"]) {
            // The storage of Aurora has no name.
            let device = json::get_text(disk, &["device"]).unwrap_or_default();
            if is_own_disk(device) {
                self.own_disks.insert(device.to_owned());
                continue;
            }
            for (index, (name, meaning, unit)) in OS_COUNTERS.iter().enumerate() {
                let value = disk.get(*name).and_then(json::number).filter(|_| *name != "avgQueueLen");
                let Some(value) = value else { continue };
                let origin = out.origin(line, "", &format!("diskIO {device} {name}"));
                let (host, part) = (host.to_owned(), device.to_owned());
                let scope =
                    out.scope(ReadingScope { host: host.clone(), part: part.clone(), ..ReadingScope::default() });
                let title = format!("diskIO {device} {name}");
                let empty = MetricSeries { name: title, scope, meaning: meaning.clone(), points: Vec::new() };
                let series = self.series.entry((host, part, index)).or_insert(empty);
                series.points.push((at, value * unit, origin));
            }
        }
        let percent = |name: &str| sample.get("cpuUtilization").and_then(|all| all.get(name)).and_then(json::number);
        if let Some((count, used)) = sample.get("numVCPUs").and_then(json::number).zip(percent("total")) {
            let share = |percent: f64| (percent / 100.0).clamp(0.0, 1.0);
            // The total has the wait for I/O.
            let wait = percent("wait").map(share);
            let shares = ProcessorShares { used: (share(used) - wait.unwrap_or(0.0)).max(0.0), io_wait: wait };
            self.processors.entry(host.to_owned()).or_default().insert(at, (count, shares, line));
        }
    }
}

//! Azure Monitor: metrics of virtual machines, disks and databases, as `az monitor metrics list` or the API answers.

use jiff::SignedDuration;
use memchr::memmem;
use plimsoll_units::Span;
use serde_json::Value;

use super::{Series, Volumes, direction, maximum};
use crate::builder::Builder;
use crate::figure::{Class, Measure, Origin, Scope, Statistic};
use crate::format::{Form, Input, Resemblance, Takes};
use crate::json;
use crate::kind::Kind;
use crate::refusal::Refusal;
use crate::series::Said;
use crate::snapshot::Counted;
use crate::timestamp;
use crate::whole::{Whole, WholeFormat};

const KIND: Kind = Kind { id: "azure-monitor", name: "Azure Monitor" };

/// Answers of Azure Monitor.
pub(crate) const FORM: Form = Form {
    kind: KIND,
    takes: Takes::Text,
    resembles,
    open: |input| Box::new(Whole::new(Azure { input: input.clone(), volumes: Volumes::default() })),
};

fn resembles(head: &[u8]) -> Resemblance {
    let has = |text: &str| memmem::find(head, text.as_bytes()).is_some();
    match (has("\"timeseries\""), has("\"timeStamp\""), has("\"metadatavalues\"") || has("\"timespan\"")) {
        _ if !matches!(head.trim_ascii_start().first(), Some(b'{' | b'[')) => Resemblance::None,
        (true, true, _) | (true, _, true) => Resemblance::Is { marks: 4 },
        (_, true, true) => Resemblance::Near { marks: 2, missing: "timeseries" },
        _ => Resemblance::None,
    }
}

struct Azure {
    input: Input,
    volumes: Volumes,
}

impl WholeFormat for Azure {
    fn read(&mut self, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
        let mut interval = None;
        for (line, value) in json::documents(KIND, document, out)? {
            // The batch interface answers for several resources.
            let answers = match (&value, value.get("values").and_then(Value::as_array)) {
                (Value::Array(list), _) | (_, Some(list)) => list.iter().collect(),
                _ => vec![&value],
            };
            for answer in answers {
                interval = json::text(answer, &["interval"]).and_then(duration).or(interval);
                for (index, metric) in json::list(answer, &["value"]).iter().enumerate() {
                    self.take_metric(metric, line, &format!("value[{index}]"), out);
                }
            }
        }
        std::mem::take(&mut self.volumes).put(KIND, self.input.interval.or(interval), out)
    }
}

/// `PT1M`, `PT1H`, `P1D`
fn duration(text: &str) -> Option<Span> {
    let seconds = match text {
        "P1D" => 86_400.0,
        _ => text.parse::<SignedDuration>().ok()?.as_secs_f64(),
    };
    Some(Span::from_secs_f64(seconds)).filter(|length| !length.is_zero())
}

impl Azure {
    fn take_metric(&mut self, metric: &Value, line: u64, path: &str, out: &mut Builder) {
        let name = json::get(metric, &["name"]).map(|name| name.as_str().or_else(|| json::text(name, &["value"])));
        let name = name.flatten().unwrap_or_default();
        let Some(said) = said(name) else { return self.volumes.ignore(name) };
        let host = json::text(metric, &["id"]).and_then(resource).unwrap_or_default();
        for (index, series) in json::list(metric, &["timeseries"]).iter().enumerate() {
            let part = part(name, series);
            let scope = out.scope(Scope { host: host.to_owned(), part: part.clone(), ..Scope::default() });
            let path = format!("{path}.timeseries[{index}]");
            self.take_series(series, (name, &part), &said, scope, (line, &path), out);
        }
    }

    fn take_series(
        &mut self,
        series: &Value,
        (metric, part): (&str, &str),
        said: &Said,
        scope: u32,
        (line, path): (u64, &str),
        out: &mut Builder,
    ) {
        let (mut means, mut highest, mut lacking) = (Vec::new(), Vec::new(), false);
        for (index, point) in json::list(series, &["data"]).iter().enumerate() {
            let get = |name: &str| json::get(point, &[name]).and_then(json::number);
            let Some(at) = json::text(point, &["timeStamp"]).and_then(timestamp::parse) else { continue };
            let at = out.instant(at);
            let origin = out.origin(line, metric, &format!("{path}.data[{index}]"));
            let unit = if matches!(said, Said::Figure(_, Measure::Latency, _)) { 1e-3 } else { 1.0 };
            let mean = if matches!(said, Said::Sum(_)) { get("total") } else { get("average") };
            lacking |= mean.is_none() && (get("total").is_some() || get("average").is_some());
            highest.extend(get("maximum").map(|value| (at, value * unit, origin.clone())));
            means.extend(mean.map(|value| (at, value * unit, origin)));
        }
        if lacking {
            let text =
                "points without the statistic that is needed are left out: query Average of rates and Total of bytes";
            out.caution_once(Some(Origin::line(line)), text);
        }
        let name = format!("{metric} {part}").trim_end().to_owned();
        if let Some(said) = maximum(said).filter(|_| !highest.is_empty()) {
            self.volumes.add(Series { name: format!("{name} (maximum)"), scope, said, points: highest });
        }
        self.volumes.add(Series { name, scope, said: said.clone(), points: means });
    }
}

/// What a metric says, by the words of its name.
fn said(name: &str) -> Option<Said> {
    let lower = name.to_lowercase().replace(['_', '-'], " ");
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(&["percent", "consumed", "limit", "burst", "target", "max ", "cached", "cache ", "network"]) {
        return None;
    }
    let class = direction(&lower);
    if has(&["operations/sec", "iops"]) {
        return Some(Said::Rate(Counted::Operations(class)));
    }
    if has(&["bytes/sec", "throughput"]) {
        return Some(Said::Rate(Counted::Bytes(class)));
    }
    match lower.as_str() {
        "disk read bytes" | "disk write bytes" => Some(Said::Sum(Counted::Bytes(class))),
        _ if has(&["queue depth"]) => Some(Said::Figure(Class::All, Measure::Depth, Statistic::Mean)),
        _ if has(&["disk"]) && has(&["latency"]) => Some(Said::Figure(class, Measure::Latency, Statistic::Mean)),
        _ => None,
    }
}

/// The machine or disk of an id such as `/subscriptions/../virtualMachines/db1/providers/..`.
fn resource(id: &str) -> Option<&str> {
    let id = id.split_once("/providers/Microsoft.Insights/").map_or(id, |(resource, _)| resource);
    id.rsplit('/').next().filter(|name| !name.is_empty())
}

/// The disk that a series is of; empty for all of a machine.
fn part(metric: &str, series: &Value) -> String {
    let lower = metric.to_lowercase();
    let values = json::list(series, &["metadatavalues"]);
    let value = values.iter().find_map(|value| json::text(value, &["value"]).filter(|text| !text.is_empty()));
    match (lower.starts_with("data disk"), lower.starts_with("os disk"), value) {
        (true, _, Some(lun)) => format!("LUN {lun}"),
        (true, _, None) => "data disks".to_owned(),
        (_, true, _) => "OS disk".to_owned(),
        (_, _, value) => value.unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_units::Span;

    use super::{Said, duration, resource, said};
    use crate::figure::{Class, Measure, Statistic};
    use crate::snapshot::Counted;

    #[test]
    fn metrics_are_known_by_their_words() {
        let reads = || Some(Said::Rate(Counted::Operations(Class::Read)));
        let table = [
            ("Data Disk Read Operations/Sec", reads()),
            ("Composite Disk Read Operations/sec", reads()),
            ("read_iops", reads()),
            ("OS Disk Write Bytes/sec", Some(Said::Rate(Counted::Bytes(Class::Write)))),
            ("Disk Write Bytes", Some(Said::Sum(Counted::Bytes(Class::Write)))),
            ("Data Disk Queue Depth", Some(Said::Figure(Class::All, Measure::Depth, Statistic::Mean))),
            ("Data Disk IOPS Consumed Percentage", None),
            ("Data Disk Max Burst IOPS", None),
            ("Premium Data Disk Cache Read Hit", None),
            ("BlobCapacity", None),
        ];
        for (name, expected) in table {
            assert_eq!(said(name), expected, "{name}");
        }
    }

    #[test]
    fn intervals_and_resources_are_read() {
        assert_eq!(duration("PT5M"), Some(Span::from_secs(300)));
        assert_eq!(duration("P1D"), Some(Span::from_secs(86_400)));
        assert_eq!(duration("FULL"), None);
        let id =
            "/subscriptions/x/providers/Microsoft.Compute/virtualMachines/db1/providers/Microsoft.Insights/metrics/m";
        assert_eq!(resource(id), Some("db1"));
    }
}

//! `CloudWatch`: `get-metric-data` and `get-metric-statistics`, of EBS volumes, EC2 instances and RDS databases.

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use memchr::memmem;
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

const KIND: Kind = Kind { id: "cloudwatch", name: "CloudWatch metrics" };

/// Answers of `CloudWatch`.
pub(crate) const FORM: Form = Form {
    kind: KIND,
    takes: Takes::Text,
    resembles,
    open: |input| Box::new(Whole::new(CloudWatch { input: input.clone(), ..CloudWatch::default() })),
};

fn resembles(head: &[u8]) -> Resemblance {
    let has = |text: &str| memmem::find(head, text.as_bytes()).is_some();
    match (has("\"MetricDataResults\""), has("\"Datapoints\""), has("\"Timestamp\"") || has("\"Label\"")) {
        _ if head.trim_ascii_start().first() != Some(&b'{') => Resemblance::None,
        (true, ..) | (_, true, true) => Resemblance::Is { marks: 4 },
        (_, true, _) => Resemblance::Near { marks: 1, missing: "Label" },
        _ => Resemblance::None,
    }
}

#[derive(Default)]
struct CloudWatch {
    input: Input,
    volumes: Volumes,
    /// Which result a metric of a volume was in: two with one label are told apart by it.
    ids: BTreeMap<(String, String), String>,
}

/// What a metric is.
#[derive(Clone, Debug, PartialEq)]
struct Metric {
    said: Said,
    /// What a value of one is, in base units.
    unit: f64,
}

impl WholeFormat for CloudWatch {
    fn read(&mut self, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
        for (line, value) in json::documents(KIND, document, out)? {
            for (index, result) in json::list(&value, &["MetricDataResults"]).iter().enumerate() {
                self.take_result(result, line, &format!("MetricDataResults[{index}]"), out);
            }
            if value.get("Datapoints").is_some() {
                self.take_statistics(&value, line, out);
            }
            let more = value.get("NextToken").is_some_and(|token| !token.is_null());
            if more {
                out.caution_once(Some(Origin::line(line)), "the answer has further pages: give them as well");
            }
        }
        let sums = self.volumes.series.iter().any(|series| matches!(series.said, Said::Sum(_)));
        self.volumes.drop_other_statistics("query with the statistic Sum", out);
        if sums && !self.ids.is_empty() {
            let text =
                "the answer does not say its statistic: operations, bytes and times are taken for sums of each period";
            out.caution(None, text);
        }
        std::mem::take(&mut self.volumes).put(KIND, self.input.interval, out)
    }
}

impl CloudWatch {
    /// One of the results of `get-metric-data`.
    fn take_result(&mut self, result: &Value, line: u64, path: &str, out: &mut Builder) {
        let label = json::text(result, &["Label"]).unwrap_or_default();
        let id = json::text(result, &["Id"]).unwrap_or_default();
        let Some((name, metric)) = metric(label).or_else(|| metric(id)) else {
            return self.volumes.ignore(if label.is_empty() { id } else { label });
        };
        let mut part = volume(label, &name);
        let key = (name, part.clone());
        let known = self.ids.entry(key).or_insert_with(|| id.to_owned());
        if known != id {
            id.clone_into(&mut part);
            let text = "two results have one label: they are told apart by their ids";
            out.caution_once(Some(Origin::line(line)), text);
        }
        let values = json::list(result, &["Values"]);
        let times = json::list(result, &["Timestamps"]);
        let pairs = times.iter().zip(values).enumerate();
        let points = pairs.filter_map(|(index, (at, value))| {
            let origin = out.origin(line, label, &format!("{path}.Values[{index}]"));
            Some((at_of(at, out)?, json::number(value)? * metric.unit, origin))
        });
        let points = points.collect();
        let scope = out.scope(Scope { part, ..Scope::default() });
        self.volumes.add(Series { name: label.to_owned(), scope, said: metric.said, points });
    }

    /// An answer of `get-metric-statistics`.
    fn take_statistics(&mut self, value: &Value, line: u64, out: &mut Builder) {
        let label = json::text(value, &["Label"]).unwrap_or_default();
        let Some((name, metric)) = metric(label) else { return self.volumes.ignore(label) };
        let scope = out.scope(Scope { part: volume(label, &name), ..Scope::default() });
        let (mut means, mut highest, mut lacking) = (Vec::new(), Vec::new(), 0);
        for (index, point) in json::list(value, &["Datapoints"]).iter().enumerate() {
            let get = |name: &str| point.get(name).and_then(json::number);
            let Some(at) = point.get("Timestamp").and_then(|at| at_of(at, out)) else { continue };
            let origin = out.origin(line, label, &format!("Datapoints[{index}]"));
            let mean = match &metric.said {
                Said::Sum(_) => get("Sum").or_else(|| Some(get("Average")? * get("SampleCount")?)),
                _ => get("Average"),
            };
            lacking += u32::from(mean.is_none());
            highest.extend(get("Maximum").map(|value| (at, value * metric.unit, origin.clone())));
            means.extend(mean.map(|value| (at, value * metric.unit, origin)));
        }
        if lacking > 0 {
            let text = "points without the statistic that is needed are left out: query Sum for operations, bytes and times, \
                        Average for all else";
            out.caution(Some(Origin::line(line)), text);
        }
        if let Some(said) = maximum(&metric.said).filter(|_| !highest.is_empty()) {
            self.volumes.add(Series { name: format!("{label} (maximum)"), scope, said, points: highest });
        }
        self.volumes.add(Series { name: label.to_owned(), scope, said: metric.said, points: means });
    }
}

fn at_of(value: &Value, out: &mut Builder) -> Option<DateTime> {
    let printed = value.as_str().and_then(timestamp::parse).map(|at| out.instant(at));
    printed.or_else(|| timestamp::of_unix(value.as_f64()?))
}

/// The metric whose name stands in a label, and that name in lower case.
fn metric(label: &str) -> Option<(String, Metric)> {
    let lower = label.to_lowercase();
    let sums = ["volume", "ebs", "disk"].into_iter().find_map(|stem| {
        let of = |name: String, counted| Some((lower.contains(&name).then_some(name)?, Said::Sum(counted), 1.0));
        [("read", Class::Read), ("write", Class::Write)].into_iter().find_map(|(word, class)| {
            of(format!("{stem}{word}ops"), Counted::Operations(class))
                .or_else(|| of(format!("{stem}{word}iops"), Counted::Operations(class)))
                .or_else(|| of(format!("{stem}{word}bytes"), Counted::Bytes(class)))
                .or_else(|| of(format!("{stem}total{word}time"), Counted::OperationSeconds(class)))
        })
    });
    let figure = |class, measure| Said::Figure(class, measure, Statistic::Mean);
    let others = || {
        let class = direction(&lower);
        let table = [
            ("volumeavgreadlatency", figure(Class::Read, Measure::Latency), 1e-3),
            ("volumeavgwritelatency", figure(Class::Write, Measure::Latency), 1e-3),
            ("volumequeuelength", figure(Class::All, Measure::Depth), 1.0),
            ("diskqueuedepth", figure(Class::All, Measure::Depth), 1.0),
            ("readlatency", figure(Class::Read, Measure::Latency), 1.0),
            ("writelatency", figure(Class::Write, Measure::Latency), 1.0),
            ("readthroughput", Said::Rate(Counted::Bytes(Class::Read)), 1.0),
            ("writethroughput", Said::Rate(Counted::Bytes(Class::Write)), 1.0),
            ("iops", Said::Rate(Counted::Operations(class)), 1.0),
        ];
        let other = ["percent", "balance", "limit", "provisioned", "exceeded", "check", "%", "network"];
        let is_other = other.iter().any(|word| lower.contains(word));
        let found = table.into_iter().find(|(name, ..)| !is_other && lower.contains(name));
        found.map(|(name, said, unit)| (name.to_owned(), said, unit))
    };
    let (name, said, unit) = sums.or_else(others)?;
    // The class belongs to the name of a general one.
    let name = if name == "iops" { lower } else { name };
    Some((name, Metric { said, unit }))
}

/// What a label says beside the metric: the volume, as a rule.
fn volume(label: &str, metric: &str) -> String {
    let is_id = |word: &&str| word.starts_with("vol-") || word.starts_with("i-") || word.starts_with("db-");
    let words = label.split([' ', ',', '/', '|', ':']).filter(|word| !word.is_empty());
    if let Some(id) = words.clone().find(is_id) {
        return id.to_owned();
    }
    if label.to_lowercase() == metric {
        return String::new();
    }
    words.filter(|word| !word.to_lowercase().contains(metric)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{Said, metric, volume};
    use crate::figure::{Class, Measure, Statistic};
    use crate::snapshot::Counted;

    #[test]
    fn metrics_are_found_in_labels() {
        let check = |label: &str, part: &str, said: &Said| {
            let (name, found) = metric(label).unwrap_or_else(|| panic!("{label}"));
            assert_eq!((&found.said, volume(label, &name).as_str()), (said, part), "{label}");
        };
        check("VolumeReadOps", "", &Said::Sum(Counted::Operations(Class::Read)));
        check("vol-0a1 VolumeWriteBytes", "vol-0a1", &Said::Sum(Counted::Bytes(Class::Write)));
        check("data VolumeTotalReadTime", "data", &Said::Sum(Counted::OperationSeconds(Class::Read)));
        check("VolumeQueueLength", "", &Said::Figure(Class::All, Measure::Depth, Statistic::Mean));
        check("db-1 ReadIOPS", "db-1", &Said::Rate(Counted::Operations(Class::Read)));
        check("WriteLatency", "", &Said::Figure(Class::Write, Measure::Latency, Statistic::Mean));
        check("Avg Total IOPS", "", &Said::Rate(Counted::Operations(Class::All)));
        for label in ["BurstBalance", "NetworkReadThroughput", "VolumeIdleTime", "EBSIOBalance%", "CPUUtilization", ""]
        {
            assert_eq!(metric(label), None, "{label}");
        }
    }
}

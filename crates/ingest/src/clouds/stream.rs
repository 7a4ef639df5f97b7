//! Metric streams of `CloudWatch` in the JSON format, as Firehose stores them: an object in each line.
//!
//! Format: <https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch-metric-streams-formats-json.html>. A
//! stream has all metrics of an account: those of volumes (EBS), of databases (RDS), and limits of machines are read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::civil::DateTime;
use plimsoll_language::{label, say};
use plimsoll_units::Span;
use serde::Deserialize;

use super::caps::cap_metric;
use super::{Volumes, cloudwatch_metric};
use crate::builder::Builder;
use crate::form::{Form, Head, LineFormat, Resemblance};
use crate::reading::{Doubt, Fate, Origin, ReadingScope};
use crate::refusal::Refusal;
use crate::sampled::{Meaning, Spacing};
use crate::text::timestamp;

/// A metric stream as JSON.
pub(crate) const FORM: Form = Form::lines("cloudwatch-stream", "CloudWatch metric stream", resembles, |input| {
    Box::new(MetricStream { interval: input.interval, ..MetricStream::default() })
});

fn resembles(head: &Head<'_>) -> Resemblance {
    let fields = head.count(&["\"metric_stream_name\"", "\"metric_name\"", "\"dimensions\""]);
    Resemblance::is(5, head.begins(b"{") && fields == 3)
}

/// Metrics of volumes. Means that follow from these, such as `VolumeAvgIOPS`, would count operations twice.
const EBS: [&str; 7] = [
    "VolumeReadOps",
    "VolumeWriteOps",
    "VolumeReadBytes",
    "VolumeWriteBytes",
    "VolumeTotalReadTime",
    "VolumeTotalWriteTime",
    "VolumeQueueLength",
];
/// Metrics of databases.
const RDS: [&str; 7] =
    ["ReadIOPS", "WriteIOPS", "ReadThroughput", "WriteThroughput", "ReadLatency", "WriteLatency", "DiskQueueDepth"];
/// The period of all of these metrics: <https://docs.aws.amazon.com/ebs/latest/userguide/using_cloudwatch_ebs.html>.
const PERIOD: Span = Span::from_secs(60);
/// Maximum points of a stream.
const MAX_POINTS: usize = Builder::MAX_FIGURES;

#[derive(Deserialize)]
struct StreamLine<'a> {
    #[serde(borrow)]
    namespace: Cow<'a, str>,
    #[serde(borrow)]
    metric_name: Cow<'a, str>,
    #[serde(borrow)]
    dimensions: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
    /// Milliseconds since 1970, the begin of the period.
    timestamp: i64,
    value: StreamStatistics,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
struct StreamStatistics {
    count: f64,
    sum: f64,
    max: f64,
}

impl StreamLine<'_> {
    /// The volume, database or machine of a metric that is read. Further dimensions of RDS are those of groups.
    fn owner(&self) -> Option<&str> {
        let of = |name: &str| self.dimensions.get(name).map(AsRef::as_ref);
        let is_cap = || cap_metric(&self.metric_name).is_some();
        match (&*self.namespace, self.dimensions.len()) {
            ("AWS/EBS", _) if EBS.contains(&self.metric_name.as_ref()) || is_cap() => of("VolumeId"),
            ("AWS/RDS", 1) if RDS.contains(&self.metric_name.as_ref()) || is_cap() => of("DBInstanceIdentifier"),
            ("AWS/EC2", 1) if is_cap() => of("InstanceId"),
            _ => None,
        }
    }
}

/// Points with their lines, by time.
type StreamPoints = BTreeMap<DateTime, (StreamStatistics, u64)>;

#[derive(Default)]
struct MetricStream {
    interval: Option<Span>,
    /// Points by owner, then by metric.
    owners: BTreeMap<String, BTreeMap<String, StreamPoints>>,
    points: usize,
    ignored: BTreeMap<String, u32>,
}

impl LineFormat for MetricStream {
    fn line(&mut self, line: &str, number: u64, out: &mut Builder) -> Result<(), Refusal> {
        if line.trim().is_empty() {
            return Ok(());
        }
        let read = serde_json::from_str::<StreamLine<'_>>(line).ok();
        let at = read.as_ref().and_then(|read| timestamp::of_unix(read.timestamp as f64 / 1e3));
        let (Some(read), Some(at)) = (read, at) else {
            out.caution(Some(Origin::line(number)), Doubt::InvalidJson { item: label!("a line") });
            out.part(say!("line {}", number), Fate::Broken);
            return Ok(());
        };
        let Some(owner) = read.owner() else {
            *self.ignored.entry(format!("{} {}", read.namespace, read.metric_name)).or_default() += 1;
            return Ok(());
        };
        if !self.owners.contains_key(owner) {
            self.owners.insert(owner.to_owned(), BTreeMap::new());
        }
        let Some(metrics) = self.owners.get_mut(owner) else { return Ok(()) };
        let points = metrics.entry(read.metric_name.into_owned()).or_default();
        self.points += 1;
        // Firehose may deliver a line more than once.
        let (first, _) = points.entry(at).or_insert((read.value, number));
        if *first != read.value {
            out.caution(Some(Origin::line(number)), Doubt::PointContradicted);
            out.part(say!("line {}", number), Fate::Broken);
        }
        if self.points > MAX_POINTS { Err(Refusal::TooMany { limit: MAX_POINTS }) } else { Ok(()) }
    }

    fn end(&mut self, out: &mut Builder) -> Result<(), Refusal> {
        let mut volumes = Volumes { ignored: std::mem::take(&mut self.ignored), ..Volumes::default() };
        let length = self.length(out);
        for (owner, metrics) in std::mem::take(&mut self.owners) {
            let scope = out.scope(ReadingScope { part: owner.clone(), ..ReadingScope::default() });
            for (name, points) in metrics {
                let place = out.origin(0, &owner, &name);
                let origin = |line| Origin { line, ..place.clone() };
                let Some((_, metric)) = cloudwatch_metric(&name) else {
                    let points = points.into_iter().map(|(at, (value, line))| (at, value.max, origin(line))).collect();
                    volumes.add_cap((&name, &owner), |_| scope, |_| points, out);
                    continue;
                };
                let of = |value: StreamStatistics| match metric.meaning {
                    Meaning::Sum(_) => [Some(value.sum), None],
                    _ => [(value.count > 0.0).then(|| value.sum / value.count), Some(value.max)],
                };
                let points = points.into_iter().map(|(at, (value, line))| {
                    (at, of(value).map(|printed| Some(printed? * metric.unit)), origin(line))
                });
                let points: Vec<_> = points.collect();
                volumes.add_both(&format!("{owner} {name}"), scope, metric.meaning, &points);
            }
        }
        volumes.put(Some(length), None, out)
    }
}

impl MetricStream {
    /// The length of windows: the caller's interval, or the period of the metrics.
    fn length(&self, out: &mut Builder) -> Span {
        let mut spacing = Spacing::default();
        for points in self.owners.values().flat_map(BTreeMap::values) {
            spacing.learn(points.keys().copied());
        }
        let length = self.interval.unwrap_or(PERIOD);
        if let Some(distance) = spacing.length(None).filter(|distance| *distance > length && self.interval.is_none()) {
            out.caution(None, Doubt::PeriodAssumed { length, distance });
        }
        length
    }
}

//! Exports of cloud volumes: responses of monitoring services as JSON, possibly several in a file.
//!
//! They do not repeat the whole query: the length of a window and its statistic may have to be derived from the
//! distance of points and from whole numbers. Ambiguous responses are refused with the missing parameter.

mod caps;
mod console;
mod enhanced;
mod google;
mod insights;
mod stream;

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::DateTime;
use plimsoll_language::label;
use plimsoll_units::Span;
use serde_json::Value;

use crate::builder::Builder;
use crate::form::{Form, FormatInput, Head, Resemblance};
use crate::json::{self, ElementLines};
use crate::reading::{CapKind, Class, Counted, Doubt, Fate, Measure, Origin, ReadingScope, Statistic};
use crate::refusal::{InputFault, Refusal};
use crate::sampled::{Edge, Meaning, Points, Spacing};
use crate::text::{self, timestamp};

pub(crate) use caps::cap_metric;
pub(crate) use console::FORM as CONSOLE;
pub(crate) use enhanced::FORM as ENHANCED;
pub(crate) use google::FORM as GOOGLE;
pub(crate) use insights::{FORM as INSIGHTS, OS_COUNTERS, is_own_disk};
pub(crate) use stream::FORM as STREAM;

/// The series of one input.
#[derive(Debug, Default)]
struct Volumes {
    series: Vec<MetricSeries>,
    /// Metrics of limits were found.
    has_caps: bool,
    /// Limits of operations, to compare with the rates.
    guaranteed: Vec<GuaranteedRate>,
    /// Limits of bytes in an unknown unit, which the limit of operations tells.
    guaranteed_megabytes: Vec<GuaranteedRate>,
    ignored: BTreeMap<String, u32>,
    /// The first metric of operations or bytes whose sums are unknown. Without it a demand would be incomplete.
    unknown_sum: Option<Doubt>,
}

#[derive(Debug)]
struct MetricSeries {
    name: String,
    scope: u32,
    meaning: Meaning,
    points: Vec<(DateTime, f64, Origin)>,
}

/// The limit of a volume's operations or bytes over time.
#[derive(Debug)]
struct GuaranteedRate {
    metric: String,
    part: String,
    scope: u32,
    kind: CapKind,
    /// Operations or bytes per second.
    points: Vec<(DateTime, f64, Origin)>,
}

impl GuaranteedRate {
    /// Megabytes per second or per minute as bytes per second, by the limit of operations at the same time: OCI guarantees
    /// 8 to 120 kB/s for each of them, at any size and level. Points without that limit are left out.
    fn with_unit(mut self, operations: &[Self]) -> Self {
        const MEGABYTE: f64 = 1e6;
        /// Maximum bytes per second for each operation; a limit per minute is at least twice as high.
        const MAX_EACH: f64 = 240e3;
        const MINUTE_S: f64 = 60.0;
        let of_volume = operations.iter().filter(|other| other.scope == self.scope).flat_map(|other| &other.points);
        let limits: BTreeMap<DateTime, f64> = of_volume.map(|(at, iops, _)| (*at, *iops)).collect();
        self.points.retain_mut(|(at, value, _)| {
            *value *= MEGABYTE;
            let Some(iops) = limits.get(at).filter(|iops| **iops > 0.0) else { return false };
            if *value > MAX_EACH * iops {
                *value /= MINUTE_S;
            }
            true
        });
        self
    }

    /// Adds the share of the limit that the operations or bytes of the volume use in each window.
    fn put(self, series: &[MetricSeries], [length, interval]: [Option<Span>; 2], out: &mut Builder) {
        let mut rates: BTreeMap<DateTime, f64> = BTreeMap::new();
        for series in series.iter().filter(|series| series.scope == self.scope) {
            let is_counted = match (&series.meaning, self.kind) {
                (Meaning::Sum(Counted::Operations(_)), kind) => kind == CapKind::Operations,
                (Meaning::Sum(Counted::Bytes(_)), kind) => kind == CapKind::Bytes,
                _ => false,
            };
            let length = length.or_else(|| regular(&series.points)).or(interval);
            let Some(length) = length.filter(|_| is_counted) else { continue };
            for (at, value, _) in &series.points {
                *rates.entry(*at).or_default() += value / length.as_secs_f64();
            }
        }
        let used = self.points.iter().filter_map(|(at, limit, origin)| {
            let rate = rates.get(at).filter(|_| *limit > 0.0)?;
            Some((*at, 100.0 * rate / limit, origin.clone()))
        });
        let used: Vec<_> = used.collect();
        caps::guaranteed(self.kind).put((&self.metric, &self.part), self.scope, &used, out);
    }
}

impl Volumes {
    /// Adds a series unless it is empty.
    fn add(&mut self, series: MetricSeries) {
        if series.points.is_empty() {
            self.ignore(&series.name);
        } else {
            self.series.push(series);
        }
    }

    /// Adds the points of a series to those of the same quantity.
    fn merge(&mut self, series: MetricSeries) {
        let is_same = |other: &&mut MetricSeries| (other.scope, &other.meaning) == (series.scope, &series.meaning);
        let Some(other) = self.series.iter_mut().find(is_same) else { return self.add(series) };
        for (at, value, origin) in series.points {
            match other.points.iter_mut().find(|(existing, ..)| *existing == at) {
                Some((_, sum, _)) => *sum += value,
                None => other.points.push((at, value, origin)),
            }
        }
    }

    /// Adds a series of means or sums, and one of the maxima of shorter windows if the points have any.
    fn add_both(&mut self, name: &str, scope: u32, meaning: Meaning, points: &[(DateTime, [Option<f64>; 2], Origin)]) {
        let of = |index: usize| {
            let values = points.iter().filter_map(|(at, values, origin)| Some((*at, values[index]?, origin.clone())));
            values.collect::<Vec<_>>()
        };
        let (means, highest) = (of(0), of(1));
        if let Some(meaning) = maximum(&meaning).filter(|_| !highest.is_empty()) {
            self.add(MetricSeries { name: format!("{name} (maximum)"), scope, meaning, points: highest });
        }
        self.add(MetricSeries { name: name.to_owned(), scope, meaning, points: means });
    }

    /// Adds the points of a metric of a limit; false for other metrics.
    fn add_cap(
        &mut self,
        (name, owner): (&str, &str),
        scope: impl FnOnce(&mut Builder) -> u32,
        points: impl FnOnce(&mut Builder) -> Vec<(DateTime, f64, Origin)>,
        out: &mut Builder,
    ) -> bool {
        let Some(metric) = cap_metric(name) else { return false };
        let (scope, points) = (scope(out), points(out));
        if points.is_empty() {
            return false;
        }
        metric.put((name, owner), scope, &points, out);
        out.part(name, Fate::Read(points.len() as u32));
        self.has_caps = true;
        true
    }

    /// Leaves out sums over the volumes of a machine (`EBSReadOps`), where those of volumes count the same operations.
    fn leave_out_machines(&mut self) {
        let of = |series: &MetricSeries, word: &str| series.name.to_lowercase().contains(word);
        let is_machine = |series: &MetricSeries| of(series, "ebsread") || of(series, "ebswrite");
        if self.series.iter().any(|series| of(series, "volumeread") || of(series, "volumewrite")) {
            let (machines, volumes) = std::mem::take(&mut self.series).into_iter().partition(is_machine);
            self.series = volumes;
            let machines: Vec<MetricSeries> = machines;
            for series in machines {
                self.ignore(&series.name);
            }
        }
    }

    /// Counts a metric that is irrelevant for a volume's demand.
    fn ignore(&mut self, name: &str) {
        *self.ignored.entry(name.to_owned()).or_default() += 1;
    }

    /// Finds sums that are impossible because they are not whole numbers; `query` names a better statistic.
    fn find_other_statistics(&mut self, query: &'static str) {
        let sums = self.series.iter().filter(|series| is_total(&series.meaning));
        let broken = sums.flat_map(|series| &series.points).find(|(_, value, _)| value.fract() != 0.0);
        if let Some((_, value, _)) = broken {
            self.unknown_sum.get_or_insert(Doubt::NotASum { value: *value, query });
        }
    }

    /// Emits all series, in windows of `length` by the input, of the distance of their points, or of the caller's
    /// `interval`.
    fn put(self, length: Option<Span>, interval: Option<Span>, out: &mut Builder) -> Result<(), Refusal> {
        for (name, count) in &self.ignored {
            let text = if *count == 1 { name.clone() } else { format!("{name} ({count} series)") };
            out.part(text, Fate::Ignored);
        }
        if let Some(doubt) = self.unknown_sum {
            return Err(out.unusable(doubt));
        }
        if self.series.is_empty() && !self.has_caps {
            let doubt = out.first_doubt().cloned();
            return Err(
                out.unusable(doubt.map_or(InputFault::NoVolumeMetric, |doubt| InputFault::NoVolumeRead { doubt }))
            );
        }
        let mut of_all = Spacing::default();
        for series in &self.series {
            of_all.learn(series.points.iter().map(|(at, ..)| *at));
        }
        let bytes: Vec<_> =
            self.guaranteed_megabytes.into_iter().map(|limit| limit.with_unit(&self.guaranteed)).collect();
        for guaranteed in self.guaranteed.into_iter().chain(bytes) {
            guaranteed.put(&self.series, [length, interval], out);
        }
        let mut by_length: BTreeMap<Span, Points> = BTreeMap::new();
        for series in self.series {
            let own = regular(&series.points);
            let Some(length) = length.or(own).or_else(|| of_all.length(interval)) else {
                return Err(out.unusable(InputFault::NoLength { item: label!("point in each series") }));
            };
            out.part(&series.name, Fate::Read(series.points.len() as u32));
            let points = by_length.entry(length).or_default();
            for (at, value, origin) in series.points {
                points.add(at, series.scope, series.meaning.clone(), value, origin);
            }
        }
        for (length, points) in by_length {
            points.put(length, Edge::Begin, out);
        }
        out.doubt_parts();
        Ok(())
    }
}

/// True for sums of operations or bytes, without which a demand is incomplete.
pub(crate) fn is_total(meaning: &Meaning) -> bool {
    matches!(meaning, Meaning::Sum(counted) if !counted.is_time())
}

/// The distance of equidistant points: gaps of idle volumes would be mistaken for windows.
fn regular(points: &[(DateTime, f64, Origin)]) -> Option<Span> {
    let mut moments: Vec<DateTime> = points.iter().map(|(at, ..)| *at).collect();
    moments.sort_unstable();
    moments.dedup();
    let mut gaps = moments.windows(2).map(|pair| pair[1].duration_since(pair[0]));
    let first = gaps.next().filter(|_| moments.len() > 2)?;
    gaps.all(|gap| gap == first).then(|| Span::from_secs_f64(first.as_secs_f64()))
}

/// Reads or writes, by a metric's name in lower case.
fn direction(name: &str) -> Class {
    match (name.contains("read"), name.contains("writ")) {
        (true, false) => Class::Read,
        (false, true) => Class::Write,
        _ => Class::All,
    }
}

/// The same meaning for maxima of shorter windows; sums have none.
pub(crate) fn maximum(meaning: &Meaning) -> Option<Meaning> {
    Some(match meaning {
        Meaning::Rate(Counted::Operations(class)) => Meaning::Gauge(*class, Measure::Iops, Statistic::Maximum),
        Meaning::Rate(Counted::Bytes(class)) => Meaning::Gauge(*class, Measure::Throughput, Statistic::Maximum),
        Meaning::Gauge(class, measure, _) => Meaning::Gauge(*class, *measure, Statistic::Maximum),
        _ => return None,
    })
}

/// Text, tables and YAML of the command lines of clouds, which their documents in JSON replace.
pub(crate) const COMMAND_LINE: Form = Form::refused(
    "cloud-cli",
    "metrics of a cloud's command line",
    |head| Resemblance::is(6, is_command_line(head)),
    &InputFault::CommandLineText,
);

fn is_command_line(head: &Head<'_>) -> bool {
    let mut lines = head.text().lines().take(200).map(str::trim);
    // Of `az monitor metrics list --output table`.
    let is_azure_table = |line: &str| {
        line.starts_with("Timestamp ") && ["Average", "Total", "Maximum"].iter().any(|name| line.ends_with(name))
    };
    let starts = ["DATAPOINTS\t", "METRICDATARESULTS\t", "Datapoints:", "MetricDataResults:"];
    let titles = ["GetMetricStatistics", "GetMetricData", "aggregated-datapoints"];
    !head.begins(b"{")
        && lines.any(|line| {
            starts.iter().any(|start| line.starts_with(start))
                || line.starts_with('|') && titles.iter().any(|title| line.contains(title))
                || is_azure_table(line)
        })
}

/// Responses of `CloudWatch`.
pub(crate) const CLOUDWATCH: Form = Form::document("cloudwatch", "CloudWatch metrics", is_cloudwatch, read_cloudwatch);

fn is_cloudwatch(head: &Head<'_>) -> Resemblance {
    let (is_json, points) = (head.begins(b"{"), head.has("\"Datapoints\""));
    let is = head.has("\"MetricDataResults\"") || points && head.has_any(&["\"Timestamp\"", "\"Label\""]);
    Resemblance::is(4, is_json && is).or_near(1, is_json && points, "Label")
}

#[derive(Default)]
struct CloudWatch {
    volumes: Volumes,
    /// Identifier of each metric of a volume, to separate results with equal labels.
    ids: BTreeMap<(String, String), String>,
}

#[derive(Clone, Debug, PartialEq)]
struct CloudWatchMetric {
    meaning: Meaning,
    /// The unit of its values, in base units.
    unit: f64,
}

fn read_cloudwatch(input: &FormatInput, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
    let mut found = CloudWatch::default();
    for (lines, value) in json::read_documents(document, out)? {
        for (index, result) in json::list(&value, &["MetricDataResults"]).iter().enumerate() {
            found.take_result(result, &lines, &format!("MetricDataResults[{index}]"), out);
        }
        if value.get("Datapoints").is_some() {
            found.take_statistics(&value, &lines, out);
        }
        let more = value.get("NextToken").is_some_and(|token| !token.is_null());
        if more {
            out.caution_once(Some(Origin::line(lines.begin)), Doubt::FurtherPages);
        }
    }
    found.volumes.leave_out_machines();
    let sums = found.volumes.series.iter().any(|series| matches!(series.meaning, Meaning::Sum(_)));
    found.volumes.find_other_statistics("the statistic Sum");
    if sums && !found.ids.is_empty() {
        out.caution(None, Doubt::SumsAssumed);
    }
    found.volumes.put(None, input.interval, out)
}

impl CloudWatch {
    /// A result of `get-metric-data`.
    fn take_result(&mut self, result: &Value, lines: &ElementLines, path: &str, out: &mut Builder) {
        let label = json::get_text(result, &["Label"]).unwrap_or_default();
        let id = json::get_text(result, &["Id"]).unwrap_or_default();
        let Some((name, metric)) = cloudwatch_metric(label).or_else(|| cloudwatch_metric(id)) else {
            let name = if cap_metric(label).is_some() || label.is_empty() { label } else { id };
            let values = |out: &mut Builder| timed_values(result, 1.0, (lines, label, path), out);
            if !self.volumes.add_cap((name, &cap_owner(label)), |out| cap_scope(label, out), values, out) {
                self.volumes.ignore(if label.is_empty() { id } else { label });
            }
            return;
        };
        if is_total(&metric.meaning)
            && let Some(statistic) = other_statistic(label).or_else(|| other_statistic(id))
        {
            self.volumes.unknown_sum.get_or_insert(Doubt::StatisticOfCounts { label: label.to_owned(), statistic });
        }
        let mut part = volume(label, &name);
        let key = (name, part.clone());
        let existing = self.ids.entry(key).or_insert_with(|| id.to_owned());
        if existing != id {
            id.clone_into(&mut part);
            out.caution_once(Some(Origin::line(lines.at(path))), Doubt::EqualLabels);
        }
        match json::get_text(result, &["StatusCode"]) {
            Some("PartialData") => out.caution_once(Some(Origin::line(lines.at(path))), Doubt::FurtherPages),
            Some(error @ ("InternalError" | "Forbidden")) => {
                out.caution(
                    Some(Origin::line(lines.at(path))),
                    Doubt::QueryFailed { error: format!("{label}: {error}") },
                );
            }
            _ => {}
        }
        let points = timed_values(result, metric.unit, (lines, label, path), out);
        let scope = out.scope(ReadingScope { part, ..ReadingScope::default() });
        self.volumes.add(MetricSeries { name: label.to_owned(), scope, meaning: metric.meaning, points });
    }

    /// A response of `get-metric-statistics`.
    fn take_statistics(&mut self, value: &Value, lines: &ElementLines, out: &mut Builder) {
        let label = json::get_text(value, &["Label"]).unwrap_or_default();
        let Some((name, metric)) = cloudwatch_metric(label) else {
            if !self.volumes.add_cap((label, ""), |out| cap_scope(label, out), |out| extreme(value, lines, out), out) {
                self.volumes.ignore(label);
            }
            return;
        };
        let scope = out.scope(ReadingScope { part: volume(label, &name), ..ReadingScope::default() });
        let (mut points, mut lacking) = (Vec::new(), false);
        for (index, point) in json::list(value, &["Datapoints"]).iter().enumerate() {
            let get = |name: &str| point.get(name).and_then(json::number);
            let Some(at) = point.get("Timestamp").and_then(|at| at_of(at, out)) else { continue };
            let origin = lines.origin(label, &format!("Datapoints[{index}]"), out);
            let mean = match &metric.meaning {
                Meaning::Sum(_) => get("Sum").or_else(|| Some(get("Average")? * get("SampleCount")?)),
                _ => get("Average"),
            };
            lacking |= mean.is_none();
            points.push((at, [mean, get("Maximum")].map(|value| Some(value? * metric.unit)), origin));
        }
        if lacking {
            let (statistic, totals) = ("Sum", "operations, bytes and times");
            let doubt = Doubt::OtherStatistic { statistic, totals };
            if is_total(&metric.meaning) {
                self.volumes.unknown_sum.get_or_insert(doubt.clone());
            }
            out.caution(Some(Origin::line(lines.begin)), doubt);
        }
        self.volumes.add_both(label, scope, metric.meaning, &points);
    }
}

/// A statistic other than Sum in a label, such as `VolumeReadOps (average)`.
fn other_statistic(label: &str) -> Option<String> {
    let words = label.split(|letter: char| !letter.is_alphanumeric());
    let mut lower = words.map(str::to_lowercase);
    lower.find(|word| matches!(word.as_str(), "average" | "avg" | "mean" | "maximum" | "minimum" | "samplecount"))
}

/// The values of a result of `get-metric-data` with their times.
fn timed_values(
    result: &Value,
    unit: f64,
    (lines, label, path): (&ElementLines, &str, &str),
    out: &mut Builder,
) -> Vec<(DateTime, f64, Origin)> {
    let pairs = json::list(result, &["Timestamps"]).iter().zip(json::list(result, &["Values"])).enumerate();
    let points = pairs.filter_map(|(index, (at, value))| {
        let origin = lines.origin(label, &format!("{path}.Values[{index}]"), out);
        Some((at_of(at, out)?, json::number(value)? * unit, origin))
    });
    points.collect()
}

/// The points of a metric of a limit in a response of `get-metric-statistics`: the maximum of a check, the minimum of a
/// balance.
fn extreme(value: &Value, lines: &ElementLines, out: &mut Builder) -> Vec<(DateTime, f64, Origin)> {
    let label = json::get_text(value, &["Label"]).unwrap_or_default();
    let is_balance = label.to_lowercase().contains("balance");
    let names: [&str; 4] =
        if is_balance { ["Minimum", "Average", "Maximum", "Sum"] } else { ["Maximum", "Sum", "Average", "Minimum"] };
    let points = json::list(value, &["Datapoints"]).iter().enumerate().filter_map(|(index, point)| {
        let at = point.get("Timestamp").and_then(|at| at_of(at, out))?;
        let value = names.iter().find_map(|name| point.get(*name).and_then(json::number))?;
        Some((at, value, lines.origin(label, &format!("Datapoints[{index}]"), out)))
    });
    points.collect()
}

/// The volume or machine in the label of a metric of a limit.
fn cap_owner(label: &str) -> String {
    let words = label.split([' ', ',', '/', '|', ':']).filter(|word| !word.is_empty());
    words.filter(|word| cap_metric(word).is_none()).collect::<Vec<_>>().join(" ")
}

fn cap_scope(label: &str, out: &mut Builder) -> u32 {
    out.scope(ReadingScope { part: cap_owner(label), ..ReadingScope::default() })
}

fn at_of(value: &Value, out: &mut Builder) -> Option<DateTime> {
    let printed = value.as_str().and_then(timestamp::parse).map(|at| out.instant(at));
    printed.or_else(|| timestamp::of_unix(value.as_f64()?))
}

/// The metric in a label, with its name in lower case.
fn cloudwatch_metric(label: &str) -> Option<(String, CloudWatchMetric)> {
    let lower = label.to_lowercase();
    if let Some(found) = agent_metric(&lower) {
        return Some(found);
    }
    let sums = ["volume", "ebs", "disk"].into_iter().find_map(|stem| {
        let of = |name: String, counted| Some((lower.contains(&name).then_some(name)?, Meaning::Sum(counted), 1.0));
        [("read", Class::Read), ("write", Class::Write)].into_iter().find_map(|(word, class)| {
            of(format!("{stem}{word}ops"), Counted::Operations(class))
                .or_else(|| of(format!("{stem}{word}iops"), Counted::Operations(class)))
                .or_else(|| of(format!("{stem}{word}bytes"), Counted::Bytes(class)))
                .or_else(|| of(format!("{stem}total{word}time"), Counted::OperationSeconds(class)))
        })
    });
    let figure = |class, measure| Meaning::Gauge(class, measure, Statistic::Mean);
    let others = || {
        let class = direction(&lower);
        let table = [
            ("volumeavgreadlatency", figure(Class::Read, Measure::Latency), 1e-3),
            ("volumeavgwritelatency", figure(Class::Write, Measure::Latency), 1e-3),
            ("volumequeuelength", figure(Class::All, Measure::Depth), 1.0),
            ("diskqueuedepth", figure(Class::All, Measure::Depth), 1.0),
            ("readlatency", figure(Class::Read, Measure::Latency), 1.0),
            ("writelatency", figure(Class::Write, Measure::Latency), 1.0),
            ("readthroughput", Meaning::Rate(Counted::Bytes(Class::Read)), 1.0),
            ("writethroughput", Meaning::Rate(Counted::Bytes(Class::Write)), 1.0),
            ("iops", Meaning::Rate(Counted::Operations(class)), 1.0),
        ];
        let other = ["percent", "balance", "limit", "provisioned", "exceeded", "check", "%", "network", "localstorage"];
        let is_other = other.iter().any(|word| lower.contains(word));
        let found = table.into_iter().find(|(name, ..)| !is_other && lower.contains(name));
        found.map(|(name, meaning, unit)| (name.to_owned(), meaning, unit))
    };
    let (name, meaning, unit) = sums.or_else(others)?;
    // A generic name includes the class.
    let name = if name == "iops" { lower } else { name };
    Some((name, CloudWatchMetric { meaning, unit }))
}

/// Statistics of EBS volumes from the agent: differences, times in microseconds. Container Insights has the same names
/// (`node_diskio_ebs_*`) for the counters of the CSI driver, whose times are in seconds.
fn agent_metric(lower: &str) -> Option<(String, CloudWatchMetric)> {
    let (before, name) = lower.split_once("diskio_ebs_")?;
    let name = name.split_whitespace().next()?;
    let time_unit = if before.ends_with("node_") { 1.0 } else { 1e-6 };
    let (meaning, unit) = match name {
        "total_read_ops" => (Meaning::Sum(Counted::Operations(Class::Read)), 1.0),
        "total_write_ops" => (Meaning::Sum(Counted::Operations(Class::Write)), 1.0),
        "total_read_bytes" => (Meaning::Sum(Counted::Bytes(Class::Read)), 1.0),
        "total_write_bytes" => (Meaning::Sum(Counted::Bytes(Class::Write)), 1.0),
        "total_read_time" => (Meaning::Sum(Counted::OperationSeconds(Class::Read)), time_unit),
        "total_write_time" => (Meaning::Sum(Counted::OperationSeconds(Class::Write)), time_unit),
        "volume_queue_length" => (Meaning::Gauge(Class::All, Measure::Depth, Statistic::Mean), 1.0),
        _ => return None,
    };
    Some((name.to_owned(), CloudWatchMetric { meaning, unit }))
}

/// The part of a label other than the metric: usually the volume.
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

/// Responses of Azure Monitor.
pub(crate) const AZURE: Form = Form::document("azure-monitor", "Azure Monitor", is_azure, read_azure);

fn is_azure(head: &Head<'_>) -> Resemblance {
    let (is_json, series, at) = (head.begins(b"{["), head.has("\"timeseries\""), head.has("\"timeStamp\""));
    let values = head.has_any(&["\"metadatavalues\"", "\"timespan\""]);
    Resemblance::is(4, is_json && series && (at || values)).or_near(2, is_json && at && values, "timeseries")
}

fn read_azure(input: &FormatInput, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
    let (mut volumes, mut interval) = (Volumes::default(), None);
    for (lines, value) in json::read_documents(document, out)? {
        // The batch interface returns several resources.
        let answers = match (&value, value.get("values").and_then(Value::as_array)) {
            (Value::Array(list), _) | (_, Some(list)) => list.iter().collect(),
            _ => vec![&value],
        };
        for answer in answers {
            interval = json::get_text(answer, &["interval"]).and_then(text::iso_duration).or(interval);
            for (index, metric) in json::list(answer, &["value"]).iter().enumerate() {
                take_azure(&mut volumes, metric, &lines, &format!("value[{index}]"), out);
            }
        }
    }
    volumes.put(interval, input.interval, out)
}

fn take_azure(volumes: &mut Volumes, metric: &Value, lines: &ElementLines, path: &str, out: &mut Builder) {
    let name = json::get(metric, &["name"]).map(|name| name.as_str().or_else(|| json::get_text(name, &["value"])));
    let name = name.flatten().unwrap_or_default();
    let id = json::get_text(metric, &["id"]).map(resource_id).unwrap_or_default();
    let host = resource(id).unwrap_or_default();
    let part_id = if id.to_lowercase().contains("/disks/") { id } else { "" };
    let Some(meaning) = azure_meaning(name) else {
        let mut found = false;
        for (index, series) in json::list(metric, &["timeseries"]).iter().enumerate() {
            let part = azure_part(name, dimension_value(series));
            let owner = format!("{host} {part}");
            let scope =
                ReadingScope { host: host.to_owned(), part, part_id: part_id.to_owned(), ..ReadingScope::default() };
            let scope = |out: &mut Builder| out.scope(scope);
            let path = format!("{path}.timeseries[{index}]");
            let points = |out: &mut Builder| azure_percentages(series, (lines, name, &path), out);
            found |= volumes.add_cap((name, owner.trim()), scope, points, out);
        }
        if !found {
            volumes.ignore(name);
        }
        return;
    };
    for (index, series) in json::list(metric, &["timeseries"]).iter().enumerate() {
        let part = azure_part(name, dimension_value(series));
        let (host, part_id) = (host.to_owned(), part_id.to_owned());
        let scope = out.scope(ReadingScope { host, part: part.clone(), part_id, ..ReadingScope::default() });
        let path = format!("{path}.timeseries[{index}]");
        take_series(volumes, series, (name, &part), &meaning, scope, (lines, &path), out);
    }
}

fn take_series(
    volumes: &mut Volumes,
    series: &Value,
    (metric, part): (&str, &str),
    meaning: &Meaning,
    scope: u32,
    (lines, path): (&ElementLines, &str),
    out: &mut Builder,
) {
    let (mut points, mut lacking) = (Vec::new(), false);
    for (index, point) in json::list(series, &["data"]).iter().enumerate() {
        let get = |name: &str| json::get(point, &[name]).and_then(json::number);
        let Some(at) = json::get_text(point, &["timeStamp"]).and_then(timestamp::parse) else { continue };
        let at = out.instant(at);
        let origin = lines.origin(metric, &format!("{path}.data[{index}]"), out);
        let unit = if matches!(meaning, Meaning::Gauge(_, Measure::Latency, _)) { 1e-3 } else { 1.0 };
        let mean = if matches!(meaning, Meaning::Sum(_)) { get("total") } else { get("average") };
        lacking |= mean.is_none() && (get("total").is_some() || get("average").is_some());
        points.push((at, [mean, get("maximum")].map(|value| Some(value? * unit)), origin));
    }
    if lacking {
        let doubt = Doubt::OtherStatistic { statistic: "Total", totals: "bytes" };
        out.caution_once(Some(Origin::line(lines.at(path))), doubt);
    }
    volumes.add_both(format!("{metric} {part}").trim_end(), scope, meaning.clone(), &points);
}

fn azure_percentages(
    series: &Value,
    (lines, metric, path): (&ElementLines, &str, &str),
    out: &mut Builder,
) -> Vec<(DateTime, f64, Origin)> {
    let points = json::list(series, &["data"]).iter().enumerate().filter_map(|(index, point)| {
        let at = json::get_text(point, &["timeStamp"]).and_then(timestamp::parse)?;
        let value = ["average", "maximum", "minimum"]
            .iter()
            .find_map(|name| json::get(point, &[*name]).and_then(json::number))?;
        Some((out.instant(at), value, lines.origin(metric, &format!("{path}.data[{index}]"), out)))
    });
    points.collect()
}

/// The meaning of a metric, from the words of its name.
pub(crate) fn azure_meaning(name: &str) -> Option<Meaning> {
    let lower = name.to_lowercase().replace(['_', '-', '/'], " ");
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(&["percent", "consumed", "limit", "burst", "target", "max ", "cached", "cache ", "network"]) {
        return None;
    }
    let class = direction(&lower);
    if has(&["operations sec", "iops"]) {
        return Some(Meaning::Rate(Counted::Operations(class)));
    }
    if has(&["bytes sec", "throughput"]) {
        return Some(Meaning::Rate(Counted::Bytes(class)));
    }
    match lower.as_str() {
        "disk read bytes" | "disk write bytes" => Some(Meaning::Sum(Counted::Bytes(class))),
        _ if has(&["queue depth"]) => Some(Meaning::Gauge(Class::All, Measure::Depth, Statistic::Mean)),
        _ if has(&["disk"]) && has(&["latency"]) => Some(Meaning::Gauge(class, Measure::Latency, Statistic::Mean)),
        _ => None,
    }
}

/// The resource in the identifier of a metric.
fn resource_id(id: &str) -> &str {
    id.split_once("/providers/Microsoft.Insights/").map_or(id, |(resource, _)| resource)
}

/// The machine or disk of an identifier such as `/subscriptions/../virtualMachines/db1/providers/..`.
pub(crate) fn resource(id: &str) -> Option<&str> {
    resource_id(id).rsplit('/').next().filter(|name| !name.is_empty())
}

/// The value of the dimension of a series.
fn dimension_value(series: &Value) -> Option<&str> {
    json::list(series, &["metadatavalues"]).iter().find_map(|value| json::get_text(value, &["value"]))
}

/// The disk of a metric with this dimension; empty for a whole machine.
pub(crate) fn azure_part(metric: &str, dimension: Option<&str>) -> String {
    let (lower, value) = (metric.to_lowercase(), dimension.filter(|text| !text.is_empty()));
    match (lower.starts_with("data disk"), lower.starts_with("os disk"), value) {
        (true, _, Some(lun)) => format!("LUN {lun}"),
        (true, _, None) => "data disks".to_owned(),
        (_, true, _) => "OS disk".to_owned(),
        (_, _, value) => value.unwrap_or_default().to_owned(),
    }
}

/// Responses of OCI Monitoring.
pub(crate) const OCI: Form = Form::document("oci-monitoring", "OCI Monitoring", is_oci, read_oci);

fn is_oci(head: &Head<'_>) -> Resemblance {
    let is_json = head.begins(b"{[");
    let points = head.has_any(&["\"aggregated-datapoints\"", "\"aggregatedDatapoints\""]);
    let named = head.has_any(&["\"oci_blockstore\"", "\"oci_computeagent\""]);
    Resemblance::is(4, is_json && points).or_near(2, is_json && named, "aggregated datapoints")
}

fn read_oci(input: &FormatInput, document: &[u8], out: &mut Builder) -> Result<(), Refusal> {
    let (mut volumes, mut attachments) = (Volumes::default(), BTreeMap::new());
    for (lines, value) in json::read_documents(document, out)? {
        let (path, list) = match &value {
            Value::Array(list) => ("", list.as_slice()),
            _ => ("data", json::list(&value, &["data", "items"])),
        };
        for (index, metric) in list.iter().enumerate() {
            take_oci((&mut volumes, &mut attachments), metric, &lines, &format!("{path}[{index}]"), out);
        }
    }
    volumes.find_other_statistics(".sum()");
    if !volumes.series.is_empty() {
        out.caution(None, Doubt::SumsAssumed);
    }
    volumes.put(None, input.interval, out)
}

/// Identifiers of the attachments of each metric of a volume.
type Attachments = BTreeMap<(String, u32), BTreeSet<String>>;

fn take_oci(
    (volumes, attachments): (&mut Volumes, &mut Attachments),
    metric: &Value,
    lines: &ElementLines,
    path: &str,
    out: &mut Builder,
) {
    let name = json::get_text(metric, &["name"]).unwrap_or_default();
    let dimensions = json::get(metric, &["dimensions"]);
    let dimension = |key: &str| dimensions.and_then(|of| of.get(key)).and_then(Value::as_str);
    let owner = dimension("resourceDisplayName").or_else(|| dimension("resourceId")).unwrap_or_default();
    let part_id = dimension("resourceId").filter(|id| id.starts_with("ocid1.")).unwrap_or_default().to_owned();
    let datapoints = json::list(metric, &["aggregated-datapoints"]);
    let points = datapoints.iter().enumerate().filter_map(|(index, point)| {
        let at = out.instant(json::get_text(point, &["timestamp"]).and_then(timestamp::parse)?);
        let value = json::number(json::get(point, &["value"])?)?;
        Some((at, value, lines.origin(name, &format!("{path}.aggregated-datapoints[{index}]"), out)))
    });
    let points: Vec<_> = points.collect();
    let guaranteed = match name {
        "VolumeGuaranteedIOPS" => Some((CapKind::Operations, &mut volumes.guaranteed)),
        // Its unit depends on the query, which the response does not repeat.
        "VolumeGuaranteedThroughput" => Some((CapKind::Bytes, &mut volumes.guaranteed_megabytes)),
        _ => None,
    };
    if let Some((kind, limits)) = guaranteed {
        let part = owner.to_owned();
        let scope = out.scope(ReadingScope { part: part.clone(), part_id, ..ReadingScope::default() });
        out.part(name, Fate::Read(points.len() as u32));
        return limits.push(GuaranteedRate { metric: name.to_owned(), part, scope, kind, points });
    }
    let Some(counted) = oci_counted(name) else {
        let scope = ReadingScope { part: owner.to_owned(), part_id, ..ReadingScope::default() };
        let scope = |out: &mut Builder| out.scope(scope);
        if !volumes.add_cap((name, owner), scope, |_| points, out) {
            volumes.ignore(name);
        }
        return;
    };
    // Metrics of an instance cover all its disks.
    let scope = if name.starts_with("Disk") {
        ReadingScope { host: owner.to_owned(), ..ReadingScope::default() }
    } else {
        ReadingScope { part: owner.to_owned(), part_id, ..ReadingScope::default() }
    };
    let scope = out.scope(scope);
    let series = MetricSeries { name: format!("{name} {owner}"), scope, meaning: Meaning::Sum(counted), points };
    // Each attachment counts its own operations.
    let attachment = dimension("attachmentId").unwrap_or_default().to_owned();
    let existing = attachments.entry((series.name.clone(), scope)).or_default();
    if existing.insert(attachment) && existing.len() > 1 { volumes.merge(series) } else { volumes.add(series) }
}

fn oci_counted(name: &str) -> Option<Counted> {
    let class = direction(&name.to_lowercase());
    Some(match name {
        "VolumeReadOps" | "VolumeWriteOps" | "DiskIopsRead" | "DiskIopsWritten" => Counted::Operations(class),
        "VolumeReadThroughput" | "VolumeWriteThroughput" | "DiskBytesRead" | "DiskBytesWritten" => {
            Counted::Bytes(class)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Meaning, azure_meaning, cloudwatch_metric, resource, volume};
    use crate::reading::{Class, Counted, Measure, Statistic};

    #[test]
    fn metrics_are_found_in_labels() {
        let check = |label: &str, part: &str, meaning: &Meaning| {
            let (name, found) = cloudwatch_metric(label).unwrap_or_else(|| panic!("{label}"));
            assert_eq!((&found.meaning, volume(label, &name).as_str()), (meaning, part), "{label}");
        };
        check("VolumeReadOps", "", &Meaning::Sum(Counted::Operations(Class::Read)));
        check("vol-0a1 VolumeWriteBytes", "vol-0a1", &Meaning::Sum(Counted::Bytes(Class::Write)));
        check("data VolumeTotalReadTime", "data", &Meaning::Sum(Counted::OperationSeconds(Class::Read)));
        check("VolumeQueueLength", "", &Meaning::Gauge(Class::All, Measure::Depth, Statistic::Mean));
        check("db-1 ReadIOPS", "db-1", &Meaning::Rate(Counted::Operations(Class::Read)));
        check("WriteLatency", "", &Meaning::Gauge(Class::Write, Measure::Latency, Statistic::Mean));
        check("Avg Total IOPS", "", &Meaning::Rate(Counted::Operations(Class::All)));
        check("vol-0a1 diskio_ebs_total_read_ops", "vol-0a1", &Meaning::Sum(Counted::Operations(Class::Read)));
        check("diskio_ebs_total_write_bytes", "", &Meaning::Sum(Counted::Bytes(Class::Write)));
        let unit = |label: &str| cloudwatch_metric(label).map(|(_, metric)| metric.unit);
        assert_eq!(unit("diskio_ebs_total_read_time"), Some(1e-6));
        assert_eq!(unit("node_diskio_ebs_total_read_time"), Some(1.0));
        for label in
            ["BurstBalance", "NetworkReadThroughput", "VolumeIdleTime", "EBSIOBalance%", "ReadIOPSLocalStorage", ""]
        {
            assert_eq!(cloudwatch_metric(label), None, "{label}");
        }
    }

    #[test]
    fn metrics_are_recognised_by_their_words() {
        let reads = || Some(Meaning::Rate(Counted::Operations(Class::Read)));
        let table = [
            ("Data Disk Read Operations/Sec", reads()),
            ("Composite Disk Read Operations/sec", reads()),
            ("read_iops", reads()),
            ("OS Disk Write Bytes/sec", Some(Meaning::Rate(Counted::Bytes(Class::Write)))),
            ("Disk Write Bytes", Some(Meaning::Sum(Counted::Bytes(Class::Write)))),
            ("Data Disk Queue Depth", Some(Meaning::Gauge(Class::All, Measure::Depth, Statistic::Mean))),
            ("Data Disk IOPS Consumed Percentage", None),
            ("Data Disk Max Burst IOPS", None),
            ("Premium Data Disk Cache Read Hit", None),
            ("BlobCapacity", None),
        ];
        for (name, expected) in table {
            assert_eq!(azure_meaning(name), expected, "{name}");
        }
    }

    #[test]
    fn resources_are_read() {
        let id =
            "/subscriptions/x/providers/Microsoft.Compute/virtualMachines/db1/providers/Microsoft.Insights/metrics/m";
        assert_eq!(resource(id), Some("db1"));
    }
}

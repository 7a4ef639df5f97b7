//! Metrics of volumes: the namespace `oci_blockstore` of the Monitoring API, from the minutes of the service.
//!
//! A query has the form `VolumeReadOps[5m]{resourceId = "OCID"}.sum()`: a metric, an interval, dimensions, a statistic.

use std::collections::BTreeMap;

use hyper::StatusCode;
use jiff::Timestamp;
use plimsoll_service::api::Minute;
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::OciError;
use super::page::{SortOrder, in_subtree, known_compartment, sorted_page};
use super::{OciResult, parse};
use crate::cloud::{Operation, VolumeEntry};
use crate::record::Provider;
use crate::web::{Reply, Request};

/// Version of the Monitoring API.
pub(super) const VERSION: &str = "20180401";
const NAMESPACE: &str = "oci_blockstore";
/// Period before the end without a begin: three hours, as OCI has it.
const PERIOD_MS: u64 = 3 * 3_600_000;
const MINUTE_MS: u64 = 60_000;
/// Longest interval: a day.
const MAX_INTERVAL_MINUTES: u64 = 1_440;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SummarizeDetails {
    namespace: String,
    query: String,
    start_time: Option<String>,
    end_time: Option<String>,
    resolution: Option<String>,
    resource_group: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ListDetails {
    name: Option<String>,
    namespace: Option<String>,
    resource_group: Option<String>,
    dimension_filters: Option<BTreeMap<String, String>>,
    group_by: Option<Vec<String>>,
    sort_by: Option<String>,
    sort_order: Option<String>,
}

/// A metric: its name, its display name, its unit, and its value in a minute.
type Metric = (&'static str, &'static str, &'static str, fn(&Minute) -> u64);

/// Units as in OCI, Block Volume Metrics (2024-03-22).
const METRICS: [Metric; 4] = [
    ("VolumeReadOps", "Volume Read Operations", "reads", |minute| minute.reads),
    ("VolumeWriteOps", "Volume Write Operations", "writes", |minute| minute.writes),
    ("VolumeReadThroughput", "Volume Read Throughput", "bytes", |minute| minute.read_bytes),
    ("VolumeWriteThroughput", "Volume Write Throughput", "bytes", |minute| minute.written_bytes),
];

#[derive(Debug)]
struct MetricQuery {
    metric: Metric,
    interval_minutes: u64,
    resource: Option<String>,
    statistic: Statistic,
}

/// A statistic of the values of an interval, and its length in seconds.
type Statistic = fn(&[u64], f64) -> f64;

/// `SummarizeMetricsData`.
pub(super) fn summarize(operation: &Operation<'_>, request: &Request) -> OciResult {
    let volumes = volumes_of_compartment(operation, request)?;
    let details: SummarizeDetails = parse(request)?;
    if details.namespace != NAMESPACE {
        return Err(OciError::invalid(format!("namespace: the service has {NAMESPACE}")));
    }
    let query = MetricQuery::read(&details.query)?;
    let end_ms = parse_time(details.end_time.as_deref(), "endTime")?.unwrap_or(operation.now_ns / 1_000_000);
    let start_ms = parse_time(details.start_time.as_deref(), "startTime")?.unwrap_or(end_ms.saturating_sub(PERIOD_MS));
    if start_ms >= end_ms {
        return Err(OciError::invalid("startTime is before endTime"));
    }
    // No metric here is of a resource group.
    let is_wanted = |volume: &&VolumeEntry| {
        details.resource_group.is_none() && query.resource.as_ref().is_none_or(|id| *id == volume.record.id)
    };
    let mut streams = Vec::new();
    for volume in volumes.iter().filter(is_wanted) {
        let mut minutes = operation.service().minutes(&volume.summary.name)?;
        minutes.retain(|minute| (start_ms..end_ms).contains(&minute.start_ms));
        let points = query.points(&minutes);
        if !points.is_empty() {
            let (name, display_name, unit, _) = query.metric;
            streams.push(json!({
                "namespace": NAMESPACE,
                "resourceGroup": null,
                "compartmentId": volume.record.compartment,
                "name": name,
                "dimensions": { "resourceId": volume.record.id },
                "metadata": { "displayName": display_name, "unit": unit },
                "resolution": details.resolution.as_deref().unwrap_or("1m"),
                "aggregatedDatapoints": points,
            }));
        }
    }
    Ok(Reply::json(StatusCode::OK, &Value::Array(streams)))
}

/// `ListMetrics`.
pub(super) fn list(operation: &Operation<'_>, request: &Request) -> OciResult {
    let volumes = volumes_of_compartment(operation, request)?;
    let details: ListDetails = parse(request)?;
    let order = SortOrder::read(details.sort_order.as_deref(), SortOrder::Ascending)?;
    if details.sort_by.as_ref().is_some_and(|key| !["NAMESPACE", "NAME", "RESOURCEGROUP"].contains(&key.as_str())) {
        return Err(OciError::invalid("sortBy is NAMESPACE, NAME or RESOURCEGROUP"));
    }
    let group_by = details.group_by.unwrap_or_default();
    if group_by.iter().any(|key| !["namespace", "name", "resourceGroup"].contains(&key.as_str())) {
        return Err(OciError::invalid("groupBy has namespace, name and resourceGroup"));
    }
    // All metrics are of one namespace and of no resource group.
    let is_of_namespace = details.namespace.is_none_or(|namespace| namespace == NAMESPACE);
    let is_wanted = |id: &String| {
        let mut dimensions = details.dimension_filters.iter().flatten();
        details.resource_group.is_none() && dimensions.all(|(key, value)| key == "resourceId" && value == id)
    };
    let mut views = Vec::new();
    for volume in volumes.iter().filter(|volume| is_of_namespace && is_wanted(&volume.record.id)) {
        let mut metrics = METRICS.map(|(name, ..)| name).to_vec();
        metrics.retain(|name| details.name.as_ref().is_none_or(|requested| requested == name));
        views.extend(metrics.into_iter().map(|name| metric_view(volume, name, &group_by)));
    }
    let key = |view: &Value| format!("{}\n{}\n{}", view["name"], view["dimensions"], view["compartmentId"]);
    views.sort_by_cached_key(key);
    views.dedup();
    sorted_page(request, views, order, key)
}

/// A metric of a volume with the fields that it is grouped by, or with all.
fn metric_view(volume: &VolumeEntry, name: &str, group_by: &[String]) -> Value {
    let mut view = json!({
        "namespace": NAMESPACE,
        "resourceGroup": null,
        "compartmentId": volume.record.compartment,
        "name": name,
        "dimensions": { "resourceId": volume.record.id },
    });
    if let Some(fields) = view.as_object_mut().filter(|_| !group_by.is_empty()) {
        fields.retain(|key, _| key == "compartmentId" || group_by.contains(key));
    }
    view
}

/// The volumes of the compartment of a request, or of all.
fn volumes_of_compartment(operation: &Operation<'_>, request: &Request) -> Result<Vec<VolumeEntry>, OciError> {
    let compartment = request.parameter("compartmentId").ok_or_else(|| OciError::missing("compartmentId"))?;
    known_compartment(compartment)?;
    let is_all = in_subtree(request)?;
    let mut volumes = operation.volumes(Provider::Oci);
    volumes.retain(|volume| volume.summary.writable && (is_all || volume.record.compartment == compartment));
    Ok(volumes)
}

/// A time of a request in milliseconds since 1970.
fn parse_time(text: Option<&str>, name: &str) -> Result<Option<u64>, OciError> {
    let parsed = |text: &str| {
        let time: Timestamp = text.parse().ok()?;
        u64::try_from(time.as_millisecond()).ok()
    };
    let wrong = || OciError::invalid(format!("{name} is a time such as 2026-11-26T12:00:00Z"));
    text.map(|text| parsed(text).ok_or_else(wrong)).transpose()
}

impl MetricQuery {
    fn read(text: &str) -> Result<Self, OciError> {
        let form = || OciError::invalid("query: write METRIC[INTERVAL]{resourceId = \"OCID\"}.STATISTIC()");
        let (name, rest) = text.split_once('[').ok_or_else(form)?;
        let (interval, rest) = rest.split_once(']').ok_or_else(form)?;
        let (resource, rest) = match rest.trim_start().strip_prefix('{') {
            None => (None, rest),
            Some(rest) => {
                let (dimension, rest) = rest.split_once('}').ok_or_else(form)?;
                let (key, value) = dimension.split_once('=').ok_or_else(form)?;
                if key.trim() != "resourceId" {
                    return Err(OciError::invalid("query: the dimension of a volume is resourceId"));
                }
                (Some(value.trim().trim_matches('"').to_owned()), rest)
            }
        };
        let metric = METRICS.into_iter().find(|metric| metric.0 == name.trim());
        let metric = metric.ok_or_else(|| {
            let names = METRICS.map(|metric| metric.0).join(", ");
            OciError::invalid(format!("query: the metrics of volumes are {names}"))
        })?;
        let interval_minutes = parse_minutes(interval).ok_or_else(|| {
            OciError::invalid("query: an interval is a number of minutes or hours up to a day, such as 5m or 1h")
        })?;
        let statistic =
            rest.trim().strip_prefix('.').and_then(|name| parse_statistic(name.trim())).ok_or_else(|| {
                OciError::invalid("query: the statistics are sum(), mean(), avg(), max(), min(), count() and rate()")
            })?;
        Ok(Self { metric, interval_minutes, resource, statistic })
    }

    /// The data points of complete and incomplete intervals with their beginning.
    fn points(&self, minutes: &[Minute]) -> Vec<Value> {
        let interval_ms = self.interval_minutes * MINUTE_MS;
        let interval = |minute: &Minute| minute.start_ms / interval_ms;
        let point = |minutes: &[Minute]| {
            let values: Vec<u64> = minutes.iter().map(self.metric.3).collect();
            let start_ms = i64::try_from(interval(&minutes[0]) * interval_ms).unwrap_or(i64::MAX);
            let timestamp = Timestamp::from_millisecond(start_ms).unwrap_or(Timestamp::MAX);
            json!({ "timestamp": timestamp.to_string(), "value": (self.statistic)(&values, interval_ms as f64 / 1e3) })
        };
        minutes.chunk_by(|a, b| interval(a) == interval(b)).map(point).collect()
    }
}

/// Minutes of an interval: `5m`, `2h`, `1d`.
fn parse_minutes(text: &str) -> Option<u64> {
    let (number, unit) = text.trim().split_at_checked(text.trim().len().checked_sub(1)?)?;
    let factor = match unit {
        "m" => 1,
        "h" => 60,
        "d" => MAX_INTERVAL_MINUTES,
        _ => return None,
    };
    let minutes = number.parse::<u64>().ok()?.checked_mul(factor)?;
    (1..=MAX_INTERVAL_MINUTES).contains(&minutes).then_some(minutes)
}

fn parse_statistic(name: &str) -> Option<Statistic> {
    fn sum(values: &[u64]) -> f64 {
        values.iter().sum::<u64>() as f64
    }
    Some(match name {
        "sum()" => |values, _| sum(values),
        "mean()" | "avg()" => |values, _| sum(values) / values.len() as f64,
        "max()" => |values, _| values.iter().copied().max().unwrap_or_default() as f64,
        "min()" => |values, _| values.iter().copied().min().unwrap_or_default() as f64,
        "count()" => |values, _| values.len() as f64,
        "rate()" => |values, seconds| sum(values) / seconds,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minute(start: u64, reads: u64) -> Minute {
        Minute { start_ms: start * MINUTE_MS, reads, ..Minute::default() }
    }

    #[test]
    fn queries_have_an_interval_a_dimension_and_a_statistic() {
        let points = |query: &str| {
            let query = MetricQuery::read(query).unwrap();
            let minutes = [minute(0, 60), minute(1, 120), minute(5, 30)];
            let points = query.points(&minutes);
            points.iter().map(|point| point["value"].as_f64().unwrap()).collect::<Vec<f64>>()
        };
        assert_eq!(points("VolumeReadOps[1m].sum()"), [60.0, 120.0, 30.0]);
        assert_eq!(points("VolumeReadOps[5m]{resourceId = \"x\"}.sum()"), [180.0, 30.0]);
        assert_eq!(points("VolumeReadOps[5m].mean()"), [90.0, 30.0]);
        assert_eq!(points("VolumeReadOps[1h].rate()"), [210.0 / 3600.0]);
        let query = MetricQuery::read("VolumeWriteOps[2h]{resourceId=\"ocid1.volume\"}.max()").unwrap();
        assert_eq!((query.resource.as_deref(), query.interval_minutes), (Some("ocid1.volume"), 120));
        for wrong in [
            "VolumeReadOps",
            "VolumeReadOps[5m]",
            "VolumeReadOps[0m].sum()",
            "VolumeReadOps[2d].sum()",
            "CpuUtilization[1m].mean()",
            "VolumeReadOps[1m]{name = \"x\"}.sum()",
            "VolumeReadOps[1m].percentile(0.9)",
        ] {
            assert!(MetricQuery::read(wrong).is_err(), "{wrong}");
        }
    }
}

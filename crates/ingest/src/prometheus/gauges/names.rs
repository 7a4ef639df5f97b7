//! Names of clouds' metrics in exporters, with their meaning, statistic, owner and period.
//!
//! `toSnakeCase` of `prometheus/cloudwatch_exporter` and `BuildMetricName` of yet-another-cloudwatch-exporter, whose word
//! separators are left out here; `makeRDSDiskIOMetrics` of `percona/rds_exporter`; `prometheus-community/stackdriver_exporter`;
//! the labels of webdevops/azure-metrics-exporter.

use plimsoll_units::Span;

use crate::clouds::{OS_COUNTERS, azure_meaning, azure_part, cap_metric, is_total, maximum, resource};
use crate::reading::{Class, Counted, Doubt, Measure, ReadingScope, Statistic};
use crate::sampled::Meaning;
use crate::text::iso_duration;

/// Metrics of an exporter, by the beginning of their names.
struct GaugeSource {
    prefix: &'static str,
    /// Sources that count the same operations have the same subject: that with the lowest rank is read.
    subject: MetricOwner,
    rank: u8,
    /// Labels of the host, and of the part; the first present of each.
    host: &'static [&'static str],
    part: &'static [&'static str],
    /// Where the statistic is.
    statistic: StatisticPlace,
    /// The period of sums, where it is no setting of the exporter, in seconds.
    period_s: Option<f64>,
    metrics: &'static [(&'static str, Meaning, f64)],
}

/// Whose operations a source counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MetricOwner {
    Instance,
    Database,
    Disk,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StatisticPlace {
    /// The end of the name, as in `aws_ebs_volume_read_ops_sum`.
    Suffix,
    /// The meaning of the metric.
    Metric,
}

const fn sum_of(counted: Counted) -> Meaning {
    Meaning::Sum(counted)
}

const fn mean_of(class: Class, measure: Measure) -> Meaning {
    Meaning::Gauge(class, measure, Statistic::Mean)
}

static EBS: [(&str, Meaning, f64); 9] = [
    ("volumereadops", sum_of(Counted::Operations(Class::Read)), 1.0),
    ("volumewriteops", sum_of(Counted::Operations(Class::Write)), 1.0),
    ("volumereadbytes", sum_of(Counted::Bytes(Class::Read)), 1.0),
    ("volumewritebytes", sum_of(Counted::Bytes(Class::Write)), 1.0),
    ("volumetotalreadtime", sum_of(Counted::OperationSeconds(Class::Read)), 1.0),
    ("volumetotalwritetime", sum_of(Counted::OperationSeconds(Class::Write)), 1.0),
    ("volumeavgreadlatency", mean_of(Class::Read, Measure::Latency), 1e-3),
    ("volumeavgwritelatency", mean_of(Class::Write, Measure::Latency), 1e-3),
    ("volumequeuelength", mean_of(Class::All, Measure::Depth), 1.0),
];
static EC2: [(&str, Meaning, f64); 4] = [
    ("ebsreadops", sum_of(Counted::Operations(Class::Read)), 1.0),
    ("ebswriteops", sum_of(Counted::Operations(Class::Write)), 1.0),
    ("ebsreadbytes", sum_of(Counted::Bytes(Class::Read)), 1.0),
    ("ebswritebytes", sum_of(Counted::Bytes(Class::Write)), 1.0),
];
static RDS: [(&str, Meaning, f64); 7] = [
    ("readiops", Meaning::Rate(Counted::Operations(Class::Read)), 1.0),
    ("writeiops", Meaning::Rate(Counted::Operations(Class::Write)), 1.0),
    ("readthroughput", Meaning::Rate(Counted::Bytes(Class::Read)), 1.0),
    ("writethroughput", Meaning::Rate(Counted::Bytes(Class::Write)), 1.0),
    ("readlatency", mean_of(Class::Read, Measure::Latency), 1.0),
    ("writelatency", mean_of(Class::Write, Measure::Latency), 1.0),
    ("diskqueuedepth", mean_of(Class::All, Measure::Depth), 1.0),
];
/// Billed operations of a cluster of Aurora.
static AURORA: [(&str, Meaning, f64); 2] = [
    ("volumereadiops", sum_of(Counted::Operations(Class::Read)), 1.0),
    ("volumewriteiops", sum_of(Counted::Operations(Class::Write)), 1.0),
];
static GOOGLE: [(&str, Meaning, f64); 10] = [
    ("read_ops_count", sum_of(Counted::Operations(Class::Read)), 1.0),
    ("write_ops_count", sum_of(Counted::Operations(Class::Write)), 1.0),
    ("read_bytes_count", sum_of(Counted::Bytes(Class::Read)), 1.0),
    ("write_bytes_count", sum_of(Counted::Bytes(Class::Write)), 1.0),
    ("max_read_ops_count", Meaning::Gauge(Class::Read, Measure::Iops, Statistic::Maximum), 1.0),
    ("max_write_ops_count", Meaning::Gauge(Class::Write, Measure::Iops, Statistic::Maximum), 1.0),
    ("max_read_bytes_count", Meaning::Gauge(Class::Read, Measure::Throughput, Statistic::Maximum), 1.0),
    ("max_write_bytes_count", Meaning::Gauge(Class::Write, Measure::Throughput, Statistic::Maximum), 1.0),
    ("average_io_latency", mean_of(Class::All, Measure::Latency), 1e-6),
    ("average_io_queue_depth", mean_of(Class::All, Measure::Depth), 1.0),
];

const VOLUME_LABELS: &[&str] = &["dimension_VolumeId", "dimension_volume_id", "VolumeId", "volume_id", "name"];
const INSTANCE_LABELS: &[&str] =
    &["dimension_InstanceId", "dimension_instance_id", "InstanceId", "instance_id", "name"];
pub(super) const DATABASE_LABELS: &[&str] = &[
    "dimension_DBInstanceIdentifier",
    "dimension_dbinstance_identifier",
    "dbinstance_identifier",
    "exported_instance",
    "instance",
];
const CLUSTER_LABELS: &[&str] =
    &["dimension_DBClusterIdentifier", "dimension_dbcluster_identifier", "dbcluster_identifier"];

static SOURCES: [GaugeSource; 6] = [
    GaugeSource {
        prefix: "aws_ebs_",
        subject: MetricOwner::Instance,
        rank: 0,
        host: &[],
        part: VOLUME_LABELS,
        statistic: StatisticPlace::Suffix,
        period_s: None,
        metrics: &EBS,
    },
    GaugeSource {
        prefix: "aws_ec2_",
        subject: MetricOwner::Instance,
        rank: 1,
        host: &[],
        part: INSTANCE_LABELS,
        statistic: StatisticPlace::Suffix,
        period_s: None,
        metrics: &EC2,
    },
    GaugeSource {
        prefix: "rdsosmetrics_diskIO_",
        subject: MetricOwner::Database,
        rank: 0,
        host: DATABASE_LABELS,
        part: &["device"],
        statistic: StatisticPlace::Metric,
        period_s: None,
        metrics: &OS_COUNTERS,
    },
    GaugeSource {
        prefix: "aws_rds_volume_",
        subject: MetricOwner::Database,
        rank: 2,
        host: CLUSTER_LABELS,
        part: &[],
        statistic: StatisticPlace::Suffix,
        period_s: None,
        metrics: &AURORA,
    },
    GaugeSource {
        prefix: "aws_rds_",
        subject: MetricOwner::Database,
        rank: 1,
        host: DATABASE_LABELS,
        part: &[],
        statistic: StatisticPlace::Suffix,
        period_s: None,
        metrics: &RDS,
    },
    GaugeSource {
        prefix: "stackdriver_gce_instance_compute_googleapis_com_instance_disk_",
        subject: MetricOwner::Disk,
        rank: 0,
        host: &["instance_name", "instance_id"],
        part: &["device_name"],
        statistic: StatisticPlace::Metric,
        // Sampled every 60 seconds, and the last point is printed.
        period_s: Some(60.0),
        metrics: &GOOGLE,
    },
];

/// Metrics of Azure have any name: these labels tell them.
const AZURE_LABELS: [&str; 2] = ["resourceID", "interval"];

/// The beginnings of names of Azure's metrics of disks.
const AZURE_BEGINS: [&str; 7] =
    ["data disk", "os disk", "vm cached", "vm uncached", "vm local", "vm remote", "premium data disk"];

/// Statistics as the end of a name or a label.
const STATISTICS: [&str; 7] = ["sample_count", "sum", "total", "average", "maximum", "minimum", "count"];

/// True for a line of an exposition that may be one of these metrics.
pub(in crate::prometheus) fn may_be_gauge(line: &str) -> bool {
    let is_other = || SOURCES.iter().any(|source| line.starts_with(source.prefix)) || line.starts_with("rdsosmetrics_");
    is_other() || line.starts_with("oci_blockstore_") || AZURE_LABELS.iter().all(|name| line.contains(*name))
}

/// The meaning of a metric's values.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum GaugeMeaning {
    Figure(Meaning, f64),
    /// Evidence of a limit. Of the statistics of a metric the lowest rank is read.
    Cap(usize),
    /// A statistic that allows no rate.
    Unusable(Doubt),
}

/// A metric of a scope.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GaugeMetric {
    /// For messages: its name, or that of Azure with its statistic.
    pub(super) title: String,
    /// Without prefix, word separators and statistic.
    pub(super) quantity: String,
    pub(super) meaning: GaugeMeaning,
    pub(super) scope: ReadingScope,
    pub(super) subject: MetricOwner,
    /// Of the sources of a subject the lowest rank is read.
    pub(super) rank: u8,
    /// The period of its values, if it is no setting of the exporter.
    pub(super) period: Option<Span>,
}

/// The statistic at the end of a name, and the rest.
fn split_statistic(name: &str) -> (&str, &str) {
    let found =
        STATISTICS.iter().find_map(|statistic| Some((name.strip_suffix(statistic)?.strip_suffix('_')?, *statistic)));
    found.or_else(|| name.rsplit_once('_')).unwrap_or((name, ""))
}

/// The meaning of a statistic of a metric of this meaning; none for one that adds no information.
fn with_statistic(metric: &str, meaning: &Meaning, unit: f64, statistic: &str) -> Option<GaugeMeaning> {
    let (label, other) = (metric.to_owned(), statistic.to_owned());
    Some(match (meaning, statistic) {
        (Meaning::Sum(_), "sum" | "total") | (Meaning::Rate(_) | Meaning::Gauge(..), "average") => {
            GaugeMeaning::Figure(meaning.clone(), unit)
        }
        (Meaning::Rate(_) | Meaning::Gauge(..), "maximum") => GaugeMeaning::Figure(maximum(meaning)?, unit),
        (Meaning::Sum(_), _) if is_total(meaning) => {
            GaugeMeaning::Unusable(Doubt::StatisticOfCounts { label, statistic: other })
        }
        (Meaning::Rate(_), _) => GaugeMeaning::Unusable(Doubt::StatisticOfRates { label, statistic: other }),
        _ => return None,
    })
}

/// The rank of a statistic of a limit: of a balance the lowest value counts, of a check any.
fn cap_preference(quantity: &str, statistic: &str) -> Option<usize> {
    let order: &[&str] = if quantity.contains("balance") {
        &["minimum", "average"]
    } else if quantity.contains("percent") {
        &["average", "maximum"]
    } else {
        &["maximum", "sum", "total", "average"]
    };
    order.iter().position(|other| *other == statistic)
}

/// The first of these labels with a text, without the path of an ARN. The address of an exporter is no name.
pub(super) fn named<'a>(names: &[&str], label: &impl Fn(&str) -> Option<&'a str>) -> &'a str {
    let texts = names.iter().filter_map(|name| label(name)).filter(|text| !text.is_empty());
    let mut found = texts.filter_map(|text| {
        let is_arn = text.starts_with("arn:");
        if is_arn { text.rsplit([':', '/']).next() } else { Some(text).filter(|text| !text.contains(':')) }
    });
    found.next().unwrap_or_default()
}

impl GaugeMetric {
    pub(super) fn new<'a>(name: &str, label: &impl Fn(&str) -> Option<&'a str>) -> Option<Self> {
        if let Some(source) = SOURCES.iter().find(|source| name.starts_with(source.prefix)) {
            return Self::of_source(source, name, label);
        }
        if let Some(rest) = name.strip_prefix("oci_blockstore_") {
            cap_metric(name)?;
            let scope = ReadingScope { part: named(&["resourceId"], label).to_owned(), ..ReadingScope::default() };
            return Some(Self {
                title: name.to_owned(),
                quantity: rest.to_owned(),
                meaning: GaugeMeaning::Cap(0),
                scope,
                subject: MetricOwner::Disk,
                rank: 0,
                period: None,
            });
        }
        Self::of_azure(name, label)
    }

    fn of_source<'a>(source: &GaugeSource, name: &str, label: &impl Fn(&str) -> Option<&'a str>) -> Option<Self> {
        let GaugeSource { subject, rank, .. } = *source;
        // The name of a metric of a cluster begins with a word of its prefix.
        let rest = name.strip_prefix(if rank == 2 { "aws_rds_" } else { source.prefix })?;
        let in_name = source.statistic == StatisticPlace::Suffix;
        let (metric, statistic) = if in_name { split_statistic(rest) } else { (rest, "") };
        let quantity = if in_name { metric.replace('_', "") } else { metric.to_owned() };
        let found = source.metrics.iter().find(|(other, ..)| *other == quantity);
        let meaning = match found {
            Some((_, meaning, unit)) if in_name => with_statistic(name, meaning, *unit, statistic)?,
            // Its scale differs by version: some are sums over the interval.
            Some(("avgQueueLen", ..)) => return None,
            Some((_, meaning, unit)) => GaugeMeaning::Figure(meaning.clone(), *unit),
            None => {
                cap_metric(&quantity)?;
                GaugeMeaning::Cap(if in_name { cap_preference(&quantity, statistic)? } else { 0 })
            }
        };
        let (host, part) = (named(source.host, label).to_owned(), named(source.part, label).to_owned());
        let scope = ReadingScope { host, part, ..ReadingScope::default() };
        let period = source.period_s.map(Span::from_secs_f64);
        // Sums over a class or an engine have no instance.
        let is_sum = subject == MetricOwner::Database && scope.host.is_empty();
        (!is_sum).then_some(Self { title: name.to_owned(), quantity, meaning, scope, subject, rank, period })
    }

    /// The name of a metric of Azure is a label, or a part of a name by a template.
    fn of_azure<'a>(name: &str, label: &impl Fn(&str) -> Option<&'a str>) -> Option<Self> {
        let (id, interval) = (label(AZURE_LABELS[0])?, label(AZURE_LABELS[1])?);
        let words = name.replace('_', " ");
        let begin = || AZURE_BEGINS.iter().filter_map(|word| words.find(word)).min().unwrap_or(0);
        let metric = label("metric").unwrap_or_else(|| &words[begin()..]).to_owned();
        let of_name =
            || STATISTICS.iter().find(|statistic| words[begin()..].contains(&format!(" {statistic}"))).copied();
        let statistic = label("aggregation").or_else(of_name)?.to_lowercase();
        let meaning = if let Some(meaning) = azure_meaning(&metric) {
            let unit = if matches!(meaning, Meaning::Gauge(_, Measure::Latency, _)) { 1e-3 } else { 1.0 };
            with_statistic(&metric, &meaning, unit, &statistic)?
        } else {
            cap_metric(&metric)?;
            GaugeMeaning::Cap(cap_preference(&metric.to_lowercase(), &statistic)?)
        };
        let value = ["dimension", "dimensionLUN", "dimensionLun"].iter().find_map(|name| label(name));
        let host = resource(id).unwrap_or_default().to_owned();
        let scope = ReadingScope { host, part: azure_part(&metric, value), ..ReadingScope::default() };
        let (title, period) = (format!("{metric} ({statistic})"), iso_duration(interval));
        Some(Self { title, quantity: metric, meaning, scope, subject: MetricOwner::Disk, rank: 0, period })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(name: &str, labels: &[(&str, &'static str)]) -> Option<GaugeMetric> {
        GaugeMetric::new(name, &|key: &str| labels.iter().find(|(other, _)| *other == key).map(|(_, text)| *text))
    }

    #[test]
    fn metrics_have_the_meaning_of_their_statistic() {
        let reads = |of: fn(Counted) -> Meaning| GaugeMeaning::Figure(of(Counted::Operations(Class::Read)), 1.0);
        let check = |name: &str, meaning: Option<GaugeMeaning>| {
            let labels = [("volume_id", "vol-0a1"), ("instance", "db1")];
            assert_eq!(find(name, &labels).map(|metric| metric.meaning), meaning, "{name}");
        };
        check("aws_ebs_volume_read_ops_sum", Some(reads(Meaning::Sum)));
        check("aws_ec2_ebsread_ops_sum", Some(reads(Meaning::Sum)));
        check("aws_rds_read_iops_average", Some(reads(Meaning::Rate)));
        let highest = Meaning::Gauge(Class::Read, Measure::Iops, Statistic::Maximum);
        check("aws_rds_read_iops_maximum", Some(GaugeMeaning::Figure(highest, 1.0)));
        check("aws_ebs_burst_balance_minimum", Some(GaugeMeaning::Cap(0)));
        check("aws_ebs_burst_balance_average", Some(GaugeMeaning::Cap(1)));
        check("aws_ebs_volume_iopsexceeded_check_maximum", Some(GaugeMeaning::Cap(0)));
        check("aws_ec2_ebsiobalance__minimum", Some(GaugeMeaning::Cap(0)));
        check("aws_ec2_ebsbyte_balance_percent_minimum", Some(GaugeMeaning::Cap(0)));
        for name in ["aws_rds_read_iops_sum", "aws_ebs_volume_read_ops_average", "aws_ebs_volume_read_ops_p99"] {
            let found = find(name, &[("volume_id", "vol-0a1"), ("instance", "db1")]).map(|metric| metric.meaning);
            assert!(matches!(found, Some(GaugeMeaning::Unusable(_))), "{name}: {found:?}");
        }
        for name in [
            "aws_rds_network_receive_throughput_average",
            "aws_rds_read_iops_local_storage_average",
            "aws_rds_commit_latency_average",
            "aws_ebs_burst_balance_maximum",
            "aws_ebs_volume_idle_time_sum",
            "aws_ec2_cpucredit_balance_average",
            "rdsosmetrics_diskIO_avgQueueLen",
        ] {
            check(name, None);
        }
    }

    #[test]
    fn owners_are_found_in_the_labels_of_each_exporter() {
        let check = |name: &str, labels: &[(&str, &'static str)], host: &str, part: &str| {
            let scope = find(name, labels).unwrap_or_else(|| panic!("{name}")).scope;
            assert_eq!((scope.host.as_str(), scope.part.as_str()), (host, part), "{name}");
        };
        let ebs = "aws_ebs_volume_read_ops_sum";
        check(ebs, &[("name", "arn:aws:ec2:eu-west-1:1:volume/vol-0a1")], "", "vol-0a1");
        check(ebs, &[("job", "aws_ebs"), ("instance", ""), ("volume_id", "vol-0a1")], "", "vol-0a1");
        let rds = "aws_rds_read_iops_average";
        check(rds, &[("dimension_DBInstanceIdentifier", "db1"), ("instance", "yace:5000")], "db1", "");
        check(rds, &[("exported_instance", "db1"), ("instance", "rds:9042")], "db1", "");
        assert_eq!(find(rds, &[("instance", "yace:5000"), ("dimension_DBClusterIdentifier", "c")]), None);
        let disk = [("resourceID", "/subscriptions/0/x/virtualMachines/db1"), ("interval", "PT1M"), ("dimension", "3")];
        let share = [("metric", "Data Disk IOPS Consumed Percentage"), ("aggregation", "average")];
        check("azurerm_resource_metric", &[disk.as_slice(), &share].concat(), "db1", "LUN 3");
        let name = "azure_vm_data_disk_read_operations_sec_average_countpersecond";
        check(name, &disk, "db1", "LUN 3");
        let reads = Meaning::Rate(Counted::Operations(Class::Read));
        assert_eq!(find(name, &disk).map(|metric| metric.meaning), Some(GaugeMeaning::Figure(reads, 1.0)));
    }
}

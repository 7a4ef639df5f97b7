//! Exporters of disk counters, and the meaning of their metrics.

use crate::ebs::exceeded;
use crate::reading::Counted::{BusySeconds, Bytes, OperationSeconds, Operations, QueueSeconds};
use crate::reading::{CapKind, CapOwner, Class, Counted};
use crate::text::lists;

/// An exporter. Several of them count the same operations: the first one present is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Family {
    Node,
    Otel,
    Telegraf,
    WindowsPhysical,
    WindowsLogical,
    Container,
    EbsDriver,
    EbsAgent,
    /// Counters that `stackdriver_exporter` adds up itself (`--monitoring.aggregate-deltas`).
    Google,
    /// `devstat` of FreeBSD.
    Devstat,
}

/// A counter: the rest of its name in each version, quantity, class and unit. Without a class, a label contains it.
type Counter = (&'static str, fn(Class) -> Counted, Option<Class>, f64);

impl Family {
    /// Each family with the prefix of its metrics, and its counters.
    pub(super) const TABLE: [(&'static str, Self, &'static [Counter]); 10] = [
        ("aws_ebs_csi_", Self::EbsDriver, &EBS_DRIVER),
        ("diskio_ebs_", Self::EbsAgent, &EBS_AGENT),
        ("node_disk_", Self::Node, &NODE),
        ("system_disk_", Self::Otel, &OTEL),
        ("diskio_", Self::Telegraf, &TELEGRAF),
        ("windows_physical_disk_", Self::WindowsPhysical, &WINDOWS),
        ("windows_logical_disk_", Self::WindowsLogical, &WINDOWS),
        ("container_fs_", Self::Container, &CONTAINER),
        ("stackdriver_gce_instance_compute_googleapis_com_instance_disk_", Self::Google, &GOOGLE),
        ("node_devstat_", Self::Devstat, &DEVSTAT),
    ];

    pub(super) fn prefix(self) -> &'static str {
        Self::TABLE.iter().find(|(_, family, _)| *family == self).map_or("", |(prefix, ..)| prefix)
    }
}

const READ: Option<Class> = Some(Class::Read);
const WRITE: Option<Class> = Some(Class::Write);
const ALL: Option<Class> = Some(Class::All);

const NODE: [Counter; 17] = [
    ("reads_completed", Operations, READ, 1.0),
    ("writes_completed", Operations, WRITE, 1.0),
    ("read_bytes bytes_read", Bytes, READ, 1.0),
    ("written_bytes bytes_written", Bytes, WRITE, 1.0),
    ("read_time_seconds", OperationSeconds, READ, 1.0),
    ("write_time_seconds", OperationSeconds, WRITE, 1.0),
    ("read_time_ms", OperationSeconds, READ, 1e-3),
    ("write_time_ms", OperationSeconds, WRITE, 1e-3),
    ("io_time_seconds", BusySeconds, ALL, 1.0),
    ("io_time_ms", BusySeconds, ALL, 1e-3),
    ("io_time_weighted_seconds", QueueSeconds, ALL, 1.0),
    ("io_time_weighted", QueueSeconds, ALL, 1e-3),
    ("discards_completed", Operations, Some(Class::Discard), 1.0),
    ("discarded_sectors", Bytes, Some(Class::Discard), 512.0),
    ("discard_time_seconds", OperationSeconds, Some(Class::Discard), 1.0),
    ("flush_requests", Operations, Some(Class::Flush), 1.0),
    ("flush_requests_time_seconds", OperationSeconds, Some(Class::Flush), 1.0),
];
const OTEL: [Counter; 5] = [
    ("operations", Operations, None, 1.0),
    ("io io_bytes", Bytes, None, 1.0),
    ("operation_time operation_time_seconds", OperationSeconds, None, 1.0),
    ("io_time io_time_seconds", BusySeconds, ALL, 1.0),
    ("weighted_io_time weighted_io_time_seconds", QueueSeconds, ALL, 1.0),
];
const TELEGRAF: [Counter; 8] = [
    ("reads", Operations, READ, 1.0),
    ("writes", Operations, WRITE, 1.0),
    ("read_bytes", Bytes, READ, 1.0),
    ("write_bytes", Bytes, WRITE, 1.0),
    ("read_time", OperationSeconds, READ, 1e-3),
    ("write_time", OperationSeconds, WRITE, 1e-3),
    ("io_time", BusySeconds, ALL, 1e-3),
    ("weighted_io_time", QueueSeconds, ALL, 1e-3),
];
const WINDOWS: [Counter; 6] = [
    ("reads", Operations, READ, 1.0),
    ("writes", Operations, WRITE, 1.0),
    ("read_bytes", Bytes, READ, 1.0),
    ("write_bytes", Bytes, WRITE, 1.0),
    ("read_latency_seconds", OperationSeconds, READ, 1.0),
    ("write_latency_seconds", OperationSeconds, WRITE, 1.0),
];
const CONTAINER: [Counter; 8] = [
    ("reads", Operations, READ, 1.0),
    ("writes", Operations, WRITE, 1.0),
    ("reads_bytes", Bytes, READ, 1.0),
    ("writes_bytes", Bytes, WRITE, 1.0),
    ("read_seconds", OperationSeconds, READ, 1.0),
    ("write_seconds", OperationSeconds, WRITE, 1.0),
    ("io_time_seconds", BusySeconds, ALL, 1.0),
    ("io_time_weighted_seconds", QueueSeconds, ALL, 1.0),
];
const GOOGLE: [Counter; 4] = [
    ("read_ops_count", Operations, READ, 1.0),
    ("write_ops_count", Operations, WRITE, 1.0),
    ("read_bytes_count", Bytes, READ, 1.0),
    ("write_bytes_count", Bytes, WRITE, 1.0),
];
const DEVSTAT: [Counter; 4] = [
    ("transfers", Operations, None, 1.0),
    ("bytes", Bytes, None, 1.0),
    ("duration_seconds", OperationSeconds, None, 1.0),
    ("busy_time_seconds", BusySeconds, ALL, 1.0),
];

/// Node metrics of the CSI driver of EBS: `pkg/metrics/nvme.go` and `docs/metrics.md` of
/// kubernetes-sigs/aws-ebs-csi-driver.
const EBS_DRIVER: [Counter; 10] = [
    ("read_ops", Operations, READ, 1.0),
    ("write_ops", Operations, WRITE, 1.0),
    ("read_bytes", Bytes, READ, 1.0),
    ("write_bytes", Bytes, WRITE, 1.0),
    ("read_seconds", OperationSeconds, READ, 1.0),
    ("write_seconds", OperationSeconds, WRITE, 1.0),
    (
        "exceeded_iops_seconds",
        |_| exceeded(CapOwner::Volume, CapKind::Operations, "aws_ebs_csi_exceeded_iops_seconds_total"),
        ALL,
        1.0,
    ),
    (
        "exceeded_tp_seconds",
        |_| exceeded(CapOwner::Volume, CapKind::Bytes, "aws_ebs_csi_exceeded_tp_seconds_total"),
        ALL,
        1.0,
    ),
    (
        "ec2_exceeded_iops_seconds",
        |_| exceeded(CapOwner::Machine, CapKind::Operations, "aws_ebs_csi_ec2_exceeded_iops_seconds_total"),
        ALL,
        1.0,
    ),
    (
        "ec2_exceeded_tp_seconds",
        |_| exceeded(CapOwner::Machine, CapKind::Bytes, "aws_ebs_csi_ec2_exceeded_tp_seconds_total"),
        ALL,
        1.0,
    ),
];
/// The same counters from the receiver `awsebsnvmereceiver` of the `CloudWatch` agent, times in microseconds.
const EBS_AGENT: [Counter; 10] = [
    ("total_read_ops", Operations, READ, 1.0),
    ("total_write_ops", Operations, WRITE, 1.0),
    ("total_read_bytes", Bytes, READ, 1.0),
    ("total_write_bytes", Bytes, WRITE, 1.0),
    ("total_read_time", OperationSeconds, READ, 1e-6),
    ("total_write_time", OperationSeconds, WRITE, 1e-6),
    (
        "volume_performance_exceeded_iops",
        |_| exceeded(CapOwner::Volume, CapKind::Operations, "diskio_ebs_volume_performance_exceeded_iops"),
        ALL,
        1e-6,
    ),
    (
        "volume_performance_exceeded_tp",
        |_| exceeded(CapOwner::Volume, CapKind::Bytes, "diskio_ebs_volume_performance_exceeded_tp"),
        ALL,
        1e-6,
    ),
    (
        "ec2_instance_performance_exceeded_iops",
        |_| exceeded(CapOwner::Machine, CapKind::Operations, "diskio_ebs_ec2_instance_performance_exceeded_iops"),
        ALL,
        1e-6,
    ),
    (
        "ec2_instance_performance_exceeded_tp",
        |_| exceeded(CapOwner::Machine, CapKind::Bytes, "diskio_ebs_ec2_instance_performance_exceeded_tp"),
        ALL,
        1e-6,
    ),
];

/// A disk metric of an exporter.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Metric {
    pub(super) family: Family,
    pub(super) counted: Counted,
    /// The unit of its values, in base units.
    pub(super) unit: f64,
}

/// The metric of this name; `direction` is a label of families whose names lack it.
pub(super) fn find_metric(name: &str, direction: Option<&str>) -> Option<Metric> {
    let (prefix, family, counters) = Family::TABLE.iter().find(|(prefix, ..)| name.starts_with(prefix))?;
    let rest = &name[prefix.len()..];
    let rest = rest.strip_suffix("_total").unwrap_or(rest);
    let (_, counted, class, unit) = counters.iter().find(|(names, ..)| lists(names, rest))?;
    let class = match (class, direction) {
        (Some(class), _) => *class,
        (None, Some("read")) => Class::Read,
        (None, Some("write")) => Class::Write,
        (None, None) => Class::All,
        // `other` and `free` of devstat transfer no data.
        (None, Some(_)) => return None,
    };
    Some(Metric { family: *family, counted: counted(class), unit: *unit })
}

/// Times above limits do not add to operations that another exporter counts.
pub(super) const fn is_limit(counted: &Counted) -> bool {
    matches!(counted, Counted::ExceededSeconds(..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_recognised_by_name_and_direction() {
        let check = |name: &str, direction, family, counted, unit| {
            let found = find_metric(name, direction).unwrap_or_else(|| panic!("{name}"));
            assert_eq!((found.family, found.counted, found.unit), (family, counted, unit), "{name}");
        };
        let reads = || Operations(Class::Read);
        check("node_disk_reads_completed_total", None, Family::Node, reads(), 1.0);
        check("node_disk_reads_completed", None, Family::Node, reads(), 1.0);
        check("node_disk_io_time_weighted", None, Family::Node, QueueSeconds(Class::All), 1e-3);
        check("system_disk_operations_total", Some("read"), Family::Otel, reads(), 1.0);
        check("container_fs_reads_total", None, Family::Container, reads(), 1.0);
        check("windows_logical_disk_reads_total", None, Family::WindowsLogical, reads(), 1.0);
        check("diskio_read_time", None, Family::Telegraf, OperationSeconds(Class::Read), 1e-3);
        check("node_devstat_transfers_total", Some("read"), Family::Devstat, reads(), 1.0);
        assert_eq!(find_metric("node_devstat_transfers_total", Some("other")), None);
        assert_eq!(find_metric("node_disk_reads_merged_total", None), None);
        assert_eq!(find_metric("node_cpu_seconds_total", None), None);
    }
}

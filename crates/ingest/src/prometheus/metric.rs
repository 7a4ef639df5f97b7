//! Metrics of exporters: what each counts, and in which unit.

use crate::figure::Class;
use crate::snapshot::Counted;

/// Who exports it. Several of them count the same operations: the first that is there is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Family {
    Node,
    Otel,
    Telegraf,
    WindowsPhysical,
    WindowsLogical,
    Container,
}

impl Family {
    const PREFIXES: [(&'static str, Self); 6] = [
        ("node_disk_", Self::Node),
        ("system_disk_", Self::Otel),
        ("diskio_", Self::Telegraf),
        ("windows_physical_disk_", Self::WindowsPhysical),
        ("windows_logical_disk_", Self::WindowsLogical),
        ("container_fs_", Self::Container),
    ];

    /// The beginning of its metrics' names.
    pub(super) fn prefix(self) -> &'static str {
        Self::PREFIXES.iter().find(|(_, family)| *family == self).map_or("", |(prefix, _)| prefix)
    }
}

/// What one metric counts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Metric {
    pub(super) family: Family,
    pub(super) counted: Counted,
    /// What a count of one is, in base units.
    pub(super) unit: f64,
}

/// The metric of this name; `direction` is a label of families whose name does not say it.
pub(super) fn metric(name: &str, direction: Option<&str>) -> Option<Metric> {
    let (prefix, family) = Family::PREFIXES.iter().find(|(prefix, _)| name.starts_with(prefix))?;
    let rest = &name[prefix.len()..];
    let rest = rest.strip_suffix("_total").unwrap_or(rest);
    let class = match direction {
        Some("read") => Class::Read,
        Some("write") => Class::Write,
        _ => Class::All,
    };
    let (counted, unit) = match (family, rest) {
        (Family::Node, rest) => of_node(rest)?,
        (Family::Otel, rest) => of_otel(rest, class)?,
        (Family::Telegraf, rest) => of_telegraf(rest)?,
        (Family::WindowsPhysical | Family::WindowsLogical, rest) => of_windows(rest)?,
        (Family::Container, rest) => of_container(rest)?,
    };
    Some(Metric { family: *family, counted, unit })
}

fn of_node(rest: &str) -> Option<(Counted, f64)> {
    use Counted::{BusySeconds, Bytes, OperationSeconds, Operations, QueueSeconds};
    Some(match rest {
        "reads_completed" => (Operations(Class::Read), 1.0),
        "writes_completed" => (Operations(Class::Write), 1.0),
        "read_bytes" | "bytes_read" => (Bytes(Class::Read), 1.0),
        "written_bytes" | "bytes_written" => (Bytes(Class::Write), 1.0),
        "read_time_seconds" => (OperationSeconds(Class::Read), 1.0),
        "write_time_seconds" => (OperationSeconds(Class::Write), 1.0),
        "read_time_ms" => (OperationSeconds(Class::Read), 1e-3),
        "write_time_ms" => (OperationSeconds(Class::Write), 1e-3),
        "io_time_seconds" => (BusySeconds(Class::All), 1.0),
        "io_time_ms" => (BusySeconds(Class::All), 1e-3),
        "io_time_weighted_seconds" => (QueueSeconds(Class::All), 1.0),
        "io_time_weighted" => (QueueSeconds(Class::All), 1e-3),
        "discards_completed" => (Operations(Class::Discard), 1.0),
        "discarded_sectors" => (Bytes(Class::Discard), 512.0),
        "discard_time_seconds" => (OperationSeconds(Class::Discard), 1.0),
        "flush_requests" => (Operations(Class::Flush), 1.0),
        "flush_requests_time_seconds" => (OperationSeconds(Class::Flush), 1.0),
        _ => return None,
    })
}

fn of_otel(rest: &str, class: Class) -> Option<(Counted, f64)> {
    Some(match rest {
        "operations" => (Counted::Operations(class), 1.0),
        "io" | "io_bytes" => (Counted::Bytes(class), 1.0),
        "operation_time" | "operation_time_seconds" => (Counted::OperationSeconds(class), 1.0),
        "io_time" | "io_time_seconds" => (Counted::BusySeconds(Class::All), 1.0),
        "weighted_io_time" | "weighted_io_time_seconds" => (Counted::QueueSeconds(Class::All), 1.0),
        _ => return None,
    })
}

fn of_telegraf(rest: &str) -> Option<(Counted, f64)> {
    Some(match rest {
        "reads" => (Counted::Operations(Class::Read), 1.0),
        "writes" => (Counted::Operations(Class::Write), 1.0),
        "read_bytes" => (Counted::Bytes(Class::Read), 1.0),
        "write_bytes" => (Counted::Bytes(Class::Write), 1.0),
        "read_time" => (Counted::OperationSeconds(Class::Read), 1e-3),
        "write_time" => (Counted::OperationSeconds(Class::Write), 1e-3),
        "io_time" => (Counted::BusySeconds(Class::All), 1e-3),
        "weighted_io_time" => (Counted::QueueSeconds(Class::All), 1e-3),
        _ => return None,
    })
}

fn of_windows(rest: &str) -> Option<(Counted, f64)> {
    Some(match rest {
        "reads" => (Counted::Operations(Class::Read), 1.0),
        "writes" => (Counted::Operations(Class::Write), 1.0),
        "read_bytes" => (Counted::Bytes(Class::Read), 1.0),
        "write_bytes" => (Counted::Bytes(Class::Write), 1.0),
        "read_latency_seconds" => (Counted::OperationSeconds(Class::Read), 1.0),
        "write_latency_seconds" => (Counted::OperationSeconds(Class::Write), 1.0),
        _ => return None,
    })
}

fn of_container(rest: &str) -> Option<(Counted, f64)> {
    Some(match rest {
        "reads" => (Counted::Operations(Class::Read), 1.0),
        "writes" => (Counted::Operations(Class::Write), 1.0),
        "reads_bytes" => (Counted::Bytes(Class::Read), 1.0),
        "writes_bytes" => (Counted::Bytes(Class::Write), 1.0),
        "read_seconds" => (Counted::OperationSeconds(Class::Read), 1.0),
        "write_seconds" => (Counted::OperationSeconds(Class::Write), 1.0),
        "io_time_seconds" => (Counted::BusySeconds(Class::All), 1.0),
        "io_time_weighted_seconds" => (Counted::QueueSeconds(Class::All), 1.0),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Family, metric};
    use crate::figure::Class;
    use crate::snapshot::Counted;

    #[test]
    fn metrics_are_known_by_name_and_direction() {
        let check = |name: &str, direction, family, counted, unit| {
            let found = metric(name, direction).unwrap_or_else(|| panic!("{name}"));
            assert_eq!((found.family, found.counted, found.unit), (family, counted, unit), "{name}");
        };
        let reads = || Counted::Operations(Class::Read);
        check("node_disk_reads_completed_total", None, Family::Node, reads(), 1.0);
        check("node_disk_reads_completed", None, Family::Node, reads(), 1.0);
        check("node_disk_io_time_weighted", None, Family::Node, Counted::QueueSeconds(Class::All), 1e-3);
        check("system_disk_operations_total", Some("read"), Family::Otel, reads(), 1.0);
        check("container_fs_reads_total", None, Family::Container, reads(), 1.0);
        check("windows_logical_disk_reads_total", None, Family::WindowsLogical, reads(), 1.0);
        check("diskio_read_time", None, Family::Telegraf, Counted::OperationSeconds(Class::Read), 1e-3);
        assert_eq!(metric("node_disk_reads_merged_total", None), None);
        assert_eq!(metric("node_cpu_seconds_total", None), None);
    }
}

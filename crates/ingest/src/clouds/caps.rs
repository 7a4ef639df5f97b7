//! Metrics of limits that a volume or machine reaches: counts of throttling, shares of a limit in use, burst credits.
//!
//! AWS: <https://docs.aws.amazon.com/ebs/latest/userguide/using_cloudwatch_ebs.html>. Azure:
//! <https://learn.microsoft.com/azure/virtual-machines/disks-metrics>. OCI:
//! <https://docs.oracle.com/iaas/Content/Block/References/volumemetrics.htm>. Google's throttling counters are
//! deprecated, and read if present.

use jiff::civil::DateTime;

use super::regular;
use crate::builder::{Builder, throttled};
use crate::reading::{CapBasis, CapEvidence, CapKind, CapLimit, CapOwner, Doubt, Origin};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CapMetric {
    limit: CapLimit,
    reached: Reached,
}

/// Values at which a limit is reached.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reached {
    /// Counts and checks: any value above zero.
    AboveZero,
    /// Percentage of a limit, or of used credits.
    AtLeast(f64),
    /// Percentage of remaining credits.
    AtMost(f64),
}

/// Share of a limit from which operations are delayed: Azure's advice for disks of databases.
const CONSUMED_PERCENT: f64 = 95.0;
/// Used credits are rounded.
const USED_UP_PERCENT: f64 = 99.0;
/// Remaining credits are averages over a period.
const EMPTY_PERCENT: f64 = 1.0;

/// The meaning of a metric by its name, in any spelling; none for metrics of other things.
pub(crate) fn cap_metric(name: &str) -> Option<CapMetric> {
    let lower: String = name.to_lowercase().chars().map(|c| if matches!(c, '_' | '-') { ' ' } else { c }).collect();
    let has = |word: &str| lower.contains(word);
    let (basis, reached) = if (has("stalledio") || has("stalled io")) && has("check") {
        (CapBasis::Stalled, Reached::AboveZero)
    } else if has("exceededcheck") || has("exceeded check") || has("performance exceeded") || has("throttled") {
        (CapBasis::Exceeded, Reached::AboveZero)
    } else if has("balance") && (has("burst") || has("ebsio") || has("ebsbyte")) {
        (CapBasis::Credits, Reached::AtMost(EMPTY_PERCENT))
    } else if has("used burst") && has("credits") {
        (CapBasis::Credits, Reached::AtLeast(USED_UP_PERCENT))
    } else if has("consumed percent") || matches!(&*lower, "physical data read percent" | "log write percent") {
        (CapBasis::Share, Reached::AtLeast(CONSUMED_PERCENT))
    } else {
        return None;
    };
    let owner = find_owner(&has);
    Some(CapMetric {
        limit: CapLimit { provider: find_provider(&has, owner), owner, kind: find_kind(&has), basis },
        reached,
    })
}

/// The share of a volume's operations or bytes in the limit that OCI guarantees.
pub(super) const fn guaranteed(kind: CapKind) -> CapMetric {
    let limit = CapLimit { provider: "OCI", owner: CapOwner::Volume, kind, basis: CapBasis::Share };
    CapMetric { limit, reached: Reached::AtLeast(CONSUMED_PERCENT) }
}

/// The limited quantity.
fn find_kind(has: &impl Fn(&str) -> bool) -> CapKind {
    if has("stalled") || has("throttledios") {
        CapKind::Either
    } else if has("iops") || has("iobalance") || has(" ops") || has("io credits") {
        CapKind::Operations
    } else if has("throughput") || has("bandwidth") || has("bytes") || has("bytebalance") || has("bps") || has(" tp") {
        CapKind::Bytes
    } else if has("log write") {
        // The limit of a tier's log rate.
        CapKind::Bytes
    } else {
        CapKind::Either
    }
}

/// The owner of the limit. The share of a managed server's limit is that of the lower of disk and machine.
fn find_owner(has: &impl Fn(&str) -> bool) -> CapOwner {
    let words = |all: &[&str]| all.iter().any(|word| has(word));
    if words(&["instanceebs", "ec2 instance", "ebsiobalance", "ebsbytebalance"])
        || words(&["vm cached", "vm uncached", "vm local", "vm remote"])
    {
        CapOwner::Machine
    } else if words(&["volume", "burstbalance", "data disk", "os disk"]) {
        CapOwner::Volume
    } else {
        CapOwner::Unknown
    }
}

/// The service that measures a metric.
fn find_provider(has: &impl Fn(&str) -> bool, owner: CapOwner) -> &'static str {
    if has("googleapis") || has("throttled read") || has("throttled write") {
        "Google Cloud"
    } else if has("throttledios") || has("blockstore") {
        "OCI"
    } else if has("consumed percent") || has("used burst") || has("physical data") || has("log write") {
        "Azure"
    } else if owner == CapOwner::Machine {
        "EC2"
    } else {
        "EBS"
    }
}

impl CapMetric {
    fn is_reached(self, value: f64) -> bool {
        match self.reached {
            Reached::AboveZero => value > 0.0,
            Reached::AtLeast(percent) => value >= percent,
            Reached::AtMost(percent) => value <= percent,
        }
    }

    /// Adds the points of a metric as evidence, with a doubt about the figures if the limit is reached or the volume stalls in
    /// any of them.
    pub(crate) fn put(
        self,
        (name, owner): (&str, &str),
        scope: u32,
        points: &[(DateTime, f64, Origin)],
        out: &mut Builder,
    ) {
        let reached: Vec<DateTime> =
            points.iter().filter(|(_, value, _)| self.is_reached(*value)).map(|(at, ..)| *at).collect();
        let Some((.., origin)) = points.first() else { return };
        if !reached.is_empty() {
            let (part, metric) = (throttled(owner, name), name.to_owned());
            let (reached, points) = (reached.len(), points.len());
            let doubt = match self.limit.basis {
                CapBasis::Stalled => Doubt::Stalled { part, metric, reached, points },
                _ => Doubt::AtLimit { part, metric, reached, points },
            };
            out.caution_once(Some(origin.clone()), doubt);
        }
        out.cap(CapEvidence {
            scope,
            metric: name.to_owned(),
            limit: self.limit,
            points: reached.len(),
            reached,
            of: points.len(),
            each: regular(points),
            time: None,
            origin: origin.clone(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CapBasis::{Credits, Exceeded, Share, Stalled};
    use CapKind::{Bytes, Either, Operations};
    use CapOwner::{Machine, Unknown, Volume};

    #[test]
    fn metrics_of_limits_are_found_in_every_cloud() {
        let table = [
            ("VolumeIOPSExceededCheck", ("EBS", Volume, Operations, Exceeded), 1.0, 0.0),
            ("vol-0a1 VolumeThroughputExceededCheck", ("EBS", Volume, Bytes, Exceeded), 1.0, 0.0),
            ("VolumeStalledIOCheck", ("EBS", Volume, Either, Stalled), 1.0, 0.0),
            ("aws_ebs_volume_stalled_iocheck_maximum", ("EBS", Volume, Either, Stalled), 1.0, 0.0),
            ("InstanceEBSIOPSExceededCheck", ("EC2", Machine, Operations, Exceeded), 3.0, 0.0),
            ("InstanceEBSThroughputExceededCheck", ("EC2", Machine, Bytes, Exceeded), 1.0, 0.0),
            ("diskio_ebs_volume_performance_exceeded_iops", ("EBS", Volume, Operations, Exceeded), 4e6, 0.0),
            ("diskio_ebs_ec2_instance_performance_exceeded_tp", ("EC2", Machine, Bytes, Exceeded), 1.0, 0.0),
            ("BurstBalance", ("EBS", Volume, Either, Credits), 0.0, 20.0),
            ("EBSByteBalance%", ("EC2", Machine, Bytes, Credits), 0.5, 99.0),
            ("EBSIOBalance%", ("EC2", Machine, Operations, Credits), 0.0, 50.0),
            ("Data Disk IOPS Consumed Percentage", ("Azure", Volume, Operations, Share), 100.0, 60.0),
            ("OS Disk Bandwidth Consumed Percentage", ("Azure", Volume, Bytes, Share), 100.0, 60.0),
            ("VM Cached IOPS Consumed Percentage", ("Azure", Machine, Operations, Share), 100.0, 60.0),
            ("VM Uncached Bandwidth Consumed Percentage", ("Azure", Machine, Bytes, Share), 97.0, 94.0),
            ("disk_iops_consumed_percentage", ("Azure", Unknown, Operations, Share), 99.0, 12.0),
            ("physical_data_read_percent", ("Azure", Unknown, Either, Share), 99.0, 12.0),
            ("log_write_percent", ("Azure", Unknown, Bytes, Share), 99.0, 12.0),
            ("Data Disk Used Burst IO Credits Percentage", ("Azure", Volume, Operations, Credits), 100.0, 40.0),
            ("Data Disk Used Burst BPS Credits Percentage", ("Azure", Volume, Bytes, Credits), 100.0, 0.0),
            ("VM Remote Used Burst IO Credits Percentage", ("Azure", Machine, Operations, Credits), 100.0, 0.0),
            ("VolumeThrottledIOs", ("OCI", Volume, Either, Exceeded), 5.0, 0.0),
            ("oci_blockstore_volume_throttled_operations", ("OCI", Volume, Either, Exceeded), 5.0, 0.0),
            (
                "compute.googleapis.com/instance/disk/throttled_read_ops_count",
                ("Google Cloud", Unknown, Operations, Exceeded),
                2.0,
                0.0,
            ),
            (
                "compute.googleapis.com/instance/disk/throttled_write_bytes_count",
                ("Google Cloud", Unknown, Bytes, Exceeded),
                2.0,
                0.0,
            ),
        ];
        for (name, (provider, owner, kind, basis), at, below) in table {
            let metric = cap_metric(name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(metric.limit, CapLimit { provider, owner, kind, basis }, "{name}");
            assert_eq!((metric.is_reached(at), metric.is_reached(below)), (true, false), "{name}");
        }
        for name in [
            "VolumeReadOps",
            "VolumeQueueLength",
            "VolumeThroughputPercentage",
            "CPUCreditBalance",
            "Data Disk Max Burst IOPS",
        ] {
            assert_eq!(cap_metric(name), None, "{name}");
        }
    }
}

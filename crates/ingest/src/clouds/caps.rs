//! Metrics of limits that a volume or machine reaches: counts of throttling, shares of a limit in use, burst credits.
//!
//! AWS: <https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ebs-cloudwatch-metrics.html>. Azure:
//! <https://learn.microsoft.com/azure/virtual-machines/disks-metrics>. OCI:
//! <https://docs.oracle.com/iaas/Content/Block/References/volumemetrics.htm>. Google's throttling counters are
//! deprecated, and read if present.

use jiff::civil::DateTime;

use crate::builder::Builder;
use crate::reading::{CapEvidence, CapKind, Origin};

/// A metric of a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CapMetric {
    kind: CapKind,
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
pub(super) fn cap_metric(name: &str) -> Option<CapMetric> {
    let lower: String = name.to_lowercase().chars().map(|c| if matches!(c, '_' | '-') { ' ' } else { c }).collect();
    let has = |word: &str| lower.contains(word);
    let kind = if has("iops") || has("iobalance") || has(" ops") || has("io credits") {
        CapKind::Operations
    } else if has("throughput") || has("bandwidth") || has("bytes") || has("bytebalance") || has("bps") {
        CapKind::Bytes
    } else {
        CapKind::Either
    };
    let reached = if has("exceededcheck") || has("exceeded check") || has("throttled") {
        Reached::AboveZero
    } else if has("balance") && (has("burst") || has("ebsio") || has("ebsbyte")) {
        Reached::AtMost(EMPTY_PERCENT)
    } else if has("used burst") && has("credits") {
        Reached::AtLeast(USED_UP_PERCENT)
    } else if has("consumed percent") || matches!(&*lower, "physical data read percent" | "log write percent") {
        Reached::AtLeast(CONSUMED_PERCENT)
    } else {
        return None;
    };
    Some(CapMetric { kind, reached })
}

impl CapMetric {
    fn is_reached(self, value: f64) -> bool {
        match self.reached {
            Reached::AboveZero => value > 0.0,
            Reached::AtLeast(percent) => value >= percent,
            Reached::AtMost(percent) => value <= percent,
        }
    }

    /// Adds the points of a metric as evidence, with a doubt about the figures if the limit is reached in any of them.
    pub(super) fn put(
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
            let whose = if owner.is_empty() || name.contains(owner) { "the storage" } else { owner };
            let text = format!(
                "{whose} was throttled at times: {name} is at its limit in {} of {} points, and the demand exceeds these figures",
                reached.len(),
                points.len()
            );
            out.caution_once(Some(origin.clone()), &text);
        }
        let (kind, of) = (self.kind, points.len());
        out.cap(CapEvidence { scope, metric: name.to_owned(), kind, reached, of, origin: origin.clone() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_of_limits_are_found_in_every_cloud() {
        let table = [
            ("VolumeIOPSExceededCheck", CapKind::Operations, 1.0, 0.0),
            ("vol-0a1 VolumeThroughputExceededCheck", CapKind::Bytes, 1.0, 0.0),
            ("InstanceEBSIOPSExceededCheck", CapKind::Operations, 3.0, 0.0),
            ("BurstBalance", CapKind::Either, 0.0, 20.0),
            ("EBSByteBalance%", CapKind::Bytes, 0.5, 99.0),
            ("EBSIOBalance%", CapKind::Operations, 0.0, 50.0),
            ("Data Disk IOPS Consumed Percentage", CapKind::Operations, 100.0, 60.0),
            ("VM Uncached Bandwidth Consumed Percentage", CapKind::Bytes, 97.0, 94.0),
            ("disk_iops_consumed_percentage", CapKind::Operations, 99.0, 12.0),
            ("Data Disk Used Burst IO Credits Percentage", CapKind::Operations, 100.0, 40.0),
            ("Data Disk Used Burst BPS Credits Percentage", CapKind::Bytes, 100.0, 0.0),
            ("VolumeThrottledIOs", CapKind::Either, 5.0, 0.0),
            ("compute.googleapis.com/instance/disk/throttled_read_ops_count", CapKind::Operations, 2.0, 0.0),
            ("compute.googleapis.com/instance/disk/throttled_write_bytes_count", CapKind::Bytes, 2.0, 0.0),
        ];
        for (name, kind, at, below) in table {
            let metric = cap_metric(name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!((metric.kind, metric.is_reached(at), metric.is_reached(below)), (kind, true, false), "{name}");
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

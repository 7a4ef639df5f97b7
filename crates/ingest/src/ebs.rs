//! Detailed performance statistics of Amazon EBS volumes: log page 0xD0 of their `NVMe` devices.
//!
//! Read as JSON or text of `nvme amzn stats` and of Amazon's script `ebsnvme stats`, as the raw page, and from snapshots
//! of `plimsoll collect ebs`. Layout and names: `plugins/amzn/amzn-nvme.c` of nvme-cli (linux-nvme/nvme-cli) and `ebsnvme`
//! of amazon-ec2-utils (amazonlinux/amazon-ec2-utils). All counters run since the volume was attached: only differences
//! of two samples are rates. With an interval both programs print the counters first, and differences from then on.

mod page;
mod text;

use serde_json::{Map, Value, json};

use crate::builder::Builder;
use crate::json;
use crate::reading::{
    CapBasis, CapKind, CapLimit, CapOwner, Class, Count, Counted, LatencyBin, Origin, ReadingScope, Snapshot,
};

pub(crate) use page::FORM as PAGE;
pub use page::{EBS_PAGE_BYTES, NotEbsPage};
pub(crate) use text::FORM as TEXT;

const MICRO: f64 = 1e-6;

/// Maximum bins of a histogram in the page.
const MAX_BINS: usize = 64;

/// A counter of the seconds above a limit, with the name of its metric.
pub(crate) const fn exceeded(owner: CapOwner, kind: CapKind, metric: &'static str) -> Counted {
    let provider = match owner {
        CapOwner::Machine => "EC2",
        _ => "EBS",
    };
    Counted::ExceededSeconds(CapLimit { provider, owner, kind, basis: CapBasis::Exceeded }, metric)
}

/// Number of counters in the page.
const COUNTER_COUNT: usize = 10;

/// The counters in the order of the page: name, quantity, unit.
pub(crate) static COUNTERS: [(&str, Counted, f64); COUNTER_COUNT] = [
    ("total_read_ops", Counted::Operations(Class::Read), 1.0),
    ("total_write_ops", Counted::Operations(Class::Write), 1.0),
    ("total_read_bytes", Counted::Bytes(Class::Read), 1.0),
    ("total_write_bytes", Counted::Bytes(Class::Write), 1.0),
    ("total_read_time", Counted::OperationSeconds(Class::Read), MICRO),
    ("total_write_time", Counted::OperationSeconds(Class::Write), MICRO),
    (
        "ebs_volume_performance_exceeded_iops",
        exceeded(CapOwner::Volume, CapKind::Operations, "ebs_volume_performance_exceeded_iops"),
        MICRO,
    ),
    (
        "ebs_volume_performance_exceeded_tp",
        exceeded(CapOwner::Volume, CapKind::Bytes, "ebs_volume_performance_exceeded_tp"),
        MICRO,
    ),
    (
        "ec2_instance_performance_exceeded_iops",
        exceeded(CapOwner::Machine, CapKind::Operations, "ec2_instance_performance_exceeded_iops"),
        MICRO,
    ),
    (
        "ec2_instance_performance_exceeded_tp",
        exceeded(CapOwner::Machine, CapKind::Bytes, "ec2_instance_performance_exceeded_tp"),
        MICRO,
    ),
];

/// The names of the instance's counters in `ebsnvme`.
const OTHER_NAMES: [(&str, &str); 2] = [
    ("ec2_instance_performance_exceeded_iops", "ec2_instance_ebs_performance_exceeded_iops"),
    ("ec2_instance_performance_exceeded_tp", "ec2_instance_ebs_performance_exceeded_tp"),
];

/// The histograms in the order of the page.
const HISTOGRAMS: [(&str, Class); 2] =
    [("read_io_latency_histogram", Class::Read), ("write_io_latency_histogram", Class::Write)];

const QUEUE_LENGTH: &str = "volume_queue_length";

/// Statistics of a volume at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EbsStatistics {
    /// Counters since the volume was attached, in the order of the page: operations, bytes and microseconds of reads and
    /// writes; microseconds above the volume's and the instance's limits of operations and of throughput. Absent counters
    /// are none.
    counters: [Option<u64>; COUNTER_COUNT],
    /// Operations in the queue at this time.
    queue_length: Option<u64>,
    /// Latencies of reads and of writes.
    histograms: [Vec<(LatencyBin, u64)>; HISTOGRAMS.len()],
}

impl EbsStatistics {
    /// Statistics with all counters, in the order of the page, the length of the queue, and bins of the latencies of reads and of
    /// writes.
    pub fn new(counters: [u64; COUNTER_COUNT], queue_length: u64, histograms: [Vec<(LatencyBin, u64)>; 2]) -> Self {
        Self { counters: counters.map(Some), queue_length: Some(queue_length), histograms }
    }

    /// From the JSON of either program.
    pub(crate) fn of_json(object: &Map<String, Value>) -> Self {
        let mut statistics = Self::default();
        for ((name, ..), counter) in COUNTERS.iter().zip(&mut statistics.counters) {
            let other = OTHER_NAMES.iter().find(|(own, _)| own == name).and_then(|(_, other)| object.get(*other));
            *counter = object.get(*name).or(other).and_then(Value::as_u64);
        }
        statistics.queue_length = object.get(QUEUE_LENGTH).and_then(Value::as_u64);
        for ((name, _), bins) in HISTOGRAMS.iter().zip(&mut statistics.histograms) {
            let all = object.get(*name).map_or(&[][..], |histogram| json::list(histogram, &["bins"]));
            bins.extend(all.iter().take(MAX_BINS).filter_map(|bin| {
                let of = |key: &str| bin.get(key).and_then(Value::as_u64);
                Some((LatencyBin { lower_us: of("lower")?, upper_us: of("upper")? }, of("count")?))
            }));
        }
        statistics
    }

    /// The JSON of `nvme amzn stats`; absent counters are left out.
    pub fn to_json(&self) -> Map<String, Value> {
        let counters = COUNTERS.iter().zip(self.counters);
        let counters = counters.filter_map(|((name, ..), value)| Some(((*name).to_owned(), json!(value?))));
        let queue = self.queue_length.map(|length| (QUEUE_LENGTH.to_owned(), json!(length)));
        let histograms = HISTOGRAMS.iter().zip(&self.histograms).map(|((name, _), bins)| {
            let bin = |(bin, count): &(LatencyBin, u64)| json!({"lower": bin.lower_us, "upper": bin.upper_us, "count": count});
            let bins: Vec<Value> = bins.iter().map(bin).collect();
            ((*name).to_owned(), json!({"num_bins": bins.len(), "bins": bins}))
        });
        counters.chain(queue).chain(histograms).collect()
    }

    /// True without any counter.
    pub(crate) fn is_empty(&self) -> bool {
        self.counters.iter().all(Option::is_none)
    }

    /// Adds the differences of a later interval.
    pub(crate) fn add(&mut self, later: &Self) {
        for (counter, rise) in self.counters.iter_mut().zip(later.counters) {
            *counter = counter.zip(rise).map(|(counter, rise)| counter.saturating_add(rise));
        }
        self.queue_length = later.queue_length;
        for (bins, rises) in self.histograms.iter_mut().zip(&later.histograms) {
            for (bin, rise) in rises {
                match bins.iter_mut().find(|(own, _)| own == bin) {
                    Some((_, count)) => *count = count.saturating_add(*rise),
                    None => bins.push((*bin, *rise)),
                }
            }
        }
    }

    /// The counters of a volume at a time. Bins count in 32 bits.
    pub(crate) fn counts(&self, line: u64, out: &mut Builder) -> Vec<Count> {
        let mut counts = Vec::new();
        for ((name, counted, unit), value) in COUNTERS.iter().zip(self.counters) {
            let Some(value) = value else { continue };
            let origin = Origin { line, table: None, field: out.text(name) };
            counts.push(Count { counted: counted.clone(), value: value as f64 * unit, wraps_at: None, origin });
        }
        for ((name, class), bins) in HISTOGRAMS.iter().zip(&self.histograms) {
            let origin = Origin { line, table: None, field: out.text(name) };
            counts.extend(bins.iter().map(|(bin, count)| Count {
                counted: Counted::Latencies(*class, *bin),
                value: *count as f64,
                wraps_at: u32::try_from(*count).is_ok().then_some(4_294_967_296.0),
                origin: origin.clone(),
            }));
        }
        counts
    }
}

/// Adds the statistics of a volume at a time.
pub(crate) fn put(
    statistics: &EbsStatistics,
    scope: ReadingScope,
    (at, age): (Option<jiff::civil::DateTime>, Option<plimsoll_units::Span>),
    line: u64,
    out: &mut Builder,
) {
    let counts = statistics.counts(line, out);
    let scope = out.scope(scope);
    out.snapshot(Snapshot { scope, at, age, counts, origin: Origin::line(line) });
}

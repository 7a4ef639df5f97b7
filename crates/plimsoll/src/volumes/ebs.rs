//! Counters of an emulated volume as those of an EBS volume: log page 0xD0.

use plimsoll_ingest::{EbsStatistics, LatencyBin};
use plimsoll_service::api::{Bin, KindCount, Stats};
use plimsoll_volume::BUCKET_BOUNDS_NS;

const MICRO_NS: u64 = 1_000;

/// The statistics of EBS since the start of the service, in model time. Responses above the last bucket are in no bin.
pub(super) fn statistics(stats: &Stats) -> EbsStatistics {
    let [read, write] = ["read", "write"].map(|kind| stats.counts.iter().find(|count| count.kind == kind));
    let of = |value: fn(&KindCount) -> u64| [read, write].map(|count| count.map_or(0, value));
    let [read_ops, write_ops] = of(|count| count.ops);
    let [read_bytes, write_bytes] = of(|count| count.bytes);
    let [read_us, write_us] = of(|count| count.response_sum_ns / MICRO_NS);
    let limited = &stats.limited;
    let counters = [
        read_ops,
        write_ops,
        read_bytes,
        write_bytes,
        read_us,
        write_us,
        limited.volume_operations_ns / MICRO_NS,
        limited.volume_bytes_ns / MICRO_NS,
        limited.group_operations_ns / MICRO_NS,
        limited.group_bytes_ns / MICRO_NS,
    ];
    let bins = [read, write].map(|count| count.map_or_else(Vec::new, |count| list_bins(&count.responses)));
    EbsStatistics::new(counters, u64::from(stats.in_flight), bins)
}

/// All bins with their counts.
fn list_bins(counted: &[Bin]) -> Vec<(LatencyBin, u64)> {
    let lower = std::iter::once(0).chain(BUCKET_BOUNDS_NS);
    let bins = lower.zip(BUCKET_BOUNDS_NS).map(|(lower, upper)| {
        let count = counted.iter().find(|bin| bin.upto_ns == upper).map_or(0, |bin| bin.count);
        (LatencyBin { lower_us: lower / MICRO_NS, upper_us: upper / MICRO_NS }, count)
    });
    bins.collect()
}

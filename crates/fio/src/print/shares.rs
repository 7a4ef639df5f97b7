//! Percents of counts, by depths and by limits of latency.

use super::result::{JobReport, LatencyCounts};

/// What the depths in flight are called.
pub(super) const LEVELS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
/// What the numbers of operations handed over or taken back together are called.
pub(super) const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
/// What the limits of latency are called; those below a millisecond end at 1000.
pub(super) const LIMITS: [&str; 12] =
    ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"];

/// A percent that is not zero is told as no less than `floor`.
fn shares<const N: usize>(counts: &[u64; N], all: u64, floor: f64) -> [f64; N] {
    counts.map(|count| if count == 0 || all == 0 { 0.0 } else { (count as f64 * 100.0 / all as f64).max(floor) })
}

const DEPTH_FLOOR: f64 = 0.1;
const LATENCY_FLOOR: f64 = 0.01;

/// Percents of depths: in flight, handed over, taken back.
///
/// Those in flight are shares of reads, writes and trims, though flushes are counted among them: more than 100 is fio's
/// own answer too.
pub(super) fn of_depths(job: &JobReport) -> [[f64; 7]; 3] {
    let depths = &job.depths;
    [
        shares(&depths.level, job.operations(), DEPTH_FLOOR),
        shares(&depths.submitted, depths.submitted.iter().sum(), DEPTH_FLOOR),
        shares(&depths.completed, depths.completed.iter().sum(), DEPTH_FLOOR),
    ]
}

/// Percents of completion latencies.
pub(super) struct LatencyShares {
    pub(super) ns: [f64; 10],
    pub(super) us: [f64; 10],
    pub(super) ms: [f64; 12],
}

pub(super) fn of_latencies(job: &JobReport) -> LatencyShares {
    let (LatencyCounts { ns, us, ms }, all) = (job.counts(), job.operations());
    LatencyShares {
        ns: shares(&ns, all, LATENCY_FLOOR),
        us: shares(&us, all, LATENCY_FLOOR),
        ms: shares(&ms, all, LATENCY_FLOOR),
    }
}

/// Percents of processor time, in user mode and in the kernel.
pub(super) fn of_processor(job: &JobReport) -> (f64, f64) {
    let share = |nanos: u64| match job.runtime_ms {
        0 => 0.0,
        ms => nanos as f64 / 1e6 * 100.0 / ms as f64,
    };
    (share(job.user.as_nanos()), share(job.system.as_nanos()))
}

//! Percentages by queue depth, batch size and latency limit.

use super::result::{JobReport, LatencyCounts};

/// Labels of queue depths.
pub(super) const LEVELS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
/// Labels of batch sizes of submissions and completions.
pub(super) const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
/// Labels of latency limits; those below a millisecond end at 1000.
pub(super) const LIMITS: [&str; 12] =
    ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"];

/// Non-zero percentages are at least `floor`.
fn shares<const N: usize>(counts: &[u64; N], all: u64, floor: f64) -> [f64; N] {
    counts.map(|count| if count == 0 || all == 0 { 0.0 } else { (count as f64 * 100.0 / all as f64).max(floor) })
}

const DEPTH_FLOOR: f64 = 0.1;
const LATENCY_FLOOR: f64 = 0.01;

/// Percentages of queue depths, submissions and completions.
///
/// Queue depths include flushes, but the base does not: percentages above 100 occur in fio, too.
pub(super) fn of_depths(job: &JobReport) -> [[f64; 7]; 3] {
    let depths = &job.depths;
    [
        shares(&depths.level, job.operations(), DEPTH_FLOOR),
        shares(&depths.submitted, depths.submitted.iter().sum(), DEPTH_FLOOR),
        shares(&depths.completed, depths.completed.iter().sum(), DEPTH_FLOOR),
    ]
}

/// Percentages of completion latencies.
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

/// Percentages of processor time, in user mode and in the kernel.
pub(super) fn of_processor(job: &JobReport) -> (f64, f64) {
    let share = |nanos: u64| match job.runtime_ms {
        0 => 0.0,
        ms => nanos as f64 / 1e6 * 100.0 / ms as f64,
    };
    (share(job.user.as_nanos()), share(job.system.as_nanos()))
}

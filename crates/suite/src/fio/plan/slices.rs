//! Slice length of a stage's series, such that warm-ups, samples and log windows end at slice boundaries.

use plimsoll_fio::FioJob;
use plimsoll_units::Span;

use super::Member;
use super::contents::greatest_common_divisor;

/// Shorter slices would slow the loop down.
const MIN_SLICE_NS: u64 = 10_000_000;
/// Maximum number of slices per worker, which limits memory.
const MAX_SLICES: u64 = 14_400;
/// Maximum number of slices of all workers.
const MAX_SLICES_OF_STAGE: u64 = 100_000;
/// Assumed bytes per second of a job without a time limit, for an upper estimate of its duration.
const SLOW: u64 = 20 << 20;
/// Minimum of the estimate.
const SHORT: Span = Span::from_secs(60);

fn estimate_duration(member: &Member) -> Span {
    let until = member.worker.job.until;
    let rounds = member.worker.conduct.repeat.rounds;
    let guess = Span::from_secs((until.bytes / SLOW).saturating_mul(rounds).min(1 << 30));
    if until.span == Span::MAX { guess.max(SHORT) } else { until.span }
}

pub fn slice_length(jobs: &[FioJob], stage: &[Member]) -> Span {
    let windows = stage.iter().flat_map(|member| {
        let job = &jobs[member.job];
        let logs = &job.logs;
        let is_logged = logs.bandwidth.is_some() || logs.latency.is_some() || logs.iops.is_some();
        [
            logs.bandwidth_samples,
            logs.iops_samples,
            if is_logged { logs.window } else { Span::ZERO },
            if logs.histogram.is_some() { logs.histogram_window } else { Span::ZERO },
            job.life.steady_state.map_or(Span::ZERO, |steady| steady.interval),
            if job.life.ramp.is_zero() { Span::ZERO } else { member.worker.begins + job.life.ramp },
        ]
    });
    let usual = windows.map(Span::as_nanos).filter(|window| *window > 0).fold(0, greatest_common_divisor);
    let longest = stage.iter().map(estimate_duration).max().unwrap_or(SHORT);
    let max = MAX_SLICES.min(MAX_SLICES_OF_STAGE / stage.len().max(1) as u64).max(1);
    let mut slice = usual.max(MIN_SLICE_NS);
    while longest.as_nanos() / slice > max {
        slice *= 2;
    }
    Span::from_nanos(slice)
}

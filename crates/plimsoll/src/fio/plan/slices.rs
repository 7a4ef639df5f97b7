//! How long the slices of a stage's series are, so that warm-ups, samples and windows of logs end with one of them.

use plimsoll_fio::Job;
use plimsoll_units::Span;

use super::Member;
use super::contents::divisor;

/// Shorter ones would cost the loop too much.
const MIN_SLICE_NS: u64 = 10_000_000;
/// More of them, for each worker, would take too much memory.
const MAX_SLICES: u64 = 14_400;
/// Slices of all workers together.
const MAX_SLICES_OF_STAGE: u64 = 100_000;
/// Bytes a second of a job without an end in time, for a guess of how long it may take: slices must not be too many there
/// either.
const SLOW: u64 = 20 << 20;
/// So long at least.
const SHORT: Span = Span::from_secs(60);

/// How long a worker may take.
fn lasts(member: &Member) -> Span {
    let until = member.worker.job.until;
    let rounds = member.worker.conduct.repeat.rounds;
    let guess = Span::from_secs((until.bytes / SLOW).saturating_mul(rounds).min(1 << 30));
    if until.span == Span::MAX { guess.max(SHORT) } else { until.span }
}

/// The length of a stage's slices.
pub fn slice(jobs: &[Job], stage: &[Member]) -> Span {
    let windows = stage.iter().flat_map(|member| {
        let job = &jobs[member.job];
        let logs = &job.logs;
        let is_logged = logs.bandwidth.is_some() || logs.latency.is_some() || logs.iops.is_some();
        [
            logs.bandwidth_samples,
            logs.iops_samples,
            if is_logged { logs.window } else { Span::ZERO },
            if logs.histogram.is_some() { logs.histogram_window } else { Span::ZERO },
            job.life.steady_state.map_or(Span::ZERO, |asked| asked.interval),
            if job.life.ramp.is_zero() { Span::ZERO } else { member.worker.begins + job.life.ramp },
        ]
    });
    let usual = windows.map(Span::as_nanos).filter(|window| *window > 0).fold(0, divisor);
    let longest = stage.iter().map(lasts).max().unwrap_or(SHORT);
    let most = MAX_SLICES.min(MAX_SLICES_OF_STAGE / stage.len().max(1) as u64).max(1);
    let mut slice = usual.max(MIN_SLICE_NS);
    while longest.as_nanos() / slice > most {
        slice *= 2;
    }
    Span::from_nanos(slice)
}

//! Rules for verdicts, with the reason for each threshold.

mod commits;
mod devices;
mod hosts;
mod works;

pub(super) use devices::is_fast;

use std::collections::BTreeMap;

use plimsoll_ingest::{Class, DatabaseDemand, EventTime, LatencyBin, LatencyHistogram, WaitCause, is_short_of_memory};

use plimsoll_language::say;

use super::split::{Split, TimePart, is_below_resolution};
use super::verdict::DiagnosisVerdict;
use super::{Diagnosis, History, ceilings};

/// Above the higher share of the database's time, which is most of it, storage is the answer; below the lower share it is
/// not; between them it is a part of the answer.
const MAJOR: f64 = 0.5;
const MINOR: f64 = 0.15;
/// With this share of time in no counter and unknown processor time, storage cannot be ruled out.
const UNKNOWN: f64 = 0.3;
/// Smaller shares of the database's time are not reported.
const NOTABLE: f64 = 0.05;
/// Minimum share for naming parts other than storage.
const LARGE: f64 = 0.1;
/// Below this busy share sessions find a free processor; unaccounted time has other reasons.
const FREE: f64 = 0.5;
/// Hourly snapshots, with a tolerance for late ones.
const LONG_S: f64 = 3_900.0;

/// The verdicts: the answer, then causes, then limits of the answer.
pub(super) fn find_verdicts(subject: &DatabaseDemand, diagnosis: &Diagnosis) -> Vec<DiagnosisVerdict> {
    let mut verdicts = Vec::new();
    if let Some(contradiction) = find_contradiction(subject) {
        // Latencies are of the same waits.
        return [contradiction].into_iter().chain(ceiling(diagnosis)).collect();
    }
    let is_helpful = |verdict: &DiagnosisVerdict| matches!(verdict, DiagnosisVerdict::CacheHelps { .. });
    let (mut helpful_cache, other_cache): (Option<_>, Option<_>) = match cache(diagnosis) {
        Some(verdict) if is_helpful(&verdict) => (Some(verdict), None),
        other => (None, other),
    };
    match &diagnosis.split {
        Some(split) => {
            // Shares of an idle database's time have no weight.
            verdicts.extend(quiet(split, diagnosis));
            let (full, other): (Vec<DiagnosisVerdict>, Vec<DiagnosisVerdict>) =
                processors(split).into_iter().partition(|verdict| is_overloaded(split, verdict));
            // Waits of sessions that queue for processors are longer than those for storage alone.
            verdicts.extend(full);
            verdicts.extend(answer(split, diagnosis));
            verdicts.extend(diagnosis.busy.clone().map(DiagnosisVerdict::BusyHours));
            // Free remedies precede everything that is bought.
            let (switches, of_commits): (Vec<_>, Vec<_>) = commits::verdicts(split, diagnosis)
                .into_iter()
                .partition(|verdict| matches!(verdict, DiagnosisVerdict::LogSwitches { .. }));
            verdicts.extend(switches);
            verdicts.extend(helpful_cache.take());
            verdicts.extend(other);
            verdicts.extend(pages(split, &verdicts));
            verdicts.extend(io_wait(split));
            verdicts.extend(hard_parses(split));
            let (short, long): (Vec<_>, Vec<_>) = of_commits.into_iter().partition(is_short_commit);
            verdicts.extend(long);
            verdicts.extend(elsewhere(split));
            verdicts.extend(short);
        }
        None => verdicts.push(judge_without_time(subject, diagnosis)),
    }
    verdicts.extend(hosts::find_contradictions(diagnosis));
    verdicts.extend(ceiling(diagnosis));
    verdicts.extend(devices::verdicts(subject, diagnosis));
    verdicts.extend(slow_events(diagnosis));
    verdicts.extend(tails(subject));
    verdicts.extend(volume_tails(subject, diagnosis));
    verdicts.extend(works::judge_works(subject, diagnosis));
    verdicts.extend(works::judge_compression(subject));
    verdicts.extend(diagnosis.history.as_ref().map(history).unwrap_or_default());
    verdicts.extend(helpful_cache.into_iter().chain(other_cache));
    let longest_s = diagnosis.windows.longest_s;
    verdicts.extend((longest_s > LONG_S).then_some(DiagnosisVerdict::LongWindows { longest_s }));
    verdicts
}

/// True for waits for commits with a small share of the time that no user notices.
fn is_short_commit(verdict: &DiagnosisVerdict) -> bool {
    /// Response time that users notice (Nielsen 1993).
    const NOTICED_S: f64 = 0.1;
    match verdict {
        DiagnosisVerdict::CommitsElsewhere { sync_s: mean_s, share, .. }
        | DiagnosisVerdict::CommitsForLog { sync_s: mean_s, share, .. }
        | DiagnosisVerdict::SlowEvent { mean_s, share, .. } => *share < NOTABLE && *mean_s < NOTICED_S,
        _ => false,
    }
}

/// The answer without the time of sessions.
fn judge_without_time(subject: &DatabaseDemand, diagnosis: &Diagnosis) -> DiagnosisVerdict {
    let limit = below_resolution(subject).or_else(|| hosts::judge_host(diagnosis));
    limit.unwrap_or_else(|| untold(diagnosis))
}

/// The most unusual window, and the change between two periods.
fn history(history: &History) -> Vec<DiagnosisVerdict> {
    /// Smaller factors or differences of sessions are normal variation.
    const TIMES: f64 = 1.5;
    const SESSIONS: f64 = 0.3;
    let mut windows: Vec<_> = history.unusual.iter().map(|unusual| unusual.slot.begin).collect();
    windows.sort_unstable();
    windows.dedup();
    let farthest = history.unusual.first().cloned();
    let unusual = farthest.map(|farthest| DiagnosisVerdict::Unusual { windows: windows.len(), farthest });
    let changed = history.change.as_ref().and_then(|change| {
        let active = change.active()?;
        let (low, high) = (active.before.min(active.after), active.before.max(active.after));
        let is_large = high >= TIMES * low && high - low >= SESSIONS;
        is_large.then(|| DiagnosisVerdict::Changed {
            before: active.before,
            after: active.after,
            main: change.main().cloned(),
        })
    });
    unusual.into_iter().chain(changed).collect()
}

fn find_contradiction(subject: &DatabaseDemand) -> Option<DiagnosisVerdict> {
    let spent = &subject.account.as_ref()?.total;
    spent.is_contradictory().then(|| DiagnosisVerdict::WaitsExceedTime {
        waited_s: spent.identified_waits_s(),
        processor_s: spent.processor_s,
        database_s: spent.database_s,
    })
}

fn below_resolution(subject: &DatabaseDemand) -> Option<DiagnosisVerdict> {
    let spent = &subject.account.as_ref()?.total;
    let active_max = (spent.database_s + spent.rounding_s) / spent.seconds;
    is_below_resolution(spent).then_some(DiagnosisVerdict::BelowResolution { active_max })
}

fn untold(diagnosis: &Diagnosis) -> DiagnosisVerdict {
    // Without waits the rest of the time bounds nothing: counters of processors and of sessions are not read together.
    let split = diagnosis.split.as_ref().filter(|split| split.has_processor_time);
    DiagnosisVerdict::NoSessionTimes {
        has_latency: !diagnosis.responses.is_empty(),
        on_processor: split.map(|split| split.share(TimePart::Processor)),
        host: diagnosis.host,
    }
}

fn answer(split: &Split, diagnosis: &Diagnosis) -> Option<DiagnosisVerdict> {
    let (share, main) = (split.storage(), split.main()?);
    let saved = diagnosis.ten_times.as_ref().map_or(0.0, super::DatabaseEffect::saved);
    if !split.has_waits {
        return Some(untold(diagnosis));
    }
    if let Some(behind) = log_behind_locks(split, diagnosis, share) {
        return Some(behind);
    }
    let at_most = diagnosis.at_most.as_ref().map_or(share, super::DatabaseEffect::saved);
    // Without another part all of the time is storage, and without storage none is a part of the answer.
    let other = split.main_other().map_or((TimePart::OtherWaits, 0.0), |slice| (slice.part, slice.share));
    let storage = split.main_storage().map_or((TimePart::OtherStorage, 0.0), |slice| (slice.part, slice.share));
    Some(if share > MAJOR {
        DiagnosisVerdict::Storage { share, part: storage.0, part_share: storage.1, saved }
    } else if !split.has_processor_time && split.share(TimePart::Unaccounted) >= UNKNOWN {
        DiagnosisVerdict::StorageAtLeast {
            share,
            at_most,
            unaccounted: split.share(TimePart::Unaccounted),
            are_processors_free: false,
        }
    } else if share >= MINOR
        && main.part == TimePart::Unaccounted
        && split.processors_busy().is_some_and(|busy| busy < FREE)
        && split.explaining_queue_s().is_none()
    {
        // No session queues for a free processor: the time may be that of submissions of I/O.
        DiagnosisVerdict::StorageAtLeast { share, at_most, unaccounted: main.share, are_processors_free: true }
    } else if share >= MINOR {
        let (part, part_share) = storage;
        let (main, main_share) = other;
        DiagnosisVerdict::StorageInPart { share, part, part_share, saved, main, main_share, behind: behind(split) }
    } else {
        let (main, main_share) = other;
        DiagnosisVerdict::NotStorage { share, at_most, host_busy: split.processors_busy(), main, main_share }
    })
}

/// Share of the waits for background writers that fall behind.
fn behind(split: &Split) -> f64 {
    let all: f64 = split.slices.iter().map(|slice| slice.seconds).sum();
    let events = split.slices.iter().flat_map(|slice| &slice.events);
    let waits = events.filter(|event| matches!(event.cause, WaitCause::Behind(_)));
    waits.map(|event| event.total_s).sum::<f64>() / all.max(f64::MIN_POSITIVE)
}

/// A slow log together with waits for locks until commit, if these exceed the waits for storage.
fn log_behind_locks(split: &Split, diagnosis: &Diagnosis, share: f64) -> Option<DiagnosisVerdict> {
    /// Flash writes a log in less than a millisecond, a disk without a cache in about ten.
    const SLOW_S: f64 = 0.020;
    let of_commits = diagnosis.commits.as_ref().and_then(|commits| commits.write_s);
    let of_windows = diagnosis.response(Class::RedoWrite).map(|response| response.latency_s);
    let write_s = of_commits.into_iter().chain(of_windows).fold(0.0, f64::max);
    let locks = split.share(TimePart::Lock);
    let sustained = locks + split.share(TimePart::Cluster) + split.share(TimePart::CommitRest);
    (write_s >= SLOW_S && sustained >= NOTABLE && sustained > share).then_some(DiagnosisVerdict::LogBehindLocks {
        write_s,
        share,
        sustained,
        locks,
    })
}

/// Active sessions below which a database is idle most of the time.
pub(crate) const QUIET_SESSIONS: f64 = 0.3;

fn quiet(split: &Split, diagnosis: &Diagnosis) -> Option<DiagnosisVerdict> {
    let is_quiet = diagnosis.active_when_busy().is_some_and(|active| active < QUIET_SESSIONS);
    is_quiet.then_some(DiagnosisVerdict::Quiet { active: split.active })
}

fn processors(split: &Split) -> Option<DiagnosisVerdict> {
    /// Above this share of all processors queueing is likely at any time.
    const FULL: f64 = 0.85;
    /// From this number of waiting processes per processor on, waits of all kinds are longer by the queue.
    const QUEUED: f64 = 0.5;
    let waiting = split.host.processes;
    let is_queued = waiting.zip(split.processors).is_some_and(|(waiting, count)| waiting >= QUEUED * count);
    let unaccounted = split.share(TimePart::Unaccounted);
    let is_large = split.has_processor_time && split.has_waits && unaccounted >= LARGE;
    match split.processors_busy() {
        Some(busy) if busy >= FULL || (busy >= FREE && is_queued) => {
            Some(DiagnosisVerdict::ProcessorsFull { busy, waiting, processors: split.processors })
        }
        Some(busy) if is_large && busy < FREE && split.explaining_queue_s().is_none() => {
            Some(DiagnosisVerdict::Unaccounted { share: unaccounted })
        }
        busy if is_large => {
            let queue_s = split.explaining_queue_s().map(|queue_s| [unaccounted * split.total_s, queue_s]);
            let paged_bytes = find_paged_bytes(split);
            Some(DiagnosisVerdict::ProcessorQueue { share: unaccounted, busy, queue_s, paged_bytes })
        }
        _ => None,
    }
}

/// Bytes that a host paged in and out, if it lacks memory.
fn find_paged_bytes(split: &Split) -> Option<[f64; 2]> {
    let rates = split.host.paged_bytes_s.filter(|rates| is_short_of_memory(*rates))?;
    Some(rates.map(|rate| rate * split.seconds))
}

/// Paging of the host, unless a verdict has it.
fn pages(split: &Split, verdicts: &[DiagnosisVerdict]) -> Option<DiagnosisVerdict> {
    let has =
        |verdict: &DiagnosisVerdict| matches!(verdict, DiagnosisVerdict::ProcessorQueue { paged_bytes: Some(_), .. });
    let paged_bytes = find_paged_bytes(split).filter(|_| !verdicts.iter().any(has))?;
    Some(DiagnosisVerdict::HostPages { paged_bytes, seconds: split.seconds })
}

/// True if processors are full and sessions queue for them.
fn is_overloaded(split: &Split, verdict: &DiagnosisVerdict) -> bool {
    /// From this number of waiting processes on, as many wait as run on average.
    const AS_MANY: f64 = 1.0;
    let DiagnosisVerdict::ProcessorsFull { waiting, processors: present, .. } = verdict else { return false };
    let is_queued = waiting.zip(*present).is_some_and(|(waiting, count)| waiting >= AS_MANY * count);
    is_queued || split.share(TimePart::Unaccounted) >= LARGE
}

/// I/O wait of the host, a second source on whether storage is waited for.
fn io_wait(split: &Split) -> Option<DiagnosisVerdict> {
    let share = split.host.io_wait.filter(|share| *share >= NOTABLE && split.has_waits)?;
    let idle_s = split.host.processors_in_io_wait? * split.seconds;
    Some(DiagnosisVerdict::HostIoWait { share, idle_s, waited_s: split.io_waits_s })
}

fn hard_parses(split: &Split) -> Option<DiagnosisVerdict> {
    let (share, a_second) = split.hard_parses.filter(|(share, _)| *share >= NOTABLE)?;
    Some(DiagnosisVerdict::HardParses { share, a_second })
}

/// Large parts other than storage and processors.
fn elsewhere(split: &Split) -> Vec<DiagnosisVerdict> {
    let parts = [
        TimePart::Lock,
        TimePart::Concurrency,
        TimePart::Cluster,
        TimePart::Network,
        TimePart::Managed,
        TimePart::OtherWaits,
    ];
    let large = split.slices.iter().filter(|slice| parts.contains(&slice.part) && slice.share >= LARGE);
    let verdict = |slice: &super::Slice| DiagnosisVerdict::Elsewhere {
        part: slice.part,
        share: slice.share,
        event: slice.events.first().map(|event| event.event.clone()),
    };
    large.map(verdict).collect()
}

/// The most used ceiling of the given configuration.
fn ceiling(diagnosis: &Diagnosis) -> Option<DiagnosisVerdict> {
    let on = diagnosis.on.as_ref()?;
    let max = on.ceilings.first()?;
    Some(if max.highest >= ceilings::NEAR {
        DiagnosisVerdict::AtCeiling {
            name: max.name.clone(),
            counts: max.counts,
            allows: max.allows,
            demand: max.demand,
            near: max.near,
            windows: on.windows,
        }
    } else {
        DiagnosisVerdict::BelowCeilings {
            name: max.name.clone(),
            highest: max.highest,
            longest_s: diagnosis.windows.longest_s,
        }
    })
}

/// Events of storage whose mean is that of no medium, in a class whose mean does not show it, whatever their share.
fn slow_events(diagnosis: &Diagnosis) -> Vec<DiagnosisVerdict> {
    /// Seconds of a random read of a busy disk without a cache.
    const SLOW_S: f64 = 0.020;
    /// Minimum ratio to the mean of the class.
    const TIMES: f64 = 4.0;
    /// Minimum waits for a mean.
    const MIN_COUNT: f64 = 100.0;
    let Some(split) = &diagnosis.split else { return Vec::new() };
    let class_s = |class: Class| {
        let mut all = diagnosis.responses.iter().chain(&diagnosis.waits);
        all.find(|response| response.class == class).map(|response| response.latency_s)
    };
    let slow = |event: &EventTime| {
        let WaitCause::Storage(class @ (Class::RandomRead | Class::SequentialRead | Class::Read)) = event.cause else {
            return None;
        };
        let (mean_s, class_s) = (event.mean_s()?, class_s(class)?);
        let is_far = mean_s >= SLOW_S && mean_s >= TIMES * class_s && event.count >= MIN_COUNT;
        is_far.then(|| DiagnosisVerdict::SlowEvent {
            event: event.event.clone(),
            cause: event.cause,
            mean_s,
            a_second: event.count / diagnosis.windows.seconds,
            class_s: Some(class_s),
            share: event.total_s / split.total_s,
        })
    };
    split.slices.iter().flat_map(|slice| &slice.events).filter_map(slow).collect()
}

/// Waits of random operations have a 99th percentile of at most five times their mean.
const FAR: f64 = 10.0;
/// Minimum waits for a 99th percentile.
const MIN_WAITS: f64 = 1_000.0;
/// Shorter tails are harmless.
const SHORT_S: f64 = 0.016;

/// Notable storage events whose 99th percentile is far above the mean.
fn tails(subject: &DatabaseDemand) -> Vec<DiagnosisVerdict> {
    let Some(account) = &subject.account else { return Vec::new() };
    let is_relevant = |cause: WaitCause| {
        matches!(cause, WaitCause::Commit | WaitCause::Storage(Class::RandomRead | Class::Read | Class::RedoWrite))
    };
    let tail = |event: &EventTime| {
        let (mean_s, p99_s) = (event.mean_s()?, event.quantile_s(0.99)?);
        // The lower bound: the bucket of AWR above 32 ms ends at 1 s.
        let far = p99_s[0] >= FAR * mean_s && p99_s[0] >= SHORT_S && event.count >= MIN_WAITS;
        far.then(|| DiagnosisVerdict::Tail { event: event.event.clone(), cause: event.cause, mean_s, p99_s })
    };
    let notable = NOTABLE * account.total.database_s;
    let events = account.total.waits.iter().filter(|event| is_relevant(event.cause));
    events.filter(|event| !event.foreground || event.total_s >= notable).filter_map(tail).collect()
}

/// Reads and writes of volumes whose 99th percentile is far above the mean, by histograms of the volumes.
fn volume_tails(subject: &DatabaseDemand, diagnosis: &Diagnosis) -> Vec<DiagnosisVerdict> {
    let tail = |(class, bins): (&Class, &BTreeMap<LatencyBin, f64>)| {
        let mean_s = diagnosis.response(*class)?.latency_s;
        let p99_s = LatencyHistogram::quantile_s(bins, 0.99)?;
        let far = p99_s[0] >= FAR * mean_s && p99_s[0] >= SHORT_S && bins.values().sum::<f64>() >= MIN_WAITS;
        let event = say!("{} of the volumes", class.label()).into();
        far.then_some(DiagnosisVerdict::Tail { event, cause: WaitCause::Storage(*class), mean_s, p99_s })
    };
    subject.latencies.iter().filter_map(tail).collect()
}

/// The smallest of the larger caches that achieves most of the possible saving.
fn cache(diagnosis: &Diagnosis) -> Option<DiagnosisVerdict> {
    let larger = || diagnosis.cache.iter().filter(|step| step.factor > 1.0);
    let max = larger().map(|step| step.saved).fold(0.0, f64::max);
    if max >= NOTABLE {
        let step = larger().find(|step| step.saved >= 0.8 * max)?;
        return Some(DiagnosisVerdict::CacheHelps {
            factor: step.factor,
            bytes: step.bytes,
            reads: 1.0 - step.reads,
            saved: step.saved,
        });
    }
    let last = larger().next_back()?;
    let reads = diagnosis.share(TimePart::RandomRead)
        + diagnosis.share(TimePart::SequentialRead)
        + diagnosis.share(TimePart::Read);
    (reads >= LARGE).then_some(DiagnosisVerdict::CacheDoesNot { factor: last.factor, saved: last.saved })
}

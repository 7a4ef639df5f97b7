//! Rules for verdicts, with the reason for each threshold.

mod commits;
mod devices;
mod works;

use plimsoll_ingest::{Class, Subject, WaitCause};

use super::split::{Part, Split};
use super::verdict::Verdict;
use super::{Diagnosis, History, ceilings};

/// From the higher share of the database's time on, storage is the answer; below the lower share it is not.
const MAJOR: f64 = 0.4;
const MINOR: f64 = 0.15;
/// With this share of time in no counter and unknown processor time, storage cannot be ruled out.
const UNKNOWN: f64 = 0.3;
/// Smaller shares of the database's time are not reported.
const NOTABLE: f64 = 0.05;
/// Minimum share for naming parts other than storage.
const LARGE: f64 = 0.1;
/// Hourly snapshots, with a tolerance for late ones.
const LONG_S: f64 = 3_900.0;

/// The verdicts: the answer, then causes, then limits of the answer.
pub(super) fn verdicts(subject: &Subject, diagnosis: &Diagnosis) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    match &diagnosis.split {
        Some(split) => {
            verdicts.extend(answer(split, diagnosis));
            verdicts.extend(quiet(split));
            verdicts.extend(processors(split));
            verdicts.extend(commits::verdicts(split, diagnosis));
            verdicts.extend(elsewhere(split));
        }
        None => verdicts.push(untold(diagnosis)),
    }
    verdicts.extend(ceiling(diagnosis));
    verdicts.extend(devices::verdicts(subject, diagnosis));
    verdicts.extend(tails(subject));
    verdicts.extend(works::verdicts(subject));
    verdicts.extend(diagnosis.history.as_ref().map(history).unwrap_or_default());
    verdicts.extend(cache(diagnosis));
    let longest_s = diagnosis.windows.longest_s;
    verdicts.extend((longest_s > LONG_S).then_some(Verdict::LongWindows { longest_s }));
    verdicts
}

/// The most unusual window, and the change between two periods.
fn history(history: &History) -> Vec<Verdict> {
    /// Smaller factors or differences of sessions are normal variation.
    const TIMES: f64 = 1.5;
    const SESSIONS: f64 = 0.3;
    let mut windows: Vec<_> = history.unusual.iter().map(|unusual| unusual.slot.begin).collect();
    windows.sort_unstable();
    windows.dedup();
    let farthest = history.unusual.first().cloned();
    let unusual = farthest.map(|farthest| Verdict::Unusual { windows: windows.len(), farthest });
    let changed = history.change.as_ref().and_then(|change| {
        let active = change.active()?;
        let (low, high) = (active.before.min(active.after), active.before.max(active.after));
        let is_large = high >= TIMES * low && high - low >= SESSIONS;
        is_large.then(|| Verdict::Changed { before: active.before, after: active.after, main: change.main().cloned() })
    });
    unusual.into_iter().chain(changed).collect()
}

fn untold(diagnosis: &Diagnosis) -> Verdict {
    Verdict::NoSessionTimes { has_latency: !diagnosis.responses.is_empty() }
}

fn answer(split: &Split, diagnosis: &Diagnosis) -> Option<Verdict> {
    let (share, main) = (split.storage(), split.main()?);
    let saved = diagnosis.ten_times.as_ref().map_or(0.0, super::DatabaseEffect::saved);
    if !split.has_waits {
        // Without waits only processor time can be the answer.
        let on_processor = split.share(Part::Processor);
        let at_most = 1.0 - on_processor;
        let host_busy = split.host_busy;
        let not =
            Verdict::NotStorage { share: at_most, at_most, host_busy, main: Part::Processor, main_share: on_processor };
        return Some(if on_processor > 1.0 - MINOR { not } else { untold(diagnosis) });
    }
    if let Some(behind) = log_behind_locks(split, diagnosis, share) {
        return Some(behind);
    }
    Some(if share >= MAJOR {
        let part = split.slices.iter().find(|slice| slice.part.is_storage())?;
        Verdict::Storage { share, part: part.part, part_share: part.share, saved }
    } else if !split.has_processor_time && split.share(Part::Unaccounted) >= UNKNOWN {
        Verdict::StorageAtLeast { share, unaccounted: split.share(Part::Unaccounted) }
    } else if share >= MINOR {
        Verdict::StorageInPart { share, saved, main: main.part, main_share: main.share }
    } else {
        let at_most = diagnosis.at_most.as_ref().map_or(share, super::DatabaseEffect::saved);
        Verdict::NotStorage { share, at_most, host_busy: split.host_busy, main: main.part, main_share: main.share }
    })
}

/// A slow log together with waits for locks until commit, if these exceed the waits for storage.
fn log_behind_locks(split: &Split, diagnosis: &Diagnosis, share: f64) -> Option<Verdict> {
    /// Flash writes a log in less than a millisecond, a disk without a cache in about ten.
    const SLOW_S: f64 = 0.020;
    let of_commits = diagnosis.commits.as_ref().and_then(|commits| commits.write_s);
    let of_windows = diagnosis.response(Class::RedoWrite).map(|response| response.latency_s);
    let write_s = of_commits.into_iter().chain(of_windows).fold(0.0, f64::max);
    let locks = split.share(Part::Lock);
    let held = locks + split.share(Part::Cluster) + split.share(Part::CommitRest);
    (write_s >= SLOW_S && held >= NOTABLE && held > share).then_some(Verdict::LogBehindLocks {
        write_s,
        share,
        held,
        locks,
    })
}

fn quiet(split: &Split) -> Option<Verdict> {
    /// With fewer active sessions the database is idle most of the time.
    const QUIET: f64 = 0.3;
    (split.active < QUIET).then_some(Verdict::Quiet { active: split.active })
}

fn processors(split: &Split) -> Option<Verdict> {
    /// Above this share of all processors queueing is likely at any time.
    const FULL: f64 = 0.85;
    /// Below it sessions find a free processor; unaccounted time has other reasons.
    const FREE: f64 = 0.5;
    let unaccounted = split.share(Part::Unaccounted);
    let is_large = split.has_processor_time && split.has_waits && unaccounted >= LARGE;
    match split.host_busy {
        Some(busy) if busy >= FULL => Some(Verdict::ProcessorsFull { busy, processors: split.processors }),
        Some(busy) if is_large && busy < FREE => Some(Verdict::Unaccounted { share: unaccounted }),
        busy if is_large => Some(Verdict::ProcessorQueue { share: unaccounted, busy }),
        _ => None,
    }
}

/// Large parts other than storage and processors.
fn elsewhere(split: &Split) -> Vec<Verdict> {
    let parts = [Part::Lock, Part::Concurrency, Part::Cluster, Part::Network, Part::Managed, Part::OtherWaits];
    let large = split.slices.iter().filter(|slice| parts.contains(&slice.part) && slice.share >= LARGE);
    let verdict = |slice: &super::Slice| Verdict::Elsewhere {
        part: slice.part,
        share: slice.share,
        event: slice.events.first().map(|event| event.event.clone()),
    };
    large.map(verdict).collect()
}

/// The most used ceiling of the given configuration.
fn ceiling(diagnosis: &Diagnosis) -> Option<Verdict> {
    let on = diagnosis.on.as_ref()?;
    let most = on.ceilings.first()?;
    Some(if most.highest >= ceilings::NEAR {
        Verdict::AtCeiling {
            name: most.name.clone(),
            counts: most.counts,
            allows: most.allows,
            demand: most.demand,
            near: most.near,
            windows: on.windows,
        }
    } else {
        Verdict::BelowCeilings {
            name: most.name.clone(),
            highest: most.highest,
            longest_s: diagnosis.windows.longest_s,
        }
    })
}

/// Notable storage events whose 99th percentile is far above the mean.
fn tails(subject: &Subject) -> Vec<Verdict> {
    /// Waits of random operations have a 99th percentile of at most five times their mean.
    const FAR: f64 = 10.0;
    /// Minimum waits for a 99th percentile.
    const MIN_WAITS: f64 = 1_000.0;
    /// Shorter tails are harmless.
    const SHORT_S: f64 = 0.016;
    let Some(account) = &subject.account else { return Vec::new() };
    let is_relevant = |cause: WaitCause| {
        matches!(cause, WaitCause::Commit | WaitCause::Storage(Class::RandomRead | Class::Read | Class::RedoWrite))
    };
    let tail = |event: &plimsoll_ingest::EventTime| {
        let (mean_s, within_s) = (event.mean_s()?, event.within_s(0.99)?);
        let far = within_s >= FAR * mean_s && within_s > SHORT_S && event.count >= MIN_WAITS;
        far.then(|| Verdict::Tail {
            event: event.event.clone(),
            cause: event.cause,
            mean_s,
            within_s: Some(within_s).filter(|seconds| seconds.is_finite()),
        })
    };
    let notable = NOTABLE * account.whole.database_s;
    let events = account.whole.waits.iter().filter(|event| is_relevant(event.cause));
    events.filter(|event| !event.foreground || event.total_s >= notable).filter_map(tail).collect()
}

/// The smallest of the larger caches that achieves most of the possible saving.
fn cache(diagnosis: &Diagnosis) -> Option<Verdict> {
    let larger = || diagnosis.cache.iter().filter(|step| step.factor > 1.0);
    let most = larger().map(|step| step.saved).fold(0.0, f64::max);
    if most >= NOTABLE {
        let step = larger().find(|step| step.saved >= 0.8 * most)?;
        return Some(Verdict::CacheHelps {
            factor: step.factor,
            bytes: step.bytes,
            reads: 1.0 - step.reads,
            saved: step.saved,
        });
    }
    let last = larger().next_back()?;
    let reads = diagnosis.share(Part::RandomRead) + diagnosis.share(Part::SequentialRead) + diagnosis.share(Part::Read);
    (reads >= LARGE).then_some(Verdict::CacheDoesNot { factor: last.factor, saved: last.saved })
}

//! When which verdict is given. Each limit stands beside its reason; below it nothing is said.

mod commits;
mod devices;
mod works;

use plimsoll_ingest::{Class, Subject, Waited};

use super::split::{Part, Split};
use super::verdict::Verdict;
use super::{Diagnosis, History, ceilings};

/// From this share of the database's time storage is the answer, below the lower one it is not.
const MOST: f64 = 0.4;
const LITTLE: f64 = 0.15;
/// Where so much of the database's time is in no counter, and the processors' neither, nobody can clear storage.
const UNKNOWN: f64 = 0.3;
/// What takes less of the database's time than this is no finding of its own.
const NOTABLE: f64 = 0.05;
/// From this share on, what is not storage is named.
const LARGE: f64 = 0.1;
/// Snapshots are taken each hour, and a few seconds late.
const LONG_S: f64 = 3_900.0;

/// The verdicts, the answer first, then causes, then what limits the answer.
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

/// The farthest window, and the change between two periods.
fn history(history: &History) -> Vec<Verdict> {
    /// Changes of a smaller factor, or of fewer sessions, are those of any day.
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
    Verdict::Untold { says_latency: !diagnosis.responses.is_empty() }
}

fn answer(split: &Split, diagnosis: &Diagnosis) -> Option<Verdict> {
    let (share, main) = (split.storage(), split.main()?);
    let saved = diagnosis.ten_times.as_ref().map_or(0.0, super::DatabaseEffect::saved);
    if !split.says_waits {
        // All waits are in what is not said: the processor alone can be the answer.
        let on_processor = split.share(Part::Processor);
        let at_most = 1.0 - on_processor;
        let host_busy = split.host_busy;
        let not =
            Verdict::NotStorage { share: at_most, at_most, host_busy, main: Part::Processor, main_share: on_processor };
        return Some(if on_processor > 1.0 - LITTLE { not } else { untold(diagnosis) });
    }
    if let Some(behind) = log_behind_locks(split, diagnosis, share) {
        return Some(behind);
    }
    Some(if share >= MOST {
        let part = split.slices.iter().find(|slice| slice.part.is_storage())?;
        Verdict::Storage { share, part: part.part, part_share: part.share, saved }
    } else if !split.says_processor && split.share(Part::Unsaid) >= UNKNOWN {
        Verdict::StorageAtLeast { share, unsaid: split.share(Part::Unsaid) }
    } else if share >= LITTLE {
        Verdict::StorageInPart { share, saved, main: main.part, main_share: main.share }
    } else {
        let at_most = diagnosis.at_most.as_ref().map_or(share, super::DatabaseEffect::saved);
        Verdict::NotStorage { share, at_most, host_busy: split.host_busy, main: main.part, main_share: main.share }
    })
}

/// A slow log beside waits for what is held until a commit is written, where these are longer than those for storage.
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
    /// Fewer active sessions than this leave the database idle most of the time.
    const QUIET: f64 = 0.3;
    (split.active < QUIET).then_some(Verdict::Quiet { active: split.active })
}

fn processors(split: &Split) -> Option<Verdict> {
    /// Above this share of all processors a queue is to be expected at any time.
    const FULL: f64 = 0.85;
    /// Below it sessions find a processor at once; what is not said has other reasons.
    const FREE: f64 = 0.5;
    let unsaid = split.share(Part::Unsaid);
    let is_large = split.says_processor && split.says_waits && unsaid >= LARGE;
    match split.host_busy {
        Some(busy) if busy >= FULL => Some(Verdict::ProcessorsFull { busy, processors: split.processors }),
        Some(busy) if is_large && busy < FREE => Some(Verdict::Unsaid { share: unsaid }),
        busy if is_large => Some(Verdict::ProcessorQueue { share: unsaid, busy }),
        _ => None,
    }
}

/// What is neither storage nor processor, and large.
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

/// The ceiling that is used most, of the configuration that was named.
fn ceiling(diagnosis: &Diagnosis) -> Option<Verdict> {
    let on = diagnosis.on.as_ref()?;
    let most = on.ceilings.first()?;
    Some(if most.highest >= ceilings::NEAR {
        Verdict::AtCeiling {
            name: most.name.clone(),
            counts: most.counts,
            allows: most.allows,
            asked: most.asked,
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

/// Events of storage with a share worth it, whose hundredth wait is far from the mean.
fn tails(subject: &Subject) -> Vec<Verdict> {
    /// Waits of random operations have a 99th percentile of five times their mean and less.
    const FAR: f64 = 10.0;
    /// Fewer waits have no hundredth.
    const LEAST: f64 = 1_000.0;
    /// What ends sooner hurts nobody.
    const SHORT_S: f64 = 0.016;
    let Some(account) = &subject.account else { return Vec::new() };
    let is_meant = |waited: Waited| {
        matches!(waited, Waited::Commit | Waited::Storage(Class::RandomRead | Class::Read | Class::RedoWrite))
    };
    let tail = |event: &plimsoll_ingest::EventTime| {
        let (mean_s, within_s) = (event.mean_s()?, event.within_s(0.99)?);
        let far = within_s >= FAR * mean_s && within_s > SHORT_S && event.count >= LEAST;
        far.then(|| Verdict::Tail {
            event: event.event.clone(),
            waited: event.waited,
            mean_s,
            within_s: Some(within_s).filter(|seconds| seconds.is_finite()),
        })
    };
    let notable = NOTABLE * account.whole.database_s;
    let events = account.whole.waits.iter().filter(|event| is_meant(event.waited));
    events.filter(|event| !event.foreground || event.total_s >= notable).filter_map(tail).collect()
}

/// The least of the larger caches that saves most of what any of them saves.
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

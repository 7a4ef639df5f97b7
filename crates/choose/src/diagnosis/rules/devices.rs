//! Verdicts about storage latency (slow, at its limit, quick), and about the consistency of the input.

use plimsoll_ingest::{Class, DatabaseDemand, Measure};

use super::{Diagnosis, LARGE, NOTABLE};
use crate::diagnosis::response::Response;
use crate::diagnosis::split::TimePart;
use crate::diagnosis::totals::value;
use crate::diagnosis::verdict::DiagnosisVerdict;

pub(super) fn verdicts(subject: &DatabaseDemand, diagnosis: &Diagnosis) -> Vec<DiagnosisVerdict> {
    let pinned = diagnosis.pinned.iter().map(|pinned| DiagnosisVerdict::Pinned {
        class: pinned.class,
        measure: pinned.measure,
        value: pinned.value,
        windows: pinned.windows,
        of: pinned.of,
    });
    let all = || diagnosis.responses.iter().chain(&diagnosis.waits);
    let responses = all().filter(|response| matters(response, diagnosis));
    let responses = responses.filter_map(|response| judge_response(response, diagnosis));
    let mut slow: Vec<DiagnosisVerdict> =
        all().filter(|response| !matters(response, diagnosis)).filter_map(|one| slow_class(one, diagnosis)).collect();
    slow.sort_by(|a, b| class_share(b).total_cmp(&class_share(a)));
    let stalls = find_stalls(subject);
    // Storage that does not answer at times is not fast, and its pending operations explain their number in flight.
    let is_contradicted = |verdict: &DiagnosisVerdict| {
        let is_other = matches!(verdict, DiagnosisVerdict::Quick { .. } | DiagnosisVerdict::Unequal { .. });
        is_other && !stalls.is_empty()
    };
    let others = idle_paths(subject, diagnosis).chain(responses).chain(slow).chain(agreement(subject));
    let others: Vec<_> = pinned.chain(others).filter(|verdict| !is_contradicted(verdict)).collect();
    stalls.into_iter().chain(others).collect()
}

/// Windows with pending operations of which none completes: the storage, or its path, does not answer.
fn find_stalls(subject: &DatabaseDemand) -> Vec<DiagnosisVerdict> {
    /// Smaller means are operations at the edges of a window.
    const MIN_PENDING: f64 = 1.0;
    let of_class = |class: Class| {
        let pending = |slot: usize| {
            let pending = value(subject, class, Measure::Depth, slot)?;
            let is_idle = total(subject, class, slot)? <= 0.0;
            (is_idle && pending >= MIN_PENDING).then_some(pending)
        };
        let stalled: Vec<f64> = (0..subject.slots.len()).filter_map(pending).collect();
        let pending = stalled.iter().copied().fold(0.0, f64::max);
        let (windows, of) = (stalled.len(), subject.slots.len());
        (windows > 0).then_some(DiagnosisVerdict::Stalled { class, pending, windows, of })
    };
    [Class::Read, Class::Write, Class::All].into_iter().filter_map(of_class).collect()
}

/// Completed operations per second of a class; of all, also from reads and writes.
fn total(subject: &DatabaseDemand, class: Class, slot: usize) -> Option<f64> {
    let of = |class| value(subject, class, Measure::Iops, slot);
    match class {
        Class::All => of(Class::All).or_else(|| Some(of(Class::Read)? + of(Class::Write)?)),
        class => of(class),
    }
}

/// Disks of which a single path of at least three is in use. With two paths the other may lead to the other controller,
/// which is slower.
fn idle_paths<'a>(
    subject: &'a DatabaseDemand,
    diagnosis: &'a Diagnosis,
) -> impl Iterator<Item = DiagnosisVerdict> + 'a {
    const FEWEST: usize = 3;
    let all = diagnosis.response(Class::All).or_else(|| diagnosis.response(Class::Read));
    let latency_s = all.map(|response| response.quiet_s.unwrap_or(response.latency_s)).filter(|seconds| *seconds > 0.0);
    let is_failover = |groups: &[u32]| groups.len() >= FEWEST && groups.iter().all(|paths| *paths == 1);
    let found = subject.multipaths.iter().filter(move |multipath| is_failover(&multipath.groups));
    found.map(move |multipath| DiagnosisVerdict::IdlePaths {
        name: multipath.name.clone(),
        paths: multipath.groups.len(),
        queue_depth: multipath.queue_depth,
        latency_s,
    })
}

/// The classes that sessions wait for and whose latency is meaningful.
fn matters(response: &Response, diagnosis: &Diagnosis) -> bool {
    let waits = compute_wait_share(response.class, diagnosis).is_none_or(|share| share >= NOTABLE);
    // Rates below an operation per second are not significant.
    is_timed(response.class, diagnosis) && waits && response.iops >= 1.0
}

/// True for classes whose latency is that of single operations, and that are not a less specific total.
fn is_timed(class: Class, diagnosis: &Diagnosis) -> bool {
    match class {
        Class::Read => diagnosis.response(Class::RandomRead).is_none(),
        Class::All => diagnosis.response(Class::Read).is_none() && diagnosis.response(Class::Write).is_none(),
        Class::RandomRead
        | Class::SequentialRead
        | Class::Write
        | Class::RedoWrite
        | Class::Flush
        | Class::TempRead
        | Class::TempWrite => true,
        _ => false,
    }
}

/// A class that is slow, although sessions seldom wait for it.
fn slow_class(response: &Response, diagnosis: &Diagnosis) -> Option<DiagnosisVerdict> {
    /// Minimum operations for a mean.
    const MIN_OPERATIONS: f64 = 100.0;
    let Response { class, counted, iops, latency_s, bytes, .. } = *response;
    let seconds: f64 = response.points.iter().map(|point| point.length_s).sum();
    let is_slow = latency_s > slow_threshold_s(response) && iops * seconds >= MIN_OPERATIONS;
    let share = compute_wait_share(class, diagnosis);
    (is_slow && is_timed(class, diagnosis)).then_some(DiagnosisVerdict::SlowClass {
        class,
        counted,
        latency_s,
        iops,
        bytes,
        share,
    })
}

fn class_share(verdict: &DiagnosisVerdict) -> f64 {
    if let DiagnosisVerdict::SlowClass { share: Some(share), .. } = verdict { *share } else { 0.0 }
}

/// Share of the database's time that sessions wait for a class; none if no input contains waits.
fn compute_wait_share(class: Class, diagnosis: &Diagnosis) -> Option<f64> {
    let split = diagnosis.split.as_ref().filter(|split| split.has_waits)?;
    Some(match class {
        Class::RandomRead => split.share(TimePart::RandomRead),
        Class::SequentialRead => split.share(TimePart::SequentialRead),
        Class::Read => {
            let parts = [TimePart::Read, TimePart::OtherUserIo, TimePart::RandomRead, TimePart::SequentialRead];
            parts.into_iter().map(|part| split.share(part)).sum()
        }
        Class::RedoWrite | Class::Flush => split.share(TimePart::LogWrite),
        Class::TempRead | Class::TempWrite => split.share(TimePart::Temp),
        _ => split.storage(),
    })
}

/// Latency of small operations from which they are slow: that of rotating disks or of remote storage.
const SLOW_S: f64 = 0.004;
/// Latency of small operations up to which they are fast.
const QUICK_S: f64 = 0.001;
/// Transfer rate of a stream of slow storage, in bytes per second.
const SLOW_BYTES_S: f64 = 200e6;

/// Latency from which an operation is slow. Log writes are small and sequential, and go to memory in nearly all products, as
/// do flushes of the log. Large operations have the time of their transfer in addition.
fn slow_threshold_s(response: &Response) -> f64 {
    /// Assumed bytes of scans and sorts, their usual maximum.
    const LONG: f64 = 1_048_576.0;
    let least = if matches!(response.class, Class::RedoWrite | Class::Flush) { 0.002 } else { SLOW_S };
    let is_long = matches!(response.class, Class::SequentialRead | Class::TempRead | Class::TempWrite);
    least + response.bytes.unwrap_or(if is_long { LONG } else { 0.0 }) / SLOW_BYTES_S
}

/// Without overload, quiet windows have at least this share of the mean latency.
const ALIKE: f64 = 0.6;
/// Correlation from which latency grows with the rate.
const GOES_WITH: f64 = 0.5;

/// True if the classes with most of the time of storage are fast for their medium, and no finding is about slow or limited
/// storage.
pub(in crate::diagnosis) fn is_fast(diagnosis: &Diagnosis) -> bool {
    /// Minimum share of the time of storage.
    const MIN_SHARE: f64 = 0.5;
    let Some(split) = diagnosis.split.as_ref().filter(|split| split.has_waits) else { return false };
    let is_limit = |verdict: &DiagnosisVerdict| {
        matches!(
            verdict,
            DiagnosisVerdict::Slow { .. }
                | DiagnosisVerdict::SlowOrLoaded { .. }
                | DiagnosisVerdict::AtItsLimit { .. }
                | DiagnosisVerdict::Stalled { .. }
                | DiagnosisVerdict::Pinned { .. }
                | DiagnosisVerdict::AtCeiling { .. }
        )
    };
    let parts: [(TimePart, &[Class]); 5] = [
        (TimePart::RandomRead, &[Class::RandomRead]),
        (TimePart::SequentialRead, &[Class::SequentialRead]),
        (TimePart::Read, &[Class::Read]),
        (TimePart::LogWrite, &[Class::RedoWrite]),
        (TimePart::Temp, &[Class::TempRead, Class::TempWrite]),
    ];
    let has_fast_responses = |classes: &[Class]| {
        let mut own =
            diagnosis.responses.iter().chain(&diagnosis.waits).filter(|one| classes.contains(&one.class)).peekable();
        own.peek().is_some() && own.all(|response| response.latency_s <= fast_threshold_s(response))
    };
    let fast: f64 =
        parts.iter().filter(|(_, classes)| has_fast_responses(classes)).map(|(part, _)| split.share(*part)).sum();
    fast > MIN_SHARE * split.storage() && !diagnosis.verdicts.iter().any(is_limit)
}

/// True if the operations of every class with a meaningful latency are fast for their medium.
pub(super) fn are_responses_fast(diagnosis: &Diagnosis) -> bool {
    let mut timed =
        diagnosis.responses.iter().filter(|one| is_timed(one.class, diagnosis) && one.iops >= 1.0).peekable();
    timed.peek().is_some() && timed.all(|response| response.latency_s <= fast_threshold_s(response))
}

/// Latency up to which an operation is fast, with the transfer of large ones at the rate of a fast stream.
fn fast_threshold_s(response: &Response) -> f64 {
    const FAST_BYTES_S: f64 = 1e9;
    QUICK_S + response.bytes.unwrap_or(0.0) / FAST_BYTES_S
}

fn judge_response(response: &Response, diagnosis: &Diagnosis) -> Option<DiagnosisVerdict> {
    const HALF: f64 = 0.5;
    let Response { class, counted, iops, latency_s, bytes, in_flight, knee_iops, .. } = *response;
    let slow_s = slow_threshold_s(response);
    // Storage at its limit has operations in flight, and takes longer than the larger operations of its busiest windows.
    let is_free = response.loaded_busy.is_some_and(|busy| busy < HALF);
    let larger_s = response.loaded_bytes.zip(response.bytes).map_or(0.0, |(loaded, all)| loaded - all) / SLOW_BYTES_S;
    // On average less than one in flight, or idle half of the time: hardly any queueing. Flushes of a log follow each other
    // and wait for writes in progress.
    let is_alone = (in_flight < 1.0 && class != Class::Flush) || response.busy.is_some_and(|busy| busy < HALF);
    let grows = response.correlation.is_some_and(|correlation| correlation >= GOES_WITH);
    match (response.quiet_s, response.loaded_s) {
        (Some(quiet_s), Some(loaded_s))
            if !is_free
                && loaded_s > slow_s + larger_s.max(0.0)
                && (knee_iops.is_some() || grows && quiet_s < ALIKE * loaded_s) =>
        {
            let highest_iops = response.points.last().map_or(iops, |point| point.iops);
            Some(DiagnosisVerdict::AtItsLimit { class, quiet_s, loaded_s, knee_iops, highest_iops })
        }
        _ if latency_s > slow_s && (is_alone || is_flat(response)) => {
            Some(DiagnosisVerdict::Slow { class, counted, latency_s, iops, bytes, in_flight })
        }
        _ if latency_s > slow_s => {
            Some(DiagnosisVerdict::SlowOrLoaded { class, counted, latency_s, iops, bytes, in_flight })
        }
        _ => transfer(response, diagnosis).or_else(|| quick(response, diagnosis)),
    }
}

/// True if windows of different rates have similar latencies and the storage is not always busy: a closed load can keep
/// storage full at any rate.
fn is_flat(response: &Response) -> bool {
    const FULL: f64 = 0.7;
    const DIFFERENT: f64 = 1.5;
    let is_free = response.busy.is_none_or(|busy| busy < FULL);
    let quiet = response.points.get(response.points.len() / 4);
    let differ = quiet.zip(response.points.last()).is_some_and(|(quiet, max)| max.iops > DIFFERENT * quiet.iops);
    let alike = response.quiet_s.is_some_and(|quiet_s| quiet_s >= ALIKE * response.latency_s);
    let falls = response.correlation.is_none_or(|correlation| correlation < -GOES_WITH);
    is_free && differ && alike && !falls
}

/// Waits for operations so large that their transfer takes as long as a slow medium needs to begin it, at the rate of a
/// stream of good storage: neither their latency nor that of the medium is slow. Those of less than a millisecond are fast.
fn transfer(response: &Response, diagnosis: &Diagnosis) -> Option<DiagnosisVerdict> {
    let Response { class, counted, iops, latency_s, bytes, .. } = *response;
    let bytes = bytes.filter(|bytes| bytes / SLOW_BYTES_S >= SLOW_S)?;
    let is_large = compute_wait_share(class, diagnosis).is_some_and(|share| share >= LARGE);
    let is_transfer = latency_s > QUICK_S && bytes / latency_s >= SLOW_BYTES_S;
    (is_large && is_transfer).then_some(DiagnosisVerdict::Transfer { class, counted, latency_s, iops, bytes })
}

/// Latency of flash: long waits are due to the number of operations.
fn quick(response: &Response, diagnosis: &Diagnosis) -> Option<DiagnosisVerdict> {
    let Response { class, counted, iops, latency_s, .. } = *response;
    let is_random = matches!(class, Class::RandomRead | Class::Read | Class::All);
    if !is_random || latency_s > QUICK_S {
        return None;
    }
    Some(match compute_wait_share(class, diagnosis) {
        Some(share) if share >= LARGE => DiagnosisVerdict::Many { class, counted, latency_s, iops },
        _ => DiagnosisVerdict::Quick { class, counted, latency_s, iops },
    })
}

/// Checks the input with Little's law: operations in flight are rates times latencies.
fn agreement(subject: &DatabaseDemand) -> Option<DiagnosisVerdict> {
    /// Tolerance for rounded figures and merged requests.
    const STRAYS: f64 = 1.5;
    let (mut reported, mut derived) = (0.0, 0.0);
    for (slot, window) in subject.slots.iter().enumerate() {
        let at = |class, measure| value(subject, class, measure, slot);
        let in_flight = |class| Some(at(class, Measure::Iops)? * at(class, Measure::Latency)?);
        let parts = [Class::Read, Class::Write].map(in_flight);
        let sum = if parts == [None, None] { in_flight(Class::All) } else { Some(parts.iter().flatten().sum()) };
        if let (Some(depth), Some(sum)) = (at(Class::All, Measure::Depth), sum) {
            reported += depth * window.length.as_secs_f64();
            derived += sum * window.length.as_secs_f64();
        }
    }
    let (reported, derived) = (reported / subject_seconds(subject), derived / subject_seconds(subject));
    let is_much = reported.max(derived) > 0.1;
    let differs = reported > STRAYS * derived || derived > STRAYS * reported;
    (is_much && reported > 0.0 && derived > 0.0 && differs).then_some(DiagnosisVerdict::Unequal { reported, derived })
}

fn subject_seconds(subject: &DatabaseDemand) -> f64 {
    subject.slots.iter().map(|slot| slot.length.as_secs_f64()).sum()
}

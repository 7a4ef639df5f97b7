//! Demand that a stall or a limit censors: the measured rate is what the stalled storage lets through.

use std::collections::BTreeSet;

use plimsoll_ingest::{Cap, CapBasis, CapOwner, Class, DatabaseDemand, Measure, Resource, WaitCause};

use super::response::compute_busy;
use super::split::TimePart;
use super::totals::{total, value};
use super::{Diagnosis, DiagnosisVerdict, HostLimit};

/// The reason why the measured rate is below the demand, and the rate without it.
#[derive(Clone, Debug, PartialEq)]
pub struct Censored {
    pub cause: CensorCause,
    /// Estimated highest ratio of the rate without the stall to the measured one; none if the input does not determine it.
    pub up_to: Option<f64>,
}

/// Reasons for a rate below the demand.
#[derive(Clone, Debug, PartialEq)]
pub enum CensorCause {
    /// Limits are reached, by the provider's metrics.
    Metric {
        /// Each limit, the one that was reached most of the time first. Never empty.
        limits: Vec<Cap>,
        /// Seconds of an operation in windows below the limit and at it, if known.
        latency_s: Option<[f64; 2]>,
    },
    /// Sessions wait for locks that are held during slow log writes.
    LogBehindLocks {
        active: f64,
        /// Share of their time that they wait for locks.
        locks: f64,
        /// Seconds of a log write.
        write_s: f64,
        /// Seconds between two grants of a lock.
        grant_s: Option<f64>,
    },
    /// The rate is pinned at a value in most windows.
    Pinned {
        /// [`Measure::Iops`] or [`Measure::Throughput`].
        measure: Measure,
        /// Operations or bytes per second.
        value: f64,
        /// Windows at the value, and all windows.
        windows: [usize; 2],
        /// Seconds of an operation in windows below the value and at it, if known.
        latency_s: Option<[f64; 2]>,
    },
    /// The rate is that of the storage in all windows: it does not vary, while operations always queue.
    Saturated {
        /// [`Measure::Iops`] or [`Measure::Throughput`].
        measure: Measure,
        /// Mean operations or bytes per second.
        value: f64,
        /// Windows with I/O: all of them are at the value.
        windows: usize,
        in_flight: f64,
        /// Mean seconds of an operation.
        latency_s: f64,
        basis: SaturationBasis,
    },
    /// As many operations are in flight in each window, whatever their rate: sessions wait for each answer.
    ClosedLoad {
        in_flight: f64,
        /// Seconds of an operation in the fastest windows, and on average.
        latency_s: [f64; 2],
    },
    /// Sessions wait for the resource manager, which limits the processors of the database.
    ProcessorCap {
        /// Share of the sessions' time that they wait for it.
        share: f64,
        /// Processors in use, and those at the estimated rate without the limit.
        processors: [f64; 2],
        /// Processors that it allows, if known.
        limit: Option<f64>,
    },
    /// Sessions that never pause wait for slow reads.
    ClosedReads {
        active: f64,
        /// Share of their time that they wait for reads.
        share: f64,
        /// Seconds of a read.
        latency_s: f64,
        /// The counted waits, if they are a part of that time: their share of it, and the seconds of a read in them.
        counted: Option<[f64; 2]>,
    },
}

/// Why a rate that does not vary is that of the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaturationBasis {
    /// Operations always queue, and are slow or of varying number.
    Queue,
    /// The rate is a usual limit, and the number of operations in flight is constant as well. A constant load of the
    /// application may look the same.
    UsualLimit,
}

impl Censored {
    /// Ratio that is assumed where the input does not determine it: a guess.
    pub const ASSUMED: f64 = 2.0;
    /// Highest ratio: beyond it, another limit is more likely.
    pub const MAX: f64 = 10.0;

    /// The ratio to size for.
    pub fn factor(&self) -> f64 {
        self.up_to.unwrap_or(Self::ASSUMED)
    }

    /// The owner of the limit that was reached most of the time, by the provider's metrics.
    pub fn limit_owner(&self) -> Option<CapOwner> {
        match &self.cause {
            CensorCause::Metric { limits, .. } => limits.first().map(|cap| cap.limit.owner),
            _ => None,
        }
    }

    /// True if a limit of storage binds in all windows, so that the need is unknown: at least the measured rate.
    pub const fn is_lower_bound(&self) -> bool {
        let is_limit = matches!(
            self.cause,
            CensorCause::Metric { .. } | CensorCause::Pinned { .. } | CensorCause::Saturated { .. }
        );
        is_limit && self.up_to.is_none()
    }

    /// True if the limit is a possible reason and not the only one.
    pub const fn is_possible_only(&self) -> bool {
        matches!(self.cause, CensorCause::Saturated { basis: SaturationBasis::UsualLimit, .. })
    }

    /// Identifier of the reason; it never changes.
    pub const fn id(&self) -> &'static str {
        match self.cause {
            CensorCause::LogBehindLocks { .. } => "log-behind-locks",
            CensorCause::Metric { .. } => "limit-metric",
            CensorCause::Pinned { .. } => "pinned-rate",
            CensorCause::Saturated { .. } => "saturated",
            CensorCause::ClosedLoad { .. } => "closed-load",
            CensorCause::ProcessorCap { .. } => "processor-cap",
            CensorCause::ClosedReads { .. } => "closed-reads",
        }
    }
}

/// The reason why a subject's rates are below its demand, if any; of several the first of [`CensorCause`].
pub(super) fn censored(subject: &DatabaseDemand, diagnosis: &Diagnosis) -> Option<Censored> {
    metric(subject)
        .or_else(|| log_behind_locks(subject, diagnosis))
        .or_else(|| pinned(subject, diagnosis))
        .or_else(|| saturated(subject, diagnosis))
        .or_else(|| closed_load(subject))
        .or_else(|| closed_reads(diagnosis))
        .or_else(|| processor_cap(subject, diagnosis))
}

/// Coefficients of variation: of constant figures at most, and of varying ones at least.
const STEADY: f64 = 0.05;
const VARIES: f64 = 0.15;

/// A ratio above 1, up to the maximum.
fn ratio(times: f64) -> Option<f64> {
    (times.is_finite() && times > 1.0).then(|| times.min(Censored::MAX))
}

/// Waits for locks are most of the time, and the locks are held while a slow log write completes. A lock that passes from
/// session to session is held from grant to grant: the share of the log write in that interval is saved. With a write
/// longer than the interval several locks are passed on at once, and their number is unknown.
fn log_behind_locks(subject: &DatabaseDemand, diagnosis: &Diagnosis) -> Option<Censored> {
    const MAX: f64 = 0.5;
    /// With fewer waiting sessions a lock is often free.
    const MIN_WAITING: f64 = 1.0;
    let split = diagnosis.split.as_ref()?;
    let is_behind = |verdict: &&DiagnosisVerdict| matches!(verdict, DiagnosisVerdict::LogBehindLocks { .. });
    let Some(DiagnosisVerdict::LogBehindLocks { write_s, locks, .. }) = diagnosis.verdicts.iter().find(is_behind)
    else {
        return None;
    };
    let spent = &subject.account.as_ref()?.total;
    let waits = spent.foreground().filter(|wait| wait.cause == WaitCause::Lock && wait.count > 0.0);
    let longest = waits.max_by(|a, b| a.total_s.total_cmp(&b.total_s));
    let grant_s = longest.map(|wait| spent.seconds / wait.count);
    let up_to = grant_s.and_then(|grant_s| ratio(1.0 / (1.0 - write_s / grant_s)));
    let cause = CensorCause::LogBehindLocks { active: split.active, locks: *locks, write_s: *write_s, grant_s };
    (*locks >= MAX && split.mean_sessions(*locks) >= MIN_WAITING).then_some(Censored { cause, up_to })
}

/// The limits that were reached by the provider's metrics, those with the largest share of the time first.
fn metric(subject: &DatabaseDemand) -> Option<Censored> {
    /// Fewer windows are rare peaks, which may wait.
    const MIN_SHARE: f64 = 0.05;
    let is_reached = |cap: &&Cap| cap.points > 0 && cap.share() >= MIN_SHARE && cap.limit.basis != CapBasis::Stalled;
    let mut limits: Vec<Cap> = subject.caps.iter().filter(is_reached).cloned().collect();
    limits.sort_by(|a, b| b.share().total_cmp(&a.share()));
    let slots: BTreeSet<usize> = limits.iter().flat_map(|cap| cap.slots.iter().copied()).collect();
    if limits.is_empty() {
        return None;
    }
    let latency_s = average_latencies_s(subject, |slot| slots.contains(&slot));
    let up_to = latency_s.and_then(|[free, at]| ratio(at / free));
    Some(Censored { cause: CensorCause::Metric { limits, latency_s }, up_to })
}

/// A rate of all operations that is pinned in most windows, unless operations take no longer there: a constant load of
/// the application.
fn pinned(subject: &DatabaseDemand, diagnosis: &Diagnosis) -> Option<Censored> {
    const MAX: f64 = 0.5;
    /// Windows at most this far below the value are at it.
    const NEAR: f64 = 0.97;
    /// Ratio of latencies from which operations wait for a limit.
    const LONGER: f64 = 1.5;
    let all = diagnosis.pinned.iter().filter(|pinned| pinned.class == Class::All);
    let max = all.max_by_key(|pinned| pinned.windows)?;
    if (max.windows as f64) < MAX * max.of as f64 {
        return None;
    }
    let is_at = |slot: usize| total(subject, max.measure, slot).is_some_and(|rate| rate >= NEAR * max.value);
    let latency_s = average_latencies_s(subject, is_at);
    if latency_s.is_some_and(|[free, at]| at < LONGER * free) {
        return None;
    }
    let (measure, value, windows) = (max.measure, max.value, [max.windows, max.of]);
    let cause = CensorCause::Pinned { measure, value, windows, latency_s };
    Some(Censored { cause, up_to: latency_s.and_then(|[free, at]| ratio(at / free)) })
}

/// A rate that does not vary, of storage with a queue at any time: the storage sets it, and no window shows the demand. A
/// constant load of the application is below a limit, where few operations queue, in similar numbers; at a rate that is a
/// usual limit, a limit is possible.
fn saturated(subject: &DatabaseDemand, diagnosis: &Diagnosis) -> Option<Censored> {
    const MIN_WINDOWS: usize = 3;
    const MIN_BUSY: f64 = 0.95;
    /// Operations in flight of storage that is slow by its latency, and of other storage.
    const MIN_SLOW: f64 = 2.0;
    const MIN_IN_FLIGHT: f64 = 4.0;
    /// Latency of flash, to which a queue adds.
    const QUICK_S: f64 = 0.001;
    /// Operations in flight from which one waits for another.
    const MIN_QUEUED: f64 = 1.5;
    let window = |slot: usize| {
        let iops = total(subject, Measure::Iops, slot).filter(|iops| *iops > 0.0)?;
        Some((slot, iops, in_flight(subject, slot, iops)))
    };
    let windows: Vec<_> = (0..subject.slots.len()).filter_map(window).collect();
    let depths: Vec<f64> = windows.iter().filter_map(|(.., depth)| *depth).collect();
    let busy = compute_busy(subject, windows.iter().map(|(slot, ..)| *slot));
    let is_full = busy.map_or(subject.account.is_none(), |busy| busy >= MIN_BUSY);
    if windows.len() < MIN_WINDOWS || depths.len() < windows.len() || !is_full {
        return None;
    }
    let is_slow = |verdict: &DiagnosisVerdict| {
        matches!(
            verdict,
            DiagnosisVerdict::SlowOrLoaded { .. }
                | DiagnosisVerdict::AtItsLimit { .. }
                | DiagnosisVerdict::Host { limit: HostLimit::Storage, .. }
        )
    };
    let depth = Spread::of(depths.iter().copied());
    let grows = busy.is_some() && depth.mean >= MIN_IN_FLIGHT && depth.variation >= VARIES;
    let is_queueing = grows || (depth.mean >= MIN_SLOW && diagnosis.verdicts.iter().any(is_slow));
    let of_measure = |measure| {
        let rates = || windows.iter().filter_map(move |(slot, ..)| total(subject, measure, *slot));
        (rates().count() == windows.len()).then(|| (measure, Spread::of(rates())))
    };
    let rates: Vec<(Measure, Spread)> =
        [Measure::Iops, Measure::Throughput].into_iter().filter_map(of_measure).collect();
    let iops = Spread::of(windows.iter().map(|(_, iops, _)| *iops)).mean;
    let latency_s = depth.mean / iops;
    let (basis, (measure, rate)) = if is_queueing && latency_s > QUICK_S {
        (SaturationBasis::Queue, rates.iter().find(|(_, rate)| rate.variation <= STEADY)?)
    } else if depth.mean >= MIN_QUEUED && depth.variation <= STEADY {
        (SaturationBasis::UsualLimit, rates.iter().find(|(measure, rate)| is_usual_limit(*measure, rate))?)
    } else {
        return None;
    };
    let (measure, value, windows) = (*measure, rate.mean, windows.len());
    let cause = CensorCause::Saturated { measure, value, windows, in_flight: depth.mean, latency_s, basis };
    Some(Censored { cause, up_to: None })
}

/// True for a rate that is constant, and round as those that providers offer.
fn is_usual_limit(measure: Measure, rate: &Spread) -> bool {
    /// Coefficient of variation of the windows of a rate limiter, and relative distance of their mean from its limit.
    const CONSTANT: f64 = 0.01;
    const NEAR: f64 = 0.003;
    const MANTISSAS: [f64; 17] =
        [1.0, 1.2, 1.25, 1.5, 1.6, 2.0, 2.4, 2.5, 3.0, 3.2, 4.0, 5.0, 6.0, 6.4, 7.5, 8.0, 10.0];
    const MIN_IOPS: f64 = 100.0;
    const MIN_BYTES_S: f64 = 10e6;
    let is_round = |value: f64| {
        let mantissa = value / libm::pow(10.0, libm::floor(libm::log10(value)));
        MANTISSAS.iter().any(|round| (mantissa / round - 1.0).abs() <= NEAR)
    };
    let is_usual = match measure {
        Measure::Throughput => {
            rate.mean >= MIN_BYTES_S && (is_round(rate.mean) || is_round(rate.mean / f64::from(1 << 20)))
        }
        _ => rate.mean >= MIN_IOPS && is_round(rate.mean),
    };
    rate.variation <= CONSTANT && is_usual
}

/// A constant number of operations in flight at varying rates: the rate follows from the latency, and without the slower
/// windows it would be that of the fastest ones. A constant rate could also be that of the application.
fn closed_load(subject: &DatabaseDemand) -> Option<Censored> {
    const MIN_WINDOWS: usize = 20;
    const MIN_IN_FLIGHT: f64 = 1.5;
    let window = |slot: usize| {
        let iops = total(subject, Measure::Iops, slot).filter(|iops| *iops > 0.0)?;
        Some((iops, in_flight(subject, slot, iops)?))
    };
    let windows: Vec<(f64, f64)> = (0..subject.slots.len()).filter_map(window).collect();
    let rate = Spread::of(windows.iter().map(|(iops, _)| *iops));
    let depth = Spread::of(windows.iter().map(|(_, depth)| *depth));
    let is_closed = windows.len() >= MIN_WINDOWS
        && depth.mean >= MIN_IN_FLIGHT
        && depth.variation <= STEADY
        && rate.variation >= VARIES;
    let mut latencies: Vec<f64> = windows.iter().map(|(iops, depth)| depth / iops).collect();
    latencies.sort_by(f64::total_cmp);
    let fastest = latencies.get(latencies.len() / 20).copied()?;
    let latency_s = [fastest, depth.mean / rate.mean];
    let cause = CensorCause::ClosedLoad { in_flight: depth.mean, latency_s };
    is_closed.then(|| Censored { cause, up_to: ratio(latency_s[1] / fastest) })
}

/// Mean and coefficient of variation.
struct Spread {
    mean: f64,
    variation: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let count = values.clone().count().max(1) as f64;
        let mean = values.clone().sum::<f64>() / count;
        let squares = values.map(|value| (value - mean) * (value - mean)).sum::<f64>() / count;
        Self { mean, variation: libm::sqrt(squares) / mean }
    }
}

/// Sessions that read nearly all of the time, from slow storage: the rate follows from its latency, that of scans from its
/// throughput. Time in no counter beside idle processors is that of reads as well, if these are a part of the waits.
fn closed_reads(diagnosis: &Diagnosis) -> Option<Censored> {
    const NEARLY_ALL: f64 = 0.9;
    const MIN_ACTIVE: f64 = 1.0;
    /// Latency from which reads are slow: that of rotating disks or of remote storage.
    const SLOW_S: f64 = 0.004;
    /// Busy share of the processors up to which no session queues for one.
    const IDLE: f64 = 0.05;
    /// Minimum share of waits for reads with which the time in no counter is theirs.
    const MIN_WAITED: f64 = 0.15;
    let split = diagnosis.split.as_ref().filter(|split| split.has_waits)?;
    let [random, scans, reads] =
        [TimePart::RandomRead, TimePart::SequentialRead, TimePart::Read].map(|part| split.share(part));
    let waited = random + scans + reads;
    let is_idle = split.has_processor_time
        && split.processors_busy().is_some_and(|busy| busy <= IDLE)
        && split.explaining_queue_s().is_none();
    let uncounted = if is_idle && waited >= MIN_WAITED { split.share(TimePart::Unaccounted) } else { 0.0 };
    let share = waited + uncounted;
    if share < NEARLY_ALL || split.active < MIN_ACTIVE {
        return None;
    }
    let of_class = |class| {
        let mut all = diagnosis.responses.iter().chain(&diagnosis.waits);
        all.find(|response| response.class == class).map(|response| response.latency_s)
    };
    let main = if scans > random + reads { Class::SequentialRead } else { Class::RandomRead };
    let counted = of_class(main).filter(|_| uncounted > 0.0).map(|seconds| [waited, seconds]);
    let cause = |latency_s| CensorCause::ClosedReads { active: split.active, share, latency_s, counted };
    if scans > random + reads {
        let latency_s = starved_scan_s(diagnosis, split.mean_sessions(share))?;
        return Some(Censored { cause: cause(latency_s), up_to: None });
    }
    let of_operations = |class| diagnosis.response(class).map(|response| response.latency_s);
    let latency_s =
        of_operations(Class::RandomRead).or_else(|| of_operations(Class::Read)).filter(|seconds| *seconds >= SLOW_S)?;
    let saved = diagnosis.ten_times.as_ref().map(super::DatabaseEffect::saved);
    Some(Censored { cause: cause(latency_s), up_to: saved.and_then(|saved| ratio(1.0 / (1.0 - saved))) })
}

/// Seconds of a read of so many scans in progress, if each gets less than a disk by itself delivers.
fn starved_scan_s(diagnosis: &Diagnosis, in_progress: f64) -> Option<f64> {
    /// Bytes per second of a scan that has half of a slow disk.
    const STARVED: f64 = 50e6;
    /// With fewer scans no other is waited for.
    const MIN_SCANS: f64 = 2.0;
    let mut all = diagnosis.responses.iter().chain(&diagnosis.waits);
    let scans = all.find(|response| response.class == Class::SequentialRead)?;
    let is_starved = in_progress >= MIN_SCANS && scans.iops * scans.bytes? < STARVED * in_progress;
    is_starved.then(|| in_progress / scans.iops)
}

/// Most of the time is waits for the resource manager. Without the cap the same sessions do the same work in the rest of
/// their time.
fn processor_cap(subject: &DatabaseDemand, diagnosis: &Diagnosis) -> Option<Censored> {
    const MAX: f64 = 0.5;
    const MIN_WAITING: f64 = 1.0;
    let split = diagnosis.split.as_ref().filter(|split| split.has_processor_time)?;
    let share = split.share(TimePart::Managed);
    let [used, waiting] = [split.share(TimePart::Processor), share].map(|share| split.mean_sessions(share));
    let up_to = ratio(1.0 / (1.0 - share));
    let limits = subject.resources.iter().filter(|one| one.resource == Resource::ProcessorLimit);
    let limit = limits.map(|one| one.value).reduce(f64::max);
    let cause = CensorCause::ProcessorCap { share, processors: [used, used * up_to.unwrap_or(1.0)], limit };
    (share >= MAX && waiting >= MIN_WAITING).then_some(Censored { cause, up_to })
}

/// Mean seconds of an operation in windows below a limit and at it: operations in flight over the rate (Little 1961). As
/// many operations in flight pass in less time without the limit.
fn average_latencies_s(subject: &DatabaseDemand, is_at: impl Fn(usize) -> bool) -> Option<[f64; 2]> {
    let (mut operations, mut depths) = ([0.0; 2], [0.0; 2]);
    for (slot, window) in subject.slots.iter().enumerate() {
        let Some(iops) = total(subject, Measure::Iops, slot).filter(|iops| *iops > 0.0) else { continue };
        let Some(depth) = in_flight(subject, slot, iops) else { continue };
        let index = usize::from(is_at(slot));
        operations[index] += iops * window.length.as_secs_f64();
        depths[index] += depth * window.length.as_secs_f64();
    }
    let mean = |index: usize| (operations[index] > 0.0).then(|| depths[index] / operations[index]);
    Some([mean(0).filter(|mean| *mean > 0.0)?, mean(1)?])
}

/// Operations in flight in a window: as counted, or from rates and latencies.
fn in_flight(subject: &DatabaseDemand, slot: usize, iops: f64) -> Option<f64> {
    let of = |class, measure| value(subject, class, measure, slot);
    let of_class = |class| Some(of(class, Measure::Iops)? * of(class, Measure::Latency)?);
    let by_class: Vec<f64> = [Class::Read, Class::Write].into_iter().filter_map(of_class).collect();
    let by_latency = || of(Class::All, Measure::Latency).map(|latency_s| latency_s * iops);
    let waiting = || (!by_class.is_empty()).then(|| by_class.iter().sum());
    of(Class::All, Measure::Depth).or_else(waiting).or_else(by_latency)
}

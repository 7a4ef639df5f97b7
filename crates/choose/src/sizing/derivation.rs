//! Derives the design point from the windows of a demand.
//!
//! A percentile of the load is that of whole windows, with the mix of their classes; percentiles of single classes are
//! never added up.

use std::collections::BTreeSet;
use std::sync::Arc;

use plimsoll_ingest::{Cap, CapBasis, Class, DatabaseDemand, Resource};
use plimsoll_record::{Measure, Objective, Scope};
use plimsoll_units::{Bytes, Span};
use thiserror::Error;

use super::assumption::Assumption;
use super::backlog::{Allowance, PEAKS_AT, lowest_limit, quantile};
use super::burst::{Hidden, hidden, in_busy_periods};
use super::classes::{CachedClass, ClassLatencies, ClassWindows, is_read};
use super::compute::{self, Compute, ComputeOrigin, HiddenPeaks, MemoryOrigin, ProcessorOrigin};
use super::design::{
    Burst, Busiest, ClassLoad, DemandWindow, Design, DesignPoint, GrowthStep, Measured, PeakSource, SizingRequirements,
    StepKind,
};
use super::objective::{ClassObjective, class_for, total_of};
use super::platform::Platform;
use super::scaled::ScaleKind;
use crate::diagnosis::{CensorCause, Censored, DiagnoseOptions, DiagnosisVerdict, diagnose};

/// The reason why a demand does not determine a design point.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Error)]
pub enum DesignError {
    /// No window has operations.
    #[error(
        "{}no window contains operations per second, which sizing needs: provide an AWR report, iostat or another input that \
         counts operations",
        prefix(subject)
    )]
    NoOperations { subject: String },
    /// Operations are counted, and none took place.
    #[error(
        "{}every window counts zero operations, so there is no load to size for: provide reports of a busy period",
        prefix(subject)
    )]
    Idle { subject: String },
    /// Storage does not answer in any window with operations.
    #[error(
        "{}storage stalls in all of {windows} windows, so their rates are not the demand: provide reports of a time in which it \
         answers",
        prefix(subject)
    )]
    Stalled { subject: String, windows: usize },
    /// The percentile is that of idle windows.
    #[error(
        "{}no operations take place in {idle} of {windows} windows, which are at least {:.3} % of the time, so there is no load \
         to size for at this percentile: use a higher --percentile, or none",
        prefix(subject),
        share * 100.0
    )]
    IdlePercentile {
        subject: String,
        /// The percentile: share of the time, 0 to 1.
        share: f64,
        /// Windows without operations.
        idle: usize,
        /// All windows that count operations.
        windows: usize,
    },
    /// Operations of a class are not counted: unknown, not zero.
    #[error(
        "the input counts no {}: sizing for the rest alone would be too small. Add a report of the same time that counts them, such \
         as iostat, or an AWR or Statspack report with its table Instance Activity; --assume takes 8 KiB for each operation where \
         the bytes are known, and none elsewhere",
        classes.iter().map(|class| class.label()).collect::<Vec<_>>().join(plimsoll_language::label!(" and no "))
    )]
    Absent {
        /// The classes: reads, writes or both.
        classes: Vec<Class>,
    },
}

fn prefix(subject: &str) -> String {
    if subject.is_empty() { String::new() } else { format!("{subject}: ") }
}

fn idle_or_not_counted(subject: &DatabaseDemand) -> DesignError {
    let is_counted = Class::ALL.into_iter().any(|class| counts(subject, class));
    let verdicts = diagnose(subject, &DiagnoseOptions::default()).verdicts;
    let name = subject.name.clone();
    match verdicts.iter().find(|verdict| is_stall(verdict)) {
        Some(
            DiagnosisVerdict::Stalled { windows, of, .. }
            | DiagnosisVerdict::ProviderStall(Cap { points: windows, of, .. }),
        ) if windows == of => DesignError::Stalled { subject: name, windows: *windows },
        _ if is_counted => DesignError::Idle { subject: name },
        _ => DesignError::NoOperations { subject: name },
    }
}

/// Fails if a volume stalls in all windows with operations, by its provider's metrics.
fn check_stalls(subject: &DatabaseDemand, loaded: &[usize]) -> Result<(), DesignError> {
    let stalls = subject.caps.iter().filter(|cap| cap.limit.basis == CapBasis::Stalled);
    let slots: BTreeSet<usize> = stalls.flat_map(|cap| cap.slots.iter().copied()).collect();
    if loaded.is_empty() || !loaded.iter().all(|slot| slots.contains(slot)) {
        return Ok(());
    }
    Err(DesignError::Stalled { subject: subject.name.clone(), windows: slots.len() })
}

const fn is_stall(verdict: &DiagnosisVerdict) -> bool {
    matches!(verdict, DiagnosisVerdict::Stalled { .. } | DiagnosisVerdict::ProviderStall(_))
}

/// Fails if an input with operations counts no reads, or no writes of any kind.
pub fn check_counted(subject: &DatabaseDemand) -> Result<(), DesignError> {
    let mut classes = subject.absent();
    if counts_log(subject) {
        classes.retain(|class| *class != Class::Write);
    }
    if classes.is_empty() { Ok(()) } else { Err(DesignError::Absent { classes }) }
}

/// The reason why a demand cannot be sized for without further assumptions, if any.
pub fn find_refusal(subject: &DatabaseDemand) -> Option<DesignError> {
    /// Any capacity: the reasons are those of the load.
    const CAPACITY: Bytes = Bytes::gib(1);
    check_counted(subject).and_then(|()| derive_requirements(subject, &Design::of(CAPACITY)).map(drop)).err()
}

/// Some databases count only the writes of the log: those of data files are not awaited.
fn counts_log(subject: &DatabaseDemand) -> bool {
    counts(subject, Class::RedoWrite)
}

/// True if the input counts operations of the class, even if none took place.
fn counts(subject: &DatabaseDemand, class: Class) -> bool {
    let series = subject.series(class, plimsoll_ingest::Measure::Iops);
    series.is_some_and(|series| series.values.iter().flatten().next().is_some())
}

/// Rate of a point, in the unit of its windows.
#[derive(Clone, Copy)]
enum Level {
    /// The given rate.
    At(f64),
    /// The mean of all windows.
    Mean,
}

/// Derives the design point of a demand.
pub fn derive_requirements(subject: &DatabaseDemand, design: &Design) -> Result<SizingRequirements, DesignError> {
    let mut all = class_windows(subject, design);
    let (windows, slots) = list_windows(subject, &mut all);
    let loaded = with_operations(&windows, &slots);
    check_stalls(subject, &loaded.1)?;
    if loaded.0.is_empty() {
        return Err(idle_or_not_counted(subject));
    }
    let allowance = derive_allowance(&design.objectives);
    let longest = slots.iter().map(|slot| subject.slots[*slot].resolution).max().unwrap_or_default();
    let measured = measure_load(subject, design, (&windows, &slots), &loaded.1, &allowance)?;
    let often = find_frequent_rates(design, &windows, &loaded.0);
    let (answer, censored, incomplete) = diagnosed(subject);
    let lifted = censored.as_ref().filter(|censored| is_lifted(design, censored));
    let without_stall = lifted.map_or(1.0, Censored::factor);
    let of_periods = in_busy_periods(longest, &subject.busy_periods);
    let of_input = maxima(&all, &loaded, design).or(of_periods);
    let hidden = find_hidden(of_input, design, &measured);
    let peaks = hidden.as_ref().and_then(|hidden| burst(hidden, design, &measured, often));
    let hidden_peaks = HiddenPeaks::of(peaks.as_ref(), hidden.as_ref(), design.burst);
    let mut steps = without_limits(peaks, stall(without_stall, lifted), lifted);
    steps.extend(growth(design));
    let mut points = vec![point(&windows, Busiest::Operations, Level::At(measured.iops), &steps)];
    let bytes = point(&windows, Busiest::Bytes, Level::At(measured.bytes_per_second), &steps);
    if measured.bytes_per_second > 0.0 && !points[0].covers(&bytes.classes) {
        points.push(bytes);
    }
    let mean_iops = mean_rate(&windows);
    let mut assumptions: Vec<Assumption> = all.assumptions().into_iter().map(Assumption::Load).collect();
    assumptions.extend(design.objectives.iter().filter_map(|objective| stand_in(objective, &points)));
    assumptions.extend(absent_operations(subject, design, &subject.absent()));
    let latencies = all.latencies(&find_decisive(&windows, &slots, &measured));
    let objectives = Objectives::of(subject, design, &latencies, &points);
    let reads_from_page_cache = latencies.of_cache.iter().any(|own| is_read(own.class));
    assumptions.extend(latencies.of_cache.iter().map(CachedClass::assumption));
    assumptions.extend(objectives.notes);
    let usual = point(&windows, Busiest::Operations, Level::Mean, &[]);
    let times = design.growth.times();
    let series = if design.quantile.is_none() { grown(windows, times * without_stall) } else { Vec::new() };
    let (compute, compute_origin) =
        required_compute(subject, design, (hidden_peaks, [censored.as_ref(), lifted]), reads_from_page_cache);
    assumptions.extend(compute_origin.possible_cores.map(Assumption::PossibleCores));
    Ok(SizingRequirements {
        subject: subject.name.clone(),
        objectives: objectives.required,
        peak_bounds: objectives.in_peaks,
        usual: Some(usual).filter(|usual| !points[0].is_like(usual)),
        platform: Platform::of(subject),
        compute,
        compute_origin,
        points,
        headroom: design.headroom,
        mean_iops: mean_iops * times * without_stall,
        capacity: Bytes::new((design.capacity.get() as f64 * times / (1.0 - design.free)).ceil() as u64),
        free: design.free,
        answer,
        censored,
        incomplete,
        doubts: subject.doubts.clone(),
        today: latencies.of_storage,
        account: subject.account.clone().map(Arc::new),
        may_be_slower: design.may_be_slower,
        tolerance: design.tolerance,
        measured,
        series,
        allowance,
        steps,
        assumptions,
    })
}

/// The measured load; an error for a percentile at which nothing happens.
fn measure_load(
    subject: &DatabaseDemand,
    design: &Design,
    (windows, slots): (&[DemandWindow], &[usize]),
    loaded: &[usize],
    allowance: &Allowance,
) -> Result<Measured, DesignError> {
    let longest = slots.iter().map(|slot| subject.slots[*slot].resolution).max().unwrap_or_default();
    let count = |slots: &[usize]| slots.iter().map(|slot| subject.slots[*slot].windows as usize).sum();
    let mut measured = derive_measured(windows, (count(slots), longest), design.quantile, allowance);
    measured.take_percentiles(subject, design);
    if let Some(share) = design.quantile.filter(|_| measured.iops <= 0.0) {
        let (subject, windows) = (subject.name.clone(), count(slots));
        return Err(DesignError::IdlePercentile { subject, share, idle: windows - count(loaded), windows });
    }
    Ok(measured)
}

/// Operations and bytes per second with which peaks are compared. Peaks are those of windows with operations; a percentile
/// of the load is one of the time.
fn find_frequent_rates(design: &Design, windows: &[DemandWindow], loaded: &[DemandWindow]) -> (f64, f64) {
    let find_rate = |of| match design.quantile {
        Some(share) => quantile(rates(windows, of), share),
        None => quantile(rates(loaded, of), PEAKS_AT),
    };
    (find_rate(Busiest::Operations), find_rate(Busiest::Bytes))
}

/// The slots whose windows determine the points.
fn find_decisive(windows: &[DemandWindow], slots: &[usize], measured: &Measured) -> Vec<usize> {
    let levels = [(Busiest::Operations, measured.iops), (Busiest::Bytes, measured.bytes_per_second)];
    let is_decisive = |window: &DemandWindow| {
        levels.iter().any(|(of, level)| *level > 0.0 && window.rate(*of) >= level * (1.0 - 1e-9))
    };
    windows.iter().zip(slots).filter(|(window, _)| is_decisive(window)).map(|(_, slot)| *slot).collect()
}

/// Processors in use with the limit of a resource manager, and at most without it.
const fn uncapped_processors(censored: &Censored) -> Option<[f64; 2]> {
    match censored.cause {
        CensorCause::ProcessorCap { processors, .. } => Some(processors),
        _ => None,
    }
}

/// True if the load is sized for without this cause.
fn is_lifted(design: &Design, censored: &Censored) -> bool {
    design.burst != Burst::None && (design.lifts_processor_cap || uncapped_processors(censored).is_none())
}

/// The steps for peaks and for the rate without a stall. The rate without a limit of processors is that of sessions which
/// never pause: it has no higher peaks, so the larger of the two steps applies.
fn without_limits(peaks: Option<GrowthStep>, stall: Option<GrowthStep>, lifted: Option<&Censored>) -> Vec<GrowthStep> {
    match (peaks, stall) {
        (Some(peaks), Some(stall)) if lifted.and_then(uncapped_processors).is_some() => {
            vec![GrowthStep {
                small: stall.small.max(peaks.small),
                large: stall.large.max(peaks.large),
                scans: stall.scans.max(peaks.scans),
                ..stall
            }]
        }
        (peaks, stall) => peaks.into_iter().chain(stall).collect(),
    }
}

/// Processors and memory of a machine, and where they come from.
fn required_compute(
    subject: &DatabaseDemand,
    design: &Design,
    (hidden, [censored, lifted]): (HiddenPeaks, [Option<&Censored>; 2]),
    reads_from_page_cache: bool,
) -> (Compute, ComputeOrigin) {
    let uncapped = lifted.and_then(uncapped_processors);
    // A limit on the processors leaves no peaks of them.
    let is_capped = uncapped.is_none() && censored.and_then(uncapped_processors).is_some();
    let hidden = if is_capped && !hidden.is_given { HiddenPeaks { times: 1.0, hours: 1.0, ..hidden } } else { hidden };
    let (of_input, origin) = Compute::of(subject, design.growth.times(), hidden, uncapped, reads_from_page_cache);
    let given = design.compute;
    let mut origin = ComputeOrigin {
        possible_cores: None,
        peaks: origin.peaks.filter(|_| given.processors.is_none()),
        busy_hours: origin.busy_hours.filter(|_| given.processors.is_none()),
        scans: origin.scans.filter(|_| given.processors.is_none()),
        processors: given.processors.map(|_| ProcessorOrigin::Given).or(origin.processors),
        memory: given.memory.map(|_| MemoryOrigin::Given).or(origin.memory),
        host_busy: origin.host_busy,
    };
    origin.possible_cores = find_possible_cores(subject, &origin);
    (given.or(of_input), origin)
}

/// Processors of a host with a processor for each core, which is two vCPUs of x86-64 machines, unless the host is a virtual
/// machine that hides the threads.
fn find_possible_cores(subject: &DatabaseDemand, origin: &ComputeOrigin) -> Option<f64> {
    let is_given = matches!(origin.processors, None | Some(ProcessorOrigin::Given));
    let of_host = |resource| compute::highest(subject, resource).map(|host| host.value);
    let processors = of_host(Resource::HostProcessors)?;
    let has_threads = of_host(Resource::HostCores)? < processors;
    (!is_given && !has_threads).then_some(processors)
}

/// The windows with operations, and their slots, with the assumptions of a design.
pub(super) fn load_windows(subject: &DatabaseDemand, design: &Design) -> (Vec<DemandWindow>, Vec<usize>) {
    let (windows, slots) = list_windows(subject, &mut class_windows(subject, design));
    with_operations(&windows, &slots)
}

/// The classes of a demand, with the assumptions of a design.
fn class_windows<'s>(subject: &'s DatabaseDemand, design: &Design) -> ClassWindows<'s> {
    let mut all = ClassWindows::new(subject);
    if design.assumes_blocks {
        all.assume_blocks(&subject.absent());
    }
    all
}

/// The windows that count operations, and their slots. Idle windows have no classes: they belong to means over time, to
/// percentiles and to the number of windows. Windows that count none are unknown, and absent.
fn list_windows(subject: &DatabaseDemand, classes: &mut ClassWindows<'_>) -> (Vec<DemandWindow>, Vec<usize>) {
    let lengths = subject.slots.iter().map(|slot| slot.length.as_secs_f64().max(1e-9)).enumerate();
    let each = lengths.map(|(slot, seconds)| (DemandWindow { seconds, classes: classes.classes(slot) }, slot));
    let all: Vec<_> = each.collect();
    all.into_iter().filter(|(window, slot)| !window.classes.is_empty() || classes.is_idle(*slot)).unzip()
}

/// The windows with operations, and their slots.
fn with_operations(windows: &[DemandWindow], slots: &[usize]) -> (Vec<DemandWindow>, Vec<usize>) {
    let all = windows.iter().cloned().zip(slots.iter().copied());
    all.filter(|(window, _)| !window.classes.is_empty()).unzip()
}

/// Notes on operations that no input counts.
fn absent_operations(subject: &DatabaseDemand, design: &Design, absent: &[Class]) -> Vec<Assumption> {
    if design.assumes_blocks {
        return absent.iter().copied().map(Assumption::UncountedOperations).collect();
    }
    let is_log_only = absent.contains(&Class::Write) && counts_log(subject);
    is_log_only.then_some(Assumption::LogWritesOnly).into_iter().collect()
}

/// Mean operations per second over windows.
fn mean_rate(windows: &[DemandWindow]) -> f64 {
    let seconds: f64 = windows.iter().map(|window| window.seconds).sum();
    windows.iter().map(|window| window.rate(Busiest::Operations) * window.seconds).sum::<f64>() / seconds
}

/// Rates of windows with their seconds.
fn rates(windows: &[DemandWindow], of: Busiest) -> Vec<(f64, f64)> {
    windows.iter().map(|window| (window.rate(of), window.seconds)).collect()
}

fn derive_measured(
    windows: &[DemandWindow],
    (count, longest): (usize, Span),
    share: Option<f64>,
    allowance: &Allowance,
) -> Measured {
    let level = |of| match share {
        Some(share) => quantile(rates(windows, of), share),
        None => lowest_limit(&rates(windows, of), allowance),
    };
    let highest = |of| quantile(rates(windows, of), 1.0);
    Measured {
        quantile: share,
        windows: count,
        longest,
        iops: level(Busiest::Operations),
        bytes_per_second: level(Busiest::Bytes),
        highest_iops: highest(Busiest::Operations),
        highest_bytes_per_second: highest(Busiest::Bytes),
    }
}

impl Measured {
    /// Replaces the percentiles of joined windows by those of the windows of the input.
    fn take_percentiles(&mut self, subject: &DatabaseDemand, design: &Design) {
        let Some(share) = design.quantile.filter(|_| !design.assumes_blocks) else { return };
        let [iops, bytes_per_second] = &subject.totals;
        for (level, distribution) in [(&mut self.iops, iops), (&mut self.bytes_per_second, bytes_per_second)] {
            if let Some(distribution) = distribution {
                *level = distribution.quantile(share);
            }
        }
    }
}

/// Objectives of a sizing request, with notes on those that nobody gave.
#[derive(Default)]
struct Objectives {
    /// Those of the design, and those of a database for classes without a known response time today.
    required: Vec<ClassObjective>,
    /// Bounds in peaks for classes that are compared with today's response times, which are means.
    in_peaks: Vec<ClassObjective>,
    notes: Vec<Assumption>,
}

impl Objectives {
    /// The objectives of the design, and those that a database's storage has without being asked: otherwise the cheapest
    /// disks would be chosen, or the smallest with queues in peaks.
    fn of(subject: &DatabaseDemand, design: &Design, latencies: &ClassLatencies, points: &[DesignPoint]) -> Self {
        let required = design.objectives.iter().map(|objective| objective.on_reads(points)).collect();
        let mut found = Self { required, ..Self::default() };
        if subject.account.is_none() || design.may_be_slower {
            return found;
        }
        for (class, limit) in default_limits(&found.required, &latencies.always_cached(), points) {
            let time_today = find_mean_today(&latencies.of_storage, class);
            let limit = time_today.map_or(limit, |today| today.max(limit));
            let objective = Objective { over: Scope::All, measure: Measure::Mean, limit };
            let objective = ClassObjective { class: Some(class), objective };
            let list = if time_today.is_none() { &mut found.required } else { &mut found.in_peaks };
            list.push(objective);
            found.notes.push(Assumption::DefaultObjective { class, objective, today: time_today });
        }
        found
    }
}

/// Mean response time today of a class, or of the total that contains it.
fn find_mean_today(today: &[(Class, Span)], class: Class) -> Option<Span> {
    let of = |class: Class| today.iter().find(|(own, _)| *own == class).map(|(_, mean)| *mean);
    of(class).or_else(|| of(total_of(class)))
}

/// Limits of a database's storage for the classes of its load without an objective: usual thresholds of Oracle's tuning
/// guides, which call reads from 10 ms and log writes from 5 ms slow. Classes that a cache answers have none.
fn default_limits(given: &[ClassObjective], cached: &[Class], points: &[DesignPoint]) -> Vec<(Class, Span)> {
    const LIMITS: [(Class, u64); 2] = [(Class::RandomRead, 10), (Class::RedoWrite, 5)];
    let has = |class: Class| points.iter().flat_map(|point| &point.classes).any(|load| load.class == class);
    let is_open = |(class, _): &(Class, u64)| {
        let total = total_of(*class);
        // Reads of any kind stand for random ones; most writes are not awaited.
        let has = has(*class) || (*class == Class::RandomRead && has(total));
        let is_given = given.iter().any(|own| own.class.is_none_or(|own| own == *class || own == total));
        let is_cached = cached.iter().any(|own| own == class || *own == total);
        has && !is_given && !is_cached
    };
    LIMITS.into_iter().filter(is_open).map(|(class, limit_ms)| (class, Span::from_millis(limit_ms))).collect()
}

/// A note on the operations that represent an objective's class if the input does not count that class.
fn stand_in(objective: &ClassObjective, points: &[DesignPoint]) -> Option<Assumption> {
    let class = objective.class?;
    let evaluated_on = points.iter().find_map(|point| class_for(&point.classes, class));
    let assumption = Assumption::UncountedObjective { objective: *objective, class, evaluated_on };
    (evaluated_on != Some(class)).then_some(assumption)
}

/// The answer of the diagnosis if the input has waits of sessions, the reason why the rates are below the demand, and the
/// windows in which storage does not answer, or is at its limit.
fn diagnosed(subject: &DatabaseDemand) -> (Option<DiagnosisVerdict>, Option<Censored>, Option<DiagnosisVerdict>) {
    let found = diagnose(subject, &DiagnoseOptions::default());
    let is_limit = |verdict: &&DiagnosisVerdict| matches!(verdict, DiagnosisVerdict::AtItsLimit { .. });
    let unanswered = found.verdicts.iter().find(|verdict| is_stall(verdict));
    let limit = found.verdicts.iter().find(is_limit).filter(|_| found.censored.is_none());
    let incomplete = unanswered.or(limit).cloned();
    let is_answer = |verdict: &DiagnosisVerdict| {
        !matches!(verdict, DiagnosisVerdict::Censored(_) | DiagnosisVerdict::ProviderStall(_))
    };
    let has_evidence =
        |verdict: &DiagnosisVerdict| subject.account.is_some() || matches!(verdict, DiagnosisVerdict::Host { .. });
    let first = found.verdicts.into_iter().find(is_answer).filter(has_evidence);
    (first.filter(|verdict| !matches!(verdict, DiagnosisVerdict::NoSessionTimes { .. })), found.censored, incomplete)
}

/// The rate without a stall: the upper end of a range that begins at the measured rate.
fn stall(times: f64, censored: Option<&Censored>) -> Option<GrowthStep> {
    let kind = StepKind::WithoutStall { is_estimated: censored?.up_to.is_some() };
    (times > 1.0).then_some(GrowthStep { kind, small: times, large: times, scans: times, spread: None })
}

/// Tolerance for delays: the share of the strictest objective, and the shortest of the bounds.
fn derive_allowance(objectives: &[ClassObjective]) -> Allowance {
    let share = |measure: Measure| match measure {
        Measure::Mean => Allowance::default().share,
        Measure::Quantile(quantile) => 1.0 - quantile,
    };
    let each = objectives.iter().map(|objective| (objective.objective.limit, share(objective.objective.measure)));
    let strictest = each.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1)));
    strictest.map_or_else(Allowance::default, |(wait, share)| Allowance { wait, share })
}

fn grown(mut windows: Vec<DemandWindow>, times: f64) -> Vec<DemandWindow> {
    for load in windows.iter_mut().flat_map(|window| &mut window.classes) {
        load.iops *= times;
        load.bytes_per_second *= times;
    }
    windows
}

/// Hidden peaks beyond the level: one-minute maxima relative to the averages that windows reach `often`, for operations
/// and bytes; those of the input, if it has any.
/// Peaks within windows: as requested, of the input, or as measured in other systems.
fn find_hidden(of_input: Option<Hidden>, design: &Design, measured: &Measured) -> Option<Hidden> {
    match design.burst {
        Burst::None => None,
        Burst::Times(times) => {
            let source = PeakSource::Request;
            Some(Hidden { small: times, large: times, scans: times, hours: times, spread: None, source })
        }
        Burst::Auto => Some(of_input.unwrap_or_else(|| hidden(measured.longest))),
    }
}

fn burst(hidden: &Hidden, design: &Design, measured: &Measured, often: (f64, f64)) -> Option<GrowthStep> {
    let beyond = |times: f64, often: f64, level: f64| if level > 0.0 { (times * often / level).max(1.0) } else { 1.0 };
    let small = beyond(hidden.small, often.0, measured.iops);
    let large = beyond(hidden.large, often.1, measured.bytes_per_second);
    let scans = beyond(hidden.scans, often.1, measured.bytes_per_second);
    let is_hidden = design.quantile.is_some() || small > 1.0 || large > 1.0;
    let kind = StepKind::Peaks(hidden.source);
    is_hidden.then_some(GrowthStep { kind, small, large, scans, spread: hidden.spread })
}

/// The input's own maxima over its averages, at the same percentile of the windows with operations.
fn maxima(
    all: &ClassWindows<'_>,
    (windows, slots): &(Vec<DemandWindow>, Vec<usize>),
    design: &Design,
) -> Option<Hidden> {
    let share = design.quantile.unwrap_or(PEAKS_AT);
    let often = |of| quantile(rates(windows, of), share);
    let (mut iops, mut bytes) = (Vec::new(), Vec::new());
    for (window, slot) in windows.iter().zip(slots) {
        let (highest, max) = all.maxima(*slot);
        iops.extend(highest.map(|value| (value, window.seconds)));
        bytes.extend(max.map(|value| (value, window.seconds)));
    }
    let over = |maxima: Vec<(f64, f64)>, mean: f64| {
        // Maxima in only a few windows belong to other times.
        let total = maxima.len() * 2 > windows.len() && mean > 0.0;
        total.then(|| (quantile(maxima, share) / mean).max(1.0))
    };
    let small = over(iops, often(Busiest::Operations));
    let large = over(bytes, often(Busiest::Bytes));
    Some(Hidden {
        small: small.or(large)?,
        large: large.or(small)?,
        scans: 1.0,
        hours: 1.0,
        spread: None,
        source: PeakSource::Input,
    })
}

fn growth(design: &Design) -> Option<GrowthStep> {
    let times = design.growth.times();
    let kind = StepKind::Growth(design.growth);
    let step = GrowthStep { kind, small: times, large: times, scans: times, spread: None };
    (design.growth.months > 0 && design.growth.yearly != 0.0).then_some(step)
}

/// The mix of the windows at and above a level, scaled to that level and by the steps; of all windows with their mean as
/// the level.
fn point(windows: &[DemandWindow], of: Busiest, level: Level, steps: &[GrowthStep]) -> DesignPoint {
    let least = match level {
        Level::At(rate) => rate * (1.0 - 1e-9),
        Level::Mean => 0.0,
    };
    let busiest: Vec<&DemandWindow> = windows.iter().filter(|window| window.rate(of) >= least).collect();
    let share = match level {
        Level::At(rate) => {
            let sum: f64 = busiest.iter().map(|window| window.rate(of) * window.seconds).sum();
            rate / sum.max(f64::MIN_POSITIVE)
        }
        Level::Mean => 1.0 / busiest.iter().map(|window| window.seconds).sum::<f64>(),
    };
    let mut classes: Vec<ClassLoad> = Vec::new();
    for class in Class::ALL {
        let loads = || {
            let all = busiest.iter().flat_map(|window| window.classes.iter().map(move |load| (load, window.seconds)));
            all.filter(|(load, _)| load.class == class)
        };
        let Some((first, _)) = loads().next() else { continue };
        let total = |of: fn(&ClassLoad) -> f64| loads().map(|(load, seconds)| of(load) * seconds).sum::<f64>();
        let iops = total(|load| load.iops);
        let reads = total(|load| load.iops * load.reads) / iops;
        let mut load = ClassLoad {
            iops: iops * share,
            bytes_per_second: total(|load| load.bytes_per_second) * share,
            reads,
            ..*first
        };
        let kind = ScaleKind::of(&load);
        let times: f64 = steps.iter().map(|step| step.times(kind)).product();
        load.iops *= times;
        load.bytes_per_second *= times;
        classes.push(load);
    }
    classes.sort_by(|a, b| b.iops.total_cmp(&a.iops));
    let loaded = busiest.iter().filter(|window| !window.classes.is_empty());
    DesignPoint { of, windows: loaded.count(), classes }
}

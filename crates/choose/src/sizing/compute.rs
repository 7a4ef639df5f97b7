//! Processors and memory that a machine needs for a database: those that the database uses, not those of its host.

use plimsoll_ingest::{DatabaseDemand, InstanceFiltering, InstanceResource, Resource, SessionTime, is_short_of_memory};
use plimsoll_units::Bytes;

use super::burst::Hidden;
use super::design::{Burst, GrowthStep, SizingRequirements, StepKind};
use crate::diagnosis::SCAN_RATES;

/// The smallest machine for a database: operating system, log writer and sessions share less than two processors
/// badly, and 8 GiB are the least that vendors of databases recommend.
const LEAST_PROCESSORS: f64 = 2.0;
const LEAST_MEMORY: Bytes = Bytes::gib(8);
/// Memory for each processor where the need is unknown: that of the clouds' machines with the least of it, those for
/// computing.
const MEMORY_PER_PROCESSOR: f64 = 2.0 * (1_u64 << 30) as f64;
/// Utilisation of processors that a machine is chosen for: queues for a processor grow quickly above it.
pub(super) const UTILISATION: f64 = 0.7;
/// Seconds of a window above which its mean is no measure of the processors in peaks: those of the storage are assumed.
const LONG_WINDOW_S: f64 = 2.0 * 3_600.0;
/// Share of a machine's memory for the memory of the database: the rest is for the operating system, other processes
/// and their growth.
const MEMORY_SHARE: f64 = 0.8;
/// The same for shared buffers of a server that reads through the page cache: PostgreSQL's manual calls more than 40 %
/// unlikely to work better.
const BUFFERS_SHARE: f64 = 0.4;

/// Processors and memory of one machine; `None` where neither the input nor the caller states them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compute {
    pub processors: Option<f64>,
    pub memory: Option<Bytes>,
}

/// Origin of the required processors and memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComputeOrigin {
    /// Of the processors; `None` if they are unknown.
    pub processors: Option<ProcessorOrigin>,
    /// Of the memory; `None` if it is unknown.
    pub memory: Option<MemoryOrigin>,
    /// Busy share of the host's processors in their busiest window, 0 to 1; `None` if it is unknown.
    pub host_busy: Option<f64>,
    /// Processors of the present host, each of which may be a core with several threads; `None` if they are threads, and if
    /// the required processors are given or unknown.
    pub possible_cores: Option<f64>,
    /// Peaks of the processors; `None` without hidden peaks, or if those of the processors are known. Given ones are required.
    pub peaks: Option<ProcessorPeaks>,
    /// The busy hours of a window that hides them, which are required; `None` if the peaks are given.
    pub busy_hours: Option<ProcessorPeaks>,
    /// Filtering of scans that is added to the processors; `None` without storage cells, and if processors are given.
    pub scans: Option<CellScans>,
}

/// Scans that storage cells filter today, and the processors that filter them elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct CellScans {
    /// Filtered bytes per second of an instance in a window: those that need the most processors with `beside`.
    pub filtered: InstanceResource,
    /// Processors that the instance used in the same window, with growth.
    pub beside: f64,
    /// Processors in use for the scans at [`SCAN_RATES`], with growth, the fewest first: the most are required.
    pub processors: [f64; 2],
}

impl CellScans {
    /// The scans of the window and instance with the most processors in use; `used` where those of the window are unknown.
    fn of(subject: &DatabaseDemand, used: Option<f64>, growth: f64) -> Option<Self> {
        let of_window = |one: &InstanceFiltering| Self {
            filtered: one.filtered.clone(),
            beside: one.processors.or(used).unwrap_or(0.0) * growth,
            processors: SCAN_RATES.map(|rate| one.filtered.value / rate * growth),
        };
        subject.filtering.iter().map(of_window).max_by(|a, b| a.in_use().total_cmp(&b.in_use()))
    }

    /// Processors in use in the window, with those for its scans.
    fn in_use(&self) -> f64 {
        self.beside + self.processors[1]
    }
}

/// Processors in peaks that the mean of a window hides, if they rise as the operations do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessorPeaks {
    /// Operations in peaks as a multiple of those in the busiest window, above 1.
    pub times: f64,
    /// Processors in use then, with growth; at most those of the present host, with growth.
    pub processors: f64,
    /// The ratio was given. Measured ratios of other databases are of operations only.
    pub is_given: bool,
}

impl ProcessorPeaks {
    /// Processors of a machine that runs at the utilisation that machines are chosen for in these peaks.
    pub fn at_target(&self) -> f64 {
        (self.processors / UTILISATION).ceil()
    }
}

/// Ratio of hidden peaks of the operations, above 1 if there are any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HiddenPeaks {
    pub(super) times: f64,
    /// Ratio of the busy hours alone, at least 1.
    pub(super) hours: f64,
    /// By the caller, for the load as a whole.
    pub(super) is_given: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ProcessorOrigin {
    /// Stated by the caller.
    Given,
    /// Used by the instance with the highest use, in its busiest window or minute.
    Database(InstanceResource),
    /// Used by all programs of the hosts, in the busiest window: those of the database are unknown.
    Busy(f64),
    /// Those on which the sessions run at most if the resource manager no longer limits them, and those in use with its
    /// limit: storage is sized for the load without the limit as well.
    Uncapped {
        /// Without the limit.
        required: f64,
        used: f64,
    },
    /// Those of the present host, whose use is unknown.
    Host(InstanceResource),
    /// Only their busy share is known, and not their number.
    Share(InstanceResource),
}

#[derive(Clone, Debug, PartialEq)]
pub enum MemoryOrigin {
    /// Stated by the caller.
    Given,
    /// Parts in use by the instance with the most, and the share of the machine's memory that they may take, 0 to 1.
    Database {
        /// Shared memory, and that of the processes.
        parts: Vec<InstanceResource>,
        share: f64,
    },
    /// That of the present host: the memory in use is unknown, or includes its page cache.
    Host(InstanceResource),
    /// That of the present host, which lacks memory: the memory in use is less than the need.
    PagingHost(InstanceResource),
}

impl HiddenPeaks {
    /// Those of the step of peaks within windows, if there is one.
    pub(super) fn of(step: Option<&GrowthStep>, hidden: Option<&Hidden>, burst: Burst) -> Self {
        Self {
            times: step.map_or(1.0, |step| step.small),
            hours: hidden.map_or(1.0, |hidden| hidden.hours),
            is_given: matches!(burst, Burst::Times(_)),
        }
    }
}

impl Compute {
    /// The need of one instance when the load has grown by a factor. Processors: those that the instance used in its
    /// busiest window, or in that with the most for the scans of storage cells as well, or those of its busiest minute; without
    /// that minute, at least those of peaks that are given, or of the busy hours that a long window hides; and at least those of
    /// `uncapped`: processors in use with the limit of a resource manager and at most without it; each times that factor, at
    /// 70 % utilisation. Memory: that in use by the instance. The host's figures only where the database's are unknown, or where
    /// its page cache answers reads.
    pub(super) fn of(
        subject: &DatabaseDemand,
        growth: f64,
        hidden: HiddenPeaks,
        uncapped: Option<[f64; 2]>,
        reads_from_page_cache: bool,
    ) -> (Self, ComputeOrigin) {
        let (used, processors) = find_processors(subject).unzip();
        let is_of_host = matches!(processors, Some(ProcessorOrigin::Host(_)));
        let peak = highest(subject, Resource::PeakProcessors).filter(|_| !is_of_host);
        let scans = CellScans::of(subject, used, growth);
        let scanning = scans.as_ref().map_or(0.0, |scans| scans.processors[1]);
        let grown = used.map(|used| used * growth);
        let steady = grown.into_iter().chain(scans.as_ref().map(CellScans::in_use)).reduce(f64::max);
        let is_long =
            matches!(&processors, Some(ProcessorOrigin::Database(used)) if used.window.as_secs_f64() > LONG_WINDOW_S);
        let share = || highest(subject, Resource::BusyShare).cloned().map(ProcessorOrigin::Share);
        // The present host has no more, whatever the peaks.
        let host = highest(subject, Resource::HostProcessors).map_or(f64::INFINITY, |host| host.value);
        let in_peaks = |times: f64| {
            let used = used.filter(|_| times > 1.0 && peak.is_none() && !is_of_host)?;
            let processors = (used * times).min(host.max(used)) * growth;
            Some(ProcessorPeaks { times, processors, is_given: hidden.is_given })
        };
        let peaks = in_peaks(hidden.times);
        let busy_hours = in_peaks(hidden.hours).filter(|_| is_long && !hidden.is_given);
        let given = peaks.filter(|peaks| peaks.is_given).map(|peaks| peaks.processors);
        let in_hours = busy_hours.map(|hours| hours.processors + scanning);
        let in_minute = peak.map(|peak| peak.value * growth);
        let peak_processors = in_minute.or(given).or(in_hours);
        let needed = steady.map(|steady| steady.max(peak_processors.unwrap_or(0.0)) / UTILISATION);
        let by_peak = peak.filter(|_| in_minute > steady).cloned().map(ProcessorOrigin::Database);
        let at_target = |used: f64| (used * growth + scanning) / UTILISATION;
        let uncapped = uncapped.filter(|[_, required]| at_target(*required) > needed.unwrap_or(0.0));
        let needed = uncapped.map(|[_, required]| at_target(required)).or(needed);
        let by_cap = uncapped.map(|[used, required]| ProcessorOrigin::Uncapped { required, used });
        let (bytes, memory) = derive_memory(subject, reads_from_page_cache).unzip();
        let compute = Self {
            processors: needed.map(|needed| needed.ceil().max(LEAST_PROCESSORS)),
            memory: bytes.map(|bytes: f64| Bytes::new(bytes.ceil() as u64).max(LEAST_MEMORY)),
        };
        let host_busy = find_host_busy(subject);
        let processors = by_cap.or(by_peak).or(processors).or_else(share);
        (compute, ComputeOrigin { processors, memory, host_busy, possible_cores: None, peaks, busy_hours, scans })
    }

    /// These values, and those of `other` where they are absent.
    pub(super) fn or(self, other: Self) -> Self {
        Self { processors: self.processors.or(other.processors), memory: self.memory.or(other.memory) }
    }

    /// Processors and memory that are required. Where they are unknown: the fewest processors of a database's machine, and
    /// 2 GiB for each processor, at least 8 GiB.
    pub fn required(self) -> (f64, Bytes) {
        let processors = self.processors.unwrap_or(LEAST_PROCESSORS);
        let assumed = || LEAST_MEMORY.max(Bytes::new((processors * MEMORY_PER_PROCESSOR) as u64));
        (processors, self.memory.unwrap_or_else(assumed))
    }

    /// True unless a machine is known to have less than required. Vendors round memory: a fiftieth less suffices.
    pub fn fits(self, vcpus: Option<f64>, memory: Option<Bytes>) -> bool {
        let (processors, needed) = self.required();
        let is_enough = |memory: Bytes| memory.get() as f64 >= needed.get() as f64 * 0.98;
        vcpus.is_none_or(|vcpus| vcpus >= processors) && memory.is_none_or(is_enough)
    }
}

impl SizingRequirements {
    /// Memory of a machine for the present memory of the database, which may be below the least of such a machine; `None`
    /// if the memory in use is unknown.
    pub(crate) fn memory_of_database(&self) -> Option<Bytes> {
        let Some(MemoryOrigin::Database { parts, share }) = &self.compute_origin.memory else { return None };
        Some(Bytes::new((parts.iter().map(|part| part.value).sum::<f64>() / share).ceil() as u64))
    }

    /// True if the memory of a machine follows from the shared memory of the database alone, without that of its sessions.
    pub fn lacks_session_memory(&self) -> bool {
        let Some(MemoryOrigin::Database { parts, .. }) = &self.compute_origin.memory else { return false };
        parts.iter().all(|part| part.resource != Resource::ProcessMemory)
    }

    /// Processors that a machine needs if those of the present host are whole cores, each of which does the work of up to two
    /// vCPUs; `None` if they are threads.
    pub fn processors_of_cores(&self) -> Option<f64> {
        let origin = &self.compute_origin;
        origin.possible_cores?;
        let used = match origin.processors.as_ref()? {
            ProcessorOrigin::Database(used) => used.value,
            ProcessorOrigin::Busy(busy) => *busy,
            ProcessorOrigin::Host(host) => host.value * UTILISATION,
            ProcessorOrigin::Uncapped { required, .. } => *required,
            ProcessorOrigin::Given | ProcessorOrigin::Share(_) => return None,
        };
        Some((2.0 * used / UTILISATION - 1e-9).ceil())
    }

    /// Processors that a machine needs at most, if those of peaks are as many more as operations, and those of the present host
    /// are whole cores; `None` if the required ones are certain in both respects.
    pub fn possible_processors(&self) -> Option<f64> {
        let peaks = self.compute_origin.peaks.filter(|peaks| !peaks.is_given).map(|peaks| peaks.at_target());
        let possible = self.processors_of_cores().into_iter().chain(peaks).reduce(f64::max)?;
        (possible > self.compute.required().0).then_some(possible)
    }

    /// Processors in use on average in the busiest window, with growth; `None` unless the input counts them.
    pub(super) fn mean_processors(&self) -> Option<f64> {
        let used = match self.compute_origin.processors.as_ref()? {
            ProcessorOrigin::Database(used) if used.resource == Resource::Processors => used.value,
            ProcessorOrigin::Busy(busy) => *busy,
            _ => return None,
        };
        let grown =
            self.steps.iter().find(|step| matches!(step.kind, StepKind::Growth(_))).map_or(1.0, |step| step.small);
        let with_scans = self.compute_origin.scans.as_ref().map_or(0.0, CellScans::in_use);
        Some((used * grown).max(with_scans))
    }

    /// Processors in use all the time: those of [`Self::mean_processors`], otherwise what the required ones run at the allowed
    /// utilisation.
    pub(super) fn steady_processors(&self) -> f64 {
        self.mean_processors().unwrap_or_else(|| self.compute.required().0 * UTILISATION)
    }
}

/// The highest value of a resource among the instances.
pub(super) fn highest(subject: &DatabaseDemand, resource: Resource) -> Option<&InstanceResource> {
    let of = subject.resources.iter().filter(|one| one.resource == resource);
    of.max_by(|a, b| a.value.total_cmp(&b.value))
}

/// Processors in use by the instance with the highest use; without that, those of the hosts.
fn find_processors(subject: &DatabaseDemand) -> Option<(f64, ProcessorOrigin)> {
    if let Some(used) = highest(subject, Resource::Processors) {
        return Some((used.value, ProcessorOrigin::Database(used.clone())));
    }
    let instances = subject.instances.len().max(1) as f64;
    let busy = |spent: &SessionTime| Some(spent.host_busy? * spent.processors? / instances);
    let windows = subject.account.iter().flat_map(|account| account.slots.iter().flatten().chain([&account.total]));
    let host = || highest(subject, Resource::HostProcessors);
    match windows.filter_map(busy).reduce(f64::max) {
        Some(busy) => Some((busy, ProcessorOrigin::Busy(busy))),
        None if let Some(used) = highest(subject, Resource::UsedProcessors) => {
            Some((used.value, ProcessorOrigin::Busy(used.value)))
        }
        None => host().map(|host| (host.value * UTILISATION, ProcessorOrigin::Host(host.clone()))),
    }
}

/// Busy share of the host's processors in the busiest window: as stated, or of their number.
fn find_host_busy(subject: &DatabaseDemand) -> Option<f64> {
    let of_account = subject.account.iter().flat_map(|account| account.slots.iter().flatten().chain([&account.total]));
    let stated = of_account.filter_map(|spent| spent.host_busy).reduce(f64::max);
    let value = |resource| highest(subject, resource).map(|one| one.value);
    let of_host = || Some(value(Resource::UsedProcessors)? / value(Resource::HostProcessors)?);
    stated.or_else(|| value(Resource::BusyShare)).or_else(of_host)
}

/// Memory of a machine: for the instance with the most in use; without that, or with its page cache, that of the host.
fn derive_memory(subject: &DatabaseDemand, reads_from_page_cache: bool) -> Option<(f64, MemoryOrigin)> {
    let host = highest(subject, Resource::HostMemory);
    let of_host = || host.map(|host| (host.value, MemoryOrigin::Host(host.clone())));
    let is_part = |one: &&InstanceResource| {
        matches!(one.resource, Resource::SharedMemory | Resource::SharedBuffers | Resource::ProcessMemory)
    };
    let mut names: Vec<&str> = subject.resources.iter().filter(is_part).map(|one| one.instance.as_str()).collect();
    names.dedup();
    let of_instance = |name: &str| {
        let parts = subject.resources.iter().filter(is_part).filter(|one| one.instance == name);
        let parts: Vec<InstanceResource> = parts.cloned().collect();
        let shared = parts.iter().find(|one| one.resource != Resource::ProcessMemory)?;
        let share = if shared.resource == Resource::SharedBuffers { BUFFERS_SHARE } else { MEMORY_SHARE };
        let bytes: f64 = parts.iter().map(|one| one.value).sum();
        Some((bytes / share, MemoryOrigin::Database { parts, share }))
    };
    let paged = subject.host.as_ref().and_then(|load| load.paged_bytes_s);
    let paging = host.filter(|_| paged.is_some_and(is_short_of_memory));
    let database = names.into_iter().filter_map(of_instance).max_by(|a, b| a.0.total_cmp(&b.0));
    match database {
        Some((bytes, _)) if let Some(host) = paging.filter(|host| host.value > bytes) => {
            Some((host.value, MemoryOrigin::PagingHost(host.clone())))
        }
        Some(found) if !reads_from_page_cache => Some(found),
        found => of_host().or(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_figures_exclude_only_the_smallest_machines() {
        let need = Compute { processors: Some(4.0), memory: Some(Bytes::gib(64)) };
        assert!(need.fits(None, None) && Compute::default().fits(Some(2.0), Some(Bytes::gib(8))));
        assert!(!Compute::default().fits(Some(1.0), Some(Bytes::gib(8))));
        assert!(!Compute::default().fits(Some(2.0), Some(Bytes::gib(2))));
        let small = Compute { processors: Some(1.0), memory: Some(Bytes::gib(1)) };
        assert!(small.fits(Some(1.0), Some(Bytes::gib(1))), "a given need is not raised");
        assert!(need.fits(Some(4.0), Some(Bytes::gib(63))) && !need.fits(Some(2.0), Some(Bytes::gib(64))));
        assert!(!need.fits(Some(4.0), Some(Bytes::gib(60))));
        let given = Compute { processors: Some(8.0), memory: None };
        assert_eq!(given.required(), (8.0, Bytes::gib(16)), "2 GiB a processor are assumed");
        assert_eq!(given.or(need), Compute { processors: Some(8.0), memory: need.memory });
    }
}

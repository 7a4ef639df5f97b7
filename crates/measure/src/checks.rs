//! Findings from counters and probes: conditions that make the figures questionable.

use plimsoll_device::{ActivityDelta, LoopBacking, Nature, ProcessorLimit, Subject, SubjectKind, describe_disk};
use plimsoll_load::Pace;
use plimsoll_record::{Bins, Curve, Device, Finding, Host, Run, Source, Steadiness, Tally};
use plimsoll_units::{Bytes, Kind, Span};

/// Above this share of its maximum rate, the generator affects the measurement.
const CEILING_SHARE: f64 = 0.5;
/// Above this utilisation, operations wait for processors.
const BUSY_SHARE: f64 = 0.9;
/// Share of the host's processor time that other processes may use without delaying the generator.
pub(crate) const OTHER_WORK_SHARE: f64 = 0.3;
/// Share of processor time that a hypervisor may steal without a finding.
pub(crate) const STOLEN_SHARE: f64 = 0.02;
/// Faster reads of a virtual disk are served by a cache, as flash takes longer.
const FLASH_READ: Span = Span::from_micros(50);
/// Faster writes with flush never left a controller cache: flash with protected memory takes longer.
const PROTECTED_COMMIT: Span = Span::from_micros(12);
/// The same for a rotating disk.
const ROTATING_COMMIT: Span = Span::from_millis(2);
/// Above this ratio of generator lateness to response time, the offered load differs from the specified load.
const LATE_SHARE: f64 = 0.5;
/// Typical size of caches in devices and controllers.
const DEVICE_CACHE: Bytes = Bytes::gib(1);
/// A lower ratio of processor frequencies affects the measurement.
const FREQUENCY_RATIO: f64 = 0.9;
/// Zeroes written faster by this factor indicate compression.
const COMPRESSION_RATIO: f64 = 1.3;

/// Measurements in addition to the runs.
#[derive(Debug, Default)]
pub struct Evidence {
    /// Counters of host and device during the measurement.
    pub activity: ActivityDelta,
    /// Maximum operations per second of the generator.
    pub ceiling: Option<f64>,
    /// Median time of a write with flush.
    pub commit: Option<Span>,
    /// Throughput of zeroes relative to incompressible data.
    pub compression: Option<f64>,
    /// Bytes addressed by the load.
    pub data: Bytes,
    /// Whether I/O is buffered.
    pub buffered: bool,
    /// Operations of runs outside of the curve.
    pub omitted: Tally,
    /// Limit of the generator's processor time.
    pub processor_limit: Option<ProcessorLimit>,
}

/// All operations including warm-ups, of the curve's runs and others.
fn tallies<'a>(runs: &'a [Run], evidence: &'a Evidence) -> impl Iterator<Item = &'a Tally> {
    runs.iter().flat_map(|run| &run.series).map(|slice| &slice.tally).chain([&evidence.omitted])
}

fn bytes_read(runs: &[Run], evidence: &Evidence) -> u64 {
    let counters = tallies(runs, evidence).flat_map(|tally| &tally.0);
    counters.filter(|counter| counter.kind == Kind::Read).map(|counter| counter.bytes).sum()
}

/// Findings before the first operation: about the location of the path, and I/O settings of the host.
pub fn check_placement(subject: &Subject) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(check_medium(subject));
    found.extend(check_allocation(subject));
    if let Some(LoopBacking { device, file, direct, space }) = plimsoll_device::loop_backing(subject) {
        let sparse = space.filter(|(allocated, size)| is_sparse(*allocated, *size));
        found.extend(sparse.map(|(allocated, size)| Finding::Holes { allocated, size }));
        if !direct {
            found.push(Finding::LoopCached { device, file });
        }
    }
    found.extend(plimsoll_device::read_throttles(subject).into_iter().map(|throttle| Finding::Throttled {
        file: throttle.file,
        disk: throttle.disk,
        quantity: throttle.quantity.into(),
        per_second: throttle.per_second,
    }));
    let overrides = plimsoll_device::flush_overrides(subject);
    found.extend(overrides.into_iter().map(|setting| Finding::FlushesDisabled { setting }));
    found.extend(plimsoll_device::flush_library().map(|library| Finding::FlushLibrary { library: library.into() }));
    found
}

/// The medium of the path, if it is not exclusive local storage.
fn check_medium(subject: &Subject) -> Option<Finding> {
    let disk = describe_disk(subject).name;
    if let Some(target) = disk.filter(|name| name.starts_with("zram") || name.starts_with("ram")) {
        return Some(Finding::InMemory { target });
    }
    let filesystem = subject.filesystem.as_ref()?;
    match filesystem.nature() {
        Nature::Memory => Some(Finding::InMemory { target: filesystem.kind.clone() }),
        _ => filesystem.note().map(|note| Finding::NotStorageAlone { note }),
    }
}

/// A sparse file: reads of holes reach no device.
fn check_allocation(subject: &Subject) -> Option<Finding> {
    let (allocated, size) = (subject.allocated?, subject.size);
    (subject.kind == SubjectKind::File && is_sparse(allocated, size)).then_some(Finding::Holes { allocated, size })
}

/// True if more than a twentieth of the file is unallocated.
const fn is_sparse(allocated: Bytes, size: Bytes) -> bool {
    allocated.get() < size.get() / 20 * 19
}

/// All findings about a curve, gravest first.
pub fn check_curve(curve: &Curve, evidence: &Evidence) -> Vec<Finding> {
    let host = curve.host.clone().unwrap_or_default();
    let device = curve.subject.device.clone().unwrap_or_default();
    let mut found = Vec::new();
    found.extend(check_generator(curve, evidence, &host));
    let contention = check_other_work(evidence, &host).filter(|_| !is_fio(&curve.source));
    found.extend(check_page_cache(&curve.runs, evidence, &host));
    // Replies of a model are not served by caches.
    if !matches!(curve.source, Source::Emulated { .. }) {
        found.extend(check_caches(&curve.runs, evidence, &host, &device));
    }
    if contention.is_some() {
        // On a busy host processors do not sleep between operations, which shortens reads by the wake-up time.
        found.retain(|finding| !matches!(finding, Finding::HostCacheSuspected { .. }));
    }
    found.extend(contention);
    found.extend(evidence.processor_limit.as_ref().map(|limit| check_processor_limit(curve, limit)));
    found.extend(check_host(&curve.runs, evidence));
    found.extend(check_errors(&curve.runs));
    // Slots of a load vary, and the interval of the load line includes their scatter.
    if curve.slots.is_empty() {
        found.extend(check_repeatability(&curve.runs));
    }
    found.extend(check_saturation(curve));
    found.sort_by_key(|finding| std::cmp::Reverse(finding.weight()));
    found
}

fn check_generator(curve: &Curve, evidence: &Evidence, host: &Host) -> Vec<Finding> {
    let (runs, threads) = (&curve.runs, curve.conditions.threads);
    let by_workers = matches!(&curve.source, Source::Measured { engine } if engine == "threads");
    let Some(fastest) = runs.iter().max_by(|a, b| a.figures.iops.value.total_cmp(&b.figures.iops.value)) else {
        return Vec::new();
    };
    let achieved = fastest.figures.iops.value;
    if let Some(ceiling) = evidence.ceiling.filter(|ceiling| achieved > ceiling * CEILING_SHARE) {
        return vec![Finding::GeneratorBound { achieved, ceiling }];
    }
    // The thread engine uses all processors, a loop one processor, and fio one per job.
    let by_fio = is_fio(&curve.source);
    let jobs = threads * curve.conditions.streams.len() as u32;
    let cores = match host.cpus {
        cpus if by_workers => cpus.unwrap_or(1),
        cpus if by_fio => jobs.min(cpus.unwrap_or(jobs)),
        _ => threads,
    };
    let busy = fastest.cpu.map(|cpu| {
        let lasted: f64 = fastest.series.iter().map(|slice| slice.span.as_secs_f64()).sum();
        cpu.total().as_secs_f64() / lasted / f64::from(cores)
    });
    busy.filter(|busy| *busy > BUSY_SHARE)
        .map(|busy| Finding::ProcessorBound { busy: busy.min(1.0) })
        .into_iter()
        .collect()
}

/// True if operations were issued by fio processes.
fn is_fio(source: &Source) -> bool {
    matches!(source, Source::Measured { engine } if engine.starts_with("fio "))
}

/// Processor time used by other processes, if it delayed the generator.
fn check_other_work(evidence: &Evidence, host: &Host) -> Option<Finding> {
    let elapsed = evidence.activity.elapsed.as_secs_f64() * f64::from(host.cpus?);
    let own = evidence.activity.own_cpu.total().as_secs_f64();
    let share = evidence.activity.busy? - own / elapsed.max(1e-9);
    (share > OTHER_WORK_SHARE).then_some(Finding::OtherWork { share })
}

/// The limit of the generator's processor time, with the share of the time in slots for which it stopped the generator.
fn check_processor_limit(curve: &Curve, limit: &ProcessorLimit) -> Finding {
    let delays: Option<Vec<(Span, Span)>> = curve
        .slots
        .iter()
        .map(|slot| slot.host.as_ref().and_then(|host| Some((host.throttled?, host.elapsed))))
        .collect();
    let share = |delays: Vec<(Span, Span)>| {
        let (stopped, elapsed) = delays.iter().fold((0.0, 0.0), |(stopped, elapsed), delay| {
            (stopped + delay.0.as_secs_f64(), elapsed + delay.1.as_secs_f64())
        });
        (elapsed > 0.0).then(|| (stopped / elapsed).min(1.0))
    };
    let stopped = delays.and_then(share);
    Finding::ProcessorLimited { file: limit.file.clone(), processors: limit.processors, stopped }
}

/// Removes findings that other processes explain: rate drops are not exhausted burst credits then, and a faster probe of
/// zeroes is no compression.
pub fn drop_contention_findings(curve: &mut Curve) {
    if curve.findings.iter().any(|finding| matches!(finding, Finding::OtherWork { .. })) {
        curve.findings.retain(|finding| !matches!(finding, Finding::CompressionSuspected { .. }));
        for run in &mut curve.runs {
            run.findings.retain(|finding| !matches!(finding, Finding::RateDropped { .. }));
        }
    }
}

fn check_page_cache(runs: &[Run], evidence: &Evidence, host: &Host) -> Vec<Finding> {
    if !evidence.buffered {
        return Vec::new();
    }
    let read = bytes_read(runs, evidence);
    let share = evidence.activity.cached_share(Bytes::new(read)).filter(|share| *share > 0.05);
    let mut found = vec![share.map_or(Finding::Buffered, |share| Finding::PageCacheAnswered { share })];
    found.extend(
        host.memory
            .filter(|memory| evidence.data < *memory)
            .map(|memory| Finding::SmallData { data: evidence.data, memory: Some(memory) }),
    );
    found
}

fn check_caches(runs: &[Run], evidence: &Evidence, host: &Host, device: &Device) -> Vec<Finding> {
    let mut found = Vec::new();
    if !evidence.buffered && evidence.data < DEVICE_CACHE {
        found.push(Finding::SmallData { data: evidence.data, memory: None });
    }
    found.extend(check_device_reads(runs, evidence));
    if let Some(ratio) = evidence.compression.filter(|ratio| *ratio > COMPRESSION_RATIO) {
        found.push(Finding::CompressionSuspected { ratio });
    }
    // Virtual disks report `rotational` by default.
    let rotates = device.rotational == Some(true) && host.virtualization.is_none();
    let least = if rotates { ROTATING_COMMIT } else { PROTECTED_COMMIT };
    if let Some(median) = evidence.commit.filter(|median| *median < least) {
        found.push(Finding::FlushNotHonoured { median });
    }
    let median = lightest_run(runs).and_then(|run| read_times(run).quantile(0.5));
    let uncached = !evidence.buffered && is_virtual(host, device);
    if let Some(median) = median.filter(|median| uncached && *median < FLASH_READ) {
        found.push(Finding::HostCacheSuspected { median });
    }
    found
}

/// Direct reads that are missing in the device's counters.
fn check_device_reads(runs: &[Run], evidence: &Evidence) -> Option<Finding> {
    let device_read = evidence.activity.disk?.read.get() as f64;
    let requested = bytes_read(runs, evidence);
    let share = 1.0 - device_read / requested.max(1) as f64;
    let is_significant = !evidence.buffered && requested > 1 << 20 && share > 0.1;
    is_significant.then_some(Finding::DeviceNotReached { share })
}

/// True for a disk emulated by a hypervisor, by kernel name or model. Passed-through drives keep their names.
fn is_virtual(host: &Host, device: &Device) -> bool {
    let has_prefix = |text: &Option<String>, words: &[&str]| {
        text.as_ref().is_some_and(|text| words.iter().any(|word| text.to_lowercase().starts_with(word)))
    };
    host.virtualization.is_some()
        && (has_prefix(&device.name, &["vd", "xvd"])
            || has_prefix(&device.model, &["virtio", "qemu", "vmware", "msft virtual"]))
}

/// The run with the lowest load.
fn lightest_run(runs: &[Run]) -> Option<&Run> {
    let depth_of = |run: &&Run| match run.offered {
        Pace::Closed { depth } => f64::from(depth),
        Pace::Open { .. } => f64::INFINITY,
    };
    runs.iter().min_by(|a, b| depth_of(a).total_cmp(&depth_of(b)))
}

fn read_times(run: &Run) -> Bins {
    run.total.response_where(|counter| counter.kind == Kind::Read)
}

fn check_host(runs: &[Run], evidence: &Evidence) -> Vec<Finding> {
    let activity = &evidence.activity;
    let mut found = Vec::new();
    if let Some(share) = activity.stolen.filter(|share| *share > STOLEN_SHARE) {
        found.push(Finding::StolenTime { share });
    }
    let own_operations: u64 = tallies(runs, evidence).map(Tally::operations).sum();
    let bytes: u64 = tallies(runs, evidence).map(Tally::bytes).sum();
    // Splitting of large operations would be counted as operations of others.
    let are_unsplit = bytes / own_operations.max(1) <= 128 << 10;
    let allowed = (own_operations as f64 / activity.elapsed.as_secs_f64().max(1e-9) * 0.1).max(50.0);
    if let Some(iops) = activity.others_iops(own_operations).filter(|iops| are_unsplit && *iops > allowed) {
        found.push(Finding::OtherLoad { iops });
    }
    // A rise of the frequency under load is normal.
    let ratio = activity.frequency.map(|frequency| frequency.after_khz as f64 / frequency.before_khz.max(1) as f64);
    if let Some(ratio) = ratio.filter(|ratio| *ratio < FREQUENCY_RATIO) {
        found.push(Finding::FrequencyChanged { ratio });
    }
    if let Some((from, to)) = activity.clock_changed.clone() {
        found.push(Finding::ClockChanged { from, to });
    }
    found
}

fn check_errors(runs: &[Run]) -> Option<Finding> {
    let mut by_errno: Vec<(i32, u64)> = Vec::new();
    let counted = runs.iter().flat_map(|run| &run.series).flat_map(|slice| &slice.tally.0).flat_map(|c| &c.errors);
    for &(errno, count) in counted {
        match by_errno.iter_mut().find(|(other, _)| *other == errno) {
            Some((_, sum)) => *sum += count,
            None => by_errno.push((errno, count)),
        }
    }
    let count = by_errno.iter().map(|(_, count)| count).sum();
    by_errno.iter().max_by_key(|(_, count)| *count).map(|&(errno, _)| Finding::Errors { count, errno })
}

/// The load whose repetitions differ most, by more than their intervals and by at least half.
fn check_repeatability(runs: &[Run]) -> Option<Finding> {
    let mut worst: Option<(f64, f64)> = None;
    for (index, run) in runs.iter().enumerate() {
        for other in runs[index + 1..].iter().filter(|other| other.offered == run.offered) {
            let (a, b) = (run.figures.p99_ns, other.figures.p99_ns);
            let (low, high) = if a.value < b.value { (a, b) } else { (b, a) };
            // Without an interval, half and one and a half times the value are used.
            let upper = low.interval.map_or(low.value * 1.5, |(_, upper)| upper);
            let lower = high.interval.map_or(high.value / 2.0, |(lower, _)| lower);
            let are_disjoint = upper < lower;
            let ratio = |(low, high): (f64, f64)| high / low;
            if are_disjoint
                && high.value > low.value * 1.5
                && worst.is_none_or(|pair| ratio(pair) < high.value / low.value)
            {
                worst = Some((low.value, high.value));
            }
        }
    }
    let span = |ns: f64| Span::from_nanos(ns as u64);
    worst.map(|(low, high)| Finding::Unrepeatable { low_p99: span(low), high_p99: span(high) })
}

/// A finding about the generator's lateness in a run.
pub fn check_lateness(run: &Run) -> Option<Finding> {
    let p99 = run.lateness.quantile(0.99)?;
    let response_p99 = run.total.response().quantile(0.99)?;
    let late = p99.as_secs_f64() > response_p99.as_secs_f64() * LATE_SHARE;
    late.then_some(Finding::GeneratorLate { p99, response_p99 })
}

/// Findings about an incomplete measurement.
pub fn check_saturation(curve: &Curve) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut closed: Vec<(u32, f64)> = curve
        .runs
        .iter()
        .filter_map(|run| match run.offered {
            Pace::Closed { depth } => Some((depth, run.figures.iops.value)),
            Pace::Open { .. } => None,
        })
        .collect();
    closed.sort_by_key(|(depth, _)| *depth);
    // A replay uses given depths and does not search for saturation.
    if curve.conditions.trace.is_some() {
        closed.clear();
    }
    if let [.., (_, before), (depth, last)] = closed[..]
        && last > before * 1.05
        && !is_outrun(curve)
    {
        found.push(Finding::NotSaturated { depth });
    }
    found
}

/// True if an open load saturated the storage, regardless of the closed loads.
fn is_outrun(curve: &Curve) -> bool {
    curve.runs.iter().any(|run| run.figures.steadiness == Steadiness::Overloaded)
}

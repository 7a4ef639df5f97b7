//! The conditions of a sizing in a line each, for the first screen; the full sentences are among the details.

use plimsoll_catalogue::Money;
use plimsoll_choose::diagnosis::CensorCause;
use plimsoll_choose::sizing::{
    Attachment, Choice, Cluster, EndedInstances, LessHeadroom, MemoryOrigin, PeakSource, ProcessorOrigin,
    ProcessorPeaks, ShareOrigin, Sizing, SizingRequirements, SpeedBound, SpeedLimit, StepKind, WithoutScans,
    unclear_rac, unsupported_rac,
};
use plimsoll_ingest::Resource;
use plimsoll_language::{label, say};
use plimsoll_units::Bytes;

use super::sizing::{self as sizing_words, length, limit_rate, notable_scans, saved_share};
use super::{clean, offer, product_text, sentence};
use crate::number;

/// Windows up to this length in seconds are usual reports.
const USUAL_WINDOW_S: f64 = 2.0 * 3_600.0;
/// Above this share of the processors of a host queueing is likely at any time.
const FULL: f64 = 0.85;

/// A cap of the resource manager: the load and the price without it, or that storage and machine are sized without it.
pub(crate) fn cap(sizing: &Sizing) -> Option<String> {
    let demand = &sizing.required;
    let CensorCause::ProcessorCap { share: waits, processors: [used, required], .. } = &demand.censored.as_ref()?.cause
    else {
        return None;
    };
    let vcpus = say!("{} processors in use for {}", number::three(*required), number::three(*used));
    if let Some(step) = demand.steps.iter().find(|step| matches!(step.kind, StepKind::WithoutStall { .. })) {
        return Some(say!(
            "Sized without the cap of the resource manager ({} of the time waits): up to {} times the rate, {vcpus}",
            percent(*waits),
            number::three(step.small)
        ));
    }
    let uncapped = sizing.uncapped.as_ref()?;
    let times = number::three(demand.censored.as_ref()?.factor());
    let price = uncapped.choice.as_ref().and_then(Choice::total);
    let price = price.map_or_else(|| label!("no priced choice").to_owned(), |total| say!("{total} a month"));
    Some(say!(
        "The resource manager caps the processors ({} of the time waits), and this is sized for it; without, up to {times} times \
         the rate, {vcpus}: {price} (--uncapped)",
        percent(*waits)
    ))
}

/// Peaks that are assumed inside a long window, and the price without them.
pub(crate) fn assumed_peaks(sizing: &Sizing) -> Option<String> {
    let (demand, constant) = (&sizing.required, sizing.constant_load.as_ref()?);
    let price = constant.choice.as_ref().and_then(Choice::total);
    if price.is_some() && price == sizing.best_total() {
        return None;
    }
    let step = demand.steps.iter().find(|step| matches!(step.kind, StepKind::Peaks(_)))?;
    let spread = step.spread.map_or_else(String::new, |(low, high)| {
        say!("; {} to {} in measured databases", number::three(low), number::three(high))
    });
    let basis = match step.kind {
        StepKind::Peaks(PeakSource::BusyPeriods) => label!("busy hours by ADDM, minutes assumed"),
        _ => label!("assumed"),
    };
    let price = price.map_or_else(|| label!("no priced choice").to_owned(), |total| say!("{total} a month"));
    Some(say!(
        "Peaks are {} times the mean of {} ({basis}{spread}); without, {price} (--burst none)",
        number::three(step.small),
        length(demand.measured.longest.as_secs_f64())
    ))
}

/// A configuration with less headroom that costs much less: `19,075.11 USD with its machine at 19 % headroom (--headroom
/// 19%)`.
pub(crate) fn less_headroom(less: &LessHeadroom) -> Option<String> {
    let headroom = number::three(less.headroom * 100.0);
    let machine = with_machines(less.choice.machine.as_ref());
    Some(say!("{}{machine} at {headroom} % headroom (--headroom {headroom}%)", less.choice.total()?))
}

/// The cluster and the storage cells of today: what is priced, and the support of the recommended platform.
pub(crate) fn describe_platform(sizing: &Sizing) -> Option<String> {
    let platform = &sizing.required.platform;
    let mut parts: Vec<String> = platform.cluster.iter().map(priced_instances).collect();
    parts.extend(platform.cluster.as_ref().and_then(|cluster| Some(ended_instances(cluster.ended?, sizing))));
    parts.extend(platform.exadata.map(|exadata| without_cells(&sizing.required, exadata.filtered_bytes_s)));
    parts.extend(columnar_compression(&sizing.required));
    parts.extend(platform.cluster.as_ref().and_then(|_| rac_support(sizing)));
    let refused = sizing.refused_providers();
    parts.extend((!refused.is_empty()).then(|| say!("{} refused (--unsupported)", refused.join(label!(", ")))));
    (!parts.is_empty()).then(|| sentence(&parts.join(label!("; "))))
}

/// Tables whose compression other storage lacks.
fn columnar_compression(demand: &SizingRequirements) -> Option<String> {
    let ratio = demand.account.as_ref()?.total.counters.columnar?.ratio();
    let times =
        ratio.map_or_else(|| label!("by an unknown ratio").to_owned(), |ratio| say!("{} times", number::three(ratio)));
    Some(say!("tables in Hybrid Columnar Compression grow {times}, in addition to the capacity"))
}

/// The processors of a machine that filter scans instead of storage cells.
fn without_cells(demand: &SizingRequirements, filtered_bytes_s: Option<f64>) -> String {
    match (notable_scans(&demand.compute_origin), filtered_bytes_s) {
        (Some(scans), _) => {
            let [low, high] = scans.processors.map(number::three);
            say!("without Exadata cells: filtering takes {low} to {high} processors more in the window that decides")
        }
        (None, None) => label!("without Exadata cells, whose filtering is not counted").to_owned(),
        (None, Some(_)) => label!("without Exadata cells").to_owned(),
    }
}

fn priced_instances(cluster: &Cluster) -> String {
    let of = match (cluster.covered, cluster.count) {
        (1, 1) => label!("a single instance of a cluster (RAC) is reported and priced").to_owned(),
        (covered, count) if covered < count => {
            say!("RAC: {covered} of {count} instances are reported, {count} machines priced")
        }
        (_, count) => say!("RAC of {count} instances"),
    };
    match &cluster.share.origin {
        ShareOrigin::Single => of,
        ShareOrigin::Assumed => say!("{of}, each machine for all of the load (division unknown)"),
        ShareOrigin::Busiest(_) | ShareOrigin::Maxima => {
            say!("{of}, each machine for the busiest ({} of the bytes)", percent(cluster.share.parts[1]))
        }
    }
}

/// Instances that may no longer run, with the price of their machines.
fn ended_instances(ended: EndedInstances, sizing: &Sizing) -> String {
    let price = sizing.best_machine().and_then(|machine| {
        let all = machine.monthly?;
        let own = Money { millionths: all.millionths * i128::from(ended.count) / i128::from(machine.count), ..all };
        Some(say!(": their machines cost {own} a month"))
    });
    let last = ended.last.strftime("%Y-%m-%d %H:%M");
    say!("{} without figures after {last}{}", ended.count, price.unwrap_or_default())
}

fn rac_support(sizing: &Sizing) -> Option<String> {
    let volume = sizing.best_volumes().into_iter().next()?;
    let product = volume.offer.product();
    let (provider, _) = product.name().split_once('/')?;
    if unsupported_rac(product).is_some() {
        return Some(say!("Oracle does not support RAC at {provider}"));
    }
    unclear_rac(product).map(|_| say!("at {provider}, Oracle documents RAC as a service only"))
}

/// A given machine with fewer processors or less memory than the load needs.
pub(crate) fn insufficient_machine(sizing: &Sizing) -> Option<String> {
    let demand = &sizing.required;
    let machine = sizing.best_machine()?;
    let shape = machine.offer.machine_shape()?;
    let (processors, memory) = demand.compute.required();
    (!demand.compute.fits(shape.vcpus, shape.memory)).then(|| {
        say!(
            "The machine is too small for the database: {} of {} vCPUs and {} required",
            sizing_words::format_shape(machine),
            number::three(processors),
            offer::capacity(memory)
        )
    })
}

/// Assumptions that the processors and the memory of the recommended machine rest on.
pub(crate) fn describe_machine(sizing: &Sizing) -> Option<String> {
    let demand = &sizing.required;
    let shape = sizing.best_machine()?.offer.machine_shape()?;
    let memory = assumed_memory(demand, shape.memory.map(|memory| memory.get() as f64));
    let of_processors = [
        possible_cores(demand, shape.vcpus),
        foreign(demand),
        unclear_processors(demand, shape.vcpus),
        queued(demand),
        full_host(demand),
    ];
    let processors: Vec<String> = of_processors.into_iter().flatten().collect();
    let more = sizing.more_processors.as_ref();
    let vcpus = more.and_then(|more| Some(format!("--vcpus {}", sizing_words::vcpu_count(more)?)));
    let vcpus = vcpus.unwrap_or_else(|| "--vcpus".to_owned());
    let options = match (processors.is_empty(), &memory) {
        (true, None) => return None,
        (true, Some(_)) => "--memory".to_owned(),
        (false, None) => vcpus,
        (false, Some(_)) => say!("{vcpus}, --memory"),
    };
    let more = more.and_then(|more| sizing_words::more_vcpus(sizing.best_machine()?, more));
    let parts: Vec<String> = processors.into_iter().chain(more).chain(memory).collect();
    Some(say!("Uncertain machine: {} ({options})", parts.join(label!("; "))))
}

/// Processors that may be whole cores, if the machine has fewer vCPUs than these need.
fn possible_cores(demand: &SizingRequirements, vcpus: Option<f64>) -> Option<String> {
    let processors = demand.compute_origin.possible_cores?;
    let needed = demand.processors_of_cores()?;
    (vcpus? < needed).then(|| {
        let (processors, needed) = (number::three(processors), number::three(needed));
        say!("the host's processors ({processors}) may be whole cores, then up to {needed} vCPUs")
    })
}

fn foreign(demand: &SizingRequirements) -> Option<String> {
    let platform = demand.platform.foreign.as_ref()?;
    let is_given = matches!(demand.compute_origin.processors, Some(ProcessorOrigin::Given));
    (!is_given).then(|| say!("processors of {} count as vCPUs", clean(&platform.name)))
}

/// Processors that the input does not determine, and those of a mean.
fn unclear_processors(demand: &SizingRequirements, vcpus: Option<f64>) -> Option<String> {
    let origin = &demand.compute_origin;
    let required = demand.compute.required().0;
    let of = match &origin.processors {
        Some(ProcessorOrigin::Given | ProcessorOrigin::Uncapped { .. }) => return None,
        None | Some(ProcessorOrigin::Share(_)) => return Some(label!("processors in use unknown").to_owned()),
        Some(ProcessorOrigin::Host(_)) => {
            return Some(label!("vCPUs of the host, use unknown").to_owned());
        }
        Some(ProcessorOrigin::Database(used)) if used.resource == Resource::PeakProcessors => return None,
        Some(ProcessorOrigin::Database(used)) => Some(used.window.as_secs_f64()),
        Some(ProcessorOrigin::Busy(_)) => None,
    };
    let is_enough = |peaks: ProcessorPeaks| peaks.is_given || vcpus.is_some_and(|vcpus| vcpus >= peaks.at_target());
    if origin.peaks.is_some_and(is_enough) {
        return None;
    }
    let long = of.filter(|seconds| *seconds > USUAL_WINDOW_S);
    let peaks = origin.peaks.filter(|peaks| peaks.at_target() > required);
    if long.is_none() && peaks.is_none() {
        return None;
    }
    let hours = origin.busy_hours.map_or_else(String::new, |hours| {
        let source = sizing_words::busy_hours_source(demand);
        say!("times {} in busy hours ({source}), ", number::three(hours.times))
    });
    let mean = long.map_or_else(String::new, |seconds| say!("from the mean of {}, {hours}", length(seconds)));
    let peaks = peaks.map_or_else(
        || label!("without peaks").to_owned(),
        |peaks| say!("{} in peaks as of operations", number::three(peaks.at_target())),
    );
    Some(say!("vCPUs {mean}a lower bound ({peaks})"))
}

/// Processes of the present host that waited for a processor, for which the measured use may be below the need.
fn queued(demand: &SizingRequirements) -> Option<String> {
    let is_given = matches!(demand.compute_origin.processors, Some(ProcessorOrigin::Given));
    let waiting = demand.account.as_ref()?.total.host.processes.filter(|waiting| *waiting >= 1.0 && !is_given)?;
    Some(say!(
        "{} processes of the host waited for a processor, so the use may be below the need",
        number::three(waiting)
    ))
}

fn full_host(demand: &SizingRequirements) -> Option<String> {
    let origin = &demand.compute_origin;
    let is_measured = !matches!(origin.processors, Some(ProcessorOrigin::Given | ProcessorOrigin::Uncapped { .. }));
    let busy = origin.host_busy.filter(|busy| *busy >= FULL && is_measured)?;
    Some(say!("host {} busy, a lower bound", percent(busy)))
}

/// Assumed memory, or that without the memory of sessions, if the machine has less than twice of it.
fn assumed_memory(demand: &SizingRequirements, bytes: Option<f64>) -> Option<String> {
    let (_, required) = demand.compute.required();
    let is_close = bytes.is_some_and(|bytes| bytes < 2.0 * required.get() as f64);
    if let Some(MemoryOrigin::PagingHost(host)) = &demand.compute_origin.memory {
        let memory = offer::capacity(Bytes::new(host.value as u64));
        return Some(say!("the present host of {memory} pages, so that less would not suffice"));
    }
    if demand.lacks_session_memory() {
        return is_close.then(|| label!("memory of sessions (connections) not counted").to_owned());
    }
    (demand.compute_origin.memory.is_none() && is_close)
        .then(|| say!("{} of memory assumed (2 GiB a vCPU)", offer::capacity(required)))
}

/// The limit that sessions without pauses reach before the promised time is saved.
pub(crate) fn speed_limit(limit: &SpeedLimit, saved: f64) -> String {
    let reached = match &limit.limit {
        SpeedBound::Storage(limit) => say!("{} ({})", limit_rate(limit), product_text(&limit.name)),
        SpeedBound::Processors { vcpus, .. } => say!("the {} vCPUs of the machine (--vcpus)", number::three(*vcpus)),
    };
    say!(
        "{} for the same work; sessions that never pause reach {reached} first: {}",
        saved_share(saved),
        saved_share(limit.saved)
    )
}

/// The windows of a scan or a backup that determine the load, and the load and price without them.
pub(crate) fn without_scans(without: &WithoutScans) -> String {
    /// Minimum share of a statement that is named.
    const MIN_NAMED: f64 = 0.1;
    /// Above it, the median window is nearly idle, and the ratio means little.
    const MAX_TIMES: f64 = 100.0;
    let scans = &without.scans;
    let times = if scans.times > MAX_TIMES {
        label!("the median window is nearly idle").to_owned()
    } else {
        say!("{} times the median", number::three(scans.times))
    };
    let windows = if scans.windows == 1 { label!("window") } else { label!("windows") };
    let price = without.choice.as_ref().and_then(Choice::total);
    let price = price.map_or_else(String::new, |total| say!(", {total} a month"));
    let begin = scans.highest.begin.map_or_else(String::new, |begin| say!(" (from {begin})").replace('T', " "));
    let reader = scans.reader.as_ref().map_or_else(String::new, |(reader, share)| {
        let module = clean(&reader.module);
        let module = if module.is_empty() { module } else { format!(" ({module})") };
        if *share < MIN_NAMED {
            return say!(", no listed statement above {}", percent(*share));
        }
        say!(", {} by SQL_ID {}{module}", percent(*share), clean(&reader.statement))
    });
    say!(
        "A scan or a backup decides: {} {windows} of up to {} MB/s{begin}, {times}, {} large reads{reader}; without, {} \
         MB/s{price}",
        scans.windows,
        offer::megabytes(scans.bytes_per_second),
        percent(scans.large_reads),
        offer::megabytes(without.point.bytes_per_second())
    )
}

/// A wider stripe that costs less: `--stripe 8: 1,325.98 USD in all`.
pub(crate) fn wider(choice: &Choice) -> Option<String> {
    let members = choice.offer.config.wraps.iter().map(plimsoll_catalogue::Wrap::members).product::<u32>();
    let total = choice.total()?;
    Some(if choice.machine.is_some() {
        say!("--stripe {members}: {total} in all")
    } else {
        say!("--stripe {members}: {total}")
    })
}

/// The machines of a price: ` with its machine`, ` with 4 machines`.
pub(crate) fn with_machines(machine: Option<&Attachment>) -> String {
    match machine.map(|machine| machine.count) {
        None => String::new(),
        Some(1) => label!(" with its machine").to_owned(),
        Some(count) => say!(" with {count} machines"),
    }
}

fn percent(part: f64) -> String {
    number::percent((part * 100.0).round() / 100.0)
}

//! Processors, memory, machines and licences.

use plimsoll_catalogue::Money;
use plimsoll_choose::diagnosis::CensorCause;
use plimsoll_choose::sizing::{
    Attachment, CellScans, Compute, ComputeOrigin, ForeignPlatform, GrowthStep, MemoryOrigin, PeakSource,
    ProcessorLicences, ProcessorOrigin, ProcessorPeaks, SizingRequirements, StepKind,
};
use plimsoll_ingest::{InstanceResource, Resource};
use plimsoll_language::{label, say};
use plimsoll_units::Bytes;

use super::demand::length;
use super::limit::{limit, margin};
use crate::words::{clean, offer};
use crate::{money, number};

pub(super) fn vcpus(count: f64) -> String {
    if count > 1.0 { say!("{} vCPUs", number::three(count)) } else { format!("{} vCPU", number::three(count)) }
}

/// Processors and memory that a machine needs: `at least 4 vCPUs and 32 GiB of memory`.
pub(crate) fn compute(compute: Compute) -> String {
    let (processors, memory) = compute.required();
    let unknown = match (compute.processors, compute.memory) {
        (Some(_), Some(_)) => "",
        (None, Some(_)) => {
            label!("; the input does not state its processors, and the least of a database is assumed: see --vcpus")
        }
        (Some(_), None) => {
            label!("; the input does not state its memory, and 2 GiB a vCPU are assumed, at least 8: see --memory")
        }
        (None, None) => label!(", the least of a database: the input states neither, see --vcpus and --memory"),
    };
    say!("at least {} and {} of memory{unknown}", vcpus(processors), offer::capacity(memory))
}

/// Where the required processors and memory come from, in a sentence each.
pub(crate) fn compute_origin(demand: &SizingRequirements) -> Vec<String> {
    let origin = &demand.compute_origin;
    let place = |one: &InstanceResource| {
        let instance =
            if one.instance.is_empty() { String::new() } else { say!("instance {}, ", clean(&one.instance)) };
        format!(
            "{instance}{}: {}",
            clean(one.place.input.rsplit('/').next().unwrap_or_default()),
            clean(&one.place.origin.to_string())
        )
    };
    let processors = origin.processors.as_ref().map(|origin| match origin {
        ProcessorOrigin::Given => label!("processors as given").to_owned(),
        ProcessorOrigin::Database(used) => {
            let (used_by, target) = match used.resource {
                Resource::PeakProcessors => (label!("in its busiest minute"), label!(", for a utilisation of 70 %")),
                _ => (label!("on average in its busiest window of"), label!(", for a utilisation of 70 %; shorter peaks are not in it")),
            };
            let window = length(used.window.as_secs_f64());
            let is_minute = used.resource == Resource::PeakProcessors;
            let window = if is_minute { String::new() } else { format!(" {window}") };
            // Sections of nmon: all programs of the host.
            let is_of_host = matches!(&*used.place.origin.field, "LPAR" | "CPU_ALL");
            let who = if is_of_host { label!("the host, with other programs,") } else { label!("the database") };
            say!(
                "processors: {who} ran on {} {used_by}{window}{target} ({})",
                number::three(used.value),
                place(used)
            )
        }
        ProcessorOrigin::Busy(busy) => say!(
            "processors: {} of the present host were busy in the busiest window, with other programs (those of the database \
             are unknown), for a utilisation of 70 %",
            number::three(*busy)
        ),
        ProcessorOrigin::Uncapped { required, used } => uncapped_processors(*required, *used),
        ProcessorOrigin::Share(share) => say!(
            "processors: {} busy in the busiest hour, number unknown: give --vcpus ({})",
            crate::words::diagnosis::share(share.value),
            place(share)
        ),
        ProcessorOrigin::Host(host) => say!(
            "processors: as many as the present host has, since their use is unknown ({})",
            place(host)
        ),
    });
    let memory = origin.memory.as_ref().map(|origin| match origin {
        MemoryOrigin::Given => label!("memory as given").to_owned(),
        MemoryOrigin::Database { parts, share } => {
            let part = |one: &InstanceResource| {
                let bytes = Bytes::new(one.value as u64);
                say!("{} of {} ({})", offer::capacity(bytes), memory_name(one.resource), place(one))
            };
            let parts: Vec<String> = parts.iter().map(part).collect();
            say!("memory: {}, at most {} of the machine's", parts.join(label!(" and ")), number::percent(*share))
        }
        MemoryOrigin::PagingHost(host) => say!(
            "memory: that of the present host, which pages: the memory that the database uses is less than its need ({})",
            place(host)
        ),
        MemoryOrigin::Host(host) => say!(
            "memory: that of the present host, since the memory that the database uses is unknown or includes the page cache ({})",
            place(host)
        ),
    });
    let peaks = origin.peaks.filter(|peaks| peaks.is_given).map(given_peaks);
    let hours = origin.busy_hours.map(|hours| busy_hours(hours, demand));
    let scans = notable_scans(origin).map(|scans| added_for_scans(scans, &place(&scans.filtered)));
    processors.into_iter().chain(scans).chain(peaks).chain(hours).chain(memory).collect()
}

/// Processors in peaks that are required.
fn given_peaks(peaks: ProcessorPeaks) -> String {
    say!(
        "processors in peaks: {}, for {} times as many operations as in the busiest window, as given, for a utilisation of \
         70 %; no more than the present host has, where that is known",
        number::three(peaks.processors),
        number::three(peaks.times),
    )
}

/// Processors in the busy hours of a long window.
fn busy_hours(hours: ProcessorPeaks, demand: &SizingRequirements) -> String {
    say!(
        "processors in busy hours: {}, {} times the mean ({}), for a utilisation of 70 %; no more than the present host has, where \
         that is known",
        number::three(hours.processors),
        number::three(hours.times),
        busy_hours_source(demand)
    )
}

/// The origin of the ratio of the busy hours to the mean of a long window.
pub(crate) fn busy_hours_source(demand: &SizingRequirements) -> &'static str {
    let is_of_input = |step: &GrowthStep| matches!(step.kind, StepKind::Peaks(PeakSource::BusyPeriods));
    if demand.steps.iter().any(is_of_input) { label!("by ADDM") } else { label!("as in other systems") }
}

/// The processors that are added for scans, with their place in the input.
fn added_for_scans(scans: &CellScans, place: &str) -> String {
    let [low, high] = scans.processors.map(number::three);
    say!(
        "processors for scans that storage cells filter today: {high} in addition to {} in use in the same window, for {} at 200 MB/s each (Oracle, 2 Day + \
         Data Warehousing Guide 11.1), {low} at 800 MB/s (a core of a storage server of Exadata X8M-2, recalled), for a \
         utilisation of 70 %; decompression is not in it; --vcpus states your own ({place})",
        number::three(scans.beside),
        number::throughput(scans.filtered.value)
    )
}

/// Scans of storage cells whose filtering takes a part of a processor that is displayed.
pub(crate) fn notable_scans(origin: &ComputeOrigin) -> Option<&CellScans> {
    const NEGLIGIBLE: f64 = 0.005;
    origin.scans.as_ref().filter(|scans| scans.processors[1] >= NEGLIGIBLE)
}

fn uncapped_processors(required: f64, used: f64) -> String {
    say!(
        "processors: without the limit of the resource manager the sessions run on up to {} instead of {}; storage is sized for \
         the load without it as well, and --burst none for both with it",
        number::three(required),
        number::three(used)
    )
}

fn memory_name(resource: Resource) -> &'static str {
    match resource {
        Resource::SharedBuffers => label!("shared buffers"),
        Resource::ProcessMemory => label!("process memory"),
        _ => label!("shared memory"),
    }
}

/// Processors of all machines, which Oracle licenses, and a machine with fewer of them: `16 vCPUs in 2 machines: ...`.
pub(crate) fn licences(machine: &Attachment, fewer: Option<&Attachment>) -> Option<String> {
    let of_one = |machine: &Attachment| machine.offer.machine_shape()?.vcpus;
    let all = |machine: &Attachment| Some(of_one(machine)? * f64::from(machine.count));
    let machines = if machine.count > 1 { say!(" in {} machines", machine.count) } else { String::new() };
    let mut text = format!("{}{machines}: {}", vcpus(all(machine)?), licence_rule(machine));
    if ProcessorLicences::of(machine).is_some() && of_one(machine)? > MAX_STANDARD_VCPUS {
        text += label!("; Standard Edition 2 is not allowed on more than 8 vCPUs");
    }
    if let Some((fewer, change)) = fewer.and_then(|fewer| Some((fewer, price_change(machine, fewer)?))) {
        let count = ProcessorLicences::of(fewer).map_or_else(String::new, |counted| {
            say!(" ({} or {} licences)", number::three(counted.of_threads), number::three(counted.of_cores))
        });
        text += &say!("; {} has {}{count} for {change}", clean(&fewer.name()?), vcpus(all(fewer)?));
    }
    if [Some(machine), fewer].into_iter().flatten().any(has_constrained_cores) {
        text += label!(
            "; of sizes with constrained cores, sources differ on whether all vCPUs or the active ones count: ask Oracle"
        );
    }
    Some(text)
}

/// That licences are not in the price, and a machine with fewer processors: `without licences; 8 vCPUs cost 20 USD a month
/// more: oci/...`.
pub(crate) fn unpriced_licences(machine: &Attachment, fewer: Option<&Attachment>) -> String {
    let fewer = fewer.and_then(|fewer| Some(say!("; {}: {}", more_vcpus(machine, fewer)?, clean(&fewer.name()?))));
    say!("without licences{}", fewer.unwrap_or_default())
}

/// vCPUs of a machine: `16`.
pub(crate) fn vcpu_count(machine: &Attachment) -> Option<String> {
    Some(number::three(machine.offer.machine_shape()?.vcpus?))
}

/// The price of a machine with another number of vCPUs than the recommended one: `12 vCPUs cost 63.51 USD a month more`.
pub(crate) fn more_vcpus(machine: &Attachment, more: &Attachment) -> Option<String> {
    Some(say!("{} cost {}", vcpus(more.offer.machine_shape()?.vcpus?), price_change(machine, more)?))
}

/// The price of another machine against that of `machine`: `63.51 USD a month more`.
fn price_change(machine: &Attachment, other: &Attachment) -> Option<String> {
    let (from, to) = (machine.monthly?, other.monthly?);
    let change = Money { millionths: to.millionths - from.millionths, ..to };
    Some(if change.millionths < 0 {
        say!("{} a month less", money::without_sign(change))
    } else {
        say!("{change} a month more")
    })
}

/// Maximum vCPUs of a machine with Standard Edition 2 on AWS, Azure and Google Cloud. Source: as [`ProcessorLicences::of`].
const MAX_STANDARD_VCPUS: f64 = 8.0;

/// How many licences the machines need, as far as a rule is known.
fn licence_rule(machine: &Attachment) -> String {
    if let Some(counted) = ProcessorLicences::of(machine) {
        return say!(
            "{} processor licences of Enterprise Edition if two vCPUs share a core, {} if each is a core, without a core factor \
             (Oracle's policy for AWS, Azure and Google Cloud, read at second hand, 2024-07; a contract may differ)",
            number::three(counted.of_threads),
            number::three(counted.of_cores)
        );
    }
    let is_oci = machine.offer.machine_shape().is_some_and(|own| own.name.starts_with("oci/"));
    let rule = if is_oci {
        label!("at OCI, licences are counted by OCPUs, and sources differ on how many one covers: ask Oracle")
    } else {
        label!("the vendor's rules for the platform state how many licences they need")
    };
    rule.to_owned()
}

/// True for sizes of Azure whose name has the active vCPUs behind those of the full size: `Standard_E16-4s_v5`.
fn has_constrained_cores(machine: &Attachment) -> bool {
    let name = machine.offer.machine_shape().map(|shape| shape.name);
    name.is_some_and(|name| name.starts_with("azure/") && name.contains('-'))
}

/// Processors and memory of a machine: `4 vCPUs, 32 GiB`.
pub(crate) fn format_shape(machine: &Attachment) -> String {
    let shape = machine.offer.machine_shape();
    let processors = shape.as_ref().and_then(|shape| shape.vcpus).map(vcpus);
    let memory = shape.and_then(|shape| shape.memory).map(|memory| memory.to_string());
    processors.into_iter().chain(memory).collect::<Vec<_>>().join(label!(", "))
}

/// The machine of a choice: `aws/r6i.xlarge, 4 vCPUs, 32 GiB, 183.96 USD a month; IOPS of the instance: 6,000 IOPS
/// (25 % above the design point); 4 of 28 volumes; 12.5 Gbit/s network`.
pub(crate) fn machine(machine: &Attachment) -> String {
    let name = machine.name().unwrap_or_default();
    let price = machine.monthly.map_or_else(|| label!("price unknown").to_owned(), |monthly| say!("{monthly} a month"));
    let first = [clean(&name), format_shape(machine), price];
    let first: Vec<String> = first.into_iter().filter(|part| !part.is_empty()).collect();
    let mut parts = vec![first.join(label!(", "))];
    parts.extend(machine.binds.as_ref().map(|binds| say!("{} ({})", limit(binds), margin(binds.over))));
    let max = machine.volumes_max.map(|max| say!("{} of {max} volumes", machine.volumes));
    parts.extend(max);
    parts.extend(machine.network_gbps.map(|gbps| say!("{} Gbit/s network", number::three(gbps))));
    // A given machine is the only one.
    parts.extend((machine.of > 1).then(|| {
        say!(
            "{} of {} known machines are x86-64 and have the required processors and memory and sufficient limits",
            machine.enough,
            machine.of
        )
    }));
    parts.join(label!("; "))
}

/// Processors that are not comparable, and the byte order of the data files.
pub(crate) fn foreign_platform(platform: &ForeignPlatform) -> String {
    let bytes = if platform.is_big_endian {
        label!("; its byte order differs, so data files are converted (transportable tablespaces, Data Pump)")
    } else {
        ""
    };
    say!(
        "The database runs on {}: its processors are not comparable with vCPUs, which are counted one to one: state --vcpus \
         from a benchmark{bytes}",
        clean(&platform.name)
    )
}

/// The origin of a machine's memory where it is not the memory that the database uses.
pub(crate) fn memory_not_of_database(demand: &SizingRequirements) -> Option<String> {
    match &demand.compute_origin.memory {
        Some(MemoryOrigin::Host(host)) => Some(say!(
            "The memory of the machine, {}, is that of the present host, as its use is unknown or includes the page cache: \
             --memory states it",
            offer::capacity(Bytes::new(host.value as u64))
        )),
        Some(MemoryOrigin::PagingHost(host)) => Some(say!(
            "The memory of the machine, {}, is that of the present host, which pages: it may need more (--memory)",
            offer::capacity(Bytes::new(host.value as u64))
        )),
        None => Some(say!(
            "The memory of the machine is assumed, {}, as the input does not state any: --memory states it",
            offer::capacity(demand.compute.required().1)
        )),
        Some(MemoryOrigin::Database { share, .. }) if demand.lacks_session_memory() => Some(say!(
            "The memory of the machine is for the shared memory of the database, at most {} of it; the memory of sessions \
             (connections) is in no figure of the input and has to fit in the rest: --memory states all of it",
            number::percent(*share)
        )),
        Some(MemoryOrigin::Given | MemoryOrigin::Database { .. }) => None,
    }
}

/// Processors from the mean of a window: shorter peaks are unknown. `None` if the required ones suffice for as many more as
/// operations, and for other origins and windows of up to two hours without peaks of operations.
pub(crate) fn processors_without_peaks(demand: &SizingRequirements) -> Option<String> {
    const LONG_S: f64 = 2.0 * 3_600.0;
    let origin = &demand.compute_origin;
    let required = demand.compute.processors.unwrap_or(0.0);
    if let Some(CensorCause::ProcessorCap { processors: [used, least], .. }) =
        demand.censored.as_ref().map(|one| &one.cause).filter(|_| !is_uncapped(demand))
    {
        return Some(say!(
            "{} are a lower bound: the load is capped. Without the cap its sessions run on up to {} processors instead of {}; \
             --vcpus requires more",
            vcpus(required),
            number::three(*least),
            number::three(*used)
        ));
    }
    if let Some(text) = saturated_host(demand, required) {
        return Some(text);
    }
    if let Some(peaks) = origin.peaks.filter(|peaks| !peaks.is_given && peaks.at_target() > required) {
        return Some(say!(
            "Peaks of {} times the operations are expected, those of processors are unknown and not required: with as many more \
             they would be {} instead of {}; --burst {} or --vcpus requires them",
            number::three(peaks.times),
            vcpus(peaks.at_target()),
            vcpus(required),
            number::three(peaks.times)
        ));
    }
    if origin.peaks.is_some_and(|peaks| peaks.is_given) || origin.busy_hours.is_some() {
        return None;
    }
    let Some(ProcessorOrigin::Database(used)) = &origin.processors else { return None };
    let seconds = used.window.as_secs_f64();
    (used.resource != Resource::PeakProcessors && seconds > LONG_S).then(|| {
        say!(
            "Processors are from the mean of {}, without its peaks: provide reports of an hour, or state --vcpus",
            length(seconds)
        )
    })
}

/// True if the processors are those without the limit of the resource manager.
fn is_uncapped(demand: &SizingRequirements) -> bool {
    matches!(demand.compute_origin.processors, Some(ProcessorOrigin::Uncapped { .. }))
}

/// The processors of the present host are full: a larger machine may do more work.
fn saturated_host(demand: &SizingRequirements, required: f64) -> Option<String> {
    /// Above this share of all processors queueing is likely at any time.
    const FULL: f64 = 0.85;
    let origin = &demand.compute_origin;
    let busy =
        origin.host_busy.filter(|busy| *busy >= FULL && !matches!(origin.processors, Some(ProcessorOrigin::Given)))?;
    let busy = number::percent((busy * 1e3).round() / 1e3);
    Some(match &origin.processors {
        None | Some(ProcessorOrigin::Share(_)) => say!(
            "The host's processors are {busy} busy, and the input does not state their number: a machine of {} is only the \
             least of a database, so state --vcpus",
            vcpus(demand.compute.required().0)
        ),
        _ => say!(
            "The host's processors are {busy} busy, so work may wait for them: {} are a lower bound; --vcpus requires more",
            vcpus(required)
        ),
    })
}

//! Sizing as text: demand, limits, and reasons for rejections.

use plimsoll_catalogue::{Counts, Money, Price, ProductKind, Status};
use plimsoll_choose::diagnosis::{CensorCause, Censored, DatabaseEffect, DiagnosisVerdict, EffectRule};
use plimsoll_choose::sizing::{
    Allowance, Attachment, Backlog, Busiest, Choice, ClassObjective, Cluster, Compute, ComputeOrigin, DesignLimit,
    DesignPoint, Exadata, ForeignPlatform, GrowthStep, HitAssumption, Measured, MemoryOrigin, PresentCost,
    ProcessorLicences, ProcessorOrigin, Reached, RejectionReason, RiskKind, Sizing, SizingRequirements, Slower,
    VolumeLayout,
};
use plimsoll_choose::what_if::{EstimateSource, MemoryFirst};
use plimsoll_ingest::{CapOwner, InstanceResource, Resource};
use plimsoll_units::Bytes;

use super::diagnosis::share;
use super::{clean, offer};
use crate::number;

/// Classes with a lower share of the operations are named without figures.
const WORTH: f64 = 0.005;

/// Length of windows: `45 s`, `60 min`.
pub(crate) fn length(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{} s", number::three(s)),
        s if s < 172_800.0 => format!("{} min", number::three(s / 60.0)),
        s => format!("{} days", number::three(s / 86_400.0)),
    }
}

/// Whether storage is the problem, with the remedy.
pub(crate) fn answer(required: &SizingRequirements) -> Option<String> {
    let verdict = required.answer.as_ref()?;
    let text = super::diagnosis::verdict_text(verdict);
    Some(match verdict {
        // Their remedies are commands that precede this one.
        DiagnosisVerdict::Storage { .. } | DiagnosisVerdict::StorageAtLeast { .. } => text.text,
        _ => format!("{} {}", text.text, text.remedy),
    })
}

/// A capacity below the size of the database that its reports state.
pub(crate) fn smaller_than_stored(required: &SizingRequirements) -> Option<String> {
    let stored = required.account.as_ref()?.stored_bytes?;
    let room = required.capacity.get() as f64 * (1.0 - required.free);
    let gib = |bytes: f64| number::three(bytes / f64::from(1 << 30));
    (stored > room * 1.01).then(|| {
        format!(
            "Too small for the database: its reports state {} GiB of data, and the given capacity has room for {} GiB. \
             Without --capacity all data are sized; prices and limits below are those of the smaller capacity",
            gib(stored),
            gib(room)
        )
    })
}

/// Time below which an input says little about the load of a day, in seconds.
const SHORT_INPUT_S: f64 = 600.0;

/// Assumptions that determine the load, and a load that is known at a single time only.
pub(crate) fn assumed_load(demand: &SizingRequirements) -> Vec<String> {
    let mut texts: Vec<String> = demand.decisive_assumptions().map(super::sentence).collect();
    let Measured { windows, longest, .. } = demand.measured;
    let covered = longest.as_secs_f64() * windows as f64;
    if (windows == 1 || covered < SHORT_INPUT_S) && demand.account.is_none() {
        let of = if windows == 1 { "a single window of " } else { "at most " };
        texts.push(format!(
            "The load is that of {of}{}: other times may be busier, so provide windows of a busy week",
            length(covered)
        ));
    }
    texts
}

/// The reason why the measured load is below the demand, and the range that the sizing covers.
pub(crate) fn censored(required: &SizingRequirements) -> Option<String> {
    let censored = required.censored.as_ref()?;
    let reason = super::diagnosis::censored_reason(censored);
    let [low, high] = expected_range(required)?.map(number::rate);
    let covered = match (low == high, censored.up_to) {
        (true, _) => format!("sized for the measured rate as requested, {high} IOPS"),
        (false, Some(times)) => {
            format!("sized for {low} to {high} IOPS, up to {} times the measured rate", number::three(times))
        }
        (false, None) => {
            let times = number::three(Censored::ASSUMED);
            format!(
                "sized for {low} to {high} IOPS: {times} times the measured rate is a guess, as the input does not tell"
            )
        }
    };
    let of_machine = match censored.limit_owner() {
        Some(CapOwner::Machine) => "; a faster volume alone does not help, so the machine is sized for this load too",
        _ => "",
    };
    Some(format!("{reason}; {covered}{of_machine}"))
}

/// Operations per second with the measured rate and with the estimated one, with peaks and growth.
pub(crate) fn expected_range(required: &SizingRequirements) -> Option<[f64; 2]> {
    let high = required.points.first()?.iops();
    let step = required.steps.iter().find(|step| step.name == GrowthStep::WITHOUT_STALL);
    Some([step.map_or(high, |step| high / step.small), high])
}

/// The measured load: `1,230 IOPS and 45.6 MB/s, limits at which at most 1 % of the operations wait in 168 windows of up
/// to 60 min; the highest windows have 2,510 IOPS and 172 MB/s`.
pub(crate) fn measured(required: &SizingRequirements) -> String {
    let measured = &required.measured;
    let each = length(measured.longest.as_secs_f64());
    let rates = |iops: f64, bytes: f64| (number::rate(iops), offer::megabytes(bytes));
    let (iops, megabytes) = rates(measured.iops, measured.bytes_per_second);
    let windows = number::integer(measured.windows as f64);
    let over = match (measured.windows, measured.quantile) {
        (1, _) => return format!("{iops} IOPS and {megabytes} MB/s, in 1 window of {each}"),
        (_, Some(quantile)) => {
            format!("not exceeded in {} of {windows} windows of up to {each}", number::percent(quantile))
        }
        (_, None) => format!("limits at which {} in {windows} windows of up to {each}", allowed(&required.allowance)),
    };
    let (highest_iops, highest_megabytes) = rates(measured.highest_iops, measured.highest_bytes_per_second);
    format!(
        "{iops} IOPS and {megabytes} MB/s, {over}; the highest windows have {highest_iops} IOPS and {highest_megabytes} MB/s"
    )
}

/// `at most 1 % of the operations wait longer than 5 ms`.
fn allowed(allowance: &Allowance) -> String {
    let share = number::percent(allowance.share);
    if allowance.wait.is_zero() {
        format!("at most {share} of the operations wait")
    } else {
        format!("at most {share} of the operations wait longer than {}", allowance.wait)
    }
}

/// Effect of limits on the whole series: `0.4 % of the operations and 2 % of the bytes wait, up to 3.2 s; behind for 12
/// s`.
pub(crate) fn backlog(backlog: &Backlog) -> String {
    if backlog.behind.is_zero() {
        return "no window exceeds the limits".to_owned();
    }
    format!(
        "{} of the operations and {} of the bytes wait too long, up to {}; {} with a backlog in total",
        number::percent(backlog.operations),
        number::percent(backlog.bytes),
        length(backlog.longest_wait.as_secs_f64()),
        length(backlog.behind.as_secs_f64()),
    )
}

/// Response times of the present storage: `random reads 4 ms, redo 2 ms: choices are less than a fifth slower`.
pub(crate) fn today(required: &SizingRequirements) -> Option<String> {
    let means: Vec<String> = required.today.iter().map(|(class, mean)| format!("{} {mean}", class.name())).collect();
    let rule = if required.may_be_slower {
        "choices may be slower".to_owned()
    } else if required.account.is_some() {
        format!("choices add at most {} to the database's time", share(required.tolerance))
    } else {
        "choices are less than a fifth slower at the mean load".to_owned()
    };
    (!means.is_empty()).then(|| format!("{} on average: {rule}", means.join(", ")))
}

/// Change of the database's time: `12.3 % less`.
pub(crate) fn saved(effect: &DatabaseEffect) -> String {
    saved_share(effect.saved())
}

/// The waits of the class User I/O outside of its listed events, whose change follows a rule, and the effect without them.
pub(crate) fn other_user_io(effect: &DatabaseEffect) -> Option<String> {
    let part = effect.parts.iter().find(|part| part.rule == EffectRule::LikeReads)?;
    let without = effect.saved() - (part.before_s - part.after_s) / effect.before_s;
    let [before, after] = [part.before_s, part.after_s].map(number::three);
    Some(format!(
        "Other User I/O has no latency and is scaled like the other reads, {before} s to {after} s: if it stays, database time \
         is {}",
        saved_share(without)
    ))
}

/// Change of a time by a saved share: `12.3 % less`.
pub(crate) fn saved_share(part: f64) -> String {
    if part >= 0.0 { format!("{} less", share(part)) } else { format!("{} more", share(-part)) }
}

/// `redo 12 ms instead of 2 ms (6 times); database time 8.1 % more`.
pub(crate) fn slower(choice: &Choice) -> String {
    let time = choice.effect.as_ref().map(|effect| format!("database time {}", saved(effect)));
    let classes = Some(slower_classes(&choice.slower)).filter(|classes| !classes.is_empty());
    classes.into_iter().chain(time).collect::<Vec<_>>().join("; ")
}

/// `redo 12 ms instead of 2 ms (6 times); random reads 13.8 ms instead of 4 ms (3.45 times)`.
pub(crate) fn slower_classes(slower: &[Slower]) -> String {
    let one = |one: &Slower| {
        format!("{} {} instead of {} ({} times)", one.class.name(), one.then, one.today, number::three(one.times()))
    };
    slower.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Objectives of a demand: `redo p99 <= 1 ms, read p99 <= 5 ms`.
pub(crate) fn objectives(objectives: &[ClassObjective]) -> String {
    objectives.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Reached response times of objectives: `redo p99 0.8 ms, read p99 7 ms (missed)`.
pub(crate) fn reached(reached: &[Reached]) -> String {
    let one = |one: &Reached| {
        let missed = if one.is_met() { "" } else { " (missed)" };
        format!("{} {}{missed}", one.objective.bounded(), one.time)
    };
    reached.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Unverified figures of a choice, and machines without a price: `price, latency, few machine prices`.
pub(crate) fn doubts(choice: &Choice) -> String {
    let mut sorts: Vec<&str> = Vec::new();
    for one in choice.risks.iter().filter(|one| one.kind != RiskKind::Needs) {
        let sort = if one.kind == RiskKind::Price && choice.has_unverified_price() {
            "unverified price"
        } else {
            risk(one.kind)
        };
        if !sorts.contains(&sort) {
            sorts.push(sort);
        }
    }
    if choice.machine.as_ref().is_some_and(|machine| unpriced_machines(machine).is_some()) {
        sorts.push("few machine prices");
    }
    sorts.join(", ")
}

fn vcpus(count: f64) -> String {
    let unit = if count > 1.0 { "vCPUs" } else { "vCPU" };
    format!("{} {unit}", number::three(count))
}

/// Processors and memory that a machine needs: `at least 4 vCPUs and 32 GiB of memory`.
pub(crate) fn compute(compute: Compute) -> String {
    let (processors, memory) = compute.required();
    let unknown = match (compute.processors, compute.memory) {
        (Some(_), Some(_)) => "",
        (None, Some(_)) => {
            "; the input does not state its processors, and the least of a database is assumed: see --vcpus"
        }
        (Some(_), None) => {
            "; the input does not state its memory, and 2 GiB a vCPU are assumed, at least 8: see --memory"
        }
        (None, None) => ", the least of a database: the input states neither, see --vcpus and --memory",
    };
    format!("at least {} and {} of memory{unknown}", vcpus(processors), offer::capacity(memory))
}

/// Where the required processors and memory come from, in a sentence each.
pub(crate) fn compute_origin(origin: &ComputeOrigin) -> Vec<String> {
    let place = |one: &InstanceResource| {
        let instance =
            if one.instance.is_empty() { String::new() } else { format!("instance {}, ", clean(&one.instance)) };
        format!(
            "{instance}{}: {}",
            clean(one.place.input.rsplit('/').next().unwrap_or_default()),
            clean(&one.place.origin.to_string())
        )
    };
    let processors = origin.processors.as_ref().map(|origin| match origin {
        ProcessorOrigin::Given => "processors as given".to_owned(),
        ProcessorOrigin::Database(used) => {
            let (used_by, target) = match used.resource {
                Resource::PeakProcessors => ("in its busiest minute", ""),
                _ => ("on average in its busiest window of", ", for a utilisation of 70 %; shorter peaks are not in it"),
            };
            let window = length(used.window.as_secs_f64());
            let window = if target.is_empty() { String::new() } else { format!(" {window}") };
            // Sections of nmon: all programs of the host.
            let is_of_host = matches!(&*used.place.origin.field, "LPAR" | "CPU_ALL");
            let who = if is_of_host { "the host, with other programs," } else { "the database" };
            format!(
                "processors: {who} ran on {} {used_by}{window}{target} ({})",
                number::three(used.value),
                place(used)
            )
        }
        ProcessorOrigin::Busy(busy) => format!(
            "processors: {} of the present host were busy in the busiest window, with other programs (those of the database \
             are unknown), for a utilisation of 70 %",
            number::three(*busy)
        ),
        ProcessorOrigin::Uncapped { required, used } => uncapped_processors(*required, *used),
        ProcessorOrigin::Share(share) => format!(
            "processors: {} busy in the busiest hour, number unknown: give --vcpus ({})",
            super::diagnosis::share(share.value),
            place(share)
        ),
        ProcessorOrigin::Host(host) => format!(
            "processors: as many as the present host has, since their use is unknown ({})",
            place(host)
        ),
    });
    let memory = origin.memory.as_ref().map(|origin| match origin {
        MemoryOrigin::Given => "memory as given".to_owned(),
        MemoryOrigin::Database { parts, share } => {
            let part = |one: &InstanceResource| {
                let bytes = Bytes::new(one.value as u64);
                format!("{} of {} ({})", offer::capacity(bytes), memory_name(one.resource), place(one))
            };
            let parts: Vec<String> = parts.iter().map(part).collect();
            format!("memory: {}, at most {} of the machine's", parts.join(" and "), number::percent(*share))
        }
        MemoryOrigin::Host(host) => format!(
            "memory: that of the present host, since the memory that the database uses is unknown or includes the page cache ({})",
            place(host)
        ),
    });
    let peaks = origin.peaks.filter(|peaks| peaks.is_required).map(|peaks| {
        format!(
            "processors in peaks: {}, for {} times as many operations as in the busiest window, as given; no more than the \
             present host has, where that is known",
            number::three(peaks.processors),
            number::three(peaks.times)
        )
    });
    processors.into_iter().chain(peaks).chain(memory).collect()
}

fn uncapped_processors(required: f64, used: f64) -> String {
    format!(
        "processors: without the limit of the resource manager the sessions run on up to {} instead of {}; storage is sized for \
         the load without it as well, and --burst none for both with it",
        number::three(required),
        number::three(used)
    )
}

const fn memory_name(resource: Resource) -> &'static str {
    match resource {
        Resource::SharedBuffers => "shared buffers",
        Resource::ProcessMemory => "process memory",
        _ => "shared memory",
    }
}

/// Cost of today and the difference: `Today's configuration costs 1,565.10 USD a month: this one saves 612.40 USD (39 %)`.
pub(crate) fn saving(sizing: &Sizing) -> Option<String> {
    let present = sizing.present.as_ref()?;
    let names: Vec<String> = present.parts.iter().map(|(offer, _)| clean(&offer.short().to_string())).collect();
    let names = names.join(" and ");
    let Some(today) = present.monthly() else {
        let unpriced = present.unpriced();
        let why = if unpriced.is_empty() {
            "its prices have several currencies".to_owned()
        } else {
            format!(
                "no price of {} in the catalogue for these terms; --price states your own",
                clean(&unpriced.join(" and "))
            )
        };
        return Some(format!("The cost of today's configuration ({names}) is unknown: {why}"));
    };
    let scope = if present.has_machine() { "" } else { ", storage alone" };
    let head = format!("Today's configuration ({names}) costs {today} a month");
    Some(match sizing.saving() {
        None => {
            format!("{head}; the difference is unknown, as the recommendation has no complete price in that currency")
        }
        Some(saving) => {
            let amount = Money { millionths: saving.millionths.abs(), ..saving };
            let share = number::percent(saving.as_f64().abs() / today.as_f64());
            let change = if saving.millionths >= 0 { "saves" } else { "costs more by" };
            let machines = unequal_machines(sizing, present).unwrap_or_default();
            format!("{head}: the recommendation {change} {amount} a month{scope} ({share}){machines}")
        }
    })
}

/// `; today's machines have 16 vCPUs and 128 GiB, those of the recommendation 2 vCPUs and 16 GiB`, if they differ.
fn unequal_machines(sizing: &Sizing, present: &PresentCost) -> Option<String> {
    let (today, then) = (present.machines()?, sizing.best_machines()?);
    let displayed = |(processors, bytes): (f64, f64)| {
        format!("{} and {} GiB", vcpus(processors), number::three(bytes / f64::from(1 << 30)))
    };
    (today != then).then(|| {
        format!("; today's machines have {}, those of the recommendation {}", displayed(today), displayed(then))
    })
}

/// The option that accepts a slower choice: ` (--slower 3%)`.
pub(crate) fn accepted_by(required: &SizingRequirements, choice: &Choice) -> String {
    let percent = required.tolerance_for(choice).map(|share| (share * 100.0 * 1.001).ceil());
    let Some(percent) = percent else { return "--may-be-slower accepts it".to_owned() };
    let total = choice.effect.as_ref().map_or(0.0, |effect| -effect.saved() * 100.0);
    let by_class = if percent > total.ceil() + 0.5 { ": each class is bounded by itself, too" } else { "" };
    format!("--slower {percent}% accepts it{by_class}")
}

/// Processors of all machines, which Oracle licenses, and a machine with fewer of them: `16 vCPUs in 2 machines: ...`.
pub(crate) fn licences(machine: &Attachment, fewer: Option<&Attachment>) -> Option<String> {
    let of_one = |machine: &Attachment| machine.offer.machine_shape()?.vcpus;
    let all = |machine: &Attachment| Some(of_one(machine)? * f64::from(machine.count));
    let machines = if machine.count > 1 { format!(" in {} machines", machine.count) } else { String::new() };
    let mut text = format!("{}{machines}: {}", vcpus(all(machine)?), licence_rule(machine));
    if ProcessorLicences::of(machine).is_some() && of_one(machine)? > MAX_STANDARD_VCPUS {
        text += "; Standard Edition 2 is not allowed on more than 8 vCPUs";
    }
    let more_money = |fewer: &Attachment| {
        let millionths = fewer.monthly?.millionths - machine.monthly?.millionths;
        Some(Money { millionths, ..fewer.monthly? })
    };
    if let Some((fewer, more)) = fewer.and_then(|fewer| Some((fewer, more_money(fewer)?))) {
        let count = ProcessorLicences::of(fewer).map_or_else(String::new, |counted| {
            format!(" ({} or {} licences)", number::three(counted.of_threads), number::three(counted.of_cores))
        });
        text += &format!("; {} has {}{count} for {more} a month more", clean(&fewer.name()?), vcpus(all(fewer)?));
    }
    if [Some(machine), fewer].into_iter().flatten().any(has_constrained_cores) {
        text += "; of sizes with constrained cores, sources differ on whether all vCPUs or the active ones count: ask Oracle";
    }
    Some(text)
}

/// Maximum vCPUs of a machine with Standard Edition 2 on AWS, Azure and Google Cloud. Source: as [`ProcessorLicences::of`].
const MAX_STANDARD_VCPUS: f64 = 8.0;

/// How many licences the machines need, as far as a rule is known.
fn licence_rule(machine: &Attachment) -> String {
    if let Some(counted) = ProcessorLicences::of(machine) {
        return format!(
            "{} processor licences of Enterprise Edition if two vCPUs share a core, {} if each is a core, without a core factor \
             (Oracle's policy for AWS, Azure and Google Cloud, read at second hand, 2024-07; a contract may differ)",
            number::three(counted.of_threads),
            number::three(counted.of_cores)
        );
    }
    let is_oci = machine.offer.machine_shape().is_some_and(|own| own.name.starts_with("oci/"));
    let rule = if is_oci {
        "at OCI, licences are counted by OCPUs, and sources differ on how many one covers: ask Oracle"
    } else {
        "the vendor's rules for the platform state how many licences they need"
    };
    rule.to_owned()
}

/// True for sizes of Azure whose name has the active vCPUs behind those of the full size: `Standard_E16-4s_v5`.
fn has_constrained_cores(machine: &Attachment) -> bool {
    let name = machine.offer.machine_shape().map(|shape| shape.name);
    name.is_some_and(|name| name.starts_with("azure/") && name.contains('-'))
}

/// Processors and memory of a machine: `4 vCPUs, 32 GiB`.
pub(crate) fn shape(machine: &Attachment) -> String {
    let shape = machine.offer.machine_shape();
    let processors = shape.as_ref().and_then(|shape| shape.vcpus).map(vcpus);
    let memory = shape.and_then(|shape| shape.memory).map(|memory| memory.to_string());
    processors.into_iter().chain(memory).collect::<Vec<_>>().join(", ")
}

/// The machine of a choice: `aws/r6i.xlarge, 4 vCPUs, 32 GiB, 183.96 USD a month; IOPS of the instance: 6,000 IOPS
/// (25 % above the design point); 4 of 28 volumes; 12.5 Gbit/s network`.
pub(crate) fn machine(machine: &Attachment) -> String {
    let name = machine.name().unwrap_or_default();
    let price = machine.monthly.map_or_else(|| "price unknown".to_owned(), |monthly| format!("{monthly} a month"));
    let first = [clean(&name), shape(machine), price];
    let first: Vec<String> = first.into_iter().filter(|part| !part.is_empty()).collect();
    let mut parts = vec![first.join(", ")];
    parts.extend(machine.binds.as_ref().map(|binds| format!("{} ({})", limit(binds), margin(binds.over))));
    let max = machine.volumes_max.map(|max| format!("{} of {max} volumes", machine.volumes));
    parts.extend(max);
    parts.extend(machine.network_gbps.map(|gbps| format!("{} Gbit/s network", number::three(gbps))));
    parts.push(format!(
        "{} of {} known machines are x86-64 and have the required processors and memory and sufficient limits",
        machine.enough, machine.of
    ));
    parts.join("; ")
}

/// Caution that the figures of Exadata do not transfer to other storage.
pub(crate) fn exadata(exadata: &Exadata) -> String {
    let flash = exadata.flash.map_or_else(
        || ", and the reports do not count the reads that flash served (physical read requests optimized)".to_owned(),
        |share| {
            format!(
                ", and flash or memory of the cells served {} of the reads",
                number::percent((share * 1e3).round() / 1e3)
            )
        },
    );
    let scans = if exadata.smart_scans < 0.005 {
        "The reports list hardly any waits for smart scans, which does not exclude them".to_owned()
    } else {
        format!("Smart scans are {} of the time of reads", number::percent(exadata.smart_scans))
    };
    let cells = if exadata.offloaded_bytes_s > 0.0 {
        format!(
            "The reports are from Exadata, whose cells filter {} of scans on their processors: DB CPU does not count these, so the \
             vCPUs are a lower bound. ",
            number::throughput(exadata.offloaded_bytes_s)
        )
    } else {
        "The reports are from Exadata. ".to_owned()
    };
    format!(
        "{cells}Its cells filter scans and serve reads from flash: other storage has to deliver every \
         byte that the database reads, at the latency of flash, and this sizing assumes it. {scans}{flash}; tables in \
         Hybrid Columnar Compression need several times the capacity on other storage"
    )
}

/// Instances covered by the reports of a cluster, and missing reports.
pub(crate) fn cluster(cluster: &Cluster) -> String {
    let waits = number::percent(cluster.waits);
    let shared = "volumes that cannot be shared for writing are excluded";
    match cluster.instances.as_slice() {
        [] if cluster.covered > 1 => {
            format!(
                "The report is of {} instances of a cluster (RAC), each on a machine of its own; {shared}",
                cluster.covered
            )
        }
        [] if cluster.count == 1 => format!(
            "The report is of a single instance of a cluster (RAC) of unknown size: one machine is priced, and the other \
             instances load the same volumes, so add their reports of the same period; {shared}"
        ),
        [] => format!("The database is a cluster (RAC) of {} instances; {shared}", cluster.count),
        some if cluster.count > cluster.covered => format!(
            "The reports are from {} of {} instances of a cluster (RAC, {waits} of the database's time in cluster waits): the \
             others load the same volumes, so add their reports of the same period; {} machines are priced; {shared}",
            some.len(),
            cluster.count,
            cluster.count
        ),
        [only] => format!(
            "The reports are from a single instance of a cluster ({}; RAC, {waits} of the database's time in cluster waits): one \
             machine is priced, and the other instances load the same volumes, so add their reports of the same period; {shared}",
            clean(only)
        ),
        several => format!(
            "The reports are from {} instances of a cluster (RAC): add those of any others; {shared}",
            several.len()
        ),
    }
}

/// Volumes of a layout: `data on aws/gp3:1000GiB, redo on aws/io2:16GiB,iops=3000`.
pub(crate) fn layout(layout: &VolumeLayout) -> String {
    let part = |part: &plimsoll_choose::sizing::VolumePart| {
        format!("{} on {}", part.content.name(), offer::configuration(&part.choice.offer))
    };
    layout.parts.iter().map(part).collect::<Vec<_>>().join(", ")
}

/// A configuration compared with a cheaper one: `+14 %: 3.4 times faster`.
pub(crate) fn against(point: &DesignPoint, cheaper: &Choice, choice: &Choice) -> String {
    let monthly = |choice: &Choice| choice.total().map(Money::as_f64);
    let waiting = |choice: &Choice| choice.waiting(point).unwrap_or_default();
    let more = monthly(choice).zip(monthly(cheaper)).map(|(own, other)| own / other - 1.0);
    let more = match more {
        None => "at an unknown price".to_owned(),
        Some(more) if more < 1.0 => format!("{:+.0} %", more * 100.0),
        Some(more) => format!("x {}", number::three(more + 1.0)),
    };
    format!("{more}: {} times faster", number::three(waiting(cheaper) / waiting(choice)))
}

/// Prices of a choice: `95.20 USD a month, 279.16 USD with aws/r6i.xlarge (unverified price)`.
pub(crate) fn price(choice: &Choice) -> String {
    let monthly =
        choice.price.as_ref().map_or_else(|| "unknown price".to_owned(), |price| format!("{} a month", price.monthly));
    let machine = choice.machine.as_ref().map(|machine| {
        let name = clean(&machine.name().unwrap_or_default());
        match choice.total() {
            Some(total) => format!(", {total} with {name}{}", machine_price_origin(machine)),
            None => format!(", without the price of {name}"),
        }
    });
    let is_attached = matches!(choice.offer.product().kind(), ProductKind::Array | ProductKind::Drive);
    let host = if is_attached && choice.machine.is_none() { ", without hosts" } else { "" };
    let own = choice.price.as_ref().map_or_else(String::new, own_price);
    let doubt = if choice.has_unverified_price() { " (unverified price)" } else { "" };
    format!("{monthly}{own}{}{host}{doubt}", machine.unwrap_or_default())
}

/// Parts of the price of a choice: `storage 95.20 USD (unverified), machine 183.96 USD`.
pub(crate) fn price_parts(choice: &Choice) -> String {
    let doubt = if choice.has_unverified_price() { " (unverified)" } else { "" };
    // The price of a volume on a given machine has the machine's.
    let volumes = if choice.offer.config.machine.is_some() { "storage and machine" } else { "storage" };
    let storage = choice.price.as_ref().map(|price| format!("{volumes} {}{}{doubt}", price.monthly, own_price(price)));
    let attached = choice
        .machine
        .as_ref()
        .and_then(|machine| Some(format!("machine {}{}", machine.monthly?, machine_price_origin(machine))));
    storage.into_iter().chain(attached).collect::<Vec<_>>().join(", ")
}

/// The origin of a price that the user stated: ` (your price, taken as USD)`.
fn own_price(price: &Price) -> String {
    match price.cite.status {
        Status::Own if price.cite.note.is_empty() => " (your price)".to_owned(),
        Status::Own => format!(" (your price, {})", price.cite.note),
        _ => String::new(),
    }
}

/// The origin of a machine's price that is not the one of the commitment, or the user's own.
pub(crate) fn machine_price_origin(machine: &Attachment) -> String {
    let Some(price) = &machine.price else { return String::new() };
    if price.uncommitted.is_empty() {
        own_price(price)
    } else {
        format!(" (on demand, as no price for {} is known)", price.commitment)
    }
}

/// Processors that are not comparable, and the byte order of the data files.
pub(crate) fn foreign_platform(platform: &ForeignPlatform) -> String {
    let bytes = if platform.is_big_endian {
        "; its byte order differs, so data files are converted (transportable tablespaces, Data Pump)"
    } else {
        ""
    };
    format!(
        "The database runs on {}: its processors are not comparable with vCPUs, which are counted one to one: state --vcpus \
         from a benchmark{bytes}",
        clean(&platform.name)
    )
}

/// The origin of a machine's memory where it is not the memory that the database uses.
pub(crate) fn memory_not_of_database(demand: &SizingRequirements) -> Option<String> {
    match &demand.compute_origin.memory {
        Some(MemoryOrigin::Host(host)) => Some(format!(
            "The memory of the machine, {}, is that of the present host, as its use is unknown or includes the page cache: \
             --memory states it",
            offer::capacity(Bytes::new(host.value as u64))
        )),
        None => Some(format!(
            "The memory of the machine is assumed, {}, as the input does not state any: --memory states it",
            offer::capacity(demand.compute.required().1)
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
        return Some(format!(
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
    if let Some(peaks) = origin.peaks.filter(|peaks| !peaks.is_required && peaks.processors > required) {
        return Some(format!(
            "Peaks of {} times the operations are expected, those of processors are unknown and not required: with as many more \
             they would be {} instead of {}; --burst {} or --vcpus requires them",
            number::three(peaks.times),
            vcpus(peaks.processors),
            vcpus(required),
            number::three(peaks.times)
        ));
    }
    let Some(ProcessorOrigin::Database(used)) = &origin.processors else { return None };
    let seconds = used.window.as_secs_f64();
    (used.resource != Resource::PeakProcessors && seconds > LONG_S).then(|| {
        format!(
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
        None | Some(ProcessorOrigin::Share(_)) => format!(
            "The host's processors are {busy} busy, and the input does not state their number: a machine of {} is only the \
             least of a database, so state --vcpus",
            vcpus(demand.compute.required().0)
        ),
        _ => format!(
            "The host's processors are {busy} busy, so work may wait for them: {} are a lower bound; --vcpus requires more",
            vcpus(required)
        ),
    })
}

/// Most of the suitable machines have no price, so that the cheapest is unknown.
pub(crate) fn unpriced_machines(machine: &Attachment) -> Option<String> {
    let Attachment { unpriced, enough, .. } = machine;
    (*unpriced * 2 > *enough).then(|| {
        format!(
            "{unpriced} of {enough} suitable machines have no price for these terms, and a cheaper one may be among them: \
             plimsoll prices import reads the provider's list"
        )
    })
}

/// What the response times of the recommended configuration assume of the memory of an array.
pub(crate) fn hit_assumption(hits: &HitAssumption) -> String {
    let HitAssumption { share, product, .. } = hits;
    let share = number::percent(*share);
    let with = hits.mean.map_or_else(String::new, |mean| format!(": {mean} for a read"));
    let without = match (&hits.without, hits.mean_without()) {
        (Err(reason), _) => format!("without hits it does not carry the load: {}", why(reason)),
        (Ok(_), mean) => {
            let mean = mean.map_or_else(String::new, |mean| format!(" {mean}, with which"));
            let is_suitable = if hits.is_suitable { "it is suitable as well" } else { "it would not be suitable" };
            format!("without hits{mean} {is_suitable}")
        }
    };
    format!(
        "Assumed: {share} of the reads hit the memory of the controllers{with}; {without}. --provider {product}:hits=0.5 \
         states the share"
    )
}

/// The part of a choice without a price: `aws/r6i.xlarge has no price in the catalogue for these terms`.
pub(crate) fn missing_price(choice: &Choice) -> String {
    let machine = choice.machine.as_ref().filter(|machine| machine.monthly.is_none()).and_then(Attachment::name);
    let without = choice.price.iter().flat_map(|price| &price.without).cloned();
    let part = without.chain(machine).next().filter(|_| choice.price.is_some());
    let part = part.map_or_else(|| "it".to_owned(), |name| clean(&name));
    format!("{part} has no price in the catalogue for these terms")
}

/// More memory instead of faster storage.
pub(crate) fn memory_first(first: &MemoryFirst) -> String {
    let gib = |bytes: f64| number::three(bytes / f64::from(1 << 30));
    let [before, after] = first.waiting;
    let saved =
        first.saved.map_or_else(String::new, |saved| format!(" and saves {} of the database's time", share(saved)));
    let by = match first.by {
        EstimateSource::Database => "the database's own estimate",
        EstimateSource::Trace => "computed from the trace",
        EstimateSource::AllData => "all data in memory",
    };
    let machine = first.choice.machine.as_ref().and_then(Attachment::name).map(|machine| clean(&machine));
    if first.is_paid {
        return format!(
            "{} GiB instead of {} GiB fit in the memory of {}; {} of the reads remain ({by}), which saves a further {} of the \
             database's time",
            gib(first.bytes),
            gib(first.bytes - first.more_bytes),
            machine.unwrap_or_else(|| "the machine".to_owned()),
            number::percent(first.reads),
            share(first.saved.unwrap_or_default()),
        );
    }
    let more = first.total.millionths - first.present.millionths;
    let money = Money { millionths: more.abs(), ..first.total };
    let sign = if more < 0 { "less" } else { "more" };
    let storage = first.storage.as_ref().map_or_else(
        || "no storage of the provider leaves as few sessions waiting".to_owned(),
        |(choice, total)| {
            format!("storage with as few waiting sessions, {}, costs {total}", offer::configuration(&choice.offer))
        },
    );
    let machine = machine.map_or_else(String::new, |machine| format!(" on {machine}"));
    format!(
        "a cache of {} GiB, {} GiB more, leaves {} of the reads ({by}), reduces waiting sessions from {} to \
         {}{saved}: {}{machine} for {} a month with the machine, {money} {sign} than the cheapest choice with the \
         present cache; {storage}",
        gib(first.bytes),
        gib(first.more_bytes),
        number::percent(first.reads),
        number::three(before),
        number::three(after),
        offer::configuration(&first.choice.offer),
        first.total,
    )
}

/// Probability of data loss in a year: `0.8 %`.
pub(crate) fn loss(share: f64) -> String {
    if share < 1e-5 { "< 0.001 %".to_owned() } else { format!("{} %", number::three(share * 100.0)) }
}

/// `x 3.13 for small operations, x 6.09 for those of 64 KiB and more, x 1 for scans ... (measured range: 1.43 to 7.45):
/// ...`.
pub(crate) fn step(step: &GrowthStep) -> String {
    let (small, large, scans) = (number::three(step.small), number::three(step.large), number::three(step.scans));
    let times = if small == large && large == scans {
        format!("x {small}")
    } else if large == scans {
        format!("x {small} for small operations, x {large} for those of 64 KiB and more")
    } else {
        format!(
            "x {small} for small operations, x {large} for those of 64 KiB and more, x {scans} for scans, sorts and backups, \
             which take longer in peaks instead (--burst N applies to all)"
        )
    };
    let spread = step.spread.map_or_else(String::new, |(low, high)| {
        format!(" (measured range: {} to {})", number::three(low), number::three(high))
    });
    format!("{times}{spread}: {}", clean(&step.source))
}

/// `4,800 IOPS, 130 MB/s: 60 % random reads of 8 KiB, 20 % data writes of 8 KiB`.
pub(crate) fn point(point: &DesignPoint) -> String {
    let iops = point.iops();
    let class = |load: &plimsoll_choose::sizing::ClassLoad| {
        let size = Bytes::new((load.size() + 0.5) as u64);
        format!("{} {} of {size}", number::percent(load.iops / iops), load.class.name())
    };
    let (displayed, few): (Vec<_>, Vec<_>) = point.classes.iter().partition(|load| load.iops >= iops * WORTH);
    let mut classes: Vec<String> = displayed.into_iter().map(class).collect();
    if !few.is_empty() {
        classes.push(format!("few {}", few.iter().map(|load| load.class.name()).collect::<Vec<_>>().join(" and ")));
    }
    let moved = offer::megabytes(point.bytes_per_second());
    format!("{} IOPS, {moved} MB/s: {}", number::rate(iops), classes.join(", "))
}

/// Selection criterion of a point's windows.
pub(crate) const fn busiest(of: Busiest) -> &'static str {
    match of {
        Busiest::Operations => "the most operations",
        Busiest::Bytes => "the most bytes",
    }
}

/// A limit and its value for this load: `IOPS as provisioned: 12,000 IOPS`.
pub(crate) fn limit(limit: &DesignLimit) -> String {
    format!("{}: {}", clean(&limit.name), limit_rate(limit))
}

/// The rate of a limit: `12,000 IOPS`.
pub(super) fn limit_rate(limit: &DesignLimit) -> String {
    match limit.counts {
        Counts::Operations => format!("{} IOPS", number::rate(limit.iops)),
        Counts::Bytes => format!("{} MB/s", offer::megabytes(limit.bytes_per_second)),
    }
}

/// The rate of a limit, and its distance from the design point.
pub(crate) fn limit_rate_and_room(limit: &DesignLimit) -> String {
    format!("{} ({})", limit_rate(limit), margin(limit.over))
}

/// Margin of a limit above the design point: `+40 %`, or `x 2.5` from 2 on.
pub(crate) fn room(over: f64) -> String {
    // Rounding may leave a limit that was chosen as just sufficient slightly below.
    match over {
        times if times >= 2.0 => format!("x {}", number::three(times)),
        times => format!("{:+.0} %", (times - 1.0) * 100.0 + 0.0),
    }
    .replace("-0 %", "+0 %")
}

/// The margin as a phrase: `40 % above the design point`, `2.5 times the design point`.
pub(crate) fn margin(over: f64) -> String {
    if over >= 2.0 {
        format!("{} times the design point", number::three(over))
    } else {
        format!("{} above the design point", room(over).trim_start_matches('+'))
    }
}

/// The reason for a rejection.
pub(crate) fn why(why: &RejectionReason) -> String {
    match why {
        RejectionReason::Ceiling(ceiling) => {
            format!("{}, {} of the requirement", limit(ceiling), number::percent(ceiling.over))
        }
        RejectionReason::Waits(waits) => format!("replayed, {}", backlog(waits)),
        RejectionReason::Sustains { iops, required, held_by } => {
            let (iops, required) = (number::rate(*iops), number::rate(*required));
            format!("it sustains {iops} of {required} IOPS (modelled), limited by {}", clean(held_by))
        }
        RejectionReason::NoMachine { of, nearest } => {
            let near = |(name, ceiling): &(String, DesignLimit)| {
                format!(
                    "; nearest: {}: {}, {} of the design point",
                    clean(name),
                    limit(ceiling),
                    number::percent(ceiling.over)
                )
            };
            let near = nearest.as_ref().map_or_else(String::new, near);
            format!(
                "no known machine of its provider has the required processors and memory and sufficient limits (of {of})\
                 {near}"
            )
        }
        RejectionReason::Refused(text) => clean(text),
    }
}

/// Kind of a doubt as a word.
pub(crate) const fn risk(sort: RiskKind) -> &'static str {
    match sort {
        RiskKind::Ceiling => "ceiling",
        RiskKind::Latency => "latency",
        RiskKind::Price => "price",
        RiskKind::Needs => "needs",
        RiskKind::Safety => "safety",
    }
}

/// What each managed database leaves to the user, and what the other choices beside it do; none without one.
pub(crate) fn notes_on_managed(choices: &[Choice]) -> Vec<String> {
    let (managed, own): (Vec<&Choice>, Vec<&Choice>) =
        choices.iter().partition(|choice| choice.offer.product().managed().is_some());
    let mut notes: Vec<String> = Vec::new();
    for product in managed.iter().map(|choice| choice.offer.product()) {
        let of_service = product.managed().map(|service| {
            let (name, engines) = (product.name(), service.engine_titles());
            format!("{name} is managed ({engines}): {}. It leaves to you {}", service.provides, service.leaves)
        });
        notes.extend(of_service);
    }
    let beside = "the other choices are storage for a database of your own: they also leave to you the machine, its \
                  operating system, installation and patches, backups, restores and failover";
    notes.extend((!managed.is_empty() && !own.is_empty()).then(|| beside.to_owned()));
    notes
}

/// First limit of a choice.
pub(crate) fn first_limit(choice: &Choice) -> String {
    let bound = |binds: &DesignLimit| format!("first limit: {} ({})", limit(binds), margin(binds.over));
    choice.binds.as_ref().map_or_else(|| "the catalogue has no limits for it".to_owned(), bound)
}

/// First limit of a choice and the next.
pub(crate) fn reason(choice: &Choice) -> String {
    let next = choice
        .next
        .as_ref()
        .map_or_else(String::new, |next| format!("; next: {} ({})", limit(next), margin(next.over)));
    format!("{}{next}", first_limit(choice))
}

//! The load to size for: measured, expected, and what it is assumed from.

use plimsoll_choose::diagnosis::{CensorCause, Censored, DiagnosisVerdict, HostLimit};
use plimsoll_choose::sizing::{
    Allowance, Backlog, Busiest, ClassObjective, Cluster, DemandWindow, DesignPoint, Exadata, GrowthStep, Measured,
    ScaleKind, ScaledPart, SizingRequirements, StepKind,
};
use plimsoll_ingest::{CapOwner, Measure};
use plimsoll_language::{join_sentences, label, say};
use plimsoll_units::Bytes;

use super::assumption::{assumption, step_source};
use crate::number;
use crate::words::{clean, offer, sentence};

/// Classes with a lower share of the operations are named without figures.
const WORTH: f64 = 0.005;

/// Length of windows: `45 s`, `60 min`.
pub(crate) fn length(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{} s", number::three(s)),
        s if s < 172_800.0 => format!("{} min", number::three(s / 60.0)),
        s => say!("{} days", number::three(s / 86_400.0)),
    }
}

/// Whether storage is the problem, with the remedy.
pub(crate) fn answer(required: &SizingRequirements) -> Option<String> {
    let verdict = required.answer.as_ref()?;
    let text = crate::words::diagnosis::verdict_text(verdict);
    Some(match verdict {
        // Their remedies are commands that precede this one.
        DiagnosisVerdict::Storage { .. } | DiagnosisVerdict::StorageAtLeast { .. } => text.text,
        _ => join_sentences([text.text, text.remedy]),
    })
}

/// What helps a database whose storage is not the problem.
pub(crate) fn other_remedy(required: &SizingRequirements) -> Option<String> {
    let verdict = required.answer.as_ref().filter(|verdict| matches!(verdict, DiagnosisVerdict::NotStorage { .. }))?;
    Some(crate::words::diagnosis::verdict_text(verdict).remedy.trim_end_matches(['.', '。']).to_owned())
}

/// The result of the diagnosis in a clause if storage is not the problem: `Storage is not the problem (0.4 % of database time)`.
pub(crate) fn other_problem(required: &SizingRequirements) -> Option<String> {
    use crate::words::diagnosis::share;
    Some(match required.answer.as_ref()? {
        DiagnosisVerdict::NotStorage { share: part, .. } => {
            say!("Storage is not the problem ({} of database time)", share(*part))
        }
        DiagnosisVerdict::Host { limit: HostLimit::Processors | HostLimit::Neither, evidence } => {
            let devices = evidence.devices_busy.map(|busy| say!("the busiest device {}", share(busy)));
            let busy = say!("processors busy {}", share(evidence.busy));
            let load = std::iter::once(busy).chain(devices).collect::<Vec<_>>().join(label!(", "));
            say!("Storage is not the problem ({load})")
        }
        DiagnosisVerdict::Quiet { active } => {
            say!("The database is nearly idle ({} active sessions)", number::three(*active))
        }
        _ => return None,
    })
}

/// Windows in which storage does not answer, or is at its limit.
pub(crate) fn incomplete_windows(required: &SizingRequirements) -> Option<String> {
    let verdict = required.incomplete.as_ref()?;
    let windows = crate::words::diagnosis::verdict_text(verdict).text;
    Some(match verdict {
        DiagnosisVerdict::AtItsLimit { .. } => {
            say!("{windows} The demand of the busiest windows may be higher than their rate, which is sized for")
        }
        _ => say!("{windows} The demand of these windows is unknown: the rates are those of the others"),
    })
}

/// A single window that decides, as its rate is a multiple of that of every other, or as the others are nearly idle.
pub(crate) fn lone_window(required: &SizingRequirements) -> Option<String> {
    /// With fewer windows, each is a notable part of the time.
    const MIN_WINDOWS: usize = 20;
    const MIN_TIMES: f64 = 3.0;
    /// Above it, the others are no load to size for.
    const MAX_TIMES: f64 = 100.0;
    let rate = |window: &DemandWindow| window.classes.iter().map(|class| class.iops).sum::<f64>();
    let mut rates: Vec<f64> = required.series.iter().map(rate).collect();
    rates.sort_by(f64::total_cmp);
    let [.., next, highest] = rates[..] else { return None };
    let is_alone = rates.len() >= MIN_WINDOWS && highest >= MIN_TIMES * next && required.measured.iops > next;
    is_alone.then(|| {
        let windows = rates.len() as f64;
        let percentile = (1_000.0 * (windows - 1.0) / windows).floor() / 10.0;
        let [rate, others] = [highest, next].map(number::three);
        let windows = number::integer(windows);
        if highest > MAX_TIMES * next {
            return say!(
                "A single one of {windows} windows decides: {rate} IOPS, and the others are nearly idle (at most {others} IOPS): \
                 provide more windows under load"
            );
        }
        say!(
            "A single one of {windows} windows decides: {rate} IOPS, and at most {others} in the others; --percentile \
             {percentile} leaves it out"
        )
    })
}

/// A capacity below the size of the database that its reports state.
pub(crate) fn smaller_than_stored(required: &SizingRequirements) -> Option<String> {
    let stored = required.account.as_ref()?.stored_bytes?;
    let room = required.capacity.get() as f64 * (1.0 - required.free);
    let gib = |bytes: f64| number::three(bytes / f64::from(1 << 30));
    (stored > room * 1.01).then(|| {
        say!(
            "Too small for the database: its reports state {} GiB of data, and the given capacity has room for {} GiB; without \
             --capacity all are sized",
            gib(stored),
            gib(room)
        )
    })
}

/// The meaning of a decimal capacity, before growth and free space.
pub(crate) fn decimal_capacity(required: &SizingRequirements) -> Option<String> {
    let growth = required.steps.iter().filter(|step| matches!(step.kind, StepKind::Growth(_)));
    let times: f64 = growth.map(|step| step.small).product();
    let given = required.capacity.get() as f64 * (1.0 - required.free) / times;
    // The capacity is rounded up to bytes.
    Some(sentence(&offer::decimal_capacity(Bytes::new((given + 0.01) as u64))?))
}

/// Time below which an input says little about the load of a day, in seconds.
const SHORT_INPUT_S: f64 = 600.0;

/// Assumptions that determine the load, and a load that is known at a single time only.
pub(crate) fn assumed_load(demand: &SizingRequirements) -> Vec<String> {
    let mut texts: Vec<String> = demand.decisive_assumptions().map(|own| sentence(&assumption(own))).collect();
    let Measured { windows, longest, .. } = demand.measured;
    let covered = longest.as_secs_f64() * windows as f64;
    if (windows == 1 || covered < SHORT_INPUT_S) && demand.account.is_none() {
        let of = if windows == 1 { label!("a single window of ") } else { label!("at most ") };
        texts.push(say!(
            "The load is that of {of}{}: other times may be busier, so provide windows of a busy week",
            length(covered)
        ));
    }
    texts
}

/// The reason why the measured load is below the demand, and the range that the sizing covers.
pub(crate) fn explain_censoring(required: &SizingRequirements) -> Option<String> {
    let censored = required.censored.as_ref()?;
    let reason = crate::words::diagnosis::censored_reason(&at_measured_rate(censored, &required.measured));
    let [low, high] = expected_range(required)?.map(number::rate);
    let covered = match (low == high, censored.up_to) {
        (true, _) => say!("sized for the measured rate, {high} IOPS with peaks"),
        (false, Some(times)) => {
            say!("sized for {low} to {high} IOPS, up to {} times the measured rate", number::three(times))
        }
        (false, None) => {
            let times = number::three(Censored::ASSUMED);
            say!(
                "sized for {low} to {high} IOPS: {times} times the measured rate is a guess, as the input does not tell"
            )
        }
    };
    let of_machine = match censored.limit_owner() {
        Some(CapOwner::Machine) => {
            label!("; a faster volume alone does not help, so the machine is sized for this load too")
        }
        _ => "",
    };
    Some(say!("{reason}; {covered}{of_machine}"))
}

/// The same cause, with the measured rate of the sizing as that of the limit where both are the same but for the windows
/// that they are means of.
fn at_measured_rate(censored: &Censored, measured: &Measured) -> Censored {
    /// Larger relative differences are other rates.
    const MAX_DIFFERENCE: f64 = 0.05;
    let mut censored = censored.clone();
    if let CensorCause::Pinned { measure, value, .. } | CensorCause::Saturated { measure, value, .. } =
        &mut censored.cause
    {
        let rate = if *measure == Measure::Throughput { measured.bytes_per_second } else { measured.iops };
        if (rate / *value - 1.0).abs() <= MAX_DIFFERENCE {
            *value = rate;
        }
    }
    censored
}

/// The measured rate as a sentence without full stop, if a limit held the load in all windows.
pub(crate) fn lower_bound(required: &SizingRequirements) -> Option<String> {
    let censored = required.censored.as_ref().filter(|censored| censored.is_lower_bound())?;
    let rate = number::rate(required.measured.iops);
    Some(if censored.is_possible_only() {
        say!("At least {rate} IOPS needed, as a limit may have held the load")
    } else {
        say!("At least {rate} IOPS needed, as a limit held the load")
    })
}

/// Operations per second with the measured rate and with the estimated one, with peaks and growth.
pub(crate) fn expected_range(required: &SizingRequirements) -> Option<[f64; 2]> {
    let high = required.points.first()?.iops();
    let step = required.steps.iter().find(|step| matches!(step.kind, StepKind::WithoutStall { .. }));
    Some([step.map_or(high, |step| high / step.small), high])
}

/// The measured load: `1,230 IOPS and 45.6 MB/s, limits at which at most 1 % of the operations wait in 168 windows of up
/// to 60 min; the highest windows have 2,510 IOPS and 172 MB/s`.
pub(crate) fn describe_measured_load(required: &SizingRequirements) -> String {
    let measured = &required.measured;
    let each = length(measured.longest.as_secs_f64());
    let rates = |iops: f64, bytes: f64| (number::rate(iops), offer::megabytes(bytes));
    let (iops, megabytes) = rates(measured.iops, measured.bytes_per_second);
    let windows = number::integer(measured.windows as f64);
    let over = match (measured.windows, measured.quantile) {
        (1, _) => return say!("{iops} IOPS and {megabytes} MB/s, in 1 window of {each}"),
        (_, Some(quantile)) => {
            say!("not exceeded in {} of the time, {windows} windows of up to {each}", number::percent(quantile))
        }
        (_, None) => say!("limits at which {} in {windows} windows of up to {each}", allowed(&required.allowance)),
    };
    let (highest_iops, highest_megabytes) = rates(measured.highest_iops, measured.highest_bytes_per_second);
    say!(
        "{iops} IOPS and {megabytes} MB/s, {over}; the highest windows have {highest_iops} IOPS and {highest_megabytes} MB/s"
    )
}

/// `at most 1 % of the operations wait longer than 5 ms`.
fn allowed(allowance: &Allowance) -> String {
    let share = number::percent(allowance.share);
    if allowance.wait.is_zero() {
        say!("at most {share} of the operations wait")
    } else {
        say!("at most {share} of the operations wait longer than {}", allowance.wait)
    }
}

/// Effect of limits on the whole series: `0.4 % of the operations and 2 % of the bytes wait, up to 3.2 s; behind for 12
/// s`.
pub(crate) fn backlog(backlog: &Backlog) -> String {
    if backlog.behind.is_zero() {
        return label!("no window exceeds the limits").to_owned();
    }
    say!(
        "{} of the operations and {} of the bytes wait too long, up to {}; {} with a backlog in total",
        number::percent(backlog.operations),
        number::percent(backlog.bytes),
        length(backlog.longest_wait.as_secs_f64()),
        length(backlog.behind.as_secs_f64()),
    )
}

/// Objectives of a demand: `redo p99 <= 1 ms, read p99 <= 5 ms`.
pub(crate) fn objectives(objectives: &[ClassObjective]) -> String {
    objectives.iter().map(ToString::to_string).collect::<Vec<_>>().join(label!(", "))
}

/// Caution that the figures of Exadata do not transfer to other storage.
pub(crate) fn exadata(exadata: &Exadata) -> String {
    let flash = exadata.flash.map_or_else(
        || {
            label!(", and the reports do not count the reads that flash served (physical read requests optimized)")
                .to_owned()
        },
        |share| {
            say!(
                ", and flash or memory of the cells served {} of the reads",
                number::percent((share * 1e3).round() / 1e3)
            )
        },
    );
    let scans = if exadata.smart_scans < 0.005 {
        label!("The reports list hardly any waits for smart scans, which does not exclude them").to_owned()
    } else {
        say!("Smart scans are {} of the time of reads", number::percent(exadata.smart_scans))
    };
    let cells = match exadata.filtered_bytes_s {
        Some(rate) => say!(
            "The reports are from Exadata, whose cells filter {} of scans on average on processors of their own, which DB CPU \
             does not count: on other storage the database filters them. ",
            number::throughput(rate)
        ),
        None => label!(
            "The reports are from Exadata and do not count the bytes that its cells filter: the processors that filter \
                 them on other storage are unknown and not included. "
        )
        .to_owned(),
    };
    say!(
        "{cells}Its cells filter scans and serve reads from flash: other storage has to deliver every \
         byte that the database reads, at the latency of flash, and this sizing assumes it. {scans}{flash}; tables in \
         Hybrid Columnar Compression need several times the capacity on other storage, and \
         processors to decompress what cells decompress today"
    )
}

/// Instances covered by the reports of a cluster, and missing reports.
pub(crate) fn cluster(cluster: &Cluster) -> String {
    let waits = number::percent(cluster.waits);
    let shared = label!("volumes that cannot be shared for writing are excluded");
    match cluster.instances.as_slice() {
        [] if cluster.covered > 1 => {
            say!(
                "The report is of {} instances of a cluster (RAC), each on a machine of its own; {shared}",
                cluster.covered
            )
        }
        [] if cluster.count == 1 => say!(
            "The report is of a single instance of a cluster (RAC) of unknown size: one machine is priced, and the other \
             instances load the same volumes, so add their reports of the same period; {shared}"
        ),
        [] => say!("The database is a cluster (RAC) of {} instances; {shared}", cluster.count),
        some if cluster.count > cluster.covered => say!(
            "The reports are from {} of {} instances of a cluster (RAC, {waits} of the database's time in cluster waits): the \
             others load the same volumes, so add their reports of the same period; {} machines are priced; {shared}",
            some.len(),
            cluster.count,
            cluster.count
        ),
        [only] => say!(
            "The reports are from a single instance of a cluster ({}; RAC, {waits} of the database's time in cluster waits): one \
             machine is priced, and the other instances load the same volumes, so add their reports of the same period; {shared}",
            clean(only)
        ),
        several => say!(
            "The reports are from {} instances of a cluster (RAC): add those of any others; {shared}",
            several.len()
        ),
    }
}

/// `x 3.13 for small operations, x 6.09 for those of 64 KiB and more, x 1 for scans ... (measured range: 1.43 to 7.45):
/// ...`.
pub(crate) fn describe_growth_step(step: &GrowthStep) -> String {
    let (small, large, scans) = (number::three(step.small), number::three(step.large), number::three(step.scans));
    let times = if small == large && large == scans {
        say!("x {small}")
    } else if large == scans {
        say!("x {small} for small operations, x {large} for those of 64 KiB and more")
    } else {
        say!(
            "x {small} for small operations, x {large} for those of 64 KiB and more, x {scans} for scans, sorts and backups, \
             which take longer in peaks instead (--burst N applies to all)"
        )
    };
    let spread = step.spread.map_or_else(String::new, |(low, high)| {
        say!(" (measured range: {} to {})", number::three(low), number::three(high))
    });
    format!("{times}{spread}: {}", step_source(step.kind))
}

/// `4,800 IOPS, 130 MB/s: 60 % random reads of 8 KiB, 20 % data writes of 8 KiB`.
pub(crate) fn point(point: &DesignPoint) -> String {
    let iops = point.iops();
    let class = |load: &plimsoll_choose::sizing::ClassLoad| {
        let size = Bytes::new((load.size() + 0.5) as u64);
        say!("{} {} of {size}", number::percent(load.iops / iops), load.class.label())
    };
    let (displayed, few): (Vec<_>, Vec<_>) = point.classes.iter().partition(|load| load.iops >= iops * WORTH);
    let mut classes: Vec<String> = displayed.into_iter().map(class).collect();
    if !few.is_empty() {
        classes
            .push(say!("few {}", few.iter().map(|load| load.class.label()).collect::<Vec<_>>().join(label!(" and "))));
    }
    let moved = offer::megabytes(point.bytes_per_second());
    say!("{} IOPS, {moved} MB/s: {}", number::rate(iops), classes.join(label!(", ")))
}

/// The measured rate of a point with the factors that lead to the expected one: `measured 8,240 IOPS: 8,200 times 3.13
/// (peaks), 40 of scans taken once`.
pub(crate) fn measured_by_factor(demand: &SizingRequirements, expected: &DesignPoint) -> String {
    let (rate, unit, format): (_, _, fn(f64) -> String) = match expected.of {
        Busiest::Operations if lower_bound(demand).is_some() => (demand.measured.iops, "IOPS", number::rate),
        Busiest::Operations => (demand.measured.iops, "IOPS", number::three),
        Busiest::Bytes => (demand.measured.bytes_per_second, "MB/s", offer::megabytes),
    };
    let measured = say!("measured {} {unit}", format(rate));
    let parts = demand.scaled_parts(expected);
    if let [only] = &parts[..] {
        return if is_once(only) { measured } else { format!("{measured} {}", describe_factor(demand, only)) };
    }
    let part = |part: &ScaledPart| {
        let times = if is_once(part) { label!("taken once").to_owned() } else { describe_factor(demand, part) };
        let rate = format(part.measured);
        match scale_kinds(&part.kinds) {
            kinds if kinds.is_empty() => say!("{rate} {times}"),
            kinds => say!("{rate} of {kinds} {times}"),
        }
    };
    format!("{measured}: {}", parts.iter().map(part).collect::<Vec<_>>().join(label!(", ")))
}

fn is_once(part: &ScaledPart) -> bool {
    (part.times - 1.0).abs() < 1e-9
}

/// `times 3.13 (peaks)`, or the factor of each step of several: `times 4.07 (peaks 3.13, growth 1.3)`.
fn describe_factor(demand: &SizingRequirements, part: &ScaledPart) -> String {
    let kind = part.kinds.first().copied().unwrap_or(ScaleKind::Small);
    let steps: Vec<_> = demand.steps.iter().filter(|step| (step.times(kind) - 1.0).abs() >= 1e-9).collect();
    let names: Vec<String> = match &steps[..] {
        [only] => vec![factor_name(only.kind).to_owned()],
        several => {
            let each = |step: &&GrowthStep| format!("{} {}", factor_name(step.kind), number::three(step.times(kind)));
            several.iter().map(each).collect()
        }
    };
    say!("times {} ({})", number::three(part.times), names.join(label!(", ")))
}

fn factor_name(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Peaks(_) => label!("peaks"),
        StepKind::WithoutStall { is_estimated: true } => label!("estimate without the stall or limit"),
        StepKind::WithoutStall { is_estimated: false } => label!("guess without the stall or limit"),
        StepKind::Growth(_) => label!("growth"),
    }
}

/// `scans`; empty for small operations, which are most of a database's.
fn scale_kinds(kinds: &[ScaleKind]) -> String {
    let name = |kind: &ScaleKind| match kind {
        ScaleKind::Small => None,
        ScaleKind::Large => Some(label!("operations of 64 KiB and more")),
        ScaleKind::Scans => Some(label!("scans")),
    };
    kinds.iter().filter_map(name).collect::<Vec<_>>().join(label!(" and "))
}

/// Selection criterion of a point's windows.
pub(crate) fn busiest(of: Busiest) -> &'static str {
    match of {
        Busiest::Operations => label!("the most operations"),
        Busiest::Bytes => label!("the most bytes"),
    }
}

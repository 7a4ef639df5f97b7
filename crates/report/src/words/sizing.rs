//! Sizing in words: what was asked, what binds, and why something does not carry it. Knows nothing about layout.

use plimsoll_catalogue::Counts;
use plimsoll_choose::sizing::{
    Allowance, Attachment, Backlog, Busiest, Choice, ClassObjective, Cluster, Exadata, Limit, Point, Reached, RiskSort,
    Sizing, Slower, Step, VolumeLayout, Wanted, Why,
};
use plimsoll_units::Bytes;

use super::{clean, offer};
use crate::number;

/// Classes with less than this share of the operations are named without figures.
const WORTH: f64 = 0.005;

/// How long windows are: `45 s`, `60 min`.
pub(crate) fn length(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{} s", number::three(s)),
        s if s < 172_800.0 => format!("{} min", number::three(s / 60.0)),
        s => format!("{} days", number::three(s / 86_400.0)),
    }
}

/// Whether storage is the problem at all, and what to do then.
pub(crate) fn answer(wanted: &Wanted) -> Option<String> {
    let told = super::diagnosis::told(wanted.answer.as_ref()?);
    Some(format!("{} {}", told.text, told.remedy))
}

/// What was measured: `1,230 IOPS and 45.6 MB/s let all 168 windows of up to 60 min pass, at most 1 % of the operations
/// wait; the highest window has 2,510 IOPS, another 172 MB/s`.
pub(crate) fn measured(wanted: &Wanted) -> String {
    let measured = &wanted.measured;
    let each = length(measured.longest.as_secs_f64());
    let rates = |iops: f64, bytes: f64| (number::rate(iops), offer::megabytes(bytes));
    let (iops, megabytes) = rates(measured.iops, measured.bytes_per_second);
    let windows = number::whole(measured.windows as f64);
    let over = match (measured.windows, measured.quantile) {
        (1, _) => return format!("{iops} IOPS and {megabytes} MB/s, in one window of {each}"),
        (_, Some(quantile)) => {
            format!("not exceeded in {} of {windows} windows of up to {each}", number::percent(quantile))
        }
        (_, None) => format!("through which {windows} windows of up to {each} pass: {}", allowed(&wanted.allowance)),
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

/// What limits make of the whole series: `0.4 % of the operations and 2 % of the bytes wait, up to 3.2 s; behind for 12 s`.
pub(crate) fn backlog(backlog: &Backlog) -> String {
    if backlog.behind.is_zero() {
        return "no window exceeds its limits".to_owned();
    }
    format!(
        "{} of the operations and {} of the bytes wait too long, the longest {}; behind for {} in all",
        number::percent(backlog.operations),
        number::percent(backlog.bytes),
        length(backlog.longest_wait.as_secs_f64()),
        length(backlog.behind.as_secs_f64()),
    )
}

/// Response times of the storage of today: `random reads 4 ms, redo 2 ms: no choice is slower by a fifth`.
pub(crate) fn today(wanted: &Wanted) -> Option<String> {
    let means: Vec<String> = wanted.today.iter().map(|(class, mean)| format!("{} {mean}", class.name())).collect();
    let rule = if wanted.may_be_slower { "choices may be slower" } else { "choices are not slower by a fifth" };
    (!means.is_empty()).then(|| format!("{} in the mean: {rule}", means.join(", ")))
}

/// `redo 12 ms instead of 2 ms (6 times); random reads 13.8 ms instead of 4 ms (3.45 times)`.
pub(crate) fn slower(slower: &[Slower]) -> String {
    let one = |one: &Slower| {
        format!("{} {} instead of {} ({} times)", one.class.name(), one.then, one.today, number::three(one.times()))
    };
    slower.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Objectives of a demand: `redo p99 <= 1 ms, read p99 <= 5 ms`.
pub(crate) fn objectives(objectives: &[ClassObjective]) -> String {
    objectives.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Response times that objectives are about: `redo p99 0.8 ms, read p99 7 ms (missed)`.
pub(crate) fn reached(reached: &[Reached]) -> String {
    let one = |one: &Reached| {
        let missed = if one.is_met() { "" } else { " (missed)" };
        format!("{} {}{missed}", one.objective.bounded(), one.time)
    };
    reached.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Figures of a choice that were not read with the vendor: `price, latency`; a price that was not read anywhere is named.
pub(crate) fn doubts(choice: &Choice) -> String {
    let mut sorts: Vec<&str> = Vec::new();
    for one in choice.risks.iter().filter(|one| one.sort != RiskSort::Needs) {
        let sort =
            if one.sort == RiskSort::Price && choice.has_unread_price() { "price not read" } else { risk(one.sort) };
        if !sorts.contains(&sort) {
            sorts.push(sort);
        }
    }
    sorts.join(", ")
}

/// A machine of a choice: `aws/r6i.xlarge, 183.96 USD a month; IOPS of the instance: 6,000 IOPS (25 % above the design
/// point); 4 of 28 volumes; 12.5 Gbit/s network`.
pub(crate) fn machine(machine: &Attachment) -> String {
    let name = machine.offer.short().machine.map_or_else(String::new, |machine| machine.to_string());
    let price = machine.monthly.map_or_else(|| "price unknown".to_owned(), |monthly| format!("{monthly} a month"));
    let mut parts = vec![format!("{}, {price}", clean(&name))];
    parts.extend(machine.binds.as_ref().map(|binds| format!("{} ({})", limit(binds), beside(binds.over))));
    let max = machine.volumes_max.map(|max| format!("{} of {max} volumes", machine.volumes));
    parts.extend(max);
    parts.extend(machine.network_gbps.map(|gbps| format!("{} Gbit/s network", number::three(gbps))));
    parts.push(format!(
        "{} of {} known machines have limits that high; processors and memory are not considered",
        machine.enough, machine.of
    ));
    parts.join("; ")
}

/// Probability of losing the data: `0.8 % a year`.
pub(crate) fn yearly_loss(share: f64) -> String {
    if share < 1e-6 {
        return "below 0.0001 % a year by the vendor's design".to_owned();
    }
    format!("{} % a year by the vendor's design", number::three(share * 100.0))
}

/// Why the figures of Exadata do not carry over to other storage.
pub(crate) fn exadata(exadata: &Exadata) -> String {
    let flash = exadata.flash.map_or_else(String::new, |share| {
        format!(", and flash or memory of the cells answered {} of the reads of single blocks", number::percent(share))
    });
    format!(
        "The reports are of Exadata, whose cells filter scans and answer from flash: other storage has to deliver every \
         byte that the database reads, which is sized for here, with the latency of flash. Smart scans are {} of the \
         time of reads{flash}; tables in Hybrid Columnar Compression take several times the capacity elsewhere",
        number::percent(exadata.smart_scans)
    )
}

/// The instances that reports of a cluster cover, and the reports that are missing.
pub(crate) fn cluster(cluster: &Cluster) -> String {
    let waits = number::percent(cluster.waits);
    let shared = "volumes that only one machine can write are left out";
    match cluster.instances.as_slice() {
        [] => format!("The database is a cluster (RAC); {shared}"),
        [only] => format!(
            "The reports are of one instance of a cluster ({}; RAC, {waits} of the database's time in cluster waits): the \
             other instances load the same volumes, so add their reports of the same hours; {shared}",
            clean(only)
        ),
        several => format!(
            "The reports are of {} instances of a cluster (RAC): add those of any others; {shared}",
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

/// A configuration of the frontier compared with the cheaper one before it.
pub(crate) struct FrontierStep {
    /// Sessions that wait in the mean.
    pub(crate) waiting: f64,
    /// `+14 %: 3.4 times faster`; empty for the cheapest.
    pub(crate) against_cheaper: String,
}

/// The frontier in words, row by row.
pub(crate) fn frontier(sizing: &Sizing) -> Vec<FrontierStep> {
    let point = &sizing.wanted.points[0];
    let monthly = |choice: &Choice| choice.total().map_or(0.0, plimsoll_catalogue::Money::as_f64);
    let waiting = |choice: &Choice| choice.waiting(point).unwrap_or_default();
    let step = |(index, choice): (usize, &Choice)| {
        let against_cheaper = index.checked_sub(1).map_or_else(String::new, |before| {
            let cheaper = &sizing.frontier[before];
            let more = monthly(choice) / monthly(cheaper) - 1.0;
            let more =
                if more < 1.0 { format!("{:+.0} %", more * 100.0) } else { format!("x {}", number::three(more + 1.0)) };
            format!("{more}: {} times faster", number::three(waiting(cheaper) / waiting(choice)))
        });
        FrontierStep { waiting: waiting(choice), against_cheaper }
    };
    sizing.frontier.iter().enumerate().map(step).collect()
}

/// `x 3.13 for small operations and x 6.09 for those of 64 KiB and more (measured from 1.43 to 7.45): ...`.
pub(crate) fn step(step: &Step) -> String {
    let times = if (step.small - step.large).abs() < 1e-9 {
        format!("x {}", number::three(step.small))
    } else {
        let (small, large) = (number::three(step.small), number::three(step.large));
        format!("x {small} for small operations, x {large} for those of 64 KiB and more")
    };
    let spread = step.spread.map_or_else(String::new, |(low, high)| {
        format!(" (from {} to {} where it was measured)", number::three(low), number::three(high))
    });
    format!("{times}{spread}: {}", clean(&step.why))
}

/// `4,800 IOPS, 130 MB/s: 60 % random reads of 8 KiB, 20 % data writes of 8 KiB`.
pub(crate) fn point(point: &Point) -> String {
    let iops = point.iops();
    let class = |load: &plimsoll_choose::sizing::ClassLoad| {
        let size = Bytes::new((load.size() + 0.5) as u64);
        format!("{} {} of {size}", number::percent(load.iops / iops), load.class.name())
    };
    let (shown, few): (Vec<_>, Vec<_>) = point.classes.iter().partition(|load| load.iops >= iops * WORTH);
    let mut classes: Vec<String> = shown.into_iter().map(class).collect();
    if !few.is_empty() {
        classes
            .push(format!("little of {}", few.iter().map(|load| load.class.name()).collect::<Vec<_>>().join(" and ")));
    }
    let moved = offer::megabytes(point.bytes_per_second());
    format!("{} IOPS, {moved} MB/s: {}", number::rate(iops), classes.join(", "))
}

/// Which windows a point is of.
pub(crate) const fn busiest(of: Busiest) -> &'static str {
    match of {
        Busiest::Operations => "the most operations",
        Busiest::Bytes => "the most bytes",
    }
}

/// `IOPS as provisioned: 12,000 IOPS`, what it allows of this load.
pub(crate) fn limit(limit: &Limit) -> String {
    let allows = match limit.counts {
        Counts::Operations => format!("{} IOPS", number::rate(limit.iops)),
        Counts::Bytes => format!("{} MB/s", offer::megabytes(limit.bytes_per_second)),
    };
    format!("{}: {allows}", clean(&limit.name))
}

/// How much more a limit allows than the design point asks: `+40 %`, and from double on `x 2.5`.
pub(crate) fn room(over: f64) -> String {
    // What was looked for as just enough may miss it by what rounding leaves.
    match over {
        times if times >= 2.0 => format!("x {}", number::three(times)),
        times => format!("{:+.0} %", (times - 1.0) * 100.0 + 0.0),
    }
    .replace("-0 %", "+0 %")
}

/// The same as a phrase: `40 % above the design point`, `2.5 times the design point`.
pub(crate) fn beside(over: f64) -> String {
    if over >= 2.0 {
        format!("{} times the design point", number::three(over))
    } else {
        format!("{} above the design point", room(over).trim_start_matches('+'))
    }
}

/// Why something does not carry it.
pub(crate) fn why(why: &Why) -> String {
    match why {
        Why::Ceiling(ceiling) => {
            format!("{}, which is {} of what is asked", limit(ceiling), number::percent(ceiling.over))
        }
        Why::Waits(waits) => format!("replayed, {}", backlog(waits)),
        Why::Sustains { iops, wanted, held_by } => {
            let (iops, wanted) = (number::rate(*iops), number::rate(*wanted));
            format!("it sustains {iops} of {wanted} IOPS (modelled), held by {}", clean(held_by))
        }
        Why::NoMachine { of, nearest } => {
            let near = |(name, ceiling): &(String, Limit)| {
                format!(
                    "; {} comes nearest: {}, {} of the design point",
                    clean(name),
                    limit(ceiling),
                    number::percent(ceiling.over)
                )
            };
            let near = nearest.as_ref().map_or_else(String::new, near);
            format!("no machine known carries this: none of {of} of its provider{near}")
        }
        Why::Refused(text) => clean(text),
    }
}

/// Of which sort a doubt is, in a word.
pub(crate) const fn risk(sort: RiskSort) -> &'static str {
    match sort {
        RiskSort::Ceiling => "ceiling",
        RiskSort::Latency => "latency",
        RiskSort::Price => "price",
        RiskSort::Needs => "needs",
        RiskSort::Safety => "safety",
    }
}

/// Why the first choice is one: what binds it, and what would next.
pub(crate) fn reason(choice: &Choice) -> String {
    let Some(binds) = &choice.binds else { return "the catalogue knows no limit of it".into() };
    let next =
        choice.next.as_ref().map_or_else(String::new, |next| format!("; then {} ({})", limit(next), beside(next.over)));
    format!("{} ({}) binds first{next}", limit(binds), beside(binds.over))
}

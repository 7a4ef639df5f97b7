//! Sizing in words: what was asked, what binds, and why something does not carry it. Knows nothing about layout.

use plimsoll_catalogue::Counts;
use plimsoll_choose::sizing::{
    Allowance, Backlog, Busiest, Choice, Limit, Point, RiskSort, Sizing, Slower, Step, Wanted, Why,
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

/// A configuration of the frontier beside the one before it.
pub(crate) struct FrontierStep {
    /// Sessions that wait in the mean.
    pub(crate) waiting: f64,
    /// `+14 %: 3.4 times faster`; empty for the cheapest.
    pub(crate) against_cheaper: String,
    /// Its figures that were not read with the vendor: `price, latency`.
    pub(crate) doubts: String,
}

/// The frontier in words, row by row.
pub(crate) fn frontier(sizing: &Sizing) -> Vec<FrontierStep> {
    let point = &sizing.wanted.points[0];
    let monthly = |choice: &Choice| choice.price.as_ref().map_or(0.0, |price| price.monthly.as_f64());
    let waiting = |choice: &Choice| choice.waiting(point).unwrap_or_default();
    let step = |(index, choice): (usize, &Choice)| {
        let against_cheaper = index.checked_sub(1).map_or_else(String::new, |before| {
            let cheaper = &sizing.frontier[before];
            let more = monthly(choice) / monthly(cheaper) - 1.0;
            let more =
                if more < 1.0 { format!("+{:.0} %", more * 100.0) } else { format!("x {}", number::three(more + 1.0)) };
            format!("{more}: {} times faster", number::three(waiting(cheaper) / waiting(choice)))
        });
        let mut doubts: Vec<&str> =
            choice.risks.iter().map(|one| risk(one.sort)).filter(|sort| *sort != "needs").collect();
        doubts.dedup();
        FrontierStep { waiting: waiting(choice), against_cheaper, doubts: doubts.join(", ") }
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
    }
}

/// Why the first choice is one: what binds it, and what would next.
pub(crate) fn reason(choice: &Choice) -> String {
    let Some(binds) = &choice.binds else { return "the catalogue knows no limit of it".into() };
    let next =
        choice.next.as_ref().map_or_else(String::new, |next| format!("; then {} ({})", limit(next), beside(next.over)));
    format!("{} ({}) binds first{next}", limit(binds), beside(binds.over))
}

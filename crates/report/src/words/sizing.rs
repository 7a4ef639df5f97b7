//! Sizing in words: what was asked, what binds, and why something does not carry it. Knows nothing about layout.

use plimsoll_catalogue::Counts;
use plimsoll_choose::sizing::{Busiest, Choice, Limit, Point, RiskSort, Step, Wanted, Why};
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

/// What was measured: `1,230 IOPS and 45.6 MB/s, not exceeded in 95 % of 168 windows of 60 min`.
pub(crate) fn measured(wanted: &Wanted) -> String {
    let measured = &wanted.measured;
    let each = length(measured.longest.as_secs_f64());
    let over = match measured.windows {
        1 => format!("in one window of {each}"),
        windows => format!(
            "not exceeded in {} of {} windows of up to {each}",
            number::percent(measured.quantile),
            number::whole(windows as f64)
        ),
    };
    let iops = number::rate(measured.iops);
    format!("{iops} IOPS and {} MB/s, {over}", offer::megabytes(measured.bytes_per_second))
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

//! Limits of a choice and their distance from the design point.

use plimsoll_catalogue::Counts;
use plimsoll_choose::sizing::{Choice, DesignLimit};
use plimsoll_language::{label, say};

use crate::number;
use crate::words::{offer, product_text};

/// A limit and its value for this load: `IOPS as provisioned: 12,000 IOPS`.
pub(crate) fn limit(limit: &DesignLimit) -> String {
    format!("{}: {}", product_text(&limit.name), limit_rate(limit))
}

/// The rate of a limit: `12,000 IOPS`.
pub(crate) fn limit_rate(limit: &DesignLimit) -> String {
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
        times if times >= 2.0 => say!("x {}", number::three(times)),
        times => number::change(times - 1.0, 0),
    }
}

/// The margin as a phrase: `40 % above the design point`, `2.5 times the design point`.
pub(super) fn margin(over: f64) -> String {
    if over >= 2.0 {
        say!("{} times the design point", number::three(over))
    } else {
        say!("{} above the design point", room(over).trim_start_matches('+'))
    }
}

/// First limit of a choice with its machine.
pub(crate) fn first_limit(choice: &Choice) -> String {
    format_first(choice.first_limit())
}

fn format_first(binds: Option<&DesignLimit>) -> String {
    let bound = |binds: &DesignLimit| say!("first limit: {} ({})", limit(binds), margin(binds.over));
    binds.map_or_else(|| label!("the catalogue has no limits for it").to_owned(), bound)
}

/// First limit of the volumes of a choice and the next.
pub(crate) fn reason(choice: &Choice) -> String {
    let next =
        choice.next.as_ref().map_or_else(String::new, |next| say!("; next: {} ({})", limit(next), margin(next.over)));
    format!("{}{next}", format_first(choice.binds.as_ref()))
}

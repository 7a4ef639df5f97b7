//! Limits of a choice and their distance from the design point.

use plimsoll_catalogue::Counts;
use plimsoll_choose::sizing::{Choice, DesignLimit};
use plimsoll_language::{Language, label, say};

use crate::number;
use crate::words::{offer, product_text};

/// A limit and its value for this load: `IOPS as provisioned: 12,000 IOPS`.
pub(crate) fn limit(limit: &DesignLimit) -> String {
    format!("{}: {}", product_text(&limit.name), limit_rate(limit))
}

/// The declared rate of a limit, and that of this load if it differs: `12,000 IOPS`, `16,000 IOPS, 4,000 of this load`, as a large
/// operation counts several times.
pub(crate) fn limit_rate(limit: &DesignLimit) -> String {
    /// Larger relative differences matter to a reader.
    const MAX_DIFFERENCE: f64 = 0.01;
    let (unit, of_load, format): (_, _, fn(f64) -> String) = match limit.counts {
        Counts::Operations => ("IOPS", limit.iops, number::rate),
        Counts::Bytes => ("MB/s", limit.bytes_per_second, offer::megabytes),
    };
    let declared = limit.declared.unwrap_or(of_load);
    let rate = format!("{} {unit}", format(declared));
    if (of_load / declared - 1.0).abs() > MAX_DIFFERENCE {
        return say!("{rate}, {} of this load", format(of_load));
    }
    rate
}

/// The rate of a limit, and its distance from the design point.
pub(crate) fn limit_rate_and_room(limit: &DesignLimit) -> String {
    say!("{} ({})", limit_rate(limit), margin(limit.over))
}

/// Margin of a limit above the design point: `+40 %`, or `x 2.5` from 2 on.
pub(crate) fn room(over: f64) -> String {
    // Rounding may leave a limit that was chosen as just sufficient slightly below.
    number::headroom(over)
}

/// The margin as a phrase: `40 % above the design point`, `2.5 times the design point`.
pub(super) fn margin(over: f64) -> String {
    if over >= 2.0 || Language::current() == Language::Japanese {
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

#[cfg(test)]
mod tests {
    use plimsoll_choose::sizing::Busiest;

    use super::*;

    #[test]
    fn limits_have_their_declared_rate_and_that_of_the_load() {
        let of = |counts, declared: Option<f64>, iops: f64| {
            let (name, point) = ("IOPS as provisioned".into(), Busiest::Operations);
            limit(&DesignLimit { name, counts, point, declared, iops, bytes_per_second: iops * 1e6, over: 1.0 })
        };
        let check = |limit: String, expected: &str| assert_eq!(limit, format!("IOPS as provisioned: {expected}"));
        // Four volumes of 7,748 IOPS under a mix of which a few operations are large.
        check(of(Counts::Operations, Some(4.0 * 7_748.0), 30_848.0), "30,992 IOPS");
        check(of(Counts::Operations, Some(16_000.0), 4_000.0), "16,000 IOPS, 4,000 of this load");
        check(of(Counts::Operations, None, 4_000.0), "4,000 IOPS");
        check(of(Counts::Bytes, Some(125e6), 250.0), "125 MB/s, 250 of this load");
    }
}

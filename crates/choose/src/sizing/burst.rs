//! What averages hide: how much higher the load is for a minute than over the window that it was averaged over.
//!
//! Knows windows and what was measured elsewhere. Nothing of this replaces an input with windows of a minute.

use plimsoll_units::Span;

/// Operations of this many bytes and more are large: scans, sorts, backups.
pub(super) const LARGE: f64 = 65_536.0;

/// Snapshots are a little late: windows of so many times what was measured are alike.
const ALIKE: f64 = 1.1;

/// Windows up to this long hide nothing that matters here.
const MINUTE: f64 = 60.0;

/// One database over which snapshots had averages and one-minute maxima of the same figure: what 95 of 100 snapshots
/// did not exceed of the maxima, over the same of the averages.
struct Measured {
    minutes: f64,
    operations: [f64; 2],
    bytes: [f64; 2],
}

/// Oracle databases of 11.2 whose history of system metrics was published (AWR-Miner files with 836, 710 and 1,035
/// snapshots of an instance): reads, then writes. Databases with fewer than 100 snapshots are left out.
const MEASURED: [Measured; 3] = [
    Measured { minutes: 60.0, operations: [5.55, 6.91], bytes: [5.52, 6.66] },
    Measured { minutes: 30.0, operations: [1.43, 1.75], bytes: [1.52, 1.87] },
    Measured { minutes: 60.0, operations: [3.23, 3.03], bytes: [7.45, 6.82] },
];

/// What 95 of 100 half hours do not exceed, over the mean of the week: the median of 106 disks of virtual machines
/// traced by a vendor of caches. It is what an average over a day and more hides beside its minutes.
const WEEK: f64 = 3.3;
const DAY: f64 = 86_400.0;

/// A factor for windows of some length, and what was measured around it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hidden {
    pub(super) small: f64,
    pub(super) large: f64,
    /// The lowest and the highest ratio that were measured.
    pub(super) spread: Option<(f64, f64)>,
    pub(super) why: String,
}

/// What windows of this length hide, as a median: nothing up to a minute; for longer ones between and beyond what was
/// measured by the logarithm of their length, up to a day.
pub(super) fn hidden(window: Span) -> Hidden {
    let seconds = window.as_secs_f64();
    if seconds <= MINUTE {
        let why = "windows of a minute and less hide no peaks that last".to_owned();
        return Hidden { small: 1.0, large: 1.0, spread: None, why };
    }
    let of = |pick: fn(&Measured) -> [f64; 2]| median(MEASURED.iter().flat_map(pick).collect());
    let all = || MEASURED.iter().flat_map(|one| one.operations.into_iter().chain(one.bytes));
    let (low, high) = (all().fold(f64::MAX, f64::min), all().fold(0.0, f64::max));
    let shortest = MEASURED.iter().map(|one| one.minutes * 60.0).fold(f64::MAX, f64::min);
    let longest = ALIKE * MEASURED.iter().map(|one| one.minutes * 60.0).fold(0.0, f64::max);
    let at = |median: f64| {
        if seconds < shortest {
            between((MINUTE, 1.0), (shortest, median), seconds)
        } else if seconds <= longest {
            median
        } else {
            between((longest, median), (DAY, median * WEEK), seconds.min(DAY))
        }
    };
    let beyond = if seconds > longest { (low * WEEK, high * WEEK) } else { (low, high) };
    Hidden {
        small: at(of(|one| one.operations)),
        large: at(of(|one| one.bytes)),
        spread: Some(if seconds < shortest { (1.0, high) } else { beyond }),
        why: why(seconds, shortest, longest),
    }
}

fn why(seconds: f64, shortest: f64, longest: f64) -> String {
    let measured =
        "one-minute maxima over averages of three Oracle databases with snapshots of 30 and 60 min, the median";
    if seconds < shortest {
        format!("{measured}, less for shorter windows")
    } else if seconds <= longest {
        measured.to_owned()
    } else {
        format!(
            "{measured}; and for windows beyond an hour what 106 disks of virtual machines did over a week: bring \
                 reports of an hour or less"
        )
    }
}

/// Between two points, both axes by their logarithms.
fn between(from: (f64, f64), to: (f64, f64), x: f64) -> f64 {
    let share = libm::log(x / from.0) / libm::log(to.0 / from.0);
    from.1 * libm::pow(to.1 / from.1, share)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_hides_nothing_and_longer_windows_never_less() {
        assert_eq!((hidden(Span::from_secs(60)).small, hidden(Span::from_secs(1)).large), (1.0, 1.0));
        let lengths = [60, 61, 300, 900, 1800, 2700, 3600, 7200, 86_400, 604_800].map(Span::from_secs);
        let factors: Vec<(f64, f64)> =
            lengths.iter().map(|length| hidden(*length)).map(|hidden| (hidden.small, hidden.large)).collect();
        assert!(factors.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1), "{factors:?}");
    }

    #[test]
    fn an_hour_hides_the_median_of_what_was_measured() {
        let hour = hidden(Span::from_secs(3600));
        // Of 1.43, 1.75, 3.03, 3.23, 5.55, 6.91; and of 1.52, 1.87, 5.52, 6.66, 6.82, 7.45.
        assert!((hour.small - 3.13).abs() < 1e-9 && (hour.large - 6.09).abs() < 1e-9, "{hour:?}");
        assert_eq!(hour.spread, Some((1.43, 7.45)));
    }

    #[test]
    fn a_day_hides_its_hours_too() {
        let week = hidden(Span::from_secs(7 * 86_400));
        assert!((week.small - 3.13 * WEEK).abs() < 1e-9, "{week:?}");
    }
}

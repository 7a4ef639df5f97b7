//! Hidden peaks: ratio of one-minute maxima to the average of a longer window.
//!
//! Inputs with windows of a minute are always more accurate.

use plimsoll_analyse::median;
use plimsoll_ingest::{BusyPeriod, Class};
use plimsoll_units::Span;

use super::design::{ClassLoad, PeakSource};

/// Minimum mean size of large operations: scans, sorts, backups.
pub(super) const LARGE: f64 = 65_536.0;

/// Minimum mean bytes of reads by scans and backups.
pub(super) const LARGE_READ: f64 = 131_072.0;

/// Tolerance for the length of windows, because snapshots are slightly late.
const ALIKE: f64 = 1.1;

/// Windows up to this length have no relevant hidden peaks.
const MINUTE: f64 = 60.0;

/// Measured ratio of a database with both averages and one-minute maxima: the 95th percentile over its snapshots of the
/// maxima, over that of the averages.
struct BurstRatio {
    minutes: f64,
    operations: [f64; 2],
    bytes: [f64; 2],
}

/// Oracle databases of 11.2 with published histories of system metrics (AWR-Miner files with 836, 710 and 1,035
/// snapshots of an instance): reads, then writes. Databases with fewer than 100 snapshots are excluded.
const MEASURED: [BurstRatio; 3] = [
    BurstRatio { minutes: 60.0, operations: [5.55, 6.91], bytes: [5.52, 6.66] },
    BurstRatio { minutes: 30.0, operations: [1.43, 1.75], bytes: [1.52, 1.87] },
    BurstRatio { minutes: 60.0, operations: [3.23, 3.03], bytes: [7.45, 6.82] },
];

/// The 95th percentile of half hours over the mean of the week: the median of 106 disks of virtual machines traced by a
/// vendor of caches. Applied to averages over a day and more in addition to their hidden minutes.
const WEEK: f64 = 3.3;
const DAY: f64 = 86_400.0;

/// Factors for windows of a given length, with the measured range.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hidden {
    pub(super) small: f64,
    pub(super) large: f64,
    /// For loads that [`is_elastic`] is true for.
    pub(super) scans: f64,
    /// Factor of the busy hours alone, without the minutes in them: for processors.
    pub(super) hours: f64,
    /// The lowest and the highest measured ratio.
    pub(super) spread: Option<(f64, f64)>,
    pub(super) source: PeakSource,
}

/// True for scans, sorts, archiving and backups, and for reads of unknown kind as large as those: they use the throughput that
/// there is, and take longer without a higher one, so that no hidden peak is assumed for them.
pub(super) fn is_elastic(load: &ClassLoad) -> bool {
    let is_scan = load.class == Class::Read && load.size() >= LARGE_READ;
    is_scan
        || matches!(
            load.class,
            Class::SequentialRead
                | Class::TempRead
                | Class::TempWrite
                | Class::BulkWrite
                | Class::Archive
                | Class::Backup
                | Class::BackupRead
        )
}

/// Median factors for windows of this length: 1 up to a minute; otherwise interpolated and extrapolated over the
/// logarithm of the length, up to a day.
pub(super) fn hidden(window: Span) -> Hidden {
    let seconds = window.as_secs_f64();
    if seconds <= MINUTE {
        return Hidden { small: 1.0, large: 1.0, scans: 1.0, hours: 1.0, spread: None, source: PeakSource::Minute };
    }
    let of = |pick: fn(&BurstRatio) -> [f64; 2]| median(&MEASURED.iter().flat_map(pick).collect::<Vec<f64>>());
    let all = || MEASURED.iter().flat_map(|measured| measured.operations.into_iter().chain(measured.bytes));
    let (low, high) = (all().fold(f64::MAX, f64::min), all().fold(0.0, f64::max));
    let shortest = MEASURED.iter().map(|measured| measured.minutes * 60.0).fold(f64::MAX, f64::min);
    let longest = ALIKE * MEASURED.iter().map(|measured| measured.minutes * 60.0).fold(0.0, f64::max);
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
        small: at(of(|measured| measured.operations)),
        large: at(of(|measured| measured.bytes)),
        scans: 1.0,
        hours: between((longest, 1.0), (DAY, WEEK), seconds.clamp(longest, DAY)),
        spread: Some(if seconds < shortest { (1.0, high) } else { beyond }),
        source: match seconds {
            s if s < shortest => PeakSource::ShorterWindows,
            s if s <= longest => PeakSource::Databases,
            _ => PeakSource::LongerWindows,
        },
    }
}

/// Factors for a window with busy periods: their sessions over those of the window, with the hidden peaks of their length.
pub(super) fn in_busy_periods(window: Span, periods: &[BusyPeriod]) -> Option<Hidden> {
    let inside = periods.iter().filter(|period| period.length < window);
    let busiest = inside.max_by(|a, b| a.times_mean().total_cmp(&b.times_mean()))?;
    let (times, within) = (busiest.times_mean(), hidden(busiest.length));
    Some(Hidden {
        small: times * within.small,
        large: times * within.large,
        scans: within.scans,
        hours: times * within.hours,
        spread: within.spread.map(|(low, high)| (times * low, times * high)),
        source: PeakSource::BusyPeriods,
    })
}

/// Interpolation with logarithmic axes.
fn between(from: (f64, f64), to: (f64, f64), x: f64) -> f64 {
    let share = libm::log(x / from.0) / libm::log(to.0 / from.0);
    from.1 * libm::pow(to.1 / from.1, share)
}

#[cfg(test)]
mod tests {
    use plimsoll_ingest::{InputPosition, Origin};

    use super::*;

    #[test]
    fn hidden_peaks_grow_with_the_window() {
        assert_eq!((hidden(Span::from_secs(60)).small, hidden(Span::from_secs(1)).large), (1.0, 1.0));
        let lengths = [60, 61, 300, 900, 1800, 2700, 3600, 7200, 86_400, 604_800].map(Span::from_secs);
        let factors: Vec<(f64, f64)> =
            lengths.iter().map(|length| hidden(*length)).map(|hidden| (hidden.small, hidden.large)).collect();
        assert!(factors.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1), "{factors:?}");
    }

    #[test]
    fn an_hour_hides_the_measured_median() {
        let hour = hidden(Span::from_secs(3600));
        // Of 1.43, 1.75, 3.03, 3.23, 5.55, 6.91; and of 1.52, 1.87, 5.52, 6.66, 6.82, 7.45.
        assert!((hour.small - 3.13).abs() < 1e-9 && (hour.large - 6.09).abs() < 1e-9, "{hour:?}");
        assert_eq!(hour.spread, Some((1.43, 7.45)));
    }

    #[test]
    fn a_day_also_hides_its_hours() {
        let week = hidden(Span::from_secs(7 * 86_400));
        assert!((week.small - 3.13 * WEEK).abs() < 1e-9 && (week.hours - WEEK).abs() < 1e-9, "{week:?}");
    }

    #[test]
    fn busy_periods_replace_the_hours_of_other_systems() {
        let place = InputPosition { input: "report".into(), origin: Origin::line(1) };
        let period = |hours: u64, active_sessions: f64| BusyPeriod {
            begin: jiff::civil::date(2026, 3, 4).at(10, 0, 0, 0),
            length: Span::from_secs(hours * 3_600),
            active_sessions,
            user_io: None,
            finding: None,
            mean_sessions: 2.0,
            slot: 0,
            place: place.clone(),
        };
        let days = Span::from_secs(6 * 86_400);
        let found = in_busy_periods(days, &[period(1, 3.0), period(1, 6.4)]).expect("a period");
        assert!((found.small - 3.2 * 3.13).abs() < 1e-9 && (found.large - 3.2 * 6.09).abs() < 1e-9, "{found:?}");
        assert_eq!((found.scans, found.source), (1.0, PeakSource::BusyPeriods));
        assert!((found.hours - 3.2).abs() < 1e-9, "{found:?}");
        assert_eq!(in_busy_periods(Span::from_secs(3_600), &[period(1, 6.4)]), None, "no longer than the period");
        assert_eq!(in_busy_periods(days, &[]), None);
    }
}

//! The busiest hours of a database, which the mean over its windows hides.

use std::sync::Arc;

use jiff::civil::DateTime;
use plimsoll_ingest::{DatabaseDemand, Measure, Slot};

use super::history::{History, WindowTime};
use super::split::Split;
use super::totals::total;

/// The busiest hours, if they differ from the mean.
#[derive(Clone, Debug, PartialEq)]
pub struct BusyHours {
    /// Mean active sessions over all windows.
    pub mean: f64,
    /// Share of storage in the time of all windows, 0 to 1.
    pub mean_storage: f64,
    /// Active sessions in the busiest window or period.
    pub highest: f64,
    /// Its begin, if known.
    pub begin: Option<DateTime>,
    /// Its seconds.
    pub length_s: f64,
    pub basis: BusyBasis,
    /// The finding of the database's own analysis with most of the sessions of the period, and its share, if known.
    pub finding: Option<(Arc<str>, f64)>,
}

/// The source of busy hours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BusyBasis {
    /// The busiest windows, with a tenth of the time of all.
    Windows {
        /// How many, and the number of windows with database time.
        windows: [usize; 2],
        /// Mean active sessions in them.
        active: f64,
        /// Share of storage in their time, 0 to 1.
        storage: f64,
    },
    /// A period inside a window, by the database's own analysis (ADDM).
    Analysis {
        /// Share of its sessions that wait for I/O, 0 to 1, if known.
        user_io: Option<f64>,
    },
}

/// Ratio of active sessions from which busy hours differ from the mean.
const MIN_TIMES: f64 = 1.5;
/// Active sessions below which a database is idle most of the time, also in these hours.
const MIN_ACTIVE: f64 = 0.3;
/// Difference of the shares of storage, likewise.
const MIN_DIFFERENCE: f64 = 0.1;

/// The busiest hours of a subject: a period inside a window, otherwise its busiest windows.
pub(super) fn find_busy_hours(subject: &DatabaseDemand, split: &Split, history: Option<&History>) -> Option<BusyHours> {
    let of_periods = || {
        let period = subject.busy_periods.iter().max_by(|a, b| a.active_sessions.total_cmp(&b.active_sessions))?;
        let is_busy = period.active_sessions >= MIN_ACTIVE && period.active_sessions >= MIN_TIMES * split.active;
        is_busy.then(|| BusyHours {
            mean: split.active,
            mean_storage: split.storage(),
            highest: period.active_sessions,
            begin: Some(period.begin),
            length_s: period.length.as_secs_f64(),
            basis: BusyBasis::Analysis { user_io: period.user_io },
            finding: period.finding.clone(),
        })
    };
    of_periods().or_else(|| of_windows(split, &history?.windows))
}

fn of_windows(split: &Split, all: &[WindowTime]) -> Option<BusyHours> {
    const TENTH: f64 = 0.1;
    let length = |window: &WindowTime| window.slot.length.as_secs_f64();
    let mut windows: Vec<&WindowTime> = all.iter().collect();
    windows.sort_by(|a, b| b.active.total_cmp(&a.active));
    let entire_s: f64 = windows.iter().map(|window| length(window)).sum();
    let (mut seconds, mut database_s, mut storage_s, mut count) = (0.0, 0.0, 0.0, 0);
    for window in &windows {
        if seconds >= TENTH * entire_s {
            break;
        }
        seconds += length(window);
        database_s += window.active * length(window);
        storage_s += window.storage * window.active * length(window);
        count += 1;
    }
    let first = windows.first().filter(|_| seconds > 0.0 && database_s > 0.0)?;
    let (active, storage) = (database_s / seconds, storage_s / database_s);
    let differs = active >= MIN_TIMES * split.active || (storage - split.storage()).abs() >= MIN_DIFFERENCE;
    (differs && active >= MIN_ACTIVE).then_some(BusyHours {
        mean: split.active,
        mean_storage: split.storage(),
        highest: first.active,
        begin: first.slot.begin,
        length_s: length(first),
        basis: BusyBasis::Windows { windows: [count, all.len()], active, storage },
        finding: None,
    })
}

/// The window with the most operations, and that with the most bytes per second of reads and writes together; none for a
/// single window.
pub(super) fn find_highest(subject: &DatabaseDemand) -> [Option<(Slot, f64)>; 2] {
    [Measure::Iops, Measure::Throughput].map(|measure| {
        let slots = subject.slots.iter().enumerate().filter(|_| subject.slots.len() > 1);
        let rates = slots.filter_map(|(index, slot)| Some((*slot, total(subject, measure, index)?)));
        rates.max_by(|a, b| a.1.total_cmp(&b.1))
    })
}

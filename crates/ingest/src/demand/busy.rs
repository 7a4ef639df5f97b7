//! Busy periods inside long windows, whose means hide them.

use std::sync::Arc;

use jiff::civil::DateTime;
use plimsoll_units::Span;

use super::{Account, InputPosition, Placed};
use crate::reading::Reading;

/// A period of a window with more active sessions than the mean of the window.
#[derive(Clone, Debug, PartialEq)]
pub struct BusyPeriod {
    pub begin: DateTime,
    pub length: Span,
    /// Mean active sessions in it: of a single instance, where its database has several, at least.
    pub active_sessions: f64,
    /// Share of these that wait for I/O, 0 to 1, if known.
    pub user_io: Option<f64>,
    /// The finding of the analysis with most of these, and its share, which may exceed 1.
    pub finding: Option<(Arc<str>, f64)>,
    /// Mean active sessions of the window, above zero.
    pub mean_sessions: f64,
    /// The window, an index into [`crate::DatabaseDemand::slots`].
    pub slot: usize,
    pub place: InputPosition,
}

impl BusyPeriod {
    /// Ratio of its active sessions to those of the window, above 1.
    pub fn times_mean(&self) -> f64 {
        self.active_sessions / self.mean_sessions
    }
}

/// The busy periods of the scopes selected by `is_own`, by time.
pub(super) fn collect_periods(
    readings: &[&Reading],
    placed: &Placed,
    account: Option<&Account>,
    is_own: impl Fn(&Reading, u32) -> bool,
) -> Vec<BusyPeriod> {
    /// Minimum length of a window relative to its periods.
    const MIN_WINDOWS: f64 = 1.5;
    let Some(account) = account else { return Vec::new() };
    let mut periods = Vec::new();
    for (number, reading) in readings.iter().enumerate() {
        let input: Arc<str> = Arc::from(reading.name.as_str());
        for analysed in reading.analyses.iter().filter(|analysed| is_own(reading, analysed.scope)) {
            let Some(slot) = placed.slot_of.get(&(number, analysed.window)).copied() else { continue };
            let Some(spent) = account.slots.get(slot).and_then(Option::as_ref) else { continue };
            let mean_sessions = spent.database_s / spent.seconds;
            let is_part = spent.seconds >= MIN_WINDOWS * analysed.length.as_secs_f64();
            if is_part && mean_sessions > 0.0 && analysed.active_sessions > mean_sessions {
                periods.push(BusyPeriod {
                    begin: analysed.begin,
                    length: analysed.length,
                    active_sessions: analysed.active_sessions,
                    user_io: analysed.user_io,
                    finding: analysed.finding.clone(),
                    mean_sessions,
                    slot,
                    place: InputPosition { input: Arc::clone(&input), origin: analysed.origin.clone() },
                });
            }
        }
    }
    periods.sort_by_key(|period| period.begin);
    periods
}

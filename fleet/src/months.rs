//! Months of times.

use std::ops::RangeInclusive;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Times with a month: the years 1 to 9999, as far as a `Timestamp` has them.
pub const CALENDAR: RangeInclusive<i64> = -62_135_596_800..=253_402_207_199;

/// The month of a time in seconds since 1970, such as `2026-01`; `None` outside of the years 1 to 9999.
pub fn month_of(at: i64) -> Option<String> {
    let date = Timestamp::from_second(at).ok()?.to_zoned(TimeZone::UTC).date();
    (date.year() > 0).then(|| format!("{:04}-{:02}", date.year(), date.month()))
}

/// Months of neighbouring times: the last month is remembered by its day.
#[derive(Debug, Default)]
pub struct Months {
    day: Option<(i64, String)>,
}

impl Months {
    /// As [`month_of`].
    pub fn of(&mut self, at: i64) -> Option<&str> {
        let day = at.div_euclid(86_400);
        if self.day.as_ref().is_none_or(|(last, _)| *last != day) {
            self.day = Some((day, month_of(at)?));
        }
        self.day.as_ref().map(|(_, month)| month.as_str())
    }
}

//! Dates with the precision of documents: year, optional month, optional day.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A day, a month or a year. Longer periods sort before shorter periods that they contain: 2025 < 2025-01 < 2025-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    /// Year, 1 to 9999.
    pub year: u16,
    /// Month, 1 to 12, if known.
    pub month: Option<u8>,
    /// Day, 1 to 31, if known; requires a month.
    pub day: Option<u8>,
}

/// Text that is not a date.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no date: write YYYY, YYYY-MM or YYYY-MM-DD")]
pub struct DateError(pub String);

impl Date {
    /// A whole year.
    pub const fn year(year: u16) -> Self {
        Self { year, month: None, day: None }
    }

    /// A day.
    pub const fn day(year: u16, month: u8, day: u8) -> Self {
        Self { year, month: Some(month), day: Some(day) }
    }

    /// True if this period ends on or after the first day of `from`, and before the first day of `until`.
    pub fn within(self, from: Option<Self>, until: Option<Self>) -> bool {
        let last = (self.year, self.month.unwrap_or(12), self.day.unwrap_or(31));
        from.is_none_or(|from| from.first_day() <= last) && until.is_none_or(|until| last < until.first_day())
    }

    /// Days from the last day of `earlier` to the last day of this time; negative when `earlier` ends later.
    pub fn days_since(self, earlier: Self) -> i64 {
        self.last_day_number() - earlier.last_day_number()
    }

    /// The last day of this time as a count of days (Hinnant, `days_from_civil`).
    fn last_day_number(self) -> i64 {
        let (year, month) = (i64::from(self.year), i64::from(self.month.unwrap_or(12)));
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let length = match month {
            2 => 28 + i64::from(leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let day = self.day.map_or(length, i64::from);
        // Years begin in March: a leap day is the last of its year.
        let years = if month <= 2 { year - 1 } else { year };
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        365 * years + years / 4 - years / 100 + years / 400 + day_of_year
    }

    fn first_day(self) -> (u16, u8, u8) {
        (self.year, self.month.unwrap_or(1), self.day.unwrap_or(1))
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}", self.year)?;
        self.month.iter().chain(&self.day).try_for_each(|part| write!(f, "-{part:02}"))
    }
}

impl FromStr for Date {
    type Err = DateError;

    fn from_str(text: &str) -> Result<Self, DateError> {
        read(text).ok_or_else(|| DateError(text.to_owned()))
    }
}

fn read(text: &str) -> Option<Date> {
    let number = |part: &str, digits: usize, max: u16| {
        let plain = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse().ok().filter(|number| plain && (1..=max).contains(number))
    };
    let mut parts = text.split('-');
    let year = number(parts.next()?, 4, 9999)?;
    let month = parts.next().map(|part| number(part, 2, 12).ok_or(())).transpose().ok()?;
    let day = parts.next().map(|part| number(part, 2, 31).ok_or(())).transpose().ok()?;
    parts.next().is_none().then_some(Date { year, month: month.map(|m| m as u8), day: day.map(|d| d as u8) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_and_written() {
        for text in ["2025", "2025-09", "2025-09-30", "0001-01-01"] {
            assert_eq!(text.parse::<Date>().unwrap().to_string(), text);
        }
        for text in ["", "25", "2025-9", "2025-13", "2025-00", "2025-01-32", "2025-01-01-01", "today", "+025", "2025-"]
        {
            assert!(text.parse::<Date>().is_err(), "{text:?}");
        }
        assert!(Date::year(2025) < "2025-01".parse().unwrap());
    }

    #[test]
    fn days_between_dates_follow_the_calendar() {
        for (later, earlier, days) in [
            ("2026-11-23", "2026-11-23", 0),
            ("2026-11-23", "2026-05-27", 180),
            ("2024-03-01", "2024-02-28", 2),
            ("2023-03-01", "2023-02-28", 1),
            ("1900-03-01", "1900-02-28", 1),
            ("2026-11-23", "2026-10", 23),
            ("2026-11-23", "2025", 327),
            ("2026-01-01", "2026", -364),
        ] {
            let date = |text: &str| text.parse::<Date>().unwrap();
            assert_eq!(date(later).days_since(date(earlier)), days, "{later} and {earlier}");
        }
    }

    #[test]
    fn validity_ends_before_its_end() {
        let within = |date: &str, from: &str, until: &str| {
            date.parse::<Date>().unwrap().within(from.parse().ok(), until.parse().ok())
        };
        assert!(within("2025-09-01", "2025-09", ""));
        assert!(within("2025", "2025-09", ""));
        assert!(!within("2025-08-31", "2025-09", ""));
        assert!(within("2025-08", "", "2025-09"));
        assert!(!within("2025-09-01", "", "2025-09"));
        assert!(within("2020", "", ""));
    }
}

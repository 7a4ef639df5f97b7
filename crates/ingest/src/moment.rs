//! Moments as inputs write them: seconds since 1970, ISO 8601, and what `date` prints.
//!
//! Knows no time zone but those that a text names: a moment with an offset becomes UTC, one without stays as it is.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

/// A moment in seconds since 1970, in UTC.
pub(crate) fn of_unix(seconds: f64) -> Option<DateTime> {
    // Outside of 1990 to 2100 it is another number.
    if !(631_152_000.0..4_102_444_800.0).contains(&seconds) {
        return None;
    }
    let whole = seconds.floor();
    let timestamp = Timestamp::new(whole as i64, ((seconds - whole) * 1e9) as i32).ok()?;
    Some(Offset::UTC.to_datetime(timestamp))
}

/// A moment in one text: ISO 8601 (with `T` or a blank, `-` or `/`), or seconds or milliseconds since 1970.
pub(crate) fn of_text(text: &str) -> Option<DateTime> {
    let text = text.trim().trim_matches('"');
    if text.len() > 64 {
        return None;
    }
    if let Ok(number) = text.parse::<f64>() {
        return of_unix(number).or_else(|| of_unix(number / 1e3));
    }
    let (text, zoned) = match text.strip_suffix(" UTC").or_else(|| text.strip_suffix(" GMT")) {
        Some(text) => (text, true),
        None => (text, false),
    };
    let with_hyphens = text.as_bytes().get(4) == Some(&b'/');
    let text = if with_hyphens { text.replacen('/', "-", 2) } else { text.to_owned() };
    let timestamp = if zoned { None } else { text.parse::<Timestamp>().ok() };
    timestamp.map(|timestamp| Offset::UTC.to_datetime(timestamp)).or_else(|| text.parse().ok())
}

/// What `date` prints: `Thu Aug  9 21:23:10 UTC 2012`, also with `AM` and `PM`, and without zone.
pub(crate) fn of_date(text: &str) -> Option<DateTime> {
    let mut words = text.split_ascii_whitespace().skip_while(|word| month(word).is_none());
    let month = month(words.next()?)?;
    let day = words.next()?.parse().ok()?;
    let clock = words.next()?;
    let rest: Vec<&str> = words.take(3).collect();
    let year = rest.iter().find_map(|word| word.parse().ok().filter(|year| (1990..2100).contains(year)))?;
    let half = rest.iter().find(|word| matches!(**word, "AM" | "PM"));
    let time = of_clock(clock)?;
    let hour = match half {
        Some(&"PM") => time.hour() % 12 + 12,
        Some(_) => time.hour() % 12,
        None => time.hour(),
    };
    let date = Date::new(year, month, day).ok()?;
    Some(date.at(hour, time.minute(), time.second(), 0))
}

/// `21:23:10`, or `21:23.10` as some programs write it.
pub(crate) fn of_clock(text: &str) -> Option<Time> {
    let mut parts = text.split([':', '.']);
    let mut next = || parts.next()?.parse::<i8>().ok();
    Time::new(next()?, next()?, next()?, 0).ok()
}

/// The number of a month's English name, or of its first three letters.
pub(crate) fn month(name: &str) -> Option<i8> {
    const NAMES: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let short = name.get(..3)?;
    let index = NAMES.iter().position(|month| month.eq_ignore_ascii_case(short))?;
    name.bytes().all(|byte| byte.is_ascii_alphabetic()).then_some(index as i8 + 1)
}

/// `seconds` in UTC, on the clock that showed `local` at that moment. Clocks differ by quarters of an hour.
pub(crate) fn on_clock(seconds: f64, local: DateTime) -> Option<DateTime> {
    let utc = of_unix(seconds)?;
    let quarters = (local.duration_since(utc).as_secs_f64() / 900.0).round();
    if quarters.abs() > 60.0 {
        return Some(utc);
    }
    utc.checked_add(SignedDuration::from_secs(quarters as i64 * 900)).ok()
}

#[cfg(test)]
mod tests {
    use jiff::civil::{DateTime, date};

    use super::{of_date, of_text, of_unix, on_clock};

    #[test]
    fn moments_are_read_as_written() {
        let nine = date(2026, 3, 2).at(9, 30, 5, 0);
        for text in [
            "2026-03-02T09:30:05Z",
            "2026-03-02T10:30:05+01:00",
            "2026-03-02 09:30:05",
            "2026/03/02 09:30:05",
            "2026-03-02 09:30:05 UTC",
            "1772443805",
            "1772443805000",
            "\"1772443805\"",
        ] {
            assert_eq!(of_text(text), Some(nine), "{text}");
        }
        for text in ["Mon Mar  2 09:30:05 UTC 2026", "Mon Mar 2 09:30:05 AM CET 2026", "zzz ***Mon Mar 2 09:30:05 2026"]
        {
            assert_eq!(of_date(text), Some(nine), "{text}");
        }
        for text in ["", "12", "sda", "2026-03-02T25:00:00Z", "1e400", "NaN"] {
            assert_eq!(of_text(text), None, "{text}");
        }
        assert_eq!(of_date("Mon Mar 2 09:30:05 PM 2026").map(DateTime::hour), Some(21));
        assert_eq!(of_date("May be not a date"), None);
        assert_eq!(of_unix(-1.0), None);
    }

    #[test]
    fn a_clock_in_local_time_is_kept() {
        let local = date(2026, 3, 2).at(4, 30, 6, 0);
        assert_eq!(on_clock(1_772_443_805.25, local), Some(date(2026, 3, 2).at(4, 30, 5, 250_000_000)));
    }
}

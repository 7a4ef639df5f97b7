//! Moments as programs print them between their tables: ISO 8601, `date`, the headings of `\watch`.
//!
//! Knows nothing of tables. Zones are passed over: a moment is what the input's own clock showed.

use jiff::civil::{DateTime, date};
use plimsoll_units::Span;

/// What a line says of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Moment {
    /// What comes next was taken at that moment.
    At(DateTime),
    /// What comes next was taken that long after what came before, at a moment that cannot be read.
    Every(Span),
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Bytes of the longest line that can be a moment.
const LONGEST: usize = 100;

/// The moment that a line consists of.
pub(crate) fn of_line(line: &str) -> Option<Moment> {
    let line = line.trim();
    if line.len() > LONGEST || !line.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (text, every) = match line.rsplit_once("(every ") {
        Some((text, every)) => (text.trim_end(), seconds(every)),
        None => (line, None),
    };
    let at = text.strip_prefix("TS ").map_or_else(|| parse(text), |rest| stamped(rest.trim()));
    at.map(Moment::At).or(every.map(Moment::Every))
}

/// The moment that `text` names, and nothing else.
pub(crate) fn parse(text: &str) -> Option<DateTime> {
    let text = text.trim();
    if text.len() > LONGEST {
        return None;
    }
    iso(text).or_else(|| spoken(text)).or_else(|| epoch(text))
}

/// `10s)` of `(every 10s)`.
fn seconds(every: &str) -> Option<Span> {
    let number = every.strip_suffix(')')?.trim_end_matches('s');
    number.parse::<f64>().ok().filter(|seconds| *seconds > 0.0 && *seconds < 1e9).map(Span::from_secs_f64)
}

/// `1520256895.003 2018-03-05 13:34:55`, as loops of shells print it.
fn stamped(text: &str) -> Option<DateTime> {
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    iso(rest.trim()).or_else(|| epoch(first))
}

/// `2026-01-31 12:30:05.25+01`, with a T or a blank, with seconds and zone or without.
fn iso(text: &str) -> Option<DateTime> {
    let day = text.get(..10)?;
    let time = text.get(10..)?.strip_prefix([' ', 'T', 't'])?;
    let mut parts = day.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let day = date_of(year.parse().ok()?, month.parse().ok()?, day)?;
    let zone = time.find(|letter: char| !letter.is_ascii_digit() && !matches!(letter, ':' | '.' | ','));
    let (time, zone) = time.split_at(zone.unwrap_or(time.len()));
    is_zone(zone).then(|| clock(day, time)).flatten()
}

fn is_zone(text: &str) -> bool {
    text.len() <= 12
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'+' | b'-' | b':'))
}

/// `Sat Jan 31 12:30:05 CET 2026`, `Sat 31 Jan 2026 12:30:05 PM CET`: the words of `date`, in either order.
fn spoken(text: &str) -> Option<DateTime> {
    let (mut day, mut month, mut year, mut time) = (None, None, None, None);
    let mut afternoon = None;
    let mut words = 0;
    for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
        words += 1;
        let lower = word.to_ascii_lowercase();
        if word.contains(':') && time.is_none() {
            time = Some(word);
        } else if let Some(at) = MONTHS.iter().position(|name| lower.get(..3) == Some(name)).filter(|_| month.is_none())
        {
            month = Some(at as i8 + 1);
        } else if matches!(lower.as_str(), "am" | "pm") {
            afternoon = Some(lower == "pm");
        } else if word.bytes().all(|byte| byte.is_ascii_digit()) {
            match word.len() {
                1 | 2 if day.is_none() => day = Some(word),
                4 if year.is_none() => year = word.parse().ok(),
                _ => return None,
            }
        } else if !word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'+' || byte.is_ascii_digit()) {
            return None;
        }
    }
    let at = clock(date_of(year?, month?, day?)?, time?)?;
    if words > 8 { None } else { half_day(at, afternoon) }
}

fn half_day(at: DateTime, afternoon: Option<bool>) -> Option<DateTime> {
    let hour = match (at.hour(), afternoon) {
        (hour, None) => hour,
        (12, Some(afternoon)) => {
            if afternoon {
                12
            } else {
                0
            }
        }
        (hour @ 1..=11, Some(afternoon)) => hour + if afternoon { 12 } else { 0 },
        _ => return None,
    };
    at.with().hour(hour).build().ok()
}

fn date_of(year: i16, month: i8, day: &str) -> Option<jiff::civil::Date> {
    jiff::civil::Date::new(year, month, day.parse().ok()?).ok()
}

/// `12:30`, `12:30:05`, `12:30:05.25` of a day.
fn clock(day: jiff::civil::Date, time: &str) -> Option<DateTime> {
    let mut parts = time.splitn(3, ':');
    let (hour, minute) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let (second, fraction) = match parts.next() {
        None => (0, 0),
        Some(second) => {
            let (second, fraction) = second.split_once(['.', ',']).unwrap_or((second, ""));
            let nanos = format!("{:0<9}", fraction.get(..fraction.len().min(9))?);
            (second.parse().ok()?, nanos.parse().ok()?)
        }
    };
    Some(jiff::civil::Time::new(hour, minute, second, fraction).ok()?.on(day.year(), day.month(), day.day()))
}

/// Seconds since 1970, of this century and of ten digits, with or without decimals: UTC.
fn epoch(text: &str) -> Option<DateTime> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() != 10 || !digits(whole) || !digits(fraction) {
        return None;
    }
    let seconds: f64 = text.parse().ok()?;
    date(1970, 1, 1).at(0, 0, 0, 0).checked_add(jiff::SignedDuration::from_secs_f64(seconds)).ok()
}

#[cfg(test)]
mod tests {
    use super::{Moment, of_line};

    fn check(line: &str, expected: &str) {
        let said = match of_line(line) {
            Some(Moment::At(at)) => at.to_string(),
            Some(Moment::Every(span)) => format!("every {span}"),
            None => "none".to_owned(),
        };
        assert_eq!(said, expected, "{line:?}");
    }

    #[test]
    fn moments_are_read_as_programs_print_them() {
        check("2026-01-31 12:30:05", "2026-01-31T12:30:05");
        check("2026-01-31T12:30:05.25Z", "2026-01-31T12:30:05.25");
        check(" 2026-01-31 12:30:05.123456+01", "2026-01-31T12:30:05.123456");
        check("2026-01-31T12:30:05,5+01:00", "2026-01-31T12:30:05.5");
        check("Sat Jan 31 12:30:05 CET 2026", "2026-01-31T12:30:05");
        check("Sat Jan  1 12:30:05 2026 (every 2s)", "2026-01-01T12:30:05");
        check("        Sat 31 Jan 2026 12:30:05 AM UTC (every 10s)", "2026-01-31T00:30:05");
        check("Sat 31 Jan 2026 01:30:05 PM CET", "2026-01-31T13:30:05");
        check("am Samstag, irgendwann 12:30 (every 10s)", "every 10 s");
        check("TS 1520256895.003 2018-03-05 13:34:55", "2018-03-05T13:34:55");
        check("1769862605", "2026-01-31T12:30:05");
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for line in ["", "2026-13-31 12:30:05", "2026-01-31", "12:30:05", "Uptime 123", "(1 row)", "17698626050", "3:4"]
        {
            check(line, "none");
        }
        for line in
            ["2026-01-31 12:30:05 | 3", "2026-01-31 25:30:05", "é026-01-31 12:30:05", "(every -1s)", "Sat 1 2 3"]
        {
            check(line, "none");
        }
    }
}

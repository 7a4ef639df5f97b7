//! Timestamps in all formats of inputs, and the policy for their zones.
//!
//! Internally, all times are in UTC. A given offset is always applied, and seconds since 1970 are UTC. A time without
//! an offset is in the zone of [`crate::FormatInput`], UTC by default; abbreviations of zones other than UTC and GMT are not
//! offsets, because they are ambiguous. The [`crate::Builder`] applies the policy and records its use.

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use plimsoll_units::Span;

use crate::text;
use crate::text::dates::{DateOrder, StampOrder};

/// A time as printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stamp {
    at: DateTime,
    /// `at` is in UTC, because it had an offset.
    is_utc: bool,
    /// The order of day and month in its date.
    order: StampOrder<DateTime>,
}

/// The time of a line between tables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Taken {
    /// The time of the next sample.
    At(Stamp),
    /// The interval since the preceding sample; the time is unreadable.
    Every(Span),
}

/// Maximum bytes of a timestamp.
const MAX_BYTES: usize = 100;

impl Stamp {
    const fn local(at: DateTime) -> Self {
        Self { at, is_utc: false, order: StampOrder::Fixed }
    }

    const fn utc(at: DateTime) -> Self {
        Self { at, is_utc: true, order: StampOrder::Fixed }
    }

    fn with_offset(at: DateTime, offset: Option<Offset>) -> Option<Self> {
        match offset {
            None => Some(Self::local(at)),
            Some(offset) => {
                let timestamp = offset.to_timestamp(at).ok()?;
                Some(Self::utc(Offset::UTC.to_datetime(timestamp)))
            }
        }
    }

    /// A time of day on the date of another timestamp in the same zone; on the next date if it would otherwise be earlier by
    /// more than a change of clocks.
    pub(crate) fn next_at(self, time: Time) -> Option<Self> {
        let next = |before: DateTime| {
            let at = before.date().to_datetime(time);
            let is_next = before.duration_since(at) > SignedDuration::from_hours(1);
            if is_next { at.checked_add(SignedDuration::from_hours(24)).ok() } else { Some(at) }
        };
        Some(Self { at: next(self.at)?, order: self.order.map(next)?, ..self })
    }

    /// A time of day on this date, without an offset.
    pub(crate) const fn on(date: Date, time: Time) -> Self {
        Self::local(date.to_datetime(time))
    }

    /// The time, in UTC if it has an offset, otherwise as printed.
    pub(crate) const fn parts(self) -> (DateTime, bool) {
        (self.at, self.is_utc)
    }

    /// The order of day and month in its date.
    pub(crate) const fn order(self) -> StampOrder<DateTime> {
        self.order
    }

    /// The same in a format whose conventions are unknown.
    pub(crate) fn of_any_country(self) -> Self {
        let order = match self.order {
            StampOrder::Either { convention, swapped, .. } => {
                StampOrder::Either { convention, swapped, doubtful: true }
            }
            order => order,
        };
        Self { order, ..self }
    }
}

/// Parses a time in any format of inputs to UTC: without an offset it is in `zone`, or UTC by default. `None` for other
/// texts, and for dates whose day and month may be swapped.
pub fn time_in_utc(text: &str, zone: Option<&TimeZone>) -> Option<DateTime> {
    let stamp = parse(text).filter(|stamp| !stamp.of_any_country().order.is_doubtful())?;
    match (stamp.parts(), zone) {
        ((at, false), Some(zone)) => Some(in_zone(at, zone)),
        ((at, _), _) => Some(at),
    }
}

/// Converts local times in their order to UTC.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LocalClock {
    /// The last local time, and the same in UTC.
    last: Option<(DateTime, DateTime)>,
    /// The last distance between two times that advanced.
    step: Option<SignedDuration>,
}

impl LocalClock {
    /// The next time in UTC: of the two instants of a repeated local time, the second if the first is before the last time.
    /// True if a change of clocks, which the zone does not have, would explain its distance from the last time.
    pub(crate) fn next(&mut self, at: DateTime, zone: &TimeZone) -> (DateTime, bool) {
        let first = in_zone(at, zone);
        let Some((last, last_utc)) = self.last else {
            self.last = Some((at, first));
            return (first, false);
        };
        let is_second = |both: &[DateTime; 2]| both[0] < last_utc && both[1] >= last_utc;
        let utc = both_in_zone(at, zone).filter(is_second).map_or(first, |both| both[1]);
        let step = at.duration_since(last);
        let is_change = zone.to_fixed_offset().is_ok() && self.is_clock_change(last, step);
        if step > SignedDuration::ZERO {
            self.step = Some(step);
        }
        self.last = Some((at, utc));
        (utc, is_change)
    }

    /// True if a distance differs by an hour from the one before it, in a night of Sunday: most countries change their clocks
    /// then, after midnight.
    fn is_clock_change(&self, last: DateTime, step: SignedDuration) -> bool {
        const MAX_HOUR: i8 = 3;
        const TOLERANCE_S: f64 = 60.0;
        let is_at_night = last.weekday() == Weekday::Sunday && last.hour() <= MAX_HOUR;
        let by_an_hour = |before: SignedDuration| {
            ((step - before).as_secs_f64().abs() - 3_600.0).abs() <= TOLERANCE_S.min(before.as_secs_f64() / 2.0)
        };
        is_at_night && !step.is_zero() && self.step.is_some_and(|before| before.as_hours() <= 1 && by_an_hour(before))
    }
}

/// A time in UTC as local time of a zone.
pub(crate) fn to_zone(utc: DateTime, zone: &TimeZone) -> Option<DateTime> {
    Some(zone.to_datetime(Offset::UTC.to_timestamp(utc).ok()?))
}

/// Both instants in UTC of a local time that a change of clocks repeats.
pub(crate) fn both_in_zone(at: DateTime, zone: &TimeZone) -> Option<[DateTime; 2]> {
    let ambiguous = zone.to_ambiguous_timestamp(at);
    let of = |offset: Offset| Some(Offset::UTC.to_datetime(offset.to_timestamp(at).ok()?));
    match ambiguous.offset() {
        AmbiguousOffset::Fold { before, after } => Some([of(before)?, of(after)?]),
        _ => None,
    }
}

/// Converts a time in `zone` to UTC. Of times repeated by a clock change, the first is used.
pub(crate) fn in_zone(at: DateTime, zone: &TimeZone) -> DateTime {
    let timestamp = zone.to_ambiguous_timestamp(at).compatible();
    timestamp.map_or(at, |timestamp| Offset::UTC.to_datetime(timestamp))
}

/// The name of a zone: `UTC`, `Asia/Tokyo`, `+09:00`.
pub(crate) fn format_zone(zone: &TimeZone) -> String {
    match (zone.iana_name(), zone.to_fixed_offset()) {
        (Some(name), _) => name.to_owned(),
        (None, Ok(offset)) if offset == Offset::UTC => "UTC".to_owned(),
        (None, Ok(offset)) => {
            let minutes = offset.seconds() / 60;
            format!("{}{:02}:{:02}", if minutes < 0 { '-' } else { '+' }, minutes.abs() / 60, minutes.abs() % 60)
        }
        (None, Err(_)) => "the given zone".to_owned(),
    }
}

/// Seconds since 1970 as a time in UTC, from 1990 to 2100; other numbers are not times.
pub(crate) fn of_unix(seconds: f64) -> Option<DateTime> {
    if !(631_152_000.0..4_102_444_800.0).contains(&seconds) {
        return None;
    }
    let total = seconds.floor();
    let timestamp = jiff::Timestamp::new(total as i64, ((seconds - total) * 1e9) as i32).ok()?;
    Some(Offset::UTC.to_datetime(timestamp))
}

/// `at` plus `seconds`, which may be negative. `None` beyond the calendar.
pub(crate) fn later(at: DateTime, seconds: f64) -> Option<DateTime> {
    at.checked_add(SignedDuration::try_from_secs_f64(seconds).ok()?).ok()
}

/// The begin of a window of this length that ends at `at`.
pub(crate) fn before(at: DateTime, length: Span) -> Option<DateTime> {
    at.checked_sub(SignedDuration::from_nanos(i64::try_from(length.as_nanos()).ok()?)).ok()
}

/// A time in local time of its host, ignoring its offset.
pub(crate) fn local(text: &str) -> Option<DateTime> {
    parse(text).map(|stamp| stamp.parts().0)
}

/// The timestamp of a whole line, including `TS 1520256895.003 2018-03-05 13:34:55` and the headings of `\watch`.
pub(crate) fn of_line(line: &str) -> Option<Taken> {
    let line = line.trim();
    if line.len() > MAX_BYTES || !line.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (text, every) = match line.rsplit_once("(every ") {
        Some((text, every)) => (text.trim_end(), interval(every)),
        None => (line, None),
    };
    let text = text.strip_prefix("TS ").unwrap_or(text);
    // A bare number or date may be any value of a table.
    let is_time = text.contains(':') || unix_digits(text);
    let at = if is_time { parse(text) } else { None };
    at.map(Taken::At).or(every.map(Taken::Every))
}

/// Parses a whole text as a timestamp: ISO 8601, the dates of many countries, seconds or milliseconds since 1970, the
/// output of `date`, and the dates of Oracle.
pub(crate) fn parse(text: &str) -> Option<Stamp> {
    let text = text.trim().trim_matches('"').trim();
    if text.len() > MAX_BYTES {
        return None;
    }
    let first = text.as_bytes().first()?;
    if !first.is_ascii_digit() {
        return spoken(text);
    }
    if let Some(at) = iso(text.as_bytes()) {
        return Some(Stamp::local(at));
    }
    unix(text).or_else(|| numeric(text)).or_else(|| spoken(text)).or_else(|| {
        // Rarer formats of ISO 8601.
        let timestamp = text.parse::<jiff::Timestamp>().ok();
        let utc = timestamp.map(|timestamp| Stamp::utc(Offset::UTC.to_datetime(timestamp)));
        utc.or_else(|| text.parse().ok().map(Stamp::local))
    })
}

/// Fast path for `2024-03-14T17:53:14` without suffix, the most frequent format of samples.
fn iso(text: &[u8]) -> Option<DateTime> {
    let text: &[u8; 19] = text.try_into().ok()?;
    if !matches!([4, 7, 10, 13, 16].map(|at| text[at]), [b'-', b'-', b'T' | b' ', b':', b':']) {
        return None;
    }
    let number = |from: usize, to: usize| {
        let digits = text[from..to].iter().all(u8::is_ascii_digit);
        digits.then(|| text[from..to].iter().fold(0_i16, |number, byte| number * 10 + i16::from(byte - b'0')))
    };
    let two = |from: usize| number(from, from + 2).map(|number| number as i8);
    DateTime::new(number(0, 4)?, two(5)?, two(8)?, two(11)?, two(14)?, two(17)?, 0).ok()
}

/// Seconds since 1970 in this century: ten digits, with optional decimals.
fn unix_digits(text: &str) -> bool {
    let (total, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    total.len() == 10 && digits(total) && digits(fraction)
}

/// Seconds or milliseconds since 1970. Text after ten digits repeats the time.
fn unix(text: &str) -> Option<Stamp> {
    let (number, rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
    let repeats = || unix_digits(number) && parse(rest).is_some();
    if !rest.is_empty() && !repeats() {
        return None;
    }
    let seconds = number.parse::<f64>().ok()?;
    of_unix(seconds).or_else(|| of_unix(seconds / 1e3)).map(Stamp::utc)
}

/// A numeric date, or with the name of its month between hyphens, and a time: `03/24/15 16:46:04`, `2026-01-31
/// 12:30:05.25+01`, `11-Oct-18 04:00`.
fn numeric(text: &str) -> Option<Stamp> {
    // Some languages pad the names of months with blanks.
    let text = text.replace(" -", "-");
    let is_digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let is_mark = |(at, byte): &(usize, u8)| match byte {
        b' ' | b'\t' => true,
        b'T' | b't' => *at > 0 && is_digit(at - 1) && is_digit(at + 1),
        _ => false,
    };
    let (mark, _) = text.bytes().enumerate().find(is_mark)?;
    let (date, order) = parse_date(&text[..mark])?;
    let rest = text[mark + 1..].trim_start();
    let end = rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '+' | '-' | 'Z' | 'z')).unwrap_or(rest.len());
    let (clock, rest) = rest.split_at(end);
    if !clock.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let words = Words::of(rest)?;
    let time = half_day(clock_of(clock, true)?, words.afternoon)?;
    let stamp = Stamp::with_offset(date.to_datetime(time), words.offset)?;
    let swap = |date: Date| Some(Stamp::with_offset(date.to_datetime(time), words.offset)?.at);
    let order = match order.map(swap)? {
        StampOrder::Either { convention, swapped, doubtful } => {
            StampOrder::Either { convention, swapped, doubtful: doubtful && words.afternoon.is_none() }
        }
        order => order,
    };
    Some(Stamp { order, ..stamp })
}

/// Words after a time: half of the day, and a zone.
#[derive(Default)]
struct Words {
    afternoon: Option<bool>,
    offset: Option<Offset>,
}

impl Words {
    fn of(text: &str) -> Option<Self> {
        let mut words = Self::default();
        // `[Europe/Berlin]` repeats the offset.
        let text = text.split('[').next()?;
        for (index, word) in text.split_whitespace().enumerate() {
            if let Some(afternoon) = parse_afternoon(word) {
                words.afternoon = Some(afternoon);
            } else if let Some(offset) = offset(word) {
                words.offset = Some(offset);
            } else if index > 2 || word.len() > 5 || !word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
                return None;
            }
        }
        Some(words)
    }
}

fn parse_afternoon(word: &str) -> Option<bool> {
    match word {
        "AM" | "am" | "a.m." => Some(false),
        "PM" | "pm" | "p.m." => Some(true),
        _ => None,
    }
}

/// An offset from UTC: `Z`, `UTC`, `GMT`, `+09`, `-0700`, `+05:30`, `UTC+2`.
fn offset(word: &str) -> Option<Offset> {
    let number = ["UTC", "GMT", "Z", "z"].iter().find_map(|name| word.strip_prefix(name));
    let number = match number {
        Some("") => return Some(Offset::UTC),
        Some(number) => number,
        None => word,
    };
    let (sign, digits) = match number.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() == 4 => digits.split_at_checked(2)?,
        None => (digits, "0"),
    };
    let number = |text: &str, max: i32| {
        let digits = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<i32>().ok().filter(|number| digits && *number <= max)
    };
    Offset::from_seconds(sign * (number(hours, 15)? * 3_600 + number(minutes, 59)? * 60)).ok()
}

/// The output of `date` in either order, in English: `Sat Jan 31 12:30:05 CET 2026`, `Sat 31 Jan 2026 12:30:05 PM +09`.
fn spoken(text: &str) -> Option<Stamp> {
    let (mut day, mut month, mut year, mut clock) = (None, None, None, None);
    let mut rest = Words::default();
    let mut words = 0;
    for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
        words += 1;
        let lower = word.to_ascii_lowercase();
        if let Some(offset) = offset(word) {
            rest.offset = Some(offset);
        } else if word.contains(':') && clock.is_none() {
            clock = Some(word);
        } else if let Some(at) =
            MONTHS.iter().position(|names| lower.get(..3) == Some(names[0])).filter(|_| month.is_none())
        {
            month = Some(at as i8 + 1);
        } else if let Some(half) = parse_afternoon(word) {
            rest.afternoon = Some(half);
        } else if word.bytes().all(|byte| byte.is_ascii_digit()) {
            match word.len() {
                1 | 2 if day.is_none() => day = word.parse().ok(),
                4 if year.is_none() => year = word.parse().ok(),
                _ => return None,
            }
        } else if !word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return None;
        }
    }
    if words > 8 {
        return None;
    }
    let date = Date::new(year?, month?, day?).ok()?;
    Stamp::with_offset(date.to_datetime(half_day(clock_of(clock?, true)?, rest.afternoon)?), rest.offset)
}

/// A date, and its order of day and month. By convention the month is first with slashes, and the day with hyphens.
pub(crate) fn parse_date(text: &str) -> Option<(Date, StampOrder<Date>)> {
    if text.bytes().filter(|byte| *byte == b'-').count() == 2
        && let Some(date) = named(text)
    {
        return Some((date, StampOrder::Fixed));
    }
    if text.len() == 6
        && let Some(date) = text::integer(text.as_bytes())
    {
        // `260131`: year, month, day.
        let [year, month, day] = [date / 10_000, date / 100 % 100, date % 100].map(|part| part as i8);
        return Some((Date::new(2000 + i16::from(year), month, day).ok()?, StampOrder::Fixed));
    }
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let mut next = || numbers.next()?.parse::<u32>().ok();
    let (a, b, c) = (next()?, next()?, next()?);
    if numbers.next().is_some() {
        return None;
    }
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let year = |year: u32| if year < 70 { year + 2000 } else { year };
    let of = |year: u32, month: u32, day: u32| {
        Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
    };
    if digits == 4 {
        return Some((of(a, b, c)?, StampOrder::Fixed));
    }
    let convention = match text.as_bytes().get(digits)? {
        b'/' => DateOrder::MonthFirst,
        b'-' => DateOrder::DayFirst,
        _ => return Some((of(year(c), b, a)?, StampOrder::Fixed)),
    };
    Some(match (of(year(c), a, b), of(year(c), b, a)) {
        (Some(month_first), Some(day_first)) if month_first != day_first => {
            let (date, swapped) = match convention {
                DateOrder::MonthFirst => (month_first, day_first),
                DateOrder::DayFirst => (day_first, month_first),
            };
            // The C locale prints two digits of the year, with slashes.
            (date, StampOrder::Either { convention, swapped, doubtful: c > 99 })
        }
        (Some(date), Some(_)) => (date, StampOrder::Fixed),
        (Some(date), None) => (date, StampOrder::Proven(DateOrder::MonthFirst)),
        (None, date) => (date?, StampOrder::Proven(DateOrder::DayFirst)),
    })
}

/// `11-Oct-18`, `10-FEB-2016`, `16-2月-13`: day, name of the month in many languages, year.
fn named(text: &str) -> Option<Date> {
    let mut parts = text.splitn(3, '-').map(str::trim);
    let (day, name, year) = (parts.next()?, parts.next()?, parts.next()?);
    // A numeric month follows the order of numeric dates.
    if day.len() > 2 || name.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let year: i16 = year.parse().ok()?;
    let year = if (0..100).contains(&year) { 2000 + year } else { year };
    Date::new(year, parse_month(name)?, day.parse().ok()?).ok()
}

/// A time of day, and whether `next` belongs to it: `11:30:01 PM`. Hours, minutes and seconds are required.
pub(crate) fn time_of_day(text: &str, next: &str) -> Option<(Time, bool)> {
    let text = text.split(['+', '-', 'Z']).next()?;
    let half = parse_afternoon(next);
    Some((half_day(clock_of(text, false)?, half)?, half.is_some()))
}

/// `12:30:05.25`, `21:23.10`, `13時20分09秒`; seconds may be missing if allowed.
fn clock_of(text: &str, without_seconds: bool) -> Option<Time> {
    if !text.as_bytes().first()?.is_ascii_digit() {
        return None;
    }
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let hour: i8 = numbers.next()?.parse().ok()?;
    let minute: i8 = numbers.next()?.parse().ok()?;
    let second: i8 = match numbers.next() {
        Some(digits) => digits.parse().ok()?,
        None if without_seconds => 0,
        None => return None,
    };
    let nanos: i32 = match numbers.next() {
        Some(digits) => format!("{:0<9}", digits.get(..digits.len().min(9))?).parse().ok()?,
        None => 0,
    };
    if numbers.next().is_some() {
        return None;
    }
    // A leap second is mapped to the preceding second.
    Time::new(hour, minute, if second == 60 { 59 } else { second }, nanos).ok()
}

fn half_day(time: Time, afternoon: Option<bool>) -> Option<Time> {
    let Some(afternoon) = afternoon else { return Some(time) };
    if time.hour() > 12 {
        // Some programs add the word to times of 24 hours.
        return Some(time);
    }
    let hour = time.hour() % 12 + if afternoon { 12 } else { 0 };
    time.with().hour(hour).build().ok()
}

/// `10s)` from `(every 10s)`.
fn interval(every: &str) -> Option<Span> {
    let number = every.strip_suffix(')')?.trim_end_matches('s');
    number.parse::<f64>().ok().filter(|seconds| *seconds > 0.0 && *seconds < 1e9).map(Span::from_secs_f64)
}

/// Names of months: English first, then the different names in German, French, Spanish, Portuguese, Italian, Dutch,
/// Scandinavian, Polish, Turkish and Russian.
const MONTHS: [&[&str]; 12] = [
    &["jan", "ene", "gen", "sty", "oca", "\u{44f}\u{43d}\u{432}"],
    &["feb", "fev", "f\u{e9}v", "lut", "\u{15f}ub", "\u{444}\u{435}\u{432}"],
    &["mar", "m\u{e4}r", "mrz", "mrt", "\u{43c}\u{430}\u{440}"],
    &["apr", "avr", "abr", "kwi", "nis", "\u{430}\u{43f}\u{440}"],
    &["may", "mai", "mag", "mei", "maj", "\u{43c}\u{430}\u{439}", "\u{43c}\u{430}\u{44f}"],
    &["jun", "jui", "giu", "juin", "cze", "haz", "\u{438}\u{44e}\u{43d}"],
    &["jul", "lug", "juil", "lip", "tem", "\u{438}\u{44e}\u{43b}"],
    &["aug", "aou", "ao\u{fb}", "ago", "sie", "a\u{11f}u", "\u{430}\u{432}\u{433}"],
    &["sep", "set", "wrz", "eyl", "\u{441}\u{435}\u{43d}"],
    &["oct", "okt", "out", "ott", "pa\u{17a}", "eki", "\u{43e}\u{43a}\u{442}"],
    &["nov", "lis", "kas", "\u{43d}\u{43e}\u{44f}"],
    &["dec", "d\u{e9}c", "dez", "dic", "des", "gru", "ara", "\u{434}\u{435}\u{43a}"],
];

/// The number of a month from its name.
fn parse_month(name: &str) -> Option<i8> {
    let name = name.to_lowercase();
    // 10, 11 and 12 in Japanese and Chinese.
    let digits = name.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    if let Ok(number) = digits.parse() {
        return (1..=12).contains(&number).then_some(number);
    }
    // The longest matching name, because "juil" begins with "jui".
    let fits = |names: &[&str]| {
        names.iter().filter(|existing| name.starts_with(**existing)).map(|existing| existing.len()).max()
    };
    let best = MONTHS.iter().enumerate().filter_map(|(index, names)| Some((fits(names)?, index))).max()?;
    Some(best.1 as i8 + 1)
}

#[cfg(test)]
mod tests {
    use jiff::civil::{date, time};
    use jiff::tz::TimeZone;

    use super::{Stamp, Taken, in_zone, of_line, of_unix, parse};

    fn print(stamp: Stamp) -> String {
        let doubt = if stamp.order.is_doubtful() { " or the other way round" } else { "" };
        format!("{}{}{doubt}", stamp.at, if stamp.is_utc { "Z" } else { "" })
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(parse(text).map_or("none".to_owned(), print), expected, "{text:?}");
    }

    fn check_line(line: &str, expected: &str) {
        let found = match of_line(line) {
            Some(Taken::At(at)) => print(at),
            Some(Taken::Every(span)) => format!("every {span}"),
            None => "none".to_owned(),
        };
        assert_eq!(found, expected, "{line:?}");
    }

    #[test]
    fn earlier_times_of_day_are_of_the_next_date() {
        let check = |at: [i8; 2], next: [i8; 2], day: i8| {
            let before = Stamp::on(date(2026, 10, 25), time(at[0], at[1], 0, 0));
            let found = before.next_at(time(next[0], next[1], 0, 0)).expect("a time");
            assert_eq!(found.at.date(), date(2026, 10, day), "{at:?} {next:?}");
        };
        check([13, 0], [13, 1], 25);
        check([23, 59], [0, 0], 26);
        check([17, 0], [9, 0], 26);
        check([13, 0], [11, 30], 26);
        // A change of clocks.
        check([2, 59], [2, 0], 25);
    }

    #[test]
    fn an_offset_that_is_given_is_applied() {
        for text in [
            "2026-03-02T09:30:05Z",
            "2026-03-02T10:30:05+01:00",
            "2026-03-02T10:30:05+01:00[Europe/Berlin]",
            "2026-03-02T18:30:05+0900",
            "2026-03-02 18:30:05 +0900",
            "2026-03-02 18:30:05+09",
            "2026-03-02 09:30:05 UTC",
            "2026-03-02 11:30:05 UTC+2",
            "2026/03/02 02:30:05-0700",
            "20260302T093005Z",
            "1772443805",
            "1772443805000",
            "\"1772443805\"",
            "1772443805 2026-03-02 18:30:05",
            "Mon Mar  2 09:30:05 UTC 2026",
            "Mon Mar  2 15:00:05 +0530 2026",
            "Mon 2 Mar 2026 06:30:05 PM +09",
        ] {
            check(text, "2026-03-02T09:30:05Z");
        }
    }

    #[test]
    fn a_time_without_an_offset_is_local() {
        for text in [
            "2026-03-02 09:30:05",
            "2026/03/02 09:30:05",
            "2026-03-02 09:30:05 CET",
            "Mon Mar 2 09:30:05 AM CET 2026",
            "Mon Mar  2 09:30:05 2026",
        ] {
            check(text, "2026-03-02T09:30:05");
        }
    }

    #[test]
    fn dates_of_many_countries_are_read() {
        check("03/24/15 16:46:04", "2015-03-24T16:46:04");
        check("03/04/15 16:46:04", "2015-03-04T16:46:04");
        check("06/30/2019 05:39:21 PM", "2019-06-30T17:39:21");
        check("06/07/2019 12:39:21 AM", "2019-06-07T00:39:21");
        check("06/07/2019 12:39:21", "2019-06-07T12:39:21 or the other way round");
        check("18/04/2019 13:20:09", "2019-04-18T13:20:09");
        check("18.04.2019 13:20:09", "2019-04-18T13:20:09");
        check("04-18-2019 13:20:09", "2019-04-18T13:20:09");
        check("04-08-2019 13:20:09", "2019-08-04T13:20:09 or the other way round");
        check("2019-04-18T13:20:09+0200", "2019-04-18T11:20:09Z");
        check("2020年06月01日 13時20分09秒", "2020-06-01T13:20:09");
        check("2026-01-31 12:30:05.123456+01", "2026-01-31T11:30:05.123456Z");
        check("2026-01-31T12:30:05,5+01:00", "2026-01-31T11:30:05.5Z");
        check("2026-01-31 12:30", "2026-01-31T12:30:00");
        check("11-Oct-18 20:03:11", "2018-10-11T20:03:11");
        check("10-Jul-14 04:00", "2014-07-10T04:00:00");
        check("10-FEB-2016 21:23.10", "2016-02-10T21:23:10");
        check("01-M\u{e4}rz -21 04:00:00", "2021-03-01T04:00:00");
        check("03-juil.-21 04:00:00", "2021-07-03T04:00:00");
        check("03-juin -21 04:00:00", "2021-06-03T04:00:00");
        check("16-2\u{6708} -13 04:00:00", "2013-02-16T04:00:00");
        check("05-\u{41c}\u{410}\u{420}-21 04:00", "2021-03-05T04:00:00");
        check("05-A\u{11e}U-21 04:00", "2021-08-05T04:00:00");
        check("260131  2:30:05", "2026-01-31T02:30:05");
        check("2026-12-31 23:59:60", "2026-12-31T23:59:59");
    }

    #[test]
    fn other_texts_are_not_times() {
        for text in
            ["", "12", "sda", "soon", "2026-03-02T25:00:00Z", "1e400", "NaN", "31/31/2019 13:20:09", "31-Feb-21 04:00"]
        {
            check(text, "none");
        }
        for text in
            ["1.19 0.00 4.40 0.00", "sda 1 2 3", "13:20:09 sda 1 2 3", "é026-01-31 12:30:05", "Sat 1 2 3", "May be"]
        {
            check(text, "none");
        }
        assert_eq!(of_unix(-1.0), None);
        assert_eq!(of_unix(f64::NAN), None);
    }

    #[test]
    fn lines_between_tables_are_read() {
        check_line(" 2026-01-31 12:30:05.25Z", "2026-01-31T12:30:05.25Z");
        check_line("Sat Jan 31 12:30:05 CET 2026", "2026-01-31T12:30:05");
        check_line("Sat Jan  1 12:30:05 2026 (every 2s)", "2026-01-01T12:30:05");
        check_line("        Sat 31 Jan 2026 12:30:05 AM UTC (every 10s)", "2026-01-31T00:30:05Z");
        check_line("Sat 31 Jan 2026 01:30:05 PM CET", "2026-01-31T13:30:05");
        check_line("am Samstag, irgendwann 12:30 (every 10s)", "every 10 s");
        check_line("TS 1520256895.003 2018-03-05 13:34:55", "2018-03-05T13:34:55.00300002Z");
        check_line("1769862605", "2026-01-31T12:30:05Z");
        for line in ["", "2026-13-31 12:30:05", "2026-01-31", "12:30:05", "Uptime 123", "(1 row)", "17698626050", "3:4"]
        {
            check_line(line, "none");
        }
        for line in ["2026-01-31 12:30:05 | 3", "2026-01-31 25:30:05", "(every -1s)", "631152001", "a: b 12"] {
            check_line(line, "none");
        }
    }

    #[test]
    fn local_times_follow_the_zone_that_is_given() {
        let zone = TimeZone::fixed(jiff::tz::offset(9));
        assert_eq!(in_zone(date(2026, 3, 2).at(9, 30, 5, 0), &zone), date(2026, 3, 2).at(0, 30, 5, 0));
    }
}

//! Moments as programs print them in many countries. Knows no file.

use jiff::civil::{Date, DateTime, Time};

/// A moment as it was printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moment {
    pub(super) at: DateTime,
    /// Day and month could be the other way round as well.
    pub(super) doubtful: bool,
}

/// What a whole line says, when it is a moment and nothing else: `03/24/15 16:46:04`, `2024-03-14T17:53:14-0700`.
pub(super) fn moment(line: &str) -> Option<Moment> {
    if !line.as_bytes().first()?.is_ascii_digit() || line.len() > 64 {
        return None;
    }
    if let Some(at) = iso(line.as_bytes()) {
        return Some(Moment { at, doubtful: false });
    }
    let (day, rest) = line.split_once(['T', ' ', '\t'])?;
    let (date, doubtful) = date(day)?;
    let mut words = rest.split_whitespace();
    let time = time(words.next()?, words.next().unwrap_or_default())?;
    let twelve = words.next().is_some() || rest.ends_with(['M', 'm']);
    (words.count() < 2).then_some(Moment { at: DateTime::from_parts(date, time.0), doubtful: doubtful && !twelve })
}

/// `2024-03-14T17:53:14` and what may stand behind it, quickly: most samples have it.
fn iso(text: &[u8]) -> Option<DateTime> {
    let (moment, rest) = text.split_at_checked(19)?;
    let marks = [4, 7, 10, 13, 16].map(|at| moment[at]);
    let known = matches!(marks, [b'-', b'-', b'T' | b' ', b':', b':']);
    if !known || !rest.first().is_none_or(|next| matches!(next, b' ' | b'+' | b'-' | b'Z' | b'.')) {
        return None;
    }
    // In twelve hours or not, a second word has to be looked at.
    if rest.iter().any(|byte| matches!(byte, b'm' | b'M')) {
        return None;
    }
    let number = |from: usize, to: usize| {
        let digits = moment[from..to].iter().all(u8::is_ascii_digit);
        digits.then(|| moment[from..to].iter().fold(0_i16, |number, byte| number * 10 + i16::from(byte - b'0')))
    };
    let two = |from: usize| number(from, from + 2).map(|number| number as i8);
    DateTime::new(number(0, 4)?, two(5)?, two(8)?, two(11)?, two(14)?, two(17)?, 0).ok()
}

/// A date, and whether day and month could be the other way round. Dates with slashes are American, unless they cannot be.
pub(super) fn date(text: &str) -> Option<(Date, bool)> {
    let [a, b, c] = three(text)?;
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let year = |year: u32| if year < 70 { year + 2000 } else { year };
    let (year, month, day, doubtful) = if digits == 4 {
        (a, b, c, false)
    } else if text.contains('/') && a <= 12 {
        // The C locale prints two digits of the year, and the month first.
        (year(c), a, b, c > 99 && b <= 12 && a != b)
    } else {
        (year(c), b, a, false)
    };
    let date = Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()?;
    Some((date, doubtful))
}

/// A time of day, and whether `next` belongs to it: `11:30:01 PM`.
pub(super) fn time(text: &str, next: &str) -> Option<(Time, bool)> {
    // The zone stands behind a sign, and a fraction behind a point.
    let text = text.split(['+', '-', 'Z', '.']).next()?;
    if !text.as_bytes().first()?.is_ascii_digit() {
        return None;
    }
    let [hour, minute, second] = three(text)?;
    let half = match next {
        "AM" | "am" | "a.m." => Some(0),
        "PM" | "pm" | "p.m." => Some(12),
        _ => None,
    };
    let hour = half.map_or(hour, |half| hour % 12 + half);
    let time = Time::new(i8::try_from(hour).ok()?, i8::try_from(minute).ok()?, i8::try_from(second).ok()?, 0).ok()?;
    Some((time, half.is_some()))
}

/// Three numbers with anything between them, and nothing behind them but a mark.
fn three(text: &str) -> Option<[u32; 3]> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let mut next = || numbers.next()?.parse::<u32>().ok();
    let three = [next()?, next()?, next()?];
    numbers.next().is_none().then_some(three)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let found = moment(text).map_or("none".to_owned(), |moment| {
            format!("{}{}", moment.at, if moment.doubtful { " or the other way round" } else { "" })
        });
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn moments_of_many_countries() {
        check("03/24/15 16:46:04", "2015-03-24T16:46:04");
        check("03/04/15 16:46:04", "2015-03-04T16:46:04");
        check("06/30/2019 05:39:21 PM", "2019-06-30T17:39:21");
        check("06/07/2019 12:39:21 AM", "2019-06-07T00:39:21");
        check("06/07/2019 12:39:21", "2019-06-07T12:39:21 or the other way round");
        check("18/04/2019 13:20:09", "2019-04-18T13:20:09");
        check("18.04.2019 13:20:09", "2019-04-18T13:20:09");
        check("2019-04-18T13:20:09+0200", "2019-04-18T13:20:09");
        check("2019-04-18 13:20:09 UTC", "2019-04-18T13:20:09");
        check("2020年06月01日 13時20分09秒", "2020-06-01T13:20:09");
        check("31/31/2019 13:20:09", "none");
        check("1.19 0.00 4.40 0.00", "none");
        check("sda 1 2 3", "none");
        check("13:20:09 sda 1 2 3", "none");
    }
}

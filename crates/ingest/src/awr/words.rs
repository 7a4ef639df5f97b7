//! Numbers with units and moments, as Oracle's reports print them.

use jiff::civil::{Date, DateTime, Time};

use super::report::Rounded;
use crate::number::Numerals;

/// Bytes: `16.3G`, `.06M`, `7,680M`, `8K`; a number alone is in `unit`. Steps of 1,024.
pub(super) fn bytes(numerals: Numerals, text: &str, unit: f64) -> Option<f64> {
    let text = text.trim();
    let power = match text.as_bytes().last()? {
        b'B' | b'b' => 0,
        b'K' | b'k' => 1,
        b'M' | b'm' => 2,
        b'G' | b'g' => 3,
        b'T' | b't' => 4,
        b'P' | b'p' => 5,
        b'E' => 6,
        _ => return numerals.number(text).map(|number| number * unit),
    };
    numerals.number(&text[..text.len() - 1]).map(|number| number * 1024_f64.powi(power))
}

/// Seconds: `749.07us`, `3.82ms`, `.00ns`; a number alone is in `unit`.
pub(super) fn seconds(numerals: Numerals, text: &str, unit: f64) -> Option<f64> {
    let (number, unit) = timed(text, unit);
    numerals.number(number).map(|number| number * unit)
}

/// The same, with what its last digit is worth.
pub(super) fn rounded(numerals: Numerals, text: &str, unit: f64) -> Option<Rounded> {
    let (number, unit) = timed(text, unit);
    let value = numerals.number(number)? * unit;
    let mark = if numerals == Numerals::Point { '.' } else { ',' };
    let decimals = number.trim().rsplit_once(mark).map_or("", |(_, decimals)| decimals);
    Some(Rounded { value, step: decimals.bytes().fold(unit, |step, _| step / 10.0) })
}

/// A time without its unit, and the unit in seconds.
fn timed(text: &str, unit: f64) -> (&str, f64) {
    const UNITS: [(&str, f64); 8] = [
        ("ns", 1e-9),
        ("us", 1e-6),
        ("ms", 1e-3),
        ("min", 60.0),
        ("s", 1.0),
        ("m", 60.0),
        ("h", 3_600.0),
        ("d", 86_400.0),
    ];
    let text = text.trim();
    let found = UNITS.into_iter().find_map(|(name, seconds)| Some((text.strip_suffix(name)?, seconds)));
    found.unwrap_or((text, unit))
}

/// The number at the beginning of `60.22 (mins)`.
pub(super) fn minutes(numerals: Numerals, text: &str) -> Option<f64> {
    numerals.number(text.split('(').next()?).map(|minutes| minutes * 60.0)
}

/// A moment: `11-Oct-18 20:03:11`, `10-Jul-14 04:00`.
pub(super) fn moment(text: &str) -> Option<DateTime> {
    // Names of months are filled up with blanks in some languages.
    let text = text.replace(" -", "-");
    let (date, time) = text.trim().split_once(char::is_whitespace)?;
    let mut parts = date.trim().splitn(3, '-');
    let (day, name, year) = (parts.next()?, parts.next()?, parts.next()?);
    let year: i16 = year.trim().parse().ok()?;
    let year = if year < 100 { 2000 + year } else { year };
    let date = Date::new(year, month(name)?, day.trim().parse().ok()?).ok()?;
    let mut fields = time.trim().split(':').map(|field| field.parse::<i8>().ok());
    let (hour, minute) = (fields.next()??, fields.next()??);
    let second = fields.next().unwrap_or(Some(0))?;
    Some(date.to_datetime(Time::new(hour, minute, second, 0).ok()?))
}

/// The number of a month by its name, as the database's language has it.
fn month(name: &str) -> Option<i8> {
    // English, then what German, French, Spanish, Portuguese, Italian, Dutch, Scandinavian, Polish, Turkish and Russian
    // spell otherwise.
    const NAMES: [&[&str]; 12] = [
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
    let name = name.trim().to_lowercase();
    // 10, 11 and 12 in Japanese and Chinese, or a number alone.
    let digits = name.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    if let Ok(number) = digits.parse() {
        return (1..=12).contains(&number).then_some(number);
    }
    // The longest name that fits: "juil" is not "jui".
    let fits = |names: &[&str]| names.iter().filter(|known| name.starts_with(**known)).map(|known| known.len()).max();
    let best = NAMES.iter().enumerate().filter_map(|(index, names)| Some((fits(names)?, index))).max()?;
    Some(best.1 as i8 + 1)
}

#[cfg(test)]
mod tests {
    use super::{bytes, minutes, moment, seconds};
    use crate::number::Numerals::{Comma, Point};

    fn near(found: Option<f64>, expected: f64) {
        assert!(found.is_some_and(|found| (found - expected).abs() <= expected.abs() * 1e-12), "{found:?}, {expected}");
    }

    #[test]
    fn units_are_read() {
        near(bytes(Point, "16.3G", 1.0), 16.3 * 1_073_741_824.0);
        near(bytes(Point, ".06M", 1.0), 0.06 * 1_048_576.0);
        near(bytes(Point, "4.53108", 1_048_576.0), 4.53108 * 1_048_576.0);
        near(bytes(Comma, "7.680M", 1.0), 7_680.0 * 1_048_576.0);
        near(seconds(Point, "749.07us", 1.0), 749.07e-6);
        near(seconds(Point, ".00ns", 1.0), 0.0);
        near(seconds(Point, "2", 1e-3), 0.002);
        near(seconds(Point, "1.5m", 1.0), 90.0);
        near(minutes(Point, " 1,368.27 (mins)"), 82_096.2);
        assert_eq!((bytes(Point, "", 1.0), seconds(Point, "#####", 1.0)), (None, None));
    }

    #[test]
    fn moments_are_read_in_many_languages() {
        let table = [
            ("11-Oct-18 20:03:11", Some("2018-10-11T20:03:11")),
            ("10-Jul-14 04:00", Some("2014-07-10T04:00:00")),
            ("01-M\u{e4}rz -21 04:00:00", Some("2021-03-01T04:00:00")),
            ("03-juil.-21 04:00:00", Some("2021-07-03T04:00:00")),
            ("03-juin -21 04:00:00", Some("2021-06-03T04:00:00")),
            ("16-2\u{6708} -13 04:00:00", Some("2013-02-16T04:00:00")),
            ("05-\u{41c}\u{410}\u{420}-21 04:00", Some("2021-03-05T04:00:00")),
            ("05-A\u{11e}U-21 04:00", Some("2021-08-05T04:00:00")),
            ("31-Feb-21 04:00", None),
            ("soon", None),
        ];
        for (text, expected) in table {
            assert_eq!(moment(text).map(|moment| moment.to_string()).as_deref(), expected, "{text}");
        }
    }
}

//! Numbers with units, as Oracle's reports print them.

use jiff::civil::DateTime;

use super::report::Rounded;
use crate::number::Numerals;
use crate::timestamp;

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

/// A time on the clock of the database's host: `11-Oct-18 20:03:11`.
pub(super) fn time(text: &str) -> Option<DateTime> {
    timestamp::parse(text).map(|stamp| stamp.parts().0)
}

#[cfg(test)]
mod tests {
    use super::{bytes, minutes, seconds};
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
}

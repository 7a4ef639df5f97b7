//! Numbers in fio's notation: integers with units, hexadecimal, or expressions in parentheses.
//!
//! Observed with fio 3.33: it stops at the first unknown letter and keeps the number so far: `1.5k` is 1, `10min` is 10
//! us and `4 k` is 4. Such values are refused here, with fio's interpretation in the message, unless it is the written
//! value, as for `0.0` and `100.0`. Arithmetic follows fio's
//! documentation, since distributions build fio without it.

mod arithmetic;

use plimsoll_language::{label, say};
use plimsoll_units::Span;

/// `kb_base`: whether `k` is 1,024 or 1,000. `KiB` has the other value: with 1,024, a `KiB` is 1,000 bytes. This is the
/// inverse of the IEC standard, but job files rely on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// `kb_base=1024`, the default: `k`, `kb` and `ki` are 1,024 and `KiB` is 1,000.
    #[default]
    Binary,
    /// `kb_base=1000`: `k`, `kb` and `ki` are 1,000 and `KiB` is 1,024.
    Decimal,
}

impl Base {
    fn steps(self, inverted: bool) -> i128 {
        if (self == Self::Binary) == inverted { 1_000 } else { 1_024 }
    }
}

/// Reason why a text is not a number, with fio's interpretation if any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable(pub String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberScale {
    /// `k`, `m`, `g`, `t`, `p`: bytes, and counts, too.
    Counts(Base),
    /// Time in microseconds; the factor of numbers without a unit.
    Time(i128),
}

const MICROS_PER_SECOND: i128 = 1_000_000;

impl NumberScale {
    /// Factor of a unit: to 1, or to microseconds.
    fn unit(self, unit: &str) -> Option<i128> {
        let lower = unit.to_ascii_lowercase();
        match self {
            Self::Counts(base) => counts(base, &lower),
            Self::Time(bare) => match lower.as_str() {
                "" => Some(bare),
                "us" | "usec" => Some(1),
                "ms" | "msec" => Some(1_000),
                "s" => Some(MICROS_PER_SECOND),
                "m" => Some(60 * MICROS_PER_SECOND),
                "h" => Some(3_600 * MICROS_PER_SECOND),
                "d" => Some(86_400 * MICROS_PER_SECOND),
                _ => None,
            },
        }
    }

    /// fio's interpretation of an invalid unit: its first letter, or the smallest unit. A unit that begins with another
    /// character is none.
    fn unit_cut(self, unit: &str) -> i128 {
        let first = unit.chars().next().filter(char::is_ascii_alphabetic).map(String::from).unwrap_or_default();
        match self {
            Self::Time(_) if !first.is_empty() => 1,
            _ => self.unit(&first).unwrap_or(1),
        }
    }

    fn forms(self) -> &'static str {
        match self {
            Self::Counts(_) => label!("write a whole number, alone or with k, m, g, t or p right behind it"),
            Self::Time(_) => label!("write a whole number with us, ms, s, m, h or d right behind it"),
        }
    }
}

fn counts(base: Base, unit: &str) -> Option<i128> {
    if matches!(unit, "" | "b") {
        return Some(1);
    }
    let (letter, rest) = unit.split_at_checked(1)?;
    let power = 1 + "kmgtp".find(letter)? as u32;
    match rest {
        "" | "b" | "i" => Some(base.steps(false).pow(power)),
        "ib" => Some(base.steps(true).pow(power)),
        _ => None,
    }
}

/// True for a text with `KiB` in the sense of 1,000: `4KiB` with `kb_base=1024`.
pub(crate) fn is_inverted(text: &str, base: Base) -> bool {
    base == Base::Binary && text.to_ascii_lowercase().split(|c: char| !c.is_ascii_alphabetic()).any(is_binary_unit)
}

fn is_binary_unit(unit: &str) -> bool {
    matches!(unit, "kib" | "mib" | "gib" | "tib" | "pib")
}

/// Parses an integer: a count, or microseconds.
pub(crate) fn integer(text: &str, scale: NumberScale) -> Result<i128, Unreadable> {
    let trimmed = text.trim_end();
    let text = trimmed.trim_start();
    if text.starts_with('(') {
        return arithmetic::evaluate(text, scale);
    }
    let (number, unit) = digits(text).ok_or_else(|| Unreadable(say!("no number; {}", scale.forms())))?;
    if text.len() != trimmed.len() && !unit.is_empty() {
        // fio parses the unit at the first non-digit, which is the blank.
        let read = number.saturating_mul(scale.unit_cut(""));
        return Err(Unreadable(say!("read by fio as {read}, for the blank before it; remove the blank")));
    }
    // fio accepts no unit after hexadecimal digits.
    let is_hexadecimal = text.trim_start_matches(['-', '+']).get(..2).is_some_and(|x| x.eq_ignore_ascii_case("0x"));
    if let Some(size) = scale.unit(unit).filter(|_| !is_hexadecimal || unit.is_empty()) {
        return number
            .checked_mul(size)
            .ok_or_else(|| Unreadable(label!("too large; write a smaller number").to_owned()));
    }
    let read = number.saturating_mul(scale.unit_cut(if is_hexadecimal { "" } else { unit }));
    if whole_decimals(unit).and_then(|unit| number.checked_mul(scale.unit(unit)?)) == Some(read) && !is_hexadecimal {
        return Ok(read);
    }
    let of = if matches!(scale, NumberScale::Time(_)) { " us" } else { "" };
    Err(Unreadable(say!("read by fio as {read}{of}, for {unit:?} is not a unit there; {}", scale.forms())))
}

/// The unit after decimals that are all zero, or missing, as in `100.0` and `100.`.
fn whole_decimals(text: &str) -> Option<&str> {
    Some(text.strip_prefix('.')?.trim_start_matches('0'))
}

/// Splits a leading number from the rest.
fn digits(text: &str) -> Option<(i128, &str)> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let hexadecimal = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"));
    let (body, radix) = hexadecimal.map_or((rest, 10), |body| (body, 16));
    let end = body.find(|c: char| !c.is_digit(radix)).unwrap_or(body.len());
    // 31 digits fit in an `i128` in either radix.
    let number = i128::from_str_radix(body.get(..end.min(31))?, radix).ok().filter(|_| end <= 31)?;
    Some((sign * number, &body[end..]))
}

/// Parses a time; `bare` is the unit of a number without a unit.
pub(crate) fn span(text: &str, bare: Bare) -> Result<Span, Unreadable> {
    let bare = match bare {
        Bare::Seconds => MICROS_PER_SECOND,
        Bare::Micros => 1,
    };
    let micros = integer(text, NumberScale::Time(bare))?;
    let limit = i128::from(u64::MAX / 1_000);
    if (0..=limit).contains(&micros) {
        Ok(Span::from_micros(micros as u64))
    } else {
        Err(Unreadable(label!("not between 0 and 584 years; write a number with us, ms, s, m, h or d").to_owned()))
    }
}

/// Unit of a time without a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bare {
    /// Seconds: `runtime` and most other options.
    Seconds,
    /// Microseconds: `thinktime`, `latency_target`, `max_latency`.
    Micros,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<i128, &str>) {
        let found = integer(text, NumberScale::Counts(Base::Binary));
        match (&found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(*found, expected, "{text}"),
            (Err(Unreadable(words)), Err(expected)) => assert!(words.contains(expected), "{text}: {words}"),
            _ => panic!("{text}: {found:?} is not {expected:?}"),
        }
    }

    #[test]
    fn sizes_are_parsed_like_fio() {
        for (text, value) in [
            ("4k", 4_096),
            ("4K", 4_096),
            ("4kb", 4_096),
            ("4ki", 4_096),
            ("4KiB", 4_000),
            ("1MiB", 1_000_000),
            ("1Mi", 1 << 20),
            ("1GiB", 1_000_000_000),
            ("1gb", 1 << 30),
            ("1p", 1 << 50),
            ("0x1000", 4_096),
            ("010", 10),
            ("-5", -5),
            ("+5m", 5 << 20),
            ("7B", 7),
            (" 12", 12),
            ("0.0", 0),
            ("100.00", 100),
            ("4.0", 4),
            ("4.", 4),
            ("0.0k", 0),
            ("(1+2)", 3),
        ] {
            check(text, Ok(value));
        }
    }

    #[test]
    fn truncated_numbers_are_refused() {
        for (text, words) in [
            ("1.5k", "fio as 1,"),
            ("0.5", "fio as 0,"),
            ("4.0k", "fio as 4,"),
            ("4.01", "fio as 4,"),
            ("0x4.0", "fio as 4,"),
            ("1e3", "fio as 1,"),
            ("4 k", "fio as 4,"),
            (" 4k", "fio as 4, for the blank"),
            ("4kx", "fio as 4096,"),
            ("0x1k", "fio as 1,"),
            ("1eb", "fio as 1,"),
            (".5k", "no number"),
            ("k", "no number"),
            ("", "no number"),
            ("99999999999999999999999999999999999999999", "no number"),
        ] {
            check(text, Err(words));
        }
    }

    #[test]
    fn decimal_base_swaps_units() {
        let read = |text| integer(text, NumberScale::Counts(Base::Decimal));
        assert_eq!(
            (read("4k"), read("4ki"), read("4KiB"), read("1gb")),
            (Ok(4_000), Ok(4_000), Ok(4_096), Ok(1_000_000_000))
        );
        assert!(is_inverted("4KiB", Base::Binary) && !is_inverted("4KiB", Base::Decimal));
        assert!(!is_inverted("4k,8Ki", Base::Binary) && is_inverted("4k,8mib", Base::Binary));
    }

    #[test]
    fn times_are_parsed_like_fio() {
        let seconds = |text| span(text, Bare::Seconds).map(Span::as_nanos).map_err(|Unreadable(words)| words);
        for (text, ms) in [("10", 10_000), ("10s", 10_000), ("10m", 600_000), ("1H", 3_600_000), ("10msec", 10)] {
            assert_eq!(seconds(text), Ok(ms * 1_000_000), "{text}");
        }
        assert_eq!(span("10", Bare::Micros), Ok(Span::from_micros(10)));
        assert_eq!(span("10us", Bare::Seconds), Ok(Span::from_micros(10)));
        assert_eq!(span("60.0", Bare::Seconds), Ok(Span::from_secs(60)));
        assert_eq!(span("60.0s", Bare::Seconds), Ok(Span::from_secs(60)));
        assert_eq!(span("60.0", Bare::Micros), Ok(Span::from_micros(60)));
        for (text, words) in [
            ("10min", "10 us"),
            ("10sec", "10 us"),
            ("1:30", "1000000 us"),
            ("1.5", "1000000 us"),
            ("1500.0ms", "1500000000 us"),
            ("-5", "584 years"),
            ("x", "no"),
        ] {
            assert!(seconds(text).is_err_and(|reported| reported.contains(words)), "{text}: {:?}", seconds(text));
        }
    }
}

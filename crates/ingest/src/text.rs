//! Parsers of numbers, sizes, durations, fields, timestamps and table cells, as printed by programs.

pub(crate) mod cut;
pub(crate) mod dates;
pub(crate) mod lines;
mod numbering;
pub(crate) mod pasted;
mod quotes;
pub(crate) mod rows;
pub(crate) mod table;
pub(crate) mod timestamp;

use jiff::SignedDuration;
use plimsoll_units::Span;

/// Bytes of a sector in kernel statistics, independent of the device.
pub(crate) const SECTOR: f64 = 512.0;
/// Bytes of a KiB.
pub(crate) const KIB: f64 = 1_024.0;
/// Bytes of a MiB.
pub(crate) const MIB: f64 = 1_048_576.0;
/// Bytes of a GiB.
pub(crate) const GIB: f64 = 1_073_741_824.0;
/// Seconds of a millisecond.
pub(crate) const MILLI: f64 = 1e-3;

/// The decimal separator of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Numerals {
    /// `1,234.5`
    #[default]
    Point,
    /// `1.234,5`
    Comma,
}

impl Numerals {
    /// Parses a whole text as a number: with or without thousands separators, with or without a leading zero (`.5`),
    /// with an exponent (`1.5E+07`). A column of `####` is not a number, nor are digits in groups of other than three.
    pub(crate) fn number(self, text: &str) -> Option<f64> {
        let text = text.trim();
        let (decimal, thousands) = match self {
            Self::Point => (b'.', b','),
            Self::Comma => (b',', b'.'),
        };
        // Longer than any printed number; longer texts are rejected rather than truncated.
        let mut plain = [0_u8; 64];
        let mut length = 0;
        for (at, &byte) in text.as_bytes().iter().enumerate() {
            let byte = match byte {
                _ if byte == thousands => {
                    let digits = text.as_bytes()[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                    let follows_digit = plain[..length].last().is_some_and(u8::is_ascii_digit);
                    if digits == 3 && follows_digit && !plain[..length].contains(&b'.') {
                        continue;
                    }
                    return None;
                }
                _ if byte == decimal => b'.',
                b'0'..=b'9' | b'-' | b'+' | b'e' | b'E' => byte,
                _ => return None,
            };
            *plain.get_mut(length)? = byte;
            length += 1;
        }
        let plain = std::str::from_utf8(&plain[..length]).ok()?;
        if plain.bytes().any(|byte| byte.is_ascii_digit()) { plain.parse().ok() } else { None }
    }

    /// The separator of a number that is known to have decimals, such as `60.22`.
    pub(crate) fn of(text: &str) -> Option<Self> {
        match text.bytes().rev().find(|byte| !byte.is_ascii_digit())? {
            b'.' => Some(Self::Point),
            b',' => Some(Self::Comma),
            _ => None,
        }
    }

    /// Guesses the separator of a text: a comma without a point is a decimal comma.
    pub(crate) fn guess(text: &str) -> Self {
        if text.matches(',').count() == 1 && !text.contains('.') { Self::Comma } else { Self::Point }
    }

    /// Bytes: `16.3G`, `.06M`, `7,680M`, `8K`; a bare number is in `unit`.
    pub(crate) fn bytes(self, text: &str, unit: f64) -> Option<f64> {
        let text = text.trim();
        match text.char_indices().next_back()? {
            (at, letter) if letter.is_ascii_alphabetic() => Some(self.number(&text[..at])? * byte_unit(&text[at..])?),
            _ => Some(self.number(text)? * unit),
        }
    }

    /// Seconds: `749.07us`, `3.82ms`, `.00ns`; a bare number is in `unit`.
    pub(crate) fn seconds(self, text: &str, unit: f64) -> Option<f64> {
        let (number, unit) = timed(text, unit)?;
        Some(self.number(number)? * unit)
    }
}

/// A number with a decimal point or comma, and no thousands separators.
pub(crate) fn parse_decimal(text: &str) -> Option<f64> {
    let marks = text.bytes().filter(|byte| matches!(byte, b'.' | b',')).count();
    if marks > 1 { None } else { Numerals::guess(text).number(text) }
}

/// The number at the beginning of a text, and the rest: `7.4 s`, `16MiB`, `531,458 MB/s`.
pub(crate) fn leading(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_start();
    let is_part = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',');
    let signs = usize::from(text.starts_with(['-', '+']));
    let end = text.bytes().skip(signs).position(|byte| !is_part(byte)).map_or(text.len(), |at| at + signs);
    let digits = text[..end].trim_end_matches([',', '.']);
    Some((Numerals::guess(digits).number(digits)?, text[end..].trim()))
}

/// The number at the beginning of a text.
pub(crate) fn parse_number(text: &str) -> Option<f64> {
    leading(text).map(|(number, _)| number)
}

/// The number after a mark: `QD=32`, `Q= 8`.
pub(crate) fn number_after(text: &str, mark: &str) -> Option<f64> {
    parse_number(text.split_once(mark)?.1)
}

/// A number with a decimal suffix: `137k`, `43.4k`, `1.2M`.
pub(crate) fn parse_count(text: &str) -> Option<f64> {
    let (number, suffix) = leading(text).filter(|(number, _)| *number >= 0.0)?;
    let factor = match suffix.as_bytes().first() {
        Some(b'k' | b'K') => 1e3,
        Some(b'M' | b'm') => 1e6,
        Some(b'G' | b'g') => 1e9,
        Some(b'T' | b't') => 1e12,
        _ => 1.0,
    };
    Some(number * factor)
}

/// Bytes: `1MiB`, `512KB`, `64K`, `103759KB/s`, `4096`.
pub(crate) fn size(text: &str) -> Option<f64> {
    let (number, unit) = leading(text).filter(|(number, _)| *number >= 0.0)?;
    Some(number * byte_unit(unit)?)
}

/// Seconds: `44660us`, `512ms`, `13s`, `7.4 s`; a bare number is in `unit`.
pub(crate) fn parse_seconds(text: &str, unit: f64) -> Option<f64> {
    let (number, rest) = leading(text)?;
    let name = rest.trim_start_matches(|letter: char| !letter.is_alphabetic());
    let name = name.split(|letter: char| !letter.is_alphabetic()).next().unwrap_or_default();
    Some(number * if name.is_empty() { unit } else { time_unit(name)? })
}

/// A time without its unit, and the unit in seconds.
pub(crate) fn timed(text: &str, unit: f64) -> Option<(&str, f64)> {
    let text = text.trim();
    let number = text.trim_end_matches(char::is_alphabetic);
    Some((number, if number.len() == text.len() { unit } else { time_unit(&text[number.len()..])? }))
}

/// Bytes of a unit by its first letter, in powers of 1,024 for any spelling, because only fio distinguishes `kB` for
/// 1,000.
pub(crate) fn byte_unit(unit: &str) -> Option<f64> {
    let power = match unit.as_bytes().first().map(u8::to_ascii_lowercase) {
        None | Some(b'b') => 0,
        Some(b'k') if unit.starts_with("kB") => return Some(1e3),
        Some(b'k') => 1,
        Some(b'm') => 2,
        Some(b'g') => 3,
        Some(b't') => 4,
        Some(b'p') => 5,
        Some(b'e') if unit.starts_with('E') => 6,
        _ => return None,
    };
    Some(1024_f64.powi(power))
}

/// Seconds of a unit.
pub(crate) fn time_unit(name: &str) -> Option<f64> {
    Some(match name {
        "ps" => 1e-12,
        "ns" | "nsec" => 1e-9,
        "us" | "usec" | "usecs" | "\u{b5}s" | "\u{3bc}s" => 1e-6,
        "ms" | "msec" => 1e-3,
        "s" | "sec" | "secs" | "seconds" => 1.0,
        "m" | "min" | "minutes" => 60.0,
        "h" => 3_600.0,
        "d" => 86_400.0,
        "w" => 604_800.0,
        _ => return None,
    })
}

/// A formatted number: `1.5k`, `0.3%`; with the bytes of its unit, if any. `s` is a sector.
pub(crate) fn with_unit(text: &str) -> Option<(f64, Option<f64>)> {
    let Some(last) = text.chars().last().filter(|last| !last.is_ascii_digit()) else {
        return Some((parse_decimal(text)?, None));
    };
    let number = parse_decimal(text.strip_suffix(last)?)?;
    Some(match last {
        '%' => (number, None),
        's' => (number, Some(512.0)),
        _ => (number, Some(byte_unit(text.get(text.len() - 1..)?)?)),
    })
}

/// `5d17h8m18s`
pub(crate) fn elapsed(text: &str) -> Option<Span> {
    let (mut total, mut number) = (0_u64, 0_u64);
    for letter in text.bytes() {
        let unit = match letter {
            b'0'..=b'9' => {
                number = number.checked_mul(10)?.checked_add(u64::from(letter - b'0'))?;
                continue;
            }
            b'd' => 86_400,
            b'h' => 3_600,
            b'm' => 60,
            b's' => 1,
            _ => return None,
        };
        total = total.checked_add(number.checked_mul(unit)?)?;
        number = 0;
    }
    Some(Span::from_secs(total))
}

/// `PT1M`, `PT1H`, `P1D`
pub(crate) fn iso_duration(text: &str) -> Option<Span> {
    let seconds = match text {
        "P1D" => 86_400.0,
        _ => text.parse::<SignedDuration>().ok()?.as_secs_f64(),
    };
    Some(Span::from_secs_f64(seconds)).filter(|length| !length.is_zero())
}

/// Powers of ten that a double represents exactly, as it does integers of 15 digits: a single division rounds
/// correctly.
const TENS: [f64; 16] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Parses the numbers of a line of columns, optimised for files of gigabytes. `mark` and blanks separate numbers, which
/// have a decimal point or comma. False for any other content; `into` may then have some numbers.
pub(crate) fn columns(text: &[u8], mark: u8, into: &mut Vec<f64>) -> bool {
    let mut at = 0;
    loop {
        while text.get(at).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == mark) {
            at += 1;
        }
        if at == text.len() {
            return true;
        }
        let (mut digits, mut count, mut decimals, mut pointed) = (0_u64, 0, 0, false);
        while let Some(byte) = text.get(at) {
            match byte {
                _ if *byte == mark => break,
                b'0'..=b'9' if count < 15 => {
                    digits = digits * 10 + u64::from(byte - b'0');
                    count += 1;
                    decimals += usize::from(pointed);
                }
                b'.' | b',' if !pointed => pointed = true,
                b' ' | b'\t' => break,
                _ => return false,
            }
            at += 1;
        }
        if count == 0 {
            return false;
        }
        into.push(digits as f64 / TENS[decimals]);
    }
}

/// Splits a line at each `separator`. Returns the number of fields; those beyond `fields` are only counted.
///
/// Fields are short: examining each byte is faster than any search.
pub(crate) fn split<'a>(line: &'a [u8], separator: u8, fields: &mut [&'a [u8]]) -> usize {
    let mut count = 0;
    let mut begin = 0;
    for (at, byte) in line.iter().enumerate() {
        if *byte == separator {
            if let Some(field) = fields.get_mut(count) {
                *field = trimmed(&line[begin..at]);
            }
            count += 1;
            begin = at + 1;
        }
    }
    if let Some(field) = fields.get_mut(count) {
        *field = trimmed(&line[begin..]);
    }
    count + 1
}

/// Most fields have no surrounding blanks.
#[inline]
fn trimmed(field: &[u8]) -> &[u8] {
    match field {
        [first, .., last] if *first > b' ' && *last > b' ' => field,
        _ => field.trim_ascii(),
    }
}

/// Splits a line at runs of blanks and tabs. Stops when `fields` is full: an additional element shows whether there are
/// more.
pub(crate) fn words<'a>(line: &'a [u8], fields: &mut [&'a [u8]]) -> usize {
    let mut at = 0;
    for (count, field) in fields.iter_mut().enumerate() {
        while line.get(at).is_some_and(|byte| *byte <= b' ') {
            at += 1;
        }
        let begin = at;
        while line.get(at).is_some_and(|byte| *byte > b' ') {
            at += 1;
        }
        if begin == at {
            return count;
        }
        *field = &line[begin..at];
    }
    fields.len()
}

/// An integer: digits only.
#[inline]
pub(crate) fn integer(text: &[u8]) -> Option<u64> {
    // Numbers with at most this many digits cannot overflow.
    const SAFE: usize = 19;
    if text.is_empty() || text.len() > SAFE + 1 {
        return None;
    }
    let (head, last) = text.split_at(text.len().min(SAFE));
    let mut value: u64 = 0;
    for byte in head {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    match last {
        [] => Some(value),
        [digit @ b'0'..=b'9', ..] => value.checked_mul(10)?.checked_add(u64::from(digit - b'0')),
        _ => None,
    }
}

/// A number with optional decimals, times `unit`: `1.5` with a unit of 1,000,000,000 is 1,500,000,000. Remaining
/// decimals are dropped.
pub(crate) fn scaled(text: &[u8], unit: u64) -> Option<u64> {
    if let Some(value) = integer(text) {
        return value.checked_mul(unit);
    }
    let point = text.iter().position(|byte| *byte == b'.')?;
    let (before, after) = (&text[..point], &text[point + 1..]);
    let mut value = if before.is_empty() { 0 } else { integer(before)?.checked_mul(unit)? };
    if before.is_empty() && after.is_empty() {
        return None;
    }
    let mut unit = unit;
    for byte in after {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        unit /= 10;
        value = value.checked_add(u64::from(digit) * unit)?;
    }
    Some(value)
}

/// True if `word` is among the blank-separated `words`.
pub(crate) fn lists(words: &str, word: &str) -> bool {
    words.split(' ').any(|listed| listed == word)
}

/// Hexadecimal digits, with or without `0x`.
pub(crate) fn hexadecimal(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X")).unwrap_or(text);
    let text = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u64::from_str_radix(text, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::Numerals::{Comma, Point};
    use super::*;

    fn near(found: Option<f64>, expected: f64) {
        assert!(found.is_some_and(|found| (found - expected).abs() <= expected.abs() * 1e-12), "{found:?}, {expected}");
    }

    #[test]
    fn numbers_are_read_as_printed() {
        let table: [(Numerals, &str, Option<f64>); 22] = [
            (Point, "1,234,567.5", Some(1_234_567.5)),
            (Point, " .06 ", Some(0.06)),
            (Point, "-3", Some(-3.0)),
            (Point, "1.5E+07", Some(1.5e7)),
            (Point, "1.E+03", Some(1_000.0)),
            (Point, "1.07832e+06", Some(1_078_320.0)),
            (Point, "", None),
            (Point, ".", None),
            (Point, "-", None),
            (Point, "#####", None),
            (Point, "12K", None),
            (Point, "E", None),
            (Point, "1e", None),
            (Comma, "1.234,5", Some(1_234.5)),
            (Comma, ",06", Some(0.06)),
            (Comma, "1.234.567", Some(1_234_567.0)),
            (Comma, "8.192", Some(8_192.0)),
            (Comma, "40.96", None),
            (Point, "1,23", None),
            (Point, "1,2345", None),
            (Point, ",123", None),
            (Comma, "12", Some(12.0)),
        ];
        for (numerals, text, expected) in table {
            assert_eq!(numerals.number(text), expected, "{text:?}");
        }
        assert_eq!(Point.number(&"1".repeat(65)), None);
        assert_eq!((Numerals::of("60.22"), Numerals::of("1.060,22")), (Some(Point), Some(Comma)));
        assert_eq!(Numerals::of("60"), None);
    }

    #[test]
    fn numbers_end_at_their_unit() {
        assert_eq!(parse_number(" 531.458 MB/s"), Some(531.458));
        assert_eq!(parse_number("531,458 MB/s"), Some(531.458), "a decimal comma");
        assert_eq!(parse_number("1,234.5"), Some(1_234.5));
        assert_eq!(parse_number("-1"), Some(-1.0));
        assert_eq!((parse_number("+++++"), parse_number("N/A"), parse_number("")), (None, None, None));
        assert_eq!(number_after("(Q= 32, T= 1)", "Q="), Some(32.0));
        assert_eq!(number_after("none", "Q="), None);
        for (text, expected) in [("137k", 137e3), ("43.4k", 43_400.0), ("699", 699.0), ("1.5M", 1.5e6)] {
            near(parse_count(text), expected);
        }
        assert_eq!((parse_count(""), parse_count("k")), (None, None));
    }

    #[test]
    fn sizes_have_units() {
        let sizes = [("4KiB", 4_096.0), ("1 MiB", 1_048_576.0), ("512KB", 524_288.0), ("8192", 8_192.0)];
        let rates = [("103759KB/s", 106_249_216.0), ("2800KiB/s", 2_867_200.0), ("2867kB/s", 2_867_000.0)];
        for (text, expected) in sizes.into_iter().chain(rates).chain([("16.0KiB-16.0KiB", 16_384.0), ("4k", 4_096.0)]) {
            near(size(text), expected);
        }
        assert_eq!((size("4 apples"), size("-")), (None, None));
        near(Point.bytes("16.3G", 1.0), 16.3 * 1_073_741_824.0);
        near(Point.bytes(".06M", 1.0), 0.06 * 1_048_576.0);
        near(Point.bytes("4.53108", 1_048_576.0), 4.53108 * 1_048_576.0);
        near(Comma.bytes("7.680M", 1.0), 7_680.0 * 1_048_576.0);
        assert_eq!(Point.bytes("", 1.0), None);
        assert_eq!((with_unit("1.5k"), with_unit("0,3%")), (Some((1.5, Some(1024.0))), Some((0.3, None))));
        assert_eq!((with_unit("12"), with_unit("2s")), (Some((12.0, None)), Some((2.0, Some(512.0)))));
        assert_eq!((with_unit("k"), with_unit("1.5x"), with_unit(""), with_unit("é")), (None, None, None, None));
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(parse_seconds("512ms", 1.0), Some(0.512));
        assert_eq!(parse_seconds("250", 1e-3), Some(0.25));
        assert_eq!(parse_seconds("7.4 s", 1e-3), Some(7.4));
        assert_eq!(parse_seconds("1 fortnight", 1.0), None);
        near(Point.seconds("749.07us", 1.0), 749.07e-6);
        near(Point.seconds(".00ns", 1.0), 0.0);
        near(Point.seconds("2", 1e-3), 0.002);
        near(Point.seconds("1.5m", 1.0), 90.0);
        assert_eq!(Point.seconds("#####", 1.0), None);
        assert_eq!((elapsed("5d17h8m18s"), elapsed("--")), (Some(Span::from_secs(493_698)), None));
        assert_eq!(
            (iso_duration("PT5M"), iso_duration("P1D")),
            (Some(Span::from_secs(300)), Some(Span::from_secs(86_400)))
        );
        assert_eq!(iso_duration("FULL"), None);
    }

    #[test]
    fn columns_contain_only_numbers() {
        let check = |text: &str, expected: Option<&[f64]>| {
            let mut into = Vec::new();
            let is_whole = columns(text.as_bytes(), b' ', &mut into);
            assert_eq!(is_whole.then_some(into.as_slice()), expected, "{text:?}");
        };
        check(" 0.10  12\t3,25 ", Some(&[0.1, 12.0, 3.25]));
        check("", Some(&[]));
        check("123456789012.345", Some(&[123_456_789_012.345]));
        for text in ["1 sda", "1.2.3", "-1", ".", "1234567890123456"] {
            check(text, None);
        }
    }

    #[test]
    fn integers_contain_only_digits() {
        assert_eq!((integer(b"0"), integer(b"18446744073709551615")), (Some(0), Some(u64::MAX)));
        for text in [&b""[..], b"-1", b"1.0", b"18446744073709551616", b"1e3", b" 1"] {
            assert_eq!(integer(text), None, "{text:?}");
        }
        let table: [(&[u8], u64, Option<u64>); 8] = [
            (b"1.5", 1_000_000_000, Some(1_500_000_000)),
            (b"0.000001850", 1_000_000_000, Some(1_850)),
            (b".25", 1_000, Some(250)),
            (b"7.", 1_000, Some(7_000)),
            (b"3", 100, Some(300)),
            (b"0.123456", 1_000, Some(123)),
            (b".", 1_000, None),
            (b"1.2.3", 1_000, None),
        ];
        for (text, unit, expected) in table {
            assert_eq!(scaled(text, unit), expected, "{text:?}");
        }
        assert_eq!((hexadecimal(b"2a"), hexadecimal(b"0x28"), hexadecimal(b"R")), (Some(0x2a), Some(0x28), None));
    }

    #[test]
    fn fields_beyond_the_room_are_counted() {
        let mut two: [&[u8]; 2] = [b""; 2];
        assert_eq!((split(b"a, b,c", b',', &mut two), two), (3, [&b"a"[..], b"b"]));
        assert_eq!((words(b"  a\t b c ", &mut two), two), (2, [&b"a"[..], b"b"]));
        assert_eq!((words(b" c ", &mut two), two), (1, [&b"c"[..], b"b"]), "a missing field is unchanged");
        assert_eq!((split(b"", b',', &mut two), words(b" ", &mut two)), (1, 0));
    }
}

//! Numbers and sizes as benchmarks print them.

use crate::number::Numerals;

/// The number at the beginning of a text: `7.4 s`, `16MiB`, `531.458 MB/s`. One comma and no point is a decimal comma:
/// these programs print no marks between thousands but beside a point.
pub(super) fn number(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let is_part = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',');
    let signs = usize::from(text.starts_with(['-', '+']));
    let end = text.bytes().skip(signs).position(|byte| !is_part(byte)).map_or(text.len(), |at| at + signs);
    let digits = text[..end].trim_end_matches([',', '.']);
    let numerals = match (digits.matches(',').count(), digits.contains('.')) {
        (1, false) => Numerals::Comma,
        _ => Numerals::Point,
    };
    numerals.number(digits)
}

/// The number behind a mark: `QD=32`, `Q= 8`.
pub(super) fn number_after(text: &str, mark: &str) -> Option<f64> {
    number(text.split_once(mark)?.1)
}

/// Bytes: `1MiB`, `512KB`, `64K`, `4096`. Blocks come in steps of 1,024, whatever their unit is called.
pub(super) fn size(text: &str) -> Option<f64> {
    let text = text.trim();
    let value = number(text)?;
    let unit = text.trim_start_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ',' | ' '));
    let power = match unit.bytes().next().map(|byte| byte.to_ascii_lowercase()) {
        None | Some(b'b') => 0,
        Some(b'k') => 1,
        Some(b'm') => 2,
        Some(b'g') => 3,
        Some(b't') => 4,
        _ => return None,
    };
    Some(value * 1024_f64.powi(power))
}

/// Seconds: `44660us`, `512ms`, `13s`, `7.4 s`; a number alone is in `unit`.
pub(super) fn seconds(text: &str, unit: f64) -> Option<f64> {
    let text = text.trim();
    let value = number(text)?;
    let name = text.trim_start_matches(|letter: char| !letter.is_alphabetic());
    let unit = match name {
        "" => unit,
        name if name.starts_with("ns") => 1e-9,
        name if name.starts_with("us") || name.starts_with('\u{b5}') || name.starts_with('\u{3bc}') => 1e-6,
        name if name.starts_with("ms") => 1e-3,
        name if name.starts_with('s') => 1.0,
        _ => return None,
    };
    Some(value * unit)
}

#[cfg(test)]
mod tests {
    use super::{number, number_after, seconds, size};

    #[test]
    fn numbers_end_where_their_unit_begins() {
        assert_eq!(number(" 531.458 MB/s"), Some(531.458));
        assert_eq!(number("531,458 MB/s"), Some(531.458), "a decimal comma");
        assert_eq!(number("1,234.5"), Some(1_234.5));
        assert_eq!(number("-1"), Some(-1.0));
        assert_eq!((number("+++++"), number("N/A"), number("")), (None, None, None));
        assert_eq!(number_after("(Q= 32, T= 1)", "Q="), Some(32.0));
        assert_eq!(number_after("none", "Q="), None);
    }

    #[test]
    fn sizes_and_times_have_units() {
        assert_eq!(size("4KiB"), Some(4_096.0));
        assert_eq!(size("1 MiB"), Some(1_048_576.0));
        assert_eq!(size("512KB"), Some(524_288.0));
        assert_eq!(size("8192"), Some(8_192.0));
        assert_eq!(size("4 apples"), None);
        assert_eq!(seconds("512ms", 1.0), Some(0.512));
        assert_eq!(seconds("250", 1e-3), Some(0.25));
        assert_eq!(seconds("7.4 s", 1e-3), Some(7.4));
        assert_eq!(seconds("1 fortnight", 1.0), None);
    }
}

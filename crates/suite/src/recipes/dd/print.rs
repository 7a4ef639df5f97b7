//! How GNU dd writes sizes, times and rates.
//!
//! Knows nothing about steps. Figures are rounded as coreutils 9 rounds them: sizes to the nearest with one decimal below
//! ten, times to six digits, rates in powers of 1,000 with one decimal below a hundred.

use plimsoll_units::{Bytes, Span};

/// The three lines of a copy of so many bytes in whole blocks of `block` bytes.
pub(super) fn lines(bytes: u64, block: Bytes, span: Span) -> String {
    let records = format!("{}+{}", bytes / block.get(), u8::from(!bytes.is_multiple_of(block.get())));
    format!("{records} records in\n{records} records out\n{}\n", copied(bytes, span))
}

/// `5368709120 bytes (5.4 GB, 5.0 GiB) copied, 348.028 s, 15.4 MB/s`.
pub(super) fn copied(bytes: u64, span: Span) -> String {
    let noun = if bytes == 1 { "byte" } else { "bytes" };
    let sizes = match (size(bytes, 1000), size(bytes, 1024)) {
        (Some(decimal), Some(binary)) => format!(" ({decimal}, {binary})"),
        (Some(decimal), None) => format!(" ({decimal})"),
        _ => String::new(),
    };
    format!("{bytes} {noun}{sizes} copied, {} s, {}", seconds(span.as_secs_f64()), rate(bytes, span))
}

/// A size in the largest unit that it holds once; none below the first.
fn size(bytes: u64, base: u128) -> Option<String> {
    let units =
        if base == 1000 { ["kB", "MB", "GB", "TB", "PB", "EB"] } else { ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] };
    let bytes = u128::from(bytes);
    let mut power = (0..=6).rev().find(|power| bytes >= base.pow(*power))?;
    if power == 0 {
        return None;
    }
    let tenths = nearest(bytes * 10, base.pow(power));
    if tenths < 100 {
        return Some(format!("{}.{} {}", tenths / 10, tenths % 10, units[power as usize - 1]));
    }
    let whole = nearest(bytes, base.pow(power));
    if whole == base && power < 6 {
        power += 1;
        return Some(format!("1.0 {}", units[power as usize - 1]));
    }
    Some(format!("{whole} {}", units[power as usize - 1]))
}

/// The nearest whole quotient; of two that are equally near, the even one.
const fn nearest(value: u128, unit: u128) -> u128 {
    let (whole, rest) = (value / unit, value % unit);
    let up = rest * 2 > unit || (rest * 2 == unit && whole % 2 == 1);
    if up { whole + 1 } else { whole }
}

/// Six digits, without zeroes at the end; with an exponent below 0.0001 and from a million on.
fn seconds(value: f64) -> String {
    let digits = format!("{value:.5e}");
    let (mantissa, exponent) = digits.split_once('e').unwrap_or((&digits, "0"));
    let power: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| text.trim_end_matches('0').trim_end_matches('.').to_owned();
    if (-4..6).contains(&power) {
        let text = format!("{value:.*}", (5 - power) as usize);
        return if text.contains('.') { trimmed(&text) } else { text };
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(mantissa), power.abs())
}

/// Bytes per second in powers of 1,000.
pub(super) fn rate(bytes: u64, span: Span) -> String {
    if span.is_zero() {
        return "Infinity B/s".into();
    }
    let mut value = bytes as f64 / span.as_secs_f64();
    let units = ["B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"];
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let fine = format!("{value:.1}");
    let text = if fine.len() > 4 { format!("{value:.0}") } else { fine };
    format!("{text} {}", units[unit])
}

/// A number of bytes as it is typed: `1G`, `8K`, `500`.
pub(super) fn typed(bytes: Bytes) -> String {
    let fits = [(30, "G"), (20, "M"), (10, "K")];
    let fit = fits.iter().find(|(shift, _)| bytes.get() > 0 && bytes.get().is_multiple_of(1 << shift));
    fit.map_or_else(|| bytes.get().to_string(), |(shift, letter)| format!("{}{letter}", bytes.get() >> shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_said_as_gnu_dd_says_it() {
        // Lines that dd of coreutils 9.1 printed, and those of a published article.
        let check = |bytes, nanoseconds, expected: &str| {
            assert_eq!(copied(bytes, Span::from_nanos(nanoseconds)), expected);
        };
        check(5_368_709_120, 348_028_000_000, "5368709120 bytes (5.4 GB, 5.0 GiB) copied, 348.028 s, 15.4 MB/s");
        check(5_368_709_120, 174_138_000_000, "5368709120 bytes (5.4 GB, 5.0 GiB) copied, 174.138 s, 30.8 MB/s");
        check(5_368_709_120, 86_154_000_000, "5368709120 bytes (5.4 GB, 5.0 GiB) copied, 86.154 s, 62.3 MB/s");
        check(7_340_032, 6_457_910, "7340032 bytes (7.3 MB, 7.0 MiB) copied, 0.00645791 s, 1.1 GB/s");
        check(500, 134_461, "500 bytes copied, 0.000134461 s, 3.7 MB/s");
        check(1500, 65_938, "1500 bytes (1.5 kB, 1.5 KiB) copied, 6.5938e-05 s, 22.7 MB/s");
        check(1000, 62_123, "1000 bytes (1.0 kB) copied, 6.2123e-05 s, 16.1 MB/s");
        check(1024, 69_103, "1024 bytes (1.0 kB, 1.0 KiB) copied, 6.9103e-05 s, 14.8 MB/s");
        check(1, 1_000_000_000, "1 byte copied, 1 s, 1.0 B/s");
        check(999_999, 1_000_000_000, "999999 bytes (1.0 MB, 977 KiB) copied, 1 s, 1000 kB/s");
        check(52_428_800, 500_000_000, "52428800 bytes (52 MB, 50 MiB) copied, 0.5 s, 105 MB/s");
        check(0, 0, "0 bytes copied, 0 s, Infinity B/s");
    }

    #[test]
    fn records_are_whole_blocks() {
        assert!(lines(5000, Bytes::new(1000), Span::from_secs(1)).starts_with("5+0 records in\n5+0 records out\n"));
        assert!(lines(5500, Bytes::new(1000), Span::from_secs(1)).starts_with("5+1 records in\n5+1 records out\n"));
    }

    #[test]
    fn sizes_are_typed_in_the_largest_unit() {
        let check = |bytes, expected| assert_eq!(typed(Bytes::new(bytes)), expected);
        check(1 << 30, "1G");
        check(8192, "8K");
        check(3 << 20, "3M");
        check(2300, "2300");
        check(0, "0");
    }
}

//! Numbers as fio prints them, and as its job files write them.

/// A number with fio's suffix of thousands: `137k`, `43.4k`, `1.2M`.
pub(super) fn count(text: &str) -> Option<f64> {
    let (number, suffix) = cut(text)?;
    let factor = match suffix.chars().next() {
        Some('k' | 'K') => 1e3,
        Some('M' | 'm') => 1e6,
        Some('G' | 'g') => 1e9,
        Some('T' | 't') => 1e12,
        _ => 1.0,
    };
    Some(number * factor)
}

/// Bytes: `103759KB`, `2800KiB`, `678MiB`, `4096B`, `4K`. Version 2 counts 1,024 to a KB, and version 3 writes KiB for it;
/// `kB` is 1,000, which version 3 prints in brackets.
pub(super) fn bytes(text: &str) -> Option<f64> {
    let (number, unit) = cut(text)?;
    let power = match unit.chars().next().map(|first| first.to_ascii_lowercase()) {
        Some('k') => 1,
        Some('m') => 2,
        Some('g') => 3,
        Some('t') => 4,
        Some('p') => 5,
        _ => 0,
    };
    let base: f64 = if unit.starts_with("kB") { 1e3 } else { 1024.0 };
    Some(number * base.powi(power))
}

/// Seconds of a unit: `nsec`, `usec`, `msec`, `sec`.
pub(super) fn seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "nsec" | "ns" => 1e-9,
        "usec" | "us" => 1e-6,
        "msec" | "ms" => 1e-3,
        "sec" | "s" => 1.0,
        _ => return None,
    })
}

/// What stands behind `key`, without blanks before it, up to a comma, bracket or blank.
pub(super) fn after<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let at = line.match_indices(key).find(|(at, _)| *at == 0 || !line.as_bytes()[at - 1].is_ascii_alphanumeric())?.0;
    let rest = line[at + key.len()..].trim_start();
    let end = rest.find([',', ')', '(', ' ', ';', ']']).unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}

/// A number, and what follows it.
fn cut(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|letter: char| !(letter.is_ascii_digit() || letter == '.')).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    Some((number.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::{after, bytes, count};

    #[test]
    fn numbers_are_read_as_printed() {
        let near = |found: Option<f64>, expected: f64| found.is_some_and(|found| (found / expected - 1.0).abs() < 1e-9);
        for (text, expected) in [("137k", 137e3), ("43.4k", 43_400.0), ("699", 699.0), ("1.5M", 1.5e6)] {
            assert!(near(count(text), expected), "{text}");
        }
        let sizes =
            [("103759KB/s", 106_249_216.0), ("2800KiB/s", 2_867_200.0), ("2867kB/s", 2_867_000.0), ("4096B", 4096.0)];
        for (text, expected) in sizes.into_iter().chain([("4k", 4096.0), ("16.0KiB-16.0KiB", 16_384.0)]) {
            assert!(near(bytes(text), expected), "{text}: {:?}", bytes(text));
        }
        assert_eq!((count(""), count("k"), bytes("-")), (None, None, None));
        let line = "  read : io=6115.0MB, bw=103759KB/s, iops=101, runt= 60349msec";
        assert_eq!(
            (after(line, "bw="), after(line, "runt="), after(line, "no=")),
            (Some("103759KB/s"), Some("60349msec"), None)
        );
        assert_eq!(after("aggrbw=1, bw=2", "bw="), Some("2"));
    }
}

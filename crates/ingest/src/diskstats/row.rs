//! One line: a device's counters, or when they were taken.

use plimsoll_units::Span;

use crate::timestamp::{self, Stamp};

/// The most counters that a kernel prints.
pub(super) const MOST: usize = 17;

/// What a line is.
#[derive(Debug, PartialEq)]
pub(super) enum Line<'a> {
    /// Counters; those of sysfs may name no device.
    Row {
        name: Option<&'a str>,
        numbers: [u64; MOST],
        count: usize,
    },
    /// The file of sysfs that the next line was read from.
    Heading(&'a str),
    /// When the next snapshot was taken.
    At(Stamp),
    /// How long the host ran.
    Age(Span),
    /// A device with too few counters.
    Short,
    Other,
}

/// Tells what a line is, and reads it.
pub(super) fn line(text: &str) -> Line<'_> {
    let text = text.trim_ascii();
    if let Some(row) = of_proc(text) {
        return row;
    }
    if let Some(row) = of_sysfs(text) {
        return row;
    }
    time(text)
}

fn of_proc(text: &str) -> Option<Line<'_>> {
    let mut words = text.split_ascii_whitespace();
    let major = number(words.next()?)?;
    number(words.next()?)?;
    let name = words.next()?;
    let begins = name.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    if !begins || major > 0xffff || name.contains(':') {
        return None;
    }
    Some(match numbers(words) {
        (numbers, count @ (4 | 11..)) => Line::Row { name: Some(name), numbers, count },
        _ => Line::Short,
    })
}

fn of_sysfs(text: &str) -> Option<Line<'_>> {
    if let Some(path) = text.strip_prefix("==> ").and_then(|text| text.strip_suffix(" <==")) {
        return device(path).map(Line::Heading);
    }
    if let Some((path, rest)) = text.split_once(':').filter(|(path, _)| path.starts_with('/')) {
        let name = device(path)?;
        return Some(match numbers(rest.split_ascii_whitespace()) {
            (numbers, count @ 11..) => Line::Row { name: Some(name), numbers, count },
            _ => Line::Short,
        });
    }
    if let Some(name) = device(text) {
        return Some(Line::Heading(name));
    }
    let (numbers, count) = numbers(text.split_ascii_whitespace());
    matches!(count, 11 | 15 | 17).then_some(Line::Row { name: None, numbers, count })
}

/// The device of a path such as `/sys/block/sda/stat`.
fn device(path: &str) -> Option<&str> {
    path.starts_with('/').then_some(())?;
    path.strip_suffix("/stat")?.rsplit('/').next().filter(|name| !name.is_empty())
}

/// Numbers up to the first word that is none.
fn numbers<'a>(words: impl Iterator<Item = &'a str>) -> ([u64; MOST], usize) {
    let (mut numbers, mut count) = ([0; MOST], 0);
    for word in words {
        let Some(value) = number(word) else { break };
        if let Some(place) = numbers.get_mut(count) {
            *place = value;
        }
        count += 1;
    }
    (numbers, count)
}

fn number(word: &str) -> Option<u64> {
    let digit = |value: u64, byte: &u8| {
        byte.is_ascii_digit().then(|| value.checked_mul(10)?.checked_add(u64::from(byte - b'0'))).flatten()
    };
    if word.is_empty() { None } else { word.as_bytes().iter().try_fold(0, digit) }
}

/// A line between snapshots.
fn time(text: &str) -> Line<'_> {
    if text.len() > 200 {
        return Line::Other;
    }
    let bare =
        text.trim_start_matches(['#', '*', '-', '=', '+', ' ', '[']).trim_end_matches(['#', '*', '-', '=', ' ', ']']);
    let marks = ["TS ", "ts ", "zzz ", "timestamp: ", "timestamp=", "Time: ", "time: ", "Date: ", "date: "];
    let said = marks.iter().find_map(|mark| bare.strip_prefix(mark)).unwrap_or(bare).trim_start_matches('*');
    let mut words = said.splitn(2, ' ');
    let (first, rest) = (words.next().unwrap_or_default(), words.next().unwrap_or_default().trim());
    let seconds = first.parse::<f64>().ok();
    if let (Some(up), Some(_)) =
        (seconds, rest.parse::<f64>().ok().filter(|_| first.contains('.') && rest.contains('.')))
    {
        return if up > 0.0 && up < 1e10 { Line::Age(Span::from_secs_f64(up)) } else { Line::Other };
    }
    let at = timestamp::parse(said).or_else(|| timestamp::parse(first));
    at.map_or(Line::Other, Line::At)
}

#[cfg(test)]
mod tests {
    use super::{Line, Span, line, timestamp};

    fn row(text: &str) -> (Option<String>, usize, u64) {
        match line(text) {
            Line::Row { name, numbers, count } => (name.map(str::to_owned), count, numbers[0]),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn rows_of_every_generation_are_rows() {
        let sda = Some("sda".to_owned());
        assert_eq!(row("   8       0 sda 5 2 3 4 5 6 7 8 9 10 11"), (sda.clone(), 11, 5));
        assert_eq!(row("8 0 sda 5 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17"), (sda.clone(), 17, 5));
        assert_eq!(row("8 0 sda 5 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18"), (sda.clone(), 18, 5));
        assert_eq!(row("   8    1 sda1 5 6 7 8").1, 4);
        assert_eq!(row("/sys/block/sda/stat:     5 2 3 4 5 6 7 8 9 10 11"), (sda, 11, 5));
        assert_eq!(row("  5 2 3 4 5 6 7 8 9 10 11 12 13 14 15"), (None, 15, 5));
        assert_eq!(line("8 0 sda 5 2 3"), Line::Short);
        assert_eq!(line("==> /sys/block/nvme0n1/stat <=="), Line::Heading("nvme0n1"));
    }

    #[test]
    fn times_between_snapshots_are_read() {
        let check = |text: &str, expected: &str| match line(text) {
            Line::At(at) => assert_eq!(Line::At(at), Line::At(timestamp::parse(expected).unwrap()), "{text}"),
            other => panic!("{text}: {other:?}"),
        };
        let nine = "2026-03-02T09:30:05Z";
        check("TS 1772443805.000000000 2026-03-02 09:30:05", nine);
        check("TS 1772443805.5 2026-03-02T10:30:05", "2026-03-02T09:30:05.5Z");
        check("# 2026-03-02 09:30:05", "2026-03-02T09:30:05");
        check("# 2026-03-02T18:30:05+09:00", nine);
        check("Mon Mar  2 09:30:05 UTC 2026", nine);
        check("zzz ***Mon Mar 2 09:30:05 UTC 2026", nine);
        check("1772443805", nine);
        assert_eq!(line("350735.47 234388.90"), Line::Age(Span::from_secs_f64(350_735.47)));
        assert_eq!(line("something else"), Line::Other);
    }
}

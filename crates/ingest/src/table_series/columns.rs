//! The columns of a table, by the words of their names.

use std::borrow::Cow;

use super::is_rate;
use crate::figure::{Class, Measure};
use crate::number::Numerals;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Column {
    Time,
    Part,
    Host,
    Database,
    /// Numbers, with what one of them is in base units.
    Figure {
        class: Class,
        measure: Measure,
        unit: f64,
    },
    Unknown,
}

/// All columns of a table.
#[derive(Debug)]
pub(super) struct Columns {
    separator: char,
    names: Vec<String>,
    meanings: Vec<Column>,
}

impl Columns {
    /// The most columns of a table.
    const MOST: usize = 1_000;

    /// Out of the first row; none when it is no row of names.
    pub(super) fn of(line: &str) -> Option<Self> {
        let separator = ['\t', ';', ','].into_iter().find(|mark| line.contains(*mark))?;
        let names: Vec<String> = cells(line, separator).map(|cell| cell.trim().to_owned()).take(Self::MOST).collect();
        let is_header = names.iter().all(|name| name.parse::<f64>().is_err());
        let mut meanings: Vec<Column> = names.iter().map(|name| column(name)).collect();
        // Two columns of one meaning would be added up: the first one is taken.
        for index in 1..meanings.len() {
            if meanings[..index].contains(&meanings[index]) || same(&meanings[..index], meanings[index]) {
                meanings[index] = Column::Unknown;
            }
        }
        (is_header && names.len() > 1).then_some(Self { separator, names, meanings })
    }

    pub(super) fn separator(&self) -> char {
        self.separator
    }

    /// Semicolons stand where commas stand in numbers.
    pub(super) fn numerals(&self) -> Numerals {
        if self.separator == ';' { Numerals::Comma } else { Numerals::Point }
    }

    pub(super) fn len(&self) -> usize {
        self.meanings.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Column> {
        self.meanings.iter()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.names.iter()
    }

    pub(super) fn time(&self) -> Option<usize> {
        self.meanings.iter().position(|column| *column == Column::Time)
    }

    /// How many columns hold operations or bytes a second.
    pub(super) fn rates(&self) -> usize {
        let is =
            |column: &&Column| matches!(column, Column::Figure { class, measure, .. } if is_rate(*class, *measure));
        self.meanings.iter().filter(is).count()
    }

    /// Names of those that mean nothing here.
    pub(super) fn unknown(&self) -> impl Iterator<Item = &String> {
        let pairs = self.names.iter().zip(&self.meanings);
        pairs.filter(|(_, column)| **column == Column::Unknown).map(|(name, _)| name)
    }
}

/// Class and measure of `column` are there already, in whatever unit.
fn same(columns: &[Column], column: Column) -> bool {
    let Column::Figure { class, measure, .. } = column else { return false };
    columns
        .iter()
        .any(|other| matches!(other, Column::Figure { class: c, measure: m, .. } if (*c, *m) == (class, measure)))
}

/// What a column holds, by its name.
fn column(name: &str) -> Column {
    let lower = name.to_lowercase();
    let words: Vec<&str> =
        lower.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let first = words.first().copied().unwrap_or_default();
    match first {
        "time" | "timestamp" | "datetime" | "date" | "ts" if !has(&["read", "write", "await", "ms", "us"]) => {
            return Column::Time;
        }
        "device" | "disk" | "volume" | "lun" if words.len() == 1 || has(&["name", "id"]) => return Column::Part,
        "host" | "hostname" | "server" | "vm" => return Column::Host,
        "database" | "db" if words.len() == 1 || has(&["name"]) => return Column::Database,
        _ => {}
    }
    if has(&[
        "limit",
        "max",
        "maximum",
        "min",
        "percent",
        "provisioned",
        "p50",
        "p90",
        "p95",
        "p99",
        "count",
        "sum",
        "size",
    ]) {
        return Column::Unknown;
    }
    let of = |word: &str| lower.contains(word);
    let class = match (
        of("read") || lower.starts_with("r_") || lower.starts_with("r/"),
        of("writ") || lower.starts_with("w_") || lower.starts_with("w/"),
    ) {
        (true, false) => Class::Read,
        (false, true) => Class::Write,
        (true, true) => return Column::Unknown,
        (false, false) => Class::All,
    };
    figure(&lower, &words).map_or(Column::Unknown, |(measure, unit)| Column::Figure { class, measure, unit })
}

fn figure(lower: &str, words: &[&str]) -> Option<(Measure, f64)> {
    const UNITS: [(&str, f64); 8] = [
        ("kib", 1_024.0),
        ("mib", 1_048_576.0),
        ("gib", 1_073_741_824.0),
        ("kb", 1e3),
        ("mb", 1e6),
        ("gb", 1e9),
        ("bytes", 1.0),
        ("b", 1.0),
    ];
    let is = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    if lower.contains("iops") || is(&["ops"]) || matches!(lower, "r/s" | "w/s") {
        return Some((Measure::Iops, 1.0));
    }
    if is(&["latency", "await", "lat"]) {
        let unit = if is(&["us", "usec"]) {
            1e-6
        } else if is(&["s", "sec", "seconds"]) {
            1.0
        } else {
            1e-3
        };
        return Some((Measure::Latency, unit));
    }
    if is(&["queue", "depth", "qd"]) {
        return Some((Measure::Depth, 1.0));
    }
    let rate = |word: &&str| word.strip_suffix("ps").unwrap_or(word).to_owned();
    let unit = words.iter().find_map(|word| UNITS.iter().find(|(name, _)| *name == rate(word)).map(|(_, unit)| *unit));
    match unit {
        Some(unit) => Some((Measure::Throughput, unit)),
        None => is(&["throughput", "bandwidth"]).then_some((Measure::Throughput, 1.0)),
    }
}

/// The cells of a row; quotes are taken off.
pub(super) fn cells(line: &str, separator: char) -> impl Iterator<Item = Cow<'_, str>> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(quoted) = text.strip_prefix('"') else {
            let (cell, after) = text.split_once(separator).map_or((text, None), |(cell, after)| (cell, Some(after)));
            rest = after;
            return Some(Cow::Borrowed(cell));
        };
        let end = quoted.replace("\"\"", "\u{0}\u{0}").find('"').unwrap_or(quoted.len());
        let after = quoted.get(end + 1..).unwrap_or_default();
        rest = after.split_once(separator).map(|(_, after)| after);
        Some(Cow::Owned(quoted[..end].replace("\"\"", "\"")))
    })
}

#[cfg(test)]
mod tests {
    use super::{Column, cells, column};
    use crate::figure::{Class, Measure};

    #[test]
    fn names_have_meanings() {
        let figure = |class, measure, unit| Column::Figure { class, measure, unit };
        let table = [
            ("Time", Column::Time),
            ("timestamp (UTC)", Column::Time),
            ("read_iops", figure(Class::Read, Measure::Iops, 1.0)),
            ("Write IOPS", figure(Class::Write, Measure::Iops, 1.0)),
            ("IOPS", figure(Class::All, Measure::Iops, 1.0)),
            ("w/s", figure(Class::Write, Measure::Iops, 1.0)),
            ("read_bytes_s", figure(Class::Read, Measure::Throughput, 1.0)),
            ("write MB/s", figure(Class::Write, Measure::Throughput, 1e6)),
            ("read_mibps", figure(Class::Read, Measure::Throughput, 1_048_576.0)),
            ("read_latency_us", figure(Class::Read, Measure::Latency, 1e-6)),
            ("write latency (ms)", figure(Class::Write, Measure::Latency, 1e-3)),
            ("queue_depth", figure(Class::All, Measure::Depth, 1.0)),
            ("device", Column::Part),
            ("host", Column::Host),
            ("cpu", Column::Unknown),
            ("max_iops", Column::Unknown),
            ("read_request_size", Column::Unknown),
        ];
        for (name, expected) in table {
            assert_eq!(column(name), expected, "{name}");
        }
    }

    #[test]
    fn cells_may_be_quoted() {
        let found: Vec<String> = cells("a,\"b,\"\"c\"\"\",,\"d", ',').map(String::from).collect();
        assert_eq!(found, ["a", "b,\"c\"", "", "d"]);
    }
}

//! The columns of a table of devices, and what is made of a row of them.

use std::sync::Arc;

use super::{Device, Sums};
use crate::builder::Builder;
use crate::figure::{Class, Measure};
use crate::host::column::{Column, Known, known};
use crate::host::digits;
use crate::layers::Layer;

/// Where the name of a row's device stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::host) enum NameAt {
    #[default]
    First,
    Last,
}

/// The columns of a table.
#[derive(Debug, Default)]
pub(in crate::host) struct Heading {
    text: String,
    names: Vec<String>,
    columns: Vec<Option<Column>>,
    /// What a number of each column is multiplied by.
    units: Vec<f64>,
    name_at: NameAt,
    takes: Vec<Take>,
    /// Columns of bytes a second, and of bytes in all, and what multiplies the first to the second's unit.
    totals: Vec<(usize, usize, f64)>,
}

/// A figure of each row.
#[derive(Debug)]
pub(super) struct Take {
    from: From,
    class: Class,
    measure: Measure,
    /// The columns of operations a second that it is said of, which add up.
    operations: [Option<usize>; 2],
    pub(super) name: Arc<str>,
}

#[derive(Clone, Copy, Debug)]
enum From {
    /// A column, and its unit.
    Column(usize, f64),
    /// The sum of two columns.
    Sum(usize, usize),
    /// Bytes over operations: columns of both, and the unit of the first.
    Ratio(usize, usize, f64),
}

/// Rates have two decimals: the mean size of fewer operations a second would be chance.
const ENOUGH: f64 = 1.0;

impl Heading {
    /// Reads a line of names. None when it is no heading of devices.
    pub(in crate::host) fn read(text: &str) -> Option<Self> {
        let mut names: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let name_at = if known(names.first()?).is_none() { NameAt::First } else { NameAt::Last };
        let name = if name_at == NameAt::First { names.remove(0) } else { names.pop()? };
        let heading = Self::of(names, name_at).filter(|_| known(&name).is_none())?;
        Some(Self { text: text.to_owned(), ..heading })
    }

    /// The columns of these names. None when too few of them are known.
    pub(in crate::host) fn of(names: Vec<String>, name_at: NameAt) -> Option<Self> {
        let known: Vec<Option<Known>> = names.iter().map(|name| known(name)).collect();
        let value = |known: &Option<Known>| match known {
            Some(Known::Value(column)) => Some(*column),
            _ => None,
        };
        let columns: Vec<Option<Column>> = known.iter().map(value).collect();
        let rates = columns.iter().flatten().filter(|column| column.measure == Measure::Iops).count();
        let bytes = columns.iter().flatten().filter(|column| column.measure == Measure::Throughput).count();
        let strange = known.iter().filter(|known| known.is_none()).count();
        if rates == 0 || bytes == 0 || strange * 2 > names.len() {
            return None;
        }
        let unit = |known: &Option<Known>| match known {
            Some(Known::Value(column)) => column.factor,
            Some(Known::Total(_, factor)) => *factor,
            _ => 1.0,
        };
        let units = known.iter().map(unit).collect();
        let totals = totals(&known, &columns);
        let mut heading = Self { text: String::new(), names, columns, units, name_at, takes: Vec::new(), totals };
        heading.plan();
        Some(heading)
    }

    /// As the heading of a line.
    pub(in crate::host) fn with_text(self, text: &str) -> Self {
        Self { text: text.to_owned(), ..self }
    }

    /// True when this is the heading of that line.
    pub(in crate::host) fn is(&self, text: &str) -> bool {
        !text.is_empty() && self.text == text
    }

    pub(in crate::host) fn len(&self) -> usize {
        self.columns.len()
    }

    fn at(&self, class: Class, measure: Measure) -> Option<usize> {
        let is = |column: &Option<Column>| column.is_some_and(|one| (one.class, one.measure) == (class, measure));
        self.columns.iter().position(is)
    }

    /// What is made of a row. Operations come before what is said of them.
    fn plan(&mut self) {
        let split = self.at(Class::Read, Measure::Latency).is_some();
        let mut takes = Vec::new();
        for (index, column) in self.columns.iter().enumerate() {
            let Some(Column { class, measure, factor }) = *column else { continue };
            let mut operations = [self.at(class, Measure::Iops), None];
            let of_all = class == Class::All && operations[0].is_none();
            if of_all {
                operations = [self.at(Class::Read, Measure::Iops), self.at(Class::Write, Measure::Iops)];
            }
            // What is said of reads and writes apart is not said again of both, nor in two units.
            let twice = self.at(class, measure) != Some(index);
            let again = twice || (of_all && (measure == Measure::Size || (measure == Measure::Latency && split)));
            if !again {
                let name = Arc::from(self.names[index].as_str());
                takes.push(Take { from: From::Column(index, factor), class, measure, operations, name });
            }
        }
        takes.extend(self.all_operations());
        takes.extend(self.sizes());
        takes.sort_by_key(|take| take.measure != Measure::Iops);
        self.takes = takes;
    }

    /// Where latency is said of all operations only, their number weighs it.
    fn all_operations(&self) -> Option<Take> {
        let (reads, writes) = (self.at(Class::Read, Measure::Iops)?, self.at(Class::Write, Measure::Iops)?);
        let needed = self.at(Class::All, Measure::Latency).is_some()
            && self.at(Class::Read, Measure::Latency).is_none()
            && self.at(Class::All, Measure::Iops).is_none();
        let name = Arc::from(format!("{} + {}", self.names[reads], self.names[writes]));
        let from = From::Sum(reads, writes);
        needed.then_some(Take { from, class: Class::All, measure: Measure::Iops, operations: [None; 2], name })
    }

    /// Sizes that the table does not have, though it has bytes and operations.
    fn sizes(&self) -> Vec<Take> {
        let mut takes = Vec::new();
        for class in [Class::Read, Class::Write, Class::Discard, Class::All] {
            let (bytes, operations) = (self.at(class, Measure::Throughput), self.at(class, Measure::Iops));
            let (Some(bytes), Some(operations)) = (bytes, operations) else { continue };
            if self.at(class, Measure::Size).is_none() {
                let factor = self.columns[bytes].map_or(1.0, |column| column.factor);
                let name = Arc::from(format!("{} over {}", self.names[bytes], self.names[operations]));
                let from = From::Ratio(bytes, operations, factor);
                takes.push(Take { from, class, measure: Measure::Size, operations: [Some(operations), None], name });
            }
        }
        takes
    }

    /// Cuts a row into the device's name and its numbers. Names of groups keep the blank before them.
    pub(super) fn split<'a>(&self, text: &'a str) -> Option<(&'a str, &'a str)> {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let text = text.trim_end();
        let bytes = text.as_bytes();
        if self.name_at == NameAt::Last {
            let name = bytes.iter().rposition(blank)? + 1;
            return Some((&text[name..], &text[..name]));
        }
        let start = bytes.iter().position(|byte| !blank(byte))?;
        let end = start + bytes[start..].iter().position(blank)?;
        Some((&text[start.saturating_sub(1)..end], &text[end..]))
    }

    /// Reads a row with blanks in its name, or with units behind its numbers.
    pub(super) fn read_slowly<'a>(&self, text: &'a str, into: &mut Vec<f64>) -> Option<&'a str> {
        let start = into.len();
        let mut rest = text.trim_end();
        for index in 0..self.len() {
            let (column, word) = if self.name_at == NameAt::First {
                let at = rest.rfind([' ', '\t'])?;
                let word = &rest[at + 1..];
                rest = rest[..at].trim_end();
                (self.len() - 1 - index, word)
            } else {
                let (word, others) = rest.trim_start().split_once([' ', '\t'])?;
                rest = others;
                (index, word)
            };
            let Some(value) = self.value(column, word) else {
                into.truncate(start);
                return None;
            };
            into.push(value);
        }
        if self.name_at == NameAt::First {
            into[start..].reverse();
        }
        let rest = rest.trim_end();
        let blanks = rest.len() - rest.trim_start().len();
        if blanks == rest.len() {
            into.truncate(start);
            return None;
        }
        Some(if self.name_at == NameAt::First { &rest[blanks.saturating_sub(1)..] } else { &rest[blanks..] })
    }

    /// A number as the column has it, whatever unit stands behind it.
    fn value(&self, column: usize, word: &str) -> Option<f64> {
        let bare = word.trim_start_matches('-');
        if bare.eq_ignore_ascii_case("nan") || bare.eq_ignore_ascii_case("inf") {
            return Some(f64::NAN);
        }
        let (value, unit) = digits::with_unit(word)?;
        Some(unit.map_or(value, |unit| value * unit / self.units[column]))
    }

    /// Seconds of a sample: bytes in all over bytes a second, of the row that had the most.
    pub(super) fn seconds(&self, values: &[f64]) -> Option<f64> {
        let rows = values.chunks_exact(self.len().max(1));
        let pairs = rows.flat_map(|row| self.totals.iter().map(|(rate, total, unit)| (row[*rate] * unit, row[*total])));
        let (rate, total) = pairs.max_by(|a, b| a.1.total_cmp(&b.1))?;
        // Both are rounded: of few bytes nothing can be told.
        (rate >= 10.0 && total >= 100.0).then(|| (total / rate * 100.0).round() / 100.0)
    }

    /// Hands over a row; says how many figures it gave.
    pub(super) fn put(
        &self,
        device: &mut Device,
        at: (u32, u32),
        line: u64,
        values: &[f64],
        sums: &mut Sums,
        out: &mut Builder,
    ) -> u32 {
        let mut count = 0;
        for take in &self.takes {
            let operations: f64 = take.operations.iter().flatten().map(|column| values[*column]).sum();
            let Some(value) = take.value(values, operations) else { continue };
            if !device.tells(take.class, if take.measure == Measure::Iops { value } else { 0.0 }) {
                continue;
            }
            if device.is_untimed(take.measure, value) {
                continue;
            }
            if take.class == Class::All && device.layer != Some(Layer::Array) {
                sums.add(take.measure, value, operations);
            }
            out.mean(at, take.class, take.measure, value, device.origin(line, take));
            count += 1;
        }
        count
    }

    /// A device without a row did nothing.
    pub(super) fn put_idle(&self, device: &mut Device, at: (u32, u32), line: u64, out: &mut Builder) {
        for take in &self.takes {
            let rate = matches!(take.measure, Measure::Iops | Measure::Throughput | Measure::Depth | Measure::Busy);
            if rate && device.tells(take.class, 0.0) && !device.is_untimed(take.measure, 0.0) {
                out.mean(at, take.class, take.measure, 0.0, device.origin(line, take));
            }
        }
    }
}

impl Take {
    /// The figure of a row; none where it says none: no operations have no latency.
    fn value(&self, values: &[f64], operations: f64) -> Option<f64> {
        let value = match self.from {
            From::Column(index, factor) => values[index] * factor,
            From::Sum(a, b) => values[a] + values[b],
            From::Ratio(bytes, _, _) if values[bytes] <= 0.0 || operations < ENOUGH => return None,
            From::Ratio(bytes, operations, factor) => values[bytes] * factor / values[operations],
        };
        match self.measure {
            _ if value.is_nan() => None,
            Measure::Latency | Measure::Size if operations <= 0.0 && self.operations[0].is_some() => None,
            // A mean of nothing at all is how these programs print what they do not know.
            Measure::Size if value <= 0.0 => None,
            Measure::Busy => Some(value.min(1.0)),
            _ => Some(value),
        }
    }
}

/// Columns that say the length of the window together.
fn totals(known: &[Option<Known>], columns: &[Option<Column>]) -> Vec<(usize, usize, f64)> {
    let mut totals = Vec::new();
    for (total, known) in known.iter().enumerate() {
        let Some(Known::Total(class, unit)) = known else { continue };
        let is = |column: &Option<Column>| {
            column.is_some_and(|column| column.class == *class && column.measure == Measure::Throughput)
        };
        if let Some(rate) = columns.iter().position(is) {
            totals.push((rate, total, columns[rate].map_or(1.0, |column| column.factor / unit)));
        }
    }
    totals
}

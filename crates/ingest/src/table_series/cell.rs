//! Numbers in cells of tables: their units, and their decimal sign.

use crate::builder::Builder;
use crate::reading::{Doubt, Measure, Origin};
use crate::text::{self, GIB, KIB, MIB, Numerals};

/// Units of bytes. Other spellings may be bits (`Mb`), or powers of 1,000 or 1,024 (`M`).
const BYTES: [(&str, f64); 8] =
    [("B", 1.0), ("kB", 1e3), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("KiB", KIB), ("MiB", MIB), ("GiB", GIB)];

/// The value of a cell in base units: in `unit`, or in its own.
pub(super) fn read_value(cell: &str, numerals: Numerals, measure: Measure, unit: f64) -> Option<f64> {
    let in_own_unit = || {
        let (number, name) = split(cell);
        Some(numerals.number(number)? * factor(name, measure)?)
    };
    let value = numerals.number(cell).map(|number| number * unit).or_else(in_own_unit);
    value.filter(|value| value.is_finite())
}

/// A number and the name of its unit: `1.5k`, `1000 IOPS`, `8MB/s`.
fn split(cell: &str) -> (&str, &str) {
    let number = cell.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    (number, cell[number.len()..].trim())
}

/// The factor of a unit to base units; none if it is missing, unknown, or of another quantity.
fn factor(name: &str, measure: Measure) -> Option<f64> {
    match measure {
        Measure::Iops => {
            let lower = name.to_ascii_lowercase();
            let prefix = ["iops", "ops/s", "io/s", "ops", "/s"].iter().find_map(|word| lower.strip_suffix(word));
            match prefix.unwrap_or(&lower).trim() {
                "" if prefix.is_some() => Some(1.0),
                "k" => Some(1e3),
                "m" if !name.starts_with('m') => Some(1e6),
                _ => None,
            }
        }
        Measure::Throughput => {
            let name = name.strip_suffix("/s").or_else(|| name.strip_suffix("ps")).unwrap_or(name);
            BYTES.iter().find(|(existing, _)| *existing == name).map(|(_, bytes)| *bytes)
        }
        Measure::Latency => text::time_unit(name).filter(|seconds| *seconds <= 1.0),
        _ => None,
    }
}

/// Evidence of the decimal sign of numbers.
#[derive(Debug, Default)]
pub(super) struct Decimals {
    is_point: bool,
    is_comma: bool,
    /// The first number that is valid with either sign, and its line.
    ambiguous: Option<(String, u64)>,
}

impl Decimals {
    /// Examines a cell of a line.
    pub(super) fn learn(&mut self, cell: &str, line: u64) {
        let (number, _) = split(cell);
        match [Numerals::Point, Numerals::Comma].map(|numerals| numerals.number(number)) {
            [Some(_), None] => self.is_point = true,
            [None, Some(_)] => self.is_comma = true,
            [Some(point), Some(comma)] if point.to_bits() != comma.to_bits() => {
                let group = number.trim_start_matches(['-', '+']).split(['.', ',']).next().unwrap_or_default();
                // No program separates thousands in `0.512` or `1234.512`.
                if group.len() > 3 || group.starts_with('0') {
                    *(if number.contains('.') { &mut self.is_point } else { &mut self.is_comma }) = true;
                } else if self.ambiguous.is_none() {
                    self.ambiguous = Some((number.to_owned(), line));
                }
            }
            _ => {}
        }
    }

    /// The decimal sign, with a doubt if no number proves it and there is no default.
    pub(super) fn numerals(self, default: Option<Numerals>, out: &mut Builder) -> Numerals {
        match (self.is_point, self.is_comma, self.ambiguous) {
            (true, false, _) => Numerals::Point,
            (false, true, _) => Numerals::Comma,
            (_, _, Some((example, line))) if default.is_none() => {
                let numerals = Numerals::guess(&example);
                let value = numerals.number(&example).unwrap_or_default();
                out.caution(Some(Origin::line(line)), Doubt::AmbiguousNumbers { example, value });
                numerals
            }
            _ => default.unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::read_value;
    use crate::reading::Measure;
    use crate::text::Numerals;

    #[test]
    fn cells_may_have_their_own_unit() {
        let check = |cell: &str, measure, expected: Option<f64>| {
            let found = read_value(cell, Numerals::Point, measure, 1e6);
            assert!(
                found.zip(expected).map_or(found == expected, |(a, b)| (a / b - 1.0).abs() < 1e-9),
                "{cell}: {found:?}"
            );
        };
        check("1.5", Measure::Throughput, Some(1.5e6));
        check("8MB", Measure::Throughput, Some(8e6));
        check("8 MiB/s", Measure::Throughput, Some(8_388_608.0));
        check("1.5 GBps", Measure::Throughput, Some(1.5e9));
        check("1k", Measure::Iops, Some(1_000.0));
        check("1.5K IOPS", Measure::Iops, Some(1_500.0));
        check("2M", Measure::Iops, Some(2e6));
        check("1000 IOPS", Measure::Iops, Some(1_000.0));
        check("1,000 ops/s", Measure::Iops, Some(1_000.0));
        check("500us", Measure::Latency, Some(0.000_5));
        check("5 ms", Measure::Latency, Some(0.005));
        for (cell, measure) in [
            ("5%", Measure::Iops),
            ("5m", Measure::Iops),
            ("8MB", Measure::Iops),
            ("8M", Measure::Throughput),
            ("8Mb", Measure::Throughput),
            ("1k", Measure::Throughput),
            ("5 min", Measure::Latency),
            ("5x", Measure::Depth),
            ("nan", Measure::Iops),
            ("-", Measure::Iops),
            ("inf", Measure::Iops),
            ("1e999", Measure::Iops),
            ("12.345.678", Measure::Iops),
        ] {
            check(cell, measure, None);
        }
    }
}

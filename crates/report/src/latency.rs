//! A common unit for the latencies of a table, so that longer numbers are longer times.

use plimsoll_record::Curve;

use crate::{number, pick};

/// Unit of a table's latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LatencyUnit {
    Micro,
    Milli,
}

impl LatencyUnit {
    /// Microseconds if any median is below a millisecond, otherwise milliseconds.
    pub fn of(curve: &Curve) -> Self {
        let least = pick::complete_runs(curve)
            .filter_map(|run| number::value(&run.figures.p50_ns))
            .fold(f64::INFINITY, f64::min);
        if least >= 1e6 && least.is_finite() { Self::Milli } else { Self::Micro }
    }

    /// Name in a column heading.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Micro => "us",
            Self::Milli => "ms",
        }
    }

    /// Converts nanoseconds to this unit.
    pub const fn value(self, ns: f64) -> f64 {
        match self {
            Self::Micro => ns / 1e3,
            Self::Milli => ns / 1e6,
        }
    }

    /// Formats nanoseconds in this unit with three significant digits, without the unit's name.
    pub fn show(self, ns: f64) -> String {
        number::three(self.value(ns))
    }
}

/// Padding to the right of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pad {
    /// Includes the width of a decimal point.
    pub point: bool,
    pub digits: usize,
}

/// Padding that aligns the decimal points of a column; none if a cell is not a number or has a unit.
pub(crate) fn pads(cells: &[String]) -> Vec<Pad> {
    let is_number = |cell: &String| cell.chars().next().is_some_and(|c| c.is_ascii_digit());
    let has_unit = |cell: &String| cell.chars().any(|c| !c.is_ascii_digit() && !",.".contains(c));
    if cells.iter().any(|cell| is_number(cell) && has_unit(cell)) {
        return vec![Pad::default(); cells.len()];
    }
    let fraction = |cell: &String| cell.split_once('.').map_or(0, |(_, digits)| digits.len());
    let max = cells.iter().filter(|cell| is_number(cell)).map(fraction).max().unwrap_or(0);
    let pad = |cell: &String| match fraction(cell) {
        _ if !is_number(cell) => Pad::default(),
        has => Pad { point: has == 0 && max > 0, digits: max - has },
    };
    cells.iter().map(pad).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_stand_below_each_other() {
        let cells = ["79.6", "1,430", "8.25", "-"].map(String::from);
        let found: Vec<_> = pads(&cells).iter().map(|pad| (pad.point, pad.digits)).collect();
        assert_eq!(found, [(false, 1), (true, 2), (false, 0), (false, 0)]);
        let mixed = ["8.01 ms", "571 us"].map(String::from);
        assert!(pads(&mixed).iter().all(|pad| !pad.point && pad.digits == 0), "{mixed:?}");
    }

    #[test]
    fn both_units_keep_three_digits() {
        assert_eq!(
            (LatencyUnit::Micro.show(1_432_000.0), LatencyUnit::Milli.show(1_432_000.0)),
            ("1,430".into(), "1.43".into())
        );
    }
}

//! A small table of load lines by objective.

use plimsoll_record::{Estimate, LoadLine, NoLine};

use super::TextStyle;
use super::paint::Line;
use super::table::{Align, Column, Table};
use crate::{number, pick};

/// Load lines at several objectives.
pub(super) fn ladder(lines: &[LoadLine], style: &TextStyle) -> Vec<Line> {
    if lines.is_empty() {
        return Vec::new();
    }
    let column = |name, unit, align, expendable, of: &dyn Fn(&LoadLine) -> String| Column {
        name,
        unit,
        align,
        expendable,
        cells: lines.iter().map(of).collect(),
    };
    let iops = |line: &LoadLine| pick::line_iops(line).map_or("–".into(), |iops| number::three(iops.value));
    let interval = |line: &LoadLine| pick::line_iops(line).map_or("–".into(), |iops| range(&iops));
    let columns = vec![
        column("objective", "", Align::Left, 0, &|line| line.objective().to_string()),
        column("load line", "IOPS", Align::Point, 0, &iops),
        column("95 % interval", "IOPS", Align::Left, 2, &interval),
        column("", "", Align::Left, 1, &verdict),
    ];
    Table { columns, ..Table::default() }.lay_out(style).lines
}

fn verdict(line: &LoadLine) -> String {
    match line {
        LoadLine::At { .. } => String::new(),
        LoadLine::Beyond { .. } => "at least".into(),
        LoadLine::Never { least, .. } => format!("missed: {} is {least} at the least", line.objective().bounded()),
        LoadLine::Refused { why, .. } => match why {
            NoLine::Scatter { low, high, .. } if *low > 0.0 => {
                format!("between {} and {}", number::three(*low), number::three(*high))
            }
            NoLine::Scatter { high, .. } => format!("below {}", number::three(*high)),
            NoLine::Generator { .. } => "generator too late".into(),
            NoLine::NotLasting { below } => format!("below {}", number::three(*below)),
        },
    }
}

fn range(estimate: &Estimate) -> String {
    number::interval(estimate)
        .map_or("–".into(), |(low, high)| format!("{} to {}", number::three(low), number::three(high)))
}

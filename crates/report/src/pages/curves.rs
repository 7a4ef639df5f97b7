//! Tables of curves that all forms share: load lines by objective, and a recorded load on several configurations.

use plimsoll_record::{Curve, LoadLine, NoLine, Run};

use super::limit;
use crate::latency::Unit;
use crate::page::{Cell, Column, Table};
use crate::{number, pick, words};

/// Load lines at several objectives.
pub(crate) fn ladder(lines: &[LoadLine]) -> Table {
    const COLUMNS: [Column; 3] =
        [Column::text("objective", 0), Column::rate("load line", "IOPS", 0), Column::text("verdict", 0)];
    let row = |line: &LoadLine| {
        let iops = Cell::or_unknown(pick::line_iops(line), |iops| {
            let cell = Cell::three(iops.value);
            match number::interval(&iops) {
                Some((low, high)) => cell.with_interval(format!("{} to {}", number::three(low), number::three(high))),
                None => cell,
            }
        });
        vec![Cell::text(line.objective().to_string()), iops, Cell::text(verdict(line))]
    };
    Table::of("Load line by objective", COLUMNS, lines, row)
}

fn verdict(line: &LoadLine) -> String {
    match line {
        LoadLine::At { .. } => "the objective binds".to_owned(),
        LoadLine::Beyond { .. } => "met at the highest load: at least this".to_owned(),
        LoadLine::Never { least, .. } => format!("missed: {} is {least} at the least", line.objective().bounded()),
        LoadLine::Refused { why, .. } => match why {
            NoLine::Scatter { low, high, .. } if *low > 0.0 => {
                format!("between {} and {}", number::three(*low), number::three(*high))
            }
            NoLine::Scatter { high, .. } => format!("below {}", number::three(*high)),
            NoLine::Generator { .. } => "generator too late".to_owned(),
            NoLine::NotLasting { below } => format!("below {}", number::three(*below)),
        },
    }
}

/// One recorded load on several configurations; those without a run are left out.
pub(crate) fn replays(curves: &[&Curve]) -> Table {
    // The shortest unit that one of them needs, so that the rows compare.
    let is_micro = curves.iter().any(|curve| Unit::of(curve) == Unit::Micro);
    let unit = if is_micro { Unit::Micro } else { Unit::Milli };
    let columns = [
        Column::configuration(),
        Column::text("source", 5),
        Column::text("outcome", 0),
        Column::time("mean", unit.name(), 4),
        Column::time("p50", unit.name(), 0),
        Column::time("p99", unit.name(), 0),
        Column::time("p99.9", unit.name(), 2),
        Column::time("worst", unit.name(), 1),
        Column::text("held by", 3),
    ];
    let rows = curves.iter().filter_map(|curve| Some((*curve, pick::fastest(curve)?)));
    let row = |(curve, run): (&Curve, &Run)| {
        let time = |ns: f64| Cell::figure(unit.show(ns), unit.value(ns));
        let figures = &run.figures;
        let most = run.bound_by.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        vec![
            Cell::text(&curve.subject.name),
            Cell::text(curve.source.word()),
            Cell::text(words::outcome(run)),
            time(figures.mean_ns.value),
            time(figures.p50_ns.value),
            time(figures.p99_ns.value),
            time(figures.p999_ns.value),
            time(run.total.response().max_ns as f64),
            limit(most.map(|(name, _)| name.as_str())),
        ]
    };
    Table::of("The recorded load on each", columns, rows, row)
}

//! One recorded load on several configurations, a row each.

use plimsoll_record::{Curve, Run};

use super::TextStyle;
use super::configurations;
use super::paint::{Line, Tone};
use super::table::{Align, Column, Table};
use crate::latency::Unit;
use crate::{pick, words};

/// A comparison; nothing for fewer than two.
pub(super) fn beside(curves: &[Curve], style: &TextStyle) -> Vec<Line> {
    let rows: Vec<(&Curve, &Run)> = curves.iter().filter_map(|curve| Some((curve, pick::fastest(curve)?))).collect();
    if rows.len() < 2 {
        return Vec::new();
    }
    // The shortest unit that one of them needs, so that the rows compare.
    let units: Vec<Unit> = curves.iter().map(Unit::of).collect();
    let unit = if units.contains(&Unit::Micro) { Unit::Micro } else { Unit::Milli };
    let column = |name, unit, align, expendable, of: &dyn Fn(&Run) -> String| Column {
        name,
        unit,
        align,
        expendable,
        cells: rows.iter().map(|(_, run)| of(run)).collect(),
    };
    let time = |name, expendable, of: fn(&Run) -> f64| {
        column(name, unit.name(), Align::Point, expendable, &|run| unit.show(of(run)))
    };
    let columns = vec![
        column("", "", Align::Left, 0, &words::outcome),
        time("mean", 4, |run| run.figures.mean_ns.value),
        time("p50", 0, |run| run.figures.p50_ns.value),
        time("p99", 0, |run| run.figures.p99_ns.value),
        time("p99.9", 2, |run| run.figures.p999_ns.value),
        time("worst", 1, |run| run.total.response().max_ns as f64),
        column("held by", "", Align::Left, 3, &|run| {
            let most = run.bound_by.iter().max_by(|a, b| a.1.total_cmp(&b.1));
            configurations::limit(most.map(|(name, _)| name.as_str()))
        }),
    ];
    let names = rows.iter().map(|(curve, _)| words::clean(&curve.subject.name)).collect();
    let laid = configurations::lay_out(Table { columns, ..Table::default() }, names, style);
    let note = configurations::left_out(&laid);
    let mut lines = vec![Line::of("The recorded load on each", Tone::Strong)];
    lines.extend(laid.lines);
    lines.extend(note.iter().flat_map(|text| configurations::note(text, style)));
    lines
}

//! Two curves beside each other: what changed, and whether the change is real.

use plimsoll_analyse::{Change, Comparison, Quantity, Verdict};
use plimsoll_record::Estimate;

use super::TextStyle;
use super::paint::{Line, Tone, cut, wrap};
use super::table::{Align, Column, Table};
use crate::latency::Unit;
use crate::{number, words};

/// The verdict on the whole, and which curve is which.
pub(super) fn verdict(names: [&str; 2], comparison: &Comparison, style: &TextStyle) -> Vec<Line> {
    let sentence = match &comparison.verdict {
        Verdict::NoRealChange => "No real change: what differs could be noise.".to_owned(),
        Verdict::Better => "A real change: the second is better.".into(),
        Verdict::Worse => "A real change: the second is worse.".into(),
        Verdict::Mixed => "A real change: the second is better under some loads and worse under others.".into(),
        Verdict::NotComparable(why) => format!("They cannot be compared: {why}."),
    };
    let name = |word: &str, name: &str| Line::plain(cut(&format!("{word:<7} {}", words::clean(name)), style.width));
    vec![
        Line::of(cut(&words::clean(&sentence), style.width), Tone::Strong),
        name("before", names[0]),
        name("after", names[1]),
    ]
}

/// All figures that both have.
pub(super) fn figures(comparison: &Comparison, style: &TextStyle) -> Vec<Line> {
    let changes: Vec<&Change> = comparison.overall.iter().chain(&comparison.points).collect();
    if changes.is_empty() {
        return Vec::new();
    }
    let column = |name, align, expendable, of: &dyn Fn(&Change) -> String| Column {
        name,
        unit: "",
        align,
        expendable,
        cells: changes.iter().map(|change| of(change)).collect(),
    };
    let columns = vec![
        column("", Align::Left, 0, &what),
        column("before", Align::Left, 0, &|change| value(change, change.a)),
        column("after", Align::Left, 0, &|change| value(change, change.b)),
        column("change", Align::Left, 0, &|change| signed(change.ratio.value)),
        column("95 % interval", Align::Left, 1, &|change| interval(&change.ratio)),
        column("", Align::Left, 0, &|change| judgement(&change.verdict)),
    ];
    let mut lines = Table { columns, ..Table::default() }.lay_out(style).lines;
    let note = "intervals are widened for the number of comparisons; a change has to pass what runs that follow each \
                other differ by";
    lines.extend(wrap(note, style.width).into_iter().map(|line| Line::of(line, Tone::Quiet)));
    lines
}

/// What was not the same besides.
pub(super) fn conditions(comparison: &Comparison, style: &TextStyle) -> Vec<Line> {
    let line = |difference: &plimsoll_analyse::Difference| {
        let text = format!("  {}: {} before, {} after", difference.what, difference.a, difference.b);
        Line::plain(cut(&words::clean(&text), style.width))
    };
    let mut lines: Vec<Line> = comparison.conditions.iter().map(line).collect();
    if !lines.is_empty() {
        lines.insert(0, Line::of("Not the same".to_owned(), Tone::Strong));
    }
    lines
}

fn what(change: &Change) -> String {
    let name = match change.quantity {
        Quantity::MostIops => "most",
        Quantity::LoadLine => "load line",
        Quantity::Iops => "IOPS",
        Quantity::Mean => "mean",
        Quantity::P99 => "p99",
    };
    change.offered.map_or(name.into(), |pace| format!("{name} at {}", words::pace(&pace)))
}

fn value(change: &Change, value: f64) -> String {
    match change.quantity {
        Quantity::MostIops | Quantity::LoadLine | Quantity::Iops => format!("{} IOPS", number::three(value)),
        Quantity::Mean | Quantity::P99 => {
            let unit = if value < 1e6 { Unit::Micro } else { Unit::Milli };
            format!("{} {}", unit.show(value), unit.name())
        }
    }
}

fn interval(ratio: &Estimate) -> String {
    number::interval(ratio).map_or("–".into(), |(low, high)| format!("{} to {}", signed(low), signed(high)))
}

fn judgement(verdict: &Verdict) -> String {
    match verdict {
        Verdict::NoRealChange => "no real change".into(),
        Verdict::Better => "better".into(),
        Verdict::Worse => "worse".into(),
        Verdict::Mixed => "mixed".into(),
        Verdict::NotComparable(_) => "not comparable".into(),
    }
}

/// A ratio as a change in percent.
fn signed(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    if percent.is_finite() { format!("{percent:+.1} %") } else { "–".into() }
}

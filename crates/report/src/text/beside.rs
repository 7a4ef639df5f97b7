//! Comparison of runs: the verdict, the figures of both sides, and the conditions that differ.

use plimsoll_analyse::{Change, Comparison, LineComparison, Method, Quantity, Verdict};
use plimsoll_record::Estimate;

use super::TextStyle;
use super::paint::{Line, Tone, cut, wrap};
use super::table::{Align, Column, Table};
use crate::latency::Unit;
use crate::{number, words};

/// The verdict in a sentence, the runs of each side, and the objective.
pub(super) fn verdict(names: [&[String]; 2], comparison: &Comparison, style: &TextStyle) -> Vec<Line> {
    let sentence = words::clean(&sentence(comparison));
    let mut lines: Vec<Line> =
        wrap(&sentence, style.width).into_iter().map(|line| Line::of(line, Tone::Strong)).collect();
    for (side, names) in [("first", names[0]), ("second", names[1])] {
        for (index, name) in names.iter().enumerate() {
            let label = if index == 0 { side } else { "" };
            lines.push(Line::plain(cut(&format!("{label:<9} {}", words::clean(name)), style.width)));
        }
    }
    lines.extend(comparison.objective.map(|objective| Line::plain(format!("objective {objective}"))));
    let history = comparison.history.map(|history| {
        let scatter = number::percent(history.deviation.exp_m1());
        format!("{} earlier runs of the same load scatter by {scatter}, which counts as noise", history.runs)
    });
    lines.extend(history.iter().flat_map(|text| wrap(text, style.width)).map(|line| Line::of(line, Tone::Quiet)));
    lines
}

/// The verdict in plain English.
fn sentence(comparison: &Comparison) -> String {
    if let Some(line) = &comparison.line {
        let turns = (line.method == Method::Interleaved).then(|| turns_sentence(line, &comparison.verdict)).flatten();
        return turns.unwrap_or_else(|| line_sentence(line, &comparison.verdict));
    }
    let only_lines = comparison.points.is_empty() && comparison.objective.is_some();
    let met = |what: &str| {
        let objective = comparison.objective.map(|objective| objective.to_string()).unwrap_or_default();
        format!("{objective} {what}, in these minutes.")
    };
    match &comparison.verdict {
        Verdict::Better if only_lines => format!("Better: {}", met("is met now, which no load met before")),
        Verdict::Worse if only_lines => format!("Worse: {}", met("is met by no load now, and was met before")),
        Verdict::Better => "Better: the second run is faster by more than noise, in these minutes.".into(),
        Verdict::Worse => "Worse: the second run is slower by more than noise, in these minutes.".into(),
        Verdict::Mixed => "Mixed: the second run is better at some loads and worse at others, in these minutes.".into(),
        Verdict::NoRealChange => "No difference that these runs can show in these minutes.".into(),
        Verdict::NotComparable(why) => format!("Cannot say: {why}."),
    }
}

/// The verdict on the load lines of targets that were measured in turns; `None` where they do not differ.
fn turns_sentence(line: &LineComparison, verdict: &Verdict) -> Option<String> {
    let (word, more) = match verdict {
        Verdict::Better => ("Better", "more"),
        Verdict::Worse => ("Worse", "less"),
        _ => return None,
    };
    let by = share_and_range(&line.ratio);
    let (a, b) = (number::three(line.a), number::three(line.b));
    Some(format!("{word}: the second carries {by} {more}, {b} against {a} IOPS for {}.", line.objective))
}

/// The verdict on load lines; of single runs with the reservation that other minutes may differ.
fn line_sentence(line: &LineComparison, verdict: &Verdict) -> String {
    let direction = match verdict {
        Verdict::Better => "Better: the load line rose",
        Verdict::Worse => "Worse: the load line fell",
        _ => {
            let (least, when) = (whole_percent(line.resolution), reservation(line, " "));
            return format!("No difference that these runs can show; {least} % or more would show{when}.");
        }
    };
    let (by, a, b) = (share_and_range(&line.ratio), number::three(line.a), number::three(line.b));
    let (objective, when) = (line.objective, reservation(line, ", "));
    format!("{direction} by {by}, {a} to {b} IOPS for {objective}{when}.")
}

/// A ratio as a change without its sign: `21 % (12 to 31 %)`.
fn share_and_range(ratio: &Estimate) -> String {
    let sign = if ratio.value < 1.0 { -1.0 } else { 1.0 };
    let change = |ratio: f64| {
        let change = (ratio - 1.0) * sign;
        // An interval of a real change may include a change the other way where the scatter of others decided.
        if change < 0.0 { format!("-{}", whole_percent(-change)) } else { whole_percent(change) }
    };
    let range = number::interval(ratio).map_or_else(String::new, |(low, high)| {
        let [least, most] = if sign < 0.0 { [high, low] } else { [low, high] };
        format!(" ({} to {} %)", change(least), change(most))
    });
    format!("{} %{range}", change(ratio.value))
}

fn reservation(line: &LineComparison, joint: &str) -> String {
    if line.method == Method::SingleRuns { format!("{joint}in these minutes") } else { String::new() }
}

/// A share in percent without decimals; with one below 10 %.
fn whole_percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 { number::three((percent * 10.0).round() / 10.0) } else { number::whole(percent) }
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
        column("first", Align::Left, 0, &|change| value(change, change.a)),
        column("second", Align::Left, 0, &|change| value(change, change.b)),
        column("change", Align::Left, 0, &|change| signed(change.ratio.value)),
        column("95 % interval", Align::Left, 1, &|change| interval(&change.ratio)),
        column("", Align::Left, 0, &|change| judgement(&change.verdict)),
    ];
    let mut lines = Table { columns, ..Table::default() }.lay_out(style).lines;
    if changes.iter().all(|change| number::interval(&change.ratio).is_none()) {
        return lines;
    }
    let note = "intervals are widened for the number of comparisons; a change has to pass what runs that follow each \
                other differ by";
    lines.extend(wrap(note, style.width).into_iter().map(|line| Line::of(line, Tone::Quiet)));
    lines
}

/// What was not the same besides.
pub(super) fn conditions(comparison: &Comparison, style: &TextStyle) -> Vec<Line> {
    let line = |difference: &plimsoll_analyse::Difference| {
        let text = format!("  {}: {} and {}", difference.what, difference.a, difference.b);
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
        Verdict::NotComparable(_) => "no verdict".into(),
    }
}

/// A ratio as a change in percent.
fn signed(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    if percent.is_finite() { format!("{percent:+.1} %") } else { "–".into() }
}

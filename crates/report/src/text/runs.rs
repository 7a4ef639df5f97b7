//! The tables of figures: one row a run, and one row a stream and kind.

use plimsoll_record::{Counter, Curve, Estimate, Figures, Run, Steadiness};
use plimsoll_units::{Bytes, Span};

use super::paint::{Line, Tone, wrap};
use super::table::{Align, Column, Table};
use super::{Charset, TextStyle};
use crate::latency::Unit;
use crate::{number, pick, words};

/// One row a run, closed loads first.
pub(super) fn by_run(curve: &Curve, style: &TextStyle) -> Vec<Line> {
    let (closed, open): (Vec<&Run>, Vec<&Run>) = curve.runs.iter().partition(|run| !pick::is_open(run));
    let runs: Vec<&Run> = closed.iter().chain(&open).copied().collect();
    if runs.is_empty() {
        return Vec::new();
    }
    let chosen = pick::at_line(curve).filter(|_| pick::has_line(curve));
    let mut table = Table {
        columns: columns(curve, &runs, style),
        groups: groups(&closed, &open, &curve.runs),
        strong: runs.iter().position(|run| chosen.is_some_and(|chosen| std::ptr::eq(chosen, *run))),
    };
    let remarked: Vec<String> = runs.iter().map(|run| remarks(run)).collect();
    let mut notes = Vec::new();
    if remarked.iter().any(|remark| !remark.is_empty()) {
        let words = Column { name: "remarks".into(), unit: "", align: Align::Left, expendable: 0, cells: remarked };
        table.columns.push(words);
        if !table.fits(style) {
            let (signs, legend) = signs(&runs);
            table.columns.pop();
            table.columns.push(Column { name: "".into(), unit: "", align: Align::Left, expendable: 0, cells: signs });
            notes.extend(legend);
        }
    }
    let laid = table.lay_out(style);
    let mut lines = laid.lines;
    notes.extend(warm_up(&runs));
    if !laid.left_out.is_empty() {
        notes.push(format!("left out for the width: {}", laid.left_out.join(", ")));
    }
    let wrapped = wrap(&notes.join("; "), style.width);
    lines.extend(wrapped.into_iter().filter(|note| !note.is_empty()).map(|note| Line::of(note, Tone::Quiet)));
    lines
}

fn groups(closed: &[&Run], open: &[&Run], runs: &[Run]) -> Vec<(usize, String)> {
    let mut groups = Vec::new();
    if !closed.is_empty() {
        groups.push((0, "closed load: so many in flight".to_owned()));
    }
    if !open.is_empty() {
        let spacing = words::arrivals(runs).map(|spacing| format!(" ({spacing} arrivals)")).unwrap_or_default();
        groups.push((closed.len(), format!("open load: arrives by the clock{spacing}")));
    }
    groups
}

fn columns(curve: &Curve, runs: &[&Run], style: &TextStyle) -> Vec<Column> {
    let plus_minus = if style.unicode == Charset::Ascii { "+-" } else { "±" };
    let unit = Unit::of(curve);
    let column = |name: &'static str, unit, expendable, of: &dyn Fn(&Run) -> String| Column {
        name: name.into(),
        unit,
        align: Align::Point,
        expendable,
        cells: runs.iter().map(|run| of(run)).collect(),
    };
    let time = |name: &'static str, expendable, of: fn(&Figures) -> Estimate| {
        column(name, unit.name(), expendable, &|run| {
            if pick::grew(run) { "grew".into() } else { latency(&of(&run.figures), unit) }
        })
    };
    let mut columns = vec![
        Column { align: Align::Left, ..column("offered", "", 0, &|run| words::offered(&run.offered)) },
        column("IOPS", "", 0, &|run| number::seen(&run.figures.iops).map_or("–".into(), number::rate)),
        column(plus_minus, "%", 1, &|run| half_width(&run.figures.iops)),
        column("MB/s", "", 4, &|run| megabytes(run.figures.bytes_per_second)),
        time("mean", 5, |figures| figures.mean_ns),
        time("p50", 0, |figures| figures.p50_ns),
        time("p99", 0, |figures| figures.p99_ns),
        time("p99.9", 2, |figures| figures.p999_ns),
    ];
    if curve.load_line.is_some_and(|line| pick::is_own_column(&line.objective())) {
        columns.push(time("goal", 0, |figures| figures.objective_ns.unwrap_or_default()));
    }
    columns.push(column("in", "flight", 3, &|run| {
        if pick::grew(run) { "grew".into() } else { number::three(run.figures.in_flight) }
    }));
    columns
}

fn latency(estimate: &Estimate, unit: Unit) -> String {
    number::seen(estimate).map_or("–".into(), |ns| unit.show(ns))
}

fn half_width(estimate: &Estimate) -> String {
    match number::half_width_percent(estimate) {
        Some(half) if half < 0.1 => "<0.1".into(),
        Some(half) if half < 10.0 => format!("{half:.1}"),
        Some(half) => number::whole(half),
        None => "–".into(),
    }
}

fn megabytes(bytes_per_second: f64) -> String {
    if bytes_per_second > 0.0 { number::three(bytes_per_second / 1e6) } else { "–".into() }
}

fn remarks(run: &Run) -> String {
    let mut parts = Vec::new();
    match run.figures.steadiness {
        Steadiness::Overloaded => parts.push("overloaded".into()),
        Steadiness::Drifting => parts.push("not steady".into()),
        Steadiness::Unknown => parts.push("too short to tell".into()),
        Steadiness::Steady | Steadiness::Recorded => {}
    }
    if run.total.errors() > 0 {
        parts.push(format!("{} failed", number::whole(run.total.errors() as f64)));
    }
    parts.join(", ")
}

/// A remark as a letter.
struct Sign {
    letter: char,
    meaning: &'static str,
    holds: fn(&Run) -> bool,
}

const SIGNS: [Sign; 4] = [
    Sign {
        letter: 'o',
        meaning: "o overloaded: its queue, and so its latency, grew to the end",
        holds: pick::is_overloaded,
    },
    Sign { letter: 'n', meaning: "n not steady", holds: |run| run.figures.steadiness == Steadiness::Drifting },
    Sign {
        letter: 's',
        meaning: "s too short to tell steady",
        holds: |run| run.figures.steadiness == Steadiness::Unknown,
    },
    Sign { letter: 'f', meaning: "f some failed", holds: |run| run.total.errors() > 0 },
];

/// The remarks as letters, and what the letters mean.
fn signs(runs: &[&Run]) -> (Vec<String>, Vec<String>) {
    let of = |run: &&Run| SIGNS.iter().filter(|sign| (sign.holds)(run)).map(|sign| sign.letter).collect();
    let used = SIGNS.iter().filter(|sign| runs.iter().any(|run| (sign.holds)(run)));
    (runs.iter().map(of).collect(), used.map(|sign| sign.meaning.to_owned()).collect())
}

fn warm_up(runs: &[&Run]) -> Option<String> {
    let least = runs.iter().map(|run| run.warm_up).min()?;
    let most = runs.iter().map(|run| run.warm_up).max()?;
    match (least, most) {
        (_, Span::ZERO) => None,
        _ if least == most => Some(format!("a warm-up of {most} is cut from each run")),
        _ => Some(format!("a warm-up of {least} to {most} is cut from each run")),
    }
}

/// The chosen run by stream and kind, when there is more than one of them or some failed.
pub(super) fn by_stream(curve: &Curve, style: &TextStyle) -> Vec<Line> {
    let Some(run) = pick::at_line(curve).filter(|run| run.total.0.len() > 1 || run.total.errors() > 0) else {
        return Vec::new();
    };
    let place = if pick::has_line(curve) { ", nearest the load line" } else { "" };
    let heading = format!("By stream and kind, at {}{place}", words::pace(&run.offered));
    let mut lines: Vec<Line> =
        wrap(&heading, style.width).into_iter().map(|line| Line::of(line, Tone::Strong)).collect();
    lines.extend(Table { columns: stream_columns(curve, run), ..Table::default() }.lay_out(style).lines);
    lines
}

fn stream_columns(curve: &Curve, run: &Run) -> Vec<Column> {
    let unit = Unit::of(curve);
    let rates = |counter: &Counter| pick::rates(run, counter).unwrap_or_default();
    let column = |name: &'static str, unit, align, expendable, of: &dyn Fn(&Counter) -> String| Column {
        name: name.into(),
        unit,
        align,
        expendable,
        cells: run.total.0.iter().map(of).collect(),
    };
    let quantile = |name, expendable, q: f64| {
        let of = move |counter: &Counter| show(counter.response.quantile(q), unit);
        column(name, unit.name(), Align::Point, expendable, &of)
    };
    let mut columns = vec![
        column("stream", "", Align::Left, 0, &|counter| stream_name(curve, counter.stream)),
        column("kind", "", Align::Left, 0, &|counter| counter.kind.name().into()),
        column("size", "", Align::Left, 4, &mean_size),
        column("IOPS", "", Align::Point, 0, &|counter| number::rate(rates(counter).iops)),
        column("MB/s", "", Align::Point, 3, &|counter| megabytes(rates(counter).bytes_per_second)),
        column("mean", unit.name(), Align::Point, 5, &|counter| show(counter.response.mean(), unit)),
        quantile("p50", 0, 0.5),
        quantile("p99", 0, 0.99),
        quantile("p99.9", 2, 0.999),
    ];
    if run.total.errors() > 0 {
        columns.push(column("failed", "", Align::Left, 0, &failed));
    }
    columns
}

fn show(span: Option<Span>, unit: Unit) -> String {
    span.map_or("–".into(), |span| unit.show(span.as_nanos() as f64))
}

fn mean_size(counter: &Counter) -> String {
    match counter.bytes.checked_div(counter.operations()) {
        Some(0) | None => "–".into(),
        Some(size) => Bytes::new(size).to_string(),
    }
}

fn failed(counter: &Counter) -> String {
    let one = |(errno, count): &(i32, u64)| format!("{} {}", number::whole(*count as f64), words::errno(*errno));
    counter.errors.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn stream_name(curve: &Curve, stream: u8) -> String {
    let spec = curve.conditions.streams.get(usize::from(stream));
    super::paint::cut(&spec.map_or_else(|| format!("stream {stream}"), |spec| words::clean(&spec.name)), 16)
}

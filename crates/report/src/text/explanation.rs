//! What was measured beside what a configuration would have given, load by load, and the likely causes.

use plimsoll_catalogue::Status;
use plimsoll_choose::{Explanation, Row};
use plimsoll_load::Pace;

use super::TextStyle;
use super::configurations;
use super::paint::{INDENT, Line, Tone, hanging, wrap};
use super::table::{Align, Column, Table};
use crate::latency::Unit;
use crate::number;
use crate::words::{clean, offer as words, offered};

/// An open load that was answered by less than this share grew a queue: its latency is that of its length.
const KEPT_UP: f64 = 0.97;

/// The column that becomes a note when it does not fit.
const BINDS: &str = "binds";

/// Verdict, table, causes, doubts and what the figures are.
pub(super) fn parts(explanation: &Explanation, style: &TextStyle) -> Vec<Vec<Line>> {
    vec![
        headline(explanation, style),
        table(&explanation.rows, style),
        causes(explanation, style),
        place(explanation, style),
    ]
}

fn headline(explanation: &Explanation, style: &TextStyle) -> Vec<Line> {
    let offer = &explanation.offer;
    let mut lines = Vec::new();
    let mut add = |text: &str, tone| lines.extend(wrap(text, style.width).into_iter().map(|line| Line::of(line, tone)));
    add(&format!("Measured beside theory: {}", clean(&offer.title)), Tone::Strong);
    add(&clean(&offer.config.to_string()), Tone::Plain);
    let most = |of: fn(&Row) -> f64| explanation.rows.iter().map(of).fold(0.0, f64::max);
    let (measured, theory) = (most(|row| row.iops.0), most(|row| row.iops.1));
    if let Some(ratio) = share(measured, theory) {
        let (measured, theory) = (number::three(measured), number::three(theory));
        add(&format!("Most: {measured} IOPS measured, {theory} in theory ({ratio})."), Tone::Plain);
    }
    if let Some(binding) = explanation.standing.binding() {
        let status = offer.ceilings[binding.ceiling].cite.status.name();
        add(&format!("Ceiling: {} ({status}).", words::bound(offer, binding)), Tone::Plain);
    }
    lines
}

/// One row a load.
pub(super) fn table(rows: &[Row], style: &TextStyle) -> Vec<Line> {
    if rows.is_empty() {
        return Vec::new();
    }
    let mut table = Table { columns: columns(rows), ..Table::default() };
    let mut notes: Vec<String> = Vec::new();
    if !table.fits(style) {
        table.columns.retain(|column| column.name != BINDS);
        notes.extend(binding(rows));
    }
    let laid = table.lay_out(style);
    notes.push("ratio: measured over theory in IOPS; for open loads, theory over measured in mean latency".into());
    notes.extend(configurations::left_out(&laid));
    let mut lines = laid.lines;
    lines.extend(notes.iter().flat_map(|text| configurations::note(text, style)));
    lines
}

/// What binds in theory, from which load to which.
fn binding(rows: &[Row]) -> Option<String> {
    let mut spells: Vec<(&str, &Row, &Row)> = Vec::new();
    for row in rows {
        let Some(name) = row.binds.as_deref() else { continue };
        match spells.last_mut() {
            Some((same, _, last)) if *same == name => *last = row,
            _ => spells.push((name, row, row)),
        }
    }
    let spell = |(name, from, to): &(&str, &Row, &Row)| {
        let (from, to) = (offered(&from.offered), offered(&to.offered));
        let loads = if from == to { from } else { format!("{from} to {to}") };
        format!("{} ({loads})", clean(name))
    };
    let spells: Vec<String> = spells.iter().map(spell).collect();
    (!spells.is_empty()).then(|| format!("{BINDS} in theory: {}", spells.join("; ")))
}

fn columns(rows: &[Row]) -> Vec<Column> {
    let column = |name, unit, align, expendable, of: &dyn Fn(&Row) -> String| Column {
        name,
        unit,
        align,
        expendable,
        cells: rows.iter().map(of).collect(),
    };
    let unit = unit(rows);
    let (mean, p99) = match unit {
        Unit::Micro => ("mean us", "p99 us"),
        Unit::Milli => ("mean ms", "p99 ms"),
    };
    let rate = |iops: f64| if iops > 0.0 { number::rate(iops) } else { "–".into() };
    let time = |row: &Row, iops: f64, ns: f64| match ns {
        _ if grew(row, iops) => "grew".into(),
        ns if ns > 0.0 && ns.is_finite() => unit.show(ns),
        _ => "–".into(),
    };
    vec![
        column("offered", "", Align::Left, 0, &|row| offered(&row.offered)),
        column("IOPS", "measured", Align::Point, 0, &|row| rate(row.iops.0)),
        column("IOPS", "theory", Align::Point, 0, &|row| rate(row.iops.1)),
        column("ratio", "", Align::Point, 0, &ratio),
        column(mean, "measured", Align::Point, 2, &|row| time(row, row.iops.0, row.mean_ns.0)),
        column(mean, "theory", Align::Point, 2, &|row| time(row, row.iops.1, row.mean_ns.1)),
        column(p99, "measured", Align::Point, 3, &|row| time(row, row.iops.0, row.p99_ns.0)),
        column(p99, "theory", Align::Point, 3, &|row| time(row, row.iops.1, row.p99_ns.1)),
        column(BINDS, "in theory", Align::Left, 1, &|row| configurations::limit(row.binds.as_deref())),
    ]
}

/// Microseconds when some mean is below a millisecond.
fn unit(rows: &[Row]) -> Unit {
    let means = rows.iter().flat_map(|row| [row.mean_ns.0, row.mean_ns.1]).filter(|ns| *ns > 0.0);
    if means.fold(f64::INFINITY, f64::min) < 1e6 { Unit::Micro } else { Unit::Milli }
}

/// None where a queue grew: there, latency is that of the run's length.
fn ratio(row: &Row) -> String {
    let ratio = row.ratio();
    let sound = ratio.is_finite() && !grew(row, row.iops.0) && !grew(row, row.iops.1);
    if sound { format!("{ratio:.2}") } else { "–".into() }
}

/// More arrived than was answered.
fn grew(row: &Row, iops: f64) -> bool {
    matches!(row.offered, Pace::Open { rate, .. } if iops < rate.as_f64() * KEPT_UP)
}

fn share(measured: f64, theory: f64) -> Option<String> {
    let share = measured / theory;
    let text = if share > 2.0 {
        format!("{} times that", number::three(share))
    } else {
        format!("{:.0} % of it", share * 100.0)
    };
    share.is_finite().then_some(text)
}

fn causes(explanation: &Explanation, style: &TextStyle) -> Vec<Line> {
    if explanation.causes.is_empty() {
        return vec![Line::plain("Causes: none stands out")];
    }
    let mut lines = vec![Line::of("Likely causes", Tone::Strong)];
    for cause in &explanation.causes {
        let what = wrap(&clean(&cause.what), style.width - 2);
        lines.extend(
            what.into_iter()
                .enumerate()
                .map(|(index, line)| Line::plain(format!("{}{line}", if index == 0 { "- " } else { "  " }))),
        );
        let why = wrap(&format!("-> {}", clean(&cause.why)), style.width - 2);
        lines.extend(why.into_iter().map(|line| Line::plain(format!("  {line}"))));
    }
    lines
}

fn place(explanation: &Explanation, style: &TextStyle) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut add = |name: &str, tone, text: &str| lines.extend(hanging(name, tone, wrap(text, style.width - INDENT)));
    for doubt in explanation.offer.doubts() {
        add("doubt", Tone::Yellow, &clean(&doubt.text));
    }
    let binding = explanation.standing.binding().map(|bound| &explanation.offer.ceilings[bound.ceiling]);
    if let Some(ceiling) = binding {
        add("ceiling", Tone::Quiet, &words::cite(&ceiling.cite));
    }
    let used: Vec<Status> = binding.iter().map(|ceiling| ceiling.cite.status).collect();
    add(
        "theory",
        Tone::Quiet,
        &format!("simulated by the catalogue's model; its figures are {}", words::provenance(used)),
    );
    lines
}

//! Every figure with its interval: by run, by stream and kind, and by objective.

use maud::{Markup, html};
use plimsoll_record::{Counter, Curve, Estimate, LoadLine, Run, Steadiness};
use plimsoll_units::Span;

use super::page;
use crate::chart::typeset;
use crate::latency::{self, Unit};
use crate::{number, pages, pick, words};

/// One row a run, closed loads first.
pub(super) fn runs(curve: &Curve) -> Markup {
    if curve.runs.is_empty() {
        return html! {};
    }
    let chosen = pick::at_line(curve).filter(|_| pick::has_line(curve));
    let columns = columns(curve);
    let arrivals = words::arrivals(&curve.runs).map(|spacing| format!(", {spacing} arrivals")).unwrap_or_default();
    let groups = [
        ("Closed load: so many in flight".to_owned(), false),
        (format!("Open load: arrives by the clock{arrivals}"), true),
    ];
    let rows = |open: bool| curve.runs.iter().enumerate().filter(move |(_, run)| pick::is_open(run) == open);
    html! {
        section {
            h2 { "Runs" }
            p class="lead" {
                "Small figures are 95 % intervals."
                @if chosen.is_some() { " ⊖ marks the run nearest the load line." }
                @if let Some(cut) = warm_up(&curve.runs) { " " (cut) }
            }
            div class="scroll" tabindex="0" role="region" aria-label="Figures of all runs" {
                table {
                    thead { tr {
                        th class="l" scope="col" { "offered" }
                        @for column in &columns { th scope="col" { (column.name) small { (column.unit) } } }
                        th class="l" scope="col" { "remarks" }
                    } }
                    @for (name, open) in groups.into_iter().filter(|(_, open)| rows(*open).next().is_some()) {
                        tbody {
                            tr { th class="group" scope="rowgroup" colspan=(columns.len() + 2) { (name) } }
                            @for (index, run) in rows(open) { (row(run, index, &columns, chosen)) }
                        }
                    }
                }
            }
        }
    }
}

fn row(run: &Run, index: usize, columns: &[Column], chosen: Option<&Run>) -> Markup {
    html! {
        tr class=[chosen.filter(|chosen| std::ptr::eq(*chosen, run)).map(|_| "chosen")] {
            th scope="row" { (words::offered(&run.offered)) }
            @for column in columns { td { (column.cells[index]) } }
            td class="remarks" { (remarks(run)) }
        }
    }
}

/// A column of figures: its head, its unit, and a cell for each run.
struct Column {
    name: String,
    unit: String,
    cells: Vec<Markup>,
}

fn columns(curve: &Curve) -> Vec<Column> {
    let (unit, runs) = (Unit::of(curve), &curve.runs);
    let time = |ns: f64| unit.show(ns);
    let plain = |name: &str, unit: &str, of: &dyn Fn(&Run) -> Option<String>| Column {
        name: name.into(),
        unit: typeset_unit(unit),
        cells: aligned(runs.iter().map(of).collect()),
    };
    let latency = |name: String, of: &dyn Fn(&Run) -> Estimate| Column {
        name,
        unit: typeset_unit(unit.name()),
        cells: estimates(runs, &time, of, &pick::grew),
    };
    let mut columns = vec![
        Column {
            name: "completed".into(),
            unit: "IOPS".into(),
            cells: estimates(runs, &number::whole, &|run| run.figures.iops, &|_| false),
        },
        plain("moved", "MB/s", &|run| {
            Some(run.figures.bytes_per_second / 1e6).filter(|rate| *rate > 0.0).map(number::three)
        }),
        latency("mean".into(), &|run| run.figures.mean_ns),
        latency("p50".into(), &|run| run.figures.p50_ns),
        latency("p99".into(), &|run| run.figures.p99_ns),
        latency("p99.9".into(), &|run| run.figures.p999_ns),
    ];
    let own = curve.load_line.map(|line| line.objective()).filter(pick::is_own_column);
    columns
        .extend(own.map(|objective| latency(objective.bounded(), &|run| run.figures.objective_ns.unwrap_or_default())));
    let longest = |run: &Run| Some(run.total.response().max_ns as f64).filter(|ns| *ns > 0.0).map(time);
    columns.push(plain("longest", unit.name(), &longest));
    columns.push(plain("in flight", "mean", &|run| Some(number::three(run.figures.in_flight))));
    columns
}

/// Values with their intervals below; those of a run that is `passing` would not have lasted, and have none.
fn estimates(
    runs: &[Run],
    show: &dyn Fn(f64) -> String,
    of: &dyn Fn(&Run) -> Estimate,
    passing: &dyn Fn(&Run) -> bool,
) -> Vec<Markup> {
    let of: Vec<Estimate> = runs.iter().map(of).collect();
    let values = aligned(of.iter().map(|estimate| number::seen(estimate).map(show)).collect());
    let cell = |((value, estimate), run): ((Markup, &Estimate), &Run)| {
        let interval = number::interval(estimate).filter(|_| number::seen(estimate).is_some() && !passing(run));
        html! {
            @if passing(run) { span class="passing" { (value) } } @else { (value) }
            @if let Some((low, high)) = interval { small { (show(low)) " – " (show(high)) } }
        }
    };
    values.into_iter().zip(&of).zip(runs).map(cell).collect()
}

/// Values with their decimal points below each other; a dash for what is not known.
pub(super) fn aligned(values: Vec<Option<String>>) -> Vec<Markup> {
    let cells: Vec<String> = values.into_iter().map(|value| value.unwrap_or("–".into())).collect();
    let pads = latency::pads(&cells);
    let cell = |(cell, pad): (&String, latency::Pad)| {
        // A point is about half as wide as a digit in tabular figures.
        let blank = pad.digits as f64 + if pad.point { 0.5 } else { 0.0 };
        html! { @if blank > 0.0 { span style={ "padding-right:" (blank) "ch" } { (cell) } } @else { (cell) } }
    };
    cells.iter().zip(pads).map(cell).collect()
}

fn typeset_unit(unit: &str) -> String {
    if unit == "us" { "µs".into() } else { unit.into() }
}

fn warm_up(runs: &[Run]) -> Option<String> {
    let least = runs.iter().map(|run| run.warm_up).min()?;
    let most = runs.iter().map(|run| run.warm_up).max().filter(|most| !most.is_zero())?;
    let range = if least == most { most.to_string() } else { format!("{least} to {most}") };
    Some(typeset(&format!("A warm-up of {range} is cut from each run.")))
}

/// What a reader has to know of a run, in a few words.
pub(super) fn remarks(run: &Run) -> String {
    let mut parts: Vec<String> = Vec::new();
    match run.figures.steadiness {
        Steadiness::Overloaded => parts.push("overloaded: latency grew".into()),
        Steadiness::Drifting => parts.push("not steady".into()),
        Steadiness::Unknown => parts.push("too short to tell steady".into()),
        Steadiness::Steady | Steadiness::Recorded => {}
    }
    if run.unserved > 0 {
        parts.push(format!("{} never issued", number::whole(run.unserved as f64)));
    }
    if run.total.errors() > 0 {
        parts.push(format!("{} failed", number::whole(run.total.errors() as f64)));
    }
    if let Some((name, share)) = run.bound_by.iter().max_by(|a, b| a.1.total_cmp(&b.1)) {
        parts.push(format!("bound by {} ({})", words::clean(name), number::percent(*share)));
    }
    typeset(&parts.join("; "))
}

/// The chosen run by stream and kind, when there is more than one of them.
pub(super) fn streams(curve: &Curve) -> Markup {
    let Some(run) = pick::at_line(curve).filter(|run| run.total.0.len() > 1 || run.total.errors() > 0) else {
        return html! {};
    };
    let columns = stream_columns(run, Unit::of(curve));
    html! {
        section {
            h2 { "By stream and kind" }
            p class="lead" { "Of the run at " (words::pace(&run.offered)) @if pick::has_line(curve) { ", nearest the load line" } "." }
            div class="scroll" tabindex="0" role="region" aria-label="Figures by stream and kind" {
                table {
                    thead { tr {
                        th class="l" scope="col" { "stream" }
                        th class="l" scope="col" { "kind" }
                        @for column in &columns { th scope="col" { (column.name) small { (column.unit) } } }
                        th class="l" scope="col" { "failed" }
                    } }
                    tbody {
                        @for (row, counter) in run.total.0.iter().enumerate() {
                            tr {
                                th scope="row" { (stream_name(curve, counter.stream)) }
                                td class="l" { (counter.kind.name()) }
                                @for column in &columns { td { (column.cells[row]) } }
                                td class="l" { (failed(counter)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn stream_columns(run: &Run, unit: Unit) -> Vec<Column> {
    let rates = |counter: &Counter| pick::rates(run, counter);
    let time = |span: Option<Span>| span.map(|span| unit.show(span.as_nanos() as f64));
    let column = |name: &str, unit: &str, of: &dyn Fn(&Counter) -> Option<String>| Column {
        name: name.into(),
        unit: typeset_unit(unit),
        cells: aligned(run.total.0.iter().map(of).collect()),
    };
    let quantile = |name: &str, q: f64| column(name, unit.name(), &|counter| time(counter.response.quantile(q)));
    vec![
        column("completed", "IOPS", &|counter| rates(counter).map(|rates| number::whole(rates.iops))),
        column("moved", "MB/s", &|counter| rates(counter).map(|rates| number::three(rates.bytes_per_second / 1e6))),
        column("mean", unit.name(), &|counter| time(counter.response.mean())),
        quantile("p50", 0.5),
        quantile("p99", 0.99),
        quantile("p99.9", 0.999),
        quantile("longest", 1.0),
        column("service p99", unit.name(), &|counter| time(counter.service().quantile(0.99))),
    ]
}

fn failed(counter: &Counter) -> String {
    let one = |(errno, count): &(i32, u64)| format!("{} {}", number::whole(*count as f64), words::errno(*errno));
    if counter.errors.is_empty() {
        "none".into()
    } else {
        counter.errors.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

fn stream_name(curve: &Curve, stream: u8) -> String {
    let spec = curve.conditions.streams.get(usize::from(stream));
    spec.map_or_else(|| format!("stream {stream}"), |spec| words::clean(&spec.name))
}

/// The load line at several objectives.
pub(super) fn ladder(lines: &[LoadLine]) -> Markup {
    if lines.is_empty() {
        return html! {};
    }
    html! {
        section {
            h2 { "Load line by objective" }
            p class="lead" { "How much may be asked when the objective is stricter or laxer." }
            (page::table(&pages::ladder(lines), "Load line by objective"))
        }
    }
}

//! What is wanted: from what was measured to what ceilings have to allow, each step with its reason.

use maud::{Markup, html};
use plimsoll_choose::sizing::{Point, Step};

use super::super::figures::{both, figure};
use super::super::grid::{Head, Row, table};
use super::Sized;
use crate::chart::{self, Bar, Fill, typeset};
use crate::number;
use crate::text::Cells;
use crate::words::{clean, offer, sizing as words};

/// The steps as a table, and the levels that they lead to as bars.
pub(super) fn section(sized: &Sized<'_>) -> Markup {
    let wanted = &sized.sizing.wanted;
    let levels = levels(sized);
    let description = levels.iter().map(|bar| format!("{}: {}", bar.name, bar.value)).collect::<Vec<_>>().join("; ");
    let chart = both("wanted", "From measured to designed for", &description, |size| chart::bars(&levels, size));
    html! {
        section {
            h2 { "What is wanted" }
            p class="lead" { (typeset(&format!("Measured: {}.", words::measured(wanted)))) }
            (figure(&chart, &html! { (sized.source) }))
            (steps(&wanted.steps, wanted.headroom))
            (classes(&wanted.points))
            @if !wanted.assumptions.is_empty() {
                h3 { "Assumed, as no input says it" }
                ul class="method" { @for text in &wanted.assumptions { li { (typeset(&clean(text))) } } }
            }
        }
    }
}

fn levels(sized: &Sized<'_>) -> Vec<Bar> {
    let wanted = &sized.sizing.wanted;
    let bar = |name: String, iops: f64, bytes: f64, fill| Bar {
        name,
        from: 0.0,
        to: iops,
        value: format!("{} IOPS, {} MB/s", number::three(iops), offer::megabytes(bytes)),
        fill,
        tone: 0,
    };
    let measured = &wanted.measured;
    let mut bars = vec![bar("measured".into(), measured.iops, measured.bytes_per_second, Fill::Full)];
    for point in &wanted.points {
        let of = if wanted.points.len() > 1 { format!(", {}", words::busiest(point.of)) } else { String::new() };
        bars.push(bar(format!("expected{of}"), point.iops(), point.bytes_per_second(), Fill::Full));
    }
    if let Some(point) = wanted.points.first() {
        let room = wanted.room();
        bars.push(bar("designed for".into(), point.iops() * room, point.bytes_per_second() * room, Fill::Hollow));
    }
    bars
}

fn steps(steps: &[Step], headroom: f64) -> Markup {
    const HEADS: [Head; 4] = [
        Head("step", "", Cells::Words),
        Head("small operations", "times", Cells::Figures),
        Head("64 KiB and more", "times", Cells::Figures),
        Head("why", "", Cells::Words),
    ];
    let row = |name: &str, small: f64, large: f64, why: &str| Row {
        id: None,
        cells: vec![
            html! { (clean(name)) },
            html! { (number::three(small)) },
            html! { (number::three(large)) },
            html! { span class="reason" { (typeset(&clean(why))) } },
        ],
    };
    let step = |step: &Step| {
        let spread = step.spread.map_or(String::new(), |(low, high)| {
            format!(" (from {} to {} where it was measured)", number::three(low), number::three(high))
        });
        row(&step.what, step.small, step.large, &format!("{}{spread}", step.why))
    };
    let mut rows: Vec<Row> = steps.iter().map(step).collect();
    rows.push(row("headroom", 1.0 + headroom, 1.0 + headroom, "what ceilings have to allow above the expected load"));
    table("Steps from measured to designed for", &HEADS, &rows)
}

fn classes(points: &[Point]) -> Markup {
    const HEADS: [Head; 5] = [
        Head("expected load", "", Cells::Words),
        Head("rate", "IOPS", Cells::Figures),
        Head("bytes", "MB/s", Cells::Figures),
        Head("size", "KiB", Cells::Figures),
        Head("in the windows with", "", Cells::Words),
    ];
    let rows: Vec<Row> = points
        .iter()
        .flat_map(|point| point.classes.iter().map(move |load| (point, load)))
        .map(|(point, load)| Row {
            id: None,
            cells: vec![
                html! { (load.class.name()) },
                html! { (number::three(load.iops)) },
                html! { (offer::megabytes(load.bytes_per_second)) },
                html! { (number::three(load.size() / 1024.0)) },
                html! { (words::busiest(point.of)) },
            ],
        })
        .collect();
    table("The expected load by class", &HEADS, &rows)
}

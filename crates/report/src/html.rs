//! One page that needs nothing but itself: no network, no fonts, and scripts only for comfort.

mod compare;
mod figures;
mod page;
mod prose;
mod replays;
mod suite;
mod tables;
mod verdict;

use maud::{DOCTYPE, Markup, PreEscaped, html as markup};
use plimsoll_record::{Curve, LoadLine};

use crate::words;

pub(crate) use figures::{both, figure};
pub use page::page_html;
pub use suite::suites_html;

/// A curve, and what was worked out of it besides.
#[derive(Clone, Copy, Debug)]
pub struct Sheet<'a> {
    /// The curve.
    pub curve: &'a Curve,
    /// Load lines at several objectives, the strictest first; may be empty.
    pub ladder: &'a [LoadLine],
}

/// One self-contained page of a curve, or of several over each other.
pub fn html(curves: &[&Curve]) -> String {
    let sheets: Vec<Sheet<'_>> = curves.iter().map(|curve| Sheet { curve, ladder: &[] }).collect();
    html_of(&sheets)
}

/// One self-contained page of curves with their ladders.
pub fn html_of(sheets: &[Sheet<'_>]) -> String {
    let title = match sheets {
        [] => "Load line".to_owned(),
        [sheet] => format!("{} {}", verdict::what(sheet.curve), words::clean(&sheet.curve.subject.name)),
        _ if sheets.iter().all(|sheet| sheet.curve.conditions.trace.is_some()) => {
            format!("Replays on {} configurations", sheets.len())
        }
        _ => format!("Load lines of {} curves", sheets.len()),
    };
    framed(&title, &body(sheets), &made_by(sheets))
}

/// A whole page of a body, with a line at its foot.
fn framed(title: &str, body: &Markup, foot: &str) -> String {
    let page = markup! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="plimsoll";
                title { (title) }
                style { (PreEscaped(include_str!("style/chart.css"))) (PreEscaped(include_str!("style/page.css"))) }
            }
            body {
                main { (body) }
                footer class="foot" { (foot) }
                script { (PreEscaped(include_str!("style/page.js"))) }
            }
        }
    };
    page.into_string()
}

fn body(sheets: &[Sheet<'_>]) -> Markup {
    let curves: Vec<&Curve> = sheets.iter().map(|sheet| sheet.curve).collect();
    markup! {
        @match sheets {
            [] => p { "There is no curve to show." },
            [sheet] => {
                (verdict::head(sheet.curve))
                (figures::curve(&curves))
                (details(sheet, 0))
            },
            _ => {
                @if replays::are(&curves) {
                    (replays::head(&curves))
                    (replays::table(&curves))
                } @else {
                    (compare::head(&curves))
                    (overlay(sheets))
                }
                (each(sheets))
            },
        }
        (prose::method())
    }
}

/// Curves over each other, and their headline numbers.
pub(crate) fn overlay(sheets: &[Sheet<'_>]) -> Markup {
    let curves: Vec<&Curve> = sheets.iter().map(|sheet| sheet.curve).collect();
    markup! { (figures::curve(&curves)) (compare::table(&curves)) }
}

/// Each curve in full, and how to read it.
pub(crate) fn runs_in_full(sheets: &[Sheet<'_>]) -> Markup {
    markup! { (each(sheets)) (prose::method()) }
}

fn each(sheets: &[Sheet<'_>]) -> Markup {
    markup! {
        @for (index, sheet) in sheets.iter().enumerate() {
            section {
                h2 class="name" { (words::clean(&sheet.curve.subject.name)) }
                (verdict::short(sheet.curve))
                (details(sheet, index))
            }
        }
    }
}

fn details(sheet: &Sheet<'_>, index: usize) -> Markup {
    let curve = sheet.curve;
    markup! {
        (prose::findings(curve))
        (tables::ladder(sheet.ladder))
        (figures::percentiles(curve, index))
        (tables::runs(curve))
        (tables::streams(curve))
        (figures::over_time(curve, index))
        (figures::slots(curve, index))
        (prose::about(curve))
        (prose::repeat(curve))
    }
}

fn made_by(sheets: &[Sheet<'_>]) -> String {
    let mut makers: Vec<String> = Vec::new();
    for sheet in sheets {
        let maker = words::clean(&sheet.curve.made_by);
        if !makers.contains(&maker) {
            makers.push(maker);
        }
    }
    format!(
        "Made by {}. This page needs no network.",
        if makers.is_empty() { "plimsoll".into() } else { makers.join(", ") }
    )
}

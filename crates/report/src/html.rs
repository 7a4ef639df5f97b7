//! One file that needs no network and no fonts; scripts add comfort only.

mod page;

use maud::{DOCTYPE, Markup, PreEscaped, html as markup};

use crate::chart::{Caption, Drawing, Size, picture};

pub use page::page_html;

/// uPlot 1.6.32 (<https://github.com/leeoniya/uPlot>) with its licence, and the view that it draws.
const ZOOM: [&str; 5] = [
    "/*\n",
    include_str!("style/uplot/LICENSE"),
    "*/\n",
    include_str!("style/uplot/uPlot.iife.min.js"),
    include_str!("style/zoom.js"),
];
/// Only load curves have figures to zoom.
const ZOOM_DATA: &str = "class=\"zoom\"";

/// A whole file of a body, with a line at its foot.
fn framed(title: &str, body: &Markup, foot: &str) -> String {
    let zooms = body.0.contains(ZOOM_DATA);
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
                @if zooms { style { (PreEscaped(include_str!("style/uplot/uPlot.min.css"))) } }
            }
            body {
                main { (body) }
                footer class="foot" { (foot) }
                script { (PreEscaped(include_str!("style/page.js"))) }
                @if zooms { script { @for part in ZOOM { (PreEscaped(part)) } } }
            }
        }
    };
    page.into_string()
}

/// A chart in its wide and its narrow form.
pub(crate) fn both(id: &str, title: &str, description: &str, draw: impl Fn(Size) -> Drawing) -> Markup {
    let one = |size: Size, form: &str| {
        let caption =
            Caption { id: format!("{id}-{form}"), title: title.to_owned(), description: description.to_owned() };
        picture(&draw(size), size, &caption, form)
    };
    markup! { (one(Size::WIDE, "wide")) (one(Size::NARROW, "narrow")) }
}

/// A chart with the source of its figures.
pub(crate) fn figure(chart: &Markup, source: &Markup) -> Markup {
    markup! { figure { (chart) figcaption { "Source: " (source) "." } } }
}

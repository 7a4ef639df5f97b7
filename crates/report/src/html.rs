//! HTML files that need no network and no fonts; scripts are optional enhancements.

mod page;

use maud::{DOCTYPE, Markup, PreEscaped, html as markup};

use plimsoll_language::{Language, label};

use crate::chart::{Caption, Drawing, Size, picture};

pub use page::{page_fragment, page_html};

/// uPlot 1.6.32 (<https://github.com/leeoniya/uPlot>) with its licence, and the zoomable view.
const ZOOM: [&str; 5] = [
    "/*\n",
    include_str!("style/uplot/LICENSE"),
    "*/\n",
    include_str!("style/uplot/uPlot.iife.min.js"),
    include_str!("style/zoom.js"),
];
/// Style sheets that fragments of pages need: of charts, of pages, of zoomed charts.
pub const PAGE_STYLES: [&str; 3] =
    [include_str!("style/chart.css"), include_str!("style/page.css"), include_str!("style/uplot/uPlot.min.css")];
/// Script of fragments of pages: readouts, copy buttons.
pub const PAGE_SCRIPT: &str = include_str!("style/page.js");
/// Script of zoomed charts; needs [`PLOT_SCRIPT`].
pub const ZOOM_SCRIPT: &str = include_str!("style/zoom.js");
/// uPlot with its licence.
pub const PLOT_SCRIPT: [&str; 4] = [ZOOM[0], ZOOM[1], ZOOM[2], ZOOM[3]];
/// Marker of charts with data to zoom.
const ZOOM_DATA: &str = "class=\"zoom\"";

/// A complete file of a body and a footer.
fn framed(title: &str, body: &Markup, foot: &str) -> String {
    let zooms = body.0.contains(ZOOM_DATA);
    let page = markup! {
        (DOCTYPE)
        html lang=(Language::current().tag()) {
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

/// A chart with the source of its figures as caption.
pub(crate) fn figure(chart: &Markup, source: &Markup) -> Markup {
    markup! { figure { (chart) figcaption { (label!("Source: ")) (source) (label!(".")) } } }
}

//! Curves and timelines as standalone SVG files.

use maud::{PreEscaped, html};
use plimsoll_language::{label, say};
use plimsoll_record::Curve;

use crate::chart::{self, Size, px};
use crate::timeline::Timeline;
use crate::words::{self, Counted};

/// Latency against throughput of one or more curves, as a file that follows the reader's light or dark colour scheme.
pub fn svg(curves: &[&Curve]) -> String {
    let size = Size::WIDE;
    let drawing = chart::load_curve(curves, Counted::Operations, size);
    let head = headline(curves);
    let top = 64.0;
    let sources: Vec<String> = curves.iter().map(|curve| say!("Source: {}", words::source_line(curve))).collect();
    let below = top + drawing.height + 14.0;
    let height = px(below + sources.len() as f64 * 18.0);
    let page = html! {
        svg class="chart standalone" xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="t d"
            width=(size.width) height=(height) viewBox=(format!("0 0 {} {height}", size.width)) {
            title id="t" { (head) }
            desc id="d" { (chart::curve_description(curves)) }
            style { (PreEscaped(include_str!("style/chart.css"))) (PreEscaped(OWN_STYLE)) }
            rect class="sheet" width="100%" height="100%" {}
            text class="headline" x="16" y="34" { (chart::cut(&head, 880.0)) }
            g transform=(format!("translate(12 {top})")) { (drawing.body) }
            @for (row, source) in sources.iter().enumerate() {
                text class="source" x="16" y=(px(below + row as f64 * 18.0)) { (chart::cut(source, 880.0)) }
            }
        }
    };
    page.into_string()
}

/// Renders the timeline as a file that follows the reader's light or dark colour scheme.
pub fn timeline(story: &Timeline) -> String {
    let size = Size::WIDE;
    let drawing = chart::panels(story, size);
    let top = 64.0;
    let below = top + drawing.height + 10.0;
    let height = px(below + 18.0);
    let changes: Vec<String> = story.marks.iter().map(|mark| format!("{} s: {}", px(mark.at), mark.label)).collect();
    let page = html! {
        svg class="chart standalone" xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="t d"
            width=(size.width) height=(height) viewBox=(format!("0 0 {} {height}", size.width)) {
            title id="t" { (story.title) }
            desc id="d" { (chart::typeset(&format!("{} {}", story.source, changes.join(label!(", "))))) }
            style { (PreEscaped(include_str!("style/chart.css"))) (PreEscaped(OWN_STYLE)) }
            rect class="sheet" width="100%" height="100%" {}
            text class="headline" x="16" y="34" { (chart::cut(&chart::typeset(&story.title), 880.0)) }
            g transform=(format!("translate(12 {top})")) { (drawing.body) }
            text class="source" x="16" y=(px(below)) { (chart::cut(&chart::typeset(&story.source), 880.0)) }
        }
    };
    page.into_string()
}

/// Additional styles of a standalone file.
const OWN_STYLE: &str = ".sheet { fill: var(--paper); }\n.chart text.headline { font-size: 18px; font-weight: 650; }\n\
                         .chart text.source { fill: var(--soft); }\n";

fn headline(curves: &[&Curve]) -> String {
    match curves {
        [curve] => match &curve.load_line {
            Some(line) => chart::typeset(&say!("Load line: {}", words::load_line(line))),
            None => say!("Latency against throughput of {}", words::clean(&curve.subject.name)),
        },
        _ => label!("Latency against throughput").into(),
    }
}

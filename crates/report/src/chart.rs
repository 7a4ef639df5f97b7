//! Charts as SVG: frames with axes, markers, legends, and the drawings composed of them.
//!
//! Colours are classes of `style/chart.css`; shapes, fills and dashes carry the same information without colour.

mod bars;
mod curve;
mod frame;
mod gauge;
mod legend;
mod mark;
mod panels;
mod percentile;
mod plane;
mod series;
mod shape;
mod stacks;
mod verdict;

pub(crate) use bars::{Bar, Fill, bars};
pub(crate) use curve::{colour_class, load_curve, zoom_data};
pub(crate) use frame::Size;
pub(crate) use gauge::gauge;
pub(crate) use legend::cut;
pub(crate) use mark::plimsoll_mark;
pub(crate) use panels::panels;
pub(crate) use percentile::percentiles;
pub(crate) use plane::{Axis, Joined, Plane, PointGroup, Spot, plane};
pub(crate) use series::{Lane, over_time};
pub(crate) use shape::MarkerShape;
pub(crate) use stacks::{BarPart, Stack, stacks};

use maud::{Markup, html};
use plimsoll_language::{label, say};
use plimsoll_record::Curve;

use crate::{pick, words};

/// Rounds a coordinate to a tenth of a unit, which keeps files short.
pub(crate) fn px(value: f64) -> f64 {
    let rounded = (value * 10.0).round() / 10.0;
    if rounded.is_finite() { rounded } else { 0.0 }
}

/// A finished drawing and its height.
pub(crate) struct Drawing {
    pub body: Markup,
    pub height: f64,
}

/// Accessible title and description of a chart.
pub(crate) struct Caption {
    /// Unique on the page.
    pub id: String,
    pub title: String,
    pub description: String,
}

/// Renders the drawing as an SVG element. `class` selects the wide or the narrow form.
pub(crate) fn picture(drawing: &Drawing, size: Size, caption: &Caption, class: &str) -> Markup {
    let (title, description) = (format!("{}-t", caption.id), format!("{}-d", caption.id));
    html! {
        svg class={ "chart " (class) } xmlns="http://www.w3.org/2000/svg" role="img"
            viewBox=(format!("0 0 {} {}", size.width, px(drawing.height)))
            aria-labelledby={ (title) " " (description) } {
            title id=(title) { (caption.title) }
            desc id=(description) { (caption.description) }
            (drawing.body)
        }
    }
}

/// Replaces ASCII notation by typographic characters (`us`, `<=`) and joins numbers and units with no-break spaces.
pub fn typeset(text: &str) -> String {
    const UNITS: [&str; 29] = [
        "ns", "us", "µs", "ms", "s", "min", "h", "IOPS", "IOPS/s", "KB/s", "MB/s", "GB/s", "MiB/s", "%", "B", "KB",
        "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "USD", "JPY", "EUR", "GBP", "vCPU", "vCPUs",
    ];
    let is_counter = |word: &str| word.starts_with(|letter: char| ('\u{4e00}'..='\u{9fff}').contains(&letter));
    let mut out = String::with_capacity(text.len() + 8);
    for word in text.replace("<=", "≤").split(' ') {
        let unit = word.trim_end_matches([',', ';', '.', ')', ':']);
        let unit = unit.split(['、', '。', '；', '（', '）', '～']).next().unwrap_or_default();
        if !out.is_empty() {
            let belongs = out.ends_with(|c: char| c.is_ascii_digit()) && (UNITS.contains(&unit) || is_counter(word));
            out.push(if belongs || out.ends_with('≤') { '\u{a0}' } else { ' ' });
            if belongs && unit == "us" {
                out.push_str(&word.replacen('u', "µ", 1));
                continue;
            }
        }
        out.push_str(word);
    }
    out
}

/// Text alternative of the curve chart.
pub(crate) fn curve_description(curves: &[&Curve]) -> String {
    let one = |curve: &&Curve| {
        let runs = pick::complete_runs(curve).count();
        let line = curve
            .load_line
            .as_ref()
            .map_or(label!("No load line").into(), |line| say!("Load line: {}", words::load_line(line)));
        typeset(&say!("{}, {runs} runs. {line}.", words::source_line(curve)))
    };
    curves.iter().map(one).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::sentence;

    #[test]
    fn numbers_stay_with_their_units() {
        assert_eq!(
            typeset("84 us (1 us to 2 us), tell us of p99 <= 1 ms."),
            "84\u{a0}µs (1\u{a0}µs to 2\u{a0}µs), tell us of p99 ≤\u{a0}1\u{a0}ms."
        );
        assert_eq!(
            typeset("測定は 3 件、38 %、最大 12 us（平均 2 倍）"),
            "測定は 3\u{a0}件、38\u{a0}%、最大 12\u{a0}µs（平均 2\u{a0}倍）"
        );
        assert_eq!(typeset(""), "");
    }

    #[test]
    fn names_in_code_keep_their_case() {
        assert_eq!(
            (sentence("io_uring was refused"), sentence("only 3")),
            ("io_uring was refused".into(), "Only 3".into())
        );
    }
}

//! Legend: entries in rows that wrap at the width.

use maud::{Markup, html};

use super::frame::text_width;
use super::px;
use crate::words;

/// An entry: a sample drawn about (11, 0), and its label.
pub(crate) struct LegendEntry {
    pub sample: Markup,
    pub class: String,
    pub label: String,
}

const ROW: f64 = 20.0;
const SAMPLE: f64 = 28.0;
const GAP: f64 = 20.0;

/// Lays out the entries from `(left, top)` and returns their height. Labels longer than a row are truncated.
pub(crate) fn legend(entries: &[LegendEntry], left: f64, top: f64, width: f64) -> (Markup, f64) {
    let (mut x, mut row) = (0.0, 0.0);
    let mut placed = Vec::new();
    for entry in entries {
        let label = cut(&entry.label, width - SAMPLE);
        let wide = SAMPLE + text_width(&label) + GAP;
        if x > 0.0 && x + wide - GAP > width {
            (x, row) = (0.0, row + 1.0);
        }
        placed.push((left + x, top + row * ROW + ROW / 2.0, entry, label));
        x += wide;
    }
    let body = html! {
        g class="legend" {
            @for (x, y, entry, label) in &placed {
                g class=(entry.class) transform=(format!("translate({} {})", px(*x), px(*y))) {
                    (entry.sample)
                    text x="28" y="4" textLength=[squeezed(label, width - SAMPLE)] lengthAdjust="spacingAndGlyphs" { (label) }
                }
            }
        }
    };
    (body, if entries.is_empty() { 0.0 } else { (row + 1.0) * ROW })
}

/// Width to which a label that takes most of a row is drawn, as fonts differ by a fifth.
fn squeezed(label: &str, row: f64) -> Option<String> {
    (text_width(label) * 1.2 > row).then(|| px(text_width(label).min(row)).to_string())
}

/// Truncates a text to the width, with an ellipsis.
pub(crate) fn cut(text: &str, width: f64) -> String {
    let max = (width / text_width("x")).floor().max(1.0) as usize;
    words::cut(text, max)
}

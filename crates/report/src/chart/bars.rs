//! Horizontal bars on one scale, with name and value. Full and hollow bars can be distinguished without colour.

use maud::{Markup, html};

use super::frame::{Size, text_width};
use super::legend::cut;
use super::{Drawing, colour_class, px, typeset};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bar {
    /// Label before the bar.
    pub name: String,
    /// Start on the scale: 0, or the end of the previous bar in a cascade.
    pub from: f64,
    /// End on the scale.
    pub to: f64,
    /// Label behind the bar: its value with its unit.
    pub value: String,
    pub fill: Fill,
    /// Index of the colour of a full bar.
    pub tone: usize,
}

/// How a bar is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    Full,
    Hollow,
}

const ROW: f64 = 27.0;
const HIGH: f64 = 15.0;

/// Draws the bars from top to bottom; the longest takes the whole width.
pub(crate) fn bars(bars: &[Bar], size: Size) -> Drawing {
    let left = size.pick(230.0, 128.0);
    let longest = bars.iter().map(|bar| text_width(&typeset(&bar.value))).fold(size.pick(178.0, 110.0), f64::max);
    let room = (f64::from(size.width) - left - longest - 12.0).max(0.0);
    let max = bars.iter().map(|bar| bar.to).fold(f64::MIN_POSITIVE, f64::max);
    let at = |value: f64| px(left + (value / max).clamp(0.0, 1.0) * room);
    let height = bars.len() as f64 * ROW;
    let body = html! {
        line class="grid" x1=(px(left)) x2=(px(left)) y1="0" y2=(px(height)) {}
        @for (row, bar) in bars.iter().enumerate() {
            @let top = row as f64 * ROW + (ROW - HIGH) / 2.0;
            @let (from, to) = (at(bar.from), at(bar.to));
            (drawn_bar(bar, (from, to), top, left))
        }
    };
    Drawing { body, height: height + 4.0 }
}

fn drawn_bar(bar: &Bar, (from, to): (f64, f64), top: f64, left: f64) -> Markup {
    let (class, fill) = match bar.fill {
        Fill::Full => (colour_class(bar.tone), "solid"),
        Fill::Hollow => ("key".into(), "hollow"),
    };
    let base = px(top + HIGH - 3.0);
    html! {
        text x=(px(left - 10.0)) y=(base) text-anchor="end" { (cut(&bar.name, left - 12.0)) }
        g class=(class) {
            rect class=(fill) x=(from) y=(px(top)) width=(px((to - from).max(1.5))) height=(HIGH) {}
        }
        text x=(px(to.max(from + 1.5) + 8.0)) y=(base) { (typeset(&bar.value)) }
    }
}

//! The Plimsoll mark: a circle crossed by a line, as painted on a ship's side.

use maud::{Markup, html};
use plimsoll_language::label;

/// The mark at the top of a page; the lower half is under water.
pub(crate) fn plimsoll_mark() -> Markup {
    html! {
        svg class="mark" viewBox="0 0 120 96" role="img" aria-label=(label!("Plimsoll mark")) xmlns="http://www.w3.org/2000/svg" {
            path class="under" d="M26 48a34 34 0 0 0 68 0z" {}
            circle class="ring" cx="60" cy="48" r="34" {}
            rect class="bar" x="4" y="45" width="112" height="6" {}
        }
    }
}

/// A small mark at a point of a chart.
pub(crate) fn small(x: f64, y: f64) -> Markup {
    let (x, y) = (super::px(x), super::px(y));
    html! {
        g class="line-mark" {
            circle cx=(x) cy=(y) r="7" {}
            line x1=(super::px(x - 12.0)) x2=(super::px(x + 12.0)) y1=(y) y2=(y) {}
        }
    }
}

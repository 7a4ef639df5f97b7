//! Markers: a shape for each series, filled for open loads, hollow for closed loads, a cross for overloaded runs.

use maud::{Markup, html};

use super::px;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkerShape {
    Circle,
    Diamond,
    Triangle,
    Square,
    Inverted,
    Pentagon,
}

impl MarkerShape {
    /// One shape per colour; the seventh curve reuses the first.
    pub const ALL: [Self; 6] =
        [Self::Diamond, Self::Circle, Self::Square, Self::Triangle, Self::Inverted, Self::Pentagon];

    /// Draws the marker at a centre. `class` is `solid` or `hollow`.
    pub fn draw(self, x: f64, y: f64, class: &str) -> Markup {
        let corners: &[(f64, f64)] = match self {
            Self::Circle => return html! { circle class=(class) cx=(px(x)) cy=(px(y)) r="3.6" {} },
            Self::Diamond => &[(0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0)],
            Self::Triangle => &[(0.0, -4.8), (4.6, 3.6), (-4.6, 3.6)],
            Self::Square => &[(-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)],
            Self::Inverted => &[(0.0, 4.8), (4.6, -3.6), (-4.6, -3.6)],
            Self::Pentagon => &[(0.0, -4.8), (4.6, -1.5), (2.8, 3.9), (-2.8, 3.9), (-4.6, -1.5)],
        };
        let points: Vec<_> = corners.iter().map(|(dx, dy)| format!("{},{}", px(x + dx), px(y + dy))).collect();
        html! { polygon class=(class) points=(points.join(" ")) {} }
    }
}

/// Cross for an overloaded run.
pub(crate) fn cross(x: f64, y: f64) -> Markup {
    let ([left, right], [top, bottom]) = ([x - 4.0, x + 4.0].map(px), [y - 4.0, y + 4.0].map(px));
    html! { path class="cross" d=(format!("M{left} {top}L{right} {bottom}M{left} {bottom}L{right} {top}")) {} }
}

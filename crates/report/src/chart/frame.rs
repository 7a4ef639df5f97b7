//! Plotting area with axes, and the sizes of charts.

use maud::{Markup, html};
use unicode_width::UnicodeWidthStr;

use super::{px, typeset};
use crate::number;
use crate::scale::{AxisScale, Tick};

/// Width of a picture. The text size is fixed, so phones get a narrow form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub width: u32,
    pub form: ChartForm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChartForm {
    Wide,
    Narrow,
}

impl Size {
    /// For pages and README pictures.
    pub const WIDE: Self = Self { width: 920, form: ChartForm::Wide };
    pub const NARROW: Self = Self { width: 400, form: ChartForm::Narrow };

    /// Returns the value for this form.
    pub fn pick<T>(self, wide: T, narrow: T) -> T {
        if self.form == ChartForm::Wide { wide } else { narrow }
    }
}

/// Plotting area, in drawing units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
    pub x: AxisScale,
    pub y: AxisScale,
}

impl Frame {
    pub fn at_x(&self, value: f64) -> f64 {
        px(self.left + self.x.place(value) * (self.right - self.left))
    }

    pub fn at_y(&self, value: f64) -> f64 {
        px(self.bottom - self.y.place(value) * (self.bottom - self.top))
    }

    /// SVG path through the values.
    pub fn path(&self, values: impl IntoIterator<Item = (f64, f64)>) -> String {
        let point = |(index, (x, y))| {
            let command = if index == 0 { 'M' } else { 'L' };
            format!("{command}{} {}", self.at_x(x), self.at_y(y))
        };
        values.into_iter().enumerate().map(point).collect()
    }

    /// Horizontal grid lines with latency labels.
    pub fn latency_axis(&self, max: usize) -> Markup {
        self.rules(&self.y.ticks(max), |ns| if ns == 0.0 { "0".into() } else { typeset(&number::time(ns)) })
    }

    /// Horizontal grid lines with rate labels.
    pub fn rate_axis(&self, max: usize) -> Markup {
        self.rules(&self.y.ticks(max), number::short)
    }

    /// Horizontal grid lines with labels of any kind.
    pub fn left_axis(&self, max: usize, label: impl Fn(f64) -> String) -> Markup {
        self.rules(&self.y.ticks(max), label)
    }

    fn rules(&self, ticks: &[Tick], label: impl Fn(f64) -> String) -> Markup {
        let (left, right) = (px(self.left), px(self.right));
        html! {
            g class="axis" {
                @for tick in ticks {
                    @let y = self.at_y(tick.value);
                    line class=(if tick.labelled { "grid" } else { "grid fine" }) x1=(left) x2=(right) y1=(y) y2=(y) {}
                    @if tick.labelled {
                        text x=(px(self.left - 8.0)) y=(px(y + 4.0)) text-anchor="end" { (label(tick.value)) }
                    }
                }
            }
        }
    }

    /// Ticks and labels below the plot, and the axis line.
    pub fn bottom_axis(&self, ticks: &[(f64, String)]) -> Markup {
        let y = px(self.bottom);
        html! {
            g class="axis" {
                line class="base" x1=(px(self.left)) x2=(px(self.right)) y1=(y) y2=(y) {}
                @for (value, label) in ticks {
                    @let x = self.at_x(*value);
                    line class="tick" x1=(x) x2=(x) y1=(y) y2=(px(y + 5.0)) {}
                    text x=(x) y=(px(y + 19.0)) text-anchor="middle" { (label) }
                }
            }
        }
    }

    /// Title of the horizontal axis, below its labels.
    pub fn x_title(&self, title: &str) -> Markup {
        html! { text class="name" x=(px(self.right)) y=(px(self.bottom + 38.0)) text-anchor="end" { (title) } }
    }

    /// Title of the vertical axis, above its labels.
    pub fn y_title(&self, title: &str) -> Markup {
        Self::title_at(self.top - 14.0, title)
    }

    /// Title at the left edge of the picture.
    pub fn title_at(y: f64, title: &str) -> Markup {
        html! { text class="name" x="0" y=(px(y)) { (title) } }
    }
}

/// Estimated width of a text at the font size of charts.
pub(crate) fn text_width(text: &str) -> f64 {
    text.width() as f64 * 6.9
}

/// Moves labels apart that are closer than `gap`, keeping their order within `low..high`.
pub(crate) fn spread(places: &mut [f64], gap: f64, low: f64, high: f64) {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|a, b| places[*a].total_cmp(&places[*b]));
    let mut least = low;
    for &index in &order {
        places[index] = places[index].max(least);
        least = places[index] + gap;
    }
    let mut max = high;
    for &index in order.iter().rev() {
        places[index] = places[index].min(max);
        max = places[index] - gap;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_moved_apart() {
        let mut places = [50.0, 52.0, 51.0];
        spread(&mut places, 14.0, 0.0, 100.0);
        assert_eq!(places.map(|place| place as i32), [50, 78, 64]);
        let mut low = [99.0, 98.0];
        spread(&mut low, 14.0, 0.0, 100.0);
        assert_eq!(low.map(|place| place as i32), [100, 86]);
    }
}

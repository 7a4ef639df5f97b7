//! Scatter plot of groups that differ in shape and colour.

use maud::{Markup, html};

use super::frame::{Frame, Size};
use super::legend::{LegendEntry, legend};
use super::shape::MarkerShape;
use super::{Drawing, Fill, colour_class, px, typeset};
use crate::scale::AxisScale;

pub(crate) struct Axis {
    /// Name, with the unit if the labels have none.
    pub name: &'static str,
    pub scale: AxisScale,
    /// Formats a value.
    pub label: fn(f64) -> String,
}

pub(crate) struct PointGroup {
    pub name: String,
    /// Index of colour and shape; related groups share it and differ by their fill.
    pub tone: usize,
    pub fill: Fill,
    pub joined: Joined,
    pub spots: Vec<Spot>,
}

/// Whether a line joins the points of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joined {
    Apart,
    Line,
}

pub(crate) struct Spot {
    pub x: f64,
    pub y: f64,
    /// Tooltip, and text for screen readers.
    pub tip: String,
    /// Label next to the point; may be empty.
    pub label: String,
}

/// Axes and groups of a scatter plot.
pub(crate) struct Plane {
    pub x: Axis,
    pub y: Axis,
    pub groups: Vec<PointGroup>,
}

/// Draws the points, with a legend if there are several groups.
pub(crate) fn plane(plane: &Plane, size: Size) -> Drawing {
    let entries: Vec<LegendEntry> = plane.groups.iter().map(entry).collect();
    let displayed = if entries.len() > 1 { entries.as_slice() } else { &[] };
    let (key, key_height) = legend(displayed, 0.0, 0.0, f64::from(size.width));
    let (left, right) = (size.pick(72.0, 60.0), f64::from(size.width) - size.pick(40.0, 24.0));
    let top = key_height + 44.0;
    let rows = size.pick(8, 7);
    let y = plane.y.scale.to_tick(rows);
    let frame = Frame { left, right, top, bottom: top + size.pick(280.0, 240.0), x: plane.x.scale, y };
    let ticks: Vec<_> = frame.x.ticks(size.pick(9, 4)).into_iter().filter(|tick| tick.labelled).collect();
    let ticks: Vec<_> = ticks.iter().map(|tick| (tick.value, (plane.x.label)(tick.value))).collect();
    let body = html! {
        (key)
        (frame.left_axis(rows, plane.y.label))
        (frame.bottom_axis(&ticks))
        (frame.x_title(plane.x.name))
        (frame.y_title(plane.y.name))
        @for group in &plane.groups { (drawn(group, &frame)) }
    };
    Drawing { body, height: frame.bottom + 48.0 }
}

fn shape(index: usize) -> MarkerShape {
    MarkerShape::ALL[index % MarkerShape::ALL.len()]
}

/// CSS classes of the markers and the line of a group.
const fn classes(fill: Fill) -> (&'static str, &'static str) {
    match fill {
        Fill::Full => ("solid", "open"),
        Fill::Hollow => ("hollow", "service"),
    }
}

fn entry(group: &PointGroup) -> LegendEntry {
    let (marker, line) = classes(group.fill);
    let sample = html! {
        @if group.joined == Joined::Line { line class={ "path " (line) } x1="0" x2="22" y1="0" y2="0" {} }
        (shape(group.tone).draw(11.0, 0.0, marker))
    };
    LegendEntry { sample, class: colour_class(group.tone), label: group.name.clone() }
}

fn drawn(group: &PointGroup, frame: &Frame) -> Markup {
    let (marker, line) = classes(group.fill);
    html! {
        g class=(colour_class(group.tone)) {
            @if group.joined == Joined::Line {
                path class={ "path " (line) } d=(frame.path(group.spots.iter().map(|spot| (spot.x, spot.y)))) {}
            }
            @for spot in &group.spots {
                @let (x, y) = (frame.at_x(spot.x), frame.at_y(spot.y));
                @let tip = typeset(&spot.tip);
                g class="pt" data-x=(x) data-y=(y) data-tip=(tip) {
                    title { (tip) }
                    (shape(group.tone).draw(x, y, marker))
                }
                @if !spot.label.is_empty() { text class="name" x=(px(x + 8.0)) y=(px(y - 6.0)) { (spot.label) } }
            }
        }
    }
}

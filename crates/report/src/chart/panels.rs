//! Panels with a common time axis, and vertical lines at changes.

use maud::{Markup, html};
use plimsoll_language::label;

use super::frame::{Frame, Size, spread, text_width};
use super::legend::cut;
use super::{Drawing, px, typeset};
use crate::number;
use crate::scale::AxisScale;
use crate::timeline::{Mark, Panel, PanelScale, Timeline, Track};

/// Classes of lines by tone; the last is the most important.
const CLASSES: [&str; 3] = ["p50", "p99", "p999"];
const HEIGHT: f64 = 170.0;
/// Height of a panel's title, and the distance to the next panel.
const HEAD: f64 = 46.0;
const MARKS: f64 = 20.0;

/// Draws the panels of a timeline.
pub(crate) fn panels(story: &Timeline, size: Size) -> Drawing {
    let end = points(&story.panels).map(|(at, _)| at).fold(1e-9, f64::max);
    let x = AxisScale::Linear { low: 0.0, high: end };
    let (left, right) = (size.pick(64.0, 56.0), f64::from(size.width) - size.pick(90.0, 56.0));
    let place = |(index, panel): (usize, &Panel)| {
        let top = MARKS + HEAD - 16.0 + index as f64 * (HEIGHT + HEAD);
        Frame { left, right, top, bottom: top + HEIGHT, x, y: scale(panel).to_tick(5) }
    };
    let frames: Vec<Frame> = story.panels.iter().enumerate().map(place).collect();
    let bottom = frames.last().map_or(0.0, |frame| frame.bottom);
    let ticks = label_ticks(story, x, size);
    let body = html! {
        @for (index, (panel, frame)) in story.panels.iter().zip(&frames).enumerate() {
            (frame.y_title(&panel.name))
            @match panel.scale {
                PanelScale::Rate => (frame.rate_axis(5)),
                PanelScale::Time => (frame.latency_axis(6)),
            }
            (frame.bottom_axis(if index + 1 == frames.len() { &ticks } else { &[] }))
        }
        @if let (Some(first), Some(last)) = (frames.first(), frames.last()) {
            (marks(&story.marks, first, last))
            (last.x_title(label!("time")))
        }
        @for (panel, frame) in story.panels.iter().zip(&frames) { (limits(panel, frame)) (tracks(panel, frame)) }
    };
    Drawing { body, height: bottom + 48.0 }
}

/// Labels of the time axis: those of the timeline that have room, otherwise whole seconds.
fn label_ticks(story: &Timeline, x: AxisScale, size: Size) -> Vec<(f64, String)> {
    let max = size.pick(10, 4);
    if story.ticks.is_empty() {
        return x.ticks(max).iter().map(|tick| (tick.value, seconds(tick.value))).collect();
    }
    story.ticks.iter().step_by(story.ticks.len().div_ceil(max)).cloned().collect()
}

fn points(panels: &[Panel]) -> impl Iterator<Item = (f64, f64)> {
    panels.iter().flat_map(|panel| &panel.tracks).flat_map(|track| track.points.iter().copied())
}

fn scale(panel: &Panel) -> AxisScale {
    let values = || points(std::slice::from_ref(panel)).map(|(_, value)| value).filter(|value| value.is_finite());
    let max = values().chain(panel.limits.iter().map(|(value, _)| *value)).fold(0.0, f64::max);
    match panel.scale {
        PanelScale::Rate => AxisScale::from_zero(max),
        PanelScale::Time => {
            AxisScale::for_latency(values().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min), max)
        }
    }
}

fn seconds(value: f64) -> String {
    if value == 0.0 { "0".into() } else { typeset(&number::time(value * 1e9)) }
}

/// Vertical lines through all panels, labelled at the top where there is room.
fn marks(marks: &[Mark], first: &Frame, last: &Frame) -> Markup {
    let mut free_from = first.left;
    let mut named = Vec::new();
    for mark in marks.iter().filter(|mark| first.x.holds(mark.at)) {
        let x = first.at_x(mark.at);
        let has_room = x >= free_from;
        if has_room {
            free_from = x + text_width(&mark.label) + 8.0;
        }
        named.push((x, has_room.then_some(&mark.label)));
    }
    html! {
        g class="line" {
            @for (x, label) in &named {
                line class="objective" x1=(x) x2=(x) y1=(px(MARKS - 8.0)) y2=(px(last.bottom)) {}
                @if let Some(label) = label {
                    text class="verdict" x=(px(x + 4.0)) y=(px(MARKS - 6.0)) { (typeset(label)) }
                }
            }
        }
    }
}

/// Horizontal lines at limits, each labelled above its left end.
fn limits(panel: &Panel, frame: &Frame) -> Markup {
    let mut heights: Vec<f64> = panel.limits.iter().map(|(value, _)| frame.at_y(*value)).collect();
    let lines = heights.clone();
    spread(&mut heights, 15.0, frame.top + 2.0, frame.bottom);
    let room = frame.right - frame.left - 8.0;
    html! {
        @for (((_, name), y), text) in panel.limits.iter().zip(lines).zip(heights) {
            line class="objective" x1=(px(frame.left)) x2=(px(frame.right)) y1=(y) y2=(y) {}
            text class="verdict" x=(px(frame.left + 4.0)) y=(px(text - 4.0)) { (cut(&typeset(name), room)) }
        }
    }
}

fn tracks(panel: &Panel, frame: &Frame) -> Markup {
    let classes = &CLASSES[CLASSES.len().saturating_sub(panel.tracks.len()).min(1)..];
    let drawn: Vec<(&Track, &str)> = panel.tracks.iter().zip(classes.iter().copied()).collect();
    let end = |(track, _): &(&Track, &str)| track.points.last().map_or(0.0, |(_, value)| *value);
    let mut heights: Vec<f64> = drawn.iter().map(|one| frame.at_y(end(one))).collect();
    spread(&mut heights, 15.0, frame.top + 6.0, frame.bottom - 4.0);
    html! {
        @for ((track, class), y) in drawn.iter().zip(heights) {
            g class=(class) {
                path class="path trace" d=(unbroken(track).map(|run| frame.path(run.iter().copied())).collect::<String>()) {}
            }
            @if !track.name.is_empty() {
                text class={ "name " (class) } x=(px(frame.right + 6.0)) y=(px(y + 4.0)) { (track.name) }
            }
        }
    }
}

/// The parts of a track between values that are not finite.
fn unbroken(track: &Track) -> impl Iterator<Item = &[(f64, f64)]> {
    track.points.split(|(_, value)| !value.is_finite()).filter(|run| !run.is_empty())
}

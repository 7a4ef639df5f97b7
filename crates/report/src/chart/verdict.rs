//! Annotations of a load curve: objective, load line and knee.

use maud::{Markup, html};
use plimsoll_language::say;
use plimsoll_record::Curve;

use super::curve::colour_class;
use super::frame::{Frame, text_width};
use super::{mark, px, typeset};
use crate::{number, pick};

/// The area of the chart that meets the objective.
pub(super) fn allowed(curves: &[&Curve], frame: &Frame) -> Markup {
    let [curve] = curves else { return html! {} };
    let Some(line) = &curve.load_line else { return html! {} };
    let Some(iops) = pick::line_iops(line) else { return html! {} };
    let (x, y) = (frame.at_x(iops.value), frame.at_y(line.objective().limit.as_nanos() as f64));
    let (width, height) = (px(x - frame.left), px(frame.bottom - y));
    html! {
        rect class="allowed" x=(px(frame.left)) y=(y) width=(width) height=(height) {}
        @if let Some((low, high)) = number::interval(&iops) {
            @let (from, to) = (frame.at_x(low), frame.at_x(high));
            rect class="band" x=(from) y=(px(frame.top)) width=(px(to - from)) height=(px(frame.bottom - frame.top)) {}
        }
    }
}

/// Vertical lines at knees, with labels where there is room.
pub(super) fn knees(curves: &[&Curve], frame: &Frame, obstacles: &[(f64, f64)]) -> Markup {
    let [curve] = curves else { return html! {} };
    let Some(knee) = pick::find_knee(curve).filter(|knee| knee.iops > 0.0 && frame.x.holds(knee.iops)) else {
        return html! {};
    };
    let (x, label) = (frame.at_x(knee.iops), say!("knee {}", number::short(knee.iops)));
    let half = text_width(&label) / 2.0;
    let at = x.clamp(frame.left + half, (frame.right - half).max(frame.left + half));
    let room = |y: f64| {
        let near = obstacles.iter().filter(|(other, _)| (other - at).abs() < half + 8.0);
        near.map(|(_, other)| (other - (y - 4.0)).abs()).fold(f64::INFINITY, f64::min).min(18.0)
    };
    let step = (frame.bottom - frame.top) / 8.0;
    let heights = (0..8).map(|row| frame.bottom - 32.0 - f64::from(row) * step);
    // The lowest of equals.
    let y = heights.rev().max_by(|a, b| room(*a).total_cmp(&room(*b))).unwrap_or(frame.bottom - 32.0);
    html! {
        g class="knee" {
            line x1=(x) x2=(x) y1=(px(y + 5.0)) y2=(px(frame.bottom)) {}
            text x=(px(at)) y=(px(y)) text-anchor="middle" { (label) }
        }
    }
}

/// Objectives as horizontal lines, load lines as vertical lines, and the mark at their intersection.
pub(super) fn verdicts(curves: &[&Curve], frame: &Frame, obstacles: &[(f64, f64)]) -> Markup {
    let mut limits: Vec<String> = Vec::new();
    html! {
        @for (index, curve) in curves.iter().enumerate() {
            @if let Some(line) = &curve.load_line {
                @let objective = line.objective();
                @let y = frame.at_y(objective.limit.as_nanos() as f64);
                @let label = typeset(&objective.to_string());
                @if !limits.contains(&label) {
                    line class=(if curves.len() == 1 { "objective" } else { "objective shared" }) x1=(px(frame.left)) x2=(px(frame.right)) y1=(y) y2=(y) {}
                    text class=(if curves.len() == 1 { "verdict" } else { "verdict shared" }) x=(roomiest(frame, y, text_width(&label), obstacles)) y=(px(y - 6.0)) { (label) }
                    @let () = limits.push(label);
                }
                @if let Some(iops) = pick::line_iops(line) {
                    (upright(frame, (iops.value, y), index, curves.len()))
                }
            }
        }
    }
}

fn upright(frame: &Frame, (iops, y): (f64, f64), index: usize, count: usize) -> Markup {
    let x = frame.at_x(iops);
    let label = if count == 1 { say!("load line {}", number::short(iops)) } else { number::short(iops) };
    let half = text_width(&label) / 2.0;
    let at = x.clamp(frame.left + half, (frame.right - half).max(frame.left + half));
    let row = if count == 1 { 0.0 } else { (index % 2) as f64 * 14.0 };
    let class = if count == 1 { "line".to_owned() } else { format!("line {}", colour_class(index)) };
    html! {
        g class=(class) {
            line class="upright" x1=(x) x2=(x) y1=(px(frame.top)) y2=(px(frame.bottom)) {}
            text class="verdict" x=(px(at)) y=(px(frame.top - 7.0 - row)) text-anchor="middle" { (label) }
            (mark::small(x, y))
        }
    }
}

/// Left end of a label of that width along the horizontal line at `y`, farthest from all obstacles.
fn roomiest(frame: &Frame, y: f64, width: f64, obstacles: &[(f64, f64)]) -> f64 {
    let span = frame.right - frame.left - width - 12.0;
    let places = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| frame.left + 6.0 + share * span);
    let room = |left: f64| {
        let away = |(x, height): &(f64, f64)| (x - x.clamp(left, left + width)).hypot(height - (y - 10.0));
        // Larger distances are equally good; the first place is the usual one.
        obstacles.iter().map(away).fold(f64::INFINITY, f64::min).min(18.0)
    };
    let best = places.into_iter().rev().max_by(|a, b| room(*a).total_cmp(&room(*b)));
    px(best.unwrap_or(frame.left + 6.0))
}

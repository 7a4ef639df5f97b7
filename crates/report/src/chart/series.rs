//! Throughput and latency over time, all runs in sequence.

use maud::{Markup, html};
use plimsoll_language::{label, say};
use plimsoll_load::Pace;
use plimsoll_record::{Run, Slice, Tally};
use plimsoll_units::Span;

use super::frame::{Frame, Size, text_width};
use super::legend::cut;
use super::{Drawing, px, typeset};
use crate::scale::AxisScale;
use crate::words::{Counted, clean};
use crate::{number, pick};

/// Height of the row with labels of changes.
const CHANGES: f64 = 18.0;

/// A run of the sequence.
#[derive(Clone, Copy)]
pub(crate) struct Lane<'a> {
    pub run: &'a Run,
    /// Name shared with adjacent runs of the same kind; empty for runs named by their pace.
    pub group: &'a str,
    /// Changes during the run: time since the beginning of its series, and description.
    pub marks: &'a [(Span, String)],
}

impl<'a> Lane<'a> {
    /// A run named by its pace, without changes.
    pub const fn of(run: &'a Run) -> Self {
        Self { run, group: "", marks: &[] }
    }
}

/// Maximum number of points over the width; more would be narrower than a stroke.
const MAX_PIECES: usize = 400;

/// A run's position on the common time axis, in seconds.
struct Stretch<'a> {
    lane: Lane<'a>,
    from: f64,
    to: f64,
    measured_from: f64,
    pieces: Vec<MergedSlices>,
}

/// Completions in one or more merged slices.
struct MergedSlices {
    middle: f64,
    iops: f64,
    p50: Option<f64>,
    p99: Option<f64>,
}

/// Draws two stacked panels over the time of the measurement, without the pauses between runs.
pub(crate) fn over_time(lanes: &[Lane<'_>], counted: Counted, size: Size) -> Drawing {
    let stretches = merge_slices(lanes);
    let end = stretches.last().map_or(1.0, |stretch| stretch.to).max(1e-9);
    let (left, right) = (size.pick(64.0, 56.0), f64::from(size.width) - size.pick(44.0, 38.0));
    let x = AxisScale::Linear { low: 0.0, high: end };
    let max = iterate_pieces(&stretches).map(|piece| piece.iops).fold(0.0, f64::max);
    // Labels of changes have a row of their own.
    let row = if lanes.iter().any(|lane| !lane.marks.is_empty()) { CHANGES } else { 0.0 };
    let head = 60.0 + row;
    let upper = Frame {
        left,
        right,
        top: head,
        bottom: head + size.pick(110.0, 100.0),
        x,
        y: AxisScale::from_zero(max).to_tick(4),
    };
    let top = upper.bottom + 44.0;
    let lower = Frame { top, bottom: top + size.pick(160.0, 150.0), y: latency_scale(&stretches).to_tick(6), ..upper };
    let ticks: Vec<_> = x.ticks(size.pick(10, 5)).iter().map(|tick| (tick.value, seconds(tick.value))).collect();
    let body = html! {
        (warm_ups(&stretches, &[upper, lower]))
        (upper.rate_axis(4))
        (upper.bottom_axis(&[]))
        (Frame::title_at(12.0, &say!("completed, {}", counted.unit())))
        (lower.latency_axis(size.pick(6, 6)))
        (lower.bottom_axis(&ticks))
        (lower.y_title(label!("response time")))
        (lower.x_title(label!("time in runs")))
        (boundaries(&stretches, counted, &upper, &lower))
        @for stretch in &stretches {
            (trace(stretch, &upper, "p99", |piece| Some(piece.iops)))
            (trace(stretch, &lower, "p50", |piece| piece.p50))
            (trace(stretch, &lower, "p99", |piece| piece.p99))
        }
        (names(&stretches, &lower))
        (changes(&stretches, &upper, &lower))
        (hits(&stretches, counted, &upper, &lower))
    };
    Drawing { body, height: lower.bottom + 48.0 }
}

fn merge_slices<'a>(lanes: &[Lane<'a>]) -> Vec<Stretch<'a>> {
    let slices: usize = lanes.iter().map(|lane| lane.run.series.len()).sum();
    let merged = slices.div_ceil(MAX_PIECES).max(1);
    let mut at = 0.0;
    let mut out = Vec::new();
    for lane in lanes.iter().filter(|lane| !lane.run.series.is_empty()) {
        let run = lane.run;
        let pieces: Vec<(f64, MergedSlices)> = run.series.chunks(merged).map(piece).collect();
        let length: f64 = pieces.iter().map(|(span, _)| span).sum();
        let mut middle = at;
        let placed = pieces.into_iter().map(|(span, piece)| {
            middle += span;
            MergedSlices { middle: middle - span / 2.0, ..piece }
        });
        let pieces = placed.collect();
        let measured_from = at + run.warm_up.as_secs_f64().min(length);
        out.push(Stretch { lane: *lane, from: at, to: at + length, measured_from, pieces });
        at += length;
    }
    out
}

/// Merges slices, and returns their length in seconds. The caller sets the position.
fn piece(slices: &[Slice]) -> (f64, MergedSlices) {
    let mut tally = Tally::default();
    for slice in slices {
        tally.merge(&slice.tally);
    }
    let span: f64 = slices.iter().map(|slice| slice.span.as_secs_f64()).sum();
    let response = tally.response();
    let quantile = |q| response.quantile(q).map(|value| value.as_nanos().max(1) as f64);
    let iops = if span > 0.0 { tally.operations() as f64 / span } else { 0.0 };
    (span, MergedSlices { middle: 0.0, iops, p50: quantile(0.5), p99: quantile(0.99) })
}

fn iterate_pieces<'a>(stretches: &'a [Stretch<'_>]) -> impl Iterator<Item = &'a MergedSlices> {
    stretches.iter().flat_map(|stretch| &stretch.pieces)
}

fn latency_scale(stretches: &[Stretch<'_>]) -> AxisScale {
    let low = iterate_pieces(stretches).filter_map(|piece| piece.p50).fold(f64::INFINITY, f64::min);
    let high = iterate_pieces(stretches).filter_map(|piece| piece.p99).fold(0.0, f64::max);
    AxisScale::for_latency(low, high)
}

fn seconds(value: f64) -> String {
    if value == 0.0 { "0".into() } else { number::time(value * 1e9) }
}

fn warm_ups(stretches: &[Stretch<'_>], frames: &[Frame]) -> Markup {
    html! {
        @for frame in frames {
            @for stretch in stretches {
                @let (from, to) = (frame.at_x(stretch.from), frame.at_x(stretch.measured_from));
                @if to > from {
                    rect class="warm-up" x=(from) y=(px(frame.top)) width=(px(to - from))
                        height=(px(frame.bottom - frame.top)) {}
                }
            }
        }
    }
}

/// Boundaries between runs, with the offered load above where there is room.
fn boundaries(stretches: &[Stretch<'_>], counted: Counted, upper: &Frame, lower: &Frame) -> Markup {
    let mut free_from = upper.left - 40.0;
    let mut labels = Vec::new();
    for stretch in stretches {
        let middle = f64::midpoint(upper.at_x(stretch.from), upper.at_x(stretch.to));
        let label = offered(&stretch.lane.run.offered);
        let half = text_width(&label) / 2.0;
        if middle - half >= free_from {
            labels.push((middle, label));
            free_from = middle + half + 4.0;
        }
    }
    html! {
        g class="axis" {
            @for stretch in stretches.iter().skip(1) {
                @let x = upper.at_x(stretch.from);
                line class="grid" x1=(x) x2=(x) y1=(px(upper.top - 4.0)) y2=(px(lower.bottom)) {}
            }
            @for (x, label) in &labels { text x=(px(*x)) y=(px(upper.top - 4.0)) text-anchor="middle" { (label) } }
        }
        (groups(stretches, counted, upper))
    }
}

/// `closed, depth` and `open, offered IOPS` above the runs, with the name of the group.
fn groups(stretches: &[Stretch<'_>], counted: Counted, upper: &Frame) -> Markup {
    let mut found: Vec<(f64, f64, String)> = Vec::new();
    for stretch in stretches {
        let pace = if pick::is_open(stretch.lane.run) { counted.open() } else { counted.closed() };
        let name = match stretch.lane.group {
            "" => pace.to_owned(),
            group => say!("{group}, {pace}"),
        };
        match found.last_mut() {
            Some(last) if last.2 == name => last.1 = stretch.to,
            _ => found.push((stretch.from, stretch.to, name)),
        }
    }
    html! {
        g class="axis" {
            @for (from, to, name) in &found {
                @let (left, right) = (upper.at_x(*from), upper.at_x(*to));
                @if right - left > 7.0 * text_width("x") {
                    text class="name" x=(px(left + 3.0)) y=(px(upper.top - 20.0)) { (cut(name, (right - left) * 0.88)) }
                }
            }
        }
    }
}

fn offered(pace: &Pace) -> String {
    match *pace {
        Pace::Closed { depth } => depth.to_string(),
        Pace::Open { rate, .. } => number::short(rate.as_f64()),
    }
}

fn trace(stretch: &Stretch<'_>, frame: &Frame, class: &str, of: impl Fn(&MergedSlices) -> Option<f64>) -> Markup {
    let d = frame.path(stretch.pieces.iter().filter_map(|piece| Some((piece.middle, of(piece)?))));
    html! { g class=(class) { path class="path trace" d=(d) {} } }
}

fn names(stretches: &[Stretch<'_>], lower: &Frame) -> Markup {
    let Some(last) = stretches.last().and_then(|stretch| stretch.pieces.last()) else { return html! {} };
    let mut heights = [last.p50, last.p99].map(|value| lower.at_y(value.unwrap_or(0.0)));
    super::frame::spread(&mut heights, 15.0, lower.top + 6.0, lower.bottom - 4.0);
    html! {
        @for (y, (name, class)) in heights.iter().zip([("p50", "name p50"), ("p99", "name p99")]) {
            text class=(class) x=(px(lower.right + 6.0)) y=(px(y + 4.0)) { (name) }
        }
    }
}

/// Vertical lines at changes, labelled in the top row where there is room.
fn changes(stretches: &[Stretch<'_>], upper: &Frame, lower: &Frame) -> Markup {
    let mut free_from = 0.0;
    let mut marks = Vec::new();
    for stretch in stretches {
        for (at, what) in stretch.lane.marks {
            let x = upper.at_x((stretch.from + at.as_secs_f64()).min(stretch.to));
            let label = clean(what);
            let wide = text_width(&label);
            // At the right edge the label is left of its line.
            let start = if x + 4.0 + wide <= upper.right + 30.0 { x + 4.0 } else { x - 4.0 - wide };
            let has_room = start >= free_from;
            if has_room {
                free_from = start + wide + 8.0;
            }
            marks.push((x, start, label, has_room));
        }
    }
    html! {
        g class="line" {
            @for (x, start, label, has_room) in &marks {
                line class="objective" x1=(x) x2=(x) y1=(px(upper.top - 50.0)) y2=(px(lower.bottom)) { title { (typeset(label)) } }
                @if *has_room { text class="verdict" x=(px(*start)) y=(px(upper.top - 40.0)) { (typeset(label)) } }
            }
        }
    }
}

/// Invisible areas with tooltips.
fn hits(stretches: &[Stretch<'_>], counted: Counted, upper: &Frame, lower: &Frame) -> Markup {
    html! {
        @for stretch in stretches {
            @let figures = &stretch.lane.run.figures;
            @let tip = say!("{}: {}, p50 {}, p99 {}", counted.pace(&stretch.lane.run.offered), counted.rate(&figures.iops),
                typeset(&number::time(figures.p50_ns.value)), typeset(&number::time(figures.p99_ns.value)));
            @let (from, to) = (upper.at_x(stretch.from), upper.at_x(stretch.to));
            rect class="hit" x=(from) y=(px(upper.top)) width=(px(to - from)) height=(px(lower.bottom - upper.top))
                data-tip=(tip) { title { (tip) } }
        }
    }
}

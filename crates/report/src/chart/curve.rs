//! Latency against throughput: the curve itself, with the objective, the load line and the knee.

use maud::{Markup, PreEscaped, html};
use plimsoll_analyse::fitted_curve;
use plimsoll_language::{label, say};
use plimsoll_record::{Curve, Estimate, Figures, Measure, Run};
use serde_json::{Value, json};

use super::frame::{Frame, Size, spread};
use super::legend::{LegendEntry, legend};
use super::shape::{MarkerShape, cross};
use super::{Drawing, px, typeset, verdict};
use crate::scale::AxisScale;
use crate::words::Counted;
use crate::{number, pick, words};

struct PercentileSeries<'a> {
    curve: &'a Curve,
    class: String,
    shape: MarkerShape,
    measure: Measure,
    /// Operations per second and nanoseconds of the fitted medians.
    fit: Vec<(f64, f64)>,
}

impl<'a> PercentileSeries<'a> {
    fn new(curve: &'a Curve, class: String, shape: MarkerShape, measure: Measure) -> Self {
        Self { curve, class, shape, measure, fit: fitted_curve(curve, measure) }
    }

    fn of(&self, run: &Run) -> Option<Estimate> {
        pick::of_measure(run, self.measure).filter(|estimate| number::value(estimate).is_some())
    }
}

/// Draws one curve, or several curves in one frame.
pub(crate) fn load_curve(curves: &[&Curve], counted: Counted, size: Size) -> Drawing {
    let series = select_series(curves, counted);
    let left = size.pick(64.0, 56.0);
    let right = f64::from(size.width) - size.pick(36.0, 30.0);
    let (key, key_height) = legend(&list_legend(curves, &series, counted), 0.0, 0.0, f64::from(size.width));
    let top = key_height + if curves.len() == 1 { 52.0 } else { 66.0 };
    let bottom = top + size.pick(340.0, 300.0);
    let (x, y) = scales(curves, &series);
    let frame = Frame { left, top, right, bottom, x, y: y.to_tick(size.pick(10, 8)) };
    let body = html! {
        (key)
        (verdict::allowed(curves, &frame))
        (frame.latency_axis(size.pick(10, 8)))
        (frame.bottom_axis(&rate_ticks(&frame, size.pick(9, 5))))
        (frame.x_title(&say!("completed, {}", counted.unit())))
        (Frame::title_at(key_height + 24.0, label!("response time")))
        @for one in &series {
            g class=(one.class) { path class="path open" d=(frame.path(within(&one.fit, &frame).iter().copied())) {} }
        }
        (verdict::knees(curves, &frame, &obstacles(&series, &frame)))
        (verdict::verdicts(curves, &frame, &obstacles(&series, &frame)))
        @for one in &series { (draw_points(one, counted, &frame)) }
        @for one in series.iter().filter(|one| curves.len() > 1 || one.class == "p99") { (overloads(one, &frame)) }
        (labels(curves, &series, &frame))
    };
    Drawing { body, height: bottom + 48.0 }
}

/// The data of the chart as JSON, for the zoomable view.
pub(crate) fn zoom_data(curves: &[&Curve], counted: Counted) -> Markup {
    let series = select_series(curves, counted);
    let (x, _) = scales(curves, &series);
    let name = |one: &PercentileSeries<'_>| {
        if curves.len() > 1 { say!("{}, ", words::clean(&one.curve.subject.name)) } else { String::new() }
    };
    let fit = |one: &PercentileSeries<'_>| {
        let points: Vec<[f64; 2]> = one.fit.iter().map(|(iops, ns)| [*iops, ns / 1e6]).collect();
        let label = say!("{}{} of the fit", name(one), one.measure);
        (!points.is_empty()).then(|| json!({ "label": label, "tone": one.class, "form": "line", "points": points }))
    };
    let points = |one: &PercentileSeries<'_>, open: bool| {
        let runs = pick::sustained(one.curve).filter(|run| pick::is_open(run) == open);
        let mut points: Vec<[f64; 2]> =
            runs.filter_map(|run| Some([run.figures.iops.value, one.of(run)?.value / 1e6])).collect();
        points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let (pace, form) = if open { ("open", "solid") } else { ("closed", "hollow") };
        let label = say!("{}{} of {pace} loads", name(one), one.measure);
        (!points.is_empty()).then(|| json!({ "label": label, "tone": one.class, "form": form, "points": points }))
    };
    let drawn: Vec<Value> =
        series.iter().flat_map(|one| [fit(one), points(one, true), points(one, false)]).flatten().collect();
    let is_log = matches!(x, AxisScale::Log { .. });
    let load_lines = || curves.iter().filter_map(|curve| curve.load_line.as_ref());
    let limits: Vec<f64> = load_lines().map(|line| line.objective().limit.as_nanos() as f64 / 1e6).collect();
    let rates: Vec<f64> = load_lines().filter_map(pick::line_iops).map(|iops| iops.value).collect();
    let data = json!({ "unit": counted.unit(), "log": is_log, "series": drawn, "limits": limits, "lines": rates });
    // Keeps `</script>` in the data from ending the element.
    let data = data.to_string().replace('<', "\\u003c");
    html! { script type="application/json" class="zoom" { (PreEscaped(data)) } }
}

/// The percentiles of a single curve, ordered by tone, or the objective's measure of several curves.
fn select_series<'a>(curves: &[&'a Curve], counted: Counted) -> Vec<PercentileSeries<'a>> {
    if let [curve] = curves {
        let three = [
            (0.5, "p50", MarkerShape::Circle),
            (0.99, "p99", MarkerShape::Diamond),
            (0.999, "p999", MarkerShape::Triangle),
        ];
        // A run has too few transactions for p99.9.
        let max = if counted == Counted::Operations { 3 } else { 2 };
        let one = |(q, class, shape): (f64, &str, MarkerShape)| {
            PercentileSeries::new(curve, class.into(), shape, Measure::Quantile(q))
        };
        return three.into_iter().take(max).map(one).collect();
    }
    let measure = shared_measure(curves);
    let one = |(index, curve): (usize, &&'a Curve)| {
        PercentileSeries::new(curve, colour_class(index), MarkerShape::ALL[index % MarkerShape::ALL.len()], measure)
    };
    curves.iter().enumerate().map(one).collect()
}

/// CSS class of a curve's colour if several are shown.
pub(crate) fn colour_class(index: usize) -> String {
    format!("c{}", index % MarkerShape::ALL.len())
}

/// The measure by which several curves are compared: that of a shared objective, otherwise p99.
fn shared_measure(curves: &[&Curve]) -> Measure {
    let usual = |curve: &&Curve| {
        let objective = curve.load_line.map(|line| line.objective());
        objective.filter(|objective| !pick::is_own_column(objective)).map(|objective| objective.measure)
    };
    let mut measures = curves.iter().map(usual);
    let first = measures.next().flatten();
    first.filter(|_| measures.all(|measure| measure == first)).unwrap_or(Measure::Quantile(0.99))
}

fn scales(curves: &[&Curve], series: &[PercentileSeries<'_>]) -> (AxisScale, AxisScale) {
    let (mut max, mut low, mut high) = (0.0f64, f64::INFINITY, 0.0f64);
    for curve in curves {
        max = pick::complete_runs(curve).map(|run| run.figures.iops.value).fold(max, f64::max);
        max = curve.load_line.as_ref().and_then(pick::line_iops).map_or(max, |iops| max.max(iops.value));
        if let Some(objective) = curve.load_line.map(|line| line.objective().limit.as_nanos() as f64) {
            (low, high) = (low.min(objective), high.max(objective));
        }
    }
    for one in series {
        low = one.fit.first().map_or(low, |(_, ns)| low.min(*ns));
        for value in pick::sustained(one.curve).filter_map(|run| one.of(run)) {
            let upper = number::interval(&value).map_or(value.value, |(_, upper)| upper.min(value.value * 1.5));
            (low, high) = (low.min(value.value), high.max(upper));
        }
    }
    (rate_scale(curves, max), AxisScale::for_latency(low, high))
}

/// Starts at zero, unless that would squeeze a curve into a corner.
fn rate_scale(curves: &[&Curve], max: f64) -> AxisScale {
    const SQUEEZED: f64 = 20.0;
    let highest = |curve: &&Curve| pick::complete_runs(curve).map(|run| run.figures.iops.value).reduce(f64::max);
    let least_highest = curves.iter().filter_map(highest).fold(f64::INFINITY, f64::min);
    let least = curves.iter().flat_map(|curve| pick::complete_runs(curve)).map(|run| run.figures.iops.value);
    if max / least_highest > SQUEEZED {
        AxisScale::log(least.fold(max, f64::min), max)
    } else {
        AxisScale::from_zero(max)
    }
}

fn rate_ticks(frame: &Frame, max: usize) -> Vec<(f64, String)> {
    let ticks = frame.x.ticks(max);
    let labelled = ticks.iter().filter(|tick| tick.labelled);
    labelled.map(|tick| (tick.value, number::short(tick.value))).collect()
}

fn list_legend(curves: &[&Curve], series: &[PercentileSeries<'_>], counted: Counted) -> Vec<LegendEntry> {
    let has = |required: fn(&Run) -> bool| curves.iter().any(|curve| pick::complete_runs(curve).any(required));
    let mut entries = Vec::new();
    if curves.len() > 1 {
        for (one, curve) in series.iter().zip(curves) {
            let label =
                say!("{} ({}), {}", words::clean(&curve.subject.name), words::source_word(&curve.source), one.measure);
            entries.push(LegendEntry { sample: one.shape.draw(11.0, 0.0, "solid"), class: one.class.clone(), label });
        }
    }
    let key = |sample: Markup, label: &str| LegendEntry { sample, class: "key".into(), label: label.into() };
    if series.iter().any(|one| !one.fit.is_empty()) {
        let line = html! { line class="path open" x1="0" x2="22" y1="0" y2="0" {} };
        entries.push(key(line, label!("fit: medians of slots, monotone")));
    }
    if has(pick::is_open) {
        entries.push(key(MarkerShape::Circle.draw(11.0, 0.0, "solid"), label!("open load (arrives by the clock)")));
    }
    if has(|run| !pick::is_open(run)) {
        let label = match counted {
            Counted::Operations => label!("closed load (fixed queue depth)"),
            Counted::Transactions => label!("closed load (each session waits for its answer)"),
        };
        entries.push(key(MarkerShape::Circle.draw(11.0, 0.0, "hollow"), label));
    }
    if has(pick::is_overloaded) {
        entries.push(key(cross(11.0, 0.0), label!("overloaded: its queue grew without end")));
    }
    entries
}

/// The fit up to the first vertex above the chart, which is drawn at its upper edge.
fn within<'a>(fit: &'a [(f64, f64)], frame: &Frame) -> &'a [(f64, f64)] {
    let (_, highest) = frame.y.ends();
    let inside = fit.partition_point(|(_, ns)| *ns <= highest);
    &fit[..fit.len().min(inside + 1)]
}

fn draw_points(series: &PercentileSeries<'_>, counted: Counted, frame: &Frame) -> Markup {
    html! {
        g class=(series.class) {
            @for run in pick::sustained(series.curve) {
                @if let Some(value) = series.of(run) { (point((series, run, &value), counted, frame)) }
            }
        }
    }
}

fn point((series, run, value): (&PercentileSeries<'_>, &Run, &Estimate), counted: Counted, frame: &Frame) -> Markup {
    let iops = &run.figures.iops;
    let (x, y) = (frame.at_x(iops.value), frame.at_y(value.value));
    let tip = format_tip((series, run, value), counted);
    html! {
        g class="pt" data-x=(x) data-y=(y) data-tip=(tip) {
            title { (tip) }
            @if !pick::is_overloaded(run) { (bars(iops, value, x, y, frame)) }
            @if pick::is_overloaded(run) { (cross(x, y)) }
            @else { (series.shape.draw(x, y, if pick::is_open(run) { "solid" } else { "hollow" })) }
        }
    }
}

/// Error bars that extend beyond the marker.
fn bars(iops: &Estimate, value: &Estimate, x: f64, y: f64, frame: &Frame) -> Markup {
    let upright = number::interval(value).map(|(low, high)| (frame.at_y(low), frame.at_y(high)));
    let level = number::interval(iops).map(|(low, high)| (frame.at_x(low), frame.at_x(high)));
    html! {
        @if let Some((low, high)) = upright.filter(|(low, high)| low - high > 9.0) {
            line class="whisker" x1=(x) x2=(x) y1=(low) y2=(high) {}
        }
        @if let Some((low, high)) = level.filter(|(low, high)| high - low > 9.0) {
            line class="whisker" x1=(low) x2=(high) y1=(y) y2=(y) {}
        }
    }
}

fn format_tip((series, run, value): (&PercentileSeries<'_>, &Run, &Estimate), counted: Counted) -> String {
    let Figures { iops, .. } = &run.figures;
    let time = typeset(&number::time(value.value));
    let interval = number::interval(value)
        .map(|(low, high)| say!(" ({} to {})", typeset(&number::time(low)), typeset(&number::time(high))))
        .unwrap_or_default();
    let state = if pick::is_overloaded(run) { label!(", overloaded") } else { "" };
    say!("{}: {} {time}{interval} at {}{state}", counted.pace(&run.offered), series.measure, counted.rate(iops))
}

/// A cross for each overloaded run: at its response time, or at the upper edge if the chart ends below.
fn overloads(series: &PercentileSeries<'_>, frame: &Frame) -> Markup {
    html! {
        g class=(series.class) {
            @for run in pick::complete_runs(series.curve).filter(|run| pick::grew(run)) {
                @if let Some(value) = series.of(run) {
                    @let x = frame.at_x(run.figures.iops.value);
                    @let y = frame.at_y(value.value).max(frame.top + 5.0);
                    @let tip = say!("{}: overloaded, {} {} and still rising at its end", words::pace(&run.offered), series.measure, typeset(&number::time(value.value)));
                    g class="pt" data-x=(x) data-y=(y) data-tip=(tip) { title { (tip) } (cross(x, y)) }
                }
            }
        }
    }
}

/// Points that labels avoid: runs, fits in steps, and the area left of the first run.
fn obstacles(series: &[PercentileSeries<'_>], frame: &Frame) -> Vec<(f64, f64)> {
    let mut out = Vec::new();
    for one in series {
        let place = |run: &Run| Some((frame.at_x(run.figures.iops.value), frame.at_y(one.of(run)?.value)));
        let places: Vec<(f64, f64)> = pick::sustained(one.curve).filter_map(place).collect();
        for pair in one.fit.windows(2) {
            let [(x, y), (end_x, end_y)] = [pair[0], pair[1]].map(|(iops, ns)| (frame.at_x(iops), frame.at_y(ns)));
            let steps = ((end_x - x).hypot(end_y - y) / 12.0).ceil().max(1.0);
            let step = |n: u32| f64::from(n) / steps;
            out.extend((0..=steps as u32).map(|n| (x + (end_x - x) * step(n), y + (end_y - y) * step(n))));
        }
        out.extend(places.iter().min_by(|a, b| a.0.total_cmp(&b.0)).map(|(x, y)| (x - 28.0, *y)));
        out.extend(places);
    }
    out
}

/// Labels of the percentiles left of their first points, or right of the last points if there is no room.
fn labels(curves: &[&Curve], series: &[PercentileSeries<'_>], frame: &Frame) -> Markup {
    if curves.len() != 1 {
        return html! {};
    }
    let place = |one: &PercentileSeries<'_>, run: &Run| {
        Some((frame.at_x(run.figures.iops.value), frame.at_y(one.of(run)?.value)))
    };
    let ends = |one: &PercentileSeries<'_>| {
        let mut places: Vec<_> = pick::sustained(one.curve).filter_map(|run| place(one, run)).collect();
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        Some((*places.first()?, *places.last()?))
    };
    let found: Vec<_> = series.iter().filter_map(|one| Some((one, ends(one)?))).collect();
    let at_left = found.iter().all(|(_, (first, _))| first.0 - frame.left > 54.0);
    let end = |(first, last): &((f64, f64), (f64, f64))| if at_left { *first } else { *last };
    let mut heights: Vec<f64> = found.iter().map(|(_, ends)| end(ends).1).collect();
    spread(&mut heights, 15.0, frame.top + 8.0, frame.bottom - 8.0);
    let (anchor, away) = if at_left { ("end", -11.0) } else { ("start", 9.0) };
    html! {
        @for ((one, ends), y) in found.iter().zip(&heights) {
            text class={ "name " (one.class) } x=(px(end(ends).0 + away)) y=(px(y + 4.0)) text-anchor=(anchor) {
                (one.measure)
            }
        }
    }
}

//! Latency by percentile, as in plots of `HdrHistogram`: each decade of the horizontal axis is ten times rarer.

use maud::{Markup, html};
use plimsoll_language::label;
use plimsoll_record::{Bins, Curve, Measure, Run};
use plimsoll_units::Span;

use super::frame::{Frame, Size};
use super::legend::{LegendEntry, legend};
use super::shape::MarkerShape;
use super::{Drawing, px, typeset};
use crate::scale::AxisScale;
use crate::{number, pick, words};

struct RunDistribution<'a> {
    run: &'a Run,
    response: Bins,
    service: Option<Bins>,
    class: &'static str,
    shape: MarkerShape,
    label: String,
}

/// Percentiles with a tick and, on each line that reaches them, a marker.
const TICKS: [(f64, &str); 6] =
    [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"), (0.999_9, "p99.99"), (0.999_99, "p99.999")];

/// Draws the lightest run, the run nearest the load line, and the most loaded run.
pub(crate) fn percentiles(curve: &Curve, size: Size) -> Drawing {
    let lines = chosen(curve);
    let (key, key_height) = legend(&list_legend(&lines), 0.0, 0.0, f64::from(size.width));
    let top = key_height + 36.0;
    let bottom = top + size.pick(300.0, 260.0);
    let frame = Frame {
        left: size.pick(64.0, 56.0),
        top,
        right: f64::from(size.width) - 24.0,
        bottom,
        x: AxisScale::Log { low: 1.0, high: 1e5 },
        y: vertical(curve, &lines),
    };
    let displayed = TICKS.map(|(q, name)| (rarity(q), name.trim_start_matches(size.pick("", "p")).to_owned()));
    let ticks: Vec<_> = std::iter::once((1.0, size.pick("p0", "0").to_owned())).chain(displayed).collect();
    let body = html! {
        (key)
        (frame.latency_axis(size.pick(10, 8)))
        (frame.bottom_axis(&ticks))
        (frame.x_title(label!("percentile of operations")))
        (frame.y_title(label!("response time")))
        (draw_objective(curve, &lines, &frame))
        @for line in &lines { (draw(line, &frame)) }
    };
    Drawing { body, height: bottom + 48.0 }
}

/// Reciprocal of the share of operations beyond the quantile.
fn rarity(q: f64) -> f64 {
    (1.0 / (1.0 - q).max(1e-12)).max(1.0)
}

fn chosen(curve: &Curve) -> Vec<RunDistribution<'_>> {
    let mut lines: Vec<RunDistribution<'_>> = Vec::new();
    let required = [
        (pick::lightest(curve), label!("lightest"), "p50", MarkerShape::Circle),
        (
            pick::at_line(curve),
            if pick::has_line(curve) { label!("at the load line") } else { label!("chosen") },
            "at",
            MarkerShape::Diamond,
        ),
        (pick::max_loaded(curve), label!("most loaded"), "p999", MarkerShape::Triangle),
    ];
    for (run, role, class, shape) in required {
        let Some(run) = run.filter(|run| !lines.iter().any(|line| std::ptr::eq(line.run, *run))) else { continue };
        let (response, service) = (run.total.response(), run.total.service());
        let service = (service != response).then_some(service);
        let label = format!("{role}: {}", words::pace(&run.offered));
        lines.push(RunDistribution { run, response, service, class, shape, label });
    }
    lines
}

fn list_legend(lines: &[RunDistribution<'_>]) -> Vec<LegendEntry> {
    let sample =
        |class: &str, marker: Markup| html! { line class={ "path " (class) } x1="0" x2="22" y1="0" y2="0" {} (marker) };
    let one = |line: &RunDistribution<'_>| LegendEntry {
        sample: sample("open", line.shape.draw(11.0, 0.0, "solid")),
        class: line.class.into(),
        label: line.label.clone(),
    };
    let mut entries: Vec<LegendEntry> = lines.iter().map(one).collect();
    if lines.iter().any(|line| line.service.is_some()) {
        let label = label!("dashed: service time, from the submission").to_owned();
        entries.push(LegendEntry { sample: sample("service", html! {}), class: "key".into(), label });
    }
    entries
}

fn vertical(curve: &Curve, lines: &[RunDistribution<'_>]) -> AxisScale {
    let of = |bins: &Bins| Some((bins.quantile(0.001)?.as_nanos() as f64, bins.max_ns as f64));
    let all = lines.iter().flat_map(|line| [of(&line.response), line.service.as_ref().and_then(of)]).flatten();
    let limit = curve.load_line.map(|line| line.objective().limit.as_nanos() as f64).map(|ns| (ns, ns));
    let (low, high) =
        all.chain(limit).fold((f64::INFINITY, 0.0f64), |(low, high), (a, b)| (low.min(a.max(1.0)), high.max(b)));
    AxisScale::for_latency(low, high)
}

/// Points evenly spaced on the axis, up to the rarest quantile that the number of operations supports.
fn path(bins: &Bins, frame: &Frame) -> String {
    const STEPS: i32 = 100;
    let reach = (bins.count.max(1) as f64).min(1e5);
    let rarities = (0..=STEPS).map(|step| 10f64.powf(f64::from(step) / f64::from(STEPS) * 5.0));
    let existing = rarities.take_while(|rarity| *rarity <= reach);
    frame.path(existing.filter_map(|rarity| Some((rarity, bins.quantile(1.0 - 1.0 / rarity)?.as_nanos() as f64))))
}

fn draw(line: &RunDistribution<'_>, frame: &Frame) -> Markup {
    let reached = TICKS.iter().filter(|(q, _)| rarity(*q) <= line.response.count as f64 * 1.000_001);
    html! {
        g class=(line.class) {
            @if let Some(service) = &line.service { path class="path service" d=(path(service, frame)) {} }
            path class="path open" d=(path(&line.response, frame)) {}
            @for (q, name) in reached {
                @if let Some(value) = line.response.quantile(*q) {
                    @let ns = value.as_nanos() as f64;
                    @let (x, y) = (frame.at_x(rarity(*q)), frame.at_y(ns));
                    @let tip = format!("{}: {name} {}", line.label, typeset(&number::time(ns)));
                    g class="pt" data-x=(x) data-y=(y) data-tip=(tip) {
                        title { (tip) }
                        (line.shape.draw(x, y, "solid"))
                    }
                }
            }
        }
    }
}

/// The objective: a horizontal line, and a ring at its percentile.
fn draw_objective(curve: &Curve, lines: &[RunDistribution<'_>], frame: &Frame) -> Markup {
    let Some(line) = &curve.load_line else { return html! {} };
    let objective = line.objective();
    let y = frame.at_y(objective.limit.as_nanos() as f64);
    let label = typeset(&objective.to_string());
    html! {
        line class="objective" x1=(px(frame.left)) x2=(px(frame.right)) y1=(y) y2=(y) {}
        text class="verdict" x=(clearest(lines, frame, y)) y=(px(y - 6.0)) text-anchor="middle" { (label) }
        @if let Measure::Quantile(q) = objective.measure {
            g class="line-mark" { circle cx=(frame.at_x(rarity(q))) cy=(y) r="7" {} }
        }
    }
}

/// The place of a label along the horizontal line at `y` that is farthest from all lines.
fn clearest(lines: &[RunDistribution<'_>], frame: &Frame, y: f64) -> f64 {
    let room = |rarity: f64| {
        let near = [rarity / 2.0, rarity, rarity * 2.0];
        let quantiles = lines.iter().flat_map(|line| near.map(|rarity| line.response.quantile(1.0 - 1.0 / rarity)));
        let distance = |value: Span| (frame.at_y(value.as_nanos() as f64) - (y - 10.0)).abs();
        quantiles.flatten().map(distance).fold(f64::INFINITY, f64::min)
    };
    let places = [4.0, 30.0, 300.0, 3_000.0, 30_000.0];
    let best = places.into_iter().max_by(|a, b| room(*a).total_cmp(&room(*b)));
    frame.at_x(best.unwrap_or(30.0))
}

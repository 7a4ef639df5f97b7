//! Charts of curves, each with an introduction and the source of its figures.

use maud::{Markup, html};
use plimsoll_analyse::fitted_curve;
use plimsoll_language::{label, say};
use plimsoll_record::{Curve, LoadSlot, Measure, Objective, Scope, SlotRole};
use plimsoll_units::{Instant, Span};

use crate::chart::{self, Axis, Fill, Joined, Lane, Plane, PointGroup, Spot};
use crate::html::{both, figure};
use crate::page::{Block, Chart, PageSection, Plot, PlotPoint};
use crate::scale::AxisScale;
use crate::words::Counted;
use crate::{number, pick, words};

/// Latency against throughput of a curve, as a chart and in characters.
pub(super) fn load_curve(curve: &Curve, index: usize) -> PageSection {
    let lead = if pick::has_line(curve) {
        label!("Each marker is a load, with its interval. Loads left of the load line meet the objective.")
    } else {
        label!("Each marker is a load, with its interval.")
    };
    let plot = Block::Plot(plot_curve(curve, Counted::Operations));
    let chart = overlaid(&[curve], &format!("curve-{index}"), lead);
    PageSection::bare(label!("Latency against throughput"), chart.into_iter().chain([plot]).collect())
}

/// Latency against throughput of several curves; `None` if no curve has runs.
pub(super) fn overlay(curves: &[&Curve]) -> Option<Block> {
    overlaid(curves, "overlay", label!("Each marker is a load, with its interval; vertical lines are load lines."))
}

fn overlaid(curves: &[&Curve], id: &str, lead: &str) -> Option<Block> {
    curves.iter().find_map(|curve| pick::complete_runs(curve).next())?;
    let description = chart::curve_description(curves);
    let chart = both(id, label!("Latency against throughput"), &description, |size| {
        chart::load_curve(curves, Counted::Operations, size)
    });
    let chart = html! { (chart) (chart::zoom_data(curves, Counted::Operations)) };
    Some(drawn(lead, &chart, curves))
}

/// The data of a curve for a plot in characters.
pub(in crate::pages) fn plot_curve(curve: &Curve, counted: Counted) -> Plot {
    let point = |run: &plimsoll_record::Run| PlotPoint {
        iops: run.figures.iops.value,
        percentiles_ns: [run.figures.p50_ns, run.figures.p99_ns].map(|estimate| number::value(&estimate)),
        is_open: pick::is_open(run),
        is_overloaded: pick::grew(run),
    };
    Plot {
        title: say!("Response time against {} completed", counted.unit()),
        points: pick::complete_runs(curve).map(point).collect(),
        fits: [0.5, 0.99].map(|share| fitted_curve(curve, Measure::Quantile(share))),
        limit_ns: curve.load_line.map(|line| line.objective().limit.as_nanos() as f64),
        line_iops: curve.load_line.as_ref().and_then(pick::line_iops).map(|iops| iops.value),
        legend: legend(curve, counted),
    }
}

fn legend(curve: &Curve, counted: Counted) -> String {
    let mut parts = Vec::new();
    let has = |open: bool| pick::sustained(curve).any(|run| pick::is_open(run) == open);
    if has(true) {
        parts.push(label!("● p99 ▪ p50 of open loads").to_owned());
    }
    if has(false) {
        parts.push(match counted {
            Counted::Operations => label!("○ p99 ▫ p50 of closed loads").to_owned(),
            Counted::Transactions => label!("○ p99 ▫ p50 of closed sessions").to_owned(),
        });
    }
    if let Some(line) = &curve.load_line {
        parts.push(format!("┄ {}", line.objective()));
        if pick::line_iops(line).is_some() {
            parts.push(label!("⊖ load line").into());
        }
    }
    if pick::complete_runs(curve).any(pick::is_overloaded) {
        parts.push(label!("× overloaded").into());
    }
    parts.join(label!("; "))
}

/// Latency by percentile; empty if no operation completed.
pub(super) fn percentiles(curve: &Curve, index: usize) -> PageSection {
    let title = label!("Latency by percentile");
    let lead = label!(
        "Each step to the right is ten times rarer. A line ends at the rarest percentile that its number of operations supports."
    );
    let description = label!(
        "Response times by percentile of the lightest run, the run nearest the load line and the most \
                       loaded run. The table of runs has the main percentiles."
    );
    let draw = || both(&format!("tail-{index}"), title, description, |size| chart::percentiles(curve, size));
    let blocks = pick::lightest(curve).map(|_| drawn(lead, &draw(), &[curve]));
    PageSection::bare(title, blocks.into_iter().collect())
}

/// Throughput and latency per second; empty without time series.
pub(super) fn over_time(curve: &Curve, index: usize) -> PageSection {
    let title = label!("Over time");
    let lead = label!("All runs in sequence, without pauses. Shaded: warm-up, excluded from all figures.");
    let description = label!(
        "Operations completed per second, and the median and 99th percentile of the response time, over \
                       the time of all runs."
    );
    let lanes: Vec<Lane<'_>> = curve.runs.iter().map(Lane::of).collect();
    let draw = |size| chart::over_time(&lanes, Counted::Operations, size);
    let has_series = curve.runs.iter().any(|run| !run.series.is_empty());
    let block = || drawn(lead, &both(&format!("time-{index}"), title, description, draw), &[curve]);
    PageSection::bare(title, has_series.then(block).into_iter().collect())
}

/// Throughput and response time of each slot over time; empty for a curve without slots.
pub(super) fn slots(curve: &Curve, index: usize) -> PageSection {
    let title = label!("Slots over time");
    if curve.slots.is_empty() {
        return PageSection::bare(title, Vec::new());
    }
    let objective = curve.load_line.map(|line| line.objective()).or(curve.conditions.objective);
    let measure = objective.map_or("p99".to_owned(), |objective| objective.bounded());
    let rate = |slot: &LoadSlot| Some(slot.iops).filter(|iops| *iops > 0.0);
    let time = |slot: &LoadSlot| slot_time(slot, objective.as_ref());
    let max = curve.slots.iter().filter_map(rate).fold(0.0, f64::max);
    let times = || curve.slots.iter().filter_map(time);
    let scale = AxisScale::for_latency(times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
    let carried = slot_plane(
        curve,
        objective.as_ref(),
        Axis { name: label!("completed, IOPS"), scale: AxisScale::from_zero(max), label: number::short },
        rate,
    );
    let answered =
        slot_plane(curve, objective.as_ref(), Axis { name: label!("response time"), scale, label: number::time }, time);
    let lead = label!(
        "Each marker is a slot: a load offered for a fraction of a second, starting with an empty queue. Hollow markers \
                missed the objective."
    );
    let description = say!(
        "Throughput and {measure} of the response time of {} slots over the time of the measurement.",
        curve.slots.len()
    );
    let charts = html! {
        (both(&format!("slots-load-{index}"), title, &description, |size| chart::plane(&carried, size)))
        (both(&format!("slots-time-{index}"), title, &description, |size| chart::plane(&answered, size)))
    };
    PageSection::bare(title, vec![drawn(lead, &charts, &[curve])])
}

/// The measure of the objective, or the 99th percentile, in nanoseconds.
fn slot_time(slot: &LoadSlot, objective: Option<&Objective>) -> Option<f64> {
    let p99 = Objective { measure: Measure::Quantile(0.99), over: Scope::All, limit: Span::MAX };
    slot.measured(objective.unwrap_or(&p99)).map(|time| time.as_nanos().max(1) as f64)
}

/// Slots by role, filled if they met the objective.
fn slot_plane(curve: &Curve, objective: Option<&Objective>, y: Axis, of: impl Fn(&LoadSlot) -> Option<f64>) -> Plane {
    let end = curve.slots.iter().map(|slot| slot_begin(slot) + slot.span.as_secs_f64()).fold(0.0, f64::max);
    let missed = |slot: &LoadSlot| {
        objective.is_some_and(|objective| slot.measured(objective).is_some_and(|time| time > objective.limit))
    };
    let group = |(tone, name, roles, fill): (usize, &str, &[SlotRole], Fill)| {
        let own =
            curve.slots.iter().filter(|slot| roles.contains(&slot.role) && missed(slot) == (fill == Fill::Hollow));
        let spot = |slot: &LoadSlot| {
            let tip = slot_tip(slot, objective);
            of(slot).map(|y| Spot { x: slot_begin(slot), y, tip, label: String::new() })
        };
        PointGroup { name: name.to_owned(), tone, fill, joined: Joined::Apart, spots: own.filter_map(spot).collect() }
    };
    let groups = slot_groups().map(group).into_iter().filter(|group| !group.spots.is_empty()).collect();
    let x = Axis {
        name: label!("time from the start"),
        scale: AxisScale::Linear { low: 0.0, high: end.max(1e-9) },
        label: seconds,
    };
    Plane { x, y, groups }
}

/// Tone, name, roles and fill of each kind of slot.
fn slot_groups() -> [(usize, &'static str, &'static [SlotRole], Fill); 6] {
    [
        (0, label!("open load"), &[SlotRole::Scout, SlotRole::Pass], Fill::Full),
        (0, label!("open load, objective missed"), &[SlotRole::Scout, SlotRole::Pass], Fill::Hollow),
        (1, label!("held load"), &[SlotRole::Hold], Fill::Full),
        (1, label!("held load, objective missed"), &[SlotRole::Hold], Fill::Hollow),
        (2, label!("closed load"), &[SlotRole::Max, SlotRole::Soak], Fill::Full),
        (2, label!("closed load, objective missed"), &[SlotRole::Max, SlotRole::Soak], Fill::Hollow),
    ]
}

fn slot_begin(slot: &LoadSlot) -> f64 {
    slot.start.since(Instant::ZERO).as_secs_f64()
}

fn slot_tip(slot: &LoadSlot, objective: Option<&Objective>) -> String {
    let measure = objective.map_or("p99".to_owned(), Objective::bounded);
    let time = slot_time(slot, objective).map_or_else(String::new, |ns| say!(", {measure} {}", number::time(ns)));
    format!("{}: {} IOPS{time}", words::offered(&slot.offered), number::three(slot.iops))
}

fn seconds(value: f64) -> String {
    if value == 0.0 { "0".into() } else { number::time(value * 1e9) }
}

/// A chart with its introduction and sources.
fn drawn(lead: &str, chart: &Markup, curves: &[&Curve]) -> Block {
    let source = html! {
        @for (index, curve) in curves.iter().enumerate() {
            @if index > 0 { (label!("; ")) }
            (words::source_place(curve))
            @if let Some(date) = words::date(curve) { (label!(", ")) span class="nb" { (date) } }
        }
    };
    Block::Chart(Chart::new(html! { p class="lead" { (lead) } (figure(chart, &source)) }))
}

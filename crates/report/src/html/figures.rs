//! The charts with their headings, captions and sources, each in a wide and a narrow form.

use maud::{Markup, html};
use plimsoll_record::{Curve, LoadSlot, Measure, Objective, Scope, SlotRole};
use plimsoll_units::{Instant, Span};

use crate::chart::{self, Axis, Caption, Drawing, Fill, Group, Joined, Lane, Plane, Size, Spot, picture};
use crate::scale::Scale;
use crate::words::Counted;
use crate::{number, pick, words};

/// Latency against throughput.
pub(super) fn curve(curves: &[&Curve]) -> Markup {
    if curves.iter().all(|curve| pick::seen(curve).next().is_none()) {
        return html! {};
    }
    let lead = match curves {
        [curve] if pick::has_line(curve) => {
            "Each marker is one run. Left of the load line and below the objective is what may be asked."
        }
        [_] => "Each marker is one run.",
        _ => "Each marker is one run; upright lines are the load lines.",
    };
    let description = chart::curve_description(curves);
    let chart = both("curve", "Latency against throughput", &description, |size| {
        chart::load_curve(curves, Counted::Operations, size)
    });
    section("Latency against throughput", lead, &chart, curves)
}

/// Latency by percentile.
pub(super) fn percentiles(curve: &Curve, index: usize) -> Markup {
    if pick::lightest(curve).is_none() {
        return html! {};
    }
    let lead = "Each step to the right is ten times rarer. Lines end where there were too few operations to know more.";
    let title = "Latency by percentile";
    let description = "Response times by percentile of the lightest run, the run nearest the load line and the most \
                       loaded run. The table of runs has the main percentiles.";
    let chart = both(&format!("tail-{index}"), title, description, |size| chart::percentiles(curve, size));
    section(title, lead, &chart, &[curve])
}

/// Second by second.
pub(super) fn over_time(curve: &Curve, index: usize) -> Markup {
    if curve.runs.iter().all(|run| run.series.is_empty()) {
        return html! {};
    }
    let lead =
        "All runs one after the other, without the pauses between them. Shaded time is warm-up: it is in no figure.";
    let title = "Over time";
    let description = "Operations completed per second, and the median and 99th percentile of the response time, over \
                       the time of all runs.";
    let lanes: Vec<Lane<'_>> = curve.runs.iter().map(Lane::of).collect();
    let draw = |size| chart::over_time(&lanes, Counted::Operations, size);
    let chart = both(&format!("time-{index}"), title, description, draw);
    section(title, lead, &chart, &[curve])
}

/// The slots of a sweep over time: the load that each carried and its response time. Empty for a curve without slots.
pub(super) fn slots(curve: &Curve, index: usize) -> Markup {
    if curve.slots.is_empty() {
        return html! {};
    }
    let objective = curve.load_line.map(|line| line.objective()).or(curve.conditions.objective);
    let measure = objective.map_or("p99".to_owned(), |objective| objective.bounded());
    let rate = |slot: &LoadSlot| Some(slot.iops).filter(|iops| *iops > 0.0);
    let time = |slot: &LoadSlot| slot_time(slot, objective.as_ref());
    let most = curve.slots.iter().filter_map(rate).fold(0.0, f64::max);
    let times = || curve.slots.iter().filter_map(time);
    let scale = Scale::for_latency(times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
    let carried = slot_plane(
        curve,
        objective.as_ref(),
        Axis { name: "completed, IOPS", scale: Scale::from_zero(most), label: number::short },
        rate,
    );
    let answered =
        slot_plane(curve, objective.as_ref(), Axis { name: "response time", scale, label: number::time }, time);
    let lead = "Each marker is a slot: one load, offered for a fraction of a second from an empty queue. Hollow markers \
                missed the objective.";
    let title = "Slots over time";
    let description = format!(
        "The load that each of {} slots carried, and its {measure} of the response time, over the time of the measurement.",
        curve.slots.len()
    );
    let charts = html! {
        (both(&format!("slots-load-{index}"), title, &description, |size| chart::plane(&carried, size)))
        (both(&format!("slots-time-{index}"), title, &description, |size| chart::plane(&answered, size)))
    };
    section(title, lead, &charts, &[curve])
}

/// The measure of the objective, or the 99th percentile, in nanoseconds.
fn slot_time(slot: &LoadSlot, objective: Option<&Objective>) -> Option<f64> {
    let p99 = Objective { measure: Measure::Quantile(0.99), over: Scope::All, limit: Span::MAX };
    slot.measured(objective.unwrap_or(&p99)).map(|time| time.as_nanos().max(1) as f64)
}

/// Slots by role, filled where they met the objective.
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
        Group { name: name.to_owned(), tone, fill, joined: Joined::Apart, spots: own.filter_map(spot).collect() }
    };
    let groups = SLOT_GROUPS.map(group).into_iter().filter(|group| !group.spots.is_empty()).collect();
    let x =
        Axis { name: "time from the start", scale: Scale::Linear { low: 0.0, high: end.max(1e-9) }, label: seconds };
    Plane { x, y, groups }
}

/// Tone, name, roles and fill of each kind of slot.
const SLOT_GROUPS: [(usize, &str, &[SlotRole], Fill); 6] = [
    (0, "open load", &[SlotRole::Scout, SlotRole::Pass], Fill::Full),
    (0, "open load, objective missed", &[SlotRole::Scout, SlotRole::Pass], Fill::Hollow),
    (1, "held load", &[SlotRole::Hold], Fill::Full),
    (1, "held load, objective missed", &[SlotRole::Hold], Fill::Hollow),
    (2, "closed load", &[SlotRole::Most, SlotRole::Soak], Fill::Full),
    (2, "closed load, objective missed", &[SlotRole::Most, SlotRole::Soak], Fill::Hollow),
];

fn slot_begin(slot: &LoadSlot) -> f64 {
    slot.start.since(Instant::ZERO).as_secs_f64()
}

fn slot_tip(slot: &LoadSlot, objective: Option<&Objective>) -> String {
    let measure = objective.map_or("p99".to_owned(), Objective::bounded);
    let time = slot_time(slot, objective).map_or_else(String::new, |ns| format!(", {measure} {}", number::time(ns)));
    format!("{}: {} IOPS{time}", words::offered(&slot.offered), number::three(slot.iops))
}

fn seconds(value: f64) -> String {
    if value == 0.0 { "0".into() } else { number::time(value * 1e9) }
}

/// A chart in its wide and its narrow form.
pub(crate) fn both(id: &str, title: &str, description: &str, draw: impl Fn(Size) -> Drawing) -> Markup {
    let one = |size: Size, form: &str| {
        let caption =
            Caption { id: format!("{id}-{form}"), title: title.to_owned(), description: description.to_owned() };
        picture(&draw(size), size, &caption, form)
    };
    html! { (one(Size::WIDE, "wide")) (one(Size::NARROW, "narrow")) }
}

fn section(title: &str, lead: &str, chart: &Markup, curves: &[&Curve]) -> Markup {
    let source = html! {
        @for (index, curve) in curves.iter().enumerate() {
            @if index > 0 { "; " }
            (words::source_place(curve))
            @if let Some(date) = words::date(curve) { ", " span class="nb" { (date) } }
        }
    };
    html! { section { h2 { (title) } p class="lead" { (lead) } (figure(chart, &source)) } }
}

/// A chart with where its figures come from.
pub(crate) fn figure(chart: &Markup, source: &Markup) -> Markup {
    html! { figure { (chart) figcaption { "Source: " (source) "." } } }
}

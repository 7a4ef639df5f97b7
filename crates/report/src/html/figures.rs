//! The charts with their headings, captions and sources, each in a wide and a narrow form.

use maud::{Markup, html};
use plimsoll_record::Curve;

use crate::chart::{self, Caption, Drawing, Lane, Size, picture};
use crate::words::Counted;
use crate::{pick, words};

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

/// A chart in its wide and its narrow form.
pub(super) fn both(id: &str, title: &str, description: &str, draw: impl Fn(Size) -> Drawing) -> Markup {
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
pub(super) fn figure(chart: &Markup, source: &Markup) -> Markup {
    html! { figure { (chart) figcaption { "Source: " (source) "." } } }
}

//! How storage answers as it is asked more: latency over the rate, window by window.

use maud::{Markup, html};
use plimsoll_choose::diagnosis::{Point, Response};
use plimsoll_ingest::Measure;

use super::super::figures::{both, figure};
use super::super::grid::filled;
use super::{Case, origins};
use crate::chart::{self, Axis, Fill, Group, Joined, Plane, Spot, typeset};
use crate::number;
use crate::scale::Scale;
use crate::text::diagnosis::evidence;

/// Classes that are drawn; the table has all.
const MOST_CLASSES: usize = 6;
/// Points of a class; of more windows each point is the mean of several with rates beside each other.
const MOST_POINTS: usize = 120;

/// The chart and its table.
pub(super) fn section(case: &Case<'_>) -> Markup {
    let responses = &case.found.responses;
    if responses.is_empty() {
        return html! {};
    }
    let mut drawn: Vec<&Response> = responses.iter().collect();
    drawn.sort_by(|a, b| b.in_flight.total_cmp(&a.in_flight));
    drawn.truncate(MOST_CLASSES);
    let merged = drawn.iter().any(|response| response.points.len() > MOST_POINTS);
    let several = drawn.iter().any(|response| response.points.len() > 1);
    let plane = plane(&drawn);
    let id = format!("response-{}", case.index);
    let chart = both(&id, "Latency against rate", "The table below has the figures of each class.", |size| {
        chart::plane(&plane, size)
    });
    let origin = |row: usize, column: &str| {
        let class = responses.get(row)?.class;
        match column {
            "mean" | "highest" => origins::id(case, class, Measure::Iops),
            "latency" | "quiet" | "busiest" => origins::id(case, class, Measure::Latency),
            "busy" => origins::id(case, plimsoll_ingest::Class::All, Measure::Busy),
            _ => None,
        }
    };
    html! {
        section id={ "d" (case.index) "-response" } {
            h2 { "Latency against rate" }
            p class="lead" {
                @if merged { "Each point is the mean of several windows with rates beside each other." }
                @else if several { "Each point is one window." }
                @else { "One window: how latency goes with the rate needs several." }
            }
            @if several { (figure(&chart, &case.source())) }
            (filled("How each class is answered", &evidence::responses(case.found), origin))
        }
    }
}

fn plane(drawn: &[&Response]) -> Plane {
    let group = |(tone, response): (usize, &&Response)| Group {
        name: response.class.name().to_owned(),
        tone,
        fill: Fill::Full,
        joined: Joined::Apart,
        spots: merged(&response.points).iter().map(|point| spot(response, point)).collect(),
    };
    let groups: Vec<Group> = drawn.iter().enumerate().map(group).collect();
    let spots = || groups.iter().flat_map(|group| &group.spots);
    let low = spots().map(|spot| spot.y).fold(f64::INFINITY, f64::min);
    let high = spots().map(|spot| spot.y).fold(0.0, f64::max);
    let most = spots().map(|spot| spot.x).fold(0.0, f64::max);
    Plane {
        x: Axis { name: "IOPS", scale: Scale::from_zero(most), label: number::short },
        y: Axis { name: "latency, mean of a window", scale: Scale::for_latency(low, high), label: time },
        groups,
    }
}

fn time(ns: f64) -> String {
    if ns == 0.0 { "0".into() } else { typeset(&number::time(ns)) }
}

fn spot(response: &Response, point: &Point) -> Spot {
    let (latency, rate) = (number::time(point.latency_s * 1e9), number::three(point.iops));
    Spot {
        x: point.iops,
        y: point.latency_s * 1e9,
        tip: format!("{}: {latency} at {rate} IOPS", response.class.name()),
        label: String::new(),
    }
}

/// Neighbours by rate as one, each operation counted alike.
fn merged(points: &[Point]) -> Vec<Point> {
    let mean = |points: &[Point]| {
        let length_s: f64 = points.iter().map(|point| point.length_s).sum();
        let operations: f64 = points.iter().map(|point| point.iops * point.length_s).sum();
        let seconds: f64 = points.iter().map(|point| point.iops * point.length_s * point.latency_s).sum();
        Point { iops: operations / length_s, latency_s: seconds / operations, length_s }
    };
    points.chunks(points.len().div_ceil(MOST_POINTS).max(1)).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_merged_and_no_operation_is_lost() {
        let points: Vec<Point> =
            (1..=1_000).map(|at| Point { iops: f64::from(at), latency_s: 1e-3, length_s: 60.0 }).collect();
        let few = merged(&points);
        assert!(few.len() <= MOST_POINTS);
        let operations = |points: &[Point]| points.iter().map(|point| point.iops * point.length_s).sum::<f64>();
        assert!((operations(&few) - operations(&points)).abs() < 1e-3);
        assert_eq!(merged(&points[..3]), points[..3]);
    }
}

//! Latency against rate by window.

use maud::html;
use plimsoll_choose::diagnosis::{Response, ResponsePoint};
use plimsoll_ingest::{Class, Measure};
use plimsoll_language::{label, say};

use super::super::demand::tabulate_classes;
use super::{Case, origins};
use crate::chart::{self, Axis, Fill, Joined, Plane, PointGroup, Spot, typeset};
use crate::html::{both, figure};
use crate::number;
use crate::page::{self, Block, Cell, Column, ColumnKind, PageSection, Table};
use crate::scale::AxisScale;

/// Maximum number of classes in the chart; the table has all.
const CLASSES_MAX: usize = 6;
/// Maximum number of points per class; of more windows, those with similar rates are averaged.
const POINTS_MAX: usize = 120;

fn columns() -> [Column; 9] {
    [
        Column::text(label!("class"), 0),
        Column::rate(label!("mean"), "IOPS", 0),
        Column::rate(label!("highest"), "IOPS", 2),
        Column::time(label!("latency"), "ms", 0),
        Column::time(label!("quiet"), "ms", 3),
        Column::time(label!("busiest"), "ms", 3),
        Column::new(label!("in flight"), "", ColumnKind::Share, 1),
        Column::new(label!("busy"), "%", ColumnKind::Share, 5),
        Column::new(label!("with rate"), "-1 to 1", ColumnKind::Share, 4),
    ]
}

/// The chart and its table.
pub(super) fn build_section(case: &Case<'_>) -> Option<PageSection> {
    let responses = &case.found.responses;
    if responses.is_empty() {
        // Of a database, the windows over time have the load.
        let table = tabulate_classes(case.subject);
        let is_known = case.subject.account.is_none() && !table.rows.is_empty();
        return is_known.then(|| PageSection::bare(case.title(label!("Load by class")), vec![Block::Table(table)]));
    }
    let mut drawn: Vec<&Response> = responses.iter().collect();
    drawn.sort_by(|a, b| b.in_flight.total_cmp(&a.in_flight));
    drawn.truncate(CLASSES_MAX);
    let several = drawn.iter().any(|response| response.points.len() > 1);
    let picture = if several {
        Block::Chart(chart(case, &drawn))
    } else {
        Block::Note(label!("Latency against rate requires several windows.").to_owned())
    };
    let table =
        Table::of(label!("Latency and rate of each class"), columns(), responses, |response| row(case, response));
    let points: Vec<(&str, usize)> =
        responses.iter().map(|response| (response.class.label(), response.points.len())).collect();
    let table = table.without_unknown().with_notes(windows_note(&points, case.subject.slots.len()));
    let section = PageSection::bare(case.title(label!("Latency against rate")), vec![picture, Block::Table(table)]);
    Some(section.with_anchor(format!("d{}-response", case.index)))
}

/// The windows of each class whose latency is known, where they are not all: rates are means over all windows.
fn windows_note(points: &[(&str, usize)], count: usize) -> Option<String> {
    let few = points.iter().filter(|(_, timed)| *timed < count);
    let parts: Vec<String> = few.map(|(class, timed)| format!("{class} {timed}")).collect();
    let note = say!("windows with a latency, of {count}: {}; rates are of all windows", parts.join(label!(", ")));
    (!parts.is_empty()).then_some(note)
}

fn chart(case: &Case<'_>, drawn: &[&Response]) -> page::Chart {
    let merged = drawn.iter().any(|response| response.points.len() > POINTS_MAX);
    let plane = build_plane(drawn);
    let id = format!("response-{}", case.index);
    let drawing =
        both(&id, label!("Latency against rate"), label!("The table below has the figures of each class."), |size| {
            chart::plane(&plane, size)
        });
    page::Chart::new(html! {
        p class="lead" {
            @if merged { (label!("Each point is the mean of several windows with similar rates.")) }
            @else { (label!("Each point is one window.")) }
        }
        (figure(&drawing, &case.source()))
    })
}

fn row(case: &Case<'_>, response: &Response) -> Vec<Cell> {
    let existing = |value: Option<f64>, unit: f64, link: &Option<String>| {
        Cell::or_unknown(value, |value| Cell::three(value / unit).with_link(link.clone()))
    };
    let rate = origins::mean_id(case, response.class, Measure::Iops);
    let latency = origins::mean_id(case, response.class, Measure::Latency);
    let busy = origins::mean_id(case, Class::All, Measure::Busy);
    vec![
        Cell::text(response.class.label()),
        existing(Some(response.iops), 1.0, &rate),
        existing(Some(response.highest_iops), 1.0, &rate),
        existing(Some(response.latency_s), 1e-3, &latency),
        existing(response.quiet_s, 1e-3, &latency),
        existing(response.loaded_s, 1e-3, &latency),
        Cell::three(response.in_flight),
        existing(response.busy, 0.01, &busy),
        Cell::or_unknown(response.correlation, |value| Cell::figure(format!("{value:.2}"), value)),
    ]
}

fn build_plane(drawn: &[&Response]) -> Plane {
    let group = |(tone, response): (usize, &&Response)| PointGroup {
        name: response.class.label().to_owned(),
        tone,
        fill: Fill::Full,
        joined: Joined::Apart,
        spots: merge_points(&response.points).iter().map(|point| spot(response, point)).collect(),
    };
    let groups: Vec<PointGroup> = drawn.iter().enumerate().map(group).collect();
    let spots = || groups.iter().flat_map(|group| &group.spots);
    let low = spots().map(|spot| spot.y).fold(f64::INFINITY, f64::min);
    let high = spots().map(|spot| spot.y).fold(0.0, f64::max);
    let max = spots().map(|spot| spot.x).fold(0.0, f64::max);
    Plane {
        x: Axis { name: "IOPS", scale: AxisScale::from_zero(max), label: number::short },
        y: Axis { name: label!("latency, mean of a window"), scale: AxisScale::for_latency(low, high), label: time },
        groups,
    }
}

fn time(ns: f64) -> String {
    if ns == 0.0 { "0".into() } else { typeset(&number::time(ns)) }
}

fn spot(response: &Response, point: &ResponsePoint) -> Spot {
    let (latency, rate) = (number::time(point.latency_s * 1e9), number::three(point.iops));
    Spot {
        x: point.iops,
        y: point.latency_s * 1e9,
        tip: say!("{}: {latency} at {rate} IOPS", response.class.label()),
        label: String::new(),
    }
}

/// Averages of points with adjacent rates, weighted by operations.
fn merge_points(points: &[ResponsePoint]) -> Vec<ResponsePoint> {
    let mean = |points: &[ResponsePoint]| {
        let length_s: f64 = points.iter().map(|point| point.length_s).sum();
        let operations: f64 = points.iter().map(|point| point.iops * point.length_s).sum();
        let seconds: f64 = points.iter().map(|point| point.iops * point.length_s * point.latency_s).sum();
        ResponsePoint { iops: operations / length_s, latency_s: seconds / operations, length_s }
    };
    points.chunks(points.len().div_ceil(POINTS_MAX).max(1)).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_without_a_latency_are_counted() {
        let note = windows_note(&[("reads", 9), ("writes", 334), ("redo", 233)], 334).unwrap_or_default();
        assert_eq!(note, "windows with a latency, of 334: reads 9, redo 233; rates are of all windows");
        assert_eq!(windows_note(&[("reads", 334)], 334), None);
    }

    #[test]
    fn neighbours_are_merged_and_no_operation_is_lost() {
        let points: Vec<ResponsePoint> =
            (1..=1_000).map(|at| ResponsePoint { iops: f64::from(at), latency_s: 1e-3, length_s: 60.0 }).collect();
        let few = merge_points(&points);
        assert!(few.len() <= POINTS_MAX);
        let operations = |points: &[ResponsePoint]| points.iter().map(|point| point.iops * point.length_s).sum::<f64>();
        assert!((operations(&few) - operations(&points)).abs() < 1e-3);
        assert_eq!(merge_points(&points[..3]), points[..3]);
    }
}

//! What the verdicts stand on: latency over rate, ceilings, and the place of each number.

use plimsoll_catalogue::Counts;
use plimsoll_choose::diagnosis::{CeilingUse, Diagnosis, OnOffer, Response, Split};
use plimsoll_ingest::EventTime;

use super::super::grid::{Cells, Filled, Heading, NONE};
use crate::number;

const RESPONSES: [Heading; 9] = [
    Heading { name: "how it answers", unit: "", cells: Cells::Words, expendable: 0 },
    Heading { name: "mean", unit: "IOPS", cells: Cells::Figures, expendable: 0 },
    Heading { name: "highest", unit: "IOPS", cells: Cells::Figures, expendable: 2 },
    Heading { name: "latency", unit: "ms", cells: Cells::Figures, expendable: 0 },
    Heading { name: "quiet", unit: "ms", cells: Cells::Figures, expendable: 3 },
    Heading { name: "busiest", unit: "ms", cells: Cells::Figures, expendable: 3 },
    Heading { name: "in flight", unit: "", cells: Cells::Figures, expendable: 1 },
    Heading { name: "busy", unit: "%", cells: Cells::Figures, expendable: 5 },
    Heading { name: "with rate", unit: "-1 to 1", cells: Cells::Figures, expendable: 4 },
];

fn or_none(value: Option<f64>, unit: f64) -> String {
    value.map_or(NONE.to_owned(), |value| number::three(value / unit))
}

/// How each class is answered.
pub(crate) fn responses(diagnosis: &Diagnosis) -> Filled {
    let row = |response: &Response| {
        vec![
            response.class.name().to_owned(),
            number::three(response.iops),
            or_none(response.points.last().map(|point| point.iops), 1.0),
            number::three(response.latency_s * 1e3),
            or_none(response.quiet_s, 1e-3),
            or_none(response.loaded_s, 1e-3),
            number::three(response.in_flight),
            or_none(response.busy, 0.01),
            response.correlation.map_or(NONE.to_owned(), |value| format!("{value:.2}")),
        ]
    };
    let rows: Vec<Vec<String>> = diagnosis.responses.iter().map(row).collect();
    Filled::new(&RESPONSES, rows, Vec::new()).said()
}

const CEILINGS: [Heading; 6] = [
    Heading { name: "ceiling", unit: "", cells: Cells::Words, expendable: 0 },
    Heading { name: "allows", unit: "", cells: Cells::Words, expendable: 0 },
    Heading { name: "asked", unit: "", cells: Cells::Words, expendable: 2 },
    Heading { name: "highest", unit: "%", cells: Cells::Figures, expendable: 0 },
    Heading { name: "mean", unit: "%", cells: Cells::Figures, expendable: 1 },
    Heading { name: "at it", unit: "windows", cells: Cells::Figures, expendable: 0 },
];

/// The demand beside the ceilings of the configuration that was named.
pub(crate) fn ceilings(on: &OnOffer) -> Filled {
    let rate = |ceiling: &CeilingUse, value: f64| match ceiling.counts {
        Counts::Operations => format!("{} IOPS", number::three(value)),
        Counts::Bytes => number::throughput(value),
    };
    let row = |ceiling: &CeilingUse| {
        vec![
            ceiling.name.to_string(),
            rate(ceiling, ceiling.allows),
            rate(ceiling, ceiling.asked),
            number::three(ceiling.highest * 100.0),
            number::three(ceiling.mean * 100.0),
            number::whole(ceiling.near as f64),
        ]
    };
    let rows: Vec<Vec<String>> = on.ceilings.iter().map(row).collect();
    let note = "sustained, of the mix of the busiest window; \"at it\" are windows at or above 95 %".to_owned();
    Filled::new(&CEILINGS, rows, vec![note])
}

/// What is said where no ceiling can be put beside the demand.
pub(crate) const NO_CEILINGS: &str = "no input says a rate, or the catalogue knows no ceiling of this configuration";

const PLACES: [Heading; 7] = [
    Heading { name: "waits for", unit: "", cells: Cells::Words, expendable: 0 },
    Heading { name: "waits", unit: "", cells: Cells::Figures, expendable: 2 },
    Heading { name: "each", unit: "ms", cells: Cells::Figures, expendable: 0 },
    Heading { name: "99 of 100", unit: "ms", cells: Cells::Words, expendable: 3 },
    Heading { name: "in all", unit: "s", cells: Cells::Figures, expendable: 1 },
    Heading { name: "line", unit: "", cells: Cells::Figures, expendable: 0 },
    Heading { name: "of", unit: "", cells: Cells::Words, expendable: 4 },
];

/// The events that most of the time went to, the longest first.
pub(crate) fn longest_events(split: &Split) -> Vec<&EventTime> {
    /// Events that are shown.
    const MOST: usize = 10;
    let mut events: Vec<&EventTime> = split.slices.iter().flat_map(|slice| &slice.events).collect();
    events.sort_by(|a, b| b.total_s.total_cmp(&a.total_s));
    events.truncate(MOST);
    events
}

/// These events, and where each stands: of several windows, where it was longest.
pub(crate) fn places(split: &Split, windows: usize) -> Filled {
    let time = &split.place;
    let events = longest_events(split);
    let is_one = events.iter().all(|event| event.place.input == time.input);
    let row = |event: &&EventTime| {
        let within = event.within_s(0.99).map_or(NONE.to_owned(), |seconds| {
            if seconds.is_finite() { format!("<= {}", number::three(seconds * 1e3)) } else { "longest".to_owned() }
        });
        let line = event.place.origin.line;
        vec![
            event.event.to_string(),
            number::three(event.count),
            or_none(event.mean_s(), 1e-3),
            within,
            number::three(event.total_s),
            if line > 0 { line.to_string() } else { NONE.to_owned() },
            if is_one { NONE.to_owned() } else { file_name(&event.place.input).to_owned() },
        ]
    };
    let rows: Vec<Vec<String>> = events.iter().map(row).collect();
    let note = format!(
        "database time: {} s{}, {}, {}",
        number::three(split.database_s),
        if windows > 1 { ", most of it in" } else { "" },
        file_name(&time.input),
        time.origin
    );
    Filled::new(&PLACES, rows, vec![note]).said()
}

/// The end of a path: what tells files apart in a table.
pub(crate) fn file_name(input: &str) -> &str {
    input.rsplit('/').next().unwrap_or(input)
}

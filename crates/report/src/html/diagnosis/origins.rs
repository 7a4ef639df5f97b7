//! Where each number of a diagnosis was read: file, line, table and row, at a place of the page that numbers lead to.

use maud::{Markup, html};
use plimsoll_choose::diagnosis::Verdict;
use plimsoll_ingest::{Class, EventTime, Measure, Origin, Place, Series, Statistic};

use super::super::grid::{Head, Row, table};
use super::Case;
use crate::number;
use crate::text::demand::shown;
use crate::text::diagnosis::evidence::longest_events;
use crate::text::{Cells, measure_name};
use crate::words::clean;

/// The part of the page about a subject's numbers.
pub(super) fn section_id(index: usize) -> String {
    format!("d{index}-origins")
}

/// The database's time.
pub(super) fn time_id(index: usize) -> String {
    format!("d{index}-o-time")
}

/// An event, by its row among those that are shown.
pub(super) fn event_id(index: usize, row: usize) -> String {
    format!("d{index}-o-event-{row}")
}

/// What the database says of its caches.
pub(super) fn cache_id(case: &Case<'_>) -> Option<String> {
    let account = case.subject.account.as_ref()?;
    (!account.caches.is_empty()).then(|| format!("d{}-o-cache", case.index))
}

/// A measure of a class, in the mean, where inputs say it.
pub(super) fn id(case: &Case<'_>, class: Class, measure: Measure) -> Option<String> {
    case.subject.series(class, measure).map(|series| series_id(case, series))
}

fn series_id(case: &Case<'_>, series: &Series) -> String {
    let highest = if series.statistic == Statistic::Maximum { "-maximum" } else { "" };
    format!("d{}-o-{}-{}{highest}", case.index, series.class.name().replace(' ', "-"), measure_name(series.measure))
}

/// What a verdict stands on: places of the page, and what is there.
pub(super) fn of_verdict(case: &Case<'_>, verdict: &Verdict) -> Vec<(String, String)> {
    let index = case.index;
    let measures = |class: Class, measures: &[Measure]| {
        let one = |measure: &Measure| {
            Some((id(case, class, *measure)?, format!("{}, {}", class.name(), measure_name(*measure))))
        };
        measures.iter().filter_map(one).collect()
    };
    let event = |name: &str| {
        let row = events(case).iter().position(|event| &*event.event == name);
        row.map(|row| (event_id(index, row), format!("waits for {name}"))).into_iter().collect()
    };
    match verdict {
        Verdict::Slow { class, .. }
        | Verdict::AtItsLimit { class, .. }
        | Verdict::SlowOrLoaded { class, .. }
        | Verdict::Many { class, .. }
        | Verdict::Quick { class, .. } => measures(*class, &[Measure::Latency, Measure::Iops]),
        Verdict::Pinned { class: Class::All, measure, .. } => {
            [Class::All, Class::Read, Class::Write].iter().flat_map(|class| measures(*class, &[*measure])).collect()
        }
        Verdict::Pinned { class, measure, .. } => measures(*class, &[*measure]),
        Verdict::Unequal { .. } => measures(Class::All, &[Measure::Depth, Measure::Latency, Measure::Iops]),
        Verdict::AtCeiling { .. } | Verdict::BelowCeilings { .. } => {
            vec![(format!("d{index}-ceilings"), "its ceilings".into())]
        }
        Verdict::CacheHelps { .. } | Verdict::CacheDoesNot { .. } => {
            cache_id(case).map(|id| (id, "the database's estimates".to_owned())).into_iter().collect()
        }
        Verdict::Tail { event: name, .. }
        | Verdict::WritersBehind { event: name, .. }
        | Verdict::Elsewhere { event: Some(name), .. } => event(name),
        Verdict::CommitsElsewhere { .. } | Verdict::CommitsForLog { .. } => {
            case.found.commits.iter().flat_map(|commits| event(&commits.event.event)).collect()
        }
        Verdict::Untold { .. } | Verdict::LongWindows { .. } => Vec::new(),
        _ if case.found.split.is_none() => Vec::new(),
        _ => vec![(format!("d{index}-time"), "its parts".into()), (time_id(index), "the database's time".into())],
    }
}

/// The events that are shown, then those that verdicts speak of besides.
fn events<'a>(case: &Case<'a>) -> Vec<&'a EventTime> {
    let mut events = case.found.split.as_ref().map(longest_events).unwrap_or_default();
    let waits = || case.subject.account.iter().flat_map(|account| &account.whole.waits);
    let named = case.found.verdicts.iter().filter_map(|verdict| match verdict {
        Verdict::Tail { event, .. } | Verdict::WritersBehind { event, .. } => Some(event),
        Verdict::Elsewhere { event, .. } => event.as_ref(),
        _ => None,
    });
    let besides = named.filter_map(|name| waits().find(|wait| wait.event == *name));
    for event in besides.chain(case.found.commits.iter().map(|commits| &commits.event)) {
        if !events.iter().any(|known| known.event == event.event) {
            events.push(event);
        }
    }
    events
}

const HEADS: [Head; 6] = [
    Head("figure", "", Cells::Words),
    Head("value", "", Cells::Words),
    Head("window", "", Cells::Words),
    Head("file", "", Cells::Words),
    Head("line", "", Cells::Figures),
    Head("table, row and column", "", Cells::Words),
];

/// The table of one subject.
pub(super) fn section(case: &Case<'_>, cases: usize) -> Markup {
    /// Places of a figure: of more, those of the highest values are shown.
    const MOST: usize = 8;
    /// The same where the page is about many.
    const FEW: usize = 2;
    let most = if cases > 10 { FEW } else { MOST };
    let mut rows: Vec<Row> = Vec::new();
    if let Some(split) = &case.found.split {
        let seconds = format!("{} s", number::three(split.database_s));
        rows.push(place(Some(time_id(case.index)), "database time", &seconds, &split.place));
    }
    for (row, event) in events(case).into_iter().enumerate() {
        let value = format!("{} s, {} waits", number::three(event.total_s), number::three(event.count));
        rows.push(place(Some(event_id(case.index, row)), &event.event, &value, &event.place));
    }
    for (row, cache) in case.subject.account.iter().flat_map(|account| &account.caches).enumerate() {
        let id = cache_id(case).filter(|_| row == 0);
        let value = format!(
            "{} reads at {} GiB",
            number::three(cache.reads),
            number::three(cache.size_bytes / f64::from(1 << 30))
        );
        rows.push(place(id, &format!("cache {} {}", cache.pool, cache.instance), &value, &cache.place));
    }
    rows.extend(case.subject.series.iter().flat_map(|series| of_series(case, series, most)));
    html! {
        section id=(section_id(case.index)) {
            h2 { "Where each number was read" @if cases > 1 { ": " (case.name()) } }
            p class="lead" {
                "Of a figure of many windows the highest " (most) " are shown, of waits in several windows the longest; "
                "plimsoll demand --origins has every one."
            }
            (table("Where each number was read", &HEADS, &rows))
        }
    }
}

fn of_series(case: &Case<'_>, series: &Series, most: usize) -> Vec<Row> {
    let figure = |at: &(usize, usize)| {
        let reading = case.readings.get(at.0)?;
        Some((reading, reading.figures.get(at.1)?))
    };
    let mut figures: Vec<_> = series.sources.iter().filter_map(figure).collect();
    figures.sort_by(|a, b| b.1.value.total_cmp(&a.1.value));
    let highest = if series.statistic == Statistic::Maximum { ", highest" } else { "" };
    let name = format!("{}, {}{highest}", series.class.name(), measure_name(series.measure));
    let row = |(index, (reading, figure)): (usize, &(&&plimsoll_ingest::Reading, &plimsoll_ingest::Figure))| {
        let begin = reading.windows.get(figure.window as usize).and_then(|window| window.begin);
        let begin = begin.map_or("\u{2013}".to_owned(), |begin| begin.to_string().replace('T', " "));
        let id = (index == 0).then(|| series_id(case, series));
        cells(id, &name, &shown(figure), &begin, &reading.name, &figure.origin)
    };
    figures.iter().take(most).enumerate().map(row).collect()
}

fn place(id: Option<String>, name: &str, value: &str, place: &Place) -> Row {
    cells(id, name, value, "\u{2013}", &place.input, &place.origin)
}

fn cells(id: Option<String>, name: &str, value: &str, window: &str, file: &str, origin: &Origin) -> Row {
    let line = if origin.line > 0 { origin.line.to_string() } else { "\u{2013}".to_owned() };
    let table = origin.table.as_deref().unwrap_or_default();
    let gap = if table.is_empty() || origin.field.is_empty() { "" } else { ": " };
    let within = format!("{table}{gap}{}", origin.field);
    let texts = [name, value, window, file, &line, &within];
    Row { id, cells: texts.iter().map(|text| html! { (clean(text)) }).collect() }
}

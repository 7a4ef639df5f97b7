//! Origin of each number of a diagnosis: file, line, table and row, with anchors for links.

use plimsoll_choose::diagnosis::{BusyBasis, DiagnosisVerdict};
use plimsoll_ingest::{Class, EventTime, Figure, InputPosition, Measure, MeasureSeries, Origin, Reading, Statistic};
use plimsoll_language::{label, say};

use super::Case;
use super::time::longest_events;
use crate::number;
use crate::page::{Block, Cell, Column, ColumnKind, Link, PageSection, Table, UNKNOWN};
use crate::pages::{format_figure, measure_name};

/// Anchor of the section with a subject's numbers.
pub(super) fn section_id(index: usize) -> String {
    format!("d{index}-origins")
}

/// Anchor of the database time.
pub(super) fn time_id(index: usize) -> String {
    format!("d{index}-o-time")
}

/// Anchor of an event, by its row.
pub(super) fn event_id(index: usize, row: usize) -> String {
    format!("d{index}-o-event-{row}")
}

/// Anchor of the busiest period by the database's own analysis.
fn busy_id(index: usize) -> String {
    format!("d{index}-o-busy")
}

/// Anchor of the database's cache estimates, if any.
pub(super) fn cache_id(case: &Case<'_>) -> Option<String> {
    let account = case.subject.account.as_ref()?;
    (!account.caches.is_empty()).then(|| format!("d{}-o-cache", case.index))
}

/// Anchor of the mean of a measure of a class, if known.
pub(super) fn mean_id(case: &Case<'_>, class: Class, measure: Measure) -> Option<String> {
    case.subject.series(class, measure).map(|series| series_id(case, series))
}

fn series_id(case: &Case<'_>, series: &MeasureSeries) -> String {
    let highest = if series.statistic == Statistic::Maximum { "-maximum" } else { "" };
    format!("d{}-o-{}-{}{highest}", case.index, series.class.name().replace(' ', "-"), measure_name(series.measure))
}

/// Links to the evidence of a verdict.
pub(super) fn of_verdict(case: &Case<'_>, verdict: &DiagnosisVerdict) -> Vec<Link> {
    let index = case.index;
    let link = |anchor: String, name: String| Link { anchor, name };
    let measures = |class: Class, measures: &[Measure]| {
        let one = |measure: &Measure| {
            Some(link(mean_id(case, class, *measure)?, say!("{}, {}", class.label(), measure_name(*measure))))
        };
        measures.iter().filter_map(one).collect()
    };
    let event = |name: &str| {
        let row = list_events(case).iter().position(|event| &*event.event == name);
        row.map(|row| link(event_id(index, row), say!("waits for {name}"))).into_iter().collect()
    };
    match verdict {
        DiagnosisVerdict::Slow { class, .. }
        | DiagnosisVerdict::SlowClass { class, .. }
        | DiagnosisVerdict::AtItsLimit { class, .. }
        | DiagnosisVerdict::SlowOrLoaded { class, .. }
        | DiagnosisVerdict::Transfer { class, .. }
        | DiagnosisVerdict::Many { class, .. }
        | DiagnosisVerdict::Quick { class, .. } => measures(*class, &[Measure::Latency, Measure::Iops]),
        DiagnosisVerdict::Pinned { class: Class::All, measure, .. } => {
            [Class::All, Class::Read, Class::Write].iter().flat_map(|class| measures(*class, &[*measure])).collect()
        }
        DiagnosisVerdict::Pinned { class, measure, .. } => measures(*class, &[*measure]),
        DiagnosisVerdict::Stalled { class, .. } => measures(*class, &[Measure::Depth, Measure::Iops]),
        DiagnosisVerdict::Unequal { .. } => measures(Class::All, &[Measure::Depth, Measure::Latency, Measure::Iops]),
        DiagnosisVerdict::AtCeiling { .. } | DiagnosisVerdict::BelowCeilings { .. } => {
            vec![link(format!("d{index}-ceilings"), label!("its ceilings").into())]
        }
        DiagnosisVerdict::CacheHelps { .. } | DiagnosisVerdict::CacheDoesNot { .. } => {
            cache_id(case).map(|id| link(id, label!("the database's estimates").to_owned())).into_iter().collect()
        }
        DiagnosisVerdict::Tail { event: name, .. }
        | DiagnosisVerdict::SlowEvent { event: name, .. }
        | DiagnosisVerdict::WritersBehind { event: name, .. }
        | DiagnosisVerdict::LogSwitches { event: name, .. }
        | DiagnosisVerdict::Elsewhere { event: Some(name), .. } => event(name),
        DiagnosisVerdict::CommitsElsewhere { .. } | DiagnosisVerdict::CommitsForLog { .. } => {
            case.found.commits.iter().flat_map(|commits| event(&commits.event.event)).collect()
        }
        DiagnosisVerdict::BusyHours(busy) if matches!(busy.basis, BusyBasis::Analysis { .. }) => {
            vec![link(busy_id(index), label!("its analysis").into())]
        }
        DiagnosisVerdict::BusyHours(_) | DiagnosisVerdict::Unusual { .. } | DiagnosisVerdict::Changed { .. } => {
            vec![link(format!("d{index}-history"), label!("its windows").into())]
        }
        DiagnosisVerdict::OneStatement { .. }
        | DiagnosisVerdict::ReadsBy { .. }
        | DiagnosisVerdict::SlowStatement { .. }
        | DiagnosisVerdict::OneFile { .. }
        | DiagnosisVerdict::Autovacuum { .. }
        | DiagnosisVerdict::SessionsWrite { .. } => {
            vec![link(format!("d{index}-works"), label!("the work by part").into())]
        }
        DiagnosisVerdict::NoSessionTimes { .. }
        | DiagnosisVerdict::LongWindows { .. }
        | DiagnosisVerdict::CheckpointsRequested { .. }
        | DiagnosisVerdict::HostPages { .. }
        | DiagnosisVerdict::IdlePaths { .. }
        | DiagnosisVerdict::BufferWaits { .. } => Vec::new(),
        _ if case.found.split.is_none() => Vec::new(),
        _ => {
            vec![
                link(format!("d{index}-time"), label!("its parts").into()),
                link(time_id(index), label!("the database's time").into()),
            ]
        }
    }
}

/// The events in the table of waits, then others that verdicts refer to.
fn list_events<'a>(case: &Case<'a>) -> Vec<&'a EventTime> {
    let mut events = case.found.split.as_ref().map(longest_events).unwrap_or_default();
    let waits = || case.subject.account.iter().flat_map(|account| &account.total.waits);
    let named = case.found.verdicts.iter().filter_map(|verdict| match verdict {
        DiagnosisVerdict::Tail { event, .. }
        | DiagnosisVerdict::SlowEvent { event, .. }
        | DiagnosisVerdict::WritersBehind { event, .. }
        | DiagnosisVerdict::LogSwitches { event, .. } => Some(event),
        DiagnosisVerdict::Elsewhere { event, .. } => event.as_ref(),
        _ => None,
    });
    let besides = named.filter_map(|name| waits().find(|wait| wait.event == *name));
    for event in besides.chain(case.found.commits.iter().map(|commits| &commits.event)) {
        if !events.iter().any(|existing| existing.event == event.event) {
            events.push(event);
        }
    }
    events
}

fn columns() -> [Column; 6] {
    [
        Column::text(label!("figure"), 0),
        Column::text(label!("value"), 0),
        Column::text(label!("window"), 0),
        Column::text(label!("file"), 0),
        Column::new(label!("line"), "", ColumnKind::Share, 0),
        Column::text(label!("table, row and column"), 0),
    ]
}

/// Maximum number of places per figure; those of the highest values are listed.
const PLACES_MAX: usize = 8;
/// The maximum on a page with more than ten cases.
const PLACES_FEW: usize = 2;

/// The origins of a case's numbers.
pub(super) fn section(case: &Case<'_>) -> PageSection {
    let max = if case.count > 10 { PLACES_FEW } else { PLACES_MAX };
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    if let Some(split) = &case.found.split {
        let seconds = format!("{} s", number::three(split.database_s));
        rows.push(place(Some(time_id(case.index)), label!("database time"), &seconds, &split.place));
    }
    let of_split = case.found.split.as_ref().and_then(|split| split.host_busy.zip(split.host.place.as_ref()));
    if let Some((busy, host)) = of_split.or(case.subject.host.as_ref().map(|host| (host.busy, &host.place))) {
        rows.push(place(
            None,
            label!("busy processors of the host"),
            &number::percent((busy * 1e3).round() / 1e3),
            host,
        ));
    }
    let busiest = case.subject.busy_periods.iter().max_by(|a, b| a.active_sessions.total_cmp(&b.active_sessions));
    rows.extend(busiest.map(|period| {
        let value = number::three(period.active_sessions);
        place(Some(busy_id(case.index)), label!("active sessions of the busiest period"), &value, &period.place)
    }));
    for (row, event) in list_events(case).into_iter().enumerate() {
        let value = say!("{} s, {} waits", number::three(event.total_s), number::three(event.count));
        rows.push(place(Some(event_id(case.index, row)), &event.event, &value, &event.place));
    }
    for (row, cache) in case.subject.account.iter().flat_map(|account| &account.caches).enumerate() {
        let id = cache_id(case).filter(|_| row == 0);
        let size = number::three(cache.size_bytes / f64::from(1 << 30));
        let value = say!("{} reads at {size} GiB", number::three(cache.reads));
        rows.push(place(id, &say!("cache {} {}", cache.pool, cache.instance), &value, &cache.place));
    }
    rows.extend(case.subject.series.iter().flat_map(|series| of_series(case, series, max)));
    let note = say!(
        "Figures of many windows: the highest {max}; waits in several windows: the longest. All origins: plimsoll demand \
         --origins."
    );
    let table = Table::of(label!("Origin of each number"), columns(), rows, |row| row).with_notes([note]);
    PageSection::detail(case.title(label!("Origin of each number")), vec![Block::Table(table)])
        .with_anchor(section_id(case.index))
}

fn of_series(case: &Case<'_>, series: &MeasureSeries, max: usize) -> Vec<Vec<Cell>> {
    let figure = |at: &(usize, usize)| {
        let reading = *case.readings.get(at.0)?;
        Some((reading, reading.figures.get(at.1)?))
    };
    let mut figures: Vec<(&Reading, &Figure)> = series.sources.iter().filter_map(figure).collect();
    figures.sort_by(|a, b| b.1.value.total_cmp(&a.1.value));
    let highest = if series.statistic == Statistic::Maximum { label!(", highest") } else { "" };
    let name = say!("{}, {}{highest}", series.class.label(), measure_name(series.measure));
    let row = |(index, (reading, figure)): (usize, &(&Reading, &Figure))| {
        let begin = reading.windows.get(figure.window as usize).and_then(|window| window.begin);
        let begin = begin.map_or(UNKNOWN.to_owned(), |begin| begin.to_string().replace('T', " "));
        let id = (index == 0).then(|| series_id(case, series));
        build_cells(id, &name, &format_figure(figure), &begin, &reading.name, &figure.origin)
    };
    figures.iter().take(max).enumerate().map(row).collect()
}

fn place(id: Option<String>, name: &str, value: &str, place: &InputPosition) -> Vec<Cell> {
    build_cells(id, name, value, UNKNOWN, &place.input, &place.origin)
}

fn build_cells(id: Option<String>, name: &str, value: &str, window: &str, file: &str, origin: &Origin) -> Vec<Cell> {
    let line = if origin.line > 0 { origin.line.to_string() } else { UNKNOWN.to_owned() };
    let table = origin.table.as_deref().unwrap_or_default();
    let gap = if table.is_empty() || origin.field.is_empty() { "" } else { ": " };
    let within = format!("{table}{gap}{}", origin.field);
    let mut cells: Vec<Cell> = [name, value, window, file, &line, &within].into_iter().map(Cell::text).collect();
    cells[0].anchor = id;
    cells
}

//! Tables of session groups: response times, counters of the database and its storage, and time by wait class.

use plimsoll_record::{Estimate, SuiteRun};
use plimsoll_units::Span;

use super::{SessionCurve, SessionPoint};
use crate::number;
use crate::page::{Column, ColumnKind, Table, UNKNOWN};
use crate::words::clean;
use crate::words::database::{PARTS, share, share_of, spent};

fn or_none<T>(value: Option<T>, format: impl FnOnce(T) -> String) -> String {
    value.map_or(UNKNOWN.into(), format)
}

fn all<'a, 'b>(groups: &'b [SessionCurve<'a>]) -> impl Iterator<Item = &'b SessionPoint<'a>> {
    groups.iter().flat_map(|group| &group.points)
}

/// Throughput and response times.
pub(crate) fn responses(groups: &[SessionCurve<'_>]) -> Table {
    let columns = [
        Column::new("step", "", ColumnKind::Text, 0),
        Column::new("sessions", "", ColumnKind::Share, 5),
        Column::new("done", "transactions/s", ColumnKind::Share, 0),
        Column::new("95 % interval", "transactions/s", ColumnKind::Text, 4),
        Column::new("mean", "", ColumnKind::Share, 1),
        Column::new("p50", "", ColumnKind::Share, 0),
        Column::new("p99", "", ColumnKind::Share, 0),
        Column::new("longest", "", ColumnKind::Share, 6),
        Column::new("failed", "", ColumnKind::Share, 3),
        Column::new("rounds", "", ColumnKind::Share, 7),
        Column::new("limit", "", ColumnKind::Text, 2),
    ];
    let rows: Vec<Vec<String>> = all(groups).map(response).collect();
    let mut notes = Vec::new();
    if all(groups).any(|point| point.rounds > 1) {
        notes.push("the median of several rounds is shown".to_owned());
    }
    Table::of_texts(columns, &rows, notes).without_unknown()
}

fn response(point: &SessionPoint<'_>) -> Vec<String> {
    let run = &point.crowd.run;
    let figures = &run.figures;
    let time = |estimate: &Estimate| or_none(number::seen(estimate), number::time);
    let longest = run.total.response().max_ns;
    let between = |(low, high)| format!("{} \u{2013} {}", number::three(low), number::three(high));
    vec![
        point.name(),
        number::whole(f64::from(point.crowd.sessions)),
        number::three(figures.iops.value),
        or_none(number::interval(&figures.iops), between),
        time(&figures.mean_ns),
        time(&figures.p50_ns),
        time(&figures.p99_ns),
        or_none((longest > 0).then_some(longest), |ns| Span::from_nanos(ns).to_string()),
        or_none(Some(run.total.errors()).filter(|errors| *errors > 0), |errors| number::whole(errors as f64)),
        or_none((point.rounds > 1).then_some(point.rounds), |rounds| rounds.to_string()),
        or_none(point.limit(), |limit| limit),
    ]
}

/// Counters of the database and of its storage over the same time.
pub(crate) fn below(suite: &SuiteRun, groups: &[SessionCurve<'_>]) -> Table {
    let columns = [
        Column::new("step", "", ColumnKind::Text, 0),
        Column::new("own cache", "hits", ColumnKind::Share, 6),
        Column::new("block reads", "a second", ColumnKind::Share, 0),
        Column::new("block writes", "a second", ColumnKind::Share, 1),
        Column::new("read takes", "database", ColumnKind::Share, 0),
        Column::new("read takes", "storage", ColumnKind::Share, 0),
        Column::new("page cache", "of reads", ColumnKind::Share, 2),
        Column::new("log flushes", "a second", ColumnKind::Share, 3),
        Column::new("flush takes", "database", ColumnKind::Share, 4),
        Column::new("client", "processors", ColumnKind::Share, 7),
        Column::new("device", "busy", ColumnKind::Share, 8),
    ];
    let block = suite.database.as_ref().map_or(0, |side| side.about.block.get());
    Table::of_texts(columns, &all(groups).map(|point| under(point, block)).collect::<Vec<_>>(), Vec::new())
        .without_unknown()
}

fn under(point: &SessionPoint<'_>, block: u64) -> Vec<String> {
    let (counted, storage) = (&point.crowd.counted, &point.crowd.storage);
    let rate = |count: Option<u64>| or_none(point.per_second(count), number::three);
    let time = |span: Option<Span>| or_none(span.filter(|span| !span.is_zero()), |span| span.to_string());
    let seconds = point.crowd.run.span.as_secs_f64();
    let of_time = |span: Span| (seconds > 0.0).then(|| span.as_secs_f64() / seconds);
    let hits = counted.hits.zip(counted.reads).filter(|(hits, reads)| hits.saturating_add(*reads) > 0);
    let hit_share = hits.map(|(hits, reads)| hits as f64 / hits.saturating_add(reads) as f64);
    let client = point.crowd.client.and_then(|cpu| of_time(cpu.user + cpu.system));
    let busy = storage.disk.as_ref().and_then(|disk| of_time(disk.busy));
    vec![
        point.name(),
        or_none(hit_share, share),
        rate(counted.reads),
        rate(counted.writes),
        time(point.read_as_seen()),
        time(point.read_below()),
        or_none(point.page_cache_share(block), share),
        rate(counted.log_flushes),
        time(counted.log_flush_latency()),
        or_none(client, number::three),
        or_none(busy, share),
    ]
}

/// Drop priority of the wait classes: the least relevant for storage is dropped first.
const RANKS: [u8; 8] = [0, 0, 2, 0, 1, 3, 5, 4];

/// Session time by wait class, if it was sampled.
pub(crate) fn splits(groups: &[SessionCurve<'_>]) -> Table {
    let mut columns = vec![Column::new("step", "", ColumnKind::Text, 0)];
    columns
        .extend(PARTS.iter().zip(RANKS).map(|(part, rank)| Column::new(spent(*part).0, "", ColumnKind::Share, rank)));
    columns.push(Column::new("known by", "", ColumnKind::Text, 6));
    let row = |point: &SessionPoint<'_>| {
        let split = point.crowd.split.as_ref()?;
        let mut cells = vec![point.name()];
        cells.extend(PARTS.iter().map(|part| or_none(share_of(split, *part), share)));
        cells.push(if split.method.is_empty() { UNKNOWN.into() } else { clean(&split.method) });
        Some(cells)
    };
    Table::of_texts(columns, &all(groups).filter_map(row).collect::<Vec<_>>(), Vec::new()).without_unknown()
}

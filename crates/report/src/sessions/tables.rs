//! Tables of session groups: response times, counters of the database and its storage, and time by wait class.

use plimsoll_language::label;
use plimsoll_record::{Estimate, SuiteRun};
use plimsoll_units::Span;

use super::{SessionCurve, SessionPoint};
use crate::number;
use crate::page::{Column, ColumnKind, Table, TableRows};
use crate::suite::median_note;
use crate::words::clean;
use crate::words::database::{PARTS, share, share_of, spent};

/// The loads of all groups.
fn points<'a, 'b>(groups: &'b [SessionCurve<'a>]) -> impl Iterator<Item = &'b SessionPoint<'a>> {
    groups.iter().flat_map(|group| &group.points)
}

fn steps<'a, 'b>(points: impl Iterator<Item = &'b SessionPoint<'a>>) -> TableRows<&'b SessionPoint<'a>>
where
    'a: 'b,
{
    Table::rows("", points).column(Column::text(label!("step"), 0), |point| point.name())
}

/// Throughput and response times.
pub(crate) fn responses(groups: &[SessionCurve<'_>]) -> Table {
    let column = |name, unit, priority| Column::new(name, unit, ColumnKind::Share, priority);
    let time = |estimate: &Estimate| number::value(estimate).map(number::time);
    let table = steps(points(groups))
        .column(column(label!("sessions"), "", 5), |point| number::integer(f64::from(point.session_run.sessions)))
        .column(column(label!("done"), label!("transactions/s"), 0), |point| {
            number::three(point.run().figures.iops.value)
        })
        .column(Column::new(label!("95 % interval"), label!("transactions/s"), ColumnKind::Text, 4), |point| {
            let (low, high) = number::interval(&point.run().figures.iops)?;
            Some(format!("{} \u{2013} {}", number::three(low), number::three(high)))
        })
        .column(column(label!("mean"), "", 1), |point| time(&point.run().figures.mean_ns))
        .column(column("p50", "", 0), |point| time(&point.run().figures.p50_ns))
        .column(column("p99", "", 0), |point| time(&point.run().figures.p99_ns))
        .column(column(label!("longest"), "", 6), |point| {
            let longest = point.session_run.run.total.response().max_ns;
            (longest > 0).then(|| Span::from_nanos(longest).to_string())
        })
        .column(column(label!("failed"), "", 3), |point| {
            let errors = point.session_run.run.total.errors();
            (errors > 0).then(|| number::integer(errors as f64))
        })
        .column(column(label!("rounds"), "", 7), |point| (point.rounds > 1).then(|| point.rounds.to_string()))
        .column(Column::text(label!("limit"), 2), |point| point.limit());
    table.table().with_notes(median_note(points(groups).map(|point| point.rounds))).without_unknown()
}

/// Counters of the database and of its storage over the same time.
pub(crate) fn below(suite: &SuiteRun, groups: &[SessionCurve<'_>]) -> Table {
    let block = suite.database.as_ref().map_or(0, |side| side.about.block.get());
    let column = |name, unit, priority| Column::new(name, unit, ColumnKind::Share, priority);
    let rate = |point: &SessionPoint<'_>, count: Option<u64>| point.per_second(count).map(number::three);
    let time = |span: Option<Span>| span.filter(|span| !span.is_zero()).map(|span| span.to_string());
    let of_time = |point: &SessionPoint<'_>, span: Span| {
        let seconds = point.session_run.run.span.as_secs_f64();
        (seconds > 0.0).then(|| span.as_secs_f64() / seconds)
    };
    steps(points(groups))
        .column(column(label!("own cache"), label!("hits"), 6), |point| {
            let (hits, reads) = point.session_run.counted.hits.zip(point.session_run.counted.reads)?;
            let all = Some(hits.saturating_add(reads)).filter(|all| *all > 0)?;
            Some(share(hits as f64 / all as f64))
        })
        .column(column(label!("block reads"), label!("a second"), 0), |point| {
            rate(point, point.session_run.counted.reads)
        })
        .column(column(label!("block writes"), label!("a second"), 1), |point| {
            rate(point, point.session_run.counted.writes)
        })
        .column(column(label!("read takes"), label!("database"), 0), |point| time(point.read_as_seen()))
        .column(column(label!("read takes"), label!("storage"), 0), |point| time(point.read_below()))
        .column(column(label!("page cache"), label!("of reads"), 2), |point| point.page_cache_share(block).map(share))
        .column(column(label!("log flushes"), label!("a second"), 3), |point| {
            rate(point, point.session_run.counted.log_flushes)
        })
        .column(column(label!("flush takes"), label!("database"), 4), |point| {
            time(point.session_run.counted.log_flush_latency())
        })
        .column(column(label!("client"), label!("processors"), 7), |point| {
            let cpu = point.session_run.client?;
            of_time(point, cpu.user + cpu.system).map(number::three)
        })
        .column(column(label!("device"), label!("busy"), 8), |point| {
            of_time(point, point.session_run.storage.disk.as_ref()?.busy).map(share)
        })
        .table()
        .without_unknown()
}

/// Drop priority of the wait classes: the least relevant for storage is dropped first.
const RANKS: [u8; 8] = [0, 0, 2, 0, 1, 3, 5, 4];

/// Session time by wait class, if it was sampled.
pub(crate) fn splits(groups: &[SessionCurve<'_>]) -> Table {
    let columns = PARTS.iter().zip(RANKS);
    let columns = columns.map(|(part, rank)| (*part, Column::new(spent(*part).0, "", ColumnKind::Share, rank)));
    steps(points(groups).filter(|point| point.session_run.split.is_some()))
        .columns(columns, |point, part| share_of(point.session_run.split.as_ref()?, part).map(share))
        .column(Column::text(label!("known by"), 6), |point| {
            let method = &point.session_run.split.as_ref()?.method;
            (!method.is_empty()).then(|| clean(method))
        })
        .table()
        .without_unknown()
}

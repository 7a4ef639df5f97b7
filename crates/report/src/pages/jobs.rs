//! Results of fio's jobs: the rate of each group, and rates and latencies of each job.

use plimsoll_fio::JobNote;
use plimsoll_fio::print::{DirectionResult, DiskUse, FioReport, JobReport};
use plimsoll_language::{label, say};
use plimsoll_record::{Finding, Source};
use plimsoll_units::Bytes;

use super::curves::findings as build_findings;
use crate::findings;
use crate::number;
use crate::page::{Block, Cell, Column, ColumnKind, Fact, Headline, Page, PageSection, Table};
use crate::words::job_note;
use crate::words::offer::megabytes;
use crate::words::source_word;

/// Names of the directions, in the order of [`JobReport::lanes`].
const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];

/// Results of fio's jobs, notes on their deviations, and doubts about the figures of their target.
pub fn jobs(report: &FioReport, source: &Source, notes: &[JobNote], doubts: &[Finding]) -> Page {
    let groups = group_directions(report);
    let rates: Vec<String> = groups
        .iter()
        .map(|group| {
            let name = if groups.iter().any(|other| other.number != group.number) {
                say!("group {}, {}", group.number, group.direction)
            } else {
                group.direction.to_owned()
            };
            say!("{name} {} IOPS, {} MB/s", number::rate(group.iops()), megabytes(group.bytes_per_second()))
        })
        .collect();
    let text = if rates.is_empty() { label!("no operations").to_owned() } else { rates.join(label!("; ")) };
    let notes = notes.iter().map(|note| Fact::new(label!("note"), job_note(note))).collect();
    let sections = vec![
        PageSection::new(label!("Groups"), vec![Block::Table(group_table(&groups))]),
        PageSection::new(label!("Jobs"), vec![Block::Table(job_table(report))]),
        PageSection::new(label!("Disks"), vec![Block::Table(disk_table(&report.disks))]),
        PageSection::bare(label!("Notes"), vec![Block::Facts(notes)]),
        PageSection::bare(label!("Errors"), vec![Block::Facts(report.jobs.iter().flat_map(errors).collect())]),
        build_findings(&findings::of_target(doubts, source)),
    ];
    Page {
        title: label!("fio jobs").to_owned(),
        subject: vec![say!("{}, {}", report.version, report.created)],
        headline: Some(Headline { text, ..Headline::default() }),
        origin: source_word(source),
        sections,
        ..Page::default()
    }
}

/// Directions of a job that have operations.
fn filter_active(job: &JobReport) -> impl Iterator<Item = (&'static str, &DirectionResult)> {
    DIRECTIONS.into_iter().zip(job.lanes()).filter(|(_, lane)| lane.operations > 0)
}

/// A direction of all jobs of a group.
struct DirectionGroup {
    number: u32,
    direction: &'static str,
    jobs: u32,
    operations: u64,
    bytes: u64,
    /// Of the longest job, as fio divides by it.
    runtime_ms: u64,
}

impl DirectionGroup {
    fn iops(&self) -> f64 {
        per_second(self.operations, self.runtime_ms)
    }

    fn bytes_per_second(&self) -> f64 {
        per_second(self.bytes, self.runtime_ms)
    }
}

fn group_directions(report: &FioReport) -> Vec<DirectionGroup> {
    let mut groups: Vec<DirectionGroup> = Vec::new();
    for job in &report.jobs {
        for (direction, lane) in filter_active(job) {
            let is_same = |group: &&mut DirectionGroup| group.number == job.group && group.direction == direction;
            if let Some(group) = groups.iter_mut().find(is_same) {
                group.jobs += job.members;
                group.operations += lane.operations;
                group.bytes += lane.bytes;
                group.runtime_ms = group.runtime_ms.max(lane.runtime_ms);
            } else {
                let DirectionResult { operations, bytes, runtime_ms, .. } = *lane;
                groups.push(DirectionGroup {
                    number: job.group,
                    direction,
                    jobs: job.members,
                    operations,
                    bytes,
                    runtime_ms,
                });
            }
        }
    }
    groups
}

fn per_second(count: u64, runtime_ms: u64) -> f64 {
    if runtime_ms == 0 { 0.0 } else { count as f64 * 1e3 / runtime_ms as f64 }
}

fn group_table(groups: &[DirectionGroup]) -> Table {
    let share = |name, priority| Column::new(name, "", ColumnKind::Share, priority);
    let count = |count: u32| Cell::figure(count.to_string(), f64::from(count));
    Table::rows(label!("Rates of each group"), groups)
        .column(share(label!("group"), 0), |group| count(group.number))
        .column(Column::text(label!("direction"), 0), |group| group.direction)
        .column(share(label!("jobs"), 2), |group| count(group.jobs))
        .column(Column::rate("IOPS", "", 0), |group| Cell::rate(group.iops()))
        .column(Column::rate(label!("throughput"), "MB/s", 0), |group| throughput(group.bytes_per_second()))
        .column(Column::new(label!("moved"), label!("bytes"), ColumnKind::Size, 3), |group| moved(group.bytes))
        .table()
}

fn job_table(report: &FioReport) -> Table {
    let time =
        |lane: &DirectionResult, ns: f64| (lane.completion.count() > 0).then(|| Cell::figure(number::time(ns), ns));
    let percentiles = [(50.0, "p50", 3), (99.0, "p99", 0), (99.9, "p99.9", 2)];
    let percentiles =
        percentiles.map(|(percent, name, priority)| (percent, Column::time(name, label!("completion"), priority)));
    let lanes =
        report.jobs.iter().flat_map(|job| filter_active(job).map(move |(direction, lane)| (job, direction, lane)));
    Table::rows(label!("Rates and latencies"), lanes)
        .column(Column::new(label!("job"), "", ColumnKind::Name, 0), |(job, ..)| job.name.as_str())
        .column(Column::text(label!("direction"), 0), |(_, direction, _)| *direction)
        .column(Column::rate("IOPS", "", 0), |(.., lane)| Cell::rate(per_second(lane.operations, lane.runtime_ms)))
        .column(Column::rate(label!("throughput"), "MB/s", 1), |(.., lane)| {
            throughput(per_second(lane.bytes, lane.runtime_ms))
        })
        .column(Column::time(label!("mean"), label!("completion"), 0), |(.., lane)| {
            time(lane, lane.completion.moments().mean_ns)
        })
        .columns(percentiles, |(.., lane), percent| {
            lane.completion.percentiles(&[percent]).first().and_then(|ns| time(lane, *ns as f64))
        })
        .column(Column::time(label!("highest"), label!("completion"), 4), |(.., lane)| {
            time(lane, lane.completion.moments().max_ns as f64)
        })
        .column(Column::new(label!("moved"), label!("bytes"), ColumnKind::Size, 5), |(.., lane)| moved(lane.bytes))
        .table()
}

fn disk_table(disks: &[DiskUse]) -> Table {
    let operations = [(0, label!("reads")), (1, label!("writes"))];
    let operations = operations.map(|(index, name)| (index, Column::new(name, "", ColumnKind::Share, 1)));
    Table::rows(label!("Use of disks"), disks)
        .column(Column::text(label!("disk"), 0), |disk| disk.name.as_str())
        .columns(operations, |disk, index: usize| {
            let count = disk.own.operations[index] as f64;
            Cell::figure(number::integer(count), count)
        })
        .column(Column::new(label!("busy"), "", ColumnKind::Share, 0), |disk| {
            Cell::percent(disk.own.busy_percent / 100.0)
        })
        .table()
}

fn throughput(bytes_per_second: f64) -> Cell {
    Cell::figure(megabytes(bytes_per_second), bytes_per_second / 1e6)
}

fn moved(bytes: u64) -> Cell {
    Cell::figure(Bytes::new(bytes).to_string(), bytes as f64)
}

fn errors(job: &JobReport) -> Vec<Fact> {
    let ended =
        job.failure.iter().map(|failure| Fact::caution(label!("failed"), format!("{}: {}", job.name, failure.text)));
    let continued = job.errors.iter().filter(|errors| errors.total > 0).map(|errors| {
        Fact::caution(
            label!("errors"),
            say!("{}: {}, the first: {}", job.name, number::integer(errors.total as f64), errors.text),
        )
    });
    ended.chain(continued).collect()
}

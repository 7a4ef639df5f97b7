//! Results of fio's jobs: the rate of each group, and rates and latencies of each job.

use plimsoll_fio::print::{DirectionResult, DiskUse, FioReport, JobReport};
use plimsoll_units::Bytes;

use crate::number;
use crate::page::{Block, Cell, Column, ColumnKind, Fact, Headline, Page, PageSection, Table};
use crate::words::offer::megabytes;

/// Names of the directions, in the order of [`JobReport::lanes`].
const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];
/// Percentages of the latency columns.
const PERCENTAGES: [f64; 3] = [50.0, 99.0, 99.9];

/// Results of fio's jobs; `origin` is `measured` or `simulated`.
pub fn jobs(report: &FioReport, origin: &'static str) -> Page {
    let groups = groups(report);
    let rates: Vec<String> = groups
        .iter()
        .map(|group| {
            let name = if groups.iter().any(|other| other.number != group.number) {
                format!("group {}, {}", group.number, group.direction)
            } else {
                group.direction.to_owned()
            };
            format!("{name} {} IOPS, {} MB/s", number::rate(group.iops()), megabytes(group.bytes_per_second()))
        })
        .collect();
    let text = if rates.is_empty() { "no operations".to_owned() } else { rates.join("; ") };
    let lanes = report.jobs.iter().flat_map(|job| lanes(job).map(move |(direction, lane)| (job, direction, lane)));
    let sections = vec![
        PageSection::new(
            "Groups",
            vec![Block::Table(Table::of("Rates of each group", group_columns(), &groups, group_row))],
        ),
        PageSection::new("Jobs", vec![Block::Table(Table::of("Rates and latencies", job_columns(), lanes, job_row))]),
        PageSection::new(
            "Disks",
            vec![Block::Table(Table::of("Use of disks", disk_columns(), &report.disks, disk_row))],
        ),
        PageSection::bare("Errors", vec![Block::Facts(report.jobs.iter().flat_map(errors).collect())]),
    ];
    Page {
        title: "fio jobs".to_owned(),
        subject: vec![format!("{}, {}", report.version, report.made)],
        headline: Some(Headline { text, ..Headline::default() }),
        origin,
        sections,
        ..Page::default()
    }
}

/// Directions of a job that have operations.
fn lanes(job: &JobReport) -> impl Iterator<Item = (&'static str, &DirectionResult)> {
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

fn groups(report: &FioReport) -> Vec<DirectionGroup> {
    let mut groups: Vec<DirectionGroup> = Vec::new();
    for job in &report.jobs {
        for (direction, lane) in lanes(job) {
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

fn group_columns() -> [Column; 6] {
    [
        Column::new("group", "", ColumnKind::Share, 0),
        Column::text("direction", 0),
        Column::new("jobs", "", ColumnKind::Share, 2),
        Column::rate("IOPS", "", 0),
        Column::rate("throughput", "MB/s", 0),
        Column::new("moved", "bytes", ColumnKind::Size, 3),
    ]
}

fn group_row(group: &DirectionGroup) -> Vec<Cell> {
    vec![
        Cell::figure(group.number.to_string(), f64::from(group.number)),
        Cell::text(group.direction),
        Cell::figure(group.jobs.to_string(), f64::from(group.jobs)),
        Cell::rate(group.iops()),
        throughput(group.bytes_per_second()),
        moved(group.bytes),
    ]
}

fn job_columns() -> [Column; 10] {
    [
        Column::new("job", "", ColumnKind::Name, 0),
        Column::text("direction", 0),
        Column::rate("IOPS", "", 0),
        Column::rate("throughput", "MB/s", 1),
        Column::time("mean", "completion", 0),
        Column::time("p50", "completion", 3),
        Column::time("p99", "completion", 0),
        Column::time("p99.9", "completion", 2),
        Column::time("highest", "completion", 4),
        Column::new("moved", "bytes", ColumnKind::Size, 5),
    ]
}

fn job_row((job, direction, lane): (&JobReport, &'static str, &DirectionResult)) -> Vec<Cell> {
    let moments = lane.completion.moments();
    let is_timed = lane.completion.count() > 0;
    let time = |ns: f64| if is_timed { Cell::figure(number::time(ns), ns) } else { Cell::unknown() };
    let percentiles = lane.completion.percentiles(&PERCENTAGES);
    let percentile = |index: usize| Cell::or_unknown(percentiles.get(index), |ns| time(*ns as f64));
    vec![
        Cell::text(&job.name),
        Cell::text(direction),
        Cell::rate(per_second(lane.operations, lane.runtime_ms)),
        throughput(per_second(lane.bytes, lane.runtime_ms)),
        time(moments.mean_ns),
        percentile(0),
        percentile(1),
        percentile(2),
        time(moments.max_ns as f64),
        moved(lane.bytes),
    ]
}

fn disk_columns() -> [Column; 4] {
    [
        Column::text("disk", 0),
        Column::new("reads", "", ColumnKind::Share, 1),
        Column::new("writes", "", ColumnKind::Share, 1),
        Column::new("busy", "", ColumnKind::Share, 0),
    ]
}

fn disk_row(disk: &DiskUse) -> Vec<Cell> {
    let [reads, writes] = disk.own.operations.map(|count| Cell::figure(number::whole(count as f64), count as f64));
    vec![Cell::text(&disk.name), reads, writes, Cell::percent(disk.own.busy_percent / 100.0)]
}

fn throughput(bytes_per_second: f64) -> Cell {
    Cell::figure(megabytes(bytes_per_second), bytes_per_second / 1e6)
}

fn moved(bytes: u64) -> Cell {
    Cell::figure(Bytes::new(bytes).to_string(), bytes as f64)
}

fn errors(job: &JobReport) -> Vec<Fact> {
    let ended = job.failure.iter().map(|failure| Fact::caution("failed", format!("{}: {}", job.name, failure.text)));
    let continued = job.errors.iter().filter(|errors| errors.total > 0).map(|errors| {
        Fact::caution(
            "errors",
            format!("{}: {}, the first: {}", job.name, number::whole(errors.total as f64), errors.text),
        )
    });
    ended.chain(continued).collect()
}

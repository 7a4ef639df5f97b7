//! Elapsed times of jobs on configurations.

use std::borrow::Cow;

use plimsoll_choose::elapsed::{JobTimes, JobTimesOn, StorageJob, WindowWork};
use plimsoll_language::{label, say};
use plimsoll_units::Span;

use crate::number;
use crate::page::{Block, Cell, Column, ColumnKind, PageSection, Table};
use crate::words::diagnosis::{self, share};
use crate::words::offer;

/// Jobs with a time for each configuration; `None` without jobs.
pub fn elapsed(found: &JobTimes) -> Option<PageSection> {
    if found.jobs.is_empty() && found.window.is_none() {
        return None;
    }
    let has_totals = found.rows.iter().any(|row| row.total.is_some());
    let has_others = found.jobs.len() > 1 || found.beside_iops.is_some() || found.jobs.iter().any(waits_for_itself);
    let mut columns = vec![Column::configuration()];
    columns.extend(has_totals.then(|| Column::monthly(label!("price"), 0)));
    for job in &found.jobs {
        let column = |unit| Column { name: Cow::Owned(job.name.clone()), ..Column::time("", unit, 0) };
        columns.push(column(label!("alone")));
        columns.extend(has_others.then(|| column(label!("together"))));
    }
    columns.extend(
        found.window.as_ref().map(|_| Column::new(label!("work of"), label!("the inputs"), ColumnKind::Time, 0)),
    );
    let row = |row: &JobTimesOn| {
        let mut cells = vec![Cell::text(offer::configuration(&row.offer))];
        cells.extend(has_totals.then(|| Cell::money(row.total)));
        for time in &row.times {
            cells.push(Cell::or_unknown(time.alone, cell));
            cells.extend(has_others.then(|| Cell::or_unknown(time.beside, cell)));
        }
        cells.extend(found.window.as_ref().map(|_| Cell::or_unknown(row.window, cell)));
        cells
    };
    let table = Table::of(label!("Elapsed times"), columns, &found.rows, row).with_notes(note_jobs(found, has_others));
    Some(PageSection::new(label!("Elapsed times of jobs, simulated"), vec![Block::Table(table)]))
}

/// Sessions that execute a job again and again wait for each other.
fn waits_for_itself(job: &StorageJob) -> bool {
    job.think.is_some() && job.sessions > 1
}

fn note_jobs(found: &JobTimes, has_others: bool) -> Vec<String> {
    let mut notes: Vec<String> = found.jobs.iter().map(describe).collect();
    if has_others {
        let inputs = found.beside_iops.map(|iops| say!("the mean load of the inputs ({} IOPS)", number::three(iops)));
        let others = (found.jobs.len() > 1).then(|| label!("the other jobs").to_owned());
        let itself = found.jobs.iter().any(waits_for_itself).then(|| label!("the other sessions of a job").to_owned());
        let beside: Vec<String> = [inputs, others, itself].into_iter().flatten().collect();
        notes.push(say!(
            "alone: on idle storage; together: beside {}; a dash: not carried, or no model",
            beside.join(label!(" and "))
        ));
    }
    notes.extend(found.window.as_ref().map(describe_window));
    notes
}

/// `batch: 1,000,000 reads of 8 KiB, 1 in flight, and 1,200 s of processor time`.
fn describe(job: &StorageJob) -> String {
    let order = if job.sequential { label!("sequential ") } else { "" };
    let [reads, writes] = [job.reads, job.writes].map(number::integer);
    let reads = (job.reads > 0.0).then(|| match &*reads {
        "1" => say!("1 {order}read"),
        _ => say!("{reads} {order}reads"),
    });
    let writes = (job.writes > 0.0).then(|| match &*writes {
        "1" => say!("1 {order}write"),
        _ => say!("{writes} {order}writes"),
    });
    let operations: Vec<String> = reads.into_iter().chain(writes).collect();
    let cpu = (job.cpu > Span::ZERO).then(|| say!(" and {} of processor time", time(job.cpu)));
    let sessions = match (job.sessions, job.think) {
        (sessions, Some(think)) => say!("; {sessions} sessions, each again after {}", time(think)),
        (1, None) => String::new(),
        (sessions, None) => say!("; shared by {sessions} sessions"),
    };
    say!(
        "{}: {} of {}, {} in flight{}{sessions}",
        job.name,
        operations.join(label!(" and ")),
        job.size,
        job.depth,
        cpu.unwrap_or_default()
    )
}

fn describe_window(work: &WindowWork) -> String {
    let active = number::three(work.active);
    let top = work.top_wait.as_ref().map(|wait| {
        let mean = wait.mean_s().map_or_else(String::new, |mean_s| say!(" of {}", diagnosis::seconds(mean_s)));
        let count = number::integer(wait.count);
        say!("; longest wait for storage: {}, {count} times{mean}, {} of it", wait.event, share(work.top_share))
    });
    let idle = if work.active < 1.0 { label!(" (their database time, as less than one is active)") } else { "" };
    say!(
        "work of the inputs: {} today with {active} active sessions{idle}, and as many then; it changes with the database's time{}",
        time(work.today),
        top.unwrap_or_default()
    )
}

fn cell(span: Span) -> Cell {
    Cell::figure(time(span), span.as_secs_f64())
}

/// An elapsed time: `16.5 ms`, `8,058 s`, `300 min`.
pub(crate) fn time(span: Span) -> String {
    const LONG_S: f64 = 36_000.0;
    match span.as_secs_f64() {
        s if s < 100.0 => span.to_string(),
        s if s < LONG_S => format!("{} s", number::integer(s)),
        s => format!("{} min", number::integer(s / 60.0)),
    }
}

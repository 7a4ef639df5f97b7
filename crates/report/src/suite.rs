//! The steps of a suite as rows, with the rounds of each step side by side.

use plimsoll_language::{label, say};
use plimsoll_record::{Bins, CpuTime, JobRun, StepRun, StepWork, SuiteRun};
use plimsoll_units::Span;

use crate::number;
use crate::page::{Column, ColumnKind, Table};
use crate::words::{clean, product_text, quantity, step_name};

/// A step with results, in its median round.
#[derive(Clone, Debug)]
pub(crate) struct StepRow<'a> {
    pub step: &'a StepRun,
    /// Number of valid rounds.
    pub rounds: usize,
    /// Operations, or files, per second in each round, ascending.
    pub rates: Vec<f64>,
    /// Bytes per second; `None` for steps on files.
    pub bytes_per_second: Option<f64>,
    /// Service time of each operation.
    pub times: Bins,
    /// CPU time as a share of one processor, if known.
    pub cpu: Option<f64>,
    /// The limit that held most operations of a model, and its share of the operations.
    pub bound_by: Option<(&'a str, f64)>,
}

impl StepRow<'_> {
    /// Operations, or files, per second of the median round.
    pub fn rate(&self) -> f64 {
        self.rates[median_round(self.rates.len())]
    }

    /// CPU time in per cent of one processor.
    pub fn processors(&self) -> Option<String> {
        self.cpu.map(|cpu| number::percent((cpu * 1e3).round() / 1e3))
    }
}

/// Index of the median of `rounds` ascending rounds: the lower middle of an even number, so that a row is of a real round.
const fn median_round(rounds: usize) -> usize {
    rounds.saturating_sub(1) / 2
}

/// The valid steps, in the order of their first execution.
pub(crate) fn rows(suite: &SuiteRun) -> Vec<StepRow<'_>> {
    let mut names: Vec<&str> = Vec::new();
    for step in suite.steps.iter().filter(|step| step.counts) {
        if !names.contains(&step.name.as_str()) {
            names.push(&step.name);
        }
    }
    names.iter().filter_map(|name| row(suite, name)).collect()
}

/// Skipped steps with their reasons.
pub(crate) fn skipped(suite: &SuiteRun) -> impl Iterator<Item = (&str, &str)> {
    suite.steps.iter().filter_map(|step| match &step.work {
        StepWork::Skipped { why } => Some((step.name.as_str(), why.as_str())),
        _ => None,
    })
}

/// Maximum number of names to list.
const MAX_NAMES: usize = 3;

/// Definitions of the steps' figures, each once, with the names of the steps that it applies to.
pub(crate) fn meanings<'a>(rows: &[StepRow<'a>]) -> Vec<(String, &'a str)> {
    let mut reported: Vec<(&str, Vec<&str>)> = Vec::new();
    let of_steps = rows.iter().filter_map(|row| Some((quantity(row.step.measures.as_ref()?), &row.step.name)));
    for (measures, name) in of_steps {
        match reported.iter_mut().find(|(existing, _)| *existing == measures) {
            Some((_, names)) => names.push(name),
            None => reported.push((measures, vec![name])),
        }
    }
    let displayed = |names: &[String]| match names {
        _ if names.len() > 1 && names.len() == rows.len() => label!("all of them").into(),
        [first, .., last] if names.len() > MAX_NAMES => say!("{first} to {last} ({} of them)", names.len()),
        _ => names.join(label!("; ")),
    };
    let translate = |names: Vec<&str>| names.into_iter().map(step_name).collect::<Vec<_>>();
    reported.into_iter().map(|(measures, names)| (clean(&displayed(&translate(names))), measures)).collect()
}

fn row<'a>(suite: &'a SuiteRun, name: &str) -> Option<StepRow<'a>> {
    let rounds = suite.steps.iter().filter(|step| step.counts && step.name == name);
    let mut ranked: Vec<(f64, &StepRun)> = rounds.filter_map(|step| Some((rate(step)?, step))).collect();
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (_, step) = *ranked.get(median_round(ranked.len()))?;
    let rates = ranked.iter().map(|(rate, _)| *rate).collect();
    let (bytes_per_second, times, cpu, bound_by) = match &step.work {
        StepWork::Io { jobs, run, span } => {
            let times = measure_times(step, jobs);
            let bytes: u64 = jobs.iter().map(|job| job.total.bytes()).sum();
            let cpu = run.cpu.map(|cpu| (cpu.user + cpu.system).as_secs_f64() / span.as_secs_f64());
            (Some(bytes as f64 / span.as_secs_f64()), times, cpu, dominant_limit(&run.bound_by))
        }
        StepWork::Files { each, span, cpu, .. } => {
            (None, each.clone(), Some((cpu.user + cpu.system).as_secs_f64() / span.as_secs_f64()), None)
        }
        StepWork::Statements(work) => (None, work.each.clone(), busy(work.client, work.span), None),
        StepWork::Sessions(session_run) => {
            let cpu = session_run.client.and_then(|cpu| busy(cpu, session_run.run.span));
            (None, session_run.run.total.response(), cpu, dominant_limit(&session_run.storage.bound_by))
        }
        StepWork::Skipped { .. } => return None,
    };
    Some(StepRow { step, rounds: ranked.len(), rates, bytes_per_second, times, cpu, bound_by })
}

/// The limit that held the largest share of the operations.
fn dominant_limit(bound_by: &[(String, f64)]) -> Option<(&str, f64)> {
    let max = bound_by.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    max.map(|(name, share)| (name.as_str(), *share))
}

/// CPU time as a share of one processor.
fn busy(cpu: CpuTime, span: Span) -> Option<f64> {
    (!span.is_zero()).then(|| (cpu.user + cpu.system).as_secs_f64() / span.as_secs_f64())
}

/// Operations of a step, or commits.
pub(crate) fn count_units(step: &StepRun, jobs: &[JobRun]) -> u64 {
    jobs.iter().map(|job| job.total.units(step.writes_each)).sum()
}

/// Service times of the operations or commits of a step.
pub(crate) fn measure_times(step: &StepRun, jobs: &[JobRun]) -> Bins {
    let mut times = Bins::default();
    for job in jobs {
        times.merge(&job.total.unit_times(step.writes_each));
    }
    times
}

/// Operations, or files, per second; `None` without operations or duration.
fn rate(step: &StepRun) -> Option<f64> {
    let (count, span) = match &step.work {
        StepWork::Io { jobs, span, .. } => (count_units(step, jobs), *span),
        StepWork::Files { files, span, .. } => (*files, *span),
        // A database step has a row even without completed statements.
        StepWork::Statements(work) if work.done == 0 || work.span.is_zero() => return Some(0.0),
        StepWork::Statements(work) => (work.done, work.span),
        StepWork::Sessions(session_run) => return Some(number::value(&session_run.run.figures.iops).unwrap_or(0.0)),
        StepWork::Skipped { .. } => return None,
    };
    (count > 0 && !span.is_zero()).then(|| count as f64 / span.as_secs_f64())
}

/// True for operations on blocks and files; those on databases have separate tables.
fn is_of_storage(row: &StepRow<'_>) -> bool {
    matches!(row.step.work, StepWork::Io { .. } | StepWork::Files { .. })
}

/// The steps on blocks and files as a table.
pub(crate) fn table(suite: &SuiteRun) -> Table {
    let all = rows(suite);
    let steps = || all.iter().filter(|row| is_of_storage(row));
    let share = |name, priority| Column::new(name, "", ColumnKind::Share, priority);
    let time = |row: &StepRow<'_>, quantile: f64| row.times.quantile(quantile).map(|span| span.to_string());
    Table::rows("", steps())
        .column(Column::text(label!("step"), 0), |row| step_name(&row.step.name))
        .column(share(label!("moved"), 0), |row| row.bytes_per_second.map(number::throughput))
        .column(Column::new(label!("done"), label!("a second"), ColumnKind::Share, 0), |row| number::three(row.rate()))
        .column(Column::text(label!("rounds"), 4), |row| match row.rates[..] {
            [] | [_] => None,
            [least, .., max] => Some(say!("{}, {} \u{2013} {}", row.rounds, number::three(least), number::three(max))),
        })
        .column(share(label!("mean"), 0), |row| mean(&row.times))
        .column(share("p50", 2), |row| time(row, 0.5))
        .column(share("p99", 0), |row| time(row, 0.99))
        .column(share("p99.9", 5), |row| time(row, 0.999))
        .column(share(label!("longest"), 1), |row| longest(&row.times))
        .column(share("CPU", 3), |row| row.processors())
        .column(Column::text(label!("limit"), 1), |row| {
            let (name, share) = row.bound_by?;
            Some(say!("{} ({})", product_text(name), number::percent((share * 100.0).round() / 100.0)))
        })
        .table()
        .with_notes(median_note(steps().map(|row| row.rounds)))
        .without_unknown()
}

/// The mean of times, if there are any.
pub(crate) fn mean(times: &Bins) -> Option<String> {
    Some(Span::from_nanos(times.sum_ns.checked_div(times.count)?).to_string())
}

/// The longest of times, if there are any.
pub(crate) fn longest(times: &Bins) -> Option<String> {
    (times.count > 0).then(|| Span::from_nanos(times.max_ns).to_string())
}

/// The note of a table whose steps had these numbers of rounds.
pub(crate) fn median_note(mut rounds: impl Iterator<Item = usize>) -> Option<String> {
    rounds.any(|rounds| rounds > 1).then(|| label!("the median of several rounds is shown").to_owned())
}

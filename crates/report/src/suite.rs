//! The steps of a suite as rows, with the rounds of each step side by side.

use plimsoll_record::{Bins, CpuTime, StepRun, StepWork, SuiteRun};
use plimsoll_units::Span;

use crate::number;
use crate::page::{Column, ColumnKind, Table, UNKNOWN};
use crate::words::clean;

/// Definition of the figures of steps.
pub(crate) const MEANT: &str = "over the whole of each step, from its first operation to its last answer, a final flush \
                                included; times are service times; 1 MB is 1,000,000 bytes";

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
        self.rates[self.rates.len() / 2]
    }
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
const MOST_NAMES: usize = 3;

/// Definitions of the steps' figures, each once, with the names of the steps that it applies to.
pub(crate) fn meanings<'a>(rows: &[StepRow<'a>]) -> Vec<(String, &'a str)> {
    let mut said: Vec<(&str, Vec<&str>)> = Vec::new();
    let of_steps = rows.iter().map(|row| row.step).filter(|step| !step.measures.is_empty());
    for step in of_steps {
        match said.iter_mut().find(|(measures, _)| *measures == step.measures) {
            Some((_, names)) => names.push(&step.name),
            None => said.push((&step.measures, vec![&step.name])),
        }
    }
    let shown = |names: &[&str]| match names {
        _ if names.len() > 1 && names.len() == rows.len() => "all of them".into(),
        [first, .., last] if names.len() > MOST_NAMES => format!("{first} to {last} ({} of them)", names.len()),
        _ => names.join("; "),
    };
    said.into_iter().map(|(measures, names)| (clean(&shown(&names)), measures)).collect()
}

fn row<'a>(suite: &'a SuiteRun, name: &str) -> Option<StepRow<'a>> {
    let rounds = suite.steps.iter().filter(|step| step.counts && step.name == name);
    let mut ranked: Vec<(f64, &StepRun)> = rounds.filter_map(|step| Some((rate(step)?, step))).collect();
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (_, step) = *ranked.get(ranked.len() / 2)?;
    let rates = ranked.iter().map(|(rate, _)| *rate).collect();
    let (bytes_per_second, times, cpu, bound_by) = match &step.work {
        StepWork::Io { jobs, run, span } => {
            let mut times = Bins::default();
            for job in jobs {
                times.merge(&job.total.service());
            }
            let bytes: u64 = jobs.iter().map(|job| job.total.bytes()).sum();
            let most = run.bound_by.iter().max_by(|a, b| a.1.total_cmp(&b.1));
            let cpu = run.cpu.map(|cpu| (cpu.user + cpu.system).as_secs_f64() / span.as_secs_f64());
            (Some(bytes as f64 / span.as_secs_f64()), times, cpu, most.map(|(name, share)| (name.as_str(), *share)))
        }
        StepWork::Files { each, span, cpu, .. } => {
            (None, each.clone(), Some((cpu.user + cpu.system).as_secs_f64() / span.as_secs_f64()), None)
        }
        StepWork::Statements(work) => (None, work.each.clone(), busy(work.client, work.span), None),
        StepWork::Sessions(crowd) => {
            let most = crowd.storage.bound_by.iter().max_by(|a, b| a.1.total_cmp(&b.1));
            let cpu = crowd.client.and_then(|cpu| busy(cpu, crowd.run.span));
            (None, crowd.run.total.response(), cpu, most.map(|(name, share)| (name.as_str(), *share)))
        }
        StepWork::Skipped { .. } => return None,
    };
    Some(StepRow { step, rounds: ranked.len(), rates, bytes_per_second, times, cpu, bound_by })
}

/// CPU time as a share of one processor.
fn busy(cpu: CpuTime, span: Span) -> Option<f64> {
    (!span.is_zero()).then(|| (cpu.user + cpu.system).as_secs_f64() / span.as_secs_f64())
}

/// Operations, or files, per second; `None` without operations or duration.
fn rate(step: &StepRun) -> Option<f64> {
    let (count, span) = match &step.work {
        StepWork::Io { jobs, span, .. } => (jobs.iter().map(|job| job.total.operations()).sum(), *span),
        StepWork::Files { files, span, .. } => (*files, *span),
        // A database step has a row even without completed statements.
        StepWork::Statements(work) if work.done == 0 || work.span.is_zero() => return Some(0.0),
        StepWork::Statements(work) => (work.done, work.span),
        StepWork::Sessions(crowd) => return Some(number::seen(&crowd.run.figures.iops).unwrap_or(0.0)),
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
    let rows: Vec<&StepRow<'_>> = all.iter().filter(|row| is_of_storage(row)).collect();
    let columns = [
        Column::new("step", "", ColumnKind::Text, 0),
        Column::new("moved", "", ColumnKind::Share, 0),
        Column::new("done", "a second", ColumnKind::Share, 0),
        Column::new("rounds", "", ColumnKind::Text, 4),
        Column::new("mean", "", ColumnKind::Share, 0),
        Column::new("p50", "", ColumnKind::Share, 2),
        Column::new("p99", "", ColumnKind::Share, 0),
        Column::new("p99.9", "", ColumnKind::Share, 5),
        Column::new("longest", "", ColumnKind::Share, 1),
        Column::new("CPU", "", ColumnKind::Share, 3),
        Column::new("limit", "", ColumnKind::Text, 1),
    ];
    let cells: Vec<Vec<String>> = rows.iter().map(|row| cells(row)).collect();
    let mut notes = Vec::new();
    if rows.iter().any(|row| row.rounds > 1) {
        notes.push("the median of several rounds is shown".to_owned());
    }
    Table::of_texts(columns, &cells, notes).without_unknown()
}

fn cells(row: &StepRow<'_>) -> Vec<String> {
    let time = |quantile: f64| row.times.quantile(quantile).map_or(UNKNOWN.into(), |span| span.to_string());
    let mean = row.times.sum_ns.checked_div(row.times.count).map(Span::from_nanos);
    let rounds = match row.rates[..] {
        [] | [_] => UNKNOWN.into(),
        [least, .., most] => format!("{}, {} \u{2013} {}", row.rounds, number::three(least), number::three(most)),
    };
    vec![
        row.step.name.clone(),
        row.bytes_per_second.map_or(UNKNOWN.into(), number::throughput),
        number::three(row.rate()),
        rounds,
        mean.map_or(UNKNOWN.into(), |mean| mean.to_string()),
        time(0.5),
        time(0.99),
        time(0.999),
        if row.times.count > 0 { Span::from_nanos(row.times.max_ns).to_string() } else { UNKNOWN.into() },
        row.cpu.map_or(UNKNOWN.into(), |cpu| number::percent((cpu * 1e3).round() / 1e3)),
        row.bound_by.map_or(UNKNOWN.into(), |(name, share)| {
            format!("{name} ({})", number::percent((share * 100.0).round() / 100.0))
        }),
    ]
}

//! Steps as CSV: a row for each step and round.

use plimsoll_load::Pace;
use plimsoll_record::{
    Bins, Counter, CpuTime, DatabaseCounters, DiskCounters, SessionRun, Spent, Statements, StepRun, StepWork, SuiteRun,
    Tally,
};
use plimsoll_units::Span;

use crate::csv::plain;
use crate::number;
use crate::page::{Block, Table};
use crate::suite::{count_units, measure_times};
use crate::words::database::share_of;

/// A step with figures for all kinds of work.
struct StepData<'a> {
    suite: &'a SuiteRun,
    step: &'a StepRun,
    /// `None` for a skipped step.
    totals: Option<StepTotals>,
}

struct StepTotals {
    workers: usize,
    span: Span,
    operations: u64,
    failed: Option<u64>,
    bytes: Option<u64>,
    times: Bins,
    cpu: Option<CpuTime>,
}

/// Column name and accessor.
type Field = (&'static str, fn(&StepData<'_>) -> Option<String>);

/// Counts and times of databases cover the whole span; `block_read_ns`, `disk_read_ns` etc. are sums. `rate_low` and
/// `rate_high` are the ends of the 95 % interval of `iops`. Columns with the prefix `split_` are shares of session
/// time, 0 to 1.
const FIELDS: [Field; 58] = [
    ("suite", |row| Some(row.suite.suite.clone())),
    ("subject", |row| Some(row.suite.subject.name.clone())),
    ("source", |row| Some(row.suite.source.word().to_string())),
    ("step", |row| Some(row.step.name.clone())),
    ("round", |row| Some(row.step.round.to_string())),
    ("counts", |row| Some(row.step.counts.to_string())),
    ("workers", |row| Some(row.totals.as_ref()?.workers.to_string())),
    ("span_s", |row| Some(row.totals.as_ref()?.span.as_secs_f64().to_string())),
    ("operations", |row| Some(row.totals.as_ref()?.operations.to_string())),
    ("failed_operations", |row| Some(row.totals.as_ref()?.failed?.to_string())),
    ("iops", |row| row.per_second(row.totals.as_ref()?.operations)),
    ("bytes_per_s", |row| row.per_second(row.totals.as_ref()?.bytes?)),
    ("mean_ns", |row| Some(row.times()?.sum_ns.checked_div(row.times()?.count)?.to_string())),
    ("p50_ns", |row| quantile(row.times()?, 0.5)),
    ("p99_ns", |row| quantile(row.times()?, 0.99)),
    ("p99.9_ns", |row| quantile(row.times()?, 0.999)),
    ("max_ns", |row| row.times().filter(|times| times.count > 0).map(|times| times.max_ns.to_string())),
    ("user_s", |row| Some(row.totals.as_ref()?.cpu?.user.as_secs_f64().to_string())),
    ("system_s", |row| Some(row.totals.as_ref()?.cpu?.system.as_secs_f64().to_string())),
    ("skipped", |row| if let StepWork::Skipped { why } = &row.step.work { Some(why.clone()) } else { None }),
    ("sessions", |row| Some(row.crowd()?.sessions.to_string())),
    ("offered_per_s", |row| offered(row.crowd()?)),
    ("kinds", |row| Some(kinds(row.crowd()?))),
    ("warm_up_s", |row| Some(plain(row.crowd()?.run.warm_up.as_secs_f64()))),
    ("rate_low", |row| Some(plain(number::interval(&row.crowd()?.run.figures.iops)?.0))),
    ("rate_high", |row| Some(plain(number::interval(&row.crowd()?.run.figures.iops)?.1))),
    ("asked", |row| Some(row.statements()?.requested.to_string())),
    ("wrong", |row| Some(row.statements()?.wrong.to_string())),
    ("cache_hits", |row| Some(row.counted()?.hits?.to_string())),
    ("block_reads", |row| Some(row.counted()?.reads?.to_string())),
    ("block_read_ns", |row| Some(row.counted()?.read_time?.as_nanos().to_string())),
    ("block_writes", |row| Some(row.counted()?.writes?.to_string())),
    ("log_bytes", |row| Some(row.counted()?.log_bytes?.to_string())),
    ("log_flushes", |row| Some(row.counted()?.log_flushes?.to_string())),
    ("log_flush_ns", |row| Some(row.counted()?.log_flush_time?.as_nanos().to_string())),
    ("commits", |row| Some(row.counted()?.commits?.to_string())),
    ("lock_ns", |row| Some(row.counted()?.lock_time?.as_nanos().to_string())),
    ("fetched_bytes", |row| Some(row.counted()?.fetched_bytes?.to_string())),
    ("database_user_s", |row| Some(row.counted()?.cpu?.user.as_secs_f64().to_string())),
    ("database_system_s", |row| Some(row.counted()?.cpu?.system.as_secs_f64().to_string())),
    ("disk_reads", |row| Some(row.disk()?.reads.to_string())),
    ("disk_read_bytes", |row| Some(row.disk()?.read_bytes.to_string())),
    ("disk_read_ns", |row| Some(row.disk()?.read_time.as_nanos().to_string())),
    ("disk_writes", |row| Some(row.disk()?.writes.to_string())),
    ("disk_written_bytes", |row| Some(row.disk()?.written_bytes.to_string())),
    ("disk_write_ns", |row| Some(row.disk()?.write_time.as_nanos().to_string())),
    ("disk_flushes", |row| Some(row.disk()?.flushes.to_string())),
    ("disk_flush_ns", |row| Some(row.disk()?.flush_time.as_nanos().to_string())),
    ("disk_busy_ns", |row| Some(row.disk()?.busy.as_nanos().to_string())),
    ("split_cpu", |row| row.share(Spent::Processor)),
    ("split_reads", |row| row.share(Spent::Reading)),
    ("split_writes", |row| row.share(Spent::Writing)),
    ("split_commits", |row| row.share(Spent::Committing)),
    ("split_locks", |row| row.share(Spent::Locked)),
    ("split_internal", |row| row.share(Spent::Internal)),
    ("split_client", |row| row.share(Spent::Client)),
    ("split_other", |row| row.share(Spent::Other)),
    ("limit", |row| row.crowd()?.limit.as_ref().map(ToString::to_string)),
];

/// A row per step and round, preparation included; an unknown figure is an empty field.
pub(super) fn data(suites: &[SuiteRun]) -> Block {
    let steps = suites.iter().flat_map(|suite| suite.steps.iter().map(move |step| (suite, step)));
    let rows = steps.map(|(suite, step)| {
        let row = StepData { suite, step, totals: totals(step) };
        FIELDS.iter().map(|(_, field)| field(&row).unwrap_or_default()).collect()
    });
    Table::data(&FIELDS.map(|(name, _)| name), rows)
}

impl StepData<'_> {
    fn per_second(&self, count: u64) -> Option<String> {
        let seconds = self.totals.as_ref()?.span.as_secs_f64();
        (seconds > 0.0).then(|| (count as f64 / seconds).to_string())
    }

    fn times(&self) -> Option<&Bins> {
        self.totals.as_ref().map(|totals| &totals.times)
    }

    fn crowd(&self) -> Option<&SessionRun> {
        if let StepWork::Sessions(session_run) = &self.step.work { Some(session_run) } else { None }
    }

    fn statements(&self) -> Option<&Statements> {
        if let StepWork::Statements(work) = &self.step.work { Some(work) } else { None }
    }

    fn counted(&self) -> Option<&DatabaseCounters> {
        self.crowd().map(|session_run| &session_run.counted).or_else(|| Some(&self.statements()?.counted))
    }

    fn disk(&self) -> Option<&DiskCounters> {
        self.crowd()
            .map(|session_run| &session_run.storage)
            .or_else(|| Some(&self.statements()?.storage))?
            .disk
            .as_ref()
    }

    fn share(&self, part: Spent) -> Option<String> {
        Some(share_of(self.crowd()?.split.as_ref()?, part)?.to_string())
    }
}

fn totals(step: &StepRun) -> Option<StepTotals> {
    Some(match &step.work {
        StepWork::Io { jobs, run, span } => {
            let (operations, times) = (count_units(step, jobs), measure_times(step, jobs));
            let sum = |of: fn(&Tally) -> u64| jobs.iter().map(|job| of(&job.total)).sum::<u64>();
            let (failed, bytes) = (Some(sum(Tally::errors)), Some(sum(Tally::bytes)));
            StepTotals { workers: jobs.len(), span: *span, operations, failed, bytes, times, cpu: run.cpu }
        }
        StepWork::Files { files, span, each, cpu } => {
            let (operations, times) = (*files, each.clone());
            StepTotals { workers: 1, span: *span, operations, failed: None, bytes: None, times, cpu: Some(*cpu) }
        }
        StepWork::Statements(work) => {
            let (operations, times, cpu) = (work.done, work.each.clone(), Some(work.client));
            StepTotals { workers: 1, span: work.span, operations, failed: None, bytes: None, times, cpu }
        }
        StepWork::Sessions(session_run) => {
            let (total, span) = (&session_run.run.total, session_run.run.span);
            let (operations, failed, times) = (total.operations(), Some(total.errors()), total.response());
            let workers = session_run.sessions as usize;
            StepTotals { workers, span, operations, failed, bytes: None, times, cpu: session_run.client }
        }
        StepWork::Skipped { .. } => return None,
    })
}

fn quantile(times: &Bins, q: f64) -> Option<String> {
    Some(times.quantile(q)?.as_nanos().to_string())
}

fn offered(session_run: &SessionRun) -> Option<String> {
    if let Pace::Open { rate, .. } = session_run.run.offered { Some(plain(rate.as_f64())) } else { None }
}

/// Transactions by kind: `read 1200; update 300`.
fn kinds(session_run: &SessionRun) -> String {
    let count = |stream: usize| {
        let of_kind = session_run.run.total.0.iter().filter(|counter| usize::from(counter.stream) == stream);
        of_kind.map(Counter::operations).sum::<u64>()
    };
    let each = session_run.kinds.iter().enumerate().map(|(stream, name)| format!("{name} {}", count(stream)));
    each.collect::<Vec<_>>().join("; ")
}

//! Steps for programs: one row for each step and round.

use plimsoll_load::Pace;
use plimsoll_record::{
    Bins, Counter, CpuTime, DatabaseCounters, DiskCounters, SessionRun, Spent, Statements, StepRun, StepWork, SuiteRun,
    Tally,
};
use plimsoll_units::Span;

use crate::csv::plain;
use crate::number;
use crate::page::{Block, Table};
use crate::words::database::share_of;

/// A step with the figures that all kinds of work have.
struct Row<'a> {
    suite: &'a SuiteRun,
    step: &'a StepRun,
    /// `None` for a step that was left out.
    common: Option<Common>,
}

struct Common {
    workers: usize,
    span: Span,
    operations: u64,
    failed: Option<u64>,
    bytes: Option<u64>,
    times: Bins,
    cpu: Option<CpuTime>,
}

/// Name of a column, and its field.
type Field = (&'static str, fn(&Row<'_>) -> Option<String>);

/// Counts and times of databases are those of the whole span: `block_read_ns`, `disk_read_ns` and their like are sums.
/// `rate_low` and `rate_high` are the ends of the 95 % interval of `iops`, and the columns that begin with `split_` are
/// shares of the sessions' time, 0 to 1.
const FIELDS: [Field; 58] = [
    ("suite", |row| Some(row.suite.suite.clone())),
    ("subject", |row| Some(row.suite.subject.name.clone())),
    ("source", |row| text(row.suite.source.word())),
    ("step", |row| Some(row.step.name.clone())),
    ("round", |row| text(row.step.round)),
    ("counts", |row| text(row.step.counts)),
    ("workers", |row| text(row.common.as_ref()?.workers)),
    ("span_s", |row| text(row.common.as_ref()?.span.as_secs_f64())),
    ("operations", |row| text(row.common.as_ref()?.operations)),
    ("failed_operations", |row| text(row.common.as_ref()?.failed?)),
    ("iops", |row| row.per_second(row.common.as_ref()?.operations)),
    ("bytes_per_s", |row| row.per_second(row.common.as_ref()?.bytes?)),
    ("mean_ns", |row| text(row.times()?.sum_ns.checked_div(row.times()?.count)?)),
    ("p50_ns", |row| quantile(row.times()?, 0.5)),
    ("p99_ns", |row| quantile(row.times()?, 0.99)),
    ("p99.9_ns", |row| quantile(row.times()?, 0.999)),
    ("max_ns", |row| row.times().filter(|times| times.count > 0).and_then(|times| text(times.max_ns))),
    ("user_s", |row| seconds(row.common.as_ref()?.cpu?.user)),
    ("system_s", |row| seconds(row.common.as_ref()?.cpu?.system)),
    ("skipped", |row| if let StepWork::Skipped { why } = &row.step.work { Some(why.clone()) } else { None }),
    ("sessions", |row| text(row.crowd()?.sessions)),
    ("offered_per_s", |row| offered(row.crowd()?)),
    ("kinds", |row| Some(kinds(row.crowd()?))),
    ("warm_up_s", |row| Some(plain(row.crowd()?.run.warm_up.as_secs_f64()))),
    ("rate_low", |row| Some(plain(number::interval(&row.crowd()?.run.figures.iops)?.0))),
    ("rate_high", |row| Some(plain(number::interval(&row.crowd()?.run.figures.iops)?.1))),
    ("asked", |row| text(row.statements()?.asked)),
    ("wrong", |row| text(row.statements()?.wrong)),
    ("cache_hits", |row| text(row.counted()?.hits?)),
    ("block_reads", |row| text(row.counted()?.reads?)),
    ("block_read_ns", |row| nanoseconds(row.counted()?.read_time?)),
    ("block_writes", |row| text(row.counted()?.writes?)),
    ("log_bytes", |row| text(row.counted()?.log_bytes?)),
    ("log_flushes", |row| text(row.counted()?.log_flushes?)),
    ("log_flush_ns", |row| nanoseconds(row.counted()?.log_flush_time?)),
    ("commits", |row| text(row.counted()?.commits?)),
    ("lock_ns", |row| nanoseconds(row.counted()?.lock_time?)),
    ("fetched_bytes", |row| text(row.counted()?.fetched_bytes?)),
    ("database_user_s", |row| seconds(row.counted()?.cpu?.user)),
    ("database_system_s", |row| seconds(row.counted()?.cpu?.system)),
    ("disk_reads", |row| text(row.disk()?.reads)),
    ("disk_read_bytes", |row| text(row.disk()?.read_bytes)),
    ("disk_read_ns", |row| nanoseconds(row.disk()?.read_time)),
    ("disk_writes", |row| text(row.disk()?.writes)),
    ("disk_written_bytes", |row| text(row.disk()?.written_bytes)),
    ("disk_write_ns", |row| nanoseconds(row.disk()?.write_time)),
    ("disk_flushes", |row| text(row.disk()?.flushes)),
    ("disk_flush_ns", |row| nanoseconds(row.disk()?.flush_time)),
    ("disk_busy_ns", |row| nanoseconds(row.disk()?.busy)),
    ("split_cpu", |row| row.share(Spent::Processor)),
    ("split_reads", |row| row.share(Spent::Reading)),
    ("split_writes", |row| row.share(Spent::Writing)),
    ("split_commits", |row| row.share(Spent::Committing)),
    ("split_locks", |row| row.share(Spent::Locked)),
    ("split_internal", |row| row.share(Spent::Internal)),
    ("split_client", |row| row.share(Spent::Client)),
    ("split_other", |row| row.share(Spent::Other)),
    ("limit", |row| row.crowd()?.limit.clone()),
];

/// One row per step and round, those that prepare included; an unknown figure is an empty field.
pub(super) fn data(suites: &[SuiteRun]) -> Block {
    let steps = suites.iter().flat_map(|suite| suite.steps.iter().map(move |step| (suite, step)));
    let rows = steps.map(|(suite, step)| {
        let row = Row { suite, step, common: common(&step.work) };
        FIELDS.iter().map(|(_, field)| field(&row).unwrap_or_default()).collect()
    });
    Table::data(&FIELDS.map(|(name, _)| name), rows)
}

impl Row<'_> {
    fn per_second(&self, count: u64) -> Option<String> {
        let seconds = self.common.as_ref()?.span.as_secs_f64();
        (seconds > 0.0).then(|| (count as f64 / seconds).to_string())
    }

    fn times(&self) -> Option<&Bins> {
        self.common.as_ref().map(|common| &common.times)
    }

    fn crowd(&self) -> Option<&SessionRun> {
        if let StepWork::Sessions(crowd) = &self.step.work { Some(crowd) } else { None }
    }

    fn statements(&self) -> Option<&Statements> {
        if let StepWork::Statements(work) = &self.step.work { Some(work) } else { None }
    }

    fn counted(&self) -> Option<&DatabaseCounters> {
        self.crowd().map(|crowd| &crowd.counted).or_else(|| Some(&self.statements()?.counted))
    }

    fn disk(&self) -> Option<&DiskCounters> {
        self.crowd().map(|crowd| &crowd.storage).or_else(|| Some(&self.statements()?.storage))?.disk.as_ref()
    }

    fn share(&self, part: Spent) -> Option<String> {
        text(share_of(self.crowd()?.split.as_ref()?, part)?)
    }
}

fn common(work: &StepWork) -> Option<Common> {
    Some(match work {
        StepWork::Io { jobs, run, span } => {
            let mut times = Bins::default();
            jobs.iter().for_each(|job| times.merge(&job.total.service()));
            let sum = |of: fn(&Tally) -> u64| jobs.iter().map(|job| of(&job.total)).sum::<u64>();
            let (operations, failed, bytes) =
                (sum(Tally::operations), Some(sum(Tally::errors)), Some(sum(Tally::bytes)));
            Common { workers: jobs.len(), span: *span, operations, failed, bytes, times, cpu: run.cpu }
        }
        StepWork::Files { files, span, each, cpu } => {
            let (operations, times) = (*files, each.clone());
            Common { workers: 1, span: *span, operations, failed: None, bytes: None, times, cpu: Some(*cpu) }
        }
        StepWork::Statements(work) => {
            let (operations, times, cpu) = (work.done, work.each.clone(), Some(work.client));
            Common { workers: 1, span: work.span, operations, failed: None, bytes: None, times, cpu }
        }
        StepWork::Sessions(crowd) => {
            let (total, span) = (&crowd.run.total, crowd.run.span);
            let (operations, failed, times) = (total.operations(), Some(total.errors()), total.response());
            let workers = crowd.sessions as usize;
            Common { workers, span, operations, failed, bytes: None, times, cpu: crowd.client }
        }
        StepWork::Skipped { .. } => return None,
    })
}

fn text(value: impl ToString) -> Option<String> {
    Some(value.to_string())
}

fn nanoseconds(span: Span) -> Option<String> {
    text(span.as_nanos())
}

fn seconds(span: Span) -> Option<String> {
    text(span.as_secs_f64())
}

fn quantile(times: &Bins, q: f64) -> Option<String> {
    nanoseconds(times.quantile(q)?)
}

fn offered(crowd: &SessionRun) -> Option<String> {
    if let Pace::Open { rate, .. } = crowd.run.offered { Some(plain(rate.as_f64())) } else { None }
}

/// Transactions by their kind: `read 1200; update 300`.
fn kinds(crowd: &SessionRun) -> String {
    let count = |stream: usize| {
        let of_kind = crowd.run.total.0.iter().filter(|counter| usize::from(counter.stream) == stream);
        of_kind.map(Counter::operations).sum::<u64>()
    };
    let each = crowd.kinds.iter().enumerate().map(|(stream, name)| format!("{name} {}", count(stream)));
    each.collect::<Vec<_>>().join("; ")
}

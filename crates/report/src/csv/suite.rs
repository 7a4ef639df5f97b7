//! A suite as comma-separated values: one row for each step and round.

use plimsoll_load::Pace;
use plimsoll_record::{Bins, Counter, DatabaseCounters, DiskCounters, SessionRun, Spent, StepWork, SuiteRun};
use plimsoll_units::Span;

use super::{plain, row};
use crate::number;
use crate::words::database::{PARTS, share_of};

const HEADER: &[&str] = &[
    "suite",
    "subject",
    "source",
    "step",
    "round",
    "counts",
    "workers",
    "span_s",
    "operations",
    "failed_operations",
    "iops",
    "bytes_per_s",
    "mean_ns",
    "p50_ns",
    "p99_ns",
    "p99.9_ns",
    "max_ns",
    "user_s",
    "system_s",
    "skipped",
];

/// What is known of databases, behind the columns of all suites.
const DATABASE: &[&str] = &[
    "sessions",
    "offered_per_s",
    "kinds",
    "warm_up_s",
    "rate_low",
    "rate_high",
    "asked",
    "wrong",
    "cache_hits",
    "block_reads",
    "block_read_ns",
    "block_writes",
    "log_bytes",
    "log_flushes",
    "log_flush_ns",
    "commits",
    "lock_ns",
    "fetched_bytes",
    "database_user_s",
    "database_system_s",
    "disk_reads",
    "disk_read_bytes",
    "disk_read_ns",
    "disk_writes",
    "disk_written_bytes",
    "disk_write_ns",
    "disk_flushes",
    "disk_flush_ns",
    "disk_busy_ns",
    "split_cpu",
    "split_reads",
    "split_writes",
    "split_commits",
    "split_locks",
    "split_internal",
    "split_client",
    "split_other",
    "limit",
];

/// One row per step and round, those that prepare included. Lines end in CR LF; a figure that is not known is an empty
/// field. Counts and times of databases are those of the whole span; `block_read_ns`, `disk_read_ns` and their like are all
/// of these together, not each. `rate_low` and `rate_high` are the ends of the 95 % interval of `iops`, and the columns that
/// begin with `split_` are shares of the sessions' time, 0 to 1.
pub fn suite_csv(suite: &SuiteRun) -> String {
    let mut out = String::new();
    row(&mut out, HEADER.iter().chain(DATABASE).map(|name| (*name).to_owned()));
    for step in &suite.steps {
        let head = [
            suite.suite.clone(),
            suite.subject.name.clone(),
            suite.source.word().to_owned(),
            step.name.clone(),
            step.round.to_string(),
            step.counts.to_string(),
        ];
        row(&mut out, head.into_iter().chain(figures(&step.work)).chain(database(&step.work)));
    }
    out
}

fn figures(work: &StepWork) -> Vec<String> {
    let (workers, span, operations, failed, bytes, times, cpu) = match work {
        StepWork::Io { jobs, run, span } => {
            let mut times = Bins::default();
            for job in jobs {
                times.merge(&job.total.service());
            }
            let sum = |of: fn(&plimsoll_record::Tally) -> u64| jobs.iter().map(|job| of(&job.total)).sum::<u64>();
            let bytes = Some(sum(plimsoll_record::Tally::bytes));
            let (operations, errors) = (sum(plimsoll_record::Tally::operations), sum(plimsoll_record::Tally::errors));
            (jobs.len(), *span, operations, Some(errors), bytes, times, run.cpu)
        }
        StepWork::Files { files, span, each, cpu } => (1, *span, *files, None, None, each.clone(), Some(*cpu)),
        StepWork::Statements(work) => (1, work.span, work.done, None, None, work.each.clone(), Some(work.client)),
        StepWork::Sessions(crowd) => {
            let total = &crowd.run.total;
            let failed = Some(total.errors());
            let sessions = crowd.sessions as usize;
            (sessions, crowd.run.span, total.operations(), failed, None, total.response(), crowd.client)
        }
        StepWork::Skipped { why } => {
            let mut fields = vec![String::new(); HEADER.len() - 7];
            fields.push(why.clone());
            return fields;
        }
    };
    let seconds = span.as_secs_f64();
    let rate = |count: u64| if seconds > 0.0 { (count as f64 / seconds).to_string() } else { String::new() };
    let quantile = |q: f64| times.quantile(q).map_or(String::new(), |span| span.as_nanos().to_string());
    let optional = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
    vec![
        workers.to_string(),
        seconds.to_string(),
        operations.to_string(),
        optional(failed),
        rate(operations),
        bytes.map_or(String::new(), rate),
        optional(times.sum_ns.checked_div(times.count)),
        quantile(0.5),
        quantile(0.99),
        quantile(0.999),
        optional((times.count > 0).then_some(times.max_ns)),
        cpu.map_or(String::new(), |cpu| cpu.user.as_secs_f64().to_string()),
        cpu.map_or(String::new(), |cpu| cpu.system.as_secs_f64().to_string()),
        String::new(),
    ]
}

/// The columns of databases: empty for work on storage.
fn database(work: &StepWork) -> Vec<String> {
    match work {
        StepWork::Statements(work) => {
            let mut cells = vec![String::new(); 6];
            cells.extend([work.asked.to_string(), work.wrong.to_string()]);
            cells.extend(counted(&work.counted));
            cells.extend(disk(work.storage.disk.as_ref()));
            cells.resize(DATABASE.len(), String::new());
            cells
        }
        StepWork::Sessions(crowd) => of_crowd(crowd),
        _ => vec![String::new(); DATABASE.len()],
    }
}

fn of_crowd(crowd: &SessionRun) -> Vec<String> {
    let run = &crowd.run;
    let offered = match run.offered {
        Pace::Open { rate, .. } => plain(rate.as_f64()),
        Pace::Closed { .. } => String::new(),
    };
    let (low, high) = number::interval(&run.figures.iops).map_or((f64::NAN, f64::NAN), |ends| ends);
    let mut cells = vec![crowd.sessions.to_string(), offered, kinds(crowd), plain(run.warm_up.as_secs_f64())];
    cells.extend([plain(low), plain(high), String::new(), String::new()]);
    cells.extend(counted(&crowd.counted));
    cells.extend(disk(crowd.storage.disk.as_ref()));
    let share = |part: &Spent| crowd.split.as_ref().and_then(|split| share_of(split, *part));
    cells.extend(PARTS.iter().map(|part| share(part).map_or(String::new(), |share| share.to_string())));
    cells.push(crowd.limit.clone().unwrap_or_default());
    cells
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

fn counted(counted: &DatabaseCounters) -> Vec<String> {
    let count = |count: Option<u64>| count.map_or(String::new(), |count| count.to_string());
    let time = |time: Option<Span>| count(time.map(Span::as_nanos));
    let seconds = |time: Option<Span>| time.map_or(String::new(), |time| time.as_secs_f64().to_string());
    vec![
        count(counted.hits),
        count(counted.reads),
        time(counted.read_time),
        count(counted.writes),
        count(counted.log_bytes),
        count(counted.log_flushes),
        time(counted.log_flush_time),
        count(counted.commits),
        time(counted.lock_time),
        count(counted.fetched_bytes),
        seconds(counted.cpu.map(|cpu| cpu.user)),
        seconds(counted.cpu.map(|cpu| cpu.system)),
    ]
}

fn disk(disk: Option<&DiskCounters>) -> [String; 9] {
    let Some(disk) = disk else { return Default::default() };
    [
        disk.reads,
        disk.read_bytes,
        disk.read_time.as_nanos(),
        disk.writes,
        disk.written_bytes,
        disk.write_time.as_nanos(),
        disk.flushes,
        disk.flush_time.as_nanos(),
        disk.busy.as_nanos(),
    ]
    .map(|count| count.to_string())
}

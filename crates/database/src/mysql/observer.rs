//! Counters of a server, and the activities of its sessions.
//!
//! Counters differ between servers; missing counters are absent.

use std::collections::BTreeMap;

use mysql::Conn;
use plimsoll_record::{DatabaseCounters, Spent};
use plimsoll_units::Span;
use serde_json::{Map, Value as Json, json};

use super::activity::{SessionActivity, activities};
use super::session::query_rows;
use super::{snapshots, threads};
use crate::failure::{Failure, FailureKind};
use crate::processes::Processes;
use crate::target::Observer;
use crate::value::{Row, Value};

const STATUS: &str = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_commit', 'Com_xa_commit', \
    'Innodb_buffer_pool_read_requests', 'Innodb_buffer_pool_reads', 'Innodb_pages_read', 'Innodb_pages_written', \
    'Innodb_os_log_written', 'Innodb_os_log_fsyncs', 'Innodb_log_writes', 'Innodb_row_lock_time')";

/// Committed transactions by `InnoDB`'s counters: read-write, read-only with locks or explicit start, and single reads.
/// Disabled unless `innodb_monitor_enable` lists them.
const COMMITS: &str = "SELECT name, count FROM information_schema.innodb_metrics WHERE name IN \
    ('trx_rw_commits', 'trx_ro_commits', 'trx_nl_ro_commits') AND time_enabled IS NOT NULL AND time_disabled IS NULL";

/// Times in picoseconds and counts of calls for data and log files.
const FILES: &str = "SELECT event_name, sum_timer_read, sum_timer_misc FROM performance_schema.file_summary_by_event_name \
    WHERE event_name IN ('wait/io/file/innodb/innodb_data_file', 'wait/io/file/innodb/innodb_log_file')";

const TIMED: &str = "SELECT name, 1 FROM performance_schema.setup_instruments WHERE enabled = 'YES' AND timed = 'YES' AND \
    name IN ('wait/io/file/innodb/innodb_data_file', 'wait/io/file/innodb/innodb_log_file')";

const DATA_FILE: &str = "wait/io/file/innodb/innodb_data_file";
const LOG_FILE: &str = "wait/io/file/innodb/innodb_log_file";

/// Transactions that wait for a lock. The table of transactions lists them individually, but is cached while it is
/// queried more often than every 100 ms.
const WAITING: &str = "SELECT count FROM information_schema.innodb_metrics WHERE name = 'lock_row_lock_current_waits'";

pub(super) struct MysqlObserver {
    conn: Conn,
    process: Option<u32>,
    processes: Option<Processes>,
    capabilities: Capabilities,
}

#[derive(Clone, Copy, Debug, Default)]
struct Capabilities {
    /// `InnoDB` counts every transaction.
    commits: bool,
    /// Reads of data files are timed, and all of them are synchronous.
    read_times: bool,
    /// Calls for log files are timed.
    log_times: bool,
    /// Substitute counter of log flushes if there is no exact counter.
    flushes: Option<&'static str>,
    /// Source of the list of sessions.
    list: List,
}

/// Source of the list of sessions.
#[derive(Clone, Copy, Debug, Default)]
enum List {
    /// `performance_schema.threads`, which takes no locks.
    Threads,
    /// The same, joined with the current wait of each thread.
    ThreadsAndWaits,
    /// `information_schema.processlist` of MariaDB, with thread numbers.
    WithThreads,
    /// `information_schema.processlist` of MySQL.
    #[default]
    Plain,
}

impl MysqlObserver {
    pub(super) fn new(mut conn: Conn, process: Option<u32>) -> Result<Self, Failure> {
        let capabilities = Capabilities::of(&mut conn)?;
        Ok(Self { conn, process, processes: process.and_then(Processes::of), capabilities })
    }

    /// Number of transactions that wait for locks; none without the privilege.
    fn waiting(&mut self) -> Result<usize, Failure> {
        let rows = allowed(query_rows(&mut self.conn, WAITING))?;
        let count = rows.first().and_then(|row| row.first()?.int()).unwrap_or_default();
        Ok(usize::try_from(count).unwrap_or_default())
    }
}

impl Observer for MysqlObserver {
    fn counters(&mut self) -> Result<DatabaseCounters, Failure> {
        let status = pairs(query_rows(&mut self.conn, STATUS)?);
        let status = |name: &str| status.get(name).copied();
        let commits = pairs(if self.capabilities.commits { query_rows(&mut self.conn, COMMITS)? } else { Vec::new() });
        let files = if self.capabilities.read_times || self.capabilities.log_times {
            query_rows(&mut self.conn, FILES)?
        } else {
            Vec::new()
        };
        let time = |file: &str, column: usize| {
            let row = files.iter().find(|row| row.first().and_then(Value::text) == Some(file))?;
            Some(Span::from_nanos(integer(row.get(column)?)? / 1000))
        };
        let requests = status("Innodb_buffer_pool_read_requests").zip(status("Innodb_buffer_pool_reads"));
        let flushes = status("Innodb_os_log_fsyncs").or_else(|| status(self.capabilities.flushes?));
        let explicit = status("Com_commit").map(|commits| commits + status("Com_xa_commit").unwrap_or_default());
        let usage = self.processes.as_mut().and_then(Processes::usage);
        Ok(DatabaseCounters {
            hits: requests.map(|(requests, reads)| requests.saturating_sub(reads)),
            reads: status("Innodb_pages_read"),
            read_time: time(DATA_FILE, 1).filter(|_| self.capabilities.read_times),
            writes: status("Innodb_pages_written"),
            log_bytes: status("Innodb_os_log_written"),
            log_flushes: flushes,
            log_flush_time: time(LOG_FILE, 2).filter(|_| self.capabilities.log_times),
            commits: if self.capabilities.commits { Some(commits.values().sum()) } else { explicit },
            lock_time: status("Innodb_row_lock_time").map(Span::from_millis),
            fetched_bytes: usage.and_then(|usage| usage.read_bytes),
            cpu: usage.map(|usage| usage.cpu),
        })
    }

    fn activity(&mut self, sessions: &[u64]) -> Result<Vec<Spent>, Failure> {
        if sessions.is_empty() {
            return Ok(Vec::new());
        }
        let process = self.process;
        let mut observed: Vec<SessionActivity> = query_rows(&mut self.conn, &self.capabilities.question(sessions))?
            .into_iter()
            .map(|row| {
                let text = |column: usize| row.get(column).and_then(Value::text).unwrap_or_default();
                let thread = row.get(1).and_then(Value::int).and_then(|thread| u32::try_from(thread).ok());
                let now = process.zip(thread).and_then(|(process, thread)| threads::sample(process, thread));
                SessionActivity::new(text(2), text(3), text(4), now)
            })
            .collect();
        let waiting = if observed.iter().any(|observed| observed.may_be_locked()) { self.waiting()? } else { 0 };
        Ok(activities(&mut observed, waiting))
    }

    fn head(&mut self) -> Result<Map<String, Json>, Failure> {
        let found = query_rows(&mut self.conn, snapshots::HEAD)?;
        let line = found.first().and_then(|row| row.first()?.text()).unwrap_or_default();
        Ok(snapshots::parse_head(line).unwrap_or_default())
    }

    fn snapshot(&mut self) -> Result<Map<String, Json>, Failure> {
        let mut lines = Vec::new();
        for question in snapshots::SAMPLE {
            let found = query_rows(&mut self.conn, question)?;
            lines.extend(found.iter().map(|row| row.iter().filter_map(Value::text).collect::<Vec<_>>().join("\t")));
        }
        Ok(snapshots::parse_sample(lines.iter().map(String::as_str), || json!(null)))
    }
}

impl Capabilities {
    fn of(conn: &mut Conn) -> Result<Self, Failure> {
        let found = query_rows(
            conn,
            "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'performance_schema', 'innodb_read_ahead_threshold', \
             'innodb_random_read_ahead', 'innodb_flush_log_at_trx_commit')",
        )?;
        let is = |name: &str, order: &dyn Fn(&str) -> bool| {
            let row = found.iter().find(|row| row.first().and_then(Value::text) == Some(name));
            row.and_then(|row| row.get(1)?.text()).is_some_and(order)
        };
        let mut capabilities = Self {
            commits: allowed(query_rows(conn, COMMITS))?.len() == 3,
            // Every log write is followed by a flush then.
            flushes: is("innodb_flush_log_at_trx_commit", &|value| value == "1").then_some("Innodb_log_writes"),
            list: if is("version", &|value| value.contains("MariaDB")) { List::WithThreads } else { List::Plain },
            ..Self::default()
        };
        if !is("performance_schema", &|value| value == "ON") {
            return Ok(capabilities);
        }
        let instruments = allowed(query_rows(conn, TIMED))?;
        let times = |file: &str| instruments.iter().any(|row| row.first().and_then(Value::text) == Some(file));
        // Read-ahead is timed only until its submission, which is not the time of a read.
        let one_by_one = is("innodb_read_ahead_threshold", &|value| value == "0")
            && is("innodb_random_read_ahead", &|value| value == "OFF");
        capabilities.read_times = one_by_one && times(DATA_FILE);
        capabilities.log_times = times(LOG_FILE);
        let mut answers = |sql: &str| allowed(query_rows(conn, sql)).map(|rows| !rows.is_empty());
        if answers(
            "SELECT 1 FROM information_schema.columns WHERE table_schema = 'performance_schema' AND \
             table_name = 'threads' AND column_name = 'THREAD_OS_ID'",
        )? {
            let noted = answers(
                "SELECT 1 FROM performance_schema.setup_consumers WHERE name = 'events_waits_current' AND enabled = 'YES'",
            )?;
            capabilities.list = if noted { List::ThreadsAndWaits } else { List::Threads };
        }
        Ok(capabilities)
    }

    /// Query for number, thread, command, state and current file call of each session.
    fn question(self, sessions: &[u64]) -> String {
        let numbers: Vec<String> = sessions.iter().map(u64::to_string).collect();
        let numbers = numbers.join(",");
        let threads = |call: &str, join: &str| {
            format!(
                "SELECT t.processlist_id, t.thread_os_id, t.processlist_command, t.processlist_state, {call} \
                 FROM performance_schema.threads t {join} WHERE t.processlist_id IN ({numbers})"
            )
        };
        let listed = |thread: &str| {
            format!(
                "SELECT id, {thread}, command, state, NULL FROM information_schema.processlist WHERE id IN ({numbers})"
            )
        };
        match self.list {
            List::Threads => threads("NULL", ""),
            List::ThreadsAndWaits => threads(
                "e.operation",
                "LEFT JOIN performance_schema.events_waits_current e ON e.thread_id = t.thread_id AND \
                 e.end_event_id IS NULL AND e.event_name LIKE 'wait/io/file/%'",
            ),
            List::WithThreads => listed("tid"),
            List::Plain => listed("NULL"),
        }
    }
}

/// Views without privilege are empty.
fn allowed(found: Result<Vec<Row>, Failure>) -> Result<Vec<Row>, Failure> {
    match found {
        Err(failure) if matches!(failure.kind, FailureKind::Refused | FailureKind::Missing) => Ok(Vec::new()),
        other => other,
    }
}

fn pairs(rows: Vec<Row>) -> BTreeMap<String, u64> {
    rows.into_iter().filter_map(|row| Some((row.first()?.text()?.to_owned(), integer(row.get(1)?)?))).collect()
}

/// A count; sums of picoseconds may exceed `i64`.
fn integer(value: &Value) -> Option<u64> {
    match value {
        Value::Text(text) => text.parse().ok(),
        other => other.int()?.try_into().ok(),
    }
}

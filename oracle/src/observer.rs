//! Observer of an Oracle server: statistics, waits, and activities of sessions.
//!
//! Reads `V$SYSSTAT`, `V$SYSTEM_EVENT` and `V$SESSION`; figures of views without privilege are absent. Not run against
//! a server: see the README.

use plimsoll_database::{Failure, Observer, Row};
use plimsoll_record::{DatabaseCounters, Spent};
use plimsoll_units::Span;

use super::database::visible;
use super::session::OracleSession;
use super::waits;

const STATISTICS: &str = "SELECT name, value FROM v$sysstat WHERE name IN ('session logical reads', 'physical reads', \
    'physical reads cache', 'physical writes', 'redo size', 'user commits', 'physical read total bytes')";

const EVENTS: &str = "SELECT CASE WHEN event LIKE 'enq: T%' THEN 'enq' WHEN event LIKE 'log%' THEN event ELSE 'read' END, \
    SUM(total_waits), SUM(time_waited_micro) FROM v$system_event WHERE event LIKE 'enq: TX%' OR event LIKE 'enq: TM%' \
    OR event IN ('log file parallel write', 'db file sequential read', 'db file scattered read', 'db file parallel read', \
    'direct path read', 'direct path read temp') \
    GROUP BY CASE WHEN event LIKE 'enq: T%' THEN 'enq' WHEN event LIKE 'log%' THEN event ELSE 'read' END";

/// An observer session.
pub(super) struct OracleObserver {
    session: OracleSession,
}

impl OracleObserver {
    pub(super) const fn new(session: OracleSession) -> Self {
        Self { session }
    }
}

impl Observer for OracleObserver {
    fn counters(&mut self) -> Result<DatabaseCounters, Failure> {
        let statistics = visible(&mut self.session, STATISTICS)?;
        let events = visible(&mut self.session, EVENTS)?;
        Ok(counters(&statistics, &events))
    }

    fn activity(&mut self, sessions: &[u64]) -> Result<Vec<Spent>, Failure> {
        if sessions.is_empty() {
            return Ok(Vec::new());
        }
        let numbers = sessions.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let sql = format!("SELECT status, state, wait_class, event FROM v$session WHERE sid IN ({numbers})");
        Ok(visible(&mut self.session, &sql)?.iter().map(activity).collect())
    }
}

fn activity(row: &Row) -> Spent {
    let text = |column: usize| row.get(column).and_then(|value| value.text()).unwrap_or_default();
    match (text(0), text(1)) {
        ("ACTIVE", "WAITING") => waits::activity(text(2), text(3)),
        // The last wait is over: on a processor.
        ("ACTIVE", _) => Spent::Processor,
        _ => Spent::Client,
    }
}

fn counters(statistics: &[Row], events: &[Row]) -> DatabaseCounters {
    let figure = |rows: &[Row], name: &str, column: usize| {
        let row = rows.iter().find(|row| row.first().and_then(|value| value.text()) == Some(name))?;
        row.get(column)?.int().and_then(|value| u64::try_from(value).ok())
    };
    let statistic = |name| figure(statistics, name, 1);
    // An event that never occurred has no row. It is zero if other events have rows.
    let event = |name, column| figure(events, name, column).or_else(|| (!events.is_empty()).then_some(0));
    let time = |name| event(name, 2).map(|us| Span::from_nanos(us.saturating_mul(1000)));
    let (logical, cached) = (statistic("session logical reads"), statistic("physical reads cache"));
    DatabaseCounters {
        hits: logical.zip(cached).map(|(logical, missed)| logical.saturating_sub(missed)),
        reads: statistic("physical reads"),
        read_time: time("read"),
        writes: statistic("physical writes"),
        log_bytes: statistic("redo size"),
        log_flushes: event("log file parallel write", 1),
        log_flush_time: time("log file parallel write"),
        commits: statistic("user commits"),
        lock_time: time("enq"),
        fetched_bytes: statistic("physical read total bytes"),
        cpu: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_database::Value;

    #[test]
    fn statistics_become_counters() {
        let statistic = |name: &str, value: i64| vec![name.into(), Value::Int(value)];
        let statistics =
            [statistic("session logical reads", 100), statistic("physical reads cache", 30), statistic("redo size", 7)];
        let events = [vec!["read".into(), Value::Int(3), Value::Int(5)]];
        let counted = counters(&statistics, &events);
        assert_eq!((counted.hits, counted.reads, counted.log_bytes), (Some(70), None, Some(7)));
        assert_eq!(counted.read_time, Some(Span::from_nanos(5000)));
        assert_eq!((counted.log_flushes, counted.lock_time), (Some(0), Some(Span::from_nanos(0))));
        assert_eq!(counters(&[], &[]), DatabaseCounters::default());
    }

    #[test]
    fn activity_follows_session_row() {
        let check = |row: [&str; 4], expected| assert_eq!(activity(&row.map(Value::from).to_vec()), expected);
        check(["ACTIVE", "WAITING", "Commit", "log file sync"], Spent::Committing);
        check(["ACTIVE", "WAITED SHORT TIME", "Commit", "log file sync"], Spent::Processor);
        check(["INACTIVE", "WAITING", "Idle", "SQL*Net message from client"], Spent::Client);
    }
}

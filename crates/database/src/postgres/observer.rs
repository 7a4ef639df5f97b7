//! An observer session: counters, activities of sessions, and collected snapshots.
//!
//! Runs in a single read-only transaction that never ends, because its queries would otherwise count as commits.
//! Between queries the transaction has no snapshot, so that it does not hold back vacuum.

use std::sync::Arc;

use plimsoll_language::label;
use plimsoll_record::{DatabaseCounters, Spent};
use plimsoll_units::Span;
use serde_json::{Map, Value as Json};

use super::activity::activity;
use super::place::PostgresLocation;
use super::session::PostgresSession;
use super::{about, collected};
use crate::failure::{Failure, FailureKind};
use crate::processes::Processes;
use crate::target::{Observer, Session};
use crate::value::{Row, Value};

/// Opens the transaction. Without `pg_stat_clear_snapshot` statistics would stay those of its first query.
const OPEN: &str = "SET idle_in_transaction_session_timeout = 0; SET statement_timeout = '30s'; SET jit = off; \
                    BEGIN TRANSACTION READ ONLY";
/// Discards cached statistics. Its empty row is not returned, because another statement follows.
const CLEAR_STATISTICS: &str = "SELECT pg_stat_clear_snapshot()";

pub(super) struct PostgresObserver {
    talk: PostgresSession,
    version: u64,
    counters: String,
    /// Query of snapshots, once the head has been read.
    snapshot: Option<String>,
    processes: Option<Processes>,
}

impl PostgresObserver {
    pub(super) fn open(place: &Arc<PostgresLocation>, server: &about::ServerFacts) -> Result<Self, Failure> {
        let mut talk = PostgresSession::open(place)?;
        // Version 17 added a timeout of transactions.
        if server.version >= 170_000 {
            talk.run("SET transaction_timeout = 0")?;
        }
        talk.run(OPEN)?;
        let processes = server.postmaster.and_then(Processes::of);
        Ok(Self { talk, version: server.version, counters: counters(server.version), snapshot: None, processes })
    }

    /// Rows of a query with current statistics.
    fn query(&mut self, query: &str) -> Result<Vec<Row>, Failure> {
        let result = self.talk.rows(&format!("{CLEAR_STATISTICS}; {query}"));
        if result.as_ref().is_err_and(|failure| failure.kind != FailureKind::Lost) {
            self.talk.run("ROLLBACK; BEGIN TRANSACTION READ ONLY")?;
        }
        result
    }

    fn object(&mut self, query: &str) -> Result<Map<String, Json>, Failure> {
        let rows = self.query(query)?;
        let text = rows.first().and_then(|row| row.first()).and_then(Value::text).unwrap_or_default();
        match serde_json::from_str(text) {
            Ok(Json::Object(object)) => Ok(object),
            _ => Err(Failure::new(
                FailureKind::Statement,
                label!("PostgreSQL's counters are not a JSON object: report this"),
            )),
        }
    }
}

impl Observer for PostgresObserver {
    fn counters(&mut self) -> Result<DatabaseCounters, Failure> {
        let query = self.counters.clone();
        let rows = self.query(&query)?;
        let row = rows.first().map(Vec::as_slice).unwrap_or_default();
        let number = |column: usize| row.get(column)?.int().map(i64::unsigned_abs);
        // PostgreSQL reports fractional milliseconds.
        let time = |column: usize| Some(Span::from_nanos((row.get(column)?.float()? * 1e6).round() as u64));
        let used = self.processes.as_mut().and_then(Processes::usage);
        Ok(DatabaseCounters {
            hits: number(0),
            reads: number(1),
            read_time: time(2),
            commits: number(3),
            writes: number(4),
            log_bytes: number(5),
            log_flushes: number(6),
            log_flush_time: time(7),
            lock_time: None,
            fetched_bytes: used.and_then(|used| used.read_bytes),
            cpu: used.map(|used| used.cpu),
        })
    }

    fn activity(&mut self, sessions: &[u64]) -> Result<Vec<Spent>, Failure> {
        if sessions.is_empty() {
            return Ok(Vec::new());
        }
        let list = sessions.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let query = format!("SELECT state, wait_event_type, wait_event FROM pg_stat_activity WHERE pid IN ({list})");
        let rows = self.query(&query)?;
        let text = |row: &Row, column: usize| row.get(column).and_then(Value::text).map(str::to_owned);
        let one = |row: &Row| {
            let (state, kind, event) = (text(row, 0), text(row, 1), text(row, 2));
            activity(state.as_deref(), kind.as_deref(), event.as_deref())
        };
        Ok(rows.iter().filter_map(one).collect())
    }

    fn head(&mut self) -> Result<Map<String, Json>, Failure> {
        let mut head = self.object(collected::HEAD)?;
        head.remove("num");
        let statements = head.remove("statements") == Some(Json::Bool(true));
        self.snapshot = Some(collected::snapshot(self.version, statements));
        Ok(head)
    }

    fn snapshot(&mut self) -> Result<Map<String, Json>, Failure> {
        if self.snapshot.is_none() {
            self.head()?;
        }
        let query = self.snapshot.clone().unwrap_or_default();
        self.object(&query)
    }
}

/// Query of all counters of this database and of the server.
fn counters(version: u64) -> String {
    // Untimed I/O is NULL, not zero.
    let timed = |setting: &str, time: &str| format!("CASE WHEN current_setting('{setting}') = 'on' THEN {time} END");
    // Version 16 added a view of all I/O, with sizes in bytes from 18 on.
    let writes = match version {
        180_000.. => {
            "(SELECT sum(coalesce(write_bytes, 0) + coalesce(extend_bytes, 0)) / current_setting('block_size')::int \
             FROM pg_stat_io WHERE object <> 'wal')"
        }
        160_000.. => "(SELECT sum(coalesce(writes, 0) + coalesce(extends, 0)) FROM pg_stat_io)",
        _ => "(SELECT buffers_checkpoint + buffers_clean + buffers_backend FROM pg_stat_bgwriter)",
    };
    // Bytes, flushes and their time; version 18 moved flushes to `pg_stat_io`.
    let log = match version {
        180_000.. => {
            let of = |figure: &str| format!("(SELECT sum({figure}) FROM pg_stat_io WHERE object = 'wal')");
            let time = timed("track_wal_io_timing", &of("fsync_time"));
            format!("(SELECT wal_bytes FROM pg_stat_wal)::bigint, {}::bigint, {time}::float8", of("fsyncs"))
        }
        140_000.. => {
            let time = timed("track_wal_io_timing", "(SELECT wal_sync_time FROM pg_stat_wal)");
            format!(
                "(SELECT wal_bytes FROM pg_stat_wal)::bigint, (SELECT wal_sync FROM pg_stat_wal)::bigint, {time}::float8"
            )
        }
        _ => {
            let at = "CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END";
            format!("(({at}) - '0/0'::pg_lsn)::bigint, NULL::bigint, NULL::float8")
        }
    };
    let read_time = timed("track_io_timing", "blk_read_time");
    format!(
        "SELECT blks_hit, blks_read, {read_time}::float8, xact_commit, {writes}::bigint, {log} \
         FROM pg_stat_database WHERE datname = current_database()"
    )
}

#[cfg(test)]
mod tests {
    use super::counters;

    #[test]
    fn queries_match_server_version() {
        let has = |version, text: &str| counters(version).contains(text);
        assert!(has(180_000, "write_bytes") && has(180_000, "fsync_time") && !has(180_000, "wal_sync_time"));
        assert!(has(170_000, "pg_stat_io") && has(170_000, "wal_sync_time") && !has(170_000, "pg_stat_bgwriter"));
        assert!(has(150_013, "buffers_backend") && has(150_013, "wal_sync") && !has(150_013, "pg_stat_io"));
        assert!(has(120_000, "pg_current_wal_lsn") && !has(120_000, "pg_stat_wal"));
        // Versions 12 and 13 do not time the WAL.
        assert!(!has(130_000, "track_wal_io_timing"));
    }
}

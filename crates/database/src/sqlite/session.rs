//! A session: a connection to the file with a stopwatch.

use plimsoll_record::Spent;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use plimsoll_language::label;
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::types::ValueRef;
use rusqlite::{Batch, Connection, InterruptHandle, Statement, ffi};

use super::failure;
use super::gate::Gate;
use super::ledger::WalLedger;
use super::stopwatch::Stopwatch;
use crate::digest::RowDigest;
use crate::failure::{Failure, FailureKind};
use crate::target::{Answer, Cancel, Prepared, Session};
use crate::value::{Row, Value};

const CACHED_STATEMENTS: usize = 512;
/// Writers of other processes are not in the queue: poll interval of their lock.
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Locking and checkpointing of a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct SessionOptions {
    pub(super) busy_timeout: Duration,
    /// Log pages that trigger a checkpoint after a commit; 0 disables it.
    pub(super) checkpoint_pages: u64,
    /// The file is on a block device, so that Linux counts reads per thread.
    pub(super) on_device: bool,
}

pub(super) struct SqliteSession {
    connection: Connection,
    statements: Vec<Arc<str>>,
    shared: SessionsState,
    timing: Arc<Mutex<Timing>>,
    cancelled: Arc<AtomicBool>,
    busy_timeout: Duration,
    /// Holds the gate, because its transaction writes.
    inside: Cell<bool>,
}

/// State shared by all sessions of a database.
#[derive(Clone, Default)]
pub(super) struct SessionsState {
    pub(super) ledger: Arc<WalLedger>,
    pub(super) gate: Arc<Gate>,
}

/// Stopwatch of a session.
#[derive(Debug)]
struct Timing {
    watch: Stopwatch,
    /// Activity that waiting now would count as.
    waiting: Spent,
}

impl Timing {
    fn lap(&mut self, ledger: &WalLedger, next: Spent) {
        ledger.add(self.watch.lap(), self.waiting);
        self.waiting = next;
    }
}

impl SqliteSession {
    /// Turns a configured connection into a session.
    pub(super) fn new(
        mut connection: Connection,
        shared: SessionsState,
        session_options: SessionOptions,
    ) -> rusqlite::Result<Self> {
        connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
        let timing =
            Arc::new(Mutex::new(Timing { watch: Stopwatch::new(session_options.on_device), waiting: Spent::Reading }));
        let cancelled = Arc::new(AtomicBool::new(false));
        watch_commits(&mut connection, &shared.ledger, &timing, session_options.checkpoint_pages)?;
        wait_for_locks(&mut connection, &shared.ledger, &timing, &cancelled, session_options.busy_timeout)?;
        let (busy_timeout, inside) = (session_options.busy_timeout, Cell::new(false));
        Ok(Self { connection, statements: Vec::new(), shared, timing, cancelled, busy_timeout, inside })
    }

    /// Runs `act`, and accounts its time.
    fn timed<T>(&self, sql: &str, act: impl FnOnce(&Self) -> Result<T, rusqlite::Error>) -> Result<T, Failure> {
        self.cancelled.store(false, Relaxed);
        {
            let mut timing = locked(&self.timing);
            timing.waiting = Spent::Reading;
            timing.watch.start();
        }
        let outcome = act(self);
        if self.inside.get() && self.connection.is_autocommit() {
            self.inside.set(false);
            self.shared.gate.leave();
        }
        locked(&self.timing).lap(&self.shared.ledger, Spent::Reading);
        outcome.map_err(|error| {
            let failure = failure::of_statement(&error, sql);
            // A cancelled lock wait ends like a timeout.
            let cancelled = failure.kind == FailureKind::Conflict && self.cancelled.load(Relaxed);
            if cancelled { Failure { kind: FailureKind::Cancelled, ..failure } } else { failure }
        })
    }

    fn statement(&self, prepared: Prepared) -> Result<&Arc<str>, Failure> {
        self.statements.get(prepared.0).ok_or_else(|| {
            Failure::new(FailureKind::Statement, label!("this statement was prepared by another session"))
        })
    }

    /// Runs a cached statement, and passes each row to `row`.
    fn each(&self, sql: &str, values: &[Value], row: impl FnMut(&rusqlite::Row, usize)) -> Result<u64, Failure> {
        self.timed(sql, |session| {
            let mut statement = session.connection.prepare_cached(sql)?;
            bind(&mut statement, values)?;
            session.step(&mut statement, row)
        })
    }

    /// Waits for the gate, unless this session holds it.
    fn enter(&self) -> rusqlite::Result<()> {
        if self.inside.get() || self.shared.gate.try_enter() {
            self.inside.set(true);
            return Ok(());
        }
        let meanwhile = locked(&self.timing).waiting;
        locked(&self.timing).lap(&self.shared.ledger, Spent::Locked);
        self.inside.set(self.shared.gate.enter(self.busy_timeout, &self.cancelled));
        locked(&self.timing).lap(&self.shared.ledger, meanwhile);
        if self.inside.get() { Ok(()) } else { Err(sqlite_error(ffi::SQLITE_BUSY)) }
    }

    /// Steps through a statement, and returns the number of changed rows.
    fn step(&self, statement: &mut Statement, mut row: impl FnMut(&rusqlite::Row, usize)) -> rusqlite::Result<u64> {
        let columns = statement.column_count();
        if !statement.readonly() {
            self.enter()?;
        }
        let before = self.connection.total_changes();
        let mut rows = statement.raw_query();
        while let Some(found) = rows.next()? {
            row(found, columns);
        }
        drop(rows);
        let changed = self.connection.total_changes() != before;
        Ok(if changed { self.connection.changes() } else { 0 })
    }

    /// Runs a statement that begins or ends a transaction.
    fn bound(&self, sql: &str) -> Result<(), Failure> {
        self.each(sql, &[], |_, _| {}).map(drop)
    }
}

impl Session for SqliteSession {
    fn read_only(&mut self) -> Result<(), Failure> {
        self.run("PRAGMA query_only = ON").map(drop)
    }

    fn run(&mut self, sql: &str) -> Result<Answer, Failure> {
        self.timed(sql, |session| {
            let mut answer = Answer::default();
            let mut batch = Batch::new(&session.connection, sql);
            while let Some(mut statement) = batch.next()? {
                if session.cancelled.load(Relaxed) {
                    return Err(sqlite_error(ffi::SQLITE_INTERRUPT));
                }
                answer.changed +=
                    session.step(&mut statement, |row, columns| answer.count(digest_row(row, columns)))?;
            }
            Ok(answer)
        })
    }

    fn rows(&mut self, sql: &str) -> Result<Vec<Row>, Failure> {
        let mut found = Vec::new();
        self.each(sql, &[], |row, columns| found.push(values(row, columns)))?;
        Ok(found)
    }

    fn prepare(&mut self, sql: &str) -> Result<Prepared, Failure> {
        self.timed(sql, |session| session.connection.prepare_cached(sql).map(drop))?;
        self.statements.push(sql.into());
        Ok(Prepared(self.statements.len() - 1))
    }

    fn execute(&mut self, prepared: Prepared, values: &[Value]) -> Result<Answer, Failure> {
        let mut answer = Answer::default();
        let sql = self.statement(prepared)?;
        answer.changed = self.each(sql, values, |row, columns| answer.count(digest_row(row, columns)))?;
        Ok(answer)
    }

    fn fetch(&mut self, prepared: Prepared, values: &[Value]) -> Result<Vec<Row>, Failure> {
        let mut found = Vec::new();
        let sql = self.statement(prepared)?;
        self.each(sql, values, |row, columns| found.push(self::values(row, columns)))?;
        Ok(found)
    }

    /// Takes the write lock at once: a transaction that reads first and writes later fails if another session wrote in
    /// between.
    fn begin(&mut self) -> Result<(), Failure> {
        self.bound("BEGIN IMMEDIATE")
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.bound("COMMIT")
    }

    fn rollback(&mut self) -> Result<(), Failure> {
        // A full disk and a cancelled statement roll back automatically.
        if self.connection.is_autocommit() {
            return Ok(());
        }
        self.bound("ROLLBACK")
    }

    fn cancel(&self) -> Box<dyn Cancel> {
        Box::new(SqliteCancel {
            handle: self.connection.get_interrupt_handle(),
            cancelled: Arc::clone(&self.cancelled),
            gate: Arc::clone(&self.shared.gate),
        })
    }
}

impl Drop for SqliteSession {
    /// Releases its locks.
    fn drop(&mut self) {
        let _ = self.rollback();
        if self.inside.get() {
            self.shared.gate.leave();
        }
    }
}

/// Cancels a statement from another thread.
struct SqliteCancel {
    handle: InterruptHandle,
    cancelled: Arc<AtomicBool>,
    gate: Arc<Gate>,
}

impl Cancel for SqliteCancel {
    fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
        self.handle.interrupt();
        self.gate.wake_all();
    }
}

/// Marks the begin of commits and the end of log writes for the stopwatch, and checkpoints a long log.
fn watch_commits(
    connection: &mut Connection,
    ledger: &Arc<WalLedger>,
    timing: &Arc<Mutex<Timing>>,
    checkpoint_pages: u64,
) -> rusqlite::Result<()> {
    let (at, times) = (Arc::clone(ledger), Arc::clone(timing));
    connection.commit_hook(Some(move || {
        locked(&times).lap(&at, Spent::Committing);
        at.committed();
        false
    }))?;
    let (at, times) = (Arc::clone(ledger), Arc::clone(timing));
    connection.wal_hook(Some(move |log: &mut rusqlite::hooks::Wal, pages: i32| {
        let pages = u64::try_from(pages).unwrap_or_default();
        locked(&times).lap(&at, Spent::Writing);
        at.log_is(pages);
        if checkpoint_pages > 0 && pages >= checkpoint_pages {
            // The transaction is durable without it. If readers prevent the checkpoint, a later commit repeats it.
            let _ = log.checkpoint();
        }
        Ok(())
    }))
}

/// Waits for locks of other processes, and for brief locks of commits and checkpoints of this process.
fn wait_for_locks(
    connection: &mut Connection,
    ledger: &Arc<WalLedger>,
    timing: &Arc<Mutex<Timing>>,
    cancelled: &Arc<AtomicBool>,
    timeout: Duration,
) -> rusqlite::Result<()> {
    let (ledger, timing, cancelled) = (Arc::clone(ledger), Arc::clone(timing), Arc::clone(cancelled));
    let mut since = Instant::now();
    connection.busy_handler(Some(move |tries: i32| {
        if tries == 0 {
            since = Instant::now();
        }
        let left = timeout.saturating_sub(since.elapsed());
        if left.is_zero() || cancelled.load(Relaxed) {
            return false;
        }
        let mut timing = locked(&timing);
        let meanwhile = timing.waiting;
        timing.lap(&ledger, Spent::Locked);
        std::thread::sleep(left.min(LOCK_POLL_INTERVAL));
        timing.lap(&ledger, meanwhile);
        !cancelled.load(Relaxed)
    }))
}

fn sqlite_error(code: i32) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
}

/// Poisoning is harmless: the state is always consistent.
fn locked(timing: &Mutex<Timing>) -> MutexGuard<'_, Timing> {
    timing.lock().unwrap_or_else(PoisonError::into_inner)
}

fn bind(statement: &mut Statement, values: &[Value]) -> rusqlite::Result<()> {
    let order = statement.parameter_count();
    if order != values.len() {
        return Err(rusqlite::Error::InvalidParameterCount(values.len(), order));
    }
    for (index, value) in values.iter().enumerate() {
        let at = index + 1;
        match value {
            Value::Null => statement.raw_bind_parameter(at, rusqlite::types::Null),
            Value::Int(value) => statement.raw_bind_parameter(at, value),
            Value::Float(value) => statement.raw_bind_parameter(at, value),
            Value::Text(text) => statement.raw_bind_parameter(at, text),
            Value::Bytes(bytes) => statement.raw_bind_parameter(at, bytes),
        }?;
    }
    Ok(())
}

fn digest_row(row: &rusqlite::Row, columns: usize) -> RowDigest {
    let mut digest = RowDigest::new();
    for column in 0..columns {
        match row.get_ref_unwrap(column) {
            ValueRef::Null => digest.null(),
            ValueRef::Integer(value) => digest.int(value),
            ValueRef::Real(value) => digest.float(value),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => digest.bytes(bytes),
        }
    }
    digest
}

fn values(row: &rusqlite::Row, columns: usize) -> Row {
    let value = |column| match row.get_ref_unwrap(column) {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Int(value),
        ValueRef::Real(value) => Value::Float(value),
        ValueRef::Text(bytes) => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    };
    (0..columns).map(value).collect()
}

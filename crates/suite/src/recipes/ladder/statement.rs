//! Statement of the ladder, comparison of its results, and the generated table.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use plimsoll_database::{Failure, FailureKind, Session, System};
use plimsoll_units::Bytes;

use crate::recipes::numbers::{numbers, parts};
use crate::sql::{StatementsStep, TransactionRunner, Transactions};
use crate::step::Step;

/// Bytes per row in a block, with overhead, in every system: eight rows in a block of 8 KiB, four in 4 KiB, fifteen in
/// 16 KiB.
const ROW: u64 = 1 << 10;
/// Rows per INSERT statement.
const PART: u64 = 10_000;

/// Comparison of results: the first digest of all rungs, and the number of executions of a rung that differ.
#[derive(Debug, Default)]
pub(super) struct ResultCheck {
    first: Arc<OnceLock<u64>>,
    differing: AtomicU64,
}

impl ResultCheck {
    /// A check for another rung, compared with the same first result.
    pub(super) fn beside(&self) -> Self {
        Self { first: Arc::clone(&self.first), differing: AtomicU64::new(0) }
    }

    /// Compares the digest of an execution.
    fn sees(&self, digest: u64) {
        if *self.first.get_or_init(|| digest) != digest {
            self.differing.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Executions whose result differs from the first.
    pub(super) fn differing(&self) -> u64 {
        self.differing.load(Ordering::Relaxed)
    }
}

/// Executions of a statement; the kind is the turn, up to the number of kinds.
pub(super) struct Executions {
    pub(super) sql: Arc<str>,
    pub(super) opening: Option<&'static str>,
    /// Whether sessions are read-only.
    pub(super) read_only: bool,
    /// Whether the statement is built in, with a table per session.
    pub(super) own_tables: bool,
    pub(super) kinds: u64,
    pub(super) result_check: Arc<ResultCheck>,
}

impl Transactions for Executions {
    fn pick(&self, _random: u64) -> u8 {
        0
    }

    fn pick_at(&self, turn: u64, _random: u64) -> u8 {
        (turn % self.kinds.max(1)) as u8
    }

    fn open(&self, session: &mut dyn Session, number: u32) -> Result<Box<dyn TransactionRunner>, Failure> {
        if let Some(opening) = self.opening {
            session.run(opening)?;
        }
        if self.read_only {
            session.read_only().map_err(|failure| with_remedy(&failure))?;
        }
        let sql = if self.own_tables { full_scan_of(&self.sql, number) } else { Arc::clone(&self.sql) };
        Ok(Box::new(Execution { sql, result_check: Arc::clone(&self.result_check) }))
    }
}

struct Execution {
    sql: Arc<str>,
    result_check: Arc<ResultCheck>,
}

impl TransactionRunner for Execution {
    fn run(&mut self, session: &mut dyn Session, _kind: u8, _random: u64) -> Result<Option<u64>, Failure> {
        let answer = session.run(&self.sql).map_err(|failure| match failure.kind {
            FailureKind::ReadOnly => with_remedy(&failure),
            _ => failure,
        })?;
        self.result_check.sees(answer.digest);
        Ok(Some(answer.digest))
    }
}

/// Failure of a write in a read-only session, with the remedy.
fn with_remedy(failure: &Failure) -> Failure {
    let remedy = "the statement runs in sessions that only read: add --allow-writes if it may change your tables";
    Failure::new(failure.kind, format!("{}: {remedy}", failure.message))
}

/// Whether a script begins with a reading statement, by its first word.
pub(super) fn is_reading(sql: &str) -> bool {
    let lines = sql.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("--"));
    let first = lines.flat_map(|line| line.split(|c: char| !c.is_ascii_alphabetic())).find(|word| !word.is_empty());
    first.is_some_and(|word| {
        ["select", "with", "values", "table", "show", "explain"].contains(&word.to_lowercase().as_str())
    })
}

/// Placeholder of the session's table in the built-in statement.
const TABLE: &str = "ladder_rows";

/// The built-in statement: reads every row and returns a single row.
pub(super) const fn full_scan() -> &'static str {
    "SELECT count(*), sum(amount) FROM ladder_rows"
}

/// The same for session `number`, from 0. Each session has a table: concurrent scans of a shared table would hit the
/// pages just read by another session.
pub(super) fn full_scan_of(sql: &str, number: u32) -> Arc<str> {
    sql.replace(TABLE, &format!("{TABLE}_{number}")).into()
}

/// Statements that create a table of about `size` bytes per session. `None` if the system is not supported.
pub(super) fn filling(system: System, size: Bytes, sessions: u32) -> Option<Vec<Step>> {
    let filler = match system {
        System::Sqlite => "printf('%0960d', n)".to_owned(),
        System::Postgres => "repeat(md5(n::text), 30)".to_owned(),
        System::Mysql => "repeat(md5(n), 30)".to_owned(),
        System::Oracle => return None,
    };
    let mut inserts = Vec::new();
    let tables = || (0..sessions).map(|number| format!("{TABLE}_{number}"));
    for table in tables() {
        for (from, to) in parts((size.get() / ROW).max(1), PART) {
            let rows = numbers(system, from, to)?;
            inserts.push(format!("INSERT INTO {table} (id, amount, filler) SELECT n, n % 1000, {filler} FROM {rows}"));
        }
    }
    let columns = match system {
        System::Sqlite => "id INTEGER PRIMARY KEY, amount INTEGER NOT NULL, filler TEXT NOT NULL",
        _ => "id BIGINT NOT NULL PRIMARY KEY, amount INTEGER NOT NULL, filler VARCHAR(1000) NOT NULL",
    };
    // Latin letters, so that a character is a byte.
    let charset = if system == System::Mysql { " CHARACTER SET latin1" } else { "" };
    let create = tables().map(|table| format!("CREATE TABLE {table} ({columns}){charset}"));
    let finish = match system {
        // Without it, the first scan would set hint bits, and rewrite the whole table.
        System::Postgres => "VACUUM ANALYZE",
        System::Mysql => "ANALYZE TABLE",
        _ => "ANALYZE",
    };
    let step = |name: &str, statements: Vec<String>| Step::statements(name, StatementsStep::of(statements)).loading();
    Some(vec![
        step("Create the tables", create.collect()),
        step("Fill the tables", inserts),
        step("Gather statistics", tables().map(|table| format!("{finish} {table}")).collect()),
    ])
}

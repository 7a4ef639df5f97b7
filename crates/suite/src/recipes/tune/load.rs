//! Loads of the search: short transactions, scans, reads of random ranges of an index, or a script of the user.

use std::sync::Arc;

use plimsoll_database::{Failure, Prepared, Session, System, Value};
use plimsoll_units::Bytes;

use super::script::{ScriptLoad, TransactionScript};
use super::{TuneLoad, TuneOptions};
use crate::ground::Facts;
use crate::options::{OptionsError, SuiteOptions};
use crate::recipes::numbers::{numbers, parts};
use crate::recipes::oltp::{OltpOptions, prepare_load};
use crate::sql::{StatementsStep, TransactionKind, TransactionRunner, Transactions};
use crate::step::Step;

/// Bytes per row with overhead: eight rows in a block of 8 KiB.
const ROW_BYTES: u64 = 1 << 10;
/// Rows per INSERT statement.
const PART_ROWS: u64 = 10_000;
/// Rows of a scanned table: 4 MiB, less than a quarter of the default cache, so that scans are not synchronized.
const TABLE_ROWS: u64 = 4096;
/// Mean number of rows of a range; nearly each is in a block of its own.
const RANGE_ROWS: u64 = 64;
/// Sessions that fill tables.
const FILLERS: u32 = 4;

/// A load with the steps before and after it.
pub(super) struct PreparedLoad {
    pub before: Vec<Step>,
    pub after: Vec<Step>,
    pub kind: TransactionKind,
    pub work: Arc<dyn Transactions>,
}

impl PreparedLoad {
    /// The load of the options.
    ///
    /// # Errors
    /// An invalid script, or as [`prepare_load`].
    pub fn new(options: &TuneOptions, system: System, facts: &Facts) -> Result<Self, OptionsError> {
        let kind = |name: &str, writes| TransactionKind { name: name.into(), writes, is_part: false };
        if let Some(script) = &options.script {
            let parsed = TransactionScript::parse(&script.sql).map_err(|why| format!("{}: {why}", script.name))?;
            let once =
                |name: &str, sql: &str| Step::statements(name, StatementsStep::of(vec![sql.to_owned()])).uncounted();
            let read_only = !options.may_write && !facts.database.as_ref().is_some_and(|(_, about)| about.created);
            return Ok(Self {
                before: options.setup.iter().map(|setup| once("Set-up", &setup.sql)).collect(),
                after: options.teardown.iter().map(|teardown| once("Tear-down", &teardown.sql)).collect(),
                kind: kind("script", !read_only),
                work: Arc::new(ScriptLoad { script: Arc::new(parsed), read_only }),
            });
        }
        match options.load {
            TuneLoad::Oltp => {
                let oltp = OltpOptions { scale: Some(options.scale), seed: options.seed, ..OltpOptions::defaults() };
                let (before, work) = prepare_load(oltp, facts)?;
                Ok(Self { before, after: Vec::new(), kind: kind("tpc-b", true), work })
            }
            TuneLoad::Range => {
                let rows = (options.table.get() / ROW_BYTES).max(2 * RANGE_ROWS);
                let before = fill(system, &["tune_rows".to_owned()], rows, rows);
                let work = Arc::new(Ranges { opening: opening(system), rows });
                Ok(Self { before, after: Vec::new(), kind: kind("range", false), work })
            }
            TuneLoad::Scan => {
                let count = (options.table.get() / (ROW_BYTES * TABLE_ROWS)).max(1);
                let names: Vec<String> = (0..count).map(|number| format!("tune_rows_{number}")).collect();
                let before = fill(system, &names, TABLE_ROWS, TABLE_ROWS);
                let work = Arc::new(Scans { opening: opening(system), tables: names });
                Ok(Self { before, after: Vec::new(), kind: kind("scan", false), work })
            }
        }
    }
}

/// Settings of a session: an index is read by a bitmap in `PostgreSQL` and in order of the rows in `MySQL`, and a query is
/// not distributed over processes.
const fn opening(system: System) -> &'static str {
    match system {
        System::Postgres => {
            "SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_seqscan = off; \
             SET max_parallel_workers_per_gather = 0"
        }
        _ => "SET SESSION optimizer_switch = 'mrr=on,mrr_cost_based=off'",
    }
}

/// Steps that create and fill tables; keys are pseudo-random numbers below `keys`, the same in each run.
fn fill(system: System, tables: &[String], rows: u64, keys: u64) -> Vec<Step> {
    let (key, filler, charset) = match system {
        System::Mysql => ("conv(substr(md5(n), 1, 7), 16, 10)", "repeat(md5(n), 30)", " CHARACTER SET latin1"),
        _ => ("('x' || substr(md5(n::text), 1, 7))::bit(28)::int", "repeat(md5(n::text), 30)", ""),
    };
    let mut inserts = Vec::new();
    for table in tables {
        for (from, to) in parts(rows, PART_ROWS) {
            let source = numbers(system, from, to).unwrap_or_default();
            inserts.push(format!("INSERT INTO {table} (r, filler) SELECT {key} % {keys}, {filler} FROM {source}"));
        }
    }
    let create =
        |table: &String| format!("CREATE TABLE {table} (r INTEGER NOT NULL, filler VARCHAR(1000) NOT NULL){charset}");
    let index = |table: &String| format!("CREATE INDEX {table}_r ON {table} (r)");
    // Without VACUUM, the first scan would set hint bits, and rewrite the table.
    let analyze = if system == System::Mysql { "ANALYZE TABLE" } else { "VACUUM ANALYZE" };
    let finish = tables.iter().map(index).chain(tables.iter().map(|table| format!("{analyze} {table}")));
    let step = |name: &str, statements: Vec<String>, sessions| {
        Step::statements(name, StatementsStep { sessions, ..StatementsStep::of(statements) }).loading()
    };
    vec![
        step("Create tables", tables.iter().map(create).collect(), 1),
        step("Load", inserts, FILLERS),
        step("Indexes, statistics", finish.collect(), 1),
    ]
}

/// Size of the data of the options, as stored by `PostgreSQL`.
pub(super) fn data_size(options: &TuneOptions) -> Bytes {
    match options.load {
        _ if options.script.is_some() => Bytes::default(),
        TuneLoad::Oltp => Bytes::new(u64::from(options.scale) * Bytes::mib(15).get()),
        TuneLoad::Range | TuneLoad::Scan => options.table,
    }
}

/// Reads of all rows of a random range of an index.
struct Ranges {
    opening: &'static str,
    rows: u64,
}

struct RangeRunner {
    prepared: Prepared,
    rows: u64,
}

impl Transactions for Ranges {
    fn pick(&self, _random: u64) -> u8 {
        0
    }

    fn open(&self, session: &mut dyn Session, _number: u32) -> Result<Box<dyn TransactionRunner>, Failure> {
        session.run(self.opening)?;
        let prepared =
            session.prepare("SELECT count(*), sum(length(filler)) FROM tune_rows WHERE r BETWEEN ? AND ?")?;
        Ok(Box::new(RangeRunner { prepared, rows: self.rows }))
    }
}

impl TransactionRunner for RangeRunner {
    fn run(&mut self, session: &mut dyn Session, _kind: u8, random: u64) -> Result<Option<u64>, Failure> {
        let low = (random % (self.rows - RANGE_ROWS)).cast_signed();
        let high = low + RANGE_ROWS.cast_signed() - 1;
        session.execute(self.prepared, &[Value::Int(low), Value::Int(high)])?;
        Ok(None)
    }
}

/// Scans of a whole table, a random one each time.
struct Scans {
    opening: &'static str,
    tables: Vec<String>,
}

struct ScanRunner(Vec<String>);

impl Transactions for Scans {
    fn pick(&self, _random: u64) -> u8 {
        0
    }

    fn open(&self, session: &mut dyn Session, _number: u32) -> Result<Box<dyn TransactionRunner>, Failure> {
        session.run(self.opening)?;
        Ok(Box::new(ScanRunner(self.tables.clone())))
    }
}

impl TransactionRunner for ScanRunner {
    fn run(&mut self, session: &mut dyn Session, _kind: u8, random: u64) -> Result<Option<u64>, Failure> {
        let table = &self.0[(random % self.0.len() as u64) as usize];
        session.run(&format!("SELECT count(*), sum(length(filler)) FROM {table}"))?;
        Ok(None)
    }
}

//! TPC-B-like transactions on branches, tellers, accounts and a history, as in pgbench.

use std::sync::Arc;

use plimsoll_database::{Failure, FailureKind, Prepared, Row, Session, System, Value};
use plimsoll_record::{ConsistencyCheck, Inconsistency};

use super::ledger::{OltpLedger, TransactionEnd, transact};
use super::{ExecutionMode, Script, Tables};
use crate::recipes::numbers::{numbers, parts};
use crate::sql::{TransactionRunner, Transactions, all_named, fill_template, named};

/// Tellers and accounts per branch.
const TELLERS: u64 = 10;
pub(super) const ACCOUNTS: u64 = 100_000;
/// Maximum amount of a transaction, positive or negative.
const MAX_DELTA: i64 = 5000;

/// Tables, and the statements of a session.
const SQL: &str = include_str!("bank.sql");

/// The tables of `scale` branches. `None` if the system is not supported.
pub(super) fn tables(system: System, scale: u64) -> Option<Tables> {
    let wide = |width: u32| match system {
        System::Sqlite => "TEXT".to_owned(),
        System::Mysql => format!("CHAR({width}) CHARACTER SET latin1"),
        _ => format!("CHAR({width})"),
    };
    // SQLite has no fixed-width columns.
    let filler =
        |width: u32| if system == System::Sqlite { format!("printf('%{width}s', '')") } else { "''".to_owned() };
    let values = [("char22", &*wide(22)), ("char84", &*wide(84)), ("char88", &*wide(88))];
    let create = all_named(SQL, "table").map(|table| fill_template(table, &values)).collect();
    let mut fill = Vec::new();
    let mut rows = |into: &str, count: u64, values: String| {
        for (from, to) in parts(count, 10_000) {
            fill.push(format!("INSERT INTO {into} SELECT {values} FROM {}", numbers(system, from, to)?));
        }
        Some(())
    };
    rows("branches (bid, bbalance, filler)", scale, format!("n, 0, {}", filler(88)))?;
    let of = |each: u64| format!("(n - 1 - (n - 1) % {each}) / {each} + 1");
    rows("tellers (tid, bid, tbalance, filler)", TELLERS * scale, format!("n, {}, 0, {}", of(TELLERS), filler(84)))?;
    rows("accounts (aid, bid, abalance, filler)", ACCOUNTS * scale, format!("n, {}, 0, {}", of(ACCOUNTS), filler(84)))?;
    let names = ["branches", "tellers", "accounts", "history"];
    Some(Tables {
        create,
        fill: vec![fill],
        index: Vec::new(),
        names: names.into(),
        expected: vec![scale, TELLERS * scale, ACCOUNTS * scale, 0],
        check: named(SQL, "check").into(),
    })
}

/// Inconsistencies between balances, history and committed transactions. The history had `before` rows before the first
/// transaction.
pub(super) fn find_inconsistencies(script: Script, row: &Row, before: i64, ledger: &OltpLedger) -> Vec<Inconsistency> {
    let figure = |index: usize| row.get(index).and_then(Value::int).unwrap_or(0);
    let (accounts, tellers, branches, moved, rows) = (figure(0), figure(1), figure(2), figure(3), figure(4));
    let others = if script == Script::TpcB { moved } else { 0 };
    let least = if script == Script::SelectOnly { 0 } else { ledger.committed(0).cast_signed() };
    let checks = [
        Inconsistency::find(ConsistencyCheck::AccountBalances, accounts, moved, 0),
        Inconsistency::find(ConsistencyCheck::TellerBalances, tellers, others, 0),
        Inconsistency::find(ConsistencyCheck::BranchBalances, branches, others, 0),
        Inconsistency::find(ConsistencyCheck::HistoryRows, (rows - before).max(0), least, ledger.unsure()),
    ];
    checks.into_iter().flatten().collect()
}

/// Transactions of a script.
pub(super) struct Bank {
    pub(super) script: Script,
    pub(super) by: ExecutionMode,
    pub(super) scale: u64,
    pub(super) ledger: Arc<OltpLedger>,
}

/// The transactions of a session.
struct Teller {
    script: Script,
    by: ExecutionMode,
    scale: u64,
    ledger: Arc<OltpLedger>,
    prepared: Vec<Prepared>,
}

impl Transactions for Bank {
    fn pick(&self, _random: u64) -> u8 {
        0
    }

    fn open(&self, session: &mut dyn Session, _number: u32) -> Result<Box<dyn TransactionRunner>, Failure> {
        let call = |name: &str| vec![self.by.call(name, "?, ?, ?, ?")];
        let listed = |names: &[&str]| names.iter().map(|name| named(SQL, name).to_owned()).collect();
        let statements: Vec<String> = match (self.script, self.by) {
            (Script::SelectOnly, _) => listed(&["select_account"]),
            (Script::SimpleUpdate, ExecutionMode::Statements) => {
                listed(&["update_account", "select_account", "insert_history"])
            }
            (_, ExecutionMode::Statements) => {
                listed(&["update_account", "select_account", "insert_history", "update_teller", "update_branch"])
            }
            (Script::SimpleUpdate, _) => call("move_simply"),
            _ => call("move_money"),
        };
        let prepared: Result<Vec<Prepared>, Failure> = statements.iter().map(|sql| session.prepare(sql)).collect();
        let (script, by, scale) = (self.script, self.by, self.scale);
        Ok(Box::new(Teller { script, by, scale, ledger: Arc::clone(&self.ledger), prepared: prepared? }))
    }
}

impl Teller {
    fn transaction(&self, session: &mut dyn Session, random: u64) -> Result<TransactionEnd, Failure> {
        let mut random = fastrand::Rng::with_seed(random);
        let mut one_of = |count: u64| Value::Int(random.u64(1..=count).cast_signed());
        let (account, branch, teller) =
            (one_of(ACCOUNTS * self.scale), one_of(self.scale), one_of(TELLERS * self.scale));
        if self.script == Script::SelectOnly {
            return look(session, self.prepared[0], account);
        }
        let delta = Value::Int(random.i64(-MAX_DELTA..=MAX_DELTA));
        if self.by != ExecutionMode::Statements {
            session.execute(self.prepared[0], &[account, teller, branch, delta])?;
            return Ok(TransactionEnd::Committed);
        }
        transact(session, |session| {
            session.execute(self.prepared[0], &[delta.clone(), account.clone()])?;
            look(session, self.prepared[1], account.clone())?;
            if self.script == Script::TpcB {
                session.execute(self.prepared[3], &[delta.clone(), teller.clone()])?;
                session.execute(self.prepared[4], &[delta.clone(), branch.clone()])?;
            }
            session.execute(self.prepared[2], &[teller, branch, account, delta])?;
            Ok(TransactionEnd::Committed)
        })
    }
}

fn look(session: &mut dyn Session, prepared: Prepared, account: Value) -> Result<TransactionEnd, Failure> {
    let displayed = format!("{account:?}");
    match session.execute(prepared, &[account])?.rows {
        1 => Ok(TransactionEnd::Committed),
        rows => Err(Failure::new(
            FailureKind::Statement,
            format!("account {displayed} has {rows} rows instead of a single row"),
        )),
    }
}

impl TransactionRunner for Teller {
    fn run(&mut self, session: &mut dyn Session, kind: u8, random: u64) -> Result<Option<u64>, Failure> {
        let outcome = self.transaction(session, random);
        self.ledger.note(kind, outcome.as_ref().copied());
        outcome.map(|_| None)
    }
}

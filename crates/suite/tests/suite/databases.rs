//! Statements and concurrent sessions on an SQLite file.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use plimsoll_analyse::Precision;
use plimsoll_database::{DatabaseAddress, Failure, Session, connect};
use plimsoll_load::{Arrival, Pace};
use plimsoll_record::{Finding, Source, Spent};
use plimsoll_suite::{
    DatabaseGround, Facts, Ground, SessionWork, SessionsStep, SqlRequest, StatementsStep, StepResult, TransactionKind,
    TransactionRunner, Transactions,
};
use plimsoll_units::{Iops, Span};

/// A file removed on drop.
struct File(PathBuf);

impl Drop for File {
    fn drop(&mut self) {
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", self.0.display()));
        }
    }
}

fn create_ground(name: &str) -> (DatabaseGround, File) {
    let file = std::env::temp_dir().join(format!("plimsoll-suite-{name}-{}.db", std::process::id()));
    std::fs::File::create(&file).unwrap();
    let target = connect(&DatabaseAddress::sqlite(file.clone())).unwrap();
    let about = target.about().clone();
    let source = Source::Measured { engine: "SQLite".into() };
    let facts = Facts::of_database(name.into(), source, target.system(), about);
    (DatabaseGround::new(target, facts), File(file))
}

fn statements(ground: &mut DatabaseGround, step: &StatementsStep) -> plimsoll_suite::StatementsResult {
    match ground.statements(step, &mut |_| ControlFlow::Continue(())) {
        Ok(StepResult::Statements(observed)) => *observed,
        other => panic!("{other:?}"),
    }
}

fn filled(ground: &mut DatabaseGround) {
    statements(ground, &StatementsStep::of(vec!["CREATE TABLE t (i INTEGER PRIMARY KEY, n INTEGER)".into()]));
    let rows = |index: u64| vec![SqlRequest::text(format!("INSERT INTO t VALUES ({index}, 0)"))];
    let observed = statements(ground, &StatementsStep { transaction: 50, ..StatementsStep::new(200, rows) });
    assert_eq!((observed.done, observed.each.count, observed.wrong), (200, 200, 0));
}

/// Reads or increments a row; the digest is that of the value, or of a rising number.
struct Rows {
    rising: bool,
    fails_after: u32,
    executions: Arc<AtomicU32>,
}

struct Row {
    rising: bool,
    fails_after: u32,
    executions: Arc<AtomicU32>,
}

impl Transactions for Rows {
    fn pick(&self, random: u64) -> u8 {
        u8::from(random.is_multiple_of(4))
    }

    fn open(&self, _: &mut dyn Session, _: u32) -> Result<Box<dyn TransactionRunner>, Failure> {
        Ok(Box::new(Row {
            rising: self.rising,
            fails_after: self.fails_after,
            executions: Arc::clone(&self.executions),
        }))
    }
}

impl TransactionRunner for Row {
    fn run(&mut self, session: &mut dyn Session, kind: u8, random: u64) -> Result<Option<u64>, Failure> {
        let executions = self.executions.fetch_add(1, Ordering::Relaxed);
        if executions >= self.fails_after {
            return session.run("SELECT * FROM missing").map(|_| None);
        }
        if kind == 0 {
            let answer = session.run("SELECT i FROM t WHERE i < 100")?;
            assert_eq!(answer.rows, 100);
            return Ok(Some(if self.rising { u64::from(executions) } else { answer.digest }));
        }
        session.begin()?;
        session.run(&format!("UPDATE t SET n = n + 1 WHERE i = {}", random % 200))?;
        session.commit().map(|()| None)
    }
}

fn build_step(sessions: u32, rows: Rows) -> SessionsStep {
    let kind = |name: &str, writes| TransactionKind { name: name.into(), writes, is_part: false };
    SessionsStep {
        sessions,
        pace: Pace::Closed { depth: sessions },
        kinds: vec![kind("read", false), kind("update", true)],
        work: SessionWork::Transactions(Arc::new(rows)),
        turns: None,
        warm_up: Span::from_millis(100),
        least: Span::from_millis(400),
        max: Span::from_secs(1),
        precision: Precision::default(),
        objective: None,
        checkpoint: true,
        seed: 1,
    }
}

fn build_rows() -> Rows {
    Rows { rising: false, fails_after: u32::MAX, executions: Arc::default() }
}

fn observe(ground: &mut DatabaseGround, step: &SessionsStep) -> plimsoll_suite::SessionsResult {
    match ground.sessions(step, &mut |_| ControlFlow::Continue(())) {
        Ok(StepResult::Sessions(observed)) => *observed,
        other => panic!("{other:?}"),
    }
}

fn sum_tallies(observed: &plimsoll_suite::SessionsResult) -> plimsoll_record::Tally {
    let mut total = plimsoll_record::Tally::default();
    observed.series.iter().for_each(|slice| total.merge(&slice.tally));
    total
}

#[test]
fn unexpected_rows_are_counted_and_failures_end_the_step() {
    let (mut ground, _file) = create_ground("statements");
    filled(&mut ground);
    let requests = |index: u64| {
        let sql = format!("SELECT * FROM t WHERE i < {}", 10 + index / 9);
        vec![SqlRequest::Text { sql, rows: Some(10) }, SqlRequest::Reconnect]
    };
    let wrong = statements(&mut ground, &StatementsStep::new(10, requests));
    assert_eq!((wrong.done, wrong.wrong), (10, 1));
    assert!(wrong.first_wrong.unwrap().contains("10 rows expected, 11 came"));

    let query = StatementsStep::new(1, |_| vec![SqlRequest::Query("SELECT count(*) FROM t".into())]);
    assert_eq!(statements(&mut ground, &query).rows[0][0].int(), Some(200));

    let prepared = |index: u64| {
        let (sql, values) = ("SELECT n FROM t WHERE i = ?".into(), vec![index.cast_signed().into()]);
        vec![SqlRequest::Prepared { sql, values, rows: Some(1) }]
    };
    let shared = statements(&mut ground, &StatementsStep { sessions: 3, ..StatementsStep::new(100, prepared) });
    assert_eq!((shared.done, shared.wrong), (100, 0));

    let fails = |index: u64| vec![SqlRequest::text(if index < 3 { "SELECT 1" } else { "SELECT nothing" })];
    let torn = ground.statements(&StatementsStep::new(9, fails), &mut |_| ControlFlow::Continue(())).unwrap_err();
    assert_eq!(torn.fault.attempt, "statement 4 of 9");
    let Some(StepResult::Statements(until)) = torn.until else { panic!("what was seen is kept") };
    assert_eq!(until.done, 3);
}

#[test]
fn time_limit_and_user_end_statements() {
    let (mut ground, _file) = create_ground("limits");
    let endless = StatementsStep::new(u64::MAX, |_| vec![SqlRequest::text("SELECT 1")]);
    let limited = statements(&mut ground, &StatementsStep { limit: Some(Span::from_millis(300)), ..endless.clone() });
    assert!(limited.done > 0 && limited.span >= Span::from_millis(300), "{limited:?}");
    // The user interrupts a statement that would take hours, without a fault.
    let long = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 1e12) SELECT count(*) FROM c";
    let step = StatementsStep::of(vec![long.into()]);
    let ended = ground.statements(&step, &mut |_| ControlFlow::Break(())).unwrap();
    assert_eq!(ended.statements().unwrap().done, 0);
}

#[test]
fn closed_load_completes_its_turns_and_splits_time() {
    let (mut ground, _file) = create_ground("closed");
    filled(&mut ground);
    let executions = Arc::<AtomicU32>::default();
    let step =
        SessionsStep { turns: Some(40), ..build_step(3, Rows { executions: Arc::clone(&executions), ..build_rows() }) };
    let saw = observe(&mut ground, &step);
    assert_eq!((sum_tallies(&saw).operations(), executions.load(Ordering::Relaxed)), (120, 120));
    assert_eq!((saw.differing, sum_tallies(&saw).errors()), (0, 0));
    let split = saw.split.clone().unwrap();
    let all: f64 = split.shares.iter().map(|(_, share)| share).sum();
    assert!((all - 1.0).abs() < 1e-6 && split.shares.iter().any(|(part, _)| *part == Spent::Processor), "{split:?}");

    let query = StatementsStep::new(1, |_| vec![SqlRequest::Query("SELECT sum(n) FROM t".into())]);
    let updates = sum_tallies(&saw).only(|counter| counter.stream == 1).operations();
    assert_eq!(statements(&mut ground, &query).rows[0][0].int(), Some(updates.cast_signed()));
}

#[test]
fn time_ends_a_load_without_turns() {
    let (mut ground, _file) = create_ground("timed");
    filled(&mut ground);
    let step = build_step(2, build_rows());
    let saw = observe(&mut ground, &step);
    assert!(saw.window.0 >= step.warm_up && saw.window.1 > saw.window.0, "{:?}", saw.window);
    assert!(sum_tallies(&saw).operations() > 0);
}

#[test]
fn arrivals_go_to_free_sessions() {
    let (mut ground, _file) = create_ground("open");
    filled(&mut ground);
    let rate = Iops { ops: 100, seconds: 1 };
    let pace = Pace::Open { rate, arrival: Arrival::Poisson };
    let endless = Precision { iops: 0.0, mean: 0.0, quantile: 0.0 };
    let saw = observe(&mut ground, &SessionsStep { pace, precision: endless, ..build_step(4, build_rows()) });
    let arrivals = sum_tallies(&saw).operations() + saw.unserved;
    // 1.1 s at 100 per second; Poisson arrivals vary within half to twice the mean.
    assert!((50..=220).contains(&arrivals), "{arrivals}");
    assert!(saw.lateness.count > 0);
}

#[test]
fn differing_rows_and_failed_transactions_are_reported() {
    let (mut ground, _file) = create_ground("differ");
    filled(&mut ground);
    let saw =
        observe(&mut ground, &SessionsStep { turns: Some(20), ..build_step(2, Rows { rising: true, ..build_rows() }) });
    assert!(saw.differing > 0);
    assert!(saw.findings.contains(&Finding::RowsDiffered { count: saw.differing }));

    let step = SessionsStep { turns: Some(40), ..build_step(2, Rows { fails_after: 30, ..build_rows() }) };
    let torn = ground.sessions(&step, &mut |_| ControlFlow::Continue(())).unwrap_err();
    let Some(StepResult::Sessions(until)) = torn.until else { panic!("what was seen is kept") };
    assert_eq!(sum_tallies(&until).operations(), 30);
    assert!(format!("{:?}", torn.fault.source).contains("missing"), "{:?}", torn.fault);
}

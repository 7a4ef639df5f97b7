//! The ladder and short transactions on created databases: SQLite always, servers if installed.
#![allow(clippy::unwrap_used)]

use plimsoll_database::{Flushes, System};
use plimsoll_record::EndReason;
use plimsoll_suite::recipes::ladder::{Ladder, LadderOptions, Rungs, SqlScript};
use plimsoll_suite::recipes::oltp::{Oltp, OltpOptions, Script};
use plimsoll_suite::{CompletedStep, DatabaseGround, Ground, Recipe, SuiteOptions, SuiteOutcome, perform};
use plimsoll_units::{Bytes, Iops, Span};

use crate::grounds::{Silent, Temporary, database, words};

/// Only counts are tested, not times.
fn create(system: System) -> Option<(DatabaseGround, Temporary)> {
    database(system, Bytes::mib(16), Flushes::Ignored)
}

fn ran(recipe: &mut dyn Recipe, ground: &mut DatabaseGround) -> SuiteOutcome {
    perform(recipe, ground, &mut Silent).unwrap()
}

/// Transactions of all steps, by kind, warm-up included.
fn counted(done: &[CompletedStep], kind: u8) -> u64 {
    let slices = done.iter().filter_map(|done| done.result.sessions()).flat_map(|observed| &observed.series);
    slices.map(|slice| slice.tally.only(|counter| counter.stream == kind).operations()).sum()
}

/// Figures of the final check.
fn read_check(done: &[CompletedStep]) -> Vec<i64> {
    let row = &done.last().unwrap().result.statements().unwrap().rows[0];
    row.iter().map(|value| value.int().unwrap_or(0)).collect()
}

fn oltp(script: Script, statements: bool, clients: &[u32]) -> OltpOptions {
    let (measure, clients) = (Some(Span::from_millis(600)), Some(clients.into()));
    OltpOptions { script, scale: Some(1), statements, clients, measure, max_sessions: 4, ..OltpOptions::defaults() }
}

/// Runs a suite to its end, which asserts consistency.
fn agrees(system: System, options: OltpOptions) -> Option<Vec<CompletedStep>> {
    let (mut ground, _folder) = create(system)?;
    let mut recipe = Oltp::new(options, ground.facts()).unwrap();
    let outcome = ran(&mut recipe, &mut ground);
    assert!(outcome.fault.is_none(), "{system}: {:?}", outcome.fault);
    let message = words(&recipe.verdicts(&outcome.done, ground.facts()));
    assert!(message.iter().any(|message| message.starts_with("Consistent: ")), "{system}: {message:#?}");
    assert!(!recipe.has_failed(&outcome.done));
    assert!(!recipe.listings(&outcome.done, ground.facts()).is_empty());
    Some(outcome.done)
}

/// The history contains exactly the counted transactions.
fn bank(system: System) {
    for (script, statements) in [(Script::TpcB, false), (Script::TpcB, true), (Script::SimpleUpdate, false)] {
        let Some(done) = agrees(system, oltp(script, statements, &[1, 3])) else { return };
        let committed = counted(&done, 0);
        assert!(committed > 0, "{system}, {script:?}");
        assert_eq!(read_check(&done)[4], committed.cast_signed(), "{system}, {script:?}");
    }
    let done = agrees(system, oltp(Script::SelectOnly, false, &[2])).unwrap();
    assert!(counted(&done, 0) > 0);
}

/// The numbers of orders and payments equal the counts, except for rolled-back orders.
fn trade(system: System, both: &[bool]) {
    for statements in both {
        let Some(done) = agrees(system, oltp(Script::NewOrder, *statements, &[3])) else { return };
        let check = read_check(&done);
        let (ordered, paid) = (counted(&done, 0).cast_signed(), counted(&done, 1).cast_signed());
        assert_eq!(check[6], paid, "{system}");
        let undone = ordered - (check[0] - 30_000);
        assert!(ordered > 0 && undone >= 0 && undone <= ordered / 10 + 20, "{system}: {undone} of {ordered}");
    }
}

fn ladder(sql: &str, setup: Option<&str>) -> LadderOptions {
    let script = |sql: &str| SqlScript { name: "a test".into(), sql: sql.into() };
    LadderOptions {
        sql: Some(script(sql)),
        setup: setup.map(script),
        rungs: Rungs(vec![1, 2, 4]),
        turns: 2,
        ..LadderOptions::defaults()
    }
}

/// The built-in scan returns the same rows at every rung, and each rung has all executions.
fn scans(system: System) {
    let Some((mut ground, _folder)) = create(system) else { return };
    let options = LadderOptions { sql: None, table: Bytes::mib(4), beside_article: true, ..ladder("", None) };
    let mut recipe = Ladder::new(options, ground.facts()).unwrap();
    let outcome = ran(&mut recipe, &mut ground);
    assert!(outcome.fault.is_none(), "{system}: {:?}", outcome.fault);
    let executions: Vec<u64> = outcome
        .done
        .iter()
        .filter(|done| done.step.counts)
        .map(|done| (0..2).map(|kind| counted(std::slice::from_ref(done), kind)).sum())
        .collect();
    assert_eq!(executions, [2, 4, 8], "{system}");
    let message = words(&recipe.verdicts(&outcome.done, ground.facts()));
    assert!(
        message.iter().any(|message| message == "All 14 executions brought the same rows."),
        "{system}: {message:#?}"
    );
    assert!(!recipe.has_failed(&outcome.done));
    let listings = recipe.listings(&outcome.done, ground.facts());
    assert_eq!((listings.len(), listings[0].text.lines().count()), (2, 5), "{}", listings[0].text);
}

#[test]
fn sqlite_keeps_committed_transactions() {
    bank(System::Sqlite);
}

#[test]
fn sqlite_trades() {
    trade(System::Sqlite, &[false]);
}

#[test]
fn sqlite_scans() {
    scans(System::Sqlite);
}

#[test]
fn postgresql_keeps_committed_transactions() {
    bank(System::Postgres);
}

#[test]
fn postgresql_trades() {
    trade(System::Postgres, &[false, true]);
}

#[test]
fn postgresql_scans() {
    scans(System::Postgres);
}

#[test]
fn mariadb_keeps_committed_transactions() {
    bank(System::Mysql);
}

#[test]
fn mariadb_trades() {
    trade(System::Mysql, &[false, true]);
}

#[test]
fn mariadb_scans() {
    scans(System::Mysql);
}

#[test]
fn arrivals_go_to_free_clients() {
    let rates = Some(vec![Iops::per_second(40)]);
    let done = agrees(System::Sqlite, OltpOptions { clients: None, rates, ..oltp(Script::TpcB, false, &[]) }).unwrap();
    let committed = counted(&done, 0);
    assert!(committed > 0);
    assert_eq!(read_check(&done)[4], committed.cast_signed());
}

#[test]
fn failure_keeps_earlier_rungs() {
    let (mut ground, _folder) = create(System::Sqlite).unwrap();
    let setup = "CREATE TABLE t (i INTEGER PRIMARY KEY); CREATE TRIGGER full BEFORE INSERT ON t WHEN (SELECT count(*) FROM t) >= 4 \
                 BEGIN SELECT RAISE(ABORT, 'four are enough'); END";
    let mut recipe = Ladder::new(ladder("INSERT INTO t DEFAULT VALUES", Some(setup)), ground.facts()).unwrap();
    let outcome = ran(&mut recipe, &mut ground);
    assert_eq!(outcome.ended, EndReason::Failed);
    let fault = outcome.fault.unwrap();
    assert!(fault.source.to_string().contains("four are enough"), "{fault:?}");
    let text = &recipe.listings(&outcome.done, ground.facts())[0].text;
    let first = text.lines().nth(1).unwrap();
    assert!(first.trim_start().starts_with("1 "), "{text}");
    let message = words(&recipe.verdicts(&outcome.done, ground.facts()));
    assert!(
        message.iter().any(|message| message.contains("2 sessions ended early, after 2 of 4 executions")),
        "{message:#?}"
    );
    assert_eq!(counted(&outcome.done, 0) + counted(&outcome.done, 1), 4, "two of the first rung, two of the second");
}

#[test]
fn differing_rows_are_reported() {
    let (mut ground, _folder) = create(System::Sqlite).unwrap();
    let mut recipe = Ladder::new(ladder("SELECT random()", None), ground.facts()).unwrap();
    let outcome = ran(&mut recipe, &mut ground);
    let message = words(&recipe.verdicts(&outcome.done, ground.facts()));
    assert!(
        message.iter().any(|message| message.contains("with other rows than the first: 1 of 2 at 1 session")),
        "{message:#?}"
    );
    assert!(!recipe.has_failed(&outcome.done), "the statement is the user's own");
}

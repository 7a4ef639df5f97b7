//! The whole suite on small tables of real databases, without failures and wrong results.

use plimsoll_database::{Flushes, System};
use plimsoll_suite::recipes::sql_bench::{SqlBench, SqlBenchOptions, SqlBenchTest};
use plimsoll_suite::{Ground, Recipe};
use plimsoll_units::{Bytes, Span};

use crate::grounds::{all, database, words};

fn runs_on(system: System) {
    let Some((mut ground, _directory)) = database(system, Bytes::mib(32), Flushes::Ignored) else { return };
    let facts = ground.facts().clone();
    let options = SqlBenchOptions {
        scale: 0.001,
        size: 0.01,
        time_limit: Span::from_secs(120),
        tests: SqlBenchTest::ALL.to_vec(),
    };
    let mut suite = SqlBench::new(options, &facts).expect("options that fit");
    let outcome = all(&mut suite, &mut ground);
    for done in &outcome.done {
        let observed = done.result.statements().expect("all steps are statements");
        assert_eq!(observed.wrong, 0, "{system}, {}: {:?}", done.step.name, observed.first_wrong);
    }
    assert!(!suite.has_failed(&outcome.done));
    let listings = suite.listings(&outcome.done, &facts);
    assert!(SqlBenchTest::ALL.iter().all(|test| listings[1].text.contains(&format!("Testing {}\n", test.name()))));
    let message = words(&suite.verdicts(&outcome.done, &facts)).join("\n");
    assert!(message.contains("A row in a transaction of its own took"), "{message}");
}

#[test]
fn on_sqlite() {
    runs_on(System::Sqlite);
}

#[test]
fn on_postgresql() {
    runs_on(System::Postgres);
}

#[test]
fn on_mariadb() {
    runs_on(System::Mysql);
}

//! The whole suite on small tables of real databases, without failures and wrong results.
#![allow(clippy::print_stderr)] // a skipped test prints its reason

use std::ops::ControlFlow;
use std::path::PathBuf;

use plimsoll_database::{Database as _, FailureKind, Flushes, Make, System};
use plimsoll_drive::Onward;
use plimsoll_record::{EndReason, Slice};
use plimsoll_suite::recipes::sql_bench::{SqlBench, SqlBenchOptions, SqlBenchTest};
use plimsoll_suite::{DatabaseGround, Facts, Recipe, Step, SuiteObserver, perform};
use plimsoll_units::{Bytes, Span};

/// A directory removed on drop.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Silent;

impl SuiteObserver for Silent {
    fn step_begins(&mut self, _: &Step, place: usize, expected: usize) {
        assert!(place < expected, "more steps than were expected");
    }

    fn observe(&mut self, _: &Step, _: &[Slice]) -> Onward {
        ControlFlow::Continue(())
    }
}

fn runs_on(system: System) {
    let folder = std::env::temp_dir().join(format!("plimsoll-sql-bench-{system}-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("a directory can be made");
    let folder = Folder(folder);
    let made = Make {
        system,
        folder: folder.0.clone(),
        cache: Bytes::mib(32),
        memory: None,
        flushes: Flushes::Ignored,
        settings: Vec::new(),
        sessions: 1,
    };
    let made = match made.make() {
        Ok(made) => made,
        Err(failure) if matches!(failure.kind, FailureKind::Missing | FailureKind::Unsupported) => {
            return eprintln!("skipped: {failure}");
        }
        Err(failure) => panic!("{failure}"),
    };
    let facts = Facts { database: Some((made.system(), made.about().clone())), ..super::facts(system) };
    let options = SqlBenchOptions {
        scale: 0.001,
        size: 0.01,
        time_limit: Span::from_secs(120),
        tests: SqlBenchTest::ALL.to_vec(),
    };
    let mut suite = SqlBench::new(options, &facts).expect("options that fit");
    let mut ground = DatabaseGround::new(Box::new(made), facts.clone());
    let outcome = perform(&mut suite, &mut ground, &mut Silent).expect("a ground that fits");
    assert_eq!(outcome.ended, EndReason::Complete, "{system}: {:?}", outcome.fault);
    for done in &outcome.done {
        let seen = done.result.statements().expect("all steps are statements");
        assert_eq!(seen.wrong, 0, "{system}, {}: {:?}", done.step.name, seen.first_wrong);
    }
    assert!(!suite.has_failed(&outcome.done));
    let listings = suite.listings(&outcome.done, &facts);
    assert!(SqlBenchTest::ALL.iter().all(|test| listings[1].text.contains(&format!("Testing {}\n", test.name()))));
    let message = suite.verdicts(&outcome.done, &facts).join("\n");
    assert!(message.contains("a row in a transaction of its own took"), "{message}");
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

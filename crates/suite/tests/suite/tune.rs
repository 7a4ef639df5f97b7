//! Searches for settings on servers created for the test. Only their correctness is checked, never their speed.
#![allow(clippy::unwrap_used)]

use plimsoll_database::{DatabaseAddress, Flushes, Session, System, connect};
use plimsoll_record::{EndReason, Source, TuneVerdict, Verdict};
use plimsoll_suite::recipes::tune::{Tune, TuneLoad, TuneOptions};
use plimsoll_suite::{DatabaseGround, Facts, Ground, RunOrigin, SuiteOptions, SuiteOutcome, perform, suite_run};
use plimsoll_units::{Bytes, Span};

use crate::grounds::{Silent, database, words};

/// A short search for these settings.
fn options(load: TuneLoad, only: &[&str]) -> TuneOptions {
    TuneOptions {
        load,
        table: Bytes::mib(8),
        scale: 1,
        clients: 2,
        measure: Span::from_millis(200),
        budget: Span::from_secs(10),
        only: only.iter().map(|name| (*name).to_owned()).collect(),
        ..TuneOptions::defaults()
    }
}

fn search(options: TuneOptions, ground: &mut DatabaseGround) -> (Tune, SuiteOutcome) {
    let mut tune = Tune::new(options, ground.facts()).unwrap();
    let outcome = perform(&mut tune, ground, &mut Silent).unwrap();
    assert_eq!(outcome.ended, EndReason::Complete, "{:?}", outcome.fault);
    (tune, outcome)
}

fn origin() -> RunOrigin {
    RunOrigin { program: "test".into(), started: None, wall: Span::from_secs(1), command: Vec::new() }
}

#[test]
fn search_on_created_server_compares_settings_that_need_a_restart() {
    let Some((mut ground, directory)) = database(System::Postgres, Bytes::mib(8), Flushes::Ignored) else { return };
    let only = ["effective_io_concurrency", "io_method"];
    let (tune, outcome) = search(options(TuneLoad::Range, &only), &mut ground);
    let run = suite_run(&tune, &ground, outcome, origin());
    let compared = run.listings.iter().any(|listing| listing.text.contains("effective_io_concurrency = 1"));
    assert!(compared, "{:?}", run.listings);
    assert!(matches!(run.verdicts[0], Verdict::Tune(_)), "{:?}", words(&run.verdicts));
    assert!(run.steps.iter().any(|step| step.counts && step.name == "present settings"));
    drop(ground);
    directory.assert_empty();
}

/// The first column of the first row.
fn text(session: &mut dyn Session, sql: &str) -> String {
    session.rows(sql).unwrap()[0][0].text().unwrap().to_owned()
}

#[test]
fn settings_of_existing_server_are_reloaded_only_and_put_back() {
    let directory = crate::grounds::Temporary::new("tune");
    let order = plimsoll_database::Make {
        system: System::Postgres,
        folder: directory.0.clone(),
        log_folder: None,
        cache: Bytes::mib(8),
        memory: None,
        flushes: Flushes::Ignored,
        settings: vec![("effective_io_concurrency".into(), "3".into())],
        sessions: 8,
    };
    let created = match order.make() {
        Ok(created) => created,
        Err(failure) if failure.message.contains("is installed here") => {
            eprintln!("skipped: {failure}");
            return;
        }
        Err(failure) => panic!("{failure}"),
    };
    let mut session = created.database.session().unwrap();
    session.run("ALTER SYSTEM SET commit_delay = 7").unwrap();
    session.run("SELECT pg_reload_conf()").unwrap();
    let sockets = text(&mut *session, "SHOW unix_socket_directories");
    let url = format!("postgres://plimsoll@/postgres?host={sockets}");
    let target = connect(&url.parse::<DatabaseAddress>().unwrap()).unwrap();
    let about = target.about().clone();
    assert!(!about.created);
    let facts =
        Facts::of_database("a test".into(), Source::Measured { engine: "test".into() }, System::Postgres, about);
    let mut ground = DatabaseGround::new(target, facts);
    let (tune, outcome) = search(options(TuneLoad::Oltp, &["effective_io_concurrency", "commit_delay"]), &mut ground);
    assert!(outcome.done.iter().any(|done| done.step.name.contains("effective_io_concurrency = ")));
    let run = suite_run(&tune, &ground, outcome, origin());
    let restarts = run.verdicts.iter().any(|verdict| {
        matches!(verdict, Verdict::Tune(TuneVerdict::BetterSettings { settings, .. })
            if settings.iter().any(|setting| setting.needs_restart))
    });
    assert!(!restarts);
    // A new session, because the values of an existing one may not have been read again.
    let mut session = created.database.session().unwrap();
    assert_eq!(text(&mut *session, "SHOW effective_io_concurrency"), "3");
    let query = "SELECT string_agg(name || '=' || setting, ',') FROM pg_file_settings \
                 WHERE sourcefile LIKE '%postgresql.auto.conf'";
    assert_eq!(text(&mut *session, query), "commit_delay=7");
}

#[test]
fn search_on_mariadb_restarts_its_own_server() {
    let Some((mut ground, directory)) = database(System::Mysql, Bytes::mib(8), Flushes::Ignored) else { return };
    let only = ["innodb_io_capacity", "innodb_read_io_threads"];
    let (tune, outcome) = search(options(TuneLoad::Oltp, &only), &mut ground);
    let run = suite_run(&tune, &ground, outcome, origin());
    assert!(matches!(run.verdicts[0], Verdict::Tune(_)), "{:?}", words(&run.verdicts));
    drop(ground);
    directory.assert_empty();
}

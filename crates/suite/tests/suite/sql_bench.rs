//! sql-bench: executions of its sections, statements in each system, layouts, and execution on real databases.

mod live;
mod played;

use crate::grounds::words;
use played::{Answers, facts, played, recipe};
use plimsoll_database::System;
use plimsoll_suite::recipes::sql_bench::{SqlBench, SqlBenchOptions, SqlBenchTest};
use plimsoll_suite::{CompletedStep, Recipe, SqlRequest, SuiteOptions, Work};
use plimsoll_units::Span;

const SYSTEMS: [System; 4] = [System::Postgres, System::Mysql, System::Sqlite, System::Oracle];

fn options(scale: f64, tests: &[SqlBenchTest]) -> SqlBenchOptions {
    SqlBenchOptions { scale, tests: tests.to_vec(), ..SqlBenchOptions::defaults() }
}

/// Sections with figures and their number of executions at full scale.
fn counts(test: SqlBenchTest) -> Vec<(String, u64)> {
    let (_, done) = played(System::Mysql, options(1.0, &[test]), &Answers::default());
    let counted = done.iter().filter(|done| done.step.counts);
    counted
        .map(|done| (done.step.name.split_once(": ").expect("a test's name").1.to_owned(), count_requested(done)))
        .collect()
}

fn count_requested(done: &CompletedStep) -> u64 {
    let Work::Statements(step) = &done.step.work else { panic!("{:?}", done.step) };
    step.count
}

#[test]
fn execution_counts_match_sql_bench() {
    let check = |test: SqlBenchTest, expected: &[(&str, u64)]| {
        let found = counts(test);
        let found: Vec<(&str, u64)> = found.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        assert_eq!(found, expected, "{}", test.name());
    };
    check(
        SqlBenchTest::Atis,
        &[
            ("create_table", 28),
            ("insert", 9768),
            ("select_simple_join", 500),
            ("select_join", 100),
            ("select_key_prefix_join", 100),
            ("select_distinct", 800),
            ("select_group", 3300),
            ("drop_table", 28),
        ],
    );
    check(
        SqlBenchTest::AlterTable,
        &[
            ("insert", 1000),
            ("alter_table_add", 100),
            ("create_index", 8),
            ("drop_index", 8),
            ("alter_table_drop", 100),
        ],
    );
    check(SqlBenchTest::BigTables, &[("select_many_fields", 2000), ("insert_many_fields", 2000)]);
    check(
        SqlBenchTest::Connect,
        &[
            ("connect", 10_000),
            ("connect+select_simple", 10_000),
            ("select_simple", 100_000),
            ("select_simple_cache", 100_000),
            ("connect+select_1_row", 10_000),
            ("select_1_row", 100_000),
            ("select_1_row_cache", 100_000),
            ("select_2_rows", 100_000),
            ("select_column+column", 100_000),
            ("select_big_str", 10_000),
        ],
    );
    check(
        SqlBenchTest::Create,
        &[
            ("create_MANY_tables", 10_000),
            ("select_group_when_MANY_tables", 10_000),
            ("drop_table_when_MANY_tables", 10_000),
            ("create+drop", 10_000),
            ("create_key+drop", 10_000),
        ],
    );
    check(
        SqlBenchTest::Wisconsin,
        &[("create_table", 4), ("insert", 31_000), ("delete_big", 1), ("wisc_benchmark", 114)],
    );
}

#[test]
fn execution_counts_of_long_tests_match_sql_bench() {
    let of = |test: SqlBenchTest, names: &[(&str, u64)]| {
        let found = counts(test);
        for (name, count) in names {
            assert!(found.contains(&((*name).to_owned(), *count)), "{name} of {}: {found:?}", test.name());
        }
    };
    of(
        SqlBenchTest::Insert,
        &[
            ("insert", 300_000),
            ("insert_duplicates", 100_000),
            ("prepared_select", 100_000),
            ("update_with_key", 300_000),
            ("insert_key", 100_000),
            ("delete_range", 12),
            // A hundred rows per statement.
            ("multiple_value_insert", 1000),
        ],
    );
    of(
        SqlBenchTest::Select,
        &[
            ("insert", 10_000),
            ("select_cache", 10_000),
            ("select_cache2", 10_000),
            ("select_big", 70),
            ("min_max_on_key", 70_000),
            ("count_on_key", 50_000),
            ("count_group_on_key_parts", 1000),
            ("count_distinct_group", 1000),
        ],
    );
}

#[test]
fn statements_are_complete_in_every_dialect() {
    for system in SYSTEMS {
        let (_, done) = played(system, options(0.01, &SqlBenchTest::ALL), &Answers::default());
        for done in &done {
            let Work::Statements(step) = &done.step.work else { panic!("{:?}", done.step) };
            for index in [0, step.count / 2, step.count - 1] {
                let all = (step.at)(index);
                assert!(!all.is_empty(), "{system}: {} asks nothing", done.step.name);
                for request in &all {
                    check_text(system, request);
                }
            }
        }
    }
}

fn check_text(system: System, request: &SqlRequest) {
    let sql: &str = match request {
        SqlRequest::Text { sql, .. } | SqlRequest::Query(sql) => sql,
        SqlRequest::Prepared { sql, values, .. } => {
            assert_eq!(sql.matches('?').count(), values.len(), "{sql}");
            sql
        }
        SqlRequest::Reconnect => return,
    };
    let mut open = 0_i32;
    for letter in sql.chars() {
        open += i32::from(letter == '(') - i32::from(letter == ')');
        assert!(open >= 0, "{system}: {sql}");
    }
    assert_eq!(open, 0, "{system}: {sql}");
    assert!(sql.matches('\'').count().is_multiple_of(2), "{system}: {sql}");
    assert!(!sql.contains("  ") && !sql.contains(';') && !sql.contains('#'), "{system}: {sql}");
    assert!(sql.len() < 60_000, "{system}: {} bytes", sql.len());
}

/// The first requests of a step, as text.
fn first(system: System, name: &str) -> Vec<String> {
    let (_, done) = played(system, options(0.01, &SqlBenchTest::ALL), &Answers::default());
    let step = done.iter().find(|done| done.step.name == name).expect("a section of this name");
    let Work::Statements(step) = &step.step.work else { panic!("{name}") };
    let texts = (step.at)(0).into_iter().map(|request| match request {
        SqlRequest::Text { sql, .. } => sql,
        other => format!("{other:?}"),
    });
    texts.collect()
}

#[test]
fn dialects_differ_where_required() {
    let lengths = |name: &str| SYSTEMS.map(|system| first(system, name).len());
    assert_eq!(lengths("alter-table: alter_table_add"), [1, 1, 10, 1], "SQLite adds one column in a statement");
    assert_eq!(lengths("insert: prepared_select"), [3, 4, 1, 1]);
    let check = |name: &str, parts: [&str; 4]| {
        for (system, part) in SYSTEMS.into_iter().zip(parts) {
            let ordered = first(system, name).join("; ");
            assert!(ordered.contains(part), "{system}, {name}: {ordered}");
        }
    };
    check("alter-table: drop_index", ["DROP INDEX altered_0", "INDEX altered_0 ON altered", "altered_0", "altered_0"]);
    check("insert: insert_duplicates", ["ON CONFLICT DO NOTHING", "INSERT IGNORE", "ON CONFLICT", "DUPKEY"]);
    check("create: create_key+drop", ["UNIQUE", "INDEX key_15 (k15)", "UNIQUE", "UNIQUE"]);
    check("connect: select_simple", ["SELECT 10", "SELECT 10", "SELECT 10", "SELECT 10 FROM dual"]);
}

#[test]
fn rows_missing_after_time_limit_are_bulk_loaded() {
    let limited = Answers { at_most: 700, ..Answers::default() };
    let (_, done) = played(System::Postgres, options(0.1, &[SqlBenchTest::Create, SqlBenchTest::Insert]), &limited);
    let count = |name: &str| done.iter().find(|done| done.step.name == name).map(count_requested);
    // Of 1,000 requested tables 700 were created: only these are counted and dropped.
    assert_eq!(count("create: select_group_when_MANY_tables"), Some(700));
    assert_eq!(count("create: drop_table_when_MANY_tables"), Some(700));
    assert_eq!(count("create: remaining_tables"), None, "all were dropped");
    // 700 of 300,000 rows: the rest is bulk-loaded, 250 rows per statement.
    assert_eq!(count("insert: remaining_rows"), Some((300_000_u64 - 700).div_ceil(250)));
    let fewer = Answers { at_most: 700, drops: 300, ..Answers::default() };
    let (_, done) = played(System::Postgres, options(0.1, &[SqlBenchTest::Create]), &fewer);
    let left = done.iter().find(|done| done.step.name == "create: remaining_tables").expect("tables are left");
    assert_eq!(count_requested(left), 400);
    let Work::Statements(step) = &left.step.work else { panic!() };
    assert_eq!((step.at)(0), [SqlRequest::text("DROP TABLE made_300")]);
    assert_eq!(step.limit, None, "a preparation comes to its end");
}

#[test]
fn listing_matches_sql_bench() {
    let answers =
        Answers { at_most: 150, wrong: Some("create: create+drop"), each: Span::from_millis(12), ..Answers::default() };
    let tests = [SqlBenchTest::AlterTable, SqlBenchTest::Create];
    let (suite, done) = played(System::Mysql, options(0.02, &tests), &answers);
    let listings = suite.listings(&done, &facts(System::Mysql));
    let titles: Vec<&str> = listings.iter().map(|listing| listing.title.as_str()).collect();
    assert_eq!(titles, ["sql-bench compared with an article", "sql-bench tests", "sql-bench totals per operation"]);
    let text: Vec<&str> = listings.iter().map(|listing| listing.text.as_str()).collect();
    played::check_kept("layouts.txt", &text.join("\n"));
    assert!(suite.has_failed(&done));
    let message = words(&suite.verdicts(&done, &facts(System::Mysql))).join("\n");
    assert!(message.contains("Create: 1 of 150 statements of create+drop did not bring the rows"), "{message}");
    assert!(message.contains("executed 0.02 times their full counts"), "{message}");
}

#[test]
fn smaller_tables_are_not_compared() {
    let small = SqlBenchOptions { size: 0.01, ..options(0.02, &[SqlBenchTest::AlterTable]) };
    let (suite, done) = played(System::Mysql, small, &Answers::default());
    let listings = suite.listings(&done, &facts(System::Mysql));
    assert!(!listings[1].text.contains("full count"), "{}", listings[1].text);
    assert!(
        listings[0].text.contains("alter-table          0.00            -         2        11"),
        "{}",
        listings[0].text
    );
    let message = words(&suite.verdicts(&done, &facts(System::Mysql))).join("\n");
    assert!(message.contains("no figure here can be compared"), "{message}");
}

#[test]
fn flushes_are_judged() {
    let message = |answers: Answers, durable: Option<bool>| {
        let (suite, done) =
            played(System::Postgres, options(0.01, &[SqlBenchTest::Connect, SqlBenchTest::Create]), &answers);
        let mut facts = facts(System::Postgres);
        if let Some((_, about)) = &mut facts.database {
            about.durable = durable;
        }
        words(&suite.verdicts(&done, &facts)).join("\n")
    };
    let check = |answers: Answers, durable, expected: &str| {
        let message = message(answers, durable);
        assert!(message.contains(expected), "not {expected}: {message}");
    };
    let flushed = || Answers { server: Some(1), device: Some(1), each: Span::from_millis(1), ..Answers::default() };
    check(flushed(), Some(true), "only a power cut can prove it");
    check(flushed(), Some(true), "the server counted 1.00, the device with all that else is on it counted 1.00");
    check(flushed(), Some(true), "A CREATE TABLE took 1 ms (median; 1000 a second)");
    check(
        flushed(),
        Some(true),
        "about flushing and not about speed: create 80 %; about processors and hardly about storage: connect 0 %",
    );
    check(flushed(), Some(false), "figures of tests that write are those of memory");
    check(Answers { server: Some(0), ..flushed() }, Some(true), "flushed its log for fewer than every second");
    check(Answers { device: Some(0), ..flushed() }, Some(true), "the device was not flushed: either the kernel");
    check(Answers { device: None, ..flushed() }, None, "it is unknown whether it was flushed");
    check(Answers { each: Span::from_micros(5), ..flushed() }, Some(true), "flushes may not be honoured");
    let none = message(Answers { server: None, device: None, ..flushed() }, Some(true));
    assert!(!none.contains("time in flushes"), "{none}");
    // What the article's figures are about is said in any case.
    assert!(none.contains("1.1 ms for a table") && none.contains("the SATA server was not flushing"), "{none}");
}

#[test]
fn invalid_options_have_remedies() {
    let check = |options: SqlBenchOptions, expected: &str| {
        let refused = SqlBench::new(options, &facts(System::Sqlite)).err().expect("it is refused").to_string();
        assert!(refused.contains(expected), "{refused}");
    };
    check(options(0.0, &SqlBenchTest::ALL), "--scale 0: write a share");
    check(options(1.5, &SqlBenchTest::ALL), "--scale 1.5");
    check(SqlBenchOptions { size: f64::NAN, ..SqlBenchOptions::defaults() }, "--size NaN");
    check(options(1.0, &[]), "name at least one test");
    let nothing = plimsoll_suite::Facts { database: None, ..facts(System::Sqlite) };
    let refused = SqlBench::new(SqlBenchOptions::defaults(), &nothing).err().expect("it is refused").to_string();
    assert!(refused.contains("sql-bench needs a database"), "{refused}");
    let suite = recipe(System::Sqlite, options(0.5, &[SqlBenchTest::Select, SqlBenchTest::Atis]));
    assert!(suite.settings().contains(&("tests".into(), "ATIS, select".into())), "{:?}", suite.settings());
}

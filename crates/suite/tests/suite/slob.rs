//! SLOB on small created servers: a row per block, correct results of units of work, updates in place.
#![allow(
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test that is skipped says why, and a panic is how one fails"
)]

use crate::grounds;

use std::ops::ControlFlow;

use plimsoll_database::{Flushes, System, Value};
use plimsoll_record::{DatabaseAbout, Source, Tally};
use plimsoll_suite::recipes::slob::{Hotspot, RedoStress, SchemaScale, Slob, SlobOptions, ThinkTime};
use plimsoll_suite::{
    CompletedStep, DatabaseGround, Facts, Ground, Recipe, SessionWork, SessionsStep, SqlRequest, StatementsStep, Step,
    StepResult, SuiteOptions, Work,
};
use plimsoll_units::{Bytes, Span};

use grounds::{Temporary, all, database, planned as steps_of, words};

fn build_facts(system: System, about: DatabaseAbout) -> Facts {
    Facts::of_database("here".into(), Source::Measured { engine: system.to_string() }, system, about)
}

fn create(system: System, cache: Bytes) -> Option<(DatabaseGround, Temporary)> {
    database(system, cache, Flushes::Honoured)
}

/// Two schemas, ranges of seven blocks, a second per share of updates.
fn small(scale: Bytes) -> SlobOptions {
    SlobOptions {
        schemas: 2,
        scale: Some(SchemaScale::Bytes(scale)),
        work_unit: 8,
        threads: Some(vec![1, 2]),
        budget: Span::from_secs(6),
        ..SlobOptions::defaults()
    }
}

fn query(ground: &mut DatabaseGround, sql: &str) -> Vec<Vec<f64>> {
    let sql = sql.to_owned();
    let step = StatementsStep::new(1, move |_| vec![SqlRequest::Query(sql.clone())]);
    match ground.statements(&step, &mut |_| ControlFlow::Continue(())) {
        Ok(StepResult::Statements(observed)) => {
            observed.rows.iter().map(|row| row.iter().map(|value| Value::float(value).unwrap()).collect()).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// All operations of a step, warm-up included.
fn sum_tallies(done: &CompletedStep) -> Tally {
    let mut total = Tally::default();
    done.result.sessions().unwrap().series.iter().for_each(|slice| total.merge(&slice.tally));
    total
}

fn count(tally: &Tally, kind: u8) -> u64 {
    tally.only(|counter| counter.stream == kind).operations()
}

/// Runs the whole suite on a ground; returns the executed steps.
fn performed(ground: &mut DatabaseGround, options: SlobOptions) -> Vec<CompletedStep> {
    let facts = ground.facts().clone();
    let mut recipe = Slob::new(options, &facts).unwrap();
    let outcome = all(&mut recipe, ground);
    assert!(!recipe.listings(&outcome.done, &facts).is_empty());
    let verdicts = words(&recipe.verdicts(&outcome.done, &facts));
    assert!(verdicts.iter().any(|verdict| verdict.contains("In SLOB's terms")), "{verdicts:?}");
    assert!(!verdicts.iter().any(|verdict| verdict.contains("not one:")), "{verdicts:?}");
    outcome.done
}

/// Asserts the shares of updates, and that the times fit in the measured time.
fn check_units(done: &[CompletedStep], commits_apart: bool) {
    let measured: Vec<&CompletedStep> = done.iter().filter(|done| done.result.sessions().is_some()).collect();
    assert_eq!(measured.len(), 4, "two loads for each of two shares");
    for (number, done) in measured.into_iter().enumerate() {
        let Work::Sessions(step) = &done.step.work else { panic!("{:?}", done.step) };
        assert_eq!(step.sessions, [2, 4][number % 2]);
        let tally = sum_tallies(done);
        let (selects, updates, commits) = (count(&tally, 0), count(&tally, 1), count(&tally, 2));
        assert!(selects > 0, "{tally:?}");
        assert_eq!(tally.errors(), 0);
        if number < 2 {
            assert_eq!((updates, commits), (0, 0));
        } else {
            let off = updates.abs_diff((selects + updates) / 4);
            // Within a hundred units of a session, updates come first.
            assert!(off <= 30 * u64::from(step.sessions), "{updates} updates beside {selects}");
            assert_eq!(commits, if commits_apart { updates } else { 0 });
        }
        let observed = done.result.sessions().unwrap();
        let span: f64 = observed.series.iter().map(|slice| slice.span.as_secs_f64()).sum();
        let worked = tally.response().sum_ns as f64 / 1e9;
        assert!(worked > 0.0 && worked < span * f64::from(step.sessions) * 1.2, "{worked} s of work in {span} s");
    }
}

#[test]
fn sqlite_has_a_row_per_page_and_updates_in_place() {
    let (mut ground, _folder) = create(System::Sqlite, Bytes::mib(1)).expect("it is part of this program");
    let done = performed(&mut ground, small(Bytes::mib(4)));
    check_units(&done, false);
    let pages = "SELECT count(*), sum(ncell), max(ncell) FROM dbstat WHERE name = 'slob_1' AND pagetype = 'leaf'";
    assert_eq!(query(&mut ground, pages), [[512.0, 512.0, 1.0]]);
    let others = "SELECT count(*) FROM dbstat WHERE name = 'slob_1' AND pagetype = 'overflow'";
    assert_eq!(query(&mut ground, others), [[0.0]]);
    assert_eq!(query(&mut ground, "SELECT min(k), max(k), count(DISTINCT k) FROM slob_2"), [[1.0, 512.0, 512.0]]);
}

#[test]
fn postgresql_has_a_row_per_page_and_updates_in_place() {
    let Some((mut ground, _folder)) = create(System::Postgres, Bytes::mib(1)) else { return };
    let heavy = SlobOptions { redo_stress: RedoStress::Heavy, ..small(Bytes::mib(4)) };
    check_units(&performed(&mut ground, heavy), true);
    let pages = "SELECT count(*)::float8, count(DISTINCT (ctid::text::point)[0])::float8 FROM slob_1";
    assert_eq!(query(&mut ground, pages), [[512.0, 512.0]]);
    let counters = "SELECT sum(n_tup_upd)::float8, sum(n_tup_hot_upd)::float8 FROM pg_stat_user_tables";
    let updated = &query(&mut ground, counters)[0];
    assert!(updated[0] > 0.0 && updated[1] >= 0.95 * updated[0], "{updated:?}");
}

#[test]
fn mariadb_has_a_row_per_page_and_updates_in_place() {
    let Some((mut ground, _folder)) = create(System::Mysql, Bytes::mib(8)) else { return };
    check_units(&performed(&mut ground, small(Bytes::mib(16))), true);
    let rows = "SELECT COUNT(k), COUNT(*), MIN(k), MAX(k) FROM slob_1";
    assert_eq!(query(&mut ground, rows), [[1024.0, 2048.0, 1.0, 1024.0]]);
    let sizes = "SELECT DATA_LENGTH DIV @@innodb_page_size FROM information_schema.TABLES WHERE TABLE_NAME = 'slob_1' AND \
                 TABLE_SCHEMA = DATABASE()";
    let pages = query(&mut ground, sizes)[0][0];
    assert!((1024.0..1450.0).contains(&pages), "{pages} pages");
}

#[test]
fn optional_slob_features_work() {
    let systems = [(System::Sqlite, 1, 4), (System::Postgres, 1, 4), (System::Mysql, 8, 16)];
    for (system, cache, scale) in systems {
        let Some((mut ground, _folder)) = create(system, Bytes::mib(cache)) else { continue };
        let think = ThinkTime { frequency: 20, least: Span::from_millis(1), max: Span::from_millis(3) };
        let options = SlobOptions {
            update_pcts: vec![100],
            threads: Some(vec![1]),
            budget: Span::from_secs(2),
            hotspot: Some(Hotspot { size: Bytes::mib(1), offset: Bytes::mib(1), frequency: 2 }),
            think_time: (system != System::Sqlite).then_some(think),
            compressible: true,
            ..small(Bytes::mib(scale))
        };
        let done = performed(&mut ground, options);
        let tally = sum_tallies(done.last().unwrap());
        assert!(count(&tally, 0) == 0 && count(&tally, 1) > 0, "{system}: {tally:?}");
    }
}

/// The recipe on a database with this cache.
fn planned(options: SlobOptions, system: System, block: Bytes, cache: Bytes) -> Result<Slob, String> {
    let name = if system == System::Mysql { "MariaDB" } else { system.name() };
    let about = DatabaseAbout {
        system: name.into(),
        version: "10.6.12".into(),
        block,
        cache: Some(cache),
        ..DatabaseAbout::default()
    };
    Slob::new(options, &build_facts(system, about)).map_err(|error| error.to_string())
}

#[test]
fn invalid_slob_options_are_refused_in_one_line() {
    let check = |options: SlobOptions, words: &str| {
        let message = planned(options, System::Postgres, Bytes::kib(8), Bytes::mib(64)).unwrap_err();
        assert!(message.contains(words) && !message.contains('\n'), "{message}");
    };
    let fits = SlobOptions::defaults();
    check(SlobOptions { schemas: 0, ..fits.clone() }, "--schemas 4");
    check(SlobOptions { schemas: 65, ..fits.clone() }, "every schema is active");
    check(SlobOptions { work_unit: 2, ..fits.clone() }, "--work-unit 64");
    check(SlobOptions { update_pcts: vec![0, 51], ..fits.clone() }, "updates of 51 %");
    check(SlobOptions { update_pcts: Vec::new(), ..fits.clone() }, "--update-pct 0,25");
    check(SlobOptions { threads: Some(vec![17]), ..fits.clone() }, "--max-sessions 68");
    check(SlobOptions { threads: Some(vec![0]), ..fits.clone() }, "not 1 to 16");
    check(SlobOptions { scale: Some(SchemaScale::Blocks(8191)), ..fits.clone() }, "--scale 64MiB");
    check(SlobOptions { scale: Some(SchemaScale::Blocks(1 << 40)), ..fits.clone() }, "blocks for a schema");
    let hot = |size, offset| Some(Hotspot { size: Bytes::mib(size), offset: Bytes::mib(offset), frequency: 3 });
    check(SlobOptions { hotspot: hot(8, 60), ..fits.clone() }, "--hotspot 8MiB");
    check(SlobOptions { hotspot: hot(0, 1), ..fits.clone() }, "--hotspot 8MiB");
    let upside_down = ThinkTime { frequency: 1, least: Span::from_secs(2), max: Span::from_secs(1) };
    check(SlobOptions { think_time: Some(upside_down), ..fits.clone() }, "--think-time 5");
    let think = Some(ThinkTime { frequency: 1, least: Span::ZERO, max: Span::from_secs(1) });
    let message =
        planned(SlobOptions { think_time: think, ..fits.clone() }, System::Sqlite, Bytes::kib(4), Bytes::mib(1));
    assert!(message.unwrap_err().contains("leave out --think-time"));
    let large = planned(fits.clone(), System::Postgres, Bytes::kib(8), Bytes::gib(8)).unwrap_err();
    assert!(large.contains("--scale 8192MiB") && large.contains("--make"), "{large}");
    let wide = planned(fits, System::Mysql, Bytes::kib(64), Bytes::mib(64)).unwrap_err();
    assert!(wide.contains("4 to 32 KiB"), "{wide}");
}

#[test]
fn scales_are_blocks_or_bytes() {
    let check = |text: &str, expected: Option<SchemaScale>| assert_eq!(text.parse().ok(), expected, "{text}");
    check("10000", Some(SchemaScale::Blocks(10_000)));
    check("80M", Some(SchemaScale::Bytes(Bytes::mib(80))));
    check("64MiB", Some(SchemaScale::Bytes(Bytes::mib(64))));
    check("much", None);
    check("-1", None);
}

/// Steps of a recipe without results.
fn steps(options: SlobOptions, system: System, block: Bytes) -> Vec<Step> {
    let mut recipe = planned(options, system, block, Bytes::mib(64)).unwrap();
    let facts = build_facts(system, DatabaseAbout::default());
    steps_of(&mut recipe, &facts)
}

fn list_texts(step: &Step) -> Vec<String> {
    let Work::Statements(statements) = &step.work else { panic!("{step:?}") };
    let text = |request: SqlRequest| match request {
        SqlRequest::Text { sql, .. } | SqlRequest::Query(sql) => sql,
        other => panic!("{other:?}"),
    };
    (0..statements.count).flat_map(|index| (statements.at)(index)).map(text).collect()
}

fn unwrap_sessions(step: &Step) -> &SessionsStep {
    let Work::Sessions(sessions) = &step.work else { panic!("{step:?}") };
    sessions
}

#[test]
fn all_schemas_are_active_at_every_point() {
    let created = steps(SlobOptions::defaults(), System::Postgres, Bytes::kib(8));
    let loads: Vec<&SessionsStep> = created[4..].iter().map(unwrap_sessions).collect();
    assert!(loads.len() >= 2 && loads.iter().all(|load| load.sessions % 4 == 0));
    let longest: f64 = loads.iter().map(|load| (load.warm_up + load.max).as_secs_f64()).sum();
    assert!(longest < 600.0, "{longest} s");
    let SessionWork::InServer(server) = &loads[0].work else { panic!("a loop in the server") };
    let calls: Vec<String> = (0..4).map(|session| server.call(session, 7, Span::from_millis(250))).collect();
    for (number, call) in calls.iter().enumerate() {
        assert_eq!(*call, format!("CALL slob_work_{}(250000, 0, 0, NULL)", number + 1));
    }
    assert_ne!(server.call(0, 7 << 20, Span::from_millis(250)), calls[0], "another seed goes to other places");
}

#[test]
fn statements_follow_the_dialect() {
    let check = |system, block, words: [&str; 4]| {
        let options =
            || SlobOptions { schemas: 2, scale: Some(SchemaScale::Bytes(Bytes::mib(256))), ..SlobOptions::defaults() };
        let (created, again) = (steps(options(), system, block), steps(options(), system, block));
        for ((step, again), words) in created.iter().zip(&again).zip(words) {
            let texts = list_texts(step);
            assert!(texts.iter().any(|text| text.contains(words)), "{system}: {words}: {}", texts[0]);
            let schemas = (1..=2).all(|schema| texts.iter().any(|text| text.contains(&format!("slob_{schema}"))));
            assert!(schemas, "{system}: {}", step.name);
            assert_eq!(texts, list_texts(again), "the seed says it all");
        }
        let other = steps(SlobOptions { seed: 2, ..options() }, system, block);
        assert_ne!(list_texts(&created[1]), list_texts(&other[1]), "another seed puts keys to other places");
    };
    check(
        System::Postgres,
        Bytes::kib(8),
        ["fillfactor = 10", "sha512", "VACUUM (FREEZE, ANALYZE)", "pg_relation_size"],
    );
    check(System::Mysql, Bytes::kib(16), ["VARBINARY(420)", "SHA2(", "FORCE INDEX (slob_1_k)", "DATA_LENGTH"]);
    check(System::Sqlite, Bytes::kib(4), ["INTEGER PRIMARY KEY", "randomblob(208)", "CREATE UNIQUE INDEX", "dbstat"]);
    check(System::Oracle, Bytes::kib(8), ["PCTFREE 99", "CONNECT BY LEVEL", "RETURN_RESULT", "ROWID_BLOCK_NUMBER"]);
}

/// Answers in the place of `sqlplus`, which is not at hand: sessions that connect, numbered snapshots, reports, and sessions of
/// which that with the seed `FAILING` fails. Records its calls and commands.
const SQLPLUS: &str = r#"#!/bin/sh
echo "$*" >>"calls"
while read -r line; do
  echo "<$line>" >>"calls"
  case $line in
  @ready.sql*) echo "${READY:-ready}" ;;
  @snapshot.sql*) number=$(cat snapshots 2>/dev/null || echo 0); echo $((number + 1)) >snapshots; echo "snapshot=$(cat snapshots)" ;;
  @report.sql*) echo "${REPORT:-WORKLOAD REPOSITORY report} ${line##*@report.sql }" ;;
  "@session.sql "*" ${FAILING:-none} "*) echo 'ORA-01013: cancelled'; exit 1 ;;
  @session.sql*) echo finished ;;
  esac
done
"#;

/// Directories of the scripts and of the program in the place of `sqlplus`; `None` with the reason on standard error if this
/// host lacks a program that the scripts need.
fn write_scripts(folder: &Temporary, options: &SlobOptions) -> Option<(std::path::PathBuf, String)> {
    for program in ["mkfifo", "rm"] {
        let has = std::process::Command::new(program).arg("--version").output().is_ok();
        if !has {
            eprintln!("skipped: no {program} here");
            return None;
        }
    }
    let scripts = folder.path().join("slob");
    options.write_scripts(&scripts).unwrap();
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::fs::write(bin.join("sqlplus"), SQLPLUS).unwrap();
    std::fs::set_permissions(bin.join("sqlplus"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    Some((scripts, format!("{}:{}", bin.display(), std::env::var("PATH").unwrap())))
}

fn run_scripts((scripts, path): &(std::path::PathBuf, String), variables: &[(&str, &str)]) -> std::process::Output {
    let mut command = std::process::Command::new("sh");
    command.arg(scripts.join("run.sh")).env("PATH", path).env("SLOB_CONNECT", "slob/secret@db");
    command.envs(variables.iter().copied()).output().unwrap()
}

#[test]
fn scripts_for_sqlplus_create_the_schemas() {
    let folder = Temporary::new("sqlplus");
    let options = SlobOptions { update_pcts: vec![0, 25], ..small(Bytes::mib(8)) };
    let scripts = folder.path().join("slob");
    let names = options.write_scripts(&scripts).unwrap();
    assert!(names.contains(&"run.sh") && options.write_scripts(&scripts).is_err(), "files are not overwritten");
    let load = std::fs::read_to_string(scripts.join("load.sql")).unwrap();
    assert!(load.lines().all(|line| line.len() < 2499), "sqlplus ignores longer lines");
    let statements = load.split("\n/\n").count();
    assert_eq!(
        statements,
        1 + 2 * 5 + 1 + 1 + 1,
        "an estimate; table, rows, index, statistics, procedure; counts; a check; end"
    );
    assert!(load.contains("2 schemas of 1024 rows, each in a block of 8192 bytes: 16 MiB."), "{load:.600}");
    assert!(load.contains("FOR step IN 0 .. 0") && load.contains("LEVEL <= ((step + 1) * 1024) - step * 1024"));
    let output = load.find("DBMS_OUTPUT.PUT_LINE('Loading takes at least ").unwrap();
    assert!(output < load.find("\nCREATE TABLE").unwrap() && load.contains("/ 2000 * 19 * 2048 / 60;"), "{load:.2000}");
    let compressible = SlobOptions { compressible: true, ..options.clone() };
    compressible.write_scripts(&folder.path().join("fast")).unwrap();
    let load = std::fs::read_to_string(folder.path().join("fast/load.sql")).unwrap();
    assert!(!load.contains("Loading takes"), "text that compresses is fast");
}

#[test]
fn sessions_for_sqlplus_begin_together_between_two_snapshots() {
    let folder = Temporary::new("sqlplus-run");
    let options = SlobOptions { update_pcts: vec![0, 25], ..small(Bytes::mib(8)) };
    let Some(scripts) = write_scripts(&folder, &options) else { return };
    let output = run_scripts(&scripts, &[]);
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("may prefetch the blocks of a range"), "{output:?}");
    let calls = std::fs::read_to_string(scripts.0.join("calls")).unwrap();
    let order: String = calls
        .lines()
        .filter_map(|line| match line {
            "<@ready.sql>" => Some('r'),
            "<@snapshot.sql>" => Some('s'),
            line => line.starts_with("<@session.sql ").then_some('w'),
        })
        .collect();
    // Two shares of updates, with one and two threads for each of two schemas.
    assert_eq!(order, "rrswwsrrrrswwwwsrrswwsrrrrswwwws");
    assert!(!calls.lines().any(|line| line.starts_with('-') && line.contains("secret")), "{calls}");
    assert_eq!(
        std::fs::read_to_string(scripts.0.join("awr-updates25-threads2.txt")).unwrap().trim(),
        "WORKLOAD REPOSITORY report 7 8"
    );
    let fails = |variables: &[(&str, &str)], expected: &str| {
        let failed = run_scripts(&scripts, variables);
        let message = String::from_utf8_lossy(&failed.stderr).into_owned();
        assert!(!failed.status.success() && message.contains(expected), "{message}");
    };
    fails(&[("FAILING", "3")], "a session failed: see session-");
    fails(&[("REPORT", "ORA-20200")], "no report of AWR: see awr-updates0-threads1.txt");
    fails(&[("READY", "SP2-0640: Not connected")], "a session did not connect: see session-");
    let barriers = std::fs::read_dir(&scripts.0).unwrap().filter_map(Result::ok);
    let left = barriers.filter(|file| file.file_name().to_string_lossy().starts_with('b')).count();
    assert_eq!(left, 0, "the barrier is removed");
}

#[test]
fn passwords_with_separators_are_quoted_or_refused() {
    let folder = Temporary::new("sqlplus-passwords");
    let options = SlobOptions { update_pcts: vec![0], threads: Some(vec![1]), ..small(Bytes::mib(8)) };
    let Some(scripts) = write_scripts(&folder, &options) else { return };
    let table = [
        ("slob/secret@db", true),
        ("slob/secret@//host:1521/service", true),
        ("/@alias", true),
        ("slob/\"p@ss/w&rd\"@host/service", true),
        ("slob/p@ss@host/service", false),
        ("slob/pa/ss@host/service", false),
    ];
    for (connect, is_accepted) in table {
        let output = run_scripts(&scripts, &[("SLOB_CONNECT", connect)]);
        assert_eq!(output.status.success(), is_accepted, "{connect}: {output:?}");
        if is_accepted {
            let calls = std::fs::read_to_string(scripts.0.join("calls")).unwrap();
            let expected = format!("<SET DEFINE OFF>\n<CONNECT {connect}>\n<SET DEFINE ON>\n");
            assert!(calls.contains(&expected), "{connect}: {calls}");
        } else {
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(message.contains("put a password with @ or / in double quotes"), "{message}");
        }
    }
}

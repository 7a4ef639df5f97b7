//! Steps, table and verdicts of the ladder, without a database.

use plimsoll_record::{Counting, Slice};
use plimsoll_units::{Instant, Kind, Op};

use super::*;
use crate::recipes::databases::words;
use crate::result::StepResult;

fn default_facts(system: System) -> Facts {
    crate::recipes::databases::facts(system)
}

/// The article's rungs with a full scan of a table of 1 GiB, six times each.
fn article_options() -> LadderOptions {
    let rungs = published::ROWS.iter().map(|row| row.sessions).collect();
    LadderOptions { table: Bytes::gib(1), rungs: Rungs(rungs), ..LadderOptions::defaults() }
}

fn script(name: &str, sql: &str) -> SqlScript {
    SqlScript { name: name.into(), sql: sql.into() }
}

fn of_script(rungs: &[u32], until: Until) -> LadderOptions {
    let (turns, measure) = match until {
        Until::Turns(turns) => (turns, None),
        Until::Time(time) => (1, Some(time)),
    };
    LadderOptions {
        sql: Some(script("scan.sql", "SELECT 1")),
        rungs: Rungs(rungs.to_vec()),
        turns,
        measure,
        ..LadderOptions::defaults()
    }
}

fn build_ladder(rungs: &[u32], until: Until) -> Ladder {
    let options = of_script(rungs, until);
    Ladder::new(options, &default_facts(System::Postgres)).expect("rungs that rise")
}

/// All steps, each with the result of `observed`.
fn climb(ladder: &mut Ladder, observed: impl Fn(&SessionsStep) -> SessionsResult) -> Vec<CompletedStep> {
    let facts = default_facts(System::Postgres);
    let mut done = Vec::new();
    while let Some(step) = ladder.next(&done, &facts) {
        let observed = match &step.work {
            Work::Sessions(sessions) => StepResult::Sessions(Box::new(observed(sessions))),
            _ => StepResult::Paused,
        };
        done.push(CompletedStep { step, result: observed });
    }
    done
}

/// The article's results: each execution of a rung takes the mean of the rung.
fn article(step: &SessionsStep) -> SessionsResult {
    let row = published::ROWS.iter().find(|row| row.sessions == step.sessions).expect("a rung of the article");
    let response = Span::from_secs_f64(row.mean_s);
    let mut counting = Counting::new();
    for stream in 0..step.kinds.len() as u8 {
        for _ in 0..step.sessions {
            counting.done(&Op { offset: 0, length: 0, kind: Kind::Read, stream }, response, response);
        }
    }
    let span = response * step.kinds.len() as u64;
    let series = vec![Slice { start: Instant::ZERO, span, tally: counting.take() }];
    SessionsResult { series, window: (Span::ZERO, span), ..SessionsResult::default() }
}

#[test]
fn article_ladder_reproduces_table_and_fit() {
    let options = LadderOptions { beside_article: true, ..article_options() };
    let mut ladder = Ladder::new(options, &default_facts(System::Postgres)).expect("the article's");
    let done = climb(&mut ladder, article);
    let facts = default_facts(System::Postgres);
    let listings = ladder.listings(&done, &facts);
    let lines: Vec<&str> = listings[0].text.lines().collect();
    assert_eq!(
        lines[1].split_whitespace().collect::<Vec<_>>(),
        ["1", "00:13.36", "00:13.36", "00:13.36", "00:13.36", "00:13.36", "00:13.36", "00:13.36", "4.5"]
    );
    assert!(lines[8].ends_with("00:41.99          17.1"), "{}", lines[8]);
    let beside = listings[1].text.lines().last().expect("a last line").split_whitespace().collect::<Vec<_>>();
    assert_eq!(beside, ["12", "00:41.99", "00:41.99", "17.1", "17.1", "3.82", "3.80"]);
    let fitted = ladder.database_result(&done, &facts).fitted.expect("eight rungs");
    assert!((fitted.demand.as_secs_f64() - 3.48).abs() < 0.07, "{fitted:?}");
    let verdicts = words(&ladder.verdicts(&done, &facts));
    assert!(verdicts[0].starts_with("The most is 17.2 executions a minute, from 3.8 sessions on:"), "{verdicts:#?}");
    assert!(verdicts[0].contains("Alone, an execution spends 26 % of its time at that station; at 12 sessions"));
    assert!(verdicts.iter().any(|verdict| verdict.contains("brought the same rows")), "{verdicts:#?}");
}

#[test]
fn linear_throughput_has_no_fitted_maximum() {
    let mut ladder = build_ladder(&[1, 2, 6], Until::Turns(2));
    let done = climb(&mut ladder, |step| {
        let response = Span::from_millis(700);
        let op = Op { offset: 0, length: 0, kind: Kind::Read, stream: 0 };
        let series = |count: u32| {
            let mut counting = Counting::new();
            (0..count).for_each(|_| counting.done(&op, response, response));
            vec![Slice { start: Instant::ZERO, span: response * 2, tally: counting.take() }]
        };
        SessionsResult { series: series(2 * step.sessions), ..SessionsResult::default() }
    });
    let facts = default_facts(System::Postgres);
    assert_eq!(ladder.database_result(&done, &facts).fitted, None);
    let sentences = words(&ladder.verdicts(&done, &facts));
    assert!(sentences[0].contains("6 sessions brought 6.0 times as many executions as 1 session"), "{sentences:#?}");
}

#[test]
fn rungs_run_between_setup_and_teardown() {
    let options = LadderOptions {
        sql: Some(script("x.sql", "UPDATE t SET a = 1")),
        may_write: true,
        setup: Some(script("setup.sql", "CREATE TABLE t (a int)")),
        teardown: Some(script("teardown.sql", "DROP TABLE t")),
        ..of_script(&[1, 2, 4], Until::Time(Span::from_secs(2)))
    };
    let mut ladder = Ladder::new(options, &default_facts(System::Sqlite)).expect("rungs that rise");
    let done = climb(&mut ladder, |_| SessionsResult::default());
    let names: Vec<&str> = done.iter().map(|done| done.step.name.as_str()).collect();
    assert_eq!(names, ["Set-up", "1 session", "2 sessions", "4 sessions", "Tear-down"]);
    assert_eq!(done.len(), ladder.expected());
    assert_eq!(done.iter().filter(|done| done.step.counts).count(), 3);
    let Work::Sessions(sessions) = &done[2].step.work else { panic!("{:?}", done[2]) };
    assert_eq!((sessions.turns, sessions.max, sessions.kinds.len()), (None, Span::from_secs(2), 1));
    assert!(sessions.kinds[0].writes && ladder.listings(&done, &default_facts(System::Sqlite)).is_empty());
}

#[test]
fn built_in_table_has_requested_size() {
    for system in [System::Postgres, System::Mysql, System::Sqlite] {
        let steps = filling(system, Bytes::mib(100), 1).expect("a system that is known");
        let Work::Statements(fill) = &steps[1].work else { panic!("{:?}", steps[1]) };
        assert_eq!(fill.count, 11, "{system}: 102,400 rows, 10,000 by a statement");
    }
    let options = article_options();
    assert!(
        Ladder::new(options, &default_facts(System::Oracle))
            .err()
            .expect("not known")
            .to_string()
            .contains("give --sql")
    );
}

#[test]
fn invalid_ladder_options_are_refused() {
    let refused = |rungs: &[u32], until| Ladder::new(of_script(rungs, until), &default_facts(System::Sqlite)).is_err();
    let once = Until::Turns(1);
    for rungs in [&[][..], &[0, 1], &[2, 1], &[1, 1], &[1, 5000]] {
        assert!(refused(rungs, once), "{rungs:?}");
    }
    assert!(refused(&[1], Until::Turns(0)) && refused(&[1], Until::Time(Span::ZERO)));
    assert!(!refused(&[1, 2], once));
}

#[test]
fn reading_is_detected_by_first_word() {
    for reads in ["select 1", "  -- a comment\nWITH a AS (SELECT 1) SELECT * FROM a", "(SELECT 1)"] {
        assert!(is_reading(reads), "{reads}");
    }
    for writes in ["INSERT INTO t VALUES (1)", "", "-- select\nDELETE FROM t", "BEGIN; SELECT 1; COMMIT"] {
        assert!(!is_reading(writes), "{writes}");
    }
}

#[test]
fn many_turns_print_percentiles() {
    assert_eq!(build_ladder(&[1, 2], Until::Turns(6)).kinds().len(), 6);
    assert_eq!(build_ladder(&[1, 2], Until::Turns(100)).kinds().len(), 1);
}

#[test]
fn rungs_are_ranges_and_lists() {
    let check = |text: &str, expected: &[u32]| assert_eq!(text.parse().ok(), Some(Rungs(expected.to_vec())), "{text}");
    check("1..4", &[1, 2, 3, 4]);
    check("1,2,4,8", &[1, 2, 4, 8]);
    check("1..3, 6", &[1, 2, 3, 6]);
    for wrong in ["", "0", "4..1", "2,1", "1,1", "1..", "a", "1..1000"] {
        assert!(wrong.parse::<Rungs>().is_err(), "{wrong}");
    }
}

#[test]
fn article_is_predicted_by_delay_and_queue() {
    let (demand, delay) = (Span::from_millis(3_480), Span::from_millis(9_880));
    let expected = [4.49, 8.41, 11.61, 14.00, 15.58, 16.49, 17.21, 17.24];
    let mut worst = 0.0_f64;
    for (row, expected) in published::ROWS.iter().zip(expected) {
        let got = 60.0 * closed::predict(demand, delay, row.sessions);
        assert!((got - expected).abs() <= 0.006, "{}: {got} instead of {expected}", row.sessions);
        worst = worst.max((got / row.per_minute - 1.0).abs());
    }
    assert!((worst - 0.044).abs() < 0.001, "{worst}");
}

#[test]
fn fit_recovers_the_parameters_of_the_article() {
    let points: Vec<(u32, f64)> = published::ROWS.iter().map(|row| (row.sessions, row.per_minute / 60.0)).collect();
    let fitted = closed::fit(&points).expect("eight points");
    let (demand, delay) = (fitted.demand.as_secs_f64(), fitted.delay.as_secs_f64());
    assert!((demand - 3.48).abs() < 0.07 && (delay - 9.88).abs() < 0.25, "{fitted:?}");
    assert!(fitted.error < 0.05, "{fitted:?}");
    assert!((closed::saturation(&fitted) - 3.84).abs() < 0.1, "{fitted:?}");
}

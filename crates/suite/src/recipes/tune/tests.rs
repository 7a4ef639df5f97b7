//! The search as a recipe, without a database: results follow from the settings.

use plimsoll_database::Value;
use plimsoll_record::{Counting, Slice, TuneVerdict};
use plimsoll_units::{Instant, Kind, Op};

use super::*;
use crate::recipes::databases::words;
use crate::result::ConfigureResult;
use crate::sql::StatementsResult;

fn options() -> TuneOptions {
    TuneOptions { load: TuneLoad::Range, measure: Span::from_secs(4), ..TuneOptions::defaults() }
}

/// Facts of a server that was created for the run.
fn created_facts() -> Facts {
    let mut facts = crate::recipes::databases::facts(System::Postgres);
    if let Some((_, about)) = &mut facts.database {
        about.created = true;
    }
    facts
}

/// Settings of version 18 without `io_uring`.
fn present() -> Vec<Row> {
    let text = |text: &str| Value::Text(text.into());
    vec![
        vec![text("effective_io_concurrency"), text("16"), text("user"), Value::Null],
        vec![text("io_method"), text("worker"), text("postmaster"), text("sync,worker")],
    ]
}

/// Transactions at this rate for 5 s.
fn sessions(step: &SessionsStep, per_second: u64) -> SessionsResult {
    let response = Span::from_secs(u64::from(step.sessions)) / per_second;
    let mut series = Vec::new();
    for second in 0..5 {
        let mut counting = Counting::new();
        for _ in 0..per_second {
            counting.done(&Op { offset: 0, length: 0, kind: Kind::Read, stream: 0 }, response, response);
        }
        let start = Instant::ZERO + Span::from_secs(second);
        series.push(Slice { start, span: Span::from_secs(1), tally: counting.take() });
    }
    SessionsResult { series, window: (Span::from_secs(1), Span::from_secs(5)), ..SessionsResult::default() }
}

fn value<'a>(settings: &'a Configuration, name: &str) -> &'a str {
    settings.iter().find(|(setting, _)| setting == name).map_or("", |(_, value)| value)
}

/// Plays a search to its end, or to `max_steps`; `refuses` is the configuration with which the server does not start.
fn play(tune: &mut Tune, max_steps: usize, refuses: impl Fn(&Configuration) -> bool) -> Vec<CompletedStep> {
    let (mut done, mut applied): (Vec<CompletedStep>, Configuration) = (Vec::new(), Vec::new());
    let facts = created_facts();
    while let Some(step) = tune.next(&done, &facts).filter(|_| done.len() < max_steps) {
        assert!(done.len() < tune.expected(), "more steps than expected");
        let result = match &step.work {
            Work::Settings(change) => {
                let why = refuses(&change.settings).then(|| "it did not start".to_owned());
                applied.clone_from(&change.settings);
                StepResult::Configured(ConfigureResult { span: Span::from_secs(1), refused: why })
            }
            Work::Sessions(step) => {
                let rate = if value(&applied, "effective_io_concurrency") == "64" { 200 } else { 100 };
                StepResult::Sessions(Box::new(sessions(step, rate)))
            }
            Work::Statements(_) if step.name == PRESENT => {
                StepResult::Statements(Box::new(StatementsResult { rows: present(), ..StatementsResult::default() }))
            }
            _ => StepResult::Paused,
        };
        done.push(CompletedStep { step, result });
    }
    done
}

#[test]
fn effective_setting_is_recommended_and_the_rest_is_listed() {
    let mut tune = Tune::new(options(), &created_facts()).expect("valid options");
    let done = play(&mut tune, usize::MAX, |_| false);
    let listings = tune.listings(&done, &created_facts());
    assert_eq!(listings[0].title, "Settings for postgresql.conf");
    assert_eq!(
        listings[0].text,
        "effective_io_concurrency = '64'          # before: 16; +100.0 % (+100.0 % to +100.0 %)\n"
    );
    let verdicts = words(&tune.verdicts(&done, &created_facts()));
    assert!(verdicts[0].starts_with("Better settings: effective_io_concurrency = 64: +100.0 %"), "{verdicts:#?}");
    assert!(verdicts.iter().any(|line| line.starts_with("Not better: ") && line.contains("io_method = sync")));
    assert!(verdicts.iter().any(|line| line.contains("io_method = io_uring (not in this build of the server)")));
    assert!(!tune.has_failed(&done));
}

#[test]
fn full_grid_is_compared_with_the_chosen_settings() {
    let only = vec!["effective_io_concurrency".to_owned(), "io_method".to_owned()];
    let grid = TuneOptions { only, has_grid: true, ..options() };
    let mut tune = Tune::new(grid, &created_facts()).expect("valid options");
    let done = play(&mut tune, usize::MAX, |_| false);
    let is_of_grid = |verdict: &Verdict| matches!(verdict, Verdict::Tune(TuneVerdict::BestOfGrid { .. }));
    let verdicts = tune.verdicts(&done, &created_facts());
    let Some(Verdict::Tune(TuneVerdict::BestOfGrid { configurations, rounds, best, ratio })) =
        verdicts.iter().find(|verdict| is_of_grid(verdict))
    else {
        panic!("{verdicts:?}");
    };
    assert_eq!((*configurations, *rounds, value(best, "effective_io_concurrency")), (8, 6, "64"));
    assert!((ratio.value - 1.0).abs() < 1e-9, "{ratio:?}");
    let listings = tune.listings(&done, &created_facts());
    let text = &listings.iter().find(|listing| listing.title == "Grid").expect("a grid").text;
    assert_eq!(text.lines().count(), 7, "{text}");
    assert!(text.contains("effective_io_concurrency = 256") && text.contains("-50.0 %"), "{text}");
}

#[test]
fn runs_of_a_comparison_with_a_restart_all_begin_with_one() {
    let only = vec!["io_method".to_owned()];
    let mut tune = Tune::new(TuneOptions { only, ..options() }, &created_facts()).expect("valid options");
    let done = play(&mut tune, usize::MAX, |_| false);
    let search: Vec<&CompletedStep> = done.iter().skip_while(|done| done.step.name != PRESENT).skip(1).collect();
    assert!(!search.is_empty());
    for pair in search.chunks(2) {
        assert!(matches!(&pair[0].step.work, Work::Settings(step) if step.change == SettingsChange::Restart));
        assert!(matches!(&pair[1].step.work, Work::Sessions(_)));
    }
}

/// Otherwise a run would find the blocks of the previous one in the cache of the server.
#[test]
fn runs_without_a_restart_have_random_numbers_of_their_own() {
    let seeds = |name: &str| {
        let only = vec![name.to_owned()];
        let mut tune = Tune::new(TuneOptions { only, ..options() }, &created_facts()).expect("valid options");
        let done = play(&mut tune, usize::MAX, |_| false);
        let seed = |done: &CompletedStep| match &done.step.work {
            Work::Sessions(step) => Some(step.seed),
            _ => None,
        };
        done.iter().filter_map(seed).collect::<Vec<u64>>()
    };
    let own = seeds("effective_io_concurrency");
    assert_eq!(own.iter().collect::<std::collections::BTreeSet<_>>().len(), own.len(), "{own:?}");
    let restarted = seeds("io_method");
    assert!(restarted.chunks(2).all(|pair| pair[0] == pair[1]), "{restarted:?}");
}

#[test]
fn interrupted_search_keeps_its_result() {
    let mut tune = Tune::new(options(), &created_facts()).expect("valid options");
    let done = play(&mut tune, 60, |_| false);
    assert!(tune.listings(&done, &created_facts())[0].text.contains("effective_io_concurrency = '64'"));
    assert!(matches!(
        &tune.verdicts(&done, &created_facts())[0],
        Verdict::Tune(TuneVerdict::BetterSettings { ratio: None, .. })
    ));
}

#[test]
fn refused_setting_is_reported_and_an_unusable_server_ends_the_search() {
    let mut tune = Tune::new(options(), &created_facts()).expect("valid options");
    let done = play(&mut tune, usize::MAX, |settings| value(settings, "io_method") == "sync");
    assert!(!tune.has_failed(&done));
    let verdicts = words(&tune.verdicts(&done, &created_facts()));
    assert!(verdicts.iter().any(|line| line.contains("io_method = sync (refused: it did not start)")), "{verdicts:#?}");

    let mut tune = Tune::new(options(), &created_facts()).expect("valid options");
    let done = play(&mut tune, usize::MAX, |_| true);
    assert!(tune.has_failed(&done));
}

#[test]
fn open_load_has_its_rate_in_all_runs() {
    let open = TuneOptions { rate: Some(Iops::per_second(50)), goal: TuneGoal::P99, ..options() };
    let mut tune = Tune::new(open, &created_facts()).expect("valid options");
    let done = play(&mut tune, 60, |_| false);
    let runs: Vec<(Pace, u32)> = done
        .iter()
        .filter_map(|done| match &done.step.work {
            Work::Sessions(step) => Some((step.pace, step.sessions)),
            _ => None,
        })
        .collect();
    let expected = (Pace::Open { rate: Iops::per_second(50), arrival: Arrival::Poisson }, 8);
    assert!(!runs.is_empty() && runs.iter().all(|run| *run == expected), "{runs:?}");
}

#[test]
fn unsuitable_options_are_refused() {
    let refused =
        |options: TuneOptions, facts: &Facts| Tune::new(options, facts).err().expect("must be refused").to_string();
    let only = vec!["work_mem".to_owned()];
    assert!(refused(TuneOptions { only, ..options() }, &created_facts()).contains("is no setting that is tried"));
    assert!(refused(TuneOptions { clients: 0, ..options() }, &created_facts()).contains("--clients"));
    let open = TuneOptions { rate: Some(Iops::per_second(50)), ..options() };
    assert!(refused(open, &created_facts()).contains("--goal mean or p99"));
    let sqlite = crate::recipes::databases::facts(System::Sqlite);
    assert!(refused(options(), &sqlite).contains("no settings to search"));
}

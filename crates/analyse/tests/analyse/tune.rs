//! Searches for settings with results of known truth and noise, in virtual time.

use plimsoll_analyse::{Configuration, TuneCandidate, TuneOutcome, TunePlan, Tuning};
use plimsoll_units::Span;

const RUN: Span = Span::from_secs(5);

fn configuration(settings: &[(&str, &str)]) -> Configuration {
    settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn candidate(changes: &[(&str, &str)]) -> TuneCandidate {
    TuneCandidate { changes: configuration(changes), requires: None }
}

fn plan(present: &[(&str, &str)], single: Vec<TuneCandidate>, joint: Vec<TuneCandidate>) -> TunePlan {
    let (present, budget) = (configuration(present), Span::from_secs(100_000));
    TunePlan { present, single, joint, grid: Vec::new(), budget, min_gain: 0.02 }
}

/// A standard normal number (Box & Muller 1958).
fn normal(random: &mut fastrand::Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}

/// Runs a search in which a result is the truth with logarithmic noise. Returns its end and its time.
fn search(plan: TunePlan, noise: f64, seed: u64, truth: impl Fn(&Configuration) -> f64) -> (Tuning, Span) {
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut tuning, mut spent) = (Tuning::new(plan), Span::ZERO);
    while let Some(run) = tuning.next(spent) {
        spent += RUN;
        tuning.observe(truth(&run.configuration) * (noise * normal(&mut random)).exp());
    }
    (tuning, spent)
}

fn value<'a>(settings: &'a Configuration, name: &str) -> &'a str {
    &settings.iter().find(|(setting, _)| setting == name).expect("a known value").1
}

/// Rate of a scan: depth helps up to the limit of the volume, and only with a method that is asynchronous.
fn scan(settings: &Configuration) -> f64 {
    let depth: f64 = value(settings, "depth").parse().expect("a known value");
    match value(settings, "method") {
        "sync" => 500.0,
        "worker" => (300.0 * depth.sqrt()).min(2_000.0),
        _ => (400.0 * depth.sqrt()).min(3_000.0),
    }
}

const METHODS: [&str; 3] = ["sync", "worker", "uring"];
const DEPTHS: [&str; 4] = ["1", "4", "16", "64"];

fn scan_plan() -> TunePlan {
    let methods = METHODS.iter().map(|method| candidate(&[("method", method)]));
    let depths = DEPTHS.iter().map(|depth| candidate(&[("depth", depth)]));
    let both = METHODS.iter().flat_map(|method| DEPTHS.map(|depth| candidate(&[("method", method), ("depth", depth)])));
    plan(&[("method", "sync"), ("depth", "1")], methods.chain(depths).collect(), both.collect())
}

#[test]
fn search_finds_best_of_full_grid() {
    let grid =
        METHODS.iter().flat_map(|method| DEPTHS.map(|depth| configuration(&[("method", method), ("depth", depth)])));
    let best = grid.map(|settings| scan(&settings)).fold(0.0, f64::max);
    let mut covered = 0;
    for seed in 0..40 {
        let (tuning, _) = search(scan_plan(), 0.03, seed, scan);
        let ratio = scan(tuning.best()) / scan(&configuration(&[("method", "sync"), ("depth", "1")]));
        assert!(scan(tuning.best()) >= best * 0.98, "seed {seed}: {:?}", tuning.best());
        let (low, high) = tuning.confirmed().expect("a known value").interval.expect("a known value");
        covered += usize::from(low <= ratio && ratio <= high);
    }
    // A 95 % interval; fewer than 33 of 40 have a probability below 0.1 %.
    assert!(covered >= 33, "{covered}");
}

fn scan_grid() -> Vec<Configuration> {
    let of = |method| move |depth: &&str| configuration(&[("method", method), ("depth", depth)]);
    METHODS.iter().flat_map(|method| DEPTHS.iter().map(of(method)).collect::<Vec<_>>()).collect()
}

#[test]
fn grid_after_the_search_contains_no_better_configuration() {
    let mut better = 0;
    for seed in 0..40 {
        let with_grid = TunePlan { grid: scan_grid(), ..scan_plan() };
        let (tuning, _) = search(with_grid, 0.03, seed, scan);
        let grid = tuning.grid().expect("a grid");
        assert_eq!((grid.cells.len(), grid.rounds), (11, 6));
        let (low, high) = grid.best.interval.expect("an interval");
        better += usize::from(low > 1.0);
        let first = grid.cells[0].ratio.expect("a ratio");
        assert!(low <= first.interval.expect("an interval").0, "widened for all configurations: {low} to {high}");
        let last = grid.cells.last().expect("cells").ratio.expect("a ratio");
        assert!(last.value < 0.2, "{last:?}");
    }
    assert!(better <= 2, "{better}");
}

#[test]
fn grid_finds_settings_that_a_short_search_does_not_reach() {
    let short = TunePlan { grid: scan_grid(), budget: Span::from_secs(1), ..scan_plan() };
    let (tuning, _) = search(short, 0.03, 1, scan);
    assert_eq!(tuning.best(), tuning.present());
    let grid = tuning.grid().expect("a grid");
    assert_eq!(value(&grid.cells[0].configuration, "depth"), "64");
    let (low, high) = grid.best.interval.expect("an interval");
    assert!(low > 1.0 && low < 6.0 && high > 6.0, "{low} to {high}: the truth is 6");
}

#[test]
fn configuration_of_a_grid_that_cannot_be_measured_has_no_ratio() {
    let mut tuning = Tuning::new(TunePlan { grid: scan_grid(), ..scan_plan() });
    while let Some(run) = tuning.next(Span::ZERO) {
        match value(&run.configuration, "method") {
            "worker" => tuning.refuse("it did not start".into()),
            _ => tuning.observe(scan(&run.configuration)),
        }
    }
    let grid = tuning.grid().expect("a grid");
    let unknown = grid.cells.iter().filter(|cell| cell.ratio.is_none());
    assert_eq!(unknown.filter(|cell| value(&cell.configuration, "method") == "worker").count(), 4);
}

#[test]
fn settings_without_effect_are_accepted_within_error_rate() {
    let values: Vec<String> = (0..20).map(|number| number.to_string()).collect();
    let present: Vec<(&str, &str)> = values.iter().map(|name| (name.as_str(), "off")).collect();
    let accepting = (0..400).filter(|seed| {
        let candidates = values.iter().map(|name| candidate(&[(name, "on")])).collect();
        let (tuning, _) = search(plan(&present, candidates, Vec::new()), 0.05, *seed, |_| 1_000.0);
        tuning.best() != &configuration(&present)
    });
    // At most 5 % of the searches; more than 34 of 400 then have a probability below 0.2 %.
    let count = accepting.count();
    assert!(count <= 34, "{count} of 400 searches");
}

#[test]
fn settings_that_help_only_together_are_found() {
    let candidates = || vec![candidate(&[("max", "1M")]), candidate(&[("limit", "1M")])];
    let joint = vec![candidate(&[("max", "1M"), ("limit", "1M")])];
    let truth = |settings: &Configuration| {
        let raised = settings.iter().filter(|(_, value)| value == "1M").count();
        [1_000.0, 950.0, 1_300.0][raised]
    };
    let (tuning, _) = search(plan(&[("max", "128k"), ("limit", "128k")], candidates(), joint), 0.02, 1, truth);
    assert_eq!(tuning.best(), &configuration(&[("max", "1M"), ("limit", "1M")]));
    assert_eq!(tuning.trials()[2].before, configuration(&[("max", "128k"), ("limit", "128k")]));
}

#[test]
fn clear_difference_ends_comparison_at_first_look() {
    let doubled = |settings: &Configuration| if value(settings, "a") == "2" { 2_000.0 } else { 1_000.0 };
    let (tuning, spent) = search(plan(&[("a", "1")], vec![candidate(&[("a", "2")])], Vec::new()), 0.01, 1, doubled);
    let trials = tuning.trials();
    assert_eq!((trials.len(), trials[0].pairs, &trials[0].outcome), (1, 4, &TuneOutcome::Accepted));
    // Four pairs, and six of the confirmation.
    assert_eq!(spent, RUN * 20);
}

#[test]
fn sides_alternate_and_drift_cancels() {
    let mut tuning = Tuning::new(plan(&[("a", "1")], vec![candidate(&[("a", "2")])], Vec::new()));
    let (mut sides, mut rate) = (String::new(), 1_000.0);
    while let Some(run) = tuning.next(Span::ZERO) {
        sides.push_str(value(&run.configuration, "a"));
        // Each run is 10 % slower than the previous.
        rate *= 0.9;
        tuning.observe(rate);
    }
    assert!(sides.starts_with("12211221"), "{sides}");
    assert_eq!(tuning.best(), &configuration(&[("a", "1")]));
}

#[test]
fn budget_ends_search_with_time_for_confirmation() {
    let asynchronous = configuration(&[("method", "uring"), ("depth", "1")]);
    let limited = TunePlan { budget: RUN * 60, present: asynchronous, ..scan_plan() };
    let (tuning, spent) = search(limited, 0.02, 3, scan);
    assert!(spent <= RUN * 60, "{spent}");
    assert!(!tuning.untried().is_empty() && tuning.confirmed().is_some(), "{:?}", tuning.trials());
    let (tuning, spent) = search(TunePlan { budget: Span::ZERO, ..scan_plan() }, 0.02, 3, scan);
    assert_eq!((spent, tuning.trials().len(), tuning.untried().len()), (RUN, 1, 17));
}

#[test]
fn refused_configuration_is_reported_and_skipped() {
    let mut tuning = Tuning::new(scan_plan());
    let mut spent = Span::ZERO;
    while let Some(run) = tuning.next(spent) {
        spent += RUN;
        if value(&run.configuration, "method") == "uring" {
            tuning.refuse("not supported".into());
        } else {
            tuning.observe(scan(&run.configuration));
        }
    }
    assert_eq!(tuning.best(), &configuration(&[("method", "worker"), ("depth", "64")]));
    let refused =
        tuning.trials().into_iter().filter(|trial| trial.outcome == TuneOutcome::Refused("not supported".into()));
    assert!(refused.count() > 0);
}

#[test]
fn candidate_without_its_requirement_is_not_compared() {
    let workers =
        TuneCandidate { requires: Some(("method".into(), "worker".into())), ..candidate(&[("workers", "8")]) };
    let present = [("method", "sync"), ("workers", "3")];
    let (tuning, _) = search(plan(&present, vec![workers.clone()], Vec::new()), 0.01, 1, |_| 1.0);
    assert_eq!(tuning.trials(), []);
    let present = [("method", "worker"), ("workers", "3")];
    let (tuning, _) = search(plan(&present, vec![workers], Vec::new()), 0.01, 1, |_| 1.0);
    assert_eq!(tuning.trials().len(), 1);
}

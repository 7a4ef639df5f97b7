//! Likely causes of differences: measurements are theory with a single change, which has to be found.

use plimsoll_catalogue::{Catalogue, Date, PriceTerms};
use plimsoll_choose::{Cause, Explanation, explain, trial};
use plimsoll_load::{Arrival, Pace, StreamSpec};
use plimsoll_record::{Bins, Counter, Curve, Estimate, Figures, Finding, Run, Slice, Steadiness, Tally};
use plimsoll_units::{Bytes, Instant, Iops, Kind, Span};

use crate::measured;

const DEPTHS: [u32; 5] = [1, 4, 16, 64, 256];

fn build_run(offered: Pace, iops: f64, mean_ns: f64) -> Run {
    let figures = Figures { iops: Estimate::bare(iops), mean_ns: Estimate::bare(mean_ns), ..Figures::default() };
    measured::run(offered, figures)
}

fn build_curve(runs: Vec<Run>, block: Bytes, direct: bool) -> Curve {
    let mut curve = measured::curve(runs, block, Bytes::gib(50));
    curve.conditions.direct = direct;
    curve
}

fn explained(config: &str, curve: &Curve) -> Explanation {
    let catalogue = Catalogue::built_in();
    let terms = PriceTerms { as_of: Date::day(2026, 11, 21), currency: None, region: None };
    let offer = catalogue.offer(&config.parse().expect("a configuration"), &terms).expect("a valid configuration");
    explain(&catalogue, curve, &offer, &terms).expect("a model")
}

/// Explains closed loads whose measurements are derived by `measured` from the theoretical depth, IOPS and mean
/// latency.
fn changed(config: &str, direct: bool, measured: impl Fn(u32, f64, f64) -> (f64, f64)) -> Explanation {
    let block = Bytes::kib(4);
    let offered = |depth| Pace::Closed { depth };
    let theory =
        explained(config, &build_curve(DEPTHS.map(|depth| build_run(offered(depth), 1.0, 1.0)).into(), block, direct));
    let runs = theory.rows.iter().zip(DEPTHS).map(|(row, depth)| {
        let (iops, mean_ns) = measured(depth, row.iops.1, row.mean_ns.1);
        build_run(offered(depth), iops, mean_ns)
    });
    explained(config, &build_curve(runs.collect(), block, direct))
}

/// The causes as data, compared in order.
fn check(explanation: &Explanation, expected: &[&str]) {
    let found: Vec<String> = explanation.causes.iter().map(|cause| format!("{cause:?}")).collect();
    let fits = found.len() == expected.len() && found.iter().zip(expected).all(|(found, part)| found.contains(part));
    assert!(fits, "{found:#?}, expected {expected:#?}");
}

#[test]
fn agreement_has_no_cause() {
    check(&changed("oci:100GB@10vpu", true, |_, iops, mean| (iops, mean)), &[]);
}

/// A load that the storage answers in 1.1 ms up to its maximum rate.
fn at_most(max: f64) -> impl Fn(u32, f64, f64) -> (f64, f64) {
    move |depth, _, mean| (max.min(f64::from(depth) * 900.0), mean)
}

#[test]
fn more_than_the_cap_is_a_burst_a_cache_or_another_configuration() {
    // 100 GiB of gp2 give 300 IOPS, and 3,000 while 5.4 million credits last: 2,000 s.
    let burst = changed("aws/gp2:100GiB", true, at_most(2_950.0));
    check(&burst, &["allowed_iops: 300.0, reason: Burst, burst_s: Some(2000.0"]);
    let beyond = changed("aws/gp2:100GiB", true, at_most(20_000.0));
    check(&beyond, &["allowed_iops: 300.0, reason: OtherLayer, burst_s: None"]);
    let cached = changed("aws/gp2:100GiB", false, at_most(20_000.0));
    check(&cached, &["BufferedIo { operations: Reads, above: Some(ExceededCeiling { measured_iops: 20000.0"]);
}

#[test]
fn the_page_cache_is_one_cause() {
    let mut cached = build_curve(vec![build_run(Pace::Closed { depth: 64 }, 20_000.0, 3e6)], Bytes::kib(4), false);
    let finding = Finding::PageCacheAnswered { share: 0.9 };
    cached.findings.push(finding.clone());
    let causes = explained("aws/gp2:100GiB", &cached).causes;
    assert!(causes.contains(&Cause::Finding { finding }), "{causes:?}");
    assert!(!causes.iter().any(|cause| matches!(cause, Cause::BufferedIo { .. })), "{causes:?}");
    cached.findings.clear();
    cached.conditions.streams[0].mix.reads = 0.0;
    let causes = explained("aws/gp2:100GiB", &cached).causes;
    assert!(format!("{:?}", causes[0]).starts_with("BufferedIo { operations: Writes"), "{causes:?}");
}

#[test]
fn another_level_is_named_before_another_size() {
    // 100 GB at VPU 10 give 6,000 IOPS, at VPU 20 they give 7,500, as 125 GB at VPU 10 do.
    let level =
        changed("oci:100GB@10vpu", true, |depth, iops, mean| if depth > 4 { (7_500.0, mean) } else { (iops, mean) });
    check(&level, &["allowed_iops: 6000.0", "measured_iops: 7500.0, configuration: \"oci/block-volume:100GB,vpu=20\""]);
    let size = changed("oci:100GB@10vpu", true, |_, iops, mean| (iops.min(4_550.0), mean));
    check(&size, &["configuration: \"oci/block-volume:76GB\", allowed_iops: 4560.0"]);
}

#[test]
fn a_short_queue_is_reported_as_the_cause() {
    // 225 IOPS per GB; 4 operations of 670 us are 5,900 per second.
    let config = "oci:1000GB@120vpu";
    let offered = [1, 4].map(|depth| build_run(Pace::Closed { depth }, f64::from(depth) * 1e9 / 700e3, 700e3));
    let short = explained(config, &build_curve(offered.into(), Bytes::kib(4), true));
    check(&short, &["allowed_iops: 225000.0, depth: 4, theory_iops: 5937."]);
}

#[test]
fn a_common_factor_at_saturated_loads_is_a_confusion_of_units() {
    let units = changed("oci:100GB@10vpu", true, |_, iops, mean| (iops / 1.048_576, mean * 1.048_576));
    check(&units, &["Units { factor: 0.953"]);
}

#[test]
fn latency_at_depth_one_shows_layers_in_between() {
    let at_one = |change: fn(f64) -> f64| {
        changed("oci:100GB@10vpu", true, move |depth, iops, mean| match depth {
            1 => (1e9 / change(mean), change(mean)),
            _ => (iops, mean),
        })
    };
    check(&at_one(|mean| mean + 300e3), &["FirstDepth { measured_mean_ns: 97"]);
    check(&at_one(|mean| mean / 2.0), &["FirstDepth { measured_mean_ns: 33"]);
}

/// Some size has any figure as its limit: a rate that the generator offered is no evidence for it.
#[test]
fn an_offered_rate_is_the_cause_of_a_figure_that_equals_it() {
    let open = |rate: u64, iops: f64| {
        let pace = Pace::Open { rate: Iops::per_second(rate), arrival: Arrival::Constant };
        build_run(pace, iops, 700e3)
    };
    let config = "oci:100GB@10vpu";
    let paced = explained(config, &build_curve(vec![open(2_280, 2_279.0), open(4_560, 4_558.0)], Bytes::kib(4), true));
    check(&paced, &["OfferedRate { measured_iops: 4558.0, offered_iops: 4560.0 }"]);
    // The same figure where more was offered is the storage's.
    let mut beyond = open(9_000, 4_560.0);
    beyond.figures.steadiness = Steadiness::Overloaded;
    let found = explained(config, &build_curve(vec![open(2_280, 2_279.0), beyond], Bytes::kib(4), true));
    check(&found, &["OtherOption { measured_iops: 4560.0, configuration: \"oci/block-volume:76GB\""]);
}

/// Under a load beyond two limits, operations wait longest for the first, but the lower limit bounds the throughput.
#[test]
fn of_two_overloaded_limits_the_lower_is_named() {
    // 3,000 IOPS, and 125 MiB/s: 2,667 operations of 48 KiB.
    let pace = Pace::Open { rate: Iops::per_second(20_000), arrival: Arrival::Poisson };
    let curve = build_curve(vec![build_run(pace, 2_667.0, 1e9)], Bytes::kib(48), true);
    let explanation = explained("aws/gp3:100GiB", &curve);
    let model = explanation.offer.model().expect("a model");
    let stream = StreamSpec { pace, ..curve.conditions.streams[0].clone() };
    let simulated = trial(&model, &[stream], 20_000, 1).expect("it fits");
    assert_eq!(simulated.bound_by[0].0, "IOPS as provisioned", "{:?}", simulated.bound_by);
    assert_eq!(explanation.rows[0].binds.as_deref(), Some("throughput as provisioned"));
}

/// A run at depth 4 with slices of 10 s, each of this many operations per second; the figures are those of the last rate.
fn lasting_run(rates: &[(u64, u64)], warm_up_s: u64) -> Run {
    let last = rates.last().expect("a rate").1 as f64;
    let mut run = build_run(Pace::Closed { depth: 4 }, last, 4e9 / last);
    let mut at = Instant::ZERO;
    for (seconds, rate) in rates {
        for _ in 0..seconds / 10 {
            let response = Bins::counted([(Span::from_millis(1), rate * 10)], rate * 10_000_000);
            let counter =
                Counter { stream: 0, kind: Kind::Read, bytes: 0, errors: Vec::new(), response, service: None };
            run.series.push(Slice { start: at, span: Span::from_secs(10), tally: Tally(vec![counter]) });
            at += Span::from_secs(10);
        }
    }
    run.warm_up = Span::from_secs(warm_up_s);
    run.span = at.since(Instant::ZERO) - run.warm_up;
    run
}

/// 30 GiB of gp2: 100 IOPS, and 5.4 million credits for up to 3,000.
#[test]
fn a_run_without_credits_is_compared_with_a_product_without_credits() {
    let mut used_up = lasting_run(&[(1_960, 2_855), (540, 100)], 1_960);
    let exact = build_curve(vec![used_up.clone()], Bytes::kib(4), true);
    let explanation = explained("aws/gp2:30GiB", &exact);
    check(&explanation, &["CreditsUsedUp { credits: Some(5400000.0), credit_bytes: None, lasting_iops: 100.0"]);
    let row = &explanation.rows[0];
    assert!((row.iops.1 - 100.0).abs() < 1.0 && (row.mean_ns.1 / 40e6 - 1.0).abs() < 0.01, "{row:?}");
    assert_eq!(row.binds.as_deref(), Some("IOPS of the size (3 for each GiB, at least 100), with burst credits"));
    let Cause::CreditsUsedUp { theory_iops, theory_mean_ns, .. } = explanation.causes[0] else {
        panic!("{explanation:?}")
    };
    assert_eq!((theory_iops, theory_mean_ns), (row.iops.1, row.mean_ns.1));
    used_up.findings.push(Finding::RateDropped { at_seconds: 1_957.0, before: 2_855.0, after: 100.0 });
    let found = explained("aws/gp2:30GiB", &build_curve(vec![used_up], Bytes::kib(4), true));
    check(&found, &["lasting_iops: 100.0, ended_s: Some(1957.0), burst_iops: Some(2855.0)"]);
    let burst = lasting_run(&[(600, 2_855)], 10);
    let explanation = explained("aws/gp2:30GiB", &build_curve(vec![burst], Bytes::kib(4), true));
    check(&explanation, &["allowed_iops: 100.0, reason: Burst"]);
    assert!(explanation.rows[0].iops.1 > 2_800.0, "full credits: {:?}", explanation.rows[0]);
}

#[test]
fn credits_used_by_an_earlier_run_are_missing_in_the_next() {
    let runs = vec![lasting_run(&[(1_970, 2_855)], 10), lasting_run(&[(600, 100)], 10)];
    let explanation = explained("aws/gp2:30GiB", &build_curve(runs, Bytes::kib(4), true));
    assert!(explanation.rows[0].credits.used_up.is_empty(), "{:?}", explanation.rows[0]);
    assert!((explanation.rows[1].iops.1 - 100.0).abs() < 1.0, "{:?}", explanation.rows[1]);
    assert!(format!("{:?}", explanation.causes[0]).contains("ended_s: None"), "{explanation:?}");
}

/// A run that is as slow as the lasting limit from its begin, although its depth would carry more.
#[test]
fn credits_used_before_the_measurement_are_inferred_from_the_rate() {
    let slow = lasting_run(&[(600, 100)], 10);
    let explanation = explained("aws/gp2:30GiB", &build_curve(vec![slow], Bytes::kib(4), true));
    check(
        &explanation,
        &["CreditsUsedUp { credits: Some(5400000.0), credit_bytes: None, lasting_iops: 100.0, ended_s: None"],
    );
}

#[test]
fn void_figures_are_the_first_cause() {
    let mut cached = build_curve(vec![build_run(Pace::Closed { depth: 32 }, 244_000.0, 131e3)], Bytes::kib(4), true);
    cached.runs[0].findings.push(Finding::PageCacheAnswered { share: 0.9994 });
    let explanation = explained("aws/gp3:100GiB", &cached);
    let finding = Finding::PageCacheAnswered { share: 0.9994 };
    assert_eq!(explanation.causes[0], Cause::Finding { finding });
}

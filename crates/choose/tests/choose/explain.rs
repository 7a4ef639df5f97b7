//! Likely causes of differences: measurements are theory with a single change, which has to be found.

use plimsoll_catalogue::{Catalogue, Date, PriceTerms};
use plimsoll_choose::{Explanation, explain, trial};
use plimsoll_load::{Arrival, Pace, StreamSpec};
use plimsoll_record::{Curve, Estimate, Figures, Run};
use plimsoll_units::{Bytes, Iops};

use crate::measured;

const DEPTHS: [u32; 5] = [1, 4, 16, 64, 256];

fn run(offered: Pace, iops: f64, mean_ns: f64) -> Run {
    let figures = Figures { iops: Estimate::bare(iops), mean_ns: Estimate::bare(mean_ns), ..Figures::default() };
    measured::run(offered, figures)
}

fn curve(runs: Vec<Run>, block: Bytes, direct: bool) -> Curve {
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
    let theory = explained(config, &curve(DEPTHS.map(|depth| run(offered(depth), 1.0, 1.0)).into(), block, direct));
    let runs = theory.rows.iter().zip(DEPTHS).map(|(row, depth)| {
        let (iops, mean_ns) = measured(depth, row.iops.1, row.mean_ns.1);
        run(offered(depth), iops, mean_ns)
    });
    explained(config, &curve(runs.collect(), block, direct))
}

/// The causes as `difference -> cause`, compared in order.
fn check(explanation: &Explanation, expected: &[&str]) {
    let found: Vec<String> =
        explanation.causes.iter().map(|cause| format!("{} -> {}", cause.difference, cause.cause)).collect();
    let fits = found.len() == expected.len() && found.iter().zip(expected).all(|(found, part)| found.contains(part));
    assert!(fits, "{found:#?}, expected {expected:#?}");
}

#[test]
fn agreement_has_no_cause() {
    check(&changed("oci:100GB@10vpu", true, |_, iops, mean| (iops, mean)), &[]);
}

/// A load that the storage answers in 1.1 ms up to its maximum rate.
fn at_most(most: f64) -> impl Fn(u32, f64, f64) -> (f64, f64) {
    move |depth, _, mean| (most.min(f64::from(depth) * 900.0), mean)
}

#[test]
fn more_than_the_cap_is_a_burst_a_cache_or_another_configuration() {
    // 100 GiB of gp2 give 300 IOPS, and 3,000 while 5.4 million credits last: 2,000 s.
    let burst = changed("aws/gp2:100GiB", true, at_most(2_950.0));
    check(&burst, &["allows 300 -> burst credits: at the peak, full credits last 2000 s"]);
    let beyond = changed("aws/gp2:100GiB", true, at_most(20_000.0));
    check(&beyond, &["allows 300 -> the configuration differs, or a layer in between answers"]);
    let cached = changed("aws/gp2:100GiB", false, at_most(20_000.0));
    check(&cached, &["page cache -> memory answers cached reads", "allows 300 -> the page cache accepts writes"]);
}

#[test]
fn another_level_is_named_before_another_size() {
    // 100 GB at VPU 10 give 6,000 IOPS, at VPU 20 they give 7,500, as 125 GB at VPU 10 do.
    let level =
        changed("oci:100GB@10vpu", true, |depth, iops, mean| if depth > 4 { (7_500.0, mean) } else { (iops, mean) });
    check(
        &level,
        &["allows 6000", "at most 7500 IOPS were measured -> that is what oci/block-volume:100GB,vpu=20 gives"],
    );
    let size = changed("oci:100GB@10vpu", true, |_, iops, mean| (iops.min(4_550.0), mean));
    check(&size, &["that is what oci/block-volume:76GB gives (4560 IOPS)"]);
}

#[test]
fn a_short_queue_is_reported_as_the_cause() {
    // 225 IOPS per GB; 4 operations of 670 us are 5,900 per second.
    let config = "oci:1000GB@120vpu";
    let offered = [1, 4].map(|depth| run(Pace::Closed { depth }, f64::from(depth) * 1e9 / 700e3, 700e3));
    let short = explained(config, &curve(offered.into(), Bytes::kib(4), true));
    check(&short, &["allows 225000 IOPS, and depth 4 gives 5937 in theory -> the queue is too short"]);
}

#[test]
fn a_common_factor_at_saturated_loads_is_a_confusion_of_units() {
    let units = changed("oci:100GB@10vpu", true, |_, iops, mean| (iops / 1.048_576, mean * 1.048_576));
    check(&units, &["by the factor 0.954 -> units: MB and MiB (or KiB twice) are 4.9 % apart"]);
}

#[test]
fn latency_at_depth_one_shows_layers_in_between() {
    let at_one = |change: fn(f64) -> f64| {
        changed("oci:100GB@10vpu", true, move |depth, iops, mean| match depth {
            1 => (1e9 / change(mean), change(mean)),
            _ => (iops, mean),
        })
    };
    check(&at_one(|mean| mean + 300e3), &["974 us, and 674 us in theory -> another layer adds 300 us"]);
    check(&at_one(|mean| mean / 2.0), &["337 us, and 674 us in theory -> a nearer layer answers"]);
}

/// Under a load beyond two limits, operations wait longest for the first, but the lower limit bounds the throughput.
#[test]
fn of_two_overloaded_limits_the_lower_is_named() {
    // 3,000 IOPS, and 125 MiB/s: 2,667 operations of 48 KiB.
    let pace = Pace::Open { rate: Iops::per_second(20_000), arrival: Arrival::Poisson };
    let curve = curve(vec![run(pace, 2_667.0, 1e9)], Bytes::kib(48), true);
    let explanation = explained("aws/gp3:100GiB", &curve);
    let model = explanation.offer.model().expect("a model");
    let stream = StreamSpec { pace, ..curve.conditions.streams[0].clone() };
    let simulated = trial(&model, &[stream], 20_000, 1).expect("it fits");
    assert_eq!(simulated.bound_by[0].0, "IOPS as provisioned", "{:?}", simulated.bound_by);
    assert_eq!(explanation.rows[0].binds.as_deref(), Some("throughput as provisioned"));
}

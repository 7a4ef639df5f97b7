//! Likely causes of differences: what was measured is theory, changed in one way, and that way has to be found.

use plimsoll_catalogue::{Catalogue, Date, Terms};
use plimsoll_choose::{Explanation, explain, trial};
use plimsoll_load::{Arrival, Mix, Pace, Pattern, Region, Split, StreamSpec};
use plimsoll_record::{Conditions, Curve, Ended, Estimate, FORMAT, Figures, Run, Source, Subject, Tally};
use plimsoll_units::{Bytes, Iops, Span};

const DEPTHS: [u32; 5] = [1, 4, 16, 64, 256];

fn run(offered: Pace, iops: f64, mean_ns: f64) -> Run {
    let figures = Figures { iops: Estimate::bare(iops), mean_ns: Estimate::bare(mean_ns), ..Figures::default() };
    Run {
        offered,
        warm_up: Span::ZERO,
        span: Span::from_secs(1),
        total: Tally::default(),
        unserved: 0,
        series: Vec::new(),
        lateness: plimsoll_record::Bins::default(),
        cpu: None,
        bound_by: Vec::new(),
        figures,
        findings: Vec::new(),
    }
}

fn curve(runs: Vec<Run>, block: Bytes, direct: bool) -> Curve {
    let stream = StreamSpec {
        name: "data".into(),
        mix: Mix { sizes: Split::one(block), reads: 1.0, durable: false, flush_every: 0 },
        pattern: Pattern::Uniform,
        region: Region::first(Bytes::gib(50)),
        pace: Pace::Closed { depth: 1 },
    };
    Curve {
        format: FORMAT.into(),
        made_by: "test".into(),
        started: None,
        wall: Span::from_secs(1),
        command: Vec::new(),
        ended: Ended::Complete,
        source: Source::Measured { engine: "io_uring".into() },
        subject: Subject { name: "/dev/x".into(), kind: "block device".into(), size: Bytes::gib(50), device: None },
        host: None,
        conditions: Conditions {
            streams: vec![stream],
            threads: 1,
            direct,
            compressible: 0.0,
            seed: 1,
            objective: None,
            trace: None,
        },
        runs,
        knee: None,
        load_line: None,
        basis: None,
        slots: Vec::new(),
        findings: Vec::new(),
    }
}

fn explained(config: &str, curve: &Curve) -> Explanation {
    let catalogue = Catalogue::built_in();
    let terms = Terms { as_of: Date::day(2026, 11, 21), currency: None, region: None };
    let offer = catalogue.offer(&config.parse().expect("a configuration"), &terms).expect("it can be had");
    explain(&catalogue, curve, &offer, &terms).expect("it has a model")
}

/// Explains closed loads that were measured as `measured` makes them of theory's depth, IOPS and mean latency.
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

/// The causes as `what -> why`, each of which has to be expected in order.
fn check(explanation: &Explanation, expected: &[&str]) {
    let found: Vec<String> =
        explanation.causes.iter().map(|cause| format!("{} -> {}", cause.what, cause.why)).collect();
    let fits = found.len() == expected.len() && found.iter().zip(expected).all(|(found, part)| found.contains(part));
    assert!(fits, "{found:#?} and not {expected:#?}");
}

#[test]
fn what_agrees_needs_no_cause() {
    check(&changed("oci:100GB@10vpu", true, |_, iops, mean| (iops, mean)), &[]);
}

/// A load that the storage answers in 1.1 ms until it reaches its most.
fn at_most(most: f64) -> impl Fn(u32, f64, f64) -> (f64, f64) {
    move |depth, _, mean| (most.min(f64::from(depth) * 900.0), mean)
}

#[test]
fn more_than_the_cap_is_a_burst_a_cache_or_another_configuration() {
    // 100 GiB of gp2 give 300 IOPS, and 3,000 while 5.4 million credits last: 2,000 s.
    let burst = changed("aws/gp2:100GiB", true, at_most(2_950.0));
    check(&burst, &["allows 300 -> burst credits: full ones last 2000 s at the peak"]);
    let beyond = changed("aws/gp2:100GiB", true, at_most(20_000.0));
    check(&beyond, &["allows 300 -> it is no such configuration, or something between answers"]);
    let cached = changed("aws/gp2:100GiB", false, at_most(20_000.0));
    check(&cached, &["page cache -> memory answers reads", "allows 300 -> the page cache takes what"]);
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
fn a_queue_that_is_too_short_is_no_fault_of_the_storage() {
    // 225 IOPS for each GB; 4 operations of 670 us are 5,900 a second.
    let config = "oci:1000GB@120vpu";
    let offered = [1, 4].map(|depth| run(Pace::Closed { depth }, f64::from(depth) * 1e9 / 700e3, 700e3));
    let short = explained(config, &curve(offered.into(), Bytes::kib(4), true));
    check(&short, &["allows 225000 IOPS, and depth 4 gives 5937 in theory -> the queue is too short"]);
}

#[test]
fn one_factor_at_all_saturated_loads_is_a_matter_of_units() {
    let units = changed("oci:100GB@10vpu", true, |_, iops, mean| (iops / 1.048_576, mean * 1.048_576));
    check(&units, &["by the factor 0.954 -> units: MB and MiB (or KiB twice) are 4.9 % apart"]);
}

#[test]
fn one_operation_at_a_time_tells_what_lies_between() {
    let at_one = |change: fn(f64) -> f64| {
        changed("oci:100GB@10vpu", true, move |depth, iops, mean| match depth {
            1 => (1e9 / change(mean), change(mean)),
            _ => (iops, mean),
        })
    };
    check(&at_one(|mean| mean + 300e3), &["974 us, and 674 us in theory -> something adds 300 us"]);
    check(&at_one(|mean| mean / 2.0), &["337 us, and 674 us in theory -> something nearer answers"]);
}

/// Before the first of two limits a load beyond both waits longer than between them; it gets what the lower allows.
#[test]
fn of_two_limits_that_are_overloaded_the_lowest_is_named() {
    // 3,000 IOPS, and 125 MiB/s: 2,667 operations of 48 KiB.
    let pace = Pace::Open { rate: Iops::per_second(20_000), arrival: Arrival::Poisson };
    let curve = curve(vec![run(pace, 2_667.0, 1e9)], Bytes::kib(48), true);
    let explanation = explained("aws/gp3:100GiB", &curve);
    let model = explanation.offer.model().expect("it has one");
    let stream = StreamSpec { pace, ..curve.conditions.streams[0].clone() };
    let simulated = trial(&model, &[stream], 20_000, 1).expect("it fits");
    assert_eq!(simulated.bound_by[0].0, "IOPS as provisioned", "{:?}", simulated.bound_by);
    assert_eq!(explanation.rows[0].binds.as_deref(), Some("throughput as provisioned"));
}

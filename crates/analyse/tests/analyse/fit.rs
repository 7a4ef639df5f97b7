//! Fitting recovers the parameters of models from their figures, and reports unidentified parameters.

use fastrand::Rng;
use plimsoll_analyse::{Fitted, NotFitted, Parameter, StatedLimits, fit};
use plimsoll_load::Pace;
use plimsoll_model::{Chain, Model, ModelAnswer, parse};
use plimsoll_record::{Curve, Estimate, Evidence, Figures, Finding, Run, Source, Steadiness};
use plimsoll_units::{Bytes, Instant, Kind, Op, Slot};

use crate::measured;

/// Operations per second at `depth`.
fn simulate(model: &str, depth: u32, count: usize) -> f64 {
    let mut chain = Chain::new(&parse(model).expect("a model"), 3);
    let mut rng = Rng::with_seed(9);
    let mut answers: Vec<ModelAnswer> = Vec::new();
    let mut op = || Op { offset: rng.u64(0..1 << 20) * 8192, length: 8192, kind: Kind::Read, stream: 0 };
    (0..depth).for_each(|slot| chain.submit(Instant::ZERO, Slot(slot), &op()));
    let (mut done, mut warm_at, mut now) = (0, Instant::ZERO, Instant::ZERO);
    while done < count {
        now = chain.wake_at().expect("operations are in flight");
        chain.drain(now, &mut answers);
        for answer in answers.drain(..) {
            done += 1;
            if done == count / 10 {
                warm_at = answer.at;
            }
            chain.submit(answer.at, answer.slot, &op());
        }
    }
    (done - count / 10) as f64 / now.since(warm_at).as_secs_f64()
}

fn run(depth: u32, iops: f64, half: Option<f64>) -> Run {
    let estimate =
        |value: f64| Estimate { value, interval: half.map(|half| (value * (1.0 - half), value * (1.0 + half))) };
    let figures = Figures {
        iops: estimate(iops),
        mean_ns: estimate(f64::from(depth) * 1e9 / iops),
        steadiness: Steadiness::Steady,
        ..Figures::default()
    };
    measured::run(Pace::Closed { depth }, figures)
}

fn build_curve(source: Source, reads: f64, runs: Vec<Run>) -> Curve {
    let mut curve = measured::curve(runs, Bytes::kib(8), Bytes::gib(8));
    curve.source = source;
    curve.conditions.streams[0].mix.reads = reads;
    curve
}

fn measured() -> Source {
    Source::Measured { engine: "io_uring".into() }
}

/// Fits to the figures of a model, with intervals of 1 %.
fn fit_to(model: &str, depths: &[u32]) -> Fitted {
    let runs = depths.iter().map(|depth| run(*depth, simulate(model, *depth, 60_000), Some(0.01))).collect();
    let curve = build_curve(measured(), 1.0, runs);
    fit(&[Evidence::try_from(&curve).expect("measured")], None).expect("steady runs")
}

/// Checks that a parameter is recovered: within its interval, or within a tolerance of the truth.
fn came_back(fitted: &Fitted, name: &str, truth: f64) {
    let parameter = named(fitted, name);
    let (low, high) = parameter.interval.unwrap_or_else(|| panic!("{parameter:?} has no interval"));
    assert!(low * 0.99 <= truth && truth <= high * 1.01, "{truth} and {parameter:?}\n{fitted:#?}");
    assert!((parameter.value / truth - 1.0).abs() < 0.2, "{truth} and {parameter:?}");
}

fn named<'a>(fitted: &'a Fitted, name: &str) -> &'a Parameter {
    let found = fitted.parameters.iter().find(|parameter| parameter.name == name);
    found.unwrap_or_else(|| panic!("no {name} in {fitted:#?}"))
}

#[test]
fn device_is_recovered() {
    let fitted = fit_to("link(60us) then bank(16, 80us, lognormal 0.3)", &[1, 2, 4, 8, 16, 32, 64, 128]);
    came_back(&fitted, "path, time of one operation", 60e3);
    came_back(&fitted, "dies, time of one operation", 80e3);
    came_back(&fitted, "dies, number", 16.0);
    assert!(fitted.error.mean < 0.01 && fitted.held_out.unwrap().mean < 0.01, "{fitted:#?}");
}

#[test]
fn binding_pipeline_is_recovered() {
    let model = "link(20us) then bank(64, 60us, lognormal 0.3) then station(1, 3us)";
    let fitted = fit_to(model, &[1, 2, 4, 8, 16, 32, 64, 128]);
    came_back(&fitted, "pipeline, time of one operation", 3e3);
    assert!(fitted.error.mean < 0.01, "{fitted:#?}");
}

#[test]
fn pool_of_servers_is_recovered() {
    let fitted = fit_to("link(100us) then station(4, 300us, exponential)", &[1, 2, 4, 5, 6, 8, 16, 64]);
    came_back(&fitted, "servers, number", 4.0);
    came_back(&fitted, "servers, time of one operation", 300e3);
}

/// 12 servers of 223 us give the same figures within 0.25 %: only their total capacity is identified.
#[test]
fn large_pool_is_identified_by_capacity_only() {
    let fitted = fit_to("link(700us) then station(16, 300us, exponential)", &[1, 4, 16, 32, 48, 56, 64, 128]);
    assert!(!named(&fitted, "servers, number").identified, "{fitted:#?}");
    assert!(
        fitted.doubts.iter().any(|doubt| doubt.to_string().contains("what all servers carry together")),
        "{:?}",
        fitted.doubts
    );
    assert!(fitted.held_out.unwrap().mean < 0.01);
}

#[test]
fn limit_is_recovered() {
    let fitted = fit_to("limit(3000) then link(1ms)", &[1, 2, 3, 4, 8, 16]);
    came_back(&fitted, "limit, operations", 3000.0);
    came_back(&fitted, "path, time of one operation", 1e6);
    assert_eq!(fitted.spec.names(), ["limit", "path"]);
    assert!(named(&fitted, "limit, operations").identified_by.to_string().contains("3000 IOPS"));
}

/// A measured 7,200 rpm disk (ST2000DM006), 4 KiB random reads with 1 to 32 in flight.
#[test]
fn a_measured_disk_is_a_power_law() {
    let iops = [57.6, 64.5, 71.2, 78.6, 86.3, 93.6];
    let runs = (0..6).map(|power| run(1 << power, iops[power], None)).collect();
    let curve = build_curve(Source::Published { document: "a table".into() }, 1.0, runs);
    let fitted = fit(&[Evidence::try_from(&curve).unwrap()], None).unwrap();
    assert_eq!(fitted.spec.names(), ["disk"], "{fitted:#?}");
    let gain = named(&fitted, "disk, exponent of the queue");
    assert!((0.1..0.2).contains(&gain.value), "{gain:?}");
    assert!(gain.interval.is_none() && fitted.doubts.iter().any(|doubt| doubt.to_string().contains("no intervals")));
}

/// A published 7,200 rpm disk (Samsung F1, 1 TB), 4 KiB random reads with 1 to 32 in flight: the order of its queue
/// gains from some 4 on.
#[test]
fn a_measured_disk_gains_from_a_depth_on() {
    let iops = [72.1, 72.7, 75.4, 86.5, 111.0, 131.0];
    let runs = (0..6).map(|power| run(1 << power, iops[power], None)).collect();
    let curve = build_curve(Source::Published { document: "fio-plot".into() }, 1.0, runs);
    let fitted = fit(&[Evidence::try_from(&curve).unwrap()], None).unwrap();
    let from = named(&fitted, "disk, queue up to which it gains nothing");
    assert!((3.0..6.0).contains(&from.value), "{fitted:#?}");
    assert!(fitted.error.worst < 0.06, "{fitted:#?}");
}

/// RAID 5 of eight disks (fio-plot), 4 KiB random reads with 1 to 64 in flight.
#[test]
fn a_measured_array_is_disks_that_reorder() {
    let iops = [106.1, 203.1, 357.8, 576.2, 845.7, 1140.3, 1466.7];
    let runs = (0..7).map(|power| run(1 << power, iops[power], None)).collect();
    let curve = build_curve(Source::Published { document: "fio-plot".into() }, 1.0, runs);
    let fitted = fit(&[Evidence::try_from(&curve).unwrap()], None).unwrap();
    let disks = named(&fitted, "disks, number");
    assert!((5.0..=9.0).contains(&disks.value), "{fitted:#?}");
    assert!(fitted.held_out.unwrap().worst < 0.05, "{fitted:#?}");
}

#[test]
fn single_depth_identifies_a_single_time() {
    let fitted = fit_to("link(20us) then bank(32, 80us) then station(1, 2us)", &[1]);
    assert_eq!(fitted.parameters.len(), 1);
    assert!((fitted.parameters[0].value / 102e3 - 1.0).abs() < 0.01);
    assert_eq!(fitted.parameters[0].identified_by.to_string(), "depth 1: mean 102.0 us");
    assert!(
        fitted.doubts.iter().any(|doubt| doubt.to_string().contains("one load was measured")),
        "{:?}",
        fitted.doubts
    );
    assert!(fitted.held_out.is_none());
}

#[test]
fn number_of_servers_needs_waiting() {
    let fitted = fit_to("station(512, 90us, lognormal 0.3)", &[1, 2, 4, 8]);
    assert_eq!(fitted.parameters.iter().filter(|parameter| parameter.identified).count(), 1, "{fitted:#?}");
    came_back(&fitted, "path, time of one operation", 90e3);
}

#[test]
fn reads_and_writes_measured_together_are_doubted() {
    let runs = [1, 4, 16].into_iter().map(|depth| run(depth, f64::from(depth) * 1e4, Some(0.02))).collect();
    let curve = build_curve(measured(), 0.7, runs);
    let fitted = fit(&[Evidence::try_from(&curve).unwrap()], None).unwrap();
    assert!(
        fitted.doubts.iter().any(|doubt| doubt.to_string().contains("only measured together")),
        "{:?}",
        fitted.doubts
    );
}

#[test]
fn missing_evidence_is_an_error() {
    assert_eq!(fit(&[], None).unwrap_err(), NotFitted::NoEvidence);
    let mut drifting = run(1, 1e4, None);
    drifting.figures.steadiness = Steadiness::Drifting;
    let curve = build_curve(measured(), 1.0, vec![drifting]);
    assert_eq!(fit(&[Evidence::try_from(&curve).unwrap()], None).unwrap_err(), NotFitted::NoRun);
}
/// Twice the depth would show whether the dies or a pipeline bind.
#[test]
fn rival_with_other_extrapolation_is_shown() {
    let fitted = fit_to("link(20us) then bank(64, 60us, lognormal 0.3) then station(1, 3us)", &[1, 2, 4, 6, 8, 12]);
    let rival = fitted.rival.as_ref().unwrap_or_else(|| panic!("{fitted:#?}"));
    assert!(rival.error.mean < 0.01, "{rival:?}");
}

/// With two loads a limit, a disk and servers would each pass through both points.
#[test]
fn two_loads_do_not_show_a_form() {
    let two = |model: &str, limits: Option<&str>| {
        let runs = [1, 32].into_iter().map(|depth| run(depth, simulate(model, depth, 60_000), Some(0.01))).collect();
        let curve = build_curve(measured(), 1.0, runs);
        let stages = limits.map(|limits| parse(limits).expect("a notation"));
        let stated = stages.as_ref().map(|stages| StatedLimits { of: "cloud:50GB", stages });
        fit(&[Evidence::try_from(&curve).expect("measured")], stated)
    };
    let model = "limit(3000) then link(1ms)";
    assert_eq!(two(model, None).unwrap_err(), NotFitted::TwoLoads);
    let fitted = two(model, Some("limit(3000) \"IOPS as bought\"")).expect("the limits are known");
    assert_eq!(fitted.spec.names(), ["IOPS as bought", "path"]);
    came_back(&fitted, "path, time of one operation", 1e6);
    assert!(fitted.error.worst < 0.01, "{fitted:#?}");
    assert!(
        fitted.doubts.iter().any(|doubt| doubt.to_string().contains("the runs reached 100 %")),
        "{:?}",
        fitted.doubts
    );
    let low = two(model, Some("limit(2000)")).unwrap_err();
    assert!(low.to_string().contains("3000 IOPS were measured, and they allow 2000"), "{low}");
    let flat = two("station(512, 90us, lognormal 0.3)", None).expect("no load changes the time");
    came_back(&flat, "path, time of one operation", 90e3);
    let slower = two("station(1, 1ms)", Some("limit(5000)")).expect("the limits are known");
    assert!(
        slower.doubts.iter().any(|doubt| doubt.to_string().contains("does not describe both")),
        "{:?}",
        slower.doubts
    );
}

/// Limits far above the measured loads leave the shape to the runs.
#[test]
fn limits_that_did_not_bind_are_kept() {
    let truth = "link(100us) then station(4, 300us, exponential)";
    let runs = [1, 2, 4, 6, 8, 16].into_iter().map(|depth| run(depth, simulate(truth, depth, 60_000), Some(0.01)));
    let curve = build_curve(measured(), 1.0, runs.collect());
    let stages = parse("limit(100000)").expect("a notation");
    let stated = StatedLimits { of: "cloud:50GB", stages: &stages };
    let fitted = fit(&[Evidence::try_from(&curve).expect("measured")], Some(stated)).expect("steady runs");
    assert!(fitted.spec.to_string().starts_with("limit(100000) then "), "{}", fitted.spec);
    came_back(&fitted, "servers, number", 4.0);
}

fn fit_to_rates(rates: &[(u32, f64)]) -> Fitted {
    let runs = rates.iter().map(|(depth, iops)| run(*depth, *iops, Some(0.02))).collect();
    let curve = build_curve(measured(), 1.0, runs);
    fit(&[Evidence::try_from(&curve).expect("measured")], None).expect("steady runs")
}

/// A time that no load changes has no ceiling: it is no form of a curve that flattens, however well it fits most loads.
#[test]
fn a_curve_that_flattens_gets_a_form_with_a_ceiling() {
    let fitted = fit_to_rates(&[(1, 1_000.0), (2, 2_000.0), (4, 4_000.0), (8, 8_000.0), (16, 12_500.0)]);
    assert_ne!(fitted.spec.names(), ["path"], "{fitted:#?}");
    let deeper = plimsoll_model::analytic::iops_at(&fitted.spec, &workload(Bytes::kib(8)), &[256])[0];
    assert!(deeper < 100_000.0, "256 in flight reach {deeper}: {}", fitted.spec);
}

fn workload(length: Bytes) -> plimsoll_model::analytic::Workload {
    plimsoll_model::analytic::Workload {
        reads: 1.0,
        durable: 0.0,
        flushes: 0.0,
        length,
        sequential: 0.0,
        space: Bytes::gib(8),
    }
}

/// A controller with two regimes, one up to 16 in flight and one from 32 on: no form follows both.
#[test]
fn rates_without_a_form_are_fitted_as_a_table() {
    let rates = [
        (1, 120.0),
        (2, 150.0),
        (3, 190.0),
        (4, 230.0),
        (6, 280.0),
        (8, 300.0),
        (12, 310.0),
        (16, 315.0),
        (24, 340.0),
        (32, 430.0),
        (48, 560.0),
        (64, 600.0),
    ];
    let fitted = fit_to_rates(&rates);
    assert_eq!(fitted.spec.names(), ["measured rates"], "{fitted:#?}");
    assert!(fitted.uncertainty < 0.15 && fitted.parameters.is_empty(), "{fitted:#?}");
    let predicted = plimsoll_model::analytic::iops_at(&fitted.spec, &workload(Bytes::kib(8)), &[1, 8, 32]);
    for (predicted, measured) in predicted.iter().zip([120.0, 300.0, 430.0]) {
        assert!((predicted / measured - 1.0).abs() < 0.02, "{predicted} and {measured}");
    }
}

#[test]
fn uncertainty_and_range_are_part_of_a_fit() {
    let fitted = fit_to_rates(&[(1, 10_000.0), (2, 12_000.0), (4, 11_000.0), (8, 40_000.0), (16, 41_000.0)]);
    let between = fitted.held_out.expect("five loads");
    assert!(fitted.uncertainty >= fitted.error.worst.max(between.worst) && fitted.uncertainty > 0.15, "{fitted:#?}");
    assert_eq!(
        (fitted.range.block_bytes, fitted.range.in_flight, fitted.range.reads),
        ((8192, 8192), (1.0, 16.0), (1.0, 1.0))
    );
    assert!(
        fitted.doubts.iter().any(|doubt| doubt.to_string().contains("only operations of 8 KiB were measured")),
        "{fitted:#?}"
    );
}

/// 64 KiB take 40 us longer than 4 KiB on a path of 1.5 GB/s, which also is a ceiling.
#[test]
fn two_block_sizes_identify_the_time_for_the_bytes() {
    let truth = parse("link(100us, 1500MB/s) then station(8, 50us)").expect("a model");
    let depths = [1, 2, 4, 8, 16, 32, 64];
    let of = |block: Bytes| {
        let rates = plimsoll_model::analytic::iops_at(&truth, &workload(block), &depths);
        let runs = depths.iter().zip(rates).map(|(depth, iops)| run(*depth, iops, Some(0.01))).collect();
        let mut curve = measured::curve(runs, block, Bytes::gib(8));
        curve.source = measured();
        curve
    };
    let curves = [of(Bytes::kib(4)), of(Bytes::kib(64))];
    let evidence: Vec<Evidence<'_>> = curves.iter().map(|curve| Evidence::try_from(curve).expect("measured")).collect();
    let fitted = fit(&evidence, None).expect("steady runs");
    assert!(fitted.uncertainty < 0.1, "{fitted:#?}");
    assert_eq!(fitted.range.block_bytes, (4096, 65536));
    // A size in between was not measured.
    for (block, depth) in [(Bytes::kib(16), 1), (Bytes::kib(16), 64), (Bytes::kib(64), 64)] {
        let of = |spec| plimsoll_model::analytic::iops_at(spec, &workload(block), &[depth])[0];
        let ratio = of(&fitted.spec) / of(&truth);
        assert!((ratio - 1.0).abs() < 0.1, "{block} at depth {depth}: {ratio}");
    }
}

/// A controller that acknowledges writes from its memory in front of slow disks: reads and writes share no form.
#[test]
fn reads_and_writes_of_a_caching_controller_are_fitted_apart() {
    let depths = [1, 2, 4, 8, 16, 32];
    let of = |model: &str, reads: f64| {
        let runs = depths.iter().map(|depth| run(*depth, simulate(model, *depth, 20_000), Some(0.01))).collect();
        build_curve(measured(), reads, runs)
    };
    let curves = [of("station(8, 8ms, exponential)", 1.0), of("limit(2000) then link(300us)", 0.0)];
    let evidence: Vec<Evidence<'_>> = curves.iter().map(|curve| Evidence::try_from(curve).expect("measured")).collect();
    let fitted = fit(&evidence, None).expect("steady runs");
    assert!(fitted.spec.to_string().starts_with("split(read: "), "{}", fitted.spec);
    assert!(fitted.uncertainty < 0.1 && fitted.range.reads == (0.0, 1.0), "{fitted:#?}");
    assert!(named(&fitted, "writes: limit, operations").value > 1_900.0);
}

#[test]
fn void_curves_are_no_evidence() {
    let mut cached = build_curve(measured(), 1.0, vec![run(1, 1e4, None), run(4, 4e4, None)]);
    cached.runs.iter_mut().for_each(|run| run.findings.push(Finding::PageCacheAnswered { share: 0.999 }));
    let refused = Evidence::try_from(&cached).expect_err("void").to_string();
    assert!(refused.contains("99.9 % of the reads came from the page cache"), "{refused}");
    cached.runs[1].findings.clear();
    assert!(Evidence::try_from(&cached).is_ok(), "one run is evidence");
}

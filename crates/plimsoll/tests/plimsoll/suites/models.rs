//! Suites on models whose figures can be calculated: a station with a service time of a millisecond.

use plimsoll_record::{EndReason, Source, StepRun, StepWork, SuiteRun};
use plimsoll_units::Span;

use crate::folder::{stderr, stdout};
use crate::suites::{SMALL, directory, run_suite};

const STATION: &str = "station(1, 1ms)";

/// Operations and time of a step.
fn observe(step: &StepRun) -> (u64, Span) {
    match &step.work {
        StepWork::Io { jobs, span, .. } => (jobs.iter().map(|job| job.total.operations()).sum(), *span),
        StepWork::Files { files, span, .. } => (*files, *span),
        StepWork::Skipped { why } => panic!("{}: left out, as {why}", step.name),
        other => panic!("{}: {other:?}", step.name),
    }
}

fn simulated(model: &str, name: &str, more: &[&str]) -> SuiteRun {
    let suite = run_suite(&directory(name), name, model, more);
    assert!(matches!(suite.source, Source::Simulated { .. }), "{name}: {:?}", suite.source);
    assert_eq!((suite.suite.as_str(), suite.ended, suite.started.as_ref()), (name, EndReason::Complete, None));
    suite
}

/// The sentences of its verdicts.
fn words(suite: &SuiteRun) -> String {
    suite.verdicts.iter().map(plimsoll_report::words::verdict).collect()
}

/// Checks operations and milliseconds of a step, and the listings of its suite.
#[track_caller]
fn check(suite: &SuiteRun, step: &str, expected: (u64, u64), listed: &[&str]) {
    let found = suite.steps.iter().find(|found| found.counts && found.name == step);
    let found = found.unwrap_or_else(|| panic!("no {step}: {:?}", suite.steps.iter().map(|s| &s.name)));
    assert_eq!(observe(found), (expected.0, Span::from_millis(expected.1)), "{step}");
    let listings: String = suite.listings.iter().map(|listing| listing.text.as_str()).collect();
    for line in listed {
        assert!(listings.contains(line), "{line} is not in\n{listings}");
    }
}

/// Eight blocks of 1 MiB at 1,000 per second are 1,049 MB/s; a flush is the ninth operation.
#[test]
fn dd_copies_at_the_rate_of_the_model() {
    let suite = simulated(STATION, "dd", &["--bs", "1MiB", "--count", "8"]);
    check(&suite, "Copy, direct", (8, 8), &["8388608 bytes (8.4 MB, 8.0 MiB) copied, 0.008 s, 1.0 GB/s"]);
    check(&suite, "Copy, fdatasync", (9, 9), &["8388608 bytes (8.4 MB, 8.0 MiB) copied, 0.009 s, 932 MB/s"]);
}

/// 2,048 chunks of 8 KiB and a flush; rewriting counts each chunk once and moves it twice. Every tenth of 8,192 seeks
/// is followed by a write, beginning with the first: 8192 / 9.012 s.
#[test]
fn bonnie_counts_chunks_and_seeks() {
    let suite = simulated(STATION, "bonnie", &["--size", "16MiB", "--files", "0", "--machine", "m"]);
    let line = "1.98,2.00,m,1,1,16M,,8192,5,,,7996,+++,3999,+++,,,8000,+++,909.0,+++,";
    check(&suite, "Block write", (2049, 2049), &[line]);
    check(&suite, "Rewrite", (4097, 4097), &[]);
    check(&suite, "Block read", (2048, 2048), &[]);
    check(&suite, "Seeks", (9012, 9012), &["909.0 +++"]);
}

#[test]
fn crystaldiskmark_shows_operations_of_a_millisecond() {
    let real = ["--profile", "real", "--runs", "2", "--size", "4MiB", "--measure", "2s"];
    let suite = simulated(STATION, "crystaldiskmark", &real);
    let lines = ["RND    4KiB (Q=  1, T= 1):     4.096 MB/s [   1000.0 IOPS] <  1000.00 us>", "Test: 4 MiB (x2)"];
    check(&suite, "random write, 4 KiB, Q1 T1", (2000, 2000), &lines);

    // Version 3 ends with a flush within the time, and checks its timer after complete passes.
    let suite =
        simulated(STATION, "crystaldiskmark", &["--version", "3", "--runs", "1", "--size", "4MiB", "--measure", "1s"]);
    check(&suite, "sequential write, 1 MiB, Q1 T1", (1001, 1001), &["Sequential Write :  1047.528 MB/s"]);
}

/// A method with a flush takes two operations, a durable write takes one.
#[test]
fn walfsync_prices_each_method() {
    let suite = simulated(STATION, "walfsync", &["--measure", "1s"]);
    let lines = [
        "        open_datasync                      1000.000 ops/sec    1000 usecs/op",
        "        fdatasync                           500.000 ops/sec    2000 usecs/op",
    ];
    check(&suite, "fdatasync, 1 x 8 KiB", (1000, 1000), &lines);
    assert!(words(&suite).contains("1000 times with open_datasync"), "{:?}", suite.verdicts);
    let twice = suite.steps.iter().find(|step| step.name == "fdatasync, 2 x 8 KiB").expect("a step");
    let StepWork::Io { jobs, .. } = &twice.work else { panic!("{twice:?}") };
    // Two writes and a flush of 1 ms each.
    assert_eq!(jobs[0].total.units(twice.writes_each), 333, "{:?}", jobs[0].total);
    assert_eq!(jobs[0].total.unit_times(twice.writes_each).count, 333, "flushes");

    let verdict = |model| words(&simulated(model, "walfsync", &["--measure", "1s", "--preset", "etcd"]));
    let (fast, slow) = (verdict(STATION), verdict("station(1, 20ms)"));
    assert!(fast.contains(", below the 10 ms") && slow.contains("not below the 10 ms"), "{fast} {slow}");
}

#[test]
fn tiobench_shares_a_station_among_threads() {
    let few = ["--threads", "2", "--size", "1MiB", "--random", "100"];
    let suite = simulated(STATION, "tiobench", &few);
    check(&suite, "Write, 2 threads", (514, 514), &["| Write           2 MBs |    0.5 s |   3.891 MB/s |"]);
    check(&suite, "Random read, 2 threads", (200, 200), &["| Random Read     1 MBs |    0.2 s |   3.906 MB/s |"]);

    let suite =
        simulated(STATION, "tiobench", &["--tiobench", "--threads", "1,2", "--size", "1MiB", "--random", "100"]);
    assert_eq!(suite.steps.iter().filter(|step| step.name.starts_with("Read")).count(), 2, "one for each pass");
}

#[test]
fn snia_is_steady_after_five_rounds_of_a_model() {
    let few =
        ["--size", "2MiB", "--point", "1s", "--mixes", "100,0", "--blocks", "4KiB", "--rounds", "9", "--threads", "1"];
    let suite = simulated(STATION, "snia", &[&few[..], &["--depth", "1"]].concat());
    let lines = ["steady state: reached\nwindow: rounds 1 to 5\naverage: 1000.000\n"];
    check(&suite, "iops: 0/100 of 4 KiB", (1000, 1000), &lines);
    assert_eq!(suite.steps.iter().map(|step| step.round).max(), Some(5));
}

/// The article's volume in the catalogue is nearest to its own column.
#[test]
fn an_article_is_repeated_on_its_own_product() {
    let suite = simulated("oci:50GB@0vpu", "articles", &["--article", "oci-levels", "--as-of", "2026-11-21"]);
    let verdicts = words(&suite);
    assert!(verdicts.contains("lower cost, 50 GB is the nearest"), "{verdicts}");
    assert!(verdicts.contains("the article's host would print 15.4 MB/s"), "{verdicts}");
    assert!(suite.listings[0].text.contains("  12.3  "), "{}", suite.listings[0].text);
}

#[test]
fn the_same_command_prints_the_same_bytes() {
    let folder = directory("again");
    for (name, flags) in SMALL.iter().filter(|(name, _)| *name != "verify") {
        let arguments = [&["suite", name, STATION], *flags].concat();
        let [first, second] = [(), ()].map(|()| folder.run(&arguments));
        assert!(first.status.success(), "{name}: {}", stderr(&first));
        assert!(stdout(&first).contains("simulated"), "{name}");
        assert!(first.stdout == second.stdout, "{name}: {} and {}", stdout(&first), stdout(&second));
    }
    assert!(!folder.join("runs").exists(), "what is simulated is not kept");
}

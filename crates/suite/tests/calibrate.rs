//! Calibration: its loads, its figures on models, and its layouts read back.

mod grounds;

use grounds::{Temporary, all, facts, model, read_back};
use plimsoll_load::{Pattern, Work as Does};
use plimsoll_suite::recipes::calibrate::{Calibrate, CalibrateOptions, LargeOrder, Matrix, Outstanding, Run};
use plimsoll_suite::{Done, Facts, Nature, Recipe, Work};
use plimsoll_units::{Bytes, Span};

const SPACE: Bytes = Bytes::gib(64);

fn on_model() -> Facts {
    facts(Nature::Model, SPACE)
}

fn options(run: Run) -> CalibrateOptions {
    CalibrateOptions { run, ..CalibrateOptions::default() }
}

/// What a recipe does on a model, with what it prints.
fn calibrated(options: CalibrateOptions, stages: &str) -> (Calibrate, Vec<Done>) {
    let mut recipe = Calibrate::new(options, &on_model()).expect("its options are right");
    let done = all(&mut recipe, &mut model(stages, SPACE)).done;
    (recipe, done)
}

fn text(recipe: &Calibrate, done: &[Done], title: &str) -> String {
    let listings = recipe.listings(done, &on_model());
    listings.into_iter().find(|listing| listing.title == title).expect("a listing of this title").text
}

/// The loads of a run, as `small+large`.
fn loads(run: Run, disks: u32) -> Vec<String> {
    let options = CalibrateOptions { disks, point: Span::from_millis(20), ..options(run) };
    let (_, done) = calibrated(options, "station(1000, 1ms)");
    let name = |done: &Done| done.step.name.replace(" small, ", "+").replace(" large outstanding", "");
    done.iter().map(name).collect()
}

#[test]
fn runs_go_through_their_part_of_the_matrix() {
    let check = |run, disks, expected: &str| {
        let seen = loads(run, disks);
        assert_eq!(seen, expected.split(' ').collect::<Vec<_>>(), "{run:?}");
    };
    check(Run::Simple, 1, "1+0 2+0 3+0 4+0 5+0 0+1 0+2");
    check(Run::Advanced(Matrix::Basic), 1, "1+0 2+0 3+0 4+0 5+0 0+1 0+2");
    check(Run::Normal, 1, "1+0 2+0 3+0 4+0 5+0 0+1 1+1 2+1 3+1 4+1 5+1 0+2 1+2 2+2 3+2 4+2 5+2");
    check(Run::Advanced(Matrix::Row { large: 2 }), 1, "0+2 1+2 2+2 3+2 4+2 5+2");
    check(Run::Advanced(Matrix::Row { large: 0 }), 1, "1+0 2+0 3+0 4+0 5+0");
    check(Run::Advanced(Matrix::Column { small: 3 }), 1, "3+0 3+1 3+2");
    check(Run::Advanced(Matrix::Point(Outstanding { small: 7, large: 1 })), 4, "7+1");
    check(Run::Advanced(Matrix::Max(Outstanding { small: 1, large: 2 })), 4, "1+0 0+1 1+1 0+2 1+2");
    assert_eq!(loads(Run::Normal, 1), loads(Run::Advanced(Matrix::Detailed), 1));
    let (oltp, dss) = (loads(Run::Oltp, 4), loads(Run::Dss, 4));
    assert_eq!((oltp.len(), &*oltp[0], &*oltp[16], &*oltp[19]), (20, "4+0", "68+0", "80+0"));
    assert_eq!((dss.len(), &*dss[0], &*dss[14]), (15, "0+4", "0+60"));
}

#[test]
fn a_load_is_small_random_operations_beside_large_ones() {
    let point = Run::Advanced(Matrix::Point(Outstanding { small: 3, large: 2 }));
    let order = LargeOrder::Sequential;
    let asked = CalibrateOptions { writes: 0.25, order, point: Span::from_millis(20), ..options(point) };
    let (_, done) = calibrated(asked, "station(1000, 1ms)");
    let Work::Io(io) = &done[0].step.work else { panic!("it is of blocks") };
    let told = |worker: &plimsoll_suite::Worker| {
        let (job, part) = (&worker.job, worker.parts[0]);
        (job.reads.sizes.largest() >> 10, job.reads.pattern, job.depth, part.start >> 30, part.length.get() >> 30)
    };
    assert_eq!(
        io.workers.iter().map(told).collect::<Vec<_>>(),
        [
            (8, Pattern::Uniform, 3, 0, 64),
            (1024, Pattern::Sequential, 4, 0, 32),
            (1024, Pattern::Sequential, 4, 32, 32),
        ]
    );
    assert!(io.workers.iter().all(|worker| worker.job.work == Does::Mixed { reads: 0.75 } && worker.access.direct));
}

#[test]
fn the_limit_of_latency_finds_what_eight_servers_carry() {
    // Each takes 1 ms: 8 outstanding carry 8,000 a second, more only wait; 1 MiB takes as long.
    let check = |limit_ms, expected: &str| {
        let asked = CalibrateOptions { max_latency: Span::from_millis(limit_ms), ..options(Run::Limit) };
        let (recipe, done) = calibrated(asked, "station(8, 1ms)");
        assert_eq!(text(&recipe, &done, "CALIBRATE_IO"), expected, "{limit_ms} ms");
        recipe.verdicts(&done, &on_model())
    };
    let carried = "max_iops = 8000\nactual_latency = 1\nmax_mbps = 8000\n";
    let verdicts = check(20, carried);
    assert!(verdicts[0].contains("8000 operations a second with 8 outstanding: mean 1 ms"), "{verdicts:?}");
    assert!(verdicts[2].contains("Not the limit of latency"), "{verdicts:?}");
    assert!(check(1, carried)[2].contains("The limit of latency ended the search"));
}

#[test]
fn a_mean_keeps_the_limit_where_p99_does_not() {
    let asked = CalibrateOptions { max_latency: Span::from_millis(2), disks: 4, ..options(Run::Limit) };
    let (recipe, done) = calibrated(asked, "station(8, 1ms, exponential)");
    let verdicts = recipe.verdicts(&done, &on_model());
    // Of exponential times with mean 1 ms, e^-2 are above 2 ms even where nothing waits: 13.5 %.
    assert!(verdicts[1].contains("p99 keeps 2 ms at no load tried"), "{verdicts:?}");
    let slow: f64 = verdicts[0].split("mean's; ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(slow > 13.0, "{verdicts:?}");
}

#[test]
fn what_was_not_written_before_is_a_doubt_of_devices() {
    let (recipe, done) = calibrated(options(Run::Advanced(Matrix::Row { large: 0 })), "station(8, 1ms)");
    for (nature, doubted) in
        [(Nature::Blocks, true), (Nature::Export, true), (Nature::Directory, false), (Nature::Model, false)]
    {
        let verdicts = recipe.verdicts(&done, &facts(nature, SPACE)).join("\n");
        assert_eq!(verdicts.contains("never written"), doubted, "{nature:?}: {verdicts}");
        assert_eq!(verdicts.contains("a cache between"), nature != Nature::Model, "{nature:?}: {verdicts}");
    }
}

#[test]
fn a_limit_that_nothing_keeps_is_said() {
    let asked = CalibrateOptions { max_latency: Span::from_millis(10), disks: 4, ..options(Run::Limit) };
    let (recipe, done) = calibrated(asked, "station(1, 15ms)");
    assert_eq!(text(&recipe, &done, "CALIBRATE_IO"), "max_iops = 67\nactual_latency = 15\nmax_mbps = 67\n");
    assert!(recipe.verdicts(&done, &on_model())[0].contains("No load keeps 10 ms"));
}

const SUMMARY: &str = "\
Orion layout, printed by plimsoll

Commandline:
-run simple -num_disks 1

This maps to this test:
Test: orion
Small IO size: 8 KB
Large IO size: 1024 KB
IO Types: Small Random IOs, Large Random IOs
Simulated Array Type: CONCAT
Write: 0%
Cache Size: Not Entered
Duration for each Data Point: 60 seconds
Small Columns:,      0
Large Columns:,      0,      1,      2
Total Data Points: 8

Name: place  Size: 68719476736
1 FILEs found.

Maximum Large MBPS=1000.00 @ Small=0 and Large=1

Maximum Small IOPS=1000 @ Small=1 and Large=0
Small Read Latency: avg=1000.000 us, min=1000.000 us, max=1000.000 us, std dev=0.000 us @ Small=1 and Large=0
";

#[test]
fn orions_layouts_are_arithmetic_on_one_server() {
    let asked = CalibrateOptions { point: Span::from_secs(60), ..options(Run::Simple) };
    let (recipe, done) = calibrated(asked, "station(1, 1ms)");
    let summary = text(&recipe, &done, "Orion summary");
    assert!(summary.starts_with(SUMMARY), "{summary}");
    let (kind, evidence) = read_back("a_summary.txt", &summary);
    assert_eq!(kind, "orion");
    let said: Vec<_> =
        evidence.iter().map(|one| (one.test.as_str(), one.setting.depth, one.iops, one.mean_s)).collect();
    assert_eq!(said[0], ("Maximum Large MBPS", Some(1.0), None, None));
    assert_eq!(evidence[0].bytes_s, Some(1_048_576_000.0));
    assert_eq!(said[1], ("Maximum Small IOPS", Some(1.0), Some(1000.0), Some(0.001)));
    assert_eq!(said[2], ("Minimum Small Latency", Some(1.0), None, Some(0.001)));

    let iops = text(&recipe, &done, "orion_iops.csv");
    assert_eq!(
        iops,
        "Large/Small,      1,      2,      3,      4,      5\n      0,   1000,   1000,   1000,   1000,   1000\n"
    );
    let (kind, evidence) = read_back("a_iops.csv", &iops);
    assert_eq!((kind, evidence.len(), evidence[4].setting.depth), ("orion-matrix", 5, Some(5.0)));
    // Of n outstanding the first wait less: n - n (n - 1) / 2 / (60,000 + n - 1) milliseconds.
    let lat = text(&recipe, &done, "orion_lat.csv");
    assert!(lat.ends_with("\n      0,1000.00,1999.98,2999.95,3999.90,4999.83\n"), "{lat}");
    let mbps = text(&recipe, &done, "orion_mbps.csv");
    assert_eq!(mbps, "Large/Small,      0\n      1,1000.00\n      2,1000.00\n");
    assert_eq!(read_back("a_mbps.csv", &mbps).1[1].bytes_s, Some(1_048_576_000.0));
}

#[test]
fn histograms_have_every_operation_once() {
    let asked =
        CalibrateOptions { writes: 0.5, ..options(Run::Advanced(Matrix::Point(Outstanding { small: 1, large: 0 }))) };
    let (recipe, done) = calibrated(asked, "split(read: station(1, 100us); write: station(1, 1ms); flush: link(1us))");
    let summary = text(&recipe, &done, "Orion summary");
    let rows: Vec<&str> = summary.lines().filter(|line| line.contains("us:")).take(6).collect();
    assert_eq!(rows.len(), 6, "{summary}");
    assert!(rows[2].starts_with("       64 - 128        us:") && rows[2].contains("(100.00%)"), "{summary}");
    assert!(rows[5].starts_with("      512 - 1024       us:") && rows[5].ends_with("(100.00%)"), "{summary}");
    assert!(rows[5].contains("               0 (100.00%)"), "no read is as slow: {summary}");
    assert!(summary.contains("Small Write Latency: avg=1000.000 us"), "{summary}");
}

#[test]
fn what_cannot_be_is_refused_with_what_to_write() {
    type Change = fn(&mut CalibrateOptions);
    let refused: [(Change, &str); 7] = [
        (|options| options.disks = 0, "write --disks 1"),
        (|options| options.writes = 1.5, "write --writes 0"),
        (|options| options.point = Span::ZERO, "write --point 10s"),
        (|options| options.small = 1000, "multiple of the 512"),
        (|options| options.size = Some(Bytes::gib(65)), "give --size less"),
        (|options| options.run = Run::Advanced(Matrix::Point(Outstanding::default())), "give more disks"),
        (
            |options| (options.run, options.disks, options.order) = (Run::Dss, 20, LargeOrder::Sequential),
            "300 streams are too many",
        ),
    ];
    for (change, expected) in refused {
        let mut asked = options(Run::Simple);
        change(&mut asked);
        let error = Calibrate::new(asked, &Facts { grid: 512, ..on_model() }).expect_err(expected);
        assert!(error.contains(expected) && !error.contains('\n'), "{error}");
    }
    let read_only = Facts { read_only: true, ..facts(Nature::Blocks, SPACE) };
    assert!(Calibrate::new(CalibrateOptions { writes: 0.1, ..options(Run::Limit) }, &read_only).is_err());
    let recipe = Calibrate::new(options(Run::Limit), &read_only).expect("it only reads");
    assert!(!recipe.files()[0].writes);
    assert!(recipe.listings(&[], &read_only)[0].text.is_empty() && recipe.verdicts(&[], &read_only).is_empty());
}

#[test]
fn it_runs_on_a_directory_and_its_layouts_read_back() {
    let place = Temporary::new("calibrate");
    let facts = facts(Nature::Directory, Bytes::gib(1));
    for run in [Run::Limit, Run::Simple] {
        let size = Some(Bytes::mib(16));
        let asked = CalibrateOptions { size, point: Span::from_millis(20), ..options(run) };
        let mut recipe = Calibrate::new(asked, &facts).expect("its options are right");
        let done = all(&mut recipe, &mut place.ground()).done;
        let listings = recipe.listings(&done, &facts);
        for listing in &listings {
            println!("{}\n{}", listing.title, listing.text);
        }
        println!("{:#?}", recipe.verdicts(&done, &facts));
        if run == Run::Simple {
            assert_eq!(read_back("a_summary.txt", &listings[0].text).1.len(), 3);
            assert_eq!(read_back("a_iops.csv", &listings[1].text).1.len(), 5);
            assert_eq!(read_back("a_mbps.csv", &listings[3].text).1.len(), 2);
        } else {
            assert_eq!(listings[0].text.lines().count(), 3);
        }
    }
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "nothing is left behind");
}

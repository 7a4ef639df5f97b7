//! SNIA's method: rounds, steady state, and tables.

use crate::grounds;

use grounds::{Temporary, all, build_facts, io_step as io, model, words};
use plimsoll_load::{Pattern, WorkerOps as Does};
use plimsoll_record::StepWork;
use plimsoll_suite::recipes::snia::{Snia, SniaOptions, SniaTest};
use plimsoll_suite::{CompletedStep, Facts, Keep, Nature, Recipe, SuiteOptions, step_run};
use plimsoll_units::{Bytes, Span};

const SPACE: Bytes = Bytes::gib(1);

fn on_model() -> Facts {
    build_facts(Nature::Model, SPACE)
}

/// Seconds instead of minutes, and a few loads.
fn quick(tests: &[SniaTest]) -> SniaOptions {
    SniaOptions {
        tests: tests.to_vec(),
        size: Some(Bytes::mib(16)),
        point: Span::from_secs(1),
        mixes: vec![1.0, 0.65, 0.0],
        blocks: vec![128 << 10, 4 << 10],
        ..SniaOptions::defaults()
    }
}

fn create(options: SniaOptions, stages: &str) -> (Snia, Vec<CompletedStep>) {
    let mut recipe = Snia::new(options, &on_model()).expect("its options are right");
    let done = all(&mut recipe, &mut model(stages, SPACE)).done;
    (recipe, done)
}

fn print_table(recipe: &Snia, done: &[CompletedStep], title: &str) -> String {
    let listings = recipe.listings(done, &on_model());
    let titles: Vec<_> = listings.iter().map(|listing| listing.title.clone()).collect();
    let found = listings.into_iter().find(|listing| listing.title == title);
    found.unwrap_or_else(|| panic!("{title} is not among {titles:?}")).text
}

#[test]
fn round_has_every_block_size_of_every_mix() {
    let options = SniaOptions { size: Some(Bytes::mib(64)), point: Span::from_millis(1), ..SniaOptions::defaults() };
    let (_, done) = create(options, "station(64, 1ms)");
    let round: Vec<_> = done.iter().filter(|done| done.step.counts && done.step.round == 1).collect();
    assert_eq!((round.len(), done.len()), (56, 1 + 5 * 56));
    let names: Vec<&str> = round.iter().map(|done| done.step.name.as_str()).collect();
    assert_eq!(names[..2], ["iops: 100/0 of 1 MiB", "iops: 100/0 of 128 KiB"]);
    assert_eq!(
        (names[7], names[8], names[55]),
        ("iops: 100/0 of 512 B", "iops: 95/5 of 1 MiB", "iops: 0/100 of 512 B")
    );
    for done in &done {
        assert_eq!(io(&done.step).keep, Keep::Totals);
        let observed = done.result.io().expect("it is of blocks");
        assert!(observed.series.len() <= 1 && observed.workers.iter().all(|worker| worker.observed.series.len() <= 1));
    }
}

#[test]
fn tests_have_expected_loads() {
    let all = [SniaTest::Iops, SniaTest::Throughput, SniaTest::Latency];
    let options = SniaOptions { point: Span::from_millis(10), ..quick(&all) };
    let (_, done) = create(options, "station(64, 1ms)");
    let told = |done: &&CompletedStep| {
        let workers = &io(&done.step).workers;
        let job = &workers[0].job;
        (done.step.name.clone(), workers.len(), job.depth, job.writes.pattern)
    };
    let count = |test: &str| done.iter().filter(|done| done.step.name.starts_with(test)).count();
    assert_eq!((count("iops"), count("throughput"), count("latency")), (1 + 5 * 6, 5 * 2, 1 + 5 * 9));
    let first = told(&&done[0]);
    assert_eq!(first, ("iops: preconditioning, 2 times 128 KiB after 128 KiB".into(), 1, 32, Pattern::Sequential));
    assert_eq!(done[0].result.io().expect("it is of blocks").total().bytes(), 2 * (16 << 20));
    assert_eq!(told(&&done[1]), ("iops: 100/0 of 128 KiB".into(), 2, 16, Pattern::Uniform));
    assert_eq!(io(&done[3].step).workers[0].job.work, Does::Mixed { reads: 0.65 });
    assert_eq!(told(&&done[31]), ("throughput: 100/0 of 1 MiB".into(), 1, 32, Pattern::Sequential));
    assert_eq!(told(&&done[42]), ("latency: 100/0 of 8 KiB".into(), 1, 1, Pattern::Uniform));
}

const AVERAGES: &str = "\
IOPS, average of rounds 1 to 5
            read/write, %
     block      0/100      65/35      100/0
     4 KiB       4000       4000       4000
   128 KiB       4000       4000       4000
";

const STEADY: &str = "\
tracked: 0/100 of 4 KiB, IOPS
steady state: reached
window: rounds 1 to 5
average: 4000.000
range: 0.000, 0.0 % of the average; 20 % allowed
slope excursion: 0.000, 0.0 % of the average; 10 % allowed
best fit: 0.000 * round + 4000.000
";

const ROUNDS: &str = "\
round      tracked     best fit      128 KiB        4 KiB
    1         4000         4000         4000         4000
    2         4000         4000         4000         4000
    3         4000         4000         4000         4000
    4         4000         4000         4000         4000
    5         4000         4000         4000         4000
";

#[test]
fn tables_match_arithmetic_on_four_servers() {
    let (recipe, done) = create(quick(&[SniaTest::Iops]), "station(4, 1ms)");
    assert_eq!(print_table(&recipe, &done, "iops: averages"), AVERAGES);
    assert_eq!(print_table(&recipe, &done, "iops: steady state"), STEADY);
    assert_eq!(print_table(&recipe, &done, "iops: plot data"), ROUNDS);
    let retained: Vec<_> = done.iter().filter_map(|done| step_run(done, &on_model())).collect();
    let StepWork::Io { run, .. } = &retained[1].work else { panic!("it is of blocks") };
    assert_eq!((retained.len(), run.series.len(), run.total.operations()), (31, 1, 4028));
    let verdicts = words(&recipe.verdicts(&done, &on_model()));
    assert!(verdicts[0].starts_with("Iops: steady after 5 rounds: over rounds 1 to 5"), "{verdicts:?}");
    assert!(verdicts[1].contains("The device was not purged"), "{verdicts:?}");
    assert!(!recipe.follows().contains("conform"));
}

const LATENCY: &str = "\
average latency, ms, of rounds 1 to 5
            read/write, %
     block      0/100      65/35      100/0
     512 B      3.000      1.703      1.000
     4 KiB      3.000      1.701      1.000
     8 KiB      3.000      1.700      1.000
";

#[test]
fn latency_test_has_depth_one() {
    let served = "split(read: station(1, 1ms); write: station(1, 3ms); flush: link(1us))";
    let (recipe, done) = create(quick(&[SniaTest::Latency]), served);
    let text = print_table(&recipe, &done, "latency: averages");
    // 35 % of the mix write: 0.65 * 1 + 0.35 * 3 ms is 1.7 ms, up to the random draw of reads.
    let figures: Vec<f64> =
        text.lines().skip(3).take(3).filter_map(|line| line.split_whitespace().nth(3)?.parse().ok()).collect();
    assert!(figures.len() == 3 && figures.iter().all(|figure| (figure - 1.7).abs() < 0.05), "{text}");
    let rest = |text: &str| -> Vec<String> {
        let cells = |line: &str| {
            line.split_whitespace()
                .enumerate()
                .filter(|(at, _)| *at != 3)
                .map(|(_, cell)| cell.to_owned())
                .collect::<Vec<_>>()
                .join(" ")
        };
        text.lines().take(6).map(cells).collect()
    };
    assert_eq!(rest(&text), rest(LATENCY));
    assert!(text.contains("maximum latency, ms, of rounds 1 to 5") && text.contains("p99.999 latency, ms"), "{text}");
}

#[test]
fn throughput_test_has_one_stream() {
    let (recipe, done) = create(quick(&[SniaTest::Throughput]), "station(1, 10ms)");
    let expected = "\
MB/s, average of rounds 1 to 5
            read/write, %
     block      0/100      100/0
     1 MiB      104.9      104.9
";
    assert_eq!(print_table(&recipe, &done, "throughput: averages"), expected);
    assert!(print_table(&recipe, &done, "throughput: steady state").contains("tracked: 0/100 of 1 MiB, MB/s"));
}

#[test]
fn rounds_end_at_steady_state() {
    // A buffer of 320 MB absorbs the writes of the first rounds; later rounds are limited to 20 MB/s.
    let served = "split(read: station(8, 1ms); write: buffer(320MB, drain 20MB/s, flush honoured) then station(8, 1ms); flush: link(1us))";
    let options = SniaOptions { mixes: vec![0.0], blocks: vec![4 << 10], precondition: 0, ..quick(&[SniaTest::Iops]) };
    let (recipe, done) = create(SniaOptions { rounds: 60, ..options.clone() }, served);
    let plot = print_table(&recipe, &done, "iops: plot data");
    let tracked: Vec<f64> =
        plot.lines().skip(1).map(|line| line.split_whitespace().nth(1).unwrap().parse().unwrap()).collect();
    assert!(tracked.len() >= 5, "{plot}");
    let window = &tracked[tracked.len() - 5..];
    let (low, high) = (window.iter().copied().fold(f64::MAX, f64::min), window.iter().copied().fold(0.0, f64::max));
    assert!((high - low) / (window.iter().sum::<f64>() / 5.0) <= 0.2, "{plot}");
    // Permanent fluctuation is never steady, and ends at the last round.
    let wavering = "pressure(100, burst 1, delay 1ms) then stall(3500ms, 1400ms) then station(1, 1ms)";
    let (recipe, done) = create(SniaOptions { rounds: 12, ..options }, wavering);
    assert_eq!(done.len(), 12, "{}", print_table(&recipe, &done, "iops: plot data"));
    assert!(
        print_table(&recipe, &done, "iops: steady state")
            .contains("steady state: not reached\nwindow: rounds 8 to 12\n")
    );
    let verdicts = words(&recipe.verdicts(&done, &on_model()));
    assert!(verdicts[0].contains("not steady after 12 rounds"), "{verdicts:?}");
}

#[test]
fn saturation_ends_after_four_fills_or_time_limit() {
    // 1,000 writes of 4 KiB per second, and 31 in flight at the end: 4.22 MB per round; four times 16 MiB are 67.1 MB.
    let (recipe, done) = create(quick(&[SniaTest::WriteSaturation]), "station(1, 1ms)");
    assert_eq!(done.len(), 16);
    let plot = print_table(&recipe, &done, "write-saturation: plot data");
    let lines: Vec<&str> = plot.lines().collect();
    assert_eq!(lines[0], "round    minutes   written GB         IOPS    mean ms p99.999 ms     max ms");
    assert!(lines[1].starts_with("    1       0.02        0.004         1000"), "{plot}");
    let verdicts = words(&recipe.verdicts(&done, &on_model()));
    assert!(
        verdicts[0].contains("1000 operations a second in the first round, 1000 in the last, which is 100 %"),
        "{verdicts:?}"
    );
    let saturation_span = Span::from_secs(3);
    let (_, done) = create(SniaOptions { saturation_span, ..quick(&[SniaTest::WriteSaturation]) }, "station(1, 1ms)");
    assert_eq!(done.len(), 3);
}

#[test]
fn invalid_options_are_refused_with_remedy() {
    type Change = fn(&mut SniaOptions);
    let refused: [(Change, &str); 7] = [
        (|options| options.tests.clear(), "write --tests iops"),
        (|options| options.point = Span::ZERO, "write --point 1min"),
        (|options| options.rounds = 4, "write --rounds 25"),
        (|options| options.threads = 0, "write --threads 2"),
        (|options| options.mixes = vec![1.0], "write --mixes 100,65,0"),
        (|options| options.blocks = vec![8 << 10], "write --blocks 8KiB,4KiB"),
        (|options| options.size = Some(Bytes::gib(2)), "give a smaller --size"),
    ];
    for (change, expected) in refused {
        let mut options = quick(&[SniaTest::Iops]);
        change(&mut options);
        let error = Snia::new(options, &on_model()).expect_err(expected).to_string();
        assert!(error.contains(expected) && !error.contains('\n'), "{error}");
    }
    let read_only = Facts { read_only: true, ..on_model() };
    assert!(Snia::new(quick(&[SniaTest::Iops]), &read_only).expect_err("it writes").to_string().contains("--destroy"));
    let coarse = Facts { grid: 4096, ..on_model() };
    let recipe = Snia::new(quick(&[SniaTest::Latency]), &coarse).expect("its options are right");
    assert_eq!(recipe.expected(), 1 + 5 * 6, "blocks of 512 bytes are left out");
    assert!(recipe.listings(&[], &coarse).is_empty() && words(&recipe.verdicts(&[], &coarse)).is_empty());
}

#[test]
fn runs_on_a_directory() {
    let place = Temporary::new("snia");
    let facts = build_facts(Nature::Directory, SPACE);
    let tests = [SniaTest::Iops, SniaTest::Throughput, SniaTest::Latency, SniaTest::WriteSaturation];
    let options = SniaOptions {
        point: Span::from_millis(10),
        rounds: 6,
        saturation_span: Span::from_millis(60),
        ..quick(&tests)
    };
    let mut recipe = Snia::new(options, &Facts { grid: 4096, ..facts.clone() }).expect("its options are right");
    let done = all(&mut recipe, &mut place.ground()).done;
    for listing in recipe.listings(&done, &facts) {
        println!("{}\n{}", listing.title, listing.text);
    }
    println!("{:#?}", words(&recipe.verdicts(&done, &facts)));
    let titles: Vec<String> = recipe.listings(&done, &facts).into_iter().map(|listing| listing.title).collect();
    assert_eq!(titles.len(), 3 * 3 + 1, "{titles:?}");
    place.assert_empty();
}

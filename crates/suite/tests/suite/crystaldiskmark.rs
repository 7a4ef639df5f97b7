//! CrystalDiskMark: steps, figures on models, and its text parsed back.

use crate::grounds;

use grounds::{Temporary, all, build_facts, io_step as io, model, planned, read_back, words};
use plimsoll_load::WorkerOps as Does;
use plimsoll_suite::recipes::articles::published::article;
use plimsoll_suite::recipes::crystaldiskmark::{
    CrystalDiskMark, CrystalDiskMarkOptions, Data, Directions, DiskMarkTest, Profile, Score, Version,
};
use plimsoll_suite::{Facts, Nature, Recipe, Work};
use plimsoll_units::{Bytes, Span};

const SPACE: Bytes = Bytes::gib(2);

fn quick(version: Version, profile: Profile) -> CrystalDiskMarkOptions {
    CrystalDiskMarkOptions {
        size: Some(Bytes::mib(16)),
        runs: 2,
        measure: Some(Span::from_millis(100)),
        interval: Some(Span::ZERO),
        ..CrystalDiskMarkOptions::of(version, profile)
    }
}

fn on_model() -> Facts {
    Facts { grid: 512, ..build_facts(Nature::Model, SPACE) }
}

fn list_steps(options: CrystalDiskMarkOptions, facts: &Facts) -> Vec<plimsoll_suite::Step> {
    planned(&mut CrystalDiskMark::new(options, facts).expect("its options are right"), facts)
}

/// Names of the measured steps, without repetition.
fn names(options: CrystalDiskMarkOptions) -> Vec<String> {
    let counted = list_steps(options, &on_model()).into_iter().filter(|step| step.counts && step.round == 1);
    counted.map(|step| step.name).collect()
}

#[test]
fn tests_come_in_the_order_of_their_version_and_profile() {
    let three = names(quick(Version::Three, Profile::Default));
    assert_eq!(
        three,
        [
            "sequential read, 1 MiB, Q1 T1",
            "sequential write, 1 MiB, Q1 T1",
            "random read, 512 KiB, Q1 T1",
            "random write, 512 KiB, Q1 T1",
            "random read, 4 KiB, Q1 T1",
            "random write, 4 KiB, Q1 T1",
            "random read, 4 KiB, Q32 T1",
            "random write, 4 KiB, Q32 T1",
        ]
    );
    let reads: [(Profile, &[&str]); 5] = [
        (
            Profile::Default,
            &["sequential 1 MiB, Q8 T1", "sequential 1 MiB, Q1 T1", "random 4 KiB, Q32 T1", "random 4 KiB, Q1 T1"],
        ),
        (
            Profile::Nvme,
            &["sequential 1 MiB, Q8 T1", "sequential 128 KiB, Q32 T1", "random 4 KiB, Q32 T16", "random 4 KiB, Q1 T1"],
        ),
        (Profile::Peak, &["sequential 1 MiB, Q8 T1", "random 4 KiB, Q32 T1"]),
        (Profile::Real, &["sequential 1 MiB, Q1 T1", "random 4 KiB, Q1 T1"]),
        (Profile::Demo, &["sequential 1 MiB, Q8 T1"]),
    ];
    for (profile, expected) in reads {
        let named =
            |verb: &str| expected.iter().map(|name| name.replacen(' ', &format!(" {verb}, "), 1)).collect::<Vec<_>>();
        let all = [named("read"), named("write"), named("70 % reads")].concat();
        let options = CrystalDiskMarkOptions { mix: Some(0.7), ..quick(Version::Eight, profile) };
        assert_eq!(names(options), all, "{profile:?}");
    }
}

#[test]
fn warm_up_run_and_pauses_separate_tests() {
    let options = CrystalDiskMarkOptions { runs: 5, ..CrystalDiskMarkOptions::of(Version::Eight, Profile::Flash) };
    let steps = list_steps(options, &on_model());
    let pauses = steps.iter().filter(|step| matches!(step.work, Work::Pause(span) if span == Span::from_secs(30)));
    // Eight lines; a fill; a pause between tests.
    assert_eq!((steps.len(), pauses.count()), (1 + 8 * 6 + 7, 7));
    assert_eq!(steps.iter().filter(|step| step.counts).count(), 8 * 5);
    let rounds: Vec<_> = steps[1..7].iter().map(|step| (step.counts, step.round)).collect();
    assert_eq!(rounds, [(false, 1), (true, 1), (true, 2), (true, 3), (true, 4), (true, 5)]);
    assert_eq!(io(&steps[2]).workers[0].job.until.span, Span::from_secs(1));
    let seeds: std::collections::BTreeSet<_> = steps
        .iter()
        .filter_map(|step| if let Work::Io(io) = &step.work { Some(io) } else { None })
        .flat_map(|io| io.workers.iter().map(|worker| worker.job.seed))
        .collect();
    assert_eq!(seeds.len(), 1 + 8 * 6 - 1, "each run has its own places; filling has those of the first");
}

#[test]
fn version_3_checks_timer_after_passes_and_includes_flush() {
    let steps = list_steps(quick(Version::Three, Profile::Default), &on_model());
    let counted = steps.iter().filter(|step| step.counts && step.round == 1);
    let jobs: Vec<_> = counted.map(|step| &io(step).workers[0].job).collect();
    let looks: Vec<_> = jobs.iter().map(|job| (job.until.looks, job.flush_at_end, job.depth)).collect();
    let expected =
        [(16, 1), (20, 1), (160, 1), (160, 32)].map(|(looks, depth)| [(looks, false, depth), (looks, true, depth)]);
    assert_eq!(looks, expected.concat());
    let eight = list_steps(quick(Version::Eight, Profile::Nvme), &on_model());
    assert!(eight.iter().filter(|step| step.counts).all(|step| {
        io(step)
            .workers
            .iter()
            .all(|worker| !worker.job.flush_at_end && worker.access.direct && worker.job.until.looks == 1)
    }));
}

#[test]
fn threads_of_a_sequential_test_take_turns_block_by_block() {
    let tests = vec![DiskMarkTest::sequential(128 << 10, 4, 4)];
    let options = CrystalDiskMarkOptions { tests, ..quick(Version::Eight, Profile::Default) };
    let steps = list_steps(options, &on_model());
    let workers = &io(&steps[1]).workers;
    let (mut blocks, mut ends) = (Vec::new(), Vec::new());
    for worker in workers {
        assert_eq!(worker.job.work, Does::Reads);
        let row = i64::from(worker.job.reads.sizes.largest()) + worker.job.reads.gap;
        blocks.push((worker.parts[0].start, row));
        ends.push(worker.parts[0].start + worker.parts[0].length.get());
    }
    assert_eq!(blocks, [0, 1, 2, 3].map(|thread| (thread * (128 << 10), 512 << 10)));
    assert_eq!(ends.last(), Some(&(16 << 20)), "together they visit the whole file");
}

#[test]
fn invalid_options_are_refused_with_remedy() {
    type Change = fn(&mut CrystalDiskMarkOptions);
    let refused: [(Change, &str); 8] = [
        (|options| options.size = Some(Bytes::kib(1500)), "write --size 1GiB"),
        (|options| options.size = Some(Bytes::gib(3)), "3 GiB are needed, 2 GiB are available"),
        (|options| options.runs = 0, "write --runs 5"),
        (|options| options.mix = Some(1.0), "write --mix 70"),
        (|options| options.measure = Some(Span::ZERO), "write --measure 5s"),
        (|options| (options.version, options.profile) = (Version::Three, Profile::Peak), "take version 8"),
        (|options| options.tests = vec![DiskMarkTest::random(1000, 1, 1)], "multiples of 512 bytes here, not 1000"),
        (|options| options.tests = vec![DiskMarkTest::sequential(1 << 20, 1, 64)], "write --size 64 MiB"),
    ];
    for (change, expected) in refused {
        let mut options = quick(Version::Eight, Profile::Default);
        change(&mut options);
        let error = CrystalDiskMark::new(options, &on_model()).unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains('\n'), "{error}");
    }
    let read_only = Facts { read_only: true, ..build_facts(Nature::Blocks, SPACE) };
    assert!(CrystalDiskMark::new(quick(Version::Eight, Profile::Default), &read_only).is_err());
    let reads = CrystalDiskMarkOptions { directions: Directions::Reads, ..quick(Version::Eight, Profile::Default) };
    let recipe = CrystalDiskMark::new(reads.clone(), &read_only).unwrap();
    assert!(!recipe.files()[0].writes, "a device is read as it is");
    assert!(list_steps(reads, &read_only).iter().all(|step| !io(step).workers[0].job.writes()));
}

/// On a single server of 1 ms all figures are arithmetic: 1,000 operations per second, each waiting for its
/// predecessors.
const EIGHT: &str = "\
------------------------------------------------------------------------------
CrystalDiskMark 8.0 layout, printed by plimsoll
------------------------------------------------------------------------------
* MB/s = 1,000,000 bytes/s
* KB = 1000 bytes, KiB = 1024 bytes

[Read]
  SEQ    1MiB (Q=  8, T= 1):  1048.576 MB/s [   1000.0 IOPS] <  7994.41 us>
  RND    4KiB (Q= 32, T= 1):     4.096 MB/s [   1000.0 IOPS] < 31901.41 us>

[Write]
  SEQ    1MiB (Q=  8, T= 1):  1048.576 MB/s [   1000.0 IOPS] <  7994.41 us>
  RND    4KiB (Q= 32, T= 1):     4.096 MB/s [   1000.0 IOPS] < 31901.41 us>

[Mix] Read 70%/Write 30%
  SEQ    1MiB (Q=  8, T= 1):  1048.576 MB/s [   1000.0 IOPS] <  7994.41 us>
  RND    4KiB (Q= 32, T= 1):     4.096 MB/s [   1000.0 IOPS] < 31901.41 us>

Profile: Peak
   Test: 1 GiB (x5) [place]
   Time: Measure 5 sec / Interval 5 sec
   Date: 2014/09/04 5:09:24
";

#[test]
fn version_8_text_matches_arithmetic() {
    let date = "2014/09/04 5:09:24".into();
    let options =
        CrystalDiskMarkOptions { mix: Some(0.7), date, ..CrystalDiskMarkOptions::of(Version::Eight, Profile::Peak) };
    let mut recipe = CrystalDiskMark::new(options, &on_model()).unwrap();
    let done = all(&mut recipe, &mut model("station(1, 1ms)", SPACE)).done;
    let listings = recipe.listings(&done, &on_model());
    assert_eq!(listings[0].text, EIGHT);
    // Of 5,007 operations the first eight wait 1 to 8 ms: 8 - 28 / 5,007; of 5,031 at depth 32, 32 - 496 / 5,031.
    let (kind, evidence) = read_back("eight.txt", &listings[0].text);
    assert_eq!((kind, evidence.len()), ("crystaldiskmark", 6));
    assert_eq!((evidence[0].bytes_s, evidence[0].setting.depth), (Some(1_048_576_000.0), Some(8.0)));
    assert_eq!((evidence[5].iops, evidence[5].setting.reads), (Some(1000.0), Some(0.7)));
    let verdicts = words(&recipe.verdicts(&done, &on_model()));
    assert!(verdicts[0].contains("All 5 runs of each test were alike"), "{verdicts:?}");
    assert!(verdicts.iter().any(|verdict| verdict.contains("nothing is flushed")), "{verdicts:?}");
}

const THREE: &str = "\
-----------------------------------------------------------------------
CrystalDiskMark 3.0 layout, printed by plimsoll
-----------------------------------------------------------------------
* MB/s = 1,000,000 byte/s

           Sequential Read :  1048.576 MB/s
          Sequential Write :     0.000 MB/s
         Random Read 512KB :   524.288 MB/s
        Random Write 512KB :     0.000 MB/s
    Random Read 4KB (QD=1) :     4.096 MB/s [  1000.0 IOPS]
   Random Write 4KB (QD=1) :     0.000 MB/s [     0.0 IOPS]
   Random Read 4KB (QD=32) :     4.096 MB/s [  1000.0 IOPS]
  Random Write 4KB (QD=32) :     0.000 MB/s [     0.0 IOPS]

  Test : 1000 MB [place] (x5) <0Fill>
";

#[test]
fn version_3_text_has_zeroes_for_skipped_tests() {
    let options = CrystalDiskMarkOptions {
        directions: Directions::Reads,
        data: Data::Zeroes,
        ..CrystalDiskMarkOptions::of(Version::Three, Profile::Default)
    };
    let mut recipe = CrystalDiskMark::new(options, &on_model()).unwrap();
    let done = all(&mut recipe, &mut model("station(1, 1ms)", SPACE)).done;
    let listing = recipe.listings(&done, &on_model()).remove(0);
    assert_eq!(listing.text, THREE);
    let (kind, evidence) = read_back("three.txt", &listing.text);
    assert_eq!((kind, evidence.len()), ("crystaldiskmark", 4));
    // The listing exists even without results.
    let empty = recipe.listings(&[], &on_model()).remove(0).text;
    assert!(empty.contains("Sequential Read :     0.000 MB/s"), "{empty}");
    assert!(words(&recipe.verdicts(&[], &on_model())).is_empty());
}

#[test]
fn only_version_3_includes_flush_in_time() {
    // 16 passes of 16 blocks of 1 ms exceed 250 ms, and the flush takes 44 ms: 256 blocks in 300 ms.
    let served = "split(read: station(1, 1ms); write: station(1, 1ms); flush: station(1, 44ms))";
    let rate = |version| {
        let measure = Some(Span::from_millis(250));
        let options = CrystalDiskMarkOptions { measure, runs: 1, ..quick(version, Profile::Default) };
        let mut recipe = CrystalDiskMark::new(options, &on_model()).unwrap();
        let done = all(&mut recipe, &mut model(served, SPACE)).done;
        let text = recipe.listings(&done, &on_model()).remove(0).text;
        let (_, evidence) = read_back("flush.txt", &text);
        let is_write = |one: &&plimsoll_ingest::ReadingEvidence| {
            one.setting.reads == Some(0.0) && one.setting.sequential == Some(true)
        };
        evidence.iter().find(is_write).unwrap().bytes_s.unwrap()
    };
    let blocks = |blocks_s: f64| blocks_s * f64::from(1 << 20);
    assert!((rate(Version::Three) / blocks(256.0 / 0.3) - 1.0).abs() < 1e-5, "{}", rate(Version::Three));
    assert!((rate(Version::Eight) / blocks(1000.0) - 1.0).abs() < 1e-5, "{}", rate(Version::Eight));
}

#[test]
fn score_is_best_run_or_mean() {
    // The first runs use up the burst: 1,000 at once, then 100 per second.
    let text = |score| {
        let options = CrystalDiskMarkOptions {
            score,
            runs: 3,
            tests: vec![DiskMarkTest::random(4096, 1, 1)],
            measure: Some(Span::from_secs(1)),
            directions: Directions::Reads,
            ..quick(Version::Eight, Profile::Default)
        };
        let mut recipe = CrystalDiskMark::new(options, &on_model()).unwrap();
        let done = all(&mut recipe, &mut model("limit(100, burst 1400) then station(1, 1ms)", SPACE)).done;
        (recipe.listings(&done, &on_model()).remove(0).text, words(&recipe.verdicts(&done, &on_model())))
    };
    let iops = |text: &str| read_back("score.txt", text).1[0].iops.unwrap();
    let (best, mean) = (text(Score::Best), text(Score::Mean));
    let (high, low) = (iops(&best.0), iops(&mean.0));
    assert!(high > 500.0 && high < 700.0, "the run that still had bursts: {high}");
    assert!((low - (high + 200.0) / 3.0).abs() < 5.0, "{low} is the mean of {high}, 100 and 100");
    let expected = ["above the mean of its 3 runs", "random read, 4 KiB, Q1 T1: 0.4 to "];
    assert!(expected.iter().all(|message| best.1[0].contains(message)), "{:?}", best.1);
}

#[test]
fn model_of_striped_disks_reproduces_table() {
    // The disk azure/2014 of the catalogue, as a model; the tables were measured on Windows Server 2008 R2.
    let disk = "limit(500, burst 25) then limit(60MB/s) then split(\
        read: disk(1000GB, 7200rpm, seek 3.4ms to 3.4ms, 39MB/s to 39MB/s, queue 32 gain 0.65) then station(64, 4.65ms); \
        write: station(64, 4.55ms, 38.8MB/s) then link(1us, 38MB/s); flush: station(64, 4.55ms))";
    let striped = format!("split-stripe(2, 64KiB: {disk})");
    let rows = |stages: &str| {
        let options =
            CrystalDiskMarkOptions { runs: 2, ..CrystalDiskMarkOptions::of(Version::Three, Profile::Default) };
        let mut recipe = CrystalDiskMark::new(options, &on_model()).unwrap();
        let done = all(&mut recipe, &mut model(stages, SPACE)).done;
        let (_, evidence) = read_back("azure.txt", &recipe.listings(&done, &on_model()).remove(0).text);
        evidence.iter().map(|one| one.bytes_s.unwrap() / 1e6).collect::<Vec<f64>>()
    };
    // Maximum errors: larger for figures that the model was not fitted to.
    let one = [0.06, 0.05, 0.06, 0.1, 0.08, 0.08, 0.02, 0.02];
    let two = [0.05, 0.06, 0.15, 0.05, 0.22, 0.06, 0.05, 0.05];
    let table = article("azure-striping").table("crystaldiskmark");
    for (column, stages, errors) in [(0, disk, one), (1, &striped, two)] {
        let published = table.rows.iter().map(|row| row.published[column].expect("the article has a figure"));
        let observed = rows(stages);
        for (row, ((published, error), observed)) in published.zip(errors).zip(&observed).enumerate() {
            assert!((observed / published - 1.0).abs() < error, "row {row}: {observed} for {published}\n{observed:?}");
        }
    }
}

#[test]
fn runs_on_a_directory_and_text_parses_back() {
    let place = Temporary::new("crystaldiskmark");
    for (version, lines) in [(Version::Three, 8), (Version::Eight, 6)] {
        let mix = (version == Version::Eight).then_some(0.7);
        let profile = if version == Version::Eight { Profile::Peak } else { Profile::Default };
        let mut ground = place.ground();
        let options = CrystalDiskMarkOptions { mix, measure: Some(Span::from_millis(20)), ..quick(version, profile) };
        let facts = build_facts(Nature::Directory, Bytes::gib(1));
        let mut recipe = CrystalDiskMark::new(options, &facts).unwrap();
        let done = all(&mut recipe, &mut ground).done;
        let listings = recipe.listings(&done, &facts);
        println!("{}\n{}\n{:#?}", listings[0].text, listings[1].text, words(&recipe.verdicts(&done, &facts)));
        let (kind, evidence) = read_back("real.txt", &listings[0].text);
        assert_eq!((kind, evidence.len()), ("crystaldiskmark", lines));
        assert!(evidence.iter().all(|one| one.bytes_s.unwrap() > 0.0));
        assert_eq!(listings[1].text.lines().count(), 1 + lines);
    }
    place.assert_empty();
}

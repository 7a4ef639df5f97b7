//! tiotest and tiobench: tests, arithmetic, layouts.

use std::ops::ControlFlow;

use crate::grounds::{Ops, build_facts, complete_io, on_disk, on_model, planned, played, read_back, words, worker};
use clap::ValueEnum;
use plimsoll_device::{Engine, SyncMode};
use plimsoll_load::Pattern;
use plimsoll_suite::recipes::tiobench::{Gap, Tiobench, TiobenchOptions, TiobenchTest};
use plimsoll_suite::{
    Before, CompletedStep, Disk, DiskPlace, Ground, Nature, Recipe, Step, StepResult, SuiteOptions, Work, WorkerOrder,
    WorkerResult,
};
use plimsoll_units::{Bytes, Kind, Span};

fn tiotest(threads: u32, size: Bytes, random: u64) -> TiobenchOptions {
    TiobenchOptions { threads: vec![threads], size: Some(size), random: Some(random), ..TiobenchOptions::defaults() }
}

/// 8 threads with files of 128 MiB, and as many random operations of 4 KiB as blocks.
fn published() -> TiobenchOptions {
    tiotest(8, Bytes::mib(128), 32_768)
}

fn small() -> TiobenchOptions {
    tiotest(2, Bytes::mib(2), 100)
}

fn several(rounds: u32) -> TiobenchOptions {
    TiobenchOptions { threads: vec![1, 2, 4], tiobench: true, rounds, ..tiotest(1, Bytes::mib(4), 400) }
}

fn create_recipe(options: TiobenchOptions, nature: Nature) -> Tiobench {
    Tiobench::new(options, &build_facts(nature, Bytes::gib(64))).expect("options that fit")
}

fn list_steps(options: TiobenchOptions, nature: Nature) -> Vec<Step> {
    planned(&mut create_recipe(options, nature), &build_facts(nature, Bytes::gib(64)))
}

/// Name, workers, operations of each, pattern, and preparation of the files.
fn display(step: &Step) -> String {
    let Work::Io(io) = &step.work else { panic!("{step:?}") };
    let job = &io.workers[0].job;
    let place = if job.reads.pattern == Pattern::Sequential { "in order" } else { "anywhere" };
    let files: Vec<String> =
        io.workers.iter().map(|worker| format!("{}+{}", worker.parts[0].file, worker.parts[0].start >> 20)).collect();
    let flush = if job.flush_at_end { ", flushed" } else { "" };
    format!("{}: {} {place}, {:?}{flush}, in {}", step.name, job.until.operations, io.before, files.join(" "))
}

#[test]
fn pass_has_four_tests_and_a_file_per_thread() {
    let found: Vec<String> = list_steps(small(), Nature::Directory).iter().map(display).collect();
    let expected = [
        "Write, 2 threads: 512 in order, Anew, flushed, in 0+0 1+0",
        "Random write, 2 threads: 100 anywhere, AsTheyAre, flushed, in 0+0 1+0",
        "Read, 2 threads: 512 in order, AsTheyAre, in 0+0 1+0",
        "Random read, 2 threads: 100 anywhere, AsTheyAre, in 0+0 1+0",
    ];
    assert_eq!(found, expected);
}

#[test]
fn threads_divide_a_device() {
    let first = |options: TiobenchOptions| display(&list_steps(options, Nature::Blocks)[0]);
    assert!(first(small()).ends_with("in 0+0 0+2"));
    let gap = Gap { between: Bytes::mib(3), before_first: false };
    assert!(first(TiobenchOptions { gap, ..small() }).ends_with("in 0+0 0+5"));
    let gap = Gap { before_first: true, ..gap };
    let options = TiobenchOptions { gap, ..small() };
    assert!(first(options.clone()).ends_with("in 0+3 0+8"));
    assert_eq!(create_recipe(options, Nature::Blocks).files()[0].size, Bytes::mib(10));
}

#[test]
fn tiobench_threads_divide_a_total() {
    let steps = list_steps(several(2), Nature::Directory);
    assert_eq!(steps.len(), 3 * 2 * 4);
    let found: Vec<String> = steps.iter().filter(|step| step.round == 2).map(display).collect();
    assert_eq!(found[1], "Random write, 1 thread: 400 anywhere, AsTheyAre, flushed, in 0+0");
    assert_eq!(found[4], "Write, 2 threads: 512 in order, Anew, flushed, in 0+0 1+0");
    assert_eq!(found[11], "Random read, 4 threads: 100 anywhere, AsTheyAre, in 0+0 1+0 2+0 3+0");
    let sizes: Vec<u64> =
        create_recipe(several(1), Nature::Directory).files().iter().map(|file| file.size.get() >> 20).collect();
    assert_eq!(sizes, [4, 2, 1, 1]);
}

#[test]
fn options_change_the_steps() {
    let of = |options: TiobenchOptions, index: usize| match list_steps(options, Nature::Directory).remove(index).work {
        Work::Io(io) => io,
        other => panic!("{other:?}"),
    };
    let access = |options: TiobenchOptions| of(options, 0).workers[0].access.clone();
    assert_eq!(access(TiobenchOptions { mmap: true, ..small() }).engine, Engine::Mapped);
    assert!(access(TiobenchOptions { direct: true, ..small() }).direct);
    assert_eq!(access(TiobenchOptions { synchronous: true, ..small() }).opened, SyncMode::Sync);
    let in_turn = TiobenchOptions { in_turn: true, ..small() };
    assert_eq!((of(in_turn.clone(), 0).order, of(in_turn, 1).order), (WorkerOrder::InTurn, WorkerOrder::Together));
    let uncached = TiobenchOptions { uncached: true, ..small() };
    assert_eq!((of(uncached.clone(), 0).before, of(uncached, 2).before), (Before::Anew, Before::Uncached));
    let without = TiobenchOptions { skipped: vec![TiobenchTest::RandomWrite, TiobenchTest::Read], ..small() };
    assert_eq!(list_steps(without, Nature::Directory).len(), 2);
    let there = TiobenchOptions { directories: vec!["a".into(), "b".into()], ..published() };
    let files = create_recipe(there, Nature::Directory).files();
    assert_eq!((files[0].path.clone(), files[3].path.clone()), (Some("a".into()), Some("b".into())));
}

#[test]
fn unsuitable_options_are_refused_with_remedy() {
    let check = |options: TiobenchOptions, nature: Nature, expected: &str| {
        let message =
            Tiobench::new(options, &build_facts(nature, Bytes::mib(64))).expect_err("it does not fit").to_string();
        assert!(message.contains(expected), "{message}");
    };
    check(published(), Nature::Directory, "1 GiB are needed");
    check(tiotest(0, Bytes::mib(1), 1), Nature::Directory, "give 1 to 255");
    check(tiotest(1, Bytes::new(5000), 1), Nature::Directory, "whole MiB");
    check(tiotest(1, Bytes::mib(1), 0), Nature::Directory, "give more");
    check(TiobenchOptions { block: 0, ..small() }, Nature::Directory, "at least 1");
    check(
        TiobenchOptions { skipped: TiobenchTest::value_variants().to_vec(), ..small() },
        Nature::Directory,
        "nothing to do",
    );
    let gap = Gap { between: Bytes::mib(1), before_first: false };
    check(TiobenchOptions { gap, ..small() }, Nature::Directory, "for devices");
    check(TiobenchOptions { directories: vec!["a".into()], ..small() }, Nature::Blocks, "need a directory");
}

#[test]
fn station_of_one_millisecond_has_expected_rates() {
    let (recipe, done) = on_model("station(1, 1ms)", |facts| Tiobench::new(small(), facts));
    let text = &recipe.listings(&done, &build_facts(Nature::Model, Bytes::gib(8)))[0].text;
    println!("{text}");
    for evidence in read_back("listing", text).1 {
        // A single station has a rate of 1,000 blocks per second, and each of two threads waits for two.
        let blocks = evidence.bytes_s.expect("a rate") / 4_096.0;
        assert!((975.0..1_001.0).contains(&blocks), "{blocks}\n{text}");
        let mean = evidence.mean_s.expect("a mean");
        assert!((0.0019..0.0021).contains(&mean), "{mean}\n{text}");
        assert_eq!(evidence.setting.threads, Some(2.0));
    }
    assert!(text.contains("    - %"), "there is no processor in virtual time\n{text}");
}

#[test]
fn hours_of_model_time_run_quickly() {
    let (recipe, done) = on_model("station(8, 20s)", |facts| Tiobench::new(small(), facts));
    let text = &recipe.listings(&done, &build_facts(Nature::Model, Bytes::gib(8)))[0].text;
    // The maximum is known to the width of its bin.
    assert!(text.contains("| Random Read  |    20000.000 ms |    20"), "{text}");
    assert!(text.contains(" ms | 100.00000 | 100.00000 |"), "{text}");
}

#[test]
fn directory_has_every_figure() {
    for (mmap, in_turn) in [(false, false), (true, false), (false, true)] {
        let (recipe, done) = on_disk("tiotest", |facts| {
            Tiobench::new(TiobenchOptions { mmap, in_turn, uncached: true, ..small() }, facts)
        });
        let facts = build_facts(Nature::Directory, Bytes::gib(1));
        let text = &recipe.listings(&done, &facts)[0].text;
        println!("{text}{}", words(&recipe.verdicts(&done, &facts)).join("\n"));
        let tests: Vec<String> = read_back("listing", text).1.into_iter().map(|evidence| evidence.test).collect();
        assert_eq!(tests, ["Write", "Random Write", "Read", "Random Read"]);
        for (done, operations) in done.iter().zip([1024, 200, 1024, 200]) {
            let total = done.result.io().expect("blocks").total();
            assert_eq!(total.only(|counter| counter.kind != Kind::Flush).operations(), operations);
        }
    }
}

#[test]
fn data_are_verified_on_request() {
    for mmap in [false, true] {
        let (recipe, done) =
            on_disk("tiotest-checked", |facts| Tiobench::new(TiobenchOptions { mmap, check: true, ..small() }, facts));
        let message = words(&recipe.verdicts(&done, &build_facts(Nature::Directory, Bytes::gib(1)))).join("\n");
        // Two files of 512 blocks, and 200 random blocks.
        assert!(message.contains("Each of 1224 blocks that were read was as it had been written"), "{message}");
        assert!(!recipe.has_failed(&done));
    }
    let (recipe, done) =
        on_model("station(1, 1ms)", |facts| Tiobench::new(TiobenchOptions { check: true, ..small() }, facts));
    let message = words(&recipe.verdicts(&done, &build_facts(Nature::Model, Bytes::gib(8)))).join("\n");
    assert!(message.contains("Nothing was compared") && !recipe.has_failed(&done), "{message}");
    let odd = TiobenchOptions { block: 100, check: true, ..small() };
    let refused = Tiobench::new(odd, &build_facts(Nature::Directory, Bytes::gib(1)));
    assert!(refused.expect_err("no such block").to_string().contains("multiple of 8"));
}

#[test]
fn foreign_data_are_detected() {
    // Both threads use the first thread's file: each finds the other's data.
    let facts = build_facts(Nature::Directory, Bytes::gib(1));
    let mut recipe = Tiobench::new(TiobenchOptions { check: true, ..small() }, &facts).expect("options that fit");
    let mut ground = Disk::new(DiskPlace::Directory(std::env::temp_dir()), facts.clone(), Vec::new());
    ground.prepare_files(&recipe.files()).expect("room for the files");
    let mut done = Vec::new();
    while let Some(step) = recipe.next(&done, &facts) {
        let Work::Io(io) = &step.work else { panic!("{step:?}") };
        let mut io = io.clone();
        io.workers[1].parts = io.workers[0].parts.clone();
        let observed = ground
            .io(&io, &mut |_| ControlFlow::Continue(()))
            .or_else(|torn| if torn.until.workers.is_empty() { Err(torn.fault) } else { Ok(torn.until) });
        done.push(CompletedStep { step, result: StepResult::Io(observed.expect("it ran")) });
    }
    assert!(recipe.has_failed(&done), "{:?}", words(&recipe.verdicts(&done, &facts)));
}

#[test]
fn files_in_another_directory_are_removed() {
    let other = std::env::temp_dir().join(format!("plimsoll-suite-other-{}", std::process::id()));
    std::fs::create_dir_all(&other).unwrap();
    let options = TiobenchOptions { directories: vec![other.clone(), ".".into()], ..small() };
    let (_, done) = on_disk("tiotest-several", |facts| Tiobench::new(options, facts));
    assert_eq!(done.len(), 4);
    std::fs::remove_dir(&other).expect("nothing was left behind");
}

#[test]
fn tiobench_tables_are_parsed_back() {
    let (recipe, done) = on_disk("tiobench", |facts| Tiobench::new(several(2), facts));
    let text = &recipe.listings(&done, &build_facts(Nature::Directory, Bytes::gib(1)))[0].text;
    println!("{text}");
    // Older releases placed a column title closer to its bracket; the parser accepts both.
    let found: Vec<String> = read_back("listing", &text.replace("Rate     (CPU%)", "Rate  (CPU%)"))
        .1
        .iter()
        .map(|one| format!("{} {:?} {:?}", one.test, one.setting.threads, one.setting.block_bytes))
        .collect();
    assert_eq!(found.len(), 12);
    assert_eq!(found[0], "Sequential Reads Some(1.0) Some(4096.0)");
    assert_eq!(found[11], "Random Writes Some(4.0) Some(4096.0)");
}

/// Published results of a server with a disk, for [`published`].
fn of_a_disk(step: Step) -> CompletedStep {
    let (ms, us) = (Span::from_millis, Span::from_micros);
    let (kind, span, mean, longest) = match step.name.as_str() {
        "Write, 8 threads" => (Kind::Write, ms(12_216), us(326), us(1_427_120)),
        "Random write, 8 threads" => (Kind::Write, ms(216_628), us(5_722), us(19_829_566)),
        "Read, 8 threads" => (Kind::Read, ms(6_447), us(166), us(1_506_043)),
        _ => (Kind::Read, ms(452_297), us(12_931), us(431_807)),
    };
    let ops: Ops = (kind, 32_768, 4_096, mean, longest);
    let flush = (Kind::Flush, 1, 0, ms(900), ms(900));
    let worker = |index| -> WorkerResult { worker(index, span, Some(ms(100)), &[ops, flush]) };
    complete_io(step, (0..8).map(worker).collect())
}

#[test]
fn tables_match_tiotest() {
    let mut recipe = create_recipe(published(), Nature::Directory);
    let done = played(&mut recipe, &build_facts(Nature::Directory, Bytes::gib(64)), of_a_disk);
    let facts = build_facts(Nature::Directory, Bytes::gib(64));
    let text = "\
Tiotest results for 8 concurrent io threads:
,----------------------------------------------------------------------.
| Item                  | Time     | Rate         | Usr CPU  | Sys CPU |
+-----------------------+----------+--------------+----------+---------+
| Write        1024 MBs |   12.2 s |  83.824 MB/s |   6.5 %  |   0.0 % |
| Random Write 1024 MBs |  216.6 s |   4.727 MB/s |   0.4 %  |   0.0 % |
| Read         1024 MBs |    6.4 s | 158.834 MB/s |  12.4 %  |   0.0 % |
| Random Read  1024 MBs |  452.3 s |   2.264 MB/s |   0.2 %  |   0.0 % |
`----------------------------------------------------------------------'
Tiotest latency results:
,-------------------------------------------------------------------------.
| Item         | Average latency | Maximum latency | % >2 sec | % >10 sec |
+--------------+-----------------+-----------------+----------+-----------+
| Write        |        0.326 ms |     1427.120 ms |  0.00000 |   0.00000 |
| Random Write |        5.722 ms |    19829.566 ms |  0.00000 |   0.00000 |
| Read         |        0.166 ms |     1506.043 ms |  0.00000 |   0.00000 |
| Random Read  |       12.931 ms |      431.807 ms |  0.00000 |   0.00000 |
|--------------+-----------------+-----------------+----------+-----------|
| Total        |        4.786 ms |    19829.566 ms |  0.00000 |   0.00000 |
`--------------+-----------------+-----------------+----------+-----------'

";
    assert_eq!(recipe.listings(&done, &facts)[0].text, text);
    let found: Vec<String> = read_back("listing", text)
        .1
        .iter()
        .map(|one| {
            let milliseconds = |seconds: f64| (seconds * 1e6).round() / 1e3;
            let rate = one.bytes_s.map_or(0.0, |bytes| bytes / 1_048_576.0);
            format!("{} {rate:.3} {:?}", one.test, one.mean_s.map(milliseconds))
        })
        .collect();
    let expected = [
        "Write 83.824 Some(0.326)",
        "Random Write 4.727 Some(5.722)",
        "Read 158.834 Some(0.166)",
        "Random Read 2.264 Some(12.931)",
    ];
    assert_eq!(found, expected);
    let verdicts = words(&recipe.verdicts(&done, &facts)).join("\n");
    for expected in [
        "calls its fourth row random write once more, it shows random reads",
        "580 operations of 4 KiB per second at depth 8; 8 divided by the mean of 12.931 ms is 619",
        "63 % of each file was touched",
        "Write, 8 threads: the last fsync took up to 0.900 s, 7 % of the time",
    ] {
        assert!(verdicts.contains(expected), "{expected}\n{verdicts}");
    }
}

#[test]
fn other_listings_match_programs() {
    let text = |options: TiobenchOptions| {
        let mut recipe = create_recipe(options, Nature::Directory);
        let done = played(&mut recipe, &build_facts(Nature::Directory, Bytes::gib(64)), |step| {
            let ops: Ops = (Kind::Write, 512, 4_096, Span::from_millis(2), Span::from_millis(30));
            let ops = [ops, (Kind::Read, 512, 4_096, Span::from_millis(2), Span::from_secs(3))];
            complete_io(step, vec![worker(0, Span::from_secs(2), Some(Span::from_millis(776)), &ops)])
        });
        recipe.listings(&done, &build_facts(Nature::Directory, Bytes::gib(64))).remove(0).text
    };
    let terse =
        text(TiobenchOptions { terse: true, skipped: vec![TiobenchTest::Write, TiobenchTest::RandomRead], ..small() });
    let lines = "\
rwrite:2.00000,2.00000,0.77600,0.00000,2.00000,3000.00000,0.00000,0.00000
read:2.00000,2.00000,0.77600,0.00000,2.00000,3000.00000,0.00000,0.00000
total:2.00000,3000.00000,0.00000,0.00000
";
    assert_eq!(terse, lines);
    assert!(!text(TiobenchOptions { no_latency: true, ..small() }).contains("latency"));
    let tables = text(several(1));
    let table = "
Random Reads
============
                              File   Blk   Num                         Avg      Maximum      Lat%     Lat%     CPU
Identifier                    Size   Size  Thr      Rate     (CPU%)  Latency    Latency      >2s      >10s     Eff
---------------------------- ------ ------ ---  ------------ ------ --------- -----------  -------- -------- -------
place                          4     4096    1          1.00  38.8%     2.000     3000.00   0.00000  0.00000       3
place                          4     4096    2          1.00  38.8%     2.000     3000.00   0.00000  0.00000       3
place                          4     4096    4          1.00  38.8%     2.000     3000.00   0.00000  0.00000       3
";
    assert!(tables.contains(table), "{tables}");
}

//! Bonnie++: steps, arithmetic, layout.

use crate::grounds::{Ops, build_facts, complete_io, files, on_disk, on_model, planned, read_back, words, worker};
use plimsoll_load::{Pattern, WorkerOps};
use plimsoll_suite::recipes::bonnie::{Bonnie, BonnieOptions, SmallFiles};
use plimsoll_suite::{Before, CompletedStep, Nature, Recipe, Step, SuiteOptions, Work as StepWork};
use plimsoll_units::{Bytes, Kind, Span};

fn small() -> BonnieOptions {
    BonnieOptions {
        machine: Some("trial".into()),
        size: Some(Bytes::mib(8)),
        small_files: SmallFiles { units: 1, largest: 0, least: 0, directories: 1 },
        ..BonnieOptions::defaults()
    }
}

/// All steps, without execution.
fn steps(options: BonnieOptions, nature: Nature) -> Vec<Step> {
    let facts = build_facts(nature, Bytes::gib(64));
    planned(&mut Bonnie::new(options, &facts).expect("options that fit"), &facts)
}

/// Workers, operations of the first, their size, pattern, preparation of the file, and flushes.
fn display(step: &Step) -> String {
    match &step.work {
        StepWork::Io(io) => {
            let job = &io.workers[0].job;
            let until = job.until.operations.min(job.until.bytes / u64::from(job.largest()));
            let work = match job.work {
                WorkerOps::Reads => "reads".to_owned(),
                WorkerOps::Writes => "writes".to_owned(),
                WorkerOps::WriteBack { every } => format!("reads, each {every} back"),
                WorkerOps::Mixed { .. } => "mixed".to_owned(),
                other @ (WorkerOps::Trims | WorkerOps::TrimWrites) => panic!("bonnie does not trim: {other:?}"),
            };
            let place = if job.reads.pattern == Pattern::Sequential { "in order" } else { "anywhere" };
            let anew = if io.before == Before::Anew { ", anew" } else { "" };
            let flush = if job.flush_at_end { ", flushed" } else { "" };
            format!("{} x {until} {work} of {} B {place}{anew}{flush}", io.workers.len(), job.largest())
        }
        StepWork::Files(files) => format!("{} files, ordered {}", files.files, files.ordered),
        StepWork::Pause(_) => "pause".to_owned(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn phases_match_bonnie() {
    let options = BonnieOptions { size: Some(Bytes::mib(64)), small_files: SmallFiles::default(), ..small() };
    let found: Vec<String> = steps(options, Nature::Directory).iter().map(display).collect();
    assert_eq!(
        found,
        [
            "1 x 3145728 writes of 1 B in order, anew, flushed",
            "1 x 8192 writes of 8192 B in order, anew, flushed",
            "1 x 8192 reads, each 1 back of 8192 B in order, flushed",
            "1 x 3145728 reads of 1 B in order",
            "1 x 8192 reads of 8192 B in order",
            "5 x 1639 reads, each 10 back of 8192 B anywhere, flushed",
            "16384 files, ordered true",
            "16384 files, ordered true",
            "16384 files, ordered true",
            "16384 files, ordered false",
            "16384 files, ordered false",
            "16384 files, ordered false",
        ]
    );
}

#[test]
fn seeks_are_fully_distributed() {
    let planned = steps(small(), Nature::Directory);
    let StepWork::Io(seeks) = &planned[5].work else { panic!("{:?}", planned[5]) };
    let each: Vec<u64> = seeks.workers.iter().map(|worker| worker.job.until.operations).collect();
    assert_eq!(each, [1639, 1639, 1638, 1638, 1638]);
}

#[test]
fn options_change_the_steps() {
    let count = |options| steps(options, Nature::Directory).len();
    assert_eq!(count(BonnieOptions { per_char: None, ..small() }), 10);
    assert_eq!(count(BonnieOptions { size: Some(Bytes::ZERO), ..small() }), 6);
    assert_eq!(count(BonnieOptions { small_files: SmallFiles { units: 0, ..SmallFiles::default() }, ..small() }), 6);
    assert_eq!(count(BonnieOptions { rounds: 3, ..small() }), 36);
    // Without system calls there are no single-byte phases.
    assert_eq!(steps(small(), Nature::Model).len(), 10);
    let flushed = steps(BonnieOptions { flushed: true, direct: true, ..small() }, Nature::Directory);
    let StepWork::Io(bytes) = &flushed[0].work else { panic!("{:?}", flushed[0]) };
    let StepWork::Io(blocks) = &flushed[1].work else { panic!("{:?}", flushed[1]) };
    assert_eq!((bytes.workers[0].job.flush_every, bytes.workers[0].access.direct), (1, false));
    assert_eq!((blocks.workers[0].job.flush_every, blocks.workers[0].access.direct), (1, true));
}

#[test]
fn unsuitable_options_are_refused_with_remedy() {
    let check = |options: BonnieOptions, expected: &str| {
        let message = Bonnie::new(options, &build_facts(Nature::Directory, Bytes::gib(64))).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    };
    check(BonnieOptions { size: None, ..small() }, "give --size");
    check(BonnieOptions { size: None, memory: Bytes::gib(48), ..small() }, "96 GiB are needed");
    check(BonnieOptions { chunk: 3000, ..small() }, "a power of two");
    check(BonnieOptions { size: Some(Bytes::new(5000)), ..small() }, "whole MiB");
    check(BonnieOptions { seekers: 0, ..small() }, "at least one seek");
    check(BonnieOptions { rounds: 0, ..small() }, "nothing to do");
    let read_only = plimsoll_suite::Facts { read_only: true, ..build_facts(Nature::Blocks, Bytes::gib(64)) };
    assert!(Bonnie::new(small(), &read_only).unwrap_err().to_string().contains("--destroy"));
    let twice = BonnieOptions { size: None, memory: Bytes::mib(700), ..small() };
    let settings = Bonnie::new(twice, &build_facts(Nature::Directory, Bytes::gib(64))).unwrap().settings();
    assert!(settings.contains(&("size".into(), "2 GiB".into())), "{settings:?}");
}

#[test]
fn station_of_one_millisecond_has_expected_rates() {
    let (recipe, done) = on_model("station(1, 1ms)", |facts| Bonnie::new(small(), facts));
    let text = &recipe.listings(&done, &build_facts(Nature::Model, Bytes::gib(8)))[0].text;
    let evidence = read_back("listing", text).1;
    let rate = |test: &str| evidence.iter().find(|one| one.test == test).unwrap_or_else(|| panic!("{test}: {text}"));
    // 1,024 sequential chunks of 8 KiB.
    let megabytes = |test: &str| rate(test).bytes_s.unwrap() / 8_192_000.0;
    assert!((0.97..1.01).contains(&megabytes("block output")), "{text}");
    assert!((0.97..1.01).contains(&(2.0 * megabytes("rewrite"))), "{text}");
    assert!((0.97..1.01).contains(&megabytes("block input")), "{text}");
    // A single station has a rate of 1,000 per second at any depth; a write per ten seeks.
    let seeks = rate("seeks").iops.unwrap();
    assert!((900.0..915.0).contains(&seeks), "{seeks}");
    assert!(text.contains(" +++ ") && !text.contains("Create"), "{text}");
    let verdicts = words(&recipe.verdicts(&done, &build_facts(Nature::Model, Bytes::gib(8)))).join("\n");
    assert!(verdicts.contains("skipped") && verdicts.contains("depth 5"), "{verdicts}");
}

#[test]
fn directory_has_every_figure() {
    let options = BonnieOptions { per_char: Some(Bytes::kib(64)), seeks: 200, memory: Bytes::gib(1), ..small() };
    let (recipe, done) = on_disk("bonnie", |facts| Bonnie::new(options, facts));
    assert_eq!(done.len(), 12);
    let facts = build_facts(Nature::Directory, Bytes::gib(1));
    let listings = recipe.listings(&done, &facts);
    println!("{}{}\n{}", listings[0].text, listings[1].text, words(&recipe.verdicts(&done, &facts)).join("\n"));
    assert_eq!(listings[1].text.trim_end().split(',').count(), 50);
    // Phases shorter than half a second have no figure; a verdict gives their measured rate.
    let verdicts = words(&recipe.verdicts(&done, &facts));
    for done in &done {
        let span =
            done.result.io().map_or_else(|| done.result.files().expect("files").span, plimsoll_suite::IoResult::span);
        let name = format!("{} ", done.step.name);
        let is_said = verdicts.iter().any(|verdict| verdict.contains("+++++") && verdict.contains(&name));
        assert_eq!(is_said, span < Span::from_millis(500), "{}: {verdicts:?}", done.step.name);
    }
    assert!(verdicts.iter().any(|verdict| verdict.contains("fit into 1 GiB of memory")), "{verdicts:?}");
}

/// All phases with fixed figures.
fn fixed(options: BonnieOptions) -> (Bonnie, Vec<CompletedStep>) {
    let facts = build_facts(Nature::Directory, Bytes::gib(64));
    let chunk = u64::from(options.chunk);
    let mut recipe = Bonnie::new(options, &facts).expect("options that fit");
    let mut done: Vec<CompletedStep> = Vec::new();
    let (ms, us) = (Span::from_millis, Span::from_micros);
    while let Some(step) = recipe.next(&done, &facts) {
        let one = |span, cpu, ops: &[Ops]| vec![worker(0, span, Some(cpu), ops)];
        let flush = (Kind::Flush, 1, 0, ms(900), ms(900));
        let completed = match step.name.as_str() {
            "Per-char write" => {
                complete_io(step, one(ms(2_530), ms(2_510), &[(Kind::Write, 3 << 20, 1, us(1), us(6_778)), flush]))
            }
            "Block write" => {
                complete_io(step, one(ms(42_100), ms(9_000), &[(Kind::Write, 524_288, chunk, us(80), ms(558)), flush]))
            }
            "Rewrite" => complete_io(
                step,
                one(
                    ms(98_800),
                    ms(8_000),
                    &[
                        (Kind::Read, 524_288, chunk, us(80), us(900)),
                        (Kind::Write, 524_288, chunk, us(80), ms(160)),
                        flush,
                    ],
                ),
            ),
            "Per-char read" => complete_io(step, one(ms(530), ms(529), &[(Kind::Read, 3 << 20, 1, us(1), us(6_729))])),
            "Block read" => {
                complete_io(step, one(ms(30_316), ms(4_000), &[(Kind::Read, 524_288, chunk, us(40), us(40_779))]))
            }
            "Seeks" => {
                let ops = [(Kind::Read, 1_639, chunk, ms(10), ms(1_517)), (Kind::Write, 163, chunk, us(80), us(90))];
                complete_io(step, (0..5).map(|index| worker(index, ms(16_752), Some(ms(100)), &ops)).collect())
            }
            "Stat files, sequential" => files(step, 16_384, ms(90), ms(80), us(330)),
            _ => files(step, 16_384, ms(740), ms(732), us(272)),
        };
        done.push(completed);
    }
    (recipe, done)
}

#[test]
fn tables_match_bonnie() {
    let options = BonnieOptions { size: Some(Bytes::gib(4)), small_files: SmallFiles::default(), seed: 7, ..small() };
    let (recipe, done) = fixed(options);
    let facts = build_facts(Nature::Directory, Bytes::gib(64));
    let listings = recipe.listings(&done, &facts);
    let table = "\
Version  2.00       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
trial            4G 1214k  99 97.3m  21 41.5m   8 5796k  99  135m  13 489.2   2
Latency              6778us     558ms     160ms    6729us   40779us    1517ms
Version  2.00       ------Sequential Create------ --------Random Create--------
trial               -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
                 16 22141  98 +++++ +++ 22141  98 22141  98 22141  98 22141  98
Latency               272us     330us     272us     272us     272us     272us
";
    assert_eq!(listings[0].text, table);
    let line = "1.98,2.00,trial,1,7,4G,,8192,5,1214,99,99627,21,42452,8,5796,99,138353,13,489.2,2,16,,,,,22141,98,\
                +++++,+++,22141,98,22141,98,22141,98,22141,98,6778us,558ms,160ms,6729us,40779us,1517ms,272us,330us,\
                272us,272us,272us,272us\n";
    assert_eq!(listings[1].text, line);
    let back = read_back("listing", &listings[0].text).1;
    let found: Vec<String> = back
        .iter()
        .map(|one| format!("{} {:.0?} {:.0?} {:.3?}", one.test, one.bytes_s.map(|b| b / 1e6), one.iops, one.quantiles))
        .collect();
    assert_eq!(
        found,
        [
            "block output Some(102) None [(1.000, 0.558)]",
            "rewrite Some(44) None [(1.000, 0.160)]",
            "block input Some(142) None [(1.000, 0.041)]",
            "seeks None Some(489) [(1.000, 1.517)]",
        ]
    );
}

#[test]
fn unusual_sizes_are_printed() {
    let small_files = SmallFiles { units: 16, largest: 1000, least: 10, directories: 4 };
    let machine = Some("averyveryverylonghostname".into());
    let options =
        BonnieOptions { machine, size: Some(Bytes::gib(4)), chunk: 65_536, per_char: None, small_files, ..small() };
    let (recipe, done) = fixed(options);
    let listings = recipe.listings(&done, &build_facts(Nature::Directory, Bytes::gib(64)));
    let lines: Vec<&str> = listings[0].text.lines().collect();
    assert_eq!(lines[3], "averyveryver 4G:64k            778m  21  332m   8            1.1g  13 489.2   2");
    assert_eq!(lines[4], "Latency                         558ms     160ms             40779us    1517ms");
    assert_eq!(lines[6], "averyveryverylongho -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--");
    assert_eq!(lines[7], "files:max:min        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP");
    assert!(lines[8].starts_with("       16:1000:10/4 22141  98"), "{}", lines[8]);
    let line = &listings[1].text;
    assert!(line.contains(",4G,64k,8192,5,,,797017,21,") && line.contains(",2,16,1000,10,4,,22141,98,"), "{line}");
}

#[test]
fn verdicts_explain_figures() {
    let options = BonnieOptions { size: Some(Bytes::gib(4)), memory: Bytes::gib(3), ..small() };
    let (recipe, done) = fixed(options);
    let verdicts = words(&recipe.verdicts(&done, &build_facts(Nature::Directory, Bytes::gib(64)))).join("\n");
    for expected in [
        "Per-char write: 1214 KiB/s are 1243371 calls of write(2) per second",
        "804 ns for a call and the loop around it, 0 ns of it the kernel's work",
        "Seeks: 489.2 seeks per second, not KB/s, by 5 processes at once",
        "182044 files/s (0.090 s)",
        "up to 75 % of the seeks",
    ] {
        assert!(verdicts.contains(expected), "{expected}\n{verdicts}");
    }
}

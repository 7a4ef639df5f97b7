//! Iozone as a recipe: its tests, its arithmetic, its layouts.

mod places;

use std::ops::ControlFlow;

use places::{Ops, facts, io, on_disk, on_model, worker};
use plimsoll_device::SyncMode;
use plimsoll_load::{JobSpec, LaneSpec, Pattern, Region, Until, Work};
use plimsoll_model::parse;
use plimsoll_suite::recipes::iozone::{Extent, Iozone, IozoneOptions, Test, Timed, Unit};
use plimsoll_suite::{
    Access, Before, Disk, DiskPlace, Done, Facts, FileSpec, Ground, IoStep, Model, Nature, Order, Recipe, Step,
    StepSeen, Work as StepWork, Worker,
};
use plimsoll_units::{Bytes, Kind, Span};

fn one(size: Bytes, record: u32) -> IozoneOptions {
    IozoneOptions { extent: Extent::One { size, record }, ..IozoneOptions::default() }
}

fn several(count: u32) -> IozoneOptions {
    use Test::{Backward, Mixed, Pread, Preadv, Pwrite, Pwritev, Random, Read, Stride, Write};
    IozoneOptions {
        extent: Extent::Processes { count, size: Bytes::kib(512), record: 4096 },
        tests: vec![Write, Read, Random, Backward, Stride, Mixed, Pwrite, Pread, Pwritev, Preadv],
        ..IozoneOptions::default()
    }
}

fn boxed(options: IozoneOptions) -> impl FnOnce(&Facts) -> Result<Box<dyn Recipe>, String> {
    move |facts| Ok(Box::new(Iozone::new(options, facts)?))
}

/// All steps, seen as `made` says, with the listing and the verdicts.
fn made(options: IozoneOptions, mut made: impl FnMut(Step) -> Done) -> (Vec<Done>, String, String) {
    let facts = facts(Nature::Directory, Bytes::gib(64));
    let mut recipe = Iozone::new(options, &facts).expect("options that fit");
    let mut done = Vec::new();
    while let Some(step) = recipe.next(&done, &facts) {
        done.push(made(step));
    }
    assert_eq!(done.len(), recipe.expected());
    let (text, verdicts) = (recipe.listings(&done, &facts).remove(0).text, recipe.verdicts(&done, &facts).join("\n"));
    (done, text, verdicts)
}

fn steps(options: IozoneOptions) -> Vec<Step> {
    let skipped = |step| Done { step, seen: StepSeen::Skipped("not made") };
    made(options, skipped).0.into_iter().map(|done| done.step).collect()
}

fn shown(step: &Step) -> String {
    let StepWork::Io(io) = &step.work else { panic!("{step:?}") };
    let job = &io.workers[0].job;
    let verb = if job.work == Work::Writes { "writes" } else { "reads" };
    let pattern = match job.reads.pattern {
        Pattern::Sequential => "in order",
        Pattern::Shuffled => "shuffled",
        Pattern::Backward => "backward",
        Pattern::Stride { blocks: 17 } => "each 17th",
        Pattern::Same => "the same",
        other => panic!("{other:?}"),
    };
    let anew = if io.before == Before::Anew { ", anew" } else { "" };
    let flush = if job.flush_at_end { ", flushed" } else { "" };
    let until = if io.order == Order::UntilFirst { ", until the first" } else { "" };
    format!("{}: {} {verb} {pattern}{anew}{flush}{until}", step.name, job.until.operations)
}

#[test]
fn one_process_makes_nine_figures_for_each_pair() {
    let found: Vec<String> = steps(one(Bytes::kib(512), 4096)).iter().map(shown).collect();
    let expected = [
        "Write, 512 KiB by 4 KiB: 128 writes in order, anew, flushed",
        "Rewrite, 512 KiB by 4 KiB: 128 writes in order, flushed",
        "Read, 512 KiB by 4 KiB: 128 reads in order",
        "Reread, 512 KiB by 4 KiB: 128 reads in order",
        "Random read, 512 KiB by 4 KiB: 128 reads shuffled",
        "Random write, 512 KiB by 4 KiB: 128 writes shuffled, flushed",
        "Backward read, 512 KiB by 4 KiB: 128 reads backward",
        "Record rewrite, 512 KiB by 4 KiB: 128 writes the same, flushed",
        "Stride read, 512 KiB by 4 KiB: 128 reads each 17th",
    ];
    assert_eq!(found, expected);
}

#[test]
fn several_processes_end_with_the_first_and_flush_afterwards() {
    let found: Vec<String> = steps(several(2)).iter().map(shown).collect();
    assert_eq!(found[0], "Write, 512 KiB by 4 KiB, 2 processes: 128 writes in order, anew, until the first");
    assert_eq!(found[1], "Flush, 512 KiB by 4 KiB, 2 processes: 1 writes the same, flushed");
    let names: Vec<&str> = found.iter().filter_map(|step| step.split(',').next()).collect();
    let order = "Write Flush Rewrite Flush Read Reread Backward read Stride read Random read Mixed workload Flush Random \
                 write Flush Pwrite Flush Pread Pwritev Flush Preadv";
    assert_eq!(names.join(" "), order);
    let flushed = steps(IozoneOptions { timed: Timed::Flush, ..several(2) });
    assert_eq!(
        shown(&flushed[0]),
        "Write, 512 KiB by 4 KiB, 2 processes: 128 writes in order, anew, flushed, until the first"
    );
    assert!(flushed.iter().all(|step| step.counts), "nothing but figures");
    let mixed = &flushed[7];
    let StepWork::Io(io) = &mixed.work else { panic!("{mixed:?}") };
    assert_eq!(io.workers.iter().map(|worker| worker.job.work).collect::<Vec<_>>(), [Work::Reads, Work::Writes]);
}

#[test]
fn the_matrix_leaves_small_records_of_large_files_out() {
    let records = |size: Bytes, always| {
        let extent = Extent::Matrix { sizes: (size, size), records: (4 << 10, 16 << 20), small_records_always: always };
        let options = IozoneOptions { extent, tests: vec![Test::Write], ..IozoneOptions::default() };
        let of = |step: &Step| match &step.work {
            StepWork::Io(io) => io.workers[0].job.largest() >> 10,
            other => panic!("{other:?}"),
        };
        let mut records: Vec<u32> = steps(options).iter().map(of).collect();
        records.dedup();
        records
    };
    assert_eq!(records(Bytes::kib(64), false), [4, 8, 16, 32, 64]);
    assert_eq!(records(Bytes::mib(16), false).len(), 13);
    assert_eq!(records(Bytes::mib(32), false), [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384]);
    assert_eq!(records(Bytes::mib(32), true).len(), 13);
    let whole = IozoneOptions { extent: Extent::matrix(), tests: vec![Test::Write], ..IozoneOptions::default() };
    // 5 to 13 records for files of 64 KiB to 16 MiB, 9 for each of the five above; each is written twice.
    assert_eq!(steps(whole).len(), 2 * (81 + 45));
}

#[test]
fn options_change_the_steps() {
    let access = |options: IozoneOptions| match &steps(options)[0].work {
        StepWork::Io(io) => io.workers[0].access.clone(),
        other => panic!("{other:?}"),
    };
    let small = || one(Bytes::kib(64), 4096);
    assert!(access(IozoneOptions { direct: true, ..small() }).direct);
    assert_eq!(access(IozoneOptions { opened: SyncMode::Dsync, ..small() }).opened, SyncMode::Dsync);
    assert_eq!(steps(IozoneOptions { tests: vec![Test::Stride, Test::Write], ..small() }).len(), 3);
    let numbers: Vec<Option<u8>> = (0..14).map(|number| Test::of_number(number).map(Test::number)).collect();
    assert_eq!(numbers.iter().filter(|number| number.is_none()).count(), 3, "6, 7 and 13: {numbers:?}");
}

#[test]
fn what_does_not_fit_is_refused_with_a_way_out() {
    let check = |options: IozoneOptions, expected: &str| {
        let said = Iozone::new(options, &facts(Nature::Directory, Bytes::mib(64))).expect_err("it does not fit");
        assert!(said.contains(expected), "{said}");
    };
    let small = || one(Bytes::kib(64), 4096);
    check(IozoneOptions { tests: vec![Test::Read], ..small() }, "give test 0 too");
    check(IozoneOptions { tests: vec![Test::Write, Test::Mixed], ..small() }, "test 8 is of several processes");
    check(IozoneOptions { tests: vec![Test::Write, Test::RecordRewrite], ..several(2) }, "test 4 is of one process");
    check(IozoneOptions { unit: Unit::Microseconds, ..several(2) }, "take operations per second");
    check(several(0), "give 1 to 255");
    check(several(200), "100 MiB are needed");
    check(one(Bytes::kib(64), 24 << 10), "divide the file's size");
    check(one(Bytes::kib(64), 512), "whole KiB");
}

#[test]
fn a_station_of_one_millisecond_gives_its_rates() {
    let facts = facts(Nature::Model, Bytes::gib(8));
    let (recipe, done) = on_model("station(1, 1ms)", boxed(one(Bytes::mib(1), 8192)));
    let text = &recipe.listings(&done, &facts)[0].text;
    // 128 records of 8 kB, one millisecond each: 8,000 kB/s.
    let row =
        "            1024       8     8000     8000     8000     8000     8000     8000     8000      8000      8000";
    assert!(text.lines().any(|line| line.trim_end() == row), "{text}");
    let (recipe, done) =
        on_model("station(1, 1ms)", boxed(IozoneOptions { unit: Unit::Microseconds, ..one(Bytes::mib(1), 8192) }));
    assert!(recipe.listings(&done, &facts)[0].text.contains("    1024       8     1000     1000"), "in microseconds");
}

#[test]
fn the_first_that_is_done_ends_the_others() {
    // One has 4 records, the other would need days of virtual time, or minutes of real.
    let reader = |file, operations| {
        let lane = LaneSpec::new(4096, Pattern::Same);
        let job = JobSpec::new(Work::Reads, lane, Region::first(Bytes::mib(1)), Until::operations(operations));
        Worker::new(job, file, Bytes::mib(1), Access::buffered())
    };
    let step =
        IoStep { workers: vec![reader(0, 4), reader(1, 1 << 30)], order: Order::UntilFirst, ..IoStep::default() };
    let files = [FileSpec::reserved(Bytes::mib(1)), FileSpec::reserved(Bytes::mib(1))];
    let operations = |ground: &mut dyn Ground| -> Vec<u64> {
        ground.lay(&files).expect("room for the files");
        let seen = ground.io(&step, &mut |_| ControlFlow::Continue(())).expect("no fault");
        seen.workers.iter().map(|worker| worker.total().operations()).collect()
    };
    let model = parse("station(1, 1ms)").expect("a model");
    let mut ground = Model::new(&model, 1, facts(Nature::Model, Bytes::gib(8)));
    let found = operations(&mut ground);
    assert!(found[0] == 4 && (3..=5).contains(&found[1]), "{found:?}");
    let place = DiskPlace::Directory(std::env::temp_dir());
    let mut ground = Disk::new(place, facts(Nature::Directory, Bytes::gib(8)), Vec::new());
    let found = operations(&mut ground);
    assert!(found[0] == 4 && found[1] < 1 << 30, "{found:?}");
}

#[test]
fn processes_of_a_model_share_its_station() {
    let facts = facts(Nature::Model, Bytes::gib(8));
    let (recipe, done) = on_model("station(1, 1ms)", boxed(several(3)));
    let text = &recipe.listings(&done, &facts)[0].text;
    // 1,000 records of 4 kB per second for all of them.
    let rate = |line: &str| line.split('=').nth(1).and_then(|rest| rest.trim().split(' ').next()?.parse().ok());
    let rates: Vec<f64> = text.lines().filter(|line| line.contains("Parent sees")).filter_map(rate).collect();
    assert_eq!(rates.len(), 13, "{text}");
    assert!(rates.iter().all(|rate| (3_990.0..4_010.0).contains(rate)), "{text}");
    assert!(recipe.verdicts(&done, &facts).iter().all(|verdict| verdict.contains("the slowest had")), "no page cache");
}

#[test]
fn a_directory_gives_every_figure() {
    let whole = IozoneOptions { timed: Timed::FlushAndClose, report: true, ..one(Bytes::kib(256), 4096) };
    for options in [one(Bytes::kib(256), 4096), whole, several(2)] {
        let count = steps(options.clone()).len();
        let (recipe, done) = on_disk("iozone", boxed(options));
        let facts = facts(Nature::Directory, Bytes::gib(1));
        let listings = recipe.listings(&done, &facts);
        println!("{}{}", listings[0].text, recipe.verdicts(&done, &facts).join("\n"));
        assert_eq!(done.len(), count);
        assert!(done.iter().all(|done| done.seen.io().is_some_and(|seen| seen.total().operations() > 0)));
        assert!(listings[0].text.contains("iozone test complete."));
    }
}

/// A step of one process whose calls take what its name says, and whose flush takes 90 ms.
fn fixed(step: Step) -> Done {
    let ms = Span::from_millis;
    let is_write =
        ["Write", "Rewrite", "Random write", "Record rewrite"].iter().any(|name| step.name.starts_with(name));
    let (count, bytes) = match &step.work {
        StepWork::Io(io) => (io.workers[0].job.until.operations, u64::from(io.workers[0].job.largest())),
        other => panic!("{other:?}"),
    };
    let ops: Ops = (if is_write { Kind::Write } else { Kind::Read }, count, bytes, ms(1), ms(2));
    let flush: Ops = (Kind::Flush, 1, 0, ms(90), ms(90));
    let worker = if is_write { worker(0, ms(100), None, &[ops, flush]) } else { worker(0, ms(20), None, &[ops]) };
    io(step, vec![worker])
}

fn small_matrix() -> IozoneOptions {
    let sizes = (Bytes::kib(64), Bytes::kib(128));
    let extent = Extent::Matrix { sizes, records: (16 << 10, 128 << 10), small_records_always: false };
    IozoneOptions { extent, memory: Bytes::gib(1), ..IozoneOptions::default() }
}

#[test]
fn the_table_is_the_one_that_people_know() {
    let (_, text, verdicts) =
        made(IozoneOptions { report: true, tests: vec![Test::Write, Test::Random], ..small_matrix() }, fixed);
    let rows: Vec<&str> = text.lines().collect();
    let first = rows.iter().position(|line| line.contains("reclen")).expect("a heading");
    assert_eq!(
        rows[first - 1].trim_end(),
        "                                                              random    random     bkwd    record    stride"
    );
    assert_eq!(
        rows[first],
        "              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   fwrite \
         frewrite    fread  freread"
    );
    let row = "              64      16     6400     6400                       3200     6400";
    assert_eq!(rows[first + 1].trim_end(), row);
    assert!(rows[first + 1..first + 8].iter().all(|line| line.len() == 142), "{text}");
    let report = "
\"Re-writer report\"
        \"16\"  \"32\"  \"64\"  \"128\"
\"64\"   6400  6400  6400 
\"128\"   12800  12800  12800  12800 
";
    assert!(text.contains(report), "{text}");
    // 7 pairs: 3 of 64 KiB, 4 of 128 KiB, each in 10 ms of calls and 90 ms of flush.
    for expected in [
        "Write: 10057 kB/s without the fsync at the end, 1006 kB/s with it: 90 % of the time",
        "The largest files, 128 KiB, fit into 1 GiB of memory",
    ] {
        assert!(verdicts.contains(expected), "{expected}\n{verdicts}");
    }
}

#[test]
fn a_flush_counts_where_it_is_timed() {
    let (_, text, verdicts) = made(IozoneOptions { timed: Timed::Flush, ..small_matrix() }, fixed);
    assert!(text.contains("\tInclude fsync in write timing\n"), "{text}");
    assert!(text.contains("              64      16      640      640     3200     3200"), "{text}");
    assert!(!verdicts.contains("without the fsync"), "{verdicts}");
    let (_, text, _) = made(IozoneOptions { unit: Unit::Operations, ..small_matrix() }, fixed);
    assert!(text.contains("              64      16      400      400      200      200"), "{text}");
    let blank = IozoneOptions { tests: vec![Test::Write, Test::Stride], ..small_matrix() };
    let (_, text, _) = made(blank, fixed);
    let spaces = " ".repeat(9 * 5 + 10);
    assert!(text.contains(&format!("              64      16     6400     6400{spaces}      3200 ")), "{text}");
}

#[test]
fn processes_are_printed_as_people_know() {
    let options = IozoneOptions { tests: vec![Test::Write, Test::Read], report: true, ..several(2) };
    let (_, text, verdicts) = made(options, |step| {
        let ms = Span::from_millis;
        let kind = if step.name.starts_with("Re") { Kind::Read } else { Kind::Write };
        let of = |index, count| worker(index, ms(100), None, &[(kind, count, 4096, ms(1), ms(2))]);
        io(step, vec![of(0, 128), of(1, 64)])
    });
    let part = "
\tThroughput test with 2 processes
\tEach process writes a 512 kByte file in 4 kByte records

\tChildren see throughput for  2 initial writers \t=    7680.00 kB/sec
\tParent sees throughput for  2 initial writers \t=    7680.00 kB/sec
\tMin throughput per process \t\t\t=    2560.00 kB/sec 
\tMax throughput per process \t\t\t=    5120.00 kB/sec
\tAvg throughput per process \t\t\t=    3840.00 kB/sec
\tMin xfer \t\t\t\t\t=     256.00 kB

\tChildren see throughput for  2 rewriters \t= ";
    assert!(text.contains(part), "{text}");
    let end = "


\"Throughput report Y-axis is type of test X-axis is number of processes\"
\"Record size = 4 kBytes \"
\"Output is in kBytes/sec\"

\"  Initial write \"    7680.00 

\"        Rewrite \"    7680.00 

\"           Read \"    7680.00 

\"        Re-read \"    7680.00 


iozone test complete.
";
    assert!(text.ends_with(end), "{text}");
    assert!(verdicts.contains("when the slowest had 50 % of its file"), "{verdicts}");
    assert!(verdicts.contains("after 0.100 s of calls all was durable 0.100 s later: 50 %"), "{verdicts}");
}

//! Copies of `dd`: steps, figures in virtual time, and execution in a real directory.

use crate::grounds;

use clap::ValueEnum;
use grounds::{Temporary, all, build_facts, io_step, model, planned, words};
use plimsoll_load::{JobSpec, WorkerOps as SqlRequest};
use plimsoll_suite::recipes::dd::{Dd, DdKind, DdOptions};
use plimsoll_suite::{Before, Ground, Nature, Recipe, Step, SuiteOptions, Worker};
use plimsoll_units::{Bytes, Span};

fn build_options(block: Bytes, count: u64, kinds: &[DdKind]) -> DdOptions {
    DdOptions { block, count, kinds: kinds.to_vec(), ..DdOptions::defaults() }
}

fn list_steps(options: DdOptions, nature: Nature) -> Vec<Step> {
    let facts = build_facts(nature, Bytes::gib(8));
    planned(&mut Dd::new(options, &facts).expect("options that fit"), &facts)
}

fn worker(step: &Step) -> &Worker {
    &io_step(step).workers[0]
}

fn before(step: &Step) -> Before {
    io_step(step).before
}

#[test]
fn steps_match_dd() {
    use plimsoll_device::{Flush, SyncMode};
    // Kind, direct, sync mode, kind of the final flush, preparation of the file.
    let check = |kind, direct, opened, flushed: Option<Flush>, first| {
        let steps = list_steps(build_options(Bytes::mib(1), 8, &[kind]), Nature::Directory);
        let copy = steps.iter().find(|step| step.name.starts_with("Copy")).unwrap();
        let Worker { job, access, .. } = worker(copy);
        let JobSpec { depth, flush_at_end, until, .. } = job;
        assert_eq!((job.largest(), *depth, until.bytes), (1 << 20, 1, 8 << 20), "{kind:?}");
        assert_eq!((access.direct, access.opened, before(copy)), (direct, opened, first), "{kind:?}");
        assert_eq!(flush_at_end.then_some(access.flush), flushed, "{kind:?}");
        assert_eq!(job.work, if kind.writes() { SqlRequest::Writes } else { SqlRequest::Reads });
    };
    check(DdKind::Buffered, false, SyncMode::None, None, Before::Anew);
    check(DdKind::Fdatasync, false, SyncMode::None, Some(Flush::Fdatasync), Before::Anew);
    check(DdKind::Fsync, false, SyncMode::None, Some(Flush::Fsync), Before::Anew);
    check(DdKind::Direct, true, SyncMode::None, None, Before::Anew);
    check(DdKind::Dsync, false, SyncMode::Dsync, None, Before::Anew);
    check(DdKind::Sync, false, SyncMode::Sync, None, Before::Anew);
    check(DdKind::Read, false, SyncMode::None, None, Before::AsTheyAre);
    check(DdKind::ReadNocache, false, SyncMode::None, None, Before::Uncached);
    check(DdKind::ReadDirect, true, SyncMode::None, None, Before::Uncached);
}

#[test]
fn buffered_copy_is_followed_by_flush_and_comparison() {
    let names = |nature| {
        let steps = list_steps(build_options(Bytes::mib(1), 12, &[DdKind::Buffered]), nature);
        steps.into_iter().map(|step| step.name).collect::<Vec<_>>()
    };
    let probes = ["Zeroes, direct", "Random data, direct"].repeat(3);
    let directory = names(Nature::Directory);
    assert_eq!(directory, [&["Copy, buffered", "Flush of the copy's dirty data"][..], &probes].concat());
    assert_eq!(names(Nature::Export), [&["Copy, buffered"][..], &probes].concat());
    assert_eq!(names(Nature::Model), ["Copy, buffered"]);
}

#[test]
fn large_call_is_split_into_requests_on_a_model() {
    let steps =
        list_steps(build_options(Bytes::gib(1), 5, &[DdKind::Buffered, DdKind::Dsync, DdKind::Read]), Nature::Model);
    let shapes: Vec<_> = steps.iter().map(|step| (worker(step).job.largest(), worker(step).job.depth)).collect();
    assert_eq!(shapes, [(1 << 20, 32), (1 << 20, 32), (128 << 10, 2)]);
    let steps = list_steps(build_options(Bytes::kib(8), 100, &[DdKind::Dsync, DdKind::Fsync]), Nature::Model);
    let shapes: Vec<_> = steps.iter().map(|step| (worker(step).job.largest(), worker(step).job.depth)).collect();
    assert_eq!(shapes, [(8192, 1), (32 << 10, 32)]);
}

#[test]
fn model_matches_arithmetic() {
    // A single server of 1 ms: 100 blocks of 8 KiB take 0.1 s.
    let mut ground = model("station(1, 1ms)", Bytes::mib(64));
    let mut recipe = Dd::new(build_options(Bytes::kib(8), 100, &[DdKind::Dsync]), &ground.facts().clone()).unwrap();
    let outcome = all(&mut recipe, &mut ground);
    assert_eq!(outcome.done[0].result.io().unwrap().span(), Span::from_millis(100));
    let listings = recipe.listings(&outcome.done, ground.facts());
    assert_eq!(listings[0].title, "dd if=/dev/zero of=FILE bs=8K count=100 oflag=dsync");
    let expected = "100+0 records in\n100+0 records out\n819200 bytes (819 kB, 800 KiB) copied, 0.1 s, 8.2 MB/s\n";
    assert_eq!(listings[0].text, expected);
    let verdicts = words(&recipe.verdicts(&outcome.done, ground.facts()));
    assert!(verdicts[0].contains("1000 a second, 1 ms (median)"), "{verdicts:?}");
}

#[test]
fn invalid_copy_is_refused_in_one_line() {
    let check = |options, facts: &plimsoll_suite::Facts, words: &str| {
        let message = Dd::new(options, facts).unwrap_err().to_string();
        assert!(message.contains(words) && !message.contains('\n'), "{message}");
    };
    let small = build_facts(Nature::Directory, Bytes::mib(1));
    check(build_options(Bytes::ZERO, 5, &[DdKind::Buffered]), &small, "at least 1");
    check(build_options(Bytes::mib(1), 5, &[DdKind::Buffered]), &small, "lower count");
    check(build_options(Bytes::gib(2), 1, &[DdKind::Buffered]), &small, "1GiB or less");
    check(build_options(Bytes::gib(1), u64::MAX, &[DdKind::Buffered]), &small, "lower count");
    let coarse = plimsoll_suite::Facts { grid: 4096, ..small.clone() };
    check(build_options(Bytes::new(512), 5, &[DdKind::Direct]), &coarse, "multiples of 4096");
    assert!(Dd::new(build_options(Bytes::new(512), 5, &[DdKind::Dsync]), &coarse).is_ok());
    let fixed = plimsoll_suite::Facts { read_only: true, ..small };
    check(build_options(Bytes::kib(1), 5, &[DdKind::ReadDirect, DdKind::Dsync]), &fixed, "dsync would write");
    let mut reads = Dd::new(build_options(Bytes::kib(1), 5, &[DdKind::ReadDirect]), &fixed).unwrap();
    assert!(reads.next(&[], &fixed).is_some());
}

#[test]
fn directory_supports_every_copy() {
    let temporary = Temporary::new("dd");
    let mut ground = temporary.ground();
    let mut recipe =
        Dd::new(build_options(Bytes::kib(320), 40, DdKind::value_variants()), &ground.facts().clone()).unwrap();
    let outcome = all(&mut recipe, &mut ground);
    let listings = recipe.listings(&outcome.done, ground.facts());
    assert_eq!(listings.len(), DdKind::value_variants().len());
    for listing in &listings {
        let first = "40+0 records in\n40+0 records out\n13107200 bytes (13 MB, 12 MiB) copied, ";
        assert!(listing.text.starts_with(first), "{}: {}", listing.title, listing.text);
        println!("{}\n{}", listing.title, listing.text);
    }
    let verdicts = words(&recipe.verdicts(&outcome.done, ground.facts()));
    println!("{verdicts:#?}");
    let says = |part: &str| verdicts.iter().any(|verdict| verdict.contains(part));
    assert!(says("with it the rate is") && says("With dsync each block") && says("random data"));
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn read_only_copy_fills_a_file_first() {
    let temporary = Temporary::new("dd-reads");
    let mut ground = temporary.ground();
    let mut recipe =
        Dd::new(build_options(Bytes::kib(4), 10, &[DdKind::ReadNocache]), &ground.facts().clone()).unwrap();
    let outcome = all(&mut recipe, &mut ground);
    let steps: Vec<_> = outcome.done.iter().map(|done| (done.step.name.as_str(), done.step.counts)).collect();
    assert_eq!(steps, [("Fill", false), ("Copy, read-nocache", true)]);
    assert_eq!(outcome.done[1].result.io().unwrap().total().bytes(), 40_960);
}

#[test]
fn write_back_cache_of_a_model_is_named_in_the_verdict() {
    let mut ground = model("writeback(1MiB: station(1, 1ms))", Bytes::mib(64));
    assert_eq!(ground.facts().write_back, Some(Bytes::mib(1)));
    let options = DdOptions { block: Bytes::mib(4), count: 2, kinds: vec![DdKind::Buffered], ..DdOptions::defaults() };
    let mut recipe = Dd::new(options, &ground.facts().clone()).unwrap();
    let outcome = all(&mut recipe, &mut ground);
    let verdicts = words(&recipe.verdicts(&outcome.done, ground.facts()));
    assert!(verdicts[0].contains("write-back cache of 1 MiB is part of the model"), "{verdicts:?}");
    assert_eq!(ground.findings(), []);
}

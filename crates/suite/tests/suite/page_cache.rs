//! Steps on a model with and without a simulated page cache.

use crate::grounds;

use std::ops::ControlFlow;

use grounds::model;
use plimsoll_drive::PageCache;
use plimsoll_load::{JobSpec, LaneSpec, Pattern, Region, Until, WorkerOps};
use plimsoll_record::Finding;
use plimsoll_suite::{Before, FileAccess, FileSpec, Ground, IoResult, IoStep, Model, Worker};
use plimsoll_units::{Bytes, Instant, Kind, Span};

const SIZE: Bytes = Bytes::mib(16);

/// A disk with 1 ms per operation at depth 1, and two files.
fn create_ground(memory: Option<Bytes>) -> Model {
    let bare = model("station(1, 1ms)", Bytes::gib(1));
    let mut ground = match memory {
        Some(memory) => bare.with_page_cache(PageCache::new(memory)),
        None => bare,
    };
    ground.prepare_files(&[FileSpec::growing(SIZE), FileSpec::growing(SIZE)]).expect("room for two files");
    ground
}

/// A worker with a sequential pass over a file in blocks of 4 KiB.
fn through(file: usize, work: WorkerOps, access: FileAccess) -> Worker {
    let lane = LaneSpec::new(4096, Pattern::Sequential);
    Worker::new(JobSpec::new(work, lane, Region::first(SIZE), Until::bytes(SIZE.get())), file, SIZE, access)
}

fn create(ground: &mut Model, before: Before, worker: Worker) -> IoResult {
    let step = IoStep { workers: vec![worker], before, ..IoStep::default() };
    ground.io(&step, &mut |_| ControlFlow::Continue(())).expect("a model that does not fail")
}

fn writes(file: usize) -> Worker {
    through(file, WorkerOps::Writes, FileAccess::buffered())
}

fn reads(file: usize) -> Worker {
    through(file, WorkerOps::Reads, FileAccess::buffered())
}

#[test]
fn buffered_step_is_served_from_memory_and_direct_step_is_not() {
    let mut ground = create_ground(Some(Bytes::gib(1)));
    assert!(ground.facts().has_cache());
    assert_eq!(ground.facts().memory(), Some(Bytes::gib(1)));
    let observed = create(&mut ground, Before::AsTheyAre, writes(0));
    assert!(observed.span() < Span::from_millis(10), "{}", observed.span());
    assert_eq!(observed.dirty, Some(SIZE));
    assert_eq!(ground.facts().stages.last().unwrap(), "page cache");
    assert_eq!(observed.bound_by.since(Instant::ZERO), [0, 4096], "memory is what held them");
    let observed = create(&mut ground, Before::AsTheyAre, through(1, WorkerOps::Writes, FileAccess::direct()));
    assert_eq!(observed.span(), Span::from_millis(4096));
    assert_eq!(observed.bound_by.since(Instant::ZERO), [4096], "the model itself");
}

#[test]
fn flush_waits_for_dirty_pages_of_its_file() {
    let mut ground = create_ground(Some(Bytes::gib(1)));
    create(&mut ground, Before::AsTheyAre, writes(0));
    let worker = writes(1);
    let worker = Worker { job: JobSpec { flush_at_end: true, ..worker.job }, ..worker };
    let observed = create(&mut ground, Before::AsTheyAre, worker);
    // 16 MiB are 12 operations of 1280 KiB and a last of 1 MiB; the flush takes another millisecond.
    let flush = observed.total().response_where(|counter| counter.kind == Kind::Flush);
    assert!((14_000_000..14_112_000).contains(&flush.max_ns), "{} within a bin of 0.8 %", flush.max_ns);
    assert_eq!(observed.dirty, Some(SIZE), "those of the other file");
}

#[test]
fn written_data_are_cached_until_dropped() {
    let check = |before: Before, least: Span, max: Span| {
        let mut ground = create_ground(Some(Bytes::gib(1)));
        create(&mut ground, Before::AsTheyAre, writes(0));
        let observed = create(&mut ground, before, reads(0));
        assert!(least <= observed.span() && observed.span() <= max, "{before:?}: {}", observed.span());
        observed
    };
    check(Before::AsTheyAre, Span::ZERO, Span::from_millis(10));
    // 128 windows of 128 KiB and the shorter windows before them; dirty pages were written before the step.
    let observed = check(Before::Uncached, Span::from_millis(128), Span::from_millis(140));
    assert_eq!(observed.dirty, Some(Bytes::ZERO));
    // Nothing is written back: the content of the file is discarded.
    let observed = check(Before::Anew, Span::from_millis(128), Span::from_millis(140));
    assert_eq!(observed.dirty, Some(Bytes::ZERO));
}

#[test]
fn writers_are_throttled_when_memory_is_short() {
    let mut ground = create_ground(Some(Bytes::mib(20)));
    let observed = create(&mut ground, Before::AsTheyAre, writes(0));
    // 4 MiB may be dirty; the rest was written back meanwhile, some 320 pages per millisecond.
    assert!(observed.span() > Span::from_millis(9), "{}", observed.span());
    assert!(observed.dirty.unwrap() <= Bytes::mib(4), "{:?}", observed.dirty);
    match &ground.findings()[..] {
        [Finding::PageCacheSimulated { memory, share: None, write_backs, throttled, .. }] => {
            assert_eq!(*memory, Bytes::mib(20));
            assert!(*write_backs > 8 && !throttled.is_zero());
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn missing_page_cache_is_reported() {
    let mut ground = create_ground(None);
    assert!(!ground.facts().has_cache());
    let observed = create(&mut ground, Before::AsTheyAre, through(0, WorkerOps::Writes, FileAccess::direct()));
    assert_eq!((observed.span(), observed.dirty), (Span::from_millis(4096), None));
    assert_eq!(ground.findings(), []);
    let observed = create(&mut ground, Before::AsTheyAre, writes(0));
    assert_eq!(observed.span(), Span::from_millis(4096));
    assert_eq!(ground.findings(), [Finding::NoPageCache]);
}

//! The page cache: exact timing on models of a single station, and the laws of models on random operations.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use plimsoll_drive::{CacheCounters, Cached, Elevator, PageCache, Simulated, StreamSet, Target};
use plimsoll_load::Region;
use plimsoll_model::{Chain, Change, ChangeError, Model, ModelAnswer, Stage, parse};
use plimsoll_units::{Bytes, Instant, Kind, Op, Slot, Span};
use proptest::prelude::*;

const PAGE: u64 = 4096;
const MEMORY: Stage = Stage(9);

/// The submissions of a model with their times.
type Submissions = Rc<RefCell<Vec<(Instant, Op)>>>;

/// A model that records its submissions.
#[derive(Clone)]
struct Recorded {
    model: Chain,
    submissions: Submissions,
}

impl Model for Recorded {
    fn submit(&mut self, now: Instant, slot: Slot, op: &Op) {
        self.submissions.borrow_mut().push((now, *op));
        self.model.submit(now, slot, op);
    }

    fn wake_at(&self) -> Option<Instant> {
        self.model.wake_at()
    }

    fn drain(&mut self, now: Instant, answers: &mut Vec<ModelAnswer>) {
        self.model.drain(now, answers);
    }

    fn change(&mut self, now: Instant, change: &Change) -> Result<(), ChangeError> {
        self.model.change(now, change)
    }
}

/// A cache that copies a page in 1 us, and the submissions of its model.
fn cached(model: &str, memory: Bytes) -> (Cached<Recorded>, Submissions) {
    cached_as(model, settings(memory))
}

fn cached_as(model: &str, settings: PageCache) -> (Cached<Recorded>, Submissions) {
    let submissions = Rc::default();
    let model =
        Recorded { model: Chain::new(&parse(model).expect("a notation"), 1), submissions: Rc::clone(&submissions) };
    (Cached::new(model, settings, MEMORY), submissions)
}

fn settings(memory: Bytes) -> PageCache {
    PageCache { call: Span::ZERO, copied_per_second: Bytes::new(4_096_000_000), ..PageCache::new(memory) }
}

fn us(us: u64) -> Instant {
    Instant::ZERO + Span::from_micros(us)
}

const fn op(kind: Kind, page: u64, pages: u32) -> Op {
    Op { offset: page * PAGE, length: pages * PAGE as u32, kind, stream: 0 }
}

const FLUSH: Op = Op { offset: 0, length: 0, kind: Kind::Flush, stream: 0 };

/// Submits operations serially and returns their completion times.
fn one_by_one(target: &mut dyn Target, ops: &[Op]) -> Vec<Instant> {
    let mut completions = Vec::new();
    for op in ops {
        let before = completions.len();
        target.submit(&[(Slot(0), *op)]).expect("models do not fail");
        while completions.len() == before {
            target.wait(Instant::NEVER, &mut completions).expect("models do not fail");
        }
    }
    completions.iter().map(|completion| completion.at).collect()
}

/// The submissions of a model as `(time in us, kind, first page, pages)`.
fn display(submissions: &Submissions) -> Vec<(u64, Kind, u64, u64)> {
    let row = |(at, op): &(Instant, Op)| (at.as_nanos() / 1000, op.kind, op.offset / PAGE, u64::from(op.length) / PAGE);
    submissions.borrow().iter().map(row).collect()
}

#[test]
fn sequential_reads_are_read_ahead_and_then_cached() {
    let (cache, submissions) = cached("station(1, 100us)", Bytes::mib(1));
    let mut target = Simulated::new(cache);
    let reads: Vec<Op> = (0..8).map(|page| op(Kind::Read, page, 1)).collect();
    let at = one_by_one(&mut target, &reads);
    // The first read waits for its window of four pages; the second page triggers the next window at 101 us, and page 4
    // waits for it until 201 us. From then on each mark triggers a window.
    assert_eq!(at, [101, 102, 103, 104, 202, 203, 204, 205].map(us));
    let windows = [(0, Kind::Read, 0, 4), (101, Kind::Read, 4, 8), (201, Kind::Read, 12, 16)];
    assert_eq!(display(&submissions), windows);
    let again = one_by_one(&mut target, &reads[..4]);
    assert_eq!(again, [206, 207, 208, 209].map(us), "served from memory");
    let observed = target.model().counters();
    assert_eq!((observed.read, observed.from_memory), (Bytes::kib(48), Bytes::kib(4 * (12 - 2))));
    assert_eq!((observed.read_ahead, observed.unused), (Bytes::kib(4 * 27), Bytes::kib(4 * 20)));
}

#[test]
fn random_reads_have_no_read_ahead() {
    let (cache, submissions) = cached("station(1, 100us)", Bytes::mib(1));
    let mut target = Simulated::new(cache);
    let at = one_by_one(&mut target, &[700, 300, 500].map(|page| op(Kind::Read, page, 2)));
    assert_eq!(at, [102, 204, 306].map(us));
    assert_eq!(display(&submissions), [(0, Kind::Read, 700, 2), (102, Kind::Read, 300, 2), (204, Kind::Read, 500, 2)]);
}

#[test]
fn read_ahead_stops_at_the_end_of_a_file() {
    let (mut cache, submissions) = cached("station(1, 100us)", Bytes::mib(1));
    cache.set_files(&[
        Region { start: 0, length: Bytes::new(2 * PAGE + 1) },
        Region { start: 1 << 20, length: Bytes::mib(1) },
    ]);
    one_by_one(&mut Simulated::new(cache), &[op(Kind::Read, 0, 1), op(Kind::Read, 256, 1)]);
    assert_eq!(display(&submissions), [(0, Kind::Read, 0, 3), (101, Kind::Read, 256, 4)]);
}

#[test]
fn writes_end_in_memory_and_a_flush_waits_for_them() {
    let (cache, submissions) = cached("station(1, 100us)", Bytes::gib(1));
    let mut target = Simulated::new(cache);
    let mut ops: Vec<Op> = (0..400).map(|page| op(Kind::Write, page, 1)).collect();
    ops.push(FLUSH);
    let at = one_by_one(&mut target, &ops);
    assert_eq!(at[399], us(400), "each takes the time of its copy");
    // 400 pages become operations of 320 and 80, followed by the flush of the model.
    assert_eq!(
        display(&submissions),
        [(400, Kind::Write, 0, 320), (400, Kind::Write, 320, 80), (600, Kind::Flush, 0, 0)]
    );
    assert_eq!(at[400], us(700));
    let observed = target.model().counters();
    assert_eq!((observed.write_backs, observed.written_back, observed.throttled), (2, Bytes::kib(1600), Span::ZERO));
}

#[test]
fn a_flush_covers_a_single_file() {
    let (mut cache, submissions) = cached("station(1, 100us)", Bytes::gib(1));
    let file = |index: u64| Region { start: index << 20, length: Bytes::mib(1) };
    cache.set_files(&[file(0), file(1)]);
    let mut target = Simulated::new(cache);
    one_by_one(&mut target, &[op(Kind::Write, 256, 1), op(Kind::Write, 3, 1), Op { offset: 1 << 20, ..FLUSH }]);
    assert_eq!(display(&submissions), [(2, Kind::Write, 256, 1), (102, Kind::Flush, 256, 0)]);
    assert_eq!(target.model().dirty(), Bytes::kib(4));
}

#[test]
fn writing_back_begins_in_the_background_and_then_writers_wait() {
    // 1,000 pages: write-back starts above 100, throttling above 200. 10 ms for each operation, serially.
    let (cache, submissions) = cached("station(1, 10ms)", Bytes::new(1000 * PAGE));
    let mut target = Simulated::new(cache);
    let writes: Vec<Op> = (0..303).map(|page| op(Kind::Write, page, 1)).collect();
    let at = one_by_one(&mut target, &writes);
    assert_eq!(at[199], us(200));
    assert_eq!(display(&submissions)[0], (101, Kind::Write, 0, 101), "the first operation takes all dirty pages");
    // The 201st write waits for it.
    assert_eq!(at[200], us(10_101));
    let observed = target.model().counters();
    assert!(observed.throttled >= Span::from_micros(9_900), "{observed:?}");
    // It freed 101 pages, which are filled at the speed of memory; the next operation starts with the first of them.
    assert_eq!(at[300], us(10_201));
    assert_eq!(at[301], us(20_102));
}

#[test]
fn old_pages_are_written_back_without_a_flush() {
    let (cache, submissions) = cached("station(1, 100us)", Bytes::gib(1));
    let mut target = Simulated::new(cache);
    one_by_one(&mut target, &[op(Kind::Write, 5, 2)]);
    target.wait(us(100_000_000), &mut Vec::new()).unwrap();
    // Dirty at 2 us, scanned every 5 s from then on, old after 30 s.
    assert_eq!(display(&submissions), [(30_000_002, Kind::Write, 5, 2)]);
    assert_eq!(target.model().dirty(), Bytes::ZERO);
}

#[test]
fn a_partial_write_reads_the_page_first() {
    let part = |page: u64, from: u64| Op { offset: page * PAGE + from, length: 10, kind: Kind::Write, stream: 0 };
    let (mut cache, submissions) = cached("station(1, 100us)", Bytes::mib(1));
    let mut target = Simulated::new(cache.clone());
    one_by_one(&mut target, &[part(7, 5), part(7, 15), part(8, 4090)]);
    assert_eq!(display(&submissions), [(0, Kind::Read, 7, 1), (100, Kind::Read, 8, 1), (100, Kind::Read, 9, 1)]);
    submissions.borrow_mut().clear();
    cache.set_files(&[Region { start: 0, length: Bytes::mib(1) }]);
    let mut target = Simulated::new(cache);
    one_by_one(&mut target, &[part(0, 0), part(0, 10), part(1, 0)]);
    assert_eq!(display(&submissions), [], "a growing file needs no reads");
}

#[test]
fn durable_writes_are_written_back_and_flushed() {
    let (cache, submissions) = cached("station(1, 100us)", Bytes::mib(1));
    let mut target = Simulated::new(cache);
    let at = one_by_one(&mut target, &[op(Kind::Write, 9, 1), op(Kind::DurableWrite, 0, 2)]);
    assert_eq!(at, [1, 203].map(us));
    assert_eq!(display(&submissions), [(3, Kind::Write, 0, 2), (103, Kind::Flush, 0, 0)], "only its own range");
}

#[test]
fn direct_operations_see_buffered_writes() {
    let (mut cache, submissions) = cached("station(1, 100us)", Bytes::mib(4));
    cache.open([0].into_iter().collect());
    let mut target = Simulated::new(cache);
    let direct = |op: Op| Op { stream: 1, ..op };
    let at = one_by_one(
        &mut target,
        &[
            op(Kind::Write, 0, 4),
            direct(op(Kind::Read, 2, 1)),
            direct(op(Kind::Write, 0, 1)),
            op(Kind::Read, 0, 4),
            direct(op(Kind::Read, 1000, 400)),
        ],
    );
    assert_eq!(
        display(&submissions),
        [
            (4, Kind::Write, 2, 1),
            (104, Kind::Read, 2, 1),
            (204, Kind::Write, 0, 1),
            (304, Kind::Write, 0, 1),
            (404, Kind::Read, 0, 1),
            (404, Kind::Read, 4, 4),
            (508, Kind::Read, 1000, 320),
            (508, Kind::Read, 1320, 80),
        ]
    );
    assert_eq!(at, [4, 204, 404, 508, 804].map(us));
}

#[test]
fn files_larger_than_memory_are_read_from_storage_again_and_smaller_ones_are_not() {
    let check = |pages: u64, expected: fn(CacheCounters) -> bool| {
        let (cache, _) = cached("station(1, 1us)", Bytes::new(10_000 * PAGE));
        let mut target = Simulated::new(cache);
        let pass: Vec<Op> = (0..pages).map(|page| op(Kind::Read, page, 1)).collect();
        one_by_one(&mut target, &pass);
        let first = target.model().counters();
        one_by_one(&mut target, &pass);
        let second = target.model().counters();
        let read_again = second.read_ahead.get() - first.read_ahead.get();
        assert!(expected(CacheCounters { read_ahead: Bytes::new(read_again), ..second }), "{second:?}");
    };
    check(9_000, |second| second.read_ahead == Bytes::ZERO);
    check(12_000, |second| second.read_ahead.get() > 11_000 * PAGE);
}

#[test]
fn streams_are_a_set() {
    let streams: StreamSet = [0, 63, 64, 255].into_iter().collect();
    let found: Vec<u8> = (0..=255).filter(|stream| streams.contains(*stream)).collect();
    assert_eq!(found, [0, 63, 64, 255]);
}

/// An operation on the cache; each step comes `gap_ns` after the previous step.
#[derive(Clone, Debug)]
enum Step {
    Submit { gap_ns: u64, op: Op },
    Drain { gap_ns: u64 },
}

const MODELS: &[&str] = &[
    "station(1, 80us)",
    "station(8, 80us, exponential)",
    "stall(2ms, 1ms) then link(1ns)",
    "writeback(256KiB, flush immediate: disk(1GiB, 7200rpm, seek 0.8ms to 8.5ms, 150MB/s to 75MB/s)) then link(1us)",
    "limit(20000) then station(16, 200us, exponential) then link(25us, 500MB/s) then stall(10ms, 2ms)",
];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let gap_ns = prop_oneof![Just(0), 1..5_000_u64, 1..3_000_000_u64, Just(20_000_000_000)];
    let kind = prop_oneof![Just(Kind::Read), Just(Kind::Write), Just(Kind::DurableWrite), Just(Kind::Flush)];
    let place = prop_oneof![
        (0..300_u64).prop_map(|page| (page * PAGE, 4096)),
        (0..300_000_u64, 1..20_000_u32),
        (0..3_u64).prop_map(|index| (index << 20, 1 << 20)),
    ];
    let step = prop_oneof![
        8 => (gap_ns.clone(), place, kind, 0..3_u8).prop_map(|(gap_ns, (offset, length), kind, stream)| {
            let length = if kind == Kind::Flush { 0 } else { length };
            Step::Submit { gap_ns, op: Op { offset, length, kind, stream } }
        }),
        3 => gap_ns.prop_map(|gap_ns| Step::Drain { gap_ns }),
    ];
    prop::collection::vec(step, 1..120)
}

struct Story {
    submitted: BTreeMap<Slot, (Instant, Op)>,
    answers: Vec<ModelAnswer>,
    submissions: Vec<(Instant, Op)>,
    observed: CacheCounters,
}

/// Each size of memory has one of the elevators.
fn play(model: &str, memory: Bytes, steps: &[Step], drains: bool) -> Story {
    const ELEVATORS: [Elevator; 3] = [Elevator::None, Elevator::Deadline, Elevator::Cfq];
    let elevator = ELEVATORS[(memory.get() / PAGE % 3) as usize];
    let (mut cache, submissions) = cached_as(model, PageCache { elevator, ..settings(memory) });
    cache.set_files(&[Region { start: 0, length: Bytes::kib(600) }, Region { start: 1 << 20, length: Bytes::mib(8) }]);
    // Stream 2 is direct.
    cache.open([0, 1].into_iter().collect());
    let (mut now, mut submitted, mut answers) = (Instant::ZERO, BTreeMap::new(), Vec::new());
    for step in steps {
        match *step {
            Step::Submit { gap_ns, op } => {
                now += Span::from_nanos(gap_ns);
                let slot = Slot(submitted.len() as u32);
                cache.submit(now, slot, &op);
                submitted.insert(slot, (now, op));
            }
            Step::Drain { gap_ns } => {
                now += Span::from_nanos(gap_ns);
                if drains {
                    let (before, announced) = (answers.len(), cache.wake_at());
                    cache.drain(now, &mut answers);
                    if let Some(first) = answers.get(before) {
                        assert!(announced.is_some_and(|at| at <= first.at), "{announced:?} but {first:?}");
                    }
                }
            }
        }
    }
    let mut wakes = 0;
    while let Some(at) = cache.wake_at() {
        now = now.max(at);
        cache.drain(now, &mut answers);
        wakes += 1;
        assert!(wakes < 100_000, "wake_at never ends");
    }
    assert_eq!(cache.dirty(), Bytes::ZERO, "all pages are written back in the end");
    let submissions = submissions.borrow().clone();
    Story { submitted, answers, submissions, observed: cache.counters() }
}

fn pages(op: &Op) -> std::ops::Range<u64> {
    op.offset / PAGE..(op.offset + u64::from(op.length)).div_ceil(PAGE)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_operation_is_answered_once_in_order_and_after_its_submission(steps in steps(), memory in 0..600_u64) {
        for model in MODELS {
            let story = play(model, Bytes::new(memory * PAGE), &steps, true);
            let mut answered: Vec<Slot> = story.answers.iter().map(|answer| answer.slot).collect();
            answered.sort_unstable();
            prop_assert_eq!(answered, story.submitted.keys().copied().collect::<Vec<_>>(), "{}", model);
            for answer in &story.answers {
                prop_assert!(answer.at >= story.submitted[&answer.slot].0, "{}: {:?}", model, answer);
            }
            prop_assert!(story.answers.is_sorted_by_key(|answer| answer.at), "{}", model);
            prop_assert!(story.submissions.is_sorted_by_key(|(at, _)| *at), "{}", model);
        }
    }

    #[test]
    fn drain_times_do_not_change_answers(steps in steps(), memory in 0..600_u64) {
        for model in MODELS {
            let often = play(model, Bytes::new(memory * PAGE), &steps, true);
            let late = play(model, Bytes::new(memory * PAGE), &steps, false);
            prop_assert_eq!(&often.answers, &late.answers, "{}", model);
            prop_assert_eq!(often.submissions, late.submissions, "{}", model);
            let again = play(model, Bytes::new(memory * PAGE), &steps, true);
            prop_assert_eq!(often.answers, again.answers, "{}", model);
        }
    }

    /// Exactly the written pages reach the model, each at least once after its last write.
    #[test]
    fn exactly_the_written_pages_reach_the_model(steps in steps(), memory in 0..600_u64) {
        for model in MODELS {
            let story = play(model, Bytes::new(memory * PAGE), &steps, true);
            let written = |ops: &mut dyn Iterator<Item = Op>| -> BTreeSet<u64> {
                ops.filter(|op| op.kind.writes()).flat_map(|op| pages(&op)).collect()
            };
            let submitted = written(&mut story.submitted.values().map(|(_, op)| *op));
            let found = written(&mut story.submissions.iter().map(|(_, op)| *op));
            prop_assert_eq!(submitted, found, "{}", model);
            for (_, (at, op)) in story.submitted.iter().filter(|(_, (_, op))| op.kind.writes()) {
                let mut later = story.submissions.iter().filter(|(when, below)| when >= at && below.kind.writes());
                let left = pages(op).filter(|page| !later.clone().any(|(_, below)| pages(below).contains(page)));
                prop_assert_eq!(left.count(), 0, "{}: {:?}", model, op);
                prop_assert!(later.next().is_some());
            }
            let largest = story.submissions.iter().map(|(_, op)| op.length).max();
            prop_assert!(largest <= Some(1280 << 10));
            prop_assert!(story.observed.unused <= story.observed.read_ahead);
            prop_assert!(story.observed.from_memory <= story.observed.read);
        }
    }

    /// When a flush is answered, storage has all buffered writes that were answered before its submission.
    #[test]
    fn a_flush_covers_all_writes_answered_before_it(steps in steps()) {
        let story = play("station(4, 100us)", Bytes::mib(2), &steps, true);
        let answered: BTreeMap<Slot, Instant> = story.answers.iter().map(|answer| (answer.slot, answer.at)).collect();
        let buffered = |op: &Op| op.kind == Kind::Write && op.stream != 2;
        for (slot, (at, flush)) in story.submitted.iter().filter(|(_, (_, op))| op.kind == Kind::Flush) {
            let file = |op: &Op| op.offset >= 1 << 20;
            for (earlier, (at_submission, op)) in &story.submitted {
                if buffered(op) && answered[earlier] < *at && file(op) == file(flush) {
                    for page in pages(op) {
                        let has = story.submissions.iter().any(|(when, below)| {
                            below.kind.writes() && when >= at_submission && *when <= answered[slot] && pages(below).contains(&page)
                        });
                        prop_assert!(has, "page {} of {:?} was not written before the flush was answered", page, op);
                    }
                }
            }
        }
    }
}

//! Engines on a scratch file: operations are completed, and unsound submissions panic.
#![allow(clippy::unwrap_used, reason = "a test that fails says where")]
#![expect(clippy::print_stderr, reason = "a skipped test reports the reason")]

use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use plimsoll_device::{Caching, Clock, Engine, Ring, Shape, scratch};
use plimsoll_drive::{Rules, Target, drive};
use plimsoll_load::{BlockMix, Mix, OpOutcome, Pace, Pattern, Region, Stream, StreamPhase, StreamSpec};
use plimsoll_units::{Bytes, Instant, Kind, Op, Slot, Span};

const SIZE: Bytes = Bytes::mib(4);

const SHAPE: Shape = Shape::writing(4, Bytes::kib(8), 1.0, 1);

fn create_file() -> OwnedFd {
    scratch(Path::new(env!("CARGO_TARGET_TMPDIR")), SIZE, Caching::Buffered).unwrap().file
}

/// The engines available on this host.
fn list_engines() -> Vec<Engine> {
    let engines = [Engine::Ring, Engine::Aio, Engine::Threads, Engine::Inline, Engine::Mapped].into_iter();
    engines
        .filter(|engine| {
            let refused = engine.refused();
            if let Some(why) = &refused {
                eprintln!("skipped: {engine}: {why}");
            }
            refused.is_none()
        })
        .collect()
}

/// Drives `operations` of `block` bytes at `depth`, and requires that all complete.
fn check(engine: Engine, block: Bytes, depth: u32, operations: u64) {
    let file = create_file();
    let spec = StreamSpec {
        name: "data".into(),
        mix: Mix { sizes: BlockMix::one(block), reads: 0.5, durable: false, flush_every: 16 },
        pattern: Pattern::Uniform,
        region: Region { start: 0, length: SIZE },
        pace: Pace::Closed { depth },
    };
    let clock = Clock::start();
    let mut target = engine.start(&[(file.as_fd(), SIZE)], &Shape { depth, largest: block, ..SHAPE }, clock).unwrap();
    let phase = StreamPhase { start: Instant::ZERO, end: Instant::NEVER, operations };
    let mut load = Stream::new(&spec, 0, 1, phase).unwrap();
    let rules = Rules::new(depth, Span::from_secs(1));
    let observed = drive(target.as_mut(), &mut load, &rules, &mut |_| ControlFlow::Continue(())).unwrap();
    let done: u64 = observed.series.iter().map(|slice| slice.tally.operations()).sum();
    assert_eq!((done, observed.unserved), (operations, 0), "{engine}, {block}, depth {depth}");
}

#[test]
fn operations_complete() {
    for engine in list_engines().into_iter().chain([Engine::Null]) {
        check(engine, Bytes::new(512), 1, 200);
        check(engine, Bytes::kib(8), 4, 1000);
        check(engine, Bytes::mib(1), 3, 20);
        check(engine, Bytes::kib(4), 64, 5000);
    }
}

#[test]
fn threads_share_a_descriptor() {
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let file = create_file();
    let before = open();
    let pool = Engine::Threads.start(&[(file.as_fd(), SIZE)], &Shape { depth: 200, ..SHAPE }, Clock::start()).unwrap();
    // Other tests of this process have open files.
    assert!(open() < before + 100, "{} descriptors more", open() - before);
    drop(pool);
}

fn written(target: &mut dyn Target, length: u32) {
    let batch: Vec<(Slot, Op)> = (0..SHAPE.depth)
        .map(|slot| (Slot(slot), Op { offset: u64::from(slot) * 8192, length, kind: Kind::Write, stream: 0 }))
        .collect();
    target.submit(&batch).unwrap();
    let mut completions = Vec::new();
    while completions.len() < batch.len() {
        target.wait(Instant::NEVER, &mut completions).unwrap();
    }
}

#[test]
fn small_appends_differ() {
    for engine in list_engines() {
        let file = create_file();
        let mut target = engine.start(&[(file.as_fd(), SIZE)], &SHAPE, Clock::start()).unwrap();
        written(target.as_mut(), 2300);
        let mut first: Vec<[u8; 8]> = (0..4)
            .map(|slot| {
                let mut mark = [0; 8];
                rustix::io::pread(&file, &mut mark[..], slot * 8192).unwrap();
                mark
            })
            .collect();
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), 4, "{engine}");
    }
}

/// Checks the panic message of a ring of `shape` for an operation.
fn check_refusal(shape: &Shape, slot: u32, length: u32, kind: Kind, expected: &str) {
    let file = create_file();
    let mut ring = Ring::new(Some(file.as_fd()), shape, Clock::start()).unwrap();
    let good = (Slot(2), Op { offset: 0, length: 512, kind: Kind::Read, stream: 0 });
    let batch = [good, (Slot(slot), Op { offset: 0, length, kind, stream: 0 })];
    let panic = catch_unwind(AssertUnwindSafe(|| ring.submit(&batch))).unwrap_err();
    let message = panic.downcast_ref::<String>().cloned();
    let message = message.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned())).unwrap();
    assert!(message.contains(expected), "{message}");
}

#[test]
fn ring_refuses_operations_larger_than_its_buffers() {
    if !list_engines().contains(&Engine::Ring) {
        return;
    }
    check_refusal(&SHAPE, 3, 8193, Kind::Write, "8193 bytes do not fit a slot of 8192");
    check_refusal(&SHAPE, 1, 8193, Kind::Read, "8193 bytes do not fit a slot of 8192");
    check_refusal(&SHAPE, 4, 512, Kind::Read, "is outside of a buffer");
    let reading = Shape { writes: false, ..SHAPE };
    check_refusal(&reading, 0, 512, Kind::Write, "write submitted to a read-only ring");
    check_refusal(&reading, 0, 512, Kind::DurableWrite, "write submitted to a read-only ring");
}

#[test]
fn a_trim_punches_a_hole_into_a_file() {
    for engine in list_engines() {
        let file = create_file();
        rustix::io::pwrite(&file, &vec![7_u8; 32_768], 0).unwrap();
        let mut target = engine.start(&[(file.as_fd(), SIZE)], &SHAPE, Clock::start()).unwrap();
        // Longer than the buffer of a slot: a trim transfers no data.
        let trim = Op { offset: 4_096, length: 16_384, kind: Kind::Trim, stream: 0 };
        let read = Op { offset: 0, length: 512, kind: Kind::Read, stream: 0 };
        target.submit(&[(Slot(0), trim), (Slot(1), read)]).unwrap();
        let mut completions = Vec::new();
        while completions.len() < 2 {
            target.wait(Instant::NEVER, &mut completions).unwrap();
        }
        assert!(
            completions.iter().all(|completion| completion.outcome == OpOutcome::Done),
            "{engine}: {completions:?}"
        );
        let mut bytes = vec![1; 32_768];
        rustix::io::pread(&file, &mut bytes[..], 0).unwrap();
        assert!(
            bytes[..4_096].iter().chain(&bytes[20_480..]).all(|byte| *byte == 7),
            "{engine}: what is around it stays"
        );
        assert!(bytes[4_096..20_480].iter().all(|byte| *byte == 0), "{engine}");
    }
}

#[test]
fn asynchronous_direct_reads_return_their_data() {
    let opened = scratch(Path::new(env!("CARGO_TARGET_TMPDIR")), SIZE, Caching::Direct).unwrap();
    if opened.caching == Caching::Buffered || Engine::Aio.refused().is_some() {
        return eprintln!("skipped: no direct I/O here, or no asynchronous I/O");
    }
    let mut target = Engine::Aio.start(&[(opened.file.as_fd(), SIZE)], &SHAPE, Clock::start()).unwrap();
    let op = |offset, kind| Op { offset, length: 4_096, kind, stream: 0 };
    let batch =
        [(Slot(0), op(0, Kind::Read)), (Slot(1), op(SIZE.get(), Kind::Read)), (Slot(2), op(8_192, Kind::DurableWrite))];
    target.submit(&batch).unwrap();
    let mut completions = Vec::new();
    while completions.len() < batch.len() {
        target.wait(Instant::NEVER, &mut completions).unwrap();
    }
    completions.sort_by_key(|completion| completion.slot);
    let outcomes: Vec<OpOutcome> = completions.iter().map(|completion| completion.outcome).collect();
    assert_eq!(outcomes, [OpOutcome::Done, OpOutcome::Failed(libc::EIO), OpOutcome::Done], "read beyond the end");
}

#[test]
fn a_slot_in_flight_is_not_submitted_again() {
    let mut ring = match Ring::new(None, &SHAPE, Clock::start()) {
        Ok(ring) => ring,
        Err(error) => return eprintln!("skipped: io_uring: {error}"),
    };
    let write = Op { offset: 0, length: 4096, kind: Kind::Write, stream: 0 };
    ring.submit(&[(Slot(1), write)]).unwrap();
    let again = catch_unwind(AssertUnwindSafe(|| ring.submit(&[(Slot(1), write)])));
    assert!(again.is_err(), "the kernel may be reading the data of the first write");
    let mut completions = Vec::new();
    let until = ring.now() + Span::from_secs(10);
    ring.wait(until, &mut completions).unwrap();
    assert_eq!(completions.len(), 1);
    ring.submit(&[(Slot(1), write)]).unwrap();
}

#[test]
fn the_slot_of_a_trim_is_in_flight_until_it_is_reaped() {
    for engine in list_engines().into_iter().filter(|engine| matches!(engine, Engine::Ring | Engine::Aio)) {
        let file = create_file();
        let mut target = engine.start(&[(file.as_fd(), SIZE)], &SHAPE, Clock::start()).unwrap();
        let op = |kind| (Slot(1), Op { offset: 0, length: 4_096, kind, stream: 0 });
        for first in [Kind::Trim, Kind::Read] {
            target.submit(&[op(first)]).unwrap();
            let again = catch_unwind(AssertUnwindSafe(|| target.submit(&[op(Kind::Read)])));
            assert!(again.is_err(), "{engine}: {first:?} is not reaped yet");
            let mut completions = Vec::new();
            while completions.is_empty() {
                target.wait(Instant::NEVER, &mut completions).unwrap();
            }
            assert_eq!((completions.len(), completions[0].outcome), (1, OpOutcome::Done), "{engine}");
        }
    }
}

#[test]
fn a_trim_needs_a_shape_that_writes() {
    let reading = Shape { writes: false, ..SHAPE };
    for engine in list_engines().into_iter().filter(|engine| matches!(engine, Engine::Ring | Engine::Aio)) {
        let file = create_file();
        rustix::io::pwrite(&file, &[7_u8; 4_096], 0).unwrap();
        let mut target = engine.start(&[(file.as_fd(), SIZE)], &reading, Clock::start()).unwrap();
        let trim = (Slot(0), Op { offset: 0, length: 4_096, kind: Kind::Trim, stream: 0 });
        assert!(catch_unwind(AssertUnwindSafe(|| target.submit(&[trim]))).is_err(), "{engine}");
        let mut byte = [0];
        rustix::io::pread(&file, &mut byte, 0).unwrap();
        assert_eq!(byte, [7], "{engine}");
    }
}

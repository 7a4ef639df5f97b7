//! Equivalence of engines: the same load leaves the same bytes, and several files are one address space.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use plimsoll_device::{
    Blank, Caching, Checked, Checking, Clock, Compare, Contents, Durable, Engine, Flush, Pattern, Restart, Shape,
};
use plimsoll_load::{OpOutcome, Region};
use plimsoll_units::{Bytes, Kind, Op};

use super::rig::{BLOCK, SIZE, file, list_ways, one, op, perform, shape, start};

fn read_bytes(file: &OwnedFd) -> Vec<u8> {
    let mut bytes = vec![0; SIZE.get() as usize];
    assert_eq!(rustix::io::pread(file, &mut bytes[..], 0).unwrap(), bytes.len());
    bytes
}

/// Content of the file after a fixed sequence of operations.
fn write_sequence(engine: Engine, caching: Caching, shape: &Shape) -> Vec<u8> {
    let (file, _) = file(caching);
    let mut target = start(engine, &file, shape);
    let mut rng = fastrand::Rng::with_seed(5);
    for turn in 0..300 {
        let length = BLOCK.get() * rng.u64(1..=4);
        let offset = BLOCK.get() * rng.u64(0..(SIZE.get() - length) / BLOCK.get());
        let kind = [Kind::Write, Kind::Write, Kind::DurableWrite, Kind::Read, Kind::Flush][turn % 5];
        let length = if kind == Kind::Flush { 0 } else { length };
        assert_eq!(one(target.as_mut(), kind, offset, length), OpOutcome::Done, "{engine}");
    }
    drop(target);
    read_bytes(&super::rig::behind(&file))
}

#[test]
fn engines_leave_the_same_bytes() {
    let shape_with = |content| Shape { contents: content, ..Shape::writing(1, Bytes::kib(16), 0.3, 7) };
    let pattern = Pattern::new(b"ab\0\0\0\0\0\0\0\0", &[2], Restart::Every(512), Compare::Reads);
    let contents = [
        Contents::Stamped { compressible: 0.3 },
        Contents::Zeroes,
        Contents::Generated(Arc::new(plimsoll_device::Refilled {
            seed: 1,
            compressible: 0.5,
            chunk: 512,
            repeated: 0.1,
        })),
        Contents::Generated(Arc::new(pattern)),
    ];
    for content in contents {
        let shape = shape_with(content);
        let mut first: Option<Vec<u8>> = None;
        for (engine, caching) in list_ways() {
            // Unwritten data would not match the pattern, so reads follow a fill.
            let shape = match &shape.contents {
                Contents::Generated(content) if content.checks() => {
                    let quiet = Pattern::new(b"ab\0\0\0\0\0\0\0\0", &[2], Restart::Every(512), Compare::Nothing);
                    Shape { contents: Contents::Generated(Arc::new(quiet)), ..shape.clone() }
                }
                _ => shape.clone(),
            };
            let left = write_sequence(engine, caching, &shape);
            match &first {
                Some(first) => assert!(*first == left, "{engine}, {caching:?}, {:?}", shape.contents),
                None => first = Some(left),
            }
        }
    }
}

#[test]
fn pattern_is_verified() {
    for (engine, caching) in list_ways() {
        let (file, _) = file(caching);
        let pattern = Arc::new(Pattern::new(b"ab\0\0\0\0\0\0\0\0", &[2], Restart::Operation, Compare::Reads));
        let mut target = start(engine, &file, &shape(1, pattern.clone()));
        assert_eq!(one(target.as_mut(), Kind::Write, 4096, 4096), OpOutcome::Done);
        assert_eq!(one(target.as_mut(), Kind::Read, 4096, 4096), OpOutcome::Done);
        assert_eq!(one(target.as_mut(), Kind::Read, 8192, 4096), OpOutcome::Failed(libc::EILSEQ), "{engine}");
        assert_eq!(pattern.mismatches().total, 1);
    }
}

#[test]
fn operations_go_to_the_right_file() {
    let lengths = [Bytes::kib(8), Bytes::kib(64), Bytes::kib(4)];
    for (engine, caching) in list_ways() {
        let files = lengths.map(|_| file(caching).0);
        let region = Region::first(Bytes::kib(76));
        let how = Checking { seed: 1, interval: BLOCK, region, compressible: 0.0, blank: Blank::Mismatch };
        let checked = Arc::new(Checked::new(&how).unwrap());
        let all: Vec<_> = files.iter().zip(lengths).map(|(file, length)| (file.as_fd(), length)).collect();
        let mut target = engine.start(&all, &shape(8, checked.clone()), Clock::start()).unwrap();
        let blocks: Vec<Op> = (0..19).map(|block| op(Kind::Write, block * 4096, 4096)).collect();
        for some in blocks.chunks(8) {
            assert!(perform(target.as_mut(), some).iter().all(|outcome| *outcome == OpOutcome::Done));
        }
        for offset in [0, 8192, 8192 + 65_536] {
            assert_eq!(one(target.as_mut(), Kind::Flush, offset, 0), OpOutcome::Done, "{engine}");
        }
        let reads: Vec<Op> = blocks.iter().map(|block| Op { kind: Kind::Read, ..*block }).collect();
        for some in reads.chunks(8) {
            assert!(perform(target.as_mut(), some).iter().all(|outcome| *outcome == OpOutcome::Done));
        }
        assert_eq!((checked.compared(), checked.mismatches().total), (19, 0), "{engine}");
        drop(target);
        // Bytes 16 to 24 of a block's header are its offset in the address space.
        let mut base = 0;
        for (file, length) in files.iter().zip(lengths) {
            let bytes = read_bytes(&super::rig::behind(file));
            for (index, block) in bytes.chunks(4096).enumerate() {
                let replies = u64::from_le_bytes(block[16..24].try_into().unwrap());
                let place = index as u64 * 4096;
                let expected = if place < length.get() { base + place } else { 0 };
                assert_eq!(replies, expected, "{engine}, {caching:?}: byte {place} of the file from {base} on");
            }
            base += length.get();
        }
    }
}

#[test]
fn flush_and_durability_variants_are_supported() {
    for (engine, caching) in list_ways() {
        let range = Flush::SyncFileRange(Flush::WAIT_BEFORE | Flush::WRITE | Flush::WAIT_AFTER);
        for flush in [Flush::Fdatasync, Flush::Fsync, range] {
            for durable in [Durable::Dsync, Durable::Sync] {
                let (file, _) = file(caching);
                let shape = Shape { flush, durable, ..Shape::writing(2, Bytes::kib(8), 0.0, 1) };
                let mut target = start(engine, &file, &shape);
                for (kind, length) in [(Kind::DurableWrite, 8192), (Kind::Write, 4096), (Kind::Flush, 0)] {
                    assert_eq!(one(target.as_mut(), kind, 0, length), OpOutcome::Done, "{engine}, {flush:?}");
                }
            }
        }
    }
}

#[test]
fn operations_of_a_byte_are_supported() {
    for engine in [Engine::Ring, Engine::Aio, Engine::Threads, Engine::Inline, Engine::Mapped] {
        if engine.refused().is_some() {
            continue;
        }
        let (file, _) = file(Caching::Buffered);
        let pattern = Arc::new(Pattern::new(b"x", &[], Restart::Never, Compare::Reads));
        let mut target = start(engine, &file, &shape(1, pattern));
        assert_eq!(one(target.as_mut(), Kind::Write, 4097, 1), OpOutcome::Done, "{engine}");
        assert_eq!(one(target.as_mut(), Kind::Read, 4097, 1), OpOutcome::Done, "{engine}");
        let written = read_bytes(&file);
        assert_eq!((&written[4096..4099], written[4098..].iter().all(|byte| *byte == 0)), (&b"\0x\0"[..], true));
        assert_eq!(one(target.as_mut(), Kind::Read, SIZE.get(), 1), OpOutcome::Failed(libc::EIO), "{engine}: the end");
    }
}

#[test]
fn mapping_beyond_the_file_is_refused() {
    let (file, _) = file(Caching::Buffered);
    let longer = Bytes::new(SIZE.get() + 1);
    let shape = Shape::reading(1, BLOCK);
    for length in [longer, Bytes::default()] {
        assert!(Engine::Mapped.start(&[(file.as_fd(), length)], &shape, Clock::start()).is_err(), "{length}");
    }
    assert!(Engine::Inline.start(&[], &shape, Clock::start()).is_err());
}

//! A scratch file, an engine on it, and single operations.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use plimsoll_device::{Blank, Caching, Checked, Checking, Clock, Content, Contents, Engine, Mismatch, Shape, scratch};
use plimsoll_drive::Target;
use plimsoll_load::{OpOutcome, Region};
use plimsoll_units::{Bytes, Instant, Kind, Op, Slot};

pub const BLOCK: Bytes = Bytes::kib(4);
pub const SIZE: Bytes = Bytes::mib(1);

/// The engines available on this host, each with direct and buffered I/O if both are supported.
pub fn list_ways() -> Vec<(Engine, Caching)> {
    let mut ways = Vec::new();
    for engine in [Engine::Ring, Engine::Aio, Engine::Threads, Engine::Inline, Engine::Mapped] {
        if let Some(why) = engine.refused() {
            eprintln!("skipped: {engine}: {why}");
            continue;
        }
        ways.push((engine, Caching::Buffered));
        if engine != Engine::Mapped && file(Caching::Direct).1 == Caching::Direct {
            ways.push((engine, Caching::Direct));
        }
    }
    ways
}

pub fn file(caching: Caching) -> (OwnedFd, Caching) {
    let opened = scratch(Path::new(env!("CARGO_TARGET_TMPDIR")), SIZE, caching).unwrap();
    (opened.file, opened.caching)
}

/// Another descriptor of the file, through the page cache.
pub fn behind(file: &OwnedFd) -> OwnedFd {
    use std::os::fd::AsRawFd;
    let path = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    plimsoll_device::open(Path::new(&path), plimsoll_device::AccessMode::Write, Caching::Buffered).unwrap().file
}

pub fn checking(seed: u64, blank: Blank) -> Checking {
    Checking { seed, interval: BLOCK, region: Region::first(SIZE), compressible: 0.25, blank }
}

pub fn checked(blank: Blank) -> Arc<Checked> {
    Arc::new(Checked::new(&checking(3, blank)).unwrap())
}

pub fn shape(depth: u32, content: Arc<dyn Content>) -> Shape {
    Shape { contents: Contents::Generated(content), ..Shape::writing(depth, Bytes::kib(64), 0.0, 1) }
}

pub fn start(engine: Engine, file: &OwnedFd, shape: &Shape) -> Box<dyn Target> {
    engine.start(&[(file.as_fd(), SIZE)], shape, Clock::start()).unwrap()
}

pub fn op(kind: Kind, offset: u64, length: u64) -> Op {
    Op { offset, length: length as u32, kind, stream: 0 }
}

/// Performs operations concurrently, each in its slot, and returns their outcomes.
pub fn perform(target: &mut dyn Target, ops: &[Op]) -> Vec<OpOutcome> {
    let batch: Vec<(Slot, Op)> = (0..).map(Slot).zip(ops.iter().copied()).collect();
    let mut completions = Vec::new();
    target.submit(&batch).unwrap();
    while completions.len() < batch.len() {
        target.wait(Instant::NEVER, &mut completions).unwrap();
    }
    completions.sort_by_key(|completion| completion.slot);
    completions.iter().map(|completion| completion.outcome).collect()
}

pub fn one(target: &mut dyn Target, kind: Kind, offset: u64, length: u64) -> OpOutcome {
    perform(target, &[op(kind, offset, length)])[0]
}

/// Writes every block once.
pub fn fill(target: &mut dyn Target) {
    for offset in (0..SIZE.get()).step_by(BLOCK.get() as usize) {
        assert_eq!(one(target, Kind::Write, offset, BLOCK.get()), OpOutcome::Done);
    }
}

/// The only mismatch.
pub fn only(checked: &Checked) -> Mismatch {
    let mismatches = checked.mismatches();
    assert_eq!((mismatches.total, mismatches.first.len()), (1, 1), "{mismatches:?}");
    mismatches.first[0]
}

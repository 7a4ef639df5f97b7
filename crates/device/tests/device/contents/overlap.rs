//! Concurrent writes and reads of a few blocks, by a single loop and by several, cause no mismatch.

use std::ops::ControlFlow;
use std::sync::Arc;

use plimsoll_device::{Blank, Caching, Checked, Engine};
use plimsoll_drive::{Rules, drive};
use plimsoll_load::{BlockMix, Mix, OpOutcome, Pace, Pattern, Region, Stream, StreamPhase, StreamSpec};
use plimsoll_units::{Bytes, Instant, Kind, Span};

use super::rig::{BLOCK, behind, checked, file, list_ways, one, shape, start};

const DEPTH: u32 = 32;

/// Runs `operations` on the first `blocks` blocks, and returns the number of failures.
fn run_load(engine: Engine, caching: Caching, checked: &Arc<Checked>, blocks: u64, sizes: Bytes, seed: u64) -> u64 {
    let (file, _) = file(caching);
    let loops = 2;
    let failed = |part: u64| {
        let spec = StreamSpec {
            name: "data".into(),
            mix: Mix { sizes: BlockMix::one(sizes), reads: 0.5, durable: false, flush_every: 100 },
            pattern: Pattern::Uniform,
            region: Region { start: 0, length: Bytes::new(blocks * BLOCK.get()) },
            pace: Pace::Closed { depth: DEPTH },
        };
        let mut target = start(engine, &file, &shape(DEPTH, checked.clone()));
        let phase = StreamPhase { start: Instant::ZERO, end: Instant::NEVER, operations: 1500 };
        let mut load = Stream::new(&spec, 0, seed ^ part, phase).unwrap();
        let rules = Rules::new(DEPTH, Span::from_secs(1));
        let run = drive(target.as_mut(), &mut load, &rules, &mut |_| ControlFlow::Continue(())).unwrap();
        run.series.iter().map(|slice| slice.tally.errors()).sum::<u64>()
    };
    std::thread::scope(|scope| {
        let failed = &failed;
        let loops: Vec<_> = (0..loops).map(|part| scope.spawn(move || failed(part << 32))).collect();
        loops.into_iter().map(|one| one.join().unwrap()).sum()
    })
}

#[test]
fn overlapping_operations_are_no_mismatch() {
    for (engine, caching) in list_ways() {
        for (blocks, sizes) in [(4, BLOCK), (64, BLOCK), (24, Bytes::kib(16)), (6, Bytes::kib(6))] {
            let checked = checked(Blank::PassedOver);
            let failed = run_load(engine, caching, &checked, blocks, sizes, 1);
            let mismatches = checked.mismatches();
            assert_eq!((failed, mismatches.total), (0, 0), "{engine}, {caching:?}, {blocks}: {mismatches:?}");
            assert!(checked.compared() > 100, "{engine}, {caching:?}, {blocks}: {}", checked.compared());
        }
    }
}

#[test]
fn write_lost_after_overlaps_is_found() {
    for (engine, caching) in list_ways() {
        let (file, _) = file(caching);
        let checked = checked(Blank::PassedOver);
        let mut target = start(engine, &file, &shape(DEPTH, checked.clone()));
        let other = behind(&file);
        let mut before = vec![0; BLOCK.get() as usize];
        for turn in 1..=20 {
            assert_eq!(one(target.as_mut(), Kind::DurableWrite, 0, BLOCK.get()), OpOutcome::Done);
            if turn == 10 {
                rustix::io::pread(&other, &mut before[..], 0).unwrap();
            }
        }
        rustix::io::pwrite(&other, &before, 0).unwrap();
        plimsoll_device::sync_data(&other).unwrap();
        assert_ne!(one(target.as_mut(), Kind::Read, 0, BLOCK.get()), OpOutcome::Done, "{engine}, {caching:?}");
        let mismatch = checked.mismatches().first[0];
        assert_eq!((mismatch.expected, mismatch.found), (Some(20), Some(10)), "{engine}, {caching:?}: {mismatch}");
    }
}

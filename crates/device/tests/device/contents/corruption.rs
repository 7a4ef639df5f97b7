//! Every kind of damage, made through another descriptor, is found and located.

use std::os::fd::OwnedFd;

use plimsoll_device::{Blank, Caching, Checked, Engine, Mismatch, MismatchKind, sync_data};
use plimsoll_load::OpOutcome;
use plimsoll_units::Kind;
use rustix::io::{pread, pwrite};

use super::rig::{BLOCK, SIZE, behind, checked, checking, file, fill, list_ways, one, only, shape, start};

/// Offset of the damaged block.
const AT: u64 = 12 * BLOCK.get();

const BAD: OpOutcome = OpOutcome::Failed(libc::EILSEQ);

/// Reads a block through another descriptor.
fn peek(file: &OwnedFd, offset: u64) -> Vec<u8> {
    let mut bytes = vec![0; BLOCK.get() as usize];
    assert_eq!(pread(file, &mut bytes[..], offset).unwrap(), bytes.len());
    bytes
}

fn poke(file: &OwnedFd, offset: u64, bytes: &[u8]) {
    assert_eq!(pwrite(file, bytes, offset).unwrap(), bytes.len());
    // Direct I/O must see it, too.
    sync_data(file).unwrap();
}

/// Writes the block at `AT` twice, damages it (with access to the first version), and verifies it.
fn check(damage: impl Fn(&OwnedFd, &[u8]), kind: MismatchKind, found: Option<u32>) {
    for (engine, caching) in list_ways() {
        let (file, _) = file(caching);
        let checked = checked(Blank::PassedOver);
        let mut target = start(engine, &file, &shape(2, checked.clone()));
        fill(target.as_mut());
        one(target.as_mut(), Kind::Flush, 0, 0);
        let other = behind(&file);
        let first = peek(&other, AT);
        one(target.as_mut(), Kind::DurableWrite, AT, BLOCK.get());
        assert_eq!(one(target.as_mut(), Kind::Read, AT, BLOCK.get()), OpOutcome::Done, "{engine}, {caching:?}");
        damage(&other, &first);
        assert_eq!(one(target.as_mut(), Kind::Read, AT, BLOCK.get()), BAD, "{engine}, {caching:?}, {kind:?}");
        let expected = Mismatch { offset: AT, length: 4096, kind, expected: Some(2), found };
        assert_eq!(only(&checked), expected, "{engine}, {caching:?}");
        // Neighbours are intact, also when read together.
        assert_eq!(one(target.as_mut(), Kind::Read, AT + BLOCK.get(), 2 * BLOCK.get()), OpOutcome::Done);
        assert_eq!(one(target.as_mut(), Kind::Read, AT - BLOCK.get(), 3 * BLOCK.get()), BAD);
        assert_eq!((checked.mismatches().total, checked.compared()), (2, 7), "{engine}, {caching:?}");
        // The next write repairs it.
        one(target.as_mut(), Kind::Write, AT, BLOCK.get());
        assert_eq!(one(target.as_mut(), Kind::Read, AT, BLOCK.get()), OpOutcome::Done, "{engine}, {caching:?}");
    }
}

#[test]
fn lost_write_is_stale() {
    check(|file, first| poke(file, AT, first), MismatchKind::Stale, Some(1));
}

#[test]
fn torn_write_is_located() {
    let tail = |file: &OwnedFd, first: &[u8]| poke(file, AT + 1536, &first[1536..]);
    check(tail, MismatchKind::Torn { at: 1536, then: Some(1) }, Some(2));
    let head = |file: &OwnedFd, first: &[u8]| poke(file, AT, &first[..512]);
    check(head, MismatchKind::Torn { at: 512, then: Some(2) }, Some(1));
    let zeroes = |file: &OwnedFd, _: &[u8]| poke(file, AT + 2048, &[0; 2048]);
    check(zeroes, MismatchKind::Torn { at: 2048, then: None }, Some(2));
}

#[test]
fn misdirected_write_is_identified() {
    let copied = |file: &OwnedFd, _: &[u8]| poke(file, AT, &peek(file, 40 * BLOCK.get()));
    check(copied, MismatchKind::Misdirected { from: 40 * BLOCK.get() }, Some(1));
}

#[test]
fn zeroed_block_is_never_written() {
    check(|file, _| poke(file, AT, &[0; 4096]), MismatchKind::NeverWritten, None);
    check(|file, _| poke(file, AT, &[0x5a; 4096]), MismatchKind::Foreign, None);
}

#[test]
fn bit_rot_is_located() {
    for at in [0, 20, 28, 44, 600, 4000] {
        let flip = |file: &OwnedFd, _: &[u8]| {
            let mut bytes = peek(file, AT);
            bytes[at] ^= 0x04;
            poke(file, AT, &bytes);
        };
        check(flip, MismatchKind::Rot { at: at as u32, bytes: 1 }, Some(2));
    }
}

#[test]
fn block_of_another_run_is_identified() {
    let other = |file: &OwnedFd, _: &[u8]| {
        let theirs = std::sync::Arc::new(Checked::new(&checking(4, Blank::PassedOver)).unwrap());
        let mut target = start(Engine::Inline, file, &shape(1, theirs));
        one(target.as_mut(), Kind::DurableWrite, AT, BLOCK.get());
    };
    check(other, MismatchKind::OtherSeed { seed: 4 }, Some(1));
}

#[test]
fn unwritten_blocks_are_skipped_or_mismatches() {
    let (file, _) = file(Caching::Buffered);
    for (blank, expected, counts) in [(Blank::PassedOver, OpOutcome::Done, (0, 2)), (Blank::Mismatch, BAD, (2, 0))] {
        let checked = checked(blank);
        let mut target = start(Engine::Inline, &file, &shape(1, checked.clone()));
        assert_eq!(one(target.as_mut(), Kind::Read, 0, 2 * BLOCK.get()), expected);
        let zeroes = checked.mismatches().first.iter().all(|mismatch| mismatch.kind == MismatchKind::NeverWritten);
        assert_eq!((checked.compared(), checked.passed_over(), zeroes), (counts.0, counts.1, true));
    }
}

#[test]
fn partial_writes_cause_no_mismatch() {
    let (file, _) = file(Caching::Buffered);
    let checked = checked(Blank::Mismatch);
    let mut target = start(Engine::Inline, &file, &shape(1, checked.clone()));
    fill(target.as_mut());
    for (offset, length) in [(100, 1), (4000, 200), (8000, 9000), (SIZE.get() - 10, 10)] {
        assert_eq!(one(target.as_mut(), Kind::Write, offset, length), OpOutcome::Done);
        assert_eq!(one(target.as_mut(), Kind::Read, offset, length), OpOutcome::Done);
    }
    for offset in (0..SIZE.get()).step_by(BLOCK.get() as usize) {
        assert_eq!(one(target.as_mut(), Kind::Read, offset, BLOCK.get()), OpOutcome::Done, "{offset}");
    }
    // Blocks 0, 1, 4 and the last were partly overwritten; 2 and 3 completely.
    assert_eq!((checked.mismatches().total, checked.passed_over()), (0, 4));
}

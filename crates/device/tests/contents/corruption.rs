//! Every kind of damage, done through another descriptor, is found and located.

use std::os::fd::OwnedFd;

use plimsoll_device::{Blank, Caching, Checked, Engine, Mismatch, What, sync};
use plimsoll_load::Outcome;
use plimsoll_units::Kind;
use rustix::io::{pread, pwrite};

use super::rig::{BLOCK, SIZE, behind, checked, checking, file, fill, one, only, shape, start, ways};

/// The block that is damaged.
const AT: u64 = 12 * BLOCK.get();

const BAD: Outcome = Outcome::Failed(libc::EILSEQ);

/// Bytes of a block, read by somebody else.
fn peek(file: &OwnedFd, offset: u64) -> Vec<u8> {
    let mut bytes = vec![0; BLOCK.get() as usize];
    assert_eq!(pread(file, &mut bytes[..], offset).unwrap(), bytes.len());
    bytes
}

fn poke(file: &OwnedFd, offset: u64, bytes: &[u8]) {
    assert_eq!(pwrite(file, bytes, offset).unwrap(), bytes.len());
    // What reads past the page cache shall see it too.
    sync(file).unwrap();
}

/// Writes the block at `AT` twice, lets `damage` have it, with what it was after the first write, and reads it.
fn check(damage: impl Fn(&OwnedFd, &[u8]), what: What, found: Option<u32>) {
    for (engine, caching) in ways() {
        let (file, _) = file(caching);
        let checked = checked(Blank::PassedOver);
        let mut target = start(engine, &file, &shape(2, checked.clone()));
        fill(target.as_mut());
        one(target.as_mut(), Kind::Flush, 0, 0);
        let other = behind(&file);
        let first = peek(&other, AT);
        one(target.as_mut(), Kind::DurableWrite, AT, BLOCK.get());
        assert_eq!(one(target.as_mut(), Kind::Read, AT, BLOCK.get()), Outcome::Done, "{engine}, {caching:?}");
        damage(&other, &first);
        assert_eq!(one(target.as_mut(), Kind::Read, AT, BLOCK.get()), BAD, "{engine}, {caching:?}, {what:?}");
        let expected = Mismatch { offset: AT, length: 4096, what, expected: Some(2), found };
        assert_eq!(only(&checked), expected, "{engine}, {caching:?}");
        // Its neighbours are as they were, also when they are read together.
        assert_eq!(one(target.as_mut(), Kind::Read, AT + BLOCK.get(), 2 * BLOCK.get()), Outcome::Done);
        assert_eq!(one(target.as_mut(), Kind::Read, AT - BLOCK.get(), 3 * BLOCK.get()), BAD);
        assert_eq!((checked.mismatches().total, checked.compared()), (2, 7), "{engine}, {caching:?}");
        // The next write puts it right.
        one(target.as_mut(), Kind::Write, AT, BLOCK.get());
        assert_eq!(one(target.as_mut(), Kind::Read, AT, BLOCK.get()), Outcome::Done, "{engine}, {caching:?}");
    }
}

#[test]
fn a_lost_write() {
    check(|file, first| poke(file, AT, first), What::Stale, Some(1));
}

#[test]
fn a_torn_write() {
    let tail = |file: &OwnedFd, first: &[u8]| poke(file, AT + 1536, &first[1536..]);
    check(tail, What::Torn { at: 1536, then: Some(1) }, Some(2));
    let head = |file: &OwnedFd, first: &[u8]| poke(file, AT, &first[..512]);
    check(head, What::Torn { at: 512, then: Some(2) }, Some(1));
    let zeroes = |file: &OwnedFd, _: &[u8]| poke(file, AT + 2048, &[0; 2048]);
    check(zeroes, What::Torn { at: 2048, then: None }, Some(2));
}

#[test]
fn a_misdirected_write() {
    let copied = |file: &OwnedFd, _: &[u8]| poke(file, AT, &peek(file, 40 * BLOCK.get()));
    check(copied, What::Misdirected { from: 40 * BLOCK.get() }, Some(1));
}

#[test]
fn a_block_that_is_gone() {
    check(|file, _| poke(file, AT, &[0; 4096]), What::NeverWritten, None);
    check(|file, _| poke(file, AT, &[0x5a; 4096]), What::Foreign, None);
}

#[test]
fn bit_rot() {
    for at in [0, 20, 28, 44, 600, 4000] {
        let flip = |file: &OwnedFd, _: &[u8]| {
            let mut bytes = peek(file, AT);
            bytes[at] ^= 0x04;
            poke(file, AT, &bytes);
        };
        check(flip, What::Rot { at: at as u32, bytes: 1 }, Some(2));
    }
}

#[test]
fn another_run() {
    let other = |file: &OwnedFd, _: &[u8]| {
        let theirs = std::sync::Arc::new(Checked::new(&checking(4, Blank::PassedOver)).unwrap());
        let mut target = start(Engine::Inline, file, &shape(1, theirs));
        one(target.as_mut(), Kind::DurableWrite, AT, BLOCK.get());
    };
    check(other, What::OtherSeed { seed: 4 }, Some(1));
}

#[test]
fn what_was_never_written_is_passed_over_or_not() {
    let (file, _) = file(Caching::Buffered);
    for (blank, expected, counts) in [(Blank::PassedOver, Outcome::Done, (0, 2)), (Blank::Mismatch, BAD, (2, 0))] {
        let checked = checked(blank);
        let mut target = start(Engine::Inline, &file, &shape(1, checked.clone()));
        assert_eq!(one(target.as_mut(), Kind::Read, 0, 2 * BLOCK.get()), expected);
        let zeroes = checked.mismatches().first.iter().all(|mismatch| mismatch.what == What::NeverWritten);
        assert_eq!((checked.compared(), checked.passed_over(), zeroes), (counts.0, counts.1, true));
    }
}

#[test]
fn parts_of_blocks_spoil_no_check() {
    let (file, _) = file(Caching::Buffered);
    let checked = checked(Blank::Mismatch);
    let mut target = start(Engine::Inline, &file, &shape(1, checked.clone()));
    fill(target.as_mut());
    for (offset, length) in [(100, 1), (4000, 200), (8000, 9000), (SIZE.get() - 10, 10)] {
        assert_eq!(one(target.as_mut(), Kind::Write, offset, length), Outcome::Done);
        assert_eq!(one(target.as_mut(), Kind::Read, offset, length), Outcome::Done);
    }
    for offset in (0..SIZE.get()).step_by(BLOCK.get() as usize) {
        assert_eq!(one(target.as_mut(), Kind::Read, offset, BLOCK.get()), Outcome::Done, "{offset}");
    }
    // Blocks 0, 1 and 4 and the last one hold a part that was written alone; 2 and 3 were covered whole.
    assert_eq!((checked.mismatches().total, checked.passed_over()), (0, 4));
}

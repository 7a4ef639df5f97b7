//! Whether bytes are the block that they should be, and what is wrong with them when they are not.
//!
//! Knows nothing about how they were read, or how it is known which versions may be there.

use super::block::{Block, HEADER};
use super::generations::{Permitted, UNKNOWN};
use super::mismatch::What;

/// Parts of a block that a device or the page cache writes as one.
const SECTOR: usize = 512;

/// Versions before and behind the one that a damaged block claims to be, which are looked for in it too.
const AROUND: u32 = 4;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The block of this version; `None` when it is a mixture of versions that overlapped.
    Right(Option<u32>),
    /// No block of this place and seed, though nothing is known that should be there.
    Blank(What),
    /// Not what it should be, and the version that it is or begins with.
    Wrong(What, Option<u32>),
}

/// Judges `bytes`, which should be `block` in one of the versions of `permitted`.
pub(super) fn judge(bytes: &[u8], block: &Block, permitted: &Permitted) -> Verdict {
    let anything = permitted.contains(UNKNOWN);
    if let Some(found) = Block::read(bytes).filter(|found| found.length == block.length && found.matches(bytes)) {
        return whole(&found, block, permitted, anything);
    }
    let several = !permitted.others.is_empty();
    if several && (anything || mixture(bytes, block, permitted)) {
        return Verdict::Right(None);
    }
    match (damaged(bytes, block, permitted), anything) {
        ((what @ (What::NeverWritten | What::Foreign), _), true) => Verdict::Blank(what),
        ((what, found), _) => Verdict::Wrong(what, found),
    }
}

/// Judges a block that is whole.
fn whole(found: &Block, block: &Block, permitted: &Permitted, anything: bool) -> Verdict {
    let generation = found.generation;
    let wrong = |what| Verdict::Wrong(what, Some(generation));
    match () {
        () if found.seed != block.seed && anything => Verdict::Blank(What::OtherSeed { seed: found.seed }),
        () if found.seed != block.seed => wrong(What::OtherSeed { seed: found.seed }),
        () if found.offset != block.offset => wrong(What::Misdirected { from: found.offset }),
        () if anything || permitted.contains(generation) => Verdict::Right(Some(generation)),
        () if generation > permitted.newest => wrong(What::Ahead),
        () => wrong(What::Stale),
    }
}

/// True when every byte is that of one of the permitted versions.
fn mixture(bytes: &[u8], block: &Block, permitted: &Permitted) -> bool {
    let mut left: Vec<bool> = vec![true; bytes.len()];
    for generation in permitted.all() {
        let version = rendered(block, generation);
        for ((left, found), byte) in left.iter_mut().zip(bytes).zip(&version) {
            *left &= found != byte;
        }
    }
    left.iter().all(|left| !left)
}

fn rendered(block: &Block, generation: u32) -> Vec<u8> {
    let mut bytes = vec![0; block.length as usize];
    Block { generation, ..*block }.write(&mut bytes);
    bytes
}

/// What is wrong with bytes that are no whole block, and the version that they begin with.
fn damaged(bytes: &[u8], block: &Block, permitted: &Permitted) -> (What, Option<u32>) {
    if bytes.iter().all(|byte| *byte == 0) {
        return (What::NeverWritten, None);
    }
    let claimed = Block::claimed(bytes).map_or(UNKNOWN, |claimed| claimed.generation);
    let near = (1..=AROUND).flat_map(|far| [claimed.saturating_sub(far), claimed.saturating_add(far)]);
    let sector = SECTOR.min((bytes.len() / 4).next_multiple_of(8)).max(HEADER);
    let found = looked(bytes, block, sector, permitted.all().chain([claimed]).chain(near));
    // A damaged header may claim any version: its bits are tried one by one.
    found
        .or_else(|| looked(bytes, block, sector, (0..u32::BITS).map(|bit| claimed ^ (1 << bit))))
        .unwrap_or((What::Foreign, None))
}

/// Explains bytes by some versions of the block; `None` when no part of them is of one.
fn looked(
    bytes: &[u8],
    block: &Block,
    sector: usize,
    generations: impl Iterator<Item = u32>,
) -> Option<(What, Option<u32>)> {
    let mut tried: Vec<(u32, Vec<u8>)> = Vec::new();
    for generation in generations.filter(|generation| *generation != UNKNOWN) {
        if tried.iter().all(|(other, _)| *other != generation) {
            tried.push((generation, rendered(block, generation)));
        }
    }
    let origins: Vec<Option<u32>> =
        bytes.chunks(sector).enumerate().map(|(index, found)| origin(found, index * sector, &tried)).collect();
    let head = origins[0];
    let Some(other) = origins.iter().position(|origin| *origin != head) else {
        // One version, with some wrong bytes.
        return head.map(|generation| (rot(bytes, &rendered(block, generation)), head));
    };
    Some((What::Torn { at: (other * sector) as u32, then: origins[other] }, head))
}

/// The version that a sector, `at` bytes behind the beginning of its block, is of but for a few bytes; the first of those
/// that explain it best.
fn origin(found: &[u8], at: usize, tried: &[(u32, Vec<u8>)]) -> Option<u32> {
    let explained = |(generation, version): &(u32, Vec<u8>)| {
        let version = &version[at..at + found.len()];
        let wrong = found.iter().zip(version).filter(|(found, byte)| found != byte).count();
        // Random bytes are equal by chance once in 256 times: what is half right is of that version. Headers of two versions
        // have most bytes in common, and differ in nine at least.
        let header = HEADER.saturating_sub(at);
        let random = version[header..].iter().filter(|byte| **byte != 0).count();
        let few = random / 2 + if header > 0 { 4 } else { 0 };
        (wrong <= few).then_some((wrong, *generation))
    };
    tried.iter().filter_map(explained).min_by_key(|(wrong, _)| *wrong).map(|(_, generation)| generation)
}

fn rot(bytes: &[u8], version: &[u8]) -> What {
    let mut wrong = bytes.iter().zip(version).enumerate().filter(|(_, (found, byte))| found != byte);
    let at = wrong.next().map_or(0, |(at, _)| at as u32);
    What::Rot { at, bytes: 1 + wrong.count() as u32 }
}

#[cfg(test)]
mod tests {
    use super::super::block::live;
    use super::*;

    const BLOCK: Block = Block { seed: 9, offset: 65_536, length: 4096, generation: 0, live: 512 };

    /// What is said of version 5 after `damage`, when `permitted` may be there.
    fn check(permitted: &[u32], damage: impl Fn(&mut [u8]), expected: Verdict) {
        for live in [512, live(0.5), live(1.0)] {
            let block = Block { live, ..BLOCK };
            let mut bytes = rendered(&block, 5);
            damage(&mut bytes);
            let permitted = Permitted { newest: permitted[0], others: permitted[1..].to_vec() };
            assert_eq!(judge(&bytes, &block, &permitted), expected, "{permitted:?}, {live} live bytes");
        }
    }

    /// Puts the bytes of another version from `from` on.
    fn mixed(bytes: &mut [u8], from: usize, to: usize, generation: u32) {
        let live = Block::claimed(bytes).unwrap().live;
        bytes[from..to].copy_from_slice(&rendered(&Block { live, ..BLOCK }, generation)[from..to]);
    }

    fn other(bytes: &mut [u8], block: Block) {
        let live = Block::claimed(bytes).unwrap().live;
        Block { live, ..block }.write(bytes);
    }

    use Verdict::{Blank, Right, Wrong};

    #[test]
    fn a_block_is_right_in_every_version_that_may_be_there() {
        check(&[5], |_| (), Right(Some(5)));
        check(&[6, 5], |_| (), Right(Some(5)));
        check(&[0], |_| (), Right(Some(5)));
        check(&[7, 0], |_| (), Right(Some(5)));
        check(&[6], |_| (), Wrong(What::Stale, Some(5)));
        check(&[7, 6, 4], |_| (), Wrong(What::Stale, Some(5)));
        check(&[4], |_| (), Wrong(What::Ahead, Some(5)));
    }

    #[test]
    fn what_overlapped_may_be_mixed() {
        check(&[6, 5], |bytes| mixed(bytes, 1000, 2000, 6), Right(None));
        check(&[6, 4, 5], |bytes| mixed(bytes, 0, 700, 4), Right(None));
        check(&[6, 4], |bytes| mixed(bytes, 1024, 4096, 6), Wrong(What::Torn { at: 1024, then: Some(6) }, Some(5)));
        check(&[6, 0], |bytes| bytes.fill(1), Right(None));
    }

    #[test]
    fn another_block_says_whose_it_is() {
        let misdirected = |bytes: &mut [u8]| other(bytes, Block { generation: 5, offset: 4096, ..BLOCK });
        check(&[5], misdirected, Wrong(What::Misdirected { from: 4096 }, Some(5)));
        check(&[0], misdirected, Wrong(What::Misdirected { from: 4096 }, Some(5)));
        let seed = |bytes: &mut [u8]| other(bytes, Block { generation: 2, seed: 1, ..BLOCK });
        check(&[5], seed, Wrong(What::OtherSeed { seed: 1 }, Some(2)));
        check(&[0], seed, Blank(What::OtherSeed { seed: 1 }));
        check(&[5], |bytes| bytes.fill(0), Wrong(What::NeverWritten, None));
        check(&[0], |bytes| bytes.fill(0), Blank(What::NeverWritten));
        check(&[5], |bytes| bytes.fill(0xaa), Wrong(What::Foreign, None));
        check(&[0], |bytes| bytes.fill(0xaa), Blank(What::Foreign));
    }

    #[test]
    fn a_lost_write_is_told_from_a_torn_one() {
        for permitted in [[5], [0]] {
            let torn = |at, then| Wrong(What::Torn { at, then }, Some(5));
            check(&permitted, |bytes| mixed(bytes, 1536, 4096, 4), torn(1536, Some(4)));
            check(&permitted, |bytes| mixed(bytes, 2048, 4096, 1), torn(2048, Some(1)));
            check(&permitted, |bytes| bytes[1024..].fill(0x11), torn(1024, None));
            check(&permitted, |bytes| bytes[512..1024].fill(0x11), torn(512, None));
        }
        check(&[5], |bytes| mixed(bytes, 0, 512, 4), Wrong(What::Torn { at: 512, then: Some(5) }, Some(4)));
        check(&[5], |bytes| bytes[..512].fill(0), Wrong(What::Torn { at: 512, then: Some(5) }, None));
        check(&[5], |bytes| mixed(bytes, 0, 4096, 4), Wrong(What::Stale, Some(4)));
    }

    #[test]
    fn rot_is_located() {
        for permitted in [[5], [0]] {
            for at in [0, 7, 8, 16, 24, 28, 30, 33, 36, 40, 47, 48, 1000, 4095] {
                let rot = Wrong(What::Rot { at: at as u32, bytes: 1 }, Some(5));
                check(&permitted, |bytes| bytes[at] ^= 0x40, rot);
            }
            let few = |bytes: &mut [u8]| [100, 101, 600].iter().for_each(|at| bytes[*at] ^= 1);
            check(&permitted, few, Wrong(What::Rot { at: 100, bytes: 3 }, Some(5)));
        }
    }

    #[test]
    fn small_blocks_have_smaller_parts() {
        let block = Block { length: 512, ..BLOCK };
        let mut bytes = rendered(&block, 2);
        bytes[256..].copy_from_slice(&rendered(&block, 1)[256..]);
        let torn = Wrong(What::Torn { at: 256, then: Some(1) }, Some(2));
        assert_eq!(judge(&bytes, &block, &Permitted::only(2)), torn);
    }
}

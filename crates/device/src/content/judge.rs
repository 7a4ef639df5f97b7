//! Classification of the data of a block: valid, blank, or the kind of damage.

use super::block::{BlockParameters, HEADER};
use super::generations::{Permitted, UNKNOWN};
use super::mismatch::MismatchKind;

/// Unit of atomic writes of a device or the page cache, in bytes.
const SECTOR: usize = 512;

/// Versions before and after the claimed version that are tried for a damaged block.
const AROUND: u32 = 4;

/// Result of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentVerdict {
    /// Valid, with its version; `None` for a mixture of overlapping writes.
    Right(Option<u32>),
    /// Not a block of this place and seed, where the history is unknown.
    Blank(MismatchKind),
    /// Invalid, with the version of the block or of its beginning.
    Wrong(MismatchKind, Option<u32>),
}

/// Classifies `bytes` against `block` in the versions of `permitted`.
pub(super) fn judge(bytes: &[u8], block: &BlockParameters, permitted: &Permitted) -> ContentVerdict {
    let anything = permitted.contains(UNKNOWN);
    if let Some(found) =
        BlockParameters::read(bytes).filter(|found| found.length == block.length && found.matches(bytes))
    {
        return judge_block(&found, block, permitted, anything);
    }
    let several = !permitted.others.is_empty();
    if several && (anything || mixture(bytes, block, permitted)) {
        return ContentVerdict::Right(None);
    }
    match (damaged(bytes, block, permitted), anything) {
        ((kind @ (MismatchKind::NeverWritten | MismatchKind::Foreign), _), true) => ContentVerdict::Blank(kind),
        ((kind, found), _) => ContentVerdict::Wrong(kind, found),
    }
}

/// Classifies an undamaged block.
fn judge_block(
    found: &BlockParameters,
    block: &BlockParameters,
    permitted: &Permitted,
    anything: bool,
) -> ContentVerdict {
    let generation = found.generation;
    let wrong = |kind| ContentVerdict::Wrong(kind, Some(generation));
    match () {
        () if found.seed != block.seed && anything => {
            ContentVerdict::Blank(MismatchKind::OtherSeed { seed: found.seed })
        }
        () if found.seed != block.seed => wrong(MismatchKind::OtherSeed { seed: found.seed }),
        () if found.offset != block.offset => wrong(MismatchKind::Misdirected { from: found.offset }),
        () if anything || permitted.contains(generation) => ContentVerdict::Right(Some(generation)),
        () if generation > permitted.newest => wrong(MismatchKind::Ahead),
        () => wrong(MismatchKind::Stale),
    }
}

/// True if every byte belongs to a permitted version.
fn mixture(bytes: &[u8], block: &BlockParameters, permitted: &Permitted) -> bool {
    let mut left: Vec<bool> = vec![true; bytes.len()];
    for generation in permitted.all() {
        let version = rendered(block, generation);
        for ((left, found), byte) in left.iter_mut().zip(bytes).zip(&version) {
            *left &= found != byte;
        }
    }
    left.iter().all(|left| !left)
}

fn rendered(block: &BlockParameters, generation: u32) -> Vec<u8> {
    let mut bytes = vec![0; block.length as usize];
    BlockParameters { generation, ..*block }.write(&mut bytes);
    bytes
}

/// Kind of damage, and the version of the beginning.
fn damaged(bytes: &[u8], block: &BlockParameters, permitted: &Permitted) -> (MismatchKind, Option<u32>) {
    if bytes.iter().all(|byte| *byte == 0) {
        return (MismatchKind::NeverWritten, None);
    }
    let claimed = BlockParameters::claimed(bytes).map_or(UNKNOWN, |claimed| claimed.generation);
    let near = (1..=AROUND).flat_map(|far| [claimed.saturating_sub(far), claimed.saturating_add(far)]);
    let sector = SECTOR.min((bytes.len() / 4).next_multiple_of(8)).max(HEADER);
    let found = attributed(bytes, block, sector, permitted.all().chain([claimed]).chain(near));
    // The version in a damaged header may be wrong: tries all single-bit errors.
    found
        .or_else(|| attributed(bytes, block, sector, (0..u32::BITS).map(|bit| claimed ^ (1 << bit))))
        .unwrap_or((MismatchKind::Foreign, None))
}

/// Attributes sectors to versions of the block; `None` if no sector matches any.
fn attributed(
    bytes: &[u8],
    block: &BlockParameters,
    sector: usize,
    generations: impl Iterator<Item = u32>,
) -> Option<(MismatchKind, Option<u32>)> {
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
        // A single version with some wrong bytes.
        return head.map(|generation| (classify_rot(bytes, &rendered(block, generation)), head));
    };
    Some((MismatchKind::Torn { at: (other * sector) as u32, then: origins[other] }, head))
}

/// Version of the sector `at` bytes behind the start of the block, with a tolerance for a few wrong bytes; the version
/// with the fewest.
fn origin(found: &[u8], at: usize, tried: &[(u32, Vec<u8>)]) -> Option<u32> {
    let explained = |(generation, version): &(u32, Vec<u8>)| {
        let version = &version[at..at + found.len()];
        let wrong = found.iter().zip(version).filter(|(found, byte)| found != byte).count();
        // Random bytes are equal by chance with probability 1/256, so half of them right identifies a version. Headers
        // of two versions share most bytes, and differ in at least nine.
        let header = HEADER.saturating_sub(at);
        let random = version[header..].iter().filter(|byte| **byte != 0).count();
        let few = random / 2 + if header > 0 { 4 } else { 0 };
        (wrong <= few).then_some((wrong, *generation))
    };
    tried.iter().filter_map(explained).min_by_key(|(wrong, _)| *wrong).map(|(_, generation)| generation)
}

fn classify_rot(bytes: &[u8], version: &[u8]) -> MismatchKind {
    let mut wrong = bytes.iter().zip(version).enumerate().filter(|(_, (found, byte))| found != byte);
    let at = wrong.next().map_or(0, |(at, _)| at as u32);
    MismatchKind::Rot { at, bytes: 1 + wrong.count() as u32 }
}

#[cfg(test)]
mod tests {
    use super::super::block::count_random_bytes;
    use super::*;

    const BLOCK: BlockParameters = BlockParameters { seed: 9, offset: 65_536, length: 4096, generation: 0, live: 512 };

    /// Damages version 5 and compares the verdict when `permitted` versions are valid.
    fn check(permitted: &[u32], damage: impl Fn(&mut [u8]), expected: ContentVerdict) {
        for live in [512, count_random_bytes(0.5), count_random_bytes(1.0)] {
            let block = BlockParameters { live, ..BLOCK };
            let mut bytes = rendered(&block, 5);
            damage(&mut bytes);
            let permitted = Permitted { newest: permitted[0], others: permitted[1..].to_vec() };
            assert_eq!(judge(&bytes, &block, &permitted), expected, "{permitted:?}, {live} live bytes");
        }
    }

    /// Replaces a range by the bytes of another version.
    fn mixed(bytes: &mut [u8], from: usize, to: usize, generation: u32) {
        let live = BlockParameters::claimed(bytes).unwrap().live;
        bytes[from..to].copy_from_slice(&rendered(&BlockParameters { live, ..BLOCK }, generation)[from..to]);
    }

    fn other(bytes: &mut [u8], block: BlockParameters) {
        let live = BlockParameters::claimed(bytes).unwrap().live;
        BlockParameters { live, ..block }.write(bytes);
    }

    use ContentVerdict::{Blank, Right, Wrong};

    #[test]
    fn every_permitted_version_is_valid() {
        check(&[5], |_| (), Right(Some(5)));
        check(&[6, 5], |_| (), Right(Some(5)));
        check(&[0], |_| (), Right(Some(5)));
        check(&[7, 0], |_| (), Right(Some(5)));
        check(&[6], |_| (), Wrong(MismatchKind::Stale, Some(5)));
        check(&[7, 6, 4], |_| (), Wrong(MismatchKind::Stale, Some(5)));
        check(&[4], |_| (), Wrong(MismatchKind::Ahead, Some(5)));
    }

    #[test]
    fn mixture_of_overlapping_writes_is_valid() {
        check(&[6, 5], |bytes| mixed(bytes, 1000, 2000, 6), Right(None));
        check(&[6, 4, 5], |bytes| mixed(bytes, 0, 700, 4), Right(None));
        check(
            &[6, 4],
            |bytes| mixed(bytes, 1024, 4096, 6),
            Wrong(MismatchKind::Torn { at: 1024, then: Some(6) }, Some(5)),
        );
        check(&[6, 0], |bytes| bytes.fill(1), Right(None));
    }

    #[test]
    fn foreign_block_is_identified() {
        let misdirected = |bytes: &mut [u8]| other(bytes, BlockParameters { generation: 5, offset: 4096, ..BLOCK });
        check(&[5], misdirected, Wrong(MismatchKind::Misdirected { from: 4096 }, Some(5)));
        check(&[0], misdirected, Wrong(MismatchKind::Misdirected { from: 4096 }, Some(5)));
        let seed = |bytes: &mut [u8]| other(bytes, BlockParameters { generation: 2, seed: 1, ..BLOCK });
        check(&[5], seed, Wrong(MismatchKind::OtherSeed { seed: 1 }, Some(2)));
        check(&[0], seed, Blank(MismatchKind::OtherSeed { seed: 1 }));
        check(&[5], |bytes| bytes.fill(0), Wrong(MismatchKind::NeverWritten, None));
        check(&[0], |bytes| bytes.fill(0), Blank(MismatchKind::NeverWritten));
        check(&[5], |bytes| bytes.fill(0xaa), Wrong(MismatchKind::Foreign, None));
        check(&[0], |bytes| bytes.fill(0xaa), Blank(MismatchKind::Foreign));
    }

    #[test]
    fn lost_and_torn_writes_are_distinguished() {
        for permitted in [[5], [0]] {
            let torn = |at, then| Wrong(MismatchKind::Torn { at, then }, Some(5));
            check(&permitted, |bytes| mixed(bytes, 1536, 4096, 4), torn(1536, Some(4)));
            check(&permitted, |bytes| mixed(bytes, 2048, 4096, 1), torn(2048, Some(1)));
            check(&permitted, |bytes| bytes[1024..].fill(0x11), torn(1024, None));
            check(&permitted, |bytes| bytes[512..1024].fill(0x11), torn(512, None));
        }
        check(&[5], |bytes| mixed(bytes, 0, 512, 4), Wrong(MismatchKind::Torn { at: 512, then: Some(5) }, Some(4)));
        check(&[5], |bytes| bytes[..512].fill(0), Wrong(MismatchKind::Torn { at: 512, then: Some(5) }, None));
        check(&[5], |bytes| mixed(bytes, 0, 4096, 4), Wrong(MismatchKind::Stale, Some(4)));
    }

    #[test]
    fn rot_is_located() {
        for permitted in [[5], [0]] {
            for at in [0, 7, 8, 16, 24, 28, 30, 33, 36, 40, 47, 48, 1000, 4095] {
                let rot = Wrong(MismatchKind::Rot { at: at as u32, bytes: 1 }, Some(5));
                check(&permitted, |bytes| bytes[at] ^= 0x40, rot);
            }
            let few = |bytes: &mut [u8]| [100, 101, 600].iter().for_each(|at| bytes[*at] ^= 1);
            check(&permitted, few, Wrong(MismatchKind::Rot { at: 100, bytes: 3 }, Some(5)));
        }
    }

    #[test]
    fn small_blocks_have_smaller_parts() {
        let block = BlockParameters { length: 512, ..BLOCK };
        let mut bytes = rendered(&block, 2);
        bytes[256..].copy_from_slice(&rendered(&block, 1)[256..]);
        let torn = Wrong(MismatchKind::Torn { at: 256, then: Some(1) }, Some(2));
        assert_eq!(judge(&bytes, &block, &Permitted::only(2)), torn);
    }
}

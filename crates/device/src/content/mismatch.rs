//! Mismatches of verified reads: the first are kept with their place, all are counted.

use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Maximum number of mismatches kept; later ones are only counted.
const MAX_RETAINED: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MismatchKind {
    /// All zeros: never written, or lost.
    NeverWritten,
    /// Not a block written by plimsoll.
    Foreign,
    /// Written by a run with another seed.
    OtherSeed { seed: u64 },
    /// The block of another place.
    Misdirected {
        /// Its proper byte offset.
        from: u64,
    },
    /// An intact old version although a later write was acknowledged.
    Stale,
    /// An intact version later than all known writes.
    Ahead,
    /// Begins with a version and continues with another, or with unknown data.
    Torn {
        /// Bytes before the first change of version.
        at: u32,
        /// The version that follows; `None` if unknown.
        then: Option<u32>,
    },
    /// Single wrong bytes.
    Rot {
        /// Position of the first wrong byte.
        at: u32,
        /// Number of wrong bytes.
        bytes: u32,
    },
}

/// A block with unexpected content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Byte offset in the target.
    pub offset: u64,
    /// Length in bytes.
    pub length: u32,
    pub kind: MismatchKind,
    /// Latest permitted version of this place, counted from 1; `None` if unknown.
    pub expected: Option<u32>,
    /// Version found, or version of the beginning of the block; `None` if there is none.
    pub found: Option<u32>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes at {}: ", self.length, self.offset)?;
        match self.kind {
            MismatchKind::NeverWritten => write!(f, "zeroes")?,
            MismatchKind::Foreign => write!(f, "not written by plimsoll")?,
            MismatchKind::OtherSeed { seed } => write!(f, "written by a run with the seed {seed}")?,
            MismatchKind::Misdirected { from } => write!(f, "the block of {from}, misdirected")?,
            MismatchKind::Stale => write!(f, "stale version, a later write was lost")?,
            MismatchKind::Ahead => write!(f, "version later than any known write")?,
            MismatchKind::Torn { at, then: Some(then) } => write!(f, "torn: version {then} from byte {at} on")?,
            MismatchKind::Torn { at, then: None } => write!(f, "torn: unknown data from byte {at} on")?,
            MismatchKind::Rot { at, bytes: 1 } => write!(f, "byte {at} is wrong")?,
            MismatchKind::Rot { at, bytes } => write!(f, "{bytes} bytes are wrong, the first is byte {at}")?,
        }
        match (self.expected, self.found) {
            (Some(expected), Some(found)) => write!(f, " (expected version {expected}, found {found})"),
            (Some(expected), None) => write!(f, " (expected version {expected})"),
            (None, Some(found)) => write!(f, " (found version {found})"),
            (None, None) => Ok(()),
        }
    }
}

/// Mismatches so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mismatches {
    /// The first mismatches, without duplicates.
    pub first: Vec<Mismatch>,
    /// Number of mismatches; repeated reads of a block count again.
    pub total: u64,
}

/// List of mismatches that several loops share.
#[derive(Debug, Default)]
pub(super) struct Collected(Mutex<Mismatches>);

impl Collected {
    pub(super) fn add(&self, mismatch: Mismatch) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.total += 1;
        if all.first.len() < MAX_RETAINED && !all.first.contains(&mismatch) {
            all.first.push(mismatch);
        }
    }

    pub(super) fn so_far(&self) -> Mismatches {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_are_kept_and_all_are_counted() {
        let collected = Collected::default();
        let mismatch =
            |offset| Mismatch { offset, length: 512, kind: MismatchKind::Stale, expected: Some(2), found: Some(1) };
        for offset in 0..1000 {
            collected.add(mismatch(offset / 2));
        }
        let Mismatches { first, total } = collected.so_far();
        assert_eq!((first.len(), total), (MAX_RETAINED, 1000));
        assert_eq!(first[MAX_RETAINED - 1], mismatch(MAX_RETAINED as u64 - 1));
    }

    #[test]
    fn mismatch_text() {
        let check = |kind, expected, found, expected_text: &str| {
            let mismatch = Mismatch { offset: 8192, length: 4096, kind, expected, found };
            assert_eq!(mismatch.to_string(), format!("4096 bytes at 8192: {expected_text}"));
        };
        check(MismatchKind::NeverWritten, Some(3), None, "zeroes (expected version 3)");
        check(MismatchKind::Foreign, None, None, "not written by plimsoll");
        check(MismatchKind::OtherSeed { seed: 5 }, None, Some(1), "written by a run with the seed 5 (found version 1)");
        check(MismatchKind::Misdirected { from: 0 }, None, Some(1), "the block of 0, misdirected (found version 1)");
        check(
            MismatchKind::Stale,
            Some(2),
            Some(1),
            "stale version, a later write was lost (expected version 2, found 1)",
        );
        check(
            MismatchKind::Ahead,
            Some(2),
            Some(3),
            "version later than any known write (expected version 2, found 3)",
        );
        let torn = |then| MismatchKind::Torn { at: 512, then };
        check(torn(Some(1)), None, Some(2), "torn: version 1 from byte 512 on (found version 2)");
        check(torn(None), None, Some(2), "torn: unknown data from byte 512 on (found version 2)");
        check(MismatchKind::Rot { at: 7, bytes: 1 }, None, Some(2), "byte 7 is wrong (found version 2)");
        check(
            MismatchKind::Rot { at: 7, bytes: 9 },
            None,
            Some(2),
            "9 bytes are wrong, the first is byte 7 (found version 2)",
        );
    }
}

//! What was read and should not have been: each with its place, and all of them counted.

use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Mismatches that are kept; those after them are only counted.
const KEPT_MAX: usize = 256;

/// What is wrong with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// All of it is zeroes: it was never written, or what was written is gone.
    NeverWritten,
    /// It is no block of plimsoll's.
    Foreign,
    /// It was written by runs with another seed.
    OtherSeed {
        /// Their seed.
        seed: u64,
    },
    /// It is the block of another place.
    Misdirected {
        /// Where it belongs.
        from: u64,
    },
    /// It is whole, but a later write was acknowledged: that one was lost.
    Stale,
    /// It is whole, and later than every write that is known of.
    Ahead,
    /// It begins with one write, and goes on with another or with something else.
    Torn {
        /// Bytes before the first one of another origin.
        at: u32,
        /// The write that it goes on with; `None` when it is none that is known of.
        then: Option<u32>,
    },
    /// Single bytes are not what was written.
    Rot {
        /// Bytes before the first of them.
        at: u32,
        /// How many there are.
        bytes: u32,
    },
}

/// A block that is not what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Where it begins, in bytes from the start of the target.
    pub offset: u64,
    /// Its bytes.
    pub length: u32,
    /// What is wrong with it.
    pub what: What,
    /// The latest write that may have been there, counted for this place from 1 on; `None` when that is not known.
    pub expected: Option<u32>,
    /// The write that was there, or that the block begins with; `None` when there was none.
    pub found: Option<u32>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes at {}: ", self.length, self.offset)?;
        match self.what {
            What::NeverWritten => write!(f, "zeroes")?,
            What::Foreign => write!(f, "something that plimsoll did not write")?,
            What::OtherSeed { seed } => write!(f, "written by a run with the seed {seed}")?,
            What::Misdirected { from } => write!(f, "the block of {from}, misdirected")?,
            What::Stale => write!(f, "an old version, a later write was lost")?,
            What::Ahead => write!(f, "a later version than any that is known of")?,
            What::Torn { at, then: Some(then) } => write!(f, "torn: version {then} from byte {at} on")?,
            What::Torn { at, then: None } => write!(f, "torn: something else from byte {at} on")?,
            What::Rot { at, bytes: 1 } => write!(f, "byte {at} is wrong")?,
            What::Rot { at, bytes } => write!(f, "{bytes} bytes are wrong, the first is byte {at}")?,
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
    /// The first of them, one for each block and kind.
    pub first: Vec<Mismatch>,
    /// How many there were: a block that is read again counts again.
    pub total: u64,
}

/// A list of mismatches that loops share.
#[derive(Debug, Default)]
pub(super) struct Collected(Mutex<Mismatches>);

impl Collected {
    pub(super) fn add(&self, mismatch: Mismatch) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.total += 1;
        if all.first.len() < KEPT_MAX && !all.first.contains(&mismatch) {
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
        let mismatch = |offset| Mismatch { offset, length: 512, what: What::Stale, expected: Some(2), found: Some(1) };
        for offset in 0..1000 {
            collected.add(mismatch(offset / 2));
        }
        let Mismatches { first, total } = collected.so_far();
        assert_eq!((first.len(), total), (KEPT_MAX, 1000));
        assert_eq!(first[KEPT_MAX - 1], mismatch(KEPT_MAX as u64 - 1));
    }

    #[test]
    fn a_mismatch_is_one_sentence() {
        let check = |what, expected, found, said: &str| {
            let mismatch = Mismatch { offset: 8192, length: 4096, what, expected, found };
            assert_eq!(mismatch.to_string(), format!("4096 bytes at 8192: {said}"));
        };
        check(What::NeverWritten, Some(3), None, "zeroes (expected version 3)");
        check(What::Foreign, None, None, "something that plimsoll did not write");
        check(What::OtherSeed { seed: 5 }, None, Some(1), "written by a run with the seed 5 (found version 1)");
        check(What::Misdirected { from: 0 }, None, Some(1), "the block of 0, misdirected (found version 1)");
        check(What::Stale, Some(2), Some(1), "an old version, a later write was lost (expected version 2, found 1)");
        check(What::Ahead, Some(2), Some(3), "a later version than any that is known of (expected version 2, found 3)");
        let torn = |then| What::Torn { at: 512, then };
        check(torn(Some(1)), None, Some(2), "torn: version 1 from byte 512 on (found version 2)");
        check(torn(None), None, Some(2), "torn: something else from byte 512 on (found version 2)");
        check(What::Rot { at: 7, bytes: 1 }, None, Some(2), "byte 7 is wrong (found version 2)");
        check(What::Rot { at: 7, bytes: 9 }, None, Some(2), "9 bytes are wrong, the first is byte 7 (found version 2)");
    }
}

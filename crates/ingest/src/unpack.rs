//! Compressed inputs: gzip, and the members of a zip archive, unpacked as they stream by.
//!
//! Neither trusts a length that it was told: what counts is how much came out of how much went in.

mod gunzip;
mod unzip;

pub(crate) use gunzip::{Ending, Gunzip};
pub(crate) use unzip::{Archive, Members};

use plimsoll_units::Bytes;

use crate::refusal::Refusal;

/// Bytes that are unpacked at a time: at most a thousand times as many come out.
pub(crate) const PIECE: usize = 4 << 10;

/// What was unpacked so far, against bombs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meter {
    pub(crate) packed: u64,
    pub(crate) unpacked: u64,
}

impl Meter {
    /// The most bytes that are read of one input.
    pub(crate) const LARGEST: u64 = 16 << 30;
    /// Real reports shrink to a hundredth at best; the format of gzip and zip ends at 1,032.
    const RATIO: u64 = 250;
    /// Up to here no ratio is suspicious.
    const HARMLESS: u64 = 16 << 20;

    /// Counts, and refuses what cannot be a report.
    pub(crate) fn add(&mut self, packed: usize, unpacked: usize) -> Result<(), Refusal> {
        self.packed = self.packed.saturating_add(packed as u64);
        self.unpacked = self.unpacked.saturating_add(unpacked as u64);
        if self.unpacked > Self::LARGEST {
            return Err(Refusal::TooLarge { limit: Bytes::new(Self::LARGEST) });
        }
        if self.unpacked > Self::HARMLESS && self.unpacked / Self::RATIO > self.packed {
            return Err(Refusal::Bomb { ratio: Self::RATIO });
        }
        Ok(())
    }
}

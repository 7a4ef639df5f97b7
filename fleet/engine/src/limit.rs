//! Limits of a volume as integers.

use serde::{Deserialize, Serialize};

/// Maximum limits of a volume that have credits.
pub const MAX_CREDIT_LIMITS: usize = 4;
/// Maximum levels of a volume.
pub const MAX_LEVELS: usize = 16;

/// Operations that a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kinds {
    /// Reads and writes.
    All,
    /// Reads only.
    Read,
    /// Writes only.
    Write,
}

/// Quantity of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Counts {
    /// Operations; one of `unit_bytes` or less counts once, a larger one once for each unit begun. 0: always once.
    Operations {
        /// Size of a unit.
        unit_bytes: i64,
    },
    /// Bytes.
    Bytes,
}

/// A limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReplayLimit {
    /// Operations that it counts.
    pub kinds: Kinds,
    /// The quantity.
    pub counts: Counts,
    /// Thousandths of the quantity per second, positive.
    pub rate_milli: i64,
    /// Thousandths of the quantity in full credits: the limit does not apply while they last, and its rate refills them.
    pub credits_milli: Option<i64>,
}

impl ReplayLimit {
    /// Thousandths of the quantity in `demand`, which is `[reads, writes, read bytes, written bytes]`.
    pub(crate) fn takes_milli(&self, demand: [i64; 4]) -> i64 {
        let [reads, writes, read_bytes, write_bytes] = demand;
        let of = |operations: i64, bytes: i64| match self.counts {
            Counts::Bytes => bytes,
            Counts::Operations { unit_bytes: 0 } => operations,
            // The most frequent case, without a division.
            Counts::Operations { unit_bytes } if bytes <= unit_bytes.saturating_mul(operations) => operations,
            Counts::Operations { unit_bytes } => {
                // Operations of their mean size.
                let units = if operations > 0 { bytes / operations / unit_bytes } else { 0 };
                let exact = operations > 0 && units > 0 && bytes == units * unit_bytes * operations;
                operations.saturating_mul(if exact { units } else { units + 1 })
            }
        };
        let taken = match self.kinds {
            Kinds::All => of(reads, read_bytes).saturating_add(of(writes, write_bytes)),
            Kinds::Read => of(reads, read_bytes),
            Kinds::Write => of(writes, write_bytes),
        };
        taken.saturating_mul(1_000)
    }
}

/// Limits of a volume at each of its levels, the lowest first. A volume of a single level has no autotuning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LevelLimits {
    /// Limits by level, at most [`MAX_LEVELS`]; a volume without levels has no limits.
    pub levels: Vec<Vec<ReplayLimit>>,
    /// When the level changes.
    pub waits: LevelWaits,
}

/// Times before changes of a level, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LevelWaits {
    /// Delays before a step up; the resolution of the levels' replay.
    pub up_after_s: i64,
    /// Time that the next lower level would have carried, before the first step down.
    pub down_first_s: i64,
    /// The same before each further step down.
    pub down_next_s: i64,
}

impl LevelLimits {
    /// Limits that do not change.
    pub fn fixed(limits: Vec<ReplayLimit>) -> Self {
        Self { levels: vec![limits], waits: LevelWaits::default() }
    }

    /// Limits at a level.
    pub(crate) fn at(&self, level: usize) -> &[ReplayLimit] {
        self.levels.get(level).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_operations_count_once_for_each_unit() {
        let limit = |kinds, unit_bytes| ReplayLimit {
            kinds,
            counts: Counts::Operations { unit_bytes },
            rate_milli: 1,
            credits_milli: None,
        };
        let demand = [10, 4, 10 * 16_384, 4 * 1_048_576];
        let table = [
            (Kinds::All, 0, 14_000),
            (Kinds::All, 262_144, 26_000),
            (Kinds::Write, 262_144, 16_000),
            (Kinds::Read, 16_384, 10_000),
            (Kinds::Read, 16_383, 20_000),
        ];
        for (kinds, unit, expected) in table {
            assert_eq!(limit(kinds, unit).takes_milli(demand), expected, "{kinds:?} {unit}");
        }
        assert_eq!(limit(Kinds::All, 4_096).takes_milli([0, 0, 0, 0]), 0);
    }
}

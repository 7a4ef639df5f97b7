//! The states of all volumes of a bucket.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::limit::{LevelLimits, LevelWaits};
use crate::state::{Point, TimeReversed, VolumeState};

/// Limits of volumes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rules {
    /// Distinct sets of limits.
    pub sets: Vec<LevelLimits>,
    /// Index in [`Rules::sets`] by number of the volume, plus one; 0 or absent: no limits.
    pub of_volume: Vec<u32>,
}

impl Rules {
    /// Limits of a volume; without levels if it has none.
    pub fn limits(&self, volume: u32) -> &LevelLimits {
        let index = self.of_volume.get(volume as usize).copied().unwrap_or(0);
        index.checked_sub(1).and_then(|index| self.sets.get(index as usize)).unwrap_or(&NO_LIMITS)
    }
}

static NO_LIMITS: LevelLimits =
    LevelLimits { levels: Vec::new(), waits: LevelWaits { up_after_s: 0, down_first_s: 0, down_next_s: 0 } };

/// A column of a metric.
#[derive(Clone, Copy)]
pub struct MetricColumn<'a> {
    /// Its values.
    pub values: &'a [i64],
    /// Whether each value is present; `None` if all are.
    pub is_present: Option<&'a dyn Fn(usize) -> bool>,
}

impl MetricColumn<'_> {
    #[inline]
    fn at(&self, row: usize) -> Option<i64> {
        self.is_present.is_none_or(|is_present| is_present(row)).then(|| self.values[row])
    }
}

/// Points as columns of the same length.
pub struct PointSlices<'a> {
    /// Number of the volume.
    pub volume: &'a [u32],
    /// Begin, seconds since 1970.
    pub at: &'a [i64],
    /// Length in seconds.
    pub period: &'a [i64],
    /// Reads, writes, read bytes, written bytes.
    pub demand: [MetricColumn<'a>; 4],
    /// Checks of the provider, of operations and of bytes: above zero if exceeded.
    pub exceeded: [MetricColumn<'a>; 2],
}

/// The states of a bucket.
#[derive(Debug, Default)]
pub struct Bucket {
    states: Vec<VolumeState>,
    index: HashMap<u32, usize>,
    /// The state of the last point.
    current: usize,
}

impl Bucket {
    /// A bucket that goes on from these states.
    pub fn resume(states: Vec<VolumeState>) -> Self {
        let index = states.iter().enumerate().map(|(index, state)| (state.volume, index)).collect();
        Self { states, index, current: 0 }
    }

    /// Takes points, volume by volume or time by time.
    pub fn push(&mut self, rules: &Rules, columns: &PointSlices<'_>) -> Result<(), TimeReversed> {
        for (row, volume) in columns.volume.iter().enumerate() {
            self.select(*volume);
            // Without `map`, which is not inlined here.
            let [reads, writes, read, written] = &columns.demand;
            let [reads, writes, read, written] = [reads.at(row), writes.at(row), read.at(row), written.at(row)];
            let has_bytes = read.is_some() && written.is_some();
            let operations = reads.zip(writes);
            let demand = operations.map(|(reads, writes)| [reads, writes, read.unwrap_or(0), written.unwrap_or(0)]);
            let checks = [columns.exceeded[0].at(row), columns.exceeded[1].at(row)];
            let exceeded = checks.iter().flatten().map(|check| *check > 0).reduce(|a, b| a || b);
            let (at, period) = (columns.at[row], columns.period[row]);
            let point = Point { at, period, demand, has_bytes, exceeded };
            self.states[self.current].step(rules.limits(*volume), &point)?;
        }
        Ok(())
    }

    /// Makes the state of a volume the current one. The next state is tried first: right for both orders of rows.
    fn select(&mut self, volume: u32) {
        let is = |index: usize| self.states.get(index).is_some_and(|state| state.volume == volume);
        if is(self.current) {
            return;
        }
        let next = if self.current + 1 < self.states.len() { self.current + 1 } else { 0 };
        if is(next) {
            self.current = next;
            return;
        }
        self.current = *self.index.entry(volume).or_insert_with(|| {
            self.states.push(VolumeState::new(volume));
            self.states.len() - 1
        });
    }

    /// All states, by number of the volume.
    pub fn into_states(mut self) -> Vec<VolumeState> {
        self.states.sort_unstable_by_key(|state| state.volume);
        self.states
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::{Counts, Kinds, ReplayLimit};

    type Row = (u32, i64, i64);

    fn replay(bucket: &mut Bucket, rows: &[Row]) {
        let limit = |rate_milli| ReplayLimit {
            kinds: Kinds::All,
            counts: Counts::Operations { unit_bytes: 262_144 },
            rate_milli,
            credits_milli: Some(1_000_000),
        };
        let rules = Rules {
            sets: [20_000, 90_000].map(|rate| LevelLimits::fixed(vec![limit(rate)])).to_vec(),
            of_volume: vec![1, 2, 0, 2],
        };
        let volume: Vec<u32> = rows.iter().map(|row| row.0).collect();
        let at: Vec<i64> = rows.iter().map(|row| row.1).collect();
        let reads: Vec<i64> = rows.iter().map(|row| row.2).collect();
        let (period, zero) = (vec![60; rows.len()], vec![0; rows.len()]);
        let bytes: Vec<i64> = reads.iter().map(|reads| reads * 8_192).collect();
        let is_checked = |row: usize| at[row] % 120 == 0;
        let columns = PointSlices {
            volume: &volume,
            at: &at,
            period: &period,
            demand: [&reads, &zero, &bytes, &zero].map(|values| MetricColumn { values, is_present: None }),
            exceeded: [MetricColumn { values: &zero, is_present: Some(&is_checked) }; 2],
        };
        bucket.push(&rules, &columns).unwrap();
    }

    fn rows() -> Vec<Row> {
        (0..5)
            .flat_map(|volume| (0..100).map(move |n| (volume, n * 60, (n * 7_919 + i64::from(volume)) % 6_000)))
            .collect()
    }

    #[test]
    fn the_order_of_rows_does_not_matter() {
        let by_volume = rows();
        let mut by_time = by_volume.clone();
        by_time.sort_by_key(|row| row.1);
        let [one, other] = [by_volume, by_time].map(|rows| {
            let mut bucket = Bucket::default();
            replay(&mut bucket, &rows);
            bucket.into_states()
        });
        assert_eq!(one, other);
        assert_eq!((one.len(), one[0].points), (5, 100));
        assert!(one[0].throttled_seconds > 0 && one[2].throttled_seconds == 0);
    }

    #[test]
    fn a_replay_in_parts_ends_in_the_same_states() {
        let mut rows = rows();
        rows.sort_by_key(|row| row.1);
        let mut single = Bucket::default();
        replay(&mut single, &rows);
        let mut first = Bucket::default();
        replay(&mut first, &rows[..200]);
        let bytes: Vec<Vec<u8>> = first.into_states().iter().map(VolumeState::to_bytes).collect();
        let states = bytes.iter().map(|bytes| VolumeState::from_bytes(bytes).unwrap()).collect();
        let mut second = Bucket::resume(states);
        replay(&mut second, &rows[200..]);
        assert_eq!(single.into_states(), second.into_states());
    }
}

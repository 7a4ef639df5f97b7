//! Replay of points in the order of their volumes, with the state of a single volume in memory.

use crate::limit::LevelLimits;
use crate::state::{Point, TimeReversed, VolumeState};

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

/// A volume whose points follow, with its state before them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayedVolume {
    /// Its state.
    pub state: VolumeState,
    /// Its limits.
    pub limits: LevelLimits,
}

/// A replay of points volume by volume.
#[derive(Debug, Default)]
pub struct VolumeReplay {
    current: Option<ReplayedVolume>,
}

impl VolumeReplay {
    /// Takes points. Wherever the volume changes, `exchange` gets the number of the next volume and the state of the
    /// previous one, and returns the next volume.
    pub fn push<E: From<TimeReversed>>(
        &mut self,
        columns: &PointSlices<'_>,
        exchange: &mut dyn FnMut(u32, Option<VolumeState>) -> Result<ReplayedVolume, E>,
    ) -> Result<(), E> {
        for (row, volume) in columns.volume.iter().enumerate() {
            let current = match &mut self.current {
                Some(current) if current.state.volume == *volume => current,
                current => {
                    let previous = current.take().map(|previous| previous.state);
                    current.insert(exchange(*volume, previous)?)
                }
            };
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
            current.state.step(&current.limits, &point)?;
        }
        Ok(())
    }

    /// The state of the last volume.
    pub fn finish(self) -> Option<VolumeState> {
        self.current.map(|last| last.state)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::limit::{Counts, Kinds, ReplayLimit};

    type Row = (u32, i64, i64);

    fn limits_of(volume: u32) -> LevelLimits {
        let rates = [20_000, 90_000, 0, 90_000];
        let Some(rate_milli) = rates.get(volume as usize).copied().filter(|rate| *rate > 0) else {
            return LevelLimits::default();
        };
        let counts = Counts::Operations { unit_bytes: 262_144 };
        LevelLimits::fixed(vec![ReplayLimit { kinds: Kinds::All, counts, rate_milli, credits_milli: Some(1_000_000) }])
    }

    fn replay(states: &mut BTreeMap<u32, VolumeState>, rows: &[Row]) {
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
        let mut replay = VolumeReplay::default();
        let mut exchange = |next: u32, previous: Option<VolumeState>| -> Result<ReplayedVolume, TimeReversed> {
            states.extend(previous.map(|state| (state.volume, state)));
            let state = states.remove(&next).unwrap_or_else(|| VolumeState::new(next));
            Ok(ReplayedVolume { state, limits: limits_of(next) })
        };
        replay.push(&columns, &mut exchange).unwrap();
        states.extend(replay.finish().map(|state| (state.volume, state)));
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
            let mut states = BTreeMap::new();
            replay(&mut states, &rows);
            states
        });
        assert_eq!(one, other);
        assert_eq!((one.len(), one[&0].points), (5, 100));
        assert!(one[&0].throttled_seconds > 0 && one[&2].throttled_seconds == 0);
    }

    #[test]
    fn a_replay_in_parts_ends_in_the_same_states() {
        let mut rows = rows();
        rows.sort_by_key(|row| row.1);
        let mut single = BTreeMap::new();
        replay(&mut single, &rows);
        let mut parts = BTreeMap::new();
        replay(&mut parts, &rows[..200]);
        for state in parts.values_mut() {
            *state = VolumeState::from_bytes(&state.to_bytes()).unwrap();
        }
        replay(&mut parts, &rows[200..]);
        assert_eq!(single, parts);
    }
}

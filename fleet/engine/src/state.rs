//! The state of a volume: limits as a fluid, credits, backlog, and usage so far.
//!
//! The demand of a point is even over its period. What the limits do not serve waits and joins the next point.

use thiserror::Error;

use crate::histogram::Histogram;
use crate::limit::{LevelLimits, MAX_CREDIT_LIMITS, MAX_LEVELS, ReplayLimit};

/// Reads, writes, read bytes, written bytes of a period.
pub type PointDemand = [i64; 4];

/// A point of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Begin, seconds since 1970 in UTC.
    pub at: i64,
    /// Length in seconds, positive.
    pub period: i64,
    /// `None` if the metrics lack its operations.
    pub demand: Option<PointDemand>,
    /// False if the metrics lack a part of its bytes, which then count as zero.
    pub has_bytes: bool,
    /// Whether the provider's check says that a limit was exceeded; `None` without a check.
    pub exceeded: Option<bool>,
}

/// A point that is not later than its predecessor: a volume's points are out of order or in two partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "volume {volume} goes back in time: a point at {at} s follows one that ends at {end} s; read each volume's files in \
     one partition and in the order of time"
)]
pub struct TimeReversed {
    /// Number of the volume.
    pub volume: u32,
    /// Begin of the point.
    pub at: i64,
    /// End of the point before.
    pub end: i64,
}

/// Bytes that are no state of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the state of a volume is damaged or of another version: remove the states to replay from the first month")]
pub struct DamagedState;

/// The demand of the busiest point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusiestPoint {
    /// Thousandths of operations, or bytes, per second.
    pub rate: i64,
    /// Begin of the point.
    pub at: i64,
    /// Its length in seconds.
    pub period: i64,
    /// Its demand.
    pub demand: PointDemand,
}

/// The state of a volume after its points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeState {
    /// Number of the volume.
    pub volume: u32,
    /// End of the last point; `i64::MIN` before the first.
    pub end: i64,
    /// Number of points.
    pub points: i64,
    /// Points without a demand.
    pub unknown_points: i64,
    /// Points with operations whose bytes are unknown.
    pub points_without_bytes: i64,
    /// Seconds of points with a demand.
    pub seconds: i64,
    /// Total demand.
    pub total: PointDemand,
    /// Points with a check of the provider.
    pub checked_points: i64,
    /// Points in which the check says that a limit was exceeded.
    pub exceeded_points: i64,
    /// Seconds of points that use at least [`PINNED_PERCENT`] of a limit.
    pub pinned_seconds: i64,
    /// Seconds of points at whose end operations wait for a limit.
    pub throttled_seconds: i64,
    /// Operations that arrived in those points.
    pub delayed_operations: i64,
    /// Longest wait at the end of a point in milliseconds.
    pub longest_wait_ms: i64,
    /// Lowest credits of any limit, in thousandths of full credits; 1,000 without credits.
    pub lowest_credits_milli: i64,
    /// The point with the highest rate of operations.
    pub operations_peak: BusiestPoint,
    /// The point with the highest rate of bytes.
    pub bytes_peak: BusiestPoint,
    /// Seconds at each level, times without points included.
    pub level_seconds: [i64; MAX_LEVELS],
    /// Changes of the level.
    pub level_changes: i64,
    /// Time by thousandths of operations per second.
    pub operations: Histogram,
    /// Time by bytes per second.
    pub bytes: Histogram,
    backlog: PointDemand,
    /// Used credits of the limits with credits, in their order.
    used_credits_milli: [i64; MAX_CREDIT_LIMITS],
    autotune: Autotune,
}

/// The level of a volume: rules 1 to 4 of the emulated volume's autotuning (`plimsoll-volume`), in whole seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Autotune {
    level: i64,
    /// Seconds of uninterrupted delays.
    throttled_for: i64,
    /// Seconds that the next lower level would have carried.
    idle_for: i64,
    /// 1 if the last change was a step down.
    descends: i64,
}

/// Utilisation of a limit from which a point counts as at its limit.
pub const PINNED_PERCENT: i64 = 98;
/// Version of [`VolumeState::to_bytes`].
const VERSION: i64 = 2;

impl VolumeState {
    /// The state before the first point: no backlog, full credits.
    pub fn new(volume: u32) -> Self {
        Self {
            volume,
            end: i64::MIN,
            points: 0,
            unknown_points: 0,
            points_without_bytes: 0,
            seconds: 0,
            total: [0; 4],
            checked_points: 0,
            exceeded_points: 0,
            pinned_seconds: 0,
            throttled_seconds: 0,
            delayed_operations: 0,
            longest_wait_ms: 0,
            lowest_credits_milli: 1_000,
            level_seconds: [0; MAX_LEVELS],
            level_changes: 0,
            operations_peak: BusiestPoint::default(),
            bytes_peak: BusiestPoint::default(),
            operations: Histogram::default(),
            bytes: Histogram::default(),
            backlog: [0; 4],
            used_credits_milli: [0; MAX_CREDIT_LIMITS],
            autotune: Autotune::default(),
        }
    }

    /// Takes a point.
    pub fn step(&mut self, limits: &LevelLimits, point: &Point) -> Result<(), TimeReversed> {
        if point.at < self.end || point.period <= 0 {
            return Err(TimeReversed { volume: self.volume, at: point.at, end: self.end });
        }
        if self.points > 0 && point.at > self.end {
            self.serve_levels(limits, [0; 4], point.at - self.end);
        }
        self.end = point.at + point.period;
        self.points += 1;
        if let Some(exceeded) = point.exceeded {
            self.checked_points += 1;
            self.exceeded_points += i64::from(exceeded);
        }
        let Some(demand) = point.demand else {
            self.unknown_points += 1;
            self.serve_levels(limits, [0; 4], point.period);
            return Ok(());
        };
        self.points_without_bytes += i64::from(!point.has_bytes);
        self.count(point, demand);
        let served = self.serve_levels(limits, demand, point.period);
        self.pinned_seconds += served.pinned_seconds;
        if served.is_waiting {
            self.throttled_seconds += point.period;
            self.delayed_operations += demand[0] + demand[1];
            let limits = limits.at(self.autotune.level as usize);
            let waits =
                limits.iter().map(|limit| limit.takes_milli(self.backlog).saturating_mul(1_000) / limit.rate_milli);
            self.longest_wait_ms = self.longest_wait_ms.max(waits.max().unwrap_or(0));
        }
        Ok(())
    }

    fn count(&mut self, point: &Point, demand: PointDemand) {
        self.seconds += point.period;
        for (total, part) in self.total.iter_mut().zip(demand) {
            *total = total.saturating_add(part);
        }
        let operations = (demand[0] + demand[1]).saturating_mul(1_000) / point.period;
        let bytes = (demand[2] + demand[3]) / point.period;
        let seconds = u32::try_from(point.period).unwrap_or(u32::MAX);
        self.operations.add(operations, seconds);
        self.bytes.add(bytes, seconds);
        for (peak, rate) in [(&mut self.operations_peak, operations), (&mut self.bytes_peak, bytes)] {
            if rate > peak.rate {
                *peak = BusiestPoint { rate, at: point.at, period: point.period, demand };
            }
        }
    }

    /// Serves the backlog and a new demand for `seconds`, in ticks between which the level may change.
    fn serve_levels(&mut self, limits: &LevelLimits, demand: PointDemand, seconds: i64) -> Served {
        if limits.levels.len() < 2 {
            self.level_seconds[0] += seconds;
            return self.serve(limits.at(0), demand, seconds);
        }
        let tick = limits.waits.up_after_s.max(1);
        let (mut done, mut total) = (0, Served::default());
        while done < seconds {
            let is_at_rest = self.autotune.level == 0 && demand == [0; 4] && self.backlog == [0; 4];
            let length = if is_at_rest { seconds - done } else { tick.min(seconds - done) };
            // Shares of the demand whose sum is exact.
            let until =
                |time: i64| demand.map(|part| (i128::from(part) * i128::from(time) / i128::from(seconds)) as i64);
            let (before, after) = (until(done), until(done + length));
            let mut part = after;
            for (part, before) in part.iter_mut().zip(before) {
                *part -= before;
            }
            let level = self.autotune.level as usize;
            self.level_seconds[level.min(MAX_LEVELS - 1)] += length;
            let served = self.serve(limits.at(level), part, length);
            total.pinned_seconds += served.pinned_seconds;
            total.is_waiting = served.is_waiting;
            self.change_level(limits, part, length);
            done += length;
        }
        total
    }

    /// Changes the level after a tick with this new demand.
    fn change_level(&mut self, limits: &LevelLimits, demand: PointDemand, seconds: i64) {
        let highest = limits.levels.len().min(MAX_LEVELS) as i64 - 1;
        let (waits, is_delayed) = (limits.waits, self.backlog != [0; 4]);
        let autotune = &mut self.autotune;
        if is_delayed {
            (autotune.idle_for, autotune.descends) = (0, 0);
            autotune.throttled_for += seconds;
            if autotune.throttled_for >= waits.up_after_s {
                autotune.throttled_for = 0;
                self.level_changes += i64::from(autotune.level < highest);
                autotune.level = (autotune.level + 1).min(highest);
            }
            return;
        }
        autotune.throttled_for = 0;
        let Some(below) = autotune.level.checked_sub(1).filter(|below| *below >= 0) else {
            autotune.idle_for = 0;
            return;
        };
        let carries = |limit: &ReplayLimit| limit.takes_milli(demand) <= limit.rate_milli.saturating_mul(seconds);
        if !limits.at(below as usize).iter().all(carries) {
            (autotune.idle_for, autotune.descends) = (0, 0);
            return;
        }
        autotune.idle_for += seconds;
        let wait = if autotune.descends > 0 { waits.down_next_s } else { waits.down_first_s };
        if autotune.idle_for >= wait {
            (autotune.level, autotune.idle_for, autotune.descends) = (below, 0, 1);
            self.level_changes += 1;
        }
    }

    /// Serves the backlog and a new demand for `seconds`.
    fn serve(&mut self, limits: &[ReplayLimit], demand: PointDemand, seconds: i64) -> Served {
        let mut offered = demand;
        for (part, waiting) in offered.iter_mut().zip(self.backlog) {
            *part += waiting;
        }
        let (mut share, mut pinned, mut with_credits) = (Share { of: 1, total: 1 }, false, 0);
        for limit in limits {
            let taken = limit.takes_milli(offered);
            let mut allowed = limit.rate_milli.saturating_mul(seconds);
            if let Some(credits) = limit.credits_milli {
                allowed = allowed.saturating_add(credits - self.used_credits_milli[with_credits]);
                with_credits += 1;
            }
            pinned |= taken > 0 && taken / PINNED_PERCENT >= allowed / 100;
            if taken > allowed {
                share = share.min(Share { of: allowed, total: taken });
            }
        }
        let is_waiting = share.of != share.total;
        self.backlog = if is_waiting { offered.map(|part| part - share.scale(part)) } else { [0; 4] };
        with_credits = 0;
        for limit in limits {
            let Some(credits) = limit.credits_milli else { continue };
            let taken = share.scale(limit.takes_milli(offered));
            let used = &mut self.used_credits_milli[with_credits];
            *used = (*used + taken - limit.rate_milli.saturating_mul(seconds)).clamp(0, credits);
            with_credits += 1;
            if *used > 0 || credits == 0 {
                let left = ((i128::from(credits - *used) * 1_000) / i128::from(credits.max(1))) as i64;
                self.lowest_credits_milli = self.lowest_credits_milli.min(left);
            }
        }
        Served { pinned_seconds: if pinned { seconds } else { 0 }, is_waiting }
    }

    /// Operations and bytes that wait.
    pub fn backlog(&self) -> PointDemand {
        self.backlog
    }

    /// Bytes from which [`VolumeState::from_bytes`] makes the same state.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut words = vec![VERSION, i64::from(self.volume), self.end, self.points, self.unknown_points, self.seconds];
        words.extend(self.total);
        words.extend([
            self.points_without_bytes,
            self.checked_points,
            self.exceeded_points,
            self.pinned_seconds,
            self.throttled_seconds,
        ]);
        words.extend([self.delayed_operations, self.longest_wait_ms, self.lowest_credits_milli]);
        for peak in [&self.operations_peak, &self.bytes_peak] {
            words.extend([peak.rate, peak.at, peak.period]);
            words.extend(peak.demand);
        }
        words.extend(self.backlog);
        words.extend(self.used_credits_milli);
        words.extend(self.level_seconds);
        let Autotune { level, throttled_for, idle_for, descends } = self.autotune;
        words.extend([self.level_changes, level, throttled_for, idle_for, descends]);
        for histogram in [&self.operations, &self.bytes] {
            words.push(histogram.bins().count() as i64);
            words.extend(histogram.bins().map(|(bin, seconds)| i64::from(bin) << 32 | i64::from(seconds)));
        }
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// The state of these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DamagedState> {
        let (words, rest) = bytes.as_chunks::<8>();
        let mut words = words.iter().map(|word| i64::from_le_bytes(*word));
        let mut next = || words.next().ok_or(DamagedState);
        if !rest.is_empty() || next()? != VERSION {
            return Err(DamagedState);
        }
        let mut state = Self::new(u32::try_from(next()?).map_err(|_| DamagedState)?);
        for field in [&mut state.end, &mut state.points, &mut state.unknown_points, &mut state.seconds] {
            *field = next()?;
        }
        for part in &mut state.total {
            *part = next()?;
        }
        for field in [
            &mut state.points_without_bytes,
            &mut state.checked_points,
            &mut state.exceeded_points,
            &mut state.pinned_seconds,
            &mut state.throttled_seconds,
            &mut state.delayed_operations,
            &mut state.longest_wait_ms,
            &mut state.lowest_credits_milli,
        ] {
            *field = next()?;
        }
        for peak in [&mut state.operations_peak, &mut state.bytes_peak] {
            (peak.rate, peak.at, peak.period) = (next()?, next()?, next()?);
            for part in &mut peak.demand {
                *part = next()?;
            }
        }
        let parts = state.backlog.iter_mut().chain(&mut state.used_credits_milli).chain(&mut state.level_seconds);
        let autotune = &mut state.autotune;
        for part in parts.chain([
            &mut state.level_changes,
            &mut autotune.level,
            &mut autotune.throttled_for,
            &mut autotune.idle_for,
            &mut autotune.descends,
        ]) {
            *part = next()?;
        }
        for histogram in [&mut state.operations, &mut state.bytes] {
            for _ in 0..next()? {
                let word = next()?;
                if !histogram.set((word >> 32) as u32, word as u32) {
                    return Err(DamagedState);
                }
            }
        }
        if words.next().is_some() { Err(DamagedState) } else { Ok(state) }
    }
}

/// Result of serving a demand.
#[derive(Clone, Copy, Default)]
struct Served {
    /// Seconds in which a limit is used up, or nearly so.
    pinned_seconds: i64,
    /// True if operations wait at the end: as [`VolumeState::backlog`], which was just written, and is slow to read.
    is_waiting: bool,
}

/// A fraction, at most 1.
#[derive(Clone, Copy)]
struct Share {
    of: i64,
    total: i64,
}

impl Share {
    fn min(self, other: Self) -> Self {
        let is_less = i128::from(other.of) * i128::from(self.total) < i128::from(self.of) * i128::from(other.total);
        if is_less { other } else { self }
    }

    fn scale(self, part: i64) -> i64 {
        if self.of == self.total {
            return part;
        }
        (i128::from(part) * i128::from(self.of) / i128::from(self.total)) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::{Counts, Kinds, LevelWaits};

    fn limit(rate: i64, credits: Option<i64>) -> ReplayLimit {
        ReplayLimit {
            kinds: Kinds::All,
            counts: Counts::Operations { unit_bytes: 0 },
            rate_milli: rate * 1_000,
            credits_milli: credits.map(|credits| credits * 1_000),
        }
    }

    fn point(at: i64, operations: i64) -> Point {
        Point { at, period: 60, demand: Some([operations, 0, operations * 4_096, 0]), has_bytes: true, exceeded: None }
    }

    #[test]
    fn excess_waits_and_drains() {
        let (mut state, limits) = (VolumeState::new(7), LevelLimits::fixed(vec![limit(100, None)]));
        state.step(&limits, &point(0, 9_000)).unwrap();
        assert_eq!((state.backlog()[0], state.throttled_seconds, state.longest_wait_ms), (3_000, 60, 30_000));
        state.step(&limits, &point(60, 3_000)).unwrap();
        assert_eq!((state.backlog(), state.throttled_seconds, state.delayed_operations), ([0; 4], 60, 9_000));
        assert_eq!((state.pinned_seconds, state.operations_peak.rate), (120, 150_000));
    }

    #[test]
    fn credits_carry_a_burst_and_idle_time_refills_them() {
        let (mut state, limits) =
            (VolumeState::new(0), LevelLimits::fixed(vec![limit(100, Some(6_000)), limit(300, None)]));
        // 200 above the rate for 30 s use up 6,000 credits.
        state.step(&limits, &Point { period: 30, ..point(0, 9_000) }).unwrap();
        assert_eq!((state.backlog(), state.lowest_credits_milli), ([0; 4], 0));
        // A minute without points earns them again.
        state.step(&limits, &Point { period: 30, ..point(90, 9_000) }).unwrap();
        assert_eq!(state.backlog(), [0; 4]);
        state.step(&limits, &Point { period: 30, ..point(120, 9_000) }).unwrap();
        assert_eq!(state.backlog()[0], 6_000);
    }

    #[test]
    fn points_out_of_order_are_refused() {
        let (mut state, limits) = (VolumeState::new(3), LevelLimits::fixed(vec![limit(100, None)]));
        state.step(&limits, &point(600, 1)).unwrap();
        for at in [600, 0, 659] {
            let error = state.step(&limits, &point(at, 1)).unwrap_err();
            assert_eq!(error, TimeReversed { volume: 3, at, end: 660 });
        }
        state.step(&limits, &point(660, 1)).unwrap();
    }

    #[test]
    fn unknown_demand_is_not_zero() {
        let mut state = VolumeState::new(0);
        state.step(&LevelLimits::default(), &Point { demand: None, exceeded: Some(true), ..point(0, 0) }).unwrap();
        state.step(&LevelLimits::default(), &point(60, 0)).unwrap();
        assert_eq!((state.points, state.unknown_points, state.seconds), (2, 1, 60));
        assert_eq!((state.checked_points, state.exceeded_points), (1, 1));
    }

    #[test]
    fn a_state_survives_its_bytes() {
        let (mut state, limits) =
            (VolumeState::new(9), LevelLimits::fixed(vec![limit(100, Some(500)), limit(3_000, None)]));
        for n in 0..500 {
            state.step(&limits, &point(n * 60, n * n * 37 % 20_000)).unwrap();
        }
        let bytes = state.to_bytes();
        assert_eq!(VolumeState::from_bytes(&bytes), Ok(state));
        assert_eq!(VolumeState::from_bytes(&bytes[..bytes.len() - 8]), Err(DamagedState));
        assert_eq!(VolumeState::from_bytes(&bytes[1..]), Err(DamagedState));
    }

    /// Levels of 100, 200 and 300 operations per second.
    fn levels() -> LevelLimits {
        LevelLimits {
            levels: [100, 200, 300].map(|rate| vec![limit(rate, None)]).to_vec(),
            waits: LevelWaits { up_after_s: 30, down_first_s: 3_600, down_next_s: 300 },
        }
    }

    #[test]
    fn the_level_follows_the_load() {
        let (mut state, limits) = (VolumeState::new(0), levels());
        // 250 a second: two steps up after 30 s each; 150 + 50 of each second wait in these, and drain at 50 a second.
        state.step(&limits, &Point { period: 600, ..point(0, 150_000) }).unwrap();
        assert_eq!((state.autotune.level, state.level_changes, state.backlog()), (2, 2, [0; 4]));
        assert_eq!(state.level_seconds[..3], [30, 30, 540]);
        // Idle: a step down after an hour, which begins when the backlog is gone and 200 carry the load; the next after 300 s.
        state.step(&limits, &Point { period: 7_200, ..point(600, 0) }).unwrap();
        assert_eq!((state.autotune.level, state.level_changes), (0, 4));
        assert_eq!(state.level_seconds[..3], [30 + 7_200 - 3_900, 330, 540 + 3_600]);
        // 150 a second is above the lower level and below the present one: no change up to the next delay.
        state.step(&limits, &Point { period: 60, ..point(7_800, 9_000) }).unwrap();
        assert_eq!((state.autotune.level, state.backlog()), (1, [0; 4]));
    }

    #[test]
    fn levels_survive_their_bytes_and_gaps() {
        let (mut state, limits) = (VolumeState::new(0), levels());
        for n in 0..50 {
            state.step(&limits, &Point { period: 300, ..point(n * 300, n * n * 7_919 % 120_000) }).unwrap();
        }
        assert!(state.level_changes >= 2, "{}", state.level_changes);
        assert_eq!(VolumeState::from_bytes(&state.to_bytes()), Ok(state.clone()));
        // A year without points: back at the lowest level, and no operation is lost.
        state.step(&limits, &point(31_536_000, 0)).unwrap();
        assert_eq!((state.autotune.level, state.backlog()), (0, [0; 4]));
        assert_eq!(state.level_seconds.iter().sum::<i64>(), 31_536_060);
    }

    #[test]
    fn equal_levels_are_as_one() {
        let limits = LevelLimits { levels: vec![vec![limit(100, None)]; 2], ..levels() };
        let single = LevelLimits::fixed(vec![limit(100, None)]);
        let (mut one, mut other) = (VolumeState::new(0), VolumeState::new(0));
        for n in 0..100 {
            let point = Point { period: 300, ..point(n * 300, n * 7_919 % 60_000) };
            one.step(&limits, &point).unwrap();
            other.step(&single, &point).unwrap();
            // Bytes of a part of the operations are rounded.
            assert_eq!((one.backlog()[0], one.throttled_seconds), (other.backlog()[0], other.throttled_seconds));
        }
    }
}

//! Fluid replay of a series of windows through a limit: work above the limit queues and drains later.
//!
//! The load is constant within a window, so the wait changes linearly. Independent of products and classes.

use plimsoll_units::Span;

/// Share of the work that may exceed the allowed wait without an objective, or with an objective on the mean.
const DEFAULT_SHARE: f64 = 0.01;
/// The percentile, by windows, of the factors for peaks within windows.
pub(super) const PEAKS_AT: f64 = 0.95;
/// Bisection steps for a limit: to a billionth of the highest window.
const HALVINGS: u32 = 30;

/// Tolerance for delays at a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowance {
    /// Longest tolerated wait.
    pub wait: Span,
    /// Share of the operations, and of the bytes, that may exceed it.
    pub share: f64,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { wait: Span::ZERO, share: DEFAULT_SHARE }
    }
}

/// The backlog of a series of windows at a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Backlog {
    pub longest_wait: Span,
    /// Total time with a backlog.
    pub behind: Span,
    /// Share of the operations that exceed the tolerated wait, 0 to 1.
    pub operations: f64,
    /// Share of the bytes that exceed it, 0 to 1.
    pub bytes: f64,
}

impl Backlog {
    /// True if the backlog is within the allowance.
    pub fn is_within(&self, allowance: &Allowance) -> bool {
        self.operations.max(self.bytes) <= allowance.share
    }
}

#[derive(Debug)]
pub(super) struct Replay {
    allowed_s: f64,
    /// Wait of an operation that arrives now, in seconds.
    wait_s: f64,
    longest_s: f64,
    behind_s: f64,
    /// Operations and bytes: delayed beyond the allowance, and total.
    late: [f64; 2],
    all: [f64; 2],
}

impl Replay {
    pub(super) fn new(allowance: &Allowance) -> Self {
        Self {
            allowed_s: allowance.wait.as_secs_f64(),
            wait_s: 0.0,
            longest_s: 0.0,
            behind_s: 0.0,
            late: [0.0; 2],
            all: [0.0; 2],
        }
    }

    /// A window of `seconds` whose demand is `utilisation` times the limit, with these operations and bytes per second.
    pub(super) fn window(&mut self, seconds: f64, utilisation: f64, rates: [f64; 2]) {
        let slope = utilisation - 1.0;
        let begin = self.wait_s;
        let end = (begin + slope * seconds).max(0.0);
        let time_above = |level: f64| match (begin > level, end > level) {
            (true, true) => seconds,
            (false, false) => 0.0,
            (false, true) => seconds - (level - begin) / slope,
            (true, false) => ((begin - level) / -slope).min(seconds),
        };
        let late_s = time_above(self.allowed_s);
        self.behind_s += time_above(0.0);
        self.longest_s = self.longest_s.max(begin).max(end);
        self.wait_s = end;
        for (index, rate) in rates.into_iter().enumerate() {
            self.late[index] += rate * late_s;
            self.all[index] += rate * seconds;
        }
    }

    pub(super) fn finish(self) -> Backlog {
        let share = |index: usize| if self.all[index] > 0.0 { self.late[index] / self.all[index] } else { 0.0 };
        Backlog {
            longest_wait: Span::from_secs_f64(self.longest_s),
            behind: Span::from_secs_f64(self.behind_s),
            operations: share(0),
            bytes: share(1),
        }
    }
}

/// Time-weighted quantile of `(value, seconds)`.
pub(super) fn quantile(mut values: Vec<(f64, f64)>, share: f64) -> f64 {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let enough = share * values.iter().map(|(_, seconds)| seconds).sum::<f64>() * (1.0 - 1e-12);
    let mut passed = 0.0;
    let reached = values.iter().find(|(_, seconds)| {
        passed += seconds;
        passed >= enough
    });
    reached.or(values.last()).map_or(0.0, |(value, _)| *value)
}

/// The lowest limit that a series of `(rate, seconds)` passes within the allowance.
pub(super) fn lowest_limit(rates: &[(f64, f64)], allowance: &Allowance) -> f64 {
    let highest = rates.iter().map(|(rate, _)| *rate).fold(0.0, f64::max);
    let passes = |limit: f64| {
        let mut replay = Replay::new(allowance);
        for (rate, seconds) in rates {
            replay.window(*seconds, rate / limit, [*rate; 2]);
        }
        replay.finish().is_within(allowance)
    };
    let (mut low, mut high) = (0.0, highest);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if middle > 0.0 && passes(middle) { high = middle } else { low = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_above_a_limit_waits_until_it_drains() {
        let allowance = Allowance { wait: Span::from_secs(1), share: 0.0 };
        let mut replay = Replay::new(&allowance);
        // 10 s at twice the limit build up a wait of 10 s, which a load of half the limit drains in 20 s.
        replay.window(10.0, 2.0, [200.0, 0.0]);
        replay.window(40.0, 0.5, [50.0, 0.0]);
        let backlog = replay.finish();
        assert_eq!((backlog.longest_wait, backlog.behind), (Span::from_secs(10), Span::from_secs(30)));
        // The wait exceeds a second from the first second on until two seconds before the end.
        let late = 9.0 * 200.0 + 18.0 * 50.0;
        assert!((backlog.operations - late / 4000.0).abs() < 1e-12, "{backlog:?}");
        assert!(backlog.bytes < f64::EPSILON);
        assert!(!backlog.is_within(&allowance));
    }

    #[test]
    fn the_lowest_limit_lets_the_allowed_share_wait() {
        // 100 a second, and for the last second 10,000: 1 % of the operations may wait.
        let rates = [(100.0, 99.0), (10_000.0, 1.0)];
        let limit = lowest_limit(&rates, &Allowance::default());
        // Every operation of that second but the first waits, so nearly the full rate is needed.
        assert!((9_999.0..=10_000.0).contains(&limit), "{limit}");
        let patient = Allowance { wait: Span::from_secs(1), share: 0.01 };
        let limit = lowest_limit(&rates, &patient);
        assert!((4_900.0..5_000.0).contains(&limit), "half suffices if a wait of a second is allowed: {limit}");
    }
}

//! Decides whether a thread yields its processor before it sleeps until an operation completes.
//!
//! If operations complete every few microseconds, typically in kernel worker threads, sleeping and waking cost more
//! than the wait itself. A yield lets a worker on the same processor run, at the cost of a system call. The decision
//! depends on measured completions only, and changes at the end of a window of [`WINDOW`] completions.

use plimsoll_units::{Instant, Span};

/// Completions between two decisions.
const WINDOW: u32 = 256;

/// Maximum mean interval of completions for which yields are tried. On a virtual machine with two processors, sleeping
/// and waking take 5 to 20 us.
const INTERVAL_MAX: Span = Span::from_micros(8);

/// Windows without yields after an unsuccessful window; doubled by each further failure, halved by each success. On a
/// contended processor a yield costs milliseconds, so failures must become rare, while a single interruption should not
/// matter.
const PAUSE_MIN: u32 = 4;
const PAUSE_MAX: u32 = 4096;

/// Counts of the current window, and the decision derived from the previous windows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct YieldRule {
    window_start: Instant,
    completions: u32,
    yields: u32,
    /// Yields followed by a completion, so that the thread did not sleep.
    successes: u32,
    is_active: bool,
    /// Windows until yields are tried again.
    pause: u32,
    next_pause: u32,
}

impl YieldRule {
    /// No yields in the first window.
    pub(crate) const fn new(start: Instant) -> Self {
        Self {
            window_start: start,
            completions: 0,
            yields: 0,
            successes: 0,
            is_active: false,
            pause: 0,
            next_pause: PAUSE_MIN,
        }
    }

    /// True if the next wait should yield first.
    #[inline]
    pub(crate) const fn is_active(&self) -> bool {
        self.is_active
    }

    /// Counts a yield and whether a completion followed.
    #[inline]
    pub(crate) fn yielded(&mut self, is_success: bool) {
        self.yields += 1;
        self.successes += u32::from(is_success);
    }

    /// Counts completions reaped at `now`, and decides at the end of a window.
    #[inline]
    pub(crate) fn completed(&mut self, completions: u32, now: Instant) {
        self.completions += completions;
        if self.completions >= WINDOW {
            self.decide(now);
        }
    }

    fn decide(&mut self, now: Instant) {
        let interval_ns = now.since(self.window_start).as_nanos() / u64::from(self.completions);
        let is_short = interval_ns <= INTERVAL_MAX.as_nanos();
        if self.yields == 0 {
            self.pause = self.pause.saturating_sub(1);
        } else if is_short && 2 * self.successes >= self.yields {
            self.next_pause = (self.next_pause / 2).max(PAUSE_MIN);
        } else {
            self.pause = self.next_pause;
            self.next_pause = (2 * self.next_pause).min(PAUSE_MAX);
        }
        self.is_active = self.pause == 0 && is_short;
        (self.window_start, self.completions, self.yields, self.successes) = (now, 0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds windows of [`WINDOW`] completions at the given intervals in nanoseconds: without yields, and with yields
    /// of which `success_percent` succeed. Returns the numbers of the windows with active yields.
    fn active_windows(windows: u32, without_ns: u64, with_ns: u64, success_percent: u32) -> Vec<u32> {
        let mut now = Instant::ZERO;
        let mut rule = YieldRule::new(now);
        let mut active = Vec::new();
        for window in 0..windows {
            let is_active = rule.is_active();
            if is_active {
                active.push(window);
            }
            for completion in 0..WINDOW {
                if is_active {
                    rule.yielded(completion % 100 < success_percent);
                }
                now += Span::from_nanos(if is_active { with_ns } else { without_ns });
                rule.completed(1, now);
            }
        }
        active
    }

    fn check(without_ns: u64, with_ns: u64, success_percent: u32, expected: &[u32]) {
        let active = active_windows(6, without_ns, with_ns, success_percent);
        assert_eq!(active, expected, "{without_ns} ns without, {with_ns} ns with, {success_percent} % succeed");
    }

    #[test]
    fn yields_need_short_intervals_and_must_succeed() {
        check(3_000, 2_500, 100, &[1, 2, 3, 4, 5]);
        check(8_000, 8_000, 60, &[1, 2, 3, 4, 5]);
        check(8_001, 2_500, 100, &[]);
        check(3_000, 2_500, 40, &[1]);
        check(3_000, 8_001, 100, &[1]);
    }

    #[test]
    fn each_failure_doubles_the_pause_up_to_4096_windows() {
        assert_eq!(active_windows(100, 3_000, 90_000, 100), [1, 6, 15, 32, 65]);
        let many = active_windows(20_000, 3_000, 90_000, 100);
        assert_eq!(many[many.len() - 1] - many[many.len() - 2], PAUSE_MAX + 1);
    }

    #[test]
    fn each_success_halves_the_pause() {
        let mut rule = YieldRule { is_active: true, next_pause: 64, ..YieldRule::new(Instant::ZERO) };
        let mut now = Instant::ZERO;
        for expected in [32, 16, 8, 4, 4] {
            rule.yielded(true);
            now += Span::from_micros(u64::from(WINDOW) * 3);
            rule.completed(WINDOW, now);
            assert_eq!((rule.next_pause, rule.is_active()), (expected, true));
        }
    }

    #[test]
    fn each_completion_of_a_batch_counts() {
        let mut rule = YieldRule::new(Instant::ZERO);
        rule.completed(255, Instant::from_nanos(1_000_000));
        assert!(!rule.is_active(), "the window has not ended");
        rule.completed(32, Instant::from_nanos(2_000_000));
        assert!(rule.is_active(), "287 completions in 2 ms");
    }
}

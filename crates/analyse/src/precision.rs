//! Whether the figures of a run are known well enough to stop measuring.
//!
//! Knows nothing about time or budgets: only about the widths of intervals.

use plimsoll_record::{Estimate, Figures};

/// How tight intervals should be, as half the width over the value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Of the operations per second.
    pub iops: f64,
    /// Of the mean response time.
    pub mean: f64,
    /// Of the quantile that matters: the objective's measure, or the 99th percentile when there is none.
    pub quantile: f64,
}

impl Default for Precision {
    /// 2 % of the rate, 5 % of the mean, 10 % of the quantile.
    fn default() -> Self {
        Self { iops: 0.02, mean: 0.05, quantile: 0.10 }
    }
}

/// True when every interval that `goal` asks about is there and is no wider than it.
///
/// A figure without an interval is never tight enough. The measure of an objective on the mean is held to the goal
/// for the quantile as well, as it is what the load line rests on.
pub fn tight_enough(figures: &Figures, goal: &Precision) -> bool {
    let within = |estimate: &Estimate, goal: f64| estimate.relative_half_width().is_some_and(|half| half <= goal);
    within(&figures.iops, goal.iops)
        && within(&figures.mean_ns, goal.mean)
        && within(figures.objective_ns.as_ref().unwrap_or(&figures.p99_ns), goal.quantile)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(value: f64, half_width: f64) -> Estimate {
        Estimate { value, interval: Some((value * (1.0 - half_width), value * (1.0 + half_width))) }
    }

    #[test]
    fn every_interval_counts_and_a_missing_one_is_never_tight() {
        let goal = Precision::default();
        let good = Figures {
            iops: known(1e5, 0.01),
            mean_ns: known(1e5, 0.04),
            p99_ns: known(1e6, 0.09),
            ..Figures::default()
        };
        assert!(tight_enough(&good, &goal));
        assert!(!tight_enough(&Figures { iops: known(1e5, 0.03), ..good }, &goal));
        assert!(!tight_enough(&Figures { mean_ns: known(1e5, 0.06), ..good }, &goal));
        assert!(!tight_enough(&Figures { p99_ns: Estimate::bare(1e6), ..good }, &goal));
        assert!(!tight_enough(&Figures { objective_ns: Some(known(1e6, 0.2)), ..good }, &goal));
    }
}

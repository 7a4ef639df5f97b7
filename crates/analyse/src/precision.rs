//! Whether the figures of a run are precise enough to stop measuring.
//!
//! Depends on interval widths only, not on time or budgets.

use plimsoll_record::{Estimate, Figures};

/// Required precision, as half width over value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Of the operations per second.
    pub iops: f64,
    /// Of the mean response time.
    pub mean: f64,
    /// Of the objective's measure, or of the 99th percentile without an objective.
    pub quantile: f64,
}

impl Default for Precision {
    /// 2 % of the rate, 5 % of the mean, 10 % of the quantile.
    fn default() -> Self {
        Self { iops: 0.02, mean: 0.05, quantile: 0.10 }
    }
}

/// True if every interval required by `goal` exists and is narrow enough.
///
/// A figure without an interval is never precise enough. The measure of an objective on the mean must meet the goal of
/// the quantile as well, because the load line depends on it.
pub fn tight_enough(figures: &Figures, goal: &Precision) -> bool {
    let within = |estimate: &Estimate, goal: f64| estimate.relative_half_width().is_some_and(|half| half <= goal);
    within(&figures.iops, goal.iops)
        && within(&figures.mean_ns, goal.mean)
        && within(figures.objective_ns.as_ref().unwrap_or(&figures.p99_ns), goal.quantile)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recognize(value: f64, half_width: f64) -> Estimate {
        Estimate { value, interval: Some((value * (1.0 - half_width), value * (1.0 + half_width))) }
    }

    #[test]
    fn all_intervals_must_exist_and_be_narrow() {
        let goal = Precision::default();
        let good = Figures {
            iops: recognize(1e5, 0.01),
            mean_ns: recognize(1e5, 0.04),
            p99_ns: recognize(1e6, 0.09),
            ..Figures::default()
        };
        assert!(tight_enough(&good, &goal));
        assert!(!tight_enough(&Figures { iops: recognize(1e5, 0.03), ..good }, &goal));
        assert!(!tight_enough(&Figures { mean_ns: recognize(1e5, 0.06), ..good }, &goal));
        assert!(!tight_enough(&Figures { p99_ns: Estimate::bare(1e6), ..good }, &goal));
        assert!(!tight_enough(&Figures { objective_ns: Some(recognize(1e6, 0.2)), ..good }, &goal));
    }
}

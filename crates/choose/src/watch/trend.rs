//! The trend of a load over hours: a robust line, where it is significant and describes the load.

use plimsoll_units::Span;

/// Standard normal quantile of a two-sided test at 1 %.
const SIGNIFICANT: f64 = 2.576;
/// Scatter about the line over that of successive points, up to which the load is a line.
const MAX_SCATTER_RATIO: f64 = 1.5;
/// Minimum number of points: fewer cannot be significant.
const MIN_POINTS: usize = 6;

/// A line through the latest loads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trend {
    /// Its value at present.
    level: f64,
    /// Its change per second.
    slope: f64,
    /// Observed time, and the time ahead for which it is continued.
    pub(super) span: Span,
}

impl Trend {
    /// The line through points, each with its time in seconds relative to the present: the median of the slopes of all pairs
    /// (Theil 1950, Sen 1968). `None` if the order of the points may be chance (Mann 1945, Kendall), or if they scatter more about
    /// the line than successive points differ (von Neumann 1941): a step or a wave is no trend.
    pub(super) fn fit(points: &[(f64, f64)], span: Span) -> Option<Self> {
        if points.len() < MIN_POINTS {
            return None;
        }
        let pairs = || {
            let later = |index: usize| points[index + 1..].iter().map(move |later| (points[index], *later));
            (0..points.len()).flat_map(later)
        };
        let signs = pairs().map(|((_, value), (_, later))| i32::from(later > value) - i32::from(later < value));
        let count = points.len() as f64;
        let deviation = libm::sqrt(count * (count - 1.0) * (2.0 * count + 5.0) / 18.0);
        if (f64::from(signs.sum::<i32>()).abs() - 1.0) / deviation < SIGNIFICANT {
            return None;
        }
        let slope = find_median(pairs().map(|((time, value), (at, later))| (later - value) / (at - time)).collect());
        let level = find_median(points.iter().map(|(time, value)| value - slope * time).collect());
        let residuals = points.iter().map(|(time, value)| value - level - slope * time);
        let about_line = libm::sqrt(residuals.map(|rest| rest * rest).sum::<f64>() / count);
        let steps = || points.windows(2).map(|pair| (pair[1].1 - pair[0].1) * (pair[1].1 - pair[0].1));
        // Without the largest: a single rise or fall of the load is no scatter.
        let between = libm::sqrt((steps().sum::<f64>() - steps().fold(0.0, f64::max)) / (count - 2.0) / 2.0);
        (about_line <= MAX_SCATTER_RATIO * between).then_some(Self { level, slope, span })
    }

    /// The value at a time ahead; beyond the observed time that at its end.
    pub(super) fn at(&self, ahead: Span) -> f64 {
        self.level + self.slope * ahead.min(self.span).as_secs_f64()
    }

    /// The value this time ago.
    pub(super) fn before(&self, ago: Span) -> f64 {
        self.level - self.slope * ago.as_secs_f64()
    }

    /// The value at a time ahead; zero beyond the observed time.
    pub(super) fn within(&self, ahead: Span) -> f64 {
        if ahead <= self.span { self.at(ahead) } else { 0.0 }
    }

    pub(super) fn per_hour(&self) -> f64 {
        self.slope * 3_600.0
    }
}

fn find_median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) }
}

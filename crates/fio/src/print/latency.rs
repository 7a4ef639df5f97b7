//! Latencies of a kind: bins, and exact moments.

use plimsoll_record::Bins;

use super::buckets;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LatencyHistogram {
    /// Histogram, including the count. Without bins there are no percentiles.
    pub bins: Bins,
    /// Exact values, if known.
    pub exact: Option<Moments>,
}

/// Moments, independent of bins.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// Minimum in nanoseconds.
    pub min_ns: u64,
    /// Maximum in nanoseconds.
    pub max_ns: u64,
    /// Mean in nanoseconds.
    pub mean_ns: f64,
    /// Sample standard deviation in nanoseconds.
    pub deviation_ns: f64,
}

impl From<Bins> for LatencyHistogram {
    fn from(bins: Bins) -> Self {
        Self { bins, exact: None }
    }
}

impl LatencyHistogram {
    /// Number of latencies.
    pub fn count(&self) -> u64 {
        self.bins.count
    }

    /// Extremes, mean and deviation; all zero without latencies.
    ///
    /// From bins, the mean is exact, and the extremes are exact to the width of a bin (0.8 %). The deviation is that of
    /// the middles of bins: zero if all latencies are in a single bin.
    pub fn moments(&self) -> Moments {
        let bins = &self.bins;
        match (self.exact, bins.count) {
            (_, 0) => Moments::default(),
            (Some(exact), _) => exact,
            (None, count) => Moments {
                min_ns: bins.min_ns,
                max_ns: bins.max_ns,
                mean_ns: bins.sum_ns as f64 / count as f64,
                deviation_ns: deviation(bins),
            },
        }
    }

    /// Latencies in nanoseconds at percentages, as middles of fio's buckets. Empty without bins.
    pub fn percentiles(&self, list: &[f64]) -> Vec<u64> {
        buckets::percentiles(&self.bins, list)
    }

    /// Adds other latencies. Exact values remain only if both have them.
    pub fn merge(&mut self, other: &Self) {
        if other.count() == 0 {
            return;
        }
        if self.count() == 0 {
            self.clone_from(other);
            return;
        }
        let counts = (self.count() as f64, other.count() as f64);
        self.exact = self.exact.zip(other.exact).map(|both| merged(both, counts));
        self.bins.merge(&other.bins);
    }
}

fn deviation(bins: &Bins) -> f64 {
    let middles = || {
        let lowest = bins.bins.iter().map(|(lowest, _)| *lowest as f64);
        let middle = |(lowest, (highest, count)): (f64, (plimsoll_units::Span, u64))| {
            (f64::midpoint(lowest, highest.as_nanos() as f64), count as f64)
        };
        lowest.zip(bins.upper_bounds()).map(middle)
    };
    let count: f64 = middles().map(|(_, count)| count).sum();
    if count < 2.0 {
        return 0.0;
    }
    let mean = middles().map(|(middle, count)| middle * count).sum::<f64>() / count;
    let squares: f64 = middles().map(|(middle, count)| (middle - mean).powi(2) * count).sum();
    (squares / (count - 1.0)).sqrt()
}

/// Moments of the union of two samples (Chan et al. 1979).
fn merged((a, b): (Moments, Moments), (count_a, count_b): (f64, f64)) -> Moments {
    let count = count_a + count_b;
    let apart = b.mean_ns - a.mean_ns;
    let squares = a.deviation_ns.powi(2) * (count_a - 1.0)
        + b.deviation_ns.powi(2) * (count_b - 1.0)
        + apart.powi(2) * count_a * count_b / count;
    Moments {
        min_ns: a.min_ns.min(b.min_ns),
        max_ns: a.max_ns.max(b.max_ns),
        mean_ns: a.mean_ns + apart * count_b / count,
        deviation_ns: (squares / (count - 1.0)).sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{Bins, Recorder};
    use plimsoll_units::Span;

    use super::{LatencyHistogram, Moments};

    fn bins(latencies_ns: impl IntoIterator<Item = u64>) -> Bins {
        let mut recorder = Recorder::new();
        latencies_ns.into_iter().for_each(|ns| recorder.record(Span::from_nanos(ns)));
        recorder.take()
    }

    fn exact(latencies_ns: &[u64]) -> Moments {
        let count = latencies_ns.len() as f64;
        let mean_ns = latencies_ns.iter().sum::<u64>() as f64 / count;
        let squares: f64 = latencies_ns.iter().map(|ns| (*ns as f64 - mean_ns).powi(2)).sum();
        Moments {
            min_ns: *latencies_ns.iter().min().unwrap(),
            max_ns: *latencies_ns.iter().max().unwrap(),
            mean_ns,
            deviation_ns: (squares / (count - 1.0)).sqrt(),
        }
    }

    #[test]
    fn deviation_from_bins_is_accurate_to_bin_width() {
        let latencies: Vec<u64> = (0..10_000).map(|i| 50_000 + (i * 7_919) % 100_000).collect();
        let (found, truth) = (LatencyHistogram::from(bins(latencies.clone())).moments(), exact(&latencies));
        assert!((found.deviation_ns / truth.deviation_ns - 1.0).abs() < 0.001, "{found:?} {truth:?}");
        assert!((found.mean_ns - truth.mean_ns).abs() < 1e-6);
        let constant = LatencyHistogram::from(bins([1_000_003; 50])).moments();
        assert!(constant.deviation_ns < 1e-9, "{constant:?}");
    }

    #[test]
    fn merge_equals_joint_count() {
        let of = |latencies: &[u64]| LatencyHistogram { bins: bins(latencies.to_vec()), exact: Some(exact(latencies)) };
        let (few, many) = ([9_000, 700_000, 12_345], (1..500).map(|i| i * 331).collect::<Vec<u64>>());
        let mut all = of(&few);
        all.merge(&of(&many));
        all.merge(&LatencyHistogram::default());
        let truth = of(&[few.as_slice(), &many].concat());
        assert_eq!(all.bins, truth.bins);
        let (found, truth) = (all.moments(), truth.moments());
        assert_eq!((found.min_ns, found.max_ns), (truth.min_ns, truth.max_ns));
        assert!((found.mean_ns / truth.mean_ns - 1.0).abs() < 1e-12);
        assert!((found.deviation_ns / truth.deviation_ns - 1.0).abs() < 1e-12, "{found:?} {truth:?}");
        all.merge(&LatencyHistogram::from(bins([5])));
        assert_eq!(all.exact, None, "a mean of exact and inexact figures is not exact");
    }
}

//! Time by rate, in bins of at most 3.2 % width. Merging and the order of points change nothing.

/// Seconds at each rate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Seconds by bin.
    seconds: Vec<u32>,
}

/// Bins for each doubling of the rate.
const BINS: u64 = 32;
/// Rates below this have a bin each.
const EXACT: u64 = 2 * BINS;

impl Histogram {
    /// Adds time at a rate. Negative rates count as zero.
    pub fn add(&mut self, rate: i64, seconds: u32) {
        let bin = bin_of(rate.max(0) as u64);
        if bin >= self.seconds.len() {
            self.seconds.resize(bin + 1, 0);
        }
        self.seconds[bin] = self.seconds[bin].saturating_add(seconds);
    }

    /// The upper bound of the rate that is not exceeded in `millionths` of the time; 0 without time.
    pub fn quantile(&self, millionths: u32) -> i64 {
        let total: u128 = self.seconds.iter().map(|seconds| u128::from(*seconds)).sum();
        let enough = total * u128::from(millionths);
        let mut passed = 0;
        let reached = self.seconds.iter().position(|seconds| {
            passed += u128::from(*seconds) * 1_000_000;
            *seconds > 0 && passed >= enough
        });
        reached.map_or(0, |bin| upper_bound(bin) as i64)
    }

    /// Non-empty bins with their seconds.
    pub(crate) fn bins(&self) -> impl Iterator<Item = (u32, u32)> {
        let bins = self.seconds.iter().enumerate();
        bins.filter(|(_, seconds)| **seconds > 0).map(|(bin, seconds)| (bin as u32, *seconds))
    }

    /// Sets a bin; false for a bin that no rate has.
    pub(crate) fn set(&mut self, bin: u32, seconds: u32) -> bool {
        let bin = bin as usize;
        if bin > bin_of(i64::MAX as u64) {
            return false;
        }
        if bin >= self.seconds.len() {
            self.seconds.resize(bin + 1, 0);
        }
        self.seconds[bin] = seconds;
        true
    }
}

fn bin_of(rate: u64) -> usize {
    if rate < EXACT {
        return rate as usize;
    }
    let shift = u64::from(rate.ilog2() - BINS.ilog2());
    (shift * BINS + (rate >> shift)) as usize
}

fn upper_bound(bin: usize) -> u64 {
    let bin = bin as u64;
    if bin < EXACT {
        return bin;
    }
    let shift = bin / BINS - 1;
    ((bin % BINS + BINS + 1) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_contiguous_and_narrow() {
        let mut expected = 0;
        for bin in 0..1_200 {
            let upper = upper_bound(bin);
            assert_eq!((bin_of(expected), bin_of(upper)), (bin, bin), "{bin}");
            assert!(upper - expected <= expected / BINS, "bin {bin}: {expected} to {upper}");
            expected = upper + 1;
        }
    }

    #[test]
    fn quantiles_are_weighted_by_time() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(500_000), 0);
        histogram.add(10, 990);
        histogram.add(1_000, 10);
        assert_eq!(histogram.quantile(990_000), 10);
        assert!((1_000..1_032).contains(&histogram.quantile(990_001)));
        assert_eq!(histogram.quantile(1_000_000), histogram.quantile(999_999));
    }
}

//! The distribution of values over time at the resolution of an input, for windows that are joined later.
//!
//! A bucket spans 1/128 of an octave and keeps the mean of its values: a quantile is within 0.4 %, and exact where the
//! values are equal. Highest values are exact.

/// The distribution of a measure over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueDistribution {
    pub windows: usize,
    /// The highest value.
    pub maximum: f64,
    /// Seconds of values of zero.
    zero_s: f64,
    /// The number of the first bucket.
    first: usize,
    /// Seconds, and the sum of values times seconds, by bucket.
    buckets: Vec<(f64, f64)>,
}

impl ValueDistribution {
    /// Bits of a number's mantissa that distinguish buckets.
    const BITS: u32 = 7;

    /// Adds a value of a window.
    pub(crate) fn add(&mut self, value: f64, seconds: f64) {
        self.windows += 1;
        self.maximum = self.maximum.max(value);
        if value < f64::MIN_POSITIVE {
            self.zero_s += seconds;
            return;
        }
        let number = (value.to_bits() >> (f64::MANTISSA_DIGITS - 1 - Self::BITS)) as usize;
        if self.buckets.is_empty() {
            self.first = number;
        } else if number < self.first {
            let more = self.first - number;
            self.buckets.splice(0..0, std::iter::repeat_n((0.0, 0.0), more));
            self.first = number;
        }
        let index = number - self.first;
        if index >= self.buckets.len() {
            self.buckets.resize(index + 1, (0.0, 0.0));
        }
        let bucket = &mut self.buckets[index];
        bucket.0 += seconds;
        bucket.1 += value * seconds;
    }

    /// The value that is not exceeded in a share of the time.
    pub fn quantile(&self, share: f64) -> f64 {
        self.quantile_after(self.zero_s, share)
    }

    /// The value that is not exceeded in a share of the time with values above zero.
    pub fn quantile_above_zero(&self, share: f64) -> f64 {
        self.quantile_after(0.0, share)
    }

    fn quantile_after(&self, zero_s: f64, share: f64) -> f64 {
        let total = zero_s + self.buckets.iter().map(|bucket| bucket.0).sum::<f64>();
        let enough = share * total * (1.0 - 1e-12);
        let mut passed = zero_s;
        if passed >= enough && passed > 0.0 {
            return 0.0;
        }
        let reached = self.buckets.iter().find(|(seconds, _)| {
            passed += seconds;
            *seconds > 0.0 && passed >= enough
        });
        reached.map_or(self.maximum, |(seconds, sum)| (sum / seconds).min(self.maximum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_exact_for_equal_values_and_within_half_a_percent_otherwise() {
        let mut distribution = ValueDistribution::default();
        for value in 0..10_000 {
            distribution.add(f64::from(value), 1.0);
        }
        for (share, value) in [(0.5, 5_000.0), (0.95, 9_500.0), (0.999, 9_990.0), (1.0, 9_999.0)] {
            let found = distribution.quantile(share);
            assert!((found / value - 1.0).abs() < 0.005, "{share}: {found}");
        }
        let mut constant = ValueDistribution::default();
        for value in [300.25, 0.0, 300.25, 0.0] {
            constant.add(value, 10.0);
        }
        assert_eq!((constant.quantile(0.5), constant.quantile(0.51), constant.quantile(1.0)), (0.0, 300.25, 300.25));
        assert_eq!((constant.windows, constant.maximum, constant.quantile_above_zero(0.1)), (4, 300.25, 300.25));
    }
}

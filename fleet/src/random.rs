//! Random numbers of the generator: the same for a seed on every machine.

/// A stream of numbers (`SplitMix64`, Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of a seed and a purpose.
    pub fn new(seed: u64, purpose: u64) -> Self {
        let mut random = Self(seed ^ purpose.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub fn within(&mut self, low: i64, high: i64) -> i64 {
        let span = (high - low + 1).max(1) as u64;
        low + ((u128::from(self.next()) * u128::from(span)) >> 64) as i64
    }

    /// `value` with a deviation of up to so many percent.
    pub fn around(&mut self, value: i64, percent: i64) -> i64 {
        value * self.within(1_000 - 10 * percent, 1_000 + 10 * percent) / 1_000
    }
}

//! Random data, newly generated for each write and not verified.

use fastrand::Rng;
use plimsoll_units::Op;

use super::Content;
use super::block::mixed;

/// Number of distinct buffers of repeated writes, so that deduplication finds duplicates across a range.
const REPEATED: u64 = 64;

/// Random data for each write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refilled {
    /// Seed of the data, combined with the number of the write.
    pub seed: u64,
    /// Share of them that compresses away, 0 to 1.
    pub compressible: f64,
    /// Period in bytes, at least 1: each chunk begins random and ends in zeros.
    pub chunk: usize,
    /// Share of writes that repeat an earlier write, 0 to 1.
    pub repeated: f64,
}

impl Content for Refilled {
    fn fill(&self, _: &Op, number: u64, bytes: &mut [u8]) -> u64 {
        let drawn = mixed(self.seed ^ mixed(number));
        // 53 bits make a float in [0, 1).
        let repeats = ((drawn >> 11) as f64 / (1_u64 << 53) as f64) < self.repeated;
        let mut rng = Rng::with_seed(if repeats { self.seed ^ (drawn % REPEATED) } else { drawn });
        for chunk in bytes.chunks_mut(self.chunk.max(1)) {
            let random = ((chunk.len() as f64 * (1.0 - self.compressible)).round() as usize).min(chunk.len());
            rng.fill(&mut chunk[..random]);
            chunk[random..].fill(0);
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use plimsoll_units::Kind;

    use super::*;

    /// Counts distinct buffers among 1,000, and the share of zeros.
    fn check(refilled: Refilled, different: std::ops::RangeInclusive<usize>, zeroes: f64) {
        let op = Op { offset: 0, length: 4096, kind: Kind::Write, stream: 0 };
        let mut observed = BTreeSet::new();
        let mut zero = 0;
        for number in 0..1000 {
            let mut bytes = vec![1; 4096];
            refilled.fill(&op, number, &mut bytes);
            zero += bytes.iter().map(|byte| u32::from(*byte == 0)).sum::<u32>();
            observed.insert(bytes);
        }
        assert!(different.contains(&observed.len()), "{refilled:?}: {} are different", observed.len());
        let share = f64::from(zero) / 4_096_000.0;
        assert!((share - zeroes).abs() < 0.01, "{refilled:?}: {share} are zeroes");
    }

    #[test]
    fn repetition_and_compressibility_match() {
        let plain = Refilled { seed: 1, compressible: 0.0, chunk: 512, repeated: 0.0 };
        check(plain, 1000..=1000, 0.0);
        check(Refilled { compressible: 0.75, ..plain }, 1000..=1000, 0.75);
        check(Refilled { compressible: 0.5, chunk: 4096, ..plain }, 1000..=1000, 0.5);
        // Half of the writes use 64 buffers.
        check(Refilled { repeated: 0.5, ..plain }, 500..=620, 0.0);
        check(Refilled { repeated: 1.0, ..plain }, 40..=64, 0.0);
        check(Refilled { compressible: 1.0, ..plain }, 1..=1, 1.0);
    }
}

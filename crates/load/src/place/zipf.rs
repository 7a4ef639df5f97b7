//! Zipf-distributed popularity, drawn without a table.

use fastrand::Rng;

/// Ranks by rejection-inversion (W. Hörmann, G. Derflinger, "Rejection-inversion to generate variates from monotone
/// discrete distributions", 1996), scattered over the region by an affine permutation.
#[derive(Clone, Debug)]
pub(super) struct Zipf {
    blocks: u64,
    theta: f64,
    h_first: f64,
    h_last: f64,
    squeeze: f64,
    multiplier: u64,
}

impl Zipf {
    pub(super) fn new(blocks: u64, theta: f64) -> Self {
        let mut zipf = Self { blocks, theta, h_first: 0.0, h_last: 0.0, squeeze: 0.0, multiplier: scatter(blocks) };
        zipf.h_first = zipf.h(1.5) - 1.0;
        zipf.h_last = zipf.h(blocks as f64 + 0.5);
        zipf.squeeze = 2.0 - zipf.h_inverse(zipf.h(2.5) - libm::pow(2.0, -theta));
        zipf
    }

    pub(super) fn next(&self, rng: &mut Rng) -> u64 {
        loop {
            let u = self.h_last + rng.f64() * (self.h_first - self.h_last);
            let x = self.h_inverse(u);
            let rank = libm::round(x).clamp(1.0, self.blocks as f64);
            if rank - x <= self.squeeze || u >= self.h(rank + 0.5) - libm::pow(rank, -self.theta) {
                return self.permute(rank as u64 - 1);
            }
        }
    }

    /// Integral of `x^-theta`, with the constant that makes it exact near `theta = 1`.
    fn h(&self, x: f64) -> f64 {
        let log = libm::log(x);
        let q = (1.0 - self.theta) * log;
        log * if libm::fabs(q) > 1e-8 { libm::expm1(q) / q } else { 1.0 + q / 2.0 }
    }

    fn h_inverse(&self, y: f64) -> f64 {
        let t = (y * (1.0 - self.theta)).max(-1.0);
        libm::exp(y * if libm::fabs(t) > 1e-8 { libm::log1p(t) / t } else { 1.0 - t / 2.0 })
    }

    fn permute(&self, rank: u64) -> u64 {
        (rank as u128 * self.multiplier as u128 % self.blocks as u128) as u64
    }
}

/// A multiplier near `blocks / golden ratio` and coprime to `blocks`: a permutation that separates neighbouring ranks.
fn scatter(blocks: u64) -> u64 {
    const fn gcd(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { gcd(b, a % b) }
    }
    let mut multiplier = ((blocks as f64 * 0.618_033_988_749_895) as u64).max(1);
    while gcd(multiplier, blocks) != 1 {
        multiplier += 1;
    }
    multiplier
}

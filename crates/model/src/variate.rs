//! Service times: random values with a given mean and distribution.
//!
//! The distribution is a table of quantiles with linear interpolation: a draw costs a random number and a
//! multiplication. The two outermost bins, a thousandth of the draws, are computed in full, so that tails are exact.

use alloc::sync::Arc;
use alloc::vec::Vec;

use fastrand::Rng;
use plimsoll_units::{Kind, Op, Span};

use crate::spec::{Demand, Service};

/// Bins of the table; a power of two.
const BINS: usize = 2048;

/// The service time of a server.
#[derive(Clone, Debug)]
pub(crate) struct Variate {
    demand: Demand,
    /// Multiples of the mean at the bin borders; `None` for constant times.
    quantiles: Option<Arc<[f64]>>,
    rng: Rng,
}

impl Variate {
    pub(crate) fn new(demand: Demand, seed: u64) -> Self {
        let quantiles = (demand.spread != Service::Constant).then(|| Arc::from(tabulate(demand.spread)));
        Self { demand, quantiles, rng: Rng::with_seed(seed) }
    }

    /// The same distribution with another random stream.
    pub(crate) fn reseeded(&self, seed: u64) -> Self {
        Self { rng: Rng::with_seed(seed), ..self.clone() }
    }

    /// The time for an operation of which this server moves `bytes`.
    #[inline]
    pub(crate) fn draw(&mut self, op: &Op, bytes: u64) -> Span {
        let mean = match op.kind {
            Kind::Read => self.demand.mean,
            Kind::Write | Kind::DurableWrite | Kind::Trim => self.demand.write.unwrap_or(self.demand.mean),
            Kind::Flush => self.demand.flush.unwrap_or(self.demand.mean),
        };
        let time = self.spread_out(mean);
        match self.demand.rate_of(op.kind) {
            None => time,
            Some(rate) => time + Span::from_nanos(bytes * 1_000_000_000 / rate.get()),
        }
    }

    /// A random time with this mean.
    #[inline]
    pub(crate) fn spread_out(&mut self, mean: Span) -> Span {
        let Some(quantiles) = &self.quantiles else { return mean };
        let bits = self.rng.u64(..);
        let bin = (bits >> (64 - BINS.trailing_zeros())) as usize;
        let factor = if bin == 0 || bin == BINS - 1 {
            // 53 bits plus a half keep the value strictly between 0 and 1.
            quantile(self.demand.spread, ((bits >> 11) as f64 + 0.5) / (1_u64 << 53) as f64)
        } else {
            let within = (bits << BINS.trailing_zeros() >> 11) as f64 / (1_u64 << 53) as f64;
            quantiles[bin] + (quantiles[bin + 1] - quantiles[bin]) * within
        };
        Span::from_nanos((mean.as_nanos() as f64 * factor + 0.5) as u64)
    }
}

/// Quantiles at the bin borders, in multiples of the mean; 0 at the outermost.
fn tabulate(spread: Service) -> Vec<f64> {
    fn inner(quantile: impl Fn(f64) -> f64) -> Vec<f64> {
        let border = |bin: usize| if bin == 0 || bin == BINS { 0.0 } else { quantile(bin as f64 / BINS as f64) };
        (0..=BINS).map(border).collect()
    }
    match spread {
        Service::LogNormal(scv) => inner(lognormal(scv)),
        spread => inner(|share| quantile(spread, share)),
    }
}

/// The quantile in multiples of the mean; `share` strictly between 0 and 1.
fn quantile(spread: Service, share: f64) -> f64 {
    match spread {
        Service::Constant => 1.0,
        Service::Exponential => -libm::log1p(-share),
        Service::LogNormal(scv) => lognormal(scv)(share),
    }
}

/// Quantiles of `exp(mu + sigma * normal)` with mean 1.
fn lognormal(scv: f64) -> impl Fn(f64) -> f64 {
    let variance = libm::log1p(scv);
    let sigma = libm::sqrt(variance);
    move |share| libm::exp(sigma * normal_quantile(share) - variance / 2.0)
}

/// Numerator and denominator of the rational approximations of AS 241: near the centre, further out, and in the tails.
const CENTRE: [[f64; 8]; 2] = [
    [
        3.387_132_872_796_366_6,
        133.141_667_891_784_38,
        1_971.590_950_306_551_4,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ],
    [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_854,
    ],
];
const SHOULDER: [[f64; 8]; 2] = [
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        0.241_780_725_177_450_6,
        0.022_723_844_989_269_184,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        0.689_767_334_985_1,
        0.148_103_976_427_480_08,
        0.015_198_666_563_616_457,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
];
const TAIL: [[f64; 8]; 2] = [
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        0.296_560_571_828_504_87,
        0.026_532_189_526_576_124,
        0.001_242_660_947_388_078_4,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        0.599_832_206_555_888,
        0.136_929_880_922_735_8,
        0.014_875_361_290_850_615,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
];

/// The standard normal quantile, to about 16 digits (M. J. Wichura, algorithm AS 241, 1988).
fn normal_quantile(share: f64) -> f64 {
    let polynomial = |coefficients: &[f64; 8], x: f64| coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c);
    let ratio = |[above, below]: &[[f64; 8]; 2], x: f64| polynomial(above, x) / polynomial(below, x);
    let from_centre = share - 0.5;
    if libm::fabs(from_centre) <= 0.425 {
        return from_centre * ratio(&CENTRE, 0.180_625 - from_centre * from_centre);
    }
    let outside = libm::sqrt(-libm::log(if from_centre < 0.0 { share } else { 1.0 - share }));
    let distance = if outside <= 5.0 { ratio(&SHOULDER, outside - 1.6) } else { ratio(&TAIL, outside - 5.0) };
    if from_centre < 0.0 { -distance } else { distance }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_quantiles_invert_the_distribution() {
        for x in [-8.0, -5.5, -3.0, -1.5, -0.3, 0.0, 0.7, 1.1, 1.96, 3.3, 5.0] {
            let share = 0.5 * libm::erfc(-x / core::f64::consts::SQRT_2);
            let found = normal_quantile(share);
            assert!(libm::fabs(found - x) < 1e-9, "{x}: {found}");
        }
    }

    #[test]
    fn means_and_spreads_are_as_declared() {
        let op = Op { offset: 0, length: 0, kind: Kind::Read, stream: 0 };
        for spread in [Service::Exponential, Service::LogNormal(0.3), Service::LogNormal(4.0)] {
            let demand = Demand { spread, ..Demand::constant(Span::from_millis(1)) };
            let mut variate = Variate::new(demand, 3);
            let draws = 1_000_000;
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..draws {
                let factor = variate.draw(&op, 0).as_nanos() as f64 / 1e6;
                sum += factor;
                squares += factor * factor;
            }
            let mean = sum / f64::from(draws);
            let scv = squares / f64::from(draws) / (mean * mean) - 1.0;
            assert!(libm::fabs(mean - 1.0) < 0.005, "{spread:?}: mean {mean}");
            assert!(libm::fabs(scv / spread.scv() - 1.0) < 0.1, "{spread:?}: scv {scv}");
        }
    }
}

//! Arrival times: closed loads by queue depth, open loads by the clock.

use fastrand::Rng;
use plimsoll_units::{Instant, Iops, Span};
use serde::{Deserialize, Serialize};

/// Spacing of the arrivals of an open load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Arrival {
    /// Constant gaps.
    Constant,
    /// Independent arrivals with exponential gaps, as from many unrelated clients.
    Poisson,
    /// Times of a recording: a replay. Cannot be generated.
    Recorded,
}

/// Pace of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// Closed: a fixed number of operations in flight; each completion triggers the next.
    Closed {
        /// Queue depth, at least 1.
        depth: u32,
    },
    /// Open: operations arrive by the clock, regardless of completions.
    Open {
        /// Arrivals per second.
        rate: Iops,
        /// Spacing of arrivals.
        arrival: Arrival,
    },
}

impl Pace {
    /// Share of the load `part` of `parts` equal loads; a closed depth below `parts` is 1 for the first loads and
    /// `None` for the others.
    pub fn share(self, part: u32, parts: u32) -> Option<Self> {
        match self {
            Self::Closed { depth } => {
                let share = depth / parts + u32::from(part < depth % parts);
                (share > 0).then_some(Self::Closed { depth: share })
            }
            Self::Open { rate, arrival } => Some(Self::Open { rate: rate.scaled(1, u64::from(parts)), arrival }),
        }
    }
}

/// Arrival times of an open load.
#[derive(Clone, Debug)]
pub(crate) struct Clockwork {
    start: Instant,
    rate: Iops,
    taken: u64,
    gaps: Gaps,
}

#[derive(Clone, Debug)]
enum Gaps {
    Even,
    /// `elapsed_ns` is the sum of all gaps, as a float to avoid accumulated rounding: 53 bits hold 104 days in
    /// nanoseconds.
    Exponential {
        elapsed_ns: f64,
        mean_ns: f64,
        rng: Rng,
    },
}

impl Clockwork {
    /// `None` for arrivals that cannot be generated.
    pub(crate) fn new(start: Instant, rate: Iops, arrival: Arrival, seed: u64) -> Option<Self> {
        let gaps = match arrival {
            Arrival::Recorded => return None,
            Arrival::Constant => Gaps::Even,
            Arrival::Poisson => {
                let mut rng = Rng::with_seed(seed);
                let mean_ns = 1e9 / rate.as_f64();
                Gaps::Exponential { elapsed_ns: exponential(mean_ns, &mut rng), mean_ns, rng }
            }
        };
        Some(Self { start, rate, taken: 0, gaps })
    }

    /// Time of the next arrival.
    #[inline]
    pub(crate) fn next(&self) -> Instant {
        self.start
            + match &self.gaps {
                Gaps::Even => self.rate.time_of(self.taken),
                Gaps::Exponential { elapsed_ns, .. } => Span::from_nanos(*elapsed_ns as u64),
            }
    }

    /// Advances by `units` units of the rate.
    pub(crate) fn advance(&mut self, units: u64) {
        self.taken += units;
        if let Gaps::Exponential { elapsed_ns, mean_ns, rng } = &mut self.gaps {
            *elapsed_ns += exponential(*mean_ns, rng);
        }
    }
}

fn exponential(mean: f64, rng: &mut Rng) -> f64 {
    -mean * libm::log(1.0 - rng.f64())
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn rate_of_seven_million_does_not_drift() {
        let mut clockwork = Clockwork::new(Instant::ZERO, Iops::per_second(7_000_000), Arrival::Constant, 0).unwrap();
        for _ in 0..7_000_000 {
            clockwork.advance(1);
        }
        assert_eq!(clockwork.next(), Instant::from_nanos(1_000_000_000));
    }

    #[test]
    fn poisson_gaps_have_mean_and_variance() {
        let mut clockwork = Clockwork::new(Instant::ZERO, Iops::per_second(10_000), Arrival::Poisson, 3).unwrap();
        let (mut last, mut sum, mut squares) = (Instant::ZERO, 0.0, 0.0);
        let n = 200_000;
        for _ in 0..n {
            let gap = clockwork.next().since(last).as_nanos() as f64;
            last = clockwork.next();
            sum += gap;
            squares += gap * gap;
            clockwork.advance(1);
        }
        let mean = sum / f64::from(n);
        let scv = squares / f64::from(n) / (mean * mean) - 1.0;
        assert!((mean - 1e5).abs() < 1e3, "mean gap {mean} ns");
        assert!((scv - 1.0).abs() < 0.03, "squared coefficient of variation {scv}");
    }

    #[test]
    fn shares_of_a_depth_add_up() {
        let shares = |depth, parts| {
            (0..parts)
                .filter_map(|part| Pace::Closed { depth }.share(part, parts))
                .map(|pace| if let Pace::Closed { depth } = pace { depth } else { 0 })
                .sum::<u32>()
        };
        assert_eq!(shares(7, 4), 7);
        assert_eq!(shares(2, 4), 2);
    }
}

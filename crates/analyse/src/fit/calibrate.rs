//! Calibration of a volume's latency: the time of an operation from histograms that the volume itself counts, behind the
//! limits that its vendor states.

use plimsoll_language::{label, say};
use plimsoll_model::{ChainSpec, Demand, Named, Service, StageSpec};
use plimsoll_units::Span;

use super::doubt::{FitDoubt, Identification};
use super::range::FittedRange;
use super::{Fitted, Misfit, Parameter, StatedLimits};

/// Fewer operations of a kind do not show their distribution.
const MIN_OPERATIONS: f64 = 1_000.0;
/// Share of the time at a limit above which histograms are those of the limit.
const MAX_LIMITED_SHARE: f64 = 0.05;
/// Operations that a volume serves at a time, as in the catalogue's models of network storage.
const SERVERS: u32 = 256;
/// Steps of the estimate; it converges in about a tenth of them.
const STEPS: usize = 500;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct VolumeLatencies {
    pub reads: CountedLatencies,
    pub writes: CountedLatencies,
    /// Seconds in which they were counted.
    pub seconds: f64,
    /// Share of that time in which a limit held operations; none if no counter has it.
    pub limited_share: Option<f64>,
}

/// Operations of a kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CountedLatencies {
    pub operations: f64,
    /// Their bytes.
    pub bytes: f64,
    /// Sum of their times in seconds.
    pub busy_s: f64,
    /// Operations by the microseconds that they took: lower and upper bound, and number.
    pub bins: Vec<([u64; 2], f64)>,
}

/// Reason why a latency cannot be calibrated.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotCalibrated {
    #[error("the histograms have fewer than {MIN_OPERATIONS} operations: give counters of a longer time")]
    FewOperations,
    /// The histograms are those of operations that waited for a limit.
    #[error(
        "a limit held operations in {:.0} % of the time, so that the histograms show its queue: give counters of a time below the \
         limits",
        share * 100.0
    )]
    Limited { share: f64 },
    #[error("the calibrated stages are no model: {0}")]
    NoModel(String),
}

/// A log-normal distribution of times in microseconds.
#[derive(Clone, Copy, Debug)]
struct LogNormal {
    /// Mean and standard deviation of the logarithm.
    location: f64,
    scale: f64,
}

impl LogNormal {
    fn mean_us(self) -> f64 {
        (self.location + self.scale * self.scale / 2.0).exp()
    }

    /// Squared coefficient of variation.
    fn variation(self) -> f64 {
        (self.scale * self.scale).exp_m1()
    }

    /// Share of times up to a bound.
    fn share_within(self, bound_us: u64) -> f64 {
        if bound_us == 0 { 0.0 } else { normal_share(((bound_us as f64).ln() - self.location) / self.scale) }
    }

    /// Largest difference from the counted shares at the bounds of bins.
    fn distance(self, bins: &[([u64; 2], f64)]) -> f64 {
        let all: f64 = bins.iter().map(|(_, count)| count).sum();
        let mut counted = 0.0;
        let differences = bins.iter().map(|([_, upper], count)| {
            counted += count / all;
            (self.share_within(*upper) - counted).abs()
        });
        differences.fold(0.0, f64::max)
    }

    /// Maximum likelihood for counts in bins by expectation maximisation (Dempster, Laird and Rubin 1977, section 4.2). The
    /// scale has a lower bound, because a single bin does not show it.
    fn fit(bins: &[([u64; 2], f64)]) -> Self {
        const MIN_SCALE: f64 = 0.05;
        let middle =
            |[lower, upper]: [u64; 2]| ((lower.max(upper / 2).max(1) as f64) * upper.max(1) as f64).sqrt().ln();
        let all: f64 = bins.iter().map(|(_, count)| count).sum();
        let location = bins.iter().map(|(bounds, count)| count * middle(*bounds)).sum::<f64>() / all;
        let mut found = Self { location, scale: 1.0 };
        for _ in 0..STEPS {
            let (mut first, mut second) = (0.0, 0.0);
            for (bounds, count) in bins {
                let [mean, square] = found.moments(*bounds).unwrap_or_else(|| {
                    let off = middle(*bounds) - found.location;
                    [off, off * off]
                });
                first += count * mean;
                second += count * square;
            }
            let shift = first / all;
            let scale = (second / all - shift * shift).max(MIN_SCALE * MIN_SCALE).sqrt();
            found = Self { location: found.location + shift, scale };
        }
        found
    }

    /// Mean and mean square of the logarithm's distance from the location inside a bin; none where the bin is so far out
    /// that it has no share.
    fn moments(self, [lower, upper]: [u64; 2]) -> Option<[f64; 2]> {
        const MIN_SHARE: f64 = 1e-12;
        let standard = |bound: u64| ((bound as f64).ln() - self.location) / self.scale;
        let (low, high) = (if lower == 0 { f64::NEG_INFINITY } else { standard(lower) }, standard(upper));
        let share = normal_share(high) - normal_share(low);
        let weighted = |z: f64| if z.is_finite() { z * density(z) } else { 0.0 };
        let mean = self.scale * (density(low) - density(high)) / share;
        let square = self.scale * self.scale * (1.0 + (weighted(low) - weighted(high)) / share);
        (share > MIN_SHARE).then_some([mean, square])
    }
}

/// Standard normal distribution.
fn normal_share(z: f64) -> f64 {
    0.5 * libm::erfc(-z / std::f64::consts::SQRT_2)
}

fn density(z: f64) -> f64 {
    (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// A kind of operations with its distribution.
struct Kind<'a> {
    name: &'static str,
    counted: &'a CountedLatencies,
    times: LogNormal,
}

impl Kind<'_> {
    fn mean_ns(&self) -> f64 {
        self.times.mean_us() * 1e3
    }

    /// Relative error of the mean against the counted sum of times.
    fn error(&self) -> f64 {
        (self.times.mean_us() / (1e6 * self.counted.busy_s / self.counted.operations) - 1.0).abs()
    }
}

/// Fits the time of an operation to histograms of a volume, behind the stated limits.
pub fn calibrate(latencies: &VolumeLatencies, limits: StatedLimits<'_>) -> Result<Fitted, NotCalibrated> {
    let kinds = [(label!("read"), &latencies.reads), (label!("write"), &latencies.writes)];
    let kinds: Vec<Kind<'_>> = kinds
        .into_iter()
        .filter(|(_, counted)| counted.operations >= MIN_OPERATIONS && !counted.bins.is_empty())
        .map(|(name, counted)| Kind { name, counted, times: LogNormal::fit(&counted.bins) })
        .collect();
    if kinds.is_empty() {
        return Err(NotCalibrated::FewOperations);
    }
    let limited = latencies.limited_share.unwrap_or(0.0);
    if limited > MAX_LIMITED_SHARE {
        return Err(NotCalibrated::Limited { share: limited });
    }
    let all: f64 = kinds.iter().map(|kind| kind.counted.operations).sum();
    let over = |value: &dyn Fn(&Kind<'_>) -> f64| {
        kinds.iter().map(|kind| kind.counted.operations * value(kind)).sum::<f64>() / all
    };
    let variation = over(&|kind| kind.times.variation());
    let span = |kind: &Kind<'_>| Span::from_nanos(kind.mean_ns().round() as u64);
    let write = kinds.iter().skip(1).map(span).next();
    let demand = Demand {
        mean: span(&kinds[0]),
        write,
        flush: None,
        rate: None,
        write_rate: None,
        spread: Service::LogNormal(variation),
    };
    let station = StageSpec::Station { servers: SERVERS, demand };
    let mut stages = limits.stages.stages().to_vec();
    stages.push(Named { stage: station, name: Some("media and network".into()) });
    let errors = kinds.iter().map(Kind::error);
    let error = Misfit { mean: over(&|kind| kind.error()), worst: errors.fold(0.0, f64::max) };
    Ok(Fitted {
        spec: ChainSpec::new(stages).map_err(|invalid| NotCalibrated::NoModel(invalid.0))?,
        parameters: list_parameters(&kinds, variation),
        error,
        held_out: None,
        heaviest: None,
        uncertainty: error.worst,
        range: counted_range(latencies, &kinds, all),
        alternatives: Vec::new(),
        rival: None,
        doubts: list_doubts(latencies, &kinds, limits),
    })
}

fn list_parameters(kinds: &[Kind<'_>], variation: f64) -> Vec<Parameter> {
    let identified_by =
        |kind: &Kind<'_>| Identification::Histogram { kind: kind.name, operations: kind.counted.operations };
    let times = kinds.iter().map(|kind| Parameter {
        name: say!("media and network, time of a {}", kind.name),
        value: kind.mean_ns(),
        unit: "ns",
        interval: None,
        identified: true,
        identified_by: identified_by(kind),
    });
    let spread = Parameter {
        name: label!("media and network, squared variation").to_owned(),
        value: variation,
        unit: "",
        interval: None,
        identified: true,
        identified_by: identified_by(&kinds[0]),
    };
    times.chain([spread]).collect()
}

fn list_doubts(latencies: &VolumeLatencies, kinds: &[Kind<'_>], limits: StatedLimits<'_>) -> Vec<FitDoubt> {
    let shapes = kinds
        .iter()
        .map(|kind| FitDoubt::HistogramShape { kind: kind.name, distance: kind.times.distance(&kind.counted.bins) });
    let only = (kinds.len() == 1).then(|| FitDoubt::OneKind { kind: kinds[0].name });
    let limited = match latencies.limited_share {
        None => Some(FitDoubt::UnknownLimitTime),
        Some(share) if share > 0.0 => Some(FitDoubt::LimitTime { share }),
        Some(_) => None,
    };
    let stated = FitDoubt::CalibratedLimits { of: limits.of.to_owned() };
    shapes.chain(only).chain(limited).chain([stated]).collect()
}

/// Sizes, operations in flight and mix that were counted.
fn counted_range(latencies: &VolumeLatencies, kinds: &[Kind<'_>], all: f64) -> FittedRange {
    let sizes = || kinds.iter().map(|kind| (kind.counted.bytes / kind.counted.operations).round() as u64);
    let busy_s: f64 = kinds.iter().map(|kind| kind.counted.busy_s).sum();
    let in_flight = busy_s / latencies.seconds;
    let reads = latencies.reads.operations.min(all) / all;
    FittedRange {
        block_bytes: (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0)),
        in_flight: (in_flight, in_flight),
        reads: (reads, reads),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts of a log-normal distribution in bins with edges of powers of two, as EBS has them.
    fn sample(mean_us: f64, variation: f64, operations: f64) -> CountedLatencies {
        let scale = variation.ln_1p().sqrt();
        let times = LogNormal { location: mean_us.ln() - scale * scale / 2.0, scale };
        let edges = || (0..24).map(|power| if power == 0 { 0 } else { 1_u64 << power });
        let bins = edges().zip(edges().skip(1)).map(|(lower, upper)| {
            ([lower, upper], operations * (times.share_within(upper) - times.share_within(lower)))
        });
        let bins = bins.filter(|(_, count)| *count >= 1.0).collect();
        CountedLatencies { operations, bytes: 8_192.0 * operations, busy_s: operations * mean_us / 1e6, bins }
    }

    fn calibrated(latencies: &VolumeLatencies) -> Result<Fitted, NotCalibrated> {
        let stages = plimsoll_model::parse("limit(3000)").unwrap();
        calibrate(latencies, StatedLimits { of: "aws/gp3:100GiB", stages: &stages })
    }

    #[test]
    fn a_distribution_is_found_from_bins_of_powers_of_two() {
        for (read_us, write_us, variation) in [(700.0, 1_100.0, 0.3), (250.0, 900.0, 0.05), (5_000.0, 9_000.0, 2.0)] {
            let latencies = VolumeLatencies {
                reads: sample(read_us, variation, 1e6),
                writes: sample(write_us, variation, 4e5),
                seconds: 3_600.0,
                limited_share: Some(0.0),
            };
            let fitted = calibrated(&latencies).unwrap();
            let values: Vec<f64> = fitted.parameters.iter().map(|parameter| parameter.value).collect();
            let near = |value: f64, expected: f64, share: f64| (value / expected - 1.0).abs() <= share;
            assert!(near(values[0], 1e3 * read_us, 0.01) && near(values[1], 1e3 * write_us, 0.01), "{values:?}");
            assert!(near(values[2], variation, 0.05), "{values:?}");
            assert!(fitted.uncertainty < 0.01, "{:?}", fitted.error);
            assert!(fitted.spec.to_string().starts_with("limit(3000) then station(256, "), "{}", fitted.spec);
            assert_eq!(fitted.range.block_bytes, (8_192, 8_192));
        }
    }

    #[test]
    fn histograms_of_limits_and_of_few_operations_are_refused() {
        let of = |operations: f64, limited_share: Option<f64>| {
            let reads = sample(700.0, 0.3, operations);
            VolumeLatencies { reads, seconds: 60.0, limited_share, ..VolumeLatencies::default() }
        };
        assert_eq!(calibrated(&of(900.0, None)).unwrap_err(), NotCalibrated::FewOperations);
        assert_eq!(calibrated(&of(1e6, Some(0.7))).unwrap_err(), NotCalibrated::Limited { share: 0.7 });
        let doubts = |latencies| calibrated(&latencies).unwrap().doubts;
        assert!(doubts(of(1e6, None)).contains(&FitDoubt::UnknownLimitTime));
        assert!(doubts(of(1e6, Some(0.01))).contains(&FitDoubt::LimitTime { share: 0.01 }));
        assert!(doubts(of(1e6, Some(0.0))).contains(&FitDoubt::OneKind { kind: "read" }));
    }

    #[test]
    fn a_sum_of_times_that_contradicts_the_histogram_is_an_error_of_the_model() {
        let mut reads = sample(700.0, 0.3, 1e6);
        reads.busy_s *= 2.0;
        let latencies = VolumeLatencies { reads, seconds: 3_600.0, limited_share: Some(0.0), ..Default::default() };
        assert!((calibrated(&latencies).unwrap().uncertainty - 0.5).abs() < 0.01);
    }

    #[test]
    fn a_single_bin_has_a_time_inside_it() {
        let times = LogNormal::fit(&[([512, 1_024], 1e4)]);
        assert!((512.0..1_024.0).contains(&times.mean_us()) && times.variation().is_finite(), "{times:?}");
    }
}

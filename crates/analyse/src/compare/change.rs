//! Pairs of quantities of two curves, and their ratios with intervals.

use plimsoll_load::Pace;
use plimsoll_record::{Estimate, Run, Steadiness};

use super::{Change, Incomparable, Quantity, Verdict};
use crate::standing::{offered_size, pooled};

/// Minimum real change between consecutive runs: of rates, and of response times.
const FLOOR_RATE: f64 = 0.05;
const FLOOR_RESPONSE: f64 = 0.10;
/// Repeatability limit: standard deviations by which two results of the same thing may differ (ISO 5725-6).
const REPEATABLE: f64 = 2.8;
/// Maximum relative difference of rates of equal open loads.
const SAME_RATE: f64 = 0.01;

/// A quantity of both curves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) quantity: Quantity,
    pub(super) offered: Option<Pace>,
    pub(super) a: Estimate,
    pub(super) b: Estimate,
}

/// All runs of an offered load.
pub(crate) struct LoadRuns<'a> {
    pub(crate) offered: Pace,
    runs: Vec<&'a Run>,
}

impl LoadRuns<'_> {
    pub(crate) fn estimate(&self, quantity: Quantity) -> Option<Estimate> {
        let weighted = |run: &&Run| (read(run, quantity), run.total.operations().max(1) as f64);
        pooled(&self.runs.iter().map(weighted).collect::<Vec<_>>()).filter(|estimate| estimate.value > 0.0)
    }

    pub(crate) fn is_overloaded(&self) -> bool {
        self.runs.iter().any(|run| run.figures.steadiness == Steadiness::Overloaded)
    }

    fn is_same_load(&self, other: &Self) -> bool {
        self.offers(other.offered)
    }

    /// True for this load, also with a rate that differs by rounding.
    pub(crate) fn offers(&self, offered: Pace) -> bool {
        match (self.offered, offered) {
            (Pace::Open { rate: mine, arrival }, Pace::Open { rate: theirs, arrival: other }) => {
                arrival == other && (mine.as_f64() / theirs.as_f64() - 1.0).abs() <= SAME_RATE
            }
            (mine, theirs) => mine == theirs,
        }
    }
}

fn read(run: &Run, quantity: Quantity) -> Estimate {
    match quantity {
        Quantity::MostIops | Quantity::LoadLine | Quantity::Iops => run.figures.iops,
        Quantity::Mean => run.figures.mean_ns,
        Quantity::P99 => run.figures.p99_ns,
    }
}

/// Runs of both curves by offered load.
pub(super) struct Paired<'a> {
    a: Vec<LoadRuns<'a>>,
    b: Vec<LoadRuns<'a>>,
}

impl<'a> Paired<'a> {
    pub(super) fn of(a: &'a [Run], b: &'a [Run]) -> Self {
        Self { a: grouped(a), b: grouped(b) }
    }

    /// Loads offered in both curves, closed before open, lightest first.
    fn matched(&self) -> impl Iterator<Item = (&LoadRuns<'a>, &LoadRuns<'a>)> {
        self.a.iter().filter_map(|a| Some((a, self.b.iter().find(|b| a.is_same_load(b))?)))
    }

    /// Pairs of quantities per load: a closed load shows changes in the rate, an open load in response times, unless
    /// overloaded.
    pub(super) fn points(&self) -> Vec<Pair> {
        let numbers = |a: &LoadRuns<'_>, b: &LoadRuns<'_>| match a.offered {
            Pace::Closed { .. } => [Quantity::Iops, Quantity::P99].as_slice(),
            Pace::Open { .. } if a.is_overloaded() || b.is_overloaded() => &[Quantity::Iops],
            Pace::Open { .. } => &[Quantity::Mean, Quantity::P99],
        };
        self.matched()
            .flat_map(|(a, b)| numbers(a, b).iter().filter_map(move |&quantity| pair(a, b, quantity)))
            .collect()
    }

    pub(super) fn at_depth_1(&self) -> Vec<Pair> {
        let depth_1 = self.matched().filter(|(a, _)| a.offered == Pace::Closed { depth: 1 });
        depth_1.filter_map(|(a, b)| pair(a, b, Quantity::Mean)).collect()
    }

    /// The highest rates; `None` if a side was not saturated, as its rate is that which was offered.
    pub(super) fn max_iops(&self) -> Option<Pair> {
        let is_saturated = |group: &LoadRuns<'_>| matches!(group.offered, Pace::Closed { .. }) || group.is_overloaded();
        let is_limited = |groups: &[LoadRuns<'_>]| groups.iter().any(is_saturated);
        if !is_limited(&self.a) || !is_limited(&self.b) {
            return None;
        }
        let max = |groups: &[LoadRuns<'_>]| {
            let rates = groups.iter().filter_map(|group| group.estimate(Quantity::Iops));
            rates.max_by(|a, b| a.value.total_cmp(&b.value))
        };
        Some(Pair { quantity: Quantity::MostIops, offered: None, a: max(&self.a)?, b: max(&self.b)? })
    }

    /// Minimum relative change that is real: the default, or more if repetitions of a load scatter more.
    pub(super) fn floor(&self, quantity: Quantity) -> f64 {
        let (mut squares, mut degrees) = (0.0, 0.0);
        for group in self.a.iter().chain(&self.b).filter(|group| group.runs.len() > 1) {
            let logs: Vec<f64> = group.runs.iter().map(|run| read(run, quantity).value.max(1e-9).ln()).collect();
            let mean = logs.iter().sum::<f64>() / logs.len() as f64;
            squares += logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
            degrees += logs.len() as f64 - 1.0;
        }
        let least = match quantity {
            Quantity::MostIops | Quantity::LoadLine | Quantity::Iops => FLOOR_RATE,
            Quantity::Mean | Quantity::P99 => FLOOR_RESPONSE,
        };
        if degrees > 0.0 { least.max((REPEATABLE * f64::sqrt(squares / degrees)).exp_m1()) } else { least }
    }
}

fn pair(a: &LoadRuns<'_>, b: &LoadRuns<'_>, quantity: Quantity) -> Option<Pair> {
    Some(Pair { quantity, offered: Some(a.offered), a: a.estimate(quantity)?, b: b.estimate(quantity)? })
}

/// Runs by offered load, closed before open, lightest first.
pub(crate) fn grouped(runs: &[Run]) -> Vec<LoadRuns<'_>> {
    let mut groups: Vec<LoadRuns<'_>> = Vec::new();
    for run in runs {
        match groups.iter_mut().find(|group| group.offered == run.offered) {
            Some(group) => group.runs.push(run),
            None => groups.push(LoadRuns { offered: run.offered, runs: vec![run] }),
        }
    }
    let sort = |group: &LoadRuns<'_>| (matches!(group.offered, Pace::Open { .. }), offered_size(group.offered));
    groups.sort_by(|a, b| sort(a).0.cmp(&sort(b).0).then(sort(a).1.total_cmp(&sort(b).1)));
    groups
}

/// Judges a pair as one of `numbers` comparisons; changes below `floor` count as noise.
pub(super) fn judged(pair: Pair, numbers: usize, floor: f64) -> Change {
    let Pair { quantity, offered, a, b } = pair;
    let value = b.value / a.value;
    // Half width of the logarithm's interval.
    let half = |estimate: Estimate| {
        let (low, high) = estimate.interval?;
        (low > 0.0).then(|| (high / low).ln() / 2.0)
    };
    let half = half(a).zip(half(b)).map(|(a, b)| a.hypot(b) * widening(numbers));
    let interval = half.map(|half| (value * (-half).exp(), value * half.exp()));
    let more_is_better = !matches!(quantity, Quantity::Mean | Quantity::P99);
    let verdict = match interval {
        None => Verdict::NotComparable(Incomparable::NoInterval),
        Some((low, _)) if low > 1.0 && value > 1.0 + floor => better(more_is_better),
        Some((_, high)) if high < 1.0 && value < 1.0 / (1.0 + floor) => better(!more_is_better),
        Some(_) => Verdict::NoRealChange,
    };
    Change { quantity, offered, a: a.value, b: b.value, ratio: Estimate { value, interval }, floor, verdict }
}

const fn better(is: bool) -> Verdict {
    if is { Verdict::Better } else { Verdict::Worse }
}

/// Factor on the width of each of `numbers` 95 % intervals for a joint level of 95 % (Bonferroni), by normal quantiles.
fn widening(numbers: usize) -> f64 {
    normal_tail(0.025 / numbers.max(1) as f64) / normal_tail(0.025)
}

/// Upper quantile of the standard normal distribution for this probability, at most 0.5 (Abramowitz & Stegun 26.2.23;
/// error at most 0.0005).
fn normal_tail(probability: f64) -> f64 {
    let t = (-2.0 * probability.ln()).sqrt();
    let over = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let under = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - over / under
}

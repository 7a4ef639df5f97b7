//! Pairs of quantities of two curves, and their ratios with intervals.

use plimsoll_load::Pace;
use plimsoll_record::{Curve, Estimate, Finding, Run, Steadiness};

use super::lines::{RUNS_FOR_SCATTER, SideDifference};
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
    /// The generator of a side was late at this load.
    pub(super) is_late: bool,
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

    fn is_late(&self) -> bool {
        let is_late = |finding: &Finding| matches!(finding, Finding::GeneratorLate { .. });
        self.runs.iter().any(|run| run.findings.iter().any(is_late))
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
        self.matched()
            .flat_map(|(a, b)| quantities(&[a, b]).iter().filter_map(move |&quantity| pair(a, b, quantity)))
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
        Some(Pair { quantity: Quantity::MostIops, offered: None, a: max(&self.a)?, b: max(&self.b)?, is_late: false })
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
        let least = least_floor(quantity);
        if degrees > 0.0 { least.max((REPEATABLE * f64::sqrt(squares / degrees)).exp_m1()) } else { least }
    }
}

fn pair(a: &LoadRuns<'_>, b: &LoadRuns<'_>, quantity: Quantity) -> Option<Pair> {
    let is_late = a.is_late() || b.is_late();
    Some(Pair { quantity, offered: Some(a.offered), a: a.estimate(quantity)?, b: b.estimate(quantity)?, is_late })
}

const fn least_floor(quantity: Quantity) -> f64 {
    match quantity {
        Quantity::MostIops | Quantity::LoadLine | Quantity::Iops => FLOOR_RATE,
        Quantity::Mean | Quantity::P99 => FLOOR_RESPONSE,
    }
}

/// Quantities of a load: a closed load shows changes in the rate, an open load in response times, unless overloaded.
fn quantities(all: &[&LoadRuns<'_>]) -> &'static [Quantity] {
    match all[0].offered {
        Pace::Closed { .. } => &[Quantity::Iops, Quantity::P99],
        Pace::Open { .. } if all.iter().any(|runs| runs.is_overloaded()) => &[Quantity::Iops],
        Pace::Open { .. } => &[Quantity::Mean, Quantity::P99],
    }
}

/// Quantities at the loads that all curves of both sides offered, by the scatter between the curves of a side (Welch).
///
/// # Errors
/// A side has fewer than three curves.
pub(super) fn compare_loads([a, b]: [&[Curve]; 2]) -> Result<Vec<Change>, Incomparable> {
    if a.len().min(b.len()) < RUNS_FOR_SCATTER {
        return Err(Incomparable::TwoRuns);
    }
    let curves: Vec<Vec<LoadRuns<'_>>> = a.iter().chain(b).map(|curve| grouped(&curve.runs)).collect();
    let find_all = |load: &LoadRuns<'_>| {
        curves.iter().map(|own| own.iter().find(|runs| runs.is_same_load(load))).collect::<Option<Vec<_>>>()
    };
    let shared: Vec<Vec<&LoadRuns<'_>>> = curves[0].iter().filter_map(find_all).collect();
    let numbers = shared.iter().map(|all| quantities(all).len()).sum();
    let changes = shared.iter().flat_map(|all| {
        quantities(all).iter().filter_map(move |&quantity| {
            let estimates: Vec<Estimate> = all.iter().map(|runs| runs.estimate(quantity)).collect::<Option<_>>()?;
            Some(judge_sides(quantity, all, estimates.split_at(a.len()), numbers))
        })
    });
    Ok(changes.collect())
}

fn judge_sides(quantity: Quantity, all: &[&LoadRuns<'_>], sides: (&[Estimate], &[Estimate]), numbers: usize) -> Change {
    let difference = SideDifference::of_estimates([sides.0, sides.1]);
    let mean =
        |side: &[Estimate]| (side.iter().map(|estimate| estimate.value.ln()).sum::<f64>() / side.len() as f64).exp();
    let half = difference.as_ref().map(|difference| difference.half * widening(numbers));
    let floor = difference.map_or(0.0, |difference| difference.least.exp_m1()).max(least_floor(quantity));
    let is_late = all.iter().any(|runs| runs.is_late());
    conclude((quantity, Some(all[0].offered)), [mean(sides.0), mean(sides.1)], half, floor, is_late)
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
    let Pair { quantity, offered, a, b, is_late } = pair;
    // Half width of the logarithm's interval.
    let half = |estimate: Estimate| {
        let (low, high) = estimate.interval?;
        (low > 0.0).then(|| (high / low).ln() / 2.0)
    };
    let half = half(a).zip(half(b)).map(|(a, b)| a.hypot(b) * widening(numbers));
    conclude((quantity, offered), [a.value, b.value], half, floor, is_late)
}

/// The change between two values, with the half width of the interval of the logarithm of their ratio.
fn conclude(
    (quantity, offered): (Quantity, Option<Pace>),
    [a, b]: [f64; 2],
    half: Option<f64>,
    floor: f64,
    is_late: bool,
) -> Change {
    let value = b / a;
    let interval = half.map(|half| (value * (-half).exp(), value * half.exp()));
    let more_is_better = !matches!(quantity, Quantity::Mean | Quantity::P99);
    let verdict = match interval {
        // The lateness is a part of the response times.
        _ if is_late => Verdict::NotComparable(Incomparable::LateGenerator),
        None => Verdict::NotComparable(Incomparable::NoInterval),
        Some((low, _)) if low > 1.0 && value > 1.0 + floor => better(more_is_better),
        Some((_, high)) if high < 1.0 && value < 1.0 / (1.0 + floor) => better(!more_is_better),
        Some(_) => Verdict::NoRealChange,
    };
    Change { quantity, offered, a, b, ratio: Estimate { value, interval }, floor, verdict }
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

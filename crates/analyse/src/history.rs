//! Changes of a figure in a series of runs: of the load line, or of a named load.
//!
//! The series is divided where the ranks of the runs before and after differ most (Pettitt, 1979), if at most one in a hundred
//! random orders of the same runs has such a difference, and then each part. The figures on both sides of a change are
//! compared as those of two sets of runs.

use fastrand::Rng;
use plimsoll_load::Pace;
use plimsoll_record::{Curve, Estimate, LoadLine, Objective};

use crate::compare::{LoadRuns, Quantity, SideDifference, grouped};
use crate::load_line::judged;

/// Minimum number of runs in which a change is sought: in fewer, no order is rarer than one in a hundred.
pub const MIN_SERIES: usize = 10;
/// Minimum number of runs on each side of a change.
const MIN_RUNS: usize = 3;
/// Random orders of a series.
const ORDERS: u32 = 2_000;
/// Share of the random orders that may have such a difference.
const SIGNIFICANCE: f64 = 0.01;

/// Compared figure of a series of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SeriesFigure {
    /// Load line under an objective, in operations per second.
    LoadLine(Objective),
    /// Figure of a named load: operations per second, or the response time in nanoseconds.
    Named(Quantity, Pace),
}

impl SeriesFigure {
    /// The figure of a series in chronological order: the load line; if the newest run has named loads and most runs have no
    /// load line with an interval, the response time (p99, else the mean) of the heaviest open load, else the rate of the
    /// deepest closed load. A load at which most runs are overloaded, or have no interval, is used only if there is no other.
    pub fn of_series(runs: &[&Curve]) -> Option<Self> {
        let newest = runs.last()?;
        let line = newest.load_line.map(|line| Self::LoadLine(line.objective()));
        if !newest.slots.is_empty() {
            return line;
        }
        let figures = |load: &LoadRuns<'_>| match load.offered {
            Pace::Open { .. } => [Quantity::P99, Quantity::Mean].map(|quantity| Self::Named(quantity, load.offered)),
            Pace::Closed { .. } => [Quantity::Iops, Quantity::Mean].map(|quantity| Self::Named(quantity, load.offered)),
        };
        let named: Vec<Self> = grouped(&newest.runs).iter().rev().flat_map(figures).collect();
        let is_usual = |figure: &&Self| {
            let usable = runs.iter().filter(|run| figure.of(run).is_some_and(|value| !value.is_overloaded));
            2 * usable.count() > runs.len()
        };
        line.iter().chain(&named).find(is_usual).or(named.first()).copied()
    }

    /// The figure of a run, with its interval; `None` if it has none.
    pub fn of(self, run: &Curve) -> Option<SeriesValue> {
        match self {
            Self::LoadLine(objective) => match judged(run, objective)?.0 {
                LoadLine::At { iops, .. } if iops.interval.is_some() => {
                    Some(SeriesValue { estimate: iops, is_overloaded: false })
                }
                _ => None,
            },
            Self::Named(quantity, offered) => {
                let loads = if run.slots.is_empty() { grouped(&run.runs) } else { Vec::new() };
                let load = loads.iter().find(|load| load.offers(offered))?;
                let (Estimate { value, interval }, is_overloaded) = (load.estimate(quantity)?, load.is_overloaded());
                // The response time of an overloaded run is at least this.
                let interval = interval.or(is_overloaded.then_some((value, value)))?;
                Some(SeriesValue { estimate: Estimate { value, interval: Some(interval) }, is_overloaded })
            }
        }
    }

    pub const fn quantity(self) -> Quantity {
        match self {
            Self::LoadLine(_) => Quantity::LoadLine,
            Self::Named(quantity, _) => quantity,
        }
    }

    /// The named load.
    pub const fn offered(self) -> Option<Pace> {
        match self {
            Self::LoadLine(_) => None,
            Self::Named(_, offered) => Some(offered),
        }
    }

    /// True for a rate, false for a response time.
    pub const fn is_rate(self) -> bool {
        !matches!(self.quantity(), Quantity::Mean | Quantity::P99)
    }
}

/// Figure of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesValue {
    pub estimate: Estimate,
    /// The load exceeded the storage's maximum: the response time depends on the duration.
    pub is_overloaded: bool,
}

/// A change of the figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesChange {
    /// Index of the first run after the change.
    pub at: usize,
    /// Numbers of runs since the previous change, and until the next.
    pub counts: [usize; 2],
    /// Geometric means of the figure before and after.
    pub a: f64,
    pub b: f64,
    /// `b / a` with its 95 % interval.
    pub ratio: Estimate,
    /// Whether the later runs are better: more operations, or shorter response times.
    pub is_better: bool,
}

/// Finds the changes of a figure in chronological order. Each value must have an interval.
pub fn find_changes(figure: SeriesFigure, series: &[Estimate]) -> Vec<SeriesChange> {
    let values: Vec<f64> = series.iter().map(|estimate| estimate.value).collect();
    let mut cuts = vec![0, series.len()];
    divide(&values, 0, &mut cuts);
    cuts.sort_unstable();
    let mut changes: Vec<SeriesChange> = Vec::new();
    let mut begin = 0;
    for part in cuts.windows(2).skip(1) {
        let sides = [&series[begin..part[0]], &series[part[0]..part[1]]];
        if let Some(SideDifference { counts, logs, half, least }) = SideDifference::of_estimates(sides)
            && (logs[1] - logs[0]).abs() > least
        {
            let difference = logs[1] - logs[0];
            let interval = Some(((difference - half).exp(), (difference + half).exp()));
            changes.push(SeriesChange {
                at: part[0],
                counts,
                a: logs[0].exp(),
                b: logs[1].exp(),
                ratio: Estimate { value: difference.exp(), interval },
                is_better: (difference > 0.0) == figure.is_rate(),
            });
            begin = part[0];
        }
    }
    changes
}

/// Adds the cuts of a part of the series, which begins at `offset`.
fn divide(values: &[f64], offset: usize, cuts: &mut Vec<usize>) {
    if values.len() < MIN_SERIES {
        return;
    }
    let mut ranks = rank(values);
    let (cut, difference) = find_cut(&ranks);
    let mut rng = Rng::with_seed(1);
    let exceeds = |_: &u32| {
        rng.shuffle(&mut ranks);
        find_cut(&ranks).1 >= difference
    };
    let as_different = (0..ORDERS).filter(exceeds).count();
    if (as_different as f64) < SIGNIFICANCE * f64::from(ORDERS) {
        cuts.push(offset + cut);
        divide(&values[..cut], offset, cuts);
        divide(&values[cut..], offset + cut, cuts);
    }
}

/// Ranks from 1; equal values have their mean rank.
fn rank(values: &[f64]) -> Vec<f64> {
    let below = |value: f64| values.iter().filter(|other| **other < value).count() as f64;
    let equal = |value: f64| values.iter().filter(|other| other.total_cmp(&value).is_eq()).count() as f64;
    values.iter().map(|value| below(*value) + f64::midpoint(equal(*value), 1.0)).collect()
}

/// The cut with the largest difference of ranks in standard deviations, and the difference.
fn find_cut(ranks: &[f64]) -> (usize, f64) {
    let number = ranks.len() as f64;
    let mean = f64::midpoint(number, 1.0);
    let mut sum = 0.0;
    let mut best = (MIN_RUNS, 0.0);
    for (before, rank) in (1..).zip(ranks) {
        sum += rank - mean;
        let rest = ranks.len() - before;
        if before < MIN_RUNS || rest < MIN_RUNS {
            continue;
        }
        let deviation = (before as f64 * rest as f64 * (number + 1.0) / 12.0).sqrt();
        let difference = f64::abs(sum) / deviation;
        if difference > best.1 {
            best = (before, difference);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changes of runs with these load lines, which scatter by 3 %.
    fn find(rng: &mut Rng, means: &[f64]) -> Vec<SeriesChange> {
        let objective = "p99<=10ms".parse().expect("an objective");
        let run = |mean: &f64| {
            let value = mean * (1.0 + 0.03 * (rng.f64() + rng.f64() - 1.0));
            Estimate { value, interval: Some((0.98 * value, 1.02 * value)) }
        };
        find_changes(SeriesFigure::LoadLine(objective), &means.iter().map(run).collect::<Vec<_>>())
    }

    #[test]
    fn steps_are_found_where_they_are() {
        let mut rng = Rng::with_seed(7);
        let means = [[20_000.0; 12].as_slice(), &[17_000.0; 6], &[22_000.0; 8]].concat();
        let changes = find(&mut rng, &means);
        let found: Vec<_> = changes.iter().map(|change| (change.at, change.is_better)).collect();
        assert_eq!(found, [(12, false), (18, true)]);
        let ratio = changes[0].ratio;
        let (low, high) = ratio.interval.expect("an interval");
        assert!(low < 0.85 && 0.85 < high && (ratio.value - 0.85).abs() < 0.02, "{ratio:?}");
    }

    #[test]
    fn equal_runs_rarely_change() {
        let mut rng = Rng::with_seed(7);
        let has_change = |_: &usize| !find(&mut rng, &[20_000.0; 20]).is_empty();
        assert!((0..200).filter(has_change).count() <= 4, "one in a hundred at most, but for chance");
    }

    #[test]
    fn a_single_outlier_and_a_short_series_are_no_change() {
        let mut rng = Rng::with_seed(7);
        let mut means = vec![20_000.0; 15];
        means[14] = 5_000.0;
        assert_eq!(find(&mut rng, &means), []);
        let short = [[20_000.0; 4].as_slice(), &[10_000.0; 5]].concat();
        assert_eq!(find(&mut rng, &short), []);
    }
}

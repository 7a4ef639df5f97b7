//! Changes of the load line in a series of runs.
//!
//! The series is divided where the ranks of the runs before and after differ most (Pettitt, 1979), if at most one in a hundred
//! random orders of the same runs has such a difference, and then each part. The load lines on both sides of a change are
//! compared as those of two sets of runs.

use fastrand::Rng;
use plimsoll_record::LoadLine;

use crate::compare::{LineComparison, Verdict, compare_lines};

/// Minimum number of runs in which a change is sought: in fewer, no order is rarer than one in a hundred.
pub const MIN_SERIES: usize = 10;
/// Minimum number of runs on each side of a change.
const MIN_RUNS: usize = 3;
/// Random orders of a series.
const ORDERS: u32 = 2_000;
/// Share of the random orders that may have such a difference.
const SIGNIFICANCE: f64 = 0.01;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineChange {
    /// Index of the first run after the change.
    pub at: usize,
    /// The runs since the previous change, and those until the next.
    pub lines: LineComparison,
}

impl LineChange {
    /// Whether the later runs carry more or less.
    pub fn verdict(&self) -> Verdict {
        self.lines.verdict()
    }
}

/// Finds the changes in load lines of the same load and objective, in chronological order. Each must have a value with an
/// interval.
pub fn find_changes(lines: &[LoadLine]) -> Vec<LineChange> {
    let values: Vec<f64> = lines.iter().filter_map(|line| Some(line.iops()?.value)).collect();
    if values.len() < lines.len() {
        return Vec::new();
    }
    let mut cuts = vec![0, lines.len()];
    divide(&values, 0, &mut cuts);
    cuts.sort_unstable();
    let mut changes: Vec<LineChange> = Vec::new();
    let mut begin = 0;
    for part in cuts.windows(2).skip(1) {
        let compared = compare_lines(&lines[begin..part[0]], &lines[part[0]..part[1]], None);
        if let Ok(lines) = compared
            && matches!(lines.verdict(), Verdict::Better | Verdict::Worse)
        {
            changes.push(LineChange { at: part[0], lines });
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
    use plimsoll_record::Estimate;

    use super::*;

    /// Runs with these load lines, which scatter by 3 %.
    fn series(rng: &mut Rng, means: &[f64]) -> Vec<LoadLine> {
        let objective = "p99<=10ms".parse().expect("an objective");
        let run = |mean: &f64| {
            let value = mean * (1.0 + 0.03 * (rng.f64() + rng.f64() - 1.0));
            LoadLine::At { objective, iops: Estimate { value, interval: Some((0.98 * value, 1.02 * value)) } }
        };
        means.iter().map(run).collect()
    }

    #[test]
    fn steps_are_found_where_they_are() {
        let mut rng = Rng::with_seed(7);
        let means = [[20_000.0; 12].as_slice(), &[17_000.0; 6], &[22_000.0; 8]].concat();
        let changes = find_changes(&series(&mut rng, &means));
        let found: Vec<_> = changes.iter().map(|change| (change.at, change.verdict())).collect();
        assert_eq!(found, [(12, Verdict::Worse), (18, Verdict::Better)]);
        let ratio = changes[0].lines.ratio;
        let (low, high) = ratio.interval.expect("an interval");
        assert!(low < 0.85 && 0.85 < high && (ratio.value - 0.85).abs() < 0.02, "{ratio:?}");
    }

    #[test]
    fn equal_runs_rarely_change() {
        let mut rng = Rng::with_seed(7);
        let has_change = |_: &usize| !find_changes(&series(&mut rng, &[20_000.0; 20])).is_empty();
        assert!((0..200).filter(has_change).count() <= 4, "one in a hundred at most, but for chance");
    }

    #[test]
    fn a_single_outlier_and_a_short_series_are_no_change() {
        let mut rng = Rng::with_seed(7);
        let mut means = vec![20_000.0; 15];
        means[14] = 5_000.0;
        assert_eq!(find_changes(&series(&mut rng, &means)), []);
        let short = [[20_000.0; 4].as_slice(), &[10_000.0; 5]].concat();
        assert_eq!(find_changes(&series(&mut rng, &short)), []);
    }
}

//! Whether two curves differ, by how much, and what else was not the same about them.
//!
//! Knows nothing about why. Runs are matched by what was offered, never by what was achieved. Two guards keep noise
//! from becoming news. Between runs that follow each other, storage and host change by more than the intervals within
//! each run know, so a change has to pass a noise floor besides excluding 1: 5 % for rates, 10 % for response times,
//! and more where repetitions of one load show more. And with many numbers compared, one will stand out by chance: the
//! intervals are widened for their number (Bonferroni), and the verdict on the whole asks for two that agree.

mod change;
mod conditions;

use plimsoll_load::Pace;
use plimsoll_record::{Curve, Estimate, LoadLine, Objective};

use crate::load_line::{chosen_objective, load_line};
use change::{Pair, Paired, judged};

/// The most IOPS of two curves that differ by this factor, clearly, need no second witness.
const DECISIVE: f64 = 1.25;

/// Which number of the two curves is compared. More is better of the rates, less of the response times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The highest operations per second of any run.
    MostIops,
    /// Operations per second at the load line.
    LoadLine,
    /// Operations per second at one offered load.
    Iops,
    /// Mean response time in nanoseconds at one offered load.
    Mean,
    /// 99th percentile of the response time in nanoseconds at one offered load.
    P99,
}

/// What a comparison came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing that could not be noise.
    NoRealChange,
    /// The second is better.
    Better,
    /// The second is worse.
    Worse,
    /// Some loads are better and some are worse.
    Mixed,
    /// The two cannot be compared, and why.
    NotComparable(String),
}

/// One number of both curves.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Which number.
    pub quantity: Quantity,
    /// The offered load of the first curve's run, when it is a number of one load.
    pub offered: Option<Pace>,
    /// The first curve's value.
    pub a: f64,
    /// The second curve's value.
    pub b: f64,
    /// `b / a`, its interval widened for the number of changes in the comparison; absent when a side has none.
    pub ratio: Estimate,
    /// The least relative change that counts as real: what runs that follow each other may differ by.
    pub floor: f64,
    /// What it came to.
    pub verdict: Verdict,
}

/// A condition that was not the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which condition.
    pub what: String,
    /// In the first curve.
    pub a: String,
    /// In the second curve.
    pub b: String,
}

/// Two curves side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What was not the same.
    pub conditions: Vec<Difference>,
    /// The numbers of the curves as wholes.
    pub overall: Vec<Change>,
    /// The numbers at equal offered loads.
    pub points: Vec<Change>,
    /// What all of it came to.
    pub verdict: Verdict,
}

/// Compares `b` with `a`.
///
/// The overall numbers are the most operations per second, the load line (both under the objective of `a`, or the one
/// chosen from its lightest load) and the mean response time at depth 1. The verdict on the whole is a change when two
/// neighbouring loads say the same, or the load line and any load, or the most is another by a quarter; or what there is, when only one load or none was
/// offered to both. A single number that stands out may be chance, and does not turn it.
pub fn compare(a: &Curve, b: &Curve) -> Comparison {
    let paired = Paired::of(&a.runs, &b.runs);
    let mut overall: Vec<Pair> = paired.most_iops().into_iter().collect();
    overall.extend(paired.at_depth_1());
    let points = paired.points();
    let lines = lines(a, b);
    let numbers = overall.len() + points.len() + usize::from(lines.is_some());
    let judge = |pair: Pair| judged(pair, numbers, paired.floor(pair.quantity));
    let mut overall: Vec<Change> = overall.into_iter().map(judge).collect();
    overall.extend(lines.map(|(a, b)| judge_lines(&a, &b, judge)));
    let points: Vec<Change> = points.into_iter().map(judge).collect();
    let verdict = whole(&overall, &points);
    Comparison { conditions: conditions::differences(a, b), overall, points, verdict }
}

/// Both load lines under one objective.
fn lines(a: &Curve, b: &Curve) -> Option<(LoadLine, LoadLine)> {
    let found = || a.load_line.map(|line: LoadLine| -> Objective { line.objective() });
    let objective = a.conditions.objective.or_else(found).or_else(|| chosen_objective(&a.runs))?;
    load_line(&a.runs, objective).zip(load_line(&b.runs, objective))
}

fn judge_lines(a: &LoadLine, b: &LoadLine, judge: impl Fn(Pair) -> Change) -> Change {
    let iops = |line: &LoadLine| match *line {
        LoadLine::At { iops, .. } | LoadLine::Beyond { iops, .. } => iops,
        LoadLine::Never { .. } => Estimate::bare(0.0),
    };
    let change = judge(Pair { quantity: Quantity::LoadLine, offered: None, a: iops(a), b: iops(b) });
    let verdict = match (a, b) {
        (LoadLine::Never { .. }, LoadLine::Never { .. }) => {
            Verdict::NotComparable("the objective was met by neither".into())
        }
        (LoadLine::Never { .. }, _) => Verdict::Better,
        (_, LoadLine::Never { .. }) => Verdict::Worse,
        (LoadLine::Beyond { .. }, LoadLine::Beyond { .. }) => {
            Verdict::NotComparable("the objective was still met at the highest load of both".into())
        }
        // One end is open: that way the change is at least this, the other way it is unknown.
        (LoadLine::Beyond { .. }, _) if change.verdict == Verdict::Better => Verdict::NoRealChange,
        (_, LoadLine::Beyond { .. }) if change.verdict == Verdict::Worse => Verdict::NoRealChange,
        _ => change.verdict.clone(),
    };
    Change { verdict, ..change }
}

/// The verdict on the whole: each direction needs two witnesses that are not the same runs seen twice, or the most that
/// is carried to differ by more than any hour of the day makes it.
fn whole(overall: &[Change], points: &[Change]) -> Verdict {
    let comparable = |change: &&Change| !matches!(change.verdict, Verdict::NotComparable(_));
    if !overall.iter().chain(points).any(|change| comparable(&change)) {
        return Verdict::NotComparable("no load was offered to both, or too little was measured".into());
    }
    // The most IOPS and the response time at depth 1 belong to runs that the points show already, if there are points.
    let others = overall.iter().filter(|change| change.quantity == Quantity::LoadLine || points.is_empty());
    let others: Vec<&Change> = others.filter(comparable).collect();
    let decisive = |change: &Change, direction: &Verdict| {
        let most = change.quantity == Quantity::MostIops && change.verdict == *direction;
        most && !(1.0 / DECISIVE..=DECISIVE).contains(&change.ratio.value)
    };
    let says = |direction: &Verdict| {
        if overall.iter().any(|change| decisive(change, direction)) {
            return true;
        }
        let loads = loads(points, direction);
        let alone = others.iter().filter(|change| change.verdict == *direction).count();
        let neighbours = loads.windows(2).any(|pair| pair[0] && pair[1]);
        let any = loads.contains(&true);
        neighbours || alone >= 2 || (alone == 1 && (any || loads.is_empty())) || (any && loads.len() == 1)
    };
    match (says(&Verdict::Better), says(&Verdict::Worse)) {
        (true, true) => Verdict::Mixed,
        (true, false) => Verdict::Better,
        (false, true) => Verdict::Worse,
        (false, false) => Verdict::NoRealChange,
    }
}

/// For each load in order, whether one of its numbers went in this direction.
fn loads(points: &[Change], direction: &Verdict) -> Vec<bool> {
    let same_load = |a: &Change, b: &Change| a.offered == b.offered;
    points.chunk_by(same_load).map(|load| load.iter().any(|change| change.verdict == *direction)).collect()
}

//! Whether two curves differ, by how much, and what else was not the same about them.
//!
//! Knows nothing about why. Runs are matched by what was offered, never by what was achieved. Two guards keep noise
//! from becoming news. Between runs that follow each other, storage and host change by more than the intervals within
//! each run know, so a change has to pass a noise floor besides excluding 1: 5 % for rates, 10 % for response times,
//! and more where repetitions of one load show more. And with many numbers compared, one will stand out by chance: the
//! intervals are widened for their number (Bonferroni), and the verdict on the whole asks for two that agree.

mod change;
mod conditions;
mod lines;

use plimsoll_load::Pace;
use plimsoll_record::{Curve, Ended, Estimate, LoadLine, Objective};
use serde::Serialize;

use crate::load_line::{chosen_objective, judged as line_of};
use change::{Pair, Paired, judged};
pub use conditions::different_load;
pub use lines::{History, LineComparison, Method, compare_interleaved, compare_lines};

/// The most IOPS of two curves that differ by this factor, clearly, need no second witness.
const DECISIVE: f64 = 1.25;

/// Which number of the two curves is compared. More is better of the rates, less of the response times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "verdict", content = "reason")]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// A condition that was not the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Which condition.
    pub what: String,
    /// In the first curve.
    pub a: String,
    /// In the second curve.
    pub b: String,
}

/// Two curves, or several on each side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The objective under which the load lines are compared; absent where no run has one.
    pub objective: Option<Objective>,
    /// Scatter between earlier runs of the subject that was taken into account.
    pub history: Option<History>,
    /// What was not the same.
    pub conditions: Vec<Difference>,
    /// The load lines, where slots gave both an interval: these decide.
    pub line: Option<LineComparison>,
    /// The numbers of the curves as wholes.
    pub overall: Vec<Change>,
    /// The numbers at equal offered loads.
    pub points: Vec<Change>,
    /// What all of it came to.
    #[serde(flatten)]
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
    let objective = shared_objective(a);
    let lines = lines(a, b);
    let numbers = overall.len() + points.len() + usize::from(lines.is_some());
    let judge = |pair: Pair| judged(pair, numbers, paired.floor(pair.quantity));
    let mut overall: Vec<Change> = overall.into_iter().map(judge).collect();
    overall.extend(lines.map(|(a, b)| judge_lines(&a, &b, judge)));
    let points: Vec<Change> = points.into_iter().map(judge).collect();
    let verdict = whole(&overall, &points);
    let conditions = conditions::differences(a, b);
    Comparison { objective, history: None, conditions, line: None, overall, points, verdict }
}

/// Compares the runs `b` with the runs `a`, each side at least one, by their load lines.
///
/// Runs without slots (of loads that the user named) are compared in pairs, by [`compare`]. Different loads and runs
/// that did not end by themselves are not compared. `history` is the scatter between earlier runs of the subject, which
/// counts where each side is one run.
pub fn compare_sides(a: &[Curve], b: &[Curve], history: Option<History>) -> Comparison {
    let (first, second) = (&a[0], &b[0]);
    let (numbers, verdict, line) = match obstacle(a, b) {
        Some(why) => (Vec::new(), Verdict::NotComparable(why), None),
        None if [first, second].iter().any(|curve| curve.slots.is_empty()) => return compare(first, second),
        None => {
            let most = if a.len() + b.len() == 2 { most_iops(first, second) } else { Vec::new() };
            match lines_of(a, b).and_then(|(a, b)| compare_lines(&a, &b, history)) {
                Ok(line) => (most, line.verdict(), Some(line)),
                Err(why) => match lines(first, second).filter(|_| a.len() == 1 && b.len() == 1) {
                    Some((x, y)) => (most, unbounded(&x, &y, why), None),
                    None => (most, Verdict::NotComparable(why), None),
                },
            }
        }
    };
    Comparison {
        objective: shared_objective(first),
        history: history.filter(|_| line.is_some_and(|line| line.method == Method::SingleRuns)),
        conditions: conditions::differences(first, second),
        line,
        overall: numbers,
        points: Vec::new(),
        verdict,
    }
}

/// Why these runs cannot be compared at all.
fn obstacle(a: &[Curve], b: &[Curve]) -> Option<String> {
    let first = &a[0];
    let mut all = a.iter().chain(b);
    if let Some(curve) = all.clone().find(|curve| curve.ended != Ended::Complete) {
        let what = if curve.ended == Ended::Failed { "failed" } else { "was interrupted" };
        return Some(format!("a run of {} {what}: measure again to the end", curve.subject.name));
    }
    let several = a.len() + b.len() > 2;
    if several && all.clone().any(|curve| curve.slots.is_empty()) {
        return Some("several runs are compared by load lines, which runs of named loads do not have".into());
    }
    let load = all.clone().find_map(|curve| different_load(first, curve));
    if let Some(what) = load {
        return Some(format!("their loads differ ({what}): measure both with the same flags, --size among them"));
    }
    let given = |curve: &Curve| curve.conditions.objective;
    let other = all.find_map(|curve| given(curve).filter(|other| given(first).is_some_and(|one| one != *other)));
    other.zip(given(first)).map(|(other, one)| {
        format!("their objectives differ ({one} and {other}): measure both with the same --objective")
    })
}

/// The objective of a comparison with this run as the first.
fn shared_objective(first: &Curve) -> Option<Objective> {
    let found = || first.load_line.map(|line| line.objective());
    first.conditions.objective.or_else(found).or_else(|| chosen_objective(&first.runs))
}

/// Compares runs whose passes were measured in turns: by their load lines alone, as closed loads were measured once.
pub fn compare_turns(a: &Curve, b: &Curve, objective: Objective) -> Comparison {
    let compared = match obstacle(std::slice::from_ref(a), std::slice::from_ref(b)) {
        Some(why) => Err(why),
        None => compare_interleaved(&a.slots, &b.slots, objective),
    };
    let (line, verdict) = match compared {
        Ok(line) => (Some(line), line.verdict()),
        Err(why) => (None, Verdict::NotComparable(why)),
    };
    Comparison {
        objective: Some(objective),
        history: None,
        conditions: conditions::differences(a, b),
        line,
        overall: Vec::new(),
        points: Vec::new(),
        verdict,
    }
}

/// The highest rates of a pair of runs.
fn most_iops(a: &Curve, b: &Curve) -> Vec<Change> {
    let numbers = Paired::of(&a.runs, &b.runs);
    let judge = |pair: Pair| judged(pair, 2, numbers.floor(pair.quantity));
    numbers.most_iops().into_iter().map(judge).collect()
}

/// The load lines of all runs under the objective of the first.
fn lines_of(a: &[Curve], b: &[Curve]) -> Result<(Vec<LoadLine>, Vec<LoadLine>), String> {
    let objective = a[0].load_line.map(|line| line.objective()).ok_or("the first run has no load line")?;
    let lines = |side: &[Curve]| -> Option<Vec<LoadLine>> {
        side.iter().map(|curve| line_of(curve, objective).map(|(line, _)| line)).collect()
    };
    lines(a).zip(lines(b)).ok_or_else(|| "a run has no load line".into())
}

/// The verdict on a pair of which one side met its objective at no load, or at all; `why` for all others.
fn unbounded(a: &LoadLine, b: &LoadLine, why: String) -> Verdict {
    match (a, b) {
        (LoadLine::Never { .. }, LoadLine::At { .. } | LoadLine::Beyond { .. }) => Verdict::Better,
        (LoadLine::At { .. } | LoadLine::Beyond { .. }, LoadLine::Never { .. }) => Verdict::Worse,
        _ => Verdict::NotComparable(why),
    }
}

/// Both load lines under one objective.
fn lines(a: &Curve, b: &Curve) -> Option<(LoadLine, LoadLine)> {
    let objective = shared_objective(a)?;
    let line = |curve| line_of(curve, objective).map(|(line, _)| line);
    line(a).zip(line(b))
}

fn judge_lines(a: &LoadLine, b: &LoadLine, judge: impl Fn(Pair) -> Change) -> Change {
    let iops = |line: &LoadLine| match *line {
        LoadLine::At { iops, .. } | LoadLine::Beyond { iops, .. } => iops,
        LoadLine::Never { .. } | LoadLine::Refused { .. } => Estimate::bare(0.0),
    };
    let change = judge(Pair { quantity: Quantity::LoadLine, offered: None, a: iops(a), b: iops(b) });
    let verdict = match (a, b) {
        (LoadLine::Refused { .. }, _) | (_, LoadLine::Refused { .. }) => {
            Verdict::NotComparable("response times scatter too much for a load line".into())
        }
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

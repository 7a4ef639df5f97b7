//! Comparison of two curves: significance and size of differences, and differing conditions.
//!
//! Runs are matched by offered load, never by achieved load. Two guards prevent false alarms. Consecutive runs differ
//! by more than the intervals within each run show, so a change must exceed a noise floor in addition to an interval
//! that excludes 1: 5 % for rates, 10 % for response times, and more if repetitions of a load scatter more. Because
//! many values are compared, the intervals are widened for their number (Bonferroni), and the overall verdict needs two
//! consistent changes.

mod change;
mod conditions;
mod incomparable;
mod lines;

use plimsoll_load::Pace;
use plimsoll_record::{Curve, EndReason, Estimate, LoadLine, Objective};
use schemars::JsonSchema;
use serde::Serialize;

use crate::described::{self, Described};
use crate::load_line::{chosen_objective, judged as line_of};
pub(crate) use change::{LoadRuns, grouped};
use change::{Pair, Paired, compare_loads, judged};
pub use conditions::different_load;
pub use incomparable::Incomparable;
pub(crate) use lines::SideDifference;
pub use lines::{LineComparison, LineHistory, Method, compare_interleaved, compare_lines};

/// Ratio of the highest IOPS that needs no second significant change.
const DECISIVE: f64 = 1.25;

/// Compared quantity. Higher is better for rates, lower for response times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Highest operations per second of all runs.
    MostIops,
    /// Operations per second at the load line.
    LoadLine,
    /// Operations per second at an offered load.
    Iops,
    /// Mean response time in nanoseconds at an offered load.
    Mean,
    /// 99th percentile of the response time in nanoseconds at an offered load.
    P99,
}

/// Verdict of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "verdict", content = "reason")]
pub enum Verdict {
    /// No significant change.
    NoRealChange,
    /// The second is better.
    Better,
    /// The second is worse.
    Worse,
    /// Better for some loads and worse for others.
    Mixed,
    /// Not comparable, with the reason.
    NotComparable(
        #[serde(serialize_with = "described::serialize")]
        #[schemars(with = "Described<Incomparable>")]
        Incomparable,
    ),
}

/// A quantity of both curves.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    /// Quantity.
    pub quantity: Quantity,
    /// Offered load of the first curve's run, for a quantity of a single load.
    pub offered: Option<Pace>,
    /// Value of the first curve.
    pub a: f64,
    /// Value of the second curve.
    pub b: f64,
    /// `b / a`, with an interval widened for the number of changes in the comparison; absent if a value has no
    /// interval.
    pub ratio: Estimate,
    /// Smallest relative change that counts as real, because of differences between consecutive runs.
    pub floor: f64,
    /// Verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// A differing condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// Condition.
    pub what: String,
    /// In the first curve.
    pub a: String,
    /// In the second curve.
    pub b: String,
}

/// Comparison of two curves, or of several per side.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Objective of the compared load lines; absent if no run has an objective.
    pub objective: Option<Objective>,
    /// Scatter between earlier runs of the target, if used.
    pub history: Option<LineHistory>,
    /// Differing conditions.
    pub conditions: Vec<Difference>,
    /// Load lines, if slots gave both an interval; they decide the verdict.
    pub line: Option<LineComparison>,
    /// Quantities of the whole curves.
    pub overall: Vec<Change>,
    /// Quantities at equal offered loads.
    pub points: Vec<Change>,
    /// Overall verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// Compares `b` with `a`.
///
/// Overall quantities are the highest operations per second, the load line (both under the objective of `a`, or the
/// objective chosen from its lightest load) and the mean response time at depth 1. The overall verdict is a change if
/// two neighbouring loads agree, or the load line and any load, or if the highest rate differs by 25 %; with at most
/// one common load, the available changes decide. A single significant value may be chance and has no effect.
pub fn compare(a: &Curve, b: &Curve) -> Comparison {
    let paired = Paired::of(&a.runs, &b.runs);
    let mut overall: Vec<Pair> = paired.max_iops().into_iter().collect();
    overall.extend(paired.at_depth_1());
    let points = paired.points();
    let objective = shared_objective(a);
    // A line that was refused has no value.
    let is_refused = |line: &LoadLine| matches!(line, LoadLine::Refused { .. });
    let lines = find_load_lines(a, b).filter(|(a, b)| !is_refused(a) && !is_refused(b));
    let numbers = overall.len() + points.len() + usize::from(lines.is_some());
    let judge = |pair: Pair| judged(pair, numbers, paired.floor(pair.quantity));
    let mut overall: Vec<Change> = overall.into_iter().map(judge).collect();
    overall.extend(lines.map(|(a, b)| judge_lines(&a, &b, judge)));
    let points: Vec<Change> = points.into_iter().map(judge).collect();
    let verdict = judge_overall(&overall, &points);
    let conditions = conditions::differences(a, b);
    Comparison { objective, history: None, conditions, line: None, overall, points, verdict }
}

/// Compares the runs `b` with the runs `a` by their load lines; each side has at least one.
///
/// Runs without slots (of loads given by the user) are compared load by load, single ones by [`compare`]. Runs with different loads, or
/// that were interrupted, are not compared. `history` is the scatter between earlier runs of the target, used for a
/// single run per side.
pub fn compare_sides(a: &[Curve], b: &[Curve], history: Option<LineHistory>) -> Comparison {
    let (first, second) = (&a[0], &b[0]);
    let is_single = a.len() + b.len() == 2;
    let mut points = Vec::new();
    let (numbers, verdict, line) = match obstacle(a, b) {
        Some(why) => (Vec::new(), Verdict::NotComparable(why), None),
        None if is_single && [first, second].iter().any(|curve| curve.slots.is_empty()) => {
            return compare(first, second);
        }
        None if first.slots.is_empty() => match compare_loads([a, b]) {
            Ok(changes) => {
                points = changes;
                (Vec::new(), judge_overall(&[], &points), None)
            }
            Err(why) => (Vec::new(), Verdict::NotComparable(why), None),
        },
        None => {
            let max = if is_single { max_iops(first, second) } else { Vec::new() };
            match lines_of(a, b).and_then(|(a, b)| compare_lines(&a, &b, history)) {
                Ok(line) => (max, line.verdict(), Some(line)),
                Err(why) => match find_load_lines(first, second).filter(|_| a.len() == 1 && b.len() == 1) {
                    Some((x, y)) => (max, unbounded(&x, &y, why), None),
                    None => (max, Verdict::NotComparable(why), None),
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
        points,
        verdict,
    }
}

/// Reason why these runs are not comparable.
fn obstacle(a: &[Curve], b: &[Curve]) -> Option<Incomparable> {
    let first = &a[0];
    let mut all = a.iter().chain(b);
    if let Some(curve) = all.clone().find(|curve| curve.ended != EndReason::Complete) {
        let name = curve.subject.name.clone();
        let has_failed = curve.ended == EndReason::Failed;
        return Some(if has_failed { Incomparable::Failed(name) } else { Incomparable::Interrupted(name) });
    }
    let several = a.len() + b.len() > 2;
    if several && all.clone().any(|curve| curve.slots.is_empty() != first.slots.is_empty()) {
        return Some(Incomparable::NamedLoads);
    }
    let load = all.clone().find_map(|curve| different_load(first, curve));
    if let Some(what) = load {
        return Some(Incomparable::Loads(what));
    }
    let given = |curve: &Curve| curve.conditions.objective;
    let other =
        all.find_map(|curve| given(curve).filter(|other| given(first).is_some_and(|objective| objective != *other)));
    other.zip(given(first)).map(|(other, first)| Incomparable::Objectives(first, other))
}

/// Objective of a comparison with this run as the first.
fn shared_objective(first: &Curve) -> Option<Objective> {
    let found = || first.load_line.map(|line| line.objective());
    first.conditions.objective.or_else(found).or_else(|| chosen_objective(&first.runs))
}

/// Compares runs with interleaved passes, by their load lines alone, as closed loads were measured only once.
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

/// Changes of the highest rates of a pair of runs.
fn max_iops(a: &Curve, b: &Curve) -> Vec<Change> {
    let numbers = Paired::of(&a.runs, &b.runs);
    let judge = |pair: Pair| judged(pair, 2, numbers.floor(pair.quantity));
    numbers.max_iops().into_iter().map(judge).collect()
}

/// Load lines of all runs under the objective of the first.
fn lines_of(a: &[Curve], b: &[Curve]) -> Result<(Vec<LoadLine>, Vec<LoadLine>), Incomparable> {
    let objective = a[0].load_line.map(|line| line.objective()).ok_or(Incomparable::NoFirstLine)?;
    let lines = |side: &[Curve]| -> Option<Vec<LoadLine>> {
        side.iter().map(|curve| line_of(curve, objective).map(|(line, _)| line)).collect()
    };
    lines(a).zip(lines(b)).ok_or(Incomparable::NoLine)
}

/// Verdict on a pair in which a side never meets its objective; otherwise not comparable because of `why`.
fn unbounded(a: &LoadLine, b: &LoadLine, why: Incomparable) -> Verdict {
    match (a, b) {
        (LoadLine::Never { .. }, LoadLine::At { .. } | LoadLine::Beyond { .. }) => Verdict::Better,
        (LoadLine::At { .. } | LoadLine::Beyond { .. }, LoadLine::Never { .. }) => Verdict::Worse,
        _ => Verdict::NotComparable(why),
    }
}

/// Both load lines under the same objective.
fn find_load_lines(a: &Curve, b: &Curve) -> Option<(LoadLine, LoadLine)> {
    let objective = shared_objective(a)?;
    let line = |curve| line_of(curve, objective).map(|(line, _)| line);
    line(a).zip(line(b))
}

fn judge_lines(a: &LoadLine, b: &LoadLine, judge: impl Fn(Pair) -> Change) -> Change {
    let iops = |line: &LoadLine| match *line {
        LoadLine::At { iops, .. } | LoadLine::Beyond { iops, .. } => iops,
        LoadLine::Never { .. } | LoadLine::Refused { .. } => Estimate::bare(0.0),
    };
    let change = judge(Pair { quantity: Quantity::LoadLine, offered: None, a: iops(a), b: iops(b), is_late: false });
    let verdict = match (a, b) {
        (LoadLine::Refused { .. }, _) | (_, LoadLine::Refused { .. }) => Verdict::NotComparable(Incomparable::Scatter),
        (LoadLine::Never { .. }, LoadLine::Never { .. }) => Verdict::NotComparable(Incomparable::MetByNeither),
        (LoadLine::Never { .. }, _) => Verdict::Better,
        (_, LoadLine::Never { .. }) => Verdict::Worse,
        (LoadLine::Beyond { .. }, LoadLine::Beyond { .. }) => Verdict::NotComparable(Incomparable::MetByBoth),
        // The value of `Beyond` is a lower bound: in its direction the change is at least this, in the other it is
        // unknown.
        (LoadLine::Beyond { objective, .. }, _) if change.verdict != Verdict::Worse => {
            Verdict::NotComparable(Incomparable::Met(*objective))
        }
        (_, LoadLine::Beyond { objective, .. }) if change.verdict != Verdict::Better => {
            Verdict::NotComparable(Incomparable::Met(*objective))
        }
        _ => change.verdict.clone(),
    };
    Change { verdict, ..change }
}

/// Overall verdict: each direction needs two independent significant changes, or a decisive difference of the highest
/// rate.
fn judge_overall(overall: &[Change], points: &[Change]) -> Verdict {
    let late = Verdict::NotComparable(Incomparable::LateGenerator);
    let is_late = overall.iter().chain(points).any(|change| change.verdict == late);
    let comparable = |change: &&Change| !matches!(change.verdict, Verdict::NotComparable(_));
    if !overall.iter().chain(points).any(|change| comparable(&change)) {
        return if is_late { late } else { Verdict::NotComparable(Incomparable::NoCommonLoad) };
    }
    // The highest IOPS and the response time at depth 1 are from runs that are among the points, if there are any.
    let others = overall.iter().filter(|change| change.quantity == Quantity::LoadLine || points.is_empty());
    let others: Vec<&Change> = others.filter(comparable).collect();
    let decisive = |change: &Change, direction: &Verdict| {
        let is_peak = change.quantity == Quantity::MostIops && change.verdict == *direction;
        is_peak && !(1.0 / DECISIVE..=DECISIVE).contains(&change.ratio.value)
    };
    let supports = |direction: &Verdict| {
        if overall.iter().any(|change| decisive(change, direction)) {
            return true;
        }
        let loads = mark_changed(points, direction);
        let alone = others.iter().filter(|change| change.verdict == *direction).count();
        let neighbours = loads.windows(2).any(|pair| pair[0] && pair[1]);
        let any = loads.contains(&true);
        neighbours || alone >= 2 || (alone == 1 && (any || loads.is_empty())) || (any && loads.len() == 1)
    };
    match (supports(&Verdict::Better), supports(&Verdict::Worse)) {
        (true, true) => Verdict::Mixed,
        (true, false) => Verdict::Better,
        (false, true) => Verdict::Worse,
        // A change at the loads that cannot be judged is possible.
        (false, false) if is_late => late,
        (false, false) => Verdict::NoRealChange,
    }
}

/// For each load in order, whether any of its quantities changed in this direction.
fn mark_changed(points: &[Change], direction: &Verdict) -> Vec<bool> {
    let same_load = |a: &Change, b: &Change| a.offered == b.offered;
    points.chunk_by(same_load).map(|load| load.iter().any(|change| change.verdict == *direction)).collect()
}

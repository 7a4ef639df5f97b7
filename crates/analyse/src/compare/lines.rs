//! Comparison of load lines: single runs, several runs per side, or interleaved passes.
//!
//! Single runs: a difference is real only if the intervals are disjoint and it exceeds 5 %. Adding the half widths in
//! quadrature called 11 % of pairs of equal runs different. Several runs: Welch's t-test on logarithms, which covers
//! changes between runs. Interleaved passes: a delete-a-group jackknife (Shao & Tu 1995) of the logarithm of the ratio.

use plimsoll_record::{Estimate, LoadLine, LoadSlot, NoLine, Objective};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Incomparable, Verdict};
use crate::batch::median;
use crate::estimate::{has_enough_undisturbed, line_and_floor, passes_of};
use crate::interval::student;

/// Minimum real difference of load lines, as a logarithm.
const MIN_DIFFERENCE_LN: f64 = 0.048_790_164; // ln 1.05
/// Minimum runs per side for a scatter estimate.
pub(super) const RUNS_FOR_SCATTER: usize = 3;
/// Number of groups of consecutive pass pairs in the jackknife.
const GROUPS: usize = 10;
/// Minimum number of interleaved passes for a jackknife.
const MIN_PASSES: usize = 6;
/// Maximum half width: comparisons that cannot detect a factor of 2 are not reported.
const MAX_HALF_WIDTH_LN: f64 = std::f64::consts::LN_2;

/// Method of a comparison of load lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// A run per side: disjoint intervals.
    SingleRuns,
    /// Several runs per side: Welch's t-test on logarithms.
    SeveralRuns,
    /// Interleaved passes: jackknife.
    Interleaved,
}

/// Scatter of the load line between earlier runs of a target.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LineHistory {
    /// Standard deviation of the logarithm of the line.
    pub deviation: f64,
    /// Number of runs, at least 3.
    pub runs: usize,
}

impl LineHistory {
    /// Scatter of load lines in operations per second; `None` with fewer than 3.
    pub fn of(lines: &[f64]) -> Option<Self> {
        (lines.len() >= RUNS_FOR_SCATTER)
            .then(|| Self { deviation: Logs::of(lines).variance().sqrt(), runs: lines.len() })
    }
}

/// Load lines of two sides under the same objective.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LineComparison {
    /// Objective of both sides.
    pub objective: Objective,
    /// Method.
    pub method: Method,
    /// Number of runs of each side, or of interleaved passes.
    pub counts: [usize; 2],
    /// Load line of the first side in operations per second; the geometric mean of several.
    pub a: f64,
    /// Load line of the second side.
    pub b: f64,
    /// `b / a` with its 95 % interval.
    pub ratio: Estimate,
    /// Minimum detectable relative difference, such as 0.2 for 20 %.
    pub resolution: f64,
}

impl LineComparison {
    fn new(
        objective: Objective,
        method: Method,
        counts: [usize; 2],
        logs: [f64; 2],
        half: [f64; 2],
        least: f64,
    ) -> Self {
        let difference = logs[1] - logs[0];
        Self {
            objective,
            method,
            counts,
            a: logs[0].exp(),
            b: logs[1].exp(),
            ratio: Estimate {
                value: difference.exp(),
                interval: Some(((difference - half[0]).exp(), (difference + half[1]).exp())),
            },
            resolution: least.exp_m1(),
        }
    }

    /// Better or worse if the difference exceeds the resolution; otherwise no real change, unless only a large change would be
    /// detected.
    pub fn verdict(&self) -> Verdict {
        let least = self.resolution.ln_1p();
        match self.ratio.value.ln() {
            difference if difference > least => Verdict::Better,
            difference if -difference > least => Verdict::Worse,
            _ if least > MAX_HALF_WIDTH_LN => Verdict::NotComparable(Incomparable::Resolution { factor: least.exp() }),
            _ => Verdict::NoRealChange,
        }
    }
}

/// Compares the load lines of a single run, or of three or more, per side. `history` is the scatter between earlier
/// runs of the target, which widens the comparison of single runs.
///
/// # Errors
/// No comparison is possible.
pub fn compare_lines(
    a: &[LoadLine],
    b: &[LoadLine],
    history: Option<LineHistory>,
) -> Result<LineComparison, Incomparable> {
    let objective = a.first().ok_or(Incomparable::NoLines)?.objective();
    let (first, second) = (recognize(a)?, recognize(b)?);
    match (first.len(), second.len()) {
        (1, 1) => Ok(single(objective, first[0], second[0], history)),
        (m, n) if m >= RUNS_FOR_SCATTER && n >= RUNS_FOR_SCATTER => {
            let SideDifference { counts, logs, half, least } = SideDifference::of(&first, &second);
            Ok(LineComparison::new(objective, Method::SeveralRuns, counts, logs, [half, half], least))
        }
        _ => Err(Incomparable::TwoRuns),
    }
}

/// Lines with finite intervals.
fn recognize(lines: &[LoadLine]) -> Result<Vec<(f64, f64, f64)>, Incomparable> {
    let ends = |line: &LoadLine| match *line {
        LoadLine::At { iops, .. } => log_ends(&iops).ok_or(Incomparable::LineWithoutInterval),
        LoadLine::Beyond { objective, .. } => Err(Incomparable::Met(objective)),
        LoadLine::Never { objective, .. } => Err(Incomparable::Missed(objective)),
        LoadLine::Refused { why: NoLine::Scatter { .. }, .. } => Err(Incomparable::ScatterOfRun),
        LoadLine::Refused { why: NoLine::Generator { .. } | NoLine::HostTaken { .. }, objective } => {
            Err(Incomparable::GeneratorOfRun(objective))
        }
        LoadLine::Refused { why: NoLine::NotLasting { .. }, objective } => Err(Incomparable::NotLasting(objective)),
    };
    lines.iter().map(ends).collect()
}

/// Logarithms of a value and its interval; `None` without an interval above 0.
fn log_ends(estimate: &Estimate) -> Option<(f64, f64, f64)> {
    let (low, high) = estimate.interval.filter(|(low, _)| *low > 0.0)?;
    Some((estimate.value.ln(), low.ln(), high.ln()))
}

fn single(
    objective: Objective,
    a: (f64, f64, f64),
    b: (f64, f64, f64),
    history: Option<LineHistory>,
) -> LineComparison {
    // The half widths facing each other.
    let facing = if b.0 > a.0 { (a.2 - a.0) + (b.0 - b.1) } else { (a.0 - a.1) + (b.2 - b.0) };
    let between = history.map_or(0.0, |history| student(history.runs - 1) * history.deviation * 2f64.sqrt());
    let least = facing.max(between).max(MIN_DIFFERENCE_LN);
    let low = (a.2 - a.0).hypot(b.0 - b.1).max(between);
    let high = (a.0 - a.1).hypot(b.2 - b.0).max(between);
    LineComparison::new(objective, Method::SingleRuns, [1, 1], [a.0, b.0], [low, high], least)
}

/// Difference of a figure between several runs per side.
pub(crate) struct SideDifference {
    pub(crate) counts: [usize; 2],
    /// Means of the logarithms.
    pub(crate) logs: [f64; 2],
    /// Half width of the 95 % interval of their difference (Welch), and the smallest difference that is real.
    pub(crate) half: f64,
    pub(crate) least: f64,
}

impl SideDifference {
    /// `None` without an interval above 0 of each run.
    pub(crate) fn of_estimates([a, b]: [&[Estimate]; 2]) -> Option<Self> {
        let logs = |side: &[Estimate]| side.iter().map(log_ends).collect::<Option<Vec<_>>>();
        Some(Self::of(&logs(a)?, &logs(b)?))
    }

    fn of(a: &[(f64, f64, f64)], b: &[(f64, f64, f64)]) -> Self {
        let logs = |side: &[(f64, f64, f64)]| Logs(side.iter().map(|run| run.0).collect());
        let (first, second) = (logs(a), logs(b));
        let (u, v) = (first.variance() / a.len() as f64, second.variance() / b.len() as f64);
        // Welch-Satterthwaite.
        let degrees = (u + v).powi(2) / (u.powi(2) / (a.len() - 1) as f64 + v.powi(2) / (b.len() - 1) as f64);
        let degrees = if degrees.is_finite() { degrees } else { (a.len() + b.len() - 2) as f64 };
        let half = student(degrees.max(1.0) as usize) * (u + v).sqrt();
        let within: Vec<f64> = a.iter().chain(b).map(|run| (run.2 - run.1) / 2.0).collect();
        let least = half.max(MIN_DIFFERENCE_LN).max(median(&within) / 2.0);
        Self { counts: [a.len(), b.len()], logs: [first.mean(), second.mean()], half, least }
    }
}

/// Compares slots of two targets measured in interleaved passes.
///
/// # Errors
/// No comparison is possible.
pub fn compare_interleaved(
    a: &[LoadSlot],
    b: &[LoadSlot],
    objective: Objective,
) -> Result<LineComparison, Incomparable> {
    let passes: Vec<u32> = passes_of(a).into_iter().filter(|pass| passes_of(b).contains(pass)).collect();
    if passes.len() < MIN_PASSES {
        let times = GROUPS as f64 / passes.len().max(1) as f64;
        return Err(Incomparable::Passes { passes: passes.len(), duration_s: longer(a, times) });
    }
    if ![a, b].iter().all(|slots| has_enough_undisturbed(slots, objective)) {
        return Err(Incomparable::Generator(objective));
    }
    let line = |slots: &[LoadSlot], but: &[u32]| {
        let retained: Vec<LoadSlot> = slots.iter().filter(|slot| !but.contains(&slot.pass)).cloned().collect();
        line_and_floor(&retained, objective).filter(|(x, _)| x.is_finite())
    };
    let unknown = Incomparable::OneSide(objective);
    let ((x, floor_a), (y, floor_b)) = line(a, &[]).zip(line(b, &[])).ok_or_else(|| unknown.clone())?;
    let groups = GROUPS.min(passes.len());
    let differences: Vec<f64> = (0..groups)
        .map(|group| &passes[group * passes.len() / groups..(group + 1) * passes.len() / groups])
        .filter_map(|but| Some(line(b, but)?.0 - line(a, but)?.0))
        .collect();
    if differences.len() < MIN_PASSES {
        return Err(unknown);
    }
    let logs = Logs(differences);
    let count = logs.0.len() as f64;
    let error = ((count - 1.0).powi(2) / count * logs.variance()).sqrt();
    let half = (student(logs.0.len() - 1) * error).hypot(floor_a).hypot(floor_b);
    if half > MAX_HALF_WIDTH_LN {
        let times = (half / 1.2_f64.ln()).powi(2);
        return Err(Incomparable::ScatterOfPasses { factor: half.exp(), duration_s: longer(a, times) });
    }
    let counts = [passes.len(), passes.len()];
    Ok(LineComparison::new(objective, Method::Interleaved, counts, [x, y], [half, half], half.max(MIN_DIFFERENCE_LN)))
}

/// Seconds of a measurement that is `times` as long.
fn longer(slots: &[LoadSlot], times: f64) -> f64 {
    let seconds: f64 = slots.iter().map(|slot| (slot.warm_up + slot.span).as_secs_f64()).sum();
    (seconds * times / 10.0).ceil() * 10.0
}

/// Logarithms of a quantity.
struct Logs(Vec<f64>);

impl Logs {
    fn of(values: &[f64]) -> Self {
        Self(values.iter().map(|value| value.max(1e-9).ln()).collect())
    }

    fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len().max(1) as f64
    }

    /// Sample variance.
    fn variance(&self) -> f64 {
        let mean = self.mean();
        self.0.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (self.0.len().max(2) - 1) as f64
    }
}

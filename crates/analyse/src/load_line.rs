//! The load line of a curve: from its slots if available, otherwise from its runs.
//!
//! Runs of loads given by the user, and of database sessions, are divided into windows, which count as slots. Open
//! loads are preferred, because waiting in a closed load is limited by its depth.
//!
//! Runs without a series, as in older files, give a line without an interval: loads are ordered by offered load; the
//! line is at the highest load that meets the objective without a clearly failing load below. If the next load fails by
//! its response times alone, the crossing is interpolated linearly in the logarithm of response time over load. If the
//! next load was overloaded, its response time only depends on its duration, and the line stays at the load that met
//! the objective.

use plimsoll_load::Pace;
use plimsoll_record::{
    Curve, Estimate, LineBasis, LoadLine, LoadSlot, Measure, Objective, Run, Scope, Source, Steadiness,
};
use plimsoll_units::Span;

use crate::estimate::{
    Estimated, LADDER, OBJECTIVES_BEYOND, estimate, estimate_of_model, ladder_objectives, light_p99, select_windows,
};
use crate::standing::{self, Meets, Standing, offered_size};

/// Load line of a curve under `objective`, with its basis if derived from slots; `None` if no run is usable.
pub fn judged(curve: &Curve, objective: Objective) -> Option<(LoadLine, Option<LineBasis>)> {
    let estimate: Estimator = match curve.source {
        Source::Simulated { .. } => estimate_of_model,
        _ => estimate,
    };
    match estimate(&curve.slots, objective) {
        Some(found) => Some((found.line, Some(found.basis))),
        None => Some((of_runs(&curve.runs, objective, estimate)?, None)),
    }
}

/// Minimum number of windows for a line.
const MIN_WINDOWS: usize = 6;

/// Load line of runs under `objective`, with an interval if their series give windows. `None` if no run is usable.
pub fn load_line(runs: &[Run], objective: Objective) -> Option<LoadLine> {
    of_runs(runs, objective, estimate)
}

/// An estimate from slots.
type Estimator = fn(&[LoadSlot], Objective) -> Option<Estimated>;

fn of_runs(runs: &[Run], objective: Objective, estimate: Estimator) -> Option<LoadLine> {
    // Response times of an overloaded run depend on its length, those of its first windows, too.
    let is_steady = |run: &Run| run.figures.steadiness != Steadiness::Overloaded;
    let windows = if runs.iter().any(is_steady) { select_windows(runs) } else { Vec::new() };
    let has_several = windows.iter().any(|slot| slot.offered != windows[0].offered);
    if has_several && windows.len() >= MIN_WINDOWS {
        return estimate(&windows, objective).map(|found| found.line);
    }
    without_interval(runs, objective)
}

fn without_interval(runs: &[Run], objective: Objective) -> Option<LoadLine> {
    let open = standing::open(runs, objective);
    let loads = if open.is_empty() { standing::closed(runs, objective) } else { open };
    place(&loads, objective)
}

/// Bounds of the line among loads in ascending order.
struct Bounds<'a> {
    /// Highest load that meets the objective without a clearly failing load below.
    meets: Option<&'a Standing>,
    /// The load up to `meets` with the highest rate that meets the objective. Closed loads complete less beyond
    /// saturation.
    fastest: Option<&'a Standing>,
    /// The next load.
    fails: Option<&'a Standing>,
}

fn bounds(loads: &[Standing]) -> Bounds<'_> {
    let end = loads.iter().position(|load| load.meets == Meets::No).unwrap_or(loads.len());
    let best = loads[..end].iter().rposition(|load| load.meets >= Meets::LikelyPass);
    let meeting = loads[..best.map_or(0, |best| best + 1)].iter().filter(|load| load.meets >= Meets::LikelyPass);
    Bounds {
        meets: best.map(|best| &loads[best]),
        fastest: meeting.max_by(|a, b| a.iops.value.total_cmp(&b.iops.value)),
        fails: loads.get(best.map_or(0, |best| best + 1)),
    }
}

fn place(loads: &[Standing], objective: Objective) -> Option<LoadLine> {
    let found = bounds(loads);
    let Some((meets, fastest)) = found.meets.zip(found.fastest) else {
        let least = loads.iter().map(|load| load.measured.value).min_by(f64::total_cmp)?;
        return Some(LoadLine::Never { objective, least: Span::from_nanos(least as u64) });
    };
    let Some(fails) = found.fails else {
        return Some(LoadLine::Beyond { objective, iops: fastest.iops });
    };
    let (from, to) = (meets.iops.value, fails.iops.value.max(meets.iops.value));
    let value = from + (to - from) * crossing(meets, fails, objective);
    Some(LoadLine::At { objective, iops: Estimate::bare(value.max(fastest.iops.value)) })
}

/// Relative position, 0 to 1, between the load that meets and the load that fails, at which the objective's measure is
/// at its limit.
fn crossing(meets: &Standing, fails: &Standing, objective: Objective) -> f64 {
    let limit = objective.limit.as_nanos() as f64;
    let (within, beyond) = (meets.measured.value, fails.measured.value);
    if fails.overloaded || beyond <= limit {
        0.0
    } else {
        ((limit / within).ln() / (beyond / within).ln()).clamp(0.0, 1.0)
    }
}

/// Default objective: the 99th percentile within the first of 1, 2, 5, 10 ... ms that is at least twice that of the
/// lightest load (the smallest depth, or the lowest rate without closed loads). `None` without runs, or if the 99th
/// percentile exceeds 2.5 seconds.
pub fn chosen_objective(runs: &[Run]) -> Option<Objective> {
    let light = p99(find_lightest(runs)?).as_nanos();
    let enough = |us: &&u64| **us >= 1_000 && **us * 1_000 >= light.saturating_mul(2);
    Some(p99_within(*LADDER.iter().chain(&OBJECTIVES_BEYOND).find(enough)?))
}

/// The run of the smallest depth, or of the lowest rate without closed loads.
fn find_lightest(runs: &[Run]) -> Option<&Run> {
    let closed = |run: &&Run| matches!(run.offered, Pace::Closed { .. });
    let observed = || runs.iter().filter(|run| run.figures.p99_ns.value > 0.0);
    let size = |run: &&Run| offered_size(run.offered);
    let lightest = |a: &&Run, b: &&Run| size(a).total_cmp(&size(b));
    observed().filter(closed).min_by(lightest).or_else(|| observed().min_by(lightest))
}

/// Load lines under all objectives of the ladder, shortest limit first; empty for a curve without runs.
pub fn ladder(curve: &Curve) -> Vec<LoadLine> {
    let light = light_p99(&curve.slots).or_else(|| find_lightest(&curve.runs).map(p99));
    let objectives = ladder_objectives(light);
    objectives.into_iter().filter_map(|objective| judged(curve, objective)).map(|(line, _)| line).collect()
}

fn p99(run: &Run) -> Span {
    Span::from_nanos(run.figures.p99_ns.value as u64)
}

fn p99_within(limit_us: u64) -> Objective {
    Objective { over: Scope::All, measure: Measure::Quantile(0.99), limit: Span::from_micros(limit_us) }
}

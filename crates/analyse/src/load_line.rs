//! The load line of a curve: from its slots where it has them, else from its runs.
//!
//! Runs of loads that the user named, and of sessions of a database, are cut into windows, which count as slots. A closed
//! load cannot show more waiting than its own depth makes, so open loads are preferred.
//!
//! Runs without a series, such as those of older files, give the place of the line without an interval. The rule for
//! these, in words. Loads are ordered by what was offered. The line is at the highest load that meets the
//! objective and has no load below it that clearly fails it. When the next load fails by its response times alone, the
//! crossing between the two is read off a straight line in log response time over load; when that next load was
//! overloaded, its response time is only a matter of how long it lasted, and the line stays at the load that met the
//! objective.

use plimsoll_load::Pace;
use plimsoll_record::{Curve, Estimate, LineBasis, LoadLine, Measure, Objective, Run, Scope, Source};
use plimsoll_units::Span;

use crate::estimate::{LADDER, OBJECTIVES_BEYOND, estimate, estimate_of_model, ladder_objectives, light_p99, windows};
use crate::standing::{self, Meets, Standing, offered_size};

/// The load line of a curve under `objective`, and what it stands on where it was drawn from slots; `None` when no run
/// says anything about it.
pub fn judged(curve: &Curve, objective: Objective) -> Option<(LoadLine, Option<LineBasis>)> {
    let found = match curve.source {
        Source::Simulated { .. } => estimate_of_model(&curve.slots, objective),
        _ => estimate(&curve.slots, objective),
    };
    match found {
        Some(found) => Some((found.line, Some(found.basis))),
        None => Some((load_line(&curve.runs, objective)?, None)),
    }
}

/// Windows from which a line is drawn, at least.
const LEAST_WINDOWS: usize = 6;

/// The load line of runs under `objective`: with an interval where their series give windows, else without. `None`
/// when no run says anything about it.
pub fn load_line(runs: &[Run], objective: Objective) -> Option<LoadLine> {
    let windows = windows(runs);
    let has_several = windows.iter().any(|slot| slot.offered != windows[0].offered);
    if has_several && windows.len() >= LEAST_WINDOWS {
        return estimate(&windows, objective).map(|found| found.line);
    }
    without_interval(runs, objective)
}

fn without_interval(runs: &[Run], objective: Objective) -> Option<LoadLine> {
    let open = standing::open(runs, objective);
    let loads = if open.is_empty() { standing::closed(runs, objective) } else { open };
    place(&loads, objective)
}

/// Where the line lies among loads in ascending order.
struct Bounds<'a> {
    /// The highest load that meets the objective, with none below it that clearly fails.
    meets: Option<&'a Standing>,
    /// The load above that.
    fails: Option<&'a Standing>,
}

fn bounds(loads: &[Standing]) -> Bounds<'_> {
    let end = loads.iter().position(|load| load.meets == Meets::No).unwrap_or(loads.len());
    let best = loads[..end].iter().rposition(|load| load.meets >= Meets::Barely);
    Bounds { meets: best.map(|best| &loads[best]), fails: loads.get(best.map_or(0, |best| best + 1)) }
}

fn place(loads: &[Standing], objective: Objective) -> Option<LoadLine> {
    let found = bounds(loads);
    let Some(meets) = found.meets else {
        let least = loads.iter().map(|load| load.measured.value).min_by(f64::total_cmp)?;
        return Some(LoadLine::Never { objective, least: Span::from_nanos(least as u64) });
    };
    let Some(fails) = found.fails else {
        return Some(LoadLine::Beyond { objective, iops: meets.iops });
    };
    let (from, to) = (meets.iops.value, fails.iops.value.max(meets.iops.value));
    let value = from + (to - from) * crossing(meets, fails, objective);
    Some(LoadLine::At { objective, iops: Estimate::bare(value) })
}

/// How far it is from the load that meets to the load that fails, 0 to 1, until the objective's measure is at its limit.
fn crossing(meets: &Standing, fails: &Standing, objective: Objective) -> f64 {
    let limit = objective.limit.as_nanos() as f64;
    let (within, beyond) = (meets.measured.value, fails.measured.value);
    if fails.overloaded || beyond <= limit {
        0.0
    } else {
        ((limit / within).ln() / (beyond / within).ln()).clamp(0.0, 1.0)
    }
}

/// An objective for someone who gave none: the 99th percentile within the first of 1, 2, 5, 10 ... ms that is at least
/// twice that of the lightest load (the least depth, or the least rate without closed loads). `None` when there is no
/// run, or its 99th percentile passes 2.5 seconds.
pub fn chosen_objective(runs: &[Run]) -> Option<Objective> {
    let light = p99(lightest(runs)?).as_nanos();
    let enough = |us: &&u64| **us >= 1_000 && **us * 1_000 >= light.saturating_mul(2);
    Some(p99_within(*LADDER.iter().chain(&OBJECTIVES_BEYOND).find(enough)?))
}

/// The run of the least depth, or of the least rate where no load is closed.
fn lightest(runs: &[Run]) -> Option<&Run> {
    let closed = |run: &&Run| matches!(run.offered, Pace::Closed { .. });
    let seen = || runs.iter().filter(|run| run.figures.p99_ns.value > 0.0);
    let size = |run: &&Run| offered_size(run.offered);
    let lightest = |a: &&Run, b: &&Run| size(a).total_cmp(&size(b));
    seen().filter(closed).min_by(lightest).or_else(|| seen().min_by(lightest))
}

/// The load lines under every objective of the ladder, the shortest limit first; none for a curve without runs.
pub fn ladder(curve: &Curve) -> Vec<LoadLine> {
    let light = light_p99(&curve.slots).or_else(|| lightest(&curve.runs).map(p99));
    let objectives = ladder_objectives(light);
    objectives.into_iter().filter_map(|objective| judged(curve, objective)).map(|(line, _)| line).collect()
}

fn p99(run: &Run) -> Span {
    Span::from_nanos(run.figures.p99_ns.value as u64)
}

fn p99_within(limit_us: u64) -> Objective {
    Objective { over: Scope::All, measure: Measure::Quantile(0.99), limit: Span::from_micros(limit_us) }
}

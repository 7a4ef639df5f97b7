//! The load line: the highest load that meets a latency objective.
//!
//! Open loads are the evidence. A closed load cannot show more waiting than its own depth makes, so closed runs alone
//! give the place without an interval.
//!
//! The rule, in words. Loads are ordered by what was offered. The line is at the highest load that meets the objective
//! and has no load below it that clearly fails it. When the next load fails by its response times alone, the crossing
//! between the two is read off a straight line in log response time over load; when that next load was overloaded, its
//! response time is only a matter of how long it lasted, and the line stays at the load that met the objective. The
//! interval runs from the highest load that meets it with its whole interval to the lowest that fails with its whole.

use plimsoll_load::Pace;
use plimsoll_record::{Estimate, LoadLine, Measure, Objective, Run, Scope};
use plimsoll_units::Span;

use crate::standing::{self, Meets, Standing, offered_size};

/// Limits that people set, in microseconds.
const RUNGS_US: [u64; 15] = [
    100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000,
    5_000_000,
];

/// The load line of the runs under `objective`; `None` when no run says anything about it.
pub fn load_line(runs: &[Run], objective: Objective) -> Option<LoadLine> {
    let open = standing::open(runs, objective);
    if !open.is_empty() {
        return place(&open, objective);
    }
    let place = place(&standing::closed(runs, objective), objective)?;
    Some(match place {
        LoadLine::At { objective, iops } => LoadLine::At { objective, iops: Estimate::bare(iops.value) },
        other => other,
    })
}

/// Where the line lies among loads in ascending order.
pub(crate) struct Bounds<'a> {
    /// The highest load that meets the objective, with none below it that clearly fails.
    pub(crate) meets: Option<&'a Standing>,
    /// The load above that.
    pub(crate) fails: Option<&'a Standing>,
}

pub(crate) fn bounds(loads: &[Standing]) -> Bounds<'_> {
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
    let surely = |load: &&Standing| load.meets == Meets::Yes && load.iops.value <= value;
    let below = |load: &&Standing| load.iops.value < meets.iops.value;
    let low = loads.iter().rev().find(surely).or_else(|| loads.iter().rev().find(below));
    let high = loads.iter().find(|load| load.meets == Meets::No && load.iops.value >= value);
    let interval = low.zip(high).map(|(low, high)| (low.iops.value, high.iops.value));
    Some(LoadLine::At { objective, iops: Estimate { value, interval } })
}

/// How far it is from the load that meets to the load that fails, 0 to 1, until the objective's measure is at its limit.
pub(crate) fn crossing(meets: &Standing, fails: &Standing, objective: Objective) -> f64 {
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
    let closed = |run: &&Run| matches!(run.offered, Pace::Closed { .. });
    let seen = || runs.iter().filter(|run| run.figures.p99_ns.value > 0.0);
    let size = |run: &&Run| offered_size(run.offered);
    let lightest = |a: &&Run, b: &&Run| size(a).total_cmp(&size(b));
    let lightest = seen().filter(closed).min_by(lightest).or_else(|| seen().min_by(lightest))?;
    let enough = |us: &&u64| **us >= 1_000 && **us as f64 * 1e3 >= 2.0 * lightest.figures.p99_ns.value;
    Some(p99_within(*RUNGS_US.iter().find(enough)?))
}

/// The load lines for common objectives on the 99th percentile, tightest first: from the last that is never met, or the
/// first that is, to the first that does not bind, without those that move the line by less than 2 %.
pub fn ladder(runs: &[Run]) -> Vec<LoadLine> {
    let mut lines: Vec<LoadLine> = Vec::new();
    for line in RUNGS_US.iter().filter_map(|&us| load_line(runs, p99_within(us))) {
        let same = match (lines.last(), &line) {
            (Some(LoadLine::Never { .. }), LoadLine::Never { .. }) => {
                lines.pop();
                false
            }
            (Some(LoadLine::At { iops: last, .. }), LoadLine::At { iops, .. }) => iops.value < 1.02 * last.value,
            _ => false,
        };
        if !same {
            lines.push(line);
        }
        if matches!(line, LoadLine::Beyond { .. }) {
            break;
        }
    }
    lines
}

fn p99_within(limit_us: u64) -> Objective {
    Objective { over: Scope::All, measure: Measure::Quantile(0.99), limit: Span::from_micros(limit_us) }
}

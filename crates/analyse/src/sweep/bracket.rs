//! The highest completed rate: closed loads of increasing depth until saturation. Then depths around the load line.

use plimsoll_load::Pace;
use plimsoll_record::Run;

use super::{Purpose, Sweep, SweepPoint};
use crate::estimate::{crossing_so_far, select_windows};
use crate::load_line::chosen_objective;

/// Share of a round's time for the bracket.
const SHARE: f64 = 2.0 / 3.0;
/// Number of later depths among which the remaining time is divided.
const CLOSER: f64 = 3.0;
/// Maximum ratio of the depths around the line.
const CLOSE: f64 = 1.2;
/// Minimum relative gain of a step.
const GAIN: f64 = 0.03;
/// Mean response time over the objective's limit beyond which deeper queues are irrelevant.
const FAR_BEYOND: f64 = 10.0;

impl Sweep {
    /// The next depth; `None` at the end of the bracket.
    pub(super) fn bracket(&self, runs: &[Run]) -> Option<SweepPoint> {
        let (factor, seconds) = self.steps();
        let last = self.issued.iter().rev().find_map(|point| match point.pace {
            Pace::Closed { depth } => Some(depth),
            Pace::Open { .. } => None,
        });
        let Some(last) = last else {
            return Some(self.point(Pace::Closed { depth: 1 }, Purpose::Bracket, seconds, 0.0));
        };
        let opened = self.issued.iter().any(|point| matches!(point.pace, Pace::Open { .. }));
        if opened || last >= self.plan.max_depth || is_saturated(runs, factor) || self.is_far_beyond(runs) {
            return None;
        }
        let depth = last.saturating_mul(factor).min(self.plan.max_depth);
        // In the worst case all of the added depth waits.
        let response_s =
            runs.last().map_or(0.0, |run| run.figures.mean_ns.value / 1e9) * f64::from(depth) / f64::from(last);
        Some(self.point(Pace::Closed { depth }, Purpose::Bracket, seconds, response_s.min(seconds / 5.0)))
    }

    /// A depth between the two around the load line; `None` if they are close, or without a line.
    ///
    /// Every depth is measured once: the line uses the windows of all depths.
    pub(super) fn closer(&self, runs: &[Run]) -> Option<SweepPoint> {
        let objective = self.plan.objective.or_else(|| chosen_objective(runs))?;
        let (x, _) = crossing_so_far(&select_windows(runs), objective)?;
        let depths = || {
            runs.iter().filter_map(|run| match run.offered {
                Pace::Closed { depth } => Some(depth),
                Pace::Open { .. } => None,
            })
        };
        let below = depths().filter(|depth| f64::from(*depth).ln() <= x).max()?;
        let above = depths().filter(|depth| f64::from(*depth).ln() > x).min()?;
        if above - below < 2 || f64::from(above) <= CLOSE * f64::from(below) {
            return None;
        }
        let middle = (f64::from(below) * f64::from(above)).sqrt().round() as u32;
        let seconds = self.plan.budget.as_secs_f64() * (1.0 - SHARE) / CLOSER / (1.0 + super::WARM_UP);
        let pace = Pace::Closed { depth: middle.clamp(below + 1, above - 1) };
        let slowest = runs.iter().map(|run| run.figures.mean_ns.value / 1e9).fold(0.0, f64::max);
        Some(self.point(pace, Purpose::LoadLine, seconds, slowest.min(seconds / 5.0)))
    }

    /// Factor between depths, and seconds per depth: doubling, or coarser if time is short.
    fn steps(&self) -> (u32, f64) {
        let seconds = self.plan.budget.as_secs_f64() / f64::from(self.plan.repetitions.max(1)) * SHARE;
        let affordable = seconds / (self.plan.least_point.as_secs_f64() * (1.0 + super::WARM_UP)).max(1e-9);
        let doublings = f64::from(self.plan.max_depth.max(2)).log2().ceil();
        let power = [1.0, 2.0, 3.0].into_iter().find(|power| doublings / power < affordable).unwrap_or(3.0);
        let points = (doublings / power).ceil() + 1.0;
        (1 << power as u32, seconds / points.min(8.0) / (1.0 + super::WARM_UP))
    }

    fn is_far_beyond(&self, runs: &[Run]) -> bool {
        let limit = self.objective.map(|objective| FAR_BEYOND * objective.limit.as_nanos() as f64);
        let mut closed = runs.iter().filter(|run| matches!(run.offered, Pace::Closed { .. }));
        // Depth 1 is sufficient for light loads, but not for the highest rate.
        closed.clone().count() >= 3
            && limit.zip(closed.next_back()).is_some_and(|(limit, run)| run.figures.mean_ns.value > limit)
    }
}

/// True if the last two closed loads (the last with coarse steps) gained nothing over the best before.
pub(super) fn is_saturated(runs: &[Run], factor: u32) -> bool {
    let closed: Vec<f64> = runs
        .iter()
        .filter(|run| matches!(run.offered, Pace::Closed { .. }))
        .map(|run| run.figures.iops.value)
        .collect();
    let tail = if factor > 2 { 1 } else { 2 };
    let Some(at) = closed.len().checked_sub(tail).filter(|at| *at > 0) else { return false };
    let best = closed[..at].iter().copied().fold(0.0, f64::max);
    closed[at..].iter().all(|iops| *iops < best * (1.0 + GAIN))
}

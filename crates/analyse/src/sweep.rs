//! What to measure next: the course of a measurement as a state machine that is shown the runs so far.
//!
//! Knows nothing about how a point is measured, and reads no clock: it is told how much time was spent. The course is
//! to *bracket* the most that the storage carries with closed loads of growing depth, to look at open loads *below*
//! that, to close in on the *load line*, and to *repeat* what is known worst beside it. A step is chosen from all runs
//! seen, so a later, better look at a load corrects an earlier, unlucky one.

mod bracket;
mod named;
mod search;

use plimsoll_load::{Arrival, Pace};
use plimsoll_record::{Figures, Measure, Objective, Run, Steadiness};
use plimsoll_units::{Iops, Span};

use crate::load_line::chosen_objective;
use crate::precision::{Precision, tight_enough};

/// What a sweep may do and has to reach.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepPlan {
    /// Measuring time in all, warm-ups included.
    pub budget: Span,
    /// Closed loads that the user named: these and no others.
    pub depths: Option<Vec<u32>>,
    /// The deepest closed load that is tried.
    pub max_depth: u32,
    /// Open loads that the user named: these and no others.
    pub rates: Option<Vec<Iops>>,
    /// How open loads arrive.
    pub arrival: Arrival,
    /// What the load line has to meet; absent when it is to be chosen from the lightest load.
    pub objective: Option<Objective>,
    /// When a point is known well enough.
    pub precision: Precision,
    /// How often each load is measured, at least 1.
    pub repetitions: u32,
    /// The shortest measured time of a point.
    pub least_point: Span,
    /// The longest measured time of a point.
    pub most_point: Span,
}

/// What a point is measured for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To find the most that the storage carries: closed loads of growing depth.
    Bracket,
    /// To see the response times below that: open loads.
    Below,
    /// To find the load line.
    LoadLine,
    /// To know a point better.
    Repeat,
}

impl Purpose {
    /// A short name for a progress line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bracket => "most it carries",
            Self::Below => "below that",
            Self::LoadLine => "load line",
            Self::Repeat => "again",
        }
    }
}

/// One run to make.
///
/// Intervals need 10 slices and steadiness 15: slices of a twentieth to a fortieth of [`Point::least`] serve well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The load.
    pub pace: Pace,
    /// Time before the measured time; at least this is cut.
    pub warm_up: Span,
    /// Measured time before which the point is not ended.
    pub least: Span,
    /// Measured time after which the point is ended.
    pub most: Span,
    /// What it is for.
    pub purpose: Purpose,
}

/// The course of a measurement.
#[derive(Clone, Debug)]
pub struct Sweep {
    plan: SweepPlan,
    objective: Option<Objective>,
    issued: Vec<Point>,
    /// Open rates to look at below the most that is carried; worked out once, when that is known.
    below: Option<Vec<Iops>>,
    /// When the first pass ended: how many points it had.
    first_pass: Option<usize>,
}

/// More points than any sweep needs: a bound, not a plan.
const MOST_POINTS: usize = 200;
/// Share of a point's time that warms up.
const WARM_UP: f64 = 0.1;

impl Sweep {
    /// Nothing measured yet.
    pub fn new(plan: SweepPlan) -> Self {
        Self { objective: plan.objective, plan, issued: Vec::new(), below: None, first_pass: None }
    }

    /// The next run to make, or `None` when all is known well enough or the budget is spent.
    ///
    /// `runs` are all runs of this sweep so far, `spent` the time that they took with everything around them. The
    /// budget is passed by one point at most; loads that the user named are all measured once, whatever it takes.
    pub fn next(&mut self, runs: &[Run], spent: Span) -> Option<Point> {
        if self.objective.is_none() {
            self.objective = chosen_objective(runs);
        }
        if self.issued.len() >= MOST_POINTS {
            return None;
        }
        let left_s = self.plan.budget.as_secs_f64() - spent.as_secs_f64();
        let point = if self.plan.depths.is_some() || self.plan.rates.is_some() {
            self.named(left_s)
        } else if left_s < self.plan.least_point.as_secs_f64() {
            None
        } else {
            self.searched(runs, left_s)
        }?;
        self.issued.push(point);
        Some(point)
    }

    /// True when a point may end: its least time has passed and what it was for is known.
    ///
    /// `measured` is the time since the point's warm-up, `figures` what was seen in it.
    pub fn is_enough(&self, point: &Point, measured: Span, figures: &Figures) -> bool {
        if measured < point.least || measured >= point.most {
            return measured >= point.most;
        }
        let precision = &self.plan.precision;
        let tight = || figures.steadiness == Steadiness::Steady && tight_enough(figures, precision);
        match point.purpose {
            _ if figures.steadiness == Steadiness::Overloaded => true,
            // The most that it carries needs no tail.
            Purpose::Bracket if self.plan.depths.is_none() => {
                figures.iops.relative_half_width().is_some_and(|half| half <= precision.iops)
            }
            Purpose::Bracket | Purpose::Below => tight(),
            Purpose::LoadLine | Purpose::Repeat => tight() && self.is_decided(figures),
        }
    }

    /// True when the whole interval of the objective's measure is on one side of its limit.
    fn is_decided(&self, figures: &Figures) -> bool {
        let Some(objective) = self.objective else { return true };
        let limit = objective.limit.as_nanos() as f64;
        let interval = figures.objective_ns.unwrap_or(figures.p99_ns).interval;
        interval.is_some_and(|(low, high)| low > limit || high <= limit)
    }

    /// What the load line has to meet: given, or chosen from the lightest load once that was measured.
    pub fn objective(&self) -> Option<Objective> {
        self.objective
    }

    /// Why points are being measured now, for a progress line.
    pub fn purpose(&self) -> Option<Purpose> {
        self.issued.last().map(|point| point.purpose)
    }

    /// How much of the measurement is done, 0 to 1: a guess, as it may end before its budget does.
    pub fn share_done(&self, spent: Span) -> f64 {
        let of_budget = spent.as_secs_f64() / self.plan.budget.as_secs_f64().max(1e-9);
        match self.named_points() {
            0 => of_budget.min(1.0),
            all => of_budget.min(self.issued.len() as f64 / all as f64).min(1.0),
        }
    }

    /// A first pass, then the same loads again as often as asked.
    fn searched(&mut self, runs: &[Run], left_s: f64) -> Option<Point> {
        let repetitions = f64::from(self.plan.repetitions.max(1));
        if self.first_pass.is_none() {
            let later_s = self.plan.budget.as_secs_f64() * (1.0 - 1.0 / repetitions);
            let point = self.bracket(runs).or_else(|| self.search(runs, left_s - later_s));
            if point.is_some() || repetitions < 2.0 {
                return point;
            }
            self.first_pass = Some(self.issued.len());
        }
        self.again(self.first_pass?)
    }

    /// The points of the first pass in the same order, once more: in turns, so that a drift of the storage does not
    /// look like a difference between loads.
    fn again(&self, first_pass: usize) -> Option<Point> {
        let fresh: Vec<&Point> = self.issued[..first_pass].iter().filter(|p| p.purpose != Purpose::Repeat).collect();
        let done = self.issued.len() - first_pass;
        let wanted = fresh.len() * (self.plan.repetitions.max(1) as usize - 1);
        (done < wanted).then(|| Point { purpose: Purpose::Repeat, ..*fresh[done % fresh.len()] })
    }

    /// A point of about `seconds`, within the plan's bounds; longer where `response_s` asks for it, as a load has to
    /// go round several times before its figures mean anything.
    fn point(&self, pace: Pace, purpose: Purpose, seconds: f64, response_s: f64) -> Point {
        let (least, most) = (self.plan.least_point.as_secs_f64(), self.plan.most_point.as_secs_f64());
        let seconds = seconds.max(10.0 * response_s).min(most).max(least);
        let warm_up = (WARM_UP * seconds).max(2.0 * response_s).min(seconds / 2.0);
        Point {
            pace,
            warm_up: Span::from_secs_f64(warm_up),
            least: Span::from_secs_f64(least.max(5.0 * response_s).min(seconds)),
            most: Span::from_secs_f64(seconds),
            purpose,
        }
    }

    /// Operations that a load's measure needs: thirty beyond the quantile, a thousand for a mean.
    fn operations_wanted(&self) -> f64 {
        match self.objective.map(|objective| objective.measure) {
            Some(Measure::Quantile(share)) => 30.0 / (1.0 - share).clamp(1e-6, 0.5),
            Some(Measure::Mean) => 1_000.0,
            None => 3_000.0,
        }
    }
}

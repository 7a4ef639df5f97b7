//! What to measure next: a measurement as a state machine that is shown the slots and runs so far.
//!
//! Knows nothing about how a point is measured, and reads no clock: it is told how much time was spent. Loads that the
//! user named are measured as they are. Otherwise closed loads give the highest rate that the storage completes, and
//! slots of open loads, in passes, the load line. Without a plan for slots only closed loads are measured, those around
//! the load line at smaller steps.

mod bracket;
mod named;
mod passes;

use plimsoll_load::{Arrival, Pace};
use plimsoll_record::{Figures, LoadSlot, Objective, Run, SlotRole, Steadiness};
use plimsoll_units::{Iops, Span};

use crate::estimate::headline_objective;
use crate::precision::{Precision, tight_enough};
pub use passes::SlotPlan;

use passes::Passes;

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
    /// Slots of open loads; `None` for closed loads of growing depth alone. Loads that the user named have none.
    pub slots: Option<SlotPlan>,
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
    /// To use up burst allowances.
    Soak,
    /// To see whether the load line lasts.
    Hold,
}

impl Purpose {
    /// A short name for a progress line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bracket => "most it carries",
            Self::Below => "first look",
            Self::LoadLine => "load line",
            Self::Repeat => "again",
            Self::Soak => "before the hold",
            Self::Hold => "holding the line",
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
    /// The role of its slot and the number of its pass; `None` where no slots are kept.
    pub slot: Option<(SlotRole, u32)>,
}

/// The course of a measurement.
#[derive(Clone, Debug)]
pub struct Sweep {
    plan: SweepPlan,
    objective: Option<Objective>,
    issued: Vec<Point>,
    passes: Option<Passes>,
    /// Closed loads were measured until they gave no more.
    is_bracketed: bool,
    /// When the first round of closed loads ended: how many points it had.
    first_round: Option<usize>,
}

/// More points than any sweep needs: a bound, not a plan.
const MOST_POINTS: usize = 2_500;
/// Share of a point's time that warms up.
const WARM_UP: f64 = 0.1;

impl Sweep {
    /// Nothing measured yet.
    pub fn new(plan: SweepPlan) -> Self {
        let is_named = plan.depths.is_some() || plan.rates.is_some();
        let slots = plan.slots.filter(|_| !is_named);
        let passes = slots.map(|slots| Passes::new(slots, plan.budget, plan.arrival, plan.max_depth));
        Self { objective: plan.objective, plan, issued: Vec::new(), passes, is_bracketed: false, first_round: None }
    }

    /// The next run to make, or `None` when all is known well enough or the budget is spent.
    ///
    /// `runs` and `slots` are all of this sweep so far, `spent` the time that they took with everything around them.
    /// The budget is passed by one point at most; loads that the user named are all measured once, whatever it takes.
    pub fn next(&mut self, runs: &[Run], slots: &[LoadSlot], spent: Span) -> Option<Point> {
        if self.issued.len() >= MOST_POINTS {
            return None;
        }
        let left_s = self.plan.budget.as_secs_f64() - spent.as_secs_f64();
        let point = if let Some(passes) = &mut self.passes {
            if self.plan.objective.is_none() && passes.is_between_passes() {
                self.objective = headline_objective(slots).map(|(objective, _)| objective);
            }
            passes.next(slots, self.objective, spent.as_secs_f64())
        } else if self.plan.depths.is_some() || self.plan.rates.is_some() {
            self.named(left_s)
        } else if left_s < self.plan.least_point.as_secs_f64() {
            None
        } else {
            self.rising(runs)
        }?;
        self.issued.push(point);
        Some(point)
    }

    /// The measuring time after which a load line under `objective` would be known to about a fifth, where the budget
    /// is shorter. `None` before the first slots of open loads.
    pub fn needed(&self, objective: Objective) -> Option<Span> {
        self.passes.as_ref()?.needed(objective)
    }

    /// True when a point may end: its least time has passed and what it was for is known.
    ///
    /// `measured` is the time since the point's warm-up, `figures` what was seen in it.
    pub fn is_enough(&self, point: &Point, measured: Span, figures: &Figures) -> bool {
        if measured < point.least || measured >= point.most || point.slot.is_some() {
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
            Purpose::Bracket | Purpose::Below | Purpose::Soak | Purpose::Hold => tight(),
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

    /// Takes the objective of another sweep, in place of one chosen from the lightest load.
    pub fn share_objective(&mut self, objective: Objective) {
        self.plan.objective = Some(objective);
        self.objective = Some(objective);
    }

    /// True when the next point begins a pass. Without passes each point is one.
    pub fn is_between_passes(&self) -> bool {
        self.passes.as_ref().is_none_or(Passes::is_between_passes)
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

    /// Closed loads of growing depth and those around the load line, then the same again as often as asked.
    fn rising(&mut self, runs: &[Run]) -> Option<Point> {
        if self.first_round.is_none() {
            let mut point = if self.is_bracketed { None } else { self.bracket(runs) };
            if point.is_none() {
                self.is_bracketed = true;
                point = self.closer(runs);
            }
            if point.is_some() || self.plan.repetitions < 2 {
                return point;
            }
            self.first_round = Some(self.issued.len());
        }
        self.again(self.first_round?)
    }

    /// The points of the first round in the same order, once more: in turns, so that a drift of the storage does not
    /// look like a difference between loads.
    fn again(&self, first_round: usize) -> Option<Point> {
        let fresh: Vec<&Point> = self.issued[..first_round].iter().filter(|p| p.purpose != Purpose::Repeat).collect();
        let done = self.issued.len() - first_round;
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
            slot: None,
        }
    }
}

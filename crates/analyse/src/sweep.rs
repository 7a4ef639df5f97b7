//! Selection of the next point to measure: a state machine that receives the slots and runs so far.
//!
//! Independent of the measurement of points and of clocks: the elapsed time is an argument. Loads given by the user are
//! measured as they are. Otherwise closed loads determine the highest completed rate, and slots of open loads, in
//! passes, the load line. Without a plan for slots only closed loads are measured, with smaller steps around the load
//! line.

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

/// Constraints and goals of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepPlan {
    /// Total measuring time, including warm-ups.
    pub budget: Span,
    /// Depths given by the user; no others are measured.
    pub depths: Option<Vec<u32>>,
    /// Maximum depth of closed loads.
    pub max_depth: u32,
    /// Rates given by the user; no others are measured.
    pub rates: Option<Vec<Iops>>,
    /// Arrival process of open loads.
    pub arrival: Arrival,
    /// Latency objective; absent to choose it from the lightest load.
    pub objective: Option<Objective>,
    /// Precision at which a point ends.
    pub precision: Precision,
    /// Number of measurements of each load, at least 1.
    pub repetitions: u32,
    /// Minimum measured time of a point.
    pub least_point: Span,
    /// Maximum measured time of a point.
    pub max_point: Span,
    /// Slots of open loads; `None` for closed loads of increasing depth only. Not used for loads given by the user.
    pub slots: Option<SlotPlan>,
}

impl SweepPlan {
    /// True if the user gave the loads.
    pub fn is_named(&self) -> bool {
        self.depths.is_some() || self.rates.is_some()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Determine the highest rate: closed loads of increasing depth.
    Bracket,
    /// Determine response times below that rate: open loads.
    Below,
    LoadLine,
    /// Repeat a point for precision.
    Repeat,
    /// Exhaust burst allowances.
    Soak,
    /// Test whether the load line lasts.
    Hold,
}

impl Purpose {
    /// Short name for a progress line.
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

/// A run to measure.
///
/// Intervals need 10 slices and steadiness 15: suitable slices are 1/20 to 1/40 of [`SweepPoint::least`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepPoint {
    /// Offered load.
    pub pace: Pace,
    /// Time before the measured time; the minimum that is trimmed.
    pub warm_up: Span,
    /// Minimum measured time.
    pub least: Span,
    /// Maximum measured time.
    pub max: Span,
    pub purpose: Purpose,
    /// Role of its slot and number of its pass; `None` without slots.
    pub slot: Option<(SlotRole, u32)>,
}

#[derive(Clone, Debug)]
pub struct Sweep {
    plan: SweepPlan,
    objective: Option<Objective>,
    issued: Vec<SweepPoint>,
    passes: Option<Passes>,
    /// Closed loads were measured up to saturation.
    is_bracketed: bool,
    /// Number of points in the first round of closed loads, after its end.
    first_round: Option<usize>,
}

/// Upper bound of the number of points; not reached in practice.
const MAX_POINTS: usize = 2_500;
/// Warm-up as a share of a point's time.
const WARM_UP: f64 = 0.1;

impl Sweep {
    /// Starts a sweep.
    pub fn new(plan: SweepPlan) -> Self {
        let slots = plan.slots.filter(|_| !plan.is_named());
        let passes = slots.map(|slots| Passes::new(slots, plan.budget, plan.arrival, plan.max_depth));
        Self { objective: plan.objective, plan, issued: Vec::new(), passes, is_bracketed: false, first_round: None }
    }

    /// The next run to measure; `None` if the results are precise enough or the budget is exhausted.
    ///
    /// `runs` and `slots` are all results of this sweep so far, `spent` the total elapsed time. The budget is exceeded
    /// by at most a point; loads given by the user are all measured at least once.
    pub fn next(&mut self, runs: &[Run], slots: &[LoadSlot], spent: Span) -> Option<SweepPoint> {
        if self.issued.len() >= MAX_POINTS {
            return None;
        }
        let left_s = self.plan.budget.as_secs_f64() - spent.as_secs_f64();
        let point = if let Some(passes) = &mut self.passes {
            if self.plan.objective.is_none() && passes.is_between_passes() {
                self.objective = headline_objective(slots).map(|(objective, _)| objective);
            }
            passes.next(slots, self.objective, spent.as_secs_f64())
        } else if self.plan.is_named() {
            self.named(left_s)
        } else if left_s < self.plan.least_point.as_secs_f64() {
            None
        } else {
            self.rising(runs)
        }?;
        self.issued.push(point);
        Some(point)
    }

    /// Measuring time needed for a load line under `objective` with an interval of about ±20 %, if the budget is
    /// shorter. `None` before the first slots of open loads.
    pub fn needed(&self, objective: Objective) -> Option<Span> {
        self.passes.as_ref()?.needed(objective)
    }

    /// True if a point may end: its minimum time has passed, and its purpose is fulfilled.
    ///
    /// `measured` is the time since the point's warm-up, `figures` are its figures so far.
    pub fn is_enough(&self, point: &SweepPoint, measured: Span, figures: &Figures) -> bool {
        if measured < point.least || measured >= point.max || point.slot.is_some() {
            return measured >= point.max;
        }
        let precision = &self.plan.precision;
        let tight = || figures.steadiness == Steadiness::Steady && tight_enough(figures, precision);
        match point.purpose {
            _ if figures.steadiness == Steadiness::Overloaded => true,
            // The highest rate needs no tail precision.
            Purpose::Bracket if self.plan.depths.is_none() => {
                figures.iops.relative_half_width().is_some_and(|half| half <= precision.iops)
            }
            Purpose::Bracket | Purpose::Below | Purpose::Soak | Purpose::Hold => tight(),
            Purpose::LoadLine | Purpose::Repeat => tight() && self.is_decided(figures),
        }
    }

    /// True if the whole interval of the objective's measure is on the same side of its limit.
    fn is_decided(&self, figures: &Figures) -> bool {
        let Some(objective) = self.objective else { return true };
        let limit = objective.limit.as_nanos() as f64;
        let interval = figures.objective_ns.unwrap_or(figures.p99_ns).interval;
        interval.is_some_and(|(low, high)| low > limit || high <= limit)
    }

    /// Latency objective: given, or chosen from the lightest load after its measurement.
    pub fn objective(&self) -> Option<Objective> {
        self.objective
    }

    /// Adopts the objective of another sweep, instead of choosing it from the lightest load.
    pub fn share_objective(&mut self, objective: Objective) {
        self.plan.objective = Some(objective);
        self.objective = Some(objective);
    }

    /// True if the next point starts a pass: of named loads, all of them once. Without passes each point does.
    pub fn is_between_passes(&self) -> bool {
        let loads = self.named_loads().len().max(1);
        self.passes.as_ref().map_or(self.issued.len().is_multiple_of(loads), Passes::is_between_passes)
    }

    /// Purpose of the current point, for a progress line.
    pub fn purpose(&self) -> Option<Purpose> {
        self.issued.last().map(|point| point.purpose)
    }

    /// Estimated progress, 0 to 1; a sweep may end before its budget.
    pub fn share_done(&self, spent: Span) -> f64 {
        let of_budget = spent.as_secs_f64() / self.plan.budget.as_secs_f64().max(1e-9);
        match self.named_points() {
            0 => of_budget.min(1.0),
            all => of_budget.min(self.issued.len() as f64 / all as f64).min(1.0),
        }
    }

    /// Closed loads of increasing depth and those around the load line, followed by the repetitions.
    fn rising(&mut self, runs: &[Run]) -> Option<SweepPoint> {
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

    /// Repeats the points of the first round in the same order, interleaved, so that drift of the storage does not
    /// appear as a difference between loads.
    fn again(&self, first_round: usize) -> Option<SweepPoint> {
        let fresh: Vec<&SweepPoint> =
            self.issued[..first_round].iter().filter(|p| p.purpose != Purpose::Repeat).collect();
        let done = self.issued.len() - first_round;
        let required = fresh.len() * (self.plan.repetitions.max(1) as usize - 1);
        (done < required).then(|| SweepPoint { purpose: Purpose::Repeat, ..*fresh[done % fresh.len()] })
    }

    /// A point of about `seconds`, within the plan's bounds; longer for long response times, as a load must circulate
    /// several times for meaningful figures.
    fn point(&self, pace: Pace, purpose: Purpose, seconds: f64, response_s: f64) -> SweepPoint {
        let (least, max) = (self.plan.least_point.as_secs_f64(), self.plan.max_point.as_secs_f64());
        let seconds = seconds.max(10.0 * response_s).min(max).max(least);
        let warm_up = (WARM_UP * seconds).max(2.0 * response_s).min(seconds / 2.0);
        SweepPoint {
            pace,
            warm_up: Span::from_secs_f64(warm_up),
            least: Span::from_secs_f64(least.max(5.0 * response_s).min(seconds)),
            max: Span::from_secs_f64(seconds),
            purpose,
            slot: None,
        }
    }
}

//! Open loads around the load line: passes of five short slots in random order, then a held load.
//!
//! Uses the current crossing of the objective only, not its interval.

use std::collections::VecDeque;

use fastrand::Rng;
use plimsoll_load::{Arrival, Pace};
use plimsoll_record::{LoadSlot, Objective, SlotRole};
use plimsoll_units::{Iops, Span};

use super::{Purpose, SweepPoint};
use crate::estimate::{
    RUNG_LN, allowed_share, closed_line, crossing_so_far, estimate, find_holds, has_enough_undisturbed,
    is_mostly_disturbed, rung, rung_load,
};

/// Lengths of slots, and division of the budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlotPlan {
    /// Minimum measured time of a slot.
    pub least: Span,
    /// Maximum measured time, for slots that would have too few operations.
    pub longest: Span,
    /// Number of passes at fixed shares of the highest rate, before those around the line.
    pub scouts: u32,
    /// Share of the budget reserved for holding the line without a pause; zero for no hold.
    pub hold: f64,
    pub window: Span,
    /// Additional time for holds after a load that did not last, as a share of the budget.
    pub overrun: f64,
    /// Seed of the order of loads.
    pub seed: u64,
}

/// Depths for the highest rate. All are measured: stopping at the first without gain halved the result in a slow
/// second.
const DEPTHS: [u32; 5] = [1, 4, 16, 64, 256];
/// Scout loads, as shares of the highest rate.
const SCOUTS: [f64; 6] = [0.15, 0.30, 0.45, 0.60, 0.75, 0.90];
/// Heaviest centre of a pass, and the lightest in the first and in the second half of the budget, as shares.
const HEAVIEST: f64 = 1.05;
const LIGHTEST: f64 = 0.15;
const LIGHTEST_LATER: f64 = 0.03;
/// Share of its time that must remain to start a pass.
const BEGUN: f64 = 0.7;
/// Late operations at the limit for which a slot is sized. More would make slots of slow storage longer than those of
/// fast storage, and the median long slot carries less than the median short one.
const LATE_WANTED: f64 = 4.0;
/// Change of the medians from the centre of a pass to each neighbour.
const RISE: f64 = 1.5;
/// Default slope.
const USUAL_SLOPE: f64 = 5.0;
const MAX_RUNGS_APART: i32 = 6;
/// Maximum distance of the lower anchor below the line, in rungs.
const ANCHOR_RUNGS: i32 = 24;
/// Depth of the load that exhausts burst allowances, and its share of the budget.
const SOAK_DEPTH: u32 = 64;
const SOAK: f64 = 0.02;
/// Share of the budget for a held load, and its minimum number of windows.
const HELD: f64 = 0.065;
const MIN_WINDOWS: u64 = 4;
/// Minimum number of rungs between a load that did not last and the next. The first step is a single rung where the time
/// suffices for another.
const HOLD_STEP: i32 = 3;
const MAX_HOLDS: u32 = 8;
/// Late operations needed for a p99 line with an interval of about ±20 %.
const OPERATIONS_FOR_A_LINE: f64 = 25_000.0 * 0.01;
/// Upper bound of the number of passes; not reached in practice.
const MAX_PASSES: u32 = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PassStage {
    Max,
    Scouting,
    Passing,
    /// Holding; with the rung below the line.
    Holding(i32),
    Done,
}

#[derive(Clone, Debug)]
pub(super) struct Passes {
    plan: SlotPlan,
    budget_s: f64,
    arrival: Arrival,
    max_depth: u32,
    rng: Rng,
    stage: PassStage,
    queue: VecDeque<SweepPoint>,
    pass: u32,
    /// Highest operations per second of the leading stream; zero before its measurement.
    max: f64,
}

impl Passes {
    pub(super) fn new(plan: SlotPlan, budget: Span, arrival: Arrival, max_depth: u32) -> Self {
        Self {
            plan,
            budget_s: budget.as_secs_f64(),
            arrival,
            max_depth,
            rng: Rng::with_seed(plan.seed),
            stage: PassStage::Max,
            queue: VecDeque::new(),
            pass: 0,
            max: 0.0,
        }
    }

    /// True if the next point starts a pass: the objective may change before it.
    pub(super) fn is_between_passes(&self) -> bool {
        self.queue.is_empty()
    }

    /// The next slot; `None` at the end. `slots` are all slots so far, `spent_s` the elapsed seconds.
    pub(super) fn next(
        &mut self,
        slots: &[LoadSlot],
        objective: Option<Objective>,
        spent_s: f64,
    ) -> Option<SweepPoint> {
        // Each iteration fills the queue or ends a stage.
        for _ in 0..8 {
            if let Some(point) = self.queue.pop_front() {
                return Some(point);
            }
            match self.stage {
                PassStage::Max => self.look_for_most(objective),
                PassStage::Scouting => self.scout(slots, objective)?,
                PassStage::Passing => self.around(slots, objective?, spent_s),
                PassStage::Holding(line) => self.hold(slots, objective?, spent_s, line),
                PassStage::Done => return None,
            }
        }
        None
    }

    /// Measuring time needed for a line under `objective` with an interval of about ±20 %, if the budget is shorter.
    /// Known after the measurement of the highest rate.
    pub(super) fn needed(&self, objective: Objective) -> Option<Span> {
        let seconds = OPERATIONS_FOR_A_LINE / allowed_share(&objective) / self.max;
        (self.max > 0.0 && seconds > self.budget_s).then(|| Span::from_secs_f64(seconds))
    }

    fn look_for_most(&mut self, objective: Option<Objective>) {
        let depths = DEPTHS.into_iter().filter(|depth| *depth < self.max_depth).chain([self.max_depth]);
        let seconds = self.plan.least.as_secs_f64();
        let points = depths.map(|depth| {
            let pace = Pace::Closed { depth };
            point(pace, seconds, self.warm_up(seconds, objective), (Purpose::Bracket, SlotRole::Max), 0)
        });
        self.queue.extend(points.collect::<Vec<_>>());
        self.stage = PassStage::Scouting;
    }

    fn scout(&mut self, slots: &[LoadSlot], objective: Option<Objective>) -> Option<()> {
        let closed = slots.iter().filter(|slot| slot.role == SlotRole::Max);
        self.max = closed.map(|slot| slot.iops - slot.beside_iops).fold(0.0, f64::max);
        if self.max <= 0.0 || objective.is_none() {
            return None;
        }
        for _ in 0..self.plan.scouts {
            let mut shares = SCOUTS;
            self.rng.shuffle(&mut shares);
            let rungs = shares.map(|share| rung(share * self.max));
            self.issue(&rungs, objective, (Purpose::Below, SlotRole::Scout));
        }
        self.stage = PassStage::Passing;
        Some(())
    }

    /// Issues three loads near the current line and two random anchors, without which an unlucky start kept the search
    /// at a tenth of the truth.
    fn around(&mut self, slots: &[LoadSlot], objective: Objective, spent_s: f64) {
        let (x, slope) = crossing_so_far(slots, objective).unwrap_or((f64::NEG_INFINITY, USUAL_SLOPE));
        let top = rung(HEAVIEST * self.max);
        let lowest = rung(LIGHTEST_LATER * self.max);
        let bottom = if spent_s < 0.5 * self.budget_s { rung(LIGHTEST * self.max) } else { lowest };
        let middle = match x {
            f64::INFINITY => top,
            f64::NEG_INFINITY => bottom + 4,
            _ => (x / RUNG_LN).round() as i32,
        };
        let middle = middle.max(bottom).min(top);
        let slope = if x.is_finite() { slope } else { USUAL_SLOPE };
        let apart = ((RISE / slope / RUNG_LN).round() as i32).clamp(1, MAX_RUNGS_APART);
        let below = lowest.max(middle - ANCHOR_RUNGS)..middle - apart;
        let low = if below.is_empty() { middle - apart - 1 } else { self.rng.i32(below) };
        let high = self.rng.i32(middle + apart + 1..(top + 1).max(middle + apart + 2));
        let mut rungs = [middle - apart, middle, middle + apart, low, high];
        self.rng.shuffle(&mut rungs);
        let cost: f64 = rungs.iter().map(|rung| self.cost(*rung, objective)).sum();
        // Without a line there is no load to hold.
        let hold_share = if has_enough_undisturbed(slots, objective) { self.plan.hold } else { 0.0 };
        if spent_s + BEGUN * cost <= self.budget_s * (1.0 - hold_share) && self.pass < MAX_PASSES {
            // Where the host prevents a line, closed loads have the answer: every second pass is theirs.
            if self.pass % 2 == 1 && is_mostly_disturbed(slots, objective) {
                self.issue_closed(slots, objective);
            } else {
                self.issue(&rungs, Some(objective), (Purpose::LoadLine, SlotRole::Pass));
            }
            return;
        }
        let rate =
            estimate(slots, objective).and_then(|found| found.load).filter(|rate| self.plan.hold > 0.0 && *rate > 0.0);
        self.stage = rate.map_or(PassStage::Done, |rate| PassStage::Holding(rung_below(rate)));
        self.pass = 0;
    }

    /// Holds the rung below the line without a pause, after a load that exhausts burst allowances; repeats once on
    /// failure, as a neighbour may have interfered, then descends: to the completed rate, or by a rung, then by three.
    fn hold(&mut self, slots: &[LoadSlot], objective: Objective, spent_s: f64, line: i32) {
        let window = self.plan.window.as_secs_f64();
        let hold_s = ((HELD * self.budget_s / window) as u64).max(MIN_WINDOWS) as f64 * window;
        let soak = (SOAK * self.budget_s).max(2.0 * window);
        let holds_left = (self.budget_s * (1.0 + self.plan.overrun) - spent_s) / (hold_s + soak);
        let all = find_holds(slots, objective);
        let telling: Vec<_> = all.iter().filter(|hold| hold.is_telling()).collect();
        let next = match &telling[..] {
            [] | [_] => line,
            [.., last] => {
                let step = if telling.len() == 2 && holds_left >= 2.0 { 1 } else { HOLD_STEP };
                (rung(last.x.exp()) - step).min(rung_below(last.completed))
            }
        };
        let lasts = telling.last().is_some_and(|hold| hold.lasts);
        let is_over = self.pass > MAX_HOLDS || self.pass as usize > all.len();
        // A single failure may be caused by a neighbour: a second hold is always made.
        if lasts || is_over || (all.len() > 1 && holds_left < 1.0) {
            self.stage = PassStage::Done;
            return;
        }
        let depth = SOAK_DEPTH.min(self.max_depth);
        let soaking = (Purpose::Soak, SlotRole::Soak);
        self.queue.push_back(point(Pace::Closed { depth }, soak, 0.1 * soak, soaking, self.pass));
        self.queue.push_back(point(self.pace(next), hold_s, 0.0, (Purpose::Hold, SlotRole::Hold), self.pass));
        self.pass += 1;
    }

    fn issue(&mut self, rungs: &[i32], objective: Option<Objective>, why: (Purpose, SlotRole)) {
        for &rung in rungs {
            let seconds = self.seconds(rung, objective);
            let warm_up = self.warm_up(seconds, objective);
            self.queue.push_back(point(self.pace(rung), seconds, warm_up, why, self.pass));
        }
        self.pass += 1;
    }

    /// Issues closed loads around the deepest that met the objective.
    fn issue_closed(&mut self, slots: &[LoadSlot], objective: Objective) {
        let middle = closed_line(slots, objective).map_or(SOAK_DEPTH, |line| line.depth);
        let depths = [middle / 4, middle / 2, middle, middle.saturating_mul(2), middle.saturating_mul(4)];
        let mut depths = depths.map(|depth| depth.clamp(1, self.max_depth)).to_vec();
        depths.dedup();
        self.rng.shuffle(&mut depths);
        let seconds = self.plan.least.as_secs_f64();
        let warm_up = self.warm_up(seconds, Some(objective));
        for depth in depths {
            let pace = Pace::Closed { depth };
            self.queue.push_back(point(pace, seconds, warm_up, (Purpose::Bracket, SlotRole::Max), self.pass));
        }
        self.pass += 1;
    }

    fn pace(&self, rung: i32) -> Pace {
        Pace::Open { rate: Iops::from_f64(rung_load(rung)), arrival: self.arrival }
    }

    /// Measured time of a slot: sufficient for its late operations, within the plan's bounds.
    fn seconds(&self, rung: i32, objective: Option<Objective>) -> f64 {
        let allowed = objective.map_or(0.01, |objective| allowed_share(&objective));
        let required = LATE_WANTED / allowed / rung_load(rung);
        required.min(self.plan.longest.as_secs_f64()).max(self.plan.least.as_secs_f64())
    }

    /// Warm-up of a slot: the queue starts empty, and ten times the limit suffices to fill it.
    fn warm_up(&self, seconds: f64, objective: Option<Objective>) -> f64 {
        let limit = objective.map_or(0.0, |objective| objective.limit.as_secs_f64());
        (0.1 * seconds).max((10.0 * limit).min(self.plan.least.as_secs_f64()))
    }

    fn cost(&self, rung: i32, objective: Objective) -> f64 {
        let seconds = self.seconds(rung, Some(objective));
        seconds + self.warm_up(seconds, Some(objective))
    }
}

/// Highest rung up to a rate in operations per second.
fn rung_below(rate: f64) -> i32 {
    (rate.max(1e-6).ln() / RUNG_LN).floor() as i32
}

fn point(pace: Pace, seconds: f64, warm_up: f64, (purpose, role): (Purpose, SlotRole), pass: u32) -> SweepPoint {
    let span = Span::from_secs_f64(seconds);
    SweepPoint {
        pace,
        warm_up: Span::from_secs_f64(warm_up),
        least: span,
        max: span,
        purpose,
        slot: Some((role, pass)),
    }
}

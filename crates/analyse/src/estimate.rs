//! The load line from slots: the load at which the median slot meets the objective, with its interval.
//!
//! A single slot is uninformative about a tail: between slots of a load the logit of the late share has a standard
//! deviation of 0.5 to 2.7, where counting alone would give 0.07. Therefore many short slots at fixed loads, in random
//! order, are reduced to a value each; the medians of these values, made monotone in the load, cross zero at the line.
//! Medians of slots are more repeatable than pooled shares, logit lines or bisection (tables in `docs/loadline.md`).
//!
//! The interval combines resampling of slots among neighbouring loads with a floor for changes between runs, which
//! slots of a single run cannot show.
//!
//! Loads are rates of open loads, or numbers of sessions if the target is driven by closed loads only.

mod choice;
mod closed_line;
mod disturbance;
mod fitted;
mod isotonic;
mod lasting;
mod rung;
mod windows;

use fastrand::Rng;
use plimsoll_load::Pace;
use plimsoll_record::{Estimate, LineBasis, LoadLine, LoadSlot, Measure, NoLine, Objective, SlotRole};
use plimsoll_units::Span;

use crate::batch::median;
use crate::interval::student;
use crate::standing::offered_size;

pub(crate) use choice::light_p99;
pub use choice::{LADDER, OBJECTIVES_BEYOND, headline_objective, ladder_objectives};
pub use closed_line::closed_line;
use disturbance::{MIN_UNDISTURBED, host_shares};
pub(crate) use disturbance::{allowed_share, is_disturbed};
pub use fitted::fitted_curve;
pub(crate) use isotonic::{crossing, slope};
pub(crate) use lasting::find_holds;
pub use rung::{RUNG_LN, rung, rung_load};
pub(crate) use windows::select_windows;

/// Logits are clipped at this value, beyond which they carry no information.
const CLIP: f64 = 3.0;
/// Number of bootstrap resamples.
const RESAMPLES: usize = 200;
const SEED: u64 = 7;
/// Slots per stratum of neighbouring loads.
const STRATUM: usize = 5;
/// Widening of the interval because consecutive slots are correlated (lag-1 correlation 0.2).
const ALIKE: f64 = 1.3;
/// Standard deviation between runs of the logit of the late share.
const BETWEEN_RUNS: f64 = 0.5;
/// Standard deviation between runs of the logarithm of the line, for curves too steep for the former.
const REPEATS: f64 = 0.02;
/// Maximum ratio of an interval's ends for a reported value.
const WIDEST: f64 = 4.0;
/// Distance in the logarithm of the load within which slots count as near the line.
const NEAR: f64 = 0.4;
/// Distance below the line beyond which a missed slot is a lapse: loads below 0.8 of the line.
const WELL_BELOW: f64 = 0.2;
/// Minimum number of passes for a comparison of halves.
const PASSES_FOR_HALVES: usize = 8;
/// Delays of the generator are compared with the limit divided by this.
const GENERATOR_MARGIN: f64 = 5.0;

/// A load line and its basis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimated {
    /// The line, or the reason for its absence.
    pub line: LoadLine,
    pub basis: LineBasis,
    /// Offered load at the line from slots, or at its lower bound, before any hold: operations per second of the
    /// leading stream, or the number in flight of a closed load.
    pub load: Option<f64>,
}

/// A slot under an objective.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotEstimate {
    /// Logarithm of the load.
    pub(crate) x: f64,
    /// Above zero if the objective was missed.
    pub(crate) z: f64,
    pass: u32,
    /// The host withheld the processor from the generator.
    is_disturbed: bool,
}

impl SlotEstimate {
    /// A slot of a closed load, by its depth.
    fn of_depth(slot: &LoadSlot, z: f64) -> Option<Self> {
        let Pace::Closed { depth } = slot.offered else { return None };
        Some(Self { x: f64::from(depth.max(1)).ln(), z, pass: slot.pass, is_disturbed: false })
    }

    /// True for slots of the same rung.
    pub(crate) fn is_at_load_of(&self, other: &Self) -> bool {
        (self.x - other.x).abs() < 1e-9
    }
}

/// Line from the points of a run or of a half.
#[derive(Clone, Copy, Debug)]
enum Drawn {
    /// Logarithms of the line and of its interval's ends, which may be infinite.
    At {
        x: f64,
        low: f64,
        high: f64,
    },
    Beyond,
    Never,
}

/// Load line of slots of storage under `objective`; `None` without usable slots.
pub fn estimate(slots: &[LoadSlot], objective: Objective) -> Option<Estimated> {
    estimate_with(slots, objective, BETWEEN_RUNS)
}

/// Load line of slots of a model, which does not change between runs.
pub fn estimate_of_model(slots: &[LoadSlot], objective: Objective) -> Option<Estimated> {
    estimate_with(slots, objective, 0.0)
}

/// `between_runs` is the standard deviation between runs of the logit of the late share.
fn estimate_with(slots: &[LoadSlot], objective: Objective, between_runs: f64) -> Option<Estimated> {
    let draw = |points: &[SlotEstimate]| estimate_crossing(points, between_runs);
    let all = points(slots, objective);
    if all.is_empty() {
        return None;
    }
    let counting = select_undisturbed(&all);
    if !is_enough(counting.len(), all.len()) {
        return Some(too_disturbed(slots, &all, objective));
    }
    let lateness_p99 = undisturbed_lateness(slots, objective);
    let mut drawn = draw(&counting);
    let (mut halves, mut fell) = (None, false);
    if let Some((early, late)) = halved(&counting) {
        let (early, late) = (draw(&early), draw(&late));
        match (early, late) {
            (Drawn::At { x: first, low, .. }, Drawn::At { x: second, high, .. }) => {
                halves = Some((first.exp(), second.exp()));
                if high < low {
                    (drawn, fell) = (late, true);
                }
            }
            (_, Drawn::Never) if matches!(drawn, Drawn::At { .. }) => (drawn, fell) = (late, true),
            _ => {}
        }
    }
    let scale = LoadScale::of(slots);
    let mut basis = LineBasis {
        slots: counting.len() as u32,
        left_out: (all.len() - counting.len()) as u32,
        lateness_p99,
        host: host_shares(slots),
        slot: scale.slot,
        nineteen_of_twenty: nineteen_of_twenty(&counting).map(|x| scale.iops(x)),
        halves: halves.map(|(first, second)| (scale.iops(first.ln()), scale.iops(second.ln()))),
        fell,
        ..LineBasis::default()
    };
    let line = match drawn {
        Drawn::Never => never(slots, objective, &scale),
        Drawn::Beyond => LoadLine::Beyond { objective, iops: Estimate::bare(scale.iops(heaviest(&counting))) },
        Drawn::At { x, low, high } => {
            basis.slope = slope(&counting, x);
            basis.lapses = lapses(&counting, x);
            scale.line(objective, x, low, high)
        }
    };
    let load = match drawn {
        Drawn::At { x, .. } => Some(x.exp()),
        // At most the completed rate.
        Drawn::Beyond => Some(heaviest(&counting).exp().min(scale.completed - scale.beside)),
        Drawn::Never => None,
    };
    Some(lasting::judged(&Estimated { line, basis, load }, slots, objective, &scale))
}

/// The load at which the median slot so far is at its limit: the centre of the next pass.
///
/// Returns the logarithm of the load and the slope of the medians there; infinite if all slots met the objective,
/// negative infinity if the lightest missed it. `None` without usable slots.
pub(crate) fn crossing_so_far(slots: &[LoadSlot], objective: Objective) -> Option<(f64, f64)> {
    let counting = preferably_undisturbed(slots, objective);
    (!counting.is_empty()).then(|| {
        let x = crossing(&counting);
        (x, slope(&counting, x))
    })
}

/// The undisturbed slots, or all where these are too few: for the choice of loads only.
fn preferably_undisturbed(slots: &[LoadSlot], objective: Objective) -> Vec<SlotEstimate> {
    let all = points(slots, objective);
    let undisturbed = select_undisturbed(&all);
    if is_enough(undisturbed.len(), all.len()) { undisturbed } else { all }
}

/// Logarithm of the slots' load line, and the minimum half width of its interval. Infinite as for [`crossing_so_far`];
/// `None` without usable slots.
pub(crate) fn line_and_floor(slots: &[LoadSlot], objective: Objective) -> Option<(f64, f64)> {
    let counting = select_undisturbed(&points(slots, objective));
    (!counting.is_empty()).then(|| {
        let x = crossing(&counting);
        (x, if x.is_finite() { bound_half_width(&counting, x, BETWEEN_RUNS) } else { 0.0 })
    })
}

/// Pass numbers of usable slots, ascending.
pub(crate) fn passes_of(slots: &[LoadSlot]) -> Vec<u32> {
    let mut passes: Vec<u32> = slots.iter().filter(|slot| is_counted(slot)).map(|slot| slot.pass).collect();
    passes.sort_unstable();
    passes.dedup();
    passes
}

/// Conversion from loads to operations per second, and durations of slots.
pub(crate) struct LoadScale {
    /// Operations per second of the other streams.
    beside: f64,
    /// Highest mean rate completed at any load; single slots scatter upwards.
    completed: f64,
    /// Measuring time in seconds.
    seconds: f64,
    /// Median measured time of a slot.
    slot: Span,
    /// For closed loads: logarithm of each load, ascending, and the highest rate completed up to it.
    by_sessions: Vec<(f64, f64)>,
}

impl LoadScale {
    fn of(slots: &[LoadSlot]) -> Self {
        let counted: Vec<&LoadSlot> = slots.iter().filter(|slot| is_counted(slot)).collect();
        let beside: Vec<f64> = counted.iter().map(|slot| slot.beside_iops).collect();
        let mut spans: Vec<Span> = counted.iter().map(|slot| slot.span).collect();
        spans.sort_unstable();
        let is_closed = counted.iter().all(|slot| slot.rate().is_none());
        Self {
            beside: median(&beside),
            completed: max_completed(slots),
            seconds: slots.iter().map(|slot| (slot.warm_up + slot.span).as_secs_f64()).sum(),
            slot: spans.get(spans.len() / 2).copied().unwrap_or_default(),
            by_sessions: if is_closed { rising(completed(&counted)) } else { Vec::new() },
        }
    }

    /// Operations per second of all streams, at most the completed rate.
    pub(crate) fn iops(&self, x: f64) -> f64 {
        let above = self.by_sessions.partition_point(|(load, _)| *load < x);
        match (above.checked_sub(1).map(|below| self.by_sessions[below]), self.by_sessions.get(above)) {
            (Some((a, low)), Some(&(b, high))) => low + (high - low) * (x - a) / (b - a),
            // Below the smallest load the rate is proportional to the number of sessions.
            (None, Some(&(b, high))) => high * (x - b).exp(),
            (Some((_, high)), None) => high,
            (None, None) => (x.exp() + self.beside).min(self.completed),
        }
    }

    fn line(&self, objective: Objective, x: f64, low: f64, high: f64) -> LoadLine {
        let half = (high - low) / 2.0;
        let value = self.iops(x);
        let (low, high) = (if low.is_finite() { self.iops(low) } else { 0.0 }, self.iops(high));
        if high > WIDEST * low {
            // Precision grows with the square root of time; for an open end the required time is unknown, and at least
            // four times as long.
            let times = if half.is_finite() { (half / 1.2_f64.ln()).powi(2) } else { 4.0 };
            let why = NoLine::Scatter { low, high, seconds: self.seconds * times.max(2.0) };
            return LoadLine::Refused { objective, why };
        }
        LoadLine::At { objective, iops: Estimate { value, interval: Some((low, high)) } }
    }
}

/// Highest rate completed at any load.
fn max_completed(slots: &[LoadSlot]) -> f64 {
    completed(&slots.iter().collect::<Vec<_>>()).into_iter().map(|(_, iops)| iops).fold(0.0, f64::max)
}

/// Completed rate at each load, averaged over its slots by duration.
fn completed(slots: &[&LoadSlot]) -> Vec<(Pace, f64)> {
    let mut loads: Vec<(Pace, f64, f64)> = Vec::new();
    for slot in slots {
        let seconds = slot.span.as_secs_f64();
        match loads.iter_mut().find(|load| load.0 == slot.offered) {
            Some(load) => (load.1, load.2) = (load.1 + slot.iops * seconds, load.2 + seconds),
            None => loads.push((slot.offered, slot.iops * seconds, seconds)),
        }
    }
    loads.into_iter().map(|(pace, completed, seconds)| (pace, completed / seconds.max(1e-9))).collect()
}

/// Logarithms of loads, ascending, with the highest rate completed up to each.
fn rising(completed: Vec<(Pace, f64)>) -> Vec<(f64, f64)> {
    let mut loads: Vec<(f64, f64)> =
        completed.into_iter().map(|(pace, iops)| (offered_size(pace).ln(), iops)).collect();
    loads.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut max = 0.0_f64;
    for (_, iops) in &mut loads {
        max = max.max(*iops);
        *iops = max;
    }
    loads
}

/// Verdict if the lightest load missed the objective: never met, unless a slot contradicts that.
fn never(slots: &[LoadSlot], objective: Objective, scale: &LoadScale) -> LoadLine {
    let counted = slots.iter().filter(|slot| is_counted(slot));
    let least = counted.filter_map(|slot| slot.measured(&objective)).min().unwrap_or_default();
    if least > objective.limit {
        return LoadLine::Never { objective, least };
    }
    let met =
        slots.iter().filter(|slot| is_counted(slot) && slot.measured(&objective).is_some_and(|m| m <= objective.limit));
    let high = met.map(LoadSlot::load).fold(0.0, f64::max);
    let why = NoLine::Scatter { low: 0.0, high: scale.iops(high.max(1e-9).ln()), seconds: 4.0 * scale.seconds };
    LoadLine::Refused { objective, why }
}

/// True for slots that contribute to a line, including those of closed loads if no load is open.
fn is_counted(slot: &LoadSlot) -> bool {
    matches!(slot.role, SlotRole::Scout | SlotRole::Pass)
}

pub(crate) fn points(slots: &[LoadSlot], objective: Objective) -> Vec<SlotEstimate> {
    slots.iter().filter(|slot| is_counted(slot)).filter_map(|slot| point(slot, objective)).collect()
}

fn point(slot: &LoadSlot, objective: Objective) -> Option<SlotEstimate> {
    let z = missed_by(slot, &objective)?;
    let is_disturbed = is_disturbed(slot, &objective);
    Some(SlotEstimate { x: slot.load().ln(), z, pass: slot.pass, is_disturbed })
}

/// Signed distance of a slot from the objective, above zero if missed: the logit of the late share relative to that of
/// the allowed share, or the logarithm of the mean relative to the limit. `None` without operations.
pub(crate) fn missed_by(slot: &LoadSlot, objective: &Objective) -> Option<f64> {
    let (all, late) = slot.late(objective);
    if all == 0 {
        return None;
    }
    let z = match objective.measure {
        Measure::Quantile(share) => return Some(missed_by_share(all as f64, late as f64, share)),
        Measure::Mean => {
            let mean = slot.measured(objective)?.as_nanos().max(1);
            (mean as f64 / objective.limit.as_nanos() as f64).ln()
        }
    };
    Some(z.clamp(-CLIP, CLIP))
}

/// Signed distance from an objective on the quantile at `share`.
fn missed_by_share(all: f64, late: f64, share: f64) -> f64 {
    logit_over(all, late, 1.0 - share).clamp(-CLIP, CLIP)
}

/// Logit of the late share of `all` operations minus the logit of the share `allowed`.
///
/// Adds pseudo-observations of which half an operation is late: few operations then deviate little from zero, and
/// exactly the allowed share gives zero for any number. With half an operation on each side instead, 40 operations
/// without a late one would have missed a p99.
fn logit_over(all: f64, late: f64, allowed: f64) -> f64 {
    let more = 0.5 / allowed;
    ((late + 0.5) / (all - late + more - 0.5)).ln() - (allowed / (1.0 - allowed)).ln()
}

fn select_undisturbed(all: &[SlotEstimate]) -> Vec<SlotEstimate> {
    all.iter().filter(|point| !point.is_disturbed).copied().collect()
}

/// True if so many undisturbed slots of `all` slots suffice for a line: an absolute number or half, so that further
/// undisturbed slots never remove a line.
const fn is_enough(undisturbed: usize, all: usize) -> bool {
    undisturbed >= MIN_UNDISTURBED || 2 * undisturbed >= all
}

/// Whether the undisturbed slots so far suffice for a line under `objective`.
pub(crate) fn has_enough_undisturbed(slots: &[LoadSlot], objective: Objective) -> bool {
    let all = points(slots, objective);
    is_enough(select_undisturbed(&all).len(), all.len())
}

/// Whether the host disturbed most of the slots so far.
pub(crate) fn is_mostly_disturbed(slots: &[LoadSlot], objective: Objective) -> bool {
    let all = points(slots, objective);
    2 * select_undisturbed(&all).len() < all.len()
}

/// The result with too few undisturbed slots.
fn too_disturbed(slots: &[LoadSlot], all: &[SlotEstimate], objective: Objective) -> Estimated {
    let undisturbed = select_undisturbed(all).len();
    let (lateness_p99, host) = (median_lateness(slots, |_| true), host_shares(slots));
    let scale = LoadScale::of(slots);
    let times = (undisturbed > 0).then(|| (MIN_UNDISTURBED as f64 / undisturbed as f64).max(2.0));
    let why = NoLine::HostTaken {
        share: 1.0 - undisturbed as f64 / all.len() as f64,
        host,
        lateness_p99,
        seconds: times.map(|times| times * scale.seconds),
    };
    let basis = LineBasis {
        slots: undisturbed as u32,
        left_out: (all.len() - undisturbed) as u32,
        lateness_p99,
        host,
        slot: scale.slot,
        ..LineBasis::default()
    };
    Estimated { line: LoadLine::Refused { objective, why }, basis, load: None }
}

fn estimate_crossing(points: &[SlotEstimate], between_runs: f64) -> Drawn {
    let x = crossing(points);
    if x == f64::INFINITY {
        return Drawn::Beyond;
    }
    if x == f64::NEG_INFINITY {
        return Drawn::Never;
    }
    let (low, high) = resampled(points, between_runs == 0.0);
    let near = points.iter().filter(|point| (point.x - x).abs() < NEAR).count();
    let wider = ALIKE * student(near.saturating_sub(2).max(1)) / 1.96;
    let floor = bound_half_width(points, x, between_runs);
    Drawn::At {
        x,
        low: x - ((x - low).max(0.0) * wider).hypot(floor),
        high: x + ((high - x).max(0.0) * wider).hypot(floor),
    }
}

/// The 2.5 % and 97.5 % quantiles of the crossing under resampling of slots among neighbouring loads. Resampling whole
/// passes would lose rungs.
fn resampled(points: &[SlotEstimate], is_model: bool) -> (f64, f64) {
    let mut sorted = points.to_vec();
    // In order of time within a load: sorted by value, the strata of a frequently measured load would hardly vary.
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.pass.cmp(&b.pass)).then(a.z.total_cmp(&b.z)));
    let strata = group_strata(&sorted, is_model);
    let mut rng = Rng::with_seed(SEED);
    let mut crossings: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let drawn: Vec<SlotEstimate> = strata
                .iter()
                .flat_map(|stratum| stratum.iter().map(|_| stratum[rng.usize(..stratum.len())]).collect::<Vec<_>>())
                .collect();
            crossing(&drawn)
        })
        .collect();
    crossings.sort_by(f64::total_cmp);
    (crossings[RESAMPLES / 40], crossings[RESAMPLES - RESAMPLES / 40 - 1])
}

/// Slots of neighbouring loads; of a model with several slots at each load, slots of equal loads, as they hardly scatter.
fn group_strata(sorted: &[SlotEstimate], is_model: bool) -> Vec<&[SlotEstimate]> {
    let by_load: Vec<&[SlotEstimate]> = sorted.chunk_by(SlotEstimate::is_at_load_of).collect();
    if is_model && by_load.iter().all(|slots| slots.len() > 1) {
        return by_load;
    }
    let mut strata: Vec<&[SlotEstimate]> = sorted.chunks(STRATUM).collect();
    if strata.len() > 1 && strata[strata.len() - 1].len() < 3 {
        strata.pop();
        let begin = (strata.len() - 1) * STRATUM;
        *strata.last_mut().expect("there was more than one") = &sorted[begin..];
    }
    strata
}

/// Minimum half width of the interval: changes between runs, divided by the slope, and the gap between the measured
/// loads around the line.
fn bound_half_width(points: &[SlotEstimate], x: f64, between_runs: f64) -> f64 {
    let below = points.iter().map(|point| point.x).filter(|at| *at <= x).fold(f64::NEG_INFINITY, f64::max);
    let above = points.iter().map(|point| point.x).filter(|at| *at > x).fold(f64::INFINITY, f64::min);
    let gap = above - below;
    let between = between_runs / slope(points, x);
    1.96 * between.hypot(REPEATS).hypot(gap / 12.0_f64.sqrt())
}

fn halved(points: &[SlotEstimate]) -> Option<(Vec<SlotEstimate>, Vec<SlotEstimate>)> {
    let mut passes: Vec<u32> = points.iter().map(|point| point.pass).collect();
    passes.sort_unstable();
    passes.dedup();
    let middle = *passes.get(passes.len() / 2)?;
    (passes.len() >= PASSES_FOR_HALVES).then(|| points.iter().partition(|point| point.pass < middle))
}

fn heaviest(points: &[SlotEstimate]) -> f64 {
    points.iter().map(|point| point.x).fold(f64::NEG_INFINITY, f64::max)
}

/// Share of slots well below the line that missed the objective, and their number.
fn lapses(points: &[SlotEstimate], x: f64) -> Option<(f64, u32)> {
    let below: Vec<&SlotEstimate> = points.iter().filter(|point| point.x < x - WELL_BELOW).collect();
    let missed = below.iter().filter(|point| point.z > 0.0).count();
    (!below.is_empty()).then(|| (missed as f64 / below.len() as f64, below.len() as u32))
}

/// Highest load up to which 19 of 20 slots met the objective, if at least 20 were measured.
fn nineteen_of_twenty(points: &[SlotEstimate]) -> Option<f64> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x));
    let (mut observed, mut missed, mut best) = (0, 0, None);
    for rung in sorted.chunk_by(SlotEstimate::is_at_load_of) {
        observed += rung.len();
        missed += rung.iter().filter(|point| point.z > 0.0).count();
        if observed >= 20 && missed * 20 <= observed {
            best = Some(rung[0].x);
        }
    }
    best
}

/// 99th percentile of the generator's lateness in the median undisturbed slot.
fn undisturbed_lateness(slots: &[LoadSlot], objective: Objective) -> Span {
    median_lateness(slots, |slot| !is_disturbed(slot, &objective))
}

fn median_lateness(slots: &[LoadSlot], is_selected: impl Fn(&LoadSlot) -> bool) -> Span {
    let mut each: Vec<Span> = slots
        .iter()
        .filter(|slot| is_counted(slot) && is_selected(slot))
        .map(|slot| slot.lateness.quantile(0.99).unwrap_or_default())
        .collect();
    each.sort_unstable();
    each.get(each.len() / 2).copied().unwrap_or_default()
}

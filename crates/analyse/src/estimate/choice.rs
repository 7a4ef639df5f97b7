//! The ladder of objectives, and the default choice from it.

use plimsoll_load::Pace;
use plimsoll_record::{LoadSlot, Measure, Objective, Scope, SlotRole};
use plimsoll_units::Span;

use super::{crossing, has_enough_undisturbed, preferably_undisturbed, slope};

/// Limits on the 99th percentile in every result, in microseconds.
pub const LADDER: [u64; 10] = [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000];
/// Further limits for slower storage, in microseconds.
pub const OBJECTIVES_BEYOND: [u64; 5] = [200_000, 500_000, 1_000_000, 2_000_000, 5_000_000];
/// Minimum slope of the medians: a tail that is 1.65 times as heavy then moves the line by less than 7 %.
const MIN_SLOPE: f64 = 8.0;

/// Objectives of the ladder, extended up to the first that is at least twice `light_p99`, the 99th percentile of the
/// lightest load.
pub fn ladder_objectives(light_p99: Option<Span>) -> Vec<Objective> {
    let mut limits = LADDER.to_vec();
    for further in OBJECTIVES_BEYOND {
        let reached = limits.last().copied().unwrap_or(0) * 1_000;
        if light_p99.is_none_or(|light| reached >= light.as_nanos().saturating_mul(2)) {
            break;
        }
        limits.push(further);
    }
    limits.into_iter().map(p99_within).collect()
}

/// Default objective, with the 99th percentile of the lightest load: the first of the ladder that is at least twice
/// that percentile, can be judged with this generator, and has a steep curve at its line. `None` without measurements.
pub fn headline_objective(slots: &[LoadSlot]) -> Option<(Objective, Span)> {
    let light = light_p99(slots)?;
    let all = ladder_objectives(Some(light));
    let is_long = |objective: &Objective| objective.limit.as_nanos() >= light.as_nanos().saturating_mul(2);
    let long: Vec<Objective> = all.iter().filter(|objective| is_long(objective)).copied().collect();
    let judged: Vec<Objective> =
        long.iter().filter(|objective| has_enough_undisturbed(slots, **objective)).copied().collect();
    // Where the host disturbs every objective, closed loads have the answer.
    let candidates = if judged.is_empty() { long } else { judged };
    let mut steepest: Option<(f64, Objective)> = None;
    for &objective in &candidates {
        let counting = preferably_undisturbed(slots, objective);
        let x = crossing(&counting);
        if counting.is_empty() || x == f64::INFINITY {
            // The shortest limit that does not bind, or no data yet.
            return Some((steepest.map_or(objective, |(_, steepest)| steepest), light));
        }
        if x == f64::NEG_INFINITY {
            continue;
        }
        let slope = slope(&counting, x);
        if slope >= MIN_SLOPE {
            return Some((objective, light));
        }
        if steepest.is_none_or(|(best, _)| slope > best) {
            steepest = Some((slope, objective));
        }
    }
    let last = steepest.map(|(_, objective)| objective).or(candidates.first().copied()).or(all.last().copied());
    last.map(|objective| (objective, light))
}

/// 99th percentile of the lightest load: the smallest depth, or the lowest rate.
pub(crate) fn light_p99(slots: &[LoadSlot]) -> Option<Span> {
    let p99 = p99_within(1);
    let size = |slot: &&LoadSlot| match slot.offered {
        Pace::Closed { depth } => f64::from(depth) - 1e18,
        Pace::Open { rate, .. } => rate.as_f64(),
    };
    let measured = slots.iter().filter(|slot| slot.role != SlotRole::Hold && slot.role != SlotRole::Soak);
    let measured = measured.filter(|slot| slot.measured(&p99).is_some());
    measured.min_by(|a, b| size(a).total_cmp(&size(b))).and_then(|slot| slot.measured(&p99))
}

fn p99_within(limit_us: u64) -> Objective {
    Objective { over: Scope::All, measure: Measure::Quantile(0.99), limit: Span::from_micros(limit_us) }
}

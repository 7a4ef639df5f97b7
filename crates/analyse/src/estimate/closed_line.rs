//! The answer of closed loads: the highest load that they completed within an objective.
//!
//! A closed load waits for its storage and for its generator, so it has an answer where arrivals at a rate cannot be
//! judged. It is another promise than a load line and is never mixed with it.
//!
//! Operations that were late because of a pause of the generator do not count: a pause delays at most the operations in
//! flight, and the next ones are issued after it. Under arrivals at a rate, a pause also bunches the arrivals, which cannot
//! be undone.

use plimsoll_load::Pace;
use plimsoll_record::{ClosedLine, Estimate, LoadSlot, Measure, Objective, SlotRole};

use super::disturbance::is_disturbed;
use super::{SlotEstimate, crossing, missed_by, missed_by_share};
use crate::batch::median;
use crate::interval::student;

/// Longer limits, in multiples of the given limit, if no closed load met it.
const LONGER: [u64; 10] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];
/// Minimum number of slots of a depth for an interval.
const MIN_SLOTS: usize = 3;

/// The highest load of closed loads within `objective`, or within the next longer limit of those that any of them met.
/// `None` without slots of closed loads.
pub fn closed_line(slots: &[LoadSlot], objective: Objective) -> Option<ClosedLine> {
    LONGER.into_iter().find_map(|times| within(slots, Objective { limit: objective.limit * times, ..objective }))
}

fn within(slots: &[LoadSlot], objective: Objective) -> Option<ClosedLine> {
    let (used, is_disturbed) = usable(slots, &objective);
    let estimate = |slot: &&LoadSlot| SlotEstimate::of_depth(slot, miss(slot, &objective)?);
    let points: Vec<SlotEstimate> = used.iter().filter_map(estimate).collect();
    let line = if points.is_empty() { f64::NEG_INFINITY } else { crossing(&points) };
    let depths: Vec<u32> = used.iter().map(|slot| depth_of(slot)).collect();
    let deepest = depths.iter().copied().max()?;
    let mut met: Vec<u32> = depths.into_iter().filter(|depth| f64::from(*depth).ln() <= line + 1e-9).collect();
    met.sort_unstable();
    met.dedup();
    let rates = |at: u32| used.iter().filter(|slot| depth_of(slot) == at).map(|slot| slot.iops).collect::<Vec<f64>>();
    // Beyond saturation, closed loads complete less.
    let best = met.into_iter().map(|depth| (depth, median(&rates(depth))));
    let (depth, value) = best.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, value)| *value > 0.0)?;
    let rates = rates(depth);
    let (operations, delayed) = used.iter().filter(|slot| depth_of(slot) == depth).fold((0.0, 0.0), |sums, slot| {
        let (operations, delayed) = (slot.late(&objective).0 as f64, count_delayed(slot, &objective));
        (sums.0 + operations, sums.1 + delayed)
    });
    let iops = Estimate { value, interval: interval(&rates, value) };
    let (slots, is_deepest, delayed) = (rates.len() as u32, depth == deepest, delayed / f64::max(operations, 1.0));
    Some(ClosedLine { objective, depth, iops, slots, is_deepest, is_disturbed, delayed })
}

/// Signed distance of a slot from the objective, without the operations that were late because of the host.
fn miss(slot: &LoadSlot, objective: &Objective) -> Option<f64> {
    let (all, late) = slot.late(objective);
    match objective.measure {
        Measure::Quantile(share) if all > 0 => {
            let late = (late as f64 - count_delayed(slot, objective)).max(0.0);
            Some(missed_by_share(all as f64, late, share))
        }
        _ => missed_by(slot, objective),
    }
}

/// Estimated number of the objective's operations that were late because the generator paused: of those that complete in
/// a pause at the slot's rate, at most its depth, those that the rest of the pause delays beyond the limit.
fn count_delayed(slot: &LoadSlot, objective: &Objective) -> f64 {
    let median = slot.measured(&Objective { measure: Measure::Quantile(0.5), ..*objective });
    let Some((host, median)) = slot.host.as_ref().zip(median) else { return 0.0 };
    let spare_s = objective.limit.as_secs_f64() - median.as_secs_f64();
    if spare_s <= 0.0 {
        return 0.0;
    }
    let of_pause = |&(pause_ns, count): &(u64, u64)| {
        let pause_s = pause_ns as f64 / 1e9;
        let completed = (slot.iops * pause_s).min(slot.load());
        count as f64 * completed * (1.0 - spare_s / pause_s).max(0.0)
    };
    let late: f64 = host.pauses.bins.iter().map(of_pause).sum();
    let counted = slot.late(objective).0 as f64;
    let all: u64 = slot.response.iter().map(|(_, bins)| bins.count).sum();
    // Warm-up and draining are observed, too.
    let measured = (slot.span.as_secs_f64() / host.elapsed.as_secs_f64().max(1e-9)).min(1.0);
    (late * measured * counted / all.max(1) as f64).min(counted)
}

/// Slots of closed loads; without the disturbed slots where each depth has others.
fn usable<'a>(slots: &'a [LoadSlot], objective: &Objective) -> (Vec<&'a LoadSlot>, bool) {
    let closed = || slots.iter().filter(|slot| slot.role == SlotRole::Max && slot.rate().is_none());
    let quiet: Vec<&LoadSlot> = closed().filter(|slot| !is_disturbed(slot, objective)).collect();
    let is_quiet_at = |at: u32| quiet.iter().any(|slot| depth_of(slot) == at);
    if closed().all(|slot| is_quiet_at(depth_of(slot))) { (quiet, false) } else { (closed().collect(), true) }
}

/// Interval of the rate at a depth, by Student's t on logarithms.
fn interval(rates: &[f64], value: f64) -> Option<(f64, f64)> {
    let logs: Vec<f64> = rates.iter().filter(|rate| **rate > 0.0).map(|rate| rate.ln()).collect();
    if logs.len() < MIN_SLOTS {
        return None;
    }
    let (n, mean) = (logs.len() as f64, logs.iter().sum::<f64>() / logs.len() as f64);
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half = student(logs.len() - 1) * (variance / n).sqrt();
    Some((value * (-half).exp(), value * half.exp()))
}

fn depth_of(slot: &LoadSlot) -> u32 {
    match slot.offered {
        Pace::Closed { depth } => depth,
        Pace::Open { .. } => 0,
    }
}

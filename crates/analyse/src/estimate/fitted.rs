//! The estimate as a curve: response time over throughput, by the medians of slots that give the load line.

use plimsoll_load::Pace;
use plimsoll_record::{Curve, LoadSlot, Measure, Objective, Scope, SlotRole};
use plimsoll_units::{Instant, Span};

use super::isotonic::{crossing, pool_blocks};
use super::{LoadScale, SlotEstimate, halved, has_enough_undisturbed, is_counted, is_disturbed, point, select_windows};

/// Operations per second and response time in nanoseconds of the medians of slots, made monotone in the load, by ascending
/// load. Slots are those of the load line; without any, the windows of the runs, or the runs.
///
/// Under an objective on `measure` of all operations the curve passes through the limit at the crossing that the load line
/// is. Empty for fewer than two loads.
pub fn fitted_curve(curve: &Curve, measure: Measure) -> Vec<(f64, f64)> {
    let objective = curve.load_line.map(|line| line.objective());
    let slots = select_slots(curve);
    let has_fallen = curve.basis.as_ref().is_some_and(|basis| basis.fell);
    let used = select_used(&slots, objective, has_fallen);
    let any = Objective { over: Scope::All, measure, limit: Span::MAX };
    let time = |slot: &&LoadSlot| {
        let ns = slot.measured(&any)?.as_nanos().max(1) as f64;
        Some(SlotEstimate { x: slot.load().ln(), z: ns.ln(), pass: slot.pass, is_disturbed: false })
    };
    let times: Vec<SlotEstimate> = used.iter().filter_map(time).collect();
    let mut vertices: Vec<(f64, f64)> = Vec::new();
    for block in pool_blocks(&times) {
        vertices.extend([block.first, block.last].map(|x| (x, block.median.exp())));
    }
    vertices.dedup();
    if vertices.first().map(|(x, _)| x) == vertices.last().map(|(x, _)| x) {
        return Vec::new();
    }
    if let Some(objective) = objective.filter(|own| own.measure == measure && own.over == Scope::All) {
        let points: Vec<SlotEstimate> = used.iter().filter_map(|slot| point(slot, objective)).collect();
        pass_through(&mut vertices, crossing(&points), objective.limit.as_nanos() as f64);
    }
    let scale = LoadScale::of(&slots);
    vertices.into_iter().map(|(x, ns)| (scale.iops(x), ns)).collect()
}

/// The slots of the load line. Runs count as slots if their series gives a single load, or none.
fn select_slots(curve: &Curve) -> Vec<LoadSlot> {
    if curve.slots.iter().any(is_counted) {
        return curve.slots.iter().filter(|slot| is_counted(slot)).cloned().collect();
    }
    let windows = select_windows(&curve.runs);
    if windows.iter().any(|slot| slot.offered != windows[0].offered) {
        return windows;
    }
    let is_open = |run: &&plimsoll_record::Run| matches!(run.offered, Pace::Open { .. });
    let has_open = curve.runs.iter().any(|run| is_open(&run));
    let runs = curve.runs.iter().filter(|run| is_open(run) == has_open);
    runs.map(|run| LoadSlot::of(run, SlotRole::Pass, 0, Instant::ZERO)).collect()
}

/// The slots that count under the objective, as in the estimate.
fn select_used(slots: &[LoadSlot], objective: Option<Objective>, has_fallen: bool) -> Vec<&LoadSlot> {
    let Some(objective) = objective else { return slots.iter().collect() };
    let only_undisturbed = has_enough_undisturbed(slots, objective);
    let is_counting = |slot: &&LoadSlot| !(only_undisturbed && is_disturbed(slot, &objective));
    let counting: Vec<&LoadSlot> = slots.iter().filter(is_counting).collect();
    if !has_fallen {
        return counting;
    }
    let points: Vec<SlotEstimate> = counting.iter().filter_map(|slot| point(slot, objective)).collect();
    let late = halved(&points).map_or(Vec::new(), |(_, late)| late);
    let first_pass = late.iter().map(|one| one.pass).min().unwrap_or_default();
    counting.into_iter().filter(|slot| slot.pass >= first_pass).collect()
}

/// Inserts the crossing, with the vertices below it within the limit and those above it beyond. Medians of an even number
/// of slots are means, which differ between the logits of late shares and the logarithms of times.
fn pass_through(vertices: &mut Vec<(f64, f64)>, x: f64, limit: f64) {
    for (at, ns) in &mut *vertices {
        *ns = if *at <= x { ns.min(limit) } else { ns.max(limit) };
    }
    if x.is_finite() {
        let index = vertices.partition_point(|(at, _)| *at <= x);
        vertices.insert(index, (x, limit));
    }
}

//! Combines the slots of each load into a run.
//!
//! Response times are those of all slots. Slots differ far more than counting statistics suggest, so a quantile only
//! has an interval with either 1,000 operations beyond it in 20 slots, or at least 8 slots with 1,000 operations each,
//! from the scatter of their quantiles.

use plimsoll_load::Pace;
use plimsoll_record::{Bins, Estimate, Figures, Measure, Objective, Run, Slice, Steadiness, Tally};
use plimsoll_units::{Instant, Span};

use crate::batch::{self, ReducedSlice};
use crate::interval::{self, student};

/// Minimum operations beyond a quantile, and slots, for an interval by batches.
const MIN_BEYOND: f64 = 1_000.0;
const MIN_BATCHES: usize = 20;
/// Minimum slots, and operations in each, for an interval by the slots' quantiles.
const MIN_SLOTS: usize = 8;
const MIN_OPERATIONS: u64 = 1_000;

/// Combines slots into a run for each load, closed loads by depth, then open loads by rate; without series.
pub fn by_load(runs: &[Run], objective: Option<Objective>) -> Vec<Run> {
    let mut loads: Vec<(Pace, Vec<&Run>)> = Vec::new();
    for run in runs {
        match loads.iter_mut().find(|(pace, _)| *pace == run.offered) {
            Some((_, slots)) => slots.push(run),
            None => loads.push((run.offered, vec![run])),
        }
    }
    loads.sort_by(|(a, _), (b, _)| order(*a).total_cmp(&order(*b)));
    loads.into_iter().map(|(_, slots)| together(&slots, objective)).collect()
}

/// Sort key of a load: closed loads by depth, then open loads by rate.
pub fn order(pace: Pace) -> f64 {
    match pace {
        Pace::Closed { depth } => f64::from(depth) - 1e18,
        Pace::Open { rate, .. } => rate.as_f64(),
    }
}

fn together(slots: &[&Run], objective: Option<Objective>) -> Run {
    let mut run = Run { series: Vec::new(), lateness: slots[0].lateness.coarse(), ..slots[0].clone() };
    for slot in &slots[1..] {
        run.span += slot.span;
        run.warm_up = run.warm_up.max(slot.warm_up);
        run.total.merge(&slot.total);
        run.unserved += slot.unserved;
        run.lateness.merge(&slot.lateness.coarse());
        let cpu = run.cpu.zip(slot.cpu);
        run.cpu = cpu.map(|(a, b)| a + b);
        run.findings.extend(
            slot.findings.iter().filter(|finding| !run.findings.contains(finding)).cloned().collect::<Vec<_>>(),
        );
    }
    if slots.len() > 1 {
        run.bound_by = bound_by(slots);
        run.figures = figures(slots, objective);
    }
    run
}

/// Share of each binding limit, weighted by operations.
fn bound_by(slots: &[&Run]) -> Vec<(String, f64)> {
    let mut shares: Vec<(String, f64)> = Vec::new();
    let all: f64 = slots.iter().map(|slot| slot.total.operations() as f64).sum();
    for slot in slots {
        let weight = slot.total.operations() as f64 / all.max(1.0);
        for (name, share) in &slot.bound_by {
            match shares.iter_mut().find(|(existing, _)| existing == name) {
                Some((_, sum)) => *sum += share * weight,
                None => shares.push((name.clone(), share * weight)),
            }
        }
    }
    shares
}

fn figures(slots: &[&Run], objective: Option<Objective>) -> Figures {
    let pieces = batch::pieces(&slices(slots, |_| true));
    // Operations drained after a slot are in its response times, but not in its rate.
    let in_time: Vec<ReducedSlice> = pieces
        .iter()
        .zip(slots)
        .map(|(piece, slot)| {
            let mut piece = piece.clone();
            piece.sums.operations = slot.figures.iops.value * slot.span.as_secs_f64();
            piece
        })
        .collect();
    let seconds: f64 = slots.iter().map(|slot| slot.span.as_secs_f64()).sum();
    let bytes: f64 = slots.iter().map(|slot| slot.figures.bytes_per_second * slot.span.as_secs_f64()).sum();
    let iops = interval::iops_of(&in_time).unwrap_or_default();
    let mean_ns = interval::mean_of(&pieces).unwrap_or_default();
    let quantile = |share| estimate_quantile(&pieces, share).unwrap_or_default();
    let overloaded = slots.iter().filter(|slot| slot.figures.steadiness == Steadiness::Overloaded).count();
    Figures {
        iops,
        bytes_per_second: if seconds > 0.0 { bytes / seconds } else { 0.0 },
        mean_ns,
        p50_ns: quantile(0.5),
        p99_ns: quantile(0.99),
        p999_ns: quantile(0.999),
        objective_ns: objective.and_then(|objective| measured(slots, &objective)),
        objective,
        in_flight: iops.value * mean_ns.value / 1e9,
        // A stall can make a slot look overloaded, but not half of the slots.
        steadiness: if 2 * overloaded >= slots.len() { Steadiness::Overloaded } else { Steadiness::Steady },
    }
}

fn measured(slots: &[&Run], objective: &Objective) -> Option<Estimate> {
    let pieces = batch::pieces(&slices(slots, |kind| objective.over.covers(kind)));
    match objective.measure {
        Measure::Mean => interval::mean_of(&pieces),
        Measure::Quantile(share) => estimate_quantile(&pieces, share),
    }
}

/// Converts each slot to a slice.
fn slices(slots: &[&Run], is_selected: impl Fn(plimsoll_units::Kind) -> bool) -> Vec<Slice> {
    let mut start = Instant::ZERO;
    let slice = |slot: &&Run| {
        let tally: Tally = slot.total.only(|counter| is_selected(counter.kind));
        let slice = Slice { start, span: slot.span, tally };
        start += slot.span;
        slice
    };
    slots.iter().map(slice).collect()
}

fn estimate_quantile(pieces: &[ReducedSlice], share: f64) -> Option<Estimate> {
    let all = batch::responses(pieces);
    let beyond = share.min(1.0 - share) * all.count as f64;
    if beyond >= MIN_BEYOND && pieces.len() >= MIN_BATCHES {
        return interval::Distribution::of(pieces).quantile(share);
    }
    let value = ns(all.quantile(share)?);
    let enough: Vec<&Bins> =
        pieces.iter().map(|piece| &piece.response).filter(|bins| bins.count >= MIN_OPERATIONS).collect();
    if enough.len() < MIN_SLOTS || share.min(1.0 - share) * (MIN_OPERATIONS as f64) < 10.0 {
        return Some(Estimate::bare(value));
    }
    let logs: Vec<f64> =
        enough.iter().filter_map(|bins| bins.quantile(share)).map(|span| ns(span).max(1.0).ln()).collect();
    let (n, mean) = (logs.len() as f64, logs.iter().sum::<f64>() / logs.len() as f64);
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half = student(logs.len() - 1) * (variance / n).sqrt();
    Some(Estimate { value, interval: Some((value * (-half).exp(), value * half.exp())) })
}

fn ns(span: Span) -> f64 {
    span.as_nanos() as f64
}

//! Evaluation of each offered load against an objective, combining repeated runs.
//!
//! Determines which loads meet the objective, and how clearly; the line itself is determined elsewhere.

use plimsoll_load::Pace;
use plimsoll_record::{Estimate, Measure, Objective, Run, Scope, Slice, Steadiness};
use plimsoll_units::Instant;

use crate::interval;

/// Result of a load against an objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Meets {
    /// The whole interval is above the limit, or the load was overloaded.
    No,
    /// The value is above the limit, the interval's lower end is not.
    LikelyFail,
    /// The value is within the limit, the interval's upper end is not.
    LikelyPass,
    /// The whole interval is within the limit.
    Yes,
}

/// An offered load over all of its runs.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    /// Operations per second: the offered rate of an open load with a single stream and without failures, otherwise the
    /// achieved rate.
    pub(crate) iops: Estimate,
    /// The objective's measure in nanoseconds.
    pub(crate) measured: Estimate,
    pub(crate) overloaded: bool,
    pub(crate) meets: Meets,
}

/// Open loads by rate.
pub(crate) fn open(runs: &[Run], objective: Objective) -> Vec<Standing> {
    standings(runs, objective, |pace| matches!(pace, Pace::Open { .. }))
}

/// Closed loads by depth.
pub(crate) fn closed(runs: &[Run], objective: Objective) -> Vec<Standing> {
    standings(runs, objective, |pace| matches!(pace, Pace::Closed { .. }))
}

/// Sort key of loads of the same kind: depth of a closed load, rate of an open load.
pub(crate) fn offered_size(pace: Pace) -> f64 {
    match pace {
        Pace::Closed { depth } => f64::from(depth),
        Pace::Open { rate, .. } => rate.as_f64(),
    }
}

fn standings(runs: &[Run], objective: Objective, is_selected: impl Fn(Pace) -> bool) -> Vec<Standing> {
    let mut groups: Vec<(Pace, Vec<&Run>)> = Vec::new();
    for run in runs.iter().filter(|run| is_selected(run.offered) && run.figures.iops.value > 0.0) {
        match groups.iter_mut().find(|(pace, _)| *pace == run.offered) {
            Some((_, group)) => group.push(run),
            None => groups.push((run.offered, vec![run])),
        }
    }
    groups.sort_by(|(a, _), (b, _)| offered_size(*a).total_cmp(&offered_size(*b)));
    groups.into_iter().filter_map(|(offered, group)| standing(offered, &group, objective)).collect()
}

fn standing(offered: Pace, runs: &[&Run], objective: Objective) -> Option<Standing> {
    // Runs are weighted by operations.
    let weight = |run: &Run| run.total.operations().max(1) as f64;
    let single: Vec<_> =
        runs.iter().filter_map(|run| Some((measure_objective(run, objective)?, weight(run)))).collect();
    let measured = pooled(&single)?;
    let rates: Vec<_> = runs.iter().map(|run| (run.figures.iops, weight(run))).collect();
    let overloads = runs.iter().filter(|run| run.figures.steadiness == Steadiness::Overloaded).count();
    // A stall can make a run look overloaded, but not half of the runs.
    let overloaded = 2 * overloads >= runs.len();
    let limit = objective.limit.as_nanos() as f64;
    let (low, high) = measured.interval.unwrap_or((measured.value, measured.value));
    let meets = match () {
        () if overloaded || low > limit => Meets::No,
        () if measured.value > limit => Meets::LikelyFail,
        () if high > limit => Meets::LikelyPass,
        () => Meets::Yes,
    };
    let iops = carried(offered, runs, pooled(&rates)?, overloaded);
    Some(Standing { iops, measured, overloaded, meets })
}

/// Rate of a load. For an open load with a single stream it is the offered rate, as the achieved rate has the noise of
/// random arrivals. With further streams, and with failed operations, it is the achieved rate.
fn carried(offered: Pace, runs: &[&Run], achieved: Estimate, overloaded: bool) -> Estimate {
    let Pace::Open { rate, .. } = offered else { return achieved };
    let rate = rate.as_f64();
    let failed = runs.iter().any(|run| run.total.errors() > 0);
    let accompanied = runs.iter().any(|run| run.total.0.iter().any(|counter| counter.stream != 0));
    match () {
        () if failed => achieved,
        // Only used as an upper bound of the line.
        () if overloaded => Estimate::bare(achieved.value.max(rate)),
        () if accompanied => achieved,
        () if (achieved.value / rate - 1.0).abs() < 0.1 => Estimate::bare(rate),
        () => achieved,
    }
}

/// The objective's measure over a run: from its figures, or from its series.
pub(crate) fn measure_objective(run: &Run, objective: Objective) -> Option<Estimate> {
    let figures = &run.figures;
    // Its interval was computed from the original slices; the stored slices are longer, and too few in a short run.
    let same = |own: Objective| own.over == objective.over && own.measure == objective.measure;
    let own = figures.objective_ns.filter(|own| own.value > 0.0 && figures.objective.is_some_and(same));
    if own.is_some() {
        return own;
    }
    let estimate = match objective.measure {
        _ if objective.over != Scope::All => return scoped(run, objective),
        Measure::Mean => figures.mean_ns,
        Measure::Quantile(0.5) => figures.p50_ns,
        Measure::Quantile(0.99) => figures.p99_ns,
        Measure::Quantile(0.999) => figures.p999_ns,
        Measure::Quantile(_) => return scoped(run, objective),
    };
    (estimate.value > 0.0).then_some(estimate)
}

/// The objective's measure over the operations in its scope, from the run's series; from its counts without an interval
/// if the series is too short.
fn scoped(run: &Run, objective: Objective) -> Option<Estimate> {
    let begin = Instant::ZERO + run.warm_up;
    let retained = run.series.iter().filter(|slice| slice.start >= begin);
    let retained: Vec<Slice> = retained.map(|slice| interval::only(slice, objective.over)).collect();
    interval::measure(&retained, objective.measure).or_else(|| {
        let all = run.total.response_where(|counter| objective.over.covers(counter.kind));
        let value = match objective.measure {
            Measure::Mean => all.mean(),
            Measure::Quantile(share) => all.quantile(share),
        };
        value.map(|span| Estimate::bare(span.as_nanos() as f64))
    })
}

/// Weighted mean of several estimates, with the larger of the interval from their intervals and that from their scatter
/// (with at least three estimates).
pub(crate) fn pooled(estimates: &[(Estimate, f64)]) -> Option<Estimate> {
    if let [(only, _)] = estimates {
        return Some(*only);
    }
    let weight: f64 = estimates.iter().map(|(_, weight)| weight).sum();
    if weight <= 0.0 {
        return None;
    }
    let n = estimates.len() as f64;
    let value = estimates.iter().map(|(estimate, weight)| estimate.value * weight).sum::<f64>() / weight;
    let squares = estimates.iter().map(|(estimate, weight)| weight * (estimate.value - value).powi(2)).sum::<f64>();
    let spread = interval::student(estimates.len() - 1) * (squares / weight / (n - 1.0)).sqrt();
    let scatter = if estimates.len() < 3 { 0.0 } else { spread };
    let intervals =
        || estimates.iter().filter_map(|(e, w)| e.interval.map(|(low, high)| (e.value - low, high - e.value, *w)));
    let known_weight: f64 = intervals().map(|(_, _, weight)| weight).sum();
    let half = |of: fn(&(f64, f64, f64)) -> f64| {
        let own = intervals().map(|side| (of(&side) * side.2).powi(2)).sum::<f64>().sqrt() / known_weight;
        if known_weight > 0.0 { own.max(scatter) } else { scatter }
    };
    let interval =
        (known_weight > 0.0 || scatter > 0.0).then(|| (value - half(|side| side.0), value + half(|side| side.1)));
    Some(Estimate { value, interval })
}

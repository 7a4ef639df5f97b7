//! Selection of representative runs of a curve: the lightest, the run at the load line, the most loaded.

use plimsoll_analyse::{is_saturated, reached_knee};
use plimsoll_load::{Arrival, Pace};
use plimsoll_record::{
    ClosedLine, Counter, Curve, Estimate, Knee, LineBasis, LoadLine, Measure, NoLine, Objective, Run, Scope, Steadiness,
};

use crate::number;

/// Runs in which something completed, in the curve's order.
pub(crate) fn complete_runs(curve: &Curve) -> impl Iterator<Item = &Run> {
    curve.runs.iter().filter(|run| number::value(&run.figures.iops).is_some() && run.total.operations() > 0)
}

/// Runs in a steady state: the latencies of an overloaded run depend on its length.
pub(crate) fn sustained(curve: &Curve) -> impl Iterator<Item = &Run> {
    complete_runs(curve).filter(|run| !grew(run))
}

/// The load arrived faster than it was completed.
pub(crate) fn is_overloaded(run: &Run) -> bool {
    run.figures.steadiness == Steadiness::Overloaded
}

/// The latencies depend on the length of the run. A recorded load has a fixed length.
pub(crate) fn grew(run: &Run) -> bool {
    is_overloaded(run) && !matches!(run.offered, Pace::Open { arrival: Arrival::Recorded, .. })
}

/// Arrivals are timed.
pub(crate) const fn is_open(run: &Run) -> bool {
    matches!(run.offered, Pace::Open { .. })
}

/// The load line in operations per second, if any.
pub(crate) const fn line_iops(line: &LoadLine) -> Option<Estimate> {
    line.iops()
}

/// True if a load meets the objective.
pub(crate) fn has_line(curve: &Curve) -> bool {
    curve.load_line.as_ref().and_then(line_iops).is_some()
}

/// The answer of closed loads, where there is no value for arrivals at a rate.
pub(crate) const fn closed_answer(curve: &Curve) -> Option<&ClosedLine> {
    match (&curve.load_line, &curve.basis) {
        // A range is an answer, unless it comes from the few slots that a host left undisturbed.
        (Some(LoadLine::Refused { why: NoLine::Scatter { low, .. }, .. }), Some(LineBasis { left_out: 0, .. }))
            if *low > 0.0 =>
        {
            None
        }
        (Some(LoadLine::Refused { .. } | LoadLine::Never { .. }), _) => curve.closed_line.as_ref(),
        _ => None,
    }
}

/// The run with the fewest operations in flight.
pub(crate) fn lightest(curve: &Curve) -> Option<&Run> {
    sustained(curve).min_by(|a, b| a.figures.in_flight.total_cmp(&b.figures.in_flight))
}

/// The run with the most operations in flight that is in a steady state.
pub(crate) fn max_loaded(curve: &Curve) -> Option<&Run> {
    sustained(curve).max_by(|a, b| a.figures.in_flight.total_cmp(&b.figures.in_flight))
}

/// The knee, if the loads reach it. Older files have a knee for every curve.
pub(crate) fn find_knee(curve: &Curve) -> Option<Knee> {
    curve.knee.filter(|_| curve.runs.is_empty() || reached_knee(&curve.runs).is_some())
}

/// True if the highest rate is that of the storage, not that which was offered.
pub(crate) fn has_maximum(curve: &Curve) -> bool {
    curve.conditions.trace.is_some() || is_saturated(&curve.runs)
}

/// The run with the highest throughput.
pub(crate) fn fastest(curve: &Curve) -> Option<&Run> {
    complete_runs(curve).max_by(|a, b| a.figures.iops.value.total_cmp(&b.figures.iops.value))
}

/// The run nearest the load line, otherwise nearest the knee, otherwise the fastest. Of runs about as near, those within the
/// objective are preferred, because deeper queues beyond the load line complete as much; open loads on ties.
pub(crate) fn at_line(curve: &Curve) -> Option<&Run> {
    /// Maximum distance of runs of which the objective decides, relative to the load line.
    const NEAR: f64 = 0.1;
    let Some(line) = &curve.load_line else {
        let knee = find_knee(curve).and_then(|knee| complete_runs(curve).find(|run| run.offered == knee.offered));
        return knee.or_else(|| fastest(curve));
    };
    let Some(iops) = line_iops(line) else { return lightest(curve) };
    let distance = |run: &Run| {
        let relative = (run.figures.iops.value - iops.value).abs() / iops.value.max(1.0);
        if is_open(run) { relative } else { relative + 0.02 }
    };
    let rank = |run: &Run| (distance(run) > NEAR, misses(run, &line.objective()));
    sustained(curve).min_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| distance(a).total_cmp(&distance(b))))
}

/// The lightest open load above the load line that misses the objective: what delays its operations is the limit of the line.
/// At the line itself most operations are not delayed.
pub(crate) fn above_line(curve: &Curve) -> Option<&Run> {
    let line = curve.load_line.as_ref()?;
    let iops = line_iops(line)?;
    let offered = |run: &Run| match run.offered {
        Pace::Open { rate, .. } => Some(rate.as_f64()).filter(|rate| *rate > iops.value),
        Pace::Closed { .. } => None,
    };
    let missed = complete_runs(curve).filter(|run| grew(run) || misses(run, &line.objective()));
    let loads = missed.filter_map(|run| Some((offered(run)?, run)));
    loads.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, run)| run)
}

/// True if a run misses an objective on all operations.
fn misses(run: &Run, objective: &Objective) -> bool {
    let reached = of_measure(run, objective.measure).filter(|_| objective.over == Scope::All);
    reached.is_some_and(|time| time.value > objective.limit.as_nanos() as f64)
}

/// The value of the objective's measure in a run; `None` if the run lacks it.
pub(crate) fn of_measure(run: &Run, measure: Measure) -> Option<Estimate> {
    let figures = &run.figures;
    let is = |q: f64| matches!(measure, Measure::Quantile(required) if (required - q).abs() < 1e-9);
    match measure {
        Measure::Mean => Some(figures.mean_ns),
        _ if is(0.5) => Some(figures.p50_ns),
        _ if is(0.99) => Some(figures.p99_ns),
        _ if is(0.999) => Some(figures.p999_ns),
        Measure::Quantile(_) => figures.objective_ns,
    }
}

/// Operations and bytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rates {
    pub(crate) iops: f64,
    pub(crate) bytes_per_second: f64,
}

/// A counter's share of its run's rates, so that all counters add up to them; `None` for a run without duration.
///
/// Counts divided by the run's duration would be too high, as they include operations that completed after it.
pub(crate) fn rates(run: &Run, counter: &Counter) -> Option<Rates> {
    let share = |part: u64, all: u64| if all > 0 { part as f64 / all as f64 } else { 0.0 };
    (!run.span.is_zero()).then(|| Rates {
        iops: run.figures.iops.value * share(counter.operations(), run.total.operations()),
        bytes_per_second: run.figures.bytes_per_second * share(counter.bytes, run.total.bytes()),
    })
}

/// True if the objective's measure is none of mean, p50, p99 and p99.9 of all operations, so that tables need a column
/// for it.
pub(crate) fn is_own_column(objective: &Objective) -> bool {
    let unusual = |q: f64| [0.5, 0.99, 0.999].iter().all(|existing: &f64| (q - existing).abs() > 1e-9);
    objective.over != Scope::All || matches!(objective.measure, Measure::Quantile(q) if unusual(q))
}

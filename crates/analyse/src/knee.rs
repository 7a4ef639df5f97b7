//! The knee: the load beyond which more load mostly adds waiting.
//!
//! Defined as the point of greatest power, throughput over response time (Kleinrock 1979). Unlike a geometric bend it
//! does not depend on the scale of the axes; it found the same depth on all tested curves.

use plimsoll_load::Pace;
use plimsoll_record::{Finding, Knee, Run, Steadiness};

/// The run of greatest power among closed loads and open loads without overload; `None` without completed operations.
/// Ties go to the lower throughput.
pub fn knee(runs: &[Run]) -> Option<Knee> {
    let power = |run: &Run| run.figures.iops.value / run.figures.mean_ns.value;
    let sound = |run: &&Run| {
        let figures = &run.figures;
        figures.steadiness != Steadiness::Overloaded && figures.iops.value > 0.0 && figures.mean_ns.value > 0.0
    };
    let best = runs
        .iter()
        .filter(sound)
        .max_by(|a, b| power(a).total_cmp(&power(b)).then(b.figures.iops.value.total_cmp(&a.figures.iops.value)))?;
    Some(Knee { iops: best.figures.iops.value, mean_ns: best.figures.mean_ns.value, offered: best.offered })
}

/// The knee of a sweep; `None` if the loads do not reach it, as a single load, or the highest of open loads that the storage
/// carried without saturation.
pub fn reached_knee(runs: &[Run]) -> Option<Knee> {
    knee(runs).filter(|knee| {
        let rate = |pace: Pace| match pace {
            Pace::Open { rate, .. } => rate.as_f64(),
            Pace::Closed { .. } => f64::INFINITY,
        };
        let is_exceeded = runs.iter().any(|run| rate(run.offered) > rate(knee.offered));
        runs.iter().any(|run| run.offered != knee.offered) && (is_saturated(runs) || is_exceeded)
    })
}

/// True if a load is limited by the storage: closed, or open and overloaded. Otherwise the highest rate is that which was
/// offered, and a lower bound of the rate of the storage.
pub fn is_saturated(runs: &[Run]) -> bool {
    let is_limited =
        |run: &Run| matches!(run.offered, Pace::Closed { .. }) || run.figures.steadiness == Steadiness::Overloaded;
    runs.iter().any(is_limited)
}

/// Removes drift of the response time from the findings of open loads at or beyond the knee: their queue inherently
/// grows or fluctuates, and a longer run would not be steadier. Drift of the rate is kept.
pub fn accept_drift_beyond(knee: &Knee, runs: &mut [Run]) {
    let beyond = |run: &&mut Run| matches!(run.offered, Pace::Open { rate, .. } if rate.as_f64() >= knee.iops);
    for run in runs.iter_mut().filter(beyond) {
        run.findings.retain(|finding| !matches!(finding, Finding::NoSteadyState { measure, .. } if measure != "IOPS"));
    }
}

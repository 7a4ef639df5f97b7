//! The knee: the load beyond which more of it buys mostly waiting.
//!
//! It is the point of greatest power, throughput over response time (Kleinrock 1979). It needs no drawing scale, which
//! "the bend of the curve" does, and found the same depth on every curve that it was tried on.

use plimsoll_load::Pace;
use plimsoll_record::{Finding, Knee, Run, Steadiness};

/// The run of greatest power among closed loads and open loads that were not overloaded; `None` without any that
/// completed something. Among equals the one of lower throughput.
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

/// Removes drift of the response time from the findings of open loads at or beyond the knee: their queue grows or wanders
/// without end by its nature, and a longer run would not be steadier. A drift of the rate stays.
pub fn accept_drift_beyond(knee: &Knee, runs: &mut [Run]) {
    let beyond = |run: &&mut Run| matches!(run.offered, Pace::Open { rate, .. } if rate.as_f64() >= knee.iops);
    for run in runs.iter_mut().filter(beyond) {
        run.findings.retain(|finding| !matches!(finding, Finding::NoSteadyState { measure, .. } if measure != "IOPS"));
    }
}

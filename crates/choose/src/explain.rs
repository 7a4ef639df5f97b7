//! Comparison of a measured curve with the model, load by load, with the likely cause of each difference.

mod cause;
mod credits;

use plimsoll_catalogue::{Catalogue, Offer, PriceTerms, Standing};
use plimsoll_load::Pace;
use plimsoll_model::ChainSpec;
use plimsoll_record::{Curve, Run, Steadiness};

use crate::need::ask_of;
use crate::trial::{Figures, trial};

pub use cause::{AboveCeiling, CachedOperations, Cause, ConfusedUnits, ExceededCeiling};
pub use credits::CreditState;

/// Operations of each trial.
const OPERATIONS: u64 = 20_000;

/// Measured and modelled results of an offered load.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadComparison {
    pub offered: Pace,
    /// Operations per second, measured and simulated.
    pub iops: (f64, f64),
    /// Mean response time in nanoseconds, measured and simulated.
    pub mean_ns: (f64, f64),
    /// 99th percentile in nanoseconds, measured and simulated.
    pub p99_ns: (f64, f64),
    /// Whether the load arrived faster than it was completed, measured and simulated.
    pub overloaded: (bool, bool),
    /// The stage that binds in the model.
    pub binds: Option<String>,
    /// Burst credits of the product at the measured part of the run; the model has the same.
    pub credits: CreditState,
}

impl LoadComparison {
    /// Measured throughput over simulated; for an open load, simulated latency over measured.
    pub fn ratio(&self) -> f64 {
        match self.offered {
            Pace::Closed { .. } => self.iops.0 / self.iops.1,
            Pace::Open { .. } => self.mean_ns.1 / self.mean_ns.0,
        }
    }
}

/// Comparison of a curve with a configuration.
#[derive(Clone, Debug)]
pub struct Explanation {
    pub offer: Offer,
    /// Its ceilings for this load.
    pub standing: Standing,
    /// Quantities of the load that lie outside of the loads that the model was fitted to, in a sentence.
    pub extrapolated: Option<String>,
    /// Results by load.
    pub rows: Vec<LoadComparison>,
    /// Likely causes of the differences, the largest first.
    pub causes: Vec<Cause>,
}

/// Compares a measured curve with an offer, which has used up the burst credits that the runs used up. `None` if the load
/// does not fit on it or it has no model.
pub fn explain(catalogue: &Catalogue, curve: &Curve, offer: &Offer, terms: &PriceTerms) -> Option<Explanation> {
    let leading = curve.conditions.streams.first()?;
    let standing = offer.standing(&ask_of(leading));
    let level = credits::stated_level(curve);
    let mut states = credits::states(curve, &standing, level);
    let is_full =
        level.is_none() && !standing.buckets.is_empty() && states.iter().all(|state| *state == CreditState::default());
    let fastest = curve.runs.iter().max_by(|a, b| a.figures.iops.value.total_cmp(&b.figures.iops.value));
    if let Some(fastest) = fastest.filter(|_| is_full) {
        let full = theory(curve, fastest, &offer.model().ok()?)?.iops;
        let before = credits::used_up_before(fastest.figures.iops.value, full, &standing);
        states.fill(before.unwrap_or_default());
    }
    let mut rows = Vec::new();
    for (run, credits) in curve.runs.iter().zip(states) {
        let simulated = theory(curve, run, &credits::model(offer, &credits, level)?)?;
        let p99 = simulated.tally.response().quantile(0.99).map_or(0.0, |p99| p99.as_nanos() as f64);
        rows.push(LoadComparison {
            offered: run.offered,
            iops: (run.figures.iops.value, simulated.iops),
            mean_ns: (run.figures.mean_ns.value, simulated.mean_ns()),
            p99_ns: (run.figures.p99_ns.value, p99),
            overloaded: (run.figures.steadiness == Steadiness::Overloaded, simulated.overloaded),
            binds: binds(&simulated, offer, &standing),
            credits,
        });
    }
    let causes = cause::find_causes(catalogue, curve, offer, terms, &standing, &rows);
    let in_flight: Vec<f64> = curve.runs.iter().map(|run| run.figures.in_flight).collect();
    let extrapolated = offer.model_fit().and_then(|fit| fit.outside(&ask_of(leading), &in_flight));
    Some(Explanation { offer: offer.clone(), standing, extrapolated, rows, causes })
}

/// The load of a run on a model.
fn theory(curve: &Curve, run: &Run, model: &ChainSpec) -> Option<Figures> {
    let mut streams = curve.conditions.streams.clone();
    streams.first_mut()?.pace = run.offered;
    trial(model, &streams, OPERATIONS, curve.conditions.seed)
}

/// The stage that binds in the model. With several limits in series, an overload waits longest at the first but is
/// bounded by the lowest, which is therefore returned.
fn binds(simulated: &Figures, offer: &Offer, standing: &Standing) -> Option<String> {
    let lowest = standing.binding().filter(|bound| (simulated.iops / bound.iops - 1.0).abs() < cause::SAME);
    match lowest.filter(|_| simulated.overloaded) {
        Some(bound) => Some(offer.ceilings[bound.ceiling].name.to_string()),
        None => simulated.bound_by.first().map(|(name, _)| name.clone()),
    }
}

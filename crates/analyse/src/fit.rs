//! Fitting of models to measured curves: stages and parameters that reproduce the figures.
//!
//! Accepts [`Evidence`] only: the type excludes curves of models, because a model fitted to model output would confirm
//! itself. A few shapes, from a single delay to dies between a path and a pipeline, are evaluated with the analytic
//! solution. The shape with the best predictions of left-out depths is chosen, with the fewest parameters among those
//! that are equally good. If the two best differ in extrapolation, both are reported. Fewer than three loads do not show
//! a shape: it is then a single time, behind the limits that the vendor states if they are given, or none.
//!
//! Independent of products.

mod calibrate;
mod doubt;
mod identify;
mod points;
mod range;
mod search;
mod separate;
mod shape;

use plimsoll_model::ChainSpec;
use plimsoll_record::Evidence;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::described::{self, Described};
pub use calibrate::{CountedLatencies, NotCalibrated, VolumeLatencies, calibrate};
pub use doubt::{FitDoubt, Identification};
use points::FitPoint;
pub use range::FittedRange;
use search::{ShapeParameters, adjust, evaluate_misfit, scatter};
use shape::ModelShape;

/// A fitted model with its uncertainty.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Fitted {
    /// The model, with named stages.
    #[serde(rename = "model", serialize_with = "notation")]
    #[schemars(with = "String")]
    pub spec: ChainSpec,
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// Error on the fitted runs.
    pub error: Misfit,
    /// Error of predictions with each depth or rate left out once, except the lightest and the heaviest; `None` with too
    /// few loads.
    #[serde(rename = "held_out_error")]
    pub held_out: Option<Misfit>,
    /// Error of the prediction of the heaviest load from the others, which is an extrapolation; `None` with too few loads.
    #[serde(rename = "heaviest_held_out_error_share")]
    pub heaviest: Option<f64>,
    /// Largest error within the range: of the fitted runs, and of predictions of left-out loads.
    #[serde(rename = "uncertainty_share")]
    pub uncertainty: f64,
    /// Loads that the model was fitted to; others are extrapolated.
    pub range: FittedRange,
    /// All other shapes, best first.
    pub alternatives: Vec<Alternative>,
    /// The best alternative that is nearly as good but differs at four times the heaviest load: extrapolations must
    /// show both.
    pub rival: Option<Alternative>,
    /// Caveats.
    #[serde(serialize_with = "described::serialize_all")]
    #[schemars(with = "Vec<Described<FitDoubt>>")]
    pub doubts: Vec<FitDoubt>,
}

/// A parameter of a model.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Parameter {
    /// Name, such as `dies, time of one operation`.
    pub name: String,
    /// Value.
    pub value: f64,
    /// `ns`, `per second`, or empty for counts and exponents.
    pub unit: &'static str,
    /// `[low, high]`: 95 % interval from the runs' intervals; `None` if the runs have no intervals or do not identify
    /// the parameter.
    pub interval: Option<(f64, f64)>,
    /// False if a different value, with the others adjusted, describes the runs equally well.
    pub identified: bool,
    /// Runs that identify it, or the reason why none do.
    #[serde(serialize_with = "described::serialize")]
    #[schemars(with = "Described<Identification>")]
    pub identified_by: Identification,
}

/// Relative error of the mean response time; for closed loads equal to that of the IOPS.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Misfit {
    /// Mean.
    #[serde(rename = "mean_share")]
    pub mean: f64,
    /// Maximum.
    #[serde(rename = "worst_share")]
    pub worst: f64,
}

/// Another fitted shape.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Alternative {
    /// Description.
    pub shape: &'static str,
    /// Model with the best parameters.
    #[serde(rename = "model", serialize_with = "notation")]
    #[schemars(with = "String")]
    pub spec: ChainSpec,
    /// Error on the fitted runs.
    pub error: Misfit,
    /// Error of predictions for left-out loads.
    #[serde(rename = "held_out_error")]
    pub held_out: Option<Misfit>,
}

/// Writes a model in its notation.
fn notation<S: Serializer>(spec: &ChainSpec, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(spec)
}

/// Limits that the vendor states of the measured storage: known before any measurement.
#[derive(Clone, Copy, Debug)]
pub struct StatedLimits<'a> {
    /// The configuration.
    pub of: &'a str,
    /// Its limits, as stages.
    pub stages: &'a ChainSpec,
}

/// Reason why no model could be fitted.
#[plimsoll_language::say_errors]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotFitted {
    /// No curves.
    #[error("no curve to fit a model to: give at least one measured or published curve")]
    NoEvidence,
    /// A curve of several concurrent streams.
    #[error("cannot fit a model to {0} concurrent streams: give a curve of a single stream")]
    SeveralStreams(usize),
    /// No usable run.
    #[error("cannot fit a model: no run is steady, completed something and is free of void findings")]
    NoRun,
    /// Two loads with different response times.
    #[error(
        "cannot fit a model to two loads: a limit, a disk and a pool of servers fit them alike and differ elsewhere; measure \
         at least three depths, or give the vendor's limits with --like CONFIG"
    )]
    TwoLoads,
    /// A run with more operations per second than the stated limits allow.
    #[error(
        "cannot fit a model behind the limits of {of}: {measured:.0} IOPS were measured, and they allow {allowed:.0}; give the \
             configuration that was measured"
    )]
    BeyondLimits {
        /// The configuration.
        of: String,
        /// The highest measured rate.
        measured: f64,
        /// The rate that the limits allow.
        allowed: f64,
    },
}

/// A shape with its best parameters.
#[derive(Clone, Debug)]
struct Candidate {
    shape: ModelShape,
    numbers: ShapeParameters,
    error: Misfit,
    predicted: Option<Predictions>,
}

/// Predictions of left-out loads.
#[derive(Clone, Copy, Debug)]
struct Predictions {
    /// All but the lightest load.
    all: Misfit,
    /// Loads between the lightest and the heaviest: interpolation.
    between: Option<Misfit>,
    /// The heaviest load: extrapolation.
    heaviest: f64,
}

/// Maximum score ratio at which another spread replaces the default.
const CLEARLY: f64 = 0.8;
/// Maximum score ratio at which a shape with fewer parameters is preferred.
const AS_GOOD: f64 = 1.1;
/// Maximum score ratio of a rival, and minimum difference of its extrapolation (logarithm).
const NEARLY: f64 = 1.5;
const ELSEWHERE: f64 = 0.05;
/// Errors below this share of the mean response time are negligible.
const NOTHING: f64 = 0.003;
/// Largest error with which a tested shape is preferred to one that no load is left to test.
const DESCRIBED: f64 = 0.02;
/// Error from which the measured rates are tried instead of a form, the minimum number of loads for them, and the maximum
/// ratio of their error to that of the best form.
const FORMLESS: f64 = 0.05;
const MIN_TABLE: usize = 4;
const TABLE_BETTER: f64 = 0.5;
/// Error up to which reads and writes share a shape.
const SHARED: f64 = 0.1;
/// Response times that differ by less are the same.
const FLAT: f64 = 0.03;

/// Fits all shapes to all runs of `evidence`, behind the vendor's limits if they are known, and chooses the best. Reads and
/// writes of separate curves are fitted separately if no shape describes both.
pub fn fit(evidence: &[Evidence<'_>], limits: Option<StatedLimits<'_>>) -> Result<Fitted, NotFitted> {
    let (mut points, mut doubts) = points::points(evidence)?;
    points::drop_sleeping(&mut points, &mut doubts);
    if let Some(limits) = limits {
        points::put_behind(&mut points, limits, &mut doubts)?;
    }
    let together = fit_points(&points, limits.is_some(), doubts.clone());
    let [reads, writes] = points::by_kind(&points);
    let is_good = together.as_ref().is_ok_and(|fitted| fitted.uncertainty <= SHARED);
    if is_good || limits.is_some() || points::different(&reads).min(points::different(&writes)) < 3 {
        return together;
    }
    let apart =
        separate::join(&fit_points(&reads, false, Vec::new())?, &fit_points(&writes, false, Vec::new())?, doubts);
    let is_better = together.as_ref().map_or(true, |fitted| apart.uncertainty < fitted.uncertainty * CLEARLY);
    if is_better { Ok(apart) } else { together }
}

/// Fits all shapes to points.
fn fit_points(points: &[FitPoint], has_limits: bool, mut doubts: Vec<FitDoubt>) -> Result<Fitted, NotFitted> {
    let mut candidates = fit_shapes(points);
    if !has_limits && points::different(points) == 2 && candidates[0].error.worst > FLAT {
        return Err(NotFitted::TwoLoads);
    }
    candidates.sort_by(|a, b| a.score().total_cmp(&b.score()));
    let chosen = choose_candidate(&candidates, points::different(points));
    let mut best = candidates.remove(chosen);
    if let Some(table) = tabulate_rates(&best, points, has_limits) {
        candidates.insert(0, std::mem::replace(&mut best, table));
    }
    let ranges = scatter(best.shape, &best.numbers, points);
    let parameters = identify::parameters(&best, points, ranges.as_deref());
    identify::doubts(&best, points, &parameters, ranges.is_some(), &mut doubts);
    let alternative = |candidate: &Candidate| Alternative {
        shape: candidate.shape.words(),
        spec: candidate.shape.spec(&candidate.numbers, points),
        error: candidate.error,
        held_out: candidate.between(),
    };
    let beyond = |candidate: &Candidate| search::beyond(candidate.shape, &candidate.numbers, points);
    let is_rival = |other: &&Candidate| {
        let as_good = other.score() < (best.score() * NEARLY).max(2.0 * NOTHING);
        as_good && (beyond(other) / beyond(&best)).ln().abs() > ELSEWHERE
    };
    Ok(Fitted {
        spec: best.shape.spec(&best.numbers, points),
        parameters,
        error: best.error,
        held_out: best.between(),
        heaviest: best.predicted.map(|predicted| predicted.heaviest),
        uncertainty: best.uncertainty(),
        range: FittedRange::of(points),
        rival: candidates.iter().find(is_rival).map(alternative),
        alternatives: candidates.iter().map(alternative).collect(),
        doubts,
    })
}

/// The measured rates themselves, if they predict left-out depths clearly better than the best form: a controller with two
/// regimes follows no form.
fn tabulate_rates(best: &Candidate, points: &[FitPoint], has_limits: bool) -> Option<Candidate> {
    let is_single = points.windows(2).all(|pair| pair[0].workload == pair[1].workload);
    let is_closed = points.iter().all(|point| point.closed().is_some());
    let loads = points::different(points);
    if has_limits || !is_single || !is_closed || loads < MIN_TABLE || best.uncertainty() <= FORMLESS {
        return None;
    }
    let table = evaluate_shape(ModelShape::Table, Vec::new(), points, loads);
    (table.uncertainty() < best.uncertainty() * TABLE_BETTER).then_some(table)
}

/// Index of the best candidate: of those that predict left-out loads about equally well, the one with the fewest
/// parameters. A shape that no load is left to test must describe them much better.
fn choose_candidate(candidates: &[Candidate], loads: usize) -> usize {
    let is_tested = |candidate: &&Candidate| !candidate.shape.is_determined(loads);
    let least = candidates.iter().filter(is_tested).map(Candidate::score).fold(f64::INFINITY, f64::min);
    let as_good = |candidate: &Candidate| is_tested(&candidate) && candidate.score() <= (least * AS_GOOD).max(NOTHING);
    let fewest = candidates.iter().filter(|candidate| as_good(candidate)).map(|c| c.numbers.len()).min();
    let best = candidates.iter().position(|c| as_good(c) && Some(c.numbers.len()) == fewest).unwrap_or(0);
    let worst = candidates[best].error.worst;
    let far_better = |c: &Candidate| c.shape.is_determined(loads) && worst > DESCRIBED && c.error.worst < worst / 2.0;
    candidates.iter().position(far_better).unwrap_or(best)
}

impl Candidate {
    /// Mean error of predictions if available, otherwise of the fit.
    fn score(&self) -> f64 {
        self.predicted.map_or(self.error, |predicted| predicted.all).mean
    }

    /// Error of predictions of loads between the lightest and the heaviest.
    fn between(&self) -> Option<Misfit> {
        self.predicted?.between
    }

    /// Largest error within the range of the loads.
    fn uncertainty(&self) -> f64 {
        self.error.worst.max(self.between().map_or(0.0, |between| between.worst))
    }
}

/// A shape with its errors.
fn evaluate_shape(shape: ModelShape, numbers: ShapeParameters, points: &[FitPoint], loads: usize) -> Candidate {
    let error = evaluate_misfit(shape, &numbers, points);
    let predicted = predict(shape, &numbers, points, loads);
    Candidate { shape, numbers, error, predicted }
}

/// All possible shapes; the best two also with other spreads of service times, which few loads do not show.
fn fit_shapes(points: &[FitPoint]) -> Vec<Candidate> {
    let loads = points::different(points);
    let candidate = |shape: ModelShape, numbers: ShapeParameters| evaluate_shape(shape, numbers, points, loads);
    let shapes = ModelShape::all().into_iter().filter(|shape| shape.is_possible(points, loads));
    let mut all: Vec<Candidate> = shapes.map(|shape| candidate(shape, search::search(shape, points))).collect();
    all.sort_by(|a, b| a.score().total_cmp(&b.score()));
    for one in all.iter_mut().take(if loads > shape::FEW_LOADS { 2 } else { 0 }) {
        for shape in one.shape.other_spreads() {
            let numbers = adjust(shape, &one.numbers, points, search::THOROUGH);
            let other = candidate(shape, numbers);
            if other.score() < one.score() * CLEARLY {
                *one = other;
            }
        }
    }
    all
}

/// Predicts each load but the lightest from a fit without it.
fn predict(shape: ModelShape, numbers: &ShapeParameters, points: &[FitPoint], loads: usize) -> Option<Predictions> {
    if loads < 3 {
        return None;
    }
    let (mut between, mut heaviest) = (Vec::new(), Vec::new());
    let last = points.iter().max_by(|a, b| a.depth().total_cmp(&b.depth()))?.offered;
    for left_out in points::list_loads(points).into_iter().skip(1) {
        let (some, others): (Vec<FitPoint>, Vec<FitPoint>) =
            points.iter().cloned().partition(|point| point.is_at(left_out));
        let again = adjust(shape, numbers, &others, search::QUICK);
        let basis = if shape == ModelShape::Table { &others } else { points };
        let off = search::compute_deviations(shape, &again, &some, basis);
        if left_out == last { &mut heaviest } else { &mut between }.extend(off);
    }
    Some(Predictions {
        between: (!between.is_empty()).then(|| search::summary(&between)),
        heaviest: search::summary(&heaviest).worst,
        all: search::summary(&[between, heaviest].concat()),
    })
}

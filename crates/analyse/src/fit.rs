//! Fitting a model to measured curves: which stages, with which numbers, would have given these figures.
//!
//! It takes [`Evidence`] only: a curve that a model gave is refused by its type, because a model fitted to a model confirms
//! itself. A few shapes are tried, from a single time to dies behind a path and before a pipeline, and evaluated by the
//! analytic solution. The one that foretells left-out depths best is taken, the fewest numbers among those that do it
//! equally well. Whatever is only described is not extrapolated: where the two best differ by little, both are shown.
//!
//! Knows nothing about products, and nothing about what a curve looks like.

mod identify;
mod points;
mod search;
mod shape;

use plimsoll_model::ChainSpec;
use plimsoll_record::Evidence;
use serde::{Serialize, Serializer};

use points::Point;
use search::{Numbers, adjust, misfit, scatter};
use shape::Shape;

/// A model and how well it is known.
#[derive(Clone, Debug, Serialize)]
pub struct Fitted {
    /// The model; its stages have names.
    #[serde(rename = "model", serialize_with = "notation")]
    pub spec: ChainSpec,
    /// Its numbers.
    pub parameters: Vec<Parameter>,
    /// How well it describes the runs that it was fitted to.
    pub error: Misfit,
    /// How well it foretells runs when it is fitted to the others only, each depth or rate left out once, but for the
    /// lowest; `None` with too few of them.
    #[serde(rename = "held_out_error")]
    pub held_out: Option<Misfit>,
    /// Every other shape that was tried, the best first.
    pub alternatives: Vec<Alternative>,
    /// The best of them that is nearly as good and foretells something else at four times the heaviest load: whatever lies
    /// beyond the measured loads has to be shown for both.
    pub rival: Option<Alternative>,
    /// What the reader should know, in sentences.
    pub doubts: Vec<String>,
}

/// One number of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// What it is, such as `dies, time of one operation`.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// `ns`, `per second`, or nothing for counts and exponents.
    pub unit: &'static str,
    /// `[low, high]`: where it lies for 95 % of the figures that the runs' own intervals allow; `None` when the runs have
    /// no intervals, or do not identify it.
    pub interval: Option<(f64, f64)>,
    /// False when another value, with the rest adjusted, describes the runs as well. The value is then only one that does.
    pub identified: bool,
    /// What identified it, in words, or why nothing did.
    pub identified_by: String,
}

/// How far a model is off, as shares of the mean response time; of closed loads also those of the IOPS.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Misfit {
    /// On average.
    #[serde(rename = "mean_share")]
    pub mean: f64,
    /// At most.
    #[serde(rename = "worst_share")]
    pub worst: f64,
}

/// Another shape that was tried.
#[derive(Clone, Debug, Serialize)]
pub struct Alternative {
    /// What it is, in words.
    pub shape: &'static str,
    /// With the numbers that fit best.
    #[serde(rename = "model", serialize_with = "notation")]
    pub spec: ChainSpec,
    /// How well it describes the runs.
    pub error: Misfit,
    /// How well it foretells runs that it was not fitted to.
    #[serde(rename = "held_out_error")]
    pub held_out: Option<Misfit>,
}

/// Writes a model in its notation.
fn notation<S: Serializer>(spec: &ChainSpec, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(spec)
}

/// Nothing could be fitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFitted {
    /// No curve was given.
    #[error("cannot fit a model to no curve: give at least one that was measured or published")]
    NoEvidence,
    /// A curve of several streams beside each other.
    #[error("cannot fit a model to {0} streams beside each other: give a curve of one stream")]
    SeveralStreams(usize),
    /// No run that describes the storage.
    #[error("cannot fit a model: no run is steady, completed something and is free of void findings")]
    NoRun,
}

/// A shape with its best numbers.
#[derive(Clone, Debug)]
struct Candidate {
    shape: Shape,
    numbers: Numbers,
    error: Misfit,
    held_out: Option<Misfit>,
}

/// How much better another spread has to be.
const CLEARLY: f64 = 0.8;
/// How much worse a shape with fewer numbers may foretell and still be taken.
const AS_GOOD: f64 = 1.1;
/// How much worse a rival may foretell, and how far from the chosen model it is beyond the measured loads (logarithm).
const NEARLY: f64 = 1.5;
const ELSEWHERE: f64 = 0.05;
/// Differences of so little are none, as a share of the mean response time.
const NOTHING: f64 = 0.003;

/// Fits the shapes to all runs of `evidence`, and takes the best.
pub fn fit(evidence: &[Evidence<'_>]) -> Result<Fitted, NotFitted> {
    let (points, mut doubts) = points::points(evidence)?;
    let mut candidates = candidates(&points);
    candidates.sort_by(|a, b| a.score().total_cmp(&b.score()));
    let least = candidates[0].score();
    let as_good = |candidate: &Candidate| candidate.score() <= (least * AS_GOOD).max(NOTHING);
    let fewest = candidates.iter().filter(|candidate| as_good(candidate)).map(|c| c.numbers.len()).min();
    let chosen = candidates.iter().position(|c| as_good(c) && Some(c.numbers.len()) == fewest).unwrap_or(0);
    let best = candidates.remove(chosen);
    let ranges = scatter(best.shape, &best.numbers, &points);
    let parameters = identify::parameters(&best, &points, ranges.as_deref());
    identify::doubts(&best, &points, &parameters, ranges.is_some(), &mut doubts);
    let alternative = |candidate: &Candidate| Alternative {
        shape: candidate.shape.words(),
        spec: candidate.shape.spec(&candidate.numbers, &points),
        error: candidate.error,
        held_out: candidate.held_out,
    };
    let beyond = |candidate: &Candidate| search::beyond(candidate.shape, &candidate.numbers, &points);
    let is_rival = |other: &&Candidate| {
        let as_good = other.score() < (best.score() * NEARLY).max(2.0 * NOTHING);
        as_good && (beyond(other) / beyond(&best)).ln().abs() > ELSEWHERE
    };
    Ok(Fitted {
        spec: best.shape.spec(&best.numbers, &points),
        parameters,
        error: best.error,
        held_out: best.held_out,
        rival: candidates.iter().find(is_rival).map(alternative),
        alternatives: candidates.iter().map(alternative).collect(),
        doubts,
    })
}

impl Candidate {
    /// How well it foretells, or where that cannot be said, how well it describes.
    fn score(&self) -> f64 {
        self.held_out.unwrap_or(self.error).mean
    }
}

/// Each shape that is possible, the best two with the spread of services that suits them.
fn candidates(points: &[Point]) -> Vec<Candidate> {
    let loads = points::different(points);
    let candidate = |shape: Shape, numbers: Numbers| {
        let error = misfit(shape, &numbers, points);
        let held_out = held_out(shape, &numbers, points, loads);
        Candidate { shape, numbers, error, held_out }
    };
    let shapes = Shape::all().into_iter().filter(|shape| shape.is_possible(points, loads));
    let mut all: Vec<Candidate> = shapes.map(|shape| candidate(shape, search::search(shape, points))).collect();
    all.sort_by(|a, b| a.score().total_cmp(&b.score()));
    for one in all.iter_mut().take(2) {
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

/// Fits without one load at a time, and looks how far off it is there.
fn held_out(shape: Shape, numbers: &Numbers, points: &[Point], loads: usize) -> Option<Misfit> {
    if loads < 3 {
        return None;
    }
    let mut off = Vec::new();
    for left_out in points::loads(points).into_iter().skip(1) {
        let (some, others): (Vec<Point>, Vec<Point>) = points.iter().cloned().partition(|point| point.is_at(left_out));
        let again = adjust(shape, numbers, &others, search::QUICK);
        off.extend(search::off(shape, &again, &some, points));
    }
    Some(search::summary(&off))
}

//! Identifiability of the parameters of a fitted model.

use plimsoll_language::label;
use plimsoll_model::Service;
use plimsoll_units::Bytes;

use super::doubt::{FitDoubt, Identification};
use super::points::{FitPoint, different};
use super::search::{QUICK, adjust_but, loss, with};
use super::shape::{Meaning, ModelShape, Shows, extra_of_writes};
use super::{Candidate, FittedRange, Parameter};

/// Maximum increase of the loss for an equally good description: two standard deviations of a point.
const AS_WELL: f64 = 4.0;
/// Error from which a single time does not describe two loads.
const TIME_ALONE: f64 = 0.1;
/// Error of the prediction of the heaviest load from which it is stated.
const EXTRAPOLATES: f64 = 0.15;
/// Throughput below this share of the maximum at a heavier load is not saturation.
const FALLS: f64 = 0.95;

/// Parameters of the chosen shape.
pub(super) fn parameters(best: &Candidate, points: &[FitPoint], ranges: Option<&[(f64, f64)]>) -> Vec<Parameter> {
    let parameter = |(index, meaning): (usize, &Meaning)| {
        let open = open_side(best, points, index);
        let value = best.numbers[index];
        let identified = open.is_none();
        let is_integer = best.shape.counts() == Some(index);
        let outward = |(low, high): (f64, f64)| if is_integer { (low.floor(), high.ceil()) } else { (low, high) };
        Parameter {
            name: meaning.name.get().into(),
            value: if is_integer { value.round() } else { value },
            unit: meaning.unit,
            interval: ranges.filter(|_| identified).map(|ranges| outward(ranges[index])),
            identified,
            identified_by: open.unwrap_or_else(|| identification(best.shape, meaning.shows, points)),
        }
    };
    let meanings = best.shape.all_meanings(best.numbers.len());
    meanings.enumerate().map(parameter).chain(writes_beside_reads(best.shape, points)).collect()
}

/// Additional time of writes, if the shape supports it and both kinds were counted.
fn writes_beside_reads(shape: ModelShape, points: &[FitPoint]) -> Option<Parameter> {
    shape.spread()?;
    let (point, (read, write)) = points.iter().find_map(|point| Some((point, point.kinds?)))?;
    Some(Parameter {
        name: label!("writes, time beyond that of a read").into(),
        value: write - read,
        unit: "ns",
        interval: None,
        identified: true,
        identified_by: Identification::Kinds { load: point.words(), read_us: read / 1e3, write_us: write / 1e3 },
    })
}

/// Reason why a parameter is not identified: half or twice its value, with the others adjusted, describes the runs
/// equally well.
fn open_side(best: &Candidate, points: &[FitPoint], index: usize) -> Option<Identification> {
    let least = loss(best.shape, &best.numbers, points);
    let as_well = |factor: f64| {
        let numbers = with(&best.numbers, index, best.numbers[index] * factor);
        let again = adjust_but(best.shape, &numbers, points, 2 * QUICK, Some(index));
        loss(best.shape, &again, points) < least + AS_WELL
    };
    match (as_well(0.5), as_well(2.0)) {
        (false, false) => None,
        (true, true) => Some(Identification::HalfAndTwice),
        (true, false) => Some(Identification::Half),
        (false, true) => Some(Identification::Twice),
    }
}

/// Runs that identify a parameter, with their figures.
fn identification(shape: ModelShape, shows: Shows, points: &[FitPoint]) -> Identification {
    let (low, high) = (&points[0], maximum(points));
    let (first, last) = (low.words(), high.words());
    match shows {
        Shows::First => Identification::First { load: first, mean_us: low.mean_ns / 1e3 },
        Shows::Last => Identification::Last { load: last, iops: high.iops },
        Shows::Growth if shape.rotates() => {
            Identification::Rates { first, first_iops: low.iops, last, last_iops: high.iops }
        }
        Shows::Sizes => {
            let (low, high) = FittedRange::of(points).block_bytes;
            Identification::Sizes(Bytes::new(low), Bytes::new(high))
        }
        Shows::Growth => {
            Identification::Means { first, first_us: low.mean_ns / 1e3, last, last_us: high.mean_ns / 1e3 }
        }
    }
}

fn maximum(points: &[FitPoint]) -> &FitPoint {
    points.iter().max_by(|a, b| a.iops.total_cmp(&b.iops)).expect("there is a point")
}

/// Collects caveats.
pub(super) fn doubts(
    best: &Candidate,
    points: &[FitPoint],
    parameters: &[Parameter],
    intervals: bool,
    doubts: &mut Vec<FitDoubt>,
) {
    extent(best, points, doubts);
    let depths = different(points);
    let last = maximum(points);
    let falls = points.iter().any(|point| point.depth() > last.depth() && point.iops < FALLS * last.iops);
    let conditions = [
        (depths == 1, FitDoubt::SingleLoad),
        (best.predicted.is_none() && depths > 1, FitDoubt::NoPrediction),
        (best.shape.is_determined(depths), FitDoubt::ThreeLoads),
        (depths == 2 && best.error.worst > TIME_ALONE, FitDoubt::TwoLoads),
        (!intervals, FitDoubt::NoIntervals),
        (falls, FitDoubt::FallingThroughput),
    ];
    doubts.extend(conditions.into_iter().filter_map(|(holds, doubt)| holds.then_some(doubt)));
    doubts.extend(best.shape.spread().map(|spread| match spread {
        Service::Constant => FitDoubt::ConstantService,
        Service::Exponential => FitDoubt::ExponentialService,
        Service::LogNormal(_) => FitDoubt::LogNormalService,
    }));
    let unknown = |name: &str| parameters.iter().any(|parameter| parameter.name == name && !parameter.identified);
    if unknown(label!("servers, number")) && depths > 1 {
        doubts.push(FitDoubt::ServersTogether { iops: last.iops });
    }
    let served =
        [label!("dies, time of one operation"), label!("servers, time of one operation")].into_iter().any(unknown);
    if served && unknown(label!("path, time of one operation")) && depths > 1 {
        doubts.push(FitDoubt::PathAndService(identification(best.shape, Shows::First, points)));
    }
    for parameter in parameters.iter().filter(|parameter| !parameter.identified) {
        doubts.push(FitDoubt::OpenParameter { name: parameter.name.clone(), by: parameter.identified_by.clone() });
    }
    writes(best.shape, points, doubts);
}

/// Caveats about loads other than the measured ones.
fn extent(best: &Candidate, points: &[FitPoint], doubts: &mut Vec<FitDoubt>) {
    let error = best.predicted.map(|predicted| predicted.heaviest).filter(|off| *off > EXTRAPOLATES);
    doubts.extend(error.map(|error| FitDoubt::Extrapolation { error }));
    doubts.extend(FittedRange::of(points).only_block().map(FitDoubt::SingleBlock));
    match best.shape {
        ModelShape::Disk => doubts.push(FitDoubt::DiskParts),
        ModelShape::Table => doubts.push(FitDoubt::NoShape),
        _ => {}
    }
}

/// Caveats about the distinction of reads and writes.
fn writes(shape: ModelShape, points: &[FitPoint], doubts: &mut Vec<FitDoubt>) {
    let mixed = points.iter().any(|point| point.workload.reads > 0.0 && point.workload.reads < 1.0);
    let shares = |share: f64| points.iter().any(|point| (point.workload.reads - share).abs() < 0.1);
    let both = mixed || (shares(0.0) && shares(1.0));
    if !both {
        return;
    }
    doubts.push(match extra_of_writes(points) {
        Some(extra_ns) if shape.spread().is_some() => FitDoubt::BufferedWrites { extra_us: extra_ns / 1e3 },
        _ => FitDoubt::KindsTogether,
    });
    if points.iter().any(|point| point.workload.flushes > 0.0) {
        doubts.push(FitDoubt::Flushes);
    }
}

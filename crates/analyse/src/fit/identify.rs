//! Identifiability of the parameters of a fitted model.

use plimsoll_model::Service;
use plimsoll_units::Bytes;

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
        let total = best.shape.counts() == Some(index);
        let outward = |(low, high): (f64, f64)| if total { (low.floor(), high.ceil()) } else { (low, high) };
        Parameter {
            name: meaning.name.into(),
            value: if total { value.round() } else { value },
            unit: meaning.unit,
            interval: ranges.filter(|_| identified).map(|ranges| outward(ranges[index])),
            identified,
            identified_by: open.unwrap_or_else(|| words(best.shape, meaning.shows, points)),
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
        name: "writes, time beyond that of a read".into(),
        value: write - read,
        unit: "ns",
        interval: None,
        identified: true,
        identified_by: format!("{}: reads {:.1} us, writes {:.1} us", point.words(), read / 1e3, write / 1e3),
    })
}

/// Reason why a parameter is not identified: half or twice its value, with the others adjusted, describes the runs
/// equally well.
fn open_side(best: &Candidate, points: &[FitPoint], index: usize) -> Option<String> {
    let least = loss(best.shape, &best.numbers, points);
    let as_well = |factor: f64| {
        let numbers = with(&best.numbers, index, best.numbers[index] * factor);
        let again = adjust_but(best.shape, &numbers, points, 2 * QUICK, Some(index));
        loss(best.shape, &again, points) < least + AS_WELL
    };
    let sides = match (as_well(0.5), as_well(2.0)) {
        (false, false) => return None,
        (true, true) => "half and twice as much describe",
        (true, false) => "half as much describes",
        (false, true) => "twice as much describes",
    };
    Some(format!("not identified: {sides} these runs as well"))
}

/// Runs that identify a parameter, with their figures.
fn words(shape: ModelShape, shows: Shows, points: &[FitPoint]) -> String {
    let (first, last) = (&points[0], maximum(points));
    match shows {
        Shows::First => format!("{}: mean {:.1} us", first.words(), first.mean_ns / 1e3),
        Shows::Last => format!("{}: {:.0} IOPS, the most", last.words(), last.iops),
        Shows::Growth if shape.rotates() => {
            format!("from {} to {}: {:.0} to {:.0} IOPS", first.words(), last.words(), first.iops, last.iops)
        }
        Shows::Sizes => {
            let (low, high) = FittedRange::of(points).block_bytes;
            format!("operations of {} and {}", Bytes::new(low), Bytes::new(high))
        }
        Shows::Growth => {
            let (from, to) = (first.mean_ns / 1e3, last.mean_ns / 1e3);
            format!("how the mean grows from {} to {}: {from:.1} to {to:.1} us", first.words(), last.words())
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
    doubts: &mut Vec<String>,
) {
    extent(best, points, doubts);
    let mut doubt = |holds: bool, words: &str| {
        if holds {
            doubts.push(words.into());
        }
    };
    let depths = different(points);
    doubt(
        depths == 1,
        "one load was measured: what is waited for, and how much can be carried, is not identified; measure several depths",
    );
    doubt(
        best.predicted.is_none() && depths > 1,
        "too few loads to leave one out: how well the model foretells is not known",
    );
    doubt(
        best.shape.is_determined(depths),
        "three loads give the latency, the dies and the ceiling of this shape, and none is left to test it; two thirds of a \
         response are taken for the dies where the loads leave it open",
    );
    doubt(
        depths == 2 && best.error.worst > TIME_ALONE,
        "a single time behind the limits does not describe both loads: measure at least three depths",
    );
    doubt(!intervals, "the runs have no intervals, so that the numbers have none");
    let last = maximum(points);
    let falls = points.iter().any(|point| point.depth() > last.depth() && point.iops < FALLS * last.iops);
    doubt(
        falls,
        "throughput falls under the heaviest loads: no shape does that; others may have used the storage or its host",
    );
    let spread = match best.shape.spread() {
        Some(Service::Constant) => "constant",
        Some(Service::Exponential) => "exponential",
        Some(Service::LogNormal(_)) => "log-normal with a squared coefficient of variation of 0.3",
        None => "",
    };
    if !spread.is_empty() {
        doubts.push(format!(
            "service times are taken as {spread}: means say little about their spread, so tails are a guess"
        ));
    }
    let unknown = |name: &str| parameters.iter().any(|parameter| parameter.name == name && !parameter.identified);
    if unknown("servers, number") && depths > 1 {
        doubts.push(format!(
            "of the servers only what all servers carry together is known: {:.0} IOPS or more",
            last.iops
        ));
    }
    let served = ["dies, time of one operation", "servers, time of one operation"].into_iter().any(unknown);
    if served && unknown("path, time of one operation") && depths > 1 {
        doubts.push(format!("of path and service only the sum is known: {}", words(best.shape, Shows::First, points)));
    }
    for parameter in parameters.iter().filter(|parameter| !parameter.identified) {
        doubts.push(format!("{}: {}", parameter.name, parameter.identified_by));
    }
    writes(best.shape, points, doubts);
}

/// Caveats about loads other than the measured ones.
fn extent(best: &Candidate, points: &[FitPoint], doubts: &mut Vec<String>) {
    if let Some(heaviest) = best.predicted.map(|predicted| predicted.heaviest).filter(|off| *off > EXTRAPOLATES) {
        doubts.push(format!(
            "the heaviest load would have been predicted {:.0} % off from the lighter ones: loads beyond it are a guess",
            heaviest * 100.0
        ));
    }
    if let Some(block) = FittedRange::of(points).only_block() {
        doubts.push(format!(
            "only operations of {block} were measured, so that the time for the bytes of another size is unknown: measure a \
             second block size, and fit to both runs"
        ));
    }
    if matches!(best.shape, ModelShape::Disk) {
        doubts.push(
            "only the sum of seek, half a turn and transfer is identified, not its parts; a queue of 32 is assumed"
                .into(),
        );
    }
    if best.shape == ModelShape::Table {
        doubts.push(
            "no form describes these loads: the measured rates stand for themselves, with straight lines between them, for \
             this mix of operations only; tails are a guess"
                .into(),
        );
    }
}

/// Caveats about the distinction of reads and writes.
fn writes(shape: ModelShape, points: &[FitPoint], doubts: &mut Vec<String>) {
    let mixed = points.iter().any(|point| point.workload.reads > 0.0 && point.workload.reads < 1.0);
    let shares = |share: f64| points.iter().any(|point| (point.workload.reads - share).abs() < 0.1);
    let both = mixed || (shares(0.0) && shares(1.0));
    if !both {
        return;
    }
    match extra_of_writes(points) {
        Some(extra_ns) if shape.spread().is_some() => doubts.push(format!(
            "writes took {:+.1} us against reads at the lightest load with both, which is taken for their service; whether \
             they are buffered is not identified: measure writes alone",
            extra_ns / 1e3
        )),
        _ => doubts.push("reads and writes were only measured together: one time stands for both".into()),
    }
    if points.iter().any(|point| point.workload.flushes > 0.0) {
        doubts.push("flushes are not told apart from the rest".into());
    }
}

//! Points of a fit: loads with their mean response times.

use std::sync::Arc;

use plimsoll_language::say;
use plimsoll_load::{Pace, Pattern, StreamSpec};
use plimsoll_model::analytic::{Offered, Workload, iops_at};
use plimsoll_model::{ChainSpec, Duplex, Named, StageSpec};
use plimsoll_record::{Estimate, Evidence, Finding, Run, Steadiness, Tally, Weight};
use plimsoll_units::{Bytes, Kind, Span};

use super::doubt::FitDoubt;
use super::{NotFitted, StatedLimits};

#[derive(Clone, Debug)]
pub(super) struct FitPoint {
    pub(super) workload: Workload,
    pub(super) offered: Offered,
    pub(super) iops: f64,
    pub(super) mean_ns: f64,
    /// Standard deviation of the mean's logarithm, if the run has intervals.
    pub(super) scatter: Option<f64>,
    /// Mean response times of reads and of writes, if both were counted.
    pub(super) kinds: Option<(f64, f64)>,
    /// The stated limits of the storage.
    pub(super) limits: Arc<[Named]>,
}

impl FitPoint {
    /// Operations in flight: the depth, or by Little's law for an open load.
    pub(super) fn depth(&self) -> f64 {
        match self.offered {
            Offered::Closed { depth } => f64::from(depth),
            Offered::Open { .. } => self.iops * self.mean_ns / 1e9,
        }
    }

    /// Depth of a closed load.
    pub(super) fn closed(&self) -> Option<u32> {
        match self.offered {
            Offered::Closed { depth } => Some(depth),
            Offered::Open { .. } => None,
        }
    }

    /// True if the offered load is the same.
    pub(super) fn is_at(&self, offered: Offered) -> bool {
        self.offered == offered
    }

    /// `depth 4` or `1200 IOPS offered`.
    pub(super) fn words(&self) -> String {
        match self.offered {
            Offered::Closed { depth } => say!("depth {depth}"),
            Offered::Open { iops } => say!("{iops:.0} IOPS offered"),
        }
    }
}

/// Usable runs of all curves, each sorted by operations in flight, with caveats. Uses closed loads if there are at
/// least three depths, otherwise also open loads.
pub(super) fn points(evidence: &[Evidence<'_>]) -> Result<(Vec<FitPoint>, Vec<FitDoubt>), NotFitted> {
    if evidence.is_empty() {
        return Err(NotFitted::NoEvidence);
    }
    let (mut all, mut curves, mut doubts, mut left_out) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for evidence in evidence {
        let curve = evidence.curve();
        let [stream] = &curve.conditions.streams[..] else {
            return Err(NotFitted::SeveralStreams(curve.conditions.streams.len()));
        };
        if !matches!(stream.pattern, Pattern::Uniform | Pattern::Sequential) {
            doubts.push(FitDoubt::UnevenPlaces);
        }
        let usable = curve.runs.iter().filter(|run| is_usable(run));
        let before = all.len();
        all.extend(usable.map(|run| point(stream, run)));
        curves.push(workload(stream));
        left_out += curve.runs.len() - (all.len() - before);
    }
    if left_out > 0 {
        doubts.push(FitDoubt::LeftOut(left_out));
    }
    let only_closed: Vec<FitPoint> = all.iter().filter(|point| point.closed().is_some()).cloned().collect();
    if different(&only_closed) >= 3 && only_closed.len() < all.len() {
        doubts.push(FitDoubt::OpenLoads(all.len() - only_closed.len()));
        all = only_closed;
    }
    // Curves with different workloads stay separate: each is solved in a single pass.
    let curve = |point: &FitPoint| curves.iter().position(|workload| *workload == point.workload);
    all.sort_by(|a, b| curve(a).cmp(&curve(b)).then(a.depth().total_cmp(&b.depth())));
    if all.is_empty() { Err(NotFitted::NoRun) } else { Ok((all, doubts)) }
}

/// Drops loads that are lighter than that with the shortest response, if theirs was longer: no queue answers a lighter load
/// later. A drive, a controller or a processor that sleeps between operations does. At least three loads stay, because fewer
/// do not show a shape.
pub(super) fn drop_sleeping(points: &mut Vec<FitPoint>, doubts: &mut Vec<FitDoubt>) {
    /// Responses that are longer by less are noise.
    const LONGER: f64 = 1.05;
    let is_single = points.windows(2).all(|pair| pair[0].workload == pair[1].workload);
    let shortest = points.iter().enumerate().min_by(|a, b| a.1.mean_ns.total_cmp(&b.1.mean_ns));
    let is_enough = |index: usize| index > 0 && different(&points[index..]) >= 3;
    let Some((index, shortest)) = shortest.filter(|(index, _)| is_single && is_enough(*index)) else { return };
    let first = &points[0];
    if first.mean_ns > LONGER * shortest.mean_ns {
        doubts.push(FitDoubt::Sleep {
            first: first.words(),
            first_us: first.mean_ns / 1e3,
            shortest: shortest.words(),
            shortest_us: shortest.mean_ns / 1e3,
        });
        points.drain(..index);
    }
}

/// Puts the points behind stated limits, which no point may exceed.
pub(super) fn put_behind(
    points: &mut [FitPoint],
    limits: StatedLimits<'_>,
    doubts: &mut Vec<FitDoubt>,
) -> Result<(), NotFitted> {
    /// Accuracy of a measured rate against a limit.
    const ACCURACY: f64 = 1.03;
    let stages: Arc<[Named]> = limits.stages.stages().into();
    let link = StageSpec::Link { latency: Span::from_nanos(1), bandwidth: None, duplex: Duplex::Half, paths: 1 };
    let fastest = stages.iter().cloned().chain([Named { stage: link, name: None }]).collect();
    let fastest = ChainSpec::new(fastest).expect("limits and a link are a model");
    let mut used: f64 = 0.0;
    for point in &mut *points {
        let allowed = iops_at(&fastest, &point.workload, &[4096])[0];
        if point.iops > ACCURACY * allowed {
            return Err(NotFitted::BeyondLimits { of: limits.of.to_owned(), measured: point.iops, allowed });
        }
        used = used.max(point.iops / allowed);
        point.limits = Arc::clone(&stages);
    }
    doubts.push(FitDoubt::StatedLimits { of: limits.of.to_owned(), reached: used.min(1.0) });
    Ok(())
}

/// Points of reads only, and of writes only.
pub(super) fn by_kind(points: &[FitPoint]) -> [Vec<FitPoint>; 2] {
    /// Share of the other kind that still counts as none.
    const NONE: f64 = 0.01;
    let of = |share: f64| points.iter().filter(|point| (point.workload.reads - share).abs() < NONE).cloned().collect();
    [of(1.0), of(0.0)]
}

/// Distinct loads, in the order of the points.
pub(super) fn list_loads(points: &[FitPoint]) -> Vec<Offered> {
    let mut loads: Vec<Offered> = Vec::new();
    for point in points {
        if !loads.contains(&point.offered) {
            loads.push(point.offered);
        }
    }
    loads
}

/// Number of distinct loads.
pub(super) fn different(points: &[FitPoint]) -> usize {
    list_loads(points).len()
}

fn is_usable(run: &Run) -> bool {
    let figures = &run.figures;
    let steady = !matches!(figures.steadiness, Steadiness::Overloaded | Steadiness::Drifting);
    let void = run.findings.iter().map(Finding::weight).any(|weight| weight == Weight::Void);
    steady && !void && figures.iops.value > 0.0 && figures.mean_ns.value > 0.0
}

fn point(stream: &StreamSpec, run: &Run) -> FitPoint {
    let offered = match run.offered {
        Pace::Closed { depth } => Offered::Closed { depth },
        Pace::Open { rate, .. } => Offered::Open { iops: rate.as_f64() },
    };
    let figures = &run.figures;
    let scatter = half_width(&figures.mean_ns).or_else(|| match offered {
        Offered::Closed { .. } => half_width(&figures.iops),
        Offered::Open { .. } => None,
    });
    let (iops, mean_ns) = (figures.iops.value, figures.mean_ns.value);
    // For a closed load both are equivalent by Little's law; uses the more precise.
    let mean_ns = match (offered, half_width(&figures.mean_ns), half_width(&figures.iops)) {
        (Offered::Closed { depth }, None, Some(_)) => f64::from(depth) * 1e9 / iops,
        _ => mean_ns,
    };
    FitPoint {
        workload: workload(stream),
        offered,
        iops,
        mean_ns,
        scatter,
        kinds: kinds(&run.total),
        limits: Arc::from([]),
    }
}

/// The half width of a 95 % interval is 1.96 standard deviations.
fn half_width(estimate: &Estimate) -> Option<f64> {
    estimate.relative_half_width().map(|half| half / 1.96)
}

fn kinds(total: &Tally) -> Option<(f64, f64)> {
    let mean = |is_selected: fn(Kind) -> bool| {
        let counters = total.0.iter().filter(|counter| is_selected(counter.kind));
        let (count, sum_ns) = counters.fold((0, 0), |sum, c| (sum.0 + c.response.count, sum.1 + c.response.sum_ns));
        (count >= 100).then(|| sum_ns as f64 / count as f64)
    };
    Some((mean(|kind| kind == Kind::Read)?, mean(Kind::writes)?))
}

/// Mean workload of a stream.
fn workload(stream: &StreamSpec) -> Workload {
    let sizes = stream.mix.sizes.sizes();
    let weights: f64 = sizes.iter().map(|(_, weight)| f64::from(*weight)).sum();
    let bytes: f64 = sizes.iter().map(|(size, weight)| size.get() as f64 * f64::from(*weight)).sum();
    let writes = 1.0 - stream.mix.reads;
    let each = match stream.mix.flush_every {
        0 => 0.0,
        every => writes / f64::from(every),
    };
    Workload {
        reads: stream.mix.reads,
        durable: if stream.mix.durable { 1.0 } else { 0.0 },
        flushes: each / (1.0 + each),
        length: Bytes::new((bytes / weights) as u64),
        sequential: if stream.pattern == Pattern::Sequential { 1.0 } else { 0.0 },
        space: stream.region.length,
    }
}

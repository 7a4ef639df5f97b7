//! Parameter search: simplex (Nelder and Mead 1965) over logarithms, and the parametric bootstrap.

use fastrand::Rng;
use plimsoll_model::analytic::{iops_at, solve};

use super::Misfit;
use super::points::{FitPoint, different};
use super::shape::ModelShape;

/// Parameters of a shape, all positive.
pub(super) type ShapeParameters = Vec<f64>;

/// Evaluations of a full search, and of a refinement.
pub(super) const THOROUGH: u32 = 260;
pub(super) const QUICK: u32 = 60;

/// Rounds of trying other counts.
const ROUNDS: u32 = 6;

/// Minimum relative scatter of a mean in addition to its interval: the accuracy of models.
const FLOOR: f64 = 0.005;
/// Error of the analytic solution in the middle of a curve (see `plimsoll_model::analytic`).
const BEND: f64 = 0.005;
/// Repetitions and seed of the bootstrap.
const REPETITIONS: usize = 40;
const SEED: u64 = 1;

/// Deviation of the shape at each of `points`: logarithm of its mean response time over the measured one. `all` are the
/// points for which the spec is built.
pub(super) fn compute_deviations(
    shape: ModelShape,
    numbers: &[f64],
    points: &[FitPoint],
    all: &[FitPoint],
) -> Vec<f64> {
    let spec = shape.spec(numbers, all);
    let mut off = Vec::with_capacity(points.len());
    // Points of the same workload are solved together, by depth.
    for group in points.chunk_by(|a, b| a.workload == b.workload && a.closed().is_some() && b.closed().is_some()) {
        let depths: Vec<u32> = group.iter().filter_map(FitPoint::closed).collect();
        let means = if depths.is_empty() {
            group.iter().map(|point| solve(&spec, &point.workload, point.offered).mean_ns).collect()
        } else {
            let iops = iops_at(&spec, &group[0].workload, &depths);
            depths.iter().zip(iops).map(|(depth, iops)| f64::from(*depth) * 1e9 / iops).collect::<Vec<f64>>()
        };
        off.extend(group.iter().zip(means).map(|(point, mean_ns)| (mean_ns.min(1e15) / point.mean_ns).ln()));
    }
    off
}

/// Operations per second of the shape at four times the measured number in flight.
pub(super) fn beyond(shape: ModelShape, numbers: &[f64], points: &[FitPoint]) -> f64 {
    let Some(last) = points.last() else { return 0.0 };
    let depth = (4.0 * last.depth()).clamp(4.0, 4096.0) as u32;
    iops_at(&shape.spec(numbers, points), &last.workload, &[depth])[0]
}

/// Mean and maximum of deviations, as shares.
pub(super) fn summary(off: &[f64]) -> Misfit {
    let share = |off: &f64| off.abs().exp_m1();
    let mean = off.iter().map(share).sum::<f64>() / off.len().max(1) as f64;
    Misfit { mean, worst: off.iter().map(share).fold(0.0, f64::max) }
}

/// Error of the shape on the points.
pub(super) fn evaluate_misfit(shape: ModelShape, numbers: &[f64], points: &[FitPoint]) -> Misfit {
    summary(&compute_deviations(shape, numbers, points, points))
}

/// Loss: Huber loss of the deviations relative to each point's scatter, linear beyond three times the scatter, so that
/// a single outlier has limited influence.
pub(super) fn loss(shape: ModelShape, numbers: &[f64], points: &[FitPoint]) -> f64 {
    let huber = |(point, off): (&FitPoint, f64)| {
        let away = off.abs() / point.scatter.unwrap_or(0.01).hypot(FLOOR);
        if away <= 3.0 { away * away } else { 6.0 * away - 9.0 }
    };
    let misfit: f64 = points.iter().zip(compute_deviations(shape, numbers, points, points)).map(huber).sum();
    misfit + shape.implausible(numbers, different(points))
}

/// Best parameters: a short search from each start, a full search from the best, then other counts.
pub(super) fn search(shape: ModelShape, points: &[FitPoint]) -> ShapeParameters {
    let priced = |numbers: ShapeParameters| (loss(shape, &numbers, points), numbers);
    let starts = shape.starts(points).into_iter().map(|start| priced(adjust(shape, &start, points, QUICK)));
    let start = starts.min_by(|a, b| a.0.total_cmp(&b.0)).expect("a shape has a start").1;
    let mut best = priced(adjust(shape, &start, points, THOROUGH));
    let Some(count) = shape.counts() else { return best.1 };
    // Counts are rounded, so the simplex search is flat between them.
    for _ in 0..ROUNDS {
        let rounded = best.1[count].round().max(1.0);
        let others = [rounded - 1.0, rounded + 1.0, (rounded * 0.75).round(), (rounded * 1.33).round()];
        let at = |number: f64| {
            let start: ShapeParameters = with(&best.1, count, number);
            priced(adjust_but(shape, &start, points, QUICK, Some(count)))
        };
        let next = others.into_iter().filter(|number| *number >= 1.0).map(at).min_by(|a, b| a.0.total_cmp(&b.0));
        match next {
            Some(next) if next.0 < best.0 * 0.999 => best = next,
            _ => break,
        }
    }
    best.1
}

/// Replaces a parameter.
pub(super) fn with(numbers: &[f64], index: usize, number: f64) -> ShapeParameters {
    let mut numbers = numbers.to_vec();
    numbers[index] = number;
    numbers
}

/// Best parameters found from `start` within `evaluations`.
pub(super) fn adjust(shape: ModelShape, start: &[f64], points: &[FitPoint], evaluations: u32) -> ShapeParameters {
    adjust_but(shape, start, points, evaluations, None)
}

/// Same, with a parameter held fixed.
pub(super) fn adjust_but(
    shape: ModelShape,
    start: &[f64],
    points: &[FitPoint],
    evaluations: u32,
    fixed: Option<usize>,
) -> ShapeParameters {
    let free: Vec<usize> = (0..start.len()).filter(|index| Some(*index) != fixed).collect();
    let expand = |logs: &[f64]| {
        let mut numbers = start.to_vec();
        for (index, log) in free.iter().zip(logs) {
            numbers[*index] = log.exp();
        }
        numbers
    };
    let cost = |logs: &[f64]| loss(shape, &expand(logs), points);
    let from: Vec<f64> = free.iter().map(|index| start[*index].max(1e-6).ln()).collect();
    expand(&simplex(&cost, from, evaluations))
}

/// Simplex search from `from`, with initial steps of 0.3.
fn simplex(cost: &dyn Fn(&[f64]) -> f64, from: Vec<f64>, evaluations: u32) -> Vec<f64> {
    let dimensions = from.len();
    if dimensions == 0 {
        return from;
    }
    let mut corners: Vec<(f64, Vec<f64>)> = vec![(cost(&from), from.clone())];
    for index in 0..dimensions {
        let mut corner = from.clone();
        corner[index] += 0.3;
        corners.push((cost(&corner), corner));
    }
    let mut used = corners.len() as u32;
    while used < evaluations {
        corners.sort_by(|a, b| a.0.total_cmp(&b.0));
        if corners[dimensions].0 - corners[0].0 < 1e-9 * (1e-3 + corners[0].0) && wide(&corners) < 1e-4 {
            break;
        }
        let middle: Vec<f64> = (0..dimensions)
            .map(|index| corners[..dimensions].iter().map(|corner| corner.1[index]).sum::<f64>() / dimensions as f64)
            .collect();
        let worst = corners[dimensions].clone();
        let towards = |by: f64| -> (f64, Vec<f64>) {
            let corner: Vec<f64> = middle.iter().zip(&worst.1).map(|(m, w)| m + by * (m - w)).collect();
            (cost(&corner), corner)
        };
        let mirrored = towards(1.0);
        used += 1;
        let next = if mirrored.0 < corners[0].0 {
            used += 1;
            let further = towards(2.0);
            if further.0 < mirrored.0 { further } else { mirrored }
        } else if mirrored.0 < corners[dimensions - 1].0 {
            mirrored
        } else {
            used += 1;
            towards(if mirrored.0 < worst.0 { 0.5 } else { -0.5 })
        };
        if next.0 < worst.0 {
            corners[dimensions] = next;
            continue;
        }
        let best = corners[0].1.clone();
        for corner in &mut corners[1..] {
            let nearer: Vec<f64> = corner.1.iter().zip(&best).map(|(c, b)| f64::midpoint(*c, *b)).collect();
            *corner = (cost(&nearer), nearer);
            used += 1;
        }
    }
    corners.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).map_or(from, |corner| corner.1)
}

/// Maximum distance of the corners.
fn wide(corners: &[(f64, Vec<f64>)]) -> f64 {
    let (first, others) = (&corners[0].1, &corners[1..]);
    let apart = |corner: &(f64, Vec<f64>)| corner.1.iter().zip(first).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    others.iter().map(apart).fold(0.0, f64::max)
}

/// 95 % intervals of the parameters by parametric bootstrap: the model's figures are perturbed by each run's scatter
/// (at least the model's deviation), and bent jointly by the error of the analytic solution in the middle of a curve.
/// `None` if no run has an interval.
pub(super) fn scatter(shape: ModelShape, numbers: &ShapeParameters, points: &[FitPoint]) -> Option<Vec<(f64, f64)>> {
    if points.iter().all(|point| point.scatter.is_none()) {
        return None;
    }
    let off = compute_deviations(shape, numbers, points, points);
    let spare = points.len().saturating_sub(numbers.len()).max(1) as f64;
    let misfit = (off.iter().map(|off| off * off).sum::<f64>() / spare).sqrt();
    let mut rng = Rng::with_seed(SEED);
    let mut found: Vec<Vec<f64>> = vec![Vec::new(); numbers.len()];
    for _ in 0..REPETITIONS {
        let bent = BEND * normal(&mut rng);
        let moved = |(index, point): (usize, &FitPoint)| {
            let along = index as f64 / (points.len() - 1).max(1) as f64;
            let by =
                normal(&mut rng) * point.scatter.unwrap_or(misfit).max(misfit) + bent * 4.0 * along * (1.0 - along);
            FitPoint { mean_ns: point.mean_ns * (off[index] + by).exp(), ..point.clone() }
        };
        let again: Vec<FitPoint> = points.iter().enumerate().map(moved).collect();
        let numbers = adjust(shape, numbers, &again, QUICK);
        found.iter_mut().zip(numbers).for_each(|(found, number)| found.push(number));
    }
    let range = |(mut found, best): (Vec<f64>, &f64)| {
        found.sort_by(f64::total_cmp);
        // The second of forty on each side: 95 %.
        (found[1].min(*best), found[REPETITIONS - 2].max(*best))
    };
    Some(found.into_iter().zip(numbers).map(range).collect())
}

/// A standard normal variate (Box and Muller 1958).
fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.f64()).cos()
}

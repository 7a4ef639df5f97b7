//! A closed load on a queueing station and a delay: prediction and fitting.
//!
//! Exact mean value analysis (Reiser and Lavenberg 1980) for a single class of customers.

use plimsoll_record::DelayAndQueue;
use plimsoll_units::Span;

/// Number of grid points for the station's share, before the refinement around the best.
const TRIED: u32 = 200;
/// Iterations of the refinement.
const NARROWED: u32 = 60;

/// Throughput per second of `sessions` sessions without think time: each execution needs `demand` of a station with a
/// single server, and `delay` elsewhere.
pub fn predict(demand: Span, delay: Span, sessions: u32) -> f64 {
    throughput(demand.as_secs_f64(), delay.as_secs_f64(), sessions)
}

/// Number of sessions beyond which most of their time is waiting: the intersection of the asymptotes of throughput.
pub fn saturation(fitted: &DelayAndQueue) -> f64 {
    let demand = fitted.demand.as_secs_f64();
    if demand > 0.0 { (demand + fitted.delay.as_secs_f64()) / demand } else { f64::INFINITY }
}

/// Fits demand and delay to measured `(sessions, executions per second)` by least squares of the relative errors.
/// `None` for fewer than two different numbers of sessions, or for rates that are not positive.
pub fn fit(points: &[(u32, f64)]) -> Option<DelayAndQueue> {
    let first = points.first()?.0;
    let usable = points.iter().all(|(sessions, rate)| *sessions > 0 && rate.is_finite() && *rate > 0.0);
    if !usable || points.iter().all(|(sessions, _)| *sessions == first) {
        return None;
    }
    let place = |index: u32| f64::from(index) / f64::from(TRIED);
    let best = (0..=TRIED).min_by(|a, b| misfit(place(*a), points).total_cmp(&misfit(place(*b), points)))?;
    let (mut low, mut high) = (place(best.saturating_sub(1)), place((best + 1).min(TRIED)));
    for _ in 0..NARROWED {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if misfit(a, points) <= misfit(b, points) { high = b } else { low = a }
    }
    let share = f64::midpoint(low, high);
    let alone = fit_alone_s(share, points);
    let (demand, delay) = (share * alone, (1.0 - share) * alone);
    let off = |(sessions, rate): &(u32, f64)| (throughput(demand, delay, *sessions) / rate - 1.0).abs();
    let error = points.iter().map(off).fold(0.0, f64::max);
    Some(DelayAndQueue { demand: Span::from_secs_f64(demand), delay: Span::from_secs_f64(delay), error })
}

fn throughput(demand: f64, delay: f64, sessions: u32) -> f64 {
    let (mut queued, mut rate) = (0.0, 0.0);
    for present in 1..=sessions {
        // Arrival theorem: an arrival sees the mean queue of the system with one customer less.
        let response = demand * (1.0 + queued);
        rate = f64::from(present) / (delay + response).max(f64::MIN_POSITIVE);
        queued = rate * response;
    }
    rate
}

/// Duration of a single execution in seconds, for a station with this share of it. Predicted rates are inversely
/// proportional to it, so the best value for a share is found directly.
fn fit_alone_s(share: f64, points: &[(u32, f64)]) -> f64 {
    let ratios = points.iter().map(|(sessions, rate)| throughput(share, 1.0 - share, *sessions) / rate);
    let (sum, squares) = ratios.fold((0.0, 0.0), |(sum, squares), ratio| (sum + ratio, squares + ratio * ratio));
    squares / sum
}

fn misfit(share: f64, points: &[(u32, f64)]) -> f64 {
    let alone = fit_alone_s(share, points);
    let off = |(sessions, rate): &(u32, f64)| throughput(share, 1.0 - share, *sessions) / alone / rate - 1.0;
    points.iter().map(|point| off(point).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predicted_points_are_fitted_exactly() {
        for (demand, delay) in [(3.48, 9.88), (1.0, 0.0), (0.001, 2.0), (0.5, 0.5)] {
            let points: Vec<(u32, f64)> = [1, 2, 5, 12, 40].map(|n| (n, throughput(demand, delay, n))).into();
            let fitted = fit(&points).expect("five points");
            let near = |got: Span, expected: f64| (got.as_secs_f64() - expected).abs() <= 2e-3 * (demand + delay);
            assert!(near(fitted.demand, demand) && near(fitted.delay, delay), "{fitted:?} for {demand} and {delay}");
            assert!(fitted.error < 0.01, "{fitted:?} for {demand} and {delay}");
        }
    }

    #[test]
    fn insufficient_points_are_not_fitted() {
        for points in
            [vec![], vec![(4, 1.0)], vec![(4, 1.0), (4, 1.1)], vec![(1, 1.0), (2, 0.0)], vec![(0, 1.0), (2, 1.0)]]
        {
            assert_eq!(fit(&points), None, "{points:?}");
        }
    }
}

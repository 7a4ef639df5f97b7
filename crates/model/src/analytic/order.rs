//! Expected maximum of several times, as for a fork that waits for all its parts.

/// Expected maximum of 1, 2, ... standard normal variates (Teichroew 1956).
const NORMAL: [f64; 10] = [0.0, 0.5642, 0.8463, 1.0294, 1.1630, 1.2672, 1.3522, 1.4236, 1.4850, 1.5388];

/// Expected delay of the last of `n` after the mean, in standard deviations, for a squared coefficient of variation
/// `scv`: between normal variates (nearly constant times) and exponential variates.
pub(super) fn last_of(n: f64, scv: f64) -> f64 {
    let below = libm::floor(n.max(1.0));
    let share = n.max(1.0) - below;
    (1.0 - share) * expected_maximum(below, scv) + share * expected_maximum(below + 1.0, scv)
}

fn expected_maximum(n: f64, scv: f64) -> f64 {
    let skew = libm::sqrt(scv).min(1.0);
    (1.0 - skew) * normal(n) + skew * (harmonic(n) - 1.0)
}

fn normal(n: f64) -> f64 {
    match NORMAL.get(n as usize - 1) {
        Some(exact) => *exact,
        None => quantile((n - 0.375) / (n + 0.25)),
    }
}

fn harmonic(n: f64) -> f64 {
    if n < 50.0 {
        return (1..=n as u32).map(|i| 1.0 / f64::from(i)).sum();
    }
    libm::log(n) + 0.577_215_664_9 + 0.5 / n
}

/// Quantile of the normal distribution above the median, within 4.5e-4 (Hastings 1955).
fn quantile(p: f64) -> f64 {
    let t = libm::sqrt(-2.0 * libm::log(1.0 - p));
    let numerator = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    t - numerator / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulated ratios of the maximum to the mean, for n = 2 and 8 by squared coefficient of variation.
    #[test]
    fn expected_maximum_agrees_with_simulation() {
        let simulated = [(0.1, 1.18, 1.49), (0.25, 1.27, 1.81), (0.5, 1.38, 2.18), (1.0, 1.5, 2.72)];
        for (scv, two, eight) in simulated {
            for (n, ratio) in [(2.0, two), (8.0, eight)] {
                let ours = 1.0 + libm::sqrt(scv) * last_of(n, scv);
                assert!((ours / ratio - 1.0).abs() < 0.02, "{n} of {scv}: {ours}, expected {ratio}");
            }
        }
        assert!((quantile(0.975) - 1.96).abs() < 1e-3);
        assert!((harmonic(100.0) - 5.187_377_517_6).abs() < 1e-4);
    }
}

//! Quantiles of Student's t distribution for any probability.

use std::f64::consts::FRAC_2_PI;

/// Value that a variable with `degrees` of freedom, at least 1, exceeds with this probability, above 0 and at most 0.5.
pub(crate) fn student_quantile(degrees: usize, tail: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while upper_tail(degrees, high) > tail {
        high *= 2.0;
    }
    // Halves the interval to the precision of a double.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if upper_tail(degrees, middle) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Probability of a value above `t` (Abramowitz & Stegun 26.7.3 and 26.7.4).
fn upper_tail(degrees: usize, t: f64) -> f64 {
    let angle = (t / (degrees as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let is_odd = degrees % 2 == 1;
    let mut term = if is_odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    for step in 0..degrees / 2 {
        sum += term;
        let order = (2 * step + usize::from(is_odd)) as f64;
        term *= cosine * cosine * (order + 1.0) / (order + 2.0);
    }
    let within = if is_odd { FRAC_2_PI * (angle + sine * sum) } else { sine * sum };
    (1.0 - within) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::student;

    #[test]
    fn quantiles_match_published_tables() {
        for degrees in 1..=30 {
            let (exact, table) = (student_quantile(degrees, 0.025), student(degrees));
            assert!((exact - table).abs() < 0.001, "{degrees}: {exact} and {table}");
        }
        // Abramowitz & Stegun, table 26.10: two-sided 99.9 %.
        for (degrees, table) in [(1, 636.619), (3, 12.924), (7, 5.408), (30, 3.646)] {
            let exact = student_quantile(degrees, 0.000_5);
            assert!((exact / table - 1.0).abs() < 0.000_5, "{degrees}: {exact} and {table}");
        }
    }
}

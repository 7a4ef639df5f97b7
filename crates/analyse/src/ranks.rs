//! Rank comparison of two groups of values: robust against outliers.

/// Distance of two groups in standard errors of the rank sum (Mann & Whitney 1947), positive if `b` is higher. About 2
/// is significant for groups of five or more; 0 if either is empty. Ties count half.
pub(crate) fn signed(a: &[f64], b: &[f64]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let (of_a, of_b) = (a.len() as f64, b.len() as f64);
    let beaten =
        |x: f64| b.iter().map(|y| f64::from(u8::from(*y > x)) + f64::from(u8::from(*y >= x))).sum::<f64>() / 2.0;
    let wins: f64 = a.iter().copied().map(beaten).sum();
    (wins - of_a * of_b / 2.0) / (of_a * of_b * (of_a + of_b + 1.0) / 12.0).sqrt()
}

/// Absolute value of [`signed`]. Groups of one or two values can never be 2 standard errors apart from a small group,
/// so for these, lying entirely outside of the other group counts as 3.
pub(crate) fn apart(a: &[f64], b: &[f64]) -> f64 {
    let outside = |x: &f64| b.iter().all(|y| y > x) || b.iter().all(|y| y < x);
    if a.len() <= 3 && !a.is_empty() && b.len() > 3 && a.iter().all(outside) { 3.0 } else { signed(a, b).abs() }
}

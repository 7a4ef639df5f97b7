//! The grid of offered loads: 10^(i/40) operations per second, 5.9 % apart (preferred numbers R40, ISO 3).
//!
//! The grid is the same for every run on every machine, so that slots of a load accumulate and runs have common loads.

/// Distance of rungs in the logarithm of the load.
pub const RUNG_LN: f64 = std::f64::consts::LN_10 / 40.0;

/// Nearest rung to a rate in operations per second, which must be positive.
pub fn rung(rate: f64) -> i32 {
    (rate.ln() / RUNG_LN).round() as i32
}

/// Operations per second of a rung, rounded to three digits.
pub fn rung_load(rung: i32) -> f64 {
    let exact = (f64::from(rung) * RUNG_LN).exp();
    let unit = 10_f64.powf(exact.log10().floor() - 2.0);
    (exact / unit).round() * unit
}

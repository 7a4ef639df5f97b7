//! Rates pinned at a value in many windows, while others are lower: the sign of a limit.

use plimsoll_ingest::{Class, DatabaseDemand, Measure};

use super::totals::{total, value};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pinned {
    pub class: Class,
    /// [`Measure::Iops`] or [`Measure::Throughput`].
    pub measure: Measure,
    /// The value: operations or bytes per second.
    pub value: f64,
    /// Windows at most 3 % below it.
    pub windows: usize,
    /// Number of windows with such operations.
    pub of: usize,
}

/// Minimum windows overall and at the value, to exclude coincidence.
const MIN_WINDOWS: usize = 20;
const MIN_PINNED: usize = 5;
/// Minimum share of windows at the value.
const MIN_SHARE: f64 = 0.05;
/// Relative distance that counts as at the limit: the throughput of a window varies by burst and clock.
const NEAR: f64 = 0.97;

/// The pinned rates of all operations, of reads and of writes.
pub(super) fn pinned(subject: &DatabaseDemand) -> Vec<Pinned> {
    let mut found: Vec<Pinned> = Vec::new();
    for measure in [Measure::Iops, Measure::Throughput] {
        for class in [Class::All, Class::Read, Class::Write] {
            let at = |slot| match class {
                Class::All => total(subject, measure, slot),
                class => value(subject, class, measure, slot),
            };
            let rates: Vec<f64> = (0..subject.slots.len()).filter_map(at).filter(|rate| *rate > 0.0).collect();
            found.extend(pile(rates).map(|(value, windows, of)| Pinned { class, measure, value, windows, of }));
        }
    }
    found
}

/// The value below which rates pile up, the windows at it, and all windows. Without a limit, bands of equal width
/// contain fewer windows towards the maximum.
fn pile(mut rates: Vec<f64>) -> Option<(f64, usize, usize)> {
    /// Minimum ratio of a band's windows to those of the band below.
    const TIMES: f64 = 3.0;
    /// Rates below this share of the value exclude a constant load.
    const LOWER: f64 = 0.8;
    rates.sort_by(f64::total_cmp);
    let of = rates.len();
    if of < MIN_WINDOWS {
        return None;
    }
    // Credits allow brief excess over a limit: the top hundredth of the windows is ignored.
    let value = rates[of - 1 - of / 100];
    let below = |share: f64| rates.partition_point(|rate| *rate < share * value);
    let (near, band) = (of - below(NEAR), below(NEAR) - below(NEAR * NEAR));
    let lower = below(LOWER);
    let enough = near >= MIN_PINNED && near as f64 >= MIN_SHARE * of as f64;
    (enough && near as f64 >= TIMES * band as f64 && lower * 10 >= of).then_some((value, near, of))
}

#[cfg(test)]
mod tests {
    use super::pile;

    #[test]
    fn only_limited_rates_pile_up() {
        let wave = |at: i32| 500.0 + 400.0 * (f64::from(at) * 0.37).sin();
        let free: Vec<f64> = (0..300).map(|at| wave(at) * (1.0 + f64::from(at % 7) * 0.03)).collect();
        assert_eq!(pile(free.clone()), None);
        let sustained: Vec<f64> = free.iter().map(|rate| rate.min(506.0)).collect();
        let (value, windows, of) = pile(sustained).expect("it is limited to 506");
        assert!((value - 506.0).abs() < 1e-9 && windows > 100 && of == 300, "{value} {windows} {of}");
        assert_eq!(pile(vec![500.0; 300]), None, "a constant load is not limited");
        assert_eq!(pile(vec![]), None);
    }
}

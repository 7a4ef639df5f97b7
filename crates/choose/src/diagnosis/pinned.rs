//! Rates that stay at one value in many windows, though others are lower: the mark of a limit.

use plimsoll_ingest::{Class, Measure, Subject};

use super::totals::{total, value};

/// A rate that is held down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pinned {
    /// Whose.
    pub class: Class,
    /// [`Measure::Iops`] or [`Measure::Throughput`].
    pub measure: Measure,
    /// The value: operations or bytes a second.
    pub value: f64,
    /// Windows within 3 % below it.
    pub windows: usize,
    /// Of so many.
    pub of: usize,
}

/// Windows that it takes: a few may meet by chance.
const LEAST_WINDOWS: usize = 20;
const LEAST_PINNED: usize = 5;
/// Their least share of all windows.
const LEAST_SHARE: f64 = 0.05;
/// How near to the limit is at it. What a limit lets through in a window strays by its burst and its clock.
const NEAR: f64 = 0.97;

/// The rates of all operations, of reads and of writes that are held down.
pub(super) fn pinned(subject: &Subject) -> Vec<Pinned> {
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

/// The value at which rates pile up below their end, how many do, and of how many. At an end that nothing holds, each
/// band of the same width below has more windows than the one above it.
fn pile(mut rates: Vec<f64>) -> Option<(f64, usize, usize)> {
    /// How much more a band must hold than the one below it.
    const TIMES: f64 = 3.0;
    /// Rates below this share of the value show that it is no constant load.
    const LOWER: f64 = 0.8;
    rates.sort_by(f64::total_cmp);
    let of = rates.len();
    if of < LEAST_WINDOWS {
        return None;
    }
    // A limit is passed now and then, by saved credits: one window in a hundred is not looked at.
    let value = rates[of - 1 - of / 100];
    let below = |share: f64| rates.partition_point(|rate| *rate < share * value);
    let (near, band) = (of - below(NEAR), below(NEAR) - below(NEAR * NEAR));
    let lower = below(LOWER);
    let enough = near >= LEAST_PINNED && near as f64 >= LEAST_SHARE * of as f64;
    (enough && near as f64 >= TIMES * band as f64 && lower * 10 >= of).then_some((value, near, of))
}

#[cfg(test)]
mod tests {
    use super::pile;

    #[test]
    fn only_what_is_held_piles_up() {
        let wave = |at: i32| 500.0 + 400.0 * (f64::from(at) * 0.37).sin();
        let free: Vec<f64> = (0..300).map(|at| wave(at) * (1.0 + f64::from(at % 7) * 0.03)).collect();
        assert_eq!(pile(free.clone()), None);
        let held: Vec<f64> = free.iter().map(|rate| rate.min(506.0)).collect();
        let (value, windows, of) = pile(held).expect("it is held at 506");
        assert!((value - 506.0).abs() < 1e-9 && windows > 100 && of == 300, "{value} {windows} {of}");
        assert_eq!(pile(vec![500.0; 300]), None, "a constant load is held by nothing");
        assert_eq!(pile(vec![]), None);
    }
}
